//! Soft assignment together with the sums for the next centres (the E-step and M-step of annealed clustering in one
//! pass).
//!
//! For each row `x` of weight `w` and each centre `y_k` with prior `g_k` (paper 004 eq. (1)):
//!
//! ```text
//! score_k = ln g_k - |x - y_k|^2 / T        m_k = exp(score_k) / sum_l exp(score_l)
//! C_k += w m_k      S_k += w m_k x          F += -T w ln sum_k exp(score_k)
//! ```
//!
//! The memberships `m` of all rows are never stored: a group of tiles is scored, exponentiated and summed while it is
//! in the first-level cache. Scores are in units of `ln 2`, so that the exponential is a power of two. The largest
//! score of a row is subtracted first, so nothing overflows at any temperature. Sums are in the rows' precision within
//! one block (at most 4096 rows) and in `f64` beyond it.

use crate::dispatch::kernel;
use crate::lanes::{Lanes, Line, Real};
use crate::line_sums::{add_each, add_line_sums};
use crate::products::products;
use crate::tiles::{DIRECT_DIMENSION, Tiles};

/// The number of tiles handled together, so that a centre's sums are loaded and stored once for all of them.
const GROUP: usize = 4;
/// In many dimensions, the number of tiles whose memberships are stored at a time.
const WIDE_GROUP: usize = 8;

/// Centres prepared for one temperature, in the rows' precision.
#[derive(Clone, Debug, Default)]
pub struct SoftCenters<T: Real> {
    dimension: usize,
    /// The scaled centres, K x D. The factor is `sqrt(log2 e / T)` in few dimensions, and `2 log2 e / T` in many.
    scaled: Vec<T>,
    /// The offsets: `log2 g_k` in few dimensions, and `log2 g_k - |y_k|^2 log2 e / T` in many.
    offsets: Vec<T>,
    centers: Vec<T>,
    /// For [`Sums::Along`]: the direction of each centre (K x D), and `-y_k . u_k`.
    directions: Vec<T>,
    direction_offsets: Vec<T>,
    scale: f64,
    temperature: f64,
}

impl<T: Real> SoftCenters<T> {
    /// Removes all centres, and prepares for centres of `dimension` coordinates at `temperature` (in the squared unit
    /// of the rows, above 0).
    ///
    /// # Panics
    /// Panics if `temperature` is not positive.
    pub fn begin(&mut self, dimension: usize, temperature: f64) {
        assert!(temperature > 0.0, "a positive temperature");
        self.dimension = dimension;
        self.temperature = temperature;
        self.scale = (std::f64::consts::LOG2_E / temperature).sqrt();
        self.scaled.clear();
        self.offsets.clear();
        self.centers.clear();
        self.directions.clear();
        self.direction_offsets.clear();
    }

    /// Adds a centre, relative to the rows' origin, with `log_prior = ln g_k`; 0 for equal priors.
    ///
    /// # Panics
    /// Panics if the centre's number of coordinates differs from the number given to [`SoftCenters::begin`].
    pub fn push(&mut self, center: &[f64], log_prior: f64) {
        assert_eq!(center.len(), self.dimension);
        let mut offset = log_prior * std::f64::consts::LOG2_E;
        if self.dimension <= DIRECT_DIMENSION {
            self.scaled.extend(center.iter().map(|&y| T::from_f64(y * self.scale)));
        } else {
            offset -= center.iter().map(|&y| (y * self.scale) * (y * self.scale)).sum::<f64>();
            self.scaled.extend(center.iter().map(|&y| T::from_f64(2.0 * y * self.scale * self.scale)));
        }
        self.offsets.push(T::from_f64(offset));
        self.centers.extend(center.iter().map(|&y| T::from_f64(y)));
    }

    /// Adds the direction of the last centre that was pushed, for [`Sums::Along`].
    ///
    /// # Panics
    /// Panics if the number of coordinates of `center` or `direction` differs from the number given to
    /// [`SoftCenters::begin`].
    pub fn push_direction(&mut self, center: &[f64], direction: &[f64]) {
        assert!(center.len() == self.dimension && direction.len() == self.dimension);
        self.directions.extend(direction.iter().map(|&u| T::from_f64(u)));
        self.direction_offsets.push(T::from_f64(-center.iter().zip(direction).map(|(y, u)| y * u).sum::<f64>()));
    }

