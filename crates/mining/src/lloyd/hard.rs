//! The hard limit: Lloyd's sweeps, recomputed only where a centre has moved.
//!
//! In up to [`DIRECT_DIMENSION`] dimensions a leaf is a box: centres that cannot be near are left out of it, and it remembers its sums until one of the others moves. A leaf of rows of bits knows of each row how near each centre can be
//! ([`Known`]), and forms the distances of which that does not say enough. Neither changes a bit.

use lehr_numerics::bits::{
    BitRows, BitScratch, HardBitCenters, Known, Moves, nearest_bit_sums, nearest_bit_sums_of_known,
};
use lehr_numerics::lanes::Real;
use lehr_numerics::nearest::{HardCenters, Kind, nearest_sums};
use lehr_numerics::sparse::{HardSparseCenters, nearest_sparse_sums};
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::bernoulli::form;
use super::e_step::Kept;
use super::rows::{Block, Rows};
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

/// What a leaf remembers of sweeps before.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// Of the last, in up to [`DIRECT_DIMENSION`] dimensions.
    active: Vec<usize>,
    positions: Vec<f64>,
    sums: Vec<f64>,
    /// Of the last, and of the one that trials differ from, where rows are bits.
    last: Known,
    base: Known,
}

impl Remembered {
    /// What a pass goes by, and leaves behind.
    fn known(&mut self, from: Source, clusters: usize) -> &mut Known {
        match from {
            Source::Nothing => self.last.forget(),
            Source::Last => {}
            Source::Base => self.last.take_over(&self.base, clusters),
            Source::NothingForBase => {
                self.base.forget();
                return &mut self.base;
            }
        }
        &mut self.last
    }
}

/// What is known of rows of bits when a pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Nothing,
    /// The same, and what it finds is what trials differ from.
    NothingForBase,
    /// What the last pass found.
    Last,
    /// What that found which trials differ from.
    Base,
}

/// Planes that divide clusters: normals (K x D) and thresholds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planes {
    pub normals: Vec<f64>,
    pub thresholds: Vec<f64>,
}

/// One pass of hard assignment over all rows. A leaf whose centres are where they were keeps the sums it remembers.
pub(crate) struct HardRound<'a, T: Kept> {
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    pub planes: Option<&'a Planes>,
    /// The same as the kernels want them that hold every row against every centre.
    pub side_by_side: &'a HardSideBySide<T>,
    pub memory: &'a LeafCells<Remembered>,
    /// Whether every row is held against every centre, and nothing is remembered.
    pub is_plain: bool,
    /// Of rows of bits: what is known of them, and how far centres have moved since. None where every row is held against every centre.
    pub known: Option<(Source, &'a Moves)>,
}

impl<T: Kept> HardRound<'_, T> {
    fn kind(&self) -> Kind {
        if self.planes.is_some() { Kind::Swaps } else { Kind::Centers }
    }

    /// The sums of rows of bits, in stored units.
    fn map_bits(&self, index: usize, bits: &BitRows, scratch: &mut BitScratch<T>, partial: &mut [f64]) {
        let (rows, kind) = (self.rows, self.kind());
        let dimension = rows.dimension;
        let centers = &self.side_by_side.bits;
        match self.known {
            None => nearest_bit_sums(bits, centers, kind, scratch, partial),
            Some((from, moves)) => self.memory.with(index, |memory| {
                let known = memory.known(from, self.centers.len());
                nearest_bit_sums_of_known(bits, centers, moves, known, scratch, partial);
            }),
        }
        for sums in partial.chunks_exact_mut(kind.len(dimension)) {
            let (own, beyond) = sums.split_at_mut(Kind::Centers.len(dimension));
            rows.store_moments(own[0], &mut own[1..][..dimension]);
            own[1 + dimension] /= rows.unit * rows.unit;
            if let [removal, mass, moments @ ..] = beyond {
                *removal /= rows.unit * rows.unit;
                rows.store_moments(*mass, moments);
            }
        }
    }
}

impl<T: Kept> HardRound<'_, T> {
    /// What is left to be done once the sums of all leaves are there: those of sparse rows are counted from the origin.
    fn settle(&self, total: &mut [f64]) {
        if !self.rows.are_sparse() {
            return;
        }
        let (kind, dimension) = (self.kind(), self.rows.dimension);
        for sums in total.chunks_exact_mut(kind.len(dimension)) {
            self.rows.subtract_origin(&mut sums[..1 + dimension]);
            if kind == Kind::Swaps {
                self.rows.subtract_origin(&mut sums[3 + dimension..]);
            }
        }
    }
}

