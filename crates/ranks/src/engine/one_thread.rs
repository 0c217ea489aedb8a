//! Rounds that run only on the calling thread: for work that ends before other threads would have woken, and for
//! platforms without threads.

use std::task::{Context, Poll, Waker};

use super::{Loop, Pending, Round, Rounds, done};
use crate::error::Error;
use crate::partition::Partition;
use crate::reduction::{Fold, Node};

/// Rounds that the calling thread runs leaf by leaf. The results have the same bits as on any layout.
///
/// # Example
/// ```
/// use lehr_ranks::{OneThread, Round, Rounds};
/// struct Rows(lehr_ranks::Partition);
/// impl Round for Rows {
///     fn len(&self) -> usize { 1 }
///     fn map(&self, leaf: usize, partial: &mut [f64]) { partial[0] = self.0.leaf_rows(leaf).len() as f64; }
/// }
/// let mut rounds = OneThread::new(10_000);
/// let round = Rows(rounds.partition());
/// let mut total = [0.0];
/// drop(rounds.round(&round, &mut total));
/// assert_eq!(total, [10_000.0]);
/// ```
#[derive(Debug)]
pub struct OneThread {
    partition: Partition,
    fold: Fold,
}

impl OneThread {
    /// Creates rounds over `rows` rows.
    pub fn new(rows: usize) -> Self {
        Self { partition: Partition::new(rows, 1), fold: Fold::new(0) }
    }
}

impl Rounds for OneThread {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        assert_eq!(total.len(), round.len(), "the total has the length of a partial");
        let combine = |left: &mut [f64], right: &[f64]| round.combine(left, right);
        self.fold.clear(round.len());
        for leaf in self.leaves() {
            self.fold.push(Node::leaf(leaf), &combine, |partial| round.map(leaf, partial));
        }
        if let Some(root) = self.fold.root(&combine) {
            total.copy_from_slice(root);
        }
        done(())
    }

    fn partition(&self) -> Partition {
        self.partition
    }
}

/// Runs a loop over the rounds of [`OneThread`] to its end with one poll, because these rounds never wait.
pub(super) fn run(mut the_loop: Loop<'_>) -> Result<usize, Error> {
    match the_loop.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(_) => Ok(0),
        Poll::Pending => Err(Error::Cancelled { rank: 0 }),
    }
}
