//! The documentation is correct: every scenario passes, and every path in a command line exists.

use std::fs;
use std::path::{Path, PathBuf};

/// The first word of a block that is a whole scenario.
const SCENARIO: &str = "Scenario:";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and the pages of the book, with their paths from the root.
fn pages() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned()];
    for entry in fs::read_dir(root().join("book/src")).expect("the book") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        if name.ends_with(".md") {
            names.push(format!("book/src/{name}"));
        }
    }
    names.sort();
    let read = |name: String| {
        let text = fs::read_to_string(root().join(&name)).expect("a page");
        (name, text)
    };
    names.into_iter().map(read).collect()
}

/// A fenced block: its language, and its lines with their numbers.
struct Block<'a> {
    language: &'a str,
    lines: Vec<(usize, &'a str)>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => {
                open = Some(Block { language, lines: Vec::new() });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.lines.push((at + 1, line));
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// Readers copy examples from the Markdown itself; only rustdoc hides such lines.
#[test]
fn no_line_of_a_rust_example_is_hidden() {
    let mut hidden = Vec::new();
    for (name, text) in pages() {
        for block in blocks(&text).iter().filter(|b| b.language.starts_with("rust")) {
            let lines = block.lines.iter().filter(|(_, line)| line.trim() == "#" || line.trim().starts_with("# "));
            hidden.extend(lines.map(|(at, line)| format!("{name}:{at}: {line}")));
        }
    }
    assert!(hidden.is_empty(), "{}", hidden.join("\n"));
}

#[test]
fn every_scenario_in_the_documentation_passes() {
    let mut wrong = Vec::new();
    for (name, text) in pages() {
        let mut shown = 0;
        for block in blocks(&text).iter().filter(|b| b.language == "yaml") {
            let Some((first, _)) = block.lines.first().filter(|(_, l)| l.starts_with(SCENARIO)) else {
                continue;
            };
            // Empty lines before it give a failure the line of the page.
            let lines = block.lines.iter().map(|(_, line)| *line);
            let scenario = "\n".repeat(first - 1) + &lines.collect::<Vec<_>>().join("\n");
            let results = ugas_lab::run_str(&name, &scenario);
            assert!(results.reports.len() + results.unreadable.len() > 0, "{name}:{first}: nothing ran");
            if !results.is_ok() {
                wrong.push(results.describe());
            }
            shown += 1;
        }
        // A scenario whose fence is misspelt would not be run.
        let meant = text.lines().filter(|l| l.starts_with(SCENARIO)).count();
        assert_eq!(shown, meant, "{name}: scenarios in blocks marked yaml, and scenarios");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_listed_pages_contain_scenarios() {
    for (name, text) in pages() {
        let needs = ["README.md", "book/src/scenarios.md", "book/src/effects.md", "book/src/cookbook.md"]
            .contains(&name.as_str());
        assert!(!needs || text.contains("\n```yaml\nScenario:"), "{name} shows no scenario");
    }
}

/// Each recipe is a file that can be run and opened in the studio, and the page shows the same text.
#[test]
fn the_recipes_of_the_cookbook_equal_their_files() {
    let page = fs::read_to_string(root().join("book/src/cookbook.md")).expect("the cookbook");
    let blocks = blocks(&page);
    let shown = blocks.iter().filter(|b| b.language == "yaml");
    let shown: Vec<String> = shown.map(|b| b.lines.iter().map(|(_, l)| format!("{l}\n")).collect()).collect();
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("scenarios/cookbook")).expect("the recipes") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a recipe");
        assert!(shown.contains(&text), "{} differs from the cookbook", path.display());
        files.push(text);
    }
    for recipe in &shown {
        assert!(files.contains(recipe), "no file has this recipe: {}", recipe.lines().next().unwrap_or_default());
    }
}

/// Rust that is not compiled is not true for long.
#[test]
fn every_page_with_rust_is_compiled_by_some_crate() {
    let mut crates = String::new();
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        crates += &fs::read_to_string(entry.expect("an entry").path().join("src/lib.rs")).unwrap_or_default();
    }
    for (name, text) in pages() {
        for block in blocks(&text).iter().filter(|b| b.language.starts_with("rust")) {
            let line = block.lines.first().map_or(0, |(line, _)| *line);
            assert!(!block.language.contains("ignore"), "{name}:{line}: no crate compiles it");
            assert!(
                crates.contains(&format!("include_str!(\"../../../{name}\")")),
                "{name}:{line}: no crate compiles it"
            );
        }
    }
}

