//! A scenario on stage: the world follows the film of it, until somebody does something else.

use std::sync::Arc;
use ugas_core::{Facts, Role, Sim, SimTime};
use ugas_lab::Film;

/// What a file holds, and which of it is shown.
#[derive(Debug)]
pub(super) struct Listed {
    /// Every scenario's name.
    pub(super) names: Vec<String>,
    /// The place of the one that is shown.
    pub(super) at: usize,
    /// Its own seed.
    pub(super) seed: u64,
}

/// A scenario that is being shown.
#[derive(Clone)]
pub struct Script {
    film: Arc<Film>,
    listed: Arc<Listed>,
    /// Whether somebody did something that is not in it.
    left: bool,
    /// The time of the tick before.
    before: SimTime,
    now: SimTime,
}

impl Script {
    pub(super) fn new(film: Film, listed: Listed) -> Script {
        let now = film.moments.first().map_or(SimTime::ZERO, Sim::now);
        Script { film: Arc::new(film), listed: Arc::new(listed), left: false, before: now, now }
    }

    /// The film.
    pub fn film(&self) -> &Film {
        &self.film
    }

    /// The names of all scenarios in its file, as they stand there.
    pub fn names(&self) -> &[String] {
        &self.listed.names
    }

    /// Which of them this is, counted from 0.
    pub fn place(&self) -> usize {
        self.listed.at
    }

    /// The seed that its file says.
    pub fn own_seed(&self) -> u64 {
        self.listed.seed
    }

    /// What one of them is chosen by: its name, or its number where another has the name too.
    pub(crate) fn key(&self, at: usize) -> String {
        let names = self.names();
        match names.get(at) {
            Some(name) if names.iter().position(|n| n == name) == Some(at) => name.clone(),
            _ => (at + 1).to_string(),
        }
    }

    /// Whether the world still follows it.
    pub fn is_followed(&self) -> bool {
        !self.left
    }

    /// The first tick at which the whole scenario is over.
    pub(crate) fn last_tick(&self) -> u32 {
        (self.film.report.end.as_seconds() * f64::from(super::RATE)).ceil() as u32
    }

    pub(super) fn leave(&mut self) {
        self.left = true;
    }

    /// The tick's time has come: where something was done since, the world is as it was after that.
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

    /// What the film says happened in the tick.
    pub(super) fn tell(&self, facts: &mut Facts) {
        let of_tick = |f: &&ugas_core::Fact| f.at > self.before && f.at <= self.now;
        facts.list = self.film.report.facts.iter().filter(of_tick).copied().collect();
        facts.detail.clear();
    }
}
