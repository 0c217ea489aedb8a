//! Tests the kernels of mixtures against scalar loops on every instruction set of this machine. All sets must give the
//! same bits, and the scalar result except for rounding.

use crate::cholesky::{cholesky, inverse_of_factor, triangle};
use crate::gaussian::{Components, GaussianScratch, Scatter, Whitening, gaussian_sums, posterior};
use crate::lanes::Real;
use crate::oracle::on_all_sets;
use crate::random::Stream;
use crate::tiles::Tiles;

/// The memberships of a row, and `T ln sum exp`.
type Posterior = (Vec<f64>, f64);

struct Problem {
    dimension: usize,
    rows: Vec<Vec<f64>>,
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    /// The whitening matrix of each component.
    matrices: Vec<Vec<f64>>,
    log_factors: Vec<f64>,
    whitening: Whitening,
    temperature: f64,
}

impl Problem {
    fn new(rows: usize, dimension: usize, count: usize, whitening: Whitening) -> Self {
        let stream = Stream::new((rows * 10_000 + dimension * 100 + count) as u64, "gaussian oracle");
        // Numbers that single precision represents exactly, so that one oracle serves both precisions.
        let number = |index: usize| f64::from(stream.normal(index as u64) as f32);
        let vectors = |from: usize, count: usize| -> Vec<Vec<f64>> {
            (0..count).map(|i| (0..dimension).map(|j| number(from + i * dimension + j)).collect()).collect()
        };
        let matrix = |k: usize| -> Vec<f64> {
            match whitening {
                Whitening::Diagonal => (0..dimension).map(|j| 0.5 + ((j + k) % 3) as f64 / 4.0).collect(),
                Whitening::Triangular => {
                    // A covariance with off-diagonal entries that shrink with the distance of the coordinates.
                    let covariance: Vec<f64> = (0..dimension)
                        .flat_map(|i| (0..=i).map(move |j| (1.0 + 0.25 * (k % 4) as f64) * 0.5f64.powi((i - j) as i32)))
                        .collect();
                    inverse_of_factor(dimension, &cholesky(dimension, &covariance).unwrap())
                }
            }
        };
        Problem {
            dimension,
            rows: vectors(0, rows),
            weights: (0..rows).map(|i| (i % 4) as f64).collect(),
            means: vectors(1_000_000, count),
            matrices: (0..count).map(matrix).collect(),
            log_factors: (0..count).map(|k| -((1 + k) as f64).ln()).collect(),
            whitening,
            temperature: 1.0 + (count % 2) as f64,
        }
    }

    fn tiles<T: Real>(&self) -> Tiles<T> {
        Tiles::new(self.rows.len(), self.dimension, &vec![0.0; self.dimension], |i| &self.rows[i], |i| self.weights[i])
    }

    fn components<T: Real>(&self) -> Components<T> {
        let mut components = Components::new(self.dimension, self.whitening, self.temperature);
        for ((mean, matrix), &log_factor) in self.means.iter().zip(&self.matrices).zip(&self.log_factors) {
            components.push(mean, matrix, log_factor);
        }
        components
    }

    fn posterior(&self, row: usize) -> Posterior {
        let scores: Vec<f64> = (0..self.means.len())
            .map(|k| {
                let d: Vec<f64> = self.rows[row].iter().zip(&self.means[k]).map(|(x, u)| x - u).collect();
                let square: f64 = match self.whitening {
                    Whitening::Diagonal => d.iter().zip(&self.matrices[k]).map(|(d, w)| (d * w) * (d * w)).sum(),
                    Whitening::Triangular => (0..self.dimension)
                        .map(|i| (0..=i).map(|j| self.matrices[k][triangle(i) + j] * d[j]).sum::<f64>().powi(2))
                        .sum(),
                };
                (self.log_factors[k] - square / 2.0) / self.temperature
            })
            .collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        let memberships = scores.iter().map(|score| (score - most).exp() / sum).collect();
        (memberships, self.temperature * (most + sum.ln()))
    }

    fn sums(&self, scatter: Scatter) -> Vec<f64> {
        let (dimension, count) = (self.dimension, self.means.len());
        let per_component = scatter.per_component(dimension);
        let mut sums = vec![0.0; scatter.len(dimension, count)];
        for (row, weight) in self.weights.iter().enumerate() {
            let (memberships, _) = self.posterior(row);
            for (k, membership) in memberships.iter().enumerate() {
                let member = weight * membership;
                let d: Vec<f64> = self.rows[row].iter().zip(&self.means[k]).map(|(x, u)| x - u).collect();
                let (own, pooled) = sums.split_at_mut(count * per_component);
                let own = &mut own[k * per_component..][..per_component];
                own[0] += member;
                own[1..=dimension].iter_mut().zip(&d).for_each(|(sum, d)| *sum += member * d);
                let second = if scatter == Scatter::Pooled { pooled } else { &mut own[1 + dimension..] };
                let mut n = 0;
                for i in 0..dimension {
                    for j in 0..=i {
                        if scatter == Scatter::Diagonal && i != j {
                            continue;
                        }
                        second[n] += member * d[i] * d[j];
                        n += 1;
                    }
                }
            }
        }
        sums
    }
}

