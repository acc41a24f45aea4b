//! Cooldowns that never block; the rules builder finds them.

use super::{Check, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "cooldown-without-tag",
    severity: Severity::Warning,
    strict: false,
    summary: "a cooldown effect that grants no tag",
    why: "A cooldown blocks its ability by the tags it grants. Without one the ability can be used again at once.",
    example: "Kind: gameplay_effect\nName: GE_DashCooldown # used as Cooldown of an ability\nDurationPolicy: HasDuration\n\
Duration: {Type: ScalableFloat, Value: 5}",
    fix: "Grant a tag of its own below `Cooldown`, such as `GrantedTags: [Cooldown.Ability.Dash]`.",
    check: Check::Builder,
};
