//! Decides when a worker may sleep and what wakes it. The protocol, its bad interleavings and the reasons why they
//! cannot happen are in `SLEEP.md` beside this file.
//!
//! Two ideas. A worker without work is first *searching*, and only a searcher may fall asleep, after a last look. A
//! thread that queues work for all workers wakes a sleeper only if none is searching. While some workers are awake and
//! others sleep, one of the sleepers is on *watch*. Every half thousandth of a second it gets up to see whether work
//! waits behind a long job. So a worker that queues work for itself, as every message between tasks does, pays one
//! load, no fence and no system call.

use std::time::Duration;

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicBool, AtomicUsize, Ordering, SpinLock, fence, thread};

/// The number of times the sleeper on watch gets up: half a thousandth of a second, of which it uses about a hundredth.
pub(crate) const WATCH: Duration = Duration::from_micros(500);

/// The first look of a sleeper on watch, for it may have fallen asleep just before there was work.
const FIRST_LOOK: Duration = Duration::from_micros(50);

/// A job that is still running after this many looks of the watch, its falling asleep being one, is long.
const LONG: usize = 2;

/// A worker that queues so much for itself does not leave it to the watch to notice.
const CROWD: usize = 16;

/// One searching worker, in the low half of the word.
const SEARCHING: usize = 1;
/// One sleeping worker, in the high half of the word.
const SLEEPING: usize = 1 << (usize::BITS / 2);
/// The low half but its highest bit: how many workers are searching.
const SEARCHING_MASK: usize = WATCHED - 1;
/// The highest bit of the low half: a sleeper is on watch.
const WATCHED: usize = SLEEPING >> 1;

/// The searchers, the sleepers, the watch, and the bell.
///
/// | bits of `word` | meaning | who changes it |
/// | --- | --- | --- |
/// | low half but one bit | workers searching | `start_search`, `stop_search`; `sleep` (down); the thread that takes a sleeper off `list` (up, for it) |
/// | highest of the low half | one of `list` is on watch | as the next row |
/// | high half | workers in `list` | `sleep`, `wake_one`, `wake_all`, under the lock of `list` |
pub struct Sleep {
    /// The table above. Read by every post, written when a worker changes between running, searching and sleeping.
    word: CachePadded<AtomicUsize>,
    /// The sleepers, the latest last: it is woken first, its caches being the warmest.
    list: SpinLock<Vec<Sleeper>>,
    /// By worker: set once by the thread that took it off `list`, cleared by the worker when it gets up.
    woken: Box<[CachePadded<AtomicBool>]>,
    /// The number of workers that are at work or asleep: a spare counts while it is in the place of another.
    everybody: usize,
    /// The number of times the watch looks; without it every queued job rings as if it were for all workers.
    watch: Option<Duration>,
    /// The number of times it has looked, which shows a worker without a clock whether its job is long.
    looks: CachePadded<AtomicUsize>,
}

struct Sleeper {
    worker: usize,
    thread: thread::Thread,
    is_on_watch: bool,
}

impl Sleeper {
    /// Returns the amount to subtract from the word when this sleeper becomes a searcher.
    fn weight(&self) -> usize {
        SLEEPING - SEARCHING + if self.is_on_watch { WATCHED } else { 0 }
    }
}

/// The finding of a sleeper on watch when it gets up.
enum Relief {
    /// Somebody took it off the list, and rings.
    Called,
    /// Everybody sleeps: there is nothing to watch.
    Quiet,
    /// Some are awake.
    Needed,
}

impl Sleep {
    /// No worker searches, none sleeps, and there are no spares.
    #[cfg(any(loom, shuttle))]
    pub fn new(workers: usize, watch: Option<Duration>) -> Self {
        Self::with_spares(workers, 0, watch)
    }

