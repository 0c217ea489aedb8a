//! Measures one E+M step in turns: by a kernel with a special format of rows, and by the kernel of numbers over the
//! same rows.
//!
//! Both kernels are Lehr's, because the measurement shows the gain of the format. The lab checks both against a plain
//! loop in `f64` before their time counts.

use std::ops::Range;

use anyhow::{Result, ensure};
use lehr_data::Points;
use lehr_numerics::elementary::{exp, ln};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::Partition;

use crate::measure::{Side, take_turns, timed};

/// The approximate length of a turn; a turn has at least one step. So the time of reading the clock does not matter.
const TURN_SECONDS: f64 = 0.04;

/// Rows as numbers, centres, a temperature, and the right answer of a step.
pub struct Step {
    /// The rows as numbers.
    pub numbers: Points,
    /// The mean of all rows.
    pub origin: Vec<f64>,
    /// The centres in the rows' own coordinates.
    pub centers: Vec<Vec<f64>>,
    /// The temperature T of exp(-d^2/T).
    pub temperature: f64,
    /// The free energy, then the mass and the first moment of each centre.
    answer: Vec<f64>,
}

/// The nanoseconds for each row and centre of both sides, round by round.
#[derive(Clone, Debug)]
pub struct Turns {
    /// The times of the kernel with its own format.
    pub own: Vec<f64>,
    /// The times of the kernel of numbers.
    pub numbers: Vec<f64>,
    /// The larger error of the two, relative to the largest number of its kind.
    pub error: f64,
}

impl Step {
    /// Makes the step of these rows and centres, with its right answer.
    pub fn new(numbers: Points, centers: Vec<Vec<f64>>, temperature: f64) -> Self {
        let mut origin = vec![0.0; numbers.dimension()];
        for row in 0..numbers.len() {
            let row = numbers.row(row).iter();
            origin.iter_mut().zip(row).for_each(|(zero, x)| *zero += x / numbers.len() as f64);
        }
        let answer = plain_step(numbers.values(), &centers, temperature);
        Self { numbers, origin, centers, temperature, answer }
    }

    /// Returns the rows of each leaf of a run.
    pub fn leaves(&self) -> impl Iterator<Item = Range<usize>> {
        let partition = Partition::new(self.numbers.len(), 1);
        (0..partition.leaves()).map(move |leaf| partition.leaf_rows(leaf))
    }

    /// Returns a centre relative to the mean of the rows, as in a run.
    pub fn from_origin(&self, center: &[f64]) -> Vec<f64> {
        center.iter().zip(&self.origin).map(|(y, zero)| y - zero).collect()
    }

    /// Returns the constant term of each score, for centres of equal shares.
    pub fn log_share(&self) -> f64 {
        -ln(self.centers.len() as f64)
    }

