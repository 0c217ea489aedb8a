//! Mixtures of Gaussians, for every front end.

use std::any::Any;
use std::cmp::Ordering;

use lehr_data::write::names;
use lehr_mining::Error;
use lehr_mining::mixture::{self, Candidate, Criteria, Mixture as Found, Model, Parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clusters::more_columns;
use crate::data::{Data, Missing, NotOnSphere, RowsWords, Takes};
use crate::method::{About, Declared, Fit, Spent, Task, Temperature};
use crate::model::Learnt;
use crate::numbers::{aligned, column, counted, grouped, share, significant};
use crate::rows::Rows;
use crate::sections::{Named, Sections};
use crate::table::Table;

/// The maximum numbers of components and columns that are displayed; `components.csv` has all of them.
const SHOWN_ROWS: usize = 40;
const SHOWN_COLUMNS: usize = 6;

/// Mixtures of Gaussians.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixture;

/// The options of [`Mixture`]. The default chooses the number of components by BIC.
///
/// # Example
/// ```
/// use lehr_methods::mixture::{Covariance, Options};
/// let options: Options = serde_json::from_str(r#"{ "components": 3, "covariance": "tied" }"#).unwrap();
/// assert_eq!((options.components, options.covariance), (Some(3), Covariance::Tied));
/// assert!(serde_json::from_str::<Options>(r#"{ "clusters": 3 }"#).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Fit this many components
    #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-python" = "n_components", "x-default" = "the number with the least BIC"))]
    pub components: Option<usize>,
    /// Try at most this many components where their number is not given
    #[schemars(range(min = 1), extend("x-value" = "N", "x-default" = "10", "x-advanced" = true))]
    pub max_components: Option<usize>,
    /// Give components covariances of this form
    #[schemars(extend("x-python" = "covariance_type"))]
    pub covariance: Covariance,
    /// Add this share of each column's variance to the variances of components
    #[schemars(range(min = 0.0, max = 0.1), extend("x-value" = "SHARE", "x-formerly" = { "regularisation": {} }, "x-advanced" = true))]
    pub regularization: f64,
    /// Stop when the log-likelihood per unit of weight can gain no more than this
    #[schemars(range(min = 1e-12, max = 1e-2), extend("x-value" = "GAIN", "x-python" = "tol", "x-advanced" = true))]
    pub tolerance: f64,
    /// End a fit after this many iterations
    #[schemars(range(min = 1), extend("x-value" = "N", "x-python" = "max_iter", "x-formerly" = { "max_sweeps": {} }, "x-advanced" = true))]
    pub max_iterations: u64,
    /// Multiply the temperature by this factor at each step of the annealing that initialises components
    #[schemars(range(min = 0.5, max = 0.999), extend("x-value" = "FACTOR", "x-advanced" = true))]
    pub cooling: f64,
    /// Random seed; breaks ties
    #[schemars(extend("x-value" = "SEED", "x-python" = "random_state"))]
    pub seed: u64,
}

/// The form of the components' covariances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// A variance for each component, the same in every direction.
    Spherical,
    /// A variance for each component and column.
    Diagonal,
    /// One matrix for all components.
    Tied,
    /// A matrix for each component.
    #[default]
    Full,
}

impl From<mixture::Covariance> for Covariance {
    fn from(covariance: mixture::Covariance) -> Self {
        match covariance {
            mixture::Covariance::Spherical => Self::Spherical,
            mixture::Covariance::Diagonal => Self::Diagonal,
            mixture::Covariance::Tied => Self::Tied,
            mixture::Covariance::Full => Self::Full,
        }
    }
}

impl From<Covariance> for mixture::Covariance {
    fn from(covariance: Covariance) -> Self {
        match covariance {
            Covariance::Spherical => Self::Spherical,
            Covariance::Diagonal => Self::Diagonal,
            Covariance::Tied => Self::Tied,
            Covariance::Full => Self::Full,
        }
    }
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
    /// use lehr_methods::mixture::Options;
    /// assert_eq!(Options::of(&lehr_mining::mixture::Parameters::default()), Options::default());
    /// ```
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { components, max_components, covariance, regularisation, tolerance, max_sweeps, cooling, seed } =
            *parameters;
        Self {
            components,
            max_components,
            covariance: covariance.into(),
            regularization: regularisation,
            tolerance,
            max_iterations: max_sweeps,
            cooling,
            seed,
        }
    }

    /// Returns the corresponding parameters of the library.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        let Self { components, max_components, covariance, regularization, tolerance, max_iterations, cooling, seed } =
            *self;
        Parameters {
            components,
            max_components,
            covariance: covariance.into(),
            regularisation: regularization,
            tolerance,
            max_sweeps: max_iterations,
            cooling,
            seed,
        }
    }
}

