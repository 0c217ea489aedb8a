//! Generative topographic mapping, for every front end.

use std::any::Any;

use lehr_data::write::names;
use lehr_mining::Error;
use lehr_mining::gtm::{self, Candidate, Map, Model, Parameters, Projection, Step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Missing, NotOnSphere, RowsWords, Takes};
use crate::method::{About, Declared, Fit, Spent, Task};
use crate::model::Learnt;
use crate::numbers::{counted, significant};
use crate::options::as_option;
use crate::sections::Sections;
use crate::table::Table;

/// Generative topographic mapping: lays out rows of many columns on a line, a plane or a cube.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gtm;

/// The options of [`Gtm`]. The default lays out a plane from either start and keeps the fit with the higher likelihood.
///
/// # Example
/// ```
/// use lehr_methods::gtm::{Options, Start};
/// let options: Options = serde_json::from_str(r#"{ "dimensions": 1, "init": "annealed" }"#).unwrap();
/// assert_eq!((options.dimensions, options.init, options.width), (1, Start::Annealed, 1.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Give the map this many dimensions
    #[schemars(range(min = 1, max = 3), extend("x-value" = "L", "x-python" = "n_components"))]
    pub dimensions: usize,
    /// Place this many nodes along each axis; at most 10000 in all
    #[schemars(range(min = 2, max = 10000), extend("x-value" = "N", "x-default" = "15 to 50 by rows and dimensions", "x-python" = "n_nodes"))]
    pub nodes: Option<usize>,
    /// Use this many basis functions along each axis; at most 400 in all, and more follow the rows more closely
    #[schemars(range(min = 2, max = 400), extend("x-value" = "M", "x-default" = "5 in two dimensions", "x-python" = "n_basis"))]
    pub basis: Option<usize>,
    /// Make basis functions this wide; in distances to the next one
    #[schemars(range(min = 0.1, max = 10.0), extend("x-value" = "WIDTH"))]
    pub width: f64,
    /// Make the map this stiff; the precision of the prior of its weights, times the mean variance of the columns
    #[schemars(range(min = 0.0, max = 1e6), extend("x-value" = "PRECISION", "x-formerly" = { "regularisation": {} }))]
    pub regularization: f64,
    /// Initialise the map from this
    #[schemars(extend("x-formerly" = { "start": {} }))]
    pub init: Start,
    /// Multiply the temperature by this factor at each step
    #[schemars(range(min = 0.5, max = 0.999), extend("x-value" = "FACTOR", "x-advanced" = true))]
    pub cooling: f64,
    /// Stop when the log-likelihood per unit of weight can gain no more than this
    #[schemars(range(min = 1e-12, max = 1e-2), extend("x-value" = "GAIN", "x-python" = "tol", "x-advanced" = true))]
    pub tolerance: f64,
    /// End an initialisation after this many iterations at temperature 1
    #[schemars(range(min = 1), extend("x-value" = "N", "x-python" = "max_iter", "x-formerly" = { "max_sweeps": {} }, "x-advanced" = true))]
    pub max_iterations: u64,
}

/// The start of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Both, one after the other; the fit with the higher likelihood is kept.
    #[default]
    Both,
    /// A point, which unfolds during annealing.
    Annealed,
    /// The plane of the principal axes, without annealing.
    Plane,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::gtm::Options;
    /// assert_eq!(Options::of(&lehr_mining::gtm::Parameters::default()), Options::default());
    /// ```
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { latent, nodes, basis, width, regularisation, start, cooling, tolerance, max_sweeps } =
            *parameters;
        let init = match start {
            None => Start::Both,
            Some(gtm::Start::Annealed) => Start::Annealed,
            Some(gtm::Start::Plane) => Start::Plane,
        };
        Self {
            dimensions: latent,
            nodes,
            basis,
            width,
            regularization: regularisation,
            init,
            cooling,
            tolerance,
            max_iterations: max_sweeps,
        }
    }

    /// Returns the corresponding parameters of the library.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        let Self { dimensions, nodes, basis, width, regularization, init, cooling, tolerance, max_iterations } = *self;
        let start = match init {
            Start::Both => None,
            Start::Annealed => Some(gtm::Start::Annealed),
            Start::Plane => Some(gtm::Start::Plane),
        };
        Parameters {
            latent: dimensions,
            nodes,
            basis,
            width,
            regularisation: regularization,
            start,
            cooling,
            tolerance,
            max_sweeps: max_iterations,
        }
    }
}

