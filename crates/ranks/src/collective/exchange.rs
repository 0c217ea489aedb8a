//! Exchange with neighbours.
//!
//! Required: two neighbours name each other, on one line or grid. Checked by the receiver of a message: that the sender
//! has made the same call and, for [`exchange`](Communicator::exchange), that the message has the expected length.
//! Algorithm: each rank sends a message to each neighbour, then receives a message from each neighbour, so that all
//! exchanges overlap. Two shifts would be slower, because the second waits for the first. Between threads the messages
//! go over lanes (`neighbours.rs`). Result: each rank has its neighbours' values.

use crate::collective::neighbours::{Besides, Hearing, copy, fits, whole};
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::threads::exchange::Swap;
use crate::message::{self, Plain};
use crate::topology::{Boundary, Grid};

impl Communicator {
    /// Exchanges values with both neighbours on a line or a ring. `to_lower` goes to the rank below and `to_upper` to
    /// the rank above. The values that these ranks send to this rank overwrite `from_lower` and `from_upper`. At an
    /// open end there is no neighbour, and the buffer for it does not change.
    ///
    /// On a ring, an exchange has the effect of a [`shift`](Self::shift) by 1 and a shift by -1, but takes the time of
    /// one shift.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] if a neighbour has ended; [`Error::Truncated`] if a neighbour's values have another
    /// length; [`Error::Mismatch`] if ranks make different calls; [`Error::Transport`].
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
        let lower = (closed || rank > 0).then(|| (rank + size - 1) % size);
        let upper = (closed || rank + 1 < size).then(|| (rank + 1) % size);
        let (to_lower, to_upper) = (bytemuck::cast_slice(to_lower), bytemuck::cast_slice(to_upper));
        let from_lower = bytemuck::cast_slice_mut(from_lower);
        let from_upper = bytemuck::cast_slice_mut(from_upper);
        // A rank sends its message to the lower neighbour first, and that neighbour receives it first. If both
        // neighbours are the same rank, this order tells the messages apart.
        if self.exchange.is_none() {
            return self
                .stepwise(Call::Exchange, usize::from(closed), async |steps| {
                    if let (Some(other), true) = (lower.filter(|_| closed), size == 2) {
                        steps.send_all(other, &[&to_lower.len().to_ne_bytes(), to_lower, to_upper])?;
                        let mut sent = (0, 0);
                        let read = |bytes: &[u8]| sent = take_both(&[bytes], from_upper, from_lower);
                        steps.read(other, read).await?;
                        fits(other, sent.0, from_upper.len())?;
                        return fits(other, sent.1, from_lower.len());
                    }
                    lower.map_or(Ok(()), |lower| steps.send(lower, to_lower))?;
                    upper.map_or(Ok(()), |upper| steps.send(upper, to_upper))?;
                    if let Some(upper) = upper {
                        steps.receive_exactly(upper, from_upper).await?;
                    }
                    if let Some(lower) = lower {
                        steps.receive_exactly(lower, from_lower).await?;
                    }
                    Ok(())
                })
                .await;
        }
        self.check(Call::Exchange, usize::from(closed)).await?;
        let lends = self.lends(to_lower.len() + to_upper.len());
        let mut talk = self.talk(Call::Exchange, usize::from(closed));
        if let (Some(lower), Some(upper)) = (lower, upper)
            && lower == upper
            && size == 2
        {
            // Both messages are sent as one, so that they cross together: the length of the first part, then both
            // parts.
            let (room, length) = ((from_upper.len(), from_lower.len()), to_lower.len().to_ne_bytes());
            let (parts, mut sent) = ([&length[..], to_lower, to_upper], (0, 0));
            let mut read = |parts: &[&[u8]]| sent = take_both(parts, from_upper, from_lower);
            if lends {
                let hearing = Hearing { from: lower, besides: Besides::Nobody, read: &mut read };
                talk.swap(Swap::new(&[(lower, &parts)], &mut [hearing])).await?;
            } else {
                talk.tell(lower, &parts);
                talk.hear(lower, Besides::Nobody, read).await?;
            }
            fits(lower, sent.0, room.0)?;
            fits(lower, sent.1, room.1)?;
            return talk.finish();
        }
        if lends && let (Some(lower), Some(upper)) = (lower, upper) {
            let room = (from_upper.len(), from_lower.len());
            let (mut downwards, mut upwards) = (0, 0);
            let mut read_upper = |parts: &[&[u8]]| downwards = copy(parts, from_upper);
            let mut read_lower = |parts: &[&[u8]]| upwards = copy(parts, from_lower);
            let upper_first = Hearing { from: upper, besides: Besides::Rank(lower), read: &mut read_upper };
            let then_lower = Hearing { from: lower, besides: Besides::Nobody, read: &mut read_lower };
            let told: [(usize, &[&[u8]]); 2] = [(lower, &[to_lower]), (upper, &[to_upper])];
            talk.swap(Swap::new(&told, &mut [upper_first, then_lower])).await?;
            fits(upper, downwards, room.0)?;
            fits(lower, upwards, room.1)?;
            return talk.finish();
        }
        if let Some(lower) = lower {
            talk.tell(lower, &[to_lower]);
        }
        if let Some(upper) = upper {
            talk.tell(upper, &[to_upper]);
        }
        if let Some(upper) = upper {
            let besides = lower.map_or(Besides::Nobody, Besides::Rank);
            talk.hear_exactly(upper, besides, from_upper).await?;
        }
        if let Some(lower) = lower {
            talk.hear_exactly(lower, Besides::Nobody, from_lower).await?;
        }
        talk.finish()
    }

    /// Exchanges values, of any lengths, with all neighbours on a grid. `outgoing[d]` goes in direction d, and
    /// `result[d]` comes from direction d; it is `None` beyond an open boundary.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] if a neighbour has ended; [`Error::Mismatch`] if ranks make different calls;
    /// [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if the grid and the communicator have different numbers of ranks, or if `outgoing` does not have one
    /// entry for each direction.
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
        let number = grid.digest();
        let to = |direction| grid.towards(rank, direction);
        let mut received = vec![None; outgoing.len()];
        // Receives in the order of directions in which the neighbours have sent, because messages from one rank arrive
        // in the order in which they were sent.
        if self.exchange.is_none() {
            return self
                .stepwise(Call::ExchangeOn, number, async |steps| {
                    for direction in grid.directions() {
                        if let Some(neighbour) = to(direction) {
                            steps.send(neighbour, bytemuck::cast_slice(&outgoing[direction]))?;
                        }
                    }
                    for sent in grid.directions() {
                        if let Some(neighbour) = to(sent ^ 1) {
                            received[sent ^ 1] = Some(message::collect(&steps.receive(neighbour).await?));
                        }
                    }
                    Ok(received)
                })
                .await;
        }
        self.check(Call::ExchangeOn, number).await?;
        let mut talk = self.talk(Call::ExchangeOn, number);
        for direction in grid.directions() {
            if let Some(neighbour) = to(direction) {
                talk.tell(neighbour, &[bytemuck::cast_slice(&outgoing[direction])]);
            }
        }
        for sent in grid.directions() {
            if let Some(neighbour) = to(sent ^ 1) {
                let mut values = None;
                let read = |parts: &[&[u8]]| values = Some(message::collect(&whole(parts)));
                talk.hear(neighbour, Besides::Several, read).await?;
                received[sent ^ 1] = values;
            }
        }
        talk.finish()?;
        Ok(received)
    }
}

/// Takes the combined message on a ring of two ranks: the length of the part sent downwards, that part, and the part
/// sent upwards. Returns the lengths of both parts, and copies the parts only if both fit.
fn take_both(parts: &[&[u8]], from_upper: &mut [u8], from_lower: &mut [u8]) -> (usize, usize) {
    let (downwards, upwards) = match *parts {
        [_, downwards, upwards] => (downwards, upwards),
        [bytes] => {
            let (first, both) = bytes.split_first_chunk().expect("a length was sent");
            both.split_at(usize::from_ne_bytes(*first))
        }
        _ => unreachable!("they are sent as three parts, and come so or as one"),
    };
    let lengths = (downwards.len(), upwards.len());
    if lengths == (from_upper.len(), from_lower.len()) {
        from_upper.copy_from_slice(downwards);
        from_lower.copy_from_slice(upwards);
    }
    lengths
}
