//! Draws the dissimilarities of all pairs. Similar clusters are side by side, and the tree of the clusters is above
//! them.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_mining::drawn::drawn;
use lehr_mining::hierarchy::Model as Tree;
use lehr_mining::vector::OUTLIER;
use serde_json::{Value, json};

use crate::packed;

/// The maximum number of cells along each side of the picture.
const CELLS: usize = 320;
/// The maximum number of items that are sampled along each side of a cell, and from each cluster.
const SAMPLED: usize = 12;
const SAMPLED_OF_CLUSTER: usize = 60;
/// The maximum percentage of cells that may be beyond the brightest shade, and the factor by which the largest cell
/// must exceed this shade.
const FAR_PERCENT: usize = 3;
const FAR: f64 = 2.0;
/// The maximum number of clusters that are joined by a tree and whose mean dissimilarities are in the report. These grow
/// with the square of the number of clusters.
const JOINED_MAX: usize = 300;
/// The maximum number of items whose names are in the report.
const NAMED: usize = 20_000;

/// The mean dissimilarities of items in a grid, in the order of the clusters.
pub struct Heat {
    /// The number of cells along a side.
    pub cells: usize,
    /// The mean of each cell; `None` if no pair has a value.
    pub levels: Vec<Option<f64>>,
    /// The mean that is drawn in the brightest shade.
    pub largest: f64,
    /// The largest mean, if it is far beyond the brightest shade.
    pub beyond: Option<f64>,
    /// The clusters in their order in the picture.
    pub blocks: Vec<Block>,
    items: Vec<usize>,
    between: Vec<Vec<Option<f64>>>,
    tree: Vec<(usize, usize, f64)>,
}

/// A cluster in the picture.
pub struct Block {
    /// The number of the cluster.
    pub cluster: usize,
    /// The start of the cluster, as a share of all items.
    pub from: f64,
    /// The end of the cluster, as a share of all items.
    pub to: f64,
    /// The number of items in the cluster.
    pub items: usize,
}

impl Heat {
    /// Orders the items by cluster, and the clusters by their tree. Items labelled [`OUTLIER`] are left out.
    pub fn of(matrix: &Dissimilarities, labels: &[u32]) -> Self {
        let members = members(0..matrix.items(), labels);
        let between = between(matrix, &members);
        // Without means, the clusters keep the order of their numbers.
        let (order, tree) =
            if between.is_empty() { ((0..members.len()).collect(), Vec::new()) } else { joined(&between, &members) };
        Self::in_order(matrix, &members, between, &order, tree)
    }

    /// Orders the items and the clusters as a tree of the items does.
    pub fn in_tree(matrix: &Dissimilarities, model: &Tree) -> Self {
        let members = members(model.order.iter().copied(), &model.labels);
        let mut order: Vec<usize> = Vec::with_capacity(members.len());
        for &item in &model.order {
            let cluster = model.labels[item] as usize;
            if order.last() != Some(&cluster) {
                order.push(cluster);
            }
        }
        let between = between(matrix, &members);
        let (items, clusters) = (matrix.items(), model.clusters.len());
        let mut node = vec![usize::MAX; items + model.joins.len()];
        order.iter().enumerate().for_each(|(place, &cluster)| node[model.roots[cluster]] = place);
        let above = model.joins.iter().enumerate().skip(items - clusters);
        let tree = above.zip(clusters..).map(|((place, join), number)| {
            node[items + place] = number;
            (node[join.left], node[join.right], join.height)
        });
        let tree = if between.is_empty() { Vec::new() } else { tree.collect() };
        Self::in_order(matrix, &members, between, &order, tree)
    }

    fn in_order(
        matrix: &Dissimilarities,
        members: &[Vec<usize>],
        between: Vec<Vec<Option<f64>>>,
        order: &[usize],
        tree: Vec<(usize, usize, f64)>,
    ) -> Self {
        let items: Vec<usize> = order.iter().flat_map(|&cluster| members[cluster].iter().copied()).collect();
        let (cells, levels) = grid(matrix, &items);
        let (largest, beyond) = brightest(&levels);
        let share = |place: usize| place as f64 / items.len().max(1) as f64;
        let mut from = 0;
        let block = |&cluster: &usize| {
            let (first, items) = (from, members[cluster].len());
            from += items;
            Block { cluster, from: share(first), to: share(from), items }
        };
        let blocks = order.iter().map(block).collect();
        Self { cells, levels, largest, beyond, blocks, items, between, tree }
    }

