//! Numbers and targets.

use super::rig::{FIRE, Rig, refused, refused_in};
use ugas_core::{Anchor, Answer, ControllerId, Hit, Sim, Spec, Target, TaskKey};
use ugas_net::authority::{PolicyDecision, RejectReason, TargetPolicy};
use ugas_net::message::{Command, Request};

const BAD: [f64; 8] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE / 2.0, 1e10, -f64::NAN];

#[test]
fn invalid_numbers_are_rejected_in_every_field() {
    refused(&[(RejectReason::Number, 8 * 6)], |rig| {
        let who = rig.rogue;
        for bad in BAD {
            let point = Target::Point([0.0, bad, 0.0]);
            rig.ask(rig.activate("GA_Bolt", point));
            rig.ask(Request::Press { who, input: FIRE, target: point });
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
fn an_answer_with_an_invalid_number_is_rejected() {
    refused(&[(RejectReason::Number, 5)], |rig| {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 4.0, -f64::NAN] {
            let key = TaskKey { seq: 1, who: rig.rogue };
            rig.ask(Request::Complete { key, answer: Answer { value, ..Answer::default() } });
        }
    });
}

// covers: UGAS-13.7-05, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn targets_out_of_range_are_rejected_and_those_within_are_accepted() {
    refused(&[(RejectReason::Target, 3)], |rig| {
        rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.far)));
        rig.ask(rig.apply("GA_Beam", "GE_Beam", rig.far));
        rig.ask(Request::Press { who: rig.rogue, input: FIRE, target: Target::Controller(rig.far) });
    });
    let mut rig = Rig::new();
    let before = rig.health(rig.foe);
    rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
    assert_eq!(rig.health(rig.foe), before - 25.0, "400 of 500");
    assert!(rig.server.counts().iter().next().is_none());
}

struct RejectAll;

impl TargetPolicy for RejectAll {
    fn can_target(&self, _: &Sim, _: ControllerId, _: ugas_core::AbilityId, _: ControllerId) -> bool {
        false
    }

    fn can_move(&self, sim: &Sim, who: ControllerId, to: &Anchor) -> PolicyDecision {
        let from = sim.anchor(who).ok().flatten().map_or([0.0; 3], |a| a.position);
        let is_near = from.iter().zip(to.position).all(|(a, b)| (a - b).abs() <= 1.0);
        if is_near { PolicyDecision::Accept } else { PolicyDecision::Reject }
    }
}

// covers: UGAS-13.7-05
#[test]
fn the_host_may_reject_any_target_and_any_position() {
    let mut rig = Rig::new();
    rig.server.set_target_policy(RejectAll);
    rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
    rig.ask(Request::Press { who: rig.rogue, input: FIRE, target: Target::Controller(rig.foe) });
    assert_eq!(rig.count(RejectReason::Target), 2);
    rig.ask(Request::Move { who: rig.rogue, anchor: Anchor::at([300.0, 0.0, 0.0]) });
    assert_eq!(rig.count(RejectReason::Pose), 1);
    rig.ask(Request::Move { who: rig.rogue, anchor: Anchor::at([10.5, 0.0, 0.0]) });
    assert_eq!(rig.count(RejectReason::Pose), 1);
    assert_eq!(rig.server.sim().anchor(rig.rogue).unwrap().unwrap().position, [10.5, 0.0, 0.0]);
}

#[test]
fn removed_and_forged_targets_are_rejected() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        let far = rig.far;
        rig.server.sim_mut().despawn(far).unwrap();
        rig.step();
        rig
    });
    refused_in(pair, &[(RejectReason::Target, 9)], |rig| {
        for invalid in [rig.far, ControllerId(77_777), ControllerId::NONE] {
            rig.ask(rig.activate("GA_Bolt", Target::Controller(invalid)));
            rig.ask(rig.apply("GA_Beam", "GE_Beam", invalid));
            rig.ask(Request::Press { who: rig.rogue, input: FIRE, target: Target::Controller(invalid) });
        }
    });
}

