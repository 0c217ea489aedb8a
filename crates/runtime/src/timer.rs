//! Timers: sleeps, time limits, and repeated actions.
//!
//! Dropping a timer removes it, so no registration is left behind, and no item is posted to a port without readers.
//! Timers with the same deadline fire in the order in which they were registered. No timer fires early, and even a very
//! short timer waits.
//!
//! A [`Clock`] counts the time, and tests use a clock that is advanced by hand. Read next: `timer/clock.rs`, then
//! `timer/pending.rs` for the storage of timers.

mod clock;
mod every;
mod pending;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use lehr_sync::Arc;
use pin_project_lite::pin_project;

pub use clock::{Clock, Posting};
pub use every::{Every, MissedTick, Tick};

pub(crate) use clock::Scheduled;
use pending::{Action, Core, Registration, TimerKey};

use crate::port::Port;

/// Waits for at least `time` on the [current](Clock::current) clock, counted from this call.
///
/// Cancel-safe: dropping the future removes the timer.
///
/// # Panics
/// Panics when polled, if the system does not start the clock's thread.
///
/// # Example
/// ```
/// use std::time::Duration;
/// lehr_runtime::block_on(lehr_runtime::sleep(Duration::from_millis(1)));
/// ```
pub fn sleep(time: Duration) -> Sleep {
    Clock::current().sleep(time)
}

/// Waits for a future, but for at most `time` on the [current](Clock::current) clock.
///
/// # Errors
/// Returns [`Elapsed`] if the time is up; the future has then been dropped.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Port, block_on, timeout};
/// let silent = Port::<u8>::new();
/// assert!(block_on(timeout(Duration::from_millis(1), silent.receive())).is_err());
/// ```
pub fn timeout<F: Future>(time: Duration, future: F) -> Timeout<F> {
    Clock::current().timeout(time, future)
}

/// Ticks every `period` on the [current](Clock::current) clock; the first tick comes after one period.
///
/// # Panics
/// Panics if the period is 0.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{MissedTick, block_on, every};
/// let mut ticks = every(Duration::from_millis(1), MissedTick::Skip);
/// block_on(async {
///     ticks.tick().await;
///     ticks.tick().await;
/// });
/// ```
pub fn every(period: Duration, missed: MissedTick) -> Every {
    Clock::current().every(period, missed)
}

/// Posts an item when `time` has passed on the [current](Clock::current) clock; see [`Clock::post_after`].
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Port, block_on, post_after};
/// let port = Port::new();
/// let _posting = post_after(Duration::from_millis(1), &port, "now");
/// assert_eq!(block_on(port.receive()), Ok("now"));
/// ```
pub fn post_after<T: Send + 'static>(time: Duration, port: &Port<T>, item: T) -> Posting<T> {
    Clock::current().post_after(time, port, item)
}

impl Clock {
    /// Waits for `time` on this clock; see [`sleep`].
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, block_on};
    /// let clock = Clock::virtual_time();
    /// let sleep = clock.sleep(Duration::from_secs(1));
    /// clock.advance(Duration::from_secs(1));
    /// block_on(sleep);
    /// ```
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep { core: self.core.clone(), at: self.at(time), stage: Stage::New }
    }

    /// Waits for a future for at most `time` on this clock; see [`timeout`].
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, block_on};
    /// assert_eq!(block_on(Clock::virtual_time().timeout(Duration::from_secs(1), async { 7 })), Ok(7));
    /// ```
    pub fn timeout<F: Future>(&self, time: Duration, future: F) -> Timeout<F> {
        Timeout { future: Some(future), sleep: self.sleep(time) }
    }
}

/// The future of [`sleep`].
///
/// # Example
/// See [`sleep`].
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep {
    core: Arc<Core>,
    at: u64,
    stage: Stage,
}

enum Stage {
    New,
    Registered(TimerKey),
    Over,
}

impl fmt::Debug for Sleep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sleep").field("until", &Duration::from_nanos(self.at)).finish_non_exhaustive()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        match this.stage {
            Stage::New => match this.core.register(this.at, Action::Wake(context.waker().clone())) {
                Registration::Registered(place) => {
                    this.stage = Stage::Registered(place);
                    return Poll::Pending;
                }
                Registration::Passed(_) => {}
            },
            Stage::Registered(place) => {
                if this.core.refresh(place, context.waker()) {
                    return Poll::Pending;
                }
            }
            Stage::Over => {}
        }
        this.stage = Stage::Over;
        Poll::Ready(())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Stage::Registered(place) = self.stage {
            self.core.cancel(place);
        }
    }
}

/// The error of a timeout: the time was up before the future was done.
///
/// # Example
/// ```
/// assert_eq!(lehr_runtime::Elapsed.to_string(), "the time for it passed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the time for it passed")
    }
}

impl std::error::Error for Elapsed {}

pin_project! {
    /// The future of [`timeout`].
    ///
    /// # Example
    /// See [`timeout`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Timeout<F> {
        #[pin]
        future: Option<F>,
        sleep: Sleep,
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Timeout").field("sleep", &self.sleep).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let future = this.future.as_mut().as_pin_mut().expect("a timeout is not polled again after it ended");
        // The future is polled first: a result that is ready in time counts, even if this task was polled late.
        if let Poll::Ready(output) = future.poll(context) {
            this.future.set(None);
            this.sleep.stage.end(&this.sleep.core);
            return Poll::Ready(Ok(output));
        }
        std::task::ready!(Pin::new(this.sleep).poll(context));
        this.future.set(None);
        Poll::Ready(Err(Elapsed))
    }
}

impl Stage {
    /// Removes the timer, if it is registered.
    fn end(&mut self, core: &Core) {
        if let Self::Registered(place) = std::mem::replace(self, Self::Over) {
            core.cancel(place);
        }
    }
}
