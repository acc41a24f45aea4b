//! Observers: callbacks for facts, as an alternative to a loop over the log. Observers run when the host dispatches a
//! batch of facts. A sim never calls an observer itself.

use crate::batch::{FactBatch, Occurrence};
use ugas_core::{
    AbilityId, AttributeId, ControllerId, EffectId, Fact, FactKind, RemoveReason, ResourceStep, Sim, TagId,
};

/// The id of a registered observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverId(u64);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    Attribute(AttributeId),
    Tag(TagId),
    Effect(EffectId),
    Ability(AbilityId),
    Everything,
    Confirmed,
    Undone,
}

/// The argument of a callback: the fact, the sim after the step, and methods that unregister observers.
pub struct Notice<'a> {
    /// The fact.
    pub fact: &'a Fact,
    /// The sim, with every change of the step applied.
    pub sim: &'a Sim,
    /// Whether the fact reverses a misprediction; see [`Observers::dispatch`]. Always true in [`Observers::on_undone`].
    pub is_correction: bool,
    id: ObserverId,
    leave: &'a mut Vec<ObserverId>,
}

impl Notice<'_> {
    /// Unregisters this observer. The observer is not called for the remaining facts of the step.
    pub fn unregister(&mut self) {
        self.leave.push(self.id);
    }

    /// Unregisters another observer.
    pub fn unregister_other(&mut self, id: ObserverId) {
        self.leave.push(id);
    }
}

type Callback<'c> = Box<dyn FnMut(&mut Notice<'_>) + Send + 'c>;

struct Observer<'c> {
    id: ObserverId,
    subject: Subject,
    who: Option<ControllerId>,
    callback: Callback<'c>,
}

/// The argument of a callback for a stat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatNotice {
    /// The controller.
    pub who: ControllerId,
    /// The attribute of the stat.
    pub stat: AttributeId,
    /// The value before the change; `None` if the stat has just arrived.
    pub old: Option<f64>,
    /// The current value.
    pub value: f64,
}

/// Why a stat cannot be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatError {
    /// The attribute is not a stat of any stat table.
    NotAStat,
    /// The stat never changes, because effects may not modify it.
    Fixed,
}

impl std::fmt::Display for StatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StatError::NotAStat => "the attribute is not a stat; use Observers::on_attribute",
            StatError::Fixed => "the stat never changes: its table has Modifiable: false",
        })
    }
}

impl std::error::Error for StatError {}

type StatCallback<'c> = Box<dyn FnMut(StatNotice) + Send + 'c>;

struct StatObserver<'c> {
    id: ObserverId,
    stat: AttributeId,
    who: ControllerId,
    /// Whether the controller does not have the stat yet.
    is_pending: bool,
    callback: StatCallback<'c>,
}

/// Callbacks per attribute, tag, effect or ability, for one controller or for all controllers.
///
/// Observers take the facts of a sim and, with the feature `net`, the facts of a client session ([`FactBatch`]).
///
/// ```
/// use ugas::prelude::*;
/// let rules = Rules::builder()
///     .add(AttributeSet::new("V").with(Attribute::new("Health", 100.0)))
///     .add(Effect::instant("GE_Hit").add("Health", -10.0))
///     .build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()]))?;
/// let mut seen = 0;
/// let mut observers = Observers::default();
/// observers.on_attribute(rules.attribute("Health").unwrap(), None, |_| seen += 1);
/// sim.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), hero))?;
/// let mut facts = Facts::default();
/// sim.take_facts(&mut facts);
/// observers.dispatch(&sim, &facts);
/// drop(observers);
/// assert_eq!(seen, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Observers<'c> {
    list: Vec<Observer<'c>>,
    stats: Vec<StatObserver<'c>>,
    next: u64,
    leave: Vec<ObserverId>,
}

