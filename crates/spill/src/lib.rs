//! Stores numbers that should not stay in memory: writes them to a file once, and then gives access to them as a slice.
//!
//! A [`Spill`] names a folder. A [`Writer`] appends numbers to a file there. When all numbers are written, the writer
//! becomes a [`Slab`], which dereferences to `&[T]`. The file is mapped: the system reads pages when they are used, and
//! drops pages that have not been used lately. So you can iterate over far more numbers than fit into memory.
//! [`Storage`] is the type of a field whose numbers are in memory or in a file, and [`Builder`] fills a storage.
//! The file has no name. The system creates the file without a name, or the file is deleted right after its creation.
//! If the file still has a name after that, [`Spill::writer`] returns an error. The only handle of the file is closed
//! before any thread reads the numbers. So no other program can write to the file or truncate it, and nothing of it
//! remains when the program ends, for any reason. All numbers are on the disk before they are read. So if the disk
//! fails to store some numbers, you get an error and not wrong numbers.
//!
//! The folder should be on a disk. A folder whose files are kept in memory (`tmpfs`) saves no memory.

#[cfg(unix)]
mod file;
#[cfg(not(unix))]
mod no_file;
mod storage;

use std::io;
use std::path::PathBuf;

#[cfg(unix)]
pub use file::{Slab, Spill, Writer};
#[cfg(not(unix))]
pub use no_file::{Slab, Spill, Writer};
pub use storage::{Builder, Storage};

/// The reason why numbers could not be stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The numbers could not be stored in a file.
    #[error("{}: cannot hold what memory should not: {}", .folder.display(), reason(.cause))]
    Folder {
        /// The folder, as the caller gave it.
        folder: PathBuf,
        /// The operating system's error.
        cause: io::Error,
    },
    /// The numbers could not be stored in memory, because the system refused to allocate more.
    #[error("expected memory for {} of numbers, found too little", size(*.bytes))]
    Memory {
        /// The number of bytes that the numbers so far would have needed.
        bytes: usize,
    },
}

/// Formats a number of bytes for people: `20 bytes`, `1.5 GiB`.
///
/// # Example
/// ```
/// assert_eq!([20, 1536, 5 << 40].map(lehr_spill::size), ["20 bytes", "1.5 KiB", "5.0 TiB"]);
/// ```
pub fn size(bytes: usize) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let (mut amount, mut unit) = (bytes as f64 / 1024.0, 0);
    while amount >= 1024.0 && unit + 1 < units.len() {
        (amount, unit) = (amount / 1024.0, unit + 1);
    }
    format!("{amount:.1} {}", units[unit])
}

fn reason(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::NotFound => "no such directory".into(),
        io::ErrorKind::NotADirectory => "not a directory".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "no space left on the disk".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".into(),
        _ => cause.to_string(),
    }
}
