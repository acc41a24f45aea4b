//! A session: a server, simulated clients, and the players of the duel.
//!
//! Every world in the studio is a server with zero or more clients over simulated links. A duel, a pack and a scenario
//! are stepped and recorded in the same way, and clients can join each of them.

mod action;
mod blink;
mod describe;
mod duel;
mod firing_range;
mod open;
mod outcome;
mod script;

pub(crate) use action::STUDIO;
pub use action::{Action, ResolvedAction};
pub use duel::{Duel, Keys};
pub use firing_range::{FiringRange, WrongFrames};
pub use open::{OpenOptions, SEED};
pub use outcome::ActionOutcome;
pub use script::Script;

use crate::observer::Observer;
use crate::recording::World;
use crate::{Clock, Library, Names, Profiler};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use ugas_core::{ControllerId, Fact, Facts, Limits, Sim, SimConfig, SimTime, TaskRecord};
use ugas_data::{Diagnostic, Severity};
use ugas_doc::{Capability, ControllerReplication, DocumentKind};
use ugas_net::client::{ClientConfig, NetFacts};
use ugas_net::harness::{Harness, Player};
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

/// Ticks per second.
pub const RATE: u32 = 60;
/// The length of a tick.
const TICK: SimTime = SimTime::frames(1, RATE as i64);

/// An input from outside the world. A seed, a tick and a list of inputs identify a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// Sets the round trip time and the loss of one link or of all links.
    Link {
        /// The client whose link is set; all clients if missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The round trip time in milliseconds.
        round_trip: u32,
        /// The fraction of datagrams that are lost, from 0 to 0.9.
        loss: f64,
    },
    /// Changes the text of a file.
    Edit {
        /// The name of the file.
        file: String,
        /// The complete new text.
        text: String,
        /// The tables that the file uses, by path, with their content at the time when this input was first applied.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        tables: BTreeMap<String, String>,
    },
    /// Changes several files at once; a file whose text is `None` is removed.
    Files {
        /// The texts by path.
        texts: BTreeMap<String, Option<String>>,
        /// The tables that the files use, by path, with their content at the time when this input was first applied.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        tables: BTreeMap<String, String>,
    },
    /// Performs an action on an actor.
    Action(Action),
    /// Sets the keys that a person holds in the duel.
    Keys(Keys),
    /// Lets a client join.
    Join {
        /// The name of the client.
        client: String,
        /// The actors that the client owns.
        owns: Vec<String>,
    },
    /// Disconnects a client.
    Leave {
        /// The name of the client.
        client: String,
    },
    /// Resumes from a recorded tick: the recording after that tick is dropped. The world does not change.
    Resume,
}

/// Round trip in milliseconds and packet loss of a link.
type LinkQuality = (u32, f64);

/// A server, its clients and the players of the duel.
#[derive(Clone)]
pub struct Session {
    net: Harness,
    library: Arc<Library>,
    names: Arc<Names>,
    profiler: Profiler,
    seed: u64,
    /// The quality of the default link.
    link: LinkQuality,
    /// Links of clients that differ from the default.
    links: BTreeMap<String, LinkQuality>,
    duel: Option<Duel>,
    range: Option<FiringRange>,
    script: Option<Script>,
    tick_facts: TickFacts,
    outcome: Option<ActionOutcome>,
}

/// The facts of the last tick.
#[derive(Clone, Debug, Default)]
pub struct TickFacts {
    /// Facts of the server.
    pub facts: Facts,
    /// Facts of each client, in the order they joined.
    pub client_facts: Vec<NetFacts>,
    /// Task records of the server.
    pub tasks: Vec<TaskRecord>,
    /// The number of facts that inputs emitted before the last tick and that are already recorded.
    known: usize,
    /// The number of facts in the sim that are older than the last tick.
    stale: usize,
}

impl TickFacts {
    /// Returns the facts that the tick itself emitted on the server.
    pub(crate) fn fresh(&self) -> &[Fact] {
        self.facts.list.get(self.known..).unwrap_or_default()
    }
}

