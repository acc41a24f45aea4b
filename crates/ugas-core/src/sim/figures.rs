//! Measurements of ticking tasks, per task type.

use crate::{SimTime, TaskKindId};

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
