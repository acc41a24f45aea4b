//! The duel of the demo: it lives by itself, and is the same every time.

use ugas_core::FactKind;
use ugas_studio::stage::{Input, Stage};
use ugas_studio::tape::{Tape, World};

#[test]
fn tells() {
    let mut d = Stage::duel(7).unwrap();
    let start = std::time::Instant::now();
    for t in 0..3600 {
        d.step();
        for f in &d.news().facts.list {
            if matches!(f.kind, FactKind::AbilityActivated { .. } | FactKind::Died { .. }) {
                println!("{t} {} {}", d.name(f.who), f.describe(d.library().rules()));
            }
        }
        if t % 600 == 599 {
            println!("shots {:?} twice {} corrections {:?}", d.range().unwrap().shots_a_minute(), d.range().unwrap().shown_twice(), d.net().players().iter().map(|p| p.client().counts()).collect::<Vec<_>>());
        }
    }
    println!("{:?} per step", start.elapsed() / 3600);
    let _ = (Input::Link { round_trip: 1, loss: 0.0 }, Tape::new(d));
}
