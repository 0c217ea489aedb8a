//! Programs on ranks for `lehr.ranks`: message passing with Python values, between Python threads and between the
//! processes of a job.
//!
//! A communicator outlives the run that created it. The Python thread of the rank polls the communicator, and releases
//! the interpreter lock while it waits. Calls read and write arrays in place, without a worker. A rank looks for its
//! message for some microseconds before it sleeps, if each rank has a hardware thread.
//!
//! - `frame`: messages, which say how they are to be read. So most calls take any value.
//! - `arithmetic`: reductions of arrays of numbers.
//! - `lock`: when a rank takes the interpreter lock again.
//! - `request`: messages that are started, and waited for later.
//!
//! Reductions combine arrays of one type and shape. Their messages do not contain the type, so before each reduction
//! the ranks exchange descriptions of their calls ([`Rank::agree`]). If a rank passes an incompatible array, the call
//! fails with the same error on all ranks.

mod arithmetic;
mod frame;
mod lock;
mod request;

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread::available_parallelism;

use lehr_ranks::fabric::Kind;
use lehr_ranks::fabric::pipeline::Incoming;
use lehr_ranks::{Boundary, Communicator, Grid, Layout, Outcome, Status, Wanted};
use lehr_sync::{Arc, process::Flag};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::errors;
use crate::job::{self, ProcessGroup};
use arithmetic::Reduction;
use frame::{Room, Value};
use lock::Lock;
use request::{Pending, Started};
pub(crate) use request::{Request, wait_any};

/// The number of bytes of the first message of a broadcast: the lengths, the end of the frame, and the payload if it
/// is short.
const BLOCK: usize = 512;

/// The maximum number of bytes that are sent without releasing the interpreter lock.
const AT_ONCE_MAX: usize = 1 << 12;

fn ended() -> PyErr {
    errors::rank("the program of this rank has returned: it cannot communicate any more")
}

fn stopped() -> PyErr {
    errors::rank("the program was stopped")
}

fn not_contiguous() -> PyErr {
    errors::value(
        "expected a C-contiguous array, whose values can be used where they lie. Pass np.ascontiguousarray(array).",
    )
}

fn not_lent(error: numpy::BorrowError) -> PyErr {
    match error {
        numpy::BorrowError::NotWriteable => {
            errors::value("the array is read-only, and the result is written into it. Pass a copy.")
        }
        _ => errors::value("the array is being used by another call"),
    }
}

/// The source and the tag of a message that was copied into an array. If the message does not fit the array, also its
/// trailer.
type Copied<'py> = (usize, u32, Option<Bound<'py, PyBytes>>);

/// One rank of a program, or of a group of ranks.
#[pyclass(module = "lehr._native", name = "Communicator")]
pub(crate) struct Rank {
    /// The communicator; `None` after the rank has ended.
    communicator: Option<Communicator>,
    pending: Pending,
    stop: Arc<Flag>,
    #[pyo3(get)]
    rank: usize,
    #[pyo3(get)]
    size: usize,
}

impl Rank {
    fn new(communicator: Communicator, pending: Pending, stop: Arc<Flag>) -> Self {
        let (rank, size) = (communicator.rank(), communicator.size());
        Self { communicator: Some(communicator), pending, stop, rank, size }
    }

    fn communicator(&mut self) -> PyResult<&mut Communicator> {
        self.communicator.as_mut().ok_or_else(ended)
    }

    /// Runs a call on this thread to its end, without the interpreter lock.
    fn wait<T: Send>(
        &mut self,
        py: Python<'_>,
        call: impl AsyncFnOnce(&mut Communicator) -> Result<T, lehr_ranks::Error> + Send,
    ) -> PyResult<T> {
        let (pending, stop) = (self.pending.clone(), self.stop.clone());
        let communicator = self.communicator()?;
        match pending.wait_for(py, || call(communicator), &stop) {
            None => Err(stopped()),
            Some(outcome) => outcome.map_err(|error| errors::of_ranks(&error)),
        }
    }

    /// Sends all ranks the first message of a broadcast.
    fn broadcast_block(&mut self, py: Python<'_>, root: usize, block: &mut [u8; BLOCK]) -> PyResult<()> {
        // A root that only sends would not find out that another rank has another root.
        self.agree(py, &format!("broadcast with root {root}"))?;
        self.wait(py, async move |comm| comm.broadcast(root, block).await)
    }

