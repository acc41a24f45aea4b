//! A scenario in a session. The world follows the recorded states of the scenario until an input changes the world.

use std::sync::Arc;
use ugas_core::{Fact, Facts, Sim, SimTime};
use ugas_lab::RecordedRun;

/// The scenarios of a file, and which of them is current.
#[derive(Debug)]
pub(super) struct ScenarioList {
    /// The names of all scenarios.
    pub(super) names: Vec<String>,
    /// The index of the current scenario.
    pub(super) at: usize,
    /// The seed that the scenario file sets.
    pub(super) seed: u64,
}

/// A scenario that a session follows.
#[derive(Clone)]
pub struct Script {
    run: Arc<RecordedRun>,
    listed: Arc<ScenarioList>,
    /// Whether an input changed the world, so that the world no longer follows the scenario.
    diverged: bool,
    /// The time of the previous tick.
    before: SimTime,
    now: SimTime,
}

impl Script {
    pub(super) fn new(run: RecordedRun, listed: ScenarioList) -> Script {
        let now = run.snapshots.first().map_or(SimTime::ZERO, Sim::now);
        Script { run: Arc::new(run), listed: Arc::new(listed), diverged: false, before: now, now }
    }

    /// Returns the recorded run of the scenario: its states and its report.
    pub fn run(&self) -> &RecordedRun {
        &self.run
    }

    /// Returns the names of all scenarios of the file, in order.
    pub fn names(&self) -> &[String] {
        &self.listed.names
    }

    /// Returns the index of this scenario in [`Script::names`].
    pub fn index(&self) -> usize {
        self.listed.at
    }

    /// Returns the seed that the scenario file sets.
    pub fn own_seed(&self) -> u64 {
        self.listed.seed
    }

    /// Returns the key that selects a scenario: its name, or its number if the name is not unique.
    pub(crate) fn key(&self, at: usize) -> String {
        let names = self.names();
        match names.get(at) {
            Some(name) if names.iter().position(|n| n == name) == Some(at) => name.clone(),
            _ => (at + 1).to_string(),
        }
    }

    /// Returns whether the world still follows the recorded scenario.
    pub fn is_followed(&self) -> bool {
        !self.diverged
    }

    /// Returns the first tick after the scenario ended.
    pub(crate) fn last_tick(&self) -> u32 {
        (self.run.report.end.as_seconds() * f64::from(super::RATE)).ceil() as u32
    }

    pub(super) fn diverge(&mut self) {
        self.diverged = true;
    }

    /// Advances to a tick. If timeline entries of the scenario ran in that tick, the world becomes the recorded state.
    pub(super) fn play(&mut self, sim: &mut Sim) {
        (self.before, self.now) = (self.now, sim.now());
        if self.diverged {
            return;
        }
        let next = self.run.snapshots.partition_point(|m| m.now() <= self.now);
        let Some(shown) = next.checked_sub(1).map(|at| &self.run.snapshots[at]) else { return };
        if shown.now() > self.before {
            let time = self.now;
            *sim = shown.clone();
            sim.advance_to(time);
        }
    }

    /// Returns the recorded facts up to the start of the world.
    pub(super) fn first_facts(&self) -> Vec<Fact> {
        self.run.report.facts.iter().filter(|f| f.at <= self.now).copied().collect()
    }

    /// Copies the recorded facts of the tick.
    pub(super) fn copy_facts(&self, facts: &mut Facts) {
        let of_tick = |f: &&Fact| f.at > self.before && f.at <= self.now;
        facts.list = self.run.report.facts.iter().filter(of_tick).copied().collect();
        facts.detail.clear();
    }
}
