//! Computes the covariance of all rows in a round over the leaves.

use lehr_numerics::lanes::Real;

use super::Rows;
use crate::round::Round;

/// Sums the second moments of all rows about the origin, which is the mean of the rows. Of the D x D matrix, only the
/// lower triangle is computed.
pub(crate) struct CovarianceRound<'a, T: Real> {
    pub rows: &'a Rows<T>,
}

impl<T: Real> Round for CovarianceRound<'_, T> {
    fn len(&self) -> usize {
        self.rows.dimension * self.rows.dimension
    }

    fn key_len(&self) -> usize {
        self.rows.dimension
    }

    fn name(&self) -> &'static str {
        "covariance"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (store, dimension) = (&self.rows.leaves[leaf].store, self.rows.dimension);
        partial.fill(0.0);
        let mut row = vec![0.0; dimension];
        for index in 0..store.len() {
            store.read_row(&self.rows.units, index, &mut row);
            let weight = store.weight(index);
            for i in 0..dimension {
                let value = weight * row[i];
                for j in 0..=i {
                    partial[i * dimension + j] += value * row[j];
                }
            }
        }
    }
}
