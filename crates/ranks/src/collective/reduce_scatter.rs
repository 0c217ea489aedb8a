//! Reduce-scatter.
//!
//! Required: values of one length on all ranks, divided into one equal part for each rank. Checked: the lengths, by
//! comparing them. Algorithm: an all-to-all of the parts, after which each rank folds its own part, so that the work is
//! divided too. Result: each rank has its part of the combination of all ranks' values.

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};
use crate::reduction::{Fold, Node};

impl Communicator {
    /// Combines all ranks' `values` and scatters the result: `part` gets this rank's part of the result. The values are
    /// combined in one fixed tree over rank numbers, left before right.
    ///
    /// `combine` must be elementwise, because it is called with parts of the slices. The result then has the same bits
    /// as the result of [`all_reduce`](Self::all_reduce).
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if `values` is not `size` times as long as `part`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     let mut part = [0];
    ///     comm.reduce_scatter(&[comm.rank(), 10], &mut part, |left, right| left[0] += right[0]).await.map(|()| part[0])
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(1), Ok(20)]);
    /// ```
    pub async fn reduce_scatter<T: Plain + Default>(
        &mut self,
        values: &[T],
        part: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + Sync,
    ) -> Result<(), Error> {
        let (rank, size, length) = (self.rank(), self.size(), part.len());
        assert_eq!(values.len(), size * length, "an equal part for each of {size} ranks");
        let mut whole = Fold::<T>::new(length);
        if self.exchange.is_none() {
            return self
                .stepwise(Call::ReduceScatter, size_of_val(values), async |steps| {
                    for distance in 1..size {
                        let to = (rank + distance) % size;
                        steps.send(to, bytemuck::cast_slice(&values[to * length..][..length]))?;
                    }
                    for from in 0..size {
                        let leaf = Node::leaf(from);
                        if from == rank {
                            let own = &values[rank * length..][..length];
                            whole.push(leaf, &combine, |partial| partial.copy_from_slice(own));
                        } else {
                            let body = steps.receive(from).await?;
                            whole.push(leaf, &combine, |partial| {
                                bytemuck::cast_slice_mut(partial).copy_from_slice(&body)
                            });
                        }
                    }
                    part.copy_from_slice(whole.root(&combine).unwrap_or_default());
                    Ok(())
                })
                .await;
        }
        self.settle(Call::ReduceScatter).await?;
        let write = |words: &mut Vec<u64>, _: &_| message::write(words, values);
        self.meet(Call::ReduceScatter, size_of_val(values), write, |_, _, _| {}).await?;
        for from in 0..size {
            let deposited = self.deposited(from);
            whole.push(Node::leaf(from), &combine, |partial| deposited.read_part(rank * length, partial));
        }
        part.copy_from_slice(whole.root(&combine).unwrap_or_default());
        Ok(())
    }
}
