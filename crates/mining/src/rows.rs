//! The rows as annealing sees them: cut into leaves, near rows together, from the mean, in units in which they are about 1.
//!
//! Rows of weight 0 are set aside before anything is counted, so that they influence nothing, not even where the leaves are cut; each
//! leaf carries its share of them as *bystanders* for the labelling at the end.
//!
//! Within a section of 65,536 consecutive rows the rows are put in the order of a k-d tree whose cells are the leaves (up to 16 dimensions). Then
//! a leaf is a small box and only the centres near it matter to it, which is most of the speed at low temperatures. The leaves of a section are then dealt out, so that every rank
//! has some of each region. A section's length is fixed, so a rank, or a
//! reader of a file larger than memory, can build its own leaves from a part of the rows and get the same ones. Of rows in such a file the tiles are in a file too ([`super::shelf`]); what is
//! put in them, and in which order, is the same.
//!
//! The origin is the weighted mean and the unit a power of two near the largest deviation: subtracting the one saves the digits
//! that large offsets cost, the other keeps squares from overflowing, and neither changes a bit of what is left.
//!
//! Rows of bits have the same origin and unit, but stay bits ([`Block::Bits`]): their kernels see zeros and ones, and what goes in and comes out is put from stored coordinates into those of
//! the bits and back, where it is a centre or a sum and no longer a row. Sparse rows stay sparse ([`Block::Sparse`]): they are divided by the unit, and what the origin would have been subtracted from them for is told by the
//! squared length of each from it, and by the sums of all. In up to 16 columns both are numbers like others, but for rows of bits whose cost is no squared distance ([`Rows::bernoulli`]).

use lehr_data::{Fingerprints, Sparse};
use lehr_numerics::bits::{BitRows, for_each_set_bit};
use lehr_numerics::compensated::Sum;
use lehr_numerics::lanes::Real;
use lehr_numerics::sparse::SparseRows;
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::bernoulli::{Bernoulli, form};
use super::input::{Input, MOST_COORDINATES};
use super::parameters::Cost;
use super::shelf::Shelf;
use super::sparse::{SparseDistance, entries};
use crate::Error;
use crate::round::Partition;

/// Rows put in order together.
const SECTION: usize = 1 << 16;

/// Coordinates further than this from the mean have squares, times weights, that double precision may not hold.
pub(crate) const FARTHEST: f64 = 1e140;

/// Rows as kernels read them.
#[derive(Clone, Debug)]
pub(crate) enum Block<T: Real> {
    /// Stored coordinates.
    Numbers(Tiles<T>),
    /// The bits of the input, in more than [`DIRECT_DIMENSION`] columns.
    Bits(BitRows),
    /// What is not 0 in the input, in stored units, in more than [`DIRECT_DIMENSION`] columns.
    Sparse(SparseRows<T>),
}

impl<T: Real> Block<T> {
    /// The tiles of rows of numbers.
    ///
    /// # Panics
    /// For bits and sparse rows, which only methods are given that have kernels for them.
    pub fn numbers(&self) -> &Tiles<T> {
        match self {
            Block::Numbers(tiles) => tiles,
            Block::Bits(_) | Block::Sparse(_) => unreachable!("this method takes rows of numbers only"),
        }
    }

    pub fn rows(&self) -> usize {
        match self {
            Block::Numbers(tiles) => tiles.rows(),
            Block::Bits(rows) => rows.rows(),
            Block::Sparse(rows) => rows.rows(),
        }
    }

    pub fn weight(&self, index: usize) -> f64 {
        match self {
            Block::Numbers(tiles) => tiles.weight(index),
            Block::Bits(rows) => rows.weight(index),
            Block::Sparse(rows) => rows.weight(index),
        }
    }
}

/// A leaf's rows.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<T: Real> {
    pub block: Block<T>,
    /// Least, then greatest value of each coordinate; nothing for bits and sparse rows.
    pub bounds: Vec<f64>,
    /// Where the rows stand in the input.
    pub rows: Vec<u32>,
    /// Rows of weight 0, to be labelled only.
    pub bystanders: Option<Block<T>>,
    pub bystander_rows: Vec<u32>,
}

