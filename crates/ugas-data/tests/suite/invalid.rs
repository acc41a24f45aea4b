//! Invalid documents and their findings. Each file of `invalid/` is checked together with the valid documents of
//! `BASE`; the expected findings are in `invalid.txt`. After an intended change, write it again with `UGAS_BLESS=1
//! cargo test -p ugas-data --test suite invalid` and review the difference.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use ugas_core::{AbilityState, Sim, SimConfig, SimTime, SpawnSpec};
use ugas_data::{Diagnostic, Project, Severity, from_node, kind_of, read_file, read_trees};
use ugas_doc::{Kind, Magnitude, MagnitudeSource};

/// Valid documents that the invalid ones refer to.
const BASE: &str = include_str!("../base.yaml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The wrong files by name, sorted.
fn files() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder().join("invalid")).expect("the folder of wrong documents");
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|n| n.to_str()).expect("a plain name").to_owned();
            (name, std::fs::read_to_string(path).expect("a text"))
        })
        .collect();
    files.sort();
    files
}

fn check(name: &str, text: &str) -> Vec<Diagnostic> {
    let mut project = Project::default();
    project.put("base.yaml", BASE);
    project.put(name, text);
    let mut findings = project.check();
    findings.retain(|f| &*f.file == name);
    findings
}

fn findings_of(name: &str) -> Vec<(String, u32, u32, String)> {
    let file = format!("{name}.yaml");
    let text = std::fs::read_to_string(folder().join("invalid").join(&file)).expect("a wrong document");
    check(&file, &text).into_iter().map(|f| (f.id, f.line, f.column, f.message)).collect()
}

/// Whether these findings come, by id, line and column.
fn assert_findings(name: &str, expected: &[(&str, u32, u32)]) {
    let found = findings_of(name);
    for wanted in expected {
        assert!(found.iter().any(|f| (f.0.as_str(), f.1, f.2) == *wanted), "{name}: {wanted:?} is not in {found:#?}");
    }
}

#[test]
fn every_invalid_document_is_reported_at_its_line() {
    let files = files();
    assert!(files.len() >= 60, "{} documents", files.len());
    let mut report = String::new();
    for (name, text) in &files {
        let findings = check(name, text);
        assert!(!findings.is_empty(), "{name}: nothing was found");
        for f in findings {
            let (severity, id) = (f.severity.name(), f.id);
            writeln!(report, "{}:{}:{}: {severity}[{id}]: {}", f.file, f.line, f.column, f.message).expect("a text");
            if let Some(help) = &f.help {
                writeln!(report, "    {help}").expect("a text");
            }
        }
    }
    let path = folder().join("invalid.txt");
    if std::env::var_os("UGAS_BLESS").is_some() {
        std::fs::write(&path, &report).expect("the expected findings");
    }
    let expected = std::fs::read_to_string(&path).expect("the expected findings");
    for (found, expected) in report.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(report.lines().count(), expected.lines().count());
}

#[test]
fn the_base_is_valid() {
    let mut project = Project::default();
    project.put("base.yaml", BASE);
    let findings = project.check();
    assert!(!findings.iter().any(|f| f.severity == Severity::Error), "{findings:#?}");
}

#[test]
fn a_fix_removes_the_error_it_is_offered_for() {
    let mut fixed = 0;
    for (name, text) in files() {
        for finding in check(&name, &text) {
            let Some(fix) = &finding.fix else { continue };
            let last_first = fix.edits.iter().rev();
            let better =
                last_first.fold(text.to_string(), |text, edit| edit.apply(&text).expect("an edit inside the file"));
            let remaining = check(&name, &better);
            assert!(!remaining.iter().any(|f| f.message == finding.message), "{name}: {better}: {remaining:?}");
            fixed += 1;
        }
    }
    assert!(fixed >= 20, "{fixed}");
}

