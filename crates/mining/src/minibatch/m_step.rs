//! Centres as running means: their positions, and the weight that they have received. This file uses neither rows nor
//! ranks.

use lehr_numerics::elementary::exp;
use serde::{Deserialize, Serialize};

/// A centre and its statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Center {
    /// The position, in the unit of the points.
    pub position: Vec<f64>,
    /// The weight of all rows that the centre has received, after forgetting.
    pub counts: f64,
    /// The number of rows of positive weight that the centre has received.
    pub rows: u64,
    /// The number of these rows that came after the sample.
    pub later: u64,
    /// The weight of all rows that the centre has received, without forgetting.
    pub weight: f64,
    /// The weighted mean of the rows' squared distances, each from the centre's position when the row arrived.
    pub square: f64,
}

/// A batch's sums for a centre, in the unit of the points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub rows: u64,
    /// The weight of the rows, above 0.
    pub weight: f64,
    /// The weighted mean of the rows.
    pub mean: Vec<f64>,
    /// The weighted mean of the rows' squared distances from the centre.
    pub square: f64,
}

impl Center {
    /// Multiplies the weight received so far by `keeps`.
    pub fn forget(&mut self, keeps: f64) {
        self.counts *= keeps;
    }

    /// Adds a batch: the centre moves to the weighted mean of all its rows, with weights after forgetting.
    pub fn take(&mut self, given: &Given) {
        self.counts += given.weight;
        let share = given.weight / self.counts;
        for (x, mean) in self.position.iter_mut().zip(&given.mean) {
            *x += share * (mean - *x);
        }
        self.rows += given.rows;
        self.later += given.rows;
        self.weight += given.weight;
        self.square += given.weight / self.weight * (given.square - self.square);
    }
}

/// Returns the factor by which weights fall after this many further rows: `2^(-rows / half_life)`.
pub(super) fn kept(rows: u64, half_life: f64) -> f64 {
    exp(-std::f64::consts::LN_2 * (rows as f64 / half_life))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn center() -> Center {
        Center { position: vec![0.0, 4.0], counts: 3.0, rows: 3, later: 0, weight: 3.0, square: 2.0 }
    }

    #[test]
    fn a_centre_is_the_mean_of_all_that_it_was_given() {
        let mut center = center();
        center.take(&Given { rows: 2, weight: 1.0, mean: vec![8.0, 0.0], square: 6.0 });
        let expected = Center { position: vec![2.0, 3.0], counts: 4.0, rows: 5, later: 2, weight: 4.0, square: 3.0 };
        assert_eq!(center, expected);
    }

    #[test]
    fn what_is_forgotten_counts_less_and_the_weight_that_was_given_stays() {
        let mut center = center();
        center.forget(1.0 / 3.0);
        center.take(&Given { rows: 1, weight: 1.0, mean: vec![8.0, 4.0], square: 10.0 });
        assert_eq!((center.position, center.counts, center.weight, center.square), (vec![4.0, 4.0], 2.0, 4.0, 4.0));
    }

    #[test]
    fn after_a_half_life_a_half_is_left() {
        for (rows, half_life, left) in [(10, 10.0, 0.5), (20, 10.0, 0.25), (0, 3.0, 1.0), (1 << 40, 1e-3, 0.0)] {
            assert!((kept(rows, half_life) - left).abs() < 1e-15, "{rows} rows, half-life {half_life}");
        }
    }
}
