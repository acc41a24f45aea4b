//! Floods, and packets that are damaged, too long, too many, repeated or of another version.

use super::rig::{MALLORY, MOST_HELD, Rig, payload, refused, refused_in};
use ugas_core::{Target, TaskKey};
use ugas_net::authority::RejectReason;
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::internals::wire::bits::BitWriter;
use ugas_net::internals::wire::number::put_uint;
use ugas_net::message::{Command, Denial, PROTOCOL, Request, ToClient, ToServer};
use ugas_net::server::ServerConfig;
use ugas_net::types::{PeerId, Tick};

#[test]
fn a_flood_of_packets_is_dropped_unread() {
    let most = u64::from(ServerConfig::default().packets_per_tick) * 4;
    refused(&[(RejectReason::PacketRate, 5_000 - most)], |rig| {
        for _ in 0..5_000 {
            let datagram = rig.datagram(rig.server.tick(), &payload(&[]));
            rig.send(&datagram);
        }
    });
}

#[test]
fn a_flood_of_activations_is_limited() {
    let most = u64::from(ServerConfig::default().commands_per_tick) * 16;
    refused(&[(RejectReason::CommandRate, 128 - most), (RejectReason::Ability, most)], |rig| {
        for _ in 0..4 {
            let asks: Vec<Command> = (0..32).map(|_| rig.command(rig.activate("GA_Never", Target::None))).collect();
            rig.give(&asks);
        }
    });
}

#[test]
fn commands_beyond_the_limit_of_a_packet_are_not_read() {
    refused(&[(RejectReason::Payload, 1)], |rig| {
        let command = rig.command(rig.activate("GA_Never", Target::None)).to_bytes();
        let datagram = rig.datagram(rig.server.tick(), &payload(&vec![command; 65]));
        rig.send(&datagram);
    });
}

#[test]
fn a_flood_of_targets_is_longer_than_any_command() {
    refused(&[(RejectReason::Payload, 1)], |rig| {
        let targets = vec![rig.foe; 600];
        let answer = ugas_core::Answer { targets, ..Default::default() };
        let key = TaskKey { seq: 1, who: rig.rogue };
        let command = rig.command(Request::Complete { key, answer });
        rig.give(&[command]);
    });
}

/// A datagram with a section of hand-made fragments.
fn fragments(number: u64, tick: Tick, pieces: &[(u16, bool, &[u8])]) -> Vec<u8> {
    let mut out = vec![1 << 6 | 1 << 1];
    out.extend_from_slice(&number.to_le_bytes()[..6]);
    out.extend_from_slice(&tick.0.to_le_bytes());
    out.push(pieces.len() as u8);
    for (sequence, last, bytes) in pieces {
        out.extend_from_slice(&sequence.to_le_bytes());
        out.extend_from_slice(&((bytes.len() as u16) << 1 | u16::from(*last)).to_le_bytes());
        out.extend_from_slice(bytes);
    }
    out
}

#[test]
fn a_flood_of_fragments_fills_a_window_and_no_more() {
    let mut hit = Rig::new();
    let mut calm = Rig::new();
    let piece = [7u8; 400];
    let begin = hit.mallory.next_number().0 + 1;
    for n in 0..800u64 {
        // All fragments but the first, so that nothing can be joined; then fragments far beyond the window.
        let sequence = 2 + (n % 600) as u16;
        let tick = hit.server.tick();
        hit.send(&fragments(begin + n, tick, &[(sequence, n % 7 == 0, &piece), (sequence + 1, false, &piece)]));
        if n % 4 == 3 {
            hit.step();
        }
        assert!(hit.server.retained() < MOST_HELD, "{}", hit.server.retained());
    }
    assert!(hit.count(RejectReason::Packet) > 300, "{:?}", hit.server.counts());
    calm.run_to(300);
    hit.run_to(300);
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash());
}

