//! One run of `lehr cluster`, as a process of its own: what it took, and what it found.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::results;

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Clustering {
    /// The packed or plain array.
    pub input: PathBuf,
    /// How many packed bits its rows have, if it is packed.
    pub bits: Option<usize>,
    /// Clusters asked for.
    pub clusters: usize,
    /// Threads, each with a rank.
    pub threads: usize,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// From the start of the process to its end.
    pub seconds: f64,
    /// Seconds of the clustering alone, without reading and writing.
    pub clustering: f64,
    /// Most memory that was resident; none where the system keeps no such account.
    pub peak_bytes: Option<f64>,
    /// Passes over the rows until the clusters were there, those of the search by swaps included.
    pub passes: f64,
    /// As the command says it.
    pub sum_of_squares: f64,
    /// The cluster of each row.
    pub labels: Vec<u32>,
    /// The bytes of `centers.csv`.
    pub centers: Vec<u8>,
}

impl Clustering {
    /// Runs it; nothing if `stop` asked for the end.
    ///
    /// # Errors
    /// A command that fails, or results that are none.
    pub fn run(&self, program: &Path, folder: &Path, stop: &mut dyn FnMut() -> bool) -> Result<Option<Found>> {
        let out = folder.join("clusters");
        let mut command = Command::new(program);
        command.arg("cluster").arg(&self.input).arg("--out").arg(&out).args(["--force", "--quiet"]);
        command.args(["--clusters", &self.clusters.to_string(), "--threads", &self.threads.to_string()]);
        if let Some(bits) = self.bits {
            command.args(["--bits", &bits.to_string()]);
        }
        let Some(taken) = process::run(command, folder, stop)? else { return Ok(None) };
        let summary = results::json(&out.join("summary.json"))?;
        let number = |name: &str| summary["result"][name].as_f64().with_context(|| format!("a summary without {name}"));
        Ok(Some(Found {
            seconds: taken.seconds,
            clustering: results::seconds_of_method(&summary)?,
            peak_bytes: taken.peak_bytes,
            passes: number("iterations")?,
            sum_of_squares: number("sum_of_squares")?,
            labels: results::labels(&out.join("labels.csv"))?,
            centers: std::fs::read(out.join("centers.csv")).context("no centers.csv")?,
        }))
    }
}
