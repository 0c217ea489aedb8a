//! An embedding as a series of steps: starts, temperatures, iterations. Each iteration is a step, and the run can be
//! resumed after each step.
//!
//! An iteration reads the matrix once, at the candidate for the next positions. The pass returns the stress of the
//! candidate, which decides whether the candidate is accepted. It also returns the moments from which the next
//! candidate is computed. If a lengthened step (de Leeuw and Heiser 1980) would raise the stress, it is replaced by the
//! plain step, which never raises the stress.

use lehr_numerics::elementary::ln;
use lehr_numerics::lanes::Real;
use lehr_numerics::random::Stream;
use serde::{Deserialize, Serialize};

use super::classical::classical;
use super::parameters::{Parameters, Start};
use super::problem::{Problem, pass};
use super::solve::{Solver, center};
use crate::Error;
use crate::anneal::{Progress, run};
use crate::gather::Side;
use crate::round::Rounds;

/// The iteration from which steps are lengthened.
const RELAXED_FROM: u64 = 10;
/// Every n-th step is plain, because plain steps remove errors that lengthened steps only invert.
const PLAIN_EVERY: u64 = 4;
/// A stress below this share of the targets' sum of squares counts as 0; the square root of the share is 1e-10.
const EXACT: f64 = 1e-20;
/// The shares of the initial residual at which conjugate gradients stop: usually, and near the end of the run.
const LOOSE: f64 = 0.05;
const TIGHT: f64 = 1e-3;
/// The end is near when stress falls by less than this many times the tolerance.
const NEAR: f64 = 100.0;
/// The tolerance of annealing at each temperature above 0.
const ANNEALED_TOLERANCE: f64 = 1e-6;

/// How an embedding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// Stress fell by less than the tolerance, or is 0.
    Converged,
    /// The maximum number of iterations was reached.
    MostIterations,
}

/// One iteration of the history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The temperature, in the input's unit; 0 without annealing.
    pub temperature: f64,
    /// The weighted sum of squared errors, divided by the weighted sum of the unannealed squared targets. Values at
    /// different temperatures are not comparable.
    pub stress: f64,
}

/// A finished start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub positions: Vec<f64>,
    pub stress: f64,
    pub history: Vec<Iteration>,
    pub stop: Stop,
}

/// The whole state of a run, in the matrix's unit; checkpoints store it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The index of the start that is being tried.
    pub(crate) attempt: usize,
    /// The temperature of the targets; 0 at the end and without annealing.
    temperature: f64,
    /// Whether the scale of the start has been found.
    is_scaled: bool,
    /// The positions to evaluate next.
    candidate: Vec<f64>,
    /// The plain step, which is tried if the candidate is a lengthened step and is worse.
    plain: Option<Vec<f64>>,
    /// The last positions that were accepted at this temperature, and the stress of these positions.
    taken: Option<(Vec<f64>, f64)>,
    /// The number of iterations at this temperature.
    at_temperature: u64,
    last_decrease: f64,
    pub(crate) history: Vec<Iteration>,
    pub(crate) best: Option<Attempt>,
    /// The stress that each start reached.
    pub(crate) stresses: Vec<f64>,
    /// The weighted sum of squared targets.
    pub(crate) norm: f64,
    pub(crate) passes: u64,
    pub(crate) steps: u64,
    pub(crate) is_done: bool,
}

/// An embedding in progress.
pub(crate) struct Fit<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    parameters: &'a Parameters,
    solver: Solver,
    pub turn: Side,
    rows: Vec<f64>,
    furthest: f64,
    pub state: State,
}

