//! The cost of a row in a cluster of hard centres, for each storage of the rows.

use lehr_numerics::sparse::HardSparseCenters;

use super::centers::Centers;
use crate::rows::{BitDistance, Input, Rows, Scalar, SparseDistance, Storage};

/// The cost of a row in a cluster, a squared distance or nats; in stored units, in double precision.
pub(crate) struct CostIn<'a, T: Scalar> {
    pub input: Input<'a>,
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    /// The centres for rows that are stored sparse.
    pub sparse: Option<&'a SparseCenters<'a>>,
    /// The costs of rows of bits in each cluster, if they are not squared distances.
    pub costs: Option<&'a [BitDistance]>,
}

impl<T: Scalar> CostIn<'_, T> {
    /// Allocates a buffer for one row's position.
    pub(super) fn position(&self) -> Vec<f64> {
        vec![0.0; if self.sparse.is_some() || self.costs.is_some() { 0 } else { self.rows.dimension }]
    }

    /// Reads a row's position, before [`of`](Self::of) is called for it.
    pub(super) fn read(&self, row: u32, position: &mut [f64]) {
        if !position.is_empty() {
            self.rows.units.read_stored(self.input, row, position);
        }
    }

    /// The cost, in a cluster, of the row that was read last.
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

/// The centres that sparse rows are compared with at the end of a run, in double precision.
pub(crate) struct SparseCenters<'a> {
    /// The centres in the form that finds the nearest.
    pub(super) side_by_side: HardSparseCenters<f64>,
    /// The centres in the form that measures the distance.
    pub(super) distances: Vec<SparseDistance<'a>>,
}

impl<'a> SparseCenters<'a> {
    /// Returns `None` unless rows are stored sparse.
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
