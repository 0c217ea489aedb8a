//! Runs a collective over messages on one rank, which sends messages to other ranks and receives messages from them.
//! Each message says which collective it belongs to.
//!
//! The label's tag holds the call and the number of earlier collectives of the communicator. The message's first eight
//! bytes hold the number that must be the same on all ranks, such as a root or a length. Messages from one rank arrive
//! in the order of its collectives. So the first message in the context of collectives from a rank must belong to the
//! current call. If the message belongs to another call, the two ranks have made different calls. A rank that waits for
//! a long time sends a notice (`notices.rs`). So ranks in different calls do not wait for each other for ever.
//!
//! A collective that fails or is abandoned stops the communicator, because sent messages cannot be recalled.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::Pin;

use crate::collective::notices::Signature;
use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::pipeline::Incoming;
use crate::fabric::receiving::{Reading, Receiving};
use crate::fabric::{Envelope, Label, Message, Pattern};
use crate::group::Traffic;
use crate::message::{self, Plain};
use crate::point_to_point::Wanted;
use crate::reduction::{Fold, Node};
use crate::settings::Order;
use crate::trace::Activity;

/// The number of bytes in each piece that a broadcast sends.
const PIECE: usize = 1 << 17;

/// On a fabric that needs polls to make progress, the number of unsuccessful polls after which a rank sends a notice to
/// the awaited rank.
const POLLS: u32 = 8;

/// The maximum number of words of a message that a rank receives into memory on the stack.
const FEW: usize = 8;

/// The number of bits that hold a node's level, in the word that describes the node; the node's index is above them.
const LEVEL_BITS: u32 = 6;

