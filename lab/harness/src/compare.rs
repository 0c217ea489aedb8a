//! Compares figures: ratios of rounds, and whether a goal is met.

use crate::measure::Spread;

/// Returns the ratio of two sides round by round (ours divided by theirs), so that disturbances of a whole round
/// cancel.
///
/// # Panics
/// Panics if the sides have different numbers of rounds.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> Spread {
    assert_eq!(ours.len(), theirs.len());
    let pairs: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    Spread::of(&pairs)
}

/// Formats "within 1.50" or "misses 1.50", for a figure that should not exceed `aim`.
pub fn verdict(figure: f64, aim: f64) -> String {
    if figure <= aim { format!("within {aim}") } else { format!("misses {aim}") }
}

/// Returns how much `value` exceeds `best`, in %.
pub fn excess_percent(value: f64, best: f64) -> f64 {
    100.0 * (value / best - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_round_by_round() {
        let spread = ratios(&[1.0, 4.0], &[2.0, 4.0]);
        assert_eq!((spread.min, spread.max), (0.5, 1.0));
    }

    #[test]
    fn verdicts_and_excesses() {
        assert_eq!(verdict(1.4, 1.5), "within 1.5");
        assert_eq!(verdict(1.6, 1.5), "misses 1.5");
        assert!((excess_percent(101.0, 100.0) - 1.0).abs() < 1e-12);
    }
}
