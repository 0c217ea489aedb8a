//! Trimmed k-means: Lloyd's algorithm in which a row outside the outlier radius is in no cluster.

use lehr_numerics::bits::{BitRows, for_each_set_bit, nearest_bit_sums};
use lehr_numerics::nearest::{Kind, nearest_sums};
use lehr_numerics::sparse::{SparseRows, nearest_sparse_sums};
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::centers::Centers;
use super::hard::nearest_active;
use super::noise::NoiseComponent;
use super::side_by_side::HardSideBySide;
use crate::Error;
use crate::round::{Round, Rounds, total_of};
use crate::rows::{BitDistance, OverStore, RowMajor, RowMajorMut, Rows, Scalar, SparseDistance, Storage, Work};

/// The maximum number of iterations, the same as without an outlier radius.
const MOST_SWEEPS: u64 = 1000;

/// A pass of hard assignment, in which a row outside the outlier radius of every centre is in no cluster. The sums are
/// the mass, first moment and cost of each centre, followed by the weight of the outliers.
struct TrimmedRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    centers: &'a Centers,
    /// The centres in the layout of the kernels, and the squared distances of bits and sparse rows from the centres.
    side_by_side: &'a HardSideBySide<T>,
    bit_distances: &'a [BitDistance],
    sparse_distances: &'a [SparseDistance<'a>],
    cost: f64,
}

impl<T: Scalar> TrimmedRound<'_, T> {
    fn per_center(&self) -> usize {
        2 + self.rows.dimension
    }

    /// Adds a row's weight and cost, given its squared distance from its nearest centre. Returns the sums to which the
    /// caller must add the row's moments, or `None` for an outlier.
    fn within<'a>(&self, nearest: usize, weight: f64, squared: f64, partial: &'a mut [f64]) -> Option<&'a mut [f64]> {
        if squared > self.cost {
            *partial.last_mut().expect("the weight outside") += weight;
            return None;
        }
        let dimension = self.rows.dimension;
        let sums = RowMajorMut::new(partial, self.per_center()).into_row(nearest);
        sums[0] += weight;
        sums[1 + dimension] += weight * squared;
        Some(&mut sums[1..1 + dimension])
    }

    /// Completes the sums of all leaves. The sums of sparse rows are relative to 0, and become relative to the origin.
    fn settle(&self, total: &mut [f64]) {
        if self.rows.storage == Storage::Sparse {
            let (rows, per_center) = (self.rows, self.per_center());
            let of_centers = total.chunks_exact_mut(per_center);
            of_centers.for_each(|sums| rows.units.subtract_origin(&mut sums[..1 + rows.dimension]));
        }
    }
}

impl<T: Scalar> OverStore<T, Work<'_, T>> for TrimmedRound<'_, T> {
    fn over_numbers(&self, tiles: &Tiles<T>, Work { leaf, scratch, partial }: Work<'_, T>) {
        let (leaf, dimension) = (&self.rows.leaves[leaf], self.rows.dimension);
        nearest_active(&leaf.bounds, self.centers, 1, &mut scratch.active, &mut scratch.reach);
        let centers = if dimension > DIRECT_DIMENSION {
            // In more dimensions, centres are not selected for each leaf.
            &self.side_by_side.numbers
        } else {
            scratch.hard_centers.begin(dimension);
            for &k in &scratch.active {
                scratch.hard_centers.push(self.centers.center(k));
            }
            &scratch.hard_centers
        };
        scratch.sums.clear();
        scratch.sums.resize(scratch.active.len() * Kind::Centers.len(dimension), 0.0);
        nearest_sums(tiles, centers, Kind::Centers, &mut scratch.hard, &mut scratch.sums);
        let mut row = vec![0.0; dimension];
        for at in 0..tiles.rows() {
            let k = scratch.active[scratch.hard.nearest(at)];
            tiles.read_row(at, &mut row);
            let weight = tiles.weight(at);
            let squared: f64 = row.iter().zip(self.centers.center(k)).map(|(x, y)| (x - y) * (x - y)).sum();
            if let Some(moments) = self.within(k, weight, squared, partial) {
                moments.iter_mut().zip(&row).for_each(|(sum, x)| *sum += weight * x);
            }
        }
    }

