//! Receives and synchronous sends that are started at once, and that outlive the borrow of their communicator.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use lehr_sync::Arc;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::fabric::{Fabric, Label, Message, Pattern, Ticket};
use crate::group::{Group, Traffic};
use crate::message::Plain;
use crate::point_to_point::{Status, Wanted, acknowledge};

/// A receive that [`post_receive`](Communicator::post_receive) has started. Await it for the message.
///
/// The receive takes its message when it is polled, by `.await` or by [`has_come`](Self::has_come). A synchronous send
/// to it waits until then. Cancel-safe: a posted receive that is dropped before it is ready has taken no message.
///
/// A posted receive keeps its rank's end of the fabric open. Other ranks learn that this rank has ended only when the
/// communicators and the posted receives of this rank are gone.
#[must_use = "a posted receive takes its message when it is awaited"]
pub struct PostedReceive {
    fabric: Arc<dyn Fabric>,
    group: Group,
    pattern: Pattern,
    waiting_in: &'static str,
    turn: Ticket,
    /// The outcome, if it has come and nobody has awaited it yet.
    early: Option<Result<Message, Error>>,
}

impl fmt::Debug for PostedReceive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostedReceive").field("pattern", &self.pattern).finish_non_exhaustive()
    }
}

impl Communicator {
    /// Starts a receive of the first message that matches. Of several receives that match a message, the one that was
    /// started first gets it.
    ///
    /// In contrast to a future of [`receive_any`](Communicator::receive_any), the receive has its place from the start
    /// and does not borrow the communicator. The patience of the communicator does not apply.
    ///
    /// # Panics
    /// Panics if there is no rank `wanted.source`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     let other = 1 - comm.rank();
    ///     let posted = comm.post_receive(Wanted { source: Some(other), tag: None });
    ///     comm.barrier().await?; // the communicator is free
    ///     comm.send(other, 7, &[comm.rank() as u8]).await?;
    ///     posted.await.map(|(bytes, status)| (bytes, status.tag))
    /// });
    /// assert_eq!(heard.unwrap(), [Ok((vec![1], 7)), Ok((vec![0], 7))]);
    /// ```
    pub fn post_receive(&self, wanted: Wanted) -> PostedReceive {
        self.posted(Traffic::Messages, wanted, "post_receive")
    }

    /// Sends values to rank `to`, and starts to wait until the receiver has received the message.
    ///
    /// In contrast to a future of [`send_synchronous`](Communicator::send_synchronous), the message is sent at once, and
    /// the wait does not borrow the communicator.
    ///
    /// # Errors
    /// Returns the same errors as [`send`](Communicator::send).
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
    ///     let posted = comm.post_send(other, 7, &[comm.rank() as u8])?;
    ///     let heard = comm.receive::<u8>(other, 7).await?;
    ///     posted.await.map(|()| heard) // the other rank has the message now
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(vec![1]), Ok(vec![0])]);
    /// ```
    pub fn post_send<T: Plain>(&self, to: usize, tag: u32, values: &[T]) -> Result<PostedSend, Error> {
        self.assert_rank("receiver", to);
        let receipt = self.group.receipt(&*self.fabric);
        let label = Label { context: self.group.context(Traffic::Messages), tag, receipt };
        self.fabric.send(self.group.world(to), label, Cow::Borrowed(bytemuck::cast_slice(values)))?;
        let wanted = Wanted { source: Some(to), tag: Some(receipt) };
        Ok(PostedSend { receipt: self.posted(Traffic::Receipts, wanted, "post_send") })
    }

    fn posted(&self, traffic: Traffic, wanted: Wanted, waiting_in: &'static str) -> PostedReceive {
        let mut posted = PostedReceive {
            fabric: self.fabric.clone(),
            group: self.group.clone(),
            pattern: self.pattern(traffic, wanted),
            waiting_in,
            turn: Ticket::default(),
            early: None,
        };
        posted.look(&mut Context::from_waker(Waker::noop()));
        posted
    }
}

impl PostedReceive {
    /// Returns whether the outcome is there: whether a message, or an error, has come. Otherwise, the receive wakes the
    /// task of `context` when it comes. Use this to wait for the first of several receives.
    ///
    /// # Example
    /// ```
    /// use std::future::poll_fn;
    /// use std::task::Poll;
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let first = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     let tag = |tag| Wanted { tag: Some(tag), ..Wanted::ANY };
    ///     let mut posted = [comm.post_receive(tag(1)), comm.post_receive(tag(2))];
    ///     comm.send(0, 2, &[7_u8]).await.unwrap(); // to itself
    ///     poll_fn(|context| {
    ///         let come = posted.iter_mut().position(|posted| posted.has_come(context));
    ///         come.map_or(Poll::Pending, Poll::Ready)
    ///     })
    ///     .await
    /// });
    /// assert_eq!(first.unwrap(), [1]);
    /// ```
    pub fn has_come(&mut self, context: &mut Context<'_>) -> bool {
        if self.early.is_none() {
            let outcome = self.take(context);
            self.keep(outcome);
        }
        self.early.is_some()
    }

