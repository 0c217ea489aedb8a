//! The declaration of a method, and the common interface of methods for front ends.

use std::any::Any;
use std::path::Path;

use lehr_mining::anneal::{Checkpoint, Observer, Resumable};
use lehr_mining::{Error, Execution};
use lehr_ranks::timing::Spread;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data::{Data, Matrix, Takes};
use crate::model::{Learnt, ModelFile};
use crate::options::{self, OptionOf, Options};
use crate::sections::Sections;
use crate::table::Table;

/// The names of a method and the words about its input and results, for every front end.
#[derive(Debug, PartialEq, Eq)]
pub struct About {
    /// The name of the method, which is also the name of the command.
    pub name: &'static str,
    /// The name of the contract of the method's service.
    pub contract: &'static str,
    /// The major and the minor version of this contract.
    pub version: (u16, u16),
    /// The data that the method takes.
    pub takes: Takes,
    /// The purpose of the method, in one line.
    pub line: &'static str,
    /// The purpose of the method, in a paragraph.
    pub paragraph: &'static str,
    /// The heading above the method's options in help.
    pub heading: &'static str,
    /// Examples of the command, with the purpose of each.
    pub examples: &'static str,
    /// The noun for the result in help and messages, such as `map`.
    pub result: &'static str,
    /// The default folder for the results.
    pub folder: &'static str,
    /// The files that the command writes, in this order. The last file shows that Lehr wrote the others.
    pub files: &'static [&'static str],
    /// The figures that are absent from the last line of a run.
    pub untold: &'static [&'static str],
    /// The names of the tables that the method's service returns.
    pub outputs: &'static [&'static str],
    /// The method's names in `summary.json`.
    pub summary_names: &'static [&'static str],
}

/// A method as its file declares it; front ends see it as a [`Method`].
pub trait Declared: Copy + Default + Send + Sync + 'static {
    /// The names, words and files of the method.
    const ABOUT: About;
    /// The options.
    type Options: Clone + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The library's parameters, in the form that checkpoints contain.
    type Parameters: Resumable;

    /// Reports options out of range before the data are read, one per line.
    fn check(options: &Self::Options) -> Vec<String>;

    /// Returns the unit of the temperatures in the progress of the method. Default: a number without a unit.
    fn temperature(options: &Self::Options) -> Temperature {
        let _ = options;
        Temperature::Number
    }

    /// Returns the number of rows in the sample at the start of a stream. Default: none, for methods that take no
    /// stream.
    fn sample_rows(options: &Self::Options) -> usize {
        let _ = options;
        0
    }

    /// Returns the options that correspond to parameters of the library.
    fn options_of(parameters: &Self::Parameters) -> Self::Options;

    /// Returns the options of the run that wrote a checkpoint.
    ///
    /// # Errors
    /// Returns an error if the content is not a checkpoint of this method.
    fn recorded(checkpoint: &[u8]) -> serde_json::Result<Self::Options> {
        serde_json::from_slice::<Checkpoint<Self::Parameters>>(checkpoint)
            .map(|checkpoint| Self::options_of(checkpoint.parameters()))
    }

    /// Reads and checks the content of a checkpoint file.
    ///
    /// # Errors
    /// Returns the errors of [`lehr_mining::anneal::Checkpoint::read`].
    fn read_checkpoint(path: &Path) -> Result<Vec<u8>, Error> {
        Checkpoint::<Self::Parameters>::read_json(path)
    }

    /// Runs the method.
    ///
    /// # Errors
    /// Returns the errors of the method in `lehr-mining`.
    fn run(task: Task<'_>, options: &Self::Options) -> Result<Box<dyn Fit>, Error>;
}

/// The unit of temperatures in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temperature {
    /// A number without a unit.
    Number,
    /// The square of a length.
    Squared {
        /// Whether messages also show the length scale of a temperature.
        is_length_told: bool,
    },
    /// Nats, the unit of log-likelihoods.
    Nats,
}

