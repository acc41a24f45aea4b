//! Ownership of controllers, abilities and effects.

use super::rig::{Rig, refused};
use ugas_core::{AbilityId, ControllerId, EffectId, InputId, Op, OpId, Target};
use ugas_net::authority::RejectReason;
use ugas_net::client::{Client, ClientConfig, CommandStatus};
use ugas_net::message::{Command, Request};
use ugas_net::types::{PeerId, Tick};

/// Every kind of request for a controller.
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
        Request::Mispredicted { who, base: 1, sub: 0, ability, target },
        Request::Aim { key: ugas_core::ActivationKey { origin_id: 1, who, ordinal: 0 }, target, tick: None },
    ]
}

// covers: UGAS-13.7-03, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn foreign_controllers_are_not_moved() {
    refused(&[(RejectReason::Authority, 22)], |rig| {
        for who in [rig.hero, rig.foe] {
            all_requests(rig, who).into_iter().for_each(|request| rig.ask(request));
        }
    });
}

#[test]
fn stale_and_forged_handles_are_rejected() {
    refused(&[(RejectReason::Authority, 44)], |rig| {
        for who in
            [ControllerId(0x00ff_ffff), ControllerId(rig.rogue.0 ^ 1 << 24), ControllerId(1 << 31), ControllerId::NONE]
        {
            all_requests(rig, who).into_iter().for_each(|request| rig.ask(request));
        }
    });
}

#[test]
fn a_removed_own_controller_is_rejected() {
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
    assert_eq!(hit.server.counts().iter().collect::<Vec<_>>(), [(RejectReason::Despawned, 11)]);
    assert_eq!(hit.server.anomaly(super::rig::MALLORY).unwrap().0, 0.0, "requests in flight are no offence");
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash());
}

