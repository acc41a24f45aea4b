//! The desk: one world, its recording, and everything a page can ask of it, as JSON in and JSON out.
//!
//! A page, a test and a browser that runs the world itself all talk to the same desk. It never panics on what it is asked;
//! what it cannot do it says in a sentence under `error`. Questions are split by subject: [`asks`] is what can be asked,
//! [`data`] answers about documents, [`frame`] about the world as it is, [`figures`] about what it costs.

pub(crate) mod asks;
pub(crate) mod data;
pub(crate) mod figures;
pub(crate) mod frame;
mod timeline;
pub(crate) mod told;

use crate::Clock;
use crate::ask;
use crate::disk::{Disk, NO_DISK};
use crate::observer::Observer;
use crate::profile::tell;
use crate::stage::{Choice, Input, Script, Stage};
use crate::tape::{Tape, World};
use asks::{Ask, AskData, Asked};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use told::Chronicle;

/// Ticks that one call may run, so that a slow machine falls behind instead of standing still.
const MOST_TICKS: u32 = 240;
/// The latest tick that a link may name: ten minutes.
const LATEST: u32 = 10 * 60 * crate::stage::RATE;

/// Ticks after which a duel is under way: clients are as far ahead as their links need, and counters have counted.
const WARM: u32 = 4 * crate::stage::RATE;
/// Ticks between two rounds of a duel at most.
const MOST_ROUND: u32 = 10 * crate::stage::RATE;

/// What is told whoever wants to change files in another way.
const ONLY_THE_DISK: &str = "files are changed one by one, by their text";

/// How a world begins from a seed.
pub type Boot = Box<dyn Fn(u64) -> Result<Stage, String> + Send>;

/// How a world begins where there is more to choose than a seed.
type Begin = Box<dyn Fn(&Choice) -> Result<Stage, String> + Send>;

/// A world, its recording, and what can be asked of it.
///
/// ```
/// use ugas_studio::{Desk, stage::Stage};
/// let mut desk = Desk::new(Box::new(Stage::duel), 7)?;
/// desk.advance(1000.0, &mut || 0.0);
/// let frame = desk.answer(r#"{"ask": "frame"}"#);
/// assert!(frame.contains("\"tick\":60"), "{frame}");
/// assert!(desk.answer("nonsense").contains("error"));
/// # Ok::<(), String>(())
/// ```
pub struct Desk {
    begin: Begin,
    /// What was chosen when the world was opened.
    choice: Choice,
    tape: Tape<Stage>,
    disk: Option<Disk>,
    clock: Option<Clock>,
    counter: Option<fn() -> u64>,
    /// What the last step asked the allocator for, copies for going back included.
    allocations: Option<u64>,
    running: bool,
    speed: f64,
    /// Parts of a tick that have passed.
    rest: f64,
    chronicle: Chronicle,
    /// Microseconds of a step, smoothed.
    step_us: f64,
    /// Bytes sent by the server until each of the last ticks.
    sent: VecDeque<(u32, u64)>,
    /// How often the world got other documents, or was opened anew: what a page was told when it opened is not so any more.
    reloads: u32,
    /// How often the world got another past: what a page remembers of it is not so any more.
    pasts: u32,
    /// What is wrong with what the disk holds now; the world goes on with what it had.
    notice: Option<String>,
    /// How often texts that others saved were taken, and which were last.
    saved: Option<(u32, String)>,
}

impl Desk {
    /// A world from a seed, running.
    pub fn new(boot: Boot, seed: u64) -> Result<Desk, String> {
        let begin: Begin = Box::new(move |choice| match &choice.scenario {
            None => boot(choice.seed.unwrap_or(seed)),
            Some(_) => Err("there are no scenarios to choose from here".to_owned()),
        });
        Desk::begun(begin, Choice { seed: Some(seed), scenario: None })
    }

