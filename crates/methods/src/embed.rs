//! Multidimensional scaling of dissimilarities, for every front end.

use std::any::Any;

use lehr_mining::Error;
use lehr_mining::smacof::{self, Input, Iteration, Map, Parameters, Shepard, Stop};
use lehr_sync::OnceLock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::classes::Classes;
use crate::data::{Data, Matrix, MatrixWords, Takes};
use crate::items::Positions;
use crate::method::{About, Content, Declared, Fit, Spent, Task};
use crate::model::Learnt;
use crate::numbers::{counted, significant};
use crate::sections::Sections;
use crate::table::Table;

/// The number of cells along each side of the Shepard diagram.
pub const BINS: usize = 64;

/// Multidimensional scaling by majorisation (SMACOF): a map whose distances approximate dissimilarities.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedding;

/// The options of [`Embedding`]. The default is a map in two dimensions from classical scaling.
///
/// # Example
/// ```
/// use lehr_methods::embed::{Options, Start};
/// let options: Options = serde_json::from_str(r#"{ "dimensions": 3, "init": "random" }"#).unwrap();
/// assert_eq!((options.dimensions, options.init, options.n_init), (3, Start::Random, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Give the map this many dimensions
    #[schemars(range(min = 1, max = 64), extend("x-short" = "d", "x-value" = "L", "x-python" = "n_components", "x-formerly" = { "dimension": {} }))]
    pub dimensions: usize,
    /// Initialise the map with this
    #[schemars(extend("x-formerly" = { "start": {} }))]
    pub init: Start,
    /// Keep the best of this many random initialisations
    #[schemars(range(min = 1, max = 10000), extend("x-value" = "N", "x-formerly" = { "starts": {} }))]
    pub n_init: usize,
    /// Weight pairs in this way
    pub weighting: Weighting,
    /// Anneal the dissimilarities; this avoids poor maps from random initialisations and with weights
    #[schemars(extend("x-command" = "anneal"))]
    pub annealed: bool,
    /// Multiply the temperature by this factor at each step while annealing
    #[schemars(range(min = 0.5, max = 0.999), extend("x-value" = "FACTOR", "x-advanced" = true))]
    pub cooling: f64,
    /// Stop when stress, the error of the map, falls by less than this share in an iteration
    #[schemars(range(min = 1e-15, max = 0.1), extend("x-value" = "SHARE", "x-python" = "tol", "x-advanced" = true))]
    pub tolerance: f64,
    /// End an initialisation, or a temperature while annealing, after this many iterations
    #[schemars(range(min = 1), extend("x-value" = "N", "x-python" = "max_iter", "x-formerly" = { "most_iterations": {} }, "x-advanced" = true))]
    pub max_iterations: u64,
    /// Lengthen steps where that lowers the stress, which about halves the iterations
    #[schemars(extend("x-advanced" = true))]
    pub relaxed: bool,
    /// Random seed of the initialisations
    #[schemars(extend("x-value" = "N", "x-python" = "random_state"))]
    pub seed: u64,
}

/// The start of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// The leading eigenvectors of the centred squares (Torgerson).
    #[default]
    Classical,
    /// Normal random positions.
    Random,
}

/// The pair weights as a function of the dissimilarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// Equal weights, so that large dissimilarities dominate.
    #[default]
    Equal,
    /// The reciprocal of the dissimilarity, so that small dissimilarities count for more.
    Sammon,
    /// The reciprocal of the squared dissimilarity, so that relative errors count.
    InverseSquare,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    pub fn of(parameters: &Parameters) -> Self {
        let start = match parameters.start {
            smacof::Start::Classical => Start::Classical,
            smacof::Start::Random => Start::Random,
        };
        let weighting = match parameters.weighting {
            smacof::Weighting::Equal => Weighting::Equal,
            smacof::Weighting::Sammon => Weighting::Sammon,
            smacof::Weighting::InverseSquare => Weighting::InverseSquare,
        };
        let Parameters { dimension, starts, annealed, cooling, tolerance, most_iterations, relaxed, seed, .. } =
            *parameters;
        Self {
            dimensions: dimension,
            init: start,
            n_init: starts,
            weighting,
            annealed,
            cooling,
            tolerance,
            max_iterations: most_iterations,
            relaxed,
            seed,
        }
    }

    /// Returns the corresponding parameters of the library.
    pub fn parameters(&self) -> Parameters {
        let start = match self.init {
            Start::Classical => smacof::Start::Classical,
            Start::Random => smacof::Start::Random,
        };
        let weighting = match self.weighting {
            Weighting::Equal => smacof::Weighting::Equal,
            Weighting::Sammon => smacof::Weighting::Sammon,
            Weighting::InverseSquare => smacof::Weighting::InverseSquare,
        };
        let Self { dimensions, n_init, annealed, cooling, tolerance, max_iterations, relaxed, seed, .. } = *self;
        Parameters {
            dimension: dimensions,
            start,
            starts: n_init,
            weighting,
            annealed,
            cooling,
            tolerance,
            most_iterations: max_iterations,
            relaxed,
            seed,
        }
    }
}

