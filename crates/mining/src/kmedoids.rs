//! k-medoids: clusters items around K of the items themselves, so that you can inspect each cluster's central item.
//!
//! Sources: Kaufman and Rousseeuw 1990 for PAM (BUILD, then swaps); Schubert and Rousseeuw 2021 for FasterPAM.
//! FasterPAM reads a candidate's dissimilarities once to compute the change of the cost for all medoids, and makes
//! several swaps in a pass. A pass evaluates the candidates of all blocks of items in parallel. Then it tries the best
//! candidate of each block in turn, and makes the swap if it still lowers the cost. So a pass is an ordinary round, and
//! its result is the same on any layout.

mod fit;
mod model;
mod parameters;
mod swap;

use lehr_data::dissimilarities::Dissimilarities;
use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Phases;

pub use fit::State;
pub use model::{Cluster, Model};
pub use parameters::Parameters;

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, run as shared};
use crate::matrix::{Matrix, Opened, item_weights};
use crate::round::{Execution, LeafCells, Partition, Program, Rounds, drive};
use fit::Fit;
use model::Outcome;
use swap::{Problem, Sides};

/// A clustering that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "kmedoids";
    const FORMAT: u32 = 1;
    type State = State;
}

/// Clusters items around medoids, so that the weighted sum of dissimilarities to the nearest medoid is small. If the
/// run converges ([`Model::is_converged`]), no swap of a medoid for another item lowers this sum. It may end earlier,
/// at [`Parameters::max_passes`].
///
/// Items of weight 0 cannot be medoids and have no influence, but they get labels.
///
/// # Errors
/// Returns the errors of [`Parameters::check`], and [`Error::Parameter`] for invalid weights. Returns
/// [`Error::Incomplete`] if a pair has no dissimilarity, [`Error::TooFar`] for too large values, and [`Error::Memory`].
/// Returns [`Error::Stopped`] if the observer requested it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::{Execution, anneal::Silent, kmedoids::{Parameters, cluster}};
/// // 0, 1, 2 and 10, 11, 12 on a line.
/// let at = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0f64];
/// let pairs = (0..6).flat_map(|i| (i + 1..6).map(move |j| at[j] - at[i])).collect();
/// let matrix = Dissimilarities::new(6, Form::Condensed, Values::F64(pairs), 1.0)?;
/// let parameters = Parameters { clusters: 2, ..Parameters::default() };
/// let model = cluster(&matrix, None, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.clusters.iter().map(|cluster| cluster.medoid).collect::<Vec<_>>(), [1, 4]);
/// assert_eq!((model.labels, model.cost), (vec![0, 0, 0, 1, 1, 1], 4.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: K passes over the matrix for the start, then more passes until no swap lowers the cost. Each takes N²
/// operations. Memory: the matrix (for a condensed one, a full copy), and on each rank some numbers for each item.
pub fn cluster(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
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
    open(matrix, weights, parameters, Some(checkpoint), execution, observer)
}

fn open(
    from: &Dissimilarities,
    weights: Option<&[f64]>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    parameters.check(from, weights)?;
    match Opened::new(from)? {
        Opened::Double(matrix) => run(matrix, weights, parameters, checkpoint, execution, observer),
        Opened::Single(matrix) => run(matrix, weights, parameters, checkpoint, execution, observer),
    }
}

fn run<T: Real>(
    matrix: Matrix<'_, T>,
    weights: Option<&[f64]>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    if matrix.has_gaps() {
        return Err(Error::Incomplete { pairs: matrix.survey.gaps });
    }
    let fingerprint = matrix.fingerprint_with(weights);
    let state = checkpoint.map(|checkpoint| checkpoint.state_on(fingerprint)).transpose()?;
    let (scaled, weight_unit) = item_weights(weights, matrix.items)?;
    let items = matrix.items;
    let run = Run {
        problem: Problem { matrix, weights: scaled, weight_unit },
        best: LeafCells::new(Partition::new(items, 1).leaves(), |_| [None, None]),
        shared: shared::Run::new(fingerprint, parameters, state, observer, Phases::new()),
    };
    let outcome = drive(execution, items, &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(&run.problem, outcome, &run.shared.parameters))
}

/// The program of a run.
struct Run<'a, 'o, T: Real> {
    problem: Problem<'a, T>,
    best: LeafCells<Sides>,
    shared: shared::Run<'o, Parameters>,
}

impl<T: Real> Program for Run<'_, '_, T> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        let state = self.shared.state.clone().unwrap_or_default();
        let mut course = Fit::new(&self.problem, &self.shared.parameters, &self.best, state);
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { state: course.state, assigned: course.assigned, spent }))
    }
}
