//! All-reduce, over ranks and over leaves.
//!
//! Required: partials of one length. Checked: the lengths, by comparing them. Algorithm between threads: an exchange in
//! which each rank deposits the nodes that cover its leaves. In an all-reduce without leaves, each rank counts as one
//! leaf. The last rank to arrive folds all nodes in order, and every rank copies the root. If every rank has a core,
//! each rank folds for itself instead. Over messages, blocks of ranks that double in size at each step exchange the
//! same nodes, and every rank folds them. Result: all ranks have the same bits.

use std::borrow::Cow;
use std::ops::Range;

use crate::communicator::{Call, Communicator, HEAD};
use crate::error::Error;
use crate::fabric::threads::exchange::Deposits;
use crate::message::{self, Plain, Reader};
use crate::reduction::{Fold, Node, fold_ranks};
use crate::settings::Order;

/// The minimum number of bytes for which ranks share the work of an elementwise operation. For fewer bytes, the second
/// synchronisation costs more than sharing saves.
const SHARED_BYTES: usize = 1 << 15;

/// The maximum number of values that are folded at a time, so that partial results stay in the L1 cache.
const TILE: usize = 1024;

impl Communicator {
    /// Overwrites `values` on all ranks with the combination of all ranks' values. The values are combined in one fixed
    /// tree over rank numbers, left before right, so `combine` need not be commutative.
    ///
    /// The bits depend on the number of ranks. For sums over rows that must not depend on the number of ranks, see
    /// [`all_reduce_leaves`](Self::all_reduce_leaves).
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
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
                    if size_of::<T>() > 0 && steps.size().is_power_of_two() {
                        return steps.all_combine(values, &combine).await;
                    }
                    let mut own = Fold::<T>::new(length);
                    own.push(Node::leaf(steps.rank()), &combine, |partial| partial.copy_from_slice(values));
                    steps.all_fold(&mut own, None, &combine).await?;
                    values.copy_from_slice(own.root(&combine).expect("every rank is a leaf"));
                    Ok(())
                })
                .await;
        }
        self.settle(Call::AllReduce).await?;
        let alone = self.shared().folds_alone();
        let fold = |deposits: &Deposits<'_>, folded: &mut Vec<u64>, _: &mut Fold| {
            if !alone {
                let mut root = vec![T::zeroed(); length];
                let partial = |rank| Reader::of(deposits, rank).view();
                fold_ranks(deposits.size(), &mut root, &mut Vec::new(), partial, &combine);
                message::write(folded, &root);
            }
        };
        self.meet(Call::AllReduce, size_of_val(values), |words, _| message::write(words, values), fold).await?;
        if alone {
            fold_ranks(self.size(), values, &mut Vec::new(), |rank| self.deposited(rank).view(), &combine);
        } else {
            self.folded().read(values);
        }
        Ok(())
    }

    /// Like [`all_reduce`](Self::all_reduce), for elementwise operations. `combine` is called with parts of the slices,
    /// of equal length and from the same position. The result has the same bits as the result of `all_reduce`. For long
    /// slices, each rank combines only its share. Slices of less than 32 KiB are combined by `all_reduce` itself.
    ///
    /// For long slices and an operation such as a sum or a maximum, this method is faster than `all_reduce`.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut values = vec![comm.rank() as u64; 100_000];
    ///     let add = |left: &mut [u64], right: &[u64]| left.iter_mut().zip(right).for_each(|(l, r)| *l += r);
    ///     comm.all_reduce_elementwise(&mut values, add).await.map(|()| values[99_999])
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(3), Ok(3), Ok(3)]);
    /// ```
    pub async fn all_reduce_elementwise<T: Plain + Default>(
        &mut self,
        values: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + Sync,
    ) -> Result<(), Error> {
        if self.size() == 1 || size_of_val(values) < SHARED_BYTES {
            return self.all_reduce(values, combine).await;
        }
        let (rank, size, bytes, length) = (self.rank(), self.size(), size_of_val(values), values.len());
        let share = |rank: usize| rank * length / size..(rank + 1) * length / size;
        if self.exchange.is_none() {
            return self
                .stepwise(Call::AllReduceElementwise, bytes, async |steps| {
                    for to in (1..size).map(|distance| (rank + distance) % size) {
                        steps.send(to, bytemuck::cast_slice(&values[share(to)]))?;
                    }
                    let mut bodies = Vec::with_capacity(size);
                    for from in 0..size {
                        bodies.push(if from == rank { None } else { Some(steps.receive(from).await?) });
                    }
                    let shares: Vec<Option<Cow<'_, [T]>>> =
                        bodies.iter().map(|body| body.as_ref().map(|body| message::view(body))).collect();
                    fold_shares(&mut values[share(rank)], &shares, &combine);
                    drop(shares);
                    bodies.into_iter().flatten().for_each(|body| steps.give_back(body));
                    for to in (1..size).map(|distance| (rank + distance) % size) {
                        steps.send(to, bytemuck::cast_slice(&values[share(rank)]))?;
                    }
                    for from in (1..size).map(|distance| (rank + size - distance) % size) {
                        steps.receive_into(from, bytemuck::cast_slice_mut(&mut values[share(from)])).await?;
                    }
                    Ok(())
                })
                .await;
        }
        // Each rank deposits its values for the other ranks' shares, folds its own share, and deposits the folded
        // share.
        self.settle(Call::AllReduceElementwise).await?;
        let write = |words: &mut Vec<u64>, _: &_| {
            (0..size).filter(|&to| to != rank).for_each(|to| message::write(words, &values[share(to)]));
        };
        self.meet(Call::AllReduceElementwise, bytes, write, |_, _, _| {}).await?;
        let shares = (0..size).map(|from| {
            let mut reader = self.deposited(from);
            (0..rank).filter(|&to| to != from).for_each(|_| reader.skip::<T>());
            (from != rank).then(|| reader.view())
        });
        fold_shares(&mut values[share(rank)], &shares.collect::<Vec<_>>(), &combine);
        let write = |words: &mut Vec<u64>, _: &_| message::write(words, &values[share(rank)]);
        self.meet(Call::AllReduceElementwise, bytes, write, |_, _, _| {}).await?;
        for from in (0..size).filter(|&from| from != rank) {
            self.deposited(from).read(&mut values[share(from)]);
        }
        Ok(())
    }

    /// Maps this rank's `leaves` to partials, and overwrites `total` on all ranks with the root of the tree over all
    /// ranks' leaves. In the default [`Order::Fixed`](crate::Order::Fixed), the bits are the same for any number of
    /// ranks.
    ///
    /// # Arguments
    /// - `leaves`: this rank's leaves. The leaves of rank 0 begin at 0, and the leaves of each rank follow the leaves
    ///   of the rank before. A rank may have no leaves.
    /// - `map`: overwrites a leaf's partial, which is as long as `total`.
    /// - `combine`: combines the left and the right partial; the result replaces the left partial.
    ///
    /// Without any leaves, `total` does not change.
    ///
    /// Cost: the calls of `map` and `combine`, and O(log leaves) partials copied per rank. Between threads, a repeated
    /// call of the same length allocates nothing.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics on at least one rank if the ranks' leaves are not contiguous or do not begin at 0.
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
                steps.all_fold(&mut own, None, combine).await?;
                if let Some(root) = own.root(combine) {
                    total.copy_from_slice(root);
                }
                Ok(())
            })
            .await;
        self.own = own;
        outcome
    }
}

/// Folds one share of all ranks' values, in order of rank, and writes the result to `own`. In `shares`, `None` stands
/// for this rank, whose values are in `own`.
fn fold_shares<T: Plain>(own: &mut [T], shares: &[Option<Cow<'_, [T]>>], combine: &dyn Fn(&mut [T], &[T])) {
    let (mut mine, mut memory) = (Vec::new(), Vec::new());
    for (tile, result) in own.chunks_mut(TILE).enumerate() {
        let (start, end) = (tile * TILE, tile * TILE + result.len());
        mine.clear();
        mine.extend_from_slice(result);
        let partial = |rank: usize| Cow::Borrowed(shares[rank].as_ref().map_or(&mine[..], |share| &share[start..end]));
        fold_ranks(shares.len(), result, &mut memory, partial, combine);
    }
}
