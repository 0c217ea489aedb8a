//! The data of an embedding, prepared for rounds: targets, weights, and which items may move. This file also contains
//! the pass of an iteration.

use std::ops::Range;

use lehr_numerics::compact::{Columns, Entry};
use lehr_numerics::guttman::{Configuration, Weighing, guttman};
use lehr_numerics::lanes::Real;
use xxhash_rust::xxh3::Xxh3Default;

use super::parameters::{Input, Parameters, Weighting};
use crate::Error;
use crate::gather::{Gather, Side};
use crate::matrix::{Matrix, check_tied, item_weights};
use crate::round::{Partition, Round, Rounds, total_of};
use crate::rows::RowMajor;

/// If weights are 1 over dissimilarities, smaller dissimilarities count as this share of the mean.
const SAMMON_FLOOR: f64 = 1e-3;
/// If weights are 1 over squares, smaller dissimilarities count as this share of the mean. The largest weight is then a
/// thousand times the weight of the mean dissimilarity.
const SQUARE_FLOOR: f64 = 0.03;

/// The data of an embedding, which all ranks share.
pub(crate) struct Problem<'a, T: Real> {
    pub matrix: Matrix<'a, T>,
    pub pair_weights: Option<Matrix<'a, T>>,
    pub weighting: Weighting,
    pub dimension: usize,
    /// The items' weights, scaled to about 1.
    pub weights: Vec<f64>,
    pub total_weight: f64,
    weight_column: Columns<T>,
    /// Whether each item may move.
    pub is_free: Vec<bool>,
    pub has_fixed: bool,
    pub positions: Option<Vec<f64>>,
    pub gather: Gather,
    pub partition: Partition,
    pub fingerprint: u64,
    /// The factors that convert a sum over pairs of weights times squares to the input's unit.
    raw_units: Vec<f64>,
}

impl<'a, T: Real> Problem<'a, T> {
    /// # Errors
    /// Returns [`Error::Parameter`] for invalid weights, [`Error::Unrelated`], or [`Error::Disconnected`].
    pub fn new(matrix: Matrix<'a, T>, input: &Input<'_>, parameters: &Parameters) -> Result<Self, Error> {
        let items = matrix.items;
        let (weights, weight_unit) = item_weights(input.weights, items)?;
        let pair_weights = input.pair_weights.map(|weights| Matrix::weights(weights, &matrix)).transpose()?;
        let mut is_free = vec![true; items];
        input.fixed.iter().for_each(|&item| is_free[item] = false);
        let mut hash = Xxh3Default::new();
        hash.update(&matrix.survey.fingerprint.to_le_bytes());
        let mut add = |numbers: &[f64]| {
            hash.update(&(numbers.len() as u64).to_le_bytes());
            numbers.iter().for_each(|number| hash.update(&number.to_le_bytes()));
        };
        add(input.weights.unwrap_or_default());
        add(input.positions.unwrap_or_default());
        add(&input.fixed.iter().map(|&item| item as f64).collect::<Vec<_>>());
        if let Some(weights) = &pair_weights {
            hash.update(&weights.survey.fingerprint.to_le_bytes());
        }
        let mut weight_column = Columns::new(items, 1);
        weight_column.fill(|item, _| weights[item]);
        let unit = matrix.unit;
        let squared = match parameters.weighting {
            Weighting::Equal => vec![unit, unit],
            Weighting::Sammon => vec![unit],
            Weighting::InverseSquare => Vec::new(),
        };
        let pair_unit = pair_weights.as_ref().map_or(1.0, |weights| weights.unit);
        let problem = Self {
            positions: input.positions.map(|positions| positions.iter().map(|x| x / unit).collect()),
            raw_units: [squared, vec![pair_unit, weight_unit, weight_unit]].concat(),
            fingerprint: hash.digest(),
            has_fixed: !input.fixed.is_empty(),
            is_free,
            gather: Gather::new(items),
            partition: Partition::new(items, 1),
            total_weight: weights.iter().sum(),
            weights,
            weight_column,
            weighting: parameters.weighting,
            dimension: parameters.dimension,
            pair_weights,
            matrix,
        };
        if problem.matrix.has_gaps() || problem.pair_weights.is_some() {
            let fixed = (0..items).filter(|&item| !problem.is_free[item]);
            check_tied(&problem.weights, fixed, |i, j| problem.is_pair(i, j))?;
        }
        Ok(problem)
    }

