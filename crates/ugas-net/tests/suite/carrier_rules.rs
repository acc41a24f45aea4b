//! The rules of a connection: which packets are rejected, when an ack is due, and when a loss is known.

use ugas_core::SimTime;
use ugas_net::internals::carrier::{Carrier, CarrierError, ConnectionConfig, MAX_MESSAGE, PacketNumber};
use ugas_net::types::{MAX_DATAGRAM, Tick};

fn carrier() -> Carrier {
    Carrier::new(ConnectionConfig::default())
}

fn at(millis: i64) -> SimTime {
    SimTime::millis(millis)
}

/// A datagram with a payload of one byte.
fn payload_datagram(carrier: &mut Carrier, millis: i64, tick: u32) -> Vec<u8> {
    let mut out = Vec::new();
    carrier.write(at(millis), Tick(tick), &mut out, &mut |out, _| out.push(7)).expect("there is a payload");
    out
}

/// A datagram without payload, if one is due.
fn empty_datagram(carrier: &mut Carrier, millis: i64, tick: u32) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    carrier.write(at(millis), Tick(tick), &mut out, &mut |_, _| ()).map(|_| out)
}

fn packet_results(carrier: &mut Carrier) -> Vec<(u64, bool)> {
    let mut into = Vec::new();
    carrier.take_packet_results(&mut into);
    into.into_iter().map(|(PacketNumber(number), arrived)| (number, arrived)).collect()
}

#[test]
fn a_packet_is_read_once() {
    let (mut here, mut there) = (carrier(), carrier());
    let first = payload_datagram(&mut here, 0, 1);
    there.read(at(1), &first).unwrap();
    assert_eq!(there.read(at(2), &first), Err(CarrierError::Duplicate { number: 0 }));
    let second = payload_datagram(&mut here, 0, 1);
    there.read(at(2), &second).unwrap();
    assert_eq!(there.read(at(3), &first), Err(CarrierError::Duplicate { number: 0 }));
    assert_eq!((there.counts().read, there.counts().duplicate), (2, 2));
}

#[test]
fn a_packet_of_an_older_tick_is_rejected_and_reported_as_lost_at_once() {
    let (mut here, mut there) = (carrier(), carrier());
    let old = payload_datagram(&mut here, 0, 1);
    let new = payload_datagram(&mut here, 16, 2);
    there.read(at(20), &new).unwrap();
    assert!(matches!(there.read(at(21), &old), Err(CarrierError::Stale { number: 0, tick: 1, .. })));
    here.read(at(22), &empty_datagram(&mut there, 21, 2).unwrap()).unwrap();
    assert_eq!(packet_results(&mut here), [(1, true), (0, false)]);
}

#[test]
fn packets_of_one_tick_may_be_reordered() {
    let (mut here, mut there) = (carrier(), carrier());
    let packets = [1, 1, 1].map(|tick| payload_datagram(&mut here, 0, tick));
    for packet in [&packets[2], &packets[0]] {
        there.read(at(1), packet).unwrap();
    }
    here.read(at(2), &empty_datagram(&mut there, 1, 1).unwrap()).unwrap();
    assert_eq!(packet_results(&mut here), [(2, true), (0, true)], "the middle one may still arrive");
    there.read(at(3), &packets[1]).unwrap();
    here.read(at(4), &empty_datagram(&mut there, 3, 2).unwrap()).unwrap();
    assert_eq!(packet_results(&mut here), [(1, true)]);
}

#[test]
fn acks_of_unsent_packets_are_rejected() {
    let (mut here, mut there, mut other) = (carrier(), carrier(), carrier());
    let datagram = payload_datagram(&mut here, 0, 1);
    there.read(at(1), &datagram).unwrap();
    let forged = empty_datagram(&mut there, 1, 1).unwrap();
    assert_eq!(other.read(at(2), &forged), Err(CarrierError::UnsentAcknowledged { ack: 0, sent: 0 }));
    for _ in 0..3 {
        there.read(at(1), &payload_datagram(&mut here, 0, 1)).unwrap();
    }
    let forged = empty_datagram(&mut there, 1, 1).unwrap();
    payload_datagram(&mut other, 0, 1);
    assert_eq!(other.read(at(2), &forged), Err(CarrierError::UnsentAcknowledged { ack: 3, sent: 1 }));
    assert!(packet_results(&mut other).is_empty());
    assert_eq!(other.counts().unsent, 2);
}

#[test]
fn nothing_is_sent_until_an_ack_or_a_keep_alive_is_due() {
    let (mut here, mut there) = (carrier(), carrier());
    assert_eq!(empty_datagram(&mut here, 0, 1), None);
    assert_eq!(empty_datagram(&mut here, 499, 30), None);
    let alive = empty_datagram(&mut here, 500, 31).expect("a keep-alive is due");
    there.read(at(510), &alive).unwrap();
    assert_eq!(empty_datagram(&mut there, 510, 31), None, "a keep-alive needs no ack");
    let spoken = payload_datagram(&mut here, 520, 32);
    there.read(at(530), &spoken).unwrap();
    assert!(empty_datagram(&mut there, 530, 32).is_some());
    assert_eq!(empty_datagram(&mut there, 530, 32), None, "one ack is enough");
}

