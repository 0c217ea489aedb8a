//! Dissimilarities of all pairs of N items: how they are stored, what stands beside the numbers, and how they are looked up.
//!
//! A matrix on disk is two files: an NPY array that NumPy opens, and a small JSON *header* of the same name, which says what the numbers mean:
//! the form, the scale of fixed-point numbers, how a missing value is written, where the matrix came from. The diagonal is 0 and the matrix
//! symmetric, so that half of it says all: [`Form::Condensed`] holds the pairs (0,1), (0,2), …, (1,2), … as SciPy's `pdist` does.
//!
//! | element | bytes a pair | a missing value | error |
//! | --- | ---: | --- | --- |
//! | `f64` | 8 | NaN | none |
//! | `f32` | 4 | NaN | 6e-8 of the value |
//! | `u16`: the value is `scale` times the number | 2 | 65535 | 8e-6 of the largest value |
//! | `i16be`: the same, big-endian rows without a header of their own, as the papers' group stores them | 2 | negative | 1.5e-5 of the larger of 1 and the largest value |
//!
//! Read next: [`crate::write::dissimilarities`], [`crate::read::dissimilarities`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the format of a header calls itself; raised with every change of meaning.
pub const FORMAT: &str = "lehr dissimilarities 1";

/// The `u16` that stands for a missing value.
pub const MISSING_U16: u16 = u16::MAX;
/// The largest value in fixed point, unsigned.
pub const LARGEST_U16: u16 = u16::MAX - 1;
/// The `i16` that stands for a missing value, as it is written; all negative numbers are read as missing.
pub const MISSING_I16: i16 = -1;

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 16-bit fixed point, unsigned.
    U16,
    /// 16-bit fixed point, signed and big-endian: `distances x 32767`, as the papers' group stores them. Raw rows, no NPY.
    I16be,
}

impl Element {
    /// Bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            Element::F64 => 8,
            Element::F32 => 4,
            Element::U16 | Element::I16be => 2,
        }
    }

    /// What one unit of a stored number is worth in a matrix whose largest value is `largest`: 1 for floating point.
    ///
    /// Fixed point of 16 bits spans just the values there are. Big-endian rows keep the group's 1 / 32767 as long as nothing is above 1; beyond that
    /// their scale grows instead of the numbers overflowing.
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
    /// All N x N, row after row.
    Full,
    /// The N (N - 1) / 2 above the diagonal, row after row.
    Condensed,
}

impl Form {
    /// How many numbers are stored for N items.
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

/// What stands beside the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The name of the file with the numbers, in the header's folder.
    pub array: String,
    /// N.
    pub items: usize,
    /// How many items there were before equal ones were made one, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collapsed_from: Option<usize>,
    /// Which pairs are stored.
    pub form: Form,
    /// How a number is stored.
    pub element: Element,
    /// A value is this times the stored number.
    pub scale: f64,
    /// How a missing value is stored, in words: `NaN`, `65535`, `negative`.
    pub missing: String,
    /// How many of the N (N - 1) / 2 pairs have no value.
    pub missing_pairs: u64,
    /// The largest value, 0 if there is none.
    pub largest: f64,
    /// The mean of the values, 0 if there are none.
    pub mean: f64,
    /// What was measured: the name of the dissimilarity.
    pub metric: String,
    /// How: parameters by name.
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// What the items were read from.
    pub source: String,
    /// The fingerprint of the data, in hexadecimal.
    pub fingerprint: String,
}

/// The place of the pair (i, j), `i < j < items`, in condensed form.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::condensed_place;
/// assert_eq!([(0, 1), (0, 3), (1, 2), (2, 3)].map(|(i, j)| condensed_place(i, j, 4)), [0, 2, 3, 5]);
/// ```
///
/// # Panics
/// In debug builds, if it is not a pair above the diagonal.
#[inline]
pub fn condensed_place(i: usize, j: usize, items: usize) -> usize {
    debug_assert!(i < j && j < items, "({i}, {j}) of {items}");
    i * items - i * (i + 1) / 2 + j - i - 1
}

