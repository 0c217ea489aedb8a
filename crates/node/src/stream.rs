//! The bytes of a connection, for any transport.
//!
//! One type for all: the protocols above are large, and would be compiled for each type of stream once more. A call
//! through an object costs nothing beside the system call below it.

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes in both directions: a connection of TCP, or TLS on top of one.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A stream of some kind.
pub(crate) type Stream = Box<dyn Duplex>;
