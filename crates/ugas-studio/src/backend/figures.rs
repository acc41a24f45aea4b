//! Statistics: counts, the cost of tasks by type, and the cost of capabilities by class.

use crate::capability;
use serde_json::{Map, Value, json};
use ugas_core::{ControllerId, Sim, TaskRecord};

/// Returns the statistics of a world; `last` contains the task records of its last frame.
pub(crate) fn of_sim(sim: &Sim, last: &[TaskRecord]) -> Map<String, Value> {
    let rules = sim.rules();
    let tasks: Vec<Value> = sim
        .task_figures()
        .iter()
        .map(|f| {
            let now = last.iter().find(|r| r.task == f.task);
            json!({
                "task": rules.task_kind_name(f.task),
                "instances": now.map_or(0, |r| r.running),
                "ticked": now.map_or(0, |r| r.ticked),
                "deferred": now.map_or(0, |r| r.deferred),
                "frame_us": now.map_or(0.0, |r| r.nanos as f64 / 1e3),
                "ticks": f.ticks,
                "sum_us": f.nanos as f64 / 1e3,
                "average_us": f.average() / 1e3,
                "rate": f.rate(),
            })
        })
        .collect();
    let count = |of: &dyn Fn(ControllerId) -> usize| sim.controllers().map(of).sum::<usize>();
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for who in sim.controllers() {
        for task in sim.tasks(who).unwrap_or_default() {
            let name = rules.task_kind_name(task.kind).unwrap_or("?");
            match kinds.iter_mut().find(|(kind, _)| kind == name) {
                Some((_, n)) => *n += 1,
                None => kinds.push((name.to_owned(), 1)),
            }
        }
    }
    kinds.sort();
    let figures = json!({
        "tasks": tasks,
        "capability_costs": capability::costs(sim),
        "waiting": kinds,
        "controllers": sim.controllers().count(),
        "effects": count(&|who| sim.each_effect(who).map_or(0, Iterator::count)),
        "attributes": count(&|who| sim.attributes(who).map_or(0, |a| a.len())),
        "tags": count(&|who| sim.tags(who).map_or(0, |t| t.len())),
        "abilities": count(&|who| sim.grants(who).map_or(0, |g| g.len())),
        "capabilities": count(&|who| sim.capability_counts(who).map_or(0, |c| c.total as usize)),
        "running": count(&|who| sim.activations(who).map_or(0, Iterator::count)),
        "waiting_tasks": count(&|who| sim.tasks(who).map_or(0, |t| t.len())),
    });
    match figures {
        Value::Object(figures) => figures,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
