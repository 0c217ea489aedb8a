//! The declaration of a method, and the interface of any method for front ends.

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
use crate::model::Learnt;
use crate::options::{self, OptionOf, Options};
use crate::sections::Sections;
use crate::table::Table;

/// The names of a method, its input and its results, for every front end.
#[derive(Debug, PartialEq, Eq)]
pub struct About {
    /// Its name, which is that of its command.
    pub name: &'static str,
    /// The name of the contract of its service.
    pub contract: &'static str,
    /// The major and minor version of its service's contract.
    pub version: (u16, u16),
    /// The data that it takes.
    pub takes: Takes,
    /// Its purpose, in one line.
    pub line: &'static str,
    /// Its purpose, in a paragraph.
    pub paragraph: &'static str,
    /// The heading above its options in help.
    pub heading: &'static str,
    /// Examples of the command, with the purpose of each.
    pub examples: &'static str,
    /// The name of its result in help and messages: `map`.
    pub result: &'static str,
    /// The default folder for its results.
    pub folder: &'static str,
    /// The files that the command writes, in the order in which they appear. The last one shows that the others are
    /// Lehr's.
    pub files: &'static [&'static str],
    /// The figures that the last line of a run does not name.
    pub untold: &'static [&'static str],
    /// The tables that its service gives, by name.
    pub outputs: &'static [&'static str],
    /// Its names in `summary.json`.
    pub summary_names: &'static [&'static str],
}

/// A method as its file declares it; [`Method`] is its view for front ends.
pub trait Declared: Copy + Default + Send + Sync + 'static {
    /// Names, words and files.
    const ABOUT: About;
    /// Its options.
    type Options: Clone + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The same in the library, as its checkpoints hold it.
    type Parameters: Resumable;

    /// Reports options beyond their ranges, before there are data, a line each.
    fn check(options: &Self::Options) -> Vec<String>;

    /// The unit of the temperatures in its progress. Default: numbers without a unit, or none.
    fn temperature(options: &Self::Options) -> Temperature {
        let _ = options;
        Temperature::Number
    }

    /// The number of rows at the beginning of a stream that are read before it is run. Default: none, of a method that
    /// takes no stream.
    fn sample_rows(options: &Self::Options) -> usize {
        let _ = options;
        0
    }

    /// The options that say the same as parameters of the library.
    fn options_of(parameters: &Self::Parameters) -> Self::Options;

    /// The options that a checkpoint was made with.
    ///
    /// # Errors
    /// Fails if it is no checkpoint of this method.
    fn recorded(checkpoint: &[u8]) -> serde_json::Result<Self::Options> {
        serde_json::from_slice::<Checkpoint<Self::Parameters>>(checkpoint)
            .map(|checkpoint| Self::options_of(checkpoint.parameters()))
    }

    /// The content of a checkpoint's file, checked.
    ///
    /// # Errors
    /// The errors of [`lehr_mining::anneal::Checkpoint::read`].
    fn read_checkpoint(path: &Path) -> Result<Vec<u8>, Error> {
        Checkpoint::<Self::Parameters>::read_json(path)
    }

    /// Does it.
    ///
    /// # Errors
    /// The errors of the method in `lehr-mining`.
    fn run(task: Task<'_>, options: &Self::Options) -> Result<Box<dyn Fit>, Error>;
}

/// The unit of temperatures, for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temperature {
    /// Numbers without a unit.
    Number,
    /// Squares of lengths.
    Squared {
        /// Whether messages also show the length over which a temperature smooths.
        is_length_told: bool,
    },
    /// Logarithms of likelihoods.
    Nats,
}

/// The task of a run.
pub struct Task<'a> {
    /// The data.
    pub data: Data<'a>,
    /// The content of an earlier run's checkpoint, if this one resumes it.
    pub checkpoint: Option<&'a [u8]>,
    /// Engine, ranks and threads.
    pub execution: &'a Execution,
    /// The observer.
    pub observer: &'a mut dyn Observer,
}

