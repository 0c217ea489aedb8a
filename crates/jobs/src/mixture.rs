//! Mixtures of Gaussians as a method: the library's `mixture::fit` with the command's options, under the contract `lehr.mixture` 1.0.
//!
//! Tables: `labels` (id, component, probability, log_density) and `components` (component, weight, rows, the means, the standard deviations), both as `lehr mixture` writes them;
//! `covariances` (a row for each pair of columns of each component), `candidates` (a row for each number of components that was tried) and `history` (a row for each sweep of the fit).
//! In a data set that says it has gaps, of values that are missing a component says what the rest of the row does.

use lehr_data::Points;
use lehr_data::write::names;
use lehr_mining::mixture::{self, Candidate, Checkpoint, Model, Parameters};
use lehr_services::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clustering::ColumnScale;
use crate::job::Job;
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::scaled::{POINTS, Scaled};
use crate::table::{Columns, Table};
use crate::watch::Watch;

/// Mixtures of Gaussians, begun from annealed clusters, as a [`Method`].
///
/// # Example
/// ```
/// use lehr_jobs::{Inputs, Job, Method, Mixture, Table, mixture::Options};
/// let points = Table::builder().numbers("x", vec![0.0, 1.0, 2.0, 10.0, 12.0, 14.0]).build()?;
/// let options = Options { components: Some(2), ..Options::default() };
/// let found = Mixture.run(&Job::alone(), &Inputs::of([("points", points)]), &options)?;
/// let labels = found.tables["labels"].counts("component").unwrap();
/// assert!(labels[..3] == [labels[0]; 3] && labels[3..] == [labels[3]; 3] && labels[0] != labels[3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixture;

/// What [`Mixture`] is told. The default chooses the number of components by BIC.
///
/// # Example
/// ```
/// use lehr_jobs::mixture::{Covariance, Options};
/// let options: Options = serde_json::from_str(r#"{ "components": 3, "covariance": "tied" }"#).unwrap();
/// assert_eq!((options.components, options.covariance), (Some(3), Covariance::Tied));
/// assert!(serde_json::from_str::<Options>(r#"{ "clusters": 3 }"#).is_err());
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
    /// The number of components, at least 1. Default: the one with the least BIC.
    pub components: Option<usize>,
    /// The most components that are tried where `components` is not given. Default: 10.
    pub max_components: Option<usize>,
    /// What the covariances look like. Default: full.
    pub covariance: Covariance,
    /// Each row counts as a cloud whose variance along a column is this share of the column's, 0 to 0.1. Default: 1e-6.
    pub regularisation: f64,
    /// The end: the log-likelihood per unit of weight has no more than this still to gain, 1e-12 to 0.01. Default: 1e-8.
    pub tolerance: f64,
    /// Passes over the rows of one fit at most, at least 1. Default: 2000.
    pub max_sweeps: u64,
    /// Factor from one temperature to the next in the annealing that finds where components begin, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// Decides between equals in the annealing. Default: 0.
    pub seed: u64,
}

/// What the covariances of components look like.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::mixture::Covariance::Full).unwrap(), "\"full\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// A variance a component, the same in every direction.
    Spherical,
    /// A variance a component and column.
    Diagonal,
    /// One matrix for all components.
    Tied,
    /// A matrix a component.
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
    /// The options that say the same as parameters of the library, of all columns as they are.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::mixture::Options;
    /// assert_eq!(Options::of(&lehr_mining::mixture::Parameters::default()), Options::default());
    /// ```
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { components, max_components, covariance, regularisation, tolerance, max_sweeps, cooling, seed } =
            *parameters;
        Self {
            columns: None,
            weights: None,
            id: None,
            scale: ColumnScale::None,
            components,
            max_components,
            covariance: covariance.into(),
            regularisation,
            tolerance,
            max_sweeps,
            cooling,
            seed,
        }
    }

    /// The parameters of the library that say the same.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        let Self { components, max_components, regularisation, tolerance, max_sweeps, cooling, seed, .. } = *self;
        Parameters {
            components,
            max_components,
            covariance: self.covariance.into(),
            regularisation,
            tolerance,
            max_sweeps,
            cooling,
            seed,
        }
    }

    fn columns(&self) -> Columns {
        Columns { columns: self.columns.clone(), weights: self.weights.clone(), id: self.id.clone() }
    }
}

impl Method for Mixture {
    const NAME: &'static str = "lehr.mixture";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &[POINTS];
    const OUTPUTS: &'static [&'static str] = &["candidates", "components", "covariances", "history", "labels"];
    const SPREADS: bool = true;
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        let mut faults = Vec::new();
        if options.components.is_some() && options.max_components.is_some() {
            faults.push("max_components: expected without components".to_owned());
        }
        // What only the data can say (more components than rows) is said when they are there.
        let any = Parameters { components: options.components.map(|count| count.min(1)), ..options.parameters() };
        if let Ok(point) = Points::new(vec![0.0], 1)
            && let Err(error) = any.check(&point)
        {
            faults.push(error.to_string());
        }
        faults
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let scaled = Scaled::with_gaps(inputs, &options.columns(), options.scale)?;
        let mut watch = Watch(job);
        let execution = job.execution();
        let model = match job.saved_checkpoint::<Checkpoint>()? {
            None => mixture::fit(scaled.input(), &options.parameters(), &execution, &mut watch),
            Some(checkpoint) => mixture::resume(scaled.input(), checkpoint, &execution, &mut watch),
        };
        outputs(scaled, model)
    }
}

