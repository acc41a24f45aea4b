//! A world on stage: a server, simulated clients, and whoever plays them.
//!
//! Every world the studio shows is a server with any number of clients over simulated links, none included. So there is one
//! way to step, record and look at a duel, a pack or a scenario, and a client can be added to any of them.

mod act;
mod duel;
mod open;
mod range;
mod said;
mod script;

pub use act::{Act, Deed};
pub use duel::{Duel, Keys};
pub use open::{Choice, SEED};
pub use range::{Range, WrongFrames};
pub use said::Said;
pub use script::Script;

use crate::tape::World;
use crate::{Clock, Library, Names, Profiler};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use ugas_core::{ControllerId, Fact, Facts, Limits, Sim, SimConfig, SimTime, TaskRecord};
use ugas_data::{Diagnostic, Severity};
use ugas_doc::ControllerReplication;
use ugas_net::client::{ClientConfig, NetFacts};
use ugas_net::harness::{Harness, Player};
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

/// Ticks a second.
pub const RATE: u32 = 60;
/// How long one is.
const TICK: SimTime = SimTime::frames(1, RATE as i64);

/// What is done to a world from outside. A seed and a list of these are a moment that anybody can go to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// A client's link, or everybody's, gets this round trip in milliseconds, and this share of datagrams is lost.
    Link {
        /// Whose; without a name everybody's, whoever had one of its own included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// Milliseconds there and back.
        round_trip: u32,
        /// From 0 to 0.9.
        loss: f64,
    },
    /// A file has another text.
    Edit {
        /// Its name.
        file: String,
        /// All of it.
        text: String,
        /// The tables it takes numbers from, by path, as they were then.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        tables: BTreeMap<String, String>,
    },
    /// Files have other texts, all at once; those without one are gone.
    Files {
        /// The texts by path.
        texts: BTreeMap<String, Option<String>>,
        /// The tables they take numbers from, by path, as they were then.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        tables: BTreeMap<String, String>,
    },
    /// Something an actor does or has done to it.
    Act(Act),
    /// What a player of the duel holds down.
    Keys(Keys),
    /// A client joins.
    Join {
        /// Under this name.
        client: String,
        /// And plays these controllers.
        owns: Vec<String>,
    },
    /// A client leaves.
    Leave {
        /// Its name.
        client: String,
    },
}

/// What a link is like: milliseconds there and back, and the share that is lost.
type Wire = (u32, f64);

/// A server, clients, and whoever plays them.
#[derive(Clone)]
pub struct Stage {
    net: Harness,
    library: Arc<Library>,
    names: Arc<Names>,
    profiler: Profiler,
    seed: u64,
    /// The link of whoever has none of its own.
    link: Wire,
    /// The clients that have one.
    links: BTreeMap<String, Wire>,
    duel: Option<Duel>,
    range: Option<Range>,
    script: Option<Script>,
    news: News,
    said: Option<Said>,
}

/// What the last tick brought.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// On the server.
    pub facts: Facts,
    /// On each client, in the order they joined.
    pub told: Vec<NetFacts>,
    /// What tasks that tick did on the server.
    pub tasks: Vec<TaskRecord>,
    /// So many of the facts were brought by what was done before the tick, and are no news.
    known: usize,
    /// So many of those the sim holds are older than the tick.
    stale: usize,
}

impl News {
    /// What the tick itself brought on the server.
    pub(crate) fn fresh(&self) -> &[Fact] {
        self.facts.list.get(self.known..).unwrap_or_default()
    }
}

impl Stage {
    /// The duel of the demo.
    ///
    /// ```
    /// use ugas_studio::stage::Stage;
    /// use ugas_studio::tape::World;
    /// let mut duel = Stage::duel(7).unwrap();
    /// (0..60).for_each(|_| duel.step());
    /// assert_eq!(duel.tick(), 60);
    /// ```
    pub fn duel(seed: u64) -> Result<Stage, String> {
        let library =
            Library::new(crate::arena::project(), Some("arena".as_ref())).map_err(|findings| told(&findings))?;
        let mut stage = Stage::of_scene(library, "SC_Ring", seed)?;
        stage.link = (150, 0.05);
        let [pyra, brann] = ["Pyra", "Brann"].map(|name| stage.who(name).ok_or(format!("the ring has no {name}")));
        stage.duel = Some(Duel::new(pyra?, brann?));
        stage.range = Some(Range::new(stage.library.rules(), seed)?);
        stage.join("You", &[stage.who_or_none("Pyra")])?;
        stage.join("Rival", &[stage.who_or_none("Brann")])?;
        stage.set_links();
        Ok(stage)
    }

