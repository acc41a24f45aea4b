//! Task types: one file per type, or per family of types that differ in one value.
//!
//! The file of a type defines its parameters, parses them, and implements the task with the trait [`TaskType`]. To add
//! a type, write its file, add its `mod` line, and add one line to [`task_types`]. The table generates [`TaskKind`],
//! the names and the dispatch. The order of the table defines the ids, so new lines are added at the end.
//!
//! Code that all types share is elsewhere: `rules/assemble.rs` compiles task lists, and `flow/task` runs them.

mod apply_effect;
mod cancel_ability;
mod commit_ability;
mod cue;
mod custom;
mod end_ability;
mod play_montage;
mod remove_effect;
mod request;
mod send_event;
mod set_param;
mod set_restriction;
mod set_target;
mod spawn_projectile;
mod validate;
mod wait_ability;
mod wait_animation_event;
mod wait_attribute_change;
mod wait_attribute_threshold;
mod wait_delay;
mod wait_effect;
mod wait_for_target;
mod wait_game_time;
mod wait_gameplay_event;
mod wait_input;
mod wait_montage_ended;
mod wait_overlap;
mod wait_tag;
mod wait_tag_changed;
mod wait_tag_query;
mod wait_target_data;

pub(crate) use custom::Custom;
pub(crate) use remove_effect::RemoveDef;

use crate::flow::{Flow, RowEvent, Step, TaskAt, Waiting, WaitingTask};
use crate::rules::{AbilityDef, Fields, NO_PC, TaskCategory};
use crate::sim::SpaceQuery;
use crate::state::Task;
use crate::{ControllerId, EffectId, SimTime, TaskKindId, TimelineId};
use ugas_doc::{Ability, AbilityTask};

/// The built-in task types; the position after the composites is the id.
macro_rules! task_types {
    ($generate:ident $($input:tt)*) => {
        $generate! {
            ($($input)*)
            ApplyEffectToOwner: apply_effect::ApplyEffectToOwner,
            ApplyEffectToTarget: apply_effect::ApplyEffectToTarget,
            ApplyEffectToActorsInRadius: apply_effect::ApplyEffectToActorsInRadius,
            RemoveEffectFromOwner: remove_effect::RemoveEffectFromOwner,
            RemoveEffectFromTarget: remove_effect::RemoveEffectFromTarget,
            CommitAbility: commit_ability::CommitAbility,
            EndAbility: end_ability::EndAbility,
            CancelAbility: cancel_ability::CancelAbility,
            SendEvent: send_event::SendEvent,
            SetParam: set_param::SetParam,
            SetRestriction: set_restriction::SetRestriction,
            ExecuteCue: cue::ExecuteCue,
            AddCue: cue::AddCue,
            RemoveCue: cue::RemoveCue,
            PlayMontage: play_montage::PlayMontage,
            SpawnProjectile: spawn_projectile::SpawnProjectile,
            Request: request::Request,
            WaitDelay: wait_delay::WaitDelay,
            WaitGameTime: wait_game_time::WaitGameTime,
            WaitGameplayEvent: wait_gameplay_event::WaitGameplayEvent,
            WaitTagAdded: wait_tag::WaitTag<true>,
            WaitTagRemoved: wait_tag::WaitTag<false>,
            WaitTagChanged: wait_tag_changed::WaitTagChanged,
            WaitTagQuery: wait_tag_query::WaitTagQuery,
            WaitAttributeChange: wait_attribute_change::WaitAttributeChange,
            WaitAttributeThreshold: wait_attribute_threshold::WaitAttributeThreshold,
            WaitEffectApplied: wait_effect::WaitEffect<true>,
            WaitEffectRemoved: wait_effect::WaitEffect<false>,
            WaitAbilityActivated: wait_ability::WaitAbilityActivated,
            WaitAbilityCommitted: wait_ability::WaitAbilityCommitted,
            WaitAbilityEnded: wait_ability::WaitAbilityEnded,
            WaitInputPressed: wait_input::WaitInputPressed,
            WaitInputRelease: wait_input::WaitInputRelease,
            WaitMontageEnded: wait_montage_ended::WaitMontageEnded,
            WaitAnimationEvent: wait_animation_event::WaitAnimationEvent,
            WaitTargetData: wait_target_data::WaitTargetData,
            WaitOverlap: wait_overlap::WaitOverlap,
            WaitForTarget: wait_for_target::WaitForTarget,
            Validate: validate::Validate,
            SetTarget: set_target::SetTarget,
        }
    };
}

