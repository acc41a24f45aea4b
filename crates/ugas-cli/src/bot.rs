//! `ugas bot`: runs one client of a scenario. The bot connects, runs the verbs whose `On:` names its client, and prints
//! the hash of the last confirmed state of each actor that the client owns.

use std::io;
use std::time::Duration;

use ugas_lab::{ClientPart, Scenario};
use ugas_net::client::ClientState;
use ugas_transport::{
    ClientTransport, CloseReason, Connector, ConnectorConfig, Identity, State, Token, TokenError, TransportError,
};

use crate::args::BotArgs;
use crate::clock::{Watch, since_epoch};
use crate::machines::{PROTOCOL, number_of, print_failures, report_not_played, to_real, to_sim};
use crate::output::{Exit, Out, complain};
use crate::sim::pick;

/// The interval between two handshake messages.
const HANDSHAKE_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &BotArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else {
        return Ok(Exit::Unreadable);
    };
    let part = match scenario.client_part(&args.name) {
        Ok(part) => part,
        Err(error) => return Ok(report_not_played(&scenario, &error)),
    };
    let caller = match connect(args, &scenario) {
        Ok(caller) => caller,
        Err((exit, why)) => {
            complain(&format!("error: {why}"));
            return Ok(exit);
        }
    };
    let mut player =
        Player { part, caller, watch: Watch::start(), last_sent: Duration::ZERO, stage: Stage::Connecting };
    complain(&format!("connecting as {} to {}", args.name, player.caller.server()));
    match player.play(args) {
        Ok(()) => player.print_results(out),
        Err(why) => {
            complain(&format!("error: {why}"));
            Ok(Exit::Failed)
        }
    }
}

/// Connects with the token file if `--token` is given, otherwise without a token. A file that is not a token is
/// unreadable; a server that cannot be reached is a failure, as it is later.
fn connect(args: &BotArgs, scenario: &Scenario) -> Result<Connector, (Exit, String)> {
    let failed = |error: TransportError| (Exit::Failed, error.to_string());
    let config = ConnectorConfig { now: since_epoch(), connect_timeout: Duration::from_secs(args.wait.into()) };
    if let Some(file) = &args.token {
        let unreadable = |error: &dyn std::fmt::Display| (Exit::Unreadable, format!("{}: {error}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| unreadable(&error))?;
        let token: Token = text.parse().map_err(|error: TokenError| unreadable(&error))?;
        let connector = match args.rejoin {
            true => Connector::rejoin(token, config),
            false => Connector::connect(token, config),
        };
        return connector.map_err(failed);
    }
    let Some(endpoint) = args.connect else {
        return Err((Exit::Unreadable, "expected --token FILE or --connect ADDRESS".into()));
    };
    let client = number_of(scenario, &args.name).unwrap_or_default();
    let user_data = args.name.as_bytes();
    let who = Identity { client, user_data, kind: endpoint.kind, address: endpoint.address };
    Connector::connect_open(PROTOCOL, who, config).map_err(failed)
}

/// The stage of the connection, as printed to the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    Waiting,
    Running,
}

struct Player<'s> {
    part: ClientPart<'s>,
    caller: Connector,
    watch: Watch,
    /// When the last message was sent.
    last_sent: Duration,
    stage: Stage,
}

/// Returns why the connection failed and what to check. The advice depends on whether the bot has a token, because a
/// server does not report what is wrong with a token.
fn disconnect_reason(gone: CloseReason, args: &BotArgs, is_playing: bool) -> String {
    let help = match (gone, &args.token) {
        (CloseReason::PortClosed, None) => "start `ugas serve` first, and connect to the address it prints",
        (CloseReason::PortClosed, Some(_)) => {
            "this token is valid only for the server that wrote it; start `ugas serve --tokens` and use a new token"
        }
        (CloseReason::NoAnswer | CloseReason::Rejected, None) => {
            "if the server runs with --tokens, use --token FILE; otherwise check the address and that no other bot runs \
             this client"
        }
        (CloseReason::NoAnswer | CloseReason::Rejected | CloseReason::Expired, Some(_)) => {
            "a token is valid for one connection to the server that wrote it, and each start of `ugas serve` writes new \
             tokens; use an unused token file of the running server, or --rejoin to replace a connection that used \
             this token"
        }
        (CloseReason::ByServer, _) if !is_playing => {
            "the scenario is already running, or another bot runs this client; restart `ugas serve`, or select another \
             client with --as"
        }
        _ => return gone.to_string(),
    };
    format!("{gone}\n    {help}")
}

