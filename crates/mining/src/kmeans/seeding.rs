//! Draws initial centres by k-means++ with several candidates for each centre. Also finds the rows that add most to the
//! cost. Centres without rows are moved to these rows.
//!
//! The candidates for a centre are rows. The probability of a row is proportional to its weight times its squared
//! distance to the nearest centre so far. The candidate that lowers the sum of squares most becomes the centre. A draw
//! chooses a group of leaves, then a leaf of this group, then a row of this leaf. The groups do not depend on the
//! number of ranks, so every layout draws the same rows.
//!
//! For the precision of the distances, see [`positions`](super::positions).

use lehr_numerics::bits::BitRows;
use lehr_numerics::elementary::ln;
use lehr_numerics::lanes::{Line, Real};
use lehr_numerics::random::Stream;
use lehr_numerics::shortest::{Shortest, add_potentials, lower_to};
use lehr_numerics::sparse::SparseRows;
use lehr_numerics::tiles::Tiles;

use super::positions::Positions;
use crate::Error;
use crate::lloyd::Centers;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::{Input, OverStore, RowMajor, Rows, Scalar, Storage, Work};

/// The distances of a leaf's rows to the nearest centre, which the leaf stores while centres are drawn.
#[derive(Debug, Default)]
pub(super) struct Near<T: Real> {
    /// The squared distance of each row to the nearest centre so far; 1 before there is a centre. Each lane of a line
    /// holds the squared distance of one row.
    squares: Vec<T::Line>,
    /// The weighted sum of the squared distances, and the largest squared distance.
    shortest: Shortest,
}

impl<T: Real> Near<T> {
    fn square(&self, row: usize) -> f64 {
        self.squares[row / T::Line::COUNT].lanes()[row % T::Line::COUNT].to_f64()
    }

    /// Lowers the squared distance of each row to the value that `distance` returns for the row, if this value is
    /// smaller.
    fn lower(&mut self, rows: usize, weight: impl Fn(usize) -> f64, mut distance: impl FnMut(usize) -> f64) {
        self.shortest = Shortest::default();
        for row in 0..rows {
            let lane = &mut self.squares[row / T::Line::COUNT].lanes_mut()[row % T::Line::COUNT];
            let square = distance(row);
            if square < lane.to_f64() {
                *lane = T::from_f64(square);
            }
            let square = lane.to_f64();
            self.shortest.sum += weight(row) * square;
            self.shortest.largest = self.shortest.largest.max(square);
        }
    }

    /// Adds to each of `sums` the weighted sum of squares that this leaf would have if one of several positions became
    /// a centre. `distances` contains the squared distances of each row from all these positions.
    fn add_potentials(&self, rows: usize, weight: impl Fn(usize) -> f64, distances: &[f64], sums: &mut [f64]) {
        for (row, distances) in (0..rows).zip(distances.chunks_exact(sums.len())) {
            let (weight, square) = (weight(row), self.square(row));
            for (sum, distance) in sums.iter_mut().zip(distances) {
                *sum += weight * square.min(*distance);
            }
        }
    }
}

/// The random numbers with which centres are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub seed: u64,
    pub purpose: &'static str,
    /// The number of centres that were drawn before with this seed and purpose. Each centre has its own range of random
    /// numbers, so that no two draws use the same number.
    pub drawn: u64,
}

