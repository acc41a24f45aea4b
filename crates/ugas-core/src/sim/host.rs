//! The queries that a sim sends to the host during a step, and a host that answers none of them.

use super::TaskRecord;
use crate::{Anchor, ControllerId};

/// A spatial query that a task sends to the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceQuery {
    /// The controller that the task belongs to.
    pub who: ControllerId,
    /// The controller's anchor, if the sim has it.
    pub anchor: Option<Anchor>,
    /// The maximum distance; infinite if the task has no range.
    pub range: f64,
}

/// The queries that the sim sends to the engine during a step. By default each query finds nothing.
pub trait Host {
    /// Appends the controllers inside the queried volume to `found`, for a task that waits for an overlap.
    fn overlap(&mut self, _query: &SpaceQuery, _found: &mut Vec<ControllerId>) {}

    /// Finds a target, for a task that waits for a target.
    fn find_target(&mut self, _query: &SpaceQuery) -> Option<ControllerId> {
        None
    }

    /// Returns the current time of a host clock in nanoseconds. Used only to measure ticks, because the sim does not
    /// read a real-time clock.
    fn stopwatch(&mut self) -> u64 {
        0
    }

    /// Receives the measurements of one ticking task type in one frame.
    fn task_record(&mut self, _record: &TaskRecord) {}
}

/// A host that finds nothing and measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;
impl Host for NoHost {}
