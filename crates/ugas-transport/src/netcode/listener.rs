//! The server side of UDP, WebSocket and WebTransport.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use renetcode2::{NetcodeServer, ServerResult};
use ugas_net::types::{MAX_DATAGRAM, PeerId};

use super::MAX_PACKET;
use super::admission::{Admission, Candidate, Screened};
use super::builder::ListenerBuilder;
use super::packet::is_well_formed;
use crate::bucket::Bucket;
use crate::counts::Counts;
use crate::error::{SendError, TransportError, check_length};
use crate::limits::Limits;
use crate::socket::ServerSocket;
use crate::token::{Identity, Key, Token, TransportKind, unpack};
use crate::transport::{CloseReason, Event, ServerTransport};

/// The time without packets after which another token of the same player with the same expiry replaces a connection. A
/// connected client sends at least four packets per second.
const SILENCE: Duration = Duration::from_millis(750);
/// The minimum age of an unconfirmed peer that a new peer may replace when the server is full.
const MIN_AGE: Duration = Duration::from_secs(1);

/// The peers that may connect.
#[derive(Clone, Debug)]
pub enum Auth {
    /// Only peers with a token that was issued with this key.
    Key(Key),
    /// Every peer, with any client number and user data. Use this variant only for development: packets are encrypted
    /// with a publicly known key.
    Open,
}

/// The configuration of a [`Listener`].
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// The protocol number of the game. The server does not answer peers whose token has another protocol number.
    pub protocol: u64,
    /// The peers that may connect.
    pub auth: Auth,
    /// The limits of the server.
    pub limits: Limits,
    /// The current time since the Unix epoch. [`ServerTransport::poll`] advances this time.
    pub now: Duration,
    /// The lifetime of tokens, in seconds. The server rejects a token that expires within this many seconds after the
    /// start of the server, because the token may have been used before a restart. A login service must therefore issue
    /// tokens with at least this lifetime.
    pub token_lifetime: u16,
}

/// The server side of UDP, WebSocket and WebTransport.
///
/// ```
/// use std::time::Duration;
/// use ugas_transport::{Auth, TransportKind, Key, Limits, Listener, ListenerConfig};
///
/// let config = ListenerConfig {
///     protocol: 1,
///     auth: Auth::Key(Key::random()),
///     limits: Limits::default(),
///     now: Duration::from_secs(1_800_000_000),
///     token_lifetime: 60,
/// };
/// let listener = Listener::builder(config).bind(TransportKind::Udp, "127.0.0.1:0".parse()?, None)?.start()?;
/// let token = listener.issue(TransportKind::Udp, 7, b"Ana")?;
/// assert_eq!(Some(token.address()), listener.address(TransportKind::Udp));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Listener {
    netcode: NetcodeServer,
    config: ListenerConfig,
    elapsed: Duration,
    sockets: [Option<Endpoint>; 3],
    peers: BTreeMap<PeerId, Peer>,
    by_client: BTreeMap<u64, PeerId>,
    by_address: BTreeMap<(TransportKind, SocketAddr), PeerId>,
    next: u32,
    admission: Admission,
    leaving: Vec<(PeerId, CloseReason)>,
    lost: Vec<SocketAddr>,
    counts: Counts,
    buffer: [u8; MAX_PACKET],
}

/// A socket of a listener and its public address.
pub(super) struct Endpoint {
    pub(super) socket: Box<dyn ServerSocket>,
    pub(super) public: SocketAddr,
    pub(super) certificate: Option<[u8; 32]>,
}

struct Peer {
    client: u64,
    slot: usize,
    kind: TransportKind,
    address: SocketAddr,
    bucket: Bucket,
    age: Duration,
    is_confirmed: bool,
}

impl Listener {
    /// Creates a builder without sockets. Add a socket for each transport with [`ListenerBuilder::bind`].
    pub fn builder(config: ListenerConfig) -> ListenerBuilder {
        ListenerBuilder::new(config)
    }

    pub(super) fn new(
        config: ListenerConfig,
        netcode: NetcodeServer,
        admission: Admission,
        sockets: [Option<Endpoint>; 3],
    ) -> Listener {
        Listener {
            netcode,
            elapsed: Duration::ZERO,
            sockets,
            peers: BTreeMap::new(),
            by_client: BTreeMap::new(),
            by_address: BTreeMap::new(),
            next: 0,
            admission,
            leaving: Vec::new(),
            lost: Vec::new(),
            counts: Counts::default(),
            buffer: [0; MAX_PACKET],
            config,
        }
    }

