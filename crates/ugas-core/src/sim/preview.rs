//! Previews: the result that an application, a batch or an activation would have, computed without changing the sim.
//!
//! A preview runs the op on a copy of the rows that the op reads, with the code that also runs real ops. A row is the
//! state of one controller. The first copy contains the rows that the op names, and the rows whose live magnitudes read
//! those rows. If the op reads another row, the preview is repeated with a copy that includes that row. An op that
//! visits all rows, such as an activation with the task ApplyEffectToActorsInRadius, runs on a copy of all rows.

use super::Sim;
use crate::flow::{Log, Scratch, State};
use crate::{
    AbilityId, AttributeId, ControllerId, Diagnostic, EffectState, EffectView, Facts, Op, ReadError, Refusal, Spec,
    TagId, Target, Which,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of partial copies before all rows are copied.
const MOST_COPIES: usize = 8;

/// The result that an op would have.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The refusal, if the op would be refused. A refused op changes nothing. A batch is never refused as a whole: each
    /// part has its own result in `parts`.
    pub refusal: Option<Refusal>,
    /// The result of each part of a batch, in order.
    pub parts: Vec<Result<(), Refusal>>,
    /// The controllers that the op names or would change, in order of id.
    pub rows: Vec<RowPreview>,
    /// The facts that the op would emit, including those of reactions.
    pub facts: Facts,
    /// The diagnostics that the op would emit.
    pub diagnostics: Vec<Diagnostic>,
}

/// The state of a controller before and after the op.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPreview {
    /// The controller.
    pub who: ControllerId,
    /// Every attribute, in dependency order.
    pub attributes: Vec<AttributePreview>,
    /// Tags that the controller would get.
    pub tags_added: Vec<TagId>,
    /// Tags that the controller would lose.
    pub tags_removed: Vec<TagId>,
    /// Effects that would become active or queued.
    pub effects_added: Vec<EffectView>,
    /// Effects that would end.
    pub effects_removed: Vec<EffectView>,
    /// Effects whose level, stacks, source, state or times would change, as pairs (before the op, after the op).
    pub effects_changed: Vec<(EffectView, EffectView)>,
    /// Whether the controller would be destroyed. The `after` values then equal the `before` values.
    pub destroyed: bool,
}

/// The values of an attribute before and after the op.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttributePreview {
    /// The attribute.
    pub attribute: AttributeId,
    /// The current value before the op.
    pub before: f64,
    /// The current value after the op.
    pub after: f64,
    /// The base value before the op.
    pub base_before: f64,
    /// The base value after the op.
    pub base_after: f64,
}

impl AttributePreview {
    /// Returns whether the current or base value would change.
    pub fn is_changed(&self) -> bool {
        self.before != self.after || self.base_before != self.base_after
    }
}

impl Preview {
    /// Returns the preview of a controller, if the op names the controller or would change it.
    pub fn row(&self, who: ControllerId) -> Option<&RowPreview> {
        self.rows.iter().find(|r| r.who == who)
    }

    /// Returns the preview of an attribute of a controller.
    pub fn attribute(&self, who: ControllerId, attribute: AttributeId) -> Option<AttributePreview> {
        self.row(who)?.attributes.iter().find(|a| a.attribute == attribute).copied()
    }
}

impl RowPreview {
    /// Returns whether an attribute value, a tag or an effect of the controller would change, or the controller would
    /// be destroyed.
    pub fn is_changed(&self) -> bool {
        self.destroyed
            || self.attributes.iter().any(AttributePreview::is_changed)
            || !self.tags_added.is_empty()
            || !self.tags_removed.is_empty()
            || !self.effects_added.is_empty()
            || !self.effects_removed.is_empty()
            || !self.effects_changed.is_empty()
    }
}

