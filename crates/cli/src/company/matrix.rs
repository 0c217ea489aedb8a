//! The same for methods on a matrix: the order says the task and has the matrix.
//!
//! All compute, each the rows of its ranks; the lead writes what came out, which is small beside the matrix, and sends the last word.
//!
//! | part of an order | bytes |
//! | --- | --- |
//! | head | its length in 8 bytes; JSON ([`Head`]) |
//! | matrix | its numbers as they are stored, the lowest byte first |
//! | weights | 8 bytes an item, if there are weights |

use lehr_data::dissimilarities::{Dissimilarities, Element, Form, Values};
use lehr_mining::anneal::Observer;
use lehr_mining::{pairwise, smacof};
use lehr_ranks::Execution;
use lehr_ranks_mpi::Process;
use serde::{Deserialize, Serialize};

use lehr_methods::{Data, Matrix};

use super::method::Order;
use super::{Company, Follower, unreachable};
use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::execution;

/// Where a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Begin<P, C> {
    /// With parameters.
    Fresh(P),
    /// With the checkpoint of an earlier run, which has them.
    Resumed(Box<C>),
}

/// Where a pairwise clustering begins.
pub type BeginClustering = Begin<pairwise::Parameters, pairwise::Checkpoint>;
/// Where an embedding begins.
pub type BeginEmbedding = Begin<smacof::Parameters, smacof::Checkpoint>;

impl<P, C> Begin<P, C> {
    /// Whether an earlier run is gone on with.
    pub fn is_resumed(&self) -> bool {
        matches!(self, Begin::Resumed(_))
    }
}

impl BeginClustering {
    /// The parameters of the run.
    pub fn parameters(&self) -> &pairwise::Parameters {
        match self {
            Begin::Fresh(parameters) => parameters,
            Begin::Resumed(checkpoint) => checkpoint.parameters(),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// Those of the method.
    pub fn cluster(
        self,
        matrix: &Dissimilarities,
        weights: Option<&[f64]>,
        execution: &Execution,
        observer: &mut dyn Observer,
    ) -> Result<pairwise::Model, lehr_mining::Error> {
        match self {
            Begin::Fresh(parameters) => pairwise::cluster(matrix, weights, &parameters, execution, observer),
            Begin::Resumed(checkpoint) => pairwise::resume(matrix, weights, *checkpoint, execution, observer),
        }
    }
}

impl BeginEmbedding {
    /// The parameters of the run.
    pub fn parameters(&self) -> &smacof::Parameters {
        match self {
            Begin::Fresh(parameters) => parameters,
            Begin::Resumed(checkpoint) => checkpoint.parameters(),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// Those of the method.
    pub fn embed(
        self,
        matrix: &Dissimilarities,
        weights: Option<&[f64]>,
        execution: &Execution,
        observer: &mut dyn Observer,
    ) -> Result<smacof::Map, lehr_mining::Error> {
        let input = smacof::Input { weights, ..smacof::Input::new(matrix) };
        match self {
            Begin::Fresh(parameters) => smacof::embed(&input, &parameters, execution, observer),
            Begin::Resumed(checkpoint) => smacof::resume(&input, *checkpoint, execution, observer),
        }
    }
}

/// What is done with the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// `lehr pairwise`.
    Cluster(BeginClustering),
    /// `lehr embed`.
    Embed(BeginEmbedding),
    /// A method that `lehr-methods` declares.
    Method(Order),
}

/// The head of an order.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    task: Task,
    items: usize,
    form: Form,
    element: Element,
    scale: f64,
    has_weights: bool,
}

impl Company<'_> {
    /// Tells the others to do a task with a matrix. All go on to the same call of the method.
    ///
    /// # Errors
    /// [`Kind::Environment`] if they cannot be reached.
    pub fn order_task(&self, task: &Task, matrix: &Dissimilarities, weights: Option<&[f64]>) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let order = encode(task, matrix, weights)?;
        process.share(order).map(|_| ()).map_err(unreachable)
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
            let (task, matrix, weights) = decode(&order)?;
            drop(order);
            // The lead refuses these arguments before it gives an order, if there is anything to refuse.
            let (execution, _) = execution(arguments, Some(process.job()))?;
            let weights = weights.as_deref();
            // The outcome is the lead's, who tells it: all agree on it.
            let mut follower = Follower::new(&interrupt);
            match task {
                Task::Cluster(begin) => drop(begin.cluster(&matrix, weights, &execution, &mut follower)),
                Task::Embed(begin) => drop(begin.embed(&matrix, weights, &execution, &mut follower)),
                Task::Method(order) => {
                    let matrix =
                        Matrix { ids: Vec::new(), weights: weights.map(<[f64]>::to_vec), dissimilarities: matrix };
                    drop(order.follow(Data::Matrix(&matrix), &execution, &interrupt)?);
                }
            }
            let word = process.share(Vec::new()).map_err(unreachable)?;
            if let [code] = word[..] { code } else { Kind::NoResult.code() }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}

pub(super) fn encode(task: &Task, matrix: &Dissimilarities, weights: Option<&[f64]>) -> Result<Vec<u8>, Failure> {
    let element = match matrix.values() {
        Values::F64(_) => Element::F64,
        Values::F32(_) => Element::F32,
        Values::U16(_) => Element::U16,
    };
    let (items, form, scale) = (matrix.items(), matrix.form(), matrix.scale());
    let head = Head { task: task.clone(), items, form, element, scale, has_weights: weights.is_some() };
    let head = serde_json::to_vec(&head)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("an order cannot be written as JSON: {cause}")))?;
    let weights = weights.unwrap_or_default();
    let bytes = form.numbers(items) * element.bytes() + size_of_val(weights);
    let mut order = Vec::with_capacity(size_of::<u64>() + head.len() + bytes);
    order.extend_from_slice(&(head.len() as u64).to_le_bytes());
    order.extend_from_slice(&head);
    match matrix.values() {
        Values::F64(values) => values.iter().for_each(|value| order.extend_from_slice(&value.to_le_bytes())),
        Values::F32(values) => values.iter().for_each(|value| order.extend_from_slice(&value.to_le_bytes())),
        Values::U16(values) => values.iter().for_each(|value| order.extend_from_slice(&value.to_le_bytes())),
    }
    weights.iter().for_each(|weight| order.extend_from_slice(&weight.to_le_bytes()));
    Ok(order)
}

