//! Hard assignment together with the sums for the next centres (one iteration of Lloyd's algorithm in one pass).
//!
//! Each row is assigned to the nearest centre, or to the first of several equally near centres. For the search by swaps
//! ([`Kind::Swaps`]), the same pass also estimates two numbers. The first is the cost of removing a centre, which sends
//! each of its rows to the second nearest centre. The second is the gain of dividing a centre by a plane.

use crate::dispatch::kernel;
use crate::lanes::{Lanes, Line, Real};
use crate::line_sums::add_line_sums;
use crate::products::products;
use crate::tiles::{DIRECT_DIMENSION, Tiles};

/// The number of tiles whose products are computed together in many dimensions, so that each loaded coordinate of a
/// centre serves all of them.
const WIDE_GROUP: usize = 4;
/// The maximum number of lanes in a line.
const MOST_LANES: usize = 16;

/// The sums that a pass computes for each centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Mass, first moment (D numbers), and cost `sum w d`.
    Centers,
    /// The sums of [`Kind::Centers`], then the cost of removal `sum w (d_second - d)`, then mass and first moment of
    /// the rows beyond the centre's plane.
    Swaps,
}

impl Kind {
    /// Returns the number of sums for each centre.
    pub const fn len(self, dimension: usize) -> usize {
        match self {
            Kind::Centers => dimension + 2,
            Kind::Swaps => 2 * dimension + 4,
        }
    }
}

/// Centres in the rows' precision, optionally with a plane for each that divides its rows.
#[derive(Clone, Debug, Default)]
pub struct HardCenters<T: Real> {
    dimension: usize,
    centers: Vec<T>,
    /// In many dimensions only: twice the centre, and its negative squared length.
    doubled: Vec<T>,
    offsets: Vec<T>,
    normals: Vec<T>,
    thresholds: Vec<T>,
}

impl<T: Real> HardCenters<T> {
    /// Removes all centres, and sets the number of coordinates and of sums for new ones.
    pub fn begin(&mut self, dimension: usize) {
        self.dimension = dimension;
        self.centers.clear();
        self.doubled.clear();
        self.offsets.clear();
        self.normals.clear();
        self.thresholds.clear();
    }

    /// Adds a centre, relative to the rows' origin.
    ///
    /// # Panics
    /// Panics if the number of coordinates differs from the number given to [`HardCenters::begin`].
    pub fn push(&mut self, center: &[f64]) {
        assert_eq!(center.len(), self.dimension);
        self.centers.extend(center.iter().map(|&y| T::from_f64(y)));
        self.offsets.push(T::from_f64(-center.iter().map(|&y| T::from_f64(y).to_f64().powi(2)).sum::<f64>()));
        if self.dimension > DIRECT_DIMENSION {
            self.doubled.extend(center.iter().map(|&y| T::from_f64(2.0 * y)));
        }
    }

    /// Adds the plane of the last centre that was pushed: rows with `x . normal > threshold` are beyond the plane.
    ///
    /// # Panics
    /// Panics if the normal's number of coordinates differs from the number given to [`HardCenters::begin`].
    pub fn push_plane(&mut self, normal: &[f64], threshold: f64) {
        assert_eq!(normal.len(), self.dimension);
        self.normals.extend(normal.iter().map(|&n| T::from_f64(n)));
        self.thresholds.push(T::from_f64(threshold));
    }

    /// Returns the centres in the rows' precision, K x D.
    pub fn positions(&self) -> &[T] {
        &self.centers
    }

    /// Returns the number of centres.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }
}

/// The buffers of [`nearest_sums`]. After a call, they hold the nearest centre of each row of the block.
#[derive(Clone, Debug, Default)]
pub struct HardScratch<T: Real> {
    nearest: Vec<T::Line>,
    products: Vec<T::Line>,
    /// A block of columns of a tile, row by row.
    block: Vec<T::Line>,
    sums: Vec<T::Line>,
}

impl<T: Real> HardScratch<T> {
    /// Returns the nearest centre of row `index` of the block in the last call.
    pub fn nearest(&self, index: usize) -> usize {
        self.nearest[index / T::Line::COUNT].lanes()[index % T::Line::COUNT].to_f64() as usize
    }
}