#[test]
fn a_message_without_an_end_is_dropped_at_the_limit() {
    let mut hit = Rig::new();
    let piece = [7u8; 480];
    let begin = hit.mallory.next_number().0 + 1;
    for n in 0..1_000u64 {
        let tick = hit.server.tick();
        hit.send(&fragments(begin + n, tick, &[(1 + n as u16, false, &piece)]));
        if n % 4 == 3 {
            hit.step();
        }
        assert!(hit.server.retained() < MOST_HELD, "{}", hit.server.retained());
    }
}

// covers: UGAS-13.7-02
#[test]
fn messages_that_a_client_may_not_send_are_counted() {
    refused(&[(RejectReason::Message, 4)], |rig| {
        rig.push(b"");
        rig.push(&[0; 300]);
        rig.push(&vec![255; 5_000]);
        // A second hello.
        rig.hello(PROTOCOL, rig.rules.fingerprint());
        rig.step();
        let rest = rig.datagram(rig.server.tick(), &[]);
        rig.send(&rest);
        rig.step();
        for _ in 0..16 {
            let rest = rig.datagram(rig.server.tick(), &[]);
            if !rest.is_empty() {
                rig.send(&rest);
            }
            rig.step();
        }
    });
}

#[test]
fn a_truncated_datagram_changes_nothing() {
    let [mut calm, mut hit] = [Rig::new(), Rig::new()];
    let asks: Vec<Command> = (0..6).map(|_| hit.command(hit.activate("GA_Never", Target::None))).collect();
    let bytes: Vec<Vec<u8>> = asks.iter().map(Command::to_bytes).collect();
    let whole = hit.datagram(hit.server.tick(), &payload(&bytes));
    for length in 0..whole.len() {
        hit.send(&whole[..length]);
        hit.step();
    }
    let counts = hit.server.counts();
    assert!(counts.of(RejectReason::Packet) + counts.of(RejectReason::Payload) > 0, "{counts:?}");
    let tick = hit.server.tick().0.max(200);
    calm.run_to(tick);
    hit.run_to(tick);
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash());
}

#[test]
fn every_truncated_payload_is_counted() {
    let mut rig = Rig::new();
    let asks: Vec<Command> = (0..3).map(|_| rig.command(rig.activate("GA_Never", Target::None))).collect();
    let whole = payload(&asks.iter().map(Command::to_bytes).collect::<Vec<_>>());
    for length in 1..whole.len() {
        let before = rig.count(RejectReason::Payload);
        let datagram = rig.datagram(rig.server.tick(), &whole[..length]);
        rig.send(&datagram);
        assert_eq!(rig.count(RejectReason::Payload), before + 1, "{length} of {} bytes", whole.len());
        rig.step();
    }
}

#[test]
fn oversized_datagrams_are_rejected() {
    refused(&[(RejectReason::Packet, 3)], |rig| {
        let honest = rig.datagram(rig.server.tick(), &payload(&[]));
        for length in [1_201, 65_507, 1 << 20] {
            let mut long = honest.clone();
            long.resize(length, 0);
            rig.send(&long);
        }
    });
}

#[test]
fn wrong_lengths_are_rejected_before_memory_is_allocated() {
    refused(&[(RejectReason::Payload, 4)], |rig| {
        let mut bombs = Vec::new();
        for count in [u64::MAX, 1 << 40] {
            let mut out = BitWriter::new();
            out.bits(0, 2);
            put_uint(&mut out, count);
            bombs.push(out.finish().to_vec());
        }
        let mut out = BitWriter::new();
        out.bits(0, 2);
        put_uint(&mut out, 1);
        put_uint(&mut out, u64::MAX);
        bombs.push(out.finish().to_vec());
        // An answer with a count of four billion targets.
        let key = TaskKey { seq: 1, who: rig.rogue };
        let command = rig.command(Request::Complete { key, answer: ugas_core::Answer::default() });
        let mut bytes = command.to_bytes();
        let at = bytes.len() - 10;
        assert_eq!(bytes[at], 0, "no targets");
        bytes.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0x0f]);
        bombs.push(payload(&[bytes]));
        for bomb in bombs {
            let datagram = rig.datagram(rig.server.tick(), &bomb);
            rig.send(&datagram);
        }
    });
}

