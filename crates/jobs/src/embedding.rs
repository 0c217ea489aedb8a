//! Multidimensional scaling as a method: the library's `smacof::embed` on the dissimilarities of all pairs, under the contract `lehr.embedding` 1.0.
//!
//! Inputs: `matrix`, and `items` for names and weights, both as the method of distances gives them; a matrix that was uploaded will do. Tables: `positions` (id, a column a dimension, stress) as
//! `lehr embed` writes them, `history` (a row for each iteration of the best start), `starts` (the stress of each) and `shepard` (how many pairs of a dissimilarity came to which distance).

use lehr_mining::smacof::{self, Checkpoint, Input, Iteration, Map, Parameters, Shepard, Stop};
use lehr_services::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::{Job, Progress};
use crate::matrix::{ITEMS, MATRIX, Matrix};
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::table::Table;
use crate::watch::Watch;

/// Cells a side of the Shepard diagram.
const BINS: usize = 64;

/// Multidimensional scaling by majorisation as a [`Method`].
///
/// # Example
/// ```
/// use lehr_jobs::{Embedding, Inputs, Job, Method, Table, embedding::Options};
/// // A triangle with a right angle.
/// let matrix = Table::builder().numbers("dissimilarity", vec![3.0, 4.0, 5.0]).build()?;
/// let found = Embedding.run(&Job::alone(), &Inputs::of([("matrix", matrix)]), &Options::default())?;
/// assert!(found.figures["stress"] < 1e-12);
/// assert_eq!(found.tables["positions"].numbers("y").unwrap().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedding;

/// What [`Embedding`] is told. The default is a map in two dimensions from classical scaling.
///
/// # Example
/// ```
/// use lehr_jobs::embedding::{Options, Start};
/// let options: Options = serde_json::from_str(r#"{ "dimension": 3, "start": "random" }"#).unwrap();
/// assert_eq!((options.dimension, options.start, options.starts), (3, Start::Random, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Dimensions of the map, 1 to 64. Default: 2.
    pub dimension: usize,
    /// Where it starts. Default: classical scaling.
    pub start: Start,
    /// How many random starts are tried, of which the best is kept, 1 to 10,000. Default: 4.
    pub starts: usize,
    /// How pairs are weighted by their dissimilarity. Default: alike.
    pub weighting: Weighting,
    /// Whether targets are annealed, which avoids local minima. Default: no.
    pub annealed: bool,
    /// Factor from one temperature to the next while annealing, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// The end: stress falls by less than this share of itself in an iteration, 1e-15 to 0.1. Default: 1e-6.
    pub tolerance: f64,
    /// Iterations at most, of each start, at least 1. Default: 1,000; annealing has as many at each temperature.
    pub most_iterations: u64,
    /// Whether steps are lengthened where that lowers the stress. Default: yes.
    pub relaxed: bool,
    /// For random starts. Default: 0.
    pub seed: u64,
}

/// Where a map starts from.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::embedding::Start::Classical).unwrap(), "\"classical\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Classical scaling (Torgerson).
    #[default]
    Classical,
    /// Normal random positions.
    Random,
}

/// How pairs are weighted by their own dissimilarity.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::embedding::Weighting::InverseSquare).unwrap(), "\"inverse_square\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// All alike.
    #[default]
    Equal,
    /// One over the dissimilarity, as Sammon's mapping.
    Sammon,
    /// The square of that: relative errors count alike.
    InverseSquare,
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
    /// use lehr_jobs::embedding::Options;
    /// assert_eq!(Options::of(&lehr_mining::smacof::Parameters::default()), Options::default());
    /// ```
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
        Self { dimension, start, starts, weighting, annealed, cooling, tolerance, most_iterations, relaxed, seed }
    }

    /// The parameters of the library that say the same.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        let start = match self.start {
            Start::Classical => smacof::Start::Classical,
            Start::Random => smacof::Start::Random,
        };
        let weighting = match self.weighting {
            Weighting::Equal => smacof::Weighting::Equal,
            Weighting::Sammon => smacof::Weighting::Sammon,
            Weighting::InverseSquare => smacof::Weighting::InverseSquare,
        };
        let Self { dimension, starts, annealed, cooling, tolerance, most_iterations, relaxed, seed, .. } = *self;
        Parameters { dimension, start, starts, weighting, annealed, cooling, tolerance, most_iterations, relaxed, seed }
    }
}

