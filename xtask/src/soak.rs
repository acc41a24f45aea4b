//! `cargo xtask soak`: runs the long forms of the property tests.
//!
//! A test that has a long form reads `UGAS_SOAK=1`, the number of seeds in `UGAS_SOAK_SEEDS` and the first seed in
//! `UGAS_SOAK_FROM`, and prints one line `soak: name=<name> seeds=<from>..<to> cases=<n>` at its end. This command
//! runs those tests in release mode, measures the time and writes `conformance/soak.json`. The file contains the tests,
//! the commit and the duration of each run, including failed runs. `--fuzz` runs the fuzz targets instead. `--only`
//! selects tests or targets by name and keeps the other entries of the file.

mod fuzz;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::repo;

/// The tests that have a long form.
const LONG_FORMS: &[LongForm] = &[
    LongForm {
        package: "ugas-lab",
        test: "suite",
        filter: "the_runtime_equals_the_model_on_random_rules_and_ops",
        seeds: 20_000,
        scales: true,
    },
    LongForm {
        package: "ugas-lab",
        test: "suite",
        filter: "random_worlds_continue_equally_after_a_rollback",
        seeds: 2_000,
        scales: false,
    },
    LongForm {
        package: "ugas-core",
        test: "suite",
        filter: "rolling_back_and_resimulating_gives_the_same_state",
        seeds: 1,
        scales: false,
    },
    LongForm {
        package: "ugas-core",
        test: "suite",
        filter: "why_not_agrees_with_activate_on_random_states",
        seeds: 4_000,
        scales: false,
    },
    LongForm {
        package: "ugas-core",
        test: "suite",
        filter: "the_castable_status_equals_a_fresh_evaluation_after_every_event_of_random_fights",
        seeds: 10_000,
        scales: false,
    },
    LongForm {
        package: "ugas-data",
        test: "suite",
        filter: "formatting_keeps_the_rules_however_a_pack_is_written",
        seeds: 1_200,
        scales: false,
    },
    LongForm {
        package: "ugas-net",
        test: "suite",
        filter: "mutated_packets_change_nothing_but_the_counts",
        seeds: 10,
        scales: false,
    },
    LongForm {
        package: "ugas-net",
        test: "suite",
        filter: "all_clients_agree_after_the_links_are_restored",
        seeds: 2_000,
        scales: false,
    },
    LongForm {
        package: "ugas-net",
        test: "suite",
        filter: "a_client_that_searches_keys_does_not_succeed_more_often",
        seeds: 1,
        scales: false,
    },
    LongForm {
        package: "ugas-lab",
        test: "suite",
        filter: "a_cheating_client_gains_nothing_over_honest_play",
        seeds: 1_000_000,
        scales: false,
    },
];

const REPORT: &str = "conformance/soak.json";

