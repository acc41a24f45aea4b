//! The studio for a game that owns and runs its world.
//!
//! The game keeps its [`Sim`], its loop and its clock. Once per frame the game calls [`Attached::tick`], which answers
//! the requests of the studio's web pages and passes each [`Command`] of a page to the game. The game runs or rejects
//! the command. The studio never changes the world by itself.

use crate::Library;
use crate::backend::event_log::{self, EventLog};
use crate::backend::request::{DataRequest, FrameRequest, Request, WorldRequest};
use crate::backend::{data, figures, frame};
use crate::capability::{self, CapabilityNotes};
use crate::disk::{Disk, NO_DISK};
use crate::observer::Observer;
use crate::serve::{Inbound, RunningServer, StudioServer};
use crate::session::{Action, Input, RATE, ResolvedAction, STUDIO};
use crate::view;
use crate::{Names, Profiler};
use crate::{explain, preview};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use ugas_core::{Facts, Rules, Sim, TaskRecord};
use ugas_doc::{Capability, DocumentKind};

/// The error message for requests that need a recording.
const NO_RECORDING: &str =
    "an attached game has no recording; record its world with `ugas_studio::recording::Recording`";

/// The configuration of an attached studio.
#[derive(Clone, Debug, Default)]
pub struct AttachConfig {
    /// The loopback port; 0 selects a free port.
    pub port: u16,
    /// The secret token in the URL; the web socket rejects pages without the token. Generate the token with the random
    /// number generator of the operating system.
    pub token: String,
    /// Names and categories of controllers.
    pub names: Names,
    /// The path of the documents. With `None`, the studio neither reads nor saves documents.
    pub documents: Option<PathBuf>,
}

/// A command from a page of the studio.
#[derive(Clone, Debug)]
pub enum Command {
    /// An action on a controller, for example applying an effect or activating an ability.
    Action(ResolvedAction),
    /// New rules, built from changed documents. These rules contain no host code. A game that registers code must
    /// instead build its own rules with [`ugas_data::Reloader::with_code`].
    Rules(Arc<Rules>),
    /// Pauses the game (`true`) or resumes it (`false`).
    Pause(bool),
    /// Runs a number of ticks, then pauses.
    Step(u32),
    /// Sets the speed; 1 is real time.
    Speed(f64),
}

impl Command {
    /// Runs an action in a sim, or reloads the rules of the sim. If the sim is that of a network server
    /// ([`Server::sim_mut`](ugas_net::server::Server::sim_mut)), the next tick of the server sends the new rules to its
    /// clients. Returns an error for `Pause`, `Step` and `Speed`; a
    /// game that supports these commands must handle them itself.
    pub fn run(self, sim: &mut Sim) -> Result<(), String> {
        match self {
            Command::Action(action) => action.run(sim),
            Command::Rules(rules) => sim.reload(rules).map(|_| ()).map_err(|e| e.to_string()),
            Command::Pause(_) | Command::Step(_) | Command::Speed(_) => {
                Err("this game does not support pause, step or speed".to_owned())
            }
        }
    }
}

/// A studio attached to a game.
///
/// ```
/// use ugas_core::{Facts, Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_studio::attach::{AttachConfig, Attached, Command};
/// use ugas_doc::{Attribute, AttributeSet};
///
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
///
/// let mut config = AttachConfig { token: "sixteen letters or more".into(), ..AttachConfig::default() };
/// config.names.set(hero, "Hero");
/// let mut studio = Attached::open(config)?;
/// println!("open {}", studio.address());
///
/// let mut facts = Facts::default();
/// for tick in 1..=3 {
///     sim.advance_to(SimTime::frames(tick, 60));
///     sim.take_facts(&mut facts);
///     studio.tick(&mut sim, &facts, &mut |sim, command| command.run(sim));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Attached {
    inbound: Receiver<Inbound>,
    serving: RunningServer,
    address: String,
    names: Names,
    library: Option<Library>,
    documents: Option<PathBuf>,
    disk: Option<Disk>,
    /// The game's rules at the time when the documents were read or last applied.
    loaded: Option<Arc<Rules>>,
    /// The number of reloads of the documents.
    reloads: u32,
    /// The notice that pages show: files that the game has not loaded, or an error from reading the files.
    notice: Option<String>,
    event_log: EventLog,
    tick: u32,
    tasks: Vec<TaskRecord>,
    paused: bool,
    speed: f64,
}

