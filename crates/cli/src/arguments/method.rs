//! What `lehr METHOD` takes, for every method that `lehr-methods` declares: the input, the options of the declaration, what becomes of the results.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use lehr_methods::options::Kind;
use lehr_methods::{ALL, Method, OptionOf, Options, Takes, find};
use serde_json::Value;

use super::execution::ExecutionArguments;
use super::spill::SpillArguments;
use super::table::TableArguments;

/// A method, and what it was told.
pub struct DeclaredArguments {
    /// The method.
    pub method: &'static dyn Method,
    /// The data.
    pub input: InputArguments,
    /// The options that were given, and no others.
    pub options: Options,
    /// How it is computed.
    pub execution: ExecutionArguments,
    /// What becomes of the results.
    pub results: ResultArguments,
}

impl std::fmt::Debug for DeclaredArguments {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct(self.method.about().name).field("options", &self.options).finish_non_exhaustive()
    }
}

/// The data, as they were named.
#[derive(Debug)]
pub enum InputArguments {
    /// A table of rows.
    Table(Box<RowArguments>),
    /// The dissimilarities of all pairs.
    Matrix(PathBuf),
}

/// The dissimilarities.
#[derive(Debug, Args)]
struct MatrixArguments {
    /// The dissimilarities of all pairs: dissimilarities.json as lehr distances writes it, or the array beside it; or any NPY array of f4 or f8, square, or of the N (N - 1) / 2 pairs above
    /// the diagonal in one dimension, as SciPy's pdist gives it. Names and weights of the items are those of the ids.csv beside the header
    #[arg(value_name = "MATRIX")]
    path: PathBuf,
}

/// The table, and how it is read.
#[derive(Debug, Args)]
pub struct RowArguments {
    /// The table: .csv, .tsv, .txt (each may be gzipped), .npy or .parquet
    #[arg(value_name = "INPUT")]
    pub path: PathBuf,

    /// Where its rows are kept.
    #[command(flatten)]
    pub spill: SpillArguments,

    /// Which columns mean what.
    #[command(flatten)]
    pub table: TableArguments,

    /// Empty cells, NA and the like are missing values; without it they are faults
    #[arg(long, conflicts_with = "weights", help_heading = "The table")]
    pub missing: bool,
}

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct ResultArguments {
    /// The folder for the results
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: same input and table options, parameters from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace what is in the way
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

/// What stands behind the examples in the help of every method.
const ENDS: &str = "Ctrl-C stops the run, keeps a checkpoint and says how to continue.\n\
                    Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

/// The subcommand of a method.
fn command_of(method: &dyn Method) -> Command {
    let about = method.about();
    let result = about.result;
    let (last, files) = about.files.split_last().expect("a method writes a summary");
    let command = Command::new(about.name);
    let command = match about.takes {
        Takes::Matrix => MatrixArguments::augment_args(command),
        Takes::Rows(words) => RowArguments::augment_args(command).mut_arg("missing", |missing| {
            let becomes = words.missing;
            missing
                .help(format!("Empty cells, NA and the like are missing values, {becomes}; without it they are faults"))
        }),
    };
    let command = method
        .options()
        .into_iter()
        .fold(command.next_help_heading(about.heading), |command, option| command.arg(argument_of(option)));
    let command = ExecutionArguments::augment_args(command);
    ResultArguments::augment_args(command)
        // Behind all that is added, since each part brings words of its own.
        .about(about.line)
        .long_about(format!("{}\n\n{}", about.line, about.paragraph))
        .after_help(format!("Example:\n{}\n\n{ENDS}", about.examples))
        .mut_arg("out", |out| {
            out.help(format!(
                "The folder for {} and {last}; results of an earlier {result} in it are replaced, other files are left alone [default: lehr-{}, or the folder of --resume]",
                files.join(", "),
                about.name
            ))
        })
        .mut_arg("force", |force| {
            force.help(format!(
                "Replace an unfinished run's checkpoint, results of another command, and files that look like results but are not known to be a {result}'s"
            ))
        })
}

/// An option as the command line has it.
pub(super) fn argument_of(option: OptionOf) -> Arg {
    let long = option.name.replace('_', "-");
    let mut argument = Arg::new(option.name.clone()).long(long.clone()).help(option.help_line());
    if let Some(heading) = option.heading.clone() {
        argument = argument.help_heading(heading);
    }
    if let Some(short) = option.short {
        // `--k` is what people type who know `-k`.
        argument = argument.short(short).alias(short.to_string());
    }
    let value_name = option.value_name.clone().unwrap_or_else(|| long.to_uppercase());
    if option.kind != Kind::Flag {
        argument = argument.value_name(value_name);
    }
    match &option.kind {
        Kind::Flag => argument.action(ArgAction::SetTrue),
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
        Kind::Count { .. } => argument
            .value_parser(parser(option, |text| text.parse::<u64>().ok().map(|count| Value::Number(count.into())))),
        Kind::Text => argument.value_parser(parser(option, |text| Some(Value::String(text.to_owned())))),
        Kind::Texts => {
            argument.value_delimiter(',').value_parser(parser(option, |text| Some(Value::String(text.to_owned()))))
        }
    }
}

/// Reads a value and holds it against the declaration.
fn parser(
    option: OptionOf,
    read: impl Fn(&str) -> Option<Value> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Value, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value = read(text).unwrap_or_else(|| Value::String(text.to_owned()));
        let is_one_of_many = option.kind == Kind::Texts;
        match option.fault(&value).filter(|_| !is_one_of_many) {
            None => Ok(value),
            // The command line has named the option and the value.
            Some(fault) => Err(fault
                .strip_prefix(&format!("{}: ", option.name))
                .and_then(|fault| fault.rsplit_once(", found"))
                .map_or(fault.clone(), |(expected, _)| expected.to_owned())),
        }
    }
}

