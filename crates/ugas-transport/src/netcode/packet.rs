//! A look at a packet before it is opened.
//!
//! `renetcode2` 1.0 opens a packet by the lengths that the packet itself names: a sequence of nine bytes or more, a
//! packet that ends before its seal, and a sequence near the greatest number each stop the program, and all of them can
//! be sent with a forged sender. What would do so is turned away here.

/// Fewer bytes are no packet of any kind.
const LEAST: usize = 18;
const SEAL: usize = 16;
/// Version, protocol, expiry, nonce and the sealed part of a token.
const REQUEST: usize = 1 + 13 + 8 + 8 + 24 + 1_024;
const KINDS: u8 = 7;
const MAX_SEQUENCE_BYTES: usize = 8;
/// Beyond it the replay window would not fit into a number; honest counters never come near.
const MAX_SEQUENCE: u64 = u64::MAX - 1_024;

/// Whether a packet has the shape of one, so that opening it cannot do harm.
pub(crate) fn is_sound(packet: &[u8]) -> bool {
    let Some((&prefix, rest)) = packet.split_first() else { return false };
    let (kind, sequence_bytes) = (prefix & 15, (prefix >> 4) as usize);
    if packet.len() < LEAST || kind >= KINDS {
        return false;
    }
    if kind == 0 {
        return packet.len() == REQUEST;
    }
    if sequence_bytes > MAX_SEQUENCE_BYTES || rest.len() < sequence_bytes + SEAL {
        return false;
    }
    let sequence = rest.iter().take(sequence_bytes).rev().fold(0u64, |value, &byte| value << 8 | byte as u64);
    sequence <= MAX_SEQUENCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use renetcode2::Packet;

    #[test]
    fn what_would_stop_the_program_is_turned_away() {
        let long_sequence = [0x95; 40];
        let no_seal = [0x85; 18];
        let mut greatest = [0xff; 60];
        greatest[0] = 0x85;
        for packet in [&long_sequence[..], &no_seal, &greatest, &[], &[5], &[7; 100], &[0; 1_077]] {
            assert!(!is_sound(packet), "{packet:?}");
        }
    }

    proptest! {
        /// Everything that netcode writes passes.
        #[test]
        fn honest_packets_pass(sequence in 0..MAX_SEQUENCE, payload in prop::collection::vec(any::<u8>(), 0..1_200)) {
            let mut buffer = [0; 1_400];
            for packet in [Packet::Payload(&payload), Packet::Disconnect, Packet::KeepAlive { client_index: 1, max_clients: 2 }] {
                let length = packet.encode(&mut buffer, 1, Some((sequence, &[7; 32])), true).expect("it fits");
                prop_assert!(is_sound(&buffer[..length]));
            }
        }

        /// What passes can be opened: it is refused, but nothing panics.
        #[test]
        fn sound_packets_are_opened_without_harm(
            prefix in any::<u8>(),
            mut packet in prop::collection::vec(any::<u8>(), 0..80),
            is_sealed in any::<bool>(),
        ) {
            packet.insert(0, prefix);
            if is_sound(&packet) {
                let _ = Packet::decode(&mut packet, 1, Some(&[7; 32]), None, is_sealed);
            }
        }
    }
}
