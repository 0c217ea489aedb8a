//! Soft and hard assignment of rows of bits, 64 columns to a word, with the sums that the next centres are made of.
//!
//! For a row `x` of zeros and ones and a centre `y`, `|x - y|^2 = |y|^2 + sum over the set bits j of (1 - 2 y_j)` (`mining-spec` 1.11). So of a row nothing matters but where its bits are set. Centres stand
//! side by side: a line for each column holds `1 - 2 y_j` of 8 (16) centres, and a row adds up the lines of its set bits. The sums for the next centres are the transposed product: a row's
//! memberships, a line for 8 (16) centres, are added to the line of each of its set bits. Both cost as many additions as there are set bits, where rows of numbers cost as many multiply-adds as there are columns.
//!
//! Scores and sums have the meaning of [`crate::soft`] and [`crate::nearest`], and their values to rounding; centres, directions and planes are in the coordinates of the bits, 0 and 1.

mod rows;

use crate::dispatch::kernel;
use crate::forms::{Forms, GROUP, group_of};
use crate::lanes::{Lanes, Line, Real};
use crate::nearest::Kind;
use crate::soft::{SoftTotals, Sums, finish, shares};

pub use rows::{BitRows, for_each_set_bit};
use rows::{SLACK, places_of};

/// After so many rows sums in the rows' precision go over into `f64`.
const FLUSH: usize = 256;

/// Buffers never shrink: rounds of both kinds take turns.
fn make_room(places: &mut Vec<u32>, room: usize) {
    if places.len() < room {
        places.resize(room, 0);
    }
}

/// Centres made ready for one temperature.
#[derive(Clone, Debug, Default)]
pub struct SoftBitCenters<T: Real> {
    bits: usize,
    count: usize,
    temperature: f64,
    /// In units of ln 2.
    scores: Forms<T>,
    /// For [`Sums::Along`].
    projections: Forms<T>,
}

impl<T: Real> SoftBitCenters<T> {
    /// Room for `count` centres of `bits` columns at `temperature` (squared bits, positive), with directions if they are wanted.
    ///
    /// # Panics
    /// If `temperature` is not positive.
    pub fn begin(&mut self, bits: usize, count: usize, temperature: f64, has_directions: bool) {
        assert!(temperature > 0.0, "a positive temperature");
        (self.bits, self.count, self.temperature) = (bits, count, temperature);
        self.scores.begin(bits, count);
        self.projections.begin(if has_directions { bits } else { 0 }, if has_directions { count } else { 0 });
    }

    /// Says where centre `k` is, with `log_prior = ln g_k`; 0 for equal priors.
    ///
    /// # Panics
    /// If there is no room for it, or it has not as many coordinates as there are columns.
    pub fn set(&mut self, k: usize, center: &[f64], log_prior: f64) {
        assert!(center.len() == self.bits);
        self.set_form(k, center.iter().map(|y| y * y).sum(), center.iter().map(|y| 1.0 - 2.0 * y), log_prior);
    }

    /// Says what rows cost in component `k`, where that is no squared distance: `constant`, and of `terms` those of the columns whose bits are set.
    ///
    /// # Panics
    /// If there is no room for it.
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

    /// The direction of centre `k`, for [`Sums::Along`].
    ///
    /// # Panics
    /// If there is no room for it, or lengths disagree.
    pub fn set_direction(&mut self, k: usize, center: &[f64], direction: &[f64]) {
        assert!(k < self.count && center.len() == self.bits && direction.len() == self.bits);
        assert!(self.projections.lines > 0, "room for directions");
        let constant = -center.iter().zip(direction).map(|(y, u)| y * u).sum::<f64>();
        self.projections.set(k, constant, direction.iter().copied());
    }

    /// Makes of centre `k` a component that is nowhere and equally far from every row, with `score = ln g_k - d / T` of all of them. Along its direction every row is 1, so that its sums are mass and
    /// first moment whichever are asked for.
    ///
    /// # Panics
    /// If there is no room for it.
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

