//! The settings of a communicator: whether calls are checked, the order of reductions, the longest wait, and the trace.
//!
//! Duplicates and parts begin with the settings of the communicator that they are made from.

use std::time::Duration;

use lehr_runtime::Clock;
use lehr_sync::Arc;

use crate::communicator::Communicator;
use crate::trace::Track;

/// The order in which the partials of a reduction are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Partials are combined in one tree, left before right. A reduction over leaves has the same bits on any number of
    /// ranks and any fabric. `Fixed` is the default.
    #[default]
    Fixed,
    /// In the fastest order: each rank combines its own leaves and passes one partial on. By choosing this order, you
    /// declare that the operations are associative and commutative, or that the difference does not matter. The bits
    /// depend on the number of ranks.
    Any,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) is_checked: bool,
    pub(crate) order: Order,
    /// The longest time that a call waits for another rank, and the clock that measures it.
    pub(crate) patience: Option<(Clock, Duration)>,
    /// The trace in which this rank records its actions.
    pub(crate) track: Option<Arc<Track>>,
}

impl Communicator {
    /// Sets the order in which reductions are combined. Set the same order on all ranks.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Order, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     comm.set_order(Order::Any); // a sum of integers is the same in any order
    ///     let mut sum = [comm.rank()];
    ///     comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.map(|()| sum[0])
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(3), Ok(3), Ok(3)]);
    /// ```
    pub fn set_order(&mut self, order: Order) {
        self.settings.order = order;
    }

    /// Sets the longest time of one wait for another rank. Over messages, a collective may wait several times. Posted
    /// sends and receives ignore this limit. After that time, the call returns [`Error::Late`](crate::Error::Late),
    /// which names that rank. `None`, the default, sets no limit.
    ///
    /// Between threads, and on a [checked](Self::set_checked) communicator, the error names the rank that has not
    /// arrived. Over messages, without checks, it names the rank whose message is missing, which may itself be late
    /// because of a third rank.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_ranks::{Error, Layout, run};
    /// use lehr_runtime::Clock;
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let clock = Clock::virtual_time(); // a test moves it by hand
    /// let ends = run(&dispatcher, Layout::threads(1), |mut comm| {
    ///     let clock = &clock;
    ///     async move {
    ///         comm.set_patience(clock, Some(Duration::from_secs(9)));
    ///         let mut silence = std::pin::pin!(comm.receive::<u8>(0, 0)); // nothing was sent
    ///         assert!(std::future::poll_fn(|context| std::task::Poll::Ready(silence.as_mut().poll(context))).await.is_pending());
    ///         clock.advance(Duration::from_secs(9));
    ///         silence.await
    ///     }
    /// });
    /// let limit = Duration::from_secs(9);
    /// assert_eq!(ends.unwrap(), [Err(Error::Late { rank: Some(0), waiting_in: "receive", limit })]);
    /// ```
    pub fn set_patience(&mut self, clock: &Clock, limit: Option<Duration>) {
        self.settings.patience = limit.map(|limit| (clock.clone(), limit));
    }
}
