//! A scenario on stage: the world follows the film of it, until somebody does something else.

use std::sync::Arc;
use ugas_core::{Facts, Role, Sim, SimTime};
use ugas_lab::Film;

/// A scenario that is being shown.
#[derive(Clone)]
pub struct Script {
    film: Arc<Film>,
    /// Whether somebody did something that is not in it.
    left: bool,
    /// The time of the tick before.
    before: SimTime,
    now: SimTime,
}

impl Script {
    pub(super) fn new(film: Film) -> Script {
        let now = film.moments.first().map_or(SimTime::ZERO, Sim::now);
        Script { film: Arc::new(film), left: false, before: now, now }
    }

    /// The film.
    pub fn film(&self) -> &Film {
        &self.film
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
            sim.set_role(Role::Authority);
            sim.advance_to(time, &mut ugas_core::NoHost);
        }
    }

    /// What the film says happened in the tick.
    pub(super) fn tell(&self, facts: &mut Facts) {
        let of_tick = |f: &&ugas_core::Fact| f.at > self.before && f.at <= self.now;
        facts.list = self.film.report.facts.iter().filter(of_tick).copied().collect();
        facts.detail.clear();
    }
}
