//! Compiled tasks: one variant per task type, with typed parameters.

use super::code::CustomDef;
use super::expr::Expr;
use super::tag::TagQuery;
use super::task_parse::{BUILT_IN, BuiltIn};
use super::timeline::AnswerDef;
use crate::{AbilityId, AttributeId, EffectId, InputId, KeyId, ParamId, SimTime, TagId, TaskKindId, TimelineId};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::Value;

/// What starts or wakes a task.
///
/// ```
/// use ugas_core::{Rules, TaskCategory};
/// let rules = Rules::builder().build().unwrap();
/// assert_eq!(rules.task_category("WaitDelay"), Some(TaskCategory::Temporal));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskCategory {
    /// Completes immediately.
    Action,
    /// Sends a request to the engine and continues.
    Request,
    /// A timer.
    Temporal,
    /// A gameplay event, or an event of effects or abilities.
    Event,
    /// A press or a release.
    Input,
    /// A tag or an attribute.
    State,
    /// A spatial query.
    Spatial,
    /// An animation.
    Animation,
    /// Runs other tasks.
    Composite,
    /// Code of the host.
    Custom,
}

impl TaskCategory {
    /// Returns the default interval of a ticking task of this category: every frame, or ten times a second for a
    /// spatial task that is not critical; `None` for categories that are woken by events.
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
            _ => None,
        }
    }
}

/// A number of a task: a constant, an expression evaluated when the task starts, or a count of frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Num {
    Value(f64),
    Expr(Expr),
    /// `12f`; as seconds n times the sim's frame.
    Frames(u32),
}

/// What a failed task does to its ability.
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
    /// Time between ticks of a ticking task; zero is every frame. `None`: it does not tick.
    pub(crate) interval: Option<SimTime>,
    pub(crate) priority: i32,
    /// Waits only: seconds until it fails.
    pub(crate) time_out: Option<Num>,
    pub(crate) on_fail: OnFail,
    /// Seams: the timeline's answer in place of the engine's.
    pub(crate) answer: Option<AnswerDef>,
    /// The authored parameters, encoded as the detail of a fact.
    pub(crate) request: Box<[u8]>,
    /// `Tasks[2].Then[0]`.
    pub(crate) path: Arc<str>,
}

/// A selection of effects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EffectPick {
    Effect(EffectId),
    /// Any of these among its EffectTags or GrantedTags, hierarchical.
    Tags(Box<[TagId]>),
}

/// A selection of abilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AbilityPick {
    Ability(AbilityId),
    /// Any of these among its AbilityTags, hierarchical.
    Tags(Box<[TagId]>),
}

/// An effect and its application parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyDef {
    pub(crate) effect: EffectId,
    /// The activation's level by default.
    pub(crate) level: Option<Num>,
    pub(crate) stacks: Option<Num>,
    /// Seconds, replacing the effect's own.
    pub(crate) duration: Option<Num>,
    pub(crate) by_caller: Box<[(KeyId, Num)]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemoveDef {
    pub(crate) what: EffectPick,
    /// All stacks by default.
    pub(crate) stacks: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EventTo {
    #[default]
    Owner,
    /// The activation's target.
    Target,
    /// All targets found so far.
    Targets,
}

/// The new target of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetPick {
    /// The nearest other controller.
    Nearest,
    Owner,
    /// The instigator.
    Instigator,
    Nobody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    LessThan,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    pub(crate) fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::LessThan => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterEqual => a >= b,
        }
    }
}

