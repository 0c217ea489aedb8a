//! The course of a run: grow, harden, refine; one step at a time, each of which can be resumed.
//!
//! ```text
//! growing      one temperature a step; mass mode; the state is kept when the wanted number of components first exists
//!              ├─ branch A: from that state in plain mode until memberships are hard, then Lloyd
//!              └─ branch B: on to `overshoot` times as many, Lloyd, merged back by Ward's rule, Lloyd
//! refining     from the better branch: swaps and breaths, then Lloyd to the fixed point
//! ```
//!
//! All of the state is in [`State`], which is what a checkpoint holds; what is kept beside it ([`Course`]) can be had again from it. All
//! ranks follow the same course, because they decide by the same bits.

use serde::{Deserialize, Serialize};

use super::components::{Components, Mode};
use super::e_step::Kept;
use super::hard::{Centers, Lloyd, Remembered, TO_THE_END};
use super::parameters::Parameters;
use super::rows::Rows;
use super::swap::{self, Prepared, Search};
use super::system::VectorSystem;
use crate::Error;
use crate::anneal::schedule::{FLOOR, FROZEN_COOLING, HARD, START, next};
use crate::anneal::{Settled, Split, Stage, Step, settle};
use crate::round::{LeafCells, Rounds};

/// Above this many clusters the overshooting branch is left out: merging back would take longer than the swaps that make it needless.
const MOST_OVERSHOT: usize = 1000;
/// Hardening in plain mode stops at this share of the first critical temperature at the latest.
const COLDEST_PLAIN: f64 = 1e-6;
/// Hardening only prepares for Lloyd's sweeps, which forget what is left of the way to a fixed point.
const PLAIN_TOLERANCE: f64 = 1e-3;
/// In the search for the number of clusters, this share of the first critical temperature is cold enough.
const COLDEST_PLATEAU: f64 = 1e-4;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Growing,
    Hardening,
    Refining,
    Done,
}

/// A critical temperature below this, in stored units, is that of a point that outweighs all others by as much: nothing to anneal, since what is so light moves no
/// centre, and squared distances over such temperatures would leave the range of single precision. Centres are found by dividing alone.
pub(crate) const LEAST_CRITICAL: f64 = 1e-20;

/// How long a number of components persisted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// The number of components.
    pub clusters: usize,
    /// The temperature at which there were first so many.
    pub from: f64,
    /// The temperature at which there were first more, or down to which it was seen that there are no more; nothing if the run ended with the most clusters allowed, or
    /// with less than two rows a cluster, which any few rows come to in the end.
    pub to: Option<f64>,
}

impl Plateau {
    /// The natural logarithm of the range of temperatures.
    pub fn width(&self) -> f64 {
        self.to.map_or(0.0, |to| (self.from / to).ln())
    }
}

/// What the finish compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// The weighted mean squared distance of the plain branch (A).
    pub plain: Option<f64>,
    /// That of the overshooting branch (B).
    pub overshot: Option<f64>,
    /// Swaps and breaths tried.
    pub tried: u64,
    /// Those that were better.
    pub taken: u64,
}

/// Everything that a run is, in stored units: a checkpoint of it is a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    phase: Phase,
    pub components: Components,
    pub critical_temperature: f64,
    pub temperature: f64,
    pub last_soft_temperature: f64,
    pub history: Vec<Step>,
    pub splits: Vec<Split>,
    pub plateaus: Vec<Plateau>,
    /// The components when the wanted number first existed, and the temperature.
    snapshot: Option<(Components, f64)>,
    /// The best plateau's components so far, and the temperature.
    persistent: Option<(Components, f64)>,
    /// The better branch so far.
    best: Option<(Vec<f64>, f64)>,
    search: Option<Search>,
    pub finish: Finish,
    pub sweeps: u64,
}

/// A run.
pub(crate) struct Course<'a, T: Kept> {
    rows: &'a Rows<T>,
    parameters: &'a Parameters,
    lloyd: Lloyd<'a, T>,
    prepared: Prepared,
    /// The largest fraction told so far: what is told never falls, though the search may begin anew.
    furthest: f64,
    pub state: State,
}

