//! WaitAttributeChange: waits until an attribute of the owner changes.

use super::TaskType;
use crate::AttributeId;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, TaskCategory};
use crate::state::alert;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitAttributeChange {
    attribute: AttributeId,
    once: bool,
}

impl TaskType for WaitAttributeChange {
    const CATEGORY: TaskCategory = TaskCategory::State;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (attribute, once) = (f.attribute("Attribute"), f.flag("OnlyTriggerOnce", true));
        Some(Self { attribute: attribute?, once })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::ATTRIBUTE
    }

    fn event_value(&self, _: &Flow<'_>, _: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let RowEvent::Attribute { attribute, new, .. } = event else { return None };
        (*attribute == self.attribute).then_some(*new)
    }

    fn repeats(&self) -> bool {
        !self.once
    }
}
