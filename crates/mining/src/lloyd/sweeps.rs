//! Lloyd's algorithm: sweeps of hard assignment until no centre moves.

use lehr_numerics::bits::Moves;
use lehr_numerics::nearest::Kind;
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::centers::{Centers, Planes};
use super::hard::{DifferenceRound, HardRound, Remembered};
use super::known::{KnownPass, Source, Target};
use super::side_by_side::HardSideBySide;
use crate::Error;
use crate::round::{LeafCells, Rounds, total_of};
use crate::rows::{RowMajor, Rows, Scalar, Storage};

/// The state of Lloyd's algorithm, except for the centres.
pub(crate) struct Lloyd<'a, T: Scalar> {
    pub rows: &'a Rows<T>,
    pub memory: &'a LeafCells<Remembered>,
    pub total: Vec<f64>,
    /// The number of passes over the rows so far.
    pub sweeps: u64,
    /// Whether passes compare every row with every centre. Default: no.
    pub is_plain: bool,
    /// The base of trials: the pass from which trials start.
    base: Pass,
    moved: Vec<usize>,
    /// For rows of bits: the last pass that updated bounds, and how far the present centres have moved since.
    last: Pass,
    moves: Moves,
    side_by_side: HardSideBySide<T>,
}

/// The centres and the sums of a pass from whose results other passes are computed.
#[derive(Debug)]
struct Pass {
    /// No centres if there is no such pass.
    centers: Centers,
    /// For each centre: mass, moments and cost. For rows of bits, mass and moments in the unit of bits.
    sums: Vec<f64>,
}

impl Pass {
    fn none(dimension: usize) -> Self {
        Self { centers: Centers { dimension, values: Vec::new() }, sums: Vec::new() }
    }

    /// Declares the results invalid.
    fn forget(&mut self) {
        self.centers.values.clear();
    }
}

/// When to end sweeps before a fixed point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub sweeps: u64,
    /// Sweeps end after a sweep that lowers the cost by at most this share.
    pub tolerance: f64,
    /// A cost to beat. Sweeps end when they seem unable to reach this cost.
    pub to_beat: Option<f64>,
    /// Whether to end when a centre has no row in a sweep. The centres then do not move.
    pub until_empty: bool,
}

/// The result of a series of sweeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    /// The cost before the last move of the centres. The present cost is at most this.
    pub cost: f64,
    /// Whether the sweeps ended at a fixed point or within the tolerance.
    pub has_ended: bool,
    /// Whether the centres are the means of their nearest rows, so that no sweep would move them.
    pub is_fixed: bool,
    /// Whether the sweeps ended because a centre had no row ([`Patience::until_empty`]). The last sweep then moved no
    /// centre.
    pub has_empty: bool,
}

/// The patience to sweep until the fixed point, but at most 1000 times.
pub(crate) const TO_THE_END: Patience = Patience { sweeps: 1000, tolerance: 0.0, to_beat: None, until_empty: false };
/// The minimum number of centres for which leaves of rows of bits keep bounds. With fewer centres, keeping bounds takes
/// as long as computing all distances.
const LEAST_KNOWN: usize = 4;
/// The maximum number of bounds in a set of bounds. There are up to two sets, and each takes at most one gibibyte.
const MOST_BOUNDS: usize = 1 << 28;
/// The assumed upper limit of the sum of all future gains, as a multiple of the last gain.
const GAINS_TO_COME: f64 = 8.0;

impl<'a, T: Scalar> Lloyd<'a, T> {
    pub fn new(rows: &'a Rows<T>, memory: &'a LeafCells<Remembered>) -> Self {
        Self {
            rows,
            memory,
            total: Vec::new(),
            sweeps: 0,
            is_plain: false,
            base: Pass::none(rows.dimension),
            moved: Vec::new(),
            last: Pass::none(rows.dimension),
            moves: Moves::default(),
            side_by_side: HardSideBySide::default(),
        }
    }

    /// Whether leaves remember their sums, so that a trial visits only the leaves that it changes.
    fn remembers(&self) -> bool {
        self.rows.dimension <= DIRECT_DIMENSION
    }

