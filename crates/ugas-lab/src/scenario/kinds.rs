//! The words of the language that stand for kinds of facts, diagnostics, trace entries and refusals, with the fields
//! each carries, so that a misspelt one is an error at its place and never an expectation that holds by accident.

/// A stream of entries that a scenario can look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Facts,
    Diagnostics,
    Trace,
}

/// A kind and the fields it has beside the common ones.
type Table = &'static [(&'static str, &'static [&'static str])];

const FACTS: Table = &[
    ("AttributeChanged", &["Attribute", "Old", "New", "OldBase", "NewBase"]),
    ("TagChanged", &["Tag", "Added", "Exact", "Presence"]),
    ("EffectApplied", &["Level", "Stacks"]),
    ("EffectExecuted", &["Execution"]),
    ("EffectRemoved", &["Reason"]),
    ("EffectChanged", &["What", "Stacks", "Level"]),
    ("Immune", &["By"]),
    ("Granted", &["Ability", "Grant", "Level", "InputID"]),
    ("Revoked", &["Ability", "Grant"]),
    ("Cue", &["Tag", "Type", "Params"]),
    ("Died", &["Attribute"]),
    ("Spawned", &["Owner"]),
    ("Despawned", &[]),
    ("SetAdded", &["Set"]),
    ("SetRemoved", &["Set"]),
    ("Possessed", &["Old", "New"]),
    ("ContextTag", &["Tag"]),
    ("Restored", &[]),
    ("AbilityActivated", &["Ability", "Grant", "Level"]),
    ("AbilityEnded", &["Ability", "Grant", "Cancelled", "Interrupted"]),
    ("TaskRequest", &["Ability", "Task", "Params"]),
    ("TaskEnded", &["Ability", "Task", "Result", "Value"]),
    ("GameplayEvent", &["Tag", "Magnitude", "Params"]),
    ("Cast", &["Ability", "Step", "Tick", "Length"]),
    ("GlobalCooldown", &["Group", "Running", "Length"]),
    ("Charges", &["Ability", "Grant", "Have", "Max", "Length"]),
    ("Input", &["InputID", "Pressed", "Held"]),
    ("Damage", &["Type", "Style", "Credit", "Amount", "Raw", "Absorbed", "Overkill"]),
    ("SetGranted", &["AbilitySet"]),
    ("SetRevoked", &["AbilitySet"]),
    ("Reloaded", &[]),
];

const DIAGNOSTICS: Table = &[
    ("TagUnderflow", &["Tag"]),
    ("MissingSetByCaller", &["Key"]),
    ("NonFinite", &["Attribute"]),
    ("Saturated", &["Attribute"]),
    ("ZeroDuration", &[]),
    ("DurationOverrideIgnored", &[]),
    ("ValueMismatch", &["Attribute", "Stated", "Found"]),
    ("MultipleGrants", &["Tag"]),
    ("ReactionRefused", &["Refusal"]),
    ("Cycle", &[]),
    ("Limit", &[]),
    ("MissingTarget", &[]),
];

const TRACE: Table = &[
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

/// Kinds of facts that come with later releases.
pub(crate) const LATER_FACTS: &[&str] = &["Resource", "Combo", "Attack", "Hit", "Capability"];

impl Stream {
    fn table(self) -> Table {
        match self {
            Stream::Facts => FACTS,
            Stream::Diagnostics => DIAGNOSTICS,
            Stream::Trace => TRACE,
        }
    }

    /// What one entry is called.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Stream::Facts => "fact",
            Stream::Diagnostics => "diagnostic",
            Stream::Trace => "trace entry",
        }
    }

    /// The fields every entry has.
    pub(crate) fn common(self) -> &'static [&'static str] {
        match self {
            Stream::Facts => &["Kind", "Actor", "Source", "Effect", "At"],
            Stream::Diagnostics | Stream::Trace => &["Kind", "Actor", "Effect", "At"],
        }
    }

    pub(crate) fn kinds(self) -> impl Iterator<Item = &'static str> {
        self.table().iter().map(|(kind, _)| *kind)
    }

    /// The fields of a kind beside the common ones.
    pub(crate) fn fields_of(self, kind: &str) -> Option<&'static [&'static str]> {
        self.table().iter().find(|(k, _)| *k == kind).map(|(_, fields)| *fields)
    }
}

/// Kinds of refusals a scenario can name; the first two stand for several.
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
    "Complete",
    "Set",
    "Reload",
    "Repeat",
    "Expect",
    "ExpectFacts",
    "ExpectCount",
    "ExpectDiagnostics",
    "ExpectTrace",
    "MarkHash",
    "ExpectHash",
];

/// Verbs that come with later releases.
pub(crate) const LATER_VERBS: &[&str] = &[
    "Axis",
    "ApplyMoveset",
    "SetMode",
    "AddCapabilitySet",
    "RemoveCapabilitySet",
    "Block",
    "Unblock",
    "Enable",
    "Remap",
    "ResetMappings",
    "ModifyResource",
    "Save",
    "Load",
    "BeginTurn",
    "CommitTurn",
    "Undo",
    "Redo",
    "Link",
    "Disconnect",
    "Reconnect",
];

/// What may stand beside a verb.
pub(crate) const BESIDE: &[&str] = &["Refused", "MayRefuse"];
