//! The result of k-means.

use lehr_data::Points;
use lehr_ranks::timing::Spread;

use super::course::State;
use super::parameters::Parameters;
use crate::anneal::run::Spent;
use crate::vector::e_step::Kept;
use crate::vector::hard::Centers;
use crate::vector::label::Labelled;
use crate::vector::rows::Rows;
use crate::vector::{Centroids, Cluster};

/// Clusters, their centres, each row's label, and what the starts came to. Clusters are numbered by falling weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Coordinates of a point.
    pub dimension: usize,
    /// K x D, row-major, in the unit of the points: the weighted means of the clusters.
    pub centers: Vec<f64>,
    /// One for each centre.
    pub clusters: Vec<Cluster>,
    /// The cluster of each row, in the order of the input.
    pub labels: Vec<u32>,
    /// Weighted mean squared distance.
    pub objective: f64,
    /// Weighted sum of squared distances.
    pub sum_of_squares: f64,
    /// The weighted sum of squares that each start came to.
    pub starts: Vec<f64>,
    /// Passes over the rows in all starts, without those that drew centres.
    pub iterations: u64,
    /// Seconds by phase, of this process only.
    pub phases: Vec<(String, f64)>,
    /// Seconds over ranks, of each phase and of computing, communicating and waiting; empty for engines that have no ranks.
    pub timers: Vec<Spread>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// The most rows of a rank over the mean.
    pub imbalance: f64,
}

/// What the lead of a run brings home.
#[derive(Debug)]
pub(super) struct Outcome {
    pub state: State,
    pub centers: Centers,
    /// Mass and first moment of each cluster, stored units.
    pub sums: Vec<f64>,
    /// Rows and weighted squared distances of each cluster.
    pub spreads: Vec<f64>,
    pub spent: Spent,
}

impl Model {
    /// What the clustering says of other rows: its centres, each row surely in the nearest.
    pub fn centroids(&self) -> Centroids {
        Centroids::new(self.dimension, self.centers.clone(), 0.0).expect("a clustering has centres, which are finite")
    }

    /// Puts a run's outcome into the units and the order that users see. A cluster that no row is in is left out.
    pub(super) fn new<T: Kept>(
        points: &Points,
        rows: &Rows<T>,
        outcome: Outcome,
        labelled: impl Iterator<Item = Labelled>,
        parameters: &Parameters,
    ) -> Self {
        let Outcome { state, centers, sums, spreads, spent } = outcome;
        let dimension = rows.dimension;
        let masses: Vec<f64> = sums.chunks_exact(1 + dimension).map(|sums| sums[0]).collect();
        let mut order: Vec<usize> = (0..centers.len()).filter(|&k| masses[k] > 0.0 || spreads[2 * k] > 0.0).collect();
        order.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]).then(a.cmp(&b)));
        let mut number = vec![0u32; centers.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new as u32;
        }
        let mut labels = vec![0; points.len()];
        for (leaf, labelled) in rows.leaves.iter().zip(labelled) {
            for (&row, label) in leaf.rows.iter().chain(&leaf.bystander_rows).zip(labelled.labels) {
                labels[row as usize] = number[label as usize];
            }
        }
        let clusters: Vec<Cluster> = order
            .iter()
            .map(|&k| Cluster {
                rows: spreads[2 * k] as u64,
                weight: masses[k] * rows.weight_unit,
                spread: if masses[k] > 0.0 { (spreads[2 * k + 1] / masses[k]).sqrt() * rows.unit } else { 0.0 },
            })
            .collect();
        let stored_cost: f64 = order.iter().map(|&k| spreads[2 * k + 1]).sum();
        let weighted_square = rows.squared(1.0) * rows.weight_unit;
        let mut warnings = Vec::new();
        if clusters.len() < parameters.clusters {
            warnings.push(format!(
                "{} clusters were asked for, but only {} have rows: the points of positive weight have too few distinct positions, or centres were left alone on the way",
                parameters.clusters,
                clusters.len()
            ));
        }
        if state.unfinished > 0 {
            warnings.push(format!(
                "{} of {} starts had not come to their fixed point after {} sweeps",
                state.unfinished,
                state.costs.len(),
                parameters.max_sweeps
            ));
        }
        Self {
            dimension,
            centers: order.iter().flat_map(|&k| rows.position(centers.center(k))).collect(),
            clusters,
            labels,
            objective: rows.squared(stored_cost / rows.total_weight),
            sum_of_squares: stored_cost * weighted_square,
            starts: state.costs.iter().map(|cost| cost * weighted_square).collect(),
            iterations: state.sweeps,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}
