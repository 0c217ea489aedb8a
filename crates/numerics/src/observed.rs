//! Soft assignment of rows with missing cells, together with the sums for the next centres.
//!
//! The sums are the same as in [`crate::soft`] with equal priors, but only over the coordinates that a row has. `o_j`
//! is 1 if coordinate j is present and 0 if it is missing:
//!
//! ```text
//! score_k = -sum_j o_j (x_j - y_kj)^2 / T        m_k = exp(score_k) / sum_l exp(score_l)
//! C_kj += w m_k o_j      S_kj += w m_k o_j x_j      F += -T w ln sum_k exp(score_k)
//! ```
//!
//! Each coordinate has its own mass, because not all rows have it. Scores are in units of `ln 2`, as in
//! [`crate::soft`]. One tile is handled at a time. With twice as many sums, no registers are left for more tiles, and
//! tables with missing values are the exception.

use crate::dispatch::kernel;
use crate::lanes::Real;
use crate::line_sums::add_line_sums;
use crate::soft::{SoftTotals, finish, shares};
use crate::tiles::Tiles;

/// The buffers of [`observed_sums`], which are reused from block to block so that loops do not allocate.
#[derive(Clone, Debug, Default)]
pub struct ObservedScratch<T: Real> {
    centers: Vec<T>,
    scores: Vec<T::Line>,
    sums: Vec<T::Line>,
}

/// Adds the sums of one block to `sums` (K x 2 D). For each centre, they are the mass `C_kj` of each coordinate, then
/// its first moment `S_kj`.
///
/// `observed` has the shape of `tiles`: 1 if a coordinate is present, 0 if it is missing. Values of `tiles` at missing
/// coordinates must be finite, and are ignored. `centers` is K x D, relative to the rows' origin; `temperature` is in
/// the squared unit of the rows.
///
/// Cost: rows x K x (5 D operations + one exponential). It allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, if there is no centre, or if `temperature` is not positive.
///
/// # Example
/// ```
/// use lehr_numerics::{observed::{ObservedScratch, observed_sums}, tiles::Tiles};
/// let (rows, there) = ([[1.0, 0.0], [3.0, 5.0]], [[1.0, 0.0], [1.0, 1.0]]);
/// let tiles = Tiles::<f64>::new(2, 2, &[0.0; 2], |i| &rows[i], |_| 1.0);
/// let observed = Tiles::<f64>::new(2, 2, &[0.0; 2], |i| &there[i], |_| 1.0);
/// let mut sums = [0.0; 4];
/// let totals = observed_sums(&tiles, &observed, &[1.0, 4.0], 2.0, &mut ObservedScratch::default(), &mut sums);
/// assert_eq!(sums, [2.0, 1.0, 4.0, 5.0]); // both rows have the first coordinate, one has the second
/// assert!((totals.free_energy - 5.0).abs() < 1e-12); // one centre: 0 from the first row, 4 + 1 from the second
/// ```
pub fn observed_sums<T: Real>(
    tiles: &Tiles<T>,
    observed: &Tiles<T>,
    centers: &[f64],
    temperature: f64,
    scratch: &mut ObservedScratch<T>,
    sums: &mut [f64],
) -> SoftTotals {
    let dimension = tiles.dimension();
    let count = centers.len() / dimension;
    assert!(temperature > 0.0, "a positive temperature");
    assert!(count > 0 && centers.len() == count * dimension, "at least one whole centre");
    assert!(observed.rows() == tiles.rows() && observed.dimension() == dimension, "a flag for each cell");
    assert_eq!(sums.len(), count * 2 * dimension);
    scratch.centers.clear();
    scratch.centers.extend(centers.iter().map(|&y| T::from_f64(y)));
    scratch.scores.resize(count, T::Line::default());
    scratch.sums.clear();
    scratch.sums.resize(sums.len(), T::Line::default());
    let scale = T::from_f64(std::f64::consts::LOG2_E / temperature);
    let ObservedScratch { centers, scores, sums: lines } = scratch;
    let (log_sum, softness) = sums_of::<T>(tiles, observed, centers, scale, scores, lines);
    add_line_sums::<T>(lines, sums);
    SoftTotals { free_energy: -temperature * std::f64::consts::LN_2 * log_sum, softness }
}

