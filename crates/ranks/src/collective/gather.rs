//! Gather.
//!
//! Required: the root; lengths may differ. Checked: that all ranks name the same root. Algorithm: between threads, an
//! exchange in which all ranks deposit their values and the root copies them. Over messages, all ranks send their
//! values to the root. Result: the root has the values of all ranks.

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};

impl Communicator {
    /// Collects every rank's `values` at rank `root`. On the root, returns one `Vec` per rank, in order of rank; on the
    /// other ranks, returns `None`.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the ranks name different roots; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if there is no rank `root`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let gathered = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mine = vec![7_u64; comm.rank()];
    ///     comm.gather(0, &mine).await.unwrap()
    /// });
    /// assert_eq!(gathered.unwrap(), [Some(vec![vec![], vec![7], vec![7, 7]]), None, None]);
    /// ```
    pub async fn gather<T: Plain>(&mut self, root: usize, values: &[T]) -> Result<Option<Vec<Vec<T>>>, Error> {
        let size = self.size();
        assert!(root < size, "root {root} of {size} ranks");
        if self.exchange.is_none() {
            return self.gather_over_messages(root, values).await;
        }
        self.settle(Call::Gather).await?;
        self.meet(Call::Gather, root, |words, _| message::write(words, values), |_, _, _| {}).await?;
        if self.rank() != root {
            return Ok(None);
        }
        Ok(Some((0..size).map(|rank| self.deposited(rank).collect()).collect()))
    }

    async fn gather_over_messages<T: Plain>(
        &mut self,
        root: usize,
        values: &[T],
    ) -> Result<Option<Vec<Vec<T>>>, Error> {
        self.stepwise(Call::Gather, root, async |steps| {
            if steps.rank() != root {
                steps.send(root, bytemuck::cast_slice(values))?;
                return Ok(None);
            }
            let mut gathered = Vec::with_capacity(steps.size());
            for rank in 0..steps.size() {
                gathered.push(if rank == root {
                    values.to_vec()
                } else {
                    message::collect(&steps.receive(rank).await?[..])
                });
            }
            Ok(Some(gathered))
        })
        .await
    }
}