impl Declared for Mixture {
    const ABOUT: About = About {
        name: "mixture",
        contract: "lehr.mixture",
        version: (1, 0),
        takes: Takes::Rows(RowsWords {
            columns_taken: "a mixture over",
            takes_bits_and_sparse: false,
            sets_aside: false,
            missing: Some(Missing { becomes: "of which a component says what the rest of the row does", done: "fitted" }),
            not_on_sphere: Some(NotOnSphere {
                why: "a mixture of Gaussians is one of columns, not of positions on a sphere",
                instead: "project the positions first (km east and north), or use lehr cluster",
            }),
        }),
        line: "Fit a mixture of Gaussians to the rows of a table",
        paragraph: "Annealed clustering initialises the components, then EM maximises the likelihood: there are no initialisations to choose and no restarts. Without a number of components, \
                    Lehr takes the one with the least BIC, and shows all that it tried.",
        heading: "The mixture",
        examples: "  lehr mixture flowers.csv --components 3
      three components with covariances; open lehr-mixture/report.html

  lehr mixture customers.csv --auto
      prepare an ordinary table, and choose the number of components by BIC

  lehr mixture measurements.csv --scale std --covariance tied --json | jq '.candidates[] | {components, bic: .criteria.bic}'
      BIC of 1 to 10 components",
        result: "mixture",
        folder: "lehr-mixture",
        files: &["labels.csv", "components.csv", "model.json", "report.html", "summary.json"],
        untold: &[],
        outputs: &["candidates", "components", "covariances", "history", "labels"],
        summary_names: &["gaussian mixture"],
    };

    type Options = Options;
    type Parameters = Parameters;

    fn options_of(parameters: &Parameters) -> Options {
        Options::of(parameters)
    }

    fn check(options: &Options) -> Vec<String> {
        if options.components.is_some() && options.max_components.is_some() {
            return vec!["max_components: expected without components".to_owned()];
        }
        Vec::new()
    }

    fn temperature(_: &Options) -> Temperature {
        Temperature::Squared { is_length_told: false }
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let input = task.data.rows().input();
        let (parameters, model) = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| mixture::fit(input, parameters, execution, observer),
            |checkpoint, execution, observer| mixture::resume(input, checkpoint, execution, observer),
        )?;
        Ok(Box::new(Fitted { parameters, model }))
    }
}

/// A fitted mixture.
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
    components: usize,
    #[serde(flatten)]
    criteria: Criteria,
    log_likelihood_per_weight: f64,
    is_converged: bool,
    sweeps: u64,
}

/// The facts about a component for `summary.json`.
#[derive(Serialize)]
struct ComponentFacts<'a> {
    component: usize,
    /// The share of the component in the mixture.
    weight: f64,
    /// The number of rows for which it is the most likely component.
    rows: u64,
    mean: Named<'a>,
    /// The standard deviation of the component along each column.
    deviations: Named<'a>,
}

/// Returns the standard deviations of component `k` along each column, in the columns' units.
pub fn deviations(rows: &Rows, mixture: &Found, k: usize) -> Vec<f64> {
    let (dimension, covariance) = (mixture.dimension(), mixture.covariance(k));
    let deviation: Vec<f64> = (0..dimension).map(|j| covariance[j * dimension + j].sqrt()).collect();
    if !rows.is_scaled() {
        return deviation;
    }
    let ends: Vec<f64> = mixture.mean(k).iter().zip(&deviation).map(|(mean, deviation)| mean + deviation).collect();
    rows.center(&ends).iter().zip(rows.center(mixture.mean(k))).map(|(end, mean)| (end - mean).abs()).collect()
}

/// Returns the number of rows in each component.
pub fn rows_of_each(model: &Model) -> Vec<u64> {
    let mut rows = vec![0; model.mixture.len()];
    model.labels.iter().for_each(|&label| rows[label as usize] += 1);
    rows
}

/// Returns a line for each row: `id`, `component`, `probability`, `log_density`. If memberships are given, the
/// memberships in all components follow (`membership0`, …).
///
/// The probability is the membership in the named component. The log-density is the log-density of the mixture at the
/// row, in the unit of the fit.
pub fn labels<'a>(
    ids: Option<&'a [String]>,
    labels: &'a [u32],
    probabilities: &[f64],
    log_densities: &[f64],
    memberships: &[f64],
) -> Table<'a> {
    let table = Table::new("labels")
        .ids(ids, labels.len())
        .labels("component", labels, false)
        .numbers("probability", probabilities.to_vec())
        .numbers("log_density", log_densities.to_vec());
    let count = memberships.len() / labels.len().max(1);
    (0..count).fold(table, |table, k| {
        let of_component = memberships.iter().skip(k).step_by(count);
        table.numbers(format!("membership{k}"), of_component.copied().collect())
    })
}

