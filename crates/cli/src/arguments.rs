//! The command line as typed, one file for each subject. [`crate::plan`] decides what the arguments mean together.

mod apply;
mod ask;
mod demo;
mod demography;
mod distances;
mod evaluate;
mod execution;
mod export;
mod job;
mod keep;
mod method;
mod place;
mod predict;
mod preparation;
mod run;
mod serve;
mod spill;
mod stream;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use lehr_ranks::Execution;

pub use apply::ApplyArguments;
pub use ask::{
    DropArguments, GetArguments, LsArguments, RequestArguments, SendArguments, UploadArguments, WatchArguments,
};
pub use demo::{
    ApplicationArguments, CompoundsArguments, Dataset, DemoApplication, DemoArguments, PartArgument, PubChemArguments,
};
pub use demography::DemographyArguments;
pub use distances::{DistancesArguments, FormArgument};
pub use evaluate::EvaluateArguments;
pub use execution::{EngineArgument, ExecutionArguments};
pub use export::ExportArguments;
pub use job::JobArguments;
pub use keep::KeepCommand;
pub use method::{
    ClassSource, DeclaredArguments, InputArguments, PackedArguments, ResultArguments, RowArguments, TableInput,
    former_names,
};
pub use place::PlaceArguments;
pub use predict::PredictArguments;
pub use preparation::{Gaps, PreparationArguments};
pub use run::RunArguments;
pub use serve::{CheckPolicyArguments, PlacedSettings, ServeArguments};
pub use spill::SpillArguments;
pub use stream::StreamArguments;
pub use table::{ScaleArgument, TableArguments};

/// Data mining from a terminal.
#[derive(Debug, Parser)]
#[command(
    name = "lehr",
    version,
    about = "Find groups, mixtures and maps in tables, sequences and fingerprints",
    arg_required_else_help = true
)]
pub struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `lehr`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Any method that `lehr-methods` declares
    #[command(flatten)]
    Method(DeclaredArguments),
    /// Apply a model to rows that it has not seen
    ///
    /// Reads the model.json of a method, and a table with the same columns. Writes the cluster, component or position
    /// of each row, and its probability or likelihood. With a model of lehr cluster, a score above 1 marks a row that
    /// is far from its cluster.
    Predict(Box<PredictArguments>),
    /// Compare clusters with known classes, and measure how separate they are
    ///
    /// Compares labels with classes by the adjusted Rand index, the adjusted mutual information and the V-measure.
    /// Without classes, silhouettes and other indices say how separate the clusters are in the rows of a table, or by
    /// dissimilarities. Items without a cluster are left out.
    Evaluate(Box<EvaluateArguments>),
    /// Write a model in another format
    ///
    /// Reads the model.json of lehr cluster or minibatch, and writes it as PMML 4.4, for scoring engines and databases.
    /// The file takes the columns of the table in their own units: it repeats how the model scaled and prepared them.
    /// For ONNX, export the model in Python.
    Export(ExportArguments),
    /// Measure the dissimilarities of all pairs of items: sequences, fingerprints, rows of numbers
    ///
    /// Reads FASTA, FPS or a table, and compares each pair once, on all cores. Writes the matrix as an array that NumPy
    /// opens, and a header that describes it.
    Distances(Box<DistancesArguments>),
    /// Place new items in a map, which does not change
    ///
    /// Compares each item with the items of a map of lehr embed, by the map's own metric and options. The nearest of
    /// them determine its position. If the map has classes (lehr embed --labels), a new item gets the class of its
    /// nearest item. The report shows the old and the new items. Time and memory grow linearly with the number of new
    /// items.
    Place(Box<PlaceArguments>),
    /// See what Lehr does with built-in data
    ///
    /// Try it before you have prepared your own data.
    Demo(Box<DemoArguments>),
    /// Run a node of services, reached over HTTP
    ///
    /// By default, only this machine can reach it. Ctrl-C ends the services, then the node.
    Serve(Box<ServeArguments>),
    /// Find the faults of a policy before a node runs with it
    ///
    /// Names every fault, and entries that are probably mistakes.
    CheckPolicy(CheckPolicyArguments),
    /// Back up, restore and check the kept data of a node
    ///
    /// Stop the node first: a running node changes its files.
    #[command(subcommand)]
    Keep(KeepCommand),
    /// Run an application of several services: the steps and links of a workflow file
    ///
    /// Without --node, the services run in this process, and no port is opened. After Ctrl-C, you can resume the run.
    Run(RunArguments),
    /// Make a node match a manifest: all of it, or nothing changes
    Apply(ApplyArguments),
    /// List the services of a node
    Ls(LsArguments),
    /// Print the state of a service
    Get(GetArguments),
    /// Query a part of a service's state
    Query(SendArguments),
    /// Send an operation to a service
    Submit(SendArguments),
    /// Print the state of a service, then its changes as they happen
    Watch(WatchArguments),
    /// End a service
    Drop(DropArguments),
    /// Upload a file to the data sets of a node; an interrupted upload continues where it stopped
    Upload(UploadArguments),
    /// Print a shell script that completes commands
    ///
    /// For bash: lehr completions bash > ~/.local/share/bash-completion/completions/lehr
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command
    ///
    /// Read them with man -l FOLDER/lehr-cluster.1, or write them to a folder of your MANPATH.
    Man {
        /// The folder for the pages.
        folder: PathBuf,
    },
    /// Write a Slurm script that runs a command, and continues it after the time limit
    ///
    /// Prints the script. Lehr checks the command first: its options, its input, and whether it runs in several
    /// processes. Shortly before the time limit, Slurm sends a signal, and Lehr saves its state. The script then returns
    /// the job to the queue, and the next run continues. The result has the same bytes as that of a run without a time
    /// limit.
    Job(Box<JobArguments>),
    /// Run one process's part of a job that a node spreads over several
    #[command(hide = true)]
    Part {
        /// The folder with the job's description.
        folder: PathBuf,
        /// The mark of the description.
        mark: String,
    },
    /// Measure Lehr, its competitors and the machine's limits
    ///
    /// Starts the program lehr-lab, which is installed separately, with these arguments. With it, you can reproduce on
    /// your machine every figure that Lehr's pages quote.
    #[command(disable_help_flag = true)]
    Lab {
        /// The arguments of lehr-lab; see its --help.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 1 => Ok(number),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}

/// Reads a number of threads or ranks of a process.
fn thread_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=Execution::THREADS_MAX).contains(&number) => Ok(number),
        _ => Err(format!("expected a whole number from 1 to {}", Execution::THREADS_MAX)),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a finite number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_later_of_two_header_options_wins() {
        let parsed = Arguments::try_parse_from(["lehr", "cluster", "a.csv", "--header", "--no-header"]).unwrap();
        let Command::Method(DeclaredArguments { input: InputArguments::Table(input), .. }) = parsed.command else {
            panic!("no command with a table")
        };
        assert!(input.rows.table.no_header && !input.rows.table.header);
    }
}
