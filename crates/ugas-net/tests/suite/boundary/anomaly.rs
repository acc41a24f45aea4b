//! What counts as an offence of a client, and what does not.

use super::rig::{ANN, FIRE, MALLORY, Rig};
use ugas_core::{FactKind, Target};
use ugas_net::authority::RejectReason;
use ugas_net::client::{Certainty, NetFacts};
use ugas_net::message::Request;

#[test]
fn mashing_a_key_on_cooldown_is_no_offence_and_undoes_nothing() {
    let mut rig = Rig::new();
    let (who, target) = (rig.hero, Target::Controller(rig.foe));
    let (mut facts, mut undone, mut activated) = (NetFacts::default(), Vec::new(), 0);
    rig.ann.take_facts(&mut facts);
    // The cooldown is half a second; the key goes down every second tick for five seconds.
    for n in 0..300 {
        let request = if n % 2 == 0 {
            Request::Press { who, input: FIRE, target }
        } else {
            Request::Release { who, input: FIRE }
        };
        let _ = rig.ann.command(request);
        rig.step();
        rig.ann.take_facts(&mut facts);
        undone.extend(facts.iter().filter(|(_, c)| *c == Certainty::Undone).map(|(f, _)| f.kind));
        activated += facts
            .iter()
            .filter(|(f, c)| matches!(f.kind, FactKind::AbilityActivated { .. }) && *c == Certainty::Confirmed)
            .count();
    }
    assert!(activated >= 9, "{activated} bolts");
    assert_eq!(undone, []);
    assert_eq!((rig.ann.counts().rejected, rig.ann.counts().corrections), (0, 0));
    assert_eq!(rig.server.counts().iter().count(), 0, "{:?}", rig.server.counts());
    assert_eq!(rig.server.anomaly(ANN).unwrap().0, 0.0);
}

/// After an outage a client sends its newest commands first.
#[test]
fn a_late_command_with_a_number_that_was_passed_is_no_offence() {
    let mut rig = Rig::new();
    rig.run_to(rig.server.tick().0 + 60);
    let request = rig.activate("GA_Bolt", Target::Controller(rig.foe));
    let mut old: Vec<_> = (0..30).map(|_| rig.command(request.clone())).collect();
    let newest = rig.command(request);
    rig.give(&[newest]);
    rig.run_to(rig.server.tick().0 + 60);
    old.iter_mut().for_each(|command| command.tick = ugas_net::types::Tick(command.tick.0 - 60));
    old.chunks(10).for_each(|commands| {
        rig.give(commands);
        rig.step();
    });
    assert_eq!(rig.count(RejectReason::Key), 30);
    assert_eq!(rig.server.anomaly(MALLORY).unwrap().0, 0.0);
}

#[test]
fn forged_requests_raise_the_score_of_their_sender_only() {
    let mut rig = Rig::new();
    for _ in 0..6 {
        rig.ask(Request::Activate { who: rig.hero, ability: rig.ability("GA_Jab"), target: Target::None });
        rig.ask(rig.apply("GA_Beam", "GE_InstantKill", rig.foe));
    }
    let score = rig.server.anomaly(MALLORY).unwrap();
    assert!(score.is_suspicious() && score.0 > 50.0, "{score:?}");
    assert_eq!(rig.server.counts_of(MALLORY), Some(rig.server.counts()));
    assert_eq!(rig.server.anomaly(ANN).unwrap().0, 0.0);
    assert!(rig.server.counts_of(ANN).unwrap().iter().next().is_none());
    rig.run_to(rig.server.tick().0 + 60 * 60);
    assert!(!rig.server.anomaly(MALLORY).unwrap().is_suspicious(), "a score decays");
    assert_eq!(rig.server.anomaly(ugas_net::types::PeerId(77)), None);
}
