//! The studio for a game that runs its own world.
//!
//! A game keeps its [`Sim`], its loop and its time. Once a frame it lets the studio look: [`Attached::tick`] answers what
//! pages have asked since, from the world as it is, and hands over what they want done. The game runs these orders as it
//! runs its own ops, or refuses them; the studio never changes a world by itself.

use crate::Library;
use crate::ask;
use crate::desk::asks::{Ask, AskData, AskFrame, Asked};
use crate::desk::told::{self, Chronicle};
use crate::desk::{data, figures, frame};
use crate::disk::{Disk, NO_DISK};
use crate::serve::{Letter, Serving, Studio};
use crate::stage::{Act, Deed, Input, RATE};
use crate::view;
use crate::{Names, Profiler};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use ugas_core::{Facts, Rules, Sim, TaskRecord};

/// What is told where time is not the studio's to turn.
const NOT_OURS: &str = "the game's own time cannot be turned back from here; record it with `ugas_studio::tape::Tape`";

/// How a studio is attached.
#[derive(Clone, Debug, Default)]
pub struct AttachConfig {
    /// The port of this machine's own address; 0 takes any that is free.
    pub port: u16,
    /// Part of the address; whoever does not know it is refused. Take it from the operating system's random numbers.
    pub token: String,
    /// What controllers are called on the pages, and their categories.
    pub names: Names,
    /// Where the documents lie, if they are to be read, changed and saved.
    pub documents: Option<PathBuf>,
}

/// What a page wants done.
#[derive(Clone, Debug)]
pub enum Order {
    /// Something to a controller: an effect applied, an ability used, an input pressed, an event sent, a value written.
    Act(Deed),
    /// The documents have another text: these are the rules made of them. A game with code of its own in its rules builds
    /// them itself instead, with [`ugas_data::Reloader::with_code`].
    Rules(Arc<Rules>),
    /// The world stands still, or goes on.
    Pause(bool),
    /// So many ticks, then it stands still.
    Step(u32),
    /// This many times as fast.
    Speed(f64),
}

impl Order {
    /// Does what is done to a world; what is about time is the game's, and refused here.
    pub fn run(self, sim: &mut Sim) -> Result<(), String> {
        match self {
            Order::Act(deed) => deed.run(sim),
            Order::Rules(rules) => sim.reload(rules).map(|_| ()).map_err(|e| e.to_string()),
            Order::Pause(_) | Order::Step(_) | Order::Speed(_) => Err("this game keeps its own pace".to_owned()),
        }
    }
}

/// A studio beside a game.
///
/// ```
/// use ugas_core::{Facts, Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_studio::attach::{AttachConfig, Attached, Order};
/// use ugas_doc::{Attribute, AttributeSet};
///
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
///
/// let mut config = AttachConfig { token: "sixteen letters or more".into(), ..AttachConfig::default() };
/// config.names.set(hero, "Hero");
/// let mut studio = Attached::open(config)?;
/// println!("watch it at {}", studio.address());
///
/// let mut facts = Facts::default();
/// for tick in 1..=3 {
///     sim.advance_to(SimTime::frames(tick, 60));
///     sim.take_facts(&mut facts);
///     studio.tick(&mut sim, &facts, &mut |sim, order| order.run(sim));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Attached {
    letters: Receiver<Letter>,
    serving: Serving,
    address: String,
    names: Names,
    library: Option<Library>,
    documents: Option<PathBuf>,
    disk: Option<Disk>,
    /// The game's rules when the documents were read, or when it last took some.
    loaded: Option<Arc<Rules>>,
    /// How often other documents were read.
    reloads: u32,
    /// What is shown and not loaded, or cannot be shown.
    notice: Option<String>,
    chronicle: Chronicle,
    tick: u32,
    tasks: Vec<TaskRecord>,
    paused: bool,
    speed: f64,
}

/// How a game runs an order.
pub type RunOrder<'g> = dyn FnMut(&mut Sim, Order) -> Result<(), String> + 'g;

impl Attached {
    /// Listens on this machine's own address and serves the pages from a thread of its own.
    pub fn open(config: AttachConfig) -> io::Result<Attached> {
        let studio = Studio::listen(config.port, &config.token)?;
        let address = studio.address()?;
        let (letters, serving) = studio.begin()?;
        Ok(Attached {
            letters,
            serving,
            address,
            names: config.names,
            library: None,
            documents: config.documents,
            disk: None,
            loaded: None,
            reloads: 0,
            notice: None,
            chronicle: Chronicle::default(),
            tick: 0,
            tasks: Vec::new(),
            paused: false,
            speed: 1.0,
        })
    }

