//! Runs the commands of the README and the book. Each command that ends by itself is run from the root of the
//! repository, must exit with code 0, and must print the lines that the page shows below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands that run until they are stopped, or that need another process.
const ENDLESS: &[&str] = &["studio", "serve", "bot", "watch", "lsp"];

/// The name of the reader's own folder on the pages.
const OWN: &str = "../my_game";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of a page and the output that the page shows.
struct Shown {
    page: String,
    line: usize,
    arguments: String,
    output: Vec<String>,
}

/// Returns the arguments of a `ugas` command; `None` for other commands.
fn arguments(line: &str) -> Option<&str> {
    let command = line.strip_prefix("$ ")?.split(" #").next()?.trim();
    ["cargo ugas ", "ugas "].iter().find_map(|start| command.strip_prefix(start))
}

fn shown() -> Vec<Shown> {
    let book = fs::read_dir(root().join("book/src")).expect("the book");
    let mut pages: Vec<PathBuf> = book.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.push(root().join("README.md"));
    pages.sort();
    let mut shown = Vec::new();
    for page in pages {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&page).expect("a page");
        let mut is_console = false;
        let mut is_open = false;
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                (is_console, is_open) = (line == "```console", false);
            } else if is_console && line.starts_with("$ ") {
                is_open = arguments(line).is_some();
                shown.extend(arguments(line).map(|arguments| Shown {
                    page: name.clone(),
                    line: at + 1,
                    arguments: arguments.to_owned(),
                    output: Vec::new(),
                }));
            } else if is_open && let Some(last) = shown.last_mut() {
                last.output.push(line.to_owned());
            }
        }
    }
    shown
}

fn is_endless(arguments: &str) -> bool {
    let first = arguments.split_whitespace().next().unwrap_or_default();
    ENDLESS.contains(&first) || first == "demo" && !arguments.contains("--tty")
}

#[test]
fn every_command_line_in_the_book_prints_the_output_the_page_shows() {
    let own = std::env::temp_dir().join(format!("ugas-book-{}", std::process::id()));
    let _ = fs::remove_dir_all(&own);
    let folder = own.display().to_string();
    // A game of the reader's own is there before the first page that plays it.
    let mut shown = shown();
    shown.sort_by_key(|s| !s.arguments.starts_with("init "));
    let mut done = BTreeSet::new();
    for Shown { page, line, arguments, output } in &shown {
        if is_endless(arguments) || !done.insert(arguments) {
            continue;
        }
        let words = arguments.split_whitespace().map(|word| word.replace(OWN, &folder));
        let ran = Command::new(env!("CARGO_BIN_EXE_ugas"))
            .current_dir(root())
            .args(words)
            .stdin(Stdio::null())
            .output()
            .expect("the command starts");
        let printed = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.status.code(), Some(0), "{page}:{line}: ugas {arguments}\n{printed}");
        for expected in output {
            let expected = expected.replace(OWN, &folder);
            assert!(printed.lines().any(|l| l == expected), "{page}:{line}: {expected}\nis not in\n{printed}");
        }
    }
    let _ = fs::remove_dir_all(&own);
    assert!(done.len() > 15, "{done:#?}");
}
