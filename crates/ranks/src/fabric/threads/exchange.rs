//! Collectives between ranks of one process: messages stay where they are written, and one counter and one flag synchronise.
//!
//! Each rank deposits a message, all arrive, the last to arrive folds, and afterwards each rank may read what every rank
//! deposited and what the fold made of it. Cost of an exchange: each message is written once and read where it was written; one
//! synchronisation in which each rank waits at most once; no allocation once the messages have reached their lengths.
//!
//! There are two sets of buffers, used in turn, so that an exchange needs one synchronisation and not two: a rank writes the
//! buffers of exchange e + 2 over those of exchange e only after exchange e + 1 is complete, and a rank arrives in e + 1 only
//! after it has read what it wanted of e.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `arrived` | arrivals since the beginning, all exchanges together | each rank, once per exchange |
//! | `completed` | exchanges completed | the last to arrive |
//! | `sleeping` | ranks that have left a waker or are about to | each waiting rank, up and down |
//! | `left` | ranks that have ended | each rank once, when its end is dropped |
//!
//! **Lines.** Where every rank has a core, the counter would be what all wait for. There each rank has a line instead, two of them in turn: a flag, and the message
//! itself if it is short, so that it crosses together with the news that it is there. Each rank looks at all lines and folds for itself; what is folded is
//! the same, so the result is.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Line::arrived` | exchanges in which the rank has arrived, as far as this line is used for them | its rank, once per exchange |
//!
//! A waiting rank spins for a short while if ranks and workers allow it, and then suspends, so that ranks may outnumber cores.
#![allow(unsafe_code, reason = "messages are read by other ranks where they were written")]

use std::task::{Context, Poll, Waker};

use crossbeam_utils::CachePadded;

use crate::sync::{Arc, AtomicUsize, Cell, Mutex, Ordering, fence, spin_loop};

/// Looks at `completed` before a rank suspends, when it may spin: some tens of microseconds, about what it costs to wake a
/// sleeping core.
const SPINS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 1000 };

/// The most ranks that look at each other's lines.
const LINES_MAX: usize = 32;

/// Words of a message that fit in a line of 64 bytes beside its flag and its length.
const SHORT: usize = 6;

