//! The mean field of items that are only known by their dissimilarities, computed in two rounds for each sweep.
//!
//! Source: Hofmann and Buhmann 1997. With `q`, the normalised weights of a component's members:
//!
//! ```text
//! B_i(k) = sum_j q_j D_ij       A(k) = -1/2 sum_i q_i B_i(k)       eps_i(k) = B_i(k) + A(k)       m_ik ~ P_k exp(-eps_i(k) / T)
//! ```
//!
//! In the first round, which reads the matrix once, each leaf stores the B of its rows. The second round converts the B
//! to memberships, which all ranks receive. For squared Euclidean distances, eps is the squared distance to the
//! component's mean, and a sweep is the same as in vector annealing.
//!
//! A leaf stores the fields of the last three sweeps. From these, a [`Jump`] extrapolates to the expected end of the
//! sweeps, without reading the matrix.

use lehr_numerics::compact::{Columns, Entry, add_products};
use lehr_numerics::elementary::{exp, exp_each, ln};
use lehr_numerics::lanes::Real;

use crate::Error;
use crate::gather::{Gather, Side};
use crate::matrix::{Matrix, check_tied, item_weights};
use crate::round::{LeafCells, Partition, Round, Rounds, total_of};

/// If a row has dissimilarities to less than this share of a component's members, the component's own mean replaces the
/// row's mean.
const LEAST_KNOWN: f64 = 1e-6;

/// The number of figures of a soft round.
const FIGURES: usize = 6;

/// The figures that a soft round measures, per unit of weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub free_energy: f64,
    pub mean_cost: f64,
    pub softness: f64,
    /// The mean squared change of the field since the previous sweep.
    pub step: f64,
    /// The mean squared change of the field's change from sweep to sweep.
    pub bend: f64,
    /// The largest change of a field; infinite if there is no previous field.
    pub largest_change: f64,
}

impl From<Vec<f64>> for Figures {
    fn from(sums: Vec<f64>) -> Self {
        let [free_energy, mean_cost, softness, step, bend, largest_change] =
            sums.try_into().expect("as many as the round has");
        Self { free_energy, mean_cost, softness, step, bend, largest_change }
    }
}

/// The fields of a leaf, rows x components.
#[derive(Debug, Default)]
pub(crate) struct Field {
    mean: Vec<f64>,
    /// The fields of the last three sweeps, the latest first.
    eps: [Vec<f64>; 3],
}

/// The data of a clustering, prepared for rounds; all ranks share them.
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
    /// Returns [`Error::Parameter`] for invalid weights, [`Error::Unrelated`] for items without a dissimilarity, or
    /// [`Error::Disconnected`].
    pub fn new(matrix: Matrix<'a, T>, weights: Option<&[f64]>) -> Result<Self, Error> {
        let items = matrix.items;
        let fingerprint = matrix.fingerprint_with(weights);
        let (weights, weight_unit) = item_weights(weights, items)?;
        if matrix.has_gaps() {
            check_tied(&weights, std::iter::empty(), |i, j| matrix.get(i, j).is_some())?;
        }
        let partition = Partition::new(items, 1);
        Ok(Self {
            total_weight: weights.iter().sum(),
            fields: LeafCells::new(partition.leaves(), |_| Field::default()),
            gather: Gather::new(items),
            fingerprint,
            partition,
            weights,
            weight_unit,
            matrix,
        })
    }

    pub fn items(&self) -> usize {
        self.matrix.items
    }

    /// The weight of each component's members, from N x K memberships.
    pub fn masses(&self, memberships: &[f64], count: usize) -> Vec<f64> {
        let mut masses = vec![0.0; count];
        for (row, weight) in memberships.chunks_exact(count).zip(&self.weights) {
            masses.iter_mut().zip(row).for_each(|(mass, m)| *mass += weight * m);
        }
        masses
    }
}

impl<T: Real> Problem<'_, T> {
    /// The logarithms of the components' shares if masses count, otherwise 0.
    pub fn log_priors(&self, means: &Means, by_mass: bool) -> Vec<f64> {
        let log_share = |mass: &f64| ln((mass / self.total_weight).max(f64::MIN_POSITIVE));
        means.masses.iter().map(|mass| if by_mass { log_share(mass) } else { 0.0 }).collect()
    }
}

/// The results of the first round of a sweep, except for the rows' means.
#[derive(Clone, Debug, Default)]
pub(crate) struct Means {
    pub masses: Vec<f64>,
    /// A(k): minus half the mean dissimilarity within the component.
    pub own: Vec<f64>,
}

