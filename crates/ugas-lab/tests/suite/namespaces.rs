//! Packs that define the same names, and packs that patch definitions of other packs.

use crate::folder::Folder;
use std::path::Path;
use ugas_core::SimTime;
use ugas_data::{Diagnostic, Project, Severity};
use ugas_lab::{check_path, explain, load_file, load_pack};

impl Folder {
    fn errors(&self, of: &str) -> Vec<Diagnostic> {
        let found = check_path(self.0.join(of)).unwrap();
        found.into_iter().filter(|f| f.severity == Severity::Error).collect()
    }
}

/// A pack with the words that every pack has.
fn vitals(health: f64, hit: f64) -> String {
    format!(
        "Kind: attribute_set\nName: Vitals\nAttributes:\n  - {{Name: MaxHealth, DefaultBaseValue: {health}}}\n  \
         - {{Name: Health, DefaultBaseValue: {health}, Clamping: {{Min: 0, Max: MaxHealth}}}}\n  \
         - {{Name: Power, DefaultBaseValue: 1}}\n---\n\
         Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Infinite\nApplicationCondition: \"Health > 1\"\nModifiers:\n  \
         - {{Attribute: Power, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: {hit}}}}}\n"
    )
}

fn packs(name: &str, namespaces: bool) -> Folder {
    let pack = |name: &str| {
        let space = if namespaces { format!("Namespace: {name}\n") } else { String::new() };
        format!("Name: {name}\n{space}")
    };
    let (a, b) = if namespaces { ("a::", "b::") } else { ("", "") };
    Folder::new(
        name,
        &[
            ("a/pack.yaml", pack("a")),
            ("a/vitals.yaml", vitals(100.0, 5.0)),
            ("b/pack.yaml", pack("b")),
            ("b/vitals.yaml", vitals(40.0, 7.0)),
            ("game/pack.yaml", "Name: game\nRequires: [a, b]\n".to_owned()),
            (
                "game/hero.yaml",
                format!(
                    "Kind: gameplay_controller\nOwnerActor: {{ActorID: Hero}}\n\
                     AttributeSets: [{{Name: {a}Vitals}}, {{Name: {b}Vitals}}]\n"
                ),
            ),
            ("mod/pack.yaml", "Name: mod\nRequires: [game, a]\n".to_owned()),
            (
                "mod/harder.yaml",
                format!(
                    "# Harder\nKind: patch\nTarget: {a}GE_Hit\nSet:\n  Modifiers[0].Magnitude.Value: 25\n---\n\
                     Kind: patch\nTarget: {a}Vitals\nSet:\n  Attributes[MaxHealth].DefaultBaseValue: 120\n"
                ),
            ),
            (
                "scenario.yaml",
                format!(
                    "Scenario: Both healths are there\nPacks: [mod]\nActors: {{Hero: {{Controller: Hero}}}}\nTimeline:\n  \
                     - At: 0\n    Do:\n      - Apply: {{Effect: {a}GE_Hit, To: Hero}}\n      \
                     - Apply: {{Effect: {b}GE_Hit, To: Hero}}\n      \
                     - Expect: {{Hero.{a}Health: 100, Hero.{b}Health: 40, Hero.{a}Power: 26, Hero.{b}Power: 8}}\n"
                ),
            ),
        ],
    )
}

// covers: PEER-21
#[test]
fn packs_with_the_same_names_load_together_in_namespaces_and_patches_apply() {
    // Without namespaces the second Vitals is an error that names both.
    let plain = packs("plain", false);
    let errors = plain.errors("game");
    assert!(errors.iter().any(|e| e.id == "duplicate-name" && e.message.contains("Vitals")), "{errors:?}");
    assert!(load_pack(plain.0.join("game")).is_err());

    // With them both are there, each with its own numbers.
    let spaced = packs("spaced", true);
    assert_eq!(spaced.errors(""), []);
    let rules = load_pack(spaced.0.join("game")).unwrap();
    assert!(rules.find_attribute("a::Health").is_some() && rules.find_attribute("b::Health").is_some());
    assert!(rules.find_attribute("Health").is_none());
    let scenario = load_file(spaced.0.join("scenario.yaml")).unwrap().remove(0);
    let report = scenario.run();
    assert!(report.passed(), "{:?} {:?}", report.failures, report.errors);

    // The patch changes one field of another pack's effect, and the editor shows where.
    let at = |what: &str| explain(&scenario, "Hero", what, SimTime::ZERO).unwrap();
    let power = at("a::Power");
    let patch = Path::new("mod").join("harder.yaml");
    let wanted = format!("Modifiers[0].Magnitude.Value patched by {}:5", spaced.0.join(&patch).display());
    assert!(power.contains("add 25 by a::GE_Hit") && power.contains(&wanted), "{power}");
    assert!(!at("b::Power").contains("patched"));
    let most = at("a::MaxHealth");
    assert!(most.contains("base 120, Attributes[0].DefaultBaseValue patched by") && most.contains(":10"), "{most}");
    // A pack that does not require the mod is not patched.
    let alone = Project::open(spaced.0.join("a")).unwrap();
    let pages = ugas_data::language::show(&alone, "GE_Hit", 1);
    assert!(pages[0].contains("Value: 5") && !pages[0].contains("patched"), "{pages:?}");
    let all = Project::open(&spaced.0).unwrap();
    let page = &ugas_data::language::show(&all, "a::GE_Hit", 1)[0];
    let line = format!("{}:5 Modifiers[0].Magnitude.Value: 25", spaced.0.join(&patch).display());
    assert!(page.contains("patched by:") && page.contains(&line), "{page}");
}

#[test]
fn one_attribute_in_sets_of_two_packs_is_reported() {
    let folder = Folder::new(
        "attribute",
        &[
            ("a/pack.yaml", "Name: a\n".to_owned()),
            (
                "a/v.yaml",
                "Kind: attribute_set\nName: A\nAttributes: [{Name: Health, DefaultBaseValue: 1}]\n".to_owned(),
            ),
            ("b/pack.yaml", "Name: b\n".to_owned()),
            (
                "b/v.yaml",
                "Kind: attribute_set\nName: B\nAttributes: [{Name: Health, DefaultBaseValue: 2}]\n".to_owned(),
            ),
            ("game/pack.yaml", "Name: game\nRequires: [a, b]\n".to_owned()),
            ("ok/pack.yaml", "Name: ok\nRequires: [a]\n".to_owned()),
            (
                "ok/v.yaml",
                "Kind: attribute_set\nName: C\nAttributes: [{Name: Health, DefaultBaseValue: 2}]\n".to_owned(),
            ),
        ],
    );
    let errors = folder.errors("game");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].file.ends_with("v.yaml") && errors[0].id == "duplicate-name", "{errors:?}");
    assert!(load_pack(folder.0.join("game")).is_err());
    // Who requires a pack knows its words.
    assert_eq!(folder.errors("ok"), []);
}
