//! A scenario with `Network:`, one machine at a time: what the server does at its times, and what a client does. How the
//! datagrams travel and how time passes is the host's business, so the same parts play over a simulated link and over
//! sockets.

use super::{RunOptions, Runner, append};
use crate::report::{Failure, Report};
use crate::scenario::{AbilityVerb, Name, Scenario, Step, Stop, Verb, WireVerb, for_each_step};
use std::collections::VecDeque;
use std::fmt;
use ugas_core::{AbilityId, Anchor, ControllerId, EffectId, Facts, NoHost, Refusal, SimTime, Which};
use ugas_data::ReadError;
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::Tick;

/// Verbs that one machine may run, repetitions included.
const MAX_STEPS: usize = 1_000_000;
/// More time than this does not pass at once: whoever slept for longer has lost its server in any case.
const MAX_ELAPSED: SimTime = SimTime::millis(120_000);
/// So much of it at most passes in slices; what a machine slept before passes in pieces as long as this, because nothing of
/// it can be done at its tick any more.
const IN_SLICES: SimTime = SimTime::millis(1_000);

/// Why a scenario has no such part.
#[derive(Clone, Debug, PartialEq)]
pub enum NotPlayed {
    /// It has no `Network:`.
    NoNetwork,
    /// It names no such client.
    NoClient {
        /// The name that was asked for.
        wanted: String,
        /// Those there are.
        clients: Vec<String>,
    },
    /// It repeats more verbs than a machine may run.
    TooLong,
    /// It cannot be understood.
    Errors(Vec<ReadError>),
}

impl fmt::Display for NotPlayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPlayed::NoNetwork => f.write_str("the scenario has no `Network:`; say who its clients are"),
            NotPlayed::NoClient { wanted, clients } => {
                write!(f, "the scenario has no client {wanted}; its clients are {}", clients.join(", "))
            }
            NotPlayed::TooLong => write!(f, "the scenario repeats more than {MAX_STEPS} verbs"),
            NotPlayed::Errors(errors) => {
                let told: Vec<String> = errors.iter().map(|e| format!("line {}: {}", e.line, e.message)).collect();
                f.write_str(&told.join("; "))
            }
        }
    }
}
impl std::error::Error for NotPlayed {}

/// What a machine has to do, with the tick before which each verb happens.
type Due<'s> = VecDeque<(Tick, &'s Step)>;

/// The server's part of a scenario.
///
/// ```
/// use ugas_core::SimTime;
/// let text = "Scenario: S\nNetwork: {TickHz: 50, Clients: {Ana: {}}}\nTimeline: [{At: 1, Do: [{Expect: {Sim.Time: 1}}]}]";
/// let tree = &ugas_data::read_trees("s.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("s.yaml", tree).unwrap();
/// let mut part = scenario.server_part().unwrap();
/// while !part.is_over() {
///     part.step();
/// }
/// assert_eq!(part.server().tick().0, 50);
/// assert!(part.finish().passed());
/// ```
pub struct ServerPart<'s> {
    runner: Runner<'s>,
    server: Server,
    due: Due<'s>,
    end: Tick,
    facts: Facts,
    /// What happened to connections and is not done yet.
    wires: Vec<&'s WireVerb>,
}

/// A client's part of a scenario.
pub struct ClientPart<'s> {
    name: String,
    runner: Runner<'s>,
    client: Client,
    due: Due<'s>,
    end: Tick,
    slice: SimTime,
    /// Whether its connection was taken away.
    is_cut: bool,
}

