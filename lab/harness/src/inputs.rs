//! The points of measurements: sets from files, generated mixtures, and files for runners.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lehr_data::Points;
use lehr_data::read::{self, Selection};
use lehr_numerics::random::Stream;

use crate::definition::SetDefinition;

/// The folder of the files that the harness writes for runners.
const WORK_FOLDER: &str = "target/lab";

/// Returns the file of a set: the project's if there is one, otherwise the file below `data`; `None` if neither exists.
pub fn find(set: &SetDefinition, data: Option<&Path>) -> Option<PathBuf> {
    let project = set.project_file.as_ref().map(PathBuf::from);
    let outside = data.map(|folder| folder.join(&set.file));
    project.into_iter().chain(outside).find(|path| path.is_file())
}

/// Reads the points of a set.
///
/// # Errors
/// Returns the errors of the reader.
pub fn load(set: &SetDefinition, path: &Path) -> Result<Points> {
    // The column of known classes is read as the id, so it is not part of the points.
    let selection = Selection {
        columns: set.columns.clone(),
        weights: set.weights.clone(),
        id: set.label.clone(),
        ..Selection::default()
    };
    Ok(read::points(path, &selection)?)
}

/// Returns the known class of each row of a set with known classes, numbered by first appearance.
pub fn classes(points: &Points) -> Option<Vec<u32>> {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    let of = points.ids()?.iter().map(|id| {
        let next = known.len() as u32;
        *known.entry(id.as_str()).or_insert(next)
    });
    Some(of.collect())
}

/// Generates a mixture of round Gaussians with centres drawn from the unit cube: `rows` points, weights between 0 and
/// 2, and the `clusters` true centres. Draws depend on (seed, purpose, index), so they are the same everywhere.
pub fn mixture(rows: usize, dimension: usize, clusters: usize, deviation: f64) -> Result<(Points, Vec<f64>)> {
    let (place, noise, choice) =
        (Stream::new(1, "lab centre"), Stream::new(1, "lab noise"), Stream::new(1, "lab choice"));
    let centers: Vec<f64> = (0..clusters * dimension).map(|index| place.uniform(index as u64)).collect();
    let mut values = Vec::with_capacity(rows * dimension);
    for i in 0..rows {
        let cluster = (choice.uniform(i as u64) * clusters as f64) as usize;
        for j in 0..dimension {
            values.push(centers[cluster * dimension + j] + deviation * noise.normal((i * dimension + j) as u64));
        }
    }
    let weights = (0..rows).map(|i| 2.0 * choice.uniform((rows + i) as u64)).collect();
    Ok((Points::new(values, dimension)?.with_weights(weights)?, centers))
}

/// Writes `blocks` of numbers one after the other as little-endian doubles to `target/lab/NAME`, for a runner.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_numbers(name: &str, blocks: &[&[f64]]) -> Result<PathBuf> {
    let path = Path::new(WORK_FOLDER).join(name);
    let bytes: Vec<u8> = blocks.iter().flat_map(|block| block.iter().flat_map(|number| number.to_le_bytes())).collect();
    fs::create_dir_all(path.parent().context("a file in a folder")?)?;
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Writes a text for a runner.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_text(name: &str, text: &str) -> Result<PathBuf> {
    let path = Path::new(WORK_FOLDER).join(name);
    fs::create_dir_all(path.parent().context("a file in a folder")?)?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Writes points in the format of runners in Python (`lab/runners/table.py`).
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_table(name: &str, points: &Points) -> Result<PathBuf> {
    let weighted = if points.weights().is_some() { 1.0 } else { 0.0 };
    let head = [points.len() as f64, points.dimension() as f64, weighted];
    write_numbers(name, &[&head, points.values(), points.weights().unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_numbered_as_they_come_up() {
        let ids = ["b", "a", "b", "c"].map(str::to_owned).to_vec();
        let points = Points::new(vec![0.0; 4], 1).unwrap();
        assert_eq!(classes(&points), None);
        assert_eq!(classes(&points.with_ids(ids).unwrap()), Some(vec![0, 1, 0, 2]));
    }

    #[test]
    fn mixtures_are_the_same_each_time_and_of_the_shape_asked_for() {
        let (points, centers) = mixture(50, 3, 4, 0.1).unwrap();
        let (again, _) = mixture(50, 3, 4, 0.1).unwrap();
        assert_eq!((points.len(), points.dimension(), centers.len()), (50, 3, 12));
        assert_eq!(points.fingerprint(), again.fingerprint());
    }
}
