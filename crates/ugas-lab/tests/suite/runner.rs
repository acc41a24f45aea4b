//! The scenario runner: accepted input, messages of failed expectations, and their locations.

use ugas_core::SimTime;
use ugas_lab::{Results, RunOptions, run_str, run_str_with};

const WORLD: &str = r#"
Entities:
  - Kind: attribute_set
    Name: Vitals
    Attributes:
      - {Name: MaxHealth, DefaultBaseValue: 100}
      - {Name: Health, DefaultBaseValue: 100, Clamping: {Min: 0, Max: MaxHealth}}
      - {Name: Armor, DefaultBaseValue: 10}
  - Kind: gameplay_effect
    Name: GE_Hit
    DurationPolicy: Instant
    Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]
  - Kind: gameplay_effect
    Name: GE_Guard
    DurationPolicy: HasDuration
    Duration: {Type: ScalableFloat, Value: 2}
    Modifiers: [{Attribute: Armor, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 5}}]
    GrantedTags: [State.Guarded]
  - Kind: gameplay_effect
    Name: GE_Poison
    DurationPolicy: HasDuration
    Duration: {Type: ScalableFloat, Value: 10}
    Period: {Period: 1, ExecuteOnApplication: false}
    Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}]
  - Kind: gameplay_effect
    Name: GE_Alive
    DurationPolicy: Instant
    ApplicationRequiredTags: [State.Alive]
    Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]
  - Kind: gameplay_ability
    Name: GA_Smash
Actors:
  Hero: {AttributeSets: [Vitals], Tags: [Innate.Only], Abilities: [{Ability: GA_Smash, InputID: Attack, As: smash}]}
  Boss: {AttributeSets: [Vitals], Position: [1, 2, 3]}
  Late: {AttributeSets: [Vitals], Attributes: {Health: 50}, Spawned: false}
"#;

/// Runs a timeline in a world with a hero and a boss.
fn play(timeline: &str) -> Results {
    run_str("t.yaml", &format!("Scenario: It\n{WORLD}Timeline:\n{timeline}"))
}

/// The first error as `line:column message (help)`, lines counted from the timeline's first.
fn error(timeline: &str) -> String {
    let before = WORLD.lines().count() as u32 + 2;
    let results = play(timeline);
    let error = results.errors().next().expect("an error");
    let help = error.help.as_ref().map_or(String::new(), |h| format!(" ({h})"));
    format!("{}:{} {}{help}", error.line - before, error.column, error.message)
}

/// The failures' messages.
fn failures(timeline: &str) -> Vec<String> {
    let results = play(timeline);
    assert_eq!(results.errors().count(), 0, "{}", results.describe());
    results.reports[0].failures.iter().map(|f| f.message.clone()).collect()
}

#[test]
fn every_matcher_and_path_of_this_release_works() {
    play(
        r#"
  - At: 0
    Do:
      - Apply: {Effect: GE_Guard, To: Hero, From: Boss, As: guard}
      - Apply: {Effect: GE_Hit, To: Hero, As: hit}
      - Expect:
          Hero.Health: 90
          Hero.Attributes.Health: 90
          Hero.Health.Base: {Between: [89, 91]}
          Hero.Health.Min: 0
          Hero.Health.Max: {Above: 99, Below: 101}
          Hero.Armor: {Not: 10}
          Hero.Tags.State: true
          Hero.TagsExact.State: false
          Hero.TagCount.State.Guarded: 1
          Hero.TagCountAll.State: 1
          Hero.Tags.Innate.Only: true
          Hero.Tags.Never.Named: false
          Hero.Effects.GE_Guard: 1
          Hero.Effects.GE_Guard.Stacks: 1
          Hero.Effects.GE_Guard.Remaining: 2
          Hero.Effects.GE_Guard.Queued: 0
          Hero.Abilities.GA_Smash: Granted
          Hero.Abilities.smash: Granted
          Boss.Abilities.GA_Smash: NotGranted
          Boss.Position: [1, 2, 3]
          Boss.Avatar: Boss
          guard.State: Active
          guard.Remaining: 2
          guard.Level: 1
          guard.Stacks: 1
          hit.State: Executed
          Sim.Time: 0
          Cues.GameplayCue.None: 0
  - At: 60f
    Do:
      - Expect: {Sim.Time: 1, guard.Remaining: 1}
  - At: 2
    Do:
      - Expect: {guard.State: Removed, Hero.Armor: 10, Hero.Effects.GE_Guard: 0}
      - Possess: {Actor: Hero, Avatar: Horse}
      - Expect: {Hero.Avatar: Horse}
      - Possess: {Actor: Hero, Avatar: null}
      - Expect: {Hero.Avatar: null}
      - Move: {Actor: Boss, To: [4, 5, 6]}
      - Expect: {Boss.Position: [4, 5, 6]}
"#,
    )
    .assert_ok();
}

