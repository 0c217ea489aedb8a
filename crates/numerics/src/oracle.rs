//! Tests the kernels against scalar loops on every instruction set of this machine. All sets must give the same bits,
//! and the scalar result except for rounding.

use crate::dispatch::{InstructionSet, kernel, on_each};
use crate::lanes::{Lanes, Line, Real, Registers};
use crate::nearest::{HardCenters, HardScratch, Kind, nearest_labels, nearest_sums};
use crate::random::Stream;
use crate::soft::{SoftCenters, SoftScratch, SoftTotals, Sums, soft_sums};
use crate::tiles::{DIRECT_DIMENSION, Tiles};

/// Runs the same code on each instruction set, checks that the bits agree, and returns the result.
pub(crate) fn on_all_sets(what: &str, run: impl Fn() -> Vec<f64>) -> Vec<f64> {
    let mut results = Vec::new();
    on_each(|_| results.push(run()));
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for (set, result) in InstructionSet::ALL.iter().zip(&results) {
        assert_eq!(bits(result), bits(&results[0]), "{what}: {set:?}");
    }
    results.swap_remove(0)
}

struct Problem {
    dimension: usize,
    rows: Vec<Vec<f64>>,
    weights: Vec<f64>,
    centers: Vec<Vec<f64>>,
    log_priors: Vec<f64>,
    temperature: f64,
}

impl Problem {
    fn new(rows: usize, dimension: usize, clusters: usize) -> Self {
        let stream = Stream::new((rows * 10_000 + dimension * 100 + clusters) as u64, "oracle");
        // Numbers that single precision represents exactly, so that one oracle serves both precisions.
        let number = |index: usize| f64::from(stream.normal(index as u64) as f32);
        let vectors = |from: usize, count: usize| -> Vec<Vec<f64>> {
            (0..count).map(|i| (0..dimension).map(|j| number(from + i * dimension + j)).collect()).collect()
        };
        Problem {
            dimension,
            rows: vectors(0, rows),
            weights: (0..rows).map(|i| (i % 4) as f64).collect(),
            centers: vectors(1_000_000, clusters),
            log_priors: (0..clusters).map(|k| -((1 + k) as f64).ln()).collect(),
            temperature: 0.75 * dimension as f64,
        }
    }

    fn tiles<T: Real>(&self) -> Tiles<T> {
        Tiles::new(self.rows.len(), self.dimension, &vec![0.0; self.dimension], |i| &self.rows[i], |i| self.weights[i])
    }

    fn soft_centers<T: Real>(&self) -> SoftCenters<T> {
        let mut centers = SoftCenters::default();
        centers.begin(self.dimension, self.temperature);
        for (k, (center, &log_prior)) in self.centers.iter().zip(&self.log_priors).enumerate() {
            centers.push(center, log_prior);
            centers.push_direction(center, &self.rows[k % self.rows.len()]);
        }
        centers
    }

    fn distance(&self, row: usize, k: usize) -> f64 {
        self.rows[row].iter().zip(&self.centers[k]).map(|(x, y)| (x - y) * (x - y)).sum()
    }

    fn memberships(&self, row: usize) -> (Vec<f64>, f64) {
        let scores: Vec<f64> =
            (0..self.centers.len()).map(|k| self.log_priors[k] - self.distance(row, k) / self.temperature).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        (scores.iter().map(|score| (score - most).exp() / sum).collect(), most + sum.ln())
    }

    fn soft(&self, kind: Sums) -> Vec<f64> {
        let per_center = kind.len(self.dimension);
        let mut sums = vec![0.0; 2 + self.centers.len() * per_center];
        for (row, &weight) in self.weights.iter().enumerate() {
            let (memberships, log_sum) = self.memberships(row);
            sums[0] -= self.temperature * weight * log_sum;
            sums[1] += weight * (1.0 - memberships.iter().copied().fold(0.0, f64::max));
            for (k, membership) in memberships.iter().enumerate() {
                let apart: Vec<f64> = self.rows[row].iter().zip(&self.centers[k]).map(|(x, y)| x - y).collect();
                let along: f64 = apart.iter().zip(&self.rows[k % self.rows.len()]).map(|(a, u)| a * u).sum();
                let share = weight * membership * if kind == Sums::Along { along } else { 1.0 };
                let out = &mut sums[2 + k * per_center..][..per_center];
                out[0] += share;
                let mut n = 1 + self.dimension;
                for i in 0..self.dimension {
                    out[1 + i] += share * self.rows[row][i];
                    if kind == Sums::Second {
                        for j in 0..=i {
                            out[n] += share * apart[i] * apart[j];
                            n += 1;
                        }
                    }
                }
            }
        }
        sums
    }