impl<T: Real> run::Fit<Parameters> for Fit<'_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.state.is_done
    }

    fn phase(&self) -> &'static str {
        "iterating"
    }

    fn progress(&mut self) -> Progress {
        let history = &self.state.history;
        // The last positions that were accepted. Before the first iteration, all items are at one point.
        let Iteration { temperature, stress } =
            history.last().copied().unwrap_or(Iteration { temperature: 0.0, stress: 1.0 });
        let (start, iteration) = (self.state.attempt as f64, history.len() as f64);
        let mut figures = vec![("start", start), ("iteration", iteration), ("stress", stress)];
        figures.extend((temperature > 0.0).then_some(("temperature", temperature)));
        Progress { stage: self.phase().into(), fraction: Some(self.fraction()), figures }
    }

    /// Makes one pass over the matrix, and the step that follows.
    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let (problem, parameters) = (self.problem, self.parameters);
        let root = (2.0 * problem.dimension as f64).sqrt();
        let shift = self.state.temperature * root;
        let candidate = std::mem::take(&mut self.state.candidate);
        let passed = pass(rounds, problem, &candidate, shift, &mut self.turn, &mut self.rows).await?;
        let state = &mut self.state;
        state.passes += 1;
        if !state.is_scaled {
            // The sum of w d^2 follows from the other sums. The scale is that of the present targets: at the first
            // temperature, targets are small, and so is the map.
            let square = passed.stress - self.target_norm(rounds, shift).await? + 2.0 * passed.cross;
            let state = &mut self.state;
            state.is_scaled = true;
            let scale = if square > 0.0 && passed.cross > 0.0 { passed.cross / square } else { 1.0 };
            state.candidate = candidate.into_iter().map(|x| x * scale).collect();
            return Ok(());
        }
        if let Some((_, taken)) = &state.taken
            && passed.stress > *taken
        {
            if let Some(plain) = state.plain.take() {
                state.candidate = plain;
                return Ok(());
            }
            // A plain step cannot raise the stress except by rounding, so there is no more to gain.
            return self.settle(rounds, Stop::Converged).await;
        }
        let norm = state.norm.max(f64::MIN_POSITIVE);
        let decrease = match &state.taken {
            Some((_, taken)) => (taken - passed.stress) / taken.max(f64::MIN_POSITIVE),
            None => 1.0,
        };
        state.last_decrease = decrease.clamp(1e-16, 1.0);
        state.at_temperature += 1;
        state
            .history
            .push(Iteration { temperature: state.temperature * problem.matrix.unit, stress: passed.stress / norm });
        let tolerance = if state.temperature > 0.0 { ANNEALED_TOLERANCE } else { parameters.tolerance };
        let is_exact = passed.stress <= EXACT * norm;
        // A lengthened step may turn an error into its opposite, where a plain step would remove it. Then an unchanged
        // stress does not mean that the run has converged.
        let was_lengthened = state.plain.take().is_some();
        let is_still = state.taken.is_some() && decrease < tolerance;
        let is_converged = is_exact || (is_still && !was_lengthened);
        let is_last = state.at_temperature >= parameters.most_iterations;
        state.taken = Some((candidate, passed.stress));
        if is_converged || is_last {
            return self.settle(rounds, if is_converged { Stop::Converged } else { Stop::MostIterations }).await;
        }
        let residual = if decrease < NEAR * tolerance { TIGHT } else { LOOSE };
        let now = &self.state.taken.as_ref().expect("just taken").0;
        let before = self.solver.steps;
        let plain = self.solver.solve(rounds, problem, now, &self.rows, residual, &mut self.turn).await?;
        let state = &mut self.state;
        state.steps += self.solver.steps - before;
        let now = &state.taken.as_ref().expect("just taken").0;
        let is_plain_turn = state.at_temperature.is_multiple_of(PLAIN_EVERY) || (is_still && was_lengthened);
        if parameters.relaxed && state.at_temperature >= RELAXED_FROM && !is_plain_turn {
            state.candidate = plain.iter().zip(now).map(|(next, now)| 2.0 * next - now).collect();
            state.plain = Some(plain);
        } else {
            state.candidate = plain;
            state.plain = None;
        }
        Ok(())
    }
}

impl<'a, T: Real> Fit<'a, T> {
    /// Starts a new embedding: sums up the targets, and finds the first start.
    pub async fn begin(
        problem: &'a Problem<'a, T>,
        parameters: &'a Parameters,
        rounds: &mut dyn Rounds,
    ) -> Result<Self, Error> {
        let mut turn = Side::default();
        let mut rows = Vec::new();
        // If all points coincide, the stress is the sum of the squared targets.
        let nowhere = vec![0.0; problem.items() * problem.dimension];
        let norm = pass(rounds, problem, &nowhere, 0.0, &mut turn, &mut rows).await?.stress;
        let state = State {
            attempt: 0,
            temperature: 0.0,
            is_scaled: false,
            candidate: Vec::new(),
            plain: None,
            taken: None,
            at_temperature: 0,
            last_decrease: 1.0,
            history: Vec::new(),
            best: None,
            stresses: Vec::new(),
            norm,
            passes: 1,
            steps: 0,
            is_done: false,
        };
        let mut course = Self::go_on(problem, parameters, rounds, state, turn).await?;
        course.start(rounds).await?;
        Ok(course)
    }

    /// Resumes an embedding from its state.
    pub async fn resume(
        problem: &'a Problem<'a, T>,
        parameters: &'a Parameters,
        rounds: &mut dyn Rounds,
        state: State,
    ) -> Result<Self, Error> {
        Self::go_on(problem, parameters, rounds, state, Side::default()).await
    }

    async fn go_on(
        problem: &'a Problem<'a, T>,
        parameters: &'a Parameters,
        rounds: &mut dyn Rounds,
        state: State,
        mut turn: Side,
    ) -> Result<Self, Error> {
        let solver = Solver::new(rounds, problem, &mut turn).await?;
        Ok(Self { problem, parameters, solver, turn, rows: Vec::new(), furthest: 0.0, state })
    }

    /// The number of starts to try.
    fn starts(&self) -> usize {
        if self.problem.positions.is_none() && self.parameters.start == Start::Random {
            self.parameters.starts
        } else {
            1
        }
    }

