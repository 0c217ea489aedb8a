//! Solves for the next positions from the moments of a pass: `V X = B(Z) Z` on the items that may move.
//!
//! If pairs are weighted only by their items' weights, V is a diagonal matrix minus an outer product. Then there is a
//! closed form. Otherwise conjugate gradients start from the present positions. Each of their steps lowers the
//! majorising function, so stopping early does not raise the stress. V is never formed, and no term is added to make it
//! regular, so a map with missing pairs keeps its scale.

use lehr_numerics::compact::Columns;
use lehr_numerics::lanes::Real;

use super::problem::Problem;
use crate::Error;
use crate::gather::Side;
use crate::product::products;
use crate::round::Rounds;

/// The maximum number of conjugate gradient steps.
const MOST_STEPS: u64 = 20;

/// The state that is kept between iterations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solver {
    /// For each item, the sum of the weights of its pairs, without its own weight; empty if there is a closed form.
    degrees: Vec<f64>,
    pub steps: u64,
}

impl Solver {
    /// Reads the matrix once, unless there is a closed form.
    pub async fn new<T: Real>(
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        turn: &mut Side,
    ) -> Result<Self, Error> {
        let mut solver = Self::default();
        if !problem.is_separable() {
            let mut ones = Columns::new(problem.items(), 1);
            ones.fill(|item, _| problem.weights[item]);
            let (matrix, entry) = problem.pair_weight();
            products(rounds, matrix, &ones, &[entry], &problem.gather, turn, &mut solver.degrees).await?;
        }
        Ok(solver)
    }

    /// For each item, the sum of the weights of its pairs; empty if each sum is the weight of all items.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// Returns the next positions, from the moments of a pass at `positions`. `rows` has dimension + 1 numbers for each
    /// item, the moments first.
    pub async fn solve<T: Real>(
        &mut self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        positions: &[f64],
        rows: &[f64],
        tolerance: f64,
        turn: &mut Side,
    ) -> Result<Vec<f64>, Error> {
        let mut next = positions.to_vec();
        if problem.is_separable() {
            written_down(problem, rows, &mut next);
        } else {
            self.descend(rounds, problem, rows, tolerance, turn, &mut next).await?;
        }
        if !problem.has_fixed {
            center(problem, &mut next);
        }
        Ok(next)
    }

    /// Computes `V u` for each column of `u`, without the items' own weights.
    async fn apply<T: Real>(
        &self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        u: &[f64],
        turn: &mut Side,
        out: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let dimension = problem.dimension;
        let mut columns = Columns::new(problem.items(), dimension);
        columns.fill(|item, k| problem.weights[item] * u[item * dimension + k]);
        let (matrix, entry) = problem.pair_weight();
        products(rounds, matrix, &columns, &[entry], &problem.gather, turn, out).await?;
        for (item, products) in out.chunks_exact_mut(dimension).enumerate() {
            for (product, u) in products.iter_mut().zip(&u[item * dimension..]) {
                *product = self.degrees[item] * u - *product;
            }
        }
        Ok(())
    }

