//! `ugas init`: the starter project is valid, its scenarios pass, and existing files are never overwritten.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ugas-init-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    fn ugas(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let command = Command::new(env!("CARGO_BIN_EXE_ugas")).current_dir(&self.0).args(args).output();
        let Output { status, stdout, stderr } = command.expect("the command starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("a text");
        (status.code(), text(stdout), text(stderr))
    }

    /// Runs a command that must succeed, and returns its output.
    fn run_ok(&self, args: &[&str]) -> String {
        let (code, out, err) = self.ugas(args);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?}: {out}");
        out
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns every file below a folder with its text.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push((path.clone(), fs::read_to_string(&path).expect("a text"))),
        }
    }
    all.sort();
    all
}

#[test]
fn a_starter_project_is_valid_and_runs_at_once() {
    let folder = Folder::new("plays");
    let out = folder.run_ok(&["init", "my_game"]);
    let next = "\nNext:\n  ugas check my_game\n  ugas test my_game/scenarios\n  ugas studio my_game/game\n";
    assert!(out.contains(next), "{out}");
    let written = files(&folder.0);
    assert_eq!(out.lines().filter(|l| l.starts_with("wrote ")).count(), written.len());
    for (path, _) in &written {
        let path = path.strip_prefix(&folder.0).expect("inside").display().to_string();
        assert!(out.contains(&format!("wrote {path}\n")), "{path}: {out}");
    }
    assert_eq!(folder.run_ok(&["check", "my_game", "--deny", "warnings"]), "0 errors, 0 warnings\n");
    assert_eq!(folder.run_ok(&["test", "my_game/scenarios"]), "3 passed, 0 failed\n");
    assert!(folder.run_ok(&["fmt", "--check", "my_game"]).ends_with(", 0 not formatted\n"));
    let shown = folder.run_ok(&["show", "GA_Fireball", "my_game"]);
    assert!(shown.contains("Deals 20 damage, then 5 per second for 3 seconds; costs 20 mana"), "{shown}");
    // The number depends on the owner of the ability.
    let shown = folder.run_ok(&["show", "GA_Bite", "my_game"]);
    assert!(shown.contains("of Slime: Deals 15 damage"), "{shown}");
}

/// Runs every command of the starter's README and checks the promised results.
#[test]
fn the_commands_in_the_starter_readme_work() {
    let folder = Folder::new("steps");
    folder.run_ok(&["init"]);
    let readme = fs::read_to_string(folder.0.join("README.md")).expect("a README");
    let commands =
        readme.split(['`', '\n']).map(|l| l.trim_start_matches("$ ").split(" #").next().unwrap_or("").trim());
    let mut ran = 0;
    for line in commands.filter_map(|l| l.strip_prefix("ugas ")) {
        // These commands run until they are stopped, or create another project.
        if ["lsp", "init"].contains(&line) || line.starts_with("studio ") {
            continue;
        }
        folder.run_ok(&line.split(' ').collect::<Vec<_>>());
        ran += 1;
    }
    assert!(ran >= 8, "{ran} commands of the README were run");

    let hero = folder.0.join("game/hero.yaml");
    let text = fs::read_to_string(&hero).expect("the hero");
    fs::write(&hero, text.replacen("Value: -20", "Value: -30", 1)).expect("written");
    let (code, out, _) = folder.ugas(&["test", "scenarios"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("expected Slime.Health to be 40, found 30"), "{out}");

    fs::write(&hero, text.replace("EffectClass: GE_Burn", "EffectClass: GE_Brun")).expect("written");
    let (code, out, _) = folder.ugas(&["check", "."]);
    assert_eq!(code, Some(1));
    assert!(out.contains("hero.yaml:11:") && out.contains("did you mean GE_Burn?"), "{out}");
    folder.run_ok(&["fix", "."]);
    assert_eq!(fs::read_to_string(&hero).expect("the hero"), text);
}

#[test]
fn init_writes_nothing_into_a_folder_that_is_not_empty() {
    let folder = Folder::new("full");
    fs::write(folder.0.join("notes.txt"), "mine").expect("a file");
    let before = files(&folder.0);
    let (code, out, err) = folder.ugas(&["init"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("error: the folder is not empty") && err.contains("ugas init my_game"), "{err}");
    let (code, _, err) = folder.ugas(&["init", "notes.txt"]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with("notes.txt: error: expected a folder, found a file\n"), "{err}");
    // A hidden file counts as a file.
    fs::create_dir(folder.0.join("hidden")).expect("a folder");
    fs::write(folder.0.join("hidden/.keep"), "").expect("a file");
    assert_eq!(folder.ugas(&["init", "hidden"]).0, Some(2));
    fs::remove_dir_all(folder.0.join("hidden")).expect("removed");
    assert_eq!(files(&folder.0), before);

    // The second `init` finds a folder that is not empty.
    folder.run_ok(&["init", "one/two"]);
    let first = files(&folder.0);
    assert_eq!(folder.ugas(&["init", "one/two"]).0, Some(2));
    assert_eq!(files(&folder.0), first);
}
