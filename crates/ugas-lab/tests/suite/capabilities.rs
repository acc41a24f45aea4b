//! Capabilities in scenarios: the reasons why one is not active, the tree of an actor, and errors of verbs and paths.

use ugas_core::SimTime;
use ugas_lab::{Scenario, explain_capabilities, why_not_capability};

const WORLD: &str = r#"
Frame: 10
Host: {Capabilities: [FlyMove]}
Entities:
  - {Kind: attribute_set, Name: Body, Attributes: [{Name: Stamina, DefaultBaseValue: 45}]}
  - {Kind: gameplay_effect, Name: GE_Stun, DurationPolicy: Infinite, GrantedTags: [State.Stunned, State.Combat]}
  - {Kind: gameplay_effect, Name: GE_Net, DurationPolicy: Infinite}
  - {Kind: capability, Name: Rest, Query: "State.Calm & !State.Combat", When: Stamina < 30 && Stamina > 1}
  - {Kind: capability, Name: Walk, Until: Stamina > 40}
  - {Kind: capability, Name: Look}
  - {Kind: capability, Name: Hide, Query: State.Calm}
  - {Kind: capability, Name: Guard, Query: State.Combat, Block: [Capability.Guarded]}
  - Kind: capability_set
    Name: CS_Robot
    Capabilities:
      - {Class: Rest, TickInterval: 2}
      - {Class: Walk, Enabled: false}
      - {Class: Look, Tags: [Capability.Look], BlockedBy: State.Stunned & !State.Free}
      - {Class: Hide, CanEverTick: false}
      - {Class: Guard}
  - Kind: capability_set
    Name: CS_Other
    Sets: []
    Capabilities:
      - {Class: FlyMove}
Actors:
  Robot: {AttributeSets: [Body], Capabilities: [CS_Robot]}
  Boss: {AttributeSets: [Body], Capabilities: [CS_Other]}
"#;

fn scenario(timeline: &str) -> Result<Scenario, String> {
    let text = format!("Scenario: Test\n{}{timeline}", WORLD.trim_start());
    let tree = &ugas_data::read_trees("test.yaml", &text).map_err(|e| e.to_string())?[0];
    Scenario::from_node("test.yaml", tree).map_err(|errors| errors[0].message.clone())
}

fn why(timeline: &str, actor: &str, class: &str, at: f64) -> Vec<String> {
    why_not_capability(&scenario(timeline).unwrap(), actor, class, SimTime::seconds(at)).unwrap()
}

#[test]
fn why_not_names_every_reason() {
    let conditions = [
        "Interval: the next evaluation is in 1.5 s",
        "Query: `State.Calm & !State.Combat` does not hold: the owner lacks State.Calm",
        "When: `Stamina < 30 && Stamina > 1` does not hold: Stamina is 45",
    ];
    assert_eq!(why("", "Robot", "Rest", 0.5), conditions);
    let until = "Until: `Stamina > 40` holds: Stamina is 45";
    assert_eq!(why("", "Robot", "Walk", 0.5), ["Disabled: the capability is disabled", until]);
    let query = "Query: `State.Calm` does not hold: the owner lacks State.Calm";
    assert_eq!(why("", "Robot", "Hide", 0.5), ["NeverTicks: the capability is not evaluated after its setup", query]);
    assert_eq!(why("", "Robot", "Look", 0.5), [""; 0]);
    assert_eq!(why("", "Boss", "Look", 0.5), ["NotHeld: the controller does not have the capability"]);
    let without = ["WithoutCode: neither a document nor code defines the class here"];
    assert_eq!(why("", "Boss", "FlyMove", 0.5), without);

    let stun = "Timeline: [{At: 0.2, Do: [{Apply: {Effect: GE_Stun, To: Robot}}]}]\n";
    let blocked = "BlockedBy: BlockedBy holds: the owner has State.Stunned and lacks State.Free";
    assert_eq!(why(stun, "Robot", "Look", 0.5), [blocked]);
    let rest = why(stun, "Robot", "Rest", 0.5);
    assert!(rest[1].ends_with("the owner has State.Combat and lacks State.Calm"), "{rest:?}");
    let stopped = "Timeline: [{At: 0.2, Do: [{SetActive: {Actor: Robot, Active: false}}]}]\n";
    assert_eq!(why(stopped, "Robot", "Guard", 0.5)[0], "ClockStopped: the clock of the controller is stopped");
}

#[test]
fn why_not_and_the_tree_name_the_source_of_a_block() {
    let by = |source: &str| {
        let steps = format!(
            "{{Apply: {{Effect: GE_Net, To: Robot, As: net}}}}, {{Block: {{Actor: Robot, Tag: Capability, {source}}}}}"
        );
        format!("Timeline: [{{At: 0.2, Do: [{steps}]}}]\n")
    };
    for (source, text) in
        [("By: Cutscene", "the host (Cutscene)"), ("Source: Boss", "Boss"), ("Effect: net", "GE_Net on Robot")]
    {
        let found = why(&by(source), "Robot", "Look", 0.5);
        assert_eq!(found, [format!("Blocked: Capability is blocked by {text}")]);
    }
    let stun = "Timeline: [{At: 0.2, Do: [{Apply: {Effect: GE_Stun, To: Robot}}]}]\n";
    let tree = explain_capabilities(&scenario(stun).unwrap(), "Robot", SimTime::seconds(0.5)).unwrap();
    let expected = "CS_Robot\n  Rest: Inactive (Always)\n  Walk: Disabled (Always)\n  Look: Blocked (Always)\n  \
                    Hide: Inactive (Always)\n  Guard: Active (Always)\nCapability.Guarded is blocked by the capability \
                    Guard\n";
    assert_eq!(tree, expected);
}

#[test]
fn wrong_names_of_verbs_and_paths_are_errors() {
    let error = |step: &str| {
        let timeline = format!("Timeline: [{{At: 0, Do: [{{{step}}}]}}]\n");
        match scenario(&timeline) {
            Err(message) => message,
            Ok(scenario) => scenario.run().errors.first().map(|e| e.message.clone()).unwrap_or_default(),
        }
    };
    assert_eq!(error("Expect: {Robot.Capabilities.Wlk: Active}"), "Robot.Capabilities.Wlk: unknown capability Wlk");
    assert_eq!(error("Enable: {Actor: Robot, Class: Wlk, Enabled: true}"), "unknown capability Wlk");
    assert_eq!(error("SetTick: {Actor: Robot, Class: Walk}"), "SetTick: write CanEverTick or TickInterval");
    let both = "Block: {Actor: Robot, Tag: Capability, By: Host, Source: Boss}";
    assert_eq!(error(both), "write one of By, Source, Effect");
    assert_eq!(error("AddCapabilitySet: {Actor: Robot, Set: CS_Robt}"), "unknown ability set CS_Robt");
    assert_eq!(error("Block: {Actor: Robot, Tag: Capability}"), "");
    let unknown = why_not_capability(&scenario("").unwrap(), "Robot", "Wlk", SimTime::ZERO).unwrap_err();
    assert_eq!(unknown.to_string(), "unknown capability Wlk; did you mean \"Walk\"?");
}
