//! The result of k-medoids.

use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Spread;

use super::fit::State;
use super::parameters::Parameters;
use super::swap::{Assigned, Problem};
use crate::anneal::run::Spent;

/// The figures of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The medoid of the cluster.
    pub medoid: usize,
    /// The number of items, including those of weight 0.
    pub items: u64,
    /// The sum of the items' weights.
    pub weight: f64,
    /// The weighted mean dissimilarity of the items to the medoid; 0 if the items have no weight.
    pub mean: f64,
    /// The largest dissimilarity of an item of positive weight to the medoid.
    pub radius: f64,
}

/// Clusters around medoids, numbered by decreasing weight. Clusters of equal weight are in the order of their medoids.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The cluster of each item, whose medoid is the item's nearest.
    pub labels: Vec<u32>,
    /// The dissimilarity of each item to its medoid.
    pub distances: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The weighted sum of dissimilarities of items to their medoids.
    pub cost: f64,
    /// The number of passes over the matrix.
    pub iterations: u64,
    /// The number of swaps of a medoid for another item, after the start.
    pub swaps: u64,
    /// Whether the run ended because no swap lowers the cost.
    pub is_converged: bool,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds; empty for engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of items on the rank with the most, divided by the mean.
    pub imbalance: f64,
}

/// The result of a run, on the lead rank.
pub(super) struct Outcome {
    pub state: State,
    pub assigned: Assigned,
    pub spent: Spent,
}

impl Model {
    pub(super) fn new<T: Real>(problem: &Problem<'_, T>, outcome: Outcome, parameters: &Parameters) -> Self {
        let Outcome { state, assigned, spent } = outcome;
        let unit = problem.unit();
        let found = |place: usize| {
            let members = || {
                assigned.nearest.iter().enumerate().filter(move |(_, at)| **at as usize == place).map(|(item, _)| item)
            };
            let weight: f64 = members().map(|item| problem.weights[item]).sum();
            let sum: f64 = members().map(|item| problem.weights[item] * assigned.distance[item]).sum();
            let heavy = members().filter(|&item| problem.weights[item] > 0.0);
            Cluster {
                medoid: assigned.medoids[place] as usize,
                items: members().count() as u64,
                weight: weight * problem.weight_unit,
                mean: if weight > 0.0 { sum / weight * unit } else { 0.0 },
                radius: heavy.map(|item| assigned.distance[item]).fold(0.0, f64::max) * unit,
            }
        };
        let all: Vec<Cluster> = (0..assigned.medoids.len()).map(found).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| all[b].weight.total_cmp(&all[a].weight).then(all[a].medoid.cmp(&all[b].medoid)));
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &cluster)| number[cluster] = place as u32);
        let mut warnings: Vec<String> = problem.matrix.rounding.iter().cloned().collect();
        let empty = all.iter().filter(|cluster| cluster.weight == 0.0).count();
        if empty > 0 {
            warnings.push(format!(
                "{empty} of {} clusters have no items of their own: the items have no more distinct positions",
                all.len()
            ));
        }
        if !state.is_converged && parameters.max_passes > 0 {
            warnings.push(format!(
                "the search for swaps ended at its limit of {} pass{}; another swap may lower the cost",
                state.swap_passes,
                if state.swap_passes == 1 { "" } else { "es" }
            ));
        }
        Self {
            labels: assigned.nearest.iter().map(|&place| number[place as usize]).collect(),
            distances: assigned.distance.iter().map(|distance| distance * unit).collect(),
            clusters: order.iter().map(|&cluster| all[cluster].clone()).collect(),
            cost: assigned.cost * unit * problem.weight_unit,
            iterations: state.passes,
            swaps: state.swaps,
            is_converged: state.is_converged,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}
