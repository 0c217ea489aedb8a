//! A run as a series of steps: grow, harden, refine. Each step can be resumed.
//!
//! ```text
//! growing      one temperature for each step, in mass mode; the state with the wanted number of components is stored
//!              ├─ branch A: from that state in plain mode until memberships are hard, then Lloyd
//!              └─ branch B: grow to `overshoot` times as many, Lloyd, merge by Ward's rule, Lloyd; not if clusters are far apart
//! refining     from the better branch: swaps and breathing steps, then Lloyd to the fixed point
//! ```
//!
//! All of the state is in [`State`], which is the content of a checkpoint; the rest of [`Fit`] can be computed from it.
//! All ranks take the same steps, because they decide from the same bits.

use serde::{Deserialize, Serialize};

use super::components::{Components, Mode};
use super::filling::fill;
use super::merging::{merge_to, ward};
use super::parameters::Parameters;
use super::prospects;
use super::swap::{Prepared, Search, Searcher, swap_that_must_gain};
use super::system::VectorSystem;
use crate::Error;
use crate::anneal::growth::{Grown, Limits};
use crate::anneal::schedule::{COLDEST_PLAIN, FROZEN_COOLING, HARD};
use crate::anneal::{Measured, Progress, Settled, Stage, run, settle};
use crate::lloyd::{Centers, LastMove, Lloyd, NoiseComponent, Patience, Remembered, TO_THE_END, trim};
use crate::number::Number;
use crate::round::{LeafCells, Rounds};
use crate::rows::bernoulli::merging_cost;
use crate::rows::{Rows, Scalar};

/// The maximum number of clusters for which the overshooting branch is followed. With more clusters, merging would take
/// longer than the swaps that replace the branch.
const MOST_OVERSHOT: usize = 1000;
/// The tolerance while hardening. It can be coarse, because Lloyd's sweeps continue to the fixed point.
const PLAIN_TOLERANCE: f64 = 1e-3;
/// The tolerance at the final temperature, whose state is the result: as low as double precision allows.
const LAST_TOLERANCE: f64 = 1e-10;

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Growing,
    Hardening,
    Refining,
    /// Refining the result of a summary over all rows.
    Finishing,
    Done,
}

/// If the critical temperature in stored units is below this, one point far outweighs all other points. There is
/// nothing to anneal, because the light points do not move centres. Squared distances, divided by such temperatures,
/// would also exceed single precision. Centres are then found by division alone.
pub(crate) const LEAST_CRITICAL: f64 = 1e-20;

/// The limits of iterations over all rows after a summary. They end after this many sweeps, or once a sweep gains
/// almost nothing. Without limits, rows without groups would take a thousand sweeps to lower the cost by a few
/// ten-thousandths.
const SETTLED: Patience = Patience { sweeps: 100, tolerance: 1e-7, ..TO_THE_END };

/// The share of a run's work that annealing a summary takes.
const OF_SUMMARY: f64 = 0.9;

/// The costs and trials of the refinement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// The weighted mean squared distance of the plain branch (A). With a Bernoulli cost, `plain` and `overshot` are
    /// mean costs in nats, including the cost of the prior.
    pub plain: Option<f64>,
    /// The weighted mean squared distance of the overshooting branch (B); `None` if the branch was left out.
    pub overshot: Option<f64>,
    /// The number of swaps, breathing steps and perturbations that were tried.
    pub tried: u64,
    /// The number of tried swaps, breathing steps and perturbations that lowered the cost or led to a lower cost.
    pub taken: u64,
    /// The summary that was annealed instead of the rows, if there are many rows in few columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summarized>,
}

/// A summary that was annealed instead of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summarized {
    /// The number of cells.
    pub cells: usize,
    /// The weighted mean squared distance of the rows from the means of their cells. Each cost of the history and of
    /// the refinement exceeds the cost of the rows by at most this much.
    pub hidden: f64,
}