    /// Returns the public address of the listener for a transport.
    pub fn address(&self, kind: TransportKind) -> Option<SocketAddr> {
        self.sockets[kind as usize].as_ref().map(|endpoint| endpoint.public)
    }

    /// Returns the hash of the certificate that a browser must trust for WebTransport; `None` for other transports.
    pub fn certificate(&self, kind: TransportKind) -> Option<[u8; 32]> {
        self.sockets[kind as usize].as_ref()?.certificate
    }

    /// Issues a token for this server. The token is valid from now on for [`ListenerConfig::token_lifetime`];
    /// [`Identity`] explains the arguments.
    pub fn issue(&self, kind: TransportKind, client: u64, user_data: &[u8]) -> Result<Token, TransportError> {
        let address = self.address(kind).ok_or(TransportError::NoSocket)?;
        let who = Identity { client, user_data, kind, address };
        let now = self.config.now.saturating_add(self.elapsed);
        // One second more, since client and server count whole seconds.
        let lifetime = Duration::from_secs(self.config.token_lifetime as u64 + 1);
        let key = match &self.config.auth {
            Auth::Key(key) => key.clone(),
            Auth::Open => Key::public(),
        };
        Ok(Token::issue(&key, self.config.protocol, who, now, lifetime)?)
    }

    /// Confirms that a peer is a player of the host, for example after its first message was valid. If
    /// [`Limits::confirm_timeout`] is set, the host must confirm each peer within this time; if not, the listener
    /// confirms each peer itself.
    pub fn confirm(&mut self, peer: PeerId) {
        let Some(peer) = self.peers.get_mut(&peer).filter(|peer| !peer.is_confirmed) else { return };
        peer.is_confirmed = true;
        match (peer.kind, &mut self.sockets[peer.kind as usize]) {
            (TransportKind::Udp, _) => self.admission.trusted(peer.address),
            (TransportKind::WebSocket | TransportKind::WebTransport, Some(endpoint)) => {
                endpoint.socket.trusted(peer.address)
            }
            (TransportKind::WebSocket | TransportKind::WebTransport, None) => {}
        }
    }

