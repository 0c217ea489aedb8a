//! Shifts, exchanges with neighbours, and one-way calls, between threads. There is a lane in each direction between two
//! ranks that communicate. Each rank has a *seat*, in which it sleeps while it waits.
//!
//! Shifts, exchanges with neighbours and one-way calls are collectives: all ranks make them, in the same order as all
//! other collectives. So each message carries the number of its call and the numbers that must be equal on all ranks,
//! and its receiver compares them. A rank may wait for a message that will never arrive, because another rank has made
//! a different call. The waiting rank notices that the message will not come in two cases:
//!
//! - The other rank is in an exchange of all ranks that this rank has not reached. So the other rank has passed this
//!   call without sending.
//! - Another rank has sent this rank a message of this call that this rank does not expect.
//!
//! A waiting rank checks for both cases before it sleeps. Before a rank that has arrived in an exchange sleeps there,
//! it wakes the ranks that sleep while they wait for a message from it. An unexpected message wakes its receiver.
//!
//! In a one-way broadcast or reduction, some ranks receive nothing, and run ahead of their receivers. Ranks that
//! receive nothing wait for room in the lane ([`poll_room`](Endpoint::poll_room)), so that they are ahead by at most
//! the number of the lane's slots. In one-way calls, the logs of the ranks reveal different calls (`log.rs`). A rank
//! that abandons a receive must receive the message before its next call, so that no rank waits for room for ever.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Seat::asleep` | the rank that the sleeping rank waits for, and the other rank from which it expects a message; 0 if it is awake | the rank that sleeps |
//! | `Directory::count` | the number of lanes that begin, or end, at this rank | the rank that makes a lane, under the lock |
//!
//! No rank sleeps for ever. A rank that is about to sleep sets `asleep`, and then checks its lanes, the ended ranks and
//! the arrivals once more. A rank first sends, arrives or ends, and then checks `asleep`. A fence between the two steps
//! of each rank makes sure that at least one of the two ranks sees the write of the other. A spinning rank sends, spins
//! for the message that it waits for, and reaches its fence a little later. By then its line has left the core, and the
//! fence costs nothing.

use std::task::{Context, Poll, Waker};

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Mutex, Ordering, spin_loop};

use super::lane::{Head, Incoming, Lane, Outgoing};
use super::offer::Offer;
use super::{CALL_BITS, Disagreement, Endpoint, Shared, Trouble};

/// The number of checks of a lane before a spinning rank makes sure that the receivers of its messages are awake.
const LOOKS_FIRST: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 64 };

/// The maximum number of messages that a rank lends at a time.
const LOANS: usize = 2;

/// Above this bit, `asleep` holds the other rank from which a message is expected.
const BESIDES: u32 = usize::BITS / 2;
/// The value above bit [`BESIDES`] of `asleep` that says that messages are expected from several ranks.
const SEVERAL: usize = (1 << (BESIDES - 1)) - 1;
/// The seat of a rank that sleeps while it waits for a neighbour.
#[derive(Default)]
pub(super) struct Seat {
    asleep: CachePadded<AtomicUsize>,
    waker: Mutex<Option<Waker>>,
    /// The lanes from this rank and, in `incoming`, the lanes to this rank.
    outgoing: Directory,
    incoming: Directory,
}

/// The lanes that begin, or that end, at a rank, each with the rank at the lane's other end.
#[derive(Default)]
struct Directory {
    lanes: Mutex<Vec<(usize, Arc<Lane>)>>,
    count: AtomicUsize,
}

/// A rank's ends of its lanes, and the state of its calls over lanes.
pub(super) struct Neighbours {
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// The number of calls over lanes that this rank has begun.
    calls: u64,
    head: Head,
    /// The number of the last abandoned call. Messages of that call and of earlier calls are discarded.
    given_up: u64,
    is_open: bool,
    /// The ranks whose messages of the current call, or of an abandoned call, this rank must receive before the next
    /// call.
    owed: Vec<usize>,
    /// Whether this rank has set `asleep` and not reset it.
    is_asleep: bool,
    /// Positions in `outgoing`: the lanes whose receivers may have to be woken.
    unannounced: Vec<usize>,
}

