//! Labels rows: finds the cluster of each row and its probability, and sums the rows of each cluster.
//!
//! These rounds run in double precision on the original rows, even if annealing ran in single precision. The first
//! round labels all rows, including rows of weight 0, and sums the rows of each cluster, so that centres become exact
//! means. The second round measures the distances from these means, if they do not follow from the first round. The
//! rounds of `certainty.rs` follow.

use lehr_numerics::bits::BitRows;
use lehr_numerics::nearest::nearest_labels;
use lehr_numerics::sparse::{SparseRows, sparse_distances};
use lehr_numerics::tiles::Tiles;

use super::centers::Centers;
use super::certainty::{find_borders, multiply_probabilities};
use super::cost::{CostIn, SparseCenters};
use super::hard::nearest_active;
use super::noise::{OUTLIER, within};
use crate::Error;
use crate::borders::Borders;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::bernoulli::Costs;
use crate::rows::{BitDistance, Input, OverStore, RowMajor, RowMajorMut, Rows, Scalar, SparseDistance, Storage};

/// The number of rows that are converted to double precision together, if they are stored in another form.
const UNPACKED: usize = 256;
/// The maximum share of a cluster's squared distances that the move of its centre may remove. If the share is larger,
/// the distances are measured again.
const MOST_MOVED: f64 = 0.5;

/// The labels and probabilities of a leaf's rows, followed by the labels and probabilities of its bystanders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labelled {
    pub labels: Vec<u32>,
    pub probabilities: Vec<f64>,
}

impl Labelled {
    /// Appends the number of rows, the labels and the probabilities as bytes.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.labels.len() as u64).to_le_bytes());
        self.labels.iter().for_each(|label| bytes.extend_from_slice(&label.to_le_bytes()));
        self.probabilities.iter().for_each(|probability| bytes.extend_from_slice(&probability.to_le_bytes()));
    }

    /// Reads labels and probabilities from the bytes that [`write`](Self::write) appended.
    pub fn read(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.split_first_chunk().expect("a number of rows");
        let (labels, probabilities) = rest.split_at(u64::from_le_bytes(*rows) as usize * size_of::<u32>());
        self.labels = labels
            .chunks_exact(size_of::<u32>())
            .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
            .collect();
        self.probabilities = probabilities
            .chunks_exact(size_of::<f64>())
            .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
            .collect();
    }
}

/// The outlier radius of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    /// The square of the outlier radius.
    pub squared_radius: f64,
    /// The temperature at which the share of the noise component is computed.
    pub temperature: f64,
}

/// The move of the centres after all rows have been assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastMove {
    /// Each centre moves to the exact mean of its rows.
    ToTheMeans,
    /// The centres stay, so that each label is the nearest centre. This is used for a run that ended early.
    Nowhere,
}

impl LastMove {
    /// Chooses the move after sweeps. `is_fixed` says whether the sweeps reached a fixed point.
    pub fn after(is_fixed: bool) -> Self {
        if is_fixed { Self::ToTheMeans } else { Self::Nowhere }
    }
}

/// The totals of all clusters, in stored units.
#[derive(Debug)]
pub(crate) struct Totals {
    /// The centres: the means of their rows, or the frequencies of bits with the prior. With [`LastMove::Nowhere`],
    /// these are the centres before labelling.
    pub centers: Centers,
    /// The mass and first moment of each cluster (1 + D numbers).
    pub sums: Vec<f64>,
    /// The number of rows of each cluster, and the weighted sum of their squared distances or costs (2 numbers).
    pub spreads: Vec<f64>,
    /// The number of outliers, and their weight.
    pub outside: [f64; 2],
    /// The borders between neighbouring clusters.
    pub borders: Borders,
}

