//! Connection requests: reads the encrypted part of a token, and writes it again with other contents.
//!
//! `renetcode2` accepts or rejects a request without reporting which player sent it. The listener reads the request
//! first, because it may have to end an older connection of the same player, and because a server without a key must
//! not trust the expiry and the timeout in a token that a client created.

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{Key, KeyInit, Tag, XChaCha20Poly1305, XNonce};
use renetcode2::{NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES};

use super::packet::{REQUEST_LENGTH, VERSION};

const PROTOCOL_AT: usize = 1 + VERSION.len();
const EXPIRY_AT: usize = PROTOCOL_AT + 8;
const NONCE_AT: usize = EXPIRY_AT + 8;
const NONCE_BYTES: usize = 24;
const PRIVATE_AT: usize = NONCE_AT + NONCE_BYTES;
const TAG_BYTES: usize = 16;
const TAG_AT: usize = REQUEST_LENGTH - TAG_BYTES;
const PRIVATE_BYTES: usize = TAG_AT - PRIVATE_AT;
const TIMEOUT_AT: usize = 8;
const ADDRESSES_AT: usize = TIMEOUT_AT + 4 + 1;
/// Netcode reads at most this many server addresses.
const MAX_ADDRESSES: usize = 32;

/// The nonce that derives the key of a rejoin from the key of a session. No packet of a session has this nonce: the
/// first four bytes of their nonces, at the same place, are zero.
const REJOIN_NONCE: &[u8; NONCE_BYTES] = b"ugas rejoin request 1...";

pub(crate) type SessionKey = [u8; NETCODE_KEY_BYTES];

/// A decrypted connection request.
pub(crate) struct OpenRequest {
    /// When the token expires, in seconds since the Unix epoch.
    pub(crate) expiry: u64,
    /// The authentication code, which differs between tokens.
    pub(crate) tag: [u8; TAG_BYTES],
    nonce: [u8; NONCE_BYTES],
    private: Box<[u8; PRIVATE_BYTES]>,
    keys_at: usize,
}

impl OpenRequest {
    /// Decrypts a request. Returns `None` if its protocol or key differs, or if it was changed.
    pub(crate) fn open(request: &[u8], protocol: u64, key: &SessionKey) -> Option<OpenRequest> {
        let request: &[u8; REQUEST_LENGTH] = request.try_into().ok()?;
        let is_expected = request[0] == 0
            && request[1..PROTOCOL_AT] == *VERSION
            && request[PROTOCOL_AT..EXPIRY_AT] == protocol.to_le_bytes();
        if !is_expected {
            return None;
        }
        let nonce = *request[NONCE_AT..].first_chunk()?;
        let tag = *request[TAG_AT..].first_chunk()?;
        let mut private = Box::new(*request[PRIVATE_AT..].first_chunk::<PRIVATE_BYTES>()?);
        let cipher = XChaCha20Poly1305::new(Key::from_slice(key));
        let (signed, expected) = (&request[1..NONCE_AT], Tag::from_slice(&tag));
        cipher.decrypt_in_place_detached(XNonce::from_slice(&nonce), signed, &mut private[..], expected).ok()?;
        let keys_at = end_of_addresses(&private[..])?;
        private.get(keys_at..keys_at + 2 * NETCODE_KEY_BYTES + NETCODE_USER_DATA_BYTES)?;
        let expiry = u64::from_le_bytes(*request[EXPIRY_AT..].first_chunk()?);
        Some(OpenRequest { expiry, tag, nonce, private, keys_at })
    }

