//! The server part and the client parts of a scenario with `Network:`. The host of a part sends and receives the
//! datagrams of the part and advances its time, so the same parts run over simulated links and over sockets.

mod local;

use super::{RunOptions, Runner, append};
use crate::report::{Failure, Report};
use crate::scenario::{AbilityVerb, Name, Scenario, Step, Stop, Verb, WireVerb, for_each_step};
use std::collections::VecDeque;
use std::fmt;
use ugas_core::{AbilityId, Anchor, AxisValue, ControllerId, EffectId, Facts, NoHost, Refusal, SimTime, Which};
use ugas_data::ReadError;
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::Tick;

/// Verbs that one machine may run, repetitions included.
const MAX_STEPS: usize = 1_000_000;
/// The maximum elapsed time of one update. After a longer pause the server has disconnected the client.
const MAX_ELAPSED: SimTime = SimTime::millis(120_000);
/// The last part of an update, which is advanced in slices so that verbs run at their ticks. Earlier time is advanced
/// in pieces of this length, because verbs can no longer run in those ticks.
const IN_SLICES: SimTime = SimTime::millis(1_000);

/// Why a scenario cannot be split into a server and clients.
#[derive(Clone, Debug, PartialEq)]
pub enum PartError {
    /// The scenario has no `Network:`.
    NoNetwork,
    /// The scenario has no client with the requested name.
    NoClient {
        /// The requested name.
        wanted: String,
        /// The clients of the scenario.
        clients: Vec<String>,
    },
    /// The scenario has more verbs than the limit allows.
    TooLong,
    /// The scenario has errors.
    Errors(Vec<ReadError>),
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartError::NoNetwork => f.write_str("the scenario has no `Network:`; add `Network:` with the clients"),
            PartError::NoClient { wanted, clients } => {
                write!(f, "unknown client {wanted}; the clients are {}", clients.join(", "))
            }
            PartError::TooLong => {
                write!(f, "the scenario has more than {MAX_STEPS} verbs, repetitions included; split it")
            }
            PartError::Errors(errors) => {
                let lines: Vec<String> = errors.iter().map(|e| format!("line {}: {}", e.line, e.message)).collect();
                f.write_str(&lines.join("; "))
            }
        }
    }
}
impl std::error::Error for PartError {}

/// The verbs of a machine, with the tick before which each runs.
type Due<'s> = VecDeque<(Tick, &'s Step)>;

/// The server part of a scenario with `Network:`.
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
    /// Connection changes that are not applied yet.
    wires: Vec<&'s WireVerb>,
}

/// A client part of a scenario with `Network:`.
pub struct ClientPart<'s> {
    name: String,
    runner: Runner<'s>,
    client: Client,
    due: Due<'s>,
    end: Tick,
    slice: SimTime,
    /// Whether its connection was cut.
    is_cut: bool,
    /// Whether the client has received an actor that it owns.
    has_owned: bool,
}

