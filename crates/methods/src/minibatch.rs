//! Mini-batch k-means on a stream, for every front end.

use std::any::Any;

use lehr_mining::Error;
use lehr_mining::minibatch::{self, Model, Parameters};
use lehr_ranks::timing::Stopwatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::Precision;
use crate::clusters::{self, ClusterRow, ClusterTable};
use crate::data::{Data, StreamWords, Takes};
use crate::method::{About, Declared, Fit, Passed, Spent, Task, Temperature};
use crate::model::Learnt;
use crate::numbers::{batches, quantity};
use crate::sections::{Named, Sections};
use crate::table::Table;

/// Mini-batch k-means: clusters a stream approximately in one pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Minibatch;

/// The options of [`Minibatch`].
///
/// # Example
/// ```
/// use lehr_methods::minibatch::Options;
/// let options: Options = serde_json::from_str(r#"{ "clusters": 20, "half_life": 1e6 }"#).unwrap();
/// assert_eq!((options.clusters, options.batch_rows), (Some(20), 10_000));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Find this many clusters; needed
    #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-python" = "n_clusters"))]
    pub clusters: Option<usize>,
    /// Read batches of this many rows; this is the maximum number of rows in memory beside the sample
    #[schemars(range(min = 1, max = 4294967295u32), extend("x-value" = "N", "x-python" = "batch_size"))]
    pub batch_rows: usize,
    /// Initialise the centres by this many first rows; by annealing, so they should be like the rest
    #[schemars(range(min = 1, max = 4294967295u32), extend("x-value" = "N", "x-default" = "those of a batch", "x-python" = "init_size"))]
    pub sample_rows: Option<usize>,
    /// Halve a row's weight after this many further rows; so that centres follow a stream that changes
    #[schemars(extend("exclusiveMinimum" = 0, "x-value" = "ROWS", "x-default" = "nothing is forgotten"))]
    pub half_life: Option<f64>,
    /// Random seed; breaks ties in the sample
    #[schemars(extend("x-value" = "SEED", "x-python" = "random_state"))]
    pub seed: u64,
    /// Store coordinates as these numbers; sums are always 64 bits wide
    #[schemars(extend("x-advanced" = true))]
    pub precision: Precision,
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Self::of(&Parameters::default());
        // The library's default number of clusters must not look like a choice of the user.
        options.clusters = None;
        options
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { clusters, batch_rows, sample_rows, half_life, seed, precision } = *parameters;
        Self { clusters: Some(clusters), batch_rows, sample_rows, half_life, seed, precision: precision.into() }
    }

    /// Returns the corresponding parameters of the library.
    pub fn parameters(&self) -> Parameters {
        let Self { clusters, batch_rows, sample_rows, half_life, seed, precision } = *self;
        let clusters = clusters.unwrap_or(Parameters::default().clusters);
        Parameters { clusters, batch_rows, sample_rows, half_life, seed, precision: precision.into() }
    }
}

impl Declared for Minibatch {
    const ABOUT: About = About {
        name: "minibatch",
        contract: "lehr.minibatch",
        version: (1, 0),
        takes: Takes::Stream(StreamWords { columns_taken: "clustering by" }),
        line: "Cluster streaming data in one pass, batch by batch: an approximation",
        paragraph: "Reads a table, or standard input, and holds one batch in memory. Annealing clusters the first rows; then each row of a batch goes to its nearest centre, and each centre moves to the mean of \
                    its rows.\n\n\
                    Lehr reads a row once. It sums the objective while each batch passes, with the centres of that moment. For exact clusters of a table larger than memory, use lehr cluster --spill. A \
                    resumed run reads the stream again from its beginning, but skips the batches that it had computed.",
        heading: "The clustering",
        examples: "  lehr minibatch measurements.csv.gz --clusters 20
      20 centres from one pass over the table

  zcat day-*.csv.gz | lehr minibatch - --columns speed,load --clusters 20 --half-life 1e6
      a stream on standard input, of which the last million rows count most

  lehr predict lehr-minibatch/model.json measurements.csv.gz
      the nearest centre of each row, and how far it is",
        result: "stream",
        folder: "lehr-minibatch",
        files: &["centers.csv", "model.json", "report.html", "summary.json"],
        untold: &[],
        outputs: &["centers"],
        summary_names: &["mini-batch k-means"],
    };

    type Options = Options;
    type Parameters = Parameters;

    fn options_of(parameters: &Parameters) -> Options {
        Options { sample_rows: Some(parameters.sample()), ..Options::of(parameters) }
    }

    fn check(options: &Options) -> Vec<String> {
        let parameters = options.parameters();
        if options.clusters.is_none() {
            return vec!["clusters: expected a number: only lehr cluster can tell how many there are".to_owned()];
        }
        match parameters.check() {
            Ok(()) => Vec::new(),
            Err(Error::TooManyClusters { clusters, points }) => {
                vec![format!("sample_rows: expected at least {clusters}, as many as clusters, found {points}")]
            }
            Err(error) => vec![error.to_string()],
        }
    }

