//! Clocks: the machine's clock, a clock that is advanced by hand, and scaled forms of both.

use std::fmt;
use std::time::Duration;

use lehr_sync::{Arc, Moment, SpinLock};

use super::pending::{Action, Core, Registration, Source, TimerKey, nanoseconds};
use crate::context::current;
use crate::error::PostError;
use crate::port::Port;

/// A source of time, with its timers. Cheap to clone: clones are the same clock.
///
/// A dispatcher has a clock ([`Builder::clock`](crate::Builder::clock)); its tasks reach it as [`Clock::current`], and
/// the functions [`sleep`](crate::sleep), [`timeout`](crate::timeout), [`every`](crate::every) and
/// [`post_after`](crate::post_after) use it.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Builder, Clock, block_on, sleep};
/// let clock = Clock::virtual_time();
/// let dispatcher = Builder::new().threads(1).clock(clock.clone()).start().unwrap();
/// let sleeper = dispatcher.spawn(async { sleep(Duration::from_secs(3600)).await });
/// clock.wait_for_timers(1);
/// clock.advance(Duration::from_secs(3600)); // an hour, at once
/// assert_eq!(block_on(sleeper), Ok(()));
/// ```
#[derive(Clone)]
pub struct Clock {
    pub(super) core: Arc<Core>,
    /// The factor that converts a time span of this clock into a time span of the core.
    factor: f64,
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Clock").field("now", &self.now()).field("factor", &self.factor).finish_non_exhaustive()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::real()
    }
}

impl Clock {
    /// Creates a clock that follows the machine's monotonic clock, starting at 0. The clock's thread starts with the
    /// first timer and ends with the clock.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, block_on};
    /// let clock = Clock::real();
    /// block_on(clock.sleep(Duration::from_millis(1)));
    /// assert!(clock.now() >= Duration::from_millis(1));
    /// ```
    pub fn real() -> Self {
        Self { core: Core::new(Source::Machine(Moment::now())), factor: 1.0 }
    }

    /// Creates a clock that stays at 0 until the program [advances](Self::advance) it, so tests take no real time.
    ///
    /// # Example
    /// See [`Clock`].
    pub fn virtual_time() -> Self {
        Self { core: Core::new(Source::Hand), factor: 1.0 }
    }

    /// Returns the same clock with every time span multiplied by `factor`: with 0.1, ten seconds of the new clock last
    /// one second of this clock.
    ///
    /// # Panics
    /// Panics if the factor is not positive and finite.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::Clock;
    /// let clock = Clock::virtual_time();
    /// let fast = clock.scaled(0.1);
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!(fast.now(), Duration::from_secs(10));
    /// ```
    pub fn scaled(&self, factor: f64) -> Self {
        assert!(factor > 0.0 && factor.is_finite(), "a clock's factor is positive and finite, not {factor}");
        Self { core: self.core.clone(), factor: self.factor * factor }
    }

    /// Returns the clock of the dispatcher whose task calls this function; outside a dispatcher, one real clock for all
    /// threads of the process.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Builder, Clock, block_on};
    /// let clock = Clock::virtual_time();
    /// clock.advance(Duration::from_secs(5));
    /// let dispatcher = Builder::new().threads(1).clock(clock).start().unwrap();
    /// assert_eq!(block_on(dispatcher.spawn(async { Clock::current().now() })), Ok(Duration::from_secs(5)));
    /// ```
    pub fn current() -> Self {
        crate::dispatch::current_clock().unwrap_or_else(|| {
            static OUTSIDE: lehr_sync::OnceLock<Clock> = lehr_sync::OnceLock::new();
            OUTSIDE.get_or_init(Clock::real).clone()
        })
    }

    /// Returns the time since the clock began.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// assert_eq!(lehr_runtime::Clock::virtual_time().now(), Duration::ZERO);
    /// ```
    pub fn now(&self) -> Duration {
        let now = Duration::from_nanos(self.core.now());
        if self.is_scaled() { now.div_f64(self.factor) } else { now }
    }

