//! The sponge: one more component that has no centre and is equally far from every row. What no centre is near to is in it, and pulls at none.
//!
//! `mining-spec` 1.12, after the outlier component of the group's annealing of mass spectra (Fox, Mani, Pyne 2013). Its cost is the square of a radius, so at temperature `T` a row at squared
//! distance `d` from its centre leaves for the sponge where `d > radius^2 + T ln(P_k / P_sponge)`: hot, that is far beyond all that belongs together, and cold it is the radius. So it need
//! neither be brought in late nor have a radius of its own for each temperature.
//!
//! To the kernels of bits and of sparse rows, for which a component is a constant and a term for each column, it is one more component whose terms are 0. Those of numbers do not know of it.

use lehr_numerics::elementary::{exp, ln};

use crate::Error;

/// The label of a row that is in no cluster, but in the sponge.
pub const OUTLIER: u32 = u32::MAX;

/// The sponge's share of all priors is this over the number of clusters.
const PRIOR: f64 = 0.1;
/// The number that counts where none is asked for.
const CLUSTERS: f64 = 10.0;
/// More than this share of the weight in it is no clustering of the rows any more.
const MOST_OUTSIDE: f64 = 0.5;

/// A sponge, in stored units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sponge {
    /// The squared distance that it is away from every row.
    pub cost: f64,
    /// Its prior while masses are learnt, which add up to the rest of 1.
    prior: f64,
    /// As it was given, for people.
    radius: f64,
}

impl Sponge {
    /// The sponge of a radius in the unit of the points, `unit` of which is one of the stored, for so many clusters if a number is asked for.
    pub fn new(radius: f64, unit: f64, clusters: Option<usize>) -> Self {
        let clusters = clusters.map_or(CLUSTERS, |clusters| clusters as f64);
        Self { cost: (radius / unit) * (radius / unit), prior: PRIOR / clusters, radius }
    }

    /// What the priors of centres add up to while they are learnt.
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
    /// [`Error::MostlyOutside`].
    pub fn check(&self, share: f64) -> Result<(), Error> {
        if share > MOST_OUTSIDE {
            return Err(Error::MostlyOutside { percent: 100.0 * share, radius: self.radius });
        }
        Ok(())
    }
}

/// The share of a row that the sponge has, if its own score is `score` and the logarithm of the row's sum over the centres is `log_sum`.
pub(crate) fn share_of(score: f64, log_sum: f64) -> f64 {
    1.0 / (1.0 + exp((log_sum - score).min(700.0)))
}

/// The score where every centre counts the same, of the sponge of a squared radius.
pub(crate) fn plain_score(squared_radius: f64, temperature: f64) -> f64 {
    ln(PRIOR) - squared_radius / temperature
}

/// Where a row is, in the hard limit, that is at a squared distance from its nearest centre, in which it has a membership among the centres alone at the temperature: its membership there as the sponge leaves it, or
/// `Err` with that in the sponge, if this is nearer.
pub(crate) fn within(squared_radius: f64, squared: f64, membership: f64, temperature: f64) -> Result<f64, f64> {
    // What the sum over the centres is above the sponge, whose squared distance may be infinite as that of the row may be.
    let above = (squared_radius - squared) / temperature - ln(PRIOR * membership);
    let share = if above.is_nan() { 0.0 } else { 1.0 / (1.0 + exp(above.min(700.0))) };
    if squared > squared_radius { Err(share) } else { Ok(membership * (1.0 - share)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_all_numbers_and_temperatures_near_none_are_outside_or_inside() {
        for temperature in [f64::MIN_POSITIVE, 1e-3, 1.0] {
            assert_eq!(within(4.0, f64::INFINITY, 1.0, temperature), Err(1.0), "{temperature}");
            let Ok(inside) = within(4.0, 0.0, 1.0, temperature) else { panic!("outside at {temperature}") };
            assert!(inside > 0.9 && inside <= 1.0);
        }
    }
}
