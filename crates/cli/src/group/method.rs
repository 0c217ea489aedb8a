//! Several processes run one method: the lead sends a request, all compute, and all write the tables that have a line
//! for each row.
//!
//! | part of an order on rows | bytes |
//! | --- | --- |
//! | head | the length of the JSON in 8 bytes; the JSON ([`Head`]) |
//! | rows | coordinates as 64-bit numbers, low byte first; of rows of bits their words; of sparse rows where each begins, columns and values |
//! | weights | 8 bytes a row, if there are weights |
//!
//! For requests on dissimilarities, see [`super::matrix`].

use std::io;
use std::path::Path;

use lehr_data::scale::Scale;
use lehr_data::{Fingerprints, Points, Sparse};
use lehr_methods::{Data, Fit, Frame, Method, Rows, Table, Takes, Task, find};
use lehr_mining::vector::Input as Vectors;
use lehr_ranks::trace::Trace;
use lehr_ranks::{Execution, Layout};
use lehr_ranks_mpi::Process;
use lehr_runtime::Dispatcher;
use serde::{Deserialize, Serialize};

use super::{Follower, ProcessGroup, Request, matrix, misread, unreachable};
use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Kind};
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::plan::execution;
use crate::plan::method::MethodPlan;
use crate::rows::{self, Ids, Lines, Mark};

/// The head of a request on rows.
#[derive(Serialize, Deserialize)]
struct Head {
    request: Request,
    dimension: usize,
    rows: usize,
    has_weights: bool,
    /// Whether rows are positions on the sphere, so that distances are reported along the surface.
    is_sphere: bool,
    rows_are: RowsAre,
}

/// How rows are stored.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum RowsAre {
    Numbers,
    Bits,
    /// Sparse rows, with the number of values that are not 0.
    Sparse {
        values: usize,
    },
}

/// The file that all processes write their rows to.
#[derive(Serialize, Deserialize)]
struct RowFile {
    /// The absolute path of the file; `None` if the name is not text.
    path: Option<String>,
    /// The mark at the beginning of the file.
    mark: Mark,
    /// The name of the table.
    table: String,
    /// Whether rows have identifiers, which the lead has.
    has_ids: bool,
}

impl ProcessGroup<'_> {
    /// Sends the others the request to compute. All processes make the same call of the method.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the others cannot be reached.
    pub fn request(&self, plan: &MethodPlan, data: Data<'_>, is_traced: bool) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let checkpoint = plan.resumed.as_ref().map(|(content, _)| String::from_utf8_lossy(content).into_owned());
        let (method, options) = (plan.method.about().name.to_owned(), plan.options.clone());
        let request = Request { method, options, checkpoint, is_traced };
        let request = match data {
            Data::Rows(rows) => encode(request, rows.vectors(), rows.is_sphere())?,
            Data::Stream(_) => unreachable!("the plan refuses a stream for several processes"),
            Data::Matrix(data) => matrix::encode(request, data)?,
        };
        process.share(request).map(|_| ()).map_err(unreachable)
    }

    /// Writes a table of rows with all ranks of all processes, each its own rows, into a new empty file.
    ///
    /// # Errors
    /// Fails if a rank could not write or could not be reached.
    pub fn write_table(&self, path: &Path, table: &Table<'_>, execution: &Execution) -> io::Result<()> {
        let mark = rows::mark();
        std::fs::write(path, mark)?;
        let ids = table.row_ids().flatten();
        let place = RowFile {
            path: std::path::absolute(path)?.to_str().map(str::to_owned),
            mark,
            table: table.name.to_owned(),
            has_ids: ids.is_some(),
        };
        let dispatcher = Dispatcher::new(execution.threads).map_err(io::Error::other)?;
        let ids = match (ids, self.process) {
            (None, _) => Ids::Numbers,
            (Some(ids), None) => Ids::Here(ids),
            (Some(ids), Some(_)) => Ids::AtLead(Some(ids)),
        };
        let lines = Lines { ids, table };
        let ended = match self.process {
            None => lehr_ranks::run(&dispatcher, Layout::threads(execution.threads), |mut comm| async move {
                rows::write(&mut comm, Some(path), mark, true, lines).await
            }),
            Some(process) => {
                process.share(serde_json::to_vec(&place)?).map_err(io::Error::other)?;
                write_rows(process, &dispatcher, execution.ranks, &place, true, lines)
            }
        };
        // All ranks return the same outcome.
        match ended.map_err(io::Error::other)?.into_iter().next() {
            Some(Ok(None)) | None => Ok(()),
            Some(Ok(Some(words))) => Err(io::Error::other(words)),
            Some(Err(error)) => Err(io::Error::other(error)),
        }
    }
}