impl Session {
    /// Creates the duel of the demo.
    ///
    /// ```
    /// use ugas_studio::session::Session;
    /// use ugas_studio::recording::World;
    /// let mut duel = Session::duel(7).unwrap();
    /// (0..60).for_each(|_| duel.step());
    /// assert_eq!(duel.tick(), 60);
    /// ```
    pub fn duel(seed: u64) -> Result<Session, String> {
        let library =
            Library::new(crate::arena::project(), Some("arena".as_ref())).map_err(|findings| first_error(&findings))?;
        let mut session = Session::of_scene(library, "SC_Ring", seed)?;
        session.link = (150, 0.05);
        let [pyra, brann] =
            ["Pyra", "Brann"].map(|name| session.who(name).ok_or(format!("the scene SC_Ring lacks {name}")));
        session.duel = Some(Duel::new(pyra?, brann?));
        session.range = Some(FiringRange::new(session.library.rules(), seed)?);
        session.join("You", &[session.who_or_none("Pyra")])?;
        session.join("Rival", &[session.who_or_none("Brann")])?;
        session.set_links();
        Ok(session)
    }

    /// Creates a session with a sim and no clients.
    pub fn of_sim(sim: Sim, library: Library, names: Names, seed: u64) -> Session {
        let net = Harness::new(server(sim, seed), seed);
        Session {
            net,
            library: Arc::new(library),
            names: Arc::new(names),
            profiler: Profiler::default(),
            seed,
            link: (0, 0.0),
            links: BTreeMap::new(),
            duel: None,
            range: None,
            script: None,
            tick_facts: TickFacts::default(),
            outcome: None,
        }
    }

    /// Returns the server and its clients.
    pub fn net(&self) -> &Harness {
        &self.net
    }

    /// Returns the authoritative sim.
    pub fn sim(&self) -> &Sim {
        self.net.server().sim()
    }

    /// Returns the sim of a client or, without a client, of the server.
    pub fn side(&self, client: Option<&str>) -> Option<&Sim> {
        match client {
            None => Some(self.sim()),
            Some(name) => self.connected().find(|p| p.name() == name).map(|p| p.client().sim()),
        }
    }

