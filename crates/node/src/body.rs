//! The bodies of answers: a whole document, or events as they happen.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc::Receiver;

use crate::connections::Answering;
use crate::write_timeout::{OnTheWay, PIECE, Pieces};

/// An answer, with a guard that marks it as being sent.
pub(crate) struct Sending {
    pub(crate) answer: Answer,
    pub(crate) _answering: Answering,
}

impl Body for Sending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, polling: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.get_mut().answer).poll_frame(polling)
    }

    fn is_end_stream(&self) -> bool {
        self.answer.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.answer.size_hint()
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A document; `None` once it is sent.
    Whole(Option<Bytes>),
    /// A long document, whose progress is watched while it is sent.
    Pieces(Pieces),
    /// Events, until their sender is dropped.
    Events(Receiver<Bytes>),
}

impl Answer {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }

    /// Watches the progress of a long answer while it is sent; returns other answers unchanged.
    pub(crate) fn minded(self, on_the_way: &OnTheWay) -> Self {
        match self {
            Self::Whole(Some(bytes)) if bytes.len() > PIECE => Self::Pieces(on_the_way.pieces(bytes)),
            answer => answer,
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, polling: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            // The library asks for the next piece, or for the end, only after it has sent the previous piece.
            Self::Pieces(pieces) => Poll::Ready(pieces.next().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => events.poll_recv(polling).map(|event| event.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Pieces(pieces) => SizeHint::with_exact(pieces.len() as u64),
            Self::Events(_) => SizeHint::default(),
        }
    }
}
