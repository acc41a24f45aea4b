//! The stream of commands and moves from a client: its size, and what happens when a part of it is lost.

use crate::kit::{Game, Setup};
use std::sync::Arc;
use ugas_core::{AbilityGrant, Anchor, ControllerId, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target};
use ugas_doc::{Ability, Attribute, AttributeSet, ControllerReplication};
use ugas_net::authority::RejectReason;
use ugas_net::client::CommandStatus;
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

/// The bytes of the UDP and IPv4 headers of a datagram.
const UDP: u64 = 28;

fn rules() -> Arc<Rules> {
    let set = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
    Rules::builder().add(set).add(Ability::new("GA_Click")).build().unwrap()
}

fn session(movers: usize, profile: LinkProfile, seed: u64) -> (Harness, Vec<ControllerId>) {
    let rules = rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let grant = || AbilityGrant::new(rules.ability("GA_Click").unwrap());
    let mut spawn = |n: usize| {
        let anchor = Some(place(n, 0));
        let who = sim.spawn(SpawnSpec { anchor, ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) }).unwrap();
        sim.run(Op::Grant { who, grant: grant() }).unwrap();
        who
    };
    let heroes: Vec<ControllerId> = (0..movers).map(&mut spawn).collect();
    let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
    let mut play = Harness::new(Server::new(sim, config, Secret::known(1)), seed);
    play.join("Ana", profile, &heroes).unwrap();
    play.run(240);
    (play, heroes)
}

/// Walks in a circle at five units per second and turns with it, far from the origin.
#[expect(clippy::disallowed_methods, reason = "the last bit of a sine does not matter: poses are rounded")]
fn place(mover: usize, tick: u32) -> Anchor {
    let (radius, angle) = (8.0, f64::from(tick) / 60.0 * 5.0 / 8.0 + mover as f64);
    let position = [900.0 + 40.0 * mover as f64 + radius * angle.cos(), 2.0, -700.0 + radius * angle.sin()];
    Anchor { position, facing: [-angle.sin(), 0.0, angle.cos()] }
}

/// The result of ten seconds in which every controller moves in every tick, and one of them clicks twice a second.
#[derive(Debug)]
struct Ride {
    /// Thousand bits per second to the server, with UDP and IP headers.
    kilobits: f64,
    corrections: u64,
    rejected: u64,
    /// The bytes of the largest datagram.
    largest: u64,
}

fn ride(movers: usize, profile: LinkProfile, seed: u64) -> Ride {
    let (mut play, heroes) = session(movers, profile, seed);
    let ability = play.server().sim().rules().ability("GA_Click").unwrap();
    let before = (*play.player("Ana").up.counts(), play.client("Ana").counts().corrections);
    let mut largest = 0;
    for tick in 0..600 {
        for (n, &who) in heroes.iter().enumerate() {
            play.client_mut("Ana").command(Request::Move { who, anchor: place(n, tick) }).unwrap();
        }
        if tick % 30 == 7 {
            let request = Request::Activate { who: heroes[0], ability, target: Target::None };
            play.client_mut("Ana").command(request).unwrap();
        }
        let bytes = play.player("Ana").up.counts().bytes;
        play.step();
        largest = largest.max(play.player("Ana").up.counts().bytes - bytes);
    }
    let (up, corrections) = before;
    let after = *play.player("Ana").up.counts();
    let bytes = after.bytes - up.bytes + UDP * (after.sent - up.sent);
    let result = Ride {
        kilobits: bytes as f64 * 8.0 / 10.0 / 1000.0,
        corrections: play.client("Ana").counts().corrections - corrections,
        rejected: [RejectReason::Past, RejectReason::Key, RejectReason::CommandRate, RejectReason::Payload]
            .map(|reason| play.server().counts().of(reason))
            .iter()
            .sum(),
        largest,
    };
    play.restore_links();
    play.run(60);
    for &who in &heroes {
        let server = play.server().sim().row_hash(who).unwrap();
        assert_eq!(play.client("Ana").confirmed_hash(who), Some(server), "client and server agree at the end");
    }
    result
}

