//! Global cooldowns, charges, casts and the facts about them, on the owning client and on the server.

use crate::kit::{Game, Setup, builder};
use ugas_core::{
    AbilityGrant, AbilityId, Anchor, CastStep, ControllerId, Fact, FactKind, Facts, Op, Refusal, Sim, SimTime, Spec,
    Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Cast, CombatRule, Effect, Modify, ModifyOperation};
use ugas_net::authority::{AuthoredRange, CommandValidator, MovementConfig, RejectReason};
use ugas_net::client::{Certainty, Client, ClientConfig, ClientState, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::{Command, Request};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::Tick;

fn seconds(n: f64) -> SimTime {
    SimTime::seconds(n)
}

fn game(abilities: impl IntoIterator<Item = Ability>) -> Game {
    let builder = abilities.into_iter().fold(builder(), |rules, ability| rules.add(ability));
    Game::new(Setup { builder, ben: true, ..Setup::default() })
}

/// Returns the total length and the end of the only global cooldown.
fn gcd(sim: &Sim, who: ControllerId) -> Option<(SimTime, SimTime)> {
    let running = sim.global_cooldowns(who).unwrap();
    assert!(running.len() <= 1);
    running.first().map(|(_, timer)| (timer.total, sim.now() + timer.remaining))
}

fn charges(g: &Game, sim: &Sim, name: &str) -> u32 {
    let grant = sim.grants(g.hero).unwrap().into_iter().find(|x| x.ability == g.ability(name)).unwrap().id;
    sim.charges(g.hero, grant).unwrap().unwrap().have
}

/// Takes the mana on the server; the client has not received that.
fn spend(g: &mut Game) {
    let (hero, cost) = (g.hero, g.effect("GE_Cost"));
    for _ in 0..5 {
        g.net.server_mut().sim_mut().apply(&Spec::new(cost, hero)).unwrap();
    }
}

/// The abilities that the facts `Mispredicted` name, of Ana, the server and Ben, since the last call.
fn mispredicted(g: &mut Game) -> [Vec<AbilityId>; 3] {
    let of = |f: &Fact| match f.kind {
        FactKind::Mispredicted { ability } => Some(ability),
        _ => None,
    };
    let ana = g.facts().iter().filter(|(_, c)| *c == Certainty::Predicted).filter_map(|(f, _)| of(f)).collect();
    let (mut server, mut ben) = (Facts::default(), NetFacts::default());
    g.net.server_mut().take_facts(&mut server);
    g.net.client_mut("Ben").take_facts(&mut ben);
    [ana, server.list.iter().filter_map(of).collect(), ben.iter().filter_map(|(f, _)| of(f)).collect()]
}

// covers: SAI-2.3-03
#[test]
fn a_client_predicts_start_and_length_of_a_global_cooldown() {
    let mut g = game([Ability::new("GA_Jab").gcd(1.5)]);
    let hero = g.hero;
    g.cast("GA_Jab", Target::None).unwrap();
    let now = g.ana().sim().now();
    assert_eq!(gcd(g.ana().sim(), hero), Some((seconds(1.5), now + seconds(1.5))), "at once");
    assert_eq!(gcd(g.net.server().sim(), hero), None, "the command has not arrived");
    g.net.run(20);
    assert_eq!(gcd(g.net.server().sim(), hero), Some((seconds(1.5), now + seconds(1.5))), "the same on the server");
    assert_eq!(g.ana().counts().corrections, 0);
}

// covers: SAI-2.3-04
#[test]
fn a_denied_use_cancels_only_the_global_cooldown_that_it_started() {
    let abilities = || [Ability::new("GA_Jab").cost("GE_Cost").gcd(0.05), Ability::new("GA_Kick").gcd(5.0)];
    // The denied use started the running cooldown.
    let mut g = game([Ability::new("GA_Jab").cost("GE_Cost").gcd(5.0)]);
    let hero = g.hero;
    spend(&mut g);
    g.cast("GA_Jab", Target::None).unwrap();
    assert!(gcd(g.ana().sim(), hero).is_some());
    g.net.run_until(30, |net| net.client("Ana").counts().rejected > 0).unwrap();
    assert_eq!(gcd(g.ana().sim(), hero), None);
    // A later use started it.
    let mut g = game(abilities());
    spend(&mut g);
    g.cast("GA_Jab", Target::None).unwrap();
    g.net.run(4);
    g.cast("GA_Kick", Target::None).unwrap();
    let started = gcd(g.ana().sim(), hero).unwrap();
    assert_eq!((started.0, g.ana().counts().rejected), (seconds(5.0), 0), "the first use is not decided yet");
    g.net.run_until(30, |net| net.client("Ana").counts().rejected > 0).unwrap();
    assert_eq!(gcd(g.ana().sim(), hero), Some(started));
    g.net.run(30);
    assert_eq!((gcd(g.ana().sim(), hero), gcd(g.net.server().sim(), hero)), (Some(started), Some(started)));
}

// covers: SAI-2.3-05
#[test]
fn a_confirmed_global_cooldown_ends_at_the_predicted_start_plus_the_servers_length() {
    let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(0.8) };
    let rule = CombatRule { on: "GlobalCooldown".into(), modify: Some(modify), ..CombatRule::default() };
    let haste = Effect { rules: vec![rule], ..Effect::infinite("GE_Quick") };
    let rules = builder().add(haste).add(Ability::new("GA_Jab").gcd(1.5));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, quick) = (g.hero, g.effect("GE_Quick"));
    g.net.server_mut().sim_mut().apply(&Spec::new(quick, hero)).unwrap();
    g.cast("GA_Jab", Target::None).unwrap();
    let start = g.ana().sim().now();
    assert_eq!(gcd(g.ana().sim(), hero), Some((seconds(1.5), start + seconds(1.5))));
    g.net.run_until(30, |net| net.client("Ana").pending_commands() == 0).unwrap();
    assert!(g.ana().sim().now() >= start + seconds(0.1), "the answer takes a round trip");
    assert_eq!(gcd(g.ana().sim(), hero), Some((seconds(1.2), start + seconds(1.2))));
}