/// The step of an ability that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbilityStep {
    Activated,
    Committed,
    Ended,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TaskKind {
    // Actions: never sleep.
    ApplyToOwner(ApplyDef),
    ApplyToTarget(ApplyDef),
    ApplyInRadius {
        apply: ApplyDef,
        radius: Num,
        ignore: Box<[TagId]>,
        max: Option<u32>,
    },
    RemoveFromOwner(RemoveDef),
    RemoveFromTarget(RemoveDef),
    Commit,
    End {
        cancelled: bool,
    },
    CancelAbility(AbilityPick),
    SendEvent {
        tag: TagId,
        to: EventTo,
        magnitude: Option<Num>,
    },
    SetParam {
        param: ParamId,
        value: Num,
    },
    SetRestriction {
        name: ParamId,
        active: bool,
    },
    SetTarget {
        pick: TargetPick,
        /// Without a radius every controller is in range.
        radius: Option<Num>,
        ignore: Box<[TagId]>,
    },
    ExecuteCue(TagId),
    AddCue(TagId),
    RemoveCue(TagId),
    // Requests: a fact for the engine, never sleep.
    PlayMontage {
        montage: Arc<str>,
        rate: Num,
        timeline: Option<TimelineId>,
    },
    SpawnProjectile {
        effect: Option<EffectId>,
    },
    Request {
        name: Arc<str>,
    },
    // Waits.
    /// Seconds of the owner's clock.
    WaitDelay {
        duration: Num,
    },
    /// Seconds of the sim's clock.
    WaitGameTime {
        time: Num,
    },
    /// `body`: where the tasks for each event start, or `NO_PC`.
    WaitGameplayEvent {
        tag: TagId,
        once: bool,
        body: u16,
    },
    /// Added or removed.
    WaitTag {
        tag: TagId,
        added: bool,
    },
    WaitTagChanged {
        tag: TagId,
        once: bool,
    },
    WaitTagQuery(TagQuery),
    WaitAttributeChange {
        attribute: AttributeId,
        once: bool,
    },
    WaitAttributeThreshold {
        attribute: AttributeId,
        comparison: Comparison,
        value: Num,
    },
    /// Applied or removed.
    WaitEffect {
        what: EffectPick,
        applied: bool,
    },
    WaitAbility {
        what: AbilityPick,
        step: AbilityStep,
    },
    /// The grant's own input by default.
    WaitInputPressed {
        input: Option<InputId>,
    },
    WaitInputRelease {
        input: Option<InputId>,
    },
    // Seams: the engine or a timeline answers.
    /// Any montage by default.
    WaitMontageEnded {
        montage: Option<Arc<str>>,
    },
    /// By tag if the text is one; always by name.
    WaitAnimationEvent {
        name: Arc<str>,
        tag: Option<TagId>,
    },
    WaitTargetData {
        method: Arc<str>,
        max_range: Option<Num>,
    },
    // Seams that tick.
    WaitOverlap {
        radius: Option<Num>,
        filter: Option<TagQuery>,
    },
    WaitForTarget {
        max_range: Option<Num>,
    },
    /// Code of the host.
    Custom(CustomDef),
}

impl TaskKind {
    /// Returns whether it may wait: such a task is not allowed in OnTick, OnCancel and similar lists.
    pub(crate) fn waits(&self) -> bool {
        !matches!(
            self,
            TaskKind::ApplyToOwner(_)
                | TaskKind::ApplyToTarget(_)
                | TaskKind::ApplyInRadius { .. }
                | TaskKind::RemoveFromOwner(_)
                | TaskKind::RemoveFromTarget(_)
                | TaskKind::Commit
                | TaskKind::End { .. }
                | TaskKind::CancelAbility(_)
                | TaskKind::SendEvent { .. }
                | TaskKind::SetParam { .. }
                | TaskKind::SetRestriction { .. }
                | TaskKind::SetTarget { .. }
                | TaskKind::ExecuteCue(_)
                | TaskKind::AddCue(_)
                | TaskKind::RemoveCue(_)
                | TaskKind::PlayMontage { .. }
                | TaskKind::SpawnProjectile { .. }
                | TaskKind::Request { .. }
        )
    }

    /// Returns whether the engine answers it: it has a request fact and a task key.
    pub(crate) fn is_seam(&self) -> bool {
        matches!(
            self,
            TaskKind::WaitMontageEnded { .. }
                | TaskKind::WaitAnimationEvent { .. }
                | TaskKind::WaitTargetData { .. }
                | TaskKind::WaitOverlap { .. }
                | TaskKind::WaitForTarget { .. }
        )
    }
}

/// Returns the built-in type of this name.
pub(crate) fn built_in(name: &str) -> Option<(TaskKindId, &'static BuiltIn)> {
    let at = BUILT_IN.iter().position(|b| b.name == name)?;
    Some((TaskKindId(at as u32), &BUILT_IN[at]))
}

pub(crate) fn category(name: &str) -> Option<TaskCategory> {
    built_in(name).map(|(_, b)| b.category)
}

/// Encodes the authored parameters as the detail of a fact: entries `[u16 key length][key][u8 type][payload]`,
/// little-endian. Types: 0 nothing, 1 one byte 0 or 1, 2 f64, 3 `[u32 length][UTF-8]`, 4 three f64. Maps and lists are
/// flat: their entries are keyed `Key.Inner` and `Key.0`.
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
        _ => {}
    }
    // A longer key would overflow its length field; no document has one.
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
