//! The result of a stream.

use crate::lloyd::Centroids;

/// A cluster's figures: of its rows as they passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Rows of positive weight that its centre was given.
    pub rows: u64,
    /// The sum of their weights.
    pub weight: f64,
    /// The part of this weight that still counts: less than all of it if a half-life was requested.
    pub counts: f64,
    /// Root mean square distance of its rows, weighted, in the unit of the points: each from the centre's position
    /// before the row's batch.
    pub spread: f64,
}

/// Centres, and the weight that they received. Clusters are numbered by decreasing weight. Rows have no labels:
/// [`Model::centroids`] gives any row one.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Coordinates of a point.
    pub dimension: usize,
    /// K x D, row-major, in the unit of the points: the weighted means of the rows that each centre received.
    pub centers: Vec<f64>,
    /// One for each centre.
    pub clusters: Vec<Cluster>,
    /// Weighted mean squared distance of all rows as they passed. For rows of the sample it is from the centres that
    /// annealing found in it. For all others it is from the centres before their batch. Not the mean over all rows at
    /// [`Model::centers`].
    pub objective: f64,
    /// The same for the last batch alone.
    pub last_objective: f64,
    /// Batches, the sample among them.
    pub batches: u64,
    /// Rows of positive weight.
    pub rows: u64,
    /// The sum of their weights.
    pub weight: f64,
    /// Tells the rows that passed, and how they were cut into batches, from others.
    pub fingerprint: u64,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Model {
    /// The centres as a model for other rows: each row belongs surely to the nearest.
    pub fn centroids(&self) -> Centroids {
        Centroids::new(self.dimension, self.centers.clone(), 0.0).expect("a clustering has centres, which are finite")
    }
}
