//! A stream of rows for a method. It is read in batches, and scaled by the statistics of its first rows.

use std::cell::RefCell;
use std::fmt;

use lehr_data::scale::{Scale, Scaling};
use lehr_data::{Error, LeftOut, Points};
use lehr_mining::minibatch::Source;

use crate::rows::warnings_of;

/// A stream whose first rows, the sample, have been read.
///
/// # Example
/// ```
/// use lehr_data::{read::{Batches, Selection}, scale::Scale};
/// use lehr_methods::Stream;
/// use lehr_mining::minibatch::Source;
/// let batches = Batches::new(&b"x\n0\n10\n20\n"[..], "t.csv", &Selection::default())?;
/// let stream = Stream::begin(Box::new(batches), 2, Scale::None)?.expect("it has rows");
/// assert_eq!((stream.columns(), stream.center(&[5.0])), (&["x".to_owned()][..], vec![5.0]));
/// assert_eq!((&stream).next(2)?.unwrap().values(), [0.0, 10.0]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub struct Stream {
    columns: Vec<String>,
    /// The columns of the sample that are not used as coordinates.
    left_out: Vec<LeftOut>,
    scaling: Scaling,
    warnings: Vec<String>,
    /// The rest of the stream, in a cell because a method reads it while front ends use the same stream.
    rest: RefCell<Rest>,
}

struct Rest {
    source: Box<dyn Source>,
    /// The sample, until it is requested.
    sample: Option<Points>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Stream {
    /// Reads the sample, which determines the scaling of columns. Returns `None` if the source has no rows.
    ///
    /// # Errors
    /// Returns the errors of the source.
    pub fn begin(mut source: Box<dyn Source>, rows: usize, scale: Scale) -> Result<Option<Self>, Error> {
        let Some(sample) = source.next(rows)? else { return Ok(None) };
        Ok(Some(Self {
            columns: sample.columns().to_vec(),
            left_out: sample.left_out().to_vec(),
            scaling: Scaling::fit(&sample, scale),
            warnings: warnings_of(&sample, scale == Scale::None),
            rest: RefCell::new(Rest { source, sample: Some(sample) }),
        }))
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the non-numeric columns of the sample that were left out because the user did not choose them.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns warnings about the rows that affect the meaning of their distances.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Converts a centre to the units of the columns.
    pub fn center(&self, center: &[f64]) -> Vec<f64> {
        let mut center = center.to_vec();
        if self.is_scaled() {
            self.scaling.invert(&mut center);
        }
        center
    }

    /// Returns the number subtracted from each column, and the number by which it was then divided.
    pub fn shifts_and_divisors(&self) -> (Vec<f64>, Vec<f64>) {
        (self.scaling.shifts().to_vec(), self.scaling.divisors().to_vec())
    }

    /// Returns the unit of distances for programs.
    pub fn unit_name(&self) -> &'static str {
        if self.is_scaled() { "unit of the scaled columns" } else { "unit of the columns" }
    }

    fn is_scaled(&self) -> bool {
        self.scaling.scale() != Scale::None
    }
}

impl Source for &Stream {
    fn next(&mut self, rows: usize) -> Result<Option<Points>, Error> {
        let mut rest = self.rest.borrow_mut();
        let batch = match rest.sample.take() {
            Some(sample) => Some(sample),
            None => rest.source.next(rows)?,
        };
        match batch {
            Some(batch) if self.is_scaled() => self.scaling.apply(&batch).map(Some),
            batch => Ok(batch),
        }
    }

    fn fraction(&self) -> Option<f64> {
        self.rest.borrow().source.fraction()
    }
}
