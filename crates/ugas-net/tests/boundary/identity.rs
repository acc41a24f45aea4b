//! In whose name, by what ability, with which effect.

use super::rig::{Rig, refused};
use ugas_core::{AbilityId, ControllerId, EffectId, InputId, Op, Target};
use ugas_net::authority::Reason;
use ugas_net::message::{Command, Request};
use ugas_net::types::Tick;

/// Every kind of request in somebody's name.
fn all_requests(rig: &Rig, who: ControllerId) -> Vec<Request> {
    let (ability, target) = (rig.ability("GA_Bolt"), Target::Controller(rig.foe));
    let key = ugas_core::TaskKey { seq: 1, who };
    vec![
        Request::Press { who, input: super::rig::FIRE, target },
        Request::Release { who, input: super::rig::FIRE },
        Request::Activate { who, ability, target },
        Request::Cancel { who, ability },
        Request::End { who, ability },
        Request::Commit { who, ability },
        Request::Apply { who, ability, effect: rig.effect("GE_Bolt"), target: rig.foe },
        Request::Complete { key, answer: ugas_core::Answer::default() },
        Request::Move { who, anchor: ugas_core::Anchor::at([1.0, 2.0, 3.0]) },
    ]
}

// covers: UGAS-13.7-03, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn foreign_controllers_are_not_moved() {
    refused(&[(Reason::Authority, 18)], |rig| {
        for who in [rig.hero, rig.foe] {
            all_requests(rig, who).into_iter().for_each(|request| rig.ask(request));
        }
    });
}

#[test]
fn stale_and_forged_handles_are_refused() {
    refused(&[(Reason::Authority, 36)], |rig| {
        for who in
            [ControllerId(0x00ff_ffff), ControllerId(rig.rogue.0 ^ 1 << 24), ControllerId(1 << 31), ControllerId::NONE]
        {
            all_requests(rig, who).into_iter().for_each(|request| rig.ask(request));
        }
    });
}

#[test]
fn a_controller_that_was_ones_own_and_is_gone_is_refused() {
    let [calm, hit] = [Rig::new(), Rig::new()].map(|mut rig| {
        let rogue = rig.rogue;
        rig.server.sim_mut().despawn(rogue).unwrap();
        rig.step();
        rig
    });
    let mut hit = hit;
    for request in all_requests(&hit, hit.rogue) {
        hit.ask(request);
    }
    let mut calm = calm;
    calm.run_to(hit.server.tick().0);
    assert_eq!(hit.server.counts().iter().map(|(_, n)| n).sum::<u64>(), 9);
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash());
}

// covers: UGAS-13.7-04, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn an_ability_that_was_not_granted_does_nothing() {
    refused(&[(Reason::Ability, 7)], |rig| {
        let (who, never) = (rig.rogue, rig.ability("GA_Never"));
        rig.ask(rig.activate("GA_Never", Target::Controller(rig.foe)));
        rig.ask(rig.apply("GA_Never", "GE_Bolt", rig.foe));
        for ability in [never, AbilityId(u32::MAX)] {
            rig.ask(Request::Cancel { who, ability });
            rig.ask(Request::Commit { who, ability });
        }
        rig.ask(Request::End { who, ability: never });
    });
}

// covers: UGAS-13.7-06, UGAS-13.7-07, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn an_ability_applies_its_own_effects_and_no_others() {
    refused(&[(Reason::EffectClass, 4)], |rig| {
        for effect in [rig.effect("GE_Beam"), rig.effect("GE_Cost"), EffectId(9_999), EffectId(u32::MAX)] {
            let ability = rig.ability("GA_Bolt");
            rig.ask(Request::Apply { who: rig.rogue, ability, effect, target: rig.foe });
        }
    });
}

