//! Lloyd's algorithm: sweeps of hard assignment until no centre moves.

use lehr_numerics::bits::Moves;
use lehr_numerics::nearest::Kind;
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::centers::{Centers, Planes};
use super::hard::{DifferenceRound, HardRound, Remembered, Source};
use super::side_by_side::HardSideBySide;
use crate::Error;
use crate::round::{LeafCells, Rounds, total_of};
use crate::rows::{RowMajor, Rows, Scalar, Storage};

/// Lloyd's algorithm on some rows: its data beside the centres.
pub(crate) struct Lloyd<'a, T: Scalar> {
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
    /// For rows of bits: the centres of the last pass that leaves know something about, and the distances of others
    /// from those.
    last: Centers,
    moves: Moves,
    side_by_side: HardSideBySide<T>,
}

/// The condition that ends sweeps, beside a fixed point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub sweeps: u64,
    /// A sweep that gains no more than this share of the cost is the last.
    pub tolerance: f64,
    /// A cost that must come within reach, or the sweeps are given up.
    pub to_beat: Option<f64>,
    /// Whether a sweep in which a centre has no row is the last, and moves no centre.
    pub until_empty: bool,
}

/// The result of iterations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    /// The cost of the centres before the last move; the present cost is at most this.
    pub cost: f64,
    /// Whether there was nothing more to gain, in addition to having no more patience.
    pub has_ended: bool,
    /// Whether the centres are the means of the rows that are nearest to them, so that no sweep would move them.
    pub is_fixed: bool,
    /// Whether a centre had no row in the last sweep, which therefore moved none ([`Patience::until_empty`]).
    pub has_empty: bool,
}

/// To the fixed point.
pub(crate) const TO_THE_END: Patience = Patience { sweeps: 1000, tolerance: 0.0, to_beat: None, until_empty: false };
/// From this many centres on, leaves of rows of bits keep bounds. With fewer, computing all distances takes no longer
/// than the work to save them.
const LEAST_KNOWN: usize = 16;
/// No more bounds than these are kept, of which there may be twice as many: a gibibyte each time.
const MOST_BOUNDS: usize = 1 << 28;
/// The gains to come are guessed to be at most this many times the last one.
const GAINS_TO_COME: f64 = 8.0;

impl<'a, T: Scalar> Lloyd<'a, T> {
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

    /// Whether leaves know how near each centre can be to each row, so that few distances are formed once most centres
    /// rest.
    fn knows(&self, clusters: usize) -> bool {
        let Rows { bernoulli, count, .. } = self.rows;
        let bounds = count.saturating_mul(clusters);
        // What is not a squared distance does not say how it changes.
        self.rows.storage == Storage::Bits
            && bernoulli.is_none()
            && !self.is_plain
            && clusters >= LEAST_KNOWN
            && bounds <= MOST_BOUNDS
    }

    /// One pass at fixed centres; the sums are left in `total`. Without planes it is the base of later trials.
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
            moves.measure(&before.values, &centers.values, rows.dimension, rows.units.length);
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

    /// One pass at centres that differ from the base in a few places: only leaves near those are visited.
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

    /// Sweeps until no centre moves or patience ends. Returns the cost of `centers` as they were before the last move,
    /// which is at least theirs now.
    pub async fn run(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        Ok(self.sweep_until(rounds, centers, patience, None, false).await?.cost)
    }

    /// The same from where sweeps were left, whose last came to `last`: to the bit the result of an unbroken run.
    pub async fn go_on(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
        last: Option<f64>,
    ) -> Result<Swept, Error> {
        self.sweep_until(rounds, centers, patience, last, false).await
    }

    /// The same for centres that differ from the base in a few places, at a cost in proportion to those. In more than
    /// [`DIRECT_DIMENSION`] dimensions whole passes are made, in which known rows of bits are compared with few
    /// centres. There may be more of them than in the base, and one that is away ([`Centers::set_away`]) counts as not
    /// there.
    pub async fn trial(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: &mut Centers,
        patience: Patience,
    ) -> Result<f64, Error> {
        debug_assert!(!self.remembers() || self.base.len() <= centers.len());
        Ok(self.sweep_until(rounds, centers, patience, None, true).await?.cost)
    }

    /// The cost of rows in centres that do not move.
    pub async fn cost_of(&mut self, rounds: &mut dyn Rounds, centers: &Centers) -> Result<f64, Error> {
        self.pass(rounds, centers, None).await?;
        Ok(self.cost_in(centers))
    }

    /// The cost of the last pass, which was over these centres.
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
        // In few dimensions every sweep of a trial differs from the base in a few places. Rows of bits are known from
        // there at the first, others are gone over whole.
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
                // A centre whose rows are those it had in the base stays where it is, to the bit, or rounding would
                // make every leaf a concern.
                if is_trial
                    && k < self.base.len()
                    && y == self.base.center(k)
                    && sums[..=dimension] == RowMajor::new(&self.base_total, per_center).row(k)[..=dimension]
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
            // Centres that move and gain nothing move by rounding.
            let is_fixed = !moved || gain <= 0.0;
            let has_ended = is_fixed || gain <= patience.tolerance * cost;
            if has_ended || hopeless || sweeps >= patience.sweeps {
                return Ok(Swept { cost, has_ended, is_fixed, has_empty: false });
            }
        }
    }

    /// The mass of each centre at the last pass without planes.
    pub fn masses(&self) -> Vec<f64> {
        self.total.chunks_exact(Kind::Centers.len(self.rows.dimension)).map(|sums| sums[0]).collect()
    }
}
