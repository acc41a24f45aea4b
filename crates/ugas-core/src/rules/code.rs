//! Tasks written in code. The host registers a task type under the name that documents use.
//!
//! Between calls, the state of a custom task is encoded into its controller's state, so a waiting custom task is
//! captured, saved and hashed like a built-in one. A custom task reads its owner and returns outputs. A custom task
//! does not change the sim, so a cancelled task has no changes to undo.

use super::compile::Compiler;
use super::{Rules, RulesBuilder};
use crate::task::built_in;
use crate::{AbilityId, AttributeId, ControllerId, EffectId, EventData, InputId, SimTime, TagId, TaskKindId};
use serde::{Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use ugas_doc::Value;

/// The result of a call to a custom task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progression {
    /// The task keeps waiting.
    Wait,
    /// The task emits a value and keeps waiting.
    Output(f64),
    /// The task is complete, and the ability continues with this value.
    Complete(f64),
    /// The task failed.
    Fail,
}

/// The kinds of events that can wake a custom task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeKind {
    /// A tag is added or removed.
    Tags,
    /// An attribute changes.
    Attributes,
    /// An effect is applied or removed.
    Effects,
    /// A gameplay event is received.
    Events,
    /// An input is pressed or released.
    Input,
}

/// An event on the owner of a custom task that wakes the task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WakeEvent<'a> {
    /// A tag was added or removed.
    Tag {
        /// The tag.
        tag: TagId,
        /// Whether the tag was added; otherwise it was removed.
        added: bool,
    },
    /// An attribute changed.
    Attribute {
        /// The attribute.
        attribute: AttributeId,
        /// The value before the change.
        old: f64,
        /// The value after the change.
        new: f64,
    },
    /// An effect was applied or removed.
    Effect {
        /// The effect.
        effect: EffectId,
        /// Whether the effect was applied; otherwise it was removed.
        applied: bool,
    },
    /// A gameplay event was received.
    Event(&'a EventData),
    /// An input was pressed or released.
    Input {
        /// The input.
        input: InputId,
        /// Whether the input is pressed now.
        pressed: bool,
        /// How long the input was held.
        held: SimTime,
    },
}

/// The read-only context of a custom task.
pub struct TaskCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) who: ControllerId,
    pub(crate) ability: AbilityId,
    pub(crate) level: u32,
    pub(crate) now: SimTime,
    pub(crate) params: &'a BTreeMap<String, Value>,
    pub(crate) values: &'a dyn Fn(AttributeId) -> Option<f64>,
    pub(crate) tags: &'a dyn Fn(TagId) -> bool,
}

impl TaskCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the controller that owns the ability.
    pub fn who(&self) -> ControllerId {
        self.who
    }
    /// Returns the ability.
    pub fn ability(&self) -> AbilityId {
        self.ability
    }
    /// Returns the activation's level.
    pub fn level(&self) -> u32 {
        self.level
    }
    /// Returns the current time of the owner's clock.
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// Returns the current value of an attribute of the owner.
    pub fn get(&self, attribute: AttributeId) -> Option<f64> {
        (self.values)(attribute)
    }
    /// Returns whether the owner has a tag or a descendant of it.
    pub fn has(&self, tag: TagId) -> bool {
        (self.tags)(tag)
    }
    /// Returns a parameter as the document defines it.
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.params.get(name)
    }
    /// Returns a parameter that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.params.get(name) {
            Some(Value::Number(n)) => Some(*n),
            _ => None,
        }
    }
    /// Returns a parameter that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.params.get(name) {
            Some(Value::Text(t)) => Some(t),
            _ => None,
        }
    }
}

