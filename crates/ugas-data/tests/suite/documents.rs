//! Documents of every kind: what loads, what is refused and where, and what is saved.

use ugas_data::{Code, ReadError, read_str, to_yaml};
use ugas_doc::{Category, ControllerReplication, Doc, Effect, ExecutionPolicy, Kind, Operation, ReplicationMode};

fn one(text: &str) -> Doc {
    let mut documents = read_str("test.yaml", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(documents.docs.len(), 1);
    documents.docs.remove(0).doc
}

fn effect(text: &str) -> Effect {
    match one(text) {
        Doc::Effect(effect) => *effect,
        other => panic!("expected an effect, found {other:?}"),
    }
}

fn refused(text: &str) -> ReadError {
    let mut errors = read_str("test.yaml", text).expect_err("must be refused").into_vec();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

const EVERY_FIELD: &str = r#"
$schema: https://raw.githubusercontent.com/jbltx/ugas/v1.0.0-draft.3/schemas/gameplay_effect.json
Name: GE_Everything
DurationPolicy: HasDuration
Duration: {Type: SetByCaller, DataTag: Duration.Base}
Period: {Period: 0.5, ExecuteOnApplication: true}
Modifiers:
  - Attribute: Vitals.Health
    Operation: Multiply
    Magnitude: {Type: AttributeBased, BackingAttribute: Strength, Source: Target, Coefficient: 0.1,
                PreMultiplyAdditive: -1, PostMultiplyAdditive: 1e-7}
    Channel: DamageBonuses
  - {Attribute: Mana, Operation: Override, Magnitude: {Type: ScalableFloat, Value: -0.0, Curve: C_Damage, CurveInput: Level}}
Executions:
  - CalculatorClass: ExecCalc_Hit
    Params: {Scale: 1.25, Word: "yes", Nothing: null, List: [1, {Deep: true}], Text: "two\nlines: # no comment"}
GrantedTags: [State.Debuff.Poisoned]
ApplicationRequiredTags: [State.Alive]
GrantedAbilities:
  - {AbilityClass: GA_FlameStrike, Level: 3, InputID: Weapon, RemoveOnEffectRemoval: false}
ExecutionPolicy: RunInMerge
Priority: -7
GameplayCues: [GameplayCue.Poison]
"#;

// covers: UGAS-9.1-02
#[test]
fn an_effect_with_all_twelve_fields_survives_load_save_load() {
    let loaded = one(EVERY_FIELD);
    let saved = to_yaml(&loaded);
    assert!(saved.starts_with("Kind: gameplay_effect\nName: GE_Everything\n"), "{saved}");
    let reread = one(&saved);
    assert_eq!(reread, loaded, "{saved}");
    assert_eq!(to_yaml(&reread), saved);

    let effect = effect(EVERY_FIELD);
    assert_eq!(effect.execution_policy, ExecutionPolicy::RunInMerge);
    assert_eq!(effect.priority, -7);
    assert_eq!(effect.modifiers[1].operation, Operation::Override);
    assert!(effect.modifiers[1].magnitude.value.is_some_and(f64::is_sign_negative), "minus zero keeps its sign");
    for field in [
        "Name",
        "DurationPolicy",
        "Duration",
        "Period",
        "Modifiers",
        "Executions",
        "GrantedTags",
        "ApplicationRequiredTags",
        "GrantedAbilities",
        "ExecutionPolicy",
        "Priority",
        "GameplayCues",
    ] {
        assert!(saved.lines().any(|l| l.starts_with(&format!("{field}:"))), "{field} is missing in\n{saved}");
    }
}

// covers: UGAS-9.4-01
#[test]
fn an_unknown_operation_is_refused_with_the_four_that_exist() {
    let error = refused(
        "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\nModifiers:\n- Attribute: Health\n  Operation: Divide\n  Magnitude: {Type: ScalableFloat, Value: 2}\n",
    );
    assert_eq!(
        error.to_string(),
        "test.yaml:6:14: Modifiers[0].Operation: \"Divide\" is not one of Add, Multiply, AddPost, Override"
    );
    for operation in ["Add", "AddPost", "Multiply", "Override"] {
        let text = format!(
            "{{Kind: gameplay_effect, Name: GE, DurationPolicy: Instant, Modifiers: [{{Attribute: A, Operation: {operation}, Magnitude: {{Type: ScalableFloat, Value: 2}}}}]}}"
        );
        assert_eq!(format!("{:?}", effect(&text).modifiers[0].operation), operation);
    }
}

// covers: UGAS-9.4-02, UGAS-9.10-05
#[test]
fn a_modifier_needs_attribute_operation_and_magnitude_and_a_magnitude_its_type() {
    let head = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\nModifiers:\n";
    let good = "- {Attribute: A, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}, Channel: C}\n";
    assert_eq!(effect(&format!("{head}{good}")).modifiers[0].channel.as_deref(), Some("C"));
    for (modifier, field) in [
        ("- Attribute: A\n  Operation: Add\n", "Magnitude"),
        ("- Attribute: A\n  Magnitude: {Type: ScalableFloat}\n", "Operation"),
        ("- Operation: Add\n  Magnitude: {Type: ScalableFloat}\n", "Attribute"),
    ] {
        let error = refused(&format!("{head}{good}{modifier}"));
        assert_eq!((error.line, error.column), (6, 3), "{error}");
        assert_eq!(error.message, format!("Modifiers[1]: the field {field} is missing"));
    }
    let error = refused(&format!("{head}- Attribute: A\n  Operation: Add\n  Magnitude: {{Value: 5}}\n"));
    assert_eq!(error.to_string(), "test.yaml:7:14: Modifiers[0].Magnitude: the field Type is missing");
}

// covers: UGAS-9.10-01
#[test]
fn an_effect_needs_a_name_and_one_of_three_duration_policies() {
    for policy in ["Instant", "HasDuration", "Infinite"] {
        let effect = effect(&format!("Kind: gameplay_effect\nName: GE\nDurationPolicy: {policy}\n"));
        assert_eq!(format!("{:?}", effect.duration_policy), policy);
    }
    let error = refused("Kind: gameplay_effect\nName: GE\n");
    assert_eq!(error.message, "the field DurationPolicy is missing");
    let error = refused("Kind: gameplay_effect\nDurationPolicy: Instant\n");
    assert_eq!(error.message, "the field Name is missing");
    let error = refused("Kind: gameplay_effect\nName: ''\nDurationPolicy: Instant\n");
    assert_eq!(error.to_string(), "test.yaml:2:7: Name: must not be empty");
    let error = refused("Kind: gameplay_effect\nName: GE\nDurationPolicy: Timed\n");
    assert_eq!(
        error.to_string(),
        "test.yaml:3:17: DurationPolicy: \"Timed\" is not one of Instant, HasDuration, Infinite"
    );
}

// covers: UGAS-9.10-04
#[test]
fn a_minimal_effect_has_the_specified_defaults() {
    let effect = effect(
        "Kind: gameplay_effect\nName: GE\nDurationPolicy: Instant\nPeriod: {Period: 1}\nGrantedAbilities: [{AbilityClass: GA}]\n",
    );
    assert_eq!(effect.execution_policy, ExecutionPolicy::RunInParallel);
    assert_eq!(effect.priority, 0);
    assert!(!effect.period.unwrap().execute_on_application);
    assert_eq!(effect.granted_abilities[0].level, 1);
    assert!(effect.granted_abilities[0].remove_on_effect_removal);
}

// covers: UGAS-5.1-03
#[test]
fn the_three_categories_are_read_and_others_refused() {
    for (name, category) in
        [("Resource", Category::Resource), ("Statistic", Category::Statistic), ("Meta", Category::Meta)]
    {
        let doc = one(&format!("Kind: attribute\nName: X\nDefaultBaseValue: 1\nCategory: {name}\n"));
        assert!(matches!(doc, Doc::Attribute(a) if a.category == category));
    }
    let error = refused("Kind: attribute\nName: X\nDefaultBaseValue: 1\nCategory: Other\n");
    assert_eq!(error.to_string(), "test.yaml:4:11: Category: \"Other\" is not one of Resource, Statistic, Meta");
}

// covers: UGAS-5.7-02
#[test]
fn an_attribute_is_a_statistic_replicated_to_all_by_default() {
    let Doc::Attribute(attribute) = one("Kind: attribute\nName: X\nDefaultBaseValue: 1\n") else {
        panic!("not an attribute")
    };
    assert_eq!((attribute.category, attribute.replication_mode), (Category::Statistic, ReplicationMode::All));
}

// covers: UGAS-6.5-01
#[test]
fn an_attribute_set_needs_its_attributes() {
    let error = refused("Kind: attribute_set\nName: S\n");
    assert_eq!(error.to_string(), "test.yaml:1:1: the field Attributes is missing");
    let doc = one("Kind: attribute_set\nName: S\nDependencies: [CombatAttributeSet]\nAttributes: []\n");
    assert!(matches!(doc, Doc::AttributeSet(set) if set.dependencies == ["CombatAttributeSet"]));
}

// covers: UGAS-7.6-01
#[test]
fn a_tag_entry_needs_its_tag() {
    let doc = one("Kind: gameplay_tag\nTags:\n- Tag: State.Alive\n");
    assert!(matches!(doc, Doc::TagRegistry(r) if r.tags[0].tag == "State.Alive" && !r.tags[0].allow_multiple));
    let error = refused("Kind: gameplay_tag\nTags:\n- Tag: State.Alive\n- Description: none\n");
    assert_eq!(error.to_string(), "test.yaml:4:3: Tags[1]: the field Tag is missing");
}

// covers: UGAS-B.1-05 UGAS-13.2-05
#[test]
fn a_controller_is_mixed_and_active_by_default() {
    let head = "Kind: gameplay_controller\nOwnerActor: {ActorID: Hero}\nAttributeSets: [{Name: Vitals}]\n";
    let Doc::Controller(controller) = one(head) else { panic!("not a controller") };
    assert_eq!(controller.replication_mode, ControllerReplication::Mixed);
    assert!(controller.is_active);
    for mode in ["Minimal", "Mixed", "Full", "None"] {
        let doc = one(&format!("{head}ReplicationMode: {mode}\n"));
        assert!(matches!(doc, Doc::Controller(c) if format!("{:?}", c.replication_mode) == mode));
    }
    let error = refused(&format!("{head}ReplicationMode: Partial\n"));
    assert_eq!(error.line, 4);
    assert!(error.message.ends_with("is not one of Minimal, Mixed, Full, None"), "{error}");
}

// covers: NXT-B-01, UGAS-B.0-01, UGAS-B.0-06
#[test]
fn schema_addresses_of_every_draft_are_known_and_others_refused() {
    let with = |schema: &str| format!("$schema: {schema}\nName: GE\nDurationPolicy: Instant\n");
    for home in ["https://raw.githubusercontent.com/jbltx/ugas", "https://ugas.jbltx.com"] {
        for version in ["v1.0.0-draft.1", "v1.0.0-draft.3", "v1.0.0-draft.9"] {
            let doc = one(&with(&format!("{home}/{version}/schemas/gameplay_effect.json")));
            assert_eq!(doc.kind(), Kind::Effect);
        }
    }
    let home = "https://ugas.jbltx.com";
    let error = refused(&with(&format!("{home}/v1.0.0-draft.9/schemas/gameplay_efect.json")));
    assert_eq!((error.code, error.line, error.column), (Code::UnknownKind, 1, 10));
    for kind in Kind::ALL.map(Kind::name) {
        assert!(error.message.contains(kind), "{kind} is not listed in {error}");
    }
    assert_eq!(error.help.as_deref(), Some("did you mean \"gameplay_effect\"?"));

    let error = refused(&with(&format!("{home}/v9/schemas/gameplay_effect.json")));
    assert_eq!(error.message, "$schema: \"v9\" is not a version of the specification");
    for malformed in [
        "gameplay_effect.json",
        "http://ugas.jbltx.com/v1.0.0-draft.3/schemas/gameplay_effect.json",
        "https://ugas.jbltx.com/v1.0.0-draft.3/gameplay_effect.json",
        "https://ugas.jbltx.com/v1.0.0-draft.3/schemas/gameplay_effect",
        "https://ugas.jbltx.com/v1.0.0-draft.3",
        "5",
    ] {
        let error = refused(&with(malformed));
        assert_eq!(error.code, Code::UnknownKind);
        assert!(error.message.ends_with("is not the URL of a schema"), "{error}");
        assert!(error.help.is_some_and(|h| h.contains("{version}/schemas/{kind}.json")));
    }
}

#[test]
fn a_document_must_name_one_valid_kind() {
    let error = refused("Kind: gameplay_ability_set\nName: A\n");
    assert_eq!((error.code, error.line, error.column), (Code::UnknownKind, 1, 7));
    let error = refused("Name: A\nKind: moveset2\n");
    assert_eq!((error.line, error.help.as_deref()), (2, None), "an unsupported kind is not suggested");
    let error = refused("Name: A\n");
    assert!(error.message.starts_with("the kind of the document is missing; the kinds are attribute, "), "{error}");
    assert_eq!(error.help.as_deref(), Some("add a line `Kind: <kind>`"));
    let schema = "$schema: https://ugas.jbltx.com/v1.0.0/schemas/curve.json\n";
    assert_eq!(one(&format!("{schema}Kind: curve\nName: A\n")).kind(), Kind::Curve);
    let error = refused(&format!("{schema}Kind: attribute\nName: A\n"));
    assert_eq!(error.to_string(), "test.yaml:2:7: Kind is attribute, but $schema names curve");
    assert_eq!(refused("- Kind: curve\n").code, Code::UnknownKind);
}

#[test]
fn unsupported_kinds_are_errors_with_a_reason() {
    let text = "Kind: rotation\nName: R_Mage\n---\nKind: curve\nName: C\n---\n# one more\nKind: moveset\n";
    let errors = read_str("mixed.yaml", text).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "mixed.yaml:1:7: kind rotation is not supported yet: the runtime does not run rotations",
            "mixed.yaml:8:7: kind moveset is not supported yet: the runtime does not play movesets"
        ]
    );
    assert!(errors.iter().all(|e| e.code == Code::UnsupportedKind));
    let mut project = ugas_data::Project::default();
    project.put("mixed.yaml", text);
    let findings = project.check();
    let severities: Vec<_> = findings.iter().filter(|f| f.id == "unsupported-kind").map(|f| f.severity).collect();
    assert_eq!(severities, [ugas_data::Severity::Error; 2]);
}

