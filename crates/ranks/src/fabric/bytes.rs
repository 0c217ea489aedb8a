//! Ranks of one process that exchange messages in their wire format. Each message becomes a frame in its receiver's
//! stream, and the receiver decodes it. So everything that depends on the wire format runs, and is tested, without a
//! network.
//!
//! Each receiver has one stream, under a lock. A receiver decodes all available bytes into its [`Inbox`]. After a
//! sender has written, it wakes the waiters of the inbox. A receiver that is about to wait registers in its inbox, and
//! then looks at the stream once more, so that it misses no message.

use std::borrow::Cow;
use std::task::{Context, Poll};

use lehr_sync::{Arc, Mutex};

use super::inbox::Inbox;
use super::memory::Memory;
use super::{Envelope, Fabric, Label, Message, Pattern, Ticket};
use crate::error::Error;
use crate::frame::{self, Frame};

/// One rank's end of the fabric; see [`endpoints`].
pub struct Endpoint {
    ranks: Arc<[Rank]>,
    rank: usize,
    culprit: Mutex<Option<usize>>,
    memory: Memory,
}

struct Rank {
    stream: Mutex<Stream>,
    inbox: Inbox,
}

/// The frames that were sent to a rank and have not been decoded.
struct Stream {
    bytes: Vec<u8>,
    /// The number of frames that each rank has written to this stream.
    written: Vec<u64>,
    /// The number of frames that were read from each rank.
    read: Vec<u64>,
}

/// Creates the endpoints of a new fabric, one for each of `size` ranks, in order of rank.
pub fn endpoints(size: usize) -> Vec<Endpoint> {
    let rank = |rank| {
        let stream = Stream { bytes: Vec::new(), written: vec![0; size], read: vec![0; size] };
        Rank { stream: Mutex::new(stream), inbox: Inbox::new(rank, size) }
    };
    let ranks: Arc<[Rank]> = (0..size).map(rank).collect();
    (0..size)
        .map(|rank| Endpoint { ranks: ranks.clone(), rank, culprit: Mutex::default(), memory: Memory::default() })
        .collect()
}

impl Endpoint {
    fn inbox(&self) -> &Inbox {
        &self.ranks[self.rank].inbox
    }

    fn write(&self, to: usize, write: impl FnOnce(&mut Vec<u8>, u64)) {
        let mut stream = self.ranks[to].stream.lock();
        let sequence = stream.written[self.rank];
        stream.written[self.rank] += 1;
        write(&mut stream.bytes, sequence);
        drop(stream);
        self.ranks[to].inbox.ring();
    }

    /// Decodes the bytes that have arrived, and delivers their messages to this rank's inbox.
    fn drain(&self) -> Result<(), Error> {
        let Rank { stream, inbox } = &self.ranks[self.rank];
        let mut stream = stream.lock();
        let bytes = std::mem::take(&mut stream.bytes);
        let mut rest = &bytes[..];
        // Delivers under the lock of the stream, so that two receives of this rank cannot change the order.
        while let Some((frame, sequence, after)) = frame::read(rest)? {
            let (Frame::Message(Message { source, .. }) | Frame::Ended { source } | Frame::Failed { source, .. }) =
                frame;
            if stream.read[source] != sequence {
                let message = format!("frame {sequence} of rank {source} came in place of {}", stream.read[source]);
                return Err(Error::Transport { message });
            }
            stream.read[source] += 1;
            match frame {
                Frame::Message(message) => inbox.deliver(message),
                Frame::Ended { source } => inbox.end(source, None),
                Frame::Failed { source, culprit } => inbox.end(source, Some(culprit)),
            }
            rest = after;
        }
        if !rest.is_empty() {
            return Err(Error::Transport { message: "a frame without its end".to_owned() });
        }
        Ok(())
    }

    fn poll<R>(&self, mut poll: impl FnMut(&Inbox) -> Poll<Result<R, Error>>) -> Poll<Result<R, Error>> {
        self.drain()?;
        if let Poll::Ready(outcome) = poll(self.inbox()) {
            return Poll::Ready(outcome);
        }
        self.drain()?;
        poll(self.inbox())
    }
}

impl Fabric for Endpoint {
    fn name(&self) -> &'static str {
        "bytes"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.ranks.len()
    }

    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        self.write(to, |stream, sequence| frame::write(stream, self.rank, label, sequence, &bytes));
        Ok(())
    }

    receives_from_its_inbox!();
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let failed = std::thread::panicking().then_some(self.rank);
        let culprit = self.culprit.lock().or(failed);
        for to in (0..self.size()).filter(|&to| to != self.rank) {
            self.write(to, |stream, sequence| frame::write_end(stream, self.rank, sequence, culprit));
        }
    }
}
