//! The hard limit: Lloyd's sweeps, recomputed only where a centre has moved.

use lehr_numerics::nearest::{Kind, nearest_sums};
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::e_step::Kept;
use super::rows::Rows;
use crate::Error;
use crate::round::{LeafCells, Round, Rounds, total_of};

/// Centres without masses. Positions are stored ones.
#[derive(Clone, Debug)]
pub(crate) struct Centers {
    pub dimension: usize,
    /// K x D.
    pub values: Vec<f64>,
}

impl Centers {
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }
    pub fn center(&self, k: usize) -> &[f64] {
        &self.values[k * self.dimension..][..self.dimension]
    }
    pub fn squared_distance(&self, a: usize, b: usize) -> f64 {
        self.center(a).iter().zip(self.center(b)).map(|(x, y)| (x - y) * (x - y)).sum()
    }
    pub fn remove(&mut self, k: usize) {
        self.values.drain(k * self.dimension..(k + 1) * self.dimension);
    }
}

/// What a leaf remembers of its last sweep.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    active: Vec<usize>,
    positions: Vec<f64>,
    sums: Vec<f64>,
}

/// Planes that divide clusters: normals (K x D) and thresholds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planes {
    pub normals: Vec<f64>,
    pub thresholds: Vec<f64>,
}

/// One pass of hard assignment over all rows.
pub(crate) struct HardRound<'a, T: Kept> {
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    pub planes: Option<&'a Planes>,
    pub memory: &'a LeafCells<Remembered>,
}

impl<T: Kept> HardRound<'_, T> {
    pub fn kind(&self) -> Kind {
        if self.planes.is_some() { Kind::Swaps } else { Kind::Centers }
    }
}

impl<T: Kept> Round for HardRound<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * self.kind().len(self.rows.dimension)
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        let kind = self.kind();
        let (dimension, per_center) = (self.rows.dimension, kind.len(self.rows.dimension));
        partial.fill(0.0);
        T::with_scratch(|scratch| {
            nearest_active(
                &leaf.bounds,
                self.centers,
                if self.planes.is_some() { 2 } else { 1 },
                &mut scratch.active,
                &mut scratch.reach,
            );
            let active = &scratch.active;
            self.memory.with(index, |memory| {
                let same = self.planes.is_none()
                    && memory.active == *active
                    && active
                        .iter()
                        .zip(memory.positions.chunks_exact(dimension))
                        .all(|(&k, position)| self.centers.center(k) == position);
                if !same {
                    scratch.hard_centers.begin(dimension);
                    memory.active.clear();
                    memory.positions.clear();
                    for &k in active {
                        scratch.hard_centers.push(self.centers.center(k));
                        if let Some(planes) = self.planes {
                            scratch
                                .hard_centers
                                .push_plane(&planes.normals[k * dimension..][..dimension], planes.thresholds[k]);
                        } else {
                            memory.active.push(k);
                            memory.positions.extend_from_slice(self.centers.center(k));
                        }
                    }
                    memory.sums.clear();
                    memory.sums.resize(active.len() * per_center, 0.0);
                    nearest_sums(&leaf.tiles, &scratch.hard_centers, kind, &mut scratch.hard, &mut memory.sums);
                }
                for (&k, sums) in active.iter().zip(memory.sums.chunks_exact(per_center)) {
                    partial[k * per_center..][..per_center].copy_from_slice(sums);
                }
            });
        });
    }
}