#[test]
fn origins_name_the_first_line_and_each_modifier() {
    let text = "# header\nKind: curve\nName: C\n---\n\nKind: gameplay_effect\nName: GE\nDurationPolicy: Instant\nModifiers:\n- {Attribute: A, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}\n\n- Attribute: B\n  Operation: Add\n  Magnitude: {Type: ScalableFloat, Value: 1}\n";
    let docs = read_str("two.yaml", text).unwrap().docs;
    assert_eq!(docs[0].origin.to_string(), "two.yaml:2");
    assert_eq!(docs[1].origin.to_string(), "two.yaml:6");
    assert_eq!(*docs[1].origin.modifier_lines, [10, 12]);
}

#[test]
fn every_wrong_document_of_a_file_is_reported() {
    let text = "Kind: curve\nName: [A\n---\nKind: curve\nName: B\nName: C\n---\nKind: curve\nName: D\n---\nKind: curve\nPoints: 5\n";
    let errors = read_str("four.yaml", text).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "four.yaml:2:7: unclosed bracket '['",
            "four.yaml:6:1: duplicate key \"Name\", first used in line 5",
            "four.yaml:11:1: the field Name is missing",
            "four.yaml:12:9: Points: expected a list, found the number 5",
        ]
    );
    let codes: Vec<Code> = errors.iter().map(|e| e.code).collect();
    assert_eq!(codes, [Code::Syntax, Code::DuplicateKey, Code::Invalid, Code::Invalid]);
}

