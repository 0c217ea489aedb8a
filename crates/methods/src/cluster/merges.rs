//! The coarser levels of a clustering: the clusters that would merge next, by Ward's rule.
//!
//! Merging two clusters raises the sum of squared distances by `w v / (w + v) |a - b|^2`, with their weights `w`, `v`
//! and centres `a`, `b` (Ward 1963). Repeatedly merging the cheapest pair gives a tree. Nearest-neighbour chains find
//! it (Murtagh 1983) in K x K distances of D columns each.

use serde::Serialize;

/// The maximum number of clusters for which a tree is made. A larger tree is unreadable, and needs K x K distances.
const CLUSTERS_MAX: usize = 2_000;

/// Two clusters or groups of clusters that merge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Merge {
    /// The clusters of the first group, in order.
    pub first: Vec<usize>,
    /// The clusters of the second group, in order; its first cluster has a higher number.
    pub second: Vec<usize>,
    /// The increase of the weighted sum of squared distances.
    pub rise: f64,
}

/// A group of clusters that were merged.
struct Group {
    clusters: Vec<usize>,
    weight: f64,
    center: Vec<f64>,
}

impl Group {
    fn rise_with(&self, other: &Self) -> f64 {
        let squared: f64 = self.center.iter().zip(&other.center).map(|(a, b)| (a - b) * (a - b)).sum();
        let both = self.weight + other.weight;
        if both > 0.0 { self.weight * other.weight / both * squared } else { 0.0 }
    }

    fn joined(mut self, other: Self) -> Self {
        let weight = self.weight + other.weight;
        let share = if weight > 0.0 { other.weight / weight } else { 0.0 };
        self.center.iter_mut().zip(&other.center).for_each(|(a, b)| *a += share * (b - *a));
        self.clusters.extend(other.clusters);
        self.clusters.sort_unstable();
        Self { clusters: self.clusters, weight, center: self.center }
    }
}

/// Returns all merges from K x D centres with these weights down to one cluster, the cheapest merge first. Returns no
/// merges for more than 2,000 centres.
pub fn merges(centers: &[f64], weights: &[f64]) -> Vec<Merge> {
    let count = weights.len();
    if count > CLUSTERS_MAX {
        return Vec::new();
    }
    let dimension = centers.len() / count;
    let group = |(cluster, (center, weight)): (usize, (&[f64], &f64))| {
        Some(Group { clusters: vec![cluster], weight: *weight, center: center.to_vec() })
    };
    let mut groups: Vec<Option<Group>> = centers.chunks_exact(dimension).zip(weights).enumerate().map(group).collect();
    let (mut merges, mut chain): (Vec<Merge>, Vec<usize>) = (Vec::new(), Vec::new());
    while merges.len() + 1 < count {
        let last = match chain.last() {
            Some(last) => *last,
            None => {
                chain.extend(groups.iter().position(Option::is_some));
                continue;
            }
        };
        let here = groups[last].as_ref().expect("groups of a chain are there");
        let before = chain.len().checked_sub(2).map(|place| chain[place]);
        let others = groups.iter().enumerate().filter(|(place, _)| *place != last);
        let nearest = others
            .filter_map(|(place, other)| Some((here.rise_with(other.as_ref()?), place)))
            // If groups are equally near, take the previous group of the chain, so that chains end.
            .min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| (Some(b.1) == before).cmp(&(Some(a.1) == before))));
        let Some((rise, nearest)) = nearest else { break };
        if before != Some(nearest) {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (Some(a), Some(b)) = (groups[last.min(nearest)].take(), groups[last.max(nearest)].take()) else { break };
        let (first, second) = if a.clusters[0] < b.clusters[0] { (&a, &b) } else { (&b, &a) };
        merges.push(Merge { first: first.clusters.clone(), second: second.clusters.clone(), rise });
        groups[last.min(nearest)] = Some(a.joined(b));
    }
    // No later merge of a group is cheaper than the merge that made it, so sorting by cost keeps the order.
    merges.sort_by(|a, b| a.rise.total_cmp(&b.rise).then(a.first.len().cmp(&b.first.len())));
    merges
}

/// Returns the clusters that each cluster merges with first: `3`, or `3+5` for a group. Empty if there is no merge.
pub fn partners(merges: &[Merge], clusters: usize) -> Vec<String> {
    let mut partners = vec![String::new(); clusters];
    for Merge { first, second, .. } in merges {
        for (own, other) in [(first, second), (second, first)] {
            if let [cluster] = own[..] {
                let names: Vec<String> = other.iter().map(usize::to_string).collect();
                partners[cluster] = names.join("+");
            }
        }
    }
    partners
}

/// A merge from the view of the cluster or group that is absorbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The first cluster of the group that absorbs it.
    pub into: usize,
    /// The number of clusters that remain after the merge.
    pub left: usize,
}

