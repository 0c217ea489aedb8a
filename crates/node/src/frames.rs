//! Limits the HTTP/2 frames that a client may send without a request: SETTINGS, PING, WINDOW_UPDATE, PRIORITY and
//! frames of unknown kinds.
//!
//! The HTTP/2 library answers or ignores any number of these frames. The library limits only other kinds of frames
//! (cancelled requests, headers, empty data). So this stream reads the heads of frames as they pass. A client that
//! downloads keeps opening its windows: the bytes sent to it allow it more frames.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use lehr_runtime::Clock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The number of frames that a client may send per second, and at once after a pause.
const PER_SECOND: f64 = 1000.0;
const AT_ONCE: f64 = 10_000.0;

/// The number of bytes sent to a client that allow it one more frame.
const BYTES_EACH: f64 = 1024.0;

/// The length of a frame's head.
const HEAD: usize = 9;

/// An HTTP/2 stream that fails if its other end sends too many frames without requests.
pub(crate) struct Framed<T> {
    stream: T,
    clock: Clock,
    head: [u8; HEAD],
    /// The number of bytes of the head that have arrived.
    has: usize,
    /// The number of bytes before the head of the next frame.
    passing: usize,
    left: f64,
    since: Duration,
}

impl<T> Framed<T> {
    /// Wraps a stream that begins with this many bytes before its first frame.
    pub(crate) fn new(stream: T, clock: Clock, preface: usize) -> Self {
        let since = clock.now();
        Self { stream, clock, head: [0; HEAD], has: 0, passing: preface, left: AT_ONCE, since }
    }

    /// Counts the frames that begin in these bytes.
    fn count(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.passing > 0 {
                let count = self.passing.min(bytes.len());
                (self.passing, bytes) = (self.passing - count, &bytes[count..]);
                continue;
            }
            let count = (HEAD - self.has).min(bytes.len());
            self.head[self.has..self.has + count].copy_from_slice(&bytes[..count]);
            (self.has, bytes) = (self.has + count, &bytes[count..]);
            if self.has == HEAD {
                let [high, middle, low, kind, ..] = self.head;
                (self.has, self.passing) = (0, u32::from_be_bytes([0, high, middle, low]) as usize);
                self.frame(kind)?;
            }
        }
        Ok(())
    }

    fn frame(&mut self, kind: u8) -> io::Result<()> {
        // The library limits DATA, HEADERS, RST_STREAM and CONTINUATION.
        if matches!(kind, 0 | 1 | 3 | 9) {
            return Ok(());
        }
        let now = self.clock.now();
        let more = now.saturating_sub(self.since).as_secs_f64() * PER_SECOND;
        (self.left, self.since) = ((self.left + more).min(AT_ONCE), now);
        if self.left < 1.0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "too many frames without a request"));
        }
        self.left -= 1.0;
        Ok(())
    }

    fn sent(&mut self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(count)) = &polled {
            self.left = (self.left + *count as f64 / BYTES_EACH).min(AT_ONCE);
        }
        polled
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Framed<T> {
    fn poll_read(self: Pin<&mut Self>, polling: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut this.stream).poll_read(polling, buffer))?;
        Poll::Ready(this.count(&buffer.filled()[before..]))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Framed<T> {
    fn poll_write(self: Pin<&mut Self>, polling: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(polling, bytes);
        this.sent(polled)
    }

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
        this.sent(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_however_their_bytes_are_cut() {
        let clock = Clock::virtual_time();
        let mut framed = Framed::new((), clock.clone(), 3);
        let ping = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], &[6; 8]].concat();
        let data = [&[0, 0, 2, 0, 0, 0, 0, 0, 1][..], &[6; 2]].concat();
        for byte in [b"abc".as_slice(), &ping, &data, &ping].concat() {
            framed.count(&[byte]).unwrap();
        }
        assert_eq!(framed.left, AT_ONCE - 2.0);
        let many = ping.repeat(AT_ONCE as usize - 2);
        framed.count(&many).unwrap();
        framed.count(&data).unwrap();
        assert!(framed.count(&ping).is_err());
        framed.passing = 0;
        let _ = framed.sent(Poll::Ready(Ok(2048)));
        assert!(framed.count(&ping.repeat(2)).is_ok() && framed.count(&ping).is_err());
    }
}