impl<'a, T: Kept> Course<'a, T> {
    /// A new run: finds the first critical temperature.
    pub async fn begin<R: Rounds>(
        rows: &'a Rows<T>,
        parameters: &'a Parameters,
        memory: &'a LeafCells<Remembered>,
        rounds: &mut R,
    ) -> Result<Self, Error> {
        let mut system = VectorSystem::new(rows, Components::one(rows.dimension), Mode::Mass, parameters.seed);
        let critical_temperature = system.first_critical_temperature(rounds).await?;
        let state = State {
            // Points that are all the same have nothing to anneal.
            phase: if critical_temperature > LEAST_CRITICAL { Phase::Growing } else { Phase::Refining },
            components: system.components,
            critical_temperature,
            temperature: START * critical_temperature,
            last_soft_temperature: START * critical_temperature,
            history: Vec::new(),
            splits: Vec::new(),
            plateaus: Vec::new(),
            snapshot: None,
            persistent: None,
            best: None,
            search: None,
            finish: Finish::default(),
            sweeps: 1,
        };
        Ok(Self::resume(rows, parameters, memory, state))
    }

    /// Goes on from a state.
    pub fn resume(
        rows: &'a Rows<T>,
        parameters: &'a Parameters,
        memory: &'a LeafCells<Remembered>,
        state: State,
    ) -> Self {
        Self { rows, parameters, lloyd: Lloyd::new(rows, memory), prepared: Prepared::default(), furthest: 0.0, state }
    }

    pub fn is_done(&self) -> bool {
        self.state.phase == Phase::Done
    }

    pub fn stage(&self) -> Stage {
        match self.state.phase {
            Phase::Growing => Stage::Annealing,
            Phase::Hardening => Stage::Hardening,
            Phase::Refining => Stage::Refining,
            Phase::Done => Stage::Labelling,
        }
    }

    /// Estimate of the share of the work that is done: each stage's own measure of it, in its share of a typical run.
    pub fn fraction(&mut self) -> f64 {
        self.furthest = self.furthest.max(self.present_fraction());
        self.furthest
    }

    fn present_fraction(&self) -> f64 {
        let state = &self.state;
        let cooled = |from: f64, to: f64| (from / state.temperature).ln() / (from / to).ln().max(f64::MIN_POSITIVE);
        let within = |share: f64| if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        match state.phase {
            Phase::Growing => {
                let grown = match (self.parameters.clusters, self.last_temperature()) {
                    (_, Some(last)) => cooled(state.critical_temperature, last),
                    (Some(clusters), None) => state.components.len() as f64 / self.most_components(clusters) as f64,
                    (None, None) => (state.components.len() as f64 / self.most_clusters() as f64)
                        .max(cooled(state.critical_temperature, COLDEST_PLATEAU * state.critical_temperature)),
                };
                0.6 * within(grown)
            }
            Phase::Hardening => {
                0.6 + 0.1 * within(cooled(state.critical_temperature, COLDEST_PLAIN * state.critical_temperature))
            }
            Phase::Refining => {
                let in_vain = state.search.as_ref().map_or(0.0, |search| {
                    search.in_vain as f64 / search.trials(self.rows.dimension, self.parameters.patience).max(1) as f64
                });
                0.7 + 0.28 * within(in_vain)
            }
            Phase::Done => 0.98,
        }
    }

    /// The hard centres and the mean cost, once the run is done.
    pub fn centers(&self) -> Centers {
        let values = match &self.state.search {
            Some(search) => search.centers.clone(),
            None => self.state.components.centers.clone(),
        };
        Centers { dimension: self.rows.dimension, values }
    }

