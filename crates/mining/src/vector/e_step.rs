//! The E-step of vector annealing: soft sums of a leaf, over the centres that matter to it.
//!
//! Paper 004 eq. (1)-(3), `mining-spec` 0.4 and 1.2. This file does not know that there are ranks: it adds up one leaf.

use std::cell::RefCell;

use lehr_numerics::bits::{BitRows, BitScratch, SoftBitCenters, soft_bit_sums};
use lehr_numerics::elementary::ln;
use lehr_numerics::lanes::Real;
use lehr_numerics::membership::MembershipScratch;
use lehr_numerics::nearest::{HardCenters, HardScratch};
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::sparse::{SoftSparseCenters, SparseRows, SparseScratch, soft_sparse_sums};
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::bernoulli::form;
use super::components::{Components, Mode};
use super::rows::{Block, Rows};
use super::sponge::{SpongeScratch, soak};
use crate::round::Round;

/// Sums of a whole block: `-T sum w ln sum exp` and `sum w (1 - max m)`.
const TOTALS: usize = 2;
/// Behind them, where there is a sponge: the weight in it, and `sum w |x|^2` of what is not, which of rows of bits [`Sums::First`] alone tells.
const SOAKED: usize = 2;

/// What a thread keeps between leaves, so that no round allocates.
#[derive(Debug, Default)]
pub(crate) struct Scratch<T: Real> {
    pub active: Vec<usize>,
    pub reach: Vec<f64>,
    pub sums: Vec<f64>,
    pub soft_centers: SoftCenters<T>,
    pub soft: SoftScratch<T>,
    pub hard_centers: HardCenters<T>,
    pub hard: HardScratch<T>,
    pub membership: MembershipScratch<T>,
    pub bits: BitScratch<T>,
    pub sparse: SparseScratch<T>,
    pub sponge: SpongeScratch<T>,
}

thread_local! {
    static SCRATCH_F64: RefCell<Scratch<f64>> = RefCell::default();
    static SCRATCH_F32: RefCell<Scratch<f32>> = RefCell::default();
}

/// A precision that rows may be kept in, with this thread's buffers for it.
pub(crate) trait Kept: Real {
    /// Scores further than this below the best one of their row are left out: the largest share lost is about the precision's own error.
    const CUT: f64;
    /// The tiles themselves, where they hold the rows as exactly as any.
    fn exact(tiles: &Tiles<Self>) -> Option<&Tiles<f64>>;
    /// The same of sparse rows.
    fn exact_sparse(rows: &SparseRows<Self>) -> Option<&SparseRows<f64>>;
    fn with_scratch<R>(f: impl FnOnce(&mut Scratch<Self>) -> R) -> R;
}

impl Kept for f64 {
    const CUT: f64 = 37.0; // exp(-37) = 8.5e-17
    fn exact(tiles: &Tiles<f64>) -> Option<&Tiles<f64>> {
        Some(tiles)
    }
    fn exact_sparse(rows: &SparseRows<f64>) -> Option<&SparseRows<f64>> {
        Some(rows)
    }
    fn with_scratch<R>(f: impl FnOnce(&mut Scratch<Self>) -> R) -> R {
        SCRATCH_F64.with_borrow_mut(f)
    }
}

impl Kept for f32 {
    const CUT: f64 = 17.0; // exp(-17) = 4.1e-8
    fn exact(_: &Tiles<f32>) -> Option<&Tiles<f64>> {
        None
    }
    fn exact_sparse(_: &SparseRows<f32>) -> Option<&SparseRows<f64>> {
        None
    }
    fn with_scratch<R>(f: impl FnOnce(&mut Scratch<Self>) -> R) -> R {
        SCRATCH_F32.with_borrow_mut(f)
    }
}