/// The whole state of a run, in stored units; checkpoints store it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    phase: Phase,
    /// How the number of clusters was chosen, if it was not given.
    pub(crate) number: Option<Number>,
    #[serde(flatten)]
    pub(crate) grown: Grown<Components>,
    /// The centres and the cost of the better branch so far.
    best: Option<(Vec<f64>, f64)>,
    search: Option<Search>,
    pub(crate) finish: Finish,
    pub(crate) sweeps: u64,
    /// Whether iterations over all rows ended before their fixed point, because they gained almost nothing. Older
    /// checkpoints do not have this field.
    #[serde(default)]
    is_unsettled: bool,
}

impl State {
    /// Whether the annealing of a summary is finished, so that the run continues over all rows.
    pub fn is_of_all_rows(&self) -> bool {
        matches!(self.phase, Phase::Finishing | Phase::Done)
    }
}

/// A run in progress.
pub(crate) struct Fit<'a, T: Scalar> {
    rows: &'a Rows<T>,
    parameters: &'a Parameters,
    lloyd: Lloyd<'a, T>,
    prepared: Prepared,
    /// The largest fraction that has been reported. The reported fraction never falls, even if the search starts again.
    furthest: f64,
    pub state: State,
}

impl<T: Scalar> run::Fit<Parameters> for Fit<'_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.state.phase == Phase::Done || (self.state.phase == Phase::Finishing && self.rows.hidden.is_some())
    }

    fn phase(&self) -> &'static str {
        self.stage().name()
    }

    fn progress(&mut self) -> Progress {
        let rows = self.rows;
        let step = self.state.grown.step(rows.units.squared(1.0), rows.units.squared(rows.square / rows.total_weight));
        step.progress(self.stage(), self.state.sweeps, self.fraction())
    }

    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let before = self.lloyd.sweeps;
        match self.state.phase {
            Phase::Growing => self.grow(rounds).await?,
            Phase::Hardening => self.harden(rounds).await?,
            Phase::Refining => self.refine(rounds).await?,
            Phase::Finishing => self.finish(rounds).await?,
            Phase::Done => {}
        }
        // If a resumed search repeats preparations, the interrupted run has already counted them.
        self.state.sweeps += self.lloyd.sweeps - before - std::mem::take(&mut self.prepared.repeated);
        Ok(())
    }
}

impl<'a, T: Scalar> Fit<'a, T> {
    /// Starts a new run, and finds the first critical temperature.
    pub async fn begin(
        rows: &'a Rows<T>,
        parameters: &'a Parameters,
        number: Option<Number>,
        memory: &'a LeafCells<Remembered>,
        rounds: &mut dyn Rounds,
    ) -> Result<Self, Error> {
        let one = Components::at(rows.dimension, rows.middle.clone());
        let mut system = VectorSystem::new(rows, one, Mode::Mass, parameters.seed);
        let critical_temperature = system.first_critical_temperature(rounds).await?;
        let state = State {
            // If all points are equal, there is nothing to anneal.
            phase: if critical_temperature > LEAST_CRITICAL { Phase::Growing } else { Phase::Refining },
            number,
            grown: Grown::new(system.components, critical_temperature),
            best: None,
            search: None,
            finish: Finish::default(),
            sweeps: 1,
            is_unsettled: false,
        };
        Ok(Self::resume(rows, parameters, memory, state))
    }

    /// Resumes a run from its state.
    pub fn resume(
        rows: &'a Rows<T>,
        parameters: &'a Parameters,
        memory: &'a LeafCells<Remembered>,
        state: State,
    ) -> Self {
        Self { rows, parameters, lloyd: Lloyd::new(rows, memory), prepared: Prepared::default(), furthest: 0.0, state }
    }

    pub fn stage(&self) -> Stage {
        match self.state.phase {
            Phase::Growing => Stage::Annealing,
            Phase::Hardening => Stage::Hardening,
            Phase::Refining | Phase::Finishing => Stage::Refining,
            Phase::Done => Stage::Labelling,
        }
    }

