//! The web server, spoken to by hand: who is let in and who is not.
#![cfg(feature = "serve")]

use std::io::{Read, Write};
use std::net::TcpStream;
use ugas_studio::Desk;
use ugas_studio::serve::Studio;
use ugas_studio::stage::Stage;

/// A studio on a port of its own; the port.
fn studio() -> u16 {
    let studio = Studio::listen(0, "right").unwrap();
    let address = studio.address().unwrap();
    let port = address.trim_start_matches("http://127.0.0.1:").split('/').next().unwrap().parse().unwrap();
    let desk = Desk::new(Box::new(Stage::duel), 7).unwrap();
    std::thread::spawn(move || studio.run(desk));
    port
}

/// Sends a request as it is; the status line and everything that came.
fn say(port: u16, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let got = stream.read(&mut piece).unwrap();
        all.extend_from_slice(&piece[..got]);
        let text = String::from_utf8_lossy(&all);
        let length =
            text.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
        let whole = text.split_once("\r\n\r\n").is_some_and(|(_, body)| length.is_none_or(|n| body.len() >= n));
        if got == 0 || whole {
            let first = text.lines().next().unwrap_or_default().to_owned();
            return (first, text.into_owned());
        }
    }
}

fn get(port: u16, path: &str, host: &str) -> (String, String) {
    say(port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
}

fn socket(port: u16, token: &str, origin: &str, host: &str) -> String {
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let head = format!(
        "GET /ws?token={token} HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n\r\n"
    );
    say(port, &head).0
}

#[test]
fn pages_are_the_programs_own_and_lead_nowhere_else() {
    let port = studio();
    let own = format!("127.0.0.1:{port}");
    let (status, all) = get(port, "/", &own);
    assert!(status.contains("200"), "{status}");
    assert!(all.contains("content-security-policy: default-src 'none'"), "{all}");
    for path in
        ["/app.js", "/style.css", "/demo.js", "/world.js", "/data.js", "/network.js", "/scenario.js", "/figures.js"]
    {
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
    assert!(socket(port, "right", &mine, &own).contains("101"), "who knows it comes in");
    let local = format!("localhost:{port}");
    assert!(socket(port, "right", &format!("Origin: http://{local}\r\n"), &local).contains("101"));
    // A page of somebody else's in the same browser.
    for origin in [
        "",
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        "Origin: https://127.0.0.1\r\n",
    ] {
        assert!(socket(port, "right", origin, &own).contains("403"), "{origin}");
    }
    for token in ["", "wrong", "righ", "right2", "%00"] {
        assert!(socket(port, token, &mine, &own).contains("403"), "{token}");
    }
    // A name that was made to point here.
    assert!(socket(port, "right", "Origin: http://evil.example\r\n", "evil.example").contains("403"));
    assert!(get(port, "/", "evil.example").0.contains("403"));
    assert!(get(port, "/app.js", "evil.example:80").0.contains("403"));
}
