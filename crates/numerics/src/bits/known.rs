//! Keeps bounds from one pass of hard assignment over rows of bits, so that the next pass can skip most of its work.
//!
//! If a centre moves by `m`, its distance to a row changes by at most `m` (Elkan 2003). So the distance of a row to a
//! centre gives bounds on their distance after the move: the old distance plus and minus the move. A centre can be
//! skipped if its lower bound exceeds the upper bound of the row's own centre. A row is not read at all if neither its
//! own centre has moved, nor any moved centre may be nearer. The result has the same bits as a whole pass, because the
//! bounds allow for rounding. A centre is skipped only if its *computed* squared distance certainly exceeds the
//! computed one of the row's own centre. The remaining distances are computed as in a whole pass.

use super::rough::RoughForms;
use super::rows::{SLACK, places_of};
use super::walks::{ROWS, Walks};
use super::{BitRows, BitScratch, HardBitCenters};
use crate::dispatch::kernel;
use crate::lanes::{Line, Real};

/// The cost of a distance that is computed on its own, in distances that are computed together.
const LOOK: usize = 3;

/// The nearest centre of each row of a block, an upper bound on its distance, and lower bounds on the distances to all
/// centres.
///
/// Memory: 8 bytes for each row, and 4 bytes for each row and centre.
#[derive(Clone, Debug, Default)]
pub struct Known {
    clusters: usize,
    nearest: Vec<u32>,
    /// The upper bound on the distance of each row to its nearest centre.
    most: Vec<f32>,
    /// The lower bound on the distance of each row to each centre, rows x K.
    least: Vec<f32>,
    /// The rows of positive weight that left a centre in the last pass, and this centre.
    left: Vec<(u32, u32)>,
}

/// Upper bounds on rounding errors of squared distances from a centre.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slack {
    /// Of the distance that decides.
    exact: f32,
    /// Of the rough distance.
    rough: f32,
}

/// The factors that lower and raise a bound for rounding. A product and a sum in single precision each have a relative
/// error of at most 2^-24.
const SHRINK: f32 = 1.0 - 1.0 / (1u32 << 22) as f32;
const GROW: f32 = 1.0 + 1.0 / (1u32 << 22) as f32;
/// The factors that round a number up and down from double to single precision, with a small margin.
const UP: f64 = 1.0 + 1e-6;
const DOWN: f64 = 1.0 - 1e-6;

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
        self.most.clone_from(&other.most);
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
        self.most.clear();
        self.least.clear();
        self.left.clear();
    }

    /// Prepares for `rows` rows and `clusters` centres.
    fn begin(&mut self, rows: usize, clusters: usize) {
        self.forget();
        self.clusters = clusters;
        self.nearest.resize(rows, 0);
        self.most.resize(rows, 0.0);
        self.least.resize(rows * clusters, 0.0);
    }

    /// Stores the lower bound that follows from a computed squared distance, whose rounding error is at most `slack`.
    #[inline(always)]
    fn learn(&mut self, row: usize, k: usize, squared: f64, slack: f32) {
        self.least[row * self.clusters + k] = least_of(squared, slack);
    }

    /// Stores the nearest centre of a row, and the upper bound that follows from its computed squared distance.
    #[inline(always)]
    fn choose(&mut self, row: usize, k: usize, squared: f64, slack: f32) {
        self.nearest[row] = k as u32;
        self.most[row] = most_of(squared, slack);
    }

    /// Returns an upper bound on the computed squared distance of a row from its centre `own`.
    #[inline(always)]
    fn squared(&self, row: usize, slack: &[Slack], own: usize) -> f32 {
        self.most[row] * self.most[row] * GROW + slack[own].exact
    }

    /// Notes that a row of positive weight went from one centre to another.
    #[inline(always)]
    fn note(&mut self, weight: f64, row: usize, before: usize, touched: &mut [f64]) {
        let after = self.nearest(row);
        if before != after && weight != 0.0 {
            self.left.push((row as u32, before as u32));
            touched[before] += 1.0;
            touched[after] += 1.0;
        }
    }

    /// Updates the bounds of a row after centres have moved. Returns the number of centres, except the row's own, that
    /// may be as near as the row's own centre. `slack` has an upper bound on the rounding error of the squared distance
    /// to each centre; `fresh` is memory to work in.
    #[inline(always)]
    fn follow(&mut self, row: usize, moves: &Moves, slack: &[Slack], fresh: &mut Vec<f32>) -> usize {
        let own = self.nearest[row] as usize;
        let least = &mut self.least[row * self.clusters..][..self.clusters];
        let before = self.most[row];
        fresh.clear();
        fresh.extend(moves.moved.iter().enumerate().map(|(place, &k)| {
            let k = k as usize;
            let bound = least[k] * SHRINK - moves.moves[k];
            moves.jumps.get(place).map_or(bound, |jump| {
                let from = least[jump.origin] * SHRINK - jump.from_origin;
                bound.max(from).max(jump.apart[own] - before)
            })
        }));
        moves.moved.iter().zip(fresh.iter()).for_each(|(&k, bound)| least[k as usize] = *bound);
        if moves.moves[own] == 0.0 {
            // The other centres are where they were, and were farther than the row's own centre, which has not moved.
            let (least, squared) = (&self.least[row * self.clusters..][..self.clusters], self.squared(row, slack, own));
            let near = |&&k: &&u32| may_be_near(least[k as usize], slack[k as usize].exact, squared);
            return moves.moved.iter().filter(near).count();
        }
        self.most[row] = (before + moves.moves[own]) * GROW;
        let (least, squared) = (&self.least[row * self.clusters..][..self.clusters], self.squared(row, slack, own));
        let near = least.iter().zip(slack).map(|(&least, slack)| u32::from(may_be_near(least, slack.exact, squared)));
        // The count takes in the row's own centre, because a loop without a condition is vectorised.
        (near.sum::<u32>() as usize).saturating_sub(1)
    }
}