#[test]
fn a_lost_fragment_is_resent_as_soon_as_the_loss_is_known() {
    let (mut here, mut there) = (carrier(), carrier());
    here.push(b"data").unwrap();
    payload_datagram(&mut here, 0, 1);
    assert!(empty_datagram(&mut here, 1, 1).is_none(), "it is in flight");
    there.read(at(10), &payload_datagram(&mut here, 2, 2)).unwrap();
    here.read(at(12), &empty_datagram(&mut there, 10, 2).unwrap()).unwrap();
    let again = empty_datagram(&mut here, 12, 3).expect("known as lost, long before the timeout");
    there.read(at(20), &again).unwrap();
    assert_eq!(there.next_message().unwrap(), b"data");
    assert!(!here.is_idle());
    here.read(at(22), &empty_datagram(&mut there, 20, 3).unwrap()).unwrap();
    assert!(here.is_idle());
}

#[test]
fn a_fragment_without_an_ack_is_resent_after_the_timeout() {
    let (mut here, mut there) = (carrier(), carrier());
    here.push(b"data").unwrap();
    assert!(empty_datagram(&mut here, 0, 1).is_some());
    assert!(empty_datagram(&mut here, 249, 15).is_none());
    let again =
        empty_datagram(&mut here, 250, 16).expect("the timeout before the first sample is a quarter of a second");
    there.read(at(260), &again).unwrap();
    assert_eq!(there.next_message().unwrap(), b"data");
}

#[test]
fn a_silent_peer_takes_bounded_memory_and_every_packet_is_reported() {
    let mut here = carrier();
    let mut queued = 0;
    loop {
        match here.push(&[0; 10_000]) {
            Ok(_) => queued += 10_000,
            Err(CarrierError::BacklogFull { limit, .. }) => break assert_eq!(limit, 256 * 1024),
            Err(other) => panic!("{other}"),
        }
    }
    assert!((200_000..=256 * 1024).contains(&queued));
    for tick in 0..5000 {
        payload_datagram(&mut here, i64::from(tick) * 16, tick);
    }
    let results = packet_results(&mut here);
    assert_eq!(results.len(), 5000 - 1024);
    assert!(results.iter().enumerate().all(|(i, verdict)| *verdict == (i as u64, false)));
    assert_eq!(here.round_trip(), None);
    assert!(matches!(here.push(&[0; MAX_MESSAGE + 1]), Err(CarrierError::TooLong { .. })));
}

#[test]
fn numbers_and_ticks_wrap_and_survive_a_long_silence() {
    let (mut here, mut there) = (carrier(), carrier());
    let mut longest = 0;
    for n in 0..200_000u32 {
        let tick = 4_000_000 + n;
        let datagram = payload_datagram(&mut here, i64::from(n) * 16, tick);
        // More packets are lost than two bytes can distinguish.
        if (70_000..150_000).contains(&n) {
            continue;
        }
        let opened = there.read(at(i64::from(n) * 16), &datagram).unwrap();
        assert_eq!((opened.number, opened.tick), (PacketNumber(u64::from(n)), Tick(tick)));
        here.read(at(i64::from(n) * 16), &empty_datagram(&mut there, i64::from(n) * 16, tick).unwrap()).unwrap();
        if n % 70_000 > 40 {
            longest = longest.max(datagram.len());
        }
    }
    // The first packet after the loss, with the delay of its ack; otherwise seven bytes and the payload.
    assert_eq!(longest, 1 + 6 + 4 + 2 + 2 + 1);
    let results = packet_results(&mut here);
    assert_eq!(results.len(), 200_000);
    assert_eq!(results.iter().filter(|(_, arrived)| !arrived).count(), 80_000);
}

#[test]
fn a_long_message_leaves_room_for_the_payload() {
    let (mut here, mut there) = (carrier(), carrier());
    let message: Vec<u8> = (0..MAX_MESSAGE).map(|i| (i / 7) as u8).collect();
    here.push(&message).unwrap();
    let mut out = Vec::new();
    for tick in 0..70 {
        let mut left = 0;
        here.write(at(i64::from(tick)), Tick(tick), &mut out, &mut |out, room| {
            left = room;
            out.resize(out.len() + room, 1);
        });
        assert!(left >= MAX_DATAGRAM - 1000 - 17, "{left} bytes are left");
        assert_eq!(out.len(), MAX_DATAGRAM);
        assert_eq!(there.read(at(i64::from(tick)), &out).unwrap().payload.len(), left);
    }
    assert_eq!(there.next_message().unwrap(), message);
}

