//! Distances of rows from the centres of their own and the next cluster, and the outlying rows.

use lehr_mining::vector::{Input, OUTLIER};

use super::Fitted;
use crate::numbers::significant;
use crate::rows::Rows;
use crate::table::Table;

/// A distance is far out if it is this many interquartile ranges above the upper quartile (Tukey).
const FAR_OUT: f64 = 3.0;
/// The minimum number of rows for a cluster to have its own quartiles.
const ROWS_OF_QUARTILES: usize = 20;
/// The maximum share of rows at which a cluster counts as a few isolated rows and not as a group.
const TINY: f64 = 0.002;
/// The maximum number of columns that are named as responsible for an outlier.
const COLUMNS_NAMED: usize = 3;

/// Distances of rows from the centres, in the unit of the points.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The distance from the centre of the row's cluster. For a row without a cluster, the distance from the nearest
    /// centre.
    pub distances: Vec<f64>,
    /// The nearest other cluster; [`OUTLIER`] if there is none.
    pub seconds: Vec<u32>,
    /// The distance from the centre of the nearest other cluster; infinite if there is none.
    pub second_distances: Vec<f64>,
}

/// The outlying rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlying {
    /// The distance from the centre beyond which a row of an ordinary cluster is outlying, in the unit of the points.
    pub radius: f64,
    /// The distance from each centre beyond which a row is outlying; `None` for a cluster of very few rows.
    pub limits: Vec<Option<f64>>,
    /// The rows, by decreasing score.
    pub rows: Vec<OutlyingRow>,
}

/// An outlying row.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlyingRow {
    /// The index of the row.
    pub row: usize,
    /// The nearest cluster that counts as a group.
    pub cluster: usize,
    /// The distance from the centre of this cluster, in the unit of the points.
    pub distance: f64,
    /// The distance divided by the radius of this cluster.
    pub score: f64,
    /// The columns that contribute most to the squared distance, with their shares of it, largest first.
    pub columns: Vec<(usize, f64)>,
}

impl Standing {
    /// Measures the distances of rows from these K x D centres.
    ///
    /// Cost: a distance from each row to each centre. For bits and sparse rows, the cost of a distance is proportional
    /// to the nonzero values of the row.
    ///
    /// # Panics
    /// Panics if a label has no centre.
    pub fn of(rows: Input<'_>, labels: &[u32], centers: &[f64]) -> Self {
        let dimension = rows.dimension();
        let mut distances = Distances::new(rows, centers, dimension);
        let mut standing = Self { distances: Vec::new(), seconds: Vec::new(), second_distances: Vec::new() };
        for (row, label) in labels.iter().enumerate() {
            let to_centers = distances.of(row);
            let own = match *label {
                OUTLIER => least(to_centers, usize::MAX),
                label => Some((label as usize, to_centers[label as usize])),
            };
            let second = own.and_then(|(own, _)| least(to_centers, own));
            standing.distances.push(own.map_or(0.0, |(_, distance)| distance));
            standing.seconds.push(second.map_or(OUTLIER, |(cluster, _)| cluster as u32));
            standing.second_distances.push(second.map_or(f64::INFINITY, |(_, distance)| distance));
        }
        standing
    }
}

/// Returns the nearest centre other than `but`. If several are equally near, returns the first.
fn least(distances: &[f64], but: usize) -> Option<(usize, f64)> {
    let others = distances.iter().copied().enumerate().filter(|(cluster, _)| *cluster != but);
    others.reduce(|best, next| if next.1 < best.1 { next } else { best })
}

/// The distances from all centres, for one row after another.
struct Distances<'a> {
    rows: Input<'a>,
    centers: &'a [f64],
    dimension: usize,
    /// For rows that are mostly 0: the coordinates of all centres, column by column (D x K), and the squared norms of
    /// the centres.
    across: Option<(Vec<f64>, Vec<f64>)>,
    row: Vec<f64>,
    lengths: Vec<f64>,
}

impl<'a> Distances<'a> {
    fn new(rows: Input<'a>, centers: &'a [f64], dimension: usize) -> Self {
        let clusters = centers.len() / dimension;
        let across = (!matches!(rows, Input::Numbers(_))).then(|| {
            let mut across = vec![0.0; centers.len()];
            for (k, center) in centers.chunks_exact(dimension).enumerate() {
                center.iter().enumerate().for_each(|(j, y)| across[j * clusters + k] = *y);
            }
            let squares = centers.chunks_exact(dimension).map(|center| center.iter().map(|y| y * y).sum()).collect();
            (across, squares)
        });
        let row = if across.is_some() { Vec::new() } else { vec![0.0; dimension] };
        Self { rows, centers, dimension, across, row, lengths: vec![0.0; clusters] }
    }

