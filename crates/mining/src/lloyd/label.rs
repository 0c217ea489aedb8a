//! Labels: which cluster each row belongs to, how surely, and the sums of the clusters.
//!
//! Two rounds over the hard centres, both in double precision from the rows as they were given, even where annealing
//! ran in single precision. The first labels the rows, those of weight 0 too, and sums each cluster's rows, so that
//! centres are means to the last digit. The second measures the distances from those centres.

use lehr_numerics::bits::BitRows;
use lehr_numerics::elementary::exp;
use lehr_numerics::membership::nearest_membership;
use lehr_numerics::nearest::nearest_labels;
use lehr_numerics::sparse::{HardSparseCenters, SparseRows, sparse_distances};
use lehr_numerics::tiles::Tiles;

use super::centers::Centers;
use super::hard::nearest_active;
use super::noise::{OUTLIER, within};
use crate::Error;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::bernoulli::Costs;
use crate::rows::{BitDistance, Input, OverStore, RowMajor, RowMajorMut, Rows, Scalar, SparseDistance, Storage};

/// Rows that are made numbers of double precision together, where they are not kept so.
const UNPACKED: usize = 256;

/// The labels of a leaf's rows, then of its bystanders, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labelled {
    pub labels: Vec<u32>,
    pub probabilities: Vec<f64>,
}

impl Labelled {
    /// Appends the labels as bytes: the number of rows, their labels, their probabilities.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.labels.len() as u64).to_le_bytes());
        self.labels.iter().for_each(|label| bytes.extend_from_slice(&label.to_le_bytes()));
        self.probabilities.iter().for_each(|probability| bytes.extend_from_slice(&probability.to_le_bytes()));
    }

    /// Reads the bytes of [`write`](Self::write).
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

/// How rows are given to centres: each to the nearest, unless it is outside the outlier radius.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hardness {
    /// The temperature of the probabilities; at 0 every row is certain.
    pub temperature: f64,
    /// The square of the outlier radius, if there is one.
    pub sponge: Option<f64>,
}

/// How centres move when rows have been given to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastMove {
    /// Each moves to the mean of its rows, to the last digit.
    ToTheMeans,
    /// They stay, so that the labels are those of the nearest centres: those of a run that was ended on its way.
    Nowhere,
}

/// The totals over clusters, in stored units.
#[derive(Debug)]
pub(crate) struct Totals {
    /// Each in the mean of its rows, or at their frequencies with the prior, unless they were to stay.
    pub centers: Centers,
    /// Mass and first moment of each cluster (1 + D).
    pub sums: Vec<f64>,
    /// Rows and weighted squared distances, or costs, of each cluster (2).
    pub spreads: Vec<f64>,
    /// Outliers, and their weight.
    pub outside: [f64; 2],
}

/// Labels all rows, moves each centre to the mean of its rows if it is to, and gives every process all labels.
pub(crate) async fn label_all<T: Scalar>(
    rounds: &mut dyn Rounds,
    input: Input<'_>,
    rows: &Rows<T>,
    mut centers: Centers,
    last_move: LastMove,
    hardness: Hardness,
    cells: &LeafCells<Labelled>,
) -> Result<Totals, Error> {
    let (mut sums, mut spreads) = (Vec::new(), Vec::new());
    let sparse = SparseCenters::new(rows, &centers);
    let costs = rows.bernoulli.map(|_| Costs::new(rows.dimension, &centers.values));
    let label =
        LabelRound { input, rows, centers: &centers, sparse: sparse.as_ref(), costs: costs.as_ref(), hardness, cells };
    total_of(rounds, &label, &mut sums).await?;
    drop(sparse);
    let moves = last_move == LastMove::ToTheMeans;
    if rows.storage == Storage::Sparse {
        if moves {
            // Counted from 0, where a column that no row of a cluster has is just that; from the origin it would be
            // what rounding leaves.
            exact_means(&mut centers, &sums, |j, sum, mass| sum / mass - rows.units.scaled_origin[j]);
        }
        sums.chunks_exact_mut(1 + rows.dimension).for_each(|sums| rows.units.subtract_origin(sums));
    } else if moves {
        exact_means(&mut centers, &sums, |_, sum, mass| rows.center_of(sum, mass));
    }
    let (sparse, has_sponge) = (SparseCenters::new(rows, &centers), hardness.sponge.is_some());
    let each = || (0..centers.len()).map(|k| centers.center(k));
    let costs = rows.bernoulli.map(|_| each().map(|center| BitDistance::to(rows, center)).collect::<Vec<_>>());
    let (of_sparse, costs) = (sparse.as_ref(), costs.as_deref());
    let spread = SpreadRound { input, rows, centers: &centers, sparse: of_sparse, costs, has_sponge, cells };
    total_of(rounds, &spread, &mut spreads).await?;
    drop(sparse);
    rounds.share(cells, Labelled::write, Labelled::read).await?;
    let outside = match spreads.split_off(2 * centers.len())[..] {
        [rows, weight] => [rows, weight],
        _ => [0.0; 2],
    };
    Ok(Totals { centers, sums, spreads, outside })
}

