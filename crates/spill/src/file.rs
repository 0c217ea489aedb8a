//! A file without a name: a writer appends numbers to the file, then the file is mapped into memory.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::{Mmap, MmapOptions};
#[cfg(target_os = "linux")]
use rustix::fs::{FallocateFlags, fallocate};
#[cfg(target_os = "linux")]
use rustix::io::{Errno, retry_on_intr};

use crate::Error;

/// A folder for numbers that should not stay in memory.
///
/// # Example
/// ```
/// use lehr_spill::Spill;
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let spill = Spill::new(folder);
/// let mut writer = spill.writer::<f64>(3)?;
/// writer.extend(&[1.0, 2.0])?;
/// writer.extend(&[3.0])?;
/// let numbers = writer.finish()?;
/// assert_eq!(numbers[..], [1.0, 2.0, 3.0]);
/// assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "the file has no name");
/// # Ok::<(), lehr_spill::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    folder: PathBuf,
}

impl Spill {
    /// Creates a spill to this folder. The folder must exist when [`writer`](Self::writer) is called.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates a file for `expected` numbers (0 if the count is unknown). If the file system can reserve space, the
    /// file gets its space at once. A full disk is then reported before the work begins.
    ///
    /// # Errors
    /// Returns [`Error`] if no file can be made in the folder, if the file would keep its name, or if there is not
    /// enough space.
    pub fn writer<T: Pod>(&self, expected: usize) -> Result<Writer<T>, Error> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|cause| self.failed(cause))?;
        check_nameless(&file).map_err(|cause| self.failed(cause))?;
        set_aside(&file, bytes_of::<T>(expected)).map_err(|cause| self.failed(cause))?;
        Ok(Writer { file: BufWriter::with_capacity(BUFFER, file), len: 0, spill: self.clone(), of: PhantomData })
    }

    fn failed(&self, cause: io::Error) -> Error {
        Error::Folder { folder: self.folder.clone(), cause }
    }
}

/// The size of the write buffer, in bytes.
const BUFFER: usize = 1 << 18;

fn bytes_of<T>(numbers: usize) -> u64 {
    // No file is longer than the largest offset.
    (numbers as u64).saturating_mul(size_of::<T>() as u64).min(i64::MAX as u64)
}

/// Checks that no folder lists the file. Where no file can be created without a name, the file gets a name and is
/// deleted at once. But some network file systems rename a deleted file that is open, and other file systems may refuse
/// to delete it.
fn check_nameless(file: &File) -> io::Result<()> {
    match file.metadata()?.nlink() {
        0 => Ok(()),
        _ => Err(io::Error::other("its file system keeps the names of open files, by which others could change them")),
    }
}

