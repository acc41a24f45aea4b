//! The test harness, which runs scenarios from text, files and folders. A game can use this module in its tests to run
//! its scenarios.

use crate::files::{files_at, text_of};
use crate::report::{Report, Results};
use crate::run::RunOptions;
use crate::scenario::Scenario;
use std::path::Path;
use std::sync::Arc;
use ugas_data::{Code, Node, ReadError, nearest, read_trees};

/// The number of names that a message lists.
const MOST_NAMED: usize = 40;

/// A document of a scenario file.
pub(crate) enum Read {
    Scenario(Box<Scenario>),
    Broken(Report),
    /// A document of another kind, such as an effect, in a file with scenarios.
    Other,
}

/// Reads every document of a text and finds the scenarios.
pub(crate) fn read_scenarios(file: &str, text: &str) -> Result<Vec<Read>, Vec<ReadError>> {
    let trees = read_trees(file, text).map_err(|e| e.into_vec())?;
    let whole: Arc<str> = text.into();
    trees.iter().map(|tree| read_one(file, tree, &whole)).collect()
}

fn read_one(file: &str, tree: &Node, text: &Arc<str>) -> Result<Read, Vec<ReadError>> {
    let Some(entry) = tree.entry("Scenario") else {
        if tree.get("Kind").is_some() || tree.get("$schema").is_some() {
            return Ok(Read::Other);
        }
        let near = tree.entries().iter().find(|e| nearest(&e.key, ["Scenario", "Kind"]).is_some());
        let at = near.map_or(tree, |e| &e.value);
        let help = near.and_then(|e| nearest(&e.key, ["Scenario", "Kind"]));
        return Err(vec![ReadError {
            line: near.map_or(at.line, |e| e.line),
            column: near.map_or(at.column, |e| e.column),
            help: help
                .map(|n| format!("did you mean {n:?}?"))
                .or_else(|| Some("a scenario starts with `Scenario: <a sentence>`".to_owned())),
            ..at.error(file, "the document has neither `Scenario:` nor `Kind:`")
        }]);
    };
    Ok(match Scenario::from_node(file, tree) {
        Ok(scenario) => Read::Scenario(Box::new(scenario.with_text(text.clone()))),
        Err(errors) => {
            let name = entry.value.as_text().unwrap_or_default().to_owned();
            Read::Broken(Report::unread(file.into(), entry.line, name, errors))
        }
    })
}

/// Reads all scenarios of a file, or returns all errors.
///
/// ```
/// let errors = ugas_lab::load_file("no/such/file.yaml").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn load_file(path: impl AsRef<Path>) -> Result<Vec<Scenario>, Vec<ReadError>> {
    let path = path.as_ref();
    let text = text_of(path).map_err(|e| vec![e])?;
    let mut scenarios = Vec::new();
    let mut errors = Vec::new();
    for read in read_scenarios(&path.display().to_string(), &text)? {
        match read {
            Read::Scenario(scenario) => scenarios.push(*scenario),
            Read::Broken(report) => errors.extend(report.errors),
            Read::Other => {}
        }
    }
    if errors.is_empty() { Ok(scenarios) } else { Err(errors) }
}

/// Returns the index of a scenario by name, or by number counted from 1. The error lists the scenarios of the file.
///
/// ```
/// let text = "Scenario: Night falls\nTimeline: []\n---\nScenario: Day breaks\nTimeline: []\n";
/// let all: Vec<_> = ugas_data::read_trees("a.yaml", text).unwrap();
/// let all: Vec<_> = all.iter().map(|t| ugas_lab::Scenario::from_node("a.yaml", t).unwrap()).collect();
/// assert_eq!(ugas_lab::choose(&all, "Day breaks"), Ok(1));
/// assert_eq!(ugas_lab::choose(&all, "1"), Ok(0));
/// let why = ugas_lab::choose(&all, "Day brakes").unwrap_err();
/// assert_eq!(why, "unknown scenario \"Day brakes\"; the file has 1 \"Night falls\", 2 \"Day breaks\"");
/// ```
pub fn choose(scenarios: &[Scenario], wanted: &str) -> Result<usize, String> {
    let by_number = || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < scenarios.len());
    let found = scenarios.iter().position(|s| s.name == wanted).or_else(by_number);
    found.ok_or_else(|| {
        let list = scenarios.iter().enumerate().take(MOST_NAMED).map(|(i, s)| format!("{} {:?}", i + 1, s.name));
        let list = list.collect::<Vec<_>>().join(", ");
        let more = match scenarios.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("unknown scenario {wanted:?}; the file has {list}{more}")
    })
}

/// Runs every scenario of a text. `name` is the path of the file in messages; paths of packs are relative to the folder
/// of that file.
///
/// ```
/// let text = r#"
/// Scenario: A hit hurts
/// Entities:
///   - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
///   - Kind: gameplay_effect
///     Name: GE_Hit
///     DurationPolicy: Instant
///     Modifiers:
///       - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}
/// Actors:
///   Hero: {AttributeSets: [Vitals]}
/// Timeline:
///   - At: 0
///     Do:
///       - Apply: {Effect: GE_Hit, To: Hero}
///       - Expect: {Hero.Health: 90}
/// "#;
/// ugas_lab::run_str("hit.yaml", text).assert_ok();
/// ```
pub fn run_str(name: &str, text: &str) -> Results {
    run_str_with(name, text, RunOptions::default())
}

/// Runs every scenario of a text with options.
pub fn run_str_with(name: &str, text: &str, options: RunOptions) -> Results {
    let mut results = Results::default();
    match read_scenarios(name, text) {
        Ok(list) => {
            for read in list {
                match read {
                    Read::Scenario(scenario) => results.reports.push(scenario.run_with(options)),
                    Read::Broken(report) => results.reports.push(report),
                    Read::Other => {}
                }
            }
        }
        Err(errors) => results.unreadable = errors,
    }
    results
}

/// Runs every scenario of a file.
///
/// ```
/// let results = ugas_lab::run_file("no/such/file.yaml");
/// assert!(!results.is_ok());
/// ```
pub fn run_file(path: impl AsRef<Path>) -> Results {
    let path = path.as_ref();
    match text_of(path) {
        Ok(text) => run_str(&path.display().to_string(), &text),
        Err(error) => Results { unreadable: vec![error], ..Results::default() },
    }
}

/// Runs every scenario of a folder and its subfolders. A folder without scenarios is an error, so that a test cannot
/// pass without running a scenario.
///
/// ```no_run
/// ugas_lab::check_folder("scenarios").assert_ok();
/// ```
pub fn check_folder(path: impl AsRef<Path>) -> Results {
    let path = path.as_ref();
    let mut results = Results::default();
    match files_at(path) {
        Ok(files) => {
            for file in files.iter().filter(|f| !is_pack_file(f)) {
                results.append(run_file(file));
            }
        }
        Err(errors) => results.unreadable = errors,
    }
    if results.reports.is_empty() && results.unreadable.is_empty() {
        results.unreadable.push(nothing_at(path));
    }
    results
}

/// Returns whether a file is a `pack.yaml`, which contains neither documents nor scenarios.
pub fn is_pack_file(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n == "pack.yaml")
}

/// Returns the error for a path that contains no scenarios.
pub fn nothing_at(path: &Path) -> ReadError {
    ReadError {
        code: Code::Invalid,
        file: path.display().to_string().into(),
        line: 0,
        column: 0,
        message: "no scenario found".to_owned(),
        help: Some("a scenario starts with `Scenario: <a sentence>`".to_owned()),
    }
}
