//! Computes the cost of a row in a cluster, for each storage of the rows.

use lehr_numerics::sparse::HardSparseCenters;

use super::centers::Centers;
use crate::rows::{BitDistance, Input, Rows, Scalar, SparseDistance, Storage};

/// Computes the cost of a row in a cluster in double precision: a squared distance in stored units, or nats.
pub(crate) struct CostIn<'a, T: Scalar> {
    pub input: Input<'a>,
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    /// The centres for rows that are stored sparse.
    pub sparse: Option<&'a SparseCenters<'a>>,
    /// For rows of bits whose cost is not the squared distance, the costs in each cluster.
    pub costs: Option<&'a [BitDistance]>,
}

impl<T: Scalar> CostIn<'_, T> {
    /// Allocates a buffer for one row's position.
    pub(super) fn position(&self) -> Vec<f64> {
        vec![0.0; if self.sparse.is_some() || self.costs.is_some() { 0 } else { self.rows.dimension }]
    }

    /// Reads a row's position, which [`of`](Self::of) needs.
    pub(super) fn read(&self, row: u32, position: &mut [f64]) {
        if !position.is_empty() {
            self.rows.units.read_stored(self.input, row, position);
        }
    }

    /// The cost of a row in a cluster. `position` is the row's position from [`read`](Self::read).
    pub(super) fn of(&self, row: u32, cluster: usize, position: &[f64]) -> f64 {
        match (self.input, self.sparse, self.costs) {
            (Input::Sparse(input), Some(centers), _) => {
                centers.distances[cluster].of(self.rows.units.entries(input, row))
            }
            (Input::Bits(input), _, Some(costs)) => costs[cluster].of(input.row(row as usize)),
            _ => position.iter().zip(self.centers.center(cluster)).map(|(x, y)| (x - y) * (x - y)).sum(),
        }
    }
}

/// The centres in double precision, with which sparse rows are compared at the end of a run.
pub(crate) struct SparseCenters<'a> {
    /// The centres in the layout of the kernel that finds the nearest centre.
    pub(super) side_by_side: HardSparseCenters<f64>,
    /// The distance of a row from each centre.
    pub(super) distances: Vec<SparseDistance<'a>>,
}

impl<'a> SparseCenters<'a> {
    /// Prepares the centres. Returns `None` if rows are not stored sparse.
    pub(super) fn new<T: Scalar>(rows: &'a Rows<T>, centers: &Centers) -> Option<Self> {
        if rows.storage != Storage::Sparse {
            return None;
        }
        let (mut side_by_side, origin) = (HardSparseCenters::default(), &rows.units.scaled_origin[..]);
        side_by_side.begin(rows.dimension, centers.len());
        (0..centers.len()).for_each(|k| side_by_side.set(k, centers.center(k), origin));
        let distances = (0..centers.len()).map(|k| SparseDistance::to(origin, centers.center(k))).collect();
        Some(Self { side_by_side, distances })
    }
}