    /// Whether leaves keep a lower bound on the distance of each row to each centre. With these bounds, few distances
    /// must be computed once most centres no longer move.
    fn knows(&self, clusters: usize) -> bool {
        let Rows { bernoulli, count, .. } = self.rows;
        let bounds = count.saturating_mul(clusters);
        // The bounds hold only for squared distances.
        self.rows.storage == Storage::Bits
            && bernoulli.is_none()
            && !self.is_plain
            && clusters >= LEAST_KNOWN
            && bounds <= MOST_BOUNDS
    }

    /// Makes a pass without moving the centres, and leaves the sums in `total`. A pass without planes becomes the base
    /// of later trials.
    pub async fn pass(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        planes: Option<&Planes>,
    ) -> Result<(), Error> {
        if planes.is_none() && self.knows(centers.len()) {
            let from = if self.last.centers.len() == centers.len() { Source::Last } else { Source::Nothing };
            return self.go_over_known(rounds, centers, from, Target::Base).await;
        }
        let leaves_a_base = planes.is_none() && self.remembers();
        if leaves_a_base {
            // There is no base until the pass has ended, because an abandoned pass updates only some leaves.
            self.base.forget();
        }
        self.go_over(rounds, centers, planes).await?;
        if leaves_a_base {
            self.base.centers.clone_from(centers);
            self.base.sums.clone_from(&self.total);
        }
        Ok(())
    }

    async fn go_over(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        planes: Option<&Planes>,
    ) -> Result<(), Error> {
        self.sweeps += 1;
        self.side_by_side.prepare(self.rows, centers, planes);
        let Self { rows, memory, is_plain, ref side_by_side, .. } = *self;
        let round = HardRound { rows, centers, planes, side_by_side, memory, is_plain };
        total_of(rounds, &round, &mut self.total).await?;
        round.settle(&mut self.total);
        Ok(())
    }

    /// Makes a pass over rows of bits by bounds.
    async fn go_over_known(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        from: Source,
        to: Target,
    ) -> Result<(), Error> {
        self.sweeps += 1;
        self.side_by_side.prepare(self.rows, centers, None);
        let Self { rows, memory, ref side_by_side, ref mut moves, ref mut total, ref mut last, ref mut base, .. } =
            *self;
        let before = match from {
            Source::Nothing => None,
            Source::Last => Some(&last.centers),
            Source::Base => Some(&base.centers),
        };
        if let Some(before) = before {
            // The first pass of a trial moves a few centres to the places of others.
            let jumped = from == Source::Base;
            moves.measure(&before.values, &centers.values, rows.dimension, rows.units.length, jumped);
        }
        match (from, to) {
            (Source::Last, Target::Base) => base.sums.clone_from(&last.sums),
            (Source::Base, Target::Last) => last.sums.clone_from(&base.sums),
            _ => {}
        }
        let target = match to {
            Target::Last => last,
            Target::Base => base,
        };
        // The bounds are invalid until the pass has ended, because an abandoned pass updates only some leaves.
        target.forget();
        let pass = KnownPass { rows, centers, side_by_side, memory, from, to, moves };
        pass.run(rounds, &mut target.sums, total).await?;
        target.centers.clone_from(centers);
        Ok(())
    }

    /// Makes one pass in a series of sweeps. For rows of bits, the first pass of a trial starts from the bounds of the
    /// base.
    async fn sweep(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &Centers,
        is_first_of_trial: bool,
    ) -> Result<(), Error> {
        if !self.knows(centers.len()) {
            self.last.forget();
            return self.pass(rounds, centers, None).await;
        }
        let is_based = (1..=centers.len()).contains(&self.base.centers.len());
        let from = match self.last.centers.len() == centers.len() {
            _ if is_first_of_trial && is_based => Source::Base,
            true => Source::Last,
            false => Source::Nothing,
        };
        self.go_over_known(rounds, centers, from, Target::Last).await
    }

    /// Makes a pass at centres of which only a few differ from the base. Visits only the leaves near the centres that
    /// differ.
    async fn difference(&mut self, rounds: &mut dyn Rounds, centers: &Centers) -> Result<(), Error> {
        let Pass { centers: base, sums: base_sums } = &self.base;
        self.moved.clear();
        self.moved.extend((0..centers.len()).filter(|&k| k >= base.len() || centers.center(k) != base.center(k)));
        self.sweeps += 1;
        let round = DifferenceRound { rows: self.rows, memory: self.memory, centers, before: base, moved: &self.moved };
        total_of(rounds, &round, &mut self.total).await?;
        let nothing = self.total.remove(0) == 0.0;
        if nothing {
            self.total.fill(0.0);
        }
        for (sum, base) in self.total.iter_mut().zip(base_sums) {
            *sum += base;
        }
        Ok(())
    }

