//! A stream that records why it broke. A layer above the stream may lose the reason: HTTP/2 reports "connection error"
//! where TLS has reported which certificate is missing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use lehr_sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::certificate::reason_within;

/// The record of a stream's first error and first bytes.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The reason why the stream broke, if it did.
    pub(crate) why: OnceLock<String>,
    /// Whether the first bytes from the other end are HTTP/1.
    is_http1: OnceLock<bool>,
}

impl Noted {
    /// Returns whether the other end speaks HTTP/1. If it does, it has understood nothing of a request in HTTP/2.
    pub(crate) fn is_http1(&self) -> bool {
        self.is_http1.get() == Some(&true)
    }
}

/// A stream that records its first error in reading.
pub(crate) struct ErrorRecording<T> {
    stream: T,
    noted: Arc<Noted>,
}

impl<T> ErrorRecording<T> {
    pub(crate) fn new(stream: T) -> (Self, Arc<Noted>) {
        let noted = Arc::<Noted>::default();
        (Self { stream, noted: noted.clone() }, noted)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for ErrorRecording<T> {
    fn poll_read(self: Pin<&mut Self>, polling: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(polling, buffer);
        let came = &buffer.filled()[before..];
        if !came.is_empty() {
            // Only the first bytes count. An HTTP/2 frame that begins like this would exceed the maximum length.
            let _ = this.noted.is_http1.set(came.starts_with(b"HTTP"));
        }
        if let Poll::Ready(Err(error)) = &polled {
            // The error is recorded before any layer above sees it. Only the first error counts.
            let _ = this.noted.why.set(reason_within(error).unwrap_or_else(|| error.to_string()));
        }
        polled
    }
}

/// Implements writing for a stream that only examines the bytes read: it writes straight to the stream below.
macro_rules! write_below {
    ($stream:ident) => {
        impl<T: AsyncWrite + Unpin> AsyncWrite for $stream<T> {
            fn poll_write(self: Pin<&mut Self>, polling: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.get_mut().stream).poll_write(polling, bytes)
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
                Pin::new(&mut self.get_mut().stream).poll_write_vectored(polling, parts)
            }

            fn is_write_vectored(&self) -> bool {
                self.stream.is_write_vectored()
            }
        }
    };
}
pub(crate) use write_below;

write_below!(ErrorRecording);