/// Centres side by side, as the kernels of bits, of sparse rows and of many dimensions want them: once a pass, since it takes as long as some ten rows.
#[derive(Debug, Default)]
pub(crate) struct HardSideBySide<T: Real> {
    /// Stored, for rows of numbers in more than [`DIRECT_DIMENSION`] dimensions.
    pub numbers: HardCenters<T>,
    /// In the coordinates of the bits.
    pub bits: HardBitCenters<T>,
    /// Stored.
    pub sparse: HardSparseCenters<T>,
}

impl<T: Real> HardSideBySide<T> {
    /// Nothing for rows of numbers in few dimensions, of which each leaf wants centres of its own.
    pub fn prepare(&mut self, rows: &Rows<T>, centers: &Centers, planes: Option<&Planes>) {
        let dimension = rows.dimension;
        let plane = |planes: &Planes, k: usize| -> (Vec<f64>, f64) {
            (planes.normals[k * dimension..][..dimension].to_vec(), planes.thresholds[k])
        };
        if rows.are_bits() {
            self.bits.begin(dimension, centers.len());
            for k in 0..centers.len() {
                if rows.bernoulli.is_some() {
                    let (constant, terms) = form(centers.center(k));
                    self.bits.set_form(k, constant, terms);
                    continue;
                }
                self.bits.set(k, &rows.position(centers.center(k)));
                if let Some((normal, threshold)) = planes.map(|planes| plane(planes, k)) {
                    let zero: f64 = normal.iter().zip(&rows.origin).map(|(n, zero)| n * zero).sum();
                    self.bits.push_plane(&normal, rows.unit * threshold + zero);
                }
            }
        }
        if rows.are_sparse() {
            self.sparse.begin(dimension, centers.len());
            for k in 0..centers.len() {
                self.sparse.set(k, centers.center(k), &rows.scaled_origin);
                if let Some((normal, threshold)) = planes.map(|planes| plane(planes, k)) {
                    self.sparse.push_plane(&normal, &rows.scaled_origin, threshold);
                }
            }
        }
        if !rows.are_bits() && !rows.are_sparse() && dimension > DIRECT_DIMENSION {
            self.numbers.begin(dimension);
            for k in 0..centers.len() {
                self.numbers.push(centers.center(k));
                if let Some((normal, threshold)) = planes.map(|planes| plane(planes, k)) {
                    self.numbers.push_plane(&normal, threshold);
                }
            }
        }
    }
}

impl<T: Kept> Round for HardRound<'_, T> {
    fn len(&self) -> usize {
        self.centers.len() * self.kind().len(self.rows.dimension)
    }

    fn key_len(&self) -> usize {
        self.kind().len(self.rows.dimension)
    }

    fn name(&self) -> &'static str {
        "nearest centres"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        let kind = self.kind();
        let (dimension, per_center) = (self.rows.dimension, kind.len(self.rows.dimension));
        partial.fill(0.0);
        T::with_scratch(|scratch| {
            let tiles = match &leaf.block {
                Block::Numbers(tiles) => tiles,
                Block::Bits(bits) => return self.map_bits(index, bits, &mut scratch.bits, partial),
                Block::Sparse(rows) => {
                    return nearest_sparse_sums(rows, &self.side_by_side.sparse, kind, &mut scratch.sparse, partial);
                }
            };
            if dimension > DIRECT_DIMENSION {
                // Every centre matters to every leaf.
                return nearest_sums(tiles, &self.side_by_side.numbers, kind, &mut scratch.hard, partial);
            }
            let nearest = if self.planes.is_some() { 2 } else { 1 };
            if self.is_plain {
                scratch.active.clear();
                scratch.active.extend(0..self.centers.len());
            } else {
                nearest_active(&leaf.bounds, self.centers, nearest, &mut scratch.active, &mut scratch.reach);
            }
            scratch.hard_centers.begin(dimension);
            for &k in &scratch.active {
                scratch.hard_centers.push(self.centers.center(k));
                if let Some(planes) = self.planes {
                    scratch
                        .hard_centers
                        .push_plane(&planes.normals[k * dimension..][..dimension], planes.thresholds[k]);
                }
            }
            scratch.sums.clear();
            scratch.sums.resize(scratch.active.len() * per_center, 0.0);
            let mut spread = |sums: &[f64]| {
                for (&k, sums) in scratch.active.iter().zip(sums.chunks_exact(per_center)) {
                    partial[k * per_center..][..per_center].copy_from_slice(sums);
                }
            };
            if self.is_plain || self.planes.is_some() {
                nearest_sums(tiles, &scratch.hard_centers, kind, &mut scratch.hard, &mut scratch.sums);
                spread(&scratch.sums);
                return;
            }
            self.memory.with(index, |memory| {
                let positions = || scratch.active.iter().flat_map(|&k| self.centers.center(k)).copied();
                if memory.active != scratch.active || !positions().eq(memory.positions.iter().copied()) {
                    nearest_sums(tiles, &scratch.hard_centers, kind, &mut scratch.hard, &mut scratch.sums);
                    memory.active.clone_from(&scratch.active);
                    memory.positions.clear();
                    memory.positions.extend(positions());
                    memory.sums.clone_from(&scratch.sums);
                }
                spread(&memory.sums);
            });
        });
    }
}

