//! One E+M step over rows of bits: the kernel that reads bits and the kernel of numbers over the same rows, in turns.
//!
//! Both are ours: the question is what packing gains, not what another program takes. Both are checked against a plain loop in `f64` before their time counts.

use anyhow::{Result, ensure};
use lehr_data::{Fingerprints, Points};
use lehr_numerics::bits::{BitRows, BitScratch, SoftBitCenters, for_each_set_bit, soft_bit_sums};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::Partition;

use crate::measure::{Side, take_turns, timed};

/// A turn lasts about this long, or one step, so that reading the clock is nothing.
const TURN_SECONDS: f64 = 0.04;

/// Rows of bits, centres, a temperature, and the right answer.
pub struct Problem {
    rows: Fingerprints,
    numbers: Points,
    centers: Vec<Vec<f64>>,
    temperature: f64,
    /// Free energy, then for each centre its mass and first moment.
    answer: Vec<f64>,
}

/// Nanoseconds per row and centre of both sides, round by round.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Of the kernel that reads bits.
    pub bits: Vec<f64>,
    /// Of the kernel of numbers.
    pub numbers: Vec<f64>,
    /// The larger of their errors, relative to the largest number of its kind.
    pub error: f64,
}

impl Problem {
    /// The problem whose centres lie half way between the means of groups of rows and one half: memberships are shared. `group` gives the group of a row, and every group has rows.
    ///
    /// # Panics
    /// If a group is not below `clusters`.
    pub fn new(rows: Fingerprints, clusters: usize, group: impl Fn(usize) -> usize) -> Self {
        let bits = rows.bits();
        let mut values = vec![0.0; rows.len() * bits];
        let (mut centers, mut members) = (vec![vec![0.0; bits]; clusters], vec![0.0; clusters]);
        for (row, values) in values.chunks_exact_mut(bits).enumerate() {
            let (center, count) = (&mut centers[group(row)], &mut members[group(row)]);
            *count += 1.0;
            for_each_set_bit(rows.row(row), |j| {
                values[j] = 1.0;
                center[j] += 1.0;
            });
        }
        for (center, count) in centers.iter_mut().zip(members) {
            center.iter_mut().for_each(|y| *y = 0.25 + 0.5 * *y / count);
        }
        let temperature = 0.02 * bits as f64;
        let answer = plain_step(&values, &centers, temperature);
        let numbers = Points::new(values, bits).expect("rows of 0 and 1");
        Self { rows, numbers, centers, temperature, answer }
    }