// covers: SAI-2.4-07
#[test]
fn a_client_takes_the_servers_charges_and_spends_those_of_later_uses_again() {
    let mut g = game([Ability::new("GA_Charged").charges(6, 60.0)]);
    let (hero, ability) = (g.hero, g.ability("GA_Charged"));
    g.cast("GA_Charged", Target::None).unwrap();
    // Something else on the server uses a charge.
    let which = Which::Ability(ability);
    g.net.server_mut().sim_mut().run(Op::Activate { who: hero, which, target: Target::None }).unwrap();
    g.net.step();
    g.cast("GA_Charged", Target::None).unwrap();
    assert_eq!(charges(&g, g.ana().sim(), "GA_Charged"), 4, "two predicted uses");
    g.net.run_until(30, |net| net.client("Ana").pending_commands() == 1).unwrap();
    assert_eq!(charges(&g, g.ana().sim(), "GA_Charged"), 3, "4 on the server after the first use, without the second");
    g.net.run(30);
    assert_eq!((charges(&g, g.ana().sim(), "GA_Charged"), charges(&g, g.net.server().sim(), "GA_Charged")), (3, 3));
}

// covers: SAI-2.4-09
#[test]
fn a_denied_use_restores_only_its_own_charge() {
    let mut g = game([Ability::new("GA_Charged").charges(5, 60.0).range(500.0)]);
    let (foe, far) = (g.foe, Some(Anchor::at([5000.0, 0.0, 0.0])));
    // The client has not received that the target is out of range.
    g.net.server_mut().sim_mut().run(Op::Move { who: foe, anchor: far }).unwrap();
    g.cast("GA_Charged", Target::Controller(foe)).unwrap();
    g.net.run(4);
    g.cast("GA_Charged", Target::None).unwrap();
    assert_eq!((charges(&g, g.ana().sim(), "GA_Charged"), g.ana().counts().rejected), (3, 0));
    g.net.run_until(30, |net| net.client("Ana").counts().rejected == 1).unwrap();
    assert_eq!(charges(&g, g.ana().sim(), "GA_Charged"), 4, "the first is restored, the second stays spent");
    g.net.run(30);
    assert_eq!((charges(&g, g.ana().sim(), "GA_Charged"), charges(&g, g.net.server().sim(), "GA_Charged")), (4, 4));
    assert_eq!(g.net.server().counts().of(RejectReason::Target), 1);
}

