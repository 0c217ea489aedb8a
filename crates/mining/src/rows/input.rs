//! Defines one type for the three kinds of rows that can be clustered: points, rows of bits and sparse rows.

use lehr_data::{Fingerprints, Points, Sparse, Spill};
use lehr_numerics::bits::for_each_set_bit;

/// The maximum number of coordinates of all centres together, if rows are sparse: 2 GiB. Every rank holds about 15
/// copies of the centres at the same time in k-means, and about 60 copies in annealing. For example, the centres of 10
/// clusters with 100,000 columns take 8 MB. With these centres, k-means used 120 MB on one rank and 280 MB on two
/// ranks. Annealing used 420 MB on one rank and 940 MB on two ranks.
pub(crate) const MOST_COORDINATES: usize = 1 << 28;

/// The expected value in the error that reports too many coordinates of centres.
pub(crate) const PLACE: &str = "at most 268435456 coordinates of centres, which are not sparse: clusters times columns";

/// Borrowed rows to cluster.
///
/// Rows of bits are points with coordinates 0 and 1, stored in a sixty-fourth of the memory. Sparse rows are points
/// that store only their nonzero coordinates. Rows of bits and sparse rows give the same clusters as the same points
/// stored as numbers.
///
/// # Example
/// ```
/// use lehr_data::Fingerprints;
/// use lehr_mining::{Execution, anneal::Silent, vector::{Parameters, cluster}};
/// let rows = Fingerprints::new(vec![0b0011, 0b0111, 0b1100, 0b1110], 4)?;
/// let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
/// let model = cluster(&rows, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels, [0, 0, 1, 1]);
/// assert_eq!(model.sum_of_squares, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Rows of numbers.
    Numbers(&'a Points),
    /// Rows of bits.
    Bits(&'a Fingerprints),
    /// Sparse rows.
    Sparse(&'a Sparse),
}

impl<'a> From<&'a Points> for Input<'a> {
    fn from(points: &'a Points) -> Self {
        Input::Numbers(points)
    }
}

impl<'a> From<&'a Fingerprints> for Input<'a> {
    fn from(rows: &'a Fingerprints) -> Self {
        Input::Bits(rows)
    }
}

impl<'a> From<&'a Sparse> for Input<'a> {
    fn from(rows: &'a Sparse) -> Self {
        Input::Sparse(rows)
    }
}

#[allow(clippy::len_without_is_empty)] // there is always at least one row
impl<'a> Input<'a> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Input::Numbers(points) => points.len(),
            Input::Bits(rows) => rows.len(),
            Input::Sparse(rows) => rows.len(),
        }
    }

    /// The number of columns.
    pub fn dimension(&self) -> usize {
        match self {
            Input::Numbers(points) => points.dimension(),
            Input::Bits(rows) => rows.bits(),
            Input::Sparse(rows) => rows.dimension(),
        }
    }

    /// The weight of a row, or 1 if the rows have no weights.
    ///
    /// # Panics
    /// Panics if the rows have weights and there is no row `index`.
    pub fn weight(&self, index: usize) -> f64 {
        match self {
            Input::Numbers(points) => points.weight(index),
            Input::Bits(rows) => rows.weight(index),
            Input::Sparse(rows) => rows.weight(index),
        }
    }

    /// The folder of the file that contains the rows; `None` if the rows are in memory. Copies of the rows in other
    /// forms are stored in the same folder.
    pub(crate) fn spill(&self) -> Option<&'a Spill> {
        match self {
            Input::Numbers(points) => points.spill(),
            Input::Bits(_) | Input::Sparse(_) => None,
        }
    }

    /// A checksum that identifies the data. The same rows have different fingerprints as numbers, as bits and as sparse
    /// rows.
    pub fn fingerprint(&self) -> u64 {
        match self {
            Input::Numbers(points) => points.fingerprint(),
            Input::Bits(rows) => rows.fingerprint(),
            Input::Sparse(rows) => rows.fingerprint(),
        }
    }

    /// Copies a row to `out`: bits as 0 and 1, sparse rows with their zeros.
    ///
    /// # Panics
    /// Panics if there is no row `index`, or if the length of `out` is not the number of columns.
    pub fn read(&self, index: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.dimension());
        match self {
            Input::Numbers(points) => out.copy_from_slice(points.row(index)),
            Input::Bits(rows) => {
                out.fill(0.0);
                for_each_set_bit(rows.row(index), |j| out[j] = 1.0);
            }
            Input::Sparse(rows) => rows.read(index, out),
        }
    }

    /// Returns one coordinate of a row.
    pub(crate) fn value(&self, index: usize, column: usize) -> f64 {
        match self {
            Input::Numbers(points) => points.row(index)[column],
            Input::Bits(rows) => (rows.row(index)[column / 64] >> (column % 64) & 1) as f64,
            Input::Sparse(rows) => rows.value(index, column),
        }
    }

    /// Calls `each` with the column and the value of each coordinate of a row that may differ from 0.
    pub(crate) fn for_each_value(&self, index: usize, mut each: impl FnMut(usize, f64)) {
        match self {
            Input::Numbers(points) => points.row(index).iter().enumerate().for_each(|(j, &value)| each(j, value)),
            Input::Bits(rows) => for_each_set_bit(rows.row(index), |j| each(j, 1.0)),
            Input::Sparse(rows) => {
                let (columns, values) = rows.row(index);
                columns.iter().zip(values).for_each(|(&j, &value)| each(j as usize, value));
            }
        }
    }

    /// Returns whether this many centres fit in memory. Only sparse rows are checked: their centres are not sparse, and
    /// may need far more memory than the rows.
    pub(crate) fn has_place_for(&self, centers: usize) -> bool {
        !matches!(self, Input::Sparse(_)) || centers.saturating_mul(self.dimension()) <= MOST_COORDINATES
    }
}
