//! The type of a field whose numbers are in memory or in a file.

use std::fmt;
use std::ops::Deref;

use bytemuck::Pod;

use crate::{Error, Slab, Spill, Writer};

/// Numbers in memory or in a file. In either case, they dereference to a slice.
///
/// # Example
/// ```
/// use lehr_spill::Storage;
/// let numbers = Storage::from(vec![1.0, 2.0]);
/// assert_eq!(numbers[1], 2.0);
/// assert!(numbers.spill().is_none());
/// ```
#[derive(Clone)]
pub enum Storage<T> {
    /// The numbers are in memory.
    Memory(Vec<T>),
    /// The numbers are in a file.
    File(Slab<T>),
}

impl<T> Storage<T> {
    /// Returns the folder of the file, if the numbers are in a file.
    pub fn spill(&self) -> Option<&Spill> {
        match self {
            Storage::Memory(_) => None,
            Storage::File(slab) => Some(slab.spill()),
        }
    }
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Storage::Memory(numbers) => numbers,
            Storage::File(slab) => slab,
        }
    }
}

impl<T> From<Vec<T>> for Storage<T> {
    fn from(numbers: Vec<T>) -> Self {
        Storage::Memory(numbers)
    }
}

impl<T> From<Slab<T>> for Storage<T> {
    fn from(slab: Slab<T>) -> Self {
        Storage::File(slab)
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Storage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: Pod + PartialEq> PartialEq for Storage<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// Collects numbers one after the other, in memory or in a file.
///
/// # Example
/// ```
/// use lehr_spill::{Builder, Spill};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let spill = Spill::new(folder);
/// for place in [None, Some(&spill)] {
///     let mut builder = Builder::new(place, 2)?;
///     builder.extend(&[0.5, 0.25])?;
///     let numbers = builder.finish()?;
///     assert_eq!((numbers[1], numbers.spill()), (0.25, place));
/// }
/// # Ok::<(), lehr_spill::Error>(())
/// ```
#[derive(Debug)]
pub enum Builder<T> {
    /// The numbers are in memory.
    Memory(Vec<T>),
    /// The numbers are in a file.
    File(Writer<T>),
}

fn memory_for<T>(count: usize) -> Error {
    Error::Memory { bytes: count.saturating_mul(size_of::<T>()) }
}

impl<T: Pod> Builder<T> {
    /// Creates a builder for `expected` numbers; 0 if the count is unknown. The numbers go to a file in the folder of
    /// `spill`, or to memory if `spill` is `None`. The space is reserved at once, so don't pass a count that comes from
    /// an untrusted source.
    ///
    /// # Errors
    /// Returns [`Error`] if no file can be made in the folder, or if there is no space for this many numbers.
    pub fn new(spill: Option<&Spill>, expected: usize) -> Result<Self, Error> {
        Ok(match spill {
            None => {
                let mut numbers = Vec::new();
                numbers.try_reserve_exact(expected).map_err(|_| memory_for::<T>(expected))?;
                Builder::Memory(numbers)
            }
            Some(spill) => Builder::File(spill.writer(expected)?),
        })
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// Returns [`Error`] if the disk or the memory has no space for the numbers.
    pub fn extend(&mut self, numbers: &[T]) -> Result<(), Error> {
        match self {
            Builder::Memory(all) => {
                let count = all.len() + numbers.len();
                all.try_reserve(numbers.len()).map_err(|_| memory_for::<T>(count))?;
                all.extend_from_slice(numbers);
            }
            Builder::File(writer) => writer.extend(numbers)?,
        }
        Ok(())
    }

    /// Returns all numbers.
    ///
    /// # Errors
    /// Returns [`Error`] if the disk cannot store the last numbers.
    pub fn finish(self) -> Result<Storage<T>, Error> {
        Ok(match self {
            Builder::Memory(numbers) => Storage::Memory(numbers),
            Builder::File(writer) => Storage::File(writer.finish()?),
        })
    }
}