    /// Returns the number of centres.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Returns the number of coordinates of a centre.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
}

/// The buffers of this module's functions, which are reused from block to block so that loops do not allocate.
#[derive(Clone, Debug, Default)]
pub struct SoftScratch<T: Real> {
    scores: Vec<T::Line>,
    projections: Vec<T::Line>,
    sums: Vec<T::Line>,
}

impl<T: Real> SoftScratch<T> {
    fn resize(&mut self, scores: usize, sums: usize) {
        self.scores.resize(scores, T::Line::default());
        self.sums.clear();
        self.sums.resize(sums, T::Line::default());
    }
}

/// The sums that a pass computes for each centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// Mass and first moment: 1 + D numbers.
    First,
    /// The sums of [`Sums::First`], then the second moment relative to the centre, lower triangle row by row: D (D + 1)
    /// / 2 further numbers. For up to [`DIRECT_DIMENSION`] dimensions.
    Second,
    /// `sum w m p` and `sum w m p x` with `p = (x - y_k) . u_k` for the direction `u_k` of each centre: 1 + D numbers.
    /// They give the product of the centre's covariance with `u_k`, a step towards its leading eigenvector. For more
    /// than [`DIRECT_DIMENSION`] dimensions.
    Along,
}

impl Sums {
    /// Returns the number of sums for each centre.
    pub const fn len(self, dimension: usize) -> usize {
        match self {
            Sums::First | Sums::Along => 1 + dimension,
            Sums::Second => 1 + dimension + dimension * (dimension + 1) / 2,
        }
    }
}

/// The totals over all centres of a block, which [`soft_sums`] computes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftTotals {
    /// The total `-T sum w ln sum_k exp(score_k)`.
    pub free_energy: f64,
    /// The total `sum w (1 - max_k m_k)`, which measures how soft the assignment is.
    pub softness: f64,
}

/// Adds the sums of one block to `sums` (K x [`Sums::len`]): mass `C_k`, first moment `S_k` and, on request, second
/// moments.
///
/// Cost: rows x K x (2 D multiply-adds + one exponential). It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, or if second moments are requested in more than
/// [`DIRECT_DIMENSION`] dimensions.
///
/// # Example
/// ```
/// use lehr_numerics::{soft::{soft_sums, SoftCenters, SoftScratch, Sums}, tiles::Tiles};
/// let rows = [[-1.0], [1.0]];
/// let tiles = Tiles::<f64>::new(2, 1, &[0.0], |i| &rows[i], |_| 1.0);
/// let mut centers = SoftCenters::default();
/// centers.begin(1, 2.0);
/// centers.push(&[0.0], 0.0);
/// let mut sums = [0.0; 2];
/// let totals = soft_sums(&tiles, &centers, Sums::First, &mut SoftScratch::default(), &mut sums);
/// assert_eq!(sums, [2.0, 0.0]); // all the mass, and the rows cancel
/// assert!((totals.free_energy - 2.0).abs() < 1e-12); // one centre: the sum of squared distances
/// ```
pub fn soft_sums<T: Real>(
    tiles: &Tiles<T>,
    centers: &SoftCenters<T>,
    kind: Sums,
    scratch: &mut SoftScratch<T>,
    sums: &mut [f64],
) -> SoftTotals {
    let (dimension, clusters) = (tiles.dimension(), centers.len());
    assert!(clusters > 0, "at least one centre");
    assert_eq!(dimension, centers.dimension);
    assert_eq!(sums.len(), clusters * kind.len(dimension));
    let (log_sum, softness, squares) = if dimension > DIRECT_DIMENSION {
        assert!(
            kind != Sums::Second,
            "second moments in many dimensions are not formed: products along a direction instead"
        );
        let is_by_row = !tiles.row_major().is_empty();
        scratch.resize(
            clusters * WIDE_GROUP,
            clusters * if is_by_row { dimension.div_ceil(T::Line::COUNT) } else { dimension },
        );
        let (log_sum, softness) = if kind == Sums::Along {
            assert_eq!(centers.direction_offsets.len(), clusters);
            scratch.projections.resize(clusters * WIDE_GROUP, T::Line::default());
            wide::<T, true>(tiles, centers, scratch, sums)
        } else {
            wide::<T, false>(tiles, centers, scratch, sums)
        };
        (log_sum, softness, tiles.square())
    } else {
        assert!(kind != Sums::Along, "in few dimensions second moments are formed");
        scratch.resize(clusters * GROUP, clusters * kind.len(dimension));
        let (x, w) = (tiles.values(), tiles.weights());
        let (log_sum, softness) = match (dimension, kind) {
            (1, Sums::First) => direct::<T, 1, 2>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (2, Sums::First) => direct::<T, 2, 3>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (3, Sums::First) => direct::<T, 3, 4>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (4, Sums::First) => direct::<T, 4, 5>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (1, Sums::Second) => direct::<T, 1, 3>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (2, Sums::Second) => direct::<T, 2, 6>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (3, Sums::Second) => direct::<T, 3, 10>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums),
            (_, Sums::First | Sums::Along) => {
                direct_any::<T, false>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums)
            }
            (_, Sums::Second) => {
                direct_any::<T, true>(x, w, dimension, centers, &mut scratch.scores, &mut scratch.sums)
            }
        };
        add_line_sums::<T>(&scratch.sums, sums);
        (log_sum, softness, 0.0)
    };
    SoftTotals { free_energy: squares - centers.temperature * std::f64::consts::LN_2 * log_sum, softness }
}

