//! Models of items that are known by their dissimilarities. A new row has its dissimilarities to items of the run, one
//! column for each such item.

use std::collections::HashSet;

use lehr_mining::Execution;
use lehr_mining::smacof::{self, Interpolation, Placed};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The clusters of new items, and the quantity that decides about them.
#[derive(Debug)]
pub(crate) struct Nearest {
    /// The cluster of each item; the first if several are equally near.
    pub labels: Vec<u32>,
    /// The smallest dissimilarity or field of each item.
    pub values: Vec<f64>,
    /// The name of the values.
    pub measure: &'static str,
}

fn invalid(name: &'static str, expected: &'static str, found: String) -> lehr_mining::Error {
    lehr_mining::Error::Parameter { name, expected, found }
}

/// Returns the place of the smallest value; the first if several are equal.
fn least_of(values: impl Iterator<Item = f64>) -> (u32, f64) {
    let least = values.zip(0..).reduce(|least, value| if value.0 < least.0 { value } else { least });
    least.map_or((0, f64::INFINITY), |(value, place)| (place, value))
}

/// Medoids. The columns of new rows are the dissimilarities to each medoid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medoids {
    /// The number of items of the run.
    items: u64,
    /// The medoids among these items, counted from 0, in the order of the clusters.
    medoids: Vec<u64>,
}

impl Medoids {
    /// Creates the model of a run of so many items with these medoids.
    pub fn new(items: usize, medoids: &[usize]) -> Self {
        Self { items: items as u64, medoids: medoids.iter().map(|item| *item as u64).collect() }
    }

    /// Returns the medoids among the items of the run, in the order of the clusters.
    pub fn medoids(&self) -> &[u64] {
        &self.medoids
    }

    /// Returns the number of items of the run.
    pub fn items(&self) -> u64 {
        self.items
    }

    pub(crate) fn dimension(&self) -> usize {
        self.medoids.len()
    }

    /// Checks that the numbers form a valid model.
    ///
    /// # Errors
    /// Returns [`lehr_mining::Error::Parameter`] if they do not.
    pub fn check(&self) -> Result<(), lehr_mining::Error> {
        let mut seen = HashSet::new();
        if self.medoids.is_empty() || !self.medoids.iter().all(|item| *item < self.items && seen.insert(*item)) {
            let found = format!("{} medoids of {} items", self.medoids.len(), self.items);
            return Err(invalid("medoids", "at least one, and each a different item of the run", found));
        }
        Ok(())
    }

    pub(crate) fn nearest(&self, rows: &[f64]) -> Result<Nearest, Refusal> {
        check(rows, self.dimension())?;
        let nearest = rows.chunks_exact(self.dimension()).map(|row| least_of(row.iter().copied()));
        let (labels, values) = nearest.unzip();
        Ok(Nearest { labels, values, measure: "distance" })
    }
}

/// The members of the clusters of a pairwise clustering. The columns of new rows are the dissimilarities to each item
/// of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Members {
    /// The cluster of each item of the run.
    labels: Vec<u32>,
    /// The weight of each item of the run; empty if all are 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
    /// The mean dissimilarity between the members of each cluster.
    mean_within: Vec<f64>,
}

impl Members {
    /// Creates the model of a run with these labels, weights (`None`: all 1), and mean dissimilarities within clusters.
    pub fn new(labels: Vec<u32>, weights: Option<&[f64]>, mean_within: Vec<f64>) -> Self {
        let weights = weights.filter(|weights| weights.iter().any(|weight| *weight != 1.0));
        Self { labels, weights: weights.map(<[f64]>::to_vec).unwrap_or_default(), mean_within }
    }

    /// Returns the cluster of each item of the run.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Returns the weight of each item of the run; empty if all are 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the mean dissimilarity between the members of each cluster.
    pub fn mean_within(&self) -> &[f64] {
        &self.mean_within
    }

    pub(crate) fn dimension(&self) -> usize {
        self.labels.len()
    }