/// Centres that may be among the `nearest` (1 or 2) nearest of some row in a box.
pub(crate) fn nearest_active(
    bounds: &[f64],
    centers: &Centers,
    nearest: usize,
    active: &mut Vec<usize>,
    reach: &mut Vec<f64>,
) {
    let (dimension, clusters) = (centers.dimension, centers.len());
    active.clear();
    if dimension > DIRECT_DIMENSION || clusters <= nearest + 1 {
        active.extend(0..clusters);
        return;
    }
    let (least, most) = bounds.split_at(dimension);
    // The squared distance of each centre from the middle of the box; the references are the nearest and, for two, the second nearest.
    reach.clear();
    let mut references = [(0, f64::INFINITY); 2];
    for k in 0..clusters {
        let mut distance = 0.0;
        for (j, y) in centers.center(k).iter().enumerate() {
            let difference = (least[j] + most[j]) / 2.0 - y;
            distance += difference * difference;
        }
        if distance < references[0].1 {
            references[1] = references[0];
            references[0] = (k, distance);
        } else if distance < references[1].1 {
            references[1] = (k, distance);
        }
    }
    for k in 0..clusters {
        let y = centers.center(k);
        // A centre that every row of the box has `nearest` nearer ones than is none of the `nearest`.
        let beaten = references[..nearest].iter().all(|&(reference, _)| {
            let mut lead = 0.0;
            for (j, r) in centers.center(reference).iter().enumerate() {
                let apart = y[j] - r;
                let corner = if apart > 0.0 { most[j] } else { least[j] };
                lead += apart * (2.0 * corner - y[j] - r);
            }
            // Rounding: a tie must not lose a centre.
            lead < -1e-9 * (1.0 + lead.abs())
        });
        if !beaten {
            active.push(k);
        }
    }
}

/// Lloyd's algorithm on some rows: what it needs beside the centres.
pub(crate) struct Lloyd<'a, T: Kept> {
    pub rows: &'a Rows<T>,
    pub memory: &'a LeafCells<Remembered>,
    pub total: Vec<f64>,
    /// Passes over the rows so far.
    pub sweeps: u64,
}

/// When sweeps end, beside at a fixed point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub sweeps: u64,
    /// A sweep that gains no more than this share of the cost is the last.
    pub tolerance: f64,
    /// A cost that must come within reach, or the sweeps are given up.
    pub to_beat: Option<f64>,
}

/// To the fixed point.
pub(crate) const TO_THE_END: Patience = Patience { sweeps: 1000, tolerance: 0.0, to_beat: None };
/// The gains to come are guessed to be at most this many times the last one.
const GAINS_TO_COME: f64 = 8.0;

impl<'a, T: Kept> Lloyd<'a, T> {
    pub fn new(rows: &'a Rows<T>, memory: &'a LeafCells<Remembered>) -> Self {
        Self { rows, memory, total: Vec::new(), sweeps: 0 }
    }

    /// One pass at fixed centres; the sums are left in `total`.
    pub async fn pass<R: Rounds>(
        &mut self,
        rounds: &mut R,
        centers: &Centers,
        planes: Option<&Planes>,
    ) -> Result<(), Error> {
        self.sweeps += 1;
        total_of(rounds, &HardRound { rows: self.rows, centers, planes, memory: self.memory }, &mut self.total).await
    }

    /// Sweeps until no centre moves or patience ends. Returns the cost of `centers` as they were before the last move, which is at least theirs now.
    pub async fn run<R: Rounds>(
        &mut self,
        rounds: &mut R,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        let dimension = self.rows.dimension;
        let per_center = Kind::Centers.len(dimension);
        let mut last = f64::INFINITY;
        let mut sweeps = 0;
        loop {
            self.pass(rounds, centers, None).await?;
            sweeps += 1;
            let cost: f64 = self.total.chunks_exact(per_center).map(|sums| sums[1 + dimension]).sum();
            let gain = last - cost;
            last = cost;
            let hopeless = patience.to_beat.is_some_and(|best| sweeps > 2 && cost - GAINS_TO_COME * gain > best);
            let mut moved = false;
            for (y, sums) in centers.values.chunks_exact_mut(dimension).zip(self.total.chunks_exact(per_center)) {
                // A centre that no row is nearest to stays: the swap search moves it where it is of use.
                if sums[0] > 0.0 {
                    for (y, sum) in y.iter_mut().zip(&sums[1..]) {
                        let next = sum / sums[0];
                        moved |= next != *y;
                        *y = next;
                    }
                }
            }
            if !moved || sweeps >= patience.sweeps || gain <= patience.tolerance * cost || hopeless {
                return Ok(cost);
            }
        }
    }

    /// The mass of each centre at the last pass without planes.
    pub fn masses(&self) -> Vec<f64> {
        self.total.chunks_exact(Kind::Centers.len(self.rows.dimension)).map(|sums| sums[0]).collect()
    }
}