struct LongForm {
    package: &'static str,
    test: &'static str,
    filter: &'static str,
    /// How many seeds one round runs.
    seeds: u64,
    /// Whether `--seeds` applies to this form. In the other forms, one seed takes a different amount of time.
    scales: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct SoakReport {
    runs: Vec<Run>,
    fuzz: Vec<fuzz::FuzzRun>,
}

impl SoakReport {
    /// Reads the earlier report; returns an empty report if the file cannot be read.
    fn read(root: &Path) -> SoakReport {
        let text = std::fs::read_to_string(root.join(REPORT)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn put(&mut self, run: Run) {
        match self.runs.iter_mut().find(|old| old.name == run.name) {
            Some(old) => *old = run,
            None => self.runs.push(run),
        }
    }

    fn put_fuzz(&mut self, run: fuzz::FuzzRun) {
        match self.fuzz.iter_mut().find(|old| old.target() == run.target()) {
            Some(old) => *old = run,
            None => self.fuzz.push(run),
        }
    }

    fn write(&self, root: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(root.join(REPORT), &text).with_context(|| format!("cannot write {REPORT}"))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Run {
    name: String,
    commit: String,
    /// Whether the working tree differed from the commit.
    dirty: bool,
    /// The start time in UTC.
    started: String,
    seeds_from: u64,
    /// One past the last seed.
    seeds_to: u64,
    cases: u64,
    minutes: f64,
    passed: bool,
}

#[derive(Debug, Default, PartialEq)]
struct SoakOptions {
    minutes: Option<f64>,
    seeds: Option<u64>,
    only: Option<String>,
    /// How many fuzz targets run at once; one without the option.
    jobs: Option<usize>,
    fuzz: bool,
}

impl SoakOptions {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a number"));
            match arg.as_str() {
                "--minutes" => {
                    let minutes: f64 = value()?.parse().context("--minutes needs a number")?;
                    if !(minutes.is_finite() && minutes >= 0.0) {
                        bail!("--minutes needs a number of at least 0");
                    }
                    options.minutes = Some(minutes);
                }
                "--seeds" => options.seeds = Some(value()?.parse().context("--seeds needs a whole number")?),
                "--only" => options.only = Some(value()?.clone()),
                "--jobs" => {
                    let jobs = value()?.parse().context("--jobs needs a whole number")?;
                    if !(1..=64).contains(&jobs) {
                        bail!("--jobs needs a number from 1 to 64");
                    }
                    options.jobs = Some(jobs);
                }
                "--fuzz" => options.fuzz = true,
                other => bail!("unknown option `{other}` of soak"),
            }
        }
        if options.jobs.is_some() && !options.fuzz {
            bail!("--jobs needs --fuzz");
        }
        Ok(options)
    }
}

/// Runs the command; returns `false` if a run failed.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let options = SoakOptions::parse(args)?;
    let root = repo::root()?;
    let mut report = SoakReport::read(&root);
    let mut passed = true;
    if options.fuzz {
        let done = |run: fuzz::FuzzRun| {
            passed &= run.passed();
            report.put_fuzz(run);
            report.write(&root)
        };
        fuzz::run(&root, options.minutes, options.only.as_deref(), options.jobs.unwrap_or(1), done)?;
    } else {
        let wanted = |form: &&LongForm| options.only.as_ref().is_none_or(|only| form.filter.contains(only));
        let forms: Vec<&LongForm> = LONG_FORMS.iter().filter(wanted).collect();
        if forms.is_empty() {
            bail!("unknown long form; see LONG_FORMS in xtask/src/soak.rs");
        }
        // Each form gets an equal share of the time.
        let share = options.minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0 / forms.len() as f64));
        for form in forms {
            let seeds = options.seeds.filter(|_| form.scales).unwrap_or(form.seeds);
            let run = run_form(&root, form, seeds, share)?;
            passed &= run.passed;
            report.put(run);
            report.write(&root)?;
        }
    }
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(passed)
}

/// Returns the current commit, and whether the working tree differs from that commit.
fn state_of(root: &Path) -> (String, bool) {
    let commit = repo::git(root, &["rev-parse", "HEAD"]).map_or("unknown".into(), |hash| hash.trim().to_owned());
    let changes = repo::git(root, &["status", "--porcelain", "--", ".", ":!conformance/soak.json"]);
    (commit, changes.is_none_or(|changes| !changes.trim().is_empty()))
}

/// Runs one round of a long form or, if `time` is given, as many rounds as start within `time`.
fn run_form(root: &Path, form: &LongForm, seeds: u64, time: Option<Duration>) -> Result<Run> {
    let begun = clock();
    let mut total = Run::begin(form.filter);
    (total.commit, total.dirty) = state_of(root);
    total.started = utc(now_seconds());
    loop {
        let from = total.seeds_to;
        let (status, output) = run_round(root, form, from, seeds)?;
        let goes_on = total.add(status, output.lines().find_map(parse_line).as_ref());
        total.minutes = (begun.elapsed().as_secs_f64() / 0.6).round() / 100.0;
        if !goes_on || time.is_none_or(|time| begun.elapsed() >= time) {
            return Ok(total);
        }
    }
}

impl Run {
    fn begin(name: &str) -> Self {
        let (commit, started) = (String::new(), String::new());
        let name = name.to_owned();
        Self { name, commit, dirty: false, started, seeds_from: 0, seeds_to: 0, cases: 0, minutes: 0.0, passed: true }
    }

    /// Adds one round. Returns whether another round is useful.
    fn add(&mut self, status: bool, line: Option<&SoakLine>) -> bool {
        let is_first = self.cases == 0;
        let Some(line) = line else {
            eprintln!("error: {} printed no `soak:` line", self.name);
            self.passed = false;
            return false;
        };
        self.passed &= status;
        if !is_first && line.from != self.seeds_to {
            eprintln!("warning: {} started at seed {} again; it does not read UGAS_SOAK_FROM", self.name, line.from);
            return false;
        }
        if is_first {
            self.seeds_from = line.from;
        }
        self.seeds_to = line.to;
        self.cases += line.cases;
        self.passed && line.cases > 0
    }
}

