//! The bits of `bench kernels`: one E+M step over rows of bits, by the kernel that reads bits against the kernel of numbers over the same rows.
//!
//! Both are ours: the question is what packing gains at the density of chemical fingerprints, not what another program takes. Both are checked against a plain loop in `f64`
//! before their time counts.

use anyhow::{Result, bail, ensure};
use lehr_data::{Fingerprints, Points, synthetic};
use lehr_numerics::bits::{BitRows, BitScratch, SoftBitCenters, for_each_set_bit, soft_bit_sums};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::Partition;

use super::{Measured, TURN_SECONDS, WIDTHS};
use crate::arguments::Arguments;
use crate::compare::{ratios, verdict};
use crate::definition::{BitCase, Kernels};
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output;
use crate::record::Record;

/// Measures the case of bits of `mining/kernels.json`, on one thread.
///
/// # Errors
/// A wrong answer on either side.
pub(super) fn run(arguments: &Arguments, definition: &Kernels, rounds: usize, record: &mut Record) -> Result<()> {
    let case = &definition.bits;
    output::line(&format!(
        "rows of {} bits, {:.0} % of which are set: bits against numbers, ns per point and centre",
        case.bits,
        100.0 * case.density
    ));
    output::row(&WIDTHS, &["case", "bits", "numbers", "ratio by round", "aim", "error"].map(String::from));
    for &clusters in &case.clusters {
        if !arguments.wants(&format!("{} bits K={clusters}", case.bits)) {
            continue;
        }
        let problem = Problem::new(case, clusters);
        for precision in &definition.precisions {
            let tolerance = definition.tolerance[precision];
            let measured = match precision.as_str() {
                "f32" => compare::<f32>(&problem, rounds, tolerance)?,
                "f64" => compare::<f64>(&problem, rounds, tolerance)?,
                other => bail!("mining/kernels.json: unknown precision {other:?}"),
            };
            report(&format!("{} bits {precision} K={clusters}", case.bits), &measured, case.aim, record);
        }
    }
    Ok(())
}

fn report(name: &str, measured: &Measured, aim: f64, record: &mut Record) {
    let (bits, numbers) = (Spread::of(&measured.ours), Spread::of(&measured.floor));
    let ratio = ratios(&measured.ours, &measured.floor);
    let shown = |spread: Spread| format!("{:.2} {:.2} {:.2}", spread.min, spread.median, spread.max);
    let cells = [
        name.to_string(),
        shown(bits),
        shown(numbers),
        format!("{:.2} {:.2} {:.2}", ratio.min, ratio.median, ratio.max),
        verdict(ratio.median, aim),
        format!("{:.1e}", measured.error),
    ];
    output::row(&WIDTHS, &cells);
    let count = measured.ours.len();
    record.add(name, "bits", "time per point and centre", "ns", count, bits);
    record.add(name, "numbers", "time per point and centre", "ns", count, numbers);
    record.add(name, "bits/numbers", "ratio", "1", count, ratio);
}

/// Rows of bits, centres near their templates, a temperature, and the right answer.
struct Problem {
    rows: Fingerprints,
    numbers: Points,
    centers: Vec<Vec<f64>>,
    temperature: f64,
    /// Free energy, then for each centre its mass and first moment.
    answer: Vec<f64>,
}

impl Problem {
    fn new(case: &BitCase, clusters: usize) -> Self {
        let flip = 0.05;
        // As dense, once bits are flipped, as the case says.
        let set = (case.density - flip) / (1.0 - 2.0 * flip);
        let each = case.rows.div_ceil(clusters);
        let (rows, labels) = synthetic::bit_templates(clusters, each, case.bits, set, flip, 7);
        let mut values = vec![0.0; rows.len() * case.bits];
        for (row, values) in values.chunks_exact_mut(case.bits).enumerate() {
            for_each_set_bit(rows.row(row), |j| values[j] = 1.0);
        }
        let mut centers = vec![vec![0.0; case.bits]; clusters];
        // Half way between a template's mean and a half: memberships are shared.
        for (values, &label) in values.chunks_exact(case.bits).zip(&labels) {
            let center = &mut centers[label as usize];
            center.iter_mut().zip(values).for_each(|(y, x)| *y += 0.5 * x / each as f64);
        }
        centers.iter_mut().flatten().for_each(|y| *y += 0.25);
        let temperature = 0.02 * case.bits as f64;
        let answer = plain_step(&values, &centers, temperature);
        let numbers = Points::new(values, case.bits).expect("rows of 0 and 1");
        Self { rows, numbers, centers, temperature, answer }
    }

