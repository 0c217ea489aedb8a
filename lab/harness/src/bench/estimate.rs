//! What a measurement will cost, before it starts and while it runs.
//!
//! The estimate is an upper bound per sample (its time limit) times samples, so the whole measurement ends earlier than
//! it says at first. While it runs, what is left is scaled by what the cases so far took of their bounds.

use std::time::Instant;

use crate::measure::now;

/// Seconds that a sample lasts besides its stages: a dispatcher that starts and ends, a probe, a line to the peer.
pub const AROUND_SAMPLE: f64 = 0.015;

/// The cases to come, each with the seconds that it takes at most.
#[derive(Debug, Default)]
pub struct Plan {
    cases: Vec<(String, f64)>,
    started: Option<Instant>,
}

impl Plan {
    /// A case that takes so many seconds at most.
    pub fn add(&mut self, case: String, seconds: f64) {
        self.cases.push((case, seconds));
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether nothing will be measured.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// All of it in seconds, at most.
    pub fn seconds(&self) -> f64 {
        self.cases.iter().map(|(_, seconds)| seconds).sum()
    }

    /// One line for the reader who has to decide whether to wait.
    pub fn announcement(&self) -> String {
        format!(
            "{} cases, at most {}; Ctrl-C ends it and keeps what is measured",
            self.cases.len(),
            duration(self.seconds())
        )
    }

    /// Where the case of this name stands in the plan, and what is left from here; empty for one that was not planned.
    pub fn reached(&mut self, case: &str) -> String {
        let start = *self.started.get_or_insert_with(now);
        self.standing(case, start.elapsed().as_secs_f64())
    }

    fn standing(&self, case: &str, gone: f64) -> String {
        // A case of several parts is planned by what their names have in common: the beginning, and some of what
        // follows.
        let has = |part: &str| case.split(", ").any(|own| own == part);
        let is_part = |name: &String| {
            let mut parts = name.split(", ");
            parts.next().is_some_and(|first| case.starts_with(first)) && parts.all(has)
        };
        let Some(place) = self.cases.iter().position(|(name, _)| is_part(name)) else { return String::new() };
        let before: f64 = self.cases[..place].iter().map(|(_, seconds)| seconds).sum();
        let left = self.seconds() - before;
        // Too little is known at the beginning.
        let left = if before > 60.0 { left * gone / before } else { left };
        format!("[{} of {}, {} left] ", place + 1, self.cases.len(), duration(left))
    }
}

/// Seconds as a person says them.
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
