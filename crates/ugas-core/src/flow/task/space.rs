//! Distances between anchors, and changes of an activation's target. There is no spatial index: a search within a
//! radius visits every controller.

use crate::flow::ability::distance;
use crate::flow::foreign::Candidate;
use crate::flow::{Flow, TaskPlace, View};
use crate::state::Row;
use crate::{ActivationKey, ControllerId, Refusal, TagId, Target};

/// A controller that a search found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) who: ControllerId,
    /// Whether the replay of a search found it, which knows that the controller was in the sim and was not ignored.
    pub(crate) is_recorded: bool,
}

impl View<'_> {
    /// Returns the other controllers within a radius, sorted by distance and then by id.
    pub(crate) fn around(&self, slot: usize, radius: f64) -> Vec<ControllerId> {
        let row = self.row(slot);
        let Some(here) = row.side().anchor else { return Vec::new() };
        let others = self.st.controllers.iter().filter(|r| r.id != row.id);
        let mut found: Vec<(f64, ControllerId)> = others
            .filter_map(|r| Some((distance(here.position, r.side().anchor?.position), r.id)))
            .filter(|(d, _)| *d <= radius)
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|f| f.1).collect()
    }
}

impl Flow<'_> {
    /// Returns the other controllers within a radius, sorted by distance and then by id.
    pub(crate) fn around(&self, slot: usize, radius: f64) -> Vec<ControllerId> {
        self.view().around(slot, radius)
    }

    /// Returns whether the authoritative sim would accept a predicted target.
    pub(crate) fn may_report_target(&mut self, slot: usize, of: u64, target: Target) -> bool {
        if let Target::Controller(other) = target {
            self.journal_source(self.row(slot).id, other);
        }
        let a = self.row(slot).play().activation(of);
        a.is_some_and(|a| self.view().may_aim(slot, a, target).is_ok())
    }

    /// Changes the target of an activation, or takes the target of one tick of its cast.
    pub(crate) fn aim_op(&mut self, key: ActivationKey, target: Target, tick: Option<u32>) -> Result<(), Refusal> {
        let slot = self.slot(key.who)?;
        if let Target::Point(p) = target
            && !p.iter().all(|v| v.is_finite())
        {
            return Err(Refusal::BadValue { what: crate::BadValue::Position });
        }
        if let Some(tick) = tick {
            return self.take_tick_data(slot, key, tick, target);
        }
        if self.put_aim(slot, key, target) { Ok(()) } else { Err(Refusal::StaleHandle) }
    }

    pub(crate) fn put_aim(&mut self, slot: usize, key: ActivationKey, target: Target) -> bool {
        let who = key.who;
        let activations = &mut self.row_mut(slot).play_mut().activations;
        let found = activations.iter_mut().find(|a| a.key(who) == key);
        let is_there = found.is_some();
        if let Some(a) = found {
            a.target = target;
            a.targets.clear();
        }
        self.row_mut(slot).trim();
        self.refresh_aim(slot);
        is_there
    }

    /// Searches the other controllers within a radius for a task, sorted by distance and then by id. A replay finds the
    /// controllers where the journal recorded them, without those that had one of the ignored tags.
    pub(crate) fn search(&mut self, slot: usize, task: TaskPlace, radius: f64, ignore: &[TagId]) -> Vec<Found> {
        let found_now = |who| Found { who, is_recorded: false };
        if self.journals.is_empty() && self.replay.is_none() {
            return self.around(slot, radius).into_iter().map(found_now).collect();
        }
        let row = self.row(slot);
        let (who, Some(here)) = (row.id, row.side().anchor) else { return Vec::new() };
        let is_ignored = |r: &Row| ignore.iter().any(|&tag| r.has(&self.rules.tags, tag));
        let others = self.st.controllers.iter().filter(|r| r.id != who && !is_ignored(r));
        let others = others.filter_map(|r| Some((r.id, Some(r.side().anchor?.position))));
        let mut candidates: Vec<Candidate> = others.collect();
        let is_recorded = self.journal_candidates(who, task, &mut candidates);
        if !is_recorded {
            return self.around(slot, radius).into_iter().map(found_now).collect();
        }
        let distant = |(who, position): Candidate| Some((distance(here.position, position?), who));
        let mut found: Vec<_> = candidates.into_iter().filter_map(distant).filter(|(d, _)| *d <= radius).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, who)| Found { who, is_recorded: true }).collect()
    }

    /// Returns whether a controller that a search found is in the sim and has none of the ignored tags.
    pub(crate) fn may_choose(&self, found: Found, ignore: &[TagId]) -> bool {
        let at = self.st.controllers.slot(found.who);
        found.is_recorded || at.is_some_and(|at| !ignore.iter().any(|&tag| self.has(at, tag)))
    }
}
