//! The sponge: one more component that has no centre and is equally far from every row. What no centre is near to is in it, and pulls at none.
//!
//! `mining-spec` 1.12, after the outlier component of the group's annealing of mass spectra (Fox, Mani, Pyne 2013). Its cost is the square of a radius, so at temperature `T` a row at squared
//! distance `d` from its centre leaves for the sponge where `d > radius^2 + T ln(P_k / P_sponge)`: hot, that is far beyond all that belongs together, and cold it is the radius. So it need
//! neither be brought in late nor have a radius of its own for each temperature.
//!
//! Soft sums with it are those without it of other weights: a row keeps the share `1 / (1 + g exp(-radius^2 / T) / Z)` of its weight, `Z` being its sum over the centres. So the kernels of numbers do not know of it; a leaf takes
//! two passes in place of one. To those of bits and of sparse rows, for which a component is a constant and a term for each column, it is one whose terms are 0.

use lehr_numerics::bits::{BitRows, for_each_set_bit, nearest_bit_sums};
use lehr_numerics::elementary::{exp, ln};
use lehr_numerics::gaussian::{Components as Gaussians, GaussianScratch, Whitening, posterior};
use lehr_numerics::lanes::Real;
use lehr_numerics::nearest::{Kind, nearest_sums};
use lehr_numerics::sparse::{SparseRows, nearest_sparse_sums};
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::components::Mode;
use super::e_step::{Kept, Scratch};
use super::hard::{Centers, HardSideBySide, nearest_active};
use super::rows::{BitDistance, Block, Rows};
use super::sparse::SparseDistance;
use crate::Error;
use crate::round::{Round, Rounds, total_of};

/// The label of a row that is in no cluster, but in the sponge.
pub const OUTLIER: u32 = u32::MAX;

/// The sponge's share of all priors is this over the number of clusters.
const PRIOR: f64 = 0.1;
/// The number that counts where none is asked for.
const CLUSTERS: f64 = 10.0;
/// More than this share of the weight in it is no clustering of the rows any more.
const MOST_OUTSIDE: f64 = 0.5;
/// Sweeps of trimmed k-means at most, as of those without a sponge.
const MOST_SWEEPS: u64 = 1000;

/// A sponge, in stored units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sponge {
    /// The squared distance that it is away from every row.
    pub cost: f64,
    /// Its prior while masses are learnt, which add up to the rest of 1.
    prior: f64,
    /// As it was given, for people.
    radius: f64,
}

impl Sponge {
    /// The sponge of a radius in the unit of the points, `unit` of which is one of the stored, for so many clusters if a number is asked for.
    pub fn new(radius: f64, unit: f64, clusters: Option<usize>) -> Self {
        let clusters = clusters.map_or(CLUSTERS, |clusters| clusters as f64);
        Self { cost: (radius / unit) * (radius / unit), prior: PRIOR / clusters, radius }
    }

    /// What the priors of centres add up to while they are learnt.
    pub fn rest(&self) -> f64 {
        1.0 - self.prior
    }

    /// Its score: the logarithm of its prior, less its cost over the temperature.
    pub fn score(&self, mode: Mode, temperature: f64) -> f64 {
        match mode {
            Mode::Mass => ln(self.prior) - self.cost / temperature,
            Mode::Plain => plain_score(self.cost, temperature),
        }
    }

    /// Whether it is a run's result that it holds so large a share.
    ///
    /// # Errors
    /// [`Error::MostlyOutside`].
    pub fn check(&self, share: f64) -> Result<(), Error> {
        if share > MOST_OUTSIDE {
            return Err(Error::MostlyOutside { percent: 100.0 * share, radius: self.radius });
        }
        Ok(())
    }
}

/// The share of a row that the sponge has, if its own score is `score` and the logarithm of the row's sum over the centres is `log_sum`.
pub(crate) fn share_of(score: f64, log_sum: f64) -> f64 {
    1.0 / (1.0 + exp((log_sum - score).min(700.0)))
}

/// The score of the sponge in plain mode.
fn plain_score(squared_radius: f64, temperature: f64) -> f64 {
    ln(PRIOR) - squared_radius / temperature
}

