//! Which actors a schedule visits: those that changed, and those whose relevance changed.

use super::schedule::{Schedule, ScheduledActor};
use super::{Interest, PacketPlan, RelevanceUpdate, ScheduleRequest, Viewer};
use crate::types::Tick;
use crate::view::ReplicationStore;
use ugas_core::ControllerId;

impl Schedule {
    /// Collects the actors to visit, and evaluates relevance where its inputs changed.
    pub(super) fn collect_visits(
        &mut self,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let Viewer { owned, targets, positions } = request.viewer;
        let changes = store.changes_after(self.read);
        self.read = store.change_count();
        let update = interest.relevance.update();
        let is_moved = self.positions != positions && update != RelevanceUpdate::Once;
        self.entries.resize(store.owners().len(), ScheduledActor::FREE);
        let all = 0..self.entries.len() as u32;
        let evaluates_all =
            std::mem::take(&mut self.evaluates_all) || changes.is_none() || is_moved || self.owned != owned;
        match changes {
            Some(changes) => {
                for &slot in changes {
                    let is_new = self.sync_slot(slot, store, plan);
                    if !evaluates_all && (is_new || update != RelevanceUpdate::Once) {
                        self.evaluate_relevance(slot, store, interest, request, plan);
                    }
                }
            }
            None => {
                for slot in all.clone() {
                    self.sync_slot(slot, store, plan);
                }
            }
        }
        if evaluates_all {
            all.clone().for_each(|slot| self.evaluate_relevance(slot, store, interest, request, plan));
        } else {
            self.evaluate_targets(store, interest, request, plan);
            if let RelevanceUpdate::Every(ticks) = update
                && self.last_evaluation != request.tick
            {
                let ticks = ticks.max(1);
                // Each tick evaluates another part of the actors.
                let part = all.clone().skip((request.tick.0 % ticks) as usize).step_by(ticks as usize);
                part.for_each(|slot| self.evaluate_relevance(slot, store, interest, request, plan));
            }
        }
        match changes {
            Some(changes) => changes.iter().for_each(|&slot| self.list_slot(slot)),
            None => all.for_each(|slot| self.list_slot(slot)),
        }
        for slot in targets.iter().filter_map(|&who| store.slot(who)) {
            self.list_slot(slot as u32);
        }
        self.last_evaluation = request.tick;
        copy_if_changed(&mut self.positions, positions);
        copy_if_changed(&mut self.owned, owned);
        copy_if_changed(&mut self.targets, targets);
        plan.left.sort_unstable();
        plan.entered.sort_unstable();
    }

    /// Requests a new evaluation of the relevance of all actors for the next packet.
    pub fn reevaluate(&mut self) {
        self.evaluates_all = true;
    }

    /// Matches the entry of a slot with the actor in the store. Returns whether the actor is new.
    fn sync_slot(&mut self, slot: u32, store: &ReplicationStore, plan: &mut PacketPlan) -> bool {
        let (entry, who) = (&mut self.entries[slot as usize], store.owners()[slot as usize]);
        if entry.who == who {
            return false;
        }
        plan.left.extend(entry.is_relevant.then_some(entry.who));
        entry.restart(who, false, Tick(0));
        true
    }

    /// Evaluates the relevance of the actors that became a target or are no longer one.
    fn evaluate_targets(
        &mut self,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        if self.targets == request.viewer.targets {
            return;
        }
        let old = std::mem::take(&mut self.targets);
        for slot in old.iter().chain(request.viewer.targets).filter_map(|&who| store.slot(who)) {
            self.evaluate_relevance(slot as u32, store, interest, request, plan);
        }
        self.targets = old;
    }

    /// Adds a relevant actor to the list to visit.
    pub(super) fn list_slot(&mut self, slot: u32) {
        if let Some(entry) = self.entries.get_mut(slot as usize)
            && entry.is_relevant
            && !std::mem::replace(&mut entry.is_listed, true)
        {
            self.visits.push(slot);
        }
    }

    /// Evaluates the relevance of the actor in a slot.
    fn evaluate_relevance(
        &mut self,
        slot: u32,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let entry = &mut self.entries[slot as usize];
        let (who, was_relevant) = (entry.who, entry.is_relevant);
        if who == ControllerId::NONE {
            return;
        }
        let position = store.positions()[slot as usize];
        let is_relevant = request.viewer.owned.contains(&who)
            || interest.relevance.is_relevant(&request.viewer, who, position, was_relevant)
            || interest.is_always_relevant(who);
        if is_relevant != was_relevant {
            entry.restart(who, is_relevant, request.tick);
            if is_relevant { &mut plan.entered } else { &mut plan.left }.push(who);
            self.list_slot(slot);
        }
    }
}

/// Copies a list if it differs.
fn copy_if_changed<T: Copy + PartialEq>(known: &mut Vec<T>, now: &[T]) {
    if known != now {
        known.clear();
        known.extend_from_slice(now);
    }
}
