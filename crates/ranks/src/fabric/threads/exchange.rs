//! Collectives between ranks of one process: messages stay where they are written, and one synchronisation makes them
//! visible to all ranks.
//!
//! In an exchange, each rank deposits a message and arrives. Once all ranks have arrived, the messages are folded, and
//! each rank may read every message and the result of the fold. Cost of an exchange: each message is written once and
//! read where it was written. There is one synchronisation, in which each rank waits at most once. An exchange
//! allocates nothing once the buffers have reached the lengths of the messages.
//!
//! There are two sets of buffers, used in turn, so that an exchange needs only one synchronisation. A rank writes its
//! buffer of exchange e + 2 over its buffer of exchange e only after exchange e + 1 is complete. A rank arrives in
//! exchange e + 1 only after it has read its part of exchange e.
//!
//! There are two ways of arriving. If ranks outnumber cores, or there are many ranks, all ranks arrive at one counter
//! (`exchange/counter.rs`). The last rank to arrive folds for all. Otherwise a rank arrives by its own line
//! (`exchange/line.rs`), and each rank folds for itself.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `sleeping` | the number of ranks that have left a waker or are about to leave one | each rank that waits, before its wait and after it |
//! | `left` | the number of ranks that have ended, plus the number of disagreements found | each rank once, when its end is dropped; the rank that finds a disagreement |
//! | `Rank::arrivals` | the number of exchanges in which the rank has arrived | that rank, before it arrives |
//!
//! Messages between two neighbours, and one-way messages, have their own lanes (`exchange/neighbours.rs`).
//!
//! If every rank has a core, a waiting rank spins for a short while and then suspends, so that ranks may outnumber
//! cores.
#![allow(unsafe_code, reason = "messages are read by other ranks where they were written")]

mod counter;
mod fences;
mod lane;
mod line;
mod log;
mod neighbours;
mod offer;
mod part;

use std::task::{Context, Poll, Waker};

use crossbeam_utils::CachePadded;
use lehr_runtime::wake_elsewhere;
use lehr_sync::{Arc, AtomicUsize, Cell, Mutex, Ordering, spin_loop};

use counter::Counter;
use fences::Fences;
use line::{LINES_MAX, Line};
use log::{Log, Pen};
use neighbours::{Neighbours, Seat};
use part::Part;

pub(crate) use neighbours::{Besides, Hearing, Swap};

/// The number of times that a rank checks for completion before it suspends, if it may spin. The checks take some tens
/// of microseconds, about as long as waking a sleeping core.
const SPINS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 1000 };

/// The bits of a head's first word that hold the call. The bits above hold, in a lane, the number of calls over lanes;
/// in an exchange, a digest of all earlier calls.
pub(crate) const CALL_BITS: u32 = 8;

/// The number of checks before a spinning rank makes sure that the other ranks are awake. After these checks, the
/// rank's line has usually left the core, so that the fence costs nothing.
const LOOKS_FIRST: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 64 };

/// Combines the deposits of all ranks, and writes the result to a buffer that is empty at first.
pub(crate) type Fold<'a> = &'a mut dyn FnMut(&Deposits<'_>, &mut Vec<u64>);

/// The state that the endpoints of all ranks share.
struct Shared {
    /// The number in the world of each rank.
    members: Box<[usize]>,
    ranks: Box<[CachePadded<Rank>]>,
    counter: Counter,
    sleeping: CachePadded<AtomicUsize>,
    left: CachePadded<AtomicUsize>,
    /// The ranks that have ended, in the order in which they ended.
    endings: Mutex<Vec<Ending>>,
    spins: u32,
    fences: Fences,
    /// Whether ranks arrive by lines, which all ranks look at, and fold for themselves.
    has_lines: bool,
    /// Two ranks that were found to make different calls.
    disagreement: Mutex<Option<Disagreement>>,
    /// The seat in which each rank sleeps while it waits for a neighbour.
    seats: Box<[CachePadded<Seat>]>,
    /// The groups of some of the ranks for which not all members have taken their ends.
    parts: Mutex<Vec<Part>>,
}

/// The reason why a rank waits for an event that will not happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// A rank has ended. Holds the rank that caused this end, by its number in the world.
    Left(usize),
    /// Two ranks have made different calls.
    Disagreement(Disagreement),
}

/// Two ranks, by their numbers in the world, and their calls: the kind of call and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disagreement {
    pub(crate) usual: (usize, [u64; 2]),
    pub(crate) other: (usize, [u64; 2]),
}