/// Where a row is, in the hard limit, that is at a squared distance from its nearest centre, in which it has a membership among the centres alone at the temperature: its membership there as the sponge leaves it, or
/// `Err` with that in the sponge, if this is nearer.
pub(crate) fn within(squared_radius: f64, squared: f64, membership: f64, temperature: f64) -> Result<f64, f64> {
    // What the sum over the centres is above the sponge, whose squared distance may be infinite as that of the row may be.
    let above = (squared_radius - squared) / temperature - ln(PRIOR * membership);
    let share = if above.is_nan() { 0.0 } else { 1.0 / (1.0 + exp(above.min(700.0))) };
    if squared > squared_radius { Err(share) } else { Ok(membership * (1.0 - share)) }
}

/// Room to soak a leaf in.
#[derive(Debug, Default)]
pub(crate) struct SpongeScratch<T: Real> {
    gaussian: GaussianScratch<T>,
    memberships: Vec<f64>,
    log_sums: Vec<f64>,
    row: Vec<f64>,
    rows: Vec<f64>,
    weights: Vec<f64>,
}

/// What a leaf has beside what its centres have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Soaked {
    /// `-T sum w ln (Z + S)`.
    pub free_energy: f64,
    /// `sum w (1 - max m)`, the sponge's share among the memberships.
    pub softness: f64,
    /// The weight in it.
    pub weight: f64,
    /// `sum w |x|^2` of what is in the centres.
    pub square: f64,
}

/// The rows of a leaf with the weights that the sponge leaves them, and what it has of them itself. `score` is the sponge's.
pub(crate) fn soak<'a, T: Real>(
    tiles: &Tiles<T>,
    centers: impl Iterator<Item = (&'a [f64], f64)>,
    temperature: f64,
    score: f64,
    scratch: &mut SpongeScratch<T>,
) -> (Tiles<T>, Soaked) {
    let (rows, dimension) = (tiles.rows(), tiles.dimension());
    // exp(-d / T) is a Gaussian of variance T / 2.
    let inverse = vec![(2.0 / temperature).sqrt(); dimension];
    let mut gaussians = Gaussians::new(dimension, Whitening::Diagonal, 1.0);
    for (center, log_prior) in centers {
        gaussians.push(center, &inverse, log_prior);
    }
    let count = gaussians.len();
    scratch.memberships.resize(rows * count, 0.0);
    scratch.log_sums.resize(rows, 0.0);
    posterior(tiles, &gaussians, &mut scratch.gaussian, &mut scratch.memberships, &mut scratch.log_sums);
    scratch.row.resize(dimension, 0.0);
    scratch.rows.clear();
    scratch.weights.clear();
    let mut soaked = Soaked::default();
    for (index, memberships) in scratch.memberships.chunks_exact(count).enumerate() {
        let (weight, log_sum) = (tiles.weight(index), scratch.log_sums[index]);
        let share = share_of(score, log_sum);
        tiles.read_row(index, &mut scratch.row);
        let most = memberships.iter().copied().fold(0.0, f64::max) * (1.0 - share);
        // The larger of the two is taken out of the logarithm.
        let above = log_sum.max(score);
        let log_total = above + ln(exp((log_sum - above).max(-700.0)) + exp((score - above).max(-700.0)));
        soaked.free_energy -= temperature * weight * log_total;
        soaked.softness += weight * (1.0 - most.max(share));
        soaked.weight += weight * share;
        let left = weight * (1.0 - share);
        soaked.square += left * scratch.row.iter().map(|x| x * x).sum::<f64>();
        scratch.weights.push(left);
        scratch.rows.extend_from_slice(&scratch.row);
    }
    let row = |index: usize| &scratch.rows[index * dimension..][..dimension];
    (Tiles::new(rows, dimension, &vec![0.0; dimension], row, |index| scratch.weights[index]), soaked)
}

/// One pass of hard assignment, in which a row that is farther from every centre than the sponge is in none. Sums are mass, first moment and cost of each centre, then the weight in the sponge.
struct TrimmedRound<'a, T: Kept> {
    rows: &'a Rows<T>,
    centers: &'a Centers,
    /// The same as kernels of bits and of sparse rows want them, and squared distances from them.
    side_by_side: &'a HardSideBySide<T>,
    bit_distances: &'a [BitDistance],
    sparse_distances: &'a [SparseDistance<'a>],
    cost: f64,
}

