//! The documents in the studio: search, queries, edits in a form, saving, and changes on disk.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use ugas_studio::Backend;
use ugas_studio::session::{OpenOptions, Session};

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

fn duel() -> Backend {
    Backend::new(Box::new(Session::duel), 7).unwrap()
}

/// A temporary folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ugas-studio-data-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("pack")).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn pack(&self) -> PathBuf {
        self.0.join("pack")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const PACK: &str = "Name: pack\nVersion: 1.0.0\n";
const HERO: &str = "\
# Somebody to look at.
Kind: gameplay_tag
Tags: [{Tag: State.Strong, Description: Hits hard}]
---
Kind: attribute_set
Name: Vitals
Attributes:
  - {Name: MaxHealth, DefaultBaseValue: 100} # as much as anybody
  - {Name: Health, DefaultBaseValue: 100, Clamping: {Min: 0, Max: MaxHealth}}
---
Kind: gameplay_effect
Name: GE_Tough   # more of it
DurationPolicy: Infinite
GrantedTags: [State.Strong]
Modifiers:
  - {Attribute: MaxHealth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 50}}
Metadata: {Description: 'Adds {GE_Tough.MaxHealth} to what there is'}
---
Kind: gameplay_controller
OwnerActor: {ActorID: Hero, ActorType: PlayerCharacter}
AttributeSets: [{Name: Vitals, Attributes: [{Name: MaxHealth, BaseValue: 100, CurrentValue: 100}, {Name: Health, BaseValue: 100, CurrentValue: 100}]}]
ActiveEffects: [{Handle: tough, EffectClass: GE_Tough, Duration: -1}]
Metadata: {DisplayName: The hero, Description: Stands there, Tags: [Brave], DebugCategory: heroes}
---
Kind: gameplay_controller
OwnerActor: {ActorID: Stone, ActorType: Enemy}
AttributeSets: [{Name: Vitals, Attributes: [{Name: MaxHealth, BaseValue: 10, CurrentValue: 10}, {Name: Health, BaseValue: 10, CurrentValue: 10}]}]
";

/// Opens a studio with a temporary pack. Returns the backend, the folder of the pack and the name of its file.
fn on_disk() -> (Folder, Backend, String) {
    let folder = Folder::new();
    folder.write("pack/pack.yaml", PACK);
    let file = folder.write("pack/hero.yaml", HERO);
    let backend = open(&folder.pack());
    (folder, backend, file.display().to_string())
}

fn open(path: &Path) -> Backend {
    Backend::at(path, OpenOptions::default()).unwrap()
}

/// Returns the value of an attribute of an actor.
fn value(backend: &mut Backend, who: &str, attribute: &str) -> f64 {
    ask(backend, json!({ "ask": "explain", "who": who, "attribute": attribute }))["value"].as_f64().unwrap()
}

fn text_and_hash(backend: &mut Backend, file: &str) -> (String, String) {
    let got = ask(backend, json!({ "ask": "file", "name": file }));
    assert_eq!(got["refused"], Value::Null, "{got}");
    (got["text"].as_str().unwrap().to_owned(), got["hash"].as_str().unwrap().to_owned())
}

fn save(backend: &mut Backend, file: &str, text: &str, hash: &str) -> Value {
    ask(backend, json!({ "ask": "save", "file": file, "text": text, "hash": hash }))
}