/// Draws centres until there are `clusters` of them, or until every row coincides with a centre.
pub(super) async fn draw<T: Scalar>(
    input: Input<'_>,
    rows: &Rows<T>,
    near: &LeafCells<Near<T>>,
    rounds: &mut dyn Rounds,
    mut centers: Centers,
    clusters: usize,
    numbers: Numbers,
) -> Result<Centers, Error> {
    let dimension = rows.dimension;
    let stream = Stream::new(numbers.seed, numbers.purpose);
    let tries = 2 + ln(clusters as f64) as usize;
    let mut next = numbers.drawn * tries as u64;
    let mut nearest = Nearest::new(rows, near);
    let group = nearest.group;
    let mut total = Vec::new();
    while centers.len() < clusters {
        nearest.update(input, rounds, &centers, &mut total).await?;
        let known = nearest.known;
        if total.iter().sum::<f64>() <= 0.0 {
            if nearest.look_closer() {
                continue;
            }
            break;
        }
        // The first centre has a single candidate, because candidates are compared by the distances to earlier centres.
        let count = if known > 0 { tries } else { 1 };
        let draws: Vec<[f64; 3]> = (0..count as u64)
            .map(|number| [0, 1, 2].map(|level| stream.uniform(3 * (next + number) + level)))
            .collect();
        next += tries as u64;
        let in_group: Vec<usize> = draws.iter().map(|draw| pick(&total, draw[0])).collect();
        total_of(rounds, &LeavesRound { near, group, chosen: &in_group }, &mut total).await?;
        let leaf_of = |(number, draw): (usize, &[f64; 3])| {
            let leaf = in_group[number] * group + pick(RowMajor::new(&total, group).row(number), draw[1]);
            (leaf, draw[2])
        };
        let chosen: Vec<(usize, f64)> = draws.iter().enumerate().map(leaf_of).collect();
        total_of(rounds, &RowsRound { rows, near, chosen: &chosen }, &mut total).await?;
        let mut candidates = Centers { dimension, values: Vec::new() };
        let mut position = vec![0.0; dimension];
        for (&(leaf, _), &at) in chosen.iter().zip(&total) {
            rows.units.read_stored(input, rows.leaves[leaf].rows[at as usize], &mut position);
            candidates.push(&position);
        }
        let best = if count == 1 {
            0
        } else {
            let candidates = Positions::new(rows, &candidates);
            total_of(rounds, &PotentialRound { input, rows, near, candidates: &candidates }, &mut total).await?;
            (0..count).min_by(|&a, &b| total[a].total_cmp(&total[b])).unwrap_or(0)
        };
        centers.push(candidates.center(best));
    }
    Ok(centers)
}

/// Adds centres until there are `clusters` of them, or until every row coincides with a centre. Each new centre is the
/// row with the largest weight times squared distance to the nearest centre so far. If several rows have the same
/// value, the first of these rows is used.
pub(super) async fn farthest<T: Scalar>(
    input: Input<'_>,
    rows: &Rows<T>,
    near: &LeafCells<Near<T>>,
    rounds: &mut dyn Rounds,
    mut centers: Centers,
    clusters: usize,
) -> Result<Centers, Error> {
    let mut nearest = Nearest::new(rows, near);
    let mut total = Vec::new();
    let mut position = vec![0.0; rows.dimension];
    while centers.len() < clusters {
        nearest.update(input, rounds, &centers, &mut total).await?;
        total_of(rounds, &LargestRound { rows, near }, &mut total).await?;
        let of_leaves = RowMajor::new(&total, 2);
        let (share, row) = of_leaves.rows().fold(NO_ROW, |worst, of_leaf| worse(worst, (of_leaf[0], of_leaf[1])));
        if share <= 0.0 {
            if nearest.look_closer() {
                continue;
            }
            break;
        }
        rows.units.read_stored(input, row as u32, &mut position);
        centers.push(&position);
    }
    Ok(centers)
}

/// The initial value of a search for the largest share and its row.
const NO_ROW: (f64, f64) = (0.0, f64::INFINITY);

/// Returns the larger of two shares with the number of its row. If the shares are equal, the lower row number wins.
fn worse(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

/// Updates the distance of each row to its nearest centre while centres are added one after another.
struct Nearest<'a, T: Scalar> {
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near<T>>,
    /// The number of centres for which the distances have been updated.
    known: usize,
    /// The number of leaves in a group.
    group: usize,
    /// Whether rows of numbers are read from the input, and compared in double precision.
    is_close: bool,
}

impl<'a, T: Scalar> Nearest<'a, T> {
    fn new(rows: &'a Rows<T>, near: &'a LeafCells<Near<T>>) -> Self {
        Self { rows, near, known: 0, group: rows.leaves.len().isqrt().max(1), is_close: false }
    }

    /// Starts again in double precision and returns `true`, if rows of numbers were compared in single precision.
    /// Callers use this function if every row seems to coincide with a centre.
    fn look_closer(&mut self) -> bool {
        let is_of_use = !self.is_close && self.rows.storage == Storage::Numbers && T::EPSILON > f64::EPSILON;
        if is_of_use {
            (self.is_close, self.known) = (true, 0);
        }
        is_of_use
    }