/// A centre that is near an earlier centre other than itself.
#[derive(Clone, Debug)]
struct Jump {
    /// The earlier centre that is nearest to the new position, and an upper bound on their distance.
    origin: usize,
    from_origin: f32,
    /// The lower bounds on the distances between the new position and all earlier centres.
    apart: Vec<f32>,
}

/// The distance that each centre has moved since the bounds were computed.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    moves: Vec<f32>,
    /// The centres that have moved or are new, in ascending order.
    moved: Vec<u32>,
    /// For each of `moved`, in the same order; empty if centres have not jumped.
    jumps: Vec<Jump>,
}

impl Moves {
    /// Measures the distance of each centre between two sets of centres, `before` and `after`, which are stored row
    /// after row. `unit` is the unit of these positions, in the coordinates of bits. Centres that are not in `before`
    /// have no bounds, and have moved by 0.
    ///
    /// If a few centres have `jumped` to the places of others, the bounds of these others are better than their own. So
    /// the distances between new positions and all earlier centres are measured too. These distances also show which
    /// rows are too near to their own centre for a moved centre to matter.
    ///
    /// # Panics
    /// Panics if `after` has fewer centres than `before`.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::bits::Moves;
    /// let mut moves = Moves::default();
    /// moves.measure(&[0.0, 0.0], &[3.0, 4.0, 1.0, 1.0], 2, 1.0, false);
    /// assert_eq!(moves.len(), 2);
    /// ```
    pub fn measure(&mut self, before: &[f64], after: &[f64], dimension: usize, unit: f64, jumped: bool) {
        assert!(before.len() <= after.len() && after.len().is_multiple_of(dimension), "centres of {dimension} columns");
        // The coordinates of the bits are about 1, and each was rounded when it was converted from these positions.
        let rounded = (dimension as f64).sqrt() * 8.0 * f64::EPSILON;
        let squared =
            |before: &[f64], after: &[f64]| -> f64 { before.iter().zip(after).map(|(a, b)| (a - b) * (a - b)).sum() };
        let moved = |(before, after): (&[f64], &[f64])| {
            let squared = squared(before, after);
            // A centre that has not changed has moved by exactly 0.
            if squared > 0.0 { rounded_up(squared.sqrt() * unit + rounded) } else { 0.0 }
        };
        self.moves.clear();
        self.moves.extend(before.chunks_exact(dimension).zip(after.chunks_exact(dimension)).map(moved));
        let known = self.moves.len();
        self.moves.resize(after.len() / dimension, 0.0);
        self.moved.clear();
        self.moved.extend((0..self.moves.len()).filter(|&k| k >= known || self.moves[k] > 0.0).map(|k| k as u32));
        self.jumps.clear();
        if !jumped || known == 0 {
            return;
        }
        self.jumps.extend(self.moved.iter().map(|&k| {
            let to = &after[k as usize * dimension..][..dimension];
            let distances = before.chunks_exact(dimension).map(|from| squared(from, to).sqrt() * unit);
            let distances: Vec<f64> = distances.collect();
            let origin = (0..known).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0);
            Jump {
                origin,
                from_origin: rounded_up(distances[origin] + rounded),
                apart: distances.iter().map(|distance| ((distance - rounded) * DOWN) as f32).collect(),
            }
        }));
    }

    /// Returns the number of centres that may have become nearer to a row than the row's centre `own`. If `own` has
    /// moved, these are all `count` centres; otherwise they are those that have moved.
    #[inline(always)]
    fn unsettled(&self, own: usize, count: usize) -> usize {
        if self.moves[own] > 0.0 { count } else { self.moved.len() }
    }

    /// Returns one of these centres. (A loop over their numbers is compiled for the vector instructions of a kernel; a
    /// closure may not be.)
    #[inline(always)]
    fn unsettled_at(&self, own: usize, place: usize) -> usize {
        if self.moves[own] > 0.0 { place } else { self.moved[place] as usize }
    }

    /// Returns the number of centres.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
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
    !(bound > 0.0 && bound * bound * SHRINK > (squared + slack) * GROW)
}

