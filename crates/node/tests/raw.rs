//! Requests as text, also requests that no correct client sends.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::Value;

/// An answer that was read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the value of a header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns a text field of the JSON body, or an empty text without it.
    pub fn text(&self, field: &str) -> String {
        self.json()[field].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends a text and reads the answer until the connection is closed.
pub fn send(address: SocketAddr, text: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    // The node may close the connection before everything is written.
    let _ = stream.write_all(text);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = bytes.get(end + 4..).unwrap_or_default().to_vec();
    Answer { status, head, body }
}

/// Sends a text, closes the sending side, and waits until the node closes the connection.
pub fn poke(address: SocketAddr, text: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    let _ = stream.write_all(text);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Sends a request with a body and with headers that each end in `\r\n`, and returns the answer.
pub fn ask(address: SocketAddr, line: &str, headers: &str, body: &str) -> Answer {
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let head = format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}{length}\r\n");
    send(address, format!("{head}{body}").as_bytes())
}
