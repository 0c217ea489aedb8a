//! Rows with missing values, sorted by the pattern of their missing columns.
//!
//! Rows that lack the same columns share much of the work: the factorisation of the observed columns' covariance and
//! the regression of the missing columns. Therefore rows are sorted by pattern before they are divided into leaves. A
//! leaf then has a few groups, each of one pattern, and the shared work is done once for each group. The kernels for
//! complete rows process a group, restricted to its observed columns.

use std::cmp::Ordering;

use lehr_data::Points;
use lehr_numerics::tiles::Tiles;

use crate::input::Input;
use crate::rows::{RowMajor, Rows};

/// Rows that have values in the same columns.
#[derive(Debug)]
pub(crate) struct Group {
    /// The columns in which the rows have values, in ascending order.
    pub observed: Vec<usize>,
    /// The observed cells of the rows, in stored units; `None` if no column is observed.
    pub tiles: Option<Tiles<f64>>,
    /// The indices of the rows in the input.
    pub rows: Vec<u32>,
}

impl Group {
    /// The columns that are missing, in ascending order.
    pub fn missing(&self, dimension: usize) -> Vec<usize> {
        (0..dimension).filter(|column| !self.observed.contains(column)).collect()
    }
}

/// The rows of a leaf, grouped by pattern.
#[derive(Debug)]
pub(crate) struct PatternLeaf {
    pub groups: Vec<Group>,
    /// Rows of weight 0 and rows without any value, which only get labels.
    pub bystanders: Vec<Group>,
}

impl PatternLeaf {
    /// The indices of the rows in the input, bystanders last.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().chain(&self.bystanders).flat_map(|group| group.rows.iter().copied())
    }
}

/// All rows of a fit, grouped by pattern.
#[derive(Debug)]
pub(crate) struct Patterns {
    pub leaves: Vec<PatternLeaf>,
    dimension: usize,
    /// The sum of the stored weights of all present cells. Each cell has the weight of its row.
    pub cells: f64,
}

impl Patterns {
    /// Arranges the rows in the units of `rows`, which has the same rows with missing values filled. `points` has the
    /// weights of the rows. Cost: N D log N, and a copy of the rows.
    pub fn new(input: &Input<'_>, points: &Points, rows: &Rows<f64>) -> Self {
        let dimension = rows.dimension;
        let (mut heavy, light): (Vec<u32>, Vec<u32>) =
            (0..points.len() as u32).partition(|&row| points.weight(row as usize) > 0.0);
        order(input, &mut heavy);
        let group = |observed: Vec<usize>, members: &[u32]| {
            let values: Vec<f64> = members
                .iter()
                .flat_map(|&row| {
                    observed.iter().map(move |&column| input.row(row as usize)[column] / rows.units.length)
                })
                .collect();
            let origin: Vec<f64> =
                observed.iter().map(|&column| rows.units.origin[column] / rows.units.length).collect();
            let width = observed.len();
            let tiles = (width > 0).then(|| {
                let weight = |i: usize| points.weight(members[i] as usize) / rows.units.weight;
                Tiles::new(members.len(), width, &origin, |i| RowMajor::new(&values, width).row(i), weight)
            });
            Group { observed, tiles, rows: members.to_vec() }
        };
        debug_assert_eq!(heavy.len(), rows.count);
        let count = rows.leaves.len();
        let leaves: Vec<PatternLeaf> = heavy
            .chunks(rows.leaf_rows)
            .enumerate()
            .map(|(leaf, members)| {
                let mut bystanders = light[light.len() * leaf / count..light.len() * (leaf + 1) / count].to_vec();
                order(input, &mut bystanders);
                PatternLeaf { groups: grouped(input, members, group), bystanders: grouped(input, &bystanders, group) }
            })
            .collect();
        let cells = leaves
            .iter()
            .flat_map(|leaf| &leaf.groups)
            .flat_map(|group| group.tiles.iter().map(|tiles| (tiles, group.observed.len())))
            .map(|(tiles, width)| (0..tiles.rows()).map(|row| tiles.weight(row)).sum::<f64>() * width as f64)
            .sum();
        Self { leaves, dimension, cells }
    }

