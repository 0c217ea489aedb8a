//! One E+M step over sparse rows: the kernel that goes over what is not 0 and the kernel of numbers over the same rows, in turns.
//!
//! Both are ours: the question is what leaving out zeros gains. Both are checked against a plain loop in `f64` before their time counts.

use anyhow::{Result, ensure};
use lehr_data::{Points, Sparse};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::sparse::{SoftSparseCenters, SparseRows, SparseScratch, soft_sparse_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::Partition;

use crate::bit_step::{error, plain_step};
use crate::measure::{Side, take_turns, timed};

/// A turn lasts about this long, or one step, so that reading the clock is nothing.
const TURN_SECONDS: f64 = 0.04;

/// Sparse rows, centres, a temperature, and the right answer.
pub struct Problem {
    rows: Sparse,
    numbers: Points,
    /// The mean of all rows.
    origin: Vec<f64>,
    centers: Vec<Vec<f64>>,
    temperature: f64,
    /// Free energy, then for each centre its mass and first moment.
    answer: Vec<f64>,
}

/// Nanoseconds per row and centre of both sides, round by round.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Of the kernel that goes over what is not 0.
    pub sparse: Vec<f64>,
    /// Of the kernel of numbers.
    pub numbers: Vec<f64>,
    /// The larger of their errors, relative to the largest number of its kind.
    pub error: f64,
}

impl Problem {
    /// The problem whose centres lie half way between the means of groups of rows and the mean of all: memberships are shared. `group` gives the group of a row, and every group has rows.
    ///
    /// # Panics
    /// If a group is not below `clusters`.
    pub fn new(rows: Sparse, clusters: usize, group: impl Fn(usize) -> usize) -> Self {
        let columns = rows.dimension();
        let mut values = vec![0.0; rows.len() * columns];
        let (mut centers, mut members) = (vec![vec![0.0; columns]; clusters], vec![0.0; clusters]);
        let (mut origin, mut square) = (vec![0.0; columns], 0.0);
        for (row, values) in values.chunks_exact_mut(columns).enumerate() {
            rows.read(row, values);
            members[group(row)] += 1.0;
            for ((value, y), o) in values.iter().zip(&mut centers[group(row)]).zip(&mut origin) {
                *y += value;
                *o += value / rows.len() as f64;
                square += value * value / rows.len() as f64;
            }
        }
        for (center, count) in centers.iter_mut().zip(members) {
            center.iter_mut().zip(&origin).for_each(|(y, o)| *y = 0.5 * *y / count + 0.5 * o);
        }
        let temperature = 0.1 * square;
        let answer = plain_step(&values, &centers, temperature);
        let numbers = Points::new(values, columns).expect("finite rows");
        Self { rows, numbers, origin, centers, temperature, answer }
    }

    /// Has both kernels take turns for so many rounds, on one thread.
    ///
    /// # Errors
    /// An answer of either side that is off by more than `tolerance`.
    pub fn measure<T: Real>(&self, rounds: usize, tolerance: f64) -> Result<Turns> {
        let (columns, count, origin) = (self.rows.dimension(), self.centers.len(), &self.origin);
        let partition = Partition::new(self.rows.len(), 1);
        let leaves = || (0..partition.leaves()).map(|leaf| partition.leaf_rows(leaf));
        let length =
            |row: usize| -> f64 { self.numbers.row(row).iter().zip(origin).map(|(x, o)| (x - o) * (x - o)).sum() };
        let sparse: Vec<SparseRows<T>> = leaves()
            .map(|rows| {
                let (row, from) = (|i: usize| self.rows.row(rows.start + i), rows.start);
                SparseRows::new(rows.len(), columns, 1.0, row, |i| length(from + i), |_| 1.0)
            })
            .collect();
        let dense: Vec<Tiles<T>> = leaves()
            .map(|rows| Tiles::new(rows.len(), columns, origin, |i| self.numbers.row(rows.start + i), |_| 1.0))
            .collect();
        let log_share = -(count as f64).ln();
        let mut of_sparse = SoftSparseCenters::<T>::default();
        of_sparse.begin(columns, count, self.temperature, false);
        let mut of_numbers = SoftCenters::<T>::default();
        of_numbers.begin(columns, self.temperature);
        for (k, center) in self.centers.iter().enumerate() {
            let from_mean: Vec<f64> = center.iter().zip(origin).map(|(y, zero)| y - zero).collect();
            of_sparse.set(k, &from_mean, origin, log_share);
            of_numbers.push(&from_mean, log_share);
        }
        let width = count * Sums::First.len(columns);
        let mut scratch = SparseScratch::default();
        let mut sparse_step = |steps: usize| {
            timed(|| {
                let mut answer = vec![0.0; 1 + width];
                for _ in 0..steps {
                    answer.fill(0.0);
                    for leaf in &sparse {
                        let (energy, sums) = answer.split_at_mut(1);
                        energy[0] += soft_sparse_sums(leaf, &of_sparse, Sums::First, &mut scratch, sums).free_energy;
                    }
                }
                answer
            })
        };
        let mut scratch = SoftScratch::default();
        let mut number_step = |steps: usize| {
            timed(|| {
                let mut answer = vec![0.0; 1 + width];
                for _ in 0..steps {
                    answer.fill(0.0);
                    for leaf in &dense {
                        let (energy, sums) = answer.split_at_mut(1);
                        energy[0] += soft_sums(leaf, &of_numbers, Sums::First, &mut scratch, sums).free_energy;
                    }
                }
                answer
            })
        };
        let (of_one, answer_of_sparse) = sparse_step(1);
        let (of_other, mut answer_of_numbers) = number_step(1);
        for sums in answer_of_numbers[1..].chunks_exact_mut(1 + columns) {
            let (mass, moments) = sums.split_at_mut(1);
            moments.iter_mut().zip(origin).for_each(|(sum, zero)| *sum += mass[0] * zero);
        }
        let errors = [error(&answer_of_sparse, &self.answer), error(&answer_of_numbers, &self.answer)];
        for (error, what) in errors.iter().zip(["sparse rows", "numbers"]) {
            ensure!(*error <= tolerance, "the step over {what} is wrong by {error:.1e} (K={count}): no measurement");
        }
        // One side takes a small part of the other's time: each has as many steps as make a turn.
        let steps = [of_one, of_other].map(|once| ((TURN_SECONDS / once) as usize).clamp(1, 1000));
        let mut sides: Vec<Side<'_>> =
            vec![Box::new(|| Ok(sparse_step(steps[0]).0)), Box::new(|| Ok(number_step(steps[1]).0))];
        let seconds = take_turns(rounds, &mut sides)?;
        drop(sides);
        let scaled = |side: usize| {
            let per = 1e9 / (steps[side] as f64 * self.rows.len() as f64 * count as f64);
            seconds[side].iter().map(|second| second * per).collect()
        };
        Ok(Turns { sparse: scaled(0), numbers: scaled(1), error: errors.into_iter().fold(0.0, f64::max) })
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
        assert_eq!((turns.sparse.len(), turns.numbers.len()), (1, 1));
        assert!(problem.measure::<f32>(1, 1e-4).is_ok());
        assert!(problem.measure::<f32>(1, 1e-15).is_err(), "a tolerance that no kernel keeps");
    }
}