#[test]
fn a_failed_expectation_reports_expected_and_found() {
    let results =
        play("  - At: 0\n    Do:\n      - Apply: {Effect: GE_Hit, To: Hero}\n      - Expect: {Hero.Health: 50}\n");
    let failure = &results.reports[0].failures[0];
    assert_eq!(failure.message, "expected Hero.Health to be 50, found 90");
    assert_eq!(failure.column, 18);
    let explanation = failure.explanation.as_deref().expect("a number is explained");
    assert!(explanation.contains("90"), "{explanation}");
}

#[test]
fn refusals_are_matched_by_their_kind() {
    play(
        r#"
  - At: 0
    Do:
      - Apply: {Effect: GE_Alive, To: Hero}
        Refused: RequiredTags
      - Apply: {Effect: GE_Alive, To: Hero, Refused: Any}
      - Apply: {Effect: GE_Alive, To: Hero}
        MayRefuse: true
      - Apply: {Effect: GE_Hit, To: Late}
        Refused: StaleHandle
      - Spawn: {Actor: Late}
      - Apply: {Effect: GE_Hit, To: Late}
      - Expect: {Late.Health: 40}
      - Spawn: {Actor: Late}
        Refused: IdTaken
      - Despawn: {Actor: Late}
      - Despawn: {Actor: Late}
        Refused: StaleHandle
      - Apply: {Effect: GE_Nothing, To: Hero}
        Refused: UnknownName
      - SetRate: {Actor: Hero, Rate: -1}
        Refused: BadValue
"#,
    )
    .assert_ok();
    let found = failures(
        "  - At: 0\n    Do:\n      - Apply: {Effect: GE_Alive, To: Hero}\n      - Apply: {Effect: GE_Alive, To: Hero}\n        \
         Refused: Cycle\n      - Apply: {Effect: GE_Hit, To: Hero}\n        Refused: Any\n",
    );
    assert_eq!(
        found,
        [
            "refused with RequiredTags: requires the tag State.Alive",
            "expected the refusal Cycle, found RequiredTags: requires the tag State.Alive",
            "expected the refusal Any, but the verb succeeded",
        ]
    );
}

#[test]
fn facts_are_matched_in_order_within_the_window_of_their_list() {
    play(
        r#"
  - At: 0
    Do:
      - Apply: {Effect: GE_Guard, To: Hero, From: Boss}
      - ExpectFacts:
          - {Kind: AttributeChanged, Actor: Hero, Source: Boss, Effect: GE_Guard, Attribute: Armor, Old: 10, New: 15}
          - {Kind: TagChanged, Tag: State.Guarded, Added: true}
          - {Kind: EffectApplied, Effect: GE_Guard, At: 0f}
      - ExpectCount:
          - {Fact: {Kind: EffectApplied, Actor: Hero, Effect: GE_Guard}, Count: 1}
          - {Fact: {Kind: TagChanged, Actor: Boss}, Count: 0}
      - Apply: {Effect: GE_Hit, To: Hero}
  - At: 2
    Do:
      - ExpectCount:
          - {Fact: {Kind: EffectApplied}, Count: 0}
          - {Fact: {Kind: EffectRemoved, Reason: Expired, At: {Between: [1.9, 2.1]}}, Count: {Above: 0}}
"#,
    )
    .assert_ok();
    let found = failures(
        "  - At: 0\n    Do:\n      - Apply: {Effect: GE_Guard, To: Hero}\n      - ExpectFacts:\n          \
         - {Kind: EffectApplied, Effect: GE_Guard}\n          - {Kind: AttributeChanged, Attribute: Armor}\n          \
         - {Kind: Died}\n",
    );
    assert_eq!(
        found,
        [
            "expected the fact {Kind: AttributeChanged, Attribute: Armor}, found it only before the previous entry",
            "expected the fact {Kind: Died}, found none",
        ]
    );
}

