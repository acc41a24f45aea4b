//! What a page can ask of the demo's world, without a page.

use serde_json::{Value, json};
use ugas_studio::Desk;
use ugas_studio::stage::{Choice, Stage};

fn duel() -> Desk {
    Desk::new(Box::new(Stage::duel), 7).unwrap()
}

fn ask(desk: &mut Desk, question: Value) -> Value {
    serde_json::from_str(&desk.answer(&question.to_string())).unwrap()
}

/// Runs so many ticks.
fn run(desk: &mut Desk, ticks: u32) {
    desk.advance(f64::from(ticks) * 1000.0 / 60.0, &mut || 0.0);
}

fn frame(desk: &mut Desk) -> Value {
    let watch = json!([[null, "Pyra"], [null, "Brann"], ["You", "Pyra"]]);
    ask(desk, json!({ "ask": "frame", "watch": watch }))
}

fn hash(desk: &mut Desk) -> String {
    frame(desk)["hash"].as_str().unwrap().to_owned()
}

fn detail<'f>(frame: &'f Value, side: &Value, name: &str) -> &'f Value {
    let of = |d: &&Value| d["side"] == *side && d["name"] == name;
    &frame["details"].as_array().unwrap().iter().find(of).unwrap()["detail"]
}

// covers: OWN-05
#[test]
fn scrubbing_back_gives_the_same_world_and_a_fork_another() {
    let mut desk = duel();
    run(&mut desk, 240);
    // Between two copies of the recording.
    run(&mut desk, 67);
    let then = hash(&mut desk);
    run(&mut desk, 240);
    let end = hash(&mut desk);
    assert_ne!(then, end);
    ask(&mut desk, json!({ "ask": "seek", "tick": 307 }));
    assert_eq!(hash(&mut desk), then);
    ask(&mut desk, json!({ "ask": "seek", "tick": 547 }));
    assert_eq!(hash(&mut desk), end);
    ask(&mut desk, json!({ "ask": "seek", "tick": 307 }));
    let put = ask(
        &mut desk,
        json!({ "ask": "put", "input": { "Act": { "Set": { "who": "Brann", "attribute": "Might", "value": 500.0 } } } }),
    );
    assert_eq!(put["error"], Value::Null, "{put}");
    assert_eq!(frame(&mut desk)["end"], 307, "the old future is gone");
    ask(&mut desk, json!({ "ask": "step", "ticks": 240 }));
    assert_ne!(hash(&mut desk), end);
    ask(&mut desk, json!({ "ask": "undo" }));
    assert_eq!(hash(&mut desk), end, "as if it never was");
}

#[test]
fn what_is_done_in_the_past_says_so_and_undo_brings_the_old_future_back() {
    let mut desk = duel();
    let set = |value: f64| json!({ "ask": "put", "input": { "Act": { "Set": { "who": "Brann", "attribute": "Might", "value": value } } } });
    run(&mut desk, 100);
    assert_eq!(ask(&mut desk, set(60.0))["old_end"], Value::Null, "now has no other future");
    run(&mut desk, 100);
    ask(&mut desk, set(70.0));
    run(&mut desk, 100);
    let (end, lines) = (hash(&mut desk), frame(&mut desk)["news"].as_array().unwrap().len());
    ask(&mut desk, json!({ "ask": "seek", "tick": 150 }));
    assert_eq!(ask(&mut desk, set(500.0))["old_end"], 300);
    assert_eq!((&frame(&mut desk)["end"], &frame(&mut desk)["done"]), (&json!(150), &json!(2)));
    ask(&mut desk, json!({ "ask": "step", "ticks": 20 }));
    ask(&mut desk, json!({ "ask": "undo" }));
    let now = frame(&mut desk);
    assert_eq!((&now["tick"], &now["end"], &now["done"]), (&json!(170), &json!(300), &json!(2)));
    ask(&mut desk, json!({ "ask": "seek", "tick": 300 }));
    assert_eq!(hash(&mut desk), end, "the old future, with what was done in it");
    assert_eq!(frame(&mut desk)["news"].as_array().unwrap().len(), lines, "and what happened in it");
}

