//! What a sim asks the engine within a step, and the host that answers nothing.

use super::TaskRecord;
use crate::{Anchor, ControllerId};

/// What a task that looks around asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceQuery {
    /// Whose task.
    pub who: ControllerId,
    /// Where it stands, if the sim knows.
    pub anchor: Option<Anchor>,
    /// How far it looks; infinite if the task does not say.
    pub range: f64,
}

/// What the surrounding engine answers inside a step. Everything has an empty answer by default.
pub trait Host {
    /// Whom a volume touches, for a task that waits for an overlap.
    fn overlap(&mut self, _query: &SpaceQuery, _found: &mut Vec<ControllerId>) {}

    /// A target, for a task that waits for one.
    fn find_target(&mut self, _query: &SpaceQuery) -> Option<ControllerId> {
        None
    }

    /// Nanoseconds of a clock of the host's, for figures only; the sim has none.
    fn stopwatch(&mut self) -> u64 {
        0
    }

    /// What one type of ticking task did in one frame.
    fn task_record(&mut self, _record: &TaskRecord) {}
}

/// A host that answers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;
impl Host for NoHost {}
