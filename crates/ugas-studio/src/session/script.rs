//! A scenario in a session: the world follows its recorded states until an input changes it.

use std::sync::Arc;
use ugas_core::{Facts, Role, Sim, SimTime};
use ugas_lab::Film;

/// The scenarios of a file, and the current one.
#[derive(Debug)]
pub(super) struct ScenarioList {
    /// The names of all scenarios.
    pub(super) names: Vec<String>,
    /// The index of the current one.
    pub(super) at: usize,
    /// Its own seed.
    pub(super) seed: u64,
}

/// A scenario that a session follows.
#[derive(Clone)]
pub struct Script {
    film: Arc<Film>,
    listed: Arc<ScenarioList>,
    /// Whether an input changed the world.
    left: bool,
    /// The time of the previous tick.
    before: SimTime,
    now: SimTime,
}

impl Script {
    pub(super) fn new(film: Film, listed: ScenarioList) -> Script {
        let now = film.moments.first().map_or(SimTime::ZERO, Sim::now);
        Script { film: Arc::new(film), listed: Arc::new(listed), left: false, before: now, now }
    }

    /// Returns the recorded states and the report.
    pub fn film(&self) -> &Film {
        &self.film
    }

    /// Returns the names of all scenarios of the file, in order.
    pub fn names(&self) -> &[String] {
        &self.listed.names
    }

    /// Returns the index of this scenario.
    pub fn index(&self) -> usize {
        self.listed.at
    }

    /// Returns the seed of the file.
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

    /// Returns whether the world still follows it.
    pub fn is_followed(&self) -> bool {
        !self.left
    }

    /// Returns the first tick after the scenario ended.
    pub(crate) fn last_tick(&self) -> u32 {
        (self.film.report.end.as_seconds() * f64::from(super::RATE)).ceil() as u32
    }

    pub(super) fn leave(&mut self) {
        self.left = true;
    }

    /// Advances to a tick. If the scenario did something in it, the world becomes the recorded state.
    pub(super) fn play(&mut self, sim: &mut Sim) {
        (self.before, self.now) = (self.now, sim.now());
        if self.left {
            return;
        }
        let next = self.film.moments.partition_point(|m| m.now() <= self.now);
        let Some(shown) = next.checked_sub(1).map(|at| &self.film.moments[at]) else { return };
        if shown.now() > self.before {
            let time = self.now;
            *sim = shown.clone();
            sim.remote_mut().set_role(Role::Authority);
            sim.advance_to(time);
        }
    }

    /// Copies the recorded facts of the tick.
    pub(super) fn copy_facts(&self, facts: &mut Facts) {
        let of_tick = |f: &&ugas_core::Fact| f.at > self.before && f.at <= self.now;
        facts.list = self.film.report.facts.iter().filter(of_tick).copied().collect();
        facts.detail.clear();
    }
}
