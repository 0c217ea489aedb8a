//! The E-step of vector annealing: computes the soft sums of a leaf over the centres that matter to the leaf.
//!
//! Source: paper 004 eq. (1)-(3). This file does not use ranks: it computes the sums of one leaf.

use lehr_numerics::bits::{BitRows, SoftBitCenters, soft_bit_sums};
use lehr_numerics::elementary::ln;
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::{Sums, soft_sums};
use lehr_numerics::sparse::{SoftSparseCenters, SparseRows, soft_sparse_sums};
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::components::{Components, Mode};
use super::soak::soak;
use crate::round::Round;
use crate::rows::bernoulli::form;
use crate::rows::{OverStore, RowMajor, RowMajorMut, Rows, Scalar, Storage, Work};

/// The number of sums over all centres: `-T sum w ln sum exp` and `sum w (1 - max m)`.
const TOTALS: usize = 2;
/// The number of additional sums if there is an outlier radius: the weight of outliers, and `sum w |x|^2` of the other
/// rows. For rows of bits and sparse rows, only a pass with [`Sums::First`] computes the second sum.
const SOAKED: usize = 2;

/// A pass over all rows with fixed centres.
pub(crate) struct SoftRound<'a, T: Real> {
    pub rows: &'a Rows<T>,
    pub components: &'a Components,
    /// The logarithm `ln g_k` of each component ([`log_priors`]).
    pub log_priors: &'a [f64],
    /// The components in the layout of the kernels of bits and of sparse rows.
    pub side_by_side: &'a SideBySide<T>,
    pub temperature: f64,
    pub sums: Sums,
    /// The score of the noise component, if there is one.
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

/// The number of sums of a [`SoftRound`] before those of the centres.
pub(crate) fn totals(has_sponge: bool) -> usize {
    if has_sponge { TOTALS + SOAKED } else { TOTALS }
}

/// Computes the logarithm of each component's prior: its share of the mass `whole`, or 1 if masses do not count.
pub(crate) fn log_priors(components: &Components, mode: Mode, whole: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend(components.priors.iter().map(|&prior| match mode {
        Mode::Plain => 0.0,
        Mode::Mass => ln(whole * prior),
    }));
}

/// Components in the layout of the kernels for bits and for sparse rows. If there is a noise component, it comes last.
/// The components are prepared once for each pass, because preparing them takes as long as about ten rows.
#[derive(Debug, Default)]
pub(crate) struct SideBySide<T: Real> {
    /// The positions in the coordinates of bits.
    bits: SoftBitCenters<T>,
    /// The positions in stored units.
    sparse: SoftSparseCenters<T>,
}

impl<T: Real> SideBySide<T> {
    /// Prepares the components for the storage of the rows. Does nothing for rows of numbers.
    pub fn prepare(
        &mut self,
        rows: &Rows<T>,
        components: &Components,
        log_priors: &[f64],
        temperature: f64,
        sums: Sums,
        sponge: Option<f64>,
    ) {
        let has_directions = sums == Sums::Along;
        match rows.storage {
            Storage::Numbers => {}
            Storage::Bits => {
                self.prepare_bits(rows, components, log_priors, temperature, has_directions, sponge);
            }
            Storage::Sparse => {
                let origin = &rows.units.scaled_origin[..];
                self.prepare_sparse(origin, components, log_priors, temperature, has_directions, sponge);
            }
        }
    }

    fn prepare_bits(
        &mut self,
        rows: &Rows<T>,
        components: &Components,
        log_priors: &[f64],
        temperature: f64,
        has_directions: bool,
        sponge: Option<f64>,
    ) {
        let (centers, count) = (&mut self.bits, components.len() + usize::from(sponge.is_some()));
        centers.begin(rows.dimension, count, rows.units.squared(temperature), has_directions);
        for (k, &log_prior) in log_priors.iter().enumerate() {
            if let Some(bernoulli) = rows.bernoulli {
                let (constant, terms) = form(components.center(k));
                centers.set_form(k, constant, terms, log_prior);
                if has_directions {
                    let mass = components.priors[k] * rows.total_weight;
                    let (means, units) = bernoulli.frame(components.center(k), mass);
                    let in_bits = |(u, unit): (&f64, &f64)| if *unit > 0.0 { u / unit } else { 0.0 };
                    let direction: Vec<f64> = components.direction(k).iter().zip(&units).map(in_bits).collect();
                    centers.set_direction(k, &means, &direction);
                }
                continue;
            }
            let position = rows.units.position(components.center(k));
            centers.set(k, &position, log_prior);
            if has_directions {
                centers.set_direction(k, &position, components.direction(k));
            }
        }
        if let Some(score) = sponge {
            centers.set_equally_far(components.len(), score);
        }
    }

