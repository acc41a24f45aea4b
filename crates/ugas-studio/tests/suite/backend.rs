//! The requests that a page sends to the backend of the demo.

use serde_json::{Value, json};
use ugas_studio::Backend;
use ugas_studio::session::{OpenOptions, Session};

fn duel() -> Backend {
    Backend::new(Box::new(Session::duel), 7).unwrap()
}

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

/// Runs this many ticks.
fn run(backend: &mut Backend, ticks: u32) {
    backend.advance(f64::from(ticks) * 1000.0 / 60.0, &mut || 0.0);
}

fn frame(backend: &mut Backend) -> Value {
    let watch = json!([[null, "Pyra"], [null, "Brann"], ["You", "Pyra"]]);
    ask(backend, json!({ "ask": "frame", "watch": watch }))
}

fn hash(backend: &mut Backend) -> String {
    frame(backend)["hash"].as_str().unwrap().to_owned()
}

fn detail<'f>(frame: &'f Value, side: &Value, name: &str) -> &'f Value {
    let of = |d: &&Value| d["side"] == *side && d["name"] == name;
    &frame["details"].as_array().unwrap().iter().find(of).unwrap()["detail"]
}

// covers: OWN-05
#[test]
fn seeking_back_gives_the_same_state_and_a_fork_another() {
    let mut backend = duel();
    run(&mut backend, 240);
    // Between two copies of the recording.
    run(&mut backend, 67);
    let then = hash(&mut backend);
    run(&mut backend, 240);
    let end = hash(&mut backend);
    assert_ne!(then, end);
    ask(&mut backend, json!({ "ask": "seek", "tick": 307 }));
    assert_eq!(hash(&mut backend), then);
    ask(&mut backend, json!({ "ask": "seek", "tick": 547 }));
    assert_eq!(hash(&mut backend), end);
    ask(&mut backend, json!({ "ask": "seek", "tick": 307 }));
    let put = ask(
        &mut backend,
        json!({ "ask": "put", "input": { "Action": { "Set": { "who": "Brann", "attribute": "Might", "value": 500.0 } } } }),
    );
    assert_eq!(put["error"], Value::Null, "{put}");
    assert_eq!(frame(&mut backend)["end"], 307, "the old timeline was dropped");
    ask(&mut backend, json!({ "ask": "step", "ticks": 240 }));
    assert_ne!(hash(&mut backend), end);
    ask(&mut backend, json!({ "ask": "undo" }));
    assert_eq!(hash(&mut backend), end, "as without the fork");
}

#[test]
fn an_action_at_an_earlier_tick_reports_the_replaced_timeline_and_undo_restores_it() {
    let mut backend = duel();
    let set = |value: f64| json!({ "ask": "put", "input": { "Action": { "Set": { "who": "Brann", "attribute": "Might", "value": value } } } });
    run(&mut backend, 100);
    assert_eq!(ask(&mut backend, set(60.0))["old_end"], Value::Null, "now has no other future");
    run(&mut backend, 100);
    ask(&mut backend, set(70.0));
    run(&mut backend, 100);
    let (end, lines) = (hash(&mut backend), frame(&mut backend)["events"].as_array().unwrap().len());
    ask(&mut backend, json!({ "ask": "seek", "tick": 150 }));
    assert_eq!(ask(&mut backend, set(500.0))["old_end"], 300);
    assert_eq!((&frame(&mut backend)["end"], &frame(&mut backend)["done"]), (&json!(150), &json!(2)));
    ask(&mut backend, json!({ "ask": "step", "ticks": 20 }));
    ask(&mut backend, json!({ "ask": "undo" }));
    let now = frame(&mut backend);
    assert_eq!((&now["tick"], &now["end"], &now["done"]), (&json!(170), &json!(300), &json!(2)));
    ask(&mut backend, json!({ "ask": "seek", "tick": 300 }));
    assert_eq!(hash(&mut backend), end, "the old future, with what was done in it");
    assert_eq!(frame(&mut backend)["events"].as_array().unwrap().len(), lines, "and what happened in it");
}

fn act(backend: &mut Backend, act: Value) -> Value {
    ask(backend, json!({ "ask": "put", "input": { "Action": act } }))
}

