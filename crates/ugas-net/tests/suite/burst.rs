//! The delay until a client over a lossy link has the server's state: ten changes of one actor at once, in many runs.
//! With 20 % loss, updates that are resent only after a detected loss would miss the bound at two losses in a row.

use crate::kit::{Game, LENGTH, Setup};
use ugas_core::{SimTime, Spec};
use ugas_net::interest::{ActorKind, RateTable};
use ugas_net::link::LinkProfile;

const ROUND_TRIP: SimTime = SimTime::millis(250);

/// Ticks until the client knows; as many as were waited for if it does not.
fn run(seed: u64) -> u32 {
    let mut game = Game::new(Setup { profile: LinkProfile::BAD, seed, ..Setup::default() });
    game.net.run(150);
    let (who, effect) = (game.other, game.effect("GE_Other"));
    for _ in 0..10 {
        game.net.server_mut().sim_mut().apply(&Spec::new(effect, who)).unwrap();
    }
    let (truth, health) = (game.truth(who, "Health"), game.attribute("Health"));
    let took = game.net.run_until(600, |net| net.client("Ana").sim().get(who, health) == Ok(truth));
    took.unwrap_or(600)
}

/// One and a half round trips and two intervals.
fn bound() -> u32 {
    let interval = RateTable::default().state_ticks(ActorKind::Player, ROUND_TRIP, LENGTH);
    ((ROUND_TRIP.0 * 3 / 2) / LENGTH.0) as u32 + 2 * interval
}

#[test]
fn a_burst_of_changes_is_known_in_one_and_a_half_round_trips_and_two_intervals() {
    let took: Vec<u32> = (0..1000).map(run).collect();
    let late = |runs: &[u32]| runs.iter().filter(|&&ticks| ticks > bound()).count();
    let longest = took.iter().max();
    assert_eq!(late(&took[..100]), 0, "of a hundred runs; the longest took {longest:?} ticks of {}", bound());
    // A line that loses one in five now and then loses five in a row: in 40,000 runs it was seven.
    assert!(late(&took) <= 2, "{} of 1000 runs; the longest took {longest:?} ticks of {}", late(&took), bound());
}
