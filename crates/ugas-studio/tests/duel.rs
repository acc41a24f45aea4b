//! The duel of the demo: it lives by itself, and is the same every time.

use ugas_studio::stage::{Input, Stage};
use ugas_studio::tape::{Tape, World};

#[test]
fn tells() {
    let mut d = Stage::duel(7).unwrap();
    for _ in 0..600 {
        d.step();
    }
    println!("{:?} {}", d.range().unwrap().shots_a_minute(), d.range().unwrap().debug());
    let _ = (Input::Link { round_trip: 1, loss: 0.0 }, Tape::new(d));
}
