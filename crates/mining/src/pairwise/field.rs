//! The mean field of items that know each other only by their dissimilarities: two rounds a sweep.
//!
//! Hofmann and Buhmann 1997; `mining-spec` 2.2. With `q` the normalised weights of a component's members,
//!
//! ```text
//! B_i(k) = sum_j q_j D_ij       A(k) = -1/2 sum_i q_i B_i(k)       eps_i(k) = B_i(k) + A(k)       m_ik ~ P_k exp(-eps_i(k) / T)
//! ```
//!
//! The first round reads the matrix once and leaves each row's B with its leaf; the second makes memberships of them, which all ranks are given. For squared
//! Euclidean distances eps is the squared distance to the component's mean, and a sweep is one of vector annealing.

use lehr_numerics::compact::{Columns, Entry, add_products};
use lehr_numerics::elementary::{exp, ln};
use lehr_numerics::lanes::Real;

use crate::Error;
use crate::gather::{Gather, Turn};
use crate::matrix::{Matrix, item_weights};
use crate::round::{LeafCells, Partition, Round, Rounds, total_of};

/// A row that knows less than this share of a component's members takes the component's own mean for its own.
const LEAST_KNOWN: f64 = 1e-6;

/// Figures of a soft round, per unit of weight: free energy, mean cost, softness; and the largest change of a field.
pub(crate) const FIGURES: usize = 4;

/// What a leaf keeps: rows x components.
#[derive(Debug, Default)]
pub(crate) struct Field {
    mean: Vec<f64>,
    eps: Vec<f64>,
}

/// What all ranks share.
pub(crate) struct Problem<'a, T: Real> {
    pub matrix: Matrix<'a, T>,
    pub weights: Vec<f64>,
    pub weight_unit: f64,
    pub total_weight: f64,
    pub partition: Partition,
    pub fields: LeafCells<Field>,
    pub gather: Gather,
    pub fingerprint: u64,
}

impl<'a, T: Real> Problem<'a, T> {
    /// # Errors
    /// [`Error::Parameter`] for weights that are none, [`Error::Unrelated`] for items without a dissimilarity.
    pub fn new(matrix: Matrix<'a, T>, weights: Option<&[f64]>) -> Result<Self, Error> {
        let items = matrix.items;
        let mut hash = xxhash_rust::xxh3::Xxh3Default::new();
        hash.update(&matrix.survey.fingerprint.to_le_bytes());
        weights.unwrap_or_default().iter().for_each(|weight| hash.update(&weight.to_le_bytes()));
        let (weights, weight_unit) = item_weights(weights, items)?;
        if matrix.has_gaps() {
            let is_known = |i: usize| (0..items).any(|j| j != i && weights[j] > 0.0 && matrix.get(i, j).is_some());
            let unknown: Vec<usize> = (0..items).filter(|&i| !is_known(i)).collect();
            if !unknown.is_empty() && items > 1 {
                return Err(Error::Unrelated { count: unknown.len(), first: unknown.into_iter().take(10).collect() });
            }
        }
        let partition = Partition::new(items, 1);
        Ok(Self {
            total_weight: weights.iter().sum(),
            fields: LeafCells::new(partition.leaves(), |_| Field::default()),
            gather: Gather::new(items),
            fingerprint: hash.digest(),
            partition,
            weights,
            weight_unit,
            matrix,
        })
    }

    pub fn items(&self) -> usize {
        self.matrix.items
    }

    /// The weight of each component's members: N x K memberships.
    pub fn masses(&self, memberships: &[f64], count: usize) -> Vec<f64> {
        let mut masses = vec![0.0; count];
        for (row, weight) in memberships.chunks_exact(count).zip(&self.weights) {
            masses.iter_mut().zip(row).for_each(|(mass, m)| *mass += weight * m);
        }
        masses
    }
}

/// What the first round of a sweep leaves beside the rows' means.
#[derive(Clone, Debug, Default)]
pub(crate) struct Means {
    pub masses: Vec<f64>,
    /// A(k): less half the mean dissimilarity within a component.
    pub own: Vec<f64>,
}

