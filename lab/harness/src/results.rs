//! What a command left in its folder.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// A file of JSON: `summary.json`, the header of a matrix.
///
/// # Errors
/// A file that cannot be read or is none.
pub fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// The cluster of each row: the second column of `labels.csv`.
///
/// # Errors
/// A file that cannot be read, or a row without a label.
pub fn labels(path: &Path) -> Result<Vec<u32>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let cell = |line: &str| line.split(',').nth(1).and_then(|cell| cell.parse().ok());
    text.lines().skip(1).map(|line| cell(line).with_context(|| format!("no label in {line:?}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
