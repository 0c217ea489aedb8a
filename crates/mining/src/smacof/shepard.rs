//! The Shepard diagram: how often each distance on the map represents each dissimilarity, as counts on a grid.

use lehr_data::dissimilarities::Dissimilarities;

use super::map::Map;
use crate::drawn::drawn;

/// The approximate maximum number of pairs that are counted. If there are more pairs, only the pairs of some randomly
/// chosen items are counted.
const MOST_PAIRS: usize = 50_000_000;

/// Counts of pairs by dissimilarity and distance. A plot of N² / 2 pairs would be unreadable; a grid of counts has a
/// fixed size.
#[derive(Clone, Debug, PartialEq)]
pub struct Shepard {
    /// The number of cells along each side.
    pub bins: usize,
    /// The upper end of the axis of dissimilarities: the largest dissimilarity that was counted.
    pub largest_dissimilarity: f64,
    /// The upper end of the axis of distances.
    pub largest_distance: f64,
    /// The counts: bins x bins, row by row. Dissimilarities increase with the row, distances within it.
    pub counts: Vec<u64>,
    /// Pearson's correlation of dissimilarity and distance, over the counted pairs.
    pub correlation: f64,
}

impl Shepard {
    /// Counts the pairs that have a dissimilarity. If there are more than 50 million pairs, it chooses
    /// some items at random, and counts the pairs of these items with all later items. Equally spaced items could miss a
    /// pattern that repeats.
    ///
    /// Cost: N² / 2 distances, but at most about 50 million.
    ///
    /// # Panics
    /// Panics if the map and the matrix differ in the number of items, or if `bins` is 0.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    /// use lehr_mining::{Execution, anneal::Silent, smacof::{Input, Parameters, Shepard, embed}};
    /// let matrix = Dissimilarities::new(3, Form::Condensed, Values::F64(vec![3.0, 4.0, 5.0]), 1.0)?;
    /// let map = embed(&Input::new(&matrix), &Parameters::default(), &Execution::default(), &mut Silent)?;
    /// let diagram = Shepard::new(&matrix, &map, 10);
    /// assert_eq!(diagram.counts.iter().sum::<u64>(), 3);
    /// assert!(diagram.correlation > 0.999999);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(matrix: &Dissimilarities, map: &Map, bins: usize) -> Self {
        assert!(matrix.items() == map.items() && bins > 0, "a map of the matrix, and bins");
        let items = map.items();
        let every = (items * (items - 1) / 2).div_ceil(MOST_PAIRS).max(1);
        let rows = drawn(items, items.div_ceil(every));
        let distance = |i: usize, j: usize| {
            let square = map.position(i).iter().zip(map.position(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            square.sqrt()
        };
        let pairs =
            || rows.iter().flat_map(|&i| (i + 1..items).filter_map(move |j| Some((matrix.get(i, j)?, distance(i, j)))));
        let (mut largest, mut furthest) = (0.0f64, 0.0f64);
        let (mut count, mut sum) = (0.0, (0.0, 0.0));
        for (delta, d) in pairs() {
            (largest, furthest) = (largest.max(delta), furthest.max(d));
            count += 1.0;
            sum = (sum.0 + delta, sum.1 + d);
        }
        let mean = (sum.0 / f64::max(count, 1.0), sum.1 / f64::max(count, 1.0));
        let mut counts = vec![0; bins * bins];
        let (mut square, mut other, mut cross) = (0.0, 0.0, 0.0);
        let cell = |value: f64, most: f64| {
            if most > 0.0 { ((value / most * bins as f64) as usize).min(bins - 1) } else { 0 }
        };
        for (delta, d) in pairs() {
            counts[cell(delta, largest) * bins + cell(d, furthest)] += 1;
            let (a, b) = (delta - mean.0, d - mean.1);
            (square, other, cross) = (square + a * a, other + b * b, cross + a * b);
        }
        let root = f64::sqrt(square * other);
        let correlation = if root > 0.0 { cross / root } else { 1.0 };
        Self { bins, largest_dissimilarity: largest, largest_distance: furthest, counts, correlation }
    }
}