impl Request {
    /// Runs the method together with the lead. The lead shares the outcome with all processes, so that all agree.
    /// Returns `None` if there is no result.
    pub(super) fn follow(
        &self,
        data: Data<'_>,
        execution: &Execution,
        interrupt: &Interrupt,
    ) -> Result<Option<Box<dyn Fit>>, Failure> {
        let method = find(&self.method).ok_or_else(|| misread("it is of no method"))?;
        let checkpoint = self.checkpoint.as_ref().map(String::as_bytes);
        let mut observer = Follower { trace: self.is_traced.then(Trace::new), ..Follower::new(interrupt) };
        Ok(Method::run(method, Task { data, checkpoint, execution, observer: &mut observer }, &self.options).ok())
    }
}

/// Follows the lead of a method to the end; returns the exit code. Prints nothing, because the lead does.
///
/// # Errors
/// Returns [`Kind::Environment`] if the others cannot be reached, [`Kind::NoResult`] if a request cannot be understood;
/// then this process reports it.
pub fn follow(process: Process, takes: Takes, arguments: &ExecutionArguments) -> Result<u8, Failure> {
    // The lead receives the first Ctrl-C too, and stops the run for all; a second one ends this process, and with it
    // the job.
    let interrupt = Interrupt::listen()?;
    let request = process.share(Vec::new()).map_err(unreachable)?;
    let code = match request[..] {
        [code] => code,
        _ => {
            let (ordered, input) = match takes {
                Takes::Matrix(_) => {
                    matrix::decode(&request).map(|(request, data)| (request, Input::Matrix(Box::new(data))))?
                }
                Takes::Rows(_) | Takes::Stream(_) => {
                    decode(&request).map(|(request, rows)| (request, Input::Rows(Box::new(rows))))?
                }
            };
            drop(request);
            // If these arguments are invalid, the lead refuses them before it sends a request.
            let (execution, _) = execution(arguments, Some(process.job()))?;
            let fit = ordered.follow(input.data(), &execution, &interrupt)?;
            loop {
                let word = process.share(Vec::new()).map_err(unreachable)?;
                match (&word[..], &fit) {
                    (&[code], _) => break code,
                    (place, Some(fit)) => follow_to(&process, place, &**fit, input.data(), &execution)?,
                    // The lead has the same outcome, and no rows to write.
                    (_, None) => break Kind::NoResult.code(),
                }
            }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}

/// Writes this process's rows to the file that the lead names. The lead reports errors.
fn follow_to(
    process: &Process,
    place: &[u8],
    fit: &dyn Fit,
    data: Data<'_>,
    execution: &Execution,
) -> Result<(), Failure> {
    let misread = |cause: String| Failure::new(Kind::NoResult, format!("the place for rows cannot be read: {cause}"));
    let place: RowFile = serde_json::from_slice(place).map_err(|cause| misread(cause.to_string()))?;
    let table = fit.table(&place.table, data).ok_or_else(|| misread(format!("there is no table {}", place.table)))?;
    let dispatcher = Dispatcher::new(execution.threads)
        .map_err(|cause| Failure::new(Kind::Environment, format!("no threads: {cause}")))?;
    let ids = if place.has_ids { Ids::AtLead(None) } else { Ids::Numbers };
    let _ = write_rows(process, &dispatcher, execution.ranks, &place, false, Lines { ids, table: &table });
    Ok(())
}

/// The results of this process's ranks.
type Ended = Result<Vec<Result<Option<String>, lehr_ranks::Error>>, lehr_ranks::Error>;

fn write_rows(
    process: &Process,
    dispatcher: &Dispatcher,
    ranks: usize,
    place: &RowFile,
    has_made: bool,
    lines: Lines<'_>,
) -> Ended {
    let path = place.path.as_deref().map(Path::new);
    process.run(
        dispatcher,
        ranks,
        |mut comm| async move { rows::write(&mut comm, path, place.mark, has_made, lines).await },
    )
}

/// Returns the bytes of a request on rows.
fn encode(request: Request, rows: Vectors<'_>, is_sphere: bool) -> Result<Vec<u8>, Failure> {
    let head = |dimension, has_weights, rows_are| {
        let rows = rows.len();
        Head { request, dimension, rows, has_weights, is_sphere, rows_are }
    };
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    match rows {
        Vectors::Numbers(points) => {
            let head = head(points.dimension(), points.weights().is_some(), RowsAre::Numbers);
            let numbers = points.values().iter().chain(points.weights().unwrap_or_default());
            encode_words(&head, numbers.map(|number| number.to_bits()))
        }
        Vectors::Bits(rows) => {
            let head = head(rows.bits(), rows.weights().is_some(), RowsAre::Bits);
            let words = (0..rows.len()).flat_map(|row| rows.row(row)).copied();
            encode_words(&head, words.chain(bits(rows.weights().unwrap_or_default())))
        }
        Vectors::Sparse(rows) => {
            let rows_are = RowsAre::Sparse { values: rows.nonzeros() };
            let head = head(rows.dimension(), rows.weights().is_some(), rows_are);
            let starts = rows.starts().iter().map(|start| *start as u64);
            let columns = rows.columns().iter().map(|column| u64::from(*column));
            let numbers = rows.values().iter().chain(rows.weights().unwrap_or_default());
            encode_words(&head, starts.chain(columns).chain(numbers.map(|number| number.to_bits())))
        }
    }
}

fn encode_words(head: &Head, words: impl Iterator<Item = u64>) -> Result<Vec<u8>, Failure> {
    let own = match head.rows_are {
        RowsAre::Numbers => head.rows * head.dimension,
        RowsAre::Bits => head.rows * head.dimension.div_ceil(64),
        RowsAre::Sparse { values } => head.rows + 1 + 2 * values,
    };
    let json = serde_json::to_vec(head)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("a request cannot be written as JSON: {cause}")))?;
    let mut request = Vec::with_capacity(size_of::<u64>() * (1 + own + head.rows) + json.len());
    request.extend_from_slice(&(json.len() as u64).to_le_bytes());
    request.extend_from_slice(&json);
    words.for_each(|word| request.extend_from_slice(&word.to_le_bytes()));
    Ok(request)
}