/// Reserves space on the disk, if the file system can reserve space.
#[cfg(target_os = "linux")]
fn set_aside(file: &File, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // The file's length stays the number of written bytes, so only written parts of the file are mapped later.
    match retry_on_intr(|| fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes)) {
        // Some file systems cannot reserve space. There, a full disk is reported only when a write fails.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Reserves nothing, because systems other than Linux can reserve space only by making the file longer. There, a full
/// disk is reported only when a write fails.
#[cfg(not(target_os = "linux"))]
fn set_aside(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Appends numbers to a file.
#[derive(Debug)]
pub struct Writer<T> {
    file: BufWriter<File>,
    len: usize,
    spill: Spill,
    of: PhantomData<T>,
}

#[allow(clippy::len_without_is_empty)] // it grows
impl<T: Pod> Writer<T> {
    /// Returns the number of numbers written so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// Returns [`Error`] if the numbers cannot be written to the disk.
    pub fn extend(&mut self, numbers: &[T]) -> Result<(), Error> {
        self.file.write_all(bytemuck::cast_slice(numbers)).map_err(|cause| self.spill.failed(cause))?;
        self.len += numbers.len();
        Ok(())
    }

    /// Waits until all numbers are on the disk, and returns the numbers for reading.
    ///
    /// # Errors
    /// Returns [`Error`] if the disk did not store all numbers, or if the system cannot create another mapping.
    pub fn finish(self) -> Result<Slab<T>, Error> {
        let Self { file, len, spill, .. } = self;
        let file = file.into_inner().map_err(|error| spill.failed(error.into_error()))?;
        let mapped = || {
            // The system reports success of a write before it writes to the disk. Without this call, nothing would
            // report a failed write, and the page would be read back with wrong numbers.
            file.sync_data()?;
            map(&file, len * size_of::<T>())
        };
        let map = if len == 0 { None } else { Some(mapped().map_err(|cause| spill.failed(cause))?) };
        Ok(Slab { mapped: Arc::new(Mapped { map, spill }), range: 0..len, of: PhantomData })
    }
}

fn map(file: &File, bytes: usize) -> io::Result<Mmap> {
    // SAFETY: The mapped bytes must not change while they are borrowed. `file` was new and empty in `Spill::writer`.
    // Before the first number was written, `check_nameless` found that the file had no name, so no process can have
    // opened it since. (If it could not be created without a name, it had a random name for a moment, and only this
    // user could open it. A program that runs as this user can change any variable of this process anyway.) This
    // process has one handle of the file. Only `Writer::finish` has this handle, and closes it on return without
    // passing it on. All bytes of the file were written before. The file's length is `bytes`, so no page lies beyond
    // its end. The disk has stored all bytes (`sync_data`), so no page changes later because of a failed write. (If a
    // disk cannot read back what it stored, a signal ends the process, as it does if that disk holds the program
    // itself.)
    unsafe { MmapOptions::new().len(bytes).map(file) }
}

struct Mapped {
    /// The mapping of the file; `None` if there are no numbers, because no system maps an empty file.
    map: Option<Mmap>,
    spill: Spill,
}

/// Numbers in a file, or a range of these numbers, as a slice that needs no memory of its own. Clones share the file.
pub struct Slab<T> {
    mapped: Arc<Mapped>,
    range: Range<usize>,
    of: PhantomData<T>,
}

impl<T> Slab<T> {
    /// Returns the folder of the file.
    pub fn spill(&self) -> &Spill {
        &self.mapped.spill
    }

    /// Returns a range of the numbers, which shares the file.
    ///
    /// # Panics
    /// Panics if the range goes beyond the numbers.
    pub fn part(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.range.len(), "{range:?} of {} numbers", self.range.len());
        let range = self.range.start + range.start..self.range.start + range.end;
        Self { mapped: Arc::clone(&self.mapped), range, of: PhantomData }
    }
}

impl<T> Clone for Slab<T> {
    fn clone(&self) -> Self {
        Self { mapped: Arc::clone(&self.mapped), range: self.range.clone(), of: PhantomData }
    }
}

impl<T: Pod> Deref for Slab<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // A map begins at a page boundary, so it is aligned for every type of number.
        let all: &[T] = self.mapped.map.as_ref().map_or(&[], |map| bytemuck::cast_slice(map));
        &all[self.range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_copies_share_one_file_that_no_folder_lists() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Spill::new(folder.path()).writer::<f64>(0).unwrap();
        let numbers: Vec<f64> = (0..100_000).map(f64::from).collect();
        for block in numbers.chunks(777) {
            writer.extend(block).unwrap();
        }
        assert_eq!(writer.len(), numbers.len());
        let slab = writer.finish().unwrap();
        assert!(*slab == numbers[..]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let part = slab.part(50_000..60_000).part(1..3);
        drop(slab);
        assert_eq!(part.clone()[..], [50_001.0, 50_002.0]);
        // The folder is deleted, the numbers remain readable.
        let spill = part.spill().clone();
        drop(folder);
        assert_eq!(part[..], [50_001.0, 50_002.0]);
        let message = spill.writer::<f64>(1).unwrap_err().to_string();
        assert!(message.ends_with(": cannot hold what memory should not: no such directory"), "{message}");
    }

    #[test]
    fn no_numbers_are_a_slab_too() {
        let folder = tempfile::tempdir().unwrap();
        let slab = Spill::new(folder.path()).writer::<f64>(7).unwrap().finish().unwrap();
        assert!(slab.is_empty() && slab.part(0..0).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn room_that_no_disk_has_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        // On file systems that cannot reserve space, nothing is promised.
        let probe = tempfile::tempfile_in(folder.path()).unwrap();
        if retry_on_intr(|| fallocate(&probe, FallocateFlags::KEEP_SIZE, 0, 1 << 12)).is_err() {
            return;
        }
        let error = Spill::new(folder.path()).writer::<f64>(1 << 57).unwrap_err();
        let Error::Folder { folder: named, cause } = &error else { panic!("{error}") };
        assert_eq!(named, folder.path());
        let told = [Errno::NOSPC, Errno::FBIG, Errno::DQUOT].map(|errno| Some(errno.raw_os_error()));
        assert!(told.contains(&cause.raw_os_error()), "{error}");
    }

    #[test]
    fn a_file_that_keeps_a_name_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = Spill::new("disk").failed(check_nameless(file.as_file()).unwrap_err()).to_string();
        let words = "its file system keeps the names of open files, by which others could change them";
        assert_eq!(refused, format!("disk: cannot hold what memory should not: {words}"));
        let (file, path) = file.into_parts();
        path.close().unwrap();
        check_nameless(&file).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_disk_may_not_have_is_not_mapped() {
        // A pipe accepts the bytes, but cannot be synchronised or mapped. The failed synchronisation is reported.
        let (reader, pipe) = std::io::pipe().unwrap();
        let file = BufWriter::new(File::from(std::os::fd::OwnedFd::from(pipe)));
        let mut writer = Writer { file, len: 0, spill: Spill::new("disk"), of: PhantomData };
        writer.extend(&[1.0, 2.0]).unwrap();
        let error = writer.finish().map(|_| ()).unwrap_err();
        let Error::Folder { cause, .. } = &error else { panic!("{error}") };
        assert_eq!(cause.raw_os_error(), Some(Errno::INVAL.raw_os_error()), "{error}");
        drop(reader);
    }
}