    fn of(&mut self, index: usize) -> &[f64] {
        let clusters = self.lengths.len();
        let Some((across, squares)) = &self.across else {
            self.rows.read(index, &mut self.row);
            for (distance, center) in self.lengths.iter_mut().zip(self.centers.chunks_exact(self.dimension)) {
                *distance = length(&self.row, center);
            }
            return &self.lengths;
        };
        self.lengths.copy_from_slice(squares);
        let (mut own, squared) = (0.0, &mut self.lengths);
        let mut add = |column: usize, value: f64| {
            own += value * value;
            let side_by_side = &across[column * clusters..][..clusters];
            squared.iter_mut().zip(side_by_side).for_each(|(sum, y)| *sum -= 2.0 * value * y);
        };
        match self.rows {
            Input::Bits(rows) => {
                for (place, word) in rows.row(index).iter().enumerate() {
                    let mut word = *word;
                    while word != 0 {
                        add(64 * place + word.trailing_zeros() as usize, 1.0);
                        word &= word - 1;
                    }
                }
            }
            Input::Sparse(rows) => {
                let (columns, values) = rows.row(index);
                columns.iter().zip(values).for_each(|(column, value)| add(*column as usize, *value));
            }
            Input::Numbers(_) => {}
        }
        // Rounding may leave a value slightly below 0.
        self.lengths.iter_mut().for_each(|sum| *sum = (*sum + own).max(0.0).sqrt());
        &self.lengths
    }
}

impl Outlying {
    /// Returns the outlying rows of a clustering: rows far beyond the usual distance in their cluster, and rows in a
    /// cluster of very few rows.
    pub(super) fn of(fitted: &Fitted, standing: &Standing, rows: &Rows) -> Self {
        let mut outlying = Self::of_rows(rows.vectors(), rows.weights(), &fitted.labels, &fitted.centers, standing);
        outlying.rows.retain(|found| rows.without_values().binary_search(&found.row).is_err());
        outlying
    }

    /// Returns the outlying rows for these labels and K x D centres. Rows of weight 0 do not affect the usual distance.
    ///
    /// # Panics
    /// Panics if the number of labels differs from the number of rows, or if a label has no centre.
    pub fn of_rows(
        input: Input<'_>,
        weights: Option<&[f64]>,
        labels: &[u32],
        centers: &[f64],
        standing: &Standing,
    ) -> Self {
        let (all, dimension) = (labels.len(), input.dimension());
        let clusters = centers.len() / dimension;
        let mut counts = vec![0; clusters];
        labels.iter().filter(|label| **label != OUTLIER).for_each(|label| counts[*label as usize] += 1);
        let most = (TINY * all as f64) as usize;
        let is_group: Vec<bool> = counts.iter().map(|count| *count > most).collect();
        // Rows that do not influence the clusters do not define the usual distance either.
        let counts_for = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0) && labels[*row] != OUTLIER;
        let mut usual = vec![Vec::new(); clusters];
        for row in (0..all).filter(counts_for) {
            usual[labels[row] as usize].push(standing.distances[row]);
        }
        let groups = || (0..clusters).filter(|cluster| is_group[*cluster]);
        let together: Vec<f64> = groups().flat_map(|cluster| usual[cluster].iter().copied()).collect();
        let radius = fence(together).unwrap_or(f64::INFINITY);
        let own: Vec<f64> = usual
            .into_iter()
            .map(
                |distances| {
                    if distances.len() < ROWS_OF_QUARTILES { radius } else { fence(distances).unwrap_or(radius) }
                },
            )
            .collect();
        let mut distances = Distances::new(input, centers, dimension);
        let mut found = Vec::new();
        for row in 0..all {
            let label = labels[row];
            let is_in_group = label != OUTLIER && is_group[label as usize];
            // Most rows are within the radius and need no closer look.
            if is_in_group && standing.distances[row] <= own[label as usize] {
                continue;
            }
            let to_centers = distances.of(row);
            let nearest = groups().map(|cluster| (cluster, to_centers[cluster]));
            let Some((cluster, distance)) = nearest.reduce(|best, next| if next.1 < best.1 { next } else { best })
            else {
                continue;
            };
            let score = distance / own[cluster];
            if score > 1.0 {
                let columns = responsible(input, row, &centers[cluster * dimension..][..dimension]);
                found.push(OutlyingRow { row, cluster, distance, score, columns });
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        let limits = own.into_iter().zip(is_group).map(|(limit, is_group)| is_group.then_some(limit)).collect();
        Self { radius, limits, rows: found }
    }

    /// Returns a line for each row, by decreasing score: `id`, `cluster`, `distance`, `score`, `columns`.
    pub(super) fn table(&self, space: &Rows) -> Table<'static> {
        let id = |row: &OutlyingRow| space.ids().map_or_else(|| row.row.to_string(), |ids| ids[row.row].clone());
        let columns = |row: &OutlyingRow| {
            let named = row.columns.iter().map(|(column, share)| {
                let name = if space.is_sphere() { ["x", "y", "z"][*column] } else { &space.columns()[*column] };
                format!("{name} ({} %)", significant((100.0 * share).round(), 3))
            });
            named.collect::<Vec<_>>().join("; ")
        };
        let table = Table::new("outliers")
            .texts("id", self.rows.iter().map(id).collect())
            .counts("cluster", self.rows.iter().map(|row| row.cluster as u64).collect())
            .numbers("distance", self.rows.iter().map(|row| space.distance(row.distance)).collect())
            .numbers("score", self.rows.iter().map(|row| row.score).collect());
        if space.is_sphere() { table } else { table.texts("columns", self.rows.iter().map(columns).collect()) }
    }
}