impl Declared for Embedding {
    const ABOUT: About = About {
        name: "embed",
        contract: "lehr.embedding",
        version: (1, 0),
        takes: Takes::Matrix(MatrixWords { may_miss_pairs: true, has_classes: true }),
        line: "Embed items in 2-D or 3-D by multidimensional scaling (SMACOF)",
        paragraph: "Draws a map of items in which distances show their dissimilarities, in two dimensions, three or more. The report shows the map, which can be turned, and where it can be trusted.",
        heading: "The map",
        examples: "  lehr embed genes/dissimilarities.json --dimensions 3 --labels genes/labels.csv --out genes-map
      a map in three dimensions, coloured by cluster; open genes-map/report.html

  lehr embed lehr-genes/dissimilarities.json --labels lehr-genes/ids.csv --by family
      the map of lehr demo genes in two dimensions, coloured by family

  lehr embed d.npy --json | jq .result.stress
      how well two dimensions show the dissimilarities: 0 is exact

The folder has positions.csv (one line an item: name, coordinates, stress, and its class with --labels),
positions.npy (the coordinates alone), summary.json and report.html.
Next: lehr place places new items in the map.",
        result: "map",
        folder: "lehr-embed",
        files: &["positions.csv", "positions.npy", "model.json", "report.html", "summary.json"],
        untold: &["model.json"],
        outputs: &["history", "positions", "shepard", "starts"],
        summary_names: &["multidimensional scaling by majorisation"],
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
        let Matrix { dissimilarities, weights, ids, .. } = task.data.matrix();
        let input = Input { weights: weights.as_deref(), ..Input::new(dissimilarities) };
        let fitted = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| smacof::embed(&input, parameters, execution, observer),
            |checkpoint, execution, observer| smacof::resume(&input, checkpoint, execution, observer),
        );
        let (parameters, map) = fitted.map_err(|error| error.with_ids(ids))?;
        Ok(Box::new(Fitted { parameters, map, shepard: OnceLock::new() }))
    }
}

/// A fitted map.
#[derive(Debug)]
pub struct Fitted {
    /// The parameters.
    pub parameters: Parameters,
    /// The map.
    pub map: Map,
    /// The Shepard diagram, computed when first needed: if several processes make a map, only one of them shows it.
    shepard: OnceLock<Shepard>,
}

/// Returns the names of a map's coordinates: `x`, `y`, `z`, or `x0`, `x1`, … if there are more than three.
pub fn axes(dimension: usize) -> Vec<String> {
    match dimension {
        1..=3 => ["x", "y", "z"][..dimension].iter().map(|axis| (*axis).to_owned()).collect(),
        _ => (0..dimension).map(|axis| format!("x{axis}")).collect(),
    }
}

/// Returns `positions.csv`: the position of each item, its error and its classes if they are known.
pub fn positions<'a>(ids: &'a [String], map: &Map, classes: &[Classes]) -> Table<'a> {
    let mut table = Table::new("positions").ids(Some(ids), ids.len());
    for (place, axis) in axes(map.dimension).into_iter().enumerate() {
        table = table.numbers(axis, map.positions.iter().skip(place).step_by(map.dimension).copied().collect());
    }
    table = table.numbers("stress", map.item_stress.clone());
    for classes in classes {
        let of_items = (0..ids.len()).map(|item| classes.class(item).to_owned()).collect();
        table = table.texts(class_column(&classes.name, map.dimension), of_items);
    }
    table
}

/// Returns the name of a column of classes in `positions.csv`. It is the name of the classes, with `_` at its end if
/// another column has this name.
///
/// # Example
/// ```
/// use lehr_methods::embed::class_column;
/// assert_eq!([class_column("cluster", 2), class_column("y", 2)], ["cluster", "y_"]);
/// ```
pub fn class_column(name: &str, dimension: usize) -> String {
    let is_taken = ["id", "stress"].contains(&name) || axes(dimension).iter().any(|axis| axis == name);
    format!("{name}{}", if is_taken { "_" } else { "" })
}

