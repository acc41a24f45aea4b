//! `ugas` without arguments opens the demo, `ugas demo --tty` draws the demo in the terminal, and a studio that cannot
//! open reports the reason.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

/// A child process that is stopped when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ugas(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ugas"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ran(args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = ugas(args).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// Returns the response to a page request, including its headers.
fn get(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn without_a_command_the_demo_opens() {
    let mut child = Running(ugas(&[]).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:")).unwrap();
    assert!(get(address).starts_with("HTTP/1.1 200"), "{first}");
    assert!(get(address).contains("<title>ugas studio</title>"));
    assert!(lines.any(|line| line.unwrap().contains("ugas help")), "it says where everything else is");
}

/// Replaces the system's browser command with a script that records its arguments.
#[cfg(target_os = "linux")]
#[test]
fn open_starts_a_browser_and_reports_when_it_cannot() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("ugas-cli-open-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (program, asked) = (folder.join("xdg-open"), folder.join("asked"));
    std::fs::write(
        &program,
        format!("#!/bin/sh\nprintf %s \"$1\" > {0}.new && /bin/mv {0}.new {0}\n", asked.display()),
    )
    .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut child = Running(ugas(&["demo", "--open"]).env("PATH", &folder).spawn().unwrap());
    let first = BufReader::new(child.0.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    while !asked.exists() {
        std::thread::yield_now();
    }
    assert!(first.ends_with(&std::fs::read_to_string(&asked).unwrap()), "{first}");
    drop(child);
    std::fs::remove_file(&program).unwrap();
    let mut child = Running(ugas(&["demo", "--open"]).env("PATH", &folder).spawn().unwrap());
    let note = BufReader::new(child.0.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    assert!(note.contains("cannot open a browser") && note.contains("open the address yourself"), "{note}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_demo_is_drawn_in_a_terminal() {
    let (code, out, _) = ran(&["demo", "--tty", "--ticks", "600"]);
    assert_eq!(code, Some(0));
    for part in ["tick 600", "Brann", "█", "shots per minute", "cooldown shown twice: 0 frames"] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    assert_eq!(ran(&["demo", "--tty", "--ticks", "600"]).1, out, "the same seed, the same picture");
}

#[test]
fn a_studio_that_cannot_open_a_file_names_it() {
    let (code, _, err) = ran(&["studio", "nothing/here.yaml"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("nothing/here.yaml"), "{err}");
}

const TWO: &str = "Scenario: Night falls
Timeline: [{At: 1, Do: []}]
---
Scenario: Day breaks
Timeline: [{At: 2, Do: []}]
";

#[test]
fn one_scenario_of_a_file_is_chosen_by_name_or_number() {
    let file = std::env::temp_dir().join(format!("ugas-cli-two-{}.yaml", std::process::id()));
    std::fs::write(&file, TWO).unwrap();
    let path = file.display().to_string();
    let (code, _, err) = ran(&["studio", &path, "--scenario", "Noon"]);
    assert_eq!(code, Some(2));
    assert!(err.contains(r#"unknown scenario "Noon"; the file has 1 "Night falls", 2 "Day breaks""#), "{err}");
    assert_eq!(ran(&["studio", &path, "--scenario", "3"]).0, Some(2));
    assert_eq!(ran(&["studio", "--scenario", "1"]).0, Some(2), "there is no file to choose from");
    assert_eq!(ran(&["sim", &path, "--scenario", "Day breaks"]).0, Some(0), "the other commands choose alike");
    for (args, is_reported) in [(&["--scenario", "Day breaks", "--seed", "9"][..], false), (&[], true)] {
        let all: Vec<&str> = ["studio", &path, "--port", "0"].into_iter().chain(args.iter().copied()).collect();
        let mut child = Running(ugas(&all).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().contains("http://127.0.0.1:"), "{args:?}");
        child.0.kill().unwrap();
        let mut err = String::new();
        child.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(err.contains("has 2 scenarios"), is_reported, "{err}");
    }
    std::fs::remove_file(&file).unwrap();
}

/// Follows the tutorial from a new project to a changed value in a running world.
#[test]
fn a_changed_value_of_a_new_project_applies_while_it_runs() {
    let folder = std::env::temp_dir().join(format!("ugas-cli-studio-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(ran(&["init", &folder.display().to_string()]).0, Some(0));
    let game = ugas_studio::session::Session::resolve_path(&folder).unwrap();
    assert_eq!(game, folder.join("game"), "the folder that was made can be opened too");
    let mut backend = ugas_studio::Backend::at(&game, ugas_studio::session::OpenOptions::default()).unwrap();
    let mut ask = |question: serde_json::Value| -> serde_json::Value {
        serde_json::from_str(&backend.answer(&question.to_string())).unwrap()
    };
    let health = |frame: &serde_json::Value| {
        let list = frame["details"][0]["detail"]["attributes"].as_array().unwrap();
        list.iter().find(|a| a["name"] == "Health").unwrap()["value"].as_f64().unwrap()
    };
    let watch = serde_json::json!({ "ask": "frame", "watch": [[null, "Slime"]] });
    let burn = serde_json::json!({ "Action": { "Apply": { "effect": "GE_Burn", "to": "Slime" } } });
    let done = ask(serde_json::json!({ "ask": "put", "input": burn }));
    assert_eq!(done["error"], serde_json::Value::Null, "{done}");
    let before = health(&ask(watch.clone()));
    let files = ask(serde_json::json!({ "ask": "files" }));
    let file = files.as_array().unwrap().iter().find(|f| f.as_str().unwrap().ends_with("hero.yaml")).unwrap().clone();
    let text = ask(serde_json::json!({ "ask": "file", "name": file }))["text"].as_str().unwrap().to_owned();
    let edit = serde_json::json!({ "Edit": { "file": file, "text": text.replace("Value: -5}", "Value: -25}") } });
    let done = ask(serde_json::json!({ "ask": "put", "input": edit }));
    assert_eq!(done["error"], serde_json::Value::Null, "{done}");
    ask(serde_json::json!({ "ask": "step", "ticks": 61 }));
    assert_eq!(health(&ask(watch)), before - 25.0, "the fire that burns already takes twenty-five");
    let _ = std::fs::remove_dir_all(&folder);
}
