//! A view: read-only access to the data that checks and evaluations need. A flow provides a view for its checks, and a
//! sim provides one for queries.

use super::ability::distance;
use super::roll::Drawn;
use super::{About, Flow, HiddenRead, Replay, RollSource, SourceRecord, State, Sums, sums};
use crate::limits::Limits;
use crate::rules::{EffectDef, Expr, Layout, ModDef, NotFinite, Reads, Rules};
use crate::state::{AbilityRef, Effect, EffectRef, Frozen, FrozenEffect, Index, Row};
use crate::{AbilityId, CalcId, ControllerId, EffectId, OpId, Role, TagId};
use std::cell::RefCell;
use ugas_doc::Aggregation;

/// Conditions with a part that is not finite: controller and effect.
pub(crate) type NonFiniteConditions = RefCell<Vec<(ControllerId, EffectId)>>;

/// The parts of a sim that checks and evaluations read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) limits: &'a Limits,
    pub(crate) st: &'a State,
    pub(crate) ix: &'a Index,
    pub(crate) replay: Option<Replay<'a>>,
    /// The op of the query, for random draws.
    pub(crate) root: OpId,
    /// What the draws of the query belong to.
    pub(crate) roll: RollSource,
    pub(crate) role: Role,
    /// Whether this machine shows the world to a player.
    pub(crate) screen: bool,
    /// The current link in the chain of causes, which some refusals contain.
    pub(crate) link: u32,
    /// The list that records conditions with a part that is not finite, or `None` to record nothing.
    pub(crate) non_finite: Option<&'a NonFiniteConditions>,
    /// Where reads of values that the client does not have are recorded, or `None` to record nothing.
    pub(crate) hidden_read: Option<&'a HiddenRead>,
    /// Where uses that draw are recorded, or `None` to record nothing.
    pub(crate) drawn: Option<&'a Drawn>,
    /// Whether the result must be reproducible. Random numbers are then refused.
    pub(crate) sure: bool,
    /// Whether fast paths may be taken; see [`crate::Sim::fast_paths_open`].
    pub(crate) fast: bool,
}

impl Flow<'_> {
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        View {
            rules: self.rules,
            limits: self.limits,
            st: self.st,
            ix: self.ix,
            replay: self.replay,
            root: self.cause.root,
            roll: self.roll,
            role: self.work.role,
            screen: self.work.screen,
            link: self.cause.link,
            non_finite: Some(&self.non_finite),
            hidden_read: Some(&self.hidden_read),
            drawn: Some(&self.drawn),
            sure: false,
            fast: self.fast,
        }
    }
}

impl<'a> View<'a> {
    /// Evaluates a condition. A condition with a part that is not finite is false and causes a diagnostic.
    pub(crate) fn holds(&self, expr: &Expr, reads: &mut dyn Reads, who: ControllerId, effect: EffectId) -> bool {
        match expr.condition(reads) {
            Ok(held) => held.unwrap_or(false),
            Err(NotFinite) => {
                self.note_non_finite(who, effect);
                false
            }
        }
    }

    /// Records a condition that has a part that is not finite.
    #[cold]
    pub(crate) fn note_non_finite(&self, who: ControllerId, effect: EffectId) {
        if let Some(mut non_finite) = self.non_finite.and_then(|d| d.try_borrow_mut().ok())
            && !non_finite.contains(&(who, effect))
        {
            non_finite.push((who, effect));
        }
    }

