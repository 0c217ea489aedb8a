//! Rank tasks: each rank runs the method's loop over its own leaves, and a round is an all-reduce.

use std::ops::Range;

use super::{Round, Rounds};
use crate::communicator::Communicator;
use crate::error::Error;
use crate::partition::Partition;

/// One rank's rounds.
pub(super) struct OnRanks {
    communicator: Communicator,
    partition: Partition,
}

impl OnRanks {
    pub(super) fn new(communicator: Communicator, partition: Partition) -> Self {
        Self { communicator, partition }
    }
}

impl Rounds for OnRanks {
    async fn round<R: Round + ?Sized>(&mut self, round: &R, total: &mut [f64]) -> Result<(), Error> {
        assert_eq!(total.len(), round.len(), "the total has the length of a partial");
        let leaves = self.leaves();
        let map = |leaf: usize, partial: &mut [f64]| round.map(leaf, partial);
        let combine = |left: &mut [f64], right: &[f64]| round.combine(left, right);
        self.communicator.all_reduce_leaves(leaves, total, map, combine).await
    }

    async fn agree(&mut self, flag: bool) -> Result<bool, Error> {
        let mut told = [u8::from(flag)];
        self.communicator.broadcast(0, &mut told).await?;
        Ok(told[0] != 0)
    }

    fn is_lead(&self) -> bool {
        self.communicator.rank() == 0
    }

    fn partition(&self) -> Partition {
        self.partition
    }

    fn leaves(&self) -> Range<usize> {
        self.partition.leaves_of(self.communicator.rank())
    }
}
