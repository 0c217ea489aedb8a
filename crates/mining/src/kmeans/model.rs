//! The result of k-means.

use lehr_ranks::timing::Spread;

use super::fit::State;
use super::parameters::Parameters;
use crate::anneal::run::Spent;
use crate::borders::Borders;
use crate::lloyd::{Centroids, Cluster, Clusters, Labelled, Numbering, Totals};
use crate::rows::{Input, Rows, Scalar};

/// The result of a k-means run: the clusters, the label of each row, and the sum of squares of each start.
///
/// Clusters are numbered by decreasing weight. If the initial centres were given, clusters are numbered in the order of
/// these centres. Lehr leaves out clusters without rows, so later clusters get lower numbers than their centres.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The number of columns of a point.
    pub dimension: usize,
    /// The centres of the clusters: K x D, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// The statistics of each cluster.
    pub clusters: Vec<Cluster>,
    /// The number of the cluster of each row, in the order of the input.
    pub labels: Vec<u32>,
    /// The probability that each row belongs to its cluster, computed from the borders with neighbouring clusters.
    pub probabilities: Vec<f64>,
    /// The borders between neighbouring clusters. With very many clusters and columns, Lehr computes none, and all
    /// `probabilities` are 1.
    pub borders: Borders,
    /// The weighted mean of the squared distances between rows and the centres of their clusters.
    pub objective: f64,
    /// The weighted sum of the squared distances between rows and the centres of their clusters (inertia).
    pub sum_of_squares: f64,
    /// The final weighted sum of squares of each start.
    pub starts: Vec<f64>,
    /// The total number of iterations of all starts. The passes that draw initial centres are not included.
    pub iterations: u64,
    /// The number of iterations of the best start.
    pub best_iterations: u64,
    /// The number of seconds that this process spent in each phase.
    pub phases: Vec<(String, f64)>,
    /// How much time the ranks spent in each phase, and in computing, communicating and waiting: the spread over ranks,
    /// in seconds. Empty for engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The largest number of rows on a rank, divided by the mean number of rows on a rank.
    pub imbalance: f64,
}

/// The result of a run on the lead rank, before it is converted to a [`Model`].
#[derive(Debug)]
pub(super) struct Outcome {
    pub state: State,
    pub totals: Totals,
    pub spent: Spent,
}

impl Model {
    /// Returns the centres and borders of the clusters, to which other rows can be assigned.
    pub fn centroids(&self) -> Centroids {
        let centroids = Centroids::new(self.dimension, self.centers.clone(), 0.0);
        let centroids = centroids.and_then(|centroids| centroids.with_borders(self.borders.clone()));
        centroids.expect("a clustering has centres, which are finite, and borders of its clusters")
    }

    /// Converts the outcome of a run to the unit of the input, and numbers the clusters.
    pub(super) fn new<T: Scalar>(
        input: Input<'_>,
        rows: &Rows<T>,
        outcome: Outcome,
        labelled: impl Iterator<Item = Labelled>,
        parameters: &Parameters,
    ) -> Self {
        let Outcome { state, totals, spent } = outcome;
        let numbering = if parameters.centers.is_some() { Numbering::AsGiven } else { Numbering::ByWeight };
        let found = Clusters::new(input, rows, &totals, numbering, labelled);
        let mut warnings = Vec::new();
        if found.clusters.len() < parameters.clusters {
            warnings.push(format!(
                "you requested {} clusters, but only {} have rows: the points of positive weight have too few distinct positions, or a start was stopped early",
                parameters.clusters,
                found.clusters.len()
            ));
        }
        if state.unfinished > 0 {
            warnings.push(format!(
                "{} of {} initialisations had not converged after {} iterations",
                state.unfinished,
                state.costs.len(),
                parameters.max_sweeps
            ));
        }
        Self {
            dimension: rows.dimension,
            centers: found.centers,
            clusters: found.clusters,
            labels: found.labels,
            probabilities: found.probabilities,
            borders: found.borders,
            objective: found.objective,
            sum_of_squares: found.sum_of_squares,
            starts: state.costs.iter().map(|cost| cost * rows.units.squared(1.0) * rows.units.weight).collect(),
            iterations: state.sweeps,
            best_iterations: state.best_sweeps,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}