fn outputs(scaled: Scaled, model: Result<Model, lehr_mining::Error>) -> Result<Outputs, Failure> {
    let model = model.map_err(|error| scaled.failure(error))?;
    let mixture = &model.mixture;
    let (count, dimension) = (mixture.len(), mixture.dimension());
    let mut rows = vec![0u64; count];
    model.labels.iter().for_each(|&label| rows[label as usize] += 1);
    let labels = Table::builder()
        .texts("id", scaled.ids.clone())
        .counts("component", model.labels.iter().map(|&label| u64::from(label)).collect())
        .numbers("probability", model.probabilities.clone())
        .numbers("log_density", model.log_densities.clone())
        .id(Some("id".to_owned()));

    let means: Vec<Vec<f64>> = (0..count).map(|k| scaled.unscaled(mixture.mean(k))).collect();
    let matrices: Vec<Vec<f64>> = (0..count).map(|k| mixture.covariance(k)).collect();
    let covariance = |k: usize, i: usize, j: usize| matrices[k][i * dimension + j] * scaled.unit(i) * scaled.unit(j);
    let mut components = Table::builder()
        .counts("component", (0..count as u64).collect())
        .numbers("weight", mixture.weights().to_vec())
        .counts("rows", rows);
    let names = names::beside(&["component", "weight", "rows"], &scaled.columns, &["sd_"]);
    for (column, name) in names.iter().enumerate() {
        components = components.numbers(name.clone(), means.iter().map(|mean| mean[column]).collect());
    }
    for (column, name) in names.iter().enumerate() {
        let deviations = (0..count).map(|k| covariance(k, column, column).sqrt()).collect();
        components = components.numbers(format!("sd_{name}"), deviations);
    }

    // Half of each matrix says all.
    let pairs: Vec<(usize, usize, usize)> =
        (0..count).flat_map(|k| (0..dimension).flat_map(move |i| (i..dimension).map(move |j| (k, i, j)))).collect();
    let covariances = Table::builder()
        .counts("component", pairs.iter().map(|&(k, ..)| k as u64).collect())
        .texts("column", pairs.iter().map(|&(_, i, _)| scaled.columns[i].clone()).collect())
        .texts("with", pairs.iter().map(|&(.., j)| scaled.columns[j].clone()).collect())
        .numbers("covariance", pairs.iter().map(|&(k, i, j)| covariance(k, i, j)).collect());

    let tried = &model.candidates;
    let counts = |of: fn(&Candidate) -> u64| tried.iter().map(of).collect();
    let numbers = |of: fn(&Candidate) -> f64| tried.iter().map(of).collect();
    let through = |candidate: &Candidate| candidate.through.map_or("", mixture::Covariance::name).to_owned();
    let candidates = Table::builder()
        .counts("asked", counts(|candidate| candidate.asked as u64))
        .counts("components", counts(|candidate| candidate.components as u64))
        .texts("through", tried.iter().map(through).collect())
        .numbers("log_likelihood", numbers(|candidate| candidate.criteria.log_likelihood))
        .counts("free_parameters", counts(|candidate| candidate.criteria.free_parameters as u64))
        .numbers("bic", numbers(|candidate| candidate.criteria.bic))
        .numbers("aic", numbers(|candidate| candidate.criteria.aic))
        .numbers("icl", numbers(|candidate| candidate.criteria.icl))
        .counts("converged", counts(|candidate| u64::from(candidate.is_converged)));
    let history = Table::builder()
        .counts("sweep", (0..model.ascent.len() as u64).collect())
        .numbers("log_likelihood_per_weight", model.ascent.clone());

    let criteria = &model.criteria;
    let figures = [
        ("components", count as f64),
        ("log_likelihood", criteria.log_likelihood),
        ("log_likelihood_per_weight", criteria.log_likelihood / scaled.total_weight),
        ("free_parameters", criteria.free_parameters as f64),
        ("bic", criteria.bic),
        ("aic", criteria.aic),
        ("icl", criteria.icl),
        ("missing_cells", scaled.input().missing() as f64),
        ("sweeps", model.sweeps as f64),
        ("converged", f64::from(u8::from(model.is_converged))),
    ];
    let mut outputs = Outputs::new()
        .table("labels", labels.build()?)
        .table("components", components.build()?)
        .table("covariances", covariances.build()?)
        .table("candidates", candidates.build()?)
        .table("history", history.build()?);
    for (name, value) in figures {
        outputs = outputs.figure(name, value);
    }
    outputs.warnings = scaled.warnings.into_iter().chain(model.warnings).collect();
    Ok(outputs)
}
