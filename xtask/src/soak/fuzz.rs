//! `cargo xtask soak --fuzz`: runs each fuzz target for a given time.
//!
//! cargo-fuzz builds the targets in release mode without a sanitizer, because the time and memory limits apply to
//! release code. Overflow checks stay on. The cost of one input is measured inside the target (`fuzz/src/limit.rs`); the limits
//! of libFuzzer only catch hangs. A target writes new inputs to `fuzz/found`, which is not committed; failures go to
//! `fuzz/artifacts`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{clock, now_seconds, state_of, utc};

/// The targets in `fuzz/Cargo.toml`.
const TARGETS: [&str; 10] = [
    "yaml",
    "json",
    "expressions",
    "packs",
    "net_carrier",
    "net_server",
    "net_client",
    "net_delta",
    "net_views",
    "net_moves",
];

/// The default minutes for each target.
const MINUTES: f64 = 30.0;

/// The last run of a target.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FuzzRun {
    target: String,
    commit: String,
    /// Whether the working tree differed from the commit.
    dirty: bool,
    /// The start time in UTC.
    started: String,
    seconds: u64,
    executions: u64,
    passed: bool,
}

impl FuzzRun {
    pub(super) fn passed(&self) -> bool {
        self.passed
    }
}

/// Runs every target, one after the other.
pub(super) fn run(root: &Path, minutes: Option<f64>) -> Result<Vec<FuzzRun>> {
    let folder = root.join("fuzz");
    build(&folder)?;
    TARGETS.iter().map(|target| run_target(root, &folder, target, minutes.unwrap_or(MINUTES))).collect()
}

/// Returns a command for cargo-fuzz, which needs a nightly compiler.
fn cargo_fuzz(folder: &Path, word: &str) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder).args(["+nightly", "fuzz", word, "-O", "-a", "--sanitizer", "none"]);
    // Without this, the command would use the cargo that runs this program instead of the nightly cargo.
    command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command
}

fn build(folder: &Path) -> Result<()> {
    let status = cargo_fuzz(folder, "build").status().context("cannot start cargo")?;
    if !status.success() {
        bail!("the fuzz targets cannot be built; they need a nightly compiler and `cargo install cargo-fuzz`");
    }
    Ok(())
}

fn run_target(root: &Path, folder: &Path, target: &str, minutes: f64) -> Result<FuzzRun> {
    let (found, corpus) = (format!("found/{target}"), format!("corpus/{target}"));
    std::fs::create_dir_all(folder.join(&found)).with_context(|| format!("cannot make fuzz/{found}"))?;
    let (commit, dirty) = state_of(root);
    let (started, begun) = (utc(now_seconds()), clock());
    let seconds = (minutes * 60.0).ceil() as u64;
    let mut command = cargo_fuzz(folder, "run");
    command.args([target, &found, &corpus, "--", "-max_len=1048576", "-timeout=60", "-rss_limit_mb=2048"]);
    command.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    eprintln!("fuzzing {target} for {seconds} s");
    let output = command.stdout(Stdio::inherit()).output().with_context(|| format!("cannot run {target}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let executions = text.lines().find_map(parse_executions).unwrap_or(0);
    let passed = output.status.success() && executions > 0;
    if !passed {
        eprintln!("error: {target}:\n{}", last_lines(&text, 40));
    }
    let target = target.to_owned();
    Ok(FuzzRun { target, commit, dirty, started, seconds: begun.elapsed().as_secs(), executions, passed })
}

/// Reads libFuzzer's `stat::number_of_executed_units: <n>`.
fn parse_executions(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_executions_is_read() {
        assert_eq!(parse_executions("stat::number_of_executed_units: 19334"), Some(19_334));
        assert_eq!(parse_executions("stat::average_exec_per_sec:     1208"), None);
    }

    #[test]
    fn every_target_has_its_corpus_and_its_binary() {
        let root = crate::repo::root().unwrap();
        let manifest = std::fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(root.join("fuzz/corpus").join(target).is_dir(), "{target}");
            assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_text_is_shown() {
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }
}