fn act(desk: &mut Desk, act: Value) -> Value {
    ask(desk, json!({ "ask": "put", "input": { "Act": act } }))
}

#[test]
fn every_deed_says_what_came_of_it() {
    let mut desk = Desk::at("../../packs/arena".as_ref(), Choice::default()).unwrap();
    let mut said = |deed: Value| {
        let answer = act(&mut desk, deed);
        let text = answer["said"].as_str().or(answer["error"].as_str()).unwrap().to_owned();
        (text, answer["error"].is_null() && answer["vain"] == false)
    };
    let burn = |n: u32| json!({ "Apply": { "effect": "GE_Burn", "to": "Pyra", "level": n } });
    assert_eq!(said(burn(1)), ("GE_Burn was applied to Pyra".into(), true));
    let remove = json!({ "Remove": { "effect": "GE_Burn", "from": "Pyra" } });
    assert_eq!(said(remove.clone()), ("GE_Burn was removed from Pyra".into(), true));
    assert_eq!(said(remove), ("there is no GE_Burn to remove".into(), false));
    let nobody = json!({ "Activate": { "ability": "GA_Firebolt", "who": "Pyra" } });
    let (text, done) = said(nobody);
    assert!(!done && text.starts_with("Pyra uses GA_Firebolt, but at nobody"), "{text}");
    let (text, done) = said(json!({ "Press": { "input": "Primary", "who": "Pyra", "target": "Brann" } }));
    assert!(!done && text.starts_with("Primary of Pyra is down, but nothing is used: on cooldown"), "{text}");
    assert_eq!(
        said(json!({ "Release": { "input": "Primary", "who": "Pyra" } })),
        ("Primary of Pyra is up".into(), true)
    );
    let cancel = json!({ "Cancel": { "ability": "GA_Fireball", "who": "Pyra" } });
    assert_eq!(said(cancel.clone()), ("Pyra does not use GA_Fireball now: there is nothing to cancel".into(), false));
    let cast = json!({ "Activate": { "ability": "GA_Fireball", "who": "Pyra", "target": "Brann" } });
    assert_eq!(said(cast), ("Pyra uses GA_Fireball".into(), true));
    assert_eq!(said(cancel), ("GA_Fireball of Pyra was cancelled".into(), true));
    let set = |value: f64| json!({ "Set": { "who": "Pyra", "attribute": "Mana", "value": value } });
    assert_eq!(said(set(40.0)), ("the base of Mana of Pyra is 40 now".into(), true));
    let (text, done) = said(set(4000.0));
    assert!(done && text.ends_with("now: 4000 is out of bounds"), "{text}");
    assert_eq!(
        said(json!({ "Event": { "tag": "State.Combat", "who": "Pyra" } })),
        ("State.Combat was sent to Pyra".into(), true)
    );
    assert_eq!(said(json!({ "Apply": { "effect": "", "to": "Pyra" } })), ("name an effect first".into(), false));
}

