//! The condensed tree: groups of items that appear, shrink and split as the distance falls and the density rises.

use crate::links::Link;

/// A cluster of the condensed tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Branch {
    /// The cluster that it split off from; `None` for the cluster of all items.
    pub parent: Option<usize>,
    /// The density at which it appears: 1 over the distance.
    pub birth: f64,
    /// The density at which it splits into clusters, or at which its last items leave.
    pub death: f64,
    /// The weight of its items when it appears.
    pub weight: f64,
    /// The number of its items when it appears.
    pub items: u64,
    /// The sum over its items of weight times the range of densities at which the item belongs to it.
    pub stability: f64,
    /// Whether it splits into clusters.
    pub splits: bool,
}

/// The condensed tree. A cluster comes after its parent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condensed {
    pub branches: Vec<Branch>,
    /// The last cluster that each item belongs to, and the density at which the item leaves it.
    pub last: Vec<(usize, f64)>,
}

/// A node of the single-linkage tree of mutual reachability.
struct Node {
    /// The nodes right below; pairs at the same distance are one node.
    parts: Vec<usize>,
    distance: f64,
    weight: f64,
    items: u64,
}

/// Makes the single-linkage tree. The first nodes are the items, and the last one is the root. Pairs at the same
/// distance are added at once, so a node may have more than two parts.
fn single_linkage(edges: &[Link], weights: &[f64], unit: f64) -> Vec<Node> {
    let leaf = |&weight: &f64| Node { parts: Vec::new(), distance: 0.0, weight, items: 1 };
    let mut nodes: Vec<Node> = weights.iter().map(leaf).collect();
    let mut order: Vec<&Link> = edges.iter().collect();
    order.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    // Groups by their lowest item, and the node of each.
    let mut group: Vec<usize> = (0..weights.len()).collect();
    let mut node: Vec<usize> = (0..weights.len()).collect();
    for edge in order {
        let [a, b] = [edge.from, edge.to].map(|item| find(&mut group, item as usize));
        let (low, high) = (a.min(b), a.max(b));
        let distance = edge.distance * unit;
        // A node at this distance takes in the parts of another one at the same distance.
        let mut parts = Vec::new();
        for at in [node[low], node[high]] {
            if nodes[at].distance == distance && !nodes[at].parts.is_empty() {
                parts.append(&mut nodes[at].parts);
            } else {
                parts.push(at);
            }
        }
        let weight = nodes[node[low]].weight + nodes[node[high]].weight;
        let items = nodes[node[low]].items + nodes[node[high]].items;
        nodes.push(Node { parts, distance, weight, items });
        group[high] = low;
        node[low] = nodes.len() - 1;
    }
    nodes
}

/// Returns the lowest item of an item's group.
fn find(group: &mut [usize], mut item: usize) -> usize {
    while group[item] != item {
        group[item] = group[group[item]];
        item = group[item];
    }
    item
}

impl Condensed {
    /// Condenses the spanning tree of items with these weights. Its distances are multiplied by `unit`. Groups of less
    /// than `least` in weight are not clusters.
    pub fn new(edges: &[Link], weights: &[f64], unit: f64, least: f64) -> Self {
        let nodes = single_linkage(edges, weights, unit);
        let root = nodes.len() - 1;
        let branch = |parent, birth, node: &Node| Branch {
            parent,
            birth,
            death: birth,
            weight: node.weight,
            items: node.items,
            stability: 0.0,
            splits: false,
        };
        let mut branches = vec![branch(None, 0.0, &nodes[root])];
        let mut last = vec![(0, 0.0); weights.len()];
        let mut open = vec![(root, 0)];
        while let Some((at, of)) = open.pop() {
            let node = &nodes[at];
            // Equal items never part.
            if node.distance == 0.0 {
                leave(&nodes, weights, at, of, f64::INFINITY, &mut branches, &mut last);
                continue;
            }
            let density = 1.0 / node.distance;
            let (large, small): (Vec<usize>, Vec<usize>) =
                node.parts.iter().partition(|&&part| nodes[part].weight >= least);
            for part in small {
                leave(&nodes, weights, part, of, density, &mut branches, &mut last);
            }
            if let [part] = large[..] {
                open.push((part, of));
                continue;
            }
            for part in large {
                let own = &mut branches[of];
                own.stability += (density - own.birth) * nodes[part].weight;
                (own.death, own.splits) = (own.death.max(density), true);
                open.push((part, branches.len()));
                branches.push(branch(Some(of), density, &nodes[part]));
            }
        }
        Self { branches, last }
    }
}

/// Lets all items below a node leave a cluster.
fn leave(
    nodes: &[Node],
    weights: &[f64],
    node: usize,
    of: usize,
    density: f64,
    branches: &mut [Branch],
    last: &mut [(usize, f64)],
) {
    let own = &mut branches[of];
    own.stability += (density - own.birth) * nodes[node].weight;
    own.death = own.death.max(density);
    let mut open = vec![node];
    while let Some(at) = open.pop() {
        open.extend(&nodes[at].parts);
        if at < weights.len() {
            last[at] = (of, density);
        }
    }
}