kernel! {
    fn sums_of[T; V](
        tiles: &Tiles<T>,
        observed: &Tiles<T>,
        centers: &[T],
        scale: T,
        scores: &mut [T::Line],
        sums: &mut [T::Line],
    ) -> (f64, f64) {
        let dimension = tiles.dimension();
        let zero = V::splat(T::default());
        let scale = V::splat(scale);
        let mut totals = [zero; 2];
        let (scores, _) = scores.as_chunks_mut::<1>();
        for tile in 0..tiles.weights().len() {
            let x = &tiles.values()[tile * dimension..][..dimension];
            let there = &observed.values()[tile * dimension..][..dimension];
            let mut most = [V::splat(T::from_f64(f64::NEG_INFINITY))];
            for k in 0..scores.len() {
                let y = &centers[k * dimension..][..dimension];
                let mut square = zero;
                for j in 0..dimension {
                    let difference = V::load(&x[j]).sub(V::splat(y[j])).mul(V::load(&there[j]));
                    square = difference.mul_add(difference, square);
                }
                let value = square.neg_mul_add(scale, zero);
                value.store(&mut scores[k][0]);
                most[0] = value.max(most[0]);
            }
            let share = shares::<T, V, 1>(scores, &tiles.weights()[tile..], most, &mut totals);
            for k in 0..scores.len() {
                let member = V::load(&scores[k][0]).mul(share[0]);
                let (masses, firsts) = sums[k * 2 * dimension..][..2 * dimension].split_at_mut(dimension);
                for j in 0..dimension {
                    let part = member.mul(V::load(&there[j]));
                    let mass = V::load(&masses[j]).add(part);
                    mass.store(&mut masses[j]);
                    let first = part.mul_add(V::load(&x[j]), V::load(&firsts[j]));
                    first.store(&mut firsts[j]);
                }
            }
        }
        finish(totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_each;
    use crate::random::Stream;
    use crate::soft::{SoftCenters, SoftScratch, Sums, soft_sums};

    struct Case {
        dimension: usize,
        values: Vec<f64>,
        there: Vec<f64>,
        weights: Vec<f64>,
        centers: Vec<f64>,
    }

    impl Case {
        /// Creates a problem; `kept` is the share of cells that are present.
        fn new(rows: usize, dimension: usize, count: usize, kept: f64) -> Self {
            let stream = Stream::new((rows * 100 + dimension) as u64, "observed");
            let normal = |at: usize| stream.normal(at as u64);
            let cells = rows * dimension;
            Self {
                dimension,
                values: (0..cells).map(normal).collect(),
                there: (0..cells)
                    .map(|at| f64::from(u8::from(stream.uniform((5 * cells + at) as u64) < kept)))
                    .collect(),
                weights: (0..rows).map(|row| ((row + 1) % 4) as f64).collect(),
                centers: (0..count * dimension).map(|at| normal(2 * cells + at)).collect(),
            }
        }

        fn tiles<T: Real>(&self) -> (Tiles<T>, Tiles<T>) {
            let (rows, dimension) = (self.weights.len(), self.dimension);
            let origin = vec![0.0; dimension];
            let of = |values: &[f64]| {
                Tiles::new(rows, dimension, &origin, |i| &values[i * dimension..][..dimension], |i| self.weights[i])
            };
            (of(&self.values), of(&self.there))
        }

        fn sums<T: Real>(&self, temperature: f64) -> (SoftTotals, Vec<f64>) {
            let (tiles, observed) = self.tiles::<T>();
            let mut sums = vec![0.0; 2 * self.centers.len()];
            let mut scratch = ObservedScratch::default();
            let totals = observed_sums(&tiles, &observed, &self.centers, temperature, &mut scratch, &mut sums);
            (totals, sums)
        }

        /// Computes the totals and sums cell by cell.
        fn expected(&self, temperature: f64) -> (SoftTotals, Vec<f64>) {
            let dimension = self.dimension;
            let mut sums = vec![0.0; 2 * self.centers.len()];
            let mut totals = SoftTotals::default();
            for (row, &weight) in self.weights.iter().enumerate() {
                let (x, there) =
                    (&self.values[row * dimension..][..dimension], &self.there[row * dimension..][..dimension]);
                let square = |y: &[f64]| -> f64 { (0..dimension).map(|j| there[j] * (x[j] - y[j]).powi(2)).sum() };
                let powers: Vec<f64> =
                    self.centers.chunks_exact(dimension).map(|y| (-square(y) / temperature).exp()).collect();
                let sum: f64 = powers.iter().sum();
                let most = powers.iter().copied().fold(0.0, f64::max);
                totals.free_energy -= temperature * weight * sum.ln();
                totals.softness += weight * (1.0 - most / sum);
                for (k, power) in powers.iter().enumerate() {
                    for j in 0..dimension {
                        let part = weight * power / sum * there[j];
                        sums[k * 2 * dimension + j] += part;
                        sums[k * 2 * dimension + dimension + j] += part * x[j];
                    }
                }
            }
            (totals, sums)
        }
    }

    #[test]
    fn sums_are_those_of_a_loop_over_cells() {
        for (rows, dimension, count) in [(1, 1, 1), (7, 2, 3), (64, 5, 9), (67, 20, 4)] {
            let case = Case::new(rows, dimension, count, 0.7);
            let (expected, expected_sums) = case.expected(1.5);
            let (totals, sums) = case.sums::<f64>(1.5);
            let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * rows as f64;
            assert!(close(totals.free_energy, expected.free_energy, 1e-12), "{totals:?} for {expected:?}");
            assert!(close(totals.softness, expected.softness, 1e-12), "{totals:?} for {expected:?}");
            assert!(sums.iter().zip(&expected_sums).all(|(a, b)| close(*a, *b, 1e-12)), "{rows} x {dimension}");
            let (single, single_sums) = case.sums::<f32>(1.5);
            assert!(close(single.free_energy, expected.free_energy, 1e-3), "{single:?} for {expected:?}");
            assert!(single_sums.iter().zip(&expected_sums).all(|(a, b)| close(*a, *b, 1e-3)), "{rows} x {dimension}");
        }
    }

    #[test]
    fn with_nothing_missing_they_are_those_of_whole_rows() {
        let case = Case::new(50, 3, 6, 2.0);
        let (totals, sums) = case.sums::<f64>(0.8);
        let mut centers = SoftCenters::default();
        centers.begin(3, 0.8);
        case.centers.chunks_exact(3).for_each(|center| centers.push(center, 0.0));
        let mut whole = vec![0.0; 6 * 4];
        let expected =
            soft_sums(&case.tiles::<f64>().0, &centers, Sums::First, &mut SoftScratch::default(), &mut whole);
        assert!((totals.free_energy - expected.free_energy).abs() < 1e-11);
        for k in 0..6 {
            for j in 0..3 {
                assert!((sums[k * 6 + j] - whole[k * 4]).abs() < 1e-12, "the mass of every coordinate is the row's");
                assert!((sums[k * 6 + 3 + j] - whole[k * 4 + 1 + j]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let case = Case::new(37, 4, 5, 0.6);
        let bits = || case.sums::<f64>(1.1).1.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
        let best = bits();
        on_each(|set| assert!(bits() == best, "{set:?}"));
    }
}
