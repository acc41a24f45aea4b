//! A world on stage: a server, simulated clients, and whoever plays them.
//!
//! Every world the studio shows is a server with any number of clients over simulated links, none included. So there is one
//! way to step, record and look at a duel, a pack or a scenario, and a client can be added to any of them.

mod act;
mod duel;
mod range;
mod said;
mod script;

pub use act::{Act, Deed};
pub use duel::{Duel, Keys};
pub use range::{Range, WrongFrames};
pub use said::Said;
pub use script::Script;

use crate::tape::World;
use crate::{Clock, Library, Names, Profiler};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::{Anchor, ControllerId, Fact, Facts, Limits, Sim, SimConfig, SimTime, SpawnSpec, TaskRecord};
use ugas_data::{Diagnostic, Project, ReadError, Severity};
use ugas_doc::{ControllerReplication, Doc, Metadata};
use ugas_lab::Scenario;
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
    /// Every link gets this round trip in milliseconds, and this share of datagrams is lost.
    Link {
        /// Milliseconds there and back.
        round_trip: u32,
        /// From 0 to 0.6.
        loss: f64,
    },
    /// A file has another text.
    Edit {
        /// Its name.
        file: String,
        /// All of it.
        text: String,
    },
    /// Files have other texts, all at once; those without one are gone.
    Files {
        /// The texts by path.
        texts: BTreeMap<String, Option<String>>,
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

/// A server, clients, and whoever plays them.
#[derive(Clone)]
pub struct Stage {
    net: Harness,
    library: Arc<Library>,
    names: Arc<Names>,
    profiler: Profiler,
    seed: u64,
    round_trip: u32,
    loss: f64,
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
        (stage.round_trip, stage.loss) = (150, 0.05);
        let [pyra, brann] = ["Pyra", "Brann"].map(|name| stage.who(name).ok_or(format!("the ring has no {name}")));
        stage.duel = Some(Duel::new(pyra?, brann?));
        stage.range = Some(Range::new(stage.library.rules(), seed)?);
        stage.join("You", &[stage.who_or_none("Pyra")])?;
        stage.join("Rival", &[stage.who_or_none("Brann")])?;
        stage.set_links();
        Ok(stage)
    }

    /// A scenario of a file: its actors, and what its timeline does to them.
    pub fn of_scenario(scenario: &Scenario, seed: Option<u64>) -> Result<Stage, String> {
        let listed = |errors: Vec<ReadError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let film = scenario.film(seed).map_err(listed)?;
        let Some(first) = film.moments.first().cloned() else { return Err("nothing happens in it".to_owned()) };
        let library = Library::of_scenario(first.rules().clone(), scenario);
        let mut names = Names::from(film.names.clone());
        let categories = scenario.categories();
        for (who, name) in &film.names {
            if let Some(category) = categories.get(name) {
                names.set_category(*who, category);
            }
        }
        let mut stage = Stage::of_sim(first, library, names, seed.unwrap_or(scenario.seed));
        stage.script = Some(Script::new(film));
        Ok(stage)
    }

    /// The first scenario of a file; the pack in a folder, or the documents of a file: its first scene, or each of its controllers once.
    pub fn of_path(path: &Path, seed: u64) -> Result<Stage, String> {
        if path.is_file()
            && let Ok(scenarios) = ugas_lab::load_file(path)
            && let Some(scenario) = scenarios.first()
        {
            return Stage::of_scenario(scenario, None);
        }
        let (project, unread) = Project::open_readable(path);
        if let Some(error) = unread.first() {
            return Err(error.to_string());
        }
        let folder = path.join("pack.yaml").is_file().then_some(path);
        let library = Library::new(project, folder).map_err(|findings| told(&findings))?;
        let scene = library.own_docs().find_map(|d| if let Doc::Scene(s) = d { Some(s.name.clone()) } else { None });
        match scene {
            Some(scene) => Stage::of_scene(library, &scene, seed),
            None => Stage::of_controllers(library, seed),
        }
    }

    /// Where a world may be opened: the path itself, or the one pack in a folder that is none.
    pub fn place(path: &Path) -> Result<PathBuf, String> {
        let is_pack = |folder: &Path| folder.join("pack.yaml").is_file();
        if !path.is_dir() || is_pack(path) {
            return Ok(path.to_path_buf());
        }
        let inside = std::fs::read_dir(path).map_err(|e| format!("{}: cannot be read: {e}", path.display()))?;
        let mut packs: Vec<PathBuf> = inside.filter_map(|e| Some(e.ok()?.path())).filter(|p| is_pack(p)).collect();
        packs.sort();
        match packs.len() {
            0 => Ok(path.to_path_buf()),
            1 => Ok(packs.remove(0)),
            _ => {
                let names: Vec<String> = packs.iter().map(|p| p.display().to_string()).collect();
                Err(format!("{} holds several packs; open one of them: {}", path.display(), names.join(", ")))
            }
        }
    }

    /// Each controller of the documents once, in a row.
    fn of_controllers(library: Library, seed: u64) -> Result<Stage, String> {
        let rules = library.rules().clone();
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
        let mut names = Names::default();
        for doc in library.own_docs() {
            let Doc::Controller(controller) = doc else { continue };
            let name = controller.owner_actor.actor_id.clone();
            let anchor = Some(Anchor::at([names.len() as f64 * 4.0, 0.0, 0.0]));
            let spec = SpawnSpec { template: rules.template(&name), anchor, ..SpawnSpec::default() };
            let who = sim.spawn(spec).map_err(|refusal| refusal.describe(&rules))?;
            categorise(&mut names, who, &library, &name);
            names.set(who, name);
        }
        match names.len() == 0 {
            true => Err("nobody is there: the documents place no controller and have none".to_owned()),
            false => Ok(Stage::of_sim(sim, library, names, seed)),
        }
    }

    /// Whoever a scene places, on a server without clients.
    pub fn of_scene(library: Library, scene: &str, seed: u64) -> Result<Stage, String> {
        let rules = library.rules().clone();
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
        let mut names = Names::default();
        let mut scenes = library.docs().filter_map(|d| if let Doc::Scene(s) = d { Some(s) } else { None });
        let Some(scene) = scenes.find(|s| s.name == scene).cloned() else {
            return Err(format!("there is no scene {scene}"));
        };
        drop(scenes);
        for placed in scene.placements.iter().filter(|p| p.enabled) {
            let Some(template) = rules.template(&placed.controller) else {
                return Err(format!("the scene places {}, which there is not", placed.controller));
            };
            let anchor = Some(Anchor::at(placed.position));
            let spec = SpawnSpec { template: Some(template), anchor, ..SpawnSpec::default() };
            let who = sim.spawn(spec).map_err(|refusal| refusal.describe(&rules))?;
            let title = title_of(&library, &placed.controller).filter(|title| !names.is_taken(title));
            categorise(&mut names, who, &library, &placed.controller);
            names.set(who, title.unwrap_or_else(|| placed.instance_id.clone()));
        }
        Ok(Stage::of_sim(sim, library, names, seed))
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
            round_trip: 0,
            loss: 0.0,
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

    /// Round trip in milliseconds and share lost of every link.
    pub fn link(&self) -> (u32, f64) {
        (self.round_trip, self.loss)
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
        let profile = self.profile();
        // As far ahead as the figures are told for: half a second.
        let config = ClientConfig { window: SimTime::millis(500), sim: forgetful(0), ..ClientConfig::default() };
        self.net.join_over(client, config, [profile; 2], owns).map_err(|e| e.to_string())
    }

    /// The clients that have not left.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Player> {
        self.net.players().iter().filter(|p| p.peer().is_some())
    }

    fn profile(&self) -> LinkProfile {
        let jitter = (self.round_trip / 20) as i64;
        LinkProfile { loss: self.loss, ..LinkProfile::round_trip(self.round_trip as i64, jitter) }
    }

    fn set_links(&mut self) {
        let profile = self.profile();
        let range = self.range.as_mut().map(Range::net_mut);
        for net in [Some(&mut self.net), range].into_iter().flatten() {
            for player in net.players_mut() {
                player.up.set_profile(profile);
                player.down.set_profile(profile);
            }
        }
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
        self.profiler.tell(self.library.rules());
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
            Input::Link { round_trip, loss } => {
                if *round_trip > 1_000 || !(0.0..=0.9).contains(loss) {
                    return Err("a round trip is at most 1000 ms, and at most 90 % are lost".to_owned());
                }
                (self.round_trip, self.loss) = (*round_trip, *loss);
                self.set_links();
                Ok(())
            }
            Input::Edit { file, text } => {
                let library = self.library.with(file, text).map_err(|findings| told(&findings))?;
                self.reload(library)
            }
            Input::Files { texts } => {
                let texts = texts.iter().map(|(path, text)| (path.into(), text.clone())).collect();
                let library = self.library.with_all(&texts).map_err(|findings| told(&findings))?;
                self.reload(library)
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

/// The first finding in a line.
fn told(findings: &[Diagnostic]) -> String {
    let first = findings.iter().find(|f| f.severity == Severity::Error).or(findings.first());
    let help = |f: &Diagnostic| f.help.as_ref().map_or(String::new(), |h| format!("; {h}"));
    first.map_or(String::new(), |f| format!("{}:{}:{}: {}{}", f.file, f.line, f.column, f.message, help(f)))
}

/// What is written about a controller for people.
fn metadata_of<'l>(library: &'l Library, controller: &str) -> Option<&'l Metadata> {
    let mut controllers = library.docs().filter_map(|d| if let Doc::Controller(c) = d { Some(c) } else { None });
    controllers.find(|c| c.owner_actor.actor_id == controller)?.metadata.as_ref()
}

/// What people are told a controller is called.
fn title_of(library: &Library, controller: &str) -> Option<String> {
    metadata_of(library, controller)?.display_name.clone()
}

/// Puts somebody into the category of the document it was made from.
fn categorise(names: &mut Names, who: ControllerId, library: &Library, controller: &str) {
    if let Some(category) = metadata_of(library, controller).and_then(|m| m.debug_category.as_ref()) {
        names.set_category(who, category);
    }
}

/// A sim whose causes nobody asks about. They are the largest part of a small world, and a recording holds hundreds of it.
fn forgetful(seed: u64) -> SimConfig {
    let limits = Limits { cause_links: 16, ..Limits::default() };
    SimConfig { seed, limits, ..SimConfig::default() }
}

/// A server whose chance follows from the seed: nobody outside plays here, and a moment must be found again.
fn server(sim: Sim, seed: u64) -> Server {
    let config = ServerConfig { length: TICK, mode: ControllerReplication::Full, ..ServerConfig::default() };
    Server::new(sim, config, Secret::known(seed))
}