    async fn descend<T: Real>(
        &mut self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        rows: &[f64],
        tolerance: f64,
        turn: &mut Side,
        x: &mut [f64],
    ) -> Result<(), Error> {
        let (items, dimension) = (problem.items(), problem.dimension);
        let moves = |item: usize| problem.is_free[item] && problem.weights[item] > 0.0;
        let mut product = Vec::new();
        self.apply(rounds, problem, x, turn, &mut product).await?;
        let mut residual = vec![0.0; items * dimension];
        // The residual is compared with the initial residual, not with the right-hand side. Near the end of a run, even
        // the initial residual is negligible compared with the right-hand side, so the system would seem solved.
        let mut first = vec![0.0; dimension];
        for item in (0..items).filter(|&item| moves(item)) {
            for k in 0..dimension {
                let right = rows[item * (dimension + 1) + k];
                let left = problem.weights[item] * (right - product[item * dimension + k]);
                residual[item * dimension + k] = left;
                first[k] += left * left;
            }
        }
        let scaled =
            |item: usize, value: f64| value / (problem.weights[item] * self.degrees[item]).max(f64::MIN_POSITIVE);
        // Each dimension is a separate system with the same matrix.
        let dots = |a: &[f64], b: &dyn Fn(usize, usize) -> f64| {
            let mut dots = vec![0.0; dimension];
            for item in (0..items).filter(|&item| moves(item)) {
                for k in 0..dimension {
                    dots[k] += a[item * dimension + k] * b(item, k);
                }
            }
            dots
        };
        let mut direction = vec![0.0; items * dimension];
        for item in (0..items).filter(|&item| moves(item)) {
            for k in 0..dimension {
                direction[item * dimension + k] = scaled(item, residual[item * dimension + k]);
            }
        }
        let mut size = dots(&residual, &|item, k| scaled(item, residual[item * dimension + k]));
        for _ in 0..MOST_STEPS {
            let left = dots(&residual, &|item, k| residual[item * dimension + k]);
            if left.iter().zip(&first).all(|(left, first)| *left <= tolerance * tolerance * first) {
                break;
            }
            self.apply(rounds, problem, &direction, turn, &mut product).await?;
            self.steps += 1;
            let curved = dots(&direction, &|item, k| problem.weights[item] * product[item * dimension + k]);
            let step: Vec<f64> = size
                .iter()
                .zip(&curved)
                .map(|(size, curved)| if *curved > 0.0 { size / curved } else { 0.0 })
                .collect();
            for item in (0..items).filter(|&item| moves(item)) {
                for k in 0..dimension {
                    let place = item * dimension + k;
                    x[place] += step[k] * direction[place];
                    residual[place] -= step[k] * problem.weights[item] * product[place];
                }
            }
            let next = dots(&residual, &|item, k| scaled(item, residual[item * dimension + k]));
            for item in (0..items).filter(|&item| moves(item)) {
                for k in 0..dimension {
                    let place = item * dimension + k;
                    let turned = if size[k] > 0.0 { next[k] / size[k] } else { 0.0 };
                    direction[place] = scaled(item, residual[place]) + turned * direction[place];
                }
            }
            size = next;
        }
        if problem.weights.contains(&0.0) {
            self.place_weightless(rounds, problem, rows, turn, x).await?;
        }
        Ok(())
    }

    /// Places items of weight 0 where the other items pull them.
    async fn place_weightless<T: Real>(
        &self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        rows: &[f64],
        turn: &mut Side,
        x: &mut [f64],
    ) -> Result<(), Error> {
        let dimension = problem.dimension;
        let mut columns = Columns::new(problem.items(), dimension);
        columns.fill(|item, k| problem.weights[item] * x[item * dimension + k]);
        let (matrix, entry) = problem.pair_weight();
        let mut sums = Vec::new();
        products(rounds, matrix, &columns, &[entry], &problem.gather, turn, &mut sums).await?;
        for item in (0..problem.items()).filter(|&item| problem.weights[item] == 0.0 && problem.is_free[item]) {
            for k in 0..dimension {
                let pulled = sums[item * dimension + k] + rows[item * (dimension + 1) + k];
                x[item * dimension + k] = pulled / self.degrees[item].max(f64::MIN_POSITIVE);
            }
        }
        Ok(())
    }
}

/// Solves in closed form if V is `W diag(w) - w w'`. For an item that may move, `W x_i = moment_i + sum_j w_j x_j`. The
/// part of the sum over such items follows from their own moments.
fn written_down<T: Real>(problem: &Problem<'_, T>, rows: &[f64], x: &mut [f64]) {
    let dimension = problem.dimension;
    let whole = problem.total_weight;
    let free: f64 = problem.weights.iter().zip(&problem.is_free).filter(|(_, free)| **free).map(|(w, _)| w).sum();
    for k in 0..dimension {
        let (mut moments, mut held) = (0.0, 0.0);
        for item in 0..problem.items() {
            let weight = problem.weights[item];
            if problem.is_free[item] {
                moments += weight * rows[item * (dimension + 1) + k];
            } else {
                held += weight * x[item * dimension + k];
            }
        }
        let moving = if whole > free { (moments + free * held) / (whole - free) } else { 0.0 };
        for item in (0..problem.items()).filter(|&item| problem.is_free[item]) {
            x[item * dimension + k] = (rows[item * (dimension + 1) + k] + moving + held) / whole;
        }
    }
}

/// Moves the weighted mean to the origin.
pub(crate) fn center<T: Real>(problem: &Problem<'_, T>, x: &mut [f64]) {
    let dimension = problem.dimension;
    for k in 0..dimension {
        let column = || x.iter().skip(k).step_by(dimension);
        let mean = column().zip(&problem.weights).map(|(x, weight)| x * weight).sum::<f64>() / problem.total_weight;
        x.iter_mut().skip(k).step_by(dimension).for_each(|x| *x -= mean);
    }
}