    /// No worker searches, none sleeps. There are places for spare threads, which take part in place of a worker.
    /// `watch` is how often the sleeper on watch gets up.
    pub fn with_spares(everybody: usize, spares: usize, watch: Option<Duration>) -> Self {
        let workers = everybody + spares;
        assert!(workers < SEARCHING_MASK, "more workers than the word can count");
        Self {
            word: CachePadded::new(AtomicUsize::new(0)),
            list: SpinLock::new(Vec::with_capacity(workers)),
            everybody,
            woken: (0..workers).map(|_| CachePadded::new(AtomicBool::new(false))).collect(),
            watch,
            looks: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Returns the number of times the watch has looked, to be kept when a job begins and given to
    /// [`notify_near`](Self::notify_near).
    #[inline]
    pub fn looks(&self) -> usize {
        // Relaxed: a measure of time, nothing more.
        self.looks.load(Ordering::Relaxed)
    }

    /// The watch looks. Two may at once, when one has just been taken off: a look that is not counted does no harm.
    fn count_look(&self) {
        // Relaxed: as in `looks`.
        self.looks.store(self.looks().wrapping_add(1), Ordering::Relaxed);
    }

    /// Announces work for all workers: wakes a sleeper if none is searching. Call it after the work is in its queue.
    pub fn notify(&self) {
        // Orders the caller's write to a queue before the load below, against the fences in `sleep` and `stop_search`,
        // which order a change of `word` before a look at the queues: one of the two sees the other.
        fence(Ordering::SeqCst);
        // Relaxed: the fence above is what orders it.
        let word = self.word.load(Ordering::Relaxed);
        if word & SEARCHING_MASK == 0 && word >= SLEEPING {
            self.wake_one();
        }
    }

    /// Returns whether a worker sleeps and none searches: a task queued now is seen by none soon, without a ring.
    /// Perhaps out of date.
    #[inline]
    pub fn is_nobody_looking(&self) -> bool {
        // Relaxed and without a fence: as in `notify_near`; what is missed here, the watch sees.
        let word = self.word.load(Ordering::Relaxed);
        word & SEARCHING_MASK == 0 && word >= SLEEPING
    }

    /// Returns whether a sleeper is on watch, which will see queued tasks. Perhaps out of date.
    pub fn is_watched(&self) -> bool {
        // Relaxed: as above. It falls only when everybody sleeps, which the caller does not.
        self.word.load(Ordering::Relaxed) & WATCHED != 0
    }

    /// Says that a worker has queued work for itself, now `queued` jobs, in a job that began when the watch had looked
    /// `since` times. The worker will reach that work itself. A sleeper is woken only if no watch would notice that
    /// this takes long, if the job is already long, or if many jobs wait.
    #[inline]
    pub fn notify_near(&self, since: usize, queued: impl FnOnce() -> usize) {
        if self.watch.is_none() {
            return self.notify();
        }
        // Relaxed and without a fence: the caller is awake, so whoever falls asleep meanwhile sees that not everybody
        // sleeps, and goes on watch unless somebody is; SLEEP.md, case 6.
        let word = self.word.load(Ordering::Relaxed);
        if word & SEARCHING_MASK == 0
            && word >= SLEEPING
            && (word & WATCHED == 0 || self.looks().wrapping_sub(since) >= LONG || queued() >= CROWD)
        {
            self.wake_one();
        }
    }

    /// The worker has run out of work and starts to look for some.
    pub fn start_search(&self) {
        // Relaxed: a searcher publishes nothing; a poster that misses it wakes one worker too many.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
    }

    /// The worker has found work. If it was the only searcher, posters may have relied on it. Then it must look at the
    /// queues once more and, if they hold work, call [`notify`](Self::notify). Returns whether that is so.
    #[must_use]
    pub fn stop_search(&self) -> bool {
        // Relaxed, then a fence only where it matters; see `notify`.
        let before = self.word.fetch_sub(SEARCHING, Ordering::Relaxed);
        let was_last = before & SEARCHING_MASK == SEARCHING;
        if was_last {
            // Orders the decrement before the caller's look at the queues. Pairs with the fence in `notify`.
            fence(Ordering::SeqCst);
        }
        was_last
    }

    /// A searching worker goes to sleep unless `is_wanted` finds a reason not to in a last look; it returns searching.
    pub fn sleep(&self, worker: usize, mut is_wanted: impl FnMut() -> bool) {
        let mut is_on_watch = {
            let mut list = self.list.lock();
            // Relaxed: under the lock, which every change of the high half and of the watch takes.
            let word = self.word.load(Ordering::Relaxed);
            let is_on_watch = self.watch.is_some() && word & WATCHED == 0 && list.len() + 1 < self.everybody;
            let sleeper = Sleeper { worker, thread: thread::current(), is_on_watch };
            // Relaxed: under the lock, and ordered against posters by the fence below.
            self.word.fetch_add(sleeper.weight(), Ordering::Relaxed);
            list.push(sleeper);
            is_on_watch
        };
        if is_on_watch {
            self.count_look();
        }
        // Orders the change of `word` before the last look. Pairs with the fence in `notify`: a poster either sees us
        // asleep, or queued its work early enough for the last look to see it.
        fence(Ordering::SeqCst);
        if is_wanted() && self.stay_awake(worker) {
            return;
        }
        // Pairs with the Release store in `rouse`; what was queued before the bell is visible after it.
        let mut pause = FIRST_LOOK;
        while !self.woken[worker].put_down() {
            let Some(watch) = self.watch.filter(|_| is_on_watch) else {
                thread::park();
                continue;
            };
            thread::park_timeout(pause.min(watch));
            pause = watch;
            self.count_look();
            match self.relieve(worker) {
                Relief::Called => is_on_watch = false,
                Relief::Quiet => is_on_watch = false,
                Relief::Needed => {
                    if is_wanted() && self.stay_awake(worker) {
                        return;
                    }
                }
            }
        }
    }

    /// Ends the watch of a sleeper if there is nothing to watch.
    fn relieve(&self, worker: usize) -> Relief {
        let mut list = self.list.lock();
        let everybody_sleeps = list.len() >= self.everybody;
        let Some(sleeper) = list.iter_mut().find(|sleeper| sleeper.worker == worker) else { return Relief::Called };
        if !everybody_sleeps {
            return Relief::Needed;
        }
        sleeper.is_on_watch = false;
        // Relaxed: under the lock. Whoever is woken from here on sees, when it queues work for itself, that nobody is
        // on watch.
        self.word.fetch_sub(WATCHED, Ordering::Relaxed);
        Relief::Quiet
    }

    /// Wakes all workers: the dispatcher is ending.
    pub fn wake_all(&self) {
        let sleepers: Vec<Sleeper> = {
            let mut list = self.list.lock();
            let sleepers = std::mem::take(&mut *list);
            for sleeper in &sleepers {
                // Relaxed: under the lock.
                self.word.fetch_sub(sleeper.weight(), Ordering::Relaxed);
            }
            sleepers
        };
        for sleeper in sleepers {
            self.rouse(&sleeper);
        }
    }

    /// Wakes this one; false if it does not sleep.
    pub fn call_back(&self, worker: usize) -> bool {
        let sleeper = {
            let mut list = self.list.lock();
            let Some(position) = list.iter().position(|sleeper| sleeper.worker == worker) else { return false };
            let sleeper = list.remove(position);
            // Relaxed: under the lock.
            self.word.fetch_sub(sleeper.weight(), Ordering::Relaxed);
            sleeper
        };
        self.rouse(&sleeper);
        true
    }

    fn wake_one(&self) {
        let sleeper = {
            let mut list = self.list.lock();
            // Relaxed: under the lock, which every change of the high half and every falling asleep takes. If somebody
            // else has been roused meanwhile, that worker searches and will see our work; see SLEEP.md, case 3.
            if self.word.load(Ordering::Relaxed) & SEARCHING_MASK != 0 {
                return;
            }
            let Some(sleeper) = list.pop() else { return };
            // Relaxed: under the lock. The woken one counts as searching from here on, so that the next poster need not
            // wake another.
            self.word.fetch_sub(sleeper.weight(), Ordering::Relaxed);
            sleeper
        };
        self.rouse(&sleeper);
    }

    fn rouse(&self, sleeper: &Sleeper) {
        // Release: pairs with `put_down` in `sleep`.
        self.woken[sleeper.worker].store(true, Ordering::Release);
        sleeper.thread.unpark();
    }

    /// Takes the worker off the list again; false if another thread took it off first, which will then rouse it.
    fn stay_awake(&self, worker: usize) -> bool {
        let mut list = self.list.lock();
        let Some(position) = list.iter().position(|sleeper| sleeper.worker == worker) else { return false };
        let sleeper = list.remove(position);
        // Relaxed: under the lock.
        self.word.fetch_sub(sleeper.weight(), Ordering::Relaxed);
        true
    }
}