    #[inline]
    pub(crate) fn row(&self, slot: usize) -> &'a Row {
        self.st.controllers.row(slot)
    }

    /// Returns whether a row has a tag or a descendant of it.
    #[inline]
    pub(crate) fn has(&self, slot: usize, tag: TagId) -> bool {
        self.row(slot).has(&self.rules.tags, tag)
    }

    #[inline]
    pub(crate) fn layout(&self, slot: usize) -> &'a Layout {
        &self.ix.layouts[self.row(slot).layout as usize]
    }

    #[inline]
    pub(crate) fn def(&self, effect: EffectId) -> Option<EffectRef<'a>> {
        self.st.definitions.effect(self.rules, effect)
    }

    #[inline]
    pub(crate) fn ability(&self, ability: AbilityId) -> Option<AbilityRef<'a>> {
        self.st.definitions.ability(self.rules, ability)
    }

    /// Returns whether only the authoritative sim applies an effect.
    pub(crate) fn is_for_authority(&self, def: &EffectDef) -> bool {
        let may_predict = |calculator: CalcId| self.rules.calcs.get(calculator.0).is_none_or(|c| c.code.predictable());
        def.authority || def.executions.iter().any(|x| !may_predict(x.calculator))
    }

    /// Returns the sums of a slot's modifiers.
    pub(crate) fn sums_of(&self, row: &Row, slot: usize, aggregation: Aggregation) -> Sums {
        let priority = |seq| {
            let def = row.effect_at(seq).and_then(|i| self.def(row.effects[i].def));
            def.map_or(0, |d| d.priority)
        };
        if row.is_modded(slot) { sums(row.mods_of(slot), aggregation, priority) } else { Sums::NONE }
    }

    /// Returns whether a modifier's tag filter is met.
    pub(crate) fn filter_holds(&self, m: &ModDef, source: ControllerId, target: usize) -> bool {
        self.filter_holds_with(m, source, target, None)
    }

    /// Like [`View::filter_holds`], for an execution of an active effect.
    pub(crate) fn filter_holds_for(&self, m: &ModDef, about: About<'_>) -> bool {
        self.filter_holds_with(m, about.spec.source, about.target, self.frozen_of(about))
    }

    /// Like [`View::filter_holds`], for an active effect of a row, by sequence number.
    pub(crate) fn filter_holds_of(&self, m: &ModDef, seq: u64, source: ControllerId, target: usize) -> bool {
        let row = self.row(target);
        let frozen = row.effect_at(seq).and_then(|at| self.frozen_source(&row.effects[at]));
        self.filter_holds_with(m, source, target, frozen)
    }

    fn filter_holds_with(&self, m: &ModDef, source: ControllerId, target: usize, frozen: Option<&Frozen>) -> bool {
        let source_has = |t: TagId| match frozen {
            Some(frozen) => frozen.has(&self.rules.tags, t),
            None => self.source_has(source, t),
        };
        m.target_tags.iter().all(|&t| self.has(target, t)) && m.source_tags.iter().all(|&t| source_has(t))
    }

    /// Captures the active effects of a row whose combat rules apply to what the row does to others.
    pub(crate) fn ruling_effects(&self, slot: usize) -> Box<[FrozenEffect]> {
        let rules_others = |e: &&Effect| !e.inhibited() && self.def(e.def).is_some_and(|d| d.rules_what_is_done());
        self.row(slot).effects.iter().filter(rules_others).map(FrozenEffect::of).collect()
    }

    /// Captures what effects on other rows read of a row, with its `effects`.
    pub(crate) fn frozen_row(&self, slot: usize, effects: Box<[FrozenEffect]>) -> Frozen {
        let row = self.row(slot);
        Frozen::of(row, self.layout(slot), self.rules, effects, self.credit(row.id))
    }

    /// Returns what a replay knows of a controller outside the replayed rows. `None` if the state is to be read from the
    /// sim.
    #[inline]
    pub(crate) fn recorded(&self, who: ControllerId) -> Option<SourceRecord<'a>> {
        self.replay?.record(who, self.st.now)
    }

    /// Returns whether a controller is in the sim or, in a replay, was in the sim at this point.
    pub(crate) fn exists(&self, who: ControllerId) -> bool {
        match self.recorded(who) {
            Some(record) => record.known().is_some(),
            None => self.st.controllers.get(who).is_some(),
        }
    }

    /// Returns the distance between the source and the target of an effect. `frozen` is the last state of a source that
    /// left the sim.
    pub(crate) fn source_distance(
        &self,
        source: ControllerId,
        frozen: Option<&Frozen>,
        target: ControllerId,
    ) -> Option<f64> {
        let from = match frozen {
            Some(frozen) => frozen.position,
            None => self.position_of(source),
        };
        Some(distance(from?, self.position_of(target)?))
    }

    /// Returns the last values of an active effect's source, if the source left the sim.
    #[inline]
    pub(crate) fn frozen_source(&self, e: &'a Effect) -> Option<&'a Frozen> {
        let frozen = e.frozen()?;
        // A replay reads other controllers from its journal, not from the sim.
        let is_recorded = self.replay.is_some_and(|r| !r.includes(e.source));
        (is_recorded || self.st.controllers.slot(e.source).is_none()).then_some(frozen)
    }

    /// Returns the last values of the source of an evaluated effect, if the source left the sim.
    pub(crate) fn frozen_of(&self, about: About<'_>) -> Option<&'a Frozen> {
        let source = about.spec.source;
        let is_live = self.replay.is_none_or(|r| r.includes(source)) && self.st.controllers.slot(source).is_some();
        if source == ControllerId::NONE || is_live {
            return None;
        }
        let mine = |e: &&Effect| e.origin_id == about.origin_id && e.ordinal == about.ordinal;
        self.row(about.target).effects.iter().find(mine).and_then(Effect::frozen)
    }
}
