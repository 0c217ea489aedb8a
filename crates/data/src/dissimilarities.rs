//! Dissimilarities of all pairs of N items: how they are stored, described and looked up.
//!
//! A matrix on disk has two files: an NPY array that NumPy can open, and a small JSON *header* of the same name. The
//! header gives the meaning of the numbers: the form, the scale of fixed-point numbers, the value for missing numbers,
//! and the source. The matrix is symmetric with a diagonal of 0, so one half is enough. [`Form::Condensed`] has the
//! pairs (0,1), (0,2), …, (1,2), … in the order of SciPy's `pdist`.
//!
//! | element | bytes a pair | a missing value | error |
//! | --- | ---: | --- | --- |
//! | `f64` | 8 | NaN | none |
//! | `f32` | 4 | NaN | 6e-8 of the value |
//! | `u16`: the value is `scale` times the number | 2 | 65535 | 8e-6 of the largest value |
//! | `i16be`: as `u16`, in big-endian rows without an NPY header, as in the files of the papers | 2 | negative | 1.5e-5 of the larger of 1 and the largest value |
//!
//! Read next: [`crate::write::dissimilarities`], [`crate::read::dissimilarities`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The name of the header's format. Its number rises whenever the meaning changes.
pub const FORMAT: &str = "lehr dissimilarities 1";

/// The `u16` that marks a missing value.
pub const MISSING_U16: u16 = u16::MAX;
/// The largest `u16` that is a value.
pub const LARGEST_U16: u16 = u16::MAX - 1;
/// The `i16` written for a missing value; any negative number is read as missing.
pub const MISSING_I16: i16 = -1;

/// The type of a stored number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// Unsigned 16-bit fixed point.
    U16,
    /// Signed big-endian 16-bit fixed point: `distances x 32767`, as in the files of the papers (`docs/papers.md`). The
    /// rows are raw, without an NPY header.
    I16be,
}

impl Element {
    /// Returns the number of bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            Element::F64 => 8,
            Element::F32 => 4,
            Element::U16 | Element::I16be => 2,
        }
    }

    /// Returns the value of one unit of a stored number in a matrix whose largest value is `largest`: 1 for floating
    /// point.
    ///
    /// 16-bit fixed point covers exactly the range of the values. Big-endian rows keep the papers' unit of 1 / 32767 if
    /// no value exceeds 1; otherwise their unit grows, so that numbers do not overflow.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::Element;
    /// assert_eq!(Element::U16.scale(65534.0), 1.0);
    /// assert_eq!(Element::I16be.scale(0.5), 1.0 / 32767.0);
    /// assert_eq!(Element::I16be.scale(3.0), 3.0 / 32767.0);
    /// ```
    pub fn scale(self, largest: f64) -> f64 {
        match self {
            Element::F64 | Element::F32 => 1.0,
            Element::U16 if largest > 0.0 => largest / f64::from(LARGEST_U16),
            Element::U16 => 1.0,
            Element::I16be => largest.max(1.0) / f64::from(i16::MAX),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Element::F64 => "f64",
            Element::F32 => "f32",
            Element::U16 => "u16",
            Element::I16be => "i16be",
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Element::F64, Element::F32, Element::U16, Element::I16be]
            .into_iter()
            .find(|element| element.name() == text)
            .ok_or_else(|| format!("expected f64, f32, u16 or i16be, found {text:?}"))
    }
}

/// Which pairs are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// All N x N pairs, row by row.
    Full,
    /// The N (N - 1) / 2 pairs above the diagonal, row by row.
    Condensed,
}

impl Form {
    /// Returns the number of stored numbers in a matrix of N items.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::Form;
    /// assert_eq!((Form::Full.numbers(4), Form::Condensed.numbers(4)), (16, 6));
    /// ```
    pub const fn numbers(self, items: usize) -> usize {
        match self {
            Form::Full => items * items,
            Form::Condensed => items * (items - 1) / 2,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Form::Full => "full",
            Form::Condensed => "condensed",
        })
    }
}

