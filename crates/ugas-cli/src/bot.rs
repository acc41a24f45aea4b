//! `ugas bot`: one client of a scenario. It connects, does at its times what the file says of it, and tells the hash of
//! what the server confirmed.

use std::io;
use std::time::Duration;

use ugas_lab::{ClientPart, Scenario};
use ugas_net::client::ClientState;
use ugas_transport::{ClientTransport, Connector, ConnectorConfig, Gone, Identity, State, Token};

use crate::args::BotArgs;
use crate::clock::{Watch, since_epoch};
use crate::machines::{PROTOCOL, not_played, number_of, tell_failures, to_real, to_sim};
use crate::output::{Exit, Out, complain};
use crate::sim::pick;

/// Between two words of a client that is not part of the session yet.
const ASK_AGAIN: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &BotArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else {
        return Ok(Exit::Unreadable);
    };
    let part = match scenario.client_part(&args.name) {
        Ok(part) => part,
        Err(error) => return Ok(not_played(&scenario, &error)),
    };
    let caller = match call(args, &scenario) {
        Ok(caller) => caller,
        Err(why) => {
            complain(&format!("error: {why}"));
            return Ok(Exit::Unreadable);
        }
    };
    let mut player = Player { part, caller, watch: Watch::start(), said: Duration::ZERO, stage: Stage::Calling };
    complain(&format!("connecting as {} to {}", args.name, player.caller.server()));
    match player.play(args) {
        Ok(()) => player.tell(out),
        Err(why) => {
            complain(&format!("error: {why}"));
            Ok(Exit::Failed)
        }
    }
}

/// By token if there is one, else as whom it says.
fn call(args: &BotArgs, scenario: &Scenario) -> Result<Connector, String> {
    let config = ConnectorConfig { now: since_epoch(), patience: Duration::from_secs(args.wait.into()) };
    if let Some(file) = &args.token {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let token: Token = text.parse().map_err(|error| format!("{}: {error}", file.display()))?;
        return Connector::connect(token, config).map_err(|error| error.to_string());
    }
    let Some(endpoint) = args.connect else {
        return Err("write --token FILE or --connect ADDRESS".into());
    };
    let client = number_of(scenario, &args.name).unwrap_or_default();
    let user_data = args.name.as_bytes();
    let who = Identity { client, user_data, carrier: endpoint.carrier, address: endpoint.address };
    Connector::connect_open(PROTOCOL, who, config).map_err(|error| error.to_string())
}

/// How far it is, as it is told on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Calling,
    Waiting,
    Playing,
}

struct Player<'s> {
    part: ClientPart<'s>,
    caller: Connector,
    watch: Watch,
    /// When it said something last.
    said: Duration,
    stage: Stage,
}

/// Why there is no connection, with what to look at. A server never says what is wrong with a token, but the bot knows
/// whether it has one.
fn why_gone(gone: Gone, args: &BotArgs, is_playing: bool) -> String {
    let help = match (gone, &args.token) {
        (Gone::Nobody, None) => "start `ugas serve` first, and connect to the address it prints",
        (Gone::Nobody, Some(_)) => {
            "the token names the server it was made by; start `ugas serve --tokens` and use the tokens it writes then"
        }
        (Gone::NoAnswer | Gone::Refused, None) => {
            "if the server was started with --tokens, it lets in only who has one: use --token FILE; else look at the \
             address, and whether somebody plays this client already"
        }
        (Gone::NoAnswer | Gone::Refused | Gone::Expired, Some(_)) => {
            "a token is good for one connection to the server that wrote it, and each start of `ugas serve` writes new \
             ones: use the file of the server that runs now, once"
        }
        (Gone::ByServer, _) if !is_playing => "the server plays already, or somebody plays this client",
        _ => return gone.to_string(),
    };
    format!("{gone}\n    {help}")
}

impl Player<'_> {
    fn play(&mut self, args: &BotArgs) -> Result<(), String> {
        let wait = Duration::from_secs(args.wait.into());
        let length = self.part.length().map_or(ASK_AGAIN, to_real);
        while !self.part.is_over() {
            std::thread::sleep(length / 4);
            let is_playing = self.step(length)?;
            self.tell_stage();
            match (self.caller.state(), self.part.client().state()) {
                (_, ClientState::Denied(denial)) => {
                    return Err(format!("{denial}. Does the server play this very file?"));
                }
                (_, ClientState::Disconnected(loss)) => return Err(loss.to_string()),
                // The server leaves last; what it confirmed until then counts.
                (State::Disconnected(_), _) if self.part.client().tick() >= self.part.end() && is_playing => break,
                (State::Disconnected(gone), _) => return Err(why_gone(gone, args, is_playing)),
                (State::Connecting | State::Connected, ClientState::Connecting) if self.watch.total() > wait => {
                    return Err(format!("the game did not begin in {} s: is everybody there?", wait.as_secs()));
                }
                (State::Connecting | State::Connected, ClientState::Connecting | ClientState::Playing) => {}
            }
        }
        self.caller.disconnect();
        Ok(())
    }

    /// Says when it is let in and when it plays.
    fn tell_stage(&mut self) {
        let stage = match (self.caller.state(), self.part.client().state()) {
            (_, ClientState::Playing) => Stage::Playing,
            (State::Connected, _) => Stage::Waiting,
            _ => return,
        };
        if stage != self.stage {
            self.stage = stage;
            complain(match stage {
                Stage::Playing => "playing",
                _ => "connected, waiting for the game to begin",
            });
        }
    }

    /// A moment of real time; whether the client plays.
    fn step(&mut self, length: Duration) -> Result<bool, String> {
        let elapsed = self.watch.lap();
        let part = &mut self.part;
        let before = part.client().tick();
        // First the time: after a long stop the server's clock is as far ahead as that.
        part.update(to_sim(elapsed));
        let polled = self.caller.poll(elapsed, &mut |datagram| part.client_mut().receive(datagram));
        polled.map_err(|error| error.to_string())?;
        let is_playing = *part.client().state() == ClientState::Playing;
        // A word with every tick, so that the server knows how each one went; now and then while there are none.
        let silence = if is_playing { length } else { ASK_AGAIN };
        let is_time = part.client().tick() != before || self.watch.total() - self.said >= silence;
        if is_time && self.caller.state() == State::Connected {
            self.said = self.watch.total();
            let caller = &mut self.caller;
            // What cannot be sent is lost like any datagram; a connection that broke shows in its state.
            part.client_mut().send(&mut |datagram| {
                let _ = caller.send(datagram);
            });
        }
        Ok(is_playing)
    }

    /// What it came to.
    fn tell(self, out: &mut Out) -> io::Result<Exit> {
        for (actor, hash) in self.part.hashes() {
            out.line(&format!("{actor} {hash:016x}"))?;
        }
        tell_failures(&self.part.finish().failures, out)
    }
}
