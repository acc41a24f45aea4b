//! The rate of fire over a slow link equals the rate without latency. The counter-example is a client that waits for the
//! server to report the end of its cooldown.

use crate::kit::{Game, Setup, builder};
use ugas_core::Target;
use ugas_doc::{Ability, AbilityTask};
use ugas_net::client::CommandStatus;
use ugas_net::link::LinkProfile;

/// Half a second of cooldown, in ticks.
const COOLDOWN: u32 = 30;
/// Ten seconds.
const TICKS: u32 = 600;

/// Holds the input for ten seconds. Returns the average ticks between shots, as counted by the server.
fn interval(round_trip: i64, asks_the_server: bool) -> f64 {
    let hit = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Other");
    let rifle = Ability::new("GA_Rifle").cooldown("GE_Cooldown").task(hit);
    let profile = LinkProfile::round_trip(round_trip, 0);
    let mut g = Game::new(Setup { builder: builder().add(rifle), profile, ..Setup::default() });
    let target = Target::Controller(g.foe);
    let (mut first, mut last, mut shots) = (None, None, 0);
    for _ in 0..TICKS {
        let known = g.ana().confirmed_tick(g.hero).unwrap();
        let is_over = last.is_none_or(|tick: u32| known.0 >= tick + COOLDOWN);
        if (!asks_the_server || is_over)
            && let Ok(CommandStatus::Predicted(..)) = g.cast("GA_Rifle", target)
        {
            let tick = g.ana().tick().0 + 1;
            first.get_or_insert(tick);
            last = Some(tick);
            shots += 1;
        }
        g.net.step();
    }
    g.net.run(60);
    assert_eq!(g.ana().counts().rejected, 0, "{round_trip} ms: every shot counts");
    assert_eq!(g.truth(g.foe, "Health"), 100.0 - shots as f64, "{round_trip} ms: on the server too");
    (last.unwrap() - first.unwrap()) as f64 / (shots - 1) as f64
}

// covers: PEER-12
#[test]
fn the_rate_of_fire_does_not_fall_with_the_round_trip() {
    for round_trip in [0, 50, 100, 200] {
        let predicted = interval(round_trip, false);
        assert!(predicted <= COOLDOWN as f64 + 1.0, "{round_trip} ms: {predicted} ticks between shots");
        let asking = interval(round_trip, true);
        println!(
            "{round_trip:3} ms: {predicted:.1} ticks between shots, {asking:.1} if the server is asked when it may"
        );
        let trip = round_trip as f64 * 0.06;
        assert!(asking >= COOLDOWN as f64 + trip, "{round_trip} ms: the counter-example pays the round trip: {asking}");
    }
}
