//! Keeps bounds from one pass of hard assignment over rows of bits, so that the next pass can skip distances.
//!
//! If a centre moves by `m`, its distance to a row falls by at most `m` (Elkan 2003). So the distance of a row to a
//! centre gives a lower bound on their distance after the move: the old distance minus the move. A centre can be
//! skipped if its bound is larger than the distance to the row's own centre. The result has the same bits as a whole
//! pass, because the bounds allow for rounding. A centre is skipped only if its *computed* squared distance certainly
//! exceeds the computed one of the row's own centre. The remaining distances are computed as in a whole pass.

use super::walks::{ROWS, Walks};
use super::{BitRows, BitScratch, HardBitCenters, add_row};
use crate::dispatch::kernel;
use crate::lanes::{Line, Real};
use crate::nearest::Kind;

/// The cost of a distance that is computed on its own, in distances that are computed together.
const LOOK: usize = 3;

/// The nearest centre of each row of a block, and lower bounds on the distances to the other centres.
///
/// Memory: 4 bytes for each row and centre.
#[derive(Clone, Debug, Default)]
pub struct Known {
    clusters: usize,
    nearest: Vec<u32>,
    /// The lower bound on the distance of each row to each centre, rows x K.
    least: Vec<f32>,
}

/// The factor that reduces a bound for rounding. A product and a difference in single precision each have a relative
/// error of at most 2^-24.
const SHRINK: f32 = 1.0 - 1.0 / (1u32 << 22) as f32;
/// The factor that rounds a number up from double to single precision, with a small margin.
const UP: f64 = 1.0 + 1e-6;

impl Known {
    /// Returns the number of rows with bounds.
    pub fn rows(&self) -> usize {
        self.nearest.len()
    }

    /// Returns the number of centres with bounds.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Returns the nearest centre of a row.
    ///
    /// # Panics
    /// Panics if `row` is not below [`Known::rows`].
    pub fn nearest(&self, row: usize) -> usize {
        self.nearest[row] as usize
    }

    /// Takes over the bounds of another set, for `clusters` centres, which must be at least as many as the other set
    /// has. Additional centres get no bounds.
    ///
    /// # Panics
    /// Panics if `clusters` is less than the number of centres in the other set.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::bits::Known;
    /// let (base, mut known) = (Known::default(), Known::default());
    /// known.take_over(&base, 3);
    /// assert_eq!((known.rows(), known.clusters()), (0, 3));
    /// ```
    pub fn take_over(&mut self, other: &Self, clusters: usize) {
        assert!(clusters >= other.clusters, "no centre is forgotten");
        self.clusters = clusters;
        self.nearest.clone_from(&other.nearest);
        if clusters == other.clusters {
            self.least.clone_from(&other.least);
            return;
        }
        self.least.clear();
        self.least.resize(clusters * other.rows(), 0.0);
        let rows = self.least.chunks_exact_mut(clusters).zip(other.least.chunks_exact(other.clusters.max(1)));
        rows.for_each(|(to, from)| to[..other.clusters].copy_from_slice(from));
    }

    /// Forgets the bounds of all rows.
    pub fn forget(&mut self) {
        self.nearest.clear();
        self.least.clear();
    }

    /// Prepares for `rows` rows and `clusters` centres.
    fn begin(&mut self, rows: usize, clusters: usize) {
        self.clusters = clusters;
        self.nearest.clear();
        self.nearest.resize(rows, 0);
        self.least.clear();
        self.least.resize(rows * clusters, 0.0);
    }

    /// Stores the bound that follows from a computed squared distance, whose rounding error is at most `slack`.
    #[inline(always)]
    fn learn(&mut self, row: usize, k: usize, squared: f64, slack: f32) {
        self.least[row * self.clusters + k] = bound_of(squared, slack);
    }

    /// Stores the nearest centre of a row.
    #[inline(always)]
    fn choose(&mut self, row: usize, k: usize) {
        self.nearest[row] = k as u32;
    }