    /// What to open in a browser.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What controllers are called; a game that makes more of them while it runs names them here.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Takes what a [`Profiler`] was told, for the page with figures.
    pub fn take_records(&mut self, profiler: &mut Profiler) {
        self.tasks = profiler.take_records();
    }

    /// Once a frame: notes what happened, answers whoever asked since, and lets the game run what pages want done. Costs
    /// next to nothing while no page is open.
    pub fn tick(&mut self, sim: &mut Sim, facts: &Facts, run: &mut RunOrder<'_>) {
        self.tick = (sim.now().as_seconds() * f64::from(RATE)).round() as u32;
        self.chronicle.note_facts(self.tick, &facts.list);
        while let Ok(letter) = self.letters.try_recv() {
            match letter {
                Letter::Disk => self.look(sim),
                // Whoever asked may have gone.
                Letter::Asked((question, to)) => {
                    let _ = to.send(self.answer(sim, &question, run));
                }
            }
        }
        if self.loaded.as_ref().is_some_and(|before| !Arc::ptr_eq(before, sim.rules())) && self.notice.is_some() {
            self.settled(sim);
        }
    }

    /// Others have saved something: it is shown, and loading it is the game's own business.
    fn look(&mut self, sim: &Sim) {
        let (Some(library), Some(disk)) = (&self.library, &mut self.disk) else { return };
        let news = match disk.look(library) {
            Ok(news) if news.is_empty() => return,
            Ok(news) => news,
            Err(error) => return self.notice = Some(error),
        };
        // A game that watches its files itself may have been faster.
        let same = library.with_all(&news).is_ok_and(|new| new.rules().fingerprint() == sim.rules().fingerprint());
        let faster = self.loaded.as_ref().is_none_or(|before| !Arc::ptr_eq(before, sim.rules()));
        let shown = library.showing(&news);
        disk.took(&news, &shown);
        self.library = Some(shown);
        self.reloads += 1;
        match same || faster {
            true => self.settled(sim),
            false => {
                let names: Vec<String> = news.keys().map(|path| path.display().to_string()).collect();
                let names = names.join(", ");
                self.notice = Some(format!("{names}: shown as it is there now; the game has not loaded this"));
            }
        }
    }

    /// What is shown is what the game has, as far as can be known here.
    fn settled(&mut self, sim: &Sim) {
        self.loaded = Some(sim.rules().clone());
        self.notice = None;
    }

    /// Answers a request in JSON, as [`Desk::answer`](crate::Desk::answer) does for a world of the studio's own.
    pub fn answer(&mut self, sim: &mut Sim, request: &str, run: &mut RunOrder<'_>) -> String {
        let answer = Asked::read(request).and_then(|asked| match asked {
            Asked::World(asked) => self.reply(sim, asked, run),
            Asked::Data(asked) => self.about_data(sim, asked, run),
        });
        match answer {
            Ok(value) => value.to_string(),
            Err(error) => json!({ "error": error }).to_string(),
        }
    }

    fn reply(&mut self, sim: &mut Sim, asked: Ask, run: &mut RunOrder<'_>) -> Result<Value, String> {
        match asked {
            Ask::Hello { .. } => return Ok(self.hello(sim)),
            Ask::Frame(frame) => return Ok(self.frame(sim, &frame)),
            Ask::Figures => return Ok(self.figures(sim)),
            Ask::Explain { side: None, who, attribute } => {
                let who = self.names.who(sim, &who).ok_or_else(|| format!("{who} is not there"))?;
                let why = ask::why(&self.names, sim, who, &attribute)?;
                return Ok(self.chronicle.with_writes(why, &self.names, sim, who, self.tick));
            }
            Ask::Past { about } => {
                let told = self.chronicle.until(self.tick, about.as_deref(), &self.names);
                return Ok(json!(told.into_iter().map(|t| told::line(t, &self.names, sim)).collect::<Vec<_>>()));
            }
            Ask::Explain { side: Some(side), .. } => return Err(format!("no client is named {side}")),
            Ask::Chain { serial } => {
                let told = self.chronicle.find(serial).ok_or("this is too long ago")?;
                return Ok(json!(ask::chain(&self.names, sim, &told.fact)));
            }
            Ask::Put { input } => self.put(sim, input, run)?,
            Ask::Play => {
                run(sim, Order::Pause(false))?;
                self.paused = false;
            }
            Ask::Pause => {
                run(sim, Order::Pause(true))?;
                self.paused = true;
            }
            Ask::Step { ticks } => {
                run(sim, Order::Step(ticks))?;
                self.paused = true;
            }
            Ask::Speed { times } => {
                if !(0.0..=16.0).contains(&times) {
                    return Err("a speed is from 0 to 16".to_owned());
                }
                run(sim, Order::Speed(times))?;
                self.speed = times;
            }
            Ask::Seek { tick } if tick == self.tick => {}
            Ask::Seek { .. } | Ask::Fork | Ask::Undo { .. } | Ask::Moment | Ask::Open { .. } => {
                return Err(NOT_OURS.to_owned());
            }
        }
        Ok(json!({ "tick": self.tick }))
    }

