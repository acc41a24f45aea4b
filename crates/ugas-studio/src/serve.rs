//! The web server of the studio. It listens only on the loopback address, and its WebSocket requires a token.
//!
//! Pages are built into the program, so no HTTP request reads a file. The WebSocket accepts only pages of this server
//! that have the token. The server rejects pages of other origins and requests with another host name (DNS rebinding).
#![allow(clippy::disallowed_methods, reason = "a host reads the clock and passes the time to the sim")]

use crate::Backend;
use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use ugas_data::Watch;

/// The maximum size of a request in bytes: the largest readable file, plus room for the rest of the message.
const MAX_REQUEST: usize = 4 * 1024 * 1024;
/// The minimum length of a token, in characters.
const MIN_TOKEN: usize = 16;
/// How long the world's thread waits for requests between two steps.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The time without requests after which the world pauses.
const IDLE_AFTER: Duration = Duration::from_secs(2);

macro_rules! pages {
    ($($name:literal => $kind:literal),+ $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../pages/", $name)))),+]
    };
}

/// The pages: name, content type and content.
const PAGES: &[(&str, &str, &str)] = pages![
    "index.html" => "text/html; charset=utf-8",
    "style.css" => "text/css; charset=utf-8",
    "app.js" => "text/javascript; charset=utf-8",
    "arena.js" => "text/javascript; charset=utf-8",
    "capabilities.js" => "text/javascript; charset=utf-8",
    "control.js" => "text/javascript; charset=utf-8",
    "data.js" => "text/javascript; charset=utf-8",
    "demo.js" => "text/javascript; charset=utf-8",
    "dom.js" => "text/javascript; charset=utf-8",
    "editor.js" => "text/javascript; charset=utf-8",
    "figures.js" => "text/javascript; charset=utf-8",
    "form.js" => "text/javascript; charset=utf-8",
    "link.js" => "text/javascript; charset=utf-8",
    "log.js" => "text/javascript; charset=utf-8",
    "network.js" => "text/javascript; charset=utf-8",
    "plot.js" => "text/javascript; charset=utf-8",
    "preview.js" => "text/javascript; charset=utf-8",
    "rows.js" => "text/javascript; charset=utf-8",
    "scenario.js" => "text/javascript; charset=utf-8",
    "why.js" => "text/javascript; charset=utf-8",
    "world.js" => "text/javascript; charset=utf-8",
];

/// The schemas of all kinds of documents, as `ugas schema` writes them.
const SCHEMAS: (&str, &str, &str) = ("schemas.json", "application/json", include_str!("../../../schemas/ugas.json"));

/// The content security policy, which allows only content of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request and the channel for its answer.
pub(crate) type PendingRequest = (String, oneshot::Sender<String>);

/// A message to the thread of the world.
pub(crate) enum Inbound {
    /// A request from a page.
    Request(PendingRequest),
    /// The files of the world changed on disk.
    Disk,
}

/// A server that is bound to a port but does not answer requests yet.
pub struct StudioServer {
    listener: TcpListener,
    token: String,
    sender: Sender<Inbound>,
    inbound: Receiver<Inbound>,
}

#[derive(Clone)]
struct Shared {
    token: Arc<str>,
    port: u16,
    sender: Sender<Inbound>,
}

