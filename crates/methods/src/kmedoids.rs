//! k-medoids on dissimilarities, for every front end.

use std::any::Any;

use lehr_mining::Error;
use lehr_mining::kmedoids::{self, Cluster, Model, Parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Matrix, MatrixWords, Takes};
use crate::items::Medoids;
use crate::method::{About, Declared, Fit, Spent, Task};
use crate::model::Learnt;
use crate::numbers::{aligned, amount, counted, significant};
use crate::sections::Sections;
use crate::table::Table;

/// The maximum number of clusters that are displayed; `clusters.csv` has all of them.
const SHOWN: usize = 40;

/// K-medoids (FasterPAM): clusters whose centres are items.
#[derive(Clone, Copy, Debug, Default)]
pub struct KMedoids;

/// The options of [`KMedoids`].
///
/// # Example
/// ```
/// use lehr_methods::kmedoids::Options;
/// let options: Options = serde_json::from_str(r#"{ "clusters": 3 }"#).unwrap();
/// assert_eq!((options.clusters, options.max_iterations), (3, 100));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Find this many clusters
    #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-python" = "n_clusters"))]
    pub clusters: usize,
    /// End after this many passes over all items for swaps; 0 keeps the medoids of the greedy initialisation
    #[schemars(extend("x-value" = "N", "x-python" = "max_iter", "x-formerly" = { "max_passes": {} }, "x-advanced" = true))]
    pub max_iterations: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { clusters, max_passes } = *parameters;
        Self { clusters, max_iterations: max_passes }
    }

    /// Returns the corresponding parameters of the library.
    pub fn parameters(&self) -> Parameters {
        let Self { clusters, max_iterations } = *self;
        Parameters { clusters, max_passes: max_iterations }
    }
}

impl Declared for KMedoids {
    const ABOUT: About = About {
        name: "kmedoids",
        contract: "lehr.kmedoids",
        version: (1, 0),
        takes: Takes::Matrix(MatrixWords { may_miss_pairs: false, has_classes: false }),
        line: "Cluster items around medoids, by their dissimilarities",
        paragraph: "Chooses an item for each cluster, its medoid, and swaps medoids for other items while that lowers the sum of dissimilarities to the nearest medoid (FasterPAM). So each cluster has an \
                    item at its centre that you can look at. Every pair needs a dissimilarity. lehr pairwise takes missing pairs, and chooses the number of clusters.",
        heading: "The clusters",
        examples: "  lehr distances genes.fasta --out genes
  lehr kmedoids genes/dissimilarities.json --clusters 10 --out medoids
      ten sequences, each at the centre of a cluster; open medoids/report.html",
        result: "clustering",
        folder: "lehr-kmedoids",
        files: &["labels.csv", "clusters.csv", "model.json", "report.html", "summary.json"],
        untold: &["model.json"],
        outputs: &["clusters", "labels"],
        summary_names: &["k-medoids"],
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
                kmedoids::cluster(dissimilarities, weights, parameters, execution, observer)
            },
            |checkpoint, execution, observer| {
                kmedoids::resume(dissimilarities, weights, checkpoint, execution, observer)
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
    cost: f64,
    iterations: u64,
    swaps: u64,
    is_converged: bool,
}

/// The facts about a cluster for `summary.json`.
#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    medoid: &'a str,
    items: u64,
    weight: f64,
    mean: f64,
    radius: f64,
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let numbers = |of: fn(&Cluster) -> f64| model.clusters.iter().map(of).collect();
        let counts = |of: fn(&Cluster) -> u64| model.clusters.iter().map(of).collect();
        Some(match name {
            "labels" => Table::new("labels")
                .ids(Some(ids), ids.len())
                .counts("cluster", model.labels.iter().map(|&label| u64::from(label)).collect())
                .numbers("distance", model.distances.clone()),
            "clusters" => Table::new("clusters")
                .counts("cluster", (0..model.clusters.len() as u64).collect())
                .texts("medoid", model.clusters.iter().map(|cluster| ids[cluster.medoid].clone()).collect())
                .counts("items", counts(|cluster| cluster.items))
                .numbers("weight", numbers(|cluster| cluster.weight))
                .numbers("mean", numbers(|cluster| cluster.mean))
                .numbers("radius", numbers(|cluster| cluster.radius))
                .counts("medoid_item", counts(|cluster| cluster.medoid as u64)),
            _ => return None,
        })
    }

    fn figures(&self, _: Data<'_>) -> Vec<(&'static str, f64)> {
        let model = &self.model;
        vec![
            ("clusters", model.clusters.len() as f64),
            ("cost", model.cost),
            ("iterations", model.iterations as f64),
            ("swaps", model.swaps as f64),
            ("converged", f64::from(u8::from(model.is_converged))),
        ]
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let facts = |(cluster, found): (usize, &Cluster)| {
            let Cluster { medoid, items, weight, mean, radius } = *found;
            ClusterFacts { cluster, medoid: ids[medoid].as_str(), items, weight, mean, radius }
        };
        let outcome = Outcome {
            clusters: model.clusters.len(),
            cost: model.cost,
            iterations: model.iterations,
            swaps: model.swaps,
            is_converged: model.is_converged,
        };
        let mut sections = Sections::default();
        sections
            .add("parameters", &self.parameters)
            .add("result", &outcome)
            .add("clusters", &model.clusters.iter().enumerate().map(facts).collect::<Vec<_>>());
        sections
    }

    fn model(&self) -> Option<Learnt> {
        let medoids: Vec<usize> = self.model.clusters.iter().map(|cluster| cluster.medoid).collect();
        Some(Learnt::Medoids(Medoids::new(self.model.labels.len(), &medoids)))
    }

    fn headline(&self, data: Data<'_>) -> String {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let shown = &model.clusters[..model.clusters.len().min(SHOWN)];
        let texts = |of: &dyn Fn(&Cluster) -> String| shown.iter().map(of).collect::<Vec<_>>();
        let columns = [
            ("cluster", (0..shown.len()).map(|cluster| cluster.to_string()).collect()),
            ("items", texts(&|cluster| cluster.items.to_string())),
            ("weight", texts(&|cluster| amount(cluster.weight))),
            ("mean", texts(&|cluster| significant(cluster.mean, 4))),
            ("radius", texts(&|cluster| significant(cluster.radius, 4))),
            ("medoid", texts(&|cluster| ids[cluster.medoid].clone())),
        ];
        let more = model.clusters.len() - shown.len();
        let more = if more > 0 {
            format!("{} in clusters.csv\n", counted(more as u64, "more cluster"))
        } else {
            String::new()
        };
        format!(
            "{} in {} about medoids; sum of dissimilarities {}, {} after the start\n\n{}{more}",
            counted(ids.len() as u64, "item"),
            counted(model.clusters.len() as u64, "cluster"),
            significant(model.cost, 7),
            counted(model.swaps, "swap"),
            aligned(&columns),
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
