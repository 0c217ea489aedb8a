//! Tests the passes over sparse rows against the definition, and against the kernels of numbers over the same rows in
//! full. The bits must be the same on every instruction set.

use std::cell::RefCell;

use crate::lanes::Real;
use crate::nearest::{HardCenters, HardScratch, Kind, nearest_sums};
use crate::oracle::on_all_sets;
use crate::random::Stream;
use crate::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use crate::sparse::{
    HardSparseCenters, SoftSparseCenters, SparseRows, SparseScratch, nearest_sparse_sums, soft_sparse_sums,
    sparse_distances,
};
use crate::tiles::Tiles;

/// The same rows sparse and in full, with centres, priors, directions and planes relative to an origin.
struct Problem {
    dimension: usize,
    entries: Vec<(Vec<u32>, Vec<f64>)>,
    rows: Vec<Vec<f64>>,
    weights: Vec<f64>,
    origin: Vec<f64>,
    centers: Vec<Vec<f64>>,
    directions: Vec<Vec<f64>>,
    thresholds: Vec<f64>,
    temperature: f64,
    /// The score of an additional component that is equally far from every row.
    far: Option<f64>,
}

impl Problem {
    /// One value in eight is not 0. The first column is mostly nonzero, the last is always 0, and some rows are empty.
    fn new(rows: usize, dimension: usize, clusters: usize) -> Self {
        let stream = Stream::new((rows * 1_000_000 + dimension * 100 + clusters) as u64, "sparse");
        // Numbers that single precision represents exactly.
        let number = |index: usize| f64::from((4.0 * stream.uniform(index as u64) - 1.0) as f32);
        let value = |row: usize, j: usize| {
            let drawn = stream.uniform((1 << 42) + (row * dimension + j) as u64);
            let is_there = row % 5 != 3 && j + 1 < dimension && (drawn < 0.125 || (j == 0 && drawn < 0.9));
            if is_there { number(row * dimension + j) } else { 0.0 }
        };
        let full: Vec<Vec<f64>> = (0..rows).map(|row| (0..dimension).map(|j| value(row, j)).collect()).collect();
        let there = |row: &Vec<f64>| -> (Vec<u32>, Vec<f64>) {
            row.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j as u32, *x)).unzip()
        };
        let origin: Vec<f64> = (0..dimension)
            .map(|j| f64::from((full.iter().map(|row| row[j]).sum::<f64>() / rows as f64) as f32))
            .collect();
        let vectors = |from: usize| -> Vec<Vec<f64>> {
            let part = |k: usize, j: usize| 0.25 * number(from + k * dimension + j);
            (0..clusters).map(|k| (0..dimension).map(|j| part(k, j)).collect()).collect()
        };
        Self {
            dimension,
            entries: full.iter().map(there).collect(),
            rows: full,
            weights: (0..rows).map(|row| (row % 4) as f64).collect(),
            origin,
            centers: vectors(1 << 40),
            directions: vectors(1 << 41),
            thresholds: (0..clusters).map(|k| 0.1 * k as f64 - 0.3).collect(),
            temperature: 0.1 * dimension as f64,
            far: None,
        }
    }

    fn components(&self) -> usize {
        self.centers.len() + usize::from(self.far.is_some())
    }

    fn length(&self, row: usize) -> f64 {
        self.rows[row].iter().zip(&self.origin).map(|(x, o)| (x - o) * (x - o)).sum()
    }

    /// Returns the sparse rows, with doubled values and the unit 2, which cancel exactly.
    fn sparse<T: Real>(&self) -> SparseRows<T> {
        let doubled: Vec<Vec<f64>> =
            self.entries.iter().map(|(_, values)| values.iter().map(|x| 2.0 * x).collect()).collect();
        let row = |i: usize| (&self.entries[i].0[..], &doubled[i][..]);
        SparseRows::new(self.rows.len(), self.dimension, 2.0, row, |i| self.length(i), |i| self.weights[i])
    }

    fn tiles(&self) -> Tiles<f64> {
        Tiles::new(self.rows.len(), self.dimension, &self.origin, |i| &self.rows[i], |i| self.weights[i])
    }

    /// Converts moments of unshifted rows to moments about the origin. The sums of each centre have a mass at each of
    /// `places`, followed by its moments.
    fn shift(&self, sums: &mut [f64], per_center: usize, places: &[usize]) {
        for sums in sums.chunks_exact_mut(per_center) {
            for &at in places {
                let (mass, moments) = sums[at..].split_at_mut(1);
                moments.iter_mut().zip(&self.origin).for_each(|(sum, o)| *sum -= mass[0] * o);
            }
        }
    }

    fn soft<T: Real>(&self, kind: Sums, scratch: &RefCell<SparseScratch<T>>) -> Vec<f64> {
        let mut centers = SoftSparseCenters::<T>::default();
        centers.begin(self.dimension, self.components(), self.temperature, kind == Sums::Along);
        for (k, center) in self.centers.iter().enumerate() {
            centers.set(k, center, &self.origin, -((1 + k) as f64).ln());
            if kind == Sums::Along {
                centers.set_direction(k, center, &self.origin, &self.directions[k]);
            }
        }
        if let Some(score) = self.far {
            centers.set_equally_far(self.centers.len(), score);
        }
        let mut sums = vec![0.0; self.components() * kind.len(self.dimension)];
        let totals = soft_sparse_sums(&self.sparse(), &centers, kind, &mut scratch.borrow_mut(), &mut sums);
        self.shift(&mut sums, kind.len(self.dimension), &[0]);
        sums.extend([totals.free_energy, totals.softness]);
        sums
    }

    fn hard<T: Real>(&self, kind: Kind) -> Vec<f64> {
        let mut centers = HardSparseCenters::<T>::default();
        centers.begin(self.dimension, self.centers.len());
        for (k, center) in self.centers.iter().enumerate() {
            centers.set(k, center, &self.origin);
            centers.push_plane(&self.directions[k], &self.origin, self.thresholds[k]);
        }
        let mut sums = vec![0.0; self.centers.len() * kind.len(self.dimension)];
        let (rows, mut scratch) = (self.sparse(), SparseScratch::default());
        nearest_sparse_sums(&rows, &centers, kind, &mut scratch, &mut sums);
        let places = [0, 3 + self.dimension];
        self.shift(&mut sums, kind.len(self.dimension), &places[..if kind == Kind::Swaps { 2 } else { 1 }]);
        let mut distances = vec![0.0; self.rows.len() * centers.len()];
        sparse_distances(&rows, &centers, &mut scratch, &mut distances);
        for (row, distances) in distances.chunks_exact(centers.len()).enumerate() {
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(distances[scratch.nearest(row)], least, "row {row}");
        }
        sums.extend((0..self.rows.len()).map(|row| scratch.nearest(row) as f64));
        sums.extend(distances);
        sums
    }

    /// Computes the sums with the kernels of numbers over the same rows, which have their own oracle.
    fn soft_of_numbers(&self, kind: Sums) -> Vec<f64> {
        let mut centers = SoftCenters::<f64>::default();
        centers.begin(self.dimension, self.temperature);
        for (k, center) in self.centers.iter().enumerate() {
            centers.push(center, -((1 + k) as f64).ln());
            centers.push_direction(center, &self.directions[k]);
        }
        let mut sums = vec![0.0; self.centers.len() * kind.len(self.dimension)];
        let totals = soft_sums(&self.tiles(), &centers, kind, &mut SoftScratch::default(), &mut sums);
        sums.extend([totals.free_energy, totals.softness]);
        sums
    }

    fn hard_of_numbers(&self, kind: Kind) -> Vec<f64> {
        let mut centers = HardCenters::<f64>::default();
        centers.begin(self.dimension);
        for (k, center) in self.centers.iter().enumerate() {
            centers.push(center);
            centers.push_plane(&self.directions[k], self.thresholds[k]);
        }
        let mut sums = vec![0.0; self.centers.len() * kind.len(self.dimension)];
        let mut scratch = HardScratch::default();
        nearest_sums(&self.tiles(), &centers, kind, &mut scratch, &mut sums);
        sums.extend((0..self.rows.len()).map(|row| scratch.nearest(row) as f64));
        for row in 0..self.rows.len() {
            sums.extend(self.centers.iter().map(|center| self.distance(row, center)));
        }
        sums
    }

    fn distance(&self, row: usize, center: &[f64]) -> f64 {
        let parts = self.rows[row].iter().zip(&self.origin).zip(center);
        parts.map(|((x, o), y)| (x - o - y) * (x - o - y)).sum()
    }

    /// Computes the sums from the definition, for each row and centre, and `sum w m |x|^2` for each centre.
    fn soft_by_definition(&self, kind: Sums) -> (Vec<f64>, Vec<f64>) {
        let totals = self.components() * (1 + self.dimension);
        let (mut sums, mut squares) = (vec![0.0; totals + 2], vec![0.0; self.components()]);
        for (row, x) in self.rows.iter().enumerate() {
            let weight = self.weights[row];
            let score = |k: usize| -((1 + k) as f64).ln() - self.distance(row, &self.centers[k]) / self.temperature;
            let scores: Vec<f64> = (0..self.centers.len()).map(score).chain(self.far).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            for (k, score) in scores.iter().enumerate() {
                let along = |y: &Vec<f64>| -> f64 {
                    let from = x.iter().zip(&self.origin).zip(y).map(|((x, o), y)| x - o - y);
                    from.zip(&self.directions[k]).map(|(p, u)| p * u).sum()
                };
                let projection = match self.centers.get(k) {
                    Some(y) if kind == Sums::Along => along(y),
                    _ => 1.0,
                };
                let share = weight * (score - most).exp() / sum * projection;
                squares[k] += share * self.length(row);
                let sums = &mut sums[k * (1 + self.dimension)..];
                sums[0] += share;
                for (sum, (x, o)) in sums[1..].iter_mut().zip(x.iter().zip(&self.origin)) {
                    *sum += share * (x - o);
                }
            }
            sums[totals] -= self.temperature * weight * (most + sum.ln());
            sums[totals + 1] += weight * (1.0 - 1.0 / sum);
        }
        (sums, squares)
    }
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], relative: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0f64, |scale, x| scale.max(x.abs()));
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= relative * scale, "{what}, number {index}: {found} for {expected}");
    }
}

