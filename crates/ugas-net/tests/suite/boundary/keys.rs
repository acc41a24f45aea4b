//! Command keys: one per command, rising, for the own client.

use super::rig::{MOST_HELD, Rig, refused, refused_in};
use ugas_core::{FactKind, Facts, Target};
use ugas_net::authority::RejectReason;
use ugas_net::message::{Command, Request};

/// Sessions in which Mallory activated Bolt; returns the command.
fn thrown() -> ([Rig; 2], Command) {
    let mut first = None;
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        // The key before is never sent.
        rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        rig.give(std::slice::from_ref(&command));
        rig.step();
        first = Some(command);
        rig
    });
    (pair, first.unwrap())
}

#[test]
fn a_resent_command_runs_once() {
    let (pair, command) = thrown();
    refused_in(pair, &[], |rig| {
        for _ in 0..60 {
            rig.give(std::slice::from_ref(&command));
            rig.step();
        }
    });
}

// covers: SAI-2.1-04
#[test]
fn a_key_that_was_used_is_not_used_again() {
    let (pair, command) = thrown();
    refused_in(pair, &[(RejectReason::Key, 5)], |rig| {
        let who = rig.rogue;
        let other = Request::Move { who, anchor: ugas_core::Anchor::at([0.0; 3]) };
        rig.give(&[Command { request: other.clone(), ..command.clone() }]);
        rig.step();
        // Older than the last one that ran, and never received.
        for base in [0, command.base - 1] {
            let tick = rig.server.tick().plus(1);
            rig.give(&[Command { tick, base, sub: 7, request: other.clone(), aim: None }]);
            rig.step();
        }
        // While the first with it still waits.
        let mut waits = rig.command(Request::Release { who, input: super::rig::FIRE });
        waits.tick = rig.server.tick().plus(5);
        rig.give(&[waits.clone()]);
        rig.give(&[Command { request: other.clone(), ..waits.clone() }]);
        // A later key for an earlier tick.
        let tick = rig.server.tick().plus(2);
        rig.give(&[Command { tick, base: waits.base + 1, sub: 0, request: other, aim: None }]);
        rig.step();
    });
}

#[test]
fn a_forged_key_near_the_last_one_is_rejected() {
    // The next client with the number continues from the last Base: one client must not use them up.
    refused(&[(RejectReason::Key, 2)], |rig| {
        for base in [u32::MAX, 0] {
            let request = Request::Release { who: rig.rogue, input: super::rig::FIRE };
            let command = Command { base, ..rig.command(request) };
            rig.give(&[command]);
            rig.step();
        }
    });
}

#[test]
fn a_key_of_another_client_belongs_to_its_sender() {
    // Keys on the wire have no client number: Ann's next key sent by Mallory is a key of Mallory.
    let (mut calm, mut hit) = (Rig::new(), Rig::new());
    let mut facts = Facts::default();
    hit.server.take_facts(&mut facts);
    for base in 1..40 {
        let request = hit.activate("GA_Bolt", Target::Controller(hit.far));
        let tick = hit.server.tick().plus(1);
        hit.give(&[Command { tick, base, sub: 0, request: request.clone(), aim: None }]);
        hit.step();
    }
    let move_on = Request::Release { who: hit.rogue, input: super::rig::FIRE };
    let tick = hit.server.tick().plus(1);
    hit.give(&[Command { tick, base: u32::MAX, sub: u16::MAX, request: move_on, aim: None }]);
    hit.step();
    calm.run_to(200);
    hit.run_to(200);
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash());
    assert_eq!(hit.ann.counts(), calm.ann.counts());
    hit.server.take_facts(&mut facts);
    let by = |who| {
        let of = facts.list.iter().filter(move |f| f.who == who);
        of.filter(|f| matches!(f.kind, FactKind::AbilityActivated { .. })).map(|f| f.root.client()).collect::<Vec<_>>()
    };
    assert!(by(hit.hero).iter().all(|&client| client == 1) && !by(hit.hero).is_empty());
}

#[test]
fn unacknowledged_verdicts_are_bounded() {
    refused(&[(RejectReason::Ability, 600)], |rig| {
        // A connection that receives nothing acknowledges nothing.
        for _ in 0..150 {
            let asks: Vec<Command> = (0..4).map(|_| rig.command(rig.activate("GA_Never", Target::None))).collect();
            let bytes: Vec<Vec<u8>> = asks.iter().map(Command::to_bytes).collect();
            let datagram = rig.datagram(rig.server.tick(), &super::rig::payload(&bytes));
            rig.send(&without_ack(&datagram));
            rig.step();
        }
        assert!(rig.server.retained() < MOST_HELD, "{}", rig.server.retained());
    });
}

/// Returns the datagram without its ack, with the same flags, number and tick.
fn without_ack(datagram: &[u8]) -> Vec<u8> {
    let flags = datagram[0];
    let head = if flags & 1 << 6 != 0 { 11 } else { 5 };
    let delay = if flags & 1 << 7 != 0 { 2 } else { 0 };
    let acks = if flags & 1 != 0 { 2 + (flags >> 2 & 15).count_ones() as usize + delay } else { 0 };
    let mut out = vec![flags & !0b1011_1101];
    out.extend_from_slice(&datagram[1..head]);
    out.extend_from_slice(&datagram[head + acks..]);
    out
}