    /// Number of centres.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Centres for hard assignment, each perhaps with a plane that divides its rows.
#[derive(Clone, Debug, Default)]
pub struct HardBitCenters<T: Real> {
    bits: usize,
    count: usize,
    distances: Forms<T>,
    /// K x D.
    normals: Vec<f64>,
    thresholds: Vec<f64>,
}

impl<T: Real> HardBitCenters<T> {
    /// Room for `count` centres of `bits` columns.
    pub fn begin(&mut self, bits: usize, count: usize) {
        (self.bits, self.count) = (bits, count);
        self.distances.begin(bits, count);
        self.normals.clear();
        self.thresholds.clear();
    }

    /// Says where centre `k` is.
    ///
    /// # Panics
    /// If there is no room for it, or it has not as many coordinates as there are columns.
    pub fn set(&mut self, k: usize, center: &[f64]) {
        assert!(center.len() == self.bits);
        self.set_form(k, center.iter().map(|y| y * y).sum(), center.iter().map(|y| 1.0 - 2.0 * y));
    }

    /// Says what rows cost in centre `k`, where that is no squared distance: `constant`, and of `terms` those of the columns whose bits are set.
    ///
    /// # Panics
    /// If there is no room for it.
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
        self.distances.set(k, constant, terms);
    }

    /// Adds the plane of the next centre, from the first on: rows with `x . normal > threshold` are beyond it.
    ///
    /// # Panics
    /// If the normal has not as many coordinates as there are columns.
    pub fn push_plane(&mut self, normal: &[f64], threshold: f64) {
        assert_eq!(normal.len(), self.bits);
        self.normals.extend_from_slice(normal);
        self.thresholds.push(threshold);
    }

    /// Number of centres.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Buffers of this module's functions; reused from block to block, so that loops allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct BitScratch<T: Real> {
    /// Where the bits of a tile's rows are set, row after row.
    places: Vec<u32>,
    /// What centres say of a tile's rows, row after row, centres side by side.
    values: Vec<T::Line>,
    projections: Vec<T::Line>,
    /// The same centre by centre, rows side by side.
    scores: Vec<T::Line>,
    /// A line of centres for each column, then the one of masses.
    sums: Vec<T::Line>,
    nearest: Vec<u32>,
}

impl<T: Real> BitScratch<T> {
    /// The nearest centre of row `index` of the block of the last call of [`nearest_bit_sums`].
    pub fn nearest(&self, index: usize) -> usize {
        self.nearest[index] as usize
    }
}

/// Adds one block's sums to `sums` (K x [`Sums::len`]): mass and first moment of the bits, or what [`Sums::Along`] says.
///
/// Cost: set bits x K x 2 additions, rows x K exponentials. No allocation once `scratch` has grown.
///
/// # Panics
/// If the shapes disagree, there is no centre, second moments are asked for, or directions that were not announced.
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
    scratch.values.resize(T::Line::COUNT * centers.scores.lines, T::Line::default());
    let (log_sum, softness) = if kind == Sums::Along {
        assert_eq!(centers.projections.lines, centers.scores.lines, "directions");
        scratch.projections.resize(centers.scores.lines, T::Line::default());
        soft::<T, true>(rows, centers, scratch, sums)
    } else {
        soft::<T, false>(rows, centers, scratch, sums)
    };
    SoftTotals { free_energy: -centers.temperature * std::f64::consts::LN_2 * log_sum, softness }
}

/// Adds one block's sums to `sums` (K x [`Kind::len`]), each row to its nearest centre, the first of several equally near.
///
/// Cost: set bits x (K + 1) additions. No allocation once `scratch` has grown.
///
/// # Panics
/// If the shapes disagree, there is no centre, or planes are missing for [`Kind::Swaps`].
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
    scratch.values.resize(centers.distances.lines, T::Line::default());
    scratch.nearest.clear();
    nearest(rows, centers, kind, scratch, sums);
}

