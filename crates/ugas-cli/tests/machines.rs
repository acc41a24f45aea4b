//! `ugas serve` and `ugas bot` as separate processes: a scenario over real sockets ends in the same state on the server
//! and on every client, and in every run.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

/// Three clients attack each other with abilities that have costs and cooldowns.
const DUEL: &str = include_str!("../../../scenarios/network/duel.yaml");

/// How often a session is repeated because the machine stalled.
const MAX_RETRIES: u32 = 2;

/// A temporary folder for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ugas-machines-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        std::fs::write(path.join("duel.yaml"), DUEL).expect("a file for the test");
        Folder(path)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ugas"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn ugas(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command(args).output().expect("the command starts");
        (output.status.code(), text_of(&output))
    }

    /// Starts a server on a free port of each transport.
    fn serve(&self, who: &[&str]) -> Serving {
        let listen = ["--listen", "udp://127.0.0.1:0", "--listen", "ws://127.0.0.1:0"];
        let args = [&["serve", "duel.yaml"][..], &listen, who].concat();
        let mut child = self.command(&args).spawn().expect("the command starts");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = || {
            let mut line = String::new();
            out.read_line(&mut line).expect("the server writes text");
            line.trim_end().to_owned()
        };
        let (udp, websocket) = (line(), line());
        assert_eq!(line(), "waiting for Ana, Ben, Cem");
        Serving { child, out, udp, websocket }
    }

    fn bot(&self, args: &[&str]) -> Running {
        let args = [&["bot", "duel.yaml"][..], args].concat();
        Running(Some(self.command(&args).spawn().expect("the command starts")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server and its addresses. The server is stopped when the test ends, also if the test fails.
struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    udp: String,
    websocket: String,
}

impl Serving {
    /// Waits for the exit of the server and returns its remaining output.
    fn finish(mut self) -> (Option<i32>, Vec<String>) {
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("text");
        self.child.stderr.take().expect("it is piped").read_to_string(&mut text).expect("text");
        let code = self.child.wait().expect("it ends").code();
        (code, text.lines().map(str::to_owned).collect())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A bot. It is stopped when the test ends, also if the test fails.
struct Running(Option<Child>);

impl Running {
    fn finish(mut self) -> Output {
        self.0.take().expect("it runs").wait_with_output().expect("it ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs the session, and repeats it if the server rejected a late command because the machine stalled. A result of such
/// a run says nothing about the program. Each repetition is printed, and only two are allowed, so that a program that
/// is itself late still fails.
fn play_in_time<'n>(start: impl Fn() -> (Serving, Vec<(&'n str, Running)>)) -> String {
    let mut late = Vec::new();
    for _ in 0..=MAX_RETRIES {
        let (server, bots) = start();
        match play(server, bots) {
            Ok(world) => return world,
            Err(lines) => {
                eprintln!("played anew, because commands came too late: {lines:?}");
                late.push(lines);
            }
        }
    }
    panic!("commands came too late in {} games in a row: {late:#?}", late.len());
}

/// Runs the session to the end and checks that the hash of every bot equals the server's hash. Returns the final state,
/// or the rejected command if a command was too late.
fn play(server: Serving, bots: Vec<(&str, Running)>) -> Result<String, Vec<String>> {
    let bots: Vec<(&str, Output)> = bots.into_iter().map(|(name, bot)| (name, bot.finish())).collect();
    let (code, lines) = server.finish();
    let refused: Vec<&String> = lines.iter().filter(|line| line.starts_with("rejected ")).collect();
    let is_late =
        |line: &&String| line.ends_with("tick too far in the past") || line.ends_with("tick too far in the future");
    if refused.iter().any(is_late) {
        return Err(refused.into_iter().cloned().collect());
    }
    assert!(code == Some(0) && refused.is_empty(), "{code:?} {lines:#?}");
    for (name, output) in bots {
        assert!(output.status.success(), "{name}: {}", text_of(&output));
        let progress = String::from_utf8_lossy(&output.stderr);
        let progress_lines: Vec<&str> = progress.lines().collect();
        let [connecting, "connected, waiting for the other clients", "running"] = progress_lines[..] else {
            panic!("{name}: {progress}");
        };
        assert!(connecting.starts_with(&format!("connecting as {name} to ")), "{connecting}");
        let hash = String::from_utf8_lossy(&output.stdout);
        assert_eq!(hash.lines().count(), 1, "{name} owns one actor: {hash}");
        let line = format!("{name} {}", hash.trim_end());
        assert!(lines.contains(&line), "{line} is not in {lines:#?}");
    }
    let world = lines.iter().find(|line| line.starts_with("hash "));
    Ok(world.unwrap_or_else(|| panic!("no hash in {lines:#?}")).clone())
}

#[test]
fn two_clients_over_udp_and_one_over_websocket_reach_the_same_state() {
    let folder = Folder::new("duel");

    let with_tokens = play_in_time(|| {
        let server = folder.serve(&["--tokens", "tokens"]);
        let tokens = [("Ana", "tokens/Ana.udp.token"), ("Ben", "tokens/Ben.udp.token"), ("Cem", "tokens/Cem.ws.token")];
        let bots = tokens.map(|(name, token)| (name, folder.bot(&["--as", name, "--token", token])));
        (server, bots.into())
    });
    let open = play_in_time(|| {
        let server = folder.serve(&["--insecure", "--seed", "0"]);
        let ways = [("Ana", server.websocket.clone()), ("Ben", server.udp.clone()), ("Cem", server.udp.clone())];
        let bots = ways.map(|(name, address)| (name, folder.bot(&["--as", name, "--connect", &address])));
        (server, bots.into())
    });
    assert_eq!(open, with_tokens, "the transports of the clients make no difference");
}

#[test]
fn clients_that_connect_seconds_apart_reach_the_same_state() {
    let folder = Folder::new("apart");
    play_in_time(|| {
        let server = folder.serve(&["--insecure"]);
        let bots = ["Ana", "Ben", "Cem"].map(|name| {
            let bot = folder.bot(&["--as", name, "--connect", &server.udp]);
            // A person starts the bots by hand. A client must not take the time until the last one for a round trip.
            std::thread::sleep(Duration::from_secs(3));
            (name, bot)
        });
        (server, bots.into())
    });
}

#[test]
fn each_reason_why_a_bot_cannot_connect_has_its_own_message() {
    let folder = Folder::new("tokens");
    let server = folder.serve(&["--tokens", "tokens"]);
    let other = folder.serve(&["--tokens", "others"]);
    let closed = other.udp.clone();
    drop(other);
    let bot = |way: [&str; 2]| folder.bot(&[&["--as", "Ana"][..], &way].concat());
    // An operating system need not report a closed port; Linux does.
    let is_sure = cfg!(target_os = "linux");
    let cases = [
        ("no token", bot(["--connect", &server.udp]), 1, ["the server did not answer", "use --token FILE"], true),
        ("no token", bot(["--connect", &server.websocket]), 1, ["the server rejected", "use --token FILE"], true),
        ("nobody", bot(["--connect", &closed]), 1, ["listens on that port", "start `ugas serve` first"], is_sure),
        (
            "old token",
            bot(["--token", "others/Ana.udp.token"]),
            1,
            ["no server listens", "for the server that wrote it"],
            is_sure,
        ),
        ("old token", bot(["--token", "others/Ana.ws.token"]), 1, ["cannot reach", "the server is running"], true),
    ];
    for (case, bot, code, words, is_sure) in cases {
        let output = bot.finish();
        let text = text_of(&output);
        assert_eq!(output.status.code(), Some(code), "{case}: {text}");
        assert!(!is_sure || words.iter().all(|word| text.contains(word)), "{case}: {text}");
    }

    // A token works once, and its client plays.
    let first = folder.bot(&["--as", "Ana", "--token", "tokens/Ana.ws.token", "--wait", "20"]);
    let mut server = server;
    let mut line = String::new();
    while line != "Ana connected\n" {
        line.clear();
        assert!(server.out.read_line(&mut line).expect("the server writes text") > 0, "the server left");
    }
    let (code, text) = folder.ugas(&["bot", "duel.yaml", "--as", "Ana", "--token", "tokens/Ana.ws.token"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a token is valid for one connection") && text.contains("--rejoin"), "{text}");
    drop(first);
}

/// The first process is killed, so the server still has its connection; the second one replaces it.
#[test]
fn a_bot_that_crashed_connects_again_with_the_same_token() {
    let folder = Folder::new("rejoin");
    let mut server = folder.serve(&["--tokens", "tokens"]);
    let mut expect = |expected: &str| {
        let mut line = String::new();
        while line.trim_end() != expected {
            line.clear();
            assert!(server.out.read_line(&mut line).expect("the server writes text") > 0, "the server left");
        }
    };
    let token = |name: &str| format!("tokens/{name}.udp.token");
    let first = folder.bot(&["--as", "Ana", "--token", &token("Ana")]);
    expect("Ana connected");
    drop(first);
    let again = folder.bot(&["--as", "Ana", "--token", &token("Ana"), "--rejoin"]);
    expect("Ana disconnected");
    expect("Ana connected");
    let others = ["Ben", "Cem"].map(|name| folder.bot(&["--as", name, "--token", &token(name)]));
    expect("running");
    for bot in std::iter::once(again).chain(others) {
        let output = bot.finish();
        assert!(output.status.success(), "{}", text_of(&output));
    }
    let (code, lines) = server.finish();
    assert_eq!(code, Some(0), "{lines:#?}");
}

#[test]
fn a_client_with_other_rules_is_rejected_and_the_others_play() {
    let folder = Folder::new("rules");
    let other = DUEL.replace("Value: -7", "Value: -700");
    assert_ne!(other, DUEL);
    std::fs::write(folder.0.join("other.yaml"), other).expect("a file for the test");

    // With tokens, the server writes a new one for the rejected client.
    for who in [&["--insecure", "--seed", "0"][..], &["--tokens", "tokens", "--seed", "0"]] {
        let server = folder.serve(who);
        let way = |name: &str| match who[0] {
            "--tokens" => ["--token".to_owned(), format!("tokens/{name}.udp.token")],
            _ => ["--connect".to_owned(), server.udp.clone()],
        };
        let bot = |name: &str| {
            let [option, value] = way(name);
            folder.bot(&["--as", name, &option, &value])
        };
        let (ben, cem) = (bot("Ben"), bot("Cem"));
        let [option, value] = way("Ana");
        let (code, text) = folder.ugas(&["bot", "other.yaml", "--as", "Ana", &option, &value]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("the server's rules have the hash"), "{text}");
        assert!(text.contains("check that the server runs the same scenario file"), "{text}");

        let ana = bot("Ana");
        for (name, bot) in [("Ana", ana), ("Ben", ben), ("Cem", cem)] {
            let output = bot.finish();
            assert!(output.status.success(), "{name}: {}", text_of(&output));
        }
        let (code, lines) = server.finish();
        assert_eq!(code, Some(0), "{lines:#?}");
        let sent_away = lines.iter().position(|line| line.starts_with("Ana rejected: the server's rules"));
        let playing = lines.iter().position(|line| line == "running");
        assert!(sent_away.is_some() && sent_away < playing, "{lines:#?}");
    }
}

#[test]
fn a_missing_or_wrong_argument_is_reported() {
    let folder = Folder::new("missing");
    let (code, text) = folder.ugas(&["serve", "duel.yaml"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--tokens <DIR>|--insecure"), "{text}");

    let (code, text) = folder.ugas(&["bot", "duel.yaml", "--as", "Dan", "--connect", "127.0.0.1:1"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("unknown client Dan; the clients are Ana, Ben, Cem"), "{text}");

    let (code, text) = folder.ugas(&["bot", "duel.yaml", "--as", "Ana", "--token", "duel.yaml"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("this is not a token"), "{text}");

    let (code, text) = folder.ugas(&["serve", "duel.yaml", "--insecure", "--wait", "0"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("Ana, Ben, Cem did not connect"), "{text}");

    let two = ["--listen", "udp://127.0.0.1:0", "--listen", "udp://127.0.0.1:0"];
    let (code, text) = folder.ugas(&[&["serve", "duel.yaml", "--insecure"][..], &two].concat());
    assert_eq!(code, Some(2));
    assert!(text.contains("two addresses of the same kind"), "{text}");

    let (code, text) = folder.ugas(&["serve", "duel.yaml", "--tokens", "duel.yaml"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("duel.yaml: "), "{text}");

    std::fs::write(folder.0.join("alone.yaml"), "Scenario: Alone").expect("a file for the test");
    let (code, text) = folder.ugas(&["serve", "alone.yaml", "--insecure"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("alone.yaml:1: error: the scenario has no `Network:`"), "{text}");
}