/// The part of the shared state that one rank writes and the other ranks read.
struct Rank {
    /// The lines for even and for odd exchanges.
    lines: [CachePadded<Line>; 2],
    /// The messages for even and for odd exchanges.
    messages: [Cell<Vec<u64>>; 2],
    /// The number of exchanges in which the rank has arrived, to find out which rank is late.
    arrivals: AtomicUsize,
    /// The log of the rank's calls.
    log: Log,
    /// The waker of the task, called when an exchange completes or can no longer complete.
    waker: Mutex<Option<Waker>>,
}

/// A rank that has ended, and the reason.
struct Ending {
    /// The rank, by its number in the world.
    world: usize,
    /// The number of exchanges in which the rank had arrived.
    arrivals: usize,
    /// The rank that caused the end, by its number in the world; the rank itself, unless another rank caused it.
    culprit: usize,
}

// SAFETY: the cells are accessed by the protocol of the module's page: a message by its owner alone between `deposit`
// and `arrive`; by the last rank to arrive during its fold; and by all ranks, shared, between completion and their own
// next arrival but one.
unsafe impl Sync for Shared {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for Shared {}

/// One rank's end of the exchange; see [`endpoints`].
pub(crate) struct Endpoint {
    shared: Arc<Shared>,
    rank: usize,
    /// The number of exchanges in which this rank has arrived.
    arrivals: usize,
    /// The state with which this rank writes its log.
    pen: Pen,
    is_waiting: bool,
    /// With lines: the number of ranks, from the first on, that were seen to have arrived in the exchange that this
    /// rank waits for.
    seen: usize,
    /// With lines: the result of this rank's fold in the last completed exchange.
    folded: Vec<u64>,
    /// Whether this end counts in `sleeping`.
    is_sleeping: bool,
    /// Whether this rank has arrived by its line and has not looked for sleepers yet.
    is_unannounced: bool,
    neighbours: Neighbours,
    /// Whether a fold panicked here, so that the exchange in progress can never complete.
    is_broken: bool,
    /// This rank's number in the world.
    world: usize,
    /// The rank that causes this rank to end, as far as this rank knows, by its number in the world.
    culprit: usize,
}

/// Creates the endpoints of a new group of ranks, in order; `members` has their numbers in the world. `may_spin` says
/// that every rank has its own core.
pub(crate) fn endpoints(members: &[usize], may_spin: bool) -> Vec<Endpoint> {
    let size = members.len();
    let ranks = (0..size).map(|_| {
        CachePadded::new(Rank {
            lines: [Line::new(), Line::new()],
            messages: [Cell::new(Vec::new()), Cell::new(Vec::new())],
            arrivals: AtomicUsize::new(0),
            log: Log::new(),
            waker: Mutex::new(None),
        })
    });
    let zero = || CachePadded::new(AtomicUsize::new(0));
    let shared = Arc::new(Shared {
        members: members.into(),
        ranks: ranks.collect(),
        counter: Counter::new(),
        sleeping: zero(),
        left: zero(),
        endings: Mutex::default(),
        spins: if may_spin { SPINS } else { 0 },
        fences: Fences::new(may_spin && size <= LINES_MAX),
        has_lines: may_spin && size <= LINES_MAX,
        disagreement: Mutex::default(),
        seats: (0..size).map(|_| CachePadded::new(Seat::default())).collect(),
        parts: Mutex::default(),
    });
    let end = |rank| Endpoint {
        shared: shared.clone(),
        rank,
        arrivals: 0,
        pen: Pen::default(),
        is_waiting: false,
        seen: 0,
        folded: Vec::new(),
        is_sleeping: false,
        is_unannounced: false,
        neighbours: Neighbours::new(),
        is_broken: false,
        world: members[rank],
        culprit: members[rank],
    };
    (0..size).map(end).collect()
}

impl Shared {
    /// Wakes every sleeping rank.
    fn ring(&self) {
        // Orders the caller's event (a completion, or a rank that ended) before the load below. Pairs with the fence in
        // `Endpoint::sleep`: either the load sees that rank, or that rank sees the event.
        self.fences.light();
        // Relaxed: ordered by the fence.
        if self.sleeping.load(Ordering::Relaxed) == 0 {
            return;
        }
        for rank in &self.ranks {
            let waker = rank.waker.lock().take();
            if let Some(waker) = waker {
                self.wake(waker);
            }
        }
    }

    /// Wakes a sleeping rank by its waker. If ranks spin, each must have its own worker. Otherwise the woken rank would
    /// queue behind the rank that woke it and now spins for its answer.
    fn wake(&self, waker: Waker) {
        if self.spins > 0 { wake_elsewhere(waker) } else { waker.wake() }
    }

