//! The rows to cluster: points, rows of bits, or sparse rows, as one type.

use lehr_data::{Fingerprints, Points, Sparse, Spill};
use lehr_numerics::bits::for_each_set_bit;

/// The maximum number of coordinates of all centres of sparse rows: 2 GiB. Every rank holds several copies of the
/// centres at the same time, some 15 in k-means and some 60 in annealing. For example, 10 clusters of 100,000 columns
/// are 8 MB. For these, k-means was measured to take 120 MB on one rank and 280 MB on two; annealing 420 MB and 940 MB.
pub(crate) const MOST_COORDINATES: usize = 1 << 28;

/// The expected value in the error for more coordinates.
pub(crate) const PLACE: &str = "at most 268435456 coordinates of centres, which are not sparse: clusters times columns";

/// Rows for a clustering, borrowed. Rows of bits are points with coordinates 0 and 1, in a sixty-fourth of the memory.
/// Sparse rows are points that store only coordinates other than 0. Both lead to the same clusters as the points.
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

    /// The weight of a row; 1 if there are no weights.
    ///
    /// # Panics
    /// Panics if there are weights and no row `index`.
    pub fn weight(&self, index: usize) -> f64 {
        match self {
            Input::Numbers(points) => points.weight(index),
            Input::Bits(rows) => rows.weight(index),
            Input::Sparse(rows) => rows.weight(index),
        }
    }

    /// The folder of the file that the rows are in, if they are not in memory; copies in other forms go there too.
    pub(crate) fn spill(&self) -> Option<&'a Spill> {
        match self {
            Input::Numbers(points) => points.spill(),
            Input::Bits(_) | Input::Sparse(_) => None,
        }
    }

    /// A number that identifies these data. Rows of bits, sparse rows and the same rows as numbers have different
    /// fingerprints.
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
    /// Panics if there is no row `index`, or if `out` does not have the length of a row.
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

    /// Calls `each` with the columns of a row that may not be 0, and their values.
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

    /// Whether this many centres fit in memory. Centres are not sparse: dense rows take as much memory themselves, but
    /// sparse rows may take far less.
    pub(crate) fn has_place_for(&self, centers: usize) -> bool {
        !matches!(self, Input::Sparse(_)) || centers.saturating_mul(self.dimension()) <= MOST_COORDINATES
    }
}
