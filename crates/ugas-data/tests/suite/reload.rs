//! Files that change while a host runs: reloads, and errors that leave the rules unchanged.

use crate::kit::folder::Folder;
use std::fs;
use std::path::Path;
use ugas_core::{Rules, RulesBuilder, Sim, SimConfig, SpawnSpec, Spec};
use ugas_data::{Reloader, Severity};

fn vitals(max: u32) -> String {
    format!("Kind: attribute_set\nName: Vitals\nAttributes: [{{Name: MaxHealth, DefaultBaseValue: {max}}}]\n")
}

fn oak(attribute: &str) -> String {
    format!(
        "Kind: gameplay_effect\nName: GE_Oak\nDurationPolicy: Infinite\nModifiers:\n  \
         - {{Attribute: {attribute}, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: 20}}}}\n"
    )
}

// covers: OWN-08
#[test]
fn a_saved_file_reaches_a_running_world_and_a_broken_one_changes_nothing() {
    let folder = Folder::empty("world");
    folder.write("vitals.yaml", &vitals(100));
    folder.write("effects.yaml", &oak("MaxHealth"));
    let mut reloader = Reloader::open(&folder.0).unwrap();
    let rules = reloader.rules().clone();
    let (max, effect) = (rules.attribute("MaxHealth").unwrap(), rules.effect("GE_Oak").unwrap());
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let key = sim.apply(&Spec::new(effect, hero)).unwrap();
    assert!(reloader.poll().is_none());

    folder.write("vitals.yaml", &vitals(150));
    sim.reload(reloader.poll().unwrap().unwrap()).unwrap();
    assert_eq!(sim.get(hero, max), Ok(170.0));
    assert!(sim.effect(key).is_ok());

    // Both files change, and one of them is invalid: neither is loaded, and the error has a location.
    let (hash, running) = (sim.hash(), reloader.rules().clone());
    folder.write("vitals.yaml", &vitals(500));
    folder.write("effects.yaml", &oak("MaxHelth"));
    let findings = reloader.poll().unwrap().unwrap_err();
    let first = &findings[0];
    assert_eq!((&*first.id, first.severity, first.line, first.column), ("unknown-attribute", Severity::Error, 5, 17));
    assert!(first.file.ends_with("effects.yaml"));
    assert!(std::sync::Arc::ptr_eq(reloader.rules(), &running));
    assert_eq!(sim.hash(), hash);
    // No change since then; an unreadable file is reported too.
    assert!(reloader.poll().is_none());
    folder.write("effects.yaml", "Kind: [\n");
    assert_eq!(reloader.poll().unwrap().unwrap_err()[0].id, "syntax");

    folder.write("effects.yaml", &oak("MaxHealth"));
    sim.reload(reloader.poll().unwrap().unwrap()).unwrap();
    assert_eq!(sim.get(hero, max), Ok(520.0));
    assert_eq!(sim.rules().find_effect("GE_Oak"), Some(effect));
}

// covers: OWN-11
#[test]
fn ids_stay_the_same_when_files_are_added_and_removed() {
    let folder = Folder::empty("files");
    folder.write("b.yaml", &vitals(100));
    folder.write("c.yaml", &oak("MaxHealth"));
    let mut reloader = Reloader::open(&folder.0).unwrap();
    let oak_id = reloader.rules().find_effect("GE_Oak");
    // A file before all others.
    folder.write("a.yaml", &oak("MaxHealth").replace("GE_Oak", "GE_Ash"));
    let rules = reloader.poll().unwrap().unwrap();
    assert_eq!(rules.find_effect("GE_Oak"), oak_id);
    assert!(rules.find_effect("GE_Ash").is_some_and(|id| Some(id) > oak_id));
    // The order of documents is the one a fresh start would have.
    let names: Vec<_> = reloader.project().sources().iter().map(|s| s.path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["a.yaml", "b.yaml", "c.yaml"]);
    fs::remove_file(folder.0.join("c.yaml")).unwrap();
    let rules = reloader.poll().unwrap().unwrap();
    assert_eq!((rules.find_effect("GE_Oak"), rules.effect_name(oak_id.unwrap())), (None, Some("GE_Oak")));
    fs::remove_file(folder.0.join("b.yaml")).unwrap();
    assert_eq!(reloader.poll().unwrap().unwrap_err()[0].id, "unknown-attribute");
    // As it was before the file went: known texts, so nothing to read, but rules to build.
    folder.write("b.yaml", &vitals(100));
    assert!(reloader.poll().unwrap().is_ok());
}