    /// Like [`has_come`](Self::has_come), for a receive that waits while the rank does something else. It takes a message
    /// that has arrived, but does not make messages arrive: another call of the rank must be polled for that. So it costs
    /// little, and several receives may wait in the background of one call.
    ///
    /// # Example
    /// ```
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(2), |comm| async move {
    ///     let other = 1 - comm.rank();
    ///     let mut posted = comm.post_receive(Wanted { source: Some(other), tag: None });
    ///     // Each rank waits until the other has received, so both must receive meanwhile.
    ///     let own = [comm.rank() as u8];
    ///     let mut send = pin!(comm.send_synchronous(other, 7, &own));
    ///     poll_fn(|context| {
    ///         posted.look(context);
    ///         send.as_mut().poll(context)
    ///     })
    ///     .await?;
    ///     posted.await.map(|(bytes, _)| bytes)
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(vec![1]), Ok(vec![0])]);
    /// ```
    pub fn look(&mut self, context: &mut Context<'_>) -> bool {
        if self.early.is_none() {
            let Self { fabric, pattern, turn, waiting_in, .. } = self;
            let outcome = fabric.poll_in_background(pattern, turn, waiting_in, context);
            let outcome = self.taken(outcome);
            self.keep(outcome);
        }
        self.early.is_some()
    }

    /// Keeps an outcome for who awaits it.
    fn keep(&mut self, outcome: Poll<Result<Message, Error>>) {
        if let Poll::Ready(outcome) = outcome {
            self.early = Some(outcome);
        }
    }

    fn take(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, Error>> {
        let outcome = self.fabric.poll_receive(&self.pattern, &mut self.turn, self.waiting_in, context);
        self.taken(outcome)
    }

    fn taken(&self, outcome: Poll<Result<Message, Error>>) -> Poll<Result<Message, Error>> {
        outcome.map(|outcome| {
            let message = outcome?;
            acknowledge(&*self.fabric, &self.group, message.envelope())?;
            Ok(message)
        })
    }

    /// Records the rank because of which this rank cannot continue. A look in the background records nothing, because
    /// nobody may ever await the receive.
    fn blamed(&self, error: Error) -> Error {
        if let Error::RankLeft { rank, .. } = error {
            self.fabric.fail(self.group.blame(rank));
        }
        error
    }

    fn completed(&self, message: Message) -> (Vec<u8>, Status) {
        let (source, tag) = (self.group.local(message.source), message.label.tag);
        let status = Status { source, tag, bytes: message.bytes.len() };
        (message.bytes, status)
    }
}

impl Future for PostedReceive {
    type Output = Result<(Vec<u8>, Status), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match self.early.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => self.take(context),
        };
        outcome.map_ok(|message| self.completed(message)).map_err(|error| self.blamed(error))
    }
}

impl Drop for PostedReceive {
    fn drop(&mut self) {
        self.fabric.forget(&mut self.turn);
    }
}

/// A synchronous send that [`post_send`](Communicator::post_send) has started. Await it to know that the receiver has
/// the message.
///
/// Dropping it does not undo the send. Like a posted receive, it keeps its rank's end of the fabric open.
#[derive(Debug)]
#[must_use = "only an awaited send says that the message was received"]
pub struct PostedSend {
    receipt: PostedReceive,
}

impl PostedSend {
    /// Returns whether the outcome is there, like [`PostedReceive::has_come`].
    ///
    /// # Example
    /// See [`PostedReceive::has_come`].
    pub fn has_come(&mut self, context: &mut Context<'_>) -> bool {
        self.receipt.has_come(context)
    }

    /// Returns whether the outcome is there, like [`PostedReceive::look`].
    ///
    /// # Example
    /// See [`PostedReceive::look`].
    pub fn look(&mut self, context: &mut Context<'_>) -> bool {
        self.receipt.look(context)
    }
}

impl Future for PostedSend {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.receipt).poll(context).map_ok(drop)
    }
}

impl Drop for PostedSend {
    fn drop(&mut self) {
        // A receipt that has not come still has its ticket.
        if self.receipt.turn.number().is_some() {
            // A later synchronous send discards the receipt.
            self.receipt.group.owe(self.receipt.pattern);
        }
    }
}
