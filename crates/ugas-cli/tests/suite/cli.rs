//! The command line interface: exit codes, messages, output formats.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const GOOD: &str = r#"Scenario: A hit hurts
Entities:
  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
  - Kind: gameplay_effect
    Name: GE_Hit
    DurationPolicy: Instant
    Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]
Actors:
  Hero: {AttributeSets: [Vitals]}
Timeline:
  - At: 30f
    Do:
      - Apply: {Effect: GE_Hit, To: Hero}
      - Expect: {Hero.Health: 90, Sim.Time: 0.5}
"#;

/// A temporary folder for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ugas-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    fn with(self, file: &str, text: impl AsRef<[u8]>) -> Folder {
        std::fs::write(self.0.join(file), text).expect("a file for the test");
        self
    }

    /// Runs the command inside the folder.
    fn ugas(&self, args: &[&str]) -> Ran {
        ran(Command::new(env!("CARGO_BIN_EXE_ugas")).current_dir(&self.0).args(args).output())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn ran(output: std::io::Result<Output>) -> Ran {
    let output = output.expect("the command starts");
    Ran {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn passing_scenarios_exit_0() {
    let ran = Folder::new("good").with("a.yaml", GOOD).ugas(&["test", "a.yaml", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2 passed, 0 failed\n"), "{}", ran.err);
}

#[test]
fn a_failing_scenario_exits_1_and_explains_its_number() {
    let bad = GOOD.replace("Hero.Health: 90", "Hero.Health: 50");
    let ran = Folder::new("bad").with("a.yaml", format!("{GOOD}---\n{bad}")).ugas(&["test", "a.yaml"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let mut lines = ran.out.lines();
    assert_eq!(lines.next(), Some("a.yaml:29:18: A hit hurts: expected Hero.Health to be 50, found 90"));
    let explanation: Vec<&str> = lines.clone().take_while(|l| l.starts_with("    ")).collect();
    assert!(!explanation.is_empty(), "{}", ran.out);
    assert_eq!(lines.next_back(), Some("1 passed, 1 failed"));
}

#[test]
fn an_invalid_scenario_exits_2_with_line_and_column() {
    let verb = GOOD.replace("- Apply", "- Aply");
    let attribute = GOOD.replace("Hero.Health: 90", "Hero.Helth: 90");
    let folder = Folder::new("misspelt").with("verb.yaml", verb).with("attribute.yaml", attribute);
    let ran = folder.ugas(&["test", "verb.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("verb.yaml:13:9: error: unknown verb \"Aply\""), "{}", ran.err);
    assert!(ran.err.contains("did you mean \"Apply\"?"), "{}", ran.err);
    assert!(ran.out.ends_with("0 passed, 1 failed\n"), "{}", ran.out);
    let ran = folder.ugas(&["test", "attribute.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("attribute.yaml:14:18: error:"), "{}", ran.err);
    assert!(ran.err.contains("did you mean \"Health\"?"), "{}", ran.err);
}

#[test]
fn an_unreadable_scenario_exits_2() {
    let folder = Folder::new("unreadable")
        .with("bytes.yaml", b"Scenario: A\nSeed: \xff\n")
        .with("syntax.yaml", "Scenario: [")
        .with("other.yaml", "Scenrio: A\n")
        .with("empty.yaml", "# nothing\n");
    for (file, expected) in [
        ("missing.yaml", "missing.yaml: error: cannot read"),
        ("bytes.yaml", "bytes.yaml:2:7: error: the file is not valid UTF-8"),
        ("syntax.yaml", "syntax.yaml:1:"),
        ("other.yaml", "did you mean \"Scenario\"?"),
        ("empty.yaml", "no scenario found"),
    ] {
        let ran = folder.ugas(&["test", file]);
        assert_eq!(ran.code, Some(2), "{file}: {}", ran.err);
        assert!(ran.err.contains(expected), "{file}: {}", ran.err);
    }
    let ran = folder.ugas(&["test"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn the_report_is_written_even_if_scenarios_fail() {
    let bad = GOOD.replace("Hero.Health: 90", "Hero.Health: 50");
    let folder = Folder::new("report").with("a.yaml", format!("# head\n{GOOD}---\n{bad}"));
    let ran = folder.ugas(&["test", "a.yaml", "--report", "out/r.json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let text = std::fs::read_to_string(folder.0.join("out/r.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = serde_json::json!([
        {"file": "a.yaml", "line": 2, "scenario": "A hit hurts", "passed": true},
        {"file": "a.yaml", "line": 17, "scenario": "A hit hurts", "passed": false},
    ]);
    assert_eq!(report, expected);
}

#[test]
fn sim_prints_every_attribute_over_time() {
    let folder = Folder::new("sim").with("a.yaml", GOOD);
    let ran = folder.ugas(&["sim", "a.yaml", "--format", "csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.lines().next(), Some("time,Hero.Health"));
    assert_eq!(ran.out.lines().nth(1), Some("0,100"));
    assert_eq!(ran.out.lines().next_back(), Some("0.5,90"));
    let ran = folder.ugas(&["sim", "a.yaml"]);
    assert!(ran.out.contains("100 → 90") && ran.out.contains('█'), "{}", ran.out);
    let ran = folder.ugas(&["sim", "a.yaml", "--format", "json", "--runs", "3", "--seed", "5"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&json["runs"], &json["seed"]), (&3.into(), &5.into()));
    assert_eq!(json["rows"][0]["mean"][0], 100.0);
    assert_eq!(folder.ugas(&["sim", "a.yaml", "--scenario", "2"]).code, Some(2));
}

// covers: UGAS-B.1-08
#[test]
fn sim_shows_the_actors_of_a_debug_category_only() {
    let knight = "  - Kind: gameplay_controller\n    OwnerActor: {ActorID: Knight, ActorType: PlayerCharacter}\n    \
                  AttributeSets: [{Name: Vitals, Attributes: [{Name: Health, BaseValue: 80, CurrentValue: 80}]}]\n    \
                  Metadata: {DebugCategory: knights}\nActors:\n  Ann: {Controller: Knight}\n";
    let folder = Folder::new("category").with("a.yaml", GOOD.replace("Actors:\n", knight));
    let all = folder.ugas(&["sim", "a.yaml", "--format", "csv"]);
    assert!(all.out.contains("Ann.Health") && all.out.contains("Hero.Health"), "{}", all.out);
    let some = folder.ugas(&["sim", "a.yaml", "--format", "csv", "--category", "knights"]);
    assert!(some.out.contains("Ann.Health") && !some.out.contains("Hero."), "{}", some.out);
    let none = folder.ugas(&["sim", "a.yaml", "--category", "knight"]);
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("no actor has the DebugCategory knight; did you mean knights?"), "{}", none.err);
}

#[test]
fn explain_shows_how_a_number_came_about() {
    let folder = Folder::new("explain").with("a.yaml", GOOD);
    let ask = |attribute: &str, at: &str| {
        folder.ugas(&["explain", "a.yaml", "--actor", "Hero", "--attribute", attribute, "--at", at])
    };
    let ran = ask("Health", "30f");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("90"), "{}", ran.out);
    assert!(ask("Health", "0.2").out.contains("100"));
    let ran = ask("Helth", "0");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("did you mean \"Health\"?"), "{}", ran.err);
    assert_eq!(ask("Health", "soon").code, Some(2));
}

#[test]
fn why_not_lists_every_failed_check_and_when_it_passes_again() {
    let text = r#"
Scenario: A shout
Entities:
  - {Kind: attribute_set, Name: V, Attributes: [{Name: Mana, DefaultBaseValue: 10, Clamping: {Min: 0}}]}
  - Kind: gameplay_effect
    Name: GE_Cost
    DurationPolicy: Instant
    Modifiers: [{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]
  - Kind: gameplay_effect
    Name: GE_Cooldown
    DurationPolicy: HasDuration
    Duration: {Type: ScalableFloat, Value: 5}
    GrantedTags: [Cooldown.Shout]
  - {Kind: gameplay_ability, Name: GA_Shout, Cost: GE_Cost, Cooldown: GE_Cooldown}
Actors: {Hero: {AttributeSets: [V], Abilities: [GA_Shout]}}
Timeline: [{At: 1, Do: [{Activate: {Actor: Hero, Ability: GA_Shout}}]}]
"#;
    let folder = Folder::new("why-not").with("a.yaml", text);
    let ask = |ability: &str, at: &str| {
        folder.ugas(&["why-not", "a.yaml", "--actor", "Hero", "--ability", ability, "--at", at])
    };
    let free = ask("GA_Shout", "0.5");
    assert_eq!((free.code, free.out.trim()), (Some(0), "GA_Shout can be activated at 0.5 s"));
    let ran = ask("GA_Shout", "2");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with("Cost: ") && lines[1].starts_with("Cooldown: "), "{lines:?}");
    assert!(lines[1].ends_with("(ready at 6 s)"), "{lines:?}");
    let wrong = ask("GA_Shuot", "2");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean \"GA_Shout\"?"), "{}", wrong.err);
}

#[test]
fn preview_shows_the_changes_an_action_would_make() {
    let text = r#"
Scenario: A hit and a shout
Entities:
  - {Kind: attribute_set, Name: V, Attributes: [{Name: Health, DefaultBaseValue: 100}, {Name: Mana, DefaultBaseValue: 30}]}
  - Kind: gameplay_effect
    Name: GE_Hit
    DurationPolicy: Instant
    Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -40}}]
  - Kind: gameplay_effect
    Name: GE_Cost
    DurationPolicy: Instant
    Modifiers: [{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -20}}]
  - Kind: gameplay_effect
    Name: GE_Cooldown
    DurationPolicy: HasDuration
    Duration: {Type: ScalableFloat, Value: 5}
    GrantedTags: [Cooldown.Shout]
  - {Kind: gameplay_ability, Name: GA_Shout, Cost: GE_Cost, Cooldown: GE_Cooldown}
Actors:
  Hero: {AttributeSets: [V], Abilities: [GA_Shout]}
  Orc: {AttributeSets: [V]}
"#;
    let folder = Folder::new("preview").with("a.yaml", text);
    let ask = |more: &[&str]| folder.ugas(&[&["preview", "a.yaml", "--at", "1", "--actor", "Hero"], more].concat());
    let hit = ask(&["--effect", "GE_Hit", "--from", "Orc"]);
    assert_eq!(hit.code, Some(0), "{}", hit.err);
    assert!(hit.out.starts_with("Hero\n  Health  100 → 60\n  Mana    30\n"), "{}", hit.out);
    let shout = ask(&["--ability", "GA_Shout"]);
    assert!(shout.out.contains("Mana    30 → 10") && shout.out.contains("tags added: Cooldown.Shout"), "{}", shout.out);
    assert!(shout.out.contains("effects added: GE_Cooldown 5 s"), "{}", shout.out);
    let json: serde_json::Value = serde_json::from_str(&ask(&["--effect", "GE_Hit", "--format", "json"]).out).unwrap();
    assert_eq!(json["actors"][0]["attributes"]["Health"]["after"], 60.0);
    assert!(json["refusal"].is_null());
    let wrong = ask(&["--effect", "GE_Hti"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean \"GE_Hit\"?"), "{}", wrong.err);
    assert_eq!(ask(&[]).code, Some(2), "one of --effect and --ability is required");
}

#[test]
fn check_reports_errors_without_running_scenarios() {
    let effect = "Kind: gameplay_effect\nName: GE_X\nDurationPolicy: Instant\nModifiers:\n  \
                  - {Attribute: Helth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}\n";
    let tags = "Kind: gameplay_effect\nName: GE_T\nDurationPolicy: Infinite\nGrantedTags: [State.Undeclared]\n";
    let folder = Folder::new("check")
        .with("good.yaml", GOOD)
        .with("bad.yaml", effect)
        .with("warn.yaml", tags)
        .with("verb.yaml", GOOD.replace("- Apply", "- Aply"));
    let ran = folder.ugas(&["check", "good.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "0 errors, 0 warnings\n"), "{}", ran.err);
    let ran = folder.ugas(&["check", "bad.yaml"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("bad.yaml:5:17: error[unknown-attribute]: "), "{}", ran.out);
    let ran = folder.ugas(&["check", "verb.yaml"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("verb.yaml:13:9: error[invalid]: "), "{}", ran.out);
    assert_eq!(folder.ugas(&["check", "warn.yaml"]).code, Some(0));
    let ran = folder.ugas(&["check", "warn.yaml", "--deny", "warnings", "--format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["diagnostics"][0]["severity"], "warning");
    assert_eq!((&json["diagnostics"][0]["line"], &json["diagnostics"][0]["column"]), (&4.into(), &15.into()));
    assert_eq!((&json["errors"], &json["warnings"]), (&0.into(), &1.into()));
    assert_eq!(folder.ugas(&["check", "missing"]).code, Some(2));
}

#[test]
fn check_prints_the_line_and_underlines_the_error() {
    let effect = "Kind: gameplay_effect\nName: GE_X\nDurationPolicy: Instnt\nPriorty: 1\n";
    let ran = Folder::new("excerpt").with("a.yaml", effect).ugas(&["check", "a.yaml"]);
    let expected = "\
a.yaml:3:17: error[invalid]: DurationPolicy: \"Instnt\" is not one of Instant, HasDuration, Infinite
  |
3 | DurationPolicy: Instnt
  |                 ^^^^^^ did you mean \"Instant\"?
a.yaml:4:1: error[invalid]: unknown field \"Priorty\"";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    assert!(
        ran.out.contains("\n4 | Priorty: 1\n  | ^^^^^^^ did you mean \"Priority\"?\n2 errors, 0 warnings\n"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains('\x1b'), "colours are for terminals");
}

#[test]
fn check_writes_sarif_with_locations_and_fixes() {
    let text = "Kind: attribute_set\nName: V\nAttributes:\n  - {Name: MaxHealth, DefaultBaseValue: 1}\n  \
                - {Name: Health, DefaultBaseValue: 1, Clamping: {Max: MaxHelth}}\n";
    let folder = Folder::new("sarif").with("a b.yaml", text);
    let ran = folder.ugas(&["check", ".", "--format", "sarif"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let log: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!((&run["tool"]["driver"]["name"], &run["columnKind"]), (&"ugas".into(), &"unicodeCodePoints".into()));
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"unknown-attribute".into(), &"error".into()));
    assert_eq!(
        run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("an index") as usize]["id"],
        result["ruleId"]
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.yaml");
    let region = serde_json::json!({"startLine": 5, "startColumn": 57, "endLine": 5, "endColumn": 65});
    assert_eq!(place["region"], region);
    let change = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!((&change["deletedRegion"], &change["insertedContent"]["text"]), (&region, &"MaxHealth".into()));
    let json: serde_json::Value =
        serde_json::from_str(&folder.ugas(&["check", ".", "--format", "json"]).out).expect("JSON");
    assert_eq!(json["diagnostics"][0]["fix"]["edits"][0]["text"], "MaxHealth");
}

#[test]
fn check_lists_extensions_with_portable() {
    let schema = "$schema: https://ugas.jbltx.com/v1.0.0-draft.3/schemas/gameplay_effect.json";
    let text = format!(
        "{schema}\nName: GE_X\nDurationPolicy: Infinite\nStacking: {{Limit: 3}}\n---\nKind: curve\nName: C_X\n\
         Points: [{{X: 1, Y: 2}}]\n"
    );
    let folder = Folder::new("portable").with("a.yaml", text);
    let ran = folder.ugas(&["check", "a.yaml"]);
    assert!(ran.code == Some(0) && !ran.out.contains("extension-"), "{}", ran.out);
    let ran = folder.ugas(&["check", "a.yaml", "--portable"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let firsts: Vec<&str> = ran.out.lines().filter(|l| l.contains("info[extension-")).collect();
    let expected = [
        "a.yaml:4:1: info[extension-field]: Stacking: this field of gameplay effect is an extension of the specification",
        "a.yaml:6:7: info[extension-kind]: the kind curve is an extension of the specification",
    ];
    assert_eq!(firsts, expected);
}

#[test]
fn help_shows_examples_that_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ugas = |args: &[&str]| ran(Command::new(env!("CARGO_BIN_EXE_ugas")).current_dir(&root).args(args).output());
    let help = ugas(&["help"]);
    assert_eq!(help.code, Some(0));
    let examples: Vec<&str> = help.out.lines().filter_map(|l| l.strip_prefix("  ugas ")).collect();
    assert_eq!(examples.len(), 4, "{}", help.out);
    // What writes has tests of its own, in a folder of their own.
    for example in examples.into_iter().filter(|e| !e.starts_with("init ")) {
        let args: Vec<&str> = example.split_whitespace().collect();
        let ran = ugas(&args);
        assert_eq!(ran.code, Some(0), "{example}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let long = GOOD.replace(
        "      - Apply: {Effect: GE_Hit, To: Hero}\n",
        "      - Repeat: {Times: 90, Do: [{Expect: {Hero.Health: 1}}]}\n",
    );
    let folder = Folder::new("pipe").with("a.yaml", long);
    let mut child = Command::new(env!("CARGO_BIN_EXE_ugas"))
        .current_dir(&folder.0)
        .args(["test", "a.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let ran = ran(child.wait_with_output());
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    // The reader may leave before the first line or after the last: both are an ordinary end.
    assert!(matches!(ran.code, Some(0 | 1)), "{:?} {}", ran.code, ran.err);
}

const BOOTS: &str = "Kind: attribute\nName: Speed\nDefaultBaseValue: 5\n---\n# Fast.\nKind: gameplay_effect\nName: GE_Boots\n\
DurationPolicy: Infinite\nModifiers:\n  - {Attribute: Sped, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 5}, Channel: B} # five\n";

#[test]
fn fix_lists_its_changes_and_makes_no_others() {
    let folder = Folder::new("fix").with("a.yaml", BOOTS).with("b.yaml", "# nothing here\n");
    let read = || std::fs::read_to_string(folder.0.join("a.yaml")).unwrap();
    let ran = folder.ugas(&["fix", "--dry-run", "."]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("a.yaml:10:17: write Speed [unknown-attribute]\n"), "{}", ran.out);
    assert!(ran.out.contains(": remove Channel [channel-on-non-multiply]\n"), "{}", ran.out);
    assert!(ran.out.ends_with("2 changes would be made in 1 file\n"), "{}", ran.out);
    assert_eq!(read(), BOOTS);

    let ran = folder.ugas(&["fix", "."]);
    assert!(ran.out.ends_with("2 changes made in 1 file\n"), "{}", ran.out);
    assert_eq!(read(), BOOTS.replace("Sped,", "Speed,").replace(", Channel: B", ""));
    let ran = folder.ugas(&["fix", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "0 changes made in 0 files\n"));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn explain_lint_shows_a_page_or_all_rules() {
    let folder = Folder::new("explain-lint");
    let page = folder.ugas(&["explain-lint", "zero-magnitude"]);
    assert!(page.out.starts_with("# zero-magnitude\n\n") && page.out.contains("## How to fix it"), "{}", page.out);
    let all = folder.ugas(&["explain-lint"]);
    let ids = ugas_data::lint_rules().len() + ugas_data::finding_pages().len();
    assert_eq!(all.out.lines().count(), ids);
    let none = folder.ugas(&["explain-lint", "zero-magnitud"]);
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("did you mean zero-magnitude?"), "{}", none.err);
}

#[test]
fn strict_enables_more_rules() {
    let folder = Folder::new("strict").with("a.yaml", "Kind: gameplay_effect\nName: Hit\nDurationPolicy: Instant\n");
    assert_eq!(folder.ugas(&["check", "a.yaml", "--deny", "warnings"]).code, Some(0));
    let ran = folder.ugas(&["check", "a.yaml", "--deny", "warnings", "--strict"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("a.yaml:2:7: warning[naming]: "), "{}", ran.out);
}

#[test]
fn fmt_formats_files_and_lists_them() {
    let loose = "Kind:  curve   # why\nName: C\nPoints:\n- {X: 1,Y: 2}\n";
    let shaped = "Kind: curve   # why\nName: C\nPoints:\n  - {X: 1, Y: 2}\n";
    let folder = Folder::new("fmt").with("a.yaml", loose).with("b.yaml", shaped).with("c.yaml", "A: [\n");
    let read = |file: &str| std::fs::read_to_string(folder.0.join(file)).expect("the file");
    let ran = folder.ugas(&["fmt", "--check", "a.yaml", "b.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "a.yaml\n2 files, 1 not formatted\n"), "{}", ran.err);
    assert_eq!(read("a.yaml"), loose);
    let ran = folder.ugas(&["fmt", "."]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.ends_with("3 files, 1 changed\n") && ran.err.contains("c.yaml:"), "{}{}", ran.out, ran.err);
    assert_eq!((read("a.yaml").as_str(), read("b.yaml").as_str(), read("c.yaml").as_str()), (shaped, shaped, "A: [\n"));
    assert_eq!(folder.ugas(&["fmt", "--check", "a.yaml"]).code, Some(0));
}

#[test]
fn sim_prints_one_line_per_fact() {
    let folder = Folder::new("facts").with("good.yaml", GOOD);
    let ran = folder.ugas(&["sim", "good.yaml", "--format", "facts"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("0.5 s Hero: Health 100 → 90, base 100 → 90 (GE_Hit)\n"), "{}", ran.out);
    let ran = folder.ugas(&["sim", "good.yaml", "--format", "facts", "--runs", "3"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn every_command_is_listed_in_the_book() {
    let help = Folder::new("commands").ugas(&["--help"]).out;
    let list =
        help.split("Commands:").nth(1).and_then(|rest| rest.split("Options:").next()).expect("a list of commands");
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.contains(&"serve") && names.contains(&"bot"), "{names:?}");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/scenarios.md");
    let book = std::fs::read_to_string(book).expect("the page of the command line");
    for name in names {
        assert!(book.contains(&format!("| `ugas {name} ")), "the book's table of commands has no {name}");
    }
}

#[test]
fn counts_use_singular_and_plural() {
    let one = Folder::new("one").with("a.yaml", GOOD.replace("Attribute: Health", "Attribute: Helth"));
    let ran = one.ugas(&["check", "."]);
    assert!(ran.out.ends_with("1 error, 0 warnings\n"), "{}", ran.out);
    // An error in an entity is reported once, at its word, with a suggestion.
    assert!(ran.out.contains("a.yaml:7:29: error[unknown-attribute]"), "{}", ran.out);
    let ran = one.ugas(&["test", "a.yaml"]);
    assert!(ran.err.contains("a.yaml:7:29: "), "{}", ran.err);

    // An unknown attribute is an error, an undeclared tag is a warning.
    let effect =
        |name: String, field: &str| format!("Kind: gameplay_effect\nName: {name}\nDurationPolicy: Infinite\n{field}\n");
    let wrong = "Modifiers: [{Attribute: Helth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]";
    for (errors, expected_errors) in [(0, "0 errors"), (1, "1 error"), (2, "2 errors")] {
        for (warnings, expected_warnings) in [(0, "0 warnings"), (1, "1 warning"), (2, "2 warnings")] {
            let bad = (0..errors).map(|n| effect(format!("GE_Bad{n}"), wrong));
            let undeclared =
                (0..warnings).map(|n| effect(format!("GE_Odd{n}"), &format!("GrantedTags: [State.Odd{n}]")));
            let good = effect("GE_Good".into(), "Priority: 1");
            let text = std::iter::once(good).chain(bad).chain(undeclared).collect::<Vec<_>>().join("---\n");
            let ran = Folder::new(&format!("count-{errors}-{warnings}")).with("a.yaml", text).ugas(&["check", "."]);
            let last = ran.out.lines().last().unwrap_or_default();
            assert_eq!(last, format!("{expected_errors}, {expected_warnings}"), "{}", ran.out);
        }
    }
}
