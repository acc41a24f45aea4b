//! `ugas serve`: runs the server of a scenario. The server waits for the clients that the scenario names, runs the
//! scenario in real time, and prints the hashes of the final states.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use ugas_lab::{RunOptions, Scenario, ServerPart};
use ugas_net::server::{RejectionCounts, Secret, Server};
use ugas_transport::{
    Auth, Event, Key, Limits, Listener, ListenerConfig, PeerId, ServerTransport, TransportError, random_bytes,
};

use crate::args::ServeArgs;
use crate::clock::{Watch, since_epoch};
use crate::machines::{Endpoint, PROTOCOL, SETTLE, number_of, print_failures, report_not_played, to_real, to_sim};
use crate::output::{Exit, Out, complain};
use crate::sim::pick;

/// Polling interval while the server waits for clients.
const PAUSE: Duration = Duration::from_millis(2);
/// The time for which a rejected client may stay connected to receive the reason.
const REJECT_DELAY: Duration = Duration::from_secs(2);
/// The time in which a connected client must complete the handshake of the session.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest delay that the server makes up for. If the server is further behind real time, it skips the excess.
const MAX_BEHIND: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &ServeArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else {
        return Ok(Exit::Unreadable);
    };
    // The secret determines every random number, so clients must not be able to guess the secret.
    let secret = args.seed.is_none().then(|| Secret::new(random_bytes()));
    let options = RunOptions { seed: args.seed, ..RunOptions::default() };
    let part = match scenario.server_part_with(options, secret) {
        Ok(part) => part,
        Err(error) => return Ok(report_not_played(&scenario, &error)),
    };
    let is_repeated = |(at, endpoint): (usize, &Endpoint)| args.listen[..at].iter().any(|e| e.kind == endpoint.kind);
    if args.listen.iter().enumerate().any(is_repeated) {
        complain("error: --listen names two addresses of the same kind; give one udp:// and one ws:// address at most");
        return Ok(Exit::Unreadable);
    }
    let listener = match listen(args, &scenario) {
        Ok(listener) => listener,
        Err(error) => {
            complain(&format!("error: {error}"));
            return Ok(Exit::Unreadable);
        }
    };
    let watch = Watch::start();
    let mut host = Host {
        scenario: &scenario,
        part,
        listener,
        connected: BTreeMap::new(),
        denied: BTreeMap::new(),
        suspicious: BTreeSet::new(),
        watch,
    };
    host.announce(args, out)?;
    match host.play(args, out)? {
        Ok(()) => host.print_results(out),
        Err(why) => {
            complain(&format!("error: {why}"));
            Ok(Exit::Failed)
        }
    }
}

fn listen(args: &ServeArgs, scenario: &Scenario) -> Result<Listener, TransportError> {
    let clients = scenario.network.as_ref().map_or(0, |network| network.clients.len());
    let config = ListenerConfig {
        protocol: PROTOCOL,
        auth: if args.insecure { Auth::Open } else { Auth::Key(Key::random()) },
        limits: Limits { peers: clients, confirm_timeout: Some(HANDSHAKE_TIMEOUT), ..Limits::default() },
        now: since_epoch(),
        token_lifetime: u16::try_from(args.wait).unwrap_or(u16::MAX).max(1),
    };
    let builder = Listener::builder(config);
    let bind = |builder: ugas_transport::ListenerBuilder, at: &Endpoint| builder.bind(at.kind, at.address, None);
    args.listen.iter().try_fold(builder, bind)?.start()
}

/// Writes a token file that only the current user can read, because anyone with the token can connect as its client.
fn write_secret(file: &Path, text: &str) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Returns whether a peer has not sent its handshake yet.
fn is_waiting(server: &Server, peer: PeerId) -> bool {
    !server.playing().any(|playing| playing == peer) && !server.denied().any(|(denied, _)| denied == peer)
}

/// Which datagrams the server accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Only handshakes: clients are connecting.
    Gather,
    /// All datagrams of the connected clients.
    Play,
}

struct Host<'s> {
    scenario: &'s Scenario,
    part: ServerPart<'s>,
    listener: Listener,
    connected: BTreeMap<PeerId, String>,
    /// Rejected peers and the time of the rejection.
    denied: BTreeMap<PeerId, Duration>,
    /// The clients whose anomaly score was printed.
    suspicious: BTreeSet<PeerId>,
    watch: Watch,
}

