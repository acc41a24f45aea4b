//! WaitTagAdded waits until the owner has a tag. WaitTagRemoved waits until the owner does not have the tag.

use super::TaskType;
use crate::TagId;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, TaskCategory};
use crate::state::alert;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitTag<const ADDED: bool> {
    tag: TagId,
}

impl<const ADDED: bool> TaskType for WaitTag<ADDED> {
    const CATEGORY: TaskCategory = TaskCategory::State;

    /// Reads the field `Tag`, or the field `WaitTag` that the specification uses in its pseudocode.
    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let tag = match f.tag("WaitTag") {
            Some(tag) => {
                f.tag("Tag");
                Some(tag)
            }
            None => f.need_tag("Tag"),
        };
        Some(Self { tag: tag? })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        if flow.has(at.slot, self.tag) == ADDED {
            return flow.complete_now(at, 0.0);
        }
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::TAG
    }

    fn event_value(&self, flow: &Flow<'_>, waiting: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let is_met = match event {
            RowEvent::Tag { tag, added } => *tag == self.tag && *added == ADDED,
            RowEvent::Resumed => flow.has(waiting.slot, self.tag) == ADDED,
            RowEvent::Attribute { .. }
            | RowEvent::Died { .. }
            | RowEvent::Effect { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Liveness
            | RowEvent::Freed => false,
        };
        is_met.then_some(f64::from(u8::from(ADDED)))
    }
}