/// Moves each centre to the mean of its rows, from their sums in double precision. `stored` turns a column, its sum and
/// the mass into a stored coordinate. A centre whose rows have no weight does not move.
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

/// The centres that sparse rows are compared with at the end, in double precision.
pub(crate) struct SparseCenters<'a> {
    /// The nearest centre.
    side_by_side: HardSparseCenters<f64>,
    /// The distance to it.
    distances: Vec<SparseDistance<'a>>,
}

impl<'a> SparseCenters<'a> {
    /// Nothing, unless rows are kept sparse.
    fn new<T: Scalar>(rows: &'a Rows<T>, centers: &Centers) -> Option<Self> {
        if rows.storage != Storage::Sparse {
            return None;
        }
        let (mut side_by_side, origin) = (HardSparseCenters::default(), &rows.units.scaled_origin[..]);
        side_by_side.begin(rows.dimension, centers.len());
        (0..centers.len()).for_each(|k| side_by_side.set(k, centers.center(k), origin));
        let distances = (0..centers.len()).map(|k| SparseDistance::to(origin, centers.center(k))).collect();
        Some(Self { side_by_side, distances })
    }
}

/// The nearest of some centres, the first of several equally near, and a row's membership in it at a temperature; both
/// by squared distances.
pub(crate) fn nearest_of(distances: &[f64], temperature: f64) -> (usize, f64) {
    let (mut nearest, mut least) = (0, f64::INFINITY);
    for (k, &distance) in distances.iter().enumerate() {
        if distance < least {
            (nearest, least) = (k, distance);
        }
    }
    if temperature == 0.0 {
        return (nearest, 1.0);
    }
    let sum: f64 = distances.iter().map(|distance| exp((least - distance) / temperature)).sum();
    (nearest, 1.0 / sum)
}

/// First round: labels into `cells`; sums are mass and first moment of each cluster (1 + D), stored units; of sparse
/// rows not from the origin.
pub(crate) struct LabelRound<'a, T: Scalar> {
    pub input: Input<'a>,
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    /// The same for rows that are kept sparse.
    pub sparse: Option<&'a SparseCenters<'a>>,
    /// The costs of rows of bits in each, where those are no squared distances.
    pub costs: Option<&'a Costs>,
    pub hardness: Hardness,
    pub cells: &'a LeafCells<Labelled>,
}

/// The rows that are labelled together, by their places in the input, and their labels.
struct Labelling<'w> {
    rows: &'w [u32],
    /// The box that holds them, if there is one.
    bounds: Option<&'w [f64]>,
    out: &'w mut Labelled,
}

/// In double precision, for any storage of the rows.
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
            let (nearest, membership) = nearest_of(&of_row, self.hardness.temperature);
            self.put(nearest, membership, || of_row[nearest], out);
        }
    }

    fn over_sparse(&self, block: &SparseRows<T>, Labelling { rows, out, .. }: Labelling<'_>) {
        let (Some(centers), Input::Sparse(input)) = (self.sparse, self.input) else {
            return self.label_read(rows, out);
        };
        if let Some(block) = T::exact_sparse(block) {
            return self.label_sparse(block, centers, out);
        }
        let units = &self.rows.units;
        let from_origin = SparseDistance::to(&units.scaled_origin, &vec![0.0; self.rows.dimension]);
        for rows in rows.chunks(UNPACKED) {
            let row = |i: usize| input.row(rows[i] as usize);
            let length = |i: usize| from_origin.of(units.entries(input, rows[i]));
            let block = SparseRows::new(rows.len(), self.rows.dimension, units.length, row, length, |_| 1.0);
            self.label_sparse(&block, centers, out);
        }
    }
}

