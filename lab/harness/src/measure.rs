//! Measures time in rounds in which the sides take turns, and gives minimum, median and maximum.
//!
//! Sides take turns because a machine changes during a measurement (frequency, other programs, memory pages). Sides
//! measured one after the other would not be comparable. There is no mean, since one interruption would change it. No
//! sample is discarded.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Returns the seconds that `work` takes, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    #[allow(clippy::disallowed_methods, reason = "the harness's clock")]
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// Returns the present moment, for work that is timed in parts or on several threads.
pub fn now() -> Instant {
    #[allow(clippy::disallowed_methods, reason = "the harness's clock")]
    Instant::now()
}

/// Waits this many seconds, while the lab observes something idle.
pub fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// The minimum, median and maximum of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The median (the mean of the middle two for an even count).
    pub median: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of `figures`.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn of(figures: &[f64]) -> Self {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) };
        Self { min: sorted[0], median, max: sorted[sorted.len() - 1] }
    }
}

/// One side of a comparison: does its work once and returns the seconds.
pub type Side<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// Returns the seconds of each side in each round. Round 0 warms up and is not kept. The order rotates by one each
/// round, so that no side always follows the same other side.
///
/// # Errors
/// Returns the first error of a side: a wrong answer, or a runner that has ended.
pub fn take_turns(rounds: usize, sides: &mut [Side<'_>]) -> Result<Vec<Vec<f64>>> {
    let mut seconds = vec![Vec::with_capacity(rounds); sides.len()];
    for round in 0..=rounds {
        for turn in 0..sides.len() {
            let side = (turn + round) % sides.len();
            let taken = sides[side]()?;
            if round > 0 {
                seconds[side].push(taken);
            }
        }
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(Spread::of(&[4.0, 1.0, 3.0, 2.0]), Spread { min: 1.0, median: 2.5, max: 4.0 });
        assert_eq!(Spread::of(&[7.0]).median, 7.0);
    }

    #[test]
    fn sides_take_turns_and_the_first_round_is_not_kept() {
        let order = RefCell::new(Vec::new());
        let mut sides: Vec<Side<'_>> = Vec::new();
        for name in 0..2 {
            let order = &order;
            sides.push(Box::new(move || {
                order.borrow_mut().push(name);
                Ok(order.borrow().len() as f64)
            }));
        }
        let seconds = take_turns(2, &mut sides).unwrap();
        assert_eq!(*order.borrow(), [0, 1, 1, 0, 0, 1]);
        assert_eq!(seconds, [[4.0, 5.0], [3.0, 6.0]]);
    }

    #[test]
    fn a_failing_side_ends_the_measurement() {
        let mut sides: Vec<Side<'_>> = vec![Box::new(|| anyhow::bail!("wrong answer"))];
        assert!(take_turns(3, &mut sides).is_err());
    }
}