#[test]
fn json_is_read_with_the_same_locations() {
    let text = "{\n\t\"Kind\": \"curve\",\n\t\"Name\": \"C\\u00e9 \\/ \\ud83d\\ude00\",\n\t\"Points\": [{\"X\": 1, \"Y\": -2.5e1}]\n}\n";
    let Doc::Curve(curve) = one(text) else { panic!("not a curve") };
    assert_eq!((curve.name.as_str(), curve.points[0].y), ("Cé / 😀", -25.0));
    let error = refused(&text.replace("-2.5e1", "\"many\""));
    assert_eq!(error.to_string(), "test.yaml:4:27: Points[0].Y: expected a number, found the text \"many\"");
}

// covers: UGAS-1-03
#[test]
fn numbers_must_be_finite_and_counts_must_be_whole() {
    let attribute = |field: &str| format!("Kind: attribute\nName: X\n{field}\n");
    for value in [".nan", ".inf", "-.INF", "1e999"] {
        for field in [format!("DefaultBaseValue: {value}"), format!("Clamping: {{Min: {value}}}")] {
            let error = refused(&attribute(&field));
            assert!(error.message.contains("expected a finite number"), "{error}");
            assert_eq!(error.line, 3);
        }
    }
    let order = |value: &str| attribute(&format!("Absorb: {{Before: Health, Order: {value}}}"));
    for value in ["1.5", "3000000000", "-1e300"] {
        let error = refused(&order(value));
        assert!(
            error.message.starts_with("Absorb.Order: expected a whole number from -2147483648 to 2147483647, found"),
            "{error}"
        );
    }
    assert!(matches!(one(&order("-2147483648")), Doc::Attribute(a) if a.absorb.as_ref().unwrap().order == i32::MIN));
    let error = refused(&attribute("Quantize: {Min: 0, Max: 1, Bits: 256}"));
    assert_eq!(error.message, "Quantize.Bits: expected a whole number from 0 to 255, found the number 256");
}

