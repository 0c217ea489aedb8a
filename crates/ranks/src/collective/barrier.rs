//! Barrier.
//!
//! Required: nothing. Checked: that all ranks call it. Algorithm: an empty exchange. Result: all have arrived.

use crate::communicator::{Call, Communicator};
use crate::error::Error;

impl Communicator {
    /// Waits until all ranks have called it.
    ///
    /// # Errors
    /// [`Error::RankLeft`], [`Error::Mismatch`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let ends = run(&dispatcher, Layout::threads(3), |mut comm| async move { comm.barrier().await }).unwrap();
    /// assert_eq!(ends, [Ok(()), Ok(()), Ok(())]);
    /// ```
    pub async fn barrier(&mut self) -> Result<(), Error> {
        self.settle(Call::Barrier).await?;
        self.begin(Call::Barrier, 0, |_, _| {}, |_, _, _| {});
        self.complete(Call::Barrier).await
    }
}