/// A swap of long messages: a rank sends messages to some ranks at once, and receives messages from some ranks one
/// after the other.
pub(crate) struct Swap<'a> {
    pub(crate) told: &'a [(usize, &'a [&'a [u8]])],
    pub(crate) heard: &'a mut [Hearing<'a>],
    /// Whether all messages were sent, and the number of messages received.
    progress: (bool, usize),
}

/// A rank to receive a message from, and the function that reads the parts of the message.
pub(crate) struct Hearing<'a> {
    pub(crate) from: usize,
    pub(crate) besides: Besides,
    pub(crate) read: &'a mut (dyn FnMut(&[&[u8]]) + Send),
}

impl<'a> Swap<'a> {
    pub(crate) fn new(told: &'a [(usize, &'a [&'a [u8]])], heard: &'a mut [Hearing<'a>]) -> Self {
        assert!(told.len() <= LOANS, "a rank has two neighbours on a line");
        Self { told, heard, progress: (false, 0) }
    }

    /// Returns the rank that is waited for; the last rank, if all messages have been received.
    pub(crate) fn awaited(&self) -> usize {
        let (_, place) = self.progress;
        self.heard[place.min(self.heard.len() - 1)].from
    }
}

/// The ranks, besides the awaited rank, from which a rank expects messages of its current call.
#[derive(Clone, Copy)]
pub(crate) enum Besides {
    Nobody,
    Rank(usize),
    Several,
}

impl Directory {
    fn add(&self, other: usize, lane: Arc<Lane>) {
        let mut lanes = self.lanes.lock();
        lanes.push((other, lane));
        // Release: pairs with the Acquire in `is_longer_than`. If a rank sees the new number late, no rank waited for
        // it before, or its next message wakes the sleeper.
        self.count.store(lanes.len(), Ordering::Release);
    }

    fn is_longer_than(&self, known: usize) -> bool {
        // Acquire: pairs with the Release in `add`.
        self.count.load(Ordering::Acquire) > known
    }
}

impl Seat {
    /// Wakes the rank, if it sleeps here.
    pub(super) fn wake(&self, shared: &Shared) {
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            shared.wake(waker);
        }
    }

    /// Drops the waker, because the rank has ended.
    pub(super) fn leave(&self) {
        // Relaxed: nothing relies on it.
        self.asleep.store(0, Ordering::Relaxed);
        let waker = self.waker.lock().take();
        drop(waker);
    }
}

impl Neighbours {
    pub(super) fn new() -> Self {
        Self {
            outgoing: Vec::new(),
            incoming: Vec::new(),
            calls: 0,
            head: [0; 2],
            given_up: 0,
            is_open: false,
            owed: Vec::new(),
            is_asleep: false,
            unannounced: Vec::new(),
        }
    }

    /// Returns the number of the call that a head belongs to.
    fn call_of(head: Head) -> u64 {
        head[0] >> CALL_BITS
    }
}

/// The methods that make up an exchange with neighbours: `begin`, then one `tell` and one `poll_hear` for each
/// neighbour, then `finish`.
impl Endpoint {
    /// Begins a call over lanes. If the call before did not finish, its late messages are discarded.
    pub(crate) fn begin(&mut self, call: u64, number: u64) {
        let neighbours = &mut self.neighbours;
        if neighbours.is_open {
            neighbours.given_up = neighbours.calls;
        }
        neighbours.is_open = true;
        neighbours.calls += 1;
        neighbours.head = [neighbours.calls << CALL_BITS | call, number];
        self.note_call([call, number]);
    }

    /// Records that a message of a rank will be received in this call, even if the call is abandoned.
    pub(crate) fn owe(&mut self, from: usize) {
        self.neighbours.owed.push(from);
    }

    /// Returns a rank whose message must still be received.
    pub(crate) fn owed(&self) -> Option<usize> {
        self.neighbours.owed.first().copied()
    }

    /// Ends a call that has finished.
    pub(crate) fn finish(&mut self) {
        self.neighbours.is_open = false;
    }

    /// Sends a rank a message that consists of `parts`, without waiting.
    pub(crate) fn tell(&mut self, to: usize, parts: &[&[u8]]) {
        let (place, head) = (self.outgoing_to(to), self.neighbours.head);
        self.neighbours.outgoing[place].send(head, parts);
        self.neighbours.unannounced.push(place);
    }

