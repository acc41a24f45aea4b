//! WaitAttributeThreshold: waits until an attribute of the owner is less than, at most, greater than or at least a
//! threshold, according to `Comparison`. The threshold is evaluated once, when the task starts.

use super::TaskType;
use crate::AttributeId;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, Num, TaskCategory};
use crate::state::alert;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    LessThan,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::LessThan => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterEqual => a >= b,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitAttributeThreshold {
    attribute: AttributeId,
    comparison: Comparison,
    value: Num,
}

impl TaskType for WaitAttributeThreshold {
    const CATEGORY: TaskCategory = TaskCategory::State;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let attribute = f.attribute("Attribute");
        let words = [
            ("LessThan", Comparison::LessThan),
            ("LessEqual", Comparison::LessEqual),
            ("Greater", Comparison::Greater),
            ("GreaterEqual", Comparison::GreaterEqual),
        ];
        let comparison = f.need_word("Comparison", &words);
        let value = f.need_num("Value");
        Some(Self { attribute: attribute?, comparison: comparison?, value: value? })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let value = flow.value_of(at.slot, at.thread.of, &self.value);
        let now = flow.current_of(flow.row(at.slot).id, self.attribute);
        let (Some(value), Some(now)) = (value, now) else { return flow.fail_now(at) };
        if self.comparison.holds(now, value) {
            return flow.complete_now(at, now);
        }
        flow.wait(at, Wait { value, ..Wait::default() })
    }

    fn wakes_on(&self) -> u8 {
        alert::ATTRIBUTE
    }

    fn event_value(&self, flow: &Flow<'_>, waiting: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let now = match event {
            RowEvent::Attribute { attribute, new, .. } if *attribute == self.attribute => *new,
            RowEvent::Resumed => flow.current_of(flow.row(waiting.slot).id, self.attribute)?,
            RowEvent::Attribute { .. }
            | RowEvent::Tag { .. }
            | RowEvent::Died { .. }
            | RowEvent::Effect { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Liveness
            | RowEvent::Freed => return None,
        };
        self.comparison.holds(now, waiting.record.value).then_some(now)
    }
}