/// A callback of the game that runs a command or returns why the game rejects it.
pub type RunCommand<'g> = dyn FnMut(&mut Sim, Command) -> Result<(), String> + 'g;

impl Attached {
    /// Listens on the loopback address and serves the pages on another thread.
    pub fn open(config: AttachConfig) -> io::Result<Attached> {
        let studio = StudioServer::listen(config.port, &config.token)?;
        let address = studio.address()?;
        let (inbound, serving) = studio.start()?;
        Ok(Attached {
            inbound,
            serving,
            address,
            names: config.names,
            library: None,
            documents: config.documents,
            disk: None,
            loaded: None,
            reloads: 0,
            notice: None,
            event_log: EventLog::default(),
            tick: 0,
            tasks: Vec::new(),
            paused: false,
            speed: 1.0,
        })
    }

    /// Returns the URL to open in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the names of controllers, so that the game can name controllers that it spawns later.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Takes the records of a [`Profiler`] and shows them on the page *Statistics*.
    pub fn take_records(&mut self, profiler: &mut Profiler) {
        self.tasks = profiler.take_records();
    }

    /// Records facts, answers requests and passes commands to the game. Call this function once per frame; it is cheap
    /// while no page is open.
    pub fn tick(&mut self, sim: &mut Sim, facts: &Facts, run: &mut RunCommand<'_>) {
        self.tick = (sim.now().as_seconds() * f64::from(RATE)).round() as u32;
        self.event_log.record_facts(self.tick, &facts.list);
        while let Ok(event) = self.inbound.try_recv() {
            match event {
                Inbound::Disk => self.read_disk_changes(sim),
                // The connection may have been closed.
                Inbound::Request((request, to)) => {
                    let _ = to.send(self.answer(sim, &request, run));
                }
            }
        }
        if self.loaded.as_ref().is_some_and(|before| !Arc::ptr_eq(before, sim.rules())) && self.notice.is_some() {
            self.record_loaded(sim);
        }
    }

    /// Reads files that changed on disk. The pages show the changes; the game decides whether to load them.
    fn read_disk_changes(&mut self, sim: &Sim) {
        let (Some(library), Some(disk)) = (&self.library, &mut self.disk) else { return };
        let changes = match disk.changed_files(library) {
            Ok(changes) if changes.is_empty() => return,
            Ok(changes) => changes,
            Err(error) => return self.notice = Some(error),
        };
        // A game that watches its own files may have loaded the changes already.
        let same = library.with_all(&changes).is_ok_and(|new| new.rules().fingerprint() == sim.rules().fingerprint());
        let faster = self.loaded.as_ref().is_none_or(|before| !Arc::ptr_eq(before, sim.rules()));
        let shown = library.with_texts_only(&changes);
        disk.record_applied(&changes, &shown);
        self.library = Some(shown);
        self.reloads += 1;
        match same || faster {
            true => self.record_loaded(sim),
            false => {
                let names: Vec<String> = changes.keys().map(|path| path.display().to_string()).collect();
                let names = names.join(", ");
                self.notice = Some(format!("{names}: changed on disk; the game has not loaded the change"));
            }
        }
    }

    /// Records that the game uses the shown documents.
    fn record_loaded(&mut self, sim: &Sim) {
        self.loaded = Some(sim.rules().clone());
        self.notice = None;
    }

    /// Answers a request in JSON, as [`Backend::answer`](crate::Backend::answer) does for a session of the studio.
    pub fn answer(&mut self, sim: &mut Sim, request: &str, run: &mut RunCommand<'_>) -> String {
        let answer = Request::read(request).and_then(|request| match request {
            Request::World(request) => self.reply(sim, request, run),
            Request::Data(request) => self.about_data(sim, request, run),
        });
        match answer {
            Ok(value) => value.to_string(),
            Err(error) => json!({ "error": error }).to_string(),
        }
    }

