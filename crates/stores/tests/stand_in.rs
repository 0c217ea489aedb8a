//! A web server on loopback that has one object, or the files of a folder, with the faults that a test wants. It keeps
//! connections open.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;

use lehr_sync::{Arc, Mutex};

/// A request that the server has received.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    /// The range of bytes that the request asks for.
    pub range: Option<Range<usize>>,
}

/// The answer to a request.
pub enum Answer {
    /// The object, or the range of it, with this tag.
    Content(&'static str),
    /// The same, but the connection breaks after so many bytes.
    Broken(&'static str, usize),
    /// The whole object, although a range was requested.
    Whole,
    /// A status and a header.
    Status(&'static str, String),
}

/// The server. `asked` has its requests.
#[derive(Clone)]
pub struct StandIn {
    pub address: SocketAddr,
    content: Arc<Content>,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// The number of accepted connections.
    connections: Arc<Mutex<usize>>,
}

/// The bytes of a path without its query, if there is such an object.
type Content = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

type Choose = dyn Fn(usize, &Asked) -> Answer + Send + Sync;

impl StandIn {
    /// Serves `content`; `choose` decides how, by the number of the request and the request.
    pub fn new(content: Vec<u8>, choose: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::of(Arc::new(move |_: &str| Some(content.clone())), choose)
    }

    fn of(content: Arc<Content>, choose: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self { address, content, asked: Arc::default(), connections: Arc::default() };
        let (own, choose): (_, Arc<Choose>) = (server.clone(), Arc::new(choose));
        let accept = move || {
            for stream in listener.incoming() {
                *own.connections.lock() += 1;
                let (own, choose) = (own.clone(), choose.clone());
                std::thread::Builder::new().spawn(move || own.serve(stream.unwrap(), &*choose)).unwrap();
            }
        };
        std::thread::Builder::new().spawn(accept).unwrap();
        server
    }

    /// Serves the files of a folder.
    #[allow(dead_code, reason = "each test program has the functions of all")]
    pub fn of_folder(folder: std::path::PathBuf) -> Self {
        Self::of(Arc::new(move |path: &str| std::fs::read(folder.join(path.trim_start_matches('/'))).ok()), |_, _| {
            Answer::Content("a")
        })
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock()
    }

    /// Returns the number of bytes that were requested.
    pub fn bytes(&self) -> usize {
        self.asked().iter().filter_map(|asked| asked.range.clone()).map(|range| range.len()).sum()
    }

    fn serve(&self, mut stream: TcpStream, choose: &Choose) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some(mut asked) = read(&mut reader) {
            let content = (self.content)(asked.path.split('?').next().unwrap_or_default());
            let total = content.as_ref().map_or(0, Vec::len);
            asked.range = asked.range.map(|range| range.start.min(total)..range.end.min(total));
            let number = {
                let mut all = self.asked.lock();
                all.push(asked.clone());
                all.len() - 1
            };
            let range = asked.range.clone().unwrap_or(0..total);
            let chosen = choose(number, &asked);
            let (chosen, content) = match content {
                Some(content) => (chosen, content),
                None => (Answer::Status("404 Not Found", String::new()), Vec::new()),
            };
            let (head, body, breaks) = match chosen {
                Answer::Status(status, header) => (format!("HTTP/1.1 {status}\r\n{header}"), &[][..], None),
                Answer::Whole => ("HTTP/1.1 200 OK\r\n".to_owned(), &content[..], None),
                Answer::Content(_) | Answer::Broken(..) if asked.range.is_some() && range.is_empty() => {
                    (format!("HTTP/1.1 416 Range Not Satisfiable\r\ncontent-range: bytes */{total}\r\n"), &[][..], None)
                }
                Answer::Content(tag) => (partial(tag, &asked, &range, total), &content[range], None),
                Answer::Broken(tag, after) => (partial(tag, &asked, &range, total), &content[range], Some(after)),
            };
            let head = format!("{head}content-length: {}\r\n\r\n", body.len());
            let sent = breaks.map_or(body, |after| &body[..body.len().min(after)]);
            if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent)).is_err() || breaks.is_some() {
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return;
            }
        }
    }
}

fn partial(tag: &str, asked: &Asked, range: &Range<usize>, total: usize) -> String {
    let tag = if tag.is_empty() { String::new() } else { format!("etag: \"{tag}\"\r\n") };
    match asked.range {
        None => format!("HTTP/1.1 200 OK\r\n{tag}"),
        Some(_) => {
            let place = format!("content-range: bytes {}-{}/{total}\r\n", range.start, range.end - 1);
            format!("HTTP/1.1 206 Partial Content\r\n{tag}{place}")
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let path = head.split_whitespace().nth(1)?.to_owned();
    let wanted =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let range = wanted.and_then(|wanted| {
        let (first, last) = wanted.split_once('-')?;
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        Some(first..last + 1)
    });
    Some(Asked { path, range })
}
