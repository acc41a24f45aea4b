//! The capabilities of an actor: their states on the server and on clients, blocks, switches, sets, and reasons.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use ugas_core::Sim;
use ugas_data::Project;
use ugas_studio::recording::World;
use ugas_studio::session::{OpenOptions, Session};
use ugas_studio::{Backend, Library};

const TEXT: &str = "\
Kind: attribute_set
Name: Body
Attributes: [{Name: Steps, DefaultBaseValue: 0}, {Name: Stamina, DefaultBaseValue: 45}]
---
Kind: gameplay_effect
Name: GE_Step
DurationPolicy: Instant
Modifiers: [{Attribute: Steps, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]
---
Kind: capability
Name: Walk
OnTick: [GE_Step]
---
Kind: capability
Name: Regen
When: Stamina < 30
---
Kind: capability
Name: Camera
---
Kind: capability
Name: Fly
---
Kind: capability_set
Name: CS_Walker
Capabilities:
  - {Class: Walk, Tags: [Capability.Move.Walk], TickInterval: 0.1}
  - {Class: Regen, Side: AuthorityOnly}
---
Kind: capability_set
Name: CS_Robot
Sets: [CS_Walker]
Capabilities: [{Class: Camera, Side: LocalControlledOnly, Tags: [Capability.Look]}]
---
Kind: capability_set
Name: CS_Wings
Capabilities: [{Class: Fly, Tags: [Capability.Move.Fly]}]
---
Kind: gameplay_controller
OwnerActor: {ActorID: Robot, ActorType: PlayerCharacter}
AttributeSets: [{Name: Body, Attributes: [{Name: Stamina, BaseValue: 45, CurrentValue: 45}]}]
Capabilities: {Sets: [CS_Robot]}
---
Kind: gameplay_controller
OwnerActor: {ActorID: Stone, ActorType: Enemy}
AttributeSets: [{Name: Body, Attributes: [{Name: Stamina, BaseValue: 45, CurrentValue: 45}]}]
---
Kind: scene
Name: SC_Field
Placements:
  - {Controller: Robot, InstanceId: Robot, Position: [0, 0, 0]}
  - {Controller: Stone, InstanceId: Stone, Position: [3, 0, 0]}
";

fn field(seed: u64) -> Result<Session, String> {
    let mut project = Project::default();
    project.put("field.yaml", TEXT);
    let library = Library::new(project, None).map_err(|findings| findings[0].message.clone())?;
    Session::of_scene(library, "SC_Field", seed)
}

fn backend() -> Backend {
    let mut backend = Backend::new(Box::new(field), 7).unwrap();
    ask(&mut backend, json!({ "ask": "pause" }));
    backend
}

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

fn step(backend: &mut Backend, ticks: u32) {
    ask(backend, json!({ "ask": "step", "ticks": ticks }));
}

fn act(backend: &mut Backend, act: Value) -> Value {
    ask(backend, json!({ "ask": "put", "input": { "Action": act } }))
}

/// Returns the capabilities of an actor on a machine.
fn list(backend: &mut Backend, side: Value, who: &str) -> Vec<Value> {
    let frame = ask(backend, json!({ "ask": "frame", "watch": [[side, who]] }));
    frame["details"][0]["detail"]["capabilities"].as_array().unwrap().clone()
}

fn one(backend: &mut Backend, side: Value, class: &str) -> Value {
    let all = list(backend, side, "Robot");
    all.into_iter().find(|c| c["class"] == class).unwrap_or(Value::Null)
}

fn state(backend: &mut Backend, class: &str) -> Value {
    one(backend, Value::Null, class)["state"].clone()
}

fn why(backend: &mut Backend, side: Value, class: &str) -> Value {
    ask(backend, json!({ "ask": "why_not", "side": side, "who": "Robot", "capability": class }))
}

/// Undoes the last change, and returns its description.
fn undo(backend: &mut Backend) -> Value {
    ask(backend, json!({ "ask": "undo" }))["undone"][0].clone()
}

fn hash(backend: &mut Backend) -> Value {
    ask(backend, json!({ "ask": "frame" }))["hash"].clone()
}

#[test]
fn the_panel_shows_set_state_side_and_last_step_of_each_capability() {
    let mut backend = backend();
    step(&mut backend, 12);
    let all = list(&mut backend, Value::Null, "Robot");
    let shown: Vec<[&Value; 4]> = all.iter().map(|c| [&c["class"], &c["set"], &c["side"], &c["state"]]).collect();
    assert_eq!(
        json!(shown),
        json!([
            ["Walk", "CS_Walker", "Always", "Active"],
            ["Regen", "CS_Walker", "AuthorityOnly", "Inactive"],
            ["Camera", "CS_Robot", "LocalControlledOnly", "Elsewhere"],
        ]),
        "a dedicated server does not run the camera"
    );
    assert!(all.iter().all(|c| c["grant"] == "CS_Robot" && c["removable"] == true), "one set was added: {all:?}");
    let walk = &all[0];
    assert_eq!((&walk["interval"], &walk["ticks"], &walk["enabled"]), (&json!(0.1), &json!(true), &json!(true)));
    assert_eq!((&walk["tag"], &walk["blocked_by"]), (&json!("Capability.Move.Walk"), &Value::Null));
    assert_eq!(walk["last_step"], json!(["activated", 0]));
    assert_eq!((&all[1]["last_step"][0], &all[1]["tag"]), (&json!("set up"), &Value::Null));
    assert_eq!(list(&mut backend, Value::Null, "Stone"), Vec::<Value>::new());
}

#[test]
fn a_blocked_capability_stops_is_explained_and_runs_again_after_undo() {
    let mut backend = backend();
    step(&mut backend, 30);
    let before = hash(&mut backend);
    let block = json!({ "Block": { "tag": "Capability.Move", "who": "Robot" } });
    assert_eq!(act(&mut backend, block.clone())["message"], "Capability.Move of Robot was blocked");
    step(&mut backend, 30);
    let walk = one(&mut backend, Value::Null, "Walk");
    assert_eq!(
        (&walk["state"], &walk["blocked_by"]),
        (&json!("Blocked"), &json!("Capability.Move by the host (Studio)"))
    );
    assert_eq!(walk["last_step"], json!(["deactivated", 31]), "in the first frame after the block");
    let reasons = why(&mut backend, Value::Null, "Walk")["reasons"].clone();
    assert_eq!(reasons[0], "Blocked: Capability.Move is blocked by the host (Studio)");
    let unblock = json!({ "Unblock": { "tag": "Capability.Move", "who": "Robot" } });
    assert_eq!(act(&mut backend, unblock)["message"], "Capability.Move of Robot was unblocked");
    step(&mut backend, 30);
    assert_eq!(one(&mut backend, Value::Null, "Walk")["state"], "Active");
    assert_eq!(why(&mut backend, Value::Null, "Walk")["reasons"], json!([]));
    for undone in ["unblock Capability.Move of Robot", "block Capability.Move of Robot"] {
        assert_eq!(undo(&mut backend), undone);
    }
    ask(&mut backend, json!({ "ask": "seek", "tick": 30 }));
    assert_eq!(hash(&mut backend), before);
    ask(&mut backend, json!({ "ask": "seek", "tick": 90 }));
    assert_eq!(one(&mut backend, Value::Null, "Walk")["last_step"], json!(["activated", 0]), "as if never blocked");
    // A block that hits nothing.
    let answer = act(&mut backend, json!({ "Block": { "tag": "Capability.Move", "who": "Stone" } }));
    assert_eq!(answer["no_effect"], true, "{answer}");
}

#[test]
fn a_capability_is_blocked_until_every_source_has_unblocked_it() {
    let mut backend = Backend::at("../../scenarios/capabilities/blocks.yaml".as_ref(), OpenOptions::default()).unwrap();
    ask(&mut backend, json!({ "ask": "pause" }));
    step(&mut backend, 60);
    assert_eq!(one(&mut backend, Value::Null, "Walk")["blocked_by"], "Capability.Move by the host (Cutscene)");
    let (block, unblock) = (json!({ "tag": "Capability.Move.Walk", "who": "Robot" }), "Unblock");
    act(&mut backend, json!({ "Block": block }));
    let answer = act(&mut backend, json!({ unblock: block }));
    assert_eq!(
        (&answer["message"], &answer["no_effect"]),
        (
            &json!("Capability.Move.Walk of Robot is no longer blocked by the studio, but still by another source"),
            &json!(true)
        )
    );
}

#[test]
fn a_capability_can_be_switched_off_and_on() {
    let mut backend = backend();
    step(&mut backend, 30);
    let switch = |on: bool| json!({ "Enable": { "class": "Walk", "who": "Robot", "on": on } });
    assert_eq!(act(&mut backend, switch(false))["message"], "Walk of Robot was switched off");
    let walk = one(&mut backend, Value::Null, "Walk");
    assert_eq!(
        [&walk["state"], &walk["enabled"], &walk["active"]],
        [&json!("Disabled"), &json!(false), &json!(true)],
        "disabled while it was active"
    );
    assert_eq!(act(&mut backend, switch(true))["message"], "Walk of Robot was switched on");
    assert_eq!(state(&mut backend, "Walk"), "Active");
    assert_eq!(undo(&mut backend), "switch on Walk of Robot");
    assert_eq!(state(&mut backend, "Walk"), "Disabled");
    let error =
        act(&mut backend, json!({ "Enable": { "class": "Wolk", "who": "Robot", "on": true } }))["error"].clone();
    assert_eq!(error, "unknown capability 'Wolk'; did you mean 'Walk'?");
    let error = act(&mut backend, json!({ "Enable": { "class": "Fly", "who": "Robot", "on": true } }))["error"].clone();
    assert!(error.as_str().unwrap().contains("Fly"), "{error}");
}

#[test]
fn sets_are_added_and_removed_and_undo_restores_them() {
    let mut backend = backend();
    assert_eq!(ask(&mut backend, json!({ "ask": "hello" }))["sets"], json!(["CS_Walker", "CS_Robot", "CS_Wings"]));
    let wings = json!({ "set": "CS_Wings", "who": "Robot" });
    assert_eq!(act(&mut backend, json!({ "AddSet": wings }))["message"], "CS_Wings was added to Robot");
    assert_eq!(state(&mut backend, "Fly"), "Active");
    let again = act(&mut backend, json!({ "AddSet": wings }))["error"].clone();
    assert!(again.as_str().unwrap().contains("set"), "{again}");
    assert_eq!(act(&mut backend, json!({ "RemoveSet": wings }))["message"], "CS_Wings was removed from Robot");
    assert_eq!(one(&mut backend, Value::Null, "Fly"), Value::Null);
    assert_eq!(act(&mut backend, json!({ "RemoveSet": wings }))["error"], "Robot does not have CS_Wings");
    assert_eq!(undo(&mut backend), "remove CS_Wings from Robot");
    assert_eq!(state(&mut backend, "Fly"), "Active");
    assert_eq!(undo(&mut backend), "add CS_Wings to Robot");
    assert_eq!(one(&mut backend, Value::Null, "Fly"), Value::Null);
    // An actor without capabilities gets its first set.
    assert_eq!(act(&mut backend, json!({ "AddSet": { "set": "CS_Wings", "who": "Stone" } }))["error"], Value::Null);
    assert_eq!(list(&mut backend, Value::Null, "Stone").len(), 1);
    assert_eq!(
        act(&mut backend, json!({ "AddSet": { "set": "", "who": "Stone" } }))["error"],
        "enter a capability set first"
    );
    let unknown = act(&mut backend, json!({ "AddSet": { "set": "CS_Wing", "who": "Stone" } }))["error"].clone();
    assert_eq!(unknown, "unknown ability set 'CS_Wing'; did you mean 'CS_Wings'?");
}

#[test]
fn a_client_is_shown_beside_the_server_and_shows_only_what_it_knows() {
    let mut backend = backend();
    for (client, owns) in [("Ann", json!(["Robot"])), ("Bob", json!(["Stone"]))] {
        ask(&mut backend, json!({ "ask": "put", "input": { "Join": { "client": client, "owns": owns } } }));
    }
    step(&mut backend, 120);
    let states = |backend: &mut Backend, side: Value| {
        let all = list(backend, side, "Robot");
        json!(all.iter().map(|c| json!([c["class"], c["state"], c["local"]])).collect::<Vec<_>>())
    };
    assert_eq!(
        states(&mut backend, json!("Ann")),
        json!([["Walk", "Active", false], ["Regen", "Elsewhere", false], ["Camera", "Active", true]]),
        "the owning client runs the camera"
    );
    assert_eq!(state(&mut backend, "Camera"), "Elsewhere");
    let keys = |all: Vec<Value>| all.iter().map(|c| c["key"].clone()).collect::<Vec<_>>();
    assert_eq!(keys(list(&mut backend, json!("Ann"), "Robot")), keys(list(&mut backend, Value::Null, "Robot")));
    let camera = one(&mut backend, json!("Ann"), "Camera");
    assert_eq!(camera["last_step"][0], "activated", "a step of this client only: {camera}");
    assert_eq!(why(&mut backend, json!("Ann"), "Camera")["reasons"], json!([]));
    assert_eq!(
        why(&mut backend, Value::Null, "Camera")["reasons"],
        json!(["Elsewhere: the side LocalControlledOnly does not run in this sim"])
    );
    // A shared block also blocks what runs on the client only, and the client explains it.
    act(&mut backend, json!({ "Block": { "tag": "Capability.Look", "who": "Robot" } }));
    step(&mut backend, 60);
    let camera = one(&mut backend, json!("Ann"), "Camera");
    assert_eq!([&camera["state"], &camera["last_step"][0]], [&json!("Blocked"), &json!("deactivated")]);
    let reasons = why(&mut backend, json!("Ann"), "Camera")["reasons"].clone();
    assert_eq!(reasons[0], "Blocked: Capability.Look is blocked by the host (Studio)");
    // A bystander knows the sets, but neither switches nor blocks.
    let remote = list(&mut backend, json!("Bob"), "Robot");
    assert!(!remote.is_empty());
    for c in &remote {
        let hidden = ["enabled", "ticks", "interval", "blocked_by"];
        assert!(hidden.iter().all(|key| c[*key].is_null()) && c["blocks_known"] == false, "{c}");
    }
    let error = why(&mut backend, json!("Bob"), "Walk")["error"].clone();
    assert_eq!(error, "conditions and blocks of Robot are replicated to its owning client only; select the server");
}

#[test]
fn the_reasons_are_those_of_the_command_line() {
    let path = Path::new("../../scenarios/cookbook/turret.yaml");
    let scenario = &ugas_lab::load_file(path).unwrap()[0];
    let mut backend = Backend::at(path, OpenOptions::default()).unwrap();
    ask(&mut backend, json!({ "ask": "pause" }));
    let mut seen = 0;
    for tick in 1..=480 {
        step(&mut backend, 1);
        if tick % 6 != 0 {
            continue;
        }
        for class in ["Cool", "Aim", "Fire"] {
            let time = ugas_core::SimTime::frames(tick, 60);
            let lines = ugas_lab::why_not_capability(scenario, "Turret", class, time).unwrap();
            let shown = ask(&mut backend, json!({ "ask": "why_not", "who": "Turret", "capability": class }));
            assert_eq!(shown["reasons"], json!(lines), "{class} at tick {tick}");
            seen += lines.len();
        }
    }
    assert!(seen > 80, "{seen} reasons");
    let unknown =
        ask(&mut backend, json!({ "ask": "why_not", "who": "Turret", "capability": "Fires" }))["error"].clone();
    assert_eq!(unknown, "unknown capability 'Fires'; did you mean 'Fire'?");
}

#[test]
fn each_class_has_instances_evaluations_and_time() {
    // Each read of the clock is a microsecond later.
    let time = AtomicU64::new(0);
    let clock = Arc::new(move || time.fetch_add(1_000, Ordering::Relaxed));
    let mut backend = Backend::new(Box::new(field), 7).unwrap().with_clock(clock);
    backend.advance(2000.0, &mut || 0.0);
    let costs = |backend: &mut Backend| ask(backend, json!({ "ask": "figures" }))["capability_costs"].clone();
    let of =
        |costs: &Value, class: &str| costs.as_array().unwrap().iter().find(|c| c["class"] == class).unwrap().clone();
    let now = costs(&mut backend);
    let (walk, regen) = (of(&now, "Walk"), of(&now, "Regen"));
    assert_eq!([&walk["instances"], &walk["active"]], [1, 1]);
    assert_eq!([&regen["instances"], &regen["active"]], [1, 0]);
    assert_eq!(walk["average_us"], 1.0);
    assert_eq!(walk["sum_us"].as_f64(), walk["visits"].as_f64());
    assert_eq!(walk["visits"], 120, "in every frame");
    assert_eq!(walk["evaluations"], 20, "every 0.1 s");
    // A capability that sleeps is evaluated when something that it reads changes, and only then.
    ask(&mut backend, json!({ "ask": "pause" }));
    step(&mut backend, 60);
    assert_eq!(of(&costs(&mut backend), "Regen"), regen, "asleep");
    act(&mut backend, json!({ "Set": { "who": "Robot", "attribute": "Stamina", "value": 20.0 } }));
    step(&mut backend, 1);
    let woken = of(&costs(&mut backend), "Regen");
    assert_eq!([&woken["active"], &woken["visited"]], [1, 1]);
    step(&mut backend, 5);
    assert_eq!(of(&costs(&mut backend), "Regen")["visited"], 0, "asleep again");
    assert_eq!(ask(&mut backend, json!({ "ask": "figures" }))["capabilities"], 3);
}

fn scenario_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new("../../scenarios").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    files
}