/// Whether tasks of a type tick, and how urgently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    Never,
    Normal,
    Critical,
}

/// How tasks of a type use the target of their activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetUse {
    /// The task does not use the target, or uses it only if a parameter says so.
    None,
    /// The task acts on the targets of the activation and does nothing without a target.
    ActsOn,
    /// The task sets the target when it starts.
    Sets,
    /// The answer of the host sets the targets.
    Finds,
}

impl TargetUse {
    /// Returns whether a list or a list nested in it has a task that uses the target in this way.
    pub(crate) fn is_in(self, tasks: &[AbilityTask]) -> bool {
        tasks.iter().any(|t| {
            BUILT_IN.iter().any(|b| b.target_use == self && b.name == t.kind)
                || self.is_in(&t.tasks)
                || self.is_in(&t.then)
                || self.is_in(&t.r#else)
        })
    }
}

/// What the start of a task can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskReach {
    /// The record, grant and cues of the task's own ability. The task neither applies effects nor ends other abilities.
    OwnAbility,
    /// An effect is applied to the owner.
    AppliesToOwner(EffectId),
    /// Any row.
    AnyRow,
}

/// A task type. An action only implements `parse` and `start`. The other functions are for tasks that wait.
pub(crate) trait TaskType: Sized {
    const CATEGORY: TaskCategory;
    const TICKS: Ticks = Ticks::Never;
    /// Whether the engine or a timeline answers the task. The start of such a task emits a request with a task key.
    const IS_HOST_ANSWERED: bool = false;
    /// Whether the owning client may answer tasks of the type, unless the parameter `ClientAnswers` decides otherwise.
    const CLIENT_ANSWERS: bool = false;
    const TARGET_USE: TargetUse = TargetUse::None;
    /// Whether the task has nested tasks, which it runs for each event. Such a type implements `body` and `set_body`.
    const ACCEPTS_TASKS: bool = false;
    /// Whether the task completes when its timer fires. For other types, the timer is a timeout or a timeline's answer.
    const COMPLETES_ON_TIMER: bool = false;

