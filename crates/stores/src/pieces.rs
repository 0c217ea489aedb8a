//! Reads a range of an object in pieces, of which some arrive while earlier ones are used.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::time::Duration;

use hyper::body::Bytes;
use lehr_data::object::Object;
use lehr_sync::Arc;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::fault::fault;

/// The number of pieces that are requested before they are read.
const AHEAD: usize = 3;
/// The size of the first piece. Each next one is twice as long, up to the size that the reader wants, because many
/// readers look at the first bytes only.
const FIRST: u64 = 256 * 1024;
/// The maximum time without any byte.
const SILENCE: Duration = Duration::from_secs(60);

/// An object whose beginning was requested.
pub struct Stored {
    pub source: Source,
    pub handle: Handle,
    pub version: Version,
    /// The first bytes.
    pub head: Bytes,
    /// Whether the server sends parts of the object.
    pub has_ranges: bool,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Stored")
            .field("path", &self.source.path)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// The properties that identify a version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    bytes: u64,
    tag: Option<String>,
    /// The time of the last change, in seconds since 1970.
    modified: i64,
}

impl Version {
    pub fn of(meta: &ObjectMeta) -> Self {
        Self { bytes: meta.size, tag: meta.e_tag.clone(), modified: meta.last_modified.timestamp() }
    }
}

impl Object for Stored {
    fn bytes(&self) -> u64 {
        self.version.bytes
    }

    fn read(&self, range: Range<u64>, piece: usize) -> Box<dyn Read + Send> {
        if range.end <= self.head.len() as u64 {
            let range = range.start as usize..range.end as usize;
            return Box::new(io::Cursor::new(self.head.slice(range)));
        }
        if !self.has_ranges {
            return self.whole(range);
        }
        let head = self.head.slice(self.head.len().min(usize::try_from(range.start).unwrap_or(usize::MAX))..);
        let next = range.start + head.len() as u64;
        Box::new(Pieces {
            source: self.source.clone(),
            version: self.version.clone(),
            handle: self.handle.clone(),
            next,
            end: range.end,
            size: FIRST.min(piece as u64).max(1),
            size_max: piece as u64,
            fault: None,
            waiting: VecDeque::new(),
            current: head,
        })
    }
}

impl Stored {
    /// Returns a reader of all bytes, in one response.
    fn whole(&self, range: Range<u64>) -> Box<dyn Read + Send> {
        if range != (0..self.version.bytes) {
            let why = "the server sends only whole files, and this format is read in parts; download the file first";
            return Box::new(Failing(why));
        }
        let (sender, pieces) = mpsc::channel(AHEAD);
        let (source, version) = (self.source.clone(), self.version.clone());
        self.handle.spawn(async move {
            if let Err(error) = source.send_all(&version, &sender).await {
                let _ = sender.send(Err(error)).await;
            }
        });
        Box::new(Whole { pieces, fault: None, current: Bytes::new(), left: self.version.bytes })
    }
}

/// The place of an object, and the limit of requests.
#[derive(Clone)]
pub struct Source {
    pub store: Arc<dyn ObjectStore>,
    pub path: Path,
    pub limit: Arc<Semaphore>,
}

/// Returns the error for an object of which another version was begun.
pub fn changed() -> io::Error {
    io::Error::other("the object changed while it was read; start again")
}

impl Source {
    async fn get(&self, version: &Version, range: Option<GetRange>) -> io::Result<GetResult> {
        let options = GetOptions { range, ..GetOptions::default() };
        let got = self.store.get_opts(&self.path, options).await.map_err(|error| fault(&error))?;
        if Version::of(&got.meta) == *version { Ok(got) } else { Err(changed()) }
    }

