//! Several processes, started by `mpiexec`, that compute one result: process 0 leads, the others follow.
//!
//! The lead alone reads, shows, writes and speaks. It sends the others one *order*: the points and where the run begins. All compute; the
//! lead writes the results and then sends a *last word*, the exit code, with which all end. If the lead fails before there is anything to compute, the
//! last word comes in place of the order. So a file is read once, each message is said once, and no process waits for one that has gone.
//!
//! | message | bytes |
//! | --- | --- |
//! | order | the length of its head in 8 bytes; the head as JSON ([`Head`]); coordinates and weights as 64-bit numbers, low byte first |
//! | last word | one byte: the exit code |
//!
//! Whatever else ends a process ends the others: a panic or a second Ctrl-C through MPI, a kill through the launcher, and the keeper says which
//! ([`lehr_ranks_mpi::keep`]).

use lehr_data::Points;
use lehr_mining::anneal::{Checkpoint, Silent};
use lehr_mining::vector::{self, Parameters};
use lehr_ranks::Job;
use lehr_ranks_mpi::Process;
use serde::{Deserialize, Serialize};

use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::{Start, execution};

/// What the lead holds of the others, if there are any.
pub struct Company<'a> {
    process: Option<&'a Process>,
}

/// The head of an order.
#[derive(Serialize, Deserialize)]
struct Head {
    start: Beginning,
    dimension: usize,
    rows: usize,
    has_weights: bool,
}

/// Where the run begins.
#[derive(Serialize, Deserialize)]
enum Beginning {
    Fresh(Parameters),
    Resumed(Box<Checkpoint>),
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
    pub fn order(&self, start: &Start, points: &Points) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let start = match start {
            Start::Fresh(parameters) => Beginning::Fresh(parameters.clone()),
            Start::Resumed(checkpoint, _) => Beginning::Resumed(checkpoint.clone()),
        };
        let has_weights = points.weights().is_some();
        let head = Head { start, dimension: points.dimension(), rows: points.len(), has_weights };
        process.share(encode(&head, points)?).map(|_| ()).map_err(unreachable)
    }

    /// The last word: how it ended. Ends with the others.
    ///
    /// # Errors
    /// [`Kind::Environment`] if they cannot be reached.
    pub fn end(process: Process, code: u8) -> Result<(), Failure> {
        process.share(vec![code]).map_err(unreachable)?;
        process.finish().map_err(unreachable)
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
    let _interrupt = Interrupt::listen()?;
    let order = process.share(Vec::new()).map_err(unreachable)?;
    let code = match order[..] {
        [code] => code,
        _ => {
            let (start, points) = decode(&order)?;
            drop(order);
            // The lead refuses these arguments before it gives an order, if there is anything to refuse.
            let (execution, _) = execution(arguments, Some(process.job()))?;
            // The outcome is the lead's, who tells it: all agree on it.
            let _ = match start {
                Beginning::Fresh(parameters) => vector::cluster(&points, &parameters, &execution, &mut Silent),
                Beginning::Resumed(checkpoint) => vector::resume(&points, *checkpoint, &execution, &mut Silent),
            };
            let last = process.share(Vec::new()).map_err(unreachable)?;
            last.first().copied().unwrap_or_else(|| Kind::NoResult.code())
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}

fn encode(head: &Head, points: &Points) -> Result<Vec<u8>, Failure> {
    let head = serde_json::to_vec(head)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("an order cannot be written as JSON: {cause}")))?;
    let numbers = points.values().iter().chain(points.weights().unwrap_or_default());
    let mut order = Vec::with_capacity(size_of::<u64>() * (1 + points.len() * (points.dimension() + 1)) + head.len());
    order.extend_from_slice(&(head.len() as u64).to_le_bytes());
    order.extend_from_slice(&head);
    numbers.for_each(|number| order.extend_from_slice(&number.to_le_bytes()));
    Ok(order)
}

fn decode(order: &[u8]) -> Result<(Beginning, Points), Failure> {
    let misread = |cause: &str| Failure::new(Kind::NoResult, format!("the order of process 0 cannot be read: {cause}"));
    let (length, rest) = order.split_first_chunk().ok_or_else(|| misread("it is cut"))?;
    let (head, numbers) =
        rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(|| misread("its head is cut"))?;
    let head: Head = serde_json::from_slice(head).map_err(|cause| misread(&cause.to_string()))?;
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
    let mut numbers = numbers.chunks_exact(size_of::<f64>()).map(number);
    let values: Vec<f64> = numbers.by_ref().take(head.rows * head.dimension).collect();
    let mut points = Points::new(values, head.dimension)?;
    if head.has_weights {
        points = points.with_weights(numbers.collect())?;
    }
    Ok((head.start, points))
}

fn unreachable(error: lehr_ranks_mpi::Error) -> Failure {
    Failure::new(Kind::Environment, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_says_the_same_on_the_other_side() {
        let points = Points::new(vec![0.1, -0.0, 1e-300, 4.0], 2).unwrap().with_weights(vec![1.0, 0.0]).unwrap();
        let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
        let head = Head { start: Beginning::Fresh(parameters.clone()), dimension: 2, rows: 2, has_weights: true };
        let (start, read) = decode(&encode(&head, &points).unwrap()).unwrap();
        assert_eq!(read.fingerprint(), points.fingerprint());
        assert!(matches!(start, Beginning::Fresh(read) if read == parameters));
    }

    #[test]
    fn a_cut_order_is_refused() {
        assert!(decode(&[1, 2]).is_err());
        assert!(decode(&[9, 0, 0, 0, 0, 0, 0, 0, b'{']).is_err());
    }
}
