//! Messages between two ranks: send, receive, probe.
//!
//! A message carries a tag. Between two ranks, messages with the same tag are received in the order in which they were
//! sent. A send is complete when its values have been copied. No call returns a request object: a future that has been
//! polled *is* the request, and several can be polled together.

use std::borrow::Cow;
use std::task::{Context, Poll, Waker};

use lehr_runtime::Elapsed;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::fabric::pipeline::Incoming;
use crate::fabric::receiving::{Probing, Reading, Receiving};
use crate::fabric::{Envelope, Fabric, Label, Message, Pattern, Ticket};
use crate::group::{Group, Traffic};
use crate::message::{self, Plain};
use crate::trace::Activity;

/// A filter for messages, used by [`receive_any`](Communicator::receive_any) and [`probe`](Communicator::probe).
///
/// # Example
/// ```
/// use lehr_ranks::Wanted;
/// let reports = Wanted { tag: Some(3), ..Wanted::ANY }; // from anybody
/// assert_eq!(reports.source, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The rank that the message comes from; `None` accepts any rank.
    pub source: Option<usize>,
    /// The tag of the message; `None` accepts any tag.
    pub tag: Option<u32>,
}

impl Wanted {
    /// The filter that matches any message.
    pub const ANY: Self = Self { source: None, tag: None };
}

/// The source, the tag and the length of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The rank that sent the message.
    pub source: usize,
    /// The tag that the sender gave the message.
    pub tag: u32,
    /// The length of the message in bytes.
    pub bytes: usize,
}

/// A receipt that a synchronous send waits for. If the wait is abandoned, a later synchronous send discards the
/// receipt.
struct Owed<'a> {
    communicator: &'a Communicator,
    pattern: Option<Pattern>,
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        if let Some(pattern) = self.pattern.take() {
            self.communicator.group.owe(pattern);
        }
    }
}

