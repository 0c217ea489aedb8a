//! All-gather.
//!
//! Required: equal lengths for [`all_gather`](Communicator::all_gather); any lengths for
//! [`all_gather_v`](Communicator::all_gather_v). Checked: equal lengths, where required. Algorithm: between threads, an
//! exchange in which all ranks deposit their values and copy the values of all ranks. Over messages, every rank sends
//! to every other rank, beginning with the next rank, so that no rank gets all messages at once. Result: every rank has
//! the values of all ranks.

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};

impl Communicator {
    /// Collects every rank's `values` on all ranks: `gathered` has the values of rank 0, then the values of rank 1, and
    /// so on.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if `gathered` is not `size` times as long as `values`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let gathered = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut ranks = [0; 3];
    ///     comm.all_gather(&[comm.rank()], &mut ranks).await.map(|()| ranks)
    /// });
    /// assert_eq!(gathered.unwrap(), [Ok([0, 1, 2]), Ok([0, 1, 2]), Ok([0, 1, 2])]);
    /// ```
    pub async fn all_gather<T: Plain>(&mut self, values: &[T], gathered: &mut [T]) -> Result<(), Error> {
        self.all_gather_as(Call::AllGather, values, gathered).await
    }

    /// Collects every rank's `values`, of any lengths, on all ranks: one `Vec` per rank, in order of rank.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] or [`Error::Mismatch`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let gathered = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     comm.all_gather_v(&vec![7_u8; comm.rank()]).await
    /// });
    /// assert_eq!(gathered.unwrap(), [Ok(vec![vec![], vec![7]]), Ok(vec![vec![], vec![7]])]);
    /// ```
    pub async fn all_gather_v<T: Plain>(&mut self, values: &[T]) -> Result<Vec<Vec<T>>, Error> {
        let (rank, size) = (self.rank(), self.size());
        if self.exchange.is_none() {
            return self
                .stepwise(Call::AllGatherV, 0, async |steps| {
                    for distance in 1..size {
                        steps.send((rank + distance) % size, bytemuck::cast_slice(values))?;
                    }
                    let mut gathered = vec![Vec::new(); size];
                    gathered[rank] = values.to_vec();
                    for distance in 1..size {
                        let from = (rank + size - distance) % size;
                        gathered[from] = message::collect(&steps.receive(from).await?);
                    }
                    Ok(gathered)
                })
                .await;
        }
        self.settle(Call::AllGatherV).await?;
        self.meet(Call::AllGatherV, 0, |words, _| message::write(words, values), |_, _, _| {}).await?;
        Ok((0..size).map(|rank| self.deposited(rank).collect()).collect())
    }

    /// Runs an all-gather under the name of `call`, because other calls consist of an all-gather too.
    pub(crate) async fn all_gather_as<T: Plain>(
        &mut self,
        call: Call,
        values: &[T],
        gathered: &mut [T],
    ) -> Result<(), Error> {
        let (rank, size, length) = (self.rank(), self.size(), values.len());
        assert_eq!(gathered.len(), size * length, "memory for {size} ranks with {length} values each");
        if self.exchange.is_none() {
            return self
                .stepwise(call, size_of_val(values), async |steps| {
                    for distance in 1..size {
                        steps.send((rank + distance) % size, bytemuck::cast_slice(values))?;
                    }
                    gathered[rank * length..][..length].copy_from_slice(values);
                    for distance in 1..size {
                        let from = (rank + size - distance) % size;
                        let place = &mut gathered[from * length..][..length];
                        steps.receive_into(from, bytemuck::cast_slice_mut(place)).await?;
                    }
                    Ok(())
                })
                .await;
        }
        self.settle(call).await?;
        self.meet(call, size_of_val(values), |words, _| message::write(words, values), |_, _, _| {}).await?;
        for from in 0..size {
            self.deposited(from).read(&mut gathered[from * length..][..length]);
        }
        Ok(())
    }
}
