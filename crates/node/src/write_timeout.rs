//! Handles clients that do not read their answers: after a while, their connections are closed, and the memory for
//! their answers is freed.
//!
//! Stuck answers are detected at two places, because an answer can be stuck in two ways. A socket whose other end does
//! not read stops taking bytes. The lowest layer detects such a socket, for any protocol above. On HTTP/2, a client may
//! also read its connection, and so answer every ping, but never open the window of one stream. [`Pieces`], which
//! passes the answer on piece by piece, detects such a stream.

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

/// The maximum size of a piece of an answer, in bytes. A smaller answer is passed on as a whole.
pub(crate) const PIECE: usize = 16 << 10;

/// A socket that fails if its other end takes nothing for the time `limit`. In the worst case, the socket fails only
/// after twice this time.
///
/// The system reports that a socket is writable only when a third of its buffer is free. On a fast socket, a third of
/// the buffer is more than a megabyte. A client that reads slowly may need minutes for that. So when the time is over,
/// a write tests the socket and fills the free part of the buffer.
pub(crate) struct WriteTimeout {
    stream: TcpStream,
    limit: Duration,
    /// The timer that runs while the socket takes nothing.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Whether the socket took bytes when it was tested, and so may take more.
    takes: bool,
}

impl WriteTimeout {
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, waiting: None, takes: false }
    }

    /// Returns the outcome of a write; `ask` writes the same bytes, whether or not the system has reported room.
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

/// Writes without Tokio, which would wait until the system reports room. Such a write needs no new file descriptor, so
/// existing clients continue even if no descriptor is left.
#[cfg(unix)]
fn write_now(stream: &TcpStream, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    use std::os::fd::AsFd;
    Ok(rustix::io::writev(stream.as_fd(), parts)?)
}

/// Returns an error: on other systems, only the system's report shows whether there is room.
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

    // Nothing is buffered above the system, so nothing waits here.
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
    /// Returns a long answer in pieces.
    pub(crate) fn pieces(&self, bytes: Bytes) -> Pieces {
        let mut numbered = self.0.lock();
        numbered.next += 1;
        let number = numbered.next;
        numbered.is_taken.insert(number, true);
        Pieces { left: bytes, number, among: self.clone() }
    }

    /// Waits until one of the answers has made no progress for at least `limit`, and at most twice as long.
    pub(crate) async fn stuck(&self, limit: Duration) {
        loop {
            sleep(limit).await;
            if self.0.lock().is_taken.values_mut().any(|is_taken| !std::mem::take(is_taken)) {
                return;
            }
        }
    }
}

/// An answer that is passed on in pieces, each when the other end has room for it.
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

    /// Returns the next piece; `None` after the last one.
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
