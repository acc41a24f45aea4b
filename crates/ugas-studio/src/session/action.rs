//! Actions on a world. An action contains names instead of ids, so that it stays valid when documents are reloaded.

use crate::Names;
use serde::{Deserialize, Serialize};
use ugas_core::{
    AbilitySetId, Anchor, AttributeId, BlockSource, ControllerId, DefId, EffectId, EventData, NameKind, Op, Outcome,
    Refusal, Rules, Sim, Spec, Target, Which,
};
use ugas_doc::Effect;

/// The name under which the studio blocks tags.
pub(crate) const STUDIO: &str = "Studio";

/// An action on an actor. Actors are identified by their names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Applies an effect.
    Apply {
        /// The name of the effect.
        effect: String,
        /// The target actor.
        to: String,
        /// The source actor, if any.
        #[serde(default)]
        by: Option<String>,
        /// The level; 1 if missing.
        #[serde(default)]
        level: Option<u32>,
    },
    /// Removes all applications of an effect.
    Remove {
        /// The name of the effect.
        effect: String,
        /// The actor that has the effect.
        from: String,
    },
    /// Activates an ability.
    Activate {
        /// The name of the ability.
        ability: String,
        /// The actor that has the ability.
        who: String,
        /// The target, if any.
        #[serde(default)]
        target: Option<String>,
    },
    /// Cancels an active ability.
    Cancel {
        /// The name of the ability.
        ability: String,
        /// The actor that has the ability.
        who: String,
    },
    /// Presses an input.
    Press {
        /// The name of the input.
        input: String,
        /// The actor that has the input.
        who: String,
        /// The target, if any.
        #[serde(default)]
        target: Option<String>,
    },
    /// Releases an input.
    Release {
        /// The name of the input.
        input: String,
        /// The actor that has the input.
        who: String,
    },
    /// Sends an event.
    Event {
        /// The tag of the event.
        tag: String,
        /// The target actor.
        who: String,
        /// The magnitude of the event.
        #[serde(default)]
        value: f64,
    },
    /// Moves an actor.
    Move {
        /// The actor.
        who: String,
        /// The new position.
        to: [f64; 3],
    },
    /// Writes the base value of an attribute, with an instant effect that is defined for this purpose.
    Set {
        /// The actor.
        who: String,
        /// The attribute.
        attribute: String,
        /// The new base value.
        value: f64,
    },
    /// Adds a capability set or an ability set.
    AddSet {
        /// The name of the set.
        set: String,
        /// The actor.
        who: String,
    },
    /// Removes a capability set or an ability set.
    RemoveSet {
        /// The name of the set.
        set: String,
        /// The actor that has the set.
        who: String,
    },
    /// Blocks a tag: capabilities with the tag or a descendant of it are deactivated and not evaluated. The source of
    /// the block is the host under the name `Studio`.
    Block {
        /// The tag.
        tag: String,
        /// The actor.
        who: String,
    },
    /// Removes the block of a tag by the studio.
    Unblock {
        /// The tag.
        tag: String,
        /// The actor.
        who: String,
    },
    /// Enables or disables the capabilities of a class.
    Enable {
        /// The class.
        class: String,
        /// The actor.
        who: String,
        /// Whether the capabilities are enabled.
        on: bool,
    },
}

