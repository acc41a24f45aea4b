//! The change that the README suggests for the first minute is visible within seconds, at any tick.

use serde_json::{Value, json};
use ugas_studio::Backend;
use ugas_studio::session::Session;

/// The line of Pyra's file that the README names, before and after the change.
const BEFORE: &str = "Scale: 1}";
const AFTER: &str = "Scale: 50}";

fn ask(backend: &mut Backend, question: Value) -> Value {
    serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
}

fn steps(backend: &mut Backend, ticks: u32) {
    ask(backend, json!({ "ask": "step", "ticks": ticks }));
}

/// Makes the README's change.
fn change(backend: &mut Backend) {
    let readme = include_str!("../../../../README.md");
    let mut named = readme.split("line ").filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let line = named.next().expect("the README names a line");
    assert!(readme.contains("`Scale: 1`") && readme.contains("`Scale: 50`"), "the README names both values");
    let file = ask(backend, json!({ "ask": "file", "name": "arena/pyra.yaml" }));
    let mut lines: Vec<String> = file["text"].as_str().unwrap().lines().map(str::to_owned).collect();
    assert!(lines[line - 1].contains(BEFORE), "{}", lines[line - 1]);
    lines[line - 1] = lines[line - 1].replace(BEFORE, AFTER);
    let edit = json!({ "Edit": { "file": "arena/pyra.yaml", "text": lines.join("\n") } });
    assert_eq!(ask(backend, json!({ "ask": "put", "input": edit }))["error"], Value::Null);
}

/// Ticks until Brann dies.
fn ticks_to_death(backend: &mut Backend) -> Option<u32> {
    let since = ask(backend, json!({ "ask": "frame" }))["serial"].clone();
    (0..1200).step_by(10).find(|_| {
        steps(backend, 10);
        let frame = ask(backend, json!({ "ask": "frame", "since": since, "about": [] }));
        frame["events"].as_array().unwrap().iter().any(|n| n["kind"] == "Died" && n["who"] == "Brann")
    })
}

#[test]
fn the_changed_value_of_the_readme_applies_within_seconds_at_any_tick() {
    let mut all = Vec::new();
    for seed in 1..=6 {
        let mut backend = Backend::new(Box::new(Session::duel), seed).unwrap();
        ask(&mut backend, json!({ "ask": "pause" }));
        for wait in [240, 330, 410, 570, 690] {
            steps(&mut backend, 240.min(wait));
            (0..(wait - 240.min(wait)) / 10).for_each(|_| steps(&mut backend, 10));
            let frame = ask(&mut backend, json!({ "ask": "frame" }));
            let down = frame["sides"][0]["actors"].as_array().unwrap().iter().any(|a| a["dead"] == true);
            change(&mut backend);
            let ticks = ticks_to_death(&mut backend);
            all.push((seed, frame["tick"].as_u64().unwrap(), down, ticks));
            // A dead actor revives after five seconds.
            let most = if down { 660 } else { 300 };
            assert!(ticks.is_some_and(|t| t <= most), "seed, tick, down, ticks until the death: {all:?}");
            // As if it had not been changed.
            ask(&mut backend, json!({ "ask": "undo" }));
        }
    }
}