/// Labels all rows, moves the centres to the means of their rows if requested, and sends all labels to every process.
pub(crate) async fn label_all<T: Scalar>(
    rounds: &mut dyn Rounds,
    input: Input<'_>,
    rows: &Rows<T>,
    mut centers: Centers,
    last_move: LastMove,
    outside: Option<Outside>,
    cells: &LeafCells<Labelled>,
) -> Result<Totals, Error> {
    let mut totals = Vec::new();
    let sparse = SparseCenters::new(rows, &centers);
    let costs = rows.bernoulli.map(|_| Costs::new(rows.dimension, &centers.values));
    let cost = CostIn { input, rows, centers: &centers, sparse: sparse.as_ref(), costs: None };
    let label = LabelRound { cost: &cost, costs: costs.as_ref(), outside, cells };
    total_of(rounds, &label, &mut totals).await?;
    let PerCluster { mut sums, mut spreads, outside } = label.per_cluster(&totals);
    drop(sparse);
    let before = centers.clone();
    let moves = last_move == LastMove::ToTheMeans;
    if rows.storage == Storage::Sparse {
        if moves {
            // The sums are relative to 0, so that a centre is exactly 0 in a column in which its rows have no entries.
            // Sums relative to the origin would leave a rounding error.
            exact_means(&mut centers, &sums, |j, sum, mass| sum / mass - rows.units.scaled_origin[j]);
        }
        sums.chunks_exact_mut(1 + rows.dimension).for_each(|sums| rows.units.subtract_origin(sums));
    } else if moves {
        exact_means(&mut centers, &sums, |_, sum, mass| rows.center_of(sum, mass));
    }
    let sparse = SparseCenters::new(rows, &centers);
    let each = || (0..centers.len()).map(|k| centers.center(k));
    let costs = rows.bernoulli.map(|_| each().map(|center| BitDistance::to(rows, center)).collect::<Vec<_>>());
    let cost = CostIn { input, rows, centers: &centers, sparse: sparse.as_ref(), costs: costs.as_deref() };
    if rows.bernoulli.is_some() || !move_spreads(&mut spreads, &sums, &before, &centers) {
        let mut costs = Vec::new();
        total_of(rounds, &SpreadRound { cost: &cost, cells }, &mut costs).await?;
        spreads.chunks_exact_mut(2).zip(costs).for_each(|(spread, cost)| spread[1] = cost);
    }
    let borders = find_borders(rounds, &cost, &spreads, cells).await?;
    multiply_probabilities(rounds, &cost, &borders, cells).await?;
    drop(sparse);
    rounds.share(cells, Labelled::write, Labelled::read).await?;
    Ok(Totals { centers, sums, spreads, outside, borders })
}

/// Moves each centre to the mean of its rows, given their sums in double precision. `stored` computes a stored
/// coordinate from the column, its sum and the mass. A centre whose rows have no weight does not move.
fn exact_means(centers: &mut Centers, sums: &[f64], stored: impl Fn(usize, f64, f64) -> f64) {
    let sums = RowMajor::new(sums, 1 + centers.dimension);
    for (y, sums) in centers.rows_mut().zip(sums.rows()) {
        if sums[0] > 0.0 {
            for (j, (y, sum)) in y.iter_mut().zip(&sums[1..]).enumerate() {
                *y = stored(j, *sum, sums[0]);
            }
        }
    }
}

/// Converts weighted squared distances from the old centres to distances from the new centres, which are the means of
/// the rows: `sum w |x - m|^2 = sum w |x - y|^2 - W |m - y|^2`. Returns whether all results are accurate enough. The
/// difference loses digits if the move accounts for most of the distance. For equal rows, the difference may not be
/// exactly 0.
fn move_spreads(spreads: &mut [f64], sums: &[f64], before: &Centers, after: &Centers) -> bool {
    let sums = RowMajor::new(sums, 1 + before.dimension);
    let mut is_exact = true;
    for ((spread, sums), (y, m)) in spreads.chunks_exact_mut(2).zip(sums.rows()).zip(before.rows().zip(after.rows())) {
        let moved = sums[0] * y.iter().zip(m).map(|(y, m)| (y - m) * (y - m)).sum::<f64>();
        // If a number is NaN, the comparison is false, so the result does not count as exact.
        is_exact &= moved == 0.0 || (spread[1].is_finite() && moved <= MOST_MOVED * spread[1]);
        spread[1] -= moved;
    }
    is_exact
}

/// Returns the index of the lowest cost; the first if several are equal.
pub(crate) fn nearest_of(costs: &[f64]) -> usize {
    let (mut nearest, mut least) = (0, f64::INFINITY);
    for (k, &cost) in costs.iter().enumerate() {
        if cost < least {
            (nearest, least) = (k, cost);
        }
    }
    nearest
}

/// The first round: writes labels into `cells`, and sums the rows of each cluster in stored units. Each cluster has 3 +
/// D numbers: the mass, the first moment, the number of rows, and `sum w |x - y|^2` from its centre. For sparse rows,
/// moments are relative to 0, and not to the origin. If there is an outlier radius, the sums of the outliers follow, in
/// the same form.
pub(crate) struct LabelRound<'a, T: Scalar> {
    pub cost: &'a CostIn<'a, T>,
    /// For rows of bits whose cost is not the squared distance, the costs in each cluster. The round then does not
    /// measure spreads.
    pub costs: Option<&'a Costs>,
    pub outside: Option<Outside>,
    pub cells: &'a LeafCells<Labelled>,
}