    /// Updates the distances for new centres, and writes the sum of the shares of each group of leaves to `total`.
    async fn update(
        &mut self,
        input: Input<'_>,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        total: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let Self { rows, near, group, is_close, .. } = *self;
        let groups = rows.leaves.len().div_ceil(group);
        loop {
            let newest = (self.known < centers.len()).then(|| {
                let values = centers.center(self.known).to_vec();
                Positions::new(rows, &Centers { dimension: centers.dimension, values })
            });
            let (newest, is_first) = (newest.as_ref(), self.known == 0);
            let round = UpdateRound { input, rows, near, newest, is_first, is_close, group, groups };
            total_of(rounds, &round, total).await?;
            self.known = (self.known + 1).min(centers.len());
            if self.known == centers.len() {
                return Ok(());
            }
        }
    }
}

/// Returns the index of a share, with a probability in proportion to the share if `number` is uniform in [0, 1). A
/// share of 0 is not chosen unless all shares are 0.
fn pick(shares: &[f64], number: f64) -> usize {
    let target = number * shares.iter().sum::<f64>();
    let mut sum = 0.0;
    let mut last = 0;
    for (index, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        (sum, last) = (sum + share, index);
        if sum > target {
            break;
        }
    }
    last
}

/// Updates the distances for the newest centre, and adds up the shares of each group of leaves. The share of a row is
/// its weight times its squared distance to the nearest centre so far.
struct UpdateRound<'a, T: Scalar> {
    input: Input<'a>,
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near<T>>,
    newest: Option<&'a Positions<'a, T>>,
    /// Whether there was no centre before the newest one.
    is_first: bool,
    /// Whether distances of rows of numbers are computed from the input in double precision.
    is_close: bool,
    group: usize,
    groups: usize,
}

impl<T: Scalar> UpdateRound<'_, T> {
    /// Calls `lower` to update the distances of a leaf for the newest centre, and adds up the shares of the leaf's
    /// rows.
    fn update(&self, leaf: usize, partial: &mut [f64], lower: impl FnOnce(&mut Near<T>, &Positions<'_, T>)) {
        let store = &self.rows.leaves[leaf].store;
        self.near.with(leaf, |near| {
            if self.is_first {
                let number = if self.newest.is_some() { f64::INFINITY } else { 1.0 };
                near.squares.clear();
                near.squares.resize(store.len().div_ceil(T::Line::COUNT), Tiles::<T>::line_of(number));
            }
            match self.newest {
                Some(newest) => lower(near, newest),
                None => near.lower(store.len(), |row| store.weight(row), |_| 1.0),
            }
            partial[leaf / self.group] = near.shortest.sum;
        });
    }
}

impl<T: Scalar> OverStore<T, Work<'_, T>> for UpdateRound<'_, T> {
    fn over_numbers(&self, tiles: &Tiles<T>, Work { leaf, partial, .. }: Work<'_, T>) {
        let (units, of_leaf) = (&self.rows.units, &self.rows.leaves[leaf]);
        let bounds = &of_leaf.bounds;
        self.update(leaf, partial, |near, newest| {
            if self.is_close {
                let (center, mut position) = (newest.stored.center(0), vec![0.0; self.rows.dimension]);
                let distance = |row: usize| {
                    units.read_stored(self.input, of_leaf.rows[row], &mut position);
                    position.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum()
                };
                near.lower(tiles.rows(), |row| tiles.weight(row), distance);
            } else if self.is_first || newest.may_be_within(near.shortest.largest, bounds, 0) {
                near.shortest = lower_to(tiles, newest.numbers(), 0, &mut near.squares);
            }
        });
    }

    fn over_bits(&self, bits: &BitRows, Work { leaf, scratch, partial }: Work<'_, T>) {
        self.update(leaf, partial, |near, newest| {
            newest.distances_of_bits(bits, scratch);
            near.lower(bits.rows(), |row| bits.weight(row), |row| scratch.sums[row]);
        });
    }

    fn over_sparse(&self, rows: &SparseRows<T>, Work { leaf, scratch, partial }: Work<'_, T>) {
        self.update(leaf, partial, |near, newest| {
            newest.distances_of_sparse(self.input, &self.rows.leaves[leaf].rows, scratch);
            near.lower(rows.rows(), |row| rows.weight(row), |row| scratch.sums[row]);
        });
    }
}