/// The header: a description stored with the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The name of the format: [`FORMAT`].
    pub format: String,
    /// The file name of the array, in the header's folder.
    pub array: String,
    /// N, the number of items.
    pub items: usize,
    /// The number of items before equal items were merged; `None` without merging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collapsed_from: Option<usize>,
    /// The number of items that these were drawn from, if they are a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_from: Option<usize>,
    /// Which pairs are stored.
    pub form: Form,
    /// The type of a stored number.
    pub element: Element,
    /// The factor from a stored number to its value.
    pub scale: f64,
    /// How a missing value is stored: `NaN`, `65535`, `negative`.
    pub missing: String,
    /// The number of pairs without a value, of N (N - 1) / 2.
    pub missing_pairs: u64,
    /// The largest value; NaN (`null` in the file) if no pair has a value.
    #[serde(deserialize_with = "or_nan")]
    pub largest: f64,
    /// The mean of the values; NaN (`null` in the file) if no pair has a value.
    #[serde(deserialize_with = "or_nan")]
    pub mean: f64,
    /// The name of the metric.
    pub metric: String,
    /// The parameters of the metric, by name.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// The source that the items were read from.
    pub source: String,
    /// The checksum of the items that were compared, in hexadecimal.
    pub fingerprint: String,
    /// The checksum of the stored numbers: XXH3 (64 bits) of their bytes, in hexadecimal. Files of earlier versions have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// Reads a number, and NaN for `null`.
fn or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Returns the index of the pair (i, j), `i < j < items`, in condensed form.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::condensed_place;
/// assert_eq!([(0, 1), (0, 3), (1, 2), (2, 3)].map(|(i, j)| condensed_place(i, j, 4)), [0, 2, 3, 5]);
/// ```
///
/// # Panics
/// Panics in debug builds if the pair is not above the diagonal.
#[inline]
pub fn condensed_place(i: usize, j: usize, items: usize) -> usize {
    debug_assert!(i < j && j < items, "({i}, {j}) of {items}");
    i * items - i * (i + 1) / 2 + j - i - 1
}

/// The stored numbers of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// 64-bit floating point; NaN means missing.
    F64(Vec<f64>),
    /// 32-bit floating point; NaN means missing.
    F32(Vec<f32>),
    /// Fixed point; [`MISSING_U16`] means missing.
    U16(Vec<u16>),
}

/// The rounding errors that [`Dissimilarities::new`] found in a matrix and removed.
///
/// Matrix products and differences such as `1 - similarity` leave halves that differ in their last bits, numbers
/// slightly below 0, and nonzero numbers on the diagonal. An error of at most [`SHARE_F64`](Self::SHARE_F64) or
/// [`SHARE_F32`](Self::SHARE_F32) of the largest value counts as rounding. In fixed point, a difference of one unit
/// between the halves counts as rounding.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rounding {
    /// The number of pairs whose two values differed. Each of the two values is now their mean (in fixed point, the
    /// value above the diagonal).
    pub unequal_pairs: u64,
    /// The number of pairs with negative values, which are now 0.
    pub negative_pairs: u64,
    /// The number of nonzero numbers on the diagonal, which are now 0. A missing number there becomes 0 too, but does
    /// not count.
    pub on_diagonal: u64,
    /// The largest rounding error, in the unit of the dissimilarities.
    pub largest: f64,
}

impl Rounding {
    /// The share of the largest value up to which an error counts as rounding, for 64-bit numbers: the square root of
    /// their relative precision.
    pub const SHARE_F64: f64 = 1.5e-8;
    /// The share of the largest value up to which an error counts as rounding, for 32-bit numbers.
    pub const SHARE_F32: f64 = 3.5e-4;

    fn is_none(&self) -> bool {
        self.unequal_pairs == 0 && self.negative_pairs == 0 && self.on_diagonal == 0
    }

    fn note(&mut self, difference: f64) {
        self.largest = self.largest.max(difference.abs());
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let mut add = |count: u64, one: &str, many: &str| {
            if count > 0 {
                parts.push(format!("{count} {}", if count == 1 { one } else { many }));
            }
        };
        add(
            self.unequal_pairs,
            "pair whose two values differ (their mean is used)",
            "pairs whose two values differ (their mean is used)",
        );
        add(self.negative_pairs, "pair below 0 (0 is used)", "pairs below 0 (0 is used)");
        add(self.on_diagonal, "value on the diagonal (0 is used)", "values on the diagonal (0 is used)");
        write!(formatter, "corrected rounding errors of at most {:.2e}: {}", self.largest, parts.join(", "))
    }
}

/// Dissimilarities of N items in memory, as compact as on disk: symmetric, with a diagonal of 0, and non-negative.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// let d = Dissimilarities::new(3, Form::Condensed, Values::F64(vec![0.5, 1.0, f64::NAN]), 1.0)?;
/// assert_eq!((d.get(1, 0), d.get(2, 2)), (Some(0.5), Some(0.0)));
/// assert_eq!(d.get(2, 1), None);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dissimilarities {
    items: usize,
    form: Form,
    values: Values,
    scale: f64,
    pub(crate) name: String,
    pub(crate) header: Option<Header>,
    rounding: Option<Rounding>,
}

