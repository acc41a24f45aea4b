//! The backend: one world, its recording, and the requests of pages. Requests and answers are JSON.
//!
//! The web server, the wasm module and the tests use the same backend. The backend never panics on a request. If a
//! request fails, the answer contains a message under the key `error`. [`request`] defines the requests, [`data`]
//! answers requests about documents, [`frame`] returns the state, [`queries`] explains the state, [`timeline`] seeks
//! and undoes inputs, and [`figures`] returns statistics.

pub(crate) mod data;
pub(crate) mod event_log;
pub(crate) mod figures;
pub(crate) mod frame;
mod queries;
pub(crate) mod request;
mod timeline;

use crate::Clock;
use crate::disk::{Disk, NO_DISK};
use crate::observer::Observer;
use crate::profile::emit;
use crate::recording::{Recording, World};
use crate::session::{Input, OpenOptions, Script, Session};
use event_log::EventLog;
use request::{DataRequest, Request, WorldRequest};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

/// The maximum number of ticks per call, so that a slow machine falls behind real time instead of blocking.
const MAX_TICKS: u32 = 240;
/// The latest tick that a link may select: ten minutes.
const MAX_LINK_TICK: u32 = 10 * 60 * crate::session::RATE;

/// Ticks until the clients of a duel predict as far ahead as their links require, and the counters are meaningful.
const WARM_UP: u32 = 4 * crate::session::RATE;
/// The maximum number of ticks to skip until both fighters are alive.
const MAX_SKIP: u32 = 10 * crate::session::RATE;

/// The error message for an input that changes several files.
const ONE_FILE_AT_A_TIME: &str = "an input can change only one file; send one input for each file";

/// A function that creates a session from a seed.
pub type SessionFactory = Box<dyn Fn(u64) -> Result<Session, String> + Send>;

/// A function that opens a session with options.
type OpenSession = Box<dyn Fn(&OpenOptions) -> Result<Session, String> + Send>;

/// A running session with its recording, which answers the requests of pages.
///
/// ```
/// use ugas_studio::{Backend, session::Session};
/// let mut backend = Backend::new(Box::new(Session::duel), 7)?;
/// backend.advance(1000.0, &mut || 0.0);
/// let frame = backend.answer(r#"{"ask": "frame"}"#);
/// assert!(frame.contains("\"tick\":60"), "{frame}");
/// assert!(backend.answer("nonsense").contains("error"));
/// # Ok::<(), String>(())
/// ```
pub struct Backend {
    open_session: OpenSession,
    /// The options with which the session was opened.
    options: OpenOptions,
    recording: Recording<Session>,
    disk: Option<Disk>,
    clock: Option<Clock>,
    counter: Option<fn() -> u64>,
    /// The number of allocations in the last step, including keyframes.
    allocations: Option<u64>,
    running: bool,
    speed: f64,
    /// The elapsed fraction of the next tick.
    tick_fraction: f64,
    event_log: EventLog,
    /// Microseconds per step, smoothed.
    step_us: f64,
    /// Total bytes sent by the server at each of the last ticks.
    sent: VecDeque<(u32, u64)>,
    /// Incremented when the documents change or the session is reopened; pages then request `hello` again.
    reloads: u32,
    /// Incremented when the timeline is replaced; pages then drop their events and request them again.
    timelines: u32,
    /// Why the files on disk cannot be applied, or which file differs from the world.
    notice: Option<String>,
    /// The number of reloads from disk, and the files of the last reload.
    saved: Option<(u32, String)>,
}

impl Backend {
    /// Creates a backend with a running session. The factory creates the session from the seed.
    pub fn new(factory: SessionFactory, seed: u64) -> Result<Backend, String> {
        let open_session: OpenSession = Box::new(move |options| match &options.scenario {
            None => factory(options.seed.unwrap_or(seed)),
            Some(_) => Err("this session has no scenarios to choose from".to_owned()),
        });
        Backend::with_opener(open_session, OpenOptions { seed: Some(seed), scenario: None })
    }

