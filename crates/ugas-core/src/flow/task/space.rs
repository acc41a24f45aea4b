//! Distances between anchors. Without a spatial index every controller with an anchor is visited.

use crate::flow::Flow;
use crate::flow::ability::distance;
use crate::rules::{Num, TargetPick};
use crate::{ActivationKey, ControllerId, Refusal, Role, TagId, Target};

/// Maximum number of stored targets.
const AIMS: usize = 256;

impl Flow<'_> {
    /// Returns the distance between two controllers, if both have anchors.
    pub(crate) fn distance(&self, a: ControllerId, b: ControllerId) -> Option<f64> {
        let place = |who| self.st.controllers.get(who)?.side().anchor;
        Some(distance(place(a)?.position, place(b)?.position))
    }

    /// Returns the other controllers within a radius, the nearest first, then by id.
    pub(super) fn around(&self, slot: usize, radius: f64) -> Vec<ControllerId> {
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

    /// Changes an ability's target. The target of a predicted tick is sent to the authoritative sim, which does not run
    /// that list. It runs all other lists itself.
    pub(super) fn set_target(
        &mut self,
        slot: usize,
        of: u64,
        pick: TargetPick,
        radius: Option<&Num>,
        ignore: &[TagId],
    ) {
        let radius = radius.map_or(Some(f64::INFINITY), |r| self.value_of(slot, of, r));
        let who = self.row(slot).id;
        let Some(a) = self.row(slot).play().activation(of) else { return };
        let (key, source) = (a.key(who), a.source);
        let passes = |&t: &ControllerId| {
            let at = self.st.controllers.slot(t);
            at.is_some_and(|at| !ignore.iter().any(|&tag| self.has(at, tag)))
        };
        let found = match pick {
            TargetPick::Nearest => radius.and_then(|r| self.around(slot, r).into_iter().find(passes)),
            TargetPick::Owner => Some(who),
            TargetPick::Instigator => Some(source).filter(passes),
            TargetPick::Nobody => None,
        };
        let target = found.map_or(Target::None, Target::Controller);
        let is_predicted = self.work.role == Role::Client && self.sc.predicted_targets.ticking == Some(key);
        if is_predicted && !self.may_report_target(slot, of, target) {
            return;
        }
        self.put_aim(slot, key, target);
        if is_predicted && self.replay.is_none() {
            if self.log.aims.len() >= AIMS {
                self.log.aims.remove(0);
            }
            self.log.aims.push((key, target));
        }
    }

    /// Returns whether the authoritative sim would accept a predicted target.
    fn may_report_target(&mut self, slot: usize, of: u64, target: Target) -> bool {
        if let Target::Controller(other) = target {
            self.journal_source(self.row(slot).id, other);
        }
        let a = self.row(slot).play().activation(of);
        a.is_some_and(|a| self.view().may_aim(slot, a, target).is_ok())
    }

    /// Changes the target of an activation.
    pub(crate) fn aim_op(&mut self, key: ActivationKey, target: Target) -> Result<(), Refusal> {
        let slot = self.slot(key.who)?;
        if let Target::Point(p) = target
            && !p.iter().all(|v| v.is_finite())
        {
            return Err(Refusal::BadValue { what: crate::BadValue::Position });
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

    /// Returns the nearest other controller.
    pub(super) fn nearest(&self, slot: usize) -> Option<ControllerId> {
        self.around(slot, f64::INFINITY).first().copied()
    }
}
