//! The side that listens. Every connection is one line: first a handshake under a deadline, then open until netcode or
//! the other side closes it.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tungstenite::WebSocket;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::http::StatusCode;

use super::super::{ServerSocket, put};
use super::{config, flush, from_query, read, write};

/// A line that is not open after this long is closed: who does not speak holds no place.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// An open line on which no player has shown up after this long is closed too.
const JOIN_TIME: Duration = Duration::from_secs(5);
/// Lines of strangers, beyond the players'.
const WAITING_LINES: usize = 64;
/// New lines in one update; the others wait in the system's queue.
const ACCEPTS: usize = 64;

pub(crate) struct WebSocketServer {
    listener: TcpListener,
    most: usize,
    lines: BTreeMap<SocketAddr, Line>,
    /// Where the round of reading goes on, so that nobody's flood comes before another's word.
    last_read: Option<SocketAddr>,
    lost: Vec<SocketAddr>,
}

struct Line {
    stage: Stage,
    age: Duration,
    is_player: bool,
}

enum Stage {
    Handshake(Box<MidHandshake<ServerHandshake<TcpStream, Wish>>>, Wish),
    Open { line: Box<WebSocket<TcpStream>>, request: Option<Vec<u8>> },
    Closed,
}

/// Takes the request to connect out of the address that the client asks for.
#[derive(Clone, Default)]
struct Wish(Arc<OnceLock<Vec<u8>>>);

impl Callback for Wish {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        match request.uri().query().and_then(from_query) {
            Some(packet) => {
                let _ = self.0.set(packet);
                Ok(response)
            }
            None => {
                let mut refusal = ErrorResponse::new(Some("expected a request to connect in the query\n".into()));
                *refusal.status_mut() = StatusCode::BAD_REQUEST;
                Err(refusal)
            }
        }
    }
}

impl WebSocketServer {
    /// Listens for at most so many players (and some who would be).
    pub(crate) fn bind(address: SocketAddr, players: usize) -> io::Result<(WebSocketServer, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let most = players.saturating_add(WAITING_LINES);
        Ok((WebSocketServer { listener, most, lines: BTreeMap::new(), last_read: None, lost: Vec::new() }, address))
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            // An error here is one line's (reset before it was taken) or the system's shortage; the next update sees.
            let Ok((stream, who)) = self.listener.accept() else { return };
            let is_ready = stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok();
            if self.lines.len() >= self.most || !is_ready {
                continue;
            }
            let wish = Wish::default();
            let handshake = ServerHandshake::start(stream, wish.clone(), Some(config()));
            let line =
                Line { stage: Stage::Handshake(Box::new(handshake), wish), age: Duration::ZERO, is_player: false };
            self.lines.insert(who, line);
        }
    }

    /// The next line that has something, after the one that was read last.
    fn read_after(&mut self, start: Option<SocketAddr>, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let range = (start.map_or(Unbounded, Excluded), Unbounded);
        for (&who, line) in self.lines.range_mut(range) {
            match line.receive(buffer) {
                Ok(Some(length)) => return Some((length, who)),
                Ok(None) => {}
                Err(_) => line.stage = Stage::Closed,
            }
        }
        None
    }
}

impl Line {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.stage {
            Stage::Open { line, request } => match request.take() {
                Some(packet) => Ok(put(&packet, buffer)),
                None => read(line, buffer),
            },
            Stage::Handshake(..) | Stage::Closed => Ok(None),
        }
    }

    fn update(&mut self, elapsed: Duration) {
        self.age = self.age.saturating_add(elapsed);
        self.stage = match std::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Handshake(..) if self.age > HANDSHAKE_TIME => Stage::Closed,
            Stage::Handshake(handshake, wish) => match handshake.handshake() {
                Ok(line) => {
                    self.age = Duration::ZERO;
                    Stage::Open { line: Box::new(line), request: wish.0.get().cloned() }
                }
                Err(HandshakeError::Interrupted(handshake)) => Stage::Handshake(Box::new(handshake), wish),
                Err(HandshakeError::Failure(_)) => Stage::Closed,
            },
            Stage::Open { .. } if !self.is_player && self.age > JOIN_TIME => Stage::Closed,
            Stage::Open { mut line, request } => match flush(&mut line) {
                true => Stage::Open { line, request },
                false => Stage::Closed,
            },
            Stage::Closed => Stage::Closed,
        };
    }
}

impl ServerSocket for WebSocketServer {
    fn update(&mut self, elapsed: Duration, lost: &mut Vec<SocketAddr>) {
        for line in self.lines.values_mut() {
            line.update(elapsed);
        }
        let gone = &mut self.lost;
        self.lines.retain(|&who, line| {
            let is_open = !matches!(line.stage, Stage::Closed);
            if !is_open {
                gone.push(who);
            }
            is_open
        });
        lost.append(&mut self.lost);
        self.accept();
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        let found = self.read_after(self.last_read, buffer);
        let found = match (found, self.last_read) {
            (None, Some(_)) => self.read_after(None, buffer),
            (found, _) => found,
        };
        self.last_read = found.map(|(_, who)| who);
        Ok(found)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        let Some(line) = self.lines.get_mut(&to) else { return Err(ErrorKind::ConnectionAborted.into()) };
        let Stage::Open { line: open, .. } = &mut line.stage else { return Err(ErrorKind::ConnectionAborted.into()) };
        let sent = write(open, packet);
        if sent.as_ref().is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
            line.stage = Stage::Closed;
        }
        sent
    }

    fn joined(&mut self, who: SocketAddr) {
        if let Some(line) = self.lines.get_mut(&who) {
            line.is_player = true;
        }
    }

    fn close(&mut self, who: SocketAddr) {
        if let Some(mut line) = self.lines.remove(&who)
            && let Stage::Open { line, .. } = &mut line.stage
        {
            let _ = line.close(None);
            let _ = line.flush();
        }
    }
}