kernel! {
    /// Assigns rows in few dimensions, known at compile time: the coordinates of a group of tiles stay in registers. It
    /// computes `N` sums for each centre.
    fn direct[T; V; const D: usize; const N: usize](
        values: &[T::Line],
        weights: &[T::Line],
        _dimension: usize,
        centers: &SoftCenters<T>,
        scores: &mut [T::Line],
        sums: &mut [T::Line],
    ) -> (f64, f64) {
        let mut totals = [V::splat(T::default()); 2];
        let whole = weights.len() / GROUP * GROUP;
        for at in (0..whole).step_by(GROUP) {
            direct_group::<T, V, D, N, GROUP>(&values[at * D..], &weights[at..], centers, scores, sums, &mut totals);
        }
        for at in whole..weights.len() {
            direct_group::<T, V, D, N, 1>(&values[at * D..], &weights[at..], centers, scores, sums, &mut totals);
        }
        finish(totals)
    }
}

#[inline(always)]
pub(crate) fn finish<T: Real, V: Lanes<Number = T>>(totals: [V; 2]) -> (f64, f64) {
    let mut lines = [T::Line::default(); 2];
    totals[0].store(&mut lines[0]);
    totals[1].store(&mut lines[1]);
    (lines[0].sum(), lines[1].sum())
}

#[inline(always)]
fn direct_group<T: Real, V: Lanes<Number = T>, const D: usize, const N: usize, const G: usize>(
    values: &[T::Line],
    weights: &[T::Line],
    centers: &SoftCenters<T>,
    scores: &mut [T::Line],
    sums: &mut [T::Line],
    totals: &mut [V; 2],
) {
    let clusters = centers.len();
    let zero = V::splat(T::default());
    let scale = V::splat(T::from_f64(centers.scale));
    let values = &values[..G * D];
    let mut x = [[zero; D]; G];
    for t in 0..G {
        for j in 0..D {
            x[t][j] = V::load(&values[t * D + j]).mul(scale);
        }
    }
    let (scores, _) = scores[..clusters * G].as_chunks_mut::<G>();
    let (scaled, _) = centers.scaled.as_chunks::<D>();
    let mut most = [V::splat(T::from_f64(f64::NEG_INFINITY)); G];
    for ((score, y), &offset) in scores.iter_mut().zip(scaled).zip(&centers.offsets) {
        for t in 0..G {
            let mut value = V::splat(offset);
            for j in 0..D {
                let difference = x[t][j].sub(V::splat(y[j]));
                value = difference.neg_mul_add(difference, value);
            }
            value.store(&mut score[t]);
            most[t] = value.max(most[t]);
        }
    }
    let share = shares::<T, V, G>(scores, weights, most, totals);
    for t in 0..G {
        for j in 0..D {
            x[t][j] = V::load(&values[t * D + j]);
        }
    }
    let (sums, _) = sums.as_chunks_mut::<N>();
    let (centers, _) = centers.centers.as_chunks::<D>();
    for ((score, sums), y) in scores.iter().zip(sums).zip(centers) {
        let mut sum = [zero; N];
        for n in 0..N {
            sum[n] = V::load(&sums[n]);
        }
        for t in 0..G {
            let member = V::load(&score[t]).mul(share[t]);
            sum[0] = sum[0].add(member);
            for j in 0..D {
                sum[1 + j] = member.mul_add(x[t][j], sum[1 + j]);
            }
            if N > 1 + D {
                let mut difference = [zero; D];
                let mut n = 1 + D;
                for i in 0..D {
                    difference[i] = x[t][i].sub(V::splat(y[i]));
                    let product = member.mul(difference[i]);
                    for j in 0..=i {
                        sum[n] = product.mul_add(difference[j], sum[n]);
                        n += 1;
                    }
                }
            }
        }
        for n in 0..N {
            sum[n].store(&mut sums[n]);
        }
    }
}

