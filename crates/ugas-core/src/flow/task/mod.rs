//! Tasks: a program counter over data.

use super::{Flow, Notice};
use crate::{Answer, EventData, Refusal, SimTime, TaskKey};

impl Flow<'_> {
    /// Starts an activation's main list; what sleeps is left in the row's tasks.
    pub(crate) fn start_tasks(&mut self, _slot: usize, _seq: u64) {}

    /// Cancels an activation's tasks, by rising number.
    pub(crate) fn cancel_tasks(&mut self, _slot: usize, _seq: u64) {}

    pub(crate) fn has_tasks(&self, slot: usize, seq: u64) -> bool {
        self.row(slot).play().tasks.iter().any(|t| t.of == seq)
    }

    /// Wakes the tasks of a row that wait for this.
    pub(crate) fn wake(&mut self, _slot: usize, _notice: &Notice) {}

    pub(crate) fn task_due(&mut self, _slot: usize, _seq: u64) {}

    /// Work at a frame moment.
    pub(crate) fn frame(&mut self, _at: SimTime) {}

    pub(crate) fn complete(&mut self, _key: TaskKey, _answer: &Answer) -> Result<(), Refusal> {
        Err(Refusal::StaleHandle)
    }

    pub(crate) fn send_event(&mut self, event: EventData) -> Result<(), Refusal> {
        self.slot(event.target).map(|_| ())
    }
}