    fn reply(&mut self, sim: &mut Sim, request: WorldRequest, run: &mut RunCommand<'_>) -> Result<Value, String> {
        match request {
            WorldRequest::Hello { .. } => return Ok(self.hello(sim)),
            WorldRequest::Frame(frame) => return Ok(self.frame(sim, &frame)),
            WorldRequest::Figures => return Ok(self.figures(sim)),
            WorldRequest::Explain { side: None, who, attribute } => {
                let who = self.names.who(sim, &who).ok_or_else(|| format!("actor {who} does not exist"))?;
                let why = explain::explain_value(&self.names, Observer::Game(sim), who, &attribute)?;
                return Ok(self.event_log.with_writes(why, &self.names, sim, who, self.tick));
            }
            WorldRequest::History { about } => {
                let recorded = self.event_log.until(self.tick, about.as_deref(), &self.names);
                return Ok(json!(
                    recorded.into_iter().map(|t| event_log::line(t, &self.names, sim)).collect::<Vec<_>>()
                ));
            }
            WorldRequest::Preview { side: None, action } => {
                let preview = preview::preview(&self.names, Observer::Game(sim), &action)?;
                return Ok(json!({ "tick": self.tick, "preview": preview }));
            }
            WorldRequest::WhyNot { side: None, who, capability } => return self.why_not(sim, &who, &capability),
            WorldRequest::Explain { side: Some(side), .. }
            | WorldRequest::WhyNot { side: Some(side), .. }
            | WorldRequest::Preview { side: Some(side), .. } => {
                return Err(format!("client {side} does not exist"));
            }
            WorldRequest::Causes { serial } => {
                let recorded =
                    self.event_log.find(serial).ok_or("this event is no longer in the log; select a newer event")?;
                return Ok(json!(explain::chain(&self.names, sim, &recorded.fact)));
            }
            WorldRequest::Put { input } => self.put(sim, input, run)?,
            WorldRequest::Play => {
                run(sim, Command::Pause(false))?;
                self.paused = false;
            }
            WorldRequest::Pause => {
                run(sim, Command::Pause(true))?;
                self.paused = true;
            }
            WorldRequest::Step { ticks } => {
                run(sim, Command::Step(ticks))?;
                self.paused = true;
            }
            WorldRequest::Speed { times } => {
                if !(0.0..=16.0).contains(&times) {
                    return Err(format!("expected a speed from 0 to 16, found {times}"));
                }
                run(sim, Command::Speed(times))?;
                self.speed = times;
            }
            WorldRequest::Seek { tick } if tick == self.tick => {}
            WorldRequest::Seek { .. }
            | WorldRequest::Resume
            | WorldRequest::Undo { .. }
            | WorldRequest::Permalink
            | WorldRequest::Open { .. } => {
                return Err(NO_RECORDING.to_owned());
            }
        }
        Ok(json!({ "tick": self.tick }))
    }

    /// Returns the reasons why a capability is not active.
    fn why_not(&self, sim: &Sim, who: &str, class: &str) -> Result<Value, String> {
        let id = self.names.who(sim, who).ok_or_else(|| format!("actor {who} does not exist"))?;
        let docs = self.library.iter().flat_map(Library::docs).filter_map(Capability::of);
        let hosts = [STUDIO.to_owned()];
        let reasons = capability::why_not(&self.names, Observer::Game(sim), id, class, docs, &hosts)?;
        Ok(json!({ "tick": self.tick, "reasons": reasons }))
    }

    fn put(&mut self, sim: &mut Sim, input: Input, run: &mut RunCommand<'_>) -> Result<(), String> {
        match input {
            Input::Action(act) => self.act(sim, &act, run),
            Input::Edit { file, text, .. } => {
                let library = self.library(sim)?.with(&file, &text).map_err(|findings| json!(findings).to_string())?;
                run(sim, Command::Rules(library.rules().clone()))?;
                self.library = Some(library);
                self.record_loaded(sim);
                Ok(())
            }
            Input::Files { .. } => Err("save one file at a time".to_owned()),
            Input::Resume => Err(NO_RECORDING.to_owned()),
            Input::Link { .. } | Input::Keys(_) | Input::Join { .. } | Input::Leave { .. } => {
                Err("an attached game has no simulated clients".to_owned())
            }
        }
    }

    fn act(&self, sim: &mut Sim, act: &Action, run: &mut RunCommand<'_>) -> Result<(), String> {
        let action = act.resolve(&self.names, sim)?;
        run(sim, Command::Action(action))
    }

