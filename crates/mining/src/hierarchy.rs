//! Agglomerative clustering: joins the two closest clusters again and again, until one tree holds all items.
//!
//! The distances of a joined cluster are those of Lance and Williams 1967. The nearest-neighbour chain, which finds all
//! joins in O(N²) operations, is that of Murtagh 1983. The silhouettes that choose the number of clusters are those of
//! Rousseeuw 1987.
//!
//! A chain goes from a cluster to its nearest, from there to the nearest of that one, and so on. It ends at two clusters
//! that are nearest to each other, which are joined. For the linkages here, a join brings no other clusters closer
//! together. So the rest of the chain stays valid, and the joins in order of height are those of the greedy method.
//!
//! The lead makes the tree alone, because the chain is sequential. All ranks then compute the silhouettes. So the result
//! is the same on any layout.

mod cut;
mod fit;
mod joining;
mod model;
mod parameters;
mod silhouettes;

use lehr_data::dissimilarities::Dissimilarities;
use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Phases;

pub use fit::State;
pub use model::{Candidate, Cluster, Join, Model, newick};
pub use parameters::{Linkage, Parameters};

use crate::Error;
use crate::anneal::Resumable;
use crate::anneal::{Observer, run as shared};
use crate::matrix::{Matrix, Opened, positive_weights};
use crate::memory::Need;
use crate::round::{Execution, LeafCells, Partition, Program, Rounds, drive};
use fit::{Fit, Kept};
use model::Outcome;
use silhouettes::Means;

/// A run that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "hierarchy";
    const FORMAT: u32 = 2;
    type State = State;
}

/// Joins items into a tree by their dissimilarities, and cuts the tree into clusters.
///
/// Without [`Parameters::clusters`] and [`Parameters::height`], the number of clusters is the one with the largest mean
/// silhouette ([`Candidate::silhouette`]). In the tree, an item of weight 3 counts as three items
/// that were joined at height 0.
///
/// # Errors
/// Returns the errors of [`Parameters::check`], and [`Error::Parameter`] for invalid weights, which must be above 0. Returns [`Error::Incomplete`] if a pair has no dissimilarity, [`Error::TooFar`] for too large values, and [`Error::Memory`].
/// Returns [`Error::Stopped`] if the observer requested it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::{Execution, anneal::Silent, hierarchy::{Parameters, cluster}};
/// // 0, 1, 3 and 10, 11 on a line.
/// let at = [0.0, 1.0, 3.0, 10.0, 11.0f64];
/// let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| at[j] - at[i])).collect();
/// let matrix = Dissimilarities::new(5, Form::Condensed, Values::F64(pairs), 1.0)?;
/// let model = cluster(&matrix, None, &Parameters::default(), &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels, [0, 0, 0, 1, 1]);
/// let heights: Vec<f64> = model.joins.iter().map(|join| join.height).collect();
/// assert_eq!(heights, [1.0, 1.0, 2.5, 55.0 / 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: O(N²) operations on one thread for the tree, and two passes over the matrix on all threads. Memory: in
/// addition to the matrix, a full copy in the lead's process while the tree grows.
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
    parameters.check(from)?;
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
    Need::of_pairs(matrix.items, size_of::<T>()).check()?;
    let fingerprint = matrix.fingerprint_with(weights);
    let state = checkpoint.map(|checkpoint| checkpoint.state_on(fingerprint)).transpose()?;
    // An item without weight would still be a part of the tree, and could be a cluster of its own.
    let (scaled, weight_unit) = positive_weights(weights, matrix.items)?;
    let items = matrix.items;
    let leaves = Partition::new(items, 1).leaves();
    let run = Run {
        problem: Problem { matrix, weights: scaled, weight_unit },
        kept: LeafCells::new(leaves, |_| Kept::default()),
        means: LeafCells::new(leaves, |_| Vec::new()),
        shared: shared::Run::new(fingerprint, parameters, state, observer, Phases::new()),
    };
    let outcome = drive(execution, items, &run)?.expect("the first loop of a process brings the outcome");
    let means = run.means.into_values().flatten().collect();
    Ok(Model::new(&run.problem, outcome, means, &run.shared.parameters))
}

/// The items and their weights.
struct Problem<'a, T: Real> {
    matrix: Matrix<'a, T>,
    /// The weights, scaled to about 1.
    weights: Vec<f64>,
    /// The unit in which weights are stored.
    weight_unit: f64,
}

impl<T: Real> Problem<'_, T> {
    /// Rounds a height as the matrix rounds its numbers, so that a pair at this height is not above it.
    fn rounded(&self, height: f64) -> f64 {
        (T::from_f64(height / self.matrix.unit).to_f64() * self.matrix.unit).max(height)
    }

    /// The unit of the tree's heights. Ward's heights grow with the root of the weights.
    fn height_unit(&self, linkage: Linkage) -> f64 {
        self.matrix.unit * if linkage == Linkage::Ward { self.weight_unit.sqrt() } else { 1.0 }
    }
}

/// The program of a run.
struct Run<'a, 'o, T: Real> {
    problem: Problem<'a, T>,
    /// The tree, which the lead makes and shares.
    kept: LeafCells<Kept>,
    /// The means of the items of each leaf.
    means: LeafCells<Vec<Means>>,
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
        let mut course = Fit::new(&self.problem, &self.shared.parameters, &self.kept, &self.means, state, is_lead);
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        let cut = course.cut();
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { cut, spent }))
    }
}