    fn check(&self, name: &str, rank: usize) -> PyResult<()> {
        if rank < self.size {
            return Ok(());
        }
        Err(errors::value(format!(
            "The '{name}' parameter must be a rank from 0 to {}. Got {rank} instead.",
            self.size - 1
        )))
    }

    fn wanted(&self, source: Option<usize>, tag: Option<u32>) -> PyResult<Wanted> {
        if let Some(source) = source {
            self.check("source", source)?;
        }
        Ok(Wanted { source, tag })
    }
}

#[pymethods]
impl Rank {
    /// Ends this rank, and wakes all ranks that wait for it.
    fn close(&mut self) {
        self.communicator = None;
    }

    /// Checks that all ranks make the call that `own` describes. The ranks exchange hashes of the descriptions of their
    /// calls. They exchange the descriptions only if the hashes differ.
    pub(crate) fn agree(&mut self, py: Python<'_>, own: &str) -> PyResult<()> {
        let mut numbers = vec![0; self.size];
        let (number, all) = ([xxh3_64(own.as_bytes())], &mut numbers);
        self.wait(py, async move |comm| comm.all_gather(&number, all).await)?;
        let Some(other) = numbers.iter().position(|number| *number != numbers[0]) else { return Ok(()) };
        let sentences = self.wait(py, async move |comm| comm.all_gather_v(own.as_bytes()).await)?;
        let of = |rank: usize| String::from_utf8_lossy(&sentences[rank]);
        Err(errors::value(format!("the ranks disagree: rank 0 calls {}, rank {other} {}", of(0), of(other))))
    }

    fn barrier(&mut self, py: Python<'_>) -> PyResult<()> {
        self.wait(py, async |comm| comm.barrier().await)
    }

    /// Combines the arrays of all ranks. `call` describes the call, which must be the same on all ranks.
    fn all_reduce(&mut self, call: &str, array: &Bound<'_, PyAny>, op: &str) -> PyResult<()> {
        arithmetic::reduce(self, array, (call, op, Reduction::AllReduce))
    }

    fn reduce(&mut self, call: &str, array: &Bound<'_, PyAny>, op: &str, root: usize) -> PyResult<()> {
        self.check("root", root)?;
        arithmetic::reduce(self, array, (call, op, Reduction::Reduce { root }))
    }

    fn scan(&mut self, call: &str, array: &Bound<'_, PyAny>, op: &str, exclusive: bool) -> PyResult<()> {
        arithmetic::reduce(self, array, (call, op, Reduction::Scan { exclusive }))
    }

    fn reduce_scatter(
        &mut self,
        call: &str,
        array: &Bound<'_, PyAny>,
        op: &str,
        part: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        arithmetic::reduce_scatter(self, array, (call, op, part))
    }

    fn send(&mut self, py: Python<'_>, value: Value<'_>, to: usize, tag: u32, synchronous: bool) -> PyResult<()> {
        self.check("to", to)?;
        if synchronous {
            let frame = value.whole()?;
            return self.wait(py, async move |comm| comm.send_synchronous(to, tag, &frame).await);
        }
        let (payload, end) = (value.payload()?, value.end()?);
        if payload.len() <= AT_ONCE_MAX {
            // A send does not wait, and a short one takes less time than releasing the interpreter lock.
            let (communicator, parts) = (self.communicator()?, [payload, &end]);
            let sent = pin!(communicator.send_parts(to, tag, &parts));
            if let Poll::Ready(sent) = sent.poll(&mut Context::from_waker(Waker::noop())) {
                return sent.map_err(|error| errors::of_ranks(&error));
            }
            return Err(errors::runtime("a send waits, which no fabric does"));
        }
        self.wait(py, async move |comm| comm.send_parts(to, tag, &[payload, &end]).await)
    }

