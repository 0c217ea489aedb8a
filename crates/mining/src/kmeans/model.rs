//! The result of k-means.

use lehr_ranks::timing::Spread;

use super::fit::State;
use super::parameters::Parameters;
use crate::anneal::run::Spent;
use crate::borders::Borders;
use crate::lloyd::{Centroids, Cluster, Clusters, Labelled, Numbering, Totals};
use crate::rows::{Input, Rows, Scalar};

/// Clusters, their centres, the label of each row, and the results of all starts. Clusters are numbered by decreasing
/// weight, or in the order of centres that were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The number of columns of a point.
    pub dimension: usize,
    /// The weighted means of the clusters: K x D, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The cluster of each row, in the order of the input.
    pub labels: Vec<u32>,
    /// The probability that each row belongs to its cluster, from the borders with neighbouring clusters.
    pub probabilities: Vec<f64>,
    /// The borders between neighbouring clusters.
    pub borders: Borders,
    /// The weighted mean of squared distances.
    pub objective: f64,
    /// The weighted sum of squared distances.
    pub sum_of_squares: f64,
    /// The weighted sum of squares that each start reached.
    pub starts: Vec<f64>,
    /// The number of passes over the rows in all starts, without those that drew centres.
    pub iterations: u64,
    /// The number of passes over the rows in the best start.
    pub best_iterations: u64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds spent in each phase, and in computing, communicating and waiting; empty for
    /// engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of rows on the rank with the most, divided by the mean.
    pub imbalance: f64,
}

/// The result of a run, on the lead rank.
#[derive(Debug)]
pub(super) struct Outcome {
    pub state: State,
    pub totals: Totals,
    pub spent: Spent,
}

impl Model {
    /// Returns the centres and borders, to assign other rows.
    pub fn centroids(&self) -> Centroids {
        let centroids = Centroids::new(self.dimension, self.centers.clone(), 0.0);
        let centroids = centroids.and_then(|centroids| centroids.with_borders(self.borders.clone()));
        centroids.expect("a clustering has centres, which are finite, and borders of its clusters")
    }

    /// Converts the outcome of a run into the units and the order that users see.
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
