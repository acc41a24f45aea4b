//! Errors are reported once, at the words to change: in packs used by a scenario, in its entities and in its verbs.

use crate::folder::Folder;
use ugas_lab::{check_path, facts, load_file, load_pack, run_str};

const VITALS: &str = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n";
const STRIKE: &str = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\nModifiers: [{Attribute: Health, \
                      Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]\n---\nKind: gameplay_ability\n\
                      Name: GA_Strike\nTasks: [{Type: ApplyEffectToTarget, Params: {EffectClass: GE_Hit}}]\n";

fn errors(name: &str, text: &str) -> Vec<(u32, u32, String, Option<String>)> {
    let results = run_str(name, text);
    results.errors().map(|e| (e.line, e.column, e.message.clone(), e.help.clone())).collect()
}

#[test]
fn errors_in_scenario_entities_are_reported_at_the_word() {
    let text = "Scenario: S\nEntities:\n  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 1}]}\n  \
                - Kind: gameplay_effect\n    Name: GE_Hit\n    DurationPolicy: Instant\n    Modifiers:\n      \
                - {Attribute: Helth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}\n";
    let found = errors("s.yaml", text);
    let message = "GE_Hit: Modifiers[0]: unknown attribute Helth [unknown-attribute]".to_owned();
    assert_eq!(found, [(8, 21, message, Some("did you mean Health?".to_owned()))]);
}

#[test]
fn an_error_in_a_pack_is_reported_once_at_the_word() {
    let pack = format!("{VITALS}---\n{}", STRIKE.replace("Attribute: Health", "Attribute: Helth"));
    let scenario = "Scenario: A\nPacks: [../p]\n---\nScenario: B\nPacks: [../p]\n";
    let folder =
        Folder::new("once", &[("p/pack.yaml", "Name: p\n"), ("p/a.yaml", &pack), ("scenarios/s.yaml", scenario)]);
    let found: Vec<_> = check_path(&folder.0).unwrap().into_iter().filter(|f| f.id == "unknown-attribute").collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].column), (8, 25));
    let error = &load_pack(folder.0.join("p")).unwrap_err()[0];
    assert_eq!((error.line, error.column), (8, 25), "{error}");
    let error = &load_file(folder.0.join("scenarios/s.yaml")).unwrap()[0].check().unwrap_err()[0];
    assert_eq!((error.line, error.column), (8, 25), "{error}");
}

#[test]
fn an_unknown_input_is_an_error() {
    let scenario = |verb: &str| {
        format!(
            "Scenario: S\nEntities:\n  - {{Kind: attribute_set, Name: V, Attributes: [{{Name: Health, DefaultBaseValue: 1}}]}}\n  \
             - {{Kind: gameplay_ability, Name: GA_Strike}}\n\
             Actors: {{Hero: {{AttributeSets: [V], Abilities: [{{Ability: GA_Strike, InputID: Attack}}]}}}}\n\
             Timeline:\n  - At: 0\n    Do:\n      - {verb}\n"
        )
    };
    for verb in ["Press", "Release"] {
        let found = errors("s.yaml", &scenario(&format!("{verb}: {{Actor: Hero, InputID: Atack}}")));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].2.as_str(), found[0].3.as_deref()),
            ("unknown input Atack", Some("did you mean \"Attack\"?"))
        );
    }
    assert_eq!(errors("s.yaml", &scenario("Press: {Actor: Hero, InputID: Attack}")), []);
}

#[test]
fn a_document_next_to_a_scenario_is_not_part_of_it() {
    let text = format!(
        "Scenario: S\nEntities: [{{Kind: attribute_set, Name: V, Attributes: [{{Name: Health, DefaultBaseValue: 1}}]}}]\n\
         Actors: {{Hero: {{AttributeSets: [V]}}}}\nTimeline: [{{At: 0, Do: [{{Apply: {{Effect: GE_Hit, To: Hero}}}}]}}]\n---\n{STRIKE}"
    );
    let found = errors("s.yaml", &text);
    assert_eq!(found[0].2, "unknown effect GE_Hit");
    let help = "the document at line 6 is not part of the scenario; move it under `Entities:` or into a pack";
    assert_eq!(found[0].3.as_deref(), Some(help));
}

#[test]
fn an_effect_without_a_target_is_noted_and_facts_are_printed_as_text() {
    let scenario = "Scenario: S\nPacks: [p]\nActors:\n  Hero: {AttributeSets: [Vitals], Abilities: [{Ability: GA_Strike, \
                    InputID: Attack}]}\n  Boss: {AttributeSets: [Vitals]}\nTimeline:\n  - At: 1\n    Do:\n      \
                    - Press: {Actor: Hero, InputID: Attack}\n      - Expect: {Boss.Health: 90}\n";
    let aimed = scenario.replace("InputID: Attack}\n      - E", "InputID: Attack, Target: Boss}\n      - E");
    let folder = Folder::new(
        "target",
        &[
            ("p/pack.yaml", "Name: p\n"),
            ("p/a.yaml", &format!("{VITALS}---\n{STRIKE}")),
            ("s.yaml", scenario),
            ("aimed.yaml", &aimed),
        ],
    );
    let of = |file: &str| load_file(folder.0.join(file)).unwrap().remove(0);
    let report = of("s.yaml").run();
    assert!(!report.passed());
    let note = "1 s Hero: GA_Strike acts on its target but has no target; add `Target:` to Press";
    assert_eq!(report.notes, [note]);
    // A task that sets or finds the target makes the note false.
    let set = STRIKE.replace("Tasks: [", "Tasks: [{Type: SetTarget, Params: {Target: Instigator}}, ");
    std::fs::write(folder.0.join("p/a.yaml"), format!("{VITALS}---\n{set}")).unwrap();
    let report = of("s.yaml").run();
    assert!(!report.passed() && report.notes.is_empty(), "{report:?}");
    std::fs::write(folder.0.join("p/a.yaml"), format!("{VITALS}---\n{STRIKE}")).unwrap();
    let report = of("aimed.yaml").run();
    assert!(report.passed() && report.notes.is_empty(), "{report:?}");

    let lines = facts(&of("aimed.yaml"), None).unwrap();
    for line in [
        "0 s Hero: GA_Strike granted on Attack",
        "1 s Hero: Attack pressed",
        "1 s Hero: GA_Strike activated",
        "1 s Boss: Health 100 → 90, base 100 → 90 (GE_Hit from Hero)",
        "1 s Hero: GA_Strike ended",
    ] {
        assert!(lines.iter().any(|l| l == line), "{line} in {lines:#?}");
    }
}
