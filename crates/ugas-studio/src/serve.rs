//! The web server: on this machine only, for whoever has the address it printed.
//!
//! It listens on a loopback address. Pages are part of the program, so no path leads to a disk. The socket through which
//! the desk is asked opens only for a page of this server's own that knows the token: another page in the same browser, or a
//! name that was made to point here, is refused.
#![allow(clippy::disallowed_methods, reason = "a host passes real time in; nothing below this layer reads a clock")]

use crate::Desk;
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

/// The longest question: a file of the size that is read at all, and room for what goes around it.
const MOST_ASKED: usize = 4 * 1024 * 1024;
/// The shortest token.
const LEAST_TOKEN: usize = 16;
/// Between two steps when nobody asks.
const BREATH: Duration = Duration::from_millis(5);
/// Nobody asked for so long: nobody looks, and the world waits.
const UNSEEN: Duration = Duration::from_secs(2);

macro_rules! pages {
    ($($name:literal => $kind:literal),+ $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../pages/", $name)))),+]
    };
}

/// The pages, their kinds and what is in them.
const PAGES: &[(&str, &str, &str)] = pages![
    "index.html" => "text/html; charset=utf-8",
    "style.css" => "text/css; charset=utf-8",
    "app.js" => "text/javascript; charset=utf-8",
    "arena.js" => "text/javascript; charset=utf-8",
    "data.js" => "text/javascript; charset=utf-8",
    "demo.js" => "text/javascript; charset=utf-8",
    "dom.js" => "text/javascript; charset=utf-8",
    "drive.js" => "text/javascript; charset=utf-8",
    "editor.js" => "text/javascript; charset=utf-8",
    "figures.js" => "text/javascript; charset=utf-8",
    "form.js" => "text/javascript; charset=utf-8",
    "link.js" => "text/javascript; charset=utf-8",
    "log.js" => "text/javascript; charset=utf-8",
    "network.js" => "text/javascript; charset=utf-8",
    "plot.js" => "text/javascript; charset=utf-8",
    "rows.js" => "text/javascript; charset=utf-8",
    "scenario.js" => "text/javascript; charset=utf-8",
    "why.js" => "text/javascript; charset=utf-8",
    "world.js" => "text/javascript; charset=utf-8",
];

/// Only what this server sends may run or be asked.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A question and where the answer goes.
pub(crate) type Question = (String, oneshot::Sender<String>);

/// What reaches the desk.
pub(crate) enum Letter {
    /// Somebody asks.
    Asked(Question),
    /// Something changed where the world came from.
    Disk,
}

/// A server that listens and has not begun to serve.
pub struct Studio {
    listener: TcpListener,
    token: String,
    asked: Sender<Letter>,
    letters: Receiver<Letter>,
}

#[derive(Clone)]
struct Shared {
    token: Arc<str>,
    port: u16,
    asked: Sender<Letter>,
}

