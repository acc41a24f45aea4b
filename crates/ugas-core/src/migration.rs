//! The report of a hot reload, and the reasons why a reload is refused. See [`Sim::reload`](crate::Sim::reload).

use crate::{ControllerId, LoadError, Refusal};
use std::fmt;
use std::sync::Arc;
use ugas_doc::Kind;

/// How a document changed between the old and the new rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentWhat {
    /// The document is new.
    Added,
    /// The content of the document changed.
    Changed,
    /// The document was removed. Its ids are not reused.
    Removed,
}

/// One document that differs between the old and the new rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentChange {
    /// The kind of the document.
    pub kind: Kind,
    /// The name of the document.
    pub name: Arc<str>,
    /// How the document changed.
    pub what: DocumentWhat,
}

/// The report of a reload: the names of the changed documents, and counts of what changed in the sim. `Display` formats
/// the report as text.
///
/// ```
/// let nothing = ugas_core::Migration::default();
/// assert!(nothing.is_empty());
/// assert_eq!(nothing.to_string(), "nothing changed");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Migration {
    /// The documents that differ, sorted by kind and name.
    pub documents: Vec<DocumentChange>,
    /// The number of controllers in the sim.
    pub controllers: u32,
    /// The number of base values that were set to a new default.
    pub bases: u32,
    /// The number of attributes whose base or current value changed.
    pub values: u32,
    /// The number of attributes that controllers gained.
    pub attributes_added: u32,
    /// The number of attributes that controllers lost.
    pub attributes_removed: u32,
    /// The number of active effects whose magnitudes were evaluated again.
    pub effects_evaluated: u32,
    /// The number of active and queued effects that were removed.
    pub effects_removed: u32,
    /// The number of abilities that active effects grant under the new rules but did not grant under the old rules.
    pub grants_added: u32,
    /// The number of granted abilities that were revoked.
    pub grants_revoked: u32,
    /// The number of activations that were ended.
    pub activations_ended: u32,
    /// The number of granted ability sets that were revoked.
    pub ability_sets_revoked: u32,
    /// The number of capabilities that ended under the old rules.
    pub capabilities_ended: u32,
    /// The number of capabilities that started under the new rules.
    pub capabilities_started: u32,
}

impl Migration {
    /// Returns whether no document differs and nothing in the sim changed.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty() && !self.touched()
    }

    /// Returns whether anything in the sim's state changed.
    pub(crate) fn touched(&self) -> bool {
        self.counts().iter().any(|&(count, ..)| count > 0)
    }

    fn counts(&self) -> [(u32, &'static str, &'static str); 12] {
        [
            (self.bases, "base value set to its new default", "base values set to their new defaults"),
            (self.values, "value changed", "values changed"),
            (self.attributes_added, "attribute added", "attributes added"),
            (self.attributes_removed, "attribute removed", "attributes removed"),
            (self.effects_evaluated, "effect evaluated again", "effects evaluated again"),
            (self.effects_removed, "effect removed", "effects removed"),
            (self.grants_added, "ability granted", "abilities granted"),
            (self.grants_revoked, "ability revoked", "abilities revoked"),
            (self.activations_ended, "running ability ended", "running abilities ended"),
            (self.ability_sets_revoked, "ability set revoked", "ability sets revoked"),
            (self.capabilities_ended, "capability ended", "capabilities ended"),
            (self.capabilities_started, "capability started", "capabilities started"),
        ]
    }
}

impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Maximum number of names in a line.
        const SHOWN: usize = 8;
        if self.is_empty() {
            return f.write_str("nothing changed");
        }
        for (i, d) in self.documents.iter().take(SHOWN).enumerate() {
            let what = match d.what {
                DocumentWhat::Added => "added",
                DocumentWhat::Changed => "changed",
                DocumentWhat::Removed => "removed",
            };
            write!(f, "{}{} {} {what}", if i == 0 { "" } else { ", " }, d.kind.name(), d.name)?;
        }
        if self.documents.len() > SHOWN {
            write!(f, " and {} more", self.documents.len() - SHOWN)?;
        }
        let many = if self.controllers == 1 { "controller" } else { "controllers" };
        write!(f, "; {} {many}", self.controllers)?;
        for (count, one, more) in self.counts().into_iter().filter(|c| c.0 > 0) {
            write!(f, ", {count} {}", if count == 1 { one } else { more })?;
        }
        Ok(())
    }
}

/// The reason why a reload was refused. After a refused reload, the sim keeps its state and its old rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReloadError {
    /// A name has a different id in the new rules, or no id, so ids stored in the sim and in the host would refer to
    /// the wrong definitions.
    OtherIds {
        /// The kind of name: `effect`, `tag` and so on.
        kind: &'static str,
        /// The name.
        name: Arc<str>,
    },
    /// The attribute sets of a controller cannot be registered together under the new rules, or the new rules define
    /// none of these sets.
    Sets {
        /// The controller.
        who: ControllerId,
        /// The reason.
        refusal: Refusal,
        /// The reason as text, with names.
        why: String,
    },
    /// The sets of a controller list too many capabilities under the new rules.
    Capabilities {
        /// The controller.
        who: ControllerId,
        /// The reason.
        refusal: Refusal,
        /// The reason as text.
        why: String,
    },
    /// A run-time definition does not compile against the new rules.
    Definition {
        /// The name of the definition.
        name: String,
        /// The errors.
        error: LoadError,
    },
    /// The reload does not finish: each ability that it ends activates another ability that it must end too.
    Unstable {
        /// The controller.
        who: ControllerId,
    },
}

impl fmt::Display for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReloadError::OtherIds { kind, name } => {
                write!(f, "the {kind} {name} has a different id or no id in the new rules; build the new rules with ")?;
                f.write_str("RulesBuilder::after")
            }
            ReloadError::Sets { who, refusal: Refusal::NoSets, why } => {
                write!(f, "the new rules define no attribute set of controller {}: {why}", who.0)
            }
            ReloadError::Sets { who, why, .. } => {
                write!(
                    f,
                    "the attribute sets of controller {} cannot be registered together under the new rules: {why}",
                    who.0
                )
            }
            ReloadError::Capabilities { who, why, .. } => {
                write!(f, "controller {} cannot have its capability sets under the new rules: {why}", who.0)
            }
            ReloadError::Definition { name, error } => {
                write!(f, "{name}, defined at run time, does not compile against the new rules: {error}")
            }
            ReloadError::Unstable { who } => {
                write!(
                    f,
                    "controller {}: each ability that the reload ends activates another ability; check OnCancel",
                    who.0
                )
            }
        }
    }
}
impl std::error::Error for ReloadError {}
