//! The same types where there are no files that could be mapped: in a browser, and on systems that are not Unix.
//!
//! [`Spill::writer`] refuses there, so no [`Writer`] and no [`Slab`] ever exists.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::Error;

/// A folder for numbers that memory should not hold; here nothing can be written to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    folder: PathBuf,
}

impl Spill {
    /// A folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Refuses: this system has no file without a name.
    ///
    /// # Errors
    /// Always returns [`Error`].
    pub fn writer<T: Pod>(&self, _: usize) -> Result<Writer<T>, Error> {
        let cause = io::Error::new(io::ErrorKind::Unsupported, "this system has no files without a name");
        Err(Error::Folder { folder: self.folder.clone(), cause })
    }
}

/// Appends numbers to a file, of which there is none here.
#[derive(Debug)]
pub struct Writer<T> {
    never: Infallible,
    of: PhantomData<T>,
}

#[allow(clippy::len_without_is_empty)] // it grows
impl<T: Pod> Writer<T> {
    /// The number of numbers so far.
    pub fn len(&self) -> usize {
        match self.never {}
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// None: there is no writer.
    pub fn extend(&mut self, _: &[T]) -> Result<(), Error> {
        match self.never {}
    }

    /// All numbers.
    ///
    /// # Errors
    /// None: there is no writer.
    pub fn finish(self) -> Result<Slab<T>, Error> {
        match self.never {}
    }
}

/// Numbers in a file, of which there is none here.
pub struct Slab<T> {
    never: Infallible,
    of: PhantomData<T>,
}

impl<T> Slab<T> {
    /// The folder of the file.
    pub fn spill(&self) -> &Spill {
        match self.never {}
    }

    /// Some of the numbers.
    pub fn part(&self, _: Range<usize>) -> Self {
        match self.never {}
    }
}

impl<T> Clone for Slab<T> {
    fn clone(&self) -> Self {
        match self.never {}
    }
}

impl<T: Pod> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self.never {}
    }
}