#[test]
fn every_action_reports_its_result() {
    let mut backend = Backend::at("../../packs/arena".as_ref(), OpenOptions::default()).unwrap();
    let mut result_of = |action: Value| {
        let answer = act(&mut backend, action);
        let text = answer["message"].as_str().or(answer["error"].as_str()).unwrap().to_owned();
        (text, answer["error"].is_null() && answer["no_effect"] == false)
    };
    let burn = |n: u32| json!({ "Apply": { "effect": "GE_Burn", "to": "Pyra", "level": n } });
    assert_eq!(result_of(burn(1)), ("GE_Burn was applied to Pyra".into(), true));
    let remove = json!({ "Remove": { "effect": "GE_Burn", "from": "Pyra" } });
    assert_eq!(result_of(remove.clone()), ("GE_Burn was removed from Pyra".into(), true));
    assert_eq!(result_of(remove), ("no active GE_Burn to remove".into(), false));
    let untargeted = json!({ "Activate": { "ability": "GA_Firebolt", "who": "Pyra" } });
    let (text, done) = result_of(untargeted);
    assert!(!done && text.starts_with("Pyra activated GA_Firebolt without a target"), "{text}");
    let (text, done) = result_of(json!({ "Press": { "input": "Primary", "who": "Pyra", "target": "Brann" } }));
    assert!(
        !done
            && text.starts_with("Primary of Pyra was pressed, but no ability was activated: ")
            && text.contains("cooldown"),
        "{text}"
    );
    assert_eq!(
        result_of(json!({ "Release": { "input": "Primary", "who": "Pyra" } })),
        ("Primary of Pyra was released".into(), true)
    );
    let cancel = json!({ "Cancel": { "ability": "GA_Fireball", "who": "Pyra" } });
    assert_eq!(result_of(cancel.clone()), ("GA_Fireball of Pyra is not active; nothing to cancel".into(), false));
    let cast = json!({ "Activate": { "ability": "GA_Fireball", "who": "Pyra", "target": "Brann" } });
    assert_eq!(result_of(cast), ("Pyra activated GA_Fireball".into(), true));
    assert_eq!(result_of(cancel), ("GA_Fireball of Pyra was cancelled".into(), true));
    let set = |value: f64| json!({ "Set": { "who": "Pyra", "attribute": "Mana", "value": value } });
    assert_eq!(result_of(set(40.0)), ("base Mana of Pyra was set to 40".into(), true));
    let (text, done) = result_of(set(4000.0));
    assert!(done && text.ends_with(": 4000 is out of bounds"), "{text}");
    assert_eq!(
        result_of(json!({ "Event": { "tag": "State.Combat", "who": "Pyra" } })),
        ("State.Combat was sent to Pyra".into(), true)
    );
    assert_eq!(result_of(json!({ "Apply": { "effect": "", "to": "Pyra" } })), ("enter an effect first".into(), false));
}

#[test]
fn an_explanation_lists_the_last_writes_of_a_base_with_their_causes() {
    let mut backend = duel();
    ask(&mut backend, json!({ "ask": "pause" }));
    let writes = |backend: &mut Backend| {
        let why = ask(backend, json!({ "ask": "explain", "who": "Brann", "attribute": "Health" }));
        why["writes"].as_array().unwrap().clone()
    };
    ask(&mut backend, json!({ "ask": "step", "ticks": 200 }));
    let before = writes(&mut backend).len();
    // In a paused world it is listed at once.
    act(&mut backend, json!({ "Apply": { "effect": "GE_FlareUp", "to": "Brann", "by": "Pyra" } }));
    let last = writes(&mut backend)[0].clone();
    assert_eq!((&last["tick"], &last["effect"], &last["from"]), (&json!(200), &json!("GE_FlareUp"), &json!("Pyra")));
    assert!(last["by"].as_f64().unwrap() < 0.0, "{last}");
    let chain = ask(&mut backend, json!({ "ask": "causes", "serial": last["serial"] }));
    assert!(chain[0]["text"].as_str().unwrap().contains("Health"), "{chain}");
    assert_eq!(chain[1]["text"], "GE_FlareUp was applied", "{chain}");
    // Once, also after the tick in which the clients receive it.
    ask(&mut backend, json!({ "ask": "step", "ticks": 1 }));
    let all = writes(&mut backend);
    assert_eq!(all.iter().filter(|w| w["effect"] == "GE_FlareUp").count(), 1, "{all:?}");
    (0..3).for_each(|_| drop(ask(&mut backend, json!({ "ask": "step", "ticks": 240 }))));
    let all = writes(&mut backend);
    assert!(all.len() <= 5 && all.is_sorted_by(|a, b| a["serial"].as_u64() > b["serial"].as_u64()), "{all:?}");
    ask(&mut backend, json!({ "ask": "seek", "tick": 199 }));
    assert_eq!(writes(&mut backend).len(), before, "nothing that is yet to come");
}

