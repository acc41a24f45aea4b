//! WebTransport for browsers: QUIC with a self-signed certificate, on its own `tokio` runtime. The certificate is valid
//! for thirteen days; a browser accepts it by its hash.
//!
//! Tasks accept the connections and read their datagrams; the listener takes them from bounded queues. A sender must
//! prove its address (QUIC Retry) before the server stores anything. Connections without a player have the same limits
//! as over WebSocket.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{AbortHandle, JoinHandle};
use wtransport::endpoint::{IncomingSession, endpoint_side};
use wtransport::error::SendDatagramError;
use wtransport::{Connection as Session, Endpoint, Identity, ServerConfig, VarInt};

use super::handshakes::{Waiting, to_evict};
use super::query::from_query;
use super::{ServerSocket, put};
use crate::addresses::AddressRates;
use crate::counts::Counts;
use crate::error::TransportError;
use crate::limits::Limits;
use crate::token::{Token, TransportKind};

/// The lifetime of the certificate. Browsers accept at most two weeks.
const CERTIFICATE_DAYS: u32 = 13;
/// The maximum number of datagrams of one connection that wait for the listener; further datagrams are dropped.
const MAX_QUEUED: usize = 256;
/// The interval of the keep-alive packets of an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// The maximum time for which a server that stops waits until its connections are closed.
const STOP_TIMEOUT: Duration = Duration::from_millis(200);

pub(crate) struct WebTransport {
    shared: Arc<Mutex<Shared>>,
    endpoint: Arc<Endpoint<endpoint_side::Server>>,
    /// The connection that was read last. Reading continues after it.
    last_read: Option<SocketAddr>,
    accepting: JoinHandle<()>,
    runtime: Runtime,
}

/// What the tasks and the listener share.
struct Shared {
    limits: Limits,
    rates: AddressRates,
    connections: BTreeMap<SocketAddr, Connection>,
    /// The number of the next connection: an address may be used again.
    next: u64,
    /// Connections that ended since the last update.
    closed: Vec<SocketAddr>,
    too_many: u64,
    evicted: u64,
}

struct Connection {
    number: u64,
    age: Duration,
    is_player: bool,
    session: Option<Session>,
    packets: VecDeque<Vec<u8>>,
    task: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(session) = &self.session {
            session.close(VarInt::from_u32(0), b"");
        }
        self.task.abort();
    }
}

impl WebTransport {
    /// Binds a socket. Returns it with its address and the hash of its certificate.
    pub(crate) fn bind(
        address: SocketAddr,
        limits: &Limits,
    ) -> Result<(WebTransport, SocketAddr, [u8; 32]), TransportError> {
        let kind = TransportKind::WebTransport;
        let no_runtime = |cause: io::Error| TransportError::Runtime { kind, cause: cause.to_string() };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(no_runtime)?;
        let cannot = |cause: io::Error| TransportError::Bind { kind, address, cause };
        let identity = Identity::self_signed_builder()
            .subject_alt_names([address.ip().to_string()])
            .from_now_utc()
            .validity_days(CERTIFICATE_DAYS)
            .build()
            .map_err(|error| cannot(io::Error::other(error.to_string())))?;
        let no_certificate = || cannot(io::Error::other("the certificate was not created"));
        let hash = identity.certificate_chain().as_slice().first().ok_or_else(no_certificate)?.hash();
        let config = ServerConfig::builder()
            .with_bind_address(address)
            .with_identity(identity)
            .keep_alive_interval(Some(KEEP_ALIVE))
            .max_idle_timeout(Some(Token::TIMEOUT))
            .map_err(|error| cannot(io::Error::other(error.to_string())))?
            .build();
        let endpoint = {
            let _context = runtime.enter();
            Arc::new(Endpoint::server(config).map_err(cannot)?)
        };
        let bound = endpoint.local_addr().map_err(cannot)?;
        let shared = Arc::new(Mutex::new(Shared::new(limits)));
        let accepting = runtime.spawn(accept(Arc::clone(&endpoint), Arc::clone(&shared)));
        Ok((WebTransport { shared, endpoint, last_read: None, accepting, runtime }, bound, *hash.as_ref()))
    }
}