/// The anchor that mdBook and code hosts give a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_has_a_target() {
    let pages = pages();
    let summary = &pages.iter().find(|(name, _)| name.ends_with("SUMMARY.md")).expect("a summary").1;
    for (name, text) in &pages {
        let file = name.rsplit('/').next().unwrap_or(name);
        let is_listed = file == "SUMMARY.md" || file == "README.md" || summary.contains(&format!("]({file})"));
        assert!(is_listed, "{name} is in no summary");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, part) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(name).parent().unwrap_or(Path::new(""));
            let is_picture = path.ends_with(".webp") || path.ends_with(".png");
            assert!(!is_picture || root().join(folder).join(path).exists(), "{name}: there is no picture {path}");
            if path.contains("://") || !(path.is_empty() || path.ends_with(".md")) {
                continue;
            }
            let to = if path.is_empty() { name.clone() } else { folder.join(path).display().to_string() };
            let there = fs::read_to_string(root().join(&to)).unwrap_or_else(|_| panic!("{name}: there is no {link}"));
            let mut headings = there.lines().filter(|line| line.starts_with('#')).map(anchor);
            assert!(part.is_empty() || headings.any(|h| h == part), "{name}: {to} has no part {part}");
        }
    }
}

/// Keys that are documented and do nothing are worse than none.
#[test]
fn the_book_lists_the_keyboard_shortcuts_of_the_studio() {
    let book = fs::read_to_string(root().join("book/src/studio.md")).expect("the page");
    let code = fs::read_to_string(root().join("crates/ugas-studio/pages/app.js")).expect("the studio's frame");
    let list =
        code.split("const SHORTCUTS = {").nth(1).and_then(|rest| rest.split("\n};").next()).expect("a list of keys");
    let key = |line: &str| line.trim().split(": [").next().map(|key| key.trim_matches('"').to_uppercase());
    let coded: Vec<String> = list.lines().filter(|line| line.contains(": [")).filter_map(key).collect();
    let shown = book.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ").map(|(key, _)| key));
    let shown: Vec<&str> = shown.filter(|key| key.chars().count() == 1).collect();
    assert_eq!(shown, coded);
}

/// A promise is worth the test that shows it.
#[test]
fn the_tests_that_the_security_page_names_exist() {
    let page = fs::read_to_string(root().join("book/src/security.md")).expect("the page");
    let mut tests = String::new();
    for folder in [
        "crates/ugas-net/tests/suite/boundary",
        "crates/ugas-net/tests/suite/rolls",
        "crates/ugas-transport/tests/carriers",
        "crates/ugas-transport/tests",
    ] {
        let entries = fs::read_dir(root().join(folder)).expect("the tests");
        for file in entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()) {
            tests += &fs::read_to_string(file).expect("a test");
        }
    }
    let rows = page.lines().filter_map(|l| l.strip_prefix("| ")?.split(" | ").nth(1)).filter(|c| c.starts_with('`'));
    let names = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|name| !name.contains("::"));
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(tests.contains(&format!("#[test]\nfn {name}(")), "there is no test {name}");
    }
}

/// The paths that a command line gives to `ugas`; none if it does not call it.
fn paths_of(line: &str) -> Vec<&str> {
    let command = line.trim_start_matches("$ ").split(" #").next().unwrap_or_default();
    let arguments = ["cargo ugas ", "ugas "].iter().find_map(|start| command.strip_prefix(start));
    let mut words = arguments.unwrap_or_default().split_whitespace();
    // What `show` is asked for first is a name.
    if words.next() == Some("show") {
        words.next();
    }
    let mut paths = Vec::new();
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            // Every option of the command takes a value.
            words.next();
        } else if !word.starts_with("../") && !word.contains("://") {
            // Paths outside the repository belong to the reader, and a URL is not a path.
            paths.push(word);
        }
    }
    paths
}

#[test]
fn the_paths_of_a_command_line_are_found() {
    assert_eq!(paths_of("$ cargo ugas sim a.yaml --runs 3 b   # c.yaml"), ["a.yaml", "b"]);
    assert_eq!(paths_of("$ ugas test scenarios"), ["scenarios"]);
    assert!(paths_of("$ cargo ugas init ../my_game   # new").is_empty());
    assert_eq!(paths_of("$ ugas show Health packs/rpg"), ["packs/rpg"]);
    assert!(paths_of("$ cargo test --workspace").is_empty());
    assert!(paths_of("$ cargo run -p ugas --example embed").is_empty());
}

#[test]
fn every_path_a_command_line_names_exists() {
    let mut checked = 0;
    for (name, text) in pages() {
        for block in blocks(&text).iter().filter(|b| b.language == "console") {
            for (line, command) in &block.lines {
                for path in paths_of(command) {
                    assert!(root().join(path).exists(), "{name}:{line}: there is no {path}");
                    checked += usize::from(name == "README.md");
                }
            }
        }
    }
    assert!(checked > 0, "the README shows no command line with a path");
}
