//! Clients that are sent something and do not take it: after a while their connection ends, and the memory for their
//! answers is free.
//!
//! Two places, because an answer can be stuck in two. A socket whose other end does not read stops taking bytes: that
//! shows below everything else, for any protocol above. On HTTP/2 a client may also read its connection, and so answer
//! every sign of life, and never open the window of one stream. The stream that passes the answer on sees this, a piece
//! at a time.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::Bytes;
use lehr_sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The largest piece of an answer that is handed over at once. A smaller answer is passed on whole.
pub(crate) const PIECE: usize = 16 << 10;

/// A socket that fails when its other end takes nothing for so long, and at most twice as long.
///
/// The system says that there is room when a third of a socket's buffer is free. This is more than a megabyte on a fast
/// one. A client that reads slowly may need minutes for that. So when the time is over, a write tests the socket, which
/// makes the best use of any room.
pub(crate) struct WriteTimeout {
    stream: TcpStream,
    limit: Duration,
    /// While it says that it takes nothing.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Whether it took something when it was tested, and may take more.
    takes: bool,
}

impl WriteTimeout {
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, waiting: None, takes: false }
    }

    /// The outcome of a write; `ask` writes the same, whatever the system has said about room.
    fn mind(
        &mut self,
        polled: Poll<io::Result<usize>>,
        polling: &mut Context<'_>,
        ask: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            (self.waiting, self.takes) = (None, false);
            return polled;
        }
        if self.takes {
            match ask(&self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.takes = false,
                asked => return Poll::Ready(asked),
            }
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        ready!(waiting.as_mut().poll(polling));
        self.waiting = None;
        let asked = ask(&self.stream);
        self.takes = asked.is_ok();
        Poll::Ready(asked.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Unsupported => {
                io::Error::new(io::ErrorKind::TimedOut, "the client does not read the answer")
            }
            _ => error,
        }))
    }
}

/// Writes past Tokio, which would wait until the system says that there is room. No descriptor is needed for it: when
/// none is left, clients that are there continue.
#[cfg(unix)]
fn write_now(stream: &TcpStream, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    use std::os::fd::AsFd;
    Ok(rustix::io::writev(stream.as_fd(), parts)?)
}

/// Elsewhere only the system's word on room is known.
#[cfg(not(unix))]
fn write_now(_: &TcpStream, _: &[io::IoSlice<'_>]) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

impl AsyncRead for WriteTimeout {
    fn poll_read(self: Pin<&mut Self>, polling: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(polling, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(self: Pin<&mut Self>, polling: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(polling, bytes);
        this.mind(polled, polling, |stream| write_now(stream, &[io::IoSlice::new(bytes)]))
    }

    // Nothing is kept back above the system, so nothing waits here.
    fn poll_flush(self: Pin<&mut Self>, polling: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(polling)
    }

    fn poll_shutdown(self: Pin<&mut Self>, polling: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(polling)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        polling: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(polling, parts);
        this.mind(polled, polling, |stream| write_now(stream, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// The long answers on one connection, and whether each has made progress since the last look.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnTheWay(Arc<Mutex<Numbered>>);

#[derive(Debug, Default)]
struct Numbered {
    next: u64,
    is_taken: BTreeMap<u64, bool>,
}

impl OnTheWay {
    /// A long answer in pieces.
    pub(crate) fn pieces(&self, bytes: Bytes) -> Pieces {
        let mut numbered = self.0.lock();
        numbered.next += 1;
        let number = numbered.next;
        numbered.is_taken.insert(number, true);
        Pieces { left: bytes, number, among: self.clone() }
    }

    /// Waits until one of them has accepted nothing for as long as `limit`, and at most twice as long.
    pub(crate) async fn stuck(&self, limit: Duration) {
        loop {
            sleep(limit).await;
            if self.0.lock().is_taken.values_mut().any(|is_taken| !std::mem::take(is_taken)) {
                return;
            }
        }
    }
}

/// An answer that is handed over a piece at a time, each when there is room for it at the other end.
#[derive(Debug)]
pub(crate) struct Pieces {
    left: Bytes,
    number: u64,
    among: OnTheWay,
}

impl Pieces {
    pub(crate) fn len(&self) -> usize {
        self.left.len()
    }

    /// The next piece; nothing when the last one has been removed.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        if let Some(is_taken) = self.among.0.lock().is_taken.get_mut(&self.number) {
            *is_taken = true;
        }
        let length = self.left.len().min(PIECE);
        (length > 0).then(|| self.left.split_to(length))
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        self.among.0.lock().is_taken.remove(&self.number);
    }
}