/// The numbers of a matrix as they are stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Floating point of 64 bits; NaN is missing.
    F64(Vec<f64>),
    /// Floating point of 32 bits; NaN is missing.
    F32(Vec<f32>),
    /// Fixed point; [`MISSING_U16`] is missing.
    U16(Vec<u16>),
}

/// Dissimilarities of N items in memory, as compact as on disk: symmetric, 0 on the diagonal, not negative.
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
}

impl Dissimilarities {
    /// Numbers of `items` items in a form, each worth `scale`.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if their number does not fit, there are no items, or the scale is not a finite number above 0;
    /// [`Error::Faults`](crate::Error::Faults) with each value that is negative or infinite and, in full form, each pair that is not symmetric and each
    /// number on the diagonal that is not 0.
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
        let matrix = Dissimilarities { items, form, values, scale, name: name.into(), header: None };
        matrix.check()?;
        Ok(matrix)
    }

    fn check(&self) -> Result<(), crate::Error> {
        use crate::error::{Column, Fault, Faults, Place};
        let mut faults = Faults::new(&self.name);
        let mut fault = |row: usize, index: usize, expected: &str, found: f64| {
            faults.add_with(|| Fault {
                place: Place::Row(row as u64),
                column: Some(Column { index, name: None }),
                expected: expected.into(),
                found: found.to_string(),
            });
        };
        for row in 0..self.items {
            let first = if self.form == Form::Full { 0 } else { row + 1 };
            for column in first..self.items {
                let value = self.stored(row, column);
                if value.is_infinite() || value < 0.0 {
                    fault(row, column, "a finite number of 0 or more, or a missing value", value);
                } else if row == column && value != 0.0 {
                    fault(row, column, "0 on the diagonal", value);
                } else if self.form == Form::Full && column > row {
                    let mirrored = self.stored(column, row);
                    if value != mirrored && !(value.is_nan() && mirrored.is_nan()) {
                        fault(column, row, &format!("{value}, as in row {}, column {}", row + 1, column + 1), mirrored);
                    }
                }
            }
        }
        faults.or(())
    }

    /// The value stored at a place, NaN if it is missing.
    fn stored(&self, row: usize, column: usize) -> f64 {
        let place = match self.form {
            Form::Full => row * self.items + column,
            Form::Condensed => condensed_place(row, column, self.items),
        };
        match &self.values {
            Values::F64(values) => values[place] * self.scale,
            Values::F32(values) => f64::from(values[place]) * self.scale,
            Values::U16(values) if values[place] == MISSING_U16 => f64::NAN,
            Values::U16(values) => f64::from(values[place]) * self.scale,
        }
    }

    /// The dissimilarity of two items; `None` if it is missing. Of an item and itself: 0.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn get(&self, i: usize, j: usize) -> Option<f64> {
        assert!(i < self.items && j < self.items, "({i}, {j}) of {}", self.items);
        if i == j {
            return Some(0.0);
        }
        let value = self.stored(i.min(j), i.max(j));
        if value.is_nan() { None } else { Some(value) }
    }

    /// N, at least 1.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Which pairs are stored.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The numbers as they are stored.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The numbers in condensed form, as they are stored: N (N - 1) / 2.
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

    /// What a stored number is worth.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// What messages call the matrix: the path it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stood beside the numbers, if they came with a header.
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
            "dissimilarities, row 2, column 1: expected 1, as in row 1, column 2, found 1.5\n\
             dissimilarities, row 1, column 3: expected a finite number of 0 or more, or a missing value, found -2\n\
             dissimilarities, row 3, column 1: expected a finite number of 0 or more, or a missing value, found -2\n\
             dissimilarities, row 3, column 3: expected 0 on the diagonal, found 0.25\n\
             dissimilarities: 4 faults in all"
        );
        assert!(Dissimilarities::new(3, Form::Condensed, Values::U16(vec![1, 2]), 1.0).is_err());
    }
}
