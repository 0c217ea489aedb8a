//! Scans: running combinations over the ranks. An inclusive scan includes this rank's values, an exclusive scan does
//! not.
//!
//! Required: values of one length. Checked: the lengths, by comparing them. Algorithm between threads: an exchange in
//! which each rank folds the values of the ranks before it. Over messages, the steps of an all-reduce, in which each
//! rank keeps the nodes of the ranks before it. All other reductions use the same tree, so the last rank's inclusive
//! scan has the same bits as an all-reduce. Result: each rank has the combination of the values of the ranks before it
//! and, in an inclusive scan, of its own values.

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};
use crate::reduction::{Fold, Node};

impl Communicator {
    /// Overwrites `values` with the combination of the values of all ranks from 0 to this rank. The order is one fixed
    /// tree over rank numbers, left before right.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut value = [comm.rank() + 1];
    ///     comm.scan(&mut value, |left, right| left[0] += right[0]).await.map(|()| value[0])
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(1), Ok(3), Ok(6)]);
    /// ```
    pub async fn scan<T: Plain + Default>(
        &mut self,
        values: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + Sync,
    ) -> Result<(), Error> {
        self.scan_as(Call::Scan, values, &combine).await
    }

    /// Overwrites `values` with the combination of the values of all ranks before this rank. On rank 0, `values` does
    /// not change. In all other respects, this method works as [`scan`](Self::scan) does.
    ///
    /// # Errors
    /// Returns the same errors as [`scan`](Self::scan).
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let starts = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut rows = [10 * (comm.rank() + 1)]; // 10, 20, 30
    ///     comm.exclusive_scan(&mut rows, |left, right| left[0] += right[0]).await?;
    ///     Ok::<_, lehr_ranks::Error>(if comm.rank() == 0 { 0 } else { rows[0] })
    /// });
    /// assert_eq!(starts.unwrap(), [Ok(0), Ok(10), Ok(30)]);
    /// ```
    pub async fn exclusive_scan<T: Plain + Default>(
        &mut self,
        values: &mut [T],
        combine: impl Fn(&mut [T], &[T]) + Send + Sync,
    ) -> Result<(), Error> {
        self.scan_as(Call::ExclusiveScan, values, &combine).await
    }

    async fn scan_as<T: Plain + Default>(
        &mut self,
        call: Call,
        values: &mut [T],
        combine: &(dyn Fn(&mut [T], &[T]) + Send + Sync),
    ) -> Result<(), Error> {
        let (rank, order) = (self.rank(), self.settings.order);
        let inclusive = call == Call::Scan;
        let mut before = Fold::<T>::new(values.len());
        if self.exchange.is_none() {
            return self
                .stepwise(call, size_of_val(values), async |steps| {
                    let mut own = Fold::<T>::new(values.len());
                    own.push(Node::leaf(rank), combine, |partial| partial.copy_from_slice(values));
                    steps.all_fold(&mut own, Some(&mut before), combine).await?;
                    if inclusive {
                        before.add(Node::leaf(rank), order, combine, |partial| partial.copy_from_slice(values));
                    }
                    if let Some(root) = before.root(combine) {
                        values.copy_from_slice(root);
                    }
                    Ok(())
                })
                .await;
        }
        self.settle(call).await?;
        self.meet(call, size_of_val(values), |words, _| message::write(words, values), |_, _, _| {}).await?;
        for from in 0..rank + usize::from(inclusive) {
            let mut deposited = self.deposited(from);
            before.push(Node::leaf(from), combine, |partial| deposited.read(partial));
        }
        if let Some(root) = before.root(combine) {
            values.copy_from_slice(root);
        }
        Ok(())
    }
}
