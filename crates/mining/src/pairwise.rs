//! Clusters items that are only known by their pairwise dissimilarities, by deterministic annealing.
//!
//! The method is the mean-field annealing of Hofmann and Buhmann (1997; paper 003's pairwise clustering). It needs
//! neither points nor a metric, and pairs may be missing. Annealing starts with one component just above the
//! temperature at which it becomes unstable, and cools. A component divides when the leading eigenvalue of its own
//! dissimilarities shows that it is unstable. [`cluster`] runs the whole method, [`equilibrium`] finds the fixed point
//! at one temperature, and [`Model::assign`] assigns new items to clusters. With squared Euclidean distances, the
//! results equal those of vector annealing. See `docs/design/pairwise.md`.

mod equilibrium;
mod field;
mod fit;
mod hard;
mod model;
mod parameters;
mod relaxation;
mod stability;
mod system;

use lehr_data::dissimilarities::Dissimilarities;
use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Phases;

pub use equilibrium::{Equilibrium, Start, equilibrium};
pub use fit::Finish;
pub use hard::cost;
pub use model::{Cluster, Model};
pub use parameters::Parameters;

use crate::Error;
use crate::anneal::{Observer, Stage, run as shared};
use crate::anneal::{Resumable, Split};
use crate::matrix::Opened;
use crate::round::{CancellableRounds, Execution, Program, Rounds, drive};
use field::Problem;
use fit::{Fit, State};
use hard::Hard;
use model::Outcome;

/// A clustering that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "pairwise";
    const FORMAT: u32 = 2;
    type State = State;
}

impl Checkpoint {
    /// The divisions so far, as [`Model::splits`] has them at the end.
    pub fn splits(&self) -> &[Split] {
        &self.state.grown.splits
    }
}

/// Clusters items by their dissimilarities.
///
/// `weights` has a weight for each item. An item of weight 3 counts as three items at dissimilarity 0 from each other.
/// Dissimilarities are used as given, not squared; squares would lead to other temperatures and clusters.
///
/// # Errors
/// Returns the errors of [`Parameters::check`], [`Error::Parameter`] for invalid weights, and [`Error::TooFar`] or
/// [`Error::Memory`] for the matrix. Returns [`Error::Unrelated`] for items without any dissimilarity, and
/// [`Error::Disconnected`] if missing pairs separate the items. Returns [`Error::Stopped`] if the observer requested
/// it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::{Execution, anneal::Silent, pairwise::{Parameters, cluster}};
/// // Two pairs: 1 apart within, 9 between.
/// let matrix = Dissimilarities::new(4, Form::Condensed, Values::F64(vec![1.0, 9.0, 9.0, 9.0, 9.0, 1.0]), 1.0)?;
/// let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
/// let model = cluster(&matrix, None, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels, [0, 0, 1, 1]);
/// assert_eq!(model.cost, 1.0); // in each of two clusters half of 2 times the mean, 1/2, of the four pairs of members
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: some hundred passes over the matrix with N² K multiply-adds each, and as many again for division tests.
/// Memory: the matrix (for a condensed one, a full copy), and some N x K numbers on each rank.
pub fn cluster(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    parameters.check(matrix)?;
    open(matrix, weights, parameters.clone(), None, execution, observer)
}

/// Resumes an interrupted run; the result is bit-identical to an uninterrupted one.
///
/// # Errors
/// Returns [`Error::OtherData`] if matrix and weights are not those of the checkpoint; otherwise, the same errors as
/// [`cluster`].
pub fn resume(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let parameters = checkpoint.parameters().clone();
    parameters.check(matrix)?;
    open(matrix, weights, parameters, Some(checkpoint), execution, observer)
}

fn open(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let mut phases = Phases::new();
    phases.enter("arranging");
    match Opened::new(matrix)? {
        Opened::Double(matrix) => {
            let problem = Problem::new(matrix, weights)?;
            phases.leave();
            run(problem, parameters, checkpoint, execution, observer, phases)
        }
        Opened::Single(matrix) => {
            let problem = Problem::new(matrix, weights)?;
            phases.leave();
            run(problem, parameters, checkpoint, execution, observer, phases)
        }
    }
}

fn run<T: Real>(
    problem: Problem<'_, T>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer,
    phases: Phases,
) -> Result<Model, Error> {
    let state = checkpoint.map(|checkpoint| checkpoint.state_on(problem.fingerprint)).transpose()?;
    let shared = shared::Run::new(problem.fingerprint, parameters, state, observer, phases);
    let run = Run { problem, shared };
    let outcome = drive(execution, run.problem.items(), &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(&run.problem, outcome, &run.shared.parameters))
}

/// The program of a run.
struct Run<'a, 'o, T: Real> {
    problem: Problem<'a, T>,
    shared: shared::Run<'o, Parameters>,
}

impl<T: Real> Program for Run<'_, '_, T> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        let parameters = &self.shared.parameters;
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        shared::begin(rounds, &mut phases, Stage::Annealing.name());
        let mut course = match &self.shared.state {
            Some(state) => Fit::resume(&self.problem, parameters, state.clone()),
            None => {
                let interrupt = self.shared.interrupt(rounds).await?;
                let mut cancellable = CancellableRounds::new(rounds, interrupt.as_ref());
                let begun = Fit::begin(&self.problem, parameters, &mut cancellable).await;
                cancellable.outcome(begun)?
            }
        };
        phases.leave();
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        shared::begin(rounds, &mut phases, Stage::Labelling.name());
        let (labels, count) = course.labels();
        let hard = Hard::new(rounds, &self.problem, labels, count, &mut course.turn).await?;
        phases.leave();
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { state: course.state, hard, spent }))
    }
}
