//! Sequences of a file, in the place of those that are made: what becomes of a user's own.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lehr_data::read::fasta;

/// Cells of alignments a second on one core, at least (`make bench-distances`).
const CELLS: f64 = 5e8;

/// A file of sequences, which are aligned pair by pair; equal ones are one with a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// What it is called: the file's name without what follows its first dot.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How many sequences there are.
    pub items: usize,
    /// How many clusters are asked for; what the data suggest, otherwise.
    pub clusters: Option<usize>,
    letters: usize,
}

impl Given {
    /// Looks at a file.
    ///
    /// # Errors
    /// A file that cannot be read or holds no sequences; fewer than two.
    pub fn read(path: &Path, clusters: Option<usize>) -> Result<Self> {
        let all = fasta::sequences(path, fasta::Expected::default())?;
        let items = all.len();
        ensure!(items >= 2, "{}: expected at least two sequences, found {items}", path.display());
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next());
        let name = name.with_context(|| format!("{} has no name", path.display()))?.to_owned();
        let letters = (0..items).map(|row| all.sequence(row).len()).sum();
        Ok(Self { name, path: path.to_owned(), items, clusters, letters })
    }

    /// Seconds that their alignments take at most.
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
