//! A method in the form that services use: a description, and a blocking function of tables and options.
//!
//! The file of a method only implements [`Method`]. `service.rs` and `runner.rs` handle queues, restarts, progress,
//! faults and data sets in the same way for all methods. `examples/joined_method.rs` is a complete method.

use std::any::Any;
use std::collections::BTreeMap;

use lehr_methods::ModelFile;
use lehr_services::{Code, Fault, Version};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::job::Job;
use crate::options::{Options, OptionsSchema};
use crate::table::Table;

/// A method that can be run as a service.
///
/// # Example
/// ```
/// use lehr_jobs::{Failure, Inputs, Job, Method, Outputs, Table};
/// use lehr_services::Version;
///
/// #[derive(Clone)]
/// struct Sum;
///
/// #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct Options { column: String }
///
/// impl Method for Sum {
///     const NAME: &'static str = "example.org/sum";
///     const VERSION: Version = Version::new(1, 0);
///     const INPUTS: &'static [&'static str] = &["table"];
///     const OUTPUTS: &'static [&'static str] = &["sum"];
///     type Options = Options;
///
///     fn run(&self, _: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
///         let column = inputs.table("table")?.numbers(&options.column);
///         let sum = column.ok_or_else(|| Failure::input(format!("no numbers {:?}", options.column)))?.iter().sum();
///         Ok(Outputs::new().figure("sum", sum).table("sum", Table::builder().numbers("sum", vec![sum]).build()?))
///     }
/// }
///
/// let inputs = Inputs::of([("table", Table::builder().numbers("x", vec![1.0, 2.0]).build()?)]);
/// let outputs = Sum.run(&Job::alone(), &inputs, &Options { column: "x".into() })?;
/// assert_eq!(outputs.figures["sum"], 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Method: Clone + Send + Sync + 'static {
    /// The name of the contract of the method's service, such as `lehr.pairwise`.
    const NAME: &'static str;
    /// The version of the contract. The major number rises when a change of options or tables would mislead old
    /// clients.
    const VERSION: Version;
    /// The names of the method's input tables, at least one.
    const INPUTS: &'static [&'static str];
    /// The names of the optional input tables. Default: none.
    const INPUTS_OPTIONAL: &'static [&'static str] = &[];
    /// The names of the output tables, in addition to `model` and `report` ([`Outputs`]). A job that lacks one of the
    /// named tables fails, and other tables are dropped.
    const OUTPUTS: &'static [&'static str];
    /// Whether jobs of the method can run in processes that `mpiexec` starts. The method must compute on
    /// [`Job::execution`], which then has the ranks of all processes, and make the same calls in each process. The
    /// program of the processes must know the method; `lehr` knows all methods in
    /// [`Setup::contracts`](crate::Setup::contracts). Default: no.
    const SPREADS: bool = false;
    /// The options of the method. The options should refuse unknown fields, so that a misspelt field is not ignored.
    type Options: Clone + Send + Sync + Serialize + DeserializeOwned + JsonSchema + 'static;

    /// Returns a text for each fault in the options that is visible without data. Default: none.
    fn check(options: &Self::Options) -> Vec<String> {
        let _ = options;
        Vec::new()
    }

    /// Runs the method on its own thread, which may be bound to some cores. The method may start other threads.
    ///
    /// The same inputs and options must give the same tables on any number of threads. A job that is stopped, saved and
    /// resumed must give the same tables, too.
    ///
    /// # Errors
    /// Returns [`Failure::Stopped`] soon after [`Job::is_stopping`] is true, or another reason why there is no result.
    /// A panic counts as a failure too.
    fn run(&self, job: &Job, inputs: &Inputs, options: &Self::Options) -> Result<Outputs, Failure>;
}

/// The name of the table with a method's model. The table has one column, and its text is that of a `model.json`.
pub(crate) const MODEL: &str = "model";

/// The name of the table with a method's report, and of its column with the text of a `report.html`.
pub(crate) const REPORT: &str = "report";
/// The name of the report's other column, with the main result in words.
pub(crate) const HEADLINE: &str = "headline";