/// Returns the lower bound that follows from a computed squared distance.
#[inline(always)]
fn least_of(squared: f64, slack: f32) -> f32 {
    let least = (squared - f64::from(slack)).max(0.0).sqrt() as f32;
    least * SHRINK
}

/// Returns the upper bound that follows from a computed squared distance.
#[inline(always)]
fn most_of(squared: f64, slack: f32) -> f32 {
    let most = (squared + f64::from(slack)).sqrt() as f32;
    most * GROW
}

/// Returns an upper bound on the rounding error of a squared distance that is a sum of `terms` terms in a precision of
/// `epsilon`. The first term was summed over `columns` columns in double precision; `size` is the sum of the absolute
/// terms. It is twice the bound for a sum, because the terms are rounded too.
fn slack_of(terms: usize, columns: usize, size: f64, epsilon: f64) -> f32 {
    rounded_up(((terms + 16) as f64 * epsilon + columns as f64 * f64::EPSILON) * size) + f32::MIN_POSITIVE
}

/// Finds the nearest centre of each row, the same as [`nearest_bit_sums`](super::nearest_bit_sums) finds. It skips each
/// distance that is certainly larger than the row's distance to its own centre, according to `known`. Afterwards,
/// `known` holds the nearest centres, and bounds for these centres. For each row of positive weight that goes from one
/// centre to another, 1 is added to both centres' numbers in `touched`.
///
/// `moves` has the distance that each centre has moved since the pass that computed `known`. That pass must have had
/// the same rows and the same number of centres. If `known` is empty, or if most distances would be needed, all
/// distances are computed. Otherwise rough distances decide most comparisons (`rough.rs`). The distances must be squared distances from centres ([`HardBitCenters::set`]), because the
/// bounds do not hold for other forms.
///
/// Cost: rows x moved centres comparisons, rows of moved centres x K comparisons, and the set bits of a row for each
/// distance. In the worst case, this is slightly more than the cost of
/// [`nearest_bit_sums`](super::nearest_bit_sums). It allocates nothing once `scratch` and `known` have grown.
///
/// # Panics
/// Panics if shapes disagree, or if there is no centre.
///
/// # Example
/// ```
/// use lehr_numerics::bits::{BitRows, BitScratch, HardBitCenters, Known, Moves, assign_known_bits, sums_of_known_bits};
/// let words = [[0b00], [0b11], [0b01]];
/// let rows = BitRows::new(3, 2, |i| &words[i], |_| 1.0);
/// let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<f64>::default());
/// let mut positions = vec![0.0, 0.0, 1.0, 0.5];
/// for _ in 0..2 {
///     let mut centers = HardBitCenters::default();
///     centers.begin(2, 2);
///     centers.set(0, &positions[..2]);
///     centers.set(1, &positions[2..]);
///     assign_known_bits(&rows, &centers, &moves, &mut known, &mut scratch, &mut [0.0; 2]);
///     let mut sums = [0.0; 6];
///     sums_of_known_bits(&rows, &known, &[Some(0), Some(1)], &mut scratch, &mut sums);
///     assert_eq!(sums[..3], [1.0, 0.0, 0.0]); // mass, and how often each bit is set
///     let next = vec![0.0, 0.0, sums[4] / sums[3], sums[5] / sums[3]];
///     moves.measure(&positions, &next, 2, 1.0, false);
///     positions = next;
/// }
/// assert_eq!(known.nearest(2), 1);
/// ```
pub fn assign_known_bits<T: Real>(
    rows: &BitRows,
    centers: &HardBitCenters<T>,
    moves: &Moves,
    known: &mut Known,
    scratch: &mut BitScratch<T>,
    touched: &mut [f64],
) {
    assert!(!centers.is_empty() && u32::try_from(centers.count).is_ok(), "1 to 2^32 - 1 centres");
    assert_eq!(rows.bits, centers.bits);
    assert_eq!(touched.len(), centers.count);
    let is_new = known.rows() == 0;
    if is_new {
        known.begin(rows.rows(), centers.count);
    }
    assert!(known.rows() == rows.rows() && known.clusters() == centers.count, "known rows and centres");
    assert!(is_new || moves.len() == centers.count, "how far each centre has moved");
    scratch.values.resize(ROWS.min(rows.rows()) * centers.distances.lines, T::Line::default());
    scratch.walks.begin(rows);
    scratch.slack.clear();
    scratch.slack.extend((0..centers.count).map(|k| {
        let size = centers.rough.size(k, rows.most);
        let of = |epsilon| slack_of(rows.most, rows.bits, size, epsilon);
        Slack { exact: of(T::EPSILON), rough: of(<f32 as Real>::EPSILON) }
    }));
    known.left.clear();
    assign(rows, centers, is_new, moves, known, scratch, touched);
}

