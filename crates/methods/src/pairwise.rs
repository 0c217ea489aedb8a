//! Pairwise annealing of dissimilarities, for every front end.

use std::any::Any;

use lehr_mining::Error;
use lehr_mining::pairwise::{self, Cluster, Model, Parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::course;
use crate::data::{Data, Matrix, MatrixWords, Takes};
use crate::items::Members;
use crate::method::{About, Content, Declared, Fit, Spent, Task};
use crate::model::{Learnt, ModelFile};
use crate::numbers::{amount, counted, left_aligned, significant};
use crate::sections::Sections;
use crate::table::Table;

/// The maximum number of clusters that a terminal shows; `clusters.csv` has all of them.
const SHOWN: usize = 40;

/// Pairwise annealing: clusters items by their dissimilarities.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairwise;

/// The options of [`Pairwise`]. By default the data suggest the number of clusters.
///
/// # Example
/// ```
/// use lehr_methods::pairwise::Options;
/// let options: Options = serde_json::from_str(r#"{ "clusters": 3 }"#).unwrap();
/// assert_eq!((options.clusters, options.tolerance), (Some(3), 1e-3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Find this many clusters
    #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-default" = "the number that lasts longest", "x-python" = "n_clusters"))]
    pub clusters: Option<usize>,
    /// Stop at this temperature, in the unit of the dissimilarities
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-value" = "T", "x-conflicts" = "clusters", "x-advanced" = true))]
    pub stop_temperature: Option<f64>,
    /// Choose at most this many clusters where their number is not given
    #[schemars(range(min = 1), extend("x-value" = "K", "x-default" = "20; with a temperature to stop at, the number of items", "x-conflicts" = "clusters", "x-advanced" = true))]
    pub max_clusters: Option<usize>,
    /// Multiply the temperature by this factor at each step
    #[schemars(range(min = 0.5, max = 0.999), extend("x-value" = "FACTOR", "x-advanced" = true))]
    pub cooling: f64,
    /// Go on to the next temperature when no item's field moves by more than this share of it
    #[schemars(range(min = 1e-12, max = 0.1), extend("x-value" = "SHARE", "x-python" = "tol", "x-advanced" = true))]
    pub tolerance: f64,
    /// Grow to this many times the wanted number of clusters, then merge the surplus
    #[schemars(range(min = 1.0, max = 4.0), extend("x-value" = "FACTOR", "x-advanced" = true))]
    pub overshoot: f64,
    /// Random seed
    #[schemars(extend("x-value" = "N", "x-python" = "random_state"))]
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed } = *parameters;
        Self { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed }
    }

    /// Returns the corresponding parameters of the library.
    pub fn parameters(&self) -> Parameters {
        let Self { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed } = *self;
        Parameters { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed }
    }
}

impl Declared for Pairwise {
    const ABOUT: About = About {
        name: "pairwise",
        contract: "lehr.pairwise",
        version: (1, 0),
        takes: Takes::Matrix(MatrixWords { may_miss_pairs: true, has_classes: false }),
        line: "Cluster items by their dissimilarities, by deterministic annealing",
        paragraph: "Needs no coordinates and no metric, and pairs may be missing. Annealing starts from one cluster at a high temperature and cools: clusters split where the dissimilarities \
                    call for it. It stops at a number of clusters or at a temperature; without either, at the number of clusters that lasts longest while the temperature falls.",
        heading: "The clusters",
        examples: "  lehr distances genes.fasta --out genes
  lehr pairwise genes/dissimilarities.json --clusters 10 --out genes
      ten clusters of sequences; open genes/report.html

  lehr pairwise d.npy --json | jq .result.clusters
      the number of clusters that the dissimilarities suggest

The folder has labels.csv (a line an item: name, cluster, probability), clusters.csv (a line a cluster:
its medoid, the item most like the others of it), summary.json and report.html.
Next: lehr embed --labels draws a map of the items with labels.csv.

Dissimilarities are used as they are. Squared Euclidean distances give the clusters of lehr cluster.",
        result: "clustering",
        folder: "lehr-pairwise",
        files: &["labels.csv", "clusters.csv", "model.json", "report.html", "summary.json"],
        untold: &["model.json"],
        outputs: &["clusters", "history", "labels", "splits"],
        summary_names: &["pairwise deterministic annealing"],
    };

    type Options = Options;
    type Parameters = Parameters;

    fn options_of(parameters: &Parameters) -> Options {
        Options::of(parameters)
    }

    fn check(options: &Options) -> Vec<String> {
        let is_said_twice = options.clusters.is_some() && options.max_clusters.is_some();
        is_said_twice.then(|| "max_clusters: expected without clusters".to_owned()).into_iter().collect()
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let Matrix { dissimilarities, weights, ids, .. } = task.data.matrix();
        let weights = weights.as_deref();
        let fitted = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| {
                pairwise::cluster(dissimilarities, weights, parameters, execution, observer)
            },
            |checkpoint, execution, observer| {
                pairwise::resume(dissimilarities, weights, checkpoint, execution, observer)
            },
        );
        let (parameters, model) = fitted.map_err(|error| error.with_ids(ids))?;
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

/// Returns `labels.csv`: the cluster of each item, and the item's probability in it.
pub fn labels<'a>(ids: &'a [String], model: &Model) -> Table<'a> {
    Table::new("labels")
        .ids(Some(ids), ids.len())
        .counts("cluster", model.labels.iter().map(|&label| u64::from(label)).collect())
        .numbers("probability", model.probabilities.clone())
}