    /// Returns the next centre, from `first` on, whose distance may be as small as `squared`. The row's own centre is
    /// left out.
    #[inline(always)]
    fn next_near(&self, row: usize, first: usize, squared: f64, slack: &[f32]) -> Option<usize> {
        let (own, squared) = (self.nearest[row] as usize, rounded_up(squared));
        let least = &self.least[row * self.clusters..][..self.clusters];
        (first..self.clusters).find(|&k| k != own && may_be_near(least[k], slack[k], squared))
    }

    /// Returns whether a centre other than the row's own may be as near as `squared`, apart from rounding.
    #[cfg(test)]
    pub(crate) fn has_others_near(&self, row: usize, squared: f64) -> bool {
        self.next_near(row, 0, squared, &vec![1e-9; self.clusters]).is_some()
    }

    /// Returns the lower bounds on the distances of all centres to a row.
    #[inline(always)]
    fn bounds_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.least[row * self.clusters..][..self.clusters]
    }
}

/// The distance that each centre has moved since the bounds were computed.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    moves: Vec<f32>,
}

impl Moves {
    /// Returns the distance of each centre between two sets of centres, `before` and `after`, which are stored row
    /// after row. `unit` is the unit of these positions, in the coordinates of bits. Centres that are not in `before`
    /// have moved by 0.
    ///
    /// # Panics
    /// Panics if `after` has fewer centres than `before`.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::bits::Moves;
    /// let mut moves = Moves::default();
    /// moves.measure(&[0.0, 0.0], &[3.0, 4.0, 1.0, 1.0], 2, 1.0);
    /// assert_eq!(moves.len(), 2);
    /// ```
    pub fn measure(&mut self, before: &[f64], after: &[f64], dimension: usize, unit: f64) {
        assert!(before.len() <= after.len() && after.len().is_multiple_of(dimension), "centres of {dimension} columns");
        // The coordinates of the bits are about 1, and each was rounded when it was converted from these positions.
        let rounded = (dimension as f64).sqrt() * 8.0 * f64::EPSILON;
        let moved = |(before, after): (&[f64], &[f64])| {
            let squared: f64 = before.iter().zip(after).map(|(a, b)| (a - b) * (a - b)).sum();
            // A centre that has not changed has moved by exactly 0.
            if squared > 0.0 { rounded_up(squared.sqrt() * unit + rounded) } else { 0.0 }
        };
        self.moves.clear();
        self.moves.extend(before.chunks_exact(dimension).zip(after.chunks_exact(dimension)).map(moved));
        self.moves.resize(after.len() / dimension, 0.0);
    }

    /// Returns the number of centres.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Lowers the bounds of a row by the moves of the centres. Returns the number of centres that may be as near as
    /// `squared`, including the row's own centre. `slack` has an upper bound on the rounding error of the squared
    /// distance to each centre.
    #[inline(always)]
    fn lower(&self, least: &mut [f32], slack: &[f32], squared: f64) -> usize {
        let squared = rounded_up(squared);
        let mut near = 0;
        for ((least, &moved), &slack) in least.iter_mut().zip(&self.moves).zip(slack) {
            let bound = *least * SHRINK - moved;
            *least = bound;
            near += u32::from(may_be_near(bound, slack, squared));
        }
        near as usize
    }
}

/// Rounds up to single precision.
#[inline(always)]
fn rounded_up(number: f64) -> f32 {
    (number * UP) as f32
}

/// Returns whether the computed squared distance of a centre may be at most `squared`, if its distance is at least
/// `bound`.
#[inline(always)]
fn may_be_near(bound: f32, slack: f32, squared: f32) -> bool {
    // The relative error of each side is at most three times 2^-24.
    !(bound > 0.0 && bound * bound * SHRINK > (squared + slack) * (2.0 - SHRINK))
}

/// Returns the bound that follows from a computed squared distance.
#[inline(always)]
fn bound_of(squared: f64, slack: f32) -> f32 {
    let least = (squared - f64::from(slack)).max(0.0).sqrt() as f32;
    least * SHRINK
}

/// Returns an upper bound on the rounding error of a squared distance that is a sum of `terms` terms in a precision of
/// `epsilon`. The first term was summed over `columns` columns in double precision; `size` is the sum of the absolute
/// terms. It is twice the bound for a sum, because the terms are rounded too.
fn slack_of(terms: usize, columns: usize, size: f64, epsilon: f64) -> f32 {
    rounded_up(((terms + 16) as f64 * epsilon + columns as f64 * f64::EPSILON) * size) + f32::MIN_POSITIVE
}

