//! The errors of this crate: a refused post, a receive that can never be answered, a refused request, a task without a
//! result.

use std::fmt;

/// The error of a post that was refused; it gives the item back.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, Reason};
/// let port = Port::new();
/// port.close();
/// let refused = port.post(7).unwrap_err();
/// assert_eq!((refused.item, refused.reason), (7, Reason::Closed));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PostError<T> {
    /// The item that could not be posted, unchanged.
    pub item: T,
    /// The reason for the refusal.
    pub reason: Reason,
}

/// The reason why a port refuses an item.
///
/// # Example
/// See [`PostError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The port is closed: [`Port::close`](crate::Port::close) was called.
    Closed,
    /// Every place of a bounded port is occupied, by an item or by a [`Permit`](crate::Permit).
    Full,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => formatter.write_str("the port is closed"),
            Self::Full => formatter.write_str("the port is full"),
        }
    }
}

impl<T> fmt::Debug for PostError<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for PostError<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "item not posted: {}", self.reason)
    }
}

impl<T> std::error::Error for PostError<T> {}

/// The error of a receive, take, join, gather or exchange that can never get its items. The failed wait has taken no
/// item.
///
/// The error is one word, so that the output of a receive is two words and fits into registers. The output travels
/// through every layer of futures, and nearly always contains no error.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, ReceiveErrorKind, block_on};
/// let port = Port::<u8>::named("orders");
/// port.close();
/// let error = block_on(port.receive()).unwrap_err();
/// assert!(error.is_closed());
/// assert_eq!(*error.kind(), ReceiveErrorKind::Closed { port: port.name() });
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ReceiveError {
    kind: Box<ReceiveErrorKind>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<std::task::Poll<Result<u64, ReceiveError>>>() == 16);

/// The reason why a receive, take, join, gather or exchange can never get its items; see [`ReceiveError::kind`].
///
/// # Example
/// ```
/// use lehr_runtime::{Port, ReceiveErrorKind, block_on};
/// let marks = Port::named("marks");
/// marks.post(7).unwrap();
/// let error = block_on(marks.receive_if(|_| panic!("no sevens"))).unwrap_err();
/// let ReceiveErrorKind::Predicate { port, message } = error.kind() else { panic!("{error}") };
/// assert_eq!((port.as_str(), message.as_str()), ("port \"marks\"", "no sevens"));
/// assert_eq!(marks.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReceiveErrorKind {
    /// The port is closed and does not hold the requested items; the items that it holds stay there.
    Closed {
        /// The port's name.
        port: String,
    },
    /// A join, or a gather from two ports, names the same port twice. To join two items of one port, ask for them
    /// together: `(&port, 2)`.
    SamePort {
        /// The port's name.
        port: String,
    },
    /// The predicate, or an exchange's comparison of sources, panicked when it was shown an item. The item
    /// stays in its position.
    Predicate {
        /// The port's name.
        port: String,
        /// The message of the panic.
        message: String,
    },
}

impl ReceiveError {
    /// Returns the kind of the error.
    ///
    /// # Example
    /// See [`ReceiveErrorKind`].
    pub fn kind(&self) -> &ReceiveErrorKind {
        &self.kind
    }

    /// Returns whether the port is closed, which is the normal end of many receiving loops.
    ///
    /// # Example
    /// See [`ReceiveError`].
    pub fn is_closed(&self) -> bool {
        matches!(*self.kind, ReceiveErrorKind::Closed { .. })
    }
}

impl From<ReceiveErrorKind> for ReceiveError {
    #[cold]
    fn from(kind: ReceiveErrorKind) -> Self {
        Self { kind: Box::new(kind) }
    }
}

impl fmt::Debug for ReceiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ReceiveError::{:?}", self.kind)
    }
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            ReceiveErrorKind::Closed { port } => {
                write!(formatter, "{port} is closed and does not hold what was asked of it")
            }
            ReceiveErrorKind::SamePort { port } => {
                write!(formatter, "{port} is named twice in one join; ask for two of it instead")
            }
            ReceiveErrorKind::Predicate { port, message } => {
                write!(formatter, "a predicate on {port} panicked: {message}")
            }
        }
    }
}

impl std::error::Error for ReceiveError {}

/// The reason why a request got no answer.
///
/// # Example
/// ```
/// use lehr_runtime::Refusal;
/// let refusal = Refusal::WouldDeadlock { running: "Update".into(), requested: "Get".into() };
/// assert_eq!(refusal.to_string(), "Get would wait for Update, which waits for its answer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The reply was dropped unanswered: its holder forgot it, panicked or was cancelled, or the request was discarded.
    NoReply,
    /// The service has too much to do; the same request may succeed later.
    Overloaded,
    /// The service that could answer is shutting down.
    Stopping,
    /// The deadline for the answer has passed.
    DeadlineExceeded,
    /// The request could only be answered after the operation that made it has ended.
    WouldDeadlock {
        /// The name of the operation that made the request, and that would have to end first.
        running: Box<str>,
        /// The name of the requested operation.
        requested: Box<str>,
    },
    /// The operation was carried out and failed.
    Failed(Box<str>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReply => formatter.write_str("the reply was dropped unanswered"),
            Self::Overloaded => formatter.write_str("too much is waiting to be done"),
            Self::Stopping => formatter.write_str("the service is stopping"),
            Self::DeadlineExceeded => formatter.write_str("the deadline has passed"),
            Self::WouldDeadlock { running, requested } => {
                write!(formatter, "{requested} would wait for {running}, which waits for its answer")
            }
            Self::Failed(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for Refusal {}

/// The reason why a task ended without a result.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, TaskError, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let failed = block_on(dispatcher.spawn(async { panic!("no paper") })).map(|()| 0);
/// assert_eq!(failed, Err(TaskError::Panicked { message: "no paper".into() }));
/// let waiting = dispatcher.spawn(std::future::pending::<u8>());
/// assert_eq!(block_on(waiting.cancel()), Err(TaskError::Cancelled));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// The task panicked.
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The task was cancelled: by its handle, by the end of its context, or because its dispatcher or its queue
    /// accepted no more tasks.
    Cancelled,
    /// The queue discarded the task before it began: by its policy, or because the queue was cleared.
    Discarded,
}

impl fmt::Display for TaskError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked { message } => write!(formatter, "the task panicked: {message}"),
            Self::Cancelled => formatter.write_str("the task was cancelled before it ended"),
            Self::Discarded => formatter.write_str("the task was thrown away by its queue before it began"),
        }
    }
}

impl std::error::Error for TaskError {}

/// Returns the text of a panic, or a text that says that it has none.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
