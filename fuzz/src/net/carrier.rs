//! Arbitrary datagrams at one end of a connection: a rejected datagram changes nothing, and memory is bounded.

use super::{Done, records};
use ugas_core::SimTime;
use ugas_net::internals::carrier::{Carrier, ConnectionConfig, FRAGMENT, MAX_MESSAGE, WINDOW};
use ugas_net::types::{MAX_DATAGRAM, Tick};

/// Reads datagrams, and sometimes writes a datagram that the input can acknowledge.
pub fn carrier(bytes: &[u8], done: Done<'_>) {
    let config = ConnectionConfig::default();
    let mut end = Carrier::new(config);
    let (mut out, mut verdicts) = (Vec::new(), Vec::new());
    for (turn, (kind, record)) in records(bytes).into_iter().enumerate() {
        let now = SimTime::millis(20 * turn as i64);
        if kind % 4 == 1 {
            let _ = end.push(record);
        }
        if kind % 4 < 2 {
            end.write(now, Tick(turn as u32), &mut out, &mut |_, _| ());
            assert!(out.len() <= MAX_DATAGRAM);
            continue;
        }
        let before = (end.retained(), end.next_number(), end.round_trip(), end.is_idle(), end.last_received_at());
        match end.read(now, record) {
            Ok(opened) => assert!(opened.payload.len() <= record.len()),
            Err(_) => {
                let after =
                    (end.retained(), end.next_number(), end.round_trip(), end.is_idle(), end.last_received_at());
                assert_eq!(before, after, "what is refused changes nothing");
            }
        }
        end.take_packet_results(&mut verdicts);
        // Kind 3 does not take the messages.
        while let Some(message) = (kind % 4 == 2).then(|| end.next_message()).flatten() {
            assert!(message.len() <= MAX_MESSAGE);
        }
        assert!(
            end.retained() <= config.max_unread_bytes + 2 * MAX_MESSAGE + WINDOW as usize * FRAGMENT,
            "{}",
            end.retained()
        );
        done("read");
    }
    assert!(verdicts.iter().all(|(number, _)| *number < end.next_number()), "a verdict on what was never sent");
    done("");
}
