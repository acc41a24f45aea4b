//! `ugas watch` and `--watch`, used as a person would: save a file and read the output.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The maximum time until a saved file is noticed, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running command and its output lines. The command is stopped when the test ends, also if the test fails.
struct Running {
    child: Child,
    lines: Receiver<String>,
    folder: PathBuf,
}

impl Running {
    fn start(name: &str, args: &[&str], files: &[(&str, &str)]) -> Running {
        let folder = std::env::temp_dir().join(format!("ugas-watch-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_ugas"))
            .current_dir(&folder)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let streams: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Running { child, lines, folder }
    }

    fn save(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join(file), text).unwrap();
    }

    /// Returns the output up to the line that starts with this text.
    fn until(&self, start: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no {start:?} after {seen:#?}"));
            let last = line.starts_with(start);
            seen.push(line);
            if last {
                return seen;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const SCENARIO: &str = "Scenario: A watched hero
Packs: [game]
Actors:
  Hero: {AttributeSets: [Vitals]}
Timeline:
  - At: 2
    Do:
      - Apply: {Effect: GE_Oak, To: Hero}
      - Expect: {Hero.MaxHealth: 120}
";
const VITALS: &str = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: MaxHealth, DefaultBaseValue: 100}]\n";
const OAK: &str = "Kind: gameplay_effect\nName: GE_Oak\nDurationPolicy: Infinite\nModifiers:\n  \
                   - {Attribute: MaxHealth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 20}}\n";

fn files() -> [(&'static str, &'static str); 4] {
    [("hero.yaml", SCENARIO), ("game/pack.yaml", "Name: game\n"), ("game/vitals.yaml", VITALS), ("game/oak.yaml", OAK)]
}

// covers: OWN-08
#[test]
fn watch_reloads_saved_files_and_keeps_running_when_a_file_is_invalid() {
    let run = Running::start("world", &["watch", "hero.yaml"], &files());
    assert_eq!(run.until("watching")[..2], ["A watched hero at 2 s", "  Hero.MaxHealth 120"]);
    run.save("game/vitals.yaml", &VITALS.replace("100", "150"));
    let lines = run.until("watching");
    assert!(lines[0].starts_with("reloaded: attribute_set Vitals changed; 1 controller"), "{lines:#?}");
    assert_eq!(lines[1], "  Hero.MaxHealth 120 -> 170");
    run.save("game/oak.yaml", &OAK.replace("MaxHealth", "MaxHelth"));
    // Errors go to stderr and the status to stdout, so either may come first.
    let mut lines = run.until("reload rejected");
    if !lines.iter().any(|l| l.starts_with("watching")) {
        run.until("watching");
    }
    lines.retain(|l| !l.starts_with("watching"));
    assert!(lines[0].starts_with("game/oak.yaml:5:17:") && lines[0].contains("MaxHelth"), "{lines:#?}");
    assert!(lines[1].contains("did you mean MaxHealth?"), "{lines:#?}");
    run.save("game/oak.yaml", &OAK.replace("20", "5"));
    let lines = run.until("watching");
    assert_eq!(lines[1], "  Hero.MaxHealth 170 -> 155", "{lines:#?}");
    run.save("game/oak.yaml", &OAK.replace("20", "5").replace("GE_Oak\n", "GE_Oak\nEffectTags: [State.Oak]\n"));
    let lines = run.until("watching");
    assert!(lines[1].starts_with("  no value changed"), "{lines:#?}");
}

#[test]
fn check_and_test_rerun_when_a_file_of_a_pack_is_saved() {
    let run = Running::start("test", &["test", "--watch", "hero.yaml"], &files());
    assert_eq!(run.until("watching")[0], "1 passed, 0 failed");
    run.save("game/vitals.yaml", &VITALS.replace("100", "150"));
    let lines = run.until("watching");
    assert!(lines[0].contains("expected Hero.MaxHealth to be 120, found 170"), "{lines:#?}");
    let run = Running::start("check", &["check", "--watch", "game"], &files());
    run.until("0 errors");
    run.until("watching");
    run.save("game/oak.yaml", &OAK.replace("MaxHealth", "MaxHelth"));
    assert!(run.until("1 error,")[0].contains("unknown-attribute"));
}
