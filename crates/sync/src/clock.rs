//! The clock. No result depends on it.

#[cfg(not(any(loom, shuttle)))]
use std::time::Instant;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time from which a wait is measured.
#[derive(Clone, Copy, Debug)]
pub struct Moment(#[cfg(not(any(loom, shuttle)))] Instant);

impl Moment {
    /// This point.
    #[inline]
    pub fn now() -> Self {
        Self(
            #[cfg(not(any(loom, shuttle)))]
            Instant::now(),
        )
    }

    /// Time from an earlier point to this one; for ever in a model, as [`elapsed`](Self::elapsed).
    #[inline]
    pub fn since(self, earlier: Self) -> Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.duration_since(earlier.0);
        #[cfg(any(loom, shuttle))]
        {
            let _ = earlier;
            Duration::MAX
        }
    }

    /// Time since then; for ever in a model, where patience would only multiply the schedules to be explored.
    #[inline]
    pub fn elapsed(self) -> Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.elapsed();
        #[cfg(any(loom, shuttle))]
        return Duration::MAX;
    }
}

/// Milliseconds since the beginning of 1970: when something happened, for people.
pub fn unix_ms() -> u64 {
    let since = wall_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The time of day: when something happened, for programs that collect records of several machines.
pub fn wall_time() -> SystemTime {
    SystemTime::now()
}