/// Returns `clusters.csv`: a row for each cluster, by decreasing weight.
pub fn clusters(ids: &[String], model: &Model) -> Table<'static> {
    let found = &model.clusters;
    let numbers = |of: fn(&Cluster) -> f64| found.iter().map(of).collect();
    Table::new("clusters")
        .counts("cluster", (0..found.len() as u64).collect())
        .texts("medoid", found.iter().map(|cluster| ids[cluster.medoid].clone()).collect())
        .counts("items", found.iter().map(|cluster| cluster.items).collect())
        .numbers("weight", numbers(|cluster| cluster.weight))
        .numbers("medoid_mean", numbers(|cluster| cluster.medoid_mean))
        .numbers("mean_within", numbers(|cluster| cluster.mean_within))
        .numbers("mean_nearest", numbers(|cluster| cluster.mean_nearest))
}

/// Returns the facts about the result for a summary.
pub fn result_facts(model: &Model) -> Value {
    json!({
        "clusters": model.clusters.len(),
        "cost": model.cost,
        "free_energy": model.free_energy,
        "last_temperature": model.last_temperature,
        "critical_temperature": model.critical_temperature,
        "iterations": model.iterations,
        "finish": model.finish,
        "damped": model.is_damped,
        "suggestion": model.suggestion.as_ref().map(|suggestion| json!({
            "clusters": suggestion.clusters,
            "plateaus": suggestion.plateaus,
        })),
    })
}

/// Returns the facts about each cluster for a summary.
pub fn cluster_facts(ids: &[String], model: &Model) -> Vec<Value> {
    let facts = |(number, cluster): (usize, &Cluster)| {
        json!({
            "cluster": number,
            "items": cluster.items,
            "weight": cluster.weight,
            "medoid": ids[cluster.medoid],
            "medoid_mean": cluster.medoid_mean,
            "representatives": cluster.representatives.map(|item| ids[item].clone()),
            "mean_within": cluster.mean_within,
            "mean_nearest": cluster.mean_nearest,
        })
    };
    model.clusters.iter().enumerate().map(facts).collect()
}

impl Fitted {
    /// Returns the clusters with additional facts, for other services.
    fn clusters_in_full(&self, ids: &[String]) -> Table<'static> {
        let found = &self.model.clusters;
        let part = |place: usize| found.iter().map(|cluster| ids[cluster.representatives[place]].clone()).collect();
        clusters(ids, &self.model)
            .counts("medoid_item", found.iter().map(|cluster| cluster.medoid as u64).collect())
            .texts("inner", part(0))
            .texts("middle", part(1))
            .texts("outer", part(2))
    }
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let ids = &data.matrix().ids;
        Some(match name {
            "labels" => labels(ids, &self.model),
            "clusters" => self.clusters_in_full(ids),
            "history" => course::history(&self.model.history),
            "splits" => course::splits(&self.model.splits),
            _ => return None,
        })
    }

    fn file<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Content<'a>> {
        let ids = &data.matrix().ids;
        Some(Content::Table(match name {
            "labels.csv" => labels(ids, &self.model),
            "clusters.csv" => clusters(ids, &self.model),
            _ => return None,
        }))
    }

    fn figures(&self, _: Data<'_>) -> Vec<(&'static str, f64)> {
        let model = &self.model;
        let suggested = model.suggestion.as_ref().map(|suggestion| suggestion.clusters as f64);
        let figures = [
            ("clusters", Some(model.clusters.len() as f64)),
            ("cost", Some(model.cost)),
            ("free_energy", Some(model.free_energy)),
            ("last_temperature", Some(model.last_temperature)),
            ("critical_temperature", Some(model.critical_temperature)),
            ("iterations", Some(model.iterations as f64)),
            ("finish_plain", model.finish.plain),
            ("finish_overshot", model.finish.overshot),
            ("finish_moved", Some(model.finish.moved as f64)),
            ("damped", Some(f64::from(u8::from(model.is_damped)))),
            ("missing_pairs", Some(model.missing_pairs as f64)),
            ("suggested_clusters", suggested),
        ];
        figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
    }

    fn input(&self, matrix: &Matrix) -> Sections {
        let mut facts = matrix.facts();
        facts.add("missing_pairs", &self.model.missing_pairs);
        facts
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let mut sections = Sections::sorted();
        sections
            .add("parameters", &self.parameters)
            .add("temperature_convention", "full")
            .add("result", &result_facts(model))
            .add("clusters", &cluster_facts(ids, model))
            .add("temperatures", &json!({ "count": model.history.len(), "history": model.history }))
            .add("splits", &model.splits);
        sections
    }

    fn model_file(&self, data: Data<'_>) -> Option<ModelFile> {
        let means = self.model.clusters.iter().map(|cluster| cluster.mean_within).collect();
        let members = Members::new(self.model.labels.clone(), data.matrix().weights.as_deref(), means);
        Some(ModelFile::of(data, Learnt::Pairwise(members), Vec::new()))
    }

    fn headline(&self, data: Data<'_>) -> String {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let head = ["cluster", "items", "weight", "medoid", "mean within", "mean to the nearest"].map(String::from);
        let row = |(number, cluster): (usize, &Cluster)| {
            [
                number.to_string(),
                cluster.items.to_string(),
                amount(cluster.weight),
                ids[cluster.medoid].clone(),
                significant(cluster.mean_within, 4),
                significant(cluster.mean_nearest, 4),
            ]
        };
        let rows: Vec<_> = [head].into_iter().chain(model.clusters.iter().enumerate().take(SHOWN).map(row)).collect();
        format!(
            "{} in {}; cost {}\n\n{}",
            counted(ids.len() as u64, "item"),
            counted(model.clusters.len() as u64, "cluster"),
            significant(model.cost, 7),
            left_aligned(&rows),
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
