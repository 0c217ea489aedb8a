//! Shift.
//!
//! Required: values of one length on all ranks. Checked: that a message fits. Algorithm: a send to the rank ahead and a receive from the one behind.
//! Result: each has the values of the rank behind it.

use std::borrow::Cow;

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::group::Traffic;
use crate::message::Plain;
use crate::point_to_point::Wanted;

impl Communicator {
    /// Passes `values` to the rank `displacement` places ahead on a ring (behind, if negative) and overwrites `received` with those of the rank as
    /// far behind.
    ///
    /// # Errors
    /// [`Error::RankLeft`] if the rank behind has ended; [`Error::Truncated`] if its values have another length; [`Error::Transport`].
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
        let distance = displacement.rem_euclid(size);
        self.check(Call::Shift, distance as usize).await?;
        // The tag is the distance, so that a shift by another one is noticed as missing and not taken for this one.
        let tag = distance as u32;
        self.tell_neighbour(at(distance), tag, values)?;
        self.hear_neighbour(at(-distance), tag, received, "shift").await
    }

    pub(crate) fn tell_neighbour<T: Plain>(&self, to: usize, tag: u32, values: &[T]) -> Result<(), Error> {
        self.post(Traffic::Neighbours, to, tag, Cow::Borrowed(bytemuck::cast_slice(values)))
    }

    pub(crate) async fn hear_neighbour<T: Plain>(
        &self,
        from: usize,
        tag: u32,
        received: &mut [T],
        waiting_in: &'static str,
    ) -> Result<(), Error> {
        let wanted = Wanted { source: Some(from), tag: Some(tag) };
        let bytes = bytemuck::cast_slice_mut(received);
        self.take_into(Traffic::Neighbours, wanted, waiting_in, bytes, true).await?;
        Ok(())
    }
}
