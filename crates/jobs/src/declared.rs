//! The methods that `lehr-methods` declares, as methods of services.
//!
//! A job's options are those of the declaration; of methods of rows also which columns are meant, and how they are scaled. Tables, figures and warnings are those
//! that the declaration gives to every front end. So a method that is declared there has a service without a line here.

use lehr_data::scale::Scale;
use lehr_methods::{Column, Data, Frame, Matrix, ModelFile, Rows, Takes, Task};
use lehr_mining::Error;
use lehr_services::{Fault, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::clustering::ColumnScale;
use crate::job::Job;
use crate::matrix::{ITEMS, MATRIX, Matrix as Read};
use crate::method::{AnyMethod, Facts, Failure, Inputs, Outputs};
use crate::options::{Options, OptionsSchema, refused};
use crate::table::{Columns, Table};
use crate::watch::Watch;

/// The name of the input of a method of rows.
const POINTS: &str = "points";

/// A declared method.
#[derive(Clone, Copy)]
pub(crate) struct Declared(pub &'static dyn lehr_methods::Method);

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

impl TableOptions {
    /// The options of a job: these and those of a method, side by side.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::declared::TableOptions;
    /// use lehr_jobs::jobs::Order;
    /// let table = TableOptions { columns: Some(vec!["x".into(), "y".into()]), ..TableOptions::default() };
    /// let options = table.with(&lehr_methods::mixture::Options { components: Some(3), ..Default::default() });
    /// let order = Order::new("rows", &options);
    /// # let _ = order;
    /// ```
    pub fn with<O: Serialize>(&self, method: &O) -> Options {
        Options::of(self).and(Options::of(method))
    }
}

/// Does what a job of a declared method does.
///
/// # Errors
/// As for [`Method::run`](crate::Method::run).
///
/// # Example
/// ```
/// use lehr_jobs::{Inputs, Job, Table, declared, jobs::Options};
/// // Two pairs: 1 apart within, 9 between.
/// let matrix = Table::builder().numbers("dissimilarity", vec![1.0, 9.0, 9.0, 9.0, 9.0, 1.0]).build()?;
/// let options = Options::of(&lehr_methods::kmedoids::Options { clusters: 2, ..Default::default() });
/// let inputs = Inputs::of([("matrix", matrix)]);
/// let found = declared::run(&lehr_methods::kmedoids::KMedoids, &Job::alone(), &inputs, &options)?;
/// assert_eq!((found.tables["labels"].counts("cluster").unwrap(), found.figures["cost"]), (&[0, 0, 1, 1][..], 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    method: &'static dyn lehr_methods::Method,
    job: &Job,
    inputs: &Inputs,
    options: &Options,
) -> Result<Outputs, Failure> {
    AnyMethod::run(&Declared(method), job, inputs, options)
}

impl Declared {
    /// The options of the table, if it takes one, and those of the method.
    fn divided(self, options: &Options) -> Result<(TableOptions, Map<String, Value>), Fault> {
        let given = options.to_value();
        let Value::Object(fields) = given else {
            return Err(refused(given.clone(), "expected an object", &|_| None));
        };
        if self.0.about().takes == Takes::Matrix {
            return Ok((TableOptions::default(), fields));
        }
        let of_table = |name: &String| ["columns", "weights", "id", "scale"].contains(&name.as_str());
        let (table, own): (Map<String, Value>, Map<String, Value>) =
            fields.into_iter().partition(|(name, _)| of_table(name));
        Ok((Options::from(Value::Object(table)).read()?, own))
    }

    /// Runs the method for a job, or goes on with it, and gives what its service gives.
    fn fitted(
        self,
        job: &Job,
        dataset: &str,
        data: Data<'_>,
        options: &Map<String, Value>,
    ) -> Result<Outputs, Failure> {
        let checkpoint = job.saved()?;
        if checkpoint.as_ref().is_some_and(|content| self.0.recorded(content).is_none()) {
            let reason = format!("the checkpoint of {} is not one of this version; run it anew", job.id());
            return Err(Failure::Internal(reason));
        }
        let execution = job.execution();
        let mut watch = Watch(job);
        let task = Task { data, checkpoint: checkpoint.as_deref(), execution: &execution, observer: &mut watch };
        let fit = self.0.run(task, options).map_err(|error| failure(dataset, error))?;
        let mut outputs = Outputs { warnings: fit.warnings().to_vec(), ..Outputs::new() };
        for name in self.0.about().outputs {
            let table = fit.table(name, data).expect("a method has the tables that it declares");
            outputs = outputs.table(*name, result(table)?);
        }
        if let (Some(model), Data::Rows(rows)) = (fit.model(), data) {
            let (columns, scale) = (rows.columns(), rows.shifts_and_divisors());
            outputs = outputs.model(&ModelFile::new(columns, scale, model))?;
        }
        let figures = fit.figures(data).into_iter().filter(|(_, value)| value.is_finite());
        Ok(figures.fold(outputs, |outputs, (name, value)| outputs.figure(name, value)))
    }
}

impl AnyMethod for Declared {
    fn facts(&self) -> Facts {
        let about = self.0.about();
        let (inputs, inputs_optional): (&[&str], &[&str]) = match about.takes {
            Takes::Rows(_) => (&[POINTS], &[]),
            Takes::Matrix => (&[MATRIX], &[ITEMS]),
        };
        let version = Version::new(about.version.0, about.version.1);
        Facts { name: about.contract, version, inputs, inputs_optional, outputs: about.outputs, spreads: true }
    }

    fn options_schema(&self) -> OptionsSchema {
        let mut schema = self.0.schema();
        if matches!(self.0.about().takes, Takes::Rows(_))
            && let Some(own) = schema["properties"].as_object_mut()
            && let Value::Object(table) = lehr_methods::options::schema_of::<TableOptions>()["properties"].clone()
        {
            own.extend(table);
        }
        if let Some(own) = schema.as_object_mut() {
            own.remove("$schema");
        }
        OptionsSchema::new(json!({ "$ref": "#/$defs/Options" }), Map::from_iter([("Options".to_owned(), schema)]))
    }

    fn complete(&self, options: &Options) -> Result<Options, Fault> {
        let (table, own) = self.divided(options)?;
        let text = self.0.complete(&own).map_err(|reason| {
            let read = |value: Value| self.0.complete(value.as_object()?).err();
            refused(Value::Object(own.clone()), &reason, &read)
        })?;
        let own: Options = serde_json::from_str(&text).expect("what a method has written is JSON");
        let has_table = matches!(self.0.about().takes, Takes::Rows(_));
        Ok(if has_table { Options::of(&table).and(own) } else { own })
    }

    fn check(&self, options: &Options) -> Result<Vec<String>, Fault> {
        self.complete(options)?;
        Ok(self.0.check(&self.divided(options)?.1))
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let (table, own) =
            self.divided(options).map_err(|fault| Failure::Internal(format!("{}: {}", job.id(), fault.reason())))?;
        match self.0.about().takes {
            Takes::Rows(_) => {
                let rows = rows_of(inputs, &table)?;
                let mut outputs = self.fitted(job, inputs.dataset(POINTS), Data::Rows(&rows), &own)?;
                outputs.warnings.splice(0..0, rows.warnings());
                Ok(outputs)
            }
            Takes::Matrix => {
                let Read { dissimilarities, ids, weights } = Read::of_inputs(inputs)?;
                let matrix = Matrix { dissimilarities, ids, weights };
                self.fitted(job, inputs.dataset(MATRIX), Data::Matrix(&matrix), &own)
            }
        }
    }
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
    let records = if let Some(ids) = ids { records.with_ids(ids)? } else { records };
    Ok(Rows::with_gaps(records, scale)?)
}

/// Why a method has no result, with the name of the data set that it is about.
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