/// Returns the facts about the result for a summary.
pub fn result_facts(map: &Map, shepard: &Shepard) -> Value {
    json!({
        "dimension": map.dimension,
        "stress": map.stress,
        "stress_1": map.stress_1,
        "raw_stress": map.raw_stress,
        "stop": if map.stop == Stop::Converged { "converged" } else { "most iterations" },
        "iterations": map.history.len(),
        "passes": map.passes,
        "solver_steps": map.solver_steps,
        "stresses": map.stresses,
        "correlation": shepard.correlation,
    })
}

impl Fitted {
    /// Returns the Shepard diagram of the map and its data.
    pub fn shepard(&self, matrix: &Matrix) -> &Shepard {
        self.shepard.get_or_init(|| Shepard::new(&matrix.dissimilarities, &self.map, BINS))
    }

    fn history(&self) -> Table<'static> {
        let iterations = &self.map.history;
        let numbers = |of: fn(&Iteration) -> f64| iterations.iter().map(of).collect();
        Table::new("history")
            .counts("iteration", (0..iterations.len() as u64).collect())
            .numbers("temperature", numbers(|iteration| iteration.temperature))
            .numbers("stress", numbers(|iteration| iteration.stress))
    }

    /// Returns the cells of the diagram that contain pairs: their upper ends and counts.
    fn cells(&self, shepard: &Shepard) -> Table<'static> {
        let cells: Vec<usize> = (0..shepard.counts.len()).filter(|&cell| shepard.counts[cell] > 0).collect();
        let end = |place: usize, largest: f64| largest * (place + 1) as f64 / shepard.bins as f64;
        let of = |place: &dyn Fn(usize) -> f64| cells.iter().map(|&cell| place(cell)).collect();
        Table::new("shepard")
            .numbers("dissimilarity", of(&|cell| end(cell / shepard.bins, shepard.largest_dissimilarity)))
            .numbers("distance", of(&|cell| end(cell % shepard.bins, shepard.largest_distance)))
            .counts("pairs", cells.iter().map(|&cell| shepard.counts[cell]).collect())
    }
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let matrix = data.matrix();
        Some(match name {
            "positions" => positions(&matrix.ids, &self.map, &matrix.classes),
            "history" => self.history(),
            "starts" => Table::new("starts")
                .counts("start", (0..self.map.stresses.len() as u64).collect())
                .numbers("stress", self.map.stresses.clone()),
            "shepard" => self.cells(self.shepard(matrix)),
            _ => return None,
        })
    }

    fn file<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Content<'a>> {
        match name {
            "positions.csv" => self.table("positions", data).map(Content::Table),
            "positions.npy" => Some(Content::Array { values: &self.map.positions, columns: self.map.dimension }),
            _ => None,
        }
    }

    fn figures(&self, data: Data<'_>) -> Vec<(&'static str, f64)> {
        let map = &self.map;
        vec![
            ("stress", map.stress),
            ("stress_1", map.stress_1),
            ("raw_stress", map.raw_stress),
            ("iterations", map.history.len() as f64),
            ("passes", map.passes as f64),
            ("solver_steps", map.solver_steps as f64),
            ("converged", f64::from(u8::from(map.stop == Stop::Converged))),
            ("missing_pairs", map.missing_pairs as f64),
            ("correlation", self.shepard(data.matrix()).correlation),
        ]
    }

    fn input(&self, matrix: &Matrix) -> Sections {
        let header = matrix.dissimilarities.header();
        let mut facts = Sections::default();
        facts
            .add("items", &matrix.ids.len())
            .add("missing_pairs", &self.map.missing_pairs)
            .add("metric", &header.map(|header| &header.metric))
            // `lehr place` reads the comparison of new items from these facts.
            .add("metric_parameters", &header.map(|header| &header.parameters));
        facts
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let mut sections = Sections::sorted();
        sections
            .add("parameters", &self.parameters)
            .add("result", &result_facts(&self.map, self.shepard(data.matrix())))
            .add("history", &self.map.history);
        sections
    }

    fn model(&self) -> Option<Learnt> {
        Some(Learnt::Embedding(Positions::new(self.map.dimension, self.map.positions.clone())))
    }

    fn headline(&self, _: Data<'_>) -> String {
        let map = &self.map;
        format!(
            "{} in {}; stress {} (stress-1 {}) after {}",
            counted(map.items() as u64, "item"),
            counted(map.dimension as u64, "dimension"),
            significant(map.stress, 4),
            significant(map.stress_1, 4),
            counted(map.history.len() as u64, "iteration"),
        )
    }

    fn warnings(&self) -> &[String] {
        &self.map.warnings
    }

    fn spent(&self) -> Spent<'_> {
        Spent { phases: &self.map.phases, timers: &self.map.timers, imbalance: self.map.imbalance }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
