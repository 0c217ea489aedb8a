//! The methods that `lehr-methods` declares, as services.
//!
//! A job's options are those of the declaration, beside which columns are meant and how they are scaled. Tables, figures and warnings are those that the declaration
//! gives to every front end.

use std::borrow::Cow;
use std::fmt;

use lehr_data::scale::Scale;
use lehr_methods::{Column, Data, Declared, Frame, Matrix, Method as _, Rows, Task};
use lehr_mining::Error;
use lehr_services::{Fault, Version};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::clustering::ColumnScale;
use crate::job::Job;
use crate::matrix::{ITEMS, MATRIX};
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::table::{Columns, Table};
use crate::watch::Watch;

/// The name of the input.
const POINTS: &str = "points";

/// A declared method of rows as a [`Method`] of services.
///
/// # Example
/// ```
/// use lehr_jobs::{Gtm, Inputs, Job, Method, Table, declared::Options};
/// // Rows along a bend, in order along a map of one dimension.
/// let along: Vec<f64> = (0..60).map(f64::from).collect();
/// let height = along.iter().map(|x| (x - 30.0) * (x - 30.0) / 50.0).collect();
/// let points = Table::builder().numbers("x", along).numbers("y", height).build()?;
/// let options = Options::of(lehr_methods::gtm::Options { dimensions: 1, ..Default::default() });
/// let found = Gtm::default().run(&Job::alone(), &Inputs::of([("points", points)]), &options)?;
/// let z = found.tables["places"].numbers("z1").unwrap();
/// assert!((z[0] - z[59]).abs() > 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OfRows<M>(M);

/// Generative topographic mapping.
pub type Gtm = OfRows<lehr_methods::gtm::Gtm>;

/// Mixtures of Gaussians.
pub type Mixture = OfRows<lehr_methods::mixture::Mixture>;

/// Which columns of a data set are the rows, and how they are scaled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TableOptions {
    /// The columns of the points. Default: all of numbers, except weights and ids.
    pub columns: Option<Vec<String>>,
    /// The column of weights, of a data set without gaps. Default: the one that the data set says, or none.
    pub weights: Option<String>,
    /// The column of ids. Default: the one that the data set says, or the number of the row.
    pub id: Option<String>,
    /// How columns are scaled. Default: not.
    pub scale: ColumnScale,
}

/// The options of a job: those of the table and those of the method, side by side in one object.
///
/// # Example
/// ```
/// use lehr_jobs::declared::Options;
/// use lehr_methods::mixture::{Covariance, Mixture};
/// let options: Options<Mixture> = serde_json::from_str(r#"{ "components": 3, "scale": "std" }"#).unwrap();
/// assert_eq!((options.method.components, options.method.covariance), (Some(3), Covariance::Full));
/// assert!(serde_json::from_str::<Options<Mixture>>(r#"{ "clusters": 3 }"#).is_err());
/// ```
#[derive(Serialize)]
#[serde(bound = "")]
pub struct Options<M: Declared> {
    /// Which columns are meant.
    #[serde(flatten)]
    pub table: TableOptions,
    /// What the method is told.
    #[serde(flatten)]
    pub method: M::Options,
}

impl<M: Declared> Options<M> {
    /// Options of a method over all columns of a table as they are.
    pub fn of(method: M::Options) -> Self {
        Self { table: TableOptions::default(), method }
    }
}

impl<M: Declared> Clone for Options<M> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), method: self.method.clone() }
    }
}

impl<M: Declared> Default for Options<M> {
    fn default() -> Self {
        Self::of(M::Options::default())
    }
}

impl<M: Declared> fmt::Debug for Options<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("table", &self.table).finish_non_exhaustive()
    }
}

/// What `serde` reads of a struct that is flattened may have any members; so the object is divided by what the table declares.
impl<'de, M: Declared> Deserialize<'de> for Options<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Map::<String, Value>::deserialize(deserializer)?;
        let of_table = |name: &String| ["columns", "weights", "id", "scale"].contains(&name.as_str());
        let (table, method): (Map<String, Value>, Map<String, Value>) =
            given.into_iter().partition(|(name, _)| of_table(name));
        let table = serde_json::from_value(Value::Object(table)).map_err(serde::de::Error::custom)?;
        let method = serde_json::from_value(Value::Object(method)).map_err(serde::de::Error::custom)?;
        Ok(Self { table, method })
    }
}

impl<M: Declared> JsonSchema for Options<M> {
    fn schema_name() -> Cow<'static, str> {
        "Options".into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("lehr_jobs::declared::Options<{}>", M::ABOUT.name).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = M::Options::json_schema(generator);
        let table = TableOptions::json_schema(generator);
        if let (Some(Value::Object(own)), Some(Value::Object(others))) =
            (schema.as_object_mut().and_then(|schema| schema.get_mut("properties")), table.get("properties"))
        {
            own.extend(others.clone());
        }
        schema
    }
}

impl<M: Declared + fmt::Debug> Method for OfRows<M> {
    const NAME: &'static str = M::ABOUT.contract;
    const VERSION: Version = Version::new(M::ABOUT.version.0, M::ABOUT.version.1);
    const INPUTS: &'static [&'static str] = &[POINTS];
    const OUTPUTS: &'static [&'static str] = M::ABOUT.outputs;
    const SPREADS: bool = true;
    type Options = Options<M>;

    fn check(options: &Options<M>) -> Vec<String> {
        faults::<M>(&options.method)
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options<M>) -> Result<Outputs, Failure> {
        let rows = rows_of(inputs, &options.table)?;
        let mut outputs = fitted::<M>(job, inputs.dataset(POINTS), Data::Rows(&rows), &options.method)?;
        outputs.warnings.splice(0..0, rows.warnings());
        Ok(outputs)
    }
}

