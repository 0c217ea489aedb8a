//! The timers of one clock: an ordered map from (deadline, order of registration) to the action.
//!
//! An ordered map serves better here than a timer wheel. The map's order is the order that we guarantee (by deadline,
//! then by registration), and the next deadline is its first key. Cancelling a timer removes it from the map and frees
//! its memory. A timer wheel makes registration cheaper by a constant factor, but has ticks of a fixed length, or
//! cascades that hold the lock for long.
//!
//! Lock order: the lock of the timers is taken last. While it is held, no waker or action is called or dropped.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::task::Waker;
use std::time::Duration;

use lehr_sync::{Arc, Moment, SpinLock, thread};

/// The key of a timer: its deadline in nanoseconds of the clock, then its number in the order of registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimerKey {
    at: u64,
    sequence: u64,
}

/// The action to take at a timer's deadline.
pub(super) enum Action {
    Wake(Waker),
    Call(Box<dyn FnOnce() + Send>),
}

impl Action {
    pub(super) fn run(self) {
        match self {
            Self::Wake(waker) => waker.wake(),
            Self::Call(call) => call(),
        }
    }
}

/// The source of a clock's time.
pub(super) enum Source {
    /// The machine's monotonic clock, counted from this moment.
    Machine(Moment),
    /// A caller advances the clock's time by hand.
    Hand,
}

/// A clock without a scale: its time and its timers.
pub(super) struct Core {
    source: Source,
    timers: SpinLock<Timers>,
}

struct Timers {
    pending: BTreeMap<TimerKey, Action>,
    next_sequence: u64,
    /// The time of a clock that is advanced by hand.
    now: u64,
    /// The thread that waits for deadlines of the machine's clock, once a timer has been registered.
    driver: Option<thread::Thread>,
    /// The time until which the driver sleeps by itself. Timers that are due later need not wake it, and most timers
    /// are cancelled before they are due. The driver sets this time under the lock before it sleeps, after a look at
    /// the first timer. A timer that is registered afterwards wakes the driver if it is due earlier. While the driver
    /// is at work, this time has passed, and the driver looks at the timers again before it sleeps.
    driver_sleeps_until: u64,
}

/// The outcome of registering a timer.
pub(super) enum Registration {
    /// The time has passed already; the action is given back.
    Passed(Action),
    Registered(TimerKey),
}

impl Core {
    pub(super) fn new(source: Source) -> Arc<Self> {
        let timers =
            Timers { pending: BTreeMap::new(), next_sequence: 0, now: 0, driver: None, driver_sleeps_until: 0 };
        Arc::new(Self { source, timers: SpinLock::new(timers) })
    }

    pub(super) fn is_advanced_by_hand(&self) -> bool {
        matches!(self.source, Source::Hand)
    }

