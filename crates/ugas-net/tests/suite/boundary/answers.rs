//! Which tasks a client may answer, when, and with which hit.

use super::rig::{Rig, refused_in};
use ugas_core::{Answer, ControllerId, Hit, Sim, Spec, TagId, Target, TaskKey};
use ugas_net::authority::{PolicyDecision, RejectReason, TargetPolicy};
use ugas_net::message::Request;

/// Sessions in which an ability of Mallory waits.
fn waiting(name: &str) -> ([Rig; 2], TaskKey) {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate(name, Target::Controller(rig.foe)));
        rig
    });
    let key = pair[0].server.sim().tasks(pair[0].rogue).unwrap()[0].key;
    (pair, key)
}

#[test]
fn a_client_answers_no_task_that_the_data_does_not_open() {
    // A delay, an overlap that the server finds, and a montage that a timeline of the server plays.
    for name in ["GA_Hold", "GA_Parry", "GA_Windup"] {
        let (pair, key) = waiting(name);
        refused_in(pair, &[(RejectReason::Answer, 1)], |rig| {
            let targets = vec![rig.foe];
            rig.ask(Request::Complete { key, answer: Answer { targets, ..Answer::default() } });
            assert_eq!(rig.server.sim().tasks(rig.rogue).unwrap()[0].key, key, "{name} still waits");
        });
    }
}

#[test]
fn a_wind_up_that_a_timeline_plays_lands_at_its_end() {
    let ([mut rig, _], key) = waiting("GA_Windup");
    let begun = rig.server.tick().0;
    for _ in 0..5 {
        rig.ask(Request::Complete { key, answer: Answer::default() });
    }
    let is_active = |rig: &Rig| rig.server.sim().activations(rig.rogue).unwrap().count() == 1;
    while is_active(&rig) {
        rig.step();
    }
    assert!((59..=61).contains(&(rig.server.tick().0 - begun)), "{} ticks", rig.server.tick().0 - begun);
}

#[test]
fn an_answer_is_not_accepted_before_its_earliest_time() {
    let (pair, key) = waiting("GA_Reel");
    refused_in(pair, &[(RejectReason::TooSoon, 3)], |rig| {
        for _ in 0..3 {
            rig.ask(Request::Complete { key, answer: Answer::default() });
        }
    });
    let ([mut rig, _], key) = waiting("GA_Reel");
    rig.run_to(rig.server.tick().0 + 28);
    rig.ask(Request::Complete { key, answer: Answer::default() });
    assert_eq!(rig.count(RejectReason::TooSoon), 1, "29 of 30 ticks have passed");
    rig.ask(Request::Complete { key, answer: Answer::default() });
    assert_eq!(rig.count(RejectReason::TooSoon), 1);
    assert_eq!(rig.server.sim().tasks(rig.rogue).unwrap().len(), 0);
}

fn hit(distance: Option<f64>, tags: Vec<TagId>) -> Option<Hit> {
    Some(Hit { position: None, distance, tags })
}

