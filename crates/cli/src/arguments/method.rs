//! The arguments of `lehr METHOD`, for every method that `lehr-methods` declares: the input, the declared options, the
//! results.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use lehr_data::FingerprintKind;
use lehr_data::sparse::FirstColumn;
use lehr_methods::cluster::Cluster;
use lehr_methods::distances;
use lehr_methods::embed::Embedding;
use lehr_methods::options::Kind;
use lehr_methods::{ALL, About, MatrixWords, Method, OptionOf, Options, Takes, find};
use serde_json::Value;

use super::at_least_one;
use super::execution::ExecutionArguments;
use super::preparation::PreparationArguments;
use super::spill::SpillArguments;
use super::stream::StreamArguments;
use super::table::TableArguments;
use crate::figure::FigureFile;

/// A method with its options.
pub struct DeclaredArguments {
    /// The method.
    pub method: &'static dyn Method,
    /// The data.
    pub input: InputArguments,
    /// Only the options that were given.
    pub options: Options,
    /// The engine and its settings.
    pub execution: ExecutionArguments,
    /// The options of the results.
    pub results: ResultArguments,
}

impl std::fmt::Debug for DeclaredArguments {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct(self.method.about().name).field("options", &self.options).finish_non_exhaustive()
    }
}

/// The source of the data, as typed.
#[derive(Debug)]
pub enum InputArguments {
    /// A table of rows.
    Table(Box<TableInput>),
    /// A stream of rows.
    Stream(Box<StreamArguments>),
    /// The dissimilarities of all pairs, and the source of known classes of the items, if there is one.
    Matrix(PathBuf, Option<ClassSource>),
}

/// The file with the classes of the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassSource {
    /// The table.
    pub path: PathBuf,
    /// The columns with the classes.
    pub columns: Vec<String>,
}

/// The dissimilarities.
#[derive(Debug, Args)]
struct MatrixArguments {
    #[arg(value_name = "MATRIX")]
    path: PathBuf,
}

/// Known classes of the items.
#[derive(Debug, Args)]
struct ClassArguments {
    /// Colour the map by the classes in this table; for example the labels.csv of lehr pairwise. It has items in the
    /// column id and their classes in the column of --by
    ///
    /// Items without names are called 0, 1, …
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// Read the classes from these columns of --labels; words or numbers, as classes or on a scale; values may be
    /// missing
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', default_value = "cluster", requires = "labels")]
    by: Vec<String>,
}

impl ClassArguments {
    fn source(self) -> Option<ClassSource> {
        Some(ClassSource { path: self.labels?, columns: self.by })
    }
}

/// Returns the help for the dissimilarities.
fn matrix_help(words: MatrixWords) -> String {
    let missing = if words.may_miss_pairs { " NaN is a missing pair." } else { "" };
    format!(
        "Dissimilarities of all pairs: the dissimilarities.json of lehr distances or the array beside it; or an NPY array of f4 or f8. It is square, or has the N (N - 1) / 2 \
         pairs above the diagonal, as SciPy's pdist gives it.{missing} The ids.csv beside the header has names and weights"
    )
}

/// A table with its options.
#[derive(Debug)]
pub struct TableInput {
    /// The table and how to read it.
    pub rows: RowArguments,
    /// The options for rows of bits and sparse rows only.
    pub packed: PackedArguments,
    /// How to turn the table into numbers.
    pub preparation: PreparationArguments,
}

/// The table and how to read it.
#[derive(Debug, Args)]
pub struct RowArguments {
    /// Table: .csv, .tsv, .txt (each may be gzipped), .xlsx, .xls, .ods, .jsonl, .json, .npy or .parquet
    #[arg(value_name = "INPUT")]
    pub path: PathBuf,

    /// The folder for its rows.
    #[command(flatten)]
    pub spill: SpillArguments,

    /// The role of each column.
    #[command(flatten)]
    pub table: TableArguments,
}

