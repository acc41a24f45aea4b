//! The interface through which a sim queries the host during a step and measures ticking tasks, and a host that finds
//! and measures nothing.

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

/// The host of a sim: answers the queries that the sim sends during a step. The default implementations find nothing.
pub trait Host {
    /// Appends the controllers within the range of the query to `found`. Called for a task that waits for an overlap.
    fn overlap(&mut self, _query: &SpaceQuery, _found: &mut Vec<ControllerId>) {}

    /// Returns a target for the query, or `None` if there is none. Called for a task that waits for a target.
    fn find_target(&mut self, _query: &SpaceQuery) -> Option<ControllerId> {
        None
    }

    /// Returns the current time of a host clock in nanoseconds. The sim reads no real-time clock, and uses this time
    /// only to measure ticks.
    fn stopwatch(&mut self) -> u64 {
        0
    }

    /// Returns whether the sim measures the visits of capabilities with [`Host::stopwatch`]; see
    /// [`Sim::capability_figures`](crate::Sim::capability_figures). By default it does not, because a visit of a
    /// capability is shorter than two calls of the host.
    fn measures_capabilities(&self) -> bool {
        false
    }

    /// Receives the measurements of one ticking task type in one frame.
    fn task_record(&mut self, _record: &TaskRecord) {}
}

/// A host that finds nothing and measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;
impl Host for NoHost {}