#[test]
fn a_definition_lists_its_location_its_references_and_its_users() {
    let mut backend = duel();
    let all = ask(&mut backend, json!({ "ask": "definitions" }));
    let all = all.as_array().unwrap();
    let find = |kind: &str, name: &str| {
        all.iter().find(|d| d["kind"] == kind && d["name"] == name).unwrap_or_else(|| panic!("{name}"))
    };
    let fireball = find("ability", "GA_Fireball");
    assert_eq!(fireball["file"], "arena/pyra.yaml");
    let text = ask(&mut backend, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    let line = fireball["line"].as_u64().unwrap() as usize;
    assert_eq!(text["text"].as_str().unwrap().lines().nth(line - 1).unwrap(), "Name: GA_Fireball");
    let uses = |d: &Value, path: &str, name: &str| d[path].as_array().unwrap().iter().any(|u| u["name"] == name);
    assert!(uses(fireball, "uses", "GE_FireballCost"));
    assert!(uses(find("effect", "GE_FireballCost"), "used_by", "GA_Fireball"));
    // An attribute of a set uses what bounds it, not everything the set names.
    assert!(uses(find("attribute", "Health"), "uses", "MaxHealth"));
    assert!(!uses(find("attribute", "MaxHealth"), "uses", "MaxHealth"));
    let dead = find("tag", "State.Dead");
    assert!(dead["description"].as_str().is_some_and(|d| !d.is_empty()));
    assert!(uses(dead, "used_by", "GA_Fireball"));
    let burn = ask(&mut backend, json!({ "ask": "definition", "kind": "ability", "name": "GA_Fireball", "level": 1 }));
    let text = burn["text"].as_str().unwrap();
    assert!(text.contains("then 5 per second for 4 seconds; costs 30 mana"), "{text}");
    assert!(burn["understood"].as_str().unwrap().starts_with("Kind: gameplay_ability\n"));
    let might = ask(&mut backend, json!({ "ask": "definition", "kind": "attribute", "name": "AttackPower" }));
    assert!(might["values"].as_array().unwrap().iter().any(|v| v[1] == 18.0), "{might}");
    let none = ask(&mut backend, json!({ "ask": "definition", "kind": "effect", "name": "GE_None" }));
    assert_eq!(none["error"], "unknown effect 'GE_None'");
}

#[test]
fn a_form_uses_the_schema_and_changes_one_value() {
    let (_folder, mut backend, file) = on_disk();
    let (text, _) = text_and_hash(&mut backend, &file);
    let form = ask(&mut backend, json!({ "ask": "form", "text": text }));
    let effect = &form["documents"][2];
    assert_eq!((effect["kind"].as_str(), effect["name"].as_str()), (Some("gameplay_effect"), Some("GE_Tough")));
    assert_eq!(effect["value"]["Modifiers"][0]["Magnitude"]["Value"], 50.0);
    assert!(effect["places"].as_array().unwrap().contains(&json!([["DurationPolicy"], 13, 17])), "{effect}");
    let path = json!(["Modifiers", 0, "Magnitude", "Value"]);
    let set = ask(&mut backend, json!({ "ask": "set", "text": text, "document": 2, "path": path, "value": 75.5 }));
    assert_eq!(set["text"].as_str().unwrap(), HERO.replace("Value: 50}", "Value: 75.5}"));
    let add = json!({ "ask": "set", "text": text, "document": 2, "path": ["Priority"], "value": 3 });
    assert_eq!(
        ask(&mut backend, add)["text"].as_str().unwrap(),
        HERO.replace("what there is'}\n", "what there is'}\nPriority: 3\n")
    );
    // The text of the form is checked like typed text.
    let path = json!(["Modifiers", 0, "Attribute"]);
    let set =
        ask(&mut backend, json!({ "ask": "set", "text": text, "document": 2, "path": path, "value": "MaxHelth" }));
    let findings = ask(&mut backend, json!({ "ask": "check", "file": file, "text": set["text"] }));
    let wrong = findings.as_array().unwrap().iter().find(|f| f["severity"] == "error").unwrap();
    assert_eq!((wrong["line"].as_u64(), wrong["help"].as_str()), (Some(16), Some("did you mean MaxHealth?")));
    assert!(ask(&mut backend, json!({ "ask": "form", "text": "{{{" }))["error"].is_string());
}

#[test]
fn a_save_keeps_comments_and_reloads_the_running_world() {
    let (_folder, mut backend, file) = on_disk();
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 150.0);
    backend.advance(500.0, &mut || 0.0);
    let (text, hash) = text_and_hash(&mut backend, &file);
    let path = json!(["Modifiers", 0, "Magnitude", "Value"]);
    let set = ask(&mut backend, json!({ "ask": "set", "text": text, "document": 2, "path": path, "value": 80 }));
    let saved = save(&mut backend, &file, set["text"].as_str().unwrap(), &hash);
    assert_eq!(saved["error"], Value::Null, "{saved}");
    assert_eq!(fs::read_to_string(&file).unwrap(), HERO.replace("Value: 50}", "Value: 80}"), "nothing else changed");
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 180.0);
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    assert_eq!(frame["tick"], 30, "the world continues where it was");
    // The same page can save again with the returned hash.
    let again = save(&mut backend, &file, HERO, saved["hash"].as_str().unwrap());
    assert_eq!(again["error"], Value::Null, "{again}");
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 150.0);
    assert!(!backend.reload_from_disk(), "what was saved here is no events");
    let left: Vec<_> =
        fs::read_dir(Path::new(&file).parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left behind: {left:?}");
}

