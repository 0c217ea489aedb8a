//! The clock. No result depends on it.

#[cfg(not(any(loom, shuttle)))]
use std::time::Instant;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time from which a wait is measured.
#[derive(Clone, Copy, Debug)]
pub struct Moment(#[cfg(not(any(loom, shuttle)))] Instant);

impl Moment {
    /// Returns the present moment.
    #[inline]
    pub fn now() -> Self {
        Self(
            #[cfg(not(any(loom, shuttle)))]
            Instant::now(),
        )
    }

    /// Returns the time from an earlier moment to this one; in a model, the longest duration, as
    /// [`elapsed`](Self::elapsed).
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

    /// Returns the time since this moment. In a model it is the longest duration: waiting would only multiply the
    /// schedules to explore.
    #[inline]
    pub fn elapsed(self) -> Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.elapsed();
        #[cfg(any(loom, shuttle))]
        return Duration::MAX;
    }
}

/// Returns the milliseconds since the beginning of 1970, to show people when something happened.
pub fn unix_ms() -> u64 {
    let since = wall_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time of day, for programs that collect records of several machines.
pub fn wall_time() -> SystemTime {
    SystemTime::now()
}
