//! Scatter.
//!
//! Required: the root; on all ranks the same number of values for [`scatter`](Communicator::scatter), any number for
//! [`scatter_v`](Communicator::scatter_v). Checked: the root and, where required, the lengths, by comparing them.
//! Algorithm: between threads, an exchange in which the root deposits the values of all ranks and each rank copies its
//! part. Over messages, the root sends each rank its part. Result: each rank has its part of the root's values.

use crate::check::rooted;
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};

impl Communicator {
    /// Distributes the root's `values` to the ranks in order of rank, `part.len()` values to each. On the other ranks,
    /// `values` is ignored.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the ranks name different roots or have parts of different lengths;
    /// [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if there is no rank `root`; at the root, if `values` is not `size` times as long as `part`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let parts = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let values = if comm.rank() == 0 { vec![1, 2, 3, 4, 5, 6] } else { vec![] };
    ///     let mut part = [0; 2];
    ///     comm.scatter(0, &values, &mut part).await.map(|()| part)
    /// });
    /// assert_eq!(parts.unwrap(), [Ok([1, 2]), Ok([3, 4]), Ok([5, 6])]);
    /// ```
    pub async fn scatter<T: Plain>(&mut self, root: usize, values: &[T], part: &mut [T]) -> Result<(), Error> {
        let (rank, size, length) = (self.rank(), self.size(), part.len());
        self.assert_rank("root", root);
        let is_root = rank == root;
        assert!(
            !is_root || values.len() == size * length,
            "{} values for {size} ranks with {length} each",
            values.len()
        );
        let number = rooted(root, size_of_val(part), size);
        if self.exchange.is_none() {
            return self
                .stepwise(Call::Scatter, number, async |steps| {
                    if !is_root {
                        return steps.receive_into(root, bytemuck::cast_slice_mut(part)).await;
                    }
                    for to in (0..size).filter(|&to| to != root) {
                        steps.send(to, bytemuck::cast_slice(&values[to * length..][..length]))?;
                    }
                    part.copy_from_slice(&values[rank * length..][..length]);
                    Ok(())
                })
                .await;
        }
        self.settle(Call::Scatter).await?;
        let write = |words: &mut Vec<u64>, _: &_| {
            if is_root {
                message::write(words, values);
            }
        };
        self.meet(Call::Scatter, number, write, |_, _, _| {}).await?;
        self.deposited(root).read_part(rank * length, part);
        Ok(())
    }

    /// Sends each rank its part of the root's `parts`, and returns this rank's part. The parts may have different
    /// lengths. On the other ranks, `parts` is ignored.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the ranks name different roots; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if there is no rank `root`; at the root, if there is not one part for each rank.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let parts = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     comm.scatter_v(0, &[vec![1.5], vec![2.5, 3.5]]).await
    /// });
    /// assert_eq!(parts.unwrap(), [Ok(vec![1.5]), Ok(vec![2.5, 3.5])]);
    /// ```
    pub async fn scatter_v<T: Plain>(&mut self, root: usize, parts: &[Vec<T>]) -> Result<Vec<T>, Error> {
        let (rank, size) = (self.rank(), self.size());
        self.assert_rank("root", root);
        let is_root = rank == root;
        assert!(!is_root || parts.len() == size, "{} parts for {size} ranks", parts.len());
        if self.exchange.is_none() {
            return self
                .stepwise(Call::ScatterV, root, async |steps| {
                    if !is_root {
                        return Ok(message::collect(&steps.receive(root).await?));
                    }
                    for to in (0..size).filter(|&to| to != root) {
                        steps.send(to, bytemuck::cast_slice(&parts[to]))?;
                    }
                    Ok(parts[rank].clone())
                })
                .await;
        }
        self.settle(Call::ScatterV).await?;
        let write = |words: &mut Vec<u64>, _: &_| {
            if is_root {
                parts.iter().for_each(|part| message::write(words, part));
            }
        };
        self.meet(Call::ScatterV, root, write, |_, _, _| {}).await?;
        let mut reader = self.deposited(root);
        (0..rank).for_each(|_| reader.skip::<T>());
        Ok(reader.collect())
    }
}