#[test]
fn a_value_tells_what_wrote_its_base_last_and_each_leads_to_its_cause() {
    let mut desk = duel();
    ask(&mut desk, json!({ "ask": "pause" }));
    let writes = |desk: &mut Desk| {
        let why = ask(desk, json!({ "ask": "explain", "who": "Brann", "attribute": "Health" }));
        why["writes"].as_array().unwrap().clone()
    };
    ask(&mut desk, json!({ "ask": "step", "ticks": 200 }));
    let before = writes(&mut desk).len();
    // In a world that stands still it is told at once.
    act(&mut desk, json!({ "Apply": { "effect": "GE_FlareUp", "to": "Brann", "by": "Pyra" } }));
    let last = writes(&mut desk)[0].clone();
    assert_eq!((&last["tick"], &last["effect"], &last["from"]), (&json!(200), &json!("GE_FlareUp"), &json!("Pyra")));
    assert!(last["by"].as_f64().unwrap() < 0.0, "{last}");
    let chain = ask(&mut desk, json!({ "ask": "chain", "serial": last["serial"] }));
    assert!(chain[0]["text"].as_str().unwrap().contains("Health"), "{chain}");
    assert_eq!(chain[1]["text"], "GE_FlareUp was applied", "{chain}");
    // Once, also after the tick in which its clients are told.
    ask(&mut desk, json!({ "ask": "step", "ticks": 1 }));
    let all = writes(&mut desk);
    assert_eq!(all.iter().filter(|w| w["effect"] == "GE_FlareUp").count(), 1, "{all:?}");
    (0..3).for_each(|_| drop(ask(&mut desk, json!({ "ask": "step", "ticks": 240 }))));
    let all = writes(&mut desk);
    assert!(all.len() <= 5 && all.is_sorted_by(|a, b| a["serial"].as_u64() > b["serial"].as_u64()), "{all:?}");
    ask(&mut desk, json!({ "ask": "seek", "tick": 199 }));
    assert_eq!(writes(&mut desk).len(), before, "nothing that is yet to come");
}

#[test]
fn what_happened_until_a_moment_is_told_whenever_one_is_there() {
    let mut desk = duel();
    run(&mut desk, 240);
    run(&mut desk, 240);
    ask(&mut desk, json!({ "ask": "seek", "tick": 240 }));
    let past = ask(&mut desk, json!({ "ask": "past", "about": ["Pyra"] }));
    let lines = past.as_array().unwrap();
    assert!(lines.len() > 10 && lines.iter().all(|l| l["tick"].as_u64() <= Some(240)), "{}", lines.len());
    assert!(lines.iter().all(|l| l["who"] == "Pyra" || l["kind"] == "Died"));
    // What is done while it stands still is heard of at once, and once.
    let count = |desk: &mut Desk| {
        let all = ask(desk, json!({ "ask": "past" }));
        all.as_array().unwrap().iter().filter(|l| l["text"].as_str().unwrap().contains("GE_Burn")).count()
    };
    let before = count(&mut desk);
    act(&mut desk, json!({ "Apply": { "effect": "GE_Burn", "to": "Brann" } }));
    let told = count(&mut desk);
    assert!(told > before, "{told}");
    ask(&mut desk, json!({ "ask": "step", "ticks": 1 }));
    assert_eq!(count(&mut desk), told);
    ask(&mut desk, json!({ "ask": "undo" }));
    assert_eq!(count(&mut desk), before);
}

#[test]
fn whoever_opens_a_duel_sees_both_stand() {
    let mut desk = duel();
    let down = |frame: &Value| frame["sides"][0]["actors"].as_array().unwrap().iter().any(|a| a["dead"] == true);
    ask(&mut desk, json!({ "ask": "hello", "opens": true }));
    let first = frame(&mut desk);
    assert!(first["shots"][0].as_f64() > first["shots"][1].as_f64(), "the counters tell at once: {}", first["shots"]);
    let mut ticks = first["tick"].as_u64().unwrap();
    while !down(&frame(&mut desk)) {
        run(&mut desk, 10);
        ticks += 10;
        assert!(ticks < 3600, "nobody ever dies");
    }
    ask(&mut desk, json!({ "ask": "hello" }));
    assert!(down(&frame(&mut desk)), "only for whoever opens it");
    ask(&mut desk, json!({ "ask": "hello", "opens": true }));
    let now = frame(&mut desk);
    assert!(!down(&now), "{}", now["tick"]);
    ask(&mut desk, json!({ "ask": "seek", "tick": ticks }));
    ask(&mut desk, json!({ "ask": "hello", "opens": true }));
    assert!(down(&frame(&mut desk)), "a moment that was chosen stays");
}

