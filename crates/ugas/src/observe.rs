//! Observers: callbacks for those who want to be told instead of reading the log. They run after a step, over the
//! facts that were taken, so nothing inside a sim ever calls out.

use ugas_core::{AbilityId, AttributeId, ControllerId, EffectId, Fact, FactKind, Facts, Sim, TagId};

/// A registered observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverId(u64);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    Attribute(AttributeId),
    Tag(TagId),
    Effect(EffectId),
    Ability(AbilityId),
    Everything,
}

/// What a callback gets: the fact, the sim after the step, and a way to stop being called.
pub struct Notice<'a> {
    /// What happened.
    pub fact: &'a Fact,
    /// The sim, with every change of the step already made.
    pub sim: &'a Sim,
    id: ObserverId,
    leave: &'a mut Vec<ObserverId>,
}

impl Notice<'_> {
    /// Stops this observer; it is not called again, not even for the facts of this step.
    pub fn unregister(&mut self) {
        self.leave.push(self.id);
    }

    /// Stops another observer.
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

/// Callbacks per attribute, tag, effect or ability, of one controller or of all.
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
    next: u64,
    leave: Vec<ObserverId>,
}

impl<'c> Observers<'c> {
    /// Calls back for changes of an attribute, of one controller or of all.
    pub fn on_attribute(
        &mut self,
        attribute: AttributeId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Attribute(attribute), who, Box::new(callback))
    }

    /// Calls back when a tag appears or vanishes.
    pub fn on_tag(
        &mut self,
        tag: TagId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Tag(tag), who, Box::new(callback))
    }

    /// Calls back when an effect is applied, executed, changed or removed.
    pub fn on_effect(
        &mut self,
        effect: EffectId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Effect(effect), who, Box::new(callback))
    }

    /// Calls back when an ability is granted or revoked, becomes active or ends, casts or gains and loses charges.
    pub fn on_ability(
        &mut self,
        ability: AbilityId,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Ability(ability), who, Box::new(callback))
    }

    /// Calls back for every fact.
    pub fn on_everything(
        &mut self,
        who: Option<ControllerId>,
        callback: impl FnMut(&mut Notice<'_>) + Send + 'c,
    ) -> ObserverId {
        self.register(Subject::Everything, who, Box::new(callback))
    }

    fn register(&mut self, subject: Subject, who: Option<ControllerId>, callback: Callback<'c>) -> ObserverId {
        self.next += 1;
        let id = ObserverId(self.next);
        self.list.push(Observer { id, subject, who, callback });
        id
    }

    /// Stops an observer; false if it was not there.
    pub fn unregister(&mut self, id: ObserverId) -> bool {
        let before = self.list.len();
        self.list.retain(|o| o.id != id);
        self.list.len() < before
    }

    /// How many are registered.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether none is registered.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Tells everyone what they registered for, in the order of the facts. Observers of a controller that is gone
    /// hear of its end and are then dropped.
    pub fn dispatch(&mut self, sim: &Sim, facts: &Facts) {
        for fact in facts {
            for observer in &mut self.list {
                let wanted = observer.who.is_none_or(|w| w == fact.who) && concerns(observer.subject, fact);
                if wanted && !self.leave.contains(&observer.id) {
                    let mut notice = Notice { fact, sim, id: observer.id, leave: &mut self.leave };
                    (observer.callback)(&mut notice);
                }
            }
            if matches!(fact.kind, FactKind::Despawned) {
                self.leave.extend(self.list.iter().filter(|o| o.who == Some(fact.who)).map(|o| o.id));
            }
            if !self.leave.is_empty() {
                let leave = &self.leave;
                self.list.retain(|o| !leave.contains(&o.id));
                self.leave.clear();
            }
        }
    }
}

fn concerns(subject: Subject, fact: &Fact) -> bool {
    match subject {
        Subject::Everything => true,
        Subject::Attribute(a) => matches!(fact.kind, FactKind::AttributeChanged { attribute, .. } if attribute == a),
        Subject::Tag(t) => matches!(fact.kind, FactKind::TagChanged { tag, .. } if tag == t),
        Subject::Ability(a) => match fact.kind {
            FactKind::Granted { ability, .. }
            | FactKind::Revoked { ability, .. }
            | FactKind::AbilityActivated { ability, .. }
            | FactKind::AbilityEnded { ability, .. }
            | FactKind::Cast { ability, .. }
            | FactKind::Charges { ability, .. } => ability == a,
            _ => false,
        },
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