/// The totals of [`LabelRound`], split by kind.
struct PerCluster {
    /// The mass and first moment of each cluster (1 + D numbers).
    sums: Vec<f64>,
    /// The number of rows of each cluster, and the weighted sum of their squared distances (2 numbers).
    spreads: Vec<f64>,
    /// The number of outliers, and their weight.
    outside: [f64; 2],
}

/// Rows that are labelled together, given by their indices in the input, and the output for their labels.
struct Labelling<'w> {
    rows: &'w [u32],
    /// The bounding box of the rows, if there is one.
    bounds: Option<&'w [f64]>,
    out: &'w mut Labelled,
}

/// Labels in double precision, for any storage of the rows.
impl<T: Scalar> OverStore<T, Labelling<'_>> for LabelRound<'_, T> {
    fn over_numbers(&self, tiles: &Tiles<T>, Labelling { rows, bounds, out }: Labelling<'_>) {
        match T::exact(tiles) {
            Some(tiles) => self.label_tiles(tiles, bounds, out),
            None => self.label_read(rows, out),
        }
    }

    fn over_bits(&self, bits: &BitRows, Labelling { rows, out, .. }: Labelling<'_>) {
        let Some(costs) = self.costs else { return self.label_read(rows, out) };
        let mut of_row = Vec::new();
        for row in 0..bits.rows() {
            costs.of(bits.row(row), &mut of_row);
            let nearest = nearest_of(&of_row);
            self.put(nearest, || of_row[nearest], out);
        }
    }

    fn over_sparse(&self, block: &SparseRows<T>, Labelling { rows, out, .. }: Labelling<'_>) {
        let (Some(centers), Input::Sparse(input)) = (self.cost.sparse, self.cost.input) else {
            return self.label_read(rows, out);
        };
        if let Some(block) = T::exact_sparse(block) {
            return self.label_sparse(block, centers, out);
        }
        let units = &self.cost.rows.units;
        let from_origin = SparseDistance::to(&units.scaled_origin, &vec![0.0; self.cost.rows.dimension]);
        for rows in rows.chunks(UNPACKED) {
            let row = |i: usize| input.row(rows[i] as usize);
            let length = |i: usize| from_origin.of(units.entries(input, rows[i]));
            let block = SparseRows::new(rows.len(), self.cost.rows.dimension, units.length, row, length, |_| 1.0);
            self.label_sparse(&block, centers, out);
        }
    }
}