struct MeanRound<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    columns: &'a Columns<T>,
    memberships: &'a [f64],
    masses: &'a [f64],
    /// Where all ranks are to be given the means.
    gather: Option<Turn>,
}

impl<T: Real> Round for MeanRound<'_, T> {
    fn len(&self) -> usize {
        2 * self.masses.len()
    }

    fn name(&self) -> &'static str {
        "mean dissimilarities"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (problem, count) = (self.problem, self.masses.len());
        let rows = problem.partition.leaf_rows(leaf);
        partial.fill(0.0);
        problem.fields.with(leaf, |field| {
            field.mean.clear();
            field.mean.resize(rows.len() * count, 0.0);
            let block = problem.matrix.block(rows.clone());
            if problem.matrix.has_gaps() {
                let mut known = vec![0.0; rows.len() * count];
                let mut entries = [(Entry::Value, &mut field.mean[..]), (Entry::Present, &mut known[..])];
                add_products(&block, self.columns, &mut entries);
                for (place, (mean, known)) in field.mean.iter_mut().zip(known).enumerate() {
                    let is_known = known >= LEAST_KNOWN * self.masses[place % count] && known > 0.0;
                    *mean = if is_known { *mean / known } else { f64::NAN };
                }
            } else {
                add_products(&block, self.columns, &mut [(Entry::Value, &mut field.mean[..])]);
                for row in field.mean.chunks_exact_mut(count) {
                    row.iter_mut().zip(self.masses).for_each(|(mean, mass)| *mean /= mass.max(f64::MIN_POSITIVE));
                }
            }
            for (row, means) in rows.clone().zip(field.mean.chunks_exact(count)) {
                for k in (0..count).filter(|&k| !means[k].is_nan()) {
                    let share = problem.weights[row] * self.memberships[row * count + k];
                    partial[k] += share * means[k];
                    partial[count + k] += share;
                }
            }
            if let Some(turn) = self.gather {
                problem.gather.write(leaf, turn, field.mean.len(), |out| out.copy_from_slice(&field.mean));
            }
        });
    }
}

/// The first round: each row's mean dissimilarity to each component, left with its leaf; with `all`, given to every rank too (N x K; what is not known is the component's own mean).
pub(crate) async fn means<T: Real, R: Rounds>(
    rounds: &mut R,
    problem: &Problem<'_, T>,
    memberships: &[f64],
    count: usize,
    turn: &mut Turn,
    all: Option<&mut Vec<f64>>,
) -> Result<Means, Error> {
    let masses = problem.masses(memberships, count);
    let mut columns = Columns::new(problem.items(), count);
    columns.fill(|item, k| problem.weights[item] * memberships[item * count + k]);
    let gather = all.is_some().then_some(*turn);
    let round = MeanRound { problem, columns: &columns, memberships, masses: &masses, gather };
    let mut sums = Vec::new();
    total_of(rounds, &round, &mut sums).await?;
    let own: Vec<f64> = (0..count).map(|k| -0.5 * sums[k] / sums[count + k].max(f64::MIN_POSITIVE)).collect();
    if let Some(all) = all {
        problem.gather.collect(rounds, turn, all).await?;
        for row in all.chunks_exact_mut(count) {
            row.iter_mut().zip(&own).filter(|(mean, _)| mean.is_nan()).for_each(|(mean, own)| *mean = -2.0 * own);
        }
    }
    Ok(Means { masses, own })
}

/// Two halves of a component that are to part: the field of the one is raised along a direction, that of the other lowered.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    pub raised: usize,
    pub lowered: usize,
    /// For each item.
    pub along: Vec<f64>,
}

/// How memberships are made of fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softly<'a> {
    pub means: &'a Means,
    /// Whether components count by their masses, or all alike.
    pub by_mass: bool,
    pub temperature: f64,
    pub pushes: &'a [Push],
    /// Whether the fields of the sweep before stand with the leaves, to compare with.
    pub has_previous: bool,
    /// Whether to go half the way only.
    pub is_damped: bool,
    /// Whether fields and memberships are kept, or only measured.
    pub is_kept: bool,
}

struct SoftRound<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    softly: Softly<'a>,
    log_priors: Vec<f64>,
    turn: Turn,
}