/// The input of a run.
pub struct Task<'a> {
    /// The data.
    pub data: Data<'a>,
    /// The content of a checkpoint of an earlier run, if this run resumes it.
    pub checkpoint: Option<&'a [u8]>,
    /// The engine, the ranks and the threads.
    pub execution: &'a Execution,
    /// The observer of the run.
    pub observer: &'a mut dyn Observer,
}

impl Task<'_> {
    /// Starts a run with these parameters, or resumes the run of the checkpoint with the parameters in the checkpoint.
    /// Returns the parameters of the run and its result.
    ///
    /// # Errors
    /// Returns the errors of `begin` and `resume`, and [`Error::CheckpointDamaged`].
    pub(crate) fn carry_out<P: Resumable, R>(
        self,
        parameters: P,
        begin: impl FnOnce(&P, &Execution, &mut dyn Observer) -> Result<R, Error>,
        resume: impl FnOnce(Checkpoint<P>, &Execution, &mut dyn Observer) -> Result<R, Error>,
    ) -> Result<(P, R), Error> {
        let Self { checkpoint, execution, observer, .. } = self;
        match checkpoint {
            None => begin(&parameters, execution, observer).map(|found| (parameters, found)),
            Some(content) => {
                let checkpoint = Checkpoint::<P>::of_json(content)?;
                let parameters = checkpoint.parameters().clone();
                resume(checkpoint, execution, observer).map(|found| (parameters, found))
            }
        }
    }
}

/// The result of a method.
pub trait Fit: Any + Send + Sync {
    /// Returns a table of the result; `None` for a name outside [`About::outputs`] and [`About::files`].
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>>;
    /// Returns the content of one of [`About::files`]; `None` for a file that every method has.
    ///
    /// By default, a CSV file contains the table of the same name.
    fn file<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Content<'a>> {
        self.table(name.strip_suffix(".csv")?, data).map(Content::Table)
    }
    /// Returns the figures of the result, by name.
    fn figures(&self, data: Data<'_>) -> Vec<(&'static str, f64)>;
    /// Returns the facts about the dissimilarities for `summary.json`, except their source.
    fn input(&self, matrix: &Matrix) -> Sections {
        matrix.facts()
    }
    /// Returns the facts that `summary.json` has between the input and the warnings.
    fn sections(&self, data: Data<'_>) -> Sections;
    /// Returns the method's name in `summary.json`; `None` for the first of [`About::summary_names`].
    fn summary_name(&self) -> Option<&'static str> {
        None
    }
    /// Returns how much of a stream was read. Returns `None` for a method that takes no stream.
    fn passed(&self) -> Option<Passed> {
        None
    }
    /// Returns the model that labels other rows.
    fn model(&self) -> Option<Learnt> {
        None
    }
    /// Returns the distance from each centre beyond which a row is far out ([`ModelFile::limits`]). Empty for a method
    /// that does not measure it.
    fn limits(&self, _data: Data<'_>) -> Vec<Option<f64>> {
        Vec::new()
    }
    /// Returns the file of the model that labels other rows.
    fn model_file(&self, data: Data<'_>) -> Option<ModelFile> {
        Some(ModelFile::of(data, self.model()?, self.limits(data)))
    }
    /// Returns a summary of the result in a few lines of text.
    fn headline(&self, data: Data<'_>) -> String;
    /// Returns the warnings for the user.
    fn warnings(&self) -> &[String];
    /// Returns the time of each phase.
    fn spent(&self) -> Spent<'_>;
    /// Returns this value with its own type, for the report of the method.
    fn as_any(&self) -> &dyn Any;
}

/// The part of a stream that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// The number of batches, including the sample.
    pub batches: u64,
    /// The number of rows with positive weight.
    pub rows: u64,
    /// The sum of the weights of these rows.
    pub weight: f64,
    /// A checksum of the rows and of their division into batches.
    pub fingerprint: u64,
}

/// The content of a result file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// A table, as CSV.
    Table(Table<'a>),
    /// A text as it is.
    Text(String),
    /// Rows of numbers, as a NumPy array.
    Array {
        /// The numbers, row by row.
        values: &'a [f64],
        /// The number of columns.
        columns: usize,
    },
}

