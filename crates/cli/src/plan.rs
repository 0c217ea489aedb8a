//! Arguments become a plan: the one step in which a command line can be wrong.
//!
//! A [`Plan`] is complete and consistent: commands run it without looking at the command line again. What can only be known
//! with the data in hand (columns, K above the number of points) is checked where the data are read and clustered.
//! Dissimilarities, streams and the methods of `lehr-methods` have plans of their own ([`distances`], [`minibatch`], [`method`]).

pub mod distances;
pub mod method;
pub mod minibatch;
pub mod place;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lehr_data::Spill;
use lehr_data::read::Selection;
use lehr_data::scale::Scale;
use lehr_data::sparse::FirstColumn;
use lehr_methods::Frame;
use lehr_mining::kmeans::{self, Sweeps};
use lehr_mining::vector::{self, Cost, Precision};
use lehr_ranks::{Engine, Execution, Job, Layout};

use crate::arguments::{
    Arguments, ClusterMethod, Command, CostArgument, Dataset, EngineArgument, ExecutionArguments, MethodArguments,
    PrecisionArgument, ScaleArgument, SpillArguments, SweepsArgument,
};
use crate::clustering::{Checkpoint, Parameters};
use crate::exit::{Failure, Kind};
use crate::resume::{Repeated, checkpoint_of};

/// The folder for results when none is named.
const OUT_DEFAULT: &str = "lehr-out";

/// How many clusters the demonstration looks for.
const DEMO_CLUSTERS: usize = 20;

/// One run: where the points come from, what is done with them, what becomes of the results.
pub struct Plan {
    /// Where the points come from.
    pub source: Source,
    /// In which space they are clustered.
    pub frame: Frame,
    /// From the beginning, or from a checkpoint.
    pub start: Start,
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
    /// The file for what each rank did when.
    pub trace: Option<PathBuf>,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
}

/// Where points come from.
pub enum Source {
    /// A table on disk.
    Table {
        /// The file, as typed.
        path: PathBuf,
        /// Which of its columns mean what.
        selection: Selection,
        /// How many packed bits its rows have, if it is an array of such.
        bits: Option<usize>,
        /// The table with the weights of rows of bits or of sparse rows, if they have any.
        weights_from: Option<PathBuf>,
        /// What the first column of SVMlight's text is numbered, if that is said.
        first_column: Option<FirstColumn>,
        /// Where rows of numbers are kept that memory should not hold.
        spill: Option<Spill>,
    },
    /// A data set that is built in.
    BuiltIn(Dataset),
}

/// Where a run begins.
pub enum Start {
    /// One cluster at a high temperature, or centres that are drawn.
    Fresh(Parameters),
    /// The state of an earlier run, and the folder it came from.
    Resumed(Checkpoint, PathBuf),
}

