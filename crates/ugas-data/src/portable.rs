//! What goes beyond the specification. A file that uses none of it means the same to every tool that follows the
//! specification; `ugas check --portable` and the marks in the JSON Schemas are both read from the table here.

use crate::Project;
use crate::diagnostic::{Diagnostic, Severity};
use crate::project::{Source, SourceDoc};
use ugas_doc::Kind;

/// A map of the specification: its name (for a document the kind's) and its fields, each with the name of the map that
/// stands under it or in its list.
type Shape = (&'static str, &'static [(&'static str, &'static str)]);

/// Every map of the specification's third draft. What is free there (`Params`) has no shape.
const SHAPES: &[Shape] = &[
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

/// Fields and kinds that later drafts of the specification have.
const LATER: &[(&str, &str)] =
    &[("gameplay_effect", "Area"), ("gameplay_ability", "MaxRange"), ("gameplay_ability", "AsyncValidation")];

/// The fields that the specification gives a map, with the shapes below them; `None` where it knows no such map.
pub(crate) fn shape(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    SHAPES.iter().find(|s| s.0 == name).map(|s| s.1)
}

impl Project {
    /// Every use of a field or kind that goes beyond the specification, as findings to know of.
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
    let mut tell = |id: &str, span, message: String| {
        findings.push(source.say(id, Severity::Info, message, span));
    };
    let named = doc.tree.entry("Kind");
    let Some(fields) = shape(kind.name()) else {
        let at = doc.tree.entry("$schema").or(named).map_or(doc.tree.span, |e| e.value.span);
        let later = if kind == Kind::Scene { "; later drafts have it" } else { "" };
        let message = format!("the specification has no documents of kind {}{later}", kind.name());
        return tell("extension-kind", at, message);
    };
    if let Some(entry) = named {
        let message = "the specification names the kind by `$schema` only".to_owned();
        tell("extension-field", entry.span, message);
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
                    let message = format!("{}: no field of the specification's {owner}{later}", e.key);
                    tell("extension-field", e.span, message);
                }
            }
        }
    }
}
