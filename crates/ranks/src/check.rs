//! Checks that all ranks make the same call: which calls are compared, when, and which ranks the error names.
//!
//! Each collective has a head: the kind of call, and one number that must be the same on all ranks (a root, a length).
//! Heads are always compared, and this needs no extra messages. Between threads, the last rank to arrive compares the
//! heads, and so does a rank that takes a message. A rank that is about to sleep compares the logs of all calls. Over
//! messages, two ranks compare whenever one receives a message from the other. Between threads, the check finds every
//! disagreement where all ranks meet. But a root that only sends, or a rank that only sends to the root, may have moved
//! on by then. Over messages, a disagreement is found only when two ranks that disagree exchange a message. That may
//! happen later, or never if both only send.
//!
//! A [checked](Communicator::set_checked) communicator compares first: every rank sends every other its head before the
//! collective begins (size² small messages). Shifts and exchanges, which otherwise need no agreement, are compared too.
//! So the error names the ranks that disagree, all ranks get the error, and no message is left unreceived.
//!
//! The most frequent head counts as the intended one. The error names one rank that has this head and the first rank
//! that has a different one.

use std::borrow::Cow;

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::group::Traffic;
use crate::point_to_point::Wanted;

/// The call and the number that must be the same on all ranks.
pub(crate) type Head = [u64; 2];

/// A call that one rank made.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    /// The rank's number in the world.
    pub rank: usize,
    pub head: Head,
}

/// Encodes a root and a length in one number; `root` must be below `size`.
pub(crate) fn rooted(root: usize, length: usize, size: usize) -> usize {
    length.wrapping_mul(size).wrapping_add(root)
}

/// Returns a rank that has the most frequent head, and the first rank that has a different one; `None` if all ranks
/// agree.
pub(crate) fn dissent<'a>(size: usize, head: impl Fn(usize) -> &'a [u64]) -> Option<(usize, usize)> {
    if (1..size).all(|rank| head(rank) == head(0)) {
        return None;
    }
    let votes = |rank: usize| (0..size).filter(|&other| head(other) == head(rank)).count();
    // `max_by_key` takes the last maximum, so in reverse order the lowest rank wins a tie.
    let usual = (0..size).rev().max_by_key(|&rank| votes(rank))?;
    let other = (0..size).find(|&rank| head(rank) != head(usual))?;
    Some((usual, other))
}

impl Made {
    fn describe(self, size: usize) -> String {
        let Self { rank, head: [call, number] } = self;
        let (call, size) = (Call::of(call), size as u64);
        let detail = match call {
            Call::Barrier | Call::Split | Call::AllGatherV | Call::AllToAllV | Call::Unknown => String::new(),
            Call::Gather | Call::ScatterV => format!(" with root {number}"),
            Call::Broadcast | Call::Scatter | Call::Reduce => {
                format!(" with root {} and {} bytes", number % size, number / size)
            }
            Call::Shift => format!(" by {number} places"),
            Call::Exchange => format!(" on a line that is {}", if number == 0 { "open" } else { "a ring" }),
            Call::ExchangeOn => " on some grid".to_owned(),
            _ => format!(" with {number} bytes"),
        };
        format!("rank {rank} calls {}{detail}", call.name())
    }
}

/// Returns the error that two of `size` ranks made different calls; the rank that finds it is in `collective`.
pub(crate) fn mismatch(collective: Call, size: usize, one: Made, other: Made) -> Error {
    let (first, second) = if one.rank < other.rank { (one, other) } else { (other, one) };
    let detail = format!("{}, {}", first.describe(size), second.describe(size));
    Error::Mismatch { collective: collective.name(), detail }
}

impl Communicator {
    /// Sets whether all ranks compare their collective before it begins. A disagreement is then an error on all ranks
    /// that names the ranks and their calls. Costs size² small messages per collective over messages. Between threads
    /// it costs nothing, except that shifts and exchanges are compared too.
    ///
    /// Off by default. Set it to the same value on all ranks. Duplicates and parts made later inherit the setting.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Error, Layout, fabric::Kind, run_on};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let ends = run_on(&dispatcher, Kind::Bytes, Layout::threads(3), |mut comm| async move {
    ///     comm.set_checked(true);
    ///     let root = if comm.rank() == 1 { 2 } else { 0 };
    ///     comm.broadcast(root, &mut [0_u8; 4]).await
    /// });
    /// let detail = "rank 0 calls broadcast with root 0 and 4 bytes, rank 1 calls broadcast with root 2 and 4 bytes";
    /// for end in ends.unwrap() {
    ///     assert_eq!(end, Err(Error::Mismatch { collective: "broadcast", detail: detail.to_owned() }));
    /// }
    /// ```
    pub fn set_checked(&mut self, is_checked: bool) {
        self.settings.is_checked = is_checked;
    }

    /// Compares a call that has no other synchronisation, if this communicator is checked. Before that, receives the
    /// messages that an abandoned call has left.
    pub(crate) async fn check(&mut self, call: Call, number: usize) -> Result<(), Error> {
        if self.exchange.as_ref().is_some_and(|exchange| exchange.owed().is_some()) {
            self.hear_what_is_owed(call).await?;
        }
        if !self.settings.is_checked {
            return Ok(());
        }
        if self.exchange.is_none() {
            return self.compare([call as u64, number as u64]).await;
        }
        self.settle(call).await?;
        self.meet(call, number, |_, _| {}, |_, _, _| {}).await
    }

    /// Sends this rank's head to all other ranks and compares theirs with it.
    pub(crate) async fn compare(&mut self, own: Head) -> Result<(), Error> {
        let (rank, size, call) = (self.rank(), self.size(), Call::of(own[0]));
        for distance in 1..size {
            let bytes = Cow::Borrowed(bytemuck::bytes_of(&own));
            self.post(Traffic::Checks, (rank + distance) % size, 0, bytes)?;
        }
        let mut heads = vec![own; size];
        for distance in 1..size {
            let from = (rank + distance) % size;
            let message = self.take(Traffic::Checks, Wanted { source: Some(from), tag: None }, call.name()).await?;
            bytemuck::bytes_of_mut(&mut heads[from]).copy_from_slice(&message.bytes);
        }
        match dissent(size, |rank| &heads[rank]) {
            None => Ok(()),
            Some((usual, other)) => {
                let made = |rank: usize| Made { rank: self.group.world(rank), head: heads[rank] };
                self.blame(self.group.world(other));
                Err(mismatch(call, size, made(usual), made(other)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_differs_from_most_is_named() {
        let named = |heads: &[Head]| dissent(heads.len(), |rank| &heads[rank]);
        let (a, b, c) = ([1, 0], [1, 5], [2, 0]);
        assert_eq!(named(&[a]), None);
        assert_eq!(named(&[a, a, a]), None);
        assert_eq!(named(&[b, a, a]), Some((1, 0)));
        assert_eq!(named(&[a, a, c]), Some((0, 2)));
        assert_eq!(named(&[a, b]), Some((0, 1)));
        assert_eq!(named(&[a, b, b, c, a]), Some((0, 1)));
    }
}
