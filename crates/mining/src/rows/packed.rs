//! Converts rows to the form that suits their values, regardless of the file format.
//!
//! A row of integers is often equally far from several centres. Rounding then decides which centre is nearest, and
//! rounding depends on how the rows are stored. To give the same rows the same labels, k-means converts tables, sparse
//! matrices and files of bits to the same form. Only the values decide which form this is. If most values are 0, rows
//! become sparse. Otherwise, rows of 0 and 1 become bits, and other rows become numbers.

use std::mem::size_of;

use lehr_data::{Fingerprints, Points, Sparse};

use super::input::Input;

/// The maximum factor by which memory may grow when sparse rows become bits or numbers. With a larger factor, passes
/// over the bits or numbers would take longer than passes over the sparse values.
const MOST_GROWTH: usize = 4;
/// The maximum number of bytes of the sparse form. Rows that would take more bytes are not converted to it: they may be
/// in a file because memory is short.
const MOST_BYTES: usize = 1 << 30;

/// Rows that were converted to a form other than the form of the input.
#[derive(Debug)]
pub(crate) enum Packed {
    Bits(Fingerprints),
    Numbers(Points),
    Sparse(Sparse),
}

impl Packed {
    /// Converts the rows to the form in which they are clustered. Returns `None` if they already have this form. Cost:
    /// two passes over the rows, and the memory of the new form.
    pub fn of(input: Input<'_>) -> Option<Self> {
        let (count, columns) = (input.len(), input.dimension());
        let (mut kept, mut are_bits) = (0usize, true);
        let mut see = |values: &[f64]| {
            for &value in values {
                kept += usize::from(value != 0.0);
                are_bits &= value == 0.0 || value == 1.0;
            }
        };
        match input {
            Input::Numbers(points) => see(points.values()),
            Input::Sparse(rows) => see(rows.values()),
            Input::Bits(rows) => {
                kept = (0..count).flat_map(|row| rows.row(row)).map(|word| word.count_ones() as usize).sum()
            }
        }
        let sparse_bytes = kept.saturating_mul(size_of::<u32>() + size_of::<f64>());
        let cells_bytes = if are_bits {
            count.saturating_mul(columns.div_ceil(64)).saturating_mul(size_of::<u64>())
        } else {
            count.saturating_mul(columns).saturating_mul(size_of::<f64>())
        };
        let is_sparse = cells_bytes > MOST_GROWTH.saturating_mul(sparse_bytes) && sparse_bytes <= MOST_BYTES;
        match input {
            Input::Sparse(_) if is_sparse => None,
            _ if is_sparse => Some(Self::Sparse(sparse(input))),
            Input::Bits(_) => None,
            _ if are_bits => Some(Self::Bits(bits(input))),
            Input::Numbers(_) => None,
            // Sparse rows that would take too much memory as a table stay sparse.
            Input::Sparse(_) if sparse_bytes > MOST_BYTES && cells_bytes > MOST_GROWTH.saturating_mul(sparse_bytes) => {
                None
            }
            Input::Sparse(rows) => Some(Self::Numbers(numbers(rows))),
        }
    }

    /// The converted rows.
    pub fn input(&self) -> Input<'_> {
        match self {
            Self::Bits(rows) => Input::Bits(rows),
            Self::Numbers(points) => Input::Numbers(points),
            Self::Sparse(rows) => Input::Sparse(rows),
        }
    }
}

const WEIGHED_BEFORE: &str = "weights that rows had before";

fn weights(input: Input<'_>) -> Option<Vec<f64>> {
    let weights = match input {
        Input::Numbers(points) => points.weights(),
        Input::Bits(rows) => rows.weights(),
        Input::Sparse(rows) => rows.weights(),
    };
    weights.map(<[f64]>::to_vec)
}

fn bits(input: Input<'_>) -> Fingerprints {
    let width = input.dimension().div_ceil(64);
    let mut words = vec![0u64; input.len() * width];
    for (row, words) in words.chunks_exact_mut(width).enumerate() {
        input.for_each_value(row, |j, value| words[j / 64] |= u64::from(value == 1.0) << (j % 64));
    }
    let rows = Fingerprints::new(words, input.dimension())
        .expect("as many words as rows have, and none set beyond their bits");
    match weights(input) {
        Some(weights) => rows.with_weights(weights).expect(WEIGHED_BEFORE),
        None => rows,
    }
}

fn sparse(input: Input<'_>) -> Sparse {
    let row = |row| {
        let mut there = Vec::new();
        input.for_each_value(row, |j, value| {
            if value != 0.0 {
                there.push((j as u32, value));
            }
        });
        there
    };
    let rows = Sparse::from_rows((0..input.len()).map(row), input.dimension())
        .expect("finite values in columns that there are");
    match weights(input) {
        Some(weights) => rows.with_weights(weights).expect(WEIGHED_BEFORE),
        None => rows,
    }
}

fn numbers(rows: &Sparse) -> Points {
    let mut values = vec![0.0; rows.len() * rows.dimension()];
    values.chunks_exact_mut(rows.dimension()).enumerate().for_each(|(row, values)| rows.read(row, values));
    let points = Points::new(values, rows.dimension()).expect("finite values");
    match rows.weights() {
        Some(weights) => points.with_weights(weights.to_vec()).expect(WEIGHED_BEFORE),
        None => points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_0_and_1_become_bits_and_others_numbers() {
        let mut values = vec![0.0; 2 * 70];
        (values[0], values[69], values[70 + 3]) = (1.0, 1.0, 1.0);
        let points = Points::new(values.clone(), 70).unwrap();
        let sparse = Sparse::from_points(&points).unwrap();
        for input in [Input::Numbers(&points), Input::Sparse(&sparse)] {
            let Some(Packed::Bits(bits)) = Packed::of(input) else { panic!("{input:?}") };
            assert_eq!((bits.row(0), bits.row(1)), (&[1u64, 1 << 5][..], &[8u64, 0][..]));
            assert!(Packed::of(Input::Bits(&bits)).is_none());
        }
        let weighted = points.with_weights(vec![2.0, 0.0]).unwrap();
        let Some(Packed::Bits(bits)) = Packed::of(Input::Numbers(&weighted)) else { panic!() };
        assert_eq!(bits.weights(), Some(&[2.0, 0.0][..]));
        // One of four values is not 0, so neither the sparse form nor the table is far smaller than the other form.
        (0..140).step_by(4).for_each(|place| values[place] = 0.5);
        let points = Points::new(values.clone(), 70).unwrap();
        assert!(Packed::of(Input::Numbers(&points)).is_none());
        let Some(Packed::Numbers(same)) = Packed::of(Input::Sparse(&Sparse::from_points(&points).unwrap())) else {
            panic!()
        };
        assert_eq!(same.values(), &values[..]);
    }

    #[test]
    fn rows_of_few_values_become_sparse_whatever_they_were() {
        let rows = Sparse::from_rows([vec![(0, 1.0)], vec![(99_999, 1.0)]], 100_000).unwrap();
        assert!(Packed::of(Input::Sparse(&rows)).is_none());
        let bits = bits(Input::Sparse(&rows));
        let mut values = vec![0.0; 200_000];
        (values[0], values[199_999]) = (1.0, 1.0);
        let points = Points::new(values, 100_000).unwrap();
        for input in [Input::Bits(&bits), Input::Numbers(&points)] {
            let Some(Packed::Sparse(found)) = Packed::of(input) else { panic!() };
            assert_eq!(found.columns(), rows.columns());
        }
    }
}
