//! The types of `file.rs` for systems that cannot map files: browsers, and systems other than Unix.
//! On these systems, [`Spill::writer`] always fails, so no [`Writer`] and no [`Slab`] ever exists.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::Error;

/// A folder for numbers that should not stay in memory. On this system, nothing can be written to the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    folder: PathBuf,
}

impl Spill {
    /// Creates a spill to this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Always fails, because this system has no files without a name.
    ///
    /// # Errors
    /// Always returns [`Error`].
    pub fn writer<T: Pod>(&self, _: usize) -> Result<Writer<T>, Error> {
        let cause = io::Error::new(io::ErrorKind::Unsupported, "this system has no files without a name");
        Err(Error::Folder { folder: self.folder.clone(), cause })
    }
}

/// A writer of numbers to a file, which never exists on this system.
#[derive(Debug)]
pub struct Writer<T> {
    never: Infallible,
    of: PhantomData<T>,
}

#[allow(clippy::len_without_is_empty)] // it grows
impl<T: Pod> Writer<T> {
    /// Returns the number of numbers written so far.
    pub fn len(&self) -> usize {
        match self.never {}
    }

    /// Appends numbers.
    ///
    /// # Errors
    /// Never fails, because no writer exists.
    pub fn extend(&mut self, _: &[T]) -> Result<(), Error> {
        match self.never {}
    }

    /// Returns all numbers for reading.
    ///
    /// # Errors
    /// Never fails, because no writer exists.
    pub fn finish(self) -> Result<Slab<T>, Error> {
        match self.never {}
    }
}

/// Numbers in a file. No value of this type exists on this system.
pub struct Slab<T> {
    never: Infallible,
    of: PhantomData<T>,
}

impl<T> Slab<T> {
    /// Returns the folder of the file.
    pub fn spill(&self) -> &Spill {
        match self.never {}
    }

    /// Returns a part of the numbers.
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
