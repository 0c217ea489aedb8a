//! Computes how certain each label is. The first rounds find the borders between neighbouring clusters. The last round
//! computes the probability that a row belongs to its cluster, and not to a neighbouring cluster.
//!
//! `docs/design/certainty.md` explains the method, and `borders.rs` has the formulas.

use lehr_numerics::dot::dot;

use super::cost::CostIn;
use super::label::Labelled;
use super::noise::OUTLIER;
use crate::Error;
use crate::borders::{Borders, Neighbourhoods, STEPS, SUMS};
use crate::drawn::is_one_in;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::{RowMajor, Scalar};

/// The maximum number of coordinates of all stored differences between centres.
const MOST_DIFFERENCES: usize = 1 << 22;
/// The maximum number of coordinates of the rows that are processed together, so that they fit into the cache.
const POSITIONS: usize = 1 << 16;
/// The approximate number of rows of a cluster that determine its borders. In a larger cluster, one row in n counts.
const ROWS_OF_BORDERS: u64 = 4096;

/// Finds the borders between neighbouring clusters. `spreads` has two numbers for each cluster, of which the first is
/// the number of rows.
pub(super) async fn find_borders<T: Scalar>(
    rounds: &mut dyn Rounds,
    cost: &CostIn<'_, T>,
    spreads: &[f64],
    cells: &LeafCells<Labelled>,
) -> Result<Borders, Error> {
    let rows_of = |cluster: usize| spreads[2 * cluster] as u64;
    let (count, dimension) = (cost.centers.len(), cost.rows.dimension);
    let apart = |a, b| cost.centers.squared_distance(a, b);
    let mut borders = Borders::of_neighbours(count, dimension, |cluster| rows_of(cluster) > 0, apart);
    if borders.is_empty() {
        return Ok(borders);
    }
    let strides: Vec<u64> = (0..cost.centers.len()).map(|k| rows_of(k).div_ceil(ROWS_OF_BORDERS).max(1)).collect();
    let mut sums = Vec::new();
    for step in 0..=STEPS {
        let neighbours = &borders.neighbourhoods(cost.centers.len());
        let is_hard = step == 0;
        let round = BorderRound { cost, neighbours, borders: borders.len(), is_hard, strides: &strides, cells };
        total_of(rounds, &round, &mut sums).await?;
        borders.each_mut().zip(sums.chunks_exact(SUMS)).for_each(|(border, sums)| border.step(sums));
    }
    Ok(borders)
}

/// Multiplies each row's probability by the probability of its cluster among the neighbouring clusters.
pub(super) async fn multiply_probabilities<T: Scalar>(
    rounds: &mut dyn Rounds,
    cost: &CostIn<'_, T>,
    borders: &Borders,
    cells: &LeafCells<Labelled>,
) -> Result<(), Error> {
    if borders.is_empty() {
        return Ok(());
    }
    let neighbours = &borders.neighbourhoods(cost.centers.len());
    let offsets = neighbour_offsets(cost, neighbours);
    let round = ProbabilityRound { cost, neighbours, offsets: offsets.as_deref(), cells };
    total_of(rounds, &round, &mut Vec::new()).await
}

/// For each neighbour of a cluster: the cluster's centre minus the neighbour's centre, and the squared length of this
/// difference.
struct NeighbourOffsets {
    differences: Vec<f64>,
    squares: Vec<f64>,
    /// A squared distance from the cluster's centre. Neighbours do not affect the probability of rows nearer than this.
    alone: f64,
}

/// Returns the differences between neighbouring centres. With a stored difference, a row's excess cost in a neighbour
/// needs only one dot product: `2 (x - a) (a - b) + |a - b|^2`. Returns `None` if rows are not stored as positions, or
/// if there are too many differences.
fn neighbour_offsets<T: Scalar>(
    cost: &CostIn<'_, T>,
    neighbours: &Neighbourhoods<'_>,
) -> Option<Vec<NeighbourOffsets>> {
    let others = |k: usize| neighbours.of(k).map(|(_, _, other)| cost.centers.center(other));
    let count: usize = (0..cost.centers.len()).map(|k| others(k).count()).sum();
    let has_positions = cost.sparse.is_none() && cost.costs.is_none();
    if !has_positions || count * cost.rows.dimension > MOST_DIFFERENCES {
        return None;
    }
    let of_cluster = |k: usize| {
        let own = cost.centers.center(k);
        let differences: Vec<f64> = others(k).flat_map(|other| own.iter().zip(other).map(|(a, b)| a - b)).collect();
        let squared = |difference: &[f64]| difference.iter().map(|x| x * x).sum();
        let squares: Vec<f64> = differences.chunks_exact(cost.rows.dimension).map(squared).collect();
        // At a distance r from the centre, the excess is at least |a - b|^2 - 2 r |a - b| (Cauchy-Schwarz inequality).
        let distance = |(at, &square): (usize, &f64)| match neighbours.least_ignored(k, at, square) {
            Some(excess) => (square - excess) / (2.0 * square.sqrt()),
            None => 0.0,
        };
        let alone = squares.iter().enumerate().map(distance).fold(f64::INFINITY, f64::min);
        NeighbourOffsets { differences, squares, alone: alone * alone }
    };
    Some((0..cost.centers.len()).map(of_cluster).collect())
}