/// The options for rows of bits and sparse rows only.
#[derive(Debug, Default, Args)]
pub struct PackedArguments {
    /// Read the .npy as rows of this many bits, as numpy.packbits(rows, axis=1) packs them; this takes a 64th of the
    /// memory
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = at_least_one)]
    pub bits: Option<usize>,

    /// Make these fingerprints of molecules: morgan (circular, radius 2, 2,048 bits) or maccs (166 keys) [default: morgan]
    #[arg(long, hide_short_help = true, value_name = "KIND")]
    pub fingerprint: Option<FingerprintKind>,

    /// Number the first column of SVMlight's text 0 or 1 [default: 0 if a column 0 occurs, else 1]
    #[arg(long, hide_short_help = true, value_name = "0|1", value_parser = first_column)]
    pub first_column: Option<FirstColumn>,

    /// Read the weights of fingerprints, packed bits and sparse rows from the column --weights of this table; the
    /// column --id matches the rows. Without --id, row n of the table has the weight of row n
    #[arg(long, hide_short_help = true, value_name = "TABLE", requires = "weights")]
    pub weights_from: Option<PathBuf>,
}

/// The help for the input of a method that also takes rows of bits and sparse rows.
const ANY_ROWS: &str = "Table: .csv, .tsv, .txt (each may be gzipped), .xlsx, .xls, .ods, .jsonl, .json, .npy or .parquet; fingerprints: .fps (may be gzipped), or .npy with --bits; molecules: .smi or .sdf (may be gzipped). Sparse rows: SVMlight's text or Matrix Market .mtx (each may be gzipped)";

fn first_column(text: &str) -> Result<FirstColumn, String> {
    match text {
        "0" => Ok(FirstColumn::Zero),
        "1" => Ok(FirstColumn::One),
        _ => Err("expected 0 or 1".to_owned()),
    }
}

/// The options of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct ResultArguments {
    /// Write the results to this folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run in this folder; it has a checkpoint. Needs the same input and table options, takes other
    /// options from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Draw the results to this file; its name ends in .svg or .png, such as map.svg
    ///
    /// Shows rows or items in the colours of their clusters, with axes and a legend. The rows in clusters set the
    /// limits; outliers beyond are marked at the edge.
    #[arg(long, value_name = "FILE", value_parser = FigureFile::of)]
    pub figure: Option<FigureFile>,

    /// Replace protected files
    #[arg(long, hide_short_help = true)]
    pub force: bool,

    /// Print summary.json to standard output
    #[arg(long)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,

    /// Write the actions of each rank with their times to this file, for ui.perfetto.dev or chrome://tracing; with
    /// --engine ranks or map-reduce
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// The end of every method's help, after the examples.
const ENDS: &str = "Ctrl-C stops the run, keeps a checkpoint and says how to continue.\n\
                    Exit codes: 0 done, 1 no result, 2 usage, 3 data, 4 environment, 130 stopped.";

/// Returns the subcommand of a method.
fn command_of(method: &dyn Method) -> Command {
    let about = method.about();
    let command = Command::new(about.name);
    let command = match about.takes {
        Takes::Matrix(words) => {
            MatrixArguments::augment_args(command).mut_arg("path", |path| path.help(matrix_help(words)))
        }
        Takes::Stream(_) => StreamArguments::augment_args(command),
        Takes::Rows(words) => {
            let command = if words.takes_bits_and_sparse { PackedArguments::augment_args(command) } else { command };
            let command = RowArguments::augment_args(command);
            let command =
                if words.takes_bits_and_sparse { command.mut_arg("path", |path| path.help(ANY_ROWS)) } else { command };
            let (own, all) = match words.missing {
                Some(words) => (words.becomes, "skip, median, mode, nearest or drop"),
                None => ("filled from the nearest rows", "median, mode, nearest or drop"),
            };
            let command = command.mut_arg("lonlat", |lonlat| lonlat.hide_short_help(words.not_on_sphere.is_some()));
            PreparationArguments::augment_args(command).mut_arg("missing", |missing| {
                missing
                    .help(format!("Allow missing values; empty cells, NA and the like, {own}, or as HOW says ({all})"))
            })
        }
    };
    let command = with_options(command, method);
    let command = match about.takes {
        Takes::Matrix(words) if words.has_classes => ClassArguments::augment_args(command),
        _ => command,
    };
    let command = ExecutionArguments::augment_args(command);
    with_results(command, about)
        // Set last, because each part that was added sets its own help.
        .about(about.line)
        .long_about(format!("{}\n\n{}", about.line, about.paragraph))
        .after_help(format!("Example:\n{}\n\n{ENDS}", about.examples))
}