kernel! {
    fn soft[T; V; const ALONG: bool](rows: &BitRows, centers: &SoftBitCenters<T>, scratch: &mut BitScratch<T>, sums: &mut [f64]) -> (f64, f64) {
        let (lanes, lines) = (T::Line::COUNT, centers.scores.lines);
        let BitScratch { places, values, projections, scores, sums: columns, .. } = scratch;
        let values = &mut values[..lanes * lines];
        let (scores, _) = scores[..centers.count].as_chunks_mut::<1>();
        columns.clear();
        columns.resize((rows.bits + 1) * lines, T::Line::default());
        let mut totals = [V::splat(T::default()); 2];
        make_room(places, lanes * (rows.bits + 1) + SLACK);
        let mut first = 0;
        while first < rows.rows() {
            let present = lanes.min(rows.rows() - first);
            let mut weights = T::Line::default();
            let mut ends = [0; 16];
            let mut start = 0;
            for lane in 0..present {
                let end = start + places_of(rows.row(first + lane), &mut places[start..]);
                add_up::<T, V>(&centers.scores, &places[start..end], &mut values[lane * lines..][..lines]);
                // The masses are one more column, in which every row has a bit.
                places[end] = rows.bits as u32;
                (ends[lane], start) = (end + 1, end + 1);
                weights.lanes_mut()[lane] = T::from_f64(rows.weights[first + lane]);
            }
            // Rows side by side, as in every other kernel; a lane without a row has weight 0 and whatever scores were there.
            let mut most = V::splat(T::from_f64(f64::NEG_INFINITY));
            for (k, score) in scores.iter_mut().enumerate() {
                for lane in 0..present {
                    score[0].lanes_mut()[lane] = values[lane * lines + k / lanes].lanes()[k % lanes];
                }
                most = V::load(&score[0]).max(most);
            }
            let share = shares::<T, V, 1>(scores, std::slice::from_ref(&weights), [most], &mut totals);
            for (k, score) in scores.iter_mut().enumerate() {
                V::load(&score[0]).mul(share[0]).store(&mut score[0]);
                for lane in 0..present {
                    values[lane * lines + k / lanes].lanes_mut()[k % lanes] = score[0].lanes()[lane];
                }
            }
            let mut start = 0;
            for lane in 0..present {
                let places = &places[start..ends[lane]];
                start = ends[lane];
                let members = &mut values[lane * lines..][..lines];
                if ALONG {
                    add_up::<T, V>(&centers.projections, &places[..places.len() - 1], projections);
                    for (member, projection) in members.iter_mut().zip(projections.iter()) {
                        V::load(member).mul(V::load(projection)).store(member);
                    }
                }
                add_to_columns::<T, V>(places, members, columns);
            }
            first += present;
            if first % FLUSH == 0 || first == rows.rows() {
                flush::<T>(columns, rows.bits, lines, sums);
            }
        }
        finish(totals)
    }
}