/// The difference that moving a few centres makes to the sums of the last [`HardRound`] without planes: a leaf that none of them is near, before or after,
/// has nothing to add, and says so in the first number of its partial (0; the rest of it is then not written and not read).
struct DifferenceRound<'a, T: Kept> {
    rows: &'a Rows<T>,
    memory: &'a LeafCells<Remembered>,
    centers: &'a Centers,
    before: &'a Centers,
    /// The centres that are not where they were.
    moved: &'a [usize],
}

impl<T: Kept> DifferenceRound<'_, T> {
    /// Whether a leaf's sums can have changed.
    fn concerns(&self, bounds: &[f64], memory: &Remembered) -> bool {
        if memory.active.iter().any(|k| self.moved.contains(k)) {
            return true;
        }
        // None of the leaf's own centres has moved, so any of them may be what a newcomer has to beat; the first is as good as any where leaves are small.
        let Some(&reference) = memory.active.first() else { return true };
        self.moved.iter().any(|&k| !beaten(bounds, self.centers.center(k), self.before.center(reference)))
    }
}

impl<T: Kept> Round for DifferenceRound<'_, T> {
    fn len(&self) -> usize {
        1 + self.centers.len() * Kind::Centers.len(self.rows.dimension)
    }

    // One key, as by default: the first number says whether there are others.

    fn name(&self) -> &'static str {
        "a centre moved"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        let (dimension, per_center) = (self.rows.dimension, Kind::Centers.len(self.rows.dimension));
        self.memory.with(index, |memory| {
            if !self.concerns(&leaf.bounds, memory) {
                partial[0] = 0.0;
                return;
            }
            partial.fill(0.0);
            partial[0] = 1.0;
            T::with_scratch(|scratch| {
                nearest_active(&leaf.bounds, self.centers, 1, &mut scratch.active, &mut scratch.reach);
                scratch.hard_centers.begin(dimension);
                for &k in &scratch.active {
                    scratch.hard_centers.push(self.centers.center(k));
                }
                scratch.sums.clear();
                scratch.sums.resize(scratch.active.len() * per_center, 0.0);
                // Leaves remember in few dimensions, in which bits are numbers.
                let tiles = leaf.block.numbers();
                nearest_sums(tiles, &scratch.hard_centers, Kind::Centers, &mut scratch.hard, &mut scratch.sums);
                for (&k, sums) in scratch.active.iter().zip(scratch.sums.chunks_exact(per_center)) {
                    partial[1 + k * per_center..][..per_center].copy_from_slice(sums);
                }
            });
            for (&k, sums) in memory.active.iter().zip(memory.sums.chunks_exact(per_center)) {
                for (difference, sum) in partial[1 + k * per_center..][..per_center].iter_mut().zip(sums) {
                    *difference -= sum;
                }
            }
        });
    }

    fn combine(&self, left: &mut [f64], right: &[f64]) {
        if right[0] == 0.0 {
            return;
        }
        if left[0] == 0.0 {
            left.copy_from_slice(right);
            return;
        }
        for (left, right) in left[1..].iter_mut().zip(&right[1..]) {
            *left += right;
        }
    }
}