    /// Returns the head of the message that a rank has deposited for an exchange. The rank has arrived in that
    /// exchange, as its count of arrivals says, and the caller has not.
    fn head_of(&self, rank: usize, exchange: usize) -> [u64; 2] {
        // SAFETY: the owner wrote the message before it counted its arrival. It writes this buffer again only in
        // exchange + 2, which comes after the caller's arrival in exchange + 1.
        let message = self.ranks[rank].messages[exchange % 2].read(|message| unsafe { &*message });
        [message[0] % (1 << CALL_BITS), message[1]]
    }

    fn message(&self, rank: usize, exchange: usize) -> &[u64] {
        if self.has_lines {
            // SAFETY: as below; the line is written before its flag, in `arrive`, and again two exchanges later.
            if let Some(words) = unsafe { self.ranks[rank].lines[exchange % 2].message() } {
                return words;
            }
        }
        // SAFETY: only ranks that the protocol allows to read this message now call this. The slice does not outlive
        // that right: it borrows from an `Endpoint` whose next `deposit` or `arrive` needs it exclusively, or from the
        // fold.
        self.ranks[rank].messages[exchange % 2].read(|message| unsafe { &*message })
    }
}

/// The deposits of one exchange, while a rank folds them.
pub(crate) struct Deposits<'a> {
    shared: &'a Shared,
    exchange: usize,
}

impl<'a> Deposits<'a> {
    /// Returns the number of ranks.
    pub(crate) fn size(&self) -> usize {
        self.shared.ranks.len()
    }

    /// Returns the message of a rank.
    pub(crate) fn of(&self, rank: usize) -> &'a [u64] {
        self.shared.message(rank, self.exchange)
    }
}

impl Endpoint {
    /// Returns the exchange in which this rank arrived last.
    fn exchange(&self) -> usize {
        self.arrivals.checked_sub(1).expect("there is something to read only after an exchange")
    }

    fn assert_ready(&self) {
        assert!(!self.is_waiting, "an exchange is completed before the next begins");
        assert!(!self.is_broken, "a fold panicked at this end, so its exchange can never be completed");
    }

    fn is_complete(&mut self) -> bool {
        if self.shared.has_lines {
            let parity = self.exchange() % 2;
            let has_arrived = |rank: &Rank| rank.lines[parity].has_arrived(self.arrivals);
            self.seen += self.shared.ranks[self.seen..].iter().take_while(|rank| has_arrived(rank)).count();
            return self.seen == self.size();
        }
        self.shared.counter.has_completed(self.arrivals)
    }

    /// Returns the reason why this rank's exchange will not complete: the first rank that ended before it arrived, or a
    /// rank with other calls.
    fn missing(&self) -> Option<Trouble> {
        self.trouble_or_divergence(|ending| ending.arrivals < self.arrivals)
    }

    /// Like [`trouble`](Self::trouble), but prefers a rank that has made other calls to a rank that has ended.
    fn trouble_or_divergence(&self, concerns: impl Fn(&Ending) -> bool) -> Option<Trouble> {
        match self.trouble(concerns) {
            Some(Trouble::Disagreement(found)) => Some(Trouble::Disagreement(found)),
            other => self.diverged().or(other),
        }
    }

    /// Returns a rank whose calls differ from the calls of this rank. A rank that is about to sleep calls this method,
    /// after its fence.
    fn diverged(&self) -> Option<Trouble> {
        if !self.shared.has_lines {
            return None;
        }
        let differs = |other: usize| self.divergence(self.rank, other);
        (0..self.size()).filter(|&other| other != self.rank).find_map(differs).map(Trouble::Disagreement)
    }

    /// Returns the first call in which two ranks differ, as each rank made it; `None` if their calls agree.
    pub(crate) fn divergence(&self, one: usize, other: usize) -> Option<Disagreement> {
        let Shared { ranks, members, .. } = &*self.shared;
        let [usual, theirs] = ranks[one].log.divergence(&ranks[other].log)?;
        Some(Disagreement { usual: (members[one], usual), other: (members[other], theirs) })
    }

    /// Returns a digest of all calls of this rank. Ranks that have made the same calls have the same digest.
    pub(crate) fn digest(&self) -> u64 {
        self.pen.digest()
    }

