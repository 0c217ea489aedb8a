//! Neighbours: ranks on a line or a grid, where each dimension is open at its ends or closed to a ring.

use std::ops::Range;

/// Whether the ranks at the two ends of a dimension are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// The ranks at the two ends are not neighbours, so each of them has one neighbour fewer (paper 001 figure 1d).
    Open,
    /// The ranks at the two ends are neighbours, so that the ranks form a ring or, in several dimensions, a torus
    /// (paper 001 figure 1c).
    Periodic,
}

/// Ranks on a Cartesian grid, numbered so that the last coordinate varies fastest.
///
/// Directions have numbers too: direction 2d leads to the lower neighbour in dimension d, direction 2d + 1 to the upper
/// neighbour.
///
/// # Example
/// ```
/// use lehr_ranks::{Boundary, Grid};
/// let torus = Grid::new(&[(2, Boundary::Periodic), (3, Boundary::Periodic)]);
/// assert_eq!((torus.size(), torus.coordinates(5)), (6, vec![1, 2]));
/// assert_eq!(torus.neighbour(5, 0, 1), Some(2)); // up in the first dimension, around
/// assert_eq!(torus.neighbour(5, 1, 1), Some(3)); // up in the second, around
/// let line = Grid::line(3, Boundary::Open);
/// assert_eq!((line.neighbour(2, 0, -1), line.neighbour(2, 0, 1)), (Some(1), None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    dimensions: Vec<(usize, Boundary)>,
}

impl Grid {
    /// Creates a grid with this many ranks in each dimension.
    ///
    /// # Panics
    /// Panics if there are no dimensions, or if a dimension has no ranks.
    pub fn new(dimensions: &[(usize, Boundary)]) -> Self {
        assert!(
            !dimensions.is_empty() && dimensions.iter().all(|(extent, _)| *extent > 0),
            "a grid has ranks in each dimension"
        );
        Self { dimensions: dimensions.to_vec() }
    }

    /// Creates a line or, with a periodic boundary, a ring of `size` ranks.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    pub fn line(size: usize, boundary: Boundary) -> Self {
        Self::new(&[(size, boundary)])
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.dimensions.iter().map(|(extent, _)| extent).product()
    }

    /// Returns the numbers of all directions, two for each dimension.
    pub fn directions(&self) -> Range<usize> {
        0..2 * self.dimensions.len()
    }

    /// Returns a number that distinguishes different grids of the same size.
    pub(crate) fn digest(&self) -> usize {
        self.dimensions.iter().fold(1, |digest: usize, (extent, boundary)| {
            digest.wrapping_mul(1_000_003).wrapping_add(2 * extent + usize::from(*boundary == Boundary::Open))
        })
    }

    /// Returns the coordinates of a rank.
    ///
    /// # Panics
    /// Panics if there is no rank with this number.
    pub fn coordinates(&self, rank: usize) -> Vec<usize> {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        let mut rest = rank;
        let mut coordinates = vec![0; self.dimensions.len()];
        for (coordinate, (extent, _)) in coordinates.iter_mut().zip(&self.dimensions).rev() {
            *coordinate = rest % extent;
            rest /= extent;
        }
        coordinates
    }

    /// Returns the rank at the given coordinates.
    ///
    /// # Panics
    /// Panics if the coordinates are not on the grid.
    pub fn rank(&self, coordinates: &[usize]) -> usize {
        assert_eq!(coordinates.len(), self.dimensions.len(), "one coordinate for each dimension");
        coordinates.iter().zip(&self.dimensions).fold(0, |rank, (coordinate, (extent, _))| {
            assert!(coordinate < extent, "coordinate {coordinate} of {extent}");
            rank * extent + coordinate
        })
    }

    /// Returns the rank that is `displacement` positions up (down, if negative) in a dimension; `None` beyond an open
    /// boundary.
    ///
    /// # Panics
    /// Panics if there is no rank or no dimension with this number.
    pub fn neighbour(&self, rank: usize, dimension: usize, displacement: isize) -> Option<usize> {
        let mut coordinates = self.coordinates(rank);
        let (extent, boundary) = self.dimensions[dimension];
        let place = coordinates[dimension] as isize + displacement;
        coordinates[dimension] = match boundary {
            Boundary::Periodic => place.rem_euclid(extent as isize) as usize,
            Boundary::Open => usize::try_from(place).ok().filter(|place| *place < extent)?,
        };
        Some(self.rank(&coordinates))
    }

    /// Returns a rank's neighbour in a direction; `None` beyond an open boundary.
    ///
    /// # Panics
    /// Panics if there is no rank or no direction with this number.
    pub fn towards(&self, rank: usize, direction: usize) -> Option<usize> {
        self.neighbour(rank, direction / 2, if direction.is_multiple_of(2) { -1 } else { 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_ranks_are_inverse() {
        let grid = Grid::new(&[(2, Boundary::Open), (3, Boundary::Periodic), (4, Boundary::Open)]);
        assert_eq!(grid.size(), 24);
        for rank in 0..24 {
            assert_eq!(grid.rank(&grid.coordinates(rank)), rank);
        }
    }

    #[test]
    fn whoever_is_my_upper_neighbour_has_me_as_lower_one() {
        for boundaries in [[Boundary::Open, Boundary::Periodic], [Boundary::Periodic, Boundary::Open]] {
            for (rows, columns) in [(1, 1), (2, 3), (1, 5), (4, 2)] {
                let grid = Grid::new(&[(rows, boundaries[0]), (columns, boundaries[1])]);
                let mut neighbours = 0;
                for rank in 0..grid.size() {
                    for direction in grid.directions() {
                        if let Some(other) = grid.towards(rank, direction) {
                            assert_eq!(grid.towards(other, direction ^ 1), Some(rank));
                            neighbours += 1;
                        }
                    }
                }
                let links = |extent: usize, boundary| if boundary == Boundary::Open { extent - 1 } else { extent };
                let expected = links(rows, boundaries[0]) * columns + links(columns, boundaries[1]) * rows;
                assert_eq!(neighbours, 2 * expected);
            }
        }
    }
}