#[test]
fn repeat_mark_hash_and_change_effect_work() {
    play(
        r#"
  - At: 0
    Do:
      - Repeat: {Times: 3, Do: [{Apply: {Effect: GE_Hit, To: Hero}}]}
      - Expect: {Hero.Health: 70}
      - MarkHash: {As: before, Actor: Hero}
      - Apply: {Effect: GE_Guard, To: Hero, As: guard}
      - ChangeEffect: {Handle: guard, Remaining: 5}
      - Expect: {guard.Remaining: 5}
      - Apply: {Effect: GE_Guard, To: Hero, Duration: 1, As: short}
      - Expect: {short.Remaining: 1, Hero.Effects.GE_Guard.Remaining: 5}
      - Remove: {Actor: Hero, WithTags: [State.Guarded]}
      - Expect: {guard.State: Removed, short.State: Removed}
      - Remove: {Handle: guard}
        Refused: StaleHandle
      - ExpectHash: {Equals: whole}
"#
        .replace("      - ExpectHash: {Equals: whole}\n", "")
        .as_str(),
    )
    .assert_ok();
    let found = failures(
        "  - At: 0\n    Do:\n      - MarkHash: {As: m, Actor: Hero}\n      - Apply: {Effect: GE_Hit, To: Hero}\n      \
         - ExpectHash: {Equals: m, Actor: Hero}\n",
    );
    assert!(found[0].starts_with("expected the hash "), "{found:?}");
}

#[test]
fn misspelt_words_are_errors_with_the_nearest_valid_word() {
    let step = |step: &str| error(&format!("  - At: 0\n    Do:\n      - {step}\n"));
    assert_eq!(step("Aply: {Effect: GE_Hit, To: Hero}"), "3:9 unknown verb \"Aply\" (did you mean \"Apply\"?)");
    assert_eq!(step("Undo: {}"), "3:9 the verb Undo is not supported in this release; remove the step");
    assert_eq!(
        step("Activate: {Actor: Hero, Ability: GA_Smsh}"),
        "3:42 unknown ability GA_Smsh (did you mean \"GA_Smash\"?)"
    );
    assert_eq!(step("Activate: {Actor: Hero}"), "3:19 write one of Ability, InputID, Handle");
    assert_eq!(step("Cancel: {Handle: nobody}"), "3:26 unknown result name nobody");
    assert_eq!(step("Press: {Actor: Heroo, InputID: Jump}"), "3:24 unknown actor Heroo (did you mean \"Hero\"?)");
    assert!(step("Expect: {Hero.Cast.Length: 1}").contains("expected Cast.Tick or Cast.Remaining"));
    assert!(step("Apply: {Efect: GE_Hit, To: Hero}").contains("Apply: unknown field \"Efect\""));
    assert!(step("Apply: {Efect: GE_Hit, To: Hero}").ends_with("(did you mean \"Effect\"?)"));
    assert_eq!(step("Apply: {Effect: GE_Hti, To: Hero}"), "3:25 unknown effect GE_Hti (did you mean \"GE_Hit\"?)");
    assert_eq!(step("Apply: {Effect: GE_Hit, To: Heroo}"), "3:37 unknown actor Heroo (did you mean \"Hero\"?)");
    assert_eq!(step("Expect: {Hero.Helth: 5}"), "3:18 Hero.Helth: unknown attribute Helth (did you mean \"Health\"?)");
    assert_eq!(step("Expect: {Hero.Combo: 5}"), "3:18 Hero.Combo: Combo is not supported in this release");
    assert_eq!(
        step("Apply: {Effect: GE_Hit, To: Hero, Refused: Requiredtags}"),
        "3:52 Refused: unknown refusal \"Requiredtags\" (did you mean \"RequiredTags\"?)"
    );
    assert!(step("ExpectFacts: [{Kind: EffectAplied}]").ends_with("(did you mean \"EffectApplied\"?)"));
    assert!(step("ExpectFacts: [{Kind: Cue, Tga: A}]").ends_with("(did you mean \"Tag\"?)"));
    assert!(step("ExpectFacts: [{Kind: Attack}]").contains("not supported in this release"));
    assert!(step("ExpectHash: {Equals: nothing}").contains("unknown hash mark nothing"));
    assert!(step("Expect: {Hero.Health: 5}\n        Refused: Any").contains("Expect cannot be refused"));
}

