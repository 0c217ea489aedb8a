//! Sections that block: while a worker is in such a section, a spare thread replaces it.
//!
//! The worker announces the section before it blocks, and the work in its queue goes to the common queue. A spare
//! thread, woken or newly started, does the worker's part of the work until the worker comes back. A spare has no queue
//! of its own, because no worker would look into that queue once the spare is off duty. Tasks that a spare wakes go to
//! the common queue, and a spare takes one job at a time. So the number of threads that run tasks stays the same, and
//! no work is in a queue that only a blocked thread empties.
//!
//! The number of spares is bounded ([`Builder::spares`](super::Builder::spares)). A program that blocks in more
//! sections at once has fewer workers meanwhile, and never more threads than it allowed. Spares start when first needed
//! and stay until the end.

use lehr_sync::{Arc, AtomicBool, AtomicUsize, Ordering, SpinLock, thread};

use super::worker::{Role, serve};
use super::{ABORTING, Shared, with_current};

/// Runs a section that blocks its thread: a system call, a lock held for long, a computation that does not wait. On a
/// worker, a spare thread takes over the worker's tasks meanwhile, if one is free or can be started. Otherwise only the
/// other workers, if any, take them over. On other threads, this function only calls the section.
///
/// A watchdog reports the text of `reason` while the section lasts. Inside the section, the thread does not count as a
/// worker, so [`block_on`](crate::block_on) is allowed. The section runs on the calling thread, so it may borrow, and
/// thread-local state is unchanged.
///
/// Don't use this function for sections of microseconds: the two handovers cost about as much as waking a thread twice.
///
/// # Panics
/// Panics if `section` does; the worker is then back on duty.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Port, block_on, blocking};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let (asked, answered) = (Port::new(), Port::new());
/// let (question, answer) = (asked.clone(), answered.clone());
/// // Blocks the only worker for something that only a worker can do.
/// let blocked = dispatcher.spawn(async move { blocking("an answer", || block_on(answer.receive())) });
/// let other = dispatcher.spawn(async move { answered.post(question.receive().await.unwrap() + 1).unwrap() });
/// asked.post(41).unwrap();
/// assert_eq!(block_on(blocked).unwrap(), Ok(42));
/// block_on(other).unwrap();
/// ```
pub fn blocking<R>(reason: &'static str, section: impl FnOnce() -> R) -> R {
    with_current(|current| {
        let Some(current) = current.filter(|current| !current.is_away.get()) else { return section() };
        let shared = &current.shared;
        let mut is_handed_over = false;
        while let Some(job) = current.local.pop() {
            shared.injector.push(job);
            is_handed_over = true;
        }
        let _section = shared.spares.begin(shared);
        if is_handed_over {
            shared.sleep.notify();
            // A drain may have left this worker behind in this very job, so its work may be late.
            shared.drop_late();
        }
        let section = || current.away(section);
        match &current.doing {
            Some(doing) => doing.because(reason, section),
            None => section(),
        }
    })
}

/// The spare threads of a dispatcher.
///
/// A spare does not replace one worker in particular. As many spares are on duty as sections are in progress, up to the
/// limit. For this reason, a spare that is about to leave stays if another section begins.
pub(crate) struct Spares {
    max: usize,
    /// The prefix of the threads' names, before a dash and a number.
    name: String,
    stack_bytes: Option<usize>,
    /// The number of spares on duty beyond the number of sections. Written under the lock of `state`.
    surplus: AtomicUsize,
    state: SpinLock<State>,
}

#[derive(Default)]
struct State {
    /// The number of sections in progress.
    sections: usize,
    on_duty: Vec<Arc<Spare>>,
    /// The spares off duty. The spare that went off duty last is called first.
    free: Vec<Arc<Spare>>,
    threads: Vec<thread::JoinHandle<()>>,
    started: usize,
    has_ended: bool,
}

/// A spare thread of a dispatcher.
struct Spare {
    /// The index of the spare among the counters and the sleepers, where spares come after the workers.
    slot: usize,
    /// Whether the spare is called to duty: raised by the caller, lowered by the thread.
    is_called: AtomicBool,
    thread: SpinLock<Option<thread::Thread>>,
}

impl Spare {
    /// Waits for a call; returns false when the dispatcher ends.
    fn wait(&self, shared: &Shared) -> bool {
        loop {
            // Acquire: pairs with the Release store in `end`; likewise, `put_down` pairs with the store in `ring`.
            if shared.stage.load(Ordering::Acquire) == ABORTING {
                return false;
            }
            if self.is_called.put_down() {
                return true;
            }
            thread::park();
        }
    }

    fn ring(&self) {
        // Release: pairs with `put_down` in `wait`.
        self.is_called.store(true, Ordering::Release);
        self.unpark();
    }

