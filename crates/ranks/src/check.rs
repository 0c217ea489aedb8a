//! Checks that all ranks make the same call: which calls are compared, when, and which ranks the error names.
//!
//! Each collective has a head: the kind of call, and one number that must be the same on all ranks. The number is a
//! root or a length, for example. Ranks always compare heads, and this needs no extra messages. Between threads, the
//! ranks that fold the messages of all ranks compare their heads, and so does a rank that receives a message. Where
//! ranks spin, a rank that is about to sleep also compares its log of calls with the logs of the other ranks. Over
//! messages, a rank that receives a message compares the sender's head with its own. Between threads, the check finds
//! every disagreement at the latest when all ranks meet. But a root that only sends, or a rank that only sends to the
//! root, may have continued by then. Over messages, a disagreement is found only when two ranks that disagree exchange
//! a message. These two ranks may exchange their next message in a later call, or never if both only send.
//!
//! On a [checked](Communicator::set_checked) communicator, ranks compare heads before a collective begins. Over
//! messages, every rank sends its head to every other rank (about size² small messages). Ranks then also compare shifts
//! and exchanges, in which otherwise only neighbours meet. So all ranks get the error, it names the ranks that
//! disagree, and no message is left unreceived.
//!
//! The most frequent head counts as the intended head. The error names one rank that has this head and the first rank
//! that has a different head.

use std::borrow::Cow;

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::group::Traffic;
use crate::point_to_point::Wanted;

/// The head of a collective: the kind of call, and the number that must be the same on all ranks.
pub(crate) type Head = [u64; 2];

/// A collective call that a rank made.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    /// The rank's number in the world.
    pub rank: usize,
    pub head: Head,
}

/// Encodes a root and a length in bytes in one number; `root` must be below the number of ranks, `size`.
pub(crate) fn rooted(root: usize, length: usize, size: usize) -> usize {
    length.wrapping_mul(size).wrapping_add(root)
}

/// Returns a rank that has the most frequent head, and the first rank that has a different head; `None` if all ranks
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

/// Returns the error for two of `size` ranks that made different calls. `collective` is the call of the rank that found
/// the difference.
pub(crate) fn mismatch(collective: Call, size: usize, one: Made, other: Made) -> Error {
    let (first, second) = if one.rank < other.rank { (one, other) } else { (other, one) };
    let detail = format!("{}, {}", first.describe(size), second.describe(size));
    Error::Mismatch { collective: collective.name(), detail }
}

impl Communicator {
    /// Sets whether all ranks compare their calls before a collective begins. If the ranks' calls disagree, all ranks
    /// get an error that names two of the ranks and their calls. Over messages, this costs about size² small messages
    /// per collective. Between threads, ranks meet once more before a shift or an exchange, and ranks no longer run
    /// ahead in a short broadcast or reduction.
    ///
    /// The check is off by default. Set the check to the same value on all ranks. Communicators that are later made
    /// from this communicator inherit the setting.
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

    /// Compares a shift or an exchange on all ranks, if this communicator is checked. Before that, receives the
    /// messages that this rank must still receive from an abandoned call.
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

    /// Sends this rank's head to all other ranks, receives their heads, and compares all heads.
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
