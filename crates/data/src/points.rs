//! Points: n rows of d finite numbers, with optional weights and ids; checked once, then immutable.
//!
//! [`Points`] are checked, so that code that uses them need not check again. There is at least one row and one column,
//! every value is finite, and all lengths agree. Weights are finite, non-negative and not all zero. Rows are stored one
//! after another (row-major), so that a block of rows is a slice. The values are in memory, or in a file if they are
//! larger ([`Points::spilled`]). Methods label rows of weight 0, but these rows influence nothing.
//!
//! Points do not know their origin, except for the name in messages. For reading, see [`crate::read`].

use lehr_spill::{Spill, Storage};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Column, Error, Fault, Faults, Place};
use crate::left_out::LeftOut;

/// Owned, checked rows of numbers.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// let points = Points::new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2)?.with_weights(vec![1.0, 0.0, 2.5])?;
/// assert_eq!((points.len(), points.dimension()), (3, 2));
/// assert_eq!(points.row(1), [2.0, 3.0]);
/// assert_eq!(points.weight(2), 2.5);
/// assert_eq!(points.columns(), ["x0", "x1"]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// The values, `len * dimension` of them, all finite.
    values: Storage<f64>,
    /// The number of columns, at least 1.
    dimension: usize,
    /// The name of each column.
    columns: Vec<String>,
    /// A weight for each row: finite, >= 0, at least one > 0, and with a finite sum.
    weights: Option<Vec<f64>>,
    /// An id for each row.
    ids: Option<Vec<String>>,
    /// The non-numeric columns of the table, which are not part of the points.
    left_out: Vec<LeftOut>,
    /// Notes for the user: decisions made while reading.
    notes: Vec<String>,
    /// The name of the points in messages.
    name: String,
}

#[allow(clippy::len_without_is_empty)] // there is always at least one row
impl Points {
    /// Creates points from row-major `values`; the columns are called `x0`, `x1`, ….
    ///
    /// Cost: one pass over the values, no copy.
    ///
    /// # Errors
    /// - [`Error::Shape`] if `dimension` is 0 or does not divide the number of values.
    /// - [`Error::Empty`] if there are no values.
    /// - [`Error::Faults`] with each value that is not finite.
    pub fn new(values: Vec<f64>, dimension: usize) -> Result<Self, Error> {
        Self::stored(values.into(), dimension)
    }

    /// Like [`new`](Points::new), for values in memory or in a file.
    fn stored(values: Storage<f64>, dimension: usize) -> Result<Self, Error> {
        let points = Self::of_finite(values, dimension)?;
        let mut faults = Faults::new("points");
        for (index, value) in points.values.iter().enumerate() {
            if !value.is_finite() {
                faults.add_with(|| {
                    points.fault(index / dimension, index % dimension, "a finite number", value.to_string())
                });
            }
        }
        faults.or(points)
    }

    /// Like [`new`](Points::new), for values that are known to be finite, because a reader has checked them and knows
    /// their positions in the file.
    ///
    /// # Errors
    /// Returns errors about the shape.
    pub(crate) fn of_finite(values: Storage<f64>, dimension: usize) -> Result<Self, Error> {
        if dimension == 0 {
            return Err(shape("points", "at least 1 column".into(), "0".into()));
        }
        if !values.len().is_multiple_of(dimension) {
            return Err(shape("points", format!("a multiple of {dimension} values"), values.len().to_string()));
        }
        if values.is_empty() {
            return Err(Error::Empty { name: "points".into(), found: "no rows" });
        }
        let columns: Vec<String> = (0..dimension).map(|index| format!("x{index}")).collect();
        Ok(Points {
            values,
            dimension,
            columns,
            weights: None,
            ids: None,
            left_out: Vec::new(),
            notes: Vec::new(),
            name: "points".into(),
        })
    }

