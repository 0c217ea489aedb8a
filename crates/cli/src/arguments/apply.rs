//! The arguments of `lehr apply`: manifests, and the node that they are for.

use std::path::PathBuf;

use clap::Args;

use super::ask::RequestArguments;

/// The arguments of `lehr apply`.
#[derive(Debug, Args)]
#[command(after_help = APPLY_HELP)]
pub struct ApplyArguments {
    /// The manifests; several are applied together
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Apply the manifests to this node
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub node: String,

    /// Show what would happen, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

const APPLY_HELP: &str = "\
Example:
  lehr apply node.toml --node http://127.0.0.1:8420 --dry-run
      say which services would be started, replaced and ended

  lehr apply node.toml
      do it; if one of them cannot start, the node stays as it was";
