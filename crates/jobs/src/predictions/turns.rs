//! The limits of a service of predictions: how many requests compute at once, and how many rows a second.

use std::str::FromStr;
use std::time::Duration;

use lehr_runtime::Port;
use lehr_services::{Code, Fault};
use lehr_sync::{Arc, Count, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The suggested delay for a client that finds the queue full.
const RETRY: Duration = Duration::from_secs(1);

/// The limits of a service of predictions.
///
/// # Example
/// ```
/// use lehr_jobs::predictions::Settings;
/// let settings: Settings = "concurrency=2,rows_per_second=50000".parse()?;
/// assert_eq!((settings.concurrency, settings.rows_per_second, settings.rows), (2, Some(50_000), 65_536));
/// assert!("rows=0".parse::<Settings>().is_err());
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The maximum number of rows of a request. Default: 65,536.
    pub rows: u64,
    /// The maximum number of rows a second, as a mean over all requests. A request may exceed it; later requests then
    /// get the status 429 until the mean is kept. Default: no limit.
    pub rows_per_second: Option<u64>,
    /// The maximum number of requests that compute at once, each on one thread. Default: 1.
    pub concurrency: usize,
    /// The maximum number of requests that wait for their turn; further requests get the status 429. Default: 64.
    pub queue: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rows: 1 << 16, rows_per_second: None, concurrency: 1, queue: 64 }
    }
}

impl Settings {
    /// Checks that the settings are valid.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`], which lists all invalid settings.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::predictions::Settings;
    /// assert!(Settings { concurrency: 0, ..Settings::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<(), Fault> {
        let counts = [
            ("rows", Some(self.rows)),
            ("rows_per_second", self.rows_per_second),
            ("concurrency", Some(self.concurrency as u64)),
        ];
        let is_none = |(_, count): &(&str, Option<u64>)| *count == Some(0);
        let faults: Vec<String> = counts
            .into_iter()
            .filter(is_none)
            .map(|(name, _)| format!("{name}: expected at least 1, found 0"))
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(Fault::new(Code::InvalidValue, faults.join("; "))) }
    }
}

impl FromStr for Settings {
    type Err = Fault;

    /// Reads `name=value` pairs separated by commas.
    fn from_str(text: &str) -> Result<Self, Fault> {
        let mut settings = Self::default();
        let mut faults = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let count = value.parse::<u64>();
            match (name, count) {
                ("rows", Ok(count)) => settings.rows = count,
                ("rows_per_second", Ok(count)) => settings.rows_per_second = Some(count),
                ("concurrency", Ok(count)) => settings.concurrency = usize::try_from(count).unwrap_or(usize::MAX),
                ("queue", Ok(count)) => settings.queue = usize::try_from(count).unwrap_or(usize::MAX),
                ("rows" | "rows_per_second" | "concurrency" | "queue", Err(_)) => {
                    faults.push(format!("{name}: expected a whole number, found {value:?}"));
                }
                _ => faults.push(format!("expected rows, rows_per_second, concurrency or queue, found {name:?}")),
            }
        }
        if !faults.is_empty() {
            return Err(Fault::new(Code::InvalidValue, faults.join("; ")));
        }
        settings.check().map(|()| settings)
    }
}

/// The turns of requests, and the rows that they may still have.
#[derive(Debug)]
pub(super) struct Turns {
    settings: Settings,
    /// A token for each request that may begin to compute.
    free: Port<()>,
    waiting: Count,
    /// The rows that are allowed at a time of the host's clock. The number is negative after a request that exceeded
    /// the rate.
    left: Mutex<(f64, Duration)>,
}

/// A request that computes. Dropping this value lets the next request begin.
pub(super) struct Turn(Arc<Turns>);

impl Drop for Turn {
    fn drop(&mut self) {
        // The port closes only with the service, which then needs no turns.
        let _ = self.0.free.post_detached(());
    }
}

/// A request that waits. Dropping this value makes room for another one.
struct Waiting<'a>(&'a Count);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // The count wraps around, so this subtracts 1.
        self.0.add(u64::MAX);
    }
}

impl Turns {
    pub(super) fn new(settings: Settings) -> Arc<Self> {
        let free = Port::named("turns of predictions");
        // More turns than threads would never be used.
        for _ in 0..settings.concurrency.min(1 << 10) {
            let _ = free.post_detached(());
        }
        let left = Mutex::new((settings.rows_per_second.map_or(0.0, |rows| rows as f64), Duration::ZERO));
        Arc::new(Self { settings, free, waiting: Count::default(), left })
    }