/// One pass over all rows at fixed centres.
pub(crate) struct SoftRound<'a, T: Real> {
    pub rows: &'a Rows<T>,
    pub components: &'a Components,
    /// `ln g_k` of each component ([`log_priors`]).
    pub log_priors: &'a [f64],
    /// The same components as kernels of bits and of sparse rows want them.
    pub side_by_side: &'a SideBySide<T>,
    pub temperature: f64,
    pub sums: Sums,
    /// The sponge's score, if there is one.
    pub sponge: Option<f64>,
}

impl<T: Real> SoftRound<'_, T> {
    pub fn per_center(&self) -> usize {
        self.sums.len(self.rows.dimension)
    }

    fn totals(&self) -> usize {
        totals(self.sponge.is_some())
    }
}

/// How many numbers of a [`SoftRound`] come before those of the centres.
pub(crate) fn totals(has_sponge: bool) -> usize {
    if has_sponge { TOTALS + SOAKED } else { TOTALS }
}

/// The logarithm of each component's prior: of its mass, of which there are `whole` together, or of 1 where masses take no part.
pub(crate) fn log_priors(components: &Components, mode: Mode, whole: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend(components.priors.iter().map(|&prior| match mode {
        Mode::Plain => 0.0,
        Mode::Mass => ln(whole * prior),
    }));
}

/// Components side by side, as the kernels of bits and of sparse rows want them, and behind them the sponge, if it has a score: once a pass, since it takes as long as some ten rows.
#[derive(Debug, Default)]
pub(crate) struct SideBySide<T: Real> {
    /// In the coordinates of the bits.
    bits: SoftBitCenters<T>,
    /// Stored.
    sparse: SoftSparseCenters<T>,
}

impl<T: Real> SideBySide<T> {
    /// Nothing for rows of numbers.
    pub fn prepare(
        &mut self,
        rows: &Rows<T>,
        components: &Components,
        log_priors: &[f64],
        temperature: f64,
        sums: Sums,
        sponge: Option<f64>,
    ) {
        let dimension = rows.dimension;
        let count = components.len() + usize::from(sponge.is_some());
        let direction = |k: usize| &components.directions[k * dimension..][..dimension];
        if rows.are_bits() {
            let centers = &mut self.bits;
            centers.begin(dimension, count, rows.squared(temperature), sums == Sums::Along);
            for (k, &log_prior) in log_priors.iter().enumerate() {
                if let Some(bernoulli) = rows.bernoulli {
                    let (constant, terms) = form(components.center(k));
                    centers.set_form(k, constant, terms, log_prior);
                    if sums == Sums::Along {
                        let mass = components.priors[k] * rows.total_weight;
                        let (means, units) = bernoulli.frame(components.center(k), mass);
                        let in_bits = |(u, unit): (&f64, &f64)| if *unit > 0.0 { u / unit } else { 0.0 };
                        let direction: Vec<f64> = direction(k).iter().zip(&units).map(in_bits).collect();
                        centers.set_direction(k, &means, &direction);
                    }
                    continue;
                }
                let position = rows.position(components.center(k));
                centers.set(k, &position, log_prior);
                if sums == Sums::Along {
                    centers.set_direction(k, &position, direction(k));
                }
            }
            if let Some(score) = sponge {
                centers.set_equally_far(components.len(), score);
            }
        }
        if rows.are_sparse() {
            let (centers, origin) = (&mut self.sparse, &rows.scaled_origin[..]);
            centers.begin(dimension, count, temperature, sums == Sums::Along);
            for (k, &log_prior) in log_priors.iter().enumerate() {
                centers.set(k, components.center(k), origin, log_prior);
                if sums == Sums::Along {
                    centers.set_direction(k, components.center(k), origin, direction(k));
                }
            }
            if let Some(score) = sponge {
                centers.set_equally_far(components.len(), score);
            }
        }
    }
}