impl<T: Kept> TrimmedRound<'_, T> {
    fn per_center(&self) -> usize {
        2 + self.rows.dimension
    }

    /// The sums of rows of bits, in stored units. Which row is within the radius is said in double precision, as of numbers.
    fn map_bits(&self, bits: &BitRows, scratch: &mut Scratch<T>, partial: &mut [f64]) {
        let (dimension, per_center) = (self.rows.dimension, self.per_center());
        scratch.sums.clear();
        scratch.sums.resize(self.centers.len() * Kind::Centers.len(dimension), 0.0);
        nearest_bit_sums(bits, &self.side_by_side.bits, Kind::Centers, &mut scratch.bits, &mut scratch.sums);
        for at in 0..bits.rows() {
            let (k, weight) = (scratch.bits.nearest(at), bits.weight(at));
            if let Some(moments) = self.within(k, weight, self.bit_distances[k].of(bits.row(at)), partial) {
                for_each_set_bit(bits.row(at), |j| moments[j] += weight);
            }
        }
        let of_centers = partial.len() - 1;
        for sums in partial[..of_centers].chunks_exact_mut(per_center) {
            let mass = sums[0];
            self.rows.store_moments(mass, &mut sums[1..][..dimension]);
        }
    }

    /// The sums of sparse rows as they are. Which row is within the radius is said by differences.
    fn map_sparse(&self, rows: &SparseRows<T>, scratch: &mut Scratch<T>, partial: &mut [f64]) {
        scratch.sums.clear();
        scratch.sums.resize(self.centers.len() * Kind::Centers.len(self.rows.dimension), 0.0);
        let centers = &self.side_by_side.sparse;
        nearest_sparse_sums(rows, centers, Kind::Centers, &mut scratch.sparse, &mut scratch.sums);
        for at in 0..rows.rows() {
            let (k, weight) = (scratch.sparse.nearest(at), rows.weight(at));
            if let Some(moments) = self.within(k, weight, self.sparse_distances[k].of(rows.row(at)), partial) {
                rows.row(at).for_each(|(j, x)| moments[j] += weight * x);
            }
        }
    }

    /// Counts a row at a squared distance from its nearest centre. Its moments are to be added to those that this gives, unless it is outside.
    fn within<'a>(&self, nearest: usize, weight: f64, squared: f64, partial: &'a mut [f64]) -> Option<&'a mut [f64]> {
        if squared > self.cost {
            *partial.last_mut().expect("the weight outside") += weight;
            return None;
        }
        let (per_center, dimension) = (self.per_center(), self.rows.dimension);
        let sums = &mut partial[nearest * per_center..][..per_center];
        sums[0] += weight;
        sums[1 + dimension] += weight * squared;
        Some(&mut sums[1..][..dimension])
    }

    /// What is left to be done once the sums of all leaves are there: those of sparse rows are counted from the origin.
    fn settle(&self, total: &mut [f64]) {
        if self.rows.are_sparse() {
            let (per_center, dimension) = (self.per_center(), self.rows.dimension);
            total.chunks_exact_mut(per_center).for_each(|sums| self.rows.subtract_origin(&mut sums[..1 + dimension]));
        }
    }
}

