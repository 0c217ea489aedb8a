//! Stores the rows of a run in the form that all methods use. The rows are divided into leaves of nearby rows. Their
//! coordinates are relative to the mean, in a unit in which they are about 1.
//!
//! `layout.rs` decides which rows a leaf holds, and `units.rs` computes the origin and the units. `store.rs` decides
//! whether rows are stored as numbers, as bits or sparse. `leaves.rs` makes the leaves, in memory or in a file. All
//! four files depend on the data alone, so results are bit-identical for any number of ranks.

pub(crate) mod bernoulli;
mod cost;
mod covariance;
mod distance;
mod input;
mod layout;
mod leaves;
mod packed;
mod row_major;
mod scalar;
mod span;
mod sparse;
mod spill;
mod store;
mod units;
mod used;

use std::cell::LazyCell;

use lehr_data::Points;
use lehr_numerics::compensated::Sum;
use lehr_numerics::lanes::Real;

use bernoulli::Bernoulli;
use layout::Layout;
use units::Survey;

pub use cost::Cost;
pub(crate) use covariance::CovarianceRound;
pub(crate) use distance::BitDistance;
pub use input::Input;
use input::MOST_COORDINATES;
pub(crate) use input::PLACE;
use leaves::Leaf;
pub(crate) use packed::Packed;
pub(crate) use row_major::{RowMajor, RowMajorMut};
pub use scalar::Precision;
pub(crate) use scalar::{Scalar, Scratch, WeightedScratch};
pub(crate) use span::Span;
pub(crate) use sparse::{SparseDistance, entries};
pub(crate) use store::{OverStore, Storage};
pub(crate) use units::{FARTHEST, Units};
pub(crate) use used::UsedColumns;

use crate::Error;
use crate::summary::Summary;

/// The minimum number of rows for which several threads arrange the rows.
const WORTH_THREADS: usize = 1 << 14;

/// All rows of a run.
#[derive(Debug)]
pub(crate) struct Rows<T: Real> {
    pub leaves: Vec<Leaf<T>>,
    pub dimension: usize,
    /// The number of rows of positive weight.
    pub count: usize,
    /// A number of rows for which a `Partition` has as many leaves as there are in `leaves`. It equals `count`, unless
    /// leaves are larger because there are many dimensions.
    pub dealt: usize,
    /// The number of rows in a leaf. The last leaf may have fewer.
    pub leaf_rows: usize,
    /// How all leaves store their rows.
    pub storage: Storage,
    pub units: Units,
    /// The sum of the stored weights.
    pub total_weight: f64,
    /// The stored weight that counts as one row: `sum w^2 / sum w`, which is 1 if all rows weigh 1. The total weight
    /// divided by this weight is the effective sample size, `(sum w)^2 / sum w^2` (Kish 1965). Priors and criteria that
    /// count rows use this weight, so that the unit of weights does not affect results.
    pub row_weight: f64,
    /// For rows of bits, whether every sum of stored weights is exact, in any order. All weights are then multiples of a
    /// power of two, and their sum is less than 2^53 times this power. Counts have exact sums, and so have rows without
    /// weights.
    pub has_exact_sums: bool,
    /// The Bernoulli cost; `None` if the cost of a row is its squared distance from the centre. With the Bernoulli
    /// cost, rows are bits that are stored unchanged, with the origin at 0 and the unit 1.
    pub bernoulli: Option<Bernoulli>,
    /// The centre of all rows as a single cluster, in stored units.
    pub middle: Vec<f64>,
    /// The weighted cost of all rows as a single cluster. For squared distances, this cost is the weighted sum of the
    /// squared lengths of the rows.
    pub square: f64,
    /// The sum of squares within cells, if these rows are the means of cells of other rows. This sum is added to every
    /// cost. `None` if the rows do not represent other rows.
    pub hidden: Option<f64>,
}

/// The leaf that a round maps, with the memory for the computation.
pub(crate) struct Work<'w, T: Real> {
    /// The number of the leaf.
    pub leaf: usize,
    /// This thread's buffers.
    pub scratch: &'w mut Scratch<T>,
    /// The sums of the leaf, which are 0 at first.
    pub partial: &'w mut [f64],
}

impl<T: Scalar> Rows<T> {
    /// Computes the sums of a leaf, with the implementation for the way in which its rows are stored.
    pub fn map(&self, computation: &impl for<'w> OverStore<T, Work<'w, T>>, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        T::with_scratch(|scratch| self.leaves[leaf].store.apply(computation, Work { leaf, scratch, partial }));
    }
}