fn event(tag: &str) -> AbilityTask {
    AbilityTask::new("SendEvent").param("EventTag", tag)
}

// covers: SAI-2.5-08, SAI-2.7-07
#[test]
fn a_mispredicted_cast_ends_at_once_and_runs_no_cancel_list() {
    let mut beam = Ability::new("GA_Beam").cost("GE_Cost").cast(5.0, 5);
    beam.on_cancel.push(event("Event.Cancel"));
    beam.on_predicted_cancel.push(event("Event.Cancel"));
    beam.on_server_cancel.push(event("Event.Cancel"));
    let mut g = game([beam]);
    let (hero, ability) = (g.hero, g.ability("GA_Beam"));
    spend(&mut g);
    mispredicted(&mut g);
    g.cast("GA_Beam", Target::None).unwrap();
    assert!(g.ana().sim().cast(hero).unwrap().is_some());
    let mut cancels = 0;
    let count = |facts: &[Fact]| {
        let is_cancel = |f: &&Fact| {
            matches!(f.kind, FactKind::GameplayEvent { .. })
                || matches!(f.kind, FactKind::Cast { step: CastStep::Cancelled, .. })
        };
        facts.iter().filter(is_cancel).count()
    };
    let (mut ana, mut all) = (NetFacts::default(), Vec::new());
    for _ in 0..60 {
        let was_denied = g.ana().counts().rejected > 0;
        g.net.step();
        let is_denied = g.ana().counts().rejected > 0;
        g.net.client_mut("Ana").take_facts(&mut ana);
        all.extend(ana.iter().filter(|(_, c)| *c == Certainty::Predicted).map(|(f, _)| *f));
        cancels += count(&all);
        if is_denied && !was_denied {
            assert!(g.ana().sim().cast(hero).unwrap().is_none(), "with the denial");
            assert_eq!(g.ana().sim().activations(hero).unwrap().count(), 0);
        }
    }
    assert_eq!((g.ana().counts().rejected, cancels), (1, 0));
    let [_, server, ben] = mispredicted(&mut g);
    let is_told = |f: &&Fact| matches!(f.kind, FactKind::Mispredicted { ability: of } if of == ability);
    assert_eq!(all.iter().filter(is_told).count(), 1, "on the owner");
    assert_eq!((server, ben), (vec![ability], vec![]), "and on the server, but on no observer");
}

#[test]
fn every_denied_prediction_is_a_fact_on_owner_and_server() {
    // Without OnMispredicted tasks, and for an ability that the server has revoked.
    let mut g = game([Ability::new("GA_Jab").gcd(1.0)]);
    let (hero, ability) = (g.hero, g.ability("GA_Jab"));
    mispredicted(&mut g);
    g.net.server_mut().sim_mut().run(Op::Revoke { who: hero, which: Which::Ability(ability) }).unwrap();
    g.cast("GA_Jab", Target::None).unwrap();
    g.net.run(60);
    assert_eq!(mispredicted(&mut g), [vec![ability], vec![ability], vec![]]);
    assert_eq!(g.net.server().counts().iter().collect::<Vec<_>>(), [(RejectReason::Ability, 1)]);
    // An accepted one is none.
    g.bolt();
    g.net.run(60);
    assert_eq!(mispredicted(&mut g), [vec![], vec![], vec![]]);
    assert_eq!(g.net.server().anomaly(g.net.players()[0].peer().unwrap()).unwrap().0, 0.0);
    g.assert_equal();
}

