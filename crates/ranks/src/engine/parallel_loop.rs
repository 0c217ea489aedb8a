//! A parallel loop on the dispatcher: paper 003 figure 3.

use lehr_runtime::{Handle, ParallelLoop};

use super::groups::Groups;
use super::{Pending, Round, Rounds};
use crate::partition::Partition;

/// Runs the rounds of a method's one loop, each as a parallel loop over groups of leaves.
pub(super) struct OnLoop {
    partition: Partition,
    groups: Groups,
    parallel: ParallelLoop,
}

impl OnLoop {
    pub(super) fn new(handle: &Handle, rows: usize) -> Self {
        let partition = Partition::new(rows, 1);
        let groups = Groups::new(partition.leaves(), handle.threads());
        Self { partition, groups, parallel: ParallelLoop::new(handle) }
    }
}

impl Rounds for OnLoop {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        Box::pin(async move {
            assert_eq!(total.len(), round.len(), "the total has the length of a partial");
            let groups = &self.groups;
            let resetting = Resetting(groups);
            self.parallel.run(0..groups.len(), 1, |group| groups.run(round, group));
            std::mem::forget(resetting);
            groups.root(total);
            Ok(())
        })
    }

    fn partition(&self) -> Partition {
        self.partition
    }
}

/// Resets the groups' tree when dropped, so that the next round can use the tree after a round that panicked.
pub(super) struct Resetting<'a>(pub(super) &'a Groups);

impl Drop for Resetting<'_> {
    fn drop(&mut self) {
        self.0.reset();
    }
}