impl<T: Scalar> LabelRound<'_, T> {
    /// The number of sums of each cluster.
    fn width(&self) -> usize {
        3 + self.cost.rows.dimension
    }

    /// Splits the totals of the round into moments, spreads and the sums of the outliers.
    fn per_cluster(&self, totals: &[f64]) -> PerCluster {
        let (count, dimension) = (self.cost.centers.len(), self.cost.rows.dimension);
        let all = RowMajor::new(totals, self.width());
        let outside = if self.outside.is_some() { all.row(count) } else { &vec![0.0; self.width()] };
        let outside = [outside[1 + dimension], outside[0]];
        let sums = all.rows().take(count).flat_map(|sums| &sums[..=dimension]).copied().collect();
        let spreads = all.rows().take(count).flat_map(|sums| &sums[1 + dimension..]).copied().collect();
        PerCluster { sums, spreads, outside }
    }

    /// The index of a label's sums. The sums of the outliers follow the sums of all clusters.
    fn place(&self, label: u32) -> usize {
        if label == OUTLIER { self.cost.centers.len() } else { label as usize }
    }

    /// Reads rows from the input, and labels them.
    fn label_read(&self, rows: &[u32], out: &mut Labelled) {
        let (units, dimension) = (&self.cost.rows.units, self.cost.rows.dimension);
        let zero = vec![0.0; dimension];
        let mut values = Vec::new();
        for rows in rows.chunks(UNPACKED) {
            values.resize(rows.len() * dimension, 0.0);
            for (&row, values) in rows.iter().zip(values.chunks_exact_mut(dimension)) {
                units.read_stored(self.cost.input, row, values);
            }
            let row = |i: usize| RowMajor::new(&values, dimension).row(i);
            let weight = |i: usize| units.stored_weight(self.cost.input, rows[i]);
            self.label_tiles(&Tiles::new(rows.len(), dimension, &zero, row, weight), None, out);
        }
    }

    fn label_sparse(&self, block: &SparseRows<f64>, centers: &SparseCenters<'_>, out: &mut Labelled) {
        f64::with_scratch(|scratch| {
            let count = self.cost.centers.len();
            scratch.sums.clear();
            scratch.sums.resize(block.rows() * count, 0.0);
            sparse_distances(block, &centers.side_by_side, &mut scratch.sparse, &mut scratch.sums);
            for (row, distances) in scratch.sums.chunks_exact(count).enumerate() {
                let nearest = nearest_of(distances);
                self.put(nearest, || centers.distances[nearest].of(block.row(row)), out);
            }
        });
    }

    /// Appends a row's label, and the share of the row that the noise component leaves to its cluster. For an outlier,
    /// appends the noise component's share instead.
    fn put(&self, nearest: usize, squared: impl FnOnce() -> f64, out: &mut Labelled) {
        let (label, probability) = match self.outside {
            None => (nearest as u32, 1.0),
            Some(Outside { squared_radius, temperature }) => within(squared_radius, squared(), temperature)
                .map_or_else(|outside| (OUTLIER, outside), |inside| (nearest as u32, inside)),
        };
        out.labels.push(label);
        out.probabilities.push(probability);
    }

    fn label_tiles(&self, tiles: &Tiles<f64>, bounds: Option<&[f64]>, out: &mut Labelled) {
        f64::with_scratch(|scratch| {
            let (count, dimension) = (self.cost.centers.len(), self.cost.rows.dimension);
            match bounds {
                Some(bounds) => {
                    nearest_active(bounds, self.cost.centers, 1, &mut scratch.active, &mut scratch.reach);
                }
                None => {
                    scratch.active.clear();
                    scratch.active.extend(0..count);
                }
            }
            scratch.hard_centers.begin(dimension);
            for &k in &scratch.active {
                scratch.hard_centers.push(self.cost.centers.center(k));
            }
            nearest_labels(tiles, &scratch.hard_centers, &mut scratch.hard);
            let mut coordinates = vec![0.0; dimension];
            for row in 0..tiles.rows() {
                let nearest = scratch.active[scratch.hard.nearest(row)];
                let squared = || {
                    tiles.read_row(row, &mut coordinates);
                    let center = self.cost.centers.center(nearest);
                    coordinates.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum()
                };
                self.put(nearest, squared, out);
            }
        });
    }
}

impl<T: Scalar> Round for LabelRound<'_, T> {
    fn len(&self) -> usize {
        (self.cost.centers.len() + usize::from(self.outside.is_some())) * self.width()
    }

    fn key_len(&self) -> usize {
        self.width()
    }

    fn name(&self) -> &'static str {
        "labels"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let (cost, dimension) = (self.cost, self.cost.rows.dimension);
        let leaf = &cost.rows.leaves[index];
        partial.fill(0.0);
        self.cells.with(index, |labelled| {
            *labelled = Labelled::default();
            leaf.store.apply(self, Labelling { rows: &leaf.rows, bounds: Some(&leaf.bounds), out: &mut *labelled });
            if let Some(bystanders) = &leaf.bystanders {
                // The leaf's box does not include its bystanders.
                bystanders.apply(self, Labelling { rows: &leaf.bystander_rows, bounds: None, out: &mut *labelled });
            }
            let mut position = cost.position();
            let mut of_clusters = RowMajorMut::new(partial, self.width());
            let (in_box, bystanders) = labelled.labels.split_at(leaf.rows.len());
            for (&row, &label) in leaf.rows.iter().zip(in_box) {
                let weight = cost.rows.units.stored_weight(cost.input, row);
                let sums = of_clusters.row(self.place(label));
                sums[0] += weight;
                sums[1 + dimension] += 1.0;
                if label == OUTLIER {
                    continue;
                }
                if let (Input::Sparse(input), Some(_)) = (cost.input, cost.sparse) {
                    cost.rows.units.entries(input, row).for_each(|(j, x)| sums[1 + j] += weight * x);
                } else {
                    cost.read(row, &mut position);
                    for (sum, x) in sums[1..].iter_mut().zip(&position) {
                        *sum += weight * x;
                    }
                }
                if self.costs.is_none() {
                    sums[2 + dimension] += weight * cost.of(row, label as usize, &position);
                }
            }
            bystanders.iter().for_each(|&label| of_clusters.row(self.place(label))[1 + dimension] += 1.0);
        });
    }
}