impl Task<'_> {
    /// Begins a run with these parameters, or resumes that of the checkpoint, which has its own. Returns the parameters
    /// of the run, and its result.
    ///
    /// # Errors
    /// The errors of the two, and [`Error::CheckpointDamaged`].
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
    /// One of its tables; nothing for a name outside [`About::outputs`] and [`About::files`].
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>>;
    /// The content of one of its files, of [`About::files`]; `None` for a file that every method has.
    ///
    /// A CSV file has the table of its name, unless the method says otherwise.
    fn file<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Content<'a>> {
        self.table(name.strip_suffix(".csv")?, data).map(Content::Table)
    }
    /// Numbers by name.
    fn figures(&self, data: Data<'_>) -> Vec<(&'static str, f64)>;
    /// The facts about its dissimilarities for `summary.json`, after their source.
    fn input(&self, matrix: &Matrix) -> Sections {
        matrix.facts()
    }
    /// Its facts for `summary.json`, between the input and the warnings.
    fn sections(&self, data: Data<'_>) -> Sections;
    /// The method's name in `summary.json`; `None` for the first of [`About::summary_names`].
    fn summary_name(&self) -> Option<&'static str> {
        None
    }
    /// The part of a stream that has passed; `None` of a method that takes no stream.
    fn passed(&self) -> Option<Passed> {
        None
    }
    /// The model that labels other rows.
    fn model(&self) -> Option<Learnt> {
        None
    }
    /// The result for a person, in some lines.
    fn headline(&self, data: Data<'_>) -> String;
    /// Warnings for the owner of the data.
    fn warnings(&self) -> &[String];
    /// The time by phase.
    fn spent(&self) -> Spent<'_>;
    /// For the page of this method alone.
    fn as_any(&self) -> &dyn Any;
}

/// The part of a stream that has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// The number of batches, the sample among them.
    pub batches: u64,
    /// The number of rows of weight above 0.
    pub rows: u64,
    /// The sum of their weights.
    pub weight: f64,
    /// Tells them, and how they were cut into batches, from others.
    pub fingerprint: u64,
}

/// The content of a file of results.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// A table, as CSV.
    Table(Table<'a>),
    /// Rows of numbers, as an array that NumPy opens.
    Array {
        /// Row by row.
        values: &'a [f64],
        /// The number of columns.
        columns: usize,
    },
}

/// The time of a run by phase.
#[derive(Clone, Copy, Debug)]
pub struct Spent<'a> {
    /// Seconds by phase, of this process only.
    pub phases: &'a [(String, f64)],
    /// Seconds over ranks.
    pub timers: &'a [Spread],
    /// The rows of the rank with the most rows, divided by the mean.
    pub imbalance: f64,
}

/// The interface of any method for front ends.
pub trait Method: Send + Sync {
    /// Names, words and files.
    fn about(&self) -> &'static About;
    /// Its options, in the order in which they are declared.
    fn options(&self) -> Vec<OptionOf>;
    /// The JSON schema of its options, an object.
    fn schema(&self) -> Value;
    /// The options as its struct has them, with all defaults and in the order of the fields, as JSON.
    ///
    /// # Errors
    /// `serde`'s words for a value of another type, or a name that does not exist.
    fn complete(&self, options: &Options) -> Result<String, String>;
    /// Reports everything that is wrong with options before there are data, a line each.
    fn check(&self, options: &Options) -> Vec<String>;
    /// The unit of the temperatures in its progress.
    ///
    /// # Panics
    /// Panics as for [`run`](Self::run).
    fn temperature(&self, options: &Options) -> Temperature;
    /// The number of rows at the beginning of a stream that are read before it is run.
    ///
    /// # Panics
    /// Panics as for [`run`](Self::run).
    fn sample_rows(&self, options: &Options) -> usize;
    /// The options that a checkpoint was made with; nothing if it is no checkpoint of this method.
    fn recorded(&self, checkpoint: &[u8]) -> Option<Options>;
    /// The content of a checkpoint's file, checked.
    ///
    /// # Errors
    /// The errors of [`lehr_mining::anneal::Checkpoint::read`].
    fn read_checkpoint(&self, path: &Path) -> Result<Vec<u8>, Error>;
    /// Does it.
    ///
    /// # Errors
    /// The errors of the method in `lehr-mining`.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) has something to say against the options.
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