kernel! {
    fn assign[T; V](
        rows: &BitRows, centers: &HardBitCenters<T>, is_new: bool, moves: &Moves, known: &mut Known, scratch: &mut BitScratch<T>, touched: &mut [f64],
    ) {
        let (lanes, lines) = (T::Line::COUNT, centers.distances.lines);
        let BitScratch { walks, values, slack, near, unsure, fresh, .. } = scratch;
        let (slack, count) = (&slack[..centers.count], centers.count);
        let mut first = 0;
        near.clear();
        while first < rows.rows() {
            let together = ROWS.min(rows.rows() - first);
            let earlier = near.len();
            // The number of distances to compute, in addition to the distances from the rows' own centres.
            let mut looks = 0;
            for row in first..if is_new { first } else { first + together } {
                let others = known.follow(row, moves, slack, fresh);
                looks += others;
                if others > 0 {
                    near.push(row);
                }
            }
            if is_new || looks * LOOK > together * count {
                walks.find(rows, first..first + together);
                walks.add_up::<T, V>(&centers.distances, &mut values[..together * lines]);
                for index in 0..together {
                    let (row, before) = (first + index, known.nearest(first + index));
                    let (mut own, mut best) = (0, f64::INFINITY);
                    for k in 0..count {
                        let squared = values[together * (k / lanes) + index].lanes()[k % lanes].to_f64().max(0.0);
                        known.learn(row, k, squared, slack[k].exact);
                        if squared < best {
                            (own, best) = (k, squared);
                        }
                    }
                    known.choose(row, own, best, slack[own].exact);
                    if !is_new {
                        known.note(rows.weights[row], row, before, touched);
                    }
                }
            } else {
                unsure.clear();
                compare_roughly::<f32>(rows, &centers.rough, moves, slack, &near[earlier..], known, unsure, touched);
                for &row in unsure.iter() {
                    walks.find(rows, row..row + 1);
                    let before = known.nearest(row);
                    compare(walks, centers, moves, slack, row, known);
                    known.note(rows.weights[row], row, before, touched);
                }
            }
            first += together;
        }
    }
}

