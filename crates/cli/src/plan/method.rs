//! The plan of a method that `lehr-methods` declares: what its command line means as a whole.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lehr_data::Spill;
use lehr_data::preparation::{Missing, Wishes};
use lehr_data::read::{Selection, TableForm};
use lehr_data::scale::Scale;
use lehr_data::sparse::FirstColumn;
use lehr_methods::cluster::Cluster;
use lehr_methods::options::{Kind as OptionKind, shown};
use lehr_methods::{About, Frame, Method, Options, RowsWords, Takes};
use lehr_ranks::{Execution, Job, Layout};
use serde_json::Value;

use crate::arguments::{
    ClassSource, Dataset, DeclaredArguments, DemoArguments, ExecutionArguments, Gaps, InputArguments, PackedArguments,
    PreparationArguments, ResultArguments, RowArguments, SpillArguments, StreamArguments, TableArguments, TableInput,
};
use crate::exit::{Failure, Kind, as_typed};
use crate::figure::FigureFile;
use crate::plan::{
    command_without_end, command_without_results, execution, frame, of_bits_only, resume_command, spill_of,
    stays_in_memory,
};
use crate::resume::{Repeated, checkpoint_of};

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The number of clusters in the demonstration.
const DEMO_CLUSTERS: u64 = 20;

/// One run: the source of the data, the method, and the target of the results.
pub struct MethodPlan {
    /// The method.
    pub method: &'static dyn Method,
    /// The source of the data.
    pub source: Source,
    /// The options of the method: those that were given, or those of the checkpoint.
    pub options: Options,
    /// The content of the checkpoint from which the run is resumed, and the folder it came from.
    pub resumed: Option<(Vec<u8>, PathBuf)>,
    /// Engine, ranks and threads.
    pub execution: Execution,
    /// The layout of the ranks.
    pub layout: Layout,
    /// The folder for results.
    pub out: PathBuf,
    /// Whether to replace files that would otherwise be protected.
    pub force: bool,
    /// Whether to print the summary as JSON.
    pub json: bool,
    /// Whether to show no progress.
    pub quiet: bool,
    /// The file for the actions of each rank with their times.
    pub trace: Option<PathBuf>,
    /// The file for the picture of the results.
    pub figure: Option<FigureFile>,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
    /// The typed command without the number of clusters, the stopping criteria and the folder of results. A report
    /// shows it with another number.
    pub command_without_end: String,
    /// The typed command without the folder of results.
    pub command: String,
}

/// The source of the data, and how to read them.
pub struct Source {
    /// The file, as typed; for other data, their name.
    pub path: PathBuf,
    /// Whether the source is a file, standard input or built in.
    pub origin: Origin,
    /// The roles of the columns.
    pub selection: Selection,
    /// Whether cells without a value are missing values instead of faults.
    pub missing: bool,
    /// The number of packed bits in a row, if the input is an array of packed bits.
    pub bits: Option<usize>,
    /// The number of the first column of SVMlight's text, if it was given.
    pub first_column: Option<FirstColumn>,
    /// The table with the weights of rows of bits or of sparse rows, if they have any.
    pub weights_from: Option<PathBuf>,
    /// The folder for rows that are kept on disk.
    pub spill: Option<Spill>,
    /// The space in which rows are compared.
    pub frame: Frame,
    /// The file with known classes of a matrix's items.
    pub classes: Option<ClassSource>,
    /// How to turn a table with text, dates or missing values into numbers, if the user gave options for it.
    pub preparing: Option<Preparing>,
    /// Whether to copy the columns to the results of rows.
    pub append: bool,
}

/// How to turn a table with text, dates or missing values into numbers.
pub struct Preparing {
    /// The options of the preparation, with columns as typed.
    pub wishes: Wishes,
    /// How to read the table.
    pub form: TableForm,
    /// Whether isolated rows are left out of the fit.
    pub sets_aside: bool,
}

