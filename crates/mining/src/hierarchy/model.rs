//! The result of agglomerative clustering.

use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Spread;

use super::Problem;
use super::fit::Cut;
use super::parameters::Parameters;
use super::silhouettes::Means;
use crate::anneal::run::Spent;

/// Two nodes of the tree that are joined. The nodes below the number of items are the items; the next nodes are the
/// joins in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// The node with the lower lowest item.
    pub left: usize,
    /// The other node.
    pub right: usize,
    /// The distance between the two nodes.
    pub height: f64,
    /// The number of items below this join.
    pub items: u64,
}

/// A number of clusters, and its mean silhouette.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The number of clusters.
    pub clusters: usize,
    /// The weighted mean of the silhouettes of all items, −1 to 1. Clusters of less than two items or 1 % of the weight
    /// are set apart. No item is compared with them, and the silhouettes of their items are 0.
    pub silhouette: f64,
}

/// The figures of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The item with the smallest sum of dissimilarities to the items of the cluster.
    pub medoid: usize,
    /// The number of items.
    pub items: u64,
    /// The sum of the items' weights.
    pub weight: f64,
    /// The height at which the last two parts of the cluster were joined; 0 for a single item.
    pub height: f64,
    /// The mean dissimilarity of two members; pairs include each item with itself.
    pub mean_within: f64,
    /// The weighted mean of the silhouettes of the items.
    pub silhouette: f64,
}

/// A tree of items, and the clusters at a height of it. Clusters are numbered by decreasing weight. Clusters of equal
/// weight are in the order of their lowest items.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The joins of the tree, by increasing height: one less than the items.
    pub joins: Vec<Join>,
    /// The items from left to right, so that no lines of a drawing cross.
    pub order: Vec<usize>,
    /// The cluster of each item.
    pub labels: Vec<u32>,
    /// The silhouette of each item, −1 to 1; 0 for an item alone in its cluster.
    pub silhouettes: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The node of the tree that is the top of each cluster.
    pub roots: Vec<usize>,
    /// The weighted mean of all silhouettes.
    pub silhouette: f64,
    /// The numbers of clusters that were compared, by increasing number. Empty if the number or the height was given.
    pub candidates: Vec<Candidate>,
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
    pub cut: Cut,
    pub spent: Spent,
}

/// Kaufman and Rousseeuw 1990, table 4 of chapter 2: below this mean silhouette, no substantial structure was found.
const LEAST_STRUCTURE: f64 = 0.25;

impl Model {
    pub(super) fn new<T: Real>(
        problem: &Problem<'_, T>,
        outcome: Outcome,
        means: Vec<Means>,
        parameters: &Parameters,
    ) -> Self {
        let Outcome { cut: Cut { tree, labels, roots, candidates }, spent } = outcome;
        let unit = problem.matrix.unit;
        let of_clusters = super::silhouettes::weights(problem, &labels, roots.len());
        let silhouette = |(item, means): (usize, &Means)| {
            means.silhouette(problem.weights[item], of_clusters[labels[item] as usize])
        };
        let silhouettes: Vec<f64> = means.iter().enumerate().map(silhouette).collect();
        let mut members = vec![Vec::new(); roots.len()];
        labels.iter().enumerate().for_each(|(item, &label)| members[label as usize].push(item));
        let mean = |items: &[usize], weight: f64| {
            items.iter().map(|&item| problem.weights[item] * silhouettes[item]).sum::<f64>() / weight
        };
        let found = |place: usize| {
            let (items, weight): (&[usize], f64) = (&members[place], of_clusters[place]);
            let least = |best: usize, &item: &usize| if means[item].own < means[best].own { item } else { best };
            let sum: f64 = items.iter().map(|&item| problem.weights[item] * means[item].own).sum();
            Cluster {
                medoid: items.iter().fold(items[0], least),
                items: items.len() as u64,
                weight: weight * problem.weight_unit,
                height: roots[place].checked_sub(tree.items).map_or(0.0, |join| tree.joins[join].height),
                mean_within: sum / (weight * weight) * unit,
                silhouette: mean(items, weight),
            }
        };
        let all: Vec<Cluster> = (0..roots.len()).map(found).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| all[b].weight.total_cmp(&all[a].weight).then(members[a][0].cmp(&members[b][0])));
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &cluster)| number[cluster] = place as u32);
        let everything: Vec<usize> = (0..tree.items).collect();
        let overall = mean(&everything, problem.weights.iter().sum());
        let mut warnings: Vec<String> = problem.matrix.rounding.iter().cloned().collect();
        warnings.extend(doubts(&candidates, roots.len(), parameters));
        Self {
            order: tree.order(),
            labels: labels.iter().map(|&label| number[label as usize]).collect(),
            silhouettes,
            clusters: order.iter().map(|&cluster| all[cluster].clone()).collect(),
            roots: order.iter().map(|&cluster| roots[cluster]).collect(),
            silhouette: overall,
            candidates,
            joins: tree.joins,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }

    /// Writes the tree in Newick's format, with these names of the items. The path between two items is as long as the
    /// height of their first common node, so each branch is half a difference of heights.
    ///
    /// Names with characters other than letters, digits, `.` and `-` are in quotes, because readers turn plain
    /// underscores into spaces.
    ///
    /// # Panics
    /// Panics if there are not as many names as items.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    /// use lehr_mining::{Execution, anneal::Silent, hierarchy::{Parameters, cluster}};
    /// let matrix = Dissimilarities::new(3, Form::Condensed, Values::F64(vec![1.0, 4.0, 4.0]), 1.0)?;
    /// let model = cluster(&matrix, None, &Parameters::default(), &Execution::default(), &mut Silent)?;
    /// assert_eq!(model.newick(&["a", "b", "my c"]), "((a:0.5,b:0.5):1.5,'my c':2);");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn newick(&self, names: &[impl AsRef<str>]) -> String {
        let joins: Vec<_> = self.joins.iter().map(|join| (join.left, join.right, join.height)).collect();
        newick(&joins, names)
    }
}