#[track_caller]
fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |most, value| most.max(value.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance * scale,
            "{what}, number {i}: found {found}, expected {expected}"
        );
    }
}

fn check<T: Real>(rows: usize, dimension: usize, count: usize) {
    for whitening in [Whitening::Diagonal, Whitening::Triangular] {
        let problem = Problem::new(rows, dimension, count, whitening);
        let (tiles, components) = (problem.tiles::<T>(), problem.components::<T>());
        let what = format!("{rows} rows, {dimension} dimensions, {count} components, {whitening:?}");
        // A score is a sum of D (Diagonal) or D^2 / 2 products; its error is the relative error of a membership.
        let tolerance = 64.0 * (4.0 + (dimension * dimension) as f64) * T::EPSILON;
        for scatter in [Scatter::Diagonal, Scatter::Full, Scatter::Pooled] {
            let found = on_all_sets(&what, || {
                let mut sums = vec![0.0; 2 + scatter.len(dimension, count)];
                let totals =
                    gaussian_sums(&tiles, &components, scatter, &mut GaussianScratch::default(), &mut sums[2..]);
                (sums[0], sums[1]) = (totals.log_likelihood, totals.softness);
                sums
            });
            let of_rows = |value: &dyn Fn(&Posterior) -> f64| -> f64 {
                (0..rows).map(|row| problem.weights[row] * value(&problem.posterior(row))).sum()
            };
            let most = |memberships: &[f64]| memberships.iter().copied().fold(0.0, f64::max);
            let totals = [of_rows(&|(_, log_sum)| *log_sum), of_rows(&|(memberships, _)| 1.0 - most(memberships))];
            close(&format!("{what}, totals"), &found[..2], &totals, tolerance * (1.0 + rows as f64));
            close(
                &format!("{what}, {scatter:?}"),
                &found[2..],
                &problem.sums(scatter),
                tolerance * (1.0 + rows as f64),
            );
        }
        let found = on_all_sets(&what, || {
            let (mut memberships, mut logs) = (vec![0.0; rows * count], vec![0.0; rows]);
            posterior(&tiles, &components, &mut GaussianScratch::default(), &mut memberships, &mut logs);
            memberships.extend(logs);
            memberships
        });
        let expected: Vec<Posterior> = (0..rows).map(|row| problem.posterior(row)).collect();
        let memberships: Vec<f64> = expected.iter().flat_map(|(memberships, _)| memberships.clone()).collect();
        let logs: Vec<f64> = expected.iter().map(|(_, log_sum)| *log_sum).collect();
        close(&format!("{what}, memberships"), &found[..rows * count], &memberships, tolerance);
        close(&format!("{what}, densities"), &found[rows * count..], &logs, tolerance);
    }
}

#[test]
fn sums_and_memberships_are_those_of_a_scalar_loop_on_every_instruction_set() {
    for rows in [1, 2, 7, 8, 9, 16, 31, 33, 67, 130] {
        for (dimension, count) in [(1, 1), (1, 3), (2, 2), (3, 5), (4, 3), (7, 2), (17, 2)] {
            check::<f64>(rows, dimension, count);
            check::<f32>(rows, dimension, count);
        }
    }
}

#[test]
fn a_row_beyond_all_components_belongs_to_the_widest_and_nothing_overflows() {
    let rows = [[1e150], [-1e150], [0.0]];
    let tiles = Tiles::<f64>::new(3, 1, &[0.0], |i| &rows[i], |_| 1.0);
    let mut components = Components::new(1, Whitening::Diagonal, 1.0);
    components.push(&[-1.0], &[1.0], 0.0);
    components.push(&[1.0], &[0.5], 0.0);
    let (mut memberships, mut logs) = (vec![0.0; 6], vec![0.0; 3]);
    posterior(&tiles, &components, &mut GaussianScratch::default(), &mut memberships, &mut logs);
    assert!(memberships[1] == 1.0 && memberships[3] == 1.0, "{memberships:?}");
    assert!(memberships[0] < 1e-300 && logs.iter().all(|log| log.is_finite()), "{memberships:?} {logs:?}");
}
