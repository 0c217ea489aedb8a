//! Turns the methods that `lehr-methods` declares into methods of services.
//!
//! The options of a job are the options that the method declares. A method on rows also has options for the columns and
//! their scaling. Tables, figures and warnings are the same in all front ends, because the declaration defines them. So
//! a declared method becomes a service without further code.

use std::collections::BTreeMap;

use lehr_data::Points;
use lehr_data::preparation::{self, Missing, Wishes};
use lehr_data::read::TableForm;
use lehr_data::scale::Scale;
use lehr_methods::prepared::{Described, Keys};
use lehr_methods::{Column, Data, Fit, Frame, Rows, RowsWords, Stream, Takes, Task, UNLABELLED, shown_label};
use lehr_mining::{Error, Execution};
use lehr_ranks::Layout;
use lehr_services::{Fault, Version};
use lehr_sync::{Arc, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::job::Job;
use crate::matrix::{ITEMS, LABELS, MATRIX, of_inputs};
use crate::method::{AnyMethod, Facts, Failure, Inputs, Outputs};
use crate::options::{Options, OptionsSchema, refused};
use crate::table::{Columns, Table};
use crate::watch::Watch;

/// The name of the input of a method on rows.
const POINTS: &str = "points";

/// A declared method.
pub(crate) struct Declared {
    method: &'static dyn lehr_methods::Method,
    /// The store for full results, which have more than the output tables; `None` if only the tables are needed.
    fits: Option<Fits>,
}

/// Full results of jobs in this process, by job id, for callers that need more than the tables. The results are kept
/// until this value, its clones and the service are dropped. Removing a job does not free its result.
///
/// # Example
/// ```
/// use lehr_jobs::{Fits, Handle, Setup, Table, datasets::Put, jobs::{Order, Run, Wait, WaitFor}};
/// use lehr_methods::cluster::{Cluster, Fitted, Options};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let datasets = Setup::default().start_datasets(&host, "/datasets").await?;
/// let fits = Fits::default();
/// let clustering = Setup::default().start_keeping(&host, "/clustering", &Cluster, &fits).await?;
/// let table = Table::builder().numbers("x", vec![0.0, 1.0, 2.0, 10.0, 11.0]).build()?;
/// datasets.call(Put { name: "line".into(), table: Handle(table), replace: false }).await?;
/// let options = Options { clusters: Some(2), ..Options::default() };
/// let job = clustering.call(Run::of(Order::new("line", &options))).await?.job;
/// clustering.call(Wait::of(WaitFor::new(&job))).await?;
/// let fit = fits.get(&job).unwrap();
/// assert_eq!(fit.as_any().downcast_ref::<Fitted>().unwrap().labels, [0, 0, 0, 1, 1]);
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Fits(Arc<Mutex<BTreeMap<String, Arc<dyn Fit>>>>);

impl Fits {
    /// Returns the result of a job, if it has one.
    pub fn get(&self, job: &str) -> Option<Arc<dyn Fit>> {
        self.0.lock().get(job).cloned()
    }
}

/// The columns of a data set that a method uses, and how Lehr prepares them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TableOptions {
    /// The columns of the points. Default: all numeric columns, except weights and ids. A method that takes rows of
    /// bits uses the column `fingerprint` or `sparse` if the data set has one.
    pub columns: Option<Vec<String>>,
    /// The column of weights, for a data set without missing values. Default: the weights that the data set names, or
    /// none.
    pub weights: Option<String>,
    /// The column of ids. Default: the ids that the data set names, or the row number.
    pub id: Option<String>,
    /// Treat the columns as longitude and latitude in degrees, and measure distances on the sphere in km. Default: no.
    pub lonlat: bool,
    /// Scale columns, so that their units do not matter. Default: no scaling; with `auto`, by median and interquartile
    /// range.
    pub scale: Option<ColumnScale>,
    /// Choose columns, logarithms and scaling from the data, fill missing values and set isolated rows aside. The
    /// result gives the reason for each choice. Automatic preparation is meant for ordinary tables, such as uploads in
    /// the format `table`. Default: no.
    pub auto: bool,
    /// Columns of the data set that the method does not use. Default: none.
    pub exclude: Vec<String>,
    /// Columns of which the method uses the logarithms. Results are in the original units of these columns. Default:
    /// none.
    pub log: Vec<String>,
    /// How missing values are handled. Default: with `auto`, the handling that suits the method; otherwise missing
    /// values are errors, unless the method supports them.
    pub missing: Option<Gaps>,
    /// The parts by which dates are compared, for each date among `columns`. Default: only the days.
    pub date_parts: Vec<DatePart>,
}