// covers: UGAS-13.7-14
#[test]
fn replayed_packets_are_rejected() {
    refused(&[(RejectReason::Duplicate, 40), (RejectReason::AuthoritativeOnly, 1)], |rig| {
        let command = rig.command(rig.apply("GA_Beam", "GE_InstantKill", rig.foe));
        let recorded = rig.datagram(rig.server.tick(), &payload(&[command.to_bytes()]));
        rig.send(&recorded);
        for _ in 0..40 {
            rig.step();
            rig.send(&recorded);
        }
    });
}

#[test]
fn duplicates_and_overtaken_packets_are_not_counted_as_malformed() {
    let mut rig = Rig::new();
    let [first, second] = [(); 2].map(|()| {
        rig.step();
        rig.datagram(rig.server.tick(), &payload(&[]))
    });
    let before =
        [RejectReason::Packet, RejectReason::Duplicate, RejectReason::Outdated].map(|reason| rig.count(reason));
    [&second, &second, &first].into_iter().for_each(|datagram| rig.send(datagram));
    let after = [RejectReason::Packet, RejectReason::Duplicate, RejectReason::Outdated].map(|reason| rig.count(reason));
    assert_eq!(after, [before[0], before[1] + 1, before[2] + 1]);

    // The client distinguishes them too.
    let rules = super::rig::rules();
    let mut ben = Client::new(rules, ClientConfig::default());
    rig.server.connect(PeerId(9), &[]).unwrap();
    let (mut delivered, mut delayed) = (Vec::new(), Vec::new());
    for tick in 0..20 {
        ben.send(&mut |datagram| rig.server.receive(PeerId(9), datagram));
        rig.server.step(&mut ugas_core::NoHost);
        rig.server.send(&mut |peer, datagram| {
            if peer == PeerId(9) {
                match tick {
                    10 => delayed.push(datagram.to_vec()),
                    _ => ben.receive(datagram),
                }
                delivered.push(datagram.to_vec());
            }
        });
        ben.update(super::rig::LENGTH);
    }
    let (late, last) = (delayed.first().unwrap(), delivered.last().unwrap());
    [last, late].into_iter().for_each(|datagram| ben.receive(datagram));
    let counts = ben.counts();
    assert_eq!((counts.duplicate, counts.outdated, counts.malformed), (1, 1, 0));
}

#[test]
fn packets_of_one_client_sent_by_another_do_nothing() {
    let [mut calm, mut hit] = [Rig::new(), Rig::new()];
    // The next packet of Ann, from a copy of her session.
    let mut twin = Rig::new();
    let mut recorded = Vec::new();
    for _ in 0..60 {
        twin.step();
        let ability = twin.ability("GA_Bolt");
        let (who, target) = (twin.hero, Target::Controller(twin.foe));
        let _ = twin.ann.command(Request::Activate { who, ability, target });
        twin.ann.send(&mut |datagram| recorded.push(datagram.to_vec()));
    }
    for datagram in &recorded {
        hit.send(datagram);
        hit.step();
    }
    assert!(hit.server.counts().iter().map(|(_, n)| n).sum::<u64>() > 0);
    let tick = hit.server.tick().0.max(200);
    calm.run_to(tick);
    hit.run_to(tick);
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash());
}