/// Adds a method's options to a command.
fn with_options(command: Command, method: &dyn Method) -> Command {
    method
        .options()
        .into_iter()
        .fold(command.next_help_heading(method.about().heading), |command, option| command.arg(argument_of(option)))
}

/// Adds the options of a method's results to a command.
fn with_results(command: Command, about: &About) -> Command {
    let result = about.result;
    let (last, files) = about.files.split_last().expect("a method writes a summary");
    let is_stream = matches!(about.takes, Takes::Stream(_));
    ResultArguments::augment_args(command)
        // The plan refuses `--trace` for streams.
        .mut_arg("trace", |trace| trace.hide(is_stream))
        .mut_arg("out", |out| {
            out.help(format!(
                "Write the results to this folder; {} and {last}. An earlier {result} in it is replaced, other files stay [default: {}]",
                files.join(", "),
                about.folder
            ))
        })
        .mut_arg("force", |force| {
            force.help(format!(
                "Replace an unfinished run's checkpoint, results of another command, and files that are not known to be a {result}'s"
            ))
        })
}

/// Returns a declared option as an argument of the command line.
pub(super) fn argument_of(option: OptionOf) -> Arg {
    let long = option.long();
    let mut argument =
        Arg::new(option.name.clone()).long(long.clone()).help(option.help_line()).hide_short_help(option.is_advanced);
    if let Some(former) = former_of(&option) {
        argument = argument.alias(former);
    }
    if let Some(heading) = option.heading.clone() {
        argument = argument.help_heading(heading);
    }
    if let Some(short) = option.short {
        // Users who know `-k` may type `--k`.
        argument = argument.short(short).alias(short.to_string());
    }
    if let Some(other) = &option.conflicts {
        argument = argument.conflicts_with(other);
    }
    let value_name = option.value_name.clone().unwrap_or_else(|| long.to_uppercase());
    if !option.is_switch() {
        argument = argument.value_name(value_name);
    }
    match &option.kind {
        Kind::Flag if option.is_switch() => argument.action(ArgAction::SetTrue),
        Kind::Flag => argument.value_parser(clap::value_parser!(bool)),
        Kind::Choice(words) => {
            let words = words.iter().map(|(word, meaning)| {
                let value = PossibleValue::new(word.replace('_', "-"));
                if meaning.is_empty() { value } else { value.help(meaning.clone()) }
            });
            argument.value_parser(PossibleValuesParser::new(words).map(|word| Value::String(word.replace('-', "_"))))
        }
        Kind::Number { .. } => argument.allow_negative_numbers(true).value_parser(parser(option, |text| {
            text.parse().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
        })),
        // A negative number is read, so that the message names the range and not an unknown argument `-1`.
        Kind::Count { .. } => argument
            .allow_negative_numbers(true)
            .value_parser(parser(option, |text| text.parse::<u64>().ok().map(|count| Value::Number(count.into())))),
        Kind::Text => argument.value_parser(parser(option, |text| Some(Value::String(text.to_owned())))),
        Kind::Texts => {
            argument.value_delimiter(',').value_parser(parser(option, |text| Some(Value::String(text.to_owned()))))
        }
    }
}