    /// Checks that the numbers form a valid model.
    ///
    /// # Errors
    /// Returns [`lehr_mining::Error::Parameter`] if they do not.
    pub fn check(&self) -> Result<(), lehr_mining::Error> {
        let (items, clusters) = (self.labels.len(), self.mean_within.len());
        if clusters == 0 || items == 0 || !self.labels.iter().all(|label| (*label as usize) < clusters) {
            return Err(invalid("labels", "a cluster of the model for each item", format!("{clusters} clusters")));
        }
        let is_amount = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value >= 0.0);
        if !(self.weights.is_empty() || self.weights.len() == items) || !is_amount(&self.weights) {
            let found = format!("{} weights of {items} items", self.weights.len());
            return Err(invalid("weights", "a number of 0 or more for each item", found));
        }
        if !is_amount(&self.mean_within) {
            return Err(invalid("mean_within", "numbers of 0 or more", format!("{:?}", self.mean_within)));
        }
        Ok(())
    }

    /// Returns the cluster with the smallest field of each row. The field is the mean dissimilarity to the members of
    /// the cluster, minus half the mean dissimilarity between members. Unknown dissimilarities (NaN) are left out.
    pub(crate) fn nearest(&self, rows: &[f64]) -> Result<Nearest, Refusal> {
        check_known(rows, self.dimension())?;
        let clusters = self.mean_within.len();
        let fields = rows.chunks_exact(self.dimension()).enumerate().map(|(number, row)| {
            let (mut sums, mut known) = (vec![0.0; clusters], vec![0.0; clusters]);
            for (item, (value, label)) in
                row.iter().zip(&self.labels).enumerate().filter(|(_, (value, _))| !value.is_nan())
            {
                let weight = self.weights.get(item).copied().unwrap_or(1.0);
                sums[*label as usize] += weight * value;
                known[*label as usize] += weight;
            }
            let field = |k: usize| match known[k] > 0.0 {
                true => sums[k] / known[k] - 0.5 * self.mean_within[k],
                false => f64::INFINITY,
            };
            let least = least_of((0..clusters).map(field));
            if least.1.is_infinite() { Err(without(number)) } else { Ok(least) }
        });
        let (labels, values) = fields.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        Ok(Nearest { labels, values, measure: "field" })
    }
}

/// The positions of items on a map. The columns of new rows are the dissimilarities to each item of the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Positions {
    /// The number of dimensions of the map.
    dimensions: usize,
    /// The positions: items x dimensions, row by row, in the unit of the dissimilarities.
    positions: Vec<f64>,
    /// The number of nearest items that determine the position of a new item.
    neighbors: usize,
}

impl Positions {
    /// Creates the model of a map with these positions, in which the nearest ten items place a new item.
    pub fn new(dimensions: usize, positions: Vec<f64>) -> Self {
        Self { dimensions, positions, neighbors: Interpolation::default().neighbours }
    }

    /// Returns the number of dimensions of the map.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the positions: items x dimensions, row by row.
    pub fn positions(&self) -> &[f64] {
        &self.positions
    }

    /// Returns the number of nearest items that determine the position of a new item.
    pub fn neighbors(&self) -> usize {
        self.neighbors
    }

    /// Returns the number of items.
    pub(crate) fn dimension(&self) -> usize {
        self.positions.len() / self.dimensions.max(1)
    }

    /// Checks that the numbers form a valid model.
    ///
    /// # Errors
    /// Returns [`lehr_mining::Error::Parameter`] if they do not.
    pub fn check(&self) -> Result<(), lehr_mining::Error> {
        let Self { dimensions, positions, neighbors } = self;
        let is_whole = *dimensions > 0 && !positions.is_empty() && positions.len().is_multiple_of(*dimensions);
        if !is_whole || !positions.iter().all(|value| value.is_finite()) {
            let found = format!("{} numbers in {dimensions} dimensions", positions.len());
            return Err(invalid("positions", "a finite position for each item", found));
        }
        if neighbors <= dimensions {
            return Err(invalid("neighbors", "more than the map has dimensions", neighbors.to_string()));
        }
        Ok(())
    }

