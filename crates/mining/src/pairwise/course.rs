//! The course of a pairwise clustering: grow, harden, finish; one temperature a step, each of which can be resumed.
//!
//! The same course as that of vectors (`vector/course.rs`): growth with masses, from whose state at the wanted number one branch hardens with equal masses, while growth goes on to
//! half as many more, which are merged again; the better of both is the answer. What is different is the finish, which moves single items and needs no
//! search by swaps: N here is what a matrix allows.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::field::Problem;
use super::hard::Hard;
use super::parameters::Parameters;
use super::system::{Components, PairwiseSystem};
use crate::Error;
use crate::anneal::schedule::{FLOOR, FROZEN_COOLING, HARD, START, next};
use crate::anneal::{Settled, Split, Stage, Step, settle};
use crate::gather::Turn;
use crate::round::Rounds;
use crate::vector::Plateau;
use crate::vector::course::widest;

/// Hardening stops at this share of the first critical temperature at the latest.
const COLDEST_PLAIN: f64 = 1e-6;
/// Hardening only prepares for moves of single items.
const PLAIN_TOLERANCE: f64 = 1e-2;
/// In the search for the number of clusters, this share of the first critical temperature is cold enough.
const COLDEST_PLATEAU: f64 = 1e-4;
/// At the final temperature the answer is read off.
const LAST_TOLERANCE: f64 = 1e-8;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Growing,
    Hardening,
    Done,
}

/// What the finish compared: the cost H of hard clusters, in the unit of the dissimilarities times that of the weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// Of the branch that hardened the wanted number.
    pub plain: Option<f64>,
    /// Of the branch that grew beyond it and was merged.
    pub overshot: Option<f64>,
    /// Single items that were moved at the end.
    pub moved: u64,
}

/// Everything that a run is, in the matrix's unit: a checkpoint of it is a run.
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
    /// The better branch so far: labels, their number, the cost.
    best: Option<(Vec<u32>, usize, f64)>,
    pub finish: Finish,
    pub sweeps: u64,
}

/// A run.
pub(crate) struct Course<'a, 'm, T: Real> {
    problem: &'a Problem<'m, T>,
    parameters: &'a Parameters,
    pub turn: Turn,
    furthest: f64,
    pub state: State,
}

impl<'a, 'm, T: Real> Course<'a, 'm, T> {
    /// A new run: finds the first critical temperature.
    pub async fn begin<R: Rounds>(
        problem: &'a Problem<'m, T>,
        parameters: &'a Parameters,
        rounds: &mut R,
    ) -> Result<Self, Error> {
        let mut turn = Turn::default();
        let components = Components::one(problem.items());
        let mut system = PairwiseSystem::new(problem, components, true, parameters.seed, &mut turn);
        let (critical_temperature, sweeps) = system.first_critical_temperature(rounds).await?;
        let components = system.components;
        let grows = parameters.clusters != Some(1) && critical_temperature > 0.0;
        let state = State {
            phase: if grows { Phase::Growing } else { Phase::Hardening },
            components,
            critical_temperature,
            temperature: START * critical_temperature,
            last_soft_temperature: START * critical_temperature,
            history: Vec::new(),
            splits: Vec::new(),
            plateaus: Vec::new(),
            snapshot: None,
            persistent: None,
            best: None,
            finish: Finish::default(),
            sweeps,
        };
        Ok(Self { problem, parameters, turn, furthest: 0.0, state })
    }

    /// Goes on from a state.
    pub fn resume(problem: &'a Problem<'m, T>, parameters: &'a Parameters, state: State) -> Self {
        Self { problem, parameters, turn: Turn::default(), furthest: 0.0, state }
    }

    pub fn is_done(&self) -> bool {
        self.state.phase == Phase::Done
    }

    pub fn stage(&self) -> Stage {
        match self.state.phase {
            Phase::Growing => Stage::Annealing,
            Phase::Hardening => Stage::Hardening,
            Phase::Done => Stage::Labelling,
        }
    }

    /// The hard clusters, once the run is done: labels, and how many there are.
    pub fn labels(&self) -> (Vec<u32>, usize) {
        let (labels, count, _) = self.state.best.as_ref().expect("a branch was finished");
        (labels.clone(), *count)
    }

