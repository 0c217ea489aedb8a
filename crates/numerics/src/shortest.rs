//! Computes the squared distance of each row from its nearest centre, when centres arrive one after another as in
//! k-means++.
//!
//! Distances are sums of squared differences in any number of dimensions. So a row is at distance 0 from itself, and is
//! not drawn twice. There are few centres at a time, so a pass waits for memory more than for arithmetic.

use crate::dispatch::kernel;
use crate::lanes::{Lanes, Line, Real};
use crate::nearest::HardCenters;
use crate::tiles::Tiles;

/// The number of tiles whose sums stay in the rows' precision. It is also the number of additions in each lane.
const FLUSH: usize = 256;
/// The number of centres that are compared with a tile together.
const TOGETHER: usize = 4;

/// The sum and the maximum of the shortest squared distances in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shortest {
    /// The sum over the rows of weight times shortest squared distance.
    pub sum: f64,
    /// The maximum of the shortest squared distances.
    pub largest: f64,
}

/// Lowers the shortest squared distance of each row to its distance from centre `k`, if this centre is nearer. Rows are
/// side by side, as in the tiles. Weights only affect the sum.
///
/// Cost: rows x D x 2 operations. It allocates nothing.
///
/// # Panics
/// Panics if shapes disagree, or if there is no centre `k`.
///
/// # Example
/// ```
/// use lehr_numerics::{lanes::F64Line, nearest::HardCenters, shortest::{Shortest, lower_to}, tiles::Tiles};
/// let rows = [[0.0], [1.0], [5.0]];
/// let tiles = Tiles::<f64>::new(3, 1, &[0.0], |i| &rows[i], |_| 2.0);
/// let mut centers = HardCenters::default();
/// centers.begin(1);
/// centers.push(&[0.0]);
/// centers.push(&[4.0]);
/// let mut shortest = vec![Tiles::<f64>::line_of(f64::INFINITY); 1];
/// assert_eq!(lower_to(&tiles, &centers, 0, &mut shortest), Shortest { sum: 52.0, largest: 25.0 });
/// assert_eq!(lower_to(&tiles, &centers, 1, &mut shortest), Shortest { sum: 4.0, largest: 1.0 });
/// ```
pub fn lower_to<T: Real>(tiles: &Tiles<T>, centers: &HardCenters<T>, k: usize, shortest: &mut [T::Line]) -> Shortest {
    let dimension = tiles.dimension();
    assert_eq!(shortest.len(), tiles.weights().len());
    lower(tiles, &centers.positions()[k * dimension..][..dimension], shortest)
}

/// Adds to `sums`, for each of some centres, the sum that [`lower_to`] would return with this centre alone. It is the
/// sum over the rows of weight times the smaller of the two squared distances.
///
/// Cost: rows x K x D x 2 operations. It allocates nothing.
///
/// # Panics
/// Panics if shapes disagree.
///
/// # Example
/// ```
/// use lehr_numerics::{nearest::HardCenters, shortest::add_potentials, tiles::Tiles};
/// let rows = [[0.0], [1.0], [5.0]];
/// let tiles = Tiles::<f64>::new(3, 1, &[0.0], |i| &rows[i], |_| 1.0);
/// let mut centers = HardCenters::default();
/// centers.begin(1);
/// centers.push(&[0.0]);
/// centers.push(&[4.0]);
/// let mut sums = [0.0; 2];
/// add_potentials(&tiles, &centers, &[Tiles::<f64>::line_of(9.0)], &mut sums);
/// assert_eq!(sums, [0.0 + 1.0 + 9.0, 9.0 + 9.0 + 1.0]);
/// ```
pub fn add_potentials<T: Real>(tiles: &Tiles<T>, centers: &HardCenters<T>, shortest: &[T::Line], sums: &mut [f64]) {
    assert_eq!(shortest.len(), tiles.weights().len());
    assert_eq!(centers.positions().len(), centers.len() * tiles.dimension());
    assert_eq!(sums.len(), centers.len());
    potentials(tiles, centers.positions(), shortest, sums);
}