/// A step of expectation maximisation: sums both sides of each border, over the rows of the border's two clusters.
struct BorderRound<'a, T: Scalar> {
    cost: &'a CostIn<'a, T>,
    neighbours: &'a Neighbourhoods<'a>,
    /// The number of borders.
    borders: usize,
    /// Whether each row counts only on the side of its label.
    is_hard: bool,
    /// For each cluster, a number n: one row in n counts, with n times its weight.
    strides: &'a [u64],
    cells: &'a LeafCells<Labelled>,
}

impl<T: Scalar> Round for BorderRound<'_, T> {
    fn len(&self) -> usize {
        SUMS * self.borders
    }

    fn key_len(&self) -> usize {
        SUMS
    }

    fn name(&self) -> &'static str {
        "borders"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let cost = self.cost;
        partial.fill(0.0);
        let mut position = cost.position();
        self.cells.with(index, |labelled| {
            for (&row, &label) in cost.rows.leaves[index].rows.iter().zip(&labelled.labels) {
                let Some(&stride) = self.strides.get(label as usize) else { continue };
                if !is_one_in(u64::from(row), stride) {
                    continue;
                }
                let label = label as usize;
                let weight = stride as f64 * cost.rows.units.stored_weight(cost.input, row);
                cost.read(row, &mut position);
                let own = cost.of(row, label, &position);
                let excess = |other| cost.of(row, other, &position) - own;
                self.neighbours.add(label, excess, self.is_hard, weight, partial);
            }
        });
    }
}

/// The last round: multiplies each row's probability by the probability of its cluster among the neighbouring clusters.
struct ProbabilityRound<'a, T: Scalar> {
    cost: &'a CostIn<'a, T>,
    neighbours: &'a Neighbourhoods<'a>,
    /// For each cluster, the offsets of its neighbours, if they are stored.
    offsets: Option<&'a [NeighbourOffsets]>,
    cells: &'a LeafCells<Labelled>,
}

impl<T: Scalar> Round for ProbabilityRound<'_, T> {
    fn len(&self) -> usize {
        0
    }

    fn name(&self) -> &'static str {
        "probabilities"
    }

    fn map(&self, index: usize, _: &mut [f64]) {
        let leaf = &self.cost.rows.leaves[index];
        self.cells.with(index, |Labelled { labels, probabilities }| {
            let (in_box, bystanders) = labels.split_at(leaf.rows.len());
            let (of_rows, of_bystanders) = probabilities.split_at_mut(leaf.rows.len());
            self.multiply(&leaf.rows, in_box, &leaf.bounds, of_rows);
            // The leaf's box does not include its bystanders.
            self.multiply(&leaf.bystander_rows, bystanders, &[], of_bystanders);
        });
    }
}

