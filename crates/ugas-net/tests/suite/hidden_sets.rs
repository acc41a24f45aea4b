//! A capability set that is hidden from observers changes no byte that they receive. Each test runs two servers that
//! differ only in the hidden set, and compares every datagram.

use crate::kit::{Wire, builder};
use std::sync::Arc;
use ugas_core::{BlockSource, CapabilityCall, CapabilityCx, CodedCapability, Op, Outcome, Rules, SimTime, Spec};
use ugas_doc::{
    Attribute, AttributeSet, CapabilitySet, ControllerReplication, Effect, ReplicationMode, SetCapability, Side,
};

/// Counts its ticks, and writes to the data component of its set.
struct Plot;
impl CodedCapability for Plot {
    type State = u32;
    fn step(&self, ticks: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        *ticks += 1;
        if matches!(call, CapabilityCall::Tick { .. }) {
            cx.apply_to_owner(cx.rules().effect("GE_Scheme").unwrap());
            cx.block(cx.rules().tag("Capability.Scheme").unwrap());
        }
    }
}

/// An open set, and a set in a mode that hides it, with a data component in the same mode.
fn rules(mode: ReplicationMode) -> Arc<Rules> {
    let plan = Attribute { replication_mode: mode, ..Attribute::new("Plan", 1.0) };
    let entry = |class: &str, side| SetCapability::new(class).side(side).tag("Capability.Plot");
    let sides = [Side::Always, Side::AuthorityOnly, Side::AuthorityAndLocalControlled, Side::AllClients];
    let mut hidden = sides.into_iter().fold(CapabilitySet::new("CS_Plot").data("PlanData"), |set, side| {
        set.capability(entry("Plot", side).interval(0.05))
    });
    hidden.replication_mode = mode;
    let open = CapabilitySet::new("CS_Open").capability(entry("Glow", Side::AllClients));
    builder()
        .add(AttributeSet::new("PlanData").with(plan))
        .add(Effect::instant("GE_Scheme").add("Plan", 1.0))
        .add(Effect::lasting("GE_Shine", 0.3).add("Speed", 1.0).grants("State.Shine"))
        .add(ugas_doc::TagRegistry::new(["Capability.Scheme"]))
        .add(ugas_doc::Capability::new("Glow"))
        .add(hidden)
        .add(open)
        .capability_code("Plot", Plot)
        .build()
        .unwrap()
}

/// Plays a session in which a remote actor has the hidden set for a while, or does not. Without the set the server runs
/// as many ops, because the keys of effects count them.
fn play(rules: &Arc<Rules>, mode: ControllerReplication, is_held: bool) -> Wire {
    let mut wire = Wire::with(rules, mode);
    let who = wire.foe;
    let [plot, open] = ["CS_Plot", "CS_Open"].map(|name| rules.ability_set(name).unwrap());
    let (tag, source) = (rules.tag("Capability.Plot").unwrap(), BlockSource::host("Test"));
    let (capability, other) = (rules.capability("Plot").unwrap(), rules.tag("Capability.Scheme").unwrap());
    let run = |wire: &mut Wire, op: Op| {
        let op = if is_held { op } else { Op::Unblock { who, tag: other, source } };
        let outcome = wire.server.sim_mut().run(op).unwrap();
        wire.run(15);
        outcome
    };
    let shine = |wire: &mut Wire| {
        wire.server.sim_mut().apply(&Spec::new(rules.effect("GE_Shine").unwrap(), who)).unwrap();
        wire.run(15);
    };
    // Before the open set, so that its handle is another one.
    let handle = match run(&mut wire, Op::GrantSet { who, set: plot }) {
        Outcome::GrantedSet(handle) => handle,
        _ => 0,
    };
    wire.server.sim_mut().grant_set(who, open).unwrap();
    wire.run(15);
    shine(&mut wire);
    run(&mut wire, Op::Block { who, tag, source });
    run(&mut wire, Op::Unblock { who, tag, source });
    run(&mut wire, Op::Enable { who, capability, on: false });
    run(&mut wire, Op::Enable { who, capability, on: true });
    run(&mut wire, Op::SetTick { who, capability, ticks: None, interval: Some(SimTime::millis(20)) });
    run(&mut wire, Op::Apply(Spec::new(rules.effect("GE_Scheme").unwrap(), who)));
    shine(&mut wire);
    run(&mut wire, Op::RevokeSet { who, handle });
    run(&mut wire, Op::GrantSet { who, set: plot });
    shine(&mut wire);
    wire
}

#[test]
fn a_hidden_set_changes_no_byte_for_an_observer() {
    for hidden in [ReplicationMode::OwnerOnly, ReplicationMode::None] {
        for mode in [ControllerReplication::Minimal, ControllerReplication::Mixed, ControllerReplication::Full] {
            let rules = rules(hidden);
            let (with, without) = (play(&rules, mode, true), play(&rules, mode, false));
            let plan = with.server.sim().get(with.foe, rules.attribute("Plan").unwrap()).unwrap();
            assert!(plan > 3.0, "the hidden capabilities run");
            assert_eq!(with.server.capabilities(with.foe).len(), 5);
            let differs = with.sent.iter().zip(&without.sent).position(|(a, b)| a != b);
            assert!(with.sent.len() == without.sent.len() && differs.is_none(), "{hidden:?} {mode:?}: {differs:?}");
            let seen: Vec<_> = with.client.capabilities(with.foe).iter().map(|view| view.set).collect();
            assert_eq!(seen, [rules.ability_set("CS_Open").unwrap()], "{hidden:?} {mode:?}");
        }
    }
}

/// The comparison detects differences.
#[test]
fn a_visible_set_changes_bytes() {
    let rules = rules(ReplicationMode::All);
    let mode = ControllerReplication::Full;
    assert!(play(&rules, mode, true).sent != play(&rules, mode, false).sent);
}
