//! Centres in the layout of the kernels, which have the coordinates of several centres side by side.

use lehr_numerics::bits::HardBitCenters;
use lehr_numerics::lanes::Real;
use lehr_numerics::nearest::HardCenters;
use lehr_numerics::sparse::HardSparseCenters;
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::centers::{Centers, Planes};
use crate::rows::bernoulli::form;
use crate::rows::{RowMajor, Rows, Storage};

/// Centres in the layout of the kernels for bits, for sparse rows and for many dimensions. The centres are prepared
/// once for each pass, because the preparation takes as long as about ten rows.
#[derive(Debug, Default)]
pub(crate) struct HardSideBySide<T: Real> {
    /// Stored positions, for rows of numbers in more than [`DIRECT_DIMENSION`] dimensions.
    pub numbers: HardCenters<T>,
    /// Positions in the coordinates of bits, for rows of bits.
    pub bits: HardBitCenters<T>,
    /// Stored positions, for sparse rows.
    pub sparse: HardSparseCenters<T>,
    /// The stored positions of the centres in `bits`. Most centres rest between two passes of the swap search, and need
    /// not be prepared again. Empty if the cost is not the squared distance, or if there are planes.
    rested: Vec<f64>,
}

impl<T: Real> HardSideBySide<T> {
    /// Prepares the centres. Does nothing for rows of numbers in few dimensions, because each leaf then selects its own
    /// centres.
    pub fn prepare(&mut self, rows: &Rows<T>, centers: &Centers, planes: Option<&Planes>) {
        match rows.storage {
            Storage::Bits => self.prepare_bits(rows, centers, planes),
            Storage::Sparse => self.prepare_sparse(&rows.units.scaled_origin, centers, planes),
            Storage::Numbers if rows.dimension > DIRECT_DIMENSION => {
                self.numbers.begin(rows.dimension);
                (0..centers.len()).for_each(|k| push(&mut self.numbers, centers, planes, k));
            }
            Storage::Numbers => {}
        }
    }

    fn prepare_bits(&mut self, rows: &Rows<T>, centers: &Centers, planes: Option<&Planes>) {
        let units = &rows.units;
        let has_rested = self.rested.len() == centers.values.len() && planes.is_none();
        if !has_rested {
            self.bits.begin(rows.dimension, centers.len());
        }
        let before = RowMajor::new(&self.rested, rows.dimension);
        for k in (0..centers.len()).filter(|&k| !has_rested || before.row(k) != centers.center(k)) {
            if rows.bernoulli.is_some() {
                let (constant, terms) = form(centers.center(k));
                self.bits.set_form(k, constant, terms);
                continue;
            }
            self.bits.set(k, &units.position(centers.center(k)));
            if let Some(planes) = planes {
                let normal = planes.normal(k);
                let zero: f64 = normal.iter().zip(&units.origin).map(|(n, zero)| n * zero).sum();
                self.bits.push_plane(normal, units.length * planes.thresholds[k] + zero);
            }
        }
        self.rested.clear();
        if rows.bernoulli.is_none() && planes.is_none() {
            self.rested.extend_from_slice(&centers.values);
        }
    }

    fn prepare_sparse(&mut self, origin: &[f64], centers: &Centers, planes: Option<&Planes>) {
        self.sparse.begin(centers.dimension, centers.len());
        for k in 0..centers.len() {
            self.sparse.set(k, centers.center(k), origin);
            if let Some(planes) = planes {
                self.sparse.push_plane(planes.normal(k), origin, planes.thresholds[k]);
            }
        }
    }
}

/// Adds centre `k`, with its plane if there are planes.
pub(crate) fn push<T: Real>(into: &mut HardCenters<T>, centers: &Centers, planes: Option<&Planes>, k: usize) {
    into.push(centers.center(k));
    if let Some(planes) = planes {
        into.push_plane(planes.normal(k), planes.thresholds[k]);
    }
}
