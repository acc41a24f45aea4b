//! What tasks cost: a host with a stopwatch that keeps what a step tells about them.
//!
//! The runtime has no clock. Whoever hosts it lends one, and gets one record for each type of task that ticked in a frame;
//! with the feature `tracing` each record is an event too, for whatever listens there.

use std::fmt;
use std::sync::Arc;
use ugas_core::{Host, Rules, TaskRecord};

/// Nanoseconds since some moment.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A host that does nothing but measure.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime};
/// use ugas_studio::Profiler;
/// let rules = Rules::builder().build()?;
/// let mut sim = Sim::new(rules, SimConfig::default());
/// let mut profiler = Profiler::default();
/// sim.advance_with(SimTime::seconds(1.0), &mut profiler);
/// assert!(profiler.take_records().is_empty(), "nothing ticks here");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Profiler {
    clock: Option<Clock>,
    records: Vec<TaskRecord>,
}

impl Profiler {
    /// With a clock; without one every time is 0.
    pub fn new(clock: Clock) -> Profiler {
        Profiler { clock: Some(clock), records: Vec::new() }
    }

    /// What was told since this was asked last.
    pub fn take_records(&mut self) -> Vec<TaskRecord> {
        std::mem::take(&mut self.records)
    }

    /// Says what was told, with the names of the tasks, to whoever listens to `tracing`.
    pub fn tell(&self, rules: &Rules) {
        tell(rules, &self.records);
    }
}

#[cfg(feature = "tracing")]
pub(crate) fn tell(rules: &Rules, records: &[TaskRecord]) {
    for record in records {
        tracing::debug!(
            target: "ugas::tasks",
            task = rules.task_kind_name(record.task).unwrap_or("?"),
            at = record.at.as_seconds(),
            running = record.running,
            ticked = record.ticked,
            deferred = record.deferred,
            nanos = record.nanos,
        );
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn tell(_: &Rules, _: &[TaskRecord]) {}

impl Host for Profiler {
    fn stopwatch(&mut self) -> u64 {
        self.clock.as_ref().map_or(0, |clock| clock())
    }

    fn task_record(&mut self, record: &TaskRecord) {
        self.records.push(*record);
    }
}

impl fmt::Debug for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profiler").field("records", &self.records).finish_non_exhaustive()
    }
}