    /// The largest difference to the right answer, relative to the largest number of its kind.
    fn error(&self, answer: &[f64]) -> f64 {
        let apart = |from: usize, to: usize| {
            let scale = self.answer[from..to].iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
            let pairs = answer[from..to].iter().zip(&self.answer[from..to]);
            pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / scale
        };
        apart(0, 1).max(apart(1, self.answer.len()))
    }

    fn log_share(&self) -> f64 {
        -(self.centers.len() as f64).ln()
    }
}

/// One step from the definition.
fn plain_step(values: &[f64], centers: &[Vec<f64>], temperature: f64) -> Vec<f64> {
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

fn compare<T: Real>(problem: &Problem, rounds: usize, tolerance: f64) -> Result<Measured> {
    let (bits, count) = (problem.numbers.dimension(), problem.centers.len());
    let partition = Partition::new(problem.rows.len(), 1);
    let leaves = || (0..partition.leaves()).map(|leaf| partition.leaf_rows(leaf));
    let packed: Vec<BitRows> =
        leaves().map(|rows| BitRows::new(rows.len(), bits, |i| problem.rows.row(rows.start + i), |_| 1.0)).collect();
    // As a run has them: from their mean.
    let mut origin = vec![0.0; bits];
    for row in 0..problem.numbers.len() {
        let row = problem.numbers.row(row).iter();
        origin.iter_mut().zip(row).for_each(|(zero, x)| *zero += x / problem.numbers.len() as f64);
    }
    let dense: Vec<Tiles<T>> = leaves()
        .map(|rows| Tiles::new(rows.len(), bits, &origin, |i| problem.numbers.row(rows.start + i), |_| 1.0))
        .collect();
    let mut of_bits = SoftBitCenters::<T>::default();
    of_bits.begin(bits, count, problem.temperature, false);
    let mut of_numbers = SoftCenters::<T>::default();
    of_numbers.begin(bits, problem.temperature);
    for (k, center) in problem.centers.iter().enumerate() {
        of_bits.set(k, center, problem.log_share());
        let from_mean: Vec<f64> = center.iter().zip(&origin).map(|(y, zero)| y - zero).collect();
        of_numbers.push(&from_mean, problem.log_share());
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
    let errors = [problem.error(&answer_of_bits), problem.error(&answer_of_numbers)];
    for (error, what) in errors.iter().zip(["bits", "numbers"]) {
        ensure!(*error <= tolerance, "the step over {what} is wrong by {error:.1e} (K={count}): no measurement");
    }
    let steps = ((TURN_SECONDS / once) as usize).clamp(1, 1000);
    let mut sides: Vec<Side<'_>> = vec![Box::new(|| Ok(bit_step(steps).0)), Box::new(|| Ok(number_step(steps).0))];
    let seconds = take_turns(rounds, &mut sides)?;
    drop(sides);
    let per = 1e9 / (steps as f64 * problem.rows.len() as f64 * count as f64);
    let scaled = |seconds: &[f64]| seconds.iter().map(|second| second * per).collect();
    Ok(Measured { ours: scaled(&seconds[0]), floor: scaled(&seconds[1]), error: errors[0].max(errors[1]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kernels_give_the_answer_of_the_definition_and_a_wrong_one_is_seen() {
        let case = BitCase { rows: 200, bits: 130, density: 0.17, clusters: vec![3], aim: 1.0 };
        let problem = Problem::new(&case, 3);
        let measured = compare::<f64>(&problem, 1, 1e-10).unwrap();
        assert!(measured.error < 1e-11, "{}", measured.error);
        assert!(compare::<f32>(&problem, 1, 1e-4).is_ok());
        assert!(compare::<f32>(&problem, 1, 1e-15).is_err(), "a tolerance that no kernel keeps");
        let mut wrong = problem.answer.clone();
        wrong[5] += 1.0;
        assert!(problem.error(&wrong) > 1e-3);
    }
}