/// All rows of a run.
#[derive(Debug)]
pub(crate) struct Rows<T: Real> {
    pub leaves: Vec<Leaf<T>>,
    pub dimension: usize,
    /// Rows of positive weight.
    pub count: usize,
    /// The number of rows that are dealt out in as many leaves: `count`, but in many dimensions, where a leaf has more.
    pub dealt: usize,
    /// How many rows a leaf has, but the last, which may have fewer.
    pub leaf_rows: usize,
    /// In `origin + unit * x` the stored `x` is a row of the input.
    pub origin: Vec<f64>,
    pub unit: f64,
    /// The origin in stored units.
    pub scaled_origin: Vec<f64>,
    /// A stored weight is the input's divided by this power of two.
    pub weight_unit: f64,
    /// The sum of the stored weights.
    pub total_weight: f64,
    /// What a row costs in a centre, where that is not the squared distance: rows are bits then, and stored as they are, the origin at 0 and the unit 1.
    pub bernoulli: Option<Bernoulli>,
    /// The stored centre of all rows as one cluster.
    pub middle: Vec<f64>,
    /// The weighted sum of what the rows cost in it: of their squared lengths.
    pub square: f64,
}

impl<T: Real> Rows<T> {
    /// Arranges the rows. Cost: N log N, one copy of the rows, which is where they are: in memory or in a file.
    ///
    /// # Errors
    /// [`Error::TooFar`] if squared distances would overflow, [`Error::TooManyPoints`], [`Error::Spill`].
    pub fn new<'a>(input: impl Into<Input<'a>>) -> Result<Self, Error> {
        Self::laid_out(input.into(), Cost::Squared, &[])
    }

    /// The same for a cost other than squared distances, which must be one of such rows.
    ///
    /// # Errors
    /// As [`Rows::new`].
    pub fn with_cost(input: Input<'_>, cost: Cost) -> Result<Self, Error> {
        Self::laid_out(input, cost, &[])
    }

    /// The same in a unit in which other positions, row after row, are not far either: rows that are near each other may be far from them, and the squares of their distances have a number.
    ///
    /// # Errors
    /// As [`Rows::new`], of these positions too.
    pub fn among<'a>(input: impl Into<Input<'a>>, positions: &[f64]) -> Result<Self, Error> {
        Self::laid_out(input.into(), Cost::Squared, positions)
    }

    fn laid_out(input: Input<'_>, cost: Cost, positions: &[f64]) -> Result<Self, Error> {
        let dimension = input.dimension();
        if u32::try_from(input.len()).is_err() {
            return Err(Error::TooManyPoints { points: input.len() });
        }
        let (mut heavy, light): (Vec<u32>, Vec<u32>) =
            (0..input.len() as u32).partition(|&row| input.weight(row as usize) > 0.0);
        let count = heavy.len();
        let weight_sum = Sum::of(heavy.iter().map(|&row| input.weight(row as usize)));
        let weight_unit = power_of_two_near(weight_sum / count as f64);
        let total_weight = weight_sum / weight_unit;
        let (least, most) = extremes(input, &heavy);
        let largest = least.iter().chain(&most).fold(0.0f64, |largest, value| largest.max(value.abs()));
        // Rows of about 1 cannot overflow when they are weighted and added.
        let guard = power_of_two_near(largest.max(f64::MIN_POSITIVE));
        let mut sums = vec![Sum::default(); dimension];
        for &row in &heavy {
            let weight = input.weight(row as usize) / weight_unit;
            input.for_each_value(row as usize, |j, value| sums[j].add(weight * (value / guard)));
        }
        // A mean lies between the least and the greatest value. Rounding may put it a digit outside, and rows that are all equal beside themselves.
        let mean = |sum: &Sum| sum.value() / total_weight * guard;
        let ends = least.iter().zip(&most);
        let means: Vec<f64> =
            sums.iter().zip(ends).map(|(sum, (least, most))| mean(sum).clamp(*least, *most)).collect();
        // Nothing is further from the mean than the least and the greatest are.
        let ends = least.iter().zip(&most).zip(&means);
        let deviation = ends.fold(0.0f64, |far, ((least, most), zero)| far.max(zero - least).max(most - zero));
        let others = positions.iter().zip(means.iter().cycle()).map(|(x, zero)| (x - zero).abs());
        let deviation = others.fold(deviation, f64::max);
        if deviation >= FARTHEST || deviation.is_nan() {
            return Err(Error::TooFar { distance: deviation, most: FARTHEST });
        }
        let bernoulli = match cost {
            Cost::Squared => None,
            Cost::Bernoulli { prior } => Some(Bernoulli { prior: prior / weight_unit }),
        };
        let (origin, unit, middle) = match bernoulli {
            None => (means, if deviation > 0.0 { power_of_two_near(deviation) } else { 1.0 }, vec![0.0; dimension]),
            Some(bernoulli) => {
                let frequency = |mean: &f64| bernoulli.frequency(mean * total_weight, total_weight);
                (vec![0.0; dimension], 1.0, means.iter().map(frequency).collect())
            }
        };
        // Whether rows of bits stay bits.
        let are_bits = dimension > DIRECT_DIMENSION || bernoulli.is_some();

        let is_sparse = matches!(input, Input::Sparse(_)) && dimension > DIRECT_DIMENSION;
        let Deal { leaf_rows, leaves, dealt } = if is_sparse {
            let values = heavy.iter().map(|&row| values_of(input, row)).sum();
            Deal::of_sparse(count, values, dimension)
        } else {
            Deal::of(count, dimension)
        };
        if dimension <= DIRECT_DIMENSION && bernoulli.is_none() {
            for section in heavy.chunks_mut(SECTION.max(leaf_rows)) {
                arrange(input, section, leaf_rows);
                deal(section, leaf_rows);
            }
        }
        let scaled_origin: Vec<f64> = origin.iter().map(|zero| zero / unit).collect();
        let from_origin = SparseDistance::to(&scaled_origin, &vec![0.0; if is_sparse { dimension } else { 0 }]);
        let block = |rows: &[u32]| {
            let weight = |i: usize| input.weight(rows[i] as usize) / weight_unit;
            if let Input::Bits(bits) = input
                && are_bits
            {
                return Block::Bits(BitRows::new(rows.len(), dimension, |i| bits.row(rows[i] as usize), weight));
            }
            if let Input::Sparse(sparse) = input
                && is_sparse
            {
                let row = |i: usize| sparse.row(rows[i] as usize);
                let length = |i: usize| from_origin.of(entries(sparse, rows[i] as usize, unit));
                return Block::Sparse(SparseRows::new(rows.len(), dimension, unit, row, length, weight));
            }
            let mut scaled = vec![0.0; rows.len() * dimension];
            for (&row, values) in rows.iter().zip(scaled.chunks_exact_mut(dimension)) {
                input.read(row as usize, values);
                values.iter_mut().for_each(|value| *value /= unit);
            }
            let row = |i: usize| &scaled[i * dimension..][..dimension];
            Block::Numbers(Tiles::new(rows.len(), dimension, &scaled_origin, row, weight))
        };
        let heavy_rows = |leaf: usize| leaf * leaf_rows..count.min((leaf + 1) * leaf_rows);
        let light_rows = |leaf: usize| light.len() * leaf / leaves..light.len() * (leaf + 1) / leaves;
        let lines = || {
            let of = |rows: usize| if rows == 0 { 0 } else { Tiles::<T>::lines(rows, dimension) };
            (0..leaves).map(|leaf| of(heavy_rows(leaf).len()) + of(light_rows(leaf).len())).sum::<usize>()
        };
        let mut shelf = Shelf::new(input.spill(), lines)?;
        let mut made = Vec::with_capacity(leaves);
        for leaf in 0..leaves {
            let rows = heavy[heavy_rows(leaf)].to_vec();
            let bystander_rows = light[light_rows(leaf)].to_vec();
            let bystanders = (!bystander_rows.is_empty()).then(|| shelf.put(block(&bystander_rows))).transpose()?;
            let block = block(&rows);
            let bounds = if let Block::Numbers(tiles) = &block { tiles.bounds() } else { Vec::new() };
            made.push((shelf.put(block)?, bounds, rows, bystanders, bystander_rows));
        }
        let file = shelf.end()?;
        let file = file.as_ref();
        let leaves: Vec<Leaf<T>> = made
            .into_iter()
            .map(|(block, bounds, rows, bystanders, bystander_rows)| Leaf {
                block: block.block(file),
                bounds,
                rows,
                bystanders: bystanders.map(|block| block.block(file)),
                bystander_rows,
            })
            .collect();
        let mut rows = Self {
            leaves,
            dimension,
            count,
            dealt,
            leaf_rows,
            origin,
            unit,
            scaled_origin,
            weight_unit,
            total_weight,
            bernoulli,
            middle,
            square: 0.0,
        };
        rows.square = rows.square_about_middle(input);
        Ok(rows)
    }

    fn square_about_middle(&self, input: Input<'_>) -> f64 {
        let distance = DistanceTo::new(self, input, &self.middle);
        Sum::of(self.leaves.iter().map(|leaf| match &leaf.block {
            Block::Numbers(tiles) => tiles.square(),
            Block::Sparse(rows) => rows.square(),
            Block::Bits(bits) => {
                Sum::of(leaf.rows.iter().enumerate().map(|(i, &row)| bits.weight(i) * distance.of(row)))
            }
        }))
    }

    /// The coordinate of a centre of positive mass in a column of whose rows the first moment is `sum`.
    pub fn center_of(&self, sum: f64, mass: f64) -> f64 {
        self.bernoulli.map_or(sum / mass, |bernoulli| bernoulli.frequency(sum, mass))
    }

    /// What centres cost by themselves, wherever the rows are.
    pub fn penalty(&self, centers: &[f64]) -> f64 {
        self.bernoulli.map_or(0.0, |bernoulli| bernoulli.penalty(centers))
    }

    /// Whether rows are kept as bits.
    pub fn are_bits(&self) -> bool {
        self.leaves.first().is_some_and(|leaf| matches!(leaf.block, Block::Bits(_)))
    }

    /// Whether rows are kept sparse.
    pub fn are_sparse(&self) -> bool {
        self.leaves.first().is_some_and(|leaf| matches!(leaf.block, Block::Sparse(_)))
    }

    /// How many centres, which are not sparse, have a place.
    pub fn most_centers(&self) -> usize {
        if self.are_sparse() { MOST_COORDINATES / self.dimension } else { usize::MAX }
    }

    /// The stored columns and values of a sparse row of the input, not from the origin.
    pub fn entries<'a>(&self, input: &'a Sparse, row: u32) -> impl Iterator<Item = (usize, f64)> + 'a {
        entries(input, row as usize, self.unit)
    }

    /// Turns a mass and, behind it, moments of sparse rows into moments from the origin; the mass stays.
    pub fn subtract_origin(&self, sums: &mut [f64]) {
        if let Some((mass, moments)) = sums.split_first_mut() {
            moments.iter_mut().zip(&self.scaled_origin).for_each(|(sum, zero)| *sum -= zero * *mass);
        }
    }

    /// Copies row `row` of the input to `out` as a stored position, in double precision.
    pub fn read_stored(&self, input: Input<'_>, row: u32, out: &mut [f64]) {
        input.read(row as usize, out);
        out.iter_mut().zip(&self.origin).for_each(|(value, zero)| *value = (*value - zero) / self.unit);
    }

    /// Copies row `index` of a block to `out`, as stored.
    pub fn read_row(&self, block: &Block<T>, index: usize, out: &mut [f64]) {
        match block {
            Block::Numbers(tiles) => tiles.read_row(index, out),
            Block::Bits(rows) => {
                out.fill(0.0);
                for_each_set_bit(rows.row(index), |j| out[j] = 1.0);
                out.iter_mut().zip(&self.origin).for_each(|(value, zero)| *value = (*value - zero) / self.unit);
            }
            Block::Sparse(rows) => {
                out.iter_mut().zip(&self.scaled_origin).for_each(|(value, zero)| *value = -zero);
                rows.row(index).for_each(|(j, value)| out[j] += value);
            }
        }
    }

    /// The weight of row `row` of the input, as stored.
    pub fn stored_weight(&self, input: Input<'_>, row: u32) -> f64 {
        input.weight(row as usize) / self.weight_unit
    }

    /// Turns a mass and the moments of bits into moments of stored positions; the mass stays.
    pub fn store_moments(&self, mass: f64, moments: &mut [f64]) {
        moments.iter_mut().zip(&self.origin).for_each(|(sum, zero)| *sum = (*sum - zero * mass) / self.unit);
    }

    /// `sum w |x|^2` of stored positions, from a mass and the moments of bits, whose squares are themselves.
    pub fn square_of_moments(&self, mass: f64, moments: &[f64]) -> f64 {
        let columns = moments.iter().zip(&self.origin);
        columns.map(|(sum, zero)| sum * (1.0 - 2.0 * zero) + mass * zero * zero).sum::<f64>() / self.unit / self.unit
    }

    /// A stored position in the input's unit.
    pub fn position(&self, stored: &[f64]) -> Vec<f64> {
        stored.iter().zip(&self.origin).map(|(x, zero)| zero + self.unit * x).collect()
    }

    /// A squared length (a temperature, a cost) in the input's unit; of a cost in nats it is the same.
    pub fn squared(&self, stored: f64) -> f64 {
        stored * self.unit * self.unit
    }
}

