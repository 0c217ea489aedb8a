//! The bytes of a connection, for any transport.
//!
//! There is one type for all transports: the protocols above are large, and would be compiled again for each type of
//! stream. A dynamic call costs very little compared with the system call below it.

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes in both directions: a TCP connection, or TLS over one.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A stream over any transport.
pub(crate) type Stream = Box<dyn Duplex>;