impl<T: Scalar> LabelRound<'_, T> {
    /// Labels rows as the input has them.
    fn label_read(&self, rows: &[u32], out: &mut Labelled) {
        let (units, dimension) = (&self.rows.units, self.rows.dimension);
        let zero = vec![0.0; dimension];
        let mut values = Vec::new();
        for rows in rows.chunks(UNPACKED) {
            values.resize(rows.len() * dimension, 0.0);
            for (&row, values) in rows.iter().zip(values.chunks_exact_mut(dimension)) {
                units.read_stored(self.input, row, values);
            }
            let row = |i: usize| RowMajor::new(&values, dimension).row(i);
            let weight = |i: usize| units.stored_weight(self.input, rows[i]);
            self.label_tiles(&Tiles::new(rows.len(), dimension, &zero, row, weight), None, out);
        }
    }

    fn label_sparse(&self, block: &SparseRows<f64>, centers: &SparseCenters<'_>, out: &mut Labelled) {
        f64::with_scratch(|scratch| {
            let (count, temperature) = (self.centers.len(), self.hardness.temperature);
            scratch.sums.clear();
            scratch.sums.resize(block.rows() * count, 0.0);
            sparse_distances(block, &centers.side_by_side, &mut scratch.sparse, &mut scratch.sums);
            for (row, distances) in scratch.sums.chunks_exact(count).enumerate() {
                let (nearest, membership) = nearest_of(distances, temperature);
                let squared = || centers.distances[nearest].of(block.row(row));
                self.put(nearest, membership, squared, out);
            }
        });
    }

    /// Appends a row's label and probability: of the nearest centre with its membership, or of the noise component if
    /// the row is outside.
    fn put(&self, nearest: usize, membership: f64, squared: impl FnOnce() -> f64, out: &mut Labelled) {
        // A row of weight 0 may be so far away that its squares overflow: it is then nearest to nothing, and in what it
        // is nearest to, surely.
        let membership = if (0.0..=1.0).contains(&membership) { membership } else { 1.0 };
        let (label, probability) = match self.hardness.sponge {
            None => (nearest as u32, membership),
            Some(radius) => within(radius, squared(), membership, self.hardness.temperature)
                .map_or_else(|outside| (OUTLIER, outside), |inside| (nearest as u32, inside)),
        };
        out.labels.push(label);
        out.probabilities.push(probability);
    }

    fn label_tiles(&self, tiles: &Tiles<f64>, bounds: Option<&[f64]>, out: &mut Labelled) {
        f64::with_scratch(|scratch| {
            let (count, dimension, temperature) = (self.centers.len(), self.rows.dimension, self.hardness.temperature);
            match bounds {
                Some(bounds) => {
                    nearest_active(bounds, self.centers, 1, &mut scratch.active, &mut scratch.reach);
                }
                None => {
                    scratch.active.clear();
                    scratch.active.extend(0..count);
                }
            }
            scratch.hard_centers.begin(dimension);
            for &k in &scratch.active {
                scratch.hard_centers.push(self.centers.center(k));
            }
            nearest_labels(tiles, &scratch.hard_centers, &mut scratch.hard);
            if temperature > 0.0 {
                scratch.soft_centers.begin(dimension, temperature);
                for k in 0..count {
                    scratch.soft_centers.push(self.centers.center(k), 0.0);
                }
                nearest_membership(tiles, &scratch.soft_centers, &mut scratch.membership);
            }
            let mut coordinates = vec![0.0; dimension];
            for row in 0..tiles.rows() {
                let nearest = scratch.active[scratch.hard.nearest(row)];
                let squared = || {
                    tiles.read_row(row, &mut coordinates);
                    let center = self.centers.center(nearest);
                    coordinates.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum()
                };
                let membership = if temperature > 0.0 { scratch.membership.membership(row) } else { 1.0 };
                self.put(nearest, membership, squared, out);
            }
        });
    }
}