/// Writes a tree in Newick's format; see [`Model::newick`]. A join consists of two nodes and its height. The nodes below
/// the number of names are the items, and the next nodes are the joins.
///
/// # Panics
/// Panics if the joins are not those of one tree with as many items as names.
pub fn newick(joins: &[(usize, usize, f64)], names: &[impl AsRef<str>]) -> String {
    enum Part {
        /// A node, and the height of the node above it.
        Node(usize, Option<f64>),
        Text(String),
    }
    assert_eq!(joins.len() + 1, names.len(), "a tree has one join less than items");
    let height = |node: usize| node.checked_sub(names.len()).map_or(0.0, |join| joins[join].2);
    let mut text = String::new();
    // A stack instead of recursion, because a tree may be as deep as it has items. The next part is on its top.
    let mut open = vec![Part::Text(";".into()), Part::Node(names.len() + joins.len() - 1, None)];
    while let Some(part) = open.pop() {
        let (node, above) = match part {
            Part::Node(node, above) => (node, above),
            Part::Text(words) => {
                text.push_str(&words);
                continue;
            }
        };
        let length = above.map(|above| format!(":{}", 0.5 * (above - height(node)))).unwrap_or_default();
        match node.checked_sub(names.len()).map(|join| joins[join]) {
            None => {
                text.push_str(&quoted(names[node].as_ref()));
                text.push_str(&length);
            }
            Some((left, right, here)) => {
                text.push('(');
                open.push(Part::Text(format!("){length}")));
                open.extend([Part::Node(right, Some(here)), Part::Text(",".into()), Part::Node(left, Some(here))]);
            }
        }
    }
    text
}

fn quoted(name: &str) -> std::borrow::Cow<'_, str> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    if !name.is_empty() && name.chars().all(is_plain) {
        name.into()
    } else {
        format!("'{}'", name.replace('\'', "''")).into()
    }
}

/// Returns warnings about a chosen number of clusters.
fn doubts(candidates: &[Candidate], clusters: usize, parameters: &Parameters) -> Vec<String> {
    let mut warnings = Vec::new();
    if candidates.is_empty() {
        return warnings;
    }
    if clusters == 1 {
        warnings.push(
            "the items form one group: no division into clusters of at least two items has a mean silhouette above 0"
                .to_owned(),
        );
    }
    let silhouette = candidates.iter().map(|candidate| candidate.silhouette).fold(0.0, f64::max);
    if clusters > 1 && silhouette < LEAST_STRUCTURE {
        warnings.push(format!(
            "the largest mean silhouette is {silhouette:.3}: below {LEAST_STRUCTURE}, the items hardly form groups"
        ));
    }
    if clusters > 1 && clusters == parameters.max_clusters {
        warnings.push(format!(
            "the number of clusters ends at its limit of {clusters}, and more clusters may fit better: raise max_clusters"
        ));
    }
    warnings
}
