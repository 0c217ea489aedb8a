//! The borders between neighbouring clusters, which say how surely a row belongs to its cluster.
//!
//! A row has a cost in each of two neighbouring clusters: a squared distance, or nats. The difference of the costs
//! places the row on a line. Rows below 0 are in the first cluster, rows above 0 in the second. Along this line, each
//! of the two groups is modelled as normal, with its own mean, variance and weight. Expectation maximisation, which
//! begins with the labels, estimates these parameters. So rows near the border count for both groups, and each group
//! recovers what the border cuts off from it.
//!
//! Each neighbour has odds against the row's own cluster. The row belongs to its own cluster with probability `1 / (1 +
//! sum of odds)`. This model has one variance for each side of a border, whatever the number of columns. A mixture of
//! normals has one variance for each column, and is overconfident if there are many columns (docs/design/certainty.md
//! compares both).

use lehr_numerics::elementary::{exp, ln};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The number of nearest centres that count as neighbours of a cluster, to which its rows may also belong.
const NEIGHBOURS: usize = 8;
/// The number of iterations of expectation maximisation after the first, which starts from the labels.
pub(crate) const STEPS: usize = 3;
/// The share of the pooled variance in the variance of each side. It is above 0 because a side whose rows are all equal
/// has variance 0. It is a share, not a number of rows, because weights have no unit.
const POOLED: f64 = 0.02;
/// A side counts as empty up to this share of a border's weight.
const LEAST_WEIGHT: f64 = 1e-9;
/// The minimum variance of a side, as a share of the squared distance of the two means.
const LEAST_VARIANCE: f64 = 1e-9;
/// Odds with a smaller logarithm are ignored. Such odds are below 1e-10, and occur for most rows at most borders.
const LEAST_LOG_ODDS: f64 = -23.0;
/// Odds whose logarithm is this much below [`LEAST_LOG_ODDS`] are ignored whatever the rounding.
const SURELY: f64 = 1.0;
/// The number of halvings that find where odds begin to be ignored.
const HALVINGS: usize = 40;
/// The maximum number of operations of the search for neighbours. If the search would need more, there are no borders.
const MOST_OPERATIONS: f64 = 2e10;

/// The number of sums for one side of a border: weight, first and second moment.
const SIDE: usize = 3;
/// The number of sums for a border.
pub(crate) const SUMS: usize = 2 * SIDE;

/// The border between two clusters: the log odds of the second against the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Border {
    /// The two clusters, the lower number first.
    clusters: [u32; 2],
    /// The unit of costs on the line.
    unit: f64,
    /// The coefficients of 1, `t` and `t^2` in the log odds. `t` is the cost in the first cluster minus the cost in the
    /// second, divided by `unit`.
    log_odds: [f64; 3],
}

/// The borders between neighbouring clusters, sorted by the clusters' numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Borders {
    borders: Vec<Border>,
}

/// The borders of each cluster, indexed by the cluster's number.
#[derive(Debug)]
pub(crate) struct Neighbourhoods<'b> {
    borders: &'b [Border],
    /// The borders of each cluster in turn, as seen from that cluster.
    directed: Vec<DirectedBorder>,
    /// For each cluster, the end of its borders in `directed`.
    ends: Vec<usize>,
}

/// A border as seen from one of its clusters. It gives the log odds of the other cluster as a function of the excess
/// cost of a row in the other cluster.
#[derive(Debug)]
struct DirectedBorder {
    /// The index of the border among all borders.
    place: u32,
    /// The other cluster.
    other: u32,
    /// The reciprocal of the unit of costs.
    inverse: f64,
    /// The coefficients of 1, `t` and `t^2` in the log odds, where `t` is the excess cost divided by the unit.
    log_odds: [f64; 3],
    /// The point on the line beyond which the odds stay constant.
    turn: f64,
}

impl DirectedBorder {
    /// Returns the border at index `place`, as seen from its second cluster or its first.
    fn of(border: &Border, place: usize, is_from_second: bool) -> Self {
        let [constant, slope, curvature] = border.log_odds;
        // Seen from the second cluster, the odds are inverted. Seen from the first cluster, the position on the line
        // changes its sign.
        let (sign, other) = if is_from_second { (-1.0, border.clusters[0]) } else { (1.0, border.clusters[1]) };
        let turn = sign * 0.5 * slope / curvature;
        Self {
            place: place as u32,
            other,
            inverse: 1.0 / border.unit,
            log_odds: [sign * constant, -slope, sign * curvature],
            turn: if curvature == 0.0 { f64::NEG_INFINITY } else { turn },
        }
    }