impl Drop for WebTransport {
    /// Closes the connections, so that clients do not wait for the timeout.
    fn drop(&mut self) {
        let WebTransport { shared, endpoint, accepting, runtime, last_read: _ } = self;
        accepting.abort();
        runtime.block_on(async {
            // `wtransport` panics if a task accepts from a closed endpoint, so the task must have ended.
            let _ = accepting.await;
            lock(shared).connections.clear();
            endpoint.close(VarInt::from_u32(0), b"");
            // An error means that the timeout has passed.
            let _ = tokio::time::timeout(STOP_TIMEOUT, endpoint.wait_idle()).await;
        });
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts connections until the runtime ends.
async fn accept(endpoint: Arc<Endpoint<endpoint_side::Server>>, shared: Arc<Mutex<Shared>>) {
    loop {
        let incoming = endpoint.accept().await;
        if !incoming.remote_address_validated() {
            incoming.retry();
            continue;
        }
        let who = incoming.remote_address();
        let mut locked = lock(&shared);
        if !locked.admit(who) {
            drop(locked);
            incoming.refuse();
            continue;
        }
        let number = locked.next;
        locked.next += 1;
        // The task waits for the lock until its connection is in the table.
        let task = tokio::spawn(serve(incoming, who, number, Arc::clone(&shared))).abort_handle();
        let connection =
            Connection { number, age: Duration::ZERO, is_player: false, session: None, packets: VecDeque::new(), task };
        locked.connections.insert(who, connection);
    }
}

/// Opens a session and queues its datagrams until it ends.
async fn serve(incoming: IncomingSession, who: SocketAddr, number: u64, shared: Arc<Mutex<Shared>>) {
    if let Some((session, request)) = open(incoming).await
        && lock(&shared).opened(who, number, &session, request)
    {
        while let Ok(datagram) = session.receive_datagram().await {
            lock(&shared).queue(who, number, &datagram.payload());
        }
    }
    lock(&shared).ended(who, number);
}

/// Completes the handshake of a connection whose URL contains a connection request.
async fn open(incoming: IncomingSession) -> Option<(Session, Vec<u8>)> {
    let request = incoming.await.ok()?;
    let Some(packet) = request.path().split_once('?').and_then(|(_, query)| from_query(query)) else {
        request.not_found().await;
        return None;
    };
    Some((request.accept().await.ok()?, packet))
}

impl Shared {
    fn new(limits: &Limits) -> Shared {
        Shared {
            limits: *limits,
            rates: AddressRates::new(limits.connections_per_second, limits.connection_burst),
            connections: BTreeMap::new(),
            next: 0,
            closed: Vec::new(),
            too_many: 0,
            evicted: 0,
        }
    }

    /// Decides about a new connection, and closes an older one if there are too many.
    fn admit(&mut self, who: SocketAddr) -> bool {
        if self.connections.contains_key(&who) || !self.rates.take(who.ip()) {
            self.too_many += 1;
            return false;
        }
        let waiting: Vec<Waiting> = self
            .connections
            .iter()
            .filter(|(_, connection)| !connection.is_player)
            .map(|(&who, connection)| Waiting { who, has_request: connection.session.is_some(), age: connection.age })
            .collect();
        if let Some(evicted) = to_evict(&waiting, who.ip(), &self.limits) {
            self.evicted += 1;
            self.connections.remove(&evicted);
            self.closed.push(evicted);
        }
        true
    }

    fn get_mut(&mut self, who: SocketAddr, number: u64) -> Option<&mut Connection> {
        self.connections.get_mut(&who).filter(|connection| connection.number == number)
    }

    /// Stores an open session. Returns `false` if the connection was closed in the meantime.
    fn opened(&mut self, who: SocketAddr, number: u64, session: &Session, request: Vec<u8>) -> bool {
        let Some(connection) = self.get_mut(who, number) else { return false };
        connection.session = Some(session.clone());
        connection.packets.push_back(request);
        true
    }

    fn queue(&mut self, who: SocketAddr, number: u64, packet: &[u8]) {
        if let Some(connection) = self.get_mut(who, number)
            && connection.packets.len() < MAX_QUEUED
        {
            connection.packets.push_back(packet.to_vec());
        }
    }

    fn ended(&mut self, who: SocketAddr, number: u64) {
        if self.get_mut(who, number).is_some() {
            self.connections.remove(&who);
            self.closed.push(who);
        }
    }

    /// Takes a packet of the next connection that has one, after `start`.
    fn read_after(&mut self, start: Option<SocketAddr>, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let range = (start.map_or(Unbounded, Excluded), Unbounded);
        for (&who, connection) in self.connections.range_mut(range) {
            // A packet that does not fit is not a packet of netcode.
            while let Some(packet) = connection.packets.pop_front() {
                if let Some(length) = put(&packet, buffer) {
                    return Some((length, who));
                }
            }
        }
        None
    }
}

impl ServerSocket for WebTransport {
    fn is_sealed(&self) -> bool {
        true
    }

    fn update(&mut self, elapsed: Duration, lost: &mut Vec<SocketAddr>, counts: &mut Counts) {
        let mut shared = lock(&self.shared);
        shared.rates.advance(elapsed);
        let Shared { connections, closed, limits, too_many, evicted, .. } = &mut *shared;
        connections.retain(|&who, connection| {
            connection.age = connection.age.saturating_add(elapsed);
            let is_late = !connection.is_player && connection.age > limits.handshake_timeout;
            if is_late {
                counts.too_slow += 1;
                closed.push(who);
            }
            !is_late
        });
        counts.too_many += std::mem::take(too_many);
        counts.evicted += std::mem::take(evicted);
        lost.append(closed);
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        let mut shared = lock(&self.shared);
        let found = match (shared.read_after(self.last_read, buffer), self.last_read) {
            (None, Some(_)) => shared.read_after(None, buffer),
            (found, _) => found,
        };
        self.last_read = found.map(|(_, who)| who);
        Ok(found)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        let shared = lock(&self.shared);
        let session = shared.connections.get(&to).and_then(|connection| connection.session.as_ref());
        let session = session.ok_or(ErrorKind::ConnectionAborted)?;
        session.send_datagram(packet).map_err(|error| match error {
            SendDatagramError::NotConnected => ErrorKind::ConnectionAborted.into(),
            SendDatagramError::UnsupportedByPeer | SendDatagramError::TooLarge => io::Error::other(error),
        })
    }

    fn joined(&mut self, who: SocketAddr) {
        if let Some(connection) = lock(&self.shared).connections.get_mut(&who) {
            connection.is_player = true;
        }
    }

    fn trusted(&mut self, who: SocketAddr) {
        lock(&self.shared).rates.give_back(who.ip());
    }

    fn close(&mut self, who: SocketAddr) {
        lock(&self.shared).connections.remove(&who);
    }
}
