//! Finds the nearest centres of an array's rows, row after row. It reads each row once, and stores no copy.
//!
//! Scores are products, `2 x . y - |y|^2`, in the array's precision. If rounding may have changed the order of two
//! scores, they do not show which centre is nearer. The kernel returns the rows with such scores, and the caller
//! compares their distances in double precision. So labels are as exact as in double precision, at the speed of the
//! array's precision.

use crate::dispatch::kernel;
use crate::lanes::{Lanes, Line, Real};
use crate::products::products;

/// The number of tiles whose products are computed together.
const GROUP: usize = 4;

/// Centres with which the rows of an array are compared.
#[derive(Clone, Debug, Default)]
pub struct ListedCenters<T: Real> {
    dimension: usize,
    /// The origin in the rows' precision, padded with zeros to whole lines.
    origin: Vec<T>,
    /// 1 divided by the unit, which is a power of two.
    per_unit: T,
    /// Twice each centre relative to the origin, divided by the unit (K x D), and its negative squared length.
    doubled: Vec<T>,
    offsets: Vec<T>,
    /// The largest squared length of a centre.
    largest: f64,
}

impl<T: Real> ListedCenters<T> {
    /// Prepares centres, given one after another. They are stored relative to their mean, divided by the farthest
    /// coordinate. So neither a distant origin nor tiny units cost digits.
    ///
    /// # Panics
    /// Panics if there is no centre, if there are 2^24 or more, or if the last centre has fewer than `dimension`
    /// coordinates.
    pub fn new(centers: &[f64], dimension: usize) -> Self {
        assert!(dimension > 0 && !centers.is_empty() && centers.len().is_multiple_of(dimension), "whole centres");
        let count = centers.len() / dimension;
        assert!(count < 1 << 24, "1 to 2^24 - 1 centres");
        let mut origin: Vec<T> = (0..dimension)
            .map(|j| T::from_f64(centers[j..].iter().step_by(dimension).map(|y| y / count as f64).sum()))
            .collect();
        let from_origin = |(place, y): (usize, &f64)| y - origin[place % dimension].to_f64();
        let shifted: Vec<f64> = centers.iter().enumerate().map(from_origin).collect();
        let farthest = shifted.iter().fold(0.0f64, |far, y| far.max(y.abs()));
        let exponent = if farthest.is_normal() { libm::log2(farthest).floor().clamp(-100.0, 100.0) } else { 0.0 };
        let per_unit = 2f64.powi(-exponent as i32);
        let scaled: Vec<T> = shifted.iter().map(|y| T::from_f64(y * per_unit)).collect();
        let squares = scaled.chunks_exact(dimension).map(|y| y.iter().map(|y| y.to_f64() * y.to_f64()).sum::<f64>());
        let squares: Vec<f64> = squares.collect();
        origin.resize(dimension.next_multiple_of(T::Line::COUNT), T::default());
        Self {
            dimension,
            origin,
            per_unit: T::from_f64(per_unit),
            doubled: scaled.iter().map(|y| T::from_f64(2.0 * y.to_f64())).collect(),
            offsets: squares.iter().map(|square| T::from_f64(-square)).collect(),
            largest: squares.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Returns a bound on the difference of two scores, as a share of `|x|^2 + 2 max |y|^2`. Above this bound, the
    /// larger score certainly belongs to the nearer centre.
    ///
    /// A score adds D rounded products of rounded coordinates to a constant. Its error is less than
    /// `(D + 8) u (2 |x| |y| + |y|^2)`, with half of `EPSILON` as `u`.
    fn margin(&self) -> f64 {
        (self.dimension + 8) as f64 * T::EPSILON
    }
}

/// The buffers of [`nearest_listed`], which are reused so that loops do not allocate.
#[derive(Clone, Debug, Default)]
pub struct ListedScratch<T: Real> {
    values: Vec<T::Line>,
    products: Vec<T::Line>,
}

/// Writes the nearest centre of each row to `labels`, or the first of several equally near centres. Appends to `unsure`
/// the numbers of the rows for which this precision is not enough. The labels of those rows are guesses.
///
/// Cost: rows x K x D multiply-adds. It allocates nothing once the buffers have grown.
///
/// # Panics
/// Panics if the number of rows differs from the number of labels, or if there are 2^32 rows or more.
///
/// # Example
/// ```
/// use lehr_numerics::listed::{ListedCenters, ListedScratch, nearest_listed};
/// let centers = ListedCenters::<f32>::new(&[0.0, 0.0, 4.0, 4.0], 2);
/// let (mut labels, mut unsure) = ([0; 3], Vec::new());
/// nearest_listed(&[1.0, 1.0, 2.0, 2.0, 3.0, 5.0], &centers, &mut ListedScratch::default(), &mut labels, &mut unsure);
/// assert_eq!((labels[0], labels[2]), (0, 1));
/// assert_eq!(unsure, [1]); // half way
/// ```
pub fn nearest_listed<T: Real>(
    values: &[T],
    centers: &ListedCenters<T>,
    scratch: &mut ListedScratch<T>,
    labels: &mut [u32],
    unsure: &mut Vec<u32>,
) {
    assert_eq!(values.len(), labels.len() * centers.dimension);
    assert!(u32::try_from(labels.len()).is_ok(), "fewer than 2^32 rows");
    // There is room for whole lines of columns, because only whole lines are transposed.
    scratch.values.resize(GROUP * centers.dimension + T::Line::COUNT, T::Line::default());
    scratch.products.resize(GROUP * centers.offsets.len(), T::Line::default());
    listed(values, centers, scratch, labels, unsure);
}

kernel! {
    fn listed[T; V](values: &[T], centers: &ListedCenters<T>, scratch: &mut ListedScratch<T>, labels: &mut [u32], unsure: &mut Vec<u32>) {
        let (dimension, lanes) = (centers.dimension, T::Line::COUNT);
        let ListedScratch { values: lines, products: scores } = scratch;
        let (scores, _) = scores.as_chunks_mut::<GROUP>();
        let margin = V::splat(T::from_f64(centers.margin()));
        let of_centers = V::splat(T::from_f64(2.0 * centers.largest));
        let (zero, one) = (V::splat(T::default()), V::splat(T::from_f64(1.0)));
        let mut first = 0;
        while first < labels.len() {
            let together = (GROUP * lanes).min(labels.len() - first);
            let tiles = together.div_ceil(lanes);
            let mut tile = 0;
            while tile < tiles {
                pack::<T, V>(values, centers, first + tile * lanes, labels.len(), &mut lines[tile * dimension..]);
                tile += 1;
            }
            products::<T, V, GROUP>(&lines[..tiles * dimension], dimension, &centers.doubled, &centers.offsets, scores);
            let mut tile = 0;
            while tile < tiles {
                let mut square = zero;
                for line in &lines[tile * dimension..][..dimension] {
                    let x = V::load(line);
                    square = x.mul_add(x, square);
                }
                let mut best = V::splat(T::from_f64(f64::NEG_INFINITY));
                let (mut second, mut index) = (best, zero);
                for (k, score) in scores.iter().enumerate() {
                    let score = V::load(&score[tile]);
                    second = V::select_less(best, score, best, second.max(score));
                    index = V::select_less(best, score, V::splat(T::from_f64(k as f64)), index);
                    best = score.max(best);
                }
                // A score that is NaN counts as unsure.
                let doubt = V::select_less(square.add(of_centers).mul(margin), best.sub(second), zero, one);
                let (mut nearest, mut doubts) = (T::Line::default(), T::Line::default());
                index.store(&mut nearest);
                doubt.store(&mut doubts);
                let start = first + tile * lanes;
                let present = lanes.min(labels.len() - start);
                for (label, nearest) in labels[start..start + present].iter_mut().zip(nearest.lanes()) {
                    *label = nearest.to_f64() as u32;
                }
                if doubt.sum() > 0.0 {
                    for lane in 0..present {
                        if doubts.lanes()[lane].to_f64() > 0.0 {
                            unsure.push((start + lane) as u32);
                        }
                    }
                }
                tile += 1;
            }
            first += together;
        }
    }
}

/// Copies as many rows as a line has lanes, side by side, relative to the origin and divided by the unit. Lanes beyond
/// the last row repeat it.
#[inline(always)]
fn pack<T: Real, V: Lanes<Number = T>>(
    values: &[T],
    centers: &ListedCenters<T>,
    first: usize,
    rows: usize,
    lines: &mut [T::Line],
) {
    let (dimension, lanes) = (centers.dimension, T::Line::COUNT);
    let per_unit = V::splat(centers.per_unit);
    let zero = T::Line::default();
    // Processors that transpose in registers have lines of this many rows; the block holds one line of columns.
    let mut block = [zero; 16];
    let mut turned = [zero; 16];
    let mut at = 0;
    while at < dimension {
        let origin = V::load_at(&centers.origin[at..]);
        for lane in 0..lanes {
            let start = (first + lane).min(rows - 1) * dimension + at;
            if start + lanes <= values.len() {
                // The values after the row's end belong to the next row, and no code uses them.
                V::load_at(&values[start..]).sub(origin).mul(per_unit).store(&mut block[lane]);
            } else {
                let mut line = zero;
                let width = values.len() - start;
                line.lanes_mut()[..width].copy_from_slice(&values[start..]);
                V::load(&line).sub(origin).mul(per_unit).store(&mut block[lane]);
            }
        }
        V::transpose(&block[..lanes], &mut turned[..lanes]);
        let width = lanes.min(dimension - at);
        lines[at..at + width].copy_from_slice(&turned[..width]);
        at += lanes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::on_all_sets;
    use crate::random::Stream;

    fn check<T: Real>(rows: usize, dimension: usize, clusters: usize, offset: f64) {
        let what = format!("{rows} x {dimension}, {clusters}, {offset}");
        let stream = Stream::new((rows * 1000 + dimension * 10 + clusters) as u64, "listed");
        let number = |index: usize| T::from_f64(offset + stream.normal(index as u64));
        let values: Vec<T> = (0..rows * dimension).map(number).collect();
        let centers: Vec<f64> = (0..clusters * dimension).map(|i| number(1_000_000 + i).to_f64()).collect();
        let listed = ListedCenters::<T>::new(&centers, dimension);
        let found = on_all_sets(&what, || {
            let (mut labels, mut unsure) = (vec![0; rows], Vec::new());
            nearest_listed(&values, &listed, &mut ListedScratch::default(), &mut labels, &mut unsure);
            labels.iter().chain(&unsure).map(|number| f64::from(*number)).collect()
        });
        let (labels, unsure) = found.split_at(rows);
        for (row, label) in labels.iter().enumerate().filter(|(row, _)| !unsure.contains(&(*row as f64))) {
            let distance = |k: usize| -> f64 {
                let row = values[row * dimension..][..dimension].iter().map(|x| x.to_f64());
                row.zip(&centers[k * dimension..]).map(|(x, y)| (x - y) * (x - y)).sum()
            };
            let least = (0..clusters).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
            assert_eq!(*label, least as f64, "{what}, row {row}");
        }
        assert!(unsure.len() <= 1 + rows / 20, "{what}: {} unsure", unsure.len());
    }

    #[test]
    fn labels_that_are_sure_are_those_of_double_precision_with_the_same_bits_on_every_instruction_set() {
        for dimension in [1, 2, 3, 15, 16, 17, 70] {
            for (rows, clusters) in [(1, 1), (7, 2), (64, 5), (67, 4), (1000, 9)] {
                for offset in [0.0, 10.0] {
                    check::<f64>(rows, dimension, clusters, offset);
                    check::<f32>(rows, dimension, clusters, offset);
                }
            }
        }
    }

    #[test]
    fn what_has_no_number_is_unsure() {
        let centers = ListedCenters::<f32>::new(&[0.0, 1.0, 3.0], 1);
        let (mut labels, mut unsure) = ([0; 3], Vec::new());
        nearest_listed(&[0.1, 1e30, 2.0], &centers, &mut ListedScratch::default(), &mut labels, &mut unsure);
        assert_eq!((labels[0], unsure), (0, vec![1, 2]));
    }
}
