//! Views slices as matrices in row-major order.
//!
//! Centres, directions and sums are stored in this order. The views compute where row `k` begins.

use std::slice::ChunksExact;

/// A read-only view of a slice as a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowMajor<'a, X = f64> {
    values: &'a [X],
    width: usize,
}

impl<'a, X> RowMajor<'a, X> {
    /// Views a slice as rows of `width` values. Values after the last complete row are ignored.
    #[inline]
    pub fn new(values: &'a [X], width: usize) -> Self {
        Self { values, width }
    }

    /// Row `k`.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[inline]
    pub fn row(self, k: usize) -> &'a [X] {
        let start = k * self.width;
        &self.values[start..start + self.width]
    }

    /// All rows in order.
    #[inline]
    pub fn rows(self) -> ChunksExact<'a, X> {
        self.values.chunks_exact(self.width)
    }
}

/// A mutable view of a slice as a matrix.
#[derive(Debug)]
pub(crate) struct RowMajorMut<'a, X = f64> {
    values: &'a mut [X],
    width: usize,
}

impl<'a, X> RowMajorMut<'a, X> {
    /// Views a slice as rows of `width` values, like [`RowMajor::new`].
    #[inline]
    pub fn new(values: &'a mut [X], width: usize) -> Self {
        Self { values, width }
    }

    /// Row `k`.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[inline]
    pub fn row(&mut self, k: usize) -> &mut [X] {
        let start = k * self.width;
        &mut self.values[start..start + self.width]
    }

    /// Row `k`, with the lifetime of the slice.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[inline]
    pub fn into_row(self, k: usize) -> &'a mut [X] {
        let start = k * self.width;
        &mut self.values[start..start + self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_one_after_the_other() {
        let mut values = [0, 1, 2, 3, 4, 5, 6];
        let matrix = RowMajor::new(&values, 3);
        assert_eq!(matrix.row(1), [3, 4, 5]);
        assert!(matrix.rows().eq([&[0, 1, 2][..], &[3, 4, 5]]));
        let mut matrix = RowMajorMut::new(&mut values, 3);
        matrix.row(1)[0] = 30;
        matrix.into_row(0)[1] = 10;
        assert_eq!(values, [0, 10, 2, 30, 4, 5, 6]);
    }

    #[test]
    #[should_panic = "out of range"]
    fn there_is_no_row_behind_the_last_whole_one() {
        RowMajor::new(&[0, 1, 2, 3], 3).row(1);
    }
}