/// Shapes of the tests: rows near the limits of lines and flushes, and centres near the limits of lines and groups of
/// lines.
const SHAPES: [(usize, usize, usize); 9] = [
    (1, 17, 1),
    (7, 64, 2),
    (8, 63, 8),
    (9, 65, 9),
    (33, 128, 17),
    (255, 130, 24),
    (257, 70, 33),
    (600, 33, 5),
    (64, 1047, 50),
];

#[test]
fn soft_sums_are_those_of_the_definition_and_of_numbers_with_the_same_bits_on_every_instruction_set() {
    // The buffers are reused, and their contents from other shapes must have no influence.
    let (of_double, of_single) = (RefCell::<SparseScratch<f64>>::default(), RefCell::<SparseScratch<f32>>::default());
    for shape @ (rows, dimension, clusters) in SHAPES {
        let problem = Problem::new(rows, dimension, clusters);
        let what = format!("{shape:?}");
        let double = on_all_sets(&what, || problem.soft::<f64>(Sums::First, &of_double));
        close(&double, &problem.soft_by_definition(Sums::First).0, 1e-12, &what);
        close(&double, &problem.soft_of_numbers(Sums::First), 1e-12, &what);
        let single = on_all_sets(&what, || problem.soft::<f32>(Sums::First, &of_single));
        close(&single, &double, 1e-5, &what);
        let along = on_all_sets(&what, || problem.soft::<f64>(Sums::Along, &of_double));
        close(&along, &problem.soft_of_numbers(Sums::Along), 1e-12, &what);
        let single = on_all_sets(&what, || problem.soft::<f32>(Sums::Along, &of_single));
        close(&single, &along, 1e-5, &what);
    }
}

