//! A collective over messages, as one rank runs it: it sends to ranks and receives from ranks, and each message says which collective
//! it belongs to.
//!
//! The label's tag holds the call and how many collectives of the communicator came before; the first eight bytes hold the number
//! that must be the same on all ranks (a root, a length). Messages of one rank come in the order of its collectives, so the first message of
//! the collective context that comes from a rank must belong to the present call: if it does not, the two ranks disagree.
//!
//! A collective that does not come to its end, because it failed or was given up, stops the communicator: what was sent cannot be
//! called back.

use std::borrow::Cow;

use crate::check::{Made, mismatch};
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::group::Traffic;
use crate::message::Plain;
use crate::point_to_point::Wanted;
use crate::reduction::{Fold, Node};
use crate::settings::Order;
use crate::trace::Activity;

/// Bits of the tag that count.
const COUNT_BITS: u32 = 24;

/// One rank's part in a collective under way.
pub(crate) struct Steps<'a> {
    communicator: &'a Communicator,
    call: Call,
    tag: u32,
    number: u64,
}

/// The body of a message, without its head.
pub(crate) struct Body(Vec<u8>);

impl std::ops::Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0[size_of::<u64>()..]
    }
}

impl Communicator {
    /// Runs a collective over messages.
    pub(crate) async fn stepwise<R>(
        &mut self,
        call: Call,
        number: usize,
        body: impl AsyncFnOnce(&Steps<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if let Some(error) = &self.stopped {
            return Err(error.clone());
        }
        let tag = ((call as u32) << COUNT_BITS) | (self.begun % (1 << COUNT_BITS));
        self.begun = self.begun.wrapping_add(1);
        // Stands if this future is dropped before its end.
        self.stopped = Some(Error::Abandoned { collective: call.name() });
        let _noting = self.noting(Activity::Communication, call.name());
        let compared = match self.settings.is_checked {
            true => self.compare([call as u64, number as u64]).await,
            false => Ok(()),
        };
        let steps = Steps { communicator: self, call, tag, number: number as u64 };
        let outcome = match compared {
            Ok(()) => body(&steps).await,
            Err(error) => Err(error),
        };
        self.stopped = outcome.as_ref().err().cloned();
        outcome
    }
}

impl Steps<'_> {
    pub(crate) fn rank(&self) -> usize {
        self.communicator.rank()
    }

    pub(crate) fn size(&self) -> usize {
        self.communicator.size()
    }

    /// Sends `bytes` to a rank.
    pub(crate) fn send(&self, to: usize, bytes: &[u8]) -> Result<(), Error> {
        self.send_parts(to, bytes.len(), |message| message.extend_from_slice(bytes))
    }

    /// Sends what `write` appends, of about this length, to a rank.
    pub(crate) fn send_parts(&self, to: usize, length: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        let mut message = Vec::with_capacity(size_of::<u64>() + length);
        message.extend_from_slice(&self.number.to_le_bytes());
        write(&mut message);
        self.communicator.post(Traffic::Collectives, to, self.tag, Cow::Owned(message))
    }

    /// Waits for the message of a rank.
    pub(crate) async fn receive(&self, from: usize) -> Result<Body, Error> {
        let wanted = Wanted { source: Some(from), tag: None };
        let message = self.communicator.take(Traffic::Collectives, wanted, self.call.name()).await?;
        let number = u64::from_le_bytes(message.bytes[..size_of::<u64>()].try_into().expect("eight bytes"));
        let Self { communicator, call, tag, number: own } = *self;
        if message.label.tag != tag || number != own {
            let theirs = u64::from(message.label.tag >> COUNT_BITS);
            let rank = communicator.group.world(communicator.rank());
            communicator.blame(rank);
            let mine = Made { rank, head: [call as u64, own] };
            return Err(mismatch(call, self.size(), mine, Made { rank: message.source, head: [theirs, number] }));
        }
        Ok(Body(message.bytes))
    }

    /// Waits for the message of a rank and copies its bytes.
    pub(crate) async fn receive_into(&self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let body = self.receive(from).await?;
        bytes.copy_from_slice(&body);
        Ok(())
    }

    /// Gives everybody the root's bytes: a binomial tree, log₂ size steps.
    pub(crate) async fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let size = self.size();
        let distance = (self.rank() + size - root) % size;
        let member = |distance: usize| (distance + root) % size;
        // Distance d hears from d without its lowest bit, and tells those that have one lower bit more.
        let lowest = if distance == 0 { size.next_power_of_two() } else { 1 << distance.trailing_zeros() };
        if distance > 0 {
            self.receive_into(member(distance - lowest), bytes).await?;
        }
        let mut bit = lowest / 2;
        while bit > 0 {
            if distance + bit < size {
                self.send(member(distance + bit), bytes)?;
            }
            bit /= 2;
        }
        Ok(())
    }

    /// Folds everybody's covers into that of rank 0, along a binomial tree: in step k each rank that is left takes the cover of the
    /// one 2^k further, whose ranks follow its own. The root of the tree is the same whatever the number of ranks.
    pub(crate) async fn reduce<T: Plain + Default>(
        &self,
        own: &mut Fold<T>,
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<(), Error> {
        let (rank, size) = (self.rank(), self.size());
        if self.communicator.settings.order == Order::Any {
            own.collapse(combine);
        }
        let mut distance = 1;
        while distance < size {
            if rank & distance != 0 {
                return self.send_cover(rank - distance, own);
            }
            if rank + distance < size {
                self.receive_cover(rank + distance, own, combine).await?;
            }
            distance *= 2;
        }
        Ok(())
    }

    /// Sends the nodes of a fold: for each its level, its index and its partial.
    pub(crate) fn send_cover<T: Plain + Default>(&self, to: usize, cover: &Fold<T>) -> Result<(), Error> {
        let length: usize = cover.nodes().map(|(_, partial)| 2 * size_of::<u64>() + size_of_val(partial)).sum();
        self.send_parts(to, length, |message| {
            for (node, partial) in cover.nodes() {
                message.extend_from_slice(&u64::from(node.level).to_le_bytes());
                message.extend_from_slice(&(node.index as u64).to_le_bytes());
                message.extend_from_slice(bytemuck::cast_slice(partial));
            }
        })
    }

    /// Receives the nodes that follow those of `own`, and folds them.
    pub(crate) async fn receive_cover<T: Plain + Default>(
        &self,
        from: usize,
        own: &mut Fold<T>,
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<(), Error> {
        let body = self.receive(from).await?;
        let mut rest = &body[..];
        while !rest.is_empty() {
            let (level, after) = rest.split_first_chunk().expect("a level was sent");
            let (index, after) = after.split_first_chunk().expect("an index was sent");
            let node = Node { level: u64::from_le_bytes(*level) as u32, index: u64::from_le_bytes(*index) as usize };
            let (partial, after) = after.split_at(own.length() * size_of::<T>());
            let write = |values: &mut [T]| bytemuck::cast_slice_mut(values).copy_from_slice(partial);
            match self.communicator.settings.order {
                Order::Fixed => own.push(node, combine, write),
                Order::Any => own.append(combine, write),
            }
            rest = after;
        }
        Ok(())
    }
}