    fn hard(&self, kind: Kind, planes: &[(Vec<f64>, f64)]) -> Vec<f64> {
        let per_center = kind.len(self.dimension);
        let mut sums = vec![0.0; self.centers.len() * per_center];
        for (row, &weight) in self.weights.iter().enumerate() {
            let mut order: Vec<usize> = (0..self.centers.len()).collect();
            order.sort_by(|&a, &b| self.distance(row, a).total_cmp(&self.distance(row, b)).then(a.cmp(&b)));
            let k = order[0];
            let out = &mut sums[k * per_center..][..per_center];
            out[0] += weight;
            out[1 + self.dimension] += weight * self.distance(row, k);
            let height: f64 = self.rows[row].iter().zip(&planes[k].0).map(|(x, n)| x * n).sum();
            for (j, x) in self.rows[row].iter().enumerate() {
                out[1 + j] += weight * x;
                if kind == Kind::Swaps && height > planes[k].1 {
                    out[4 + self.dimension + j] += weight * x;
                }
            }
            if kind == Kind::Swaps {
                if let Some(&second) = order.get(1) {
                    out[2 + self.dimension] += weight * (self.distance(row, second) - self.distance(row, k));
                }
                if height > planes[k].1 {
                    out[3 + self.dimension] += weight;
                }
            }
        }
        sums
    }
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0f64, |most, value| most.max(value.abs()));
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance * scale,
            "{what}, number {n}: found {found}, expected {expected}"
        );
    }
}

/// Returns the shapes to test. The numbers of rows go from an empty last tile to more than a group of tiles. The
/// dimensions are on both sides of every special case.
fn shapes() -> Vec<(usize, usize, usize)> {
    let mut shapes: Vec<(usize, usize, usize)> = (1..=67).map(|rows| (rows, 2, 3)).collect();
    for dimension in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70] {
        for clusters in [1, 2, 3, 7, 8, 9, 20] {
            shapes.push((45, dimension, clusters));
        }
        // There are enough tiles to sum lane by lane, in both precisions.
        shapes.push((300, dimension, 5));
        shapes.push((530, dimension, 8));
    }
    shapes
}

fn check_soft<T: Real>(precision: f64) {
    for (rows, dimension, clusters) in shapes() {
        let problem = Problem::new(rows, dimension, clusters);
        let kinds =
            if dimension <= DIRECT_DIMENSION { [Sums::First, Sums::Second] } else { [Sums::First, Sums::Along] };
        for kind in kinds {
            let what = format!("{rows} rows, {dimension}-D, {clusters} centres, {kind:?}");
            let found = on_all_sets(&what, || {
                let mut sums = vec![0.0; clusters * kind.len(dimension)];
                let mut scratch = SoftScratch::default();
                let totals = soft_sums(&problem.tiles::<T>(), &problem.soft_centers(), kind, &mut scratch, &mut sums);
                let SoftTotals { free_energy, softness } = totals;
                [vec![free_energy, softness], sums].concat()
            });
            // Each number is a sum of at most `rows * dimension` terms of about 1, each with a few rounding errors.
            close(&found, &problem.soft(kind), precision * T::EPSILON * (4 * dimension) as f64, &what);
        }
    }
}

#[test]
fn soft_sums_are_those_of_a_scalar_loop_in_double_precision() {
    check_soft::<f64>(8.0);
}

#[test]
fn soft_sums_are_those_of_a_scalar_loop_in_single_precision() {
    check_soft::<f32>(8.0);
}

