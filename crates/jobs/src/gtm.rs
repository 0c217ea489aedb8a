//! Topographic maps as a method: the library's `gtm::fit` with the command's options, under the contract `lehr.gtm` 1.0.
//!
//! Tables: `places` (where on the map each row is) and `nodes` (what the map is at each of its nodes), both as `lehr gtm` writes them; `candidates` (a row for each beginning that was
//! followed) and `history` (a row for each temperature of the one that was kept). In a data set that says it has gaps, values that are missing are left out of every distance.

use lehr_data::write::names;
use lehr_mining::gtm::{self, Candidate, Checkpoint, Model, Parameters, Step};
use lehr_services::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clustering::ColumnScale;
use crate::job::Job;
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::scaled::{POINTS, Scaled};
use crate::table::{Columns, Table};
use crate::watch::Watch;

/// Generative topographic mapping as a [`Method`].
///
/// # Example
/// ```
/// use lehr_jobs::{Gtm, Inputs, Job, Method, Table, gtm::Options};
/// // Rows along a bend, in order along a map of one dimension.
/// let along: Vec<f64> = (0..60).map(f64::from).collect();
/// let height = along.iter().map(|x| (x - 30.0) * (x - 30.0) / 50.0).collect();
/// let points = Table::builder().numbers("x", along).numbers("y", height).build()?;
/// let options = Options { dimensions: 1, ..Options::default() };
/// let found = Gtm.run(&Job::alone(), &Inputs::of([("points", points)]), &options)?;
/// let z = found.tables["places"].numbers("z1").unwrap();
/// assert!((z[0] - z[59]).abs() > 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gtm;

/// What [`Gtm`] is told. The default lays out a plane from either beginning and keeps the likelier end.
///
/// # Example
/// ```
/// use lehr_jobs::gtm::{Options, Start};
/// let options: Options = serde_json::from_str(r#"{ "dimensions": 1, "start": "annealed" }"#).unwrap();
/// assert_eq!((options.dimensions, options.start, options.width), (1, Start::Annealed, 1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The columns of the points. Default: all of numbers, except weights and ids.
    pub columns: Option<Vec<String>>,
    /// The column of weights, of a data set without gaps. Default: the one that the data set says, or none.
    pub weights: Option<String>,
    /// The column of ids. Default: the one that the data set says, or the number of the row.
    pub id: Option<String>,
    /// How columns are scaled. Default: not.
    pub scale: ColumnScale,
    /// Dimensions of the map, 1 to 3. Default: 2.
    pub dimensions: usize,
    /// Nodes along each axis. Default: 50 in one dimension, 15 in two (20 from 2,000 rows on), 8 in three.
    pub nodes: Option<usize>,
    /// Basis functions along each axis. Default: 8 in one dimension, 5 in two, 3 in three.
    pub basis: Option<usize>,
    /// Width of a basis function over the distance to the next one, 0.1 to 10. Default: 1.
    pub width: f64,
    /// Precision of the prior of the basis' weights, in one over the mean variance of a column, 0 to 1e6. Default: 0.1.
    pub regularisation: f64,
    /// Where the map begins. Default: both; the end of more likelihood is kept.
    pub start: Start,
    /// Factor from one temperature to the next, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// The end: the objective per unit of weight has no more than this still to gain, 1e-12 to 0.01. Default: 1e-6.
    pub tolerance: f64,
    /// Passes over the rows at temperature 1 at most, from each beginning, at least 1. Default: 1000.
    pub max_sweeps: u64,
}

/// Where a map begins.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::gtm::Start::Both).unwrap(), "\"both\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Both, one after the other.
    #[default]
    Both,
    /// As a point, which unfolds while it cools.
    Annealed,
    /// As the plane of the principal axes.
    Plane,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// The options that say the same as parameters of the library, of all columns as they are.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::gtm::Options;
    /// assert_eq!(Options::of(&lehr_mining::gtm::Parameters::default()), Options::default());
    /// ```
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { latent, nodes, basis, width, regularisation, start, cooling, tolerance, max_sweeps } =
            *parameters;
        let start = match start {
            None => Start::Both,
            Some(gtm::Start::Annealed) => Start::Annealed,
            Some(gtm::Start::Plane) => Start::Plane,
        };
        Self {
            columns: None,
            weights: None,
            id: None,
            scale: ColumnScale::None,
            dimensions: latent,
            nodes,
            basis,
            width,
            regularisation,
            start,
            cooling,
            tolerance,
            max_sweeps,
        }
    }

    /// The parameters of the library that say the same.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        let Self { dimensions, nodes, basis, width, regularisation, cooling, tolerance, max_sweeps, .. } = *self;
        let start = match self.start {
            Start::Both => None,
            Start::Annealed => Some(gtm::Start::Annealed),
            Start::Plane => Some(gtm::Start::Plane),
        };
        Parameters { latent: dimensions, nodes, basis, width, regularisation, start, cooling, tolerance, max_sweeps }
    }

    fn columns(&self) -> Columns {
        Columns { columns: self.columns.clone(), weights: self.weights.clone(), id: self.id.clone() }
    }
}

