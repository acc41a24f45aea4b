//! The prediction window and the queue: no request of a player is dropped because of the round trip or the tick length.

use crate::kit::{Game, Setup};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ControllerId, FactKind, Facts, InputId, Op, Refusal, Rules, Sim, SimConfig, SimTime, SpawnSpec,
    Target,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet};
use ugas_net::authority::RejectReason;
use ugas_net::client::{ClientState, CommandStatus, QueueResult};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

const KEY: InputId = InputId(3);

fn rules() -> Arc<Rules> {
    let lasting = Ability::new("GA_Long").task(AbilityTask::new("WaitDelay").param("Duration", 60.0));
    let set = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
    Rules::builder().add(set).add(Ability::new("GA_Click")).add(lasting).build().unwrap()
}

/// A session of one client at a tick rate, after two seconds.
fn session(rate: i64, profile: LinkProfile, seed: u64) -> (Harness, ControllerId) {
    let rules = rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let grant = AbilityGrant::new(rules.ability("GA_Click").unwrap()).input(KEY);
    sim.run(Op::Grant { who: hero, grant }).unwrap();
    sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(rules.ability("GA_Long").unwrap()) }).unwrap();
    let config = ServerConfig { tick_length: SimTime::frames(1, rate), ..ServerConfig::default() };
    let mut play = Harness::new(Server::new(sim, config, Secret::known(1)), seed);
    play.join("Ana", profile, &[hero]).unwrap();
    play.run(2 * rate as u32);
    let is_ready = |play: &Harness| play.client("Ana").confirmed_tick(hero).is_some();
    assert!(play.run_until(20 * rate as u32, is_ready).is_some(), "Ana joins");
    assert_eq!(*play.client("Ana").state(), ClientState::Playing);
    (play, hero)
}

/// Returns how many abilities of a controller the server activated since the last call.
fn activated(play: &mut Harness, who: ControllerId) -> u32 {
    let mut facts = Facts::default();
    play.server_mut().take_facts(&mut facts);
    let is_activation = |f: &&ugas_core::Fact| f.who == who && matches!(f.kind, FactKind::AbilityActivated { .. });
    facts.list.iter().filter(is_activation).count() as u32
}

/// The result of a session in which Ana clicks four times a second.
struct Clicks {
    clicks: u32,
    refused: u32,
    queued: u64,
    ran: u32,
    late: u64,
}

fn click(rate: i64, profile: LinkProfile, seconds: i64, seed: u64) -> Clicks {
    let (mut play, hero) = session(rate, profile, seed);
    let ability = play.server().sim().rules().ability("GA_Click").unwrap();
    activated(&mut play, hero);
    let (mut clicks, mut refused, mut ran) = (0, 0, 0);
    for tick in 0..seconds * rate {
        if tick % (rate / 4).max(1) == 0 {
            clicks += 1;
            let request = Request::Activate { who: hero, ability, target: Target::None };
            refused += u32::from(play.client_mut("Ana").command(request).is_err());
        }
        play.step();
        ran += activated(&mut play, hero);
    }
    play.restore_links();
    for _ in 0..2 * rate {
        play.step();
        ran += activated(&mut play, hero);
    }
    let late = play.server().counts().of(RejectReason::Past) + play.server().counts().of(RejectReason::Future);
    assert_eq!(play.client("Ana").queued_commands(), 0, "the queue is empty at the end");
    Clicks { clicks, refused, queued: play.client("Ana").counts().queued, ran, late }
}

