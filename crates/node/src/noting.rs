//! A stream that notes why it broke. What lies above it may lose the reason: HTTP/2 says "connection error" where TLS has said which
//! certificate is missing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use lehr_sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::certificate::reason_within;

/// Why a stream broke, if it did.
pub(crate) type Why = Arc<OnceLock<String>>;

/// A stream whose first fault in reading is noted.
pub(crate) struct Noting<T> {
    stream: T,
    why: Why,
}

impl<T> Noting<T> {
    pub(crate) fn new(stream: T) -> (Self, Why) {
        let why = Why::default();
        (Self { stream, why: why.clone() }, why)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Noting<T> {
    fn poll_read(self: Pin<&mut Self>, polling: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_read(polling, buffer);
        if let Poll::Ready(Err(error)) = &polled {
            // Noted before anybody above hears of it. Only the first counts.
            let _ = this.why.set(reason_within(error).unwrap_or_else(|| error.to_string()));
        }
        polled
    }
}

/// Writing to a stream that only minds what is read: straight to the stream below.
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

write_below!(Noting);
