//! One run of `lehr cluster` in its own process, with its time, its memory and its results.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::results;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Clustering {
    /// The path of the packed or plain array.
    pub input: PathBuf,
    /// The number of packed bits of a row, if the array is packed.
    pub bits: Option<usize>,
    /// The requested number of clusters.
    pub clusters: usize,
    /// The number of threads, each with a rank.
    pub threads: usize,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Found {
    /// The seconds from the start of the process to its end.
    pub seconds: f64,
    /// The seconds of the clustering alone, without reading and writing.
    pub clustering: f64,
    /// The peak resident memory, in bytes; `None` if the system does not account for it.
    pub peak_bytes: Option<f64>,
    /// The number of passes over the rows for the clusters, including those of the swap search.
    pub passes: f64,
    /// The sum of squares that the command reports.
    pub sum_of_squares: f64,
    /// The cluster of each row.
    pub labels: Vec<u32>,
    /// The contents of `centers.csv`.
    pub centers: Vec<u8>,
}

impl Clustering {
    /// Runs the command; returns nothing if `stop` asked to end.
    ///
    /// # Errors
    /// Returns an error if the command fails, or if its results are invalid.
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
