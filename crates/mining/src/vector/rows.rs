//! The rows as annealing sees them: cut into leaves, near rows together, from the mean, in units in which they are about 1.
//!
//! Rows of weight 0 are set aside before anything is counted, so that they influence nothing, not even where the leaves are cut; each
//! leaf carries its share of them as *bystanders* for the labelling at the end.
//!
//! Within a section of 65,536 consecutive rows the rows are put in the order of a k-d tree whose cells are the leaves (up to 16 dimensions). Then
//! a leaf is a small box and only the centres near it matter to it, which is most of the speed at low temperatures. The leaves of a section are then dealt out, so that every rank
//! has some of each region. A section's length is fixed, so a rank, or a
//! reader of a file larger than memory, can build its own leaves from a part of the rows and get the same ones.
//!
//! The origin is the weighted mean and the unit a power of two near the largest deviation: subtracting the one saves the digits
//! that large offsets cost, the other keeps squares from overflowing, and neither changes a bit of what is left.

use lehr_data::Points;
use lehr_numerics::lanes::Real;
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use crate::Error;
use crate::round::Partition;

/// Rows put in order together.
const SECTION: usize = 1 << 16;

/// Coordinates further than this from the mean have squares, times weights, that double precision may not hold.
pub(crate) const FARTHEST: f64 = 1e140;

/// A leaf's rows.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<T: Real> {
    pub tiles: Tiles<T>,
    /// Least, then greatest value of each coordinate.
    pub bounds: Vec<f64>,
    /// Where the rows stand in the input.
    pub rows: Vec<u32>,
    /// Rows of weight 0, to be labelled only.
    pub bystanders: Option<Tiles<T>>,
    pub bystander_rows: Vec<u32>,
}

/// All rows of a run.
#[derive(Debug)]
pub(crate) struct Rows<T: Real> {
    pub leaves: Vec<Leaf<T>>,
    pub dimension: usize,
    /// Rows of positive weight.
    pub count: usize,
    /// In `origin + unit * x` the stored `x` is a row of the input.
    pub origin: Vec<f64>,
    pub unit: f64,
    /// A stored weight is the input's divided by this power of two.
    pub weight_unit: f64,
    /// The sum of the stored weights.
    pub total_weight: f64,
    /// The weighted sum of the stored rows' squared lengths.
    pub square: f64,
}

