//! Every scenario of the repository, through the public harness.

use std::path::Path;
use ugas_core::{Fact, Sim};
use ugas_lab::{RecordedRun, RunOptions, files_at, is_pack_file, load_file};

#[test]
fn every_scenario_of_the_repository_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    ugas_lab::check_folder(folder).assert_ok();
}

/// Every scenario of the repository and of the packs does the same with every fast path switched off.
#[test]
fn every_scenario_runs_equally_on_the_slow_path() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut compared = 0;
    for folder in ["scenarios", "packs"] {
        let files = files_at(root.join(folder)).expect("there are files");
        for file in files.iter().filter(|f| !is_pack_file(f)) {
            for scenario in load_file(file).unwrap_or_default() {
                let on = |slow_path| scenario.record_with(RunOptions { slow_path, ..RunOptions::default() });
                let (Ok(mut fast), Ok(mut slow)) = (on(false), on(true)) else { continue };
                let name = format!("{}: {}", file.display(), scenario.name);
                compare(&name, &mut fast, &mut slow);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared} scenarios");
}

fn compare(name: &str, fast: &mut RecordedRun, slow: &mut RecordedRun) {
    assert_eq!(fast.report.facts, slow.report.facts, "{name}: left is the fast path");
    assert_eq!(fast.report.hash, slow.report.hash, "{name}");
    let hashes = |run: &mut RecordedRun| run.snapshots.iter_mut().map(Sim::hash).collect::<Vec<_>>();
    assert_eq!(hashes(fast), hashes(slow), "{name}");
    let (Some(a), Some(b)) = (fast.snapshots.last(), slow.snapshots.last()) else { return };
    for Fact { link, .. } in &fast.report.facts {
        assert_eq!(a.chain(*link), b.chain(*link), "{name}");
    }
}
