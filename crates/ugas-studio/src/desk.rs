//! The desk: one world, its recording, and everything a page can ask of it, as JSON in and JSON out.
//!
//! A page, a test and a browser that runs the world itself all talk to the same desk. It never panics on what it is asked;
//! what it cannot do it says in a sentence under `error`.

use crate::ask;
use crate::stage::{Input, Stage};
use crate::tape::{Tape, World};
use crate::view;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use ugas_core::{Fact, FactKind, Sim};
use ugas_net::client::Certainty;

/// Facts that are remembered.
const MOST_TOLD: usize = 20_000;
/// Ticks that one call may run, so that a slow machine falls behind instead of standing still.
const MOST_TICKS: u32 = 240;
/// The latest tick that a link may name: ten minutes.
const LATEST: u32 = 10 * 60 * crate::stage::RATE;

/// How a world begins from a seed.
pub type Boot = Box<dyn Fn(u64) -> Result<Stage, String> + Send>;

/// Something that happened, as it is listed.
#[derive(Clone, Debug)]
struct Told {
    serial: u64,
    tick: u32,
    /// The client's place among the sides; none for the server.
    client: Option<usize>,
    certainty: Option<Certainty>,
    fact: Fact,
}

/// What a page asks.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Ask {
    /// What there is to know once.
    Hello,
    /// How things are, and what happened since.
    Frame {
        #[serde(default)]
        since: u64,
        /// Whose details: the client's name (none for the server) and the actor's.
        #[serde(default)]
        watch: Vec<(Option<String>, String)>,
    },
    Play,
    Pause,
    Step {
        #[serde(default = "one")]
        ticks: u32,
    },
    Speed {
        times: f64,
    },
    Seek {
        tick: u32,
    },
    Fork,
    Undo,
    Put {
        input: Input,
    },
    Explain {
        #[serde(default)]
        side: Option<String>,
        who: String,
        attribute: String,
    },
    Chain {
        serial: u64,
    },
    Figures,
    Files,
    File {
        name: String,
    },
    Check {
        file: String,
        text: String,
    },
    Moment,
    Open {
        seed: u64,
        #[serde(default)]
        tick: u32,
        #[serde(default)]
        inputs: Vec<(u32, Input)>,
    },
}

fn one() -> u32 {
    1
}

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
    boot: Boot,
    tape: Tape<Stage>,
    running: bool,
    speed: f64,
    /// Parts of a tick that have passed.
    rest: f64,
    told: VecDeque<Told>,
    serial: u64,
    /// Microseconds of a step, smoothed.
    step_us: f64,
    /// Bytes sent by the server until each of the last ticks.
    sent: VecDeque<(u32, u64)>,
}

impl Desk {
    /// A world from a seed, running.
    pub fn new(boot: Boot, seed: u64) -> Result<Desk, String> {
        let tape = Tape::new(boot(seed)?);
        Ok(Desk {
            boot,
            tape,
            running: true,
            speed: 1.0,
            rest: 0.0,
            told: VecDeque::new(),
            serial: 0,
            step_us: 0.0,
            sent: VecDeque::new(),
        })
    }