impl Scenario {
    /// What the server does. Clients connect to [`ServerPart::server_mut`] with what [`ServerPart::owned_by`] says.
    ///
    /// One with `Link`, `Disconnect` or `Reconnect` is not played so: only simulated links do as they are told.
    pub fn server_part(&self) -> Result<ServerPart<'_>, NotPlayed> {
        self.server_part_with(RunOptions::default(), None)
    }

    /// The same in another way, e.g. with a secret that no player can know. Without one, clients roll the same each time.
    pub fn server_part_with(&self, options: RunOptions, secret: Option<Secret>) -> Result<ServerPart<'_>, NotPlayed> {
        let mut errors = Vec::new();
        for moment in &self.moments {
            for_each_step(&moment.steps, &mut |step| {
                if matches!(step.verb, Verb::Wire(_)) {
                    let help = Some("play it with `ugas test`, over simulated links".to_owned());
                    let message = "a connection between real machines is not the scenario's to change";
                    errors.push(ReadError { help, ..step.place.error(&self.file, message) });
                }
            });
        }
        if errors.is_empty() { self.wired_server_part(options, secret) } else { Err(NotPlayed::Errors(errors)) }
    }

    /// The same for a host whose links do as they are told.
    pub(super) fn wired_server_part(
        &self,
        options: RunOptions,
        secret: Option<Secret>,
    ) -> Result<ServerPart<'_>, NotPlayed> {
        let network = self.network.as_ref().ok_or(NotPlayed::NoNetwork)?;
        let mut runner = Runner::of_machine(self, options).map_err(NotPlayed::Errors)?;
        let spare = runner.sim.clone();
        let sim = std::mem::replace(&mut runner.sim, spare);
        let secret = secret.unwrap_or(Secret::known(options.seed.unwrap_or(self.seed)));
        let config = ServerConfig { tick_length: network.tick, ..ServerConfig::default() };
        let (due, end) = self.due(None, network.tick)?;
        let (server, facts, wires) = (Server::new(sim, config, secret), Facts::default(), Vec::new());
        let mut part = ServerPart { runner, server, due, end, facts, wires };
        part.set_modes();
        Ok(part)
    }

    /// What a client does.
    pub fn client_part(&self, name: &str) -> Result<ClientPart<'_>, NotPlayed> {
        let network = self.network.as_ref().ok_or(NotPlayed::NoNetwork)?;
        if network.client(name).is_none() {
            let clients = network.clients.iter().map(|client| client.name.clone()).collect();
            return Err(NotPlayed::NoClient { wanted: name.to_owned(), clients });
        }
        let runner = Runner::of_machine(self, RunOptions::default()).map_err(NotPlayed::Errors)?;
        let client = Client::new(runner.world.rules.clone(), ClientConfig::default());
        let (due, end) = self.due(Some(name), network.tick)?;
        let name = name.to_owned();
        // A slice is shorter than a tick, so that no verb is passed over by a clock that is bent.
        let slice = SimTime((network.tick.0 / 4).max(1));
        Ok(ClientPart { name, runner, client, due, end, slice, is_cut: false })
    }

    /// The verbs of one machine with the tick before which each happens, and the tick at which the scenario ends.
    fn due(&self, on: Option<&str>, tick: SimTime) -> Result<(Due<'_>, Tick), NotPlayed> {
        let mut due = VecDeque::new();
        for moment in &self.moments {
            lay_out(&moment.steps, on, tick_at(moment.at, tick), &mut due)?;
        }
        Ok((due, self.moments.last().map_or(Tick(0), |moment| tick_at(moment.at, tick))))
    }
}

/// The first tick that is not before a time.
fn tick_at(at: SimTime, length: SimTime) -> Tick {
    let whole = at.0.div_euclid(length.0) + i64::from(at.0 % length.0 != 0);
    Tick(u32::try_from(whole).unwrap_or(u32::MAX))
}

/// The steps of one machine, repetitions written out.
fn lay_out<'s>(steps: &'s [Step], on: Option<&str>, tick: Tick, into: &mut Due<'s>) -> Result<(), NotPlayed> {
    for step in steps {
        match &step.verb {
            Verb::Repeat { times, steps } => {
                for _ in 0..*times {
                    lay_out(steps, on, tick, into)?;
                }
            }
            _ if step.on.as_ref().map(|name| name.text.as_str()) == on => into.push_back((tick, step)),
            _ => {}
        }
        if into.len() > MAX_STEPS {
            return Err(NotPlayed::TooLong);
        }
    }
    Ok(())
}

impl<'s> ServerPart<'s> {
    /// The session.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The session, for connections and datagrams.
    pub fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// The controllers that a client owns; nothing if there is no such client.
    pub fn owned_by(&self, client: &str) -> Option<Vec<ControllerId>> {
        let client = self.runner.scenario.network.as_ref()?.client(client)?;
        Some(client.owns.iter().map(|name| self.runner.who(&name.text)).collect())
    }

    /// The last tick.
    pub fn end(&self) -> Tick {
        self.end
    }

    /// Whether the last tick is over.
    pub fn is_over(&self) -> bool {
        self.server.tick() >= self.end
    }

    /// Does what is due, then one tick; nothing after the last.
    pub fn step(&mut self) {
        if !self.is_over() {
            self.run_due();
            self.advance();
        }
    }

    /// One tick.
    pub(super) fn advance(&mut self) {
        self.server.step(&mut NoHost);
        self.keep_facts();
    }

    /// The tick at which a time is reached.
    pub(super) fn last_tick_at(&self, time: SimTime) -> Tick {
        tick_at(time, self.server.tick_length())
    }

