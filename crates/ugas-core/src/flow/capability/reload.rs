//! Capabilities under new rules. An entry of the old rules is the same as an entry of the new rules if the same set
//! lists it, with the same class, and it has the same place among the entries of that class. The record of such an
//! entry keeps its stage and its state. All other records are removed under the old rules, and all other entries start
//! their life under the new rules.

use super::block::is_local_side;
use super::life::LifeEvent;
use super::new_record;
use crate::flow::{Flow, Home};
use crate::migration::Migration;
use crate::rules::{CapabilityDef, CapabilityEntry, EntryPlace, Rules};
use crate::state::{Block, Capabilities, CapabilityRecord, RecordKey, Stage};
use crate::{
    AbilitySetId, BlockSource, CapabilityId, ControllerId, DiagnosticKind, EffectId, EffectKey, LimitKind, Refusal,
    SimTime,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What identifies an entry under both rules: its set, its class, and its place among the entries of this class.
type EntryName = (AbilitySetId, CapabilityId, usize);

/// How many requests the capabilities of a grant made, for each grant whose capabilities ended during a reload.
pub(crate) type RequestCounts = BTreeMap<(ControllerId, u64), u32>;

/// Returns the entries of a set with their names, in the order in which they run.
fn named_entries(rules: &Rules, set: AbilitySetId) -> Vec<(EntryPlace, EntryName)> {
    let mut counts: BTreeMap<(AbilitySetId, CapabilityId), usize> = BTreeMap::new();
    let named = |place: EntryPlace| {
        let class = rules.capability_entry(place)?.class;
        let count = counts.entry((place.set, class)).or_default();
        *count += 1;
        Some((place, (place.set, class, *count)))
    };
    rules.entries_of(set).into_iter().filter_map(named).collect()
}

/// How a class behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Nothing,
    Document,
    Code,
}

fn behavior(rules: &Rules, class: CapabilityId) -> Behavior {
    match (rules.capability_code(class), rules.capability_def(class)) {
        (Some(_), _) => Behavior::Code,
        (None, Some(def)) if def.is_document => Behavior::Document,
        (None, _) => Behavior::Nothing,
    }
}

/// Returns whether the last evaluation of a capability matters.
fn needs_time(rules: &Rules, class: CapabilityId, interval: SimTime) -> bool {
    interval > SimTime::ZERO || rules.capability_code(class).is_some_and(|code| code.watch.is_none())
}