fn decode(order: &[u8]) -> Result<(Task, Dissimilarities, Option<Vec<f64>>), Failure> {
    let misread = |cause: &str| Failure::new(Kind::NoResult, format!("the order of process 0 cannot be read: {cause}"));
    let (length, rest) = order.split_first_chunk().ok_or_else(|| misread("it is cut"))?;
    let (head, rest) =
        rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(|| misread("its head is cut"))?;
    let head: Head = serde_json::from_slice(head).map_err(|cause| misread(&cause.to_string()))?;
    let bytes = head.form.numbers(head.items) * head.element.bytes();
    let (numbers, rest) = rest.split_at_checked(bytes).ok_or_else(|| misread("its matrix is cut"))?;
    let doubles = |bytes: &[u8]| -> Vec<f64> { bytes.as_chunks().0.iter().map(|n| f64::from_le_bytes(*n)).collect() };
    let values = match head.element {
        Element::F64 => Values::F64(doubles(numbers)),
        Element::F32 => Values::F32(numbers.as_chunks().0.iter().map(|n| f32::from_le_bytes(*n)).collect()),
        Element::U16 | Element::I16be => {
            Values::U16(numbers.as_chunks().0.iter().map(|n| u16::from_le_bytes(*n)).collect())
        }
    };
    let matrix = Dissimilarities::new(head.items, head.form, values, head.scale)?;
    let expected = if head.has_weights { size_of::<f64>() * head.items } else { 0 };
    if rest.len() != expected {
        return Err(misread("its weights are cut"));
    }
    Ok((head.task, matrix, head.has_weights.then(|| doubles(rest))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> [Task; 2] {
        let clusters = pairwise::Parameters { clusters: Some(2), seed: 9, ..pairwise::Parameters::default() };
        let map = smacof::Parameters { dimension: 3, tolerance: 0.1 + 0.2 * 1e-9, ..smacof::Parameters::default() };
        [Task::Cluster(Begin::Fresh(clusters)), Task::Embed(Begin::Fresh(map))]
    }

    #[test]
    fn an_order_says_the_same_on_the_other_side() {
        let [cluster, embed] = tasks();
        let all = [
            (Form::Condensed, Values::F64(vec![0.1, f64::MAX, 1e-300]), 1.0, None),
            (Form::Condensed, Values::F32(vec![0.1, 0.5, 1e-30]), 1.0, Some(vec![1.0, 0.0, 0.1])),
            (Form::Full, Values::U16(vec![0, 1, 65535, 1, 0, 7, 65535, 7, 0]), 1.0 / 3.0, Some(vec![3.0, 2.0, 1.0])),
        ];
        for (form, values, scale, weights) in all {
            let matrix = Dissimilarities::new(3, form, values, scale).unwrap();
            for task in [&cluster, &embed] {
                let order = encode(task, &matrix, weights.as_deref()).unwrap();
                let (read, other, others) = decode(&order).unwrap();
                assert_eq!((&read, &other, &others), (task, &matrix, &weights));
                assert_eq!(other.scale().to_bits(), scale.to_bits());
                for end in [0, 7, 9, order.len() / 2, order.len() - 1] {
                    assert!(decode(&order[..end]).is_err(), "cut at {end} of {}", order.len());
                }
            }
        }
    }
}
