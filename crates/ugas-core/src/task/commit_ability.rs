//! CommitAbility: commits the ability, or cancels it if the commit is refused.

use super::TaskType;
use crate::flow::{EndHow, Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CommitAbility;

impl TaskType for CommitAbility {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(_: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Self)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        if flow.commit(at.slot, at.thread.of).is_err() {
            flow.finish(at.slot, at.thread.of, EndHow::Cancelled);
            return Step::Stop;
        }
        Step::Next
    }
}