#[test]
fn wrong_types_are_named_at_the_value() {
    let cases = [
        ("Tags: [State.Alive]", "Tags: expected a map, found a list", 3, 7),
        ("Passive: yes", "Passive: expected true or false, found the text \"yes\"", 3, 10),
        ("Cost: 5", "Cost: expected a text, found the number 5", 3, 7),
        ("Tasks:", "Tasks: expected a list, found nothing", 3, 7),
        (
            "Tasks: [{Type: Repeat, Count: -1}]",
            "Tasks[0].Count: expected a whole number from 0 to 4294967295, found the number -1",
            3,
            31,
        ),
        (
            "NetExecution: [1]",
            "NetExecution: expected one of LocalPredicted, LocalOnly, ServerInitiated, ServerOnly, found a list",
            3,
            15,
        ),
        ("Tasks: [{Params: {}}]", "Tasks[0]: the field Type is missing", 3, 9),
    ];
    for (line, message, at_line, at_column) in cases {
        let error = refused(&format!("Kind: gameplay_ability\nName: GA\n{line}\n"));
        assert_eq!(error.message, message);
        // An empty place has no width of its own; it is enough that the line is right.
        assert_eq!(error.line, at_line, "{error}");
        assert!(error.column == at_column || line.ends_with(':'), "{error}");
    }
    let error = refused("Kind: attribute\nName: X\nClamping: {Min: [0]}\n");
    assert_eq!(error.to_string(), "test.yaml:3:17: Clamping.Min: expected a Bound, found a list");
    let doc = one("Kind: attribute\nName: X\nClamping: {Min: 0, Max: MaxHealth}\nMetadata:\n");
    assert!(matches!(doc, Doc::Attribute(a) if a.metadata.is_none()), "nothing is no metadata");
}

