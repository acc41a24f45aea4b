//! Casts whose ticks wait for the target that the client chose in the same tick (`TickData: Required`).

use crate::kit::{Game, Setup, builder};
use ugas_core::{
    AbilityGrant, Anchor, CastStep, ControllerId, FactKind, Facts, Op, OpId, Refusal, Role, Rules, Sim, SimConfig,
    SimTime, SpawnSpec, Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Cast, NetExecution, TickData};
use ugas_net::authority::RejectReason;

/// Each predicted tick targets the nearest actor, each server tick hits the target. A tick each 0.2 s.
fn seeker(ticks: u32) -> Ability {
    let cast = Cast {
        length: 0.2 * f64::from(ticks),
        ticks: Some(ticks),
        tick_data: TickData::Required,
        ..Default::default()
    };
    let mut seeker = Ability::new("GA_Seek").cast_as(cast);
    seeker.max_range = Some(500.0);
    seeker.on_predicted_tick.push(AbilityTask::new("SetTarget").param("Target", "Nearest"));
    seeker.on_server_tick.push(AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Other"));
    seeker
}

fn game(ticks: u32) -> Game {
    let mut g = Game::new(Setup { builder: builder().add(seeker(ticks)), ..Setup::default() });
    move_to(&mut g, |g| g.other, 450.0);
    g.net.run(30);
    g.net.server_mut().take_facts(&mut Facts::default());
    g
}

fn move_to(g: &mut Game, who: fn(&Game) -> ControllerId, x: f64) {
    let (who, anchor) = (who(g), Some(Anchor::at([x, 0.0, 0.0])));
    g.net.server_mut().sim_mut().run(Op::Move { who, anchor }).unwrap();
}

/// The ticks and skipped ticks of the cast on the server since the last call, in milliseconds after `start`.
fn steps(g: &mut Game, start: SimTime) -> Vec<(CastStep, u32, i64)> {
    let mut facts = Facts::default();
    g.net.server_mut().take_facts(&mut facts);
    let of = |f: &ugas_core::Fact| match f.kind {
        FactKind::Cast { step, tick, .. } if step != CastStep::Started => {
            Some((step, tick, ((f.at - start).as_seconds() * 1000.0).round() as i64))
        }
        _ => None,
    };
    facts.list.iter().filter_map(of).collect()
}

fn hits(g: &Game) -> (f64, f64) {
    (100.0 - g.truth(g.foe, "Health"), 100.0 - g.truth(g.other, "Health"))
}

// covers: SAI-2.5-10
#[test]
fn data_that_arrives_early_is_kept_until_the_servers_tick() {
    let mut g = game(3);
    let start = g.ana().sim().now();
    g.cast("GA_Seek", Target::None).unwrap();
    g.net.run(6);
    // On the server another actor is nearer; the client has not received that when it aims the first tick.
    move_to(&mut g, |g| g.other, 1.0);
    let until = g.net.now() + SimTime::millis(150);
    g.net.players_mut()[0].down.cut(until);
    g.net.run(90);
    let tick = |n: u32| (CastStep::Tick, n, 200 * i64::from(n));
    assert_eq!(steps(&mut g, start), [tick(1), tick(2), tick(3), (CastStep::Finished, 3, 600)], "at the tick times");
    assert_eq!(hits(&g), (2.0, 1.0), "each tick hits the target that the client chose in it");
    assert_eq!(g.net.server().counts().iter().collect::<Vec<_>>(), []);
    g.assert_equal();
}

#[test]
fn the_target_of_the_last_tick_with_the_previous_targets_is_not_used_instead() {
    // With `Latest`, a tick without data hits the last target that the client sent.
    let mut latest = seeker(2);
    latest.cast.as_mut().unwrap().tick_data = TickData::Latest;
    for (ability, foe) in [(seeker(2), 1.0), (latest, 2.0)] {
        let mut g = Game::new(Setup { builder: builder().add(ability), ..Setup::default() });
        move_to(&mut g, |g| g.other, 450.0);
        g.net.run(30);
        g.cast("GA_Seek", Target::None).unwrap();
        g.net.run(20);
        // The data of the second tick is lost, and the client is gone for longer than commands may be late.
        g.net.interrupt_link("Ana", SimTime::millis(900));
        g.net.run(120);
        assert_eq!(hits(&g), (foe, 0.0));
        g.assert_equal();
    }
}

// covers: SAI-2.5-11
#[test]
fn a_tick_whose_data_is_late_runs_on_arrival_until_the_next_tick() {
    // The link is cut from before the first tick for a time; the data of the tick arrives after that.
    let cast = |cut: i64| {
        let mut g = game(3);
        let start = g.ana().sim().now();
        g.cast("GA_Seek", Target::None).unwrap();
        g.net.run(8);
        let until = g.net.now() + SimTime::millis(cut);
        g.net.players_mut()[0].up.cut(until);
        g.net.run(120);
        let seen = steps(&mut g, start);
        let late = g.net.server().counts().of(RejectReason::Past);
        let hits = hits(&g).0;
        g.assert_equal();
        (seen, hits, late)
    };
    let (on_time, hits, _) = cast(0);
    assert_eq!((on_time[0], on_time.len(), hits), ((CastStep::Tick, 1, 200), 4, 3.0));
    // Before the second tick: it runs late, once, and the second is on time.
    let (seen, hits, late) = cast(230);
    let (step, tick, at) = seen[0];
    assert_eq!((step, tick, late), (CastStep::Tick, 1, 0), "{seen:?}");
    assert!((201..400).contains(&at), "{seen:?}");
    assert_eq!((&seen[1..3], hits), (&[(CastStep::Tick, 2, 400), (CastStep::Tick, 3, 600)][..], 3.0));
    // After the second tick: skipped, and ignored when it arrives.
    let (seen, hits, _) = cast(420);
    assert_eq!(seen[0], (CastStep::Skipped, 1, 400), "{seen:?}");
    let ticks = seen.iter().filter(|(step, tick, _)| *step == CastStep::Tick && *tick == 1).count();
    assert_eq!((ticks, hits), (0, seen.iter().filter(|s| s.0 == CastStep::Tick).count() as f64), "{seen:?}");
    assert_eq!(seen.last().unwrap().0, CastStep::Finished);
}

#[test]
fn the_last_tick_waits_for_its_data_for_one_interval() {
    for (cut, is_run) in [(200, true), (900, false)] {
        let mut g = game(1);
        let (hero, start) = (g.hero, g.ana().sim().now());
        g.cast("GA_Seek", Target::None).unwrap();
        g.net.run(8);
        let until = g.net.now() + SimTime::millis(cut);
        g.net.players_mut()[0].up.cut(until);
        let owed = g.net.run_until(60, |net| net.server().sim().cast(hero).unwrap().is_some_and(|c| c.owed));
        assert!(owed.is_some());
        // No other cast starts meanwhile.
        let refusal = g.net.server().sim().check(hero, g.ability("GA_Seek"), Target::None).unwrap_err();
        assert!(matches!(refusal, Refusal::AlreadyActive { .. } | Refusal::Casting { .. }), "{refusal:?}");
        g.net.run(120);
        let seen = steps(&mut g, start);
        if is_run {
            assert_eq!((seen[0].0, seen[1].0, hits(&g).0), (CastStep::Tick, CastStep::Finished, 1.0));
            assert!((201..400).contains(&seen[0].2), "{seen:?}");
        } else {
            assert_eq!(seen, [(CastStep::Skipped, 1, 400), (CastStep::Finished, 1, 400)]);
            assert_eq!(hits(&g).0, 0.0);
        }
        assert!(g.net.server().sim().cast(hero).unwrap().is_none());
        g.assert_equal();
    }
}

#[test]
fn data_of_an_invalid_target_is_rejected_and_its_tick_is_skipped() {
    let mut g = game(2);
    let start = g.ana().sim().now();
    g.cast("GA_Seek", Target::None).unwrap();
    g.net.run(2);
    // Out of range on the server; the client has not received that when it aims.
    let until = g.net.now() + SimTime::millis(250);
    g.net.players_mut()[0].down.cut(until);
    move_to(&mut g, |g| g.foe, 5000.0);
    g.net.run(90);
    assert!(g.net.server().counts().of(RejectReason::Target) > 0);
    let seen = steps(&mut g, start);
    assert!(seen.contains(&(CastStep::Skipped, 1, 400)), "{seen:?}");
    assert_eq!(g.truth(g.foe, "Health"), 100.0);
}

fn sim_of(rules: &std::sync::Arc<Rules>, role: Role) -> (Sim, ControllerId, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig { role, ..SimConfig::default() });
    let vitals = rules.set("Vitals").unwrap();
    let [who, foe] = [0.0, 5.0].map(|x| {
        let anchor = Some(Anchor::at([x, 0.0, 0.0]));
        sim.spawn(SpawnSpec { anchor, ..SpawnSpec::sets([vitals]) }).unwrap()
    });
    sim.run(Op::Grant { who, grant: AbilityGrant::new(rules.ability("GA_Seek").unwrap()) }).unwrap();
    (sim, who, foe)
}