    /// Returns the observer of a client or, without a client, of the server.
    pub(crate) fn observer(&self, client: Option<&str>) -> Option<Observer<'_>> {
        match client {
            None => Some(Observer::Server(self.net.server())),
            Some(name) => self.connected().find(|p| p.name() == name).map(|p| Observer::Client(p.client())),
        }
    }

    /// Returns the documents.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Returns the documents of capabilities.
    pub(crate) fn capability_docs(&self) -> impl Iterator<Item = &Capability> {
        let of_script = self.script.iter().flat_map(|script| &script.run().capabilities);
        of_script.chain(self.library.docs().filter_map(Capability::of))
    }

    /// Returns the names under which the host may have blocked tags.
    pub(crate) fn block_names(&self) -> Vec<String> {
        let of_script = self.script.iter().flat_map(|script| script.run().block_names.iter().cloned());
        of_script.chain([STUDIO.to_owned()]).collect()
    }

    /// Returns the shared documents, to detect later whether they were replaced.
    pub(crate) fn documents(&self) -> Arc<Library> {
        self.library.clone()
    }

    /// Returns the facts of the last tick.
    pub fn tick_facts(&self) -> &TickFacts {
        &self.tick_facts
    }

    /// Returns the facts that inputs since the last tick emitted.
    pub(crate) fn pending_facts(&self) -> &[Fact] {
        self.sim().facts().list.get(self.tick_facts.stale..).unwrap_or_default()
    }

    /// Returns the outcome of the last input.
    pub fn outcome(&self) -> Option<&ActionOutcome> {
        self.outcome.as_ref()
    }

    /// Returns the players of the duel, if this session is a duel.
    pub fn duel_state(&self) -> Option<&Duel> {
        self.duel.as_ref()
    }

    /// Returns the scenario, if this session runs one.
    pub fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// Returns the two shooters, if this session has a firing range.
    pub fn range(&self) -> Option<&FiringRange> {
        self.range.as_ref()
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the round trip time in milliseconds and the packet loss, from 0 to 0.9, of the default link.
    pub fn link(&self) -> (u32, f64) {
        self.link
    }

    /// Returns the round trip time in milliseconds and the packet loss, from 0 to 0.9, of a client's link.
    pub fn link_of(&self, client: &str) -> (u32, f64) {
        self.links.get(client).copied().unwrap_or(self.link)
    }

    /// Returns the state hash of the server.
    pub fn hash(&mut self) -> u64 {
        self.net.server_mut().sim_mut().hash()
    }

    /// Returns the names of controllers.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the controller that has this name.
    pub fn who(&self, name: &str) -> Option<ControllerId> {
        self.names.who(self.sim(), name)
    }

    /// Sets the clock of the profiler.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.profiler = Profiler::new(clock);
    }

    fn who_or_none(&self, name: &str) -> ControllerId {
        self.who(name).unwrap_or(ControllerId::NONE)
    }

    fn join(&mut self, client: &str, owns: &[ControllerId]) -> Result<(), String> {
        if client.is_empty() {
            return Err("the client has no name; enter one".to_owned());
        }
        match self.net.players().iter().find(|p| p.name() == client) {
            Some(there) if there.peer().is_some() => return Err(format!("client {client} has already joined")),
            Some(away) if away.owns() == owns => return self.net.reconnect(client).map_err(|e| e.to_string()),
            Some(_) => return Err(format!("client {client} owned other actors before; join under another name")),
            None => {}
        }
        let profile = profile(self.link_of(client));
        let config = ClientConfig { sim: config_without_causes(0), ..ClientConfig::default() };
        self.net.join_over(client, config, [profile; 2], owns).map_err(|e| e.to_string())
    }

    /// Returns the connected clients.
    pub(crate) fn connected(&self) -> impl Iterator<Item = &Player> {
        self.net.players().iter().filter(|p| p.peer().is_some())
    }

    fn set_links(&mut self) {
        let (everybodys, links) = (self.link, &self.links);
        for player in self.net.players_mut() {
            let own = links.get(player.name()).copied().unwrap_or(everybodys);
            set_link(player, own);
        }
        // The shooters use the default link.
        for player in self.range.iter_mut().flat_map(|range| range.net_mut().players_mut()) {
            set_link(player, everybodys);
        }
    }

    /// Changes files. Tables have the content that they had when the change was first applied.
    fn change(
        &mut self,
        texts: &BTreeMap<PathBuf, Option<String>>,
        tables: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let tables = tables.iter().map(|(path, text)| (path.into(), text.clone())).collect();
        let library = self.library.with_tables(texts, &tables).map_err(|findings| first_error(&findings))?;
        self.reload(library)
    }

    /// Continues the sim of a scenario as it is. The scenario ran without a network, so the sides of its capabilities stay
    /// those of a standalone sim.
    fn continue_standalone(&mut self, sim: Sim) {
        *self.net.server_mut().sim_mut() = sim;
    }

    /// Moves the sim to new rules; all clients join again.
    fn reload(&mut self, library: Library) -> Result<(), String> {
        let mut sim = self.sim().clone();
        sim.reload(library.rules().clone()).map_err(|e| e.to_string())?;
        let clients: Vec<(String, Vec<ControllerId>)> =
            self.connected().map(|p| (p.name().to_owned(), p.owns().to_vec())).collect();
        self.net = Harness::new(server(sim.clone(), self.seed), self.seed);
        if self.script.is_some() {
            self.continue_standalone(sim);
        }
        for (client, owns) in clients {
            let owns: Vec<ControllerId> = owns.into_iter().filter(|&who| self.sim().exists(who)).collect();
            self.join(&client, &owns)?;
        }
        if self.range.is_some() {
            self.range = Some(FiringRange::new(library.rules(), self.seed)?);
        }
        self.library = Arc::new(library);
        self.set_links();
        Ok(())
    }
}

impl World for Session {
    type Input = Input;

    fn tick(&self) -> u32 {
        self.net.tick().0
    }

    fn step(&mut self) {
        self.tick_facts.known = self.sim().facts().list.len();
        if let Some(duel) = &mut self.duel {
            duel.play(&mut self.net);
        }
        self.net.step_with(&mut self.profiler);
        self.tick_facts.tasks = self.profiler.take_records();
        if let Some(script) = &mut self.script {
            script.play(self.net.server_mut().sim_mut());
        }
        if let Some(range) = &mut self.range {
            range.step();
        }
        self.net.server_mut().take_facts(&mut self.tick_facts.facts);
        if let Some(script) = self.script.as_ref().filter(|s| s.is_followed()) {
            script.copy_facts(&mut self.tick_facts.facts);
            self.tick_facts.known = 0;
        }
        self.tick_facts.stale = self.sim().facts().list.len();
        self.tick_facts.client_facts.resize_with(self.net.players().len(), NetFacts::default);
        for (player, client_facts) in self.net.players_mut().iter_mut().zip(&mut self.tick_facts.client_facts) {
            player.client_mut().take_facts(client_facts);
        }
    }