    /// Returns the Unix time in milliseconds: the machine's, or the time of a virtual clock, which begins in 1970. The
    /// machine's time may jump, so measure spans of time with [`now`](Self::now).
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// let clock = lehr_runtime::Clock::virtual_time();
    /// clock.advance(Duration::from_secs(3));
    /// assert_eq!(clock.unix_ms(), 3000);
    /// ```
    pub fn unix_ms(&self) -> u64 {
        if self.core.is_advanced_by_hand() {
            u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX)
        } else {
            lehr_sync::unix_ms()
        }
    }

    /// Advances a virtual clock by `time`. Timers that come due fire in order, each at its own time, on this thread. A
    /// timer that is registered while another fires also fires in this span, if the clock has not passed its deadline
    /// yet. Tasks that are woken run on their workers, later.
    ///
    /// # Panics
    /// Panics on a real clock.
    ///
    /// # Example
    /// See [`Clock`].
    pub fn advance(&self, time: Duration) {
        assert!(self.core.is_advanced_by_hand(), "only a virtual clock is advanced");
        self.core.fire(self.core.now().saturating_add(self.on_core(time)));
    }

    /// Lets `time` pass on a virtual clock at once, as on a machine that was asleep. Timers that came due meanwhile
    /// fire afterwards, in order, on this thread, and all of them see the clock at its final time. No code sees a time
    /// in between, as it would with [`advance`](Self::advance).
    ///
    /// # Panics
    /// Panics on a real clock.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// let clock = lehr_runtime::Clock::virtual_time();
    /// clock.jump(Duration::from_secs(36_000));
    /// assert_eq!(clock.now(), Duration::from_secs(36_000));
    /// ```
    pub fn jump(&self, time: Duration) {
        assert!(self.core.is_advanced_by_hand(), "only a virtual clock jumps when it is told to");
        self.core.jump(self.on_core(time));
    }

    /// Advances a virtual clock to the next deadline, and fires the timers due then; returns false if no timer is
    /// pending.
    ///
    /// # Panics
    /// Panics on a real clock.
    ///
    /// # Example
    /// ```
    /// assert!(!lehr_runtime::Clock::virtual_time().advance_to_next());
    /// ```
    pub fn advance_to_next(&self) -> bool {
        assert!(self.core.is_advanced_by_hand(), "only a virtual clock is advanced");
        let next = self.core.next_deadline();
        if let Some(at) = next {
            self.core.fire(at);
        }
        next.is_some()
    }

    /// Returns the number of pending timers, over all scales of this clock.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_runtime::Clock::virtual_time().pending(), 0);
    /// ```
    pub fn pending(&self) -> usize {
        self.core.pending()
    }

    /// Makes the calling thread wait until at least `count` timers are pending. Tests call this method before they
    /// advance the clock.
    ///
    /// Don't call this on a worker, because that would keep the worker's tasks from registering timers. The call checks
    /// in a loop, and yields the CPU core between two checks.
    ///
    /// # Example
    /// See [`Clock`].
    pub fn wait_for_timers(&self, count: usize) {
        while self.pending() < count {
            lehr_sync::thread::yield_now();
        }
    }

    /// Returns the due time of each sleeper on this clock, and the address that identifies its waker.
    pub(crate) fn sleepers(&self) -> Vec<(Duration, usize)> {
        let here = |at| {
            let at = Duration::from_nanos(at);
            if self.is_scaled() { at.div_f64(self.factor) } else { at }
        };
        self.core.sleepers().into_iter().map(|(at, waker)| (here(at), waker)).collect()
    }

    /// Returns the core's time at which `time` has passed on this clock.
    pub(super) fn at(&self, time: Duration) -> u64 {
        self.core.now().saturating_add(self.on_core(time))
    }

    /// Converts a time span of this clock to nanoseconds of the core's clock, rounded up so that no timer is early.
    fn on_core(&self, time: Duration) -> u64 {
        let exact = nanoseconds(time);
        if !self.is_scaled() {
            return exact;
        }
        let scaled = (time.as_secs_f64() * self.factor * 1e9).ceil();
        // The cast saturates, at a time span of some centuries.
        scaled as u64
    }

    /// Returns whether time spans are scaled; if not, they are exact.
    fn is_scaled(&self) -> bool {
        self.factor != 1.0
    }

    /// Schedules `call` for when `time` has passed. The call runs on the thread of the clock, or on the thread that
    /// advances the clock, so it must be short.
    pub(crate) fn schedule_in(&self, time: Duration, call: impl FnOnce() + Send + 'static) -> Scheduled {
        let place = match self.core.register(self.at(time), Action::Call(Box::new(call))) {
            Registration::Registered(place) => Some(place),
            Registration::Passed(action) => {
                action.run();
                None
            }
        };
        Scheduled { core: self.core.clone(), place }
    }

    /// Posts an item when `time` has passed, in the context that was current at this call.
    ///
    /// Dropping the returned [`Posting`] earlier cancels the post and drops the item; [`Posting::cancel`] gives the
    /// item back. If the port refuses the item, [`Posting::outcome`] returns it.
    ///
    /// Cost: two allocations.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, Port};
    /// let (clock, port) = (Clock::virtual_time(), Port::new());
    /// clock.post_after(Duration::from_secs(2), &port, "late").detach();
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!(port.try_receive(), None);
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!(port.try_receive(), Some("late"));
    /// ```
    pub fn post_after<T: Send + 'static>(&self, time: Duration, port: &Port<T>, item: T) -> Posting<T> {
        let slot = Arc::new(SpinLock::new(Slot::Waiting(item)));
        let (own, port, context) = (slot.clone(), port.clone(), current::current());
        let timer = self.schedule_in(time, move || {
            let item = match std::mem::replace(&mut *own.lock(), Slot::Done) {
                Slot::Waiting(item) => item,
                _ => return,
            };
            let result = {
                let _entered = context.map(|context| current::enter(Some(context)));
                port.post(item)
            };
            if let Err(refused) = result {
                *own.lock() = Slot::Refused(refused);
            }
        });
        Posting { timer: Some(timer), slot }
    }
}

