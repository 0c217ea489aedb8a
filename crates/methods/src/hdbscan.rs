//! Density-based clustering of dissimilarities, for every front end.

use std::any::Any;

use lehr_mining::Error;
use lehr_mining::hdbscan::{self, Cluster, Model, Parameters, Split};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Matrix, MatrixWords, Takes};
use crate::method::{About, Declared, Fit, Spent, Task};
use crate::numbers::{aligned, amount, counted, significant};
use crate::sections::Sections;
use crate::table::Table;

/// The maximum number of clusters that are displayed; `clusters.csv` has all of them.
const SHOWN: usize = 40;

/// Density-based clustering with noise (HDBSCAN*).
#[derive(Clone, Copy, Debug, Default)]
pub struct Hdbscan;

/// The options of [`Hdbscan`].
///
/// # Example
/// ```
/// use lehr_methods::hdbscan::{Options, Selection};
/// let options: Options = serde_json::from_str(r#"{ "min_cluster_size": 20, "selection": "leaf" }"#).unwrap();
/// assert_eq!((options.min_cluster_size, options.min_samples, options.selection), (20, None, Selection::Leaf));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Find clusters of at least this many items
    #[schemars(range(min = 2), extend("x-value" = "N"))]
    pub min_cluster_size: usize,
    /// Measure the density around an item by its nearest items, this many with itself; more items give more noise
    #[schemars(range(min = 1), extend("x-value" = "N", "x-default" = "the minimum size of a cluster"))]
    pub min_samples: Option<usize>,
    /// Choose clusters from the tree by this rule
    #[schemars(extend("x-python" = "cluster_selection_method"))]
    pub selection: Selection,
    /// Do not split clusters whose parts are closer than this, in the unit of the dissimilarities
    #[schemars(range(min = 0.0), extend("x-value" = "DISTANCE", "x-python" = "cluster_selection_epsilon"))]
    pub epsilon: f64,
    /// Prefer the clusters inside a cluster of more than this many items
    #[schemars(range(min = 1), extend("x-value" = "N", "x-default" = "no limit", "x-advanced" = true))]
    pub max_cluster_size: Option<usize>,
    /// Allow all items to form a single cluster
    pub allow_single_cluster: bool,
}

/// The rule that chooses clusters from the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// The clusters that persist over the widest range of densities (excess of mass).
    #[default]
    Eom,
    /// The clusters that do not split any further.
    Leaf,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { min_cluster_size, min_samples, selection, epsilon, max_cluster_size, allow_single_cluster } =
            *parameters;
        let selection = match selection {
            hdbscan::Selection::Eom => Selection::Eom,
            hdbscan::Selection::Leaf => Selection::Leaf,
        };
        Self { min_cluster_size, min_samples, selection, epsilon, max_cluster_size, allow_single_cluster }
    }

    /// Returns the corresponding parameters of the library.
    pub fn parameters(&self) -> Parameters {
        let Self { min_cluster_size, min_samples, selection, epsilon, max_cluster_size, allow_single_cluster } = *self;
        let selection = match selection {
            Selection::Eom => hdbscan::Selection::Eom,
            Selection::Leaf => hdbscan::Selection::Leaf,
        };
        Parameters { min_cluster_size, min_samples, selection, epsilon, max_cluster_size, allow_single_cluster }
    }
}

impl Declared for Hdbscan {
    const ABOUT: About = About {
        name: "hdbscan",
        contract: "lehr.hdbscan",
        version: (1, 0),
        takes: Takes::Matrix(MatrixWords { may_miss_pairs: false, has_classes: false }),
        line: "Find dense groups of any shape, and noise between them, by dissimilarities",
        paragraph: "Density-based clustering (HDBSCAN*): finds groups of items that are denser than their surroundings, whatever their shape, and labels items in no group as noise. The number of clusters \
                    follows from the data and from the smallest size that you accept. Every pair needs a dissimilarity.",
        heading: "The clusters",
        examples: "  lehr distances flowers.csv --columns length,width --out d
  lehr hdbscan d/dissimilarities.json --min-cluster-size 15 --out dense
      noise has the label -1; open dense/report.html

  lehr hdbscan d/dissimilarities.json --min-samples 1
      less noise: the density around an item is that of the item alone

The folder has labels.csv (a line an item: its cluster, probability and outlier score), clusters.csv,
splits.csv (the tree of all clusters that were compared), summary.json and report.html.",
        result: "clustering",
        folder: "lehr-hdbscan",
        files: &["labels.csv", "clusters.csv", "splits.csv", "report.html", "summary.json"],
        untold: &[],
        outputs: &["clusters", "labels", "splits"],
        summary_names: &["HDBSCAN*"],
    };

    type Options = Options;
    type Parameters = Parameters;

    fn options_of(parameters: &Parameters) -> Options {
        Options::of(parameters)
    }

    fn check(_: &Options) -> Vec<String> {
        Vec::new()
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let Matrix { dissimilarities, weights, .. } = task.data.matrix();
        let weights = weights.as_deref();
        let (parameters, model) = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| {
                hdbscan::cluster(dissimilarities, weights, parameters, execution, observer)
            },
            |checkpoint, execution, observer| {
                hdbscan::resume(dissimilarities, weights, checkpoint, execution, observer)
            },
        )?;
        Ok(Box::new(Fitted { parameters, model }))
    }
}