impl Plan {
    /// Checks the arguments together. `typed` is the command line as it came, for [`Plan::resume_command`]; `job` the processes that compute
    /// together, if there are several.
    ///
    /// # Errors
    /// - [`Kind::Usage`]: options that contradict each other or the checkpoint.
    /// - [`Kind::Environment`], [`Kind::BadData`]: a checkpoint that cannot be read, or is damaged or of another version.
    ///
    /// # Panics
    /// If the command is one that clusters nothing.
    pub fn new(arguments: Arguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let (source, frame, mut method, execution, results) = match arguments.command {
            Command::Cluster(cluster) => {
                let table = cluster.table;
                let frame = frame(table.lonlat, table.scale, table.columns.as_deref())?;
                let selection = table.selection();
                let (bits, weights_from, first_column) = (cluster.bits, cluster.weights_from, cluster.first_column);
                let spill = spill_of(cluster.spill, job.as_ref())?;
                if bits.is_some() {
                    if first_column.is_some() {
                        let message = "--first-column: for SVMlight's text; --bits has rows of bits";
                        return Err(Failure::new(Kind::Usage, message));
                    }
                    of_bits_only(&selection, weights_from.is_some(), frame, "--bits")?;
                    stays_in_memory(spill.as_ref(), "--bits has rows of bits")?;
                }
                let source = Source::Table { path: cluster.input, selection, bits, weights_from, first_column, spill };
                (source, frame, cluster.method, cluster.execution, cluster.results)
            }
            Command::Demo(demo) => {
                (Source::BuiltIn(demo.dataset), Frame::Sphere, demo.method, demo.execution, demo.results)
            }
            _ => unreachable!("`main` hands measurements and services to their commands: they cluster nothing"),
        };
        let start = match &results.resume {
            Some(folder) => Start::Resumed(checkpoint(folder, &method)?, folder.clone()),
            None => {
                let ends =
                    method.clusters.is_some() || method.stop_temperature.is_some() || method.stop_length.is_some();
                if matches!(source, Source::BuiltIn(_)) && !ends {
                    method.clusters = Some(DEMO_CLUSTERS);
                }
                Start::Fresh(parameters(&method)?)
            }
        };
        let (execution, layout) = self::execution(&execution, job)?;
        if results.trace.is_some() && !execution.engine.has_ranks() {
            let engine = execution.engine;
            return Err(Failure::new(Kind::Usage, format!("--trace shows ranks; --engine {engine} has none")));
        }
        let out = results.out.or(results.resume).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(Plan {
            source,
            frame,
            start,
            execution,
            layout,
            resume_command: resume_command(typed, &out),
            out,
            force: results.force,
            json: results.json,
            quiet: results.quiet,
            trace: results.trace,
        })
    }
}

/// That nothing is asked for which tables have and rows of bits have not; `what` says why there are bits. Where their weights stand in a table beside, the selection says how that is read.
///
/// # Errors
/// [`Kind::Usage`] with the option.
pub fn of_bits_only(selection: &Selection, has_table: bool, frame: Frame, what: &str) -> Result<(), Failure> {
    not_of_tables(selection, has_table, frame, &format!("{what} has rows of bits"))
}

/// The same of sparse rows, whose columns can be divided, but not shifted: `--scale std` is then a division.
///
/// # Errors
/// [`Kind::Usage`] with the option.
pub fn of_sparse_only(selection: &Selection, has_table: bool, frame: Frame) -> Result<(), Failure> {
    if frame == Frame::Columns(Scale::Robust) {
        let message = "--scale robust: subtracts medians, and columns that are mostly 0 have no quartiles apart; not for sparse rows";
        let hint = "--scale std divides each column by its standard deviation and subtracts nothing, which distances do not see";
        return Err(Failure::new(Kind::Usage, message).with_hint(hint));
    }
    let frame = if frame == Frame::Columns(Scale::Std) { Frame::Columns(Scale::None) } else { frame };
    not_of_tables(selection, has_table, frame, "the file has sparse rows")
}

fn not_of_tables(selection: &Selection, has_table: bool, frame: Frame, why: &str) -> Result<(), Failure> {
    let asked = [
        ("--columns", selection.columns.is_some()),
        ("--weights", selection.weights.is_some() && !has_table),
        ("--id", selection.id.is_some() && !has_table),
        ("--lonlat", frame == Frame::Sphere),
        ("--scale", !matches!(frame, Frame::Sphere | Frame::Columns(Scale::None))),
        ("--delimiter", selection.delimiter.is_some() && !has_table),
        ("--header and --no-header", selection.header.is_some() && !has_table),
    ];
    let Some((option, _)) = asked.iter().find(|(_, is_asked)| *is_asked) else { return Ok(()) };
    let failure = Failure::new(Kind::Usage, format!("{option}: for tables of numbers; {why}"));
    Err(match *option {
        "--weights" => failure.with_hint("--weights-from names a table that has the weights"),
        _ => failure,
    })
}

