//! `ugas sim`: prints attribute values over time. [`pick`] selects a scenario of a file; other commands use it too.

use crate::args::{SimArgs, SimFormat};
use crate::output::{Exit, Out, complain, complain_about};
use std::io;
use std::path::Path;
use ugas_data::nearest;
use ugas_lab::{SampleOptions, Scenario, choose, facts, load_file, nothing_at, sample};

pub(crate) fn run(args: &SimArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else {
        return Ok(Exit::Unreadable);
    };
    if matches!(args.format, SimFormat::Facts) {
        return print_facts(args, &scenario, out);
    }
    let options = SampleOptions { runs: args.runs, seed: args.seed };
    let mut samples = match sample(&scenario, options) {
        Ok(samples) => samples,
        Err(errors) => {
            complain_about(&errors);
            return Ok(Exit::Unreadable);
        }
    };
    if let Some(wanted) = &args.category {
        let known = scenario.categories();
        if !known.values().any(|category| category == wanted) {
            let near = nearest(wanted, known.values().map(String::as_str));
            let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            complain(&format!("error: no actor has the DebugCategory {wanted}{hint}"));
            return Ok(Exit::Unreadable);
        }
        samples.keep(|actor| known.get(actor) == Some(wanted));
    }
    out.text(&match args.format {
        SimFormat::Table => samples.to_table(),
        SimFormat::Csv => samples.to_csv(),
        SimFormat::Json | SimFormat::Facts => samples.to_json(),
    })?;
    // The expectations of a scenario apply to a single run with the scenario's own seed.
    if args.runs == 1 && args.seed.is_none() && samples.failures > 0 {
        out.flush()?;
        let n = samples.failures;
        complain(&format!("note: {} failed; run `ugas test` for details", crate::output::count(n, "expectation")));
    }
    Ok(Exit::Good)
}

/// Prints the facts of one run.
fn print_facts(args: &SimArgs, scenario: &Scenario, out: &mut Out) -> io::Result<Exit> {
    if args.runs > 1 {
        complain(&format!(
            "error: --format facts prints one run, but --runs is {}; remove --runs and select the run with --seed",
            args.runs
        ));
        return Ok(Exit::Unreadable);
    }
    match facts(scenario, args.seed) {
        Ok(lines) => {
            lines.iter().try_for_each(|line| out.line(line))?;
            Ok(Exit::Good)
        }
        Err(errors) => {
            complain_about(&errors);
            Ok(Exit::Unreadable)
        }
    }
}

/// Returns the selected scenario of a file, the first by default. If the file has no such scenario, reports an error
/// and returns `None`.
pub(crate) fn pick(file: &Path, wanted: Option<&str>) -> Option<Scenario> {
    let mut scenarios = match load_file(file) {
        Ok(scenarios) => scenarios,
        Err(errors) => {
            complain_about(&errors);
            return None;
        }
    };
    let count = scenarios.len();
    if count == 0 {
        complain_about([&nothing_at(file)]);
        return None;
    }
    let index = match wanted.map_or(Ok(0), |wanted| choose(&scenarios, wanted)) {
        Ok(index) => index,
        Err(why) => {
            complain(&format!("{}: error: {why}", file.display()));
            return None;
        }
    };
    if wanted.is_none() && count > 1 {
        complain(&format!(
            "note: {} has {count} scenarios; using the first (select another with --scenario)",
            file.display()
        ));
    }
    Some(scenarios.swap_remove(index))
}