impl Dissimilarities {
    /// Creates dissimilarities of `items` items from numbers in a form, with the unit `scale`. Removes rounding errors
    /// and counts them in [`rounding`](Self::rounding).
    ///
    /// # Errors
    /// Returns [`Error::Shape`](crate::Error::Shape) if the number of values does not fit, if there are no items, or if
    /// the unit is not finite and positive. Returns [`Error::Faults`](crate::Error::Faults) with each negative or
    /// infinite value. In full form, it also reports each asymmetric pair and each nonzero number on the diagonal.
    pub fn new(items: usize, form: Form, values: Values, scale: f64) -> Result<Self, crate::Error> {
        Self::named(items, form, values, scale, "dissimilarities")
    }

    pub(crate) fn named(
        items: usize,
        form: Form,
        values: Values,
        scale: f64,
        name: &str,
    ) -> Result<Self, crate::Error> {
        let shape = |expected: String, found: String| crate::Error::Shape { what: name.into(), expected, found };
        if items == 0 {
            return Err(shape("at least one item".into(), "none".into()));
        }
        let length = match &values {
            Values::F64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::U16(values) => values.len(),
        };
        if length != form.numbers(items) {
            return Err(shape(
                format!("{} numbers for {items} items, {form}", form.numbers(items)),
                length.to_string(),
            ));
        }
        if !(scale.is_finite() && scale > 0.0) {
            return Err(shape("a scale that is finite and above 0".into(), scale.to_string()));
        }
        let mut matrix =
            Dissimilarities { items, form, values, scale, name: name.into(), header: None, rounding: None };
        matrix.check()?;
        Ok(matrix)
    }

    /// Removes rounding errors, and reports larger differences.
    fn check(&mut self) -> Result<(), crate::Error> {
        use crate::error::{Column, Fault, Faults, Place};
        let mut faults = Faults::new(&self.name);
        let mut fault = |row: usize, index: usize, expected: &str, found: f64| {
            faults.add_with(|| Fault {
                place: Place::Row(row as u64),
                column: Some(Column { index, name: None }),
                expected: expected.into(),
                found: crate::error::number(found),
            });
        };
        let is_full = self.form == Form::Full;
        let rounded = self.rounded();
        let mut rounding = Rounding::default();
        for row in 0..self.items {
            if is_full {
                let value = self.stored(row, row);
                if value.abs() <= rounded || value.is_nan() {
                    if value != 0.0 && !value.is_nan() {
                        rounding.on_diagonal += 1;
                        rounding.note(value);
                    }
                    self.store(row, row, 0.0);
                } else {
                    fault(row, row, "0 on the diagonal", value);
                }
            }
            for column in row + 1..self.items {
                let value = self.stored(row, column);
                let mirrored = if is_full { self.stored(column, row) } else { value };
                let is_valid = |value: f64| value.is_nan() || value.is_finite() && value >= -rounded;
                for (row, column, value) in [(row, column, value), (column, row, mirrored)] {
                    if !is_valid(value) && (is_full || row < column) {
                        fault(row, column, "a finite number of 0 or more, or a missing value", value);
                    }
                }
                if !(is_valid(value) && is_valid(mirrored)) || value.is_nan() && mirrored.is_nan() {
                    continue;
                }
                let difference = (value - mirrored).abs();
                // The difference is NaN if only one side has a value.
                if difference.is_nan() || difference > rounded {
                    fault(
                        column,
                        row,
                        &format!("{}, as on the other side of the diagonal", crate::error::number(value)),
                        mirrored,
                    );
                    continue;
                }
                if value == mirrored && value >= 0.0 {
                    continue;
                }
                let mut mean = if difference == 0.0 { value } else { value / 2.0 + mirrored / 2.0 };
                if difference > 0.0 {
                    rounding.unequal_pairs += 1;
                    rounding.note(difference);
                }
                if mean < 0.0 {
                    rounding.negative_pairs += 1;
                    rounding.note(mean);
                    mean = 0.0;
                }
                self.store(row, column, mean);
                if is_full {
                    self.mirror(row, column);
                }
            }
        }
        self.rounding = (!rounding.is_none()).then_some(rounding);
        faults.or(())
    }