impl Declared for Gtm {
    const ABOUT: About = About {
        name: "gtm",
        contract: "lehr.gtm",
        version: (1, 0),
        takes: Takes::Rows(RowsWords {
            columns_taken: "a map of",
            takes_bits_and_sparse: false,
            sets_aside: false,
            missing: Some(Missing { becomes: "which are left out of every distance", done: "mapped" }),
            not_on_sphere: Some(NotOnSphere {
                why: "a map is made of many columns; positions on a sphere have a map already",
                instead: "leave --lonlat out and name the columns with --columns, or use lehr cluster",
            }),
        }),
        line: "Show the rows of a table on a map: generative topographic mapping",
        paragraph: "Shows many columns in two dimensions: Lehr fits a curved line, sheet or cube through the rows, annealed from a point and initialised as a plane, and keeps the one with the higher \
                    likelihood. For each row, you get its position on the map, how certain that position is, and how likely the row is.",
        heading: "The map",
        examples: "  lehr gtm wine.csv --scale std
      a map of 15 x 15 nodes of all columns; open lehr-gtm/report.html

  lehr predict lehr-gtm/model.json new-wine.csv > places.csv
      where on that map new rows are",
        result: "map",
        folder: "lehr-gtm",
        files: &["places.csv", "nodes.csv", "model.json", "report.html", "summary.json"],
        untold: &[],
        outputs: &["candidates", "history", "nodes", "places"],
        summary_names: &["generative topographic mapping"],
    };

    type Options = Options;
    type Parameters = Parameters;

    fn options_of(parameters: &Parameters) -> Options {
        Options::of(parameters)
    }

    fn check(options: &Options) -> Vec<String> {
        // Faults that depend on the data are reported after the data are read.
        options.parameters().check_alone().err().map(|error| as_option(error).to_string()).into_iter().collect()
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let input = task.data.rows().input();
        let fitted = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| gtm::fit(input, parameters, execution, observer),
            |checkpoint, execution, observer| gtm::resume(input, checkpoint, execution, observer),
        );
        let (parameters, model) = fitted?;
        Ok(Box::new(Fitted { parameters, model }))
    }
}

/// A fitted map.
#[derive(Debug)]
pub struct Fitted {
    /// The parameters.
    pub parameters: Parameters,
    /// The map.
    pub model: Model,
}

/// The facts about the result for `summary.json`.
#[derive(Serialize)]
struct Outcome {
    /// The initialisation of the map with the higher likelihood.
    start: gtm::Start,
    dimensions: usize,
    nodes: usize,
    nodes_a_side: usize,
    functions: usize,
    log_likelihood: f64,
    log_likelihood_per_weight: f64,
    /// The variance around the map.
    noise: f64,
    /// Spearman's correlation between the nodes' distances on the map and in the data space.
    order: f64,
    /// The mean entropy of the rows, in nats.
    mean_entropy: f64,
    critical_temperature: f64,
    is_converged: bool,
    sweeps: u64,
}

/// Returns, for each node, the number of rows for which it is the most likely node.
fn rows_of_each(map: &Map, places: &Projection) -> Vec<u64> {
    let mut rows = vec![0; map.len()];
    places.modes.iter().for_each(|&node| rows[node as usize] += 1);
    rows
}

/// Returns the names of a map's axes.
fn axes(latent: usize) -> Vec<String> {
    (1..=latent).map(|axis| format!("z{axis}")).collect()
}