/// Computes the same sums, with the same bits, as [`nearest_bit_sums`](super::nearest_bit_sums) with [`Kind::Centers`].
/// It skips each distance that is certainly larger than the row's distance to its own centre, according to `known`.
/// Afterwards, `known` holds bounds for these centres.
///
/// `moves` has the distance that each centre has moved since the pass that computed `known`. That pass must have had
/// the same rows and the same number of centres. If `known` is empty, or if most distances would be needed, all
/// distances are computed. The distances must be squared distances from centres ([`HardBitCenters::set`]), because the
/// bounds do not hold for other forms.
///
/// Cost: set bits x 2 additions, rows x K comparisons, and the set bits of a row for each further distance. In the
/// worst case, this is slightly more than the cost of [`nearest_bit_sums`](super::nearest_bit_sums). It allocates
/// nothing once `scratch` and `known` have grown.
///
/// # Panics
/// Panics if shapes disagree, or if there is no centre.
///
/// # Example
/// ```
/// use lehr_numerics::bits::{BitRows, BitScratch, HardBitCenters, Known, Moves, nearest_bit_sums_of_known};
/// let words = [[0b00], [0b11], [0b01]];
/// let rows = BitRows::new(3, 2, |i| &words[i], |_| 1.0);
/// let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<f64>::default());
/// let mut positions = vec![0.0, 0.0, 1.0, 0.5];
/// for _ in 0..2 {
///     let mut centers = HardBitCenters::default();
///     centers.begin(2, 2);
///     centers.set(0, &positions[..2]);
///     centers.set(1, &positions[2..]);
///     let mut sums = [0.0; 8];
///     nearest_bit_sums_of_known(&rows, &centers, &moves, &mut known, &mut scratch, &mut sums);
///     assert_eq!(sums[..3], [1.0, 0.0, 0.0]); // mass, and how often each bit is set
///     let next = vec![0.0, 0.0, sums[5] / sums[4], sums[6] / sums[4]];
///     moves.measure(&positions, &next, 2, 1.0);
///     positions = next;
/// }
/// assert_eq!(known.nearest(2), 1);
/// ```
pub fn nearest_bit_sums_of_known<T: Real>(
    rows: &BitRows,
    centers: &HardBitCenters<T>,
    moves: &Moves,
    known: &mut Known,
    scratch: &mut BitScratch<T>,
    sums: &mut [f64],
) {
    assert!(!centers.is_empty() && u32::try_from(centers.count).is_ok(), "1 to 2^32 - 1 centres");
    assert_eq!(rows.bits, centers.bits);
    assert_eq!(sums.len(), centers.count * Kind::Centers.len(rows.bits));
    let is_new = known.rows() == 0;
    if is_new {
        known.begin(rows.rows(), centers.count);
    }
    assert!(known.rows() == rows.rows() && known.clusters() == centers.count, "known rows and centres");
    assert!(is_new || moves.len() == centers.count, "how far each centre has moved");
    scratch.values.resize(ROWS.min(rows.rows()) * centers.distances.lines, T::Line::default());
    scratch.walks.begin(rows);
    scratch.slack.clear();
    scratch.slack.extend(centers.constants.iter().zip(&centers.largest).map(|(constant, largest)| {
        let size = constant.to_f64().abs() + rows.most as f64 * largest;
        slack_of(rows.most, rows.bits, size, T::EPSILON)
    }));
    nearest_of_known(rows, centers, is_new, moves, known, scratch, sums);
}

