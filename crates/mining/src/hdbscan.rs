//! Density-based clustering with noise (HDBSCAN*; Campello, Moulavi and Sander 2013).
//!
//! | file | subject |
//! | --- | --- |
//! | `core.rs` | the core distance of each item: how far its `min_samples` nearest items reach |
//! | `spanning.rs` | the minimum spanning tree of mutual reachability |
//! | `condensed.rs` | the tree of clusters that appear and disappear as the density rises |
//! | `selection.rs` | the clusters that are chosen from this tree, and the labels, probabilities and scores of items |
//!
//! Two items are mutually reachable at the largest of their dissimilarity and their core distances. At each such distance
//! d, items that are connected by pairs within d form groups. A group of at least `min_cluster_size` items is a cluster at
//! the density 1 / d. All pairs at the same distance are added at once, as the definition says. So the order of the items
//! does not change the clusters.
//!
//! All ranks compute core distances. The lead makes the tree alone, because each of its steps depends on the last. So the
//! result is the same on any layout.

mod condensed;
mod core;
mod fit;
mod model;
mod parameters;
mod selection;
mod spanning;

use lehr_data::dissimilarities::Dissimilarities;
use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Phases;

pub use fit::State;
pub use model::{Cluster, Model, Split};
pub use parameters::{Parameters, Selection};

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, run as shared};
use crate::matrix::{Matrix, Opened, positive_weights};
use crate::round::{Execution, LeafCells, Partition, Program, Rounds, drive};
use fit::{Edges, Fit};
use model::Outcome;

/// A run that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "hdbscan";
    const FORMAT: u32 = 1;
    type State = State;
}

/// Finds dense groups of items by their dissimilarities. Items in no group are noise, with the label
/// [`OUTLIER`](crate::vector::OUTLIER).
///
/// An item of weight 3 counts as three equal items of weight 1. The sizes in the parameters are in items of average
/// weight, so weights times a constant give the same clusters.
///
/// # Errors
/// Returns the errors of [`Parameters::check`]. Returns [`Error::Parameter`] for invalid weights, which must be above 0, and
/// if `min_samples` exceeds the number of items. Returns [`Error::Incomplete`] if a pair has no dissimilarity, [`Error::TooFar`] for too large values, and [`Error::Memory`].
/// Returns [`Error::Stopped`] if the observer requested it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::vector::OUTLIER;
/// use lehr_mining::{Execution, anneal::Silent, hdbscan::{Parameters, cluster}};
/// // Two groups of three on a line, and an item far from both.
/// let at = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 50.0f64];
/// let pairs = (0..7).flat_map(|i| (i + 1..7).map(move |j| at[j] - at[i])).collect();
/// let matrix = Dissimilarities::new(7, Form::Condensed, Values::F64(pairs), 1.0)?;
/// let parameters = Parameters { min_cluster_size: 3, min_samples: Some(2), ..Parameters::default() };
/// let model = cluster(&matrix, None, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels, [0, 0, 0, 1, 1, 1, OUTLIER]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: O(N²) operations on all threads for core distances, and O(N²) on one thread for the tree. Memory: in addition to
/// the matrix (for a condensed one, a full copy), some numbers for each item.
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
    parameters.check()?;
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
    // An item without weight would belong to no group and to no noise.
    positive_weights(weights, matrix.items)?;
    let weights = weights.map_or_else(|| vec![1.0; matrix.items], <[f64]>::to_vec);
    let items = matrix.items;
    if parameters.samples() > items {
        let found = format!("{} for {items}", parameters.samples());
        return Err(Error::Parameter { name: "min_samples", expected: "at most the number of items", found });
    }
    let leaves = Partition::new(items, 1).leaves();
    let run = Run {
        problem: Problem { matrix, weights },
        core: LeafCells::new(leaves, |_| Vec::new()),
        edges: LeafCells::new(leaves, |_| Edges::default()),
        shared: shared::Run::new(fingerprint, parameters, state, observer, Phases::new()),
    };
    let outcome = drive(execution, items, &run)?.expect("the first loop of a process brings the outcome");
    Ok(Model::new(&run.problem, outcome))
}

/// The items and their weights.
struct Problem<'a, T: Real> {
    matrix: Matrix<'a, T>,
    weights: Vec<f64>,
}

impl<T: Real> Problem<'_, T> {
    /// Returns the weight of this many items of average weight. Sums of weights that are smaller only by rounding reach
    /// it too.
    fn weight_of(&self, items: usize) -> f64 {
        let average = self.weights.iter().sum::<f64>() / self.weights.len() as f64;
        items as f64 * average * (1.0 - ROUNDING)
    }
}

/// The largest relative rounding error of a sum of weights that is taken for rounding.
const ROUNDING: f64 = 1e-9;

/// The program of a run.
struct Run<'a, 'o, T: Real> {
    problem: Problem<'a, T>,
    /// The core distances of the items of each leaf.
    core: LeafCells<Vec<f64>>,
    /// The spanning tree, which the lead makes and shares.
    edges: LeafCells<Edges>,
    shared: shared::Run<'o, Parameters>,
}

impl<T: Real> Program for Run<'_, '_, T> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        let state = self.shared.state.clone().unwrap_or_default();
        let is_lead = rounds.is_lead();
        let mut course = Fit::new(&self.problem, &self.shared.parameters, &self.core, &self.edges, state, is_lead);
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        let found = course.found();
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { found, spent }))
    }
}