impl Scenario {
    /// Returns the server part. To add a client, call [`Server::connect`] on [`ServerPart::server_mut`] with the
    /// controllers that [`ServerPart::owned_by`] returns.
    ///
    /// Returns an error if the scenario has the verbs `Link`, `Disconnect` or `Reconnect`, because these verbs need
    /// simulated links.
    pub fn server_part(&self) -> Result<ServerPart<'_>, PartError> {
        self.server_part_with(RunOptions::default(), None)
    }

    /// Returns the server part like [`Scenario::server_part`], with options and a secret from which the random seeds of
    /// clients are derived. Without a secret, every run produces the same random rolls.
    pub fn server_part_with(&self, options: RunOptions, secret: Option<Secret>) -> Result<ServerPart<'_>, PartError> {
        let mut errors = Vec::new();
        for entry in &self.timeline {
            for_each_step(&entry.steps, &mut |step| {
                if matches!(step.verb, Verb::Wire(_)) {
                    let help = Some("run the scenario with `ugas test`, which simulates links".to_owned());
                    let message =
                        "this verb needs simulated links and cannot change a connection between real machines";
                    errors.push(ReadError { help, ..step.place.error(&self.file, message) });
                }
            });
        }
        if errors.is_empty() { self.wired_server_part(options, secret) } else { Err(PartError::Errors(errors)) }
    }

    /// Like [`Scenario::server_part_with`], for a host with simulated links.
    pub(super) fn wired_server_part(
        &self,
        options: RunOptions,
        secret: Option<Secret>,
    ) -> Result<ServerPart<'_>, PartError> {
        let network = self.network.as_ref().ok_or(PartError::NoNetwork)?;
        let mut runner = Runner::of_machine(self, options).map_err(PartError::Errors)?;
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

    /// Returns the part of the client that has this name.
    pub fn client_part(&self, name: &str) -> Result<ClientPart<'_>, PartError> {
        let network = self.network.as_ref().ok_or(PartError::NoNetwork)?;
        if network.client(name).is_none() {
            let clients = network.clients.iter().map(|client| client.name.clone()).collect();
            return Err(PartError::NoClient { wanted: name.to_owned(), clients });
        }
        let runner = Runner::of_machine(self, RunOptions::default()).map_err(PartError::Errors)?;
        let client = Client::new(runner.world.rules.clone(), ClientConfig::default());
        let (due, end) = self.due(Some(name), network.tick)?;
        let name = name.to_owned();
        // A slice is shorter than a tick, so that an adjustment of the clock cannot skip a verb.
        let slice = SimTime((network.tick.0 / 4).max(1));
        Ok(ClientPart { name, runner, client, due, end, slice, is_cut: false, has_owned: false })
    }

    /// Returns the verbs of one machine with their ticks, and the last tick.
    fn due(&self, on: Option<&str>, tick: SimTime) -> Result<(Due<'_>, Tick), PartError> {
        let mut due = VecDeque::new();
        for entry in &self.timeline {
            lay_out(&entry.steps, on, tick_at(entry.at, tick), &mut due)?;
        }
        Ok((due, self.timeline.last().map_or(Tick(0), |entry| tick_at(entry.at, tick))))
    }
}

/// Returns the first tick at or after a time.
fn tick_at(at: SimTime, length: SimTime) -> Tick {
    let whole = at.0.div_euclid(length.0) + i64::from(at.0 % length.0 != 0);
    Tick(u32::try_from(whole).unwrap_or(u32::MAX))
}

/// Collects the steps of one machine, with repetitions expanded.
fn lay_out<'s>(steps: &'s [Step], on: Option<&str>, tick: Tick, into: &mut Due<'s>) -> Result<(), PartError> {
    for step in steps {
        match &step.verb {
            Verb::Repeat { times, steps } => {
                for _ in 0..*times {
                    lay_out(steps, on, tick, into)?;
                }
            }
            _ if step.on.as_ref().map(|name| name.text.as_str()) == on => into.push_back((tick, step)),
            Verb::Apply(_)
            | Verb::Remove(_)
            | Verb::ChangeEffect { .. }
            | Verb::Move { .. }
            | Verb::Possess { .. }
            | Verb::Spawn { .. }
            | Verb::Despawn { .. }
            | Verb::AddSet { .. }
            | Verb::RemoveSet { .. }
            | Verb::SetActive { .. }
            | Verb::SetRate { .. }
            | Verb::SetLocal { .. }
            | Verb::ModifyResource(_)
            | Verb::Capability(_)
            | Verb::Ability(_)
            | Verb::Wire(_)
            | Verb::Reload(_)
            | Verb::Expect(_)
            | Verb::ExpectStream { .. }
            | Verb::ExpectCount(_)
            | Verb::MarkHash { .. }
            | Verb::ExpectHash { .. } => {}
        }
        if into.len() > MAX_STEPS {
            return Err(PartError::TooLong);
        }
    }
    Ok(())
}

impl<'s> ServerPart<'s> {
    /// Returns the server session.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns a mutable reference to the server session, to add connections and to send and receive datagrams.
    pub fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Returns the controllers that a client owns, or `None` if the client does not exist.
    pub fn owned_by(&self, client: &str) -> Option<Vec<ControllerId>> {
        let client = self.runner.scenario.network.as_ref()?.client(client)?;
        Some(client.owns.iter().map(|name| self.runner.who(&name.text)).collect())
    }