/// A session that follows a scenario has, at every tick, the state of the scenario at that time, and ends with the hash
/// that `ugas test` reports.
#[test]
fn every_new_scenario_ends_in_the_studio_with_the_hash_of_the_test() {
    let mut count = 0;
    for file in ["capabilities", "resources", "stats", "cookbook"].into_iter().flat_map(scenario_files) {
        for scenario in ugas_lab::load_file(&file).unwrap() {
            let name = format!("{}: {}", file.display(), scenario.name);
            let report = scenario.run();
            assert!(report.failures.is_empty(), "{name}");
            let mut session = Session::of_scenario(&scenario, None).unwrap();
            let snapshots: Vec<Sim> = session.script().unwrap().run().snapshots.clone();
            let last = (report.end.as_seconds() * 60.0).ceil() as u32;
            while session.tick() < last {
                session.step();
                let now = session.sim().now();
                let at = snapshots.partition_point(|s| s.now() <= now) - 1;
                let mut expected = snapshots[at].clone();
                expected.advance_to(now);
                assert_eq!(session.hash(), expected.hash(), "{name} at {now}");
            }
            assert_eq!(session.sim().now(), report.end, "{name} ends between two ticks");
            assert_eq!(session.hash(), report.hash, "{name}");
            count += 1;
        }
    }
    assert!(count > 40, "{count} scenarios");
}