#[test]
fn the_history_lists_events_up_to_the_current_tick() {
    let mut backend = duel();
    run(&mut backend, 240);
    run(&mut backend, 240);
    ask(&mut backend, json!({ "ask": "seek", "tick": 240 }));
    let history = ask(&mut backend, json!({ "ask": "history", "about": ["Pyra"] }));
    let lines = history.as_array().unwrap();
    assert!(lines.len() > 10 && lines.iter().all(|l| l["tick"].as_u64() <= Some(240)), "{}", lines.len());
    assert!(lines.iter().all(|l| l["who"] == "Pyra" || l["kind"] == "Died"));
    // An action in a paused world is listed at once, and once.
    let count = |backend: &mut Backend| {
        let all = ask(backend, json!({ "ask": "history" }));
        all.as_array().unwrap().iter().filter(|l| l["text"].as_str().unwrap().contains("GE_Slow")).count()
    };
    let before = count(&mut backend);
    act(&mut backend, json!({ "Apply": { "effect": "GE_Slow", "to": "Brann" } }));
    let listed = count(&mut backend);
    assert!(listed > before, "{listed}");
    ask(&mut backend, json!({ "ask": "step", "ticks": 1 }));
    assert_eq!(count(&mut backend), listed);
    ask(&mut backend, json!({ "ask": "undo" }));
    assert_eq!(count(&mut backend), before);
}

#[test]
fn opening_a_duel_shows_both_actors_alive() {
    let mut backend = duel();
    let down = |frame: &Value| frame["sides"][0]["actors"].as_array().unwrap().iter().any(|a| a["dead"] == true);
    ask(&mut backend, json!({ "ask": "hello", "opens": true }));
    let first = frame(&mut backend);
    assert!(
        first["shots"][0].as_f64() > first["shots"][1].as_f64(),
        "the counters are set at once: {}",
        first["shots"]
    );
    let mut ticks = first["tick"].as_u64().unwrap();
    while !down(&frame(&mut backend)) {
        run(&mut backend, 10);
        ticks += 10;
        assert!(ticks < 3600, "no actor dies");
    }
    ask(&mut backend, json!({ "ask": "hello" }));
    assert!(down(&frame(&mut backend)), "only for a page that opens the duel");
    ask(&mut backend, json!({ "ask": "hello", "opens": true }));
    let now = frame(&mut backend);
    assert!(!down(&now), "{}", now["tick"]);
    ask(&mut backend, json!({ "ask": "seek", "tick": ticks }));
    ask(&mut backend, json!({ "ask": "hello", "opens": true }));
    assert!(down(&frame(&mut backend)), "a chosen tick is kept");
}

#[test]
fn a_permalink_restores_the_same_state() {
    let mut backend = duel();
    run(&mut backend, 100);
    ask(&mut backend, json!({ "ask": "put", "input": { "Link": { "round_trip": 220, "loss": 0.2 } } }));
    ask(&mut backend, json!({ "ask": "put", "input": { "Keys": { "x": 1.0, "inputs": ["Primary"] } } }));
    run(&mut backend, 200);
    let (there, permalink) = (hash(&mut backend), ask(&mut backend, json!({ "ask": "permalink" })));
    assert_eq!((permalink["seed"].as_u64(), permalink["tick"].as_u64()), (Some(7), Some(300)));
    let mut other = duel();
    let open = json!({ "ask": "open", "seed": 7, "tick": 300, "inputs": permalink["inputs"] });
    assert_eq!(ask(&mut other, open)["error"], Value::Null);
    assert_eq!(hash(&mut other), there);
    let plain = ask(&mut other, json!({ "ask": "open", "seed": 7, "tick": 300 }));
    assert_eq!(plain["error"], Value::Null);
    assert_ne!(hash(&mut other), there);
}