impl<T: Real> Round for SoftRound<'_, T> {
    fn len(&self) -> usize {
        FIGURES
    }

    fn combine(&self, left: &mut [f64], right: &[f64]) {
        for (left, right) in left.iter_mut().zip(right).take(FIGURES - 1) {
            *left += right;
        }
        left[FIGURES - 1] = left[FIGURES - 1].max(right[FIGURES - 1]);
    }

    fn name(&self) -> &'static str {
        "memberships"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (problem, softly, count) = (self.problem, &self.softly, self.log_priors.len());
        let rows = problem.partition.leaf_rows(leaf);
        partial.fill(0.0);
        let mut memberships = vec![0.0; rows.len() * count];
        let mut eps = vec![0.0; count];
        problem.fields.with(leaf, |field| {
            let Field { mean, eps: kept } = field;
            let has_previous = softly.has_previous && kept.len() == mean.len();
            if softly.is_kept && !has_previous {
                kept.clear();
                kept.resize(mean.len(), 0.0);
            }
            for (place, row) in rows.clone().enumerate() {
                let share = problem.weights[row] / problem.total_weight;
                for k in 0..count {
                    let own = softly.means.own[k];
                    let mean = mean[place * count + k];
                    eps[k] = if mean.is_nan() { -own } else { mean + own };
                }
                for push in softly.pushes {
                    eps[push.raised] += push.along[row];
                    eps[push.lowered] -= push.along[row];
                }
                if softly.is_kept {
                    for (eps, kept) in eps.iter_mut().zip(&mut kept[place * count..]) {
                        if has_previous {
                            if share > 0.0 {
                                partial[FIGURES - 1] = partial[FIGURES - 1].max((*eps - *kept).abs());
                            }
                            if softly.is_damped {
                                *eps = 0.5 * (*eps + *kept);
                            }
                        }
                        *kept = *eps;
                    }
                    if !has_previous {
                        partial[FIGURES - 1] = f64::INFINITY;
                    }
                }
                let out = &mut memberships[place * count..][..count];
                let (log_sum, cost) = soften(&eps, &self.log_priors, softly.temperature, out);
                let most = out.iter().copied().fold(0.0, f64::max);
                partial[0] -= share * softly.temperature * log_sum;
                partial[1] += share * cost;
                partial[2] += share * (1.0 - most);
            }
        });
        if softly.is_kept {
            problem.gather.write(leaf, self.turn, memberships.len(), |out| out.copy_from_slice(&memberships));
        }
    }
}

/// Memberships of one item; returns the logarithm of their unnormalised sum, and the mean field under them.
pub(crate) fn soften(eps: &[f64], log_priors: &[f64], temperature: f64, out: &mut [f64]) -> (f64, f64) {
    let mut most = f64::NEG_INFINITY;
    for ((score, eps), log_prior) in out.iter_mut().zip(eps).zip(log_priors) {
        *score = log_prior - eps / temperature;
        most = most.max(*score);
    }
    let mut sum = 0.0;
    for score in out.iter_mut() {
        *score = exp(*score - most);
        sum += *score;
    }
    let mut cost = 0.0;
    for (m, eps) in out.iter_mut().zip(eps) {
        *m /= sum;
        cost += *m * eps;
    }
    (most + ln(sum), cost)
}

/// The second round: figures, and with [`Softly::is_kept`] the new memberships for all ranks.
pub(crate) async fn soft<T: Real, R: Rounds>(
    rounds: &mut R,
    problem: &Problem<'_, T>,
    softly: Softly<'_>,
    turn: &mut Turn,
    memberships: &mut Vec<f64>,
) -> Result<[f64; FIGURES], Error> {
    let log_priors = softly
        .means
        .masses
        .iter()
        .map(|mass| if softly.by_mass { ln((mass / problem.total_weight).max(f64::MIN_POSITIVE)) } else { 0.0 })
        .collect();
    let round = SoftRound { problem, softly, log_priors, turn: *turn };
    let mut sums = Vec::new();
    total_of(rounds, &round, &mut sums).await?;
    if softly.is_kept {
        problem.gather.collect(rounds, turn, memberships).await?;
    }
    Ok(sums.try_into().expect("as many as the round has"))
}
