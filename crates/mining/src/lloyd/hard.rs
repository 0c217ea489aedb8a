//! One pass of hard assignment, which recomputes only the sums that moved centres can change.
//!
//! In up to [`DIRECT_DIMENSION`] dimensions, each leaf has a bounding box. A pass over the leaf skips centres that
//! cannot be nearest to a row in the box. The pass reuses the leaf's sums if none of the remaining centres has moved.
//! The result is bit-identical with and without these shortcuts. Rows of bits have shortcuts of their own (`known.rs`).

use lehr_numerics::bits::{BitRows, nearest_bit_sums};
use lehr_numerics::nearest::{Kind, nearest_sums};
use lehr_numerics::sparse::{SparseRows, nearest_sparse_sums};
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::centers::{Centers, Planes};
use super::known::Bounds;
use super::side_by_side::{HardSideBySide, push};
use crate::round::{LeafCells, Round};
use crate::rows::{OverStore, RowMajor, RowMajorMut, Rows, Scalar, Storage, Work};

/// A leaf's memory of earlier passes.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// The active centres of the last pass: those that may be nearest to a row. Only used in up to [`DIRECT_DIMENSION`]
    /// dimensions.
    active: Vec<usize>,
    /// An active centre that is nearer to every row of the leaf than all inactive centres.
    reference: usize,
    positions: Vec<f64>,
    sums: Vec<f64>,
    /// For rows of bits.
    pub(super) bounds: Bounds,
}

/// A pass of hard assignment over all rows. A leaf reuses its sums if none of its active centres has moved.
pub(crate) struct HardRound<'a, T: Scalar> {
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    pub planes: Option<&'a Planes>,
    /// The centres in the layout of the kernels that compare every row with every centre.
    pub side_by_side: &'a HardSideBySide<T>,
    pub memory: &'a LeafCells<Remembered>,
    /// Whether every row is compared with every centre, and leaves remember nothing.
    pub is_plain: bool,
}

impl<T: Scalar> HardRound<'_, T> {
    fn kind(&self) -> Kind {
        if self.planes.is_some() { Kind::Swaps } else { Kind::Centers }
    }

    /// Converts the sums of all leaves to stored units. Those of bits and of sparse rows are relative to 0 before, and
    /// those of bits have the unit of bits.
    pub fn settle(&self, total: &mut [f64]) {
        let Rows { dimension, units, storage, .. } = self.rows;
        if *storage == Storage::Numbers {
            return;
        }
        let per_center = self.kind().len(*dimension);
        for (sums, center) in total.chunks_exact_mut(per_center).zip(self.centers.rows()) {
            let (own, beyond) = sums.split_at_mut(Kind::Centers.len(*dimension));
            // The cost of the removal comes before the sums beyond the plane.
            let (removal, beyond) = beyond.split_at_mut(beyond.len().min(1));
            if *storage == Storage::Sparse {
                units.subtract_origin(&mut own[..1 + dimension]);
                units.subtract_origin(beyond);
            } else {
                settle_bits(self.rows, center, own);
                units.store_moments(beyond);
                removal.iter_mut().for_each(|cost| *cost /= units.length * units.length);
            }
        }
    }
}

/// Converts the sums of a centre's rows of bits to stored units: mass, moments, cost. Squared distances follow from
/// mass and moments, more precisely than from the distances of single rows. Other costs stay as they are.
pub(super) fn settle_bits<T: Scalar>(rows: &Rows<T>, center: &[f64], sums: &mut [f64]) {
    let (last, units) = (1 + rows.dimension, &rows.units);
    units.store_moments(&mut sums[..last]);
    if rows.bernoulli.is_none() {
        sums[last] = units.cost_of_moments(center, &sums[..last]);
    }
}

