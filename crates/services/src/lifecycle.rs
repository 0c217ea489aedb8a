//! The life of a service: its phases, why it ends, and whether it restarts.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The phase of a service's life.
///
/// # Example
/// ```
/// use lehr_services::Phase;
/// assert_eq!(Phase::Ready.to_string(), "ready");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The service looks for its partners, and requests fail with `Code::Unavailable`. Then it prepares itself, and
    /// requests wait.
    Starting,
    /// The service handles requests.
    Ready,
    /// The running requests have ended, and `Service::stop` runs. The service refuses new requests. Independent
    /// operations may still run.
    Stopping,
    /// The service has crashed and is about to start again.
    Restarting,
    /// The service crashed, or failed to start again, more often than its restart policy allows.
    Failed,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Stopping => "stopping",
            Self::Restarting => "restarting",
            Self::Failed => "failed",
        })
    }
}

/// The reason why a service ends.
///
/// # Example
/// See [`Service::stop`](crate::Service::stop).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// A client sent the service a drop request.
    Dropped,
    /// The host shuts down.
    Shutdown,
    /// An exclusive handler of the service panicked, and the policy is [`Restart::OnPanic`]. The service may start
    /// again.
    Crashed {
        /// The panic's text.
        message: String,
    },
}

/// Whether a service restarts after a crash.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_services::Restart;
/// let policy = Restart::OnPanic { max: 3, within: Duration::from_secs(10) };
/// assert_ne!(policy, Restart::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// A panic in a handler becomes a fault for the sender of the request, and the service continues.
    #[default]
    Never,
    /// A panic in an exclusive handler may have left the state half changed. So this panic restarts the service, at
    /// most `max` times in a period of `within`. A restart that fails is repeated, and counts too. When no restart is
    /// left, the service stays down, and its path answers [`Code::StartFailed`](crate::Code).
    OnPanic {
        /// The maximum number of restarts within the period.
        max: usize,
        /// The length of the period, on the host's clock.
        within: Duration,
    },
}

/// The times of a service's restarts within the period of its policy.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    times: VecDeque<Duration>,
}

impl Restarts {
    /// Returns whether the policy allows one more restart, and counts it if so.
    pub(crate) fn allow(&mut self, policy: Restart, now: Duration) -> bool {
        let Restart::OnPanic { max, within } = policy else { return false };
        while self.times.front().is_some_and(|time| now.saturating_sub(*time) >= within) {
            self.times.pop_front();
        }
        let is_allowed = self.times.len() < max;
        if is_allowed {
            self.times.push_back(now);
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_are_counted_in_a_span_that_moves_on() {
        let policy = Restart::OnPanic { max: 2, within: Duration::from_secs(10) };
        let mut restarts = Restarts::default();
        let allowed: Vec<bool> =
            [0, 1, 9, 10, 10, 11].map(|second| restarts.allow(policy, Duration::from_secs(second))).into();
        assert_eq!(allowed, [true, true, false, true, false, true]);
        assert!(!Restarts::default().allow(Restart::Never, Duration::ZERO));
    }
}