kernel! {
    /// Compares some rows with their own centres, and with the centres that may be as near, by rough distances. Adds
    /// the rows that these do not decide to `unsure`, and leaves them at their centres.
    fn compare_roughly[T; V](
        rows: &BitRows, forms: &RoughForms<T>, moves: &Moves, slack: &[Slack], which: &[usize], known: &mut Known, unsure: &mut Vec<usize>,
        touched: &mut [f64],
    ) {
        for &row in which {
            let before = known.nearest(row);
            let (mut own, mut best, mut is_sure) = (before, forms.distance::<V>(before, rows, row), true);
            known.learn(row, own, best, slack[own].rough);
            known.most[row] = known.most[row].min(most_of(best, slack[own].rough));
            let mut squared = known.squared(row, slack, own);
            for place in 0..moves.unsettled(before, slack.len()) {
                let k = moves.unsettled_at(before, place);
                if k == before || !may_be_near(known.least[row * known.clusters + k], slack[k].exact, squared) {
                    continue;
                }
                let distance = forms.distance::<V>(k, rows, row);
                known.learn(row, k, distance, slack[k].rough);
                if !may_be_near(known.least[row * known.clusters + k], slack[k].exact, squared) {
                    continue;
                }
                let errors = [k, own].map(|k| f64::from(slack[k].rough) + f64::from(slack[k].exact));
                is_sure = distance + errors[0] < best - errors[1];
                if !is_sure {
                    break;
                }
                (own, best) = (k, distance);
                let most = most_of(best, slack[k].rough);
                squared = most * most * GROW + slack[k].exact;
            }
            if is_sure {
                if own != before {
                    known.choose(row, own, best, slack[own].rough);
                    known.note(rows.weights[row], row, before, touched);
                }
            } else {
                unsure.push(row);
            }
        }
    }
}

/// Compares one row with its own centre, and with the centres that may be as near. `walks` has the row's set bits.
#[inline(always)]
fn compare<T: Real>(
    walks: &Walks,
    centers: &HardBitCenters<T>,
    moves: &Moves,
    slack: &[Slack],
    row: usize,
    known: &mut Known,
) {
    let distance = |k: usize| {
        let terms = &centers.terms[k * (centers.bits + 1)..][..centers.bits + 1];
        walks.add_up_one(0, centers.constants[k], terms).to_f64().max(0.0)
    };
    let before = known.nearest(row);
    let (mut own, mut best) = (before, distance(before));
    known.learn(row, own, best, slack[own].exact);
    for place in 0..moves.unsettled(before, centers.count) {
        let k = moves.unsettled_at(before, place);
        let bound = known.least[row * known.clusters + k];
        if k == before || !may_be_near(bound, slack[k].exact, rounded_up(best)) {
            continue;
        }
        let squared = distance(k);
        known.learn(row, k, squared, slack[k].exact);
        if squared < best || (squared == best && k < own) {
            (own, best) = (k, squared);
        }
    }
    known.choose(row, own, best, slack[own].exact);
}