/// The source of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File,
    /// Standard input.
    StandardInput,
    /// A built-in data set.
    BuiltIn(Dataset),
}

impl Source {
    /// Creates the source for a file of unknown kind.
    fn of(path: PathBuf, frame: Frame) -> Self {
        let selection = Selection::default();
        Self {
            path,
            origin: Origin::File,
            selection,
            missing: false,
            bits: None,
            first_column: None,
            weights_from: None,
            spill: None,
            frame,
            classes: None,
            preparing: None,
            append: false,
        }
    }

    /// Creates the source for the census blocks, whose columns are known.
    fn census(dataset: Dataset) -> Self {
        let columns = Some(["lon", "lat"].map(str::to_owned).to_vec());
        let (weights, id) = (Some("pop".to_owned()), Some("geoid".to_owned()));
        let selection = Selection { columns, weights, id, ..Selection::default() };
        Self { origin: Origin::BuiltIn(dataset), selection, ..Self::of("demo census".into(), Frame::Sphere) }
    }

    /// Returns the file, if the source is one.
    pub fn file(&self) -> Option<&Path> {
        (self.origin == Origin::File).then_some(&self.path)
    }

    /// Returns the built-in data set, if the source is one.
    pub fn built_in(&self) -> Option<Dataset> {
        if let Origin::BuiltIn(dataset) = self.origin { Some(dataset) } else { None }
    }

    /// Creates the source for a stream, from a file or standard input.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] if several processes compute together.
    fn stream(arguments: &StreamArguments, job: Option<&Job>) -> Result<Self, Failure> {
        if job.is_some() {
            let message = "a stream is read by one process: run it without mpiexec";
            return Err(Failure::new(Kind::Usage, message));
        }
        let (path, frame) = (arguments.path.clone(), frame(false, Some(arguments.scale), None)?);
        let source = Self { selection: arguments.selection(), ..Self::of(path, frame) };
        if arguments.path.as_os_str() != STANDARD_INPUT {
            return Ok(source);
        }
        Ok(Self { path: "standard input".into(), origin: Origin::StandardInput, ..source })
    }

    /// # Errors
    /// Returns [`Kind::Usage`] for options that contradict each other.
    fn table(words: &RowsWords, input: TableInput, job: Option<&Job>) -> Result<Self, Failure> {
        let TableInput { rows: RowArguments { path, spill, table }, packed, preparation } = input;
        let leaves_gaps = preparation.missing == Some(Gaps::Own) && words.missing.is_some();
        if preparation.is_asked_for() || (preparation.missing.is_some() && !leaves_gaps) {
            let table = PreparedTable { path, spill, table, packed, preparation };
            return table.source(words, job);
        }
        let missing = leaves_gaps;
        let PackedArguments { bits, fingerprint, first_column, weights_from } = packed;
        if let Some(words) = words.not_on_sphere.filter(|_| table.lonlat) {
            return Err(Failure::new(Kind::Usage, format!("--lonlat: {}", words.why)).with_hint(words.instead));
        }
        if let Some(words) = words.missing.filter(|_| missing && job.is_some()) {
            let message = format!("--missing: rows with missing cells are {} by one process", words.done);
            return Err(Failure::new(Kind::Usage, message)
                .with_hint("run it without mpiexec; --threads uses all cores of this machine"));
        }
        let (frame, append) = (frame(table.lonlat, table.scale, table.columns.as_deref())?, table.append);
        let selection = Selection { fingerprint, ..table.selection() };
        let spill = spill_of(spill, job)?;
        if missing && selection.weights.is_some() {
            return Err(Failure::new(Kind::Usage, "--weights: rows with gaps have no weights")
                .with_hint("--missing=nearest fills the gaps, --missing=drop leaves such rows out"));
        }
        if missing {
            stays_in_memory(spill.as_ref(), "--missing has rows with gaps")?;
        }
        if bits.is_some() {
            if first_column.is_some() {
                let message = "--first-column: for SVMlight's text; --bits has rows of bits";
                return Err(Failure::new(Kind::Usage, message));
            }
            if fingerprint.is_some() {
                let message = "--fingerprint: for molecules; --bits has rows of bits";
                return Err(Failure::new(Kind::Usage, message));
            }
            of_bits_only(&selection, weights_from.is_some(), frame, "--bits")?;
            stays_in_memory(spill.as_ref(), "--bits has rows of bits")?;
        }
        Ok(Self { selection, missing, bits, first_column, weights_from, spill, append, ..Self::of(path, frame) })
    }
}