    /// The groups of all leaves, without bystanders.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.leaves.iter().flat_map(|leaf| &leaf.groups)
    }

    /// The mean and variance of each column's values, in stored units.
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut weights, mut means) = (vec![0.0; self.dimension], vec![0.0; self.dimension]);
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); self.dimension];
        self.for_cells(|column, weight, x| {
            weights[column] += weight;
            means[column] += weight * x;
            ends[column] = (ends[column].0.min(x), ends[column].1.max(x));
        });
        // Because of rounding, a mean may be just outside the range of the values, even if all values of the column are
        // equal.
        for ((mean, weight), (least, most)) in means.iter_mut().zip(&weights).zip(&ends) {
            *mean = (*mean / weight).clamp(*least, *most);
        }
        let mut variances = vec![0.0; self.dimension];
        self.for_cells(|column, weight, x| {
            let from = x - means[column];
            variances[column] += weight / weights[column] * (from * from);
        });
        (means, variances)
    }

    /// Calls `each` for every present cell, with the cell's column, its row's weight and its value.
    fn for_cells(&self, mut each: impl FnMut(usize, f64, f64)) {
        for group in self.groups() {
            let Some(tiles) = &group.tiles else { continue };
            let mut row = vec![0.0; group.observed.len()];
            for index in 0..tiles.rows() {
                tiles.read_row(index, &mut row);
                group.observed.iter().zip(&row).for_each(|(&column, &x)| each(column, tiles.weight(index), x));
            }
        }
    }

    /// Returns the pairs of columns for which no row has both values.
    pub fn never_together(&self) -> Vec<(usize, usize)> {
        let dimension = self.dimension;
        let mut together = vec![false; dimension * dimension];
        let mut last: &[usize] = &[];
        for group in self.groups().filter(|group| group.tiles.is_some()) {
            // The first group of a leaf may have the same pattern as the last group of the leaf before.
            if group.observed == last {
                continue;
            }
            last = &group.observed;
            for &i in last {
                last.iter().for_each(|&j| together[i * dimension + j] = true);
            }
        }
        let pairs = (0..dimension).flat_map(|i| (i + 1..dimension).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| !together[i * dimension + j]).collect()
    }
}

/// Sorts rows by pattern, and within a pattern by their order in the input.
pub(crate) fn order(input: &Input<'_>, rows: &mut [u32]) {
    rows.sort_unstable_by(|&a, &b| pattern_order(input, a, b).then(a.cmp(&b)));
}

fn pattern_order(input: &Input<'_>, a: u32, b: u32) -> Ordering {
    let lacks = |row: u32| input.row(row as usize).iter().map(|x| x.is_nan());
    lacks(a).cmp(lacks(b))
}

/// Calls `make` for each run of rows with the same pattern. `make` receives the columns that are present, and the rows.
pub(crate) fn grouped<T>(input: &Input<'_>, rows: &[u32], mut make: impl FnMut(Vec<usize>, &[u32]) -> T) -> Vec<T> {
    rows.chunk_by(|&a, &b| pattern_order(input, a, b).is_eq())
        .map(|run| {
            let row = input.row(run[0] as usize);
            make((0..row.len()).filter(|&column| !row[column].is_nan()).collect(), run)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use lehr_data::Incomplete;

    use super::*;

    const GAP: f64 = f64::NAN;

    #[test]
    fn rows_of_a_pattern_stand_together_and_rows_of_weight_0_beside_them() {
        let rows = Incomplete::new(vec![1.0, GAP, 2.0, 3.0, 5.0, GAP, GAP, 7.0, GAP, GAP], 2).unwrap();
        let input = Input::from(&rows);
        let points = Points::new(vec![1.0, 5.0, 2.0, 3.0, 5.0, 5.0, 8.0 / 3.0, 7.0, 0.0, 0.0], 2).unwrap();
        let points = points.with_weights(vec![1.0, 1.0, 2.0, 1.0, 0.0]).unwrap();
        let arranged = Rows::new(&points).unwrap();
        let patterns = Patterns::new(&input, &points, &arranged);
        let seen: Vec<(&[usize], &[u32])> =
            patterns.groups().map(|group| (&group.observed[..], &group.rows[..])).collect();
        assert_eq!(seen, [(&[0, 1][..], &[1][..]), (&[0], &[0, 2]), (&[1], &[3])]);
        assert_eq!(patterns.leaves[0].bystanders[0].rows, [4]);
        assert_eq!((patterns.leaves[0].bystanders[0].tiles.is_none(), patterns.cells), (true, 6.0));
        let (means, variances) = patterns.moments();
        let stored = |x: f64, column: usize| (x - arranged.units.origin[column]) / arranged.units.length;
        assert!((means[0] - stored(13.0 / 4.0, 0)).abs() < 1e-14 && (means[1] - stored(5.0, 1)).abs() < 1e-14);
        assert!((arranged.units.squared(variances[1]) - 4.0).abs() < 1e-13);
        assert!(patterns.never_together().is_empty());
    }

    #[test]
    fn columns_that_no_row_has_both_of_are_found() {
        let rows = Incomplete::new(vec![1.0, GAP, 2.0, GAP, 3.0, 5.0, 4.0, GAP, 1.0], 3).unwrap();
        let points = Points::new(vec![1.0, 3.0, 2.0, 2.5, 3.0, 5.0, 4.0, 3.0, 1.0], 3).unwrap();
        let patterns = Patterns::new(&Input::from(&rows), &points, &Rows::new(&points).unwrap());
        assert_eq!(patterns.never_together(), [(0, 1)]);
    }
}
