//! Paths of `Expect`: which value a path means, and what it is now.

use super::Runner;
use super::ability::OfAbility;
use super::world::World;
use crate::scenario::{Found, Scenario, did_you_mean};
use ugas_core::{
    AttributeId, ControllerId, EffectFilter, EffectId, EffectState, EffectView, NameKind, Refusal, Sim, SimTime, TagId,
};
use ugas_net::client::ProxyEffect;

/// What a path means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Look {
    SimTime,
    AllCues { tag: String },
    Actor { actor: String, what: OfActor },
    Handle { handle: String, what: OfEffect },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OfActor {
    Attribute(AttributeId, Of),
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
    Cues(String),
    Position,
    Avatar,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Of {
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

/// A path that means nothing: why, and what may have been meant.
#[derive(Debug)]
pub(crate) struct Lost {
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
    "Position",
    "Avatar",
    "GlobalCooldown",
    "Cast",
];
/// Keywords that come with later releases.
const LATER: &[&str] = &["ActionSets", "Queue", "Buffer", "Combo", "Attack", "Mode", "Capabilities"];

/// What a path means in this scenario.
pub(crate) fn resolve(world: &World, scenario: &Scenario, path: &str) -> Result<Look, Lost> {
    let lost = |message: String, help: Option<String>| Err(Lost { message, help });
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match (first, rest) {
        ("Sim", "Time") => return Ok(Look::SimTime),
        ("Sim", _) => return lost(format!("{path}: of Sim there is only Sim.Time"), None),
        ("Cues", "") => return lost("Cues: a tag must follow, as in Cues.GameplayCue.Burning".into(), None),
        ("Cues", tag) => return Ok(Look::AllCues { tag: tag.to_owned() }),
        ("Rejected", _) => return lost(format!("{path} comes with a later release"), None),
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
                let message = format!("{path}: of an effect there are {}", known.join(", "));
                return lost(message, did_you_mean(rest, known));
            }
        };
        return Ok(Look::Handle { handle: first.to_owned(), what });
    }
    if !scenario.actors.iter().any(|a| a.name.text == first) {
        let known = scenario.actors.iter().map(|a| a.name.text.as_str());
        let known = known.chain(scenario.handles.iter().map(|h| h.text.as_str()));
        let help = did_you_mean(first, known.chain(["Sim", "Cues"]));
        return lost(format!("{path}: {first} is neither an actor nor a named result"), help);
    }
    let what = of_actor(world, scenario, path, rest)?;
    Ok(Look::Actor { actor: first.to_owned(), what })
}

fn of_actor(world: &World, scenario: &Scenario, path: &str, rest: &str) -> Result<OfActor, Lost> {
    let (keyword, after) = rest.split_once('.').unwrap_or((rest, ""));
    if LATER.contains(&keyword) {
        return Err(Lost {
            message: format!("{path}: {keyword} comes with a later release"),
            help: world
                .rules
                .find_attribute(keyword)
                .map(|_| format!("for the attribute of this name write Attributes.{rest}")),
        });
    }
    if after.is_empty() && KEYWORDS[..9].contains(&keyword) {
        return Err(Lost { message: format!("{path}: a name must follow {keyword}"), help: None });
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
        "GlobalCooldown" => OfActor::GlobalCooldown(name),
        "Cast" if after == "Tick" => OfActor::CastTick,
        "Cast" if after == "Remaining" => OfActor::CastRemaining,
        "Cast" => return Err(Lost { message: format!("{path}: of a cast there are Tick, Remaining"), help: None }),
        "Abilities" => return of_ability(world, scenario, path, after),
        "Effects" => return of_effects(world, path, after),
        "Attributes" => return of_attribute(world, path, after),
        _ => return of_attribute(world, path, rest),
    })
}

fn of_ability(world: &World, scenario: &Scenario, path: &str, name: &str) -> Result<OfActor, Lost> {
    let (name, of) = match name.rsplit_once('.') {
        Some((name, "Charges")) => (name, OfAbility::Charges),
        Some((name, "Cooldown")) => (name, OfAbility::Cooldown),
        Some((name, "Castable")) => (name, OfAbility::Castable),
        _ => (name, OfAbility::State),
    };
    if world.find(|rules| rules.find_ability(name)).is_some() || scenario.handles.iter().any(|h| h.text == name) {
        return Ok(OfActor::Ability(name.to_owned(), of));
    }
    Err(Lost {
        message: format!("{path}: there is no ability {name}"),
        help: did_you_mean(name, scenario.handles.iter().map(|h| h.text.as_str())),
    })
}