/// The folder for what memory should not hold, if there is one.
///
/// # Errors
/// [`Kind::Usage`] where several processes compute together.
fn spill_of(SpillArguments { spill }: SpillArguments, job: Option<&Job>) -> Result<Option<Spill>, Failure> {
    if spill.is_some() && job.is_some() {
        let message = "--spill: for one process; each that mpiexec starts holds all rows in memory";
        return Err(Failure::new(Kind::Usage, message).with_hint("--threads has one process use all cores"));
    }
    Ok(spill.map(Spill::new))
}

/// That rows which are not plain numbers, as `what` says, need not be kept on a disk.
///
/// # Errors
/// [`Kind::Usage`].
pub fn stays_in_memory(spill: Option<&Spill>, what: &str) -> Result<(), Failure> {
    match spill {
        None => Ok(()),
        Some(_) => {
            let message = format!("--spill: for tables of numbers; {what}, which are kept in memory");
            Err(Failure::new(Kind::Usage, message))
        }
    }
}

fn frame(lonlat: bool, scale: ScaleArgument, columns: Option<&[String]>) -> Result<Frame, Failure> {
    let scale = match scale {
        ScaleArgument::None => Scale::None,
        ScaleArgument::Std => Scale::Std,
        ScaleArgument::Robust => Scale::Robust,
    };
    if !lonlat {
        return Ok(Frame::Columns(scale));
    }
    if scale != Scale::None {
        return Err(Failure::new(
            Kind::Usage,
            "--lonlat and --scale exclude each other: distances on the sphere are km already",
        ));
    }
    match columns {
        Some(columns) if columns.len() != 2 => Err(Failure::new(
            Kind::Usage,
            format!("--lonlat needs two columns, longitude and latitude; --columns names {}", columns.len()),
        )),
        _ => Ok(Frame::Sphere),
    }
}

fn precision(argument: PrecisionArgument) -> Precision {
    match argument {
        PrecisionArgument::F64 => Precision::F64,
        PrecisionArgument::F32 => Precision::F32,
    }
}

fn precision_name(precision: &Precision) -> String {
    match precision {
        Precision::F64 => "f64",
        Precision::F32 => "f32",
    }
    .to_owned()
}

/// What the options say to the method that is asked for.
///
/// # Errors
/// [`Kind::Usage`] for options of the other method.
fn parameters(method: &MethodArguments) -> Result<Parameters, Failure> {
    let asked = method.method.unwrap_or(ClusterMethod::Da);
    applies(method, asked)?;
    match asked {
        ClusterMethod::Da => annealing(method).map(Parameters::Annealing),
        ClusterMethod::Kmeans => kmeans(method).map(Parameters::KMeans),
    }
}

/// What a row costs, if anything is said of it.
///
/// # Errors
/// [`Kind::Usage`] for a prior of something else than a likelihood, and for lengths beside one.
fn cost(method: &MethodArguments) -> Result<Option<Cost>, Failure> {
    if method.cost != Some(CostArgument::Bernoulli) {
        if method.prior.is_some() {
            return Err(Failure::new(Kind::Usage, "--prior goes with --cost bernoulli"));
        }
        return Ok(method.cost.map(|_| Cost::Squared));
    }
    let lengths = [("--sponge", method.sponge.is_some()), ("--stop-length", method.stop_length.is_some())];
    if let Some((option, _)) = lengths.iter().find(|(_, is_given)| *is_given) {
        let message = format!("{option} is a length, and --cost bernoulli is no distance");
        return Err(Failure::new(Kind::Usage, message));
    }
    Ok(Some(Cost::Bernoulli { prior: method.prior.unwrap_or(Cost::PRIOR) }))
}

