//! Decides when a worker may sleep and what wakes it. For the protocol, its bad interleavings and the reasons why they
//! cannot happen, see `SLEEP.md` beside this file.
//!
//! The protocol has two ideas. A worker without work is first *searching*, and only a searcher may fall asleep, after a
//! last look. A thread that queues work for all workers wakes a sleeper only if no worker is searching. While some
//! workers are awake and others sleep, one of the sleepers is on *watch*. Every half millisecond, this sleeper gets up
//! to see whether work waits behind a long job. So a worker that queues work for itself, as every message between tasks
//! does, pays one load, no fence and no system call.

use std::time::Duration;

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicBool, AtomicUsize, Ordering, SpinLock, fence, thread};

/// The interval at which the sleeper on watch gets up: half a millisecond, of which it uses about a hundredth.
pub(crate) const WATCH: Duration = Duration::from_micros(500);

/// The time until the first look of a sleeper on watch. The time is short, because the worker may have fallen asleep
/// just before there was work.
const FIRST_LOOK: Duration = Duration::from_micros(50);

/// A job that is still running after this many looks of the watch counts as long. Falling asleep counts as a look.
const LONG: usize = 2;

/// The queue length at which a worker wakes a sleeper at once and does not rely on the watch.
const CROWD: usize = 16;

/// The amount for one searching worker, in the low half of the word.
const SEARCHING: usize = 1;
/// The amount for one sleeping worker, in the high half of the word.
const SLEEPING: usize = 1 << (usize::BITS / 2);
/// The low half without its highest bit: the number of searching workers.
const SEARCHING_MASK: usize = WATCHED - 1;
/// The highest bit of the low half: set while a sleeper is on watch.
const WATCHED: usize = SLEEPING >> 1;

/// The state of the searchers, the sleepers and the watch.
///
/// | bits of `word` | meaning | who changes it |
/// | --- | --- | --- |
/// | low half without its highest bit | the number of searching workers | `start_search`, `stop_search`; `sleep`, which lowers it; the thread that takes a sleeper off `list`, which raises it on the sleeper's behalf |
/// | highest bit of the low half | 1 if a sleeper in `list` is on watch | the methods of the next row, and `relieve`, under the lock of `list` |
/// | high half | the number of workers in `list` | `sleep`, `stay_awake`, `wake_one`, `wake_all`, `call_back`, under the lock of `list` |
pub struct Sleep {
    /// The counts in the table above. Every post reads the word; a worker writes it when it changes between running,
    /// searching and sleeping.
    word: CachePadded<AtomicUsize>,
    /// The sleepers, in the order in which they fell asleep. The latest is woken first, because its caches are the
    /// warmest.
    list: SpinLock<Vec<Sleeper>>,
    /// For each worker, a flag that says that it was woken. The thread that takes the worker off `list` sets the flag
    /// once, and the worker clears it when it gets up.
    woken: Box<[CachePadded<AtomicBool>]>,
    /// The number of workers. A spare counts while it replaces a worker, which then does not count.
    everybody: usize,
    /// The interval of the watch. Without a watch, every queued job wakes a sleeper as if it were for all workers.
    watch: Option<Duration>,
    /// The number of looks of the watch. By this number, a worker sees without reading a clock whether its job is long.
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
    /// Another thread took the sleeper off the list, and rings.
    Called,
    /// All workers sleep, so no watch is needed.
    Quiet,
    /// Some workers are awake, so a watch is needed.
    Needed,
}

impl Sleep {
    /// Creates the state in which no worker searches or sleeps, without spares.
    #[cfg(any(loom, shuttle))]
    pub fn new(workers: usize, watch: Option<Duration>) -> Self {
        Self::with_spares(workers, 0, watch)
    }

    /// Creates the state in which no worker searches or sleeps. The state has places for `spares` spare threads, which
    /// take part in place of a worker. `watch` is the interval at which the sleeper on watch gets up.
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

    /// Returns the number of looks of the watch. A worker keeps the number of looks from the beginning of a job, and
    /// passes it to [`notify_near`](Self::notify_near).
    #[inline]
    pub fn looks(&self) -> usize {
        // Relaxed: only a measure of time.
        self.looks.load(Ordering::Relaxed)
    }

    /// Counts a look of the watch. Two sleepers may count a look at the same time, when one has just been taken off
    /// watch; a lost look does no harm.
    fn count_look(&self) {
        // Relaxed: as in `looks`.
        self.looks.store(self.looks().wrapping_add(1), Ordering::Relaxed);
    }