impl<T: Real> SoftRound<'_, T> {
    /// The sums of rows of bits, in stored units. The sponge is one more component of the same pass.
    fn map_bits(&self, bits: &BitRows, scratch: &mut Scratch<T>, partial: &mut [f64]) {
        partial.fill(0.0);
        let (rows, unit, per_center, centers) = (self.rows, self.rows.unit, self.per_center(), &self.side_by_side.bits);
        let (totals, sums) = partial.split_at_mut(self.totals());
        let found = if self.sponge.is_some() {
            scratch.sums.clear();
            scratch.sums.resize(centers.len() * per_center, 0.0);
            let found = soft_bit_sums(bits, centers, self.sums, &mut scratch.bits, &mut scratch.sums);
            let (of_centers, of_sponge) = scratch.sums.split_at(sums.len());
            sums.copy_from_slice(of_centers);
            totals[2] = of_sponge[0];
            if self.sums == Sums::First {
                let left = of_centers.chunks_exact(per_center);
                totals[3] = left.map(|sums| rows.square_of_moments(sums[0], &sums[1..])).sum();
            }
            found
        } else {
            soft_bit_sums(bits, centers, self.sums, &mut scratch.bits, sums)
        };
        totals[0] = found.free_energy / unit / unit;
        totals[1] = found.softness;
        for sums in sums.chunks_exact_mut(per_center) {
            let (mass, moments) = sums.split_at_mut(1);
            rows.store_moments(mass[0], moments);
            if self.sums == Sums::Along {
                // What is along the direction is a length itself.
                sums.iter_mut().for_each(|sum| *sum /= unit);
            }
        }
    }
}

impl<T: Real> SoftRound<'_, T> {
    /// The sums of sparse rows as they are. The sponge is one more component of the same pass.
    fn map_sparse(&self, rows: &SparseRows<T>, scratch: &mut Scratch<T>, partial: &mut [f64]) {
        partial.fill(0.0);
        let (totals, sums) = partial.split_at_mut(self.totals());
        let (centers, scratch_sums) = (&self.side_by_side.sparse, &mut scratch.sums);
        let found = if self.sponge.is_some() {
            scratch_sums.clear();
            scratch_sums.resize(centers.len() * self.per_center(), 0.0);
            let found = soft_sparse_sums(rows, centers, self.sums, &mut scratch.sparse, scratch_sums);
            let (of_centers, of_sponge) = scratch_sums.split_at(sums.len());
            sums.copy_from_slice(of_centers);
            totals[2] = of_sponge[0];
            if self.sums == Sums::First {
                totals[3] = (0..self.components.len()).map(|k| scratch.sparse.square(k)).sum();
            }
            found
        } else {
            soft_sparse_sums(rows, centers, self.sums, &mut scratch.sparse, sums)
        };
        totals[0] = found.free_energy;
        totals[1] = found.softness;
    }

    /// What is left to be done once the sums of all leaves are there: those of sparse rows are counted from the origin.
    pub fn settle(&self, total: &mut [f64]) {
        if self.rows.are_sparse() {
            let sums = &mut total[self.totals()..];
            sums.chunks_exact_mut(self.per_center()).for_each(|sums| self.rows.subtract_origin(sums));
        }
    }
}