impl<T: Real> Rows<T> {
    /// Arranges the rows of the input. Cost: N log N operations and one copy of the rows. If the rows are in a file,
    /// the copy is in a file too.
    ///
    /// # Errors
    /// Returns [`Error::TooFar`] if squared distances would overflow, [`Error::TooManyPoints`], or [`Error::Spill`].
    pub fn new<'a>(input: impl Into<Input<'a>>) -> Result<Self, Error> {
        Self::laid_out(input.into(), Cost::Squared, &[], 1)
    }

    /// Arranges the rows on several threads, for any cost.
    ///
    /// # Errors
    /// Returns the errors of [`Rows::new`] and of the threads.
    pub fn on_threads(input: Input<'_>, cost: Cost, threads: usize) -> Result<Self, Error> {
        Self::laid_out(input, cost, &[], threads)
    }

    /// Arranges the rows in a unit that is large enough for both the rows and `positions`, which are stored row after
    /// row. Rows that are close together may be far from the positions, and squared distances between them must be
    /// finite.
    ///
    /// # Errors
    /// Returns the errors of [`Rows::new`]. Positions that are too far away cause [`Error::TooFar`] as well.
    pub fn among<'a>(input: impl Into<Input<'a>>, positions: &[f64]) -> Result<Self, Error> {
        Self::laid_out(input.into(), Cost::Squared, positions, 1)
    }

    fn laid_out(input: Input<'_>, cost: Cost, positions: &[f64], threads: usize) -> Result<Self, Error> {
        // For few rows, starting threads takes longer than arranging the rows.
        let threads = if input.len() < WORTH_THREADS { 1 } else { threads };
        let dimension = input.dimension();
        if u32::try_from(input.len()).is_err() {
            return Err(Error::TooManyPoints { points: input.len() });
        }
        let (heavy, light): (Vec<u32>, Vec<u32>) =
            (0..input.len() as u32).partition(|&row| input.weight(row as usize) > 0.0);
        let survey = Survey::new(input, &heavy, positions, threads)?;
        let (length, Survey { means, total_weight, row_weight, weight_unit, .. }) = (survey.length(), survey);
        let bernoulli = match cost {
            Cost::Squared => None,
            Cost::Bernoulli { prior } => Some(Bernoulli { prior: prior * row_weight }),
        };
        let (units, middle) = match bernoulli {
            None => (Units::new(means, length, weight_unit), vec![0.0; dimension]),
            Some(bernoulli) => {
                let frequency = |mean: &f64| bernoulli.frequency(mean * total_weight, total_weight);
                (Units::new(vec![0.0; dimension], 1.0, weight_unit), means.iter().map(frequency).collect())
            }
        };
        let storage = Storage::of(input, bernoulli.is_none());
        let has_exact_sums =
            storage == Storage::Bits && has_exact_sums(heavy.iter().map(|&row| input.weight(row as usize)));
        let layout = Layout::new(input, heavy, light, storage, threads)?;
        let mut rows = Self {
            leaves: leaves::make(input, &layout, &units, storage, threads)?,
            dimension,
            count: layout.heavy.len(),
            dealt: layout.deal.dealt,
            leaf_rows: layout.deal.leaf_rows,
            storage,
            units,
            total_weight,
            row_weight,
            has_exact_sums,
            bernoulli,
            middle,
            square: 0.0,
            hidden: None,
        };
        rows.square = rows.square_about_middle();
        Ok(rows)
    }

    /// Creates rows that represent `others`, which must be rows of numbers. The new rows are the means of the cells in
    /// `summary`, in the same units.
    ///
    /// # Errors
    /// Returns [`Error::Data`] if a position or a weight is not finite.
    pub fn standing_for(others: &Self, summary: Summary) -> Result<Self, Error> {
        let Summary { dimension, means, weights, hidden, .. } = summary;
        let points = Points::new(means, dimension)?.with_weights(weights)?;
        let input = Input::from(&points);
        // The means are in stored units already, so they are not converted again.
        let as_they_are = Units::new(vec![0.0; dimension], 1.0, 1.0);
        let layout = Layout::of_cells(input)?;
        let mut rows = Self {
            leaves: leaves::make(input, &layout, &as_they_are, Storage::Numbers, 1)?,
            count: layout.heavy.len(),
            dealt: layout.deal.dealt,
            leaf_rows: layout.deal.leaf_rows,
            units: others.units.clone(),
            middle: others.middle.clone(),
            has_exact_sums: false,
            bernoulli: None,
            hidden: Some(hidden),
            ..*others
        };
        rows.square = rows.square_about_middle() + hidden;
        Ok(rows)
    }

    fn square_about_middle(&self) -> f64 {
        let distance = LazyCell::new(|| BitDistance::to(self, &self.middle));
        Sum::of(self.leaves.iter().map(|leaf| leaf.store.square(|bits| distance.of(bits))))
    }

    /// The effective sample size, see [`row_weight`](Self::row_weight).
    pub fn effective(&self) -> f64 {
        self.total_weight / self.row_weight
    }

    /// Computes a coordinate of a centre from the centre's mass and the sum of its rows' coordinates. The mass must be
    /// positive.
    pub fn center_of(&self, sum: f64, mass: f64) -> f64 {
        self.bernoulli.map_or(sum / mass, |bernoulli| bernoulli.frequency(sum, mass))
    }

    /// The part of the cost that depends only on the centres, not on the rows.
    pub fn penalty(&self, centers: &[f64]) -> f64 {
        self.bernoulli.map_or(0.0, |bernoulli| bernoulli.penalty(centers))
    }

    /// The maximum number of centres that fit in memory. The number is limited only for sparse rows, because their
    /// centres are not sparse.
    pub fn most_centers(&self) -> usize {
        match self.storage {
            Storage::Sparse => MOST_COORDINATES / self.dimension,
            Storage::Numbers | Storage::Bits => usize::MAX,
        }
    }
}