impl Flow<'_> {
    /// Ends the capabilities of a row that cannot continue under the new rules, from bottom to top: those whose entry
    /// does not exist any more are removed; those whose class behaves in another way, or whose new side does not run
    /// here, leave the row. Returns whether a capability ended.
    pub(crate) fn retire_capabilities(
        &mut self,
        slot: usize,
        next: &Rules,
        counts: &mut RequestCounts,
        report: &mut Migration,
    ) -> Result<bool, Refusal> {
        let row = self.row(slot);
        let who = row.id;
        let held: Vec<(u64, AbilitySetId)> = row.play().sets.iter().map(|held| (held.seq, held.set)).collect();
        let mut ends: Vec<(RecordKey, bool)> = Vec::new();
        let mut total = 0;
        for (handle, set) in held {
            let (old, new) = (named_entries(self.rules, set), named_entries(next, set));
            total += new.len();
            let kept: BTreeMap<EntryName, EntryPlace> = new.into_iter().map(|(place, name)| (name, place)).collect();
            let of_grant = self.row(slot).play().capabilities().records.iter().filter(|r| r.handle == handle);
            for record in of_grant {
                let name = old.get(record.position as usize).map(|entry| entry.1);
                let place = name.and_then(|name| kept.get(&name));
                match place.and_then(|&place| next.capability_entry(place)) {
                    None => ends.push((record.key(), true)),
                    Some(entry) if self.must_leave(who, record, entry, next) => ends.push((record.key(), false)),
                    Some(_) => {}
                }
            }
        }
        let max = self.limits.capabilities_per_controller;
        if total > max as usize {
            return Err(Refusal::Limit { what: LimitKind::Capabilities, max, link: self.cause.link });
        }
        for &(key, is_removed) in ends.iter().rev() {
            self.live(who, key, LifeEvent::Leave);
            let acts = self.record(who, key).map_or(0, |record| record.acts);
            let most = counts.entry((who, key.handle)).or_default();
            *most = acts.max(*most);
            if is_removed {
                self.live(who, key, LifeEvent::Remove);
            }
        }
        report.capabilities_ended += ends.len() as u32;
        if !ends.is_empty() {
            self.capabilities_changed(who);
        }
        Ok(!ends.is_empty())
    }

    /// Returns whether a capability must end under the old rules although its entry still exists.
    fn must_leave(&self, who: ControllerId, record: &CapabilityRecord, entry: &CapabilityEntry, next: &Rules) -> bool {
        let class = record.class;
        let is_other = behavior(self.rules, class) != behavior(next, class)
            || is_local_side(record.side) != is_local_side(entry.side)
            || self.view().home_of(who, entry.side) != Home::Row;
        record.stage != Stage::Elsewhere && is_other
    }

    /// Moves the records of a row to the entries of the new rules. Returns the keys of the entries that are new.
    pub(crate) fn move_capabilities(&mut self, slot: usize, past: &Rules, counts: &RequestCounts) -> Vec<RecordKey> {
        let row = self.row(slot);
        let (who, now) = (row.id, self.local_now(slot));
        let held: Vec<(u64, AbilitySetId)> = row.play().sets.iter().map(|held| (held.seq, held.set)).collect();
        if held.is_empty() {
            return Vec::new();
        }
        let Capabilities { mut records, mut blocks, presets, due: _ } = row.play().capabilities().clone();
        let (mut all, mut moved, mut added) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (handle, set) in held {
            let (old, new) = (named_entries(past, set), named_entries(self.rules, set));
            let is_same = old.iter().map(|entry| entry.1).eq(new.iter().map(|entry| entry.1));
            let of_grant = records.iter().filter(|record| record.handle == handle).map(|record| record.acts);
            let acts = of_grant.chain(counts.get(&(who, handle)).copied()).max().unwrap_or(0);
            for (position, &(place, name)) in new.iter().enumerate() {
                let Some(entry) = self.rules.capability_entry(place) else { continue };
                let key = RecordKey { handle, position: position as u16 };
                let is_it = |record: &CapabilityRecord| {
                    record.handle == handle && old.get(record.position as usize).is_some_and(|entry| entry.1 == name)
                };
                let mut record = match records.iter().position(is_it) {
                    Some(at) => {
                        let mut record = records.swap_remove(at);
                        moved.insert(record.key(), key);
                        take_settings(&mut record, past, (self.rules, entry), now);
                        CapabilityRecord { position: key.position, index: place.index, ..record }
                    }
                    None => {
                        added.push(key);
                        new_record(entry, place.set, place.index, key)
                    }
                };
                if !is_same {
                    // The keys of effects are derived from position and number: no record repeats those of another.
                    record.acts = acts;
                }
                all.push(record);
            }
        }
        let rename = |mut block: Block| match block.source {
            BlockSource::Capability { handle, position } => {
                let RecordKey { handle, position } = *moved.get(&RecordKey { handle, position })?;
                block.source = BlockSource::Capability { handle, position };
                Some(block)
            }
            BlockSource::Host(_) | BlockSource::Controller(_) | BlockSource::Effect(_) => Some(block),
        };
        blocks = blocks.into_iter().filter_map(rename).collect();
        blocks.sort_unstable();
        if !all.is_empty() || !blocks.is_empty() || !row.play().capabilities().is_empty() {
            *self.row_mut(slot).play_mut().capabilities_mut() =
                Capabilities { records: all, blocks, presets, ..Capabilities::default() };
        }
        added
    }

    /// Starts, under the new rules, the capabilities whose entries are new and those that run here now, from top to
    /// bottom. Active capabilities get the effects and blocks of their new documents.
    pub(crate) fn start_capabilities(
        &mut self,
        added: &BTreeSet<(ControllerId, RecordKey)>,
        past: &Rules,
        report: &mut Migration,
    ) {
        let everyone: Vec<ControllerId> = self.st.controllers.iter().map(|row| row.id).collect();
        for who in everyone {
            let Some(row) = self.st.controllers.get(who) else { continue };
            let records = &row.play().capabilities().records;
            if records.is_empty() {
                continue;
            }
            let keys: Vec<(RecordKey, CapabilityId)> = records.iter().map(|r| (r.key(), r.class)).collect();
            self.report_lost_code(who, added, past);
            self.outside_pass(who, |flow| {
                for (key, class) in keys {
                    let Some(record) = flow.record(who, key) else { continue };
                    let was_elsewhere = record.stage == Stage::Elsewhere;
                    if added.contains(&(who, key)) {
                        flow.start_life(who, key);
                        report.capabilities_started += 1;
                    } else if was_elsewhere && flow.view().runs_in_row(who, record) {
                        flow.live(who, key, LifeEvent::Arrive);
                        flow.set_up(who, key);
                        report.capabilities_started += 1;
                    } else if let Some(old) = past.capability_def(class) {
                        flow.renew_document(who, key, old);
                    }
                }
                flow.capabilities_changed(who);
            });
        }
    }

    /// Emits one diagnostic for each class that has no code under the new rules and is new or had code before.
    fn report_lost_code(&mut self, who: ControllerId, added: &BTreeSet<(ControllerId, RecordKey)>, past: &Rules) {
        let Some(row) = self.st.controllers.get(who) else { return };
        let is_lost = |record: &&CapabilityRecord| {
            let had_code = behavior(past, record.class) != Behavior::Nothing;
            !self.view().has_behavior(record.class) && (had_code || added.contains(&(who, record.key())))
        };
        let lost = row.play().capabilities().records.iter().filter(is_lost);
        let lost: BTreeSet<(AbilitySetId, CapabilityId)> = lost.map(|record| (record.set, record.class)).collect();
        for (set, class) in lost {
            self.diagnose(who, EffectId::NONE, DiagnosticKind::CapabilityWithoutCode { set, class });
        }
    }

    /// Gives an active capability the effects and blocks of its new document.
    fn renew_document(&mut self, who: ControllerId, key: RecordKey, old: &CapabilityDef) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let Some(record) = self.record(who, key) else { return };
        let is_document = behavior(self.rules, record.class) == Behavior::Document;
        let Some(new) = self.rules.capability_def(record.class).map(Arc::clone).filter(|_| is_document) else { return };
        if record.stage != Stage::Active || (&old.effects, &old.block) == (&new.effects, &new.block) {
            return;
        }
        let (source, is_local) = (record.block_source(), is_local_side(record.side));
        let mut left = new.effects.to_vec();
        let mut kept = Vec::new();
        for &(origin_id, ordinal) in record.effects.clone().iter() {
            let applied = EffectKey { origin_id, target: who, ordinal };
            let row = self.row(slot);
            let active = row.find(applied).map(|at| row.effects[at].def);
            let effect = active.or_else(|| row.find_queued(applied).map(|at| row.queue()[at].spec.effect));
            match effect.and_then(|effect| left.iter().position(|&other| other == effect)) {
                Some(at) => {
                    left.remove(at);
                    kept.push((origin_id, ordinal));
                }
                None => {
                    // An effect that has already ended is skipped.
                    let _ = self.remove(applied, None);
                }
            }
        }
        self.edit_record(slot, key, |record| record.effects = kept);
        if !is_local {
            let mut before = old.effects.to_vec();
            left.retain(|effect| match before.iter().position(|other| other == effect) {
                // The old document applied it too, and it has ended since.
                Some(at) => {
                    before.remove(at);
                    false
                }
                None => true,
            });
            self.apply_lasting_effects(who, key, &left);
        }
        for &tag in old.block.iter().filter(|&tag| !new.block.contains(tag)) {
            self.remove_block(slot, Block { tag, source });
        }
        for &tag in new.block.iter().filter(|&tag| !old.block.contains(tag)) {
            // A block beyond the limit is ignored, as on activation.
            let _ = self.add_block(slot, Block { tag, source });
        }
        self.finish_operation();
        self.run_reactions();
    }
}

/// Replaces the settings of a record that still have the values of its old entry.
fn take_settings(
    record: &mut CapabilityRecord,
    past: &Rules,
    (rules, entry): (&Rules, &CapabilityEntry),
    now: SimTime,
) {
    let needed = needs_time(past, record.class, record.interval);
    if let Some(old) = past.capability_entry(record.place()) {
        let pick = |value: bool, old: bool, new: bool| if value == old { new } else { value };
        record.enabled = pick(record.enabled, old.enabled, entry.enabled);
        record.ticks = pick(record.ticks, old.ticks, entry.ticks);
        if record.interval == old.interval {
            record.interval = entry.interval;
        }
    }
    record.side = entry.side;
    match (needed, needs_time(rules, record.class, record.interval)) {
        (false, true) if record.stage.is_set_up() => record.last = now,
        (_, false) => record.last = SimTime::ZERO,
        (true, true) | (false, true) => {}
    }
}