/// A declared method of dissimilarities as a [`Method`] of services.
///
/// # Example
/// ```
/// use lehr_jobs::{Inputs, Job, KMedoids, Method, Table};
/// use lehr_methods::kmedoids::Options;
/// // Two pairs: 1 apart within, 9 between.
/// let matrix = Table::builder().numbers("dissimilarity", vec![1.0, 9.0, 9.0, 9.0, 9.0, 1.0]).build()?;
/// let options = Options { clusters: 2, ..Options::default() };
/// let found = KMedoids::default().run(&Job::alone(), &Inputs::of([("matrix", matrix)]), &options)?;
/// assert_eq!((found.tables["labels"].counts("cluster").unwrap(), found.figures["cost"]), (&[0, 0, 1, 1][..], 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OfMatrix<M>(M);

/// k-medoids.
pub type KMedoids = OfMatrix<lehr_methods::kmedoids::KMedoids>;

impl<M: Declared + fmt::Debug> Method for OfMatrix<M> {
    const NAME: &'static str = M::ABOUT.contract;
    const VERSION: Version = Version::new(M::ABOUT.version.0, M::ABOUT.version.1);
    const INPUTS: &'static [&'static str] = &[MATRIX];
    const INPUTS_OPTIONAL: &'static [&'static str] = &[ITEMS];
    const OUTPUTS: &'static [&'static str] = M::ABOUT.outputs;
    const SPREADS: bool = true;
    type Options = M::Options;

    fn check(options: &M::Options) -> Vec<String> {
        faults::<M>(options)
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &M::Options) -> Result<Outputs, Failure> {
        let crate::matrix::Matrix { dissimilarities, ids, weights } = crate::matrix::Matrix::of_inputs(inputs)?;
        let matrix = Matrix { dissimilarities, ids, weights };
        fitted::<M>(job, inputs.dataset(MATRIX), Data::Matrix(&matrix), options)
    }
}

/// Everything that can be said against options before there are data.
fn faults<M: Declared>(options: &M::Options) -> Vec<String> {
    match serde_json::to_value(options) {
        Ok(Value::Object(options)) => M::default().check(&options),
        _ => Vec::new(),
    }
}

/// Runs a method for a job, or goes on with it, and gives what its service gives.
fn fitted<M: Declared>(job: &Job, dataset: &str, data: Data<'_>, options: &M::Options) -> Result<Outputs, Failure> {
    let checkpoint = job.saved()?;
    if let Some(content) = &checkpoint
        && let Err(error) = M::recorded(content)
    {
        let reason = format!("the checkpoint of {} is not one of this version ({error}); run it anew", job.id());
        return Err(Failure::Internal(reason));
    }
    let execution = job.execution();
    let mut watch = Watch(job);
    let task = Task { data, checkpoint: checkpoint.as_deref(), execution: &execution, observer: &mut watch };
    let fit = M::run(task, options).map_err(|error| failure(dataset, error))?;
    let mut outputs = Outputs { warnings: fit.warnings().to_vec(), ..Outputs::new() };
    for name in M::ABOUT.outputs {
        let table = fit.table(name, data).expect("a method has the tables that it declares");
        outputs = outputs.table(*name, result(table)?);
    }
    let figures = fit.figures(data).into_iter().filter(|(_, value)| value.is_finite());
    Ok(figures.fold(outputs, |outputs, (name, value)| outputs.figure(name, value)))
}

/// The rows of the input, with missing values where the data set says that there may be some.
///
/// # Errors
/// [`Failure::Input`] for columns that are not there, and for values that cannot be meant, with their places; weights are for rows without gaps.
fn rows_of(inputs: &Inputs, options: &TableOptions) -> Result<Rows, Failure> {
    let table = inputs.table(POINTS)?;
    let name = inputs.dataset(POINTS);
    let TableOptions { columns, weights, id, scale } = options.clone();
    let columns = Columns { columns, weights, id };
    let scale = match scale {
        ColumnScale::None => Scale::None,
        ColumnScale::Std => Scale::Std,
        ColumnScale::Robust => Scale::Robust,
    };
    if !table.has_gaps() {
        return Ok(Rows::new(table.points(name, &columns)?, Frame::Columns(scale))?);
    }
    if let Some(weights) = columns.weights.as_deref().or(table.weights()) {
        let reason = format!("{name}: weights: expected none of a data set with gaps, found {weights:?}");
        return Err(Failure::Input(reason));
    }
    let ids = columns.id.as_deref().or(table.id()).and_then(|id| table.texts(id));
    let records = table.records(name, &columns)?;
    Ok(Rows::with_gaps(
        match ids {
            Some(ids) => records.with_ids(ids)?,
            None => records,
        },
        scale,
    )?)
}

/// Why a method has no result, with the name of the data set whose rows it is about.
fn failure(dataset: &str, error: Error) -> Failure {
    match error {
        // It names the data itself.
        Error::Data(error) => error.into(),
        error => match Failure::from(error) {
            Failure::Input(reason) => Failure::Input(format!("{dataset}: {reason}")),
            failure => failure,
        },
    }
}

/// A table of results as services have it.
fn result(table: lehr_methods::Table<'_>) -> Result<Table, Fault> {
    let mut builder = Table::builder();
    for (name, column) in table.columns {
        builder = match column {
            Column::Ids { given, rows } => {
                let ids = given.map_or_else(|| (0..rows).map(|row| row.to_string()).collect(), <[String]>::to_vec);
                builder.texts(name.clone(), ids).id(Some(name))
            }
            Column::Numbers(values) => builder.numbers(name, values),
            Column::Counts(values) => builder.counts(name, values),
            Column::Texts(values) => builder.texts(name, values),
        };
    }
    builder.build()
}
