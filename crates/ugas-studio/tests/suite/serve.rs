//! The web server with hand-written requests: which requests are accepted and which are rejected.
#![cfg(feature = "serve")]

use crate::kit::{Socket, port_of, send_request, upgrade};
use std::fs;
use ugas_studio::Backend;
use ugas_studio::serve::StudioServer;
use ugas_studio::session::{OpenOptions, Session};

/// Starts a studio on a free port and returns the port.
fn studio() -> u16 {
    let studio = StudioServer::listen(0, "the-right-one-for-this-test").unwrap();
    let port = port_of(&studio.address().unwrap());
    let backend = Backend::new(Box::new(Session::duel), 7).unwrap();
    std::thread::spawn(move || studio.run(backend));
    port
}

fn get(port: u16, path: &str, host: &str) -> (String, String) {
    send_request(port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
}

fn socket(port: u16, token: &str, origin: &str, host: &str) -> String {
    send_request(port, &upgrade(token, origin, host)).0
}

#[test]
fn only_built_in_pages_are_served() {
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
fn other_hosts_origins_and_tokens_are_refused() {
    let port = studio();
    let own = format!("127.0.0.1:{port}");
    let mine = format!("Origin: http://{own}\r\n");
    assert!(socket(port, "the-right-one-for-this-test", &mine, &own).contains("101"), "the right token is accepted");
    let local = format!("localhost:{port}");
    assert!(
        socket(port, "the-right-one-for-this-test", &format!("Origin: http://{local}\r\n"), &local).contains("101")
    );
    // A page of another site in the same browser.
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
fn a_client_that_sends_too_much_is_disconnected_and_the_others_stay_connected() {
    let port = studio();
    let own = format!("127.0.0.1:{port}");
    let mut good = Socket::open(port, "the-right-one-for-this-test");
    assert!(good.ask(r#"{"ask":"hello"}"#).unwrap().starts_with("7 {"));
    // A message with a length over the limit closes its connection before it is read.
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
    let (status, _) =
        send_request(port, &format!("POST / HTTP/1.1\r\nHost: {own}\r\nContent-Length: 99999999999\r\n\r\n"));
    assert!(status.contains("405"), "{status}");
    let (status, _) = send_request(port, &format!("GET /{} HTTP/1.1\r\nHost: {own}\r\n\r\n", "a".repeat(100_000)));
    assert!(!status.contains("200"), "{status}");
    assert!(good.ask(r#"{"ask":"frame"}"#).unwrap().contains("\"tick\""));
    assert!(get(port, "/", &own).0.contains("200"));
}

#[test]
fn a_file_saved_by_another_program_reloads_the_running_world() {
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
    // The operating system may take long to report the change.
    let taken = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        health().contains("\"value\":150.0")
    });
    fs::remove_dir_all(&folder).unwrap();
    assert!(taken);
}

/// A link on another site may open the studio, but must not choose the content, in any spelling of the URL.
#[test]
fn a_link_from_another_site_cannot_replace_the_world() {
    let port = studio();
    let opened = |query: &str, from: &str| {
        let site = if from.is_empty() { String::new() } else { format!("Sec-Fetch-Site: {from}\r\n") };
        send_request(port, &format!("GET /?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{site}\r\n")).0
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
