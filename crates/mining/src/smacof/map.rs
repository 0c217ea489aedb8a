//! The result of an embedding.

use lehr_numerics::factor::eigenpairs;
use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Spread;

use super::fit::{Iteration, State, Stop};
use super::problem::{Passed, Problem};
use crate::anneal::run::Spent;
use crate::rows::RowMajor;

/// Positions of items in few dimensions, how well their distances reproduce the dissimilarities, and facts about the
/// fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The number of dimensions of the map.
    pub dimension: usize,
    /// The positions: N x dimension, row-major, in the unit of the dissimilarities. They are relative to the weighted
    /// mean unless items were fixed, and along principal axes unless positions were given.
    pub positions: Vec<f64>,
    /// The weighted sum of squared errors, divided by the weighted sum of squared dissimilarities. It is 0 if all
    /// distances are exact.
    pub stress: f64,
    /// Kruskal's stress-1: the square root of the ratio of the sum of squared errors to the sum of squared distances on
    /// the map.
    pub stress_1: f64,
    /// The weighted sum of squared errors over all pairs, in the squared unit of the dissimilarities, times the unit of
    /// the weights.
    pub raw_stress: f64,
    /// For each item, the weighted mean squared error of its pairs, divided by the mean squared dissimilarity of all
    /// pairs. The weighted mean of the values of all items is the stress.
    pub item_stress: Vec<f64>,
    /// Why the run ended.
    pub stop: Stop,
    /// The iterations of the best start. At one temperature, stress never rises.
    pub history: Vec<Iteration>,
    /// The stress that each start reached.
    pub stresses: Vec<f64>,
    /// The number of passes over the matrix, including those for the start and for steps that were not accepted.
    pub passes: u64,
    /// The number of conjugate gradient iterations; each reads the weights once.
    pub solver_steps: u64,
    /// The number of pairs without a dissimilarity.
    pub missing_pairs: u64,
    /// The number of rows on the rank with the most, divided by the mean.
    pub imbalance: f64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds; empty for engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The result of a run, on the lead rank.
pub(crate) struct Outcome {
    pub state: State,
    /// The sums at the best positions, and N x (dimension + 1) moments and stresses.
    pub passed: Passed,
    pub rows: Vec<f64>,
    /// For each item, the sum of the weights of its pairs; empty if each sum is the weight of all items.
    pub degrees: Vec<f64>,
    pub spent: Spent,
}

impl Map {
    pub(crate) fn new<T: Real>(problem: &Problem<'_, T>, outcome: Outcome) -> Self {
        let Outcome { state, passed, rows, degrees, spent } = outcome;
        let best = state.best.expect("a start was finished");
        let (unit, dimension) = (problem.matrix.unit, problem.dimension);
        let norm = state.norm.max(f64::MIN_POSITIVE);
        let square = passed.stress - state.norm + 2.0 * passed.cross;
        let degree = |item: usize| degrees.get(item).copied().unwrap_or(problem.total_weight);
        let pairs: f64 = (0..problem.items()).map(|item| problem.weights[item] * degree(item)).sum::<f64>() / 2.0;
        let item_stress = (0..problem.items())
            .map(|item| rows[item * (dimension + 1) + dimension] / degree(item).max(f64::MIN_POSITIVE) / (norm / pairs))
            .collect();
        let mut positions = best.positions;
        if problem.positions.is_none() {
            turn_to_principal_axes(problem, &mut positions);
        }
        positions.iter_mut().for_each(|x| *x *= unit);
        let of_weights = problem.pair_weights.iter().filter_map(|weights| weights.rounding.clone());
        let mut warnings: Vec<String> = problem.matrix.rounding.iter().cloned().chain(of_weights).collect();
        warnings.extend(problem.matrix.missing_warning());
        if best.stop == Stop::MostIterations {
            warnings.push(format!(
                "the stress still fell after {} iterations: the map is not finished",
                best.history.len()
            ));
        }
        let raw_stress = problem.raw(passed.stress);
        if raw_stress.is_infinite() || (raw_stress == 0.0 && passed.stress > 0.0) {
            let (beyond, limit) = if raw_stress > 0.0 { ("above", f64::MAX) } else { ("below", f64::MIN_POSITIVE) };
            warnings.push(format!(
                "the raw stress is {beyond} {limit:.1e}, the limit of numbers: use the stress, which has no unit, or other units"
            ));
        }
        if state.norm == 0.0 {
            warnings.push("all dissimilarities are 0: all items are in one place".to_string());
        }
        Self {
            dimension,
            positions,
            stress: if state.norm > 0.0 { best.stress } else { 0.0 },
            stress_1: if square > 0.0 { (passed.stress / square).sqrt() } else { 0.0 },
            raw_stress,
            item_stress,
            stop: best.stop,
            history: best.history,
            stresses: state.stresses,
            passes: state.passes,
            solver_steps: state.steps,
            missing_pairs: problem.matrix.survey.gaps,
            imbalance: spent.imbalance,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
        }
    }

    /// The position of an item.
    ///
    /// # Panics
    /// Panics if there is no such item.
    pub fn position(&self, item: usize) -> &[f64] {
        RowMajor::new(&self.positions, self.dimension).row(item)
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.positions.len() / self.dimension
    }
}

/// Rotates positions to principal axes, because stress does not determine the orientation. The axes of largest variance
/// come first, each with its largest coordinate positive.
fn turn_to_principal_axes<T: Real>(problem: &Problem<'_, T>, positions: &mut [f64]) {
    let dimension = problem.dimension;
    let mut covariance = vec![0.0; dimension * dimension];
    for (position, weight) in positions.chunks_exact(dimension).zip(&problem.weights) {
        for a in 0..dimension {
            for b in 0..=a {
                covariance[a * dimension + b] += weight * position[a] * position[b];
            }
        }
    }
    let Some(axes) = eigenpairs(dimension, &covariance) else { return };
    let mut turned = vec![0.0; dimension];
    for position in positions.chunks_exact_mut(dimension) {
        for (x, (_, axis)) in turned.iter_mut().zip(&axes) {
            *x = position.iter().zip(axis).map(|(x, axis)| x * axis).sum();
        }
        position.copy_from_slice(&turned);
    }
    for k in 0..dimension {
        let largest = positions
            .iter()
            .skip(k)
            .step_by(dimension)
            .fold(0.0f64, |most, x| if x.abs() > most.abs() { *x } else { most });
        if largest < 0.0 {
            positions.iter_mut().skip(k).step_by(dimension).for_each(|x| *x = -*x);
        }
    }
}