    /// Returns the matrix as a figure of a report.
    pub fn figure(self, title: &str, ids: &[String]) -> Value {
        let Self { cells, levels, largest, beyond, blocks, items, between, tree } = self;
        let means = blocks.iter().flat_map(|a| blocks.iter().map(move |b| (a.cluster, b.cluster)));
        let means = means.filter(|_| !between.is_empty()).map(|(a, b)| between[a][b].unwrap_or(f64::NAN));
        let names: Option<Vec<&str>> =
            (items.len() <= NAMED).then(|| items.iter().map(|&item| ids[item].as_str()).collect());
        let block = |Block { cluster, from, to, items }: &Block| json!({ "cluster": cluster, "from": from, "to": to, "items": items });
        json!({
            "kind": "heat",
            "title": title,
            "cells": cells,
            "levels": packed::shares(levels.into_iter().map(|mean| mean.map(|mean| if largest > 0.0 { (mean / largest).min(1.0) } else { 0.0 }))),
            "largest": largest,
            "beyond": beyond,
            "between": packed::floats(means),
            "blocks": blocks.iter().map(block).collect::<Vec<_>>(),
            "tree": tree,
            "ids": names,
        })
    }
}

/// Lists the items of each cluster in this order, without noise.
fn members(order: impl Iterator<Item = usize>, labels: &[u32]) -> Vec<Vec<usize>> {
    let is_member = |label: u32| label != OUTLIER;
    let clusters = labels.iter().copied().filter(|label| is_member(*label)).max().map_or(0, |most| most as usize + 1);
    let mut members = vec![Vec::new(); clusters];
    order.filter(|item| is_member(labels[*item])).for_each(|item| members[labels[item] as usize].push(item));
    members
}

/// Returns a sample of at most `most` of the items.
fn some(of: &[usize], most: usize) -> Vec<usize> {
    drawn(of.len(), most).into_iter().map(|place| of[place]).collect()
}

/// Returns the mean dissimilarity of each pair of clusters; `None` if no pair of items has a value. Returns an empty
/// table if there are too many clusters.
fn between(matrix: &Dissimilarities, members: &[Vec<usize>]) -> Vec<Vec<Option<f64>>> {
    if members.len() > JOINED_MAX {
        return Vec::new();
    }
    let mut means = vec![vec![None; members.len()]; members.len()];
    let chosen: Vec<Vec<usize>> = members.iter().map(|members| some(members, SAMPLED_OF_CLUSTER)).collect();
    for a in 0..members.len() {
        for b in a..members.len() {
            let mean = mean(matrix, &chosen[a], &chosen[b]).or((a == b).then_some(0.0));
            means[a][b] = mean;
            means[b][a] = mean;
        }
    }
    means
}

