//! Authentication: the secret key of a server or login service, and the tokens that are issued with this key, one per
//! player and connection. A token is written and parsed as text.

use std::fmt::{self, Write as _};
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use renetcode2::{ConnectToken, NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES, generate_random_bytes};
use thiserror::Error;

use crate::netcode::rejoin_key;

/// The maximum number of bytes of user data in a token. Netcode reserves 256 bytes, of which the first contains the
/// length of the user data.
pub const MAX_USER_DATA: usize = NETCODE_USER_DATA_BYTES - 1;

const HEADING: &str = "ugas connect token 1";
/// Longer texts are rejected without being decoded. No token is longer, even with the maximum of 32 addresses.
const MAX_TOKEN_BYTES: usize = 2_048;

/// The lifetime of the token of a rejoin. The client stops trying to connect after this time.
const REJOIN_LIFETIME: Duration = Duration::from_secs(60);

/// The kind of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransportKind {
    /// UDP, the preferred transport.
    Udp,
    /// WebSocket, for browsers and for networks that allow only web traffic. A lost packet delays all later packets.
    WebSocket,
    /// WebTransport, for browsers.
    WebTransport,
}

impl TransportKind {
    /// All kinds. The index of a kind in this array is the socket id in every token for this kind.
    pub const ALL: [TransportKind; 3] = [TransportKind::Udp, TransportKind::WebSocket, TransportKind::WebTransport];

    /// Returns the URL scheme, as in `udp://127.0.0.1:4000`.
    pub fn scheme(self) -> &'static str {
        match self {
            TransportKind::Udp => "udp",
            TransportKind::WebSocket => "ws",
            TransportKind::WebTransport => "wt",
        }
    }

    pub(crate) fn index(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransportKind::Udp => "UDP",
            TransportKind::WebSocket => "WebSocket",
            TransportKind::WebTransport => "WebTransport",
        })
    }
}

/// The secret key of a server. Whoever has the key can issue tokens for every player, so never send the key to a
/// client.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; NETCODE_KEY_BYTES]);

/// Returns random bytes from the operating system, e.g. for the secret of a server.
///
/// ```
/// assert_ne!(ugas_transport::random_bytes::<16>(), ugas_transport::random_bytes::<16>());
/// ```
pub fn random_bytes<const N: usize>() -> [u8; N] {
    generate_random_bytes()
}

impl Key {
    /// Creates a random key.
    pub fn random() -> Key {
        Key(generate_random_bytes())
    }

    /// Creates a key from bytes, for a server and a login service that share it.
    pub fn from_bytes(bytes: [u8; NETCODE_KEY_BYTES]) -> Key {
        Key(bytes)
    }

    /// Returns the publicly known key of servers that accept every peer.
    pub(crate) fn public() -> Key {
        Key([0; NETCODE_KEY_BYTES])
    }

    pub(crate) fn bytes(&self) -> &[u8; NETCODE_KEY_BYTES] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

/// The player and the server that a token is for.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The number of the player. While a connection with this number is open and in use, the server rejects a second
    /// one, unless its token expires later or it is a [`rejoin`](crate::Connector::rejoin).
    pub client: u64,
    /// The user data that [`Event::Connected`](crate::Event::Connected) reports, at most [`MAX_USER_DATA`] bytes. The
    /// player cannot change it.
    pub user_data: &'a [u8],
    /// The transport.
    pub kind: TransportKind,
    /// The public address of the server for this transport.
    pub address: SocketAddr,
}

/// A connect token: valid for one connection of one player to one server, for a limited time.
///
/// ```
/// use std::time::Duration;
/// use ugas_transport::{TransportKind, Identity, Key, Token};
///
/// let key = Key::random();
/// let address = "127.0.0.1:4000".parse()?;
/// let ana = Identity { client: 7, user_data: b"Ana", kind: TransportKind::Udp, address };
/// let token = Token::issue(&key, 1, ana, Duration::from_secs(1_800_000_000), Duration::from_secs(60))?;
/// assert_eq!(token.to_string().parse::<Token>()?, token);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    kind: TransportKind,
    address: SocketAddr,
    inner: Box<ConnectToken>,
}

impl Token {
    /// The time without packets after which a connection ends.
    pub const TIMEOUT: Duration = Duration::from_secs(10);

    /// Issues a token for this protocol that is valid for `lifetime`, starting at `now`, the time since the Unix epoch.
    pub fn issue(
        key: &Key,
        protocol: u64,
        who: Identity<'_>,
        now: Duration,
        lifetime: Duration,
    ) -> Result<Token, TokenError> {
        let inner = ConnectToken::generate(
            now,
            protocol,
            lifetime.as_secs().max(1),
            who.client,
            Token::TIMEOUT.as_secs() as i32,
            who.kind.index(),
            vec![who.address],
            Some(&pack(who.user_data)?),
            key.bytes(),
        );
        let inner = inner.map_err(|cause| TokenError::Make { cause: cause.to_string() })?;
        Ok(Token { kind: who.kind, address: who.address, inner: Box::new(inner) })
    }

