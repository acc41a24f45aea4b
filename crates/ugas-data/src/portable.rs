//! Extensions of the specification. A file that uses no extensions can be loaded by every implementation of the
//! specification. `ugas check --portable` and the JSON Schemas (key `x-ugas-extension`) use the table in this file.

use crate::Project;
use crate::diagnostic::{Diagnostic, Severity};
use crate::project::{Source, SourceDoc};
use ugas_doc::Kind;

/// A map of the specification: its name (the kind for a document) and its fields, each with the name of the map below it or
/// in its list.
type SpecMap = (&'static str, &'static [(&'static str, &'static str)]);

/// Every map of the third draft of the specification. Free maps (`Params`) have no entry.
const SPEC_MAPS: &[SpecMap] = &[
    (
        "attribute",
        &[
            ("Name", ""),
            ("DefaultBaseValue", ""),
            ("Category", ""),
            ("Clamping", "clamping"),
            ("ReplicationMode", ""),
            ("Metadata", "metadata"),
        ],
    ),
    ("clamping", &[("Min", ""), ("Max", "")]),
    (
        "metadata",
        &[
            ("DisplayName", ""),
            ("Description", ""),
            ("UICategory", ""),
            ("Icon", ""),
            ("Category", ""),
            ("Tags", ""),
            ("DebugCategory", ""),
        ],
    ),
    ("attribute_set", &[("Name", ""), ("Dependencies", ""), ("Attributes", "attribute"), ("Metadata", "metadata")]),
    ("gameplay_tag", &[("Tags", "tag")]),
    ("tag", &[("Tag", ""), ("Description", ""), ("AllowMultiple", ""), ("DevComment", "")]),
    (
        "gameplay_ability",
        &[
            ("Name", ""),
            ("Tags", "ability_tags"),
            ("Cost", ""),
            ("Cooldown", ""),
            ("Tasks", "task"),
            ("Metadata", "metadata"),
        ],
    ),
    (
        "ability_tags",
        &[
            ("AbilityTags", ""),
            ("BlockedByTags", ""),
            ("BlockAbilitiesWithTags", ""),
            ("CancelAbilitiesWithTags", ""),
            ("ActivationRequiredTags", ""),
            ("ActivationBlockedTags", ""),
            ("ActivationOwnedTags", ""),
        ],
    ),
    ("task", &[("Type", ""), ("Params", ""), ("TickInterval", ""), ("Priority", "")]),
    (
        "gameplay_effect",
        &[
            ("Name", ""),
            ("DurationPolicy", ""),
            ("Duration", "magnitude"),
            ("Period", "period"),
            ("ExecutionPolicy", ""),
            ("Priority", ""),
            ("Modifiers", "modifier"),
            ("Executions", "execution"),
            ("GrantedTags", ""),
            ("ApplicationRequiredTags", ""),
            ("GrantedAbilities", "effect_grant"),
            ("GameplayCues", ""),
        ],
    ),
    ("period", &[("Period", ""), ("ExecuteOnApplication", "")]),
    ("execution", &[("CalculatorClass", "")]),
    ("effect_grant", &[("AbilityClass", ""), ("Level", ""), ("InputID", ""), ("RemoveOnEffectRemoval", "")]),
    (
        "magnitude",
        &[
            ("Type", ""),
            ("Value", ""),
            ("Curve", ""),
            ("CurveInput", ""),
            ("BackingAttribute", ""),
            ("Source", ""),
            ("Coefficient", ""),
            ("PreMultiplyAdditive", ""),
            ("PostMultiplyAdditive", ""),
            ("CalculatorClass", ""),
            ("DataTag", ""),
        ],
    ),
    ("modifier", &[("Attribute", ""), ("Operation", ""), ("Magnitude", "magnitude"), ("Channel", "")]),
    (
        "gameplay_controller",
        &[
            ("OwnerActor", "actor"),
            ("AvatarActor", "actor"),
            ("AttributeSets", "set_values"),
            ("GrantedAbilities", "grant"),
            ("ActiveEffects", "active_effect"),
            ("ActiveActionSets", ""),
            ("OwnedTags", ""),
            ("ReplicationMode", ""),
            ("bIsActive", ""),
            ("Metadata", "metadata"),
        ],
    ),
    ("actor", &[("ActorID", ""), ("ActorType", "")]),
    ("set_values", &[("Name", ""), ("Attributes", "value")]),
    ("value", &[("Name", ""), ("BaseValue", ""), ("CurrentValue", "")]),
    ("grant", &[("AbilityClass", ""), ("Level", ""), ("InputID", ""), ("Handle", ""), ("bIsActive", "")]),
    (
        "active_effect",
        &[
            ("Handle", ""),
            ("EffectClass", ""),
            ("Duration", ""),
            ("Stacks", ""),
            ("StartTime", ""),
            ("Level", ""),
            ("InstigatorGC", ""),
        ],
    ),
    (
        "input_action",
        &[
            ("Name", ""),
            ("ValueType", ""),
            ("TriggerBehavior", ""),
            ("TapThreshold", ""),
            ("DoubleTapWindow", ""),
            ("ConsumeInput", ""),
            ("Tags", "action_tags"),
            ("Metadata", "metadata"),
        ],
    ),
    ("action_tags", &[("ActionTags", "")]),
    (
        "input_action_set",
        &[
            ("Name", ""),
            ("Actions", ""),
            ("Priority", ""),
            ("ActivationTags", "activation_tags"),
            ("Exclusive", ""),
            ("InputBuffer", "input_buffer"),
            ("Metadata", "metadata"),
        ],
    ),
    ("activation_tags", &[("RequiredTags", ""), ("BlockedTags", "")]),
    ("input_buffer", &[("Enabled", ""), ("BufferWindow", ""), ("MaxBufferSize", "")]),
    ("input_mapping", &[("ActionSet", ""), ("Platform", ""), ("Bindings", "binding"), ("Metadata", "metadata")]),
    (
        "binding",
        &[
            ("Action", ""),
            ("Inputs", "device_input"),
            ("CompositeInputs", "composite"),
            ("Modifiers", ""),
            ("Priority", ""),
            ("HoldThreshold", ""),
            ("bIsRebindable", ""),
            ("Tags", "binding_tags"),
        ],
    ),
    ("binding_tags", &[("RequiredTags", "")]),
    ("device_input", &[("Device", ""), ("Input", ""), ("CustomDeviceName", "")]),
    (
        "composite",
        &[
            ("Up", "device_input"),
            ("Down", "device_input"),
            ("Left", "device_input"),
            ("Right", "device_input"),
            ("Forward", "device_input"),
            ("Backward", "device_input"),
        ],
    ),
    (
        "input_modifier",
        &[("Name", ""), ("Type", ""), ("Params", ""), ("UserConfigurable", ""), ("Metadata", "metadata")],
    ),
];

