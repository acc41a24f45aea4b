//! Blocks, switches and intervals of capabilities.

use crate::flow::{Flow, ForeignAction, View};
use crate::state::{Block, CapabilityRecord};
use crate::{
    BadValue, BlockSource, CapabilityId, ControllerId, EffectKey, LimitKind, NameKind, Refusal, Role, SimTime, TagId,
};
use ugas_doc::Side;

/// Returns the controller with which a source goes.
pub(super) fn controller_of(source: BlockSource) -> Option<ControllerId> {
    match source {
        BlockSource::Controller(who) => Some(who),
        BlockSource::Effect(key) => Some(key.target),
        BlockSource::Host(_) | BlockSource::Capability { .. } => None,
    }
}

/// Returns whether a capability exists on one machine only, so that it must not change shared state.
pub(crate) fn is_local_side(side: Side) -> bool {
    match side {
        Side::LocalControlledOnly | Side::OwnerLocalControlledOnly | Side::AllClients => true,
        Side::Always | Side::AuthorityOnly | Side::AuthorityAndLocalControlled => false,
    }
}

/// What blocks a capability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Blocker {
    /// A block of one of its tags.
    Block(Block),
    /// The query `BlockedBy` of its entry.
    Query,
}

impl View<'_> {
    /// Returns what blocks a capability, if anything does. A block by a capability that exists on one machine only does
    /// not block shared ones.
    pub(crate) fn blocker_of(&self, slot: usize, record: &CapabilityRecord) -> Option<Blocker> {
        let entry = self.rules.capability_entry(record.place())?;
        let all = self.row(slot).play().capabilities();
        let fits = |block: &&Block| {
            let is_tagged = entry.tags.iter().any(|&tag| self.rules.tags.is_under(tag, block.tag));
            let is_local = || match block.source {
                BlockSource::Capability { handle, position } => {
                    let key = crate::state::RecordKey { handle, position };
                    all.find(key).is_some_and(|source| is_local_side(source.side))
                }
                BlockSource::Host(_) | BlockSource::Controller(_) | BlockSource::Effect(_) => false,
            };
            is_tagged && (is_local_side(record.side) || !is_local())
        };
        if let Some(block) = all.blocks.iter().find(fits) {
            return Some(Blocker::Block(*block));
        }
        let tags = &self.row(slot).tags;
        let query = entry.blocked_by.as_ref()?;
        let holds = query.eval(&|t| self.has(slot, t), &|t| tags.count(&self.rules.tags, t) > 0);
        holds.then_some(Blocker::Query)
    }
}