    /// Parses the parameters. Returns `None` if the parameters are invalid; the error is then already reported.
    fn parse(fields: &mut Fields<'_, '_, '_>) -> Option<Self>;

    /// Starts the task: acts, or waits with one of the calls in `flow/task/start.rs`.
    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step;

    /// Returns what the start of the task can change. The default is always correct; a narrower answer makes the undo of
    /// a refused application cheaper.
    fn reach(&self) -> TaskReach {
        TaskReach::AnyRow
    }

    /// Returns the kinds of events that wake the task, as `alert` bits.
    fn wakes_on(&self) -> u8 {
        0
    }

    /// Returns the value of an event for the waiting task, or `None` if the task does not wait for this event.
    fn event_value(&self, _: &Flow<'_>, _: &Waiting<'_>, _: &RowEvent) -> Option<f64> {
        None
    }

    /// Returns whether the task keeps waiting after an event and emits an output instead of completing.
    fn repeats(&self) -> bool {
        false
    }

    /// Returns the address of the tasks to run for each event, or [`NO_PC`] if there are none.
    fn body(&self) -> u16 {
        NO_PC
    }

    /// Stores the address of the nested tasks. The assembler calls this function only if the document has nested tasks.
    fn set_body(&mut self, _body: u16) {}

    /// Returns the timeline that the task plays.
    fn timeline(&self) -> Option<TimelineId> {
        None
    }

    /// Returns whether a notify of the ability's timeline completes the task.
    fn completes_on_notify(&self, _name: &str) -> bool {
        false
    }

    /// Returns whether the end of a montage of the ability completes the task.
    fn completes_on_montage_end(&self, _montage: &str) -> bool {
        false
    }

    /// Returns the maximum number of targets in an answer of the owning client.
    fn client_targets(&self) -> u32 {
        64
    }

    /// Queries the host for the controllers that a tick needs.
    fn find_targets(&self, _: &mut Flow<'_>, _: &SpaceQuery) -> Vec<ControllerId> {
        Vec::new()
    }

    /// Returns the new time of the waiting task's timer after the clock rate of its controller changed, and whether the
    /// timer is a timeout.
    fn due_after_clock_change(&self, _: &Flow<'_>, _slot: usize, _: &Task) -> Option<(SimTime, bool)> {
        None
    }

    /// Handles an event on the row of the waiting task.
    fn wake(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, event: &RowEvent) {
        let waiting = flow.waiting(at.slot, at.seq);
        let Some(value) = waiting.and_then(|w| self.event_value(flow, &w, event)) else { return };
        flow.fulfil(at, value, event);
    }

    /// Handles a tick of the waiting task with the controllers found.
    fn tick(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, _elapsed: SimTime, found: Vec<ControllerId>) {
        flow.answer_with_targets(at, found);
    }

    /// Handles the end of the waiting task, whatever its result.
    fn ended(&self, _: &Flow<'_>, _slot: usize, _: &AbilityDef, _: &Task, _completed: bool) {}
}

/// A row of the table of task types.
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    pub(crate) category: TaskCategory,
    /// The parser of the type, or `None` for a composite, which compiles to instructions instead of a task.
    pub(crate) parse: Option<Parse>,
    pub(crate) ticks: Ticks,
    pub(crate) is_host_answered: bool,
    pub(crate) client_answers: bool,
    pub(crate) target_use: TargetUse,
    pub(crate) accepts_tasks: bool,
}

pub(crate) type Parse = fn(&mut Fields<'_, '_, '_>) -> Option<TaskKind>;

const fn composite(name: &'static str, accepts_tasks: bool) -> BuiltIn {
    BuiltIn {
        name,
        category: TaskCategory::Composite,
        parse: None,
        ticks: Ticks::Never,
        is_host_answered: false,
        client_answers: false,
        target_use: TargetUse::None,
        accepts_tasks,
    }
}

const fn leaf<T: TaskType>(name: &'static str, parse: Parse) -> BuiltIn {
    BuiltIn {
        name,
        category: T::CATEGORY,
        parse: Some(parse),
        ticks: T::TICKS,
        is_host_answered: T::IS_HOST_ANSWERED,
        client_answers: T::CLIENT_ANSWERS,
        target_use: T::TARGET_USE,
        accepts_tasks: T::ACCEPTS_TASKS,
    }
}

macro_rules! define {
    (() $($name:ident: $type:ty,)*) => {
        /// A task of a list: its type with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum TaskKind {
            $($name($type),)*
            /// A task that the host implements in code.
            Custom(Custom),
        }

        /// All built-in task types; the index is the id.
        pub(crate) static BUILT_IN: &[BuiltIn] = &[
            composite("Sequence", true),
            composite("Parallel", true),
            composite("Race", true),
            composite("Branch", false),
            composite("Repeat", true),
            $(leaf::<$type>(stringify!($name), |f| <$type>::parse(f).map(TaskKind::$name)),)*
        ];
    };
}
task_types!(define);

macro_rules! dispatch {
    (($kind:expr, $task:ident => $call:expr) $($name:ident: $type:ty,)*) => {
        match $kind {
            $(TaskKind::$name($task) => $call,)*
            TaskKind::Custom($task) => $call,
        }
    };
}

fn category_of<T: TaskType>(_: &T) -> TaskCategory {
    T::CATEGORY
}

fn is_host_answered<T: TaskType>(_: &T) -> bool {
    T::IS_HOST_ANSWERED
}

fn finds_targets<T: TaskType>(_: &T) -> bool {
    T::TARGET_USE == TargetUse::Finds
}

fn completes_on_timer<T: TaskType>(_: &T) -> bool {
    T::COMPLETES_ON_TIMER
}

/// Returns whether tasks of a category may wait.
pub(crate) fn category_waits(category: TaskCategory) -> bool {
    match category {
        TaskCategory::Action | TaskCategory::Request => false,
        TaskCategory::Temporal
        | TaskCategory::Event
        | TaskCategory::Input
        | TaskCategory::State
        | TaskCategory::Spatial
        | TaskCategory::Animation
        | TaskCategory::Composite
        | TaskCategory::Custom => true,
    }
}

impl TaskKind {
    /// Returns whether the task may wait. Waiting tasks are not allowed in OnTick, OnCancel and similar lists.
    pub(crate) fn waits(&self) -> bool {
        task_types!(dispatch self, task => category_waits(category_of(task)))
    }
    pub(crate) fn is_host_answered(&self) -> bool {
        task_types!(dispatch self, task => is_host_answered(task))
    }
    pub(crate) fn finds_targets(&self) -> bool {
        task_types!(dispatch self, task => finds_targets(task))
    }
    pub(crate) fn completes_on_timer(&self) -> bool {
        task_types!(dispatch self, task => completes_on_timer(task))
    }
    pub(crate) fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        task_types!(dispatch self, task => task.start(flow, at))
    }
    pub(crate) fn reach(&self) -> TaskReach {
        task_types!(dispatch self, task => task.reach())
    }
    pub(crate) fn wakes_on(&self) -> u8 {
        task_types!(dispatch self, task => task.wakes_on())
    }
    pub(crate) fn wake(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, event: &RowEvent) {
        task_types!(dispatch self, task => task.wake(flow, at, event))
    }
    pub(crate) fn repeats(&self) -> bool {
        task_types!(dispatch self, task => task.repeats())
    }
    pub(crate) fn body(&self) -> u16 {
        task_types!(dispatch self, task => task.body())
    }
    pub(crate) fn set_body(&mut self, body: u16) {
        task_types!(dispatch self, task => task.set_body(body))
    }
    pub(crate) fn timeline(&self) -> Option<TimelineId> {
        task_types!(dispatch self, task => task.timeline())
    }
    pub(crate) fn completes_on_notify(&self, name: &str) -> bool {
        task_types!(dispatch self, task => task.completes_on_notify(name))
    }