    fn log_odds(&self, excess: f64) -> f64 {
        let [constant, slope, curvature] = self.log_odds;
        let place = excess * self.inverse;
        // The odds fall as the excess rises, so they are only evaluated on the falling side of the turn.
        let place = if curvature > 0.0 { place.min(self.turn) } else { place.max(self.turn) };
        constant + place * (slope + place * curvature)
    }

    /// Whether the odds are ignored for every row with at least this excess; they fall as the excess rises. A comparison
    /// with NaN is false, so such odds are not ignored.
    fn is_surely_ignored(&self, least_excess: f64) -> bool {
        self.log_odds(least_excess) < LEAST_LOG_ODDS - SURELY
    }
}

impl Border {
    /// Creates a border before anything is known about its sides: each row belongs to the cluster in which it costs
    /// less.
    fn between(first: usize, second: usize, unit: f64) -> Self {
        Self { clusters: [first as u32, second as u32], unit, log_odds: [0.0, f64::MAX, 0.0] }
    }

    /// The two clusters.
    pub(crate) fn clusters(&self) -> [usize; 2] {
        self.clusters.map(|cluster| cluster as usize)
    }

    /// The log odds of the second cluster at a difference of costs. The log odds never fall as the difference rises.
    /// Without this rule, the wider of two normals would also win on the far side of the narrower one.
    fn log_odds(&self, difference: f64) -> f64 {
        -DirectedBorder::of(self, 0, true).log_odds(difference)
    }

    /// Adds a row at a difference of costs to the sums of the two sides, in proportion to its membership of each.
    fn add(&self, is_hard: bool, is_second: bool, difference: f64, weight: f64, sums: &mut [f64]) {
        let place = difference / self.unit;
        let second = match is_hard {
            true => f64::from(u8::from(is_second)),
            false => 1.0 / (1.0 + exp((-self.log_odds(difference)).min(700.0))),
        };
        for (share, side) in [1.0 - second, second].into_iter().zip(sums.chunks_exact_mut(SIDE)) {
            side[0] += weight * share;
            side[1] += weight * share * place;
            side[2] += weight * share * place * place;
        }
    }

    /// Updates the border from these sums. The border stays unchanged if a side has almost no weight, or if the sides
    /// have swapped. It also stays unchanged if a side would lose the rows at its own mean. Otherwise, one of two
    /// overlapping groups could take all rows of the other.
    pub(crate) fn step(&mut self, sums: &[f64]) {
        let side = |sums: &[f64]| (sums[0], sums[1] / sums[0], sums[2] - sums[1] * sums[1] / sums[0]);
        let ((first_weight, first, first_scatter), (second_weight, second, second_scatter)) =
            (side(&sums[..SIDE]), side(&sums[SIDE..]));
        let pooled = (first_scatter + second_scatter) / (first_weight + second_weight);
        let least = LEAST_VARIANCE * (second - first) * (second - first);
        let variance = |scatter: f64, weight: f64| {
            ((1.0 - POOLED) * scatter.max(0.0) / weight + POOLED * pooled.max(0.0)).max(least)
        };
        let (a, b) = (variance(first_scatter, first_weight), variance(second_scatter, second_weight));
        let constant =
            ln(second_weight / first_weight) - 0.5 * ln(b / a) + 0.5 * (first * first / a - second * second / b);
        let log_odds = [constant, second / b - first / a, 0.5 / a - 0.5 / b];
        // The condition is also false if a number is NaN.
        let has_sides = first < 0.0
            && second > 0.0
            && first_weight.min(second_weight) > LEAST_WEIGHT * (first_weight + second_weight);
        if has_sides && log_odds.iter().all(|number| number.is_finite()) {
            let next = Self { log_odds, ..*self };
            if next.log_odds(first * self.unit) < 0.0 && next.log_odds(second * self.unit) > 0.0 {
                *self = next;
            }
        }
    }
}