    /// Returns the documents; the first call reads them from disk.
    fn library(&mut self, sim: &Sim) -> Result<&Library, String> {
        if self.library.is_none() {
            let path = self
                .documents
                .as_ref()
                .ok_or("the game was attached without documents; set `AttachConfig::documents`")?;
            let library = Library::of_running(sim.rules().clone(), path);
            self.disk = Disk::open(path, &library).ok();
            self.serving.watch(self.disk.as_ref().map_or(Vec::new(), Disk::watched_paths));
            self.loaded = Some(sim.rules().clone());
            self.library = Some(library);
        }
        self.library.as_ref().ok_or_else(|| NO_DISK.to_owned())
    }

    fn about_data(&mut self, sim: &mut Sim, request: DataRequest, run: &mut RunCommand<'_>) -> Result<Value, String> {
        let DataRequest::Save { file, text, hash } = request else {
            self.library(sim)?;
            let library = self.library.as_ref().ok_or(NO_DISK)?;
            return data::reply(request, library, self.disk.as_ref(), true);
        };
        let new = self.library(sim)?.with(&file, &text).map_err(|findings| json!(findings).to_string())?;
        let (library, disk) = (self.library.as_ref().ok_or(NO_DISK)?, self.disk.as_mut().ok_or(NO_DISK)?);
        let path = data::save(library, disk, &file, &text, &hash)?;
        let hash = disk.hash_of(&path).map(|m| m.hex());
        let applied = run(sim, Command::Rules(new.rules().clone()));
        disk.record_applied(&std::collections::BTreeMap::new(), &new);
        self.library = Some(new);
        applied.map_err(|why| format!("saved, but not applied to the running world: {why}"))?;
        self.record_loaded(sim);
        Ok(json!({ "hash": hash, "tick": self.tick }))
    }

    fn hello(&mut self, sim: &Sim) -> Value {
        let mut hello = frame::names_of(sim.rules());
        let files = match self.library(sim) {
            Ok(library) => library.files().map(|s| s.name.to_string()).collect(),
            Err(_) => Vec::new(),
        };
        let more = json!({
            "duel": false,
            "attached": true,
            "rate": RATE,
            "seed": 0,
            "categories": self.names.categories(),
            "files": files,
            "scenario": null,
        });
        frame::join(&mut hello, more);
        hello
    }

    fn figures(&self, sim: &Sim) -> Value {
        Value::Object(figures::of_sim(sim, &self.tasks))
    }

    fn frame(&self, sim: &mut Sim, request: &FrameRequest) -> Value {
        let hash = sim.hash();
        let (sim, names) = (&*sim, &self.names);
        let hosts = [STUDIO.to_owned()];
        let details: Vec<Value> = request
            .watch
            .iter()
            .map(|(side, name)| {
                let detail = names.who(sim, name).filter(|_| side.is_none()).and_then(|who| {
                    let steps = self.event_log.last_steps(who, None, self.tick);
                    view::detail(names, Observer::Game(sim), who, &CapabilityNotes { hosts: &hosts, steps })
                });
                json!({ "side": side, "name": name, "detail": detail })
            })
            .collect();
        let side = view::Side {
            client: None,
            tick: self.tick,
            ahead: 0,
            clock_rate: 0.0,
            link: (0, 0.0),
            corrections: 0,
            external_changes: 0,
            correction_reason: None,
            refused: 0,
            actors: view::actors(names, Observer::Game(sim), request.category.as_deref()),
        };
        json!({
            "tick": self.tick,
            "start": self.tick,
            "end": self.tick,
            "live": true,
            "running": !self.paused,
            "speed": self.speed,
            "hash": format!("{hash:016x}"),
            "step_us": null,
            "bytes_a_second": 0.0,
            "round_trip": 0,
            "loss": 0.0,
            "player_controlled": false,
            "shots": null,
            "twice": null,
            "missing": null,
            "done": 0,
            "sides": [side],
            "details": details,
            "serial": self.event_log.serial(),
            "events": self.event_log.since(request, names, |t| event_log::line(t, names, sim)),
            "reloads": self.reloads,
            "notice": self.notice,
        })
    }
}
