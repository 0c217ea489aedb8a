//! Deterministic annealing of items that know each other only by their dissimilarities.
//!
//! Hofmann and Buhmann's mean field (1997; paper 003's pairwise clustering): no points, no metric, pairs may be missing. Starts with one component just above the temperature at which the whole becomes
//! unstable, cools, and divides each component when the leading eigenvalue of its own dissimilarities says so. [`cluster`] does it all; [`equilibrium`] is the fixed point
//! at one temperature; [`Model::assign`] gives new items a cluster. On squared Euclidean distances it is vector annealing, figure for figure. `docs/design/pairwise.md`.

mod course;
mod equilibrium;
mod field;
mod hard;
mod model;
mod parameters;
mod stability;
mod system;

use std::path::Path;

use lehr_data::dissimilarities::Dissimilarities;
use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Phases;
use lehr_ranks::trace::Trace;
use serde::{Deserialize, Serialize};

pub use course::Finish;
pub use equilibrium::{Equilibrium, Start, equilibrium};
pub use hard::cost;
pub use model::{Cluster, Model};
pub use parameters::Parameters;

use crate::Error;
use crate::anneal::checkpoint::{read_framed, write_framed};
use crate::anneal::{Control, Observer, Progress, Stage, Step};
use crate::matrix::Opened;
use crate::round::{Execution, LeafCells, Program, Rounds, drive};
use course::{Course, State};
use field::Problem;
use hard::Hard;
use model::Outcome;

/// What a checkpoint says it is of.
const METHOD: &str = "pairwise";

/// A clustering that can be gone on with, on any number of ranks and under any engine, to the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    method: String,
    fingerprint: u64,
    parameters: Parameters,
    state: State,
}

impl Checkpoint {
    /// The parameters of the run.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Writes the checkpoint to `path`, whole or not at all; a file there before is replaced.
    ///
    /// # Errors
    /// [`Error::Data`] if the folder cannot be written to or the disk is full.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_framed(self, path)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, [`Error::CheckpointVersion`] if it is of another format, [`Error::CheckpointDamaged`] if it is none of a pairwise
    /// clustering, was cut, or was changed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read_framed(path, METHOD)
    }
}

/// Clusters items by their dissimilarities.
///
/// `weights` are one an item: a weight of 3 is three items that are 0 apart. Dissimilarities are used as they are given: their squares have other temperatures and other clusters.
///
/// # Errors
/// Those of [`Parameters::check`]; [`Error::Unrelated`] for items without any dissimilarity; [`Error::Stopped`] if the observer said stop (it has the checkpoint then).
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
/// Cost: some hundred readings of the matrix, N² K multiply-adds each, and as many again for division tests. Memory: the matrix (of a condensed one a full copy), and some N x K
/// numbers a rank.
pub fn cluster(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer<Checkpoint>,
) -> Result<Model, Error> {
    parameters.check(matrix)?;
    open(matrix, weights, parameters.clone(), None, execution, observer)
}

/// Goes on with an interrupted run, to the same bits as if it had not been interrupted.
///
/// # Errors
/// [`Error::OtherData`] if matrix and weights are not those of the checkpoint; otherwise as for [`cluster`].
pub fn resume(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer<Checkpoint>,
) -> Result<Model, Error> {
    checkpoint.parameters.check(matrix)?;
    open(matrix, weights, checkpoint.parameters.clone(), Some(checkpoint), execution, observer)
}

fn open(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer<Checkpoint>,
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
    observer: &mut dyn Observer<Checkpoint>,
    phases: Phases,
) -> Result<Model, Error> {
    if let Some(checkpoint) = &checkpoint
        && checkpoint.fingerprint != problem.fingerprint
    {
        return Err(Error::OtherData { checkpoint: checkpoint.fingerprint, data: problem.fingerprint });
    }
    let trace = observer.trace().cloned().unwrap_or_else(Trace::sums_only);
    let mut observer = Some(observer);
    let run = Run {
        parameters,
        state: checkpoint.map(|checkpoint| checkpoint.state),
        phases,
        trace,
        observer: LeafCells::new(1, |_| observer.take().expect("one cell")),
        problem,
    };
    let outcome = drive(execution, run.problem.items(), &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(&run.problem, outcome, &run.parameters))
}

