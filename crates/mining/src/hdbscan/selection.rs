//! Chooses clusters from the condensed tree, and labels the items.

use super::condensed::Condensed;
use super::parameters::{Parameters, Selection};

/// The chosen clusters, as indices of branches. `most` is the largest weight of a cluster that splits.
pub(super) fn choose(tree: &Condensed, parameters: &Parameters, most: Option<f64>) -> Vec<usize> {
    let branches = &tree.branches;
    let is_allowed = |k: usize| k > 0 || parameters.allow_single_cluster;
    let mut is_chosen = vec![false; branches.len()];
    match parameters.selection {
        Selection::Leaf => (0..branches.len()).for_each(|k| is_chosen[k] = is_allowed(k) && !branches[k].splits),
        Selection::Eom => {
            // The value of a subtree: the largest sum of stabilities of clusters that do not contain each other.
            let mut inside = vec![0.0; branches.len()];
            for k in (0..branches.len()).rev() {
                let own = &branches[k];
                let is_small = most.is_none_or(|most| own.weight <= most);
                let is_best = own.stability >= inside[k] && is_allowed(k) && (is_small || !own.splits);
                is_chosen[k] = is_best;
                let value = if is_best { own.stability } else { inside[k] };
                if let Some(parent) = own.parent {
                    inside[parent] += value;
                }
            }
        }
    }
    if parameters.epsilon > 0.0 {
        join_below(tree, parameters, &mut is_chosen);
    }
    // A chosen cluster hides those inside it.
    let mut is_hidden = vec![false; branches.len()];
    for k in 1..branches.len() {
        let parent = branches[k].parent.unwrap_or_default();
        is_hidden[k] = is_hidden[parent] || is_chosen[parent];
    }
    (0..branches.len()).filter(|&k| is_chosen[k] && !is_hidden[k]).collect()
}

/// Replaces chosen clusters that appear below the distance `epsilon` by the first cluster around them that appears above
/// it (Malzer and Baum 2020). If there is none, by the largest one that may be chosen.
fn join_below(tree: &Condensed, parameters: &Parameters, is_chosen: &mut [bool]) {
    let branches = &tree.branches;
    let first = usize::from(!parameters.allow_single_cluster);
    for k in (first..branches.len()).rev().filter(|&k| is_chosen[k]).collect::<Vec<_>>() {
        let mut at = k;
        while 1.0 / branches[at].birth < parameters.epsilon {
            match branches[at].parent.filter(|&parent| parent >= first) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        is_chosen[at] = true;
    }
}

/// The cluster of an item among the chosen ones, and how surely it belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Membership {
    /// The place of the cluster among the chosen ones; `None` for noise.
    pub cluster: Option<usize>,
    /// The density at which the item leaves its cluster, divided by the density at which the cluster ends, at most 1; 0
    /// for noise. In a cluster with equal items, it is 1 for these items and 0 for all others.
    pub probability: f64,
    /// 1 minus the density at which the item leaves the last cluster that it belongs to, divided by the largest density
    /// in that cluster (GLOSH). An item of 0 is as dense as its neighbourhood gets.
    pub outlier_score: f64,
}

/// Labels the items.
pub(super) fn memberships(tree: &Condensed, chosen: &[usize], parameters: &Parameters) -> Vec<Membership> {
    let branches = &tree.branches;
    // The chosen cluster that each branch is in, and the largest density in each branch.
    let mut cluster = vec![None; branches.len()];
    chosen.iter().enumerate().for_each(|(place, &k)| cluster[k] = Some(place));
    let mut densest: Vec<f64> = branches.iter().map(|branch| branch.death).collect();
    for k in 1..branches.len() {
        cluster[k] = cluster[k].or(cluster[branches[k].parent.unwrap_or_default()]);
    }
    for k in (1..branches.len()).rev() {
        let parent = branches[k].parent.unwrap_or_default();
        densest[parent] = densest[parent].max(densest[k]);
    }
    // Items that leave the cluster of all items before it splits are noise, even if it is chosen.
    let root_splits = if branches[0].splits { branches[0].death } else { 0.0 };
    let least_in_root = if parameters.epsilon > 0.0 { 1.0 / parameters.epsilon } else { root_splits };
    let of = |&(last, density): &(usize, f64)| {
        let found = cluster[last].filter(|&place| chosen[place] > 0 || density >= least_in_root);
        let share = |most: f64| if density < most { density / most } else { 1.0 };
        let outlier_score = match densest[last] {
            0.0 => 0.0,
            most if most.is_infinite() => f64::from(u8::from(density.is_finite())),
            most => 1.0 - density / most,
        };
        Membership {
            cluster: found,
            probability: found.map_or(0.0, |place| share(branches[chosen[place]].death)),
            outlier_score,
        }
    };
    tree.last.iter().map(of).collect()
}