    /// Returns the received value, the rank that sent it, and its tag.
    fn receive<'py>(
        &mut self,
        py: Python<'py>,
        source: Option<usize>,
        tag: Option<u32>,
    ) -> PyResult<(Bound<'py, PyAny>, usize, u32)> {
        let wanted = self.wanted(source, tag)?;
        let (frame, status) = self.wait(py, async move |comm| comm.receive_any::<u8>(wanted).await)?;
        Ok((frame::opened(py, frame)?, status.source, status.tag))
    }

    /// Copies the array of a message into `out`, if it has the same type and shape.
    fn receive_into<'py>(
        &mut self,
        py: Python<'py>,
        source: Option<usize>,
        tag: Option<u32>,
        mut out: Room<'py>,
    ) -> PyResult<Copied<'py>> {
        let wanted = self.wanted(source, tag)?;
        let expected = out.trailer.clone();
        let out = out.bytes()?;
        let (status, other) = self.wait(py, async move |comm| {
            let mut other = None;
            let copy = |status: Status, message: &mut Incoming<'_>| {
                // The tail holds at least the trailer.
                let tail = message.tail();
                match frame::divided(tail) {
                    Some((rest, found)) => {
                        let length = status.bytes - (tail.len() - rest.len());
                        if found == expected.as_slice() && length == out.len() {
                            return message.copy(out);
                        }
                        other = Some(found.to_vec());
                    }
                    None => other = Some(Vec::new()),
                }
                Ok(())
            };
            let status = comm.receive_with(wanted, copy).await?;
            Ok((status, other))
        })?;
        let other = other.map(|trailer| PyBytes::new(py, &trailer));
        Ok((status.source, status.tag, other))
    }

    /// Starts a receive.
    fn start_receive(&mut self, py: Python<'_>, source: Option<usize>, tag: Option<u32>) -> PyResult<Request> {
        let (wanted, pending, stop) = (self.wanted(source, tag)?, self.pending.clone(), self.stop.clone());
        let communicator = self.communicator()?;
        Ok(Request::new(Started::Receive(py.detach(|| communicator.post_receive(wanted))), pending, stop))
    }

    /// Sends a value, and starts to wait for its receiver.
    fn start_send(&mut self, py: Python<'_>, value: Value<'_>, to: usize, tag: u32) -> PyResult<Request> {
        self.check("to", to)?;
        let (frame, pending, stop) = (value.whole()?, self.pending.clone(), self.stop.clone());
        let communicator = self.communicator()?;
        let posted = py.detach(|| communicator.post_send(to, tag, &frame)).map_err(|error| errors::of_ranks(&error))?;
        Ok(Request::new(Started::Send(posted), pending, stop))
    }

    /// Returns the source, the tag and the number of bytes of the next message that matches. Without `wait`, returns
    /// `None` if no such message has arrived.
    fn probe(
        &mut self,
        py: Python<'_>,
        source: Option<usize>,
        tag: Option<u32>,
        wait: bool,
    ) -> PyResult<Option<(usize, u32, usize)>> {
        let wanted = self.wanted(source, tag)?;
        let found = self.wait(py, async move |comm| match wait {
            true => comm.probe(wanted).await.map(Some),
            false => comm.probe_now(wanted),
        })?;
        Ok(found.map(|status| (status.source, status.tag, status.bytes)))
    }

    /// Sends all ranks the value of this rank, the root.
    fn broadcast(&mut self, py: Python<'_>, value: Value<'_>, root: usize) -> PyResult<()> {
        self.check("root", root)?;
        let (payload, end) = (value.payload()?, value.end()?);
        let mut block = [0_u8; BLOCK];
        block[..8].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        block[8..16].copy_from_slice(&(end.len() as u64).to_le_bytes());
        block[16..][..end.len()].copy_from_slice(&end);
        let short = block[16 + end.len()..].get_mut(..payload.len());
        let is_short = short.map(|room| room.copy_from_slice(payload)).is_some();
        self.broadcast_block(py, root, &mut block)?;
        if is_short {
            return Ok(());
        }
        // The root does not write, but the library's call takes memory that may be written.
        let mut payload = payload.to_vec();
        self.wait(py, async move |comm| comm.broadcast(root, &mut payload).await)
    }

    /// Returns the value of the root. Or writes it into `out`, if it has the same type and shape, and returns true.
    fn receive_broadcast<'py>(
        &mut self,
        py: Python<'py>,
        root: usize,
        mut out: Option<Room<'py>>,
    ) -> PyResult<(bool, Option<Bound<'py, PyAny>>)> {
        self.check("root", root)?;
        let mut block = [0_u8; BLOCK];
        self.broadcast_block(py, root, &mut block)?;
        let word = |place: usize| u64::from_le_bytes(std::array::from_fn(|byte| block[place + byte])) as usize;
        let (length, end) = (word(0), &block[16..][..word(8).min(BLOCK - 16)]);
        let short = block[16 + end.len()..].get(..length);
        if let Some(out) = &mut out
            && frame::end(&out.trailer)? == end
            && out.bytes()?.len() == length
        {
            let out = out.bytes()?;
            match short {
                Some(payload) => out.copy_from_slice(payload),
                None => self.wait(py, async move |comm| comm.broadcast(root, out).await)?,
            }
            return Ok((true, None));
        }
        let mut frame = short.map_or_else(|| vec![0; length], <[u8]>::to_vec);
        if short.is_none() {
            let room = &mut frame;
            self.wait(py, async move |comm| comm.broadcast(root, room).await)?;
        }
        frame.extend_from_slice(end);
        Ok((false, Some(frame::opened(py, frame)?)))
    }

    /// Gathers the values of all ranks at the root or, without a root, at all ranks.
    fn gather<'py>(
        &mut self,
        py: Python<'py>,
        value: Value<'py>,
        root: Option<usize>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        if let Some(root) = root {
            self.check("root", root)?;
        }
        let own = value.whole()?;
        let gathered = self.wait(py, async move |comm| match root {
            Some(root) => comm.gather(root, &own).await,
            None => comm.all_gather_v(&own).await.map(Some),
        })?;
        let Some(gathered) = gathered else { return Ok(None) };
        gathered.into_iter().map(|frame| frame::opened(py, frame)).collect::<PyResult<_>>().map(Some)
    }

    /// Sends each rank its value of the root's values. Returns the value and true. Returns `None` and false on all ranks
    /// if the root has no values; a root whose values cannot be sent returns its error.
    fn scatter<'py>(
        &mut self,
        py: Python<'py>,
        values: Option<Vec<Bound<'py, PyAny>>>,
        root: usize,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, bool)> {
        self.check("root", root)?;
        let framed = |value: &Bound<'py, PyAny>| value.extract::<Value<'_>>()?.whole();
        let framed: PyResult<Vec<_>> = values.iter().flatten().map(framed).collect();
        // An empty frame says that the root has no values.
        let mut parts = if self.rank == root { vec![Vec::new(); self.size] } else { Vec::new() };
        for (part, frame) in parts.iter_mut().zip(framed.iter().flatten()) {
            part.clone_from(frame);
        }
        let frame = self.wait(py, async move |comm| comm.scatter_v(root, &parts).await)?;
        framed?;
        if frame.is_empty() { Ok((None, false)) } else { Ok((Some(frame::opened(py, frame)?), true)) }
    }

    /// Sends a value to each rank, and returns a value from each rank.
    fn all_to_all<'py>(&mut self, py: Python<'py>, values: Vec<Value<'py>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        if values.len() != self.size {
            return Err(errors::value(format!("{} values for {} ranks", values.len(), self.size)));
        }
        let parts = values.iter().map(Value::whole).collect::<PyResult<Vec<_>>>()?;
        let received = self.wait(py, async move |comm| comm.all_to_all_v(&parts).await)?;
        received.into_iter().map(|frame| frame::opened(py, frame)).collect()
    }

    /// Sends a value to the rank at this distance, and returns the value of the rank at the same distance behind.
    fn shift<'py>(&mut self, py: Python<'py>, value: Value<'py>, displacement: isize) -> PyResult<Bound<'py, PyAny>> {
        let mut own = value.whole()?;
        // The library's shift needs frames of one length, so all ranks pad theirs to the longest.
        let mut lengths = vec![0_usize; self.size];
        let (length, all) = ([own.len()], &mut lengths);
        self.wait(py, async move |comm| comm.all_gather(&length, all).await)?;
        own.resize(lengths.iter().copied().max().unwrap_or_default(), 0);
        let mut received = vec![0; own.len()];
        let (sent, room) = (&own, &mut received);
        self.wait(py, async move |comm| comm.shift(displacement, sent, room).await)?;
        let source = (self.rank as isize - displacement).rem_euclid(self.size as isize);
        received.truncate(lengths[source as usize]);
        frame::opened(py, received)
    }

    /// Sends a value to each neighbour on a grid of these extents, and returns the values of the neighbours. The items
    /// are in the order of directions: the lower and the upper neighbour in the first dimension, in the second, and so
    /// on.
    fn exchange<'py>(
        &mut self,
        py: Python<'py>,
        dimensions: Vec<(usize, bool)>,
        values: Vec<Value<'py>>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let boundary = |is_periodic| if is_periodic { Boundary::Periodic } else { Boundary::Open };
        let dimensions: Vec<_> = dimensions.into_iter().map(|(extent, ring)| (extent, boundary(ring))).collect();
        let ranks = dimensions.iter().try_fold(1_usize, |ranks, (extent, _)| ranks.checked_mul(*extent));
        if dimensions.is_empty() || ranks != Some(self.size) || values.len() != 2 * dimensions.len() {
            return Err(errors::value(format!(
                "a grid of {} dimensions and {} values do not fit {} ranks",
                dimensions.len(),
                values.len(),
                self.size
            )));
        }
        let parts = values.iter().map(Value::whole).collect::<PyResult<Vec<_>>>()?;
        let received = self.wait(py, async move |comm| comm.exchange_on(&Grid::new(&dimensions), &parts).await)?;
        received.into_iter().map(|frame| frame.map(|frame| frame::opened(py, frame)).transpose()).collect()
    }

    /// Returns a communicator of the ranks with the same `color`, in the order of their keys; `None` without one.
    fn split(&mut self, py: Python<'_>, color: Option<u32>, key: i64) -> PyResult<Option<Self>> {
        let part = self.wait(py, async move |comm| comm.split(color, key).await)?;
        Ok(part.map(|part| Self::new(part, self.pending.clone(), self.stop.clone())))
    }
}

