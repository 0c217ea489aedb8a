//! Several processes, started by `mpiexec`, that compute one result: process 0 leads, the others follow.
//!
//! The lead alone reads, shows and speaks. It sends the others one *order*: the points and where the run begins. All compute; the
//! lead makes the file of labels and sends where it is, and all write their rows into it ([`crate::rows`]); the lead writes the small results, puts all into place and then sends a *last word*,
//! the exit code, with which all end. If the lead fails before there is anything to compute, the
//! last word comes in place of the order. So a file is read once, each message is said once, and no process waits for one that has gone.
//!
//! | message | bytes |
//! | --- | --- |
//! | order | the length of its head in 8 bytes; the head as JSON ([`Head`]); coordinates (of rows of bits their words, of sparse rows where each begins, columns and values) and weights as 64-bit numbers, low byte first |
//! | place | JSON ([`Place`]): the file that all write their rows to |
//! | last word | one byte: the exit code |
//!
//! Dissimilarities and the methods of `lehr-methods` go the same way, with orders of their own: [`pairs`], [`method`], and [`matrix`] for methods on a matrix.
//!
//! Whatever else ends a process ends the others: a panic or a second Ctrl-C through MPI, a kill through the launcher, and the keeper says which
//! ([`lehr_ranks_mpi::keep`]).

pub mod application;
mod matrix;
pub mod method;
pub mod pairs;

use std::io;
use std::path::Path;

use lehr_data::{Fingerprints, Points, Sparse};
use lehr_mining::anneal;
use lehr_mining::vector::Input;
use lehr_ranks::trace::Trace;
use lehr_ranks::{Execution, Job, Layout};
use lehr_ranks_mpi::Process;
use lehr_runtime::Dispatcher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::arguments::ExecutionArguments;
use crate::clustering::{Beginning, Clustering};
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::{Start, execution};
use crate::rows::{self, Ids, Labels, Mark};

/// What the lead holds of the others, if there are any.
pub struct Company<'a> {
    process: Option<&'a Process>,
}

/// The head of an order.
#[derive(Serialize, Deserialize)]
struct Head<S> {
    start: S,
    dimension: usize,
    rows: usize,
    has_weights: bool,
    rows_are: RowsAre,
    /// Whether all note what their ranks do.
    is_traced: bool,
}

/// How rows are kept.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum RowsAre {
    Numbers,
    Bits,
    /// So many values are not 0.
    Sparse {
        values: usize,
    },
}

impl<S> Head<S> {
    fn of_points(start: S, points: &Points, is_traced: bool) -> Self {
        let (dimension, has_weights) = (points.dimension(), points.weights().is_some());
        Self { start, dimension, rows: points.len(), has_weights, rows_are: RowsAre::Numbers, is_traced }
    }

    fn of_bits(start: S, rows: &Fingerprints, is_traced: bool) -> Self {
        let (dimension, has_weights) = (rows.bits(), rows.weights().is_some());
        Self { start, dimension, rows: rows.len(), has_weights, rows_are: RowsAre::Bits, is_traced }
    }

    fn of_sparse(start: S, rows: &Sparse, is_traced: bool) -> Self {
        let (dimension, has_weights) = (rows.dimension(), rows.weights().is_some());
        let rows_are = RowsAre::Sparse { values: rows.nonzeros() };
        Self { start, dimension, rows: rows.len(), has_weights, rows_are, is_traced }
    }
}

/// What an order is about.
enum Ordered {
    Numbers(Points),
    Bits(Fingerprints),
    Sparse(Sparse),
}

/// The file that all write their rows to.
#[derive(Serialize, Deserialize)]
struct Place {
    /// Absolute; none for a name that is no text.
    path: Option<String>,
    /// What it begins with.
    mark: Mark,
    /// Whether rows have identifiers, which the lead has.
    has_ids: bool,
}

impl<'a> Company<'a> {
    /// The processes of a job; none for a process that is alone.
    pub fn new(process: Option<&'a Process>) -> Self {
        Self { process }
    }