#[test]
fn required_packs_are_watched_and_host_code_is_registered_at_each_reload() {
    let folder = Folder::empty("packs");
    folder.write("base/pack.yaml", "Name: base\n");
    folder.write("base/vitals.yaml", &vitals(100));
    folder.write("game/pack.yaml", "Name: game\nRequires: [base]\nHost: {Calculations: [ExecCalc_Wind]}\n");
    let wind = "Kind: gameplay_effect\nName: GE_Wind\nDurationPolicy: Instant\nExecutions: [{CalculatorClass: ExecCalc_Wind}]\n";
    folder.write("game/wind.yaml", wind);
    // Without host code there is a stub.
    assert!(Reloader::open(folder.0.join("game")).is_ok());
    let code = |b: RulesBuilder| b.calc_fn("ExecCalc_Wind", [], |cx| cx.add("MaxHealth", 1.0));
    let mut reloader = Reloader::with_code(folder.0.join("game"), code).unwrap();
    let rules = reloader.rules().clone();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    folder.write("base/vitals.yaml", &vitals(200));
    sim.reload(reloader.poll().unwrap().unwrap()).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Wind").unwrap(), hero)).unwrap();
    assert_eq!(sim.get(hero, rules.attribute("MaxHealth").unwrap()), Ok(201.0));
    // Another pack that is required from now on.
    folder.write("more/pack.yaml", "Name: more\n");
    folder.write("more/oak.yaml", &oak("MaxHealth"));
    folder.write("game/pack.yaml", "Name: game\nRequires: [base, more]\nHost: {Calculations: [ExecCalc_Wind]}\n");
    assert!(reloader.poll().unwrap().unwrap().effect("GE_Oak").is_ok());
}

#[test]
fn a_missing_or_empty_folder_is_reported() {
    let folder = Folder::empty("empty");
    let findings = Reloader::open(&folder.0).unwrap_err();
    assert_eq!((findings[0].id.as_ref(), findings[0].severity), ("no-documents", Severity::Error));
    let findings = Reloader::open(Path::new("no/such/folder")).unwrap_err();
    let error = &findings[0];
    assert_eq!((error.id.as_ref(), error.severity), ("unreadable", Severity::Error));
    assert!(error.message.starts_with("cannot read: "), "{findings:?}");
    assert_eq!(&*error.file, "no/such/folder");
    // The empty folder can be opened as soon as it has a document.
    folder.write("vitals.yaml", &vitals(100));
    assert!(Reloader::open(&folder.0).unwrap().rules().set("Vitals").is_ok());
}

/// What an instant effect of a curve gives at level 1 and 2.
fn damage(rules: &std::sync::Arc<Rules>, space: &str) -> [f64; 2] {
    let own = |name: &str| format!("{space}{name}");
    [1, 2].map(|level| {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set(&own("Vitals")).unwrap()])).unwrap();
        sim.apply(&Spec::new(rules.effect(&own("GE_Hit")).unwrap(), who).level(level)).unwrap();
        sim.get(who, rules.attribute(&own("MaxHealth")).unwrap()).unwrap()
    })
}

const HIT: &str = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\nModifiers:\n  \
                   - {Attribute: MaxHealth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1, Curve: CT_Hit}}\n";

#[test]
fn a_saved_or_new_table_reloads_the_rules() {
    let folder = Folder::empty("table");
    folder.write("vitals.yaml", &vitals(100));
    folder.write("hit.yaml", HIT);
    folder.write("curve.yaml", "Kind: curve\nName: CT_Hit\nCsv: hit.csv\n");
    folder.write("hit.csv", "1,10\n2,20\n");
    let mut reloader = Reloader::open(&folder.0).unwrap();
    assert_eq!(damage(reloader.rules(), ""), [110.0, 120.0]);
    assert!(reloader.poll().is_none());

    folder.write("hit.csv", "1,10\n2,25\n");
    let rules = reloader.poll().unwrap().unwrap();
    assert_eq!(damage(&rules, ""), [110.0, 125.0]);
    assert!(reloader.poll().is_none());

    fs::remove_file(folder.0.join("hit.csv")).unwrap();
    let findings = reloader.poll().unwrap().unwrap_err();
    assert!(findings[0].file.ends_with("curve.yaml") && findings[0].line == 3, "{findings:#?}");
    folder.write("hit.csv", "1,10\n2,30\n");
    let rules = reloader.poll().unwrap().unwrap();
    assert_eq!(damage(&rules, ""), [110.0, 130.0]);
}

#[test]
fn namespaces_and_patches_apply_to_reloaded_rules() {
    let folder = Folder::empty("spaces");
    folder.write("base/pack.yaml", "Name: base\nNamespace: base\n");
    folder.write("base/vitals.yaml", &vitals(100));
    folder.write("base/hit.yaml", &HIT.replace(", Curve: CT_Hit", ""));
    folder.write("mod/pack.yaml", "Name: mod\nRequires: [base]\n");
    folder.write("mod/patch.yaml", "Kind: patch\nTarget: base::GE_Hit\nSet:\n  Modifiers[0].Magnitude.Value: 7\n");
    let mut reloader = Reloader::open(folder.0.join("mod")).unwrap();
    let id = reloader.rules().find_effect("base::GE_Hit");
    assert_eq!(damage(reloader.rules(), "base::"), [107.0, 107.0]);

    folder.write("mod/patch.yaml", "Kind: patch\nTarget: base::GE_Hit\nSet:\n  Modifiers[0].Magnitude.Value: 9\n");
    let rules = reloader.poll().unwrap().unwrap();
    assert_eq!(damage(&rules, "base::"), [109.0, 109.0]);
    assert_eq!(rules.find_effect("base::GE_Hit"), id);

    folder.write("mod/patch.yaml", "Kind: patch\nTarget: base::GE_Hti\nSet:\n  Modifiers[0].Magnitude.Value: 9\n");
    assert!(reloader.poll().unwrap().is_err());
}
