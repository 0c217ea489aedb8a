//! Turns arguments into a plan; only this step rejects a command line.
//!
//! A plan is complete and consistent: commands run it without looking at the command line again. Options that need the
//! data (columns, K above the number of points) are checked where the data are read and clustered. Methods of
//! `lehr-methods` and dissimilarities have their own plans ([`method`], [`distances`]); this file has the common part.

pub mod distances;
pub mod method;
pub mod place;

use std::ffi::OsString;
use std::path::Path;

use lehr_data::Spill;
use lehr_data::object;
use lehr_data::read::Selection;
use lehr_data::scale::Scale;
use lehr_methods::Frame;
use lehr_ranks::{Engine, Execution, Job, Layout};

use crate::arguments::{EngineArgument, ExecutionArguments, ScaleArgument, SpillArguments};
use crate::exit::{Failure, Kind};

/// Refuses options of tables for rows of bits; `what` says why there are bits. If a separate table has the weights, the
/// selection says how to read that table.
///
/// # Errors
/// Returns [`Kind::Usage`] that names the option.
pub fn of_bits_only(selection: &Selection, has_table: bool, frame: Frame, what: &str) -> Result<(), Failure> {
    not_of_tables(selection, has_table, frame, &format!("{what} has rows of bits"))
}

/// Refuses options of tables for sparse rows. Their columns can be divided but not shifted, so `--scale std` only
/// divides.
///
/// # Errors
/// Returns [`Kind::Usage`] that names the option.
pub fn of_sparse_only(selection: &Selection, has_table: bool, frame: Frame) -> Result<(), Failure> {
    if frame == Frame::Columns(Scale::Robust) {
        let message = "--scale robust: subtracts medians, and columns that are mostly 0 have no quartiles apart; not for sparse rows";
        let hint = "--scale std divides each column by its standard deviation and subtracts no mean, which distances do not depend on";
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

/// Returns the folder for rows that are kept on disk, if there is one.
///
/// # Errors
/// Returns [`Kind::Usage`] if several processes compute together.
fn spill_of(SpillArguments { spill }: SpillArguments, job: Option<&Job>) -> Result<Option<Spill>, Failure> {
    if spill.is_some() && job.is_some() {
        let message = "--spill works in one process: under mpiexec each process keeps all rows in memory";
        return Err(Failure::new(Kind::Usage, message).with_hint("--threads has one process use all cores"));
    }
    Ok(spill.map(Spill::new))
}

/// Refuses a folder for rows that are not plain numbers; `what` describes them.
///
/// # Errors
/// Returns [`Kind::Usage`] if there is a folder for rows.
pub fn stays_in_memory(spill: Option<&Spill>, what: &str) -> Result<(), Failure> {
    match spill {
        None => Ok(()),
        Some(_) => {
            let message = format!("--spill: for tables of numbers; {what}, which are kept in memory");
            Err(Failure::new(Kind::Usage, message))
        }
    }
}

pub fn frame(lonlat: bool, scale: Option<ScaleArgument>, columns: Option<&[String]>) -> Result<Frame, Failure> {
    let scale = match scale.unwrap_or(ScaleArgument::None) {
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

/// Returns the engine, ranks and threads of each process, and the layout of all processes.
///
/// # Errors
/// Returns [`Kind::Usage`] for options that contradict each other or the processes that were started.
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
        // Several processes share the cores of a machine: each has one rank and one thread, unless the user requests
        // more.
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

/// Returns "1 process", "4 processes" and so on.
pub fn processes_counted(processes: usize) -> String {
    if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") }
}

/// Returns the command line that resumes the run in `out`, with its options for the table and the method.
pub(crate) fn resume_command(typed: &[OsString], out: &Path) -> String {
    format!("{} --resume {}", command_without(typed, &["--resume", "--out"]), shell_word(&out.to_string_lossy()))
}

/// Returns the command line without its results, the number of clusters and the stopping criteria, to be repeated with
/// another number.
pub(crate) fn command_without_end(typed: &[OsString]) -> String {
    const END: [&str; 5] = ["--clusters", "-k", "--max-clusters", "--stop-temperature", "--stop-length"];
    command_without(&without_keys(typed), &[&RESULTS[..], &END].concat())
}

/// Returns the command line without its results, for a report.
pub(crate) fn command_without_results(typed: &[OsString]) -> String {
    command_without(&without_keys(typed), &RESULTS)
}

/// The options that name results.
const RESULTS: [&str; 3] = ["--resume", "--out", "--figure"];

/// Returns the words of a command line without secret keys. A report is passed on, and a URL may have a key.
fn without_keys(typed: &[OsString]) -> Vec<OsString> {
    let shown = |word: &OsString| match word.to_str().and_then(|word| word.split_once('=')) {
        Some((option, value)) if option.starts_with("--") => format!("{option}={}", object::shown(value.as_ref())),
        _ => object::shown(word.as_ref()),
    };
    typed.iter().map(|word| shown(word).into()).collect()
}

/// Returns the command line, quoted for a shell, without `--force` and without `options`, which take values.
fn command_without(typed: &[OsString], options: &[&str]) -> String {
    let mut words = vec!["lehr".to_owned()];
    let mut typed = typed.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = typed.next() {
        // `--out=x`, and `-k3` for a one-letter option.
        let is_joined = |option: &&str| {
            let rest = word.strip_prefix(*option).unwrap_or_default();
            !rest.is_empty() && (rest.starts_with('=') || !option.starts_with("--"))
        };
        if options.contains(&&*word) {
            typed.next();
        } else if word != "--force" && !options.iter().any(is_joined) {
            words.push(shell_word(&word));
        }
    }
    words.join(" ")
}

/// Quotes `word` so that a POSIX shell reads it back unchanged.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,=:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::method::MethodPlan;
    use super::*;
    use crate::arguments::{Arguments, Command, Dataset};
    use clap::Parser;

    #[test]
    fn a_command_is_said_again_without_its_end() {
        let typed = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let line = "lehr cluster my.csv -k 3 --out=a --columns x,y --clusters=4 -k5 --stop-temperature 2 --force";
        assert_eq!(command_without_end(&typed(line)), "lehr cluster my.csv --columns x,y");
        let with_end = "lehr cluster my.csv -k 3 --columns x,y --clusters=4 -k5 --stop-temperature 2";
        assert_eq!(command_without_results(&typed(line)), with_end);
        assert_eq!(
            resume_command(&typed("lehr cluster my.csv -k 3 --out a"), Path::new("a b")),
            "lehr cluster my.csv -k 3 --resume 'a b'"
        );
    }

    fn plan(line: &[&str]) -> Result<MethodPlan, Failure> {
        let typed: Vec<OsString> = std::iter::once("lehr").chain(line.iter().copied()).map(OsString::from).collect();
        match Arguments::try_parse_from(&typed).unwrap().command {
            Command::Method(arguments) => MethodPlan::new(arguments, &typed, None),
            Command::Demo(demo) => MethodPlan::of_demo(*demo, &typed, None),
            _ => panic!("another command"),
        }
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
        assert_eq!(plan(&["cluster", "a.csv", "--lonlat", "--columns", "x,y"]).unwrap().source.frame, Frame::Sphere);
    }

    #[test]
    fn each_method_takes_its_own_options_and_no_others() {
        for (line, option) in [
            (vec!["--n-init", "3"], "--n-init"),
            (vec!["--max-iterations", "3", "--method", "da"], "--max-iterations"),
            (vec!["--algorithm", "plain"], "--algorithm"),
            (vec!["--method", "kmeans", "-k", "3", "--stop-length", "2"], "--stop-length"),
            (vec!["--method", "kmeans", "-k", "3", "--cooling", "0.9"], "--cooling"),
        ] {
            let said = usage(&[&["cluster", "a.csv"], &line[..]].concat());
            assert!(said.starts_with(&format!("{option}: expected none with method ")), "{said}");
        }
        let said = usage(&["cluster", "a.csv", "--n-init", "3"]);
        assert!(
            said.contains("which takes clusters, --stop-temperature, --stop-length, --max-clusters, --outlier-radius"),
            "{said}"
        );
        assert!(usage(&["cluster", "a.csv", "--method", "kmeans"]).starts_with("--clusters: expected a number"));
        let line = ["cluster", "a.csv", "--method", "kmeans", "--k", "3", "--n-init", "4", "--algorithm", "plain"];
        let options = serde_json::Value::Object(plan(&line).unwrap().options);
        assert_eq!(
            options,
            serde_json::json!({ "method": "kmeans", "clusters": 3, "n_init": 4, "algorithm": "plain" })
        );
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
        // All options but columns and their scale are for the table with the weights.
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
        let clusters = |line: &[&str]| plan(line).unwrap().options.get("clusters").and_then(serde_json::Value::as_u64);
        assert_eq!(clusters(&["demo", "census"]), Some(20));
        assert_eq!(clusters(&["demo", "census", "--method", "kmeans"]), Some(20));
        assert_eq!(clusters(&["demo", "census", "-k", "3"]), Some(3));
        assert_eq!(clusters(&["demo", "census", "--stop-length", "50"]), None);
        assert_eq!(plan(&["demo", "two-nodes"]).unwrap().source.built_in(), Some(Dataset::TwoNodes));
    }

    #[test]
    fn the_command_to_resume_repeats_what_was_typed() {
        let plan = plan(&["cluster", "my data.csv", "--out", "o", "--clusters", "5", "--force"]).unwrap();
        assert_eq!(plan.resume_command, "lehr cluster 'my data.csv' --clusters 5 --resume o");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