impl<T: Scalar> Round for LabelRound<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * (1 + self.rows.dimension)
    }

    fn key_len(&self) -> usize {
        1 + self.rows.dimension
    }

    fn name(&self) -> &'static str {
        "labels"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        partial.fill(0.0);
        self.cells.with(index, |labelled| {
            *labelled = Labelled::default();
            leaf.store.apply(self, Labelling { rows: &leaf.rows, bounds: Some(&leaf.bounds), out: &mut *labelled });
            if let Some(bystanders) = &leaf.bystanders {
                // They were not asked where the box is.
                bystanders.apply(self, Labelling { rows: &leaf.bystander_rows, bounds: None, out: &mut *labelled });
            }
            let mut position = vec![0.0; if self.sparse.is_some() { 0 } else { self.rows.dimension }];
            let mut of_clusters = RowMajorMut::new(partial, 1 + self.rows.dimension);
            for (&row, &label) in leaf.rows.iter().zip(&labelled.labels).filter(|(_, label)| **label != OUTLIER) {
                let sums = of_clusters.row(label as usize);
                let weight = self.rows.units.stored_weight(self.input, row);
                sums[0] += weight;
                if let (Input::Sparse(input), Some(_)) = (self.input, self.sparse) {
                    self.rows.units.entries(input, row).for_each(|(j, x)| sums[1 + j] += weight * x);
                    continue;
                }
                self.rows.units.read_stored(self.input, row, &mut position);
                for (sum, x) in sums[1..].iter_mut().zip(&position) {
                    *sum += weight * x;
                }
            }
        });
    }
}

/// Second round: for each cluster the number of rows, those of weight 0 too, and `sum w d`. Then, if there is an
/// outlier radius, the number of outliers, and their weight.
pub(crate) struct SpreadRound<'a, T: Scalar> {
    pub input: Input<'a>,
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    /// The same for rows that are kept sparse.
    pub sparse: Option<&'a SparseCenters<'a>>,
    /// The costs of rows of bits in each, where those are no squared distances.
    pub costs: Option<&'a [BitDistance]>,
    pub has_sponge: bool,
    pub cells: &'a LeafCells<Labelled>,
}

impl<T: Scalar> Round for SpreadRound<'_, T> {
    fn len(&self) -> usize {
        2 * (self.centers.len() + usize::from(self.has_sponge))
    }

    fn key_len(&self) -> usize {
        2
    }

    fn name(&self) -> &'static str {
        "spreads"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        partial.fill(0.0);
        let mut position = vec![0.0; if self.sparse.is_some() { 0 } else { self.rows.dimension }];
        self.cells.with(index, |labelled| {
            let rows = leaf.rows.iter().chain(&leaf.bystander_rows);
            for (&row, &label) in rows.zip(&labelled.labels) {
                if label == OUTLIER {
                    partial[2 * self.centers.len()] += 1.0;
                    partial[2 * self.centers.len() + 1] += self.rows.units.stored_weight(self.input, row);
                    continue;
                }
                let center = self.centers.center(label as usize);
                partial[2 * label as usize] += 1.0;
                let weight = self.rows.units.stored_weight(self.input, row);
                // Nothing times the square of a row that is too far away is no number.
                if weight > 0.0 {
                    let distance: f64 = if let (Input::Sparse(input), Some(centers)) = (self.input, self.sparse) {
                        centers.distances[label as usize].of(self.rows.units.entries(input, row))
                    } else if let (Input::Bits(input), Some(costs)) = (self.input, self.costs) {
                        costs[label as usize].of(input.row(row as usize))
                    } else {
                        self.rows.units.read_stored(self.input, row, &mut position);
                        position.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum()
                    };
                    partial[2 * label as usize + 1] += weight * distance;
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

    /// Labels rows by centres, and says where these are then, all in stored units.
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
            let hardness = Hardness { temperature: f64::MIN_POSITIVE, sponge: None };
            let totals =
                label_all(rounds, self.input, self.rows, centers, LastMove::ToTheMeans, hardness, &self.cells).await?;
            Ok(totals.centers.values)
        }
    }

    /// The centres at the end, and the labels.
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
        // The mean, which stored coordinates count from, is far from 0.
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
