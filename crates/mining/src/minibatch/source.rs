//! Sources of the rows of a stream.

use lehr_data::Points;
use lehr_data::read::Batches;

/// A stream of rows, read batch by batch. A function of the number of rows can be a source.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::minibatch::Source;
/// let mut row = 0.0;
/// let mut counting = |rows: usize| {
///     let values = (0..rows).map(|_| { row += 1.0; row }).collect();
///     Points::new(values, 1).map(Some)
/// };
/// assert_eq!(counting.next(3)?.unwrap().values(), [1.0, 2.0, 3.0]);
/// assert_eq!(counting.fraction(), None);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub trait Source {
    /// Returns the next rows, at most this many; `None` at the end.
    ///
    /// # Errors
    /// Returns an error in the rows, which ends the run.
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error>;

    /// The share of the stream that has been read, 0 to 1; `None` if it is unknown.
    fn fraction(&self) -> Option<f64> {
        None
    }
}

impl<F: FnMut(usize) -> Result<Option<Points>, lehr_data::Error>> Source for F {
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error> {
        self(rows)
    }
}

impl Source for Batches<'_> {
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error> {
        Batches::next(self, rows)
    }

    fn fraction(&self) -> Option<f64> {
        Batches::fraction(self)
    }
}
