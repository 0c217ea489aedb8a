//! Estimates the duration of a measurement, before it starts and while it runs.
//!
//! The estimate is the time limit of a sample times the number of samples. So the whole measurement ends earlier than
//! the first estimate. During the measurement, the estimate of the remaining time is scaled by the share of their upper
//! bounds that earlier cases took.

use std::time::Instant;

use crate::measure::now;

/// The seconds that a sample takes in addition to its stages: starting and ending a dispatcher, a probe, a line to the
/// peer.
pub const AROUND_SAMPLE: f64 = 0.015;

/// The remaining cases, each with an upper bound of its seconds.
#[derive(Debug, Default)]
pub struct Plan {
    cases: Vec<(String, f64)>,
    started: Option<Instant>,
}

impl Plan {
    /// Adds a case that takes at most this many seconds.
    pub fn add(&mut self, case: String, seconds: f64) {
        self.cases.push((case, seconds));
    }

    /// Returns the number of cases.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Returns whether the plan has no case.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Returns an upper bound of the seconds of all cases.
    pub fn seconds(&self) -> f64 {
        self.cases.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Returns one line that helps the user decide whether to wait.
    pub fn announcement(&self) -> String {
        format!(
            "{} cases, at most {}; Ctrl-C ends it and keeps what is measured",
            self.cases.len(),
            duration(self.seconds())
        )
    }

    /// Returns the position of this case in the plan and the remaining time; empty if the case is not in the plan.
    pub fn reached(&mut self, case: &str) -> String {
        let start = *self.started.get_or_insert_with(now);
        self.standing(case, start.elapsed().as_secs_f64())
    }

    fn standing(&self, case: &str, gone: f64) -> String {
        // The plan may have one entry for a case of several parts: the beginning of their names, and some of the
        // following parts.
        let has = |part: &str| case.split(", ").any(|own| own == part);
        let is_part = |name: &String| {
            let mut parts = name.split(", ");
            parts.next().is_some_and(|first| case.starts_with(first)) && parts.all(has)
        };
        let Some(place) = self.cases.iter().position(|(name, _)| is_part(name)) else { return String::new() };
        let before: f64 = self.cases[..place].iter().map(|(_, seconds)| seconds).sum();
        let left = self.seconds() - before;
        // In the first minute, too little is known to scale the estimate.
        let left = if before > 60.0 { left * gone / before } else { left };
        format!("[{} of {}, {} left] ", place + 1, self.cases.len(), duration(left))
    }
}

/// Formats seconds for people.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil() as usize;
    match minutes {
        0 | 1 => format!("{} s", seconds.ceil()),
        2..=90 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn what_is_left_is_scaled_by_what_was_faster_than_its_bound() {
        let mut plan = Plan::default();
        for (name, seconds) in [("one", 100.0), ("posting, 1000 doubles", 200.0), ("three", 100.0)] {
            plan.add(name.into(), seconds);
        }
        assert_eq!(plan.standing("one", 0.0), "[1 of 3, 7 min left] ");
        assert_eq!(plan.standing("posting outside, 1000 doubles, 1 cores", 20.0), "[2 of 3, 60 s left] ");
        assert_eq!(plan.standing("not planned", 20.0), "");
        plan.add("four, 0 units".into(), 1.0);
        assert_eq!(plan.standing("four, 20 units", 20.0), "");
    }

    #[test]
    fn durations_are_rounded_up() {
        assert_eq!((duration(59.2), duration(61.0)), ("60 s".into(), "2 min".into()));
        assert_eq!(duration(6000.0), "1 h 40 min");
    }
}
