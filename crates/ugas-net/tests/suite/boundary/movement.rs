//! How far a client may move its controller.

use super::rig::{LENGTH, MALLORY, Rig, refused};
use ugas_core::{Anchor, Op, SimTime, Target};
use ugas_net::authority::{MovementConfig, RejectReason};
use ugas_net::message::{Command, Request};

fn to(rig: &Rig, x: f64) -> Request {
    Request::Move { who: rig.rogue, anchor: Anchor::at([x, 0.0, 0.0]) }
}

fn place(rig: &Rig) -> f64 {
    rig.server.sim().anchor(rig.rogue).unwrap().unwrap().position[0]
}

#[test]
fn a_teleport_a_stab_and_the_way_back_are_rejected() {
    refused(&[(RejectReason::TooFast, 1), (RejectReason::Target, 1)], |rig| {
        // The rogue stands at 10, the far controller at 800, out of the range of 500.
        let there = rig.command(to(rig, 5_000.0));
        let stab = Command { tick: there.tick, ..rig.command(rig.activate("GA_Bolt", Target::Controller(rig.far))) };
        rig.give(&[there, stab]);
        rig.step();
        assert_eq!(place(rig), 10.0);
    });
}

#[test]
fn a_controller_moves_at_most_its_speed_plus_the_burst() {
    let mut rig = Rig::with(MovementConfig { max_speed: 600.0, ..MovementConfig::default() });
    let from = place(&rig);
    // Ten times as fast as allowed, for five seconds. After each rejection the client goes on from the server's position.
    for _ in 0..300 {
        rig.ask(to(&rig, place(&rig) + 100.0));
    }
    let most = 600.0 * 1.1 * (5.0 + 0.5);
    let moved = place(&rig) - from;
    assert!(moved <= most && moved >= most - 200.0, "{moved} of {most}");
    assert!(rig.server.anomaly(MALLORY).unwrap().is_suspicious() || rig.count(RejectReason::TooFast) == 0);
}

#[test]
fn a_new_connection_starts_with_the_budget_that_the_old_one_left() {
    let mut rig = Rig::with(MovementConfig { max_speed: 600.0, ..MovementConfig::default() });
    let (from, begun) = (place(&rig), rig.server.tick());
    for _ in 0..8 {
        (0..10).for_each(|_| rig.ask(to(&rig, place(&rig) + 100.0)));
        rig.rejoin();
    }
    let seconds = f64::from(rig.server.tick().0 - begun.0) / 60.0;
    let (moved, most) = (place(&rig) - from, 600.0 * 1.1 * (seconds + 0.5));
    assert!(moved <= most && moved >= 500.0, "{moved} of {most}");
}

#[test]
fn an_honest_runner_is_never_rejected_on_a_bad_link() {
    // The moves of 20 ticks arrive together, again and again.
    let mut rig = Rig::with(MovementConfig { max_speed: 600.0, ..MovementConfig::default() });
    let mut x = place(&rig);
    for _ in 0..20 {
        for tick in 0..20 {
            x += 10.0;
            if tick == 19 {
                rig.ask(to(&rig, x));
            } else {
                rig.step();
            }
        }
    }
    assert_eq!((place(&rig), rig.server.counts().iter().count()), (x, 0));
}

#[test]
fn a_move_after_a_long_interruption_is_rejected_but_no_offence() {
    let mut rig = Rig::with(MovementConfig { max_speed: 600.0, ..MovementConfig::default() });
    let x = place(&rig);
    rig.ask(to(&rig, x + 10.0));
    rig.run_to(rig.server.tick().0 + 120);
    for n in 0..10 {
        // Two seconds of movement that the server has not seen.
        rig.ask(to(&rig, x + 1_200.0 + 10.0 * f64::from(n)));
    }
    assert_eq!(rig.server.counts().iter().collect::<Vec<_>>(), [(RejectReason::MoveBacklog, 10)]);
    assert_eq!(rig.server.anomaly(MALLORY).unwrap().0, 0.0);
}

#[test]
fn the_host_may_teleport_a_controller() {
    let mut rig = Rig::with(MovementConfig { max_speed: 600.0, ..MovementConfig::default() });
    let who = rig.rogue;
    rig.ask(to(&rig, 20.0));
    rig.server.sim_mut().run(Op::Move { who, anchor: Some(Anchor::at([9_000.0, 0.0, 0.0])) }).unwrap();
    // A move from the old position that was in flight.
    rig.ask(to(&rig, 30.0));
    assert_eq!(rig.server.counts().iter().collect::<Vec<_>>(), [(RejectReason::MoveBacklog, 1)]);
    rig.ask(to(&rig, 9_300.0));
    assert_eq!(place(&rig), 9_300.0, "the budget is full at the new position");
    assert_eq!(rig.server.anomaly(MALLORY).unwrap().0, 0.0);
}

#[test]
fn an_authored_speed_replaces_the_configured_one() {
    // Mana stands in for an attribute of the game: 1000 per second.
    let movement = MovementConfig { speed_attribute: "Mana".into(), max_speed: 1.0, ..MovementConfig::default() };
    let mut rig = Rig::with(MovementConfig { burst: SimTime(LENGTH.0 * 6), ..movement });
    rig.ask(to(&rig, 10.0 + 100.0));
    assert_eq!(place(&rig), 110.0, "100 of 110");
    let mana = rig.rules.attribute("Mana").unwrap();
    let slow = ugas_core::Spec::new(rig.effect("GE_Slow"), rig.rogue);
    rig.server.sim_mut().apply(&slow).unwrap();
    assert_eq!(rig.server.sim().get(rig.rogue, mana).unwrap(), 0.0);
    // The client has known of the root for a while.
    rig.run_to(rig.server.tick().0 + 150);
    rig.ask(to(&rig, 130.0));
    assert_eq!((place(&rig), rig.count(RejectReason::TooFast)), (110.0, 1), "a rooted controller does not move");
}