/// Returns the request and its rows, ready to use, because the lead has scaled them.
fn decode(request: &[u8]) -> Result<(Request, Rows), Failure> {
    let (length, rest) = request.split_first_chunk().ok_or_else(|| misread("it is cut"))?;
    let (head, numbers) =
        rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(|| misread("its head is cut"))?;
    let head: Head = serde_json::from_slice(head).map_err(|cause| misread(&cause.to_string()))?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
    let mut words = numbers.chunks_exact(size_of::<u64>()).map(word);
    let rows = match head.rows_are {
        RowsAre::Numbers => {
            let values = words.by_ref().take(head.rows * head.dimension).map(f64::from_bits).collect();
            let mut points = Points::new(values, head.dimension)?;
            if head.has_weights {
                points = points.with_weights(words.map(f64::from_bits).collect())?;
            }
            if head.is_sphere { Rows::positions(points) } else { Rows::new(points, Frame::Columns(Scale::None))? }
        }
        RowsAre::Bits => {
            let own = words.by_ref().take(head.rows * head.dimension.div_ceil(64)).collect();
            let mut rows = Fingerprints::new(own, head.dimension)?;
            if head.has_weights {
                rows = rows.with_weights(words.map(f64::from_bits).collect())?;
            }
            Rows::of_bits(rows)
        }
        RowsAre::Sparse { values } => {
            let starts = words.by_ref().take(head.rows + 1).map(|start| start as usize).collect();
            let columns = words.by_ref().take(values).map(|column| column as u32).collect();
            let numbers = words.by_ref().take(values).map(f64::from_bits).collect();
            let mut rows = Sparse::new(starts, columns, numbers, head.dimension)?;
            if head.has_weights {
                rows = rows.with_weights(words.map(f64::from_bits).collect())?;
            }
            Rows::of_sparse(rows, Scale::None)
        }
    };
    Ok((head.request, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        let options = [("clusters".to_owned(), 2.into())].into_iter().collect();
        Request { method: "cluster".into(), options, checkpoint: Some("{}".into()), is_traced: true }
    }

    #[test]
    fn an_order_says_the_same_on_the_other_side() {
        let points = Points::new(vec![0.1, -0.0, 1e-300, 4.0], 2).unwrap().with_weights(vec![1.0, 0.0]).unwrap();
        let bits = Fingerprints::new(vec![1, 2, u64::MAX, 0], 70).unwrap().with_weights(vec![0.5, 2.0]).unwrap();
        let sparse = Sparse::from_rows([vec![(3, 0.1), (4, -1e-300)], vec![], vec![(0, 4.0)]], 5).unwrap();
        let weighted = sparse.clone().with_weights(vec![0.5, 2.0, 0.0]).unwrap();
        for rows in [Vectors::from(&points), (&bits).into(), (&sparse).into(), (&weighted).into()] {
            let encoded = encode(request(), rows, false).unwrap();
            let (read, found) = decode(&encoded).unwrap();
            assert_eq!((read, found.vectors().fingerprint()), (request(), rows.fingerprint()));
            assert!(decode(&encoded[..encoded.len() - 8]).is_err());
        }
    }

    #[test]
    fn a_cut_order_is_refused() {
        assert!(decode(&[1, 2]).is_err());
        assert!(decode(&[9, 0, 0, 0, 0, 0, 0, 0, b'{']).is_err());
    }
}