impl Sim {
    /// Returns the result that [`Sim::apply`] would have now. The sim does not change. The preview draws the same
    /// random numbers that the next op draws.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec, Spec};
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    ///
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
    ///     .add(Effect::instant("GE_Hit").add("Health", -30.0))
    ///     .build()?;
    /// let health = rules.attribute("Health").unwrap();
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// let preview = sim.preview(&Spec::new(rules.effect("GE_Hit").unwrap(), hero));
    /// let shown = preview.attribute(hero, health).unwrap();
    /// assert_eq!((preview.refusal, shown.before, shown.after), (None, 100.0, 70.0));
    /// assert_eq!(sim.get(hero, health)?, 100.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn preview(&self, spec: &Spec) -> Preview {
        self.preview_op(&Op::Apply(spec.clone()))
    }

    /// Returns the result that [`Sim::apply_all`] would have now. Later specs see the changes of earlier ones.
    pub fn preview_all(&self, specs: &[Spec]) -> Preview {
        self.preview_op(&Op::ApplyAll { specs: specs.to_vec() })
    }

    /// Returns the result that [`Sim::activate`] would have now. The result includes the commit with its cost and
    /// cooldown, and the tasks that run immediately.
    pub fn preview_ability(&self, who: ControllerId, ability: AbilityId, target: Target) -> Preview {
        self.preview_op(&Op::Activate { who, which: Which::Ability(ability), target })
    }

    /// Returns the result that an op would have now. To preview the commit of a running ability, pass [`Op::Commit`].
    pub fn preview_op(&self, op: &Op) -> Preview {
        let named = rows_of(op);
        let mut rows = named.clone();
        let mut copies = 0;
        loop {
            self.add_followers(&mut rows);
            let whole = copies == MOST_COPIES || rows.len() * 2 > self.state.controllers.len();
            copies += 1;
            let mut copy = if whole { self.clone_for_preview() } else { self.copy_of(&rows) };
            let mut preview = run(&mut copy, op);
            let missed = copy.state.controllers.missed();
            if missed.all {
                rows.extend(self.controllers());
                continue;
            }
            let before = rows.len();
            rows.extend(missed.ids.into_iter().filter(|&id| self.exists(id)));
            if rows.len() == before {
                preview.rows = self.compare(&copy, &named);
                return preview;
            }
        }
    }

    /// Adds the rows whose live magnitudes read these rows, directly or through other rows.
    fn add_followers(&self, rows: &mut BTreeSet<ControllerId>) {
        let mut open: Vec<ControllerId> = rows.iter().copied().collect();
        while let Some(who) = open.pop() {
            let followers = self.index.edges_out(who).map(|e| e.target);
            open.extend(followers.filter(|&f| rows.insert(f)));
        }
    }

    fn copy_of(&self, rows: &BTreeSet<ControllerId>) -> Sim {
        let s = &self.state;
        let state = State {
            now: s.now,
            seed: s.seed,
            next_id: s.next_id,
            next_op: s.next_op,
            controllers: s.controllers.copy_of(rows, &self.rules.tags),
            definitions: s.definitions.clone(),
            hash_sum: 0,
            hash_dirty: Vec::new(),
            streams: s.streams.clone(),
            locality: s.locality.clone(),
            changed: None,
        };
        self.with_state(state, self.index.copy_of(rows))
    }

    fn clone_for_preview(&self) -> Sim {
        self.with_state(State { changed: None, ..self.state.clone() }, self.index.clone())
    }

    fn with_state(&self, state: State, index: crate::state::Index) -> Sim {
        Sim {
            rules: self.rules.clone(),
            config: self.config.clone(),
            state,
            index,
            log: Log::default(),
            scratch: Scratch::default(),
            causes: self.causes.continued(),
            journals: BTreeMap::new(),
        }
    }

    /// Returns the rows that the op changed in the copy, and the rows that the op names.
    fn compare(&self, after: &Sim, named: &BTreeSet<ControllerId>) -> Vec<RowPreview> {
        let ids = after.state.controllers.ids();
        let kept = ids.chain(named.iter().copied().filter(|&who| self.exists(who)));
        let all: BTreeSet<ControllerId> = kept.chain(self.destroyed_in(after)).collect();
        let compared = all.into_iter().filter_map(|who| self.compare_row(after, who).ok());
        compared.filter(|r| r.is_changed() || named.contains(&r.who)).collect()
    }

    fn destroyed_in<'a>(&'a self, after: &'a Sim) -> impl Iterator<Item = ControllerId> + 'a {
        let destroyed = |f: &crate::Fact| matches!(f.kind, crate::FactKind::Despawned).then_some(f.who);
        after.log.facts.list.iter().filter_map(destroyed).filter(|&who| self.exists(who))
    }

    fn compare_row(&self, after: &Sim, who: ControllerId) -> Result<RowPreview, ReadError> {
        let destroyed = !after.exists(who);
        let after = if destroyed { self } else { after };
        let born = !self.exists(who);
        let before = if born { after } else { self };
        let attribute = |attribute: AttributeId| -> Result<AttributePreview, ReadError> {
            let (base_after, after) = (after.base(who, attribute)?, after.get(who, attribute)?);
            // An attribute of an attribute set that the op adds has no value before.
            let base_before = before.base(who, attribute).unwrap_or(base_after);
            let before = before.get(who, attribute).unwrap_or(after);
            Ok(AttributePreview { attribute, before, after, base_before, base_after })
        };
        let attributes = after.attributes(who)?.into_iter().map(attribute).collect::<Result<_, _>>()?;
        let tags = |sim: &Sim| sim.each_tag(who).map(|list| list.map(|(tag, _)| tag).collect::<Vec<_>>());
        let (old_tags, new_tags) = (if born { Vec::new() } else { tags(before)? }, tags(after)?);
        let (old, new) = (if born { Vec::new() } else { before.effects(who)? }, after.effects(who)?);
        let find = |list: &[EffectView], e: &EffectView| list.iter().find(|f| f.key == e.key).copied();
        let changed = new.iter().filter_map(|e| Some((find(&old, e)?, *e)));
        Ok(RowPreview {
            who,
            attributes,
            tags_added: new_tags.iter().copied().filter(|t| !old_tags.contains(t)).collect(),
            tags_removed: old_tags.iter().copied().filter(|t| !new_tags.contains(t)).collect(),
            effects_added: new.iter().copied().filter(|e| find(&old, e).is_none()).collect(),
            effects_changed: changed.filter(|(old, new)| is_different(old, new)).collect(),
            effects_removed: old.iter().copied().filter(|e| destroyed || find(&new, e).is_none()).collect(),
            destroyed,
        })
    }
}