/// Refuses a cost that the rows of an input cannot have.
///
/// # Errors
/// [`Kind::Usage`].
pub fn suits(parameters: &Parameters, rows: vector::Input<'_>, input: &str) -> Result<(), Failure> {
    let found = match (parameters.cost(), rows) {
        (Cost::Squared, _) | (_, vector::Input::Bits(_)) => return Ok(()),
        (_, vector::Input::Numbers(_)) => "a table of numbers",
        (_, vector::Input::Sparse(_)) => "sparse rows",
    };
    let message = format!("{input}: --cost bernoulli expects rows of bits, found {found}");
    Err(Failure::new(Kind::Usage, message).with_hint("an .fps file has them, or a .npy with --bits"))
}

fn annealing(method: &MethodArguments) -> Result<vector::Parameters, Failure> {
    let mut parameters = vector::Parameters {
        clusters: method.clusters,
        stop_temperature: method.stop_temperature,
        stop_length: method.stop_length,
        ..vector::Parameters::default()
    };
    parameters.max_clusters = method.max_clusters;
    parameters.sponge = method.sponge;
    parameters.cost = cost(method)?.unwrap_or_default();
    if let Some(seed) = method.seed {
        parameters.seed = seed;
    }
    if let Some(width) = method.precision {
        parameters.precision = precision(width);
    }
    Ok(parameters)
}

fn kmeans(method: &MethodArguments) -> Result<kmeans::Parameters, Failure> {
    let Some(clusters) = method.clusters else {
        let message = "--method kmeans needs --clusters: only --method da can tell how many there are";
        return Err(Failure::new(Kind::Usage, message));
    };
    let default = kmeans::Parameters::default();
    Ok(kmeans::Parameters {
        clusters,
        starts: method.starts.unwrap_or(default.starts),
        max_sweeps: method.max_sweeps.unwrap_or(default.max_sweeps),
        sweeps: method.sweeps.map_or(default.sweeps, sweeps),
        seed: method.seed.unwrap_or(default.seed),
        precision: method.precision.map_or(default.precision, precision),
        ..default
    })
}

/// Refuses options that the method has no use for.
fn applies(method: &MethodArguments, asked: ClusterMethod) -> Result<(), Failure> {
    let of_annealing: &[(&str, bool)] = &[
        ("--stop-temperature", method.stop_temperature.is_some()),
        ("--stop-length", method.stop_length.is_some()),
        ("--max-clusters", method.max_clusters.is_some()),
        ("--sponge", method.sponge.is_some()),
        ("--cost", method.cost.is_some()),
        ("--prior", method.prior.is_some()),
    ];
    let of_kmeans: &[(&str, bool)] = &[
        ("--starts", method.starts.is_some()),
        ("--max-sweeps", method.max_sweeps.is_some()),
        ("--sweeps", method.sweeps.is_some()),
    ];
    let (own, others) = match asked {
        ClusterMethod::Da => (of_annealing, of_kmeans),
        ClusterMethod::Kmeans => (of_kmeans, of_annealing),
    };
    let Some((option, _)) = others.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let own: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
    let own = own.join(", ");
    let message = format!("{option} does not go with --method {}", method_name(asked));
    Err(Failure::new(Kind::Usage, message).with_hint(format!("it takes --clusters, {own}, --seed and --precision")))
}

fn method_name(method: ClusterMethod) -> String {
    match method {
        ClusterMethod::Da => "da",
        ClusterMethod::Kmeans => "kmeans",
    }
    .to_owned()
}

fn sweeps(argument: SweepsArgument) -> Sweeps {
    match argument {
        SweepsArgument::Bounded => Sweeps::Bounded,
        SweepsArgument::Plain => Sweeps::Plain,
    }
}

