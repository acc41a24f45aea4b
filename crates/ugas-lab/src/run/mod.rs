//! Runs a scenario. Time advances in steps. At the time of a timeline entry, the sim first processes everything that is
//! due, and then the `Do` list runs. A failed expectation is recorded as a failure at its line, and the run continues.

mod ability;
mod act;
mod bind;
mod capability;
mod expect;
pub(crate) mod live;
mod machines;
mod names;
mod note;
pub(crate) mod parts;
mod path_value;
pub(crate) mod recorded;
mod reload;
pub(crate) mod rollback;
mod streams;
pub(crate) mod world;

use crate::report::{Failure, Report};
use crate::scenario::{Place, Scenario, Step, Stream, Verb, for_each_step, is_word, needs_machines};
use ability::Handle;
use act::NEVER_SPAWNED;
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::{
    CapabilityView, ControllerId, Diagnostic, EffectKey, Fact, FactKind, Facts, Refusal, Role, Rules, Sim, SimConfig,
    SimTime, Trace,
};
use ugas_data::ReadError;
use ugas_net::client::ProxySnapshot;
use world::{BuildError, World};

/// The limit of time steps of one scenario.
pub(crate) const MAX_STRIDES: i64 = 10_000_000;
/// The limit of verbs of one scenario, repetitions included.
const MAX_VERBS: u64 = 10_000_000;
/// The limit of `advance_to` calls for one step.
const MAX_ADVANCES: u32 = 1_000;
/// The limit of failures in a report.
const MAX_FAILURES: usize = 100;
/// The limit of facts in one window.
const MAX_WINDOW: usize = 4_000_000;

/// Options that override values of the scenario file.
///
/// ```
/// let options = ugas_lab::RunOptions { seed: Some(7), ..Default::default() };
/// assert!(!options.keep_facts);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// The seed.
    pub seed: Option<u64>,
    /// The time step.
    pub step: Option<SimTime>,
    /// Whether the report contains every fact.
    pub keep_facts: bool,
    /// The time at which the run stops, after the timeline entry at that time has run.
    pub until: Option<SimTime>,
    /// Whether the fast paths of the runtime are switched off. Tests use this option; see [`SimConfig::slow_path`].
    pub slow_path: bool,
}

/// Returns the error of a timeline that needs more steps than a run may take.
fn too_many_steps(scenario: &Scenario, step: SimTime) -> Option<ReadError> {
    let last = scenario.timeline.last().filter(|m| m.at.0 / step.0.max(1) > MAX_STRIDES)?;
    let message = format!("{} needs more than {MAX_STRIDES} steps of {step}", last.at);
    Some(ReadError { help: Some("write a longer `Step:`".to_owned()), ..last.place.error(&scenario.file, message) })
}

fn into_errors(wrong: Vec<BuildError>) -> Vec<ReadError> {
    wrong.into_iter().map(BuildError::into_error).collect()
}

/// The effect of an `As` name.
#[derive(Clone, Copy, Debug)]
struct Applied {
    key: EffectKey,
    instant: bool,
}

/// A running scenario.
#[derive(Clone)]
pub(crate) struct Runner<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) world: World,
    pub(crate) sim: Sim,
    /// Controllers by actor; a despawned actor keeps its id.
    ids: BTreeMap<String, ControllerId>,
    who_is: BTreeMap<ControllerId, String>,
    applied: BTreeMap<String, Applied>,
    /// Grants, activations and ability sets by `As`.
    handles: BTreeMap<String, Handle>,
    marks: BTreeMap<String, u64>,
    /// The replicated state of remote actors on a client. The client does not run the effects and cues of remote
    /// actors.
    seen: BTreeMap<ControllerId, ProxySnapshot>,
    /// The capabilities of each actor as a session runs them. Those that run on one machine only are not in its sim.
    run_here: BTreeMap<ControllerId, Vec<CapabilityView>>,
    keeps: KeptStreams,
    buffer: Facts,
    facts: Facts,
    diagnostics: Vec<Diagnostic>,
    trace: Vec<Trace>,
    all_facts: Vec<Fact>,
    verbs: u64,
    failures: Vec<Failure>,
    stopped: bool,
    notes: Vec<String>,
}

/// The streams that expectations use; all other streams are dropped.
#[derive(Clone, Copy, Debug, Default)]
struct KeptStreams {
    window: bool,
    all: bool,
    diagnostics: bool,
    trace: bool,
}