fn run_round(root: &Path, form: &LongForm, from: u64, seeds: u64) -> Result<(bool, String)> {
    let mut command = repo::cargo(root);
    command.args(["test", "--release", "-p", form.package, "--test", form.test, "--", form.filter, "--nocapture"]);
    command.env("UGAS_SOAK", "1").env("UGAS_SOAK_SEEDS", seeds.to_string()).env("UGAS_SOAK_FROM", from.to_string());
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo test")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{text}");
    Ok((output.status.success(), text))
}

#[derive(Debug, PartialEq)]
struct SoakLine {
    from: u64,
    to: u64,
    cases: u64,
}

/// Parses `soak: name=<name> seeds=<from>..<to> cases=<n>` anywhere in a line. Without output capture, the text
/// `test name ...` of the test runner may precede it.
fn parse_line(line: &str) -> Option<SoakLine> {
    let (_, fields) = line.split_once("soak: ")?;
    let field = |name: &str| fields.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    field("name")?;
    let (from, to) = field("seeds")?.split_once("..")?;
    Some(SoakLine { from: from.parse().ok()?, to: to.parse().ok()?, cases: field("cases")?.trim().parse().ok()? })
}

#[expect(clippy::disallowed_methods, reason = "soak measures the duration of a run; no simulation reads it")]
fn clock() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the report contains the time of the run; no simulation reads it")]
fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Formats seconds since 1970 as `2026-01-31T12:00:00Z`.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, so that the leap day is the last day of a year (era = 400 years).
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_long_form_is_read() {
        let line = parse_line("test random ... soak: name=random seeds=20..40 cases=1000");
        assert_eq!(line, Some(SoakLine { from: 20, to: 40, cases: 1000 }));
        for bad in
            ["soak: name=x seeds=1 cases=2", "soak: seeds=1..2 cases=2", "soak: name=x seeds=1..2 cases=many", "x"]
        {
            assert_eq!(parse_line(bad), None, "{bad}");
        }
    }

    #[test]
    fn rounds_add_up_until_seeds_repeat_or_one_fails() {
        let line = |from, to| SoakLine { from, to, cases: 10 };
        let mut run = Run::begin("x");
        assert!(run.add(true, Some(&line(0, 5))));
        assert!(run.add(true, Some(&line(5, 9))));
        assert_eq!((run.seeds_from, run.seeds_to, run.cases, run.passed), (0, 9, 20, true));
        assert!(!run.add(true, Some(&line(0, 5))), "the same seeds again");
        assert_eq!((run.seeds_to, run.cases, run.passed), (9, 20, true));
        assert!(!run.add(false, Some(&line(9, 12))));
        assert!(!run.passed);
    }

    #[test]
    fn a_round_without_its_line_has_not_passed() {
        let mut run = Run::begin("x");
        assert!(!run.add(true, None));
        assert!(!run.passed);
    }

    #[test]
    fn forms_that_are_not_run_keep_their_entries() {
        let mut report = SoakReport { runs: vec![Run::begin("a"), Run::begin("b")], fuzz: Vec::new() };
        report.put(Run { cases: 5, ..Run::begin("b") });
        report.put(Run::begin("c"));
        let shown: Vec<(&str, u64)> = report.runs.iter().map(|run| (run.name.as_str(), run.cases)).collect();
        assert_eq!(shown, [("a", 0), ("b", 5), ("c", 0)]);
    }

    #[test]
    fn options_are_checked() {
        let parse = |args: &[&str]| SoakOptions::parse(&args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            parse(&["--minutes", "2.5", "--seeds", "7"]).unwrap(),
            SoakOptions { minutes: Some(2.5), seeds: Some(7), ..SoakOptions::default() }
        );
        let only = SoakOptions { only: Some("model".into()), fuzz: true, ..SoakOptions::default() };
        assert_eq!(parse(&["--only", "model", "--fuzz"]).unwrap(), only);
        let jobs = SoakOptions { jobs: Some(2), fuzz: true, ..SoakOptions::default() };
        assert_eq!(parse(&["--fuzz", "--jobs", "2"]).unwrap(), jobs);
        assert!(parse(&["--jobs", "2"]).is_err(), "tests run one after the other");
        assert!(parse(&["--fuzz", "--jobs", "0"]).is_err());
        for bad in [&["--minutes"][..], &["--minutes", "NaN"], &["--minutes", "-1"], &["--seeds", "x"], &["--hours"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(utc(1_709_251_200), "2024-03-01T00:00:00Z");
        assert_eq!(utc(1_767_225_599), "2025-12-31T23:59:59Z");
    }
}
