//! Finds the nearest centres of an array's rows on several threads. The rows are read in place, in the array's
//! precision.
//!
//! Labels are the same as in double precision. The kernel returns the rows for which the array's precision is not
//! enough ([`lehr_numerics::listed`]). The distances of these rows are computed in double precision.

use lehr_numerics::lanes::Real;
use lehr_numerics::listed::{ListedCenters, ListedScratch, nearest_listed};

use super::centroids::Centroids;
use crate::Error;
use crate::round::{LeafCells, Partition, on_threads};

/// Below this number of multiply-adds, the caller's thread does all the work, because starting threads would take
/// longer.
const WORTH_THREADS: usize = 1 << 22;
/// The range of sums of squares that have lost no digits to underflow or overflow.
const PLAIN: std::ops::Range<f64> = 1e-280..1e280;
/// The number of partial sums to which squared differences are added in parallel.
const SIDE_BY_SIDE: usize = 8;

/// The numbers of an array in C order, row after row.
///
/// # Example
/// ```
/// use lehr_mining::vector::{Centroids, Listed};
/// let centroids = Centroids::new(1, vec![0.0, 10.0], 0.0)?;
/// let (mut labels, mut distances) = ([0; 3], [0.0; 3]);
/// centroids.nearest(Listed::F32(&[1.0, 5.0, 12.0]), 2, &mut labels, Some(&mut distances))?;
/// assert_eq!((labels, distances), ([0, 0, 1], [1.0, 5.0, 2.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Listed<'a> {
    /// Numbers in double precision.
    F64(&'a [f64]),
    /// Numbers in single precision.
    F32(&'a [f32]),
}

impl Listed<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }
}

impl Centroids {
    /// Writes the index of each row's nearest centre to `labels`; the first if several are equally near. Writes each
    /// row's distance to its nearest centre to `distances`, if given, in the unit of the rows. The temperature and the
    /// outlier radius have no effect.
    ///
    /// Results are bit-identical on any number of threads. An array in single precision gives the same results as the
    /// same numbers in double precision.
    ///
    /// Cost: N x K x D multiply-adds, and memory for a copy of the centres. The rows are not copied.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the array does not hold rows x columns numbers, or if centres are frequencies of
    /// bits. Returns [`Error::Ranks`] if a thread fails.
    ///
    /// # Panics
    /// Panics if a worker thread of a dispatcher calls it with more than one thread.
    pub fn nearest(
        &self,
        rows: Listed<'_>,
        threads: usize,
        labels: &mut [u32],
        distances: Option<&mut [f64]>,
    ) -> Result<(), Error> {
        let wrong = |expected, found: String| Err(Error::Parameter { name: "rows", expected, found });
        if self.is_bernoulli() {
            return wrong(
                "rows of bits, as those of the clustering, whose centres are frequencies of bits",
                "others".into(),
            );
        }
        if rows.len() != labels.len() * self.dimension()
            || distances.as_ref().is_some_and(|distances| distances.len() != labels.len())
        {
            let found = format!("{} numbers for {} rows of {}", rows.len(), labels.len(), self.dimension());
            return wrong("as many numbers as rows have columns together", found);
        }
        match rows {
            Listed::F64(values) => self.nearest_of(values, threads, labels, distances),
            Listed::F32(values) => self.nearest_of(values, threads, labels, distances),
        }
    }

    fn nearest_of<T: Real>(
        &self,
        values: &[T],
        threads: usize,
        labels: &mut [u32],
        distances: Option<&mut [f64]>,
    ) -> Result<(), Error> {
        let (rows, dimension) = (labels.len(), self.dimension());
        if rows == 0 {
            return Ok(());
        }
        let centers = ListedCenters::<T>::new(self.positions(), dimension);
        if threads == 1 || rows * dimension * self.len() < WORTH_THREADS {
            let mut part = Part { values, labels, distances };
            part.assign(self, &centers, &mut ListedScratch::default());
            return Ok(());
        }
        let leaf = Partition::new(rows, 1).leaf_size();
        let mut of_distances = distances.map(|distances| distances.chunks_mut(leaf));
        let parts = values.chunks(leaf * dimension).zip(labels.chunks_mut(leaf));
        let mut parts = parts.map(|(values, labels)| Part {
            values,
            labels,
            distances: of_distances.as_mut().and_then(Iterator::next),
        });
        let parts = LeafCells::new(rows.div_ceil(leaf), |_| parts.next().expect("a part for each leaf"));
        on_threads(threads, parts.len(), |leaf| {
            parts.with(leaf, |part| part.assign(self, &centers, &mut ListedScratch::default()));
        })
    }

    /// Finds the nearest centre of a row, from distances that are computed in double precision.
    fn nearest_exactly<T: Real>(&self, row: &[T]) -> usize {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for k in 0..self.len() {
            let squared = squared_distance(row, self.center(k));
            if squared < least {
                (nearest, least) = (k, squared);
            }
        }
        if PLAIN.contains(&least) || least == 0.0 {
            return nearest;
        }
        let distances: Vec<f64> = (0..self.len()).map(|k| distance(row, self.center(k))).collect();
        (0..self.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b])).unwrap_or(0)
    }
}