#[test]
fn datagrams_of_unknown_peers_are_counted() {
    refused(&[(RejectReason::Packet, 3)], |rig| {
        for peer in [0, 3, u32::MAX] {
            rig.server.receive(PeerId(peer), &[64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
    });
}

/// The server's answer to a hello of Mallory.
fn answer(protocol: u32, rules: u64) -> (Option<ToClient>, usize) {
    let mut rig = Rig::silent();
    rig.hello(protocol, rules);
    for _ in 0..10 {
        rig.step();
        let _ = rig.datagram(rig.server.tick(), &[]);
    }
    (rig.mallory.next_message().and_then(|m| ToClient::from_bytes(&m)), rig.server.playing().count())
}

#[test]
fn another_version_is_denied_with_both_numbers() {
    let rules = super::rig::rules().fingerprint();
    for client in [0, PROTOCOL - 1, PROTOCOL + 1, u32::MAX] {
        let (answer_message, playing) = answer(client, rules);
        let denial = Denial::Protocol { server: PROTOCOL, client };
        assert_eq!(answer_message, Some(ToClient::Denied(denial.clone())));
        assert_eq!(playing, 1, "only Ann");
        assert!(denial.to_string().contains(&client.to_string()) && denial.to_string().contains("install"));
    }
    assert!(matches!(answer(PROTOCOL, rules).0, Some(ToClient::Welcome { .. })));
}

#[test]
fn other_rules_are_denied_with_both_hashes_on_both_sides() {
    let rules = super::rig::rules().fingerprint();
    let (answer_message, playing) = answer(PROTOCOL, rules ^ 1);
    assert_eq!(
        (answer_message, playing),
        (Some(ToClient::Denied(Denial::Rules { server: rules, client: rules ^ 1 })), 1)
    );

    let mut rig = Rig::silent();
    rig.server.connect(PeerId(9), &[]).unwrap();
    let other = ugas_core::Rules::builder().build().unwrap();
    let mut client = Client::new(other.clone(), ClientConfig::default());
    for _ in 0..20 {
        client.send(&mut |datagram| rig.server.receive(PeerId(9), datagram));
        rig.server.step(&mut ugas_core::NoHost);
        rig.server.send(&mut |peer, datagram| {
            if peer == PeerId(9) {
                client.receive(datagram);
            }
        });
        client.update(super::rig::LENGTH);
    }
    let denial = Denial::Rules { server: rules, client: other.fingerprint() };
    assert_eq!(rig.server.denied().collect::<Vec<_>>(), [(PeerId(9), &denial)], "the host can read it too");
    assert_eq!(*client.state(), ClientState::Denied(denial));
}

#[test]
fn a_peer_without_hello_never_receives_more_than_it_sent() {
    let rules = super::rig::rules().fingerprint();
    let short = ToServer::Hello { protocol: 0, rules: 0, padding: Vec::new() };
    // Nothing, an empty packet, a packet that needs an ack, a hello that is too short, and a hello of another version, sent
    // once and repeatedly.
    for case in 0..6 {
        let (mut rig, mut given) = (Rig::silent(), 0);
        for tick in 0..600 {
            let datagram = match case {
                1 if tick % 3 == 0 => rig.datagram(rig.server.tick(), &[]),
                2 => rig.datagram(rig.server.tick(), &[1]),
                3 if tick == 5 => {
                    rig.mallory.push(&short.to_bytes()).unwrap();
                    rig.datagram(rig.server.tick(), &[])
                }
                4 if tick == 5 => {
                    let hello = ToServer::Hello { protocol: 7, rules, padding: vec![0; 256] };
                    rig.mallory.push(&hello.to_bytes()).unwrap();
                    rig.datagram(rig.server.tick(), &[])
                }
                5 if tick % 50 == 5 => {
                    let hello = ToServer::Hello { protocol: 7, rules, padding: vec![0; 256] };
                    let _ = rig.mallory.push(&hello.to_bytes());
                    rig.datagram(rig.server.tick(), &[])
                }
                _ => Vec::new(),
            };
            if !datagram.is_empty() {
                given += datagram.len();
                rig.server.receive(MALLORY, &datagram);
            }
            rig.step();
            assert!(rig.sent_bytes <= given, "case {case}, tick {tick}: {} bytes for {given}", rig.sent_bytes);
        }
        assert!(case != 4 || rig.sent_bytes > 0, "the denial is sent");
    }
}

#[test]
fn commands_before_hello_are_ignored() {
    let pair = [Rig::silent(), Rig::silent()];
    refused_in(pair, &[(RejectReason::Message, 1)], |rig| {
        rig.run_to(30);
        let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        rig.give(&[command]);
        rig.push(
            &ToServer::Hello { protocol: PROTOCOL, rules: rig.rules.fingerprint(), padding: Vec::new() }.to_bytes(),
        );
        rig.step();
    });
}
