//! Which actors a schedule visits: those that changed, and those whose relevance changed.

use super::schedule::{Schedule, ScheduledActor};
use super::{ActorSlots, Interest, PacketPlan, RelevanceUpdate, ScheduleRequest, Viewer};
use crate::types::Tick;
use crate::view::ReplicationStore;
use ugas_core::ControllerId;

/// The number of changed actors per relevant actor from which on it is faster to visit all relevant actors than to go
/// through the list of changes.
const MANY: usize = 8;

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
        let is_synced = self.sync_slots(store, plan);
        let all = 0..self.relevant.len() as u32;
        let is_known = is_synced && changes.is_some();
        if std::mem::take(&mut self.evaluates_all) || !is_known || is_moved || self.owned != owned {
            self.evaluate_all(store, interest, request, plan);
        } else {
            if update == RelevanceUpdate::Once {
                let new = std::mem::take(&mut self.changed);
                new.iter().for_each(|&slot| self.evaluate_relevance(slot, store, interest, request, plan));
                self.changed = new;
            } else {
                for &slot in changes.into_iter().flatten() {
                    self.evaluate_relevance(slot, store, interest, request, plan);
                }
            }
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
            // If far more actors changed than are relevant, all relevant ones are visited. Those without a change are
            // dropped from the list again.
            Some(changes) if changes.len() / MANY < self.entries.len() => {
                changes.iter().for_each(|&slot| self.list_slot(slot));
            }
            Some(_) | None => self.list_all(),
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
        // An actor that moved to another slot stays at the client, which gets its full state again.
        plan.left.retain(|who| plan.entered.binary_search(who).is_err());
    }

    /// Requests a new evaluation of the relevance of all actors for the next packet.
    pub fn reevaluate(&mut self) {
        self.evaluates_all = true;
    }

    /// Matches the entries with the actors in the store, and lists the slots with another actor. Returns `false` if the
    /// store no longer knows which slots changed, so that all were matched.
    fn sync_slots(&mut self, store: &ReplicationStore, plan: &mut PacketPlan) -> bool {
        let count = store.owners().len();
        self.places.resize(count, 0);
        self.relevant.resize(count, false);
        self.left.resize(count, Tick(0));
        self.listed.resize(count, false);
        let filled = store.filled_after(self.synced);
        self.synced = store.filled_count();
        self.changed.clear();
        let all = 0..if filled.is_some() { 0 } else { count as u32 };
        for slot in filled.unwrap_or_default().iter().copied().chain(all) {
            let who = store.owners()[slot as usize];
            let known = self.relevant[slot as usize].then(|| self.entries[self.places[slot as usize] as usize].who);
            if known != Some(who) {
                plan.left.extend(known);
                self.remove_entry(slot);
                self.changed.push(slot);
            }
        }
        filled.is_some()
    }

    /// Makes the actor in a slot relevant. The client has nothing of it.
    fn add_entry(&mut self, who: ControllerId, slot: u32, tick: Tick) {
        self.relevant[slot as usize] = true;
        self.places[slot as usize] = self.entries.len() as u32;
        self.entries.push(ScheduledActor::new(who, slot, tick));
    }

    /// Removes the actor in a slot from the client's list of relevant actors, if it is in the list.
    fn remove_entry(&mut self, slot: u32) {
        if std::mem::take(&mut self.relevant[slot as usize]) {
            let at = self.places[slot as usize];
            self.entries.swap_remove(at as usize);
            if let Some(moved) = self.entries.get(at as usize) {
                self.places[moved.slot as usize] = at;
            }
        }
    }

    /// Evaluates the relevance of all actors.
    fn evaluate_all(
        &mut self,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let actors = ActorSlots { owners: store.owners(), positions: store.positions() };
        let mut changed = std::mem::take(&mut self.changed);
        changed.clear();
        interest.relevance.collect_changed(&request.viewer, actors, &self.relevant, &mut changed);
        // Own and always relevant actors are relevant, even if the relevance decides otherwise.
        let always = request.viewer.owned.iter().chain(&interest.always_relevant);
        changed.extend(always.filter_map(|&who| store.slot(who)).map(|slot| slot as u32));
        for &slot in &changed {
            let is_changed = !self.relevant[slot as usize];
            self.set_relevance(slot, store, interest, request, plan, is_changed);
        }
        self.changed = changed;
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
        if self.relevant[slot as usize] && !std::mem::replace(&mut self.listed[slot as usize], true) {
            self.visits.push(slot);
        }
    }

    /// Adds all relevant actors to the list to visit.
    pub(super) fn list_all(&mut self) {
        let Schedule { entries, listed, visits, .. } = self;
        let new = |slot: &u32| !std::mem::replace(&mut listed[*slot as usize], true);
        visits.extend(entries.iter().map(|entry| entry.slot).filter(new));
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
        let (who, was_relevant) = (store.owners()[slot as usize], self.relevant[slot as usize]);
        if who != ControllerId::NONE {
            let position = store.positions()[slot as usize];
            let is_relevant = interest.relevance.is_relevant(&request.viewer, who, position, was_relevant);
            self.set_relevance(slot, store, interest, request, plan, is_relevant);
        }
    }

    /// Makes the actor in a slot relevant or irrelevant. `decided` is the decision of the
    /// [`Relevance`](super::Relevance); owned and always relevant actors are relevant without it.
    fn set_relevance(
        &mut self,
        slot: u32,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
        decided: bool,
    ) {
        let (at, who) = (slot as usize, store.owners()[slot as usize]);
        let is_relevant = decided || request.viewer.owned.contains(&who) || interest.is_always_relevant(who);
        match (self.relevant[at], is_relevant) {
            (false, true) => {
                self.add_entry(who, slot, request.tick);
                plan.entered.push(who);
                self.list_slot(slot);
            }
            (true, false) => {
                self.remove_entry(slot);
                self.left[at] = request.tick;
                plan.left.push(who);
            }
            (true, true) | (false, false) => {}
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
