//! Ticks at a steady pace.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Sleep;
use super::clock::Clock;

/// The way in which missed ticks are handled. Ticks are missed if the next tick is requested a period or more after it
/// was due.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Clock, MissedTick, block_on};
/// let (clock, second) = (Clock::virtual_time(), Duration::from_secs(1));
/// let mut ticks = clock.every(second, MissedTick::Skip);
/// clock.advance(second * 7 / 2);
/// // Due at 1 s, asked for at 3.5 s: what was due at 2 and 3 s is left out.
/// assert_eq!(block_on(ticks.tick()), second);
/// assert_eq!(ticks.next_tick(), second * 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTick {
    /// All missed ticks come at once, one after the other, so that the number of ticks is right.
    #[default]
    Burst,
    /// Missed ticks are skipped, and the next tick is due at a multiple of the period, so that the pace is right.
    Skip,
    /// Missed ticks are skipped, and the next tick is due one period from now, so that the pause is right.
    Delay,
}

impl Clock {
    /// Ticks every `period` on this clock; the first tick comes after one period. See [`every`](crate::every).
    ///
    /// # Panics
    /// Panics if the period is 0.
    ///
    /// # Example
    /// See [`MissedTick`].
    pub fn every(&self, period: Duration, missed: MissedTick) -> Every {
        assert!(!period.is_zero(), "a period of 0 would tick for ever at once");
        let due = self.now().saturating_add(period);
        Every { clock: self.clone(), period, missed, due, sleep: None }
    }
}

/// Ticks at a steady pace; see [`every`](crate::every).
///
/// # Example
/// See [`MissedTick`].
#[must_use = "it ticks when asked to"]
pub struct Every {
    clock: Clock,
    period: Duration,
    missed: MissedTick,
    due: Duration,
    sleep: Option<Sleep>,
}

impl fmt::Debug for Every {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Every").field("period", &self.period).field("due", &self.due).finish_non_exhaustive()
    }
}

impl Every {
    /// Waits for the next tick and returns the time at which it was due. Cancel-safe: a tick that was not returned is
    /// not lost.
    ///
    /// # Example
    /// See [`MissedTick`].
    pub fn tick(&mut self) -> Tick<'_> {
        Tick { every: self }
    }

    /// Returns the due time of the next tick.
    ///
    /// # Example
    /// See [`MissedTick`].
    pub fn next_tick(&self) -> Duration {
        self.due
    }
}

/// The future of [`Every::tick`].
///
/// # Example
/// See [`MissedTick`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Tick<'a> {
    every: &'a mut Every,
}

impl Future for Tick<'_> {
    type Output = Duration;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Duration> {
        let every = &mut *self.every;
        let due = every.due;
        let sleep = every.sleep.get_or_insert_with(|| every.clock.sleep(due.saturating_sub(every.clock.now())));
        std::task::ready!(Pin::new(sleep).poll(context));
        every.sleep = None;
        let (period, now) = (every.period, every.clock.now());
        every.due = match every.missed {
            MissedTick::Delay if now >= due + period => now + period,
            MissedTick::Skip if now >= due + period => {
                let passed = now.saturating_sub(due).as_nanos() / period.as_nanos();
                due.saturating_add(
                    period.saturating_mul(u32::try_from(passed).unwrap_or(u32::MAX)).saturating_add(period),
                )
            }
            _ => due.saturating_add(period),
        };
        Poll::Ready(due)
    }
}

impl Drop for Tick<'_> {
    fn drop(&mut self) {
        // The timer ends with the wait; the next call of `tick` makes a new timer for the same tick.
        self.every.sleep = None;
    }
}