/// Returns the distance of two points, whose squares may overflow.
fn length(row: &[f64], center: &[f64]) -> f64 {
    let squared: f64 = row.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum();
    if squared.is_finite() {
        return squared.sqrt();
    }
    let largest = row.iter().zip(center).fold(0.0f64, |most, (x, y)| most.max((x / 2.0 - y / 2.0).abs()));
    let shares = row.iter().zip(center).map(|(x, y)| ((x / 2.0 - y / 2.0) / largest).powi(2));
    (2.0 * largest * shares.sum::<f64>().sqrt()).min(f64::MAX)
}

/// Returns the columns that contribute most to a row's squared distance from a centre.
fn responsible(rows: Input<'_>, row: usize, center: &[f64]) -> Vec<(usize, f64)> {
    let mut values = vec![0.0; center.len()];
    rows.read(row, &mut values);
    let squares = values.iter().zip(center).map(|(x, y)| (x - y) * (x - y));
    let mut columns: Vec<(usize, f64)> = squares.enumerate().collect();
    let total: f64 = columns.iter().map(|(_, squared)| squared).sum();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    columns.truncate(COLUMNS_NAMED);
    columns.retain(|(_, squared)| *squared >= 0.05 * total && total > 0.0);
    columns.into_iter().map(|(column, squared)| (column, squared / total)).collect()
}

/// Returns the distance above which a row is far out, computed from the quartiles. Returns `None` if the quartiles are
/// uninformative.
fn fence(mut distances: Vec<f64>) -> Option<f64> {
    distances.sort_unstable_by(f64::total_cmp);
    let last = distances.len().checked_sub(1)?;
    let (low, high) = (distances[last / 4], distances[last - last / 4]);
    (high > 0.0).then_some(high + FAR_OUT * (high - low))
}

#[cfg(test)]
mod tests {
    use lehr_data::{Fingerprints, Points, Sparse};

    use super::*;

    #[test]
    fn all_kinds_of_rows_stand_alike() {
        let dense = vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
        let points = Points::new(dense, 3).unwrap();
        let bits = Fingerprints::new(vec![0b101, 0b100, 0b011], 3).unwrap();
        let sparse =
            Sparse::from_rows([vec![(0, 1.0), (2, 1.0)], vec![(2, 1.0)], vec![(0, 1.0), (1, 1.0)]], 3).unwrap();
        let centers = [0.5, 0.0, 1.0, 1.0, 1.0, 0.0];
        let labels = [0, 0, 1];
        let of = |rows: Input<'_>| Standing::of(rows, &labels, &centers);
        let expected = of((&points).into());
        assert_eq!(expected.distances, [0.5, 0.5, 0.0]);
        assert_eq!((expected.seconds.as_slice(), expected.second_distances[1]), (&[1, 1, 0][..], 3f64.sqrt()));
        assert_eq!(of((&bits).into()), expected);
        assert_eq!(of((&sparse).into()), expected);
    }

    #[test]
    fn one_centre_has_no_second() {
        let points = Points::new(vec![1.0, 2.0], 1).unwrap();
        let standing = Standing::of((&points).into(), &[0, OUTLIER], &[1.0]);
        assert_eq!(
            (standing.distances[1], standing.seconds[0], standing.second_distances[0]),
            (1.0, OUTLIER, f64::INFINITY)
        );
    }

    #[test]
    fn what_is_far_beyond_the_quartiles_is_out_of_the_ordinary() {
        let distances: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(fence(distances), Some(75.0 + 3.0 * 50.0));
        assert_eq!((fence(vec![0.0; 50]), fence(vec![])), (None, None));
    }
}