    /// Returns the nanoseconds since the clock began.
    pub(super) fn now(&self) -> u64 {
        match &self.source {
            Source::Machine(begin) => nanoseconds(begin.elapsed()),
            Source::Hand => self.timers.lock().now,
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.timers.lock().pending.len()
    }

    /// Returns the due time of each sleeper, and the address that identifies its waker.
    pub(super) fn sleepers(&self) -> Vec<(u64, usize)> {
        let timers = self.timers.lock();
        let sleepers = timers.pending.iter().filter_map(|(place, action)| match action {
            Action::Wake(waker) => Some((place.at, waker.data().addr())),
            Action::Call(_) => None,
        });
        sleepers.collect()
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.timers.lock().pending.first_key_value().map(|(place, _)| place.at)
    }

    /// Returns the same as [`next_deadline`](Self::next_deadline), and records that the driver now sleeps until that
    /// deadline.
    fn next_for_driver(&self) -> Option<u64> {
        let mut timers = self.timers.lock();
        let next = timers.pending.first_key_value().map(|(place, _)| place.at);
        timers.driver_sleeps_until = next.unwrap_or(u64::MAX);
        next
    }

    /// Registers an action for a time, unless the time has come already.
    ///
    /// # Panics
    /// Panics if the system cannot start the thread that waits for the machine's clock.
    pub(super) fn register(self: &Arc<Self>, at: u64, action: Action) -> Registration {
        // The machine's clock may be read before the lock, because a due timer stays due as time passes.
        let machine_now = match &self.source {
            Source::Machine(_) => Some(self.now()),
            Source::Hand => None,
        };
        let (place, driver) = {
            let mut timers = self.timers.lock();
            if machine_now.unwrap_or(timers.now) >= at {
                return Registration::Passed(action);
            }
            let place = TimerKey { at, sequence: timers.next_sequence };
            timers.next_sequence += 1;
            timers.pending.insert(place, action);
            let is_first = timers.pending.first_key_value().is_some_and(|(first, _)| *first == place);
            if machine_now.is_some() && timers.driver.is_none() {
                // The driver looks for the first timer as soon as it gets the lock.
                timers.driver = Some(start_driver(Arc::downgrade(self)));
            }
            let wakes = is_first && at < timers.driver_sleeps_until;
            (place, if wakes { timers.driver.clone() } else { None })
        };
        if let Some(driver) = driver {
            // The driver waits for a later deadline, or for none.
            driver.unpark();
        }
        Registration::Registered(place)
    }

    /// Replaces the waker of a timer; returns false if the time has come.
    pub(super) fn refresh(&self, place: TimerKey, waker: &Waker) -> bool {
        let _replaced = {
            let mut timers = self.timers.lock();
            match timers.pending.get_mut(&place) {
                None => return false,
                Some(Action::Wake(known)) if known.will_wake(waker) => None,
                Some(action) => Some(std::mem::replace(action, Action::Wake(waker.clone()))),
            }
        };
        true
    }

    /// Removes a timer; returns whether it was still pending.
    pub(super) fn cancel(&self, place: TimerKey) -> bool {
        let cancelled = self.timers.lock().pending.remove(&place);
        cancelled.is_some()
    }

    /// Advances a virtual clock by `by` at once, and runs the timers that have come due, in order.
    pub(super) fn jump(&self, by: u64) {
        let now = {
            let mut timers = self.timers.lock();
            timers.now = timers.now.saturating_add(by);
            timers.now
        };
        self.fire(now);
    }

    /// Runs the timers due until `target`, in order; a virtual clock advances from deadline to deadline and ends at
    /// `target`.
    pub(super) fn fire(&self, target: u64) {
        loop {
            let action = {
                let mut timers = self.timers.lock();
                let is_due = timers.pending.first_key_value().is_some_and(|(place, _)| place.at <= target);
                let Some((place, action)) = (if is_due { timers.pending.pop_first() } else { None }) else {
                    timers.now = timers.now.max(target);
                    return;
                };
                timers.now = timers.now.max(place.at);
                action
            };
            action.run();
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if let Some(driver) = self.timers.lock().driver.take() {
            // The driver finds that the clock is gone, and ends.
            driver.unpark();
        }
    }
}

/// Starts the driver. The driver is a separate thread, so that a worker in a long job delays no timer. A clock of the
/// machine's time without timers has no such thread.
fn start_driver(clock: Weak<Core>) -> thread::Thread {
    let life = move || {
        loop {
            let wait = {
                let Some(clock) = clock.upgrade() else { return };
                clock.fire(clock.now());
                clock.next_for_driver().map(|at| Duration::from_nanos(at.saturating_sub(clock.now())))
                // The clock may be dropped here, on this thread. If so, the next look finds that the clock is gone.
            };
            match wait {
                Some(wait) if wait.is_zero() => {}
                // The system rounds up, so the thread does not wake early. If it did, the loop would park it again.
                Some(wait) => thread::park_timeout(wait),
                None => thread::park(),
            }
        }
    };
    thread::spawn_detached("lehr-timers".to_owned(), life).expect("the system would not start the thread of the timers")
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_woken_only_for_what_is_due_before_it_wakes_by_itself() {
        const HOUR: u64 = 3_600_000_000_000;
        let core = Core::new(Source::Machine(Moment::now()));
        let register = |at: u64| match core.register(at, Action::Call(Box::new(|| ()))) {
            Registration::Registered(place) => place,
            Registration::Passed(_) => panic!("an hour has passed"),
        };
        let sleeps_until = |expected: u64| {
            while core.timers.lock().driver_sleeps_until != expected {
                thread::yield_now();
            }
        };
        let first = register(HOUR);
        sleeps_until(HOUR);
        // Requests with time limits, one after the other: the driver keeps sleeping.
        assert!(core.cancel(first));
        (1..1000).for_each(|later| assert!(core.cancel(register(HOUR + later))));
        assert_eq!(core.timers.lock().driver_sleeps_until, HOUR);
        // A timer that is due earlier wakes it.
        register(HOUR / 2);
        sleeps_until(HOUR / 2);
        let (fired, told) = std::sync::mpsc::channel();
        let soon = core.now() + 1_000_000;
        if let Registration::Passed(action) =
            core.register(soon, Action::Call(Box::new(move || fired.send(()).unwrap())))
        {
            action.run();
        }
        told.recv().unwrap();
        assert!(core.now() >= soon);
        sleeps_until(HOUR / 2);
    }
}