    /// Returns the number of the player.
    pub(crate) fn client(&self) -> u64 {
        self.private.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns the key with which the player authorises a rejoin.
    pub(crate) fn rejoin_key(&self) -> SessionKey {
        self.private[self.keys_at..].first_chunk().map_or([0; NETCODE_KEY_BYTES], rejoin_key)
    }

    /// Returns the user data in the space that netcode reserves.
    pub(crate) fn user_data(&self) -> &[u8; NETCODE_USER_DATA_BYTES] {
        const NONE: &[u8; NETCODE_USER_DATA_BYTES] = &[0; NETCODE_USER_DATA_BYTES];
        self.private[self.keys_at + 2 * NETCODE_KEY_BYTES..].first_chunk().unwrap_or(NONE)
    }

    /// Replaces the user data.
    pub(crate) fn set_user_data(&mut self, user_data: &[u8; NETCODE_USER_DATA_BYTES]) {
        let at = self.keys_at + 2 * NETCODE_KEY_BYTES;
        self.private[at..at + NETCODE_USER_DATA_BYTES].copy_from_slice(user_data);
    }

    /// Replaces the time without packets after which the connection ends.
    pub(crate) fn set_timeout(&mut self, seconds: i32) {
        self.private[TIMEOUT_AT..TIMEOUT_AT + 4].copy_from_slice(&seconds.to_le_bytes());
    }

    /// Encrypts the request with this key and expiry. The same arguments give the same bytes.
    pub(crate) fn seal(mut self, protocol: u64, key: &SessionKey, expiry: u64) -> Option<[u8; REQUEST_LENGTH]> {
        let mut request = [0; REQUEST_LENGTH];
        request[1..PROTOCOL_AT].copy_from_slice(VERSION);
        request[PROTOCOL_AT..EXPIRY_AT].copy_from_slice(&protocol.to_le_bytes());
        request[EXPIRY_AT..NONCE_AT].copy_from_slice(&expiry.to_le_bytes());
        request[NONCE_AT..PRIVATE_AT].copy_from_slice(&self.nonce);
        let cipher = XChaCha20Poly1305::new(Key::from_slice(key));
        let nonce = XNonce::from_slice(&self.nonce);
        let tag = cipher.encrypt_in_place_detached(nonce, &request[1..NONCE_AT], &mut self.private[..]).ok()?;
        request[PRIVATE_AT..TAG_AT].copy_from_slice(&self.private[..]);
        request[TAG_AT..].copy_from_slice(&tag);
        Some(request)
    }
}

/// Derives the key with which a player authorises a rejoin from the key of its session. Only the player and the server
/// know both.
pub(crate) fn rejoin_key(session: &SessionKey) -> SessionKey {
    let mut key = [0; NETCODE_KEY_BYTES];
    let cipher = XChaCha20Poly1305::new(Key::from_slice(session));
    // Encrypting 32 bytes cannot fail.
    let _ = cipher.encrypt_in_place_detached(XNonce::from_slice(REJOIN_NONCE), &[], &mut key);
    key
}

/// Returns where the list of server addresses in the private part of a token ends.
fn end_of_addresses(private: &[u8]) -> Option<usize> {
    let count = u32::from_le_bytes(*private.get(ADDRESSES_AT..)?.first_chunk()?);
    let mut at = ADDRESSES_AT + 4;
    for _ in 0..(count as usize).min(MAX_ADDRESSES) {
        at += match private.get(at)? {
            1 => 1 + 4 + 2,
            2 => 1 + 16 + 2,
            _ => return None,
        };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use renetcode2::{ConnectToken, Packet};
    use std::time::Duration;

    const KEY: SessionKey = [7; 32];

    fn request(addresses: &[&str]) -> (ConnectToken, Vec<u8>) {
        let addresses = addresses.iter().map(|address| address.parse().expect("an address")).collect();
        let token = ConnectToken::generate(Duration::from_secs(100), 5, 60, 9, 10, 1, addresses, Some(&[3; 256]), &KEY);
        let token = token.expect("a token");
        let mut buffer = [0; 1_400];
        let length = Packet::connection_request_from_token(&token).encode(&mut buffer, 5, None, true);
        let request = buffer[..length.expect("it fits")].to_vec();
        (token, request)
    }

    #[test]
    fn the_contents_of_a_token_are_read_and_written_again() {
        for addresses in [&["127.0.0.1:1"][..], &["[::1]:1", "127.0.0.1:2"]] {
            let (token, request) = request(addresses);
            let opened = OpenRequest::open(&request, 5, &KEY).expect("it is valid");
            assert_eq!((opened.client(), opened.expiry), (9, 160));
            assert_eq!(opened.rejoin_key(), rejoin_key(&token.client_to_server_key));
            assert_eq!(opened.user_data(), &[3; 256]);
            let again = opened.seal(5, &KEY, 160).expect("it is sealed");
            assert_eq!(again, request[..], "unchanged");

            let mut opened = OpenRequest::open(&request, 5, &KEY).expect("it is valid");
            opened.set_user_data(&[4; 256]);
            opened.set_timeout(3);
            let changed = opened.seal(5, &[8; 32], 170).expect("it is sealed");
            let opened = OpenRequest::open(&changed, 5, &[8; 32]).expect("it is valid");
            assert_eq!((opened.expiry, opened.user_data()), (170, &[4; 256]));
            assert_eq!(opened.private[TIMEOUT_AT..TIMEOUT_AT + 4], 3i32.to_le_bytes());
        }
    }

    #[test]
    fn a_changed_request_is_rejected() {
        let (_, request) = request(&["127.0.0.1:1"]);
        assert!(OpenRequest::open(&request, 6, &KEY).is_none());
        assert!(OpenRequest::open(&request, 5, &[8; 32]).is_none());
        assert!(OpenRequest::open(&request[1..], 5, &KEY).is_none());
        for at in (0..request.len()).step_by(7) {
            let mut changed = request.clone();
            changed[at] ^= 1;
            assert!(OpenRequest::open(&changed, 5, &KEY).is_none(), "byte {at}");
        }
    }
}
