//! Deterministic annealing of vectors: weighted points in any dimension, clustered by their squared distances.
//!
//! Paper 000 section III, paper 004 eq. (1)-(3), `docs/design/annealing.md`. Starts with one centre just above the temperature at which the whole becomes
//! unstable, cools, and divides each centre when its own covariance says so; no starting centres, no restarts. [`cluster`] does it all;
//! [`equilibrium`] is the fixed point at one temperature, for those who want the physics.

pub(crate) mod components;
pub(crate) mod course;
mod e_step;
mod equilibrium;
pub(crate) mod hard;
mod label;
mod m_step;
mod model;
mod parameters;
pub(crate) mod rows;
mod swap;
mod system;

use lehr_data::Points;
use lehr_ranks::timing::Phases;
use lehr_ranks::trace::Trace;

pub use components::Mode;
pub use course::{Finish, Plateau};
pub use equilibrium::{Equilibrium, Start, equilibrium};
pub use model::{Cluster, Model, Suggestion};
pub use parameters::{Parameters, Precision};

use crate::Error;
use crate::anneal::{Checkpoint, Control, Observer, Progress, Stage, Step};
use crate::round::{Execution, LeafCells, Program, Rounds, drive, total_of};
use course::{Course, State};
use e_step::Kept;
use hard::{Centers, Remembered};
use label::{LabelRound, Labelled, SpreadRound};
use model::Outcome;
use rows::Rows;

/// What a checkpoint says it is of.
pub(crate) const METHOD: &str = "vector";

/// Clusters points by deterministic annealing.
///
/// # Errors
/// Those of [`Parameters::check`]; [`Error::TooFar`]; [`Error::Stopped`] if the observer said stop (it has the checkpoint then).
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, anneal::Silent, vector::{Parameters, cluster}};
/// let points = Points::new(vec![0.0, 1.0, 10.0, 11.0], 1)?;
/// let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
/// let model = cluster(&points, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels[0], model.labels[1]);
/// assert_ne!(model.labels[0], model.labels[2]);
/// assert_eq!(model.sum_of_squares, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: some hundred passes over the points, each N x K exponentials at most, far fewer at low temperatures in few dimensions. Then the search by swaps: some K trials to some
/// tens of sweeps each, of which one goes over the leaves near the centres moved in up to 16 dimensions, and over all points beyond; `patience` 0 leaves it out.
/// Memory: the points, and a copy of them in the precision asked for.
pub fn cluster(
    points: &Points,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    parameters.check(points)?;
    dispatch(points, parameters.clone(), None, execution, observer)
}

/// Goes on with an interrupted run, to the same bits as if it had not been interrupted.
///
/// # Errors
/// [`Error::OtherData`] if the points are not those of the checkpoint; otherwise as for [`cluster`].
pub fn resume(
    points: &Points,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let data = points.fingerprint();
    if checkpoint.fingerprint != data {
        return Err(Error::OtherData { checkpoint: checkpoint.fingerprint, data });
    }
    checkpoint.parameters.check(points)?;
    dispatch(points, checkpoint.parameters, Some(checkpoint.state), execution, observer)
}

fn dispatch(
    points: &Points,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    match parameters.precision {
        Precision::F64 => anneal::<f64>(points, parameters, state, execution, observer),
        Precision::F32 => anneal::<f32>(points, parameters, state, execution, observer),
    }
}

fn anneal<T: Kept>(
    points: &Points,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let mut phases = Phases::new();
    phases.enter("arranging");
    let rows = Rows::<T>::new(points)?;
    phases.leave();
    let trace = observer.trace().cloned().unwrap_or_else(Trace::sums_only);
    let mut observer = Some(observer);
    let run = Run {
        points,
        fingerprint: points.fingerprint(),
        memory: LeafCells::new(rows.leaves.len(), |_| Remembered::default()),
        labelled: LeafCells::new(rows.leaves.len(), |_| Labelled::default()),
        rows,
        parameters,
        state,
        phases,
        trace,
        observer: LeafCells::new(1, |_| observer.take().expect("one cell")),
    };
    let outcome = drive(execution, run.rows.count, &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(points, &run.rows, outcome, run.labelled.into_values(), &run.parameters))
}

