//! The results of a run: one report for each scenario, one failure for each failed expectation.

use crate::scenario::Scenario;
use std::fmt;
use std::sync::Arc;
use ugas_core::{Fact, SimTime};
use ugas_data::{ReadError, printable, printable_line};

/// A failed expectation or verb.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The path of the file, as passed by the caller.
    pub file: Arc<str>,
    /// The line of the verb or expectation, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The message, with the expected and the found value.
    pub message: String,
    /// An explanation, for example how the found value was computed or which entries were found.
    pub explanation: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, message) = (printable_line(&self.file), printable(&self.message));
        write!(f, "{file}:{}:{}: {message}", self.line, self.column)?;
        for line in self.explanation.iter().flat_map(|e| e.lines()) {
            write!(f, "\n    {}", printable_line(line))?;
        }
        Ok(())
    }
}

/// The result of one scenario.
///
/// ```
/// let results = ugas_lab::run_str("idle.yaml", "Scenario: Idle\nTimeline: [{At: 1}]");
/// let report = &results.reports[0];
/// assert!(report.passed());
/// assert_eq!((report.scenario.as_str(), report.line), ("Idle", 1));
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    /// The path of the file, as passed by the caller.
    pub file: Arc<str>,
    /// The line of the `Scenario:` key.
    pub line: u32,
    /// The name of the scenario.
    pub scenario: String,
    /// The failed expectations and verbs.
    pub failures: Vec<Failure>,
    /// The errors that prevented the run; empty if the scenario ran.
    pub errors: Vec<ReadError>,
    /// Every fact of the run, if [`RunOptions::keep_facts`](crate::RunOptions::keep_facts) is set.
    pub facts: Vec<Fact>,
    /// Notes that may explain a failure.
    pub notes: Vec<String>,
    /// The time of the sim at the end of the run.
    pub end: SimTime,
    /// The hash of the sim's state at the end of the run.
    pub hash: u64,
}

impl Report {
    /// Returns whether the scenario ran without failures.
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.errors.is_empty()
    }

    /// Creates the report of a scenario that could not run.
    pub(crate) fn broken(scenario: &Scenario, errors: Vec<ReadError>) -> Report {
        Report::unread(scenario.file.clone(), scenario.place.line, scenario.name.clone(), errors)
    }

    /// Creates the report of a scenario that could not be read.
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

/// The results of several scenarios.
///
/// ```
/// let results = ugas_lab::run_str("two.yaml", "Scenario: A\n---\nScenario: B\nTimelin: []\n");
/// assert_eq!((results.passed(), results.failed()), (1, 1));
/// assert_eq!(results.errors().next().unwrap().help.as_deref(), Some("did you mean \"Timeline\"?"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// One report for each scenario, in the order of files and lines.
    pub reports: Vec<Report>,
    /// Files that could not be read.
    pub unreadable: Vec<ReadError>,
}

impl Results {
    /// Returns the number of passed scenarios.
    pub fn passed(&self) -> usize {
        self.reports.iter().filter(|r| r.passed()).count()
    }

    /// Returns the number of failed scenarios.
    pub fn failed(&self) -> usize {
        self.reports.len() - self.passed()
    }

    /// Returns all errors that occurred while reading files and scenarios.
    pub fn errors(&self) -> impl Iterator<Item = &ReadError> {
        self.unreadable.iter().chain(self.reports.iter().flat_map(|r| &r.errors))
    }

    /// Returns whether all files could be read and all scenarios passed.
    pub fn is_ok(&self) -> bool {
        self.unreadable.is_empty() && self.failed() == 0
    }

    /// Returns all errors and failures as text; empty if there are none.
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

    /// Panics if there are errors or failures, with all of them in the message. Call this method in tests.
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
        Some(help) => format!("{error} ({})", printable_line(help)),
        None => error.to_string(),
    }
}
