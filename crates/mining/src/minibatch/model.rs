//! The result of a stream.

use crate::lloyd::Centroids;

/// The figures of a cluster, computed while its rows passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The number of rows of positive weight that the centre received.
    pub rows: u64,
    /// The sum of the rows' weights.
    pub weight: f64,
    /// The part of `weight` that still counts; less than `weight` if a half-life was requested.
    pub counts: f64,
    /// The weighted root mean square distance of the rows, in the unit of the points. For rows of the sample, distances
    /// are from the annealed centre. For later rows, they are from the centre's position before the row's batch.
    pub spread: f64,
}

/// The centres of a stream, and the weight that they received. Clusters are numbered by decreasing weight. Rows have no
/// labels, but [`Model::centroids`] assigns labels to any rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The number of columns of a point.
    pub dimension: usize,
    /// The weighted means of the rows that each centre received: K x D, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The weighted mean squared distance of all rows, measured while they passed. Distances of the sample's rows are
    /// from the centres that annealing found. Distances of all later rows are from the centres before their batch. So
    /// it differs from the mean over all rows with [`Model::centers`].
    pub objective: f64,
    /// The objective of the last batch alone.
    pub last_objective: f64,
    /// The number of batches, including the sample.
    pub batches: u64,
    /// The number of rows of positive weight.
    pub rows: u64,
    /// The sum of the rows' weights.
    pub weight: f64,
    /// Identifies the rows that passed, and how they were divided into batches.
    pub fingerprint: u64,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Model {
    /// Returns the centres to assign other rows; each row belongs to its nearest centre with probability 1.
    pub fn centroids(&self) -> Centroids {
        Centroids::new(self.dimension, self.centers.clone(), 0.0).expect("a clustering has centres, which are finite")
    }
}
