//! The client side of UDP and WebSocket.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use renetcode2::{ClientAuthentication, ConnectToken, DisconnectReason, NetcodeClient};
use ugas_net::types::MAX_DATAGRAM;

use super::MAX_PACKET;
use super::cookie::with_cookie;
use super::packet::{COOKIE_KIND, COOKIE_LENGTH, is_well_formed};
use super::ticket::rejoin_packet;
use crate::error::{SendError, TransportError, check_length};
use crate::socket::ClientSocket;
use crate::token::{Identity, Key, Token, TokenError, TransportKind};
use crate::transport::{ClientTransport, CloseReason, State};

/// The maximum number of packets that one poll reads.
const READS: usize = 4_096;
/// The lifetime of a token that a client creates for itself.
const OWN_LIFETIME: Duration = Duration::from_secs(300);

/// The configuration of a [`Connector`].
#[derive(Clone, Copy, Debug)]
pub struct ConnectorConfig {
    /// The current time since the Unix epoch. [`ClientTransport::poll`] advances this time.
    pub now: Duration,
    /// The maximum time to wait for the TCP connection of a WebSocket.
    pub connect_timeout: Duration,
}

/// The client side of UDP and WebSocket.
///
/// ```no_run
/// use std::time::Duration;
/// use ugas_transport::{Connector, ConnectorConfig, ClientTransport, State, Token};
///
/// let token: Token = std::fs::read_to_string("Ana.token")?.parse()?;
/// let config = ConnectorConfig { now: Duration::from_secs(1_800_000_000), connect_timeout: Duration::from_secs(5) };
/// let mut client = Connector::connect(token, config)?;
/// while client.state() == State::Connecting {
///     std::thread::sleep(Duration::from_millis(10));
///     client.poll(Duration::from_millis(10), &mut |datagram| println!("{} bytes", datagram.len()))?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Connector {
    netcode: NetcodeClient,
    kind: TransportKind,
    socket: Box<dyn ClientSocket>,
    broken: Option<CloseReason>,
    ticket: Token,
    /// The player number in a request to connect again.
    rejoin: Option<u64>,
    /// The cookie of the server, which every further request contains.
    cookie: Option<[u8; COOKIE_LENGTH]>,
    /// The last request, which is repeated at once when a cookie arrives.
    request: Vec<u8>,
    buffer: [u8; MAX_PACKET],
}

impl Connector {
    /// Connects with a token that the server or its login service issued.
    pub fn connect(token: Token, config: ConnectorConfig) -> Result<Connector, TransportError> {
        Connector::start(token.clone().into_inner(), token, config, None)
    }

    /// Connects again with the token of an earlier connection ([`ticket`](Self::ticket)), for example after a crash.
    /// The server ends the old connection if it is still open. A player can do this while it is connected and until two
    /// minutes after its connection was lost, but not after a deliberate disconnect.
    ///
    /// [`ConnectorConfig::now`] must be later than at every earlier attempt.
    pub fn rejoin(ticket: Token, config: ConnectorConfig) -> Result<Connector, TransportError> {
        let inner = ticket.rejoin(config.now)?;
        let client = inner.client_id;
        Connector::start(inner, ticket, config, Some(client))
    }

    fn start(
        connect_token: ConnectToken,
        ticket: Token,
        config: ConnectorConfig,
        rejoin: Option<u64>,
    ) -> Result<Connector, TransportError> {
        let kind = ticket.kind();
        let socket = open(kind, ticket.address(), config.connect_timeout)?;
        let netcode = NetcodeClient::new(config.now, ClientAuthentication::Secure { connect_token })
            .map_err(|cause| TokenError::Content { cause: cause.to_string() })?;
        Ok(Connector {
            netcode,
            kind,
            socket,
            broken: None,
            ticket,
            rejoin,
            cookie: None,
            request: Vec::new(),
            buffer: [0; MAX_PACKET],
        })
    }

    /// Returns the rejoin ticket of this connection. [`rejoin`](Self::rejoin) uses it to replace the connection after
    /// it was lost. To be able to rejoin after a crash, store the ticket in a file that only the player can read.
    pub fn ticket(&self) -> &Token {
        &self.ticket
    }

    /// Connects without a token to a server with [`Auth::Open`](crate::Auth::Open). Other servers do not answer.
    pub fn connect_open(
        protocol: u64,
        who: Identity<'_>,
        config: ConnectorConfig,
    ) -> Result<Connector, TransportError> {
        let token = Token::issue(&Key::public(), protocol, who, config.now, OWN_LIFETIME)?;
        Connector::connect(token, config)
    }

    /// Returns the URL of the server, such as `udp://127.0.0.1:4000`.
    pub fn server(&self) -> String {
        format!("{}://{}", self.kind.scheme(), self.netcode.server_addr())
    }