#[test]
fn ticks_wait_only_for_the_client_that_activated_the_ability() {
    let rules = builder().add(seeker(2)).build().unwrap();
    let which = Which::Ability(rules.ability("GA_Seek").unwrap());
    let ticks = |sim: &mut Sim| {
        sim.advance_to(sim.now() + SimTime::seconds(2.0));
        let mut facts = Facts::default();
        sim.take_facts(&mut facts);
        let is = |step: CastStep| {
            facts.list.iter().filter(|f| matches!(f.kind, FactKind::Cast { step: s, .. } if s == step)).count()
        };
        (is(CastStep::Tick), is(CastStep::Skipped), is(CastStep::Finished))
    };
    // Alone, by the host of a server, by a client that does not own the controller, and by one that has left.
    for (role, client, owner) in [
        (Role::Standalone, 3, Some(3)),
        (Role::Authority, 0, Some(3)),
        (Role::Authority, 3, Some(4)),
        (Role::Authority, 3, None),
    ] {
        let (mut sim, who, foe) = sim_of(&rules, role);
        owner.into_iter().for_each(|client| sim.remote_mut().set_roll_owner(who, client));
        let op = Op::Activate { who, which, target: Target::Controller(foe) };
        match client {
            0 => sim.run(op).unwrap(),
            _ => sim.run_as(OpId::new(client, 1, 0), &op).unwrap(),
        };
        assert_eq!(ticks(&mut sim), (2, 0, 1), "{role:?} {client} {owner:?}");
    }
    // By its client, whose data never arrives.
    let (mut sim, who, foe) = sim_of(&rules, Role::Authority);
    sim.remote_mut().set_roll_owner(who, 3);
    sim.run_as(OpId::new(3, 1, 0), &Op::Activate { who, which, target: Target::Controller(foe) }).unwrap();
    assert_eq!(ticks(&mut sim), (0, 2, 1));
}