impl Player<'_> {
    fn play(&mut self, args: &BotArgs) -> Result<(), String> {
        let wait = Duration::from_secs(args.wait.into());
        let length = self.part.length().map_or(HANDSHAKE_INTERVAL, to_real);
        while !self.part.is_over() {
            std::thread::sleep(length / 4);
            let is_playing = self.step(length)?;
            self.print_stage();
            match (self.caller.state(), self.part.client().state()) {
                (_, ClientState::Denied(denial)) => {
                    return Err(format!("{denial}; check that the server runs the same scenario file"));
                }
                (_, ClientState::Disconnected(loss)) => return Err(loss.to_string()),
                // The server disconnects at the end of the scenario; the bot then uses the last confirmed state.
                (State::Disconnected(_), _) if self.part.client().tick() >= self.part.end() && is_playing => break,
                (State::Disconnected(gone), _) => return Err(disconnect_reason(gone, args, is_playing)),
                (State::Connecting, ClientState::Connecting) if self.watch.total() > wait => {
                    return Err(disconnect_reason(CloseReason::NoAnswer, args, false));
                }
                (State::Connected, ClientState::Connecting) if self.watch.total() > wait => {
                    return Err(format!(
                        "the scenario did not start within {} s; check that all clients are connected",
                        wait.as_secs()
                    ));
                }
                (State::Connecting | State::Connected, ClientState::Connecting | ClientState::Playing) => {}
            }
        }
        self.caller.disconnect();
        Ok(())
    }

    /// Prints a line when the client is connected, and another when the scenario starts.
    fn print_stage(&mut self) {
        let stage = match (self.caller.state(), self.part.client().state()) {
            (_, ClientState::Playing) => Stage::Running,
            (State::Connected, _) => Stage::Waiting,
            _ => return,
        };
        if stage != self.stage {
            self.stage = stage;
            complain(match stage {
                Stage::Running => "running",
                Stage::Connecting | Stage::Waiting => "connected, waiting for the other clients",
            });
        }
    }

    /// Advances by the elapsed real time; returns whether the scenario is running.
    fn step(&mut self, length: Duration) -> Result<bool, String> {
        let elapsed = self.watch.lap();
        let part = &mut self.part;
        let before = part.client().tick();
        // Advance the time before receiving: during a long stall the server's clock has advanced by the same amount.
        part.update(to_sim(elapsed));
        let polled = self.caller.poll(elapsed, &mut |datagram| part.client_mut().receive(datagram));
        polled.map_err(|error| error.to_string())?;
        let is_playing = *part.client().state() == ClientState::Playing;
        // While the scenario runs, send with every tick, so that the server can acknowledge the tick. Before the start,
        // send at a fixed interval.
        let interval = if is_playing { length } else { HANDSHAKE_INTERVAL };
        let is_time = part.client().tick() != before || self.watch.total() - self.last_sent >= interval;
        if is_time && self.caller.state() == State::Connected {
            self.last_sent = self.watch.total();
            let caller = &mut self.caller;
            // A failed send counts as a lost datagram; the state of the transport shows a broken connection.
            part.client_mut().send(&mut |datagram| {
                let _ = caller.send(datagram);
            });
        }
        Ok(is_playing)
    }

    /// Prints the hashes and the failures.
    fn print_results(self, out: &mut Out) -> io::Result<Exit> {
        for (actor, hash) in self.part.hashes() {
            out.line(format!("{actor} {hash:016x}"))?;
        }
        print_failures(&self.part.finish().failures, out)
    }
}