    /// The recording.
    pub fn tape(&self) -> &Tape<Stage> {
        &self.tape
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
        }
        if due > 0.0 {
            let one = (clock() - before) / due;
            self.step_us = if self.step_us == 0.0 { one } else { self.step_us * 0.95 + one * 0.05 };
        }
    }

    /// Answers a request in JSON.
    pub fn answer(&mut self, request: &str) -> String {
        let asked: Result<Ask, _> = serde_json::from_str(request);
        let answer = match asked {
            Ok(asked) => self.reply(asked),
            Err(error) => Err(format!("this is no request: {error}")),
        };
        match answer {
            Ok(value) => value.to_string(),
            Err(error) => json!({ "error": error }).to_string(),
        }
    }

    fn reply(&mut self, asked: Ask) -> Result<Value, String> {
        match asked {
            Ask::Hello => return Ok(self.hello()),
            Ask::Frame { since, watch } => return Ok(self.frame(since, &watch)),
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
                self.tape.seek(tick);
                self.sent.clear();
            }
            Ask::Fork => self.fork(),
            Ask::Undo => {
                if !self.tape.undo() {
                    return Err("there is nothing to take back".to_owned());
                }
            }
            Ask::Put { input } => {
                if let Input::Edit { file, text } = &input {
                    self.edit(file, text)?;
                }
                self.fork();
                self.tape.put(input)?;
            }
            Ask::Explain { side, who, attribute } => {
                let stage = self.tape.world();
                let sim = side_of(stage, side.as_deref())?;
                let who = stage.who(&who).ok_or_else(|| format!("{who} is not there"))?;
                return Ok(json!(ask::why(stage, sim, who, &attribute)?));
            }
            Ask::Chain { serial } => {
                let told = self.told.iter().find(|t| t.serial == serial).ok_or("this is too long ago")?;
                let stage = self.tape.at(told.tick);
                return Ok(json!(ask::chain(&stage, &told.fact)));
            }
            Ask::Figures => return Ok(self.figures()),
            Ask::Files => {
                let library = self.tape.world().library();
                return Ok(json!(library.files().map(|s| s.name.to_string()).collect::<Vec<_>>()));
            }
            Ask::File { name } => {
                let text = self.tape.world().library().text(&name).ok_or_else(|| format!("there is no file {name}"))?;
                return Ok(json!({ "name": name, "text": text }));
            }
            Ask::Check { file, text } => return Ok(json!(self.tape.world().library().check(&file, &text))),
            Ask::Moment => {
                let (stage, now) = (self.tape.world(), self.tape.world().tick());
                let inputs: Vec<_> = self.tape.inputs().iter().filter(|(at, _)| *at <= now).collect();
                return Ok(json!({ "seed": stage.seed(), "tick": now, "inputs": inputs }));
            }
            Ask::Open { seed, tick, inputs } => self.open(seed, tick, inputs)?,
        }
        Ok(json!({ "tick": self.tape.world().tick() }))
    }

    /// The world of a seed at a tick, with what was done until then.
    fn open(&mut self, seed: u64, tick: u32, inputs: Vec<(u32, Input)>) -> Result<(), String> {
        if tick > LATEST {
            return Err(format!("a link leads at most to tick {LATEST}"));
        }
        let mut tape = Tape::new((self.boot)(seed)?);
        let mut inputs = inputs.into_iter().peekable();
        let mut fresh = Fresh { told: VecDeque::new(), serial: self.serial };
        loop {
            while let Some((_, input)) = inputs.next_if(|(at, _)| *at <= tape.world().tick()) {
                tape.put(input)?;
            }
            if tape.world().tick() >= tick {
                break;
            }
            tape.step();
            fresh.note(tape.world());
        }
        (self.tape, self.told, self.serial) = (tape, fresh.told, fresh.serial);
        (self.running, self.rest) = (tick == 0, 0.0);
        self.sent.clear();
        Ok(())
    }

    fn step(&mut self) {
        let live = self.tape.is_live();
        self.tape.step();
        let stage = self.tape.world();
        let total: u64 = stage.net().players().iter().map(|p| p.down.counts().bytes).sum();
        self.sent.push_back((stage.tick(), total));
        while self.sent.len() > crate::stage::RATE as usize + 1 {
            self.sent.pop_front();
        }
        if live {
            let mut fresh = Fresh { told: std::mem::take(&mut self.told), serial: self.serial };
            fresh.note(stage);
            (self.told, self.serial) = (fresh.told, fresh.serial);
        }
    }

    fn fork(&mut self) {
        self.tape.fork();
        let now = self.tape.world().tick();
        self.told.retain(|t| t.tick <= now);
    }

    /// What is wrong with a text, as a sentence with its place; nothing is done.
    fn edit(&self, file: &str, text: &str) -> Result<(), String> {
        match self.tape.world().library().with(file, text) {
            Ok(_) => Ok(()),
            Err(findings) => Err(json!(findings).to_string()),
        }
    }

    fn hello(&mut self) -> Value {
        let stage = self.tape.world();
        let rules = stage.library().rules();
        let names = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
        json!({
            "duel": stage.duel_state().is_some(),
            "rate": crate::stage::RATE,
            "seed": stage.seed(),
            "effects": names(rules.effect_list().map(|(_, n)| n).collect()),
            "abilities": names(rules.ability_list().map(|(_, n)| n).collect()),
            "inputs": names(rules.input_list().map(|(_, n)| n).collect()),
            "tags": names(rules.tag_ids().filter_map(|t| rules.tag_name(t)).collect()),
            "files": stage.library().files().map(|s| s.name.to_string()).collect::<Vec<_>>(),
            "scenario": stage.script().map(scenario),
        })
    }

    /// What costs what: per kind of task, and how much there is of everything.
    fn figures(&self) -> Value {
        let stage = self.tape.world();
        let sim = stage.sim();
        let tasks: Vec<Value> = sim
            .task_figures()
            .iter()
            .map(|f| {
                json!({
                    "task": sim.rules().task_kind_name(f.task),
                    "instances": f.running,
                    "average_us": f.average() / 1e3,
                    "rate": f.rate(),
                })
            })
            .collect();
        let count = |of: &dyn Fn(ugas_core::ControllerId) -> usize| sim.controllers().map(of).sum::<usize>();
        json!({
            "tasks": tasks,
            "controllers": sim.controllers().count(),
            "effects": count(&|who| sim.each_effect(who).map_or(0, Iterator::count)),
            "abilities": count(&|who| sim.grants(who).map_or(0, |g| g.len())),
            "running": count(&|who| sim.activations(who).map_or(0, Iterator::count)),
            "waiting_tasks": count(&|who| sim.tasks(who).map_or(0, |t| t.len())),
            "step_us": self.step_us,
            "recorded": self.tape.end() - self.tape.start(),
        })
    }

    fn frame(&mut self, since: u64, watch: &[(Option<String>, String)]) -> Value {
        let hash = self.tape.world_mut().hash();
        let stage = self.tape.world();
        let (round_trip, loss) = stage.link();
        let details: Vec<Value> = watch
            .iter()
            .map(|(side, name)| {
                let sim = side_of(stage, side.as_deref()).ok();
                let detail = sim.zip(stage.who(name)).and_then(|(sim, who)| view::detail(stage, sim, who));
                json!({ "side": side, "name": name, "detail": detail })
            })
            .collect();
        let bytes = match (self.sent.front(), self.sent.back()) {
            (Some((from, first)), Some((to, last))) if to > from => {
                last.saturating_sub(*first) as f64 * f64::from(crate::stage::RATE) / f64::from(to - from)
            }
            _ => 0.0,
        };
        let news: Vec<Value> = self.told.iter().filter(|t| t.serial > since).map(|t| self.line(stage, t)).collect();
        json!({
            "tick": stage.tick(),
            "start": self.tape.start(),
            "end": self.tape.end(),
            "live": self.tape.is_live(),
            "running": self.running,
            "speed": self.speed,
            "hash": format!("{hash:016x}"),
            "step_us": self.step_us,
            "bytes_a_second": bytes,
            "round_trip": round_trip,
            "loss": loss,
            "taken": stage.duel_state().is_some_and(|d| d.is_taken()),
            "shots": stage.range().map(|r| r.shots_a_minute()),
            "twice": stage.range().map(|r| r.shown_twice()),
            "done": self.tape.inputs().len(),
            "sides": view::sides(stage),
            "details": details,
            "serial": self.serial,
            "news": news,
        })
    }

    fn line(&self, stage: &Stage, told: &Told) -> Value {
        let client = told.client.and_then(|at| stage.net().players().get(at)).map(|p| p.name());
        let mut line = json!({
            "serial": told.serial,
            "tick": told.tick,
            "client": client,
            "certainty": told.certainty.map(|c| format!("{c:?}")),
            "who": stage.name(told.fact.who),
            "kind": told.fact.kind.name(),
            "text": ask::in_words(stage, &told.fact),
        });
        if let FactKind::AttributeChanged { attribute, new, .. } = told.fact.kind {
            line["attribute"] = json!(stage.library().rules().attribute_name(attribute));
            line["value"] = json!(new);
        }
        line
    }
}

