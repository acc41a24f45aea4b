//! The parts that compiled tasks of all types have in common.

use super::client::ClientAccess;
use super::expr::Expr;
use super::timeline::AnswerDef;
use crate::task::TaskKind;
use crate::{AbilityId, EffectId, SimTime, TagId, TaskKindId};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::Value;

/// The category of a task type: what starts or wakes its tasks.
///
/// ```
/// use ugas_core::{Rules, TaskCategory};
/// let rules = Rules::builder().build().unwrap();
/// assert_eq!(rules.task_category("WaitDelay"), Some(TaskCategory::Temporal));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskCategory {
    /// The task acts and completes immediately.
    Action,
    /// The task sends a request to the engine and does not wait for an answer.
    Request,
    /// A timer wakes the task.
    Temporal,
    /// A gameplay event, or an event of an effect or ability, wakes the task.
    Event,
    /// A pressed or released input wakes the task.
    Input,
    /// A change of a tag or an attribute wakes the task.
    State,
    /// The task ticks and sends spatial queries to the host.
    Spatial,
    /// An animation wakes the task.
    Animation,
    /// The task runs other tasks.
    Composite,
    /// Host code runs the task and decides when the task completes.
    Custom,
}

impl TaskCategory {
    /// Returns the default tick interval of tasks of this category: every frame, or ten times a second for a spatial
    /// task that is not critical. Returns `None` for categories that are woken by events.
    ///
    /// ```
    /// use ugas_core::{SimTime, TaskCategory};
    /// assert_eq!(TaskCategory::Spatial.interval(true), Some(SimTime::ZERO));
    /// assert_eq!(TaskCategory::Spatial.interval(false), Some(SimTime::millis(100)));
    /// assert_eq!(TaskCategory::Event.interval(true), None);
    /// ```
    pub const fn interval(self, critical: bool) -> Option<SimTime> {
        match self {
            TaskCategory::Spatial if !critical => Some(SimTime::millis(100)),
            TaskCategory::Spatial | TaskCategory::Temporal | TaskCategory::Animation => Some(SimTime::ZERO),
            TaskCategory::Action
            | TaskCategory::Request
            | TaskCategory::Event
            | TaskCategory::Input
            | TaskCategory::State
            | TaskCategory::Composite
            | TaskCategory::Custom => None,
        }
    }
}

/// A number of a task: a constant, an expression evaluated when the task starts, or a count of frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Num {
    Value(f64),
    Expr(Expr),
    /// `12f`: a number of frames of the sim.
    Frames(u32),
}

/// The consequence of a failed task for its ability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFail {
    #[default]
    Continue,
    End,
    Cancel,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskDef {
    pub(crate) kind: TaskKind,
    pub(crate) name: TaskKindId,
    /// The time between ticks. Zero means every frame. `None` if the task does not tick.
    pub(crate) interval: Option<SimTime>,
    pub(crate) priority: i32,
    /// The time after which a waiting task fails.
    pub(crate) time_out: Option<Num>,
    pub(crate) on_fail: OnFail,
    /// The timeline's answer, which replaces the engine's answer for a task that the host answers.
    pub(crate) answer: Option<AnswerDef>,
    /// What the owning client may do while the task waits.
    pub(crate) client: ClientAccess,
    /// The authored parameters, encoded as the detail of a fact.
    pub(crate) request: Box<[u8]>,
    /// The position in the document, e.g. `Tasks[2].Then[0]`.
    pub(crate) path: Arc<str>,
}

/// A selection of effects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EffectPick {
    Effect(EffectId),
    /// Effects that have or grant any of these tags or their descendants.
    Tags(Box<[TagId]>),
}

/// A selection of abilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AbilityPick {
    Ability(AbilityId),
    /// Abilities that have any of these tags or their descendants.
    Tags(Box<[TagId]>),
}

/// The receivers of a task's event or effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventTo {
    #[default]
    Owner,
    /// The activation's target.
    Target,
    /// All targets found so far.
    Targets,
}

/// Encodes the authored parameters as the detail of a fact: entries `[u16 key length][key][u8 type][payload]`,
/// little-endian. Types: 0 nothing, 1 one byte 0 or 1, 2 f64, 3 `[u32 length][UTF-8]`, 4 three f64. Maps and lists are
/// flattened: their entries have the keys `Key.Inner` and `Key.0`.
pub(crate) fn encode_params(params: &BTreeMap<String, Value>) -> Box<[u8]> {
    let mut out = Vec::new();
    for (key, value) in params {
        encode(key, value, &mut out);
    }
    out.into()
}

fn encode(key: &str, value: &Value, out: &mut Vec<u8>) {
    let three = |list: &[Value]| match list {
        [Value::Number(x), Value::Number(y), Value::Number(z)] => Some([*x, *y, *z]),
        _ => None,
    };
    match value {
        Value::Map(map) => {
            for (inner, value) in map {
                encode(&format!("{key}.{inner}"), value, out);
            }
            return;
        }
        Value::List(list) if three(list).is_none() => {
            for (i, value) in list.iter().enumerate() {
                encode(&format!("{key}.{i}"), value, out);
            }
            return;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {}
    }
    // A key that is too long for its length field is skipped.
    let Ok(length) = u16::try_from(key.len()) else { return };
    out.extend(length.to_le_bytes());
    out.extend(key.as_bytes());
    match value {
        Value::Bool(b) => out.extend([1, u8::from(*b)]),
        Value::Number(n) => {
            out.push(2);
            out.extend(n.to_le_bytes());
        }
        Value::Text(t) => {
            out.push(3);
            out.extend((t.len() as u32).to_le_bytes());
            out.extend(t.as_bytes());
        }
        Value::List(list) => {
            out.push(4);
            three(list).into_iter().flatten().for_each(|n| out.extend(n.to_le_bytes()));
        }
        Value::Null | Value::Map(_) => out.push(0),
    }
}
