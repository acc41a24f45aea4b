//! Capabilities: small pieces of behavior of a controller that run in order at each frame.
//!
//! - `life.rs`: the stages of a capability and the steps between them, as one table.
//! - `pass.rs`: the frame work: which capabilities are asked, and in which order.
//! - `ask.rs`: the decisions of a document.
//! - `step.rs`: what a step does: effects and blocks of a document, or calls of code and the requests of the code.
//! - `block.rs`: blocks, switches and intervals.
//! - `reload.rs`: capabilities whose entries, documents or code differ under new rules.
//!
//! A capability is a record in the row. It acts only through effects, events, cues, blocks and activations, so that
//! saving, rollback, prediction and explanations work as for everything else.

mod ask;
mod block;
mod life;
mod pass;
mod reload;
mod step;

pub(crate) use block::{Blocker, is_interval, is_local_side};
pub(crate) use life::{LifeEvent, transition};
pub(crate) use pass::FrameTurn;
pub(crate) use reload::RequestCounts;
pub(crate) use step::CallBuffers;

use super::foreign::ForeignCheck;
use super::{Flow, Home, View};
use crate::rules::CapabilityEntry;
use crate::state::{CapabilityRecord, RecordKey, SetGrant, Stage};
use crate::{
    AbilitySetId, ActorId, CapabilityId, ControllerId, DiagnosticKind, EffectId, LimitKind, Refusal, Role, SimTime,
};
use std::collections::BTreeSet;

impl View<'_> {
    /// Returns whether a capability runs in the row on this machine.
    pub(crate) fn runs_in_row(&self, who: ControllerId, record: &CapabilityRecord) -> bool {
        self.has_behavior(record.class) && self.home_of(who, record.side) == Home::Row
    }

    /// Returns whether a class has a document or code here.
    pub(crate) fn has_behavior(&self, class: CapabilityId) -> bool {
        self.rules.capability_code(class).is_some()
            || self.rules.capability_def(class).is_some_and(|def| def.is_document)
    }

    /// Returns whether the attribute sets that a set of capabilities needs are registered.
    pub(crate) fn has_data_components(&self, slot: usize, set: AbilitySetId) -> bool {
        let needed = self.rules.ability_set_def(set).map_or(&[][..], |def| &def.sets);
        needed.iter().all(|needed| self.layout(slot).sets.contains(needed))
    }
}

