//! WaitAbilityActivated, WaitAbilityCommitted and WaitAbilityEnded: wait until another activation of the owner starts,
//! commits or ends. The parameters select the abilities.

use super::TaskType;
use crate::flow::{AbilityEvent, Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{AbilityPick, Fields, TaskCategory};
use crate::state::alert;
use std::marker::PhantomData;

/// A step of an ability that a task can wait for.
pub(crate) trait AbilityStep {
    /// Returns the task's value if the event is this step.
    fn value(event: &AbilityEvent) -> Option<f64>;
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Activated;
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Committed;
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended;

impl AbilityStep for Activated {
    fn value(event: &AbilityEvent) -> Option<f64> {
        matches!(event, AbilityEvent::Activated).then_some(0.0)
    }
}

impl AbilityStep for Committed {
    fn value(event: &AbilityEvent) -> Option<f64> {
        matches!(event, AbilityEvent::Committed).then_some(0.0)
    }
}

impl AbilityStep for Ended {
    /// Returns 1 if the ability was cancelled, otherwise 0.
    fn value(event: &AbilityEvent) -> Option<f64> {
        let AbilityEvent::Ended { cancelled, .. } = event else { return None };
        Some(f64::from(u8::from(*cancelled)))
    }
}

pub(crate) type WaitAbilityActivated = WaitAbility<Activated>;
pub(crate) type WaitAbilityCommitted = WaitAbility<Committed>;
pub(crate) type WaitAbilityEnded = WaitAbility<Ended>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitAbility<S> {
    what: AbilityPick,
    step: PhantomData<S>,
}

impl<S: AbilityStep> TaskType for WaitAbility<S> {
    const CATEGORY: TaskCategory = TaskCategory::Event;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.abilities().map(|what| Self { what, step: PhantomData })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::ABILITY
    }

    fn event_value(&self, flow: &Flow<'_>, waiting: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let RowEvent::Ability { ability, key, change } = event else { return None };
        let value = S::value(change)?;
        let is_own = waiting.activation.key(flow.row(waiting.slot).id) == *key;
        let is_picked = || flow.ability(*ability).is_some_and(|d| flow.is_picked(&d, &self.what));
        (!is_own && is_picked()).then_some(value)
    }
}
