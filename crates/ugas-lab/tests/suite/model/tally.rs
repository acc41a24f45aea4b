//! Counts what happened: a comparison proves nothing about cases that never occurred.

use super::check::ORDER;
use super::world::World;
use std::collections::BTreeMap;

pub(crate) type Tally = BTreeMap<String, u64>;

impl World {
    pub(crate) fn count(&mut self, what: &str) {
        *self.tally.entry(what.to_owned()).or_insert(0) += 1;
    }
}

/// The kind of a fact, without names and numbers.
pub(crate) fn name_of(text: &str) -> String {
    let names = ["GA_", "GE_", "AS_", "CS_", "Cap_", "GameplayCue", "="];
    let fillers = ["grant", "level", "stacks", "tick", "length", "of", "credit", "exact", "presence", "input"];
    let telling = |w: &&str| w.parse::<f64>().is_err() && !fillers.contains(w) && !names.iter().any(|n| w.contains(n));
    text.split(' ').filter(telling).take(3).collect::<Vec<_>>().join(" ")
}

/// Fails if anything that the model is for happened less often than it should have, over a run of `sequences`.
pub(crate) fn check(tally: &Tally, sequences: u64) {
    let rules = ugas_core::Rules::builder().build().expect("nothing is wrong with nothing");
    let tasks = rules.task_kinds().map(|(_, name, _)| name);
    // What asks for a validation is no task of a list.
    let tasks: Vec<&str> = tasks.filter(|t| *t != "Validate").collect();
    let waits = tasks.iter().filter(|t| t.starts_with("Wait"));
    let mut wanted: Vec<(String, u64)> = Vec::new();
    wanted.extend(tasks.iter().map(|t| (format!("Task {t}"), 10)));
    wanted.extend(waits.map(|t| (format!("TaskEnded {t} Completed"), 2)));
    wanted.extend(ORDER.iter().chain(&["Pending", "NotGranted", "Ok"]).map(|r| (format!("Activate {r}"), 5)));
    for form in ["Event", "TagAdded", "TagPresent", "Below", "Above", "EffectApplied", "Passive"] {
        wanted.push((format!("Trigger {form} Ok"), 2));
    }
    for fact in [
        "AbilityEnded cancelled false",
        "AbilityEnded cancelled true",
        "Cast Started",
        "Cast Tick",
        "Cast Finished",
        "Cast Cancelled",
        "Cast Interrupted",
        "Charges",
        "GlobalCooldown Default running",
        "Damage Damage Direct",
        "Damage Damage Periodic",
        "Damage Damage Area",
        "Damage Healing Direct",
        "Damage Threat Direct",
        "GameplayEvent Event.Damage.Dealt",
        "SetGranted",
        "SetRevoked",
        "Revoked",
        "Possessed",
        "Restored",
        "Died Health",
        "ExecutionRestricted",
        "Execution refused",
        "Frozen execution",
        "Joined after removal",
        "Queued after removal",
        "Activate Static",
        "Resource R0 Added",
        "Resource R0 Changed",
        "Resource R0 Removed",
    ] {
        wanted.push((fact.to_owned(), 2));
    }
    for (what, least) in [
        ("StartLife", 500),
        ("Setup", 500),
        ("Activated", 500),
        ("Deactivated", 300),
        ("EndCapability", 200),
        ("EndLife", 200),
        ("tick", 300),
        ("blocked", 50),
        ("removed its set", 10),
        ("activates an ability", 10),
        ("leaves", 10),
        ("arrives", 5),
        ("waits", 1),
        ("by resource", 20),
    ] {
        wanted.push((format!("Capability {what}"), least));
    }
    // `why_not` compared with an activation: a hundred thousand times in 1,500 sequences.
    wanted.push(("why_not".to_owned(), 34_000));
    let found = |what: &str| tally.get(what).copied().unwrap_or(0);
    let lacking = wanted.iter().filter(|(what, least)| found(what) * 500 < least * sequences);
    let rare = ["Trigger Died Ok", "TargetLost Cancel", "TargetLost Complete"];
    assert!(rare.iter().all(|what| found(what) > 0), "one of {rare:?} never happened");
    let lacking: Vec<String> = lacking.map(|(what, least)| format!("{what}: {} of {least}", found(what))).collect();
    assert!(lacking.is_empty(), "too seldom, per 500 sequences: {lacking:#?}");
    assert!(found("Storm") * 20 < sequences, "too many sequences end early: {}", found("Storm"));
}
