//! The first minutes of a designer: a starter project is written, is sound, plays, and is never written over anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for one test, removed at the end.
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

    /// Does it well and gives what it prints.
    fn does(&self, args: &[&str]) -> String {
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

/// Every file below a folder with its text.
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
fn a_starter_project_is_sound_and_plays_at_once() {
    let home = Folder::new("plays");
    let out = home.does(&["init", "my_game"]);
    let next = "\nNext:\n  ugas check my_game\n  ugas test my_game/scenarios\n  ugas studio my_game/game\n";
    assert!(out.contains(next), "{out}");
    let written = files(&home.0);
    assert_eq!(out.lines().filter(|l| l.starts_with("wrote ")).count(), written.len());
    for (path, _) in &written {
        let path = path.strip_prefix(&home.0).expect("inside").display().to_string();
        assert!(out.contains(&format!("wrote {path}\n")), "{path}: {out}");
    }
    assert_eq!(home.does(&["check", "my_game", "--deny", "warnings"]), "0 errors, 0 warnings\n");
    assert_eq!(home.does(&["test", "my_game/scenarios"]), "3 passed, 0 failed\n");
    assert!(home.does(&["fmt", "--check", "my_game"]).ends_with(", 0 not formatted\n"));
    let shown = home.does(&["show", "GA_Fireball", "my_game"]);
    assert!(shown.contains("Takes 20, then 5 a second for 3 seconds; costs 20 mana"), "{shown}");
    // A number of whoever uses it.
    let shown = home.does(&["show", "GA_Bite", "my_game"]);
    assert!(shown.contains("of Slime: Takes 15"), "{shown}");
}

/// What the README tells to do is done, and comes to what it promises.
#[test]
fn the_next_steps_of_the_starter_are_true() {
    let home = Folder::new("steps");
    home.does(&["init"]);
    let readme = fs::read_to_string(home.0.join("README.md")).expect("a README");
    let commands =
        readme.split(['`', '\n']).map(|l| l.trim_start_matches("$ ").split(" #").next().unwrap_or("").trim());
    let mut ran = 0;
    for line in commands.filter_map(|l| l.strip_prefix("ugas ")) {
        // They end when their reader does, or write what this test does not want.
        if ["lsp", "init"].contains(&line) || line.starts_with("studio ") {
            continue;
        }
        home.does(&line.split(' ').collect::<Vec<_>>());
        ran += 1;
    }
    assert!(ran >= 8, "{ran} commands of the README were run");

    let hero = home.0.join("game/hero.yaml");
    let text = fs::read_to_string(&hero).expect("the hero");
    fs::write(&hero, text.replacen("Value: -20", "Value: -30", 1)).expect("written");
    let (code, out, _) = home.ugas(&["test", "scenarios"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("expected Slime.Health to be 40, found 30"), "{out}");

    fs::write(&hero, text.replace("EffectClass: GE_Burn", "EffectClass: GE_Brun")).expect("written");
    let (code, out, _) = home.ugas(&["check", "."]);
    assert_eq!(code, Some(1));
    assert!(out.contains("hero.yaml:11:") && out.contains("did you mean GE_Burn?"), "{out}");
    home.does(&["fix", "."]);
    assert_eq!(fs::read_to_string(&hero).expect("the hero"), text);
}

#[test]
fn nothing_is_written_where_something_is() {
    let home = Folder::new("full");
    fs::write(home.0.join("notes.txt"), "mine").expect("a file");
    let before = files(&home.0);
    let (code, out, err) = home.ugas(&["init"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("error: the folder is not empty") && err.contains("ugas init my_game"), "{err}");
    let (code, _, err) = home.ugas(&["init", "notes.txt"]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with("notes.txt: error: expected a folder, found a file\n"), "{err}");
    // A hidden file is a file.
    fs::create_dir(home.0.join("hidden")).expect("a folder");
    fs::write(home.0.join("hidden/.keep"), "").expect("a file");
    assert_eq!(home.ugas(&["init", "hidden"]).0, Some(2));
    fs::remove_dir_all(home.0.join("hidden")).expect("removed");
    assert_eq!(files(&home.0), before);

    // The second time it is not empty any more.
    home.does(&["init", "one/two"]);
    let first = files(&home.0);
    assert_eq!(home.ugas(&["init", "one/two"]).0, Some(2));
    assert_eq!(files(&home.0), first);
}
