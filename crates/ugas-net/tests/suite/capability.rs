//! Capabilities over the network: the owning client predicts them, and learns what the server adds, removes and blocks.

use crate::kit::{Game, LENGTH, Setup, Wire, builder};
use std::collections::BTreeMap;
use ugas_core::{
    AbilitySetId, BlockSource, CapabilityCall, CapabilityCx, CapabilityId, CapabilityState, CapabilityStep,
    CodedCapability, FactKind, Facts, Home, Op, Outcome, Refusal, RulesBuilder, SimTime, Target,
};
use ugas_doc::{
    Attribute, AttributeSet, Capability, CapabilitySet, Effect, ReplicationMode, Resource, SetCapability, Side,
};
use ugas_net::client::{Certainty, NetFacts};

/// Counts its ticks, and every fourth tick restores some mana.
struct Pulse;
impl CodedCapability for Pulse {
    type State = u32;
    fn step(&self, ticks: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        if let CapabilityCall::Tick { .. } = call {
            *ticks += 1;
            if ticks.is_multiple_of(4) {
                cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
            }
        }
    }
}

fn rules() -> RulesBuilder {
    let of = |class: &str, side: Side| SetCapability::new(class).side(side);
    builder()
        .add(
            AttributeSet::new("MindData")
                .with(Attribute::new("Charge", 3.0))
                .with(Attribute { replication_mode: ReplicationMode::None, ..Attribute::new("Insight", 3.0) }),
        )
        .add(Effect::infinite("GE_Focus").add("Speed", 1.0).grants("State.Focus"))
        .add(Effect::instant("GE_Drip").add("Mana", 1.0))
        .add(Effect::instant("GE_Forget").add("Insight", -5.0))
        .add(Effect::instant("GE_SetCharge").add("Charge", 2.0).add("Insight", 2.0))
        .add(Capability::new("Focus").when("Mana < 70").until("Mana > 75").effect("GE_Focus"))
        .add(Capability::new("Stance").blocks("Capability.Rest"))
        .add(Capability::new("Watch").query("State.Focus"))
        .add(Effect::infinite("GE_Doubt").add("Speed", -1.0))
        .add(Capability::new("Doubt").when("Insight > 4").effect("GE_Doubt"))
        .add(CapabilitySet::new("CS_Doubt").data("MindData").capability(of("Doubt", Side::Always)))
        .add(Resource::new("Rage", 0.0).max(100.0))
        .add(Effect::infinite("GE_Fury").add("Speed", 2.0))
        .add(Capability::new("Fury").when("Rage > 50").effect("GE_Fury"))
        .add(
            CapabilitySet::new("CS_Mind")
                .data("MindData")
                .capability(of("Focus", Side::Always).tag("Capability.Mind"))
                .capability(of("Stance", Side::AuthorityAndLocalControlled))
                .capability(of("Pulse", Side::Always).interval(0.05).tag("Capability.Mind.Pulse"))
                .capability(of("Fury", Side::Always))
                .capability(of("Watch", Side::AuthorityOnly)),
        )
        .capability_code("Pulse", Pulse)
}

fn game(seed: u64) -> Game {
    Game::new(Setup { builder: rules(), seed, ..Setup::default() })
}

fn set(g: &Game) -> AbilitySetId {
    g.rules.ability_set("CS_Mind").unwrap()
}

fn class(g: &Game, name: &str) -> CapabilityId {
    g.rules.capability(name).unwrap()
}

/// Runs an op on the server.
fn on_server(g: &mut Game, op: Op) -> Outcome {
    g.net.server_mut().sim_mut().run(op).unwrap()
}

fn add(g: &mut Game) -> u64 {
    let op = Op::GrantSet { who: g.hero, set: set(g) };
    let Outcome::GrantedSet(handle) = on_server(g, op) else { panic!("no handle") };
    handle
}

/// Takes the steps that a list of facts reports, with the names of the classes.
fn steps<'f>(g: &Game, facts: impl Iterator<Item = &'f ugas_core::Fact>) -> Vec<(String, CapabilityStep)> {
    let of = |f: &ugas_core::Fact| match f.kind {
        FactKind::Capability { class, step, .. } if f.who == g.hero => {
            Some((g.rules.capability_name(class).unwrap().to_owned(), step))
        }
        _ => None,
    };
    facts.filter_map(of).collect()
}

fn server_steps(g: &mut Game) -> Vec<(String, CapabilityStep)> {
    let mut facts = Facts::default();
    g.net.server_mut().take_facts(&mut facts);
    steps(g, facts.list.iter())
}

