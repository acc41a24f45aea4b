//! Coded capabilities that exist in both worlds: each decides from the same reads and requests the same changes.

use super::effects::SECOND;
use super::generate::Documents;
use super::resources::{FILL, RESOURCE};
use super::world::World;
use ugas_core::{CapabilityCall, CapabilityCx, CodedCapability, RulesBuilder, SimTime, Target, Watches};

/// Counts its ticks; every third hurts its owner.
pub(crate) const COUNT: &str = "Cap_Count";
/// Watches the owner's health; keeps an effect applied while it is low.
pub(crate) const WATCH: &str = "Cap_Watch";
/// Blocks movement while the owner's health is low.
pub(crate) const LOW: &str = "Cap_Low";
/// Enables, disables and slows others.
pub(crate) const SWITCH: &str = "Cap_Switch";
/// Activates an ability.
pub(crate) const CAST: &str = "Cap_Cast";
/// Removes its own set.
pub(crate) const QUIT: &str = "Cap_Quit";
/// Sends the time that passed.
pub(crate) const CLOCK: &str = "Cap_Clock";
/// Shows a cue at each step that is no tick.
pub(crate) const SHOW: &str = "Cap_Show";
/// Watches the resource; changes it each time it is active anew. Exists with resources only.
pub(crate) const DRAIN: &str = "Cap_Drain";
/// Announced only.
pub(crate) const ABSENT: &str = "Cap_Absent";

pub(crate) const CODED: &[&str] = &[COUNT, WATCH, LOW, SWITCH, CAST, QUIT, CLOCK, SHOW];

/// What a coded capability keeps: how often it was called, and a time.
pub(crate) type Memory = (u32, i64);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Setup,
    Activated,
    /// With the time since the last evaluation.
    Tick(i64),
    Deactivated,
    End,
}

