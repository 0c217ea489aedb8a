//! The precision in which rows are stored, and each thread's buffers for kernels of that precision.

use std::cell::RefCell;

use lehr_numerics::bits::BitScratch;
use lehr_numerics::gaussian::GaussianScratch;
use lehr_numerics::lanes::Real;
use lehr_numerics::nearest::{HardCenters, HardScratch};
use lehr_numerics::soft::{SoftCenters, SoftScratch};
use lehr_numerics::sparse::{SparseRows, SparseScratch};
use lehr_numerics::tiles::Tiles;
use serde::{Deserialize, Serialize};

/// The precision in which rows are stored. Sums over rows are in double precision for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Double precision.
    #[default]
    F64,
    /// Single precision while annealing: half the memory, and about two and a half times the speed. The error of a
    /// row's position is 1e-7 of the distance of the farthest row from the mean. So clusters much narrower than a
    /// thousandth of that distance are separated less reliably than in double precision. Labels, probabilities, centres
    /// and figures are still computed in double precision.
    F32,
}

#[cfg(target_family = "wasm")]
impl Precision {
    /// The error for single precision. A page has the kernels once, which keeps it small.
    pub(crate) fn not_in_a_browser() -> crate::Error {
        crate::Error::Parameter {
            name: "precision",
            expected: "f64, the only one in a browser",
            found: "f32".to_owned(),
        }
    }
}

/// The memory that a thread reuses from leaf to leaf, so that no round allocates.
#[derive(Debug, Default)]
pub(crate) struct Scratch<T: Real> {
    pub active: Vec<usize>,
    pub reach: Vec<f64>,
    pub sums: Vec<f64>,
    pub soft_centers: SoftCenters<T>,
    pub soft: SoftScratch<T>,
    pub hard_centers: HardCenters<T>,
    pub hard: HardScratch<T>,
    pub bits: BitScratch<T>,
    pub sparse: SparseScratch<T>,
    pub weighted: WeightedScratch<T>,
}

/// Memory for a leaf's rows with other weights.
#[derive(Debug, Default)]
pub(crate) struct WeightedScratch<T: Real> {
    pub gaussian: GaussianScratch<T>,
    pub memberships: Vec<f64>,
    pub log_sums: Vec<f64>,
    pub row: Vec<f64>,
    pub rows: Vec<f64>,
    pub weights: Vec<f64>,
}

thread_local! {
    static SCRATCH_F64: RefCell<Scratch<f64>> = RefCell::default();
    static SCRATCH_F32: RefCell<Scratch<f32>> = RefCell::default();
}

/// A precision in which rows may be stored, with this thread's buffers.
pub(crate) trait Scalar: Real {
    /// The largest difference of a score from the best one of its row: scores further below are left out. The largest
    /// share lost is about the precision's own error.
    const CUT: f64;
    /// The tiles themselves, if they hold the rows in double precision.
    fn exact(tiles: &Tiles<Self>) -> Option<&Tiles<f64>>;
    /// The sparse rows themselves, if they are in double precision.
    fn exact_sparse(rows: &SparseRows<Self>) -> Option<&SparseRows<f64>>;
    fn with_scratch<R>(f: impl FnOnce(&mut Scratch<Self>) -> R) -> R;
}

impl Scalar for f64 {
    const CUT: f64 = 37.0; // exp(-37) = 8.5e-17
    fn exact(tiles: &Tiles<f64>) -> Option<&Tiles<f64>> {
        Some(tiles)
    }
    fn exact_sparse(rows: &SparseRows<f64>) -> Option<&SparseRows<f64>> {
        Some(rows)
    }
    fn with_scratch<R>(f: impl FnOnce(&mut Scratch<Self>) -> R) -> R {
        SCRATCH_F64.with_borrow_mut(f)
    }
}

impl Scalar for f32 {
    const CUT: f64 = 17.0; // exp(-17) = 4.1e-8
    fn exact(_: &Tiles<f32>) -> Option<&Tiles<f64>> {
        None
    }
    fn exact_sparse(_: &SparseRows<f32>) -> Option<&SparseRows<f64>> {
        None
    }
    fn with_scratch<R>(f: impl FnOnce(&mut Scratch<Self>) -> R) -> R {
        SCRATCH_F32.with_borrow_mut(f)
    }
}