/// Returns an option's former name on the command line, if only the name has changed and not the values.
fn former_of(option: &OptionOf) -> Option<String> {
    let (former, values) = option.formerly.as_ref()?;
    values.is_empty().then(|| former.replace('_', "-"))
}

/// Returns a warning for each option that was typed by its former name.
pub fn former_names(typed: &[OsString]) -> Vec<String> {
    let declared = match typed.get(1).and_then(|command| command.to_str()) {
        Some("distances" | "place") => distances::options(),
        Some("demo") => Cluster.options().into_iter().chain(Embedding.options()).collect(),
        command => command.and_then(find).map_or_else(Vec::new, Method::options),
    };
    let is_typed = |name: &str| {
        typed.iter().filter_map(|word| word.to_str()).any(|word| {
            word.strip_prefix("--").is_some_and(|word| word == name || word.starts_with(&format!("{name}=")))
        })
    };
    let renamed = declared.iter().filter_map(|option| Some((former_of(option)?, option.long())));
    let typed = renamed.filter(|(former, _)| is_typed(former));
    typed
        .map(|(former, name)| format!("--{former} is now called --{name}; a later version takes the new name only"))
        .collect()
}

/// Returns a parser that checks a value against the option's declaration.
fn parser(
    option: OptionOf,
    read: impl Fn(&str) -> Option<Value> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Value, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value = read(text).unwrap_or_else(|| Value::String(text.to_owned()));
        let is_one_of_many = option.kind == Kind::Texts;
        match option.fault(&value).filter(|_| !is_one_of_many) {
            None => Ok(value),
            // The command line already names the option and the value.
            Some(fault) => Err(fault
                .strip_prefix(&format!("{}: ", option.name))
                .and_then(|fault| fault.rsplit_once(", found"))
                .map_or(fault.clone(), |(expected, _)| expected.to_owned())),
        }
    }
}

/// Returns the declared options that were typed.
pub(super) fn typed(declared: &[OptionOf], matches: &ArgMatches) -> Options {
    let mut options = Options::new();
    for option in declared {
        let name = option.name.as_str();
        let value = match option.kind {
            Kind::Flag if option.is_switch() => matches.get_flag(name).then_some(Value::Bool(true)),
            Kind::Flag => matches.get_one::<bool>(name).copied().map(Value::Bool),
            Kind::Texts => matches.get_many::<Value>(name).map(|values| Value::Array(values.cloned().collect())),
            _ => matches.get_one::<Value>(name).cloned(),
        };
        options.extend(value.map(|value| (option.name.clone(), value)));
    }
    options
}

impl DeclaredArguments {
    /// Reads the arguments that were typed after the name of a method.
    fn read(method: &'static dyn Method, matches: &ArgMatches) -> Result<Self, Error> {
        let input = match method.about().takes {
            Takes::Matrix(words) => {
                let classes = words.has_classes.then(|| ClassArguments::from_arg_matches(matches)).transpose()?;
                let path = MatrixArguments::from_arg_matches(matches)?.path;
                InputArguments::Matrix(path, classes.and_then(ClassArguments::source))
            }
            Takes::Stream(_) => InputArguments::Stream(Box::new(StreamArguments::from_arg_matches(matches)?)),
            Takes::Rows(words) => InputArguments::Table(Box::new(TableInput {
                rows: RowArguments::from_arg_matches(matches)?,
                packed: if words.takes_bits_and_sparse {
                    PackedArguments::from_arg_matches(matches)?
                } else {
                    PackedArguments::default()
                },
                preparation: PreparationArguments::from_arg_matches(matches)?,
            })),
        };
        Ok(Self {
            method,
            input,
            options: typed(&method.options(), matches),
            execution: ExecutionArguments::from_arg_matches(matches)?,
            results: ResultArguments::from_arg_matches(matches)?,
        })
    }
}

