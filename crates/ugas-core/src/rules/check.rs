//! The checks of an activation in the order of ruling R-10, and which of them an ability can fail. The others are never
//! evaluated.

use super::AbilityDef;
use ugas_doc::GroupPolicy;

/// A check: its position in the order and its bit in a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Check {
    Inactive = 0,
    NotInitialized,
    AlreadyActive,
    Dead,
    RequiredTags,
    BlockedTags,
    BlockedByTags,
    BlockedByAbility,
    SourceTags,
    TargetTags,
    Group,
    Query,
    Condition,
    Restricted,
    Casting,
    GlobalCooldown,
    Charges,
    Cost,
    Cooldown,
    NoTarget,
    OutOfRange,
}

impl Check {
    pub(crate) const fn bit(self) -> u32 {
        1 << self as u8
    }
}

impl AbilityDef {
    /// Returns the bits of the checks that can fail according to the definition.
    pub(crate) fn open_checks(&self) -> u32 {
        let always = [Check::Inactive, Check::AlreadyActive, Check::Restricted, Check::Casting, Check::NoTarget]
            .map(|c| (c, true));
        let some = [
            (Check::NotInitialized, self.avatar),
            (Check::Dead, !self.dead),
            (Check::RequiredTags, !self.required.is_empty()),
            (Check::BlockedTags, !self.blocked.is_empty()),
            (Check::BlockedByTags, !self.blocked_by.is_empty()),
            (Check::BlockedByAbility, !self.tags.is_empty()),
            (Check::SourceTags, !self.source_required.is_empty()),
            (Check::TargetTags, !self.target_required.is_empty() || !self.target_blocked.is_empty()),
            (Check::Group, self.group.is_some_and(|(_, policy)| policy != GroupPolicy::Independent)),
            (Check::Query, self.query.is_some()),
            (Check::Condition, self.condition.is_some() || self.hook.is_some()),
            (Check::GlobalCooldown, self.gcd.is_some()),
            (Check::Charges, self.charges.is_some()),
            (Check::Cost, self.cost.is_some()),
            (Check::Cooldown, self.cooldown.is_some() || self.owned.is_some()),
            (Check::OutOfRange, self.start_range().is_some()),
        ];
        always.into_iter().chain(some).fold(0, |bits, (check, open)| bits | if open { check.bit() } else { 0 })
    }
}