impl<T: Kept> Round for TrimmedRound<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * self.per_center() + 1
    }

    fn key_len(&self) -> usize {
        self.per_center()
    }

    fn name(&self) -> &'static str {
        "nearest centres within the radius"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let (leaf, dimension, per_center) = (&self.rows.leaves[index], self.rows.dimension, self.per_center());
        partial.fill(0.0);
        let outside = partial.len() - 1;
        T::with_scratch(|scratch| {
            let tiles = match &leaf.block {
                Block::Numbers(tiles) => tiles,
                Block::Bits(bits) => return self.map_bits(bits, scratch, partial),
                Block::Sparse(rows) => return self.map_sparse(rows, scratch, partial),
            };
            nearest_active(&leaf.bounds, self.centers, 1, &mut scratch.active, &mut scratch.reach);
            let centers = if dimension > DIRECT_DIMENSION {
                // Every centre matters to every leaf.
                &self.side_by_side.numbers
            } else {
                scratch.hard_centers.begin(dimension);
                for &k in &scratch.active {
                    scratch.hard_centers.push(self.centers.center(k));
                }
                &scratch.hard_centers
            };
            scratch.sums.clear();
            scratch.sums.resize(scratch.active.len() * Kind::Centers.len(dimension), 0.0);
            nearest_sums(tiles, centers, Kind::Centers, &mut scratch.hard, &mut scratch.sums);
            let mut row = vec![0.0; dimension];
            for at in 0..tiles.rows() {
                let k = scratch.active[scratch.hard.nearest(at)];
                tiles.read_row(at, &mut row);
                let weight = tiles.weight(at);
                let squared: f64 = row.iter().zip(self.centers.center(k)).map(|(x, y)| (x - y) * (x - y)).sum();
                if squared > self.cost {
                    partial[outside] += weight;
                    continue;
                }
                let sums = &mut partial[k * per_center..][..per_center];
                sums[0] += weight;
                sums[1 + dimension] += weight * squared;
                for (sum, x) in sums[1..].iter_mut().zip(&row) {
                    *sum += weight * x;
                }
            }
        });
    }
}

/// What trimmed k-means came to.
pub(crate) struct Trimmed {
    /// `sum w min(d, radius^2)`.
    pub cost: f64,
    /// The weight of the rows of each centre.
    pub masses: Vec<f64>,
    /// The weight in the sponge.
    pub outside: f64,
    pub sweeps: u64,
}

/// Moves each centre to the mean of the rows that are nearest to it and within the radius, until none moves. Neither step can raise the cost.
pub(crate) async fn trim<T: Kept>(
    rounds: &mut dyn Rounds,
    rows: &Rows<T>,
    centers: &mut Centers,
    sponge: &Sponge,
) -> Result<Trimmed, Error> {
    let dimension = rows.dimension;
    let (mut total, mut sweeps, mut last) = (Vec::new(), 0, f64::INFINITY);
    let (mut side_by_side, mut bit_distances, mut sparse_distances) =
        (HardSideBySide::default(), Vec::new(), Vec::new());
    loop {
        side_by_side.prepare(rows, centers, None);
        bit_distances.clear();
        sparse_distances.clear();
        let each = || (0..centers.len()).map(|k| centers.center(k));
        if rows.are_bits() {
            bit_distances.extend(each().map(|center| BitDistance::to(rows, center)));
        }
        if rows.are_sparse() {
            sparse_distances.extend(each().map(|center| SparseDistance::to(&rows.scaled_origin, center)));
        }
        let round = TrimmedRound {
            rows,
            centers,
            side_by_side: &side_by_side,
            bit_distances: &bit_distances,
            sparse_distances: &sparse_distances,
            cost: sponge.cost,
        };
        total_of(rounds, &round, &mut total).await?;
        round.settle(&mut total);
        sweeps += 1;
        let (of_centers, outside) = total.split_at(total.len() - 1);
        let outside = outside[0];
        let within: f64 = of_centers.chunks_exact(2 + dimension).map(|sums| sums[1 + dimension]).sum();
        let cost = within + outside * sponge.cost;
        let mut moved = false;
        for (y, sums) in centers.values.chunks_exact_mut(dimension).zip(of_centers.chunks_exact(2 + dimension)) {
            if sums[0] > 0.0 {
                for (y, sum) in y.iter_mut().zip(&sums[1..]) {
                    let next = sum / sums[0];
                    moved |= next != *y;
                    *y = next;
                }
            }
        }
        if !moved || sweeps >= MOST_SWEEPS || cost >= last {
            let masses = of_centers.chunks_exact(2 + dimension).map(|sums| sums[0]).collect();
            return Ok(Trimmed { cost, masses, outside, sweeps });
        }
        last = cost;
    }
}

