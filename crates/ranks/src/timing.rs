//! The clock, and nested timers over it. Nothing that is computed depends on it.
#![allow(clippy::disallowed_methods, reason = "this is the door to the clock")]

use std::time::Instant;

/// Measures from its start on.
///
/// # Example
/// ```
/// let stopwatch = lehr_ranks::timing::Stopwatch::start();
/// assert!(stopwatch.seconds() >= 0.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// Seconds by phase, where phases may lie inside phases: each counts the time during which it was the innermost.
///
/// # Example
/// ```
/// let mut phases = lehr_ranks::timing::Phases::new();
/// phases.enter("anneal");
/// phases.enter("split");
/// phases.leave();
/// phases.leave();
/// let names: Vec<_> = phases.seconds().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["anneal", "split"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// In order of first entry.
    totals: Vec<(&'static str, f64)>,
    /// Positions in `totals`, the innermost last.
    open: Vec<usize>,
    since: Option<Stopwatch>,
}

impl Phases {
    /// No phase yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a phase inside the present one.
    pub fn enter(&mut self, name: &'static str) {
        self.charge();
        let phase = self.totals.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.totals.push((name, 0.0));
            self.totals.len() - 1
        });
        self.open.push(phase);
    }

    /// Ends the innermost phase.
    ///
    /// # Panics
    /// If there is none.
    pub fn leave(&mut self) {
        self.charge();
        assert!(self.open.pop().is_some(), "a phase is left after it was entered");
    }

    /// Seconds of each phase, in order of first entry; phases still open count up to their last change.
    pub fn seconds(&self) -> Vec<(String, f64)> {
        self.totals.iter().map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect()
    }

    /// Charges the time since the last change to the innermost phase.
    fn charge(&mut self) {
        let now = Stopwatch::start();
        if let (Some(since), Some(&phase)) = (self.since, self.open.last()) {
            self.totals[phase].1 += (now.start - since.start).as_secs_f64();
        }
        self.since = Some(now);
    }
}
