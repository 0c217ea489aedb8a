//! Broadcast.
//!
//! Required: the root, and slices of one length. Checked: both, by comparing them. Algorithm: between threads an exchange in
//! which the root alone deposits its values, and the others copy them from there; over messages a binomial tree. Result: all have the root's values.

use crate::check::rooted;
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};

impl Communicator {
    /// Overwrites `values` on all ranks with those of rank `root`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the ranks name different roots or have slices of different lengths; [`Error::RankLeft`].
    ///
    /// # Panics
    /// If there is no rank `root`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut values = [comm.rank() as u32; 2];
    ///     comm.broadcast(1, &mut values).await.map(|()| values)
    /// });
    /// assert_eq!(heard.unwrap(), [Ok([1, 1]), Ok([1, 1]), Ok([1, 1])]);
    /// ```
    pub async fn broadcast<T: Plain>(&mut self, root: usize, values: &mut [T]) -> Result<(), Error> {
        let size = self.size();
        assert!(root < size, "root {root} of {size} ranks");
        let is_root = self.rank() == root;
        let number = rooted(root, size_of_val(values), size);
        if self.exchange.is_none() {
            let bytes = bytemuck::cast_slice_mut(values);
            return self.stepwise(Call::Broadcast, number, async |steps| steps.broadcast(root, bytes).await).await;
        }
        self.settle(Call::Broadcast).await?;
        let write = |words: &mut Vec<u64>, _: &_| {
            if is_root {
                message::write(words, values);
            }
        };
        self.meet(Call::Broadcast, number, write, |_, _, _| {}).await?;
        if !is_root {
            self.deposited(root).read(values);
        }
        Ok(())
    }
}
