//! Parameters of tasks: numbers and expressions as they are when the task starts.

use super::effects::flicks;
use super::expr;
use super::task::FRAME;
use super::world::World;
use std::collections::BTreeMap;
use ugas_doc::{AbilityTask, Value};

impl World {
    pub(crate) fn read(&self, who: u32, act: u64, name: &str) -> Option<f64> {
        self.read_at(who, act, name, None)
    }

    /// The same while an effect is applied: its target is the target of the expression.
    fn read_at(&self, who: u32, act: u64, name: &str, aim: Option<u32>) -> Option<f64> {
        let a = self.act(who, act)?;
        match name {
            "level" => Some(a.level as f64),
            "held" => Some(a.held),
            "found" => Some(a.targets.len() as f64),
            "cast.Tick" => Some(a.tick as f64),
            "event.Magnitude" => a.event.as_ref().map(|e| e.magnitude),
            _ => match name.split_once('.') {
                Some(("param", name)) => self.grant(who, a.grant)?.params.get(name).copied(),
                _ => {
                    let source = a.event.as_ref().map_or(Some(who), |e| super::play::controller_or_none(e.instigator));
                    self.look(name, who, source, aim.or(a.targets.first().copied()).or(a.target))
                }
            },
        }
    }

    pub(crate) fn number_of(&self, who: u32, act: u64, value: &Value, aim: Option<u32>) -> Option<f64> {
        let v = match value {
            Value::Number(n) => *n,
            Value::Text(t) => expr::value(t, &|name| self.read_at(who, act, name, aim))?,
            _ => return None,
        };
        v.is_finite().then_some(v + 0.0)
    }

    pub(crate) fn number(&self, who: u32, act: u64, task: &AbilityTask, name: &str) -> Option<f64> {
        self.number_of(who, act, task.params.get(name)?, None)
    }

    pub(crate) fn length_of(&self, who: u32, act: u64, task: &AbilityTask, name: &str) -> Option<i64> {
        if let Some(frames) = text(task, name).and_then(|t| t.strip_suffix('f')?.parse::<i64>().ok()) {
            return Some(frames * FRAME);
        }
        self.number(who, act, task, name).map(|v| flicks(v).max(0))
    }
}

pub(crate) fn text<'t>(task: &'t AbilityTask, name: &str) -> Option<&'t str> {
    match task.params.get(name) {
        Some(Value::Text(t)) => Some(t),
        _ => None,
    }
}

pub(crate) fn tags(task: &AbilityTask, name: &str) -> Vec<String> {
    match task.params.get(name) {
        Some(Value::Text(t)) => vec![t.clone()],
        Some(Value::List(list)) => {
            list.iter().filter_map(|v| if let Value::Text(t) = v { Some(t.clone()) } else { None }).collect()
        }
        _ => Vec::new(),
    }
}

pub(crate) fn as_number(value: &Value) -> Option<f64> {
    if let Value::Number(n) = value { Some(*n) } else { None }
}

pub(crate) fn compares(task: &AbilityTask, a: f64, b: f64) -> bool {
    match text(task, "Comparison") {
        Some("LessThan") => a < b,
        Some("LessEqual") => a <= b,
        Some("Greater") => a > b,
        _ => a >= b,
    }
}

pub(crate) fn is_host_answered(task: &AbilityTask) -> bool {
    ["WaitMontageEnded", "WaitAnimationEvent", "WaitTargetData", "WaitOverlap", "WaitForTarget"].contains(&&*task.kind)
}

pub(crate) fn finds_targets(task: &AbilityTask) -> bool {
    ["WaitTargetData", "WaitOverlap", "WaitForTarget"].contains(&&*task.kind)
}

/// Parameters as a request shows them.
pub(crate) fn shown(params: &BTreeMap<String, Value>) -> String {
    let one = |(name, value): (&String, &Value)| match value {
        Value::Number(n) => format!(" {name}={n}"),
        Value::Text(t) => format!(" {name}={t}"),
        Value::Bool(b) => format!(" {name}={b}"),
        _ => String::new(),
    };
    params.iter().map(one).collect()
}