impl Action {
    /// Resolves the names against a sim. The error names the actor or definition that does not exist.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig};
    /// use ugas_studio::{Names, session::Action};
    /// let sim = Sim::new(Rules::builder().build()?, SimConfig::default());
    /// let act = Action::Move { who: "Pyra".into(), to: [0.0; 3] };
    /// assert_eq!(act.resolve(&Names::default(), &sim).unwrap_err(), "actor Pyra does not exist");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(&self, names: &Names, sim: &Sim) -> Result<ResolvedAction, String> {
        let rules = sim.rules();
        let who = |name: &str| names.who(sim, name).ok_or_else(|| format!("actor {name} does not exist"));
        let aim = |name: &Option<String>| match name {
            Some(name) => who(name).map(Target::Controller),
            None => Ok(Target::None),
        };
        let ability = |name: &str| rules.find_ability(name).ok_or_else(|| unknown(rules, NameKind::Ability, name));
        let effect = |name: &str| rules.find_effect(name).ok_or_else(|| unknown(rules, NameKind::Effect, name));
        let input = |name: &str| rules.find_input(name).ok_or_else(|| unknown(rules, NameKind::Input, name));
        let find_tag = |name: &str| rules.find_tag(name).ok_or_else(|| unknown(rules, NameKind::Tag, name));
        let set = |name: &str| find_set(rules, name);
        Ok(ResolvedAction::Op(match self {
            Action::Apply { effect: name, to, by, level } => {
                let mut spec = Spec::new(effect(name)?, who(to)?).level(level.unwrap_or(1).max(1));
                if let Some(by) = by {
                    spec = spec.from(who(by)?);
                }
                Op::Apply(spec)
            }
            Action::Remove { effect: name, from } => return Ok(ResolvedAction::RemoveAll(who(from)?, effect(name)?)),
            Action::Activate { ability: name, who: actor, target } => {
                Op::Activate { who: who(actor)?, which: Which::Ability(ability(name)?), target: aim(target)? }
            }
            Action::Cancel { ability: name, who: actor } => {
                Op::Cancel { who: who(actor)?, which: Which::Ability(ability(name)?) }
            }
            Action::Press { input: name, who: actor, target } => {
                Op::Press { who: who(actor)?, input: input(name)?, target: aim(target)? }
            }
            Action::Release { input: name, who: actor } => Op::Release { who: who(actor)?, input: input(name)? },
            Action::Event { tag, who: actor, value } => {
                Op::Event(EventData { magnitude: *value, ..EventData::new(find_tag(tag)?, who(actor)?) })
            }
            Action::Move { who: actor, to } => {
                if !to.iter().all(|v| v.is_finite() && v.abs() <= 1e9) {
                    return Err(format!("expected a position of three numbers up to 1e9, found {to:?}"));
                }
                Op::Move { who: who(actor)?, anchor: Some(Anchor::at(*to)) }
            }
            Action::Set { who: actor, attribute, value } => {
                if !value.is_finite() {
                    return Err(format!("expected a finite number, found {value}"));
                }
                let _: AttributeId =
                    rules.find_attribute(attribute).ok_or_else(|| unknown(rules, NameKind::Attribute, attribute))?;
                return Ok(ResolvedAction::Write(who(actor)?, attribute.clone(), *value));
            }
            Action::AddSet { set: name, who: actor } => Op::GrantSet { who: who(actor)?, set: set(name)? },
            Action::RemoveSet { set: name, who: actor } => {
                let (who, set) = (who(actor)?, set(name)?);
                let handle = last_handle(sim, who, set).ok_or_else(|| format!("{actor} does not have {name}"))?;
                Op::RevokeSet { who, handle }
            }
            Action::Block { tag, who: actor } => {
                Op::Block { who: who(actor)?, tag: find_tag(tag)?, source: BlockSource::host(STUDIO) }
            }
            Action::Unblock { tag, who: actor } => {
                Op::Unblock { who: who(actor)?, tag: find_tag(tag)?, source: BlockSource::host(STUDIO) }
            }
            Action::Enable { class, who: actor, on } => {
                let find = rules.find_capability(class);
                let capability = find.ok_or_else(|| unknown(rules, NameKind::Capability, class))?;
                Op::Enable { who: who(actor)?, capability, on: *on }
            }
        }))
    }
}

/// An action with names resolved to ids.
#[derive(Clone, Debug)]
pub enum ResolvedAction {
    /// One op.
    Op(Op),
    /// Removes all applications of an effect from a controller.
    RemoveAll(ControllerId, EffectId),
    /// Writes a base value of a controller, with an instant effect that is defined for this purpose.
    Write(ControllerId, String, f64),
}

impl ResolvedAction {
    /// Runs the action. The error says why the action was refused.
    pub fn run(self, sim: &mut Sim) -> Result<(), String> {
        self.execute(sim).map(|_| ())
    }

    /// Runs the action and returns the outcome.
    pub(super) fn execute(self, sim: &mut Sim) -> Result<Outcome, String> {
        let done = match self {
            ResolvedAction::Op(op) => sim.run(op),
            ResolvedAction::RemoveAll(who, effect) => match remove_all(sim, who, effect) {
                Ok(0) => return Err(format!("no active {} to remove", sim.effect_name(effect).unwrap_or("?"))),
                other => other.map(Outcome::Matched),
            },
            ResolvedAction::Write(who, name, value) => write(sim, who, &name, value).map(|()| Outcome::Done),
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

/// Writes a base value with an instant effect that is defined for this write and removed afterwards.
fn write(sim: &mut Sim, who: ControllerId, attribute: &str, value: f64) -> Result<(), Refusal> {
    let id = sim.define(Effect::instant("GE_WrittenByHand").set(attribute, value)).map_err(|_| Refusal::Mismatch)?;
    let applied = match id {
        DefId::Effect(effect) => sim.apply(&Spec::new(effect, who)).map(|_| ()),
        DefId::Ability(_) => Err(Refusal::Mismatch),
    };
    sim.undefine(id)?;
    applied
}

fn find_set(rules: &Rules, name: &str) -> Result<AbilitySetId, String> {
    match rules.find_ability_set(name) {
        Some(set) => Ok(set),
        None if name.is_empty() => Err("enter a capability set first".to_owned()),
        None => Err(unknown(rules, NameKind::AbilitySet, name)),
    }
}

/// Returns the handle of a set that was added last.
fn last_handle(sim: &Sim, who: ControllerId, set: AbilitySetId) -> Option<u64> {
    let held = sim.ability_sets(who).unwrap_or_default();
    held.iter().rev().find(|held| held.0 == set).map(|held| held.1)
}

fn unknown(rules: &Rules, kind: NameKind, name: &str) -> String {
    if name.is_empty() {
        let a = if matches!(kind, NameKind::Tag | NameKind::Capability) { "a" } else { "an" };
        return format!("enter {a} {kind} first");
    }
    match rules.nearest_name(kind, name) {
        Some(near) => format!("unknown {kind} '{name}'; did you mean '{near}'?"),
        None => format!("unknown {kind} '{name}'"),
    }
}