#[test]
fn an_invalid_document_is_not_saved() {
    let (_folder, mut backend, file) = on_disk();
    let (text, hash) = text_and_hash(&mut backend, &file);
    let wrong = save(&mut backend, &file, &text.replace("{Attribute: MaxHealth,", "{Attribute: MaxHelth,"), &hash);
    let findings: Value = serde_json::from_str(wrong["error"].as_str().unwrap()).unwrap();
    assert_eq!(findings[0]["help"], "did you mean MaxHealth?");
    assert_eq!(fs::read_to_string(&file).unwrap(), HERO);
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 150.0);
}

#[test]
fn a_file_changed_by_another_program_is_not_overwritten() {
    let (_folder, mut backend, file) = on_disk();
    let (text, hash) = text_and_hash(&mut backend, &file);
    let theirs = HERO.replace("Value: 50}", "Value: 60}");
    fs::write(&file, &theirs).unwrap();
    let refused = save(&mut backend, &file, &text.replace("Value: 50}", "Value: 70}"), &hash);
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("was changed by another program") && error.contains("open the file again"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    // Their text is loaded; a page with the old text gets an error.
    assert!(backend.reload_from_disk());
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 160.0);
    assert!(save(&mut backend, &file, &text, &hash)["error"].is_string());
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
}

#[test]
fn changes_on_disk_are_reloaded_only_if_they_are_valid_together() {
    let (folder, mut backend, file) = on_disk();
    backend.advance(100.0, &mut || 0.0);
    // A definition moves from one file to another: only both files together are valid.
    let (first, effect) = HERO.split_once("---\nKind: gameplay_effect\n").unwrap();
    let (effect, rest) = effect.split_once("---\n").unwrap();
    fs::write(&file, format!("{first}---\n{rest}")).unwrap();
    assert!(!backend.reload_from_disk(), "one file alone is not valid");
    let notice = ask(&mut backend, json!({ "ask": "frame" }))["notice"].clone();
    assert!(notice.as_str().unwrap().contains("GE_Tough"), "{notice}");
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 150.0);
    let moved = format!("Kind: gameplay_effect\n{}", effect.replace("Value: 50}", "Value: 90}"));
    let other = folder.write("pack/effects.yaml", &moved);
    assert!(backend.reload_from_disk());
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 190.0);
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    assert_eq!((&frame["notice"], &frame["reloads"], &frame["tick"]), (&Value::Null, &json!(1), &json!(6)));
    // A broken file, one that is no text, and one that is too large leave the world standing.
    let large = vec![b' '; 17 << 20];
    for bad in [&b"{{{{"[..], &[0xff, 0xfe, 0x00], &large] {
        fs::write(&other, bad).unwrap();
        assert!(!backend.reload_from_disk());
        assert!(ask(&mut backend, json!({ "ask": "frame" }))["notice"].is_string());
        assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 190.0);
    }
    fs::write(&other, &moved).unwrap();
    assert!(!backend.reload_from_disk(), "as it was");
    assert_eq!(ask(&mut backend, json!({ "ask": "frame" }))["notice"], Value::Null);
}

