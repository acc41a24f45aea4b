//! Authentication: the secret key of a server or login service, and the tokens issued with it, one per player and connection. A
//! token is text.

use std::fmt::{self, Write as _};
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use renetcode2::{ConnectToken, NETCODE_KEY_BYTES, NETCODE_USER_DATA_BYTES, generate_random_bytes};
use thiserror::Error;

/// The longest user data of a token: one byte of the space that netcode gives is its length.
pub const MAX_USER_DATA: usize = NETCODE_USER_DATA_BYTES - 1;

const HEADING: &str = "ugas connect token 1";
/// A token with all 32 addresses is shorter than this.
const MAX_TOKEN_BYTES: usize = 2_048;

/// The kind of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransportKind {
    /// UDP, the first choice.
    Udp,
    /// WebSocket, for browsers and networks that allow web traffic only. A late packet delays later ones.
    WebSocket,
    /// WebTransport, for browsers.
    WebTransport,
}

impl TransportKind {
    /// All kinds; the index is the socket number in tokens.
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

/// The secret key of a server. Its holder can issue tokens for everybody; never send it to a client.
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

    /// The key that everybody knows, of a server that lets everybody in.
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

/// The player and server of a token.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The number of the player. A second connection with the same number is rejected while the first is open.
    pub client: u64,
    /// User data for [`Event::Connected`](crate::Event::Connected), at most [`MAX_USER_DATA`] bytes. The player cannot change
    /// it.
    pub user_data: &'a [u8],
    /// On what.
    pub carrier: TransportKind,
    /// The public address of the server.
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
/// let ana = Identity { client: 7, user_data: b"Ana", carrier: TransportKind::Udp, address };
/// let token = Token::issue(&key, 1, ana, Duration::from_secs(1_800_000_000), Duration::from_secs(60))?;
/// assert_eq!(token.to_string().parse::<Token>()?, token);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    carrier: TransportKind,
    address: SocketAddr,
    inner: Box<ConnectToken>,
}

impl Token {
    /// The timeout of a connection.
    pub const TIMEOUT: Duration = Duration::from_secs(10);

    /// Issues a token that is valid from `now` (since the Unix epoch) for `lifetime`, for the server's protocol.
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
            who.carrier.index(),
            vec![who.address],
            Some(&pack(who.user_data)?),
            key.bytes(),
        );
        let inner = inner.map_err(|cause| TokenError::Make { cause: cause.to_string() })?;
        Ok(Token { carrier: who.carrier, address: who.address, inner: Box::new(inner) })
    }

    /// Returns the transport it is for.
    pub fn carrier(&self) -> TransportKind {
        self.carrier
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn into_inner(self) -> ConnectToken {
        *self.inner
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}://{}, client {})", self.carrier.scheme(), self.address, self.inner.client_id)
    }
}

/// A heading, and the token in hexadecimal digits on one line.
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
        // Netcode's client counts on both.
        if inner.expire_timestamp < inner.create_timestamp {
            return Err(unreadable("it expires before it was made".into()));
        }
        let address = inner.server_addresses[0].ok_or_else(|| unreadable("it names no server".into()))?;
        let carrier = TransportKind::ALL.get(inner.socket_id as usize).copied();
        let carrier = carrier.ok_or_else(|| unreadable(format!("no carrier has the number {}", inner.socket_id)))?;
        Ok(Token { carrier, address, inner: Box::new(inner) })
    }
}

/// Why a token cannot be created or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// The text is something else.
    #[error("expected the line `{HEADING}`, found `{found}`; this is not a token of this version")]
    Heading {
        /// The first line, or its beginning.
        found: String,
    },
    /// The second line is not hexadecimal.
    #[error("expected an even number of hexadecimal digits, at most {}, found {found}", MAX_TOKEN_BYTES * 2)]
    Digits {
        /// What stands there.
        found: String,
    },
    /// The bytes are no token.
    #[error("the token is malformed: {cause}; request a new one")]
    Content {
        /// What is wrong with it.
        cause: String,
    },
    /// The user data is too long.
    #[error("user data of {length} bytes is longer than {MAX_USER_DATA}")]
    UserData {
        /// How long it is.
        length: usize,
    },
    /// The token cannot be created.
    #[error("cannot create the token: {cause}")]
    Make {
        /// What is wrong.
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

/// User data with its length, in the space that netcode has for it.
fn pack(user_data: &[u8]) -> Result<[u8; NETCODE_USER_DATA_BYTES], TokenError> {
    let length = user_data.len();
    let mut packed = [0; NETCODE_USER_DATA_BYTES];
    let (first, rest) = packed.split_at_mut(1);
    let space = rest.get_mut(..length).ok_or(TokenError::UserData { length })?;
    space.copy_from_slice(user_data);
    first[0] = length as u8;
    Ok(packed)
}

/// What [`pack`] put in. A client of a server without a key may say anything: a length beyond the space means all of it.
pub(crate) fn unpack(packed: &[u8; NETCODE_USER_DATA_BYTES]) -> &[u8] {
    let (length, rest) = packed.split_first().map_or((0, &[][..]), |(first, rest)| (*first as usize, rest));
    rest.get(..length).unwrap_or(rest)
}