/// Squared distances of rows of the input from one stored position.
#[derive(Debug)]
pub(crate) enum DistanceTo<'a> {
    /// The difference of each coordinate.
    Numbers { input: Input<'a>, center: Vec<f64>, origin: &'a [f64], unit: f64 },
    /// By the set bits.
    Bits { rows: &'a Fingerprints, distance: BitDistance },
    /// By what is not 0.
    Sparse { rows: &'a Sparse, unit: f64, distance: SparseDistance<'a> },
}

impl<'a> DistanceTo<'a> {
    pub fn new<T: Real>(rows: &'a Rows<T>, input: Input<'a>, center: &[f64]) -> Self {
        match input {
            Input::Numbers(_) => {
                Self::Numbers { input, center: center.to_vec(), origin: &rows.origin, unit: rows.unit }
            }
            Input::Bits(bits) => Self::Bits { rows: bits, distance: BitDistance::to(rows, center) },
            Input::Sparse(sparse) => {
                let distance = SparseDistance::to(&rows.scaled_origin, center);
                Self::Sparse { rows: sparse, unit: rows.unit, distance }
            }
        }
    }

    /// From row `row` of the input.
    pub fn of(&self, row: u32) -> f64 {
        match self {
            Self::Numbers { input, center, origin, unit } => {
                let mut sum = 0.0;
                input.for_each_value(row as usize, |j, value| {
                    let apart = (value - origin[j]) / unit - center[j];
                    sum += apart * apart;
                });
                sum
            }
            Self::Bits { rows, distance } => distance.of(rows.row(row as usize)),
            Self::Sparse { rows, unit, distance } => distance.of(entries(rows, row as usize, *unit)),
        }
    }
}

