//! The user's sequences in a file, in place of generated ones.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lehr_data::read::fasta;

/// The minimum number of alignment cells a second on one core (`make bench-distances`).
const CELLS: f64 = 5e8;

/// A file of sequences, which are aligned pair by pair; equal sequences become one with a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The name of the set: the file's name up to its first dot.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The number of sequences.
    pub items: usize,
    /// The requested number of clusters; if absent, the data determine it.
    pub clusters: Option<usize>,
    letters: usize,
}

impl Given {
    /// Reads the number of sequences of a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or has fewer than two sequences.
    pub fn read(path: &Path, clusters: Option<usize>) -> Result<Self> {
        let all = fasta::sequences(path, fasta::Expected::default())?;
        let items = all.len();
        ensure!(items >= 2, "{}: expected at least two sequences, found {items}", path.display());
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next());
        let name = name.with_context(|| format!("{} has no name", path.display()))?.to_owned();
        let letters = (0..items).map(|row| all.sequence(row).len()).sum();
        Ok(Self { name, path: path.to_owned(), items, clusters, letters })
    }

    /// Returns the maximum seconds of aligning all pairs.
    pub fn seconds(&self) -> f64 {
        0.5 * (self.letters as f64).powi(2) / CELLS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_and_its_letters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reads.of.a_lake.fasta");
        std::fs::write(&path, ">a\nACGT\n>b\nACG\n").unwrap();
        let given = Given::read(&path, Some(2)).unwrap();
        assert_eq!((given.name.as_str(), given.items, given.letters), ("reads", 2, 7));
        std::fs::write(&path, ">a\nACGT\n").unwrap();
        assert!(Given::read(&path, None).unwrap_err().to_string().contains("at least two"));
        assert!(Given::read(&folder.path().join("none.fasta"), None).is_err());
    }
}