impl StudioServer {
    /// Listens on a loopback port; port 0 selects a free port. The token becomes part of the URL.
    ///
    /// ```
    /// let studio = ugas_studio::serve::StudioServer::listen(0, "0123456789abcdef")?;
    /// assert!(studio.address()?.starts_with("http://127.0.0.1:"));
    /// assert!(ugas_studio::serve::StudioServer::listen(0, "easily guessed").is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn listen(port: u16, token: &str) -> io::Result<StudioServer> {
        if token.len() < MIN_TOKEN {
            let why = format!("token has {} characters; use at least {MIN_TOKEN} random characters", token.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let (sender, inbound) = channel();
        Ok(StudioServer { listener, token: token.to_owned(), sender, inbound })
    }

    /// Returns the URL to open in a browser.
    pub fn address(&self) -> io::Result<String> {
        Ok(format!("http://{}/?token={}", self.listener.local_addr()?, self.token))
    }

    /// Starts serving on another thread.
    pub(crate) fn start(self) -> io::Result<(Receiver<Inbound>, RunningServer)> {
        let port = self.listener.local_addr()?.port();
        let shared = Shared { token: self.token.into(), port, sender: self.sender.clone() };
        let listener = self.listener;
        let net = std::thread::Builder::new().name("studio".into()).spawn(move || serve(listener, shared))?;
        Ok((self.inbound, RunningServer { net, sender: self.sender }))
    }

    /// Serves a backend until the program ends. The world runs on the calling thread; another thread handles the
    /// connections. The world advances only while a page requests frames, so the first visitor sees the start of the
    /// world.
    pub fn run(self, backend: Backend) -> io::Result<()> {
        let begun = Instant::now();
        let mut backend = backend.with_clock(Arc::new(move || begun.elapsed().as_nanos() as u64));
        let (inbound, serving) = self.start()?;
        serving.watch(backend.watched_paths());
        let mut last = begun;
        let mut seen = None;
        loop {
            let now = Instant::now();
            if seen.is_some_and(|at| now.duration_since(at) < IDLE_AFTER) {
                let passed = now.duration_since(last).as_secs_f64() * 1000.0;
                backend.advance(passed, &mut || begun.elapsed().as_secs_f64() * 1e6);
            }
            last = now;
            match inbound.recv_timeout(POLL_INTERVAL) {
                Ok(first) => {
                    for event in std::iter::once(first).chain(inbound.try_iter()) {
                        if matches!(event, Inbound::Request(_)) {
                            seen = Some(Instant::now());
                        }
                        answer(&mut backend, event);
                    }
                }
                Err(RecvTimeoutError::Timeout) if serving.net.is_finished() => return serving.end(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// A server that is serving.
pub(crate) struct RunningServer {
    net: JoinHandle<io::Result<()>>,
    sender: Sender<Inbound>,
}

impl RunningServer {
    /// Notifies the world's thread when files change. If the files cannot be watched, saving in the studio still works.
    pub(crate) fn watch(&self, places: Vec<PathBuf>) {
        let sender = self.sender.clone();
        let Ok(watch) = Watch::new(places.iter().filter(|p| p.exists())) else { return };
        let wait = move || while watch.wait(None) && sender.send(Inbound::Disk).is_ok() {};
        // Without the thread, changes on disk are not noticed; everything else works.
        let _ = std::thread::Builder::new().name("studio-disk".into()).spawn(wait);
    }

    fn end(self) -> io::Result<()> {
        self.net.join().unwrap_or_else(|_| Err(io::Error::other("the web server stopped")))
    }
}

fn answer(backend: &mut Backend, event: Inbound) {
    match event {
        Inbound::Disk => {
            backend.reload_from_disk();
        }
        // The connection may be closed.
        Inbound::Request((request, to)) => {
            let _ = to.send(backend.answer(&request));
        }
    }
}

fn serve(listener: TcpListener, shared: Shared) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        // Answers are small and must not wait for acknowledgements. If this fails, the connection is only slower.
        let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|tcp| {
            let _ = tcp.set_nodelay(true);
        });
        let router = Router::new().route("/ws", any(socket)).fallback(get(page)).with_state(shared);
        axum::serve(listener, router).await
    })
}

async fn page(State(shared): State<Shared>, headers: HeaderMap, uri: Uri) -> Response {
    if !is_ours(&headers, header::HOST, shared.port, "") {
        return (StatusCode::FORBIDDEN, "rejected: use the address that the studio printed\n").into_response();
    }
    // A link on a page of another origin must not replace the running world, so it may contain only the token.
    let foreign = headers.get("sec-fetch-site").is_some_and(|v| v != "none" && v != "same-origin");
    if foreign && uri.query().is_some_and(|q| q.split('&').any(|part| !part.is_empty() && !part.starts_with("token=")))
    {
        let why = "rejected: another site opened this link; to open it, copy the link into the address bar\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let name = uri.path().trim_start_matches('/');
    let name = if name.is_empty() { "index.html" } else { name };
    match PAGES.iter().chain([&SCHEMAS]).find(|(known, _, _)| *known == name) {
        Some((_, kind, text)) => {
            let headers = [
                (header::CONTENT_TYPE, *kind),
                (header::CONTENT_SECURITY_POLICY, POLICY),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (header::REFERRER_POLICY, "no-referrer"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (headers, *text).into_response()
        }
        None => (StatusCode::NOT_FOUND, "page not found\n").into_response(),
    }
}

async fn socket(
    State(shared): State<Shared>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let own =
        is_ours(&headers, header::HOST, shared.port, "") && is_ours(&headers, header::ORIGIN, shared.port, "http://");
    let known = query.get("token").is_some_and(|token| is_same_token(token.as_bytes(), shared.token.as_bytes()));
    if !own || !known {
        return (StatusCode::FORBIDDEN, "rejected: open the address that the studio printed\n").into_response();
    }
    upgrade
        .max_message_size(MAX_REQUEST)
        .max_frame_size(MAX_REQUEST)
        .on_upgrade(move |socket| serve_socket(socket, shared.sender))
}

/// Returns whether a header names this server, as 127.0.0.1 or localhost.
fn is_ours(headers: &HeaderMap, name: header::HeaderName, port: u16, before: &str) -> bool {
    let value = headers.get(name).and_then(|v| v.to_str().ok());
    value
        .and_then(|v| v.strip_prefix(before))
        .is_some_and(|v| v == format!("127.0.0.1:{port}") || v == format!("localhost:{port}"))
}

/// Compares two tokens in constant time.
fn is_same_token(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// Answers the requests of one page. Each message is a number, a space and a request; its answer has the same number.
async fn serve_socket(mut socket: WebSocket, sender: Sender<Inbound>) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(text) = message else { continue };
        let (id, request) = text.split_once(' ').unwrap_or(("", &text));
        let (to, from) = oneshot::channel();
        if sender.send(Inbound::Request((request.to_owned(), to))).is_err() {
            return;
        }
        let Ok(answer) = from.await else { return };
        if socket.send(Message::Text(format!("{id} {answer}").into())).await.is_err() {
            return;
        }
    }
}
