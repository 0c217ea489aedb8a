//! Reads and writes the outcomes of orders, as files in their folders. An outcome exists completely or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use serde::{Deserialize, Serialize};

use super::failed;
use crate::format::arrow;
use crate::format::column::Gaps;
use crate::method::{Failure, Outputs};
use crate::table::Columns;

const FILE: &str = "outcome.json";

/// The outcome of an order.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Done(Done),
    Failed(Failed),
}

/// The results without the tables, which are in separate files.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    /// The names and checksums of the tables.
    tables: BTreeMap<String, String>,
    figures: BTreeMap<String, f64>,
    warnings: Vec<String>,
}

/// A [`Failure`] in serialised form.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failed {
    Stopped,
    Input(String),
    Environment(String),
    Internal(String),
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stopped => Self::Stopped,
            Failure::Input(reason) => Self::Input(reason),
            Failure::Environment(reason) => Self::Environment(reason),
            Failure::Internal(reason) => Self::Internal(reason),
        }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Stopped => Self::Stopped,
            Failed::Input(reason) => Self::Input(reason),
            Failed::Environment(reason) => Self::Environment(reason),
            Failed::Internal(reason) => Self::Internal(reason),
        }
    }
}

fn table_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("made-{name}.arrow"))
}

impl Outcome {
    /// Writes the result of a method: first the tables, then the outcome.
    pub fn keep(folder: &Path, ended: Result<Outputs, Failure>) -> Result<(), Failure> {
        let Outputs { tables, figures, warnings } = match ended {
            Ok(outputs) => outputs,
            Err(failure) => return Self::Failed(failure.into()).write(folder),
        };
        let mut sums = BTreeMap::new();
        for (name, table) in tables {
            let mut file = AtomicFile::create(&table_path(folder, &name))?;
            arrow::write_to(&mut file, &table).map_err(failed)?;
            file.commit()?;
            sums.insert(name, table.checksum());
        }
        Self::Done(Done { tables: sums, figures, warnings }).write(folder)
    }

    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let text = serde_json::to_vec(self).map_err(|error| Failure::Internal(error.to_string()))?;
        let mut file = AtomicFile::create(&folder.join(FILE))?;
        file.write_all(&text).map_err(|cause| file.failed(cause))?;
        Ok(file.commit()?)
    }

    /// Reads the outcome in a folder, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        match fs::read(folder.join(FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(unread),
        }
    }
}

impl Done {
    /// Reads the tables and returns the complete outputs.
    pub fn outputs(self, folder: &Path) -> Result<Outputs, Failure> {
        let mut tables = BTreeMap::new();
        for (name, sum) in self.tables {
            let file = File::open(table_path(folder, &name)).map_err(failed)?;
            let table = arrow::read_from(BufReader::new(file), &Columns::default(), Gaps::Nowhere, &name, u64::MAX)?;
            if table.checksum() != sum {
                return Err(unread(format!("{name} is damaged")));
            }
            tables.insert(name, table);
        }
        Ok(Outputs { tables, figures: self.figures, warnings: self.warnings })
    }
}

fn unread(reason: impl std::fmt::Display) -> Failure {
    Failure::Internal(format!("what the processes made cannot be read: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn what_was_made_is_read_back_with_its_bits_and_damage_is_found_out() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Outcome::read(folder.path()).unwrap(), None);
        let table = Table::builder().singles("d", vec![0.1, f32::NAN]).gaps(true).build().unwrap();
        let made = Outputs::new().table("matrix", table).figure("mean", 0.1 + 0.2).warning("one pair has no value");
        Outcome::keep(folder.path(), Ok(made.clone())).unwrap();
        let read = || match Outcome::read(folder.path()).unwrap() {
            Some(Outcome::Done(done)) => done.outputs(folder.path()),
            other => panic!("{other:?}"),
        };
        let again = read().unwrap();
        assert_eq!((&again.figures, &again.warnings), (&made.figures, &made.warnings));
        assert_eq!(again.tables["matrix"].checksum(), made.tables["matrix"].checksum());
        let path = table_path(folder.path(), "matrix");
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.windows(4).position(|window| window == 0.1f32.to_le_bytes()).unwrap();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(read().unwrap_err().to_string().ends_with("matrix is damaged"));
        for failure in [Failure::Stopped, Failure::input("K"), Failure::Environment("disk".into())] {
            Outcome::keep(folder.path(), Err(failure.clone())).unwrap();
            let Some(Outcome::Failed(again)) = Outcome::read(folder.path()).unwrap() else { panic!("no failure") };
            assert_eq!(Failure::from(again), failure);
        }
    }
}
