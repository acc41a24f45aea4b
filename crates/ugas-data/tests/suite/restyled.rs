//! The formatter keeps the meaning of a pack in any style. The documents of every pack are written in random styles
//! (order of keys, block and flow, quotes, comments, empty lines, indentation, JSON), and each file is formatted: a
//! second run changes nothing, the documents are the same, and so is the hash of the rules.

use crate::kit::style::{Draw, json, yaml};
use std::path::{Path, PathBuf};
use ugas_data::{Documents, Node, NodeValue, Project, format, read_str, read_trees};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn packs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs")
}

/// The files of a pack and of its required packs, with their trees.
fn trees(pack: &str) -> Vec<(PathBuf, Vec<Node>)> {
    let project = Project::open(packs().join(pack)).unwrap();
    let read = |s: &ugas_data::Source| (s.path.clone(), read_trees(&s.name, &s.text).unwrap());
    project.sources().iter().map(read).collect()
}

/// The hash of the rules of the set that has everything.
fn hash(files: &[(PathBuf, String)]) -> u64 {
    let mut project = Project::default();
    files.iter().for_each(|(path, text)| project.put(path, text.clone()));
    let sets = project.sets();
    let whole = sets.iter().max_by_key(|set| set.own.len() + set.required.len()).unwrap();
    let (rules, issues) = project.build(whole);
    rules.unwrap_or_else(|| panic!("{issues:?}")).fingerprint()
}

fn docs(name: &str, text: &str) -> Vec<ugas_doc::Doc> {
    let list = |d: Documents| d.docs.into_iter().map(|l| l.doc).collect();
    read_str(name, text).map(list).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Whether two trees are equal, apart from the order of keys.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (NodeValue::Map(a), NodeValue::Map(other)) => {
            a.len() == other.len() && a.iter().all(|e| b.get(&e.key).is_some_and(|v| same(&e.value, v)))
        }
        (NodeValue::List(a), NodeValue::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (a, b) => a == b,
    }
}

/// Writes one pack in a style of its own and formats it; how many files that were, and how many of them the formatter
/// left as they were.
fn restyle(pack: &str, trees: &[(PathBuf, Vec<Node>)], seed: u64) -> (u64, u64) {
    let mut draw = Draw::new(seed);
    let mut left = 0;
    let (mut written, mut formatted) = (Vec::new(), Vec::new());
    for (path, list) in trees {
        // A file of JSON holds one document; a pack's own file keeps its name.
        let as_json = list.len() == 1 && path.file_name().is_some_and(|n| n != "pack.yaml") && draw.chance(15);
        let path = if as_json { path.with_extension("json") } else { path.clone() };
        let text = if as_json { json(&list[0], &mut draw) } else { yaml(list, &mut draw) };
        let name = path.display().to_string();
        let about = || format!("seed {seed}, {pack}, {name}\n{text}");
        let reread = read_trees(&name, &text).unwrap_or_else(|e| panic!("{}\n{e}", about()));
        assert!(reread.len() == list.len() && reread.iter().zip(list).all(|(a, b)| same(a, b)), "{}", about());
        let once = format(&name, &text).unwrap_or_else(|e| panic!("{}\n{e}", about()));
        assert_eq!(format(&name, &once).unwrap(), once, "a second run changes nothing: {}", about());
        // A byte order mark goes: it is no part of the text.
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect::<String>();
        assert_eq!(bare(&once), bare(&text), "only white space changes: {}", about());
        if path.file_name().is_some_and(|n| n != "pack.yaml") {
            assert_eq!(docs(&name, &once), docs(&name, &text), "{}", about());
        }
        left += u64::from(once == text);
        written.push((path.clone(), text));
        formatted.push((path, once));
    }
    assert_eq!(hash(&formatted), hash(&written), "the rules are the same: seed {seed}, {pack}");
    (trees.len() as u64, left)
}

/// `UGAS_SOAK=1` writes more than ten thousand files.
#[test]
fn formatting_keeps_the_rules_however_a_pack_is_written() {
    let soak = number("UGAS_SOAK") == Some(1);
    let from = number("UGAS_SOAK_FROM").filter(|_| soak).unwrap_or(0);
    let seeds = if soak { number("UGAS_SOAK_SEEDS").unwrap_or(1_200) } else { 15 };
    let mut names: Vec<String> =
        std::fs::read_dir(packs()).unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| packs().join(name).join("pack.yaml").is_file());
    names.sort();
    let all: Vec<_> = names.iter().map(|name| trees(name)).collect();
    let (mut cases, mut left) = (0, 0);
    for seed in from..from + seeds {
        let at = seed as usize % names.len();
        let (files, as_they_were) = restyle(&names[at], &all[at], seed);
        (cases, left) = (cases + files, left + as_they_were);
    }
    assert!(left * 10 < cases, "{left} of {cases} files were left as they were");
    assert!(cases >= 5 * seeds, "{cases} files");
    if soak {
        let to = from + seeds;
        println!("soak: name=formatting_keeps_the_rules_however_a_pack_is_written seeds={from}..{to} cases={cases}");
    }
}
