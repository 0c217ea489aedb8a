//! Removes the empty columns of sparse rows, if most columns are empty.
//!
//! Centres are not sparse. With a single stray column number (`1 16777216:2`), centres would need gigabytes of zeros,
//! with copies on each rank. A column that is 0 in every row adds nothing to any distance, and every centre is 0 in
//! this column. The computation therefore uses only columns with values, and the empty columns are restored in the
//! result.

use lehr_data::Sparse;

use super::input::Input;

/// The minimum number of columns. Rows with fewer columns are used unchanged.
const LEAST_COLUMNS: usize = 1 << 12;

/// Sparse rows without their empty columns.
#[derive(Debug)]
pub(crate) struct UsedColumns {
    pub rows: Sparse,
    /// The numbers of the used columns in the input, in ascending order.
    used: Vec<u32>,
    dimension: usize,
}

impl UsedColumns {
    /// Removes the empty columns, if there are many columns and at least half of them are empty. Cost: one pass over
    /// the values.
    pub fn of(input: Input<'_>) -> Option<Self> {
        let Input::Sparse(rows) = input else { return None };
        let dimension = rows.dimension();
        if dimension < LEAST_COLUMNS {
            return None;
        }
        let mut used = rows.columns().to_vec();
        used.sort_unstable();
        used.dedup();
        if used.len() > dimension / 2 {
            return None;
        }
        if used.is_empty() {
            used.push(0);
        }
        let place = |column: &u32| used.binary_search(column).expect("a column that is used") as u32;
        let columns = rows.columns().iter().map(place).collect();
        let compact = Sparse::new(rows.starts().to_vec(), columns, rows.values().to_vec(), used.len())
            .expect("rows that were checked before, in the same order");
        let compact = match rows.weights() {
            Some(weights) => compact.with_weights(weights.to_vec()).expect("weights that rows had before"),
            None => compact,
        };
        Some(Self { rows: compact.with_name(rows.name()), used, dimension })
    }

    /// The number of columns of the input.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds the removed columns to the centres, with the value 0.
    pub fn widened(&self, centers: &[f64]) -> Vec<f64> {
        let mut wide = vec![0.0; centers.len() / self.used.len() * self.dimension];
        let of_centers = centers.chunks_exact(self.used.len());
        for (wide, center) in wide.chunks_exact_mut(self.dimension).zip(of_centers) {
            self.used.iter().zip(center).for_each(|(&column, &value)| wide[column as usize] = value);
        }
        wide
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_are_left_out_and_put_back() {
        let rows = Sparse::from_rows([vec![(0, 1.0), (9_999, 2.0)], vec![(7, 3.0)]], 10_000).unwrap();
        let rows = rows.with_weights(vec![1.0, 2.0]).unwrap();
        let compact = UsedColumns::of(Input::Sparse(&rows)).unwrap();
        assert_eq!(compact.rows.dimension(), 3);
        assert_eq!(
            (compact.rows.row(0), compact.rows.row(1)),
            ((&[0, 2][..], &[1.0, 2.0][..]), (&[1][..], &[3.0][..]))
        );
        assert_eq!(compact.rows.weights(), Some(&[1.0, 2.0][..]));
        let wide = compact.widened(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!((wide.len(), wide[0], wide[7], wide[9_999]), (20_000, 1.0, 2.0, 3.0));
        assert_eq!((wide[10_000], wide[10_007], wide[19_999]), (4.0, 5.0, 6.0));
        assert_eq!(wide.iter().filter(|value| **value != 0.0).count(), 6);
        let full = Sparse::from_rows([(0..4096).map(|j| (j, 1.0)).collect::<Vec<_>>()], 4096).unwrap();
        assert!(UsedColumns::of(Input::Sparse(&full)).is_none());
        let empty = Sparse::from_rows([Vec::<(u32, f64)>::new()], 5000).unwrap();
        assert_eq!(UsedColumns::of(Input::Sparse(&empty)).unwrap().widened(&[0.0]), vec![0.0; 5000]);
    }
}