/// A requested change.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Apply(&'static str),
    Remove(&'static str),
    Send(&'static str, f64),
    Cue(&'static str),
    Block(&'static str),
    Unblock(&'static str),
    Enable(&'static str, bool),
    SetInterval(&'static str, i64),
    SetTicking(&'static str, bool),
    Activate(&'static str),
    RemoveSet,
}

/// What a coded capability reads of its owner.
pub(crate) trait Reads {
    fn health(&self, who: u32) -> f64;
    fn resource(&self, who: u32) -> f64;
    fn tag(&self, who: u32, tag: &str) -> bool;
}

impl Reads for World {
    fn health(&self, who: u32) -> f64 {
        self.get(who, "Health").unwrap_or(0.0)
    }
    fn resource(&self, who: u32) -> f64 {
        self.get(who, RESOURCE).unwrap_or(0.0)
    }
    fn tag(&self, who: u32, tag: &str) -> bool {
        self.has_tag(who, tag)
    }
}

impl Reads for CapabilityCx<'_> {
    fn health(&self, _: u32) -> f64 {
        self.get(self.rules().attribute("Health").expect("it is loaded")).unwrap_or(0.0)
    }
    fn resource(&self, _: u32) -> f64 {
        self.get(self.rules().attribute(RESOURCE).expect("it is loaded")).unwrap_or(0.0)
    }
    fn tag(&self, _: u32, tag: &str) -> bool {
        self.has(self.rules().tag(tag).expect("it is loaded"))
    }
}

pub(crate) fn exists(class: &str) -> bool {
    CODED.contains(&class) || class == DRAIN
}

pub(crate) fn begins(class: &str, reads: &impl Reads, who: u32) -> bool {
    match class {
        COUNT => !reads.tag(who, "Mark"),
        DRAIN => reads.resource(who) > 20.0,
        WATCH => reads.health(who) < 40.0 && !reads.tag(who, "Team.Red"),
        _ => true,
    }
}

pub(crate) fn ends(class: &str, reads: &impl Reads, who: u32) -> bool {
    match class {
        COUNT => reads.tag(who, "Mark"),
        DRAIN => reads.resource(who) <= 8.0,
        WATCH => reads.health(who) >= 50.0,
        _ => false,
    }
}

pub(crate) fn step(class: &str, memory: &mut Memory, call: Call, reads: &impl Reads, who: u32) -> Vec<Act> {
    let (count, time) = memory;
    if let Call::Tick(elapsed) = call {
        *count += 1;
        *time += elapsed;
    }
    match (class, call) {
        (COUNT, Call::Tick(_)) if *count % 3 == 0 => vec![Act::Apply("GE_CapHit0")],
        (COUNT, Call::End) => vec![Act::Apply("GE_CapHit1")],
        (DRAIN, Call::Activated | Call::Deactivated) => vec![Act::Apply(FILL)],
        (WATCH, Call::Activated) => vec![Act::Apply("GE_CapBuff0")],
        (WATCH, Call::Deactivated) => vec![Act::Remove("GE_CapBuff0")],
        (LOW, Call::Tick(_)) if reads.health(who) < 40.0 => vec![Act::Block("Capability.Move")],
        (LOW, Call::Tick(_)) => vec![Act::Unblock("Capability.Move")],
        (SWITCH, Call::Tick(_)) => match *count % 16 {
            2 => vec![Act::Enable("Cap_0", false), Act::SetTicking(COUNT, false)],
            5 => vec![Act::SetInterval("Cap_1", SECOND / 20), Act::SetInterval(CLOCK, SECOND / 10)],
            9 => vec![Act::Enable("Cap_0", true), Act::SetTicking(COUNT, true)],
            13 => vec![Act::SetInterval("Cap_1", 0)],
            _ => Vec::new(),
        },
        (CAST, Call::Tick(_)) if *count % 4 == 0 => vec![Act::Activate("GA_0")],
        (QUIT, Call::Tick(_)) if *count >= 6 => vec![Act::RemoveSet],
        (CLOCK, Call::Tick(_)) if *time >= SECOND / 3 => {
            let passed = std::mem::take(time) as f64 / SECOND as f64;
            vec![Act::Send("Event.A", passed)]
        }
        (SHOW, Call::Setup | Call::End) => vec![Act::Cue("GameplayCue.A")],
        (SHOW, Call::Activated | Call::Deactivated) => vec![Act::Cue("GameplayCue.B")],
        _ => Vec::new(),
    }
}

/// A capability of the runtime.
struct Coded(&'static str);

impl CodedCapability for Coded {
    type State = Memory;

    fn should_activate(&self, _: &Memory, cx: &CapabilityCx<'_>) -> bool {
        begins(self.0, cx, 0)
    }

    fn should_deactivate(&self, _: &Memory, cx: &CapabilityCx<'_>) -> bool {
        ends(self.0, cx, 0)
    }

    fn step(&self, state: &mut Memory, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        let call = match call {
            CapabilityCall::Setup => Call::Setup,
            CapabilityCall::Activated => Call::Activated,
            CapabilityCall::Tick { elapsed } => Call::Tick(elapsed.0),
            CapabilityCall::Deactivated => Call::Deactivated,
            CapabilityCall::End => Call::End,
        };
        for act in step(self.0, state, call, cx, 0) {
            request(cx, act);
        }
    }

    fn watches(&self) -> Option<Watches> {
        match self.0 {
            WATCH => Some(Watches::new().attribute("Health").tag("Team.Red")),
            DRAIN => Some(Watches::new().attribute(RESOURCE)),
            _ => None,
        }
    }
}

fn request(cx: &mut CapabilityCx<'_>, act: Act) {
    let tag = |cx: &CapabilityCx<'_>, name: &str| cx.rules().tag(name).expect("it is loaded");
    let effect = |cx: &CapabilityCx<'_>, name: &str| cx.rules().effect(name).expect("it is loaded");
    let class = |cx: &CapabilityCx<'_>, name: &str| cx.rules().capability(name).expect("it is loaded");
    match act {
        Act::Apply(name) => cx.apply_to_owner(effect(cx, name)),
        Act::Remove(name) => cx.remove_from_owner(effect(cx, name)),
        Act::Send(name, magnitude) => cx.send(tag(cx, name), cx.who(), magnitude),
        Act::Cue(name) => cx.cue(tag(cx, name)),
        Act::Block(name) => cx.block(tag(cx, name)),
        Act::Unblock(name) => cx.unblock(tag(cx, name)),
        Act::Enable(name, on) => cx.enable(class(cx, name), on),
        Act::SetInterval(name, interval) => cx.set_interval(class(cx, name), SimTime(interval)),
        Act::SetTicking(name, on) => cx.set_ticking(class(cx, name), on),
        Act::Activate(name) => cx.activate(cx.rules().ability(name).expect("it is loaded"), Target::None),
        Act::RemoveSet => cx.remove_set(),
    }
}

/// Registers the code, if the documents have capabilities.
pub(crate) fn register(mut builder: RulesBuilder, docs: &Documents) -> RulesBuilder {
    if docs.capabilities.is_empty() {
        return builder;
    }
    for name in CODED {
        builder = builder.capability_code(*name, Coded(name));
    }
    if !docs.resources.is_empty() {
        builder = builder.capability_code(DRAIN, Coded(DRAIN));
    }
    builder.announce_capability(ABSENT)
}