impl Flow<'_> {
    pub(crate) fn block_op(&mut self, who: ControllerId, tag: TagId, source: BlockSource) -> Result<(), Refusal> {
        let slot = self.admit_switch(who)?;
        self.check_tags(&[tag])?;
        if let Err(refusal) = self.check_source(slot, source) {
            if let Some(from) = controller_of(source) {
                // A replay of the op cannot see that the source did not exist.
                self.journal_foreign_action(from, who, || ForeignAction::Unblock(source));
            }
            return Err(refusal);
        }
        self.add_block(slot, Block { tag, source })
    }

    pub(crate) fn unblock_op(&mut self, who: ControllerId, tag: TagId, source: BlockSource) -> Result<(), Refusal> {
        let slot = self.admit_switch(who)?;
        self.check_tags(&[tag])?;
        self.remove_block(slot, Block { tag, source });
        Ok(())
    }

    pub(crate) fn enable_op(&mut self, who: ControllerId, class: CapabilityId, on: bool) -> Result<(), Refusal> {
        let slot = self.admit_switch(who)?;
        self.check_class(slot, class)?;
        self.switch(slot, class, |record| record.enabled = on);
        Ok(())
    }

    pub(crate) fn set_tick_op(
        &mut self,
        who: ControllerId,
        class: CapabilityId,
        ticks: Option<bool>,
        interval: Option<SimTime>,
    ) -> Result<(), Refusal> {
        let slot = self.admit_switch(who)?;
        self.check_class(slot, class)?;
        if interval.is_some_and(|t| !is_interval(t)) {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        self.set_tick(slot, class, ticks, interval);
        Ok(())
    }

    /// Changes when the capabilities of a class are evaluated. A new interval begins now.
    pub(super) fn set_tick(
        &mut self,
        slot: usize,
        class: CapabilityId,
        ticks: Option<bool>,
        interval: Option<SimTime>,
    ) {
        let now = self.local_now(slot);
        let has_watch = self.rules.capability_code(class).is_none_or(|code| code.watch.is_some());
        self.switch(slot, class, |record| {
            record.ticks = ticks.unwrap_or(record.ticks);
            if let Some(interval) = interval {
                record.interval = interval;
                let needs_time = interval > SimTime::ZERO || !has_watch;
                record.last = if needs_time && record.stage.is_set_up() { now } else { SimTime::ZERO };
            }
        });
    }

    /// Returns the row of an op about capabilities. Clients receive the result from the server.
    fn admit_switch(&self, who: ControllerId) -> Result<usize, Refusal> {
        let slot = self.slot(who)?;
        if self.work.role == Role::Client { Err(Refusal::Authority) } else { Ok(slot) }
    }

    fn check_class(&self, slot: usize, class: CapabilityId) -> Result<(), Refusal> {
        if self.rules.capability_def(class).is_none() {
            return Err(Refusal::UnknownName { kind: NameKind::Capability, id: class.0 });
        }
        let has = self.row(slot).play().capabilities().records.iter().any(|record| record.class == class);
        if has { Ok(()) } else { Err(Refusal::NoCapability { class }) }
    }

    /// Checks that the source of a block exists. A replay accepts sources outside the replayed rows, because they may
    /// have ended since then.
    fn check_source(&self, slot: usize, source: BlockSource) -> Result<(), Refusal> {
        let is_past = |from: ControllerId| self.replay.is_some_and(|replay| !replay.includes(from));
        let exists = match source {
            BlockSource::Controller(_) | BlockSource::Effect(_) if controller_of(source).is_some_and(is_past) => true,
            BlockSource::Host(_) => true,
            BlockSource::Controller(who) => self.st.controllers.slot(who).is_some(),
            BlockSource::Effect(key) => self.st.controllers.get(key.target).is_some_and(|row| row.find(key).is_some()),
            BlockSource::Capability { handle, position } => {
                let key = crate::state::RecordKey { handle, position };
                self.row(slot).play().capabilities().find(key).is_some_and(|record| record.stage.is_set_up())
            }
        };
        if exists { Ok(()) } else { Err(Refusal::StaleHandle) }
    }

    /// Changes the capabilities of a class.
    pub(super) fn switch(&mut self, slot: usize, class: CapabilityId, change: impl Fn(&mut CapabilityRecord)) {
        let records = &mut self.row_mut(slot).play_mut().capabilities_mut().records;
        records.iter_mut().filter(|record| record.class == class).for_each(change);
        self.wake_capabilities(slot);
    }

    pub(super) fn add_block(&mut self, slot: usize, block: Block) -> Result<(), Refusal> {
        let blocks = &self.row(slot).play().capabilities().blocks;
        let Err(at) = blocks.binary_search(&block) else { return Ok(()) };
        let max = self.limits.capabilities_per_controller;
        if blocks.len() >= max as usize {
            return Err(Refusal::Limit { what: LimitKind::Blocks, max, link: self.cause.link });
        }
        let row = self.row_mut(slot);
        let who = row.id;
        row.play_mut().capabilities_mut().blocks.insert(at, block);
        if let Some(source) = controller_of(block.source) {
            self.ix.blockers.insert((source, who));
        }
        self.wake_capabilities(slot);
        Ok(())
    }

    pub(super) fn remove_block(&mut self, slot: usize, block: Block) {
        self.remove_blocks(slot, |other| *other == block);
    }

    /// Removes all blocks of a source from a row.
    pub(crate) fn remove_blocks_of(&mut self, slot: usize, source: BlockSource) {
        self.remove_blocks(slot, |block| block.source == source);
    }

    fn remove_blocks(&mut self, slot: usize, which: impl Fn(&Block) -> bool) {
        if !self.row(slot).play().capabilities().blocks.iter().any(&which) {
            return;
        }
        self.row_mut(slot).play_mut().capabilities_mut().blocks.retain(|block| !which(block));
        self.row_mut(slot).trim();
        self.wake_capabilities(slot);
    }

    /// Removes the blocks whose source does not exist: the row was inserted or restored without the source. All rows of
    /// a saved game are inserted before the next frame. Clients receive the result from the server.
    pub(super) fn remove_orphaned_blocks(&mut self, who: ControllerId) {
        let Some(slot) = self.st.controllers.slot(who).filter(|_| self.work.role != Role::Client) else { return };
        let is_orphaned = |flow: &Self, block: &Block| {
            controller_of(block.source).is_some() && flow.check_source(slot, block.source).is_err()
        };
        let blocks = &self.row(slot).play().capabilities().blocks;
        let orphaned: Vec<Block> = blocks.iter().filter(|block| is_orphaned(self, block)).copied().collect();
        orphaned.into_iter().for_each(|block| self.remove_block(slot, block));
    }

    /// Removes the blocks of an effect that ended. A client learns from the server that another controller's effect
    /// unblocked its capabilities.
    pub(crate) fn unblock_ended_effect(&mut self, key: EffectKey) {
        if !self.ix.blockers.is_empty() {
            self.source_ended(key.target, BlockSource::Effect(key));
        }
    }

    /// Removes the blocks of a controller that leaves the sim, and those of its effects.
    pub(crate) fn unblock_left_controller(&mut self, who: ControllerId) {
        if !self.ix.blockers.is_empty() {
            for source in self.sources_with(who) {
                self.source_ended(who, source);
            }
            self.ix.blockers.retain(|&(source, blocked)| source != who && blocked != who);
        }
    }

    /// Returns the sources of blocks that leave the sim with a controller: the controller and its effects.
    fn sources_with(&self, who: ControllerId) -> Vec<BlockSource> {
        let range = (who, ControllerId(0))..=(who, ControllerId::NONE);
        let rows = self.ix.blockers.range(range).filter_map(|&(_, blocked)| self.st.controllers.get(blocked));
        let blocks = rows.flat_map(|row| &row.play().capabilities().blocks);
        let mut sources: Vec<BlockSource> =
            blocks.map(|block| block.source).filter(|&source| controller_of(source) == Some(who)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Returns whether a controller or one of its effects blocks capabilities of another controller.
    pub(crate) fn blocks_others(&self, who: ControllerId) -> bool {
        let range = (who, ControllerId(0))..=(who, ControllerId::NONE);
        self.ix.blockers.range(range).any(|&(_, blocked)| blocked != who)
    }

    fn source_ended(&mut self, from: ControllerId, source: BlockSource) {
        let range = (from, ControllerId(0))..=(from, ControllerId::NONE);
        let blocked: Vec<ControllerId> = self.ix.blockers.range(range).map(|&(_, blocked)| blocked).collect();
        for who in blocked {
            let is_own = who == from;
            if self.skips_action_on(who) || self.work.role == Role::Client && !is_own {
                continue;
            }
            self.journal_foreign_action(from, who, || ForeignAction::Unblock(source));
            if let Some(slot) = self.st.controllers.slot(who) {
                self.remove_blocks_of(slot, source);
            }
        }
    }
}

/// Returns whether a time can be the interval of a capability.
pub(crate) fn is_interval(time: SimTime) -> bool {
    (SimTime::ZERO..=SimTime::LONGEST).contains(&time)
}