impl<T: Scalar> Round for UpdateRound<'_, T> {
    fn len(&self) -> usize {
        self.groups
    }

    fn key_len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "distances to the newest centre"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        self.rows.map(self, leaf, partial);
    }
}

/// Finds the largest share in each leaf, and the number of the row that has this share.
struct LargestRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near<T>>,
}

impl<T: Scalar> Round for LargestRound<'_, T> {
    fn len(&self) -> usize {
        2 * self.rows.leaves.len()
    }

    fn key_len(&self) -> usize {
        2
    }

    fn name(&self) -> &'static str {
        "which row is farthest"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let leaf = &self.rows.leaves[index];
        let (share, row) = self.near.with(index, |near| {
            let share = |(at, &row): (usize, &u32)| (leaf.store.weight(at) * near.square(at), f64::from(row));
            leaf.rows.iter().enumerate().map(share).fold(NO_ROW, worse)
        });
        if share > 0.0 {
            partial[2 * index..][..2].copy_from_slice(&[share, row]);
        }
    }
}

/// Adds up the shares of the rows in each leaf of the chosen groups.
struct LeavesRound<'a, T: Scalar> {
    near: &'a LeafCells<Near<T>>,
    group: usize,
    chosen: &'a [usize],
}

impl<T: Scalar> Round for LeavesRound<'_, T> {
    fn len(&self) -> usize {
        self.chosen.len() * self.group
    }

    fn key_len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "which leaf"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        for (number, _) in self.chosen.iter().enumerate().filter(|(_, group)| **group == index / self.group) {
            partial[number * self.group + index % self.group] = self.near.with(index, |near| near.shortest.sum);
        }
    }
}

/// Draws a row from each chosen leaf, with a probability in proportion to the row's share.
struct RowsRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near<T>>,
    /// The leaf of each draw, and a random number in [0, 1).
    chosen: &'a [(usize, f64)],
}

impl<T: Scalar> Round for RowsRound<'_, T> {
    fn len(&self) -> usize {
        self.chosen.len()
    }

    fn key_len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "which row"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let store = &self.rows.leaves[index].store;
        for (at, (_, number)) in partial.iter_mut().zip(self.chosen).filter(|(_, (leaf, _))| *leaf == index) {
            let shares: Vec<f64> = self
                .near
                .with(index, |near| (0..store.len()).map(|row| store.weight(row) * near.square(row)).collect());
            *at = pick(&shares, *number) as f64;
        }
    }
}

/// Computes the sum of squares that would result if each candidate became a centre.
struct PotentialRound<'a, T: Scalar> {
    input: Input<'a>,
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near<T>>,
    candidates: &'a Positions<'a, T>,
}

impl<T: Scalar> OverStore<T, Work<'_, T>> for PotentialRound<'_, T> {
    fn over_numbers(&self, tiles: &Tiles<T>, Work { leaf, scratch, partial }: Work<'_, T>) {
        let bounds = &self.rows.leaves[leaf].bounds;
        self.near.with(leaf, |near| {
            let largest = near.shortest.largest;
            scratch.active.clear();
            scratch.active.extend((0..partial.len()).filter(|&k| self.candidates.may_be_within(largest, bounds, k)));
            scratch.hard_centers.begin(self.rows.dimension);
            for &k in &scratch.active {
                scratch.hard_centers.push(self.candidates.stored.center(k));
            }
            scratch.sums.clear();
            scratch.sums.resize(scratch.active.len(), 0.0);
            add_potentials(tiles, &scratch.hard_centers, &near.squares, &mut scratch.sums);
            // An inactive candidate is farther from every row of the leaf than the nearest centre, so the leaf's sum
            // stays the same.
            partial.fill(near.shortest.sum);
            for (&k, sum) in scratch.active.iter().zip(&scratch.sums) {
                partial[k] = *sum;
            }
        });
    }

    fn over_bits(&self, bits: &BitRows, Work { leaf, scratch, partial }: Work<'_, T>) {
        self.candidates.distances_of_bits(bits, scratch);
        self.near.with(leaf, |near| {
            near.add_potentials(bits.rows(), |row| bits.weight(row), &scratch.sums, partial);
        });
    }

