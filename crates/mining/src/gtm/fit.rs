//! A fit as a series of steps, each of which can be resumed.
//!
//! ```text
//! beginning   the principal axes, the critical temperature, and a sheet: a point with a trace of the plane, or the plane
//! annealing   EM at each temperature to its fixed point, from above the critical temperature down to 1
//! fitting     EM at temperature 1 until it converges
//! measuring   the final likelihood, if both starts are followed: first the point, then the plane; the better fit is kept
//! ```
//!
//! All of the state is in [`State`], which is the content of a checkpoint. All ranks take the same steps, because they
//! decide from the same bits.

use lehr_numerics::elementary::ln;
use serde::{Deserialize, Serialize};

use super::basis::{Grid, transmission};
use super::e_step::SheetRound;
use super::m_step::{Frame, Sheet};
use super::parameters::{Parameters, Start};
use super::plane::{Axis, principal_axes};
use super::table::Table;
use crate::Error;
use crate::anneal::schedule::START;
use crate::anneal::{Progress, Stage, run};
use crate::mixture::left_to_gain;
use crate::round::{Rounds, total_of};
use crate::rows::RowMajor;

/// The number of sweeps in one step.
const SWEEPS_A_STEP: usize = 8;
/// A temperature above 1 ends when a sweep gains at most `SETTLED` per unit of weight, or after `MOST_SWEEPS` sweeps.
const SETTLED: f64 = 1e-6;
const MOST_SWEEPS: usize = 300;
/// The minimum share of each principal axis that a sheet has at the beginning of every temperature above 1.
const SEED: f64 = 0.05;
/// The variance of the cloud that represents a row, as a share of the mean variance of a column.
const CLOUD: f64 = 1e-6;
/// The share of an annealed fit's work that is done when it reaches temperature 1.
const COOLED: f64 = 0.7;
/// The share of the work that is done when the annealed fit, the first of two, has ended.
const FOLLOWED: f64 = 0.8;
/// The share of the work that is done when the fit has ended and the rows are about to be placed on the map.
const FITTED: f64 = 0.98;

/// The state at one temperature, in the input's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The temperature, a pure number: 1 is ordinary EM.
    pub temperature: f64,
    /// The tempered log-likelihood per unit of weight minus the prior's cost, before the last sweep at this
    /// temperature.
    pub objective: f64,
    /// The variance around the map.
    pub noise: f64,
    /// The weighted mean of 1 minus the largest membership.
    pub softness: f64,
    /// The number of passes over the rows at this temperature.
    pub sweeps: u64,
}

/// The phase of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    Beginning,
    Annealing,
    Fitting,
    Measuring,
    Done,
}

/// The fit from one start, in stored units except for the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Climb {
    pub start: Start,
    first_temperature: f64,
    pub temperature: f64,
    pub sheet: Sheet,
    /// The objective per unit of weight before each sweep at the present temperature.
    pub objectives: Vec<f64>,
    softness: f64,
    pub history: Vec<Step>,
    pub is_converged: bool,
    /// The number of passes over the rows.
    pub sweeps: u64,
    /// The log-likelihood, measured at the end.
    pub log_likelihood: f64,
}

/// The whole state of a fit; checkpoints store it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    phase: Phase,
    /// The principal axes: one more than the map has dimensions, if there are enough columns.
    axes: Vec<Axis>,
    /// The temperature below which a sheet that is collapsed to the mean is unstable.
    pub(crate) critical_temperature: f64,
    /// The fit in progress; at the end, the fit that is kept.
    pub(crate) climb: Climb,
    /// The finished fit from the other start, if both starts are followed.
    pub(crate) other: Option<Climb>,
    /// The number of passes over the rows.
    pub(crate) sweeps: u64,
}

/// The data of a fit, which all of its steps share.
pub(crate) struct Problem<'a> {
    pub table: &'a Table,
    pub parameters: &'a Parameters,
    pub grid: Grid,
    pub frame: Frame,
}

impl<'a> Problem<'a> {
    pub fn new(table: &'a Table, parameters: &'a Parameters) -> Self {
        let grid = parameters.grid(table.rows.count);
        let prior = parameters.regularisation * table.rows.row_weight / table.variance;
        let frame = Frame { phi: grid.matrix(), functions: grid.functions(), prior, cloud: CLOUD * table.variance };
        Self { table, parameters, grid, frame }
    }