/// The result of a clustering.
#[derive(Debug)]
pub struct Fitted {
    /// The parameters.
    pub parameters: Parameters,
    /// The model.
    pub model: Model,
}

/// The facts about the result for `summary.json`.
#[derive(Serialize)]
struct Outcome {
    clusters: usize,
    noise: u64,
    compared: usize,
}

/// The facts about a cluster for `summary.json`. The distance is missing for the cluster of all items.
#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    exemplar: &'a str,
    items: u64,
    weight: f64,
    distance: Option<f64>,
    persistence: f64,
}

/// Returns a finite number, or NaN, which tables show as an empty field.
fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::NAN }
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let numbers = |of: fn(&Cluster) -> f64| model.clusters.iter().map(of).map(finite).collect();
        let of_splits = |of: fn(&Split) -> f64| model.tree.iter().map(of).map(finite).collect();
        let place = |number: Option<usize>| number.map_or(String::new(), |number| number.to_string());
        Some(match name {
            "labels" => Table::new("labels")
                .ids(Some(ids), ids.len())
                .labels("cluster", &model.labels, true)
                .borrowed("probability", &model.probabilities)
                .borrowed("outlier_score", &model.outlier_scores)
                .borrowed("core_distance", &model.core_distances),
            "clusters" => Table::new("clusters")
                .counts("cluster", (0..model.clusters.len() as u64).collect())
                .texts("exemplar", model.clusters.iter().map(|cluster| ids[cluster.exemplar].clone()).collect())
                .counts("items", model.clusters.iter().map(|cluster| cluster.items).collect())
                .numbers("weight", numbers(|cluster| cluster.weight))
                .numbers("distance", numbers(|cluster| cluster.distance))
                .numbers("stability", numbers(|cluster| cluster.stability))
                .numbers("persistence", numbers(|cluster| cluster.persistence))
                .counts("exemplar_item", model.clusters.iter().map(|cluster| cluster.exemplar as u64).collect()),
            "splits" => Table::new("splits")
                .counts("split", (0..model.tree.len() as u64).collect())
                .texts("parent", model.tree.iter().map(|split| place(split.parent)).collect())
                .numbers("distance", of_splits(|split| split.distance))
                .numbers("end", of_splits(|split| split.end))
                .counts("items", model.tree.iter().map(|split| split.items).collect())
                .numbers("weight", of_splits(|split| split.weight))
                .numbers("stability", of_splits(|split| split.stability))
                .texts("cluster", model.tree.iter().map(|split| place(split.cluster)).collect()),
            _ => return None,
        })
    }

    fn figures(&self, _: Data<'_>) -> Vec<(&'static str, f64)> {
        vec![("clusters", self.model.clusters.len() as f64), ("noise", self.model.noise as f64)]
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let facts = |(number, cluster): (usize, &Cluster)| ClusterFacts {
            cluster: number,
            exemplar: ids[cluster.exemplar].as_str(),
            items: cluster.items,
            weight: cluster.weight,
            distance: cluster.distance.is_finite().then_some(cluster.distance),
            persistence: cluster.persistence,
        };
        let outcome = Outcome { clusters: model.clusters.len(), noise: model.noise, compared: model.tree.len() };
        let mut sections = Sections::default();
        sections
            .add("parameters", &self.parameters)
            .add("result", &outcome)
            .add("clusters", &model.clusters.iter().enumerate().map(facts).collect::<Vec<_>>());
        sections
    }

    fn headline(&self, data: Data<'_>) -> String {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let shown = &model.clusters[..model.clusters.len().min(SHOWN)];
        let texts = |of: &dyn Fn(&Cluster) -> String| shown.iter().map(of).collect::<Vec<_>>();
        let apart = |cluster: &Cluster| match cluster.distance.is_finite() {
            true => significant(cluster.distance, 4),
            false => "all items".to_owned(),
        };
        let columns = [
            ("cluster", (0..shown.len()).map(|cluster| cluster.to_string()).collect()),
            ("items", texts(&|cluster| cluster.items.to_string())),
            ("weight", texts(&|cluster| amount(cluster.weight))),
            ("apart below", texts(&apart)),
            ("persistence", texts(&|cluster| significant(cluster.persistence, 3))),
            ("exemplar", texts(&|cluster| ids[cluster.exemplar].clone())),
        ];
        let more = model.clusters.len() - shown.len();
        let more = if more > 0 {
            format!("{} in clusters.csv\n", counted(more as u64, "more cluster"))
        } else {
            String::new()
        };
        let table = if shown.is_empty() { String::new() } else { format!("\n{}{more}", aligned(&columns)) };
        format!(
            "{} in {}; {} of noise, labelled -1\n{table}",
            counted(ids.len() as u64, "item"),
            counted(model.clusters.len() as u64, "cluster"),
            counted(model.noise, "item"),
        )
    }

    fn warnings(&self) -> &[String] {
        &self.model.warnings
    }

    fn spent(&self) -> Spent<'_> {
        Spent { phases: &self.model.phases, timers: &self.model.timers, imbalance: self.model.imbalance }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