    /// Shows the runner with the session's sim.
    pub(super) fn look(&mut self, watch: &mut dyn FnMut(&Runner<'_>)) {
        std::mem::swap(&mut self.runner.sim, self.server.sim_mut());
        watch(&self.runner);
        std::mem::swap(&mut self.runner.sim, self.server.sim_mut());
    }

    /// Actors are shown to others as their documents say.
    fn set_modes(&mut self) {
        for actor in &self.runner.scenario.actors {
            let (who, rules) = (self.runner.who(&actor.name.text), &self.runner.world.rules);
            let template = actor.controller.as_ref().and_then(|name| rules.find_template(&name.text));
            if let Some(mode) = template.and_then(|t| rules.template_replication(t))
                && self.server.sim().exists(who)
                && self.server.replication(who) != mode
            {
                self.server.set_replication(who, mode);
            }
        }
    }

    /// What a client's own controllers are worth at the last tick that is over, as their owner may know them: actors and
    /// hashes.
    pub fn hashes(&self, client: &str) -> Vec<(String, u64)> {
        let network = self.runner.scenario.network.as_ref();
        let owns = network.and_then(|n| n.client(client)).map_or(&[][..], |client| &client.owns);
        let hash = |name: &Name| Some((name.text.clone(), self.server.owner_hash(self.runner.who(&name.text)).ok()?));
        owns.iter().filter_map(hash).collect()
    }

    /// Looks at what the last moment expects, and tells.
    pub fn finish(mut self) -> Report {
        self.run_due();
        self.into_runner().into_report()
    }

    /// The runner with the session's sim.
    pub(super) fn into_runner(mut self) -> Runner<'s> {
        std::mem::swap(&mut self.runner.sim, self.server.sim_mut());
        self.runner
    }

    pub(super) fn run_due(&mut self) {
        let now = self.server.tick();
        while let Some((_, step)) = self.due.pop_front_if(|(tick, _)| *tick <= now) {
            let runner = &mut self.runner;
            std::mem::swap(&mut runner.sim, self.server.sim_mut());
            match &step.verb {
                Verb::Wire(wire) => self.wires.push(wire),
                Verb::Expect(list) => runner.expect(list),
                Verb::ExpectStream { stream, entries } => runner.expect_stream(*stream, entries),
                Verb::ExpectCount(list) => runner.expect_counts(list),
                Verb::MarkHash { .. } | Verb::ExpectHash { .. } | Verb::Reload(_) => {
                    runner.run_steps(std::slice::from_ref(step));
                }
                verb => {
                    let outcome = runner.act(verb);
                    runner.judge(step, outcome, &[]);
                }
            }
            runner.close_windows(std::slice::from_ref(step));
            std::mem::swap(&mut runner.sim, self.server.sim_mut());
            if matches!(step.verb, Verb::Spawn { .. }) {
                self.set_modes();
            }
        }
    }

    /// What the verbs that were due do to connections.
    pub(super) fn take_wires(&mut self) -> Vec<&'s WireVerb> {
        std::mem::take(&mut self.wires)
    }

    /// The session takes the facts of its sim, for some of them travel; the runner looks at them afterwards.
    fn keep_facts(&mut self) {
        self.server.take_facts(&mut self.facts);
        if self.runner.keeps.window {
            append(&mut self.runner.facts, &self.facts);
        }
        if self.runner.keeps.all {
            self.runner.all_facts.extend_from_slice(&self.facts.list);
        }
    }
}

