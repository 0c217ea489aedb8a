//! The arguments of `lehr distances`: the items, the metric, and where the matrix goes.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum};
use lehr_methods::OptionOf;
use lehr_methods::distances::{Options, TABLES, of_comparison, options};
use serde_json::Value;

use super::execution::ExecutionArguments;
use super::method::{argument_of, typed};
use super::positive;
use super::table::delimiter;

/// The arguments of `lehr distances`.
#[derive(Debug, Args)]
#[command(after_help = DISTANCES_HELP)]
pub struct DistancesArguments {
    /// Sequences (FASTA), fingerprints (FPS), molecules (.smi, .sdf) or a table (.csv, .tsv, .txt, .npy), each may be gzipped, or .parquet;
    /// also a matrix to convert. A matrix is big-endian rows of 16 bits (.bin), or a dissimilarities.npy with its
    /// header beside it
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// The metric for the items, and the treatment of their dissimilarities.
    #[command(flatten)]
    pub options: DistancesOptions,

    /// The options of tables.
    #[command(flatten)]
    pub table: FileArguments,

    /// The engine and its settings.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// The options of the matrix.
    #[command(flatten)]
    pub results: MatrixArguments,
}

/// The options that `lehr-methods` declares for distances.
#[derive(Debug)]
pub struct DistancesOptions(pub Options);

/// The options that choose the metric and its parameters.
#[derive(Debug)]
pub struct ComparisonOptions(pub Options);

/// Adds declared options to a command, and the former option for the costs of gaps.
fn augmented(command: Command, declared: Vec<OptionOf>) -> Command {
    let command = declared.into_iter().fold(command, |command, option| command.arg(argument_of(option)));
    let gap = Arg::new(GAP).long(GAP).value_name("OPEN/EXTEND").value_parser(gap_costs).hide(true);
    command
        .arg(gap.conflicts_with_all(["gap_open", "gap_extend"]))
        // -1/-2 are scores, not options.
        .mut_arg("matrix", |matrix| matrix.allow_hyphen_values(true))
}

/// Returns the options that the user typed.
fn read(matches: &ArgMatches, declared: &[OptionOf]) -> Options {
    let mut given = typed(declared, matches);
    if let Some((open, extend)) = matches.get_one::<(i32, i32)>(GAP) {
        given.insert("gap_open".to_owned(), Value::from(*open));
        given.insert("gap_extend".to_owned(), Value::from(*extend));
    }
    serde_json::from_value(Value::Object(given)).expect("options that the command line has checked")
}

/// The former option that gave both costs.
const GAP: &str = "gap";

fn gap_costs(text: &str) -> Result<(i32, i32), String> {
    let costs = text.split_once('/').and_then(|(open, extend)| Some((open.parse().ok()?, extend.parse().ok()?)));
    costs.ok_or_else(|| "expected two whole numbers, OPEN/EXTEND".to_owned())
}

/// Implements clap's traits for a struct of declared options.
macro_rules! declared {
    ($name:ident, $declared:expr) => {
        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Ok(Self(read(matches, &$declared)))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Args for $name {
            fn augment_args(command: Command) -> Command {
                augmented(command, $declared)
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }
    };
}

declared!(DistancesOptions, options());
declared!(ComparisonOptions, of_comparison());

/// How to read the table.
#[derive(Debug, Args)]
#[command(next_help_heading = TABLES)]
pub struct FileArguments {
    /// Separate fields at this character, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, hide_short_help = true)]
    pub delimiter: Option<u8>,
}

/// The options of the matrix.
#[derive(Debug, Args)]
#[command(next_help_heading = "The matrix")]
pub struct MatrixArguments {
    /// Store these pairs
    #[arg(long, value_enum, default_value_t = FormArgument::Full)]
    pub form: FormArgument,

    /// Use at most this much memory for the values; larger runs are refused at once [default: the free memory]
    #[arg(long, value_name = "GIB", value_parser = positive, hide_short_help = true)]
    pub memory: Option<f64>,

    /// Write the results to this folder; dissimilarities.npy, its header dissimilarities.json and ids.csv. Replaces an
    /// earlier matrix [default: lehr-distances]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run in this folder; it has a checkpoint. Needs the same input and options
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    pub resume: Option<PathBuf>,

    /// Replace protected files: an unfinished run's checkpoint, other commands' results, and files that Lehr may not
    /// have written
    #[arg(long, hide_short_help = true)]
    pub force: bool,

    /// Print the header, and nothing else, to standard output
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

/// The pairs that are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArgument {
    /// All pairs, N x N
    Full,
    /// The pairs above the diagonal, as SciPy's pdist orders them
    Condensed,
}

const DISTANCES_HELP: &str = "\
Example:
  lehr distances genes.fasta --out genes
      align all pairs; their distance is 1 less the share of identical letters

  lehr distances patients.csv --standardize --form condensed
      Euclidean distances of rows, as SciPy's linkage takes them

  lehr distances aligned.fasta --alignment given --metric kimura --element u16
      two bytes a pair; dissimilarities.json says what its numbers mean

  mpiexec -n 4 lehr distances reads.fasta --collapse
      compare distinct reads only, with their numbers as weights; four processes give the same bits

Next: lehr pairwise clusters the matrix, lehr embed draws a map of it. Both take the folder's dissimilarities.json.

Ctrl-C stops the run, keeps what is finished and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 data, 4 environment, 130 stopped.";
