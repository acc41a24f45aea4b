//! What can be done to a world by hand, in names: it stays the same deed when ids change.

use super::Stage;
use serde::{Deserialize, Serialize};
use ugas_core::{Anchor, AttributeId, ControllerId, DefId, EventData, Op, Refusal, Rules, Spec, Target, Which};
use ugas_doc::Effect;

/// Something an actor does or has done to it. Actors go by their names on stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Act {
    /// An effect is applied.
    Apply {
        /// Its name.
        effect: String,
        /// To whom.
        to: String,
        /// By whom, if by anybody.
        #[serde(default)]
        by: Option<String>,
        /// At which level.
        #[serde(default)]
        level: Option<u32>,
    },
    /// Every effect of a definition is removed.
    Remove {
        /// Its name.
        effect: String,
        /// From whom.
        from: String,
    },
    /// An ability is activated.
    Activate {
        /// Its name.
        ability: String,
        /// By whom.
        who: String,
        /// At whom.
        #[serde(default)]
        target: Option<String>,
    },
    /// A running ability is cancelled.
    Cancel {
        /// Its name.
        ability: String,
        /// Whose.
        who: String,
    },
    /// An input goes down.
    Press {
        /// Its name.
        input: String,
        /// Whose.
        who: String,
        /// Aiming at whom.
        #[serde(default)]
        target: Option<String>,
    },
    /// An input comes up.
    Release {
        /// Its name.
        input: String,
        /// Whose.
        who: String,
    },
    /// An event is sent.
    Event {
        /// Its tag.
        tag: String,
        /// To whom.
        who: String,
        /// With this value.
        #[serde(default)]
        value: f64,
    },
    /// Somebody is put somewhere.
    Move {
        /// Who.
        who: String,
        /// Where.
        to: [f64; 3],
    },
    /// A base value is written, by an effect made for it.
    Set {
        /// Whose.
        who: String,
        /// Which attribute.
        attribute: String,
        /// To what.
        value: f64,
    },
}

impl Act {
    /// Does it on the server.
    pub(super) fn run(&self, stage: &mut Stage) -> Result<(), String> {
        let op = self.op(stage)?;
        let rules = stage.library.rules().clone();
        let sim = stage.net.server_mut().sim_mut();
        match op {
            Deed::Op(op) => sim.run(op).map(|_| ()).map_err(|r| r.describe(&rules)),
            Deed::RemoveAll(who, effect) => {
                let all = sim.effects(who).map_err(|r| r.describe(&rules))?;
                for view in all.into_iter().filter(|e| e.effect == effect) {
                    sim.remove(view.key, -1).map_err(|r| r.describe(&rules))?;
                }
                Ok(())
            }
            Deed::Write(who, name, value) => write(sim, who, &name, value).map_err(|r| r.describe(&rules)),
        }
    }

    fn op(&self, stage: &Stage) -> Result<Deed, String> {
        let rules = stage.library.rules();
        let who = |name: &str| stage.who(name).ok_or_else(|| format!("{name} is not there"));
        let aim = |name: &Option<String>| match name {
            Some(name) => who(name).map(Target::Controller),
            None => Ok(Target::None),
        };
        let ability = |name: &str| rules.ability(name).ok_or_else(|| unknown(rules, "ability", name));
        let effect = |name: &str| rules.effect(name).ok_or_else(|| unknown(rules, "effect", name));
        let input = |name: &str| rules.input(name).ok_or_else(|| unknown(rules, "input", name));
        Ok(Deed::Op(match self {
            Act::Apply { effect: name, to, by, level } => {
                let mut spec = Spec::new(effect(name)?, who(to)?).level(level.unwrap_or(1).max(1));
                if let Some(by) = by {
                    spec = spec.from(who(by)?);
                }
                Op::Apply(spec)
            }
            Act::Remove { effect: name, from } => return Ok(Deed::RemoveAll(who(from)?, effect(name)?)),
            Act::Activate { ability: name, who: actor, target } => {
                Op::Activate { who: who(actor)?, which: Which::Ability(ability(name)?), target: aim(target)? }
            }
            Act::Cancel { ability: name, who: actor } => {
                Op::Cancel { who: who(actor)?, which: Which::Ability(ability(name)?) }
            }
            Act::Press { input: name, who: actor, target } => {
                Op::Press { who: who(actor)?, input: input(name)?, target: aim(target)? }
            }
            Act::Release { input: name, who: actor } => Op::Release { who: who(actor)?, input: input(name)? },
            Act::Event { tag, who: actor, value } => {
                let tag = rules.tag(tag).ok_or_else(|| unknown(rules, "tag", tag))?;
                Op::Event(EventData { magnitude: *value, ..EventData::new(tag, who(actor)?) })
            }
            Act::Move { who: actor, to } => {
                if !to.iter().all(|v| v.is_finite() && v.abs() <= 1e9) {
                    return Err("a place is three finite numbers".to_owned());
                }
                Op::Move { who: who(actor)?, anchor: Some(Anchor::at(*to)) }
            }
            Act::Set { who: actor, attribute, value } => {
                if !value.is_finite() {
                    return Err("a value is a finite number".to_owned());
                }
                let _: AttributeId =
                    rules.attribute(attribute).ok_or_else(|| unknown(rules, "attribute", attribute))?;
                return Ok(Deed::Write(who(actor)?, attribute.clone(), *value));
            }
        }))
    }
}

enum Deed {
    Op(Op),
    RemoveAll(ControllerId, ugas_core::EffectId),
    Write(ControllerId, String, f64),
}

/// Writes a base value the only way there is: by an instant effect, defined for this and forgotten afterwards.
fn write(sim: &mut ugas_core::Sim, who: ControllerId, attribute: &str, value: f64) -> Result<(), Refusal> {
    let id = sim.define(Effect::instant("GE_WrittenByHand").set(attribute, value)).map_err(|_| Refusal::Mismatch)?;
    let applied = match id {
        DefId::Effect(effect) => sim.apply(&Spec::new(effect, who)).map(|_| ()),
        DefId::Ability(_) => Err(Refusal::Mismatch),
    };
    sim.undefine(id)?;
    applied
}

fn unknown(rules: &Rules, kind: &str, name: &str) -> String {
    match rules.nearest_name(name) {
        Some(near) => format!("there is no {kind} {name}; did you mean {near}?"),
        None => format!("there is no {kind} {name}"),
    }
}