    /// Returns the noise around a sheet that is collapsed to the mean.
    pub fn collapsed_noise(&self) -> f64 {
        self.table.variance + self.frame.cloud
    }

    /// Returns the temperature below which a collapsed sheet is unstable, given the variance along the widest axis.
    pub fn critical_temperature(&self, widest: f64) -> f64 {
        let noise = self.collapsed_noise();
        let diagonal = self.frame.prior * noise * self.grid.len() as f64 / self.table.rows.total_weight;
        widest * transmission(&self.frame.phi, self.frame.functions, diagonal) / noise
    }

    /// Returns the weights of a sheet along one principal axis. Along this axis, the nodes spread as widely as the
    /// rows.
    fn plane(&self, axis: usize, of: &Axis) -> Vec<f64> {
        let scale = (of.variance / self.grid.variance()).sqrt();
        let images: Vec<f64> = (0..self.grid.len())
            .flat_map(|k| {
                let z = scale * self.grid.node(k)[axis];
                of.direction.iter().map(move |u| z * u)
            })
            .collect();
        self.frame.fitted(&images)
    }

    /// Returns the share of a principal axis that the images of the nodes contain: 1 for the plane itself.
    fn share(&self, images: &[f64], axis: usize, of: &Axis) -> f64 {
        let along: f64 = images
            .chunks_exact(of.direction.len())
            .enumerate()
            .map(|(k, image)| {
                let inner: f64 = image.iter().zip(&of.direction).map(|(y, u)| y * u).sum();
                self.grid.node(k)[axis] * inner
            })
            .sum();
        along / (self.grid.len() as f64 * (self.grid.variance() * of.variance).sqrt())
    }

    /// Returns the initial noise of a plane: the variance that the plane leaves out, or enough noise to blur
    /// neighbouring nodes.
    fn plane_noise(&self, images: &[f64], left_out: f64) -> f64 {
        let (dimension, count) = (self.table.rows.dimension, self.grid.len());
        let image = |k: usize| RowMajor::new(images, dimension).row(k);
        let mut nearest = vec![f64::INFINITY; count];
        for k in 0..count {
            for other in self.grid.next_nodes(k) {
                let square: f64 = image(k).iter().zip(image(other)).map(|(a, b)| (a - b) * (a - b)).sum();
                nearest[k] = nearest[k].min(square);
                nearest[other] = nearest[other].min(square);
            }
        }
        let half = nearest.iter().map(|square| square.sqrt()).sum::<f64>() / (2.0 * count as f64);
        left_out.max(half * half) + self.frame.cloud
    }
}

/// A fit in progress.
pub(crate) struct Fit<'a> {
    problem: &'a Problem<'a>,
    /// The weights of the plane for each latent axis; empty until the principal axes are known.
    planes: Vec<Vec<f64>>,
    total: Vec<f64>,
    pub state: State,
}

impl run::Fit<Parameters> for Fit<'_> {
    fn with_state<T>(&mut self, show: impl FnOnce(&mut State) -> T) -> T {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.state.phase == Phase::Done
    }

    fn phase(&self) -> &'static str {
        self.stage().name()
    }

    fn progress(&mut self) -> Progress {
        let Climb { start, temperature, objectives, .. } = &self.state.climb;
        let stage = match start {
            Start::Annealed => self.phase().into(),
            Start::Plane => format!("{} from the plane", self.phase()).into(),
        };
        let mut figures = vec![("sweeps", self.state.sweeps as f64)];
        // The temperature is unknown until the principal axes are known.
        figures.extend((*temperature > 0.0).then_some(("temperature", *temperature)));
        let unit = self.problem.table.log_unit();
        figures.extend(objectives.last().map(|objective| ("objective", objective - unit)));
        Progress { stage, fraction: Some(self.fraction()), figures }
    }

    /// Takes one step: the beginning, a few sweeps, or the likelihood at the end.
    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        match self.state.phase {
            Phase::Beginning => self.begin(rounds).await,
            Phase::Annealing | Phase::Fitting => self.climb(rounds).await,
            Phase::Measuring => self.measure(rounds).await,
            Phase::Done => Ok(()),
        }
    }
}