impl Host<'_> {
    /// Prints the addresses and writes the tokens.
    fn announce(&self, args: &ServeArgs, out: &mut Out) -> io::Result<()> {
        for endpoint in &args.listen {
            let Some(address) = self.listener.address(endpoint.kind) else { continue };
            out.line(Endpoint { address, ..*endpoint }.to_string())?;
            self.write_tokens(args, endpoint, &self.names())?;
        }
        out.line(format!("waiting for {}", self.names().join(", ")))?;
        out.flush()
    }

    /// Writes the tokens of clients for an address, if the server has tokens.
    fn write_tokens(&self, args: &ServeArgs, endpoint: &Endpoint, names: &[&str]) -> io::Result<()> {
        let Some(folder) = &args.tokens else { return Ok(()) };
        let named = |path: &Path, error: io::Error| io::Error::other(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
        for &name in names {
            let number = number_of(self.scenario, name).unwrap_or_default();
            let token = self.listener.issue(endpoint.kind, number, name.as_bytes()).map_err(io::Error::other)?;
            let file = folder.join(format!("{name}.{}.token", endpoint.kind.scheme()));
            write_secret(&file, &token.to_string()).map_err(|error| named(&file, error))?;
        }
        Ok(())
    }

    fn names(&self) -> Vec<&str> {
        let clients = self.scenario.network.iter().flat_map(|network| &network.clients);
        clients.map(|client| client.name.as_str()).collect()
    }

    /// Runs the session. The inner error comes from the session, the outer error from writing output.
    fn play(&mut self, args: &ServeArgs, out: &mut Out) -> io::Result<Result<(), String>> {
        let wait = Duration::from_secs(args.wait.into());
        if let Err(why) = self.gather(args, wait, out)? {
            return Ok(Err(why));
        }
        out.line("running")?;
        out.flush()?;
        Ok(self.run_timeline(out)?.and_then(|()| self.settle()))
    }

    /// Waits until every client that the scenario names is connected and has completed its handshake. The server
    /// rejects a client with different rules or a different version and sends the reason. After the rejection another
    /// client can connect with the same name; if the server has tokens, it writes a new token for this name.
    fn gather(&mut self, args: &ServeArgs, wait: Duration, out: &mut Out) -> io::Result<Result<(), String>> {
        while self.part.server().playing().count() < self.names().len() {
            if self.watch.total() > wait {
                return Ok(Err(self.missing_clients(wait)));
            }
            std::thread::sleep(PAUSE);
            let (joined, left) = match self.poll(Phase::Gather) {
                Ok(changes) => changes,
                Err(why) => return Ok(Err(why)),
            };
            for name in joined {
                out.line(format!("{name} connected"))?;
            }
            for name in left {
                out.line(format!("{name} disconnected"))?;
            }
            for (name, why) in self.reject_denied() {
                out.line(format!("{name} rejected: {why}"))?;
                // Its token is used up.
                for endpoint in args.listen.iter().filter(|_| self.names().contains(&&*name)) {
                    self.write_tokens(args, endpoint, &[&name])?;
                }
            }
            out.flush()?;
        }
        Ok(Ok(()))
    }

    /// Returns an error that names the clients that did not connect or did not complete the handshake.
    fn missing_clients(&self, wait: Duration) -> String {
        let is_connected = |name: &&str| self.connected.values().any(|other| other == name);
        let (silent, missing): (Vec<&str>, Vec<&str>) = self.names().into_iter().partition(is_connected);
        match missing.is_empty() {
            false => format!(
                "{} did not connect within {} s; start one `ugas bot` per client",
                missing.join(", "),
                wait.as_secs()
            ),
            true => format!(
                "not all of {} completed the handshake; check that all clients have the same version",
                silent.join(", ")
            ),
        }
    }

    /// Sends rejected clients the reason; returns the name and the reason of each new rejection.
    fn reject_denied(&mut self) -> Vec<(String, String)> {
        let now = self.watch.total();
        let Host { part, listener, connected, denied, .. } = self;
        let rejected: Vec<(PeerId, String)> =
            part.server().denied().map(|(peer, denial)| (peer, denial.to_string())).collect();
        let mut messages = Vec::new();
        for (peer, why) in rejected {
            let since = *denied.entry(peer).or_insert_with(|| {
                let name = connected.get(&peer).map_or("a client", String::as_str);
                messages.push((name.to_owned(), why.clone()));
                now
            });
            part.server_mut().send_to(peer, &mut |datagram| {
                let _ = listener.send(peer, datagram);
            });
            if now - since > REJECT_DELAY {
                listener.disconnect(peer);
            }
        }
        messages
    }

    /// Runs the timeline tick by tick in real time.
    fn run_timeline(&mut self, out: &mut Out) -> io::Result<Result<(), String>> {
        let length = to_real(self.part.server().tick_length());
        let mut next = self.watch.total() + length;
        while !self.part.is_over() {
            std::thread::sleep(next.saturating_sub(self.watch.total()));
            if let Err(why) = self.require_all_clients(Phase::Play) {
                return Ok(Err(why));
            }
            self.part.step();
            self.send();
            self.print_anomalies(out)?;
            next = (next + length).max(self.watch.total().saturating_sub(MAX_BEHIND));
        }
        Ok(Ok(()))
    }

    /// Prints the anomaly score of each client whose score has reached the suggested threshold, with the reasons.
    fn print_anomalies(&mut self, out: &mut Out) -> io::Result<()> {
        let Host { part, connected, suspicious, .. } = self;
        let server = part.server();
        for (&peer, name) in connected.iter() {
            let Some(score) = server.anomaly(peer) else { continue };
            if !score.is_suspicious() {
                suspicious.remove(&peer);
            } else if suspicious.insert(peer) {
                let counts = server.counts_of(peer).into_iter().flat_map(RejectionCounts::iter);
                let reasons = counts.filter(|(reason, _)| reason.weight() > 0.0);
                let reasons: Vec<String> = reasons.map(|(reason, count)| format!("{count} x {reason}")).collect();
                out.line(format!("{name}: anomaly score {:.0}: {}", score.0, reasons.join(", ")))?;
                out.flush()?;
            }
        }
        Ok(())
    }

    /// Resends the last tick until every client has disconnected or [`SETTLE`] has passed.
    fn settle(&mut self) -> Result<(), String> {
        let start = self.watch.total();
        let length = to_real(self.part.server().tick_length());
        while !self.connected.is_empty() && self.watch.total() - start < SETTLE {
            self.send();
            std::thread::sleep(length);
            self.poll(Phase::Play)?;
        }
        Ok(())
    }

    fn require_all_clients(&mut self, phase: Phase) -> Result<(), String> {
        let (_, left) = self.poll(phase)?;
        match left.first() {
            Some(name) => Err(format!("{name} disconnected before the end of the scenario; check its output")),
            None => Ok(()),
        }
    }

    /// Receives from the transports. Returns the names of the clients that connected and of those that disconnected.
    fn poll(&mut self, phase: Phase) -> Result<(Vec<String>, Vec<String>), String> {
        let elapsed = self.watch.lap();
        let (mut joined, mut left, mut unwanted) = (Vec::new(), Vec::new(), Vec::new());
        let Host { scenario, part, listener, connected, denied, .. } = self;
        if phase == Phase::Gather {
            // Clients must not take this time for the round trip.
            part.server_mut().idle(to_sim(elapsed));
        }
        let polled = listener.poll(elapsed, &mut |event| match event {
            Event::Connected(peer, user_data) => {
                let name = String::from_utf8_lossy(user_data).into_owned();
                let is_known = number_of(scenario, &name).is_some();
                let is_taken = connected.values().any(|other| *other == name);
                let owns = part.owned_by(&name).unwrap_or_default();
                // The session processes the handshake; the timeline starts when all clients are connected.
                if phase != Phase::Gather || !is_known || is_taken || part.server_mut().connect(peer, &owns).is_err() {
                    unwanted.push(peer);
                } else {
                    joined.push(name.clone());
                    connected.insert(peer, name);
                }
            }
            Event::Disconnected(peer, _) => {
                part.server_mut().disconnect(peer);
                denied.remove(&peer);
                left.extend(connected.remove(&peer));
            }
            Event::Datagram(peer, datagram) => {
                let is_accepted = match phase {
                    Phase::Gather => is_waiting(part.server(), peer),
                    Phase::Play => true,
                };
                if is_accepted {
                    part.server_mut().receive(peer, datagram);
                }
            }
        });
        unwanted.into_iter().for_each(|peer| self.listener.disconnect(peer));
        self.part.server().playing().for_each(|peer| self.listener.confirm(peer));
        polled.map_err(|error| error.to_string())?;
        Ok((joined, left))
    }

    fn send(&mut self) {
        let Host { part, listener, .. } = self;
        // A failed send counts as a lost datagram; the next poll reports a broken connection.
        part.server_mut().send(&mut |peer, datagram| {
            let _ = listener.send(peer, datagram);
        });
    }

    /// Prints the hashes, the rejected packets and commands, and the failures.
    fn print_results(self, out: &mut Out) -> io::Result<Exit> {
        for name in self.names() {
            for (actor, hash) in self.part.hashes(name) {
                out.line(format!("{name} {actor} {hash:016x}"))?;
            }
        }
        for (reason, count) in self.part.server().counts().iter() {
            out.line(format!("rejected packets and commands: {count} x {reason}"))?;
        }
        let tick = self.part.server().tick().0;
        let report = self.part.finish();
        out.line(format!("hash {:016x} at tick {tick}", report.hash))?;
        print_failures(&report.failures, out)
    }
}