/// Engine, ranks and threads of each process, and the layout of all.
///
/// # Errors
/// [`Kind::Usage`]: options that contradict each other or the processes that were started.
pub fn execution(arguments: &ExecutionArguments, job: Option<Job>) -> Result<(Execution, Layout), Failure> {
    let engine = match arguments.engine {
        EngineArgument::Ranks => Engine::Ranks,
        EngineArgument::Loop => Engine::Loop,
        EngineArgument::Ports => Engine::Ports,
        EngineArgument::MapReduce => Engine::MapReduce,
    };
    if arguments.ranks.is_some() && !engine.has_ranks() {
        return Err(Failure::new(
            Kind::Usage,
            format!("--ranks goes with --engine ranks or map-reduce; --engine {engine} shares the rows among threads"),
        ));
    }
    let processes = job.map_or(1, |Job(job)| job.processes());
    if arguments.layout.is_some() && !engine.has_ranks() {
        return Err(Failure::new(Kind::Usage, format!("--layout places ranks; --engine {engine} has none")));
    }
    if job.is_some() && !engine.has_ranks() {
        return Err(Failure::new(
            Kind::Usage,
            format!("--engine {engine} runs in one process, and mpiexec started {processes}"),
        ));
    }
    let mut execution = Execution { engine, job, ..Execution::default() };
    if job.is_some() {
        // Several processes share the cores of a machine: one rank and one thread each, unless more are asked for.
        (execution.threads, execution.ranks) = (1, 1);
    }
    if let Some(layout) = arguments.layout {
        execution.ranks = layout.threads;
        execution.threads = layout.threads.min(Execution::default().threads);
    }
    if let Some(threads) = arguments.threads {
        execution.threads = threads;
        if arguments.layout.is_none() {
            execution.ranks = threads;
        }
    }
    if let Some(ranks) = arguments.ranks {
        execution.ranks = ranks;
    }
    if !engine.has_ranks() {
        execution.ranks = 1;
    }
    let layout = match arguments.layout {
        Some(layout) => layout,
        None => Layout { threads: execution.ranks, processes, nodes: 1 },
    };
    let asked = layout.processes * layout.nodes;
    if asked != processes {
        let started = if job.is_some() { format!("mpiexec started {processes}") } else { "this is one".to_owned() };
        let message = format!("--layout {layout} has {}, and {started}", processes_counted(asked));
        return Err(
            Failure::new(Kind::Usage, message).with_hint(format!("mpiexec -n {asked} lehr … --layout {layout}"))
        );
    }
    Ok((execution, layout))
}

/// "1 process", "4 processes".
pub fn processes_counted(processes: usize) -> String {
    if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") }
}

/// Reads the checkpoint of `folder`, and refuses options that say something else than it does.
fn checkpoint(folder: &Path, method: &MethodArguments) -> Result<Checkpoint, Failure> {
    let checkpoint = Checkpoint::read(&checkpoint_of(folder)?)?;
    let found = match &checkpoint {
        Checkpoint::Annealing(_) => ClusterMethod::Da,
        Checkpoint::KMeans(_) => ClusterMethod::Kmeans,
    };
    let mut repeated = Repeated::default();
    repeated.option("--method", method.method, Some(found), |method| method_name(*method));
    repeated.agree()?;
    applies(method, found)?;
    let kind = |sweeps: &Sweeps| if *sweeps == Sweeps::Plain { "plain" } else { "bounded" }.to_owned();
    let mut repeated = Repeated::default();
    match &checkpoint {
        Checkpoint::Annealing(checkpoint) => {
            let stored = checkpoint.parameters();
            repeated.option("--clusters", method.clusters, stored.clusters, usize::to_string);
            repeated.option("--stop-temperature", method.stop_temperature, stored.stop_temperature, f64::to_string);
            repeated.option("--stop-length", method.stop_length, stored.stop_length, f64::to_string);
            repeated.option("--max-clusters", method.max_clusters, stored.max_clusters, usize::to_string);
            repeated.option("--sponge", method.sponge, stored.sponge, f64::to_string);
            let name = |cost: &CostArgument| {
                let words = if *cost == CostArgument::Bernoulli { "bernoulli" } else { "squared" };
                words.to_owned()
            };
            let (of_stored, prior) = match stored.cost {
                Cost::Squared => (CostArgument::Squared, None),
                Cost::Bernoulli { prior } => (CostArgument::Bernoulli, Some(prior)),
            };
            repeated.option("--cost", method.cost, Some(of_stored), name);
            repeated.option("--prior", method.prior, prior, f64::to_string);
            repeated.option("--seed", method.seed, Some(stored.seed), u64::to_string);
            repeated.option("--precision", method.precision.map(precision), Some(stored.precision), precision_name);
        }
        Checkpoint::KMeans(checkpoint) => {
            let stored = checkpoint.parameters();
            repeated.option("--clusters", method.clusters, Some(stored.clusters), usize::to_string);
            repeated.option("--starts", method.starts, Some(stored.starts), usize::to_string);
            repeated.option("--max-sweeps", method.max_sweeps, Some(stored.max_sweeps), u64::to_string);
            repeated.option("--sweeps", method.sweeps.map(sweeps), Some(stored.sweeps), kind);
            repeated.option("--seed", method.seed, Some(stored.seed), u64::to_string);
            repeated.option("--precision", method.precision.map(precision), Some(stored.precision), precision_name);
        }
    }
    repeated.agree()?;
    Ok(checkpoint)
}