    async fn piece(&self, version: &Version, range: Range<u64>) -> io::Result<Bytes> {
        let bytes = range.end - range.start;
        // Nobody closes the limit.
        let _turn = self.limit.acquire().await;
        let got = self.get(version, Some(GetRange::Bounded(range))).await?;
        let piece = collected(got).await.map_err(|error| fault(&error))?;
        // The length of the response was checked against the header, and HTTP requires that all of it arrives.
        if piece.len() as u64 == bytes { Ok(piece) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    async fn send_all(&self, version: &Version, sender: &mpsc::Sender<io::Result<Bytes>>) -> io::Result<()> {
        let got = self.get(version, None).await?;
        let mut stream = got.into_stream();
        while let Some(bytes) = next(&mut stream).await.map_err(|error| fault(&error))? {
            if sender.send(Ok(bytes)).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

type Stream = std::pin::Pin<Box<dyn futures_core::Stream<Item = object_store::Result<Bytes>> + Send>>;

/// Returns the next bytes of a response, or an error if none arrive for too long.
async fn next(stream: &mut Stream) -> Result<Option<Bytes>, Error> {
    let next = std::future::poll_fn(|context| stream.as_mut().poll_next(context));
    let silent = |_| Error::Generic {
        store: "HTTP",
        source: io::Error::other(format!("nothing has arrived for {SILENCE:?}")).into(),
    };
    timeout(SILENCE, next).await.map_err(silent)?.transpose()
}

/// Returns all bytes of a response.
pub async fn collected(got: GetResult) -> Result<Bytes, Error> {
    let expected = usize::try_from(got.range.end - got.range.start).unwrap_or(0);
    let mut stream = got.into_stream();
    let mut all = Vec::with_capacity(expected);
    while let Some(bytes) = next(&mut stream).await? {
        all.extend_from_slice(&bytes);
    }
    Ok(all.into())
}

/// A reader of a range, in pieces.
struct Pieces {
    source: Source,
    version: Version,
    handle: Handle,
    /// The beginning of the next piece to request.
    next: u64,
    end: u64,
    /// The size of the next piece.
    size: u64,
    size_max: u64,
    /// Why reading has ended early. Later reads must not skip to the next piece.
    fault: Option<String>,
    waiting: VecDeque<Requested>,
    current: Bytes,
}

/// A piece that was requested.
struct Requested {
    piece: oneshot::Receiver<io::Result<Bytes>>,
    task: Ended,
}

/// Ends a task when it is dropped.
struct Ended(AbortHandle);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            if let Some(fault) = &self.fault {
                return Err(io::Error::other(fault.clone()));
            }
            self.request();
            let Some(Requested { piece, task: _task }) = self.waiting.pop_front() else { return Ok(0) };
            let ended = |_| io::Error::other("the thread of the stores has ended");
            match piece.blocking_recv().map_err(ended).flatten() {
                Ok(piece) => self.current = piece,
                Err(error) => {
                    self.fault = Some(error.to_string());
                    self.waiting.clear();
                }
            }
        }
        Ok(taken(&mut self.current, buffer))
    }
}

impl Pieces {
    fn request(&mut self) {
        while self.next < self.end && self.waiting.len() < AHEAD {
            let range = self.next..self.end.min(self.next.saturating_add(self.size));
            self.next = range.end;
            self.size = self.size.saturating_mul(2).min(self.size_max).max(1);
            let (answer, piece) = oneshot::channel();
            let (source, version) = (self.source.clone(), self.version.clone());
            let task = self.handle.spawn(async move {
                let _ = answer.send(source.piece(&version, range).await);
            });
            self.waiting.push_back(Requested { piece, task: Ended(task.abort_handle()) });
        }
    }
}

/// A reader of a whole object, in one response.
struct Whole {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    /// Why reading has ended early.
    fault: Option<String>,
    current: Bytes,
    /// The bytes that have not arrived.
    left: u64,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            if let Some(fault) = &self.fault {
                return Err(io::Error::other(fault.clone()));
            }
            match self.pieces.blocking_recv() {
                Some(Ok(piece)) => {
                    self.current = piece;
                    self.left = self.left.saturating_sub(self.current.len() as u64);
                }
                Some(Err(error)) => self.fault = Some(error.to_string()),
                None if self.left > 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                None => return Ok(0),
            }
        }
        Ok(taken(&mut self.current, buffer))
    }
}

/// Moves the first bytes of a piece into a buffer; returns their number.
fn taken(piece: &mut Bytes, buffer: &mut [u8]) -> usize {
    let bytes = piece.split_to(piece.len().min(buffer.len()));
    buffer[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
}

/// A reader that fails.
struct Failing(&'static str);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(self.0))
    }
}
