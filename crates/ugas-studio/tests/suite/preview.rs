//! Previews of actions: a preview equals the later result, shows only what a client knows, and changes nothing.

use serde_json::{Value, json};
use ugas_studio::Backend;
use ugas_studio::session::{OpenOptions, Session};

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

fn arena() -> Backend {
    Backend::at("../../packs/arena".as_ref(), OpenOptions::default()).unwrap()
}

fn preview(backend: &mut Backend, side: Value, action: Value) -> Value {
    let answer = ask(backend, json!({ "ask": "preview", "side": side, "action": action }));
    assert_eq!(answer["error"], Value::Null, "{answer}");
    answer["preview"].clone()
}

fn act(backend: &mut Backend, action: Value) -> Value {
    ask(backend, json!({ "ask": "put", "input": { "Action": action } }))
}

fn actor<'p>(preview: &'p Value, name: &str) -> &'p Value {
    preview["actors"].as_array().unwrap().iter().find(|a| a["name"] == name).unwrap_or_else(|| panic!("{preview}"))
}

fn attribute<'p>(actor: &'p Value, name: &str) -> &'p Value {
    actor["attributes"].as_array().unwrap().iter().find(|a| a["name"] == name).unwrap_or_else(|| panic!("{actor}"))
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect()
}

/// Returns the parts of a frame that a preview must not change.
fn state(backend: &mut Backend) -> Value {
    let mut frame =
        ask(backend, json!({ "ask": "frame", "watch": [[null, "Pyra"], [null, "Brann"], ["You", "Pyra"]] }));
    // A seek pauses, and figures of the machine differ.
    for figure in ["step_us", "running", "bytes_a_second"] {
        frame[figure] = Value::Null;
    }
    json!([frame, ask(backend, json!({ "ask": "permalink" }))])
}

#[test]
fn a_preview_equals_the_executed_action() {
    let mut backend = arena();
    let burn = json!({ "Apply": { "effect": "GE_Burn", "to": "Pyra", "by": "Brann" } });
    let fireball = json!({ "Activate": { "ability": "GA_Fireball", "who": "Pyra", "target": "Brann" } });
    let firebolt = json!({ "Activate": { "ability": "GA_Firebolt", "who": "Pyra", "target": "Brann" } });
    let flare = json!({ "Apply": { "effect": "GE_FlareUp", "to": "Brann", "level": 2 } });
    for action in [burn, firebolt, flare, fireball] {
        let shown = preview(&mut backend, Value::Null, action.clone());
        assert_eq!(shown["refusal"], Value::Null, "{action} {shown}");
        assert_eq!(act(&mut backend, action.clone())["error"], Value::Null);
        let frame = ask(&mut backend, json!({ "ask": "frame", "watch": [[null, "Pyra"], [null, "Brann"]] }));
        for detail in frame["details"].as_array().unwrap() {
            let row = shown["actors"].as_array().unwrap().iter().find(|a| a["name"] == detail["name"]);
            for now in detail["detail"]["attributes"].as_array().unwrap() {
                let Some(row) = row else { continue };
                let expected = attribute(row, now["name"].as_str().unwrap());
                assert_eq!(
                    (&expected["after"], &expected["base_after"]),
                    (&now["value"], &now["base"]),
                    "{action} {now}"
                );
            }
        }
    }
}

#[test]
fn a_preview_lists_attributes_tags_and_effects() {
    let mut backend = arena();
    let burn = || json!({ "Apply": { "effect": "GE_Burn", "to": "Pyra" } });
    let shown = preview(&mut backend, Value::Null, burn());
    let changes = &actor(&shown, "Pyra")["changes"];
    assert_eq!(changes["tags_added"], json!(["State.Debuff.Burning"]));
    assert_eq!(names(&changes["effects_added"]), ["GE_Burn"]);
    assert_eq!(changes["effects_added"][0]["remaining"], 4.0);
    act(&mut backend, burn());
    let again = preview(&mut backend, Value::Null, burn());
    let changed = &actor(&again, "Pyra")["changes"]["effects_changed"][0];
    assert_eq!((&changed[0]["stacks"], &changed[1]["stacks"]), (&json!(1), &json!(2)));
    // Blink removes burns.
    let blink = preview(&mut backend, Value::Null, json!({ "Activate": { "ability": "GA_Blink", "who": "Pyra" } }));
    let changes = &actor(&blink, "Pyra")["changes"];
    assert_eq!(changes["tags_removed"], json!(["State.Debuff.Burning"]), "{changes}");
    assert!(names(&changes["effects_removed"]).contains(&"GE_Burn"), "{changes}");
}

#[test]
fn a_refusal_is_shown_with_its_values() {
    let mut backend = arena();
    act(&mut backend, json!({ "Set": { "who": "Pyra", "attribute": "Mana", "value": 5.0 } }));
    let fireball = |target: Value| json!({ "Activate": { "ability": "GA_Fireball", "who": "Pyra", "target": target } });
    let shown = preview(&mut backend, Value::Null, fireball(json!("Brann")));
    let put = act(&mut backend, fireball(json!("Brann")));
    assert_eq!(shown["refusal"]["text"], put["error"], "the same sentence as when it is tried");
    assert_eq!(shown["refusal"]["text"], "needs 30 Mana, has 5");
    act(&mut backend, json!({ "Set": { "who": "Pyra", "attribute": "Mana", "value": 100.0 } }));
    let aimless = json!({ "Activate": { "ability": "GA_Firebolt", "who": "Pyra" } });
    let note = preview(&mut backend, Value::Null, aimless)["note"].clone();
    assert!(note.as_str().unwrap().starts_with("without a target"), "{note}");
}

