//! The result of density-based clustering.

use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Spread;

use super::Problem;
use super::fit::Found;
use crate::anneal::run::Spent;
use crate::vector::OUTLIER;

/// The figures of a chosen cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The item in the densest part: of the members that leave last, the first one.
    pub exemplar: usize,
    /// The number of members.
    pub items: u64,
    /// The sum of the members' weights.
    pub weight: f64,
    /// The distance below which the cluster is apart from all others; infinite for the cluster of all items.
    pub distance: f64,
    /// The sum over items of weight times the range of densities (1 over distance) at which the item belongs to it.
    pub stability: f64,
    /// The stability, divided by the weight and the largest density: 0 to 1. (Zero distances give 1.)
    pub persistence: f64,
}

/// A cluster of the condensed tree, chosen or not. It comes after its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The cluster that it split off from, as an index of the tree; `None` for the cluster of all items.
    pub parent: Option<usize>,
    /// The distance below which it is apart; infinite for the cluster of all items.
    pub distance: f64,
    /// The distance at which it splits into clusters, or at which its last items leave.
    pub end: f64,
    /// The number of its items when it appears.
    pub items: u64,
    /// The weight of its items when it appears.
    pub weight: f64,
    /// See [`Cluster::stability`].
    pub stability: f64,
    /// Its number among the chosen clusters, if it was chosen.
    pub cluster: Option<usize>,
}

/// Dense groups of items, and the items in none of them. Clusters are numbered by decreasing weight. Clusters of equal
/// weight are in the order of their lowest items.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The cluster of each item; [`OUTLIER`] for noise.
    pub labels: Vec<u32>,
    /// How surely each item belongs to its cluster: 1 in the densest part, 0 for noise.
    pub probabilities: Vec<f64>,
    /// The outlier score of each item (GLOSH; Campello and others 2015), 0 to 1. It compares the density at which the item
    /// leaves its last group with the densest part of this group.
    pub outlier_scores: Vec<f64>,
    /// The core distance of each item.
    pub core_distances: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The condensed tree.
    pub tree: Vec<Split>,
    /// The number of items in no cluster.
    pub noise: u64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds; empty for engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of items on the rank with the most, divided by the mean.
    pub imbalance: f64,
}

/// The result of a run, on the first rank of each process.
pub(super) struct Outcome {
    pub found: Found,
    pub spent: Spent,
}

impl Model {
    pub(super) fn new<T: Real>(problem: &Problem<'_, T>, outcome: Outcome) -> Self {
        let Outcome { found: Found { core, tree, chosen, memberships }, spent } = outcome;
        let mut members = vec![Vec::new(); chosen.len()];
        for (item, membership) in memberships.iter().enumerate() {
            if let Some(cluster) = membership.cluster {
                members[cluster].push(item);
            }
        }
        let weight = |cluster: usize| members[cluster].iter().map(|&item| problem.weights[item]).sum::<f64>();
        let mut order: Vec<usize> = (0..chosen.len()).collect();
        order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(members[a].first().cmp(&members[b].first())));
        let mut number = vec![0; chosen.len()];
        order.iter().enumerate().for_each(|(place, &cluster)| number[cluster] = place);
        let figures = |&cluster: &usize| {
            let branch = &tree.branches[chosen[cluster]];
            let leaves = |item: usize| tree.last[item].1;
            let later = |best: usize, &item: &usize| if leaves(item) > leaves(best) { item } else { best };
            let items = &members[cluster];
            let range = branch.stability / (branch.weight * branch.death);
            Cluster {
                exemplar: items.iter().fold(items.first().copied().unwrap_or_default(), later),
                items: items.len() as u64,
                weight: weight(cluster),
                distance: 1.0 / branch.birth,
                stability: branch.stability,
                persistence: if branch.stability.is_finite() && branch.death > 0.0 { range } else { 1.0 },
            }
        };
        let mut of_branch = vec![None; tree.branches.len()];
        chosen.iter().enumerate().for_each(|(cluster, &branch)| of_branch[branch] = Some(number[cluster]));
        let split = |(at, branch): (usize, &super::condensed::Branch)| Split {
            parent: branch.parent,
            distance: 1.0 / branch.birth,
            end: 1.0 / branch.death,
            items: branch.items,
            weight: branch.weight,
            stability: branch.stability,
            cluster: of_branch[at],
        };
        let noise = memberships.iter().filter(|membership| membership.cluster.is_none()).count() as u64;
        let mut warnings: Vec<String> = problem.matrix.rounding.iter().cloned().collect();
        if chosen.is_empty() {
            warnings.push(
                "no cluster was found, and all items are noise: lower min_cluster_size or min_samples, or allow a single cluster"
                    .to_owned(),
            );
        }
        Self {
            labels: memberships.iter().map(|m| m.cluster.map_or(OUTLIER, |cluster| number[cluster] as u32)).collect(),
            probabilities: memberships.iter().map(|membership| membership.probability).collect(),
            outlier_scores: memberships.iter().map(|membership| membership.outlier_score).collect(),
            core_distances: core.iter().map(|distance| distance * problem.matrix.unit).collect(),
            clusters: order.iter().map(figures).collect(),
            tree: tree.branches.iter().enumerate().map(split).collect(),
            noise,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}