/// One rank's part in a collective that is in progress.
pub(crate) struct Steps<'a> {
    communicator: &'a Communicator,
    call: Call,
    own: Signature,
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
    /// Runs this rank's part of a collective over messages, which `body` performs.
    pub(crate) async fn stepwise<R>(
        &mut self,
        call: Call,
        number: usize,
        body: impl AsyncFnOnce(&Steps<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if let Some(error) = &self.stopped {
            return Err(error.clone());
        }
        let own = self.calls.begin(call, number as u64);
        // This error remains set if this future is dropped before its end.
        self.stopped = Some(Error::Abandoned { collective: call.name() });
        let _noting = self.noting(Activity::Communication, call.name());
        let compared = match self.settings.is_checked {
            true => self.compare([call as u64, number as u64]).await,
            false => Ok(()),
        };
        let steps = Steps { communicator: self, call, own };
        let outcome = match compared.and_then(|()| self.foresee(own)).and_then(|()| self.hear_notices(own)) {
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

    /// Sends a message with these bytes to a rank.
    pub(crate) fn send(&self, to: usize, bytes: &[u8]) -> Result<(), Error> {
        self.send_all(to, &[bytes])
    }

    /// Sends a message that is the concatenation of `parts`, of which there are at most three.
    pub(crate) fn send_all(&self, to: usize, parts: &[&[u8]]) -> Result<(), Error> {
        let Self { communicator: Communicator { fabric, group, .. }, own, .. } = *self;
        let (number, mut all) = (own.number.to_le_bytes(), [&[][..]; 4]);
        all[0] = &number;
        all[1..=parts.len()].copy_from_slice(parts);
        let label = Label { context: group.context(Traffic::Collectives), tag: own.tag, receipt: 0 };
        fabric.send_parts(group.world(to), label, &all[..=parts.len()])
    }

    /// Sends a rank the bytes that `write` appends, whose expected number is `length`.
    pub(crate) fn send_parts(&self, to: usize, length: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        let mut message = self.communicator.fabric.memory(size_of::<u64>() + length);
        message.extend_from_slice(&self.own.number.to_le_bytes());
        write(&mut message);
        self.communicator.post(Traffic::Collectives, to, self.own.tag, Cow::Owned(message))
    }

    /// Waits for the message of this call from a rank, and returns its body.
    pub(crate) async fn receive(&self, from: usize) -> Result<Body, Error> {
        let fabric = &*self.communicator.fabric;
        let mut polls = 0;
        loop {
            let pattern = self.pattern(from);
            let message = self.told(from, &mut polls, Receiving::new(fabric, pattern, self.call.name())).await?;
            let Some(theirs) = self.heed(message.label, message.source, &message.bytes)? else { continue };
            if self.is_own(theirs, message.source)? {
                return Ok(Body(message.bytes));
            }
        }
    }

    /// Waits for the message of this call from a rank and passes its body to `read`, once. If the fabric can, it shows
    /// the bytes to `read` in place, possibly while it holds its locks.
    pub(crate) async fn read(&self, from: usize, mut read: impl FnMut(&[u8]) + Send + Unpin) -> Result<(), Error> {
        let (fabric, notices, own) = (&*self.communicator.fabric, self.notices(), self.own);
        let mut polls = 0;
        loop {
            // The message that arrived instead of the message of this call: the bytes of a notice, or the number of any
            // other message.
            let (mut came, mut bytes) = (None, Vec::new());
            let look = |envelope: Envelope, sent: &mut Incoming<'_>| {
                let sent = sent.bytes()?;
                let is_notice = envelope.label.context == notices;
                if let Some((number, body)) = sent.split_first_chunk()
                    && !is_notice
                    && (Signature { tag: envelope.label.tag, number: u64::from_le_bytes(*number) }) == own
                {
                    read(body);
                } else {
                    let length = if is_notice { sent.len() } else { size_of::<u64>() };
                    (came, bytes) = (Some(envelope), sent[..length].to_vec());
                }
                Ok(())
            };
            self.told(from, &mut polls, Reading::new(fabric, self.pattern(from), self.call.name(), look)).await?;
            let Some(envelope) = came else { return Ok(()) };
            if let Some(theirs) = self.heed(envelope.label, envelope.source, &bytes)? {
                self.is_own(theirs, envelope.source)?;
            }
        }
    }

    fn notices(&self) -> u32 {
        self.communicator.group.context(Traffic::Notices)
    }

    /// Matches the messages from a rank in collectives, and notices from all ranks.
    fn pattern(&self, from: usize) -> Pattern {
        let wanted = Wanted { source: Some(from), tag: None };
        Pattern { besides: Some(self.notices()), ..self.communicator.pattern(Traffic::Collectives, wanted) }
    }

    /// Handles a notice; for a message, returns how its sender made the call.
    fn heed(&self, label: Label, source: usize, bytes: &[u8]) -> Result<Option<Signature>, Error> {
        if label.context == self.notices() {
            self.communicator.heed(self.own, &Message { source, label, bytes: bytes.to_vec() })?;
            return Ok(None);
        }
        let number = u64::from_le_bytes(bytes[..size_of::<u64>()].try_into().expect("eight bytes"));
        Ok(Some(Signature { tag: label.tag, number }))
    }

    /// Whether a message belongs to this call. Returns false for a marker of an earlier call, which is then ignored.
    fn is_own(&self, theirs: Signature, source: usize) -> Result<bool, Error> {
        if theirs == self.own {
            return Ok(true);
        }
        if theirs.is_marker() && theirs.after(self.own) < 0 {
            return Ok(false);
        }
        Err(self.communicator.disagree(self.own, source, theirs))
    }

    /// Waits for a message from a rank, or for a notice from any rank. After a long wait, sends the awaited rank a
    /// notice.
    async fn told<R>(
        &self,
        from: usize,
        polls: &mut u32,
        mut receiving: impl Future<Output = Result<R, Error>> + Unpin,
    ) -> Result<R, Error> {
        let Self { communicator, call, own } = *self;
        let patient = if communicator.fabric.asks_again() { POLLS } else { 1 };
        let waiting = poll_fn(|context| {
            let received = Pin::new(&mut receiving).poll(context);
            if received.is_pending() {
                *polls += 1;
                if *polls == patient {
                    communicator.tell_of_waiting(own, from)?;
                }
            }
            received
        });
        communicator.patiently(waiting, &Wanted { source: Some(from), tag: None }, call.name()).await
    }

    /// After a one-way message, waits if this rank is too far ahead of the receiver.
    pub(crate) async fn keep_pace(&self, to: usize, length: usize) -> Result<(), Error> {
        let Communicator { fabric, group, pace, .. } = self.communicator;
        pace.note_sent(to, length);
        let mut polls = 0;
        while pace.is_ahead(to) {
            let pattern = Pattern { context: group.context(Traffic::Credits), ..self.pattern(to) };
            let mut notice = None;
            let look = |envelope: Envelope, sent: &mut Incoming<'_>| {
                if envelope.label.context == pattern.context {
                    pace.note_credit(to);
                } else {
                    notice = Some(Message { source: envelope.source, label: envelope.label, bytes: sent.take()? });
                }
                Ok(())
            };
            self.told(to, &mut polls, Reading::new(&**fabric, pattern, self.call.name(), look)).await?;
            if let Some(notice) = notice {
                self.communicator.heed(self.own, &notice)?;
            }
        }
        Ok(())
    }

    /// After a one-way message was received, sends its sender a credit, if a credit is due.
    pub(crate) fn let_go_on(&self, from: usize, length: usize) -> Result<(), Error> {
        let Communicator { fabric, group, pace, .. } = self.communicator;
        if pace.note_heard(from, length) {
            let label = Label { context: group.context(Traffic::Credits), tag: 0, receipt: 0 };
            fabric.send_parts(group.world(from), label, &[])?;
        }
        Ok(())
    }

    /// Waits for the message of this call from a rank and copies its body, which must be as long as `bytes`.
    pub(crate) async fn receive_into(&self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.read(from, |body| bytes.copy_from_slice(body)).await
    }

    /// Waits for the message of this call from a neighbour and copies its body. Returns an error if the body is not as
    /// long as `bytes`.
    pub(crate) async fn receive_exactly(&self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let (mut sent, room) = (0, bytes.len());
        let read = |body: &[u8]| {
            sent = body.len();
            if sent == room {
                bytes.copy_from_slice(body);
            }
        };
        self.read(from, read).await?;
        if sent == room { Ok(()) } else { Err(Error::Truncated { source: from, sent, room }) }
    }

    /// Waits for the message from a rank, which has as many values as `own`, and passes both to `combine`. Few values
    /// are copied to the stack first; many values are used in the memory of the message.
    async fn receive_few_or_many<T: Plain>(
        &self,
        from: usize,
        own: &mut [T],
        combine: impl FnOnce(&mut [T], &mut [T]),
    ) -> Result<(), Error> {
        let length = size_of_val(own);
        let mut few = [0_u64; FEW];
        if length <= size_of_val(&few)
            && let Ok(theirs) =
                bytemuck::try_cast_slice_mut(&mut bytemuck::cast_slice_mut::<u64, u8>(&mut few)[..length])
        {
            self.receive_into(from, bytemuck::cast_slice_mut::<T, u8>(theirs)).await?;
            combine(own, theirs);
            return Ok(());
        }
        let mut body = self.receive(from).await?;
        if let Ok(theirs) = bytemuck::try_cast_slice_mut(&mut body.0[size_of::<u64>()..]) {
            combine(own, theirs);
        } else {
            combine(own, &mut message::collect(&body));
        }
        self.give_back(body);
        Ok(())
    }

    /// Lets the fabric reuse the memory of a message.
    pub(crate) fn give_back(&self, body: Body) {
        self.communicator.fabric.give_back(body.0);
    }

    /// Combines all ranks' values on all ranks; the number of ranks must be a power of two. The method works as
    /// [`all_fold`](Self::all_fold) does, but each block has one partial, which is in `values`.
    pub(crate) async fn all_combine<T: Plain>(
        &self,
        values: &mut [T],
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<(), Error> {
        let mut width = 1;
        while width < self.size() {
            let partner = self.rank() ^ width;
            self.send(partner, bytemuck::cast_slice(values))?;
            let is_lower = partner < self.rank();
            let fold = |own: &mut [T], theirs: &mut [T]| {
                if is_lower {
                    combine(theirs, own);
                    own.copy_from_slice(theirs);
                } else {
                    combine(own, theirs);
                }
            };
            self.receive_few_or_many(partner, values, fold).await?;
            width *= 2;
        }
        Ok(())
    }

    /// Combines all ranks' values at rank 0, and returns them there; the number of ranks must be a power of two. The
    /// method works as [`reduce`](Self::reduce) does, but each rank has one partial.
    pub(crate) async fn combine<T: Plain>(
        &self,
        values: &[T],
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<Option<Vec<T>>, Error> {
        let (rank, length, mut own, mut distance) = (self.rank(), size_of_val(values), Cow::Borrowed(values), 1);
        while distance < self.size() {
            if rank & distance != 0 {
                let to = rank - distance;
                self.send(to, bytemuck::cast_slice(&own))?;
                self.keep_pace(to, length).await?;
                return Ok(None);
            }
            let from = rank + distance;
            self.receive_few_or_many(from, own.to_mut(), |own, theirs| combine(own, theirs)).await?;
            self.let_go_on(from, length)?;
            distance *= 2;
        }
        Ok(Some(own.into_owned()))
    }

    /// Sends the root's bytes to all ranks over a binomial tree in log₂ size steps. A long message is sent in pieces; a
    /// rank passes each piece on while the next piece is on its way.
    pub(crate) async fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let size = self.size();
        let distance = (self.rank() + size - root) % size;
        let member = |distance: usize| (distance + root) % size;
        // The rank at distance d receives from distance d without its lowest bit. It sends to the distances that have
        // one more bit, below that lowest bit.
        let lowest = if distance == 0 { size.next_power_of_two() } else { 1 << distance.trailing_zeros() };
        let whole = if size == 2 { bytes.len() } else { PIECE };
        // An empty message is also one piece.
        for piece in 0..bytes.len().div_ceil(whole.max(1)).max(1) {
            let (start, end) = (piece * whole, bytes.len().min((piece + 1) * whole));
            let piece = &mut bytes[start..end];
            if distance > 0 {
                let from = member(distance - lowest);
                self.receive_into(from, piece).await?;
                self.let_go_on(from, piece.len())?;
            }
            let children = |above: usize| {
                let bits = std::iter::successors(Some(above / 2), |bit| Some(bit / 2)).take_while(|&bit| bit > 0);
                bits.filter(|bit| distance + bit < size).map(|bit| member(distance + bit))
            };
            for to in children(lowest) {
                self.send(to, piece)?;
            }
            // Waits only after the piece was sent to all children.
            for to in children(lowest) {
                self.keep_pace(to, piece.len()).await?;
            }
        }
        Ok(())
    }

    /// Folds all ranks' covers into the cover of rank 0, along a binomial tree. In step k, each remaining rank folds
    /// the cover of the rank 2^k above it into its own cover. The leaves of that cover follow the leaves of its own
    /// cover. The result at rank 0 has the same bits for any number of ranks.
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
                self.send_cover(rank - distance, own)?;
                return self.keep_pace(rank - distance, 0).await;
            }
            if rank + distance < size {
                self.receive_cover(rank + distance, own, combine).await?;
                self.let_go_on(rank + distance, 0)?;
            }
            distance *= 2;
        }
        Ok(())
    }

    /// Folds the covers of all ranks on each rank, in ⌈log₂ size⌉ steps. In step k, all ranks of a block of 2^k ranks
    /// hold the same cover, and the block meets the block next to it. Each rank exchanges covers with its partner in
    /// the other block. If the upper block has fewer ranks, some ranks of the lower block have no partner. Ranks
    /// without a partner get the upper block's cover from ranks of their own block, along a binomial tree.
    ///
    /// Of two neighbouring blocks, the cover of the lower block is folded first, so that the nodes belong to the same
    /// tree.
    ///
    /// If `before` is given, the covers of the ranks before this rank are folded into it.
    pub(crate) async fn all_fold<T: Plain + Default>(
        &self,
        own: &mut Fold<T>,
        mut before: Option<&mut Fold<T>>,
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<(), Error> {
        let (rank, size, order) = (self.rank(), self.size(), self.communicator.settings.order);
        if order == Order::Any {
            own.collapse(combine);
        }
        let mut other = Fold::new(own.length());
        let mut width = 1;
        while width < size {
            let lower = rank / (2 * width) * (2 * width);
            let (upper, place) = (lower + width, rank % width);
            let partners = size.saturating_sub(upper).min(width);
            other.clear(own.length());
            if partners == 0 {
                // There is no block above this block, so the tree has no node there.
            } else if rank >= upper {
                self.send_cover(lower + place, own)?;
                self.receive_cover(lower + place, &mut other, combine).await?;
                if let Some(before) = &mut before {
                    let mut longer = other.clone();
                    longer.follow(before, order, combine);
                    std::mem::swap(*before, &mut longer);
                }
                other.follow(own, order, combine);
                std::mem::swap(own, &mut other);
            } else {
                // A position without a partner gets the cover from the position without its highest bit, its partner in
                // an earlier step.
                let highest = if place == 0 { 0 } else { 1 << place.ilog2() };
                let from = if place < partners { upper + place } else { rank - highest };
                if place < partners {
                    self.send_cover(from, own)?;
                }
                let body = self.receive(from).await?;
                let mut bit = if place == 0 { 1 } else { 2 * highest };
                while place + bit < width {
                    if place + bit >= partners {
                        self.send(rank + bit, &body)?;
                    }
                    bit *= 2;
                }
                read_cover(&body, own, order, combine);
            }
            width *= 2;
        }
        Ok(())
    }

    /// Sends the nodes of a fold. For each node, the message has a word with the node's level and index, and the node's
    /// partial.
    pub(crate) fn send_cover<T: Plain + Default>(&self, to: usize, cover: &Fold<T>) -> Result<(), Error> {
        let length: usize = cover.nodes().map(|(_, partial)| size_of::<u64>() + size_of_val(partial)).sum();
        self.send_parts(to, length, |message| {
            for (node, partial) in cover.nodes() {
                message.extend_from_slice(&((node.index as u64) << LEVEL_BITS | u64::from(node.level)).to_le_bytes());
                message.extend_from_slice(bytemuck::cast_slice(partial));
            }
        })
    }

    /// Receives the nodes that follow the nodes of `own`, and folds them into `own`.
    pub(crate) async fn receive_cover<T: Plain + Default>(
        &self,
        from: usize,
        own: &mut Fold<T>,
        combine: &(dyn Fn(&mut [T], &[T]) + Sync),
    ) -> Result<(), Error> {
        let body = self.receive(from).await?;
        read_cover(&body, own, self.communicator.settings.order, combine);
        Ok(())
    }
}

/// Folds the nodes of a message into `own`. The nodes of the message follow the nodes that `own` has.
fn read_cover<T: Plain + Default>(
    body: &[u8],
    own: &mut Fold<T>,
    order: Order,
    combine: &(dyn Fn(&mut [T], &[T]) + Sync),
) {
    let mut rest = body;
    while let Some((word, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        let node = Node { level: (word % (1 << LEVEL_BITS)) as u32, index: (word >> LEVEL_BITS) as usize };
        let (partial, after) = after.split_at(own.length() * size_of::<T>());
        let write = |values: &mut [T]| bytemuck::cast_slice_mut(values).copy_from_slice(partial);
        own.add(node, order, combine, write);
        rest = after;
    }
}