/// Replaces scores by powers of two of their difference from the row's best score, and adds to the totals. Returns each
/// row's weight divided by the sum of its powers.
#[inline(always)]
pub(crate) fn shares<T: Real, V: Lanes<Number = T>, const G: usize>(
    scores: &mut [[T::Line; G]],
    weights: &[T::Line],
    most: [V; G],
    totals: &mut [V; 2],
) -> [V; G] {
    let mut sum = [V::splat(T::default()); G];
    for score in scores.iter_mut() {
        for t in 0..G {
            let value = V::load(&score[t]).sub(most[t]).exp2();
            value.store(&mut score[t]);
            sum[t] = sum[t].add(value);
        }
    }
    let mut share = sum;
    for t in 0..G {
        let weight = V::load(&weights[t]);
        share[t] = weight.div(sum[t]);
        totals[0] = weight.mul_add(most[t].add(sum[t].log2()), totals[0]);
        // The power of the best centre is 1, so its membership is the share itself.
        totals[1] = totals[1].add(weight.sub(share[t]));
    }
    share
}

kernel! {
    /// Assigns rows in 5 to 16 dimensions, and computes moments for which [`direct`] is not compiled. It reads the
    /// coordinates of a group of tiles from the first-level cache.
    fn direct_any[T; V; const SECOND: bool](
        values: &[T::Line],
        weights: &[T::Line],
        dimension: usize,
        centers: &SoftCenters<T>,
        scores: &mut [T::Line],
        sums: &mut [T::Line],
    ) -> (f64, f64) {
        let mut totals = [V::splat(T::default()); 2];
        let whole = weights.len() / GROUP * GROUP;
        for at in (0..whole).step_by(GROUP) {
            let values = &values[at * dimension..][..GROUP * dimension];
            any_group::<T, V, SECOND, GROUP>(values, &weights[at..], dimension, centers, scores, sums, &mut totals);
        }
        for at in whole..weights.len() {
            let values = &values[at * dimension..][..dimension];
            any_group::<T, V, SECOND, 1>(values, &weights[at..], dimension, centers, scores, sums, &mut totals);
        }
        finish(totals)
    }
}