/// Sessions in which an ability of Mallory waits for targets.
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
fn targets_of_an_answer_must_be_unique_exist_and_be_in_range() {
    let (pair, key) = aiming();
    refused_in(pair, &[(RejectReason::Target, 4)], |rig| {
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
fn answers_to_unknown_tasks_are_rejected() {
    refused(&[(RejectReason::Task, 3)], |rig| {
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
    refused_in(pair, &[(RejectReason::Task, 40)], |rig| {
        for seq in 0..40 {
            let key = TaskKey { seq, who: rig.rogue };
            rig.ask(Request::Complete { key, answer: Answer::default() });
        }
    });
}

#[test]
fn unknown_tags_of_a_hit_are_rejected() {
    let (pair, key) = aiming();
    refused_in(pair, &[(RejectReason::Hit, 1)], |rig| {
        let hit = Some(Hit { position: None, distance: None, tags: vec![ugas_core::TagId(60_000)] });
        rig.ask(Request::Complete { key, answer: Answer { hit, ..Answer::default() } });
    });
}

/// Sessions in which an ability of Mallory is active with Ann, who is marked, as its target.
fn at_ann(name: &str) -> [Rig; 2] {
    [Rig::new(), Rig::new()].map(|mut rig| {
        let (mark, hero) = (rig.effect("GE_Mark"), rig.hero);
        rig.server.sim_mut().apply(&Spec::new(mark, hero)).unwrap();
        rig.ask(rig.activate(name, Target::Controller(rig.hero)));
        assert_eq!(rig.server.sim().activations(rig.rogue).unwrap().count(), 1);
        rig
    })
}

fn aim(rig: &Rig, target: Target) -> Request {
    let key = rig.server.sim().activations(rig.rogue).unwrap().next().unwrap().key;
    Request::Aim { key, target, tick: None }
}

#[test]
fn an_active_ability_aims_only_at_valid_targets() {
    refused_in(at_ann("GA_Seek"), &[(RejectReason::Target, 3)], |rig| {
        // Not marked, out of range, no controller.
        for target in [Target::Controller(rig.foe), Target::Controller(rig.far), Target::Point([1.0, 0.0, 0.0])] {
            rig.ask(aim(rig, target));
        }
    });
    // Another marked target is valid.
    let [mut rig, _] = at_ann("GA_Seek");
    let (mark, foe) = (rig.effect("GE_Mark"), rig.foe);
    rig.server.sim_mut().apply(&Spec::new(mark, foe)).unwrap();
    rig.ask(aim(&rig, Target::Controller(foe)));
    assert_eq!(rig.server.sim().activations(rig.rogue).unwrap().next().unwrap().target, Target::Controller(foe));
    assert_eq!(rig.server.counts().iter().count(), 0);
}

#[test]
fn a_client_aims_only_abilities_that_allow_it() {
    for name in ["GA_Hex", "GA_Led"] {
        refused_in(at_ann(name), &[(RejectReason::Policy, 2)], |rig| {
            rig.ask(aim(rig, Target::None));
            rig.ask(aim(rig, Target::Controller(rig.rogue)));
        });
    }
}

#[test]
fn an_inactive_ability_cannot_be_aimed() {
    refused(&[(RejectReason::Idle, 1)], |rig| {
        let key = ugas_core::ActivationKey { origin_id: 77, who: rig.rogue, ordinal: 0 };
        rig.ask(Request::Aim { key, target: Target::Controller(rig.foe), tick: None });
    });
}

#[test]
fn the_target_of_the_first_predicted_tick_is_validated_too() {
    // No predicted tick; the client may not choose; the target does not exist; nothing is activated.
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        let (mark, hero) = (rig.effect("GE_Mark"), rig.hero);
        rig.server.sim_mut().apply(&Spec::new(mark, hero)).unwrap();
        rig
    });
    let [mut calm, mut hit] = pair;
    for (rig, attacks) in [(&mut calm, false), (&mut hit, true)] {
        let first = |aim| if attacks { Some(aim) } else { None };
        for (name, asked, aimed) in [
            ("GA_Jab", rig.foe, Target::Controller(rig.hero)),
            ("GA_Bolt", rig.foe, Target::Controller(rig.far)),
            ("GA_Dash", rig.foe, Target::Controller(ControllerId(999))),
        ] {
            let command = rig.command(rig.activate(name, Target::Controller(asked)));
            rig.give(&[Command { aim: first(aimed), ..command }]);
            rig.step();
        }
        let command = rig.command(Request::Release { who: rig.rogue, input: FIRE });
        rig.give(&[Command { aim: first(Target::None), ..command }]);
        rig.step();
        rig.run_to(120);
    }
    let counts: Vec<_> = hit.server.counts().iter().collect();
    assert_eq!(counts, [(RejectReason::Policy, 1), (RejectReason::Target, 3)]);
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash(), "each activation uses the requested target");
}