impl<T: Scalar> OverStore<T, Work<'_, T>> for HardRound<'_, T> {
    fn over_numbers(&self, tiles: &Tiles<T>, Work { leaf: index, scratch, partial }: Work<'_, T>) {
        let (leaf, kind) = (&self.rows.leaves[index], self.kind());
        let (dimension, per_center) = (self.rows.dimension, kind.len(self.rows.dimension));
        if dimension > DIRECT_DIMENSION {
            // In more dimensions, centres are not selected for each leaf.
            return nearest_sums(tiles, &self.side_by_side.numbers, kind, &mut scratch.hard, partial);
        }
        let nearest = if self.planes.is_some() { 2 } else { 1 };
        let reference = if self.is_plain {
            scratch.active.clear();
            scratch.active.extend(0..self.centers.len());
            0
        } else {
            nearest_active(&leaf.bounds, self.centers, nearest, &mut scratch.active, &mut scratch.reach)
        };
        scratch.hard_centers.begin(dimension);
        for &k in &scratch.active {
            push(&mut scratch.hard_centers, self.centers, self.planes, k);
        }
        scratch.sums.clear();
        scratch.sums.resize(scratch.active.len() * per_center, 0.0);
        let mut of_centers = RowMajorMut::new(partial, per_center);
        let mut spread = |sums: &[f64]| {
            for (&k, sums) in scratch.active.iter().zip(RowMajor::new(sums, per_center).rows()) {
                of_centers.row(k).copy_from_slice(sums);
            }
        };
        if self.is_plain || self.planes.is_some() {
            nearest_sums(tiles, &scratch.hard_centers, kind, &mut scratch.hard, &mut scratch.sums);
            spread(&scratch.sums);
            return;
        }
        self.memory.with(index, |memory| {
            let positions = || scratch.active.iter().flat_map(|&k| self.centers.center(k)).copied();
            if memory.active != scratch.active || !positions().eq(memory.positions.iter().copied()) {
                nearest_sums(tiles, &scratch.hard_centers, kind, &mut scratch.hard, &mut scratch.sums);
                memory.active.clone_from(&scratch.active);
                memory.reference = reference;
                memory.positions.clear();
                memory.positions.extend(positions());
                memory.sums.clone_from(&scratch.sums);
            }
            spread(&memory.sums);
        });
    }

    fn over_bits(&self, bits: &BitRows, Work { scratch, partial, .. }: Work<'_, T>) {
        nearest_bit_sums(bits, &self.side_by_side.bits, self.kind(), &mut scratch.bits, partial);
    }

    fn over_sparse(&self, rows: &SparseRows<T>, Work { scratch, partial, .. }: Work<'_, T>) {
        nearest_sparse_sums(rows, &self.side_by_side.sparse, self.kind(), &mut scratch.sparse, partial);
    }
}

impl<T: Scalar> Round for HardRound<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * self.kind().len(self.rows.dimension)
    }

    fn key_len(&self) -> usize {
        self.kind().len(self.rows.dimension)
    }

    fn name(&self) -> &'static str {
        "nearest centres"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        self.rows.map(self, leaf, partial);
    }
}

/// Computes how the sums of the last [`HardRound`] without planes change when a few centres move. A leaf contributes
/// nothing if it is far from the old and the new positions of all these centres. Such a leaf sets the first number of
/// its partial sums to 0, and the rest is neither written nor read.
pub(crate) struct DifferenceRound<'a, T: Scalar> {
    pub rows: &'a Rows<T>,
    pub memory: &'a LeafCells<Remembered>,
    pub centers: &'a Centers,
    pub before: &'a Centers,
    /// The centres that have moved, in ascending order.
    pub moved: &'a [usize],
}

impl<T: Scalar> DifferenceRound<'_, T> {
    /// Whether the sums of a leaf may have changed.
    fn concerns(&self, bounds: &[f64], memory: &Remembered) -> bool {
        if memory.active.is_empty() || memory.active.iter().any(|&k| self.has_moved(k)) {
            return true;
        }
        // None of the leaf's active centres has moved, so a moved centre matters only if it may be nearer to a row than
        // the reference.
        self.moved.iter().any(|&k| !beaten(bounds, self.centers.center(k), self.before.center(memory.reference)))
    }

    fn has_moved(&self, k: usize) -> bool {
        self.moved.binary_search(&k).is_ok()
    }

    /// Finds the centres that may be nearest to a row of the leaf.
    fn active(&self, bounds: &[f64], memory: &Remembered, active: &mut Vec<usize>, reach: &mut Vec<f64>) {
        if memory.active.is_empty() || self.has_moved(memory.reference) {
            nearest_active(bounds, self.centers, 1, active, reach);
            return;
        }
        // Centres that the reference has excluded remain excluded, unless they have moved.
        active.clear();
        active.extend(memory.active.iter().chain(self.moved));
        active.sort_unstable();
        active.dedup();
        retain_nearest(bounds, self.centers, 1, active, reach);
    }
}