/// Squared distances of rows of bits from one stored position, or what they cost there, in double precision: what the empty row has, and what each set bit adds.
#[derive(Debug)]
pub(crate) struct BitDistance {
    constant: f64,
    terms: Vec<f64>,
}

impl BitDistance {
    pub fn to<T: Real>(rows: &Rows<T>, center: &[f64]) -> Self {
        if rows.bernoulli.is_some() {
            let (constant, terms) = form(center);
            return Self { constant, terms: terms.collect() };
        }
        let (position, unit) = (rows.position(center), rows.unit);
        let constant = position.iter().map(|y| (y / unit) * (y / unit)).sum();
        Self { constant, terms: position.iter().map(|y| (1.0 - 2.0 * y) / unit / unit).collect() }
    }

    /// From the row that these words are.
    pub fn of(&self, words: &[u64]) -> f64 {
        let mut sum = self.constant;
        for_each_set_bit(words, |j| sum += self.terms[j]);
        // What rounding leaves of nothing is no distance below it.
        sum.max(0.0)
    }
}

/// How rows are dealt out in leaves.
struct Deal {
    /// The last leaf may have fewer.
    leaf_rows: usize,
    leaves: usize,
    /// A number of rows of which [`Partition`] makes as many leaves.
    dealt: usize,
}

