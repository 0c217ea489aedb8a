//! A tree of items as a dendrogram. Of a large tree, only the top is drawn; each node below stands for its items.

use lehr_mining::hierarchy::Model;
use serde_json::{Value, json};

/// The maximum number of nodes at the bottom of the drawing.
const LEAVES: usize = 80;

/// The top of a tree.
pub struct Dendrogram {
    /// The nodes at the bottom, from left to right.
    pub leaves: Vec<Leaf>,
    /// The joins by increasing height. The first nodes are the leaves, the next nodes are the joins.
    pub joins: Vec<Branch>,
    /// The height at which the tree is cut into clusters; `None` for a single cluster.
    pub cut: Option<f64>,
}

/// A node at the bottom of the drawing.
pub struct Leaf {
    /// The name of the item, or the first of several and how many there are.
    pub name: String,
    /// The number of items.
    pub items: u64,
    /// The cluster, if all items are in the same.
    pub cluster: Option<u32>,
}

/// A join in the drawing.
pub struct Branch {
    /// The node on the left.
    pub left: usize,
    /// The node on the right.
    pub right: usize,
    /// The height.
    pub height: f64,
    /// The cluster, if all items are in the same.
    pub cluster: Option<u32>,
}

impl Dendrogram {
    /// Takes the top of a tree. `height` is the height of the cut, if it was given.
    pub fn of(model: &Model, ids: &[String], height: Option<f64>) -> Self {
        let items = ids.len();
        let shown = items.min(LEAVES);
        // The joins that are drawn are the last; the nodes that they join are drawn too.
        let first = items - shown;
        let drawn = &model.joins[first..];
        let mut cluster = vec![None; items + model.joins.len()];
        model.roots.iter().zip(0u32..).for_each(|(&root, label)| cluster[root] = Some(label));
        for (place, join) in model.joins.iter().enumerate().rev() {
            if let Some(label) = cluster[items + place] {
                cluster[join.left] = Some(label);
                cluster[join.right] = Some(label);
            }
        }
        let mut place = vec![usize::MAX; items + model.joins.len()];
        let mut leaves = Vec::with_capacity(shown);
        let mut open = vec![items + model.joins.len() - 1];
        while let Some(node) = open.pop() {
            match node.checked_sub(items + first) {
                Some(join) => open.extend([drawn[join].right, drawn[join].left]),
                None => {
                    place[node] = leaves.len();
                    leaves.push(leaf(model, ids, node, cluster[node]));
                }
            }
        }
        let branch = |(number, join): (usize, &lehr_mining::hierarchy::Join)| {
            let node = items + first + number;
            place[node] = shown + number;
            Branch { left: place[join.left], right: place[join.right], height: join.height, cluster: cluster[node] }
        };
        let joins = drawn.iter().enumerate().map(branch).collect();
        Self { leaves, joins, cut: height.filter(|_| model.clusters.len() > 1).or_else(|| cut(model, items)) }
    }

    /// Returns the dendrogram as a figure of a report.
    pub fn figure(&self, title: &str) -> Value {
        let leaf = |leaf: &Leaf| json!({ "name": leaf.name, "items": leaf.items, "cluster": leaf.cluster });
        let join = |join: &Branch| json!([join.left, join.right, join.height, join.cluster]);
        json!({
            "kind": "dendrogram",
            "title": title,
            "leaves": self.leaves.iter().map(leaf).collect::<Vec<_>>(),
            "joins": self.joins.iter().map(join).collect::<Vec<_>>(),
            "cut": self.cut,
        })
    }
}

/// Describes a node at the bottom by its first item.
fn leaf(model: &Model, ids: &[String], node: usize, cluster: Option<u32>) -> Leaf {
    let mut first = node;
    while let Some(join) = first.checked_sub(ids.len()) {
        first = model.joins[join].left;
    }
    let items = node.checked_sub(ids.len()).map_or(1, |join| model.joins[join].items);
    let name = if items > 1 { format!("{} and {} more", ids[first], items - 1) } else { ids[first].clone() };
    Leaf { name, items, cluster }
}

/// Returns a height between the highest join within a cluster and the lowest join above.
fn cut(model: &Model, items: usize) -> Option<f64> {
    let above = model.joins.get(items - model.clusters.len())?.height;
    let below = (items - model.clusters.len()).checked_sub(1).map_or(0.0, |join| model.joins[join].height);
    Some(0.5 * (above + below))
}

#[cfg(test)]
mod tests {
    use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    use lehr_mining::Execution;
    use lehr_mining::anneal::Silent;
    use lehr_mining::hierarchy::{Parameters, cluster};

    use super::*;

    /// The tree of numbers on a line, cut into three clusters, and their names.
    fn line(at: &[f64]) -> (Model, Vec<String>) {
        let pairs = (0..at.len()).flat_map(|i| at[i + 1..].iter().map(move |other| (other - at[i]).abs())).collect();
        let matrix = Dissimilarities::new(at.len(), Form::Condensed, Values::F64(pairs), 1.0).unwrap();
        let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
        let model = cluster(&matrix, None, &parameters, &Execution::default(), &mut Silent).unwrap();
        (model, at.iter().map(|value| format!("n{value}")).collect())
    }

    #[test]
    fn a_small_tree_is_drawn_whole() {
        let (model, ids) = line(&[0.0, 10.0, 1.0, 30.0, 12.0]);
        let drawn = Dendrogram::of(&model, &ids, None);
        let names: Vec<&str> = drawn.leaves.iter().map(|leaf| leaf.name.as_str()).collect();
        assert_eq!(names, ["n0", "n1", "n10", "n12", "n30"]);
        let clusters: Vec<_> = drawn.leaves.iter().map(|leaf| leaf.cluster).collect();
        assert_eq!(clusters, [Some(0), Some(0), Some(1), Some(1), Some(2)]);
        let joins: Vec<_> = drawn.joins.iter().map(|join| (join.left, join.right, join.height, join.cluster)).collect();
        assert_eq!(joins, [(0, 1, 1.0, Some(0)), (2, 3, 2.0, Some(1)), (5, 6, 10.5, None), (7, 4, 24.25, None)]);
        assert_eq!(drawn.cut, Some(6.25));
        assert_eq!(Dendrogram::of(&model, &ids, Some(3.0)).cut, Some(3.0));
    }

    #[test]
    fn of_a_large_tree_the_top_is_drawn() {
        // 100 pairs of close numbers.
        let at: Vec<f64> = (0..200)
            .map(|item| f64::from(item / 2) * (1.0 + f64::from(item) / 1000.0) + 1e-6 * f64::from(item % 2))
            .collect();
        let (model, ids) = line(&at);
        let drawn = Dendrogram::of(&model, &ids, None);
        assert_eq!((drawn.leaves.len(), drawn.joins.len()), (80, 79));
        assert_eq!(drawn.leaves.iter().map(|leaf| leaf.items).sum::<u64>(), 200);
        assert!(drawn.leaves[0].name.ends_with(" more"), "{}", drawn.leaves[0].name);
        assert!(drawn.joins.iter().enumerate().all(|(place, join)| join.left < 80 + place && join.right < 80 + place));
    }
}
