//! Mini-batch k-means, for streams. Each batch of rows is read once; only the centres and the weights that they have
//! received are stored.
//!
//! The result is approximate. The first rows are a sample, which annealing clusters
//! ([`vector::cluster`](crate::vector::cluster)). Each row of a later batch is assigned to its nearest centre. Then
//! each centre moves to the weighted mean of all its rows so far, so rows are never read again. The centres approach
//! those of a clustering of all rows if the sample is like the stream. The objective is measured on the batches as they
//! pass, not on all rows with the final centres. Source: Sculley, "Web-scale k-means clustering" (2010), algorithm 1.
//! Its learning rate for a row is 1 over the number of rows of the centre, so the centre is the mean of these rows. All
//! nearest centres of a batch are found before any centre moves, so the order of rows in a batch does not matter. The
//! mean of the batch is then added in one step. Unlike Sculley's algorithm, this method begins with an annealed sample
//! instead of random rows, and it supports weights and forgetting ([`Parameters::half_life`]).

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

/// A run that can be resumed on any number of ranks and under any engine, with bit-identical results. To resume, supply
/// the same stream from its beginning.
///
/// Its [`fingerprint`](crate::anneal::Checkpoint::fingerprint) identifies the batches that have passed, in their order.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "minibatch";
    const FORMAT: u32 = 1;
    type State = State;
}

impl Checkpoint {
    /// The number of batches that have passed, including the sample; 0 while the sample is being clustered.
    pub fn batches(&self) -> u64 {
        self.state.batches()
    }
}

/// Clusters a stream by mini-batches.
///
/// Reads the sample from the source, then one batch after another. Rows of weight 0 have no influence.
///
/// # Errors
/// Returns the errors of [`Parameters::check`] and of the source. Returns [`Error::TooManyClusters`] if the sample has
/// fewer rows than requested clusters, and [`Error::TooFar`]. Returns [`Error::Data`] for a stream without rows, for
/// batches with different columns, and for weights whose sum over all batches overflows. Returns [`Error::Stopped`] if
/// the observer requested it. The observer is asked after each batch has been read and, while the sample is clustered,
/// as often as annealing asks. When it stops a run, it has received the checkpoint. There is no checkpoint right after
/// the sample has been read, because there is nothing to resume.
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
/// Cost: annealing of the sample, then one pass of N x K x D operations over each batch, or fewer in up to 16
/// dimensions. Memory: a batch, a copy of it in the requested precision, and several times K x D numbers. Memory does
/// not depend on the length of the stream.
pub fn cluster(
    source: &mut dyn Source,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    parameters.check()?;
    Fit { source, parameters, execution, observer }.begin()
}

/// Resumes an interrupted run; the result is bit-identical to an uninterrupted one. The source must supply the stream
/// from its beginning. The batches that have passed are read again only to check that they are the same.
///
/// # Errors
/// Returns [`Error::OtherData`] if the stream does not begin with the batches of the checkpoint; otherwise, the same
/// errors as [`cluster`].
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
