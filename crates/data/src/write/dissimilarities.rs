//! Writes dissimilarities to files: the numbers (NPY, or big-endian rows) and their header.
//!
//! Rows are passed one at a time, so that a matrix of several gigabytes is not held twice.

use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3Default;

use crate::dissimilarities::{Element, Form, Header, LARGEST_U16, MISSING_I16, MISSING_U16};

/// Facts about all values, which are needed before the first value is written: the unit of fixed point depends on the
/// largest value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Extent {
    /// The largest value; 0 if there are no values.
    pub largest: f64,
    /// The sum of the values.
    pub sum: f64,
    /// The number of pairs with a value.
    pub present: u64,
    /// The number of pairs without a value.
    pub missing: u64,
}

impl Extent {
    /// Counts the value of one pair; NaN means missing.
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.missing += 1;
        } else {
            self.present += 1;
            self.sum += value;
            self.largest = self.largest.max(value);
        }
    }

    /// Returns the mean of the values; NaN if there are none.
    pub fn mean(&self) -> f64 {
        if self.present == 0 { f64::NAN } else { self.sum / self.present as f64 }
    }

    /// Returns the largest value for a header; NaN if there are no values.
    pub fn stated_largest(&self) -> f64 {
        if self.present == 0 { f64::NAN } else { self.largest }
    }
}

/// Writes the numbers of `items` items to `out`, as NPY of the element's type (little-endian). [`Element::I16be`] is
/// written as raw big-endian rows, which are always full.
///
/// `row(i, values)` overwrites `values` with the row of item i: N numbers, 0 at i, and NaN for missing values. It is
/// called once for each i, in order. `scale` is the result of [`Element::scale`]. Returns the
/// [checksum](Header::checksum) of the numbers.
///
/// Cost: one call per row, and the bytes written; memory for one row.
///
/// # Errors
/// Returns the errors of `out`.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Element, Form};
/// use lehr_data::write::dissimilarities::numbers;
/// let mut file = Vec::new();
/// let row = |i: usize, values: &mut [f64]| (0..3).for_each(|j| values[j] = i.abs_diff(j) as f64);
/// numbers(&mut file, 3, Form::Condensed, Element::F32, 1.0, row).unwrap();
/// assert_eq!(file[128..], [1.0f32, 2.0, 1.0].map(f32::to_le_bytes).concat());
/// ```
pub fn numbers(
    mut out: impl Write,
    items: usize,
    form: Form,
    element: Element,
    scale: f64,
    mut row: impl FnMut(usize, &mut [f64]),
) -> io::Result<String> {
    let shape = match form {
        Form::Full => format!("({items}, {items})"),
        Form::Condensed => format!("({},)", form.numbers(items)),
    };
    match element {
        Element::F64 => super::npy::header(&mut out, "<f8", &shape)?,
        Element::F32 => super::npy::header(&mut out, "<f4", &shape)?,
        Element::U16 => super::npy::header(&mut out, "<u2", &shape)?,
        Element::I16be => {}
    }
    let mut checksum = Xxh3Default::new();
    let mut values = vec![0.0; items];
    let mut bytes = Vec::with_capacity(items * element.bytes());
    for i in 0..items {
        row(i, &mut values);
        let stored = if form == Form::Condensed && element != Element::I16be { &values[i + 1..] } else { &values[..] };
        bytes.clear();
        match element {
            Element::F64 => bytes.extend(stored.iter().flat_map(|value| value.to_le_bytes())),
            Element::F32 => bytes.extend(stored.iter().flat_map(|value| (*value as f32).to_le_bytes())),
            Element::U16 => bytes.extend(stored.iter().flat_map(|value| fixed(*value, scale).to_le_bytes())),
            Element::I16be => bytes.extend(stored.iter().flat_map(|value| fixed_signed(*value, scale).to_be_bytes())),
        }
        checksum.update(&bytes);
        out.write_all(&bytes)?;
    }
    Ok(format!("{:016x}", checksum.digest()))
}

/// Returns the header as JSON, with a line end.
pub fn header(header: &Header) -> String {
    let mut text = serde_json::to_string_pretty(header).expect("a header has string keys and finite numbers");
    text.push('\n');
    text
}

/// Returns the nearest fixed-point number; the largest value gives exactly [`LARGEST_U16`], whether its quotient is
/// rounded up or down. NaN gives [`MISSING_U16`].
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::Element;
/// use lehr_data::write::dissimilarities::fixed;
/// let scale = Element::U16.scale(3.0);
/// assert_eq!([0.0, 1.5, 3.0, f64::NAN].map(|value| fixed(value, scale)), [0, 32767, 65534, 65535]);
/// ```
pub fn fixed(value: f64, scale: f64) -> u16 {
    if value.is_nan() { MISSING_U16 } else { (value / scale).round().clamp(0.0, f64::from(LARGEST_U16)) as u16 }
}

fn fixed_signed(value: f64, scale: f64) -> i16 {
    if value.is_nan() { MISSING_I16 } else { (value / scale).round().clamp(0.0, f64::from(i16::MAX)) as i16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrected_distances_above_one_do_not_turn_negative() {
        // The reference code has a defect here: 32767 times a distance of 3 is negative as an int16, and thus
        // "missing".
        let scale = Element::I16be.scale(3.0);
        assert_eq!([0.0, 3.0, 1.5, f64::NAN].map(|value| fixed_signed(value, scale)), [0, 32767, 16384, -1]);
        let scale = Element::I16be.scale(0.25);
        assert_eq!(fixed_signed(0.25, scale), 8192);
    }

    #[test]
    fn fixed_point_keeps_one_number_for_missing() {
        for largest in [0.0, 1e-300, 0.1, 1.0, 3.7, 1e12] {
            let scale = Element::U16.scale(largest);
            let expected = if largest > 0.0 { LARGEST_U16 } else { 0 };
            assert_eq!((fixed(largest, scale), fixed(0.0, scale), fixed(f64::NAN, scale)), (expected, 0, 65535));
        }
    }
}