#[test]
fn unknown_fields_are_refused_with_the_nearest_spelling() {
    let error = refused("Kind: curve\nName: C\nPoints:\n- {X: 1, Y: 2, Z: 3}\n");
    assert_eq!(error.to_string(), "test.yaml:4:16: Points[0]: unknown field \"Z\"; the fields are X, Y");
    let error = refused("Kind: curve\nName: C\nInterpolaton: Step\n");
    assert_eq!(error.to_string(), "test.yaml:3:1: unknown field \"Interpolaton\"");
    assert_eq!(error.help.as_deref(), Some("did you mean \"Interpolation\"?"));
    let error = refused("Kind: curve\nName: C\nInterpolation: Cubik\n");
    assert_eq!(error.help.as_deref(), Some("did you mean \"Cubic\"?"));
}

#[test]
fn ability_sets_are_read() {
    let text = "Kind: ability_set\nName: AS_FireSword\nAttributeSets: []\nEffects: [GE_Weapon]\n\
                Abilities: [{Ability: GA_FlameStrike, Level: 2, InputID: Weapon}, {Ability: GA_Block}]\n";
    let Doc::AbilitySet(set) = one(text) else { panic!("not an ability set") };
    assert_eq!((set.effects.as_slice(), set.abilities[1].level), (&["GE_Weapon".to_owned()][..], 1));
    assert_eq!((set.abilities[0].level, set.abilities[0].input_id.as_deref()), (2, Some("Weapon")));
    let error = refused("Kind: ability_set\nName: A\nAbilities: [{Level: 1}]\n");
    assert_eq!(error.line, 3);
    assert!(error.message.contains("Ability"), "{error}");
}

