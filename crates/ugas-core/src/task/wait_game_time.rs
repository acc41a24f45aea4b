//! WaitGameTime: waits until the sim's clock reaches a time.

use super::TaskType;
use crate::SimTime;
use crate::flow::{Flow, Step, TaskAt, Wait};
use crate::rules::{Fields, Num, TaskCategory};
use crate::state::Task;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitGameTime {
    time: Num,
}

impl TaskType for WaitGameTime {
    const CATEGORY: TaskCategory = TaskCategory::Temporal;
    const COMPLETES_ON_TIMER: bool = true;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.need_time("Time").map(|time| Self { time })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        match flow.length_of(at.slot, at.thread.of, &self.time) {
            Some(time) if time <= flow.st.now => flow.complete_now(at, 0.0),
            Some(time) => {
                let due = flow.row(at.slot).clock.until(time).max(flow.local_now(at.slot));
                flow.wait(at, Wait { due, value: time.0 as f64, keeps_timeout: true })
            }
            None => flow.fail_now(at),
        }
    }

    /// Returns the earlier of the awaited sim time and the timeout. A new clock rate changes the local time at which
    /// the sim time is reached, so the order of the two can change.
    fn due_after_clock_change(&self, flow: &Flow<'_>, slot: usize, t: &Task) -> Option<(SimTime, bool)> {
        let now = flow.local_now(slot);
        let moment = |at: i64| SimTime(at.clamp(0, SimTime::LONGEST.0));
        let reached = flow.row(slot).clock.until(moment(t.value as i64)).max(now);
        let timeout = t.code.as_slice().try_into().map(i64::from_le_bytes);
        Some(match timeout.map(|at| moment(at).max(now)) {
            Ok(timeout) if timeout < reached => (timeout, true),
            Ok(_) | Err(_) => (reached, false),
        })
    }
}