// covers: SAI-2.7-06
#[test]
fn only_the_server_interrupts_and_the_cast_ends_everywhere() {
    let mut beam = Ability::new("GA_Beam").cast(5.0, 5);
    beam.on_interrupt.push(event("Event.Interrupt"));
    beam.on_simulated_interrupt.push(event("Event.Seen"));
    let mut g = game([beam]);
    let hero = g.hero;
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(30);
    let interrupt = Op::Interrupt { who: hero, which: None };
    for mut sim in [g.ana().sim().clone(), g.net.client("Ben").sim().clone()] {
        let before = sim.row_hash(hero).unwrap();
        assert_eq!(sim.run(interrupt.clone()), Err(Refusal::Authority));
        assert_eq!(sim.row_hash(hero).unwrap(), before);
    }
    assert!(g.ana().sim().cast(hero).unwrap().is_some(), "nothing is predicted");
    g.net.client_mut("Ben").take_facts(&mut NetFacts::default());
    g.net.server_mut().sim_mut().run(interrupt).unwrap();
    assert!(g.net.server().sim().cast(hero).unwrap().is_none());
    g.net.run(30);
    assert!(g.ana().sim().cast(hero).unwrap().is_none());
    let mut ben = NetFacts::default();
    g.net.client_mut("Ben").take_facts(&mut ben);
    let seen = ben.iter().filter(|(f, _)| matches!(f.kind, FactKind::GameplayEvent { .. })).count();
    assert_eq!(seen, 1, "observers run the list of an interrupt");
    g.assert_equal();
}