/// The second round, which is needed if distances do not follow from the first round. This round computes `sum w d` of
/// each cluster.
struct SpreadRound<'a, T: Scalar> {
    cost: &'a CostIn<'a, T>,
    cells: &'a LeafCells<Labelled>,
}

impl<T: Scalar> Round for SpreadRound<'_, T> {
    fn len(&self) -> usize {
        self.cost.centers.len()
    }

    fn name(&self) -> &'static str {
        "spreads"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let cost = self.cost;
        partial.fill(0.0);
        let mut position = cost.position();
        self.cells.with(index, |labelled| {
            for (&row, &label) in cost.rows.leaves[index].rows.iter().zip(&labelled.labels) {
                if let Some(spread) = partial.get_mut(label as usize) {
                    cost.read(row, &mut position);
                    *spread += cost.rows.units.stored_weight(cost.input, row) * cost.of(row, label as usize, &position);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::{Points, Sparse};

    use super::*;
    use crate::round::{Execution, Program, drive};

    /// A program that labels rows, and returns the centres after their last move, in stored units.
    struct Run<'a> {
        input: Input<'a>,
        rows: &'a Rows<f64>,
        centers: Vec<f64>,
        cells: LeafCells<Labelled>,
    }

    impl Program for Run<'_> {
        type Output = Vec<f64>;
        type Error = Error;

        async fn run(&self, rounds: &mut dyn Rounds) -> Result<Vec<f64>, Error> {
            let centers = Centers { dimension: self.rows.dimension, values: self.centers.clone() };
            let totals =
                label_all(rounds, self.input, self.rows, centers, LastMove::ToTheMeans, None, &self.cells).await?;
            Ok(totals.centers.values)
        }
    }

    /// Labels rows, and returns the final centres and the labels.
    fn labelled(input: Input<'_>, centers: &[f64]) -> (Vec<f64>, Vec<u32>) {
        let rows = Rows::<f64>::new(input).unwrap();
        let stored = |(index, y): (usize, &f64)| (y - rows.units.origin[index % rows.dimension]) / rows.units.length;
        let centers = centers.iter().enumerate().map(stored).collect();
        let cells = LeafCells::new(rows.leaves.len(), |_| Labelled::default());
        let run = Run { input, rows: &rows, centers, cells };
        let found = drive(&Execution::default(), rows.dealt, &run).unwrap();
        let mut labels = vec![u32::MAX; input.len()];
        for (leaf, labelled) in rows.leaves.iter().zip(run.cells.into_values()) {
            for (&row, label) in leaf.rows.iter().chain(&leaf.bystander_rows).zip(&labelled.labels) {
                labels[row as usize] = *label;
            }
        }
        (found.chunks_exact(rows.dimension).flat_map(|y| rows.units.position(y)).collect(), labels)
    }

    #[test]
    fn a_centre_with_nothing_but_rows_of_weight_zero_stays_where_it_was() {
        const COLUMNS: usize = 20;
        // Stored coordinates are relative to the mean, which is far from 0.
        let rows = [vec![(0, 3.0), (5, 100.0)], vec![(0, 5.0), (5, 100.0)], vec![(5, 100.0), (7, 40.0)]];
        let weights = vec![1.0, 3.0, 0.0];
        let rows = Sparse::from_rows(rows, COLUMNS).unwrap().with_weights(weights.clone()).unwrap();
        let mut values = vec![0.0; 3 * COLUMNS];
        values.chunks_exact_mut(COLUMNS).enumerate().for_each(|(row, values)| rows.read(row, values));
        let points = Points::new(values, COLUMNS).unwrap().with_weights(weights).unwrap();
        let mut centers = [0.0; 2 * COLUMNS];
        (centers[0], centers[5]) = (4.0, 99.0);
        (centers[COLUMNS + 5], centers[COLUMNS + 7]) = (101.0, 39.0);
        let mut expected = centers;
        (expected[0], expected[5]) = (4.5, 100.0);
        for input in [Input::Sparse(&rows), Input::Numbers(&points)] {
            let (found, labels) = labelled(input, &centers);
            assert_eq!(labels, [0, 0, 1]);
            for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!((found - expected).abs() < 1e-12, "number {index}: {found} for {expected}");
            }
        }
    }
}
