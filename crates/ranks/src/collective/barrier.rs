//! Barrier.
//!
//! Required: nothing. Checked: that all ranks call `barrier`. Algorithm: between threads, an empty exchange. Over
//! messages, dissemination: in step k each rank sends to the rank 2^k above it and receives from the rank 2^k below it.
//! Result: all ranks have arrived.

use crate::communicator::{Call, Communicator};
use crate::error::Error;

impl Communicator {
    /// Waits until all ranks have called `barrier`.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] or [`Error::Mismatch`]. Returns [`Error::Late`] after the communicator's patience.
    /// Over messages, also returns [`Error::Transport`] and [`Error::Abandoned`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let ends = run(&dispatcher, Layout::threads(3), |mut comm| async move { comm.barrier().await }).unwrap();
    /// assert_eq!(ends, [Ok(()), Ok(()), Ok(())]);
    /// ```
    pub async fn barrier(&mut self) -> Result<(), Error> {
        if self.exchange.is_none() {
            return self.barrier_over_messages().await;
        }
        self.settle(Call::Barrier).await?;
        self.meet(Call::Barrier, 0, |_, _| {}, |_, _, _| {}).await
    }

    async fn barrier_over_messages(&mut self) -> Result<(), Error> {
        self.stepwise(Call::Barrier, 0, async |steps| {
            let (rank, size) = (steps.rank(), steps.size());
            let mut distance = 1;
            while distance < size {
                steps.send((rank + distance) % size, &[])?;
                steps.receive_into((rank + size - distance) % size, &mut []).await?;
                distance *= 2;
            }
            Ok(())
        })
        .await
    }
}