    /// A sim on a server without clients.
    pub fn of_sim(sim: Sim, library: Library, names: Names, seed: u64) -> Stage {
        let net = Harness::new(server(sim, seed), seed);
        Stage {
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
            news: News::default(),
            said: None,
        }
    }

    /// The server and its clients.
    pub fn net(&self) -> &Harness {
        &self.net
    }

    /// The server's sim: what is true.
    pub fn sim(&self) -> &Sim {
        self.net.server().sim()
    }

    /// What a client sees, or what is true if none is named.
    pub fn side(&self, client: Option<&str>) -> Option<&Sim> {
        match client {
            None => Some(self.sim()),
            Some(name) => self.here().find(|p| p.name() == name).map(|p| p.client().sim()),
        }
    }

    /// The documents.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The documents, to see later whether they are still these.
    pub(crate) fn documents(&self) -> Arc<Library> {
        self.library.clone()
    }

    /// What the last tick brought.
    pub fn news(&self) -> &News {
        &self.news
    }

    /// What was done since the last tick brought: the next one tells the clients.
    pub(crate) fn deeds(&self) -> &[Fact] {
        self.sim().facts().list.get(self.news.stale..).unwrap_or_default()
    }

    /// What came of what was done last, in words.
    pub fn said(&self) -> Option<&Said> {
        self.said.as_ref()
    }

    /// The duel's state of play.
    pub fn duel_state(&self) -> Option<&Duel> {
        self.duel.as_ref()
    }

    /// The scenario it plays.
    pub fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// The two shooters.
    pub fn range(&self) -> Option<&Range> {
        self.range.as_ref()
    }

    /// The seed it began with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Round trip in milliseconds and share lost of every link whose client has none of its own.
    pub fn link(&self) -> (u32, f64) {
        self.link
    }

    /// The same of a client.
    pub fn link_of(&self, client: &str) -> (u32, f64) {
        self.links.get(client).copied().unwrap_or(self.link)
    }

    /// The hash of what is true.
    pub fn hash(&mut self) -> u64 {
        self.net.server_mut().sim_mut().hash()
    }

    /// What controllers are called here.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Who is called so.
    pub fn who(&self, name: &str) -> Option<ControllerId> {
        self.names.who(self.sim(), name)
    }

    /// Lends a clock for the figures of tasks; nothing else sees it.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.profiler = Profiler::new(clock);
    }

    fn who_or_none(&self, name: &str) -> ControllerId {
        self.who(name).unwrap_or(ControllerId::NONE)
    }

    fn join(&mut self, client: &str, owns: &[ControllerId]) -> Result<(), String> {
        if client.is_empty() {
            return Err("a client needs a name".to_owned());
        }
        match self.net.players().iter().find(|p| p.name() == client) {
            Some(there) if there.peer().is_some() => return Err(format!("a client named {client} has joined already")),
            Some(away) if away.owns() == owns => return self.net.reconnect(client).map_err(|e| e.to_string()),
            Some(_) => return Err(format!("{client} played somebody else before; join under another name")),
            None => {}
        }
        let profile = profile(self.link_of(client));
        // As far ahead as the figures are told for: half a second.
        let config = ClientConfig { prediction_window: SimTime::millis(500), sim: forgetful(0), ..ClientConfig::default() };
        self.net.join_over(client, config, [profile; 2], owns).map_err(|e| e.to_string())
    }

    /// The clients that have not left.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Player> {
        self.net.players().iter().filter(|p| p.peer().is_some())
    }

    fn set_links(&mut self) {
        let (everybodys, links) = (self.link, &self.links);
        for player in self.net.players_mut() {
            let own = links.get(player.name()).copied().unwrap_or(everybodys);
            set_link(player, own);
        }
        // The shooters stand for whoever is not told apart.
        for player in self.range.iter_mut().flat_map(|range| range.net_mut().players_mut()) {
            set_link(player, everybodys);
        }
    }

    /// Files have other texts, with the numbers of tables as they were when that was done first.
    fn change(
        &mut self,
        texts: &BTreeMap<PathBuf, Option<String>>,
        tables: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let tables = tables.iter().map(|(path, text)| (path.into(), text.clone())).collect();
        let library = self.library.with_kept(texts, &tables).map_err(|findings| told(&findings))?;
        self.reload(library)
    }

    /// New rules: the sim moves to them as it is, and everybody joins again.
    fn reload(&mut self, library: Library) -> Result<(), String> {
        let mut sim = self.sim().clone();
        sim.reload(library.rules().clone()).map_err(|e| e.to_string())?;
        let clients: Vec<(String, Vec<ControllerId>)> =
            self.here().map(|p| (p.name().to_owned(), p.owns().to_vec())).collect();
        self.net = Harness::new(server(sim, self.seed), self.seed);
        for (client, owns) in clients {
            let owns: Vec<ControllerId> = owns.into_iter().filter(|&who| self.sim().exists(who)).collect();
            self.join(&client, &owns)?;
        }
        if self.range.is_some() {
            self.range = Some(Range::new(library.rules(), self.seed)?);
        }
        self.library = Arc::new(library);
        self.set_links();
        Ok(())
    }
}

