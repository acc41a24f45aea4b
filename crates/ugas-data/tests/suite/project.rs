//! Sets of files checked together: findings when a file cannot be read, and names that hosts provide.

use ugas_data::{Project, Severity};

const SET: &str = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 1}]\n";

fn findings(files: &[(&str, &str)]) -> Vec<(String, String, u32, u32)> {
    let mut project = Project::default();
    files.iter().for_each(|(name, text)| project.put(name, *text));
    let errors = project.check().into_iter().filter(|f| f.severity == Severity::Error);
    errors.map(|f| (f.file.to_string(), f.id, f.line, f.column)).collect()
}

fn at(file: &str, id: &str, line: u32, column: u32) -> (String, String, u32, u32) {
    (file.to_owned(), id.to_owned(), line, column)
}

#[test]
fn an_unreadable_file_hides_only_the_names_it_may_define() {
    let effects = "Kind: gameplay_effect\nName: GE_A\nDurationPolicy: HasDuration\n\
                   Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]\n\
                   Effects: {OnApplied: [GE_Nobody]}\n";
    let broken = SET.replace("Attributes:", "Color: red\nAttributes:");
    let expected = [
        at("effects.yaml", "missing-field", 3, 17),
        at("effects.yaml", "unknown-effect", 5, 23),
        at("sets.yaml", "invalid", 3, 1),
    ];
    assert_eq!(findings(&[("sets.yaml", &broken), ("effects.yaml", effects)]), expected);
    let torn = findings(&[("sets.yaml", "Kind: [\n"), ("effects.yaml", effects)]);
    assert_eq!(torn, [at("effects.yaml", "missing-field", 3, 17), at("sets.yaml", "syntax", 1, 7)]);
    let whole = findings(&[("effects.yaml", effects)]);
    assert_eq!(whole[1], at("effects.yaml", "unknown-attribute", 4, 25), "{whole:?}");
}

#[test]
fn names_of_host_code_must_be_declared_by_the_pack() {
    let ability = "Kind: gameplay_ability\nName: GA_A\nCanActivate: Rich\nTasks: [{Type: Dance}]\n---\n\
                   Kind: gameplay_effect\nName: GE_A\nDurationPolicy: Instant\nExecutions: [{CalculatorClass: ExecCalc_Wind}]\n\
                   ApplicationRequirement: Lucky\n---\n\
                   Kind: input_modifier\nName: IM_A\nType: Custom\nParams: {CalculatorClass: GyroAim}\n";
    let host =
        "Name: p\nHost: {Calculations: [ExecCalc_Wind], Tasks: [Dance], Hooks: [Rich, Lucky], Modifiers: [GyroAim]}\n";
    let alone = findings(&[("p/pack.yaml", "Name: p\n"), ("p/a.yaml", ability)]);
    let mut expected = [
        at("p/a.yaml", "unknown-hook", 3, 14),
        at("p/a.yaml", "unknown-task", 4, 16),
        at("p/a.yaml", "unknown-calculation", 9, 32),
        at("p/a.yaml", "unknown-hook", 10, 25),
        at("p/a.yaml", "unknown-modifier-code", 15, 27),
    ];
    expected.sort_by_key(|f| (f.2, f.3));
    assert_eq!(alone, expected);
    assert_eq!(findings(&[("p/pack.yaml", host), ("p/a.yaml", ability)]), []);
}

#[test]
fn inputs_must_be_input_actions_if_any_are_defined() {
    let grant = "Kind: gameplay_ability\nName: GA_A\n---\nKind: ability_set\nName: AS_A\n\
                 Abilities: [{Ability: GA_A, InputID: Jump}]\n";
    assert_eq!(findings(&[("a.yaml", grant)]), []);
    let action = "Kind: input_action\nName: Jmp\nValueType: Digital\n";
    assert_eq!(findings(&[("a.yaml", grant), ("i.yaml", action)]), [at("a.yaml", "unknown-input-action", 6, 38)]);
    assert_eq!(findings(&[("a.yaml", grant), ("i.yaml", &action.replace("Jmp", "Jump"))]), []);
}