/// Fields of later drafts of the specification.
const LATER: &[(&str, &str)] =
    &[("gameplay_effect", "Area"), ("gameplay_ability", "MaxRange"), ("gameplay_ability", "AsyncValidation")];

/// Returns the fields of a map of the specification, with the maps below them.
pub(crate) fn shape(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    SPEC_MAPS.iter().find(|s| s.0 == name).map(|s| s.1)
}

impl Project {
    /// Returns a finding for every use of a field or kind that extends the specification.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// let schema = "https://ugas.jbltx.com/v1.0.0-draft.3/schemas/gameplay_effect.json";
    /// project.put("a.yaml", format!("$schema: {schema}\nName: GE\nDurationPolicy: Instant\nEffectTags: [A]\n"));
    /// let found = project.extensions();
    /// assert_eq!((found[0].id.as_str(), found[0].line, found[0].column), ("extension-field", 4, 1));
    /// ```
    pub fn extensions(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for source in self.sources() {
            for doc in &source.docs {
                document(source, doc, &mut findings);
            }
        }
        Diagnostic::arrange(&mut findings);
        findings
    }
}

fn document(source: &Source, doc: &SourceDoc, findings: &mut Vec<Diagnostic>) {
    let Some(kind) = doc.kind else { return };
    let mut report = |id: &str, span, message: String| {
        findings.push(source.finding(id, Severity::Info, message, span));
    };
    let named = doc.tree.entry("Kind");
    let Some(fields) = shape(kind.name()) else {
        let at = doc.tree.entry("$schema").or(named).map_or(doc.tree.span, |e| e.value.span);
        let later = if kind == Kind::Scene { "; later drafts have it" } else { "" };
        let message = format!("the kind {} is an extension of the specification{later}", kind.name());
        return report("extension-kind", at, message);
    };
    if let Some(entry) = named {
        let message = "`Kind` is an extension of the specification, which uses `$schema`".to_owned();
        report("extension-field", entry.span, message);
    }
    let mut wanted = vec![(&doc.tree, kind.name(), fields)];
    while let Some((node, name, fields)) = wanted.pop() {
        wanted.extend(node.items().iter().map(|n| (n, name, fields)));
        for e in node.entries().iter().filter(|e| !crate::kind::KIND_KEYS.contains(&e.key.as_str())) {
            match fields.iter().find(|f| f.0 == e.key) {
                Some((_, below)) => wanted.extend(shape(below).map(|fields| (&e.value, *below, fields))),
                None => {
                    let later = if LATER.contains(&(name, &e.key)) { "; later drafts have it" } else { "" };
                    let owner = name.replace('_', " ");
                    let message =
                        format!("{}: this field of {owner} is an extension of the specification{later}", e.key);
                    report("extension-field", e.span, message);
                }
            }
        }
    }
}
