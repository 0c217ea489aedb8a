//! The plan of a method that `lehr-methods` declares: what its command line means together.

use std::ffi::OsString;
use std::path::PathBuf;

use lehr_data::Spill;
use lehr_data::read::Selection;
use lehr_data::scale::Scale;
use lehr_methods::options::shown;
use lehr_methods::{About, Frame, Method, Options, Takes};
use lehr_ranks::{Execution, Job, Layout};
use serde_json::Value;

use crate::arguments::{DeclaredArguments, InputArguments, RowArguments};
use crate::exit::{Failure, Kind, as_typed};
use crate::plan::{execution, frame, resume_command, spill_of, stays_in_memory};
use crate::resume::{Repeated, checkpoint_of};

/// One run: where the data come from, what is done with them, what becomes of the results.
pub struct MethodPlan {
    /// The method.
    pub method: &'static dyn Method,
    /// Where the data come from.
    pub source: Source,
    /// What the method is told: what was given, or what the checkpoint says.
    pub options: Options,
    /// The content of the checkpoint that the run goes on from, and the folder it came from.
    pub resumed: Option<(Vec<u8>, PathBuf)>,
    /// Engine, ranks and threads.
    pub execution: Execution,
    /// Where the ranks are.
    pub layout: Layout,
    /// The folder for results.
    pub out: PathBuf,
    /// Replace what would otherwise be protected.
    pub force: bool,
    /// Print the summary as JSON.
    pub json: bool,
    /// No progress.
    pub quiet: bool,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
}

/// Where the data come from, and how they are read.
pub struct Source {
    /// The file, as typed.
    pub path: PathBuf,
    /// Which of its columns mean what.
    pub selection: Selection,
    /// Cells without a value are missing, not faults.
    pub missing: bool,
    /// Where rows are kept that memory should not hold.
    pub spill: Option<Spill>,
    /// Columns as they are, or scaled.
    pub frame: Frame,
}

impl Source {
    /// Dissimilarities have nothing that could be chosen.
    fn matrix(path: PathBuf) -> Self {
        let (selection, frame) = (Selection::default(), Frame::Columns(Scale::None));
        Self { path, selection, missing: false, spill: None, frame }
    }

    /// # Errors
    /// [`Kind::Usage`]: options that contradict each other.
    fn table(about: &About, rows: RowArguments, job: Option<&Job>) -> Result<Self, Failure> {
        let RowArguments { path, spill, table, missing } = rows;
        let Takes::Rows(words) = about.takes else { unreachable!("its arguments are those of a table") };
        if table.lonlat {
            let message = format!("--lonlat: {}", words.not_on_sphere);
            return Err(Failure::new(Kind::Usage, message).with_hint(words.instead));
        }
        if missing && job.is_some() {
            let message = format!("--missing: rows with missing cells are {} by one process", words.done);
            return Err(Failure::new(Kind::Usage, message)
                .with_hint("run it without mpiexec; --threads uses all cores of this machine"));
        }
        let spill = spill_of(spill, job)?;
        if missing {
            stays_in_memory(spill.as_ref(), "--missing has rows with gaps")?;
        }
        let frame = frame(false, table.scale, table.columns.as_deref())?;
        Ok(Self { path, selection: table.selection(), missing, spill, frame })
    }
}

impl MethodPlan {
    /// Checks the arguments together. `typed` is the command line as it came, for [`MethodPlan::resume_command`]; `job` the processes that compute
    /// together, if there are several.
    ///
    /// # Errors
    /// - [`Kind::Usage`]: options that contradict each other or the checkpoint.
    /// - [`Kind::Environment`], [`Kind::BadData`]: a checkpoint that cannot be read, or is damaged or of another version or method.
    pub fn new(arguments: DeclaredArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let DeclaredArguments { method, input, options, execution: computed, results } = arguments;
        let about = method.about();
        let source = match input {
            InputArguments::Matrix(path) => Source::matrix(path),
            InputArguments::Table(rows) => Source::table(about, *rows, job.as_ref())?,
        };
        let (options, resumed) = match &results.resume {
            Some(folder) => {
                let content = method.read_checkpoint(&checkpoint_of(folder)?)?;
                (recorded(method, &content, &options)?, Some((content, folder.clone())))
            }
            None => {
                let faults = method.check(&options);
                if !faults.is_empty() {
                    return Err(Failure::new(Kind::Usage, as_typed(&faults)));
                }
                (options, None)
            }
        };
        let (execution, layout) = execution(&computed, job)?;
        let out = results.out.or(results.resume).unwrap_or_else(|| PathBuf::from(format!("lehr-{}", about.name)));
        Ok(MethodPlan {
            method,
            source,
            options,
            resumed,
            execution,
            layout,
            resume_command: resume_command(typed, &out),
            out,
            force: results.force,
            json: results.json,
            quiet: results.quiet,
        })
    }
}

/// The options of a checkpoint; those that were given must say the same.
fn recorded(method: &dyn Method, content: &[u8], given: &Options) -> Result<Options, Failure> {
    let stored = method.recorded(content).expect("a checkpoint of this method, which was checked");
    let mut repeated = Repeated::default();
    for (name, value) in given {
        let stored = stored.get(name).filter(|value| !value.is_null()).cloned();
        // The same number may be written as 1 and as 1.0.
        let plain = |value: &Value| value.as_f64().map_or_else(|| shown(value), |number| number.to_string());
        let option = format!("--{}", name.replace('_', "-"));
        repeated.option(&option, Some(plain(value)), stored.as_ref().map(plain), String::clone);
    }
    repeated.agree()?;
    Ok(stored)
}
