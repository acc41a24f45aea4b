//! Descriptions of the outcomes of actions, including actions that had no effect.

use super::action::Action;
use crate::Names;
use ugas_core::{ActivationKey, EffectState, Outcome, Sim, TagId, needs_target};

/// The outcome of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionOutcome {
    /// The outcome as a sentence.
    pub text: String,
    /// Whether the action was accepted but had no effect.
    pub no_effect: bool,
}

impl Action {
    /// Runs the action and describes its outcome. The error says why the action was refused.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig};
    /// use ugas_studio::{Names, session::Action};
    /// let mut sim = Sim::new(Rules::builder().build()?, SimConfig::default());
    /// let act = Action::Release { input: "Primary".into(), who: "Pyra".into() };
    /// assert_eq!(act.run(&Names::default(), &mut sim).unwrap_err(), "actor Pyra does not exist");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, names: &Names, sim: &mut Sim) -> Result<ActionOutcome, String> {
        let resolved = self.resolve(names, sim)?;
        if let (Action::Cancel { ability, who }, Some(id)) = (self, names.who(sim, self.actor())) {
            let named = |a: &ugas_core::ActivationView| sim.rules().ability_name(a.ability) == Some(ability);
            if !sim.activations(id).is_ok_and(|mut all| all.any(|a| named(&a))) {
                return Err(format!("{ability} of {who} is not active; nothing to cancel"));
            }
        }
        let outcome = resolved.execute(sim)?;
        Ok(self.outcome(names, sim, &outcome))
    }

    /// Returns whether the action activates an ability that needs a target, without giving one.
    pub(crate) fn lacks_target(&self, sim: &Sim) -> bool {
        matches!(self, Action::Activate { ability, target, .. } if lacks_target(sim, ability, target))
    }

    /// Returns the actor of the action.
    fn actor(&self) -> &str {
        match self {
            Action::Apply { to: who, .. } | Action::Remove { from: who, .. } => who,
            Action::Activate { who, .. } | Action::Cancel { who, .. } | Action::Press { who, .. } => who,
            Action::Release { who, .. }
            | Action::Event { who, .. }
            | Action::Move { who, .. }
            | Action::Set { who, .. }
            | Action::AddSet { who, .. }
            | Action::RemoveSet { who, .. }
            | Action::Block { who, .. }
            | Action::Unblock { who, .. }
            | Action::Enable { who, .. } => who,
        }
    }

    fn outcome(&self, names: &Names, sim: &Sim, outcome: &Outcome) -> ActionOutcome {
        let done = |text: String| ActionOutcome { text, no_effect: false };
        match self {
            Action::Apply { effect, to, .. } => {
                done(format!("{effect} was applied to {to}{}", state(names, sim, to, outcome)))
            }
            Action::Remove { effect, from } => match outcome {
                Outcome::Matched(1) => done(format!("{effect} was removed from {from}")),
                Outcome::Matched(n) => done(format!("{effect} was removed from {from}, {n} times")),
                Outcome::Done
                | Outcome::Spawned(_)
                | Outcome::SpawnedMany(..)
                | Outcome::Applied(_)
                | Outcome::AppliedMany(_)
                | Outcome::Defined(_)
                | Outcome::Granted(_)
                | Outcome::GrantedSet(_)
                | Outcome::Activated(_)
                | Outcome::Pressed { .. } => done(format!("{effect} was removed from {from}")),
            },
            Action::Activate { ability, who, target } => {
                aimed(sim, ability, target, format!("{who} activated {ability}"))
            }
            Action::Cancel { ability, who } => done(format!("{ability} of {who} was cancelled")),
            Action::Press { input, who, target } => pressed(sim, input, who, target, outcome),
            Action::Release { input, who } => done(format!("{input} of {who} was released")),
            Action::Event { tag, who, .. } => done(format!("{tag} was sent to {who}")),
            Action::Move { who, to } => done(format!("{who} was moved to {}, {}", to[0], to[2])),
            Action::AddSet { set, who } => done(format!("{set} was added to {who}")),
            Action::RemoveSet { set, who } => done(format!("{set} was removed from {who}")),
            Action::Block { tag, who } => blocked(names, sim, tag, who),
            Action::Unblock { tag, who } => unblocked(names, sim, tag, who),
            Action::Enable { class, who, on } => {
                done(format!("{class} of {who} was switched {}", if *on { "on" } else { "off" }))
            }
            Action::Set { who, attribute, value } => {
                let base = sim.rules().find_attribute(attribute).zip(names.who(sim, who));
                let base = base.and_then(|(a, who)| sim.base(who, a).ok()).unwrap_or(*value);
                match base == *value {
                    true => done(format!("base {attribute} of {who} was set to {value}")),
                    false => done(format!("base {attribute} of {who} was set to {base}: {value} is out of bounds")),
                }
            }
        }
    }
}