/// A program that is running on ranks.
#[pyclass(module = "lehr._native", name = "Ranks", frozen)]
pub(crate) struct Ranks {
    stop: Arc<Flag>,
    /// In a job, the reservation of this process until the program has ended; `None` outside of a job.
    program: Option<job::Program>,
}

#[pymethods]
impl Ranks {
    /// Ends all waits of this program's ranks in this process.
    fn stop(&self) {
        self.stop.raise();
    }

    /// Exchanges the outcome of this process's ranks with the other processes. `failure` is the error of this process.
    /// `is_first` says that no other rank caused the error. Returns the error on which all processes agree.
    fn end(&self, py: Python<'_>, failure: Option<String>, is_first: bool) -> PyResult<Option<String>> {
        let Some(program) = &self.program else { return Ok(None) };
        program.end(py, failure.map(|message| Outcome { is_panic: is_first, message }))
    }
}

/// Begins a program of `ranks` ranks. Returns the communicators of this process's ranks, and the program.
///
/// Without a number, there is one rank for each hardware thread or, in a job, one rank for each process.
#[pyfunction]
#[pyo3(signature = (ranks = None))]
pub(crate) fn begin_ranks(py: Python<'_>, ranks: Option<usize>) -> PyResult<(Vec<Rank>, Ranks)> {
    let group = ProcessGroup::new(py, None)?;
    let stop = Arc::new(Flag::new());
    let may_spin = |ranks: usize| available_parallelism().is_ok_and(|threads| ranks <= threads.get());
    let (world, program) = match group.execution.job {
        None => {
            let ranks = ranks.unwrap_or(group.execution.ranks);
            (alone(ranks, may_spin(ranks))?, None)
        }
        Some(_) => {
            let processes = job::count(py)?;
            let ranks = ranks.unwrap_or(processes);
            if ranks == 0 || !ranks.is_multiple_of(processes) {
                return Err(errors::value(format!(
                    "The 'ranks' parameter must be a multiple of the {processes} processes of the MPI job. Got {ranks} instead."
                )));
            }
            group.agree(py, "ranks.run", || ranks.to_le_bytes().to_vec())?;
            let (world, program) = job::begin(py, ranks / processes)?;
            (world, Some(program))
        }
    };
    let lock = Lock::new(may_spin(world.len()));
    let rank = |communicator| Rank::new(communicator, Pending::new(lock.clone()), stop.clone());
    let world = world.into_iter().map(rank).collect();
    Ok((world, Ranks { stop, program }))
}

/// Creates communicators for ranks on threads of this process. `may_spin` says that each has a hardware thread.
fn alone(ranks: usize, may_spin: bool) -> PyResult<Vec<Communicator>> {
    Layout::threads(ranks).check().map_err(|error| errors::of_ranks(&error))?;
    Ok(Kind::Threads.communicators(ranks, may_spin))
}
