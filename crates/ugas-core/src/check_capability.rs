//! Validation of the capabilities and blocks of a row from untrusted data.

use crate::check::RowValidator;
use crate::rules::CAPABILITY_STATE;
use crate::state::{Block, Capabilities, CapabilityRecord, RecordKey, Row, Stage};
use crate::{BlockSource, SimTime};

fn want(good: bool, what: &'static str) -> Result<(), &'static str> {
    if good { Ok(()) } else { Err(what) }
}

impl RowValidator<'_> {
    /// Validates the capabilities and blocks of a row.
    pub(crate) fn capabilities(&self, row: &Row, all: &Capabilities) -> Result<(), &'static str> {
        let Capabilities { records, blocks, presets, due: _ } = all;
        let most = self.limits.capabilities_per_controller as usize;
        want(records.len() <= most, "too many capabilities")?;
        want(blocks.len() <= most, "too many blocks")?;
        want(records.windows(2).all(|w| w[0].key() < w[1].key()), "capabilities are not in order")?;
        want(blocks.windows(2).all(|w| w[0] < w[1]), "blocks are not in order")?;
        want(presets.len() <= most, "too many local capability sets")?;
        want(presets.iter().all(|&set| self.rules.is_capability_set(set)), "a local capability set is unknown")?;
        for record in records {
            self.capability(row, record)?;
        }
        for block in blocks {
            self.block(all, block)?;
        }
        self.all_entries(row, all)
    }

    /// Checks that the capabilities of each granted set are the entries of the set.
    fn all_entries(&self, row: &Row, all: &Capabilities) -> Result<(), &'static str> {
        for held in &row.play().sets {
            let entries = self.rules.entries_of(held.set);
            let records = all.records.iter().filter(|record| record.handle == held.seq);
            let is_complete = records.map(CapabilityRecord::place).eq(entries.iter().copied());
            want(is_complete, "the capabilities of a set are not the entries of the set")?;
        }
        Ok(())
    }

    fn capability(&self, row: &Row, record: &CapabilityRecord) -> Result<(), &'static str> {
        let CapabilityRecord {
            handle,
            position,
            set: _,
            index: _,
            class,
            side,
            stage,
            // Any value is possible: ops change both.
            enabled: _,
            ticks: _,
            interval,
            last,
            // A counter.
            acts: _,
            // Effects that have ended are skipped.
            effects,
            state,
        } = record;
        let held = row.play().sets.iter().find(|held| held.seq == *handle);
        let Some(held) = held else { return Err("the set of a capability does not exist") };
        let entries = self.rules.entries_of(held.set);
        want(entries.get(*position as usize) == Some(&record.place()), "the entry of a capability does not exist")?;
        let Some(entry) = self.rules.capability_entry(record.place()) else {
            return Err("the entry of a capability does not exist");
        };
        want(entry.class == *class && entry.side == *side, "the class of a capability is invalid")?;
        want(state.len() <= CAPABILITY_STATE, "the state of a capability is too large")?;
        let times = *interval >= SimTime::ZERO
            && *interval <= SimTime::LONGEST
            && last.0.unsigned_abs() <= 2 * SimTime::LONGEST.0 as u64;
        want(times, "the time of a capability is invalid")?;
        let def = self.rules.capability_def(*class);
        want(effects.len() <= def.map_or(0, |def| def.effects.len()), "the effects of a capability are invalid")?;
        let is_quiet = effects.is_empty() && state.is_empty();
        want(stage.is_set_up() || is_quiet, "a capability that does not run has state")?;
        want(*stage == Stage::Active || effects.is_empty(), "an inactive capability has effects")
    }

    fn block(&self, all: &Capabilities, block: &Block) -> Result<(), &'static str> {
        let Block { tag, source } = *block;
        want(self.rules.tags.def(tag).is_some(), "the tag of a block is unknown")?;
        match source {
            // Hosts choose names. A controller or an effect may be inserted later; the next frame removes the block if
            // it does not exist then.
            BlockSource::Host(_) | BlockSource::Controller(_) | BlockSource::Effect(_) => Ok(()),
            BlockSource::Capability { handle, position } => {
                let source = all.find(RecordKey { handle, position });
                // A client does not know the stage of a capability that only the server evaluates.
                let runs = source.is_some_and(|r| r.stage.is_set_up() || r.is_for_authority());
                want(runs, "the capability of a block does not exist")
            }
        }
    }
}