#[test]
fn messages_that_are_not_taken_are_bounded_and_arrive_later() {
    let (mut here, mut there) =
        (carrier(), Carrier::new(ConnectionConfig { max_unread_bytes: 2000, ..ConnectionConfig::default() }));
    let messages: Vec<Vec<u8>> = (0..600u32).map(|n| n.to_le_bytes().repeat(20)).collect();
    for message in &messages {
        here.push(message).unwrap();
    }
    let talk = |here: &mut Carrier, there: &mut Carrier, tick: u32| {
        let now = at(i64::from(tick) * 16);
        let mut out = Vec::new();
        here.write(now, Tick(tick), &mut out, &mut |out, _| out.push(1)).unwrap();
        let read = there.read(now, &out).is_ok();
        if there.write(now, Tick(tick), &mut out, &mut |_, _| ()).is_some() {
            here.read(now, &out).unwrap();
        }
        read
    };
    let refused = (0..100).filter(|tick| !talk(&mut here, &mut there, *tick)).count();
    assert!(refused > 0 && there.counts().ahead == refused as u64);
    assert!(there.retained() <= 2000 + 80 + 256 * 80);
    let mut got = Vec::new();
    for tick in 100..1000 {
        got.extend(std::iter::from_fn(|| there.next_message()));
        talk(&mut here, &mut there, tick);
    }
    assert!(got == messages && here.is_idle());
}

#[test]
fn a_decreasing_tick_is_rejected() {
    let (mut here, mut there) = (carrier(), carrier());
    there.read(at(1), &payload_datagram(&mut here, 0, 5)).unwrap();
    let fallen = payload_datagram(&mut here, 1, 4);
    assert!(matches!(there.read(at(2), &fallen), Err(CarrierError::Stale { number: 1, tick: 4, newest_tick: 5, .. })));
}

#[test]
fn an_ack_covers_thirty_two_packets_before_the_newest() {
    for (newest, first_arrived) in [(31, true), (32, true), (33, false), (40, false)] {
        let (mut here, mut there) = (carrier(), carrier());
        let packets: Vec<_> = (0..=newest).map(|_| payload_datagram(&mut here, 0, 1)).collect();
        there.read(at(1), &packets[0]).unwrap();
        there.read(at(2), &packets[newest]).unwrap();
        here.read(at(3), &empty_datagram(&mut there, 2, 1).unwrap()).unwrap();
        let results = packet_results(&mut here);
        assert!(results.contains(&(newest as u64, true)));
        assert!(results.contains(&(0, first_arrived)), "{newest}: {results:?}");
        let beyond = newest.saturating_sub(32);
        assert_eq!(results.len(), 1 + beyond.max(1), "packets beyond the mask are lost, the others may still arrive");
    }
}

#[test]
fn an_overtaken_packet_of_the_same_tick_is_lost_after_the_timeout() {
    let (mut here, mut there) = (carrier(), carrier());
    payload_datagram(&mut here, 0, 1);
    let second = payload_datagram(&mut here, 0, 1);
    there.read(at(10), &second).unwrap();
    here.read(at(20), &empty_datagram(&mut there, 10, 1).unwrap()).unwrap();
    assert_eq!(packet_results(&mut here), [(1, true)]);
    let later = empty_datagram(&mut there, 600, 1).expect("a keep-alive");
    here.read(at(610), &later).unwrap();
    assert_eq!(packet_results(&mut here), [(0, false)]);
}

#[test]
fn only_packets_that_need_an_ack_measure_the_round_trip() {
    let (mut here, mut there) = (carrier(), carrier());
    empty_datagram(&mut here, 0, 1);
    let alive = empty_datagram(&mut here, 500, 30).expect("a keep-alive");
    there.read(at(510), &alive).unwrap();
    let spoken = payload_datagram(&mut there, 900, 54);
    here.read(at(910), &spoken).unwrap();
    assert_eq!((packet_results(&mut here), here.round_trip()), (vec![(0, true)], None));
    let reply = empty_datagram(&mut here, 930, 55).unwrap();
    there.read(at(940), &reply).unwrap();
    assert_eq!((there.round_trip(), there.jitter()), (Some(at(40)), at(20)));
}

#[test]
fn the_window_limits_the_fragments_in_flight() {
    let (mut here, mut there) = (carrier(), carrier());
    for n in 0..600u32 {
        here.push(&n.to_le_bytes().repeat(20)).unwrap();
    }
    let datagrams: Vec<_> = (0..100).map(|tick| payload_datagram(&mut here, i64::from(tick), tick)).collect();
    for datagram in &datagrams[20..] {
        there.read(at(100), datagram).unwrap_or_else(|error| panic!("{error}"));
    }
}
