//! Builds a named queue from its settings.

use std::fmt;

use lehr_sync::Arc;

use super::core::Sink;
use super::refusal::{Discarded, QueueError};
use super::{Admission, Core, Priority, Queue};
use crate::dispatch::{Dispatcher, Handle};

/// The settings of a queue that has not been built yet; see [`Dispatcher::queue`].
///
/// # Example
/// See [`Dispatcher::queue`].
#[must_use = "a queue exists once it is built"]
pub struct QueueBuilder {
    handle: Handle,
    name: String,
    admission: Admission,
    priority: Priority,
    sink: Option<Sink>,
    is_suspended: bool,
}

impl fmt::Debug for QueueBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("QueueBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl QueueBuilder {
    /// Sets which tasks the queue admits. Default: [`Admission::Unbounded`].
    ///
    /// # Example
    /// See [`Rejected`](super::Rejected).
    pub fn admission(mut self, admission: Admission) -> Self {
        self.admission = admission;
        self
    }

    /// Sets the rank of the queue among the queues of the dispatcher. Default: a share of weight 1.
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the sink that gets each discarded task. The sink is called on the thread that caused the discard, while no
    /// lock is held. The sink must be quick, because that thread may be a poster's. If the sink panics, the poster
    /// panics.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Admission, DepthOverflow, DiscardReason, Dispatcher, Port};
    /// let (dispatcher, lost) = (Dispatcher::new(1).unwrap(), Port::new());
    /// let out = lost.clone();
    /// let queue = dispatcher
    ///     .queue("frames")
    ///     .admission(Admission::Depth { max: 1, overflow: DepthOverflow::DropOldest })
    ///     .on_discard(move |discarded| out.post(discarded.reason).unwrap())
    ///     .suspended()
    ///     .build()
    ///     .unwrap();
    /// let (first, second) = (queue.spawn(async {}).unwrap(), queue.spawn(async {}).unwrap());
    /// assert_eq!(lost.try_receive(), Some(DiscardReason::Oldest));
    /// # drop((first, second));
    /// ```
    pub fn on_discard(mut self, sink: impl Fn(Discarded) + Send + Sync + 'static) -> Self {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// Creates the queue suspended, as after [`Queue::suspend`].
    ///
    /// # Example
    /// See [`Queue::close`].
    pub fn suspended(mut self) -> Self {
        self.is_suspended = true;
        self
    }

    /// Creates the queue.
    ///
    /// # Errors
    /// Returns [`QueueError::NameTaken`], [`QueueError::Setting`], or, if the dispatcher has ended,
    /// [`QueueError::Closed`].
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn build(self) -> Result<Queue, QueueError> {
        if let Some(what) = self.admission.fault().or_else(|| self.priority.fault()) {
            return Err(QueueError::Setting { name: self.name, what });
        }
        let shared = self.handle.shared.clone();
        let registry = &shared.queues;
        let core = Arc::new(Core::new(
            self.name.into_boxed_str(),
            self.admission,
            self.priority,
            self.sink,
            self.is_suspended,
            registry,
        ));
        registry.register(&core)?;
        Ok(Queue { handle: Handle { shared, queue: Some(core.clone()) }, core })
    }
}

impl Dispatcher {
    /// Returns a builder for a queue called `name`, which must be unique among this dispatcher's queues.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Priority, block_on};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let queue = dispatcher.queue("requests").priority(Priority::Share { weight: 3 }).build().unwrap();
    /// assert_eq!(block_on(queue.spawn(async { 6 * 7 }).unwrap()), Ok(42));
    /// ```
    pub fn queue(&self, name: impl Into<String>) -> QueueBuilder {
        self.handle.queue(name)
    }
}

impl Handle {
    /// Returns a builder for a queue of this handle's dispatcher; see [`Dispatcher::queue`].
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn queue(&self, name: impl Into<String>) -> QueueBuilder {
        QueueBuilder {
            handle: Handle { shared: self.shared.clone(), queue: None },
            name: name.into(),
            admission: Admission::Unbounded,
            priority: Priority::default(),
            sink: None,
            is_suspended: false,
        }
    }
}
