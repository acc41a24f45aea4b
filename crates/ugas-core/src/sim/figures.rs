//! Measurements of ticking tasks per task type, and of capabilities per class.

use crate::{CapabilityId, SimTime, TaskKindId};

/// The measurements of one task type in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// The task type.
    pub task: TaskKindId,
    /// The time of the frame.
    pub at: SimTime,
    /// How many tasks of the type were running.
    pub running: u32,
    /// How many tasks of the type ticked.
    pub ticked: u32,
    /// How many tasks of the type were deferred because [`SimConfig::task_budget`](crate::SimConfig::task_budget) was
    /// exhausted.
    pub deferred: u32,
    /// The real time that the ticks took, measured with [`Host::stopwatch`](crate::Host::stopwatch).
    pub nanos: u64,
}

/// The measurements of one task type since the sim started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskFigures {
    /// The task type.
    pub task: TaskKindId,
    /// How many tasks of the type were running in the last measured frame.
    pub running: u32,
    /// The number of frames in which tasks of the type were running.
    pub frames: u64,
    /// The total number of ticks.
    pub ticks: u64,
    /// The real time that all ticks took, measured with [`Host::stopwatch`](crate::Host::stopwatch).
    pub nanos: u64,
    /// The time of the first frame in which tasks of the type were running.
    pub since: SimTime,
    /// The time of the last frame in which tasks of the type were running.
    pub until: SimTime,
}

impl TaskFigures {
    /// Returns the average real time of a tick in nanoseconds.
    pub fn average(&self) -> f64 {
        self.nanos as f64 / self.ticks.max(1) as f64
    }

    /// Returns the average number of ticks per second of one task. The result assumes that as many tasks were running
    /// in every frame as in the last frame. A deferred task counts as running.
    pub fn rate(&self) -> f64 {
        let seconds = (self.until - self.since).as_seconds();
        if seconds > 0.0 { self.ticks as f64 / self.running.max(1) as f64 / seconds } else { 0.0 }
    }
}

/// The measurements of one class of capabilities since the sim started. Only advances with a host
/// that [measures them](crate::Host::measures_capabilities) count. Capabilities that sleep or that the local runner runs are not visited, and cost nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityFigures {
    /// The class.
    pub class: CapabilityId,
    /// How often the frame work reached capabilities of the class that do not sleep.
    pub visits: u64,
    /// The total number of evaluations: visits of a capability that was enabled, not blocked and due.
    pub evaluations: u64,
    /// The time of the last frame with a visit.
    pub last: SimTime,
    /// The number of visits in that frame.
    pub last_visits: u32,
    /// The real time that all visits with their reactions took, measured with
    /// [`Host::stopwatch`](crate::Host::stopwatch).
    pub nanos: u64,
}

impl CapabilityFigures {
    pub(crate) fn new(class: CapabilityId) -> CapabilityFigures {
        CapabilityFigures { class, visits: 0, evaluations: 0, last: SimTime::NEVER, last_visits: 0, nanos: 0 }
    }

    /// Adds one visit.
    pub(crate) fn record(&mut self, at: SimTime, is_evaluated: bool, nanos: u64) {
        self.visits += 1;
        self.evaluations += u64::from(is_evaluated);
        self.nanos += nanos;
        self.last_visits = if self.last == at { self.last_visits + 1 } else { 1 };
        self.last = at;
    }

    /// Returns the average real time of a visit in nanoseconds.
    pub fn average(&self) -> f64 {
        self.nanos as f64 / self.visits.max(1) as f64
    }
}