fn check_hard<T: Real>(precision: f64) {
    for (rows, dimension, clusters) in shapes() {
        let problem = Problem::new(rows, dimension, clusters);
        let planes: Vec<(Vec<f64>, f64)> =
            (0..clusters).map(|k| (problem.rows[(k + 1) % rows].clone(), 0.25 * (k as f64 - 1.0))).collect();
        for kind in [Kind::Centers, Kind::Swaps] {
            let what = format!("{rows} rows, {dimension}-D, {clusters} centres, {kind:?}");
            let found = on_all_sets(&what, || {
                let mut centers = HardCenters::default();
                centers.begin(dimension);
                for (center, (normal, threshold)) in problem.centers.iter().zip(&planes) {
                    centers.push(center);
                    centers.push_plane(normal, *threshold);
                }
                let mut sums = vec![0.0; clusters * kind.len(dimension)];
                let mut scratch = HardScratch::default();
                nearest_sums(&problem.tiles::<T>(), &centers, kind, &mut scratch, &mut sums);
                let mut alone = HardScratch::default();
                nearest_labels(&problem.tiles::<T>(), &centers, &mut alone);
                assert!((0..rows).all(|row| alone.nearest(row) == scratch.nearest(row)), "{what}: labels alone");
                for row in 0..rows {
                    let nearest = (0..clusters).map(|k| problem.distance(row, k)).fold(f64::INFINITY, f64::min);
                    let own = problem.distance(row, scratch.nearest(row));
                    assert!(
                        own - nearest <= 64.0 * T::EPSILON * dimension as f64 * (1.0 + nearest),
                        "{what}, row {row}"
                    );
                }
                sums
            });
            close(&found, &problem.hard(kind, &planes), precision * T::EPSILON * (4 * dimension) as f64, &what);
        }
    }
}

#[test]
fn nearest_sums_are_those_of_a_scalar_loop_in_double_precision() {
    check_hard::<f64>(8.0);
}

#[test]
fn nearest_sums_are_those_of_a_scalar_loop_in_single_precision() {
    check_hard::<f32>(8.0);
}

#[test]
fn the_first_of_equally_near_centres_is_taken() {
    let rows = [[0.0], [1.0], [2.0]];
    let tiles = Tiles::<f64>::new(3, 1, &[0.0], |i| &rows[i], |_| 1.0);
    let mut centers = HardCenters::default();
    centers.begin(1);
    for y in [2.0, 0.0, 2.0] {
        centers.push(&[y]);
    }
    let mut scratch = HardScratch::default();
    nearest_sums(&tiles, &centers, Kind::Centers, &mut scratch, &mut [0.0; 9]);
    assert_eq!([scratch.nearest(0), scratch.nearest(1), scratch.nearest(2)], [1, 0, 0]);
}

#[test]
fn memberships_add_up_to_the_weights() {
    for dimension in [2, 24] {
        let problem = Problem::new(500, dimension, 9);
        let mut sums = vec![0.0; 9 * (1 + dimension)];
        soft_sums(
            &problem.tiles::<f64>(),
            &problem.soft_centers(),
            Sums::First,
            &mut SoftScratch::default(),
            &mut sums,
        );
        let mass: f64 = sums.chunks_exact(1 + dimension).map(|sums| sums[0]).sum();
        let weight: f64 = problem.weights.iter().sum();
        assert!((mass / weight - 1.0).abs() < 1e-12, "{mass} of {weight}");
    }
}

/// Returns the largest error, by `error(found, exact)`, of a function of lines over many arguments, in units of the
/// precision.
fn worst<T: Real>(
    arguments: impl Iterator<Item = f64>,
    run: impl Fn(T::Plain) -> T::Plain,
    exact: impl Fn(f64) -> f64,
    error: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut worst = 0.0f64;
    for argument in arguments {
        let argument = T::from_f64(argument);
        let mut line = T::Line::default();
        run(T::Plain::splat(argument)).store(&mut line);
        worst = worst.max(error(line.lanes()[0].to_f64(), exact(argument.to_f64())) / T::EPSILON);
    }
    worst
}

kernel! {
    fn sum_in_registers[T; V](line: &T::Line) -> f64 {
        V::load(line).sum()
    }
}