/// A run as the engines see it.
struct Run<'a, 'o, T: Real> {
    problem: Problem<'a, T>,
    parameters: Parameters,
    state: Option<State>,
    /// What was done before the loops began.
    phases: Phases,
    trace: Trace,
    /// One cell; only the lead reaches for it.
    observer: LeafCells<&'o mut dyn Observer<Checkpoint>>,
}

impl<T: Real> Run<'_, '_, T> {
    /// Tells the observer where the course is; true if it wants to stop. On the lead only.
    fn observe(&self, course: &mut Course<'_, '_, T>, checkpoint: &mut Option<Checkpoint>) -> bool {
        let mean = self.problem.matrix.survey.mean;
        let unit = self.problem.matrix.unit;
        let first = Step {
            index: 0,
            temperature: course.state.temperature * unit,
            clusters: 1,
            free_energy: mean / 2.0,
            mean_cost: mean / 2.0,
            information: 0.0,
            softness: 0.0,
            sweeps: 0,
            max_move: 0.0,
            next_critical: course.state.critical_temperature * unit,
        };
        let fraction = course.fraction();
        let progress = Progress {
            stage: course.stage(),
            step: course.state.history.last().unwrap_or(&first),
            fraction,
            sweeps: course.state.sweeps,
        };
        let stop = self.observer.with(0, |observer| observer.progress(&progress)) == Control::Stop;
        let checkpoint = checkpoint.get_or_insert_with(|| Checkpoint {
            method: METHOD.into(),
            fingerprint: self.problem.fingerprint,
            parameters: self.parameters.clone(),
            state: course.state.clone(),
        });
        // The state is lent to the checkpoint for the call, not copied.
        std::mem::swap(&mut checkpoint.state, &mut course.state);
        self.observer.with(0, |observer| observer.checkpoint(checkpoint));
        std::mem::swap(&mut checkpoint.state, &mut course.state);
        stop
    }
}

impl<T: Real> Program for Run<'_, '_, T> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run<R: Rounds>(&self, mut rounds: R) -> Result<Option<Outcome>, Error> {
        let rounds = &mut rounds;
        let is_lead = rounds.is_lead();
        rounds.record(&self.trace).await?;
        let mut phases = Phases::new();
        let begin = |rounds: &mut R, phases: &mut Phases, stage: Stage| {
            rounds.note_phase(stage.name());
            phases.enter(stage.name());
        };
        begin(rounds, &mut phases, Stage::Annealing);
        let mut course = match &self.state {
            Some(state) => Course::resume(&self.problem, &self.parameters, state.clone()),
            None => Course::begin(&self.problem, &self.parameters, rounds).await?,
        };
        phases.leave();
        let mut checkpoint = None;
        while !course.is_done() {
            begin(rounds, &mut phases, course.stage());
            course.advance(rounds).await?;
            phases.leave();
            let stop = is_lead && self.observe(&mut course, &mut checkpoint);
            if rounds.agree(stop).await? {
                return Err(Error::Stopped);
            }
        }
        begin(rounds, &mut phases, Stage::Labelling);
        let (labels, count) = course.labels();
        let hard = Hard::new(rounds, &self.problem, labels, count, &mut course.turn).await?;
        phases.leave();
        let seconds = [self.phases.seconds(), phases.seconds()].concat();
        let timers = rounds.gather_timers(&self.trace, phases).await?;
        if !rounds.is_first_here() {
            return Ok(None);
        }
        let imbalance = rounds.imbalance();
        Ok(Some(Outcome { state: course.state, hard, imbalance, phases: seconds, timers }))
    }
}