fn client_steps(g: &mut Game) -> Vec<(String, CapabilityStep)> {
    let mut facts = NetFacts::default();
    g.net.client_mut("Ana").take_facts(&mut facts);
    // A confirmed fact was emitted before, when it was predicted.
    let new = facts.iter().filter(|(_, certainty)| matches!(certainty, Certainty::Predicted | Certainty::Server));
    steps(g, new.map(|(fact, _)| fact))
}

/// Checks for some ticks that the confirmed state and the prediction of the client equal the state of the server.
fn assert_in_step(g: &mut Game) {
    let (mut server, mut client) = (BTreeMap::new(), BTreeMap::new());
    let hidden = [g.attribute("Insight")];
    for _ in 0..40 {
        g.net.run(1);
        server.insert(g.net.server().sim().now(), g.net.server().owner_hash(g.hero).unwrap());
        let confirmed = g.ana().confirmed_tick(g.hero).unwrap().time(LENGTH);
        if let Some(hash) = server.get(&confirmed) {
            assert_eq!(g.ana().confirmed_hash(g.hero), Some(*hash), "{confirmed:?}");
        }
        client.insert(g.ana().sim().now(), g.ana().sim().remote().hash_without(g.hero, &hidden).unwrap());
    }
    let compared = client.iter().filter_map(|(at, hash)| Some((hash, server.get(at)?))).collect::<Vec<_>>();
    assert!(compared.len() > 20, "{} ticks", compared.len());
    assert!(compared.iter().all(|(client, server)| client == server), "a prediction differs");
}

fn state(g: &Game, name: &str) -> CapabilityState {
    g.ana().sim().capability_state(g.hero, class(g, name)).unwrap()
}

// covers: CAP-45, CAP-10, CAP-13, CAP-11
#[test]
fn the_owner_gets_the_steps_of_the_server_and_nothing_but_the_life_of_what_only_the_server_runs() {
    let mut g = game(1);
    server_steps(&mut g);
    client_steps(&mut g);
    let handle = add(&mut g);
    g.net.run(40);
    let of = |all: &[(String, CapabilityStep)], name: &str| -> Vec<CapabilityStep> {
        all.iter().filter(|(class, _)| class == name).map(|(_, step)| *step).collect()
    };
    use CapabilityStep::{Activated, Deactivated, EndCapability, EndLife, Setup, StartLife};
    let (server, client) = (server_steps(&mut g), client_steps(&mut g));
    for name in ["Focus", "Stance", "Pulse"] {
        assert_eq!(of(&client, name), of(&server, name), "{name}");
    }
    assert_eq!(of(&client, "Stance"), [StartLife, Setup, Activated]);
    assert_eq!((of(&server, "Watch"), of(&client, "Watch")), (vec![StartLife, Setup], vec![StartLife]));

    let who = g.hero;
    on_server(&mut g, Op::RevokeSet { who, handle });
    g.net.run(40);
    let (server, client) = (server_steps(&mut g), client_steps(&mut g));
    assert_eq!(of(&client, "Stance"), [Deactivated, EndCapability, EndLife]);
    assert_eq!((of(&server, "Watch"), of(&client, "Watch")), (vec![EndCapability, EndLife], vec![EndLife]));
    assert_eq!(client.first().map(|(class, _)| class.as_str()), Some("Watch"), "from bottom to top");
    assert_eq!(g.ana().sim().capabilities(g.hero).unwrap(), []);
}

#[test]
fn a_handle_that_comes_back_with_another_set_ends_the_old_capabilities_on_the_owner() {
    let mut g = game(1);
    let (who, doubt) = (g.hero, g.rules.ability_set("CS_Doubt").unwrap());
    let start = g.net.server().sim().remote().snapshot(who).unwrap();
    let first = g.net.server_mut().sim_mut().grant_set(who, doubt).unwrap();
    g.net.run(40);
    client_steps(&mut g);
    // The host restores the state from before the set, and adds another one.
    g.net.server_mut().sim_mut().remote_mut().remove_silently(who);
    g.net.server_mut().sim_mut().insert(&start).unwrap();
    assert_eq!(add(&mut g), first, "the same handle");
    g.net.run(40);
    let steps = client_steps(&mut g);
    let of = |name: &str| steps.iter().filter(|(class, _)| class == name).map(|(_, step)| *step).collect::<Vec<_>>();
    use CapabilityStep::{Activated, EndCapability, EndLife, Setup, StartLife};
    assert_eq!(of("Doubt"), [EndCapability, EndLife]);
    assert_eq!((of("Focus"), of("Stance")), (vec![StartLife, Setup], vec![StartLife, Setup, Activated]));
}

