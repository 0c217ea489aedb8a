//! Matrices as slices: rows of equal width, one after another.
//!
//! Centres, directions and sums have this layout. With this view, the code that finds row `k` is in one place.

use std::slice::ChunksExact;

/// A matrix for reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowMajor<'a, X = f64> {
    values: &'a [X],
    width: usize,
}

impl<'a, X> RowMajor<'a, X> {
    /// Views a slice as rows of `width` numbers; numbers after the last whole row are ignored.
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

/// A matrix for writing.
#[derive(Debug)]
pub(crate) struct RowMajorMut<'a, X = f64> {
    values: &'a mut [X],
    width: usize,
}

impl<'a, X> RowMajorMut<'a, X> {
    /// Like [`RowMajor::new`].
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

    /// Row `k`, for as long as the matrix is borrowed.
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
