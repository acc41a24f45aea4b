//! Pages for the findings of `ugas check` that do not come from lint rules: errors from reading files, from building
//! rules and from checking a whole project. Every id of a finding has a page, so that `ugas explain-lint <id>` works
//! for every finding.

use crate::lint::lint_rule;

/// The page of a finding that does not come from a lint rule.
pub struct FindingPage {
    /// The id in findings.
    pub id: &'static str,
    /// The cause of the finding, in one line.
    pub summary: &'static str,
    /// The suggested action.
    pub fix: &'static str,
}

impl FindingPage {
    /// Returns the page as Markdown.
    pub fn page(&self) -> String {
        format!("# {}\n\n{}\n\n## How to fix it\n\n{}\n", self.id, self.summary, self.fix)
    }
}

/// Returns the page of a finding by its id. The id may belong to a lint rule or to any other finding.
///
/// ```
/// assert!(ugas_data::finding_page("undeclared-tag").unwrap().starts_with("# undeclared-tag\n"));
/// assert!(ugas_data::finding_page("zero-magnitude").unwrap().contains("## Example"));
/// assert!(ugas_data::finding_page("no-such-id").is_none());
/// ```
pub fn finding_page(id: &str) -> Option<String> {
    let of_rule = lint_rule(id).map(|rule| rule.page());
    of_rule.or_else(|| PAGES.iter().find(|page| page.id == id).map(FindingPage::page))
}

/// Returns the pages of all findings that do not come from lint rules, sorted by id.
///
/// ```
/// assert!(ugas_data::finding_pages().is_sorted_by_key(|page| page.id));
/// ```
pub fn finding_pages() -> &'static [FindingPage] {
    PAGES
}

const fn page(id: &'static str, summary: &'static str, fix: &'static str) -> FindingPage {
    FindingPage { id, summary, fix }
}

/// The page of a finding about a name that no document defines.
macro_rules! undefined {
    ($id:literal, $what:literal) => {
        page(
            $id,
            concat!("A document refers to ", $what, " that no document defines."),
            "Define it, or correct the spelling.",
        )
    };
}

/// The page of a finding about an extension that only this runtime reads.
macro_rules! extension {
    ($id:literal, $what:literal, $noun:literal) => {
        page(
            $id,
            concat!($what, " is an extension of the specification. Reported only with `--portable`."),
            concat!("Remove the ", $noun, " if the data must also load in other implementations."),
        )
    };
}

/// The page of a finding about two definitions with the same name.
macro_rules! same_name {
    ($id:literal, $what:literal, $name:literal) => {
        page($id, concat!("Two ", $what, " have the same ", $name, "."), "Rename one of them.")
    };
}