// covers: CAP-08
#[test]
fn only_the_server_adds_removes_blocks_and_switches() {
    let mut g = game(1);
    let (who, set, focus) = (g.hero, set(&g), class(&g, "Focus"));
    let (tag, source) = (g.tag("Capability.Mind"), BlockSource::host("Cutscene"));
    let mut claims = g.ana().sim().clone();
    let ops = [
        Op::GrantSet { who, set },
        Op::Block { who, tag, source },
        Op::Unblock { who, tag, source },
        Op::Enable { who, capability: focus, on: false },
        Op::SetTick { who, capability: focus, ticks: Some(false), interval: None },
    ];
    let hash = claims.hash();
    for op in ops {
        assert_eq!(claims.run(op.clone()).err(), Some(Refusal::Authority), "{op:?}");
    }
    assert_eq!(claims.row_hash(who), g.ana().sim().row_hash(who));
    assert_ne!(hash, 0);
    add(&mut g);
    g.net.run(30);
    assert_eq!(g.ana().sim().capabilities(who).unwrap().len(), 5);
}

// covers: CAP-43
#[test]
fn data_components_arrive_with_the_set_and_follow_the_server() {
    let mut g = game(1);
    let charge = g.rules.attribute("Charge").unwrap();
    assert!(g.ana().sim().get(g.hero, charge).is_err());
    add(&mut g);
    g.net.run(30);
    assert_eq!(g.ana().sim().get(g.hero, charge), Ok(3.0));
    let spec = ugas_core::Spec::new(g.effect("GE_SetCharge"), g.hero);
    g.net.server_mut().sim_mut().apply(&spec).unwrap();
    g.net.run(30);
    assert_eq!(g.ana().sim().get(g.hero, charge), Ok(5.0));
    let insight = g.rules.attribute("Insight").unwrap();
    assert_eq!(g.net.server().sim().get(g.hero, insight), Ok(5.0));
    assert_eq!(g.ana().sim().get(g.hero, insight), Ok(3.0), "not marked for replication");
}

// covers: CAP-12
#[test]
fn the_client_predicts_what_both_run_and_does_not_know_what_only_the_server_runs() {
    let mut g = game(1);
    add(&mut g);
    g.net.run(30);
    let before = g.ana().counts();
    assert_eq!((state(&g, "Stance"), state(&g, "Watch")), (CapabilityState::Active, CapabilityState::Elsewhere));
    assert_eq!(g.ana().sim().home_of(g.hero, Side::AuthorityOnly), Ok(Home::Replicated));
    assert_eq!(state(&g, "Focus"), CapabilityState::Inactive);
    client_steps(&mut g);
    for _ in 0..8 {
        // The costs drive Focus over its threshold, and Pulse restores the mana.
        let _ = g.cast("GA_Haste", Target::None);
        g.net.run(45);
    }
    let activated = client_steps(&mut g).iter().any(|s| *s == ("Focus".into(), CapabilityStep::Activated));
    assert!(activated, "predicted by the client");
    assert_eq!(g.ana().counts().corrections, before.corrections, "server and client evaluate alike");
    assert_eq!(g.ana().counts().external_changes, before.external_changes, "no interference");
    assert_in_step(&mut g);
    assert_eq!(g.ana().counts().malformed, 0);
}

/// What the server does within the window of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interference {
    GrantSet,
    RevokeSet,
    Block,
    Unblock,
    Disable,
    Enable,
    SetTick,
    SetRate,
    ModifyResource,
}

const INTERFERENCES: [Interference; 9] = [
    Interference::GrantSet,
    Interference::RevokeSet,
    Interference::Block,
    Interference::Unblock,
    Interference::Disable,
    Interference::Enable,
    Interference::SetTick,
    Interference::SetRate,
    Interference::ModifyResource,
];

