//! Broadcast.
//!
//! Required: the root, and slices of one length. Checked: the root and the length, by comparing them. Algorithm between
//! threads: an exchange in which only the root deposits its values, and the other ranks copy them. If every rank has a
//! core and there are few bytes, the root sends a message to each rank and continues. Over messages: a binomial tree.
//! Result: all ranks have the root's values.

use crate::check::rooted;
use crate::collective::neighbours::Besides;
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};

impl Communicator {
    /// Overwrites `values` on all ranks with the values of rank `root`.
    ///
    /// The root may return before the other ranks have arrived, so it can be a limited number of calls ahead. A root
    /// that is ahead learns only in a later call that another rank made a different call.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the ranks name different roots or have slices of different lengths;
    /// [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if there is no rank `root`.
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
        if self.goes_one_way(size_of_val(values)) {
            let mut talk = self.talk(Call::Broadcast, number);
            let others = (0..size).filter(|&other| other != root);
            if is_root {
                others.clone().for_each(|to| talk.tell(to, &[bytemuck::cast_slice(values)]));
                for to in others {
                    talk.make_room(to).await?;
                }
            } else {
                talk.owe(root);
                talk.hear_exactly(root, Besides::Nobody, bytemuck::cast_slice_mut(values)).await?;
            }
            return talk.finish();
        }
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
