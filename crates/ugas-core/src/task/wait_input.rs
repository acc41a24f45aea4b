//! WaitInputPressed and WaitInputRelease: wait until an input is pressed or released.

use super::TaskType;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, TaskCategory};
use crate::state::alert;
use crate::{InputId, SimTime};

/// Returns the input that a task names, or else the input of the grant.
fn resolve(flow: &Flow<'_>, slot: usize, of: u64, input: Option<InputId>) -> InputId {
    let row = flow.row(slot);
    let grant = || row.grant(row.play().activation(of)?.grant).map(|at| row.grants[at].input());
    input.or_else(grant).unwrap_or(InputId::NONE)
}

/// Returns how long the task's input was held, if it was pressed or released after the task began to wait.
fn held(
    flow: &Flow<'_>,
    waiting: &Waiting<'_>,
    event: &RowEvent,
    own: Option<InputId>,
    is_press: bool,
) -> Option<SimTime> {
    let RowEvent::Input { input, pressed, held, before } = event else { return None };
    let is_mine = || resolve(flow, waiting.slot, waiting.record.of, own) == *input;
    (*pressed == is_press && waiting.record.seq < *before && is_mine()).then_some(*held)
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitInputPressed {
    /// The input to wait for. Default: the input of the grant.
    input: Option<InputId>,
}

impl TaskType for WaitInputPressed {
    const CATEGORY: TaskCategory = TaskCategory::Input;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Self { input: f.input("InputID") })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::INPUT
    }

    fn event_value(&self, flow: &Flow<'_>, waiting: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        held(flow, waiting, event, self.input, true).map(|_| 0.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitInputRelease {
    /// The input to wait for. Default: the input of the grant.
    input: Option<InputId>,
}

impl WaitInputRelease {
    fn is_released(&self, flow: &Flow<'_>, slot: usize, of: u64) -> bool {
        let input = resolve(flow, slot, of, self.input);
        !flow.row(slot).play().inputs().held.iter().any(|h| h.input == input && !h.is_muted)
    }
}

impl TaskType for WaitInputRelease {
    const CATEGORY: TaskCategory = TaskCategory::Input;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Self { input: f.input("InputID") })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        if self.is_released(flow, at.slot, at.thread.of) {
            return flow.complete_now(at, 0.0);
        }
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::INPUT
    }

    fn event_value(&self, flow: &Flow<'_>, waiting: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        if let RowEvent::Resumed = event {
            return self.is_released(flow, waiting.slot, waiting.record.of).then_some(0.0);
        }
        held(flow, waiting, event, self.input, false).map(SimTime::as_seconds)
    }
}