impl Studio {
    /// Listens on a port of this machine's own; 0 takes any that is free. The token is part of the address.
    ///
    /// ```
    /// let studio = ugas_studio::serve::Studio::listen(0, "0123456789abcdef")?;
    /// assert!(studio.address()?.starts_with("http://127.0.0.1:"));
    /// assert!(ugas_studio::serve::Studio::listen(0, "easily guessed").is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn listen(port: u16, token: &str) -> io::Result<Studio> {
        if token.len() < LEAST_TOKEN {
            let why =
                format!("a token of {} letters can be guessed; take {LEAST_TOKEN} or more at random", token.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let (asked, letters) = channel();
        Ok(Studio { listener, token: token.to_owned(), asked, letters })
    }

    /// What to open in a browser.
    pub fn address(&self) -> io::Result<String> {
        Ok(format!("http://{}/?token={}", self.listener.local_addr()?, self.token))
    }

    /// Begins to serve on another thread.
    pub(crate) fn begin(self) -> io::Result<(Receiver<Letter>, Serving)> {
        let port = self.listener.local_addr()?.port();
        let shared = Shared { token: self.token.into(), port, asked: self.asked.clone() };
        let listener = self.listener;
        let net = std::thread::Builder::new().name("studio".into()).spawn(move || serve(listener, shared))?;
        Ok((self.letters, Serving { net, asked: self.asked }))
    }

    /// Serves a desk until the program ends. The world runs on the calling thread, connections on another. It runs while
    /// somebody looks: whoever opens it first sees its beginning.
    pub fn run(self, desk: Desk) -> io::Result<()> {
        let begun = Instant::now();
        let mut desk = desk.with_clock(Arc::new(move || begun.elapsed().as_nanos() as u64));
        let (letters, serving) = self.begin()?;
        serving.watch(desk.places());
        let mut last = begun;
        let mut seen = None;
        loop {
            let now = Instant::now();
            if seen.is_some_and(|at| now.duration_since(at) < UNSEEN) {
                let passed = now.duration_since(last).as_secs_f64() * 1000.0;
                desk.advance(passed, &mut || begun.elapsed().as_secs_f64() * 1e6);
            }
            last = now;
            match letters.recv_timeout(BREATH) {
                Ok(first) => {
                    for letter in std::iter::once(first).chain(letters.try_iter()) {
                        if matches!(letter, Letter::Asked(_)) {
                            seen = Some(Instant::now());
                        }
                        answer(&mut desk, letter);
                    }
                }
                Err(RecvTimeoutError::Timeout) if serving.net.is_finished() => return serving.end(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// A server that serves.
pub(crate) struct Serving {
    net: JoinHandle<io::Result<()>>,
    asked: Sender<Letter>,
}

impl Serving {
    /// Tells the desk whenever something changes at some places. Where nothing can be watched, saving in the studio still
    /// counts.
    pub(crate) fn watch(&self, places: Vec<PathBuf>) {
        let asked = self.asked.clone();
        let Ok(watch) = Watch::new(places.iter().filter(|p| p.exists())) else { return };
        let wait = move || while watch.wait(None) && asked.send(Letter::Disk).is_ok() {};
        // Without the thread nothing is told, and nothing else is lost.
        let _ = std::thread::Builder::new().name("studio-disk".into()).spawn(wait);
    }

    fn end(self) -> io::Result<()> {
        self.net.join().unwrap_or_else(|_| Err(io::Error::other("the web server stopped")))
    }
}

fn answer(desk: &mut Desk, letter: Letter) {
    match letter {
        Letter::Disk => {
            desk.look();
        }
        // Whoever asked may have gone.
        Letter::Asked((question, to)) => {
            let _ = to.send(desk.answer(&question));
        }
    }
}

fn serve(listener: TcpListener, shared: Shared) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        // Answers are small and wanted at once: none waits until the one before is acknowledged. A connection that refuses
        // this is only slower.
        let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|tcp| {
            let _ = tcp.set_nodelay(true);
        });
        let router = Router::new().route("/ws", any(socket)).fallback(get(page)).with_state(shared);
        axum::serve(listener, router).await
    })
}

async fn page(State(shared): State<Shared>, headers: HeaderMap, uri: Uri) -> Response {
    if !is_ours(&headers, header::HOST, shared.port, "") {
        return (StatusCode::FORBIDDEN, "this studio answers to its own address only\n").into_response();
    }
    // A link in another site's page, or in one of another port, must not replace the world that runs here: it may bring the
    // token, and nothing else in any spelling.
    let foreign = headers.get("sec-fetch-site").is_some_and(|v| v != "none" && v != "same-origin");
    if foreign && uri.query().is_some_and(|q| q.split('&').any(|part| !part.is_empty() && !part.starts_with("token=")))
    {
        let why = "this link was opened by another site; copy it into the address bar if you want to see that moment\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let name = uri.path().trim_start_matches('/');
    let name = if name.is_empty() { "index.html" } else { name };
    match PAGES.iter().find(|(known, _, _)| *known == name) {
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
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
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
    let known = query.get("token").is_some_and(|token| same(token.as_bytes(), shared.token.as_bytes()));
    if !own || !known {
        return (StatusCode::FORBIDDEN, "open the address that the studio printed\n").into_response();
    }
    upgrade.max_message_size(MOST_ASKED).max_frame_size(MOST_ASKED).on_upgrade(move |socket| talk(socket, shared.asked))
}

/// Whether a header names this server, by number or as localhost.
fn is_ours(headers: &HeaderMap, name: header::HeaderName, port: u16, before: &str) -> bool {
    let said = headers.get(name).and_then(|v| v.to_str().ok());
    said.and_then(|v| v.strip_prefix(before))
        .is_some_and(|v| v == format!("127.0.0.1:{port}") || v == format!("localhost:{port}"))
}

/// Whether two tokens are the same, in a time that does not tell how much of them is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// Each message is a number, a space and a question; the answer has the same number.
async fn talk(mut socket: WebSocket, asked: Sender<Letter>) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(text) = message else { continue };
        let (id, question) = text.split_once(' ').unwrap_or(("", &text));
        let (to, from) = oneshot::channel();
        if asked.send(Letter::Asked((question.to_owned(), to))).is_err() {
            return;
        }
        let Ok(answer) = from.await else { return };
        if socket.send(Message::Text(format!("{id} {answer}").into())).await.is_err() {
            return;
        }
    }
}