impl Fitted {
    /// Returns a line for each component, by decreasing weight. It has `component`, `weight`, `rows`, then the mean and
    /// the standard deviation (`sd_COLUMN`) of each column, in the unit of the column.
    fn components(&self, rows: &Rows) -> Table<'static> {
        let mixture = &self.model.mixture;
        let ours = ["component", "weight", "rows"];
        let names = names::beside(&ours, rows.columns(), &["sd_"]);
        let means: Vec<Vec<f64>> = (0..mixture.len()).map(|k| rows.center(mixture.mean(k))).collect();
        let deviations: Vec<Vec<f64>> = (0..mixture.len()).map(|k| deviations(rows, mixture, k)).collect();
        let mut table = Table::new("components")
            .counts("component", (0..mixture.len() as u64).collect())
            .numbers("weight", mixture.weights().to_vec())
            .counts("rows", rows_of_each(&self.model));
        for (column, name) in names.iter().enumerate() {
            table = table.numbers(name.clone(), means.iter().map(|mean| mean[column]).collect());
        }
        for (column, name) in names.iter().enumerate() {
            table = table.numbers(format!("sd_{name}"), deviations.iter().map(|deviation| deviation[column]).collect());
        }
        table
    }

    /// Returns the lower triangle of each component's covariance matrix, because the matrix is symmetric.
    fn covariances(&self, rows: &Rows) -> Table<'static> {
        let mixture = &self.model.mixture;
        let (count, dimension) = (mixture.len(), mixture.dimension());
        let matrices: Vec<Vec<f64>> = (0..count).map(|k| mixture.covariance(k)).collect();
        let covariance =
            |k: usize, i: usize, j: usize| matrices[k][i * dimension + j] * rows.divisor(i) * rows.divisor(j);
        let pairs: Vec<(usize, usize, usize)> =
            (0..count).flat_map(|k| (0..dimension).flat_map(move |i| (i..dimension).map(move |j| (k, i, j)))).collect();
        Table::new("covariances")
            .counts("component", pairs.iter().map(|&(k, ..)| k as u64).collect())
            .texts("column", pairs.iter().map(|&(_, i, _)| rows.columns()[i].clone()).collect())
            .texts("with", pairs.iter().map(|&(.., j)| rows.columns()[j].clone()).collect())
            .numbers("covariance", pairs.iter().map(|&(k, i, j)| covariance(k, i, j)).collect())
    }

    fn candidates(&self) -> Table<'static> {
        let tried = &self.model.candidates;
        let counts = |of: fn(&Candidate) -> u64| tried.iter().map(of).collect();
        let numbers = |of: fn(&Candidate) -> f64| tried.iter().map(of).collect();
        let through = |candidate: &Candidate| candidate.through.map_or("", mixture::Covariance::name).to_owned();
        Table::new("candidates")
            .counts("asked", counts(|candidate| candidate.asked as u64))
            .counts("components", counts(|candidate| candidate.components as u64))
            .texts("through", tried.iter().map(through).collect())
            .numbers("log_likelihood", numbers(|candidate| candidate.criteria.log_likelihood))
            .counts("free_parameters", counts(|candidate| candidate.criteria.free_parameters as u64))
            .numbers("bic", numbers(|candidate| candidate.criteria.bic))
            .numbers("aic", numbers(|candidate| candidate.criteria.aic))
            .numbers("icl", numbers(|candidate| candidate.criteria.icl))
            .counts("converged", counts(|candidate| u64::from(candidate.is_converged)))
    }

    /// Returns the components as columns of text that can be displayed.
    fn shown(&self, rows: &Rows) -> String {
        let mixture = &self.model.mixture;
        let shown = mixture.len().min(SHOWN_ROWS);
        let counts = rows_of_each(&self.model);
        let means: Vec<Vec<f64>> = (0..shown).map(|k| rows.center(mixture.mean(k))).collect();
        let mut columns = vec![
            ("component", (0..shown).map(|k| k.to_string()).collect()),
            ("rows", counts[..shown].iter().map(|&rows| grouped(rows)).collect()),
            ("weight", mixture.weights()[..shown].iter().map(|&weight| share(weight, 1.0)).collect()),
        ];
        for (j, name) in rows.columns().iter().enumerate().take(SHOWN_COLUMNS) {
            let values: Vec<f64> = means.iter().map(|mean| mean[j]).collect();
            columns.push((name, column(&values, 5)));
        }
        let mut text = aligned(&columns);
        let mut left = Vec::new();
        if mixture.len() > shown {
            left.push(counted((mixture.len() - shown) as u64, "more component"));
        }
        if rows.columns().len() > SHOWN_COLUMNS {
            left.push(more_columns(&rows.columns()[SHOWN_COLUMNS..]));
        }
        if !left.is_empty() {
            text.push_str(&format!("{} in components.csv\n", left.join(" and ")));
        }
        text
    }
}