/// The command line with its options for the table and the method, going on in `out`.
pub(crate) fn resume_command(typed: &[OsString], out: &Path) -> String {
    let mut words = vec!["lehr".to_owned()];
    let mut typed = typed.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = typed.next() {
        match word.as_ref() {
            "--force" => {}
            "--resume" | "--out" => {
                typed.next();
            }
            joined if joined.starts_with("--resume=") || joined.starts_with("--out=") => {}
            _ => words.push(shell_word(&word)),
        }
    }
    words.push("--resume".to_owned());
    words.push(shell_word(&out.to_string_lossy()));
    words.join(" ")
}

/// `word` as a POSIX shell reads it back.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,=:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn plan(line: &[&str]) -> Result<Plan, Failure> {
        let typed: Vec<OsString> = std::iter::once("lehr").chain(line.iter().copied()).map(OsString::from).collect();
        Plan::new(Arguments::try_parse_from(&typed).unwrap(), &typed, None)
    }

    fn usage(line: &[&str]) -> String {
        let failure = plan(line).err().unwrap();
        assert_eq!(failure.kind, Kind::Usage);
        failure.message
    }

    #[test]
    fn the_sphere_takes_two_columns_and_no_scale() {
        assert!(usage(&["cluster", "a.csv", "--lonlat", "--columns", "lon"]).contains("names 1"));
        assert!(usage(&["cluster", "a.csv", "--lonlat", "--scale", "std"]).contains("exclude each other"));
        assert_eq!(plan(&["cluster", "a.csv", "--lonlat", "--columns", "x,y"]).unwrap().frame, Frame::Sphere);
    }

    #[test]
    fn each_method_takes_its_own_options_and_no_others() {
        for (line, option) in [
            (vec!["--starts", "3"], "--starts"),
            (vec!["--max-sweeps", "3", "--method", "da"], "--max-sweeps"),
            (vec!["--sweeps", "plain"], "--sweeps"),
            (vec!["--method", "kmeans", "-k", "3", "--stop-length", "2"], "--stop-length"),
            (vec!["--method", "kmeans", "--max-clusters", "2"], "--max-clusters"),
        ] {
            let said = usage(&[&["cluster", "a.csv"], &line[..]].concat());
            assert!(said.starts_with(&format!("{option} does not go with --method ")), "{said}");
        }
        assert!(usage(&["cluster", "a.csv", "--method", "kmeans"]).contains("needs --clusters"));
        let line = ["cluster", "a.csv", "--method", "kmeans", "-k", "3", "--starts", "4", "--sweeps", "plain"];
        let Start::Fresh(Parameters::KMeans(parameters)) = plan(&line).unwrap().start else { panic!("no k-means") };
        assert_eq!((parameters.clusters, parameters.starts, parameters.sweeps), (3, 4, Sweeps::Plain));
    }

    #[test]
    fn bits_have_nothing_that_tables_have() {
        for (option, value) in
            [("--columns", "x"), ("--weights", "x"), ("--id", "x"), ("--scale", "std"), ("--delimiter", "tab")]
        {
            let message = usage(&["cluster", "a.npy", "--bits", "8", option, value]);
            assert_eq!(message, format!("{option}: for tables of numbers; --bits has rows of bits"));
        }
        assert!(usage(&["cluster", "a.npy", "--bits", "8", "--lonlat"]).starts_with("--lonlat: for tables"));
        assert!(usage(&["cluster", "a.npy", "--bits", "8", "--no-header"]).contains("--no-header: for tables"));
        let message = usage(&["cluster", "a.npy", "--bits", "8", "--spill", "s"]);
        assert_eq!(message, "--spill: for tables of numbers; --bits has rows of bits, which are kept in memory");
        // All but columns and their scale are of the table that has the weights.
        let beside = ["cluster", "a.npy", "--bits", "8", "--weights-from", "t.csv", "--weights", "w", "--id", "i"];
        assert!(plan(&[&beside[..], &["--delimiter", "tab", "--header"]].concat()).is_ok());
        assert!(usage(&[&beside[..], &["--columns", "x"]].concat()).starts_with("--columns: for tables"));
    }

    #[test]
    fn ranks_go_with_their_engine_and_default_to_the_threads() {
        assert!(
            usage(&["cluster", "a.csv", "--engine", "loop", "--ranks", "3"]).contains("--engine ranks or map-reduce")
        );
        assert!(usage(&["cluster", "a.csv", "--engine", "loop", "--trace", "t.json"]).contains("--trace shows ranks"));
        let execution = plan(&["cluster", "a.csv", "--threads", "5"]).unwrap().execution;
        assert_eq!((execution.threads, execution.ranks), (5, 5));
        let execution = plan(&["cluster", "a.csv", "--threads", "2", "--ranks", "7"]).unwrap().execution;
        assert_eq!((execution.threads, execution.ranks), (2, 7));
    }

    #[test]
    fn a_layout_places_ranks_and_needs_its_processes() {
        let plan = |line: &[&str]| plan(line).unwrap();
        let found = plan(&["cluster", "a.csv", "--layout", "6x1x1", "--threads", "2"]);
        assert_eq!(
            (found.execution.threads, found.execution.ranks, found.layout.to_string()),
            (2, 6, "6x1x1".to_owned())
        );
        assert_eq!(plan(&["cluster", "a.csv", "--ranks", "3"]).layout.to_string(), "3x1x1");
        assert!(usage(&["cluster", "a.csv", "--layout", "1x4x1"]).contains("4 processes, and this is one"));
        assert!(usage(&["cluster", "a.csv", "--layout", "2x1x1", "--engine", "loop"]).contains("places ranks"));
    }

    #[test]
    fn the_demonstration_looks_for_twenty_clusters_unless_told_otherwise() {
        let clusters = |line: &[&str]| match plan(line).unwrap().start {
            Start::Fresh(Parameters::Annealing(parameters)) => parameters.clusters,
            Start::Fresh(Parameters::KMeans(parameters)) => Some(parameters.clusters),
            Start::Resumed(..) => panic!("nothing to resume"),
        };
        assert_eq!(clusters(&["demo", "census"]), Some(20));
        assert_eq!(clusters(&["demo", "census", "--method", "kmeans"]), Some(20));
        assert_eq!(clusters(&["demo", "census", "-k", "3"]), Some(3));
        assert_eq!(clusters(&["demo", "census", "--stop-length", "50"]), None);
    }

    #[test]
    fn the_command_to_resume_repeats_what_was_typed() {
        let plan = plan(&["cluster", "my data.csv", "--out", "o", "--clusters", "5", "--force"]).unwrap();
        assert_eq!(plan.resume_command, "lehr cluster 'my data.csv' --clusters 5 --resume o");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