    /// One step: a temperature, or a group of trials.
    pub async fn advance<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        let before = self.lloyd.sweeps;
        match self.state.phase {
            Phase::Growing => self.grow(rounds).await?,
            Phase::Hardening => self.harden(rounds).await?,
            Phase::Refining => self.refine(rounds).await?,
            Phase::Done => {}
        }
        // What a resumed search prepares once more was counted by the run that was stopped.
        self.state.sweeps += self.lloyd.sweeps - before - std::mem::take(&mut self.prepared.repeated);
        Ok(())
    }

    /// The given final temperature in stored units.
    fn last_temperature(&self) -> Option<f64> {
        self.parameters.final_temperature().map(|temperature| temperature / self.rows.squared(1.0))
    }

    fn most_clusters(&self) -> usize {
        self.parameters.most_clusters(self.rows.count)
    }

    /// How far growth goes for a wanted number.
    fn most_components(&self, clusters: usize) -> usize {
        if self.last_temperature().is_some() || !(2..=MOST_OVERSHOT).contains(&clusters) {
            return clusters;
        }
        (clusters as f64 * self.parameters.overshoot).ceil() as usize
    }

    async fn grow<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        let wanted = self.parameters.clusters;
        if wanted == Some(1) {
            self.state.phase = Phase::Refining;
            return Ok(());
        }
        let last = self.last_temperature();
        let at_last = last.is_some_and(|last| self.state.temperature <= last);
        // The final temperature is where the answer is read off: it is relaxed as far as double precision goes.
        let tolerance = if at_last { self.parameters.tolerance.min(1e-10) } else { self.parameters.tolerance };
        let cap = match wanted {
            Some(clusters) if self.state.snapshot.is_none() => clusters,
            Some(clusters) => self.most_components(clusters),
            None => self.most_clusters(),
        };
        let settled = self.settle_at(rounds, Mode::Mass, tolerance, cap).await?;
        let state = &mut self.state;
        let now = state.components.len();
        if wanted == Some(now) && state.snapshot.is_none() {
            state.snapshot = Some((state.components.clone(), state.temperature));
        }
        if wanted.is_none() && last.is_none() {
            self.note_plateau();
        }
        let measured = &settled.measured;
        let highest = measured.critical.iter().copied().fold(0.0, f64::max);
        let state = &self.state;
        let grown = match wanted {
            Some(clusters) => now >= self.most_components(clusters),
            None => now >= self.most_clusters(),
        };
        let cold = state.temperature <= FLOOR * state.critical_temperature
            || (measured.softness < HARD && highest <= FLOOR * state.critical_temperature)
            || (wanted.is_none()
                && last.is_none()
                && state.temperature <= COLDEST_PLATEAU * state.critical_temperature);
        if at_last || (grown && last.is_none()) || cold {
            if wanted.is_none() && last.is_none() && !grown {
                self.close_plateau(highest);
            }
            return self.end_growth(rounds).await;
        }
        let temperature = next(state.temperature, self.parameters.cooling, measured.softness, &measured.critical);
        self.state.temperature = last.map_or(temperature, |last| temperature.max(last));
        Ok(())
    }

    /// Relaxes, divides and measures at the present temperature, and writes the history.
    async fn settle_at<R: Rounds>(
        &mut self,
        rounds: &mut R,
        mode: Mode,
        tolerance: f64,
        cap: usize,
    ) -> Result<Settled, Error> {
        let temperature = self.state.temperature;
        let components = std::mem::replace(&mut self.state.components, Components::one(self.rows.dimension));
        let mut system = VectorSystem::new(self.rows, components, mode, self.parameters.seed);
        let settled = settle(&mut system, rounds, temperature, tolerance, cap).await?;
        self.state.components = system.components;
        let squared = self.rows.squared(1.0);
        let state = &mut self.state;
        state.sweeps += settled.sweeps;
        state.last_soft_temperature = temperature;
        state.splits.extend(settled.splits.iter().map(|split| Split {
            temperature: split.temperature * squared,
            critical_temperature: split.critical_temperature * squared,
            ..split.clone()
        }));
        let measured = &settled.measured;
        state.history.push(Step {
            index: state.history.len() as u64,
            temperature: temperature * squared,
            clusters: state.components.len(),
            free_energy: measured.free_energy * squared,
            mean_cost: measured.mean_cost * squared,
            information: (measured.free_energy - measured.mean_cost) / temperature,
            softness: measured.softness,
            sweeps: settled.sweeps,
            max_move: settled.largest_move,
            next_critical: measured.critical.iter().copied().fold(0.0, f64::max) * squared,
        });
        Ok(settled)
    }

    /// Keeps the account of how long each number of components persists, and the components of the longest.
    fn note_plateau(&mut self) {
        let squared = self.rows.squared(1.0);
        let state = &mut self.state;
        let (now, temperature) = (state.components.len(), state.temperature * squared);
        if state.plateaus.last().is_some_and(|plateau| plateau.clusters == now) {
            // The state to go on from is the coldest with that number.
            state.snapshot = Some((state.components.clone(), state.temperature));
            return;
        }
        let widest_before = widest(&state.plateaus).map_or(0.0, |k| state.plateaus[k].width());
        if let Some(plateau) = state.plateaus.last_mut() {
            plateau.to = Some(temperature);
            if plateau.clusters > 1 && plateau.width() > widest_before {
                state.persistent = state.snapshot.take();
            }
        }
        state.plateaus.push(Plateau { clusters: now, from: temperature, to: None });
        state.snapshot = Some((state.components.clone(), state.temperature));
    }

    /// Notes that the last number lasts to the end: down to where nothing divides any more (`highest` is the highest critical temperature left), or to where it is cold enough.
    fn close_plateau(&mut self, highest: f64) {
        let least = COLDEST_PLATEAU * self.state.critical_temperature;
        let coldest = self.state.temperature.min(highest.max(least)) * self.rows.squared(1.0);
        let has_rows = |clusters: usize| 2 * clusters <= self.rows.count;
        let widest_before = widest(&self.state.plateaus).map_or(0.0, |k| self.state.plateaus[k].width());
        if let Some(plateau) = self.state.plateaus.last_mut().filter(|plateau| has_rows(plateau.clusters)) {
            plateau.to = Some(coldest);
            if plateau.width() > widest_before {
                // The present components are those of the widest plateau.
                self.state.persistent = None;
            }
        }
    }

    /// From growth to the two branches.
    async fn end_growth<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        if self.last_temperature().is_some() {
            // The answer is what there is at this temperature, made hard.
            self.state.finish.plain = Some(self.branch(rounds, self.state.components.centers.clone(), None).await?);
            self.state.phase = Phase::Refining;
            return Ok(());
        }
        match self.parameters.clusters {
            Some(clusters) if self.state.components.len() > clusters => {
                let centers = self.state.components.centers.clone();
                self.state.finish.overshot = Some(self.branch(rounds, centers, Some(clusters)).await?);
            }
            Some(_) => {}
            // The number that persisted longest; where there was only ever one range, the last.
            None => {
                if let Some(persistent) = self.state.persistent.take() {
                    self.state.snapshot = Some(persistent);
                }
            }
        }
        if let Some((components, temperature)) = self.state.snapshot.take() {
            self.state.components = components;
            self.state.temperature = temperature;
        }
        self.state.phase = Phase::Hardening;
        Ok(())
    }

    /// Hardens one branch by Lloyd, merging to `clusters` if given; keeps it if it is the better. Returns its mean cost in the input's unit.
    async fn branch<R: Rounds>(
        &mut self,
        rounds: &mut R,
        centers: Vec<f64>,
        clusters: Option<usize>,
    ) -> Result<f64, Error> {
        let mut centers = Centers { dimension: self.rows.dimension, values: centers };
        let mut cost = self.lloyd.run(rounds, &mut centers, TO_THE_END).await?;
        if let Some(clusters) = clusters {
            let mut masses = self.lloyd.masses();
            swap::merge_to(&mut centers, &mut masses, clusters);
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
        Ok(self.rows.squared(cost / self.rows.total_weight))
    }

    async fn harden<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        self.state.temperature *= FROZEN_COOLING;
        let settled = self.settle_at(rounds, Mode::Plain, PLAIN_TOLERANCE.max(self.parameters.tolerance), 0).await?;
        if settled.measured.softness < HARD || self.state.temperature <= COLDEST_PLAIN * self.state.critical_temperature
        {
            self.state.finish.plain = Some(self.branch(rounds, self.state.components.centers.clone(), None).await?);
            self.state.phase = Phase::Refining;
        }
        Ok(())
    }

    async fn refine<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        let dimension = self.rows.dimension;
        let Some(search) = &mut self.state.search else {
            let values =
                self.state.best.take().map_or_else(|| self.state.components.centers.clone(), |(values, _)| values);
            let wanted = if self.last_temperature().is_some() { 0 } else { self.parameters.clusters.unwrap_or(0) };
            let mut centers = Centers { dimension, values };
            let cost = swap::fill(&mut self.lloyd, rounds, &mut centers, wanted, self.parameters.seed).await?;
            self.state.search = Some(Search::new(centers, cost));
            return Ok(());
        };
        swap::advance(
            search,
            &mut self.prepared,
            &mut self.lloyd,
            rounds,
            self.parameters.patience,
            self.parameters.seed,
        )
        .await?;
        if search.is_over() {
            let mut centers = Centers { dimension, values: std::mem::take(&mut search.centers) };
            search.cost = self.lloyd.run(rounds, &mut centers, TO_THE_END).await?;
            let masses = self.lloyd.masses();
            (0..centers.len()).rev().filter(|&k| masses[k] == 0.0).for_each(|k| centers.remove(k));
            search.centers = centers.values;
            (self.state.finish.tried, self.state.finish.taken) = (search.tried, search.taken);
            self.state.phase = Phase::Done;
        }
        Ok(())
    }
}

/// The widest closed plateau of more than one component, the first of equals.
pub(crate) fn widest(plateaus: &[Plateau]) -> Option<usize> {
    let mut widest: Option<usize> = None;
    for (k, plateau) in plateaus.iter().enumerate() {
        if plateau.clusters > 1
            && plateau.to.is_some()
            && widest.is_none_or(|best| plateau.width() > plateaus[best].width())
        {
            widest = Some(k);
        }
    }
    widest
}
