//! Labels rows: the cluster of each row, its probability, and the sums of the clusters.
//!
//! These rounds over hard centres run in double precision on the rows as they were given, even if annealing ran in
//! single precision. The first labels all rows, including those of weight 0, and sums each cluster's rows, so that
//! centres become exact means. The second measures the distances from those centres. Further rounds find the borders
//! between neighbouring clusters, and the last one computes the probability of each label.

use lehr_numerics::bits::BitRows;
use lehr_numerics::dot::dot;
use lehr_numerics::nearest::nearest_labels;
use lehr_numerics::sparse::{HardSparseCenters, SparseRows, sparse_distances};
use lehr_numerics::tiles::Tiles;

use super::centers::Centers;
use super::hard::nearest_active;
use super::noise::{OUTLIER, within};
use crate::Error;
use crate::borders::{Borders, Neighbourhoods, STEPS, SUMS};
use crate::drawn::is_one_in;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::bernoulli::Costs;
use crate::rows::{BitDistance, Input, OverStore, RowMajor, RowMajorMut, Rows, Scalar, SparseDistance, Storage};

/// The number of rows that are converted to double precision together, if they are stored in another form.
const UNPACKED: usize = 256;
/// The maximum number of differences of centres that are stored, counted in numbers.
const MOST_DIFFERENCES: usize = 1 << 22;
/// The number of coordinates of rows whose probabilities are computed together: they fit into the cache.
const POSITIONS: usize = 1 << 16;
/// The largest share of a cluster's squared distances by which the move of its centre may lower them. For a larger
/// share, they are measured again.
const MOST_MOVED: f64 = 0.5;
/// The number of rows of each cluster that determine its borders. A larger cluster contributes every n-th row.
const ROWS_OF_BORDERS: u64 = 4096;

/// The labels of a leaf's rows, followed by those of its bystanders, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labelled {
    pub labels: Vec<u32>,
    pub probabilities: Vec<f64>,
}

impl Labelled {
    /// Appends the labels as bytes: the number of rows, the labels, the probabilities.
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

/// The outlier radius of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    /// The square of the radius.
    pub squared_radius: f64,
    /// The temperature of the membership in the noise component.
    pub temperature: f64,
}

/// How centres move when rows have been assigned to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastMove {
    /// Each centre moves to the exact mean of its rows.
    ToTheMeans,
    /// The centres stay, so that each label is the nearest centre. For a run that ended early.
    Nowhere,
}

impl LastMove {
    /// The move after sweeps that reached a fixed point, or ended before.
    pub fn after(is_fixed: bool) -> Self {
        if is_fixed { Self::ToTheMeans } else { Self::Nowhere }
    }
}

/// The totals of all clusters, in stored units.
#[derive(Debug)]
pub(crate) struct Totals {
    /// The centres: means of their rows, or their frequencies with the prior, unless the centres were to stay.
    pub centers: Centers,
    /// The mass and first moment of each cluster (1 + D numbers).
    pub sums: Vec<f64>,
    /// The number of rows and the weighted squared distances, or costs, of each cluster (2 numbers).
    pub spreads: Vec<f64>,
    /// The number of outliers, and their weight.
    pub outside: [f64; 2],
    /// The borders between neighbouring clusters.
    pub borders: Borders,
}

/// Labels all rows, moves the centres to the means of their rows if requested, and gives every process all labels.
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
            // The sums are taken from 0, so that a column that no row of a cluster has stays exactly 0. Sums from the
            // origin would leave a rounding error.
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
    if !borders.is_empty() {
        let neighbours = &borders.neighbourhoods(centers.len());
        let offsets = cost.neighbour_offsets(neighbours);
        let round = ProbabilityRound { cost: &cost, neighbours, offsets: offsets.as_deref(), cells };
        total_of(rounds, &round, &mut Vec::new()).await?;
    }
    drop(sparse);
    rounds.share(cells, Labelled::write, Labelled::read).await?;
    Ok(Totals { centers, sums, spreads, outside, borders })
}

/// Finds the borders between neighbouring clusters. `spreads` begins with two numbers for each cluster; the first is
/// its number of rows.
async fn find_borders<T: Scalar>(
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

/// Moves each centre to the mean of its rows, given their sums in double precision. `stored` converts a column, its sum
/// and the mass to a stored coordinate. A centre whose rows have no weight does not move.
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

/// Converts weighted squared distances from the centres before their move to those from the centres after it, which are
/// the means of the rows: `sum w |x - m|^2 = sum w |x - y|^2 - W |m - y|^2`. Returns whether all of them are exact enough.
/// The difference loses digits if most of the distance is the move's; for equal rows it is not exactly 0.
fn move_spreads(spreads: &mut [f64], sums: &[f64], before: &Centers, after: &Centers) -> bool {
    let sums = RowMajor::new(sums, 1 + before.dimension);
    let mut is_exact = true;
    for ((spread, sums), (y, m)) in spreads.chunks_exact_mut(2).zip(sums.rows()).zip(before.rows().zip(after.rows())) {
        let moved = sums[0] * y.iter().zip(m).map(|(y, m)| (y - m) * (y - m)).sum::<f64>();
        // A comparison with NaN is false.
        is_exact &= moved == 0.0 || (spread[1].is_finite() && moved <= MOST_MOVED * spread[1]);
        spread[1] -= moved;
    }
    is_exact
}

/// The centres that sparse rows are compared with at the end of a run, in double precision.
pub(crate) struct SparseCenters<'a> {
    /// The centres in the form that finds the nearest.
    side_by_side: HardSparseCenters<f64>,
    /// The centres in the form that measures the distance.
    distances: Vec<SparseDistance<'a>>,
}