#[test]
fn a_link_leads_to_the_same_moment() {
    let mut desk = duel();
    run(&mut desk, 100);
    ask(&mut desk, json!({ "ask": "put", "input": { "Link": { "round_trip": 220, "loss": 0.2 } } }));
    ask(&mut desk, json!({ "ask": "put", "input": { "Keys": { "x": 1.0, "inputs": ["Primary"] } } }));
    run(&mut desk, 200);
    let (there, moment) = (hash(&mut desk), ask(&mut desk, json!({ "ask": "moment" })));
    assert_eq!((moment["seed"].as_u64(), moment["tick"].as_u64()), (Some(7), Some(300)));
    let mut other = duel();
    let open = json!({ "ask": "open", "seed": 7, "tick": 300, "inputs": moment["inputs"] });
    assert_eq!(ask(&mut other, open)["error"], Value::Null);
    assert_eq!(hash(&mut other), there);
    let plain = ask(&mut other, json!({ "ask": "open", "seed": 7, "tick": 300 }));
    assert_eq!(plain["error"], Value::Null);
    assert_ne!(hash(&mut other), there);
}

#[test]
fn the_rate_of_fire_stays_and_the_other_sinks() {
    let mut desk = duel();
    let mut shots = |round_trip: u32| {
        ask(&mut desk, json!({ "ask": "put", "input": { "Link": { "round_trip": round_trip, "loss": 0.0 } } }));
        (0..7).for_each(|_| run(&mut desk, 200));
        let shots = frame(&mut desk)["shots"].clone();
        (shots[0].as_f64().unwrap(), shots[1].as_f64().unwrap())
    };
    let (near, far) = (shots(0), shots(200));
    // A shot in ten seconds is six in a minute.
    assert!((near.0 - far.0).abs() <= 6.0, "{near:?} {far:?}");
    assert!(far.1 < near.1 - 15.0, "{near:?} {far:?}");
    assert_eq!((&frame(&mut desk)["twice"], &frame(&mut desk)["missing"]), (&json!(0), &json!(0)));
}

#[test]
fn a_number_says_where_it_comes_from() {
    let mut desk = duel();
    let why = ask(&mut desk, json!({ "ask": "explain", "who": "Brann", "attribute": "AttackPower" }));
    let text = why["text"].as_str().unwrap();
    assert!(text.starts_with("18 = 10 × 1.50 (Might 50, brann.yaml:"), "{text}");
    assert!(text.contains("× 1.20 (GE_EmberBlade, equipment.yaml:"), "{text}");
    let wrong = ask(&mut desk, json!({ "ask": "explain", "who": "Brann", "attribute": "AtackPower" }));
    assert_eq!(wrong["error"], "there is no attribute AtackPower; did you mean AttackPower?");
}

#[test]
fn a_greyed_ability_says_every_reason_and_when_it_heals() {
    let mut desk = duel();
    run(&mut desk, 90);
    ask(
        &mut desk,
        json!({ "ask": "put", "input": { "Act": { "Set": { "who": "Pyra", "attribute": "Mana", "value": 5.0 } } } }),
    );
    let mut kinds = Vec::new();
    for _ in 0..40 {
        run(&mut desk, 10);
        let frame = frame(&mut desk);
        let all = detail(&frame, &Value::Null, "Pyra")["abilities"].as_array().unwrap().clone();
        for ability in all {
            for reason in ability["reasons"].as_array().unwrap() {
                kinds.push((reason["kind"].as_str().unwrap().to_owned(), reason["heals"].is_number()));
            }
        }
    }
    assert!(kinds.contains(&("Cost".to_owned(), false)), "{kinds:?}");
    assert!(kinds.contains(&("Cooldown".to_owned(), true)), "{kinds:?}");
}