#[test]
fn timelines_are_read_in_seconds_and_frames() {
    let text = "Kind: timeline\nName: TL_Light1\nAttack: Attack.Light.1\nFrameRate: 60\nLength: 36f\n\
                Windows: [{Type: Combo, Start: 0.25, End: 0.45}, {Type: Hitbox, Slot: Blade, Start: 6f, End: 0.2}]\n\
                Notifies: [{At: 0.3, Event: Event.Montage.HitWindow}]\n\
                Sockets: {Blade: [{At: 0.1, Position: [0.5, 1, 0]}]}\n\
                Answers: [{Task: WaitTargetData, After: 0.1, Target: Nearest}]\nAbility: GA_Light\n";
    let doc = one(text);
    let Doc::Timeline(line) = &doc else { panic!("not a timeline") };
    assert_eq!(line.length, ugas_doc::Time::Frames(36));
    assert_eq!(line.windows[1].start, ugas_doc::Time::Frames(6));
    assert_eq!(line.answers[0].target, ugas_doc::AnswerTarget::Nearest);
    assert_eq!(line.sockets["Blade"][0].position, [0.5, 1.0, 0.0]);
    assert_eq!(one(&to_yaml(&doc)), doc);
    let error = refused("Kind: timeline\nName: TL\nLength: soon\n");
    assert_eq!(error.line, 3);
    assert!(error.message.contains("frames such as 12f"), "{error}");
}