impl<'a> SparseCenters<'a> {
    /// Returns `None` unless rows are stored sparse.
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

/// The first round: writes labels into `cells`, and sums the rows of each cluster in stored units. Each cluster has
/// 3 + D numbers: the mass, the first moment, the number of rows, and `sum w |x - y|^2` from its centre. For sparse rows,
/// moments are not relative to the origin. If there is an outlier radius, the outliers follow like a cluster.
pub(crate) struct LabelRound<'a, T: Scalar> {
    pub cost: &'a CostIn<'a, T>,
    /// The costs of rows of bits in each cluster, if they are not squared distances. Spreads are then not measured.
    pub costs: Option<&'a Costs>,
    pub outside: Option<Outside>,
    pub cells: &'a LeafCells<Labelled>,
}

/// The totals of [`LabelRound`].
struct PerCluster {
    /// The mass and first moment of each cluster (1 + D numbers).
    sums: Vec<f64>,
    /// The number of rows and the weighted squared distances of each cluster (2 numbers).
    spreads: Vec<f64>,
    /// The number of outliers, and their weight.
    outside: [f64; 2],
}

/// Rows that are labelled together, by their index in the input, and their labels.
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
    /// The length of the sums of a cluster.
    fn width(&self) -> usize {
        3 + self.cost.rows.dimension
    }

    /// Splits the totals of the round.
    fn per_cluster(&self, totals: &[f64]) -> PerCluster {
        let (count, dimension) = (self.cost.centers.len(), self.cost.rows.dimension);
        let all = RowMajor::new(totals, self.width());
        let outside = if self.outside.is_some() { all.row(count) } else { &vec![0.0; self.width()] };
        let outside = [outside[1 + dimension], outside[0]];
        let sums = all.rows().take(count).flat_map(|sums| &sums[..=dimension]).copied().collect();
        let spreads = all.rows().take(count).flat_map(|sums| &sums[1 + dimension..]).copied().collect();
        PerCluster { sums, spreads, outside }
    }

    /// The place of a cluster, or of the outliers, among the sums.
    fn place(&self, label: u32) -> usize {
        if label == OUTLIER { self.cost.centers.len() } else { label as usize }
    }

    /// Labels rows as they are in the input.
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

    /// Appends a row's label, and the share that the noise component leaves it. For an outlier, it appends the noise
    /// component's share.
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

/// The cost of a row in a cluster, a squared distance or nats; in stored units, in double precision.
pub(crate) struct CostIn<'a, T: Scalar> {
    pub input: Input<'a>,
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    /// The centres for rows that are stored sparse.
    pub sparse: Option<&'a SparseCenters<'a>>,
    /// The costs of rows of bits in each cluster, if they are not squared distances.
    pub costs: Option<&'a [BitDistance]>,
}

impl<T: Scalar> CostIn<'_, T> {
    /// Allocates a buffer for one row's position.
    fn position(&self) -> Vec<f64> {
        vec![0.0; if self.sparse.is_some() || self.costs.is_some() { 0 } else { self.rows.dimension }]
    }

    /// Reads a row's position, before [`of`](Self::of) is called for it.
    fn read(&self, row: u32, position: &mut [f64]) {
        if !position.is_empty() {
            self.rows.units.read_stored(self.input, row, position);
        }
    }

    /// The cost, in a cluster, of the row that was read last.
    fn of(&self, row: u32, cluster: usize, position: &[f64]) -> f64 {
        match (self.input, self.sparse, self.costs) {
            (Input::Sparse(input), Some(centers), _) => {
                centers.distances[cluster].of(self.rows.units.entries(input, row))
            }
            (Input::Bits(input), _, Some(costs)) => costs[cluster].of(input.row(row as usize)),
            _ => position.iter().zip(self.centers.center(cluster)).map(|(x, y)| (x - y) * (x - y)).sum(),
        }
    }
}

/// For each neighbour of a cluster: the cluster's centre minus that of the neighbour, and the square of this
/// difference.
struct NeighbourOffsets {
    differences: Vec<f64>,
    squares: Vec<f64>,
    /// The squared distance from the centre up to which no neighbour matters to a row.
    alone: f64,
}