    /// Estimates the share of the work that is done: for each stage, its own measure times the stage's share of a
    /// typical run. The estimate never falls.
    pub fn fraction(&mut self) -> f64 {
        let state = &self.state;
        let present = match state.phase {
            Phase::Growing => 0.6 * state.grown.share_grown(&self.limits(), state.grown.components.len()),
            Phase::Hardening => 0.6 + 0.1 * state.grown.share_hardened(),
            Phase::Refining => {
                let in_vain = state.search.as_ref().map_or(0.0, |search| {
                    search.in_vain as f64 / search.trials(self.rows.dimension, self.parameters.patience).max(1) as f64
                });
                0.7 + 0.28 * in_vain.clamp(0.0, 1.0)
            }
            Phase::Finishing => 0.9,
            Phase::Done => 0.98,
        };
        let present = if self.rows.hidden.is_some() { OF_SUMMARY * present } else { present };
        self.furthest = self.furthest.max(present);
        self.furthest
    }

    /// The hard centres and the mean cost, once the run has ended.
    pub fn centers(&self) -> Centers {
        let values = match &self.state.search {
            Some(search) => search.centers.clone(),
            None => self.state.grown.components.centers.clone(),
        };
        Centers { dimension: self.rows.dimension, values }
    }

    /// Returns how the centres move when rows are labelled.
    pub fn last_move(&self) -> LastMove {
        LastMove::after(!self.state.is_unsettled)
    }

    /// The noise component in stored units, if there is one.
    pub fn sponge(&self) -> Option<NoiseComponent> {
        let Parameters { sponge, clusters, .. } = self.parameters;
        sponge.map(|radius| NoiseComponent::new(radius, self.rows.units.length, *clusters))
    }

    /// The limits of growth.
    fn limits(&self) -> Limits {
        let parameters = self.parameters;
        let last = parameters.final_temperature().map(|temperature| temperature / self.rows.units.squared(1.0));
        let most = match parameters.clusters {
            Some(clusters) if last.is_some() || !(2..=MOST_OVERSHOT).contains(&clusters) || self.sponge().is_some() => {
                clusters
            }
            Some(clusters) => (clusters as f64 * parameters.overshoot).ceil() as usize,
            None => parameters.most_clusters(self.rows),
        };
        Limits {
            wanted: parameters.clusters,
            most,
            last,
            rows: self.rows.count,
            cooling: parameters.cooling,
            tolerance: parameters.tolerance,
            last_tolerance: LAST_TOLERANCE,
        }
    }

    async fn grow(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        if self.parameters.clusters == Some(1) {
            // A single cluster does not divide. With a noise component, hardening must still find the cluster's rows.
            self.state.phase = if self.sponge().is_some() { Phase::Hardening } else { Phase::Refining };
            return Ok(());
        }
        let limits = self.limits();
        let (tolerance, most) = self.state.grown.bounds(&limits);
        let settled = self.settle_at(rounds, Mode::Mass, tolerance, most).await?;
        let (clusters, squared) = (self.state.grown.components.len(), self.rows.units.squared(1.0));
        let goes_on = self.state.grown.goes_on(&limits, clusters, &settled.measured, squared);
        let overshoots = limits.wanted == Some(clusters) && limits.last.is_none();
        if goes_on && !(overshoots && self.lie_far_apart(&settled.measured)) {
            return Ok(());
        }
        self.end_growth(rounds, &limits).await
    }

    /// Whether further growth would only divide single groups. With a Bernoulli cost, eigenvalues do not show what a
    /// division gains.
    fn lie_far_apart(&self, measured: &Measured) -> bool {
        if self.rows.bernoulli.is_some() {
            return false;
        }
        let Components { centers, priors, .. } = &self.state.grown.components;
        let centers = Centers { dimension: self.rows.dimension, values: centers.clone() };
        let masses: Vec<f64> = priors.iter().map(|prior| prior * self.rows.total_weight).collect();
        let variances: Vec<f64> = measured.critical.iter().map(|critical| critical / 2.0).collect();
        prospects::lie_far_apart(&centers, &masses, &variances)
    }

