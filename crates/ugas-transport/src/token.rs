//! Who may come in: the key that a server (or the service that sends players to it) keeps, and the tokens made with it,
//! one for each player and connection. A token is text, so that it goes through a file, a chat or a web page.

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

/// On what datagrams travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carrier {
    /// UDP: the first choice wherever it is possible.
    Udp,
    /// WebSocket: for browsers and for networks that let nothing but the web through. Late packets delay those behind.
    WebSocket,
    /// WebTransport: for browsers that have it.
    WebTransport,
}

impl Carrier {
    /// All of them; the position of one is the number of its socket in tokens.
    pub const ALL: [Carrier; 3] = [Carrier::Udp, Carrier::WebSocket, Carrier::WebTransport];

    /// The short name, as in `udp://127.0.0.1:4000`.
    pub fn scheme(self) -> &'static str {
        match self {
            Carrier::Udp => "udp",
            Carrier::WebSocket => "ws",
            Carrier::WebTransport => "wt",
        }
    }

    pub(crate) fn index(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Carrier::Udp => "UDP",
            Carrier::WebSocket => "WebSocket",
            Carrier::WebTransport => "WebTransport",
        })
    }
}

/// The secret of a server. Who has it can make tokens for anybody, so it never goes to a client.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; NETCODE_KEY_BYTES]);

/// Bytes from the system's source of randomness: for a server's secret, which nobody may guess.
///
/// ```
/// assert_ne!(ugas_transport::random_bytes::<16>(), ugas_transport::random_bytes::<16>());
/// ```
pub fn random_bytes<const N: usize>() -> [u8; N] {
    generate_random_bytes()
}

impl Key {
    /// A new one from the system's source of randomness.
    pub fn random() -> Key {
        Key(generate_random_bytes())
    }

    /// The one with these bytes, for a server and a login service that share it.
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

/// Whom a token lets in, and where.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// Tells players apart: a second connection with the same number is refused while the first lasts.
    pub client: u64,
    /// What the server hears about the player with [`Event::Connected`](crate::Event::Connected); at most
    /// [`MAX_USER_DATA`] bytes. The player cannot change it.
    pub user_data: &'a [u8],
    /// On what.
    pub carrier: Carrier,
    /// The server's address as the player reaches it.
    pub address: SocketAddr,
}

/// The right to connect once, as one player, to one server, for a short time.
///
/// ```
/// use std::time::Duration;
/// use ugas_transport::{Carrier, Identity, Key, Token};
///
/// let key = Key::random();
/// let address = "127.0.0.1:4000".parse()?;
/// let ana = Identity { client: 7, user_data: b"Ana", carrier: Carrier::Udp, address };
/// let token = Token::issue(&key, 1, ana, Duration::from_secs(1_800_000_000), Duration::from_secs(60))?;
/// assert_eq!(token.to_string().parse::<Token>()?, token);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    carrier: Carrier,
    address: SocketAddr,
    inner: Box<ConnectToken>,
}

impl Token {
    /// After this long without a packet either side takes the other for gone.
    pub const TIMEOUT: Duration = Duration::from_secs(10);

    /// A token that is good from `now` (since the Unix epoch) for `lifetime`. The protocol must be the server's.
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

    /// On what it connects.
    pub fn carrier(&self) -> Carrier {
        self.carrier
    }

    /// Where it connects to.
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
        let carrier = Carrier::ALL.get(inner.socket_id as usize).copied();
        let carrier = carrier.ok_or_else(|| unreadable(format!("no carrier has the number {}", inner.socket_id)))?;
        Ok(Token { carrier, address, inner: Box::new(inner) })
    }
}

/// Why a token cannot be made or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// The text is something else.
    #[error("expected the line `{HEADING}`, found `{found}`: this is no token, or one of another version")]
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
    #[error("the token is damaged: {cause}; ask for a new one")]
    Content {
        /// What is wrong with it.
        cause: String,
    },
    /// Too much to say about a player.
    #[error("user data of {length} bytes is longer than {MAX_USER_DATA}")]
    UserData {
        /// How long it is.
        length: usize,
    },
    /// It cannot be made.
    #[error("the token cannot be made: {cause}")]
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
