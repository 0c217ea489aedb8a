//! Writes result files completely or not at all.
//!
//! A file is written under a temporary name in its own folder. It gets its real name only when it is complete and on
//! disk ([`AtomicFile`]). So readers see the old file or the new one. An interrupted run removes its temporary file. A
//! killed process leaves it behind, under its hidden name.
//!
//! The same data give the same bytes: numbers have the shortest form that reads back as the same number, and lines end
//! with `\n`.

pub mod csv;
pub mod dissimilarities;
pub mod names;
pub mod npy;
pub mod packed;

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A file that appears under its name only when it is complete.
///
/// Write to the file, then [`commit`](AtomicFile::commit) it. If it is dropped before the commit (after an error, a
/// panic, or Ctrl-C handled by unwinding), it is removed. An existing file is replaced in one step; a link with this
/// name is replaced, not followed.
///
/// # Example
/// ```
/// use std::io::Write;
/// use lehr_data::write::AtomicFile;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.csv");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"id,cluster\n").unwrap();
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"id,cluster\n");
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    /// The open file; `None` after the commit, when there is nothing to remove.
    file: Option<BufWriter<File>>,
}

impl AtomicFile {
    /// Opens a temporary file beside `path`, called `.NAME.PROCESS-NUMBER.tmp`.
    ///
    /// # Errors
    /// Returns [`Error::Write`] if the folder does not exist or is not writable; [`Error::Directory`] if `path` is a
    /// directory.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let failed = |cause| Error::Write { path: path.display().to_string(), cause };
        if path.is_dir() {
            return Err(Error::Directory { path: path.display().to_string() });
        }
        let Some(name) = path.file_name() else {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file")));
        };
        for number in 0u32.. {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{number}.tmp", std::process::id()));
            let temporary = path.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    return Ok(AtomicFile {
                        path: path.into(),
                        temporary,
                        file: Some(BufWriter::with_capacity(1 << 16, file)),
                    });
                }
                // Another writer in this process uses this name, or an earlier process with the same number left the
                // file.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, "no free temporary name")))
    }

    /// Returns the name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name that the file has until it is committed, for code that writes parts of it through other
    /// handles.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Writes the rest, waits until it is on disk, and gives the file its name.
    ///
    /// # Errors
    /// Returns [`Error::Write`], for example if the disk is full. In this case, the incomplete file is removed, and an
    /// existing file stays.
    pub fn commit(mut self) -> Result<(), Error> {
        self.finish().map_err(|cause| Error::Write { path: self.path.display().to_string(), cause })
    }

    /// Returns an error of writing to this file, with its name.
    pub fn failed(&self, cause: io::Error) -> Error {
        Error::Write { path: self.path.display().to_string(), cause }
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.flush()?;
            file.get_ref().sync_all()?;
        }
        std::fs::rename(&self.temporary, &self.path)?;
        self.file = None;
        // The name is on disk only when the folder has been synchronised. Some systems cannot sync a folder; the file
        // is complete anyway.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // Buffered bytes need not be written to a file that is removed.
            drop(file.into_parts());
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}