    /// Has both kernels take turns for so many rounds, on one thread.
    ///
    /// # Errors
    /// An answer of either side that is off by more than `tolerance`.
    pub fn measure<T: Real>(&self, rounds: usize, tolerance: f64) -> Result<Turns> {
        let (bits, count) = (self.numbers.dimension(), self.centers.len());
        let partition = Partition::new(self.rows.len(), 1);
        let leaves = || (0..partition.leaves()).map(|leaf| partition.leaf_rows(leaf));
        let packed: Vec<BitRows> =
            leaves().map(|rows| BitRows::new(rows.len(), bits, |i| self.rows.row(rows.start + i), |_| 1.0)).collect();
        // As a run has them: from their mean.
        let mut origin = vec![0.0; bits];
        for row in 0..self.numbers.len() {
            let row = self.numbers.row(row).iter();
            origin.iter_mut().zip(row).for_each(|(zero, x)| *zero += x / self.numbers.len() as f64);
        }
        let dense: Vec<Tiles<T>> = leaves()
            .map(|rows| Tiles::new(rows.len(), bits, &origin, |i| self.numbers.row(rows.start + i), |_| 1.0))
            .collect();
        let mut of_bits = SoftBitCenters::<T>::default();
        of_bits.begin(bits, count, self.temperature, false);
        let mut of_numbers = SoftCenters::<T>::default();
        of_numbers.begin(bits, self.temperature);
        for (k, center) in self.centers.iter().enumerate() {
            of_bits.set(k, center, self.log_share());
            let from_mean: Vec<f64> = center.iter().zip(&origin).map(|(y, zero)| y - zero).collect();
            of_numbers.push(&from_mean, self.log_share());
        }
        let width = count * Sums::First.len(bits);
        let mut scratch = BitScratch::default();
        let mut bit_step = |steps: usize| {
            timed(|| {
                let mut answer = vec![0.0; 1 + width];
                for _ in 0..steps {
                    answer.fill(0.0);
                    for leaf in &packed {
                        let (energy, sums) = answer.split_at_mut(1);
                        energy[0] += soft_bit_sums(leaf, &of_bits, Sums::First, &mut scratch, sums).free_energy;
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
        let (_, answer_of_bits) = bit_step(1);
        let (once, mut answer_of_numbers) = number_step(1);
        for sums in answer_of_numbers[1..].chunks_exact_mut(1 + bits) {
            let (mass, moments) = sums.split_at_mut(1);
            moments.iter_mut().zip(&origin).for_each(|(sum, zero)| *sum += mass[0] * zero);
        }
        let errors = [self.error(&answer_of_bits), self.error(&answer_of_numbers)];
        for (error, what) in errors.iter().zip(["bits", "numbers"]) {
            ensure!(*error <= tolerance, "the step over {what} is wrong by {error:.1e} (K={count}): no measurement");
        }
        let steps = ((TURN_SECONDS / once) as usize).clamp(1, 1000);
        let mut sides: Vec<Side<'_>> = vec![Box::new(|| Ok(bit_step(steps).0)), Box::new(|| Ok(number_step(steps).0))];
        let seconds = take_turns(rounds, &mut sides)?;
        drop(sides);
        let per = 1e9 / (steps as f64 * self.rows.len() as f64 * count as f64);
        let scaled = |seconds: &[f64]| seconds.iter().map(|second| second * per).collect();
        Ok(Turns {
            bits: scaled(&seconds[0]),
            numbers: scaled(&seconds[1]),
            error: errors.into_iter().fold(0.0, f64::max),
        })
    }

    fn error(&self, answer: &[f64]) -> f64 {
        error(answer, &self.answer)
    }

    fn log_share(&self) -> f64 {
        -(self.centers.len() as f64).ln()
    }
}

/// The largest difference to the right answer, of which the first number is of a kind of its own, relative to the largest number of its kind.
pub(crate) fn error(answer: &[f64], right: &[f64]) -> f64 {
    let apart = |from: usize, to: usize| {
        let scale = right[from..to].iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let pairs = answer[from..to].iter().zip(&right[from..to]);
        pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / scale
    };
    apart(0, 1).max(apart(1, right.len()))
}

/// One step from the definition: free energy, then for each centre its mass and first moment.
pub(crate) fn plain_step(values: &[f64], centers: &[Vec<f64>], temperature: f64) -> Vec<f64> {
    let (clusters, bits) = (centers.len(), centers[0].len());
    let mut answer = vec![0.0; 1 + clusters * (1 + bits)];
    for x in values.chunks_exact(bits) {
        let distance = |y: &Vec<f64>| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        let scores: Vec<f64> = centers.iter().map(|y| -(clusters as f64).ln() - distance(y) / temperature).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        answer[0] -= temperature * (most + sum.ln());
        for (score, sums) in scores.iter().zip(answer[1..].chunks_exact_mut(1 + bits)) {
            let share = (score - most).exp() / sum;
            sums[0] += share;
            sums[1..].iter_mut().zip(x).for_each(|(sum, x)| *sum += share * x);
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use lehr_data::synthetic::bit_templates;

    use super::*;

    #[test]
    fn both_kernels_give_the_answer_of_the_definition_and_a_wrong_one_is_seen() {
        let (rows, labels) = bit_templates(3, 67, 130, 0.13, 0.05, 7);
        let problem = Problem::new(rows, 3, |row| labels[row] as usize);
        let turns = problem.measure::<f64>(1, 1e-10).unwrap();
        assert!(turns.error < 1e-11, "{}", turns.error);
        assert_eq!((turns.bits.len(), turns.numbers.len()), (1, 1));
        assert!(problem.measure::<f32>(1, 1e-4).is_ok());
        assert!(problem.measure::<f32>(1, 1e-15).is_err(), "a tolerance that no kernel keeps");
        let mut wrong = problem.answer.clone();
        wrong[5] += 1.0;
        assert!(problem.error(&wrong) > 1e-3);
    }
}
