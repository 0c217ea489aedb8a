//! One run of a method: a command of `lehr` on a file of rows, in its own process, and a check of its answer.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use lehr_mining::agreement::Agreement;

use super::blobs::Rows;
use super::definition::{Shape, Work};
use crate::cost::Cost;
use crate::process;
use crate::results;

/// The minimum agreement with the blobs: blobs six deviations apart are found again except for a few rows between them.
const FOUND: f64 = 0.95;

impl Work {
    /// Returns the first word of the names of its cases.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::KMeans => "k-means",
            Self::Mixture => "mixture",
            Self::Map => "map",
        }
    }

    /// Returns the name of the command.
    pub fn engine(self) -> &'static str {
        match self {
            Self::Clusters => "lehr cluster",
            Self::KMeans => "lehr cluster --method kmeans",
            Self::Mixture => "lehr mixture",
            Self::Map => "lehr gtm",
        }
    }

    /// Runs the command on rows of a shape; returns nothing if `stop` asked to end, which kills the command.
    ///
    /// # Errors
    /// Returns an error if the command fails, or if its result cannot be right.
    pub fn run(
        self,
        program: &Path,
        folder: &Path,
        (rows, shape): (&Rows, &Shape),
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Cost>> {
        let out = folder.join("result");
        let Some(taken) = process::run(self.command(program, rows, shape, &out), folder, stop)? else {
            return Ok(None);
        };
        let summary = results::json(&out.join("summary.json"))?;
        let result = &summary["result"];
        let number = |name: &str| result[name].as_f64().with_context(|| format!("a summary without {name}"));
        let passes = match self {
            Self::Clusters | Self::KMeans => number("iterations")?,
            Self::Mixture | Self::Map => number("sweeps")?,
        };
        match self {
            Self::Clusters | Self::Mixture => {
                let agreement = Agreement::new(&results::labels(&out.join("labels.csv"))?, &rows.blobs).adjusted_rand;
                ensure!(agreement > FOUND, "the clusters are not the blobs: adjusted Rand {agreement}");
            }
            // A single start may miss blobs.
            Self::KMeans => {
                let labels = results::labels(&out.join("labels.csv"))?;
                let clusters = labels.iter().max().map_or(0, |last| *last as usize + 1);
                ensure!(
                    labels.len() == shape.rows && clusters == shape.clusters,
                    "{} labels in {clusters} clusters",
                    labels.len()
                );
            }
            Self::Map => {
                let noise = number("noise")?;
                ensure!(noise > 0.0 && noise.is_finite(), "a noise of {noise}");
            }
        }
        Ok(Some(Cost::of(taken).with_passes(passes, results::seconds_of_method(&summary)?)))
    }

    fn command(self, program: &Path, rows: &Rows, shape: &Shape, out: &Path) -> Command {
        let mut command = Command::new(program);
        let clusters = shape.clusters.to_string();
        match self {
            Self::Clusters => command.args(["cluster", "--clusters", &clusters]),
            Self::KMeans => command.args(["cluster", "--method", "kmeans", "--starts", "1", "--clusters", &clusters]),
            Self::Mixture => command.args(["mixture", "--components", &clusters]),
            Self::Map => command.arg("gtm"),
        };
        command.arg(&rows.path).arg("--out").arg(out).args(["--force", "--quiet"]);
        if let Some(ranks) = shape.ranks {
            command.args(["--threads", &ranks.to_string()]);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_stands_on_the_line() {
        let rows = Rows { path: "rows.npy".into(), blobs: Vec::new() };
        let shape = Shape { rows: 9, columns: 2, clusters: 3, ranks: Some(2) };
        let line = |work: Work, shape: &Shape| {
            let command = work.command(Path::new("lehr"), &rows, shape, Path::new("out"));
            command.get_args().map(|argument| argument.to_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        let ends = "rows.npy --out out --force --quiet";
        assert_eq!(line(Work::Clusters, &shape), format!("cluster --clusters 3 {ends} --threads 2"));
        let alone = Shape { ranks: None, ..shape };
        assert_eq!(line(Work::Mixture, &alone), format!("mixture --components 3 {ends}"));
        assert_eq!(line(Work::Map, &alone), format!("gtm {ends}"));
    }
}