kernel! {
    fn lower[T; V](tiles: &Tiles<T>, center: &[T], shortest: &mut [T::Line]) -> Shortest {
        let dimension = tiles.dimension();
        let mut found = Shortest::default();
        let mut largest = V::splat(T::default());
        for ((values, weights), shortest) in tiles
            .values()
            .chunks(FLUSH * dimension)
            .zip(tiles.weights().chunks(FLUSH))
            .zip(shortest.chunks_mut(FLUSH))
        {
            let mut sum = V::splat(T::default());
            let mut tile = 0;
            while V::IN_ONE_REGISTER && tile + TOGETHER <= weights.len() {
                let mut distances = [[V::splat(T::default()); TOGETHER]; 1];
                distances_from::<T, V, 1, TOGETHER>(values, dimension, center, tile, &mut distances);
                for n in 0..TOGETHER {
                    let least = distances[0][n].min(V::load(&shortest[tile + n]));
                    least.store(&mut shortest[tile + n]);
                    largest = least.max(largest);
                    sum = least.mul_add(V::load(&weights[tile + n]), sum);
                }
                tile += TOGETHER;
            }
            while tile < weights.len() {
                let mut distances = [[V::splat(T::default()); 1]; 1];
                distances_from::<T, V, 1, 1>(values, dimension, center, tile, &mut distances);
                let least = distances[0][0].min(V::load(&shortest[tile]));
                least.store(&mut shortest[tile]);
                largest = least.max(largest);
                sum = least.mul_add(V::load(&weights[tile]), sum);
                tile += 1;
            }
            found.sum += sum.sum();
        }
        let mut line = T::Line::default();
        largest.store(&mut line);
        for lane in line.lanes() {
            found.largest = found.largest.max(lane.to_f64());
        }
        found
    }
}

kernel! {
    fn potentials[T; V](tiles: &Tiles<T>, centers: &[T], shortest: &[T::Line], sums: &mut [f64]) {
        let dimension = tiles.dimension();
        for ((values, weights), shortest) in tiles
            .values()
            .chunks(FLUSH * dimension)
            .zip(tiles.weights().chunks(FLUSH))
            .zip(shortest.chunks(FLUSH))
        {
            let mut at = 0;
            while at < sums.len() {
                let count = TOGETHER.min(sums.len() - at);
                let centers = &centers[at * dimension..];
                let sums = &mut sums[at..];
                match count {
                    1 => potentials_of::<T, V, 1>(values, dimension, centers, weights, shortest, sums),
                    2 => potentials_of::<T, V, 2>(values, dimension, centers, weights, shortest, sums),
                    3 => potentials_of::<T, V, 3>(values, dimension, centers, weights, shortest, sums),
                    _ => potentials_of::<T, V, TOGETHER>(values, dimension, centers, weights, shortest, sums),
                }
                at += count;
            }
        }
    }
}

/// Adds the sums of [`add_potentials`] for K centres over at most [`FLUSH`] tiles.
#[inline(always)]
fn potentials_of<T: Real, V: Lanes<Number = T>, const K: usize>(
    values: &[T::Line],
    dimension: usize,
    centers: &[T],
    weights: &[T::Line],
    shortest: &[T::Line],
    sums: &mut [f64],
) {
    let mut totals = [V::splat(T::default()); K];
    let mut tile = 0;
    while V::IN_ONE_REGISTER && tile + TOGETHER <= weights.len() {
        let mut distances = [[V::splat(T::default()); TOGETHER]; K];
        distances_from::<T, V, K, TOGETHER>(values, dimension, centers, tile, &mut distances);
        for n in 0..TOGETHER {
            let (weight, least) = (V::load(&weights[tile + n]), V::load(&shortest[tile + n]));
            for k in 0..K {
                totals[k] = distances[k][n].min(least).mul_add(weight, totals[k]);
            }
        }
        tile += TOGETHER;
    }
    while tile < weights.len() {
        let mut distances = [[V::splat(T::default()); 1]; K];
        distances_from::<T, V, K, 1>(values, dimension, centers, tile, &mut distances);
        let (weight, least) = (V::load(&weights[tile]), V::load(&shortest[tile]));
        for k in 0..K {
            totals[k] = distances[k][0].min(least).mul_add(weight, totals[k]);
        }
        tile += 1;
    }
    for k in 0..K {
        sums[k] += totals[k].sum();
    }
}