    /// Returns the last tick of the scenario.
    pub fn end(&self) -> Tick {
        self.end
    }

    /// Returns whether the last tick of the scenario is complete.
    pub fn is_over(&self) -> bool {
        self.server.tick() >= self.end
    }

    /// Runs the due verbs, then one tick. Does nothing after the last tick.
    pub fn step(&mut self) {
        if !self.is_over() {
            self.run_due();
            self.advance();
        }
    }

    /// Runs one tick.
    pub(super) fn advance(&mut self) {
        self.server.step(&mut NoHost);
        self.keep_facts();
    }

    /// Returns the tick of a time.
    pub(super) fn last_tick_at(&self, time: SimTime) -> Tick {
        tick_at(time, self.server.tick_length())
    }

    /// Calls `watch` with the sim of the session.
    pub(super) fn look(&mut self, watch: &mut dyn FnMut(&Runner<'_>)) {
        std::mem::swap(&mut self.runner.sim, self.server.sim_mut());
        watch(&self.runner);
        std::mem::swap(&mut self.runner.sim, self.server.sim_mut());
    }

    /// Sets how each actor is replicated, from its document.
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

    /// Returns the actors of a client with the hashes of their state at the last complete tick. The hashes exclude
    /// attributes that are hidden from the owning client.
    pub fn hashes(&self, client: &str) -> Vec<(String, u64)> {
        let network = self.runner.scenario.network.as_ref();
        let owns = network.and_then(|n| n.client(client)).map_or(&[][..], |client| &client.owns);
        let hash = |name: &Name| Some((name.text.clone(), self.server.owner_hash(self.runner.who(&name.text)).ok()?));
        owns.iter().filter_map(hash).collect()
    }

    /// Runs the remaining verbs and expectations and returns the report.
    pub fn finish(mut self) -> Report {
        self.run_due();
        self.into_runner().into_report()
    }

    /// Returns the runner with the session's sim.
    pub(super) fn into_runner(mut self) -> Runner<'s> {
        std::mem::swap(&mut self.runner.sim, self.server.sim_mut());
        self.runner
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other verb is an action")]
    pub(super) fn run_due(&mut self) {
        let now = self.server.tick();
        while let Some((_, step)) = self.due.pop_front_if(|(tick, _)| *tick <= now) {
            if let Verb::Expect(_) = &step.verb {
                self.read_capabilities();
            }
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

    /// Returns the pending connection changes.
    pub(super) fn take_wires(&mut self) -> Vec<&'s WireVerb> {
        std::mem::take(&mut self.wires)
    }

    /// Copies the facts that the session took from its sim.
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
    /// Returns the client session.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns a mutable reference to the client session, to send and receive datagrams.
    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns the length of a tick; `None` for a scenario without `Network:`.
    pub fn length(&self) -> Option<SimTime> {
        self.runner.scenario.network.as_ref().map(|network| network.tick)
    }

    /// Returns the last tick of the scenario.
    pub fn end(&self) -> Tick {
        self.end
    }

    /// Returns whether the server has confirmed the last tick of the scenario.
    pub fn is_over(&self) -> bool {
        let is_settled = |&who: &ControllerId| self.client.confirmed_tick(who).is_some_and(|tick| tick >= self.end);
        let network = self.runner.scenario.network.as_ref();
        let owns_actors = network.and_then(|n| n.client(&self.name)).is_some_and(|client| !client.owns.is_empty());
        // Before the first state arrives, the client owns nothing, and its clock does not prove anything.
        let is_started = self.has_owned || !owns_actors;
        is_started && self.client.tick() >= self.end && self.client.owned().iter().all(is_settled)
    }

    /// Advances time and runs the due verbs at their ticks.
    pub fn update(&mut self, elapsed: SimTime) {
        self.has_owned |= !self.client.owned().is_empty();
        let mut left = elapsed.min(MAX_ELAPSED);
        while left > IN_SLICES {
            // The client must advance by all elapsed time, as the server did.
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

    /// Restarts the client without its state.
    pub(super) fn restart(&mut self) {
        self.is_cut = true;
        self.client = Client::new(self.runner.world.rules.clone(), ClientConfig::default());
    }

    /// Runs the verbs that are due at a tick of the server. A client that is not connected cannot run verbs.
    pub(super) fn run_due_at(&mut self, tick: Tick) {
        self.run_due(tick);
        let late = self.due.front().filter(|(due, _)| *due <= tick && *self.client.state() != ClientState::Playing);
        if let Some(&(_, step)) = late {
            let time = tick.time(self.length().unwrap_or_default());
            let why = match self.client.state() {
                ClientState::Denied(denial) => format!("the server rejected it: {denial}"),
                ClientState::Disconnected(loss) => format!("it lost its connection: {loss}"),
                _ if self.is_cut => "it is disconnected; use `Reconnect` earlier".to_owned(),
                ClientState::Connecting | ClientState::Playing => {
                    "it is still connecting, which takes about two round trips".to_owned()
                }
            };
            let message = format!("expected the client to be connected at {time}, but {why}");
            self.runner.fail(step.place, message, None);
            self.due.clear();
        }
    }

    /// Returns the name and the failures of the client. Each verb that has not run is a failure.
    pub(super) fn into_failures(mut self) -> (String, Vec<Failure>) {
        for (_, step) in std::mem::take(&mut self.due) {
            let message =
                "the verb did not run: the prediction window was full; improve the link or end the timeline later";
            self.runner.fail(step.place, message.to_owned(), None);
        }
        (self.name, self.runner.failures)
    }

    /// Returns the client's actors with the hashes of their last confirmed state.
    pub fn hashes(&self) -> Vec<(String, u64)> {
        let name = |who: &ControllerId| self.runner.who_is.get(who).cloned().unwrap_or_default();
        let hash = |who: &ControllerId| Some((name(who), self.client.confirmed_hash(*who)?));
        self.client.owned().iter().filter_map(hash).collect()
    }

    /// Returns the report of this client.
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
                self.read_capabilities();
                self.runner.expect(list);
            } else if let Some(outcome) = self.run_local(&step.verb) {
                self.runner.judge(step, outcome, &[]);
            } else {
                // While the prediction window is closed, the verb waits: its result is not known before the window opens.
                if !self.client.can_predict() && step.refused.is_none() {
                    return;
                }
                let request = self.request(&step.verb);
                let outcome = request.and_then(|request| self.client.command(request));
                self.runner.judge(step, outcome.map(|_| ()), &[]);
            }
            self.due.pop_front();
        }
    }

    /// Converts a verb to a request. Other verbs were rejected when the scenario was read.
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
            Verb::Ability(AbilityVerb::Axis { actor, input, value }) => {
                let input = runner.world.input(&input.text);
                Request::Axis { who: who(actor), input, value: AxisValue::new(*value) }
            }
            Verb::Ability(AbilityVerb::LetGo { actor, input }) => {
                let input = input.as_ref().map(|input| runner.world.input(&input.text));
                Request::LetGo { who: who(actor), input }
            }
            Verb::Ability(AbilityVerb::Complete(c)) => {
                let kind = rules.find_task_kind(&c.task.text);
                let tasks = self.client.sim().tasks(who(&c.actor))?;
                let waits = tasks.iter().find(|task| Some(task.kind) == kind);
                Request::Complete { key: waits.ok_or(Refusal::StaleHandle)?.key, answer: runner.answer(c) }
            }
            Verb::Remove(_)
            | Verb::ChangeEffect { .. }
            | Verb::Move { .. }
            | Verb::Possess { .. }
            | Verb::Spawn { .. }
            | Verb::Despawn { .. }
            | Verb::AddSet { .. }
            | Verb::RemoveSet { .. }
            | Verb::SetActive { .. }
            | Verb::SetRate { .. }
            | Verb::SetLocal { .. }
            | Verb::ModifyResource(_)
            | Verb::Capability(_)
            | Verb::Ability(_)
            | Verb::Wire(_)
            | Verb::Reload(_)
            | Verb::Repeat { .. }
            | Verb::Expect(_)
            | Verb::ExpectStream { .. }
            | Verb::ExpectCount(_)
            | Verb::MarkHash { .. }
            | Verb::ExpectHash { .. } => return Err(Refusal::Authority),
        })
    }
}
