//! Two connections over a link that loses, duplicates, reorders and truncates packets, compared with a model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ugas_core::SimTime;
use ugas_net::internals::carrier::{
    Carrier, CarrierError, ConnectionConfig, FRAGMENT, MAX_MESSAGE, PacketNumber, Receipt, WINDOW,
};
use ugas_net::types::{MAX_DATAGRAM, Tick};

const STEP: SimTime = SimTime::millis(20);

/// The fate of a datagram on the link.
#[derive(Clone, Debug)]
enum Fate {
    Arrive { after: u8 },
    Lose,
    Twice { after: u8, again: u8 },
    Cut { at: u16 },
    Flip { bit: u16 },
}

#[derive(Clone, Debug)]
struct Step {
    /// Lengths of messages pushed, for each side.
    push: [Vec<usize>; 2],
    /// What happens to the datagrams written; more than one in the same tick.
    fates: [Vec<Fate>; 2],
    payload: [usize; 2],
}

struct Side {
    carrier: Carrier,
    pushed: Vec<Vec<u8>>,
    receipts: Vec<Receipt>,
    got: Vec<Vec<u8>>,
    packets: BTreeMap<u64, Packet>,
    in_flight: Vec<InFlight>,
}

#[derive(Default)]
struct Packet {
    /// Its tick, once the other side read it.
    read: Option<u64>,
    results: Vec<bool>,
}

struct InFlight {
    arrives: u64,
    number: u64,
    tick: u64,
    bytes: Vec<u8>,
    is_complete: bool,
}

struct Conversation {
    now: u64,
    hostile: bool,
    sides: [Side; 2],
}

impl Side {
    /// The rule as a slow model: not received before, of no earlier tick than any received packet, at most 32 before the newest.
    fn is_accepted(&self, number: u64, tick: u64) -> bool {
        let read = || self.packets.iter().filter_map(|(number, packet)| Some((*number, packet.read?)));
        read().all(|(other, other_tick)| other != number && other_tick <= tick && number + 32 >= other)
    }
}

impl Conversation {
    fn new(hostile: bool) -> Conversation {
        Conversation {
            now: 0,
            hostile,
            sides: [0, 1].map(|_| Side {
                carrier: Carrier::new(ConnectionConfig::default()),
                pushed: Vec::new(),
                receipts: Vec::new(),
                got: Vec::new(),
                packets: BTreeMap::new(),
                in_flight: Vec::new(),
            }),
        }
    }

    fn step(&mut self, step: &Step) {
        self.now += 1;
        let time = SimTime(STEP.0 * self.now as i64);
        for (side, at) in self.sides.iter_mut().zip(0..) {
            for length in &step.push[at] {
                let message: Vec<u8> = (0..*length).map(|i| (i + side.pushed.len()) as u8).collect();
                match side.carrier.push(&message) {
                    Ok(receipt) => {
                        side.pushed.push(message);
                        side.receipts.push(receipt);
                    }
                    Err(error) => assert!(matches!(error, CarrierError::BacklogFull { .. }), "{error}"),
                }
            }
            for fate in &step.fates[at] {
                let mut out = Vec::new();
                let payload = step.payload[at];
                let number = side.carrier.write(time, Tick(self.now as u32 + 7), &mut out, &mut |out, left| {
                    out.resize(out.len() + payload.min(left), 0xAB);
                });
                let Some(PacketNumber(number)) = number else { continue };
                assert!(out.len() <= MAX_DATAGRAM);
                assert!(side.packets.insert(number, Packet::default()).is_none(), "packet numbers are unique");
                let (length, tick) = (out.len(), self.now);
                let mut send = |after: u8, bytes: Vec<u8>| {
                    let is_complete = bytes.len() == length;
                    side.in_flight.push(InFlight {
                        arrives: tick + u64::from(after),
                        number,
                        tick,
                        bytes,
                        is_complete,
                    });
                };
                match *fate {
                    Fate::Arrive { after } => send(after, out),
                    Fate::Lose => (),
                    Fate::Twice { after, again } => {
                        send(after, out.clone());
                        send(again, out);
                    }
                    Fate::Cut { at } => send(0, out[..usize::from(at) % out.len()].to_vec()),
                    Fate::Flip { bit } => {
                        let at = usize::from(bit) % (out.len() * 8);
                        out[at / 8] ^= 1 << (at % 8);
                        send(0, out);
                    }
                }
            }
        }
        for from in 0..2 {
            let due: Vec<_> = self.sides[from].in_flight.extract_if(.., |u| u.arrives <= self.now).collect();
            for InFlight { number, tick, bytes, is_complete, .. } in due {
                let expected = self.sides[from].is_accepted(number, tick);
                let read = self.sides[1 - from].carrier.read(time, &bytes).map(|opened| opened.number.0);
                if !self.hostile {
                    assert!(read.is_err() || read == Ok(number));
                    assert!(!is_complete || read.is_ok() == expected, "expected {expected}, found {read:?}");
                }
                if let Ok(results) = read
                    && let Some(packet) = self.sides[from].packets.get_mut(&results)
                {
                    packet.read = Some(tick);
                }
                let side = &mut self.sides[1 - from];
                while let Some(message) = side.carrier.next_message() {
                    side.got.push(message);
                }
                assert!(side.carrier.retained() <= MAX_MESSAGE + WINDOW as usize * FRAGMENT);
            }
        }
        if !self.hostile {
            for from in 0..2 {
                let (side, got) = (&self.sides[from], self.sides[1 - from].got.len());
                let arrived = side.receipts.iter().filter(|r| side.carrier.has_arrived(**r)).count();
                assert!(arrived <= got, "{arrived} are reported as arrived, {got} have arrived");
                let idle = side.carrier.is_idle();
                assert_eq!((arrived == side.pushed.len(), side.carrier.queued() == 0), (idle, idle));
            }
        }
        let mut verdicts = Vec::new();
        for side in &mut self.sides {
            side.carrier.take_packet_results(&mut verdicts);
            for (PacketNumber(number), arrived) in verdicts.drain(..) {
                side.packets.get_mut(&number).expect("a result is about an own packet").results.push(arrived);
            }
        }
    }