    /// Sweeps until no centre moves or `patience` ends. Returns the cost before the last move of the centres. The
    /// present cost is at most this.
    pub async fn run(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        Ok(self.sweep_until(rounds, centers, patience, None, false).await?.cost)
    }

    /// Continues earlier sweeps, where `last` is the cost in the last of them. The result is bit-identical to that of
    /// an uninterrupted run.
    pub async fn go_on(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
        last: Option<f64>,
    ) -> Result<Swept, Error> {
        self.sweep_until(rounds, centers, patience, last, false).await
    }

    /// Sweeps from centres of which only a few differ from the base. The time is proportional to the number of centres
    /// that differ. In more than [`DIRECT_DIMENSION`] dimensions, a trial makes whole passes. If bounds are kept, these
    /// passes compare rows of bits with few centres only. There may be more centres than in the base. A centre that was
    /// moved away ([`Centers::set_away`]) counts as absent.
    pub async fn trial(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        debug_assert!(!self.remembers() || self.base.centers.len() <= centers.len());
        Ok(self.sweep_until(rounds, centers, patience, None, true).await?.cost)
    }

    /// Makes a pass without moving the centres, and returns the cost of the rows.
    pub async fn cost_of(&mut self, rounds: &mut dyn Rounds, centers: &Centers) -> Result<f64, Error> {
        self.pass(rounds, centers, None).await?;
        Ok(self.cost_in(centers))
    }

    /// The cost of the rows in the last pass, which was made with these centres.
    fn cost_in(&self, centers: &Centers) -> f64 {
        let dimension = self.rows.dimension;
        let cost: f64 = self.total.chunks_exact(Kind::Centers.len(dimension)).map(|sums| sums[1 + dimension]).sum();
        cost + self.rows.penalty(&centers.values) + self.rows.hidden.unwrap_or(0.0)
    }

    async fn sweep_until(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
        last: Option<f64>,
        is_trial: bool,
    ) -> Result<Swept, Error> {
        // In few dimensions, every sweep of a trial is computed as a difference from the base. Otherwise sweeps are
        // whole passes. For rows of bits, the first sweep uses the bounds of the base.
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
            let cost = self.cost_in(centers);
            if patience.until_empty && self.masses().contains(&0.0) {
                return Ok(Swept { cost, has_ended: false, is_fixed: false, has_empty: true });
            }
            let gain = last - cost;
            last = cost;
            let hopeless = patience.to_beat.is_some_and(|best| sweeps > 2 && cost - GAINS_TO_COME * gain > best);
            let mut moved = false;
            let sums = RowMajor::new(&self.total, per_center);
            for (k, (y, sums)) in centers.rows_mut().zip(sums.rows()).enumerate() {
                // A centre that has the same rows as in the base stays exactly where it is. If rounding moved the
                // centre, all leaves near the centre would count as changed.
                if is_trial
                    && k < self.base.centers.len()
                    && y == self.base.centers.center(k)
                    && sums[..=dimension] == RowMajor::new(&self.base.sums, per_center).row(k)[..=dimension]
                {
                    continue;
                }
                // A centre without rows stays where it is. The swap search moves such a centre to a better position.
                if sums[0] > 0.0 {
                    for (y, sum) in y.iter_mut().zip(&sums[1..]) {
                        let next = self.rows.center_of(*sum, sums[0]);
                        moved |= next != *y;
                        *y = next;
                    }
                }
            }
            // If centres move but the cost does not fall, only rounding errors move them.
            let is_fixed = !moved || gain <= 0.0;
            let has_ended = is_fixed || gain <= patience.tolerance * cost;
            if has_ended || hopeless || sweeps >= patience.sweeps {
                return Ok(Swept { cost, has_ended, is_fixed, has_empty: false });
            }
        }
    }

    /// The mass of each centre in the last pass without planes.
    pub fn masses(&self) -> Vec<f64> {
        self.total.chunks_exact(Kind::Centers.len(self.rows.dimension)).map(|sums| sums[0]).collect()
    }
}
