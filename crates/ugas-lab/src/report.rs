//! What a run says: one report per scenario, one failure per expectation that does not hold.

use crate::scenario::Scenario;
use std::fmt;
use std::sync::Arc;
use ugas_core::{Fact, SimTime};
use ugas_data::ReadError;

/// One thing that did not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// Line of the verb or expectation, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
    /// How a number came about, or what was there instead.
    pub explanation: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        for line in self.explanation.iter().flat_map(|e| e.lines()) {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

/// What came of one scenario.
///
/// ```
/// let results = ugas_lab::run_str("idle.yaml", "Scenario: Idle\nTimeline: [{At: 1}]");
/// let report = &results.reports[0];
/// assert!(report.passed());
/// assert_eq!((report.scenario.as_str(), report.line), ("Idle", 1));
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// Line of the `Scenario:` key.
    pub line: u32,
    /// Its sentence.
    pub scenario: String,
    /// What did not hold.
    pub failures: Vec<Failure>,
    /// Why it could not be run at all; empty if it ran.
    pub errors: Vec<ReadError>,
    /// Every fact, if the options asked for them.
    pub facts: Vec<Fact>,
    /// What happened on the way that may explain a failure, for people.
    pub notes: Vec<String>,
    /// The time it reached.
    pub end: SimTime,
    /// The hash of the sim at the end.
    pub hash: u64,
}

impl Report {
    /// Whether it ran and everything held.
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.errors.is_empty()
    }

    /// A scenario that was read but could not be run.
    pub(crate) fn broken(scenario: &Scenario, errors: Vec<ReadError>) -> Report {
        Report::unread(scenario.file.clone(), scenario.place.line, scenario.name.clone(), errors)
    }

    /// A scenario that could not be understood.
    pub(crate) fn unread(file: Arc<str>, line: u32, scenario: String, errors: Vec<ReadError>) -> Report {
        Report {
            file,
            line,
            scenario,
            failures: Vec::new(),
            errors,
            facts: Vec::new(),
            notes: Vec::new(),
            end: SimTime::ZERO,
            hash: 0,
        }
    }
}

/// What came of many scenarios.
///
/// ```
/// let results = ugas_lab::run_str("two.yaml", "Scenario: A\n---\nScenario: B\nTimelin: []\n");
/// assert_eq!((results.passed(), results.failed()), (1, 1));
/// assert_eq!(results.errors().next().unwrap().help.as_deref(), Some("did you mean \"Timeline\"?"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// One report per scenario, in the order of files and lines.
    pub reports: Vec<Report>,
    /// Files that could not be read.
    pub unreadable: Vec<ReadError>,
}

impl Results {
    /// How many scenarios passed.
    pub fn passed(&self) -> usize {
        self.reports.iter().filter(|r| r.passed()).count()
    }

    /// How many scenarios did not.
    pub fn failed(&self) -> usize {
        self.reports.len() - self.passed()
    }

    /// Everything that could not be read or understood.
    pub fn errors(&self) -> impl Iterator<Item = &ReadError> {
        self.unreadable.iter().chain(self.reports.iter().flat_map(|r| &r.errors))
    }

    /// Whether everything was read, understood and held.
    pub fn is_ok(&self) -> bool {
        self.unreadable.is_empty() && self.failed() == 0
    }

    /// Everything that went wrong, for people; empty if nothing did.
    pub fn describe(&self) -> String {
        let mut lines = Vec::new();
        for error in &self.unreadable {
            lines.push(with_help(error));
        }
        for report in &self.reports {
            lines.extend(report.errors.iter().map(with_help));
            lines.extend(report.failures.iter().map(|f| format!("{}\n    in the scenario {:?}", f, report.scenario)));
        }
        lines.join("\n")
    }

    /// For tests: panics with a list of everything that went wrong.
    #[track_caller]
    pub fn assert_ok(&self) {
        assert!(self.is_ok(), "{} passed, {} failed\n{}", self.passed(), self.failed(), self.describe());
    }

    pub(crate) fn append(&mut self, mut other: Results) {
        self.reports.append(&mut other.reports);
        self.unreadable.append(&mut other.unreadable);
    }
}

fn with_help(error: &ReadError) -> String {
    match &error.help {
        Some(help) => format!("{error} ({help})"),
        None => error.to_string(),
    }
}
