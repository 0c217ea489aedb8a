//! Fits the growth of costs with a size: `c x^e`, to the logarithms of each round.

use lehr_numerics::elementary::ln;

use crate::bench::figure::{Place, Samples};
use crate::overhead::model::line;

/// The name of the experiment of the exponents.
pub const EXPONENT: &str = "exponent";

/// Sizes, each with its cost in every round.
pub type Points = Vec<(f64, Vec<f64>)>;

/// Returns one exponent for each round; `None` if there are fewer than three sizes.
pub fn exponents(points: &Points) -> Option<Samples> {
    let rounds = points.iter().map(|(_, values)| values.len()).min()?;
    let logarithms: Vec<f64> = points.iter().map(|(size, _)| ln(*size)).collect();
    let mut samples = Samples::default();
    for round in 0..rounds {
        let values: Vec<f64> = points.iter().map(|(_, values)| ln(values[round])).collect();
        samples.push(line(&logarithms, &values)?.coefficients[1], Place::Unknown);
    }
    (rounds > 0).then_some(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_found_again_and_two_sizes_have_none() {
        let point = |size: f64| (size, vec![3e-7 * size.powi(2), 5e-7 * size * size.sqrt()]);
        let found = exponents(&vec![point(1000.0), point(2000.0), point(8000.0)]).unwrap();
        assert!((found.values()[0] - 2.0).abs() < 1e-12 && (found.values()[1] - 1.5).abs() < 1e-12);
        assert!(exponents(&vec![point(1000.0), point(2000.0)]).is_none());
        assert!(exponents(&Vec::new()).is_none());
    }
}