#[test]
fn a_line_in_registers_adds_up_as_in_memory() {
    let stream = Stream::new(5, "lines");
    for n in 0..100 {
        let (mut double, mut single) = (<f64 as Real>::Line::default(), <f32 as Real>::Line::default());
        double.lanes_mut().iter_mut().zip(0..).for_each(|(lane, i)| *lane = stream.normal(16 * n + i));
        single.lanes_mut().iter_mut().zip(0..).for_each(|(lane, i)| *lane = stream.normal(16 * n + i) as f32);
        let found =
            on_all_sets("sums of lines", || vec![sum_in_registers::<f64>(&double), sum_in_registers::<f32>(&single)]);
        assert_eq!(found, [double.sum(), single.sum()]);
    }
}

#[test]
fn powers_of_two_are_good_to_two_and_a_half_units() {
    let relative = |found: f64, exact: f64| (found / exact - 1.0).abs();
    let arguments = || (0..200_000).map(|i| -100.0 + 200.0 * f64::from(i) / 200_000.0);
    let double = worst::<f64>(arguments(), Lanes::exp2, f64::exp2, relative);
    let single = worst::<f32>(arguments(), Lanes::exp2, f64::exp2, relative);
    assert!(double < 2.5 && single < 2.5, "{double} and {single} units");
    // An exponent below the smallest one counts as the smallest: the result is negligible compared with 1, but not a
    // denormal number.
    for argument in [-1e5, f64::NEG_INFINITY, -1001.0] {
        let mut line = <f64 as Real>::Line::default();
        <f64 as Registers>::Plain::splat(argument).exp2().store(&mut line);
        assert_eq!(line.lanes()[0], 2f64.powi(-1000));
    }
}

#[test]
fn logarithms_are_good_to_two_and_a_half_units() {
    let mixed = |found: f64, exact: f64| (found - exact).abs() / exact.abs().max(1.0);
    let arguments = || (0..200_000).map(|i| (1.0 + f64::from(i) / 50_000.0) * 2f64.powi(i % 61 - 30));
    let double = worst::<f64>(arguments(), Lanes::log2, f64::log2, mixed);
    let single = worst::<f32>(arguments(), Lanes::log2, f64::log2, mixed);
    assert!(double < 2.5 && single < 2.5, "{double} and {single} units");
}

fn roots_agree<T: Real>() {
    kernel! {
        fn roots[T; V](values: &[T], out: &mut [f64]) {
            let mut at = 0;
            while at + T::Line::COUNT <= values.len() {
                let mut line = T::Line::default();
                V::load_at(&values[at..]).inverse_root().store(&mut line);
                let mut lane = 0;
                while lane < T::Line::COUNT {
                    out[at + lane] = line.lanes()[lane].to_f64();
                    lane += 1;
                }
                at += T::Line::COUNT;
            }
        }
    }
    let values: Vec<T> = (0..16 * 4096).map(|step| T::from_f64(2f64.powf(f64::from(step) / 512.0 - 64.0))).collect();
    let found = on_all_sets("one over the root", || {
        let mut out = vec![0.0; values.len()];
        roots::<T>(&values, &mut out);
        out
    });
    for (value, found) in values.iter().zip(found) {
        let expected = 1.0 / value.to_f64().sqrt();
        assert!((found - expected).abs() <= 2.0 * T::EPSILON * expected, "{value:?}: {found}, not {expected}");
    }
}

#[test]
fn one_over_the_root_is_that_of_the_standard_library_to_rounding() {
    roots_agree::<f64>();
    roots_agree::<f32>();
}

#[test]
fn whole_numbers_are_widened_exactly_wherever_they_begin() {
    kernel! {
        fn widen[T; V](values: &[u16], out: &mut [f64]) {
            let mut at = 0;
            while at + 16 <= values.len() {
                out[at] = V::load_u16(&values[at..]).sum();
                at += 1;
            }
        }
    }
    let values: Vec<u16> = (0..90u32).map(|at| (at * 7919 % 65536) as u16).collect();
    let double = on_all_sets("16 bits to 64", || {
        let mut out = vec![0.0; values.len()];
        widen::<f64>(&values, &mut out);
        out
    });
    let single = on_all_sets("16 bits to 32", || {
        let mut out = vec![0.0; values.len()];
        widen::<f32>(&values, &mut out);
        out
    });
    for at in 0..values.len() - 15 {
        let sum = |count: usize| values[at..at + count].iter().map(|&value| f64::from(value)).sum::<f64>();
        assert_eq!((double[at], single[at]), (sum(8), sum(16)));
    }
}
