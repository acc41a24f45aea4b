//! Both sides in one process, for tests and single player. Nothing is lost, duplicated or delayed; the limits are the same as
//! over a network.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ugas_net::types::PeerId;

use crate::bucket::Bucket;
use crate::counts::Counts;
use crate::error::{SendError, TransportError, fits};
use crate::limits::Limits;
use crate::token::{MAX_USER_DATA, TokenError};
use crate::transport::{ClientTransport, Event, Gone, ServerTransport, State};

/// What waits on one line, in one direction; more is dropped, as a socket's buffer would.
const QUEUE: usize = 4_096;

/// The server of an in-process game; [`connect`](Self::connect) creates its clients.
pub struct MemoryServer {
    limits: Limits,
    counts: Counts,
    next: u32,
    peers: BTreeMap<PeerId, Peer>,
}

/// One client of an in-process game. It may live on another thread than its server.
pub struct MemoryClient {
    line: Arc<Mutex<Line>>,
}

struct Peer {
    line: Arc<Mutex<Line>>,
    bucket: Bucket,
    greeting: Option<Vec<u8>>,
}

#[derive(Default)]
struct Line {
    up: VecDeque<Vec<u8>>,
    down: VecDeque<Vec<u8>>,
    is_let_in: bool,
    gone: Option<Gone>,
}

impl MemoryServer {
    /// Creates a server without clients.
    pub fn new(limits: Limits) -> MemoryServer {
        MemoryServer { limits, counts: Counts::default(), next: 0, peers: BTreeMap::new() }
    }

    /// Creates a client of this server; the next poll reports it with its user data.
    pub fn connect(&mut self, user_data: &[u8]) -> Result<MemoryClient, TransportError> {
        if user_data.len() > MAX_USER_DATA {
            return Err(TokenError::UserData { length: user_data.len() }.into());
        }
        if self.peers.len() >= self.limits.peers {
            return Err(TransportError::Full { peers: self.limits.peers });
        }
        let line = Arc::new(Mutex::new(Line::default()));
        let bucket = Bucket::new(self.limits.per_second, self.limits.burst);
        let peer = Peer { line: Arc::clone(&line), bucket, greeting: Some(user_data.to_vec()) };
        self.peers.insert(PeerId(self.next), peer);
        self.next += 1;
        Ok(MemoryClient { line })
    }
}

impl ServerTransport for MemoryServer {
    fn poll(&mut self, elapsed: Duration, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError> {
        let (limits, counts) = (self.limits, &mut self.counts);
        self.peers.retain(|&id, peer| {
            peer.bucket.refill(elapsed);
            if let Some(user_data) = peer.greeting.take() {
                open(&peer.line).is_let_in = true;
                events(Event::Connected(id, &user_data));
            }
            for _ in 0..limits.reads_per_poll {
                // The line is free again before the host hears: it may answer at once.
                let Some(datagram) = open(&peer.line).up.pop_front() else { break };
                match peer.bucket.take() {
                    true => {
                        counts.received += 1;
                        events(Event::Datagram(id, &datagram));
                    }
                    false => counts.too_fast += 1,
                }
            }
            let gone = open(&peer.line).gone;
            if let Some(gone) = gone {
                events(Event::Disconnected(id, gone));
            }
            gone.is_none()
        });
        Ok(())
    }

    fn send(&mut self, peer: PeerId, datagram: &[u8]) -> Result<(), SendError> {
        fits(datagram)?;
        let line = &self.peers.get(&peer).ok_or(SendError::NoPeer(peer))?.line;
        let sent = push(&mut open(line).down, datagram);
        match sent {
            Ok(()) => self.counts.sent += 1,
            Err(_) => self.counts.dropped += 1,
        }
        sent
    }

    fn disconnect(&mut self, peer: PeerId) {
        if let Some(peer) = self.peers.get(&peer) {
            open(&peer.line).gone.get_or_insert(Gone::ByServer);
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

impl Drop for MemoryServer {
    fn drop(&mut self) {
        for peer in self.peers.values() {
            open(&peer.line).gone.get_or_insert(Gone::ByServer);
        }
    }
}

impl ClientTransport for MemoryClient {
    fn poll(&mut self, _elapsed: Duration, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError> {
        loop {
            let next = open(&self.line).down.pop_front();
            match next {
                Some(datagram) => datagrams(&datagram),
                None => return Ok(()),
            }
        }
    }

    fn send(&mut self, datagram: &[u8]) -> Result<(), SendError> {
        fits(datagram)?;
        let mut line = open(&self.line);
        match line.gone {
            Some(_) => Err(SendError::NotConnected),
            None => push(&mut line.up, datagram),
        }
    }

    fn disconnect(&mut self) {
        open(&self.line).gone.get_or_insert(Gone::ByClient);
    }

    fn state(&self) -> State {
        let line = open(&self.line);
        match (line.gone, line.is_let_in) {
            (Some(gone), _) => State::Disconnected(gone),
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
    if queue.len() >= QUEUE {
        return Err(SendError::Full);
    }
    queue.push_back(datagram.to_vec());
    Ok(())
}

/// A thread that died while it held the line left whole queues behind: every change is one push or pop.
fn open(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}