    /// Returns the largest difference that counts as rounding, in the unit of the dissimilarities.
    fn rounded(&self) -> f64 {
        let largest =
            |values: &mut dyn Iterator<Item = f64>| values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        match &self.values {
            Values::F64(values) => {
                Rounding::SHARE_F64 * largest(&mut values.iter().map(|value| value.abs())) * self.scale
            }
            Values::F32(values) => {
                Rounding::SHARE_F32 * largest(&mut values.iter().map(|value| f64::from(value.abs()))) * self.scale
            }
            // Numbers differ by whole units; the extra half allows for rounding in the product with the unit.
            Values::U16(_) => 1.5 * self.scale,
        }
    }

    fn store(&mut self, row: usize, column: usize, value: f64) {
        let place = self.place(row, column);
        match &mut self.values {
            Values::F64(values) => values[place] = value / self.scale,
            Values::F32(values) => values[place] = (value / self.scale) as f32,
            // The mean of neighbouring numbers is not a stored number, so values stay, except on the diagonal.
            Values::U16(values) if value == 0.0 => values[place] = 0,
            Values::U16(_) => {}
        }
    }

    /// Copies the value above the diagonal to its position below.
    fn mirror(&mut self, row: usize, column: usize) {
        let (from, to) = (self.place(row, column), self.place(column, row));
        match &mut self.values {
            Values::F64(values) => values[to] = values[from],
            Values::F32(values) => values[to] = values[from],
            Values::U16(values) => values[to] = values[from],
        }
    }

    fn place(&self, row: usize, column: usize) -> usize {
        match self.form {
            Form::Full => row * self.items + column,
            Form::Condensed => condensed_place(row, column, self.items),
        }
    }

    /// Returns the stored value at a position; NaN if it is missing.
    fn stored(&self, row: usize, column: usize) -> f64 {
        let place = self.place(row, column);
        match &self.values {
            Values::F64(values) => values[place] * self.scale,
            Values::F32(values) => f64::from(values[place]) * self.scale,
            Values::U16(values) if values[place] == MISSING_U16 => f64::NAN,
            Values::U16(values) => f64::from(values[place]) * self.scale,
        }
    }

    /// Returns the dissimilarity of two items; `None` if it is missing. An item's dissimilarity to itself is 0.
    ///
    /// # Panics
    /// Panics if an item does not exist.
    pub fn get(&self, i: usize, j: usize) -> Option<f64> {
        assert!(i < self.items && j < self.items, "({i}, {j}) of {}", self.items);
        if i == j {
            return Some(0.0);
        }
        let value = self.stored(i.min(j), i.max(j));
        if value.is_nan() { None } else { Some(value) }
    }

    /// Returns N, the number of items, which is at least 1.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Returns which pairs are stored.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the stored numbers.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Returns the N (N - 1) / 2 stored numbers in condensed form.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    /// let full = Values::U16(vec![0, 1, 2, 1, 0, 3, 2, 3, 0]);
    /// let matrix = Dissimilarities::new(3, Form::Full, full, 0.5)?;
    /// assert_eq!(matrix.into_condensed(), Values::U16(vec![1, 2, 3]));
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn into_condensed(self) -> Values {
        fn above<T: Copy>(values: Vec<T>, items: usize, form: Form) -> Vec<T> {
            match form {
                Form::Condensed => values,
                Form::Full => (0..items).flat_map(|i| &values[i * items + i + 1..(i + 1) * items]).copied().collect(),
            }
        }
        match self.values {
            Values::F64(values) => Values::F64(above(values, self.items, self.form)),
            Values::F32(values) => Values::F32(above(values, self.items, self.form)),
            Values::U16(values) => Values::U16(above(values, self.items, self.form)),
        }
    }

    /// Returns the factor from a stored number to its value.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns the name of the matrix in messages: the path it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the rounding errors that were found in the numbers and removed.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    /// let matrix = Dissimilarities::new(2, Form::Full, Values::F64(vec![2.2e-16, 1.0, 1.0, 0.0]), 1.0)?;
    /// assert_eq!(matrix.rounding().unwrap().on_diagonal, 1);
    /// assert_eq!(matrix.values(), &Values::F64(vec![0.0, 1.0, 1.0, 0.0]));
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn rounding(&self) -> Option<&Rounding> {
        self.rounding.as_ref()
    }

    /// Returns a warning that names the matrix, if rounding errors were removed.
    pub fn warning(&self) -> Option<String> {
        self.rounding.map(|rounding| format!("{}: {rounding}", self.name))
    }

