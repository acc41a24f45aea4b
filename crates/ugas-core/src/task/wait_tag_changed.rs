//! WaitTagChanged: waits until a tag is added to or removed from the owner.

use super::TaskType;
use crate::TagId;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, TaskCategory};
use crate::state::alert;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitTagChanged {
    tag: TagId,
    once: bool,
}

impl TaskType for WaitTagChanged {
    const CATEGORY: TaskCategory = TaskCategory::Event;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (tag, once) = (f.need_tag("Tag"), f.flag("OnlyTriggerOnce", true));
        Some(Self { tag: tag?, once })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::TAG
    }

    fn event_value(&self, _: &Flow<'_>, _: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let RowEvent::Tag { tag, added } = event else { return None };
        (*tag == self.tag).then_some(f64::from(u8::from(*added)))
    }

    fn repeats(&self) -> bool {
        !self.once
    }
}
