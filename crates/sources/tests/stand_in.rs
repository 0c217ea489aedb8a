//! A host on loopback that gives the answers of a test. Each connection has one request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use lehr_runtime::Port;
use lehr_sources::{Allowed, Bounds, Getter};

/// A request that the host has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferRequest {
    /// The method and the path.
    pub line: String,
    pub head: String,
    pub body: String,
}

impl TransferRequest {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// The host. The port `asked` receives its requests.
pub struct StandIn {
    pub address: SocketAddr,
    pub asked: Port<TransferRequest>,
}

impl StandIn {
    /// Answers each request with the bytes that `answer` gives for it and its number, then closes the connection.
    pub fn new(answer: impl Fn(usize, &TransferRequest) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Port::new());
        let inbox = asked.clone();
        let serve = move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let Some(asked) = read(&mut stream) else { continue };
                let bytes = answer(number, &asked);
                inbox.post(asked).unwrap();
                let _ = stream.write_all(&bytes);
                let _ = stream.shutdown(Shutdown::Write);
                // Read until the client closes the connection: closing with unread bytes would cut off the answer.
                let _ = stream.read_to_end(&mut Vec::new());
            }
        };
        std::thread::Builder::new().spawn(serve).unwrap();
        Self { address, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns a client that may contact this host.
    pub fn getter(&self, bounds: Bounds) -> Getter {
        let allowed = Allowed::new([self.address.to_string()]).unwrap().private();
        Getter::new(allowed, bounds, None).unwrap()
    }

    /// Returns the requests since the last call.
    pub fn requests(&self) -> Vec<TransferRequest> {
        self.asked.drain().into_iter().collect()
    }
}

fn read(stream: &mut TcpStream) -> Option<TransferRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line.rsplit_once(' ')?.0.to_owned();
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && head != "\r\n" {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut asked = TransferRequest { line, head, body: String::new() };
    let length = asked.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8(body).ok()?;
    Some(asked)
}

/// Returns the bytes of an HTTP response.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}