#[test]
fn no_click_is_dropped_up_to_400_ms_on_any_link_at_any_rate() {
    let mut faults = Vec::new();
    for rate in [10, 20, 30, 60, 128] {
        for (name, link) in LinkProfile::ALL {
            for round_trip in [0, 100, 250, 400] {
                let profile = LinkProfile { latency: SimTime::millis(round_trip / 2), ..link };
                let Clicks { clicks, refused, queued, ran, late } = click(rate, profile, 5, 7);
                // A client on a link without loss never has to wait.
                let waits = link.loss == 0.0 && queued > 0;
                if refused + (clicks - ran) > 0 || late > 0 || waits {
                    faults.push(format!(
                        "{rate} Hz, {name}, {round_trip} ms: {ran} of {clicks} ran, {refused} refused, {queued} queued, \
                         {late} out of time"
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_window_follows_the_round_trip_and_the_tick_length() {
    let window =
        |rate, round_trip| session(rate, LinkProfile::round_trip(round_trip, 0), 1).0.client("Ana").prediction_window();
    assert_eq!(window(60, 100), 30, "at least half a second");
    let long = window(60, 500);
    assert!((50..=60).contains(&long), "{long} ticks at 500 ms");
    assert!((7..=12).contains(&window(10, 0)), "{} ticks at 10 Hz", window(10, 0));
    // Never longer than two seconds.
    assert!(window(30, 5_000) <= 60);
}

/// A session whose window is closed: the link has been interrupted for a while.
fn closed() -> Game {
    let mut g = Game::new(Setup { window: SimTime::millis(250), profile: LinkProfile::LAN, ..Setup::default() });
    let (who, ability) = (g.hero, g.ability("GA_Haste"));
    let server = g.net.server_mut().sim_mut();
    server.run(Op::Revoke { who, which: ugas_core::Which::Ability(ability) }).unwrap();
    server.run(Op::Grant { who, grant: AbilityGrant::new(ability).input(KEY) }).unwrap();
    g.net.run(60);
    g.net.interrupt_link("Ana", SimTime::seconds(1.0));
    g.net.run(40);
    assert!(!g.ana().can_predict());
    g
}

fn results(g: &mut Game) -> Vec<QueueResult> {
    let mut results = Vec::new();
    g.net.client_mut("Ana").take_queue_results(&mut results);
    results
}

#[test]
fn a_request_beyond_the_window_is_queued_reported_and_run_when_the_window_opens() {
    let mut g = closed();
    let Ok(CommandStatus::Queued(first)) = g.cast("GA_Haste", Target::None) else { panic!("it is queued") };
    let Ok(CommandStatus::Queued(second)) = g.cast("GA_Unused", Target::None) else { panic!("it is queued") };
    assert_eq!((g.ana().queued_commands(), g.ana().counts().queued), (2, 2));
    assert_eq!(g.seen(g.hero, "Mana"), 100.0, "nothing is predicted yet");
    g.net.run(60);
    let results = results(&mut g);
    assert_eq!(results.iter().map(|r| r.id).collect::<Vec<_>>(), [first, second], "in order");
    assert!(matches!(results[0].result, Ok(CommandStatus::Predicted(..))), "{:?}", results[0]);
    assert_eq!(results[1].result, Err(Refusal::NotGranted), "the refusal is reported too");
    g.net.run(60);
    assert_eq!((g.seen(g.hero, "Mana"), g.truth(g.hero, "Mana")), (80.0, 80.0));
    assert_eq!(g.ana().counts().window_closed, 0);
}

#[test]
fn a_release_does_not_overtake_its_queued_press_and_other_releases_are_sent_at_once() {
    let mut g = closed();
    let who = g.hero;
    let ana = g.net.client_mut("Ana");
    let other = Request::Release { who, input: InputId(9) };
    assert!(matches!(ana.command(other.clone()), Ok(CommandStatus::Sent(_))), "nothing is queued");
    let press = ana.command(Request::Press { who, input: KEY, target: Target::None });
    assert!(matches!(press, Ok(CommandStatus::Queued(_))));
    assert!(matches!(ana.command(other), Ok(CommandStatus::Sent(_))), "another input");
    let release = ana.command(Request::Release { who, input: KEY });
    assert!(matches!(release, Ok(CommandStatus::Queued(_))), "{release:?}");
    g.net.run(120);
    let results = results(&mut g);
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|r| matches!(r.result, Ok(CommandStatus::Predicted(..)))), "{results:?}");
    assert_eq!(g.truth(who, "Mana"), 80.0, "the press ran");
    assert_eq!(g.net.server().sim().held_inputs(who).unwrap(), [], "and then the release");
    g.assert_equal();
}

#[test]
fn the_queue_is_bounded_and_can_be_cleared() {
    let mut g = closed();
    let who = g.hero;
    let queued = (0..100).filter(|_| g.cast("GA_Haste", Target::None).is_ok()).count();
    assert_eq!((queued, g.ana().counts().window_closed), (32, 68));
    assert_eq!(g.cast("GA_Haste", Target::None).unwrap_err(), Refusal::PredictionWindowClosed);
    g.net.client_mut("Ana").clear_queue();
    assert_eq!(g.ana().queued_commands(), 0);
    // Of several moves only the last is kept.
    for x in 0..10 {
        let anchor = ugas_core::Anchor::at([f64::from(x), 0.0, 0.0]);
        let status = g.net.client_mut("Ana").command(Request::Move { who, anchor });
        assert!(matches!(status, Ok(CommandStatus::Queued(_))), "{status:?}");
    }
    assert_eq!(g.ana().queued_commands(), 1);
    g.net.run(90);
    let place = g.net.server().sim().anchor(who).unwrap().unwrap().position;
    assert_eq!(place, [9.0, 0.0, 0.0]);
    assert_eq!(g.truth(who, "Mana"), 100.0, "cleared requests do not run");
}