    fn read(&mut self, kind: TransportKind, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError> {
        for _ in 0..self.config.limits.reads_per_poll {
            let Some(endpoint) = &mut self.sockets[kind as usize] else { return Ok(()) };
            let next = endpoint.socket.receive(&mut self.buffer);
            let Some((length, who)) = next.map_err(|cause| TransportError::Socket { kind, cause })? else {
                return Ok(());
            };
            if self.by_address.contains_key(&(kind, who)) {
                self.open(kind, who, length, None, events);
                continue;
            }
            match self.admission.screen(kind, who, &mut self.buffer, length, &mut self.counts) {
                Screened::Process(length) => self.open(kind, who, length, None, events),
                Screened::Request(length, candidate) => {
                    self.make_room(&candidate, who, events);
                    self.open(kind, who, length, Some(candidate), events);
                }
                Screened::Cookie(packet) => {
                    let _ = endpoint.socket.send(who, &packet);
                }
                Screened::Invalid => {
                    self.counts.malformed += 1;
                    // The sender address of a UDP packet may be forged: it must not end a handshake.
                    if kind != TransportKind::Udp {
                        endpoint.socket.close(who);
                        self.admission.lost(kind, who);
                    }
                }
                Screened::Dropped => {}
            }
        }
        Ok(())
    }

    /// Ends the connection that a request replaces: an older one of the same player, or, if the server is full, the
    /// oldest one that the host has not confirmed.
    fn make_room(&mut self, candidate: &Candidate, who: SocketAddr, events: &mut dyn FnMut(Event<'_>)) {
        if let Some(&old) = self.by_client.get(&candidate.client) {
            if self.peers.get(&old).is_some_and(|peer| peer.address != who) && self.may_replace(candidate) {
                self.leaving.push((old, CloseReason::Replaced));
            }
        } else if self.config.limits.confirm_timeout.is_some() && self.peers.len() >= self.config.limits.peers {
            let unconfirmed = self.peers.iter().filter(|(_, peer)| !peer.is_confirmed && peer.age >= MIN_AGE);
            if let Some((&oldest, _)) = unconfirmed.max_by_key(|(_, peer)| peer.age) {
                self.counts.evicted += 1;
                self.leaving.push((oldest, CloseReason::Unconfirmed));
            }
        }
        self.disconnect_leaving(events);
    }

    /// Returns whether a request may end the open connection of the same player: a rejoin, a token that expires later,
    /// or another token with the same expiry if no packet arrived over the connection recently. Without a key, only a
    /// rejoin or a connection without recent packets counts.
    fn may_replace(&self, candidate: &Candidate) -> bool {
        let silence = self.netcode.time_since_last_received_packet(candidate.client);
        let is_silent = silence.is_some_and(|silence| silence >= SILENCE);
        let Some(ticket) = self.admission.tickets.get(candidate.client) else { return is_silent };
        match self.config.auth {
            Auth::Open => candidate.is_rejoin || is_silent,
            Auth::Key(_) => {
                let is_other = candidate.ticket.tag != ticket.tag;
                let (new, old) = (candidate.ticket.expiry, ticket.expiry);
                candidate.is_rejoin || new > old || is_silent && is_other && new == old
            }
        }
    }

    /// Decodes the packet in the buffer and handles it.
    fn open(
        &mut self,
        kind: TransportKind,
        who: SocketAddr,
        length: usize,
        candidate: Option<Box<Candidate>>,
        events: &mut dyn FnMut(Event<'_>),
    ) {
        let Some(endpoint) = &mut self.sockets[kind as usize] else { return };
        let socket = &mut endpoint.socket;
        let packet = &mut self.buffer[..length];
        let result = match is_well_formed(packet) {
            true => self.netcode.process_packet(kind as usize, who, packet),
            false => ServerResult::Error { socket_id: kind as usize, addr: who },
        };
        match result {
            ServerResult::None => {}
            ServerResult::Error { .. } => {
                self.counts.malformed += 1;
                // The sender address may be forged: a malformed packet must not end a player's connection.
                if !self.by_address.contains_key(&(kind, who)) {
                    socket.close(who);
                }
            }
            ServerResult::ConnectionDenied { payload, .. } => {
                self.counts.denied += 1;
                if let Some(payload) = payload {
                    let _ = socket.send(who, payload);
                }
                socket.close(who);
            }
            ServerResult::ConnectionAccepted { payload, .. } => {
                let _ = socket.send(who, payload);
                if let Some(candidate) = candidate {
                    self.admission.accepted(kind, who, *candidate);
                }
            }
            ServerResult::PacketToSend { payload, .. } => {
                let _ = socket.send(who, payload);
            }
            ServerResult::Payload { client_id, payload } => {
                let Some(&id) = self.by_client.get(&client_id) else { return };
                let Some(peer) = self.peers.get_mut(&id) else { return };
                if !peer.bucket.take() {
                    self.counts.too_fast += 1;
                } else if payload.len() > MAX_DATAGRAM {
                    self.counts.too_long += 1;
                } else {
                    self.counts.received += 1;
                    events(Event::Datagram(id, payload));
                }
            }
            ServerResult::ClientConnected { client_id, user_data, payload, .. } => {
                socket.joined(who);
                let _ = socket.send(who, payload);
                self.admission.joined(kind, who);
                self.join(client_id, kind, who, unpack(&user_data), events);
            }
            ServerResult::ClientDisconnected { client_id, .. } => {
                socket.close(who);
                self.leave(client_id, CloseReason::ByClient, events);
            }
        }
    }

    fn join(
        &mut self,
        client: u64,
        kind: TransportKind,
        address: SocketAddr,
        user_data: &[u8],
        events: &mut dyn FnMut(Event<'_>),
    ) {
        let slot = self.netcode.clients_id_iter_with_slots().find(|&(_, id)| id == client).map(|(slot, _)| slot);
        let Some(slot) = slot else { return };
        let id = PeerId(self.next);
        self.next += 1;
        let bucket = Bucket::new(self.config.limits.per_second, self.config.limits.burst);
        self.peers.insert(id, Peer { client, slot, kind, address, bucket, age: Duration::ZERO, is_confirmed: false });
        self.by_client.insert(client, id);
        self.by_address.insert((kind, address), id);
        if self.config.limits.confirm_timeout.is_none() {
            self.confirm(id);
        }
        events(Event::Connected(id, user_data));
    }

    /// Removes a peer that netcode has removed.
    fn leave(&mut self, client: u64, reason: CloseReason, events: &mut dyn FnMut(Event<'_>)) {
        let Some(id) = self.by_client.remove(&client) else { return };
        if let Some(peer) = self.peers.remove(&id) {
            self.by_address.remove(&(peer.kind, peer.address));
            self.admission.tickets.disconnected(client, reason);
            events(Event::Disconnected(id, reason));
        }
    }

    /// Disconnects the peers that the host disconnected or whose connection was lost.
    fn disconnect_leaving(&mut self, events: &mut dyn FnMut(Event<'_>)) {
        for (id, reason) in std::mem::take(&mut self.leaving) {
            let Some(peer) = self.peers.get(&id) else { continue };
            let (client, kind) = (peer.client, peer.kind);
            let result = self.netcode.disconnect(client);
            if let (ServerResult::ClientDisconnected { addr, payload, .. }, Some(endpoint)) =
                (result, &mut self.sockets[kind as usize])
            {
                if let Some(payload) = payload {
                    let _ = endpoint.socket.send(addr, payload);
                }
                endpoint.socket.close(addr);
            }
            self.leave(client, reason, events);
        }
    }

    /// Disconnects peers that timed out and sends keep-alive packets to the others.
    fn keep_alive(&mut self, events: &mut dyn FnMut(Event<'_>)) {
        let mut timed_out = Vec::new();
        for peer in self.peers.values() {
            let Some(endpoint) = &mut self.sockets[peer.kind as usize] else { continue };
            let result = self.netcode.update_client(peer.slot, peer.client);
            if let ServerResult::ClientDisconnected { payload, addr, .. } = result {
                if let Some(payload) = payload {
                    let _ = endpoint.socket.send(addr, payload);
                }
                endpoint.socket.close(addr);
                timed_out.push(peer.client);
                continue;
            }
            if let ServerResult::PacketToSend { addr, payload, .. } =
                self.netcode.generate_client_ping(peer.slot, peer.client)
            {
                let _ = endpoint.socket.send(addr, payload);
            }
        }
        for client in timed_out {
            self.leave(client, CloseReason::TimedOut, events);
        }
    }
}

impl ServerTransport for Listener {
    fn poll(&mut self, elapsed: Duration, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError> {
        self.elapsed = self.elapsed.saturating_add(elapsed);
        self.netcode.update(elapsed);
        self.admission.advance(elapsed, self.config.now.saturating_add(self.elapsed));
        let confirm_timeout = self.config.limits.confirm_timeout;
        for (&id, peer) in &mut self.peers {
            peer.bucket.refill(elapsed);
            peer.age = peer.age.saturating_add(elapsed);
            if !peer.is_confirmed && confirm_timeout.is_some_and(|timeout| peer.age > timeout) {
                self.leaving.push((id, CloseReason::Unconfirmed));
            }
        }
        for kind in TransportKind::ALL {
            let Some(endpoint) = &mut self.sockets[kind as usize] else { continue };
            endpoint.socket.update(elapsed, &mut self.lost, &mut self.counts);
            for who in self.lost.drain(..) {
                self.admission.lost(kind, who);
                if let Some(&id) = self.by_address.get(&(kind, who)) {
                    self.leaving.push((id, CloseReason::ConnectionLost));
                }
            }
        }
        self.disconnect_leaving(events);
        for kind in TransportKind::ALL {
            self.read(kind, events)?;
        }
        self.keep_alive(events);
        Ok(())
    }

    fn send(&mut self, peer: PeerId, datagram: &[u8]) -> Result<(), SendError> {
        check_length(datagram)?;
        let known = self.peers.get(&peer).ok_or(SendError::NoPeer(peer))?;
        let packet = self.netcode.generate_payload_packet(known.slot, known.client, datagram);
        let (_, address, packet) = packet.map_err(|_| SendError::NoPeer(peer))?;
        let endpoint = self.sockets[known.kind as usize].as_mut().ok_or(SendError::NoPeer(peer))?;
        match endpoint.socket.send(address, packet) {
            Ok(()) => {
                self.counts.sent += 1;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.counts.dropped += 1;
                Err(SendError::Full)
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {
                self.leaving.push((peer, CloseReason::ConnectionLost));
                Err(SendError::NoPeer(peer))
            }
            Err(error) => Err(SendError::System(error.to_string())),
        }
    }

    fn disconnect(&mut self, peer: PeerId) {
        if self.peers.contains_key(&peer) {
            self.leaving.push((peer, CloseReason::ByServer));
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

impl Drop for Listener {
    /// Disconnects all peers, so that they do not wait for the timeout.
    fn drop(&mut self) {
        self.leaving = self.peers.keys().map(|&id| (id, CloseReason::ByServer)).collect();
        self.disconnect_leaving(&mut |_| {});
    }
}