    fn over_sparse(&self, rows: &SparseRows<T>, Work { leaf, scratch, partial }: Work<'_, T>) {
        self.candidates.distances_of_sparse(self.input, &self.rows.leaves[leaf].rows, scratch);
        self.near.with(leaf, |near| {
            near.add_potentials(rows.rows(), |row| rows.weight(row), &scratch.sums, partial);
        });
    }
}

impl<T: Scalar> Round for PotentialRound<'_, T> {
    fn len(&self) -> usize {
        self.candidates.stored.len()
    }

    fn key_len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "candidates"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        self.rows.map(self, leaf, partial);
    }
}

#[cfg(test)]
mod tests {
    use crate::vector::Cost;
    use lehr_data::{Fingerprints, Points, Sparse};

    use super::*;
    use crate::round::{Execution, Program, drive};
    use lehr_ranks::Engine;

    #[test]
    fn a_number_falls_on_each_share_as_often_as_it_is_large_and_never_on_nothing() {
        let shares = [0.0, 1.0, 0.0, 3.0, 0.0];
        assert_eq!([0.0, 0.2499, 0.25, 0.9999].map(|number| pick(&shares, number)), [1, 1, 3, 3]);
    }

    const NUMBERS: Numbers = Numbers { seed: 5, purpose: "k-means++", drawn: 0 };