#[test]
fn the_predicted_rate_of_fire_stays_while_the_confirmed_one_falls() {
    let mut backend = duel();
    let mut shots = |round_trip: u32| {
        ask(&mut backend, json!({ "ask": "put", "input": { "Link": { "round_trip": round_trip, "loss": 0.0 } } }));
        (0..7).for_each(|_| run(&mut backend, 200));
        let shots = frame(&mut backend)["shots"].clone();
        (shots[0].as_f64().unwrap(), shots[1].as_f64().unwrap())
    };
    let (near, far) = (shots(0), shots(200));
    // A shot in ten seconds is six in a minute.
    assert!((near.0 - far.0).abs() <= 6.0, "{near:?} {far:?}");
    assert!(far.1 < near.1 - 15.0, "{near:?} {far:?}");
    assert_eq!((&frame(&mut backend)["twice"], &frame(&mut backend)["missing"]), (&json!(0), &json!(0)));
}

#[test]
fn a_value_is_explained_with_file_and_line() {
    let mut backend = duel();
    let why = ask(&mut backend, json!({ "ask": "explain", "who": "Brann", "attribute": "AttackPower" }));
    let text = why["text"].as_str().unwrap();
    assert!(text.starts_with("18 = 10 × 1.50 (Might 50, brann.yaml:"), "{text}");
    assert!(text.contains("× 1.20 (GE_EmberBlade, equipment.yaml:"), "{text}");
    let wrong = ask(&mut backend, json!({ "ask": "explain", "who": "Brann", "attribute": "AtackPower" }));
    assert_eq!(wrong["error"], "unknown attribute 'AtackPower'; did you mean 'AttackPower'?");
}

#[test]
fn an_unavailable_ability_lists_every_reason_and_when_it_is_ready() {
    let mut backend = duel();
    run(&mut backend, 90);
    ask(
        &mut backend,
        json!({ "ask": "put", "input": { "Action": { "Set": { "who": "Pyra", "attribute": "Mana", "value": 5.0 } } } }),
    );
    let mut kinds = Vec::new();
    for _ in 0..40 {
        run(&mut backend, 10);
        let frame = frame(&mut backend);
        let all = detail(&frame, &Value::Null, "Pyra")["abilities"].as_array().unwrap().clone();
        for ability in all {
            for reason in ability["reasons"].as_array().unwrap() {
                kinds.push((reason["kind"].as_str().unwrap().to_owned(), reason["ready_in"].is_number()));
            }
        }
    }
    assert!(kinds.contains(&("Cost".to_owned(), false)), "{kinds:?}");
    assert!(kinds.contains(&("Cooldown".to_owned(), true)), "{kinds:?}");
}

// covers: OWN-03
#[test]
fn the_causes_of_a_death_lead_to_the_key_press() {
    let mut backend = duel();
    let mut death = None;
    for _ in 0..20 {
        run(&mut backend, 120);
        let frame = frame(&mut backend);
        let events = frame["events"].as_array().unwrap().clone();
        death = events.iter().find(|n| n["kind"] == "Died" && n["client"].is_null()).map(|n| n["serial"].clone());
        if death.is_some() {
            break;
        }
    }
    let chain = ask(&mut backend, json!({ "ask": "causes", "serial": death.unwrap() }));
    let steps = chain.as_array().unwrap();
    assert!(steps.len() <= 7, "{chain}");
    assert_eq!(steps.last().unwrap()["kind"], "pressed", "{chain}");
}