    fn prepare_sparse(
        &mut self,
        origin: &[f64],
        components: &Components,
        log_priors: &[f64],
        temperature: f64,
        has_directions: bool,
        sponge: Option<f64>,
    ) {
        let (centers, count) = (&mut self.sparse, components.len() + usize::from(sponge.is_some()));
        centers.begin(components.dimension, count, temperature, has_directions);
        for (k, &log_prior) in log_priors.iter().enumerate() {
            centers.set(k, components.center(k), origin, log_prior);
            if has_directions {
                centers.set_direction(k, components.center(k), origin, components.direction(k));
            }
        }
        if let Some(score) = sponge {
            centers.set_equally_far(components.len(), score);
        }
    }
}

impl<T: Real> SoftRound<'_, T> {
    /// Completes the sums over all leaves. The sums of sparse rows are relative to 0, and are converted to sums
    /// relative to the origin.
    pub fn settle(&self, total: &mut [f64]) {
        if self.rows.storage == Storage::Sparse {
            let sums = &mut total[self.totals()..];
            sums.chunks_exact_mut(self.per_center()).for_each(|sums| self.rows.units.subtract_origin(sums));
        }
    }
}

impl<T: Scalar> OverStore<T, Work<'_, T>> for SoftRound<'_, T> {
    fn over_numbers(&self, tiles: &Tiles<T>, Work { leaf, scratch, partial }: Work<'_, T>) {
        let (dimension, per_center, components) = (self.rows.dimension, self.per_center(), self.components);
        let cut = T::CUT + ln(components.len() as f64);
        active(
            &self.rows.leaves[leaf].bounds,
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
                scratch.soft_centers.push_direction(components.center(k), components.direction(k));
            }
        }
        scratch.sums.clear();
        scratch.sums.resize(scratch.active.len() * per_center, 0.0);
        let soaked = self.sponge.map(|score| {
            let centers = scratch.active.iter().map(|&k| (components.center(k), self.log_priors[k]));
            soak(tiles, centers, self.temperature, score, &mut scratch.weighted)
        });
        let tiles = soaked.as_ref().map_or(tiles, |(left, _)| left);
        let totals = soft_sums(tiles, &scratch.soft_centers, self.sums, &mut scratch.soft, &mut scratch.sums);
        let (of_block, of_centers) = partial.split_at_mut(self.totals());
        match soaked {
            None => of_block.copy_from_slice(&[totals.free_energy, totals.softness]),
            Some((_, soaked)) => {
                of_block.copy_from_slice(&[soaked.free_energy, soaked.softness, soaked.weight, soaked.square]);
            }
        }
        let mut of_centers = RowMajorMut::new(of_centers, per_center);
        for (&k, sums) in scratch.active.iter().zip(RowMajor::new(&scratch.sums, per_center).rows()) {
            of_centers.row(k).copy_from_slice(sums);
        }
    }

    /// Computes the sums over rows of bits, in stored units. The noise component is an ordinary component in the same
    /// pass.
    fn over_bits(&self, bits: &BitRows, Work { scratch, partial, .. }: Work<'_, T>) {
        let (units, per_center, centers) = (&self.rows.units, self.per_center(), &self.side_by_side.bits);
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
                totals[3] = left.map(|sums| units.square_of_moments(sums[0], &sums[1..])).sum();
            }
            found
        } else {
            soft_bit_sums(bits, centers, self.sums, &mut scratch.bits, sums)
        };
        totals[0] = found.free_energy / units.length / units.length;
        totals[1] = found.softness;
        for sums in sums.chunks_exact_mut(per_center) {
            units.store_moments(sums);
            if self.sums == Sums::Along {
                // The sum along the direction is a length, so it is divided by the unit too.
                sums.iter_mut().for_each(|sum| *sum /= units.length);
            }
        }
    }

    /// Computes the sums over the original, sparse rows. The noise component is an ordinary component in the same pass.
    fn over_sparse(&self, rows: &SparseRows<T>, Work { scratch, partial, .. }: Work<'_, T>) {
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
}

impl<T: Scalar> Round for SoftRound<'_, T> {
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
        self.rows.map(self, leaf, partial);
    }
}

/// Finds the centres that can matter to some row in a box. A centre is excluded if, everywhere in the box, its score is
/// more than `cut` below the score of another centre.
///
/// The difference of two squared distances is linear in the row, so its maximum over the box is found coordinate by
/// coordinate, exactly. The other centre is the centre with the best score at the middle of the box. In many
/// dimensions, a box excludes no centre, so all centres are used.
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
