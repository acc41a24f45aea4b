//! `cargo xtask soak --fuzz`: runs each fuzz target for a given time.
//!
//! cargo-fuzz builds the targets in release mode without a sanitizer, because the time and memory limits apply to
//! release code. Overflow checks stay on. The cost of one input is measured inside the target (`fuzz/src/limit.rs`); the limits
//! of libFuzzer only catch hangs. A target writes new inputs to `fuzz/found`, which is not committed; failures go to
//! `fuzz/artifacts`. After a run without a failure, the inputs that reach code that the corpus does not reach are added
//! to `fuzz/corpus` ([`grow`]).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{clock, now_seconds, state_of, utc};

/// The targets in `fuzz/Cargo.toml`.
const TARGETS: [&str; 11] = [
    "yaml",
    "json",
    "expressions",
    "packs",
    "profiles",
    "net_carrier",
    "net_server",
    "net_client",
    "net_delta",
    "net_views",
    "net_moves",
];

/// The default minutes for each target.
const MINUTES: f64 = 30.0;

/// The most inputs in the corpus of a target.
const CORPUS_FILES: usize = 400;
/// The most bytes in the corpus of a target.
const CORPUS_BYTES: u64 = 1 << 20;
/// The longest input that is added to a corpus, in bytes. Longer inputs are cut off.
const INPUT_BYTES: u64 = 64 << 10;

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
    /// The inputs in the corpus after the run; older reports do not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corpus: Option<usize>,
    passed: bool,
}

impl FuzzRun {
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    pub(super) fn passed(&self) -> bool {
        self.passed
    }
}

/// Runs the targets whose name contains `only`, `jobs` of them at once. Calls `done` after each run.
pub(super) fn run(
    root: &Path,
    minutes: Option<f64>,
    only: Option<&str>,
    jobs: usize,
    done: impl FnMut(FuzzRun) -> Result<()> + Send,
) -> Result<()> {
    let targets = selected(only);
    if targets.is_empty() {
        bail!("unknown fuzz target; the targets are {}", TARGETS.join(", "));
    }
    let folder = root.join("fuzz");
    build(&folder)?;
    // All runs are of the commit at the start: a grown corpus changes the working tree.
    let state = state_of(root);
    let (next, done) = (Mutex::new(targets.into_iter()), Mutex::new(done));
    let work = || -> Result<()> {
        loop {
            let Some(target) = next.lock().expect("no thread panicked").next() else { return Ok(()) };
            let run = run_target(&folder, target, minutes.unwrap_or(MINUTES), &state)?;
            (done.lock().expect("no thread panicked"))(run)?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panicked"))
    })
}

fn selected(only: Option<&str>) -> Vec<&'static str> {
    TARGETS.into_iter().filter(|target| only.is_none_or(|only| target.contains(only))).collect()
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

/// Runs one target and adds the inputs it found to its corpus.
fn run_target(folder: &Path, target: &str, minutes: f64, state: &(String, bool)) -> Result<FuzzRun> {
    let (found, corpus) = (format!("found/{target}"), format!("corpus/{target}"));
    fs::create_dir_all(folder.join(&found)).with_context(|| format!("cannot make fuzz/{found}"))?;
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
    let seconds = begun.elapsed().as_secs();
    if passed {
        grow(folder, target)?;
    } else {
        eprintln!("error: {target}:\n{}", last_lines(&text, 40));
    }
    let corpus = Some(files(&folder.join(corpus))?.len());
    let (commit, dirty) = state.clone();
    Ok(FuzzRun { target: target.to_owned(), commit, dirty, started, seconds, executions, corpus, passed })
}

