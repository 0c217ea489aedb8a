//! Clusters weighted points by k-means. K-means++ draws the initial centres, and Lloyd's algorithm iterates to a fixed
//! point. Of several starts, the start with the lowest sum of squares is kept.
//!
//! K-means is the baseline for annealing ([`vector::cluster`](crate::vector::cluster)). For a fair comparison, both use
//! the same rows, ranks and kernels. The initial centres are drawn as in Arthur and Vassilvitskii, "k-means++: the
//! advantages of careful seeding" (2007). As the authors recommend, several candidates are drawn for each centre. The
//! iteration follows Lloyd, "Least squares quantization in PCM" (1982).

mod fit;
mod model;
mod parameters;
mod positions;
mod seeding;

use lehr_ranks::timing::Phases;

pub use model::Model;
pub use parameters::{Parameters, Sweeps};

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, Stage, run as shared};
use crate::lloyd::{Labelled, Remembered, label_all};
use crate::memory::Need;
use crate::round::{Execution, LeafCells, Program, Rounds, drive};
use crate::rows::{Input, Packed, Precision, Rows, Scalar, Span, Storage, UsedColumns};
use crate::vector::Cost;
use fit::{Fit, State};
use model::Outcome;
use seeding::Near;

/// The saved state of a run. The run can be resumed on any number of ranks and with any engine; the result is always
/// bit-identical.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "kmeans";
    const FORMAT: u32 = 3;
    type State = State;
}

/// Clusters points by k-means.
///
/// # Errors
/// Returns the errors of [`Parameters::check`]. Returns [`Error::Parameter`] if a given centre is more than about 1e9
/// times as far from the points as the points are from each other. Returns [`Error::TooFar`] if squared distances would
/// overflow, and [`Error::Memory`] if the centres need more memory than is free. Returns [`Error::Stopped`] if the
/// observer requests a stop; the observer gets the checkpoint first.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, anneal::Silent, kmeans::{Parameters, cluster}};
/// let points = Points::new(vec![0.0, 1.0, 10.0, 11.0], 1)?;
/// let model = cluster(&points, &Parameters { clusters: 2, ..Parameters::default() }, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels[0], model.labels[1]);
/// assert_ne!(model.labels[0], model.labels[2]);
/// assert_eq!(model.sum_of_squares, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: to draw its centres, a start makes K x (2 + ln K) passes of N x D operations each. Each iteration then takes
/// at most N x K x D operations. In up to 16 dimensions, iterations take far fewer operations once most centres stop
/// moving. Memory: the points and a copy of them in the requested precision. If the points are in a file, the copy is
/// in a file too.
pub fn cluster<'a>(
    input: impl Into<Input<'a>>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let input = input.into();
    parameters.check(input)?;
    dispatch(input, parameters.clone(), None, execution, observer)
}

/// Resumes an interrupted run. The result is bit-identical to the result of an uninterrupted run.
///
/// # Errors
/// Returns [`Error::OtherData`] if the checkpoint belongs to other points, and the errors of [`cluster`].
pub fn resume<'a>(
    input: impl Into<Input<'a>>,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let (input, parameters) = (input.into(), checkpoint.parameters().clone());
    let state = checkpoint.state_on(input.fingerprint())?;
    parameters.check(input)?;
    dispatch(input, parameters, Some(state), execution, observer)
}

fn dispatch(
    input: Input<'_>,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    // A checkpoint stores the fingerprint of the original rows, so compute it before the rows are converted.
    let (fingerprint, packed) = (input.fingerprint(), Packed::of(input));
    let input = packed.as_ref().map_or(input, Packed::input);
    // Centres that the user gave may have values in unused columns, and may lie outside the span of the rows. In this
    // case, neither the columns nor the dimensions are reduced.
    let used = if parameters.centers.is_none() { UsedColumns::of(input) } else { None };
    let input = used.as_ref().map_or(input, |used| Input::Sparse(&used.rows));
    let span = if parameters.centers.is_none() { Span::of(input, execution.threads)? } else { None };
    let input = span.as_ref().map_or(input, |span| Input::Numbers(&span.rows));
    let is_sparse = Storage::of(input, true) == Storage::Sparse;
    Need::of_kmeans(parameters.clusters, input.dimension(), execution.ranks.min(input.len()), is_sparse).check()?;
    let mut model = match parameters.precision {
        Precision::F64 => run::<f64>(input, fingerprint, parameters, state, execution, observer),
        #[cfg(not(target_family = "wasm"))]
        Precision::F32 => run::<f32>(input, fingerprint, parameters, state, execution, observer),
        #[cfg(target_family = "wasm")]
        Precision::F32 => Err(Precision::not_in_a_browser()),
    }?;
    if let Some(span) = span {
        (model.centers, model.dimension) = (span.widened(&model.centers), span.dimension());
    }
    if let Some(used) = used {
        (model.centers, model.dimension) = (used.widened(&model.centers), used.dimension());
    }
    Ok(model)
}

fn run<T: Scalar>(
    input: Input<'_>,
    fingerprint: u64,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let mut phases = Phases::new();
    phases.enter("arranging");
    let rows = Rows::<T>::on_threads(input, Cost::Squared, execution.threads)?;
    phases.leave();
    let run = Run {
        input,
        memory: LeafCells::new(rows.leaves.len(), |_| Remembered::default()),
        near: LeafCells::new(rows.leaves.len(), |_| Near::default()),
        labelled: LeafCells::new(rows.leaves.len(), |_| Labelled::default()),
        rows,
        shared: shared::Run::new(fingerprint, parameters, state, observer, phases),
    };
    let outcome = drive(execution, run.rows.dealt, &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(input, &run.rows, outcome, run.labelled.into_values(), &run.shared.parameters))
}

/// The k-means program that every rank runs.
struct Run<'a, 'o, T: Scalar> {
    input: Input<'a>,
    rows: Rows<T>,
    memory: LeafCells<Remembered>,
    near: LeafCells<Near<T>>,
    labelled: LeafCells<Labelled>,
    shared: shared::Run<'o, Parameters>,
}

impl<T: Scalar> Program for Run<'_, '_, T> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        let state = self.shared.state.clone().unwrap_or_default();
        let mut course = Fit::new(self.input, &self.rows, &self.shared.parameters, &self.memory, &self.near, state);
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        shared::begin(rounds, &mut phases, Stage::Labelling.name());
        let totals =
            label_all(rounds, self.input, &self.rows, course.centers(), course.last_move(), None, &self.labelled)
                .await?;
        phases.leave();
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { state: course.state, totals, spent }))
    }
}
