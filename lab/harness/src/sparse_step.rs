//! One E+M step over sparse rows: the kernel that visits only values that are not 0, [in turns with the kernel of
//! numbers](crate::beside_numbers).

use anyhow::Result;
use lehr_data::{Points, Sparse};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::Sums;
use lehr_numerics::sparse::{SoftSparseCenters, SparseRows, SparseScratch, soft_sparse_sums};

use crate::beside_numbers::{Step, Turns};

/// Sparse rows, and the step over them.
pub struct Problem {
    rows: Sparse,
    step: Step,
}

impl Problem {
    /// Makes a problem whose centres are halfway between the means of groups of rows and the mean of all rows, so that
    /// centres share memberships. `group` gives the group of a row, and every group has rows.
    ///
    /// # Panics
    /// Panics if a group is not below `clusters`.
    pub fn new(rows: Sparse, clusters: usize, group: impl Fn(usize) -> usize) -> Self {
        let columns = rows.dimension();
        let mut values = vec![0.0; rows.len() * columns];
        let (mut centers, mut members) = (vec![vec![0.0; columns]; clusters], vec![0.0; clusters]);
        let (mut mean, mut square) = (vec![0.0; columns], 0.0);
        for (row, values) in values.chunks_exact_mut(columns).enumerate() {
            rows.read(row, values);
            members[group(row)] += 1.0;
            for ((value, y), mean) in values.iter().zip(&mut centers[group(row)]).zip(&mut mean) {
                *y += value;
                *mean += value / rows.len() as f64;
                square += value * value / rows.len() as f64;
            }
        }
        for (center, count) in centers.iter_mut().zip(members) {
            center.iter_mut().zip(&mean).for_each(|(y, mean)| *y = 0.5 * *y / count + 0.5 * mean);
        }
        let numbers = Points::new(values, columns).expect("finite rows");
        Self { rows, step: Step::new(numbers, centers, 0.1 * square) }
    }

    /// Has both kernels take turns for this many rounds, on one thread.
    ///
    /// # Errors
    /// Returns an error if the error of either side's answer exceeds `tolerance`.
    pub fn measure<T: Real>(&self, rounds: usize, tolerance: f64) -> Result<Turns> {
        let (step, columns) = (&self.step, self.rows.dimension());
        let length = |row: usize| -> f64 { step.from_origin(step.numbers.row(row)).iter().map(|x| x * x).sum() };
        let sparse: Vec<SparseRows<T>> = step
            .leaves()
            .map(|rows| {
                let (row, from) = (|i: usize| self.rows.row(rows.start + i), rows.start);
                SparseRows::new(rows.len(), columns, 1.0, row, |i| length(from + i), |_| 1.0)
            })
            .collect();
        let mut centers = SoftSparseCenters::<T>::default();
        centers.begin(columns, step.centers.len(), step.temperature, false);
        for (k, center) in step.centers.iter().enumerate() {
            centers.set(k, &step.from_origin(center), &step.origin, step.log_share());
        }
        let mut scratch = SparseScratch::default();
        step.measure::<T>("sparse rows", (rounds, tolerance), |answer| {
            for leaf in &sparse {
                let (energy, sums) = answer.split_at_mut(1);
                energy[0] += soft_sparse_sums(leaf, &centers, Sums::First, &mut scratch, sums).free_energy;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::synthetic::topics;

    use super::*;

    #[test]
    fn both_kernels_give_the_answer_of_the_definition_and_a_wrong_one_is_seen() {
        let (rows, labels) = topics(3, 67, 200, 15, 7);
        let problem = Problem::new(rows, 3, |row| labels[row] as usize);
        let turns = problem.measure::<f64>(1, 1e-10).unwrap();
        assert!(turns.error < 1e-11, "{}", turns.error);
        assert_eq!((turns.own.len(), turns.numbers.len()), (1, 1));
        assert!(problem.measure::<f32>(1, 1e-4).is_ok());
        assert!(problem.measure::<f32>(1, 1e-15).is_err(), "a tolerance that no kernel keeps");
    }
}