    /// Tells the others to compute. All go on to the same call of the method.
    ///
    /// # Errors
    /// [`Kind::Environment`] if they cannot be reached.
    pub fn order(&self, start: &Start, input: Input<'_>, is_traced: bool) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let start = match start {
            Start::Fresh(parameters) => Beginning::fresh(parameters.clone()),
            Start::Resumed(checkpoint, _) => Beginning::resumed(checkpoint.clone()),
        };
        let order = match input {
            Input::Numbers(points) => encode(&Head::of_points(start, points, is_traced), points)?,
            Input::Bits(rows) => encode_bits(&Head::of_bits(start, rows, is_traced), rows)?,
            Input::Sparse(rows) => encode_sparse(&Head::of_sparse(start, rows, is_traced), rows)?,
        };
        process.share(order).map(|_| ()).map_err(unreachable)
    }

    /// The last word: how it ended. Ends with the others.
    ///
    /// # Errors
    /// [`Kind::Environment`] if they cannot be reached.
    pub fn end(process: Process, code: u8) -> Result<(), Failure> {
        process.share(vec![code]).map_err(unreachable)?;
        process.finish().map_err(unreachable)
    }

    /// Writes `labels.csv` with all ranks of all processes, each its own rows, into a file that is made and empty.
    ///
    /// # Errors
    /// If a rank could not write or be reached.
    pub fn write_labels(
        &self,
        path: &Path,
        ids: Option<&[String]>,
        model: &Clustering,
        execution: &Execution,
    ) -> io::Result<()> {
        let mark = rows::mark();
        std::fs::write(path, mark)?;
        let place =
            Place { path: std::path::absolute(path)?.to_str().map(str::to_owned), mark, has_ids: ids.is_some() };
        let dispatcher = Dispatcher::new(execution.threads).map_err(io::Error::other)?;
        let ids = match (ids, self.process) {
            (None, _) => Ids::Numbers,
            (Some(ids), None) => Ids::Here(ids),
            (Some(ids), Some(_)) => Ids::AtLead(Some(ids)),
        };
        let labels = Labels { ids, labels: &model.labels, probabilities: &model.probabilities };
        let ended = match self.process {
            None => lehr_ranks::run(&dispatcher, Layout::threads(execution.threads), |mut comm| async move {
                rows::write(&mut comm, Some(path), mark, true, labels).await
            }),
            Some(process) => {
                process.share(serde_json::to_vec(&place)?).map_err(io::Error::other)?;
                write_rows(process, &dispatcher, execution.ranks, &place, true, labels)
            }
        };
        // All ranks agree.
        match ended.map_err(io::Error::other)?.into_iter().next() {
            Some(Ok(None)) | None => Ok(()),
            Some(Ok(Some(words))) => Err(io::Error::other(words)),
            Some(Err(error)) => Err(io::Error::other(error)),
        }
    }

    /// The processes, for the plan.
    pub fn job(&self) -> Option<Job> {
        self.process.map(Process::job)
    }
}

