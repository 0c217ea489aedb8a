//! A pairwise clustering as a series of steps: grow, harden, finish. Each temperature is a step, and the run can be
//! resumed after each step.
//!
//! The stages are those of vector annealing (`vector/fit.rs`). First, components divide in mass mode until their number
//! is the wanted one. Then one branch hardens with equal masses. The other branch grows beyond the wanted number, and
//! merges the surplus components. The better branch is the result. Only the refinement differs: it moves single items
//! instead of searching by swaps, because the size of the matrix limits N.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::field::Problem;
use super::hard::Hard;
use super::parameters::Parameters;
use super::system::{Components, PairwiseSystem};
use crate::Error;
use crate::anneal::growth::{Grown, Limits};
use crate::anneal::schedule::{COLDEST_PLAIN, FROZEN_COOLING, HARD};
use crate::anneal::{Progress, Settled, Stage, run, settle};
use crate::gather::Side;
use crate::round::Rounds;

/// The tolerance while hardening, which only prepares for moves of single items.
const PLAIN_TOLERANCE: f64 = 1e-2;
/// The tolerance at the final temperature, whose state is the result.
const LAST_TOLERANCE: f64 = 1e-8;

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Growing,
    Hardening,
    Done,
}

/// The costs H of the branches that the refinement compared, for hard clusters. Their unit is the unit of the
/// dissimilarities times the unit of the weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// The cost of the branch that was hardened with the wanted number of components.
    pub plain: Option<f64>,
    /// The cost of the branch that grew beyond the wanted number and was merged.
    pub overshot: Option<f64>,
    /// The number of single items that were moved at the end.
    pub moved: u64,
}

/// The whole state of a run, in the matrix's unit; checkpoints store it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    phase: Phase,
    #[serde(flatten)]
    pub(crate) grown: Grown<Components>,
    /// The labels, the number of clusters and the cost of the better branch so far.
    best: Option<(Vec<u32>, usize, f64)>,
    pub(crate) finish: Finish,
    pub(crate) sweeps: u64,
}

/// A run in progress.
pub(crate) struct Fit<'a, 'm, T: Real> {
    problem: &'a Problem<'m, T>,
    parameters: &'a Parameters,
    pub turn: Side,
    furthest: f64,
    pub state: State,
}

impl<T: Real> run::Fit<Parameters> for Fit<'_, '_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.state.phase == Phase::Done
    }

    fn phase(&self) -> &'static str {
        self.stage().name()
    }

    fn progress(&mut self) -> Progress {
        let matrix = &self.problem.matrix;
        let step = self.state.grown.step(matrix.unit, matrix.survey.mean / 2.0);
        step.progress(self.stage(), self.state.sweeps, self.fraction())
    }

    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        match self.state.phase {
            Phase::Growing => self.grow(rounds).await,
            Phase::Hardening => self.harden(rounds).await,
            Phase::Done => Ok(()),
        }
    }
}

impl<'a, 'm, T: Real> Fit<'a, 'm, T> {
    /// Starts a new run, and finds the first critical temperature.
    pub async fn begin(
        problem: &'a Problem<'m, T>,
        parameters: &'a Parameters,
        rounds: &mut dyn Rounds,
    ) -> Result<Self, Error> {
        let mut turn = Side::default();
        let components = Components::one(problem.items());
        let mut system = PairwiseSystem::new(problem, components, true, parameters.seed, &mut turn);
        let (critical_temperature, sweeps) = system.first_critical_temperature(rounds).await?;
        let grows = parameters.clusters != Some(1) && critical_temperature > 0.0;
        let state = State {
            phase: if grows { Phase::Growing } else { Phase::Hardening },
            grown: Grown::new(system.components, critical_temperature),
            best: None,
            finish: Finish::default(),
            sweeps,
        };
        Ok(Self { problem, parameters, turn, furthest: 0.0, state })
    }

    /// Resumes a run from its state.
    pub fn resume(problem: &'a Problem<'m, T>, parameters: &'a Parameters, state: State) -> Self {
        Self { problem, parameters, turn: Side::default(), furthest: 0.0, state }
    }

    fn stage(&self) -> Stage {
        match self.state.phase {
            Phase::Growing => Stage::Annealing,
            Phase::Hardening => Stage::Hardening,
            Phase::Done => Stage::Labelling,
        }
    }

