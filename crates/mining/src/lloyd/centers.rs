//! Centres without masses, and the planes that divide their clusters.

use std::slice::{ChunksExact, ChunksExactMut};

use crate::rows::{RowMajor, RowMajorMut};

/// Centres, in stored units.
#[derive(Clone, Debug)]
pub(crate) struct Centers {
    pub dimension: usize,
    /// The coordinates, K x D.
    pub values: Vec<f64>,
}

impl Centers {
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    #[inline]
    pub fn center(&self, k: usize) -> &[f64] {
        RowMajor::new(&self.values, self.dimension).row(k)
    }

    #[inline]
    pub fn rows(&self) -> ChunksExact<'_, f64> {
        self.values.chunks_exact(self.dimension)
    }

    #[inline]
    pub fn rows_mut(&mut self) -> ChunksExactMut<'_, f64> {
        self.values.chunks_exact_mut(self.dimension)
    }

    /// Moves centre `k` to a position.
    pub fn set(&mut self, k: usize, position: &[f64]) {
        RowMajorMut::new(&mut self.values, self.dimension).row(k).copy_from_slice(position);
    }

    /// Moves centre `k` to a position far from all rows.
    pub fn set_away(&mut self, k: usize) {
        RowMajorMut::new(&mut self.values, self.dimension).row(k).fill(AWAY);
    }

    pub fn push(&mut self, position: &[f64]) {
        self.values.extend_from_slice(position);
    }

    pub fn remove(&mut self, k: usize) {
        self.values.drain(k * self.dimension..(k + 1) * self.dimension);
    }

    /// Removes the centres that have no mass.
    pub fn remove_empty(&mut self, masses: &[f64]) {
        (0..self.len()).rev().filter(|&k| masses[k] == 0.0).for_each(|k| self.remove(k));
    }

    pub fn squared_distance(&self, a: usize, b: usize) -> f64 {
        self.center(a).iter().zip(self.center(b)).map(|(x, y)| (x - y) * (x - y)).sum()
    }
}

/// A coordinate far from all rows. Rows are about 1 from the origin, so no row is nearest to a centre with this
/// coordinate.
pub(crate) const AWAY: f64 = 1e9;

/// Planes, each of which divides a cluster: normals (K x D) and thresholds.
#[derive(Clone, Debug)]
pub(crate) struct Planes {
    pub dimension: usize,
    pub normals: Vec<f64>,
    pub thresholds: Vec<f64>,
}

impl Planes {
    /// The normal of plane `k`.
    #[inline]
    pub fn normal(&self, k: usize) -> &[f64] {
        RowMajor::new(&self.normals, self.dimension).row(k)
    }

    pub fn normal_mut(&mut self, k: usize) -> &mut [f64] {
        RowMajorMut::new(&mut self.normals, self.dimension).into_row(k)
    }

    /// Swaps the two sides of plane `k`.
    pub fn reverse(&mut self, k: usize) {
        self.normal_mut(k).iter_mut().for_each(|n| *n = -*n);
        self.thresholds[k] = -self.thresholds[k];
    }
}
