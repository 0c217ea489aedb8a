//! Starting centres: k-means++ with several candidates a centre. Beside it the row that is worst off, for a centre that has none.
//!
//! Each centre is drawn among the rows with a probability in proportion to weight times squared distance to the nearest centre so far; of some candidates drawn, that is taken which
//! lowers the sum of squares most. A draw walks down a tree that does not depend on ranks: groups of leaves, the leaves of one group, the rows of one leaf. So the rows drawn are the
//! same on any layout.

use lehr_numerics::random::Stream;

use crate::Error;
use crate::lloyd::Centers;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::{DistanceTo, Input, RowMajor, Rows, Scalar};

/// What a leaf knows of its rows while centres are drawn.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// Weight times the squared distance to the nearest centre so far, by row; the weight alone before there is one.
    shares: Vec<f64>,
    sum: f64,
}

/// Where the random numbers of some draws come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub seed: u64,
    pub purpose: &'static str,
    /// How many centres were drawn from them before: for each as many numbers are set apart as it can take, so that draws share none.
    pub drawn: u64,
}

/// Draws centres beside those that there are, until there are `clusters`; fewer if the rows have fewer positions.
pub(super) async fn draw<T: Scalar>(
    input: Input<'_>,
    rows: &Rows<T>,
    near: &LeafCells<Near>,
    rounds: &mut dyn Rounds,
    mut centers: Centers,
    clusters: usize,
    numbers: Numbers,
) -> Result<Centers, Error> {
    let dimension = rows.dimension;
    let stream = Stream::new(numbers.seed, numbers.purpose);
    let tries = 2 + (clusters as f64).ln() as usize;
    let mut next = numbers.drawn * tries as u64;
    let mut nearest = Nearest::new(rows, near);
    let group = nearest.group;
    let mut total = Vec::new();
    while centers.len() < clusters {
        nearest.update(input, rounds, &centers, &mut total).await?;
        let known = nearest.known;
        if total.iter().sum::<f64>() <= 0.0 {
            break;
        }
        // The first centre is any row; candidates would say nothing of it yet.
        let count = if known > 0 { tries } else { 1 };
        let draws: Vec<[f64; 3]> = (0..count as u64)
            .map(|number| [0, 1, 2].map(|level| stream.uniform(3 * (next + number) + level)))
            .collect();
        next += tries as u64;
        let in_group: Vec<usize> = draws.iter().map(|draw| pick(&total, draw[0])).collect();
        total_of(rounds, &LeavesRound { near, group, chosen: &in_group }, &mut total).await?;
        let leaf_of = |(number, draw): (usize, &[f64; 3])| {
            in_group[number] * group + pick(RowMajor::new(&total, group).row(number), draw[1])
        };
        let leaves: Vec<usize> = draws.iter().enumerate().map(leaf_of).collect();
        let longest = leaves.iter().map(|&leaf| rows.leaves[leaf].rows.len()).max().unwrap_or(0);
        total_of(rounds, &RowsRound { near, longest, chosen: &leaves }, &mut total).await?;
        let mut candidates = Centers { dimension, values: Vec::new() };
        let mut position = vec![0.0; dimension];
        for (number, draw) in draws.iter().enumerate() {
            let leaf = &rows.leaves[leaves[number]].rows;
            let row = leaf[pick(&RowMajor::new(&total, longest).row(number)[..leaf.len()], draw[2])];
            rows.units.read_stored(input, row, &mut position);
            candidates.push(&position);
        }
        let best = if count == 1 {
            0
        } else {
            let distances: Vec<DistanceTo<'_>> =
                (0..count).map(|number| DistanceTo::new(rows, input, candidates.center(number))).collect();
            total_of(rounds, &PotentialRound { input, rows, near, candidates: &distances }, &mut total).await?;
            (0..count).min_by(|&a, &b| total[a].total_cmp(&total[b])).unwrap_or(0)
        };
        centers.push(candidates.center(best));
    }
    Ok(centers)
}

/// Puts centres beside those that there are, until there are `clusters`: each at the row whose weight times squared distance to the nearest centre so far is largest, of several such
/// rows at the first. Fewer if every row is where a centre is.
pub(super) async fn farthest<T: Scalar>(
    input: Input<'_>,
    rows: &Rows<T>,
    near: &LeafCells<Near>,
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
            break;
        }
        rows.units.read_stored(input, row as u32, &mut position);
        centers.push(&position);
    }
    Ok(centers)
}

/// A share and its row: none.
const NO_ROW: (f64, f64) = (0.0, f64::INFINITY);

