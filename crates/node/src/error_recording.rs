//! A stream that notes why it broke. A layer above it may lose the reason: HTTP/2 says "connection error" where TLS has
//! said which certificate is missing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use lehr_sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::certificate::reason_within;

/// The notes on a stream.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The reason why it broke, if it did.
    pub(crate) why: OnceLock<String>,
    /// Whether the other end has begun to speak as HTTP/1 does.
    is_http1: OnceLock<bool>,
}

impl Noted {
    /// Whether the other end speaks HTTP/1: then it has understood nothing of the request in HTTP/2.
    pub(crate) fn is_http1(&self) -> bool {
        self.is_http1.get() == Some(&true)
    }
}

/// A stream whose first fault in reading is noted.
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
            // Only the first bytes count. A frame of HTTP/2 that begins like this would be longer than any may be.
            let _ = this.noted.is_http1.set(came.starts_with(b"HTTP"));
        }
        if let Poll::Ready(Err(error)) = &polled {
            // Noted before anybody above hears of it. Only the first counts.
            let _ = this.noted.why.set(reason_within(error).unwrap_or_else(|| error.to_string()));
        }
        polled
    }
}

/// Writing to a stream that only minds the bytes read: straight to the stream below.
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