    /// Relaxes, divides and measures at the present temperature, and adds to the history.
    async fn settle_at(
        &mut self,
        rounds: &mut dyn Rounds,
        mode: Mode,
        tolerance: f64,
        most: usize,
    ) -> Result<Settled, Error> {
        let sponge = self.sponge();
        let grown = &mut self.state.grown;
        let components = std::mem::replace(&mut grown.components, Components::one(self.rows.dimension));
        let mut system = VectorSystem::new(self.rows, components, mode, self.parameters.seed);
        system.is_growing = mode == Mode::Mass;
        system.sponge = sponge;
        let settled = settle(&mut system, rounds, grown.temperature, tolerance, most).await?;
        grown.components = system.components;
        grown.record(&settled, grown.components.len(), self.rows.units.squared(1.0));
        self.state.sweeps += settled.sweeps;
        Ok(settled)
    }

    /// Ends growth, and continues with the two branches.
    async fn end_growth(&mut self, rounds: &mut dyn Rounds, limits: &Limits) -> Result<(), Error> {
        let centers = self.state.grown.components.centers.clone();
        if limits.last.is_some() {
            // The result is the present state at this temperature, hardened.
            self.state.finish.plain = Some(self.branch(rounds, centers, None).await?);
            self.state.phase = Phase::Refining;
            return Ok(());
        }
        if let Some(clusters) = limits.wanted.filter(|&clusters| self.state.grown.components.len() > clusters) {
            self.state.finish.overshot = Some(self.branch(rounds, centers, Some(clusters)).await?);
        }
        self.state.grown.go_back();
        self.state.phase = Phase::Hardening;
        Ok(())
    }

    /// Hardens one branch by Lloyd's algorithm, merges it to `clusters` clusters if given, and stores it if it is the
    /// better branch. Returns the branch's mean cost in the input's unit.
    async fn branch(
        &mut self,
        rounds: &mut dyn Rounds,
        centers: Vec<f64>,
        clusters: Option<usize>,
    ) -> Result<f64, Error> {
        let mut centers = Centers { dimension: self.rows.dimension, values: centers };
        if let Some(sponge) = self.sponge() {
            let trimmed = trim(rounds, self.rows, &mut centers, &sponge).await?;
            self.lloyd.sweeps += trimmed.sweeps;
            self.state.best = Some((centers.values, trimmed.cost));
            return Ok(self.rows.units.squared(trimmed.cost / self.rows.total_weight));
        }
        let mut cost = self.lloyd.run(rounds, &mut centers, TO_THE_END).await?;
        if let Some(clusters) = clusters {
            let mut masses = self.lloyd.masses();
            match self.rows.bernoulli {
                None => merge_to(&mut centers, &mut masses, clusters, ward),
                Some(_) => merge_to(&mut centers, &mut masses, clusters, merging_cost),
            }
            cost = self.lloyd.run(rounds, &mut centers, TO_THE_END).await?;
        }
        let better = match &self.state.best {
            Some((values, best)) => {
                (std::cmp::Reverse(centers.values.len()), cost) < (std::cmp::Reverse(values.len()), *best)
            }
            None => true,
        };
        if better {
            self.state.best = Some((centers.values, cost));
        }
        Ok(self.rows.units.squared(cost / self.rows.total_weight))
    }

    async fn harden(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        self.state.grown.temperature *= FROZEN_COOLING;
        let settled = self.settle_at(rounds, Mode::Plain, PLAIN_TOLERANCE.max(self.parameters.tolerance), 0).await?;
        let grown = &self.state.grown;
        if settled.measured.softness < HARD || grown.temperature <= COLDEST_PLAIN * grown.critical_temperature {
            let centers = grown.components.centers.clone();
            self.state.finish.plain = Some(self.branch(rounds, centers, None).await?);
            self.state.phase = Phase::Refining;
        }
        Ok(())
    }