/// The larger of two shares, with their rows; of equal ones the first row's.
fn worse(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

/// Leaves on their way to know how near each row is to some centres, which come one after the other.
struct Nearest<'a, T: Scalar> {
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near>,
    /// How many of the centres rows know already.
    known: usize,
    /// Leaves of a group.
    group: usize,
}

impl<'a, T: Scalar> Nearest<'a, T> {
    fn new(rows: &'a Rows<T>, near: &'a LeafCells<Near>) -> Self {
        Self { rows, near, known: 0, group: rows.leaves.len().isqrt().max(1) }
    }

    /// Takes the centres into account that are new; leaves the shares of each group of leaves in `total`.
    async fn update(
        &mut self,
        input: Input<'_>,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        total: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let Self { rows, near, group, .. } = *self;
        let groups = rows.leaves.len().div_ceil(group);
        loop {
            let newest = (self.known < centers.len()).then(|| DistanceTo::new(rows, input, centers.center(self.known)));
            let (newest, is_first) = (newest.as_ref(), self.known == 0);
            total_of(rounds, &UpdateRound { input, rows, near, newest, is_first, group, groups }, total).await?;
            self.known = (self.known + 1).min(centers.len());
            if self.known == centers.len() {
                return Ok(());
            }
        }
    }
}

/// Which of some shares a number in [0, 1) falls on; never on one of 0.
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

/// Takes the newest centre into account; sums the shares of each group of leaves.
struct UpdateRound<'a, T: Scalar> {
    input: Input<'a>,
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near>,
    newest: Option<&'a DistanceTo<'a>>,
    /// Whether there was none before the newest.
    is_first: bool,
    group: usize,
    groups: usize,
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

    fn map(&self, index: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let leaf = &self.rows.leaves[index].rows;
        self.near.with(index, |near| {
            near.shares.resize(leaf.len(), 0.0);
            for (share, &row) in near.shares.iter_mut().zip(leaf) {
                let weight = self.rows.units.stored_weight(self.input, row);
                let now = match self.newest {
                    Some(distance) => weight * distance.of(row),
                    None => weight,
                };
                *share = if self.is_first { now } else { share.min(now) };
            }
            near.sum = near.shares.iter().sum();
            partial[index / self.group] = near.sum;
        });
    }
}

/// The largest share of each leaf, and the number of its row.
struct LargestRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near>,
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
        let rows = &self.rows.leaves[index].rows;
        let (share, row) = self.near.with(index, |near| {
            let shares = near.shares.iter().zip(rows).map(|(&share, &row)| (share, f64::from(row)));
            shares.fold(NO_ROW, worse)
        });
        if share > 0.0 {
            partial[2 * index..][..2].copy_from_slice(&[share, row]);
        }
    }
}

/// The sums of the leaves of some groups.
struct LeavesRound<'a> {
    near: &'a LeafCells<Near>,
    group: usize,
    chosen: &'a [usize],
}

impl Round for LeavesRound<'_> {
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
            partial[number * self.group + index % self.group] = self.near.with(index, |near| near.sum);
        }
    }
}

/// The shares of the rows of some leaves.
struct RowsRound<'a> {
    near: &'a LeafCells<Near>,
    longest: usize,
    chosen: &'a [usize],
}

impl Round for RowsRound<'_> {
    fn len(&self) -> usize {
        self.chosen.len() * self.longest
    }

    fn key_len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "which row"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        for (_, shares) in
            self.chosen.iter().zip(partial.chunks_exact_mut(self.longest)).filter(|(leaf, _)| **leaf == index)
        {
            self.near.with(index, |near| shares[..near.shares.len()].copy_from_slice(&near.shares));
        }
    }
}

/// What the sum of squares would be with each candidate.
struct PotentialRound<'a, T: Scalar> {
    input: Input<'a>,
    rows: &'a Rows<T>,
    near: &'a LeafCells<Near>,
    candidates: &'a [DistanceTo<'a>],
}

impl<T: Scalar> Round for PotentialRound<'_, T> {
    fn len(&self) -> usize {
        self.candidates.len()
    }

    fn key_len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "candidates"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        self.near.with(index, |near| {
            for (&share, &row) in near.shares.iter().zip(&self.rows.leaves[index].rows) {
                let weight = self.rows.units.stored_weight(self.input, row);
                for (potential, candidate) in partial.iter_mut().zip(self.candidates) {
                    *potential += share.min(weight * candidate.of(row));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_falls_on_each_share_as_often_as_it_is_large_and_never_on_nothing() {
        let shares = [0.0, 1.0, 0.0, 3.0, 0.0];
        assert_eq!([0.0, 0.2499, 0.25, 0.9999].map(|number| pick(&shares, number)), [1, 1, 3, 3]);
    }
}