    /// Moves the values to a file. Methods keep data derived from the rows in files of the same folder. Weights and ids
    /// stay in memory.
    ///
    /// Results are bit-identical. To read a table directly into a file, without holding it in memory, see
    /// [`read::spilled_table`](crate::read::spilled_table).
    ///
    /// # Errors
    /// Returns [`Error::Spill`] if the disk cannot store the values.
    ///
    /// # Example
    /// ```
    /// use lehr_data::{Points, Spill};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// let points = Points::new(vec![0.0, 1.0, 2.0, 3.0], 2)?;
    /// let spilled = points.clone().spilled(&Spill::new(folder))?;
    /// assert_eq!((spilled.row(1), spilled.fingerprint()), (points.row(1), points.fingerprint()));
    /// assert_eq!(spilled.spill().unwrap().folder(), folder);
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn spilled(self, spill: &Spill) -> Result<Self, Error> {
        let mut writer = spill.writer(self.values.len())?;
        writer.extend(&self.values)?;
        Ok(Points { values: writer.finish()?.into(), ..self })
    }

    /// Returns the folder of the file with the values, if the values are in a file.
    pub fn spill(&self) -> Option<&Spill> {
        self.values.spill()
    }

    /// Sets the names of the columns.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of names differs from the number of columns.
    pub fn with_columns(mut self, columns: Vec<String>) -> Result<Self, Error> {
        if columns.len() != self.dimension {
            let expected = format!("{} names, one a column", self.dimension);
            return Err(shape("column names", expected, columns.len().to_string()));
        }
        self.columns = columns;
        Ok(self)
    }

    /// Sets the weights of the rows.
    ///
    /// # Errors
    /// - [`Error::Shape`] if the number of weights differs from the number of rows.
    /// - [`Error::Faults`] with each weight that is negative or not finite, or if all weights are 0, or if their sum is
    ///   not finite.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        self.weights = Some(checked_weights(weights, self.len(), &self.name)?);
        Ok(self)
    }

    /// Sets the ids of the rows.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of ids differs from the number of rows.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self, Error> {
        if ids.len() != self.len() {
            return Err(shape("ids", format!("{}, one a row", self.len()), ids.len().to_string()));
        }
        self.ids = Some(ids);
        Ok(self)
    }

    /// Returns the points without ids, and the ids.
    pub(crate) fn without_ids(mut self) -> (Self, Option<Vec<String>>) {
        let ids = self.ids.take();
        (self, ids)
    }

    /// Returns some of the rows, in this order, with their weights, ids and notes.
    pub(crate) fn rows_at(&self, rows: &[usize]) -> Result<Self, Error> {
        let values = rows.iter().flat_map(|row| self.row(*row)).copied().collect();
        let mut points =
            Points::new(values, self.dimension)?.with_columns(self.columns.clone())?.with_name(self.name.clone());
        if let Some(weights) = &self.weights {
            points = points.with_weights(rows.iter().map(|row| weights[*row]).collect())?;
        }
        if let Some(ids) = &self.ids {
            points = points.with_ids(rows.iter().map(|row| ids[*row].clone()).collect())?;
        }
        Ok(points.with_left_out(self.left_out.clone()).with_notes(self.notes.clone()))
    }

    /// Sets the notes about decisions made while reading, one sentence each.
    ///
    /// # Example
    /// ```
    /// let points = lehr_data::Points::new(vec![1.0], 1)?.with_notes(vec!["line 1 is a title".into()]);
    /// assert_eq!(points.notes(), ["line 1 is a title"]);
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    pub(crate) fn with_left_out(mut self, left_out: Vec<LeftOut>) -> Self {
        self.left_out = left_out;
        self
    }

    /// Sets the name in messages; readers use the path.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Replaces the values, for example with scaled or projected ones; weights, ids and name stay.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if `values` has another number of rows or `columns` is empty, and [`Error::Faults`] for
    /// values that are not finite.
    pub fn with_values(&self, values: Vec<f64>, columns: Vec<String>) -> Result<Self, Error> {
        self.with_stored(values.into(), columns)
    }

    /// Like [`with_values`](Points::with_values), for values in memory or in a file.
    pub(crate) fn with_stored(&self, values: Storage<f64>, columns: Vec<String>) -> Result<Self, Error> {
        let dimension = columns.len();
        if values.len() != self.len() * dimension {
            let expected = format!("{} in {} rows of {dimension}", self.len() * dimension, self.len());
            return Err(shape("values", expected, values.len().to_string()));
        }
        let mut points = Points::stored(values, dimension)?.with_columns(columns)?.with_name(self.name.clone());
        points.weights.clone_from(&self.weights);
        points.ids.clone_from(&self.ids);
        Ok(points)
    }

    /// Returns the number of rows, at least 1.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Returns the number of columns, at least 1.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns all values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns a row.
    ///
    /// # Panics
    /// Panics if there is no row `index`.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dimension..][..self.dimension]
    }

    /// Returns the values of a column, from the first row to the last.
    ///
    /// # Panics
    /// Panics if there is no column `index`.
    pub fn column(&self, index: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        assert!(index < self.dimension, "column {index} of {}", self.dimension);
        self.values[index..].iter().step_by(self.dimension).copied()
    }

    /// Returns the weights, if there are any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the weight of a row; 1 if there are no weights.
    ///
    /// # Panics
    /// Panics if there are weights and no row `index`.
    pub fn weight(&self, index: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[index])
    }

    /// Returns the sum of the weights, which is finite and positive, or the number of rows if there are no weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.len() as f64, |weights| weights.iter().sum())
    }

    /// Returns the ids, if there are any.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// Returns the non-numeric columns of the source table that you did not request.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns unusual decisions made while reading the table, one sentence each: the notes of the data frame
    /// ([`DataFrame::notes`](crate::frame::DataFrame::notes)) and the notations of numbers.
    ///
    /// # Example
    /// ```
    /// use lehr_data::read::{Selection, points_from};
    /// let rows = points_from("a;b\n1,5;2\n2,5;3\n".as_bytes(), "t.csv", &Selection::default())?;
    /// assert_eq!(rows.notes(), ["\"a\" is read as number, decimal ','"]);
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the name in messages: the path of the file, or `points`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a checksum of the data: XXH3 (64 bits) over shape, values and weights, bit by bit.
    ///
    /// Ids, column names and the name are not included, because they influence no result. Points without weights and
    /// points whose weights are all 1 have different checksums. The checksum is the same on any machine.
    ///
    /// Cost: one pass at memory speed.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&(self.len() as u64).to_le_bytes());
        hash.update(&(self.dimension as u64).to_le_bytes());
        hash.update(&[u8::from(self.weights.is_some())]);
        let mut buffer = [0u8; 8 * 512];
        for numbers in [self.values(), self.weights().unwrap_or(&[])] {
            for block in numbers.chunks(512) {
                for (bytes, number) in buffer.chunks_exact_mut(8).zip(block) {
                    bytes.copy_from_slice(&number.to_bits().to_le_bytes());
                }
                hash.update(&buffer[..block.len() * 8]);
            }
        }
        hash.digest()
    }

    /// Returns a fault about one value of the points.
    pub(crate) fn fault(&self, row: usize, column: usize, expected: &str, found: String) -> Fault {
        Fault {
            place: Place::Row(row as u64),
            column: Some(Column { index: column, name: Some(self.columns[column].clone()) }),
            expected: expected.into(),
            found,
        }
    }
}

