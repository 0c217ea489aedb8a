//! All-reduce, over ranks and over leaves.
//!
//! Required: partials of one length. Checked: the lengths, by comparing them. Algorithm: between threads an exchange
//! in which each rank deposits the nodes that cover its leaves (or itself, as one leaf), the last to arrive folds all of them in
//! order, and everybody copies the root; over messages the same covers climb a binomial tree to rank 0, whose root is broadcast. Result: all have the same bits.

use std::ops::Range;

use crate::communicator::{Call, Communicator, HEAD};
use crate::error::Error;
use crate::fabric::threads::exchange::Deposits;
use crate::message::{self, Plain, Reader};
use crate::reduction::{Fold, Node, fold_ranks};
use crate::settings::Order;

impl Communicator {
    /// Overwrites `values` on all ranks with the combination of all ranks' values: one fixed tree over rank numbers, left
    /// before right, so `combine` need not be commutative.
    ///
    /// The bits depend on the number of ranks. For sums over rows that must not, see
    /// [`all_reduce_leaves`](Self::all_reduce_leaves).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut values = [comm.rank() as i64, 1];
    ///     let add = |left: &mut [i64], right: &[i64]| left.iter_mut().zip(right).for_each(|(l, r)| *l += r);
    ///     comm.all_reduce(&mut values, add).await.map(|()| values)
    /// });
    /// assert_eq!(sums.unwrap(), [Ok([3, 3]), Ok([3, 3]), Ok([3, 3])]);
    /// ```
    pub async fn all_reduce<T: Plain + Default>(
        &mut self,
        values: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + Sync,
    ) -> Result<(), Error> {
        let length = values.len();
        if self.exchange.is_none() {
            return self
                .stepwise(Call::AllReduce, size_of_val(values), async |steps| {
                    let mut own = Fold::<T>::new(length);
                    own.push(Node::leaf(steps.rank()), &combine, |partial| partial.copy_from_slice(values));
                    steps.reduce(&mut own, &combine).await?;
                    if steps.rank() == 0
                        && let Some(root) = own.root(&combine)
                    {
                        values.copy_from_slice(root);
                    }
                    steps.broadcast(0, bytemuck::cast_slice_mut(values)).await
                })
                .await;
        }
        self.settle(Call::AllReduce).await?;
        let fold = |deposits: &Deposits<'_>, folded: &mut Vec<u64>, _: &mut Fold| {
            let read = |rank: usize, partial: &mut [T]| Reader::of(deposits, rank).read(partial);
            message::write(folded, &fold_ranks(deposits.size(), length, read, &combine)[..length]);
        };
        self.meet(Call::AllReduce, size_of_val(values), |words, _| message::write(words, values), fold).await?;
        self.folded().read(values);
        Ok(())
    }

    /// Maps this rank's `leaves` to partials and overwrites `total` on all ranks with the root of the tree over all ranks'
    /// leaves: the same bits for any number of ranks.
    ///
    /// # Arguments
    /// - `leaves`: this rank's, contiguous and ascending with the rank over all leaves from 0 on; may be empty.
    /// - `map`: overwrites a leaf's partial, which has the length of `total`.
    /// - `combine`: left partial, right partial; the result replaces the left one.
    ///
    /// With no leaves at all, `total` is left as it was.
    ///
    /// Cost: beside the calls of `map` and `combine`, O(log leaves) partials copied per rank; no allocation once a call with
    /// this length has been made.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// If the ranks' leaves are not contiguous or do not begin at 0: on at least one rank.
    pub async fn all_reduce_leaves(
        &mut self,
        leaves: Range<usize>,
        total: &mut [f64],
        mut map: impl FnMut(usize, &mut [f64]) + Send,
        combine: impl Fn(&mut [f64], &[f64]) + Send + Sync,
    ) -> Result<(), Error> {
        let (length, bytes) = (total.len(), size_of_val(total));
        if self.exchange.is_some() {
            self.settle(Call::AllReduceLeaves).await?;
        }
        self.own.clear(length);
        for leaf in leaves {
            self.own.push(Node::leaf(leaf), &combine, |partial| map(leaf, partial));
        }
        let order = self.settings.order;
        if order == Order::Any {
            self.own.collapse(&combine);
        }
        if self.exchange.is_none() {
            return self.all_reduce_leaves_over_messages(total, &combine).await;
        }
        let write = |words: &mut Vec<u64>, own: &Fold| {
            words.push(own.nodes().len() as u64);
            for (node, partial) in own.nodes() {
                words.extend([u64::from(node.level), node.index as u64]);
                message::write(words, partial);
            }
        };
        let fold = |deposits: &Deposits<'_>, folded: &mut Vec<u64>, whole: &mut Fold| {
            whole.clear(length);
            for rank in 0..deposits.size() {
                let [nodes, rest @ ..] = &deposits.of(rank)[HEAD..] else { unreachable!("a count was written") };
                let mut words = rest;
                for _ in 0..*nodes {
                    let [level, index, rest @ ..] = words else { unreachable!("so many nodes were written") };
                    let node = Node { level: *level as u32, index: *index as usize };
                    let partial = Reader::new(rest).numbers();
                    match order {
                        Order::Fixed => whole.push(node, &combine, |own| own.copy_from_slice(partial)),
                        Order::Any => whole.append(&combine, |own| own.copy_from_slice(partial)),
                    }
                    words = &rest[1 + partial.len()..];
                }
            }
            if let Some(root) = whole.root(&combine) {
                message::write(folded, root);
            }
        };
        self.meet(Call::AllReduceLeaves, bytes, write, fold).await?;
        if self.shared().folded().len() > 1 {
            self.folded().read(total);
        }
        Ok(())
    }

    async fn all_reduce_leaves_over_messages(
        &mut self,
        total: &mut [f64],
        combine: &(dyn Fn(&mut [f64], &[f64]) + Sync),
    ) -> Result<(), Error> {
        let mut own = std::mem::replace(&mut self.own, Fold::new(0));
        let outcome = self
            .stepwise(Call::AllReduceLeaves, size_of_val(total), async |steps| {
                steps.reduce(&mut own, combine).await?;
                // The root of the tree, and before it whether there is one.
                let mut told = vec![0.0; 1 + total.len()];
                if steps.rank() == 0
                    && let Some(root) = own.root(combine)
                {
                    told[0] = 1.0;
                    told[1..].copy_from_slice(root);
                }
                steps.broadcast(0, bytemuck::cast_slice_mut(&mut told)).await?;
                if told[0] != 0.0 {
                    total.copy_from_slice(&told[1..]);
                }
                Ok(())
            })
            .await;
        self.own = own;
        outcome
    }
}
