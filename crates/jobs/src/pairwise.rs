//! Pairwise clustering as a method: the library's `pairwise::cluster` on the dissimilarities of all pairs, under the contract `lehr.pairwise` 1.0.
//!
//! Inputs: `matrix`, and `items` for names and weights, both as the method of distances gives them; a matrix that was uploaded will do. Tables: `labels` (id, cluster, probability) and `clusters`
//! (cluster, medoid, …) as `lehr pairwise` writes them, `history` (a row for each temperature) and `splits` (a row for each division).

use lehr_mining::anneal::{Split, Step};
use lehr_mining::pairwise::{self, Checkpoint, Cluster, Model, Parameters};
use lehr_services::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::matrix::{ITEMS, MATRIX, Matrix};
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::table::Table;
use crate::watch::Watch;

/// Deterministic annealing of items known by their dissimilarities, as a [`Method`].
///
/// # Example
/// ```
/// use lehr_jobs::{Inputs, Job, Method, Pairwise, Table, pairwise::Options};
/// // Two pairs: 1 apart within, 9 between.
/// let matrix = Table::builder().numbers("dissimilarity", vec![1.0, 9.0, 9.0, 9.0, 9.0, 1.0]).build()?;
/// let options = Options { clusters: Some(2), ..Options::default() };
/// let found = Pairwise.run(&Job::alone(), &Inputs::of([("matrix", matrix)]), &options)?;
/// assert_eq!((found.tables["labels"].counts("cluster").unwrap(), found.figures["cost"]), (&[0, 0, 1, 1][..], 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairwise;

/// What [`Pairwise`] is told. The default suggests the number of clusters.
///
/// # Example
/// ```
/// use lehr_jobs::pairwise::Options;
/// let options: Options = serde_json::from_str(r#"{ "clusters": 3 }"#).unwrap();
/// assert_eq!((options.clusters, options.tolerance), (Some(3), 1e-3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The number of clusters, at least 1. Default: the data suggest it.
    pub clusters: Option<usize>,
    /// The final temperature, in the unit of the dissimilarities. Default: none.
    pub stop_temperature: Option<f64>,
    /// The most clusters where `clusters` is not given. Default: 20, or as many as items with a final temperature.
    pub max_clusters: Option<usize>,
    /// Factor from one temperature to the next, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// When a fixed point is reached, as a share of the temperature, 1e-12 to 0.1. Default: 1e-3.
    pub tolerance: f64,
    /// Components at most over clusters wanted, 1 to 4; what is too many is merged again. Default: 1.5.
    pub overshoot: f64,
    /// Decides between equals; the same seed gives the same result. Default: 0.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// The options that say the same as parameters of the library.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::pairwise::Options;
    /// assert_eq!(Options::of(&lehr_mining::pairwise::Parameters::default()), Options::default());
    /// ```
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed } =
            parameters.clone();
        Self { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed }
    }

    /// The parameters of the library that say the same.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        let Self { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed } = self.clone();
        Parameters { clusters, stop_temperature, max_clusters, cooling, tolerance, overshoot, seed }
    }
}

impl Method for Pairwise {
    const NAME: &'static str = "lehr.pairwise";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &[MATRIX];
    const INPUTS_OPTIONAL: &'static [&'static str] = &[ITEMS];
    const OUTPUTS: &'static [&'static str] = &["clusters", "history", "labels", "splits"];
    const SPREADS: bool = true;
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        let mut faults = Vec::new();
        if options.clusters.is_some() && options.max_clusters.is_some() {
            faults.push("max_clusters: expected without clusters".to_owned());
        }
        // What only the data can say (more clusters than items) is said when they are there.
        let any = Parameters { clusters: options.clusters.map(|clusters| clusters.min(1)), ..options.parameters() };
        faults.extend(any.check(&crate::matrix::of_two()).err().map(|error| error.to_string()));
        faults
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let matrix = Matrix::of_inputs(inputs)?;
        let (dissimilarities, weights) = (&matrix.dissimilarities, matrix.weights.as_deref());
        let mut watch = Watch(job);
        let execution = job.execution();
        let model = match job.saved_checkpoint::<Checkpoint>()? {
            None => pairwise::cluster(dissimilarities, weights, &options.parameters(), &execution, &mut watch),
            Some(checkpoint) => pairwise::resume(dissimilarities, weights, checkpoint, &execution, &mut watch),
        };
        outputs(&matrix.ids, model?)
    }
}