/// A part of a date by which rows are compared.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::declared::DatePart::Weekday).unwrap(), "\"weekday\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// The days since 1970: nearby dates are similar.
    Days,
    /// The day of the week, as a category: all Mondays are alike.
    Weekday,
    /// The month of the year, as a category: all Januaries are alike.
    Month,
}

impl DatePart {
    fn of_data(self) -> preparation::DatePart {
        match self {
            Self::Days => preparation::DatePart::Days,
            Self::Weekday => preparation::DatePart::Weekday,
            Self::Month => preparation::DatePart::Month,
        }
    }
}

/// How missing values are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// Missing values are left out of distances, if the method supports it.
    Skip,
    /// Missing values become the median of the column. Missing categories become the shares of the column's texts.
    Median,
    /// Missing values become the most frequent value of the column.
    Mode,
    /// Missing values become the mean over the nearest rows.
    Nearest,
    /// Rows with missing values are left out.
    Drop,
}

impl Gaps {
    fn of_data(self) -> Missing {
        match self {
            Self::Skip => Missing::Skip,
            Self::Median => Missing::Median,
            Self::Mode => Missing::Mode,
            Self::Nearest => Missing::Nearest,
            Self::Drop => Missing::Drop,
        }
    }
}

/// How columns are scaled.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::declared::ColumnScale::Std).unwrap(), "\"std\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnScale {
    /// Columns are not scaled.
    #[default]
    None,
    /// Columns are scaled by mean and standard deviation.
    Std,
    /// Columns are scaled by median and interquartile range.
    Robust,
}

impl ColumnScale {
    fn of_data(self) -> Scale {
        match self {
            ColumnScale::None => Scale::None,
            ColumnScale::Std => Scale::Std,
            ColumnScale::Robust => Scale::Robust,
        }
    }
}

impl TableOptions {
    /// Combines the options of a table and the options of a method into the options of a job.
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

    /// Returns the reason why the options are invalid, as far as this is known without the table.
    fn check(&self) -> Option<String> {
        if self.lonlat && self.is_prepared() {
            return Some(
                "lonlat: expected without auto, exclude, log and missing: positions are taken as they are".into(),
            );
        }
        let is_wrong = self.lonlat && self.scale.is_some_and(|scale| scale != ColumnScale::None);
        is_wrong.then(|| "scale: expected none with lonlat, whose unit is km".to_owned())
    }

    /// Returns whether Lehr describes and prepares the columns before the method receives them.
    fn is_prepared(&self) -> bool {
        let is_list = !(self.exclude.is_empty() && self.log.is_empty() && self.date_parts.is_empty());
        self.auto || is_list || self.missing.is_some()
    }

    /// Returns the scaling of the columns.
    fn scale(&self) -> Scale {
        self.scale.unwrap_or_default().of_data()
    }
}

/// The names of the fields of [`TableOptions`].
const NAMES: [&str; 10] =
    ["columns", "weights", "id", "lonlat", "scale", "auto", "exclude", "log", "missing", "date_parts"];

/// Returns the table options that a method supports.
fn names_of(takes: Takes) -> &'static [&'static str] {
    match takes {
        Takes::Matrix(_) => &[],
        Takes::Stream(_) => &["columns", "weights", "scale"],
        Takes::Rows(RowsWords { not_on_sphere: Some(_), .. }) => {
            &["columns", "weights", "id", "scale", "auto", "exclude", "log", "missing", "date_parts"]
        }
        Takes::Rows(_) => &NAMES,
    }
}

