//! Soft and hard assignment of sparse rows, which store only nonzero values, together with the sums for the next
//! centres.
//!
//! Rows are not shifted, because shifting would fill them with values; the centres are shifted instead. Let `o` be the
//! origin (the rows' mean), `c` a centre relative to it, and `l = |x - o|^2` the squared length of a row, which is
//! given. Then:
//!
//! ```text
//! |x - o - c|^2 = l + (|c|^2 + 2 o . c) - sum over nonzero x_j of x_j 2 c_j
//! ```
//!
//! So a row takes one line of 8 centres (16 in single precision) for each of its values, as a row of bits does
//! ([`crate::bits`]). It needs a multiply-add instead of an addition. The sums for the next centres are the transposed
//! product. They are sums of unshifted `x`, from which the caller subtracts the origin's share. So a pass takes `2 K`
//! multiply-adds for each nonzero value, whatever the number of columns.
//!
//! **Accuracy.** The terms that cancel are of size `|x| |c| + |c|^2 + l`, where all but `|x|` are relative to the
//! origin. So the error of a squared distance is some units in the last place of that size. Rows of numbers have the
//! same error, because they are rounded when they are shifted. With `|x|^2 - 2 x . y + |y|^2` relative to 0, the square
//! of the mean's distance from 0 would be lost. If the caller needs an accurate distance, it computes it from
//! differences.

mod rows;

use crate::dispatch::kernel;
use crate::forms::{Forms, GROUP, group_of};
use crate::lanes::{Lanes, Line, Real};
use crate::nearest::Kind;
use crate::soft::{SoftTotals, Sums, finish, shares};

use rows::BEYOND;
pub use rows::SparseRows;

/// The number of rows after which sums in single precision are added to `f64`.
const FLUSH: usize = 256;

/// Centres prepared for one temperature.
#[derive(Clone, Debug, Default)]
pub struct SoftSparseCenters<T: Real> {
    dimension: usize,
    count: usize,
    temperature: f64,
    /// The scores of the centres, in units of ln 2.
    scores: Forms<T>,
    /// The weight of a row's squared length in each score.
    of_length: Vec<T::Line>,
    /// The projections for [`Sums::Along`].
    projections: Forms<T>,
    /// The weight of a row's squared length in its projection: 0.
    nothing: Vec<T::Line>,
}

impl<T: Real> SoftSparseCenters<T> {
    /// Makes room for `count` centres in `dimension` columns at `temperature` (in the squared unit of the rows, above
    /// 0), and for directions if needed.
    ///
    /// # Panics
    /// Panics if `temperature` is not positive.
    pub fn begin(&mut self, dimension: usize, count: usize, temperature: f64, has_directions: bool) {
        assert!(temperature > 0.0, "a positive temperature");
        (self.dimension, self.count, self.temperature) = (dimension, count, temperature);
        self.scores.begin(dimension, count);
        let lines = self.scores.lines;
        for counts in [&mut self.of_length, &mut self.nothing] {
            counts.clear();
            counts.resize(lines, T::Line::default());
        }
        self.projections.begin(if has_directions { dimension } else { 0 }, if has_directions { count } else { 0 });
    }

    /// Sets the position of centre `k` relative to the origin, with `log_prior = ln g_k`; 0 for equal priors.
    ///
    /// # Panics
    /// Panics if there is no room for the centre, or if the centre or the origin does not have one coordinate for each
    /// column.
    pub fn set(&mut self, k: usize, center: &[f64], origin: &[f64], log_prior: f64) {
        assert!(k < self.count && center.len() == self.dimension && origin.len() == self.dimension);
        let scale = std::f64::consts::LOG2_E / self.temperature;
        let constant = log_prior * std::f64::consts::LOG2_E - constant_of(center, origin) * scale;
        self.scores.set(k, constant, center.iter().map(|y| 2.0 * y * scale));
        self.of_length[k / T::Line::COUNT].lanes_mut()[k % T::Line::COUNT] = T::from_f64(-scale);
    }

    /// Sets the direction of centre `k`, for [`Sums::Along`].
    ///
    /// # Panics
    /// Panics if there is no room for the direction, or if lengths disagree.
    pub fn set_direction(&mut self, k: usize, center: &[f64], origin: &[f64], direction: &[f64]) {
        assert!(k < self.count && center.len() == self.dimension && direction.len() == self.dimension);
        assert!(self.projections.lines > 0 && origin.len() == self.dimension, "room for directions");
        let constant = -center.iter().zip(origin).zip(direction).map(|((y, o), u)| (y + o) * u).sum::<f64>();
        self.projections.set(k, constant, direction.iter().copied());
    }