fn outputs(ids: &[String], model: Model) -> Result<Outputs, Failure> {
    let labels = Table::builder()
        .texts("id", ids.to_vec())
        .counts("cluster", model.labels.iter().map(|&label| u64::from(label)).collect())
        .numbers("probability", model.probabilities)
        .id(Some("id".to_owned()));
    let found = &model.clusters;
    let texts = |of: &dyn Fn(&Cluster) -> usize| found.iter().map(|cluster| ids[of(cluster)].clone()).collect();
    let numbers = |of: fn(&Cluster) -> f64| found.iter().map(of).collect();
    let clusters = Table::builder()
        .counts("cluster", (0..found.len() as u64).collect())
        .texts("medoid", texts(&|cluster| cluster.medoid))
        .counts("items", found.iter().map(|cluster| cluster.items).collect())
        .numbers("weight", numbers(|cluster| cluster.weight))
        .numbers("medoid_mean", numbers(|cluster| cluster.medoid_mean))
        .numbers("mean_within", numbers(|cluster| cluster.mean_within))
        .numbers("mean_nearest", numbers(|cluster| cluster.mean_nearest))
        .counts("medoid_item", found.iter().map(|cluster| cluster.medoid as u64).collect())
        .texts("inner", texts(&|cluster| cluster.representatives[0]))
        .texts("middle", texts(&|cluster| cluster.representatives[1]))
        .texts("outer", texts(&|cluster| cluster.representatives[2]));
    let numbers = |of: fn(&Split) -> f64| model.splits.iter().map(of).collect();
    let counts = |of: fn(&Split) -> u64| model.splits.iter().map(of).collect();
    let splits = Table::builder()
        .numbers("temperature", numbers(|split| split.temperature))
        .numbers("critical_temperature", numbers(|split| split.critical_temperature))
        .counts("parent", counts(|split| split.parent as u64))
        .counts("clusters", counts(|split| split.clusters as u64));
    let figures = [
        ("clusters", Some(found.len() as f64)),
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
        ("suggested_clusters", model.suggestion.as_ref().map(|suggestion| suggestion.clusters as f64)),
    ];
    let mut outputs = Outputs { warnings: model.warnings, ..Outputs::new() }
        .table("labels", labels.build()?)
        .table("clusters", clusters.build()?)
        .table("history", history(&model.history)?)
        .table("splits", splits.build()?);
    for (name, value) in figures {
        outputs = value.into_iter().fold(outputs, |outputs, value| outputs.figure(name, value));
    }
    Ok(outputs)
}

fn history(steps: &[Step]) -> Result<Table, Failure> {
    let numbers = |of: fn(&Step) -> f64| steps.iter().map(of).collect();
    let counts = |of: fn(&Step) -> u64| steps.iter().map(of).collect();
    let history = Table::builder()
        .counts("index", counts(|step| step.index))
        .numbers("temperature", numbers(|step| step.temperature))
        .counts("clusters", counts(|step| step.clusters as u64))
        .numbers("free_energy", numbers(|step| step.free_energy))
        .numbers("mean_cost", numbers(|step| step.mean_cost))
        .numbers("information", numbers(|step| step.information))
        .numbers("softness", numbers(|step| step.softness))
        .counts("sweeps", counts(|step| step.sweeps))
        .numbers("max_move", numbers(|step| step.max_move))
        .numbers("next_critical", numbers(|step| step.next_critical));
    Ok(history.build()?)
}
