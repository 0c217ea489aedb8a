//! Ranks of one process over ports of the runtime, as in papers 000 to 004. A send posts to the port of the receiver,
//! and the receiver listens at its port.
//!
//! A port does not match sources and tags (paper 001 finds that CCR would need a port for each pair of ranks). So the
//! listener puts the messages that it receives into an [`Inbox`]. The listener is a future that belongs to no task. A
//! rank that waits for a message polls the listener. A message that arrives at the port later wakes the receives that
//! wait in the inbox.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll, Wake, Waker};

use lehr_runtime::Port;
use lehr_sync::{Arc, Mutex};

use super::inbox::Inbox;
use super::memory::Memory;
use super::{Envelope, Fabric, Label, Message, Pattern, Ticket};
use crate::error::Error;

/// An item that a rank posts to the port of another rank.
enum Parcel {
    Message(Message),
    /// A rank has ended; it failed if there is a culprit.
    Ended {
        rank: usize,
        culprit: Option<usize>,
    },
}

/// One rank's end of the fabric; see [`endpoints`].
pub struct Endpoint {
    ports: Arc<[Port<Parcel>]>,
    rank: usize,
    inbox: Arc<Ringing>,
    /// Moves posted messages into the inbox; never ends.
    listener: Mutex<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// The waker of the listener, which wakes the waiters of the inbox.
    waker: Waker,
    culprit: Mutex<Option<usize>>,
    memory: Memory,
}

/// An inbox whose waiters are woken when the listener has something to receive.
struct Ringing(Inbox);

impl Wake for Ringing {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }
}

/// Creates the endpoints of a new fabric, one for each of `size` ranks, in order of rank.
pub fn endpoints(size: usize) -> Vec<Endpoint> {
    let ports: Arc<[Port<Parcel>]> = (0..size).map(|rank| Port::named(format!("rank {rank}"))).collect();
    let end = |rank: usize| {
        let inbox = Arc::new(Ringing(Inbox::new(rank, size)));
        let (port, heard) = (ports[rank].clone(), inbox.clone());
        let listener = async move {
            while let Ok(parcel) = port.receive().await {
                match parcel {
                    Parcel::Message(message) => heard.0.deliver(message),
                    Parcel::Ended { rank, culprit } => heard.0.end(rank, culprit),
                }
            }
        };
        let waker = Waker::from(inbox.clone());
        Endpoint {
            ports: ports.clone(),
            rank,
            inbox,
            listener: Mutex::new(Box::pin(listener)),
            waker,
            culprit: Mutex::default(),
            memory: Memory::default(),
        }
    };
    (0..size).map(end).collect()
}

impl Endpoint {
    fn inbox(&self) -> &Inbox {
        &self.inbox.0
    }

    /// Polls the listener, which moves the posted messages into the inbox and then waits for further messages.
    fn listen(&self) {
        let mut listener = self.listener.lock();
        // The listener never ends, because the port is closed only when this end is dropped.
        let _ = listener.as_mut().poll(&mut Context::from_waker(&self.waker));
    }

    fn poll<R>(&self, mut poll: impl FnMut(&Inbox) -> Poll<Result<R, Error>>) -> Poll<Result<R, Error>> {
        self.listen();
        if let Poll::Ready(outcome) = poll(self.inbox()) {
            return Poll::Ready(outcome);
        }
        // The listener may have been woken before this receive was registered in the inbox.
        self.listen();
        poll(self.inbox())
    }
}

impl Fabric for Endpoint {
    fn name(&self) -> &'static str {
        "ports"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.ports.len()
    }

    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        let message = Message { source: self.rank, label, bytes: bytes.into_owned() };
        // A closed port belongs to a rank that has ended, so no receive will miss the message.
        drop(self.ports[to].post(Parcel::Message(message)));
        Ok(())
    }

    receives_from_its_inbox!();
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let failed = std::thread::panicking().then_some(self.rank);
        let culprit = self.culprit.lock().or(failed);
        self.ports[self.rank].close();
        for (rank, port) in self.ports.iter().enumerate() {
            if rank != self.rank {
                drop(port.post(Parcel::Ended { rank: self.rank, culprit }));
            }
        }
    }
}
