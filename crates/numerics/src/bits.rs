//! Soft and hard assignment of rows of bits, 64 columns in a word, with the sums from which the next centres are
//! computed.
//!
//! For a row `x` of zeros and ones and a centre `y`, `|x - y|^2 = |y|^2 + sum over the set bits j of (1 - 2 y_j)`. So
//! only the positions of a row's set bits matter. Centres are stored side by side: for each column, a line holds
//! `1 - 2 y_j` of 8 centres (16 in single precision). For each row, the lines of its set bits are added up. The sums
//! for the next centres are the transposed product. A row's memberships, in lines of 8 (16) centres, are added to the
//! lines of its set bits. For each centre, a product takes one addition per set bit; rows of numbers take one
//! multiply-add per column.
//!
//! Scores and sums mean the same as in [`crate::soft`] and [`crate::nearest`], and have the same values except for
//! rounding. Centres, directions and planes are in the coordinates of the bits, 0 and 1.

mod known;
mod rough;
mod rows;
mod walks;

use crate::dispatch::kernel;
use crate::forms::Forms;
use crate::lanes::{Line, Real};
use crate::nearest::Kind;
use crate::soft::{SoftTotals, Sums, finish, shares};

use known::Slack;
pub use known::{Known, Moves, assign_known_bits, changes_of_known_bits, sums_of_known_bits};
use rough::RoughForms;
pub use rows::{BitRows, for_each_set_bit};
use walks::{ROWS, Walks};

/// The number of rows after which sums in the rows' precision are added to `f64`; a multiple of [`ROWS`].
const FLUSH: usize = 2 * ROWS;
/// The number of columns whose lines are split into lanes together.
const AT_ONCE: usize = 16;

/// Centres prepared for one temperature.
#[derive(Clone, Debug, Default)]
pub struct SoftBitCenters<T: Real> {
    bits: usize,
    count: usize,
    temperature: f64,
    /// The scores of the centres, in units of ln 2.
    scores: Forms<T>,
    /// The projections for [`Sums::Along`].
    projections: Forms<T>,
}

impl<T: Real> SoftBitCenters<T> {
    /// Makes room for `count` centres of `bits` columns at `temperature` (in squared bits, above 0), and for directions
    /// if needed.
    ///
    /// # Panics
    /// Panics if `temperature` is not positive.
    pub fn begin(&mut self, bits: usize, count: usize, temperature: f64, has_directions: bool) {
        assert!(temperature > 0.0, "a positive temperature");
        (self.bits, self.count, self.temperature) = (bits, count, temperature);
        // Walks are filled up with one additional column, in which no row has a bit.
        self.scores.begin_line_by_line(bits + 1, count);
        self.projections.begin_line_by_line(bits + 1, if has_directions { count } else { 0 });
    }

    /// Sets the position of centre `k`, with `log_prior = ln g_k`; 0 for equal priors.
    ///
    /// # Panics
    /// Panics if there is no room for the centre, or if it does not have one coordinate for each column.
    pub fn set(&mut self, k: usize, center: &[f64], log_prior: f64) {
        assert!(center.len() == self.bits);
        self.set_form(k, center.iter().map(|y| y * y).sum(), center.iter().map(|y| 1.0 - 2.0 * y), log_prior);
    }

    /// Sets the cost of rows in component `k`, if it is not a squared distance. The cost is `constant` plus the `terms`
    /// of the columns whose bits are set.
    ///
    /// # Panics
    /// Panics if there is no room for the component.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::{bits::{BitRows, BitScratch, SoftBitCenters, soft_bit_sums}, soft::Sums};
    /// let rows = BitRows::new(1, 2, |_| &[0b10], |_| 1.0);
    /// let mut centers = SoftBitCenters::<f64>::default();
    /// centers.begin(2, 1, 1.0, false);
    /// centers.set_form(0, 3.0, [5.0, -1.0].into_iter(), 0.0);
    /// let totals = soft_bit_sums(&rows, &centers, Sums::First, &mut BitScratch::default(), &mut [0.0; 3]);
    /// assert!((totals.free_energy - 2.0).abs() < 1e-12);
    /// ```
    pub fn set_form(&mut self, k: usize, constant: f64, terms: impl Iterator<Item = f64>, log_prior: f64) {
        assert!(k < self.count);
        let scale = std::f64::consts::LOG2_E / self.temperature;
        let constant = log_prior * std::f64::consts::LOG2_E - constant * scale;
        self.scores.set(k, constant, terms.map(|term| -term * scale));
    }

