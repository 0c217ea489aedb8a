//! One run of `lehr cluster`, as a process of its own: what it took, and what it found.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;
use crate::results;

/// Phases that are not the method's: reading and writing cost the same whatever is done in between.
const AROUND: [&str; 3] = ["reading", "writing tables", "writing the report"];

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
            clustering: of_method(&summary)?,
            peak_bytes: taken.peak_bytes,
            passes: number("iterations")?,
            sum_of_squares: number("sum_of_squares")?,
            labels: results::labels(&out.join("labels.csv"))?,
            centers: std::fs::read(out.join("centers.csv")).context("no centers.csv")?,
        }))
    }
}

/// Seconds of the phases that are the method's.
fn of_method(summary: &Value) -> Result<f64> {
    let phases = summary["seconds"]["phases"].as_array().context("a summary without its phases")?;
    let seconds = phases.iter().filter(|named| !AROUND.iter().any(|around| named["phase"] == *around));
    let sum: f64 = seconds.filter_map(|named| named["seconds"].as_f64()).sum();
    ensure!(sum > 0.0, "phases without seconds");
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_writing_are_not_the_methods_time() {
        let phase = |name: &str, seconds: f64| serde_json::json!({ "phase": name, "seconds": seconds });
        let phases =
            [phase("reading", 5.0), phase("arranging", 0.5), phase("annealing", 2.0), phase("writing tables", 7.0)];
        let summary = serde_json::json!({ "seconds": { "phases": phases } });
        assert_eq!(of_method(&summary).unwrap(), 2.5);
        assert!(of_method(&serde_json::json!({ "seconds": { "phases": [phase("reading", 1.0)] } })).is_err());
        assert!(of_method(&serde_json::json!({})).is_err());
    }
}