/// Returns whether the level, stacks, source, state or times of an effect differ.
fn is_different(old: &EffectView, new: &EffectView) -> bool {
    let shown = |e: &EffectView| (e.level, e.stacks, e.source, e.remaining, e.total, e.executed, e.next_execution);
    let waits = |e: &EffectView| (e.state == EffectState::Inhibited, e.state == EffectState::Queued);
    shown(old) != shown(new) || waits(old) != waits(new)
}

/// Returns the controllers that an op names.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other op has one target")]
fn rows_of(op: &Op) -> BTreeSet<ControllerId> {
    let of_spec = |s: &Spec| [s.target, s.source];
    let mut rows = BTreeSet::from([op.target()]);
    match op {
        Op::Apply(spec) => rows.extend(of_spec(spec)),
        Op::ApplyAll { specs } => rows.extend(specs.iter().flat_map(of_spec)),
        Op::ApplyToMany { spec, targets } => rows.extend(targets.iter().copied().chain([spec.source])),
        Op::Activate { target: Target::Controller(who), .. } | Op::Press { target: Target::Controller(who), .. } => {
            rows.insert(*who);
        }
        _ => {}
    }
    rows.remove(&ControllerId::NONE);
    rows
}

/// Runs the op on a copy.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other op has one target")]
fn run(copy: &mut Sim, op: &Op) -> Preview {
    let mut results = Vec::new();
    let mut preview = Preview::default();
    match op {
        Op::ApplyAll { specs } => {
            copy.apply_all(specs, &mut results);
        }
        Op::ApplyToMany { spec, targets } => {
            copy.apply_to_many(spec, targets, &mut results);
        }
        _ => preview.refusal = copy.run(op.clone()).err(),
    }
    preview.parts = results.into_iter().map(|r| r.map(drop)).collect();
    preview.facts = copy.log.facts.clone();
    preview.diagnostics.clone_from(&copy.log.diagnostics);
    preview
}