    /// Returns the maximum number of targets in an answer of the owning client.
    pub(crate) fn client_targets(&self) -> u32 {
        task_types!(dispatch self, task => task.client_targets())
    }
    pub(crate) fn completes_on_montage_end(&self, montage: &str) -> bool {
        task_types!(dispatch self, task => task.completes_on_montage_end(montage))
    }
    pub(crate) fn find_targets(&self, flow: &mut Flow<'_>, query: &SpaceQuery) -> Vec<ControllerId> {
        task_types!(dispatch self, task => task.find_targets(flow, query))
    }
    pub(crate) fn due_after_clock_change(&self, flow: &Flow<'_>, slot: usize, t: &Task) -> Option<(SimTime, bool)> {
        task_types!(dispatch self, task => task.due_after_clock_change(flow, slot, t))
    }
    pub(crate) fn tick(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, elapsed: SimTime, found: Vec<ControllerId>) {
        task_types!(dispatch self, task => task.tick(flow, at, elapsed, found))
    }
    pub(crate) fn ended(&self, flow: &Flow<'_>, slot: usize, ability: &AbilityDef, t: &Task, completed: bool) {
        task_types!(dispatch self, task => task.ended(flow, slot, ability, t, completed))
    }
}

/// Returns the built-in type of this name.
pub(crate) fn built_in(name: &str) -> Option<(TaskKindId, &'static BuiltIn)> {
    let at = BUILT_IN.iter().position(|b| b.name == name)?;
    Some((TaskKindId(at as u32), &BUILT_IN[at]))
}

/// Returns the names of the task types that wait for an answer from the engine or from a timeline.
///
/// ```
/// assert!(ugas_core::host_answered_tasks().any(|name| name == "WaitTargetData"));
/// ```
pub fn host_answered_tasks() -> impl Iterator<Item = &'static str> + Clone {
    BUILT_IN.iter().filter(|b| b.is_host_answered).map(|b| b.name)
}

/// Returns whether tasks of an ability act on its target and no task sets or finds a target. Such an ability needs a
/// target when it is activated.
///
/// ```
/// use ugas_doc::{Ability, AbilityTask};
/// let hit = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Hit");
/// let bolt = Ability::new("GA_Bolt").task(hit.clone());
/// assert!(ugas_core::needs_target(&bolt));
/// let set = AbilityTask::new("SetTarget").param("Target", "Nearest");
/// let aimed = Ability::new("GA_Aimed").task(set).task(hit);
/// assert!(!ugas_core::needs_target(&aimed));
/// ```
pub fn needs_target(ability: &Ability) -> bool {
    let acting = [&ability.tasks, &ability.on_tick, &ability.on_server_tick];
    let is_in = |of: TargetUse| acting.into_iter().any(|list| of.is_in(list));
    let is_set =
        || is_in(TargetUse::Sets) || is_in(TargetUse::Finds) || TargetUse::Sets.is_in(&ability.on_predicted_tick);
    is_in(TargetUse::ActsOn) && !is_set()
}