impl<T: Scalar> CostIn<'_, T> {
    /// Returns the differences with which a row's excess cost in a neighbour is a single product,
    /// `2 (x - a) (a - b) + |a - b|^2`. `None` if rows are not positions, or if there are too many differences.
    fn neighbour_offsets(&self, neighbours: &Neighbourhoods<'_>) -> Option<Vec<NeighbourOffsets>> {
        let others = |k: usize| neighbours.of(k).map(|(_, _, other)| self.centers.center(other));
        let count: usize = (0..self.centers.len()).map(|k| others(k).count()).sum();
        let has_positions = self.sparse.is_none() && self.costs.is_none();
        if !has_positions || count * self.rows.dimension > MOST_DIFFERENCES {
            return None;
        }
        let of_cluster = |k: usize| {
            let own = self.centers.center(k);
            let differences: Vec<f64> = others(k).flat_map(|other| own.iter().zip(other).map(|(a, b)| a - b)).collect();
            let squared = |difference: &[f64]| difference.iter().map(|x| x * x).sum();
            let squares: Vec<f64> = differences.chunks_exact(self.rows.dimension).map(squared).collect();
            // At a distance r from the centre, the excess is at least |a - b|^2 - 2 r |a - b| (Cauchy and Schwarz).
            let distance = |(at, &square): (usize, &f64)| match neighbours.least_ignored(k, at, square) {
                Some(excess) => (square - excess) / (2.0 * square.sqrt()),
                None => 0.0,
            };
            let alone = squares.iter().enumerate().map(distance).fold(f64::INFINITY, f64::min);
            NeighbourOffsets { differences, squares, alone: alone * alone }
        };
        Some((0..self.centers.len()).map(of_cluster).collect())
    }
}

/// The second round, if the first could not tell: `sum w d` of each cluster.
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

/// A step of expectation maximisation: the sums of both sides of each border, over the rows of its two clusters.
struct BorderRound<'a, T: Scalar> {
    cost: &'a CostIn<'a, T>,
    neighbours: &'a Neighbourhoods<'a>,
    /// The number of borders.
    borders: usize,
    /// Whether each row counts only on the side of its label.
    is_hard: bool,
    /// For each cluster: one row in so many counts, for all of them.
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

/// The last round: multiplies each row's probability by that of its cluster among the neighbours.
struct ProbabilityRound<'a, T: Scalar> {
    cost: &'a CostIn<'a, T>,
    neighbours: &'a Neighbourhoods<'a>,
    /// The offsets of each cluster.
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
    /// Multiplies the probabilities of some rows in a box, cluster by cluster. `bounds` is empty if there is no box.
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

    /// The borders of a cluster that matter to some row in a box.
    fn that_matter(&self, label: usize, bounds: &[f64]) -> Vec<usize> {
        let (Some(offsets), false) = (self.offsets, bounds.is_empty()) else {
            return self.neighbours.all(label).collect();
        };
        let NeighbourOffsets { differences, squares, .. } = &offsets[label];
        let (least, most) = bounds.split_at(self.cost.rows.dimension);
        self.neighbours.that_matter(label, |at| {
            // The excess is least at a corner of the box.
            let difference = RowMajor::new(differences, least.len()).row(at);
            let columns = least.iter().zip(most).zip(self.cost.centers.center(label)).zip(difference);
            let corner = |(((least, most), y), d): (((&f64, &f64), &f64), &f64)| ((least - y) * d).min((most - y) * d);
            2.0 * columns.map(corner).sum::<f64>() + squares[at]
        })
    }
}

/// The rows of a cluster that are so far from its centre that neighbours may matter to them.
#[derive(Default)]
struct FarRows {
    /// The place of each row in its leaf.
    places: Vec<usize>,
    /// The positions of the rows, measured from the centre, one after another.
    positions: Vec<f64>,
    /// How much more each row costs in a neighbour.
    excess: Vec<f64>,
    /// The sum of the odds of all neighbours against the cluster, for each row.
    odds: Vec<f64>,
}

impl FarRows {
    /// Chooses the rows with at least the squared distance `alone` from their cluster's centre. `places` are those of
    /// the cluster's rows in the leaf, whose rows are `rows`.
    fn choose<T: Scalar>(&mut self, cost: &CostIn<'_, T>, label: usize, places: &[usize], rows: &[u32], alone: f64) {
        let (dimension, center) = (cost.rows.dimension, cost.centers.center(label));
        self.positions.clear();
        self.positions.resize(places.len() * dimension, 0.0);
        // Rows of a leaf are not adjacent in memory. Without a branch between them, several are on their way at a time.
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

    /// Multiplies the probabilities of the chosen rows by those of their cluster among its neighbours. `among` has the
    /// indices of the borders that matter.
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

#[cfg(test)]
mod tests {
    use lehr_data::{Points, Sparse};

    use super::*;
    use crate::round::{Execution, Program, drive};

    /// The program that labels rows by centres, and returns where the centres then are, in stored units.
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

    /// Returns the centres at the end, and the labels.
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
        // The mean, from which stored coordinates are measured, is far from 0.
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