fn mean(matrix: &Dissimilarities, one: &[usize], other: &[usize]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for &i in one {
        for value in other.iter().filter(|&&j| j != i).filter_map(|&j| matrix.get(i, j)) {
            sum += value;
            count += 1;
        }
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns the order of the clusters and their joins by average linkage. A join consists of two nodes and the mean
/// dissimilarity between them. The first nodes are the clusters in this order; the next nodes are the joins. Clusters
/// without a known dissimilarity are joined last.
fn joined(between: &[Vec<Option<f64>>], members: &[Vec<usize>]) -> (Vec<usize>, Vec<(usize, usize, f64)>) {
    struct Node {
        clusters: Vec<usize>,
        items: f64,
        number: usize,
    }
    let clusters = members.len();
    let highest = between.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let mut apart: Vec<Vec<f64>> =
        between.iter().map(|row| row.iter().map(|mean| mean.unwrap_or(highest)).collect()).collect();
    let mut nodes: Vec<Node> = (0..clusters)
        .map(|cluster| Node { clusters: vec![cluster], items: members[cluster].len() as f64, number: cluster })
        .collect();
    let mut joins = Vec::new();
    while nodes.len() > 1 {
        let mut best = (f64::INFINITY, 0, 1);
        for a in 0..nodes.len() {
            for b in a + 1..nodes.len() {
                if apart[a][b] < best.0 {
                    best = (apart[a][b], a, b);
                }
            }
        }
        let (height, a, b) = best;
        // Turn the second node, if necessary, so that its end that is closest to the first node is adjacent.
        let other = nodes.remove(b);
        let one = &mut nodes[a];
        let close = |x: usize, y: usize| between[x][y].unwrap_or(highest);
        let (first, last) = (other.clusters[0], other.clusters[other.clusters.len() - 1]);
        let end = one.clusters[one.clusters.len() - 1];
        let is_turned = close(end, last) < close(end, first);
        joins.push((one.number, other.number, height));
        let (n, m) = (one.items, other.items);
        one.clusters.extend(if is_turned { other.clusters.into_iter().rev().collect() } else { other.clusters });
        one.items += m;
        one.number = clusters + joins.len() - 1;
        let moved = apart.remove(b);
        let total = (n + m).max(f64::MIN_POSITIVE);
        for row in &mut apart {
            row.remove(b);
        }
        for other in 0..nodes.len() {
            let from = if other < b { moved[other] } else { moved[other + 1] };
            let mean = (n * apart[a][other] + m * from) / total;
            apart[a][other] = mean;
            apart[other][a] = mean;
        }
    }
    let order = nodes.pop().map_or_else(Vec::new, |node| node.clusters);
    let mut place = vec![0; clusters];
    order.iter().enumerate().for_each(|(at, &cluster)| place[cluster] = at);
    let number = |node: usize| if node < clusters { place[node] } else { node };
    (order, joins.into_iter().map(|(a, b, height)| (number(a), number(b), height)).collect())
}

/// Returns the mean that is drawn in the brightest shade, and the largest mean if it is far beyond this shade. If the
/// largest mean always set the scale, one item far from all other items would make the remaining cells equally dark.
fn brightest(means: &[Option<f64>]) -> (f64, Option<f64>) {
    let mut known: Vec<f64> = means.iter().flatten().copied().collect();
    known.sort_unstable_by(f64::total_cmp);
    let Some(&largest) = known.last() else { return (0.0, None) };
    let most = known[(known.len() - 1) * (100 - FAR_PERCENT) / 100];
    if most > 0.0 && largest > FAR * most { (most, Some(largest)) } else { (largest, None) }
}

/// Returns the number of cells along each side, and the mean of each cell, for items in this order.
fn grid(matrix: &Dissimilarities, order: &[usize]) -> (usize, Vec<Option<f64>>) {
    let items = order.len();
    let cells = items.min(CELLS);
    let range = |cell: usize| &order[cell * items / cells..(cell + 1) * items / cells];
    let chosen: Vec<Vec<usize>> = (0..cells).map(|cell| some(range(cell), SAMPLED)).collect();
    let mut means = vec![None; cells * cells];
    for row in 0..cells {
        for column in row..cells {
            let found = mean(matrix, &chosen[row], &chosen[column]).or((row == column).then_some(0.0));
            means[row * cells + column] = found;
            means[column * cells + row] = found;
        }
    }
    (cells, means)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns three clusters: clusters 0 and 2 are close together, and cluster 1 is far from both.
    fn three() -> (Vec<Vec<Option<f64>>>, Vec<Vec<usize>>) {
        let far = |a: f64, b: f64| Some((a - b).abs());
        let places = [0.0, 10.0, 1.0];
        let between = places.iter().map(|a| places.iter().map(|b| far(*a, *b)).collect()).collect();
        (between, vec![vec![0, 1], vec![2], vec![3]])
    }

    #[test]
    fn clusters_that_are_close_stand_beside_each_other_under_one_join() {
        let (between, members) = three();
        let (order, tree) = joined(&between, &members);
        assert_eq!(order, [0, 2, 1]);
        // Positions 0 and 1 join at 1. Their join (node 3) and position 2 join at the mean over items: (2 · 10 + 9) /
        // 3.
        assert_eq!(tree[0], (0, 1, 1.0));
        assert_eq!((tree[1].0, tree[1].1), (3, 2));
        assert!((tree[1].2 - 29.0 / 3.0).abs() < 1e-12, "{tree:?}");
    }

    #[test]
    fn an_item_far_from_all_others_takes_no_shade_from_them() {
        // There are 99 cells from 0.01 to 0.99, and one cell with the value 50.
        let mut means: Vec<Option<f64>> = (1..100).map(|hundredths| Some(f64::from(hundredths) / 100.0)).collect();
        assert_eq!(brightest(&means), (0.99, None));
        means.push(Some(50.0));
        means.push(None);
        assert_eq!(brightest(&means), (0.97, Some(50.0)));
        assert_eq!(brightest(&[None, None]), (0.0, None));
        // Most pairs are equal items, so the few different pairs set the scale.
        assert_eq!(brightest(&[&[Some(0.0); 99][..], &[Some(4.0)]].concat()), (4.0, None));
    }

    #[test]
    fn one_cluster_has_no_tree_and_unknown_pairs_are_joined_last() {
        assert_eq!(joined(&[vec![Some(0.0)]], &[vec![0]]), (vec![0], vec![]));
        let (mut between, members) = three();
        (between[0][2], between[2][0]) = (None, None);
        assert_eq!(joined(&between, &members).1.len(), 2);
    }
}
