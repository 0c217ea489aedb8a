//! Generative topographic mapping (GTM) shows rows on a line, a plane or a cube that is stretched through their space.
//! The density of the map measures how well it represents the rows.
//!
//! The map is a mixture of Gaussians of equal width whose means lie on a smooth sheet. The sheet's nodes are the
//! components. Bayes' rule gives the position on the sheet from which a row came. Paper 004, section 7, lists GTM among
//! the methods to which annealing applies. `docs/design/gtm.md` explains how annealing prevents folds in the map, and
//! why a second fit begins with a plane. [`fit`] runs the whole method, and [`Map::project`] places new rows on a map.
//! [`critical_temperature`] is the temperature below which a collapsed map begins to unfold. Rows may have missing
//! cells ([`Input`]).

mod basis;
mod e_step;
mod fit;
mod m_step;
mod map;
mod model;
mod parameters;
mod place;
mod plane;
mod table;

use lehr_ranks::timing::Phases;

pub use fit::Step;
pub use map::{Map, Projection};
pub use model::{Candidate, Model};
pub use parameters::{Parameters, Start};

pub use crate::input::Input;

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, Stage, run as shared};
use crate::memory::Need;
use crate::round::{Execution, LeafCells, Program, Rounds, drive, total_of};
use fit::{Fit, Problem, State};
use model::Outcome;
use place::{PlaceRound, Placed, Placing};
use plane::principal_axes;
use table::Table;

/// The minimum deviation. The variances of smaller deviations may underflow.
const NEAREST: f64 = 1e-120;

/// A fit that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "gtm";
    /// Since format 2, a fit follows both starts.
    const FORMAT: u32 = 2;
    type State = State;
}

/// Fits a topographic map.
///
/// # Errors
/// Returns the errors of [`Parameters::check`], and [`Error::Constant`] if no column varies. Returns
/// [`Error::Unobserved`], [`Error::TooFar`], [`Error::TooNear`] or [`Error::TooManyPoints`]. Returns [`Error::Memory`]
/// if the map needs more memory than is free. Returns [`Error::Data`] for invalid weights given with
/// [`Input::with_weights`]. Returns [`Error::Stopped`] if the observer requested it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::datasets;
/// use lehr_mining::{Execution, anneal::Silent, gtm::{Parameters, fit}};
/// let (flowers, _) = datasets::iris();
/// let parameters = Parameters { nodes: Some(6), basis: Some(3), ..Parameters::default() };
/// let model = fit(&flowers, &parameters, &Execution::default(), &mut Silent)?;
/// // The first fifty flowers are of a kind of their own, and so is their place on the map.
/// let mean = |rows: std::ops::Range<usize>| rows.clone().map(|row| model.places.position(row)[0]).sum::<f64>() / rows.len() as f64;
/// assert!((mean(0..50) - mean(50..150)).abs() > 0.5);
/// assert!(model.ascent.is_sorted_by(|a, b| b - a > -1e-9));
/// # Ok::<(), lehr_mining::Error>(())
/// ```
///
/// Cost: some thirty temperatures with ten to a hundred passes each, and up to several hundred passes for the fit from
/// the plane. Each pass takes 2 N x K x D multiply-adds and N x K exponentials, and K x M² for the sheet. If cells are
/// missing, the sheet takes K x M² x D multiply-adds. Memory: the rows and two copies of them; three copies if cells
/// are missing. If the points are in a file ([`Points::spilled`](lehr_data::Points::spilled)), the copies are in files
/// of the same folder.
pub fn fit<'a>(
    input: impl Into<Input<'a>>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let input = input.into();
    parameters.check(input)?;
    run(&input, parameters.clone(), None, execution, observer)
}

/// Resumes an interrupted fit; the result is bit-identical to an uninterrupted one.
///
/// # Errors
/// Returns [`Error::OtherData`] if the rows are not those of the checkpoint; otherwise, the same errors as [`fit`].
pub fn resume<'a>(
    input: impl Into<Input<'a>>,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let input = input.into();
    let parameters = checkpoint.parameters().clone();
    let state = checkpoint.state_on(input.fingerprint())?;
    parameters.check(input)?;
    run(&input, parameters, Some(state), execution, observer)
}

/// Returns the temperature below which a map that is collapsed to the mean begins to unfold. It is the largest variance
/// along any axis, divided by the mean variance of a column, times the transmission. The transmission is the share of
/// an unfolding that the regularised sheet lets through. The temperature is at most the number of columns.
///
/// # Errors
/// Returns the same errors as [`fit`].
///
/// # Example
/// ```
/// use lehr_data::datasets;
/// use lehr_mining::{Execution, gtm::{Parameters, critical_temperature}};
/// let parameters = Parameters { nodes: Some(10), basis: Some(4), regularisation: 0.0, ..Parameters::default() };
/// let temperature = critical_temperature(&datasets::iris().0, &parameters, &Execution::default())?;
/// assert!((temperature - 3.698475).abs() < 1e-5);
/// # Ok::<(), lehr_mining::Error>(())
/// ```
pub fn critical_temperature<'a>(
    input: impl Into<Input<'a>>,
    parameters: &Parameters,
    execution: &Execution,
) -> Result<f64, Error> {
    let input = input.into();
    parameters.check(input)?;
    let table = Table::new(&input)?;
    let problem = Problem::new(&table, parameters);
    drive(execution, table.rows.dealt, &Widest { problem: &problem })
}

/// The program that finds the principal axis.
struct Widest<'a> {
    problem: &'a Problem<'a>,
}

impl Program for Widest<'_> {
    type Output = f64;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
        let axes = principal_axes(rounds, self.problem.table, 1).await?;
        Ok(self.problem.critical_temperature(axes.first().map_or(0.0, |axis| axis.variance)))
    }
}

fn run(
    input: &Input<'_>,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let grid = parameters.grid(input.len());
    Need::of_map(grid.len(), grid.functions(), input.dimension(), execution.ranks.min(input.len())).check()?;
    let mut phases = Phases::new();
    phases.enter("arranging");
    let table = Table::new(input)?;
    let problem = Problem::new(&table, &parameters);
    phases.leave();
    let run = Run {
        problem: &problem,
        cells: LeafCells::new(table.rows.leaves.len(), |_| Placed::default()),
        shared: shared::Run::new(input.fingerprint(), parameters.clone(), state, observer, phases),
    };
    let outcome = drive(execution, table.rows.dealt, &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(input, &problem, outcome, run.cells.into_values()))
}

/// The program of a fit.
struct Run<'a, 'o> {
    problem: &'a Problem<'a>,
    cells: LeafCells<Placed>,
    shared: shared::Run<'o, Parameters>,
}

impl Program for Run<'_, '_> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        let mut course = Fit::new(self.problem, self.shared.state.clone());
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        shared::begin(rounds, &mut phases, Stage::Labelling.name());
        let (table, sheet) = (self.problem.table, &course.state.climb.sheet);
        let images = self.problem.frame.images(sheet);
        let placing = Placing::new(self.problem.grid, table.rows.dimension, &images, sheet.noise);
        let mut total = Vec::new();
        total_of(rounds, &PlaceRound { table, placing: &placing, cells: &self.cells }, &mut total).await?;
        rounds.share(&self.cells, Placed::write, Placed::read).await?;
        phases.leave();
        course.state.sweeps += 1;
        let spent = self.shared.end(rounds, phases).await?;
        let log_likelihood = total.first().copied().unwrap_or(0.0);
        Ok(spent.map(|spent| Outcome { state: course.state, log_likelihood, spent }))
    }
}
