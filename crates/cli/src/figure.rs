//! `--figure FILE`: the picture of the results as an SVG or PNG file.

use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use lehr_report::drawing::{Drawing, Format};

use crate::beside::{self, Beside};
use crate::exit::Failure;
use crate::folder::Folder;

const FIGURE: Beside = Beside { name: "figure", option: "--figure" };

/// A file for a picture: its path, and the format that its name implies.
#[derive(Clone, Debug)]
pub struct FigureFile {
    path: PathBuf,
    format: Format,
}

impl FigureFile {
    /// Returns the file as typed, or the error in its name.
    pub fn of(typed: &str) -> Result<Self, String> {
        let path = PathBuf::from(typed);
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = extension.and_then(Format::of).ok_or("expected a name that ends in .svg or .png")?;
        Ok(Self { path, format })
    }

    /// Returns the path, as typed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file can be written and overwrites nothing of value.
    ///
    /// # Errors
    /// Returns the errors of [`Beside::claim`].
    pub fn claim(&self, among: (Option<&Path>, &Folder, bool)) -> Result<(), Failure> {
        FIGURE.claim(&self.path, |head| self.format.is_ours(head), among).map(drop)
    }

    /// Writes the file under a temporary name; [`AtomicFile::commit`] renames it.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`](crate::exit::Kind::Environment) if the file cannot be written.
    pub fn write(&self, drawing: &Drawing) -> Result<AtomicFile, Failure> {
        beside::write(&self.path, &drawing.bytes(self.format))
    }
}
