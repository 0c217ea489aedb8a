//! Reads the results of a command from its folder.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The phases that do not belong to the method: reading and writing take the same time for all methods.
const AROUND: [&str; 3] = ["reading", "writing tables", "writing the report"];

/// Reads a file of JSON: `summary.json`, or the header of a matrix.
///
/// # Errors
/// Returns an error if the file cannot be read or is not JSON.
pub fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// Returns the seconds of the method's phases of a run on rows, from its summary.
///
/// # Errors
/// Returns an error if the summary has no such phases.
pub fn seconds_of_method(summary: &Value) -> Result<f64> {
    let phases = summary["seconds"]["phases"].as_array().context("a summary without its phases")?;
    let seconds = phases.iter().filter(|named| !AROUND.iter().any(|around| named["phase"] == *around));
    let sum: f64 = seconds.filter_map(|named| named["seconds"].as_f64()).sum();
    ensure!(sum > 0.0, "phases without seconds");
    Ok(sum)
}

/// Returns the cluster of each row: the second column of `labels.csv`.
///
/// # Errors
/// Returns an error if the file cannot be read, or if a row has no label.
pub fn labels(path: &Path) -> Result<Vec<u32>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let cell = |line: &str| line.split(',').nth(1).and_then(|cell| cell.parse().ok());
    text.lines().skip(1).map(|line| cell(line).with_context(|| format!("no label in {line:?}"))).collect()
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
        assert_eq!(seconds_of_method(&summary).unwrap(), 2.5);
        assert!(seconds_of_method(&serde_json::json!({ "seconds": { "phases": [phase("reading", 1.0)] } })).is_err());
        assert!(seconds_of_method(&serde_json::json!({})).is_err());
    }

    #[test]
    fn labels_are_the_second_column_and_what_is_none_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        std::fs::write(&path, "row,cluster,probability\n0,2,0.5\n1,0,1\n").unwrap();
        assert_eq!(labels(&path).unwrap(), [2, 0]);
        std::fs::write(&path, "row,cluster\n0,\n").unwrap();
        assert!(labels(&path).unwrap_err().to_string().contains("0,"));
    }
}
