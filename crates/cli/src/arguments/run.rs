//! The arguments of `lehr run`: a workflow, its parameters, where it runs, and what it prints.

use std::path::PathBuf;

use clap::Args;
use lehr_sources::PUBLIC;

use super::ask::RequestArguments;
use super::thread_count;

/// The arguments of `lehr run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArguments {
    /// Workflow: a .toml or .json file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Set a parameter of the workflow (may be repeated)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, conflicts_with_all = ["resume", "from"])]
    pub set: Vec<(String, String)>,

    /// Run the workflow on this node, with the node's services
    #[arg(long, value_name = "URL")]
    pub node: Option<String>,

    /// Use this service of another node; data sets follow the references between steps (may be repeated)
    #[arg(long, value_name = "PATH=URL", value_parser = placement, conflicts_with_all = ["resume", "from"], hide_short_help = true)]
    pub place: Vec<(String, String)>,

    /// Continue the last run of this workflow; on a node, watch it if it is running
    #[arg(long)]
    pub resume: bool,

    /// Continue the last run, and repeat this step and all steps that depend on it
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,

    /// Show what would be done, and do nothing
    #[arg(long, conflicts_with_all = ["resume", "from"])]
    pub dry_run: bool,

    /// Do all steps, even if an earlier run has their answers
    #[arg(long, conflicts_with_all = ["resume", "from"], hide_short_help = true)]
    pub no_cache: bool,

    /// With --node: let the node begin runs by the triggers of the file
    #[arg(long, requires = "node", conflicts_with_all = ["resume", "from", "dry_run", "no_cache"])]
    pub schedule: bool,

    /// With --node: end this, as --schedule has begun it; a run that is under way continues
    #[arg(long, requires = "node", conflicts_with_all = ["resume", "from", "dry_run", "no_cache", "schedule", "set"])]
    pub unschedule: bool,

    /// Without --node: keep the states of the run and its services in this folder
    #[arg(long, value_name = "FOLDER", default_value = "lehr-run", conflicts_with = "node")]
    pub keep: PathBuf,

    /// Without --node: let its services open files in this folder as data sets [default: the workflow's folder]
    #[arg(long, value_name = "DIR", conflicts_with = "node", hide_short_help = true)]
    pub data_root: Option<PathBuf>,

    /// Without --node: use this many threads for the services [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count, conflicts_with = "node", hide_short_help = true)]
    pub threads: Option<usize>,

    /// Without --node: where the service lehr/pubchem asks for compounds; another server may be in a private network
    #[arg(long, value_name = "URL", default_value = PUBLIC, conflicts_with = "node", hide_short_help = true)]
    pub pubchem: String,

    /// Print the whole run, not only its result, as JSON
    #[arg(long)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,

    /// The options of requests to other nodes.
    #[command(flatten)]
    pub request: RequestArguments,
}

const RUN_HELP: &str = "\
Example:
  lehr run greeting.toml --set whom=world
      start the services of the file in this process; the answer goes to standard output

  lehr run greeting.toml --resume
      continue after Ctrl-C or a failure: steps that are done are not done again

  lehr run regions.toml --node http://127.0.0.1:8420 --dry-run
      say what would be done on a node, or everything that is wrong with the file

  lehr run regions.toml --node http://127.0.0.1:8420 --schedule
      from now on the node runs the workflow by itself, when its triggers say so";

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected a name and a value, such as clusters=20".to_owned()),
    }
}

fn placement(text: &str) -> Result<(String, String), String> {
    let expected =
        "expected the path of a service and the address of a node, such as /clustering=http://127.0.0.1:8421";
    match text.split_once('=') {
        Some((path, url)) if path.starts_with('/') && url.contains("://") => Ok((path.to_owned(), url.to_owned())),
        _ => Err(expected.to_owned()),
    }
}
