//! Reads a table as a stream, in batches, so that only one batch is in memory. JSON files and workbooks are the
//! exception: Lehr reads them completely first.
//!
//! The first rows of the stream decide the columns, the header and the delimiter, as for a whole table. Rows of weight
//! 0, which influence nothing, are checked but left out. So they do not affect where batches are cut.

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

/// The rows of a text table or an NPY array (plain or gzip), in batches. With the feature `parquet`, also the rows of a
/// Parquet file.
///
/// Faults are reported for the rows of a batch together: the first ten in full, and the total number. Faults that
/// concern all rows are reported at the end, such as a weight column with only zeros.
///
/// If tables with the same header follow each other, as with `cat day-*.csv`, repeated headers are skipped.
///
/// Memory: the rows of a batch and a window of 64 KiB; for Parquet, one page of each column.
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
    /// A format that must be read completely first, and the next row to return.
    Whole(Box<Points>, usize),
}

impl Batches<'static> {
    /// Reads the rows of a file as [`points`](super::points) does.
    ///
    /// # Errors
    /// Returns the errors of [`points`](super::points), except for faults in rows. Also returns [`Error::Format`] for a
    /// column-major array, because no row is complete before the last column.
    pub fn open(path: &Path, selection: &Selection) -> Result<Self, Error> {
        Self::of(rows_of(path)?, &again(path), selection)
    }
}

impl<'a> Batches<'a> {
    /// Reads rows from a reader; messages call it `name`.
    ///
    /// # Errors
    /// Returns the errors of [`Batches::open`], except for opening a file.
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

    /// Returns the next `rows` rows of positive weight, or fewer if the table ends. Returns `None` at the end of the
    /// table, and in every later call.
    ///
    /// After an error, reading can continue after the batch that had the fault.
    ///
    /// # Errors
    /// Returns [`Error::Faults`] for faults in these rows, or at the end for faults that concern all rows. Returns
    /// [`Error::Read`], [`Error::CutShort`], [`Error::Format`] or [`Error::Encoding`] if nothing more can be read.
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

    /// Returns the share of the file that was read, from 0 to 1, whether compressed or not. Returns `None` for readers,
    /// whose length is unknown.
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
