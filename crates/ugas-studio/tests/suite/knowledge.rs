//! The page of a client shows only the state that is replicated to the client.

use serde_json::{Value, json};
use ugas_studio::Backend;
use ugas_studio::session::Session;

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

/// Returns the duel after some seconds of fighting.
fn duel(seed: u64, ticks: u32) -> Backend {
    let mut backend = Backend::new(Box::new(Session::duel), seed).unwrap();
    (0..ticks / 60).for_each(|_| backend.advance(1000.0, &mut || 0.0));
    backend
}

fn detail(backend: &mut Backend, side: Value, name: &str) -> Value {
    ask(backend, json!({ "ask": "frame", "watch": [[side, name]] }))["details"][0]["detail"].clone()
}

fn attribute(detail: &Value, name: &str) -> Value {
    detail["attributes"].as_array().unwrap().iter().find(|a| a["name"] == name).unwrap().clone()
}

fn explain(backend: &mut Backend, side: Value, who: &str, attribute: &str) -> Value {
    ask(backend, json!({ "ask": "explain", "side": side, "who": who, "attribute": attribute }))
}

#[test]
fn a_client_does_not_explain_the_modifiers_of_a_remote_actor() {
    let mut backend = duel(7, 60);
    let why = explain(&mut backend, json!("You"), "Brann", "AttackPower");
    let text = why["text"].as_str().unwrap();
    assert_eq!(text, "18, replicated from the server; its base value and modifiers are not replicated");
    assert_eq!((&why["value"], &why["base"], &why["lines"]), (&json!(18.0), &Value::Null, &Value::Null));
    assert_eq!(why["writes"], Value::Null, "what the server wrote is not what a client knows");
    let server = explain(&mut backend, Value::Null, "Brann", "AttackPower");
    assert!(server["text"].as_str().unwrap().starts_with("18 = 10 × 1.50"), "{server}");
    assert!(server["writes"].is_array());
}

#[test]
fn a_hidden_value_is_not_shown_as_its_default() {
    let mut backend = duel(7, 60);
    ask(
        &mut backend,
        json!({ "ask": "put", "input": { "Action": { "Set": { "who": "Brann", "attribute": "Mana", "value": 50.0 } } } }),
    );
    backend.advance(1000.0, &mut || 0.0);
    let mana = attribute(&detail(&mut backend, json!("You"), "Brann"), "Mana");
    assert_eq!((&mana["value"], &mana["base"]), (&Value::Null, &Value::Null));
    let why = explain(&mut backend, json!("You"), "Brann", "Mana");
    assert_eq!(why["value"], Value::Null);
    assert_eq!(why["text"], "–: not replicated to this client; explain the value on the server");
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    let bar = |side: usize| {
        let brann = frame["sides"][side]["actors"].as_array().unwrap().iter().find(|a| a["name"] == "Brann").unwrap();
        brann["bars"].as_array().unwrap().iter().find(|b| b["name"] == "Mana").unwrap().clone()
    };
    assert!(bar(0)["value"].is_number() && bar(0)["most"].is_number());
    assert_eq!((&bar(1)["value"], &bar(1)["most"]), (&Value::Null, &Value::Null));
    assert!(bar(2)["value"].is_number(), "Brann's own client knows it");
}

/// For every actor, on every client, at many ticks: the shown state of a remote actor is replicated state, and state
/// that only the server knows is not shown.
#[test]
fn nothing_a_client_shows_of_a_remote_actor_is_made_up() {
    for seed in 1..4 {
        let mut backend = duel(seed, 120);
        for _ in 0..6 {
            backend.advance(1500.0, &mut || 0.0);
            for (client, remote) in [("You", "Brann"), ("Rival", "Pyra")] {
                let shown = detail(&mut backend, json!(client), remote);
                for a in shown["attributes"].as_array().unwrap() {
                    assert_eq!(a["base"], Value::Null, "{client} {remote} {a}");
                }
                assert_eq!(shown["abilities"], Value::Null);
                assert!(shown["tags"].as_array().unwrap().iter().all(|t| t[1].is_null()), "{}", shown["tags"]);
                let names: Vec<&str> =
                    shown["effects"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
                // On the server these are permanent; the row of a proxy has none of them.
                if remote == "Brann" {
                    assert!(names.contains(&"GE_MightBonus") && names.contains(&"GE_EmberBlade"), "{names:?}");
                }
            }
        }
    }
}

#[test]
fn an_owner_knows_its_own_actor_completely() {
    let mut backend = duel(7, 240);
    let own = detail(&mut backend, json!("You"), "Pyra");
    assert!(own["attributes"].as_array().unwrap().iter().all(|a| a["value"].is_number() && a["base"].is_number()));
    assert!(!own["abilities"].as_array().unwrap().is_empty());
    assert!(explain(&mut backend, json!("You"), "Pyra", "SpellPower")["lines"].is_array());
}
