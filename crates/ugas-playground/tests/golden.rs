//! What every scenario that needs no other file, and the demo, end with: `golden.txt`. This test compares it with what runs
//! here; `golden.mjs` with the same code as wasm, under node and in a browser. After a change that is meant, write it again
//! with `UGAS_BLESS=1 cargo test -p ugas-playground --test golden`.

use std::fs;
use std::path::{Path, PathBuf};
use ugas_playground::outcomes;
use ugas_studio::Backend;
use ugas_studio::session::Session;

/// The ticks at which the demo's hash is compared.
const TICKS: [u32; 3] = [60, 600, 1800];

fn scenarios(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut inside: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    inside.sort();
    for path in inside {
        if path.is_dir() {
            scenarios(&path, into);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            into.push(path);
        }
    }
}

fn golden(root: &Path) -> String {
    let mut text = String::new();
    let mut backend = Backend::new(Box::new(Session::duel), 7).unwrap();
    for tick in TICKS {
        backend.answer(&format!(r#"{{"ask": "open", "seed": 7, "tick": {tick}}}"#));
        let frame: serde_json::Value = serde_json::from_str(&backend.answer(r#"{"ask": "frame"}"#)).unwrap();
        text += &format!("demo {tick}\n{}\n", frame["hash"].as_str().unwrap());
    }
    let mut files = Vec::new();
    scenarios(&root.join("scenarios"), &mut files);
    for file in files {
        let scenario = fs::read_to_string(&file).unwrap();
        // A browser has no packs on disk.
        if scenario.lines().any(|line| line.starts_with("Packs:")) {
            continue;
        }
        let lines = outcomes(&scenario);
        let name = file.strip_prefix(root).unwrap().display().to_string().replace('\\', "/");
        assert!(lines.lines().all(|line| line.starts_with("holds ")), "{name}:\n{lines}");
        text += &format!("scenario {name}\n{lines}\n");
    }
    text
}

#[test]
fn the_demo_and_all_scenarios_end_with_the_golden_hashes() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let found = golden(&root);
    assert!(found.lines().filter(|line| line.starts_with("holds ")).count() > 300, "most scenarios need no other file");
    let file = here.join("golden.txt");
    if std::env::var_os("UGAS_BLESS").is_some() {
        fs::write(&file, &found).unwrap();
    }
    let there = fs::read_to_string(&file).unwrap_or_default();
    for (found, there) in found.lines().zip(there.lines()) {
        assert_eq!(found, there, "golden.txt says otherwise; write it with UGAS_BLESS=1 if the change is meant");
    }
    assert_eq!(found.lines().count(), there.lines().count(), "golden.txt has other lines; write it with UGAS_BLESS=1");
}
