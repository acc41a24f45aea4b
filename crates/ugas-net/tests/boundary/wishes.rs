//! Numbers and targets.

use super::rig::{Rig, refused};
use ugas_core::{Anchor, Answer, ControllerId, Hit, Sim, Target, TaskKey};
use ugas_net::authority::{Reach, Reason};
use ugas_net::message::Request;

const BAD: [f64; 8] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE / 2.0, 1e10, -f64::NAN];

#[test]
fn numbers_that_are_none_are_refused_wherever_they_stand() {
    refused(&[(Reason::Number, 8 * 6)], |rig| {
        let who = rig.rogue;
        for bad in BAD {
            let point = Target::Point([0.0, bad, 0.0]);
            rig.ask(rig.activate("GA_Bolt", point));
            rig.ask(Request::Press { who, input: super::rig::FIRE, target: point });
            rig.ask(Request::Move { who, anchor: Anchor::at([bad, 0.0, 0.0]) });
            rig.ask(Request::Move { who, anchor: Anchor { position: [0.0; 3], facing: [0.0, bad, 0.0] } });
            for (position, distance) in [(Some([0.0, 0.0, bad]), None), (None, Some(bad))] {
                let answer = Answer { hit: Some(Hit { position, distance, tags: Vec::new() }), ..Answer::default() };
                rig.ask(Request::Complete { key: TaskKey { seq: 1, who }, answer });
            }
        }
    });
}

#[test]
fn a_value_in_an_answer_that_is_no_number_is_refused() {
    refused(&[(Reason::Number, 5)], |rig| {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 4.0, -f64::NAN] {
            let key = TaskKey { seq: 1, who: rig.rogue };
            rig.ask(Request::Complete { key, answer: Answer { value, ..Answer::default() } });
        }
    });
}

// covers: UGAS-13.7-05, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn targets_out_of_range_are_refused_and_those_within_are_not() {
    refused(&[(Reason::Target, 3)], |rig| {
        rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.far)));
        rig.ask(rig.apply("GA_Beam", "GE_Beam", rig.far));
        rig.ask(Request::Press { who: rig.rogue, input: super::rig::FIRE, target: Target::Controller(rig.far) });
    });
    let mut rig = Rig::new();
    let before = rig.health(rig.foe);
    rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
    assert_eq!(rig.health(rig.foe), before - 25.0, "400 of 500");
    assert!(rig.server.counts().iter().next().is_none());
}

struct Nobody;

impl Reach for Nobody {
    fn reaches(&self, _: &Sim, _: ControllerId, _: ugas_core::AbilityId, _: ControllerId) -> bool {
        false
    }

    fn may_move(&self, sim: &Sim, who: ControllerId, to: &Anchor) -> bool {
        let from = sim.anchor(who).ok().flatten().map_or([0.0; 3], |a| a.position);
        from.iter().zip(to.position).all(|(a, b)| (a - b).abs() <= 1.0)
    }
}

// covers: UGAS-13.7-05
#[test]
fn the_host_may_refuse_any_target_and_any_place() {
    let mut rig = Rig::new();
    rig.server.set_reach(Nobody);
    rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
    rig.ask(Request::Press { who: rig.rogue, input: super::rig::FIRE, target: Target::Controller(rig.foe) });
    assert_eq!(rig.count(Reason::Target), 2);
    rig.ask(Request::Move { who: rig.rogue, anchor: Anchor::at([300.0, 0.0, 0.0]) });
    assert_eq!(rig.count(Reason::Pose), 1);
    rig.ask(Request::Move { who: rig.rogue, anchor: Anchor::at([10.5, 0.0, 0.0]) });
    assert_eq!(rig.count(Reason::Pose), 1);
    assert_eq!(rig.server.sim().anchor(rig.rogue).unwrap().unwrap().position, [10.5, 0.0, 0.0]);
}

#[test]
fn dead_and_forged_targets_are_refused() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        let far = rig.far;
        rig.server.sim_mut().despawn(far).unwrap();
        rig.step();
        rig
    });
    super::rig::refused_in(pair, &[(Reason::Target, 9)], |rig| {
        for gone in [rig.far, ControllerId(77_777), ControllerId::NONE] {
            rig.ask(rig.activate("GA_Bolt", Target::Controller(gone)));
            rig.ask(rig.apply("GA_Beam", "GE_Beam", gone));
            rig.ask(Request::Press { who: rig.rogue, input: super::rig::FIRE, target: Target::Controller(gone) });
        }
    });
}

/// Sessions in which Mallory aims: her ability waits for targets.
fn aiming() -> ([Rig; 2], TaskKey) {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        let aim = rig.activate("GA_Aim", Target::None);
        rig.ask(aim);
        rig
    });
    let key = pair[0].server.sim().tasks(pair[0].rogue).unwrap()[0].key;
    (pair, key)
}

#[test]
fn targets_of_an_answer_are_named_once_exist_and_are_within_reach() {
    let (pair, key) = aiming();
    super::rig::refused_in(pair, &[(Reason::Target, 4)], |rig| {
        let foe = rig.foe;
        let many: Vec<ControllerId> = (0..65).map(|n| ControllerId(n % 4)).collect();
        for targets in [vec![foe, rig.hero, foe], vec![foe, ControllerId(5_555)], vec![foe, rig.far], many] {
            rig.ask(Request::Complete { key, answer: Answer { targets, ..Answer::default() } });
        }
    });
    let (pair, key) = aiming();
    let [mut rig, _] = pair;
    let before = rig.health(rig.foe);
    let targets = vec![rig.foe];
    rig.ask(Request::Complete { key, answer: Answer { targets, ..Answer::default() } });
    assert_eq!(rig.health(rig.foe), before - 25.0);
    assert!(rig.server.counts().iter().next().is_none());
}

#[test]
fn answers_to_what_was_not_asked_are_refused() {
    refused(&[(Reason::Task, 3)], |rig| {
        for seq in [0, 1, u64::MAX] {
            let key = TaskKey { seq, who: rig.rogue };
            rig.ask(Request::Complete { key, answer: Answer::default() });
        }
    });
}

#[test]
fn a_client_does_not_answer_its_own_validation() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate("GA_Judged", Target::Controller(rig.foe)));
        let waits = rig.server.sim().activations(rig.rogue).unwrap().next().unwrap();
        assert_eq!(waits.state, ugas_core::AbilityState::PendingConfirmation);
        rig
    });
    super::rig::refused_in(pair, &[(Reason::Task, 40)], |rig| {
        for seq in 0..40 {
            let key = TaskKey { seq, who: rig.rogue };
            rig.ask(Request::Complete { key, answer: Answer::default() });
        }
    });
}

#[test]
fn tags_of_a_hit_that_do_not_exist_are_refused() {
    let (pair, key) = aiming();
    super::rig::refused_in(pair, &[(Reason::Rules, 1)], |rig| {
        let hit = Some(Hit { position: None, distance: None, tags: vec![ugas_core::TagId(60_000)] });
        rig.ask(Request::Complete { key, answer: Answer { hit, ..Answer::default() } });
    });
}
