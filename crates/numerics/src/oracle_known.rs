//! Tests passes with bounds over rows of bits against whole passes, which have their own oracle. The bits must be the
//! same, however centres move between passes. Sums are computed again only for centres that a row left or joined.

use crate::bits::{
    BitRows, BitScratch, HardBitCenters, Known, Moves, assign_known_bits, changes_of_known_bits, nearest_bit_sums,
    sums_of_known_bits,
};
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

    /// Returns the masses and moments of all centres, followed by the nearest centre of each row.
    fn whole<T: Real>(&self, centers: &[f64]) -> Vec<f64> {
        let (hard, mut scratch) = (self.centers::<T>(centers), BitScratch::default());
        let mut sums = vec![0.0; hard.len() * Kind::Centers.len(self.bits)];
        nearest_bit_sums(&self.rows, &hard, Kind::Centers, &mut scratch, &mut sums);
        let of_centers = sums.chunks_exact(Kind::Centers.len(self.bits));
        let mut found: Vec<f64> = of_centers.flat_map(|sums| &sums[..1 + self.bits]).copied().collect();
        found.extend((0..self.rows.rows()).map(|row| scratch.nearest(row) as f64));
        found
    }

    /// Updates the masses and moments of all centres; `sums` has those of the last pass, or none.
    fn of_known<T: Real>(
        &self,
        centers: &[f64],
        moves: &Moves,
        known: &mut Known,
        scratch: &mut BitScratch<T>,
        sums: &mut Vec<f64>,
    ) {
        let (hard, length) = (self.centers::<T>(centers), 1 + self.bits);
        let mut touched = vec![f64::from(u8::from(sums.is_empty())); hard.len()];
        assign_known_bits(&self.rows, &hard, moves, known, scratch, &mut touched);
        let mut places = vec![None; hard.len()];
        let which: Vec<usize> = (0..hard.len()).filter(|&k| touched[k] > 0.0).collect();
        which.iter().enumerate().for_each(|(place, &k)| places[k] = Some(place));
        let mut fresh = vec![0.0; which.len() * length];
        sums_of_known_bits(&self.rows, known, &places, scratch, &mut fresh);
        let is_first = sums.is_empty();
        sums.resize(hard.len() * length, 0.0);
        if !is_first {
            // The weights are whole numbers, so changes lead to the same sums.
            let mut changes = vec![0.0; which.len() * length];
            changes_of_known_bits(&self.rows, known, &places, scratch, &mut changes);
            let before = which.iter().flat_map(|&k| &sums[k * length..][..length]);
            assert!(before.zip(&changes).map(|(sum, change)| sum + change).eq(fresh.iter().copied()));
        }
        for (fresh, &k) in fresh.chunks_exact(length).zip(&which) {
            sums[k * length..][..length].copy_from_slice(fresh);
        }
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
            for (center, sums) in centers.chunks_exact_mut(d).zip(sums.chunks_exact(d + 1)) {
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

    /// Checks each step of a search against the whole pass, and returns all sums. The centres that moved in every
    /// second step may be declared to have jumped.
    fn check<T: Real>(&self, what: &str, clusters: usize, jump: bool) -> Vec<f64> {
        let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<T>::default());
        let course = self.course(clusters);
        let (mut before, mut sums, mut all): (&[f64], _, _) = (&course[0], Vec::new(), Vec::new());
        for (step, centers) in course.iter().enumerate() {
            let count = centers.len() / self.bits;
            if count > known.clusters() && known.rows() > 0 {
                known.take_over(&known.clone(), count);
            }
            moves.measure(before, centers, self.bits, 1.0, jump && step % 2 == 0);
            self.of_known(centers, &moves, &mut known, &mut scratch, &mut sums);
            let mut found = sums.clone();
            found.extend((0..self.rows.rows()).map(|row| known.nearest(row) as f64));
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
        for jump in [false, true] {
            on_all_sets(&what, || problem.check::<f64>(&what, clusters, jump));
            on_all_sets(&what, || problem.check::<f32>(&format!("{what}, f32"), clusters, jump));
        }
    }
}

/// Counts the rows that are compared with any centre, because the bits would be right even if all rows were.
#[test]
fn where_centres_rest_no_row_is_left_to_compare() {
    let problem = Problem::new(400, 130, 20);
    let course = problem.course(20);
    let compared = |before: &[f64], after: &[f64], jumped: bool| {
        let (mut known, mut moves, mut scratch) = (Known::default(), Moves::default(), BitScratch::<f64>::default());
        for centers in [before, before, after] {
            moves.measure(if known.rows() == 0 { centers } else { before }, centers, problem.bits, 1.0, jumped);
            let hard = problem.centers::<f64>(centers);
            assign_known_bits(&problem.rows, &hard, &moves, &mut known, &mut scratch, &mut vec![0.0; hard.len()]);
        }
        scratch.compared()
    };
    let last = course.last().unwrap();
    assert_eq!(compared(last, last, false), 0);
    let mut moved = last.clone();
    moved[..problem.bits].copy_from_slice(&last[problem.bits..2 * problem.bits]);
    moved[0] += 0.5;
    let (plain, jumped) = (compared(last, &moved, false), compared(last, &moved, true));
    assert!(jumped < 100 && plain > 2 * jumped, "{plain} of 400 rows, and {jumped} by the place of the jump");
}
