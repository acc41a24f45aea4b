//! What the README asks a visitor to change in the first minute shows within seconds, whenever it is changed.

use serde_json::{Value, json};
use ugas_studio::Desk;
use ugas_studio::stage::Stage;

/// The line of Pyra's file that the README names, and what is written there before and after.
const BEFORE: &str = "Scale: 1}";
const AFTER: &str = "Scale: 50}";

fn ask(desk: &mut Desk, question: Value) -> Value {
    serde_json::from_str(&desk.answer(&question.to_string())).unwrap()
}

fn steps(desk: &mut Desk, ticks: u32) {
    ask(desk, json!({ "ask": "step", "ticks": ticks }));
}

/// Makes the README's change.
fn change(desk: &mut Desk) {
    let readme = include_str!("../../../README.md");
    let mut named = readme.split("line ").filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let line = named.next().expect("the README names a line");
    assert!(readme.contains("`Scale: 1`") && readme.contains("`Scale: 50`"), "the README names both values");
    let file = ask(desk, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    let mut lines: Vec<String> = file["text"].as_str().unwrap().lines().map(str::to_owned).collect();
    assert!(lines[line - 1].contains(BEFORE), "{}", lines[line - 1]);
    lines[line - 1] = lines[line - 1].replace(BEFORE, AFTER);
    let edit = json!({ "Edit": { "file": "arena/pyra.yaml", "text": lines.join("\n") } });
    assert_eq!(ask(desk, json!({ "ask": "put", "input": edit }))["error"], Value::Null);
}

/// Ticks until Brann dies.
fn ticks_to_death(desk: &mut Desk) -> Option<u32> {
    let since = ask(desk, json!({ "ask": "frame" }))["serial"].clone();
    (0..1200).step_by(10).find(|_| {
        steps(desk, 10);
        let frame = ask(desk, json!({ "ask": "frame", "since": since, "about": [] }));
        frame["news"].as_array().unwrap().iter().any(|n| n["kind"] == "Died" && n["who"] == "Brann")
    })
}

#[test]
fn the_changed_value_of_the_readme_shows_within_seconds_at_any_time() {
    let mut all = Vec::new();
    for seed in 1..=6 {
        let mut desk = Desk::new(Box::new(Stage::duel), seed).unwrap();
        ask(&mut desk, json!({ "ask": "pause" }));
        for wait in [240, 330, 410, 570, 690] {
            steps(&mut desk, 240.min(wait));
            (0..(wait - 240.min(wait)) / 10).for_each(|_| steps(&mut desk, 10));
            let frame = ask(&mut desk, json!({ "ask": "frame" }));
            let down = frame["sides"][0]["actors"].as_array().unwrap().iter().any(|a| a["dead"] == true);
            change(&mut desk);
            let ticks = ticks_to_death(&mut desk);
            all.push((seed, frame["tick"].as_u64().unwrap(), down, ticks));
            // A fallen fighter lies for five seconds first.
            let most = if down { 660 } else { 300 };
            assert!(ticks.is_some_and(|t| t <= most), "seed, tick, down, ticks until the death: {all:?}");
            // As if it had not been changed.
            ask(&mut desk, json!({ "ask": "undo" }));
        }
    }
}
