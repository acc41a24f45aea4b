//! What can be done to a world by hand, in names: it stays the same deed when ids change.

use crate::Names;
use serde::{Deserialize, Serialize};
use ugas_core::{
    Anchor, AttributeId, ControllerId, DefId, EffectId, EventData, NameKind, Op, Outcome, Refusal, Rules, Sim, Spec,
    Target, Which,
};
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
    /// What it is to a world, or which of its names mean nothing there.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig};
    /// use ugas_studio::{Names, stage::Act};
    /// let sim = Sim::new(Rules::builder().build()?, SimConfig::default());
    /// let act = Act::Move { who: "Pyra".into(), to: [0.0; 3] };
    /// assert_eq!(act.deed(&Names::default(), &sim).unwrap_err(), "Pyra is not there");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deed(&self, names: &Names, sim: &Sim) -> Result<Deed, String> {
        let rules = sim.rules();
        let who = |name: &str| names.who(sim, name).ok_or_else(|| format!("{name} is not there"));
        let aim = |name: &Option<String>| match name {
            Some(name) => who(name).map(Target::Controller),
            None => Ok(Target::None),
        };
        let ability = |name: &str| rules.find_ability(name).ok_or_else(|| unknown(rules, NameKind::Ability, name));
        let effect = |name: &str| rules.find_effect(name).ok_or_else(|| unknown(rules, NameKind::Effect, name));
        let input = |name: &str| rules.find_input(name).ok_or_else(|| unknown(rules, NameKind::Input, name));
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
                let tag = rules.find_tag(tag).ok_or_else(|| unknown(rules, NameKind::Tag, tag))?;
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
                    rules.find_attribute(attribute).ok_or_else(|| unknown(rules, NameKind::Attribute, attribute))?;
                return Ok(Deed::Write(who(actor)?, attribute.clone(), *value));
            }
        }))
    }
}

/// What is to be done to a world, in its own terms.
#[derive(Clone, Debug)]
pub enum Deed {
    /// One op.
    Op(Op),
    /// Every effect of a definition is removed from somebody.
    RemoveAll(ControllerId, EffectId),
    /// A base value of somebody's is written, by an effect made for it.
    Write(ControllerId, String, f64),
}

impl Deed {
    /// Does it. Why not, if it is refused.
    pub fn run(self, sim: &mut Sim) -> Result<(), String> {
        self.carry(sim).map(|_| ())
    }

    /// The same, with what came of it.
    pub(super) fn carry(self, sim: &mut Sim) -> Result<Outcome, String> {
        let done = match self {
            Deed::Op(op) => sim.run(op),
            Deed::RemoveAll(who, effect) => match remove_all(sim, who, effect) {
                Ok(0) => return Err(format!("there is no {} to remove", sim.effect_name(effect).unwrap_or("?"))),
                other => other.map(Outcome::Matched),
            },
            Deed::Write(who, name, value) => write(sim, who, &name, value).map(|()| Outcome::Done),
        };
        done.map_err(|refusal| refusal.describe(sim.rules()))
    }
}

fn remove_all(sim: &mut Sim, who: ControllerId, effect: EffectId) -> Result<u32, Refusal> {
    let mut removed = 0;
    for view in sim.effects(who)?.into_iter().filter(|e| e.effect == effect) {
        sim.remove(view.key)?;
        removed += 1;
    }
    Ok(removed)
}

/// Writes a base value the only way there is: by an instant effect, defined for this and forgotten afterwards.
fn write(sim: &mut Sim, who: ControllerId, attribute: &str, value: f64) -> Result<(), Refusal> {
    let id = sim.define(Effect::instant("GE_WrittenByHand").set(attribute, value)).map_err(|_| Refusal::Mismatch)?;
    let applied = match id {
        DefId::Effect(effect) => sim.apply(&Spec::new(effect, who)).map(|_| ()),
        DefId::Ability(_) => Err(Refusal::Mismatch),
    };
    sim.undefine(id)?;
    applied
}

fn unknown(rules: &Rules, kind: NameKind, name: &str) -> String {
    if name.is_empty() {
        return format!("name {} {kind} first", if kind == NameKind::Tag { "a" } else { "an" });
    }
    match rules.nearest_name(kind, name) {
        Some(near) => format!("there is no {kind} {name}; did you mean {near}?"),
        None => format!("there is no {kind} {name}"),
    }
}
