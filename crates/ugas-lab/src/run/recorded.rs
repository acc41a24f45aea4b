//! A recorded run: copies of the world after every `Do` list and at intervals, so that a tool can seek. The number of
//! copies is limited.

use super::{RunOptions, Runner};
use crate::capability::block_names_of;
use crate::report::Report;
use crate::scenario::Scenario;
use std::collections::BTreeMap;
use ugas_core::{ControllerId, Sim, SimTime};
use ugas_data::ReadError;
use ugas_doc::{Capability, DocumentKind};

/// The maximum number of copies that are kept; a tool cannot seek to times after the last copy.
const MOST: usize = 4_096;
/// The interval between two copies while no verbs run.
const BETWEEN: SimTime = SimTime::millis(500);

/// A recorded run of a scenario.
///
/// ```
/// let text = r#"
/// Scenario: Idle
/// Entities: [{Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}]
/// Actors: {Hero: {AttributeSets: [Vitals]}}
/// Timeline: [{At: 2, Do: [{Expect: {Hero.Health: 90}}]}]
/// "#;
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let run = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap().record(None).unwrap();
/// assert_eq!(run.failed[0].0, ugas_core::SimTime::seconds(2.0));
/// assert_eq!(run.names.values().next().unwrap(), "Hero");
/// ```
#[derive(Clone)]
pub struct RecordedRun {
    /// Copies of the world in order of time, each taken after the verbs at its time.
    pub snapshots: Vec<Sim>,
    /// The names of the actors, by controller.
    pub names: BTreeMap<ControllerId, String>,
    /// The documents of capabilities, for explanations.
    pub capabilities: Vec<Capability>,
    /// The names under which the scenario blocks tags.
    pub block_names: Vec<String>,
    /// The times of failures, each with the index of the failure in the report.
    pub failed: Vec<(SimTime, usize)>,
    /// The report, with every fact.
    pub report: Report,
}

impl Scenario {
    /// Runs the scenario and records it. If the scenario has several machines, the server is recorded.
    pub fn record(&self, seed: Option<u64>) -> Result<RecordedRun, Vec<ReadError>> {
        self.record_with(RunOptions { seed, ..RunOptions::default() })
    }

    /// Runs the scenario with options and records it, with every fact.
    pub fn record_with(&self, options: RunOptions) -> Result<RecordedRun, Vec<ReadError>> {
        let options = RunOptions { keep_facts: true, ..options };
        let mut snapshots: Vec<Sim> = Vec::new();
        let mut failed = Vec::new();
        let runner = Runner::played(self, options, &mut |runner| {
            let now = runner.sim.now();
            failed.extend((failed.len()..runner.failed()).map(|i| (now, i)));
            let full = snapshots.len() >= MOST;
            match snapshots.last_mut() {
                Some(last) if last.now() == now => *last = runner.sim.clone(),
                Some(last) if full || now - last.now() < BETWEEN && !runner.did_something(last) => {}
                _ => snapshots.push(runner.sim.clone()),
            }
        })?;
        let names = runner.who_is.clone();
        let docs = runner.world.docs.iter();
        let capabilities = docs.filter_map(|loaded| Capability::of(&loaded.doc)).cloned().collect();
        let block_names = block_names_of(self);
        let report = runner.into_report();
        failed.extend((failed.len()..report.failures.len()).map(|i| (report.end, i)));
        Ok(RecordedRun { snapshots, names, capabilities, block_names, failed, report })
    }
}

impl Runner<'_> {
    /// Returns whether verbs ran since an earlier copy.
    fn did_something(&self, before: &Sim) -> bool {
        self.scenario.timeline.iter().any(|m| m.at > before.now() && m.at <= self.sim.now())
    }
}