/// No fewer leaves than these are made of more: ranks share them.
const LEAST_LEAVES: usize = 64;
/// So many rows take longer to go over than their sums to add up, in many dimensions.
const WIDE_LEAF_ROWS: usize = 512;

impl Deal {
    /// A leaf's sums are as long as all centres together, whatever is in it. In few dimensions they are short.
    fn of(count: usize, dimension: usize) -> Self {
        let partition = Partition::new(count, 1);
        let plain = Self { leaf_rows: partition.leaf_size(), leaves: partition.leaves(), dealt: count };
        if dimension > DIRECT_DIMENSION { plain.in_about(count, count / WIDE_LEAF_ROWS) } else { plain }
    }

    /// The same of sparse rows: a leaf of fewer values than a few times the columns takes longer to add up than to go over.
    fn of_sparse(count: usize, values: usize, dimension: usize) -> Self {
        Self::of(count, dimension).in_about(count, values / (4 * dimension))
    }

    /// Fewer leaves if so many are enough, and [`LEAST_LEAVES`] are there.
    fn in_about(self, count: usize, enough: usize) -> Self {
        let wanted = enough.max(LEAST_LEAVES);
        if wanted >= self.leaves {
            return self;
        }
        let leaf_rows = count.div_ceil(wanted);
        let leaves = count.div_ceil(leaf_rows);
        let dealt = leaves * Partition::new(leaves, 1).leaf_size();
        if Partition::new(dealt, 1).leaves() == leaves { Self { leaf_rows, leaves, dealt } } else { self }
    }
}