/// At an earlier tick, a change on disk does not replace the later recording; saving at that tick shows a notice.
#[test]
fn saving_at_an_earlier_tick_keeps_the_recording_or_reports_the_fork() {
    let (_folder, mut backend, file) = on_disk();
    backend.advance(2_000.0, &mut || 0.0);
    ask(&mut backend, json!({ "ask": "seek", "tick": 30 }));
    fs::write(&file, HERO.replace("Value: 50}", "Value: 90}")).unwrap();
    assert!(backend.reload_from_disk());
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    assert_eq!((&frame["tick"], &frame["end"]), (&json!(30), &json!(120)), "nothing is lost");
    assert!(frame["saved"][1].as_str().unwrap().ends_with("hero.yaml"), "{frame}");
    assert!(frame["notice"].as_str().unwrap().contains("differs from the text at this tick"), "{frame}");
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 150.0, "the recording is unchanged");
    ask(&mut backend, json!({ "ask": "seek", "tick": 120 }));
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 190.0, "from now on it counts");
    ask(&mut backend, json!({ "ask": "step", "ticks": 60 }));
    let end = ask(&mut backend, json!({ "ask": "frame" }))["end"].clone();
    ask(&mut backend, json!({ "ask": "seek", "tick": 125 }));
    let (text, hash) = text_and_hash(&mut backend, &file);
    let saved = save(&mut backend, &file, &text.replace("Value: 90}", "Value: 70}"), &hash);
    assert_eq!(saved["error"], Value::Null, "{saved}");
    assert_eq!((&saved["tick"], &saved["old_end"]), (&json!(125), &end), "{saved}");
}

#[test]
fn a_changed_table_is_reloaded() {
    let folder = Folder::new();
    folder.write("pack/pack.yaml", PACK);
    let with_curve = HERO.replace("Type: ScalableFloat, Value: 50}", "Type: ScalableFloat, Value: 1, Curve: C_Tough}");
    folder.write("pack/hero.yaml", &format!("{with_curve}---\nKind: curve\nName: C_Tough\nCsv: tough.csv\n"));
    folder.write("pack/tough.csv", "X,Y\n1,50\n");
    let mut backend = open(&folder.pack());
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 150.0);
    assert!(!backend.reload_from_disk());
    folder.write("pack/tough.csv", "X,Y\n1,70\n");
    assert!(backend.reload_from_disk());
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 170.0);
    assert!(!backend.reload_from_disk(), "once");
    fs::remove_file(folder.pack().join("tough.csv")).unwrap();
    assert!(!backend.reload_from_disk(), "what has no numbers is not taken");
    let notice = ask(&mut backend, json!({ "ask": "frame" }))["notice"].clone();
    assert!(notice.as_str().unwrap().contains("tough.csv"), "{notice}");
    #[cfg(unix)]
    {
        let outside = folder.write("outside.csv", "X,Y\n1,90\n");
        std::os::unix::fs::symlink(outside, folder.pack().join("tough.csv")).unwrap();
        assert!(!backend.reload_from_disk(), "a table lies in its pack");
        let notice = ask(&mut backend, json!({ "ask": "frame" }))["notice"].clone();
        assert!(notice.as_str().unwrap().contains("outside the folder of the document"), "{notice}");
    }
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 170.0);
}

#[test]
fn an_earlier_tick_uses_the_table_values_of_that_time() {
    let folder = Folder::new();
    folder.write("pack/pack.yaml", PACK);
    let with_curve = HERO.replace("Type: ScalableFloat, Value: 50}", "Type: ScalableFloat, Value: 1, Curve: C_Tough}");
    let file =
        folder.write("pack/hero.yaml", &format!("{with_curve}---\nKind: curve\nName: C_Tough\nCsv: tough.csv\n"));
    folder.write("pack/tough.csv", "1,50\n");
    let mut backend = open(&folder.pack());
    let step = |backend: &mut Backend, ticks: u32| ask(backend, json!({ "ask": "step", "ticks": ticks }));
    step(&mut backend, 30);
    folder.write("pack/tough.csv", "1,60\n");
    assert!(backend.reload_from_disk());
    step(&mut backend, 30);
    // By hand, with a table that was saved just before.
    folder.write("pack/tough.csv", "1,70\n");
    let text = format!("{}# changed\n", fs::read_to_string(&file).unwrap());
    let edit = json!({ "ask": "put", "input": { "Edit": { "file": file.display().to_string(), "text": text } } });
    assert_eq!(ask(&mut backend, edit)["error"], Value::Null);
    step(&mut backend, 30);
    folder.write("pack/tough.csv", "1,80\n");
    assert!(backend.reload_from_disk());
    step(&mut backend, 30);
    let seen = |backend: &mut Backend| {
        [15, 45, 75, 105].map(|tick| {
            ask(backend, json!({ "ask": "seek", "tick": tick }));
            value(backend, "Hero", "MaxHealth")
        })
    };
    assert_eq!(seen(&mut backend), [150.0, 160.0, 170.0, 180.0]);
    folder.write("pack/tough.csv", "1,90\n");
    assert_eq!(seen(&mut backend), [150.0, 160.0, 170.0, 180.0]);
    ask(&mut backend, json!({ "ask": "seek", "tick": 45 }));
    let notice = ask(&mut backend, json!({ "ask": "frame" }))["notice"].clone();
    assert!(notice.as_str().unwrap().contains("differs from the text at this tick"), "{notice}");
}

