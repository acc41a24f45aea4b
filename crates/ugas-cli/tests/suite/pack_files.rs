//! Commands on single files of packs, and mistakes that must not cause follow-up errors.

use std::path::PathBuf;
use std::process::Command;

/// A temporary folder with two packs, one of which patches the other.
struct Game(PathBuf);

impl Game {
    fn new(name: &str, effect: &str) -> Game {
        let folder = std::env::temp_dir().join(format!("ugas-pack-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let files = [
            ("grove/pack.yaml", "Name: grove\n"),
            (
                "grove/stats.yaml",
                "Kind: attribute_set\nName: Body\nAttributes: [{Name: Health, DefaultBaseValue: 60}]\n",
            ),
            ("grove/thorns.yaml", &GROW.replace("GE_Grow", "GE_Thorns")),
            ("grove/effects.yaml", effect),
            ("grove/abilities.yaml", "Kind: gameplay_ability\nName: GA_Thorn\nCost: GE_Thorns\n"),
            ("hard/pack.yaml", "Name: hard\nRequires: [grove]\n"),
            ("hard/patch.yaml", "Kind: patch\nTarget: GE_Grow\nSet:\n  Modifiers[0].Magnitude.Value: 4\n"),
            (
                "scenarios/a.yaml",
                "Scenario: It grows\nPacks: [../hard]\nActors:\n  Druid: {AttributeSets: [Body]}\nTimeline: []\n",
            ),
        ];
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Game(folder)
    }

    fn ugas(&self, args: &[&str]) -> String {
        let out = Command::new(env!("CARGO_BIN_EXE_ugas")).current_dir(&self.0).args(args).output().unwrap();
        String::from_utf8(out.stdout).unwrap() + &String::from_utf8(out.stderr).unwrap()
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const GROW: &str = "Kind: gameplay_effect\nName: GE_Grow\nDurationPolicy: Instant\nModifiers:\n  \
                    - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 6}}\n\
                    Metadata: {Description: 'Heals {GE_Grow.Health}'}\n";

fn errors(output: &str) -> Vec<&str> {
    output.lines().filter(|l| l.contains("error[")).collect()
}

#[test]
fn a_file_of_a_pack_is_checked_and_fixed_together_with_its_pack() {
    let game = Game::new("alone", GROW);
    let output = game.ugas(&["check", "grove/abilities.yaml"]);
    assert!(errors(&output).is_empty() && output.contains("0 errors"), "{output}");
    assert!(game.ugas(&["fix", "grove/abilities.yaml"]).contains("0 changes"));
    std::fs::write(game.0.join("grove/abilities.yaml"), "Kind: gameplay_ability\nName: GA_Thorn\nCost: GE_Thorn\n")
        .unwrap();
    let output = game.ugas(&["check", "grove/abilities.yaml"]);
    assert_eq!(errors(&output).len(), 1, "{output}");
    let output = game.ugas(&["fix", "grove/abilities.yaml"]);
    assert!(output.contains("write GE_Thorns") && output.contains("1 change made in 1 file"), "{output}");
}

#[test]
fn an_error_in_a_definition_is_not_reported_at_its_patch() {
    let game = Game::new("slip", &GROW.replace("Value: 6", "Value: six"));
    let output = game.ugas(&["check", "."]);
    assert!(errors(&output).iter().all(|l| l.contains("effects.yaml")), "{output}");
    assert!(game.ugas(&["fix", "."]).contains("0 changes"));
}

#[test]
fn a_misspelt_attribute_is_reported_at_its_name_and_not_at_the_placeholder() {
    let game = Game::new("text", &GROW.replace("Attribute: Health", "Attribute: Helth"));
    let output = game.ugas(&["check", "grove"]);
    assert!(!output.contains("unknown-placeholder") && output.contains("did you mean Health?"), "{output}");
    assert!(game.ugas(&["fix", "grove"]).contains("1 change made in 1 file"));
}

#[test]
fn a_second_definition_names_the_first() {
    let game = Game::new("twice", &GROW.replace("GE_Grow", "GE_Thorns"));
    let output = game.ugas(&["check", "grove"]);
    assert!(output.contains("another gameplay_effect already has this name, at grove/effects.yaml:1"), "{output}");
}