    fn outgoing_to(&mut self, to: usize) -> usize {
        if let Some(place) = self.neighbours.outgoing.iter().position(|lane| lane.to == to) {
            return place;
        }
        let lane = self.lane(self.rank, to);
        self.neighbours.outgoing.push(Outgoing::new(to, lane));
        self.neighbours.outgoing.len() - 1
    }

    /// Sends and receives the messages of a swap. While this call lasts, outgoing messages are lent to receivers that
    /// are ready.
    ///
    /// Cancel-safe as [`poll_hear`](Self::poll_hear) is; the first poll sends the outgoing messages.
    pub(crate) fn poll_swap(&mut self, swap: &mut Swap<'_>, context: &mut Context<'_>) -> Poll<Result<(), Trouble>> {
        // The offers end when this call returns, whatever it returns, because they are dropped then.
        let mut offers = [const { None }; LOANS];
        if !swap.progress.0 {
            swap.progress.0 = true;
            for ((to, parts), offer) in swap.told.iter().zip(&mut offers) {
                let (place, head) = (self.outgoing_to(*to), self.neighbours.head);
                *offer = self.neighbours.outgoing[place].lend(head, parts);
                self.neighbours.unannounced.push(place);
            }
        }
        while let Some(Hearing { from, besides, read }) = swap.heard.get_mut(swap.progress.1) {
            match self.poll_hear(*from, *besides, context, read) {
                Poll::Ready(Ok(())) => swap.progress.1 += 1,
                other => return other,
            }
        }
        // The receivers are reading, or are about to.
        for _ in 0..self.shared.spins {
            if offers.iter().flatten().all(Offer::is_taken) {
                break;
            }
            spin_loop();
        }
        Poll::Ready(Ok(()))
    }

    /// Returns the lane between this rank and another, which is created at first use.
    fn lane(&self, from: usize, to: usize) -> Arc<Lane> {
        let [source, target] = [from, to].map(|rank| &self.shared.seats[rank]);
        let mut lanes = source.outgoing.lanes.lock();
        if let Some((_, lane)) = lanes.iter().find(|(other, _)| *other == to) {
            return lane.clone();
        }
        let lane = Arc::new(Lane::new());
        lanes.push((to, lane.clone()));
        // Release: as in `Directory::add`.
        source.outgoing.count.store(lanes.len(), Ordering::Release);
        target.incoming.add(from, lane.clone());
        lane
    }

    /// Wakes the receivers of the messages that this rank has sent, if they sleep.
    fn announce(&mut self) {
        if !self.neighbours.unannounced.is_empty() {
            // Orders the messages before the looks at `asleep`. Pairs with the fence in `sleep_in_the_seat`.
            self.shared.fences.light();
            self.announce_behind_a_fence();
        }
    }

    fn announce_behind_a_fence(&mut self) {
        let me = self.rank + 1;
        let Self { shared, neighbours, .. } = self;
        for place in neighbours.unannounced.drain(..) {
            let seat = &shared.seats[neighbours.outgoing[place].to];
            // Relaxed: ordered by the fence.
            let asleep = seat.asleep.load(Ordering::Relaxed);
            let (first, besides) = (asleep % (1 << BESIDES), asleep >> BESIDES);
            // If the receiver sleeps while it waits for another rank's message and expects this message too, the
            // message need not wake it. An unexpected message must wake the receiver.
            if asleep != 0 && (first == me || (besides != me && besides != SEVERAL)) {
                seat.wake(shared);
            }
        }
    }

    /// Wakes ranks that sleep while they wait for a message of this rank, which is about to sleep itself, in an
    /// exchange of all ranks. The caller has run a fence before.
    pub(super) fn rouse(&mut self) {
        let seat = &self.shared.seats[self.rank];
        if seat.outgoing.is_longer_than(self.neighbours.outgoing.len()) {
            let lanes = seat.outgoing.lanes.lock();
            for (to, lane) in &*lanes {
                if self.neighbours.outgoing.iter().all(|known| known.to != *to) {
                    self.neighbours.outgoing.push(Outgoing::new(*to, lane.clone()));
                }
            }
        }
        for lane in &self.neighbours.outgoing {
            let seat = &self.shared.seats[lane.to];
            // Relaxed: ordered by the caller's fence.
            if seat.asleep.load(Ordering::Relaxed) % (1 << BESIDES) == self.rank + 1 {
                seat.wake(&self.shared);
            }
        }
    }

