//! Notices between ranks that wait in a collective over messages. The notices find ranks that make different calls, so
//! that no rank waits for ever.
//!
//! Each message says which call it belongs to, and its receiver compares that call with its own. This comparison alone
//! does not find two ranks that wait for each other because both receive first in their different calls. The comparison
//! also does not find a rank that waits for another rank that has passed the call without sending. So a rank that has
//! waited for a moment without success sends the awaited rank a *notice*, which says in which call it waits. A waiting
//! rank receives notices too:
//!
//! | call that the notice names | what the receiver of the notice does |
//! | --- | --- |
//! | the same call, made in the same way | nothing: it has sent the message, or will send it |
//! | the same call, made differently | it reports that the two ranks disagree |
//! | a later call | it keeps the notice until it reaches that call |
//! | an earlier call that it remembers | nothing if both ranks made that call in the same way; otherwise, it reports that they disagree |
//! | an earlier call that it no longer remembers | it answers with a *marker*, sent as a message of that call. If the waiting rank receives the marker instead of the message, the message was never sent |
//!
//! A rank that finds a disagreement sends a notice to all ranks, and waiting ranks receive it. So among ranks that wait
//! for each other, one rank always finds the disagreement. To see why, take the earliest call in which a rank waits.
//! The awaited rank has passed that call, or is in that call. So the awaited rank made the call differently, or waits
//! itself for another rank. Ranks that make a call in the same way never wait for each other in a circle. So the chain
//! of waiting ranks leads to a rank that made the call differently. Notices do not detect a rank that waits for a
//! message of the program ([`Communicator::receive`]) that no rank sends. To limit such a wait, see
//! [`Communicator::set_patience`].
//!
//! During a short wait, no notice is sent. So notices cost nothing in a collective whose ranks arrive at about the same
//! time.

use lehr_sync::Mutex;

use crate::check::{Made, mismatch};
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::{Message, Pattern};
use crate::group::Traffic;

/// The bits of a tag that hold the number of earlier calls.
const COUNT_BITS: u32 = 24;

/// The number of calls that a rank remembers.
const REMEMBERED: usize = 16;

/// The number of calls after which a rank receives the notices that arrived while it was not waiting.
const BETWEEN: u32 = 256;

/// The tag of a notice that says that a rank waits.
const WAITING: u32 = 0;
/// The tag of a notice that says that two ranks disagree.
const DISAGREED: u32 = 1;

/// A rank's call: its tag (the call, and the number of earlier calls) and the number that must be the same on all
/// ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) tag: u32,
    pub(crate) number: u64,
}

impl Signature {
    /// Whether this is the signature of a marker, which takes the place of a missing message.
    pub(crate) fn is_marker(self) -> bool {
        self.tag >> COUNT_BITS == Call::Unknown as u32
    }

    /// Returns the number of calls by which this call is later than `other`.
    pub(crate) fn after(self, other: Self) -> i32 {
        let unused = u32::BITS - COUNT_BITS;
        (self.tag.wrapping_sub(other.tag) << unused).cast_signed() >> unused
    }

    fn head(self) -> [u64; 2] {
        [u64::from(self.tag >> COUNT_BITS), self.number]
    }
}

/// The collectives of a communicator over messages, as this rank made them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    begun: u32,
    /// The latest calls; a call's number gives its position.
    last: [Option<Signature>; REMEMBERED],
    /// Calls that this rank has not reached and in which other ranks wait, with these ranks' numbers in the world.
    early: Mutex<Vec<(usize, Signature)>>,
}

impl Calls {
    pub(crate) fn begin(&mut self, call: Call, number: u64) -> Signature {
        let tag = ((call as u32) << COUNT_BITS) | (self.begun % (1 << COUNT_BITS));
        let signature = Signature { tag, number };
        self.last[self.begun as usize % REMEMBERED] = Some(signature);
        self.begun = self.begun.wrapping_add(1);
        signature
    }

    /// Returns a rank that waits in this call, which it has made differently; discards notices of earlier calls.
    fn dissenter(&self, own: Signature) -> Option<(usize, Signature)> {
        let mut early = self.early.lock();
        early.retain(|(_, theirs)| theirs.after(own) >= 0);
        early.iter().copied().find(|(_, theirs)| theirs.after(own) == 0 && *theirs != own)
    }
}

impl Communicator {
    /// Returns an error if a rank is known to have made this call, which now begins, differently.
    pub(crate) fn foresee(&self, own: Signature) -> Result<(), Error> {
        self.calls.dissenter(own).map_or(Ok(()), |(world, theirs)| Err(self.disagree(own, world, theirs)))
    }

    /// Sends a notice to the rank that this rank waits for; the notice says in which call.
    pub(crate) fn tell_of_waiting(&self, own: Signature, from: usize) -> Result<(), Error> {
        let words = [u64::from(own.tag), own.number];
        self.post(Traffic::Notices, from, WAITING, bytemuck::cast_slice(&words).into())
    }