impl World for Stage {
    type Input = Input;

    fn tick(&self) -> u32 {
        self.net.tick().0
    }

    fn step(&mut self) {
        self.news.known = self.sim().facts().list.len();
        if let Some(duel) = &mut self.duel {
            duel.play(&mut self.net);
        }
        self.net.step_with(&mut self.profiler);
        self.news.tasks = self.profiler.take_records();
        if let Some(script) = &mut self.script {
            script.play(self.net.server_mut().sim_mut());
        }
        if let Some(range) = &mut self.range {
            range.step();
        }
        self.net.server_mut().take_facts(&mut self.news.facts);
        if let Some(script) = self.script.as_ref().filter(|s| s.is_followed()) {
            script.tell(&mut self.news.facts);
            self.news.known = 0;
        }
        self.news.stale = self.sim().facts().list.len();
        self.news.told.resize_with(self.net.players().len(), NetFacts::default);
        for (player, told) in self.net.players_mut().iter_mut().zip(&mut self.news.told) {
            player.client_mut().take_facts(told);
        }
    }

    fn take(&mut self, input: &Input) -> Result<(), String> {
        self.said = None;
        if let Some(script) = self.script.as_mut().filter(|_| !matches!(input, Input::Link { .. })) {
            // From here on it is another story.
            script.leave();
        }
        match input {
            Input::Link { client, round_trip, loss } => {
                if *round_trip > 1_000 || !(0.0..=0.9).contains(loss) {
                    return Err("a round trip is at most 1000 ms, and at most 90 % are lost".to_owned());
                }
                let wire = (*round_trip, *loss);
                match client {
                    Some(client) if self.here().all(|p| p.name() != client) => {
                        return Err(format!("no client is named {client}"));
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
                    return Err(format!("there is no file {file}"));
                };
                self.change(&BTreeMap::from([(path, Some(text.clone()))]), tables)
            }
            Input::Files { texts, tables } => {
                let texts = texts.iter().map(|(path, text)| (path.into(), text.clone())).collect();
                self.change(&texts, tables)
            }
            Input::Act(act) => {
                self.said = Some(act.run(&self.names, self.net.server_mut().sim_mut())?);
                Ok(())
            }
            Input::Keys(keys) => match &mut self.duel {
                Some(duel) => {
                    duel.hold(keys.clone());
                    Ok(())
                }
                None => Err("nobody plays a duel here".to_owned()),
            },
            Input::Join { client, owns } => {
                let owns: Option<Vec<ControllerId>> = owns.iter().map(|name| self.who(name)).collect();
                let owns = owns.ok_or("one of its controllers does not exist")?;
                self.join(client, &owns)?;
                self.set_links();
                Ok(())
            }
            Input::Leave { client } => {
                if self.duel.is_some() {
                    return Err("the duel needs both of its players".to_owned());
                }
                if !self.here().any(|p| p.name() == client) {
                    return Err(format!("no client is named {client}"));
                }
                self.net.disconnect(client);
                Ok(())
            }
        }
    }
}

fn profile((round_trip, loss): Wire) -> LinkProfile {
    let (round_trip, jitter) = (i64::from(round_trip), i64::from(round_trip / 20));
    LinkProfile { loss, ..LinkProfile::round_trip(round_trip, jitter) }
}

fn set_link(player: &mut Player, wire: Wire) {
    player.up.set_profile(profile(wire));
    player.down.set_profile(profile(wire));
}

/// The first finding in a line.
pub(crate) fn told(findings: &[Diagnostic]) -> String {
    let first = findings.iter().find(|f| f.severity == Severity::Error).or(findings.first());
    let help = |f: &Diagnostic| f.help.as_ref().map_or(String::new(), |h| format!("; {h}"));
    first.map_or(String::new(), |f| format!("{}:{}:{}: {}{}", f.file, f.line, f.column, f.message, help(f)))
}

/// A sim whose causes nobody asks about. They are the largest part of a small world, and a recording holds hundreds of it.
fn forgetful(seed: u64) -> SimConfig {
    let limits = Limits { cause_links: 16, ..Limits::default() };
    SimConfig { seed, limits, ..SimConfig::default() }
}

/// A server whose chance follows from the seed: nobody outside plays here, and a moment must be found again.
fn server(sim: Sim, seed: u64) -> Server {
    let config = ServerConfig { tick_length: TICK, replication: ControllerReplication::Full, ..ServerConfig::default() };
    Server::new(sim, config, Secret::known(seed))
}