impl<T: Scalar> ProbabilityRound<'_, T> {
    /// Multiplies the probabilities of some rows in a bounding box, cluster by cluster. `bounds` is empty if there is
    /// no box.
    fn multiply(&self, rows: &[u32], labels: &[u32], bounds: &[f64], probabilities: &mut [f64]) {
        let cost = self.cost;
        let mut places: Vec<usize> = (0..rows.len()).filter(|&place| labels[place] != OUTLIER).collect();
        places.sort_unstable_by_key(|&place| (labels[place], place));
        let (mut position, mut far) = (cost.position(), FarRows::default());
        for places in places.chunk_by(|&a, &b| labels[a] == labels[b]) {
            let label = labels[places[0]] as usize;
            let among = self.that_matter(label, bounds);
            if among.is_empty() {
                continue;
            }
            if let Some(offsets) = self.offsets {
                for places in places.chunks((POSITIONS / cost.rows.dimension).max(1)) {
                    far.choose(cost, label, places, rows, offsets[label].alone);
                    far.multiply(self.neighbours, label, &among, &offsets[label], probabilities);
                }
                continue;
            }
            for &place in places {
                cost.read(rows[place], &mut position);
                let own = cost.of(rows[place], label, &position);
                let excess = |_, other| cost.of(rows[place], other, &position) - own;
                let among = among.iter().copied();
                probabilities[place] *= self.neighbours.probability(label, among, excess, |_, _| ());
            }
        }
    }

    /// Returns the borders of a cluster that may affect the probability of a row in a bounding box.
    fn that_matter(&self, label: usize, bounds: &[f64]) -> Vec<usize> {
        let (Some(offsets), false) = (self.offsets, bounds.is_empty()) else {
            return self.neighbours.all(label).collect();
        };
        let NeighbourOffsets { differences, squares, .. } = &offsets[label];
        let (least, most) = bounds.split_at(self.cost.rows.dimension);
        self.neighbours.that_matter(label, |at| {
            // The excess cost is linear in the row, so its minimum over the box is at a corner.
            let difference = RowMajor::new(differences, least.len()).row(at);
            let columns = least.iter().zip(most).zip(self.cost.centers.center(label)).zip(difference);
            let corner = |(((least, most), y), d): (((&f64, &f64), &f64), &f64)| ((least - y) * d).min((most - y) * d);
            2.0 * columns.map(corner).sum::<f64>() + squares[at]
        })
    }
}

/// The rows of a cluster that are so far from its centre that neighbours may affect their probability.
#[derive(Default)]
struct FarRows {
    /// The index of each row in its leaf.
    places: Vec<usize>,
    /// The positions of the rows relative to the cluster's centre, row after row.
    positions: Vec<f64>,
    /// The excess cost of each row in a neighbouring cluster.
    excess: Vec<f64>,
    /// The sum of the odds of all neighbours against the cluster, for each row.
    odds: Vec<f64>,
}

impl FarRows {
    /// Chooses the rows whose squared distance from their cluster's centre is at least `alone`. `rows` has all rows of
    /// the leaf, and `places` has the indices of the cluster's rows among them.
    fn choose<T: Scalar>(&mut self, cost: &CostIn<'_, T>, label: usize, places: &[usize], rows: &[u32], alone: f64) {
        let (dimension, center) = (cost.rows.dimension, cost.centers.center(label));
        self.positions.clear();
        self.positions.resize(places.len() * dimension, 0.0);
        // Rows of a leaf are not adjacent in memory. Without a branch between reads, the processor can load several
        // rows at a time.
        for (&place, position) in places.iter().zip(self.positions.chunks_exact_mut(dimension)) {
            cost.read(rows[place], position);
        }
        self.places.clear();
        for (index, &place) in places.iter().enumerate() {
            let range = index * dimension..(index + 1) * dimension;
            let position = &mut self.positions[range.clone()];
            position.iter_mut().zip(center).for_each(|(x, y)| *x -= y);
            if dot(position, position) < alone {
                continue;
            }
            self.positions.copy_within(range, self.places.len() * dimension);
            self.places.push(place);
        }
        self.positions.truncate(self.places.len() * dimension);
    }

    /// Multiplies each chosen row's probability by the probability of its cluster among the neighbouring clusters.
    /// `among` has the indices of the borders that matter.
    fn multiply(
        &mut self,
        neighbours: &Neighbourhoods<'_>,
        label: usize,
        among: &[usize],
        offsets: &NeighbourOffsets,
        probabilities: &mut [f64],
    ) {
        let Some(dimension) = self.positions.len().checked_div(self.places.len()) else { return };
        self.odds.clear();
        self.odds.resize(self.places.len(), 0.0);
        for &at in among {
            let difference = RowMajor::new(&offsets.differences, dimension).row(at);
            let excess = |position| 2.0 * dot(position, difference) + offsets.squares[at];
            self.excess.clear();
            self.excess.extend(self.positions.chunks_exact(dimension).map(excess));
            neighbours.add_odds(label, at, &mut self.excess, &mut self.odds);
        }
        for (&place, odds) in self.places.iter().zip(&self.odds) {
            probabilities[place] *= 1.0 / (1.0 + odds);
        }
    }
}
