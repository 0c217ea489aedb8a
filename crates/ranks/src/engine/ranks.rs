//! Rank tasks: each rank runs the method's loop over its own leaves, and a round is an all-reduce.

use std::ops::Range;

use super::{LeafCells, Round, Rounds};
use crate::communicator::Communicator;
use crate::error::Error;
use crate::partition::Partition;

/// One rank's rounds.
pub(super) struct OnRanks {
    communicator: Communicator,
    partition: Partition,
    /// Ranks in each process.
    here: usize,
}

impl OnRanks {
    pub(super) fn new(communicator: Communicator, partition: Partition, here: usize) -> Self {
        Self { communicator, partition, here }
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

    fn is_first_here(&self) -> bool {
        self.communicator.rank().is_multiple_of(self.here)
    }

    async fn share<T: Send>(
        &mut self,
        cells: &LeafCells<T>,
        write: impl Fn(&T, &mut Vec<u8>) + Send,
        read: impl Fn(&mut T, &[u8]) + Send,
    ) -> Result<(), Error> {
        if self.here == self.communicator.size() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for leaf in self.leaves() {
            // The length goes before the content, whose length is known behind it.
            let start = bytes.len();
            bytes.extend_from_slice(&[0; size_of::<u64>()]);
            cells.with(leaf, |cell| write(cell, &mut bytes));
            let length = (bytes.len() - start - size_of::<u64>()) as u64;
            bytes[start..start + size_of::<u64>()].copy_from_slice(&length.to_le_bytes());
        }
        let all = self.communicator.all_gather_v(&bytes).await?;
        if !self.is_first_here() {
            return Ok(());
        }
        for (rank, bytes) in all.iter().enumerate() {
            let mut rest = &bytes[..];
            for leaf in self.partition.leaves_of(rank) {
                let (length, after) = rest.split_first_chunk().expect("every leaf was written with its length");
                let (content, after) = after.split_at(u64::from_le_bytes(*length) as usize);
                if rank / self.here != self.communicator.rank() / self.here {
                    cells.with(leaf, |cell| read(cell, content));
                }
                rest = after;
            }
        }
        Ok(())
    }

    fn partition(&self) -> Partition {
        self.partition
    }

    fn leaves(&self) -> Range<usize> {
        self.partition.leaves_of(self.communicator.rank())
    }
}
