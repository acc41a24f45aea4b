//! Documents of a document set that could not be read. Names that these documents may define are not reported as
//! unknown.

use crate::project::{DocSet, Project};
use crate::{Code, Diagnostic};
use ugas_doc::Kind;

/// Documents of a document set that could not be read.
pub(crate) struct Unread {
    /// Their kinds.
    kinds: Vec<Kind>,
    /// Whether a document of unknown kind is among them.
    any: bool,
}

impl Unread {
    pub(crate) fn of(project: &Project, set: &DocSet) -> Unread {
        let mut unread = Unread { kinds: Vec::new(), any: false };
        for &i in set.own.iter().chain(&set.required) {
            let source = &project.sources()[i];
            unread.any |= source.errors.iter().any(|e| e.code != Code::Invalid);
            unread.kinds.extend(source.docs.iter().filter(|d| d.loaded.is_none()).filter_map(|d| d.kind));
        }
        unread
    }

    /// Returns whether a finding may be caused by a definition that could not be read.
    pub(crate) fn may_explain(&self, finding: &Diagnostic) -> bool {
        let kinds: &[Kind] = match finding.id.as_str() {
            "undeclared-tag" => &[Kind::TagRegistry],
            "unknown-set" => &[Kind::Attribute, Kind::AttributeSet, Kind::StatTable, Kind::Resource],
            "unknown-effect" => &[Kind::Effect],
            "unknown-ability" => &[Kind::Ability],
            "unknown-ability-set" => &[Kind::AbilitySet, Kind::CapabilitySet],
            "unknown-capability" => &[Kind::Capability],
            "unknown-curve" => &[Kind::Curve],
            "unknown-calculation" => &[Kind::Calculation],
            "unknown-input-action" => &[Kind::InputAction],
            "unknown-input-action-set" => &[Kind::InputActionSet],
            "unknown-motion" => &[Kind::MotionPattern],
            "unknown-input-modifier" => &[Kind::InputModifier],
            "unknown-controller" => &[Kind::Controller],
            "unknown-scene" => &[Kind::Scene],
            "unknown-placeholder" => &[Kind::Effect, Kind::Attribute, Kind::AttributeSet, Kind::Calculation],
            // A patch may be of any kind.
            "unknown-target" => return self.any || !self.kinds.is_empty(),
            _ if finding.message.contains("unknown attribute") => {
                &[Kind::Attribute, Kind::AttributeSet, Kind::StatTable, Kind::Resource]
            }
            _ if finding.message.contains("unknown curve") => &[Kind::Curve],
            _ => return false,
        };
        self.any || kinds.iter().any(|k| self.kinds.contains(k))
    }
}
