//! Sends and receives that are repeated with the same rank, tag and memory.

use crate::communicator::Communicator;
use crate::error::Error;
use crate::message::Plain;
use crate::point_to_point::Status;

/// A send that can be repeated; see [`Communicator::persistent_send`].
#[derive(Debug)]
pub struct PersistentSend<'a, T> {
    communicator: &'a Communicator,
    to: usize,
    tag: u32,
    /// The values that the next [`start`](Self::start) sends.
    pub values: Vec<T>,
}

/// A receive that can be repeated; see [`Communicator::persistent_receive`].
#[derive(Debug)]
pub struct PersistentReceive<'a, T> {
    communicator: &'a Communicator,
    from: usize,
    tag: u32,
    /// The values that the last [`start`](Self::start) received.
    pub values: Vec<T>,
}

impl Communicator {
    /// Creates a send of `values` to rank `to`, which you can start any number of times. You may change the values
    /// between starts.
    ///
    /// # Panics
    /// Panics if there is no rank `to`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(2), |comm| async move {
    ///     let other = 1 - comm.rank();
    ///     let mut send = comm.persistent_send(other, 0, vec![0_u64]);
    ///     let mut receive = comm.persistent_receive::<u64>(other, 0, 1);
    ///     let mut sum = 0;
    ///     for stage in 1..=3 {
    ///         send.values[0] = stage;
    ///         send.start().await?;
    ///         receive.start().await?;
    ///         sum += receive.values[0];
    ///     }
    ///     Ok::<_, lehr_ranks::Error>(sum)
    /// });
    /// assert_eq!(sums.unwrap(), [Ok(6), Ok(6)]);
    /// ```
    pub fn persistent_send<T: Plain>(&self, to: usize, tag: u32, values: Vec<T>) -> PersistentSend<'_, T> {
        self.assert_rank("receiver", to);
        PersistentSend { communicator: self, to, tag, values }
    }

    /// Creates a receive of at most `length` values from rank `from`, which you can start any number of times.
    ///
    /// # Panics
    /// Panics if there is no rank `from`.
    ///
    /// # Example
    /// See [`persistent_send`](Self::persistent_send).
    pub fn persistent_receive<T: Plain>(&self, from: usize, tag: u32, length: usize) -> PersistentReceive<'_, T> {
        self.assert_rank("source", from);
        PersistentReceive { communicator: self, from, tag, values: vec![T::zeroed(); length] }
    }
}

impl<T: Plain> PersistentSend<'_, T> {
    /// Sends the values once more, as [`Communicator::send`] does.
    ///
    /// # Errors
    /// Returns the same errors as [`Communicator::send`].
    pub async fn start(&self) -> Result<(), Error> {
        self.communicator.send(self.to, self.tag, &self.values).await
    }
}

impl<T: Plain> PersistentReceive<'_, T> {
    /// Receives once more, as [`Communicator::receive_into`] does, and is cancel-safe like it.
    ///
    /// # Errors
    /// Returns the same errors as [`Communicator::receive_into`].
    pub async fn start(&mut self) -> Result<Status, Error> {
        self.communicator.receive_into(self.from, self.tag, &mut self.values).await
    }
}