struct MeanRound<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    columns: &'a Columns<T>,
    memberships: &'a [f64],
    masses: &'a [f64],
    /// The side on which the means are gathered, if all ranks need them.
    gather: Option<Side>,
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

/// Runs the first round: each leaf stores the mean dissimilarity of its rows to each component. With `all`, every rank
/// receives all means, N x K; each unknown mean is replaced by the component's own mean.
pub(crate) async fn means<T: Real>(
    rounds: &mut dyn Rounds,
    problem: &Problem<'_, T>,
    memberships: &[f64],
    count: usize,
    turn: &mut Side,
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

/// A displacement that separates the two halves of a component. It raises the field of one half along a direction, and
/// lowers the field of the other half.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    pub raised: usize,
    pub lowered: usize,
    /// The direction, with one number for each item.
    pub along: Vec<f64>,
}

/// How to convert fields to memberships.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softly<'a> {
    pub means: &'a Means,
    /// The logarithms of the components' shares, or 0 if the shares do not count.
    pub log_priors: &'a [f64],
    pub temperature: f64,
    pub pushes: &'a [Push],
    /// The number of earlier sweeps whose fields the leaves have stored.
    pub known: usize,
    /// Whether to move only half of the way to the new memberships.
    pub is_damped: bool,
    /// Whether the new fields and memberships are stored; if not, they are only measured.
    pub is_kept: bool,
}

struct SoftRound<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    softly: Softly<'a>,
    turn: Side,
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
        let (problem, softly, count) = (self.problem, &self.softly, self.softly.log_priors.len());
        let rows = problem.partition.leaf_rows(leaf);
        let share = |row: usize| problem.weights[row] / problem.total_weight;
        partial.fill(0.0);
        problem.fields.with(leaf, |field| {
            let mut measured = Vec::new();
            let Field { mean, eps } = field;
            let known = if softly.is_kept { softly.known } else { 0 };
            if softly.is_kept {
                eps.rotate_right(1);
            }
            let [latest, before, earlier] = eps;
            let eps = if softly.is_kept { latest } else { &mut measured };
            eps.clear();
            for (row, mean) in rows.clone().zip(mean.chunks_exact(count)) {
                let first = eps.len();
                let own = mean.iter().zip(&softly.means.own);
                eps.extend(own.map(|(mean, own)| if mean.is_nan() { -own } else { mean + own }));
                for push in softly.pushes {
                    eps[first + push.raised] += push.along[row];
                    eps[first + push.lowered] -= push.along[row];
                }
            }
            if softly.is_kept && known == 0 {
                partial[FIGURES - 1] = f64::INFINITY;
            }
            if known > 0 {
                let pairs = eps.chunks_exact_mut(count).zip(before.chunks_exact(count));
                for (row, (eps, before)) in rows.clone().zip(pairs) {
                    for (eps, before) in eps.iter_mut().zip(before) {
                        if problem.weights[row] > 0.0 {
                            partial[FIGURES - 1] = partial[FIGURES - 1].max((*eps - before).abs());
                        }
                        if softly.is_damped {
                            *eps = 0.5 * (*eps + before);
                        }
                    }
                }
            }
            let mut memberships = vec![0.0; eps.len()];
            let kept = (&eps[..], &mut memberships[..]);
            soften_all(kept, softly.log_priors, softly.temperature, |place, row| {
                let share = share(rows.start + place);
                partial[0] -= share * softly.temperature * row.log_sum;
                partial[1] += share * row.cost;
                partial[2] += share * (1.0 - row.most);
            });
            if known > 0 {
                // Changes of the field count in proportion to the item's membership.
                for (place, m) in memberships.iter().enumerate() {
                    let (weight, step) = (m * share(rows.start + place / count), eps[place] - before[place]);
                    partial[3] += weight * step * step;
                    if known > 1 {
                        let bend = step - (before[place] - earlier[place]);
                        partial[4] += weight * bend * bend;
                    }
                }
            }
            if softly.is_kept {
                problem.gather.write(leaf, self.turn, memberships.len(), |out| out.copy_from_slice(&memberships));
            }
        });
    }
}

/// The result of the conversion for an item.
struct Softened {
    /// The logarithm of the sum of the item's memberships before normalisation.
    log_sum: f64,
    /// The mean of the item's field under its memberships.
    cost: f64,
    /// The item's largest membership.
    most: f64,
}