impl Borders {
    /// Creates the borders of `count` clusters with their nearest neighbours, before anything is known about their
    /// sides. `apart` returns the squared distance of two centres, which is the excess cost of a typical row of one
    /// cluster in the other. A call of `apart` takes `operations` operations. There are no borders if finding the
    /// neighbours would take longer than clustering did.
    pub(crate) fn of_neighbours(
        count: usize,
        operations: usize,
        has_rows: impl Fn(usize) -> bool,
        apart: impl Fn(usize, usize) -> f64,
    ) -> Self {
        if (count as f64).powi(2) * operations as f64 > MOST_OPERATIONS {
            return Self::default();
        }
        let mut pairs = Vec::new();
        let mut near: Vec<(f64, usize)> = Vec::new();
        for a in (0..count).filter(|a| has_rows(*a)) {
            near.clear();
            let others = (0..count).filter(|b| *b != a && has_rows(*b));
            near.extend(others.map(|b| (apart(a, b), b)));
            let order = |x: &(f64, usize), y: &(f64, usize)| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1));
            if near.len() > NEIGHBOURS {
                near.select_nth_unstable_by(NEIGHBOURS, order);
                near.truncate(NEIGHBOURS);
            }
            pairs
                .extend(near.iter().filter(|(apart, _)| *apart > 0.0).map(|(apart, b)| (a.min(*b), a.max(*b), *apart)));
        }
        pairs.sort_by_key(|(a, b, _)| (*a, *b));
        pairs.dedup_by_key(|(a, b, _)| (*a, *b));
        Self { borders: pairs.into_iter().map(|(a, b, apart)| Border::between(a, b, apart)).collect() }
    }

    /// Whether there are no borders.
    pub(crate) fn is_empty(&self) -> bool {
        self.borders.is_empty()
    }

    /// Returns the borders for modification.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut Border> {
        self.borders.iter_mut()
    }

    /// The number of borders.
    pub(crate) fn len(&self) -> usize {
        self.borders.len()
    }

    /// Converts the borders to other cluster numbers and another unit of cost. Leaves out borders that have learnt no
    /// odds, or whose unit is not a normal number.
    pub(crate) fn renumbered(&self, number: impl Fn(usize) -> usize, unit: impl Fn(f64) -> f64) -> Self {
        let renumbered = |border: &Border| {
            let [constant, slope, curvature] = border.log_odds;
            let [a, b] = border.clusters().map(|cluster| number(cluster) as u32);
            // From the other side, the odds are inverted, and so is the position on the line.
            let log_odds = if a < b { border.log_odds } else { [-constant, slope, -curvature] };
            Border { clusters: [a.min(b), a.max(b)], unit: unit(border.unit), log_odds }
        };
        let known = self.borders.iter().filter(|border| border.log_odds[1] < f64::MAX);
        let mut borders: Vec<Border> = known.map(renumbered).filter(|border| border.unit.is_normal()).collect();
        borders.sort_by_key(|border| border.clusters);
        Self { borders }
    }

    /// Checks borders that come from outside, for example from a file, for this many clusters.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if a cluster's number is invalid, if borders are not sorted, or if a number is not
    /// finite.
    pub(crate) fn check(&self, clusters: usize) -> Result<(), Error> {
        let is_whole = |border: &Border| {
            let [a, b] = border.clusters();
            let has_numbers = border.log_odds.iter().all(|number| number.is_finite());
            a < b && b < clusters && has_numbers && border.unit.is_normal() && border.unit > 0.0
        };
        let is_sorted = self.borders.is_sorted_by(|a, b| a.clusters < b.clusters);
        match self.borders.iter().find(|border| !is_whole(border)) {
            None if is_sorted => Ok(()),
            wrong => {
                let found = wrong.map_or("others".to_owned(), |border| format!("{border:?}"));
                Err(Error::Parameter {
                    name: "borders",
                    expected: "pairs of clusters in order, with finite numbers",
                    found,
                })
            }
        }
    }

    /// Returns the borders of each cluster, for this many clusters.
    pub(crate) fn neighbourhoods(&self, clusters: usize) -> Neighbourhoods<'_> {
        let mut of_clusters: Vec<Vec<DirectedBorder>> = (0..clusters).map(|_| Vec::new()).collect();
        for (place, border) in self.borders.iter().enumerate() {
            let [first, second] = border.clusters();
            of_clusters[first].push(DirectedBorder::of(border, place, false));
            of_clusters[second].push(DirectedBorder::of(border, place, true));
        }
        let mut end = 0;
        let ends = of_clusters.iter().map(|directed| {
            end += directed.len();
            end
        });
        let ends = ends.collect();
        Neighbourhoods { borders: &self.borders, directed: of_clusters.into_iter().flatten().collect(), ends }
    }
}