    /// Estimates the share of the work that is done; the estimate never falls.
    fn fraction(&mut self) -> f64 {
        let grown = &self.state.grown;
        let present = match self.state.phase {
            Phase::Growing => 0.7 * grown.share_grown(&self.limits(), grown.components.count),
            Phase::Hardening => 0.7 + 0.28 * grown.share_hardened(),
            Phase::Done => 0.98,
        };
        self.furthest = self.furthest.max(present);
        self.furthest
    }

    /// The labels of the hard clusters and the number of clusters, once the run has ended.
    pub fn labels(&self) -> (Vec<u32>, usize) {
        let (labels, count, _) = self.state.best.as_ref().expect("a branch was finished");
        (labels.clone(), *count)
    }

    /// The limits of growth.
    fn limits(&self) -> Limits {
        let (parameters, items) = (self.parameters, self.problem.items());
        let last = parameters.stop_temperature.map(|temperature| temperature / self.problem.matrix.unit);
        let most = match parameters.clusters {
            Some(clusters) if last.is_some() || clusters < 2 => clusters,
            Some(clusters) => ((clusters as f64 * parameters.overshoot).ceil() as usize).min(items),
            None => parameters.most_clusters(items),
        };
        Limits {
            wanted: parameters.clusters,
            most,
            last,
            rows: items,
            cooling: parameters.cooling,
            tolerance: parameters.tolerance,
            last_tolerance: LAST_TOLERANCE,
        }
    }

    async fn grow(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let limits = self.limits();
        let (tolerance, most) = self.state.grown.bounds(&limits);
        let settled = self.settle_at(rounds, true, tolerance, most).await?;
        let (clusters, unit) = (self.state.grown.components.count, self.problem.matrix.unit);
        if self.state.grown.goes_on(&limits, clusters, &settled.measured, unit) {
            return Ok(());
        }
        self.end_growth(rounds, &limits).await
    }

    /// Relaxes, divides and measures at the present temperature, and adds to the history.
    async fn settle_at(
        &mut self,
        rounds: &mut dyn Rounds,
        by_mass: bool,
        tolerance: f64,
        most: usize,
    ) -> Result<Settled, Error> {
        let grown = &mut self.state.grown;
        let components = std::mem::replace(&mut grown.components, Components::one(0));
        let mut system = PairwiseSystem::new(self.problem, components, by_mass, self.parameters.seed, &mut self.turn);
        let settled = settle(&mut system, rounds, grown.temperature, tolerance, most).await?;
        grown.components = system.components;
        grown.record(&settled, grown.components.count, self.problem.matrix.unit);
        self.state.sweeps += settled.sweeps;
        Ok(settled)
    }

    /// Ends growth, and continues with the two branches.
    async fn end_growth(&mut self, rounds: &mut dyn Rounds, limits: &Limits) -> Result<(), Error> {
        if limits.last.is_some() {
            // The result is the present state at this temperature, hardened.
            self.state.finish.plain = Some(self.branch(rounds, None).await?);
            self.state.phase = Phase::Done;
            return Ok(());
        }
        if let Some(clusters) = limits.wanted.filter(|&clusters| self.state.grown.components.count > clusters) {
            self.state.finish.overshot = Some(self.branch(rounds, Some(clusters)).await?);
        }
        self.state.grown.go_back();
        self.state.phase = Phase::Hardening;
        Ok(())
    }

    async fn harden(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let count = self.state.grown.components.count;
        let is_soft =
            count > 1 && self.settle_at(rounds, false, PLAIN_TOLERANCE, count).await?.measured.softness >= HARD;
        let grown = &mut self.state.grown;
        if is_soft && grown.temperature > COLDEST_PLAIN * grown.critical_temperature {
            grown.temperature *= FROZEN_COOLING;
            return Ok(());
        }
        self.state.finish.plain = Some(self.branch(rounds, None).await?);
        self.state.phase = Phase::Done;
        Ok(())
    }

    /// Hardens one branch, merges it to `clusters` clusters if given, and stores it if it is the better branch. Returns
    /// the branch's cost in the input's unit.
    async fn branch(&mut self, rounds: &mut dyn Rounds, clusters: Option<usize>) -> Result<f64, Error> {
        let problem = self.problem;
        let (labels, count) = numbered(&self.state.grown.components.labels());
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

/// Renumbers labels without gaps, in the same order.
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
