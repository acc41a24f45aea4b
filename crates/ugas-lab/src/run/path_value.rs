//! Paths of `Expect`: resolves a path and reads its current value.

use super::Runner;
use super::ability::OfAbility;
use super::world::World;
use crate::scenario::{Found, Scenario, did_you_mean};
use ugas_core::{
    ActionSetId, ActionSetState, AttributeId, ControllerId, EffectFilter, EffectId, EffectState, EffectView, InputId,
    MotionId, NameKind, Refusal, Sim, SimTime, TagId,
};
use ugas_net::client::ProxyEffect;

/// The value that a path refers to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathValue {
    SimTime,
    AllCues { tag: String },
    Actor { actor: String, what: OfActor },
    Handle { handle: String, what: OfEffect },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OfActor {
    Attribute(AttributeId, AttributePart),
    Tag(String),
    TagExact(String),
    TagCount(String),
    TagCountAll(String),
    Effects(EffectId, OfEffects),
    Ability(String, OfAbility),
    GlobalCooldown(String),
    CastTick,
    CastRemaining,
    Tasks(String),
    Capability(String),
    Block(String),
    Cues(String),
    Position,
    Avatar,
    /// The live action sets, or whether one of them is live.
    ActionSets(Option<ActionSetId>),
    Action(InputId),
    /// The number of buffered presses of all inputs or of one.
    Buffer(Option<InputId>),
    Queue,
    Motion(MotionId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AttributePart {
    Current,
    Base,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OfEffects {
    Count,
    Queued,
    Stacks,
    Remaining,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OfEffect {
    State,
    Remaining,
    Stacks,
    Level,
}

/// An invalid path and a suggestion.
#[derive(Debug)]
pub(crate) struct PathError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

const KEYWORDS: &[&str] = &[
    "Attributes",
    "Tags",
    "TagsExact",
    "TagCount",
    "TagCountAll",
    "Effects",
    "Abilities",
    "Cues",
    "Tasks",
    "Capabilities",
    "Blocks",
    "Actions",
    "Motions",
    "ActionSets",
    "Buffer",
    "Queue",
    "Position",
    "Avatar",
    "GlobalCooldown",
    "Cast",
];
/// Keywords of later releases.
const LATER: &[&str] = &["Combo", "Attack", "Mode"];

/// Resolves a path.
pub(crate) fn resolve(world: &World, scenario: &Scenario, path: &str) -> Result<PathValue, PathError> {
    let lost = |message: String, help: Option<String>| Err(PathError { message, help });
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match (first, rest) {
        ("Sim", "Time") => return Ok(PathValue::SimTime),
        ("Sim", _) => return lost(format!("{path}: expected Sim.Time"), None),
        ("Cues", "") => return lost("Cues: expected a tag, as in Cues.GameplayCue.Burning".into(), None),
        ("Cues", tag) => return Ok(PathValue::AllCues { tag: tag.to_owned() }),
        ("Rejected", _) => return lost(format!("{path} is not supported in this release"), None),
        _ => {}
    }
    if scenario.handles.iter().any(|h| h.text == first) {
        let what = match rest {
            "State" => OfEffect::State,
            "Remaining" => OfEffect::Remaining,
            "Stacks" => OfEffect::Stacks,
            "Level" => OfEffect::Level,
            _ => {
                let known = ["State", "Remaining", "Stacks", "Level"];
                let message = format!("{path}: expected one of {} after the name of a result", known.join(", "));
                return lost(message, did_you_mean(rest, known));
            }
        };
        return Ok(PathValue::Handle { handle: first.to_owned(), what });
    }
    if !scenario.actors.iter().any(|a| a.name.text == first) {
        let known = scenario.actors.iter().map(|a| a.name.text.as_str());
        let known = known.chain(scenario.handles.iter().map(|h| h.text.as_str()));
        let help = did_you_mean(first, known.chain(["Sim", "Cues"]));
        return lost(format!("{path}: {first} is neither an actor nor the `As` name of a result"), help);
    }
    let what = of_actor(world, scenario, path, rest)?;
    Ok(PathValue::Actor { actor: first.to_owned(), what })
}

fn of_actor(world: &World, scenario: &Scenario, path: &str, rest: &str) -> Result<OfActor, PathError> {
    let (keyword, after) = rest.split_once('.').unwrap_or((rest, ""));
    if LATER.contains(&keyword) {
        return Err(PathError {
            message: format!("{path}: {keyword} is not supported in this release"),
            help: world
                .rules
                .find_attribute(keyword)
                .map(|_| format!("for the attribute with this name write Attributes.{rest}")),
        });
    }
    if after.is_empty() && KEYWORDS[..13].contains(&keyword) {
        return Err(PathError { message: format!("{path}: expected a name after {keyword}"), help: None });
    }
    let name = after.to_owned();
    Ok(match keyword {
        "Tags" => OfActor::Tag(name),
        "TagsExact" => OfActor::TagExact(name),
        "TagCount" => OfActor::TagCount(name),
        "TagCountAll" => OfActor::TagCountAll(name),
        "Cues" => OfActor::Cues(name),
        "Position" if after.is_empty() => OfActor::Position,
        "Avatar" if after.is_empty() => OfActor::Avatar,
        "Tasks" => OfActor::Tasks(name),
        "Blocks" => OfActor::Block(name),
        "ActionSets" | "Actions" | "Buffer" | "Queue" | "Motions" => return of_input(world, path, keyword, after),
        "Capabilities" if world.find(|rules| rules.find_capability(after)).is_some() => OfActor::Capability(name),
        "Capabilities" => {
            let near = world.rules.nearest_name(NameKind::Capability, after);
            let help = near.map(|n| format!("did you mean {n:?}?"));
            return Err(PathError { message: format!("{path}: unknown capability {after}"), help });
        }
        "GlobalCooldown" => OfActor::GlobalCooldown(name),
        "Cast" if after == "Tick" => OfActor::CastTick,
        "Cast" if after == "Remaining" => OfActor::CastRemaining,
        "Cast" => {
            let known = ["Tick", "Remaining"];
            let message = format!("{path}: expected Cast.Tick or Cast.Remaining");
            return Err(PathError { message, help: did_you_mean(after, known) });
        }
        "Abilities" => return of_ability(world, scenario, path, after),
        "Effects" => return of_effects(world, path, after),
        "Attributes" => return of_attribute(world, path, after),
        _ => return of_attribute(world, path, rest),
    })
}

/// Resolves a path about inputs.
fn of_input(world: &World, path: &str, keyword: &str, name: &str) -> Result<OfActor, PathError> {
    let rules = &world.rules;
    let unknown = |kind: NameKind| {
        let help = rules.nearest_name(kind, name).map(|n| format!("did you mean {n:?}?"));
        PathError { message: format!("{path}: unknown {kind} {name}"), help }
    };
    let input = || match world.input(name) {
        InputId::NONE => Err(unknown(NameKind::Input)),
        input => Ok(input),
    };
    match (keyword, name) {
        ("ActionSets", "") => Ok(OfActor::ActionSets(None)),
        ("ActionSets", _) => {
            let set = world.find(|rules| rules.find_action_set(name));
            set.map(|set| OfActor::ActionSets(Some(set))).ok_or_else(|| unknown(NameKind::ActionSet))
        }
        ("Buffer", "") => Ok(OfActor::Buffer(None)),
        ("Buffer", _) => Ok(OfActor::Buffer(Some(input()?))),
        ("Queue", "") => Ok(OfActor::Queue),
        ("Queue", _) => Err(PathError { message: format!("{path}: expected nothing after Queue"), help: None }),
        ("Motions", _) => {
            let motion = world.find(|rules| rules.find_motion(name));
            motion.map(OfActor::Motion).ok_or_else(|| unknown(NameKind::Motion))
        }
        _ => Ok(OfActor::Action(input()?)),
    }
}

fn of_ability(world: &World, scenario: &Scenario, path: &str, name: &str) -> Result<OfActor, PathError> {
    let (name, of) = match name.rsplit_once('.') {
        Some((name, "Charges")) => (name, OfAbility::Charges),
        Some((name, "Cooldown")) => (name, OfAbility::Cooldown),
        Some((name, "Castable")) => (name, OfAbility::Castable),
        _ => (name, OfAbility::State),
    };
    if world.find(|rules| rules.find_ability(name)).is_some() || scenario.handles.iter().any(|h| h.text == name) {
        return Ok(OfActor::Ability(name.to_owned(), of));
    }
    let known = world.rules.ability_list().map(|(_, name)| name);
    Err(PathError {
        message: format!("{path}: unknown ability {name}"),
        help: did_you_mean(name, known.chain(scenario.handles.iter().map(|h| h.text.as_str()))),
    })
}

fn of_effects(world: &World, path: &str, name: &str) -> Result<OfActor, PathError> {
    let (effect, what) = match name.rsplit_once('.') {
        Some((effect, "Queued")) => (effect, OfEffects::Queued),
        Some((effect, "Stacks")) => (effect, OfEffects::Stacks),
        Some((effect, "Remaining")) => (effect, OfEffects::Remaining),
        _ => (name, OfEffects::Count),
    };
    match world.find(|rules| rules.find_effect(effect)) {
        Some(id) => Ok(OfActor::Effects(id, what)),
        None => Err(PathError {
            message: format!("{path}: unknown effect {effect}"),
            help: did_you_mean(effect, world.rules.effect_list().map(|(_, n)| n)),
        }),
    }
}

fn of_attribute(world: &World, path: &str, name: &str) -> Result<OfActor, PathError> {
    if let Some(id) = world.rules.find_attribute(name) {
        return Ok(OfActor::Attribute(id, AttributePart::Current));
    }
    let (attribute, of) = match name.rsplit_once('.') {
        Some((attribute, "Base")) => (attribute, AttributePart::Base),
        Some((attribute, "Min")) => (attribute, AttributePart::Min),
        Some((attribute, "Max")) => (attribute, AttributePart::Max),
        _ => (name, AttributePart::Current),
    };
    if let Some(id) = world.rules.find_attribute(attribute) {
        return Ok(OfActor::Attribute(id, of));
    }
    // The first segment may be a misspelt keyword: `Hero.Efects.GE_Poison`.
    let keyword = name.split('.').next().unwrap_or(name);
    let near = world.rules.nearest_name(NameKind::Attribute, attribute).map(|n| format!("did you mean {n:?}?"));
    let help = near.or_else(|| did_you_mean(keyword, KEYWORDS.iter().copied()));
    let help = help.or_else(|| Some(format!("the keywords of an actor are {}", KEYWORDS.join(", "))));
    Err(PathError { message: format!("{path}: unknown attribute {attribute}"), help })
}

/// Reads the value of a path, or returns why the path has no value.
pub(crate) fn read(run: &Runner<'_>, path_value: &PathValue) -> Result<Found, String> {
    match path_value {
        PathValue::SimTime => Ok(Found::Number(run.sim.now().as_seconds())),
        PathValue::AllCues { tag } => {
            let Some(tag) = run.world.rules.find_tag(tag) else {
                return Ok(Found::Number(0.0));
            };
            let mine = run.sim.controllers().filter(|who| !run.seen.contains_key(who));
            let playing = mine.filter(|&who| plays(&run.sim, who, tag) == Ok(true)).count() as u64;
            let playing = playing + run.seen.values().filter(|seen| seen.loops.contains(&tag)).count() as u64;
            Ok(Found::Number(playing as f64))
        }
        PathValue::Actor { actor, what } => {
            of_actor_now(run, actor, what).map_err(|r| format!("nothing: {}", run.describe(r)))
        }
        PathValue::Handle { handle, what } => of_handle_now(run, handle, *what),
    }
}

/// Returns whether a looping cue plays on a controller. The cue is one loop, even if several effects play it.
fn plays(sim: &Sim, who: ControllerId, tag: TagId) -> Result<bool, Refusal> {
    Ok(sim.cue_count(who, tag)? > 0)
}

fn of_actor_now(run: &Runner<'_>, actor: &str, what: &OfActor) -> Result<Found, Refusal> {
    let (sim, rules) = (&run.sim, &run.world.rules);
    let who = run.who(actor);
    // A tag that nothing names has no id and counts as absent.
    let count = |n: u64| Found::Number(n as f64);
    Ok(match what {
        OfActor::Attribute(id, AttributePart::Current) => Found::Number(sim.get(who, *id)?),
        OfActor::Attribute(id, AttributePart::Base) => Found::Number(sim.base(who, *id)?),
        OfActor::Attribute(id, AttributePart::Min) => Found::Number(sim.bounds(who, *id)?.0),
        OfActor::Attribute(id, AttributePart::Max) => Found::Number(sim.bounds(who, *id)?.1),
        OfActor::Tag(tag) => Found::Flag(rules.find_tag(tag).map_or(Ok(false), |t| sim.has_tag(who, t))?),
        OfActor::TagExact(tag) => Found::Flag(rules.find_tag(tag).map_or(Ok(false), |t| sim.has_tag_exact(who, t))?),
        OfActor::TagCount(tag) => count(rules.find_tag(tag).map_or(Ok(0), |t| sim.tag_count(who, t))?),
        OfActor::TagCountAll(tag) => count(rules.find_tag(tag).map_or(Ok(0), |t| sim.tag_count_all(who, t))?),
        OfActor::Effects(id, of) => of_effects_now(run, actor, *id, *of)?,
        OfActor::Ability(name, of) => run.ability_now(actor, name, *of)?,
        OfActor::GlobalCooldown(group) => run.global_cooldown_now(actor, group)?,
        OfActor::CastTick => run.cast_now(actor, true)?,
        OfActor::CastRemaining => run.cast_now(actor, false)?,
        OfActor::Tasks(task) => count(run.waiting(who, task)?.len() as u64),
        OfActor::Capability(class) => run.capability_now(actor, class)?,
        OfActor::Block(tag) => run.block_now(actor, tag)?,
        OfActor::ActionSets(of) => {
            let live = sim.action_sets(who)?.into_iter().filter(|(_, state)| *state == ActionSetState::Live);
            let live: Vec<ActionSetId> = live.map(|(id, _)| id).collect();
            match of {
                Some(set) => Found::Flag(live.contains(set)),
                None => {
                    let names: Vec<&str> = live.iter().filter_map(|&id| rules.action_set_name(id)).collect();
                    Found::Text(names.join(", "))
                }
            }
        }
        OfActor::Action(input) => {
            let action = sim.action(who, *input)?;
            match (action.held.is_some(), action.is_muted) {
                (false, _) => Found::text("Up"),
                (true, true) => Found::text("Muted"),
                (true, false) if action.value.is_zero() => Found::text("Down"),
                (true, false) => Found::Vector(action.value.numbers()),
            }
        }
        OfActor::Buffer(of) => {
            let presses = sim.buffered_inputs(who)?;
            count(presses.iter().filter(|(input, _)| of.is_none_or(|only| only == *input)).count() as u64)
        }
        OfActor::Queue => match sim.queued_input(who)? {
            Some(input) => Found::Text(run.world.input_name(input).unwrap_or("").to_owned()),
            None => Found::Nothing,
        },
        OfActor::Motion(motion) => Found::Flag(sim.motions(who)?.contains(motion)),
        OfActor::Cues(tag) => match rules.find_tag(tag) {
            Some(tag) if run.seen.contains_key(&who) => count(u64::from(run.seen[&who].loops.contains(&tag))),
            Some(tag) => count(u64::from(plays(sim, who, tag)?)),
            None => count(0),
        },
        OfActor::Position => sim.anchor(who)?.map_or(Found::Nothing, |a| Found::Vector(a.position)),
        OfActor::Avatar => sim.avatar(who)?.map_or(Found::Nothing, |a| Found::Text(run.world.actor_name(a))),
    })
}

fn of_effects_now(run: &Runner<'_>, actor: &str, id: EffectId, of: OfEffects) -> Result<Found, Refusal> {
    if let Some(seen) = run.seen.get(&run.who(actor)) {
        return Ok(effects_seen(&seen.effects, id, of, run.sim.now()));
    }
    let all = run.sim.effects(run.who(actor))?;
    let (queued, here): (Vec<&EffectView>, Vec<&EffectView>) =
        all.iter().filter(|e| e.effect == id).partition(|e| e.state == EffectState::Queued);
    Ok(match of {
        OfEffects::Count => Found::Number(here.len() as f64),
        OfEffects::Queued => Found::Number(queued.len() as f64),
        // Summed as whole numbers: the sum of no floats is -0.
        OfEffects::Stacks => Found::Number(here.iter().map(|e| u64::from(e.stacks)).sum::<u64>() as f64),
        OfEffects::Remaining => match here.iter().map(|e| e.remaining.unwrap_or(SimTime::NEVER)).max() {
            None => Found::Number(0.0),
            Some(SimTime::NEVER) => Found::Nothing,
            Some(longest) => Found::Number(longest.as_seconds()),
        },
    })
}

/// Reads the replicated effects of a remote actor.
fn effects_seen(all: &[ProxyEffect], id: EffectId, of: OfEffects, now: SimTime) -> Found {
    let (queued, here): (Vec<&ProxyEffect>, Vec<&ProxyEffect>) =
        all.iter().filter(|e| e.effect == id).partition(|e| e.state == EffectState::Queued);
    match of {
        OfEffects::Count => Found::Number(here.len() as f64),
        OfEffects::Queued => Found::Number(queued.len() as f64),
        OfEffects::Stacks => Found::Number(here.iter().map(|e| u64::from(e.stacks)).sum::<u64>() as f64),
        OfEffects::Remaining => match here.iter().map(|e| e.end).max() {
            None => Found::Number(0.0),
            Some(SimTime::NEVER) => Found::Nothing,
            Some(last) => Found::Number((last - now).max(SimTime::ZERO).as_seconds()),
        },
    }
}

fn of_handle_now(run: &Runner<'_>, handle: &str, what: OfEffect) -> Result<Found, String> {
    if let (Some(handle), OfEffect::State) = (run.handles.get(handle), what) {
        return Ok(run.handle_state(*handle));
    }
    let Some(applied) = run.applied.get(handle) else {
        return Err("nothing: no verb with this `As` name has run yet".to_owned());
    };
    let view = run.sim.effect(applied.key).ok();
    Ok(match (what, view) {
        (OfEffect::State, Some(view)) => Found::text(match view.state {
            EffectState::Active => "Active",
            EffectState::Inhibited => "Inhibited",
            EffectState::Queued => "Queued",
        }),
        (OfEffect::State, None) if applied.instant => Found::text("Executed"),
        (OfEffect::State, None) => Found::text("Removed"),
        (OfEffect::Remaining, Some(view)) => view.remaining.map_or(Found::Nothing, |t| Found::Number(t.as_seconds())),
        (OfEffect::Stacks, Some(view)) => Found::Number(f64::from(view.stacks)),
        (OfEffect::Level, Some(view)) => Found::Number(f64::from(view.level)),
        (OfEffect::Remaining | OfEffect::Stacks | OfEffect::Level, None) => Found::Number(0.0),
    })
}

/// Returns the filter for all effects of one definition.
pub(crate) fn filter_of(effect: EffectId) -> EffectFilter {
    EffectFilter { effect: Some(effect), ..EffectFilter::default() }
}
