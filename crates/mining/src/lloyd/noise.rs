//! The noise component, which an outlier radius adds. The component has no centre, and its distance from every row is
//! the same. It takes the rows that are far from all centres, so that these rows do not move any centre.
//!
//! The noise component follows the outlier component in the annealing of mass spectra by Fox, Mani and Pyne (2013). Its
//! cost is the square of the outlier radius. At temperature `T`, it takes a row at squared distance `d` from its centre
//! if `d > radius^2 + T ln(P_k / P_sponge)`. At high temperatures, this limit is far beyond every cluster. At low
//! temperatures, the limit is the squared radius. Therefore the component can exist from the start, with the same
//! radius at all temperatures.
//!
//! The kernels of bits and of sparse rows represent a component by a constant and a term for each column. There, the
//! noise component is an additional component whose terms are 0. The kernels of numbers do not handle the noise
//! component.

use lehr_numerics::elementary::{exp, ln};

use crate::Error;

/// The label of an outlier, which is in no cluster.
pub const OUTLIER: u32 = u32::MAX;

/// The prior of the noise component, before it is divided by the number of clusters.
const PRIOR: f64 = 0.1;
/// The number of clusters that the prior assumes if no number is requested.
const CLUSTERS: f64 = 10.0;
/// The maximum share of the weight that the noise component may hold. The run fails if the component holds more.
const MOST_OUTSIDE: f64 = 0.5;

/// A noise component, in stored units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoiseComponent {
    /// The squared distance from the component to every row.
    pub cost: f64,
    /// The prior of the component while the masses of the clusters are learnt. These masses add up to 1 minus this
    /// prior.
    prior: f64,
    /// The outlier radius in the user's unit, for error messages.
    radius: f64,
}

impl NoiseComponent {
    /// Creates the noise component for an outlier radius in the unit of the points. `clusters` is the requested number
    /// of clusters, if any. `unit` is the length of one stored unit, in the unit of the points.
    pub fn new(radius: f64, unit: f64, clusters: Option<usize>) -> Self {
        let clusters = clusters.map_or(CLUSTERS, |clusters| clusters as f64);
        Self { cost: (radius / unit) * (radius / unit), prior: PRIOR / clusters, radius }
    }

    /// The sum of the centres' priors while these priors are learnt.
    pub fn rest(&self) -> f64 {
        1.0 - self.prior
    }

    /// The component's score while the masses of the clusters are learnt: the logarithm of the prior, minus the cost
    /// divided by the temperature.
    pub fn mass_score(&self, temperature: f64) -> f64 {
        ln(self.prior) - self.cost / temperature
    }

    /// The component's score if every centre has the same prior.
    pub fn plain_score(&self, temperature: f64) -> f64 {
        plain_score(self.cost, temperature)
    }

    /// Checks that the noise component holds at most half of the weight.
    ///
    /// # Errors
    /// Returns [`Error::MostlyOutside`] if the component holds more than half of the weight.
    pub fn check(&self, share: f64) -> Result<(), Error> {
        if share > MOST_OUTSIDE {
            return Err(Error::MostlyOutside { percent: 100.0 * share, radius: self.radius });
        }
        Ok(())
    }
}

/// The noise component's share of a row. `score` is the component's score, and `log_sum` is the logarithm of the row's
/// sum over the centres.
pub(crate) fn share_of(score: f64, log_sum: f64) -> f64 {
    1.0 / (1.0 + exp((log_sum - score).min(700.0)))
}

/// The score of the noise component for a squared radius, if every centre has the same prior.
pub(crate) fn plain_score(squared_radius: f64, temperature: f64) -> f64 {
    ln(PRIOR) - squared_radius / temperature
}

/// Decides whether a row at this squared distance from its nearest centre is an outlier, which means outside the
/// radius. Returns the share of the row that the noise component leaves to the centre at this temperature. For an
/// outlier, returns `Err` with the noise component's share.
pub(crate) fn within(squared_radius: f64, squared: f64, temperature: f64) -> Result<f64, f64> {
    // The logarithm of the ratio of the centre's odds to the noise component's odds. It is NaN if both squared
    // distances are infinite.
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
