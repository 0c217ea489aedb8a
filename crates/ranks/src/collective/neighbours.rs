//! Calls that send messages over lanes between threads: shifts, exchanges with neighbours, and one-way calls.
//!
//! Such a call is a [`Talk`], which begins, sends, receives and finishes. A talk that is dropped before it has finished
//! is abandoned, and messages that arrive for it later are discarded.

use std::borrow::Cow;
use std::future::poll_fn;
use std::task::{Context, Poll};

use lehr_runtime::Elapsed;

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::threads::exchange::{Endpoint, Swap, Trouble};
use crate::trace::{Activity, OpenSpan};

pub(crate) use crate::fabric::threads::exchange::{Besides, Hearing};

/// One rank's part in a call that is in progress.
pub(crate) struct Talk<'a> {
    communicator: &'a mut Communicator,
    call: Call,
    _noting: Option<OpenSpan>,
}

/// The maximum number of bytes, over all ranks, that a root sends or receives in a one-way call over lanes. Above this
/// limit, an exchange is faster, in which ranks read messages where they were written.
const ONE_WAY_BYTES: usize = 4096;

/// The minimum length of a message, in bytes, that is lent instead of copied.
const LENT_BYTES: usize = if cfg!(any(loom, shuttle)) { 64 } else { 1 << 15 };

impl Communicator {
    /// Whether a call between a root and all other ranks, with this many bytes, goes one way over lanes. The call goes
    /// one way if the bytes are few, every rank has a core, and calls are not checked. All ranks get the same answer,
    /// unless their calls differ.
    pub(crate) fn goes_one_way(&self, bytes: usize) -> bool {
        let others = self.size() - 1;
        !self.settings.is_checked && self.shared().folds_alone() && bytes.saturating_mul(others) <= ONE_WAY_BYTES
    }

    /// Whether messages of this many bytes are swapped, that is, lent before they are copied. Messages are swapped only
    /// where ranks spin.
    pub(crate) fn lends(&self, bytes: usize) -> bool {
        bytes >= LENT_BYTES && self.shared().folds_alone()
    }

    /// Receives and discards the messages that this rank must still receive from an abandoned call.
    pub(crate) async fn hear_what_is_owed(&mut self, call: Call) -> Result<(), Error> {
        let _noting = self.noting(Activity::Communication, call.name());
        let mut talk = Talk { communicator: self, call, _noting };
        while let Some(from) = talk.endpoint().owed() {
            talk.hear(from, Besides::Several, |_| {}).await?;
        }
        talk.finish()
    }

    /// Begins a call with neighbours between threads. `number` must be the same on all ranks.
    pub(crate) fn talk(&mut self, call: Call, number: usize) -> Talk<'_> {
        let _noting = self.noting(Activity::Communication, call.name());
        let mut talk = Talk { communicator: self, call, _noting };
        talk.endpoint().begin(call as u64, number as u64);
        talk
    }
}

impl Talk<'_> {
    fn endpoint(&mut self) -> &mut Endpoint {
        self.communicator.exchange.as_mut().expect("asked for only where there is one")
    }

    /// Records that this rank will receive a message from a rank: in this call or, if this call is abandoned, before
    /// the next call.
    pub(crate) fn owe(&mut self, from: usize) {
        self.endpoint().owe(from);
    }

    /// Sends a message that consists of `parts`, without waiting.
    pub(crate) fn tell(&mut self, to: usize, parts: &[&[u8]]) {
        self.endpoint().tell(to, parts);
    }

    /// Waits until there is room for the next message to a rank, which limits how far this rank gets ahead of that
    /// rank. Abandoning this wait does not undo the message that was sent before it.
    pub(crate) async fn make_room(&mut self, to: usize) -> Result<(), Error> {
        self.wait(&mut (), |_| to, |endpoint, _, context| endpoint.poll_room(to, context)).await
    }

    /// Waits for the message from a rank, and shows its parts to `read`.
    pub(crate) async fn hear(
        &mut self,
        from: usize,
        besides: Besides,
        mut read: impl FnMut(&[&[u8]]) + Send,
    ) -> Result<(), Error> {
        self.wait(&mut read, |_| from, |endpoint, read, context| endpoint.poll_hear(from, besides, context, read)).await
    }

    /// Sends and receives the long messages of a swap. A message that its receiver takes in time is copied only once.
    pub(crate) async fn swap(&mut self, mut swap: Swap<'_>) -> Result<(), Error> {
        self.wait(&mut swap, |swap| swap.awaited(), |endpoint, swap, context| endpoint.poll_swap(swap, context)).await
    }

    /// Waits for another rank, for at most the communicator's patience.
    async fn wait<S>(
        &mut self,
        state: &mut S,
        awaited: impl Fn(&S) -> usize,
        mut poll: impl FnMut(&mut Endpoint, &mut S, &mut Context<'_>) -> Poll<Result<(), Trouble>>,
    ) -> Result<(), Error> {
        let (call, patience) = (self.call, self.communicator.settings.patience.clone());
        let _waiting = self.communicator.noting(Activity::Wait, call.name());
        let endpoint = self.endpoint();
        let waiting = poll_fn(|context| poll(endpoint, state, context));
        let done = match patience {
            None => waiting.await,
            Some((clock, limit)) => match clock.timeout(limit, waiting).await {
                Ok(done) => done,
                Err(Elapsed) => {
                    let rank = Some(self.communicator.group.world(awaited(state)));
                    return Err(self.communicator.failed(Error::Late { rank, waiting_in: call.name(), limit }));
                }
            },
        };
        done.map_err(|trouble| self.communicator.troubled(call, trouble))
    }

    /// Like [`hear`](Self::hear), but copies the message into memory that it must fill exactly.
    pub(crate) async fn hear_exactly(&mut self, from: usize, besides: Besides, memory: &mut [u8]) -> Result<(), Error> {
        let (mut sent, room) = (0, memory.len());
        self.hear(from, besides, |parts| sent = copy(parts, memory)).await?;
        fits(from, sent, room)
    }

    /// Ends a call that has sent and received all its messages.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.endpoint().finish();
        Ok(())
    }
}

/// Copies the parts of a message to memory that they must fill exactly. Returns the total length of the parts; copies
/// nothing if it differs from the memory's length.
pub(crate) fn copy(parts: &[&[u8]], memory: &mut [u8]) -> usize {
    let length = parts.iter().map(|part| part.len()).sum();
    if length == memory.len() {
        let mut rest = memory;
        for part in parts {
            let (place, after) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = after;
        }
    }
    length
}

/// Returns a message's parts as one slice, copied only if there are several parts.
pub(crate) fn whole<'a>(parts: &[&'a [u8]]) -> Cow<'a, [u8]> {
    if let [whole] = parts { Cow::Borrowed(whole) } else { Cow::Owned(parts.concat()) }
}

/// Returns an error if a neighbour's message does not have the expected length.
pub(crate) fn fits(source: usize, sent: usize, room: usize) -> Result<(), Error> {
    if sent == room { Ok(()) } else { Err(Error::Truncated { source, sent, room }) }
}
