//! `ugas serve`: the world of a scenario, hosted. It waits for the clients that the file names, plays the server's part
//! in real time, and tells what everything came to.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use ugas_lab::{RunOptions, Scenario, ServerPart};
use ugas_net::server::{Secret, Server};
use ugas_transport::{
    Auth, Event, Key, Limits, Listener, ListenerConfig, PeerId, ServerTransport, TransportError, random_bytes,
};

use crate::args::ServeArgs;
use crate::clock::{Watch, since_epoch};
use crate::machines::{Endpoint, PROTOCOL, SETTLE, not_played, number_of, tell_failures, to_real};
use crate::output::{Exit, Out, complain};
use crate::sim::pick;

/// Pauses while nothing has to happen at a certain time.
const PAUSE: Duration = Duration::from_millis(2);
/// Whoever may not play is told why and leaves; who stays longer is sent away.
const LAST_WORD: Duration = Duration::from_secs(2);
/// A server that is further behind than this lets the time go: it does not race after it.
const MAX_BEHIND: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &ServeArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else {
        return Ok(Exit::Unreadable);
    };
    // Who knows the secret knows what everybody will roll.
    let secret = args.seed.is_none().then(|| Secret::new(random_bytes()));
    let options = RunOptions { seed: args.seed, ..RunOptions::default() };
    let part = match scenario.server_part_with(options, secret) {
        Ok(part) => part,
        Err(error) => return Ok(not_played(&scenario, &error)),
    };
    let listener = match listen(args, &scenario) {
        Ok(listener) => listener,
        Err(error) => {
            complain(&format!("error: {error}"));
            return Ok(Exit::Unreadable);
        }
    };
    let watch = Watch::start();
    let mut host = Host { scenario: &scenario, part, listener, here: BTreeMap::new(), denied: BTreeMap::new(), watch };
    host.announce(args, out)?;
    match host.play(args, out)? {
        Ok(()) => host.tell(out),
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
        limits: Limits { peers: clients, ..Limits::default() },
        now: since_epoch(),
        token_lifetime: u16::try_from(args.wait).unwrap_or(u16::MAX).max(1),
    };
    let builder = Listener::builder(config);
    let bind = |builder: ugas_transport::ListenerBuilder, at: &Endpoint| builder.bind(at.carrier, at.address, None);
    args.listen.iter().try_fold(builder, bind)?.start()
}

/// Who can read a token can be that player, so only the one who started the server can.
fn write_secret(file: &Path, text: &str) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Whether a peer has not said what it is.
fn is_silent(server: &Server, peer: PeerId) -> bool {
    !server.playing().any(|playing| playing == peer) && !server.denied().any(|(denied, _)| denied == peer)
}

struct Host<'s> {
    scenario: &'s Scenario,
    part: ServerPart<'s>,
    listener: Listener,
    here: BTreeMap<PeerId, String>,
    /// Who may not play, and since when that is known.
    denied: BTreeMap<PeerId, Duration>,
    watch: Watch,
}