/// Adds the sums of one block to `sums` (K x [`Kind::len`]).
///
/// In up to [`DIRECT_DIMENSION`] dimensions, squared distances are computed from differences. In more dimensions, they
/// are computed as `|x|^2 - 2 x . y + |y|^2`, and negative results become 0. Cost: rows x K x (2 D + 4) operations. It
/// allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, if there are 2^24 or more, or if planes are missing for
/// [`Kind::Swaps`].
///
/// # Example
/// ```
/// use lehr_numerics::{nearest::{nearest_sums, HardCenters, HardScratch, Kind}, tiles::Tiles};
/// let rows = [[0.0], [1.0], [5.0]];
/// let tiles = Tiles::<f64>::new(3, 1, &[0.0], |i| &rows[i], |_| 1.0);
/// let mut centers = HardCenters::default();
/// centers.begin(1);
/// centers.push(&[0.0]);
/// centers.push(&[5.0]);
/// let mut sums = [0.0; 6];
/// let mut scratch = HardScratch::default();
/// nearest_sums(&tiles, &centers, Kind::Centers, &mut scratch, &mut sums);
/// assert_eq!(sums, [2.0, 1.0, 1.0, 1.0, 5.0, 0.0]); // mass, moment, cost of each centre
/// assert_eq!(scratch.nearest(1), 0);
/// ```
pub fn nearest_sums<T: Real>(
    tiles: &Tiles<T>,
    centers: &HardCenters<T>,
    kind: Kind,
    scratch: &mut HardScratch<T>,
    sums: &mut [f64],
) {
    let dimension = tiles.dimension();
    assert!(!centers.is_empty() && centers.len() < 1 << 24, "1 to 2^24 - 1 centres");
    assert_eq!(dimension, centers.dimension);
    assert_eq!(sums.len(), centers.len() * kind.len(dimension));
    assert!(kind == Kind::Centers || centers.thresholds.len() == centers.len(), "a plane for each centre");
    scratch.nearest.resize(tiles.weights().len(), T::Line::default());
    if dimension > DIRECT_DIMENSION {
        scratch.products.resize(centers.len() * WIDE_GROUP, T::Line::default());
        wide(tiles, centers, kind, scratch, sums);
        return;
    }
    scratch.sums.clear();
    scratch.sums.resize(sums.len(), T::Line::default());
    match (dimension, kind) {
        (1, Kind::Centers) => direct::<T, 1, false>(tiles, centers, scratch),
        (2, Kind::Centers) => direct::<T, 2, false>(tiles, centers, scratch),
        (3, Kind::Centers) => direct::<T, 3, false>(tiles, centers, scratch),
        (1, Kind::Swaps) => direct::<T, 1, true>(tiles, centers, scratch),
        (2, Kind::Swaps) => direct::<T, 2, true>(tiles, centers, scratch),
        (3, Kind::Swaps) => direct::<T, 3, true>(tiles, centers, scratch),
        (_, Kind::Centers) => direct::<T, 0, false>(tiles, centers, scratch),
        (_, Kind::Swaps) => direct::<T, 0, true>(tiles, centers, scratch),
    }
    add_line_sums::<T>(&scratch.sums, sums);
}

/// Finds only the nearest centre of each row, with the same bits as [`nearest_sums`].
///
/// Cost: rows x K x D multiply-adds. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics as [`nearest_sums`] does.
///
/// # Example
/// ```
/// use lehr_numerics::{nearest::{nearest_labels, HardCenters, HardScratch}, tiles::Tiles};
/// let rows = [[0.0], [1.0], [5.0]];
/// let tiles = Tiles::<f64>::new(3, 1, &[0.0], |i| &rows[i], |_| 1.0);
/// let mut centers = HardCenters::default();
/// centers.begin(1);
/// centers.push(&[0.0]);
/// centers.push(&[5.0]);
/// let mut scratch = HardScratch::default();
/// nearest_labels(&tiles, &centers, &mut scratch);
/// assert_eq!([0, 1, 2].map(|row| scratch.nearest(row)), [0, 0, 1]);
/// ```
pub fn nearest_labels<T: Real>(tiles: &Tiles<T>, centers: &HardCenters<T>, scratch: &mut HardScratch<T>) {
    assert!(!centers.is_empty() && centers.len() < 1 << 24, "1 to 2^24 - 1 centres");
    assert_eq!(tiles.dimension(), centers.dimension);
    scratch.nearest.resize(tiles.weights().len(), T::Line::default());
    if tiles.dimension() > DIRECT_DIMENSION {
        scratch.products.resize(centers.len() * WIDE_GROUP, T::Line::default());
    }
    labels(tiles, centers, scratch);
}