    fn temperature(_: &Options) -> Temperature {
        Temperature::Squared { is_length_told: true }
    }

    fn sample_rows(options: &Options) -> usize {
        options.parameters().sample()
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let clock = Stopwatch::start();
        // Both closures read the stream, each through its own reference.
        let stream = task.data.stream();
        let (parameters, model) = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| minibatch::cluster(&mut { stream }, parameters, execution, observer),
            |checkpoint, execution, observer| minibatch::resume(&mut { stream }, checkpoint, execution, observer),
        )?;
        let phases = vec![("clustering".to_owned(), clock.seconds())];
        Ok(Box::new(Fitted { parameters, model, phases }))
    }
}

/// The centres found in a stream.
#[derive(Debug)]
pub struct Fitted {
    /// The parameters.
    pub parameters: Parameters,
    /// The model.
    pub model: Model,
    phases: Vec<(String, f64)>,
}

/// The facts about the result for `summary.json`.
#[derive(Serialize)]
struct Outcome {
    is_approximation: bool,
    clusters: usize,
    /// The rows that the figures below describe.
    objective_of: &'static str,
    objective: f64,
    root_mean_square_distance: f64,
    objective_of_last_batch: f64,
}

/// The facts about a cluster for `summary.json`.
#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    center: Named<'a>,
    rows: u64,
    weight: f64,
    /// The weight of the rows that is not yet forgotten.
    counts: f64,
    spread: f64,
}

impl Fitted {
    /// Returns the centres, in the units of the columns.
    fn centers(&self, data: Data<'_>) -> Vec<Vec<f64>> {
        let stream = data.stream();
        self.model.centers.chunks_exact(self.model.dimension).map(|center| stream.center(center)).collect()
    }
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let facts = self.model.clusters.iter().map(|facts| (facts.weight, facts.spread));
        (name == "centers").then(|| clusters::table(data.stream().columns(), &self.centers(data), facts, &[]))
    }

    fn figures(&self, _: Data<'_>) -> Vec<(&'static str, f64)> {
        let model = &self.model;
        vec![
            ("clusters", model.clusters.len() as f64),
            ("objective", model.objective),
            ("objective_of_last_batch", model.last_objective),
            ("batches", model.batches as f64),
            ("rows", model.rows as f64),
            ("weight", model.weight),
        ]
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (stream, model) = (data.stream(), &self.model);
        let outcome = Outcome {
            is_approximation: true,
            clusters: model.clusters.len(),
            objective_of: "batches as they arrived: each row from its centre as it was before the row's batch",
            objective: model.objective,
            root_mean_square_distance: model.objective.sqrt(),
            objective_of_last_batch: model.last_objective,
        };
        let centers = self.centers(data).into_iter().zip(&model.clusters).enumerate();
        let facts = centers.map(|(cluster, (center, facts))| ClusterFacts {
            cluster,
            center: Named { names: stream.columns(), values: center, leaves_zeros_out: false },
            rows: facts.rows,
            weight: facts.weight,
            counts: facts.counts,
            spread: facts.spread,
        });
        let mut sections = Sections::default();
        sections
            .add("parameters", &self.parameters)
            // The unit of the spreads and of the square root of the objective.
            .add("unit", stream.unit_name())
            .add("result", &outcome)
            .add("clusters", &facts.collect::<Vec<_>>());
        sections
    }

    fn passed(&self) -> Option<Passed> {
        let Model { batches, rows, weight, fingerprint, .. } = self.model;
        Some(Passed { batches, rows, weight, fingerprint })
    }

    fn model(&self) -> Option<Learnt> {
        Some(Learnt::Clusters(self.model.centroids()))
    }

    fn headline(&self, data: Data<'_>) -> String {
        let model = &self.model;
        let rows = self.centers(data).into_iter().zip(&model.clusters).map(|(center, facts)| ClusterRow {
            rows: facts.rows,
            weight: facts.weight,
            center,
            spread: facts.spread,
        });
        let table = ClusterTable { columns: data.stream().columns(), rows: rows.collect(), unit: "" };
        format!(
            "{}\nan approximation: distances are those of {} as they arrived, each row from its centre at that time; of the last batch {}\n\n{}",
            clusters::headline(model.rows, model.clusters.len() as u64, model.objective.sqrt(), ""),
            batches(model.batches),
            quantity(model.last_objective.sqrt(), ""),
            table.text(),
        )
    }

    fn warnings(&self) -> &[String] {
        &self.model.warnings
    }

    fn spent(&self) -> Spent<'_> {
        // Each batch has its own ranks, so they are not reported for the whole run.
        Spent { phases: &self.phases, timers: &[], imbalance: 1.0 }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
