//! Queries about the capabilities of a controller.

use crate::flow::Blocker;
use crate::state::{CapabilityRecord, Stage};
use crate::{AbilitySetId, BlockSource, CapabilityId, ControllerId, Home, ReadError, SetId, Sim, SimTime, TagId};
use std::fmt::Write;
use ugas_doc::Side;

/// The state of a capability on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapabilityState {
    /// The controller has no capability of the class.
    NotHeld,
    /// The capability waits for its data components.
    Waiting,
    /// The capability does not run in this sim.
    Elsewhere,
    /// The capability is disabled.
    Disabled,
    /// The capability is blocked.
    Blocked,
    /// The capability is not active.
    Inactive,
    /// The capability is active.
    Active,
}

impl CapabilityState {
    /// Returns the name, as used in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            CapabilityState::NotHeld => "NotHeld",
            CapabilityState::Waiting => "Waiting",
            CapabilityState::Elsewhere => "Elsewhere",
            CapabilityState::Disabled => "Disabled",
            CapabilityState::Blocked => "Blocked",
            CapabilityState::Inactive => "Inactive",
            CapabilityState::Active => "Active",
        }
    }
}

/// One capability of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapabilityView {
    /// The class.
    pub class: CapabilityId,
    /// The set that lists the capability.
    pub set: AbilitySetId,
    /// The handle of the grant that added the capability.
    pub handle: u64,
    /// The position among the capabilities of the grant.
    pub position: u16,
    /// The position in the list of `set`; see [`Rules::capability_tags`](crate::Rules::capability_tags).
    pub index: u16,
    /// The machines that run the capability.
    pub side: Side,
    /// Where this machine runs the capability.
    pub home: Home,
    /// The state on this machine.
    pub state: CapabilityState,
    /// Whether the capability is active. A capability that is disabled while it is active stays active, but is not
    /// evaluated; its state is `Disabled`.
    pub active: bool,
    /// Whether the capability is enabled.
    pub enabled: bool,
    /// Whether the capability is evaluated after its setup.
    pub ticks: bool,
    /// The time between two evaluations; zero for every frame.
    pub interval: SimTime,
    /// The block that blocks the capability. `None` if nothing or only its `BlockedBy` query blocks it.
    pub blocked_by: Option<(TagId, BlockSource)>,
    /// The first attribute set that the capability waits for.
    pub waits_for: Option<SetId>,
}

/// How many capabilities a controller has; see [`Sim::capability_counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapabilityCounts {
    /// All capabilities.
    pub total: u32,
    /// Those that run in this sim and are evaluated.
    pub ticking: u32,
}

impl Sim {
    /// Returns the capabilities of a controller in the order in which they run.
    pub fn capabilities(&self, who: ControllerId) -> Result<Vec<CapabilityView>, ReadError> {
        let slot = self.slot(who)?;
        let records = &self.row(who)?.play().capabilities().records;
        Ok(records.iter().map(|record| self.view_capability(slot, who, record)).collect())
    }

    pub(crate) fn view_capability(&self, slot: usize, who: ControllerId, record: &CapabilityRecord) -> CapabilityView {
        let view = self.view();
        let blocker = if record.ticks { view.blocker_of(slot, record) } else { None };
        let state = match record.stage {
            Stage::Waiting => CapabilityState::Waiting,
            Stage::Elsewhere => CapabilityState::Elsewhere,
            Stage::Inactive | Stage::Active if !record.enabled => CapabilityState::Disabled,
            Stage::Active => CapabilityState::Active,
            Stage::Inactive if blocker.is_some() => CapabilityState::Blocked,
            Stage::Inactive => CapabilityState::Inactive,
        };
        let layout = self.layout(self.state().controllers.row(slot));
        let needed = self.rules().ability_set_def(record.set).map_or(&[][..], |def| &def.sets);
        CapabilityView {
            class: record.class,
            set: record.set,
            handle: record.handle,
            position: record.position,
            index: record.index,
            side: record.side,
            home: view.home_of(who, record.side),
            state,
            active: record.stage == Stage::Active,
            enabled: record.enabled,
            ticks: record.ticks,
            interval: record.interval,
            blocked_by: match blocker {
                Some(Blocker::Block(block)) => Some((block.tag, block.source)),
                Some(Blocker::Query) | None => None,
            },
            waits_for: needed.iter().copied().find(|set| !layout.sets.contains(set)),
        }
    }

    /// Returns the state of the first capability of a class.
    pub fn capability_state(&self, who: ControllerId, class: CapabilityId) -> Result<CapabilityState, ReadError> {
        let slot = self.slot(who)?;
        let records = &self.row(who)?.play().capabilities().records;
        let found = records.iter().find(|record| record.class == class);
        Ok(found.map_or(CapabilityState::NotHeld, |record| self.view_capability(slot, who, record).state))
    }

    /// Returns how many capabilities a controller has, and how many of them are evaluated in this sim.
    pub fn capability_counts(&self, who: ControllerId) -> Result<CapabilityCounts, ReadError> {
        let records = &self.row(who)?.play().capabilities().records;
        let ticking = |r: &&CapabilityRecord| r.stage.is_set_up() && r.enabled && r.ticks;
        Ok(CapabilityCounts { total: records.len() as u32, ticking: records.iter().filter(ticking).count() as u32 })
    }

    /// Returns the sets and capabilities of a controller as text: one line per set, and one indented line per
    /// capability.
    pub fn capability_tree(&self, who: ControllerId) -> Result<String, ReadError> {
        let mut text = String::new();
        let mut last = None;
        for view in self.capabilities(who)? {
            if last != Some((view.handle, view.set)) {
                last = Some((view.handle, view.set));
                // Writing into a string cannot fail.
                let _ = writeln!(text, "{}", self.rules().ability_set_name(view.set).unwrap_or("?"));
            }
            let class = self.rules().capability_name(view.class).unwrap_or("?");
            let _ = writeln!(text, "  {class}: {} ({:?})", view.state.name(), view.side);
        }
        Ok(text)
    }

    /// Returns the blocks on a controller, sorted by tag.
    pub fn blocks(&self, who: ControllerId) -> Result<Vec<(TagId, BlockSource)>, ReadError> {
        let blocks = &self.row(who)?.play().capabilities().blocks;
        Ok(blocks.iter().map(|block| (block.tag, block.source)).collect())
    }

    /// Returns whether any source blocks a tag or an ancestor of it on a controller.
    pub fn is_blocked(&self, who: ControllerId, tag: TagId) -> Result<bool, ReadError> {
        let blocks = &self.row(who)?.play().capabilities().blocks;
        Ok(blocks.iter().any(|block| self.rules().tag_is_under(tag, block.tag)))
    }
}