/// At the end of the recording and at an earlier tick, on server and clients: hash, events, inputs and timeline stay.
#[test]
fn a_preview_changes_nothing_and_does_not_fork_the_timeline() {
    let mut backend = Backend::new(Box::new(Session::duel), 7).unwrap();
    ask(&mut backend, json!({ "ask": "step", "ticks": 240 }));
    ask(&mut backend, json!({ "ask": "step", "ticks": 60 }));
    let end = state(&mut backend);
    for tick in [300, 151, 300] {
        ask(&mut backend, json!({ "ask": "seek", "tick": tick }));
        let before = state(&mut backend);
        for side in [json!(null), json!("You")] {
            for ability in ["GA_Firebolt", "GA_Fireball", "GA_Blink", "GA_LifeDrain"] {
                let action = json!({ "Activate": { "ability": ability, "who": "Pyra", "target": "Brann" } });
                preview(&mut backend, side.clone(), action);
            }
        }
        for effect in ["GE_Burn", "GE_FlareUp", "GE_Fireball"] {
            let action = json!({ "Apply": { "effect": effect, "to": "Brann", "by": "Pyra", "level": 3 } });
            preview(&mut backend, Value::Null, action);
        }
        assert_eq!(state(&mut backend), before, "at tick {tick}");
    }
    assert_eq!(state(&mut backend), end);
}

#[test]
fn a_client_previews_only_what_it_knows() {
    let mut backend = Backend::new(Box::new(Session::duel), 7).unwrap();
    ask(&mut backend, json!({ "ask": "step", "ticks": 120 }));
    // While a person plays Pyra without pressing a key, her abilities get ready.
    ask(&mut backend, json!({ "ask": "put", "input": { "Keys": {} } }));
    ask(&mut backend, json!({ "ask": "step", "ticks": 36 }));
    let firebolt = json!({ "Activate": { "ability": "GA_Firebolt", "who": "Pyra", "target": "Brann" } });
    let shown = preview(&mut backend, json!("You"), firebolt);
    assert_eq!(shown["refusal"], Value::Null);
    let own = actor(&shown, "Pyra");
    assert!(own["changes"]["tags_added"].as_array().unwrap().contains(&json!("Cooldown.Ability.Firebolt")), "{own}");
    assert!(attribute(own, "Mana")["after"].is_number(), "{own}");
    let remote = actor(&shown, "Brann");
    assert_eq!(remote["changes"], Value::Null);
    for a in remote["attributes"].as_array().unwrap() {
        assert_eq!(
            (&a["after"], &a["base_before"], &a["base_after"]),
            (&Value::Null, &Value::Null, &Value::Null),
            "{a}"
        );
    }
    assert!(attribute(remote, "Health")["before"].is_number(), "replicated");
    assert_eq!(attribute(remote, "Mana")["before"], Value::Null, "replicated to its owning client only");
    let foe = json!({ "Activate": { "ability": "GA_Strike", "who": "Brann", "target": "Pyra" } });
    let burn = json!({ "Apply": { "effect": "GE_Burn", "to": "Pyra" } });
    for (action, note) in
        [(foe, "abilities of Brann are replicated to its owning client"), (burn, "clients do not apply effects")]
    {
        let answer = ask(&mut backend, json!({ "ask": "preview", "side": "You", "action": action }));
        let text = answer["preview"]["note"].as_str().or(answer["error"].as_str()).unwrap();
        assert!(text.starts_with(note), "{answer}");
        assert!(answer["preview"]["actors"].as_array().is_none_or(Vec::is_empty), "{answer}");
    }
}

#[test]
fn names_that_do_not_exist_and_other_actions_are_errors() {
    let mut backend = arena();
    let mut error = |side: Value, action: Value| {
        let answer = ask(&mut backend, json!({ "ask": "preview", "side": side, "action": action }));
        answer["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let apply = |effect: &str, to: &str| json!({ "Apply": { "effect": effect, "to": to } });
    assert_eq!(error(Value::Null, apply("GE_Brun", "Pyra")), "unknown effect 'GE_Brun'; did you mean 'GE_Burn'?");
    assert_eq!(error(Value::Null, apply("", "Pyra")), "enter an effect first");
    assert_eq!(error(Value::Null, apply("GE_Burn", "Nobody")), "actor Nobody does not exist");
    assert_eq!(error(json!("Nobody"), apply("GE_Burn", "Pyra")), "client Nobody does not exist");
    let moved = json!({ "Move": { "who": "Pyra", "to": [0.0, 0.0, 0.0] } });
    assert_eq!(error(Value::Null, moved), "only applying an effect and activating an ability can be previewed");
}