/// A run as the engines see it.
struct Run<'a, 'o, T: Kept> {
    points: &'a Points,
    fingerprint: u64,
    rows: Rows<T>,
    parameters: Parameters,
    state: Option<State>,
    memory: LeafCells<Remembered>,
    labelled: LeafCells<Labelled>,
    /// What was done before the loops began.
    phases: Phases,
    trace: Trace,
    /// One cell; only the lead reaches for it.
    observer: LeafCells<&'o mut dyn Observer>,
}

impl<T: Kept> Run<'_, '_, T> {
    /// Tells the observer where the course is; true if it wants to stop. On the lead only.
    fn observe(&self, course: &mut Course<'_, T>, checkpoint: &mut Option<Checkpoint>) -> bool {
        let first = Step {
            index: 0,
            temperature: self.rows.squared(course.state.temperature),
            clusters: 1,
            free_energy: self.rows.squared(self.rows.square / self.rows.total_weight),
            mean_cost: self.rows.squared(self.rows.square / self.rows.total_weight),
            information: 0.0,
            softness: 0.0,
            sweeps: 0,
            max_move: 0.0,
            next_critical: self.rows.squared(course.state.critical_temperature),
        };
        let fraction = course.fraction();
        let progress = Progress {
            stage: course.stage(),
            step: course.state.history.last().unwrap_or(&first),
            fraction,
            sweeps: course.state.sweeps,
        };
        let stop = self.observer.with(0, |observer| observer.progress(&progress)) == Control::Stop;
        // At the last step too: whoever says stop is handed one.
        let checkpoint = checkpoint.get_or_insert_with(|| Checkpoint {
            method: METHOD.into(),
            fingerprint: self.fingerprint,
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

impl<T: Kept> Program for Run<'_, '_, T> {
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
            Some(state) => Course::resume(&self.rows, &self.parameters, &self.memory, state.clone()),
            None => Course::begin(&self.rows, &self.parameters, &self.memory, rounds).await?,
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
        let mut centers = course.centers();
        let mut sums = Vec::new();
        let label = LabelRound {
            points: self.points,
            rows: &self.rows,
            centers: &centers,
            temperature: course.state.last_soft_temperature.max(f64::MIN_POSITIVE),
            cells: &self.labelled,
        };
        total_of(rounds, &label, &mut sums).await?;
        exact_means(&mut centers, &sums);
        let mut spreads = Vec::new();
        let spread = SpreadRound { points: self.points, rows: &self.rows, centers: &centers, cells: &self.labelled };
        total_of(rounds, &spread, &mut spreads).await?;
        rounds.share(&self.labelled, Labelled::write, Labelled::read).await?;
        phases.leave();
        let seconds = [self.phases.seconds(), phases.seconds()].concat();
        let timers = rounds.gather_timers(&self.trace, phases).await?;
        if !rounds.is_first_here() {
            return Ok(None);
        }
        let imbalance = rounds.imbalance();
        Ok(Some(Outcome { state: course.state, centers, sums, spreads, imbalance, phases: seconds, timers }))
    }
}

/// Moves each centre to the mean of its rows, from their sums in double precision.
fn exact_means(centers: &mut Centers, sums: &[f64]) {
    let dimension = centers.dimension;
    for (y, sums) in centers.values.chunks_exact_mut(dimension).zip(sums.chunks_exact(1 + dimension)) {
        if sums[0] > 0.0 {
            for (y, sum) in y.iter_mut().zip(&sums[1..]) {
                *y = sum / sums[0];
            }
        }
    }
}