    /// Estimate of the share of the work that is done; it never falls.
    pub fn fraction(&mut self) -> f64 {
        let state = &self.state;
        let cooled = |from: f64, to: f64| (from / state.temperature).ln() / (from / to).ln().max(f64::MIN_POSITIVE);
        let critical = state.critical_temperature;
        let share = match state.phase {
            Phase::Growing => {
                let grown = match (self.parameters.clusters, self.last_temperature()) {
                    (_, Some(last)) => cooled(critical, last),
                    (Some(clusters), None) => state.components.count as f64 / self.most_components(clusters) as f64,
                    (None, None) => (state.components.count as f64 / self.most_clusters() as f64)
                        .max(cooled(critical, COLDEST_PLATEAU * critical)),
                };
                0.7 * if grown.is_finite() { grown.clamp(0.0, 1.0) } else { 0.0 }
            }
            Phase::Hardening => {
                let hard = cooled(critical, COLDEST_PLAIN * critical);
                0.7 + 0.28 * if hard.is_finite() { hard.clamp(0.0, 1.0) } else { 0.0 }
            }
            Phase::Done => 0.98,
        };
        self.furthest = self.furthest.max(share);
        self.furthest
    }

    /// One step: a temperature.
    pub async fn advance<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        match self.state.phase {
            Phase::Growing => self.grow(rounds).await,
            Phase::Hardening => self.harden(rounds).await,
            Phase::Done => Ok(()),
        }
    }

    /// The given final temperature in the matrix's unit.
    fn last_temperature(&self) -> Option<f64> {
        self.parameters.stop_temperature.map(|temperature| temperature / self.problem.matrix.unit)
    }

    fn most_clusters(&self) -> usize {
        self.parameters.most_clusters(self.problem.items())
    }

    /// How far growth goes for a wanted number.
    fn most_components(&self, clusters: usize) -> usize {
        if self.last_temperature().is_some() || clusters < 2 {
            return clusters;
        }
        ((clusters as f64 * self.parameters.overshoot).ceil() as usize).min(self.problem.items())
    }

    async fn grow<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        let wanted = self.parameters.clusters;
        let last = self.last_temperature();
        let at_last = last.is_some_and(|last| self.state.temperature <= last);
        let tolerance = if at_last { self.parameters.tolerance.min(LAST_TOLERANCE) } else { self.parameters.tolerance };
        let cap = match wanted {
            Some(clusters) if self.state.snapshot.is_none() => clusters,
            Some(clusters) => self.most_components(clusters),
            None => self.most_clusters(),
        };
        let settled = self.settle_at(rounds, true, tolerance, cap).await?;
        let state = &mut self.state;
        let now = state.components.count;
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
        let is_open = wanted.is_none() && last.is_none();
        let cold = state.temperature <= FLOOR * state.critical_temperature
            || (measured.softness < HARD && highest <= FLOOR * state.critical_temperature)
            || (is_open && state.temperature <= COLDEST_PLATEAU * state.critical_temperature);
        if at_last || (grown && last.is_none()) || cold {
            if is_open && !grown {
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
        by_mass: bool,
        tolerance: f64,
        cap: usize,
    ) -> Result<Settled, Error> {
        let temperature = self.state.temperature;
        let components = std::mem::replace(&mut self.state.components, Components::one(0));
        let mut system = PairwiseSystem::new(self.problem, components, by_mass, self.parameters.seed, &mut self.turn);
        let settled = settle(&mut system, rounds, temperature, tolerance, cap).await?;
        self.state.components = system.components;
        let unit = self.problem.matrix.unit;
        let state = &mut self.state;
        state.sweeps += settled.sweeps;
        state.last_soft_temperature = temperature;
        state.splits.extend(settled.splits.iter().map(|split| Split {
            temperature: split.temperature * unit,
            critical_temperature: split.critical_temperature * unit,
            ..split.clone()
        }));
        let measured = &settled.measured;
        state.history.push(Step {
            index: state.history.len() as u64,
            temperature: temperature * unit,
            clusters: state.components.count,
            free_energy: measured.free_energy * unit,
            mean_cost: measured.mean_cost * unit,
            information: (measured.free_energy - measured.mean_cost) / temperature,
            softness: measured.softness,
            sweeps: settled.sweeps,
            max_move: if settled.largest_move.is_finite() { settled.largest_move } else { 0.0 },
            next_critical: measured.critical.iter().copied().fold(0.0, f64::max) * unit,
        });
        Ok(settled)
    }

    /// Keeps the account of how long each number of components persists, and the components of the longest.
    fn note_plateau(&mut self) {
        let unit = self.problem.matrix.unit;
        let state = &mut self.state;
        let (now, temperature) = (state.components.count, state.temperature * unit);
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

    /// Notes that the last number lasts to the end, unless it leaves less than two items a cluster.
    fn close_plateau(&mut self, highest: f64) {
        let least = COLDEST_PLATEAU * self.state.critical_temperature;
        let coldest = self.state.temperature.min(highest.max(least)) * self.problem.matrix.unit;
        let items = self.problem.items();
        let widest_before = widest(&self.state.plateaus).map_or(0.0, |k| self.state.plateaus[k].width());
        if let Some(plateau) = self.state.plateaus.last_mut().filter(|plateau| 2 * plateau.clusters <= items) {
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
            self.state.finish.plain = Some(self.branch(rounds, None).await?);
            self.state.phase = Phase::Done;
            return Ok(());
        }
        match self.parameters.clusters {
            Some(clusters) if self.state.components.count > clusters => {
                self.state.finish.overshot = Some(self.branch(rounds, Some(clusters)).await?);
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

    async fn harden<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        let is_soft = self.state.components.count > 1 && {
            let count = self.state.components.count;
            let settled = self.settle_at(rounds, false, PLAIN_TOLERANCE, count).await?;
            settled.measured.softness >= HARD
        };
        let coldest = COLDEST_PLAIN * self.state.critical_temperature;
        if is_soft && self.state.temperature > coldest {
            self.state.temperature *= FROZEN_COOLING;
            return Ok(());
        }
        self.state.finish.plain = Some(self.branch(rounds, None).await?);
        self.state.phase = Phase::Done;
        Ok(())
    }

    /// Makes one branch hard, merging to `clusters` if given; keeps it if it is the better. Returns its cost in the input's unit.
    async fn branch<R: Rounds>(&mut self, rounds: &mut R, clusters: Option<usize>) -> Result<f64, Error> {
        let problem = self.problem;
        let (labels, count) = numbered(&self.state.components.labels());
        let mut hard = Hard::new(rounds, problem, labels, count, &mut self.turn).await?;
        let mut moved = hard.finish(rounds, problem, &mut self.turn).await?;
        let mut readings = hard.readings;
        if let Some(clusters) = clusters.filter(|&clusters| hard.count > clusters) {
            let labels = hard.merged_to(problem, clusters);
            hard = Hard::new(rounds, problem, labels, clusters, &mut self.turn).await?;
            moved += hard.finish(rounds, problem, &mut self.turn).await?;
            readings += hard.readings;
        }
        let state = &mut self.state;
        state.sweeps += readings;
        state.finish.moved += moved;
        let cost = hard.cost();
        let is_better = match &state.best {
            Some((_, count, best)) => (std::cmp::Reverse(hard.count), cost) < (std::cmp::Reverse(*count), *best),
            None => true,
        };
        if is_better {
            state.best = Some((hard.labels, hard.count, cost));
        }
        Ok(cost * problem.matrix.unit * problem.weight_unit)
    }
}

/// Labels without gaps in their numbers, in the same order.
fn numbered(labels: &[u32]) -> (Vec<u32>, usize) {
    let most = labels.iter().max().map_or(0, |most| *most as usize + 1);
    let mut number = vec![u32::MAX; most];
    labels.iter().for_each(|&label| number[label as usize] = 0);
    let mut count = 0;
    for number in number.iter_mut().filter(|number| **number == 0) {
        *number = count;
        count += 1;
    }
    (labels.iter().map(|&label| number[label as usize]).collect(), count as usize)
}