/// Checks the weights of `rows` rows, which messages call `name`.
///
/// # Errors
/// Returns [`Error::Shape`] if the number of weights differs from the number of rows. Returns [`Error::Faults`] with
/// each weight that is negative or not finite, or if all weights are 0, or if their sum is not finite.
pub(crate) fn checked_weights(mut weights: Vec<f64>, rows: usize, name: &str) -> Result<Vec<f64>, Error> {
    if weights.len() != rows {
        return Err(shape("weights", format!("{rows}, one a row"), weights.len().to_string()));
    }
    let mut faults = Faults::new(name);
    for (row, weight) in weights.iter_mut().enumerate() {
        if let Some(expected) = weight_fault(*weight) {
            let (place, found) = (Place::Row(row as u64), format!("a weight of {weight}"));
            faults.add_with(|| Fault { place, column: None, expected: expected.into(), found });
        }
        *weight += 0.0; // -0.0 becomes 0.0: one zero, one fingerprint
    }
    if let (true, Some((expected, found))) = (faults.is_empty(), total_weight_fault(&weights, rows)) {
        faults.add(Fault { place: Place::Whole, column: None, expected, found });
    }
    faults.or(weights)
}

/// Returns what was expected, if a weight is invalid.
pub(crate) fn weight_fault(weight: f64) -> Option<&'static str> {
    if !weight.is_finite() {
        Some("a finite number")
    } else if weight < 0.0 {
        Some("a weight of 0 or more")
    } else {
        None
    }
}