impl Method for Embedding {
    const NAME: &'static str = "lehr.embedding";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &[MATRIX];
    const INPUTS_OPTIONAL: &'static [&'static str] = &[ITEMS];
    const OUTPUTS: &'static [&'static str] = &["history", "positions", "shepard", "starts"];
    const SPREADS: bool = true;
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        let any = crate::matrix::of_two();
        options.parameters().check(&Input::new(&any)).err().map(|error| error.to_string()).into_iter().collect()
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let matrix = Matrix::of_inputs(inputs)?;
        let input = Input { weights: matrix.weights.as_deref(), ..Input::new(&matrix.dissimilarities) };
        let mut watch = Watch(job);
        let execution = job.execution();
        let map = match job.saved_checkpoint::<Checkpoint>()? {
            None => smacof::embed(&input, &options.parameters(), &execution, &mut watch),
            Some(checkpoint) => smacof::resume(&input, checkpoint, &execution, &mut watch),
        };
        let map = map?;
        if !job.is_lead() {
            return Ok(Outputs::new());
        }
        job.report(Progress::new(0.99, "comparing distances").figure("stress", map.stress));
        let shepard = Shepard::new(&matrix.dissimilarities, &map, BINS);
        outputs(&matrix.ids, map, &shepard)
    }
}

/// What coordinates are called: `x`, `y`, `z`, or `x0`, `x1`, … where there are more.
fn axes(dimension: usize) -> Vec<String> {
    match dimension {
        1..=3 => ["x", "y", "z"][..dimension].iter().map(|axis| (*axis).to_owned()).collect(),
        _ => (0..dimension).map(|axis| format!("x{axis}")).collect(),
    }
}

fn outputs(ids: &[String], map: Map, shepard: &Shepard) -> Result<Outputs, Failure> {
    let mut positions = Table::builder().texts("id", ids.to_vec()).id(Some("id".to_owned()));
    for (place, axis) in axes(map.dimension).into_iter().enumerate() {
        let coordinates = map.positions.iter().skip(place).step_by(map.dimension).copied().collect();
        positions = positions.numbers(axis, coordinates);
    }
    let positions = positions.numbers("stress", map.item_stress);
    let numbers = |of: fn(&Iteration) -> f64| map.history.iter().map(of).collect();
    let history = Table::builder()
        .counts("iteration", (0..map.history.len() as u64).collect())
        .numbers("temperature", numbers(|iteration| iteration.temperature))
        .numbers("stress", numbers(|iteration| iteration.stress));
    let starts =
        Table::builder().counts("start", (0..map.stresses.len() as u64).collect()).numbers("stress", map.stresses);
    // The upper ends of the cells that have pairs.
    let cells: Vec<usize> = (0..shepard.counts.len()).filter(|&cell| shepard.counts[cell] > 0).collect();
    let end = |place: usize, largest: f64| largest * (place + 1) as f64 / shepard.bins as f64;
    let of = |place: &dyn Fn(usize) -> f64| cells.iter().map(|&cell| place(cell)).collect();
    let shepard_cells = Table::builder()
        .numbers("dissimilarity", of(&|cell| end(cell / shepard.bins, shepard.largest_dissimilarity)))
        .numbers("distance", of(&|cell| end(cell % shepard.bins, shepard.largest_distance)))
        .counts("pairs", cells.iter().map(|&cell| shepard.counts[cell]).collect());
    let figures = [
        ("stress", map.stress),
        ("stress_1", map.stress_1),
        ("raw_stress", map.raw_stress),
        ("iterations", map.history.len() as f64),
        ("passes", map.passes as f64),
        ("solver_steps", map.solver_steps as f64),
        ("converged", f64::from(u8::from(map.stop == Stop::Converged))),
        ("missing_pairs", map.missing_pairs as f64),
        ("correlation", shepard.correlation),
    ];
    let mut outputs = Outputs { warnings: map.warnings, ..Outputs::new() }
        .table("positions", positions.build()?)
        .table("history", history.build()?)
        .table("starts", starts.build()?)
        .table("shepard", shepard_cells.build()?);
    // Of all items in one place there is no correlation.
    for (name, value) in figures.into_iter().filter(|(_, value)| value.is_finite()) {
        outputs = outputs.figure(name, value);
    }
    Ok(outputs)
}