/// How many values of a row are kept.
fn values_of(input: Input<'_>, row: u32) -> usize {
    if let Input::Sparse(rows) = input { rows.row(row as usize).0.len() } else { input.dimension() }
}

/// The least and the greatest value of each column over some rows.
fn extremes(input: Input<'_>, rows: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let dimension = input.dimension();
    if let Input::Bits(bits) = input {
        let (mut all, mut any) = (vec![!0u64; bits.width()], vec![0u64; bits.width()]);
        for &row in rows {
            for ((word, all), any) in bits.row(row as usize).iter().zip(&mut all).zip(&mut any) {
                *all &= word;
                *any |= word;
            }
        }
        let of = |words: &[u64]| (0..dimension).map(|j| (words[j / 64] >> (j % 64) & 1) as f64).collect();
        return (of(&all), of(&any));
    }
    let mut present = vec![0; dimension];
    let (mut least, mut most) = (vec![f64::INFINITY; dimension], vec![f64::NEG_INFINITY; dimension]);
    for &row in rows {
        input.for_each_value(row as usize, |j, value| {
            least[j] = least[j].min(value);
            most[j] = most[j].max(value);
            present[j] += 1;
        });
    }
    // What was not seen is 0.
    for j in (0..dimension).filter(|j| present[*j] < rows.len()) {
        least[j] = least[j].min(0.0);
        most[j] = most[j].max(0.0);
    }
    (least, most)
}

