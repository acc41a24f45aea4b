//! The checks of an activation in the order in which they are evaluated, and the subset that an ability can fail. The
//! other checks are skipped for that ability.

use super::AbilityDef;
use ugas_doc::GroupPolicy;

/// A check: its position in the order and its bit in a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ActivationCheck {
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

impl ActivationCheck {
    pub(crate) const fn bit(self) -> u32 {
        1 << self as u8
    }
}

impl AbilityDef {
    /// Returns the bits of the checks that can fail according to the definition.
    pub(crate) fn open_checks(&self) -> u32 {
        let always = [
            ActivationCheck::Inactive,
            ActivationCheck::AlreadyActive,
            ActivationCheck::Restricted,
            ActivationCheck::Casting,
            ActivationCheck::NoTarget,
        ]
        .map(|c| (c, true));
        let some = [
            (ActivationCheck::NotInitialized, self.avatar),
            (ActivationCheck::Dead, !self.dead),
            (ActivationCheck::RequiredTags, !self.required.is_empty()),
            (ActivationCheck::BlockedTags, !self.blocked.is_empty()),
            (ActivationCheck::BlockedByTags, !self.blocked_by.is_empty()),
            (ActivationCheck::BlockedByAbility, !self.tags.is_empty()),
            (ActivationCheck::SourceTags, !self.source_required.is_empty()),
            (ActivationCheck::TargetTags, !self.target_required.is_empty() || !self.target_blocked.is_empty()),
            (ActivationCheck::Group, self.group.is_some_and(|(_, policy)| policy != GroupPolicy::Independent)),
            (ActivationCheck::Query, self.query.is_some()),
            (ActivationCheck::Condition, self.condition.is_some() || self.hook.is_some()),
            (ActivationCheck::GlobalCooldown, self.gcd.is_some()),
            (ActivationCheck::Charges, self.charges.is_some()),
            (ActivationCheck::Cost, self.cost.is_some()),
            (ActivationCheck::Cooldown, self.cooldown.is_some() || self.owned.is_some()),
            (ActivationCheck::OutOfRange, self.start_range().is_some()),
        ];
        always.into_iter().chain(some).fold(0, |bits, (check, open)| bits | if open { check.bit() } else { 0 })
    }
}