impl<T: Real> Rows<T> {
    /// Arranges the rows. Cost: N log N, one copy of the rows.
    ///
    /// # Errors
    /// [`Error::TooFar`] if squared distances would overflow, [`Error::TooManyPoints`].
    pub fn new(points: &Points) -> Result<Self, Error> {
        let dimension = points.dimension();
        if u32::try_from(points.len()).is_err() {
            return Err(Error::TooManyPoints { points: points.len() });
        }
        let (mut heavy, light): (Vec<u32>, Vec<u32>) =
            (0..points.len() as u32).partition(|&row| points.weight(row as usize) > 0.0);
        let count = heavy.len();
        let weight_sum = Sum::of(heavy.iter().map(|&row| points.weight(row as usize)));
        let weight_unit = power_of_two_near(weight_sum / count as f64);
        let total_weight = weight_sum / weight_unit;
        let (mut least, mut most) = (vec![f64::INFINITY; dimension], vec![f64::NEG_INFINITY; dimension]);
        for &row in &heavy {
            for ((value, least), most) in points.row(row as usize).iter().zip(&mut least).zip(&mut most) {
                *least = least.min(*value);
                *most = most.max(*value);
            }
        }
        let largest = least.iter().chain(&most).fold(0.0f64, |largest, value| largest.max(value.abs()));
        // Rows of about 1 cannot overflow when they are weighted and added.
        let guard = power_of_two_near(largest.max(f64::MIN_POSITIVE));
        let mut sums = vec![Sum::default(); dimension];
        for &row in &heavy {
            let weight = points.weight(row as usize) / weight_unit;
            for (value, sum) in points.row(row as usize).iter().zip(&mut sums) {
                sum.add(weight * (value / guard));
            }
        }
        // A mean lies between the least and the greatest value. Rounding may put it a digit outside, and rows that are all equal beside themselves.
        let mean = |sum: &Sum| sum.value() / total_weight * guard;
        let ends = least.iter().zip(&most);
        let origin: Vec<f64> =
            sums.iter().zip(ends).map(|(sum, (least, most))| mean(sum).clamp(*least, *most)).collect();
        let mut deviation = 0.0f64;
        for &row in &heavy {
            for (value, zero) in points.row(row as usize).iter().zip(&origin) {
                deviation = deviation.max((value - zero).abs());
            }
        }
        if deviation >= FARTHEST || deviation.is_nan() {
            return Err(Error::TooFar { distance: deviation, most: FARTHEST });
        }
        let unit = if deviation > 0.0 { power_of_two_near(deviation) } else { 1.0 };

        let partition = Partition::new(count, 1);
        let leaf_rows = partition.leaf_size();
        if dimension <= DIRECT_DIMENSION {
            for section in heavy.chunks_mut(SECTION.max(leaf_rows)) {
                arrange(points, section, leaf_rows);
                deal(section, leaf_rows);
            }
        }
        let scaled_origin: Vec<f64> = origin.iter().map(|zero| zero / unit).collect();
        let tiles = |rows: &[u32]| {
            let values = rows.iter().flat_map(|&row| points.row(row as usize));
            let scaled: Vec<f64> = values.map(|value| value / unit).collect();
            Tiles::new(
                rows.len(),
                dimension,
                &scaled_origin,
                |i| &scaled[i * dimension..][..dimension],
                |i| points.weight(rows[i] as usize) / weight_unit,
            )
        };
        let leaves = partition.leaves();
        let leaves: Vec<Leaf<T>> = (0..leaves)
            .map(|leaf| {
                let rows = heavy[partition.leaf_rows(leaf)].to_vec();
                let bystander_rows = light[light.len() * leaf / leaves..light.len() * (leaf + 1) / leaves].to_vec();
                let bystanders = (!bystander_rows.is_empty()).then(|| tiles(&bystander_rows));
                let tiles = tiles(&rows);
                Leaf { bounds: tiles.bounds(), tiles, rows, bystanders, bystander_rows }
            })
            .collect();
        let square = Sum::of(leaves.iter().map(|leaf| leaf.tiles.square()));
        Ok(Self { leaves, dimension, count, origin, unit, weight_unit, total_weight, square })
    }

    /// Row `row` of the input as a stored position, in double precision.
    pub fn stored<'a>(&'a self, points: &'a Points, row: u32) -> impl Iterator<Item = f64> + 'a {
        points.row(row as usize).iter().zip(&self.origin).map(|(value, zero)| (value - zero) / self.unit)
    }

    /// The weight of row `row` of the input, as stored.
    pub fn stored_weight(&self, points: &Points, row: u32) -> f64 {
        points.weight(row as usize) / self.weight_unit
    }

    /// A stored position in the input's unit.
    pub fn position(&self, stored: &[f64]) -> Vec<f64> {
        stored.iter().zip(&self.origin).map(|(x, zero)| zero + self.unit * x).collect()
    }

    /// A squared length (a temperature, a cost) in the input's unit.
    pub fn squared(&self, stored: f64) -> f64 {
        stored * self.unit * self.unit
    }
}

/// Puts rows in the order of a k-d tree: halves along the widest coordinate, at a whole number of leaves, until one leaf is left.
fn arrange(points: &Points, rows: &mut [u32], leaf_rows: usize) {
    if rows.len() <= leaf_rows {
        // The order inside a leaf is the input's.
        rows.sort_unstable();
        return;
    }
    let mut widest = (0, -1.0);
    for j in 0..points.dimension() {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &row in rows.iter() {
            let value = points.row(row as usize)[j];
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
        points.row(a as usize)[widest.0].total_cmp(&points.row(b as usize)[widest.0]).then(a.cmp(&b))
    });
    let (left, right) = rows.split_at_mut(half);
    arrange(points, left, leaf_rows);
    arrange(points, right, leaf_rows);
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

/// A sum with its rounding errors carried along (Neumaier).
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    carry: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.carry += if self.sum.abs() >= value.abs() { (self.sum - next) + value } else { (value - next) + self.sum };
        self.sum = next;
    }

    fn value(&self) -> f64 {
        self.sum + self.carry
    }

    fn of(values: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Self::default();
        values.for_each(|value| sum.add(value));
        sum.value()
    }
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
