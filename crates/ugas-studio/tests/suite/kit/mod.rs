//! A minimal web client that sends exactly the given bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Sends a request as it is; the status line and everything that came.
pub(crate) fn send_request(port: u16, request: &str) -> (String, String) {
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

/// The port in the address of a studio.
pub(crate) fn port_of(address: &str) -> u16 {
    address.trim_start_matches("http://127.0.0.1:").split('/').next().unwrap().parse().unwrap()
}

/// The head of a request for a socket.
pub(crate) fn upgrade(token: &str, origin: &str, host: &str) -> String {
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    format!(
        "GET /ws?token={token} HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n\r\n"
    )
}

/// An open socket.
pub(crate) struct Socket(TcpStream);

impl Socket {
    /// Opens one as a page of the studio's own does.
    pub(crate) fn open(port: u16, token: &str) -> Socket {
        let own = format!("127.0.0.1:{port}");
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(upgrade(token, &format!("Origin: http://{own}\r\n"), &own).as_bytes()).unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&head));
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Socket(stream)
    }

    /// Sends the head of a text message of a length, and as much of it as is given.
    pub(crate) fn send(&mut self, length: u64, text: &[u8]) -> std::io::Result<()> {
        let mut frame = vec![0x81, 0x80 | 127];
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text);
        self.0.write_all(&frame)
    }

    /// The next message, or nothing if the connection is closed.
    pub(crate) fn receive(&mut self) -> Option<String> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).ok()?;
        let length = match head[1] & 0x7F {
            126 => {
                let mut bytes = [0; 2];
                self.0.read_exact(&mut bytes).ok()?;
                u64::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                self.0.read_exact(&mut bytes).ok()?;
                u64::from_be_bytes(bytes)
            }
            short => u64::from(short),
        };
        let mut text = vec![0; usize::try_from(length).ok()?];
        self.0.read_exact(&mut text).ok()?;
        // A farewell is no message.
        (head[0] & 0x0F == 1).then(|| String::from_utf8(text).unwrap())
    }

    /// Asks something; the answer as it came.
    pub(crate) fn ask(&mut self, question: &str) -> Option<String> {
        let text = format!("7 {question}");
        self.send(text.len() as u64, text.as_bytes()).ok()?;
        self.receive()
    }
}