impl Flow<'_> {
    /// Checks whether capabilities of a set can be added to a controller.
    pub(crate) fn admit_capabilities(&mut self, slot: usize, set: AbilitySetId) -> Result<(), Refusal> {
        let entries = self.rules.entries_of(set).len();
        if entries == 0 && !self.rules.is_capability_set(set) {
            return Ok(());
        }
        if self.work.role == Role::Client {
            return Err(Refusal::Authority);
        }
        let row = self.row(slot);
        if self.rules.is_capability_set(set) {
            let adds = self.rules.sets_in(set);
            let held = row.play().sets.iter().find(|held| {
                self.rules.is_capability_set(held.set)
                    && self.rules.sets_in(held.set).iter().any(|part| adds.contains(part))
            });
            if let Some(held) = held {
                return Err(Refusal::SetHeld { handle: held.seq });
            }
        }
        let who = row.id;
        self.checked(who, ForeignCheck::Rival(set), |flow| flow.check_rival(slot))?;
        let row = self.row(slot);
        let max = self.limits.capabilities_per_controller;
        if row.play().capabilities().records.len() + entries > max as usize {
            return Err(Refusal::Limit { what: LimitKind::Capabilities, max, link: self.cause.link });
        }
        Ok(())
    }

    /// Checks that no other controller with the same avatar has capabilities. An actor has the capabilities of one
    /// controller only. The avatar of a document is not one actor: all controllers of the document have it.
    fn check_rival(&self, slot: usize) -> Result<(), Refusal> {
        let row = self.row(slot);
        let avatar = row.avatar();
        let is_actor = avatar != ActorId::NONE && !self.rules.is_template_avatar(avatar);
        // Most avatars belong to one controller only.
        if !is_actor || self.st.controllers.with_avatar(avatar, row.id).is_none() {
            return Ok(());
        }
        let others = self.ix.capable.iter().filter(|&&other| other != row.id && !self.skips_action_on(other));
        let others = others.filter_map(|&other| self.st.controllers.get(other));
        let mut others = others.filter(|other| other.avatar() == avatar);
        let rival = others.find_map(|other| other.play().capabilities().records.first());
        rival.map_or(Ok(()), |record| Err(Refusal::SetHeld { handle: record.handle }))
    }

    /// Adds the capabilities of a granted set, in order.
    pub(crate) fn add_capabilities(&mut self, who: ControllerId, handle: u64, set: AbilitySetId) {
        let entries = self.rules.entries_of(set);
        let Some(slot) = self.st.controllers.slot(who).filter(|_| !entries.is_empty()) else { return };
        for (position, &place) in entries.iter().enumerate() {
            let Some(entry) = self.rules.capability_entry(place) else { continue };
            let record = new_record(entry, place.set, place.index, RecordKey { handle, position: position as u16 });
            self.row_mut(slot).play_mut().capabilities_mut().records.push(record);
        }
        self.report_missing_code(who, handle);
        self.journal_owner(who);
        self.outside_pass(who, |flow| {
            for position in 0..entries.len() {
                flow.start_life(who, RecordKey { handle, position: position as u16 });
            }
            flow.capabilities_changed(who);
        });
    }

    /// Runs steps of a row's capabilities outside the frame work. Sets that the capabilities ask to remove are removed
    /// afterwards.
    fn outside_pass(&mut self, who: ControllerId, run: impl FnOnce(&mut Self)) {
        let of_pass = std::mem::take(&mut self.sc.leaving);
        run(self);
        for handle in std::mem::replace(&mut self.sc.leaving, of_pass) {
            // A set whose attribute sets something else needs stays, as in the frame work.
            let _ = self.revoke_set(who, handle);
        }
    }

    /// Revokes a set for an op. A client learns from the server which capabilities its controller has.
    pub(crate) fn revoke_set_op(&mut self, who: ControllerId, handle: u64) -> Result<(), Refusal> {
        let play = self.row(self.slot(who)?).play();
        let is_capability_set = |held: &SetGrant| held.seq == handle && self.rules.is_capability_set(held.set);
        let has_capabilities = || play.capabilities().records.iter().any(|record| record.handle == handle);
        if self.work.role == Role::Client && (play.sets.iter().any(is_capability_set) || has_capabilities()) {
            return Err(Refusal::Authority);
        }
        self.revoke_set(who, handle)
    }

    /// Emits one diagnostic for each class of a new set that has neither a document nor code here.
    fn report_missing_code(&mut self, who: ControllerId, handle: u64) {
        let Some(row) = self.st.controllers.get(who) else { return };
        let of_grant = row.play().capabilities().records.iter().filter(|record| record.handle == handle);
        let missing = of_grant.filter(|record| !self.view().has_behavior(record.class));
        let missing: BTreeSet<(AbilitySetId, CapabilityId)> = missing.map(|r| (r.set, r.class)).collect();
        for (set, class) in missing {
            self.diagnose(who, EffectId::NONE, DiagnosticKind::CapabilityWithoutCode { set, class });
        }
    }

    /// Updates what depends on the capabilities of a row: the index of rows with capabilities, the listeners and the
    /// frame work.
    pub(crate) fn capabilities_changed(&mut self, who: ControllerId) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        self.row_mut(slot).trim();
        self.index_capabilities(slot);
        self.refresh_listeners(slot);
    }

    /// Updates the indexes of a row with capabilities, and wakes the row.
    pub(crate) fn index_capabilities(&mut self, slot: usize) {
        let row = self.st.controllers.row(slot);
        let who = row.id;
        let all = row.play().capabilities();
        if all.records.is_empty() && all.presets.is_empty() {
            self.ix.capable.remove(&who);
            self.ix.woken.remove(&who);
        } else {
            self.ix.capable.insert(who);
            self.ix.woken.insert(who);
        }
        self.ix.blockers.retain(|&(_, blocked)| blocked != who);
        let sources = all.blocks.iter().filter_map(|block| block::controller_of(block.source));
        self.ix.blockers.extend(sources.map(|source| (source, who)));
    }

    /// Removes the capabilities of a grant, from bottom to top. Returns their number.
    pub(crate) fn remove_capabilities(&mut self, who: ControllerId, handle: u64) -> u32 {
        self.remove_where(who, |record| record.handle == handle)
    }

    /// Removes all capabilities and blocks of a row that is being destroyed.
    pub(crate) fn remove_all_capabilities(&mut self, who: ControllerId) {
        let Some(row) = self.st.controllers.get(who) else { return };
        if row.play().capabilities.is_none() {
            return;
        }
        self.remove_where(who, |_| true);
        if let Some(slot) = self.st.controllers.slot(who) {
            self.row_mut(slot).play_mut().capabilities = None;
            self.capabilities_changed(who);
        }
    }

    /// Removes some capabilities of a row, from bottom to top. Returns their number.
    fn remove_where(&mut self, who: ControllerId, which: impl Fn(&CapabilityRecord) -> bool) -> u32 {
        let Some(row) = self.st.controllers.get(who) else { return 0 };
        let records = &row.play().capabilities().records;
        let keys: Vec<RecordKey> = records.iter().rev().filter(|r| which(r)).map(CapabilityRecord::key).collect();
        for &key in &keys {
            self.live(who, key, LifeEvent::Remove);
        }
        if !keys.is_empty() {
            self.capabilities_changed(who);
        }
        keys.len() as u32
    }

    /// Evaluates the sides of all capabilities again whose side depends on the owners of their controller. Called when
    /// this machine gains or loses control of a controller, when an avatar changes, and when a controller is added or
    /// removed.
    #[inline]
    pub(crate) fn owners_changed(&mut self) {
        if !self.ix.capable.is_empty() && self.rules.has_owner_sides() {
            self.evaluate_all_sides();
        }
    }

    fn evaluate_all_sides(&mut self) {
        // A replay changes its own rows only.
        let is_mine = |who: &ControllerId| !self.skips_action_on(*who);
        let capable: Vec<ControllerId> = self.ix.capable.iter().copied().filter(is_mine).collect();
        for who in capable {
            self.evaluate_sides(who);
        }
    }

    /// Starts the capabilities of a row that run on this machine now, and ends those that no longer do.
    pub(crate) fn evaluate_sides(&mut self, who: ControllerId) {
        self.journal_owner(who);
        let Some(row) = self.st.controllers.get(who) else { return };
        let view = self.view();
        let records = row.play().capabilities().records.iter();
        let moved = records.filter(|r| view.runs_in_row(who, r) != (r.stage != Stage::Elsewhere));
        let moved: Vec<(RecordKey, Stage)> = moved.map(|r| (r.key(), r.stage)).collect();
        if moved.is_empty() {
            return;
        }
        self.outside_pass(who, |flow| {
            for &(key, _) in moved.iter().rev().filter(|(_, stage)| *stage != Stage::Elsewhere) {
                flow.live(who, key, LifeEvent::Leave);
            }
            for &(key, _) in moved.iter().filter(|(_, stage)| *stage == Stage::Elsewhere) {
                flow.live(who, key, LifeEvent::Arrive);
                flow.set_up(who, key);
            }
            flow.capabilities_changed(who);
        });
    }
}

/// Returns the record of a new capability.
pub(crate) fn new_record(entry: &CapabilityEntry, set: AbilitySetId, index: u16, key: RecordKey) -> CapabilityRecord {
    CapabilityRecord {
        handle: key.handle,
        position: key.position,
        set,
        index,
        class: entry.class,
        side: entry.side,
        stage: Stage::Elsewhere,
        enabled: entry.enabled,
        ticks: entry.ticks,
        interval: entry.interval,
        last: SimTime::ZERO,
        acts: 0,
        effects: Vec::new(),
        state: Vec::new(),
    }
}