/// Puts rows in the order of a k-d tree: halves along the widest coordinate, at a whole number of leaves, until one leaf is left.
fn arrange(input: Input<'_>, rows: &mut [u32], leaf_rows: usize) {
    if rows.len() <= leaf_rows {
        // The order inside a leaf is the input's.
        rows.sort_unstable();
        return;
    }
    let mut widest = (0, -1.0);
    for j in 0..input.dimension() {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &row in rows.iter() {
            let value = input.value(row as usize, j);
            least = least.min(value);
            most = most.max(value);
        }
        // Halves, because the difference of two finite numbers may overflow.
        let width = most / 2.0 - least / 2.0;
        if width > widest.1 {
            widest = (j, width);
        }
    }
    let half = rows.len().div_ceil(leaf_rows).div_ceil(2) * leaf_rows;
    // Equal values in the order of the input: the arrangement is a function of the data alone.
    rows.select_nth_unstable_by(half, |&a, &b| {
        input.value(a as usize, widest.0).total_cmp(&input.value(b as usize, widest.0)).then(a.cmp(&b))
    });
    let (left, right) = rows.split_at_mut(half);
    arrange(input, left, leaf_rows);
    arrange(input, right, leaf_rows);
}

/// Puts the whole leaves of a section in bit-reversed order, so that any run of leaves is a sample of all regions.
///
/// A rank owns a run of leaves. Work is uneven over regions (few centres matter to a sparse one, and a trial of the swap search touches one corner of the data), and dealt like this
/// every rank has its share of each.
fn deal(rows: &mut [u32], leaf_rows: usize) {
    let whole = rows.len() / leaf_rows;
    let mut order: Vec<usize> = (0..whole).collect();
    order.sort_by_key(|leaf| leaf.reverse_bits());
    let dealt: Vec<u32> = order.iter().flat_map(|&leaf| &rows[leaf * leaf_rows..][..leaf_rows]).copied().collect();
    rows[..dealt.len()].copy_from_slice(&dealt);
}

/// The power of two at or below a positive number.
fn power_of_two_near(value: f64) -> f64 {
    2f64.powi(value.log2().floor().clamp(-1000.0, 1000.0) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_small_boxes_and_every_run_of_them_spans_the_data() {
        let (points, _) = lehr_data::synthetic::lattice(&[40, 40], 20, 0.3, 1);
        let rows = Rows::<f64>::new(&points).unwrap();
        let side = |bounds: &[f64]| (bounds[2] - bounds[0]).max(bounds[3] - bounds[1]);
        let whole = rows.leaves.iter().fold(0.0f64, |most, leaf| most.max(leaf.bounds[2].abs()));
        let mean = rows.leaves.iter().map(|leaf| side(&leaf.bounds)).sum::<f64>() / rows.leaves.len() as f64;
        // 32,000 rows in leaves of 64: a box is about 1/22 of the square's side.
        assert!(mean < whole / 5.0, "mean side {mean} of half a side {whole}");
        for run in rows.leaves.chunks(rows.leaves.len() / 8) {
            let (least, most) = run.iter().fold((f64::MAX, f64::MIN), |(least, most), leaf| {
                (least.min(leaf.bounds[0]), most.max(leaf.bounds[2]))
            });
            assert!(most - least > whole, "a run of leaves spans {least} to {most}");
        }
    }

    #[test]
    fn every_row_is_in_one_leaf_once() {
        let (points, _) = lehr_data::synthetic::lattice(&[3, 3], 777, 0.3, 1);
        let weights = (0..points.len()).map(|row| (row % 3) as f64).collect();
        let rows = Rows::<f32>::new(&points.with_weights(weights).unwrap()).unwrap();
        let mut seen: Vec<u32> =
            rows.leaves.iter().flat_map(|leaf| leaf.rows.iter().chain(&leaf.bystander_rows)).copied().collect();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..9 * 777));
        assert!(rows.leaves.iter().flat_map(|leaf| &leaf.bystander_rows).all(|row| row % 3 == 0));
    }
}