impl<T: Kept> Round for SoftRound<'_, T> {
    fn len(&self) -> usize {
        self.totals() + self.components.len() * self.per_center()
    }

    fn key_len(&self) -> usize {
        self.per_center()
    }

    fn name(&self) -> &'static str {
        "soft assignment"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[leaf];
        let (dimension, per_center) = (self.rows.dimension, self.per_center());
        T::with_scratch(|scratch| {
            let tiles = match &leaf.block {
                Block::Numbers(tiles) => tiles,
                Block::Bits(bits) => return self.map_bits(bits, scratch, partial),
                Block::Sparse(rows) => return self.map_sparse(rows, scratch, partial),
            };
            let components = self.components;
            let cut = T::CUT + (components.len() as f64).ln();
            active(
                &leaf.bounds,
                components,
                self.log_priors,
                self.temperature,
                cut,
                &mut scratch.active,
                &mut scratch.reach,
            );
            scratch.soft_centers.begin(dimension, self.temperature);
            for &k in &scratch.active {
                scratch.soft_centers.push(components.center(k), self.log_priors[k]);
                if self.sums == Sums::Along {
                    scratch
                        .soft_centers
                        .push_direction(components.center(k), &components.directions[k * dimension..][..dimension]);
                }
            }
            scratch.sums.clear();
            scratch.sums.resize(scratch.active.len() * per_center, 0.0);
            partial.fill(0.0);
            let soaked = self.sponge.map(|score| {
                let centers = scratch.active.iter().map(|&k| (components.center(k), self.log_priors[k]));
                soak(tiles, centers, self.temperature, score, &mut scratch.sponge)
            });
            let tiles = soaked.as_ref().map_or(tiles, |(left, _)| left);
            let totals = soft_sums(tiles, &scratch.soft_centers, self.sums, &mut scratch.soft, &mut scratch.sums);
            match soaked {
                None => partial[..TOTALS].copy_from_slice(&[totals.free_energy, totals.softness]),
                Some((_, soaked)) => partial[..TOTALS + SOAKED].copy_from_slice(&[
                    soaked.free_energy,
                    soaked.softness,
                    soaked.weight,
                    soaked.square,
                ]),
            }
            for (&k, sums) in scratch.active.iter().zip(scratch.sums.chunks_exact(per_center)) {
                partial[self.totals() + k * per_center..][..per_center].copy_from_slice(sums);
            }
        });
    }
}

/// The second moments of all rows about the origin, which is their mean: D x D, lower triangle.
pub(crate) struct CovarianceRound<'a, T: Real> {
    pub rows: &'a Rows<T>,
}

impl<T: Real> Round for CovarianceRound<'_, T> {
    fn len(&self) -> usize {
        self.rows.dimension * self.rows.dimension
    }

    fn key_len(&self) -> usize {
        self.rows.dimension
    }

    fn name(&self) -> &'static str {
        "covariance"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (block, dimension) = (&self.rows.leaves[leaf].block, self.rows.dimension);
        partial.fill(0.0);
        let mut row = vec![0.0; dimension];
        for index in 0..block.rows() {
            self.rows.read_row(block, index, &mut row);
            let weight = block.weight(index);
            for i in 0..dimension {
                let value = weight * row[i];
                for j in 0..=i {
                    partial[i * dimension + j] += value * row[j];
                }
            }
        }
    }
}

/// Finds the centres that can matter to some row in a box: all but those whose score is more than `cut` below another's everywhere in it.
///
/// The difference of two squared distances is linear in the row, so its greatest value over the box is found coordinate by coordinate, exactly. The other
/// is the centre best at the middle of the box. In many dimensions a box says nothing and all centres are taken.
pub(crate) fn active(
    bounds: &[f64],
    components: &Components,
    log_priors: &[f64],
    temperature: f64,
    cut: f64,
    active: &mut Vec<usize>,
    reach: &mut Vec<f64>,
) {
    let (dimension, clusters) = (components.dimension, components.len());
    active.clear();
    if dimension > DIRECT_DIMENSION || clusters < 3 {
        active.extend(0..clusters);
        return;
    }
    let (least, most) = bounds.split_at(dimension);
    reach.clear();
    let mut best = (0, f64::NEG_INFINITY);
    for k in 0..clusters {
        let y = components.center(k);
        let prior = temperature * log_priors[k];
        let mut score = prior;
        for j in 0..dimension {
            let difference = (least[j] + most[j]) / 2.0 - y[j];
            score -= difference * difference;
        }
        reach.push(prior);
        if score > best.1 {
            best = (k, score);
        }
    }
    let reference = components.center(best.0);
    let reference_prior = reach[best.0];
    for k in 0..clusters {
        let y = components.center(k);
        let mut lead = reach[k] - reference_prior;
        for j in 0..dimension {
            let apart = y[j] - reference[j];
            let corner = if apart > 0.0 { most[j] } else { least[j] };
            lead += apart * (2.0 * corner - y[j] - reference[j]);
        }
        let is_beaten = lead < -cut * temperature;
        if !is_beaten {
            active.push(k);
        }
    }
}