/// The options among those that are declared that were typed.
pub(super) fn typed(declared: &[OptionOf], matches: &ArgMatches) -> Options {
    let mut options = Options::new();
    for option in declared {
        let name = option.name.as_str();
        let value = match option.kind {
            Kind::Flag => matches.get_flag(name).then_some(Value::Bool(true)),
            Kind::Texts => matches.get_many::<Value>(name).map(|values| Value::Array(values.cloned().collect())),
            _ => matches.get_one::<Value>(name).cloned(),
        };
        options.extend(value.map(|value| (option.name.clone(), value)));
    }
    options
}

impl DeclaredArguments {
    /// What was typed behind the name of a method.
    fn read(method: &'static dyn Method, matches: &ArgMatches) -> Result<Self, Error> {
        let options = typed(&method.options(), matches);
        Ok(Self {
            method,
            input: match method.about().takes {
                Takes::Matrix => InputArguments::Matrix(MatrixArguments::from_arg_matches(matches)?.path),
                Takes::Rows(_) => InputArguments::Table(Box::new(RowArguments::from_arg_matches(matches)?)),
            },
            options,
            execution: ExecutionArguments::from_arg_matches(matches)?,
            results: ResultArguments::from_arg_matches(matches)?,
        })
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
    use lehr_methods::distances;
    use lehr_runtime::{Dispatcher, block_on};
    use lehr_services::Host;

    use super::*;
    use crate::arguments::Arguments;

    /// What the service of a contract says of its options.
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

    /// Sees that a command has options as they are declared, by name, range, default and help.
    fn has_arguments(command: &str, declared: &[OptionOf]) {
        let all = Arguments::command();
        let ours = all.find_subcommand(command).unwrap_or_else(|| panic!("no command {command}"));
        for option in declared {
            let (name, at) = (&option.name, format!("lehr {command}, {}", option.name));
            let argument = ours.get_arguments().find(|argument| argument.get_id() == name.as_str());
            let argument = argument.unwrap_or_else(|| panic!("{at}: no such argument"));
            assert_eq!(argument.get_help().unwrap().to_string(), option.help_line(), "{at}");
            assert_eq!(argument.get_long(), Some(name.replace('_', "-").as_str()), "{at}");
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

    /// Sees the same of a service, which has no other options than these and some others.
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

    #[test]
    fn every_front_end_has_the_options_that_are_declared() {
        for method in ALL {
            has_arguments(method.about().name, &method.options());
            has_properties(method.about().contract, &method.options(), &["columns", "weights", "id", "scale"]);
        }
        has_arguments("distances", &distances::options());
        has_arguments("place", &distances::of_comparison());
        let former = distances::FORMER_NAMES.map(|(former, _)| former);
        has_properties("lehr.distances", &distances::options(), &former);
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

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        for (line, expected) in [
            (["gtm", "a.csv", "--width", "11"], "0.1 to 10"),
            (["gtm", "a.csv", "--dimensions", "two"], "1 to 3"),
            (["mixture", "a.csv", "--components", "0"], "at least 1"),
        ] {
            let refused = Arguments::command().try_get_matches_from(std::iter::once("lehr").chain(line)).unwrap_err();
            assert!(refused.to_string().contains(&format!("expected {expected}")), "{refused}");
        }
    }
}
