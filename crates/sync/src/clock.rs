//! The clock. No result of a computation depends on the time.

#[cfg(all(not(any(loom, shuttle)), target_family = "wasm"))]
use browser::Instant;
#[cfg(all(not(any(loom, shuttle)), not(target_family = "wasm")))]
use std::time::Instant;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time from which a wait is measured.
#[derive(Clone, Copy, Debug)]
pub struct Moment(#[cfg(not(any(loom, shuttle)))] Instant);

impl Moment {
    /// Returns the current moment.
    #[inline]
    pub fn now() -> Self {
        Self(
            #[cfg(not(any(loom, shuttle)))]
            Instant::now(),
        )
    }

    /// Returns the time from an earlier moment to this moment. In a model, returns [`Duration::MAX`], as
    /// [`elapsed`](Self::elapsed) does.
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

    /// Returns the time since this moment. In a model, returns [`Duration::MAX`], so that every wait is over: waiting
    /// would only add schedules to explore.
    #[inline]
    pub fn elapsed(self) -> Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.elapsed();
        #[cfg(any(loom, shuttle))]
        return Duration::MAX;
    }
}

/// Returns the Unix time in milliseconds, to show users when an event happened.
pub fn unix_ms() -> u64 {
    let since = wall_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the wall-clock time, for programs that collect records from several machines.
pub fn wall_time() -> SystemTime {
    #[cfg(target_family = "wasm")]
    return UNIX_EPOCH + browser::milliseconds();
    #[cfg(not(target_family = "wasm"))]
    SystemTime::now()
}

/// The clock of the web page that runs the program, because WebAssembly has no clock.
#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "a function that the page gives")]
mod browser {
    use std::time::Duration;

    #[link(wasm_import_module = "lehr")]
    unsafe extern "C" {
        /// Returns the Unix time in milliseconds, with a fraction.
        fn now() -> f64;
    }

    /// Returns the time since the beginning of 1970.
    pub(super) fn milliseconds() -> Duration {
        // SAFETY: the function takes nothing and returns a number.
        Duration::from_secs_f64(unsafe { now() }.max(0.0) / 1000.0)
    }

    /// A point in time.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Instant(Duration);

    impl Instant {
        pub(super) fn now() -> Self {
            Self(milliseconds())
        }

        /// Returns the time since `earlier`, or 0 if the page's clock was set back.
        pub(super) fn duration_since(self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }

        pub(super) fn elapsed(self) -> Duration {
            Self::now().duration_since(self)
        }
    }
}
