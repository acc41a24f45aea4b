//! Measures the runtime and compares it with a reference implementation: `ugas-bench [w1 … w6 bytes allocs scale
//! instructions gates load expressions net crowd] [reps=N] [--markdown FILE] [--peer FILE]`. Without arguments, the program
//! runs all measurements. The exit code is 1 if a check or a gate fails.

mod alloc;
mod capability;
mod check;
mod clock;
mod count;
mod expression;
mod idle;
mod load;
mod net;
mod ours;
mod plan;
mod reference;
mod report;
mod runner;
mod subject;
mod table;
mod workload;

use plan::Plan;
use runner::Runner;
use std::process::ExitCode;
use table::Table;
use workload::Workload;

const WORDS: [&str; 15] = [
    "w1",
    "w2",
    "w3",
    "w4",
    "w5",
    "w6",
    "bytes",
    "allocs",
    "scale",
    "instructions",
    "gates",
    "load",
    "expressions",
    "net",
    "crowd",
];
const USAGE: &str = "usage: ugas-bench [w1 w2 w3 w4 w5 w6 bytes allocs scale instructions gates load expressions net crowd] [reps=N] [--markdown FILE] [--peer FILE]";

/// The command line options.
struct Options {
    words: Vec<String>,
    repetitions: usize,
    markdown: Option<String>,
    /// The file with the output of the bevy_replicon benchmark.
    peer: Option<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options { words: vec![], repetitions: 9, markdown: None, peer: None };
        while let Some(argument) = arguments.next() {
            if let Some(number) = argument.strip_prefix("reps=") {
                let parsed = number.parse().ok().filter(|&number| number > 0);
                options.repetitions =
                    parsed.ok_or(format!("reps must be a number above 0, not `{number}`\n{USAGE}"))?;
            } else if argument == "--markdown" {
                options.markdown = Some(arguments.next().ok_or(format!("--markdown needs a file\n{USAGE}"))?);
            } else if argument == "--peer" {
                options.peer = Some(arguments.next().ok_or(format!("--peer needs a file\n{USAGE}"))?);
            } else if WORDS.contains(&argument.as_str()) {
                options.words.push(argument);
            } else {
                return Err(format!("unknown word `{argument}`\n{USAGE}"));
            }
        }
        Ok(options)
    }

    fn asks(&self, word: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|one| one == word)
    }

    /// Returns the workloads to time: the named workloads; all of them without arguments or if `scale` is the only one.
    fn workloads(&self) -> Vec<Workload> {
        let all = self.words.iter().all(|word| word == "scale");
        let named = |workload: &Workload| all || self.asks(workload.word());
        Workload::ALL.into_iter().filter(named).collect()
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runners: Vec<Runner> = std::iter::once(Runner::of::<reference::Reference>()).chain([ours::runner()]).collect();
    let result = match arguments.split_first() {
        Some((word, rest)) if word == count::CHILD_WORD => count::child(&runners, rest).map(|()| true),
        Some((word, rest)) if word == idle::CHILD_WORD => idle::child(rest).map(|()| true),
        Some((word, rest)) if word == capability::CHILD_WORD => capability::child(rest).map(|()| true),
        Some((word, rest)) if word == net::still::CHILD_WORD => net::still::child(rest).map(|()| true),
        _ => Options::parse(arguments.into_iter()).and_then(|options| bench(&runners, &options)),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Checks, measures and prints; returns false if a gate failed.
fn bench(runners: &[Runner], options: &Options) -> Result<bool, String> {
    let faults = check::all(runners, &Plan::new(200));
    if !faults.is_empty() {
        return Err(format!("the implementations do not compute the same results:\n{}", faults.join("\n")));
    }
    alloc::keep_memory_warm();
    let plans = report::Plans::new();
    let mut pages = Vec::new();
    let mut show = |table: Table| {
        if !table.is_empty() {
            println!("{}", table.markdown());
            pages.push(table.markdown());
        }
    };
    let timed = options.workloads();
    let repetitions = options.repetitions;
    show(report::times(runners, &plans, &timed, repetitions, options.asks("scale")));
    if options.asks("bytes") {
        show(report::bytes(runners, &plans));
    }
    if options.asks("allocs") {
        show(report::allocations(runners, &plans));
    }
    if options.asks("instructions") {
        let chosen = if timed.is_empty() { Workload::ALL.to_vec() } else { timed };
        match report::instructions(runners, &chosen) {
            Ok(table) => show(table),
            Err(reason) => println!("instructions not counted: {reason}\n"),
        }
    }
    if options.asks("load") {
        show(load::table(options.repetitions)?);
    }
    if options.asks("expressions") {
        show(expression::table(options.repetitions)?);
    }
    let mut passed = true;
    let read = |file: &String| std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"));
    let peer = net::Peer::read(&options.peer.as_ref().map(read).transpose()?.unwrap_or_default());
    if options.asks("net") {
        let (table, reached) = net::table(&peer);
        passed &= reached;
        show(table);
    }
    if options.asks("crowd") {
        show(net::crowd_table::table(200, 2000));
        show(net::crowd_table::compared(200, 2000, &peer));
    }
    if options.asks("gates") {
        let gates = report::gates(runners, &plans);
        passed &= gates.passed;
        show(gates.table);
    }
    if let Some(file) = &options.markdown {
        std::fs::write(file, pages.join("\n")).map_err(|error| format!("{file}: cannot be written: {error}"))?;
    }
    Ok(passed)
}