impl ClientPart<'_> {
    /// The session.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The session, for datagrams.
    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Length of a tick, as the file says.
    pub fn length(&self) -> Option<SimTime> {
        self.runner.scenario.network.as_ref().map(|network| network.tick)
    }

    /// The last tick of the scenario.
    pub fn end(&self) -> Tick {
        self.end
    }

    /// Whether the server has spoken about everything up to the last tick.
    pub fn is_over(&self) -> bool {
        let is_settled = |&who: &ControllerId| self.client.confirmed_tick(who).is_some_and(|tick| tick >= self.end);
        self.client.tick() >= self.end && self.client.owned().iter().all(is_settled)
    }

    /// Time goes on, and what is due is done at its tick.
    pub fn update(&mut self, elapsed: SimTime) {
        let mut left = elapsed.min(MAX_ELAPSED);
        while left > IN_SLICES {
            // The client must hear of all time that went by: its server's clock went on too.
            let piece = (left - IN_SLICES).min(IN_SLICES);
            left = left - piece;
            self.client.update(piece);
        }
        while left > SimTime::ZERO {
            let slice = left.min(self.slice);
            left = SimTime(left.0 - slice.0);
            self.client.update(slice);
            self.run_due(self.client.tick());
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Begins anew, with nothing remembered.
    pub(super) fn restart(&mut self) {
        self.is_cut = true;
        self.client = Client::new(self.runner.world.rules.clone(), ClientConfig::default());
    }

    /// Does what is due at a tick of the server's. Who is not in the game cannot do anything.
    pub(super) fn run_due_at(&mut self, tick: Tick) {
        self.run_due(tick);
        let late = self.due.front().filter(|(due, _)| *due <= tick && *self.client.state() != ClientState::Playing);
        if let Some(&(_, step)) = late {
            let time = tick.time(self.length().unwrap_or_default());
            let why = match self.client.state() {
                ClientState::Denied(denial) => format!("the server does not have it: {denial}"),
                ClientState::Disconnected(loss) => format!("it has left: {loss}"),
                _ if self.is_cut => "it was disconnected and has not joined again; `Reconnect` it earlier".to_owned(),
                _ => "it has not joined yet: it takes about two round trips".to_owned(),
            };
            let message = format!("expected the client to play at {time}, found that {why}");
            self.runner.fail(step.place, message, None);
            self.due.clear();
        }
    }

    /// Its name, and what did not hold on its machine; what still waits did not.
    pub(super) fn into_failures(mut self) -> (String, Vec<Failure>) {
        for (_, step) in std::mem::take(&mut self.due) {
            let message = "expected it to be done, found that the client is too far ahead of what the server confirmed";
            self.runner.fail(step.place, message.to_owned(), None);
        }
        (self.name, self.runner.failures)
    }

    /// What the server confirmed last of the client's own controllers: actors and hashes.
    pub fn hashes(&self) -> Vec<(String, u64)> {
        let name = |who: &ControllerId| self.runner.who_is.get(who).cloned().unwrap_or_default();
        let hash = |who: &ControllerId| Some((name(who), self.client.confirmed_hash(*who)?));
        self.client.owned().iter().filter_map(hash).collect()
    }

    /// What did not hold on this machine.
    pub fn finish(mut self) -> Report {
        self.runner.sim = self.client.sim().clone();
        self.runner.into_report()
    }

    fn run_due(&mut self, now: Tick) {
        while *self.client.state() == ClientState::Playing
            && let Some(&(_, step)) = self.due.front().filter(|(tick, _)| *tick <= now)
        {
            if let Verb::Expect(list) = &step.verb {
                self.runner.sim = self.client.sim().clone();
                self.runner.seen = self.client.proxies().iter().map(|p| (p.who(), p.snapshot())).collect();
                self.runner.expect(list);
            } else {
                let request = self.request(&step.verb);
                match request.and_then(|request| self.client.command(request)) {
                    // Too far ahead of the server: the verb waits for it.
                    Err(Refusal::PredictionWindowClosed) if step.refused.is_none() => return,
                    outcome => self.runner.judge(step, outcome.map(|_| ()), &[]),
                }
            }
            self.due.pop_front();
        }
    }

    /// A verb as a client can say it; the others were turned away when the scenario was read.
    fn request(&self, verb: &Verb) -> Result<Request, Refusal> {
        let runner = &self.runner;
        let rules = &runner.world.rules;
        let who = |name: &Name| runner.who(&name.text);
        Ok(match verb {
            Verb::Apply(apply) => Request::Apply {
                who: apply.from.as_ref().map_or(ControllerId::NONE, who),
                ability: apply.ability.as_ref().and_then(|n| rules.find_ability(&n.text)).unwrap_or(AbilityId::NONE),
                effect: rules.find_effect(&apply.effect.text).unwrap_or(EffectId::NONE),
                target: who(&apply.to),
            },
            Verb::Move { actor, to: Some(position), facing } => {
                let at = Anchor::at(*position);
                let anchor = facing.map_or(at, |facing| Anchor { facing, ..at });
                Request::Move { who: who(actor), anchor }
            }
            Verb::Ability(AbilityVerb::Activate { of, aim, .. }) => match runner.which(of)? {
                (who, Which::Ability(ability)) => Request::Activate { who, ability, target: runner.aim(aim) },
                _ => return Err(Refusal::Authority),
            },
            Verb::Ability(AbilityVerb::Stop { how, of }) => match (runner.which(of)?, how) {
                ((who, Which::Ability(ability)), Stop::Cancel) => Request::Cancel { who, ability },
                ((who, Which::Ability(ability)), Stop::End) => Request::End { who, ability },
                ((who, Which::Ability(ability)), Stop::Commit) => Request::Commit { who, ability },
                _ => return Err(Refusal::Authority),
            },
            Verb::Ability(AbilityVerb::Press { actor, input, aim, .. }) => {
                let (input, target) = (runner.world.input(&input.text), runner.aim(aim));
                Request::Press { who: who(actor), input, target }
            }
            Verb::Ability(AbilityVerb::Release { actor, input }) => {
                Request::Release { who: who(actor), input: runner.world.input(&input.text) }
            }
            Verb::Ability(AbilityVerb::Complete(c)) => {
                let kind = rules.find_task_kind(&c.task.text);
                let tasks = self.client.sim().tasks(who(&c.actor))?;
                let waits = tasks.iter().find(|task| Some(task.kind) == kind);
                Request::Complete { key: waits.ok_or(Refusal::StaleHandle)?.key, answer: runner.answer(c) }
            }
            _ => return Err(Refusal::Authority),
        })
    }
}