kernel! {
    fn labels[T; V](tiles: &Tiles<T>, centers: &HardCenters<T>, scratch: &mut HardScratch<T>) {
        let dimension = tiles.dimension();
        if dimension > DIRECT_DIMENSION {
            let HardScratch { nearest, products: scores, .. } = scratch;
            let (scores, _) = scores.as_chunks_mut::<WIDE_GROUP>();
            for (values, nearest) in tiles.values().chunks(WIDE_GROUP * dimension).zip(nearest.chunks_mut(WIDE_GROUP)) {
                products::<T, V, WIDE_GROUP>(values, dimension, &centers.doubled, &centers.offsets, scores);
                for (t, (values, nearest)) in values.chunks_exact(dimension).zip(nearest).enumerate() {
                    nearest_two::<T, V>(values, scores, t, nearest);
                }
            }
            return;
        }
        let zero = V::splat(T::default());
        for (values, nearest) in tiles.values().chunks_exact(dimension).zip(&mut scratch.nearest) {
            let mut best = V::splat(T::from_f64(f64::INFINITY));
            let mut index = zero;
            for (k, y) in centers.centers.chunks_exact(dimension).enumerate() {
                let mut distance = zero;
                for (line, &y) in values.iter().zip(y) {
                    let difference = V::load(line).sub(V::splat(y));
                    distance = difference.mul_add(difference, distance);
                }
                index = V::select_less(distance, best, V::splat(T::from_f64(k as f64)), index);
                best = distance.min(best);
            }
            index.store(nearest);
        }
    }
}

kernel! {
    /// Assigns rows in up to [`DIRECT_DIMENSION`] dimensions; `FIXED` is the dimension if it is known at compile time,
    /// else 0.
    fn direct[T; V; const FIXED: usize; const SWAPS: bool](tiles: &Tiles<T>, centers: &HardCenters<T>, scratch: &mut HardScratch<T>) {
        let dimension = if FIXED > 0 { FIXED } else { tiles.dimension() };
        let kind = if SWAPS { Kind::Swaps } else { Kind::Centers };
        let zero = V::splat(T::default());
        for ((values, weight), nearest) in tiles.values().chunks_exact(dimension).zip(tiles.weights()).zip(&mut scratch.nearest) {
            let mut x = [zero; DIRECT_DIMENSION];
            for (x, line) in x.iter_mut().zip(values) {
                *x = V::load(line);
            }
            let x = &x[..dimension];
            let mut best = V::splat(T::from_f64(f64::INFINITY));
            let (mut second, mut index) = (best, zero);
            for (k, y) in centers.centers.chunks_exact(dimension).enumerate() {
                let mut distance = zero;
                for (x, &y) in x.iter().zip(y) {
                    let difference = x.sub(V::splat(y));
                    distance = difference.mul_add(difference, distance);
                }
                if SWAPS {
                    second = V::select_less(distance, best, best, second.min(distance));
                }
                index = V::select_less(distance, best, V::splat(T::from_f64(k as f64)), index);
                best = distance.min(best);
            }
            index.store(nearest);
            let weight = V::load(weight);
            let cost = weight.mul(best);
            // A single centre has no second nearest centre, so its removal has no finite cost. Infinity times a weight
            // of 0 would be NaN.
            let removal = if SWAPS && centers.len() > 1 { weight.mul(second.sub(best)) } else { zero };
            for (k, sums) in scratch.sums.chunks_exact_mut(kind.len(dimension)).enumerate() {
                let own = V::where_equal(index, V::splat(T::from_f64(k as f64)), weight);
                V::load(&sums[0]).add(own).store(&mut sums[0]);
                for j in 0..dimension {
                    own.mul_add(x[j], V::load(&sums[1 + j])).store(&mut sums[1 + j]);
                }
                let number = V::splat(T::from_f64(k as f64));
                let line = &mut sums[1 + dimension];
                V::load(line).add(V::where_equal(index, number, cost)).store(line);
                if SWAPS {
                    let line = &mut sums[2 + dimension];
                    V::load(line).add(V::where_equal(index, number, removal)).store(line);
                    let mut height = zero;
                    for (x, &n) in x.iter().zip(&centers.normals[k * dimension..]) {
                        height = x.mul_add(V::splat(n), height);
                    }
                    let beyond = V::select_less(V::splat(centers.thresholds[k]), height, own, zero);
                    let line = &mut sums[3 + dimension];
                    V::load(line).add(beyond).store(line);
                    for j in 0..dimension {
                        let line = &mut sums[4 + dimension + j];
                        beyond.mul_add(x[j], V::load(line)).store(line);
                    }
                }
            }
        }
    }
}