impl Host<'_> {
    /// Says where it listens and writes the tokens.
    fn announce(&self, args: &ServeArgs, out: &mut Out) -> io::Result<()> {
        for endpoint in &args.listen {
            let Some(address) = self.listener.address(endpoint.carrier) else { continue };
            out.line(&Endpoint { address, ..*endpoint }.to_string())?;
            if let Some(folder) = &args.tokens {
                self.write_tokens(endpoint, folder)?;
            }
        }
        out.line(&format!("waiting for {}", self.names().join(", ")))?;
        out.flush()
    }

    fn write_tokens(&self, endpoint: &Endpoint, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for name in self.names() {
            let number = number_of(self.scenario, name).unwrap_or_default();
            let token = self.listener.issue(endpoint.carrier, number, name.as_bytes()).map_err(io::Error::other)?;
            let file = folder.join(format!("{name}.{}.token", endpoint.carrier.scheme()));
            write_secret(&file, &token.to_string())?;
        }
        Ok(())
    }

    fn names(&self) -> Vec<&str> {
        let clients = self.scenario.network.iter().flat_map(|network| &network.clients);
        clients.map(|client| client.name.as_str()).collect()
    }

    /// The whole game; the inner error is one of the game, the outer one of the terminal.
    fn play(&mut self, args: &ServeArgs, out: &mut Out) -> io::Result<Result<(), String>> {
        let wait = Duration::from_secs(args.wait.into());
        if let Err(why) = self.gather(wait, out)? {
            return Ok(Err(why));
        }
        out.line("playing")?;
        out.flush()?;
        Ok(self.run_timeline().and_then(|()| self.settle()))
    }

    /// Waits until every client that the file names is connected and has said what it is. Who has other rules or another
    /// version is told so, and the place is free again.
    fn gather(&mut self, wait: Duration, out: &mut Out) -> io::Result<Result<(), String>> {
        while self.part.server().playing().count() < self.names().len() {
            if self.watch.total() > wait {
                return Ok(Err(self.who_is_missing(wait)));
            }
            std::thread::sleep(PAUSE);
            let (come, gone) = match self.poll(false) {
                Ok(news) => news,
                Err(why) => return Ok(Err(why)),
            };
            for name in come {
                out.line(&format!("{name} is here"))?;
            }
            for name in gone {
                out.line(&format!("{name} left"))?;
            }
            for why in self.send_away() {
                out.line(&why)?;
            }
            out.flush()?;
        }
        Ok(Ok(()))
    }

    /// Who did not come, or came and never said hello.
    fn who_is_missing(&self, wait: Duration) -> String {
        let is_here = |name: &&str| self.here.values().any(|here| here == name);
        let (silent, missing): (Vec<&str>, Vec<&str>) = self.names().into_iter().partition(is_here);
        match missing.is_empty() {
            false => format!("nobody came as {} in {} s", missing.join(", "), wait.as_secs()),
            true => format!("of {} not everybody says hello; are they the same version?", silent.join(", ")),
        }
    }

    /// Tells those who may not play why; what there is to say of them, once each.
    fn send_away(&mut self) -> Vec<String> {
        let now = self.watch.total();
        let Host { part, listener, here, denied, .. } = self;
        let told: Vec<(PeerId, String)> =
            part.server().denied().map(|(peer, denial)| (peer, denial.to_string())).collect();
        let mut said = Vec::new();
        for (peer, why) in told {
            let since = *denied.entry(peer).or_insert_with(|| {
                let name = here.get(&peer).map_or("somebody", String::as_str);
                said.push(format!("{name} may not play: {why}"));
                now
            });
            part.server_mut().send_to(peer, &mut |datagram| {
                let _ = listener.send(peer, datagram);
            });
            if now - since > LAST_WORD {
                listener.disconnect(peer);
            }
        }
        said
    }

    /// Plays tick by tick, as time goes by.
    fn run_timeline(&mut self) -> Result<(), String> {
        let length = to_real(self.part.server().tick_length());
        let mut next = self.watch.total() + length;
        while !self.part.is_over() {
            std::thread::sleep(next.saturating_sub(self.watch.total()));
            self.need_everybody()?;
            self.part.step();
            self.send();
            next = (next + length).max(self.watch.total().saturating_sub(MAX_BEHIND));
        }
        Ok(())
    }

    /// The last tick is over: everybody hears of it, and leaves.
    fn settle(&mut self) -> Result<(), String> {
        let begun = self.watch.total();
        let length = to_real(self.part.server().tick_length());
        while !self.here.is_empty() && self.watch.total() - begun < SETTLE {
            self.send();
            std::thread::sleep(length);
            self.poll(true)?;
        }
        Ok(())
    }

    fn need_everybody(&mut self) -> Result<(), String> {
        let (_, gone) = self.poll(true)?;
        match gone.first() {
            Some(name) => Err(format!("{name} left before the scenario was over")),
            None => Ok(()),
        }
    }

    /// Takes what the carriers have; who came and who went.
    fn poll(&mut self, is_playing: bool) -> Result<(Vec<String>, Vec<String>), String> {
        let elapsed = self.watch.lap();
        let (mut come, mut gone, mut unwanted) = (Vec::new(), Vec::new(), Vec::new());
        let Host { scenario, part, listener, here, denied, .. } = self;
        let polled = listener.poll(elapsed, &mut |event| match event {
            Event::Connected(peer, user_data) => {
                let name = String::from_utf8_lossy(user_data).into_owned();
                let is_known = number_of(scenario, &name).is_some();
                let is_taken = here.values().any(|other| *other == name);
                let owns = part.owned_by(&name).unwrap_or_default();
                // The session hears what it is; nothing is played before everybody is there.
                if is_playing || !is_known || is_taken || part.server_mut().connect(peer, &owns).is_err() {
                    unwanted.push(peer);
                } else {
                    come.push(name.clone());
                    here.insert(peer, name);
                }
            }
            Event::Disconnected(peer, _) => {
                part.server_mut().disconnect(peer);
                denied.remove(&peer);
                gone.extend(here.remove(&peer));
            }
            // Until it begins there is nothing to hear but a hello, and no tick that would let anybody say more.
            Event::Datagram(peer, datagram) if is_playing || is_silent(part.server(), peer) => {
                part.server_mut().receive(peer, datagram);
            }
            Event::Datagram(..) => {}
        });
        unwanted.into_iter().for_each(|peer| self.listener.disconnect(peer));
        polled.map_err(|error| error.to_string())?;
        Ok((come, gone))
    }

    fn send(&mut self) {
        let Host { part, listener, .. } = self;
        // What cannot be sent is lost like any datagram; a connection that broke is told by the next poll.
        part.server_mut().send(&mut |peer, datagram| {
            let _ = listener.send(peer, datagram);
        });
    }

    /// What everything came to.
    fn tell(self, out: &mut Out) -> io::Result<Exit> {
        for name in self.names() {
            for (actor, hash) in self.part.hashes(name) {
                out.line(&format!("{name} {actor} {hash:016x}"))?;
            }
        }
        for (reason, count) in self.part.server().counts().iter() {
            out.line(&format!("refused {count} x {reason:?}"))?;
        }
        let tick = self.part.server().tick().0;
        let report = self.part.finish();
        out.line(&format!("hash {:016x} at tick {tick}", report.hash))?;
        tell_failures(&report.failures, out)
    }
}
