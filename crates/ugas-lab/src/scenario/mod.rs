//! Scenarios as typed values: actors, the timeline and expectations. The parser keeps the line and column of every verb
//! and expectation, so that a failure can report them. Names are resolved later, because resolving them needs rules.

mod ability;
mod capability;
mod category;
mod document;
mod fields;
pub(crate) mod kinds;
mod matcher;
mod network;
mod verbs;

pub use fields::{Place, longest_time, parse_time};
pub use network::{NetClient, Network};

pub(crate) use ability::{AbilitySelector, AbilityVerb, Aim, Completion, Pick, Stop, inputs_in};
pub(crate) use capability::{BlockedBy, CapabilityVerb, block_names};
pub(crate) use fields::{Name, did_you_mean};
pub(crate) use kinds::Stream;
pub(crate) use matcher::{Found, Matcher, is_word};
pub(crate) use network::{LinkChange, Wire, WireVerb, needs_machines};

use std::path::PathBuf;
use std::sync::Arc;
use ugas_core::SimTime;
use ugas_data::Loaded;

/// A parsed scenario.
///
/// ```
/// let text = "Scenario: Nothing happens\nTimeline:\n  - At: 1\n    Do:\n      - Expect: {Sim.Time: 1}\n";
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
/// assert_eq!((scenario.name.as_str(), scenario.place.line), ("Nothing happens", 1));
/// assert!(scenario.run().passed());
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The path of the file, as passed by the caller.
    pub file: Arc<str>,
    /// The name of the scenario.
    pub name: String,
    /// The place of its `Scenario:` key.
    pub place: Place,
    /// The ids of the requirements that the scenario covers.
    pub covers: Vec<String>,
    /// The seed of its sim.
    pub seed: u64,
    /// The length of a frame, which is the unit of times such as `12f`.
    pub frame: SimTime,
    /// The time step; one frame by default.
    pub step: SimTime,
    /// Whether the machine of the sim has a screen. With [`Scenario::network`] this is the server.
    pub screen: bool,
    /// The server and the clients, if the scenario runs on several machines.
    pub network: Option<Network>,
    /// The text of its file, to find the exact place of errors.
    pub(crate) text: Option<Arc<str>>,
    pub(crate) packs: Vec<(PathBuf, Place)>,
    pub(crate) entities: Vec<Loaded>,
    pub(crate) actors: Vec<ActorDef>,
    /// Calculations for which placeholders are registered.
    pub(crate) calculations: Vec<Name>,
    /// Classes of capabilities that are announced without code.
    pub(crate) capabilities: Vec<Name>,
    /// Hooks that are registered as placeholders.
    pub(crate) hooks: Vec<Name>,
    pub(crate) timeline: Vec<TimelineEntry>,
    /// The `As` names of all verbs.
    pub(crate) handles: Vec<Name>,
}

/// An actor as the file declares it.
#[derive(Clone, Debug)]
pub(crate) struct ActorDef {
    pub(crate) name: Name,
    pub(crate) controller: Option<Name>,
    pub(crate) stats: Vec<Name>,
    pub(crate) resources: Vec<ResourceDef>,
    pub(crate) sets: Vec<Name>,
    pub(crate) base: Vec<(Name, f64)>,
    pub(crate) tags: Vec<Name>,
    pub(crate) effects: Vec<Name>,
    pub(crate) abilities: Vec<AbilityDef>,
    pub(crate) capabilities: Vec<Name>,
    pub(crate) position: Option<[f64; 3]>,
    pub(crate) facing: Option<[f64; 3]>,
    pub(crate) spawned: bool,
}

/// A resource that an actor has from the start, with the values that differ from its document.
#[derive(Clone, Debug)]
pub(crate) struct ResourceDef {
    pub(crate) resource: Name,
    pub(crate) initial: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) min: Option<f64>,
}

/// An ability that an actor has from the start.
#[derive(Clone, Debug)]
pub(crate) struct AbilityDef {
    pub(crate) ability: Name,
    pub(crate) level: u32,
    pub(crate) input: Option<Name>,
    pub(crate) handle: Option<Name>,
}

/// The steps at one time.
#[derive(Clone, Debug)]
pub(crate) struct TimelineEntry {
    pub(crate) at: SimTime,
    pub(crate) place: Place,
    pub(crate) steps: Vec<Step>,
}

/// One verb with its expected outcome.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) place: Place,
    pub(crate) verb: Verb,
    /// The kind of refusal that it must get.
    pub(crate) refused: Option<&'static str>,
    pub(crate) may_refuse: bool,
    /// The client that runs it; `None` is the server.
    pub(crate) on: Option<Name>,
}