kernel! {
    /// Assigns rows in many dimensions: computes products for a group of tiles, then adds their rows one by one to the
    /// sums of their centres.
    fn wide[T; V](tiles: &Tiles<T>, centers: &HardCenters<T>, kind: Kind, scratch: &mut HardScratch<T>, sums: &mut [f64]) {
        let dimension = tiles.dimension();
        let per_center = kind.len(dimension);
        let HardScratch { nearest, products: scores, block, .. } = scratch;
        let (scores, _) = scores.as_chunks_mut::<WIDE_GROUP>();
        block.resize(T::Line::COUNT, T::Line::default());
        for (group, (values, weights)) in
            tiles.values().chunks(WIDE_GROUP * dimension).zip(tiles.weights().chunks(WIDE_GROUP)).enumerate()
        {
            products::<T, V, WIDE_GROUP>(values, dimension, &centers.doubled, &centers.offsets, scores);
            for (t, (values, weight)) in values.chunks_exact(dimension).zip(weights).enumerate() {
                let tile = group * WIDE_GROUP + t;
                let (best, second) = nearest_two::<T, V>(values, scores, t, &mut nearest[tile]);
                let mut owners = Owners::of::<T>(&nearest[tile], weight, per_center);
                owners.add_costs::<T>(&best, (kind == Kind::Swaps && centers.len() > 1).then_some(&second), dimension, sums);
                for_blocks::<T, V>(tiles, tile, values, block, |first, width, rows| {
                    owners.add_moments::<T>(1, first, width, rows, sums);
                    if kind == Kind::Swaps {
                        owners.add_heights::<T>(&centers.normals, dimension, first, width, rows);
                    }
                });
                if kind == Kind::Swaps && owners.keep_beyond::<T>(&centers.thresholds, dimension, sums) {
                    for_blocks::<T, V>(tiles, tile, values, block, |first, width, rows| {
                        owners.add_moments::<T>(4 + dimension, first, width, rows, sums);
                    });
                }
            }
        }
    }
}

/// Finds the nearest centre of each row of tile `t` of a group. Returns the squared distances from this centre and from
/// the second nearest centre.
#[inline(always)]
fn nearest_two<T: Real, V: Lanes<Number = T>>(
    values: &[T::Line],
    scores: &[[T::Line; WIDE_GROUP]],
    t: usize,
    nearest: &mut T::Line,
) -> (T::Line, T::Line) {
    let zero = V::splat(T::default());
    let mut square = zero;
    for line in values {
        let x = V::load(line);
        square = x.mul_add(x, square);
    }
    let mut best = V::splat(T::from_f64(f64::INFINITY));
    let (mut second, mut index) = (best, zero);
    for (k, score) in scores.iter().enumerate() {
        let distance = square.sub(V::load(&score[t])).max(zero);
        second = V::select_less(distance, best, best, second.min(distance));
        index = V::select_less(distance, best, V::splat(T::from_f64(k as f64)), index);
        best = distance.min(best);
    }
    index.store(nearest);
    let (mut best_line, mut second_line) = (T::Line::default(), T::Line::default());
    best.store(&mut best_line);
    second.store(&mut second_line);
    (best_line, second_line)
}

/// Adds the rows of a tile to the sums of their centres, lane by lane. A row of weight 0 adds nothing.
struct Owners {
    weights: [f64; MOST_LANES],
    /// The index at which the sums of each row's centre begin.
    starts: [usize; MOST_LANES],
    /// The position of each row along the normal of its centre's plane.
    heights: [f64; MOST_LANES],
    /// The number of sums of a centre.
    per_center: usize,
}

impl Owners {
    #[inline(always)]
    fn of<T: Real>(nearest: &T::Line, weight: &T::Line, per_center: usize) -> Self {
        let (mut weights, mut starts) = ([0.0; MOST_LANES], [0; MOST_LANES]);
        for lane in 0..T::Line::COUNT {
            weights[lane] = weight.lanes()[lane].to_f64();
            starts[lane] = nearest.lanes()[lane].to_f64() as usize * per_center;
        }
        Self { weights, starts, heights: [0.0; MOST_LANES], per_center }
    }