/// Runs a job of a declared method.
///
/// # Errors
/// Returns the errors of [`Method::run`](crate::Method::run).
///
/// # Example
/// ```
/// use lehr_jobs::{Inputs, Job, Table, declared, jobs::Options};
/// // There are two pairs of points: the points of a pair are 1 apart, and the pairs are 9 apart.
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
    AnyMethod::run(&Declared::of(method), job, inputs, options)
}

/// The file name of a method's report.
const PAGE: &str = "report.html";

/// The name of the data and how they were read; used in models, messages and reports.
struct Source<'a> {
    dataset: &'a str,
    id: Option<String>,
    weights: Option<String>,
    scale: Scale,
}

impl<'a> Source<'a> {
    /// Describes an input. `scale` is the scaling that a preparation chose, if it chose one.
    fn of(inputs: &'a Inputs, name: &str, options: &TableOptions, scale: Option<Scale>) -> Self {
        let table = inputs.table(name).ok();
        let named = |given: &Option<String>, own: Option<&str>| given.clone().or_else(|| own.map(str::to_owned));
        Self {
            dataset: inputs.dataset(name),
            id: named(&options.id, table.and_then(Table::id)),
            weights: named(&options.weights, table.and_then(Table::weights)),
            scale: scale.unwrap_or_else(|| options.scale()),
        }
    }

    /// Returns the facts about the run for the report.
    fn told(&self, method: &'static dyn lehr_methods::Method, execution: &Execution) -> lehr_report::Run<'_> {
        lehr_report::Run {
            about: method.about(),
            source: self.dataset,
            subject: None,
            command: None,
            command_without_end: None,
            finished: Some(lehr_sync::unix_ms()),
            weights: self.weights.as_deref(),
            ids: self.id.as_deref(),
            scale: self.scale,
            engine: execution.engine,
            layout: Layout::threads(execution.ranks),
            threads: execution.threads,
            is_resumed: false,
            warnings: &[],
            phases: &[],
        }
    }
}

impl Declared {
    /// Creates a method that does not store its full results.
    pub(crate) fn of(method: &'static dyn lehr_methods::Method) -> Self {
        Self { method, fits: None }
    }

    /// Creates a method that also stores its full results.
    pub(crate) fn keeping(method: &'static dyn lehr_methods::Method, fits: &Fits) -> Self {
        Self { method, fits: Some(fits.clone()) }
    }

    /// Splits options into the table's options, if the method takes a table, and the method's own options.
    fn divided(&self, options: &Options) -> Result<(TableOptions, Map<String, Value>), Fault> {
        let given = options.to_value();
        let Value::Object(fields) = given else {
            return Err(refused(given.clone(), "expected an object", &|_| None));
        };
        let names = names_of(self.method.about().takes);
        // A table option that the method does not support is allowed if it has no effect.
        let says_nothing = |value: &Value| value.is_null() || *value == json!(false) || *value == json!([]);
        let of_table = |name: &str, value: &Value| {
            names.contains(&name) || !names.is_empty() && NAMES.contains(&name) && says_nothing(value)
        };
        let (table, own): (Map<String, Value>, Map<String, Value>) =
            fields.into_iter().partition(|(name, value)| of_table(name, value));
        Ok((Options::from(Value::Object(table)).read()?, own))
    }

