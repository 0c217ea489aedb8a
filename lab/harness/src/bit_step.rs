//! One E+M step over rows of bits: the kernel that reads bits, [in turns with the kernel of
//! numbers](crate::beside_numbers).

use anyhow::Result;
use lehr_data::{Fingerprints, Points};
use lehr_numerics::bits::{BitRows, BitScratch, SoftBitCenters, for_each_set_bit, soft_bit_sums};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::Sums;

use crate::beside_numbers::{Step, Turns};

/// Rows of bits, and the step over them.
pub struct Problem {
    rows: Fingerprints,
    step: Step,
}

impl Problem {
    /// Makes a problem whose centres are halfway between the means of groups of rows and one half, so that centres
    /// share memberships. `group` gives the group of a row, and every group has rows.
    ///
    /// # Panics
    /// Panics if a group is not below `clusters`.
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
        let numbers = Points::new(values, bits).expect("rows of 0 and 1");
        Self { rows, step: Step::new(numbers, centers, 0.02 * bits as f64) }
    }

    /// Has both kernels take turns for this many rounds, on one thread.
    ///
    /// # Errors
    /// Returns an error if the error of either side's answer exceeds `tolerance`.
    pub fn measure<T: Real>(&self, rounds: usize, tolerance: f64) -> Result<Turns> {
        let (step, bits) = (&self.step, self.rows.bits());
        let leaves = step.leaves();
        let packed: Vec<BitRows> =
            leaves.map(|rows| BitRows::new(rows.len(), bits, |i| self.rows.row(rows.start + i), |_| 1.0)).collect();
        let mut centers = SoftBitCenters::<T>::default();
        centers.begin(bits, step.centers.len(), step.temperature, false);
        for (k, center) in step.centers.iter().enumerate() {
            centers.set(k, center, step.log_share());
        }
        let mut scratch = BitScratch::default();
        step.measure::<T>("bits", (rounds, tolerance), |answer| {
            for leaf in &packed {
                let (energy, sums) = answer.split_at_mut(1);
                energy[0] += soft_bit_sums(leaf, &centers, Sums::First, &mut scratch, sums).free_energy;
            }
        })
    }
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
        assert_eq!((turns.own.len(), turns.numbers.len()), (1, 1));
        assert!(problem.measure::<f32>(1, 1e-4).is_ok());
        assert!(problem.measure::<f32>(1, 1e-15).is_err(), "a tolerance that no kernel keeps");
    }
}
