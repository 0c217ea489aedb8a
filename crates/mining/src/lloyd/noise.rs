//! The noise component of an outlier radius. It has no centre and is equally far from every row. It takes the rows that
//! no centre is near to, and these move no centre.
//!
//! It is after the outlier component of the group's annealing of mass spectra (Fox, Mani, Pyne 2013). Its
//! cost is the square of a radius. So at temperature `T` a row at squared distance `d` from its centre leaves for it
//! where `d > radius^2 + T ln(P_k / P_sponge)`. At high temperatures that is far beyond all that belongs together, and
//! at low ones it is the radius. So it needs neither a late introduction nor a radius of its own for each temperature.
//!
//! For the kernels of bits and of sparse rows a component is a constant and a term for each column. The noise component
//! is one more, with terms of 0. The kernels for numbers do not know of it.

use lehr_numerics::elementary::{exp, ln};

use crate::Error;

/// The label of an outlier, which is in no cluster.
pub const OUTLIER: u32 = u32::MAX;

/// The noise component's share of all priors is this over the number of clusters.
const PRIOR: f64 = 0.1;
/// The default number.
const CLUSTERS: f64 = 10.0;
/// With more than this share of the weight in it, the result is no clustering of the rows.
const MOST_OUTSIDE: f64 = 0.5;

/// A noise component, in stored units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoiseComponent {
    /// The squared distance that it is away from every row.
    pub cost: f64,
    /// Its prior while masses are learnt, which add up to the rest of 1.
    prior: f64,
    /// As it was given, for people.
    radius: f64,
}

impl NoiseComponent {
    /// The noise component of a radius in the unit of the points, for the requested number of clusters, if any. `unit`
    /// of the points' units is one stored unit.
    pub fn new(radius: f64, unit: f64, clusters: Option<usize>) -> Self {
        let clusters = clusters.map_or(CLUSTERS, |clusters| clusters as f64);
        Self { cost: (radius / unit) * (radius / unit), prior: PRIOR / clusters, radius }
    }

    /// The sum of the centres' priors while they are learnt.
    pub fn rest(&self) -> f64 {
        1.0 - self.prior
    }

    /// Its score while masses are learnt: the logarithm of its prior, less its cost over the temperature.
    pub fn mass_score(&self, temperature: f64) -> f64 {
        ln(self.prior) - self.cost / temperature
    }

    /// Its score where every centre counts the same.
    pub fn plain_score(&self, temperature: f64) -> f64 {
        plain_score(self.cost, temperature)
    }

    /// Whether it is a run's result that it holds so large a share.
    ///
    /// # Errors
    /// Returns [`Error::MostlyOutside`].
    pub fn check(&self, share: f64) -> Result<(), Error> {
        if share > MOST_OUTSIDE {
            return Err(Error::MostlyOutside { percent: 100.0 * share, radius: self.radius });
        }
        Ok(())
    }
}

/// The noise component's share of a row, if its own score is `score` and the logarithm of the row's sum over the
/// centres is `log_sum`.
pub(crate) fn share_of(score: f64, log_sum: f64) -> f64 {
    1.0 / (1.0 + exp((log_sum - score).min(700.0)))
}

/// The score of the noise component of a squared radius, where every centre counts the same.
pub(crate) fn plain_score(squared_radius: f64, temperature: f64) -> f64 {
    ln(PRIOR) - squared_radius / temperature
}

/// The place, in the hard limit, of a row at a squared distance from its nearest centre. Returns the share of it that
/// the noise component leaves at the temperature, or `Err` with the share of that, if this is nearer.
pub(crate) fn within(squared_radius: f64, squared: f64, temperature: f64) -> Result<f64, f64> {
    // The logarithm of the centre's score over that of the noise component. Both squared distances may be infinite.
    let above = (squared_radius - squared) / temperature - ln(PRIOR);
    let share = if above.is_nan() { 0.0 } else { 1.0 / (1.0 + exp(above.min(700.0))) };
    if squared > squared_radius { Err(share) } else { Ok(1.0 - share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_all_numbers_and_temperatures_near_none_are_outside_or_inside() {
        for temperature in [f64::MIN_POSITIVE, 1e-3, 1.0] {
            assert_eq!(within(4.0, f64::INFINITY, temperature), Err(1.0), "{temperature}");
            let Ok(inside) = within(4.0, 0.0, temperature) else { panic!("outside at {temperature}") };
            assert!(inside > 0.9 && inside <= 1.0);
        }
    }
}