    /// Makes centre `k` a component without a position that is equally far from every row, with
    /// `score = ln g_k - d / T` for all rows. Every row has the position 1 along the direction of this component. So
    /// the sums of the component are mass and first moment, whichever sums are requested.
    ///
    /// # Panics
    /// Panics if there is no room for the component.
    pub fn set_equally_far(&mut self, k: usize, score: f64) {
        assert!(k < self.count);
        self.scores.set(k, score * std::f64::consts::LOG2_E, std::iter::repeat_n(0.0, self.dimension));
        self.of_length[k / T::Line::COUNT].lanes_mut()[k % T::Line::COUNT] = T::default();
        if self.projections.lines > 0 {
            self.projections.set(k, 1.0, std::iter::repeat_n(0.0, self.dimension));
        }
    }

    /// Returns the number of centres.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Centres for hard assignment, optionally with a plane for each that divides its rows.
#[derive(Clone, Debug, Default)]
pub struct HardSparseCenters<T: Real> {
    dimension: usize,
    count: usize,
    distances: Forms<T>,
    of_length: Vec<T::Line>,
    /// The normals of the planes, K x D.
    normals: Vec<f64>,
    thresholds: Vec<f64>,
}

impl<T: Real> HardSparseCenters<T> {
    /// Makes room for `count` centres in `dimension` columns.
    pub fn begin(&mut self, dimension: usize, count: usize) {
        (self.dimension, self.count) = (dimension, count);
        self.distances.begin(dimension, count);
        self.of_length.clear();
        self.of_length.resize(self.distances.lines, T::Line::default());
        self.of_length.iter_mut().for_each(|line| line.lanes_mut().fill(T::from_f64(1.0)));
        self.normals.clear();
        self.thresholds.clear();
    }

    /// Sets the position of centre `k` relative to the origin.
    ///
    /// # Panics
    /// Panics if there is no room for the centre, or if the centre or the origin does not have one coordinate for each
    /// column.
    pub fn set(&mut self, k: usize, center: &[f64], origin: &[f64]) {
        assert!(k < self.count && center.len() == self.dimension && origin.len() == self.dimension);
        self.distances.set(k, constant_of(center, origin), center.iter().map(|y| -2.0 * y));
    }

    /// Adds the plane of the next centre, starting with the first: rows with `(x - origin) . normal > threshold` are
    /// beyond the plane.
    ///
    /// # Panics
    /// Panics if the normal or the origin does not have one coordinate for each column.
    pub fn push_plane(&mut self, normal: &[f64], origin: &[f64], threshold: f64) {
        assert!(normal.len() == self.dimension && origin.len() == self.dimension);
        self.normals.extend_from_slice(normal);
        self.thresholds.push(threshold + normal.iter().zip(origin).map(|(n, o)| n * o).sum::<f64>());
    }

    /// Returns the number of centres.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Returns `|c|^2 + 2 o . c`, the part of a squared distance that depends neither on the row's length nor on its
/// values.
fn constant_of(center: &[f64], origin: &[f64]) -> f64 {
    center.iter().zip(origin).map(|(y, o)| y * (y + 2.0 * o)).sum()
}

/// The buffers of this module's functions, which are reused from block to block so that loops do not allocate.
#[derive(Clone, Debug, Default)]
pub struct SparseScratch<T: Real> {
    /// The scores for as many rows as a line has lanes: row after row, centres side by side.
    said: Vec<T::Line>,
    projections: Vec<T::Line>,
    /// The scores centre by centre, rows side by side.
    scores: Vec<T::Line>,
    /// A line of centres for each column, grouped as in [`Forms::terms`]. All lines are 0 between calls, because a call
    /// resets the columns of its block.
    sums: Vec<T::Line>,
    squares: Vec<f64>,
    nearest: Vec<u32>,
}

impl<T: Real> SparseScratch<T> {
    /// Returns the nearest centre of row `index` of the block in the last call of [`nearest_sparse_sums`].
    pub fn nearest(&self, index: usize) -> usize {
        self.nearest[index] as usize
    }

