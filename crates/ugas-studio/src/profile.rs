//! Profiling of tasks: a host that measures time and collects task records.
//!
//! The runtime has no clock. The host provides a clock and receives a record for each task type whose tasks ticked in a
//! frame. With the feature `tracing` the records can be emitted as `tracing` events.

use std::fmt;
use std::sync::Arc;
use ugas_core::{Host, Rules, TaskRecord};

/// A monotonic clock in nanoseconds.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A host that measures the duration of tasks and does nothing else.
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
    /// Creates a profiler with a clock. With the default profiler, which has no clock, every duration is 0.
    pub fn new(clock: Clock) -> Profiler {
        Profiler { clock: Some(clock), records: Vec::new() }
    }

    /// Returns the records since the last call and clears them.
    pub fn take_records(&mut self) -> Vec<TaskRecord> {
        std::mem::take(&mut self.records)
    }

    /// Emits the records, with task names, as `tracing` events.
    pub fn emit(&self, rules: &Rules) {
        emit(rules, &self.records);
    }
}

#[cfg(feature = "tracing")]
pub(crate) fn emit(rules: &Rules, records: &[TaskRecord]) {
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
pub(crate) fn emit(_: &Rules, _: &[TaskRecord]) {}

impl Host for Profiler {
    fn stopwatch(&mut self) -> u64 {
        self.clock.as_ref().map_or(0, |clock| clock())
    }

    fn measures_capabilities(&self) -> bool {
        true
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
