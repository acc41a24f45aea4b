//! The names of facts, diagnostics, trace entries, refusals and verbs, with their fields. A misspelt name is an error;
//! otherwise an expectation with a misspelt name could always pass.

use ugas_core::{DiagnosticKind, FactKind};

/// A stream of entries that a scenario can expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Facts,
    Diagnostics,
    Trace,
}

/// A kind and its fields, without the fields that every entry has.
type KindFields = &'static [(&'static str, &'static [&'static str])];

const TRACE: KindFields = &[
    ("Refused", &["Refusal"]),
    ("AbilityState", &["Ability", "From", "To"]),
    ("AbilityRefused", &["Ability", "Refusal"]),
    ("TaskState", &["Ability", "Task", "To"]),
    ("Instantiated", &[]),
    ("SetRegistered", &["Set"]),
    ("ActorsSet", &[]),
    ("AbilityGranted", &["Ability"]),
    ("EffectApplied", &[]),
    ("ReplicationConfigured", &[]),
    ("AvatarCleared", &[]),
    ("AvatarEffectsRevalidated", &[]),
    ("AvatarSet", &[]),
    ("AvatarAbilitiesRevalidated", &[]),
    ("EffectsRemoved", &[]),
    ("AbilitiesRevoked", &[]),
    ("SubscriptionsCleared", &[]),
    ("ReplicationEnded", &[]),
];

/// Facts of later releases.
pub(crate) const LATER_FACTS: &[&str] = &["Combo", "Attack", "Hit"];

impl Stream {
    fn table(self) -> KindFields {
        match self {
            Stream::Facts => FactKind::KINDS,
            Stream::Diagnostics => DiagnosticKind::KINDS,
            Stream::Trace => TRACE,
        }
    }

    /// Returns the noun for one entry.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Stream::Facts => "fact",
            Stream::Diagnostics => "diagnostic",
            Stream::Trace => "trace entry",
        }
    }

    /// Returns the fields that every entry has.
    pub(crate) fn common(self) -> &'static [&'static str] {
        match self {
            Stream::Facts => &["Kind", "Actor", "Source", "Effect", "At"],
            Stream::Diagnostics | Stream::Trace => &["Kind", "Actor", "Effect", "At"],
        }
    }

    pub(crate) fn kinds(self) -> impl Iterator<Item = &'static str> {
        self.table().iter().map(|(kind, _)| *kind)
    }

    /// Returns the fields of a kind, without the fields that every entry has.
    pub(crate) fn fields_of(self, kind: &str) -> Option<&'static [&'static str]> {
        self.table().iter().find(|(k, _)| *k == kind).map(|(_, fields)| *fields)
    }
}

/// Kinds of refusals; the first two match several kinds.
pub(crate) const REFUSALS: &[&str] = &[
    "Any",
    "Blocked",
    "StaleHandle",
    "UnknownName",
    "UnknownAttribute",
    "Inactive",
    "Authority",
    "AuthoritativeOnly",
    "RequiredTags",
    "BlockedTags",
    "SourceTags",
    "Immune",
    "Restricted",
    "Condition",
    "Chance",
    "Stacks",
    "MissingSetByCaller",
    "NonFinite",
    "BadValue",
    "Cycle",
    "Limit",
    "Hook",
    "UndeclaredRead",
    "RandomCost",
    "SetRegistered",
    "SetMissing",
    "DuplicateAttribute",
    "SetNeeded",
    "SetInUse",
    "IdTaken",
    "InUse",
    "NoSets",
    "Mismatch",
    "BadDefinition",
    "NotGranted",
    "NotInitialized",
    "AlreadyActive",
    "Pending",
    "PredictionWindowClosed",
    "EffectBudget",
    "TooEarly",
    "UnknownRoll",
    "NotReplicated",
    "ClaimedDuringCooldown",
    "Dead",
    "BlockedByTags",
    "BlockedByAbility",
    "TargetTags",
    "Group",
    "Query",
    "Casting",
    "GlobalCooldown",
    "Charges",
    "Cost",
    "Cooldown",
    "NoTarget",
    "OutOfRange",
    "Static",
    "SetHeld",
    "NoCapability",
    "InputAsleep",
    "InputSuppressed",
    "NotAnAxis",
    "Motion",
];

/// Verbs of this release.
pub(crate) const VERBS: &[&str] = &[
    "Apply",
    "Remove",
    "ChangeEffect",
    "Move",
    "Possess",
    "Spawn",
    "Despawn",
    "AddSet",
    "RemoveSet",
    "SetActive",
    "SetRate",
    "SetLocal",
    "ModifyResource",
    "Grant",
    "Revoke",
    "Activate",
    "Cancel",
    "Interrupt",
    "End",
    "Commit",
    "Validate",
    "Event",
    "Press",
    "Release",
    "Axis",
    "LetGo",
    "Complete",
    "Set",
    "AddCapabilitySet",
    "RemoveCapabilitySet",
    "Block",
    "Unblock",
    "Enable",
    "SetTick",
    "Reload",
    "Link",
    "Disconnect",
    "Reconnect",
    "Repeat",
    "Expect",
    "ExpectFacts",
    "ExpectCount",
    "ExpectDiagnostics",
    "ExpectTrace",
    "MarkHash",
    "ExpectHash",
];

/// Verbs of later releases.
pub(crate) const LATER_VERBS: &[&str] =
    &["ApplyMoveset", "SetMode", "Remap", "ResetMappings", "Save", "Load", "BeginTurn", "CommitTurn", "Undo", "Redo"];

/// The keys next to a verb.
pub(crate) const STEP_KEYS: &[&str] = &["Refused", "MayRefuse", "On"];

#[cfg(test)]
mod tests {
    use super::{DiagnosticKind, FactKind, KindFields, LATER_FACTS, LATER_VERBS, REFUSALS, VERBS};

    /// Returns the part of the book's page under a heading.
    fn section<'p>(page: &'p str, heading: &str) -> &'p str {
        let start = page.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
        let rest = &page[start + heading.len() + 2..];
        rest.split("\n## ").next().unwrap_or(rest)
    }

    /// Returns the rows of tables: the first cell and the others.
    fn rows(section: &str) -> Vec<(&str, &str)> {
        let rows = section.lines().filter_map(|l| l.strip_prefix("| ")?.split_once(" | "));
        rows.filter(|(first, _)| first.starts_with('`')).collect()
    }

    #[test]
    fn the_book_lists_every_verb_fact_diagnostic_and_refusal() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/scenarios.md");
        let page = std::fs::read_to_string(path).expect("the page about scenarios");
        let row = |heading: &str, word: &str| -> String {
            let word = format!("`{word}`");
            let all = rows(section(&page, heading));
            let found: Vec<_> = all.iter().filter(|(first, _)| first.split(", ").any(|w| w == word)).collect();
            assert_eq!(found.len(), 1, "{heading}: rows for {word}");
            found[0].1.to_owned()
        };
        for verb in VERBS {
            row("## Steps", verb);
        }
        for kind in REFUSALS {
            row("## Refusals", kind);
        }
        let tables: [(&str, KindFields); 2] =
            [("## Facts", FactKind::KINDS), ("## Diagnostics and trace", DiagnosticKind::KINDS)];
        for (heading, table) in tables {
            for (kind, fields) in table {
                let said = row(heading, kind);
                for field in *fields {
                    assert!(said.contains(&format!("`{field}`")), "{kind} has the field {field}: {said}");
                }
            }
        }
        for later in LATER_VERBS.iter().chain(LATER_FACTS) {
            assert!(page.contains(&format!("`{later}`")), "{later} comes later and is not mentioned");
        }
    }
}