impl Interference {
    /// Brings the hero into the state in which the interference changes something. Returns the op of the interference.
    fn prepare(self, g: &mut Game) -> Op {
        let (who, set, pulse, rage) = (g.hero, set(g), class(g, "Pulse"), g.rules.set("Rage").unwrap());
        let (tag, source) = (g.tag("Capability.Mind"), BlockSource::host("Cutscene"));
        let enable = |on| Op::Enable { who, capability: pulse, on };
        on_server(g, Op::AddSet { who, set: rage });
        let handle = if self == Interference::GrantSet { 0 } else { add(g) };
        let (before, op) = match self {
            Interference::GrantSet => (None, Op::GrantSet { who, set }),
            Interference::RevokeSet => (None, Op::RevokeSet { who, handle }),
            Interference::Block => (None, Op::Block { who, tag, source }),
            Interference::Unblock => (Some(Op::Block { who, tag, source }), Op::Unblock { who, tag, source }),
            Interference::Disable => (None, enable(false)),
            Interference::Enable => (Some(enable(false)), enable(true)),
            Interference::SetTick => {
                let interval = Some(SimTime::millis(150));
                (None, Op::SetTick { who, capability: pulse, ticks: None, interval })
            }
            Interference::SetRate => (None, Op::SetRate { who, rate: ugas_core::Rate::new(0.5).unwrap() }),
            Interference::ModifyResource => {
                let attribute = g.attribute("Rage");
                (None, Op::ModifyResource { who, attribute, by: 60.0, source: None, tags: Vec::new(), plain: false })
            }
        };
        if let Some(before) = before {
            on_server(g, before);
        }
        op
    }
}

#[test]
fn the_client_does_not_evaluate_a_condition_on_a_value_that_it_does_not_have() {
    let mut g = game(1);
    let (who, set) = (g.hero, g.rules.ability_set("CS_Doubt").unwrap());
    on_server(&mut g, Op::GrantSet { who, set });
    g.net.run(30);
    let differences = |g: &Game| g.ana().counts().corrections + g.ana().counts().external_changes;
    for (by, seen) in [("GE_SetCharge", CapabilityState::Active), ("GE_Forget", CapabilityState::Inactive)] {
        let before = differences(&g);
        let effect = g.effect(by);
        on_server(&mut g, Op::Apply(ugas_core::Spec::new(effect, who)));
        g.net.run(60);
        assert_eq!(state(&g, "Doubt"), seen);
        assert_eq!(g.truth(who, "Speed"), g.seen(who, "Speed"));
        // The change of the value, and the frame after it in which the capability reacts.
        assert!((1..=2).contains(&(differences(&g) - before)), "{} differences", differences(&g) - before);
        assert_in_step(&mut g);
    }
}

/// A change of a data component that is not replicated changes no byte to any client.
// covers: CAP-43
#[test]
fn an_unmarked_data_component_is_not_sent() {
    let sent = [false, true].map(|changes| {
        let rules = rules().add(Effect::instant("GE_Ponder").add("Insight", 2.0)).build().unwrap();
        let mut wire = Wire::new(&rules);
        for who in [wire.own, wire.foe] {
            wire.server.sim_mut().grant_set(who, rules.ability_set("CS_Mind").unwrap()).unwrap();
        }
        wire.run(30);
        for _ in 0..10 {
            for who in [wire.own, wire.foe].into_iter().filter(|_| changes) {
                let spec = ugas_core::Spec::new(rules.effect("GE_Ponder").unwrap(), who);
                wire.server.sim_mut().apply(&spec).unwrap();
            }
            wire.run(3);
        }
        let value = wire.server.sim().get(wire.own, rules.attribute("Insight").unwrap()).unwrap();
        assert_eq!(value, if changes { 23.0 } else { 3.0 });
        wire.sent
    });
    assert!(sent[0] == sent[1], "not a byte differs in either direction");
}

#[test]
fn whatever_the_server_does_within_the_window_of_the_client_both_agree_after_one_correction() {
    let differences = |g: &Game| g.ana().counts().corrections + g.ana().counts().external_changes;
    for tick in 0..24 {
        for what in INTERFERENCES {
            let mut g = game(tick + 1);
            let op = what.prepare(&mut g);
            g.net.run(30);
            let _ = g.cast("GA_Haste", Target::None);
            g.net.run(tick as u32);
            let before = differences(&g);
            on_server(&mut g, op.clone());
            let _ = g.cast("GA_Haste", Target::None);
            g.net.run(60);
            assert_eq!(differences(&g) - before, 1, "tick {tick}: {op:?}: {:?}", g.ana().counts());
            g.net.run(90);
            assert_eq!(differences(&g) - before, 1, "tick {tick}: {op:?}: {:?}", g.ana().counts());
            assert_eq!(g.ana().counts().malformed, 0);
            assert_in_step(&mut g);
        }
    }
}