/// A task type implemented by the host.
///
/// ```
/// use ugas_core::{CustomTask, Progression, Rules, TaskCx};
/// use ugas_doc::Ability;
/// struct Countdown;
/// impl CustomTask for Countdown {
///     type State = u32;
///     fn activate(&self, left: &mut u32, cx: &TaskCx<'_>) -> Progression {
///         *left = cx.number("Count").unwrap_or(3.0) as u32;
///         Progression::Wait
///     }
///     fn tick(&self, left: &mut u32, _: ugas_core::SimTime, _: &TaskCx<'_>) -> Progression {
///         *left -= 1;
///         if *left == 0 { Progression::Complete(1.0) } else { Progression::Wait }
///     }
///     fn interval(&self) -> Option<ugas_core::SimTime> {
///         Some(ugas_core::SimTime::ZERO)
///     }
/// }
/// assert!(Rules::builder().add(Ability::new("GA_A")).task("Countdown", Countdown).build().is_ok());
/// ```
pub trait CustomTask: Send + Sync + 'static {
    /// The state that is kept between calls, at most 256 bytes as JSON.
    type State: Default + Serialize + DeserializeOwned;

    /// Starts the task. The runtime calls this function exactly once.
    fn activate(&self, state: &mut Self::State, cx: &TaskCx<'_>) -> Progression;

    /// Handles an event that the task listens to.
    fn wake(&self, _state: &mut Self::State, _event: WakeEvent<'_>, _cx: &TaskCx<'_>) -> Progression {
        Progression::Wait
    }

    /// Runs after each [`interval`](CustomTask::interval). `dt` is the time since the last tick, on the owner's clock.
    fn tick(&self, _state: &mut Self::State, _dt: SimTime, _cx: &TaskCx<'_>) -> Progression {
        Progression::Wait
    }

    /// Ends the task. The runtime calls this function exactly once, whether the task completed or not.
    fn end(&self, _state: &mut Self::State, _completed: bool, _cx: &TaskCx<'_>) {}

    /// Returns the kinds of events that wake the task.
    fn wakes_on(&self) -> &[WakeKind] {
        &[]
    }

    /// Returns the time between ticks. With zero, the task ticks every frame. With `None`, the task does not tick.
    fn interval(&self) -> Option<SimTime> {
        None
    }

    /// Returns the priority of the task. If not all tasks can tick in a frame, tasks with a higher priority tick first.
    fn priority(&self) -> i32 {
        0
    }
}

/// The function of a custom task to call.
#[derive(Clone, Copy)]
pub(crate) enum TaskCall<'a> {
    Activate,
    Wake(WakeEvent<'a>),
    Tick(SimTime),
    End(bool),
}

/// A custom task with its state encoded as bytes.
pub(crate) trait ErasedTask: Send + Sync {
    fn call(&self, state: &mut Vec<u8>, call: TaskCall<'_>, cx: &TaskCx<'_>) -> Progression;
    fn wakes_on(&self) -> &[WakeKind];
    fn interval(&self) -> Option<SimTime>;
    fn priority(&self) -> i32;
}

/// Maximum size of a state in bytes.
const STATE: usize = 256;

impl<T: CustomTask> ErasedTask for T {
    fn call(&self, bytes: &mut Vec<u8>, call: TaskCall<'_>, cx: &TaskCx<'_>) -> Progression {
        let read = |bytes: &[u8]| serde_json::from_slice::<T::State>(bytes).ok();
        let state = if bytes.is_empty() { Some(T::State::default()) } else { read(bytes) };
        // A task whose state cannot be decoded fails.
        let Some(mut state) = state else { return Progression::Fail };
        let progress = match call {
            TaskCall::Activate => self.activate(&mut state, cx),
            TaskCall::Wake(event) => self.wake(&mut state, event, cx),
            TaskCall::Tick(dt) => self.tick(&mut state, dt, cx),
            TaskCall::End(completed) => {
                self.end(&mut state, completed, cx);
                return Progression::Wait;
            }
        };
        match serde_json::to_vec(&state) {
            Ok(new) if new.len() <= STATE && read(&new).is_some() => *bytes = new,
            // A task whose state cannot be encoded fails.
            _ => return Progression::Fail,
        }
        progress
    }
    fn wakes_on(&self) -> &[WakeKind] {
        CustomTask::wakes_on(self)
    }
    fn interval(&self) -> Option<SimTime> {
        CustomTask::interval(self)
    }
    fn priority(&self) -> i32 {
        CustomTask::priority(self)
    }
}

/// A registered task type.
#[derive(Clone)]
pub(crate) struct TaskCode(pub(crate) Arc<dyn ErasedTask>);

impl fmt::Debug for TaskCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskCode")
    }
}

impl Compiler<'_> {
    /// Stores the code of a task type.
    pub(crate) fn custom_task(&mut self, name: &str, code: Arc<dyn ErasedTask>) {
        if built_in(name).is_some() {
            self.about(name, None);
            return self.error("duplicate-name", format!("the task type {name} is built in; choose another name"));
        }
        let rules = self.rules.to_mut();
        let id = TaskKindId(rules.task_names.intern(name));
        rules.task_code.insert(id, TaskCode(code));
    }
}

impl RulesBuilder {
    /// Registers a task type under the name that documents use. The name of a built-in type is rejected when the rules
    /// are built.
    pub fn task(mut self, name: impl Into<String>, code: impl CustomTask) -> RulesBuilder {
        self.tasks.push((name.into(), Arc::new(code)));
        self
    }
}