    /// Adds masses and costs. If there are second nearest centres, it also adds the costs of removal.
    #[inline(always)]
    fn add_costs<T: Real>(&self, best: &T::Line, second: Option<&T::Line>, dimension: usize, sums: &mut [f64]) {
        for lane in 0..T::Line::COUNT {
            let weight = self.weights[lane];
            if weight == 0.0 {
                continue;
            }
            let sums = &mut sums[self.starts[lane]..][..self.per_center];
            let distance = best.lanes()[lane].to_f64();
            sums[0] += weight;
            sums[1 + dimension] += weight * distance;
            if let Some(second) = second {
                sums[2 + dimension] += weight * (second.lanes()[lane].to_f64() - distance);
            }
        }
    }

    /// Adds a block of columns to first moments, which begin at index `at` of each centre's sums.
    #[inline(always)]
    fn add_moments<T: Real>(&self, at: usize, first: usize, width: usize, rows: &[T::Line], sums: &mut [f64]) {
        for lane in 0..T::Line::COUNT {
            if self.weights[lane] != 0.0 {
                add_part::<T>(self.weights[lane], &rows[lane], &mut sums[self.starts[lane] + at + first..][..width]);
            }
        }
    }

    /// Adds a block of columns to the heights of the rows along the normals.
    #[inline(always)]
    fn add_heights<T: Real>(&mut self, normals: &[T], dimension: usize, first: usize, width: usize, rows: &[T::Line]) {
        for lane in 0..T::Line::COUNT {
            if self.weights[lane] == 0.0 {
                continue;
            }
            let normal = &normals[self.starts[lane] / self.per_center * dimension + first..][..width];
            for (x, n) in rows[lane].lanes().iter().zip(normal) {
                self.heights[lane] += x.to_f64() * n.to_f64();
            }
        }
    }

    /// Adds the masses of the rows beyond their planes, and gives the other rows weight 0. Returns whether any row is
    /// beyond its plane.
    #[inline(always)]
    fn keep_beyond<T: Real>(&mut self, thresholds: &[T], dimension: usize, sums: &mut [f64]) -> bool {
        let mut any = false;
        for lane in 0..T::Line::COUNT {
            if self.weights[lane] == 0.0 {
                continue;
            }
            if self.heights[lane] > thresholds[self.starts[lane] / self.per_center].to_f64() {
                sums[self.starts[lane] + 3 + dimension] += self.weights[lane];
                any = true;
            } else {
                self.weights[lane] = 0.0;
            }
        }
        any
    }
}

/// Calls `each` with one block of columns after another; a block has as many columns as a line has lanes. The arguments
/// are the first column, the number of columns, and the line of each row of the tile. Lanes after the columns hold
/// arbitrary values.
///
/// There are many sums to add rows to, and each may be a thousand columns long. Block by block, the part of a tile that
/// is in use stays in registers and is not written to memory.
#[inline(always)]
fn for_blocks<T: Real, V: Lanes<Number = T>>(
    tiles: &Tiles<T>,
    tile: usize,
    values: &[T::Line],
    block: &mut [T::Line],
    mut each: impl FnMut(usize, usize, &[T::Line]),
) {
    let (count, dimension) = (T::Line::COUNT, values.len());
    let stride = dimension.div_ceil(count);
    let mut at = 0;
    while at < stride {
        let first = at * count;
        let width = count.min(dimension - first);
        if !tiles.row_major().is_empty() {
            for lane in 0..count {
                block[lane] = tiles.row_major()[(tile * count + lane) * stride + at];
            }
        } else if width == count {
            V::transpose(&values[first..][..count], block);
        } else {
            for (place, line) in values[first..].iter().enumerate() {
                for lane in 0..count {
                    block[lane].lanes_mut()[place] = line.lanes()[lane];
                }
            }
        }
        each(first, width, block);
        at += 1;
    }
}

/// Adds `weight x` to a part of a first moment, in `f64`.
#[inline(always)]
fn add_part<T: Real>(weight: f64, line: &T::Line, moment: &mut [f64]) {
    if moment.len() == T::Line::COUNT {
        // The length is known at compile time.
        for (sum, x) in moment[..T::Line::COUNT].iter_mut().zip(line.lanes()) {
            *sum += weight * x.to_f64();
        }
        return;
    }
    for (sum, x) in moment.iter_mut().zip(line.lanes()) {
        *sum += weight * x.to_f64();
    }
}
