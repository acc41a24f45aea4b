//! The web server, spoken to by hand: who is let in and who is not.
#![cfg(feature = "serve")]

use crate::kit::{Socket, port_of, say, upgrade};
use std::fs;
use ugas_studio::Backend;
use ugas_studio::serve::StudioServer;
use ugas_studio::session::{OpenOptions, Session};

/// A studio on a port of its own; the port.
fn studio() -> u16 {
    let studio = StudioServer::listen(0, "the-right-one-for-this-test").unwrap();
    let port = port_of(&studio.address().unwrap());
    let backend = Backend::new(Box::new(Session::duel), 7).unwrap();
    std::thread::spawn(move || studio.run(backend));
    port
}

fn get(port: u16, path: &str, host: &str) -> (String, String) {
    say(port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
}

fn socket(port: u16, token: &str, origin: &str, host: &str) -> String {
    say(port, &upgrade(token, origin, host)).0
}

#[test]
fn pages_are_the_programs_own_and_lead_nowhere_else() {
    let port = studio();
    let own = format!("127.0.0.1:{port}");
    let (status, all) = get(port, "/", &own);
    assert!(status.contains("200"), "{status}");
    assert!(all.contains("content-security-policy: default-src 'none'"), "{all}");
    for path in [
        "/app.js",
        "/style.css",
        "/demo.js",
        "/world.js",
        "/data.js",
        "/network.js",
        "/scenario.js",
        "/figures.js",
        "/form.js",
    ] {
        assert!(get(port, path, &own).0.contains("200"), "{path}");
    }
    for path in [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/app.js/..",
        "/pages/app.js",
        "/.git/config",
    ] {
        let (status, all) = get(port, path, &own);
        assert!(status.contains("404") || status.contains("400"), "{path}: {status}");
        assert!(!all.contains("[package]") && !all.contains("root:"), "{path}");
    }
}

#[test]
fn other_names_other_pages_and_other_tokens_are_refused() {
    let port = studio();
    let own = format!("127.0.0.1:{port}");
    let mine = format!("Origin: http://{own}\r\n");
    assert!(socket(port, "the-right-one-for-this-test", &mine, &own).contains("101"), "who knows it comes in");
    let local = format!("localhost:{port}");
    assert!(
        socket(port, "the-right-one-for-this-test", &format!("Origin: http://{local}\r\n"), &local).contains("101")
    );
    // A page of somebody else's in the same browser.
    for origin in [
        "",
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        "Origin: https://127.0.0.1\r\n",
    ] {
        assert!(socket(port, "the-right-one-for-this-test", origin, &own).contains("403"), "{origin}");
    }
    for token in ["", "wrong", "the-right-one-for-this-tes", "the-right-one-for-this-test2", "%00"] {
        assert!(socket(port, token, &mine, &own).contains("403"), "{token}");
    }
    // A name that was made to point here.
    assert!(
        socket(port, "the-right-one-for-this-test", "Origin: http://evil.example\r\n", "evil.example").contains("403")
    );
    assert!(get(port, "/", "evil.example").0.contains("403"));
    assert!(get(port, "/app.js", "evil.example:80").0.contains("403"));
}

#[test]
fn whoever_sends_too_much_is_cut_off_and_everybody_else_goes_on() {
    let port = studio();
    let own = format!("127.0.0.1:{port}");
    let mut good = Socket::open(port, "the-right-one-for-this-test");
    assert!(good.ask(r#"{"ask":"hello"}"#).unwrap().starts_with("7 {"));
    // A message that says it is longer than any may be ends its own connection, before it is there.
    let mut bad = Socket::open(port, "the-right-one-for-this-test");
    bad.send(5 << 20, b"7 {").unwrap();
    assert_eq!(bad.receive(), None);
    let mut bad = Socket::open(port, "the-right-one-for-this-test");
    bad.send(u64::MAX >> 1, b"7 {").unwrap();
    assert_eq!(bad.receive(), None);
    // Nonsense is answered.
    for nonsense in ["", "{}", "\u{1F525}", "[[[[[[[[", r#"{"ask":"save"}"#] {
        assert!(good.ask(nonsense).unwrap().contains("error"), "{nonsense}");
    }
    let deep = "[".repeat(100_000);
    assert!(good.ask(&deep).unwrap().contains("error"));
    // Pages are read, not written, however much is announced.
    let (status, _) = say(port, &format!("POST / HTTP/1.1\r\nHost: {own}\r\nContent-Length: 99999999999\r\n\r\n"));
    assert!(status.contains("405"), "{status}");
    let (status, _) = say(port, &format!("GET /{} HTTP/1.1\r\nHost: {own}\r\n\r\n", "a".repeat(100_000)));
    assert!(!status.contains("200"), "{status}");
    assert!(good.ask(r#"{"ask":"frame"}"#).unwrap().contains("\"tick\""));
    assert!(get(port, "/", &own).0.contains("200"));
}

#[test]
fn a_file_saved_by_somebody_else_reaches_the_running_world() {
    let folder = std::env::temp_dir().join(format!("ugas-studio-serve-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let text = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n---\n\
                Kind: gameplay_controller\nOwnerActor: {ActorID: Hero, ActorType: PlayerCharacter}\n\
                AttributeSets: [{Name: Vitals}]\n";
    fs::write(folder.join("hero.yaml"), text).unwrap();
    let studio = StudioServer::listen(0, "the-right-one-for-this-test").unwrap();
    let port = port_of(&studio.address().unwrap());
    let backend = Backend::at(&folder, OpenOptions::default()).unwrap();
    std::thread::spawn(move || studio.run(backend));
    let mut page = Socket::open(port, "the-right-one-for-this-test");
    let mut health = || page.ask(r#"{"ask":"explain","who":"Hero","attribute":"Health"}"#).unwrap();
    assert!(health().contains("\"value\":100.0"), "{}", health());
    fs::write(folder.join("hero.yaml"), text.replace("100", "150")).unwrap();
    // However long the operating system takes to tell.
    let taken = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        health().contains("\"value\":150.0")
    });
    fs::remove_dir_all(&folder).unwrap();
    assert!(taken);
}

/// A link on another page may lead here, but may not say what is shown here, in no spelling.
#[test]
fn a_link_of_another_page_does_not_replace_the_world() {
    let port = studio();
    let opened = |query: &str, from: &str| {
        let site = if from.is_empty() { String::new() } else { format!("Sec-Fetch-Site: {from}\r\n") };
        say(port, &format!("GET /?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{site}\r\n")).0
    };
    for query in ["seed=7&tick=33", "seed&tick=33", "%73eed=7", "token=x&seed=7", "tick=3"] {
        for from in ["cross-site", "same-site"] {
            assert!(opened(query, from).contains("403"), "{query} from {from}");
        }
        for from in ["", "none", "same-origin"] {
            assert!(opened(query, from).contains("200"), "{query} from {from:?}");
        }
    }
    assert!(opened("token=the-right-one-for-this-test", "cross-site").contains("200"), "the address itself");
}
