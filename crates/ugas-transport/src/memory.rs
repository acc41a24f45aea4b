//! A transport between a server and clients in one process, for tests and single player. No datagram is duplicated or
//! delayed, and a datagram is dropped only if a queue is full or a rate limit of [`Limits`] is exceeded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ugas_net::types::PeerId;

use crate::bucket::Bucket;
use crate::counts::Counts;
use crate::error::{SendError, TransportError, check_length};
use crate::limits::Limits;
use crate::token::{MAX_USER_DATA, TokenError};
use crate::transport::{ClientTransport, CloseReason, Event, ServerTransport, State};

/// The maximum number of datagrams queued in one direction; further datagrams are dropped, as with a full socket
/// buffer.
const MAX_QUEUED: usize = 4_096;

/// The server side of the in-process transport; [`connect`](Self::connect) creates its clients.
pub struct MemoryServer {
    limits: Limits,
    counts: Counts,
    next: u32,
    peers: BTreeMap<PeerId, MemoryPeer>,
}

/// The client side of the in-process transport. It may run on a different thread from the server.
pub struct MemoryClient {
    channel: Arc<Mutex<Channel>>,
}

struct MemoryPeer {
    channel: Arc<Mutex<Channel>>,
    bucket: Bucket,
    user_data: Option<Vec<u8>>,
}

#[derive(Default)]
struct Channel {
    up: VecDeque<Vec<u8>>,
    down: VecDeque<Vec<u8>>,
    is_accepted: bool,
    closed: Option<CloseReason>,
}

impl MemoryServer {
    /// Creates a server without clients.
    pub fn new(limits: Limits) -> MemoryServer {
        MemoryServer { limits, counts: Counts::default(), next: 0, peers: BTreeMap::new() }
    }

    /// Creates a client of this server. The next [`poll`](ServerTransport::poll) reports the client with its user data.
    pub fn connect(&mut self, user_data: &[u8]) -> Result<MemoryClient, TransportError> {
        if user_data.len() > MAX_USER_DATA {
            return Err(TokenError::UserData { length: user_data.len() }.into());
        }
        if self.peers.len() >= self.limits.peers {
            return Err(TransportError::Full { peers: self.limits.peers });
        }
        let channel = Arc::new(Mutex::new(Channel::default()));
        let bucket = Bucket::new(self.limits.per_second, self.limits.burst);
        let peer = MemoryPeer { channel: Arc::clone(&channel), bucket, user_data: Some(user_data.to_vec()) };
        self.peers.insert(PeerId(self.next), peer);
        self.next += 1;
        Ok(MemoryClient { channel })
    }
}

impl ServerTransport for MemoryServer {
    fn poll(&mut self, elapsed: Duration, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError> {
        let (limits, counts) = (self.limits, &mut self.counts);
        self.peers.retain(|&id, peer| {
            peer.bucket.refill(elapsed);
            if let Some(user_data) = peer.user_data.take() {
                lock(&peer.channel).is_accepted = true;
                events(Event::Connected(id, &user_data));
            }
            for _ in 0..limits.reads_per_poll {
                // The lock is released before the event is emitted: the host may send at once.
                let Some(datagram) = lock(&peer.channel).up.pop_front() else { break };
                match peer.bucket.take() {
                    true => {
                        counts.received += 1;
                        events(Event::Datagram(id, &datagram));
                    }
                    false => counts.too_fast += 1,
                }
            }
            let closed = lock(&peer.channel).closed;
            if let Some(closed) = closed {
                events(Event::Disconnected(id, closed));
            }
            closed.is_none()
        });
        Ok(())
    }

    fn send(&mut self, peer: PeerId, datagram: &[u8]) -> Result<(), SendError> {
        check_length(datagram)?;
        let channel = &self.peers.get(&peer).ok_or(SendError::NoPeer(peer))?.channel;
        let sent = push(&mut lock(channel).down, datagram);
        match sent {
            Ok(()) => self.counts.sent += 1,
            Err(_) => self.counts.dropped += 1,
        }
        sent
    }

    fn disconnect(&mut self, peer: PeerId) {
        if let Some(peer) = self.peers.get(&peer) {
            lock(&peer.channel).closed.get_or_insert(CloseReason::ByServer);
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

impl Drop for MemoryServer {
    fn drop(&mut self) {
        for peer in self.peers.values() {
            lock(&peer.channel).closed.get_or_insert(CloseReason::ByServer);
        }
    }
}

impl ClientTransport for MemoryClient {
    fn poll(&mut self, _elapsed: Duration, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError> {
        loop {
            let next = lock(&self.channel).down.pop_front();
            match next {
                Some(datagram) => datagrams(&datagram),
                None => return Ok(()),
            }
        }
    }

    fn send(&mut self, datagram: &[u8]) -> Result<(), SendError> {
        check_length(datagram)?;
        let mut channel = lock(&self.channel);
        match channel.closed {
            Some(_) => Err(SendError::NotConnected),
            None => push(&mut channel.up, datagram),
        }
    }

    fn disconnect(&mut self) {
        lock(&self.channel).closed.get_or_insert(CloseReason::ByClient);
    }

    fn state(&self) -> State {
        let channel = lock(&self.channel);
        match (channel.closed, channel.is_accepted) {
            (Some(closed), _) => State::Disconnected(closed),
            (None, true) => State::Connected,
            (None, false) => State::Connecting,
        }
    }
}

impl Drop for MemoryClient {
    fn drop(&mut self) {
        self.disconnect();
    }
}

fn push(queue: &mut VecDeque<Vec<u8>>, datagram: &[u8]) -> Result<(), SendError> {
    if queue.len() >= MAX_QUEUED {
        return Err(SendError::Full);
    }
    queue.push_back(datagram.to_vec());
    Ok(())
}

/// Locks a channel. A poisoned lock is used: every change is one push or pop, so the queues are consistent.
fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}