/// Returns a line for each row with its place on a map: `id`, the position (`z1`, …), `node`, `probability`, `entropy`,
/// `log_density`.
///
/// The position is the posterior mean, from -1 to 1 along each axis. The node is the most likely node of the row, and
/// the probability is its responsibility. The entropy over nodes is in nats. The log-density is the log-density of the
/// map at the row, in the unit of the fit.
pub fn places<'a>(ids: Option<&'a [String]>, found: &'a Projection) -> Table<'a> {
    let mut table = Table::new("places").ids(ids, found.modes.len());
    for (axis, name) in axes(found.latent).into_iter().enumerate() {
        table = table.numbers(name, found.positions.iter().skip(axis).step_by(found.latent).copied().collect());
    }
    table
        .labels("node", &found.modes, false)
        .borrowed("probability", &found.probabilities)
        .borrowed("entropy", &found.entropies)
        .borrowed("log_density", &found.log_densities)
}

impl Fitted {
    fn side(&self) -> String {
        vec![self.model.map.side().to_string(); self.model.map.latent()].join(" x ")
    }

    fn mean_entropy(&self) -> f64 {
        let entropies = &self.model.places.entropies;
        entropies.iter().sum::<f64>() / entropies.len() as f64
    }

    /// Returns a line for each node: `node`, its position on the map (`z1`, …), its image, `magnification`, `rows`. The
    /// image has a value for each column, in the column's unit.
    ///
    /// The magnification says how much the map is stretched at the node, in the unit of the fit. `rows` is the number
    /// of rows for which the node is the most likely one.
    fn nodes(&self, data: Data<'_>) -> Table<'static> {
        let (rows, map) = (data.rows(), &self.model.map);
        let axes = axes(map.latent());
        let at: Vec<Vec<f64>> = (0..map.len()).map(|k| map.node(k)).collect();
        let images: Vec<Vec<f64>> = at.iter().map(|place| rows.center(&map.at(place))).collect();
        let mut table = Table::new("nodes").counts("node", (0..map.len() as u64).collect());
        for (axis, name) in axes.iter().enumerate() {
            table = table.numbers(name.clone(), at.iter().map(|place| place[axis]).collect());
        }
        let ours: Vec<&str> =
            ["node"].into_iter().chain(axes.iter().map(String::as_str)).chain(["magnification", "rows"]).collect();
        for (column, name) in names::beside(&ours, rows.columns(), &[]).into_iter().enumerate() {
            table = table.numbers(name, images.iter().map(|image| image[column]).collect());
        }
        table
            .numbers("magnification", at.iter().map(|place| map.magnification(place)).collect())
            .counts("rows", rows_of_each(map, &self.model.places))
    }

    fn candidates(&self) -> Table<'static> {
        let begun = |start: gtm::Start| match start {
            gtm::Start::Annealed => "annealed",
            gtm::Start::Plane => "plane",
        };
        let tried = &self.model.candidates;
        let flags = |of: &dyn Fn(&Candidate) -> bool| tried.iter().map(|candidate| u64::from(of(candidate))).collect();
        Table::new("candidates")
            .texts("start", tried.iter().map(|candidate| begun(candidate.start).to_owned()).collect())
            .numbers("log_likelihood", tried.iter().map(|candidate| candidate.log_likelihood).collect())
            .numbers("order", tried.iter().map(|candidate| candidate.order).collect())
            .counts("sweeps", tried.iter().map(|candidate| candidate.sweeps).collect())
            .counts("converged", flags(&|candidate| candidate.is_converged))
            .counts("kept", flags(&|candidate| candidate.start == self.model.start))
    }