    /// Returns the header, if the numbers came with one.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condensed_places_count_the_pairs_in_order() {
        for items in 2..9 {
            let mut expected = 0;
            for i in 0..items {
                for j in i + 1..items {
                    assert_eq!(condensed_place(i, j, items), expected);
                    expected += 1;
                }
            }
            assert_eq!(Form::Condensed.numbers(items), expected);
        }
    }

    #[test]
    fn what_is_no_dissimilarity_is_named_by_row_and_column() {
        let values = vec![0.0, 1.0, -2.0, 1.5, 0.0, 3.0, -2.0, 3.0, 0.25];
        let message = Dissimilarities::new(3, Form::Full, Values::F64(values), 1.0).unwrap_err().to_string();
        assert_eq!(
            message,
            "dissimilarities, row 2, column 1: expected 1, as on the other side of the diagonal, found 1.5\n\
             dissimilarities, row 1, column 3: expected a finite number of 0 or more, or a missing value, found -2\n\
             dissimilarities, row 3, column 1: expected a finite number of 0 or more, or a missing value, found -2\n\
             dissimilarities, row 3, column 3: expected 0 on the diagonal, found 0.25\n\
             dissimilarities: 4 faults in all"
        );
        assert!(Dissimilarities::new(3, Form::Condensed, Values::U16(vec![1, 2]), 1.0).is_err());
    }

    #[test]
    fn what_rounding_explains_is_removed_and_counted() {
        // These are 1 - the cosine similarity of three rows: the halves differ in the last bit, a value is slightly
        // below 0, and the diagonal is not exactly 0.
        let up = 0.5f64.next_up();
        let values = vec![2.2e-16, 0.5, -1.1e-16, up, 0.0, 1.0, -2.2e-16, 1.0, f64::NAN];
        let matrix = Dissimilarities::new(3, Form::Full, Values::F64(values), 1.0).unwrap();
        let Values::F64(mended) = matrix.values() else { panic!() };
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            assert_eq!(mended[i * 3 + j].to_bits(), mended[j * 3 + i].to_bits(), "{i}, {j}");
        }
        assert_eq!((mended[0], mended[2], mended[5], mended[8]), (0.0, 0.0, 1.0, 0.0));
        assert!((0.5..=up).contains(&mended[1]));
        let rounding = matrix.rounding().unwrap();
        assert_eq!((rounding.unequal_pairs, rounding.negative_pairs, rounding.on_diagonal), (2, 1, 1));
        assert_eq!(
            rounding.to_string(),
            "corrected rounding errors of at most 2.20e-16: 2 pairs whose two values differ (their mean is used), \
             1 pair below 0 (0 is used), 1 value on the diagonal (0 is used)"
        );
        // The only rounding error in a half matrix is a negative value; valid values are unchanged.
        let half = Dissimilarities::new(3, Form::Condensed, Values::F32(vec![-1e-7, 1.0, 0.5]), 1.0).unwrap();
        assert_eq!(half.values(), &Values::F32(vec![0.0, 1.0, 0.5]));
        assert_eq!(half.rounding().unwrap().negative_pairs, 1);
        let exact = Dissimilarities::new(2, Form::Full, Values::F64(vec![0.0, 0.1, 0.1, 0.0]), 1.0).unwrap();
        assert_eq!(exact.rounding(), None);
    }

    #[test]
    fn fixed_point_halves_may_differ_by_one_unit() {
        let of = |below| Dissimilarities::new(2, Form::Full, Values::U16(vec![0, 7, below, 0]), 0.3);
        let matrix = of(8).unwrap();
        assert_eq!(matrix.values(), &Values::U16(vec![0, 7, 7, 0]));
        assert_eq!(matrix.rounding().unwrap().unequal_pairs, 1);
        assert!(of(9).is_err());
        assert!(of(MISSING_U16).is_err(), "missing on one side");
    }

    #[test]
    fn what_rounding_does_not_explain_is_refused() {
        for (value, mirrored, own) in
            [(1.0, 1.0 + 2e-8, 0.0), (-2e-8, -2e-8, 0.0), (1.0, 1.0, 2e-8), (f64::NAN, 1.0, 0.0)]
        {
            let values = vec![own, value, 1.0, mirrored, 0.0, 1.0, 1.0, 1.0, 0.0];
            let error = Dissimilarities::new(3, Form::Full, Values::F64(values), 1.0);
            assert!(error.is_err(), "{value} {mirrored} {own}");
        }
    }
}