/// Describes a block, and reports if no capability has the tag.
fn blocked(names: &Names, sim: &Sim, tag: &str, who: &str) -> ActionOutcome {
    let (rules, views) = (sim.rules(), names.who(sim, who).and_then(|who| sim.capabilities(who).ok()));
    let is_tagged = |of: TagId| {
        let mut tags = views.iter().flatten().flat_map(|view| rules.capability_tags(view.set, view.index));
        tags.any(|&tag| rules.tag_is_under(tag, of))
    };
    match rules.find_tag(tag).is_some_and(is_tagged) {
        true => ActionOutcome { text: format!("{tag} of {who} was blocked"), no_effect: false },
        false => {
            let text = format!("{tag} of {who} was blocked, but no capability of {who} has this tag");
            ActionOutcome { text, no_effect: true }
        }
    }
}

/// Describes the end of a block, and reports if another source still blocks the tag.
fn unblocked(names: &Names, sim: &Sim, tag: &str, who: &str) -> ActionOutcome {
    let found = names.who(sim, who).zip(sim.rules().find_tag(tag));
    match found.is_some_and(|(who, tag)| sim.is_blocked(who, tag) == Ok(true)) {
        true => {
            let text = format!("{tag} of {who} is no longer blocked by the studio, but still by another source");
            ActionOutcome { text, no_effect: true }
        }
        false => ActionOutcome { text: format!("{tag} of {who} was unblocked"), no_effect: false },
    }
}

/// Returns the state of an applied effect, if it is not active.
fn state(names: &Names, sim: &Sim, to: &str, outcome: &Outcome) -> &'static str {
    let Outcome::Applied(key) = outcome else { return "" };
    let on = names.who(sim, to).and_then(|who| sim.effects(who).ok()).unwrap_or_default();
    match on.iter().find(|e| e.key == *key).map(|e| e.state) {
        Some(EffectState::Queued) => ", and is queued",
        Some(EffectState::Inhibited) => ", and is inhibited: its ongoing requirements are not met",
        Some(EffectState::Active) | None => "",
    }
}

fn pressed(sim: &Sim, input: &str, who: &str, target: &Option<String>, outcome: &Outcome) -> ActionOutcome {
    let (activated, refused) = if let Outcome::Pressed { activated, refused } = outcome {
        (*activated, refused.as_ref())
    } else {
        (None, None)
    };
    let no_effect =
        |why: String| ActionOutcome { text: format!("{input} of {who} was pressed, but {why}"), no_effect: true };
    match (activated.and_then(|key| name_of(sim, key)), refused) {
        (Some(ability), _) => {
            aimed(sim, &ability, target, format!("{input} of {who} was pressed: {ability} was activated"))
        }
        (None, Some(refusal)) => no_effect(format!("no ability was activated: {}", refusal.describe(sim.rules()))),
        (None, None) if activated.is_some() => {
            ActionOutcome { text: format!("{input} of {who} was pressed"), no_effect: false }
        }
        (None, None) => no_effect("no ability is bound to this input".to_owned()),
    }
}

/// Returns the name of an active ability; `None` if the ability has already ended.
fn name_of(sim: &Sim, key: ActivationKey) -> Option<String> {
    let ability = sim.activations(key.who).ok()?.find(|a| a.key == key)?.ability;
    sim.rules().ability_name(ability).map(str::to_owned)
}

/// Describes an activation, and reports if the activation lacked a target that its tasks need.
fn aimed(sim: &Sim, ability: &str, target: &Option<String>, text: String) -> ActionOutcome {
    match lacks_target(sim, ability, target) {
        true => ActionOutcome {
            text: format!("{text} without a target: the ability did not apply its effects to a target; enter a target"),
            no_effect: true,
        },
        false => ActionOutcome { text, no_effect: false },
    }
}

fn lacks_target(sim: &Sim, ability: &str, target: &Option<String>) -> bool {
    let doc = sim.rules().find_ability(ability).and_then(|id| sim.ability_doc(id));
    target.is_none() && doc.is_some_and(needs_target)
}
