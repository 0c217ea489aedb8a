//! The one pass over a batch: finds the nearest centre of each row before any centre moves.

use lehr_numerics::nearest::{Kind, nearest_sums};

use crate::Error;
use crate::lloyd::{Centers, nearest_active};
use crate::round::{Program, Round, Rounds, total_of};
use crate::rows::{RowMajor, RowMajorMut, Rows, Scalar};

/// The number of sums of a pass for each centre: mass, moments and cost in stored units, and the number of its rows.
pub(super) fn numbers(dimension: usize) -> usize {
    Kind::Centers.len(dimension) + 1
}

/// The program of a pass; its result is the sums of all centres.
pub(super) struct Pass<'a, T: Scalar> {
    pub rows: &'a Rows<T>,
    /// The centres, in stored units.
    pub centers: &'a Centers,
}

impl<T: Scalar> Program for Pass<'_, T> {
    type Output = Vec<f64>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Vec<f64>, Error> {
        let mut total = Vec::new();
        total_of(rounds, self, &mut total).await?;
        Ok(total)
    }
}

impl<T: Scalar> Round for Pass<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * numbers(self.rows.dimension)
    }

    fn key_len(&self) -> usize {
        numbers(self.rows.dimension)
    }

    fn name(&self) -> &'static str {
        "nearest centres"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        let (dimension, kind) = (self.rows.dimension, Kind::Centers);
        partial.fill(0.0);
        T::with_scratch(|scratch| {
            nearest_active(&leaf.bounds, self.centers, 1, &mut scratch.active, &mut scratch.reach);
            scratch.hard_centers.begin(dimension);
            for &k in &scratch.active {
                scratch.hard_centers.push(self.centers.center(k));
            }
            scratch.sums.clear();
            scratch.sums.resize(scratch.active.len() * kind.len(dimension), 0.0);
            let tiles = leaf.store.numbers();
            nearest_sums(tiles, &scratch.hard_centers, kind, &mut scratch.hard, &mut scratch.sums);
            let mut of_centers = RowMajorMut::new(partial, numbers(dimension));
            let sums = RowMajor::new(&scratch.sums, kind.len(dimension));
            for (&k, sums) in scratch.active.iter().zip(sums.rows()) {
                of_centers.row(k)[..sums.len()].copy_from_slice(sums);
            }
            for row in 0..tiles.rows() {
                let k = scratch.active[scratch.hard.nearest(row)];
                of_centers.row(k)[kind.len(dimension)] += 1.0;
            }
        });
    }
}
