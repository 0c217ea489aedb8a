//! How a method is executed: engine, ranks and threads.

use clap::{Args, ValueEnum};
use lehr_ranks::Layout;

use super::thread_count;

/// How the clustering is executed: engine, ranks and threads. None of these options changes a bit of the result.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it is computed (the result is the same)")]
pub struct ExecutionArguments {
    /// Use this many threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub threads: Option<usize>,

    /// Divide the rows among this many ranks, with --engine ranks or map-reduce [default: one a thread]
    #[arg(long, value_name = "N", value_parser = thread_count, hide_short_help = true)]
    pub ranks: Option<usize>,

    /// Run with this layout: threads in a process x processes on a node x nodes, with --engine ranks or map-reduce;
    /// mpiexec starts several processes
    #[arg(long, value_name = "TxMxN", conflicts_with = "ranks", hide_short_help = true)]
    pub layout: Option<Layout>,

    /// Run blocks of rows by this engine
    #[arg(long, value_enum, default_value_t = EngineArgument::Ranks, hide_short_help = true)]
    pub engine: EngineArgument,
}

/// The engine that runs the blocks of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArgument {
    /// Rank tasks that reduce together
    Ranks,
    /// A parallel loop
    Loop,
    /// Persistent receivers, which get block numbers through ports
    Ports,
    /// Ranks whose rounds are map, shuffle, reduce and gather
    MapReduce,
}