// covers: UGAS-13.7-13, UGAS-13.7-14
#[test]
fn effects_for_the_authority_are_the_authoritys_even_where_the_ability_names_them() {
    let rig = Rig::new();
    assert!(rig.rules.is_for_authority(rig.effect("GE_InstantKill")), "by its tag");
    assert!(!rig.rules.is_for_authority(rig.effect("GE_Bolt")));
    refused(&[(Reason::AuthoritativeOnly, 2)], |rig| {
        rig.ask(rig.apply("GA_Beam", "GE_InstantKill", rig.foe));
        rig.ask(rig.apply("GA_Bolt", "GE_InstantKill", rig.foe));
    });
}

#[test]
fn an_ability_that_does_not_run_applies_nothing() {
    refused(&[(Reason::Idle, 2)], |rig| {
        rig.ask(rig.apply("GA_Beam", "GE_Beam", rig.foe));
        rig.ask(rig.apply("GA_Bolt", "GE_Bolt", rig.foe));
    });
}

// covers: UGAS-13.7-11, UGAS-13.7-01
#[test]
fn a_sound_application_is_done_shown_to_all_and_confirmed() {
    let mut rig = Rig::new();
    rig.ask(rig.activate("GA_Beam", Target::Controller(rig.foe)));
    let before = rig.health(rig.foe);
    rig.ask(rig.apply("GA_Beam", "GE_Beam", rig.foe));
    assert_eq!(rig.health(rig.foe), before - 2.0);
    rig.run_to(rig.server.tick().0 + 20);
    let health = rig.rules.attribute("Health").unwrap();
    assert_eq!(rig.ann.sim().get(rig.foe, health), Ok(rig.health(rig.foe)), "Ann sees it");
    assert!(rig.server.counts().iter().next().is_none());
}

// covers: UGAS-13.7-02
#[test]
fn level_and_magnitude_cannot_be_said() {
    // What a request can become has no room for either: an application has the level of its grant and nothing more.
    let rig = Rig::new();
    for request in all_requests(&rig, rig.rogue) {
        match request.op(3) {
            Op::Apply(spec) => {
                let plain = ugas_core::Spec::new(spec.effect, spec.target).from(rig.rogue).level(3);
                assert_eq!(spec, plain.ability(rig.ability("GA_Bolt")));
            }
            Op::Press { .. } | Op::Release { .. } | Op::Activate { .. } | Op::Cancel { .. } | Op::End { .. } => {}
            Op::Commit { .. } | Op::Complete { .. } | Op::Move { .. } => {}
            other => panic!("a client can say {other:?}"),
        }
    }
    // More bytes behind a request, a foreign op or an unknown kind in its place are no request.
    refused(&[(Reason::Payload, 3)], |rig| {
        let tail = |bytes: &mut Vec<u8>| bytes.extend_from_slice(&99.0f64.to_le_bytes());
        let command = rig.command(rig.apply("GA_Beam", "GE_Beam", rig.foe));
        let mut longer = command.to_bytes();
        tail(&mut longer);
        let head =
            Command { tick: Tick(1), base: 1, sub: 0, request: Request::Release { who: rig.rogue, input: InputId(0) } };
        let mut unknown = head.to_bytes();
        unknown[3] = 9;
        let mut attribute = vec![1, 1, 0, 200];
        tail(&mut attribute);
        let payload = super::rig::payload(&[longer, unknown, attribute]);
        let datagram = rig.datagram(rig.server.tick(), &payload);
        rig.send(&datagram);
    });
}

#[test]
fn an_application_has_the_level_of_the_servers_grant() {
    let mut rig = Rig::new();
    rig.ask(rig.activate("GA_Beam", Target::Controller(rig.foe)));
    rig.ask(rig.apply("GA_Beam", "GE_Beam", rig.foe));
    let mut facts = ugas_core::Facts::default();
    rig.server.take_facts(&mut facts);
    let (beam, rogue) = (rig.effect("GE_Beam"), rig.rogue);
    let levels: Vec<u32> = facts
        .list
        .iter()
        .filter(|f| f.effect == beam && f.source == rogue)
        .filter_map(|f| match f.kind {
            ugas_core::FactKind::EffectApplied { level, .. } => Some(level),
            _ => None,
        })
        .collect();
    assert_eq!(levels, [3]);
}