/// The time of a run by phase.
#[derive(Clone, Copy, Debug)]
pub struct Spent<'a> {
    /// The seconds of each phase, in this process only.
    pub phases: &'a [(String, f64)],
    /// The seconds by phase over all ranks.
    pub timers: &'a [Spread],
    /// The number of rows on the fullest rank, divided by the mean.
    pub imbalance: f64,
}

/// The common interface of methods for front ends.
pub trait Method: Send + Sync {
    /// Returns the names, words and files.
    fn about(&self) -> &'static About;
    /// Returns the options in the order of their declaration.
    fn options(&self) -> Vec<OptionOf>;
    /// Returns the JSON schema of the options object.
    fn schema(&self) -> Value;
    /// Returns the options as JSON in the form of their struct: with all defaults, in the order of the fields.
    ///
    /// # Errors
    /// Returns serde's message for a value of another type or for an unknown name.
    fn complete(&self, options: &Options) -> Result<String, String>;
    /// Reports faults in options that are visible without data, one per entry. Combinations of options are checked only
    /// if every single value is valid.
    fn check(&self, options: &Options) -> Vec<String>;
    /// Returns the unit of the temperatures in the progress of the method.
    ///
    /// # Panics
    /// Panics under the same conditions as [`run`](Self::run).
    fn temperature(&self, options: &Options) -> Temperature;
    /// Returns the number of rows in the sample at the start of a stream.
    ///
    /// # Panics
    /// Panics under the same conditions as [`run`](Self::run).
    fn sample_rows(&self, options: &Options) -> usize;
    /// Returns the options of the run that wrote a checkpoint; `None` if the content is not a checkpoint of this
    /// method.
    fn recorded(&self, checkpoint: &[u8]) -> Option<Options>;
    /// Reads and checks the content of a checkpoint file.
    ///
    /// # Errors
    /// Returns the errors of [`lehr_mining::anneal::Checkpoint::read`].
    fn read_checkpoint(&self, path: &Path) -> Result<Vec<u8>, Error>;
    /// Runs the method.
    ///
    /// # Errors
    /// Returns the errors of the method in `lehr-mining`.
    ///
    /// # Panics
    /// Panics if an option has an unknown name or a value of another type. Call [`check`](Self::check) first: other
    /// faults end in an error or silently use a default.
    fn run(&self, task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error>;
}

impl<M: Declared> Method for M {
    fn about(&self) -> &'static About {
        const { &M::ABOUT }
    }

    fn options(&self) -> Vec<OptionOf> {
        options::of::<M::Options>()
    }

    fn schema(&self) -> Value {
        options::schema_of::<M::Options>()
    }

    fn complete(&self, options: &Options) -> Result<String, String> {
        let text = typed::<M>(options).and_then(|options| serde_json::to_string(&options));
        text.map_err(|error| error.to_string())
    }

    fn check(&self, options: &Options) -> Vec<String> {
        let declared = self.options();
        let options = options::renamed(&declared, options);
        let faults = options::faults(&declared, &options);
        if !faults.is_empty() {
            return faults;
        }
        match serde_json::from_value(Value::Object(options)) {
            Ok(options) => M::check(&options),
            Err(error) => vec![error.to_string()],
        }
    }

    fn temperature(&self, options: &Options) -> Temperature {
        M::temperature(&typed::<M>(options).expect("options that were checked"))
    }

    fn sample_rows(&self, options: &Options) -> usize {
        M::sample_rows(&typed::<M>(options).expect("options that were checked"))
    }

    fn recorded(&self, checkpoint: &[u8]) -> Option<Options> {
        match serde_json::to_value(M::recorded(checkpoint).ok()?) {
            Ok(Value::Object(options)) => Some(options),
            _ => None,
        }
    }

    fn read_checkpoint(&self, path: &Path) -> Result<Vec<u8>, Error> {
        M::read_checkpoint(path)
    }

    fn run(&self, task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        M::run(task, &typed::<M>(options).expect("options that were checked")).map_err(options::as_option)
    }
}

fn typed<M: Declared>(options: &Options) -> serde_json::Result<M::Options> {
    serde_json::from_value(Value::Object(options::renamed(&options::of::<M::Options>(), options)))
}