impl Scenario {
    /// Checks the names and times of the scenario without running it.
    pub fn check(&self) -> Result<(), Vec<ReadError>> {
        let wrong: Vec<ReadError> = self.wrong().into_iter().map(BuildError::into_error).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Checks like [`Scenario::check`], but returns diagnostics with ids. If the scenario has the text of its file
    /// ([`Scenario::with_text`]), the diagnostics have exact positions and fixes.
    pub fn findings(&self) -> Vec<ugas_data::Diagnostic> {
        let text = self.text.clone().unwrap_or_default();
        self.wrong().into_iter().map(|w| w.into_finding(&self.file, &text)).collect()
    }

    fn wrong(&self) -> Vec<BuildError> {
        match World::build(self) {
            Ok(world) => {
                let mut errors = bind::check(&world, self);
                errors.extend(too_many_steps(self, self.step));
                errors.into_iter().map(BuildError::Read).collect()
            }
            Err(wrong) => wrong,
        }
    }

    /// Builds the rules from the scenario's packs and entities.
    ///
    /// ```
    /// let tree = &ugas_data::read_trees("idle.yaml", "Scenario: Idle").unwrap()[0];
    /// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
    /// assert_eq!(scenario.rules().unwrap().ability_list().count(), 0);
    /// ```
    pub fn rules(&self) -> Result<Arc<Rules>, Vec<ReadError>> {
        World::build(self).map(|world| world.rules).map_err(into_errors)
    }

    /// Runs the scenario.
    pub fn run(&self) -> Report {
        self.run_with(RunOptions::default())
    }

    /// Runs the scenario with options.
    ///
    /// ```
    /// let text = "Scenario: Idle\nTimeline: [{At: 1, Do: [{Expect: {Sim.Time: 2}}]}]";
    /// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
    /// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
    /// let report = scenario.run_with(ugas_lab::RunOptions::default());
    /// assert_eq!(report.failures[0].message, "expected Sim.Time to be 2, found 1");
    /// ```
    pub fn run_with(&self, options: RunOptions) -> Report {
        match Runner::played(self, options, &mut |_| {}) {
            Ok(runner) => runner.into_report(),
            Err(errors) => Report::broken(self, errors),
        }
    }
}

impl<'a> Runner<'a> {
    /// Builds the rules, resolves the names and spawns the actors.
    pub(crate) fn new(scenario: &'a Scenario, options: RunOptions) -> Result<Runner<'a>, Vec<ReadError>> {
        match needs_machines(scenario) {
            Some(error) => Err(vec![error]),
            None => Runner::of_machine(scenario, options),
        }
    }

    /// Like [`Runner::new`], for one of several machines.
    fn of_machine(scenario: &'a Scenario, options: RunOptions) -> Result<Runner<'a>, Vec<ReadError>> {
        let world = World::build(scenario).map_err(into_errors)?;
        let errors = bind::check(&world, scenario);
        if !errors.is_empty() {
            return Err(errors);
        }
        let step = options.step.unwrap_or(scenario.step);
        if let Some(error) = too_many_steps(scenario, step) {
            return Err(vec![error]);
        }
        let keeps = keeps_of(scenario, options);
        // Actors are spawned with the role of a server, because each machine adds local capability sets for itself.
        let role = if scenario.network.is_some() { Role::Authority } else { Role::Standalone };
        let config = SimConfig {
            role,
            seed: options.seed.unwrap_or(scenario.seed),
            trace: keeps.trace,
            frame: scenario.frame,
            screen: scenario.screen,
            slow_path: options.slow_path,
            ..SimConfig::default()
        };
        let mut runner = Runner {
            scenario,
            sim: Sim::new(world.rules.clone(), config),
            world,
            ids: BTreeMap::new(),
            who_is: BTreeMap::new(),
            applied: BTreeMap::new(),
            handles: BTreeMap::new(),
            marks: BTreeMap::new(),
            seen: BTreeMap::new(),
            run_here: BTreeMap::new(),
            keeps,
            buffer: Facts::default(),
            facts: Facts::default(),
            diagnostics: Vec::new(),
            trace: Vec::new(),
            all_facts: Vec::new(),
            verbs: 0,
            failures: Vec::new(),
            stopped: false,
            notes: Vec::new(),
        };
        for actor in scenario.actors.iter().filter(|a| a.spawned) {
            if let Err(refusal) = runner.spawn(actor) {
                let message = format!("cannot spawn the actor {}: {}", actor.name.text, runner.describe(refusal));
                runner.fail(actor.name.place, message, None);
            }
        }
        runner.collect(scenario.place);
        // The first window of facts starts with the timeline, so facts of spawning are dropped. Diagnostics and trace
        // entries of spawning are kept.
        runner.facts = Facts::default();
        Ok(runner)
    }

    /// Runs the timeline; calls `watch` after every time step and every `Do` list.
    pub(crate) fn play(&mut self, options: RunOptions, watch: &mut dyn FnMut(&Runner<'_>)) {
        let scenario = self.scenario;
        let step = options.step.unwrap_or(scenario.step);
        watch(self);
        for entry in &scenario.timeline {
            if options.until.is_some_and(|until| entry.at > until) {
                break;
            }
            self.advance(entry.at, step, entry.place, watch);
            if self.stopped {
                return;
            }
            self.run_steps(&entry.steps);
            self.close_windows(&entry.steps);
            watch(self);
            if self.stopped {
                return;
            }
        }
        if let Some(until) = options.until {
            self.advance(until, step, scenario.place, watch);
        }
    }

    fn advance(&mut self, to: SimTime, step: SimTime, place: Place, watch: &mut dyn FnMut(&Runner<'_>)) {
        while self.sim.now() < to && !self.stopped {
            let next = to.min(self.sim.now() + step);
            let mut calls = 0;
            while !self.sim.advance_to(next).finished {
                calls += 1;
                if calls >= MAX_ADVANCES {
                    let message = format!(
                        "expected the sim to reach {next}, found it at {} after the maximum number of steps",
                        self.sim.now()
                    );
                    self.fail(place, message, None);
                    self.stopped = true;
                    return;
                }
                self.collect(place);
            }
            self.collect(place);
            watch(self);
        }
    }

    fn run_steps(&mut self, steps: &[Step]) {
        for step in steps {
            if self.stopped {
                return;
            }
            self.verbs += 1;
            if self.verbs > MAX_VERBS {
                let message = format!("expected at most {MAX_VERBS} verbs, found more");
                self.fail(step.place, message, None);
                self.stopped = true;
                return;
            }
            match &step.verb {
                Verb::Repeat { times, steps } => {
                    for _ in 0..*times {
                        self.run_steps(steps);
                    }
                }
                Verb::Expect(list) => self.expect(list),
                Verb::ExpectStream { stream, entries } => self.expect_stream(*stream, entries),
                Verb::ExpectCount(list) => self.expect_counts(list),
                Verb::MarkHash { mark, actor } => match self.hash_of(actor.as_ref()) {
                    Ok(hash) => {
                        self.marks.insert(mark.text.clone(), hash);
                    }
                    Err(refusal) => {
                        let message = format!("expected a hash, found an error: {}", self.describe(refusal));
                        self.fail(step.place, message, None);
                    }
                },
                Verb::ExpectHash { mark, actor } => self.expect_hash(step.place, mark, actor.as_ref()),
                Verb::Reload(reload) => {
                    let outcome = self.reload(reload);
                    self.judge_reload(step, outcome);
                    self.collect(step.place);
                }
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
                | Verb::Wire(_) => {
                    // A refusal contains only the first failed check; a scenario may name any failed check.
                    let reasons = match (&step.verb, step.refused) {
                        (Verb::Ability(verb), Some(_)) => self.reasons_of(verb),
                        _ => Vec::new(),
                    };
                    let outcome = self.act(&step.verb);
                    self.judge(step, outcome, &reasons);
                    self.collect(step.place);
                }
            }
        }
    }

    /// Checks the outcome of a verb against its line.
    fn judge(&mut self, step: &Step, outcome: Result<(), Refusal>, reasons: &[Refusal]) {
        let message = match (outcome, step.refused) {
            (Ok(()), None) => return,
            (Err(_), None) if step.may_refuse => return,
            (Err(refusal), Some(kind)) if fits(&refusal, kind) || reasons.iter().any(|r| fits(r, kind)) => return,
            (Ok(()), Some(_)) if step.may_refuse => return,
            (Ok(()), Some(kind)) => format!("expected the refusal {kind}, but the verb succeeded"),
            (Err(refusal), Some(kind)) => {
                format!("expected the refusal {kind}, found {}: {}", refusal.kind(), self.describe(refusal))
            }
            (Err(refusal), None) => {
                format!("refused with {}: {}", refusal.kind(), self.describe(refusal))
            }
        };
        self.fail(step.place, message, None);
    }

    /// Collects the facts, diagnostics and trace of the sim.
    fn collect(&mut self, place: Place) {
        self.sim.take_facts(&mut self.buffer);
        if self.keeps.window {
            append(&mut self.facts, &self.buffer);
        }
        if self.keeps.all {
            self.all_facts.extend_from_slice(&self.buffer.list);
        }
        self.buffer.list.clear();
        self.buffer.detail.clear();
        let (mut diagnostics, mut trace) = (Vec::new(), Vec::new());
        self.sim.take_diagnostics(&mut diagnostics);
        self.sim.take_trace(&mut trace);
        if self.keeps.diagnostics {
            self.diagnostics.append(&mut diagnostics);
        }
        self.trace.append(&mut trace);
        let kept = self.facts.list.len().max(self.all_facts.len());
        if kept.max(self.diagnostics.len()).max(self.trace.len()) > MAX_WINDOW && !self.stopped {
            let message = format!("expected at most {MAX_WINDOW} facts in a window, found more");
            self.fail(place, message, None);
            self.stopped = true;
        }
    }

    /// Closes the windows of the streams that the `Do` list used.
    fn close_windows(&mut self, steps: &[Step]) {
        for_each_step(steps, &mut |step| {
            if let Verb::ExpectStream { stream, .. } = &step.verb {
                match stream {
                    Stream::Facts => self.facts = Facts::default(),
                    Stream::Diagnostics => self.diagnostics.clear(),
                    Stream::Trace => self.trace.clear(),
                }
            }
        });
    }

    /// Returns an actor's controller, or an id that never existed if it is not spawned yet.
    pub(crate) fn who(&self, actor: &str) -> ControllerId {
        self.ids.get(actor).copied().unwrap_or(NEVER_SPAWNED)
    }

    pub(crate) fn describe(&self, refusal: impl Into<Refusal>) -> String {
        self.with_names(&refusal.into().describe(&self.world.rules))
    }

    /// Replaces controller ids in a text with the names of actors.
    pub(crate) fn with_names(&self, text: &str) -> String {
        const WORD: &str = "controller ";
        let mut parts = text.split(WORD);
        let mut named = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let id = part[..digits].parse().ok().map(ControllerId);
            match id.and_then(|id| self.who_is.get(&id)) {
                Some(name) => named.extend([name, &part[digits..]]),
                None => named.extend([WORD, part]),
            }
        }
        named
    }

    fn fail(&mut self, place: Place, message: String, explanation: Option<String>) {
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(Failure {
                file: self.scenario.file.clone(),
                line: place.line,
                column: place.column,
                message,
                explanation,
            });
        }
    }

    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }

    fn into_report(mut self) -> Report {
        let hash = self.sim.hash();
        Report {
            file: self.scenario.file.clone(),
            line: self.scenario.place.line,
            scenario: self.scenario.name.clone(),
            failures: self.failures,
            errors: Vec::new(),
            facts: self.all_facts,
            notes: self.notes,
            end: self.sim.now(),
            hash,
        }
    }
}

/// Appends facts with their details.
fn append(to: &mut Facts, from: &Facts) {
    let moved = to.detail.len() as u32;
    to.detail.extend_from_slice(&from.detail);
    to.list.extend(from.list.iter().map(|fact| {
        let mut fact = *fact;
        if let FactKind::TaskRequest { detail, .. } | FactKind::GameplayEvent { detail, .. } = &mut fact.kind {
            detail.offset += moved;
        }
        fact
    }));
}

/// Returns whether a refusal matches a kind or an alias.
fn fits(refusal: &Refusal, kind: &str) -> bool {
    is_word(refusal.kind(), kind)
}

fn keeps_of(scenario: &Scenario, options: RunOptions) -> KeptStreams {
    let mut keeps = KeptStreams { all: options.keep_facts, ..KeptStreams::default() };
    for entry in &scenario.timeline {
        for_each_step(&entry.steps, &mut |step| match &step.verb {
            Verb::ExpectStream { stream, .. } => match stream {
                Stream::Facts => keeps.window = true,
                Stream::Diagnostics => keeps.diagnostics = true,
                Stream::Trace => keeps.trace = true,
            },
            Verb::ExpectCount(_) => keeps.window = true,
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
            | Verb::Repeat { .. }
            | Verb::Expect(_)
            | Verb::MarkHash { .. }
            | Verb::ExpectHash { .. } => {}
        });
    }
    keeps
}