    /// Computes the positions of the next start.
    async fn start(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let (problem, parameters) = (self.problem, self.parameters);
        let (items, dimension) = (problem.items(), problem.dimension);
        self.state.candidate = match (&problem.positions, parameters.start) {
            (Some(positions), _) => positions.clone(),
            (None, Start::Classical) => {
                let (positions, passes) = classical(rounds, problem, parameters.seed, &mut self.turn).await?;
                self.state.passes += passes;
                positions
            }
            (None, Start::Random) => {
                let stream = Stream::new(parameters.seed, "random start");
                let first = self.state.attempt * items * dimension;
                (0..items * dimension).map(|place| stream.normal((first + place) as u64)).collect()
            }
        };
        if !problem.has_fixed {
            center(problem, &mut self.state.candidate);
        }
        let largest = problem.matrix.survey.largest / problem.matrix.unit;
        let state = &mut self.state;
        state.temperature =
            if parameters.annealed { parameters.cooling * largest / (2.0 * dimension as f64).sqrt() } else { 0.0 };
        // Given positions have a scale, which is kept.
        state.is_scaled = problem.positions.is_some();
        (state.plain, state.taken) = (None, None);
        state.at_temperature = 0;
        state.last_decrease = 1.0;
        state.history.clear();
        // If all dissimilarities are 0, there is nothing to do, and no scale to find.
        if state.norm == 0.0 {
            state.candidate.fill(0.0);
            state.is_scaled = true;
        }
        Ok(())
    }

    /// For each item, the sum of the weights of its pairs; empty if each sum is the weight of all items.
    pub fn degrees(&self) -> &[f64] {
        self.solver.degrees()
    }

    /// Estimates the share of the work that is done; the estimate never falls.
    fn fraction(&mut self) -> f64 {
        let state = &self.state;
        let parameters = self.parameters;
        let by_count = state.at_temperature as f64 / parameters.most_iterations as f64;
        let by_decrease = (ln(state.last_decrease) / ln(parameters.tolerance)).clamp(0.0, 1.0);
        let mut within = by_count.max(by_decrease * by_decrease);
        if parameters.annealed {
            let (from, to) = (self.problem.matrix.survey.largest, self.lowest() * self.problem.matrix.unit);
            let now = (state.temperature * self.problem.matrix.unit).max(to);
            let cooled = ln(from / now) / ln(from / to).max(f64::MIN_POSITIVE);
            within = if state.temperature > 0.0 { 0.8 * cooled.clamp(0.0, 1.0) } else { 0.8 + 0.2 * within };
        }
        let share = (state.attempt as f64 + within) / self.starts() as f64;
        self.furthest = self.furthest.max(share.clamp(0.0, 0.99));
        self.furthest
    }

    /// The last temperature above 0: half of the temperature at which the smallest target would be 0.
    fn lowest(&self) -> f64 {
        let smallest = self.problem.matrix.survey.smallest / self.problem.matrix.unit;
        let root = (2.0 * self.problem.dimension as f64).sqrt();
        // Temperatures below a thousandth of the largest dissimilarity have no visible effect.
        (0.5 * smallest / root).max(1e-3 * self.problem.matrix.survey.largest / self.problem.matrix.unit / root)
    }

    /// Returns the weighted sum of squared targets, each reduced by `shift`.
    async fn target_norm(&mut self, rounds: &mut dyn Rounds, shift: f64) -> Result<f64, Error> {
        if shift == 0.0 {
            return Ok(self.state.norm);
        }
        let nowhere = vec![0.0; self.problem.items() * self.problem.dimension];
        self.state.passes += 1;
        Ok(pass(rounds, self.problem, &nowhere, shift, &mut self.turn, &mut Vec::new()).await?.stress)
    }

    /// Ends a temperature: continues with the next, or ends the start.
    async fn settle(&mut self, rounds: &mut dyn Rounds, stop: Stop) -> Result<(), Error> {
        let lowest = self.lowest();
        let starts = self.starts();
        let state = &mut self.state;
        let (positions, stress) = state.taken.take().expect("stress was found at some positions");
        state.plain = None;
        if state.temperature > 0.0 {
            let next = state.temperature * self.parameters.cooling;
            state.temperature = if next < lowest { 0.0 } else { next };
            state.at_temperature = 0;
            state.last_decrease = 1.0;
            state.candidate = positions;
            return Ok(());
        }
        let history = std::mem::take(&mut state.history);
        let stress = stress / state.norm.max(f64::MIN_POSITIVE);
        state.stresses.push(stress);
        if state.best.as_ref().is_none_or(|best| stress < best.stress) {
            state.best = Some(Attempt { positions, stress, history, stop });
        }
        state.attempt += 1;
        if state.attempt >= starts {
            state.is_done = true;
            return Ok(());
        }
        self.start(rounds).await
    }
}