/// The arguments of a table that is prepared, as typed.
struct PreparedTable {
    path: PathBuf,
    spill: SpillArguments,
    table: TableArguments,
    packed: PackedArguments,
    preparation: PreparationArguments,
}

impl PreparedTable {
    /// # Errors
    /// Returns [`Kind::Usage`] for options that contradict each other.
    fn source(self, words: &RowsWords, job: Option<&Job>) -> Result<Source, Failure> {
        let Self { path, spill, table, packed, preparation } = self;
        let usage = |message: String| Failure::new(Kind::Usage, message);
        if table.lonlat {
            let message =
                "--lonlat: positions on the sphere are taken as they are; leave --auto and what prepares columns out";
            return Err(usage(message.to_owned()));
        }
        if packed.bits.is_some()
            || packed.fingerprint.is_some()
            || packed.first_column.is_some()
            || packed.weights_from.is_some()
        {
            let message =
                "--auto and what prepares columns are for tables of columns, not for rows of bits and sparse rows";
            return Err(usage(message.to_owned()));
        }
        stays_in_memory(spill_of(spill, job)?.as_ref(), "a table that is prepared has its columns in memory")?;
        let own = words.missing_of_method();
        let frame = frame(false, table.scale, None)?;
        let (scale, append) = (table.scale.map(|_| frame.scale()), table.append);
        let selection = table.selection();
        let wishes = Wishes { scale, ..preparation.wishes(selection.columns.clone(), own) };
        if wishes.missing == Some(Missing::Skip) && words.missing.is_none() {
            return Err(usage("--missing=skip: this method has no way to leave gaps out of distances".to_owned())
                .with_hint("--missing fills them from the nearest rows; lehr mixture and lehr gtm leave them out"));
        }
        if wishes.gaps() == Missing::Skip && selection.weights.is_some() {
            return Err(usage("--weights: rows with gaps have no weights".to_owned())
                .with_hint("--missing=nearest fills the gaps, --missing=drop leaves such rows out"));
        }
        let mut form = preparation.form();
        (form.delimiter, form.header) = (selection.delimiter.map(char::from), selection.header);
        form.text.extend(selection.id.clone());
        let sets_aside = wishes.is_auto && words.sets_aside;
        let preparing = Some(Preparing { wishes, form, sets_aside });
        Ok(Source { selection, preparing, append, ..Source::of(path, frame) })
    }
}

/// The arguments as typed, without the source.
struct Typed<'a> {
    options: Options,
    execution: ExecutionArguments,
    results: ResultArguments,
    /// The command line as typed.
    line: &'a [OsString],
}

impl MethodPlan {
    /// Checks the arguments together. `typed` is the command line as typed, for [`MethodPlan::resume_command`]; `job`
    /// is the processes that compute together, if there are several.
    ///
    /// # Errors
    /// - [`Kind::Usage`] if options contradict each other or the checkpoint.
    /// - [`Kind::Environment`] or [`Kind::BadData`] if a checkpoint cannot be read, is damaged, or belongs to another
    ///   version or method.
    pub fn new(arguments: DeclaredArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let DeclaredArguments { method, input, options, execution, results } = arguments;
        let source = match (input, method.about().takes) {
            (InputArguments::Table(input), Takes::Rows(words)) => Source::table(&words, *input, job.as_ref())?,
            (InputArguments::Stream(stream), _) => Source::stream(&stream, job.as_ref())?,
            // Dissimilarities have no columns to choose.
            (InputArguments::Matrix(path, classes), _) => {
                Source { classes, ..Source::of(path, Frame::Columns(Scale::None)) }
            }
            (InputArguments::Table(_), _) => unreachable!("its arguments are not those of a table"),
        };
        Self::of(method, source, Typed { options, execution, results, line: typed }, job)
    }

