//! Cooldown effects that grant no tag; found by the rules builder.

use super::{CheckedBy, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "cooldown-without-tag",
    severity: Severity::Warning,
    strict: false,
    summary: "a cooldown effect that grants no tag",
    why: "A cooldown effect blocks its ability through the tags that the effect grants. Without a tag the ability can \
be activated again at once.",
    example: "Kind: gameplay_effect\nName: GE_DashCooldown # used as Cooldown of an ability\nDurationPolicy: HasDuration\n\
Duration: {Type: ScalableFloat, Value: 5}",
    fix: "Grant a separate tag below `Cooldown`, such as `GrantedTags: [Cooldown.Ability.Dash]`.",
    check: CheckedBy::Builder,
};