    /// Sets the direction of centre `k`, for [`Sums::Along`].
    ///
    /// # Panics
    /// Panics if there is no room for the direction, or if lengths disagree.
    pub fn set_direction(&mut self, k: usize, center: &[f64], direction: &[f64]) {
        assert!(k < self.count && center.len() == self.bits && direction.len() == self.bits);
        assert!(self.projections.lines > 0, "room for directions");
        let constant = -center.iter().zip(direction).map(|(y, u)| y * u).sum::<f64>();
        self.projections.set(k, constant, direction.iter().copied());
    }

    /// Makes centre `k` a component without a position that is equally far from every row, with
    /// `score = ln g_k - d / T` for all rows. Every row has the position 1 along the direction of this component. So
    /// the sums of the component are mass and first moment, whichever sums are requested.
    ///
    /// # Panics
    /// Panics if there is no room for the component.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::{bits::{BitRows, BitScratch, SoftBitCenters, soft_bit_sums}, soft::Sums};
    /// let words = [[0b01], [0b11]];
    /// let rows = BitRows::new(2, 2, |i| &words[i], |_| 1.0);
    /// let mut centers = SoftBitCenters::<f64>::default();
    /// centers.begin(2, 2, 1e-3, false);
    /// centers.set(0, &[1.0, 0.0], 0.0);
    /// centers.set_equally_far(1, -0.5 / 1e-3);
    /// let mut sums = [0.0; 6];
    /// soft_bit_sums(&rows, &centers, Sums::First, &mut BitScratch::default(), &mut sums);
    /// // The row that is farther from the only centre, at a squared distance of 1 where the component is at 0.5, is in the component.
    /// assert!((sums[0] - 1.0).abs() < 1e-12 && (sums[3] - 1.0).abs() < 1e-12 && (sums[5] - 1.0).abs() < 1e-12);
    /// ```
    pub fn set_equally_far(&mut self, k: usize, score: f64) {
        assert!(k < self.count);
        self.scores.set(k, score * std::f64::consts::LOG2_E, std::iter::repeat_n(0.0, self.bits));
        if self.projections.lines > 0 {
            self.projections.set(k, 1.0, std::iter::repeat_n(0.0, self.bits));
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
pub struct HardBitCenters<T: Real> {
    bits: usize,
    count: usize,
    distances: Forms<T>,
    /// The distances centre by centre, for rows that are compared with a single centre. There are K constants
    /// and `K x (D + 1)` terms.
    constants: Vec<T>,
    terms: Vec<T>,
    /// The distances once more, to decide most comparisons with a single centre.
    rough: RoughForms<f32>,
    /// The normals of the planes, K x D.
    normals: Vec<f64>,
    thresholds: Vec<f64>,
}

impl<T: Real> HardBitCenters<T> {
    /// Makes room for `count` centres of `bits` columns.
    pub fn begin(&mut self, bits: usize, count: usize) {
        (self.bits, self.count) = (bits, count);
        self.distances.begin_line_by_line(bits + 1, count);
        self.constants.resize(count, T::default());
        // The term of the additional, empty column is 0.
        self.terms.clear();
        self.terms.resize(count * (bits + 1), T::default());
        self.rough.begin(bits, count);
        self.normals.clear();
        self.thresholds.clear();
    }

    /// Sets the position of centre `k`.
    ///
    /// # Panics
    /// Panics if there is no room for the centre, or if it does not have one coordinate for each column.
    pub fn set(&mut self, k: usize, center: &[f64]) {
        assert!(center.len() == self.bits);
        self.set_form(k, center.iter().map(|y| y * y).sum(), center.iter().map(|y| 1.0 - 2.0 * y));
    }

    /// Sets the cost of rows in centre `k`, if it is not a squared distance. The cost is `constant` plus the `terms` of
    /// the columns whose bits are set.
    ///
    /// # Panics
    /// Panics if there is no room for the centre.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::{bits::{BitRows, BitScratch, HardBitCenters, nearest_bit_sums}, nearest::Kind};
    /// let rows = BitRows::new(1, 2, |_| &[0b10], |_| 1.0);
    /// let mut centers = HardBitCenters::<f64>::default();
    /// centers.begin(2, 1);
    /// centers.set_form(0, 3.0, [5.0, -1.0].into_iter());
    /// let mut sums = [0.0; 4];
    /// nearest_bit_sums(&rows, &centers, Kind::Centers, &mut BitScratch::default(), &mut sums);
    /// assert_eq!(sums, [1.0, 0.0, 1.0, 2.0]); // mass, how often each bit is set, cost
    /// ```
    pub fn set_form(&mut self, k: usize, constant: f64, terms: impl Iterator<Item = f64>) {
        assert!(k < self.count);
        self.constants[k] = T::from_f64(constant);
        let own = &mut self.terms[k * (self.bits + 1)..][..self.bits];
        own.iter_mut().zip(terms).for_each(|(own, term)| *own = T::from_f64(term));
        self.distances.set(k, constant, own.iter().map(|term| term.to_f64()));
        self.rough.set(k, constant, own.iter().map(|term| term.to_f64()));
    }

    /// Adds the plane of the next centre, starting with the first: rows with `x . normal > threshold` are beyond the
    /// plane.
    ///
    /// # Panics
    /// Panics if the normal does not have one coordinate for each column.
    pub fn push_plane(&mut self, normal: &[f64], threshold: f64) {
        assert_eq!(normal.len(), self.bits);
        self.normals.extend_from_slice(normal);
        self.thresholds.push(threshold);
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

/// The buffers of this module's functions, which are reused from block to block so that loops do not allocate.
#[derive(Clone, Debug, Default)]
pub struct BitScratch<T: Real> {
    walks: Walks,
    /// Values of centres for the rows that are walked together: one line of centres for all rows, then the next line.
    values: Vec<T::Line>,
    projections: Vec<T::Line>,
    /// The scores centre by centre; a line holds as many rows as it has lanes.
    scores: Vec<T::Line>,
    /// One line of centres for all columns and for the additional, empty column, then the next line.
    sums: Vec<T::Line>,
    /// The masses, in lines of centres.
    masses: Vec<T::Line>,
    nearest: Vec<u32>,
    /// Upper bounds on the rounding error of the squared distance from each centre, and of the rough one.
    slack: Vec<Slack>,
    /// The rows to which other centres may be as near as their own centre.
    near: Vec<usize>,
    /// Of these rows, those that rough distances do not decide.
    unsure: Vec<usize>,
    /// The bounds of a row on the distances of the centres that have moved.
    fresh: Vec<f32>,
    /// The positions of the set bits of one row.
    set: Vec<u32>,
}

impl<T: Real> BitScratch<T> {
    /// Returns the number of rows that bounds did not keep from a comparison in the last call of
    /// [`assign_known_bits`].
    #[cfg(test)]
    pub(crate) fn compared(&self) -> usize {
        self.near.len()
    }

    /// Returns the nearest centre of row `index` of the block in the last call of [`nearest_bit_sums`].
    pub fn nearest(&self, index: usize) -> usize {
        self.nearest[index] as usize
    }
}

/// Adds the sums of one block to `sums` (K x [`Sums::len`]): mass and first moment of the bits, or the sums of
/// [`Sums::Along`].
///
/// Cost: set bits x K x 2 additions, rows x K exponentials. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, if second moments are requested, or if directions are requested
/// without room for them.
///
/// # Example
/// ```
/// use lehr_numerics::{bits::{BitRows, BitScratch, SoftBitCenters, soft_bit_sums}, soft::Sums};
/// let words = [[0b001], [0b101]];
/// let rows = BitRows::new(2, 3, |i| &words[i], |_| 1.0);
/// let mut centers = SoftBitCenters::<f64>::default();
/// centers.begin(3, 1, 2.0, false);
/// centers.set(0, &[1.0, 0.0, 0.5], 0.0);
/// let mut sums = [0.0; 4];
/// let totals = soft_bit_sums(&rows, &centers, Sums::First, &mut BitScratch::default(), &mut sums);
/// assert_eq!(sums, [2.0, 2.0, 0.0, 1.0]); // all the mass, and how often each bit is set
/// assert!((totals.free_energy - 0.5).abs() < 1e-12); // one centre: the sum of squared distances
/// ```
pub fn soft_bit_sums<T: Real>(
    rows: &BitRows,
    centers: &SoftBitCenters<T>,
    kind: Sums,
    scratch: &mut BitScratch<T>,
    sums: &mut [f64],
) -> SoftTotals {
    assert!(kind != Sums::Second, "second moments of bits are not formed: products along a direction instead");
    assert!(!centers.is_empty(), "at least one centre");
    assert_eq!(rows.bits, centers.bits);
    assert_eq!(sums.len(), centers.count * kind.len(rows.bits));
    scratch.scores.resize(centers.count, T::Line::default());
    scratch.values.resize(ROWS.min(rows.rows()) * centers.scores.lines, T::Line::default());
    scratch.walks.begin(rows);
    let (log_sum, softness) = if kind == Sums::Along {
        assert_eq!(centers.projections.lines, centers.scores.lines, "directions");
        scratch.projections.resize(scratch.values.len(), T::Line::default());
        soft::<T, true>(rows, centers, scratch, sums)
    } else {
        soft::<T, false>(rows, centers, scratch, sums)
    };
    SoftTotals { free_energy: -centers.temperature * std::f64::consts::LN_2 * log_sum, softness }
}

/// Adds the sums of one block to `sums` (K x [`Kind::len`]). Each row belongs to its nearest centre, or to the first of
/// several equally near centres.
///
/// Cost: set bits x (K + 1) additions. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, or if planes are missing for [`Kind::Swaps`].
///
/// # Example
/// ```
/// use lehr_numerics::{bits::{BitRows, BitScratch, HardBitCenters, nearest_bit_sums}, nearest::Kind};
/// let words = [[0b00], [0b11], [0b01]];
/// let rows = BitRows::new(3, 2, |i| &words[i], |_| 1.0);
/// let mut centers = HardBitCenters::<f64>::default();
/// centers.begin(2, 2);
/// centers.set(0, &[0.0, 0.0]);
/// centers.set(1, &[1.0, 0.5]);
/// let mut sums = [0.0; 8];
/// let mut scratch = BitScratch::default();
/// nearest_bit_sums(&rows, &centers, Kind::Centers, &mut scratch, &mut sums);
/// assert_eq!(sums, [1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 1.0, 0.5]); // mass, how often each bit is set, cost
/// assert_eq!(scratch.nearest(2), 1);
/// ```
pub fn nearest_bit_sums<T: Real>(
    rows: &BitRows,
    centers: &HardBitCenters<T>,
    kind: Kind,
    scratch: &mut BitScratch<T>,
    sums: &mut [f64],
) {
    assert!(!centers.is_empty() && u32::try_from(centers.count).is_ok(), "1 to 2^32 - 1 centres");
    assert_eq!(rows.bits, centers.bits);
    assert_eq!(sums.len(), centers.count * kind.len(rows.bits));
    assert!(kind == Kind::Centers || centers.thresholds.len() == centers.count, "a plane for each centre");
    scratch.values.resize(ROWS.min(rows.rows()) * centers.distances.lines, T::Line::default());
    scratch.walks.begin(rows);
    scratch.nearest.clear();
    nearest(rows, centers, kind, scratch, sums);
}

/// Writes the squared distance of each row from each centre, or its cost there, to `out` (rows x K). No value is below
/// 0.
///
/// Cost: set bits x K additions. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, or if there is no centre.
///
/// # Example
/// ```
/// use lehr_numerics::bits::{BitRows, BitScratch, HardBitCenters, bit_distances};
/// let words = [[0b00], [0b11]];
/// let rows = BitRows::new(2, 2, |i| &words[i], |_| 1.0);
/// let mut centers = HardBitCenters::<f64>::default();
/// centers.begin(2, 2);
/// centers.set(0, &[0.0, 0.0]);
/// centers.set(1, &[1.0, 0.5]);
/// let mut distances = [0.0; 4];
/// bit_distances(&rows, &centers, &mut BitScratch::default(), &mut distances);
/// assert_eq!(distances, [0.0, 1.25, 2.0, 0.25]);
/// ```
pub fn bit_distances<T: Real>(
    rows: &BitRows,
    centers: &HardBitCenters<T>,
    scratch: &mut BitScratch<T>,
    out: &mut [f64],
) {
    assert!(!centers.is_empty(), "at least one centre");
    assert_eq!(rows.bits, centers.bits);
    assert_eq!(out.len(), rows.rows() * centers.count);
    scratch.values.resize(ROWS.min(rows.rows()) * centers.distances.lines, T::Line::default());
    scratch.walks.begin(rows);
    distances(rows, centers, scratch, out);
}

kernel! {
    fn soft[T; V; const ALONG: bool](rows: &BitRows, centers: &SoftBitCenters<T>, scratch: &mut BitScratch<T>, sums: &mut [f64]) -> (f64, f64) {
        let (lanes, lines) = (T::Line::COUNT, centers.scores.lines);
        let BitScratch { walks, values, projections, scores, sums: columns, masses, .. } = scratch;
        let (scores, _) = scores[..centers.count].as_chunks_mut::<1>();
        // Memory that was used before has been reset to 0, and new memory is 0 too.
        columns.resize((rows.bits + 1) * lines, T::Line::default());
        masses.resize(lines, T::Line::default());
        let mut totals = [V::splat(T::default()); 2];
        let mut first = 0;
        while first < rows.rows() {
            let together = ROWS.min(rows.rows() - first);
            let values = &mut values[..together * lines];
            walks.find(rows, first..first + together);
            walks.add_up::<T, V>(&centers.scores, values);
            let mut start = 0;
            while start < together {
                let present = lanes.min(together - start);
                let mut weights = T::Line::default();
                for (weight, row) in weights.lanes_mut()[..present].iter_mut().zip(first + start..) {
                    *weight = T::from_f64(rows.weights[row]);
                }
                // Rows are side by side in a line, as in every other kernel. A lane without a row has weight 0, and its
                // scores are arbitrary. Lanes that were written one by one are read as a line in a later loop, because
                // an immediate read would have to wait for them.
                for (k, score) in scores.iter_mut().enumerate() {
                    let values = &values[together * (k / lanes) + start..][..present];
                    for (score, value) in score[0].lanes_mut().iter_mut().zip(values) {
                        *score = value.lanes()[k % lanes];
                    }
                }
                let mut most = V::splat(T::from_f64(f64::NEG_INFINITY));
                for score in scores.iter() {
                    most = V::load(&score[0]).max(most);
                }
                let share = shares::<T, V, 1>(scores, std::slice::from_ref(&weights), [most], &mut totals);
                for score in scores.iter_mut() {
                    V::load(&score[0]).mul(share[0]).store(&mut score[0]);
                }
                for (k, score) in scores.iter().enumerate() {
                    let values = &mut values[together * (k / lanes) + start..][..present];
                    for (score, value) in score[0].lanes().iter().zip(values) {
                        value.lanes_mut()[k % lanes] = *score;
                    }
                }
                start += present;
            }
            if ALONG {
                let projections = &mut projections[..values.len()];
                walks.add_up::<T, V>(&centers.projections, projections);
                for (member, projection) in values.iter_mut().zip(projections.iter()) {
                    V::load(member).mul(V::load(projection)).store(member);
                }
            }
            for (mass, members) in masses.iter_mut().zip(values.chunks_exact(together)) {
                let mut sum = V::load(mass);
                for member in members {
                    sum = sum.add(V::load(member));
                }
                sum.store(mass);
            }
            walks.add_to_columns::<T, V>(values, columns);
            first += together;
            if first % FLUSH == 0 || first == rows.rows() {
                flush::<T>(columns, masses, rows.bits, sums);
            }
        }
        finish(totals)
    }
}

kernel! {
    fn nearest[T; V](rows: &BitRows, centers: &HardBitCenters<T>, kind: Kind, scratch: &mut BitScratch<T>, sums: &mut [f64]) {
        let (lanes, lines, per_center) = (T::Line::COUNT, centers.distances.lines, kind.len(rows.bits));
        let BitScratch { walks, values, nearest, .. } = scratch;
        let mut first = 0;
        while first < rows.rows() {
            let together = ROWS.min(rows.rows() - first);
            walks.find(rows, first..first + together);
            walks.add_up::<T, V>(&centers.distances, &mut values[..together * lines]);
            for index in 0..together {
                let (mut k, mut best, mut second) = (0, f64::INFINITY, f64::INFINITY);
                for other in 0..centers.count {
                    // Rounding may make a distance of 0 negative.
                    let line = &values[together * (other / lanes) + index];
                    let distance = line.lanes()[other % lanes].to_f64().max(0.0);
                    if distance < best {
                        (k, second, best) = (other, best, distance);
                    } else if distance < second {
                        second = distance;
                    }
                }
                nearest.push(k as u32);
                let weight = rows.weights[first + index];
                if weight == 0.0 {
                    continue;
                }
                let sums = &mut sums[k * per_center..][..per_center];
                add_row(walks, index, weight, best, &mut sums[..rows.bits + 2]);
                if kind == Kind::Swaps {
                    // With a single centre, there is no second nearest centre, so there is no cost of removal to add.
                    if centers.count > 1 {
                        sums[2 + rows.bits] += weight * (second - best);
                    }
                    let normal = &centers.normals[k * rows.bits..][..rows.bits];
                    let mut height = 0.0;
                    walks.for_each_column(index, |column| height += normal[column]);
                    if height > centers.thresholds[k] {
                        sums[3 + rows.bits] += weight;
                        let moments = &mut sums[4 + rows.bits..][..rows.bits];
                        walks.for_each_column(index, |column| moments[column] += weight);
                    }
                }
            }
            first += together;
        }
    }
}

kernel! {
    fn distances[T; V](rows: &BitRows, centers: &HardBitCenters<T>, scratch: &mut BitScratch<T>, out: &mut [f64]) {
        let lanes = T::Line::COUNT;
        let BitScratch { walks, values, .. } = scratch;
        let mut first = 0;
        for out in out.chunks_mut(ROWS * centers.count) {
            let together = out.len() / centers.count;
            walks.find(rows, first..first + together);
            walks.add_up::<T, V>(&centers.distances, &mut values[..together * centers.distances.lines]);
            for (index, out) in out.chunks_exact_mut(centers.count).enumerate() {
                for (k, distance) in out.iter_mut().enumerate() {
                    // Rounding may make a distance of 0 negative.
                    *distance = values[together * (k / lanes) + index].lanes()[k % lanes].to_f64().max(0.0);
                }
            }
            first += together;
        }
    }
}

/// Adds a row to the sums of its centre: the mass, the count of each set bit, and the cost.
#[inline(always)]
fn add_row(walks: &Walks, index: usize, weight: f64, squared: f64, sums: &mut [f64]) {
    let last = sums.len() - 1;
    sums[0] += weight;
    sums[last] += weight * squared;
    let moments = &mut sums[1..last];
    walks.for_each_column(index, |column| moments[column] += weight);
}

/// Adds the sums of columns to `sums` (K x (1 + D), masses first), and resets them to 0. It handles a few columns at a
/// time, so that each line is read once for all its centres.
#[inline(always)]
fn flush<T: Real>(columns: &mut [T::Line], masses: &mut [T::Line], bits: usize, sums: &mut [f64]) {
    let lanes = T::Line::COUNT;
    let lines = sums.chunks_mut(lanes * (1 + bits)).zip(columns.chunks_exact_mut(bits + 1)).zip(masses);
    for ((sums, columns), mass) in lines {
        for (sums, mass) in sums.chunks_exact_mut(1 + bits).zip(mass.lanes()) {
            sums[0] += mass.to_f64();
        }
        let mut first = 0;
        for columns in columns[..bits].chunks(AT_ONCE) {
            for (lane, sums) in sums.chunks_exact_mut(1 + bits).enumerate() {
                for (column, sum) in columns.iter().zip(&mut sums[1 + first..]) {
                    *sum += column.lanes()[lane].to_f64();
                }
            }
            first += columns.len();
        }
        columns.fill(T::Line::default());
        *mass = T::Line::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nearest::{HardCenters, HardScratch, nearest_sums};
    use crate::oracle::on_all_sets;
    use crate::random::Stream;
    use crate::soft::{SoftCenters, SoftScratch, soft_sums};
    use crate::tiles::Tiles;

    /// The same rows as bits and as numbers, with centres, priors and directions in the coordinates of the bits.
    struct Problem {
        bits: usize,
        packed: BitRows,
        rows: Vec<Vec<f64>>,
        centers: Vec<Vec<f64>>,
        directions: Vec<Vec<f64>>,
        thresholds: Vec<f64>,
        temperature: f64,
        /// The score of an additional component that is equally far from every row.
        far: Option<f64>,
    }

    impl Problem {
        fn new(rows: usize, bits: usize, clusters: usize) -> Self {
            let stream = Stream::new((rows * 1_000_000 + bits * 100 + clusters) as u64, "bits");
            let is_set = |row: usize, j: usize| stream.uniform((row * bits + j) as u64) < 0.2 + 0.6 * (row % 2) as f64;
            let dense: Vec<Vec<f64>> =
                (0..rows).map(|row| (0..bits).map(|j| f64::from(u8::from(is_set(row, j)))).collect()).collect();
            let width = bits.div_ceil(64);
            let mut words = vec![0; rows * width];
            for (row, dense) in dense.iter().enumerate() {
                for (j, _) in dense.iter().enumerate().filter(|(_, x)| **x == 1.0) {
                    words[row * width + j / 64] |= 1 << (j % 64);
                }
            }
            let weights: Vec<f64> = (0..rows).map(|row| (row % 4) as f64).collect();
            let packed = BitRows::new(rows, bits, |i| &words[i * width..][..width], |i| weights[i]);
            // Numbers that single precision represents exactly.
            let vectors = |from: u64| -> Vec<Vec<f64>> {
                let number = |k: usize, j: usize| f64::from(stream.uniform(from + (k * bits + j) as u64) as f32);
                (0..clusters).map(|k| (0..bits).map(|j| number(k, j)).collect()).collect()
            };
            let thresholds = (0..clusters).map(|k| 0.25 * (bits + k) as f64).collect();
            let (centers, directions) = (vectors(1 << 40), vectors(1 << 41));
            Self {
                bits,
                packed,
                rows: dense,
                centers,
                directions,
                thresholds,
                temperature: 0.05 * bits as f64,
                far: None,
            }
        }

        fn components(&self) -> usize {
            self.centers.len() + usize::from(self.far.is_some())
        }

        fn tiles<T: Real>(&self) -> Tiles<T> {
            let origin = vec![0.0; self.bits];
            Tiles::new(self.rows.len(), self.bits, &origin, |i| &self.rows[i], |i| self.packed.weight(i))
        }

        fn soft<T: Real>(&self, kind: Sums) -> Vec<f64> {
            self.soft_with::<T>(kind, &mut BitScratch::default())
        }

        fn soft_with<T: Real>(&self, kind: Sums, scratch: &mut BitScratch<T>) -> Vec<f64> {
            let mut centers = SoftBitCenters::<T>::default();
            centers.begin(self.bits, self.components(), self.temperature, kind == Sums::Along);
            for (k, center) in self.centers.iter().enumerate() {
                centers.set(k, center, -((1 + k) as f64).ln());
                if kind == Sums::Along {
                    centers.set_direction(k, center, &self.directions[k]);
                }
            }
            if let Some(score) = self.far {
                centers.set_equally_far(self.centers.len(), score);
            }
            let mut sums = vec![0.0; self.components() * kind.len(self.bits)];
            let totals = soft_bit_sums(&self.packed, &centers, kind, scratch, &mut sums);
            sums.extend([totals.free_energy, totals.softness]);
            sums
        }

        fn hard<T: Real>(&self, kind: Kind) -> Vec<f64> {
            self.hard_with::<T>(kind, &mut BitScratch::default())
        }

        fn hard_with<T: Real>(&self, kind: Kind, scratch: &mut BitScratch<T>) -> Vec<f64> {
            let mut centers = HardBitCenters::<T>::default();
            centers.begin(self.bits, self.centers.len());
            for (k, center) in self.centers.iter().enumerate() {
                centers.set(k, center);
                centers.push_plane(&self.directions[k], self.thresholds[k]);
            }
            let mut sums = vec![0.0; self.centers.len() * kind.len(self.bits)];
            nearest_bit_sums(&self.packed, &centers, kind, scratch, &mut sums);
            sums.extend((0..self.rows.len()).map(|row| scratch.nearest(row) as f64));
            sums
        }

        /// Computes the sums with the kernels of numbers over the same rows, which have their own oracle.
        fn soft_of_numbers(&self, kind: Sums) -> Vec<f64> {
            let mut centers = SoftCenters::<f64>::default();
            centers.begin(self.bits, self.temperature);
            for (k, center) in self.centers.iter().enumerate() {
                centers.push(center, -((1 + k) as f64).ln());
                centers.push_direction(center, &self.directions[k]);
            }
            let mut sums = vec![0.0; self.centers.len() * kind.len(self.bits)];
            let totals = soft_sums(&self.tiles(), &centers, kind, &mut SoftScratch::default(), &mut sums);
            sums.extend([totals.free_energy, totals.softness]);
            sums
        }

        fn hard_of_numbers(&self, kind: Kind) -> Vec<f64> {
            let mut centers = HardCenters::<f64>::default();
            centers.begin(self.bits);
            for (k, center) in self.centers.iter().enumerate() {
                centers.push(center);
                centers.push_plane(&self.directions[k], self.thresholds[k]);
            }
            let mut sums = vec![0.0; self.centers.len() * kind.len(self.bits)];
            let mut scratch = HardScratch::default();
            nearest_sums(&self.tiles(), &centers, kind, &mut scratch, &mut sums);
            sums.extend((0..self.rows.len()).map(|row| scratch.nearest(row) as f64));
            sums
        }

        /// Computes the sums from the definition, for each row and centre.
        fn soft_by_definition(&self, kind: Sums) -> Vec<f64> {
            let totals = self.components() * (1 + self.bits);
            let mut sums = vec![0.0; totals + 2];
            for (row, x) in self.rows.iter().enumerate() {
                let weight = self.packed.weight(row);
                let distance = |y: &Vec<f64>| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let scores: Vec<f64> = (0..self.centers.len())
                    .map(|k| -((1 + k) as f64).ln() - distance(&self.centers[k]) / self.temperature)
                    .chain(self.far)
                    .collect();
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
                for (k, score) in scores.iter().enumerate() {
                    let projection: f64 = match self.centers.get(k) {
                        Some(y) if kind == Sums::Along => {
                            x.iter().zip(y).zip(&self.directions[k]).map(|((x, y), u)| (x - y) * u).sum()
                        }
                        _ => 1.0,
                    };
                    let share = weight * (score - most).exp() / sum * projection;
                    sums[k * (1 + self.bits)] += share;
                    for (j, x) in x.iter().enumerate() {
                        sums[k * (1 + self.bits) + 1 + j] += share * x;
                    }
                }
                sums[totals] -= self.temperature * weight * (most + sum.ln());
                sums[totals + 1] += weight * (1.0 - 1.0 / sum);
            }
            sums
        }
    }

    #[track_caller]
    fn close(found: &[f64], expected: &[f64], relative: f64, what: &str) {
        assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(1.0f64, |scale, x| scale.max(x.abs()));
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= relative * scale, "{what}, number {index}: {found} for {expected}");
        }
    }

    /// The numbers of rows are near the limits of tiles, walks and flushes. The numbers of columns are near the limits
    /// of words and blocks, and the numbers of centres near the limits of lines.
    const SHAPES: [(usize, usize, usize); 11] = [
        (1, 17, 1),
        (7, 64, 2),
        (8, 63, 8),
        (9, 65, 9),
        (33, 128, 17),
        (255, 130, 24),
        (257, 70, 33),
        (600, 33, 5),
        (64, 1047, 50),
        (300, 1047, 17),
        (130, 449, 9),
    ];

    #[test]
    fn soft_sums_are_those_of_the_definition_and_of_numbers_with_the_same_bits_on_every_instruction_set() {
        for shape @ (rows, bits, clusters) in SHAPES {
            let problem = Problem::new(rows, bits, clusters);
            let what = format!("{shape:?}");
            let double = on_all_sets(&what, || problem.soft::<f64>(Sums::First));
            close(&double, &problem.soft_by_definition(Sums::First), 1e-12, &what);
            close(&double, &problem.soft_of_numbers(Sums::First), 1e-12, &what);
            let single = on_all_sets(&what, || problem.soft::<f32>(Sums::First));
            close(&single, &double, 1e-5, &what);
            let along = on_all_sets(&what, || problem.soft::<f64>(Sums::Along));
            close(&along, &problem.soft_of_numbers(Sums::Along), 1e-12, &what);
            let single = on_all_sets(&what, || problem.soft::<f32>(Sums::Along));
            close(&single, &along, 1e-5, &what);
        }
    }

    #[test]
    fn one_that_is_equally_far_from_every_row_takes_its_share_with_the_same_bits_on_every_instruction_set() {
        for shape @ (rows, bits, clusters) in SHAPES {
            // The centres are about 1/3 apart in each column, which is 6.7 temperatures.
            let problem = Problem { far: Some(-7.0), ..Problem::new(rows, bits, clusters) };
            let what = format!("{shape:?}");
            for kind in [Sums::First, Sums::Along] {
                let double = on_all_sets(&what, || problem.soft::<f64>(kind));
                close(&double, &problem.soft_by_definition(kind), 1e-12, &what);
                let single = on_all_sets(&what, || problem.soft::<f32>(kind));
                close(&single, &double, 1e-5, &what);
            }
            // The first row has weight 0.
            let mass = problem.soft::<f64>(Sums::First)[clusters * (1 + bits)];
            assert!(mass > 0.0 || rows == 1, "{what}: {mass}");
        }
    }

    #[test]
    fn hard_sums_are_those_of_numbers_with_the_same_bits_on_every_instruction_set() {
        for shape @ (rows, bits, clusters) in SHAPES {
            let problem = Problem::new(rows, bits, clusters);
            for kind in [Kind::Centers, Kind::Swaps] {
                let what = format!("{shape:?} {kind:?}");
                let double = on_all_sets(&what, || problem.hard::<f64>(kind));
                close(&double, &problem.hard_of_numbers(kind), 1e-12, &what);
                let single = on_all_sets(&what, || problem.hard::<f32>(kind));
                close(&single, &double, 1e-5, &what);
            }
        }
    }

    #[test]
    fn buffers_that_were_used_for_others_change_no_bit() {
        let problems: Vec<Problem> =
            SHAPES.iter().map(|&(rows, bits, clusters)| Problem::new(rows, bits, clusters)).collect();
        let mut scratch = BitScratch::<f64>::default();
        for problem in problems.iter().chain(problems.iter().rev()) {
            for kind in [Sums::First, Sums::Along] {
                assert_eq!(problem.soft_with(kind, &mut scratch), problem.soft::<f64>(kind));
            }
            for kind in [Kind::Swaps, Kind::Centers] {
                assert_eq!(problem.hard_with(kind, &mut scratch), problem.hard::<f64>(kind));
            }
        }
    }

    #[test]
    fn places_are_those_of_the_set_bits() {
        let stream = Stream::new(3, "places");
        for width in [1, 2, 17] {
            for density in [0.0, 0.04, 0.2, 0.6, 1.0] {
                let is_set = |j: usize| stream.uniform(j as u64) < density;
                let words: Vec<u64> =
                    (0..width).map(|w| (0..64).fold(0, |word, j| word | u64::from(is_set(64 * w + j)) << j)).collect();
                let expected: Vec<u32> = (0..64 * width as u32).filter(|&j| is_set(j as usize)).collect();
                let mut places = vec![0; 64 * width + rows::SLACK];
                let count = rows::places_of(&words, &mut places);
                assert_eq!(places[..count], expected, "{width} words, {density}");
                let mut walked = Vec::new();
                for_each_set_bit(&words, |j| walked.push(j as u32));
                assert_eq!(walked, expected);
            }
        }
    }

    #[test]
    #[should_panic(expected = "rows of 3 bits")]
    fn a_bit_beyond_the_last_is_refused() {
        BitRows::new(1, 3, |_| &[0b1000], |_| 1.0);
    }
}
