//! Generates blobs of rows on a grid, of any number and dimension, and in a requested number of clusters, which methods
//! must find again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lehr_data::synthetic::{self, Component};
use lehr_data::write;
use lehr_numerics::random::Stream;
use serde::Deserialize;

use super::definition::Shape;

/// The arrangement of the blobs.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Blobs {
    /// The distance between neighbouring points of the grid, in standard deviations of a blob.
    pub apart: f64,
    /// The maximum displacement of a centre from its grid point along each axis, as a share of that distance. On a
    /// regular grid, several divisions would occur at the same temperature.
    pub moved: f64,
}

/// A file of rows.
#[derive(Clone, Debug)]
pub struct Rows {
    /// An array in NPY.
    pub path: PathBuf,
    /// The blob of each row.
    pub blobs: Vec<u32>,
}

impl Blobs {
    /// Writes `rows.npy` to a folder. Equal arguments give equal files.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, shape: &Shape, folder: &Path) -> Result<Rows> {
        let (points, blobs) = synthetic::gaussian_mixture(shape.rows, &self.components(shape), 1);
        let path = folder.join("rows.npy");
        write::npy::points(&path, &points).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Rows { path, blobs })
    }

    /// Returns a blob for each grid point of the smallest cube with enough points; the first coordinate varies fastest.
    fn components(&self, shape: &Shape) -> Vec<Component> {
        let side =
            (1..).find(|side: &usize| places(*side, shape.columns) >= shape.clusters).expect("a large enough side");
        let noise = Stream::new(1, "moved centres");
        let center = |blob: usize| {
            let mut left = blob;
            (0..shape.columns)
                .map(|column| {
                    let place = (left % side) as f64;
                    left /= side;
                    let moved = self.moved * (2.0 * noise.uniform((blob * shape.columns + column) as u64) - 1.0);
                    self.apart * (place + moved)
                })
                .collect()
        };
        (0..shape.clusters).map(|blob| Component { center: center(blob), deviation: 1.0, weight: 1.0 }).collect()
    }
}

/// Returns the number of grid points of a cube, or the largest number if it overflows.
fn places(side: usize, columns: usize) -> usize {
    u32::try_from(columns).ok().and_then(|columns| side.checked_pow(columns)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOBS: Blobs = Blobs { apart: 10.0, moved: 0.2 };

    #[test]
    fn centres_keep_their_distance_in_any_dimension() {
        for (columns, clusters) in [(1, 7), (2, 80), (8, 80), (128, 10)] {
            let shape = Shape { rows: 100, columns, clusters, ranks: None };
            let components = BLOBS.components(&shape);
            assert_eq!(components.len(), clusters);
            for (place, one) in components.iter().enumerate() {
                for other in &components[..place] {
                    let squares = one.center.iter().zip(&other.center).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                    assert!(squares.sqrt() >= 6.0, "{columns} columns: {}", squares.sqrt());
                }
            }
        }
    }

    #[test]
    fn the_file_is_the_same_each_time_and_its_rows_lie_about_their_blobs() {
        let shape = Shape { rows: 50, columns: 3, clusters: 4, ranks: None };
        let folder = tempfile::tempdir().unwrap();
        let one = BLOBS.write(&shape, folder.path()).unwrap();
        let first = std::fs::read(&one.path).unwrap();
        let points = lehr_data::read::points(&one.path, &lehr_data::read::Selection::default()).unwrap();
        assert_eq!((points.len(), points.dimension(), one.blobs.len()), (50, 3, 50));
        let components = BLOBS.components(&shape);
        for (row, blob) in one.blobs.iter().enumerate() {
            let center = &components[*blob as usize].center;
            assert!(points.row(row).iter().zip(center).all(|(a, b)| (a - b).abs() < 6.0), "{row}");
        }
        BLOBS.write(&shape, folder.path()).unwrap();
        assert_eq!(std::fs::read(&one.path).unwrap(), first);
    }
}
