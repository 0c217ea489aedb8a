//! Multidimensional scaling by majorisation: places items in few dimensions so that distances reproduce
//! dissimilarities.
//!
//! The method is SMACOF (de Leeuw 1977; paper 003's MDS) with weights, missing pairs, fixed items, and annealed targets
//! (DA-SMACOF). [`embed`] makes a map, [`interpolate`] places new items on a map, and [`align`] aligns one map with
//! another. [`Shepard`] and [`Map::item_stress`] show where a map can be trusted. Each iteration reads the matrix once,
//! in the compact form in which it is stored. See `docs/design/smacof.md`.

mod align;
mod classical;
mod fit;
mod interpolate;
mod map;
mod parameters;
mod problem;
mod shepard;
mod solve;

use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Phases;

pub use align::{Alignment, align};
pub use fit::{Iteration, Stop};
pub use interpolate::{Interpolation, Placed, interpolate};
pub use map::Map;
pub use parameters::{Input, Parameters, Start, Weighting};
pub use shepard::Shepard;

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, run as shared};
use crate::matrix::Opened;
use crate::round::{CancellableRounds, Execution, Program, Rounds, drive};
use fit::{Fit, State};
use map::Outcome;
use problem::{Problem, pass};

/// An embedding that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "smacof";
    const FORMAT: u32 = 1;
    type State = State;
}

/// Places items so that their distances approximate their dissimilarities.
///
/// Minimises the stress `sum over pairs of w (d - delta)^2`, which no iteration raises. Source: de Leeuw 1977.
///
/// # Errors
/// Returns the errors of [`Parameters::check`], [`Error::Parameter`] for invalid weights, and [`Error::TooFar`] or
/// [`Error::Memory`] for the matrix. Returns [`Error::Unrelated`] for items without any pair, and
/// [`Error::Disconnected`] if missing pairs separate the items. Returns [`Error::Stopped`] if the observer requested
/// it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::{Execution, anneal::Silent, smacof::{Input, Parameters, embed}};
/// // The corners of a square of side 3: sides, and diagonals.
/// let diagonal = 18f64.sqrt();
/// let pairs = vec![3.0, diagonal, 3.0, 3.0, diagonal, 3.0];
/// let matrix = Dissimilarities::new(4, Form::Condensed, Values::F64(pairs), 1.0)?;
/// let map = embed(&Input::new(&matrix), &Parameters::default(), &Execution::default(), &mut Silent)?;
/// assert!(map.stress < 1e-12);
/// let [a, b] = [map.position(0), map.position(1)];
/// assert!(((a[0] - b[0]).hypot(a[1] - b[1]) - 3.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: an iteration reads the matrix once, with N² (5 dimension + 20) operations; weights of pairs and missing pairs
/// add a few passes. There are tens to hundreds of iterations. Memory: the matrix (for a condensed one, a full copy),
/// and some N x dimension numbers on each rank.
pub fn embed(
    input: &Input<'_>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Map, Error> {
    parameters.check(input)?;
    open(input, parameters.clone(), None, execution, observer)
}

/// Resumes an interrupted embedding; the result is bit-identical to an uninterrupted one.
///
/// # Errors
/// Returns [`Error::OtherData`] if the checkpoint was written for another input; otherwise, the same errors as
/// [`embed`].
pub fn resume(
    input: &Input<'_>,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Map, Error> {
    let parameters = checkpoint.parameters().clone();
    parameters.check(input)?;
    open(input, parameters, Some(checkpoint), execution, observer)
}

fn open(
    input: &Input<'_>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Map, Error> {
    let mut phases = Phases::new();
    phases.enter("arranging");
    let opened = Opened::new(input.dissimilarities)?;
    match opened {
        Opened::Double(matrix) => {
            let problem = Problem::new(matrix, input, &parameters)?;
            phases.leave();
            run(problem, parameters, checkpoint, execution, observer, phases)
        }
        Opened::Single(matrix) => {
            let problem = Problem::new(matrix, input, &parameters)?;
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
) -> Result<Map, Error> {
    let state = checkpoint.map(|checkpoint| checkpoint.state_on(problem.fingerprint)).transpose()?;
    let shared = shared::Run::new(problem.fingerprint, parameters, state, observer, phases);
    let run = Run { problem, shared };
    let outcome = drive(execution, run.problem.items(), &run)?.expect("the first loop of a process brings the outcome");
    Ok(Map::new(&run.problem, outcome))
}

/// The program of an embedding.
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
        shared::begin(rounds, &mut phases, "starting");
        let mut course = match &self.shared.state {
            Some(state) => Fit::resume(&self.problem, parameters, rounds, state.clone()).await?,
            None => {
                let interrupt = self.shared.interrupt(rounds).await?;
                let mut cancellable = CancellableRounds::new(rounds, interrupt.as_ref());
                let begun = Fit::begin(&self.problem, parameters, &mut cancellable).await;
                cancellable.outcome(begun)?
            }
        };
        phases.leave();
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        shared::begin(rounds, &mut phases, "measuring");
        let (mut rows, mut turn) = (Vec::new(), course.turn);
        let positions = &course.state.best.as_ref().expect("a start was finished").positions;
        let passed = pass(rounds, &self.problem, positions, 0.0, &mut turn, &mut rows).await?;
        phases.leave();
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| {
            let degrees = course.degrees().to_vec();
            Outcome { state: course.state, passed, rows, degrees, spent }
        }))
    }
}
