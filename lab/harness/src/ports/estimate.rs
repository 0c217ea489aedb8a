//! What a measurement will cost, before it starts and while it runs.
//!
//! The estimate is an upper bound per sample (its time limit) times samples, so the whole measurement ends earlier than it says at first. While it runs, what is
//! left is scaled by what the cases so far took of their bounds.

use std::time::Instant;

use super::definition::Definition;
use super::pattern::{Form, Run};
use crate::measure::now;

/// Seconds that a sample lasts besides its stages: a dispatcher that starts and ends, a probe, a line to the peer.
const AROUND_SAMPLE: f64 = 0.015;

/// The cases to come, each with the seconds that it takes at most.
#[derive(Debug, Default)]
pub struct Plan {
    cases: Vec<(String, f64)>,
    started: Option<Instant>,
}

/// What the plan must know of the session.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// Cores of the machine.
    pub cores: usize,
    /// Engines of the peers that take part in the patterns, floors included.
    pub peers: usize,
    /// Rounds of turns.
    pub rounds: usize,
    /// A unit of computation in seconds.
    pub unit: f64,
}

impl Plan {
    /// The cells of the patterns that `wants` takes.
    pub fn add_cells(&mut self, definition: &Definition, sides: Sides, mut wants: impl FnMut(&Run) -> bool) {
        for cell in definition.cells() {
            if !wants(&cell) {
                continue;
            }
            let ours = if cell.form == Form::Rendezvous { 1 } else { 3 };
            let workers = if definition.is_quick || cell.ranks <= 2 { 2 } else { 3 };
            let samples = workers * (ours + sides.peers);
            // With computation, the same computation alone is taken beside each sample.
            let parts = if cell.units > 0 { 2.0 } else { 1.0 };
            let each = parts * definition.seconds_per_sample_max + AROUND_SAMPLE;
            self.add(format!("{} {}", cell.form, cell.case()), (samples * sides.rounds) as f64 * each);
        }
    }

    /// Posted arrays: three sides on one core and on all, each with a quarter of its stages before as warming up.
    pub fn add_posting(&mut self, definition: &Definition, sides: Sides) {
        for &doubles in &definition.posting_doubles {
            for &units in &definition.posting_units {
                let bytes = 8.0 * doubles as f64;
                let by_time = definition.seconds_per_sample_max / (f64::from(units).max(1e-9) * sides.unit);
                let times = (definition.posting_bytes / bytes).min(by_time).max(2.0);
                // Two gigabytes a second are what a copy out of every cache reaches, and what a source array is made at.
                let stages = times * (bytes / 2e9 + f64::from(units) * sides.unit);
                let each = 1.25 * stages + bytes / 2e9 + AROUND_SAMPLE;
                // Five forms and two numbers of cores.
                self.add(format!("posting, {doubles} doubles, {units} units"), 30.0 * sides.rounds as f64 * each);
            }
        }
    }

    /// A case that takes so many seconds at most.
    pub fn add(&mut self, case: String, seconds: f64) {
        self.cases.push((case, seconds));
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
        // A case of several parts is planned by what their names have in common: the beginning, and some of what follows.
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
    use crate::ports::definition;

    const SIDES: Sides = Sides { cores: 2, peers: 10, rounds: 5, unit: 1e-6 };

    #[test]
    fn a_plan_is_the_sum_of_its_cases_and_more_rounds_cost_more() {
        let definition = definition::file().full;
        let plan = |rounds| {
            let mut plan = Plan::default();
            plan.add_cells(&definition, Sides { rounds, ..SIDES }, |_| true);
            plan.add_posting(&definition, Sides { rounds, ..SIDES });
            plan
        };
        let (five, ten) = (plan(5), plan(10));
        assert_eq!(five.cases.len(), definition.cells().len() + 15);
        assert!((ten.seconds() / five.seconds() - 2.0).abs() < 1e-9);
    }

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
