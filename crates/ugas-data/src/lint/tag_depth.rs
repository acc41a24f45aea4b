//! Tags with more than five levels; found by the rules builder.

use super::{CheckedBy, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "tag-depth",
    severity: Severity::Warning,
    strict: false,
    summary: "a tag with more than five levels",
    why: "Deep hierarchies are hard to remember and to query. The specification recommends at most five levels.",
    example: "Kind: gameplay_tag\nTags: [{Tag: State.Debuff.Magic.Fire.Burning.Strong}]",
    fix: "Remove levels, or use two tags.",
    check: CheckedBy::Builder,
};