// covers: UGAS-13.7-04, UGAS-13.7-08, UGAS-4.5-06
#[test]
fn an_ability_that_was_not_granted_does_nothing() {
    refused(&[(RejectReason::Ability, 7)], |rig| {
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
    refused(&[(RejectReason::EffectClass, 4)], |rig| {
        for effect in [rig.effect("GE_Bolt"), rig.effect("GE_Cost"), EffectId(9_999), EffectId(u32::MAX)] {
            let ability = rig.ability("GA_Beam");
            rig.ask(Request::Apply { who: rig.rogue, ability, effect, target: rig.foe });
        }
    });
}

// covers: UGAS-13.7-13, UGAS-13.7-14
#[test]
fn effects_for_the_authority_are_rejected_even_if_the_ability_has_them() {
    let rig = Rig::new();
    assert!(rig.rules.is_for_authority(rig.effect("GE_InstantKill")), "by its tag");
    assert!(!rig.rules.is_for_authority(rig.effect("GE_Bolt")));
    refused(&[(RejectReason::AuthoritativeOnly, 2)], |rig| {
        rig.ask(rig.apply("GA_Beam", "GE_InstantKill", rig.foe));
        rig.ask(rig.apply("GA_Bolt", "GE_InstantKill", rig.foe));
    });
}

#[test]
fn an_inactive_ability_applies_nothing() {
    refused(&[(RejectReason::Idle, 2)], |rig| {
        rig.ask(rig.apply("GA_Beam", "GE_Beam", rig.foe));
        rig.ask(rig.apply("GA_Hold", "GE_Bolt", rig.foe));
    });
}

/// Ann applies damage to the foe by an active ability, predicted; Bob observes.
fn ann_applies(before: impl Fn(&mut Rig)) -> (Rig, Client, OpId) {
    let mut rig = Rig::new();
    let mut bob = Client::new(rig.rules.clone(), ClientConfig::default());
    rig.server.connect(BOB, &[]).unwrap();
    watch(&mut rig, &mut bob, 30);
    let (who, ability) = (rig.hero, rig.ability("GA_Hold"));
    rig.ann.command(Request::Activate { who, ability, target: Target::Controller(rig.foe) }).unwrap();
    watch(&mut rig, &mut bob, 10);
    before(&mut rig);
    let ask = Request::Apply { who, ability, effect: rig.effect("GE_Bolt"), target: rig.foe };
    let seen = seen(&rig.ann, &rig);
    let Ok(CommandStatus::Predicted(id, _)) = rig.ann.command(ask) else { panic!("Ann may predict it") };
    assert_eq!(self::seen(&rig.ann, &rig), seen - 25.0, "at once");
    assert!(rig.ann.is_predicted(id.0), "not yet confirmed");
    watch(&mut rig, &mut bob, 20);
    (rig, bob, id)
}

const BOB: PeerId = PeerId(3);

fn seen(client: &Client, rig: &Rig) -> f64 {
    client.sim().get(rig.foe, rig.rules.attribute("Health").unwrap()).unwrap()
}

/// Runs ticks with Bob.
fn watch(rig: &mut Rig, bob: &mut Client, ticks: u32) {
    for _ in 0..ticks {
        rig.step_with(|peer, datagram| {
            if peer == BOB {
                bob.receive(datagram);
            }
        });
        bob.update(super::rig::LENGTH);
        bob.send(&mut |datagram| rig.server.receive(BOB, datagram));
    }
}

/// Revokes the ability of the application on the server.
fn revoke(rig: &mut Rig) {
    let (who, ability) = (rig.hero, rig.ability("GA_Hold"));
    rig.server.sim_mut().run(Op::Revoke { who, which: ugas_core::Which::Ability(ability) }).unwrap();
}

// covers: UGAS-13.7-11
#[test]
fn a_valid_application_runs_is_replicated_and_confirmed() {
    let (rig, bob, id) = ann_applies(|_| ());
    let health = rig.health(rig.foe);
    let (rejected, ..) = ann_applies(revoke);
    assert_eq!(health, rejected.health(rejected.foe) - 25.0, "the server applied it");
    assert_eq!(seen(&rig.ann, &rig), health);
    assert_eq!(seen(&bob, &rig), health, "Bob sees it too");
    assert!(!rig.ann.is_predicted(id.0) && rig.ann.pending_commands() == 0, "confirmed");
    assert!(rig.server.counts().iter().next().is_none());
}

// covers: UGAS-4.5-06
#[test]
fn an_application_by_a_revoked_ability_is_undone() {
    let (rig, bob, id) = ann_applies(revoke);
    assert_eq!(rig.count(RejectReason::Ability), 1);
    let health = rig.health(rig.foe);
    assert_eq!((seen(&rig.ann, &rig), seen(&bob, &rig)), (health, health), "as before the application");
    assert!(!rig.ann.is_predicted(id.0) && rig.ann.counts().rejected == 1);
}

// covers: SAI-2.1-04
#[test]
fn a_valid_command_is_answered_with_its_outcome() {
    let mut rig = Rig::new();
    let (who, jab) = (rig.hero, rig.ability("GA_Jab"));
    while rig.server.tick().0 % 40 != 39 {
        rig.step();
    }
    rig.ann.command(Request::Activate { who, ability: jab, target: Target::Controller(rig.foe) }).unwrap();
    rig.run_to(rig.server.tick().0 + 8);
    assert!(rig.ann.pending_commands() == 0 && rig.ann.counts().corrections == 0);
    let gcd = |sim: &ugas_core::Sim| {
        sim.global_cooldowns(who).unwrap().iter().map(|(g, t)| (*g, t.total)).collect::<Vec<_>>()
    };
    assert_eq!(gcd(rig.server.sim()).len(), 1);
    assert_eq!(gcd(rig.ann.sim()), gcd(rig.server.sim()), "the server's global cooldown");
}

// covers: UGAS-13.7-01, UGAS-13.7-02
#[test]
fn a_client_cannot_send_level_or_magnitude() {
    // The op of a request has neither: an application has the level of its activation.
    let rig = Rig::new();
    for request in all_requests(&rig, rig.rogue) {
        match request.op() {
            // An application has neither level nor magnitude.
            Op::ApplyFromAbility { who: _, ability: _, effect: _, target: _ } => {}
            Op::Press { .. } | Op::Release { .. } | Op::Activate { .. } | Op::Cancel { .. } | Op::End { .. } => {}
            Op::Commit { .. } | Op::Complete { .. } | Op::Move { .. } | Op::Mispredicted { .. } | Op::Aim { .. } => {}
            other => panic!("a client can send {other:?}"),
        }
    }
    // Extra bytes after a request, another op or an unknown kind are rejected.
    refused(&[(RejectReason::Payload, 3)], |rig| {
        let tail = |bytes: &mut Vec<u8>| bytes.extend_from_slice(&99.0f64.to_le_bytes());
        let command = rig.command(rig.apply("GA_Beam", "GE_Beam", rig.foe));
        let mut longer = command.to_bytes();
        tail(&mut longer);
        let head = Command {
            tick: Tick(1),
            base: 1,
            sub: 0,
            request: Request::Release { who: rig.rogue, input: InputId(0) },
            aim: None,
        };
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
