//! Runs the test suite, or reads the log of an earlier run, and groups the outcomes by target.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::log::{self, Outcome, Outcomes};
use crate::repo;

/// The outcomes of a run by the root file of each target, relative to the repository.
pub(crate) type Results = BTreeMap<String, Outcomes>;

/// Runs `cargo test --workspace` and shows its output while it runs.
pub(crate) fn run(root: &Path) -> Result<Results> {
    let (reader, writer) = std::io::pipe()?;
    let mut command = repo::cargo(root);
    command.args(["test", "--workspace", "--no-fail-fast"]).stdin(Stdio::null());
    // One pipe for both streams keeps the output of cargo and of the tests in order.
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn().context("cannot start cargo test")?;
    // The command owns the write ends of the pipe; the reader sees the end of the pipe when they are closed.
    drop(command);
    let mut text = String::new();
    let mut lines = BufReader::new(reader);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        std::io::stderr().write_all(&line)?;
        text.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = child.wait()?;
    let programs = log::parse(&text);
    if !status.success() {
        bail!("cargo test failed{}", failures(&programs));
    }
    by_target(root, programs)
}

/// Reads the output of an earlier run, unless a source file has changed since.
pub(crate) fn from_log(root: &Path, log_file: &Path, sources: &[&str]) -> Result<Results> {
    let text = std::fs::read(log_file).with_context(|| format!("cannot read {}", log_file.display()))?;
    let written = modified(log_file)?;
    for source in sources {
        if modified(&root.join(source))? > written {
            bail!("{source} is newer than {}: run `cargo test --workspace` again", log_file.display());
        }
    }
    let programs = log::parse(&String::from_utf8_lossy(&text));
    if programs.is_empty() {
        bail!("{} contains no test output; it must contain stdout and stderr of one run", log_file.display());
    }
    by_target(root, programs)
}

fn modified(file: &Path) -> Result<SystemTime> {
    let metadata = std::fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(metadata.modified()?)
}

fn failures(programs: &BTreeMap<String, Outcomes>) -> String {
    let all = programs.values().flatten();
    let failed: Vec<_> =
        all.filter(|(_, outcome)| **outcome == Outcome::Failed).map(|(name, _)| name.as_str()).collect();
    if failed.is_empty() { String::new() } else { format!(": {}", failed.join(", ")) }
}

/// Replaces the file name of each program with the root source file of its target.
fn by_target(root: &Path, programs: BTreeMap<String, Outcomes>) -> Result<Results> {
    let built = programs_built(root)?;
    let mut results = Results::new();
    for (program, outcomes) in programs {
        let Some(source) = built.get(&program) else {
            bail!("the log names {program}, which this build does not have: run `cargo test --workspace` again");
        };
        results.insert(source.clone(), outcomes);
    }
    Ok(results)
}

/// Asks cargo which program was built from which root file. After a test run, this command rebuilds nothing.
fn programs_built(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut command = repo::cargo(root);
    command.args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json"]).stderr(Stdio::inherit());
    let output = command.output().context("cannot start cargo test --no-run")?;
    if !output.status.success() {
        bail!("cargo test --no-run failed");
    }
    Ok(programs_in(root, &String::from_utf8_lossy(&output.stdout)))
}

fn programs_in(root: &Path, messages: &str) -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    struct Artifact {
        executable: PathBuf,
        target: ArtifactTarget,
        profile: Profile,
    }
    #[derive(Deserialize)]
    struct ArtifactTarget {
        src_path: PathBuf,
    }
    #[derive(Deserialize)]
    struct Profile {
        test: bool,
    }
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    artifacts
        .filter(|artifact| artifact.profile.test)
        .filter_map(|artifact| {
            let program = artifact.executable.file_name()?.to_string_lossy().into_owned();
            Some((program, repo::relative(root, &artifact.target.src_path)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_programs_are_taken_from_the_build_messages() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"src_path":"/r/crates/a/src/lib.rs"},"profile":{"test":true},"executable":"/t/a-1"}
{"reason":"compiler-artifact","target":{"src_path":"/r/crates/a/src/lib.rs"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","target":{"src_path":"/r/crates/a/src/main.rs"},"profile":{"test":false},"executable":"/t/a"}
{"reason":"build-finished","success":true}
"#;
        let programs = programs_in(Path::new("/r"), messages);
        assert_eq!(programs, BTreeMap::from([("a-1".to_owned(), "crates/a/src/lib.rs".to_owned())]));
    }

    #[test]
    fn failures_are_named() {
        let outcomes = Outcomes::from([("m::x".to_owned(), Outcome::Failed), ("m::y".to_owned(), Outcome::Passed)]);
        assert_eq!(failures(&BTreeMap::from([("p".to_owned(), outcomes)])), ": m::x");
        assert_eq!(failures(&BTreeMap::new()), "");
    }
}