/// Adds the found inputs to the corpus that reach code which no other input of the corpus reaches. Inputs that an
/// earlier call added are chosen again, so that a shorter input replaces them; inputs with a name stay.
fn grow(folder: &Path, target: &str) -> Result<()> {
    let (found, corpus) = (folder.join("found").join(target), folder.join("corpus").join(target));
    for (path, _) in files(&corpus)?.into_iter().filter(|(path, _)| is_generated(path)) {
        let name = path.file_name().context("a file has a name")?;
        fs::rename(&path, found.join(name)).with_context(|| format!("cannot move {}", path.display()))?;
    }
    let mut command = cargo_fuzz(folder, "run");
    command.arg(target).args([&corpus, &found]).args(["--", "-set_cover_merge=1", "-timeout=60"]);
    command.arg(format!("-max_len={INPUT_BYTES}"));
    let output = command.output().with_context(|| format!("cannot merge the inputs of {target}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("cannot merge the inputs of {target}:\n{}", last_lines(&text, 40));
    }
    for path in beyond_limits(files(&corpus)?) {
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

/// Returns the files of a folder with their lengths in bytes.
fn files(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let list = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    list.map(|entry| {
        let entry = entry?;
        Ok((entry.path(), entry.metadata()?.len()))
    })
    .collect()
}

/// Returns whether libFuzzer wrote an input: its name is a SHA-1 hash. A person gives an input a name.
fn is_generated(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the generated inputs of a corpus to remove until it is within its limits. If there are too many inputs,
/// inputs of all lengths are removed alike: the longest ones reach the most. If there are too many bytes, the longest are
/// removed.
fn beyond_limits(mut files: Vec<(PathBuf, u64)>) -> Vec<PathBuf> {
    let (count, all) = (files.len(), files.iter().map(|(_, length)| length).sum::<u64>());
    files.retain(|(path, _)| is_generated(path));
    files.sort_by_key(|(path, length)| (*length, path.clone()));
    let (total, excess) = (files.len(), count.saturating_sub(CORPUS_FILES).min(files.len()));
    let is_removed = |at: usize| (at + 1) * excess / total > at * excess / total;
    let (removed, mut kept): (Vec<_>, Vec<_>) = files.into_iter().enumerate().partition(|(at, _)| is_removed(*at));
    let mut bytes = all - removed.iter().map(|(_, (_, length))| length).sum::<u64>();
    let mut removed: Vec<PathBuf> = removed.into_iter().map(|(_, (path, _))| path).collect();
    while bytes > CORPUS_BYTES {
        let Some((_, (path, length))) = kept.pop() else { break };
        bytes -= length;
        removed.push(path);
    }
    removed
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
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(root.join("fuzz/corpus").join(target).is_dir(), "{target}");
            assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
        }
    }

    #[test]
    fn targets_are_selected_by_name() {
        assert_eq!(selected(None), TARGETS);
        assert_eq!(selected(Some("net_d")), ["net_delta"]);
        assert!(selected(Some("net_")).iter().all(|target| target.starts_with("net_")));
        assert!(selected(Some("unknown")).is_empty());
    }

    #[test]
    fn generated_inputs_are_removed_from_a_large_corpus() {
        let hash = |n: usize| PathBuf::from(format!("corpus/{n:040x}"));
        let long: Vec<_> = (0..20).map(|n| (hash(n), INPUT_BYTES)).collect();
        assert_eq!(beyond_limits(long.clone()), [19, 18, 17, 16].map(hash), "16 inputs of 64 KiB are 1 MiB");
        let named = |(path, length): (PathBuf, u64)| (path.with_extension("bin"), length);
        assert!(beyond_limits(long.into_iter().map(named).collect()).is_empty(), "inputs with a name stay");
        let many = (0..=CORPUS_FILES).map(|n| (hash(n), n as u64)).collect();
        assert_eq!(beyond_limits(many), [hash(CORPUS_FILES)]);
        let many = (0..2 * CORPUS_FILES).map(|n| (hash(n), n as u64)).collect();
        let removed = beyond_limits(many);
        assert_eq!((removed.len(), &removed[..2]), (CORPUS_FILES, &[hash(1), hash(3)][..]), "every second length");
    }

    #[test]
    fn every_corpus_is_within_its_limits() {
        let root = crate::repo::root().unwrap();
        for target in TARGETS {
            let list = files(&root.join("fuzz/corpus").join(target)).unwrap();
            assert!(list.iter().all(|(_, length)| *length <= INPUT_BYTES), "{target}");
            assert!(list.len() <= CORPUS_FILES, "{target}: {} inputs", list.len());
            assert!(list.iter().map(|(_, length)| length).sum::<u64>() <= CORPUS_BYTES, "{target}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_text_is_shown() {
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }
}