/// Follows the lead to the end: the exit code. Says nothing, since the lead does.
///
/// # Errors
/// [`Kind::Environment`] if the others cannot be reached, [`Kind::NoResult`] if an order cannot be understood; then this process speaks.
pub fn follow(process: Process, arguments: &ExecutionArguments) -> Result<u8, Failure> {
    // A first Ctrl-C reaches the lead too, which stops the run for all; a second ends this process, and with it the job.
    let interrupt = Interrupt::listen()?;
    let order = process.share(Vec::new()).map_err(unreachable)?;
    let code = match order[..] {
        [code] => code,
        _ => {
            let (head, ordered) = decode_any::<Beginning>(&order)?;
            drop(order);
            let input = match &ordered {
                Ordered::Numbers(points) => Input::Numbers(points),
                Ordered::Bits(rows) => Input::Bits(rows),
                Ordered::Sparse(rows) => Input::Sparse(rows),
            };
            let mut observer = Follower { trace: head.is_traced.then(Trace::new), ..Follower::new(&interrupt) };
            // The lead refuses these arguments before it gives an order, if there is anything to refuse.
            let (execution, _) = execution(arguments, Some(process.job()))?;
            // The outcome is the lead's, who tells it: all agree on it.
            let outcome = head.start.run(input, &execution, &mut observer);
            loop {
                let word = process.share(Vec::new()).map_err(unreachable)?;
                match (&word[..], &outcome) {
                    (&[code], _) => break code,
                    (place, Ok(model)) => follow_to(&process, place, model, &execution)?,
                    // The lead has the same outcome, and no rows to write.
                    (_, Err(_)) => break Kind::NoResult.code(),
                }
            }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}

/// Writes this process's rows where the lead says. What goes wrong is the lead's to tell.
fn follow_to(process: &Process, place: &[u8], model: &Clustering, execution: &Execution) -> Result<(), Failure> {
    let misread = |cause| Failure::new(Kind::NoResult, format!("the place for rows cannot be read: {cause}"));
    let place: Place = serde_json::from_slice(place).map_err(misread)?;
    let dispatcher = Dispatcher::new(execution.threads)
        .map_err(|cause| Failure::new(Kind::Environment, format!("no threads: {cause}")))?;
    let ids = if place.has_ids { Ids::AtLead(None) } else { Ids::Numbers };
    let labels = Labels { ids, labels: &model.labels, probabilities: &model.probabilities };
    let _ = write_rows(process, &dispatcher, execution.ranks, &place, false, labels);
    Ok(())
}

/// What the ranks of this process made of their rows.
type Ended = Result<Vec<Result<Option<String>, lehr_ranks::Error>>, lehr_ranks::Error>;

fn write_rows(
    process: &Process,
    dispatcher: &Dispatcher,
    ranks: usize,
    place: &Place,
    has_made: bool,
    labels: Labels<'_>,
) -> Ended {
    let path = place.path.as_deref().map(Path::new);
    process.run(dispatcher, ranks, |mut comm| async move {
        rows::write(&mut comm, path, place.mark, has_made, labels).await
    })
}

/// Shows nothing and keeps nothing; passes on a wish to stop, and its process's part of the trace goes to the lead's.
struct Follower {
    trace: Option<Trace>,
    interrupt: anneal::Interrupt,
}

impl Follower {
    fn new(interrupt: &Interrupt) -> Self {
        Self { trace: None, interrupt: interrupt.within_steps() }
    }
}

impl anneal::Observer for Follower {
    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.interrupt.clone())
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}

fn encode<S: Serialize>(head: &Head<S>, points: &Points) -> Result<Vec<u8>, Failure> {
    let numbers = points.values().iter().chain(points.weights().unwrap_or_default());
    encode_words(head, points.len() * (points.dimension() + 1), numbers.map(|number| number.to_bits()))
}

fn encode_bits<S: Serialize>(head: &Head<S>, rows: &Fingerprints) -> Result<Vec<u8>, Failure> {
    let weights = rows.weights().unwrap_or_default().iter().map(|weight| weight.to_bits());
    let words = (0..rows.len()).flat_map(|row| rows.row(row)).copied();
    encode_words(head, rows.len() * (rows.width() + 1), words.chain(weights))
}

fn encode_sparse<S: Serialize>(head: &Head<S>, rows: &Sparse) -> Result<Vec<u8>, Failure> {
    let starts = rows.starts().iter().map(|start| *start as u64);
    let columns = rows.columns().iter().map(|column| u64::from(*column));
    let numbers = rows.values().iter().chain(rows.weights().unwrap_or_default()).map(|number| number.to_bits());
    let most = 2 * (rows.len() + rows.nonzeros()) + 1;
    encode_words(head, most, starts.chain(columns).chain(numbers))
}

fn encode_words<S: Serialize>(
    head: &Head<S>,
    most: usize,
    words: impl Iterator<Item = u64>,
) -> Result<Vec<u8>, Failure> {
    let head = serde_json::to_vec(head)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("an order cannot be written as JSON: {cause}")))?;
    let mut order = Vec::with_capacity(size_of::<u64>() * (1 + most) + head.len());
    order.extend_from_slice(&(head.len() as u64).to_le_bytes());
    order.extend_from_slice(&head);
    words.for_each(|word| order.extend_from_slice(&word.to_le_bytes()));
    Ok(order)
}

fn misread(cause: &str) -> Failure {
    Failure::new(Kind::NoResult, format!("the order of process 0 cannot be read: {cause}"))
}

fn decode<S: DeserializeOwned>(order: &[u8]) -> Result<(Head<S>, Points), Failure> {
    match decode_any(order)? {
        (head, Ordered::Numbers(points)) => Ok((head, points)),
        (_, Ordered::Bits(_)) => Err(misread("it is about rows of bits")),
        (_, Ordered::Sparse(_)) => Err(misread("it is about sparse rows")),
    }
}