/// A method's description of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub name: &'static str,
    pub version: Version,
    pub inputs: &'static [&'static str],
    pub inputs_optional: &'static [&'static str],
    pub outputs: &'static [&'static str],
    pub spreads: bool,
}

/// A method without the type of its options. Services and processes use this trait, so that their code is compiled once
/// for all methods.
pub(crate) trait AnyMethod: Send + Sync {
    fn facts(&self) -> Facts;

    fn options_schema(&self) -> OptionsSchema;

    /// Returns the options in the method's own form: with defaults, and in the order of the method's fields.
    ///
    /// # Errors
    /// Returns the errors of [`Options::read`].
    fn complete(&self, options: &Options) -> Result<Options, Fault>;

    /// Returns all faults in the options.
    ///
    /// # Errors
    /// Returns the errors of [`complete`](Self::complete).
    fn check(&self, options: &Options) -> Result<Vec<String>, Fault>;

    /// Runs the method.
    ///
    /// # Errors
    /// Returns the errors of [`Method::run`]; [`Failure::Internal`] if the options belong to another version.
    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure>;
}

impl<M: Method> AnyMethod for M {
    fn facts(&self) -> Facts {
        Facts {
            name: M::NAME,
            version: M::VERSION,
            inputs: M::INPUTS,
            inputs_optional: M::INPUTS_OPTIONAL,
            outputs: M::OUTPUTS,
            spreads: M::SPREADS,
        }
    }

    fn options_schema(&self) -> OptionsSchema {
        OptionsSchema::of::<M::Options>()
    }

    fn complete(&self, options: &Options) -> Result<Options, Fault> {
        options.read::<M::Options>().map(|options| Options::of(&options))
    }

    fn check(&self, options: &Options) -> Result<Vec<String>, Fault> {
        options.read().map(|options| M::check(&options))
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let options = options.read().map_err(|fault| Failure::Internal(format!("{}: {}", job.id(), fault.reason())))?;
        Method::run(self, job, inputs, &options)
    }
}

/// The input tables of a method, by name.
///
/// # Example
/// See [`Method`].
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    tables: BTreeMap<String, (String, Table)>,
}

impl Inputs {
    /// Creates inputs from tables with these names. The names also serve as the names of the data sets.
    ///
    /// # Example
    /// See [`Method`].
    pub fn of<T: Into<String>>(tables: impl IntoIterator<Item = (T, Table)>) -> Self {
        let mut inputs = Self::default();
        for (name, table) in tables {
            let name = name.into();
            inputs.add(name.clone(), name, table);
        }
        inputs
    }

    pub(crate) fn add(&mut self, name: String, dataset: String, table: Table) {
        self.tables.insert(name, (dataset, table));
    }

    /// Returns a table.
    ///
    /// # Errors
    /// Returns [`Failure::Input`] if there is no such table.
    pub fn table(&self, name: &str) -> Result<&Table, Failure> {
        let found = self.tables.get(name).map(|(_, table)| table);
        found.ok_or_else(|| Failure::input(format!("the input {name:?} is missing")))
    }

    /// Returns a table, or `None` if it was not given.
    pub fn optional(&self, name: &str) -> Option<&Table> {
        self.tables.get(name).map(|(_, table)| table)
    }

    /// Returns each table with the method's name for it and the name of its data set.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str, &Table)> {
        self.tables.iter().map(|(name, (dataset, table))| (name.as_str(), dataset.as_str(), table))
    }

    /// Returns the name of a table's data set, for messages.
    pub fn dataset(&self, name: &str) -> &str {
        self.tables.get(name).map_or("", |(dataset, _)| dataset)
    }
}

/// The result of a method: tables, figures for the job's record, and warnings for the user.
///
/// # Example
/// See [`Method`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The tables by name.
    pub tables: BTreeMap<String, Table>,
    /// The figures by name.
    pub figures: BTreeMap<String, f64>,
    /// The warnings for the user.
    pub warnings: Vec<String>,
}

impl Outputs {
    /// Creates an empty result.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a table.
    pub fn table(mut self, name: impl Into<String>, table: Table) -> Self {
        self.tables.insert(name.into(), table);
        self
    }

