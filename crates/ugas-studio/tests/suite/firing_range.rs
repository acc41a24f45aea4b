//! A predicted cooldown is shown exactly once on every link: never twice and never missing.

use ugas_studio::recording::World;
use ugas_studio::session::{Input, Session, WrongFrames};

#[test]
fn a_cooldown_is_shown_exactly_once_over_every_link() {
    for seed in [1, 7, 42] {
        let mut session = Session::duel(seed).unwrap();
        for (round_trip, loss) in [(0, 0.0), (60, 0.1), (150, 0.05), (300, 0.3), (300, 0.6), (0, 0.6)] {
            session.apply_input(&Input::Link { client: None, round_trip, loss }).unwrap();
            (0..300).for_each(|_| session.step());
            let range = session.range().unwrap();
            assert_eq!(range.wrong_frames(), WrongFrames::default(), "seed {seed}, {round_trip} ms, {loss} lost");
        }
        assert!(session.range().unwrap().shots_per_minute()[0] > 0.0);
    }
}