#[test]
fn nothing_is_written_outside_the_opened_folder() {
    let (folder, mut backend, file) = on_disk();
    let (_, hash) = text_and_hash(&mut backend, &file);
    let outside = folder.write("secret.yaml", "Kind: curve\nName: C_Secret\n");
    for name in [
        "../secret.yaml".to_owned(),
        outside.display().to_string(),
        folder.pack().join("../secret.yaml").display().to_string(),
        format!("{file}/../../secret.yaml"),
        "/etc/passwd".to_owned(),
        String::new(),
        "pack.yaml\0".to_owned(),
    ] {
        let refused = save(&mut backend, &name, "Kind: curve\nName: C_Other\n", &hash);
        assert!(refused["error"].as_str().is_some_and(|e| !e.is_empty()), "{name}");
        assert!(ask(&mut backend, json!({ "ask": "file", "name": name }))["error"].is_string(), "{name}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "Kind: curve\nName: C_Secret\n");
    // The demo has no place on a disk.
    let mut demo = duel();
    let file = ask(&mut demo, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    assert!(file["refused"].as_str().unwrap().contains("ugas studio PATH"));
    let refused = save(&mut demo, "arena/pyra.yaml", file["text"].as_str().unwrap(), "");
    assert!(refused["error"].as_str().unwrap().contains("ugas studio PATH"));
}

#[cfg(unix)]
#[test]
fn a_symlink_does_not_allow_writes_outside_the_opened_folder() {
    let folder = Folder::new();
    folder.write("pack/pack.yaml", "Name: pack\nVersion: 1.0.0\nRequires: [other]\n");
    let file = folder.write("pack/hero.yaml", HERO);
    fs::create_dir_all(folder.0.join("other")).unwrap();
    folder.write("other/pack.yaml", "Name: other\nVersion: 1.0.0\n");
    let theirs = folder.write("other/curve.yaml", "Kind: curve\nName: C_A\nPoints: [{X: 1, Y: 1}]\n");
    let mut backend = open(&folder.pack());
    // Files of a required pack are shown and are in another folder.
    let names = ask(&mut backend, json!({ "ask": "files" }));
    let name = names.as_array().unwrap().iter().find(|n| n.as_str().unwrap().ends_with("curve.yaml")).unwrap().clone();
    let got = ask(&mut backend, json!({ "ask": "file", "name": name }));
    assert!(got["refused"].as_str().unwrap().contains("is outside"), "{got}");
    let hash = got["hash"].as_str().unwrap();
    let refused = save(&mut backend, name.as_str().unwrap(), "Kind: curve\nName: C_A\nPoints: [{X: 1, Y: 2}]\n", hash);
    assert!(refused["error"].as_str().unwrap().contains("is outside"), "{refused}");
    assert!(fs::read_to_string(&theirs).unwrap().contains("Y: 1"));
    // A file that becomes a link to somewhere else is not followed.
    let (text, hash) = text_and_hash(&mut backend, &file.display().to_string());
    fs::remove_file(&file).unwrap();
    let elsewhere = folder.write("elsewhere.yaml", HERO);
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let refused = save(&mut backend, &file.display().to_string(), &text.replace("Value: 50}", "Value: 51}"), &hash);
    assert!(refused["error"].is_string());
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), HERO);
}

/// One save is one input, also if the new text uses another table.
#[test]
fn a_save_that_names_another_table_is_reloaded_once() {
    let folder = Folder::new();
    folder.write("pack/pack.yaml", PACK);
    let with_curve = HERO.replace("Type: ScalableFloat, Value: 50}", "Type: ScalableFloat, Value: 1, Curve: C_Tough}");
    let curve = format!("{with_curve}---\nKind: curve\nName: C_Tough\nCsv: tough.csv\n");
    let file = folder.write("pack/hero.yaml", &curve).display().to_string();
    folder.write("pack/tough.csv", "X,Y\n1,50\n");
    folder.write("pack/other.csv", "X,Y\n1,60\n");
    let mut backend = open(&folder.pack());
    let (text, hash) = text_and_hash(&mut backend, &file);
    let saved = save(&mut backend, &file, &text.replace("tough.csv", "other.csv"), &hash);
    assert_eq!((&saved["error"], &saved["done"]), (&Value::Null, &json!(1)), "{saved}");
    assert!(!backend.reload_from_disk(), "it is known already");
    assert_eq!(ask(&mut backend, json!({ "ask": "frame" }))["done"], 1);
    assert_eq!(value(&mut backend, "Hero", "MaxHealth"), 160.0);
}

#[test]
fn a_scenario_restarts_when_its_file_is_saved() {
    let folder = Folder::new();
    let text = "\
Scenario: A hit is felt
Entities:
  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
  - {Kind: gameplay_effect, Name: GE_Hit, DurationPolicy: Instant, Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]} # ouch
Actors: {Hero: {AttributeSets: [Vitals]}}
Timeline: [{At: 1, Do: [{Apply: {Effect: GE_Hit, To: Hero}}]}, {At: 2, Do: [{Expect: {Hero.Health: 90}}]}]
";
    let path = folder.write("hit.yaml", text);
    let (mut backend, name) = (open(&path), path.display().to_string());
    backend.advance(2_000.0, &mut || 0.0);
    assert_eq!(value(&mut backend, "Hero", "Health"), 90.0);
    let (got, hash) = text_and_hash(&mut backend, &name);
    assert_eq!(got, text);
    let edit = json!({ "ask": "put", "input": { "Edit": { "file": name, "text": text } } });
    assert!(ask(&mut backend, edit)["error"].as_str().unwrap().contains("save the file"));
    let saved = save(&mut backend, &name, &text.replace("Value: -10", "Value: -30"), &hash);
    assert_eq!(saved["error"], Value::Null, "{saved}");
    assert_eq!(value(&mut backend, "Hero", "Health"), 70.0, "at the same tick of the new scenario");
    let hello = ask(&mut backend, json!({ "ask": "hello" }));
    assert_eq!(hello["scenario"]["failures"].as_array().unwrap().len(), 1, "{hello}");
    let wrong = save(&mut backend, &name, &text.replace("To: Hero", "To: Nobody"), saved["hash"].as_str().unwrap());
    assert!(wrong["error"].as_str().unwrap().contains("Nobody"), "{wrong}");
    assert_eq!(value(&mut backend, "Hero", "Health"), 70.0);
    // A syntax error is reported with its location, and not as a file without scenarios.
    for (from, to, place) in [("Timeline: [", "Timeline: {[", ":6:"), ("Timeline:", "Timelime:", ":6:1")] {
        fs::write(&path, text.replace(from, to)).unwrap();
        assert!(!backend.reload_from_disk());
        let notice = ask(&mut backend, json!({ "ask": "frame" }))["notice"].as_str().unwrap().to_owned();
        assert!(notice.contains("hit.yaml") && notice.contains(place), "{notice}");
        let choice = OpenOptions { scenario: Some("1".to_owned()), ..OpenOptions::default() };
        for choice in [choice, OpenOptions::default()] {
            let why = Backend::at(&path, choice).err().unwrap();
            assert!(why.contains(place), "{why}");
        }
    }
}