    /// The world that a path holds, running: what is changed can be saved below it, and what changes there is taken.
    ///
    /// ```
    /// use ugas_studio::{Desk, stage::Choice};
    /// let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs/arena");
    /// let mut desk = Desk::at(pack.as_ref(), Choice::default())?;
    /// assert!(desk.answer(r#"{"ask": "files"}"#).contains("arena/pyra.yaml"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn at(path: &Path, choice: Choice) -> Result<Desk, String> {
        let from = path.to_path_buf();
        let mut desk = Desk::begun(Box::new(move |choice| Stage::of_path(&from, choice)), choice)?;
        desk.disk = Some(Disk::open(path, desk.tape.world().library())?);
        Ok(desk)
    }

    fn begun(begin: Begin, choice: Choice) -> Result<Desk, String> {
        let tape = Tape::new(begin(&choice)?);
        let mut chronicle = Chronicle::default();
        note(&mut chronicle, tape.world());
        Ok(Desk {
            begin,
            choice,
            tape,
            disk: None,
            clock: None,
            counter: None,
            allocations: None,
            running: true,
            speed: 1.0,
            rest: 0.0,
            chronicle,
            step_us: 0.0,
            sent: VecDeque::new(),
            reloads: 0,
            pasts: 0,
            notice: None,
            saved: None,
        })
    }

    /// Lends a clock in nanoseconds for the figures of tasks.
    pub fn with_clock(mut self, clock: Clock) -> Desk {
        self.tape.lend(|stage| stage.set_clock(clock.clone()));
        self.clock = Some(clock);
        self
    }

    /// Lends a count of what the calling thread has asked the allocator for, for the figures.
    pub fn with_counter(mut self, counter: fn() -> u64) -> Desk {
        self.counter = Some(counter);
        self
    }

    /// The recording.
    pub fn tape(&self) -> &Tape<Stage> {
        &self.tape
    }

    /// The files and folders whose changes [`Desk::look`] takes.
    #[cfg(feature = "serve")]
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        self.disk.as_ref().map_or(Vec::new(), Disk::places)
    }

    /// So many milliseconds have passed. `clock` tells microseconds, for the figure of a step.
    pub fn advance(&mut self, millis: f64, clock: &mut dyn FnMut() -> f64) {
        if !self.running || !millis.is_finite() {
            return;
        }
        self.rest += millis.clamp(0.0, 10_000.0) * self.speed * f64::from(crate::stage::RATE) / 1000.0;
        // A hair's breadth below a whole tick is one: sixteen and two thirds are not written exactly.
        let due = (self.rest + 1e-6).floor().min(f64::from(MOST_TICKS));
        self.rest = (self.rest - due).clamp(0.0, 1.0);
        let before = clock();
        for _ in 0..due as u32 {
            self.step();
            // Behind the end of a scenario nothing happens that anybody wrote.
            let stage = self.tape.world();
            if stage.script().is_some_and(|s| s.is_followed() && s.last_tick() == stage.tick()) {
                self.running = false;
                break;
            }
        }
        if due > 0.0 {
            let one = (clock() - before) / due;
            self.step_us = if self.step_us == 0.0 { one } else { self.step_us * 0.95 + one * 0.05 };
        }
    }

    /// Answers a request in JSON.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = Asked::read(request).and_then(|asked| match asked {
            Asked::World(Ask::Frame(asked)) => self.frame(&asked),
            Asked::World(asked) => self.reply(asked).map(|v| v.to_string()),
            Asked::Data(AskData::Save { file, text, mark }) => self.save(&file, &text, &mark).map(|v| v.to_string()),
            Asked::Data(asked) => {
                let is_now = self.tape.is_live();
                data::reply(asked, self.tape.world().library(), self.disk.as_ref(), is_now).map(|v| v.to_string())
            }
        });
        answer.unwrap_or_else(|error| json!({ "error": error }).to_string())
    }

    fn reply(&mut self, asked: Ask) -> Result<Value, String> {
        match asked {
            Ask::Hello { opens } => {
                if opens && self.running && self.tape.is_live() {
                    self.seek_fight();
                }
                return Ok(self.hello());
            }
            // Answered as text, before it comes here.
            Ask::Frame(_) => {}
            Ask::Play => self.running = true,
            Ask::Pause => self.running = false,
            Ask::Step { ticks } => (0..ticks.min(MOST_TICKS)).for_each(|_| self.step()),
            Ask::Speed { times } => {
                if !(0.0..=16.0).contains(&times) {
                    return Err("a speed is from 0 to 16".to_owned());
                }
                self.speed = times;
            }
            Ask::Seek { tick } => {
                self.running = false;
                self.seek(tick);
                self.sent.clear();
                self.compare();
            }
            Ask::Fork => return self.resume(),
            Ask::Undo { with } => {
                let undone = self.undo(with)?;
                return Ok(json!({ "tick": self.tape.world().tick(), "end": self.tape.end(), "undone": undone }));
            }
            Ask::Put { mut input } => {
                match &mut input {
                    Input::Edit { file, text, tables } => *tables = self.edit(file, text)?,
                    Input::Files { .. } => return Err(ONLY_THE_DISK.to_owned()),
                    _ => {}
                }
                return self.do_now(input);
            }
            Ask::Explain { side, who, attribute } => {
                let stage = self.tape.world();
                let observer = observer_of(stage, side.as_deref())?;
                let who = stage.who(&who).ok_or_else(|| format!("{who} is not there"))?;
                let why = ask::why(stage.names(), observer, who, &attribute)?;
                // What is listed was written on the server: a client may not have received it yet.
                return Ok(match side {
                    None => self.chronicle.with_writes(why, stage.names(), stage.sim(), who, stage.tick()),
                    Some(_) => json!(why),
                });
            }
            Ask::Past { about } => {
                let stage = self.tape.world();
                let told = self.chronicle.until(stage.tick(), about.as_deref(), stage.names());
                return Ok(json!(
                    told.into_iter().map(|t| told::line(t, stage.names(), stage.sim())).collect::<Vec<_>>()
                ));
            }
            Ask::Chain { serial } => {
                let told = self.chronicle.find(serial).ok_or("this is too long ago")?;
                let stage = self.tape.at(told.tick);
                return Ok(json!(ask::chain(stage.names(), stage.sim(), &told.fact)));
            }
            Ask::Figures => return Ok(self.figures()),
            Ask::Moment => {
                let (stage, now) = (self.tape.world(), self.tape.world().tick());
                let told = |(at, input): &&(u32, Input)| *at <= now && *input != Input::Resume;
                let inputs: Vec<_> = self.tape.inputs().iter().filter(told).collect();
                let scenario = self.shown();
                return Ok(json!({ "seed": stage.seed(), "scenario": scenario, "tick": now, "inputs": inputs }));
            }
            Ask::Open { seed, scenario, tick, inputs } => {
                let scenario = scenario.or_else(|| self.shown());
                let choice = Choice { seed: seed.or(self.choice.seed), scenario };
                self.open(choice, tick, inputs)?;
                self.reloads += 1;
            }
        }
        Ok(json!({ "tick": self.tape.world().tick() }))
    }

    /// Which of several scenarios is shown.
    fn shown(&self) -> Option<String> {
        self.tape.world().script().filter(|s| s.names().len() > 1).map(|s| s.key(s.place()))
    }

    /// A chosen world at a tick, with what was done until then.
    fn open(&mut self, choice: Choice, tick: u32, inputs: Vec<(u32, Input)>) -> Result<(), String> {
        if tick > LATEST {
            return Err(format!("a link leads at most to tick {LATEST}"));
        }
        // Whoever made a link may be anybody.
        if inputs.iter().any(|(_, input)| matches!(input, Input::Files { .. })) {
            return Err(ONLY_THE_DISK.to_owned());
        }
        if self.disk.is_some() && inputs.iter().any(|(_, input)| matches!(input, Input::Edit { .. })) {
            return Err("this link changes documents, and those here can be saved; open it with `ugas demo`".to_owned());
        }
        let mut stage = (self.begin)(&choice)?;
        if let Some(clock) = &self.clock {
            stage.set_clock(clock.clone());
        }
        let mut tape = Tape::new(stage);
        let mut inputs = inputs.into_iter().peekable();
        let mut chronicle = self.chronicle.anew();
        loop {
            while let Some((_, input)) = inputs.next_if(|(at, _)| *at <= tape.world().tick()) {
                tape.put(input)?;
            }
            note(&mut chronicle, tape.world());
            if tape.world().tick() >= tick {
                break;
            }
            tape.step();
        }
        (self.tape, self.chronicle, self.choice) = (tape, chronicle, choice);
        if let Some(disk) = &mut self.disk {
            disk.settle(self.tape.world().library());
        }
        (self.running, self.rest) = (tick == 0, 0.0);
        self.sent.clear();
        self.pasts += 1;
        Ok(())
    }

    /// The same scenario as its file is now: the one with its name, or the one in its place if it was renamed.
    fn again(&mut self, tick: u32) -> Result<(), String> {
        let named = |script: &Script| [script.key(script.place()), (script.place() + 1).to_string()];
        let Some([name, number]) = self.tape.world().script().map(named) else { return Ok(()) };
        let seed = self.choice.seed;
        let choice = |scenario| Choice { seed, scenario: Some(scenario) };
        self.open(choice(name), tick, Vec::new()).or_else(|_| self.open(choice(number), tick, Vec::new()))
    }

    fn step(&mut self) {
        let live = self.tape.is_live();
        let before = self.counter.map(|count| count());
        self.tape.step();
        self.allocations =
            self.counter.map(|count| count()).zip(before).map(|(after, before)| after.wrapping_sub(before));
        let stage = self.tape.world();
        let total: u64 = stage.net().players().iter().map(|p| p.down.counts().bytes).sum();
        self.sent.push_back((stage.tick(), total));
        while self.sent.len() > crate::stage::RATE as usize + 1 {
            self.sent.pop_front();
        }
        if live {
            note(&mut self.chronicle, stage);
        }
    }

    /// Goes on to where the fight of a duel is on and both stand.
    fn seek_fight(&mut self) {
        for _ in 0..MOST_ROUND {
            let stage = self.tape.world();
            let Some(duel) = stage.duel_state() else { return };
            if stage.tick() >= WARM && !duel.is_over(stage.sim()) {
                return;
            }
            self.step();
        }
    }

    /// Says so where the disk has another text than the world at this moment.
    fn compare(&mut self) {
        let Some(disk) = &self.disk else { return };
        let other = disk.differs(self.tape.world().library());
        self.notice = other.map(|name| {
            format!("{name} on the disk is not the text of this moment; what is saved now replaces what is there")
        });
    }

    /// The tables that a text takes numbers from, or what is wrong with it; nothing is done.
    fn edit(&self, file: &str, text: &str) -> Result<BTreeMap<String, String>, String> {
        let library = self.tape.world().library();
        let new = library.with(file, text).map_err(|findings| json!(findings).to_string())?;
        Ok(named(new.tables_of(new.project().source(file).map(|s| &s.path).into_iter())))
    }

    /// A text goes to the disk and into the world.
    fn save(&mut self, file: &str, text: &str, mark: &str) -> Result<Value, String> {
        let disk = self.disk.as_mut().ok_or(NO_DISK)?;
        let path = data::save(self.tape.world().library(), disk, file, text, mark)?;
        let mark = disk.mark(&path).map(|m| m.hex());
        let old = (!self.tape.is_live()).then(|| self.tape.end());
        let news = BTreeMap::from([(path, Some(text.to_owned()))]);
        let taken = self.take(&news);
        let taken = taken.map_err(|why| format!("it is saved, but the world goes on with what it had: {why}"));
        self.notice = taken.as_ref().err().cloned();
        taken?;
        if let Some(disk) = &mut self.disk {
            disk.took(&news, self.tape.world().library());
        }
        let (tick, done) = (self.tape.world().tick(), self.tape.inputs().len());
        Ok(json!({ "mark": mark, "tick": tick, "old_end": old, "done": done }))
    }

    /// Looks at the disk: what others have saved is taken, all of it or nothing. Whether something was.
    pub fn look(&mut self) -> bool {
        let Some(disk) = &self.disk else { return false };
        let news = match disk.look(self.tape.world().library()) {
            Ok(news) if news.is_empty() => {
                self.compare();
                return false;
            }
            Ok(news) => news,
            Err(error) => {
                self.notice = Some(error);
                return false;
            }
        };
        // What others save counts from now on: whoever looks at the past does not lose what came after it.
        let here = self.tape.world().tick();
        let back = self.tape.world().library().is_live() && !self.tape.is_live();
        if back {
            self.tape.seek(self.tape.end());
        }
        let taken = self.take(&news);
        if taken.is_ok() {
            self.reloads += 1;
            let names: Vec<_> = news.keys().map(|path| path.display().to_string()).collect();
            self.saved = Some((self.saved.as_ref().map_or(1, |(count, _)| count + 1), names.join(", ")));
            if let Some(disk) = &mut self.disk {
                disk.took(&news, self.tape.world().library());
            }
        }
        if back {
            self.tape.seek(here);
        }
        self.compare();
        let is_taken = taken.is_ok();
        self.notice = taken.err().or(self.notice.take());
        is_taken
    }

    /// The running world goes on with other texts; a scenario begins again and goes to where it stood.
    fn take(&mut self, texts: &BTreeMap<PathBuf, Option<String>>) -> Result<(), String> {
        let library = self.tape.world().library();
        if !library.is_live() {
            let (tick, running) = (self.tape.world().tick().min(LATEST), self.running);
            self.again(tick)?;
            self.running = running;
            return Ok(());
        }
        let new = library.with_all(texts).map_err(|findings| crate::stage::told(&findings))?;
        let tables = named(new.tables_of(texts.keys()));
        let texts = texts.iter().map(|(path, text)| (path.display().to_string(), text.clone())).collect();
        self.put(Input::Files { texts, tables })
    }
}

/// Texts by the names of their paths, as inputs have them.
fn named(texts: BTreeMap<PathBuf, String>) -> BTreeMap<String, String> {
    texts.into_iter().map(|(path, text)| (path.display().to_string(), text)).collect()
}

/// Notes a tick that is new, and says what its tasks cost. What is stepped again to go somewhere is neither.
fn note(chronicle: &mut Chronicle, stage: &Stage) {
    chronicle.note(stage);
    tell(stage.library().rules(), &stage.news().tasks);
}

fn observer_of<'s>(stage: &'s Stage, client: Option<&str>) -> Result<Observer<'s>, String> {
    stage.observer(client).ok_or_else(|| format!("no client is named {}", client.unwrap_or_default()))
}