impl<'a> Fit<'a> {
    /// Starts a new fit, or resumes one from its state.
    pub fn new(problem: &'a Problem<'a>, state: Option<State>) -> Self {
        let mut course = Self { problem, planes: Vec::new(), total: Vec::new(), state: state.unwrap_or_default() };
        course.lay_planes();
        course
    }

    fn lay_planes(&mut self) {
        let axes = self.state.axes.iter().take(self.problem.grid.latent).enumerate();
        self.planes = axes.map(|(axis, of)| self.problem.plane(axis, of)).collect();
    }

    fn stage(&self) -> Stage {
        match self.state.phase {
            Phase::Beginning | Phase::Annealing => Stage::Annealing,
            Phase::Fitting | Phase::Measuring => Stage::Fitting,
            Phase::Done => Stage::Labelling,
        }
    }

    /// Returns whether the fit follows both starts, the point and the plane. It follows only one if the user chose a
    /// start. The plane is also the only start if the collapsed sheet is stable at temperature 1, because there is
    /// nothing to anneal.
    fn follows_both(&self) -> bool {
        self.problem.parameters.start.is_none() && START * self.state.critical_temperature > 1.0
    }

    /// Estimates the share of the work that is done, 0 to 1.
    fn fraction(&self) -> f64 {
        let climb = &self.state.climb;
        let (from, to) = match (self.follows_both(), &self.state.other) {
            (false, _) => (0.0, FITTED),
            (true, None) => (0.0, FOLLOWED),
            (true, Some(_)) => (FOLLOWED, FITTED),
        };
        let share = match self.state.phase {
            Phase::Beginning => 0.0,
            Phase::Annealing => COOLED * (1.0 - ln(climb.temperature) / ln(climb.first_temperature)).clamp(0.0, 1.0),
            Phase::Fitting => {
                let before = if climb.first_temperature > 1.0 { COOLED } else { 0.0 };
                let sweeps = climb.objectives.len() as f64;
                before + (1.0 - before) * sweeps / (sweeps + 50.0)
            }
            Phase::Measuring => 1.0,
            Phase::Done => return FITTED,
        };
        from + (to - from) * share
    }

    async fn begin(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let problem = self.problem;
        self.state.axes = principal_axes(rounds, problem.table, problem.grid.latent + 1).await?;
        self.lay_planes();
        let widest = self.state.axes.first().map_or(0.0, |axis| axis.variance);
        let critical = problem.critical_temperature(widest);
        self.state.critical_temperature = critical;
        let first = START * critical;
        if problem.parameters.start != Some(Start::Plane) && first > 1.0 {
            let weights = vec![0.0; problem.frame.functions * problem.table.rows.dimension];
            self.state.climb = Climb {
                start: Start::Annealed,
                first_temperature: first,
                temperature: first,
                sheet: Sheet { weights, noise: problem.collapsed_noise() },
                ..Climb::default()
            };
            self.state.phase = Phase::Annealing;
            self.seed();
        } else {
            self.begin_as_plane();
        }
        Ok(())
    }

    /// Begins a fit with the plane of the principal axes.
    fn begin_as_plane(&mut self) {
        let problem = self.problem;
        let mut weights = vec![0.0; problem.frame.functions * problem.table.rows.dimension];
        for plane in &self.planes {
            weights.iter_mut().zip(plane).for_each(|(weight, of_plane)| *weight += of_plane);
        }
        let images = problem.frame.images(&Sheet { weights: weights.clone(), noise: 1.0 });
        let left_out = self.state.axes.get(problem.grid.latent).map_or(0.0, |axis| axis.variance);
        self.state.climb = Climb {
            start: Start::Plane,
            first_temperature: 1.0,
            temperature: 1.0,
            sheet: Sheet { weights, noise: problem.plane_noise(&images, left_out) },
            ..Climb::default()
        };
        self.state.phase = Phase::Fitting;
    }

    /// Restores principal axes that the sheet has lost; does nothing at temperature 1.
    fn seed(&mut self) {
        if self.state.phase != Phase::Annealing {
            return;
        }
        let images = self.problem.frame.images(&self.state.climb.sheet);
        let axes = self.state.axes.iter().enumerate();
        for ((axis, of), plane) in axes.zip(&self.planes).filter(|((_, of), _)| of.variance > 0.0) {
            let share = self.problem.share(&images, axis, of);
            if share.abs() < SEED {
                let lacking = SEED.copysign(share) - share;
                let weights = self.state.climb.sheet.weights.iter_mut().zip(plane);
                weights.for_each(|(weight, of_plane)| *weight += lacking * of_plane);
            }
        }
    }