    async fn refine(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let dimension = self.rows.dimension;
        if let Some(sponge) = self.sponge() {
            return self.keep_what_is_trimmed(rounds, &sponge).await;
        }
        if self.rows.bernoulli.is_some() {
            return self.keep_what_is_hard(rounds).await;
        }
        let Some(search) = &mut self.state.search else {
            let values = self
                .state
                .best
                .take()
                .map_or_else(|| self.state.grown.components.centers.clone(), |(values, _)| values);
            let wanted =
                if self.parameters.final_temperature().is_some() { 0 } else { self.parameters.clusters.unwrap_or(0) };
            let mut centers = Centers { dimension, values };
            let seed = self.parameters.seed;
            let swept = fill(&mut self.lloyd, rounds, &mut centers, wanted, seed, TO_THE_END).await?;
            self.state.search = Some(Search::new(centers, swept.cost));
            return Ok(());
        };
        let Parameters { patience, seed, .. } = *self.parameters;
        let (prepared, lloyd) = (&mut self.prepared, &mut self.lloyd);
        Searcher { search: &mut *search, prepared, lloyd, rounds: &mut *rounds, patience, seed }.advance().await?;
        if search.is_over() {
            let mut centers = Centers { dimension, values: std::mem::take(&mut search.centers) };
            search.cost = self.lloyd.run(rounds, &mut centers, TO_THE_END).await?;
            let masses = self.lloyd.masses();
            centers.remove_empty(&masses);
            search.centers = centers.values;
            (self.state.finish.tried, self.state.finish.taken) = (search.tried, search.taken);
            self.state.phase = if self.rows.hidden.is_some() { Phase::Finishing } else { Phase::Done };
        }
        Ok(())
    }

    /// Continues from the result of a summary: iterates over all rows until iterations gain almost nothing, then tries
    /// promising swaps.
    async fn finish(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let Parameters { patience, seed, clusters, .. } = *self.parameters;
        let search = self.state.search.as_mut().expect("what the summary came to");
        let mut centers = Centers { dimension: self.rows.dimension, values: std::mem::take(&mut search.centers) };
        let swept = fill(&mut self.lloyd, rounds, &mut centers, clusters.unwrap_or(0), seed, SETTLED).await?;
        (search.cost, self.state.is_unsettled) = (swept.cost, !swept.is_fixed);
        let better = match patience {
            0 => None,
            _ => swap_that_must_gain(&mut self.lloyd, rounds, &centers, search.cost, seed).await?,
        };
        match better {
            // Iterations continue from the better centres.
            Some(better) => (search.centers, search.taken) = (better.values, search.taken + 1),
            None => {
                search.centers = centers.values;
                self.state.phase = Phase::Done;
            }
        }
        (self.state.finish.tried, self.state.finish.taken) = (search.tried, search.taken);
        Ok(())
    }

    /// Ends a run with a Bernoulli cost. There is no search by swaps, because planes and squared distances do not show
    /// what dividing a cluster gains.
    async fn keep_what_is_hard(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let values =
            self.state.best.take().map_or_else(|| self.state.grown.components.centers.clone(), |(values, _)| values);
        let mut centers = Centers { dimension: self.rows.dimension, values };
        let cost = self.lloyd.run(rounds, &mut centers, TO_THE_END).await?;
        let masses = self.lloyd.masses();
        centers.remove_empty(&masses);
        self.state.search = Some(Search::new(centers, cost));
        self.state.phase = Phase::Done;
        Ok(())
    }

    /// Ends a run with a noise component. There is no search by swaps, because rows may move to the noise component.
    /// The sums of a pass then do not give the cost of a removal or the gain of a division.
    async fn keep_what_is_trimmed(&mut self, rounds: &mut dyn Rounds, sponge: &NoiseComponent) -> Result<(), Error> {
        let values =
            self.state.best.take().map_or_else(|| self.state.grown.components.centers.clone(), |(values, _)| values);
        let mut centers = Centers { dimension: self.rows.dimension, values };
        let trimmed = trim(rounds, self.rows, &mut centers, sponge).await?;
        self.lloyd.sweeps += trimmed.sweeps;
        sponge.check(trimmed.outside / self.rows.total_weight)?;
        centers.remove_empty(&trimmed.masses);
        self.state.search = Some(Search::new(centers, trimmed.cost));
        self.state.phase = Phase::Done;
        Ok(())
    }
}