kernel! {
    fn nearest[T; V](rows: &BitRows, centers: &HardBitCenters<T>, kind: Kind, scratch: &mut BitScratch<T>, sums: &mut [f64]) {
        let (lanes, lines, per_center) = (T::Line::COUNT, centers.distances.lines, kind.len(rows.bits));
        let BitScratch { places, values, nearest, .. } = scratch;
        let values = &mut values[..lines];
        make_room(places, rows.bits + SLACK);
        for index in 0..rows.rows() {
            let count = places_of(rows.row(index), places);
            let places = &places[..count];
            add_up::<T, V>(&centers.distances, places, values);
            let (mut own, mut best, mut second) = (0, f64::INFINITY, f64::INFINITY);
            for k in 0..centers.count {
                // What rounding leaves of nothing is no distance below it.
                let distance = values[k / lanes].lanes()[k % lanes].to_f64().max(0.0);
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
            sums[1 + rows.bits] += weight * best;
            let moments = &mut sums[1..][..rows.bits];
            for &place in places.iter() {
                moments[place as usize] += weight;
            }
            if kind == Kind::Swaps {
                // With one centre there is no second: taking it away costs everything.
                if centers.count > 1 {
                    sums[2 + rows.bits] += weight * (second - best);
                }
                let normal = &centers.normals[own * rows.bits..][..rows.bits];
                let mut height = 0.0;
                for &place in places.iter() {
                    height += normal[place as usize];
                }
                if height > centers.thresholds[own] {
                    sums[3 + rows.bits] += weight;
                    let moments = &mut sums[4 + rows.bits..][..rows.bits];
                    for &place in places.iter() {
                        moments[place as usize] += weight;
                    }
                }
            }
        }
    }
}

/// Writes `constant + terms of the places` of all centres to `out`.
#[inline(always)]
fn add_up<T: Real, V: Lanes<Number = T>>(forms: &Forms<T>, places: &[u32], out: &mut [T::Line]) {
    let mut from = 0;
    while from < forms.lines {
        match forms.lines - from {
            1 => add_up_of::<T, V, 1, 8>(forms, places, from, out),
            2 => add_up_of::<T, V, 2, 4>(forms, places, from, out),
            3 => add_up_of::<T, V, 3, 2>(forms, places, from, out),
            _ => add_up_of::<T, V, GROUP, 2>(forms, places, from, out),
        }
        from += GROUP;
    }
}

/// N lines of centres. The places are dealt to C sums, which are added up at the end: one addition would have to wait for the one before.
#[inline(always)]
fn add_up_of<T: Real, V: Lanes<Number = T>, const N: usize, const C: usize>(
    forms: &Forms<T>,
    places: &[u32],
    from: usize,
    out: &mut [T::Line],
) {
    let (terms, _) = forms.terms[forms.columns * from..][..forms.columns * N].as_chunks::<N>();
    let mut sums = [[V::splat(T::default()); N]; C];
    let (groups, rest) = places.as_chunks::<C>();
    for group in groups {
        for c in 0..C {
            let terms = &terms[group[c] as usize];
            for n in 0..N {
                sums[c][n] = sums[c][n].add(V::load(&terms[n]));
            }
        }
    }
    for &place in rest {
        let terms = &terms[place as usize];
        for n in 0..N {
            sums[0][n] = sums[0][n].add(V::load(&terms[n]));
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
    for n in 0..N {
        sums[0][n].add(V::load(&forms.constants[from + n])).store(&mut out[from + n]);
    }
}

/// Adds a row's lines of centres to the lines of its places; columns are kept as [`Forms::terms`] are.
#[inline(always)]
fn add_to_columns<T: Real, V: Lanes<Number = T>>(places: &[u32], members: &[T::Line], columns: &mut [T::Line]) {
    let mut from = 0;
    while from < members.len() {
        match members.len() - from {
            1 => add_to_columns_of::<T, V, 1>(places, members, from, columns),
            2 => add_to_columns_of::<T, V, 2>(places, members, from, columns),
            3 => add_to_columns_of::<T, V, 3>(places, members, from, columns),
            _ => add_to_columns_of::<T, V, GROUP>(places, members, from, columns),
        }
        from += GROUP;
    }
}

#[inline(always)]
fn add_to_columns_of<T: Real, V: Lanes<Number = T>, const N: usize>(
    places: &[u32],
    members: &[T::Line],
    from: usize,
    columns: &mut [T::Line],
) {
    let count = columns.len() / members.len();
    let (columns, _) = columns[count * from..][..count * N].as_chunks_mut::<N>();
    let mut member = [V::splat(T::default()); N];
    for n in 0..N {
        member[n] = V::load(&members[from + n]);
    }
    for &place in places {
        let column = &mut columns[place as usize];
        for n in 0..N {
            V::load(&column[n]).add(member[n]).store(&mut column[n]);
        }
    }
}

/// Moves what columns hold over into `sums` (K x (1 + D), masses first), and leaves nothing in them.
#[inline(always)]
fn flush<T: Real>(columns: &mut [T::Line], bits: usize, lines: usize, sums: &mut [f64]) {
    for (k, sums) in sums.chunks_exact_mut(1 + bits).enumerate() {
        let (line, lane) = (k / T::Line::COUNT, k % T::Line::COUNT);
        let (from, width) = group_of(line, lines);
        let group = columns[(bits + 1) * from..][..(bits + 1) * width].chunks_exact(width);
        // The masses are the column behind the last, and come first.
        let (mass, moments) = sums.split_at_mut(1);
        for (column, sum) in group.zip(moments.iter_mut().chain(mass)) {
            *sum += column[line - from].lanes()[lane].to_f64();
        }
    }
    columns.fill(T::Line::default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nearest::{HardCenters, HardScratch, nearest_sums};
    use crate::oracle::on_all_sets;
    use crate::random::Stream;
    use crate::soft::{SoftCenters, SoftScratch, soft_sums};
    use crate::tiles::Tiles;

    /// The same rows packed and as numbers, with centres, priors and directions in the coordinates of the bits.
    struct Problem {
        bits: usize,
        packed: BitRows,
        rows: Vec<Vec<f64>>,
        centers: Vec<Vec<f64>>,
        directions: Vec<Vec<f64>>,
        thresholds: Vec<f64>,
        temperature: f64,
        /// The score of a component behind the centres that is equally far from every row.
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
            // Numbers that single precision holds exactly.
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
            let totals = soft_bit_sums(&self.packed, &centers, kind, &mut BitScratch::default(), &mut sums);
            sums.extend([totals.free_energy, totals.softness]);
            sums
        }

        fn hard<T: Real>(&self, kind: Kind) -> Vec<f64> {
            let mut centers = HardBitCenters::<T>::default();
            centers.begin(self.bits, self.centers.len());
            for (k, center) in self.centers.iter().enumerate() {
                centers.set(k, center);
                centers.push_plane(&self.directions[k], self.thresholds[k]);
            }
            let mut sums = vec![0.0; self.centers.len() * kind.len(self.bits)];
            let mut scratch = BitScratch::default();
            nearest_bit_sums(&self.packed, &centers, kind, &mut scratch, &mut sums);
            sums.extend((0..self.rows.len()).map(|row| scratch.nearest(row) as f64));
            sums
        }

        /// What the kernels of numbers say, which their own oracle answers for.
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

        /// The sums of rows and centres one by one, from the definition.
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

    /// Rows around tiles and flushes, columns around words, centres around lines.
    const SHAPES: [(usize, usize, usize); 9] = [
        (1, 17, 1),
        (7, 64, 2),
        (8, 63, 8),
        (9, 65, 9),
        (33, 128, 17),
        (255, 130, 24),
        (257, 70, 33),
        (600, 33, 5),
        (64, 1047, 50),
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
            // Centres are some 1/3 a column away, which is 6.7 temperatures.
            let problem = Problem { far: Some(-7.0), ..Problem::new(rows, bits, clusters) };
            let what = format!("{shape:?}");
            for kind in [Sums::First, Sums::Along] {
                let double = on_all_sets(&what, || problem.soft::<f64>(kind));
                close(&double, &problem.soft_by_definition(kind), 1e-12, &what);
                let single = on_all_sets(&what, || problem.soft::<f32>(kind));
                close(&single, &double, 1e-5, &what);
            }
            // The first row has no weight to give.
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
    fn places_are_those_of_the_set_bits() {
        let stream = Stream::new(3, "places");
        for width in [1, 2, 17] {
            for density in [0.0, 0.04, 0.2, 0.6, 1.0] {
                let is_set = |j: usize| stream.uniform(j as u64) < density;
                let words: Vec<u64> =
                    (0..width).map(|w| (0..64).fold(0, |word, j| word | u64::from(is_set(64 * w + j)) << j)).collect();
                let expected: Vec<u32> = (0..64 * width as u32).filter(|&j| is_set(j as usize)).collect();
                let mut places = vec![0; 64 * width + SLACK];
                let count = places_of(&words, &mut places);
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