impl Communicator {
    /// Sends values to rank `to`, which may be this rank. The send is complete when the values have been copied: it
    /// does not wait for the receiver.
    ///
    /// Cost: one copy of the values.
    ///
    /// # Errors
    /// Returns [`Error::Transport`]. It is not an error if the receiver has ended.
    ///
    /// # Panics
    /// Panics if there is no rank `to`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(2), |comm| async move {
    ///     let other = 1 - comm.rank();
    ///     comm.send(other, 7, &[comm.rank() as u32, 10]).await?;
    ///     comm.receive::<u32>(other, 7).await
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(vec![1, 10]), Ok(vec![0, 10])]);
    /// ```
    pub async fn send<T: Plain>(&self, to: usize, tag: u32, values: &[T]) -> Result<(), Error> {
        self.assert_rank("receiver", to);
        self.post(Traffic::Messages, to, tag, Cow::Borrowed(bytemuck::cast_slice(values)))
    }

    /// Like [`send`](Self::send), for a message of bytes that lie in several places. The receiver gets one message.
    ///
    /// # Errors
    /// Returns the same errors as [`send`](Self::send).
    ///
    /// # Panics
    /// Panics if there is no rank `to`.
    ///
    /// # Example
    /// See [`receive_with`](Self::receive_with).
    pub async fn send_parts(&self, to: usize, tag: u32, parts: &[&[u8]]) -> Result<(), Error> {
        self.assert_rank("receiver", to);
        let label = Label { context: self.group.context(Traffic::Messages), tag, receipt: 0 };
        self.fabric.send_parts(self.group.world(to), label, parts)
    }

    /// Like [`send`](Self::send), but completes only when the receiver has received the message.
    ///
    /// Dropping the future before it is ready does not undo the send; a later synchronous send then discards the
    /// receipt.
    ///
    /// # Errors
    /// Returns the same errors as [`send`](Self::send); [`Error::RankLeft`] if the receiver has ended without receiving
    /// the message.
    ///
    /// # Panics
    /// Panics if there is no rank `to`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(2), |comm| async move {
    ///     if comm.rank() == 0 {
    ///         return comm.send_synchronous(1, 7, &[1.5]).await.map(|()| vec![]); // rank 1 has it now
    ///     }
    ///     comm.receive::<f64>(0, 7).await
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(vec![]), Ok(vec![1.5])]);
    /// ```
    pub async fn send_synchronous<T: Plain>(&self, to: usize, tag: u32, values: &[T]) -> Result<(), Error> {
        self.assert_rank("receiver", to);
        let receipt = self.group.receipt(&*self.fabric);
        let label = Label { context: self.group.context(Traffic::Messages), tag, receipt };
        self.fabric.send(self.group.world(to), label, Cow::Borrowed(bytemuck::cast_slice(values)))?;
        let wanted = Wanted { source: Some(to), tag: Some(receipt) };
        let mut owed = Owed { communicator: self, pattern: Some(self.pattern(Traffic::Receipts, wanted)) };
        self.take(Traffic::Receipts, wanted, "send_synchronous").await?;
        owed.pattern = None;
        Ok(())
    }

    /// Sends to one rank and receives from another under the same tag; both may be the same rank, or this rank.
    ///
    /// # Errors
    /// Returns the same errors as [`receive`](Self::receive).
    ///
    /// # Panics
    /// Panics if there is no rank `to` or `from`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(3), |comm| async move {
    ///     let (rank, size) = (comm.rank(), comm.size());
    ///     comm.send_receive((rank + 1) % size, &[rank], (rank + 2) % size, 0).await
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(vec![2]), Ok(vec![0]), Ok(vec![1])]);
    /// ```
    pub async fn send_receive<T: Plain>(
        &self,
        to: usize,
        values: &[T],
        from: usize,
        tag: u32,
    ) -> Result<Vec<T>, Error> {
        self.send(to, tag, values).await?;
        self.receive(from, tag).await
    }

    /// Waits for a message from rank `from` with this tag, and returns its values.
    ///
    /// Cancel-safe: a future that is dropped before it is ready has taken no message.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] if the rank has ended and no matching message is left. Returns [`Error::Late`] after
    /// the communicator's patience. Returns [`Error::Decoding`] if the message is not a whole number of values, or
    /// [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if there is no rank `from`.
    ///
    /// # Example
    /// See [`send`](Self::send).
    pub async fn receive<T: Plain>(&self, from: usize, tag: u32) -> Result<Vec<T>, Error> {
        let message = self.message(Wanted { source: Some(from), tag: Some(tag) }, "receive").await?;
        self.values(message)
    }

    /// Like [`receive`](Self::receive), but copies the values to your memory. The message may be shorter than `values`:
    /// the returned status has its length.
    ///
    /// # Errors
    /// Returns the same errors as [`receive`](Self::receive), except for [`Error::Decoding`]; [`Error::Truncated`] if
    /// the message is longer than `values`.
    ///
    /// # Panics
    /// Panics if there is no rank `from`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     comm.send(0, 7, &[1.5, 2.5]).await?; // to itself
    ///     let mut values = [0.0; 4];
    ///     let status = comm.receive_into(0, 7, &mut values).await?;
    ///     Ok::<_, lehr_ranks::Error>((values, status.bytes))
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(([1.5, 2.5, 0.0, 0.0], 16))]);
    /// ```
    pub async fn receive_into<T: Plain>(&self, from: usize, tag: u32, values: &mut [T]) -> Result<Status, Error> {
        let wanted = Wanted { source: Some(from), tag: Some(tag) };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let room = bytes.len();
        let copy = |status: Status, sent: &mut Incoming<'_>| match bytes.get_mut(..status.bytes) {
            Some(bytes) => sent.copy(bytes),
            None => Ok(()),
        };
        let status = self.read(wanted, "receive_into", copy).await?;
        if status.bytes <= room {
            return Ok(status);
        }
        Err(Error::Truncated { source: from, sent: status.bytes, room })
    }

    /// Waits for the first message that matches, and passes it to `read`. This function reads the bytes where they lie,
    /// or copies them to memory of its choice. Returns the status of the message.
    ///
    /// Cancel-safe: a future that is dropped before it is ready has taken no message.
    ///
    /// # Errors
    /// Returns the same errors as [`receive_any`](Self::receive_any), except for [`Error::Decoding`]; the errors of
    /// `read`, which passes on those of [`Incoming`].
    ///
    /// # Panics
    /// Panics if there is no rank `wanted.source`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     comm.send_parts(0, 7, &[&[1, 2], &[3]]).await?; // to itself
    ///     let mut sum = 0;
    ///     comm.receive_with(Wanted::ANY, |_, message| {
    ///         sum = message.bytes()?.iter().sum();
    ///         Ok(())
    ///     })
    ///     .await?;
    ///     Ok::<u8, lehr_ranks::Error>(sum)
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(6)]);
    /// ```
    pub async fn receive_with(
        &self,
        wanted: Wanted,
        read: impl FnMut(Status, &mut Incoming<'_>) -> Result<(), Error> + Unpin,
    ) -> Result<Status, Error> {
        self.read(wanted, "receive_with", read).await
    }

    /// Waits for the first message that matches, and returns its values and its status.
    ///
    /// Cancel-safe: a future that is dropped before it is ready has taken no message.
    ///
    /// # Errors
    /// Returns the same errors as [`receive`](Self::receive). If any source is accepted and no message matches, returns
    /// [`Error::RankLeft`] as soon as a rank has failed or all other ranks have ended.
    ///
    /// # Panics
    /// Panics if there is no rank `wanted.source`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(3), |comm| async move {
    ///     if comm.rank() > 0 {
    ///         return comm.send(0, 1, &[comm.rank() as u64]).await.map(|()| 0);
    ///     }
    ///     let mut sum = 0;
    ///     for _ in 1..comm.size() {
    ///         let (values, status) = comm.receive_any::<u64>(Wanted::ANY).await?;
    ///         assert_eq!(values[0], status.source as u64);
    ///         sum += values[0];
    ///     }
    ///     Ok(sum)
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(3), Ok(0), Ok(0)]);
    /// ```
    pub async fn receive_any<T: Plain>(&self, wanted: Wanted) -> Result<(Vec<T>, Status), Error> {
        let message = self.message(wanted, "receive_any").await?;
        let status = self.status(&message);
        Ok((self.values(message)?, status))
    }

    /// Waits until there is a message that matches, and returns its status without receiving it.
    ///
    /// Between a probe and the receive that follows it, another receive of this rank may take the message.
    ///
    /// # Errors
    /// Returns the same errors as [`receive_any`](Self::receive_any), except for [`Error::Decoding`].
    ///
    /// # Panics
    /// Panics if there is no rank `wanted.source`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let lengths = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     comm.send(0, 3, &[1_u16, 2]).await?;
    ///     let status = comm.probe(Wanted::ANY).await?;
    ///     let values = comm.receive::<u16>(status.source, status.tag).await?;
    ///     Ok::<_, lehr_ranks::Error>((status.bytes, values.len()))
    /// });
    /// assert_eq!(lengths.unwrap(), [Ok((4, 2))]);
    /// ```
    pub async fn probe(&self, wanted: Wanted) -> Result<Status, Error> {
        let pattern = self.pattern(Traffic::Messages, wanted);
        let _noting = self.noting(Activity::Communication, "probe");
        let probing = Probing::new(&*self.fabric, pattern, "probe");
        let found = self.patiently(probing, &wanted, "probe").await?;
        Ok(Status { source: self.group.local(found.source), tag: found.label.tag, bytes: found.length })
    }

    /// Returns the status of the earliest message that matches, if one has arrived; never waits.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if there is no rank `wanted.source`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let found = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     let before = comm.probe_now(Wanted::ANY)?;
    ///     comm.send(0, 3, &[1_u16, 2]).await?;
    ///     Ok::<_, lehr_ranks::Error>((before, comm.probe_now(Wanted::ANY)?.map(|status| status.bytes)))
    /// });
    /// assert_eq!(found.unwrap(), [Ok((None, Some(4)))]);
    /// ```
    pub fn probe_now(&self, wanted: Wanted) -> Result<Option<Status>, Error> {
        let pattern = self.pattern(Traffic::Messages, wanted);
        let mut turn = Ticket::default();
        let mut context = Context::from_waker(Waker::noop());
        let probed = self.fabric.poll_probe(&pattern, &mut turn, "probe", &mut context);
        self.fabric.forget(&mut turn);
        match probed {
            // No message matches, and none ever will: this is for the calls that wait to say.
            Poll::Pending | Poll::Ready(Err(Error::RankLeft { .. })) => Ok(None),
            Poll::Ready(Ok(found)) => {
                let source = self.group.local(found.source);
                Ok(Some(Status { source, tag: found.label.tag, bytes: found.length }))
            }
            Poll::Ready(Err(error)) => Err(error),
        }
    }

    /// Passes a message to the fabric, for the rank `to` of this communicator.
    pub(crate) fn post(&self, traffic: Traffic, to: usize, tag: u32, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        let label = Label { context: self.group.context(traffic), tag, receipt: 0 };
        self.fabric.send(self.group.world(to), label, bytes)
    }

    pub(crate) fn pattern(&self, traffic: Traffic, wanted: Wanted) -> Pattern {
        if let Some(source) = wanted.source {
            self.assert_rank("source", source);
        }
        let source = wanted.source.map(|source| self.group.world(source));
        Pattern { source, context: self.group.context(traffic), tag: wanted.tag, besides: None }
    }

    async fn message(&self, wanted: Wanted, waiting_in: &'static str) -> Result<Message, Error> {
        self.take(Traffic::Messages, wanted, waiting_in).await
    }

    pub(crate) async fn take(
        &self,
        traffic: Traffic,
        wanted: Wanted,
        waiting_in: &'static str,
    ) -> Result<Message, Error> {
        let pattern = self.pattern(traffic, wanted);
        let _noting =
            if traffic == Traffic::Messages { self.noting(Activity::Communication, waiting_in) } else { None };
        let receiving = Receiving::new(&*self.fabric, pattern, waiting_in);
        let message = self.patiently(receiving, &wanted, waiting_in).await?;
        acknowledge(&*self.fabric, &self.group, message.envelope())?;
        Ok(message)
    }

    async fn read(
        &self,
        wanted: Wanted,
        waiting_in: &'static str,
        mut read: impl FnMut(Status, &mut Incoming<'_>) -> Result<(), Error> + Unpin,
    ) -> Result<Status, Error> {
        let pattern = self.pattern(Traffic::Messages, wanted);
        let group = &self.group;
        let status = |envelope: Envelope| Status {
            source: group.local(envelope.source),
            tag: envelope.label.tag,
            bytes: envelope.length,
        };
        let mut seen = None;
        let look = |envelope: Envelope, sent: &mut Incoming<'_>| {
            seen = Some(envelope);
            read(status(envelope), sent)
        };
        let _noting = self.noting(Activity::Communication, waiting_in);
        let read = self.patiently(Reading::new(&*self.fabric, pattern, waiting_in, look), &wanted, waiting_in).await;
        let Some(envelope) = seen else {
            return Err(read.expect_err("what was received was read"));
        };
        // The message is gone, even if it could not be read.
        acknowledge(&*self.fabric, group, envelope)?;
        read.map(|()| status(envelope))
    }

    /// Awaits a receive or a probe, for at most the patience of this communicator.
    pub(crate) async fn patiently<R>(
        &self,
        waiting: impl Future<Output = Result<R, Error>>,
        wanted: &Wanted,
        waiting_in: &'static str,
    ) -> Result<R, Error> {
        let _noting = self.noting(Activity::Wait, waiting_in);
        let outcome = match &self.settings.patience {
            None => waiting.await,
            Some((clock, limit)) => clock.timeout(*limit, waiting).await.unwrap_or_else(|Elapsed| {
                let rank = wanted.source.map(|source| self.group.world(source));
                Err(Error::Late { rank, waiting_in, limit: *limit })
            }),
        };
        outcome.map_err(|error| self.failed(error))
    }

    pub(crate) fn status(&self, message: &Message) -> Status {
        Status { source: self.group.local(message.source), tag: message.label.tag, bytes: message.bytes.len() }
    }

    fn values<T: Plain>(&self, message: Message) -> Result<Vec<T>, Error> {
        let bytes = message.bytes;
        let whole = if size_of::<T>() == 0 { bytes.is_empty() } else { bytes.len().is_multiple_of(size_of::<T>()) };
        if !whole {
            let source = self.group.local(message.source);
            let message = format!("{} bytes are no whole number of values of {} bytes", bytes.len(), size_of::<T>());
            return Err(Error::Decoding { source, message });
        }
        // A vector of values with the alignment of bytes takes over the memory of the message.
        Ok(bytemuck::allocation::try_cast_vec(bytes).unwrap_or_else(|(_, bytes)| message::collect(&bytes)))
    }
}

/// Tells the sender that its message was received, if the sender wants a receipt.
pub(crate) fn acknowledge(fabric: &dyn Fabric, group: &Group, envelope: Envelope) -> Result<(), Error> {
    if envelope.label.receipt == 0 {
        return Ok(());
    }
    let label = Label { context: group.context(Traffic::Receipts), tag: envelope.label.receipt, receipt: 0 };
    fabric.send(envelope.source, label, Cow::Borrowed(&[]))
}