    /// Opens the world at a path and runs it. Edits can be saved to the files at that path, and changes on disk are
    /// applied.
    ///
    /// ```
    /// use ugas_studio::{Backend, session::OpenOptions};
    /// let pack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs/arena");
    /// let mut backend = Backend::at(pack.as_ref(), OpenOptions::default())?;
    /// assert!(backend.answer(r#"{"ask": "files"}"#).contains("arena/pyra.yaml"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn at(path: &Path, options: OpenOptions) -> Result<Backend, String> {
        let from = path.to_path_buf();
        let mut backend = Backend::with_opener(Box::new(move |options| Session::of_path(&from, options)), options)?;
        backend.disk = Some(Disk::open(path, backend.recording.world().library())?);
        Ok(backend)
    }

    fn with_opener(open_session: OpenSession, options: OpenOptions) -> Result<Backend, String> {
        let recording = Recording::new(open_session(&options)?);
        let mut event_log = EventLog::default();
        record(&mut event_log, recording.world());
        Ok(Backend {
            open_session,
            options,
            recording,
            disk: None,
            clock: None,
            counter: None,
            allocations: None,
            running: true,
            speed: 1.0,
            tick_fraction: 0.0,
            event_log,
            step_us: 0.0,
            sent: VecDeque::new(),
            reloads: 0,
            timelines: 0,
            notice: None,
            saved: None,
        })
    }

    /// Sets the clock that measures the duration of tasks for the statistics. The clock returns nanoseconds.
    pub fn with_clock(mut self, clock: Clock) -> Backend {
        self.recording.update_all(|session| session.set_clock(clock.clone()));
        self.clock = Some(clock);
        self
    }

    /// Sets the function that returns how many allocations the calling thread has made, for the statistics.
    pub fn with_counter(mut self, counter: fn() -> u64) -> Backend {
        self.counter = Some(counter);
        self
    }

    /// Returns the recording.
    pub fn recording(&self) -> &Recording<Session> {
        &self.recording
    }

    /// Returns the files and folders whose changes [`Backend::reload_from_disk`] applies.
    #[cfg(feature = "serve")]
    pub(crate) fn watched_paths(&self) -> Vec<PathBuf> {
        self.disk.as_ref().map_or(Vec::new(), Disk::watched_paths)
    }

    /// Advances the world by `millis` milliseconds of real time. `clock` returns microseconds and is used to measure
    /// the duration of a step.
    pub fn advance(&mut self, millis: f64, clock: &mut dyn FnMut() -> f64) {
        if !self.running || !millis.is_finite() {
            return;
        }
        self.tick_fraction += millis.clamp(0.0, 10_000.0) * self.speed * f64::from(crate::session::RATE) / 1000.0;
        // Rounds up by an epsilon: 16.67 ms is not exactly one tick.
        let due = (self.tick_fraction + 1e-6).floor().min(f64::from(MAX_TICKS));
        self.tick_fraction = (self.tick_fraction - due).clamp(0.0, 1.0);
        let before = clock();
        for _ in 0..due as u32 {
            self.step();
            // Pauses at the end of a scenario.
            let session = self.recording.world();
            if session.script().is_some_and(|s| s.is_followed() && s.last_tick() == session.tick()) {
                self.running = false;
                break;
            }
        }
        if due > 0.0 {
            let one = (clock() - before) / due;
            self.step_us = if self.step_us == 0.0 { one } else { self.step_us * 0.95 + one * 0.05 };
        }
    }

    /// Answers a request. The request and the answer are JSON.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = Request::read(request).and_then(|request| match request {
            Request::World(WorldRequest::Frame(request)) => self.frame(&request),
            Request::World(request) => self.reply(request).map(|v| v.to_string()),
            Request::Data(DataRequest::Save { file, text, hash }) => {
                self.save(&file, &text, &hash).map(|v| v.to_string())
            }
            Request::Data(request) => {
                let is_now = self.recording.is_live();
                data::reply(request, self.recording.world().library(), self.disk.as_ref(), is_now)
                    .map(|v| v.to_string())
            }
        });
        answer.unwrap_or_else(|error| json!({ "error": error }).to_string())
    }

    fn reply(&mut self, request: WorldRequest) -> Result<Value, String> {
        match request {
            WorldRequest::Hello { opens } => {
                if opens && self.running && self.recording.is_live() {
                    self.skip_to_fight();
                }
                return Ok(self.hello());
            }
            // The caller has already answered this request with JSON text.
            WorldRequest::Frame(_) => {}
            WorldRequest::Play => self.running = true,
            WorldRequest::Pause => self.running = false,
            WorldRequest::Step { ticks } => (0..ticks.min(MAX_TICKS)).for_each(|_| self.step()),
            WorldRequest::Speed { times } => {
                if !(0.0..=16.0).contains(&times) {
                    return Err(format!("expected a speed from 0 to 16, found {times}"));
                }
                self.speed = times;
            }
            WorldRequest::Seek { tick } => {
                self.running = false;
                self.seek(tick);
                self.sent.clear();
                self.compare_with_disk();
            }
            WorldRequest::Resume => return self.resume(),
            WorldRequest::Undo { with } => {
                let undone = self.undo(with)?;
                return Ok(
                    json!({ "tick": self.recording.world().tick(), "end": self.recording.end(), "undone": undone }),
                );
            }
            WorldRequest::Put { mut input } => {
                match &mut input {
                    Input::Edit { file, text, tables } => *tables = self.edit(file, text)?,
                    Input::Files { .. } => return Err(ONE_FILE_AT_A_TIME.to_owned()),
                    Input::Link { .. }
                    | Input::Action(_)
                    | Input::Keys(_)
                    | Input::Join { .. }
                    | Input::Leave { .. }
                    | Input::Resume => {}
                }
                return self.put_and_report(input);
            }
            WorldRequest::Explain { side, who, attribute } => return self.explain(side.as_deref(), &who, &attribute),
            WorldRequest::WhyNot { side, who, capability } => return self.why_not(side.as_deref(), &who, &capability),
            WorldRequest::Preview { side, action } => return self.preview(side.as_deref(), &action),
            WorldRequest::History { about } => return Ok(self.history(about.as_deref())),
            WorldRequest::Causes { serial } => return self.causes(serial),
            WorldRequest::Figures => return Ok(self.figures()),
            WorldRequest::Permalink => return Ok(self.permalink()),
            WorldRequest::Open { seed, scenario, tick, inputs } => {
                let scenario = scenario.or_else(|| self.shown());
                let options = OpenOptions { seed: seed.or(self.options.seed), scenario };
                self.open(options, tick, inputs)?;
                self.reloads += 1;
            }
        }
        Ok(json!({ "tick": self.recording.world().tick() }))
    }

    /// Returns the key of the current scenario, if the file has several.
    fn shown(&self) -> Option<String> {
        self.recording.world().script().filter(|s| s.names().len() > 1).map(|s| s.key(s.index()))
    }

    /// Opens a session and runs it to a tick with the given inputs.
    fn open(&mut self, options: OpenOptions, tick: u32, inputs: Vec<(u32, Input)>) -> Result<(), String> {
        if tick > MAX_LINK_TICK {
            return Err(format!("tick {tick} of the link is above the limit {MAX_LINK_TICK}"));
        }
        // A link may come from an untrusted source.
        if inputs.iter().any(|(_, input)| matches!(input, Input::Files { .. })) {
            return Err(ONE_FILE_AT_A_TIME.to_owned());
        }
        if self.disk.is_some() && inputs.iter().any(|(_, input)| matches!(input, Input::Edit { .. })) {
            return Err(
                "this link changes documents that this session can save; open the link with `ugas demo`".to_owned()
            );
        }
        let mut session = (self.open_session)(&options)?;
        if let Some(clock) = &self.clock {
            session.set_clock(clock.clone());
        }
        let mut recording = Recording::new(session);
        let mut inputs = inputs.into_iter().peekable();
        let mut event_log = self.event_log.cleared();
        loop {
            while let Some((_, input)) = inputs.next_if(|(at, _)| *at <= recording.world().tick()) {
                recording.put(input)?;
            }
            record(&mut event_log, recording.world());
            if recording.world().tick() >= tick {
                break;
            }
            recording.step();
        }
        (self.recording, self.event_log, self.options) = (recording, event_log, options);
        if let Some(disk) = &mut self.disk {
            disk.record_all(self.recording.world().library());
        }
        (self.running, self.tick_fraction) = (tick == 0, 0.0);
        self.sent.clear();
        self.timelines += 1;
        Ok(())
    }

    /// Reopens the scenario from its file, by name or, if the scenario was renamed, by number.
    fn reopen_scenario(&mut self, tick: u32) -> Result<(), String> {
        let named = |script: &Script| [script.key(script.index()), (script.index() + 1).to_string()];
        let Some([name, number]) = self.recording.world().script().map(named) else { return Ok(()) };
        let seed = self.options.seed;
        let options = |scenario| OpenOptions { seed, scenario: Some(scenario) };
        self.open(options(name), tick, Vec::new()).or_else(|_| self.open(options(number), tick, Vec::new()))
    }

    fn step(&mut self) {
        let live = self.recording.is_live();
        let before = self.counter.map(|count| count());
        self.recording.step();
        self.allocations =
            self.counter.map(|count| count()).zip(before).map(|(after, before)| after.wrapping_sub(before));
        let session = self.recording.world();
        let total: u64 = session.net().players().iter().map(|p| p.down.counts().bytes).sum();
        self.sent.push_back((session.tick(), total));
        while self.sent.len() > crate::session::RATE as usize + 1 {
            self.sent.pop_front();
        }
        if live {
            record(&mut self.event_log, session);
        }
    }

    /// Runs a duel until both fighters are alive.
    fn skip_to_fight(&mut self) {
        for _ in 0..MAX_SKIP {
            let session = self.recording.world();
            let Some(duel) = session.duel_state() else { return };
            if session.tick() >= WARM_UP && !duel.is_over(session.sim()) {
                return;
            }
            self.step();
        }
    }

    /// Sets the notice if the files on disk differ from the world at this tick.
    fn compare_with_disk(&mut self) {
        let Some(disk) = &self.disk else { return };
        let other = disk.differs(self.recording.world().library());
        self.notice = other.map(|name| format!("{name} differs from the text at this tick; saving replaces the file"));
    }

    /// Checks a text without applying it. Returns the tables that the text uses, or its errors.
    fn edit(&self, file: &str, text: &str) -> Result<BTreeMap<String, String>, String> {
        let library = self.recording.world().library();
        let new = library.with(file, text).map_err(|findings| json!(findings).to_string())?;
        Ok(named(new.tables_of(new.project().source(file).map(|s| &s.path).into_iter())))
    }

    /// Saves a text and applies it to the world.
    fn save(&mut self, file: &str, text: &str, hash: &str) -> Result<Value, String> {
        let disk = self.disk.as_mut().ok_or(NO_DISK)?;
        let path = data::save(self.recording.world().library(), disk, file, text, hash)?;
        let hash = disk.hash_of(&path).map(|m| m.hex());
        let old = (!self.recording.is_live()).then(|| self.recording.end());
        let changes = BTreeMap::from([(path, Some(text.to_owned()))]);
        let applied = self.apply_texts(&changes);
        let applied = applied.map_err(|why| format!("saved, but not applied to the running world: {why}"));
        self.notice = applied.as_ref().err().cloned();
        applied?;
        if let Some(disk) = &mut self.disk {
            disk.record_applied(&changes, self.recording.world().library());
        }
        let (tick, done) = (self.recording.world().tick(), self.recording.inputs().len());
        Ok(json!({ "hash": hash, "tick": tick, "old_end": old, "done": done }))
    }

    /// Applies all changes of the files on disk, or no change if one file is invalid. Returns whether changes were
    /// applied.
    pub fn reload_from_disk(&mut self) -> bool {
        let Some(disk) = &self.disk else { return false };
        let changes = match disk.changed_files(self.recording.world().library()) {
            Ok(changes) if changes.is_empty() => {
                self.compare_with_disk();
                return false;
            }
            Ok(changes) => changes,
            Err(error) => {
                self.notice = Some(error);
                return false;
            }
        };
        // Applied at the end of the recording: a change on disk does not replace the timeline after an earlier tick.
        let here = self.recording.world().tick();
        let back = self.recording.world().library().is_live() && !self.recording.is_live();
        if back {
            self.recording.seek(self.recording.end());
        }
        let applied = self.apply_texts(&changes);
        if applied.is_ok() {
            self.reloads += 1;
            let names: Vec<_> = changes.keys().map(|path| path.display().to_string()).collect();
            self.saved = Some((self.saved.as_ref().map_or(1, |(count, _)| count + 1), names.join(", ")));
            if let Some(disk) = &mut self.disk {
                disk.record_applied(&changes, self.recording.world().library());
            }
        }
        if back {
            self.recording.seek(here);
        }
        self.compare_with_disk();
        let is_applied = applied.is_ok();
        self.notice = applied.err().or(self.notice.take());
        is_applied
    }

    /// Applies texts to the running world; a scenario is restarted and runs to the current tick.
    fn apply_texts(&mut self, texts: &BTreeMap<PathBuf, Option<String>>) -> Result<(), String> {
        let library = self.recording.world().library();
        if !library.is_live() {
            let (tick, running) = (self.recording.world().tick().min(MAX_LINK_TICK), self.running);
            self.reopen_scenario(tick)?;
            self.running = running;
            return Ok(());
        }
        let new = library.with_all(texts).map_err(|findings| crate::session::first_error(&findings))?;
        let tables = named(new.tables_of(texts.keys()));
        let texts = texts.iter().map(|(path, text)| (path.display().to_string(), text.clone())).collect();
        self.put(Input::Files { texts, tables })
    }
}

/// Converts paths to strings, because inputs identify files by strings.
fn named(texts: BTreeMap<PathBuf, String>) -> BTreeMap<String, String> {
    texts.into_iter().map(|(path, text)| (path.display().to_string(), text)).collect()
}

/// Records a new tick and emits its task records. Resimulated ticks are not recorded again.
fn record(event_log: &mut EventLog, session: &Session) {
    event_log.record(session);
    emit(session.library().rules(), &session.tick_facts().tasks);
}

fn observer_of<'s>(session: &'s Session, client: Option<&str>) -> Result<Observer<'s>, String> {
    session.observer(client).ok_or_else(|| format!("client {} does not exist", client.unwrap_or_default()))
}