    /// Makes the link perfect and runs until nothing waits.
    fn restore_links(&mut self) {
        let fine = || vec![Fate::Arrive { after: 0 }];
        let talk = Step { push: [vec![], vec![]], fates: [fine(), fine()], payload: [1, 1] };
        for _ in 0..1500 {
            self.step(&talk);
            if self.sides.iter().all(|side| side.carrier.is_idle() && side.in_flight.is_empty()) {
                break;
            }
        }
        for _ in 0..4 {
            self.step(&talk);
        }
    }

    fn must_agree(&self) {
        for (side, other) in [(0, 1), (1, 0)] {
            let (side, other) = (&self.sides[side], &self.sides[other]);
            assert!(side.carrier.is_idle());
            assert_eq!(side.pushed.len(), other.got.len());
            assert!(side.pushed == other.got, "every message arrives once, complete and in order");
            // Only packets of the last steps may still be pending.
            let open: Vec<_> = side.packets.iter().filter(|(_, p)| p.results.is_empty()).map(|(n, _)| *n).collect();
            assert!(open.len() <= 2 && open.iter().all(|n| *n + 2 >= side.packets.len() as u64), "open: {open:?}");
            for (number, Packet { read, results }) in &side.packets {
                assert!(results.len() <= 1, "packet {number} was reported {results:?}");
                assert!(
                    read.is_some() || results.first() != Some(&true),
                    "packet {number} was reported as arrived and was not read"
                );
            }
        }
    }
}

fn fate(hostile: bool) -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => (0u8..12).prop_map(|after| Fate::Arrive { after }),
        3 => Just(Fate::Lose),
        1 => (0u8..12, 0u8..12).prop_map(|(after, again)| Fate::Twice { after, again }),
        1 => any::<u16>().prop_map(|at| Fate::Cut { at }),
        if hostile { 3 } else { 0 } => any::<u16>().prop_map(|bit| Fate::Flip { bit }),
    ]
}

fn steps(hostile: bool) -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![12 => 0usize..40, 2 => 400usize..1500, 1 => 30_000usize..=MAX_MESSAGE];
    let push = proptest::collection::vec(length, 0..3);
    // Usually one or two datagrams per tick; sometimes more than an ack covers.
    let some = move |count: std::ops::Range<usize>| proptest::collection::vec(fate(hostile), count);
    let fates = move || prop_oneof![20 => some(0..4), 1 => some(0..80)];
    let step = ([push.clone(), push], [fates(), fates()], [0usize..300, 0usize..1300])
        .prop_map(|(push, fates, payload)| Step { push, fates, payload });
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn messages_and_packet_results_are_correct_over_a_lossy_link(steps in steps(false)) {
        let mut talk = Conversation::new(false);
        for step in &steps {
            talk.step(step);
        }
        talk.restore_links();
        talk.must_agree();
    }

    #[test]
    fn flipped_bits_neither_panic_nor_grow_memory(steps in steps(true)) {
        let mut talk = Conversation::new(true);
        for step in &steps {
            talk.step(step);
        }
    }

    #[test]
    fn arbitrary_bytes_are_read_or_rejected(datagrams in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..80), 0..200)) {
        let mut carrier = Carrier::new(ConnectionConfig { max_unread_bytes: 4096, ..ConnectionConfig::default() });
        for (datagram, at) in datagrams.iter().zip(0..) {
            let before = *carrier.counts();
            let read = carrier.read(SimTime::millis(at), datagram).is_ok();
            let after = carrier.counts();
            prop_assert_eq!((after.read - before.read, after.rejected() - before.rejected()), if read { (1, 0) } else { (0, 1) });
            prop_assert!(carrier.retained() <= 4096 + MAX_MESSAGE + WINDOW as usize * FRAGMENT);
        }
    }
}