const SEVERAL: &str = "\
Scenario: A hit is felt
Seed: 3
Entities:
  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
Actors: {Hero: {AttributeSets: [Vitals]}}
Timeline: [{At: 1, Do: []}]
---
Scenario: Nobody is hurt
Seed: 4
Entities:
  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 50}]}
Actors: {Slime: {AttributeSets: [Vitals]}}
Timeline: [{At: 2, Do: [{Expect: {Slime.Health: 50}}]}]
---
Scenario: Nobody is hurt
Timeline: [{At: 3, Do: []}]
";

#[test]
fn one_of_several_scenarios_in_a_file_can_be_chosen() {
    let folder = Folder::new();
    let path = folder.write("several.yaml", SEVERAL);
    let mut backend = open(&path);
    let shown_scenario = |backend: &mut Backend| {
        let hello = ask(backend, json!({ "ask": "hello" }));
        (hello["scenario"]["name"].as_str().unwrap().to_owned(), hello["seed"].as_u64().unwrap())
    };
    let hello = ask(&mut backend, json!({ "ask": "hello" }));
    let all = json!([
        { "key": "A hit is felt", "name": "A hit is felt" },
        { "key": "Nobody is hurt", "name": "Nobody is hurt" },
        { "key": "3", "name": "Nobody is hurt" },
    ]);
    assert_eq!(hello["scenario"]["all"], all);
    assert_eq!(shown_scenario(&mut backend), ("A hit is felt".to_owned(), 3), "its own seed");
    backend.advance(500.0, &mut || 0.0);
    let before = ask(&mut backend, json!({ "ask": "frame" }));
    let other = ask(&mut backend, json!({ "ask": "open", "scenario": "Nobody is hurt" }));
    assert_eq!(other["error"], Value::Null, "{other}");
    assert_eq!(shown_scenario(&mut backend), ("Nobody is hurt".to_owned(), 4));
    assert_eq!(value(&mut backend, "Slime", "Health"), 50.0);
    let after = ask(&mut backend, json!({ "ask": "frame" }));
    assert_eq!((&after["tick"], &after["running"]), (&json!(0), &json!(true)), "it plays from its beginning");
    assert_ne!(
        (&after["reloads"], &after["timelines"]),
        (&before["reloads"], &before["timelines"]),
        "every page is notified"
    );
    let unknown = ask(&mut backend, json!({ "ask": "open", "scenario": "A miss" }));
    assert!(unknown["error"].as_str().unwrap().contains(r#"the file has 1 "A hit is felt", 2"#), "{unknown}");
    assert_eq!(shown_scenario(&mut backend).0, "Nobody is hurt", "and it keeps running");
    // A permalink names its scenario.
    backend.advance(1_000.0, &mut || 0.0);
    let permalink = ask(&mut backend, json!({ "ask": "permalink" }));
    assert_eq!((&permalink["scenario"], &permalink["seed"]), (&json!("Nobody is hurt"), &json!(4)));
    let mut fresh = open(&path);
    let link = json!({ "ask": "open", "seed": permalink["seed"], "scenario": permalink["scenario"], "tick": permalink["tick"] });
    assert_eq!(ask(&mut fresh, link)["error"], Value::Null);
    let hash = |backend: &mut Backend| ask(backend, json!({ "ask": "frame" }))["hash"].clone();
    assert_eq!(hash(&mut fresh), hash(&mut backend));
    // The file is saved with another name for the scenario, and with a new scenario before it.
    folder.write("several.yaml", &SEVERAL.replace("Nobody is hurt\nSeed: 4", "All is well\nSeed: 5"));
    assert!(backend.reload_from_disk());
    assert_eq!(shown_scenario(&mut backend), ("Nobody is hurt".to_owned(), 0), "the other one of that name");
    folder.write("several.yaml", &format!("Scenario: New\nTimeline: []\n---\n{SEVERAL}"));
    assert!(backend.reload_from_disk());
    assert_eq!(shown_scenario(&mut backend), ("Nobody is hurt".to_owned(), 4));
}

#[test]
fn a_requested_seed_replaces_the_seed_of_the_scenario() {
    let folder = Folder::new();
    let path = folder.write("several.yaml", SEVERAL);
    let choice = OpenOptions { seed: Some(9), scenario: Some("2".to_owned()) };
    let mut backend = Backend::at(&path, choice).unwrap();
    let hello = ask(&mut backend, json!({ "ask": "hello" }));
    assert_eq!((&hello["seed"], &hello["scenario"]["own_seed"]), (&json!(9), &json!(4)));
    let hash = |backend: &mut Backend| ask(backend, json!({ "ask": "frame" }))["hash"].clone();
    let mut own = Backend::at(&path, OpenOptions { seed: None, scenario: Some("2".to_owned()) }).unwrap();
    assert_ne!(hash(&mut backend), hash(&mut own), "the state of chance is another");
    ask(&mut backend, json!({ "ask": "open", "scenario": "1" }));
    assert_eq!(ask(&mut backend, json!({ "ask": "hello" }))["seed"], 9, "for every scenario that is chosen");
    let pack = folder.write("pack/pack.yaml", PACK).parent().unwrap().to_path_buf();
    folder.write("pack/hero.yaml", HERO);
    let why = Backend::at(&pack, OpenOptions { seed: None, scenario: Some("1".to_owned()) }).err().unwrap();
    assert!(why.contains("contains no scenarios"), "{why}");
}

#[test]
fn a_scenario_of_ten_megabytes_does_not_stop_the_studio() {
    let folder = Folder::new();
    let head = "Scenario: Long\nEntities: [{Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}]\nActors: {Hero: {AttributeSets: [Vitals]}}\n";
    let path = folder.write("long.yaml", &format!("{head}Timeline: [{{At: 1}}]\n"));
    let mut backend = open(&path);
    let mut long = format!("{head}Timeline:\n");
    while long.len() < 10 << 20 {
        long += &format!("  - {{At: 1, Do: [{{Note: {}}}]}}\n", "a".repeat(60_000));
    }
    fs::write(&path, &long).unwrap();
    let is_reloaded = backend.reload_from_disk();
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    assert!(is_reloaded || frame["notice"].is_string(), "it is loaded, or the reason is shown");
    backend.advance(100.0, &mut || 0.0);
    assert_eq!(value(&mut backend, "Hero", "Health"), 100.0);
}

// covers: UGAS-B.1-08
#[test]
fn only_actors_of_the_debug_category_are_listed() {
    let (_folder, mut backend, _) = on_disk();
    let names = |frame: &Value| -> Vec<String> {
        let actors = frame["sides"][0]["actors"].as_array().unwrap();
        actors.iter().map(|a| a["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&ask(&mut backend, json!({ "ask": "frame" }))), ["Hero", "Stone"]);
    assert_eq!(names(&ask(&mut backend, json!({ "ask": "frame", "category": "heroes" }))), ["Hero"]);
    assert!(names(&ask(&mut backend, json!({ "ask": "frame", "category": "stones" }))).is_empty());
    assert_eq!(ask(&mut backend, json!({ "ask": "hello" }))["categories"], json!(["heroes"]));
    // Everything that is written about a controller is kept for display.
    let about = ask(&mut backend, json!({ "ask": "definition", "kind": "controller", "name": "Hero" }));
    let kept = about["understood"].as_str().unwrap();
    for part in ["DisplayName: The hero", "Description: Stands there", "Brave", "DebugCategory: heroes"] {
        assert!(kept.contains(part), "{part}: {kept}");
    }
    let mut demo = duel();
    let sides = ask(&mut demo, json!({ "ask": "frame", "category": "arena" }))["sides"].clone();
    let pyra = sides[0]["actors"].as_array().unwrap().iter().find(|a| a["name"] == "Pyra").unwrap().clone();
    assert_eq!(pyra["category"], "arena");
}

#[test]
fn the_text_of_an_earlier_tick_does_not_overwrite_a_later_save() {
    let (folder, mut backend, file) = on_disk();
    backend.advance(1000.0, &mut || 0.0);
    let (text, hash) = text_and_hash(&mut backend, &file);
    let newer = text.replace("as much as anybody", "as much as most");
    assert_eq!(save(&mut backend, &file, &newer, &hash)["error"], Value::Null);
    ask(&mut backend, json!({ "ask": "seek", "tick": 10 }));
    let notice = ask(&mut backend, json!({ "ask": "frame" }))["notice"].clone();
    assert!(notice.as_str().unwrap().contains("differs from the text at this tick"), "{notice}");
    let (then, hash) = text_and_hash(&mut backend, &file);
    assert_eq!(then, text, "this tick had the old text");
    let refused = save(&mut backend, &file, &then.replace("anybody", "nobody"), &hash);
    assert!(refused["error"].as_str().unwrap().contains("changed by another program"), "{refused}");
    assert_eq!(fs::read_to_string(folder.pack().join("hero.yaml")).unwrap(), newer);
}
