//! A stage: a command of `lehr` on files in its own process, with its time and its peak memory.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use lehr_mining::agreement::Agreement;
use serde_json::Value;

use super::definition::{Case, Extent};
use super::sequences::Items;
use crate::cost::Cost;
use crate::process;
use crate::results;

/// The minimum agreement with the families: families like those of [`Mutations`](super::sequences::Mutations) are found
/// again except for a few members.
const FOUND: f64 = 0.95;

/// The largest median error of a placed item: half of the mean dissimilarity of these items.
const LARGEST_ERROR: f64 = 0.13;

/// The options that compare aligned sequences.
const ALIGNED: [&str; 4] = ["--metric", "hamming", "--alphabet", "dna"];

/// The options for items of a file.
const COLLAPSED: [&str; 1] = ["--collapse"];

/// The command of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Distances,
    Pairwise,
    Embed,
    Place,
}

/// A stage of a case.
#[derive(Clone, Debug)]
pub struct Stage {
    work: Work,
    element: String,
    /// The options that define the metric.
    measure: &'static [&'static str],
    clusters: Option<usize>,
    extent: Extent,
}

impl Stage {
    /// Returns the stages of a case, in order.
    pub fn all(case: &Case, families: usize) -> Vec<Self> {
        let works: &[Work] = match case.extent {
            Extent::Whole => &[Work::Distances, Work::Pairwise, Work::Embed],
            Extent::Placing(_) => &[Work::Distances, Work::Embed, Work::Place],
            Extent::Iterations(_) => &[Work::Distances, Work::Embed],
        };
        let (measure, clusters) = match &case.given {
            Some(given) => (&COLLAPSED[..], given.clusters),
            None => (&ALIGNED[..], Some(families)),
        };
        let stage =
            |work: &Work| Self { work: *work, element: case.element.clone(), measure, clusters, extent: case.extent };
        works.iter().map(stage).collect()
    }

    /// Returns the name of the stage in a record.
    pub fn engine(&self) -> &'static str {
        match self.work {
            Work::Distances => "lehr distances",
            Work::Pairwise => "lehr pairwise",
            Work::Embed => "lehr embed",
            Work::Place => "lehr place",
        }
    }

    /// Runs the stage on the results of the previous stage in `folder`; returns nothing if `stop` asked to end, which
    /// kills the command.
    ///
    /// # Errors
    /// Returns an error if the command fails, or if its result cannot be right.
    pub fn run(
        &self,
        program: &Path,
        folder: &Path,
        items: &Items,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Cost>> {
        let [matrix, clusters, map, places] = ["matrix", "clusters", "map", "places"].map(|name| folder.join(name));
        let array = matrix.join("dissimilarities.json");
        let (input, out, name) = match self.work {
            Work::Distances => (&items.path, &matrix, "distances"),
            Work::Pairwise => (&array, &clusters, "pairwise"),
            Work::Embed => (&array, &map, "embed"),
            Work::Place => (&items.all, &places, "place"),
        };
        let mut command = Command::new(program);
        command.arg(name).arg(input).arg("--out").arg(out).args(["--force", "--quiet"]);
        match self.work {
            Work::Distances => command.args(self.measure).args(["--element", &self.element]),
            Work::Pairwise => {
                let clusters = self.clusters.map(|clusters| clusters.to_string());
                command.args(clusters.iter().flat_map(|clusters| ["--clusters", clusters]))
            }
            Work::Embed => {
                let few = match self.extent {
                    Extent::Iterations(iterations) => Some(iterations.to_string()),
                    Extent::Whole | Extent::Placing(_) => None,
                };
                command.args(["--dimension", "3"]);
                command.args(few.iter().flat_map(|iterations| ["--max-iterations", iterations]))
            }
            Work::Place => command.args(self.measure).arg("--map").arg(&map).arg("--among").arg(&items.path),
        };
        let Some(taken) = process::run(command, folder, stop)? else { return Ok(None) };
        let cost = Cost::of(taken);
        let cost = match self.work {
            Work::Distances => {
                let (found, expected) = (compared(&array)?, items.compared);
                // In a file, equal sequences may have become one item.
                let is_right = if items.families.is_some() { found == expected } else { found <= expected };
                ensure!(is_right, "{found} items of {expected}");
                cost
            }
            Work::Pairwise => {
                let (found, expected) = (results::labels(&clusters.join("labels.csv"))?, compared(&array)?);
                ensure!(found.len() == expected, "{} labels of {expected}", found.len());
                if let Some(families) = &items.families {
                    let agreement = Agreement::new(&found, families).adjusted_rand;
                    ensure!(agreement > FOUND, "the clusters are not the families: adjusted Rand {agreement}");
                }
                with_passes(cost, &results::json(&clusters.join("summary.json"))?, "iterations", "annealing")?
            }
            Work::Embed => {
                let summary = results::json(&map.join("summary.json"))?;
                let stress = summary["result"]["stress"].as_f64().context("a summary without its stress")?;
                ensure!(stress > 0.0 && stress < 0.5, "a stress of {stress}");
                // The start of the map reads the matrix too, in another phase.
                with_passes(cost, &summary, "iterations", "iterating")?
            }
            Work::Place => {
                let summary = results::json(&places.join("summary.json"))?;
                let placed = &summary["input"]["items"];
                ensure!(*placed == items.every, "{placed} of {} placed", items.every);
                // Random positions have errors as large as the differences between items.
                let error = summary["result"]["median_error"].as_f64().context("a summary without its error")?;
                ensure!(error < LARGEST_ERROR, "places whose distances are off by {error}");
                cost
            }
        };
        Ok(Some(cost))
    }
}