/// Returns the squared distances of the rows of N tiles from K centres. Each distance is summed in the order of the
/// coordinates, so blocking does not change the bits.
#[inline(always)]
fn distances_from<T: Real, V: Lanes<Number = T>, const K: usize, const N: usize>(
    values: &[T::Line],
    dimension: usize,
    centers: &[T],
    tile: usize,
    out: &mut [[V; N]; K],
) {
    let rows: [&[T::Line]; N] = std::array::from_fn(|n| &values[(tile + n) * dimension..][..dimension]);
    let y: [&[T]; K] = std::array::from_fn(|k| &centers[k * dimension..][..dimension]);
    let mut sum = [[V::splat(T::default()); N]; K];
    for j in 0..dimension {
        let mut x = [V::splat(T::default()); N];
        for n in 0..N {
            x[n] = V::load(&rows[n][j]);
        }
        for k in 0..K {
            let y = V::splat(y[k][j]);
            for n in 0..N {
                let difference = x[n].sub(y);
                sum[k][n] = difference.mul_add(difference, sum[k][n]);
            }
        }
    }
    *out = sum;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::on_all_sets;
    use crate::random::Stream;

    /// Checks the sums and distances of both kernels against loops in double precision.
    fn check<T: Real>(rows: usize, dimension: usize, clusters: usize, tolerance: f64) {
        let stream = Stream::new((rows * 1000 + dimension * 10 + clusters) as u64, "shortest");
        let number = |index: usize| f64::from(stream.normal(index as u64) as f32);
        let row =
            |from: usize, i: usize| -> Vec<f64> { (0..dimension).map(|j| number(from + i * dimension + j)).collect() };
        let points: Vec<Vec<f64>> = (0..rows).map(|i| row(0, i)).collect();
        // The last centre is a row, which is at distance 0 from itself.
        let mut centers: Vec<Vec<f64>> = (0..clusters).map(|k| row(1_000_000, k)).collect();
        centers.push(points[rows / 2].clone());
        let weight = |i: usize| (1 + i % 3) as f64;
        let tiles = Tiles::<T>::new(rows, dimension, &vec![0.0; dimension], |i| &points[i], weight);
        let mut hard = HardCenters::default();
        hard.begin(dimension);
        centers.iter().for_each(|center| hard.push(center));
        let distance =
            |i: usize, k: usize| -> f64 { points[i].iter().zip(&centers[k]).map(|(x, y)| (x - y) * (x - y)).sum() };
        let what = format!("{rows} x {dimension}, {clusters}");
        let found = on_all_sets(&what, || {
            let mut shortest = vec![Tiles::<T>::line_of(f64::INFINITY); tiles.weights().len()];
            let mut found = Vec::new();
            for k in 0..centers.len() {
                if k > 0 {
                    let mut sums = vec![0.0; centers.len()];
                    add_potentials(&tiles, &hard, &shortest, &mut sums);
                    found.extend(sums);
                }
                let Shortest { sum, largest } = lower_to(&tiles, &hard, k, &mut shortest);
                found.extend([sum, largest]);
            }
            found.extend(shortest.iter().flat_map(|line| line.lanes()).take(rows).map(|lane| lane.to_f64()));
            found
        });
        let mut expected = Vec::new();
        let least = |i: usize, k: usize| (0..=k).map(|k| distance(i, k)).fold(f64::INFINITY, f64::min);
        for k in 0..centers.len() {
            if k > 0 {
                let potential =
                    |c: usize| (0..rows).map(|i| weight(i) * least(i, k - 1).min(distance(i, c))).sum::<f64>();
                expected.extend((0..centers.len()).map(potential));
            }
            expected.push((0..rows).map(|i| weight(i) * least(i, k)).sum());
            expected.push((0..rows).map(|i| least(i, k)).fold(0.0, f64::max));
        }
        expected.extend((0..rows).map(|i| least(i, clusters)));
        assert_eq!(found.len(), expected.len());
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() <= tolerance * expected, "{what}, {place}: {found} for {expected}");
        }
        assert_eq!(found[found.len() - rows + rows / 2], 0.0, "{what}: a row's distance from itself");
    }

    #[test]
    fn shortest_distances_and_potentials_are_those_of_scalar_loops_with_the_same_bits_on_every_instruction_set() {
        for dimension in [1, 2, 3, 16, 17, 70] {
            for (rows, clusters) in [(1, 1), (7, 2), (64, 3), (67, 4), (131, 9), (5000, 1)] {
                check::<f64>(rows, dimension, clusters, 1e-13);
                check::<f32>(rows, dimension, clusters, 1e-5);
            }
        }
    }
}