#[derive(Clone, Debug)]
pub(crate) enum Verb {
    Apply(Box<ApplyVerb>),
    Remove(RemoveVerb),
    ChangeEffect { handle: Name, changes: Vec<ChangeTo> },
    Move { actor: Name, to: Option<[f64; 3]>, facing: Option<[f64; 3]> },
    Possess { actor: Name, avatar: Option<String> },
    Spawn { actor: Name },
    Despawn { actor: Name },
    AddSet { actor: Name, set: Name },
    RemoveSet { actor: Name, set: Name, force: bool },
    SetActive { actor: Name, active: bool },
    SetRate { actor: Name, rate: f64 },
    SetLocal { actor: Name, is_local: bool },
    ModifyResource(Box<ModifyVerb>),
    Ability(AbilityVerb),
    Capability(CapabilityVerb),
    Wire(WireVerb),
    Reload(Box<ReloadVerb>),
    Repeat { times: u32, steps: Vec<Step> },
    Expect(Vec<Expectation>),
    ExpectStream { stream: Stream, entries: Vec<Partial> },
    ExpectCount(Vec<CountOf>),
    MarkHash { mark: Name, actor: Option<Name> },
    ExpectHash { mark: Name, actor: Option<Name> },
}

/// Documents that replace loaded documents while the sim runs.
#[derive(Clone, Debug)]
pub(crate) struct ReloadVerb {
    pub(crate) entities: Vec<Loaded>,
    /// Names of documents that are removed.
    pub(crate) remove: Vec<Name>,
}

#[derive(Clone, Debug)]
pub(crate) struct ApplyVerb {
    pub(crate) effect: Name,
    pub(crate) to: Name,
    pub(crate) from: Option<Name>,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) set_by_caller: Vec<(Name, f64)>,
    pub(crate) duration: Option<SimTime>,
    pub(crate) period: Option<SimTime>,
    pub(crate) origin: Option<[f64; 3]>,
    pub(crate) hit: Option<HitDef>,
    pub(crate) ability: Option<Name>,
    pub(crate) handle: Option<Name>,
}

/// A gain or loss of a resource.
#[derive(Clone, Debug)]
pub(crate) struct ModifyVerb {
    pub(crate) actor: Name,
    pub(crate) resource: Name,
    pub(crate) by: f64,
    pub(crate) from: Option<Name>,
    pub(crate) tags: Vec<Name>,
    /// Whether combat rules are skipped.
    pub(crate) plain: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HitDef {
    pub(crate) position: Option<[f64; 3]>,
    pub(crate) distance: Option<f64>,
    pub(crate) tags: Vec<Name>,
}

#[derive(Clone, Debug)]
pub(crate) struct RemoveVerb {
    pub(crate) what: RemoveWhat,
    /// The number of stacks; −1 for all.
    pub(crate) stacks: i32,
}

#[derive(Clone, Debug)]
pub(crate) enum RemoveWhat {
    Handle(Name),
    Effect { actor: Name, effect: Name },
    Tags { actor: Name, tags: Vec<Name> },
}

#[derive(Clone, Debug)]
pub(crate) enum ChangeTo {
    Level(u32),
    Remaining(SimTime),
    Period(SimTime),
    Stacks(u32),
    SetByCaller(Name, f64),
}

#[derive(Clone, Debug)]
pub(crate) struct Expectation {
    pub(crate) path: Name,
    pub(crate) matcher: Matcher,
}

/// Expected fields of an entry of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Partial {
    pub(crate) place: Place,
    pub(crate) kind: &'static str,
    pub(crate) fields: Vec<(Name, Matcher)>,
}

#[derive(Clone, Debug)]
pub(crate) struct CountOf {
    pub(crate) entry: Partial,
    pub(crate) count: Matcher,
}

impl std::fmt::Display for Partial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{Kind: {}", self.kind)?;
        for (name, matcher) in &self.fields {
            write!(f, ", {}: {matcher}", name.text)?;
        }
        f.write_str("}")
    }
}

/// Calls `visit` for every step, including steps inside `Repeat`.
pub(crate) fn for_each_step<'a>(steps: &'a [Step], visit: &mut dyn FnMut(&'a Step)) {
    for step in steps {
        visit(step);
        if let Verb::Repeat { steps, .. } = &step.verb {
            for_each_step(steps, visit);
        }
    }
}