/// Processes G tiles: each loaded coordinate of a centre, and each loaded and stored sum, serves all of them.
#[inline(always)]
fn any_group<T: Real, V: Lanes<Number = T>, const SECOND: bool, const G: usize>(
    values: &[T::Line],
    weights: &[T::Line],
    dimension: usize,
    centers: &SoftCenters<T>,
    scores: &mut [T::Line],
    sums: &mut [T::Line],
    totals: &mut [V; 2],
) {
    let zero = V::splat(T::default());
    let scale = V::splat(T::from_f64(centers.scale));
    let per_center = if SECOND { Sums::Second.len(dimension) } else { Sums::First.len(dimension) };
    let (scores, _) = scores[..centers.len() * G].as_chunks_mut::<G>();
    // Coordinate j of tile t is in `x[j][t]`, first scaled for the scores, then unscaled.
    let mut x = [[zero; G]; DIRECT_DIMENSION];
    for j in 0..dimension {
        for t in 0..G {
            x[j][t] = V::load(&values[t * dimension + j]).mul(scale);
        }
    }
    let mut most = [V::splat(T::from_f64(f64::NEG_INFINITY)); G];
    for ((score, y), &offset) in scores.iter_mut().zip(centers.scaled.chunks_exact(dimension)).zip(&centers.offsets) {
        let mut value = [V::splat(offset); G];
        for (x, &y) in x.iter().zip(y) {
            let y = V::splat(y);
            for t in 0..G {
                let difference = x[t].sub(y);
                value[t] = difference.neg_mul_add(difference, value[t]);
            }
        }
        for t in 0..G {
            value[t].store(&mut score[t]);
            most[t] = value[t].max(most[t]);
        }
    }
    let share = shares::<T, V, G>(scores, weights, most, totals);
    for j in 0..dimension {
        for t in 0..G {
            x[j][t] = V::load(&values[t * dimension + j]);
        }
    }
    for ((score, sums), y) in
        scores.iter().zip(sums.chunks_exact_mut(per_center)).zip(centers.centers.chunks_exact(dimension))
    {
        let mut member = [zero; G];
        let (mass, moments) = sums.split_first_mut().expect("a centre has a mass");
        let mut sum = V::load(mass);
        for t in 0..G {
            member[t] = V::load(&score[t]).mul(share[t]);
            sum = sum.add(member[t]);
        }
        sum.store(mass);
        let (first, second) = moments.split_at_mut(dimension);
        for (x, line) in x.iter().zip(first) {
            let mut sum = V::load(line);
            for t in 0..G {
                sum = member[t].mul_add(x[t], sum);
            }
            sum.store(line);
        }
        if SECOND {
            let mut difference = [[zero; G]; DIRECT_DIMENSION];
            let mut n = 0;
            for i in 0..dimension {
                let mut product = [zero; G];
                for t in 0..G {
                    difference[i][t] = x[i][t].sub(V::splat(y[i]));
                    product[t] = member[t].mul(difference[i][t]);
                }
                for j in 0..=i {
                    let mut sum = V::load(&second[n]);
                    for t in 0..G {
                        sum = product[t].mul_add(difference[j][t], sum);
                    }
                    sum.store(&mut second[n]);
                    n += 1;
                }
            }
        }
    }
}