    /// Returns the transport that the token is for.
    pub fn kind(&self) -> TransportKind {
        self.kind
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Creates the token of a rejoin: new session keys for the same player and server, encrypted with the key that the
    /// server derives from the session of this token. The server replaces the user data, so this space contains `now`.
    pub(crate) fn rejoin(&self, now: Duration) -> Result<ConnectToken, TokenError> {
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mut user_data = [0; NETCODE_USER_DATA_BYTES];
        user_data[..8].copy_from_slice(&millis.to_le_bytes());
        let inner = ConnectToken::generate(
            now,
            self.inner.protocol_id,
            REJOIN_LIFETIME.as_secs(),
            self.inner.client_id,
            Token::TIMEOUT.as_secs() as i32,
            self.kind.index(),
            vec![self.address],
            Some(&user_data),
            &rejoin_key(&self.inner.client_to_server_key),
        );
        inner.map_err(|cause| TokenError::Make { cause: cause.to_string() })
    }

    pub(crate) fn into_inner(self) -> ConnectToken {
        *self.inner
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}://{}, client {})", self.kind.scheme(), self.address, self.inner.client_id)
    }
}

/// Writes a heading and the token in hexadecimal digits on one line.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        self.inner.write(&mut bytes).map_err(|_| fmt::Error)?;
        let mut digits = String::with_capacity(bytes.len() * 2);
        bytes.iter().try_for_each(|byte| write!(digits, "{byte:02x}"))?;
        writeln!(f, "{HEADING}\n{digits}")
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token, TokenError> {
        let mut lines = text.lines();
        let heading = lines.next().unwrap_or_default();
        if heading != HEADING {
            return Err(TokenError::Heading { found: heading.chars().take(40).collect() });
        }
        let bytes = digits(lines.next().unwrap_or_default().trim())?;
        let unreadable = |cause: String| TokenError::Content { cause };
        let inner = ConnectToken::read(&mut bytes.as_slice()).map_err(|error| unreadable(error.to_string()))?;
        // The netcode client requires both conditions.
        if inner.expire_timestamp < inner.create_timestamp {
            return Err(unreadable("it expires before it was created".into()));
        }
        let address = inner.server_addresses[0].ok_or_else(|| unreadable("it has no server address".into()))?;
        let kind = TransportKind::ALL.get(inner.socket_id as usize).copied();
        let kind = kind.ok_or_else(|| unreadable(format!("unknown transport {}", inner.socket_id)))?;
        Ok(Token { kind, address, inner: Box::new(inner) })
    }
}

/// Why a token could not be created or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// The first line is not the heading of a token.
    #[error("expected the line `{HEADING}`, found `{found}`; this is not a token of this version")]
    Heading {
        /// The first line, or its beginning.
        found: String,
    },
    /// The second line is not an even number of hexadecimal digits, or is too long.
    #[error("expected an even number of hexadecimal digits, at most {}, found {found}", MAX_TOKEN_BYTES * 2)]
    Digits {
        /// What the second line contains instead.
        found: String,
    },
    /// The bytes do not form a token.
    #[error("the token is malformed: {cause}; request a new one")]
    Content {
        /// The reason.
        cause: String,
    },
    /// The user data is too long.
    #[error("user data of {length} bytes exceeds the limit of {MAX_USER_DATA}; send fewer bytes")]
    UserData {
        /// Its length.
        length: usize,
    },
    /// The token could not be created.
    #[error("cannot create the token: {cause}")]
    Make {
        /// The reason.
        cause: String,
    },
}

fn digits(text: &str) -> Result<Vec<u8>, TokenError> {
    let found = |what: String| TokenError::Digits { found: what };
    if text.len() > MAX_TOKEN_BYTES * 2 || !text.len().is_multiple_of(2) {
        return Err(found(format!("{} characters", text.len())));
    }
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let byte = |pair: &[u8]| match pair {
        &[high, low] => Some(value(high)? << 4 | value(low)?),
        _ => None,
    };
    let bytes = text.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>();
    bytes.ok_or_else(|| found("another character".into()))
}

/// Writes user data with its length into the space that netcode reserves.
fn pack(user_data: &[u8]) -> Result<[u8; NETCODE_USER_DATA_BYTES], TokenError> {
    let length = user_data.len();
    let mut packed = [0; NETCODE_USER_DATA_BYTES];
    let (first, rest) = packed.split_at_mut(1);
    let space = rest.get_mut(..length).ok_or(TokenError::UserData { length })?;
    space.copy_from_slice(user_data);
    first[0] = length as u8;
    Ok(packed)
}

/// Reads user data written by [`pack`]. A client of a server without a key may send any bytes, so a length beyond the
/// reserved space is clamped.
pub(crate) fn unpack(packed: &[u8; NETCODE_USER_DATA_BYTES]) -> &[u8] {
    let (length, rest) = packed.split_first().map_or((0, &[][..]), |(first, rest)| (*first as usize, rest));
    rest.get(..length).unwrap_or(rest)
}
