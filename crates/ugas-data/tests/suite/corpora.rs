//! Every input of the fuzz corpora through the code the fuzzer runs, so that what was found once stays found without a
//! fuzzer. The corpora are in `fuzz/corpus`, one folder a target; a find is minimised and put there.

#[path = "../../../../fuzz/src/body/mod.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate has these in its library")]
mod body;

use body::TARGETS;
use std::path::Path;

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap())
    };
    let mut inputs: Vec<(String, Vec<u8>)> = files.map(|entry| read(entry.unwrap())).collect();
    inputs.sort();
    inputs
}

#[test]
fn every_corpus_is_replayed() {
    for (target, body) in TARGETS {
        let inputs = corpus(target);
        assert!(inputs.len() >= 20, "{target}: {} inputs", inputs.len());
        for (name, bytes) in inputs {
            println!("{target}/{name}");
            let mut steps = 0;
            body(&bytes, &mut |_| steps += 1);
            assert!(
                steps > 0 || std::str::from_utf8(&bytes).is_err() || bytes.is_empty(),
                "{target}/{name} did nothing"
            );
        }
    }
}