#[test]
fn an_edited_number_applies_to_the_next_cast_and_an_invalid_edit_changes_nothing() {
    let mut backend = duel();
    run(&mut backend, 30);
    let file = ask(&mut backend, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    let text = file["text"].as_str().unwrap();
    let edit = |text: String| json!({ "ask": "put", "input": { "Edit": { "file": "arena/pyra.yaml", "text": text } } });
    let before = hash(&mut backend);
    let wrong = ask(&mut backend, edit(text.replacen("{Attribute: Health,", "{Attribute: Helth,", 1)));
    let findings: Value = serde_json::from_str(wrong["error"].as_str().unwrap()).unwrap();
    assert_eq!(findings[0]["help"], "did you mean Health?", "{findings}");
    assert!(findings[0]["line"].as_u64().unwrap() > 1);
    assert_eq!(hash(&mut backend), before, "nothing changed");
    run(&mut backend, 30);
    assert_ne!(hash(&mut backend), before, "and the world keeps running");
    // A burn that takes fifty a second is seen.
    let burns = "{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}";
    assert!(text.contains(burns));
    let right = ask(&mut backend, edit(text.replacen(burns, &burns.replace("-5", "-50"), 1)));
    assert_eq!(right["error"], Value::Null, "{right}");
    ask(
        &mut backend,
        json!({ "ask": "put", "input": { "Action": { "Apply": { "effect": "GE_Burn", "to": "Brann" } } } }),
    );
    run(&mut backend, 62);
    let frame = ask(&mut backend, json!({ "ask": "frame" }));
    let events = frame["events"].as_array().unwrap();
    // Fifty, reduced by his shield.
    let burnt = events.iter().any(|n| n["text"].as_str().unwrap().starts_with("20 damage, 30 absorbed (GE_Burn)"));
    let burn_events: Vec<_> = events.iter().filter(|n| n["text"].as_str().unwrap().contains("Burn")).collect();
    assert!(burnt, "{burn_events:?}");
}

#[test]
fn invalid_requests_are_answered_with_an_error_message() {
    let mut backend = duel();
    let hard = [
        "",
        "{}",
        "[]",
        "null",
        "\u{0}",
        r#"{"ask":"seek","tick":-1}"#,
        r#"{"ask":"seek","tick":4294967295}"#,
        r#"{"ask":"speed","times":1e99}"#,
        r#"{"ask":"open","seed":1,"tick":4294967295}"#,
        r#"{"ask":"explain","who":"<b>","attribute":"Health"}"#,
        r#"{"ask":"file","name":"../../etc/passwd"}"#,
        r#"{"ask":"put","input":{"Action":{"Move":{"who":"Pyra","to":[1e308,0,1e999]}}}}"#,
        r#"{"ask":"put","input":{"Edit":{"file":"arena/pyra.yaml","text":"{{{{"}}}"#,
        r#"{"ask":"put","input":{"Join":{"client":"You","owns":["Pyra"]}}}"#,
        r#"{"ask":"chain","serial":999999}"#,
    ];
    for question in hard {
        let answer: Value = serde_json::from_str(&backend.answer(question)).unwrap();
        let fine = answer["error"].as_str().is_some_and(|e| !e.is_empty()) || answer["tick"].is_number();
        assert!(fine, "{question}: {answer}");
    }
    ask(&mut backend, json!({ "ask": "play" }));
    run(&mut backend, 10);
    assert!(frame(&mut backend)["tick"].as_u64().unwrap() >= 10);
}

#[test]
fn a_refused_action_leaves_the_recording_unchanged() {
    let mut backend = duel();
    run(&mut backend, 240);
    ask(&mut backend, json!({ "ask": "seek", "tick": 100 }));
    let apply = json!({ "Action": { "Apply": { "effect": "GE_Nope", "to": "Brann" } } });
    let refused = ask(&mut backend, json!({ "ask": "put", "input": apply }));
    assert!(refused["error"].is_string(), "{refused}");
    assert_eq!(frame(&mut backend)["end"], 240, "what came after is still there");
}

#[test]
fn events_of_an_undone_timeline_are_not_listed() {
    let mut backend = duel();
    run(&mut backend, 60);
    let untouched = {
        let mut other = duel();
        run(&mut other, 90);
        event_lines(&mut other)
    };
    let dies = json!({ "Action": { "Set": { "who": "Brann", "attribute": "Health", "value": 0.0 } } });
    let put = ask(&mut backend, json!({ "ask": "put", "input": dies }));
    assert_eq!(put["error"], Value::Null, "{put}");
    run(&mut backend, 30);
    assert!(event_lines(&mut backend).iter().any(|line| line.contains("Died")), "he is dead");
    let timelines = frame(&mut backend)["timelines"].clone();
    ask(&mut backend, json!({ "ask": "undo" }));
    assert_eq!(event_lines(&mut backend), untouched, "as without the action");
    assert_ne!(frame(&mut backend)["timelines"], timelines, "a page is notified to read the events again");
}

/// Returns the events without their serial numbers.
fn event_lines(backend: &mut Backend) -> Vec<String> {
    let frame = frame(backend);
    let lines = frame["events"].as_array().unwrap().iter();
    lines.map(|n| format!("{} {} {} {}", n["tick"], n["kind"], n["who"], n["text"])).collect()
}

#[test]
fn a_permalink_cannot_contain_files() {
    let mut backend = duel();
    for ask_ in [
        json!({ "ask": "put", "input": { "Files": { "texts": { "pyra.yaml": null } } } }),
        json!({ "ask": "open", "seed": 7, "tick": 1, "inputs": [[0, { "Files": { "texts": { "pyra.yaml": null } } }]] }),
    ] {
        let refused = ask(&mut backend, ask_);
        assert!(refused["error"].as_str().unwrap().contains("only one file"), "{refused}");
    }
}

#[test]
fn a_client_that_left_can_join_again() {
    let pack = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/arena");
    let mut backend = Backend::at(&pack, OpenOptions::default()).unwrap();
    let mut put = |input: Value| ask(&mut backend, json!({ "ask": "put", "input": input }))["error"].clone();
    let join = || json!({ "Join": { "client": "Ann", "owns": ["Pyra"] } });
    assert_eq!(put(join()), Value::Null);
    assert!(put(join()).as_str().unwrap().contains("already"));
    assert_eq!(put(json!({ "Leave": { "client": "Ann" } })), Value::Null);
    assert!(put(json!({ "Leave": { "client": "Ann" } })).is_string(), "a client cannot leave twice");
    assert!(put(json!({ "Join": { "client": "", "owns": [] } })).is_string(), "a client needs a name");
    let sides = |backend: &mut Backend| frame(backend)["sides"].as_array().unwrap().len();
    assert_eq!(sides(&mut backend), 1, "the server alone");
    assert_eq!(ask(&mut backend, json!({ "ask": "put", "input": join() }))["error"], Value::Null);
    run(&mut backend, 30);
    assert_eq!(sides(&mut backend), 2);
    let mut duel = duel();
    assert!(ask(&mut duel, json!({ "ask": "put", "input": { "Leave": { "client": "You" } } }))["error"].is_string());
}

#[test]
fn each_client_can_have_its_own_link() {
    let mut backend = duel();
    let links = |backend: &mut Backend| {
        let sides = ask(backend, json!({ "ask": "frame" }))["sides"].clone();
        sides.as_array().unwrap()[1..].iter().map(|s| s["link"].clone()).collect::<Vec<_>>()
    };
    let put = |backend: &mut Backend, link: Value| ask(backend, json!({ "ask": "put", "input": { "Link": link } }));
    run(&mut backend, 100);
    assert_eq!(links(&mut backend), [json!([150, 0.05]), json!([150, 0.05])]);
    let far = json!({ "client": "Rival", "round_trip": 400, "loss": 0.2 });
    assert_eq!(put(&mut backend, far)["error"], Value::Null);
    assert_eq!(links(&mut backend), [json!([150, 0.05]), json!([400, 0.2])]);
    assert_eq!(frame(&mut backend)["round_trip"], 150, "the link of the other clients");
    run(&mut backend, 200);
    run(&mut backend, 200);
    let ticks_ahead = |backend: &mut Backend, at: usize| frame(backend)["sides"][at]["ahead"].as_u64().unwrap();
    assert!(
        ticks_ahead(&mut backend, 2) > ticks_ahead(&mut backend, 1) + 8,
        "a client with a longer round trip runs earlier"
    );
    let there = hash(&mut backend);
    // Part of the permalink, restored by seeking, and removed by undo.
    let permalink = ask(&mut backend, json!({ "ask": "permalink" }));
    let mut other = duel();
    ask(&mut other, json!({ "ask": "open", "seed": 7, "tick": 500, "inputs": permalink["inputs"] }));
    assert_eq!((hash(&mut other), links(&mut other)), (there.clone(), links(&mut backend)));
    ask(&mut backend, json!({ "ask": "seek", "tick": 50 }));
    assert_eq!(links(&mut backend)[1], json!([150, 0.05]));
    ask(&mut backend, json!({ "ask": "seek", "tick": 500 }));
    assert_eq!(hash(&mut backend), there);
    // A client that rejoins keeps its link; a link for all clients replaces it.
    let edit = ask(&mut backend, json!({ "ask": "file", "name": "arena/pyra.yaml" }))["text"].clone();
    ask(&mut backend, json!({ "ask": "put", "input": { "Edit": { "file": "arena/pyra.yaml", "text": edit } } }));
    assert_eq!(links(&mut backend)[1], json!([400, 0.2]));
    assert_eq!(put(&mut backend, json!({ "round_trip": 80, "loss": 0.0 }))["error"], Value::Null);
    assert_eq!(links(&mut backend), [json!([80, 0.0]), json!([80, 0.0])]);
    ask(&mut backend, json!({ "ask": "undo" }));
    ask(&mut backend, json!({ "ask": "undo" }));
    ask(&mut backend, json!({ "ask": "undo" }));
    assert_eq!(links(&mut backend)[1], json!([150, 0.05]));
    let unknown = put(&mut backend, json!({ "client": "Ann", "round_trip": 1, "loss": 0.0 }));
    assert_eq!(unknown["error"], "client Ann does not exist");
}

#[test]
fn a_page_receives_the_events_of_the_requested_actors_and_deaths() {
    let mut backend = duel();
    (0..4).for_each(|_| run(&mut backend, 200));
    let events = |backend: &mut Backend, about: Value| {
        let frame = ask(backend, json!({ "ask": "frame", "since": 0, "about": about }));
        frame["events"].as_array().unwrap().clone()
    };
    let of = |list: &[Value], who: &str| list.iter().filter(|n| n["who"] == who).count();
    let all = events(&mut backend, Value::Null);
    let some = events(&mut backend, json!(["Pyra"]));
    assert!(of(&all, "Brann") > 10 && of(&all, "Pyra") > 10);
    assert_eq!(of(&some, "Pyra"), of(&all, "Pyra"));
    assert!(some.iter().all(|n| n["who"] == "Pyra" || n["kind"] == "Died"));
    assert!(some.iter().any(|n| n["kind"] == "Died" && n["who"] == "Brann"), "deaths are listed for every page");
    assert!(some.iter().any(|n| n["attribute"] == "Mana" && n["value"].is_number()));
    assert!(events(&mut backend, json!([])).iter().all(|n| n["kind"] == "Died"));
}

/// Dragging a slider sends many inputs; the undo button of the notice undoes all of them.
#[test]
fn undoing_the_action_that_forked_restores_the_whole_old_timeline() {
    let mut backend = duel();
    run(&mut backend, 120);
    let link = |trip: u32| json!({ "ask": "put", "input": { "Link": { "round_trip": trip, "loss": 0.0 } } });
    ask(&mut backend, link(100));
    run(&mut backend, 120);
    let (end, before) = (frame(&mut backend)["end"].clone(), hash(&mut backend));
    ask(&mut backend, json!({ "ask": "seek", "tick": 60 }));
    let timelines = frame(&mut backend)["timelines"].as_u64().unwrap();
    let forked = ask(&mut backend, link(200));
    assert_eq!(forked["old_end"], end, "{forked}");
    assert!(frame(&mut backend)["timelines"].as_u64().unwrap() > timelines, "other pages are notified");
    ask(&mut backend, link(220));
    run(&mut backend, 10);
    ask(&mut backend, link(240));
    let undone = ask(&mut backend, json!({ "ask": "undo", "with": forked["done"] }));
    assert_eq!(undone["end"], end, "{undone}");
    ask(&mut backend, json!({ "ask": "seek", "tick": end }));
    assert_eq!(hash(&mut backend), before);
    assert!(ask(&mut backend, json!({ "ask": "undo", "with": 9 }))["error"].is_string(), "so many there are not");
}

/// A rolled-back prediction keeps the name of its client, also at a tick at which the client had not joined.
#[test]
fn event_lines_of_a_client_keep_its_name() {
    let mut backend = duel();
    run(&mut backend, 60);
    ask(&mut backend, json!({ "ask": "put", "input": { "Join": { "client": "Ann", "owns": [] } } }));
    run(&mut backend, 900);
    let events = |backend: &mut Backend| -> Vec<(Value, Value)> {
        let frame = ask(backend, json!({ "ask": "frame", "since": 0 }));
        frame["events"].as_array().unwrap().iter().map(|n| (n["serial"].clone(), n["client"].clone())).collect()
    };
    let before = events(&mut backend);
    assert!(before.iter().any(|(_, client)| !client.is_null()), "a client undid a prediction");
    ask(&mut backend, json!({ "ask": "put", "input": { "Leave": { "client": "You" } } }));
    run(&mut backend, 10);
    ask(&mut backend, json!({ "ask": "seek", "tick": 20 }));
    let after = events(&mut backend);
    assert!(before.iter().filter(|(serial, _)| after.iter().any(|(s, _)| s == serial)).count() > 100);
    for (serial, client) in &before {
        let again = after.iter().find(|(s, _)| s == serial);
        assert!(again.is_none_or(|(_, c)| c == client), "{serial}: {client} became {again:?}");
    }
}