    pub(crate) fn placed(&self, rows: &[f64], threads: usize) -> Result<Placed, Refusal> {
        let items = self.dimension();
        check_known(rows, items)?;
        let neighbours = self.neighbors.min(items);
        let parameters = Interpolation { neighbours, ..Interpolation::default() };
        let row = |item: usize, row: &mut [f64]| row.copy_from_slice(&rows[item * items..][..items]);
        let count = rows.len() / items;
        let execution = Execution { ranks: threads, threads, ..Execution::default() };
        Ok(smacof::interpolate(&self.positions, self.dimensions, count, &row, &parameters, &execution)?)
    }
}

/// Checks that rows are complete dissimilarities.
fn check(rows: &[f64], width: usize) -> Result<(), Refusal> {
    match rows.iter().position(|value| value.is_nan() || *value < 0.0) {
        None => Ok(()),
        Some(place) => Err(refused(rows[place], place, width)),
    }
}

/// Checks that rows are dissimilarities, at least one of which is known in each row.
fn check_known(rows: &[f64], width: usize) -> Result<(), Refusal> {
    if let Some(place) = rows.iter().position(|value| *value < 0.0) {
        return Err(refused(rows[place], place, width));
    }
    let without_any = rows.chunks_exact(width).position(|row| row.iter().all(|value| value.is_nan()));
    without_any.map_or(Ok(()), |row| Err(without(row)))
}

fn refused(value: f64, place: usize, width: usize) -> Refusal {
    let expected = "dissimilarities to items of the run, which are numbers of 0 or more".to_owned();
    let (row, column) = (place / width, place % width);
    let found = if value.is_nan() { "none".to_owned() } else { value.to_string() };
    Refusal::Unsuited {
        expected,
        found: format!("{found} in row {row}, column {column} of the model (counted from 0)"),
    }
}

fn without(row: usize) -> Refusal {
    let expected = "a known dissimilarity to an item of a cluster in each row".to_owned();
    Refusal::Unsuited { expected, found: format!("none in row {row} (counted from 0)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_of_a_row_is_that_of_the_definition() {
        // Two clusters, {0, 1} and {2}, with weights; the second row knows only one item.
        let members = Members::new(vec![0, 0, 1], Some(&[1.0, 3.0, 1.0]), vec![0.5, 0.0]);
        members.check().unwrap();
        let rows = [1.0, 2.0, 4.0, f64::NAN, f64::NAN, 0.25];
        let found = members.nearest(&rows).unwrap();
        // (1 + 3 * 2) / 4 - 0.25, against 4.
        assert_eq!((found.labels, found.values), (vec![0, 1], vec![1.5, 0.25]));
        assert!(members.nearest(&[f64::NAN; 3]).unwrap_err().to_string().contains("found none in row 0"));
        assert!(members.nearest(&[1.0, -1.0, 2.0]).unwrap_err().to_string().contains("found -1 in row 0, column 1"));
        // An item of weight 0 says nothing about its cluster.
        let silent = Members::new(vec![0, 1], Some(&[1.0, 0.0]), vec![0.0, 0.0]);
        assert_eq!(silent.nearest(&[9.0, 1.0]).unwrap().labels, [0]);
    }

    #[test]
    fn the_nearest_medoid_is_the_first_of_equals() {
        let medoids = Medoids::new(9, &[3, 7]);
        medoids.check().unwrap();
        let found = medoids.nearest(&[2.0, 1.0, 1.0, 1.0]).unwrap();
        assert_eq!((found.labels, found.values), (vec![1, 0], vec![1.0, 1.0]));
        assert!(medoids.nearest(&[1.0, f64::NAN]).is_err());
        for bad in [Medoids::new(9, &[]), Medoids::new(9, &[9]), Medoids::new(9, &[2, 2])] {
            assert!(bad.check().is_err());
        }
    }

    #[test]
    fn a_row_is_placed_where_its_distances_say() {
        let map = Positions::new(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        map.check().unwrap();
        let placed = map.placed(&[0.5f64.sqrt(); 4], 1).unwrap();
        assert!(placed.positions.iter().all(|x| (x - 0.5).abs() < 1e-12));
        assert!(Positions { neighbors: 2, ..map.clone() }.check().is_err());
        assert!(Positions { dimensions: 3, ..map }.check().is_err());
    }
}
