//! Counts of an interleave's activity, for monitoring.

use super::{Admission, CONCURRENT, EXCLUSIVE, Group};

/// The present and past activity of an interleave; it may be out of date when you read it.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let (work, begun) = (Port::new(), Port::new());
/// let out = begun.clone();
/// let handlers = Handlers::new().exclusive(&work, move |_: Exclusive<()>, item: u32| {
///     out.post(item).unwrap();
///     std::future::pending()
/// });
/// let interleave = Interleave::start(dispatcher.handle(), (), handlers);
/// (1..=3).for_each(|item| work.post(item).unwrap());
/// assert_eq!(block_on(begun.receive()), Ok(1));
/// let activity = interleave.activity();
/// assert_eq!((activity.exclusive, activity.pending_exclusive), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The number of running concurrent handlers.
    pub concurrent: usize,
    /// The number of running exclusive handlers. This number is above one only while a handler has lent its exclusivity
    /// to its own calls.
    pub exclusive: usize,
    /// The number of running independent handlers.
    pub independent: usize,
    /// The number of concurrent items that wait in their ports for admission.
    pub pending_concurrent: usize,
    /// The number of exclusive items that wait in their ports for admission.
    pub pending_exclusive: usize,
    /// The number of exclusive items that arrived after the longest-waiting concurrent item and started before it.
    pub passes: u64,
    /// The maximum value that `passes` has had. This value is above 0 only with
    /// [`Order::PhaseFair`](crate::interleave::Order) and [`Order::ExclusiveBias`](crate::interleave::Order). The value
    /// is unbounded only with `ExclusiveBias`, where it shows starvation.
    pub passes_max: u64,
    /// The number of handlers that have started since the interleave was created.
    pub started: u64,
    /// The number of handlers that panicked.
    pub panicked: u64,
    /// The number of handlers that were cancelled.
    pub cancelled: u64,
    /// The number of branches.
    pub branches: usize,
}

impl Admission {
    pub(in crate::interleave) fn count_failure(&mut self, is_panic: bool) {
        if is_panic {
            self.activity.panicked += 1;
        } else {
            self.activity.cancelled += 1;
        }
    }

    pub(in crate::interleave) fn activity(&self) -> Activity {
        Activity {
            concurrent: self.concurrent,
            exclusive: self.stack.len(),
            independent: self.independent,
            pending_concurrent: self.pending[CONCURRENT],
            pending_exclusive: self.pending[EXCLUSIVE],
            branches: self.lanes.len() - self.free_lanes.len(),
            ..self.activity
        }
    }

    pub(super) fn count_pending(&mut self, group: Group, change: isize) {
        if let Some(list) = group.list() {
            let count = self.pending[list].checked_add_signed(change);
            self.pending[list] = count.expect("what is taken off was counted");
        }
    }
}