    fn put(&mut self, sim: &mut Sim, input: Input, run: &mut RunOrder<'_>) -> Result<(), String> {
        match input {
            Input::Act(act) => self.act(sim, &act, run),
            Input::Edit { file, text, .. } => {
                let library = self.library(sim)?.with(&file, &text).map_err(|findings| json!(findings).to_string())?;
                run(sim, Order::Rules(library.rules().clone()))?;
                self.library = Some(library);
                self.settled(sim);
                Ok(())
            }
            Input::Files { .. } => Err("files are saved one by one".to_owned()),
            Input::Link { .. } | Input::Keys(_) | Input::Join { .. } | Input::Leave { .. } => {
                Err("a game that is attached has no simulated clients; its own are its own".to_owned())
            }
        }
    }

    fn act(&self, sim: &mut Sim, act: &Act, run: &mut RunOrder<'_>) -> Result<(), String> {
        let deed = act.deed(&self.names, sim)?;
        run(sim, Order::Act(deed))
    }

    /// The documents, read when they are first asked for.
    fn library(&mut self, sim: &Sim) -> Result<&Library, String> {
        if self.library.is_none() {
            let path = self.documents.as_ref().ok_or("this game was attached without its documents")?;
            let library = Library::beside(sim.rules().clone(), path);
            self.disk = Disk::open(path, &library).ok();
            self.serving.watch(self.disk.as_ref().map_or(Vec::new(), Disk::places));
            self.loaded = Some(sim.rules().clone());
            self.library = Some(library);
        }
        self.library.as_ref().ok_or_else(|| NO_DISK.to_owned())
    }

    fn about_data(&mut self, sim: &mut Sim, asked: AskData, run: &mut RunOrder<'_>) -> Result<Value, String> {
        let AskData::Save { file, text, mark } = asked else {
            self.library(sim)?;
            let library = self.library.as_ref().ok_or(NO_DISK)?;
            return data::reply(asked, library, self.disk.as_ref(), true);
        };
        let new = self.library(sim)?.with(&file, &text).map_err(|findings| json!(findings).to_string())?;
        let (library, disk) = (self.library.as_ref().ok_or(NO_DISK)?, self.disk.as_mut().ok_or(NO_DISK)?);
        let path = data::save(library, disk, &file, &text, &mark)?;
        let mark = disk.mark(&path).map(|m| m.hex());
        let taken = run(sim, Order::Rules(new.rules().clone()));
        disk.took(&std::collections::BTreeMap::new(), &new);
        self.library = Some(new);
        taken.map_err(|why| format!("it is saved, but the world goes on with what it had: {why}"))?;
        self.settled(sim);
        Ok(json!({ "mark": mark, "tick": self.tick }))
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

    fn frame(&self, sim: &mut Sim, asked: &AskFrame) -> Value {
        let hash = sim.hash();
        let (sim, names) = (&*sim, &self.names);
        let details: Vec<Value> = asked
            .watch
            .iter()
            .map(|(side, name)| {
                let who = names.who(sim, name).filter(|_| side.is_none());
                json!({ "side": side, "name": name, "detail": who.and_then(|who| view::detail(names, sim, who)) })
            })
            .collect();
        let side = view::Side {
            client: None,
            tick: self.tick,
            ahead: 0,
            bent: 0.0,
            link: (0, 0.0),
            corrections: 0,
            refused: 0,
            actors: view::actors(names, sim, &view::Shows::All, asked.category.as_deref()),
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
            "taken": false,
            "shots": null,
            "twice": null,
            "missing": null,
            "done": 0,
            "sides": [side],
            "details": details,
            "serial": self.chronicle.serial(),
            "news": self.chronicle.since(asked, names, |t| told::line(t, names, sim)),
            "reloads": self.reloads,
            "notice": self.notice,
        })
    }
}