fn of_effects(world: &World, path: &str, name: &str) -> Result<OfActor, Lost> {
    let (effect, what) = match name.rsplit_once('.') {
        Some((effect, "Queued")) => (effect, OfEffects::Queued),
        Some((effect, "Stacks")) => (effect, OfEffects::Stacks),
        Some((effect, "Remaining")) => (effect, OfEffects::Remaining),
        _ => (name, OfEffects::Count),
    };
    match world.find(|rules| rules.find_effect(effect)) {
        Some(id) => Ok(OfActor::Effects(id, what)),
        None => Err(Lost {
            message: format!("{path}: there is no effect {effect}"),
            help: did_you_mean(effect, world.rules.effect_list().map(|(_, n)| n)),
        }),
    }
}

fn of_attribute(world: &World, path: &str, name: &str) -> Result<OfActor, Lost> {
    if let Some(id) = world.rules.find_attribute(name) {
        return Ok(OfActor::Attribute(id, Of::Current));
    }
    let (attribute, of) = match name.rsplit_once('.') {
        Some((attribute, "Base")) => (attribute, Of::Base),
        Some((attribute, "Min")) => (attribute, Of::Min),
        Some((attribute, "Max")) => (attribute, Of::Max),
        _ => (name, Of::Current),
    };
    if let Some(id) = world.rules.find_attribute(attribute) {
        return Ok(OfActor::Attribute(id, of));
    }
    let near = did_you_mean(attribute, KEYWORDS.iter().copied());
    let near = near
        .or_else(|| world.rules.nearest_name(NameKind::Attribute, attribute).map(|n| format!("did you mean {n:?}?")));
    Err(Lost { message: format!("{path}: there is no attribute {attribute}"), help: near })
}

/// What a path shows now, or why it shows nothing.
pub(crate) fn read(run: &Runner<'_>, look: &Look) -> Result<Found, String> {
    match look {
        Look::SimTime => Ok(Found::Number(run.sim.now().as_seconds())),
        Look::AllCues { tag } => {
            let Some(tag) = run.world.rules.find_tag(tag) else {
                return Ok(Found::Number(0.0));
            };
            let mine = run.sim.controllers().filter(|who| !run.seen.contains_key(who));
            let playing = mine.filter(|&who| plays(&run.sim, who, tag) == Ok(true)).count() as u64;
            let playing = playing + run.seen.values().filter(|seen| seen.loops.contains(&tag)).count() as u64;
            Ok(Found::Number(playing as f64))
        }
        Look::Actor { actor, what } => {
            of_actor_now(run, actor, what).map_err(|r| format!("nothing: {}", run.describe(r)))
        }
        Look::Handle { handle, what } => of_handle_now(run, handle, *what),
    }
}

/// Whether a looping cue plays on a controller. However many effects hold it, it is one loop.
fn plays(sim: &Sim, who: ControllerId, tag: TagId) -> Result<bool, Refusal> {
    Ok(sim.cue_count(who, tag)? > 0)
}

fn of_actor_now(run: &Runner<'_>, actor: &str, what: &OfActor) -> Result<Found, Refusal> {
    let (sim, rules) = (&run.sim, &run.world.rules);
    let who = run.who(actor);
    // A tag nobody ever named has no id; it is as absent as a tag can be.
    let count = |n: u64| Found::Number(n as f64);
    Ok(match what {
        OfActor::Attribute(id, Of::Current) => Found::Number(sim.get(who, *id)?),
        OfActor::Attribute(id, Of::Base) => Found::Number(sim.base(who, *id)?),
        OfActor::Attribute(id, Of::Min) => Found::Number(sim.bounds(who, *id)?.0),
        OfActor::Attribute(id, Of::Max) => Found::Number(sim.bounds(who, *id)?.1),
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

/// What a client was told of effects on somebody who is not its own.
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
        return Err("nothing: no verb has given this name a result yet".to_owned());
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

/// All effects of one definition on an actor, oldest first.
pub(crate) fn filter_of(effect: EffectId) -> EffectFilter {
    EffectFilter { effect: Some(effect), ..EffectFilter::default() }
}