// covers: SAI-2-02
#[test]
fn a_scripted_run_emits_the_facts_of_all_nine_callbacks() {
    let beam = || Ability::new("GA_Beam").cast(0.3, 3).charges(9, 60.0).gcd(0.1);
    let mut g = game([beam().cost("GE_Cost"), Ability::new("GA_Unheld")]);
    let (hero, beam, extra) = (g.hero, g.ability("GA_Beam"), g.ability("GA_Unheld"));
    let which = Which::Ability(beam);
    let mut server = Facts::default();
    g.net.server_mut().take_facts(&mut server);
    g.facts();
    // Removed and added again.
    for op in [
        Op::Revoke { who: hero, which: Which::Ability(extra) },
        Op::Grant { who: hero, grant: AbilityGrant::new(extra) },
    ] {
        g.net.server_mut().sim_mut().run(op).unwrap();
    }
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(60);
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(10);
    g.net.client_mut("Ana").command(Request::Cancel { who: hero, ability: beam }).unwrap();
    g.net.run(30);
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(12);
    g.net.server_mut().sim_mut().run(Op::Interrupt { who: hero, which: Some(which) }).unwrap();
    g.net.run(30);
    spend_rest(&mut g);
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(60);
    g.net.server_mut().take_facts(&mut server);
    type Callback = (&'static str, fn(&FactKind) -> bool);
    let callbacks: [Callback; 9] = [
        ("added", |k| matches!(k, FactKind::Granted { .. })),
        ("removed", |k| matches!(k, FactKind::Revoked { .. })),
        ("tick", |k| matches!(k, FactKind::Cast { step: CastStep::Tick, .. })),
        ("mispredicted", |k| matches!(k, FactKind::Mispredicted { .. })),
        ("cancelled", |k| matches!(k, FactKind::AbilityEnded { cancelled: true, interrupted: false, .. })),
        ("interrupted", |k| matches!(k, FactKind::AbilityEnded { interrupted: true, .. })),
        ("cast state", |k| matches!(k, FactKind::Cast { step: CastStep::Started | CastStep::Finished, .. })),
        ("global cooldown", |k| matches!(k, FactKind::GlobalCooldown { .. })),
        ("charges", |k| matches!(k, FactKind::Charges { .. })),
    ];
    for (name, is) in callbacks {
        assert!(server.list.iter().any(|f| f.who == hero && is(&f.kind)), "{name}");
    }
    let own = g.facts();
    for (name, is) in callbacks.into_iter().filter(|(name, _)| !["added", "removed", "interrupted"].contains(name)) {
        assert!(own.iter().any(|(f, _)| f.who == hero && is(&f.kind)), "{name} on the owner");
    }
}

/// Takes the mana on the server that is left; the client has not received that.
fn spend_rest(g: &mut Game) {
    let (hero, cost) = (g.hero, g.effect("GE_Cost"));
    while g.truth(hero, "Mana") > 0.0 {
        g.net.server_mut().sim_mut().apply(&Spec::new(cost, hero)).unwrap();
    }
}

// covers: SAI-2.1-02
#[test]
fn requests_for_remote_actors_and_unknown_abilities_are_refused() {
    let mut g = game([]);
    let (hero, other, bolt) = (g.hero, g.other, g.ability("GA_Bolt"));
    let use_of = |who, ability| Request::Activate { who, ability, target: Target::None };
    let unknown = [AbilityId(9999), g.ability("GA_Unused")];
    let ana = g.net.client_mut("Ana");
    assert_eq!(ana.command(use_of(other, bolt)).unwrap_err(), Refusal::Authority, "a remote actor");
    for ability in unknown {
        let refusal = ana.command(use_of(hero, ability)).unwrap_err();
        assert!(matches!(refusal, Refusal::NotGranted | Refusal::UnknownName { .. }), "{refusal:?}");
    }
    assert_eq!(ana.pending_commands(), 0, "nothing is sent");
    // A modified client sends them.
    let sim = g.net.server().sim();
    let (owned, movement) = ([hero], MovementConfig::default());
    let at = sim.now();
    let validator = CommandValidator { sim, owned: &owned, target_policy: &AuthoredRange, movement: &movement, at };
    let judge = |request: Request| {
        let command = Command { tick: Tick(1), base: 1, sub: 0, request, aim: None };
        validator.validate(&command).unwrap_err()
    };
    assert_eq!(judge(use_of(other, bolt)), (RejectReason::Authority, Refusal::Authority));
    for ability in unknown {
        assert_eq!(judge(use_of(hero, ability)), (RejectReason::Ability, Refusal::NotGranted));
    }
}

// covers: SAI-2.2-01
#[test]
fn a_client_uses_abilities_only_after_its_state_has_arrived() {
    let rules = builder().build().unwrap();
    let mut sim = Sim::new(rules.clone(), ugas_core::SimConfig::default());
    let who = sim.spawn(ugas_core::SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let ability = rules.ability("GA_Haste").unwrap();
    sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
    // On the server the ability is usable as soon as it is granted.
    assert_eq!(sim.check(who, ability, Target::None), Ok(()));
    let ask = || Request::Activate { who, ability, target: Target::None };
    let mut lone = Client::new(rules.clone(), ClientConfig::default());
    assert_eq!(lone.command(ask()).unwrap_err(), Refusal::NotInitialized, "not connected");
    let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
    net.join("Ana", LinkProfile::round_trip(100, 0), &[who]).unwrap();
    let mut welcomed = 0;
    while !net.client("Ana").sim().exists(who) {
        let ana = net.client_mut("Ana");
        welcomed += u32::from(*ana.state() == ClientState::Playing);
        assert_eq!(ana.command(ask()).unwrap_err(), Refusal::NotInitialized);
        let release = Request::Release { who, input: ugas_core::InputId(1) };
        assert_eq!(ana.command(release).unwrap_err(), Refusal::NotInitialized);
        net.step();
    }
    assert!(welcomed > 0, "also between the welcome and the state");
    net.client_mut("Ana").command(ask()).unwrap();
    net.run(30);
    let mana = rules.attribute("Mana").unwrap();
    assert_eq!(net.server().sim().get(who, mana).unwrap(), 80.0, "only the last use was sent");
    assert_eq!(net.server().counts().iter().count(), 0);
}

#[test]
fn a_cast_has_the_same_ticks_on_client_and_server() {
    let cast = Cast { length: 0.5, ticks: Some(5), initial_tick: true, ..Cast::default() };
    let mut g = game([Ability::new("GA_Beam").cast_as(cast)]);
    let mut server = Facts::default();
    g.net.server_mut().take_facts(&mut server);
    g.facts();
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(60);
    g.net.server_mut().take_facts(&mut server);
    let steps = |f: &Fact| match f.kind {
        FactKind::Cast { tick, step, .. } => Some((f.at, tick, step)),
        _ => None,
    };
    let own: Vec<_> =
        g.facts().iter().filter(|(_, c)| *c == Certainty::Predicted).filter_map(|(f, _)| steps(f)).collect();
    assert_eq!(own.len(), 7);
    assert_eq!(own, server.list.iter().filter_map(steps).collect::<Vec<_>>());
    assert_eq!(g.ana().counts().corrections, 0);
}
