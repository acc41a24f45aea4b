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

/// The measurements of one class of capabilities since the sim started. Only advances with a
/// [`Host`](crate::Host) are measured. Capabilities that sleep or that the local runner runs are not evaluated in the
/// sim, and cost nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityFigures {
    /// The class.
    pub class: CapabilityId,
    /// The total number of evaluations.
    pub evaluations: u64,
    /// The time of the last frame in which capabilities of the class were evaluated.
    pub last: SimTime,
    /// The number of evaluations in that frame.
    pub last_evaluations: u32,
    /// The real time that all evaluations with their reactions took, measured with
    /// [`Host::stopwatch`](crate::Host::stopwatch).
    pub nanos: u64,
}

impl CapabilityFigures {
    pub(crate) fn new(class: CapabilityId) -> CapabilityFigures {
        CapabilityFigures { class, evaluations: 0, last: SimTime::NEVER, last_evaluations: 0, nanos: 0 }
    }

    /// Adds one evaluation.
    pub(crate) fn record(&mut self, at: SimTime, nanos: u64) {
        self.evaluations += 1;
        self.nanos += nanos;
        self.last_evaluations = if self.last == at { self.last_evaluations + 1 } else { 1 };
        self.last = at;
    }

    /// Returns the average real time of an evaluation in nanoseconds.
    pub fn average(&self) -> f64 {
        self.nanos as f64 / self.evaluations.max(1) as f64
    }
}