    /// Has both kernels take turns for so many rounds, on one thread. `own` adds what the kernel of `what` gives to the
    /// answer that it is handed, in the order of the right one.
    ///
    /// # Errors
    /// Returns an error if the error of either side's answer exceeds `tolerance`.
    pub fn measure<T: Real>(
        &self,
        what: &str,
        (rounds, tolerance): (usize, f64),
        mut own: impl FnMut(&mut [f64]),
    ) -> Result<Turns> {
        let (columns, count) = (self.numbers.dimension(), self.centers.len());
        let tiles = |rows: Range<usize>| {
            Tiles::<T>::new(rows.len(), columns, &self.origin, |i| self.numbers.row(rows.start + i), |_| 1.0)
        };
        let dense: Vec<Tiles<T>> = self.leaves().map(tiles).collect();
        let mut of_numbers = SoftCenters::<T>::default();
        of_numbers.begin(columns, self.temperature);
        for center in &self.centers {
            of_numbers.push(&self.from_origin(center), self.log_share());
        }
        let mut scratch = SoftScratch::default();
        let mut of_tiles = |answer: &mut [f64]| {
            for leaf in &dense {
                let (energy, sums) = answer.split_at_mut(1);
                energy[0] += soft_sums(leaf, &of_numbers, Sums::First, &mut scratch, sums).free_energy;
            }
        };
        let len = self.answer.len();
        let mut own_steps = |steps: usize| repeated(steps, len, &mut own);
        let mut number_steps = |steps: usize| repeated(steps, len, &mut of_tiles);
        let (of_one, own_answer) = own_steps(1);
        let (of_other, mut answer_of_numbers) = number_steps(1);
        for sums in answer_of_numbers[1..].chunks_exact_mut(1 + columns) {
            let (mass, moments) = sums.split_at_mut(1);
            moments.iter_mut().zip(&self.origin).for_each(|(sum, zero)| *sum += mass[0] * zero);
        }
        let errors = [self.error(&own_answer), self.error(&answer_of_numbers)];
        for (error, what) in errors.iter().zip([what, "numbers"]) {
            ensure!(*error <= tolerance, "the step over {what} is wrong by {error:.1e} (K={count}): no measurement");
        }
        // One side may be much faster than the other, so each has as many steps as fill a turn.
        let steps = [of_one, of_other].map(|once| ((TURN_SECONDS / once) as usize).clamp(1, 1000));
        let mut sides: Vec<Side<'_>> =
            vec![Box::new(|| Ok(own_steps(steps[0]).0)), Box::new(|| Ok(number_steps(steps[1]).0))];
        let seconds = take_turns(rounds, &mut sides)?;
        drop(sides);
        let scaled = |side: usize| {
            let per = 1e9 / (steps[side] as f64 * self.numbers.len() as f64 * count as f64);
            seconds[side].iter().map(|second| second * per).collect()
        };
        Ok(Turns { own: scaled(0), numbers: scaled(1), error: errors.into_iter().fold(0.0, f64::max) })
    }

    /// Returns the largest difference from the right answer, relative to the largest number of its kind. The first
    /// number is a kind of its own.
    fn error(&self, answer: &[f64]) -> f64 {
        let right = &self.answer;
        let apart = |from: usize, to: usize| {
            let scale = right[from..to].iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
            let pairs = answer[from..to].iter().zip(&right[from..to]);
            pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / scale
        };
        apart(0, 1).max(apart(1, right.len()))
    }
}

/// Returns the seconds of this many steps, and the answer of the last one.
fn repeated(steps: usize, len: usize, step: &mut impl FnMut(&mut [f64])) -> (f64, Vec<f64>) {
    timed(|| {
        let mut answer = vec![0.0; len];
        for _ in 0..steps {
            answer.fill(0.0);
            step(&mut answer);
        }
        answer
    })
}

/// Computes one step from the definition: the free energy, then the mass and the first moment of each centre.
fn plain_step(values: &[f64], centers: &[Vec<f64>], temperature: f64) -> Vec<f64> {
    let (clusters, columns) = (centers.len(), centers[0].len());
    let mut answer = vec![0.0; 1 + clusters * (1 + columns)];
    for x in values.chunks_exact(columns) {
        let distance = |y: &Vec<f64>| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        let scores: Vec<f64> = centers.iter().map(|y| -ln(clusters as f64) - distance(y) / temperature).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| exp(score - most)).sum();
        answer[0] -= temperature * (most + ln(sum));
        for (score, sums) in scores.iter().zip(answer[1..].chunks_exact_mut(1 + columns)) {
            let share = exp(score - most) / sum;
            sums[0] += share;
            sums[1..].iter_mut().zip(x).for_each(|(sum, x)| *sum += share * x);
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_is_seen() {
        let rows = Points::new(vec![0.0, 1.0, 4.0, 5.0], 2).unwrap();
        let step = Step::new(rows, vec![vec![0.0, 1.0], vec![4.0, 4.0]], 3.0);
        assert_eq!(step.error(&step.answer), 0.0);
        let mut wrong = step.answer.clone();
        wrong[5] += 1.0;
        assert!(step.error(&wrong) > 1e-3);
    }
}