    /// Runs the method for a job, or resumes it, and returns the results for the service.
    fn fitted(
        &self,
        job: &Job,
        data: Data<'_>,
        source: &Source<'_>,
        options: &Map<String, Value>,
    ) -> Result<Outputs, Failure> {
        let checkpoint = job.saved()?;
        if checkpoint.as_ref().is_some_and(|content| self.method.recorded(content).is_none()) {
            let reason = format!("the checkpoint of {} is not one of this version; run it again", job.id());
            return Err(Failure::Internal(reason));
        }
        let execution = job.execution();
        let mut watch = Watch(job);
        let task = Task { data, checkpoint: checkpoint.as_deref(), execution: &execution, observer: &mut watch };
        let fit = self.method.run(task, options).map_err(|error| failure(source.dataset, error))?;
        if !job.is_lead() {
            return Ok(Outputs::new());
        }
        let mut outputs = Outputs { warnings: fit.warnings().to_vec(), ..Outputs::new() };
        for name in self.method.about().outputs {
            let table = fit.table(name, data).expect("a method has the tables that it declares");
            outputs = outputs.table(*name, result(table)?);
        }
        if let Some(model) = fit.model_file(data) {
            outputs = outputs.model(&model.with_id(source.id.clone()))?;
        }
        if self.method.about().files.contains(&PAGE) {
            let run = lehr_report::Run {
                warnings: &outputs.warnings,
                phases: fit.spent().phases,
                is_resumed: checkpoint.is_some(),
                ..source.told(self.method, &execution)
            };
            let page = lehr_report::page(&run, data, &*fit);
            outputs = outputs.report(page, fit.headline(data))?;
        }
        let figures = fit.figures(data).into_iter().filter(|(_, value)| value.is_finite());
        let outputs = figures.fold(outputs, |outputs, (name, value)| outputs.figure(name, value));
        if let Some(fits) = &self.fits {
            fits.0.lock().insert(job.id().to_owned(), fit.into());
        }
        Ok(outputs)
    }
}

impl AnyMethod for Declared {
    fn facts(&self) -> Facts {
        let about = self.method.about();
        let (inputs, inputs_optional): (&[&str], &[&str]) = match about.takes {
            Takes::Rows(_) | Takes::Stream(_) => (&[POINTS], &[]),
            Takes::Matrix(words) if words.has_classes => (&[MATRIX], &[ITEMS, LABELS]),
            Takes::Matrix(_) => (&[MATRIX], &[ITEMS]),
        };
        let version = Version::new(about.version.0, about.version.1);
        // Only one process reads a stream.
        let spreads = !matches!(about.takes, Takes::Stream(_));
        Facts { name: about.contract, version, inputs, inputs_optional, outputs: about.outputs, spreads }
    }

    fn options_schema(&self) -> OptionsSchema {
        let (mut schema, names) = (self.method.schema(), names_of(self.method.about().takes));
        if let Some(own) = schema["properties"].as_object_mut() {
            let of_table = lehr_methods::options::schema_of::<TableOptions>();
            own.extend(names.iter().map(|name| ((*name).to_owned(), of_table["properties"][*name].clone())));
        }
        if let Some(own) = schema.as_object_mut() {
            own.remove("$schema");
        }
        OptionsSchema::new(json!({ "$ref": "#/$defs/Options" }), Map::from_iter([("Options".to_owned(), schema)]))
    }

    fn complete(&self, options: &Options) -> Result<Options, Fault> {
        let (table, own) = self.divided(options)?;
        let text = self.method.complete(&own).map_err(|reason| {
            let read = |value: Value| self.method.complete(value.as_object()?).err();
            refused(Value::Object(own.clone()), &reason, &read)
        })?;
        let own: Options = serde_json::from_str(&text).expect("what a method has written is JSON");
        Ok(Options::of(&table).only(names_of(self.method.about().takes)).and(own))
    }