    fn apply_input(&mut self, input: &Input) -> Result<(), String> {
        self.outcome = None;
        let keeps_script = matches!(input, Input::Link { .. } | Input::Resume);
        if let Some(script) = self.script.as_mut().filter(|_| !keeps_script) {
            // The world no longer follows the scenario.
            script.diverge();
        }
        match input {
            Input::Link { client, round_trip, loss } => {
                if *round_trip > 1_000 || !(0.0..=0.9).contains(loss) {
                    let found = format!("{round_trip} ms and {:.0} %", loss * 100.0);
                    return Err(format!("expected a round trip up to 1000 ms and a loss up to 90 %, found {found}"));
                }
                let wire = (*round_trip, *loss);
                match client {
                    Some(client) if self.connected().all(|p| p.name() != client) => {
                        return Err(format!("client {client} does not exist"));
                    }
                    Some(client) => {
                        self.links.insert(client.clone(), wire);
                    }
                    None => {
                        self.link = wire;
                        self.links.clear();
                    }
                }
                self.set_links();
                Ok(())
            }
            Input::Edit { file, text, tables } => {
                let Some(path) = self.library.project().source(file).map(|s| s.path.clone()) else {
                    return Err(format!("file {file} does not exist"));
                };
                self.change(&BTreeMap::from([(path, Some(text.clone()))]), tables)
            }
            Input::Files { texts, tables } => {
                let texts = texts.iter().map(|(path, text)| (path.into(), text.clone())).collect();
                self.change(&texts, tables)
            }
            Input::Action(act) => {
                self.outcome = Some(act.run(&self.names, self.net.server_mut().sim_mut())?);
                Ok(())
            }
            Input::Keys(keys) => match &mut self.duel {
                Some(duel) => {
                    self.outcome = duel.hold(keys.clone(), &self.net);
                    Ok(())
                }
                None => Err("this session has no duel to play".to_owned()),
            },
            Input::Join { client, owns } => {
                let find = |name: &String| self.who(name).ok_or_else(|| format!("actor {name} does not exist"));
                let owns = owns.iter().map(find).collect::<Result<Vec<ControllerId>, String>>()?;
                self.join(client, &owns)?;
                self.set_links();
                Ok(())
            }
            Input::Leave { client } => {
                if self.duel.is_some() {
                    return Err("cannot disconnect: the duel needs both clients".to_owned());
                }
                if !self.connected().any(|p| p.name() == client) {
                    return Err(format!("client {client} does not exist"));
                }
                self.net.disconnect(client);
                Ok(())
            }
            Input::Resume => Ok(()),
        }
    }
}

fn profile((round_trip, loss): LinkQuality) -> LinkProfile {
    let (round_trip, jitter) = (i64::from(round_trip), i64::from(round_trip / 20));
    LinkProfile { loss, ..LinkProfile::round_trip(round_trip, jitter) }
}

fn set_link(player: &mut Player, wire: LinkQuality) {
    player.up.set_profile(profile(wire));
    player.down.set_profile(profile(wire));
}

/// Returns the first error in one line.
pub(crate) fn first_error(findings: &[Diagnostic]) -> String {
    let first = findings.iter().find(|f| f.severity == Severity::Error).or(findings.first());
    let help = |f: &Diagnostic| f.help.as_ref().map_or(String::new(), |h| format!("; {h}"));
    first.map_or(String::new(), |f| format!("{}:{}:{}: {}{}", f.file, f.line, f.column, f.message, help(f)))
}

/// Returns a config that keeps few causes, for sims whose causes are never queried. In a small world, causes use most
/// of the memory, and a recording contains hundreds of copies of the world.
fn config_without_causes(seed: u64) -> SimConfig {
    let limits = Limits { cause_links: 16, ..Limits::default() };
    SimConfig { seed, limits, ..SimConfig::default() }
}

/// Creates a server whose secret is derived from the seed, so that a page link reproduces the state. A predictable
/// secret is safe because the server has no real clients.
fn server(sim: Sim, seed: u64) -> Server {
    let config =
        ServerConfig { tick_length: TICK, replication: ControllerReplication::Full, ..ServerConfig::default() };
    let mut server = Server::new(sim, config, Secret::known(seed));
    server.set_target_policy(blink::BlinkPolicy);
    server
}