    /// Receives, from time to time, the notices that arrived while this rank was not waiting. Otherwise notices would
    /// accumulate at a rank that is always ahead.
    pub(crate) fn hear_notices(&self, own: Signature) -> Result<(), Error> {
        if !self.calls.begun.is_multiple_of(BETWEEN) {
            return Ok(());
        }
        let context = self.group.context(Traffic::Notices);
        let pattern = Pattern { source: None, context, tag: None, besides: None };
        while let Some(notice) = self.fabric.take_if_come(&pattern)? {
            self.heed(own, &notice)?;
        }
        Ok(())
    }

    /// Handles a notice that this rank receives in its call `own`.
    pub(crate) fn heed(&self, own: Signature, notice: &Message) -> Result<(), Error> {
        let words: Vec<u64> = crate::message::collect(&notice.bytes);
        match (notice.label.tag, &words[..]) {
            (WAITING, [tag, number]) => {
                self.heed_waiting(own, notice.source, Signature { tag: *tag as u32, number: *number })
            }
            (DISAGREED, [usual, usual_call, usual_number, other, other_call, other_number]) => {
                let made = |rank: u64, call: u64, number: u64| Made { rank: rank as usize, head: [call, number] };
                self.blame(*other as usize);
                let usual = made(*usual, *usual_call, *usual_number);
                let other = made(*other, *other_call, *other_number);
                Err(mismatch(Call::of(own.head()[0]), self.size(), usual, other))
            }
            _ => Err(Error::Transport { message: format!("rank {} sent no notice", notice.source) }),
        }
    }

    fn heed_waiting(&self, own: Signature, world: usize, theirs: Signature) -> Result<(), Error> {
        if theirs == own {
            return Ok(());
        }
        let later = theirs.after(own);
        if later == 0 {
            return Err(self.disagree(own, world, theirs));
        }
        if later > 0 {
            self.calls.early.lock().push((world, theirs));
            return Ok(());
        }
        let ago = later.unsigned_abs() as usize;
        let place = (self.calls.begun as usize).wrapping_sub(1).wrapping_sub(ago) % REMEMBERED;
        match self.calls.last[place].filter(|_| ago < REMEMBERED) {
            Some(made) if made == theirs => Ok(()),
            Some(made) => Err(self.disagree(made, world, theirs)),
            None => {
                let tag = ((Call::Unknown as u32) << COUNT_BITS) | (theirs.tag % (1 << COUNT_BITS));
                let number = 0_u64.to_le_bytes();
                self.post(Traffic::Collectives, self.group.local(world), tag, number[..].into())
            }
        }
    }

    /// Returns the error that this rank and another made the same call differently, and informs all ranks.
    pub(crate) fn disagree(&self, own: Signature, world: usize, theirs: Signature) -> Error {
        let (rank, me) = (self.rank(), self.group.world(self.rank()));
        let words: Vec<u64> = [&[me as u64][..], &own.head(), &[world as u64], &theirs.head()].concat();
        for to in (0..self.size()).filter(|&to| to != rank) {
            // A rank that cannot be reached learns of it when this rank ends.
            let _ = self.post(Traffic::Notices, to, DISAGREED, bytemuck::cast_slice(&words).into());
        }
        self.blame(me);
        let (mine, other) = (Made { rank: me, head: own.head() }, Made { rank: world, head: theirs.head() });
        mismatch(Call::of(own.head()[0]), self.size(), mine, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_apart_and_put_into_order_around_the_end_of_the_count() {
        let at = |count: u32| Signature {
            tag: ((Call::Barrier as u32) << COUNT_BITS) | (count % (1 << COUNT_BITS)),
            number: 0,
        };
        assert_eq!(at(7).after(at(5)), 2);
        assert_eq!(at(5).after(at(7)), -2);
        assert_eq!(at(1).after(at((1 << COUNT_BITS) - 1)), 2);
        let other = Signature { tag: ((Call::Gather as u32) << COUNT_BITS) | 7, number: 3 };
        assert_eq!((other.after(at(7)), other == at(7)), (0, false));
    }

    #[test]
    fn what_others_wait_in_is_kept_until_this_rank_comes_to_it() {
        let mut calls = Calls::default();
        let (barrier, gather) = (Call::Barrier as u32, Call::Gather as u32);
        let early = |call: u32, count: u32| Signature { tag: (call << COUNT_BITS) | count, number: 0 };
        calls.early.lock().extend([(3, early(barrier, 0)), (4, early(gather, 1))]);
        let first = calls.begin(Call::Barrier, 0);
        assert_eq!(calls.dissenter(first), None);
        let second = calls.begin(Call::Barrier, 0);
        assert_eq!(calls.dissenter(second), Some((4, early(gather, 1))));
    }
}