    fn unpark(&self) {
        if let Some(thread) = &*self.thread.lock() {
            thread.unpark();
        }
    }
}

/// A blocking section in progress; dropping this value ends it.
struct Section<'a>(&'a Shared);

impl Drop for Section<'_> {
    fn drop(&mut self) {
        let slots: Vec<usize> = {
            let mut state = self.0.spares.state.lock();
            state.sections -= 1;
            self.0.spares.count(&state);
            let is_too_many = state.on_duty.len() > state.sections;
            state.on_duty.iter().filter(|_| is_too_many).map(|spare| spare.slot).collect()
        };
        // A sleeping spare should leave. If none sleeps, each spare will see the surplus before it sleeps: the lock of
        // the sleepers orders its last look after ours.
        let _ = slots.into_iter().any(|slot| self.0.sleep.call_back(slot));
    }
}

impl Spares {
    pub(super) fn new(max: usize, name: String, stack_bytes: Option<usize>) -> Self {
        Self { max, name, stack_bytes, surplus: AtomicUsize::new(0), state: SpinLock::new(State::default()) }
    }

    /// Returns the number of spare threads that were ever started.
    pub(super) fn started(&self) -> usize {
        self.state.lock().started
    }

    /// Returns whether a spare should go off duty.
    pub(super) fn are_too_many(&self) -> bool {
        // Acquire: pairs with the Release in `count`.
        self.surplus.load(Ordering::Acquire) > 0
    }

    /// Updates `surplus`. Call this method under the lock of `state`.
    fn count(&self, state: &State) {
        // Release: pairs with the Acquire in `are_too_many`.
        self.surplus.store(state.on_duty.len().saturating_sub(state.sections), Ordering::Release);
    }

    /// Begins a blocking section. One more spare goes on duty, if a spare is free or may be started.
    fn begin<'a>(&self, shared: &'a Arc<Shared>) -> Section<'a> {
        let called = {
            let mut state = self.state.lock();
            state.sections += 1;
            let is_short = state.on_duty.len() < state.sections && !state.has_ended;
            let called = if is_short { state.free.pop().or_else(|| self.start(&mut state, shared)) } else { None };
            state.on_duty.extend(called.clone());
            self.count(&state);
            called
        };
        if let Some(spare) = called {
            spare.ring();
        }
        Section(shared)
    }

    /// Starts one more spare thread. Returns `None` at the limit, or if the system refuses; during the section, the
    /// dispatcher then has a worker less.
    fn start(&self, state: &mut State, shared: &Arc<Shared>) -> Option<Arc<Spare>> {
        if state.started == self.max {
            return None;
        }
        let number = state.started;
        let slot = shared.threads + number;
        let spare = Arc::new(Spare { slot, is_called: AtomicBool::new(false), thread: SpinLock::new(None) });
        let (own, dispatcher) = (spare.clone(), shared.clone());
        // Relaxed: changed under the lock, which `end` takes before it looks at the number.
        shared.running.fetch_add(1, Ordering::Relaxed);
        let name = super::watchdog::thread_name(&self.name, slot, shared.threads);
        let started = thread::spawn_with_stack(name, self.stack_bytes, move || live(&dispatcher, &own));
        match started {
            Ok(thread) => {
                state.threads.push(thread);
                state.started += 1;
                Some(spare)
            }
            Err(_) => {
                // Relaxed: as above.
                shared.running.fetch_sub(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Returns whether this spare goes off duty, after it has seen that there are too many spares, or that the
    /// dispatcher ends.
    fn leave(&self, spare: &Arc<Spare>) -> bool {
        let mut state = self.state.lock();
        let may_leave = state.has_ended || state.on_duty.len() > state.sections;
        if may_leave {
            state.on_duty.retain(|other| !Arc::ptr_eq(other, spare));
            if !state.has_ended {
                state.free.push(spare.clone());
            }
            self.count(&state);
        }
        may_leave
    }

    /// Prevents further starts and lets the spares on duty see the end. Returns the spare threads, for the caller to
    /// join.
    pub(super) fn end(&self) -> Vec<thread::JoinHandle<()>> {
        let (threads, free) = {
            let mut state = self.state.lock();
            state.has_ended = true;
            (std::mem::take(&mut state.threads), std::mem::take(&mut state.free))
        };
        free.iter().for_each(|spare| spare.unpark());
        threads
    }
}

/// The main loop of a spare thread.
fn live(shared: &Arc<Shared>, spare: &Arc<Spare>) {
    // If a caller rang before this line, it has raised the flag that `wait` checks first.
    *spare.thread.lock() = Some(thread::current());
    while spare.wait(shared) {
        loop {
            serve(shared, spare.slot, crossbeam_deque::Worker::new_fifo(), Role::Spare, None);
            if shared.spares.leave(spare) {
                break;
            }
        }
    }
    super::worker::leave(shared);
}
