//! When a worker may sleep and who wakes it. The protocol, its bad interleavings and why they cannot happen are in
//! `SLEEP.md` beside this file.
//!
//! The one idea: a worker without work is first *searching*, and only a searcher may fall asleep, after a last look at every
//! queue. Whoever queues work wakes a sleeper only if nobody is searching, so that a busy exchange of messages costs its
//! posters one fence and one load, and no system call.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, fence, thread};

/// One searching worker, in the low half of the word.
const SEARCHING: usize = 1;
/// One sleeping worker, in the high half of the word.
const SLEEPING: usize = 1 << (usize::BITS / 2);
/// The low half: how many workers are searching.
const SEARCHING_MASK: usize = SLEEPING - 1;

/// Who is searching, who sleeps, and the bell.
///
/// | bits of `word` | meaning | who changes it |
/// | --- | --- | --- |
/// | low half | workers searching | `start_search`, `stop_search`; `sleep` (down); `wake_one`, `wake_all` (up, for the woken) |
/// | high half | workers in `list` | `sleep`, `wake_one`, `wake_all`, under the lock of `list` |
pub struct Sleep {
    /// The table above. Read by every post, written when a worker changes between running, searching and sleeping.
    word: CachePadded<AtomicUsize>,
    /// Who sleeps, the latest last: it is woken first, its caches being the warmest.
    list: Mutex<Vec<Sleeper>>,
    /// By worker: set once by whoever took it off `list`, cleared by the worker when it gets up.
    woken: Box<[CachePadded<AtomicBool>]>,
}

struct Sleeper {
    worker: usize,
    thread: thread::Thread,
}

impl Sleep {
    /// Nobody searches, nobody sleeps.
    pub fn new(workers: usize) -> Self {
        assert!(workers < SEARCHING_MASK, "more workers than the word can count");
        Self {
            word: CachePadded::new(AtomicUsize::new(0)),
            list: Mutex::new(Vec::with_capacity(workers)),
            woken: (0..workers).map(|_| CachePadded::new(AtomicBool::new(false))).collect(),
        }
    }

    /// Says that work was queued: wakes a sleeper if nobody is searching. Call it after the work is in its queue.
    pub fn notify(&self) {
        // Orders the caller's write to a queue before the load below, against the fences in `sleep` and `stop_search`, which
        // order a change of `word` before a look at the queues: one of the two sees the other.
        fence(Ordering::SeqCst);
        // Relaxed: the fence above is what orders it.
        let word = self.word.load(Ordering::Relaxed);
        if word & SEARCHING_MASK == 0 && word >= SLEEPING {
            self.wake_one();
        }
    }

    /// The worker has run out of work and starts to look for some.
    pub fn start_search(&self) {
        // Relaxed: a searcher publishes nothing; a poster that misses it wakes one worker too many.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
    }

    /// The worker has found work. If it was the only searcher, posters may have relied on it: then it must look at the queues
    /// once more and, if they hold work, call [`notify`](Self::notify). Returns whether that is so.
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

    /// A searching worker goes to sleep unless `has_work` finds some in a last look at every queue; it returns searching.
    pub fn sleep(&self, worker: usize, has_work: impl FnOnce() -> bool) {
        {
            let mut list = self.list.lock();
            list.push(Sleeper { worker, thread: thread::current() });
            // Relaxed: under the lock, and ordered against posters by the fence below.
            self.word.fetch_add(SLEEPING - SEARCHING, Ordering::Relaxed);
        }
        // Orders the change of `word` before the last look. Pairs with the fence in `notify`: a poster either sees us asleep,
        // or queued its work early enough for `has_work` to see it.
        fence(Ordering::SeqCst);
        if has_work() && self.stay_awake(worker) {
            return;
        }
        // Pairs with the Release store in `rouse`; what was queued before the bell is visible after it.
        while !self.woken[worker].put_down() {
            thread::park();
        }
    }

    /// Wakes everybody: the dispatcher is ending.
    pub fn wake_all(&self) {
        let sleepers: Vec<Sleeper> = {
            let mut list = self.list.lock();
            let sleepers = std::mem::take(&mut *list);
            for _ in &sleepers {
                // Relaxed: under the lock.
                self.word.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
            }
            sleepers
        };
        for sleeper in sleepers {
            self.rouse(&sleeper);
        }
    }

    fn wake_one(&self) {
        let sleeper = {
            let mut list = self.list.lock();
            // Relaxed: under the lock, which every change of the high half and every falling asleep takes. If somebody else
            // has been roused meanwhile, that worker searches and will see our work; see SLEEP.md, case 3.
            if self.word.load(Ordering::Relaxed) & SEARCHING_MASK != 0 {
                return;
            }
            let Some(sleeper) = list.pop() else { return };
            // Relaxed: under the lock. The woken one counts as searching from here on, so that the next poster need not wake
            // another.
            self.word.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
            sleeper
        };
        self.rouse(&sleeper);
    }

    fn rouse(&self, sleeper: &Sleeper) {
        // Release: pairs with `put_down` in `sleep`.
        self.woken[sleeper.worker].store(true, Ordering::Release);
        sleeper.thread.unpark();
    }

    /// Takes the worker off the list again; false if somebody took it off first, who will then rouse it.
    fn stay_awake(&self, worker: usize) -> bool {
        let mut list = self.list.lock();
        let Some(position) = list.iter().position(|sleeper| sleeper.worker == worker) else { return false };
        list.remove(position);
        // Relaxed: under the lock.
        self.word.fetch_sub(SLEEPING - SEARCHING, Ordering::Relaxed);
        true
    }
}