impl Method for Gtm {
    const NAME: &'static str = "lehr.gtm";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &[POINTS];
    const OUTPUTS: &'static [&'static str] = &["candidates", "history", "nodes", "places"];
    const SPREADS: bool = true;
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        // What hangs on the columns and the rows is found when they are there.
        options.parameters().check_alone().err().map(|error| as_option(error).to_string()).into_iter().collect()
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let scaled = Scaled::with_gaps(inputs, &options.columns(), options.scale)?;
        let mut watch = Watch(job);
        let execution = job.execution();
        let model = match job.saved_checkpoint::<Checkpoint>()? {
            None => gtm::fit(scaled.input(), &options.parameters(), &execution, &mut watch),
            Some(checkpoint) => gtm::resume(scaled.input(), checkpoint, &execution, &mut watch),
        };
        outputs(scaled, model)
    }
}

/// An error by the name that the options have for what it is about.
fn as_option(error: lehr_mining::Error) -> lehr_mining::Error {
    match error {
        lehr_mining::Error::Parameter { name: "latent", expected, found } => {
            lehr_mining::Error::Parameter { name: "dimensions", expected, found }
        }
        error => error,
    }
}

/// What the axes of a map are called.
fn axes(latent: usize) -> Vec<String> {
    (1..=latent).map(|axis| format!("z{axis}")).collect()
}

fn outputs(scaled: Scaled, model: Result<Model, lehr_mining::Error>) -> Result<Outputs, Failure> {
    let model = model.map_err(|error| scaled.failure(as_option(error)))?;
    let (map, found) = (&model.map, &model.places);
    let axes = axes(map.latent());
    let mut places = Table::builder().texts("id", scaled.ids.clone()).id(Some("id".to_owned()));
    for (axis, name) in axes.iter().enumerate() {
        let along = found.positions.iter().skip(axis).step_by(found.latent).copied().collect();
        places = places.numbers(name.clone(), along);
    }
    let places = places
        .counts("node", found.modes.iter().map(|&node| u64::from(node)).collect())
        .numbers("probability", found.probabilities.clone())
        .numbers("entropy", found.entropies.clone())
        .numbers("log_density", found.log_densities.clone());

    let mut rows = vec![0u64; map.len()];
    found.modes.iter().for_each(|&node| rows[node as usize] += 1);
    let at: Vec<Vec<f64>> = (0..map.len()).map(|k| map.node(k)).collect();
    let images: Vec<Vec<f64>> = at.iter().map(|place| scaled.unscaled(&map.at(place))).collect();
    let mut nodes = Table::builder().counts("node", (0..map.len() as u64).collect());
    for (axis, name) in axes.iter().enumerate() {
        nodes = nodes.numbers(name.clone(), at.iter().map(|place| place[axis]).collect());
    }
    let ours: Vec<&str> = axes.iter().map(String::as_str).chain(["node", "magnification", "rows"]).collect();
    for (column, name) in names::beside(&ours, &scaled.columns, &[]).into_iter().enumerate() {
        nodes = nodes.numbers(name, images.iter().map(|image| image[column]).collect());
    }
    let nodes =
        nodes.numbers("magnification", at.iter().map(|place| map.magnification(place)).collect()).counts("rows", rows);

    let steps = &model.history;
    let of_steps = |of: fn(&Step) -> f64| steps.iter().map(of).collect();
    let history = Table::builder()
        .numbers("temperature", of_steps(|step| step.temperature))
        .numbers("objective", of_steps(|step| step.objective))
        .numbers("noise", of_steps(|step| step.noise))
        .numbers("softness", of_steps(|step| step.softness))
        .counts("sweeps", steps.iter().map(|step| step.sweeps).collect());
    let begun = |start: gtm::Start| match start {
        gtm::Start::Annealed => "annealed",
        gtm::Start::Plane => "plane",
    };
    let tried = &model.candidates;
    let flags = |of: &dyn Fn(&Candidate) -> bool| tried.iter().map(|candidate| u64::from(of(candidate))).collect();
    let candidates = Table::builder()
        .texts("start", tried.iter().map(|candidate| begun(candidate.start).to_owned()).collect())
        .numbers("log_likelihood", tried.iter().map(|candidate| candidate.log_likelihood).collect())
        .numbers("order", tried.iter().map(|candidate| candidate.order).collect())
        .counts("sweeps", tried.iter().map(|candidate| candidate.sweeps).collect())
        .counts("converged", flags(&|candidate| candidate.is_converged))
        .counts("kept", flags(&|candidate| candidate.start == model.start));

    let figures = [
        ("log_likelihood", model.log_likelihood),
        ("log_likelihood_per_weight", model.log_likelihood / scaled.total_weight),
        ("noise", map.noise()),
        ("order", model.order),
        ("mean_entropy", found.entropies.iter().sum::<f64>() / found.entropies.len() as f64),
        ("critical_temperature", model.critical_temperature),
        ("nodes", map.len() as f64),
        ("functions", map.functions() as f64),
        ("missing_cells", scaled.input().missing() as f64),
        ("annealed", f64::from(u8::from(model.start == gtm::Start::Annealed))),
        ("sweeps", model.sweeps as f64),
        ("converged", f64::from(u8::from(model.is_converged))),
    ];
    let mut outputs = Outputs::new()
        .table("places", places.build()?)
        .table("nodes", nodes.build()?)
        .table("candidates", candidates.build()?)
        .table("history", history.build()?);
    for (name, value) in figures.into_iter().filter(|(_, value)| value.is_finite()) {
        outputs = outputs.figure(name, value);
    }
    outputs.warnings = scaled.warnings.into_iter().chain(model.warnings).collect();
    Ok(outputs)
}