/// Consecutive rows of the array, and the memory for their results.
struct Part<'a, T: Real> {
    values: &'a [T],
    labels: &'a mut [u32],
    distances: Option<&'a mut [f64]>,
}

impl<T: Real> Part<'_, T> {
    fn assign(&mut self, centroids: &Centroids, centers: &ListedCenters<T>, scratch: &mut ListedScratch<T>) {
        let dimension = centroids.dimension();
        let mut unsure = Vec::new();
        nearest_listed(self.values, centers, scratch, self.labels, &mut unsure);
        let row = |index: usize| &self.values[index * dimension..][..dimension];
        for index in unsure {
            self.labels[index as usize] = centroids.nearest_exactly(row(index as usize)) as u32;
        }
        let Some(distances) = &mut self.distances else { return };
        for (index, (out, label)) in distances.iter_mut().zip(self.labels.iter()).enumerate() {
            let center = centroids.center(*label as usize);
            let squared = squared_distance(row(index), center);
            *out = if PLAIN.contains(&squared) { squared.sqrt() } else { distance(row(index), center) };
        }
    }
}

/// The squared distance in double precision, summed in the same order on any machine.
fn squared_distance<T: Real>(row: &[T], center: &[f64]) -> f64 {
    let mut sums = [0.0; SIDE_BY_SIDE];
    let (rows, rest) = row.as_chunks::<SIDE_BY_SIDE>();
    let (centers, rest_of_center) = center.as_chunks::<SIDE_BY_SIDE>();
    for (row, center) in rows.iter().zip(centers) {
        for lane in 0..SIDE_BY_SIDE {
            let apart = row[lane].to_f64() - center[lane];
            sums[lane] += apart * apart;
        }
    }
    for (lane, (x, y)) in rest.iter().zip(rest_of_center).enumerate() {
        let apart = x.to_f64() - y;
        sums[lane] += apart * apart;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The distance between two points, computed without its square, which may overflow.
fn distance<T: Real>(row: &[T], center: &[f64]) -> f64 {
    row.iter().zip(center).fold(0.0, |length: f64, (x, y)| libm::hypot(length, x.to_f64() - y))
}

#[cfg(test)]
mod tests {
    use lehr_data::Points;
    use lehr_numerics::random::Stream;

    use super::*;

    /// Computes labels and distances in double precision, row by row.
    fn expected(values: &[f64], centroids: &Centroids) -> (Vec<u32>, Vec<f64>) {
        let row = |row: &[f64]| {
            let squares: Vec<f64> = (0..centroids.len()).map(|k| squared_distance(row, centroids.center(k))).collect();
            let nearest = (0..squares.len()).min_by(|a, b| squares[*a].total_cmp(&squares[*b])).unwrap();
            (nearest as u32, squares[nearest].sqrt())
        };
        values.chunks_exact(centroids.dimension()).map(row).unzip()
    }

    #[test]
    fn arrays_of_either_precision_have_the_labels_of_double_precision_and_the_same_bits_on_any_number_of_threads() {
        let stream = Stream::new(3, "listed rows");
        for (rows, dimension, clusters) in [(20_000, 16, 20), (3_000, 70, 30), (50_000, 2, 50), (5, 3, 1)] {
            // Coordinates are multiples of a quarter, so that many rows are equally near to two centres.
            let number = |index: usize| ((stream.normal(index as u64) * 8.0).round() / 4.0) as f32;
            let single: Vec<f32> = (0..rows * dimension).map(number).collect();
            let double: Vec<f64> = single.iter().map(|x| f64::from(*x)).collect();
            let centers = (0..clusters * dimension).map(|i| f64::from(number(100_000_000 + i))).collect();
            let centroids = Centroids::new(dimension, centers, 0.0).unwrap();
            let expected = expected(&double, &centroids);
            for listed in [Listed::F32(&single), Listed::F64(&double)] {
                for threads in [1, 2, 4] {
                    let (mut labels, mut distances) = (vec![7; rows], vec![7.0; rows]);
                    centroids.nearest(listed, threads, &mut labels, Some(&mut distances)).unwrap();
                    assert_eq!((labels, distances), expected, "{rows} x {dimension}, {threads} threads");
                }
            }
        }
    }

    #[test]
    fn rows_far_away_and_hardly_apart_are_told_as_those_of_points() {
        let values = [1e200, -1e200, 0.1, 0.0, 2.0, 2.0, 1e-200, 0.0];
        let centroids = Centroids::new(2, vec![0.0, 0.0, 9e199, -1e200, 1.0, 1.0], 0.0).unwrap();
        let (mut labels, mut distances) = ([0; 4], [0.0; 4]);
        centroids.nearest(Listed::F64(&values), 1, &mut labels, Some(&mut distances)).unwrap();
        let found = centroids.assign(&Points::new(values.to_vec(), 2).unwrap()).unwrap();
        assert_eq!(labels.as_slice(), found.labels);
        for (found, expected) in distances.iter().zip(&found.distances) {
            assert!((found - expected).abs() <= 1e-14 * expected, "{found} for {expected}");
        }
        let refused = centroids.nearest(Listed::F64(&values[..3]), 1, &mut labels, None).unwrap_err();
        assert!(refused.to_string().contains("3 numbers for 4 rows of 2"), "{refused}");
    }
}
