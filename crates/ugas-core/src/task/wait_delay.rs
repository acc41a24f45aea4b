//! WaitDelay: waits for a duration on the owner's clock.

use super::TaskType;
use crate::SimTime;
use crate::flow::{Flow, Step, TaskAt, Wait};
use crate::rules::{Fields, Num, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitDelay {
    pub(crate) duration: Num,
}

impl TaskType for WaitDelay {
    const CATEGORY: TaskCategory = TaskCategory::Temporal;
    const COMPLETES_ON_TIMER: bool = true;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.need_time("Duration").map(|duration| Self { duration })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let (length, hidden) = flow.watch_hidden(|flow| flow.length_of(at.slot, at.thread.of, &self.duration));
        if hidden.is_some() {
            // The delay ends when the server's state arrives.
            return flow.wait(at, Wait::default());
        }
        match length {
            Some(length) if length <= SimTime::ZERO => flow.complete_now(at, 0.0),
            Some(length) => flow.wait(at, Wait { due: flow.local_now(at.slot) + length, ..Wait::default() }),
            None => flow.fail_now(at),
        }
    }
}