#[test]
fn one_that_is_equally_far_from_every_row_takes_its_share_with_the_same_bits_on_every_instruction_set() {
    for shape @ (rows, dimension, clusters) in SHAPES {
        let problem = Problem { far: Some(-4.0), ..Problem::new(rows, dimension, clusters) };
        let what = format!("{shape:?}");
        for kind in [Sums::First, Sums::Along] {
            let scratch = RefCell::default();
            let double = on_all_sets(&what, || problem.soft::<f64>(kind, &scratch));
            let (expected, squares) = problem.soft_by_definition(kind);
            close(&double, &expected, 1e-12, &what);
            if kind == Sums::First {
                let found: Vec<f64> = (0..=clusters).map(|k| scratch.borrow().square(k)).collect();
                close(&found, &squares, 1e-12, &what);
            }
            let single = on_all_sets(&what, || problem.soft::<f32>(kind, &RefCell::default()));
            close(&single, &double, 1e-5, &what);
        }
        // The first row has weight 0.
        let mass = problem.soft::<f64>(Sums::First, &RefCell::default())[clusters * (1 + dimension)];
        assert!(mass > 0.0 || rows == 1, "{what}: {mass}");
    }
}

#[test]
fn hard_sums_are_those_of_numbers_with_the_same_bits_on_every_instruction_set() {
    for shape @ (rows, dimension, clusters) in SHAPES {
        let problem = Problem::new(rows, dimension, clusters);
        for kind in [Kind::Centers, Kind::Swaps] {
            let what = format!("{shape:?} {kind:?}");
            let double = on_all_sets(&what, || problem.hard::<f64>(kind));
            close(&double, &problem.hard_of_numbers(kind), 1e-12, &what);
            let single = on_all_sets(&what, || problem.hard::<f32>(kind));
            close(&single, &double, 1e-5, &what);
        }
    }
}

