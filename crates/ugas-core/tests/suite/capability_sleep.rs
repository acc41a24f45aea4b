//! Capabilities that sleep until something that they read changes, and what wakes them.

use crate::kit::apply;
use crate::kit::capability::*;
use ugas_core::{CapabilityCall, CapabilityState, ControllerId, FactKind, Facts, Role, Sim, SimTime, Spec, Watches};
use ugas_doc::{Ability, Capability, CapabilitySet, Effect, GrantedAbilityEntry, SetCapability};

#[test]
fn a_woken_row_stays_awake_whatever_earlier_rows_of_the_frame_do_to_it() {
    let log = Log::default();
    // The first row gives the second an ability, which updates its frame work, and wakes the third.
    let meddler = Probe::new("Meddler", &log).doing(|ticks, call, cx| {
        *ticks += matches!(call, CapabilityCall::Tick { .. }) as u64;
        if *ticks == 2 {
            let (own, rules) = (cx.who().0, cx.rules());
            let [gift, go] = ["GE_Gift", "GE_Go"].map(|name| rules.effect(name).unwrap());
            cx.apply(Spec::new(gift, ControllerId(own + 1)));
            cx.apply(Spec::new(go, ControllerId(own + 2)));
        }
    });
    let mut gift = Effect::infinite("GE_Gift");
    gift.granted_abilities.push(GrantedAbilityEntry::new("GA_Wave"));
    let rules = base()
        .add(Ability::new("GA_Wave"))
        .add(gift)
        .add(Capability::new("Guard"))
        .add(Capability::new("Wander").query("State.Go"))
        .add(set_of("CS_Meddler", &["Meddler"]))
        .add({
            let entry = SetCapability::new("Guard").tag("Capability.Look");
            CapabilitySet::new("CS_Guard").capability(entry)
        })
        .add(set_of("CS_Wander", &["Wander"]))
        .capability_code("Meddler", meddler)
        .build()
        .unwrap();
    let (mut sim, first) = sim_of(&rules);
    let (second, third) = (spawn(&mut sim), spawn(&mut sim));
    assert_eq!([second.0, third.0], [first.0 + 1, first.0 + 2]);
    for (who, set) in [(first, "CS_Meddler"), (second, "CS_Guard"), (third, "CS_Wander")] {
        add(&mut sim, who, set);
    }
    frames(&mut sim, 1);
    use CapabilityState::{Active, Blocked, Inactive};
    assert_eq!((state(&sim, second, "Guard"), state(&sim, third, "Wander")), (Active, Inactive));
    block(&mut sim, second, "Capability.Look", "Test", true);
    frames(&mut sim, 1);
    assert_eq!((state(&sim, second, "Guard"), state(&sim, third, "Wander")), (Blocked, Active));
    assert_eq!(sim.grants(second).unwrap().len(), 1);
}

#[test]
fn a_capability_that_watches_is_asked_only_after_a_change() {
    let log = Log::default();
    let go = |cx: &ugas_core::CapabilityCx<'_>| cx.has(cx.rules().tag("State.Go").unwrap());
    let watcher = Probe::new("A", &log)
        .activate_if(move |_, cx| go(cx))
        .deactivate_if(move |_, cx| !go(cx))
        .watching(Watches::new().tag("State.Go").attribute("Health"));
    let rules = base().add(set_of("CS_Robot", &["A"])).capability_code("A", watcher).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 2);
    take(&log);
    frames(&mut sim, 50);
    assert!(take(&log).is_empty(), "asleep");
    let key = apply(&mut sim, "GE_Go", robot);
    frames(&mut sim, 10);
    let first = take(&log);
    assert_eq!(first[..2], ["A activate?", "A Activated"]);
    assert!(first.len() <= 3 && count(&first, "A Tick") == 0, "{first:?}");
    apply(&mut sim, "GE_Stun", robot);
    frames(&mut sim, 5);
    assert!(take(&log).is_empty(), "it does not read this tag");
    sim.remove(key).unwrap();
    frames(&mut sim, 5);
    assert_eq!(calls(&log), ["A Deactivated"]);
}

// covers: CAP-51
#[test]
fn non_ticking_capabilities_are_never_visited() {
    let log = Log::default();
    let names = ["A", "B", "C", "D", "E"];
    let set =
        names.iter().fold(CapabilitySet::new("CS_Idle"), |s, n| s.capability(SetCapability::new(*n).never_ticks()));
    let rules = recording(&log, &names, set);
    let mut sim = Sim::new(rules, config(Role::Standalone, true));
    for _ in 0..1_000 {
        let who = spawn(&mut sim);
        add(&mut sim, who, "CS_Idle");
        let counts = sim.capability_counts(who).unwrap();
        assert_eq!((counts.total, counts.ticking), (5, 0));
    }
    take(&log);
    let progress = sim.advance_to(SimTime(60 * FRAME.0));
    assert_eq!((progress.finished, progress.capabilities), (true, 0), "no capability is visited");
    assert!(take(&log).is_empty(), "no question and no tick");
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let late = |fact: &ugas_core::Fact| fact.at > SimTime::ZERO && matches!(fact.kind, FactKind::Capability { .. });
    assert!(!facts.list.iter().any(late));
}