/// What the last to arrive makes of the deposits: written to a buffer that is empty at first.
pub(crate) type Fold<'a> = &'a mut dyn FnMut(&Deposits<'_>, &mut Vec<u64>);

/// What all ends share.
struct Shared {
    /// The world's number of each rank.
    members: Box<[usize]>,
    ranks: Box<[CachePadded<Rank>]>,
    /// What the folds made, for even and for odd exchanges. Written by the last to arrive.
    folded: [CachePadded<Cell<Vec<u64>>>; 2],
    arrived: CachePadded<AtomicUsize>,
    completed: CachePadded<AtomicUsize>,
    sleeping: CachePadded<AtomicUsize>,
    left: CachePadded<AtomicUsize>,
    /// In the order of their happening.
    endings: Mutex<Vec<Ending>>,
    spins: u32,
    /// Whether ranks look at each other's lines and fold for themselves.
    has_lines: bool,
    /// Groups of some of these ranks, whose ends have not all been taken yet.
    parts: Mutex<Vec<Part>>,
}

/// The ends of a group of some of the ranks, until those take them.
struct Part {
    /// Which: the number of the new communicator, and its first rank by the world's number.
    name: (u32, usize),
    ends: Vec<Endpoint>,
}

/// A rank's message, if it is short, and that it is there.
#[repr(C)]
struct Line {
    arrived: AtomicUsize,
    message: Cell<Short>,
}

/// A message of at most `SHORT` words; if its length is greater, it is where long ones are.
#[repr(C)]
struct Short {
    length: usize,
    words: [u64; SHORT],
}

/// What one rank writes and the others read.
struct Rank {
    /// For even and for odd exchanges.
    lines: [CachePadded<Line>; 2],
    /// Its messages, for even and for odd exchanges.
    messages: [Cell<Vec<u64>>; 2],
    /// How many exchanges it has arrived in, for those who ask who is late.
    arrivals: AtomicUsize,
    /// Whom to wake when an exchange is complete, or never will be.
    waker: Mutex<Option<Waker>>,
}

/// That a rank has ended.
struct Ending {
    /// The rank, by the world's number.
    world: usize,
    /// In how many exchanges the rank had arrived.
    arrivals: usize,
    /// The rank because of which it ended, by the world's number: itself, unless it was told of another.
    culprit: usize,
}

// SAFETY: the cells are accessed by the protocol of the module's page: a message by its owner alone between `deposit` and
// `arrive`, by the last to arrive during its fold, and by all, shared, between completion and their own next arrival but one.
unsafe impl Sync for Shared {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for Shared {}

/// One rank's end; see [`endpoints`].
pub(crate) struct Endpoint {
    shared: Arc<Shared>,
    rank: usize,
    /// Exchanges in which this rank has arrived.
    arrivals: usize,
    is_waiting: bool,
    /// With lines: how many ranks, from the first on, were seen to have arrived in the exchange that this one waits for.
    seen: usize,
    /// With lines: what this rank folded in the exchange that was completed last.
    folded: Vec<u64>,
    /// Whether this end counts in `sleeping`.
    is_sleeping: bool,
    /// Whether a fold panicked here, so that the exchange in progress can never be completed.
    is_broken: bool,
    /// This rank's number in the world.
    world: usize,
    /// The rank because of which this one ends, as far as it knows, by the world's number.
    culprit: usize,
}

/// The ends of a new group of the ranks with these numbers in the world, in order. `may_spin` says that every rank has a core to itself.
pub(crate) fn endpoints(members: &[usize], may_spin: bool) -> Vec<Endpoint> {
    let size = members.len();
    let ranks = (0..size).map(|_| {
        CachePadded::new(Rank {
            lines: [Line::new(), Line::new()],
            messages: [Cell::new(Vec::new()), Cell::new(Vec::new())],
            arrivals: AtomicUsize::new(0),
            waker: Mutex::new(None),
        })
    });
    let zero = || CachePadded::new(AtomicUsize::new(0));
    let shared = Arc::new(Shared {
        members: members.into(),
        ranks: ranks.collect(),
        folded: [CachePadded::new(Cell::new(Vec::new())), CachePadded::new(Cell::new(Vec::new()))],
        arrived: zero(),
        completed: zero(),
        sleeping: zero(),
        left: zero(),
        endings: Mutex::default(),
        spins: if may_spin { SPINS } else { 0 },
        has_lines: may_spin && size <= LINES_MAX,
        parts: Mutex::default(),
    });
    let end = |rank| Endpoint {
        shared: shared.clone(),
        rank,
        arrivals: 0,
        is_waiting: false,
        seen: 0,
        folded: Vec::new(),
        is_sleeping: false,
        is_broken: false,
        world: members[rank],
        culprit: members[rank],
    };
    (0..size).map(end).collect()
}

impl Line {
    fn new() -> CachePadded<Self> {
        let message = Cell::new(Short { length: 0, words: [0; SHORT] });
        CachePadded::new(Self { arrived: AtomicUsize::new(0), message })
    }
}

impl Shared {
    /// Wakes every rank that has gone to sleep.
    fn ring(&self) {
        // Orders the caller's news (completion, or a rank that left) before the load below. Pairs with the fence in
        // `Endpoint::sleep`: either the load sees that rank, or that rank sees the news.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if self.sleeping.load(Ordering::Relaxed) == 0 {
            return;
        }
        for rank in &self.ranks {
            let waker = rank.waker.lock().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn message(&self, rank: usize, exchange: usize) -> &[u64] {
        if self.has_lines {
            // SAFETY: as below; the line is written before its flag, in `arrive`, and again two exchanges later.
            let short = self.ranks[rank].lines[exchange % 2].message.read(|short| unsafe { &*short });
            if let Some(words) = short.words.get(..short.length) {
                return words;
            }
        }
        // SAFETY: called by those whom the protocol lets read this message now, and the slice does not outlive that right: it
        // borrows from an `Endpoint` whose next `deposit` or `arrive` needs it exclusively, or from the fold.
        self.ranks[rank].messages[exchange % 2].read(|message| unsafe { &*message })
    }
}

/// The deposits of one exchange, while the last to arrive folds them.
pub(crate) struct Deposits<'a> {
    shared: &'a Shared,
    exchange: usize,
}

impl<'a> Deposits<'a> {
    /// How many ranks there are.
    pub(crate) fn size(&self) -> usize {
        self.shared.ranks.len()
    }

    /// The message of a rank.
    pub(crate) fn of(&self, rank: usize) -> &'a [u64] {
        self.shared.message(rank, self.exchange)
    }
}

impl Endpoint {
    /// The exchange that this rank arrived in last.
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
            // Acquire: pairs with the Release in `arrive`; the rank's message is visible.
            let has_arrived = |rank: &Rank| rank.lines[parity].arrived.load(Ordering::Acquire) >= self.arrivals;
            self.seen += self.shared.ranks[self.seen..].iter().take_while(|rank| has_arrived(rank)).count();
            return self.seen == self.size();
        }
        // Acquire: pairs with the Release in `arrive`; all messages and the fold are visible.
        self.shared.completed.load(Ordering::Acquire) >= self.arrivals
    }

    /// The rank because of which the exchange that this rank waits for will not be completed: of those that ended before they
    /// arrived in it, the culprit of the first.
    fn missing(&self) -> Option<usize> {
        // Relaxed: the locks below order what is read; a rank that leaves later rings again.
        if self.shared.left.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let endings = self.shared.endings.lock();
        endings.iter().find(|ending| ending.arrivals < self.arrivals).map(|ending| ending.culprit)
    }

    fn sleep(&mut self, waker: &Waker) {
        let replaced = self.shared.ranks[self.rank].waker.lock().replace(waker.clone());
        drop(replaced);
        if !self.is_sleeping {
            self.is_sleeping = true;
            // Relaxed: ordered by the fence below.
            self.shared.sleeping.fetch_add(1, Ordering::Relaxed);
        }
        // Orders the count before the caller's last look. Pairs with the fence in `ring`.
        fence(Ordering::SeqCst);
    }

    fn get_up(&mut self) {
        if self.is_sleeping {
            self.is_sleeping = false;
            // Relaxed: too high a count costs a look at the wakers, no more.
            self.shared.sleeping.fetch_sub(1, Ordering::Relaxed);
            let waker = self.shared.ranks[self.rank].waker.lock().take();
            drop(waker);
        }
    }
}