    /// Waits for the next message from a rank, and shows its bytes to `read`. On failure, returns the reason why it
    /// will not arrive.
    ///
    /// Cancel-safe: if dropped while it waits, it has taken no message. The next call discards the messages that this
    /// call did not receive.
    pub(crate) fn poll_hear(
        &mut self,
        from: usize,
        besides: Besides,
        context: &mut Context<'_>,
        read: &mut dyn FnMut(&[&[u8]]),
    ) -> Poll<Result<(), Trouble>> {
        let place = self.incoming_from(from);
        self.get_up_from_the_seat();
        let mut spins = self.shared.spins;
        let first_looks = spins.saturating_sub(LOOKS_FIRST);
        loop {
            if let Some(outcome) = self.hear(place, read) {
                self.announce();
                return Poll::Ready(outcome.inspect_err(|trouble| self.note(*trouble)));
            }
            if spins == 0 {
                break;
            }
            if spins == first_looks {
                self.announce();
            }
            if spins < first_looks {
                spin_loop();
            }
            spins -= 1;
        }
        let besides = match besides {
            Besides::Nobody => 0,
            Besides::Rank(rank) => rank + 1,
            Besides::Several => SEVERAL,
        };
        self.sleep_in_the_seat(from, besides, context.waker());
        // The order matters: a message that was sent before an end or an arrival is received.
        let trouble = self.missing_from(from, besides);
        let heard = self.hear(place, read);
        if heard.is_none() && trouble.is_none() {
            return Poll::Pending;
        }
        self.get_up_from_the_seat();
        let outcome = heard.unwrap_or_else(|| Err(trouble.expect("one of both is there")));
        Poll::Ready(outcome.inspect_err(|trouble| self.note(*trouble)))
    }

    /// After a one-way message was sent to a rank, waits until there is a slot for the next message. Because of this
    /// wait, a rank is never ahead of a receiver by more messages than a lane has slots.
    ///
    /// Cancel-safe. If the wait is abandoned, the next message may have to go into the lane's queue.
    pub(crate) fn poll_room(&mut self, to: usize, context: &mut Context<'_>) -> Poll<Result<(), Trouble>> {
        self.announce();
        let place =
            self.neighbours.outgoing.iter().position(|lane| lane.to == to).expect("there is a lane to who was told");
        self.get_up_from_the_seat();
        for _ in 0..=self.shared.spins {
            if self.neighbours.outgoing[place].has_room() {
                return Poll::Ready(Ok(()));
            }
            spin_loop();
        }
        self.sleep_in_the_seat(to, SEVERAL, context.waker());
        let trouble = self.trouble_or_divergence(|ending| ending.world == self.shared.members[to]);
        let has_room = self.neighbours.outgoing[place].has_room();
        if !has_room && trouble.is_none() {
            return Poll::Pending;
        }
        self.get_up_from_the_seat();
        let outcome = if has_room { Ok(()) } else { trouble.map_or(Ok(()), Err) };
        Poll::Ready(outcome.inspect_err(|trouble| self.note(*trouble)))
    }

    /// Wakes a rank that sleeps while it waits for room in its lane to this rank.
    fn tell_of_room(&self, from: usize) {
        if self.shared.has_lines {
            // Orders the count of taken messages before the look at `asleep`. Pairs with the fence in
            // `sleep_in_the_seat`.
            self.shared.fences.light();
            let seat = &self.shared.seats[from];
            // Relaxed: ordered by the fence.
            if seat.asleep.load(Ordering::Relaxed) % (1 << BESIDES) == self.rank + 1 {
                seat.wake(&self.shared);
            }
        }
    }

    /// Announces in this rank's seat that it sleeps while it waits for rank `other`. The caller then checks for its
    /// message once more.
    fn sleep_in_the_seat(&mut self, other: usize, besides: usize, waker: &Waker) {
        let seat = &self.shared.seats[self.rank];
        let replaced = seat.waker.lock().replace(waker.clone());
        drop(replaced);
        self.neighbours.is_asleep = true;
        // Relaxed: ordered by the fence.
        seat.asleep.store((other + 1) | besides << BESIDES, Ordering::Relaxed);
        // Orders `asleep` and the log before the checks that follow, and sent messages before the checks of the
        // receivers' `asleep`. Pairs with itself, with the fences in `announce` and in `tell_of_room`, and with those
        // in `Shared::ring` and `Endpoint::sleep`.
        self.shared.fences.heavy();
        self.announce_behind_a_fence();
    }