    fn read(&mut self, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError> {
        for _ in 0..READS {
            let (length, from) = match self.socket.receive(&mut self.buffer) {
                Ok(Some(packet)) => packet,
                Ok(None) => return Ok(()),
                Err(cause) => return self.fail(cause),
            };
            let packet = &mut self.buffer[..length];
            if from != self.netcode.server_addr() {
                continue;
            }
            if let (&[COOKIE_KIND, ref cookie @ ..], true) = (&*packet, self.netcode.is_connecting()) {
                if let Ok(cookie) = cookie.try_into() {
                    self.cookie = Some(cookie);
                    self.repeat_request();
                }
                continue;
            }
            if !is_well_formed(packet) {
                continue;
            }
            if let Some(payload) = self.netcode.process_packet(packet)
                && payload.len() <= MAX_DATAGRAM
            {
                datagrams(payload);
            }
        }
        Ok(())
    }

    /// Sends the last request again, with the cookie. If this packet is lost, netcode repeats the request.
    fn repeat_request(&mut self) {
        if let Some(cookie) = &self.cookie
            && !self.request.is_empty()
        {
            let request = std::mem::take(&mut self.request);
            // A failure of the socket shows at the next read.
            let _ = self.socket.send(self.netcode.server_addr(), &with_cookie(cookie, &request));
        }
    }

    /// Sends a packet of netcode. A request is sent with the ticket and the cookie.
    fn send_ping(&mut self) -> std::io::Result<()> {
        let rejoin = self.rejoin;
        let Some((packet, to)) = self.netcode.generate_ping() else { return Ok(()) };
        if packet.first() != Some(&0) {
            return self.socket.send(to, packet);
        }
        self.request = rejoin.map_or_else(|| packet.to_vec(), |client| rejoin_packet(client, packet));
        match &self.cookie {
            Some(cookie) => self.socket.send(to, &with_cookie(cookie, &self.request)),
            None => self.socket.send(to, &self.request),
        }
    }

    /// Ends the connection. Returns an error unless the connection was closed. A server that closes the connection in
    /// an orderly way during the handshake ([`ErrorKind::ConnectionAborted`]) rejects the client.
    fn fail(&mut self, cause: std::io::Error) -> Result<(), TransportError> {
        let is_rejected = !self.netcode.is_connected() && cause.kind() == ErrorKind::ConnectionAborted;
        self.broken = Some(if is_rejected { CloseReason::Rejected } else { CloseReason::ConnectionLost });
        if let ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionReset
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof = cause.kind()
        {
            Ok(())
        } else {
            Err(TransportError::Socket { kind: self.kind, cause })
        }
    }
}

impl ClientTransport for Connector {
    fn poll(&mut self, elapsed: Duration, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError> {
        if let State::Disconnected(_) = self.state() {
            return Ok(());
        }
        self.read(datagrams)?;
        self.netcode.update(elapsed);
        match self.send_ping() {
            Err(cause) if cause.kind() != ErrorKind::WouldBlock => self.fail(cause),
            _ => Ok(()),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other error kinds are handled alike")]
    fn send(&mut self, datagram: &[u8]) -> Result<(), SendError> {
        check_length(datagram)?;
        if self.state() != State::Connected {
            return Err(SendError::NotConnected);
        }
        let packet = self.netcode.generate_payload_packet(datagram);
        let (to, packet) = packet.map_err(|_| SendError::NotConnected)?;
        self.socket.send(to, packet).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => SendError::Full,
            ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset => SendError::NotConnected,
            _ => SendError::System(error.to_string()),
        })
    }

    fn disconnect(&mut self) {
        if let State::Disconnected(_) = self.state() {
            return;
        }
        if let Ok((to, packet)) = self.netcode.disconnect() {
            let _ = self.socket.send(to, packet);
        }
    }

    fn state(&self) -> State {
        // The disconnect reason that netcode received is more specific than the end of the socket.
        match (self.netcode.disconnect_reason(), self.broken) {
            (Some(reason), _) => State::Disconnected(match close_reason(reason) {
                CloseReason::NoAnswer if self.socket.is_port_closed() => CloseReason::PortClosed,
                reason @ CloseReason::ByClient
                | reason @ CloseReason::ByServer
                | reason @ CloseReason::TimedOut
                | reason @ CloseReason::Replaced
                | reason @ CloseReason::Unconfirmed
                | reason @ CloseReason::ConnectionLost
                | reason @ CloseReason::Rejected
                | reason @ CloseReason::NoAnswer
                | reason @ CloseReason::PortClosed
                | reason @ CloseReason::Expired => reason,
            }),
            (None, Some(reason)) => State::Disconnected(reason),
            (None, None) if self.netcode.is_connected() => State::Connected,
            (None, None) => State::Connecting,
        }
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        self.disconnect();
    }
}

fn close_reason(reason: DisconnectReason) -> CloseReason {
    match reason {
        DisconnectReason::ConnectTokenExpired => CloseReason::Expired,
        DisconnectReason::ConnectionTimedOut => CloseReason::TimedOut,
        DisconnectReason::ConnectionResponseTimedOut | DisconnectReason::ConnectionRequestTimedOut => {
            CloseReason::NoAnswer
        }
        DisconnectReason::ConnectionDenied => CloseReason::Rejected,
        DisconnectReason::DisconnectedByClient => CloseReason::ByClient,
        DisconnectReason::DisconnectedByServer => CloseReason::ByServer,
    }
}

fn open(
    kind: TransportKind,
    server: SocketAddr,
    connect_timeout: Duration,
) -> Result<Box<dyn ClientSocket>, TransportError> {
    let cannot = |cause| TransportError::Reach { kind, address: server, cause };
    match kind {
        #[cfg(feature = "udp")]
        TransportKind::Udp => Ok(Box::new(crate::socket::udp::UdpClient::connect(server).map_err(cannot)?)),
        #[cfg(feature = "websocket")]
        TransportKind::WebSocket => {
            let socket = crate::socket::websocket::WebSocketClient::connect(server, connect_timeout).map_err(cannot)?;
            Ok(Box::new(socket))
        }
        #[allow(unreachable_patterns, reason = "the cargo features decide which transports are built")]
        _ => {
            let _ = (cannot, connect_timeout);
            Err(TransportError::NotBuilt { kind })
        }
    }
}
