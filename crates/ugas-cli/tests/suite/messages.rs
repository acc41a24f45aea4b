//! The error messages of the command: they name the cause, the values and what to do. Text from files cannot control
//! the terminal.

use std::path::PathBuf;
use std::process::Command;

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("ugas-messages-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        for (file, text) in files {
            std::fs::write(path.join(file), text).expect("a file for the test");
        }
        Folder(path)
    }

    /// Runs the command in the folder. Returns exit code, stdout and stderr.
    fn ugas(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let run = Command::new(env!("CARGO_BIN_EXE_ugas")).current_dir(&self.0).args(args).output();
        let run = run.expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (run.status.code(), text(&run.stdout), text(&run.stderr))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_command_exits_2_for_a_file_it_cannot_read() {
    let folder = Folder::new("unreadable", &[("a.yaml", "Kind: gameplay_effect\nName: [")]);
    for args in
        [&["fix", "a.yaml"][..], &["fix", "."], &["fix", "--dry-run", "."], &["fmt", "a.yaml"], &["test", "a.yaml"]]
    {
        let (code, out, err) = folder.ugas(args);
        assert_eq!(code, Some(2), "{args:?}: {out}{err}");
        assert!(err.contains("a.yaml:2:"), "{args:?}: {out}{err}");
    }
}

#[test]
fn fix_exits_2_only_for_errors_it_cannot_repair() {
    let text = "Kind: attribute_set\nName: V\nAttributes:\n  - {Name: MaxHealth, DefaultBaseValue: 1}\n  \
                - {Name: Health, DefaultBaseValue: 1, Clamping: {Max: MaxHelth}}\n";
    let (code, out, err) = Folder::new("repaired", &[("a.yaml", text)]).ugas(&["fix", "a.yaml"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.ends_with("1 change made in 1 file\n"), "{out}{err}");
}

#[test]
fn names_of_files_cannot_control_the_terminal() {
    let evil = "E\u{1b}[31m\u{202e}vil\u{7f}\u{200b}";
    let quoted = "E\\e[31m\\u202Evil\\x7F\\u200B";
    let scenario = format!(
        "Scenario: \"{quoted}\"\n\
         Entities:\n  - {{Kind: attribute_set, Name: V, Attributes: [{{Name: Health, DefaultBaseValue: 1}}]}}\n  \
         - {{Kind: gameplay_effect, Name: \"{quoted}\", DurationPolicy: Infinite, GrantedTags: [State.On]}}\n\
         Actors: {{\"{quoted}\": {{AttributeSets: [V]}}}}\n\
         Timeline: [{{At: 0, Do: [{{Apply: {{Effect: \"{quoted}\", To: \"{quoted}\"}}}}, \
         {{Expect: {{\"{quoted}.Health\": 5}}}}]}}]\n"
    );
    let document =
        format!("Kind: gameplay_effect\nName: \"{quoted}\"\nDurationPolicy: \"{quoted}\"\n# {evil}\nX{evil}: 1\n");
    let folder = Folder::new("control", &[("s.yaml", &scenario), ("d.yaml", &document)]);
    let commands: &[&[&str]] = &[
        &["test", "s.yaml"],
        &["check", "s.yaml"],
        &["check", "d.yaml"],
        &["check", "d.yaml", "--format", "json"],
        &["check", "d.yaml", "--format", "sarif"],
        &["sim", "s.yaml"],
        &["sim", "s.yaml", "--format", "csv"],
        &["sim", "s.yaml", "--format", "json"],
        &["sim", "s.yaml", "--format", "facts"],
        &["explain", "s.yaml", "--actor", evil, "--attribute", "Health", "--at", "0"],
        &["explain", "s.yaml", "--actor", evil, "--attribute", evil, "--at", "0"],
        &["show", evil, "s.yaml"],
        &["fix", "d.yaml"],
    ];
    for args in commands {
        let (_, out, err) = folder.ugas(args);
        let all = out + &err;
        assert!(!all.is_empty(), "{args:?}");
        let raw = all.chars().find(|c| c.is_control() && !"\n\t".contains(*c) || "\u{202e}\u{200b}".contains(*c));
        assert_eq!(raw, None, "{args:?}: {all:?}");
    }
    let json = folder.ugas(&["check", "d.yaml", "--format", "json"]).1;
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
}

const DERIVED: &str = "\
Scenario: A slow controller
Entities:
  - Kind: attribute_set
    Name: V
    Attributes:
      - {Name: Strength, DefaultBaseValue: 10}
      - {Name: Power, DerivedFrom: {Expression: Strength * 2 + 1}}
  - Kind: gameplay_effect
    Name: GE_Cooldown
    DurationPolicy: HasDuration
    Duration: {Type: ScalableFloat, Value: 4}
    GrantedTags: [Cooldown.Shout]
  - {Kind: gameplay_ability, Name: GA_Shout, Cooldown: GE_Cooldown}
Actors: {Hero: {AttributeSets: [V], Abilities: [GA_Shout]}}
Timeline:
  - At: 0
    Do:
      - SetRate: {Actor: Hero, Rate: 0.5}
  - At: 1
    Do:
      - Activate: {Actor: Hero, Ability: GA_Shout}
";

#[test]
fn explain_shows_the_expression_of_a_derived_attribute() {
    let folder = Folder::new("derived", &[("a.yaml", DERIVED)]);
    let (code, out, err) = folder.ugas(&["explain", "a.yaml", "--actor", "Hero", "--attribute", "Power", "--at", "0"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("base 21 = Strength * 2 + 1 (derived)"), "{out}");
}

#[test]
fn why_not_reports_times_on_the_clock_of_the_timeline() {
    let folder = Folder::new("clock", &[("a.yaml", DERIVED)]);
    // Four seconds at half speed take eight: from 1 s to 9 s.
    let (_, out, err) = folder.ugas(&["why-not", "a.yaml", "--actor", "Hero", "--ability", "GA_Shout", "--at", "2"]);
    assert!(out.contains("7 s remaining") && out.contains("(ready at 9 s)"), "{out}{err}");
}

#[test]
fn a_time_beyond_the_limit_names_the_limit() {
    let folder = Folder::new(
        "limit",
        &[
            ("a.yaml", DERIVED),
            ("late.yaml", "Scenario: Late\nTimeline: [{At: 1e12}]\n"),
            ("long.yaml", &DERIVED.replace("Value: 4", "Value: 1e12")),
        ],
    );
    let at = |at: &str| {
        let at = format!("--at={at}");
        folder.ugas(&["explain", "a.yaml", "--actor", "Hero", "--attribute", "Power", &at])
    };
    assert!(at("1e12").2.contains("expected a time from 0 s to 1633959048"), "{}", at("1e12").2);
    assert!(at("-1").2.contains("expected a time from 0 s to 1633959048"), "{}", at("-1").2);
    let late = folder.ugas(&["check", "late.yaml"]);
    assert!(late.1.contains("At: the time is beyond the limit of 1633959048"), "{}", late.1);
    let long = folder.ugas(&["check", "long.yaml"]);
    assert!(
        long.1.contains("error[bad-duration]: GE_Cooldown: Duration: 1000000000000 s is out of range"),
        "{}",
        long.1
    );
}

#[test]
fn check_rejects_invalid_times() {
    let apply = |fields: &str| {
        format!(
            "Scenario: S\nEntities: [{{Kind: attribute_set, Name: V, Attributes: [{{Name: H, DefaultBaseValue: 1}}]}}, \
             {{Kind: gameplay_effect, Name: GE_A, DurationPolicy: HasDuration, Duration: {{Type: ScalableFloat, Value: 1}}}}]\n\
             Actors: {{Hero: {{AttributeSets: [V]}}}}\nTimeline: [{{At: 1, Do: [{{Apply: {{Effect: GE_A, To: Hero{fields}}}}}]}}]\n"
        )
    };
    for (name, text, expected) in [
        ("step", "Scenario: S\nStep: 1e-9\nTimeline: [{At: 100}]\n".to_owned(), "needs more than 10000000 steps"),
        ("zero", "Scenario: S\nStep: 0\n".to_owned(), "Step: expected a time longer than 0"),
        ("duration", apply(", Duration: -1"), "Duration: expected at least 0 s, found -1 s"),
        ("period", apply(", Period: 0.0001"), "Period: expected at least 0.001 s"),
        ("document", apply("").replace("Value: 1}", "Value: -3}"), "Duration: -3 s is out of range"),
    ] {
        let (code, out, err) = Folder::new(name, &[("a.yaml", &text)]).ugas(&["check", "a.yaml"]);
        assert_eq!(code, Some(1), "{name}: {out}{err}");
        assert!(out.contains(expected), "{name}: {out}");
    }
    let refused = apply(", Duration: -1").replace("}}]}]", "}, Refused: BadValue}]}]");
    let (code, out, _) = Folder::new("refused", &[("a.yaml", &refused)]).ugas(&["check", "a.yaml"]);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn suggestions_have_the_same_kind() {
    let text = "Scenario: S\nEntities:\n  \
                - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 1}]}\n  \
                - {Kind: gameplay_effect, Name: GE_Poison, DurationPolicy: Infinite}\n  \
                - {Kind: gameplay_ability, Name: GA_Poison}\n\
                Actors: {Hero: {AttributeSets: [Vitals], Abilities: [GA_Poison]}}\n\
                Timeline: [{At: 0, Do: [{Expect: {PATH: 1}}]}]\n";
    let check = |path: &str| {
        let folder = Folder::new(&format!("kind{}", path.replace('.', "")), &[("a.yaml", &text.replace("PATH", path))]);
        folder.ugas(&["check", "a.yaml"]).1
    };
    assert!(check("Hero.Efects.GE_Poison").contains("did you mean \"Effects\"?"), "{}", check("Hero.Efects.GE_Poison"));
    assert!(check("Hero.Helth").contains("did you mean \"Health\"?"));
    assert!(check("Hero.Abilities.GE_Poison").contains("did you mean \"GA_Poison\"?"));
    let attribute = check("Hero.Vitls");
    assert!(attribute.contains("unknown attribute Vitls") && !attribute.contains("Vitals\"?"), "{attribute}");
}

#[test]
fn a_merge_key_is_reported_as_unsupported() {
    let text = "Kind: gameplay_effect\nName: GE_A\nX: &x {DurationPolicy: Instant}\n<<: *x\n";
    let (_, out, _) = Folder::new("merge", &[("a.yaml", text)]).ugas(&["check", "a.yaml"]);
    assert!(out.contains("a.yaml:4:1: error[syntax]: merge keys (`<<`) are not supported"), "{out}");
    assert!(!out.contains("unknown field"), "{out}");
}

#[test]
fn explain_lint_has_a_page_for_every_id_that_check_prints() {
    let text = "Kind: gameplay_effect\nName: GE_A\nDurationPolicy: Infinite\nGrantedTags: [State.New]\n";
    let folder = Folder::new("pages", &[("a.yaml", text)]);
    let (_, out, _) = folder.ugas(&["check", "a.yaml", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    for finding in found["diagnostics"].as_array().expect("a list") {
        let id = finding["id"].as_str().expect("an id");
        let (code, page, err) = folder.ugas(&["explain-lint", id]);
        assert_eq!(code, Some(0), "{id}: {err}");
        assert!(page.starts_with(&format!("# {id}\n")), "{page}");
    }
    let (code, _, err) = folder.ugas(&["explain-lint", "undeclared-tga"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("unknown finding id 'undeclared-tga'; did you mean undeclared-tag?"), "{err}");
}