impl Endpoint {
    /// This rank's end of a group of some of these ranks, with these numbers in the world, of which it is one. All of them ask, and the
    /// communicator's `number` tells this group from others.
    pub(crate) fn part(&self, number: u32, members: &[usize]) -> Self {
        let name = (number, members[0]);
        // Dropped after the lock is given back: each rings its group.
        let mut orphans = Vec::new();
        let mut parts = self.shared.parts.lock();
        let place = parts.iter().position(|part| part.name == name).unwrap_or_else(|| {
            let ends = endpoints(members, self.shared.spins > 0);
            // Who has ended will not come for its end. Who ends later finds it here: it notes its ending before it looks.
            let endings = self.shared.endings.lock();
            let culprit =
                |end: &Endpoint| endings.iter().find(|ending| ending.world == end.world).map(|ending| ending.culprit);
            let mut wanted = Vec::new();
            for mut end in ends {
                if let Some(culprit) = culprit(&end) {
                    end.blame(culprit);
                    orphans.push(end);
                } else {
                    wanted.push(end);
                }
            }
            parts.push(Part { name, ends: wanted });
            parts.len() - 1
        });
        let ends = &mut parts[place].ends;
        let mine = ends.iter().position(|end| end.world == self.world).expect("this rank is one of the members");
        let end = ends.remove(mine);
        if ends.is_empty() {
            parts.remove(place);
        }
        drop(parts);
        drop(orphans);
        end
    }

    /// Says because of which rank this one will end, by the world's number.
    pub(crate) fn blame(&mut self, culprit: usize) {
        self.culprit = culprit;
    }
}

/// The calls of an exchange come in this order.
impl Endpoint {
    /// How many ranks there are.
    pub(crate) fn size(&self) -> usize {
        self.shared.ranks.len()
    }

    /// Empty memory for this rank's message in the next exchange. Ends the reading of the last.
    pub(crate) fn deposit(&mut self) -> &mut Vec<u64> {
        self.assert_ready();
        // SAFETY: this is the message of exchange `arrivals`. Nobody reads it before we arrive in that exchange. Its memory
        // was last used for exchange `arrivals - 2`; we have seen exchange `arrivals - 1` complete, so every rank had arrived
        // in that one, which takes its end exclusively and so ends all reading of `arrivals - 2`.
        let message =
            self.shared.ranks[self.rank].messages[self.arrivals % 2].write(|message| unsafe { &mut *message });
        message.clear();
        message
    }