impl Neighbourhoods<'_> {
    fn directed(&self, cluster: usize) -> &[DirectedBorder] {
        let first = cluster.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.directed[first..self.ends[cluster]]
    }

    /// Returns the borders of a cluster: for each, its index, the border, and the other cluster.
    pub fn of(&self, cluster: usize) -> impl Iterator<Item = (usize, &Border, usize)> {
        let place = |border: &DirectedBorder| border.place as usize;
        self.directed(cluster)
            .iter()
            .map(move |border| (place(border), &self.borders[place(border)], border.other as usize))
    }

    /// Returns the smallest excess, between 0 and `most`, from which on a neighbour's odds are ignored. Returns `None`
    /// if the odds are not ignored at `most`. `at` is the index of the border among the cluster's borders.
    pub fn least_ignored(&self, cluster: usize, at: usize, most: f64) -> Option<f64> {
        let border = &self.directed(cluster)[at];
        if !border.is_surely_ignored(most) {
            return None;
        }
        // The odds fall as the excess rises, so bisection finds this excess.
        let (mut below, mut above) = (0.0, most);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (below + above);
            if border.is_surely_ignored(middle) { above = middle } else { below = middle }
        }
        Some(above)
    }

    /// The indices of all borders of a cluster.
    pub fn all(&self, cluster: usize) -> std::ops::Range<usize> {
        0..self.directed(cluster).len()
    }

    /// Adds a row of a cluster to the sums of all its borders. `excess` returns the row's excess cost in another
    /// cluster.
    pub fn add(
        &self,
        cluster: usize,
        mut excess: impl FnMut(usize) -> f64,
        is_hard: bool,
        weight: f64,
        sums: &mut [f64],
    ) {
        for (place, border, other) in self.of(cluster) {
            let (is_second, more) = (other < cluster, excess(other));
            let difference = if is_second { more } else { -more };
            border.add(is_hard, is_second, difference, weight, &mut sums[SUMS * place..][..SUMS]);
        }
    }

    /// Finds the borders of a cluster that matter to some of its rows, and returns their indices among the cluster's
    /// borders. `least_excess` returns the smallest excess cost of any of the rows in another cluster; its argument is
    /// the index.
    pub fn that_matter(&self, cluster: usize, least_excess: impl Fn(usize) -> f64) -> Vec<usize> {
        let borders = self.directed(cluster);
        self.all(cluster).filter(|&at| !borders[at].is_surely_ignored(least_excess(at))).collect()
    }

    /// The probability that a row of a cluster belongs to it. `among` has the indices, among the cluster's borders, of
    /// the borders that matter. `excess` returns the row's excess cost in another cluster; its arguments are the index
    /// and the other cluster's number. `each` receives the odds of each neighbour against the cluster, unless the odds
    /// are ignored.
    #[inline]
    pub fn probability(
        &self,
        cluster: usize,
        among: impl IntoIterator<Item = usize>,
        mut excess: impl FnMut(usize, usize) -> f64,
        mut each: impl FnMut(usize, f64),
    ) -> f64 {
        let (mut sum, borders) = (0.0, self.directed(cluster));
        for at in among {
            let border = &borders[at];
            let other = border.other as usize;
            let more = excess(at, other);
            let against = border.log_odds(more);
            // If a row is so far away that the difference of its costs is NaN, it counts as certainly in the nearest
            // cluster.
            if against > LEAST_LOG_ODDS && !more.is_nan() {
                let odds = exp(against.min(700.0));
                each(other, odds);
                sum += odds;
            }
        }
        1.0 / (1.0 + sum)
    }

    /// Adds the odds of a neighbour against a cluster to `odds`, which has a number for each of some rows of the
    /// cluster. The odds are those of [`probability`](Self::probability). `at` is the index of the border among the
    /// cluster's borders. `excess` has the excess cost of each row in the neighbour, and is overwritten.
    pub fn add_odds(&self, cluster: usize, at: usize, excess: &mut [f64], odds: &mut [f64]) {
        let border = &self.directed(cluster)[at];
        // Loops without branches can be vectorised, so that they process several rows at a time.
        for more in &mut *excess {
            let against = border.log_odds(*more);
            *more = if more.is_nan() { f64::NEG_INFINITY } else { against };
        }
        for (against, odds) in excess.iter().zip(odds) {
            if *against > LEAST_LOG_ODDS {
                *odds += exp(against.min(700.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the border, from many rows, of two normal groups on a line with centres at 0 and `apart`.
    fn normal(apart: f64, spreads: [f64; 2], weights: [f64; 2]) -> Border {
        // The rows are quantiles instead of random numbers.
        let rows = |at: f64, spread: f64| {
            (-400..=400).map(move |step| {
                let z = f64::from(step) / 100.0;
                (at + spread * z, exp(-0.5 * z * z))
            })
        };
        let all: Vec<(f64, f64)> = rows(0.0, spreads[0])
            .map(|(x, share)| (x, share * weights[0]))
            .chain(rows(apart, spreads[1]).map(|(x, share)| (x, share * weights[1])))
            .collect();
        let difference = |x: f64| x * x - (x - apart) * (x - apart);
        let mut border = Border::between(0, 1, apart * apart);
        for step in 0..200 {
            let mut sums = [0.0; SUMS];
            all.iter()
                .for_each(|&(x, weight)| border.add(step == 0, difference(x) > 0.0, difference(x), weight, &mut sums));
            border.step(&sums);
        }
        border
    }

    #[test]
    fn the_odds_are_those_of_the_two_normals() {
        for (spreads, weights) in [([1.0, 1.0], [1.0, 1.0]), ([1.0, 1.0], [4.0, 1.0]), ([1.0, 0.6], [1.0, 2.0])] {
            let border = normal(5.0, spreads, weights);
            for x in [1.0f64, 2.0, 2.5, 3.0, 4.0] {
                let density = |at: f64, side: usize| {
                    weights[side] / spreads[side] * exp(-0.5 * ((x - at) / spreads[side]).powi(2))
                };
                let expected = ln(density(5.0, 1) / density(0.0, 0));
                let found = border.log_odds(x * x - (x - 5.0) * (x - 5.0));
                assert!((found - expected).abs() < 0.3, "{spreads:?} {weights:?} at {x}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn odds_never_fall_towards_the_second_cluster() {
        let border = normal(6.0, [0.5, 2.0], [1.0, 1.0]);
        let odds: Vec<f64> = (-100..=100).map(|place| border.log_odds(f64::from(place))).collect();
        assert!(odds.is_sorted(), "{odds:?}");
        assert_eq!(border.log_odds(f64::NEG_INFINITY), odds[0].min(border.log_odds(-1e9)));
    }

    #[test]
    fn both_sides_see_one_border() {
        let border = normal(4.0, [1.0, 0.7], [1.0, 3.0]);
        let borders = Borders { borders: vec![border] };
        let swapped = borders.renumbered(|cluster| 1 - cluster, |unit| 9.0 * unit);
        swapped.check(2).unwrap();
        let (here, there) = (borders.neighbourhoods(2), swapped.neighbourhoods(2));
        for cluster in [0, 1] {
            for more in [0.0, 0.5, 3.0] {
                let found = here.probability(cluster, here.all(cluster), |_, _| more, |_, _| ());
                let other = there.probability(1 - cluster, there.all(1 - cluster), |_, _| 9.0 * more, |_, _| ());
                assert!((found - other).abs() < 1e-12, "{found} and {other}");
            }
        }
    }

    #[test]
    fn a_side_keeps_the_rows_at_its_own_mean() {
        let mut border = Border::between(0, 1, 1.0);
        border.step(&[100.0, -50.0, 100.0, 60.0, 30.0, 50.0]);
        let before = border;
        assert!(before.log_odds(-0.5) < 0.0 && before.log_odds(0.5) > 0.0, "{before:?}");
        // The wide first group would take the rows of the second, which has lost nearly all of its weight.
        border.step(&[155.0, -20.0, 150.0, 5.0, 2.0, 0.9]);
        assert_eq!(border, before);
    }

    #[test]
    fn a_side_without_rows_leaves_its_border_unknown() {
        let mut border = Border::between(0, 1, 1.0);
        border.step(&[3.0, -3.0, 3.5, 0.0, 0.0, 0.0]);
        assert_eq!(border.log_odds[1], f64::MAX);
        assert!(Borders { borders: vec![border] }.renumbered(|cluster| cluster, |unit| unit).is_empty());
    }
}
