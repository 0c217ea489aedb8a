//! Rows of nothing but 0 and 1 as bits, however they were given.
//!
//! Distances between such rows are whole numbers, so that many are equal. Which of equal ones is less by rounding depends on how rows are stored. So that a table, a
//! sparse matrix and a file of bits with the same rows are given the same labels, all three are clustered as bits.

use std::mem::size_of;

use lehr_data::Fingerprints;

use super::input::Input;

/// Sparse rows are packed if bits take at most so many times the memory. Beyond, passes over bits would take longer than passes over what is there.
const MOST_GROWTH: usize = 4;

/// The rows as bits, if they are not bits already, hold nothing but 0 and 1, and are not too sparse for it. Cost: one pass over the rows, which ends at the first other number.
pub(crate) fn packed(input: Input<'_>) -> Option<Fingerprints> {
    let (count, bits) = (input.len(), input.dimension());
    let width = bits.div_ceil(64);
    let weights = match input {
        Input::Bits(_) => return None,
        Input::Numbers(points) => points.weights(),
        Input::Sparse(rows) => {
            let kept: usize = (0..count).map(|row| rows.row(row).0.len()).sum();
            let bytes = kept * (size_of::<u32>() + size_of::<f64>());
            if count * width * size_of::<u64>() > MOST_GROWTH * bytes {
                return None;
            }
            rows.weights()
        }
    };
    let mut words = Vec::new();
    for row in 0..count {
        let begin = words.len();
        words.resize(begin + width, 0u64);
        let mut is_packed = true;
        input.for_each_value(row, |j, value| {
            is_packed &= value == 0.0 || value == 1.0;
            words[begin + j / 64] |= u64::from(value == 1.0) << (j % 64);
        });
        if !is_packed {
            return None;
        }
    }
    let rows = Fingerprints::new(words, bits).expect("as many words as rows have, and none set beyond their bits");
    Some(match weights {
        Some(weights) => rows.with_weights(weights.to_vec()).expect("weights that rows had before"),
        None => rows,
    })
}

#[cfg(test)]
mod tests {
    use lehr_data::{Points, Sparse};

    use super::*;

    #[test]
    fn rows_of_0_and_1_are_bits_and_others_are_left() {
        let mut values = vec![0.0; 2 * 70];
        (values[0], values[69], values[70 + 3]) = (1.0, 1.0, 1.0);
        let points = Points::new(values.clone(), 70).unwrap();
        let sparse = Sparse::from_points(&points).unwrap();
        for input in [Input::Numbers(&points), Input::Sparse(&sparse)] {
            let bits = packed(input).unwrap();
            assert_eq!((bits.row(0), bits.row(1)), (&[1u64, 1 << 5][..], &[8u64, 0][..]));
            assert!(packed(Input::Bits(&bits)).is_none());
        }
        let weighted = points.with_weights(vec![2.0, 0.0]).unwrap();
        assert_eq!(packed(Input::Numbers(&weighted)).unwrap().weights(), Some(&[2.0, 0.0][..]));
        values[71] = 0.5;
        assert!(packed(Input::Numbers(&Points::new(values, 70).unwrap())).is_none());
    }

    #[test]
    fn rows_that_are_very_sparse_stay_so() {
        let rows = Sparse::from_rows([vec![(0, 1.0)], vec![(99_999, 1.0)]], 100_000).unwrap();
        assert!(packed(Input::Sparse(&rows)).is_none());
    }
}