    fn get_up_from_the_seat(&mut self) {
        if std::mem::take(&mut self.neighbours.is_asleep) {
            // Relaxed: a late 0 costs only an unnecessary wake.
            self.shared.seats[self.rank].asleep.store(0, Ordering::Relaxed);
        }
    }

    fn incoming_from(&mut self, from: usize) -> usize {
        if let Some(place) = self.neighbours.incoming.iter().position(|lane| lane.from == from) {
            return place;
        }
        let lane = self.lane(from, self.rank);
        self.neighbours.incoming.push(Incoming::new(from, lane));
        self.neighbours.incoming.len() - 1
    }

    /// Takes the next message of a lane, if it has arrived and belongs to this call.
    fn hear(&mut self, place: usize, read: &mut dyn FnMut(&[&[u8]])) -> Option<Result<(), Trouble>> {
        loop {
            let Neighbours { incoming, head: own, given_up, .. } = &mut self.neighbours;
            let lane = &mut incoming[place];
            let (first, from) = (lane.first()?, lane.from);
            let head = first.head();
            if Neighbours::call_of(head) <= *given_up {
                if lane.take(first, &mut |_| {}) {
                    self.tell_of_room(from);
                }
                continue;
            }
            if head != *own {
                return Some(Err(self.disagreement(from, head)));
            }
            if lane.take(first, read) {
                self.tell_of_room(from);
            }
            self.neighbours.owed.retain(|&owed| owed != from);
            return Some(Ok(()));
        }
    }

    /// Returns the trouble that another rank's call differs from this rank's call.
    fn disagreement(&self, other: usize, head: Head) -> Trouble {
        let call = |head: Head| [head[0] % (1 << CALL_BITS), head[1]];
        let world = |rank: usize| self.shared.members[rank];
        Trouble::Disagreement(Disagreement {
            usual: (self.world, call(self.neighbours.head)),
            other: (world(other), call(head)),
        })
    }

    /// Returns the reason why the message that this rank waits for will not arrive; `None` if the message has arrived
    /// or may still arrive.
    fn missing_from(&mut self, from: usize, besides: usize) -> Option<Trouble> {
        if let Some(trouble) = self.trouble_or_divergence(|ending| ending.world == self.shared.members[from]) {
            return Some(trouble);
        }
        // Acquire: pairs with the Release in `arrive`; that rank's deposit and its earlier messages are visible.
        let arrivals = self.shared.ranks[from].arrivals.load(Ordering::Acquire);
        if arrivals > self.arrivals {
            let place = self.incoming_from(from);
            if self.neighbours.incoming[place].first().is_none() {
                return Some(self.disagreement(from, self.shared.head_of(from, self.arrivals)));
            }
        }
        self.unexpected(from, besides)
    }

    /// Returns a disagreement if a rank has sent a message of this call that this rank does not expect. Messages of
    /// earlier calls count too, unless they were abandoned.
    fn unexpected(&mut self, from: usize, besides: usize) -> Option<Trouble> {
        let seat = &self.shared.seats[self.rank];
        if seat.incoming.is_longer_than(self.neighbours.incoming.len()) {
            let lanes = seat.incoming.lanes.lock().clone();
            for (from, lane) in lanes {
                if self.neighbours.incoming.iter().all(|known| known.from != from) {
                    self.neighbours.incoming.push(Incoming::new(from, lane));
                }
            }
        }
        if besides == SEVERAL {
            return None;
        }
        let Neighbours { incoming, calls, given_up, .. } = &self.neighbours;
        let others = incoming.iter().filter(|lane| lane.from != from && lane.from + 1 != besides);
        let found = others.filter_map(|lane| lane.first().map(|first| (lane.from, first.head())));
        let stray = |(_, head): &(usize, Head)| (given_up + 1..=*calls).contains(&Neighbours::call_of(*head));
        let (other, head) = found.into_iter().find(stray)?;
        Some(self.disagreement(other, head))
    }
}