/// Whether every row of a box is nearer to `reference` than to `y`. The difference of the two squared distances is linear in the row, so its greatest
/// value over the box is found coordinate by coordinate, exactly up to rounding, for which there is a margin: a tie must not lose a centre.
fn beaten(bounds: &[f64], y: &[f64], reference: &[f64]) -> bool {
    let (least, most) = bounds.split_at(y.len());
    let (mut lead, mut scale) = (0.0, 0.0);
    for j in 0..y.len() {
        let apart = y[j] - reference[j];
        let corner = if apart > 0.0 { most[j] } else { least[j] };
        let term = apart * (2.0 * corner - y[j] - reference[j]);
        lead += term;
        scale += term.abs();
    }
    lead < -1e-6 * scale
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
        // A centre that every row of the box has `nearest` nearer ones than is none of the `nearest`.
        if !references[..nearest]
            .iter()
            .all(|&(reference, _)| beaten(bounds, centers.center(k), centers.center(reference)))
        {
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
    /// Whether passes hold every row against every centre. Default: no.
    pub is_plain: bool,
    /// The centres of the last pass that trials differ from, and its sums.
    base: Centers,
    base_total: Vec<f64>,
    moved: Vec<usize>,
    /// Of rows of bits: the centres of the last pass of which leaves know something, and how far others are from those.
    last: Centers,
    moves: Moves,
    side_by_side: HardSideBySide<T>,
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

/// What sweeps came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    /// Of the centres as they were before the last move, which is at least theirs now.
    pub cost: f64,
    /// Whether there was nothing more to gain, beside having no more patience.
    pub has_ended: bool,
}

/// A coordinate so far from all rows, which are about 1 from the origin, that nothing is nearest to it.
pub(crate) const AWAY: f64 = 1e9;
/// To the fixed point.
pub(crate) const TO_THE_END: Patience = Patience { sweeps: 1000, tolerance: 0.0, to_beat: None };
/// Of so many centres on leaves of rows of bits know something: of fewer, all distances take no longer than what would be done to spare them.
const LEAST_KNOWN: usize = 16;
/// No more bounds than these are kept, of which there may be twice as many: a gibibyte each time.
const MOST_BOUNDS: usize = 1 << 28;
/// The gains to come are guessed to be at most this many times the last one.
const GAINS_TO_COME: f64 = 8.0;

impl<'a, T: Kept> Lloyd<'a, T> {
    pub fn new(rows: &'a Rows<T>, memory: &'a LeafCells<Remembered>) -> Self {
        let nowhere = Centers { dimension: rows.dimension, values: Vec::new() };
        Self {
            rows,
            memory,
            total: Vec::new(),
            sweeps: 0,
            is_plain: false,
            base: nowhere.clone(),
            base_total: Vec::new(),
            moved: Vec::new(),
            last: nowhere,
            moves: Moves::default(),
            side_by_side: HardSideBySide::default(),
        }
    }

    /// Whether leaves remember their sums, so that a trial need only go over those that it touches.
    fn remembers(&self) -> bool {
        self.rows.dimension <= DIRECT_DIMENSION
    }

    /// Whether leaves know how near each centre can be to each row, so that few distances are formed once most centres rest.
    fn knows(&self, clusters: usize) -> bool {
        let Rows { bernoulli, count, .. } = self.rows;
        let bounds = count.saturating_mul(clusters);
        // What is not a squared distance does not say how it changes.
        self.rows.are_bits()
            && bernoulli.is_none()
            && !self.is_plain
            && clusters >= LEAST_KNOWN
            && bounds <= MOST_BOUNDS
    }

    /// One pass at fixed centres; the sums are left in `total`. Without planes it is what later trials differ from.
    pub async fn pass(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        planes: Option<&Planes>,
    ) -> Result<(), Error> {
        let known = (planes.is_none() && self.knows(centers.len())).then_some(Source::NothingForBase);
        let leaves_a_base = planes.is_none() && (self.remembers() || known.is_some());
        if leaves_a_base {
            // Of a pass that is given up some leaves have a part.
            self.base.values.clear();
        }
        self.go_over(rounds, centers, planes, known).await?;
        if leaves_a_base {
            self.base.clone_from(centers);
            self.base_total.clone_from(&self.total);
        }
        Ok(())
    }

    async fn go_over(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        planes: Option<&Planes>,
        known: Option<Source>,
    ) -> Result<(), Error> {
        self.sweeps += 1;
        self.side_by_side.prepare(self.rows, centers, planes);
        let Self { rows, memory, is_plain, ref side_by_side, ref mut moves, .. } = *self;
        if let Some(from) = known {
            let before = match from {
                Source::Nothing | Source::NothingForBase => centers,
                Source::Last => &self.last,
                Source::Base => &self.base,
            };
            moves.measure(&before.values, &centers.values, rows.dimension, rows.unit);
        }
        if !matches!(known, None | Some(Source::NothingForBase)) {
            // Of a pass that is given up some leaves know, and others do not.
            self.last.values.clear();
        }
        let known = known.map(|from| (from, &*moves));
        let round = HardRound { rows, centers, planes, side_by_side, memory, is_plain, known };
        total_of(rounds, &round, &mut self.total).await?;
        round.settle(&mut self.total);
        Ok(())
    }

    /// A pass of a run of sweeps, the first of which may be of a trial.
    async fn sweep(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        is_first_of_trial: bool,
    ) -> Result<(), Error> {
        if !self.knows(centers.len()) {
            self.last.values.clear();
            return self.pass(rounds, centers, None).await;
        }
        let is_based = (1..=centers.len()).contains(&self.base.len());
        let source = match self.last.len() == centers.len() {
            _ if is_first_of_trial && is_based => Source::Base,
            true => Source::Last,
            false => Source::Nothing,
        };
        self.go_over(rounds, centers, None, Some(source)).await?;
        self.last.clone_from(centers);
        Ok(())
    }

    /// One pass at centres that differ from the base in a few places: only leaves near those are gone over.
    async fn difference(&mut self, rounds: &mut dyn Rounds, centers: &Centers) -> Result<(), Error> {
        self.moved.clear();
        self.moved
            .extend((0..centers.len()).filter(|&k| k >= self.base.len() || centers.center(k) != self.base.center(k)));
        self.sweeps += 1;
        let round =
            DifferenceRound { rows: self.rows, memory: self.memory, centers, before: &self.base, moved: &self.moved };
        total_of(rounds, &round, &mut self.total).await?;
        let nothing = self.total.remove(0) == 0.0;
        if nothing {
            self.total.fill(0.0);
        }
        for (sum, base) in self.total.iter_mut().zip(&self.base_total) {
            *sum += base;
        }
        Ok(())
    }

    /// Sweeps until no centre moves or patience ends. Returns the cost of `centers` as they were before the last move, which is at least theirs now.
    pub async fn run(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        Ok(self.sweep_until(rounds, centers, patience, None, false).await?.cost)
    }

    /// The same from where sweeps were left, whose last came to `last`: to the bit what they had come to in one go.
    pub async fn go_on(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
        last: Option<f64>,
    ) -> Result<Swept, Error> {
        self.sweep_until(rounds, centers, patience, last, false).await
    }

    /// The same for centres that differ from the base in a few places, at a cost in proportion to those (in more than [`DIRECT_DIMENSION`] dimensions: of whole passes, in which rows of bits that are known are held against few centres). There may be more of them than in the
    /// base, and one that is [`AWAY`] counts as not there.
    pub async fn trial(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        debug_assert!(!self.remembers() || self.base.len() <= centers.len());
        Ok(self.sweep_until(rounds, centers, patience, None, true).await?.cost)
    }

    async fn sweep_until(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
        last: Option<f64>,
        is_trial: bool,
    ) -> Result<Swept, Error> {
        // In few dimensions every sweep of a trial differs from the base in a few places. Rows of bits are known from there at the first, others are gone over whole.
        let (begins_at_base, is_trial) = (is_trial, is_trial && self.remembers());
        let dimension = self.rows.dimension;
        let per_center = Kind::Centers.len(dimension);
        let mut last = last.unwrap_or(f64::INFINITY);
        let mut sweeps = 0;
        loop {
            if is_trial {
                self.difference(rounds, centers).await?;
            } else {
                self.sweep(rounds, centers, begins_at_base && sweeps == 0).await?;
            }
            sweeps += 1;
            let cost: f64 = self.total.chunks_exact(per_center).map(|sums| sums[1 + dimension]).sum();
            let cost = cost + self.rows.penalty(&centers.values);
            let gain = last - cost;
            last = cost;
            let hopeless = patience.to_beat.is_some_and(|best| sweeps > 2 && cost - GAINS_TO_COME * gain > best);
            let mut moved = false;
            for (k, (y, sums)) in
                centers.values.chunks_exact_mut(dimension).zip(self.total.chunks_exact(per_center)).enumerate()
            {
                // A centre whose rows are those it had in the base stays where it is, to the bit, or rounding would make every leaf a concern.
                if is_trial
                    && k < self.base.len()
                    && y == self.base.center(k)
                    && sums[..=dimension] == self.base_total[k * per_center..][..=dimension]
                {
                    continue;
                }
                // A centre that no row is nearest to stays: the swap search moves it where it is of use.
                if sums[0] > 0.0 {
                    for (y, sum) in y.iter_mut().zip(&sums[1..]) {
                        let next = self.rows.center_of(*sum, sums[0]);
                        moved |= next != *y;
                        *y = next;
                    }
                }
            }
            let has_ended = !moved || gain <= patience.tolerance * cost;
            if has_ended || hopeless || sweeps >= patience.sweeps {
                return Ok(Swept { cost, has_ended });
            }
        }
    }

    /// The mass of each centre at the last pass without planes.
    pub fn masses(&self) -> Vec<f64> {
        self.total.chunks_exact(Kind::Centers.len(self.rows.dimension)).map(|sums| sums[0]).collect()
    }
}
