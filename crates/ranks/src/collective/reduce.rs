//! Reduce.
//!
//! Required: the root, and values of one length. Checked: the root and the lengths, by comparing them. Algorithm
//! between threads: as in all-reduce, but only the root reads the result. With few bytes and a core for every rank,
//! each rank sends a message to the root, and all ranks except the root continue. Over messages, a binomial tree of
//! ranks combines the values at rank 0, which sends the result to the root. Result: the root has the combination of all
//! ranks' values.

use std::borrow::Cow;

use crate::check::rooted;
use crate::collective::neighbours::{Besides, whole};
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::threads::exchange::Deposits;
use crate::message::{self, Plain, Reader};
use crate::reduction::{Fold, Node, fold_ranks};

impl Communicator {
    /// Overwrites the root's `values` with the combination of all ranks' values. The values are combined in one fixed
    /// tree over rank numbers, left before right. On the other ranks, `values` does not change.
    ///
    /// The result has the same bits as the result of [`all_reduce`](Self::all_reduce). All ranks except the root may
    /// return before the root has arrived, so they can be a limited number of calls ahead.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths or the roots differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if there is no rank `root`.
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
                            steps.keep_pace(root, 0).await?;
                        }
                    } else if rank == root {
                        steps.receive_into(0, bytemuck::cast_slice_mut(values)).await?;
                        steps.let_go_on(0, 0)?;
                    }
                    Ok(())
                })
                .await;
        }
        self.settle(Call::Reduce).await?;
        if size_of::<T>() > 0 && self.goes_one_way(size_of_val(values)) {
            return self.reduce_one_way(root, number, values, &combine).await;
        }
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

    /// Sends each rank's values to the root over lanes. The root combines them, and the other ranks continue.
    async fn reduce_one_way<T: Plain + Default>(
        &mut self,
        root: usize,
        number: usize,
        values: &mut [T],
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<(), Error> {
        let (rank, size, length) = (self.rank(), self.size(), values.len());
        let mut talk = self.talk(Call::Reduce, number);
        if rank != root {
            talk.tell(root, &[bytemuck::cast_slice(values)]);
            talk.make_room(root).await?;
            return talk.finish();
        }
        let others = (0..size).filter(|&other| other != root);
        others.clone().for_each(|from| talk.owe(from));
        if size == 2 {
            let other = 1 - root;
            let read = |parts: &[&[u8]]| {
                let bytes = whole(parts);
                if other > root {
                    combine(values, &message::view(&bytes));
                } else {
                    let mut lower = message::collect(&bytes);
                    combine(&mut lower, values);
                    values.copy_from_slice(&lower);
                }
            };
            talk.hear(other, Besides::Nobody, read).await?;
            return talk.finish();
        }
        let mut all = values.repeat(size);
        for from in others {
            let partial = &mut all[from * length..(from + 1) * length];
            talk.hear_exactly(from, Besides::Several, bytemuck::cast_slice_mut(partial)).await?;
        }
        let partial = |rank: usize| Cow::Borrowed(&all[rank * length..(rank + 1) * length]);
        fold_ranks(size, values, &mut Vec::new(), partial, combine);
        talk.finish()
    }
}
