//! Measurements of ticking tasks, by task type.

use crate::{SimTime, TaskKindId};

/// Ticks of one task type in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// The task type.
    pub task: TaskKindId,
    /// The frame.
    pub at: SimTime,
    /// How many were running.
    pub running: u32,
    /// How many ticked.
    pub ticked: u32,
    /// How many were deferred because of the budget.
    pub deferred: u32,
    /// The time of the ticks, measured with the host's stopwatch.
    pub nanos: u64,
}

/// Ticks of one task type since the sim started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskFigures {
    /// The task type.
    pub task: TaskKindId,
    /// How many were running in the last frame.
    pub running: u32,
    /// Frames with such tasks.
    pub frames: u64,
    /// All ticks.
    pub ticks: u64,
    /// The time of all ticks, measured with the host's stopwatch.
    pub nanos: u64,
    /// The first such frame.
    pub since: SimTime,
    /// The last such frame.
    pub until: SimTime,
}

impl TaskFigures {
    /// Returns the average time of a tick in nanoseconds.
    pub fn average(&self) -> f64 {
        self.nanos as f64 / self.ticks.max(1) as f64
    }

    /// Returns the ticks per second of one such task, after throttling.
    pub fn rate(&self) -> f64 {
        let seconds = (self.until - self.since).as_seconds();
        if seconds > 0.0 { self.ticks as f64 / self.running.max(1) as f64 / seconds } else { 0.0 }
    }
}