/// Whether every sum of these positive weights is exact, in any order. Dividing all weights by a power of two does not
/// change this.
fn has_exact_sums(weights: impl Iterator<Item = f64>) -> bool {
    const FRACTION: u64 = f64::MANTISSA_DIGITS as u64 - 1;
    // The exponent, with the bias of stored numbers, of the largest power of two that divides all weights.
    let (mut lowest, mut total) = (u64::MAX, 0.0);
    for weight in weights {
        let (exponent, fraction) = (weight.to_bits() >> FRACTION, weight.to_bits() & ((1 << FRACTION) - 1));
        let zeros = u64::from((fraction | 1 << FRACTION).trailing_zeros());
        // Smaller weights than this are too rare to be worth a closer look.
        let Some(power) = (exponent + zeros).checked_sub(FRACTION).filter(|&power| power > 0) else { return false };
        lowest = lowest.min(power);
        total += weight;
    }
    lowest == u64::MAX || total < f64::from_bits(lowest << FRACTION) * (1u64 << f64::MANTISSA_DIGITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_counts_and_of_equal_powers_of_two_are_exact() {
        let exact = |weights: &[f64]| has_exact_sums(weights.iter().copied());
        assert!(exact(&[]) && exact(&[1.0; 9]) && exact(&[3.0, 8.0, 1e6]) && exact(&[0.25, 0.375]));
        assert!(
            !exact(&[0.1, 0.2, 0.7]) && !exact(&[1.0, 1e-300]) && !exact(&[1.0, 2f64.powi(53)]) && !exact(&[5e-324])
        );
        assert!(exact(&[0.1]), "a single weight is its own sum, but");
        assert!(!exact(&[0.1; 3]), "three times 0.1 is rounded");
    }

    #[test]
    fn leaves_are_small_boxes_and_every_run_of_them_spans_the_data() {
        let (points, _) = lehr_data::synthetic::lattice(&[40, 40], 20, 0.3, 1);
        let rows = Rows::<f64>::new(&points).unwrap();
        let side = |bounds: &[f64]| (bounds[2] - bounds[0]).max(bounds[3] - bounds[1]);
        let whole = rows.leaves.iter().fold(0.0f64, |most, leaf| most.max(leaf.bounds[2].abs()));
        let mean = rows.leaves.iter().map(|leaf| side(&leaf.bounds)).sum::<f64>() / rows.leaves.len() as f64;
        // With 32,000 rows in leaves of 64, the side of a box is about 1/22 of the side of the square.
        assert!(mean < whole / 5.0, "mean side {mean} of half a side {whole}");
        for run in rows.leaves.chunks(rows.leaves.len() / 8) {
            let (least, most) = run.iter().fold((f64::MAX, f64::MIN), |(least, most), leaf| {
                (least.min(leaf.bounds[0]), most.max(leaf.bounds[2]))
            });
            assert!(most - least > whole, "a run of leaves spans {least} to {most}");
        }
    }

    #[test]
    fn every_row_is_in_one_leaf_once() {
        let (points, _) = lehr_data::synthetic::lattice(&[3, 3], 777, 0.3, 1);
        let weights = (0..points.len()).map(|row| (row % 3) as f64).collect();
        let rows = Rows::<f32>::new(&points.with_weights(weights).unwrap()).unwrap();
        let mut seen: Vec<u32> =
            rows.leaves.iter().flat_map(|leaf| leaf.rows.iter().chain(&leaf.bystander_rows)).copied().collect();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..9 * 777));
        assert!(rows.leaves.iter().flat_map(|leaf| &leaf.bystander_rows).all(|row| row % 3 == 0));
    }
}