kernel! {
    /// Assigns rows in many dimensions: two matrix products with the exponential between them, blocked for registers.
    fn wide[T; V; const ALONG: bool](tiles: &Tiles<T>, centers: &SoftCenters<T>, scratch: &mut SoftScratch<T>, sums: &mut [f64]) -> (f64, f64) {
        let (dimension, clusters) = (tiles.dimension(), centers.len());
        let lines_per_row = dimension.div_ceil(T::Line::COUNT);
        let mut totals = [V::splat(T::default()); 2];
        let (scores, _) = scratch.scores[..clusters * WIDE_GROUP].as_chunks_mut::<WIDE_GROUP>();
        let group_rows = WIDE_GROUP * T::Line::COUNT * lines_per_row;
        let is_by_row = !tiles.row_major().is_empty();
        for (group, (values, weights)) in
            tiles.values().chunks(WIDE_GROUP * dimension).zip(tiles.weights().chunks(WIDE_GROUP)).enumerate()
        {
            products::<T, V, WIDE_GROUP>(values, dimension, &centers.scaled, &centers.offsets, scores);
            for (t, weight) in weights.iter().enumerate() {
                let mut most = V::splat(T::from_f64(f64::NEG_INFINITY));
                for score in scores.iter() {
                    most = V::load(&score[t]).max(most);
                }
                let mut sum = V::splat(T::default());
                for score in scores.iter_mut() {
                    let value = V::load(&score[t]).sub(most).exp2();
                    value.store(&mut score[t]);
                    sum = sum.add(value);
                }
                let weight = V::load(weight);
                let share = weight.div(sum);
                totals[0] = weight.mul_add(most.add(sum.log2()), totals[0]);
                totals[1] = totals[1].add(weight.sub(share));
                for score in scores.iter_mut() {
                    V::load(&score[t]).mul(share).store(&mut score[t]);
                }
            }
            if ALONG {
                let (projections, _) = scratch.projections[..clusters * WIDE_GROUP].as_chunks_mut::<WIDE_GROUP>();
                products::<T, V, WIDE_GROUP>(values, dimension, &centers.directions, &centers.direction_offsets, projections);
                for (score, projection) in scores.iter_mut().zip(projections) {
                    for t in 0..weights.len() {
                        V::load(&score[t]).mul(V::load(&projection[t])).store(&mut score[t]);
                    }
                }
            }
            for (score, sums) in scores.iter().zip(sums.chunks_exact_mut(1 + dimension)) {
                let mut mass = V::load(&score[0]);
                for score in &score[1..weights.len()] {
                    mass = mass.add(V::load(score));
                }
                sums[0] += mass.sum();
            }
            if !is_by_row {
                lane_sums::<T, V>(values, weights.len(), dimension, scores, &mut scratch.sums);
                continue;
            }
            let rows = &tiles.row_major()[group * group_rows..];
            row_sums::<T, V>(rows, weights.len(), lines_per_row, scores, &mut scratch.sums);
            // Sums are in `f64` from here on: a group has at most 128 rows.
            for (line, sums) in scratch.sums.chunks_exact_mut(lines_per_row).zip(sums.chunks_exact_mut(1 + dimension)) {
                for (sums, line) in sums[1..].chunks_mut(T::Line::COUNT).zip(line) {
                    for (sum, value) in sums.iter_mut().zip(line.lanes()) {
                        *sum += value.to_f64();
                    }
                    *line = T::Line::default();
                }
            }
        }
        if !is_by_row {
            // Sums are in `f64` from here on: there are at most 256 additions in each lane.
            for (lines, sums) in scratch.sums.chunks_exact(dimension).zip(sums.chunks_exact_mut(1 + dimension)) {
                add_each::<T, V>(lines, &mut sums[1..]);
            }
        }
        finish(totals)
    }
}

/// Adds `m_k x_j` to `sums` (K x D lines), lane by lane. It handles five centres by four coordinates at a time (fewer
/// if a line takes two registers), then the remaining ones.
#[inline(always)]
fn lane_sums<T: Real, V: Lanes<Number = T>>(
    values: &[T::Line],
    tiles: usize,
    dimension: usize,
    scores: &[[T::Line; WIDE_GROUP]],
    sums: &mut [T::Line],
) {
    let mut at = 0;
    if V::IN_ONE_REGISTER {
        while at + 5 <= scores.len() {
            lane_sums_of::<T, V, 5, 4>(values, tiles, dimension, &scores[at..], &mut sums[at * dimension..]);
            at += 5;
        }
    }
    while at + 2 <= scores.len() {
        lane_sums_of::<T, V, 2, 3>(values, tiles, dimension, &scores[at..], &mut sums[at * dimension..]);
        at += 2;
    }
    if at < scores.len() {
        lane_sums_of::<T, V, 1, 4>(values, tiles, dimension, &scores[at..], &mut sums[at * dimension..]);
    }
}

#[inline(always)]
fn lane_sums_of<T: Real, V: Lanes<Number = T>, const K: usize, const J: usize>(
    values: &[T::Line],
    tiles: usize,
    dimension: usize,
    scores: &[[T::Line; WIDE_GROUP]],
    sums: &mut [T::Line],
) {
    let whole = dimension / J * J;
    for j in (0..whole).step_by(J) {
        lane_block::<T, V, K, J>(values, tiles, dimension, scores, sums, j);
    }
    for j in whole..dimension {
        lane_block::<T, V, K, 1>(values, tiles, dimension, scores, sums, j);
    }
}