#[test]
fn times_must_be_sorted_and_within_the_step_limit() {
    assert!(error("  - At: 5\n  - At: 4\n").contains("sort the timeline by time"));
    assert!(error("  - At: soon\n").contains("expected seconds (1.5)"));
    assert!(error("  - At: 1e9\n").contains("steps of"));
    let results = run_str("t.yaml", "Scenario: Far\nStep: 100000\nTimeline: [{At: 1e9}]");
    results.assert_ok();
    assert_eq!(results.reports[0].end, SimTime::seconds(1e9));
}

#[test]
fn names_that_would_be_ambiguous_are_errors() {
    assert!(
        error("  - At: 0\n    Do:\n      - Apply: {Effect: GE_Hit, To: Hero, As: Boss}\n")
            .contains("is already the name of an actor")
    );
    assert!(
        error("  - At: 0\n    Do:\n      - Apply: {Effect: GE_Hit, To: Hero, As: Sim}\n")
            .contains("is reserved in paths")
    );
}

#[test]
fn an_actor_that_is_refused_fails_at_its_line() {
    let results = run_str("t.yaml", "Scenario: It\nActors:\n  Ghost: {AttributeSets: []}\n");
    let failure = &results.reports[0].failures[0];
    assert_eq!((failure.line, failure.column), (3, 3));
    assert!(failure.message.contains("at least one attribute set"), "{}", failure.message);
}

#[test]
fn rules_that_do_not_build_point_at_the_document() {
    let text = "Scenario: It\nEntities:\n  - Kind: gameplay_effect\n    Name: GE_X\n    DurationPolicy: Instant\n    \
                Modifiers: [{Attribute: Nope, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]\n";
    let results = run_str("t.yaml", text);
    let error = results.errors().next().expect("an error");
    assert!(error.line >= 3, "{error}");
    assert!(error.message.contains("Nope"), "{error}");
}

#[test]
fn the_first_window_opens_with_the_timeline() {
    play(
        r#"
  - At: 0
    Do:
      - ExpectCount:
          - {Fact: {Kind: Spawned}, Count: 0}
          - {Fact: {Kind: EffectApplied, Effect: GE_Initial_Tags}, Count: 0}
      - Spawn: {Actor: Late}
      - ExpectFacts: [{Kind: Spawned, Actor: Late, Owner: Late}]
"#,
    )
    .assert_ok();
}

#[test]
fn the_trace_lists_lifecycle_steps_and_refusals() {
    play(
        r#"
  - At: 0
    Do:
      - ExpectTrace:
          - {Kind: Instantiated, Actor: Hero}
          - {Kind: SetRegistered, Actor: Hero, Set: Vitals}
          - {Kind: AbilityGranted, Actor: Hero, Ability: GA_Smash}
          - {Kind: Instantiated, Actor: Boss}
  - At: 1
    Do:
      - Apply: {Effect: GE_Alive, To: Hero, Refused: RequiredTags}
      - ExpectTrace:
          - {Kind: Refused, Actor: Hero, Effect: GE_Alive, Refusal: RequiredTags, At: 1}
"#,
    )
    .assert_ok();
}

