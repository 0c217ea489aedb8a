//! A table as a stream: some rows at a time, so that no more of it is held than those.
//!
//! The first rows of the stream decide columns, header and delimiter, as those of a table do. Rows of weight 0, which
//! influence nothing, are examined and left out, so that where batches are cut does not hang on them.

use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use super::measures::{self, Again, Handle, Stream};
#[cfg(feature = "parquet")]
use super::parquet;
use super::source::Source;
use super::{Form, Selection, again, csv, form_of, npy, rows_of};
use crate::error::Error;
use crate::points::Points;

/// The rows of a table of text or of an NPY array (each may be packed by gzip), some at a time. With the feature
/// `parquet` also those of a Parquet file.
///
/// Faults are reported for the rows that are read together: all of them, the first ten in full. Faults that only show
/// after all rows are reported at the end, such as a weight column of nothing but zeros.
///
/// If tables with the same header follow each other, as `cat day-*.csv` gives them, the header is skipped each time.
///
/// Memory: the rows of a batch, and a window of 64 KiB; of Parquet a page of each column.
///
/// # Example
/// ```
/// use lehr_data::read::{Batches, Selection};
/// let table = "x,y,w\n1,2,1\n3,4,0\n5,6,1\n7,8,2\n";
/// let selection = Selection { weights: Some("w".into()), ..Selection::default() };
/// let mut batches = Batches::new(table.as_bytes(), "t.csv", &selection)?;
/// assert_eq!(batches.next(2)?.unwrap().values(), [1.0, 2.0, 5.0, 6.0]);
/// assert_eq!(batches.next(2)?.unwrap().weights(), Some(&[2.0][..]));
/// assert!(batches.next(2)?.is_none());
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub struct Batches<'a> {
    rows: Rows<'a>,
}

enum Rows<'a> {
    Text(Box<csv::Rows<'a>>),
    Array(Box<npy::Rows<'a>>),
    #[cfg(feature = "parquet")]
    Columns(Box<parquet::Rows>),
    /// A format without rows until all of it was read, and the next row to give out.
    Whole(Box<Points>, usize),
}

impl Batches<'static> {
    /// The rows of a file, as [`points`](super::points) reads it.
    ///
    /// # Errors
    /// The same as for [`points`](super::points), except for faults of rows. Also [`Error::Format`] for an array that
    /// is stored column after column, because no row is whole before the last column.
    pub fn open(path: &Path, selection: &Selection) -> Result<Self, Error> {
        Self::of(rows_of(path)?, &again(path), selection)
    }
}

impl<'a> Batches<'a> {
    /// The rows of a reader; messages call it `name`.
    ///
    /// # Errors
    /// The same as for [`Batches::open`], except for those of opening a file.
    pub fn new(reader: impl Read + 'a, name: &str, selection: &Selection) -> Result<Self, Error> {
        let stream = Stream::new(reader);
        Self::of(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection)
    }

    fn of(mut source: Source<'a>, again: Again<'_, 'a>, selection: &Selection) -> Result<Self, Error> {
        let rows = match form_of(&mut source, selection)? {
            Form::Text => Rows::Text(Box::new(measures::rows(source, selection)?)),
            Form::Array => Rows::Array(Box::new(npy::Rows::new(source, selection)?)),
            #[cfg(feature = "parquet")]
            Form::Columns => Rows::Columns(Box::new(parquet::Rows::new(&source, selection)?)),
            _ => Rows::Whole(Box::new(measures::points_of_typed(again, selection, None)?), 0),
        };
        Ok(Batches { rows })
    }

    /// The next `rows` rows of weight above 0, fewer if the table ends before; `None` at its end, and from then on.
    ///
    /// After an error the rest can be read on: the rows of the batch in which the fault was are behind.
    ///
    /// # Errors
    /// Returns [`Error::Faults`] for the faults of these rows, or at the end with all; [`Error::Read`],
    /// [`Error::CutShort`], [`Error::Format`], [`Error::Encoding`] where nothing more can be read.
    ///
    /// # Panics
    /// Panics if `rows` is 0.
    pub fn next(&mut self, rows: usize) -> Result<Option<Points>, Error> {
        assert!(rows > 0, "a batch of no rows");
        match &mut self.rows {
            Rows::Text(text) => text.next(rows),
            Rows::Array(array) => array.next(rows),
            #[cfg(feature = "parquet")]
            Rows::Columns(columns) => columns.next(rows),
            Rows::Whole(points, place) => {
                let there = |row: &usize| points.weights().is_none_or(|weights| weights[*row] > 0.0);
                let taken: Vec<usize> = (*place..points.len()).filter(there).take(rows).collect();
                let Some(last) = taken.last() else { return Ok(None) };
                *place = last + 1;
                points.rows_at(&taken).map(Some)
            }
        }
    }

    /// The part of a file that has been read, packed or not: 0 to 1. `None` for readers, whose length is unknown.
    pub fn fraction(&self) -> Option<f64> {
        match &self.rows {
            Rows::Text(text) => text.fraction(),
            Rows::Array(array) => array.fraction(),
            #[cfg(feature = "parquet")]
            Rows::Columns(columns) => Some(columns.fraction()),
            Rows::Whole(points, place) => Some(*place as f64 / points.len() as f64),
        }
    }
}
