//! Shift.
//!
//! Required: values of one length and the same displacement on all ranks. Checked by the receiver of a message: the
//! displacement, and that the message has the expected length. Algorithm: each rank sends a message to the rank ahead
//! and receives a message from the rank behind; between threads, over lanes (`neighbours.rs`). Result: each rank has
//! the values of the rank behind it.

use crate::collective::neighbours::{Besides, Hearing, copy, fits};
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::threads::exchange::Swap;
use crate::message::Plain;

impl Communicator {
    /// Passes `values` to the rank `displacement` positions ahead on a ring (behind, if negative). Overwrites
    /// `received` with the values of the rank equally far behind.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] if the rank behind has ended; [`Error::Truncated`] if that rank's values have
    /// another length; [`Error::Mismatch`] if ranks make different calls; [`Error::Transport`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let received = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut received = [0];
    ///     comm.shift(1, &[comm.rank()], &mut received).await.map(|()| received[0])
    /// });
    /// assert_eq!(received.unwrap(), [Ok(2), Ok(0), Ok(1)]);
    /// ```
    pub async fn shift<T: Plain>(
        &mut self,
        displacement: isize,
        values: &[T],
        received: &mut [T],
    ) -> Result<(), Error> {
        let (rank, size) = (self.rank() as isize, self.size() as isize);
        let at = |displacement: isize| (rank + displacement).rem_euclid(size) as usize;
        let distance = displacement.rem_euclid(size) as usize;
        let (to, from) = (at(displacement), at(-displacement));
        let (values, received) = (bytemuck::cast_slice(values), bytemuck::cast_slice_mut(received));
        if self.exchange.is_none() {
            return self
                .stepwise(Call::Shift, distance, async |steps| {
                    steps.send(to, values)?;
                    steps.receive_exactly(from, received).await
                })
                .await;
        }
        self.check(Call::Shift, distance).await?;
        let lends = self.lends(values.len());
        let mut talk = self.talk(Call::Shift, distance);
        if lends {
            let (mut sent, room) = (0, received.len());
            let mut read = |parts: &[&[u8]]| sent = copy(parts, received);
            let hearing = Hearing { from, besides: Besides::Nobody, read: &mut read };
            talk.swap(Swap::new(&[(to, &[values])], &mut [hearing])).await?;
            fits(from, sent, room)?;
            return talk.finish();
        }
        talk.tell(to, &[values]);
        talk.hear_exactly(from, Besides::Nobody, received).await?;
        talk.finish()
    }
}