    /// Returns a disagreement, if a rank has found one; otherwise the first ended rank that concerns this rank.
    fn trouble(&self, concerns: impl Fn(&Ending) -> bool) -> Option<Trouble> {
        // Relaxed: the locks below order what is read; a rank that ends later rings again.
        if self.shared.left.load(Ordering::Relaxed) == 0 {
            return None;
        }
        if let Some(disagreement) = *self.shared.disagreement.lock() {
            return Some(Trouble::Disagreement(disagreement));
        }
        let endings = self.shared.endings.lock();
        endings.iter().find(|ending| concerns(ending)).map(|ending| Trouble::Left(ending.culprit))
    }

    /// Records why this rank cannot continue. Records a disagreement for all ranks, and wakes them.
    fn note(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Left(culprit) => self.culprit = culprit,
            Trouble::Disagreement(disagreement) => {
                self.shared.disagreement.lock().get_or_insert(disagreement);
                // Relaxed: ordered by the fence in `ring`.
                self.shared.left.fetch_add(1, Ordering::Relaxed);
                self.shared.ring();
                self.shared.seats.iter().for_each(|seat| seat.wake(&self.shared));
            }
        }
    }

    fn sleep(&mut self, waker: &Waker) {
        let replaced = self.shared.ranks[self.rank].waker.lock().replace(waker.clone());
        drop(replaced);
        if !self.is_sleeping {
            self.is_sleeping = true;
            // Relaxed: ordered by the fence below.
            self.shared.sleeping.fetch_add(1, Ordering::Relaxed);
        }
        // Orders `sleeping`, this rank's arrival and its log before two checks: the caller's last check for completion,
        // and the check which ranks wait for a message of this rank.
        self.shared.fences.heavy();
        self.rouse();
    }

    fn get_up(&mut self) {
        if self.is_sleeping {
            self.is_sleeping = false;
            // Relaxed: while other ranks read too high a number, they only search the wakers without need.
            self.shared.sleeping.fetch_sub(1, Ordering::Relaxed);
            let waker = self.shared.ranks[self.rank].waker.lock().take();
            drop(waker);
        }
    }
}

impl Endpoint {
    /// Records which rank will cause this rank to end, by its number in the world.
    pub(crate) fn blame(&mut self, culprit: usize) {
        self.culprit = culprit;
    }
}

/// The methods that make up an exchange, in the order of their calls.
impl Endpoint {
    /// Returns the number of ranks.
    pub(crate) fn size(&self) -> usize {
        self.shared.ranks.len()
    }

    /// Returns empty memory for this rank's message in the next exchange. After this call, this rank no longer reads
    /// the last exchange.
    pub(crate) fn deposit(&mut self) -> &mut Vec<u64> {
        self.assert_ready();
        // SAFETY: this is the message of exchange `arrivals`. No rank reads it before we arrive in that exchange. Its
        // memory was last used for exchange `arrivals - 2`. We have seen exchange `arrivals - 1` complete, so every
        // rank had arrived in it. To arrive, a rank takes its end exclusively, which ends all its reading of
        // `arrivals - 2`.
        let message =
            self.shared.ranks[self.rank].messages[self.arrivals % 2].write(|message| unsafe { &mut *message });
        message.clear();
        message
    }

    /// Announces that this rank's message is complete. Without lines, the last rank to arrive folds all messages. If
    /// its fold panics, the exchange never completes, and the other ranks learn of the panic when that rank's end is
    /// dropped.
    pub(crate) fn arrive(&mut self, fold: Fold<'_>) {
        self.assert_ready();
        let exchange = self.arrivals;
        self.ring_if_unannounced();
        self.note_call(self.shared.head_of(self.rank, exchange));
        // Release: publishes this rank's deposit, and its earlier messages to neighbours. Pairs with the Acquire in
        // `missing_from`.
        self.shared.ranks[self.rank].arrivals.store(exchange + 1, Ordering::Release);
        if self.shared.has_lines {
            let rank = &self.shared.ranks[self.rank];
            // SAFETY: this is our own message, which nothing writes before our next `deposit` but one.
            let message = rank.messages[exchange % 2].read(|message| unsafe { &*message });
            // SAFETY: as in `deposit`: no rank reads this line before we have arrived, and the reads of its last use
            // are over.
            unsafe { rank.lines[exchange % 2].publish(exchange + 1, message) };
            (self.arrivals, self.is_waiting, self.seen) = (exchange + 1, true, 0);
            self.is_unannounced = true;
            return;
        }
        if self.shared.counter.arrive(exchange, self.size()) {
            // Until the fold is done, this rank counts as not arrived. If the fold panics, the other ranks learn of the
            // panic when this end is dropped, and this end refuses to continue.
            self.is_broken = true;
            let shared = &*self.shared;
            // SAFETY: we are the last to arrive; and by the argument in `deposit`, no rank reads what was folded two
            // exchanges ago.
            unsafe { shared.counter.complete(exchange, |folded| fold(&Deposits { shared, exchange }, folded)) };
            self.is_broken = false;
            self.shared.ring();
        }
        self.arrivals = exchange + 1;
        self.is_waiting = true;
    }