/// A call that is scheduled for a later time; dropping this value cancels the call.
pub(crate) struct Scheduled {
    core: Arc<Core>,
    place: Option<TimerKey>,
}

impl Scheduled {
    /// Keeps the call scheduled without an owner.
    pub(crate) fn detach(mut self) {
        self.place = None;
    }
}

impl Drop for Scheduled {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.core.cancel(place);
        }
    }
}

enum Slot<T> {
    Waiting(T),
    Refused(PostError<T>),
    Done,
}

/// A post at a later time; see [`Clock::post_after`].
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Clock, Port};
/// let (clock, port) = (Clock::virtual_time(), Port::new());
/// let posting = clock.post_after(Duration::from_secs(2), &port, 7);
/// assert_eq!((posting.cancel(), clock.pending()), (Some(7), 0));
/// ```
#[must_use = "dropping it cancels the post: keep it, or call `detach`"]
pub struct Posting<T> {
    timer: Option<Scheduled>,
    slot: Arc<SpinLock<Slot<T>>>,
}

impl<T> fmt::Debug for Posting<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Posting").finish_non_exhaustive()
    }
}

impl<T> Posting<T> {
    /// Keeps the post scheduled without an owner.
    ///
    /// # Example
    /// See [`Clock::post_after`].
    pub fn detach(mut self) {
        if let Some(timer) = self.timer.take() {
            timer.detach();
        }
    }

    /// Cancels the post and returns the item, even if the port has refused it; `None` if the item was posted.
    ///
    /// # Example
    /// See [`Posting`].
    pub fn cancel(mut self) -> Option<T> {
        drop(self.timer.take());
        match std::mem::replace(&mut *self.slot.lock(), Slot::Done) {
            Slot::Waiting(item) => Some(item),
            Slot::Refused(refused) => Some(refused.item),
            Slot::Done => None,
        }
    }

    /// Returns the item and the reason if the time has come and the port has refused the item. A second call returns
    /// `None`.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, Port, Reason};
    /// let (clock, port) = (Clock::virtual_time(), Port::new());
    /// let posting = clock.post_after(Duration::from_secs(2), &port, 7);
    /// port.close();
    /// clock.advance(Duration::from_secs(2));
    /// assert_eq!(posting.outcome().unwrap().reason, Reason::Closed);
    /// ```
    pub fn outcome(&self) -> Option<PostError<T>> {
        let mut slot = self.slot.lock();
        match std::mem::replace(&mut *slot, Slot::Done) {
            Slot::Refused(refused) => Some(refused),
            other => {
                *slot = other;
                None
            }
        }
    }
}
