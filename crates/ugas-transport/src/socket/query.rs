//! The first packet of a client as the query of a URL (`/?creq=…`), as in `renet2`: the server can check it before it
//! opens a WebSocket or WebTransport session.

/// The longest packet of netcode.
pub(super) const MAX_PACKET: usize = 1_400;
const REQUEST_KEY: &str = "creq=";

/// Encodes a packet as the query of a URL: letters, digits and `-_.~` unchanged, the rest as `%XX`.
#[cfg(feature = "websocket")]
pub(super) fn to_query(packet: &[u8]) -> String {
    let mut text = String::with_capacity(REQUEST_KEY.len() + packet.len() * 3);
    text.push_str(REQUEST_KEY);
    for &byte in packet {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text.push(byte.into()),
            _ => {
                let digit = |value: u8| char::from_digit(value as u32, 16).unwrap_or('0').to_ascii_uppercase();
                text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    text
}

/// Decodes the packet in the query of a URL. Returns `None` if the query has no packet or the packet is too long.
pub(super) fn from_query(query: &str) -> Option<Vec<u8>> {
    let (_, text) = query.split_once(REQUEST_KEY)?;
    let mut packet = Vec::with_capacity(text.len().min(MAX_PACKET));
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: Option<u8>| char::from(byte?).to_digit(16).map(|value| value as u8);
        packet.push(match byte {
            b'&' => break,
            b'%' => hex(bytes.next())? << 4 | hex(bytes.next())?,
            plain => plain,
        });
        if packet.len() > MAX_PACKET {
            return None;
        }
    }
    Some(packet)
}

#[cfg(all(test, feature = "websocket"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_round_trips_through_the_query(packet in prop::collection::vec(any::<u8>(), 0..MAX_PACKET)) {
            let query = to_query(&packet);
            prop_assert!(query.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(from_query(&query), Some(packet));
        }

        #[test]
        fn arbitrary_queries_do_not_panic(query in ".{0,200}") {
            let _ = from_query(&query);
            let _ = from_query(&format!("creq={query}"));
        }
    }

    #[test]
    fn a_query_that_is_too_long_or_truncated_is_rejected() {
        assert_eq!(from_query(&to_query(&[7; MAX_PACKET + 1])), None);
        assert_eq!(from_query("creq=%4"), None);
        assert_eq!(from_query("a=b"), None);
        assert_eq!(from_query("a=b&creq=%41bc&d=e"), Some(b"Abc".to_vec()));
    }
}
