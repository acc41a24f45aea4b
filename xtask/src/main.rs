//! Maintenance commands of the repository, run as `cargo xtask <command>`.
//!
//! The commands are written in Rust, so that a new machine needs only the toolchain. Each command reads the repository,
//! reports findings with file and line, and exits with code 1 if there are errors.

mod conformance;
mod playground;
mod repo;
mod soak;
mod text;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>

  conformance [--log FILE] [--scenarios FILE] [--browser FILE] [--check] [--allow-fall]
      runs the tests, scenarios and browser tests, counts the requirements they cover and writes conformance/MATRIX.md
        --log FILE        reuse the output (stdout and stderr) of an earlier `cargo test --workspace`
        --scenarios FILE  reuse the report of an earlier `ugas test scenarios --report FILE`
        --browser FILE    reuse the report of an earlier `tests/browser/run` (target/browser-tests.tsv)
        --check           write nothing; fail if the committed matrix is out of date
        --allow-fall      accept a lower count than in the committed matrix, after a deliberate removal
  soak [--minutes M] [--seeds N] [--only NAME] [--fuzz [--jobs N]]
      runs the long forms of the property tests and writes conformance/soak.json
        --only NAME       run only the tests or targets whose name contains NAME
        --fuzz            run the fuzz targets instead, each for thirty minutes or for --minutes, and add the inputs
                          that reach new code to fuzz/corpus
        --jobs N          run N fuzz targets at once
  tidy
      checks crate dependencies, forbidden items in the core, paths in documents, to-do comments and file sizes
  bench [ARGS...]
      runs the benchmarks in the bench profile; `bench net crowd` also runs bevy_replicon for comparison
  playground [--out DIR] [--check]
      builds the demo as static files, with the runtime as wasm, in target/playground
        --check           run the module in Node.js and compare every hash with the native program
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command; returns `false` if the command found and printed errors.
fn dispatch(args: &[String]) -> Result<bool> {
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", args),
    };
    match command {
        "conformance" => conformance::run(rest),
        "soak" => soak::run(rest),
        "tidy" => tidy::run(rest),
        "bench" => bench(rest),
        "playground" => playground::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(true)
        }
        other => bail!("unknown command `{other}`\n\n{USAGE}"),
    }
}

fn bench(args: &[String]) -> Result<bool> {
    let root = repo::root()?;
    let mut bench = repo::cargo(&root);
    bench.args(["run", "--profile", "bench", "--quiet", "-p", "ugas-bench", "--"]).args(args);
    let is_asked = |word: &str| args.iter().any(|argument| argument == word);
    // The words that are measured for bevy_replicon too, each with the argument of its benchmark.
    let measured = [("net", None), ("crowd", Some("crowd"))].into_iter().filter(|(word, _)| is_asked(word));
    let mut printed = Vec::new();
    for (_, argument) in measured.filter(|_| !is_asked("--peer")) {
        // The peer is outside the workspace, because the project does not depend on an engine.
        let mut peer = repo::cargo(&root);
        peer.args(["run", "--release", "--locked", "--quiet", "--manifest-path"]);
        peer.arg(root.join("peers/replicon/Cargo.toml")).arg("--").args(argument);
        let output = peer.stderr(std::process::Stdio::inherit()).output()?;
        if !output.status.success() {
            eprintln!("the bevy_replicon benchmark did not run; its columns are empty");
        }
        printed.extend(output.stdout);
    }
    if !printed.is_empty() {
        let file = root.join("target/network-peer.txt");
        std::fs::create_dir_all(root.join("target"))?;
        std::fs::write(&file, printed)?;
        bench.arg("--peer").arg(file);
    }
    Ok(bench.status()?.success())
}