#[test]
fn distances_keep_their_digits_where_the_origin_is_far_away() {
    // One column is slightly more than a million in every row. Relative to 0, its square would leave only four digits
    // of a squared distance of about 1.
    let stream = Stream::new(1, "far");
    let values: Vec<[f64; 2]> = (0..40).map(|i| [1e6 + stream.uniform(i), stream.uniform(100 + i)]).collect();
    let entries: Vec<(Vec<u32>, [f64; 2])> = values.iter().map(|row| (vec![0, 7], *row)).collect();
    let mut origin = vec![0.0; 17];
    (origin[0], origin[7]) = (1e6 + 0.5, 0.5);
    let length = |i: usize| (values[i][0] - origin[0]).powi(2) + (values[i][1] - origin[7]).powi(2);
    let row = |i: usize| (&entries[i].0[..], &entries[i].1[..]);
    let rows = SparseRows::<f64>::new(40, 17, 1.0, row, length, |_| 1.0);
    let mut center = vec![0.0; 17];
    (center[0], center[7]) = (0.25, -0.25);
    let mut centers = HardSparseCenters::default();
    centers.begin(17, 1);
    centers.set(0, &center, &origin);
    let mut found = vec![0.0; 40];
    sparse_distances(&rows, &centers, &mut SparseScratch::default(), &mut found);
    for (found, row) in found.iter().zip(&values) {
        let expected = (row[0] - origin[0] - 0.25).powi(2) + (row[1] - origin[7] + 0.25).powi(2);
        // The limit is twice a unit in the last place of 2 x c, which is about half a million.
        assert!((found - expected).abs() < 4e-10, "{found} for {expected}");
    }
}

#[test]
#[should_panic(expected = "3 columns")]
fn a_column_beyond_the_last_is_refused() {
    SparseRows::<f64>::new(1, 3, 1.0, |_| (&[3], &[1.0]), |_| 1.0, |_| 1.0);
}