/// Adds the masses of centres and the counts of their rows' bits to `sums`, the same sums as
/// [`nearest_bit_sums`](super::nearest_bit_sums) computes. `places` says where each centre's sums begin, in units of
/// 1 + D numbers; a centre without a place is left out.
///
/// Cost: the set bits of the rows of these centres. It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if `known` and the rows disagree, if a centre has no entry in `places`, or if a place is not in `sums`.
///
/// # Example
/// See [`assign_known_bits`].
pub fn sums_of_known_bits<T: Real>(
    rows: &BitRows,
    known: &Known,
    places: &[Option<usize>],
    scratch: &mut BitScratch<T>,
    sums: &mut [f64],
) {
    assert!(known.rows() == rows.rows() && known.clusters() == places.len(), "known rows and centres");
    let set = &mut scratch.set;
    set.resize(set.len().max(rows.bits + SLACK), 0);
    for (row, (&own, &weight)) in known.nearest.iter().zip(&rows.weights).enumerate() {
        let Some(place) = places[own as usize].filter(|_| weight != 0.0) else { continue };
        let count = places_of(rows.row(row), set);
        add(&set[..count], weight, &mut sums[place * (1 + rows.bits)..][..1 + rows.bits]);
    }
}

/// Adds how the masses of centres and the counts of their rows' bits changed in the last pass to `sums`, laid out as by
/// [`sums_of_known_bits`]. If all sums are exact, the sums before the pass plus these changes have the bits of the sums
/// after it.
///
/// Cost: twice the set bits of the rows that went from one centre to another. It allocates nothing once `scratch` has
/// grown.
///
/// # Panics
/// Panics if `known` and the rows disagree, or if the centre of such a row has no place.
///
/// # Example
/// ```
/// use lehr_numerics::bits::{
///     BitRows, BitScratch, HardBitCenters, Known, Moves, assign_known_bits, changes_of_known_bits,
/// };
/// let words = [[0b00], [0b11], [0b01]];
/// let rows = BitRows::new(3, 2, |i| &words[i], |_| 1.0);
/// let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<f64>::default());
/// let mut before = [0.0, 0.0, 1.0, 1.0];
/// for positions in [before, [0.0, 0.0, 1.0, 0.75]] {
///     let mut centers = HardBitCenters::default();
///     centers.begin(2, 2);
///     centers.set(0, &positions[..2]);
///     centers.set(1, &positions[2..]);
///     moves.measure(&before, &positions, 2, 1.0, false);
///     assign_known_bits(&rows, &centers, &moves, &mut known, &mut scratch, &mut [0.0; 2]);
///     before = positions;
/// }
/// // The last row, which was as near to both centres, has joined the second.
/// let mut changes = [0.0; 6];
/// changes_of_known_bits(&rows, &known, &[Some(0), Some(1)], &mut scratch, &mut changes);
/// assert_eq!(changes, [-1.0, -1.0, 0.0, 1.0, 1.0, 0.0]);
/// ```
pub fn changes_of_known_bits<T: Real>(
    rows: &BitRows,
    known: &Known,
    places: &[Option<usize>],
    scratch: &mut BitScratch<T>,
    sums: &mut [f64],
) {
    assert!(known.rows() == rows.rows() && known.clusters() == places.len(), "known rows and centres");
    let set = &mut scratch.set;
    set.resize(set.len().max(rows.bits + SLACK), 0);
    for &(row, before) in &known.left {
        let row = row as usize;
        let count = places_of(rows.row(row), set);
        for (k, weight) in [(before as usize, -rows.weights[row]), (known.nearest(row), rows.weights[row])] {
            let place = places[k].expect("a place for every centre with changes");
            add(&set[..count], weight, &mut sums[place * (1 + rows.bits)..][..1 + rows.bits]);
        }
    }
}