impl<'c> Observers<'c> {
    /// Registers a callback for changes of an attribute, on one controller or on all controllers.
    pub fn on_attribute(
        &mut self,
        attribute: AttributeId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Attribute(attribute), who, Box::new(callback))
    }

    /// Registers a callback for changes of a stat of one controller. If the controller does not have the stat yet,
    /// because the client has not received it, the callback is called once when the stat arrives, and then at each
    /// change. A stat with `Modifiable: false` never changes and is refused.
    ///
    /// ```
    /// use ugas::prelude::*;
    /// use ugas::doc::{Stat, StatTable};
    /// let rules = Rules::builder()
    ///     .add(StatTable::new("MageStats").with(Stat::new("Stat.Haste", 1.0)))
    ///     .add(Effect::lasting("GE_Haste", 5.0).add("Stat.Haste", 0.5))
    ///     .build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let mage = sim.spawn(SpawnSpec::default().stats([rules.set("MageStats")?]))?;
    /// let mut seen = Vec::new();
    /// let mut observers = Observers::default();
    /// observers.on_stat(&sim, rules.attribute("Stat.Haste")?, mage, |haste| seen.push(haste.value))?;
    /// sim.apply(&Spec::new(rules.effect("GE_Haste")?, mage))?;
    /// let mut facts = Facts::default();
    /// sim.take_facts(&mut facts);
    /// observers.dispatch(&sim, &facts);
    /// drop(observers);
    /// assert_eq!(seen, [1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_stat(
        &mut self,
        sim: &Sim,
        stat: AttributeId,
        who: ControllerId,
        callback: impl FnMut(StatNotice) + Send + 'c,
    ) -> Result<ObserverId, StatError> {
        let attribute = sim.rules().stat_attribute(stat).ok_or(StatError::NotAStat)?;
        if sim.rules().is_fixed_stat(stat) {
            return Err(StatError::Fixed);
        }
        self.next += 1;
        let (id, is_pending) = (ObserverId(self.next), sim.get(who, attribute).is_err());
        self.stats.push(StatObserver { id, stat: attribute, who, is_pending, callback: Box::new(callback) });
        Ok(id)
    }

    /// Registers a callback that runs when a tag is added or removed.
    pub fn on_tag(
        &mut self,
        tag: TagId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Tag(tag), who, Box::new(callback))
    }

    /// Registers a callback that runs when an effect is applied, changed or removed, and when an execution runs or is
    /// prevented by a combat rule.
    pub fn on_effect(
        &mut self,
        effect: EffectId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Effect(effect), who, Box::new(callback))
    }

    /// Registers a callback that runs when an ability is granted, revoked, activated or ended, when its cast
    /// progresses, and when its charges change.
    pub fn on_ability(
        &mut self,
        ability: AbilityId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Ability(ability), who, Box::new(callback))
    }

    /// Registers a callback for every fact.
    pub fn on_everything(
        &mut self,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Everything, who, Box::new(callback))
    }

    /// Registers a callback for predicted facts that the server confirmed. Each fact was dispatched before, when it was
    /// predicted. Only the facts of a client session contain confirmations.
    pub fn on_confirmed(
        &mut self,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Confirmed, who, Box::new(callback))
    }

    /// Registers a callback for mispredicted facts. The callback gets each fact as it was predicted. Only the facts of
    /// a client session contain mispredictions.
    pub fn on_undone(
        &mut self,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Undone, who, Box::new(callback))
    }

    fn register(&mut self, subject: Subject, who: Option<ControllerId>, callback: Callback<'c>) -> ObserverId {
        self.next += 1;
        let id = ObserverId(self.next);
        self.list.push(Observer { id, subject, who, callback });
        id
    }

    /// Unregisters an observer. Returns `false` if the observer was not registered.
    pub fn unregister(&mut self, id: ObserverId) -> bool {
        let before = self.len();
        self.list.retain(|o| o.id != id);
        self.stats.retain(|o| o.id != id);
        self.len() < before
    }

    /// Returns how many observers are registered.
    pub fn len(&self) -> usize {
        self.list.len() + self.stats.len()
    }

    /// Returns whether no observer is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls the observers of each fact, in the order of the facts. Observers of a single controller are unregistered
    /// after the controller's `Despawned` fact.
    ///
    /// In a client session, a predicted fact is dispatched when the client predicts it, and not again when the server
    /// confirms it. If a fact was mispredicted, observers get a correction with [`Notice::is_correction`] set. The
    /// correction is the corrected value of the attribute, the removal or addition of the tag or effect, or the
    /// end of the ability. A callback that tracks values through facts therefore ends up with the values of the sim. A
    /// mispredicted fact without a correction, such as an execution, is passed only to [`Observers::on_undone`].
    ///
    /// `sim` must be the sim that the facts come from. For the facts of a client session, pass `client.sim()`.
    pub fn dispatch(&mut self, sim: &Sim, facts: &impl FactBatch) {
        for entry in facts.entries() {
            let fact = entry.fact;
            match entry.occurrence {
                Occurrence::Happened => {
                    self.call_stats(fact);
                    self.call(sim, fact, false, |subject| concerns(subject, fact));
                }
                Occurrence::Confirmed => self.call(sim, fact, false, |subject| subject == Subject::Confirmed),
                Occurrence::Undone => {
                    self.call(sim, fact, true, |subject| subject == Subject::Undone);
                    if let Some(kind) = reverse(sim, fact) {
                        let reversed = Fact { kind, ..*fact };
                        self.call_stats(&reversed);
                        self.call(sim, &reversed, true, |subject| concerns(subject, &reversed));
                    }
                }
            }
            if entry.occurrence == Occurrence::Happened && matches!(fact.kind, FactKind::Despawned) {
                self.list.retain(|o| o.who != Some(fact.who));
                self.stats.retain(|o| o.who != fact.who || o.is_pending);
            }
        }
        // A stat arrives without a fact of its own.
        for observer in self.stats.iter_mut().filter(|o| o.is_pending) {
            if let Ok(value) = sim.get(observer.who, observer.stat) {
                observer.is_pending = false;
                (observer.callback)(StatNotice { who: observer.who, stat: observer.stat, old: None, value });
            }
        }
    }

    fn call_stats(&mut self, fact: &Fact) {
        let FactKind::AttributeChanged { attribute, old, new, .. } = fact.kind else { return };
        let is_meant = |o: &&mut StatObserver<'_>| !o.is_pending && o.who == fact.who && o.stat == attribute;
        for observer in self.stats.iter_mut().filter(is_meant).filter(|_| old != new) {
            (observer.callback)(StatNotice { who: fact.who, stat: attribute, old: Some(old), value: new });
        }
    }

    fn call(&mut self, sim: &Sim, fact: &Fact, is_correction: bool, wants: impl Fn(Subject) -> bool) {
        for observer in &mut self.list {
            let wanted = observer.who.is_none_or(|w| w == fact.who) && wants(observer.subject);
            if wanted && !self.leave.contains(&observer.id) {
                let mut notice = Notice { fact, sim, is_correction, id: observer.id, leave: &mut self.leave };
                (observer.callback)(&mut notice);
            }
        }
        if !self.leave.is_empty() {
            let leave = &self.leave;
            self.list.retain(|o| !leave.contains(&o.id));
            self.leave.clear();
        }
    }
}