    /// Says that the message is complete. The last rank to say so folds all messages, unless there are lines; if its fold panics, the exchange never
    /// completes, and the others are told when this end is dropped.
    pub(crate) fn arrive(&mut self, fold: Fold<'_>) {
        self.assert_ready();
        let exchange = self.arrivals;
        // Relaxed: nothing is read because of it but the number itself.
        self.shared.ranks[self.rank].arrivals.store(exchange + 1, Ordering::Relaxed);
        if self.shared.has_lines {
            let rank = &self.shared.ranks[self.rank];
            let line = &rank.lines[exchange % 2];
            // SAFETY: our own message, which nobody reads before we have arrived; see `deposit`.
            let message = rank.messages[exchange % 2].read(|message| unsafe { &*message });
            // SAFETY: as in `deposit`: nobody reads this line before we have arrived, nor from its last use on.
            let short = line.message.write(|short| unsafe { &mut *short });
            short.length = message.len();
            if let Some(words) = short.words.get_mut(..message.len()) {
                words.copy_from_slice(message);
            }
            // Release: publishes our message, and that we have read what we wanted of earlier exchanges. Pairs with the Acquire in `is_complete`.
            line.arrived.store(exchange + 1, Ordering::Release);
            (self.arrivals, self.is_waiting, self.seen) = (exchange + 1, true, 0);
            self.shared.ring();
            return;
        }
        // Release: publishes our message, and that we have read what we wanted of earlier exchanges. Acquire: the last to
        // arrive sees the same of all others, whose additions stand before its own.
        let before = self.shared.arrived.fetch_add(1, Ordering::AcqRel);
        if before + 1 == (exchange + 1) * self.size() {
            // Until the fold is done this rank counts as one that has not arrived: if the fold panics, the others are told
            // so when this end is dropped, and this end refuses to go on.
            self.is_broken = true;
            // SAFETY: we are the last to arrive in this exchange, so nobody else writes; and nobody reads this buffer, last
            // used two exchanges ago, by the argument of `deposit`.
            let folded = self.shared.folded[exchange % 2].write(|folded| unsafe { &mut *folded });
            folded.clear();
            fold(&Deposits { shared: &self.shared, exchange }, folded);
            self.is_broken = false;
            // Release: pairs with the Acquire in `is_complete`.
            self.shared.completed.store(exchange + 1, Ordering::Release);
            self.shared.ring();
        }
        self.arrivals = exchange + 1;
        self.is_waiting = true;
    }

    /// With lines, folds the messages of the exchange that was completed last; otherwise somebody has.
    pub(crate) fn fold(&mut self, fold: Fold<'_>) {
        if self.shared.has_lines {
            let mut folded = std::mem::take(&mut self.folded);
            folded.clear();
            fold(&Deposits { shared: &self.shared, exchange: self.exchange() }, &mut folded);
            self.folded = folded;
        }
    }

    /// Whether this rank has arrived in an exchange that it has not yet seen completed.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Waits until all have arrived and the fold is done; on failure, names the rank because of which that will not
    /// be, by the world's number.
    ///
    /// Cancel-safe: it may be given up and taken up again.
    pub(crate) fn poll_complete(&mut self, context: &mut Context<'_>) -> Poll<Result<(), usize>> {
        let mut spins = self.shared.spins;
        while !self.is_complete() {
            if spins > 0 {
                spins -= 1;
                spin_loop();
                continue;
            }
            self.sleep(context.waker());
            if self.is_complete() {
                break;
            }
            if let Some(rank) = self.missing() {
                // Between the two looks the exchange may have been completed and the rank have left after it; then it does
                // not count as missing, because it arrived.
                self.get_up();
                self.culprit = rank;
                return Poll::Ready(Err(rank));
            }
            return Poll::Pending;
        }
        self.get_up();
        self.is_waiting = false;
        Poll::Ready(Ok(()))
    }

    /// A rank that has not arrived in the exchange that this rank waits for, by the world's number.
    pub(crate) fn absent(&self) -> Option<usize> {
        // Relaxed: see `arrive`.
        let has_arrived = |rank: &CachePadded<Rank>| rank.arrivals.load(Ordering::Relaxed) >= self.arrivals;
        let rank = self.shared.ranks.iter().position(|rank| !has_arrived(rank))?;
        Some(self.shared.members[rank])
    }

    /// The message of a rank in the exchange that was completed last.
    pub(crate) fn deposited(&self, rank: usize) -> &[u64] {
        assert!(!self.is_waiting, "messages are read after their exchange is complete");
        self.shared.message(rank, self.exchange())
    }

    /// What the fold made of the exchange that was completed last.
    pub(crate) fn folded(&self) -> &[u64] {
        assert!(!self.is_waiting, "messages are read after their exchange is complete");
        if self.shared.has_lines {
            return &self.folded;
        }
        // SAFETY: written before completion, which we have seen, and not again before we arrive in the next exchange but one,
        // which takes this end exclusively.
        self.shared.folded[self.exchange() % 2].read(|folded| unsafe { &*folded })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.get_up();
        let Self { world, arrivals, culprit, .. } = *self;
        self.shared.endings.lock().push(Ending { world, arrivals, culprit });
        // Relaxed: ordered by the fence in `ring`.
        self.shared.left.fetch_add(1, Ordering::Relaxed);
        self.shared.ring();
        // This rank will not take its ends of new groups any more. Dropped outside the lock: each rings its own group.
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