// Ruling R-104: a field that is accepted does something.
#[test]
fn a_field_without_behaviour_is_refused_with_the_reason() {
    let unsupported = |line, column| ("unsupported-field", line, column);
    assert_findings("unsupported_effect", &[unsupported(4, 7)]);
    assert_findings("unsupported_timeline", &[unsupported(4, 9), unsupported(5, 10), unsupported(7, 3)]);
    assert_findings("unsupported_controller", &[unsupported(4, 7)]);
    assert_findings("rule_never_applies", &[("bad-rule", 5, 33), ("bad-rule", 6, 47)]);
    for name in ["effect", "timeline", "controller"] {
        let found = findings_of(&format!("unsupported_{name}"));
        assert!(found.iter().all(|f| f.3.contains("not supported yet: ")), "{found:?}");
    }
}

// covers: NXT-B-02
#[test]
fn missing_fields_of_policies_magnitudes_and_areas_are_reported_at_their_line() {
    assert_findings("duration_missing", &[("missing-field", 3, 17)]);
    assert_findings("period_negative", &[("bad-period", 5, 11)]);
    assert_findings("period_zero_draft_4", &[("zero-period", 4, 18)]);
    for name in ["value", "backing", "calculation", "data_tag"] {
        assert_findings(&format!("magnitude_{name}_missing"), &[("missing-field", 5, 59)]);
    }
    assert_findings("duration_magnitude_incomplete", &[("missing-field", 4, 18)]);
    assert_findings("area_without_radius", &[("invalid", 5, 3)]);
    assert_findings("area_cone_without_angle", &[("invalid", 5, 10)]);
    assert_findings("area_radius_incomplete", &[("invalid", 4, 23)]);
}

// covers: NXT-B-03 UGAS-B.0-07
#[test]
fn undefined_names_are_reported_at_the_name_with_the_nearest_spelling() {
    for (name, id, line, column, meant) in [
        ("attribute_bound_unknown", "unknown-attribute", 6, 29, "MaxHealth"),
        ("modifier_attribute_unknown", "unknown-attribute", 5, 17, "Health"),
        ("ability_cooldown_misspelt", "unknown-effect", 3, 11, "GE_Hit"),
        ("grant_ability_unknown", "unknown-ability", 4, 35, "GA_Strike"),
        ("controller_set_unknown", "unknown-set", 3, 24, "Vitals"),
        ("magnitude_curve_unknown", "unknown-curve", 5, 81, "C_Damage"),
        ("magnitude_calculation_unknown", "unknown-calculation", 5, 95, "ExecCalc_Hit"),
        ("grant_input_unknown", "unknown-input-action", 4, 55, "Fire"),
        ("tag_undeclared", "undeclared-tag", 4, 15, "State.Alive"),
        ("description_effect_unknown", "unknown-placeholder", 3, 50, "GE_Hit"),
    ] {
        assert_findings(name, &[(id, line, column)]);
        let file = format!("{name}.yaml");
        let text = std::fs::read_to_string(folder().join("invalid").join(&file)).expect("a wrong document");
        let found = check(&file, &text);
        let finding = found.iter().find(|f| f.id == id).expect("found above");
        assert_eq!(finding.help, Some(format!("did you mean {meant}?")), "{name}");
    }
    assert_findings(
        "input_mapping_names_unknown",
        &[("unknown-input-action-set", 2, 12), ("unknown-input-action", 4, 14), ("unknown-input-modifier", 4, 90)],
    );
    let found = findings_of("ability_cost_unknown");
    assert_eq!((found[0].1, found[0].2), (3, 7));
    assert!(["GA_It", "Cost", "GE_Missing"].iter().all(|word| found[0].3.contains(word)), "{found:?}");
}

// covers: UGAS-9.10-02 UGAS-9.10-03
#[test]
fn durations_and_periods_must_match_the_policy() {
    let found = findings_of("duration_missing");
    assert!(found[0].3.contains("GE_It"), "{found:?}");
    assert_findings("period_of_instant", &[("bad-period", 4, 9)]);
    assert_findings("period_negative", &[("bad-period", 5, 11)]);
    let text = std::fs::read_to_string(folder().join("invalid/period_zero.yaml")).expect("a wrong document");
    let zero = check("period_zero.yaml", &text);
    assert!(zero.iter().any(|f| f.id == "zero-period" && f.severity == Severity::Warning), "{zero:?}");
    assert!(!zero.iter().any(|f| f.severity == Severity::Error), "it loads");
}