#[test]
fn a_hit_has_the_distance_and_the_tags_that_the_server_knows() {
    // The distance is 390; both can move 25 in a quarter of a second, and 100 in a second.
    let mark = |rig: &mut Rig| {
        let spec = Spec::new(rig.effect("GE_Mark"), rig.foe);
        rig.server.sim_mut().apply(&spec).unwrap();
    };
    let (pair, key) = waiting("GA_Aim");
    let pair = pair.map(|mut rig| {
        mark(&mut rig);
        rig
    });
    let marked = pair[0].rules.tag("State.Marked").unwrap();
    let cooldown = pair[0].rules.tag("Cooldown.Bolt").unwrap();
    refused_in(pair, &[(RejectReason::Hit, 4)], |rig| {
        let false_hits =
            [hit(Some(50.0), vec![]), hit(Some(800.0), vec![]), hit(Some(-390.0), vec![]), hit(None, vec![cooldown])];
        for hit in false_hits {
            let targets = vec![rig.foe];
            rig.ask(Request::Complete { key, answer: Answer { targets, hit, ..Answer::default() } });
        }
    });
    // An honest client on a bad link may have seen this distance a second ago.
    let (pair, key) = waiting("GA_Aim");
    refused_in(pair, &[(RejectReason::Target, 1)], |rig| {
        let (targets, hit) = (vec![rig.foe], hit(Some(600.0), vec![]));
        rig.ask(Request::Complete { key, answer: Answer { targets, hit, ..Answer::default() } });
    });
    let ([mut rig, _], key) = waiting("GA_Aim");
    mark(&mut rig);
    let (targets, hit) = (vec![rig.foe], hit(Some(420.0), vec![marked]));
    rig.ask(Request::Complete { key, answer: Answer { targets, hit, ..Answer::default() } });
    assert_eq!(rig.server.counts().iter().count(), 0);
    assert_eq!(rig.server.sim().tasks(rig.rogue).unwrap().len(), 0);
}

/// A game that has hit boxes of its own.
struct Headshots(PolicyDecision);

impl TargetPolicy for Headshots {
    fn can_target(&self, _: &Sim, _: ControllerId, _: ugas_core::AbilityId, _: ControllerId) -> bool {
        true
    }

    fn can_hit(
        &self,
        _: &Sim,
        _: ControllerId,
        _: ugas_core::AbilityId,
        _: &[ControllerId],
        _: &Hit,
    ) -> PolicyDecision {
        self.0
    }
}

#[test]
fn a_calculation_reads_the_distance_that_the_server_measured() {
    // The distance is 390, and 350 is within the tolerance. The effect does as much damage as the distance.
    for (decision, damage) in [(PolicyDecision::BuiltIn, 390.0), (PolicyDecision::Accept, 350.0)] {
        let ([mut rig, _], key) = waiting("GA_Snipe");
        rig.server.set_target_policy(Headshots(decision));
        let (targets, hit) = (vec![rig.foe], hit(Some(350.0), vec![]));
        let before = rig.health(rig.foe);
        rig.ask(Request::Complete { key, answer: Answer { targets, hit, ..Answer::default() } });
        assert_eq!(before - rig.health(rig.foe), damage, "{decision:?}");
    }
}

#[test]
fn a_hit_without_a_target_has_the_distance_of_its_position() {
    // The rogue stands at 10. The effect on its owner costs as much health as the distance.
    for (position, damage) in [(None, 0.0), (Some([60.0, 0.0, 0.0]), 50.0), (Some([600.0, 0.0, 0.0]), 0.0)] {
        let ([mut rig, _], key) = waiting("GA_Probe");
        let hit = Some(Hit { position, distance: Some(400.0), tags: Vec::new() });
        let before = rig.health(rig.rogue);
        rig.ask(Request::Complete { key, answer: Answer { hit, ..Answer::default() } });
        assert_eq!(rig.server.sim().tasks(rig.rogue).unwrap().len(), 0);
        assert_eq!(before - rig.health(rig.rogue), damage, "{position:?}");
    }
}

#[test]
fn the_host_decides_about_hits_that_the_sim_cannot_know() {
    for (decision, rejected) in [(PolicyDecision::BuiltIn, 1), (PolicyDecision::Reject, 1), (PolicyDecision::Accept, 0)]
    {
        let ([mut rig, _], key) = waiting("GA_Aim");
        rig.server.set_target_policy(Headshots(decision));
        let head = rig.rules.tag("Cooldown.Bolt").unwrap();
        let (targets, hit) = (vec![rig.foe], hit(Some(390.0), vec![head]));
        rig.ask(Request::Complete { key, answer: Answer { targets, hit, ..Answer::default() } });
        assert_eq!(rig.count(RejectReason::Hit), rejected, "{decision:?}");
    }
}