/// Returns a fault, as (expected, found), if the sum of valid weights is 0 or not finite. `weights` may lack the
/// weights that are 0.
pub(crate) fn total_weight_fault(weights: &[f64], rows: usize) -> Option<(String, String)> {
    let total: f64 = weights.iter().sum();
    if total == 0.0 {
        Some(("at least one weight above 0".into(), format!("0 in all {rows} rows")))
    } else if !total.is_finite() {
        Some(("weights with a finite sum".into(), "a sum beyond the largest number".into()))
    } else {
        None
    }
}

fn shape(what: &str, expected: String, found: String) -> Error {
    Error::Shape { what: what.into(), expected, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Points, Error>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn values_that_are_not_finite_are_all_counted() {
        let error = message(Points::new(vec![0.0, f64::NAN, f64::INFINITY, 1.0], 2));
        assert_eq!(
            error,
            "points, row 1, column 2 (\"x1\"): expected a finite number, found NaN\n\
             points, row 2, column 1 (\"x0\"): expected a finite number, found inf\n\
             points: 2 faults in all"
        );
    }

    #[test]
    fn shapes_that_do_not_agree_are_refused() {
        assert_eq!(message(Points::new(vec![1.0], 0)), "points: expected at least 1 column, found 0");
        assert_eq!(message(Points::new(vec![1.0; 3], 2)), "points: expected a multiple of 2 values, found 3");
        assert_eq!(message(Points::new(vec![], 2)), "points: expected rows of numbers, found no rows");
        let points = || Points::new(vec![1.0, 2.0], 1).unwrap();
        assert_eq!(message(points().with_columns(vec![])), "column names: expected 1 names, one a column, found 0");
        assert_eq!(message(points().with_weights(vec![1.0])), "weights: expected 2, one a row, found 1");
        assert_eq!(message(points().with_ids(vec![])), "ids: expected 2, one a row, found 0");
        assert!(points().with_values(vec![1.0], vec!["a".into()]).is_err());
        assert!(points().with_values(vec![], vec![]).is_err());
    }

    #[test]
    fn weights_are_checked_one_by_one_and_together() {
        let points = || Points::new(vec![1.0, 2.0], 1).unwrap();
        assert_eq!(
            message(points().with_weights(vec![-1.0, f64::NAN])),
            "points, row 1: expected a weight of 0 or more, found a weight of -1\n\
             points, row 2: expected a finite number, found a weight of NaN\n\
             points: 2 faults in all"
        );
        assert_eq!(
            message(points().with_weights(vec![0.0, -0.0])),
            "points: expected at least one weight above 0, found 0 in all 2 rows"
        );
        assert!(message(points().with_weights(vec![f64::MAX, f64::MAX])).contains("finite sum"));
    }

    #[test]
    fn fingerprint_sees_shape_values_and_weights_and_nothing_else() {
        let base = || Points::new(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap();
        let one = base().fingerprint();
        assert_eq!(one, base().with_ids(vec!["a".into(), "b".into()]).unwrap().with_name("other").fingerprint());
        let others = [
            Points::new(vec![1.0, 2.0, 3.0, 4.0], 1).unwrap().fingerprint(),
            Points::new(vec![1.0, 2.0, 4.0, 3.0], 2).unwrap().fingerprint(),
            base().with_weights(vec![1.0, 1.0]).unwrap().fingerprint(),
            base().with_weights(vec![1.0, 2.0]).unwrap().fingerprint(),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(one, *other);
            assert!(!others[..index].contains(other));
        }
        let negative = base().with_weights(vec![1.0, -0.0]).unwrap();
        assert_eq!(negative.fingerprint(), base().with_weights(vec![1.0, 0.0]).unwrap().fingerprint());
    }

    #[test]
    fn a_fingerprint_is_the_same_number_for_ever() {
        // This value is fixed: checkpoints of earlier versions must still recognise their data.
        let points = Points::new((0..1500).map(f64::from).collect(), 3).unwrap();
        assert_eq!(format!("{:016x}", points.fingerprint()), "0ae67fe67aa04358");
    }

    #[test]
    fn columns_are_seen_one_by_one() {
        let points = Points::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3).unwrap();
        assert_eq!(points.column(2).collect::<Vec<_>>(), [3.0, 6.0]);
        assert_eq!(points.total_weight(), 2.0);
    }
}
