//! `ugas lsp` over its pipes, and `ugas show`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn packs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(name)
}

fn message(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

/// Runs the server with this input and closes standard input after it.
fn served(input: &[u8]) -> Output {
    let mut server = Command::new(env!("CARGO_BIN_EXE_ugas"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    // A server that has exited closes the pipe.
    let _ = server.stdin.take().expect("its standard input").write_all(input);
    server.wait_with_output().expect("the server ends")
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;
const SHUTDOWN: &str = r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#;
const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

#[test]
fn the_server_reports_its_capabilities_and_exits_on_request() {
    let ran = served(&[INITIALIZE, INITIALIZED, SHUTDOWN, EXIT].map(message).concat());
    let out = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(out.starts_with("Content-Length: ") && out.contains("\"renameProvider\""), "{out}");
}

#[test]
fn the_server_exits_with_an_error_on_malformed_messages() {
    let start = [INITIALIZE, INITIALIZED].map(message).concat();
    let hostile: [Vec<u8>; 6] = [
        Vec::new(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        message("{"),
        message(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}"#),
        [start.clone(), message("[]")].concat(),
        [start, b"Content-Length: 99999\r\n\r\n{".to_vec()].concat(),
    ];
    for input in hostile {
        let ran = served(&input);
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

fn shown(args: &[&str]) -> (Option<i32>, String, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_ugas")).arg("show").args(args).output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

#[test]
fn show_prints_a_definition_its_value_and_what_uses_it() {
    let rpg = packs("rpg").display().to_string();
    let (code, out, err) = shown(&["WeaponDamage", &rpg]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("attribute WeaponDamage, ") && out.contains("attributes.yaml:34\n"), "{out}");
    assert!(out.contains("Hero_Barbarian_01: WeaponDamage 18.0"), "{out}");
    assert!(out.contains("effects.yaml:25 Attribute of GE_Weapon_FireSword"), "{out}");
    let (code, _, err) = shown(&["WeaponDamge", &rpg]);
    assert_eq!(code, Some(2));
    assert!(err.contains("did you mean WeaponDamage?"), "{err}");
}

// covers: PEER-20
#[test]
fn show_fills_the_numbers_of_a_level_into_a_text() {
    let folder = std::env::temp_dir().join(format!("ugas-show-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let text = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n---\n\
                Kind: curve\nName: C_Fire\nPoints: [{X: 1, Y: 40}, {X: 2, Y: 52}]\n---\n\
                Kind: gameplay_effect\nName: GE_Fireball\nDurationPolicy: Instant\nModifiers:\n\
                - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Curve: C_Fire, Value: -1}}\n\
                Metadata: {Description: 'Deals {GE_Fireball.Health} damage'}\n";
    std::fs::write(folder.join("fire.yaml"), text).expect("a file for the test");
    let path = folder.display().to_string();
    let (_, first, _) = shown(&["GE_Fireball", &path]);
    let (_, second, _) = shown(&["GE_Fireball", &path, "--level", "2"]);
    let _ = std::fs::remove_dir_all(&folder);
    assert!(first.contains("at level 1: Deals 40 damage"), "{first}");
    assert!(second.contains("at level 2: Deals 52 damage"), "{second}");
}