/// Adds a row, given by the positions of its set bits, to the sums of a centre.
#[inline(always)]
fn add(set: &[u32], weight: f64, sums: &mut [f64]) {
    sums[0] += weight;
    for &column in set {
        sums[1 + column as usize] += weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known bounds of one row.
    fn known(nearest: u32, most: f32, least: &[f32]) -> Known {
        Known {
            clusters: least.len(),
            nearest: vec![nearest],
            most: vec![most],
            least: least.to_vec(),
            left: Vec::new(),
        }
    }

    #[test]
    fn bounds_follow_what_a_centre_moves_and_a_little_for_rounding() {
        let mut moves = Moves::default();
        moves.measure(&[0.0, 0.0, 1.0, 1.0], &[3.0, 4.0, 1.0, 1.0, 9.0, 9.0], 2, 2.0, false);
        // The lower bounds are 25 - 10, 6 and none, because the last centre is new.
        let before = known(1, 5.9, &[25.0, 6.0, 0.0]);
        let follow = |slack: f32| {
            let mut known = before.clone();
            (known.follow(0, &moves, &[Slack { exact: slack, rough: slack }; 3], &mut Vec::new()), known)
        };
        let (near, after) = follow(0.0);
        assert!(after.least[0] <= 15.0 && after.least[0] > 14.9999);
        assert_eq!((after.least[1], after.most[0]), (6.0, 5.9), "a centre that rests keeps its bounds");
        assert_eq!(near, 1, "the new centre may be anywhere");
        assert_eq!(follow(100.0).0, 2, "within what rounding may do");
        let mut of_moved = known(0, 24.0, &[25.0, 36.0, 34.5]);
        assert_eq!(of_moved.follow(0, &moves, &[Slack::default(); 3], &mut Vec::new()), 0);
        assert!(of_moved.most[0] >= 34.0 && of_moved.most[0] < 34.0001, "its own centre may be farther by 10");
    }

    #[test]
    fn a_centre_that_jumped_has_the_bounds_of_the_place_to_which_it_jumped() {
        let mut moves = Moves::default();
        // The first centre goes to the place of the third, 100 away. The second rests.
        let (before, after) = ([0.0, 0.0, 60.0, 80.0, 30.0, 40.0], [30.0, 39.0, 60.0, 80.0, 30.0, 40.0]);
        moves.measure(&before, &after, 2, 1.0, true);
        let mut far = known(1, 7.0, &[95.0, 6.0, 48.0]);
        assert_eq!(far.follow(0, &moves, &[Slack::default(); 3], &mut Vec::new()), 0);
        assert!(far.least[0] <= 47.0 && far.least[0] > 46.999, "48 less the distance of 1 from the third");
        // Without a bound of the third, the distance of both centres is what is known: sqrt(30^2 + 41^2) - 7.
        let mut unknown = known(1, 7.0, &[80.0, 6.0, 0.0]);
        assert_eq!(unknown.follow(0, &moves, &[Slack::default(); 3], &mut Vec::new()), 0);
        assert!((unknown.least[0] - 43.80).abs() < 0.01);
    }

    #[test]
    fn what_is_as_near_as_a_bound_may_be_near() {
        for squared in [1e-20, 0.3, 1.0, 77.7, 1e20] {
            let bound = least_of(squared, 0.0);
            assert!(may_be_near(bound, 0.0, rounded_up(squared)));
            assert!(
                !may_be_near(bound, 0.0, rounded_up(squared * 0.99999)),
                "and what is farther need not be looked at"
            );
            let most = f64::from(most_of(squared, 0.0));
            assert!(most * most >= squared && most * most < squared * 1.00001);
        }
        assert!(may_be_near(-3.0, 0.0, 1.0), "a bound below 0 says nothing");
        assert!(may_be_near(least_of(0.0, 0.0), 0.0, 0.0), "equals may be near");
        assert_eq!(least_of(1.0, 2.0), 0.0);
    }

    #[test]
    fn what_another_knows_is_taken_over_and_nothing_of_centres_that_are_new() {
        let mut base = Known::default();
        base.begin(2, 2);
        base.least.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        base.nearest[1] = 1;
        base.most[1] = 5.0;
        let mut known = Known::default();
        known.take_over(&base, 3);
        assert_eq!((known.rows(), known.nearest(1), &known.least[..]), (2, 1, &[1.0, 2.0, 0.0, 3.0, 4.0, 0.0][..]));
        assert_eq!(known.most, base.most);
        known.take_over(&base, 2);
        assert_eq!(known.least, base.least);
    }
}