    /// Makes a pass with the present sheet, and leaves the sums in `total`.
    async fn pass(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let Problem { table, frame, .. } = self.problem;
        let climb = &mut self.state.climb;
        let images = frame.images(&climb.sheet);
        let temperature = 2.0 * climb.temperature * climb.sheet.noise;
        total_of(rounds, &SheetRound::new(table, &images, temperature), &mut self.total).await?;
        climb.sweeps += 1;
        self.state.sweeps += 1;
        Ok(())
    }

    /// Makes one sweep of EM, and returns the objective per unit of weight before the sweep.
    async fn sweep(&mut self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
        self.pass(rounds).await?;
        let Problem { table, frame, .. } = self.problem;
        let climb = &mut self.state.climb;
        let objective = frame.objective(table, &climb.sheet, self.total[0]);
        frame.update(table, &mut climb.sheet, &self.total);
        climb.softness = self.total[1] / table.rows.total_weight;
        Ok(objective)
    }

    /// Makes a few sweeps at the present temperature, and enters the next stage when this one is done.
    async fn climb(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let parameters = self.problem.parameters;
        for _ in 0..SWEEPS_A_STEP {
            let objective = self.sweep(rounds).await?;
            let climb = &mut self.state.climb;
            let objectives = &mut climb.objectives;
            // EM cannot lower the objective, except by rounding errors.
            debug_assert!(
                objectives.last().is_none_or(|last| objective >= last - 1e-9 * last.abs().max(1.0)),
                "the objective fell from {:?} to {objective} at temperature {}",
                objectives.last(),
                climb.temperature
            );
            let gain = objectives.last().map(|last| objective - last);
            objectives.push(objective);
            let sweeps = objectives.len();
            let end = if self.state.phase == Phase::Annealing {
                (gain.is_some_and(|gain| gain <= SETTLED) || sweeps >= MOST_SWEEPS).then_some(false)
            } else if left_to_gain(objectives).is_some_and(|gain| gain <= parameters.tolerance) {
                Some(true)
            } else {
                (sweeps as u64 >= parameters.max_sweeps).then_some(false)
            };
            if let Some(is_converged) = end {
                self.cool(is_converged);
                break;
            }
        }
        Ok(())
    }

    /// Records a temperature, then continues with the next one or ends.
    fn cool(&mut self, is_converged: bool) {
        let table = self.problem.table;
        let climb = &mut self.state.climb;
        climb.history.push(Step {
            temperature: climb.temperature,
            objective: climb.objectives.last().copied().unwrap_or(f64::NEG_INFINITY) - table.log_unit(),
            noise: table.rows.units.squared(climb.sheet.noise),
            softness: climb.softness,
            sweeps: climb.objectives.len() as u64,
        });
        if self.state.phase == Phase::Fitting {
            climb.is_converged = is_converged;
            self.state.phase = if self.follows_both() { Phase::Measuring } else { Phase::Done };
            return;
        }
        climb.objectives.clear();
        climb.temperature *= self.problem.parameters.cooling;
        if climb.temperature <= 1.0 {
            climb.temperature = 1.0;
            self.state.phase = Phase::Fitting;
        }
        self.seed();
    }

    /// Measures the likelihood at the end of a fit. After the first fit, a second fit begins from the plane. After the
    /// second fit, the fit with the higher likelihood is kept; the first fit if both are equal.
    async fn measure(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        self.pass(rounds).await?;
        let Problem { table, frame, .. } = self.problem;
        let state = &mut self.state;
        state.climb.log_likelihood = frame.log_likelihood(table, &state.climb.sheet, self.total[0]);
        let Some(first) = &mut state.other else {
            state.other = Some(std::mem::take(&mut state.climb));
            self.begin_as_plane();
            return Ok(());
        };
        if first.log_likelihood >= state.climb.log_likelihood {
            std::mem::swap(first, &mut state.climb);
        }
        state.phase = Phase::Done;
        Ok(())
    }
}