    fn history(&self) -> Table<'static> {
        let steps = &self.model.history;
        let of_steps = |of: fn(&Step) -> f64| steps.iter().map(of).collect();
        Table::new("history")
            .numbers("temperature", of_steps(|step| step.temperature))
            .numbers("objective", of_steps(|step| step.objective))
            .numbers("noise", of_steps(|step| step.noise))
            .numbers("softness", of_steps(|step| step.softness))
            .counts("sweeps", steps.iter().map(|step| step.sweeps).collect())
    }
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        Some(match name {
            "places" => places(data.rows().ids(), &self.model.places),
            "nodes" => self.nodes(data),
            "candidates" => self.candidates(),
            "history" => self.history(),
            _ => return None,
        })
    }

    fn figures(&self, data: Data<'_>) -> Vec<(&'static str, f64)> {
        let (model, rows) = (&self.model, data.rows());
        vec![
            ("log_likelihood", model.log_likelihood),
            ("log_likelihood_per_weight", model.log_likelihood / rows.total_weight()),
            ("noise", model.map.noise()),
            ("order", model.order),
            ("mean_entropy", self.mean_entropy()),
            ("critical_temperature", model.critical_temperature),
            ("nodes", model.map.len() as f64),
            ("functions", model.map.functions() as f64),
            ("missing_cells", rows.input().missing() as f64),
            ("annealed", f64::from(u8::from(model.start == gtm::Start::Annealed))),
            ("sweeps", model.sweeps as f64),
            ("converged", f64::from(u8::from(model.is_converged))),
        ]
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (model, rows) = (&self.model, data.rows());
        let outcome = Outcome {
            start: model.start,
            dimensions: model.map.latent(),
            nodes: model.map.len(),
            nodes_a_side: model.map.side(),
            functions: model.map.functions(),
            log_likelihood: model.log_likelihood,
            log_likelihood_per_weight: model.log_likelihood / rows.total_weight(),
            noise: model.map.noise(),
            order: model.order,
            mean_entropy: self.mean_entropy(),
            critical_temperature: model.critical_temperature,
            is_converged: model.is_converged,
            sweeps: model.sweeps,
        };
        let mut sections = Sections::default();
        sections
            .add("missing_cells", &rows.input().missing())
            .add("parameters", &self.parameters)
            // The unit of the noise, the magnification and the densities.
            .add("unit", rows.unit_name())
            .add("result", &outcome)
            // All initialisations that ran to their end.
            .add("candidates", &model.candidates)
            .add("temperatures", &model.history)
            .add("ascent", &model.ascent);
        sections
    }

    fn model(&self) -> Option<Learnt> {
        Some(Learnt::Gtm(self.model.map.clone()))
    }

    fn headline(&self, data: Data<'_>) -> String {
        let (model, rows) = (&self.model, data.rows());
        let candidate = |start: gtm::Start| model.candidates.iter().find(|candidate| candidate.start == start);
        let beginnings = match (candidate(gtm::Start::Annealed), candidate(gtm::Start::Plane)) {
            (Some(annealed), Some(plane)) => format!(
                "{}; log-likelihood {} annealed from a point (order {}), {} begun as the principal plane (order {})",
                if model.start == gtm::Start::Annealed {
                    "the annealed map was kept"
                } else {
                    "the map begun as a plane was kept"
                },
                significant(annealed.log_likelihood, 7),
                significant(annealed.order, 3),
                significant(plane.log_likelihood, 7),
                significant(plane.order, 3),
            ),
            _ => model.start.to_string(),
        };
        format!(
            "{} on a map of {} nodes; log-likelihood {} ({} a unit of weight), noise {} (a standard deviation)\n{beginnings}\n\
             order {} (1: laid out without folds); a row's posterior spreads over {} of the nodes on average\n\
             critical temperature {}, {} cooled through\n",
            counted(rows.len() as u64, "row"),
            self.side(),
            significant(model.log_likelihood, 7),
            significant(model.log_likelihood / rows.total_weight(), 6),
            significant(model.map.noise().sqrt(), 4),
            significant(model.order, 3),
            significant(libm::exp(self.mean_entropy()), 3),
            significant(model.critical_temperature, 5),
            counted(model.history.len() as u64, "temperature"),
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