fn links() -> [(&'static str, LinkProfile); 4] {
    let at = |round_trip: i64, link: LinkProfile| LinkProfile { latency: SimTime::millis(round_trip / 2), ..link };
    [
        ("good, 100 ms", at(100, LinkProfile::GOOD)),
        ("good, 200 ms", at(200, LinkProfile::GOOD)),
        ("mobile, 100 ms", at(100, LinkProfile::MOBILE)),
        ("mobile, 200 ms", at(200, LinkProfile::MOBILE)),
    ]
}

#[test]
fn one_mover_takes_at_most_48_kilobits_and_16_take_at_most_120() {
    for (movers, most) in [(1, 48.0), (2, 60.0), (16, 120.0)] {
        for (name, profile) in links() {
            let ride = ride(movers, profile, 5);
            println!("{movers} movers, {name}: {ride:?}");
            assert!(ride.kilobits <= most, "{movers} movers, {name}: {ride:?}");
            assert_eq!(ride.rejected, 0, "{movers} movers, {name}: {ride:?}");
            // Without an acknowledged pose to refer to, poses are written in full.
            assert!(ride.largest <= 400, "{movers} movers, {name}: {ride:?}");
        }
    }
}

#[test]
fn a_mover_on_a_good_link_is_hardly_ever_corrected() {
    for (name, profile) in &links()[..2] {
        let corrections: u64 = (1..=4).map(|seed| ride(1, *profile, seed).corrections).sum();
        assert!(corrections <= 4, "{name}: {corrections} corrections in 40 seconds");
    }
}

#[test]
fn the_last_move_arrives_after_any_loss() {
    for seed in 1..=10 {
        let (mut play, heroes) = session(1, LinkProfile::TORTURE, seed);
        for tick in 0..60 {
            play.client_mut("Ana").command(Request::Move { who: heroes[0], anchor: place(0, tick) }).unwrap();
            play.step();
        }
        play.interrupt_link("Ana", SimTime::seconds(1.5));
        play.run(300);
        let at = |sim: &Sim| sim.anchor(heroes[0]).unwrap().unwrap();
        assert_eq!(at(play.server().sim()), at(play.client("Ana").sim()), "seed {seed}");
        let error = (0..3).map(|i| (at(play.server().sim()).position[i] - place(0, 59).position[i]).abs());
        assert!(error.fold(0.0, f64::max) <= 0.5 / 256.0, "the pose is rounded to 1/256");
    }
}

#[test]
fn a_command_runs_at_the_pose_it_was_issued_at() {
    // The bolt reaches 500 units; the foe is at 400.
    let mut g = Game::new(Setup::default());
    let (who, target) = (g.hero, Target::Controller(g.foe));
    let walk = |g: &mut Game, x: f64| {
        let anchor = Anchor::at([x, 0.0, 0.0]);
        let status = g.net.client_mut("Ana").command(Request::Move { who, anchor });
        assert!(matches!(status, Ok(CommandStatus::Predicted(..))), "{status:?}");
    };
    // In range, then away within the same tick.
    assert!(matches!(g.cast("GA_Bolt", target), Ok(CommandStatus::Predicted(..))));
    walk(&mut g, -300.0);
    g.net.run(60);
    assert_eq!(g.truth(g.foe, "Health"), 75.0, "the bolt ran before the move");
    assert_eq!(g.net.server().counts().of(RejectReason::Target), 0);
    // Back, then the bolt, within the same tick.
    walk(&mut g, 0.0);
    assert!(matches!(g.cast("GA_Bolt", target), Ok(CommandStatus::Predicted(..))));
    g.net.run(60);
    assert_eq!(g.truth(g.foe, "Health"), 50.0, "the bolt ran after the move");
    assert_eq!((g.ana().counts().corrections, g.ana().counts().rejected), (0, 0));
    g.assert_equal();
}

#[test]
fn a_standing_controller_sends_no_moves() {
    let (mut play, heroes) = session(1, LinkProfile::round_trip(100, 0), 1);
    let stand = |play: &mut Harness| {
        let before = play.player("Ana").up.counts().bytes;
        for _ in 0..60 {
            play.client_mut("Ana").command(Request::Move { who: heroes[0], anchor: place(0, 9) }).unwrap();
            play.step();
        }
        play.player("Ana").up.counts().bytes - before
    };
    stand(&mut play);
    let idle = stand(&mut play);
    let before = play.player("Ana").up.counts().bytes;
    play.run(60);
    assert_eq!(idle, play.player("Ana").up.counts().bytes - before);
    assert_eq!(play.client("Ana").counts().corrections, 0);
}