#[test]
fn calculations_keep_the_order_of_their_values() {
    let text = "Kind: calculation\nName: ExecCalc_Hit\nCapture: {Source: {Attack: OnApplication}}\nLet:\n- {raw: source.Attack * 2}\n\
                - {crit: roll(0.5)}\nContextTags: [{Tag: Hit.Critical, When: crit}]\nResults:\n\
                - {On: Target, Attribute: Health, Operation: Add, Value: -raw}\n- {Attribute: Mana, Operation: Add, Value: 5, When: true}\n";
    let doc = one(text);
    let Doc::Calculation(c) = &doc else { panic!("not a calculation") };
    assert_eq!(c.r#let.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["raw", "crit"]);
    assert_eq!((c.results[1].value.text(), c.results[1].when.as_ref().map(|w| w.text())), ("5", Some("1")));
    assert_eq!(one(&to_yaml(&doc)), doc);
    let error = refused("Kind: calculation\nName: C\nLet:\n- {a: 1, b: 2}\n");
    assert_eq!(error.line, 4);
    assert!(error.message.contains("one name per entry"), "{error}");
    let error =
        refused("Kind: calculation\nName: C\nResults: [{On: Source, Attribute: A, Operation: Add, Value: 1}]\n");
    assert_eq!((error.line, error.column), (3, 16));
}

// covers: UGAS-B.2-01 UGAS-B.2-02
#[test]
fn input_actions_and_sets_have_the_specifications_defaults() {
    let Doc::InputAction(fire) = one("Kind: input_action\nName: Fire\nValueType: Digital\n") else {
        panic!("no action")
    };
    assert_eq!(*fire, ugas_doc::InputAction::new("Fire", ugas_doc::InputValue::Digital));
    assert_eq!(fire.trigger_behavior, ugas_doc::TriggerBehavior::OnPressed);
    assert_eq!((fire.tap_threshold, fire.double_tap_window, fire.consume_input), (0.2, 0.3, true));
    let error = refused("Kind: input_action\nName: Fire\nValueType: Digital\nTapThreshold: -1\n");
    assert_eq!((error.line, error.column), (4, 15), "{error}");
    let Doc::InputActionSet(set) = one("Kind: input_action_set\nName: OnFoot\nActions: [Fire]\nInputBuffer: {}\n")
    else {
        panic!("no set")
    };
    assert_eq!((set.priority, set.exclusive), (0, false));
    let buffer = set.input_buffer.unwrap().buffer();
    assert_eq!((buffer.enabled, buffer.buffer_window, buffer.max_buffer_size), (false, 0.15, 3));
    let error = refused("Kind: input_action_set\nName: OnFoot\nActions: []\n");
    assert_eq!((error.line, error.column), (3, 10), "{error}");
    assert!(refused("Kind: input_action_set\nName: A\nActions: [B]\nInputBuffer: {MaxBufferSize: 0}\n").line == 4);
}

// covers: UGAS-B.2-03 UGAS-B.2-04 UGAS-B.2-05
#[test]
fn mappings_and_modifiers_are_read_and_their_bounds_kept() {
    let text = "Kind: input_mapping\nActionSet: OnFoot\nBindings:\n- Action: Move\n  CompositeInputs: {Up: {Device: Keyboard, Input: Key.W}}\n";
    let Doc::InputMapping(mapping) = one(text) else { panic!("no mapping") };
    assert!(mapping.platform.is_none());
    let binding = &mapping.bindings[0];
    assert!(binding.is_rebindable && binding.priority == 0 && binding.inputs.is_empty());
    let error = refused("Kind: input_mapping\nActionSet: A\nPlatform: Switch\nBindings: [{Action: B}]\n");
    assert_eq!((error.line, error.column), (3, 11), "{error}");
    assert!(["PC", "Console", "Mobile", "VR"].iter().all(|p| error.to_string().contains(p)), "{error}");
    assert_eq!(refused("Kind: input_mapping\nActionSet: A\nBindings: []\n").line, 3);
    assert_eq!(refused("Kind: input_mapping\nActionSet: A\nBindings: [{Action: B, HoldThreshold: -0.1}]\n").column, 39);
    assert_eq!(refused("Kind: input_mapping\nActionSet: A\nBindings: [{Action: B, Inputs: []}]\n").column, 32);

    let Doc::InputModifier(trigger) = one("Kind: input_modifier\nName: T\nType: TriggerThreshold\n") else {
        panic!("no modifier")
    };
    assert_eq!((trigger.number("PressThreshold"), trigger.user_configurable), (Some(0.5), false));
    let error = refused("Kind: input_modifier\nName: D\nType: DeadZone\nParams: {InnerThreshold: 1.2}\n");
    assert_eq!((error.line, error.column), (4, 26), "{error}");
    for (kind, name) in [("DeadZone", "OuterThreshold"), ("TriggerThreshold", "PressThreshold")] {
        for value in ["1.1", "-0.1"] {
            let text = format!("Kind: input_modifier\nName: D\nType: {kind}\nParams: {{{name}: {value}}}\n");
            assert_eq!(refused(&text).line, 4, "{name} {value}");
        }
    }
    assert!(refused("Kind: input_modifier\nName: G\nType: Gamma\n").to_string().contains("DeadZone"));
}

#[test]
fn a_scene_is_read() {
    let text = "Kind: scene\nName: Arena\nPlacements: [{Controller: Elite, InstanceId: elite_1, AttributeOverrides: {Health: 250}}]\n\
                Regions: [{Name: Lava, Shape: Sphere, Radius: 5, GrantedTags: [Zone.Lava]}]\nSpawnPoints: [{Name: A, Position: [1, 2, 3]}]\n";
    let doc = one(text);
    let Doc::Scene(scene) = &doc else { panic!("no scene") };
    assert!(scene.placements[0].enabled && scene.placements[0].attribute_overrides["Health"] == 250.0);
    assert_eq!(scene.spawn_points[0].position, [1.0, 2.0, 3.0]);
    assert_eq!(one(&to_yaml(&doc)), doc);
}