    /// Returns the sum `sum w m |x - o|^2` of centre `k` over the block in the last call of [`soft_sparse_sums`], which
    /// must not have been for [`Sums::Along`].
    pub fn square(&self, k: usize) -> f64 {
        self.squares[k]
    }
}

/// Adds the sums of one block to `sums` (K x [`Sums::len`]): mass and first moment of the unshifted rows. For
/// [`Sums::Along`], `p` is relative to the origin, but `x` is not.
///
/// Cost: values x K x 2 multiply-adds, rows x K exponentials. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, if second moments are requested, or if directions are requested
/// without room for them.
///
/// # Example
/// ```
/// use lehr_numerics::{soft::Sums, sparse::{SparseRows, SparseScratch, SoftSparseCenters, soft_sparse_sums}};
/// let entries: [(&[u32], &[f64]); 2] = [(&[0], &[2.0]), (&[0, 2], &[2.0, 1.0])];
/// let origin = [2.0, 0.0, 0.5];
/// let rows = SparseRows::<f64>::new(2, 3, 1.0, |i| entries[i], |_| 0.25, |_| 1.0);
/// let mut centers = SoftSparseCenters::default();
/// centers.begin(3, 1, 2.0, false);
/// centers.set(0, &[0.0, 1.0, 0.0], &origin, 0.0);
/// let mut sums = [0.0; 4];
/// let totals = soft_sparse_sums(&rows, &centers, Sums::First, &mut SparseScratch::default(), &mut sums);
/// assert_eq!(sums, [2.0, 4.0, 0.0, 1.0]); // all the mass, and the sum of each column
/// assert!((totals.free_energy - 2.5).abs() < 1e-12); // one centre: the sum of squared distances
/// ```
pub fn soft_sparse_sums<T: Real>(
    rows: &SparseRows<T>,
    centers: &SoftSparseCenters<T>,
    kind: Sums,
    scratch: &mut SparseScratch<T>,
    sums: &mut [f64],
) -> SoftTotals {
    assert!(kind != Sums::Second, "second moments of sparse rows are not formed: products along a direction instead");
    assert!(!centers.is_empty(), "at least one centre");
    assert_eq!(rows.dimension, centers.dimension);
    assert_eq!(sums.len(), centers.count * kind.len(rows.dimension));
    let lines = centers.scores.lines;
    scratch.scores.resize(centers.count, T::Line::default());
    scratch.said.resize(T::Line::COUNT * lines, T::Line::default());
    scratch.squares.clear();
    scratch.squares.resize(centers.count, 0.0);
    let room = (rows.dimension + BEYOND) * lines;
    if scratch.sums.len() != room {
        scratch.sums.clear();
        scratch.sums.resize(room, T::Line::default());
    }
    let (log_sum, softness) = if kind == Sums::Along {
        assert_eq!(centers.projections.lines, lines, "directions");
        scratch.projections.resize(lines, T::Line::default());
        soft::<T, true>(rows, centers, scratch, sums)
    } else {
        soft::<T, false>(rows, centers, scratch, sums)
    };
    SoftTotals { free_energy: -centers.temperature * std::f64::consts::LN_2 * log_sum, softness }
}

/// Adds the sums of one block to `sums` (K x [`Kind::len`]). Each row belongs to its nearest centre, or to the first of
/// several equally near centres. Moments are relative to 0, because rows are not shifted.
///
/// Cost: values x (K + 1) multiply-adds. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, or if planes are missing for [`Kind::Swaps`].
///
/// # Example
/// ```
/// use lehr_numerics::{nearest::Kind, sparse::{HardSparseCenters, SparseRows, SparseScratch, nearest_sparse_sums}};
/// let entries: [(&[u32], &[f64]); 2] = [(&[], &[]), (&[1], &[3.0])];
/// let origin = [0.0, 1.5];
/// let rows = SparseRows::<f64>::new(2, 2, 1.0, |i| entries[i], |_| 2.25, |_| 1.0);
/// let mut centers = HardSparseCenters::default();
/// centers.begin(2, 2);
/// centers.set(0, &[0.0, -1.5], &origin);
/// centers.set(1, &[1.0, 1.5], &origin);
/// let mut sums = [0.0; 8];
/// let mut scratch = SparseScratch::default();
/// nearest_sparse_sums(&rows, &centers, Kind::Centers, &mut scratch, &mut sums);
/// assert_eq!(sums, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 3.0, 1.0]); // mass, the sum of each column, cost
/// assert_eq!(scratch.nearest(1), 1);
/// ```
pub fn nearest_sparse_sums<T: Real>(
    rows: &SparseRows<T>,
    centers: &HardSparseCenters<T>,
    kind: Kind,
    scratch: &mut SparseScratch<T>,
    sums: &mut [f64],
) {
    assert!(!centers.is_empty() && u32::try_from(centers.count).is_ok(), "1 to 2^32 - 1 centres");
    assert_eq!(rows.dimension, centers.dimension);
    assert_eq!(sums.len(), centers.count * kind.len(rows.dimension));
    assert!(kind == Kind::Centers || centers.thresholds.len() == centers.count, "a plane for each centre");
    scratch.said.resize(centers.distances.lines, T::Line::default());
    scratch.nearest.clear();
    nearest(rows, centers, kind, scratch, sums);
}

/// Writes the squared distance of each row from each centre to `out` (rows x K). No value is below 0.
///
/// Cost: values x K multiply-adds. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, or if there is no centre.
pub fn sparse_distances<T: Real>(
    rows: &SparseRows<T>,
    centers: &HardSparseCenters<T>,
    scratch: &mut SparseScratch<T>,
    out: &mut [f64],
) {
    assert!(!centers.is_empty(), "at least one centre");
    assert_eq!(rows.dimension, centers.dimension);
    assert_eq!(out.len(), rows.rows() * centers.count);
    scratch.said.resize(centers.distances.lines, T::Line::default());
    distances(rows, centers, scratch, out);
}

kernel! {
    fn soft[T; V; const ALONG: bool](rows: &SparseRows<T>, centers: &SoftSparseCenters<T>, scratch: &mut SparseScratch<T>, sums: &mut [f64]) -> (f64, f64) {
        let (lanes, lines, dimension) = (T::Line::COUNT, centers.scores.lines, rows.dimension);
        let SparseScratch { said, projections, scores, sums: columns, squares, .. } = scratch;
        let said = &mut said[..lanes * lines];
        let (scores, _) = scores[..centers.count].as_chunks_mut::<1>();
        let mut totals = [V::splat(T::default()); 2];
        // In double precision, sums need not be moved to `f64`.
        let most_rows = if T::EPSILON < 1e-12 { usize::MAX } else { FLUSH };
        let (mut first, mut since) = (0, 0);
        while first < rows.rows() {
            let present = lanes.min(rows.rows() - first);
            let mut weights = T::Line::default();
            for lane in 0..present {
                let (row_columns, row_values) = rows.entries(first + lane);
                let length = rows.lengths[first + lane];
                add_up::<T, V>(&centers.scores, &centers.of_length, row_columns, row_values, length, &mut said[lane * lines..][..lines]);
                weights.lanes_mut()[lane] = T::from_f64(rows.weights[first + lane]);
            }
            // Rows are side by side in a line, as in every other kernel. A lane without a row has weight 0, and its
            // scores are arbitrary.
            let mut most = V::splat(T::from_f64(f64::NEG_INFINITY));
            for (k, score) in scores.iter_mut().enumerate() {
                for lane in 0..present {
                    score[0].lanes_mut()[lane] = said[lane * lines + k / lanes].lanes()[k % lanes];
                }
                most = V::load(&score[0]).max(most);
            }
            let share = shares::<T, V, 1>(scores, std::slice::from_ref(&weights), [most], &mut totals);
            for (k, score) in scores.iter_mut().enumerate() {
                V::load(&score[0]).mul(share[0]).store(&mut score[0]);
                for lane in 0..present {
                    said[lane * lines + k / lanes].lanes_mut()[k % lanes] = score[0].lanes()[lane];
                }
            }
            for lane in 0..present {
                let (row_columns, row_values) = rows.entries(first + lane);
                let length = rows.lengths[first + lane];
                let members = &mut said[lane * lines..][..lines];
                if ALONG {
                    add_up::<T, V>(&centers.projections, &centers.nothing, row_columns, row_values, length, projections);
                    for (member, projection) in members.iter_mut().zip(projections.iter()) {
                        V::load(member).mul(V::load(projection)).store(member);
                    }
                }
                add_to_columns::<T, V>(row_columns, row_values, length, members, columns);
            }
            first += present;
            since += present;
            if since >= most_rows || first == rows.rows() {
                flush::<T>(columns, &rows.used, dimension, lines, sums, squares);
                since = 0;
            }
        }
        finish(totals)
    }
}

kernel! {
    fn nearest[T; V](rows: &SparseRows<T>, centers: &HardSparseCenters<T>, kind: Kind, scratch: &mut SparseScratch<T>, sums: &mut [f64]) {
        let (lanes, lines, dimension) = (T::Line::COUNT, centers.distances.lines, rows.dimension);
        let per_center = kind.len(dimension);
        let SparseScratch { said, nearest, .. } = scratch;
        let said = &mut said[..lines];
        for index in 0..rows.rows() {
            let (columns, values) = rows.entries(index);
            add_up::<T, V>(&centers.distances, &centers.of_length, columns, values, rows.lengths[index], said);
            let (mut own, mut best, mut second) = (0, f64::INFINITY, f64::INFINITY);
            for k in 0..centers.count {
                // Rounding may make a distance of 0 negative.
                let distance = said[k / lanes].lanes()[k % lanes].to_f64().max(0.0);
                if distance < best {
                    (own, second, best) = (k, best, distance);
                } else if distance < second {
                    second = distance;
                }
            }
            nearest.push(own as u32);
            let weight = rows.weights[index];
            if weight == 0.0 {
                continue;
            }
            let sums = &mut sums[own * per_center..][..per_center];
            sums[0] += weight;
            sums[1 + dimension] += weight * best;
            add_row(columns, values, weight, &mut sums[1..][..dimension]);
            if kind == Kind::Swaps {
                // With a single centre, there is no second nearest centre, so there is no cost of removal to add.
                if centers.count > 1 {
                    sums[2 + dimension] += weight * (second - best);
                }
                let normal = &centers.normals[own * dimension..][..dimension];
                let mut height = 0.0;
                for (&column, &value) in columns.iter().zip(values) {
                    height += normal[column as usize] * value.to_f64();
                }
                if height > centers.thresholds[own] {
                    sums[3 + dimension] += weight;
                    add_row(columns, values, weight, &mut sums[4 + dimension..][..dimension]);
                }
            }
        }
    }
}

kernel! {
    fn distances[T; V](rows: &SparseRows<T>, centers: &HardSparseCenters<T>, scratch: &mut SparseScratch<T>, out: &mut [f64]) {
        let (lanes, lines) = (T::Line::COUNT, centers.distances.lines);
        let said = &mut scratch.said[..lines];
        for (index, out) in out.chunks_exact_mut(centers.count).enumerate() {
            let (columns, values) = rows.entries(index);
            add_up::<T, V>(&centers.distances, &centers.of_length, columns, values, rows.lengths[index], said);
            for (k, out) in out.iter_mut().enumerate() {
                *out = said[k / lanes].lanes()[k % lanes].to_f64().max(0.0);
            }
        }
    }
}

/// Adds a weighted row to moments.
#[inline(always)]
fn add_row<T: Real>(columns: &[u32], values: &[T], weight: f64, moments: &mut [f64]) {
    for (&column, &value) in columns.iter().zip(values) {
        moments[column as usize] += weight * value.to_f64();
    }
}

/// Writes the values of all forms in a row to `out`; `of_length` has the weights of its squared length.
#[inline(always)]
fn add_up<T: Real, V: Lanes<Number = T>>(
    forms: &Forms<T>,
    of_length: &[T::Line],
    columns: &[u32],
    values: &[T],
    length: T,
    out: &mut [T::Line],
) {
    let mut from = 0;
    while from < forms.lines {
        match forms.lines - from {
            1 => add_up_of::<T, V, 1, 8>(forms, of_length, columns, values, length, from, out),
            2 => add_up_of::<T, V, 2, 4>(forms, of_length, columns, values, length, from, out),
            3 => add_up_of::<T, V, 3, 2>(forms, of_length, columns, values, length, from, out),
            _ => add_up_of::<T, V, GROUP, 2>(forms, of_length, columns, values, length, from, out),
        }
        from += GROUP;
    }
}

/// Adds up N lines of centres. The values are added to C sums alternately, because multiply-adds to a single sum would
/// wait for each other.
#[inline(always)]
fn add_up_of<T: Real, V: Lanes<Number = T>, const N: usize, const C: usize>(
    forms: &Forms<T>,
    of_length: &[T::Line],
    columns: &[u32],
    values: &[T],
    length: T,
    from: usize,
    out: &mut [T::Line],
) {
    let (terms, _) = forms.terms[forms.columns * from..][..forms.columns * N].as_chunks::<N>();
    let mut sums = [[V::splat(T::default()); N]; C];
    let (groups, rest) = columns.as_chunks::<C>();
    let (groups_of_values, rest_of_values) = values.as_chunks::<C>();
    for (group, numbers) in groups.iter().zip(groups_of_values) {
        for c in 0..C {
            let (terms, x) = (&terms[group[c] as usize], V::splat(numbers[c]));
            for n in 0..N {
                sums[c][n] = x.mul_add(V::load(&terms[n]), sums[c][n]);
            }
        }
    }
    for (&column, &value) in rest.iter().zip(rest_of_values) {
        let (terms, x) = (&terms[column as usize], V::splat(value));
        for n in 0..N {
            sums[0][n] = x.mul_add(V::load(&terms[n]), sums[0][n]);
        }
    }
    let mut half = C / 2;
    while half > 0 {
        for c in 0..half {
            for n in 0..N {
                sums[c][n] = sums[c][n].add(sums[c + half][n]);
            }
        }
        half /= 2;
    }
    let length = V::splat(length);
    for n in 0..N {
        let beside = length.mul_add(V::load(&of_length[from + n]), V::load(&forms.constants[from + n]));
        sums[0][n].add(beside).store(&mut out[from + n]);
    }
}

/// Adds a row's lines of centres, times its values, to the lines of its columns, then to the two additional columns.
#[inline(always)]
fn add_to_columns<T: Real, V: Lanes<Number = T>>(
    columns: &[u32],
    values: &[T],
    length: T,
    members: &[T::Line],
    sums: &mut [T::Line],
) {
    let mut from = 0;
    while from < members.len() {
        match members.len() - from {
            1 => add_to_columns_of::<T, V, 1>(columns, values, length, members, from, sums),
            2 => add_to_columns_of::<T, V, 2>(columns, values, length, members, from, sums),
            3 => add_to_columns_of::<T, V, 3>(columns, values, length, members, from, sums),
            _ => add_to_columns_of::<T, V, GROUP>(columns, values, length, members, from, sums),
        }
        from += GROUP;
    }
}

#[inline(always)]
fn add_to_columns_of<T: Real, V: Lanes<Number = T>, const N: usize>(
    columns: &[u32],
    values: &[T],
    length: T,
    members: &[T::Line],
    from: usize,
    sums: &mut [T::Line],
) {
    let count = sums.len() / members.len();
    let (sums, _) = sums[count * from..][..count * N].as_chunks_mut::<N>();
    let mut member = [V::splat(T::default()); N];
    for n in 0..N {
        member[n] = V::load(&members[from + n]);
    }
    for (&column, &value) in columns.iter().zip(values) {
        let (sums, x) = (&mut sums[column as usize], V::splat(value));
        for n in 0..N {
            member[n].mul_add(x, V::load(&sums[n])).store(&mut sums[n]);
        }
    }
    let length = V::splat(length);
    let [lengths, masses] = &mut sums[count - BEYOND..] else { return };
    for n in 0..N {
        member[n].mul_add(length, V::load(&lengths[n])).store(&mut lengths[n]);
        member[n].add(V::load(&masses[n])).store(&mut masses[n]);
    }
}

/// Adds the sums of columns to `sums` (K x (1 + D), masses first) and `squares`, and resets them to 0.
#[inline(always)]
fn flush<T: Real>(
    columns: &mut [T::Line],
    used: &[u32],
    dimension: usize,
    lines: usize,
    sums: &mut [f64],
    squares: &mut [f64],
) {
    let (lanes, per_center) = (T::Line::COUNT, 1 + dimension);
    for line in 0..lines {
        let (from, width) = group_of(line, lines);
        let group = &mut columns[(dimension + BEYOND) * from..][..(dimension + BEYOND) * width];
        let first = line * lanes;
        let present = lanes.min(squares.len() - first);
        for &column in used {
            let held = std::mem::take(&mut group[column as usize * width + line - from]);
            for (lane, number) in held.lanes()[..present].iter().enumerate() {
                sums[(first + lane) * per_center + 1 + column as usize] += number.to_f64();
            }
        }
        let square = std::mem::take(&mut group[dimension * width + line - from]);
        let mass = std::mem::take(&mut group[(dimension + 1) * width + line - from]);
        for lane in 0..present {
            squares[first + lane] += square.lanes()[lane].to_f64();
            sums[(first + lane) * per_center] += mass.lanes()[lane].to_f64();
        }
    }
}
