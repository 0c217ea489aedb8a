//! Reduce.
//!
//! Required: the root, and values of one length. Checked: both, by comparing them. Algorithm: as all-reduce, but only the root reads the result; over
//! messages rank 0, where the tree has its root, passes it on. Result: the root has the combination of everybody's values.

use crate::check::rooted;
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::threads::exchange::Deposits;
use crate::message::{self, Plain, Reader};
use crate::reduction::{Fold, Node, fold_ranks};

impl Communicator {
    /// Overwrites the root's `values` with the combination of all ranks' values: one fixed tree over rank numbers, left before right. On the
    /// other ranks they are left as they were.
    ///
    /// The same bits as [`all_reduce`](Self::all_reduce).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the lengths or the roots differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// If there is no rank `root`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut value = [comm.rank() + 1];
    ///     comm.reduce(1, &mut value, |left, right| left[0] += right[0]).await.map(|()| value[0])
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(1), Ok(6), Ok(3)]);
    /// ```
    pub async fn reduce<T: Plain + Default>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + Sync,
    ) -> Result<(), Error> {
        let (rank, length) = (self.rank(), values.len());
        self.assert_rank("root", root);
        let number = rooted(root, size_of_val(values), self.size());
        if self.exchange.is_none() {
            return self
                .stepwise(Call::Reduce, number, async |steps| {
                    let mut own = Fold::<T>::new(length);
                    let combined = if size_of::<T>() > 0 && steps.size().is_power_of_two() {
                        steps.combine(values, &combine).await?
                    } else {
                        own.push(Node::leaf(rank), &combine, |partial| partial.copy_from_slice(values));
                        steps.reduce(&mut own, &combine).await?;
                        None
                    };
                    if rank == 0 {
                        let whole = combined.as_deref().or_else(|| own.root(&combine)).expect("every rank is a leaf");
                        if root == 0 {
                            values.copy_from_slice(whole);
                        } else {
                            steps.send(root, bytemuck::cast_slice(whole))?;
                        }
                    } else if rank == root {
                        steps.receive_into(0, bytemuck::cast_slice_mut(values)).await?;
                    }
                    Ok(())
                })
                .await;
        }
        self.settle(Call::Reduce).await?;
        let fold = |deposits: &Deposits<'_>, folded: &mut Vec<u64>, _: &mut Fold| {
            let mut root = vec![T::zeroed(); length];
            fold_ranks(deposits.size(), &mut root, &mut Vec::new(), |rank| Reader::of(deposits, rank).view(), &combine);
            message::write(folded, &root);
        };
        self.meet(Call::Reduce, number, |words, _| message::write(words, values), fold).await?;
        if rank == root {
            self.folded().read(values);
        }
        Ok(())
    }
}
