//! The record of a session: `lab/records/NAME/SUBJECT.csv` with the figures, and `SUBJECT.machine.json` with the
//! machine and the programs.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::machine::Machine;
use crate::measure::Spread;

/// The rows of a record, written when the session has ended.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    subject: String,
    versions: Vec<String>,
    rows: String,
}

impl Record {
    /// Makes an empty record of `subject`, to be written below `lab/records/NAME`.
    pub fn new(name: &str, subject: &str) -> Self {
        Self {
            folder: PathBuf::from("lab/records").join(name),
            subject: subject.into(),
            versions: Vec::new(),
            rows: "case,engine,quantity,unit,count,min,median,max\n".into(),
        }
    }

    /// Stores the versions that a runner reports.
    pub fn versions(&mut self, text: &str) {
        if !self.versions.iter().any(|known| known == text) {
            self.versions.push(text.into());
        }
    }

    /// Adds one row: the spread of `count` figures.
    pub fn add(&mut self, case: &str, engine: &str, quantity: &str, unit: &str, count: usize, spread: Spread) {
        let Spread { min, median, max } = spread;
        let [case, engine, quantity] = [case, engine, quantity].map(field);
        writeln!(self.rows, "{case},{engine},{quantity},{unit},{count},{min},{median},{max}")
            .expect("a string takes any text");
    }

    /// Writes both files, replacing earlier ones of the same name.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be made, or a file cannot be written.
    pub fn write(&self, machine: &Machine) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder).with_context(|| format!("cannot make {}", self.folder.display()))?;
        let path = self.folder.join(format!("{}.csv", self.subject));
        fs::write(&path, &self.rows).with_context(|| format!("cannot write {}", path.display()))?;
        let about = serde_json::json!({ "machine": machine, "versions": self.versions });
        let beside = self.folder.join(format!("{}.machine.json", self.subject));
        fs::write(&beside, format!("{about:#}\n")).with_context(|| format!("cannot write {}", beside.display()))?;
        Ok(path)
    }
}

/// Returns `text` as a CSV field.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_csv_and_fields_with_commas_are_quoted() {
        let mut record = Record::new("local", "test");
        record.add("2-D, K = 20", "lehr", "time, or less", "s", 3, Spread { min: 1.0, median: 2.0, max: 3.5 });
        assert!(record.rows.ends_with("\"2-D, K = 20\",lehr,\"time, or less\",s,3,1,2,3.5\n"));
    }
}