    /// Writes the sums in stored units. As for numbers, distances in double precision decide which rows are within the
    /// radius.
    fn over_bits(&self, bits: &BitRows, Work { scratch, partial, .. }: Work<'_, T>) {
        let (dimension, per_center) = (self.rows.dimension, self.per_center());
        scratch.sums.clear();
        scratch.sums.resize(self.centers.len() * Kind::Centers.len(dimension), 0.0);
        nearest_bit_sums(bits, &self.side_by_side.bits, Kind::Centers, &mut scratch.bits, &mut scratch.sums);
        for at in 0..bits.rows() {
            let (k, weight) = (scratch.bits.nearest(at), bits.weight(at));
            if let Some(moments) = self.within(k, weight, self.bit_distances[k].of(bits.row(at)), partial) {
                for_each_set_bit(bits.row(at), |j| moments[j] += weight);
            }
        }
        let of_centers = partial.len() - 1;
        for sums in partial[..of_centers].chunks_exact_mut(per_center) {
            self.rows.units.store_moments(&mut sums[..1 + dimension]);
        }
    }

    /// Sums the sparse rows, relative to 0. The distances that decide which rows are within the radius are computed
    /// from differences.
    fn over_sparse(&self, rows: &SparseRows<T>, Work { scratch, partial, .. }: Work<'_, T>) {
        scratch.sums.clear();
        scratch.sums.resize(self.centers.len() * Kind::Centers.len(self.rows.dimension), 0.0);
        let centers = &self.side_by_side.sparse;
        nearest_sparse_sums(rows, centers, Kind::Centers, &mut scratch.sparse, &mut scratch.sums);
        for at in 0..rows.rows() {
            let (k, weight) = (scratch.sparse.nearest(at), rows.weight(at));
            if let Some(moments) = self.within(k, weight, self.sparse_distances[k].of(rows.row(at)), partial) {
                rows.row(at).for_each(|(j, x)| moments[j] += weight * x);
            }
        }
    }
}

impl<T: Scalar> Round for TrimmedRound<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * self.per_center() + 1
    }

    fn key_len(&self) -> usize {
        self.per_center()
    }

    fn name(&self) -> &'static str {
        "nearest centres within the radius"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        self.rows.map(self, leaf, partial);
    }
}

/// The result of trimmed k-means.
pub(crate) struct Trimmed {
    /// The cost: `sum w min(d, radius^2)`.
    pub cost: f64,
    /// The weight of each centre's rows.
    pub masses: Vec<f64>,
    /// The weight of the outliers.
    pub outside: f64,
    pub sweeps: u64,
}

/// Moves each centre to the mean of its nearest rows within the radius, until no centre moves. Neither assigning rows
/// nor moving centres can raise the cost.
pub(crate) async fn trim<T: Scalar>(
    rounds: &mut dyn Rounds,
    rows: &Rows<T>,
    centers: &mut Centers,
    sponge: &NoiseComponent,
) -> Result<Trimmed, Error> {
    let dimension = rows.dimension;
    let (mut total, mut sweeps, mut last) = (Vec::new(), 0, f64::INFINITY);
    let (mut side_by_side, mut bit_distances, mut sparse_distances) =
        (HardSideBySide::default(), Vec::new(), Vec::new());
    loop {
        side_by_side.prepare(rows, centers, None);
        bit_distances.clear();
        sparse_distances.clear();
        let each = || (0..centers.len()).map(|k| centers.center(k));
        match rows.storage {
            Storage::Numbers => {}
            Storage::Bits => bit_distances.extend(each().map(|center| BitDistance::to(rows, center))),
            Storage::Sparse => {
                sparse_distances.extend(each().map(|center| SparseDistance::to(&rows.units.scaled_origin, center)));
            }
        }
        let round = TrimmedRound {
            rows,
            centers,
            side_by_side: &side_by_side,
            bit_distances: &bit_distances,
            sparse_distances: &sparse_distances,
            cost: sponge.cost,
        };
        total_of(rounds, &round, &mut total).await?;
        round.settle(&mut total);
        sweeps += 1;
        let (of_centers, outside) = total.split_at(total.len() - 1);
        let outside = outside[0];
        let of_centers = RowMajor::new(of_centers, 2 + dimension);
        let within: f64 = of_centers.rows().map(|sums| sums[1 + dimension]).sum();
        let cost = within + outside * sponge.cost;
        let mut moved = false;
        for (y, sums) in centers.rows_mut().zip(of_centers.rows()) {
            if sums[0] > 0.0 {
                for (y, sum) in y.iter_mut().zip(&sums[1..]) {
                    let next = sum / sums[0];
                    moved |= next != *y;
                    *y = next;
                }
            }
        }
        if !moved || sweeps >= MOST_SWEEPS || cost >= last {
            let masses = of_centers.rows().map(|sums| sums[0]).collect();
            return Ok(Trimmed { cost, masses, outside, sweeps });
        }
        last = cost;
    }
}