    /// Announces work for all workers: wakes a sleeper if no worker is searching. Call this method after the work is in
    /// its queue.
    pub fn notify(&self) {
        // Orders the caller's write to a queue before the load below. The fences in `sleep` and `stop_search` order a
        // change of `word` before a look at the queues. So one of the two sees the other.
        fence(Ordering::SeqCst);
        // Relaxed: the fence above orders it.
        let word = self.word.load(Ordering::Relaxed);
        if word & SEARCHING_MASK == 0 && word >= SLEEPING {
            self.wake_one();
        }
    }

    /// Returns whether a worker sleeps and no worker searches. If so, no worker will soon see a task that is queued
    /// now, unless a sleeper is woken. The result may be out of date.
    #[inline]
    pub fn is_nobody_looking(&self) -> bool {
        // Relaxed and without a fence: as in `notify_near`; the watch sees what is missed here.
        let word = self.word.load(Ordering::Relaxed);
        word & SEARCHING_MASK == 0 && word >= SLEEPING
    }

    /// Returns whether a sleeper is on watch, which will see queued tasks. The result may be out of date.
    pub fn is_watched(&self) -> bool {
        // Relaxed: as above. The bit is cleared only when all workers sleep, and the caller does not.
        self.word.load(Ordering::Relaxed) & WATCHED != 0
    }

    /// Announces that a worker has queued work for itself, now `queued` jobs, in a job that began when the watch had
    /// looked `since` times. The worker will reach that work itself. If no worker searches, a sleeper is woken in three
    /// cases: no sleeper is on watch, the job is already long, or many jobs wait. Without a watch, this method works as
    /// [`notify`](Self::notify) does.
    #[inline]
    pub fn notify_near(&self, since: usize, queued: impl FnOnce() -> usize) {
        if self.watch.is_none() {
            return self.notify();
        }
        // Relaxed and without a fence: the caller is awake, so a worker that falls asleep meanwhile sees that not all
        // workers sleep, and goes on watch unless another sleeper is; SLEEP.md, case 6.
        let word = self.word.load(Ordering::Relaxed);
        if word & SEARCHING_MASK == 0
            && word >= SLEEPING
            && (word & WATCHED == 0 || self.looks().wrapping_sub(since) >= LONG || queued() >= CROWD)
        {
            self.wake_one();
        }
    }

    /// Begins a search: the worker has run out of work.
    pub fn start_search(&self) {
        // Relaxed: a searcher publishes nothing; a poster that misses it wakes one worker too many.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
    }

    /// Ends a search, because the worker has found work or ends. Returns whether the worker was the only searcher. If
    /// so, posters may have relied on it, so the worker must look at the queues once more and, if they hold work, call
    /// [`notify`](Self::notify).
    #[must_use]
    pub fn stop_search(&self) -> bool {
        // Relaxed, followed by a fence only where it matters; see `notify`.
        let before = self.word.fetch_sub(SEARCHING, Ordering::Relaxed);
        let was_last = before & SEARCHING_MASK == SEARCHING;
        if was_last {
            // Orders the decrement before the caller's look at the queues. Pairs with the fence in `notify`.
            fence(Ordering::SeqCst);
        }
        was_last
    }

    /// Puts a searching worker to sleep unless `is_wanted` finds a reason against it in a last look. When this method
    /// returns, the worker is a searching worker again.
    pub fn sleep(&self, worker: usize, mut is_wanted: impl FnMut() -> bool) {
        let mut is_on_watch = {
            let mut list = self.list.lock();
            // Relaxed: under the lock, which is taken for every change of the high half and of the watch.
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
        // `put_down` pairs with the Release store in `rouse`; work that was queued before the ring is visible after it.
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
        // Relaxed: under the lock. A worker that is woken from here on sees, when it queues work for itself, that no
        // sleeper is on watch.
        self.word.fetch_sub(WATCHED, Ordering::Relaxed);
        Relief::Quiet
    }

    /// Wakes all workers, because the dispatcher is ending.
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

    /// Wakes this worker; returns false if it does not sleep.
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
            // Relaxed: under the lock, which is taken for every change of the high half, and so whenever a worker falls
            // asleep. If another worker has been woken meanwhile, that worker searches and will see our work; see
            // SLEEP.md, case 3.
            if self.word.load(Ordering::Relaxed) & SEARCHING_MASK != 0 {
                return;
            }
            let Some(sleeper) = list.pop() else { return };
            // Relaxed: under the lock. The woken worker counts as searching from here on, so that the next poster need
            // not wake another.
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

    /// Takes the worker off the list again; returns false if another thread took it off first, which will then wake it.
    fn stay_awake(&self, worker: usize) -> bool {
        let mut list = self.list.lock();
        let Some(position) = list.iter().position(|sleeper| sleeper.worker == worker) else { return false };
        let sleeper = list.remove(position);
        // Relaxed: under the lock.
        self.word.fetch_sub(sleeper.weight(), Ordering::Relaxed);
        true
    }
}
