//! EndAbility: ends or cancels the ability of the task.

use super::{TaskReach, TaskType};
use crate::flow::{EndHow, Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EndAbility {
    cancelled: bool,
}

impl TaskType for EndAbility {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Self { cancelled: f.flag("Cancelled", false) })
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let how = if self.cancelled { EndHow::Cancelled } else { EndHow::Ended };
        flow.finish(at.slot, at.thread.of, how);
        Step::Stop
    }
}