/// Returns a line with the numbers of groups and of components.
fn of_groups(groups: usize, components: usize) -> String {
    let valleys = match groups {
        1 => "the rows are one group, without a valley in its density".to_owned(),
        _ => format!("the rows have {groups} groups with a valley in the density between every two neighbours"),
    };
    match components.cmp(&groups) {
        Ordering::Greater => {
            format!("{valleys}: other components describe the form of a group, or groups that overlap\n")
        }
        Ordering::Equal => format!("{valleys}, as many as components\n"),
        Ordering::Less => format!("{valleys}, more than components\n"),
    }
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let (model, rows) = (&self.model, data.rows());
        Some(match name {
            "labels" => labels(rows.ids(), &model.labels, &model.probabilities, &model.log_densities, &[]),
            "components" => self.components(rows),
            "covariances" => self.covariances(rows),
            "candidates" => self.candidates(),
            "history" => Table::new("history")
                .counts("sweep", (0..model.ascent.len() as u64).collect())
                .numbers("log_likelihood_per_weight", model.ascent.clone()),
            _ => return None,
        })
    }

    fn figures(&self, data: Data<'_>) -> Vec<(&'static str, f64)> {
        let (model, rows) = (&self.model, data.rows());
        let criteria = &model.criteria;
        vec![
            ("components", model.mixture.len() as f64),
            ("log_likelihood", criteria.log_likelihood),
            ("log_likelihood_per_weight", criteria.log_likelihood / rows.total_weight()),
            ("free_parameters", criteria.free_parameters as f64),
            ("bic", criteria.bic),
            ("aic", criteria.aic),
            ("icl", criteria.icl),
            ("missing_cells", rows.input().missing() as f64),
            ("sweeps", model.sweeps as f64),
            ("converged", f64::from(u8::from(model.is_converged))),
        ]
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (model, rows) = (&self.model, data.rows());
        let (mixture, counts, columns) = (&model.mixture, rows_of_each(model), rows.columns());
        let component = |k: usize| ComponentFacts {
            component: k,
            weight: mixture.weights()[k],
            rows: counts[k],
            mean: Named { names: columns, values: rows.center(mixture.mean(k)), leaves_zeros_out: false },
            deviations: Named { names: columns, values: deviations(rows, mixture, k), leaves_zeros_out: false },
        };
        let outcome = Outcome {
            components: mixture.len(),
            criteria: model.criteria,
            log_likelihood_per_weight: model.criteria.log_likelihood / rows.total_weight(),
            is_converged: model.is_converged,
            sweeps: model.sweeps,
        };
        let mut sections = Sections::default();
        sections
            .add("missing_cells", &rows.input().missing())
            .add("parameters", &self.parameters)
            // The unit of the covariances and the densities.
            .add("unit", rows.unit_name())
            .add("result", &outcome)
            .add("components", &(0..mixture.len()).map(component).collect::<Vec<_>>())
            // The mixture in the scale of the fit: in scaled columns if they were scaled. Covariances are one variance
            // for each component (spherical), one for each column (diagonal), or lower triangles row by row: one
            // triangle for all components (tied), or one for each (full).
            .add("mixture", mixture)
            .add("candidates", &model.candidates)
            .add("ascent", &model.ascent);
        if let Some(groups) = &model.groups {
            sections.add("groups", groups);
        }
        sections
    }

    fn model(&self) -> Option<Learnt> {
        Some(Learnt::Mixture(self.model.mixture.clone()))
    }

    fn headline(&self, data: Data<'_>) -> String {
        let (model, rows) = (&self.model, data.rows());
        let criteria = &model.criteria;
        let mut text = format!(
            "{} in {} ({}); log-likelihood {}, BIC {}, AIC {}\n",
            counted(rows.len() as u64, "row"),
            counted(model.mixture.len() as u64, "component"),
            self.parameters.covariance,
            significant(criteria.log_likelihood, 7),
            significant(criteria.bic, 7),
            significant(criteria.aic, 7)
        );
        if self.parameters.components.is_none() {
            let tried: Vec<String> = model
                .candidates
                .iter()
                .map(|candidate| format!("{}: {}", candidate.components, significant(candidate.criteria.bic, 7)))
                .collect();
            text.push_str(&format!("BIC by number of components, the lowest is best: {}\n", tried.join(", ")));
        }
        text.extend(model.groups.as_ref().map(|groups| of_groups(groups.clusters, model.mixture.len())));
        format!("{text}\n{}", self.shown(rows))
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