/// Returns the change from a misprediction to the state of the sim, or `None` if there is no change to report.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other fact is irrelevant here")]
fn reverse(sim: &Sim, fact: &Fact) -> Option<FactKind> {
    let who = fact.who;
    match fact.kind {
        FactKind::AttributeChanged { attribute, new: old, new_base: old_base, .. } => {
            let (new, new_base) = (sim.get(who, attribute).ok()?, sim.base(who, attribute).ok()?);
            let change = FactKind::AttributeChanged { attribute, old, new, old_base, new_base };
            ((old, old_base) != (new, new_base)).then_some(change)
        }
        FactKind::Resource { attribute, step: ResourceStep::Changed, new: old, .. } => {
            let new = sim.get(who, attribute).ok()?;
            let step = ResourceStep::Changed;
            (old != new).then_some(FactKind::Resource { attribute, step, old, new })
        }
        FactKind::TagChanged { tag, added, exact, presence } => {
            let has = sim.has_tag(who, tag).ok()?;
            (has != added).then_some(FactKind::TagChanged { tag, added: has, exact, presence })
        }
        FactKind::EffectApplied { .. } => {
            let is_gone = !sim.is_instant(fact.effect) && sim.effect(fact.key).is_err();
            is_gone.then_some(FactKind::EffectRemoved { reason: RemoveReason::Removed })
        }
        FactKind::EffectRemoved { .. } => {
            let active = sim.effect(fact.key).ok()?;
            Some(FactKind::EffectApplied { level: active.level, stacks: active.stacks })
        }
        FactKind::AbilityActivated { ability, grant, activation, .. } => {
            let is_running = sim.activations(who).is_ok_and(|mut all| all.any(|a| a.key == activation));
            let ended = FactKind::AbilityEnded { ability, grant, activation, cancelled: true, interrupted: false };
            (!is_running).then_some(ended)
        }
        _ => None,
    }
}

fn concerns(subject: Subject, fact: &Fact) -> bool {
    match subject {
        Subject::Everything => true,
        Subject::Confirmed | Subject::Undone => false,
        Subject::Attribute(a) => matches!(fact.kind, FactKind::AttributeChanged { attribute, .. } if attribute == a),
        Subject::Tag(t) => matches!(fact.kind, FactKind::TagChanged { tag, .. } if tag == t),
        Subject::Ability(a) => {
            if let FactKind::Granted { ability, .. }
            | FactKind::Revoked { ability, .. }
            | FactKind::AbilityActivated { ability, .. }
            | FactKind::AbilityEnded { ability, .. }
            | FactKind::Cast { ability, .. }
            | FactKind::Charges { ability, .. }
            | FactKind::Mispredicted { ability } = fact.kind
            {
                ability == a
            } else {
                false
            }
        }
        Subject::Effect(e) => {
            let about_effect = matches!(
                fact.kind,
                FactKind::EffectApplied { .. }
                    | FactKind::EffectExecuted { .. }
                    | FactKind::ExecutionRestricted { .. }
                    | FactKind::EffectChanged { .. }
                    | FactKind::EffectRemoved { .. }
            );
            about_effect && fact.effect == e
        }
    }
}
