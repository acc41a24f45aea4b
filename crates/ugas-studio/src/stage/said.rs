//! What came of a deed, in words: whoever did something is told what it was, also where it was in vain.

use super::act::Act;
use crate::Names;
use ugas_core::{ActivationKey, EffectState, Outcome, Sim};
use ugas_doc::AbilityTask;

/// What came of a deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// A sentence.
    pub text: String,
    /// Whether it was done, and nothing that anybody wanted comes of it.
    pub vain: bool,
}

impl Act {
    /// Does it to a world, and says what came of it. Why not, if it is refused.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig};
    /// use ugas_studio::{Names, stage::Act};
    /// let mut sim = Sim::new(Rules::builder().build()?, SimConfig::default());
    /// let act = Act::Release { input: "Primary".into(), who: "Pyra".into() };
    /// assert_eq!(act.run(&Names::default(), &mut sim).unwrap_err(), "Pyra is not there");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, names: &Names, sim: &mut Sim) -> Result<Said, String> {
        let deed = self.deed(names, sim)?;
        if let (Act::Cancel { ability, who }, Some(id)) = (self, names.who(sim, self.whose())) {
            let named = |a: &ugas_core::ActivationView| sim.rules().ability_name(a.ability) == Some(ability);
            if !sim.activations(id).is_ok_and(|mut all| all.any(|a| named(&a))) {
                return Err(format!("{who} does not use {ability} now: there is nothing to cancel"));
            }
        }
        let outcome = deed.carry(sim)?;
        Ok(self.said(names, sim, &outcome))
    }

    /// Whom it is done to, or who does it.
    fn whose(&self) -> &str {
        match self {
            Act::Apply { to: who, .. } | Act::Remove { from: who, .. } => who,
            Act::Activate { who, .. } | Act::Cancel { who, .. } | Act::Press { who, .. } => who,
            Act::Release { who, .. } | Act::Event { who, .. } | Act::Move { who, .. } | Act::Set { who, .. } => who,
        }
    }

    fn said(&self, names: &Names, sim: &Sim, outcome: &Outcome) -> Said {
        let done = |text: String| Said { text, vain: false };
        match self {
            Act::Apply { effect, to, .. } => {
                done(format!("{effect} was applied to {to}{}", state(names, sim, to, outcome)))
            }
            Act::Remove { effect, from } => match outcome {
                Outcome::Matched(1) => done(format!("{effect} was removed from {from}")),
                Outcome::Matched(n) => done(format!("{effect} was removed from {from}, {n} times")),
                _ => done(format!("{effect} was removed from {from}")),
            },
            Act::Activate { ability, who, target } => aimed(sim, ability, target, format!("{who} uses {ability}")),
            Act::Cancel { ability, who } => done(format!("{ability} of {who} was cancelled")),
            Act::Press { input, who, target } => pressed(sim, input, who, target, outcome),
            Act::Release { input, who } => done(format!("{input} of {who} is up")),
            Act::Event { tag, who, .. } => done(format!("{tag} was sent to {who}")),
            Act::Move { who, to } => done(format!("{who} stands at {}, {}", to[0], to[2])),
            Act::Set { who, attribute, value } => {
                let base = sim.rules().find_attribute(attribute).zip(names.who(sim, who));
                let base = base.and_then(|(a, who)| sim.base(who, a).ok()).unwrap_or(*value);
                match base == *value {
                    true => done(format!("the base of {attribute} of {who} is {value} now")),
                    false => done(format!("the base of {attribute} of {who} is {base} now: {value} is out of bounds")),
                }
            }
        }
    }
}

/// What else is to be known about an effect that was applied.
fn state(names: &Names, sim: &Sim, to: &str, outcome: &Outcome) -> &'static str {
    let Outcome::Applied(key) = outcome else { return "" };
    let on = names.who(sim, to).and_then(|who| sim.effects(who).ok()).unwrap_or_default();
    match on.iter().find(|e| e.key == *key).map(|e| e.state) {
        Some(EffectState::Queued) => ", and waits for its turn",
        Some(EffectState::Inhibited) => ", and is inhibited: its requirements do not hold",
        Some(EffectState::Active) | None => "",
    }
}

fn pressed(sim: &Sim, input: &str, who: &str, target: &Option<String>, outcome: &Outcome) -> Said {
    let (activated, refused) = match outcome {
        Outcome::Pressed { activated, refused } => (*activated, refused.as_ref()),
        _ => (None, None),
    };
    let vain = |why: String| Said { text: format!("{input} of {who} is down, but {why}"), vain: true };
    match (activated.and_then(|key| name_of(sim, key)), refused) {
        (Some(ability), _) => aimed(sim, &ability, target, format!("{input} of {who} is down: {ability} is used")),
        (None, Some(refusal)) => vain(format!("nothing is used: {}", refusal.describe(sim.rules()))),
        (None, None) if activated.is_some() => Said { text: format!("{input} of {who} is down"), vain: false },
        (None, None) => vain("nothing answers to it now".to_owned()),
    }
}

/// The ability behind an activation; one that is over already has no name any more.
fn name_of(sim: &Sim, key: ActivationKey) -> Option<String> {
    let ability = sim.activations(key.who).ok()?.find(|a| a.key == key)?.ability;
    sim.rules().ability_name(ability).map(str::to_owned)
}

/// An ability that reaches for somebody and was aimed at nobody runs, and what it would do to a target is done to nobody.
fn aimed(sim: &Sim, ability: &str, target: &Option<String>, text: String) -> Said {
    let doc = sim.rules().find_ability(ability).and_then(|id| sim.ability_doc(id));
    let reaches = doc.is_some_and(|doc| reaches(&[&doc.tasks, &doc.on_tick, &doc.on_server_tick]));
    match target.is_none() && reaches {
        true => Said {
            text: format!("{text}, but at nobody: what it does to a target it does to none. Name one under At"),
            vain: true,
        },
        false => Said { text, vain: false },
    }
}

/// Whether tasks do something to a target and do not look for one themselves.
fn reaches(lists: &[&[AbilityTask]]) -> bool {
    let has = |names: &[&str]| lists.iter().any(|tasks| any(tasks, names));
    has(&["ApplyEffectToTarget", "RemoveEffectFromTarget"]) && !has(&["SetTarget", "WaitForTarget", "WaitTargetData"])
}

fn any(tasks: &[AbilityTask], names: &[&str]) -> bool {
    let within = |task: &AbilityTask| [&task.tasks, &task.then, &task.r#else].into_iter().any(|t| any(t, names));
    tasks.iter().any(|task| names.contains(&task.kind.as_str()) || within(task))
}