kernel! {
    fn nearest_of_known[T; V](
        rows: &BitRows, centers: &HardBitCenters<T>, is_new: bool, moves: &Moves, known: &mut Known, scratch: &mut BitScratch<T>, sums: &mut [f64],
    ) {
        let (lanes, lines, per_center) = (T::Line::COUNT, centers.distances.lines, rows.bits + 2);
        let BitScratch { walks, values, slack, own, .. } = scratch;
        let (slack, count) = (&slack[..centers.count], centers.count);
        let mut first = 0;
        while first < rows.rows() {
            let together = ROWS.min(rows.rows() - first);
            walks.find(rows, first..first + together);
            let distance = |walks: &Walks, index: usize, k: usize| {
                let terms = &centers.terms[k * (rows.bits + 1)..][..rows.bits + 1];
                walks.add_up_one(index, centers.constants[k], terms).to_f64().max(0.0)
            };
            own.clear();
            // The number of distances to compute, in addition to the distances from the rows' own centres.
            let mut looks = 0;
            for index in 0..if is_new { 0 } else { together } {
                let squared = distance(walks, index, known.nearest(first + index));
                let near = moves.lower(known.bounds_mut(first + index), slack, squared);
                looks += near.saturating_sub(1);
                own.push((squared, near > 1));
            }
            let is_whole = is_new || looks * LOOK > together * count;
            if is_whole {
                walks.add_up::<T, V>(&centers.distances, &mut values[..together * lines]);
            }
            for index in 0..together {
                let row = first + index;
                let mut best = f64::INFINITY;
                if is_whole {
                    for k in 0..count {
                        let squared = values[together * (k / lanes) + index].lanes()[k % lanes].to_f64().max(0.0);
                        known.learn(row, k, squared, slack[k]);
                        if squared < best {
                            best = squared;
                            known.choose(row, k);
                        }
                    }
                } else {
                    let has_others;
                    (best, has_others) = own[index];
                    let mut k = known.nearest(row);
                    known.learn(row, k, best, slack[k]);
                    let mut next = if has_others { 0 } else { count };
                    while let Some(other) = known.next_near(row, next, best, slack) {
                        let squared = distance(walks, index, other);
                        known.learn(row, other, squared, slack[other]);
                        if squared < best || (squared == best && other < k) {
                            (k, best) = (other, squared);
                            known.choose(row, k);
                        }
                        next = other + 1;
                    }
                }
                let weight = rows.weights[row];
                if weight != 0.0 {
                    add_row(walks, index, weight, best, &mut sums[known.nearest(row) * per_center..][..per_center]);
                }
            }
            first += together;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_lowered_by_what_a_centre_moves_and_a_little_for_rounding() {
        let mut moves = Moves::default();
        moves.measure(&[0.0, 0.0, 1.0, 1.0], &[3.0, 4.0, 1.0, 1.0, 9.0, 9.0], 2, 2.0);
        let mut least = [25.0, 6.0, 0.0];
        // The bounds are 25 - 10 and 6, whose squares are 225 and 36; the third centre has no bound.
        assert_eq!(moves.lower(&mut least, &[0.0; 3], 36.1), 2);
        assert!(least[0] <= 15.0 && least[0] > 14.9999 && least[1] < 6.0 && least[1] > 5.9999);
        assert_eq!(moves.lower(&mut least.clone(), &[0.0; 3], 26.0), 2, "the first is at 5 then, and its square 25");
        assert_eq!(moves.lower(&mut least, &[11.0; 3], 26.0), 3, "within what rounding may do");
    }

    #[test]
    fn what_is_as_near_as_a_bound_may_be_near() {
        for squared in [1e-20, 0.3, 1.0, 77.7, 1e20] {
            let bound = bound_of(squared, 0.0);
            assert!(may_be_near(bound, 0.0, rounded_up(squared)));
            assert!(
                !may_be_near(bound, 0.0, rounded_up(squared * 0.99999)),
                "and what is farther need not be looked at"
            );
        }
        assert!(may_be_near(-3.0, 0.0, 1.0), "a bound below 0 says nothing");
        assert!(may_be_near(bound_of(0.0, 0.0), 0.0, 0.0), "equals may be near");
        assert_eq!(bound_of(1.0, 2.0), 0.0);
    }

    #[test]
    fn what_another_knows_is_taken_over_and_nothing_of_centres_that_are_new() {
        let mut base = Known::default();
        base.begin(2, 2);
        base.least.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        base.nearest[1] = 1;
        let mut known = Known::default();
        known.take_over(&base, 3);
        assert_eq!((known.rows(), known.nearest(1), &known.least[..]), (2, 1, &[1.0, 2.0, 0.0, 3.0, 4.0, 0.0][..]));
        known.take_over(&base, 2);
        assert_eq!(known.least, base.least);
    }
}