    /// Converts a sum over pairs of weights times squares to the input's unit; infinite only if the result is too
    /// large.
    pub fn raw(&self, sum: f64) -> f64 {
        let product: f64 = self.raw_units.iter().product();
        if product.is_normal() {
            return sum * product;
        }
        let mut units = self.raw_units.clone();
        let mut raw = sum;
        // Multiply large factors by small ones: the square of a unit may overflow even if the whole product does not.
        while !units.is_empty() {
            let place = units.iter().position(|unit| (*unit < 1.0) == (raw > 1.0)).unwrap_or_default();
            raw *= units.remove(place);
        }
        raw
    }

    pub fn items(&self) -> usize {
        self.matrix.items
    }

    /// Whether the next positions have a closed form: no pair is missing, and pairs have no weights of their own.
    pub fn is_separable(&self) -> bool {
        !self.matrix.has_gaps() && self.pair_weights.is_none() && self.weighting == Weighting::Equal
    }

    fn floor(&self, share: f64) -> f64 {
        (share * self.matrix.survey.mean / self.matrix.unit).max(f64::from(f32::MIN_POSITIVE))
    }

    fn weighing(&self, rows: Range<usize>) -> Weighing<'_, T> {
        if let Some(weights) = &self.pair_weights {
            return Weighing::Matrix(weights.block(rows));
        }
        match self.weighting {
            Weighting::Sammon => Weighing::Inverse { floor: self.floor(SAMMON_FLOOR) },
            Weighting::InverseSquare => Weighing::InverseSquare { floor: self.floor(SQUARE_FLOOR) },
            Weighting::Equal if self.matrix.has_gaps() || self.weights.iter().any(|&weight| weight != 1.0) => {
                Weighing::Items
            }
            Weighting::Equal => Weighing::Equal,
        }
    }

    /// The matrix that has the pairs' weights, and the entry of it that is the weight. The items' weights are
    /// additional factors.
    pub fn pair_weight(&self) -> (&Matrix<'a, T>, Entry) {
        if let Some(weights) = &self.pair_weights {
            return (weights, Entry::Value);
        }
        let entry = match self.weighting {
            Weighting::Equal => Entry::Present,
            Weighting::Sammon => Entry::Inverse { floor: self.floor(SAMMON_FLOOR) },
            Weighting::InverseSquare => Entry::InverseSquare { floor: self.floor(SQUARE_FLOOR) },
        };
        (&self.matrix, entry)
    }

    /// Whether two items influence each other's positions.
    pub fn is_pair(&self, i: usize, j: usize) -> bool {
        let has_weight = || self.pair_weights.as_ref().is_none_or(|weights| weights.get(i, j) > Some(0.0));
        self.matrix.get(i, j).is_some() && has_weight()
    }
}

struct PassRound<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    columns: &'a Columns<T>,
    positions: &'a [f64],
    shift: f64,
    turn: Side,
}

impl<T: Real> Round for PassRound<'_, T> {
    fn len(&self) -> usize {
        2
    }

    fn name(&self) -> &'static str {
        "Guttman transform"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let problem = self.problem;
        let rows = problem.partition.leaf_rows(leaf);
        let dimension = problem.dimension;
        let at = Configuration {
            positions: self.columns,
            weights: &problem.weight_column,
            shift: self.shift,
            first: rows.start,
        };
        partial.fill(0.0);
        problem.gather.write(leaf, self.turn, rows.len() * (dimension + 1), |out| {
            guttman(&problem.matrix.block(rows.clone()), &problem.weighing(rows.clone()), &at, out);
            for (row, own) in rows.zip(out.chunks_exact(dimension + 1)) {
                let position = RowMajor::new(self.positions, dimension).row(row);
                let dot: f64 = position.iter().zip(own).map(|(x, moment)| x * moment).sum();
                // Each pair is counted from both sides.
                partial[0] += 0.5 * problem.weights[row] * own[dimension];
                partial[1] += problem.weights[row] * dot;
            }
        });
    }
}

/// The results of a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    /// The sum over pairs of `w (d - target)^2`.
    pub stress: f64,
    /// The sum over pairs of `w d target`.
    pub cross: f64,
}

/// Makes a pass over the matrix at the given positions. Computes N x (dimension + 1) moments and stresses, and the sums
/// over all pairs.
pub(crate) async fn pass<T: Real>(
    rounds: &mut dyn Rounds,
    problem: &Problem<'_, T>,
    positions: &[f64],
    shift: f64,
    turn: &mut Side,
    rows: &mut Vec<f64>,
) -> Result<Passed, Error> {
    let dimension = problem.dimension;
    let mut columns = Columns::new(problem.items(), dimension);
    columns.fill(|item, k| positions[item * dimension + k]);
    let mut sums = Vec::new();
    let round = PassRound { problem, columns: &columns, positions, shift, turn: *turn };
    total_of(rounds, &round, &mut sums).await?;
    problem.gather.collect(rounds, turn, rows).await?;
    Ok(Passed { stress: sums[0], cross: sums[1] })
}
