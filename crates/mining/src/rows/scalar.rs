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

/// The precision in which rows are stored. In both precisions, sums over rows are computed in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Double precision.
    #[default]
    F64,
    /// Single precision while annealing. It takes half the memory of double precision, and is about two and a half
    /// times as fast. The error of a row's position is 1e-7 times the distance of the farthest row from the mean.
    /// Clusters much narrower than a thousandth of this distance are therefore separated less reliably than in double
    /// precision. Labels, probabilities, centres and other results are still computed in double precision.
    F32,
}

#[cfg(target_family = "wasm")]
impl Precision {
    /// The error for single precision in a browser. To stay small, a page contains only the kernels for double
    /// precision.
    pub(crate) fn not_in_a_browser() -> crate::Error {
        crate::Error::Parameter {
            name: "precision",
            expected: "f64, the only one in a browser",
            found: "f32".to_owned(),
        }
    }
}

/// The buffers that a thread reuses for every leaf, so that rounds do not allocate memory.
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

/// The buffers for computations that reduce the weights of a leaf's rows.
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

/// A precision in which rows may be stored, with the buffers of the current thread.
pub(crate) trait Scalar: Real {
    /// The maximum difference between a score of a row and the best score of this row. Lower scores are left out. The
    /// share that is lost is at most about the rounding error of the precision.
    const CUT: f64;
    /// Returns the tiles if they hold the rows in double precision, and otherwise `None`.
    fn exact(tiles: &Tiles<Self>) -> Option<&Tiles<f64>>;
    /// Returns the sparse rows if they are in double precision, and otherwise `None`.
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
