//! Cookies: they prove that a sender receives packets at its address, and the server stores nothing until then.
//!
//! The server answers a request with a cookie, an authentication code over the address and the time. The client repeats
//! its request with the cookie. A sender with a forged address never sees the cookie. The answer is shorter than the
//! request, so the server cannot be used to flood a third party.

use std::net::{IpAddr, SocketAddr};

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, Nonce, Tag};

use super::packet::{COOKIE_KIND, COOKIE_LENGTH, COOKIE_REQUEST_KIND, REJOIN_LENGTH};
use crate::token::random_bytes;

/// The time for which a cookie is valid, in seconds.
const LIFETIME: u64 = 10;
/// A packet with a cookie: its kind, then the cookie.
pub(crate) const COOKIE_PACKET: usize = 1 + COOKIE_LENGTH;

/// Issues and verifies cookies.
pub(crate) struct Cookies {
    cipher: ChaCha20Poly1305,
    issued: u64,
}

impl Cookies {
    /// Creates a random key.
    pub(crate) fn new() -> Cookies {
        Cookies { cipher: ChaCha20Poly1305::new(&Key::from(random_bytes())), issued: 0 }
    }

    /// Issues a packet with a cookie for this address. `now` is in seconds.
    pub(crate) fn issue(&mut self, who: SocketAddr, now: u64) -> [u8; COOKIE_PACKET] {
        self.issued += 1;
        let mut packet = [0; COOKIE_PACKET];
        packet[0] = COOKIE_KIND;
        packet[1..9].copy_from_slice(&now.to_le_bytes());
        packet[9..17].copy_from_slice(&self.issued.to_le_bytes());
        // The plain text is empty and a number is never used twice, so encryption cannot fail.
        if let Ok(tag) = self.cipher.encrypt_in_place_detached(&nonce(self.issued), &signed(who, now), &mut []) {
            packet[17..].copy_from_slice(&tag);
        }
        packet
    }

    /// Returns the time at which a cookie was issued for this address, if it is valid.
    pub(crate) fn verify(&self, cookie: &[u8; COOKIE_LENGTH], who: SocketAddr, now: u64) -> Option<u64> {
        let (issued, rest) = cookie.split_first_chunk::<8>()?;
        let (number, tag) = rest.split_first_chunk::<8>()?;
        let (issued, number) = (u64::from_le_bytes(*issued), u64::from_le_bytes(*number));
        let signed = signed(who, issued);
        let tag = Tag::from_slice(tag);
        self.cipher.decrypt_in_place_detached(&nonce(number), &signed, &mut [], tag).ok()?;
        (issued <= now && now - issued <= LIFETIME).then_some(issued)
    }
}

/// Writes a request with its cookie. The request is at most [`REJOIN_LENGTH`] bytes long.
pub(crate) fn with_cookie(cookie: &[u8; COOKIE_LENGTH], request: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(COOKIE_PACKET + REJOIN_LENGTH);
    packet.push(COOKIE_REQUEST_KIND);
    packet.extend_from_slice(cookie);
    packet.extend_from_slice(request);
    packet
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_le_bytes());
    Nonce::from(nonce)
}

/// The data that a cookie authenticates.
fn signed(who: SocketAddr, issued: u64) -> [u8; 26] {
    let mut bytes = [0; 26];
    let address = match who.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    bytes[..16].copy_from_slice(&address.octets());
    bytes[16..18].copy_from_slice(&who.port().to_le_bytes());
    bytes[18..].copy_from_slice(&issued.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(packet: [u8; COOKIE_PACKET]) -> [u8; COOKIE_LENGTH] {
        packet[1..].try_into().expect("the rest of the packet")
    }

    #[test]
    fn a_cookie_is_valid_for_its_address_and_for_ten_seconds() {
        let mut cookies = Cookies::new();
        let ana = SocketAddr::from(([127, 0, 0, 1], 4_000));
        let first = cookie(cookies.issue(ana, 100));
        assert_ne!(first, cookie(cookies.issue(ana, 100)));
        assert_eq!(cookies.verify(&first, ana, 100), Some(100));
        assert_eq!(cookies.verify(&first, ana, 110), Some(100));
        assert_eq!(cookies.verify(&first, ana, 111), None, "expired");
        assert_eq!(cookies.verify(&first, ana, 99), None, "from the future");
        for other in [SocketAddr::from(([127, 0, 0, 1], 4_001)), SocketAddr::from(([127, 0, 0, 2], 4_000))] {
            assert_eq!(cookies.verify(&first, other, 100), None);
        }
        assert_eq!(Cookies::new().verify(&first, ana, 100), None, "another server");
        for at in 0..COOKIE_LENGTH {
            let mut changed = first;
            changed[at] ^= 1;
            assert_eq!(cookies.verify(&changed, ana, 100), None);
        }
    }
}