#[cfg(test)]
mod tests {
    use lehr_numerics::random::Stream;
    use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};

    use super::*;

    #[test]
    fn a_leaf_that_was_soaked_has_the_sums_of_a_component_that_is_equally_far_from_all() {
        let stream = Stream::new(2, "soaking");
        for dimension in [1usize, 2, 3, 20] {
            let (rows, count, temperature, squared_radius) = (37, 3, 2.0, 1.5 * dimension as f64);
            let values: Vec<f64> = (0..rows * dimension).map(|index| 2.0 * stream.normal(index as u64)).collect();
            let centers: Vec<f64> = (0..count * dimension).map(|index| stream.normal(9000 + index as u64)).collect();
            let (row, center) =
                (|i: usize| &values[i * dimension..][..dimension], |k: usize| &centers[k * dimension..][..dimension]);
            let (weight, log_prior) = (|i: usize| 1.0 + (i % 3) as f64, |k: usize| -0.3 * k as f64);
            let tiles = Tiles::<f64>::new(rows, dimension, &vec![0.0; dimension], row, weight);
            let score = plain_score(squared_radius, temperature);
            let with = (0..count).map(|k| (center(k), log_prior(k)));
            let (left, soaked) = soak(&tiles, with, temperature, score, &mut SpongeScratch::default());
            let mut soft = SoftCenters::default();
            soft.begin(dimension, temperature);
            (0..count).for_each(|k| soft.push(center(k), log_prior(k)));
            let mut sums = vec![0.0; count * (1 + dimension)];
            soft_sums(&left, &soft, Sums::First, &mut SoftScratch::default(), &mut sums);

            // By the definition, row by row.
            let (mut expected, mut of_sponge) = (vec![0.0; count * (1 + dimension)], Soaked::default());
            for i in 0..rows {
                let squared = |k: usize| row(i).iter().zip(center(k)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let terms: Vec<f64> = (0..count).map(|k| (log_prior(k) - squared(k) / temperature).exp()).collect();
                let all = terms.iter().sum::<f64>() + score.exp();
                let most = terms.iter().copied().fold(score.exp(), f64::max);
                of_sponge.free_energy -= temperature * weight(i) * all.ln();
                of_sponge.softness += weight(i) * (1.0 - most / all);
                of_sponge.weight += weight(i) * score.exp() / all;
                let square: f64 = row(i).iter().map(|x| x * x).sum();
                of_sponge.square += weight(i) * square * (1.0 - score.exp() / all);
                for (k, term) in terms.iter().enumerate() {
                    let sums = &mut expected[k * (1 + dimension)..][..1 + dimension];
                    sums[0] += weight(i) * term / all;
                    sums[1..].iter_mut().zip(row(i)).for_each(|(sum, x)| *sum += weight(i) * term / all * x);
                }
            }
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                    "{dimension}: {found} for {expected}"
                );
            };
            sums.iter().zip(&expected).for_each(|(found, expected)| close(*found, *expected));
            close(soaked.free_energy, of_sponge.free_energy);
            close(soaked.softness, of_sponge.softness);
            close(soaked.weight, of_sponge.weight);
            close(soaked.square, of_sponge.square);
            // What labels say of a row is the same share.
            for i in 0..rows {
                let squared = |k: usize| row(i).iter().zip(center(k)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let least = (0..count).map(squared).fold(f64::INFINITY, f64::min);
                let sum: f64 = (0..count).map(|k| (-squared(k) / temperature).exp()).sum();
                let nearest = (-least / temperature).exp();
                let all = sum + score.exp();
                match within(squared_radius, least, nearest / sum, temperature) {
                    Ok(inside) => close(inside, nearest / all),
                    Err(outside) => close(outside, score.exp() / all),
                }
                assert_eq!(within(squared_radius, least, nearest / sum, temperature).is_err(), least > squared_radius);
            }
        }
    }

    #[test]
    fn rows_beyond_all_numbers_and_temperatures_near_none_are_outside_or_inside() {
        for temperature in [f64::MIN_POSITIVE, 1e-3, 1.0] {
            assert_eq!(within(4.0, f64::INFINITY, 1.0, temperature), Err(1.0), "{temperature}");
            let Ok(inside) = within(4.0, 0.0, 1.0, temperature) else { panic!("outside at {temperature}") };
            assert!(inside > 0.9 && inside <= 1.0);
        }
    }
}
