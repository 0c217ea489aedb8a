//! Mixtures of Gaussians, which model rows as draws from a few components. Each component has a weight, a mean and a
//! covariance.
//!
//! Paper 004, section 7, lists mixtures among the applications of annealing. `docs/design/mixture.md` compares several
//! ways to anneal mixtures, and this module uses the best way. First, deterministic annealing ([`crate::vector`]) finds
//! clusters, and does not depend on a lucky start. Then EM starts from the clusters' covariances, and climbs to a local
//! maximum of the likelihood. Rows may have missing cells ([`Input`]). [`fit`] runs the whole method. [`equilibrium`]
//! runs EM at one temperature from a given start. [`critical_temperature`] finds the temperature below which one
//! component splits into two.

mod criteria;
mod critical;
mod density;
mod e_step;
mod equilibrium;
mod fit;
mod gaussians;
mod information;
mod m_step;
mod model;
mod parameters;
mod pattern_e_step;
mod patterns;
mod seen;
mod single;
mod table;

use lehr_ranks::timing::Phases;

pub use criteria::{Candidate, Criteria};
pub use critical::{Critical, critical_temperature};
pub use density::{Mixture, Posterior};
pub use equilibrium::{Equilibrium, Start, equilibrium};
pub use model::Model;
pub use parameters::{Covariance, Parameters};

pub use crate::input::Input;

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, Stage, run as shared};
use crate::lloyd::Remembered;
use crate::memory::Need;
use crate::round::{Execution, LeafCells, Program, Rounds, drive};
use crate::vector;
use e_step::Assigned;
pub(crate) use e_step::likeliest;
pub(crate) use fit::left_to_gain;
use fit::{Columns, Fit, Problem, State, assign};
use model::Outcome;
use table::Table;

/// The checkpoint of a fit. The fit can be resumed on any number of ranks and with any engine, with bit-identical
/// results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "mixture";
    const FORMAT: u32 = 2;
    type State = State;
}

/// Fits a mixture of Gaussians.
///
/// # Errors
/// Returns the errors of [`Parameters::check`]. Returns [`Error::Constant`] or [`Error::Unobserved`] if columns do not
/// vary or have no values. Returns [`Error::TooFar`] or [`Error::TooNear`] if squared distances would overflow or
/// variances would underflow. Returns [`Error::Memory`] if the components need more memory than is free. Returns
/// [`Error::Data`] for invalid weights given with [`Input::with_weights`]. Returns [`Error::Collapsed`] if a covariance
/// is no longer positive definite. This can happen without regularisation, or if columns depend almost exactly on each
/// other. Returns [`Error::Stopped`] if the observer stopped the fit; the observer receives the checkpoint before.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, anneal::Silent, mixture::{Covariance, Parameters, fit}};
/// let points = Points::new(vec![0.0, 1.0, 2.0, 10.0, 12.0, 14.0], 1)?;
/// let parameters = Parameters { components: Some(2), covariance: Covariance::Spherical, regularisation: 0.0, ..Parameters::default() };
/// let model = fit(&points, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels[..3], [model.labels[0]; 3]);
/// let of_first = model.labels[0] as usize;
/// assert!((model.mixture.mean(of_first)[0] - 1.0).abs() < 1e-3);
/// assert!((model.mixture.covariance(of_first)[0] - 2.0 / 3.0).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: for each number of components that is tried, an annealed clustering ([`vector::cluster`]) and tens to hundreds
/// of passes of EM. A pass takes N x K x D (spherical, diagonal) or N x K x D² (tied, full) multiply-adds, and N x K
/// exponentials. If cells are missing, tied and full covariances also cost K x D³ for each pattern of missing cells in
/// a leaf. Memory: the rows and one copy of the rows, or three copies if cells are missing. If the points are in a file
/// ([`Points::spilled`](lehr_data::Points::spilled)), the copy is in another file in the same folder.
pub fn fit<'a>(
    input: impl Into<Input<'a>>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let input = input.into();
    parameters.check(input)?;
    run(input, parameters.clone(), None, execution, observer)
}

/// Resumes an interrupted fit. The result is bit-identical to that of an uninterrupted fit.
///
/// # Errors
/// Returns [`Error::OtherData`] if the checkpoint was written for other rows, and the errors of [`fit`].
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
    run(input, parameters, Some(state), execution, observer)
}

fn run(
    input: Input<'_>,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let ranks = execution.ranks.min(input.len());
    let mut phases = Phases::new();
    let groups = match input.points() {
        Some(points) if parameters.is_open() => {
            phases.enter("choosing");
            let groups = vector::groups(&points, parameters.seed, execution, observer)?;
            phases.leave();
            Some(groups)
        }
        _ => None,
    };
    let found = groups.as_ref().map(|number| number.clusters);
    let most = parameters.candidates(input.len(), found).into_iter().max().unwrap_or(1);
    if matches!(parameters.covariance, Covariance::Full | Covariance::Tied) {
        let matrices = if parameters.covariance == Covariance::Full { most } else { 1 };
        Need::of_covariances(matrices, input.dimension(), ranks).check()?;
    }
    Need::of_annealing(most, input.dimension(), ranks, false).check()?;
    phases.enter("arranging");
    let table = Table::for_clusters(input, parameters.regularisation, execution)?;
    let (rows, columns) = (&table.rows, Columns::new(&table, parameters.covariance, parameters.regularisation)?);
    phases.leave();
    let clusterings: Vec<vector::Parameters> = parameters
        .candidates(rows.count, found)
        .into_iter()
        .map(|clusters| vector::Parameters {
            clusters: Some(clusters),
            cooling: parameters.cooling,
            seed: parameters.seed,
            ..vector::Parameters::default()
        })
        .collect();
    let leaves = rows.leaves.len();
    let run = Run {
        problem: Problem {
            table: &table,
            parameters: &parameters,
            columns,
            memories: clusterings.iter().map(|_| LeafCells::new(leaves, |_| Remembered::default())).collect(),
            clusterings,
            cells: LeafCells::new(leaves, |_| Assigned::default()),
        },
        shared: shared::Run::new(input.fingerprint(), parameters.clone(), state, observer, phases),
    };
    let outcome = drive(execution, rows.dealt, &run)?.expect("the first loop of a process brings the outcome");
    let Problem { columns, cells, .. } = run.problem;
    let model = Model::new(&table, outcome, cells.into_values(), &parameters, &columns.clouds);
    Ok(Model { groups, ..model })
}

/// The program that each rank runs to fit a mixture.
struct Run<'a, 'o> {
    problem: Problem<'a>,
    shared: shared::Run<'o, Parameters>,
}

impl Program for Run<'_, '_> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        let mut course = Fit::new(&self.problem, self.shared.state.clone());
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        shared::begin(rounds, &mut phases, Stage::Labelling.name());
        // The labels in `cells` are those of the last candidate, but an earlier candidate may be the best.
        let best = course.state.best.as_ref().expect("a number of components was tried");
        assign(rounds, self.problem.table, &best.gaussians, &self.problem.cells).await?;
        rounds.share(&self.problem.cells, Assigned::write, Assigned::read).await?;
        phases.leave();
        course.state.sweeps += 1;
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { state: course.state, spent }))
    }
}
