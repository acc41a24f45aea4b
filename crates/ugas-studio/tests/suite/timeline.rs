//! Resuming from a recorded tick and undoing: nothing is lost, and undo reports what it undid.

use serde_json::{Value, json};
use ugas_studio::Backend;
use ugas_studio::session::Session;

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

/// Returns the paused duel at tick 300.
fn duel() -> Backend {
    let mut backend = Backend::new(Box::new(Session::duel), 7).unwrap();
    ask(&mut backend, json!({ "ask": "pause" }));
    (0..5).for_each(|_| drop(ask(&mut backend, json!({ "ask": "step", "ticks": 60 }))));
    backend
}

fn set(value: f64) -> Value {
    json!({ "ask": "put", "input": { "Action": { "Set": { "who": "Brann", "attribute": "Might", "value": value } } } })
}

#[test]
fn undo_restores_the_timeline_that_resume_dropped() {
    let mut backend = duel();
    ask(&mut backend, set(60.0));
    ask(&mut backend, json!({ "ask": "step", "ticks": 60 }));
    let end = ask(&mut backend, json!({ "ask": "frame" }));
    ask(&mut backend, json!({ "ask": "seek", "tick": 120 }));
    let resumed = ask(&mut backend, json!({ "ask": "resume" }));
    assert_eq!((&resumed["tick"], &resumed["old_end"]), (&json!(120), &json!(360)), "{resumed}");
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    assert_eq!((&frame["end"], &frame["live"]), (&json!(120), &json!(true)));
    ask(&mut backend, json!({ "ask": "step", "ticks": 30 }));
    let undone = ask(&mut backend, json!({ "ask": "undo" }));
    assert_eq!((&undone["end"], &undone["undone"]), (&json!(360), &json!(["resume from here"])));
    ask(&mut backend, json!({ "ask": "seek", "tick": 360 }));
    assert_eq!(ask(&mut backend, json!({ "ask": "frame" }))["hash"], end["hash"], "with what was done in it");
}

#[test]
fn resuming_changes_nothing_in_the_world_and_is_not_part_of_a_link() {
    let mut backend = duel();
    let hash = ask(&mut backend, json!({ "ask": "frame" }))["hash"].clone();
    ask(&mut backend, json!({ "ask": "resume" }));
    assert_eq!(ask(&mut backend, json!({ "ask": "frame" }))["done"], 0, "at the end there is nothing to drop");
    ask(&mut backend, json!({ "ask": "seek", "tick": 100 }));
    ask(&mut backend, json!({ "ask": "resume" }));
    (0..4).for_each(|_| drop(ask(&mut backend, json!({ "ask": "step", "ticks": 50 }))));
    assert_eq!(ask(&mut backend, json!({ "ask": "frame" }))["hash"], hash);
    assert_eq!(ask(&mut backend, json!({ "ask": "permalink" }))["inputs"], json!([]));
}

#[test]
fn undo_names_the_undone_action() {
    let mut backend = duel();
    let link = |trip: u32| json!({ "ask": "put", "input": { "Link": { "round_trip": trip, "loss": 0.1 } } });
    ask(&mut backend, set(60.0));
    ask(
        &mut backend,
        json!({ "ask": "put", "input": { "Action": { "Apply": { "effect": "GE_Burn", "to": "Brann" } } } }),
    );
    ask(&mut backend, link(80));
    let undo = |backend: &mut Backend| ask(backend, json!({ "ask": "undo" }))["undone"].clone();
    assert_eq!(undo(&mut backend), json!(["set every link to 80 ms round trip and 10 % loss"]));
    assert_eq!(undo(&mut backend), json!(["apply GE_Burn to Brann"]));
    assert_eq!(undo(&mut backend), json!(["set Might of Brann to 60"]));
    assert_eq!(ask(&mut backend, json!({ "ask": "undo" }))["error"], "nothing to undo");
}

#[test]
fn a_key_pressed_while_dead_is_answered_with_the_refusal() {
    let mut backend = duel();
    let keys = |inputs: Value| json!({ "ask": "put", "input": { "Keys": { "x": 0.0, "z": 0.0, "inputs": inputs } } });
    ask(&mut backend, keys(json!([])));
    (0..4).for_each(|_| drop(ask(&mut backend, json!({ "ask": "step", "ticks": 60 }))));
    let kill = json!({ "Action": { "Set": { "who": "Pyra", "attribute": "Health", "value": 0.0 } } });
    assert_eq!(ask(&mut backend, json!({ "ask": "put", "input": kill }))["error"], Value::Null);
    ask(&mut backend, json!({ "ask": "step", "ticks": 60 }));
    let answer = ask(&mut backend, keys(json!(["Primary"])));
    let message = answer["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("Firebolt cannot be activated: ") && message.contains("dead"), "{answer}");
    assert_eq!(answer["no_effect"], true);
    let held = ask(&mut backend, keys(json!(["Primary"])));
    assert_eq!(held["message"], Value::Null, "once for each press");
    // Once she is alive and free, the ability is activated, and there is nothing to refuse.
    let mut alive = duel();
    let accepted = (0..60).any(|_| {
        ask(&mut alive, keys(json!([])));
        ask(&mut alive, json!({ "ask": "step", "ticks": 20 }));
        let answer = ask(&mut alive, keys(json!(["Ability2"])));
        answer["message"].is_null() && answer["no_effect"] == false
    });
    assert!(accepted, "every press was refused");
}
