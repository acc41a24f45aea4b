//! Replays a corpus without a fuzzer. Every input runs through the code that the fuzzer runs, so that a fixed bug stays
//! fixed. The corpora are in `fuzz/corpus`, one folder per target. An input that caused a failure is minimised and
//! added to the corpus. The test suites of `ugas-data`, `ugas-input` and `ugas-net` include this file.

use std::path::Path;

/// Runs a body with every input of a target's corpus, which has at least `least` inputs. `may_skip` says which inputs
/// the body may ignore.
pub fn replay(
    target: &str,
    body: fn(&[u8], &mut dyn FnMut(&'static str)),
    least: usize,
    may_skip: impl Fn(&[u8]) -> bool,
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= least, "{target}: {} inputs", paths.len());
    for path in paths {
        println!("{}", path.display());
        let bytes = std::fs::read(&path).unwrap();
        let mut steps = 0;
        body(&bytes, &mut |_| steps += 1);
        assert!(steps > 0 || may_skip(&bytes), "{} did nothing", path.display());
    }
}