#[test]
fn an_owed_tick_is_saved_and_continues_after_a_load() {
    let rules = builder().add(seeker(2)).build().unwrap();
    let which = Which::Ability(rules.ability("GA_Seek").unwrap());
    let health = rules.attribute("Health").unwrap();
    let (mut sim, who, foe) = sim_of(&rules, Role::Authority);
    sim.remote_mut().set_roll_owner(who, 3);
    sim.run_as(OpId::new(3, 1, 0), &Op::Activate { who, which, target: Target::None }).unwrap();
    let key = sim.activations(who).unwrap().next().unwrap().key;
    let aim = |tick| Op::Aim { key, target: Target::Controller(foe), tick: Some(tick) };
    sim.advance_to(SimTime::seconds(0.3));
    assert!(sim.cast(who).unwrap().unwrap().owed);
    // The data of the second tick is early.
    sim.run_as(OpId::new(3, 2, 0), &aim(2)).unwrap();
    let hash = sim.row_hash(who).unwrap();
    let portable = sim.extract(who).unwrap();
    let text = serde_json::to_string(&portable).unwrap();
    sim.insert(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(sim.row_hash(who).unwrap(), hash);
    assert!(sim.cast(who).unwrap().unwrap().owed);
    sim.run_as(OpId::new(3, 3, 0), &aim(1)).unwrap();
    assert_eq!(sim.get(foe, health).unwrap(), 99.0, "the owed tick runs on arrival");
    sim.run_as(OpId::new(3, 4, 0), &aim(1)).unwrap();
    assert_eq!(sim.get(foe, health).unwrap(), 99.0, "once");
    sim.advance_to(SimTime::seconds(0.5));
    assert_eq!(sim.get(foe, health).unwrap(), 98.0, "the second runs at its time with the kept data");
    assert!(sim.cast(who).unwrap().is_none());
}

#[test]
fn required_data_needs_a_predicting_client_that_sets_the_target() {
    let error = |ability: Ability| builder().add(ability).build().unwrap_err().to_string();
    let mut blind = seeker(2);
    blind.on_predicted_tick.clear();
    assert!(error(blind).contains("OnPredictedTick"));
    assert!(error(seeker(2).net(NetExecution::ServerInitiated)).contains("LocalPredicted"));
}