    /// Waits until the request may compute.
    ///
    /// # Errors
    /// Returns [`Code::QueuingLimitExceeded`] if too many requests wait.
    pub(super) async fn begin(self: &Arc<Self>) -> Result<Turn, Fault> {
        // Nobody overtakes a request that waits.
        if self.waiting.get() == 0 && self.free.try_receive().is_some() {
            return Ok(Turn(self.clone()));
        }
        let waiting = self.waiting.add(1);
        let _waiting = Waiting(&self.waiting);
        if waiting >= self.settings.queue as u64 {
            let reason = format!("{waiting} requests for predictions wait already, and no more are allowed");
            return Err(Fault::new(Code::QueuingLimitExceeded, reason).retry_after(RETRY));
        }
        let received = self.free.receive().await;
        received.map_err(|_| Fault::new(Code::ServiceStopping, "the service of predictions stops"))?;
        Ok(Turn(self.clone()))
    }

    /// Admits a request with so many rows at a time of the host's clock.
    ///
    /// # Errors
    /// Returns [`Code::TooLarge`] if the request has too many rows. Returns [`Code::QueuingLimitExceeded`] if earlier
    /// requests had more rows than the rate allows, with the time until the next request.
    pub(super) fn admit(&self, rows: usize, now: Duration) -> Result<(), Fault> {
        let most = self.settings.rows;
        if rows as u64 > most {
            let reason =
                format!("{rows} rows in one request: at most {most} are allowed; send them in several requests");
            return Err(Fault::new(Code::TooLarge, reason));
        }
        self.take(rows, now)
    }

    /// Checks whether a request may have rows now, before they are read.
    ///
    /// # Errors
    /// Returns [`Code::QueuingLimitExceeded`] as [`admit`](Self::admit) does.
    pub(super) fn check(&self, now: Duration) -> Result<(), Fault> {
        self.take(0, now)
    }

    fn take(&self, rows: usize, now: Duration) -> Result<(), Fault> {
        let Some(rate) = self.settings.rows_per_second else { return Ok(()) };
        let mut left = self.left.lock();
        let refilled = left.0 + now.saturating_sub(left.1).as_secs_f64() * rate as f64;
        *left = (refilled.min(rate as f64), now);
        if left.0 <= 0.0 {
            let wait = Duration::from_secs_f64((1.0 - left.0) / rate as f64);
            let reason = format!("the service may label {rate} rows a second, and earlier requests had more");
            return Err(Fault::new(Code::QueuingLimitExceeded, reason).retry_after(wait));
        }
        left.0 -= rows as f64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lehr_runtime::block_on;

    use super::*;

    #[test]
    fn rows_beyond_the_rate_delay_the_requests_that_follow() {
        let turns = Turns::new("rows=100,rows_per_second=50".parse().unwrap());
        let at = Duration::from_millis;
        assert_eq!(turns.admit(101, at(0)).unwrap_err().code(), Code::TooLarge);
        turns.admit(100, at(0)).unwrap();
        // 50 rows were allowed and 100 came, so the next request waits until 51 more rows are allowed.
        let fault = turns.admit(1, at(0)).unwrap_err();
        assert_eq!(fault.code(), Code::QueuingLimitExceeded);
        assert_eq!(fault.retry_hint(), Some(at(1020)));
        assert!(turns.admit(1, at(1000)).is_err());
        turns.admit(1, at(1020)).unwrap();
        // After a long pause, one second's rows are allowed and no more.
        turns.admit(50, at(60_000)).unwrap();
        assert!(turns.admit(1, at(60_000)).is_err());
    }

    #[test]
    fn requests_take_turns_and_too_many_are_refused() {
        let turns = Turns::new("concurrency=2,queue=1".parse().unwrap());
        block_on(async {
            let (one, two) = (turns.begin().await.unwrap(), turns.begin().await.unwrap());
            let mut third = Box::pin(turns.begin());
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(third.as_mut().poll(&mut context).is_pending());
            let refused = turns.begin().await.err().unwrap();
            assert_eq!(refused.code(), Code::QueuingLimitExceeded);
            drop(one);
            let third = third.await.unwrap();
            drop((two, third));
            let _all = (turns.begin().await.unwrap(), turns.begin().await.unwrap());
            assert_eq!(turns.waiting.get(), 0);
        });
    }
}
