//! The engine's side of a step, and a host that answers nothing.

use super::TaskRecord;
use crate::{Anchor, ControllerId};

/// The spatial query of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceQuery {
    /// The controller whose task it is.
    pub who: ControllerId,
    /// The controller's anchor, if the sim has it.
    pub anchor: Option<Anchor>,
    /// The range; infinite if the task does not limit it.
    pub range: f64,
}

/// The engine's answers inside a step. All have an empty default.
pub trait Host {
    /// Finds the controllers inside a volume, for a task that waits for an overlap.
    fn overlap(&mut self, _query: &SpaceQuery, _found: &mut Vec<ControllerId>) {}

    /// Finds a target, for a task that waits for one.
    fn find_target(&mut self, _query: &SpaceQuery) -> Option<ControllerId> {
        None
    }

    /// Returns the nanoseconds of a host clock, for measurements only; the sim has no clock.
    fn stopwatch(&mut self) -> u64 {
        0
    }

    /// Receives the measurements of one ticking task type in one frame.
    fn task_record(&mut self, _record: &TaskRecord) {}
}

/// A host that answers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;
impl Host for NoHost {}
