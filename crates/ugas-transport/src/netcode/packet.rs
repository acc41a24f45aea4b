//! Checks packets before `renetcode2` decodes them.
//!
//! `renetcode2` 1.0 trusts the lengths in a packet. Three kinds of packets cause a panic in `renetcode2`: a packet with
//! a sequence number of nine bytes or more, a packet that ends before its authentication tag, and a packet with a
//! sequence number near `u64::MAX`. An attacker can send all of them with a forged sender address, so this module
//! rejects them.

/// The shortest packet of any kind.
const MIN_LENGTH: usize = 18;
const TAG_BYTES: usize = 16;
/// The version that every connection request names.
pub(super) const VERSION: &[u8; 13] = b"NETCODE 1.a2\0";
/// The length of a connection request: version, protocol, expiry, nonce and the encrypted part of a token.
pub(super) const REQUEST_LENGTH: usize = 1 + 13 + 8 + 8 + 24 + 1_024;
const KINDS: u8 = 7;

// Three kinds of packets in addition to those of netcode.
/// The kind (first byte) of a packet in which the server sends a cookie. The cookie follows.
pub(super) const COOKIE_KIND: u8 = 7;
/// The kind of a packet in which a client repeats its request with the cookie. The cookie follows, then the request.
pub(super) const COOKIE_REQUEST_KIND: u8 = 8;
/// The kind of a packet in which a client that was connected requests to connect again. The number of the player
/// follows, then the request.
pub(super) const REJOIN_KIND: u8 = 9;
/// The length of a cookie: time, number and authentication code.
pub(super) const COOKIE_LENGTH: usize = 8 + 8 + 16;
/// The length of a request to connect again.
pub(super) const REJOIN_LENGTH: usize = 1 + 8 + REQUEST_LENGTH;
const MAX_SEQUENCE_BYTES: usize = 8;
/// The largest valid sequence number: a larger one would overflow the replay window. Real sequence numbers are far
/// smaller.
const MAX_SEQUENCE: u64 = u64::MAX - 1_024;

/// Returns whether a packet is well-formed, so that decoding it cannot panic.
pub(crate) fn is_well_formed(packet: &[u8]) -> bool {
    let Some((&prefix, rest)) = packet.split_first() else { return false };
    let (kind, sequence_bytes) = (prefix & 15, (prefix >> 4) as usize);
    if packet.len() < MIN_LENGTH || kind >= KINDS {
        return false;
    }
    if kind == 0 {
        return packet.len() == REQUEST_LENGTH;
    }
    if sequence_bytes > MAX_SEQUENCE_BYTES || rest.len() < sequence_bytes + TAG_BYTES {
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
    fn packets_that_would_cause_a_panic_are_rejected() {
        let long_sequence = [0x95; 40];
        let no_tag = [0x85; 18];
        let mut largest_sequence = [0xff; 60];
        largest_sequence[0] = 0x85;
        for packet in [&long_sequence[..], &no_tag, &largest_sequence, &[], &[5], &[7; 100], &[0; 1_077]] {
            assert!(!is_well_formed(packet), "{packet:?}");
        }
    }

    proptest! {
        /// Every packet that netcode writes is accepted.
        #[test]
        fn valid_packets_are_accepted(sequence in 0..MAX_SEQUENCE, payload in prop::collection::vec(any::<u8>(), 0..1_200)) {
            let mut buffer = [0; 1_400];
            for packet in [Packet::Payload(&payload), Packet::Disconnect, Packet::KeepAlive { client_index: 1, max_clients: 2 }] {
                let length = packet.encode(&mut buffer, 1, Some((sequence, &[7; 32])), true).expect("it check_length");
                prop_assert!(is_well_formed(&buffer[..length]));
            }
        }

        /// Accepted packets can be decoded: they are rejected, but nothing panics.
        #[test]
        fn well_formed_packets_are_decoded_without_a_panic(
            prefix in any::<u8>(),
            mut packet in prop::collection::vec(any::<u8>(), 0..80),
            is_sealed in any::<bool>(),
        ) {
            packet.insert(0, prefix);
            if is_well_formed(&packet) {
                let _ = Packet::decode(&mut packet, 1, Some(&[7; 32]), None, is_sealed);
            }
        }
    }
}
