//! Exchange with neighbours.
//!
//! Required: both of two neighbours name each other. Checked: for [`exchange`](Communicator::exchange), that a message fits. Algorithm: a send to each neighbour, then a receive from
//! each, so that all crossings go on at once: not two shifts, of which the second waits for the first. Result: each has its neighbours' values.

use std::borrow::Cow;

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::group::Traffic;
use crate::message::{self, Plain};
use crate::point_to_point::Wanted;
use crate::topology::{Boundary, Grid};

/// Tags of shifts are below this.
const DIRECTIONS: u32 = 1 << 31;

impl Communicator {
    /// Exchanges values with both neighbours on a line or a ring: `to_lower` goes to the rank below, `to_upper` to the rank above, and what they had for
    /// this rank overwrites `from_lower` and `from_upper`. Beyond an open end there is nobody, and what belongs there is left as it was.
    ///
    /// The same as a [`shift`](Self::shift) by 1 and one by -1 on a ring, in one crossing instead of two.
    ///
    /// # Errors
    /// [`Error::RankLeft`] if a neighbour has ended; [`Error::Truncated`] if its values have another length; [`Error::Transport`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Boundary, Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let received = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let (rank, mut below, mut above) = (comm.rank() as i32, [-1], [-1]);
    ///     comm.exchange(Boundary::Open, &[10 * rank], &[10 * rank + 1], &mut below, &mut above).await?;
    ///     Ok::<_, lehr_ranks::Error>((below[0], above[0]))
    /// });
    /// assert_eq!(received.unwrap(), [Ok((-1, 10)), Ok((1, 20)), Ok((11, -1))]);
    /// ```
    pub async fn exchange<T: Plain>(
        &mut self,
        boundary: Boundary,
        to_lower: &[T],
        to_upper: &[T],
        from_lower: &mut [T],
        from_upper: &mut [T],
    ) -> Result<(), Error> {
        let (rank, size) = (self.rank(), self.size());
        let closed = boundary == Boundary::Periodic;
        self.check(Call::Exchange, usize::from(closed)).await?;
        let lower = (closed || rank > 0).then(|| (rank + size - 1) % size);
        let upper = (closed || rank + 1 < size).then(|| (rank + 1) % size);
        // The tag says in which direction a message goes: on a ring of two both neighbours are one rank.
        let (down, up) = (DIRECTIONS, DIRECTIONS + 1);
        if let Some(lower) = lower {
            self.tell_neighbour(lower, down, to_lower)?;
        }
        if let Some(upper) = upper {
            self.tell_neighbour(upper, up, to_upper)?;
        }
        if let Some(lower) = lower {
            self.hear_neighbour(lower, up, from_lower, "exchange").await?;
        }
        if let Some(upper) = upper {
            self.hear_neighbour(upper, down, from_upper, "exchange").await?;
        }
        Ok(())
    }

    /// Exchanges values, of any lengths, with all neighbours on a grid: `outgoing[d]` goes in direction d, and what comes from direction d is `result[d]`;
    /// none beyond an open boundary.
    ///
    /// # Errors
    /// [`Error::RankLeft`] if a neighbour has ended; [`Error::Transport`].
    ///
    /// # Panics
    /// If the grid has another number of ranks, or `outgoing` not one entry for each direction.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Boundary, Grid, Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let torus = Grid::new(&[(2, Boundary::Periodic), (2, Boundary::Open)]);
    /// let received = run(&dispatcher, Layout::threads(4), |mut comm| {
    ///     let torus = &torus;
    ///     async move {
    ///         let own = vec![comm.rank()];
    ///         comm.exchange_on(torus, &[own.clone(), own.clone(), own.clone(), own]).await
    ///     }
    /// });
    /// // Ranks 0 1 above 2 3: rank 0 has 2 below and above, nobody to its left, 1 to its right.
    /// assert_eq!(received.unwrap()[0], Ok(vec![Some(vec![2]), Some(vec![2]), None, Some(vec![1])]));
    /// ```
    pub async fn exchange_on<T: Plain>(
        &mut self,
        grid: &Grid,
        outgoing: &[Vec<T>],
    ) -> Result<Vec<Option<Vec<T>>>, Error> {
        let rank = self.rank();
        assert_eq!(grid.size(), self.size(), "the grid has as many ranks as the communicator");
        assert_eq!(outgoing.len(), grid.directions().len(), "one message for each direction");
        self.check(Call::ExchangeOn, grid.digest()).await?;
        for direction in grid.directions() {
            if let Some(neighbour) = grid.towards(rank, direction) {
                let bytes = Cow::Borrowed(bytemuck::cast_slice(&outgoing[direction]));
                self.post(Traffic::Neighbours, neighbour, DIRECTIONS + direction as u32, bytes)?;
            }
        }
        let mut received = Vec::with_capacity(outgoing.len());
        for direction in grid.directions() {
            received.push(if let Some(neighbour) = grid.towards(rank, direction) {
                // What comes from there went in the opposite direction.
                let wanted = Wanted { source: Some(neighbour), tag: Some(DIRECTIONS + (direction as u32 ^ 1)) };
                let message = self.take(Traffic::Neighbours, wanted, "exchange_on").await?;
                Some(message::collect(&message.bytes))
            } else {
                None
            });
        }
        Ok(received)
    }
}
