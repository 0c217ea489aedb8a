//! One connection: its protocol, and the order of its requests.

use std::collections::HashMap;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lehr_sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};

use crate::body::{Answer, Sending};
use crate::edge::{Edge, Peer};
use crate::error_recording::write_below;
use crate::exchange::exchange;
use crate::frames::Framed;
use crate::stream::Stream;
use crate::write_timeout::OnTheWay;

/// The first bytes from a client with prior knowledge of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The number of services whose requests a connection keeps in order, before it removes idle entries.
const LANES: usize = 256;

/// A stream whose first bytes have been examined, and are read again.
pub(crate) struct Rewound<T> {
    stream: T,
    seen: Vec<u8>,
    given: usize,
}

impl<T: AsyncRead + Unpin> AsyncRead for Rewound<T> {
    fn poll_read(self: Pin<&mut Self>, polling: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let left = &this.seen[this.given..];
        if !left.is_empty() {
            let count = left.len().min(buffer.remaining());
            buffer.put_slice(&left[..count]);
            this.given += count;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_read(polling, buffer)
    }
}

write_below!(Rewound);

/// Reads until it is clear whether the client speaks HTTP/2.
async fn recognise<T: AsyncRead + Unpin>(mut stream: T) -> io::Result<(Rewound<T>, bool)> {
    let mut seen = Vec::with_capacity(PREFACE.len());
    let is_http2 = loop {
        let common = seen.iter().zip(PREFACE).take_while(|(left, right)| left == right).count();
        if common < seen.len() {
            break false;
        }
        if common == PREFACE.len() {
            break true;
        }
        let mut rest = [0; PREFACE.len()];
        let count = stream.read(&mut rest[..PREFACE.len() - seen.len()]).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        seen.extend_from_slice(&rest[..count]);
    };
    Ok((Rewound { stream, seen, given: 0 }, is_http2))
}

/// Serves a connection to its end, or to the end of the node.
pub(crate) async fn serve(edge: Arc<Edge>, stream: Stream, peer: Peer, mut stopping: watch::Receiver<bool>) {
    let limits = edge.limits().clone();
    let recognised = tokio::select! {
        recognised = timeout(limits.header_time, recognise(stream)) => recognised,
        _ = stopping.changed() => return,
    };
    // A client that sends nothing, or leaves, has made no request.
    let Ok(Ok((stream, is_http2))) = recognised else { return };
    if is_http2 {
        let io = TokioIo::new(Framed::new(stream, edge.host.clock().clone(), PREFACE.len()));
        let lanes = Lanes::default();
        let on_the_way = OnTheWay::default();
        let minded = on_the_way.clone();
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            // The library calls this function in the order in which the headers arrived.
            let turn = lanes.turn(request.uri().path());
            let answered = exchange(edge.clone(), peer.clone(), turn, request);
            let (minded, answering) = (minded.clone(), peer.place.answering());
            async move {
                let sending = |answer: Answer| Sending { answer: answer.minded(&minded), _answering: answering };
                answered.await.map(|response| response.map(sending))
            }
        });
        let header_bytes = u32::try_from(limits.header_bytes).unwrap_or(u32::MAX);
        let mut connection = pin!(
            http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_header_list_size(header_bytes)
                .max_concurrent_streams(1024)
                .keep_alive_interval(limits.heartbeat)
                .keep_alive_timeout(limits.heartbeat)
                .serve_connection(io, service)
        );
        // An error means that the client has left, or that it broke the protocol. The library has then told the client.
        let mut stuck = pin!(on_the_way.stuck(limits.take_time));
        let is_old = tokio::select! {
            _ = connection.as_mut() => return,
            () = stuck.as_mut() => return,
            () = sleep(limits.connection_age) => true,
            _ = stopping.changed() => false,
        };
        connection.as_mut().graceful_shutdown();
        if is_old {
            // The client has been told to open another connection. Answers in progress continue.
            tokio::select! {
                _ = connection.as_mut() => return,
                () = stuck => return,
                _ = stopping.changed() => {}
            }
        }
        let _ = timeout(limits.answer_time, connection).await;
    } else {
        // HTTP/1 handles one request after the other, so the requests are in order.
        let io = TokioIo::new(stream);
        let service = service_fn(move |request| {
            let answered = exchange(edge.clone(), peer.clone(), Ticket::free(), request);
            let _answering = peer.place.answering();
            async move { answered.await.map(|response| response.map(|answer| Sending { answer, _answering })) }
        });
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.header_time)
                .max_headers(limits.headers)
                .max_buf_size(limits.header_bytes)
                .serve_connection(io, service)
        );
        tokio::select! {
            _ = connection.as_mut() => return,
            () = sleep(limits.connection_age) => {}
            _ = stopping.changed() => {}
        }
        // An old connection ends after the current answer, which may be an endless stream of events.
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = stopping.wait_for(|stops| *stops) => {}
        }
        let _ = timeout(limits.answer_time, connection).await;
    }
}

/// The order of the requests to each service on one connection.
#[derive(Default)]
struct Lanes {
    /// The signal of the last request to each service. The signal fires when the request has been handed over, or when
    /// it is certain that the request never will be.
    last: Mutex<HashMap<String, oneshot::Receiver<()>>>,
}

/// The position of a request in the order.
pub(crate) struct Ticket {
    before: Option<oneshot::Receiver<()>>,
    /// The signal for the next request, which may begin once this sender is dropped.
    _mine: Option<oneshot::Sender<()>>,
}

impl Ticket {
    /// Returns a ticket that waits for nothing.
    fn free() -> Self {
        Self { before: None, _mine: None }
    }

    /// Waits until all earlier requests to the service have been handed over. Dropping the ticket lets the next request
    /// go.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = self.before.take() {
            // The sender of this signal sends nothing: the wait ends when it is dropped.
            let _ = before.await;
        }
    }
}

impl Lanes {
    fn turn(&self, path: &str) -> Ticket {
        let service = path.split(':').next().unwrap_or(path);
        let (mine, next) = oneshot::channel();
        let mut last = self.last.lock();
        if last.len() >= LANES {
            last.retain(|_, before| matches!(before.try_recv(), Err(oneshot::error::TryRecvError::Empty)));
        }
        let before = last.insert(service.to_owned(), next);
        Ticket { before, _mine: Some(mine) }
    }
}