/// Returns the merge in which each cluster disappears as the number of clusters falls. A group has the name of its
/// first cluster, so this is the merge in which the cluster's name disappears. It is `None` for the cluster whose name
/// remains to the end, and if there are no merges.
///
/// # Example
/// ```
/// use lehr_methods::cluster::merges::{Joined, joined, merges};
/// let joined = joined(&merges(&[0.0, 10.0, 1.0], &[1.0; 3]), 3);
/// assert_eq!(joined, [None, Some(Joined { into: 0, left: 1 }), Some(Joined { into: 0, left: 2 })]);
/// ```
pub fn joined(merges: &[Merge], clusters: usize) -> Vec<Option<Joined>> {
    let mut joined = vec![None; clusters];
    for (Merge { first, second, .. }, left) in merges.iter().zip((1..clusters).rev()) {
        joined[second[0]] = Some(Joined { into: first[0], left });
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the merges by searching all pairs for the cheapest pair before each merge.
    fn by_search(centers: &[f64], dimension: usize, weights: &[f64]) -> Vec<f64> {
        let mut groups: Vec<(f64, Vec<f64>)> =
            centers.chunks_exact(dimension).zip(weights).map(|(center, weight)| (*weight, center.to_vec())).collect();
        let mut rises = Vec::new();
        while groups.len() > 1 {
            let rise = |a: usize, b: usize| {
                let squared: f64 = groups[a].1.iter().zip(&groups[b].1).map(|(x, y)| (x - y) * (x - y)).sum();
                groups[a].0 * groups[b].0 / (groups[a].0 + groups[b].0) * squared
            };
            let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
            let (a, b) = pairs.min_by(|x, y| rise(x.0, x.1).total_cmp(&rise(y.0, y.1))).unwrap();
            rises.push(rise(a, b));
            let (weight, center) = groups.remove(b);
            let (own, place) = &mut groups[a];
            let whole = *own + weight;
            place.iter_mut().zip(&center).for_each(|(x, y)| *x = (*own * *x + weight * y) / whole);
            *own = whole;
        }
        rises
    }

    #[test]
    fn the_tree_is_that_of_the_cheapest_merges() {
        for count in 1..30usize {
            let number = |i: usize| ((i * 7919 + count * 104_729) % 1009) as f64 / 100.0;
            let centers: Vec<f64> = (0..2 * count).map(number).collect();
            let weights: Vec<f64> = (0..count).map(|k| 1.0 + number(k + 500)).collect();
            let found = merges(&centers, &weights);
            let expected = by_search(&centers, 2, &weights);
            assert_eq!(found.len(), count - 1);
            for (merge, expected) in found.iter().zip(&expected) {
                assert!((merge.rise - expected).abs() < 1e-9 * expected, "{count}: {} for {expected}", merge.rise);
            }
            let all = found.last().map_or(1, |last| last.first.len() + last.second.len());
            assert_eq!(all, count, "the last merge is of all");
        }
    }

    #[test]
    fn every_cluster_has_the_group_that_it_merges_with_first() {
        let merges = merges(&[0.0, 1.0, 10.0, 50.0], &[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(partners(&merges, 4), ["1", "0", "0+1", "0+1+2"]);
        assert_eq!(merges[0], Merge { first: vec![0], second: vec![1], rise: 0.5 });
    }

    #[test]
    fn equal_centres_merge_at_no_cost() {
        let merges = merges(&[3.0; 5], &[1.0; 5]);
        assert_eq!(merges.len(), 4);
        assert!(merges.iter().all(|merge| merge.rise == 0.0));
        assert!(partners(&merges, 5).iter().all(|partner| !partner.is_empty()));
    }

    #[test]
    fn one_cluster_has_no_merge_and_clusters_without_weight_merge_at_no_cost() {
        assert_eq!(partners(&merges(&[1.0, 2.0], &[3.0]), 1), [""]);
        assert_eq!(partners(&merges(&[1.0, 2.0, 9.0], &[3.0, 0.0, 0.0]), 3), ["1", "0", "0+1"]);
    }

    #[test]
    fn groups_at_each_number_of_clusters_are_those_of_the_merges() {
        let centers: Vec<f64> = (0..40).map(|i| f64::from(i * i % 37) + f64::from(i % 7) * 0.1).collect();
        let merges = merges(&centers, &[1.0; 20]);
        let joined = joined(&merges, 20);
        assert_eq!(joined.iter().filter(|joined| joined.is_none()).count(), 1);
        let mut groups: Vec<Vec<usize>> = (0..20).map(|cluster| vec![cluster]).collect();
        for (left, merge) in (1..20).rev().zip(&merges) {
            groups.retain(|group| *group != merge.first && *group != merge.second);
            let mut both = [&merge.first[..], &merge.second].concat();
            both.sort_unstable();
            groups.push(both);
            for group in &groups {
                for &cluster in group {
                    let mut now = cluster;
                    while let Some(Joined { into, .. }) = joined[now].filter(|joined| joined.left >= left) {
                        now = into;
                    }
                    assert_eq!(now, group[0], "cluster {cluster} of {left}");
                }
            }
        }
    }
}