/// The options of `lehr cluster` that were given, for a command that has its own data.
#[derive(Debug)]
pub struct ClusterOptions(pub Options);

/// The options of the results of `lehr cluster`, for a command that has its own data.
#[derive(Debug)]
pub struct ClusterResults(pub ResultArguments);

impl FromArgMatches for ClusterOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(typed(&Cluster.options(), matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ClusterOptions {
    fn augment_args(command: Command) -> Command {
        with_options(command, &Cluster)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ClusterResults {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        ResultArguments::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for ClusterResults {
    fn augment_args(command: Command) -> Command {
        with_results(command, Method::about(&Cluster))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DeclaredArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let (method, matches) = matches
            .subcommand()
            .and_then(|(name, matches)| Some((find(name)?, matches)))
            .ok_or_else(|| Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        Self::read(method, matches)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for DeclaredArguments {
    fn augment_subcommands(command: Command) -> Command {
        ALL.iter().fold(command, |command, method| command.subcommand(command_of(*method)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use lehr_jobs::{DatasetService, Setup};
    use lehr_runtime::{Dispatcher, block_on};
    use lehr_services::Host;

    use super::*;
    use crate::arguments::Arguments;

    /// Returns a contract's description of the contract's options.
    fn described(contract: &str) -> Value {
        let dispatcher = Dispatcher::new(1).unwrap();
        let host = Host::new(dispatcher.handle());
        block_on(async {
            host.start("/datasets", DatasetService::in_memory).await.unwrap();
            assert!(Setup::default().start(&host, contract, "/method").await.unwrap(), "no service {contract}");
            let contract = host.endpoint("/method").unwrap().info().contract;
            contract.operations["run"].body["$defs"]["Options"].clone()
        })
    }

    /// Checks that a command has options as they are declared: name, range, default and help.
    fn has_arguments(command: &str, declared: &[OptionOf]) {
        let all = Arguments::command();
        let ours = all.find_subcommand(command).unwrap_or_else(|| panic!("no command {command}"));
        for option in declared {
            let (name, at) = (&option.name, format!("lehr {command}, {}", option.name));
            let argument = ours.get_arguments().find(|argument| argument.get_id() == name.as_str());
            let argument = argument.unwrap_or_else(|| panic!("{at}: no such argument"));
            assert_eq!(argument.get_help().unwrap().to_string(), option.help_line(), "{at}");
            assert_eq!(argument.get_long(), Some(option.long().as_str()), "{at}");
            if let Kind::Choice(words) = &option.kind {
                let ours = argument
                    .get_possible_values()
                    .iter()
                    .map(|word| word.get_name().replace('-', "_"))
                    .collect::<Vec<_>>();
                assert_eq!(ours, words.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>(), "{at}");
            }
        }
    }

    /// Checks the same for a service, which has only these options and `others`.
    fn has_properties(contract: &str, declared: &[OptionOf], others: &[&str]) {
        let service = described(contract);
        let properties = service["properties"].as_object().unwrap();
        for option in declared {
            let (property, at) = (&properties[&option.name], format!("{contract}, {}", option.name));
            let says = property["description"].as_str().unwrap_or_default().replace('\n', " ");
            assert_eq!(says.trim_end_matches('.'), option.help, "{at}");
            assert_eq!(property.get("default").unwrap_or(&Value::Null), &option.default, "{at}");
            let ends = (property["minimum"].as_f64(), property["maximum"].as_f64());
            match option.kind {
                Kind::Number { least, most, is_above: false } => assert_eq!(ends, (least, most), "{at}"),
                Kind::Number { least, most, is_above: true } => {
                    assert_eq!((property["exclusiveMinimum"].as_f64(), ends.1), (least, most), "{at}");
                }
                Kind::Count { least, most } => {
                    assert_eq!((ends.0.unwrap_or(0.0) as u64, ends.1.map(|most| most as u64)), (least, most), "{at}");
                }
                _ => {}
            }
        }
        let known =
            |name: &&String| declared.iter().any(|option| option.name == **name) || others.contains(&name.as_str());
        assert_eq!(properties.keys().find(|name| !known(name)), None, "{contract}");
    }

    /// The options of jobs that select and prepare the table.
    const TABLE_OPTIONS: [&str; 10] =
        ["columns", "weights", "id", "lonlat", "scale", "auto", "exclude", "log", "missing", "date_parts"];

    #[test]
    fn every_front_end_has_the_options_that_are_declared() {
        for method in ALL {
            has_arguments(method.about().name, &method.options());
            let options = method.options();
            let former = options.iter().filter_map(|option| option.formerly.as_ref().map(|(name, _)| name.as_str()));
            let others: Vec<&str> = TABLE_OPTIONS.into_iter().chain(former).collect();
            has_properties(method.about().contract, &options, &others);
        }
        has_arguments("place", &distances::of_comparison());
        let options = distances::options();
        has_arguments("distances", &options);
        let former = options.iter().filter_map(|option| option.formerly.as_ref().map(|(name, _)| name.as_str()));
        has_properties("lehr.distances", &options, &former.collect::<Vec<_>>());
    }

    #[test]
    fn costs_of_gaps_are_taken_in_their_earlier_form() {
        let read = |more: &[&str]| {
            let line = ["lehr", "distances", "a.fasta"].into_iter().chain(more.iter().copied());
            Arguments::command().try_get_matches_from(line).map(|matches| {
                let (_, matches) = matches.subcommand().unwrap();
                crate::arguments::DistancesArguments::from_arg_matches(matches).unwrap().options.0
            })
        };
        assert_eq!(read(&["--gap", "8/2"]).unwrap(), read(&["--gap-open", "8", "--gap-extend", "2"]).unwrap());
        assert!(read(&["--gap", "8/2", "--gap-open", "8"]).is_err());
        assert!(read(&["--gap", "8"]).unwrap_err().to_string().contains("OPEN/EXTEND"));
    }

    /// Returns the options that a command line gives.
    fn given(line: &[&str]) -> Result<Value, String> {
        let typed = std::iter::once("lehr").chain(line.iter().copied());
        let matches = Arguments::command().try_get_matches_from(typed).map_err(|refused| refused.to_string())?;
        let read = DeclaredArguments::from_arg_matches(&matches).map_err(|refused| refused.to_string())?;
        Ok(Value::Object(read.options))
    }

    #[test]
    fn options_have_the_commands_names_and_switches_that_are_on_can_be_turned_off() {
        let line = ["embed", "a.npy", "--anneal", "--relaxed", "false", "--max-iterations", "7"];
        let expected = serde_json::json!({ "annealed": true, "relaxed": false, "max_iterations": 7 });
        assert_eq!(given(&line).unwrap(), expected);
        assert_eq!(given(&line[..2]).unwrap(), serde_json::json!({}));
        let refused = given(&["pairwise", "a.npy", "-k", "2", "--max-clusters", "3"]).unwrap_err();
        assert!(refused.contains("'--clusters <K>' cannot be used with '--max-clusters <K>'"), "{refused}");
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        for (line, expected) in [
            (["gtm", "a.csv", "--width", "11"], "0.1 to 10"),
            (["gtm", "a.csv", "--dimensions", "two"], "1 to 3"),
            (["mixture", "a.csv", "--components", "0"], "at least 1"),
            (["pairwise", "a.npy", "--stop-temperature", "0"], "above 0"),
            (["embed", "a.npy", "--max-iterations", "0"], "at least 1"),
        ] {
            let refused = Arguments::command().try_get_matches_from(std::iter::once("lehr").chain(line)).unwrap_err();
            assert!(refused.to_string().contains(&format!("expected {expected}")), "{refused}");
        }
    }
}