    fn check(&self, options: &Options) -> Result<Vec<String>, Fault> {
        self.complete(options)?;
        let (table, own) = self.divided(options)?;
        Ok(table.check().into_iter().chain(self.method.check(&own)).collect())
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        // An earlier version of Lehr may have stored these options, so they are read again.
        let read = self.complete(options).and_then(|_| self.divided(options));
        let (table, own) = read.map_err(|fault| Failure::Internal(format!("{}: {}", job.id(), fault.reason())))?;
        match self.method.about().takes {
            Takes::Rows(words) => {
                let rows = rows_of(inputs, &table, &words)?;
                let source = Source::of(inputs, POINTS, &table, rows.origin().map(|origin| origin.preparation.scale));
                let mut outputs = self.fitted(job, Data::Rows(&rows), &source, &own)?;
                outputs.warnings.splice(0..0, rows.warnings());
                Ok(outputs)
            }
            Takes::Stream(_) => {
                let stream = stream_of(inputs, &table, self.method.sample_rows(&own))?;
                let source = Source { id: None, ..Source::of(inputs, POINTS, &table, None) };
                let mut outputs = self.fitted(job, Data::Stream(&stream), &source, &own)?;
                outputs.warnings.splice(0..0, stream.warnings().to_vec());
                Ok(outputs)
            }
            Takes::Matrix(_) => {
                let matrix = of_inputs(inputs)?;
                let source = Source { id: None, ..Source::of(inputs, MATRIX, &table, None) };
                self.fitted(job, Data::Matrix(&matrix), &source, &own)
            }
        }
    }
}

/// Reads the rows of the input. If the options name no columns, a method that takes rows of bits or sparse rows reads
/// the column of fingerprints or of sparse rows. Rows may have missing values if the method and the data set allow
/// them.
///
/// # Errors
/// Returns [`Failure::Input`] for columns that do not exist, for impossible values, with their positions, and for
/// weights combined with missing values.
fn rows_of(inputs: &Inputs, options: &TableOptions, words: &RowsWords) -> Result<Rows, Failure> {
    let table = inputs.table(POINTS)?;
    let name = inputs.dataset(POINTS);
    if options.is_prepared() {
        return prepared(table, name, options, words);
    }
    let (scale, lonlat) = (options.scale(), options.lonlat);
    let TableOptions { columns, weights, id, .. } = options.clone();
    let columns = Columns { columns, weights, id };
    if words.takes_bits_and_sparse && columns.columns.is_none() && table.has_fingerprints() {
        let of_numbers = [("lonlat", lonlat), ("scale", scale != Scale::None)];
        if let Some((option, _)) = of_numbers.iter().find(|(_, is_given)| *is_given) {
            let reason = "for columns of numbers, which \"columns\" names; the column fingerprint has rows of bits";
            return Err(Failure::input(format!("{name}: {option}: {reason}")));
        }
        return Ok(Rows::of_bits(table.fingerprints(name, &columns)?));
    }
    if words.takes_bits_and_sparse && columns.columns.is_none() && table.has_sparse() {
        let of_numbers = [("lonlat", lonlat), ("scale robust", scale == Scale::Robust)];
        if let Some((option, _)) = of_numbers.iter().find(|(_, is_given)| *is_given) {
            let reason = "for columns of numbers, which \"columns\" names; the column sparse has sparse rows";
            return Err(Failure::input(format!("{name}: {option}: {reason}")));
        }
        return Ok(Rows::of_sparse(table.sparse(name, &columns)?, scale));
    }
    if words.missing.is_none() || !table.has_gaps() {
        let frame = if lonlat { Frame::Sphere } else { Frame::Columns(scale) };
        return Ok(Rows::new(table.points(name, &columns)?, frame)?);
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

/// Reads the rows of an ordinary table, and prepares them as the `lehr` command does.
///
/// # Errors
/// Returns the errors of [`rows_of`], and errors for columns that cannot be used as requested.
fn prepared(table: &Table, name: &str, options: &TableOptions, words: &RowsWords) -> Result<Rows, Failure> {
    let id = options.id.as_deref().or(table.id());
    let weights = options.weights.as_deref().or(table.weights());
    let wishes = Wishes {
        columns: options.columns.clone(),
        exclude: options.exclude.clone(),
        log: options.log.clone(),
        scale: options.scale.map(ColumnScale::of_data),
        missing: options.missing.map(Gaps::of_data),
        is_auto: options.auto,
        missing_of_method: words.missing_of_method(),
        date_parts: options.date_parts.iter().map(|part| part.of_data()).collect(),
        ..Wishes::default()
    };
    if wishes.missing == Some(Missing::Skip) && words.missing.is_none() {
        let reason =
            "missing: this method cannot leave gaps out of distances; nearest, median, mode and drop fill or drop them";
        return Err(Failure::input(format!("{name}: {reason}")));
    }
    if wishes.gaps() == Missing::Skip && weights.is_some() {
        let reason = "weights: expected none with gaps that are left out; missing \"nearest\" fills them";
        return Err(Failure::input(format!("{name}: {reason}")));
    }
    let form = TableForm { text: id.iter().map(|id| (*id).to_owned()).collect(), ..TableForm::default() };
    let keys = Keys { id, weights };
    let decided = Described::new(table.frame(name, &form)?, &keys).prepare(&wishes)?;
    Ok(decided.rows(keys, options.auto && words.sets_aside)?)
}

/// Reads the rows of the input as a stream whose first `sample_rows` rows are the sample. Leaves out rows of weight 0,
/// like a stream that is read from a file.
///
/// # Errors
/// Returns the errors of [`rows_of`].
fn stream_of(inputs: &Inputs, options: &TableOptions, sample_rows: usize) -> Result<Stream, Failure> {
    let (table, name) = (inputs.table(POINTS)?, inputs.dataset(POINTS));
    let TableOptions { columns, weights, .. } = options.clone();
    let points = table.points(name, &Columns { columns, weights, id: None })?;
    let mut rows = (0..points.len()).filter(|row| points.weight(*row) > 0.0).collect::<Vec<_>>().into_iter();
    let batches = move |most: usize| {
        let batch: Vec<usize> = rows.by_ref().take(most).collect();
        if batch.is_empty() {
            return Ok(None);
        }
        let values = batch.iter().flat_map(|row| points.row(*row)).copied().collect();
        let rows =
            Points::new(values, points.dimension())?.with_columns(points.columns().to_vec())?.with_name(points.name());
        let weights = points.weights().map(|weights| batch.iter().map(|row| weights[*row]).collect());
        weights.map_or(Ok(rows.clone()), |weights| rows.with_weights(weights)).map(Some)
    };
    let stream = Stream::begin(Box::new(batches), sample_rows, options.scale())?;
    stream.ok_or_else(|| Failure::input(format!("{name}: expected rows, found none")))
}

/// Returns the reason why a method has no result, with the name of the data set.
fn failure(dataset: &str, error: Error) -> Failure {
    match error {
        // The message of this error names the data set already.
        Error::Data(error) => error.into(),
        error => match Failure::from(error) {
            Failure::Input(reason) => Failure::Input(format!("{dataset}: {reason}")),
            failure => failure,
        },
    }
}

/// Converts a table of a method's results into a table of this crate.
pub(crate) fn result(table: lehr_methods::Table<'_>) -> Result<Table, Fault> {
    let mut builder = Table::builder();
    for (name, column) in table.columns {
        builder = match column {
            Column::Ids { given, rows } => {
                let ids = given.map_or_else(|| (0..rows).map(|row| row.to_string()).collect(), <[String]>::to_vec);
                builder.texts(name.clone(), ids).id(Some(name))
            }
            Column::Numbers(values) => {
                // Kept tables have finite numbers and gaps.
                let finite = |number: f64| if number.is_finite() { number } else { f64::NAN };
                builder.numbers(name, values.into_owned().into_iter().map(finite).collect())
            }
            Column::Weights(values) => builder.numbers(name.clone(), values).weights(Some(name)),
            // Counts have no missing values, so every row must have a label.
            Column::Labels { of_rows, may_be_none: false } if !of_rows.contains(&UNLABELLED) => {
                builder.counts(name, of_rows.iter().map(|&label| u64::from(label)).collect())
            }
            Column::Labels { of_rows, .. } => {
                let number = |&label: &u32| shown_label(label).map_or(f64::NAN, |label| label as f64);
                builder.whole(name, of_rows.iter().map(number).collect())
            }
            Column::Counts(values) => builder.counts(name, values),
            Column::Texts(values) => builder.texts(name, values),
        };
    }
    builder.build()
}
