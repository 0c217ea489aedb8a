//! Tests passes with bounds over rows of bits against whole passes, which have their own oracle. The bits must be the
//! same, however centres move between passes.

use crate::bits::{BitRows, BitScratch, HardBitCenters, Known, Moves, nearest_bit_sums, nearest_bit_sums_of_known};
use crate::lanes::Real;
use crate::nearest::Kind;
use crate::oracle::on_all_sets;
use crate::random::Stream;

/// Rows around `groups` templates; some rows are equal, and some have weight 0.
struct Problem {
    bits: usize,
    rows: BitRows,
}

impl Problem {
    fn new(rows: usize, bits: usize, groups: usize) -> Self {
        let stream = Stream::new((rows * 1_000_000 + bits * 100 + groups) as u64, "known rows");
        let is_set = |row: usize, j: usize| {
            let row = if row % 7 == 6 { row - 1 } else { row };
            let template = stream.uniform((1 << 40) + ((row % groups) * bits + j) as u64) < 0.3;
            template != (stream.uniform((row * bits + j) as u64) < 0.1)
        };
        let width = bits.div_ceil(64);
        let mut words = vec![0u64; rows * width];
        for (row, words) in words.chunks_exact_mut(width).enumerate() {
            (0..bits).filter(|&j| is_set(row, j)).for_each(|j| words[j / 64] |= 1 << (j % 64));
        }
        let row = |i: usize| &words[i * width..][..width];
        Self { bits, rows: BitRows::new(rows, bits, row, |i| (i % 4) as f64) }
    }

    fn row(&self, row: usize) -> Vec<f64> {
        let words = self.rows.row(row % self.rows.rows());
        (0..self.bits).map(|j| (words[j / 64] >> (j % 64) & 1) as f64).collect()
    }

    fn centers<T: Real>(&self, centers: &[f64]) -> HardBitCenters<T> {
        let mut hard = HardBitCenters::default();
        hard.begin(self.bits, centers.len() / self.bits);
        centers.chunks(self.bits).enumerate().for_each(|(k, center)| hard.set(k, center));
        hard
    }

    /// Returns the sums, followed by the nearest centre of each row.
    fn whole<T: Real>(&self, centers: &[f64]) -> Vec<f64> {
        let (hard, mut scratch) = (self.centers::<T>(centers), BitScratch::default());
        let mut sums = vec![0.0; hard.len() * Kind::Centers.len(self.bits)];
        nearest_bit_sums(&self.rows, &hard, Kind::Centers, &mut scratch, &mut sums);
        sums.extend((0..self.rows.rows()).map(|row| scratch.nearest(row) as f64));
        sums
    }

    fn of_known<T: Real>(
        &self,
        centers: &[f64],
        moves: &Moves,
        known: &mut Known,
        scratch: &mut BitScratch<T>,
    ) -> Vec<f64> {
        let hard = self.centers::<T>(centers);
        let mut sums = vec![0.0; hard.len() * Kind::Centers.len(self.bits)];
        nearest_bit_sums_of_known(&self.rows, &hard, moves, known, scratch, &mut sums);
        sums.extend((0..self.rows.rows()).map(|row| known.nearest(row) as f64));
        sums
    }

    /// Returns sets of centres as a search moves them. Each step moves the centres to the means of their rows. Some
    /// steps repeat the previous set, move two centres to rows, move two to the same position, move one far away, or
    /// add one.
    fn course(&self, clusters: usize) -> Vec<Vec<f64>> {
        let d = self.bits;
        let mut centers: Vec<f64> = (0..clusters).flat_map(|k| self.row(5 * k)).collect();
        let mut course = vec![centers.clone()];
        for step in 0..14 {
            let sums = self.whole::<f64>(&centers);
            for (center, sums) in centers.chunks_exact_mut(d).zip(sums.chunks_exact(d + 2)) {
                if sums[0] > 0.0 {
                    center.iter_mut().zip(&sums[1..]).for_each(|(y, sum)| *y = sum / sums[0]);
                }
            }
            match step {
                3 => centers.copy_from_slice(&course[3]),
                5 => (0..clusters.min(2)).for_each(|k| centers[k * d..][..d].copy_from_slice(&self.row(k + 3))),
                7 => centers.copy_within(..d, (clusters - 1) * d),
                9 => centers[..d].fill(1e9),
                11 => centers.extend(self.row(1)),
                _ => {}
            }
            course.push(centers.clone());
        }
        course
    }

    /// Checks each step of a search against the whole pass, and returns all sums.
    fn check<T: Real>(&self, what: &str, clusters: usize) -> Vec<f64> {
        let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<T>::default());
        let course = self.course(clusters);
        let (mut before, mut all): (&[f64], _) = (&course[0], Vec::new());
        for (step, centers) in course.iter().enumerate() {
            let count = centers.len() / self.bits;
            if count > known.clusters() && known.rows() > 0 {
                known.take_over(&known.clone(), count);
            }
            moves.measure(before, centers, self.bits, 1.0);
            let found = self.of_known(centers, &moves, &mut known, &mut scratch);
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&self.whole::<T>(centers)), "{what}, step {step}");
            all.extend(found);
            before = centers;
        }
        all
    }
}

/// Rows, columns and centres of each test: near the limits of walks, of words and blocks, and of lines.
const SHAPES: [(usize, usize, usize); 10] = [
    (1, 17, 1),
    (3, 24, 2),
    (33, 17, 4),
    (40, 65, 9),
    (129, 33, 17),
    (300, 64, 5),
    (257, 130, 24),
    (130, 449, 9),
    (64, 1047, 33),
    (530, 40, 40),
];

#[test]
fn passes_over_known_rows_have_the_bits_of_whole_ones_on_every_instruction_set() {
    for (rows, bits, clusters) in SHAPES {
        let problem = Problem::new(rows, bits, clusters);
        let what = format!("{rows} rows, {bits} bits, {clusters} centres");
        on_all_sets(&what, || problem.check::<f64>(&what, clusters));
        on_all_sets(&what, || problem.check::<f32>(&format!("{what}, f32"), clusters));
    }
}

/// Counts distances, because the bits would be right even if every distance were computed.
#[test]
fn where_centres_rest_few_distances_are_left_to_form() {
    let problem = Problem::new(400, 130, 20);
    let course = problem.course(20);
    let centers = course.last().unwrap();
    let squared = |row: usize, k: usize| -> f64 {
        let center = &centers[k * problem.bits..][..problem.bits];
        problem.row(row).iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum()
    };
    let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<f64>::default());
    for _ in 0..2 {
        moves.measure(centers, centers, problem.bits, 1.0);
        problem.of_known(centers, &moves, &mut known, &mut scratch);
    }
    let left = (0..400).filter(|&row| known.has_others_near(row, squared(row, known.nearest(row)))).count();
    assert!(left < 40, "{left} of 400 rows");
}