// covers: UGAS-B.1-01 UGAS-B.1-02 UGAS-B.1-04
#[test]
fn controllers_need_an_owner_sets_levels_and_well_formed_tags() {
    assert_findings("controller_without_owner", &[("invalid", 1, 1)]);
    assert_findings("controller_without_sets", &[("invalid", 3, 16)]);
    assert_findings("controller_level_zero", &[("invalid", 4, 53)]);
    assert_findings("controller_stacks_zero", &[("invalid", 4, 59)]);
    assert_findings("controller_tag_malformed", &[("bad-tag", 4, 13)]);
    let text = "Kind: gameplay_controller\nOwnerActor: {ActorID: Hero, ActorType: Player}\n\
                AttributeSets: [{Name: Vitals}]\nGrantedAbilities: [{AbilityClass: GA_Strike}]\nOwnedTags: [State.Alive]\n";
    let mut project = Project::default();
    project.put("base.yaml", BASE);
    project.put("hero.yaml", text);
    let rules = project.build(&project.sets()[0]).0.expect("valid rules");
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::template(rules.template("Hero").expect("the template"))).expect("a hero");
    assert_eq!(sim.avatar(hero), sim.owner(hero), "without an avatar the owner is it");
    let grants = sim.grants(hero).expect("grants");
    assert_eq!((grants.len(), grants[0].level), (1, 1), "with a handle of its own");
    assert_eq!(sim.ability_state(hero, grants[0].id), Ok(AbilityState::Granted));
    assert_eq!(sim.has_tag(hero, rules.tag("State.Alive").expect("a tag")), Ok(true));
}

// covers: UGAS-B.1-03
#[test]
fn initial_effects_of_a_controller_last_for_their_stated_duration() {
    assert_findings("controller_stacks_zero", &[("invalid", 4, 59)]);
    let text = "Kind: gameplay_effect\nName: GE_Long\nDurationPolicy: HasDuration\nDuration: {Type: ScalableFloat, Value: 10}\n\
                Stacking: {Limit: 9}\n---\n\
                Kind: gameplay_effect\nName: GE_Endless\nDurationPolicy: Infinite\n---\n\
                Kind: gameplay_controller\nOwnerActor: {ActorID: Hero}\nAttributeSets: [{Name: Vitals}]\nActiveEffects:\n\
                - {Handle: a, EffectClass: GE_Long, Duration: 3.5, Stacks: 4, StartTime: 6.5, Level: 2, InstigatorGC: Boss}\n\
                - {EffectClass: GE_Endless, Duration: -1}\n";
    let mut project = Project::default();
    project.put("base.yaml", BASE);
    project.put("hero.yaml", text);
    let rules = project.build(&project.sets()[0]).0.expect("valid rules");
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::template(rules.template("Hero").expect("the template"))).expect("a hero");
    let there = |sim: &Sim| -> Vec<(String, u32, u32)> {
        let views = sim.effects(hero).expect("effects").into_iter();
        views.map(|v| (rules.effect_name(v.effect).unwrap_or_default().to_owned(), v.stacks, v.level)).collect()
    };
    let endless = ("GE_Endless".to_owned(), 1, 1);
    assert_eq!(there(&sim), [("GE_Long".to_owned(), 4, 2), endless.clone()]);
    assert!(sim.advance_to(SimTime::seconds(3.499)).finished);
    assert_eq!(there(&sim).len(), 2);
    assert!(sim.advance_to(SimTime::seconds(3.5)).finished);
    assert_eq!(there(&sim), std::slice::from_ref(&endless));
    assert!(sim.advance_to(SimTime::seconds(100_000.0)).finished);
    assert_eq!(there(&sim), [endless]);
}

