//! All-to-all.
//!
//! Required: equal lengths for [`all_to_all`](Communicator::all_to_all); any lengths for
//! [`all_to_all_v`](Communicator::all_to_all_v). Checked: equal lengths, where required. Algorithm: between threads, an
//! exchange in which each rank deposits all its parts and copies the parts for itself from all ranks. Over messages,
//! each rank sends to the next rank, then to the rank after that, and so on. Result: each rank has its part from every
//! rank.

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::message::{self, Plain};

impl Communicator {
    /// Sends each rank its part of `values`, and collects this rank's part from every rank, in order of rank. The call
    /// transposes a matrix of parts, of which each rank has one row.
    ///
    /// # Errors
    /// Returns [`Error::Mismatch`] if the lengths differ; [`Error::RankLeft`].
    ///
    /// # Panics
    /// Panics if the lengths of `values` and `received` differ or cannot be divided by the number of ranks.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let received = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     let values = if comm.rank() == 0 { [1, 2] } else { [3, 4] };
    ///     let mut received = [0; 2];
    ///     comm.all_to_all(&values, &mut received).await.map(|()| received)
    /// });
    /// assert_eq!(received.unwrap(), [Ok([1, 3]), Ok([2, 4])]);
    /// ```
    pub async fn all_to_all<T: Plain>(&mut self, values: &[T], received: &mut [T]) -> Result<(), Error> {
        let (rank, size, length) = (self.rank(), self.size(), values.len() / self.size());
        assert_eq!(values.len(), size * length, "an equal part for each of {size} ranks");
        assert_eq!(received.len(), values.len(), "as many values come as go");
        if self.exchange.is_none() {
            return self
                .stepwise(Call::AllToAll, size_of_val(values), async |steps| {
                    for distance in 1..size {
                        let to = (rank + distance) % size;
                        steps.send(to, bytemuck::cast_slice(&values[to * length..][..length]))?;
                    }
                    received[rank * length..][..length].copy_from_slice(&values[rank * length..][..length]);
                    for distance in 1..size {
                        let from = (rank + size - distance) % size;
                        let place = &mut received[from * length..][..length];
                        steps.receive_into(from, bytemuck::cast_slice_mut(place)).await?;
                    }
                    Ok(())
                })
                .await;
        }
        self.settle(Call::AllToAll).await?;
        self.meet(Call::AllToAll, size_of_val(values), |words, _| message::write(words, values), |_, _, _| {}).await?;
        for from in 0..size {
            self.deposited(from).read_part(rank * length, &mut received[from * length..][..length]);
        }
        Ok(())
    }

    /// Sends `parts[r]`, of any length, to each rank r, and returns this rank's part from every rank, in order of rank.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] or [`Error::Mismatch`].
    ///
    /// # Panics
    /// Panics if there is not one part for each rank.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let received = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     let parts = if comm.rank() == 0 { [vec![], vec![1]] } else { [vec![2, 3], vec![4]] };
    ///     comm.all_to_all_v(&parts).await
    /// });
    /// assert_eq!(received.unwrap(), [Ok(vec![vec![], vec![2, 3]]), Ok(vec![vec![1], vec![4]])]);
    /// ```
    pub async fn all_to_all_v<T: Plain>(&mut self, parts: &[Vec<T>]) -> Result<Vec<Vec<T>>, Error> {
        let (rank, size) = (self.rank(), self.size());
        assert_eq!(parts.len(), size, "one part for each rank");
        if self.exchange.is_none() {
            return self
                .stepwise(Call::AllToAllV, 0, async |steps| {
                    for distance in 1..size {
                        let to = (rank + distance) % size;
                        steps.send(to, bytemuck::cast_slice(&parts[to]))?;
                    }
                    let mut received = vec![Vec::new(); size];
                    received[rank] = parts[rank].clone();
                    for distance in 1..size {
                        let from = (rank + size - distance) % size;
                        received[from] = message::collect(&steps.receive(from).await?);
                    }
                    Ok(received)
                })
                .await;
        }
        self.settle(Call::AllToAllV).await?;
        let write = |words: &mut Vec<u64>, _: &_| parts.iter().for_each(|part| message::write(words, part));
        self.meet(Call::AllToAllV, 0, write, |_, _, _| {}).await?;
        let mine = |from| {
            let mut reader = self.deposited(from);
            (0..rank).for_each(|_| reader.skip::<T>());
            reader.collect()
        };
        Ok((0..size).map(mine).collect())
    }
}
