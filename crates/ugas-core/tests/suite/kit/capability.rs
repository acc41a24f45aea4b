//! Shared by the tests of capabilities: coded capabilities that record how they are called.

use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilitySetId, CapabilityCall, CapabilityCx, CapabilityId, CapabilityState, CodedCapability, ControllerId, FactKind,
    Facts, Op, Role, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, TagId, Watches,
};
use ugas_doc::{Attribute, AttributeSet, CapabilitySet, Effect, SetCapability, TagRegistry};

/// The calls of all coded capabilities, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

type Ask = Box<dyn Fn(&u64, &CapabilityCx<'_>) -> bool + Send + Sync>;
type Act = Box<dyn Fn(&mut u64, CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync>;

/// A coded capability that records its calls as `Name Call`, and the questions as `Name activate?` and
/// `Name deactivate?`.
pub(crate) struct Probe {
    name: &'static str,
    log: Log,
    activate: Ask,
    deactivate: Ask,
    act: Act,
    watches: Option<Watches>,
}

impl Probe {
    /// Creates a capability with the default answers.
    pub(crate) fn new(name: &'static str, log: &Log) -> Probe {
        Probe {
            name,
            log: log.clone(),
            activate: Box::new(|_, _| true),
            deactivate: Box::new(|_, _| false),
            act: Box::new(|_, _, _| {}),
            watches: None,
        }
    }

    pub(crate) fn activate_if(
        mut self,
        ask: impl Fn(&u64, &CapabilityCx<'_>) -> bool + Send + Sync + 'static,
    ) -> Probe {
        self.activate = Box::new(ask);
        self
    }

    pub(crate) fn deactivate_if(
        mut self,
        ask: impl Fn(&u64, &CapabilityCx<'_>) -> bool + Send + Sync + 'static,
    ) -> Probe {
        self.deactivate = Box::new(ask);
        self
    }

    pub(crate) fn doing(
        mut self,
        act: impl Fn(&mut u64, CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync + 'static,
    ) -> Probe {
        self.act = Box::new(act);
        self
    }

    pub(crate) fn watching(mut self, watches: Watches) -> Probe {
        self.watches = Some(watches);
        self
    }

    fn note(&self, what: &str) {
        self.log.lock().unwrap().push(format!("{} {what}", self.name));
    }
}

impl CodedCapability for Probe {
    type State = u64;

    fn should_activate(&self, state: &u64, cx: &CapabilityCx<'_>) -> bool {
        self.note("activate?");
        (self.activate)(state, cx)
    }

    fn should_deactivate(&self, state: &u64, cx: &CapabilityCx<'_>) -> bool {
        self.note("deactivate?");
        (self.deactivate)(state, cx)
    }

    fn step(&self, state: &mut u64, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        self.note(match call {
            CapabilityCall::Setup => "Setup",
            CapabilityCall::Activated => "Activated",
            CapabilityCall::Tick { .. } => "Tick",
            CapabilityCall::Deactivated => "Deactivated",
            CapabilityCall::End => "End",
        });
        (self.act)(state, call, cx);
    }

    fn watches(&self) -> Option<Watches> {
        self.watches.clone()
    }
}

/// Takes all calls.
pub(crate) fn take(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

/// Takes the calls without the questions.
pub(crate) fn calls(log: &Log) -> Vec<String> {
    take(log).into_iter().filter(|line| !line.ends_with('?')).collect()
}

/// Takes the facts of capabilities as `Class Step`.
pub(crate) fn steps(sim: &mut Sim) -> Vec<String> {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let step = |fact: &ugas_core::Fact| match fact.kind {
        FactKind::Capability { class, step, .. } => {
            Some(format!("{} {step:?}", sim.rules().capability_name(class).unwrap_or("?")))
        }
        _ => None,
    };
    facts.list.iter().filter_map(step).collect()
}

/// A builder with attributes, tags and effects for capabilities.
pub(crate) fn base() -> RulesBuilder {
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(AttributeSet::new("Data").with(Attribute::new("Stamina", 50.0)))
        .add(TagRegistry::new(["Capability.Move.Fly", "Capability.Look", "State.Go", "State.Stop", "State.Stunned"]))
        .add(Effect::infinite("GE_Go").grants("State.Go"))
        .add(Effect::infinite("GE_Stop").grants("State.Stop"))
        .add(Effect::infinite("GE_Stun").grants("State.Stunned"))
        .add(Effect::infinite("GE_Haste").add("Health", 5.0))
        .add(Effect::instant("GE_Mark").add("Health", -1.0))
        .add(Effect::instant("GE_Spend").add("Stamina", -10.0))
}

/// A set of plain entries.
pub(crate) fn set_of(name: &str, classes: &[&str]) -> CapabilitySet {
    classes.iter().fold(CapabilitySet::new(name), |set, class| set.capability(SetCapability::new(*class)))
}

/// The rules of `base` with classes that only record, and one set.
pub(crate) fn recording(log: &Log, classes: &[&'static str], set: CapabilitySet) -> Arc<Rules> {
    let builder = classes.iter().fold(base().add(set), |b, name| b.capability_code(*name, Probe::new(name, log)));
    builder.build().unwrap()
}

/// The length of a frame in these tests.
pub(crate) const FRAME: SimTime = SimTime::millis(100);

pub(crate) fn config(role: Role, screen: bool) -> SimConfig {
    SimConfig { frame: FRAME, role, screen, ..SimConfig::default() }
}

pub(crate) fn sim_of(rules: &Arc<Rules>) -> (Sim, ControllerId) {
    machine(rules, Role::Standalone, true)
}

pub(crate) fn machine(rules: &Arc<Rules>, role: Role, screen: bool) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), config(role, screen));
    let who = spawn(&mut sim);
    (sim, who)
}

pub(crate) fn spawn(sim: &mut Sim) -> ControllerId {
    let vitals = sim.rules().set("Vitals").unwrap();
    sim.spawn(SpawnSpec::sets([vitals])).unwrap()
}

/// Runs whole frames.
pub(crate) fn frames(sim: &mut Sim, count: i64) {
    let now = sim.now();
    assert!(sim.advance_to(now + SimTime(FRAME.0 * count)).finished);
}

pub(crate) fn class(sim: &Sim, name: &str) -> CapabilityId {
    sim.rules().capability(name).unwrap()
}

pub(crate) fn cap_set(sim: &Sim, name: &str) -> AbilitySetId {
    sim.rules().ability_set(name).unwrap()
}

pub(crate) fn tag_of(sim: &Sim, name: &str) -> TagId {
    sim.rules().tag(name).unwrap()
}

/// Adds a set.
pub(crate) fn add(sim: &mut Sim, who: ControllerId, name: &str) -> u64 {
    let set = cap_set(sim, name);
    sim.grant_set(who, set).unwrap()
}

/// Enables or disables a class.
pub(crate) fn enable(sim: &mut Sim, who: ControllerId, name: &str, on: bool) {
    let capability = class(sim, name);
    sim.run(Op::Enable { who, capability, on }).unwrap();
}

/// Sets the interval of a class in seconds.
pub(crate) fn set_interval(sim: &mut Sim, who: ControllerId, name: &str, seconds: f64) {
    let capability = class(sim, name);
    let interval = Some(SimTime::seconds(seconds));
    sim.run(Op::SetTick { who, capability, ticks: None, interval }).unwrap();
}

/// Blocks a tag for a host name, or unblocks it.
pub(crate) fn block(sim: &mut Sim, who: ControllerId, tag: &str, source: &str, on: bool) {
    let (tag, source) = (tag_of(sim, tag), ugas_core::BlockSource::host(source));
    sim.run(if on { Op::Block { who, tag, source } } else { Op::Unblock { who, tag, source } }).unwrap();
}

/// Returns the classes of all capabilities, in order.
pub(crate) fn classes(sim: &Sim, who: ControllerId) -> Vec<String> {
    let all = sim.capabilities(who).unwrap();
    all.iter().map(|view| sim.rules().capability_name(view.class).unwrap().to_owned()).collect()
}

/// Returns the state of a capability.
pub(crate) fn state(sim: &Sim, who: ControllerId, name: &str) -> CapabilityState {
    sim.capability_state(who, class(sim, name)).unwrap()
}

/// Returns how often a line is in a log.
pub(crate) fn count(log: &[String], line: &str) -> usize {
    log.iter().filter(|other| *other == line).count()
}