static PAGES: &[FindingPage] = &[
    page(
        "ambiguous-target",
        "A patch names a target that several documents define.",
        "Write `TargetKind` in the patch, or write the full name of the target with its namespace.",
    ),
    page(
        "axis-not-simulated",
        "A document refers to an input action that the sim does not receive.",
        "Write `Simulated: true` in the `input_action`, or refer to another action.",
    ),
    page("bad-absorb", "`Absorb.Before` names the attribute itself.", "Name the attribute that the shield protects."),
    page(
        "bad-cast",
        "A field of `Cast` is out of range, or `Cast.MaxRange` or `Cast.TickData` has no effect.",
        "Write a `Length` of at least 0 seconds and at least one tick. `Cast.MaxRange` must be at least the ability's \
         `MaxRange`, and needs `OnTargetLost: Cancel` or `Complete`. `TickData: Required` needs \
         `NetExecutionPolicy: LocalPredicted` and a `SetTarget` task in `OnPredictedTick`, so that the client sends \
         a target in each tick.",
    ),
    page(
        "bad-charges",
        "A field of `Charges` is out of range.",
        "Write a `Max` and a `PerCooldown` of at least 1, and a `Cooldown` above 0 seconds.",
    ),
    page(
        "bad-cooldown",
        "The effect under `Cooldown` cannot be used as a cooldown.",
        "Use an effect with `DurationPolicy: HasDuration` whose `ExecutionPolicy` is not `RunInSequence`.",
    ),
    page("bad-cost", "The effect under `Cost` is not Instant.", "Use an effect with `DurationPolicy: Instant`."),
    page(
        "bad-curve",
        "A curve cannot be evaluated.",
        "Write at least one point, with finite numbers and increasing X values. A document that is not loaded from \
         disk needs `Points` instead of `Csv`.",
    ),
    page(
        "bad-duration",
        "A duration is negative, zero, or longer than the runtime accepts.",
        "Write a duration above 0 seconds and of at most 50 years, or use `DurationPolicy: Instant`.",
    ),
    page(
        "bad-expression",
        "An expression cannot be parsed, or reads a value that is not available at this place.",
        "Correct the expression as the message says. A column in the message is a position in the expression.",
    ),
    page(
        "bad-global-cooldown",
        "`GlobalCooldown.Length` is not a valid time.",
        "Write a length of at least 0 seconds.",
    ),
    page(
        "bad-input-buffer",
        "The size of an input buffer is out of range.",
        "Write a `MaxBufferSize` from 1 to 64, or `Enabled: false`.",
    ),
    page("bad-input-time", "A time of an input document is negative or too long.", "Write seconds from 0."),
    page("bad-level", "A level or a number of stacks is 0.", "Write at least 1."),
    page("bad-limit", "`Stacking.Limit` is 0.", "Write a limit of at least 1, or remove `Limit`."),
    page(
        "bad-motion",
        "A motion pattern cannot be recognised.",
        "Name an action of `ValueType: Axis2D`, and write 1 to 16 directions: digits from 1 to 9, the first one in \
         brackets for a charge, or `360`.",
    ),
    page(
        "bad-name",
        "A value under `Let` has a name that expressions cannot use.",
        "Use letters, digits and `_`, and do not start with a digit.",
    ),
    page(
        "bad-param",
        "A parameter of a task or a calculation is unknown or missing, or has an invalid value.",
        "Correct or remove an unknown parameter, add a missing one, or correct its value; see the message.",
    ),
    page(
        "bad-patch",
        "The document is invalid after a patch was applied to it.",
        "Correct the value that the patch sets; the message names the error in the patched document.",
    ),
    page(
        "bad-period",
        "A period is shorter than 1 ms or too long, or its effect is Instant.",
        "Write a period of at least 0.001 seconds and at most 50 years, or remove `Period` from an Instant effect.",
    ),
    page(
        "bad-quantize",
        "`Quantize` has no valid range.",
        "Write a finite `Min` below a finite `Max`, and `Bits` from 1 to 32.",
    ),
    page(
        "bad-query",
        "A tag query cannot be parsed.",
        "Write tags with operators, such as `State.Alive & !State.Debuff.Stunned`. The message names the column.",
    ),
    page("bad-queue-window", "`QueueWindow` is not a valid time.", "Write seconds from 0."),
    page("bad-range", "`MaxRange` is negative or not finite.", "Write a number of at least 0."),
    page(
        "bad-resource",
        "A resource, or a resource of a controller, has unsuitable bounds.",
        "Write `Min` not above `Max`, a stat such as `Stat.MaxMana` in `MaxStat` and `MinStat`, and `Max` beside \
         `MaxStat`. A controller may set a bound only if the resource has it and it follows no stat of the controller.",
    ),
    page(
        "bad-rule",
        "A combat rule names an unknown value in `On`, or has a field that does not fit this value.",
        "Correct the name in `On`, or change the field that the message names. A rule has one of `Modify`, \
         `Restrict: true` and `Function`; `AbilityUse`, `Interrupt` and `BuffApplied` do not take `Modify`.",
    ),
    page(
        "bad-set",
        "A capability set contains an ability set, contains itself, or nests other sets too deep.",
        "List only capability sets under `Sets`. Remove the set that leads back to itself, or list the contained sets \
         directly.",
    ),
    page(
        "bad-stat",
        "A stat table has a stat with an unsuitable tag, bounds or combat value.",
        "Write `Stat.` and one name as the tag, each tag once, `Min` not above `Max`, and in `Scales` a combat value that \
         is a number.",
    ),
    page(
        "bad-static",
        "`Static` names a value that abilities do not have.",
        "Use a name that the message suggests or lists.",
    ),
    page(
        "bad-tag",
        "A tag name is malformed.",
        "Write segments separated by dots. Each segment starts with a capital letter: `State.Debuff.Burning`.",
    ),
    page(
        "bad-task",
        "A task has a field that its type does not have, or lacks a field that its type requires.",
        "Remove the field that the type does not have, or add the missing field. The message names the field.",
    ),
    page(
        "bad-timeline",
        "A timeline has a time or a frame rate out of range, a notify without a name, or answers without an ability.",
        "Write a `FrameRate` of at least 1, a `Length` above 0, and notifies from 0 to `Length`. A notify needs \
         `Event` or `Name`, and `Answers` needs `Ability`.",
    ),
    page(
        "bad-trigger",
        "A trigger has no form, several forms, or a field that does not fit its form.",
        "Write exactly one form. `Attribute` needs either `Below` or `Above`, and `Died` needs \
         `CastableWhileDead: true` in the ability.",
    ),
    page(
        "capability-effect",
        "A field of a capability names an effect with another duration policy than the field needs.",
        "Use Infinite effects under `Effects`, and Instant effects under `OnActivated`, `OnDeactivated` and `OnTick`.",
    ),
    page(
        "chance-on-commit",
        "A cost or cooldown effect has an `ApplicationChance`.",
        "Remove the chance: committing an ability always applies its cost and cooldown.",
    ),
    page(
        "conditional-value",
        "A combat rule with `When` changes a value that the runtime also reads outside of events.",
        "Remove `When`, or change another value.",
    ),
    page(
        "cue-prefix",
        "A cue's tag does not start with `GameplayCue.`.",
        "Rename the tag, for example to `GameplayCue.Fire.Impact`.",
    ),
    page(
        "cycle",
        "Attributes or attribute sets depend on each other in a cycle.",
        "Remove one of the dependencies that the message lists.",
    ),
    page(
        "duplicate-input-settings",
        "Two documents set different input buffers for all action sets.",
        "Write `InputBuffer` once, in `pack.yaml` or in one document of kind `input_settings`.",
    ),
    same_name!("duplicate-instance", "placements of a scene", "id"),
    page("duplicate-key", "A map has the same key twice.", "Remove or rename one of the keys."),
    page(
        "duplicate-montage",
        "Two timelines name the same montage.",
        "Write another `Montage` in one of the timelines.",
    ),
    page(
        "duplicate-name",
        "Two documents or values have the same name.",
        "Rename one of them. To change a definition of another pack, write a patch.",
    ),
    same_name!("duplicate-region", "regions of a scene", "name"),
    same_name!("duplicate-spawn-point", "spawn points of a scene", "name"),
    page(
        "duplicate-timeline",
        "Two timelines name the same ability.",
        "Remove `Ability` from one of the timelines, or merge them.",
    ),
    page(
        "empty-calculation",
        "A calculation has no result.",
        "Write `Results` for an execution, or `Value` for a magnitude.",
    ),
    page("empty-list", "A composite task has no tasks.", "Write the inner tasks, or remove the composite task."),
    page("empty-set", "An attribute set has no attributes.", "Write at least one attribute, or remove the set."),
    extension!("extension-field", "A field", "field"),
    extension!("extension-kind", "A kind of document", "document"),
    page(
        "fixed-stat",
        "An effect modifies a stat with `Modifiable: false`.",
        "Modify another attribute, or remove `Modifiable: false` from the stat.",
    ),
    page(
        "instant-in-set",
        "An ability set applies an Instant effect.",
        "Use an effect that is not Instant: an Instant effect is not undone when the ability set is revoked.",
    ),
    page(
        "invalid",
        "A document has an unknown or missing field, a value of the wrong type, or an unknown name.",
        "Follow the message. It names what was expected and, for a misspelt name, the nearest valid name.",
    ),
    page(
        "limit",
        "A file, a folder or a definition exceeds a limit.",
        "Split the file, folder or definition, or reduce the quantity that the message names.",
    ),
    page(
        "missing-default",
        "An attribute has no `DefaultBaseValue`.",
        "Write the base value that a new controller starts with.",
    ),
    page("missing-field", "A required field is missing.", "Write the field that the message names."),
    page(
        "missing-pack",
        "A required pack does not exist.",
        "Put the folder of the required pack next to the folder of this pack, or remove the name from `Requires`.",
    ),
    page("no-documents", "A reload found no documents.", "Check that the folder still contains the files."),
    page("no-sets", "A controller has no attribute sets.", "Write at least one entry under `AttributeSets`."),
    page("not-finite", "A number is infinite or not a number.", "Write a finite number."),
    page(
        "parent-granted",
        "An effect grants a tag that has child tags.",
        "Grant the most specific tag. The target then also has the parent tags of this tag.",
    ),
    page(
        "patch-conflict",
        "Two patches change the same field.",
        "Remove one patch, or let one pack require the other: the requiring pack's patch is then applied last.",
    ),
    page(
        "patch-not-applied",
        "A patch reached the rules builder without being applied.",
        "Load the documents with `ugas-data`, which applies patches before rules are built.",
    ),
    page(
        "roll-on-commit",
        "A cost or cooldown effect uses a calculation that draws random numbers.",
        "Use a calculation without `roll`, or another type of magnitude.",
    ),
    page(
        "scene-cycle",
        "A scene extends itself, directly or through other scenes.",
        "Remove one scene of the cycle from `Extends`.",
    ),
    page(
        "stacking-policy",
        "An effect with `Stacking` has an `ExecutionPolicy` other than RunInParallel.",
        "Remove one of the two fields.",
    ),
    page(
        "stat-by-rule",
        "A combat rule has `On: StatValue`. Stats are attributes, so effects change them with modifiers.",
        "Remove the rule and add the modifier that the message shows. A `Factor` of 1.25 becomes `Operation: Multiply` \
         with a magnitude of 0.25.",
    ),
    page(
        "syntax",
        "The text is not valid YAML 1.2 or JSON.",
        "Correct the text at the line and column of the message. Usual causes are indentation, quotes and brackets.",
    ),
    page(
        "tag-conflict",
        "A tag is declared twice with different values of `AllowMultiple`.",
        "Write the same `AllowMultiple` in both declarations, or declare the tag once.",
    ),
    page(
        "too-long",
        "A task list, a calculation or a table exceeds its limit.",
        "Split the list, calculation or table into smaller ones.",
    ),
    page("too-many-scenes", "A scene extends more scenes than the limit.", "Extend fewer scenes."),
    page(
        "undeclared-tag",
        "A document uses a tag that no tag registry declares.",
        "Declare the tag in a document of kind `gameplay_tag`, or correct the spelling.",
    ),
    undefined!("unknown-ability", "an ability"),
    undefined!("unknown-ability-set", "an ability set or capability set"),
    page(
        "unknown-attribute",
        "A document refers to an attribute that no attribute set defines.",
        "Define the attribute in an attribute set, or correct the spelling.",
    ),
    page(
        "unknown-calculation",
        "A document refers to a calculation that neither a document nor host code provides.",
        "Correct the spelling, write a `calculation` document, or list it in pack.yaml under `Host.Calculations`.",
    ),
    page(
        "unknown-capability",
        "A set lists a capability that neither a document nor host code provides.",
        "Correct the spelling, write a `capability` document, or list the class in pack.yaml under `Host.Capabilities`.",
    ),
    page(
        "unknown-controller",
        "A document refers to a controller that no document defines.",
        "Use the `OwnerActor.ActorID` of a `gameplay_controller` document.",
    ),
    undefined!("unknown-curve", "a curve"),
    undefined!("unknown-effect", "an effect"),
    page(
        "unknown-hook",
        "A document refers to a hook that host code does not register.",
        "Correct the spelling, or register the hook in code and list its name in pack.yaml under `Host.Hooks`.",
    ),
    page(
        "unknown-input",
        "A definition that is added at run time names an input that the rules do not contain.",
        "Correct the spelling, or name the input in a document from which the rules are built.",
    ),
    undefined!("unknown-input-action", "an input action"),
    undefined!("unknown-input-action-set", "an input action set"),
    undefined!("unknown-input-modifier", "an input modifier"),
    page(
        "unknown-key",
        "A definition that is added at run time names a SetByCaller key that the rules do not contain.",
        "Correct the spelling, or name the key in a document from which the rules are built.",
    ),
    page(
        "unknown-kind",
        "A document has no kind, or an unknown kind.",
        "Write `Kind:` with one of the kinds that the message lists.",
    ),
    page(
        "unknown-modifier-code",
        "An input modifier names host code that pack.yaml does not list under `Host`.",
        "List the name in pack.yaml under `Host.Modifiers`, or correct the spelling.",
    ),
    page(
        "unknown-motion",
        "`Motion` names no motion pattern.",
        "Correct the name, or write a `motion_pattern` document.",
    ),
    page(
        "unknown-placeholder",
        "A placeholder in a description does not name a known effect, attribute or value.",
        "Correct the name between the braces.",
    ),
    undefined!("unknown-scene", "a scene"),
    undefined!("unknown-set", "an attribute set"),
    page(
        "unknown-target",
        "A patch names a target that no document defines.",
        "Correct the name, or add the pack that defines the target to `Requires`.",
    ),
    page(
        "unknown-task",
        "A document uses a task type that neither the runtime nor host code provides.",
        "Correct the name, or list the name in pack.yaml under `Host.Tasks`.",
    ),
    page(
        "unreadable",
        "A file cannot be read: it does not exist, access is denied, or it is not UTF-8.",
        "Check the path and the permissions, and save the file as UTF-8.",
    ),
    page(
        "unsupported-field",
        "The field or value is part of the format, but this release does not implement its behavior.",
        "Remove the field or change the value, as the message says.",
    ),
    page(
        "unsupported-kind",
        "The document is of a kind whose behavior this release does not implement.",
        "Remove the document.",
    ),
    page(
        "unused-capture",
        "A calculation captures an attribute that no expression reads.",
        "Remove the entry under `Capture`, or read the attribute in an expression.",
    ),
    page(
        "unused-field",
        "The runtime ignores a field in this kind of definition.",
        "Remove the field, or change the policy that makes it unused.",
    ),
    page(
        "waits-in-list",
        "A task that waits is in a list whose tasks must not wait.",
        "Move the task to `Tasks`, or use a task that does not wait.",
    ),
    page(
        "zero-period",
        "`Period.Period` is 0, so the effect is not periodic.",
        "Write the length of the period, or remove `Period`.",
    ),
];