    /// Records a call, so that other ranks can compare it.
    fn note_call(&mut self, head: [u64; 2]) {
        self.shared.ranks[self.rank].log.note(&mut self.pen, head);
    }

    /// Wakes sleepers, if this rank has arrived by its line and has not looked for sleepers yet.
    fn ring_if_unannounced(&mut self) {
        if std::mem::take(&mut self.is_unannounced) {
            self.shared.ring();
        }
    }

    /// With lines, folds the messages of the last completed exchange; without lines, another rank has folded them.
    pub(crate) fn fold(&mut self, fold: Fold<'_>) {
        if self.shared.has_lines {
            let mut folded = std::mem::take(&mut self.folded);
            folded.clear();
            fold(&Deposits { shared: &self.shared, exchange: self.exchange() }, &mut folded);
            self.folded = folded;
        }
    }

    /// Whether each rank folds for itself, so that it can write the result where it wants.
    pub(crate) fn folds_alone(&self) -> bool {
        self.shared.has_lines
    }

    /// Whether this rank has arrived in an exchange that it has not yet seen completed.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Waits until all ranks have arrived and, without lines, the fold is done. Returns an error with the reason if the
    /// exchange can never complete.
    ///
    /// Cancel-safe: a wait can be interrupted and resumed.
    pub(crate) fn poll_complete(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Trouble>> {
        let mut spins = self.shared.spins;
        let first_looks = spins.saturating_sub(LOOKS_FIRST);
        while !self.is_complete() {
            if spins == first_looks {
                self.ring_if_unannounced();
            }
            if spins > 0 {
                if spins < first_looks {
                    spin_loop();
                }
                spins -= 1;
                continue;
            }
            self.ring_if_unannounced();
            self.sleep(context.waker());
            let missing = self.missing();
            if self.is_complete() {
                break;
            }
            if let Some(trouble) = missing {
                self.get_up();
                self.note(trouble);
                return Poll::Ready(Err(trouble));
            }
            return Poll::Pending;
        }
        self.ring_if_unannounced();
        self.get_up();
        self.is_waiting = false;
        Poll::Ready(Ok(()))
    }

    /// Returns a rank that has not arrived in the exchange that this rank waits for, by its number in the world.
    pub(crate) fn absent(&self) -> Option<usize> {
        // Relaxed: the answer only names a rank in an error, and no message is read.
        let has_arrived = |rank: &CachePadded<Rank>| rank.arrivals.load(Ordering::Relaxed) >= self.arrivals;
        let rank = self.shared.ranks.iter().position(|rank| !has_arrived(rank))?;
        Some(self.shared.members[rank])
    }

    /// Returns the message of a rank in the last completed exchange.
    pub(crate) fn deposited(&self, rank: usize) -> &[u64] {
        assert!(!self.is_waiting, "messages are read after their exchange is complete");
        self.shared.message(rank, self.exchange())
    }

    /// Returns the result of the fold in the last completed exchange.
    pub(crate) fn folded(&self) -> &[u64] {
        assert!(!self.is_waiting, "messages are read after their exchange is complete");
        if self.shared.has_lines {
            return &self.folded;
        }
        // SAFETY: we have seen the exchange complete. The next exchange but one begins after our arrival in the next,
        // which takes this end exclusively.
        unsafe { self.shared.counter.folded(self.exchange()) }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.get_up();
        self.shared.seats[self.rank].leave();
        let Self { world, arrivals, culprit, .. } = *self;
        self.shared.endings.lock().push(Ending { world, arrivals, culprit });
        // Relaxed: ordered by the fence in `ring`.
        self.shared.left.fetch_add(1, Ordering::Relaxed);
        self.shared.ring();
        self.shared.seats.iter().for_each(|seat| seat.wake(&self.shared));
        // This rank will no longer take its ends of new groups. They are dropped outside the lock, because each rings
        // its own group.
        let not_taken: Vec<Endpoint> = {
            let mut parts = self.shared.parts.lock();
            let mine = |part: &mut Part| {
                let place = part.ends.iter().position(|end| end.world == world)?;
                Some(part.ends.remove(place))
            };
            let not_taken = parts.iter_mut().filter_map(mine).collect();
            parts.retain(|part| !part.ends.is_empty());
            not_taken
        };
        for mut end in not_taken {
            end.blame(culprit);
        }
    }
}