fn decode_any<S: DeserializeOwned>(order: &[u8]) -> Result<(Head<S>, Ordered), Failure> {
    let (length, rest) = order.split_first_chunk().ok_or_else(|| misread("it is cut"))?;
    let (head, numbers) =
        rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(|| misread("its head is cut"))?;
    let head: Head<S> = serde_json::from_slice(head).map_err(|cause| misread(&cause.to_string()))?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
    let mut words = numbers.chunks_exact(size_of::<u64>()).map(word);
    if let RowsAre::Sparse { values } = head.rows_are {
        let starts = words.by_ref().take(head.rows + 1).map(|start| start as usize).collect();
        let columns = words.by_ref().take(values).map(|column| column as u32).collect();
        let numbers = words.by_ref().take(values).map(f64::from_bits).collect();
        let mut rows = Sparse::new(starts, columns, numbers, head.dimension)?;
        if head.has_weights {
            rows = rows.with_weights(words.map(f64::from_bits).collect())?;
        }
        return Ok((head, Ordered::Sparse(rows)));
    }
    if head.rows_are == RowsAre::Bits {
        let of_rows = words.by_ref().take(head.rows * head.dimension.div_ceil(64)).collect();
        let mut rows = Fingerprints::new(of_rows, head.dimension)?;
        if head.has_weights {
            rows = rows.with_weights(words.map(f64::from_bits).collect())?;
        }
        return Ok((head, Ordered::Bits(rows)));
    }
    let values = words.by_ref().take(head.rows * head.dimension).map(f64::from_bits).collect();
    let mut points = Points::new(values, head.dimension)?;
    if head.has_weights {
        points = points.with_weights(words.map(f64::from_bits).collect())?;
    }
    Ok((head, Ordered::Numbers(points)))
}

fn unreachable(error: lehr_ranks_mpi::Error) -> Failure {
    Failure::new(Kind::Environment, error.to_string())
}

#[cfg(test)]
mod tests {
    use lehr_mining::{kmeans, vector};

    use super::*;
    use crate::clustering::Parameters;

    #[test]
    fn an_order_says_the_same_on_the_other_side() {
        let points = Points::new(vec![0.1, -0.0, 1e-300, 4.0], 2).unwrap().with_weights(vec![1.0, 0.0]).unwrap();
        let annealing = vector::Parameters { clusters: Some(2), ..vector::Parameters::default() };
        let kmeans = kmeans::Parameters { starts: 7, ..kmeans::Parameters::default() };
        for parameters in [Parameters::Annealing(annealing), Parameters::KMeans(kmeans)] {
            let start = Beginning::fresh(parameters.clone());
            let head = Head::of_points(start, &points, true);
            let (head, read) = decode::<Beginning>(&encode(&head, &points).unwrap()).unwrap();
            assert_eq!(read.fingerprint(), points.fingerprint());
            assert!(head.is_traced && head.start.parameters() == parameters);
        }
    }

    #[test]
    fn an_order_of_bits_says_the_same_on_the_other_side() {
        let rows = Fingerprints::new(vec![1, 2, u64::MAX, 0], 70).unwrap().with_weights(vec![0.5, 2.0]).unwrap();
        let head = Head::of_bits(Beginning::fresh(Parameters::Annealing(vector::Parameters::default())), &rows, false);
        let order = encode_bits(&head, &rows).unwrap();
        let Ordered::Bits(read) = decode_any::<Beginning>(&order).unwrap().1 else { panic!("rows of numbers") };
        assert_eq!(read, rows);
        assert!(decode::<Beginning>(&order).is_err(), "what takes points takes no bits");
    }

    #[test]
    fn an_order_of_sparse_rows_says_the_same_on_the_other_side() {
        let rows = Sparse::from_rows([vec![(7, 0.1), (90, -1e-300)], vec![], vec![(0, 4.0)]], 91).unwrap();
        for rows in [rows.clone().with_weights(vec![0.5, 2.0, 0.0]).unwrap(), rows] {
            let start = Beginning::fresh(Parameters::Annealing(vector::Parameters::default()));
            let order = encode_sparse(&Head::of_sparse(start, &rows, false), &rows).unwrap();
            let Ordered::Sparse(read) = decode_any::<Beginning>(&order).unwrap().1 else { panic!("other rows") };
            assert_eq!(read, rows);
            assert!(
                decode::<Beginning>(&order).is_err() && decode_any::<Beginning>(&order[..order.len() - 8]).is_err()
            );
        }
    }

    #[test]
    fn a_cut_order_is_refused() {
        assert!(decode::<Beginning>(&[1, 2]).is_err());
        assert!(decode::<Beginning>(&[9, 0, 0, 0, 0, 0, 0, 0, b'{']).is_err());
    }
}
