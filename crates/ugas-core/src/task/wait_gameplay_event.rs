//! WaitGameplayEvent: waits for a gameplay event and runs its nested tasks. With `OnlyTriggerOnce: false`, the task
//! keeps waiting and runs its nested tasks for each event.

use super::TaskType;
use crate::TagId;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, NO_PC, TaskCategory};
use crate::state::alert;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitGameplayEvent {
    tag: TagId,
    once: bool,
    /// The address of the nested tasks, or [`NO_PC`] if there are none.
    body: u16,
}

impl TaskType for WaitGameplayEvent {
    const CATEGORY: TaskCategory = TaskCategory::Event;
    const ACCEPTS_TASKS: bool = true;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (tag, once) = (f.need_tag("EventTag"), f.flag("OnlyTriggerOnce", true));
        Some(Self { tag: tag?, once, body: NO_PC })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::EVENT
    }

    fn event_value(&self, flow: &Flow<'_>, _: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let RowEvent::Event(event) = event else { return None };
        flow.rules.tags.is_under(event.tag, self.tag).then_some(event.magnitude)
    }

    fn repeats(&self) -> bool {
        !self.once
    }

    fn body(&self) -> u16 {
        self.body
    }

    fn set_body(&mut self, body: u16) {
        self.body = body;
    }
}