    /// Adds a model as the table `model`, in addition to the tables that the method always returns. Clients request the
    /// model with [`ModelOf`](crate::jobs::ModelOf).
    ///
    /// # Errors
    /// Returns [`Failure::Internal`] for a model that JSON cannot represent.
    pub fn model(self, model: &ModelFile) -> Result<Self, Failure> {
        let text = model.text().map_err(|error| Failure::Internal(format!("the model: {error}")))?;
        Ok(self.table(MODEL, Table::builder().texts(MODEL, vec![text]).build()?))
    }

    /// Adds the table `report`: the HTML report, which clients request with [`ReportOf`](crate::jobs::ReportOf), and
    /// the main result in words, for [`reports`](crate::reports).
    ///
    /// # Errors
    /// Returns [`Failure::Environment`] for a report that is too long for a table.
    pub fn report(self, page: String, headline: String) -> Result<Self, Failure> {
        let table = Table::builder().texts(REPORT, vec![page]).texts(HEADLINE, vec![headline]);
        Ok(self.table(REPORT, table.build()?))
    }

    /// Adds a figure.
    pub fn figure(mut self, name: impl Into<String>, value: f64) -> Self {
        self.figures.insert(name.into(), value);
        self
    }

    /// Adds a warning.
    pub fn warning(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }
}

/// The reason why a method has no result.
///
/// # Example
/// ```
/// use lehr_jobs::Failure;
/// assert_eq!(Failure::input("K is 5, and there are 3 rows").to_string(), "K is 5, and there are 3 rows");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The method was asked to stop, and has saved its state to continue later.
    Stopped,
    /// The inputs or the options are invalid.
    Input(String),
    /// The machine lacks memory, threads or disk space.
    Environment(String),
    /// The method failed internally.
    Internal(String),
}

impl Failure {
    /// Creates a failure for invalid inputs or options.
    ///
    /// # Example
    /// See [`Failure`].
    pub fn input(reason: impl Into<String>) -> Self {
        Self::Input(reason.into())
    }

    pub(crate) fn fault(&self) -> Fault {
        let code = match self {
            Self::Stopped => Code::OperationCancelled,
            Self::Input(_) => Code::InvalidValue,
            Self::Environment(_) => Code::InsufficientResources,
            Self::Internal(_) => Code::OperationFailed,
        };
        Fault::new(code, self.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stopped => formatter.write_str("stopped"),
            Self::Input(reason) | Self::Environment(reason) | Self::Internal(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for Failure {}

/// Returns the message of a panic.
pub(crate) fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("something that is no text")
}

/// Converts the fault of a table that cannot be built. Unless memory is the cause, the fault counts as an internal
/// failure of the method.
impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault.code() {
            Code::TooLarge | Code::InsufficientResources => Self::Environment(fault.reason().to_owned()),
            _ => Self::Internal(fault.to_string()),
        }
    }
}

impl From<lehr_mining::Error> for Failure {
    fn from(error: lehr_mining::Error) -> Self {
        use lehr_mining::Error;
        match error {
            // The method stops even if it could not save its state. It then resumes from an earlier state.
            Error::Stopped => Self::Stopped,
            Error::Data(error) => error.into(),
            Error::Memory { .. } => Self::Environment(error.to_string()),
            Error::Parameter { .. }
            | Error::TooManyClusters { .. }
            | Error::TooManyComponents { .. }
            | Error::TooManyDimensions { .. }
            | Error::TooManyPoints { .. }
            | Error::TooFar { .. }
            | Error::TooNear { .. }
            | Error::Constant { .. }
            | Error::Unobserved { .. }
            | Error::Collapsed { .. }
            | Error::MostlyOutside { .. }
            | Error::Incomplete { .. }
            | Error::OtherData { .. }
            | Error::Unrelated { .. }
            | Error::Disconnected { .. } => Self::Input(error.to_string()),
            error => Self::Internal(error.to_string()),
        }
    }
}

impl From<lehr_data::Error> for Failure {
    fn from(error: lehr_data::Error) -> Self {
        if error.is_environment() { Self::Environment(error.to_string()) } else { Self::Input(error.to_string()) }
    }
}
