//! The random seeds of clients. Each client has a seed for each block of ticks, which depends on its first owned
//! controller, and each ability of a controller has a seed for each use, so that clients can predict their own random
//! rolls. The seeds are derived from a secret with SipHash-2-4, a keyed hash function: a client that knows some seeds
//! can derive neither the secret nor another seed.

use crate::types::Tick;
use std::fmt;
use ugas_core::UsedAbility;

/// The 128-bit secret from which the seeds of clients are derived.
///
/// ```
/// use ugas_net::server::Secret;
/// // Use the operating system's random source, e.g. `ugas_transport::random_bytes()`.
/// let bytes = [7; 16];
/// assert_eq!(format!("{:?}", Secret::new(bytes)), "Secret(..)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; 16]);

impl Secret {
    /// Creates a secret from sixteen random bytes. Take new bytes from the operating system at each start: a client
    /// that knows the bytes can predict every roll.
    pub fn new(bytes: [u8; 16]) -> Secret {
        Secret(bytes)
    }

    /// Creates a predictable secret from a number, for tests and scenarios that need the same rolls each time.
    ///
    /// ```
    /// use ugas_net::server::Secret;
    /// assert_eq!(Secret::known(5), Secret::known(5));
    /// ```
    pub fn known(seed: u64) -> Secret {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Secret(bytes)
    }

    /// Returns the seed of the client that owns a controller for a block of ticks. A new connection with the same
    /// controller has the same seeds.
    pub(super) fn seed_of(&self, controller: u64, block: u32) -> u32 {
        let mut message = [0; 12];
        message[..8].copy_from_slice(&controller.to_le_bytes());
        message[8..].copy_from_slice(&block.to_le_bytes());
        sip(&self.0, &message) as u32
    }

    /// Returns the seed of the use `number` of an ability.
    pub(crate) fn seed_of_use(&self, used: UsedAbility, number: u32) -> u32 {
        self.hash_of_ability(used, 1, number) as u32
    }

    /// Returns the number that the first use of an ability gets, if the server starts to number the uses at this tick.
    /// The number depends on the tick, so that a controller that was removed and returns does not repeat its rolls.
    pub(super) fn first_use(&self, used: UsedAbility, tick: Tick) -> u32 {
        (self.hash_of_ability(used, 2, tick.0) >> 33) as u32
    }

    fn hash_of_ability(&self, used: UsedAbility, kind: u8, number: u32) -> u64 {
        let mut message = [0; 13];
        message[0] = kind;
        message[1..5].copy_from_slice(&used.who.0.to_le_bytes());
        message[5..9].copy_from_slice(&used.ability.0.to_le_bytes());
        message[9..].copy_from_slice(&number.to_le_bytes());
        sip(&self.0, &message)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Returns the SipHash-2-4 of a message (Aumasson and Bernstein, 2012).
fn sip(key: &[u8; 16], message: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let (k0, k1) = (word(&key[..8]), word(&key[8..]));
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let mut take = |m: u64| {
        v[3] ^= m;
        (0..2).for_each(|_| round(&mut v));
        v[0] ^= m;
    };
    let chunks = message.chunks_exact(8);
    let rest = word(chunks.remainder()) | (message.len() as u64) << 56;
    chunks.for_each(|chunk| take(word(chunk)));
    take(rest);
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    let [a, b, c, d] = v;
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::Hasher;

    /// The test vectors of the authors: the key 00 01 .. 0f, and messages 00 01 .. of each length.
    #[test]
    fn hashes_equal_the_published_test_vectors() {
        let bytes: [u8; 16] = std::array::from_fn(|n| n as u8);
        let known: [(usize, [u8; 8]); 5] = [
            (0, [0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72]),
            (1, [0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74]),
            (7, [0x37, 0xd1, 0x01, 0x8b, 0xf5, 0x00, 0x02, 0xab]),
            (8, [0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93]),
            (15, [0xe5, 0x45, 0xbe, 0x49, 0x61, 0xca, 0x29, 0xa1]),
        ];
        for (length, expected) in known {
            assert_eq!(sip(&bytes, &bytes[..length]).to_le_bytes(), expected, "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn hashes_equal_those_of_the_standard_library(key: [u8; 16], message: Vec<u8>) {
            let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| key[at + n]));
            #[expect(deprecated, reason = "an independent SipHash-2-4 to compare with")]
            let mut other = std::hash::SipHasher::new_with_keys(half(0), half(8));
            other.write(&message);
            prop_assert_eq!(sip(&key, &message), other.finish());
        }
    }

    #[test]
    fn every_connection_and_every_block_has_its_own_seed() {
        let secret = Secret::known(1);
        let seed = |n: u32| secret.seed_of(u64::from(n / 50), n % 50);
        let seeds: std::collections::BTreeSet<u32> = (0..5000).map(seed).collect();
        // With 32 bits, two of 5000 seeds are equal in one of 340 cases.
        assert!(seeds.len() >= 4999, "{}", seeds.len());
        assert_ne!(Secret::known(2).seed_of(1, 1), secret.seed_of(1, 1));
    }
}