    /// Creates the plan of a demonstration with built-in data.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new).
    pub fn of_demo(demo: DemoArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let (mut options, results) = (demo.method.0, demo.results.0);
        let ends = ["clusters", "stop_temperature", "stop_length"];
        if results.resume.is_none() && !ends.iter().any(|option| options.contains_key(*option)) {
            options.insert("clusters".to_owned(), DEMO_CLUSTERS.into());
        }
        let typed = Typed { options, execution: demo.execution, results, line: typed };
        Self::of(&Cluster, Source::census(demo.dataset), typed, job)
    }

    fn of(method: &'static dyn Method, source: Source, typed: Typed<'_>, job: Option<Job>) -> Result<Self, Failure> {
        let Typed { options, execution: computed, results, line } = typed;
        let (options, resumed) = match &results.resume {
            Some(folder) => {
                let content = method.read_checkpoint(&checkpoint_of(folder)?)?;
                (recorded(method, &content, &options)?, Some((content, folder.clone())))
            }
            None => {
                let faults = method.check(&options);
                if !faults.is_empty() {
                    return Err(Failure::new(Kind::Usage, as_typed(&method.options(), &faults)));
                }
                (options, None)
            }
        };
        let (execution, layout) = execution(&computed, job)?;
        if results.trace.is_some() && !execution.engine.has_ranks() {
            let engine = execution.engine;
            return Err(Failure::new(Kind::Usage, format!("--trace shows ranks; --engine {engine} has none")));
        }
        let About { folder, takes, .. } = method.about();
        if results.trace.is_some() && matches!(takes, Takes::Stream(_)) {
            let message = "--trace shows ranks; those of a stream last no longer than a batch";
            return Err(Failure::new(Kind::Usage, message));
        }
        if let (Some(figure), Some(trace)) = (&results.figure, &results.trace)
            && figure.path() == trace
        {
            return Err(Failure::new(Kind::Usage, "--figure and --trace: expected two files"));
        }
        let out = results.out.or(results.resume).unwrap_or_else(|| PathBuf::from(folder));
        Ok(MethodPlan {
            method,
            source,
            options,
            resumed,
            execution,
            layout,
            resume_command: resume_command(line, &out),
            command_without_end: command_without_end(line),
            command: command_without_results(line),
            out,
            force: results.force,
            json: results.json,
            quiet: results.quiet,
            trace: results.trace,
            figure: results.figure,
        })
    }
}

/// Returns the options of a checkpoint; options that were given must agree with them.
fn recorded(method: &dyn Method, content: &[u8], given: &Options) -> Result<Options, Failure> {
    let stored = method.recorded(content).expect("a checkpoint of this method, which was checked");
    let mut repeated = Repeated::default();
    for option in method.options() {
        let Some(value) = given.get(&option.name) else { continue };
        let stored = stored.get(&option.name).filter(|value| !value.is_null());
        let plain = |value: &Value| match (&option.kind, value.as_f64()) {
            // The same number may be written as 1 and as 1.0.
            (_, Some(number)) => number.to_string(),
            (OptionKind::Choice(_), None) => shown(value).replace('_', "-"),
            (_, None) => shown(value),
        };
        repeated.option(&format!("--{}", option.long()), Some(plain(value)), stored.map(plain), String::clone);
    }
    repeated.agree()?;
    Ok(stored)
}