/// Computes the memberships of items whose fields are the rows of `eps`, and calls `each` with the index and result of
/// each item.
fn soften_all(
    (eps, out): (&[f64], &mut [f64]),
    log_priors: &[f64],
    temperature: f64,
    mut each: impl FnMut(usize, Softened),
) {
    let count = log_priors.len();
    let mut tops = Vec::with_capacity(eps.len() / count);
    for (out, eps) in out.chunks_exact_mut(count).zip(eps.chunks_exact(count)) {
        let mut top = f64::NEG_INFINITY;
        for ((score, eps), log_prior) in out.iter_mut().zip(eps).zip(log_priors) {
            *score = log_prior - eps / temperature;
            top = top.max(*score);
        }
        out.iter_mut().for_each(|score| *score -= top);
        tops.push(top);
    }
    exp_each(out);
    let rows = out.chunks_exact_mut(count).zip(eps.chunks_exact(count));
    for (place, ((out, eps), top)) in rows.zip(tops).enumerate() {
        let sum: f64 = out.iter().sum();
        let (mut cost, mut most) = (0.0, 0.0f64);
        for (m, eps) in out.iter_mut().zip(eps) {
            *m /= sum;
            cost += *m * eps;
            most = most.max(*m);
        }
        each(place, Softened { log_sum: top + ln(sum), cost, most });
    }
}

/// Computes the memberships of one item. Returns the logarithm of the sum of the memberships before normalisation, and
/// the mean of the field under the memberships.
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

/// Runs the second round: measures the figures and, with [`Softly::is_kept`], gives all ranks the new memberships.
pub(crate) async fn soft<T: Real>(
    rounds: &mut dyn Rounds,
    problem: &Problem<'_, T>,
    softly: Softly<'_>,
    turn: &mut Side,
    memberships: &mut Vec<f64>,
) -> Result<Figures, Error> {
    let round = SoftRound { problem, softly, turn: *turn };
    let mut sums = Vec::new();
    total_of(rounds, &round, &mut sums).await?;
    if softly.is_kept {
        problem.gather.collect(rounds, turn, memberships).await?;
    }
    Ok(sums.into())
}

/// How the next fields follow from the fields of the last sweeps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Jump {
    /// Jumps from the fields x0, x1, x2 of three sweeps to `x0 + 2 a (x1 - x0) + a^2 (x2 - 2 x1 + x0)`. If changes
    /// shrink by a factor f, `a = 1 / (1 - f)` leads to their limit; `a = 1` leads to x2.
    Ahead(f64),
    /// Returns to the fields before a jump, after the jump and one sweep.
    Back,
}

impl Jump {
    /// Applies the jump to the fields of the last three sweeps, the latest first.
    pub fn of(self, latest: &mut [Vec<f64>; 3]) {
        match self {
            Jump::Ahead(length) => {
                let [x2, x1, x0] = latest;
                for ((x0, x1), x2) in x0.iter_mut().zip(x1.iter()).zip(x2.iter()) {
                    let step = x1 - *x0;
                    *x0 += length * (2.0 * step + length * (x2 - x1 - step));
                }
                // The fields are now: after the jump, x2, x1.
                latest.rotate_right(1);
            }
            // Before the swap, the fields were: after the sweep, after the jump, x2.
            Jump::Back => latest.swap(0, 2),
        }
    }
}

struct JumpRound<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    jump: Jump,
    log_priors: &'a [f64],
    temperature: f64,
    turn: Side,
}

impl<T: Real> Round for JumpRound<'_, T> {
    fn len(&self) -> usize {
        0
    }

    fn name(&self) -> &'static str {
        "memberships"
    }

    fn map(&self, leaf: usize, _partial: &mut [f64]) {
        self.problem.fields.with(leaf, |field| {
            self.jump.of(&mut field.eps);
            let eps = &field.eps[0][..];
            self.problem.gather.write(leaf, self.turn, eps.len(), |out| {
                soften_all((eps, out), self.log_priors, self.temperature, |_, _| {});
            });
        });
    }
}

/// Makes a jump, without reading the matrix, and gives all ranks the memberships of the new fields.
pub(crate) async fn jump<T: Real>(
    rounds: &mut dyn Rounds,
    problem: &Problem<'_, T>,
    jump: Jump,
    (log_priors, temperature): (&[f64], f64),
    turn: &mut Side,
    memberships: &mut Vec<f64>,
) -> Result<(), Error> {
    let round = JumpRound { problem, jump, log_priors, temperature, turn: *turn };
    total_of(rounds, &round, &mut Vec::new()).await?;
    problem.gather.collect(rounds, turn, memberships).await
}