impl<T: Scalar> Round for DifferenceRound<'_, T> {
    fn len(&self) -> usize {
        1 + self.centers.len() * Kind::Centers.len(self.rows.dimension)
    }

    // `key_len` keeps its default, one key for all numbers, because the first number says whether the rest is valid.

    fn name(&self) -> &'static str {
        "a centre moved"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        let (dimension, per_center) = (self.rows.dimension, Kind::Centers.len(self.rows.dimension));
        self.memory.with(index, |memory| {
            if !self.concerns(&leaf.bounds, memory) {
                partial[0] = 0.0;
                return;
            }
            partial.fill(0.0);
            partial[0] = 1.0;
            let mut of_centers = RowMajorMut::new(&mut partial[1..], per_center);
            T::with_scratch(|scratch| {
                self.active(&leaf.bounds, memory, &mut scratch.active, &mut scratch.reach);
                scratch.hard_centers.begin(dimension);
                for &k in &scratch.active {
                    push(&mut scratch.hard_centers, self.centers, None, k);
                }
                scratch.sums.clear();
                scratch.sums.resize(scratch.active.len() * per_center, 0.0);
                // Leaves remember sums only in few dimensions, where even bits are stored as numbers.
                let tiles = leaf.store.numbers();
                nearest_sums(tiles, &scratch.hard_centers, Kind::Centers, &mut scratch.hard, &mut scratch.sums);
                for (&k, sums) in scratch.active.iter().zip(RowMajor::new(&scratch.sums, per_center).rows()) {
                    of_centers.row(k).copy_from_slice(sums);
                }
            });
            for (&k, sums) in memory.active.iter().zip(RowMajor::new(&memory.sums, per_center).rows()) {
                of_centers.row(k).iter_mut().zip(sums).for_each(|(difference, sum)| *difference -= sum);
            }
        });
    }

    fn combine(&self, left: &mut [f64], right: &[f64]) {
        if right[0] == 0.0 {
            return;
        }
        if left[0] == 0.0 {
            left.copy_from_slice(right);
            return;
        }
        for (left, right) in left[1..].iter_mut().zip(&right[1..]) {
            *left += right;
        }
    }
}

/// Whether every row of a box is nearer to `reference` than to `y`. The difference of the two squared distances is
/// linear in the row. Therefore its maximum over the box is found coordinate by coordinate, and is exact except for
/// rounding. A margin covers the rounding error, so that a tie does not exclude a centre.
fn beaten(bounds: &[f64], y: &[f64], reference: &[f64]) -> bool {
    let (least, most) = bounds.split_at(y.len());
    let (mut lead, mut scale) = (0.0, 0.0);
    for j in 0..y.len() {
        let apart = y[j] - reference[j];
        let corner = if apart > 0.0 { most[j] } else { least[j] };
        let term = apart * (2.0 * corner - y[j] - reference[j]);
        lead += term;
        scale += term.abs();
    }
    lead < -1e-6 * scale
}

/// Writes to `active` the centres that may be the nearest of some row in a box, or the second nearest if `nearest`
/// is 2. Returns a centre that is nearer to every row of the box than all excluded centres.
pub(crate) fn nearest_active(
    bounds: &[f64],
    centers: &Centers,
    nearest: usize,
    active: &mut Vec<usize>,
    reach: &mut Vec<f64>,
) -> usize {
    active.clear();
    active.extend(0..centers.len());
    if centers.dimension > DIRECT_DIMENSION {
        return 0;
    }
    retain_nearest(bounds, centers, nearest, active, reach)
}

/// Removes from `active` the centres that cannot be among the nearest, and keeps the order of the rest.
fn retain_nearest(
    bounds: &[f64],
    centers: &Centers,
    nearest: usize,
    active: &mut Vec<usize>,
    reach: &mut Vec<f64>,
) -> usize {
    let (least, most) = bounds.split_at(centers.dimension);
    // The reach of a centre is its squared distance from the middle of the box. The references are the centres nearest
    // and second nearest to the middle.
    let mut references = [(active[0], f64::INFINITY); 2];
    reach.clear();
    for &k in &*active {
        let mut distance = 0.0;
        for (j, y) in centers.center(k).iter().enumerate() {
            let difference = (least[j] + most[j]) / 2.0 - y;
            distance += difference * difference;
        }
        reach.push(distance);
        if distance < references[0].1 {
            references[1] = references[0];
            references[0] = (k, distance);
        } else if distance < references[1].1 {
            references[1] = (k, distance);
        }
    }
    if active.len() > nearest + 1 {
        // A centre is excluded if, for every row of the box, `nearest` other centres are nearer.
        let is_beaten = |k: usize, reference: usize| beaten(bounds, centers.center(k), centers.center(reference));
        // A quick check excludes most centres: those that are farther from the middle than a reference by more than the
        // box's diagonal.
        let width = least.iter().zip(most).map(|(least, most)| (most - least) * (most - least)).sum::<f64>().sqrt();
        let far = (references[nearest - 1].1.sqrt() + width).powi(2) * (1.0 + 1e-4);
        let mut reach = reach.iter();
        active.retain(|&k| {
            let is_far = reach.next().is_some_and(|&distance| distance > far);
            !is_far && !references[..nearest].iter().all(|&(reference, _)| is_beaten(k, reference))
        });
    }
    references[0].0
}
