//! Mini-batch k-means, for streams. Batches of rows are seen once, one after the other; only centres and the weights
//! that they were given are kept.
//!
//! An approximation. The first rows are a sample, which is clustered by annealing
//! ([`vector::cluster`](crate::vector::cluster)). Each batch after it is assigned to the nearest centres as they are.
//! Then each centre moves to the weighted mean of all its rows so far. So a row is never looked at again once its batch
//! is over. Centres come near those of a clustering of all rows where the sample is like the stream. The objective is
//! that of the batches as they passed, not of all rows at the last centres. Source: Sculley, "Web-scale k-means
//! clustering" (2010), algorithm 1. Its rate for a row is one over the number of rows that the centre has been given,
//! which makes the centre their mean. The nearest centres of a batch are found before any of them moves, so the order
//! of rows in a batch does not matter. The mean of the batch is added in one step. Not Sculley's are: the sample in
//! place of rows drawn at random, weights, and forgetting ([`Parameters::half_life`]).

mod e_step;
mod fit;
mod m_step;
mod model;
mod parameters;
mod source;

pub use model::{Cluster, Model};
pub use parameters::Parameters;
pub use source::Source;

use crate::Error;
use crate::anneal::Observer;
use crate::anneal::Resumable;
use crate::round::Execution;
use fit::{Fit, State};

/// A run that can be resumed, on any number of ranks and under any engine, to the same bits. Give it the same stream
/// again from its beginning.
///
/// Its [`fingerprint`](crate::anneal::Checkpoint::fingerprint) is of the batches that passed, one after the other.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "minibatch";
    const FORMAT: u32 = 1;
    type State = State;
}

impl Checkpoint {
    /// Batches that have passed, the sample among them; 0 while the sample is being clustered.
    pub fn batches(&self) -> u64 {
        self.state.batches()
    }
}

/// Clusters a stream by mini-batches.
///
/// It takes the rows of the sample from the source, then those of one batch after the other. Rows of weight 0 influence
/// nothing.
///
/// # Errors
/// The errors of [`Parameters::check`], and those of the source. Returns [`Error::TooManyClusters`] if the sample has
/// fewer rows than the requested clusters; [`Error::TooFar`]. Returns [`Error::Data`] for a stream without rows, for
/// batches that disagree in their columns, and for weights whose sum over all batches no number holds. Returns
/// [`Error::Stopped`] if the observer requested it. It is asked whenever a batch has been read and, while the sample is
/// clustered, as often as annealing asks. It has the checkpoint then, except for a stop right after the sample has been
/// read, when there is nothing to resume from.
///
/// # Example
/// ```
/// use lehr_data::read::{Batches, Selection};
/// use lehr_mining::{Execution, anneal::Silent, minibatch::{Parameters, cluster}};
/// let table = "x\n0\n10\n1\n11\n2\n12\n";
/// let mut batches = Batches::new(table.as_bytes(), "t.csv", &Selection::default())?;
/// let parameters = Parameters { clusters: 2, batch_rows: 2, ..Parameters::default() };
/// let model = cluster(&mut batches, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!((model.rows, model.batches), (6, 3));
/// let mut centers = model.centers.clone();
/// centers.sort_by(f64::total_cmp);
/// assert!((centers[0] - 1.0).abs() < 1e-12 && (centers[1] - 11.0).abs() < 1e-12);
/// // 0 and 10 were the sample; then 1 and 11 were 1 from the centres as they stood, and 2 and 12 were 1.5.
/// assert!((model.objective - (2.0 * 1.0 + 2.0 * 1.5 * 1.5) / 6.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: annealing of the sample; then one pass of N x K x D operations over each batch, fewer in up to 16 dimensions.
/// Memory: a batch, a copy of it in the precision requested, and several times K x D numbers, however long the stream
/// is.
pub fn cluster(
    source: &mut dyn Source,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    parameters.check()?;
    Fit { source, parameters, execution, observer }.begin()
}

/// Resumes an interrupted run, to the same bits as if it had not been interrupted. The source gives the stream from its
/// beginning: the earlier part is read again, to check that it is the same, but not processed again.
///
/// # Errors
/// Returns [`Error::OtherData`] if the stream does not begin with the batches of the checkpoint; otherwise as for
/// [`cluster`].
pub fn resume(
    source: &mut dyn Source,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let parameters = checkpoint.parameters().clone();
    parameters.check()?;
    Fit { source, parameters: &parameters, execution, observer }.go_on(checkpoint)
}