#[inline(always)]
fn lane_block<T: Real, V: Lanes<Number = T>, const K: usize, const J: usize>(
    values: &[T::Line],
    tiles: usize,
    dimension: usize,
    scores: &[[T::Line; WIDE_GROUP]],
    sums: &mut [T::Line],
    j: usize,
) {
    let scores = &scores[..K];
    let mut sum = [[V::splat(T::default()); J]; K];
    for k in 0..K {
        for i in 0..J {
            sum[k][i] = V::load(&sums[k * dimension + j + i]);
        }
    }
    for t in 0..tiles {
        let x = &values[t * dimension + j..][..J];
        for k in 0..K {
            let member = V::load(&scores[k][t]);
            for i in 0..J {
                sum[k][i] = member.mul_add(V::load(&x[i]), sum[k][i]);
            }
        }
    }
    for k in 0..K {
        for i in 0..J {
            sum[k][i].store(&mut sums[k * dimension + j + i]);
        }
    }
}

/// Adds `sum_rows m_k x` to `sums` (K x lines of a row): five centres by four lines at a time, then the remaining ones
/// together.
#[inline(always)]
fn row_sums<T: Real, V: Lanes<Number = T>>(
    rows: &[T::Line],
    tiles: usize,
    lines_per_row: usize,
    scores: &[[T::Line; WIDE_GROUP]],
    sums: &mut [T::Line],
) {
    const AT_ONCE: usize = 5;
    let mut at = 0;
    while at + AT_ONCE <= scores.len() {
        row_sums_of::<T, V, AT_ONCE>(rows, tiles, lines_per_row, &scores[at..], &mut sums[at * lines_per_row..]);
        at += AT_ONCE;
    }
    let (scores, sums) = (&scores[at..], &mut sums[at * lines_per_row..]);
    match scores.len() {
        1 => row_sums_of::<T, V, 1>(rows, tiles, lines_per_row, scores, sums),
        2 => row_sums_of::<T, V, 2>(rows, tiles, lines_per_row, scores, sums),
        3 => row_sums_of::<T, V, 3>(rows, tiles, lines_per_row, scores, sums),
        4 => row_sums_of::<T, V, 4>(rows, tiles, lines_per_row, scores, sums),
        _ => {}
    }
}

#[inline(always)]
fn row_sums_of<T: Real, V: Lanes<Number = T>, const K: usize>(
    rows: &[T::Line],
    tiles: usize,
    lines_per_row: usize,
    scores: &[[T::Line; WIDE_GROUP]],
    sums: &mut [T::Line],
) {
    const LINES: usize = 4;
    let mut at = 0;
    // If a line takes several registers, only the sums of five centres by one line fit.
    while at < lines_per_row && !V::IN_ONE_REGISTER {
        row_block::<T, V, K, 1>(rows, tiles, lines_per_row, scores, sums, at);
        at += 1;
    }
    while at + LINES <= lines_per_row {
        row_block::<T, V, K, LINES>(rows, tiles, lines_per_row, scores, sums, at);
        at += LINES;
    }
    match lines_per_row - at {
        1 => row_block::<T, V, K, 1>(rows, tiles, lines_per_row, scores, sums, at),
        2 => row_block::<T, V, K, 2>(rows, tiles, lines_per_row, scores, sums, at),
        3 => row_block::<T, V, K, 3>(rows, tiles, lines_per_row, scores, sums, at),
        _ => {}
    }
}

/// Adds the rows for K centres by L lines, both known at compile time. If indices were not constant, sums would be
/// written to memory with every row.
#[inline(always)]
fn row_block<T: Real, V: Lanes<Number = T>, const K: usize, const L: usize>(
    rows: &[T::Line],
    tiles: usize,
    lines_per_row: usize,
    scores: &[[T::Line; WIDE_GROUP]],
    sums: &mut [T::Line],
    at: usize,
) {
    let scores = &scores[..K];
    let mut sum = [[V::splat(T::default()); L]; K];
    for t in 0..tiles {
        for lane in 0..T::Line::COUNT {
            let row = &rows[(t * T::Line::COUNT + lane) * lines_per_row + at..][..L];
            for k in 0..K {
                let member = V::splat(scores[k][t].lanes()[lane]);
                for l in 0..L {
                    sum[k][l] = member.mul_add(V::load(&row[l]), sum[k][l]);
                }
            }
        }
    }
    for k in 0..K {
        for l in 0..L {
            let line = &mut sums[k * lines_per_row + at + l];
            V::load(line).add(sum[k][l]).store(line);
        }
    }
}