/// What came of a scenario, with the ticks at which something did not hold.
fn scenario(script: &crate::stage::Script) -> Value {
    let report = &script.film().report;
    let tick = |at: ugas_core::SimTime| (at.as_seconds() * f64::from(crate::stage::RATE)).ceil() as u32;
    let failures: Vec<Value> = script
        .film()
        .failed
        .iter()
        .filter_map(|(at, i)| Some((tick(*at), report.failures.get(*i)?)))
        .map(|(tick, f)| json!({ "tick": tick, "line": f.line, "message": f.message, "why": f.explanation }))
        .collect();
    json!({
        "name": report.scenario,
        "file": &*report.file,
        "line": report.line,
        "end": tick(report.end),
        "notes": report.notes,
        "failures": failures,
    })
}

/// What happened, while it is gathered.
struct Fresh {
    told: VecDeque<Told>,
    serial: u64,
}

impl Fresh {
    fn note(&mut self, stage: &Stage) {
        let (tick, news) = (stage.tick(), stage.news());
        for fact in &news.facts.list {
            self.push(tick, None, None, fact);
        }
        for (at, told) in news.told.iter().enumerate() {
            // What a client hears or has confirmed is what the server did.
            for (fact, certainty) in told.iter().filter(|(_, c)| *c == Certainty::Undone) {
                self.push(tick, Some(at), Some(certainty), fact);
            }
        }
    }

    fn push(&mut self, tick: u32, client: Option<usize>, certainty: Option<Certainty>, fact: &Fact) {
        self.serial += 1;
        if self.told.len() >= MOST_TOLD {
            self.told.pop_front();
        }
        self.told.push_back(Told { serial: self.serial, tick, client, certainty, fact: *fact });
    }
}

fn side_of<'s>(stage: &'s Stage, client: Option<&str>) -> Result<&'s Sim, String> {
    stage.side(client).ok_or_else(|| format!("no client is named {}", client.unwrap_or_default()))
}