fn with_passes(cost: Cost, summary: &Value, passes: &str, phase: &str) -> Result<Cost> {
    let passes = summary["result"][passes].as_f64();
    let phases = summary["seconds"]["phases"].as_array().context("a summary without its phases")?;
    let iterating = phases.iter().find(|named| named[0] == phase).and_then(|named| named[1].as_f64());
    let (passes, iterating) = passes.zip(iterating).with_context(|| format!("a summary without {phase}"))?;
    Ok(cost.with_passes(passes, iterating))
}

/// Returns the number of items of a matrix.
fn compared(header: &Path) -> Result<usize> {
    let items = results::json(header)?["items"].as_u64();
    Ok(items.with_context(|| format!("{} does not say how many items", header.display()))? as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_large_cases_leave_the_clusters_out() {
        let case = Case { items: 10, element: "u16".into(), rounds: 1, extent: Extent::Iterations(5), given: None };
        let engines = |case: &Case| Stage::all(case, 3).iter().map(Stage::engine).collect::<Vec<_>>();
        assert_eq!(engines(&case), ["lehr distances", "lehr embed"]);
        let placing = Case { extent: Extent::Placing(50), ..case.clone() };
        assert_eq!(engines(&placing), ["lehr distances", "lehr embed", "lehr place"]);
        assert_eq!(engines(&Case { extent: Extent::Whole, ..case })[1], "lehr pairwise");
    }

    #[test]
    fn labels_and_phases_are_read_and_what_is_no_result_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        std::fs::write(&path, "id,cluster,probability\na,2,0.5\nb,0,1\n").unwrap();
        assert_eq!(results::labels(&path).unwrap(), [2, 0]);
        std::fs::write(&path, "id,cluster\na,\n").unwrap();
        assert!(results::labels(&path).unwrap_err().to_string().contains("a,"));
        let summary = serde_json::json!({ "result": { "passes": 4 }, "seconds": { "phases": [["starting", 1.0], ["iterating", 2.0]] } });
        let cost = Cost { seconds: 3.5, peak_bytes: None, passes: None };
        assert_eq!(with_passes(cost, &summary, "passes", "iterating").unwrap().passes, Some((4.0, 2.0)));
        assert!(with_passes(cost, &summary, "sweeps", "iterating").is_err());
    }
}