// covers: OWN-03
#[test]
fn a_death_leads_back_to_the_key() {
    let mut desk = duel();
    let mut death = None;
    for _ in 0..20 {
        run(&mut desk, 120);
        let frame = frame(&mut desk);
        let news = frame["news"].as_array().unwrap().clone();
        death = news.iter().find(|n| n["kind"] == "Died" && n["client"].is_null()).map(|n| n["serial"].clone());
        if death.is_some() {
            break;
        }
    }
    let chain = ask(&mut desk, json!({ "ask": "chain", "serial": death.unwrap() }));
    let steps = chain.as_array().unwrap();
    assert!(steps.len() <= 7, "{chain}");
    assert_eq!(steps.last().unwrap()["kind"], "pressed", "{chain}");
}

#[test]
fn a_changed_number_counts_from_the_next_cast_and_a_misspelling_changes_nothing() {
    let mut desk = duel();
    run(&mut desk, 30);
    let file = ask(&mut desk, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    let text = file["text"].as_str().unwrap();
    let edit = |text: String| json!({ "ask": "put", "input": { "Edit": { "file": "arena/pyra.yaml", "text": text } } });
    let before = hash(&mut desk);
    let wrong = ask(&mut desk, edit(text.replacen("{Attribute: Health,", "{Attribute: Helth,", 1)));
    let findings: Value = serde_json::from_str(wrong["error"].as_str().unwrap()).unwrap();
    assert_eq!(findings[0]["help"], "did you mean Health?", "{findings}");
    assert!(findings[0]["line"].as_u64().unwrap() > 1);
    assert_eq!(hash(&mut desk), before, "nothing changed");
    run(&mut desk, 30);
    assert_ne!(hash(&mut desk), before, "and the world goes on");
    // A burn that takes fifty a second is seen.
    let burns = "{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}";
    assert!(text.contains(burns));
    let right = ask(&mut desk, edit(text.replacen(burns, &burns.replace("-5", "-50"), 1)));
    assert_eq!(right["error"], Value::Null, "{right}");
    ask(&mut desk, json!({ "ask": "put", "input": { "Act": { "Apply": { "effect": "GE_Burn", "to": "Brann" } } } }));
    run(&mut desk, 62);
    let frame = ask(&mut desk, json!({ "ask": "frame" }));
    let news = frame["news"].as_array().unwrap();
    // Fifty, of which his shield takes what it has.
    let burnt = news.iter().any(|n| n["text"].as_str().unwrap().starts_with("20 damage, 30 absorbed (GE_Burn)"));
    let told: Vec<_> = news.iter().filter(|n| n["text"].as_str().unwrap().contains("Burn")).collect();
    assert!(burnt, "{told:?}");
}

/// What the README asks for in its first minute.
#[test]
fn one_number_of_the_readme_is_the_end_of_brann() {
    let readme = include_str!("../../../README.md");
    let mut told = readme.split("line ").filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let line = told.next().expect("the README names a line");
    let mut desk = duel();
    run(&mut desk, 30);
    let file = ask(&mut desk, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    let mut lines: Vec<String> = file["text"].as_str().unwrap().lines().map(str::to_owned).collect();
    assert!(readme.contains("`Value: -1`") && readme.contains("`Value: -20`"));
    assert!(lines[line - 1].contains("Value: -1,"), "{}", lines[line - 1]);
    lines[line - 1] = lines[line - 1].replace("Value: -1,", "Value: -20,");
    let edit = json!({ "Edit": { "file": "arena/pyra.yaml", "text": lines.join("\n") } });
    assert_eq!(ask(&mut desk, json!({ "ask": "put", "input": edit }))["error"], Value::Null);
    for _ in 0..1200 {
        run(&mut desk, 1);
        let frame = ask(&mut desk, json!({ "ask": "frame" }));
        let news = frame["news"].as_array().unwrap();
        let has = |part: &str| news.iter().any(|n| n["who"] == "Brann" && n["text"].as_str().unwrap().contains(part));
        if has("GE_Fireball applied") {
            assert!(news.iter().any(|n| n["who"] == "Brann" && n["kind"] == "Died"), "{news:?}");
            return;
        }
    }
    panic!("no fireball met him in twenty seconds");
}

#[test]
fn nonsense_is_answered_in_a_sentence() {
    let mut desk = duel();
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
        r#"{"ask":"put","input":{"Act":{"Move":{"who":"Pyra","to":[1e308,0,1e999]}}}}"#,
        r#"{"ask":"put","input":{"Edit":{"file":"arena/pyra.yaml","text":"{{{{"}}}"#,
        r#"{"ask":"put","input":{"Join":{"client":"You","owns":["Pyra"]}}}"#,
        r#"{"ask":"chain","serial":999999}"#,
    ];
    for question in hard {
        let answer: Value = serde_json::from_str(&desk.answer(question)).unwrap();
        let fine = answer["error"].as_str().is_some_and(|e| !e.is_empty()) || answer["tick"].is_number();
        assert!(fine, "{question}: {answer}");
    }
    ask(&mut desk, json!({ "ask": "play" }));
    run(&mut desk, 10);
    assert!(frame(&mut desk)["tick"].as_u64().unwrap() >= 10);
}

#[test]
fn what_is_refused_leaves_the_recording_alone() {
    let mut desk = duel();
    run(&mut desk, 240);
    ask(&mut desk, json!({ "ask": "seek", "tick": 100 }));
    let apply = json!({ "Act": { "Apply": { "effect": "GE_Nope", "to": "Brann" } } });
    let refused = ask(&mut desk, json!({ "ask": "put", "input": apply }));
    assert!(refused["error"].is_string(), "{refused}");
    assert_eq!(frame(&mut desk)["end"], 240, "what came after is still there");
}

#[test]
fn what_never_was_is_not_told() {
    let mut desk = duel();
    run(&mut desk, 60);
    let untouched = {
        let mut other = duel();
        run(&mut other, 90);
        told(&mut other)
    };
    let dies = json!({ "Act": { "Set": { "who": "Brann", "attribute": "Health", "value": 0.0 } } });
    let put = ask(&mut desk, json!({ "ask": "put", "input": dies }));
    assert_eq!(put["error"], Value::Null, "{put}");
    run(&mut desk, 30);
    assert!(told(&mut desk).iter().any(|line| line.contains("Died")), "he is dead");
    let pasts = frame(&mut desk)["pasts"].clone();
    ask(&mut desk, json!({ "ask": "undo" }));
    assert_eq!(told(&mut desk), untouched, "he never was");
    assert_ne!(frame(&mut desk)["pasts"], pasts, "a page hears that it must ask again");
}

/// What happened, without numbers.
fn told(desk: &mut Desk) -> Vec<String> {
    let frame = frame(desk);
    let lines = frame["news"].as_array().unwrap().iter();
    lines.map(|n| format!("{} {} {} {}", n["tick"], n["kind"], n["who"], n["text"])).collect()
}

#[test]
fn a_link_brings_no_files() {
    let mut desk = duel();
    for ask_ in [
        json!({ "ask": "put", "input": { "Files": { "texts": { "pyra.yaml": null } } } }),
        json!({ "ask": "open", "seed": 7, "tick": 1, "inputs": [[0, { "Files": { "texts": { "pyra.yaml": null } } }]] }),
    ] {
        let refused = ask(&mut desk, ask_);
        assert!(refused["error"].as_str().unwrap().contains("one by one"), "{refused}");
    }
}

#[test]
fn who_left_is_gone_and_may_come_again() {
    let pack = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/arena");
    let mut desk = Desk::at(&pack, Choice::default()).unwrap();
    let mut put = |input: Value| ask(&mut desk, json!({ "ask": "put", "input": input }))["error"].clone();
    let join = || json!({ "Join": { "client": "Ann", "owns": ["Pyra"] } });
    assert_eq!(put(join()), Value::Null);
    assert!(put(join()).as_str().unwrap().contains("already"));
    assert_eq!(put(json!({ "Leave": { "client": "Ann" } })), Value::Null);
    assert!(put(json!({ "Leave": { "client": "Ann" } })).is_string(), "nobody leaves twice");
    assert!(put(json!({ "Join": { "client": "", "owns": [] } })).is_string(), "nobody is called nothing");
    let sides = |desk: &mut Desk| frame(desk)["sides"].as_array().unwrap().len();
    assert_eq!(sides(&mut desk), 1, "the server alone");
    assert_eq!(ask(&mut desk, json!({ "ask": "put", "input": join() }))["error"], Value::Null);
    run(&mut desk, 30);
    assert_eq!(sides(&mut desk), 2);
    let mut duel = duel();
    assert!(ask(&mut duel, json!({ "ask": "put", "input": { "Leave": { "client": "You" } } }))["error"].is_string());
}

#[test]
fn every_client_may_have_a_link_of_its_own() {
    let mut desk = duel();
    let links = |desk: &mut Desk| {
        let sides = ask(desk, json!({ "ask": "frame" }))["sides"].clone();
        sides.as_array().unwrap()[1..].iter().map(|s| s["link"].clone()).collect::<Vec<_>>()
    };
    let put = |desk: &mut Desk, link: Value| ask(desk, json!({ "ask": "put", "input": { "Link": link } }));
    run(&mut desk, 100);
    assert_eq!(links(&mut desk), [json!([150, 0.05]), json!([150, 0.05])]);
    let far = json!({ "client": "Rival", "round_trip": 400, "loss": 0.2 });
    assert_eq!(put(&mut desk, far)["error"], Value::Null);
    assert_eq!(links(&mut desk), [json!([150, 0.05]), json!([400, 0.2])]);
    assert_eq!(frame(&mut desk)["round_trip"], 150, "everybody else's");
    run(&mut desk, 200);
    run(&mut desk, 200);
    let ahead = |desk: &mut Desk, at: usize| frame(desk)["sides"][at]["ahead"].as_u64().unwrap();
    assert!(ahead(&mut desk, 2) > ahead(&mut desk, 1) + 8, "who is farther away runs farther ahead");
    let there = hash(&mut desk);
    // Part of the moment, found again by seeking, forgotten by undo.
    let moment = ask(&mut desk, json!({ "ask": "moment" }));
    let mut other = duel();
    ask(&mut other, json!({ "ask": "open", "seed": 7, "tick": 500, "inputs": moment["inputs"] }));
    assert_eq!((hash(&mut other), links(&mut other)), (there.clone(), links(&mut desk)));
    ask(&mut desk, json!({ "ask": "seek", "tick": 50 }));
    assert_eq!(links(&mut desk)[1], json!([150, 0.05]));
    ask(&mut desk, json!({ "ask": "seek", "tick": 500 }));
    assert_eq!(hash(&mut desk), there);
    // Who joins again has it still; everybody's replaces it.
    let edit = ask(&mut desk, json!({ "ask": "file", "name": "arena/pyra.yaml" }))["text"].clone();
    ask(&mut desk, json!({ "ask": "put", "input": { "Edit": { "file": "arena/pyra.yaml", "text": edit } } }));
    assert_eq!(links(&mut desk)[1], json!([400, 0.2]));
    assert_eq!(put(&mut desk, json!({ "round_trip": 80, "loss": 0.0 }))["error"], Value::Null);
    assert_eq!(links(&mut desk), [json!([80, 0.0]), json!([80, 0.0])]);
    ask(&mut desk, json!({ "ask": "undo" }));
    ask(&mut desk, json!({ "ask": "undo" }));
    ask(&mut desk, json!({ "ask": "undo" }));
    assert_eq!(links(&mut desk)[1], json!([150, 0.05]));
    let nobody = put(&mut desk, json!({ "client": "Ann", "round_trip": 1, "loss": 0.0 }));
    assert_eq!(nobody["error"], "no client is named Ann");
}

#[test]
fn a_page_hears_of_whom_it_asks_and_of_deaths() {
    let mut desk = duel();
    (0..4).for_each(|_| run(&mut desk, 200));
    let news = |desk: &mut Desk, about: Value| {
        let frame = ask(desk, json!({ "ask": "frame", "since": 0, "about": about }));
        frame["news"].as_array().unwrap().clone()
    };
    let of = |list: &[Value], who: &str| list.iter().filter(|n| n["who"] == who).count();
    let all = news(&mut desk, Value::Null);
    let some = news(&mut desk, json!(["Pyra"]));
    assert!(of(&all, "Brann") > 10 && of(&all, "Pyra") > 10);
    assert_eq!(of(&some, "Pyra"), of(&all, "Pyra"));
    assert!(some.iter().all(|n| n["who"] == "Pyra" || n["kind"] == "Died"));
    assert!(some.iter().any(|n| n["kind"] == "Died" && n["who"] == "Brann"), "whoever dies is news to everybody");
    assert!(some.iter().any(|n| n["attribute"] == "Mana" && n["value"].is_number()));
    assert!(news(&mut desk, json!([])).iter().all(|n| n["kind"] == "Died"));
}

/// A drag of a slider is many deeds; the line that tells of the fork takes back all of them.
#[test]
fn undo_back_to_the_deed_that_forked_brings_the_old_future_whole() {
    let mut desk = duel();
    run(&mut desk, 120);
    let link = |trip: u32| json!({ "ask": "put", "input": { "Link": { "round_trip": trip, "loss": 0.0 } } });
    ask(&mut desk, link(100));
    run(&mut desk, 120);
    let (end, before) = (frame(&mut desk)["end"].clone(), hash(&mut desk));
    ask(&mut desk, json!({ "ask": "seek", "tick": 60 }));
    let pasts = frame(&mut desk)["pasts"].as_u64().unwrap();
    let forked = ask(&mut desk, link(200));
    assert_eq!(forked["old_end"], end, "{forked}");
    assert!(frame(&mut desk)["pasts"].as_u64().unwrap() > pasts, "other pages hear of it");
    ask(&mut desk, link(220));
    run(&mut desk, 10);
    ask(&mut desk, link(240));
    let undone = ask(&mut desk, json!({ "ask": "undo", "with": forked["done"] }));
    assert_eq!(undone["end"], end, "{undone}");
    ask(&mut desk, json!({ "ask": "seek", "tick": end }));
    assert_eq!(hash(&mut desk), before);
    assert!(ask(&mut desk, json!({ "ask": "undo", "with": 9 }))["error"].is_string(), "so many there are not");
}

/// What a client took back stays its own, also at a moment at which it had not joined yet.
#[test]
fn lines_of_a_client_keep_its_name() {
    let mut desk = duel();
    run(&mut desk, 60);
    ask(&mut desk, json!({ "ask": "put", "input": { "Join": { "client": "Ann", "owns": [] } } }));
    run(&mut desk, 900);
    let news = |desk: &mut Desk| -> Vec<(Value, Value)> {
        let frame = ask(desk, json!({ "ask": "frame", "since": 0 }));
        frame["news"].as_array().unwrap().iter().map(|n| (n["serial"].clone(), n["client"].clone())).collect()
    };
    let before = news(&mut desk);
    assert!(before.iter().any(|(_, client)| !client.is_null()), "somebody took something back");
    ask(&mut desk, json!({ "ask": "put", "input": { "Leave": { "client": "You" } } }));
    run(&mut desk, 10);
    ask(&mut desk, json!({ "ask": "seek", "tick": 20 }));
    let after = news(&mut desk);
    assert!(before.iter().filter(|(serial, _)| after.iter().any(|(s, _)| s == serial)).count() > 100);
    for (serial, client) in &before {
        let again = after.iter().find(|(s, _)| s == serial);
        assert!(again.is_none_or(|(_, c)| c == client), "{serial}: {client} became {again:?}");
    }
}