// covers: UGAS-B.2-06 UGAS-B.2-07
#[test]
fn executions_and_magnitudes_must_name_existing_definitions() {
    assert_findings("execution_calculation_unknown", &[("unknown-calculation", 5, 22)]);
    assert_findings("magnitude_backing_missing", &[("missing-field", 5, 59)]);
    assert_findings("magnitude_source_unknown", &[("invalid", 5, 109)]);
    let traction = "Kind: gameplay_effect\nName: GE_Traction_Update\nDurationPolicy: Infinite\nPeriod: {Period: 0.1}\n\
                    Executions: [{CalculatorClass: ExecCalc_Hit}]\nApplicationRequiredTags: [State.Alive]\n";
    let found = check("traction.yaml", traction);
    assert!(!found.iter().any(|f| f.severity == Severity::Error), "{found:?}");
    let all = "Type: AttributeBased\nValue: 1\nCurve: C\nCurveInput: Level\nBackingAttribute: Health\nSource: Target\n\
               Coefficient: 2\nPreMultiplyAdditive: 3\nPostMultiplyAdditive: 4\nCalculatorClass: E\nDataTag: Data\n";
    let magnitude: Magnitude = from_node("m.yaml", &read_trees("m.yaml", all).expect("a tree")[0]).expect("all fields");
    assert_eq!((magnitude.coefficient, magnitude.post_multiply_additive), (Some(2.0), Some(4.0)));
    assert_eq!((magnitude.source, magnitude.data_tag.as_deref()), (Some(MagnitudeSource::Target), Some("Data")));
}

// covers: UGAS-B.0-02
#[test]
fn every_version_of_both_addresses_resolves_all_ten_schemas() {
    let names = [
        "attribute",
        "attribute_set",
        "gameplay_ability",
        "gameplay_controller",
        "gameplay_effect",
        "gameplay_tag",
        "input_action",
        "input_action_set",
        "input_mapping",
        "input_modifier",
    ];
    let versions: Vec<String> = (1..=9).map(|n| format!("v1.0.0-draft.{n}")).chain(["main".to_owned()]).collect();
    for home in ["https://raw.githubusercontent.com/jbltx/ugas", "https://ugas.jbltx.com"] {
        for version in &versions {
            for name in names {
                let text = format!("$schema: {home}/{version}/schemas/{name}.json\n");
                let kind = kind_of("a.yaml", &read_trees("a.yaml", &text).expect("a tree")[0]).expect("a kind");
                assert_eq!(kind.name(), name, "{text}");
            }
        }
    }
}

// covers: UGAS-B.0-08
#[test]
fn files_with_several_documents_are_read_one_by_one() {
    let racing = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/racing");
    for (file, kind, count) in
        [("input_actions.yaml", Kind::InputAction, 6), ("input_modifiers.yaml", Kind::InputModifier, 3)]
    {
        let docs = read_file(racing.join(file)).expect("a valid file").docs;
        assert_eq!(docs.len(), count, "{file}");
        assert!(docs.iter().all(|d| d.doc.kind() == kind));
    }
}

// covers: UGAS-B.0-05
#[test]
fn a_document_is_validated_against_its_declared_kind() {
    assert_findings("kind_of_other_fields", &[("unknown-kind", 1, 10)]);
    let found = findings_of("kind_of_other_fields");
    assert!(found[0].3.contains("input_action") && found[0].3.contains("gameplay_effect"), "{found:?}");
}

// covers: UGAS-5.7-01
#[test]
fn an_attribute_needs_its_default() {
    let found = findings_of("attribute_default_missing");
    assert!(found[0].3.contains("DefaultBaseValue"), "{found:?}");
    let loads = |text: &str| !check("a.yaml", text).iter().any(|f| f.severity == Severity::Error);
    assert!(loads("Kind: attribute\nName: Rage\nDefaultBaseValue: 1\n"));
    let all = "Kind: attribute\nName: Rage\nDefaultBaseValue: 1\nCategory: Resource\nClamping: {Min: 0, Max: 5}\n\
               ReplicationMode: All\nMetadata: {DisplayName: R, Description: D, UICategory: U, Icon: i}\n";
    assert!(loads(all));
}