    /// A program that draws centres and returns them in stored units.
    struct Draw<'a, T: Scalar> {
        input: Input<'a>,
        rows: Rows<T>,
        near: LeafCells<Near<T>>,
        clusters: usize,
    }

    impl<T: Scalar> Program for Draw<'_, T> {
        type Output = Vec<f64>;
        type Error = Error;

        async fn run(&self, rounds: &mut dyn Rounds) -> Result<Vec<f64>, Error> {
            let none = Centers { dimension: self.rows.dimension, values: Vec::new() };
            let found = draw(self.input, &self.rows, &self.near, rounds, none, self.clusters, NUMBERS).await?;
            Ok(found.values)
        }
    }

    /// Draws centres on several layouts, and checks that all layouts give the same centres.
    fn drawn<T: Scalar>(input: Input<'_>, clusters: usize) -> Vec<f64> {
        let layouts = [(Engine::Ranks, 1, 1), (Engine::Ranks, 3, 2), (Engine::Loop, 1, 2), (Engine::Ports, 1, 4)];
        let found: Vec<Vec<f64>> = layouts
            .into_iter()
            .map(|(engine, ranks, threads)| {
                let rows = Rows::<T>::on_threads(input, Cost::Squared, threads).unwrap();
                let near = LeafCells::new(rows.leaves.len(), |_| Near::default());
                let execution = Execution { engine, ranks, threads, job: None };
                let draw = Draw { input, rows, near, clusters };
                drive(&execution, draw.rows.dealt, &draw).unwrap()
            })
            .collect();
        assert!(found.iter().all(|other| *other == found[0]), "layouts differ");
        found.into_iter().next().unwrap()
    }

    /// Draws the expected centres with plain loops over the rows in double precision. Every distance is computed from
    /// differences.
    fn expected(input: Input<'_>, clusters: usize) -> Vec<f64> {
        let rows = Rows::<f64>::new(input).unwrap();
        let stream = Stream::new(NUMBERS.seed, NUMBERS.purpose);
        let (tries, group) = (2 + ln(clusters as f64) as usize, rows.leaves.len().isqrt().max(1));
        let position = |row: u32| {
            let mut position = vec![0.0; rows.dimension];
            rows.units.read_stored(input, row, &mut position);
            position
        };
        let positions: Vec<Vec<f64>> = (0..input.len() as u32).map(position).collect();
        let apart = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum() };
        let weight = |row: u32| rows.units.stored_weight(input, row);
        let mut squares = vec![1.0; input.len()];
        let mut centers: Vec<Vec<f64>> = Vec::new();
        for number in 0..clusters as u64 {
            let of_leaf = |leaf: usize| -> Vec<f64> {
                rows.leaves[leaf].rows.iter().map(|&row| weight(row) * squares[row as usize]).collect()
            };
            let leaves: Vec<f64> = (0..rows.leaves.len()).map(|leaf| of_leaf(leaf).iter().sum()).collect();
            let groups: Vec<f64> = leaves.chunks(group).map(|leaves| leaves.iter().sum()).collect();
            let candidate = |at: u64| {
                let draw = [0, 1, 2].map(|level| stream.uniform(3 * (number * tries as u64 + at) + level));
                let chosen = pick(&groups, draw[0]);
                let leaf = chosen * group + pick(leaves.chunks(group).nth(chosen).unwrap(), draw[1]);
                positions[rows.leaves[leaf].rows[pick(&of_leaf(leaf), draw[2])] as usize].clone()
            };
            let candidates: Vec<Vec<f64>> = (0..if number == 0 { 1 } else { tries as u64 }).map(candidate).collect();
            let potential = |center: &Vec<f64>| -> f64 {
                let row = |row: usize| weight(row as u32) * squares[row].min(apart(&positions[row], center));
                (0..input.len()).map(row).sum()
            };
            let potentials: Vec<f64> = candidates.iter().map(potential).collect();
            let best = (0..candidates.len()).min_by(|&a, &b| potentials[a].total_cmp(&potentials[b])).unwrap();
            for (square, position) in squares.iter_mut().zip(&positions) {
                let distance = apart(position, &candidates[best]);
                *square = if number == 0 { distance } else { square.min(distance) };
            }
            centers.push(candidates[best].clone());
        }
        centers.concat()
    }

    #[test]
    fn kernels_draw_the_rows_that_loops_in_double_precision_draw_from_numbers_bits_and_sparse_rows() {
        let stream = Stream::new(1, "rows to draw from");
        for (rows, dimension) in [(20_000, 2), (3_000, 16), (2_000, 40)] {
            let group = |row: usize| 10.0 * (row % 7) as f64;
            let value = |at: usize| group(at / dimension) + stream.normal(at as u64);
            let points = Points::new((0..rows * dimension).map(value).collect(), dimension).unwrap();
            let points = points.with_weights((0..rows).map(|row| (row % 3) as f64).collect()).unwrap();
            let expected = expected((&points).into(), 9);
            assert_eq!(drawn::<f64>((&points).into(), 9), expected, "{rows} x {dimension}");
            assert_eq!(drawn::<f32>((&points).into(), 9), expected, "{rows} x {dimension}, single");
        }
        let bits =
            |row: usize, j: usize| stream.uniform((1_000_000 + 100 * row + j) as u64) < 0.1 + 0.2 * (row % 4) as f64;
        let words = |row: usize| {
            (0..2).map(move |word| (0..35).fold(0u64, |bits_of, j| bits_of | u64::from(bits(row, 35 * word + j)) << j))
        };
        let rows = Fingerprints::new((0..2_000).flat_map(words).collect(), 128).unwrap();
        let expected_of_bits = expected((&rows).into(), 9);
        assert_eq!(drawn::<f64>((&rows).into(), 9), expected_of_bits);
        assert_eq!(drawn::<f32>((&rows).into(), 9), expected_of_bits);
        let there = |row: usize| -> Vec<(u32, f64)> {
            let is_there = |j: &u32| stream.bits((row as u64) << 20 | u64::from(*j)).is_multiple_of(16);
            let value = |j: u32| stream.uniform(5_000_000 + 200 * row as u64 + u64::from(j)) + (1 + row % 3) as f64;
            (0..200).filter(is_there).map(|j| (j, value(j))).collect()
        };
        let rows = Sparse::from_rows((0..2_000).map(there), 200).unwrap();
        let expected_of_sparse = expected((&rows).into(), 9);
        assert_eq!(drawn::<f64>((&rows).into(), 9), expected_of_sparse);
        assert_eq!(drawn::<f32>((&rows).into(), 9), expected_of_sparse);
    }

    #[test]
    fn rows_that_single_precision_does_not_tell_apart_are_told_apart_all_the_same() {
        let points = Points::new(vec![0.0, 1.0, 1.0 + 1e-12], 1).unwrap();
        let mut found = drawn::<f32>((&points).into(), 3);
        found.dedup();
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(drawn::<f32>((&points).into(), 4).len(), 3, "no more than there are");
    }
}