#[test]
fn packs_are_found_relative_to_the_file_and_host_code_has_stubs() {
    let folder = std::env::temp_dir().join(format!("ugas-lab-packs-{}", std::process::id()));
    let pack = folder.join("pack");
    std::fs::create_dir_all(&pack).expect("a folder for the test");
    let write = |file: &str, text: &str| std::fs::write(pack.join(file), text).expect("a file for the test");
    write("pack.yaml", "Name: test\nHost: {Calculations: [ExecCalc_FromPack]}\n");
    write("set.yaml", "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 7}]\n");
    let effect = |name: &str, calculator: &str| {
        format!(
            "Kind: gameplay_effect\nName: {name}\nDurationPolicy: Instant\n\
             Executions: [{{CalculatorClass: {calculator}}}]\n"
        )
    };
    write("a.yaml", &effect("GE_A", "ExecCalc_FromPack"));
    write("b.yaml", &effect("GE_B", "ExecCalc_FromScenario"));
    let text = "Scenario: It\nPacks: [../pack]\nHost: {Calculations: [ExecCalc_FromScenario]}\n\
                Actors: {Hero: {AttributeSets: [Vitals]}}\nTimeline:\n  - At: 0\n    Do:\n      \
                - Apply: {Effect: GE_A, To: Hero}\n      - Apply: {Effect: GE_B, To: Hero}\n      - Expect: {Hero.Health: 7}\n";
    let file = folder.join("scenarios/a.yaml").display().to_string();
    std::fs::create_dir_all(folder.join("scenarios")).expect("a folder for the test");
    let results = run_str(&file, text);
    let missing = run_str(&file, &text.replace("../pack", "../pakc"));
    let _ = std::fs::remove_dir_all(&folder);
    results.assert_ok();
    let error = missing.errors().next().expect("an error");
    assert_eq!((error.line, error.column), (2, 9));
    assert!(error.message.contains("does not exist"), "{error}");
}

#[test]
fn diagnostics_include_those_of_spawning_the_actors() {
    let text = r#"
Scenario: It
Entities:
  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
  - Kind: gameplay_controller
    OwnerActor: {ActorID: Hero_01}
    AttributeSets: [{Name: Vitals, Attributes: [{Name: Health, BaseValue: 80, CurrentValue: 90}]}]
Actors: {Hero: {Controller: Hero_01}}
Timeline:
  - At: 0
    Do:
      - ExpectDiagnostics: [{Kind: ValueMismatch, Actor: Hero, Attribute: Health, Stated: 90, Found: 80}]
"#;
    run_str("t.yaml", text).assert_ok();
}

// covers: UGAS-9.3-06
#[test]
fn strides_change_neither_facts_nor_the_final_hash() {
    let text = format!(
        "Scenario: It\n{WORLD}Timeline:\n  - At: 0\n    Do:\n      - Apply: {{Effect: GE_Poison, To: Hero, From: Boss}}\n      \
         - Apply: {{Effect: GE_Guard, To: Boss}}\n      - SetRate: {{Actor: Boss, Rate: 0.37}}\n  - At: 3.3\n    Do:\n      \
         - Apply: {{Effect: GE_Poison, To: Boss, From: Hero}}\n  - At: 40\n"
    );
    let run = |step: f64| {
        let options = RunOptions { step: Some(SimTime::seconds(step)), keep_facts: true, ..RunOptions::default() };
        let results = run_str_with("t.yaml", &text, options);
        results.assert_ok();
        let report = results.reports.into_iter().next().expect("one report");
        (report.facts, report.hash)
    };
    let first = run(1.0 / 240.0);
    assert!(first.0.len() > 20);
    for step in [1.0 / 60.0, 0.1, 1.0, 7.3] {
        assert!(run(step) == first, "stride {step}");
    }
}
