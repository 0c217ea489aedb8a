//! Programs on ranks for `lehr.ranks`: message passing with NumPy arrays, between Python threads and between the
//! processes of a job.
//!
//! A communicator outlives the run that created it. The Python thread of the rank polls the communicator, and releases
//! the interpreter lock while it waits. Calls read and write arrays in place, without a worker and without copying.
//! Waiting threads sleep instead of spinning, so a late thread delays the other threads only by a wake-up.
//!
//! Arrays of all ranks must have the same type, and for most calls the same shape. Messages of collectives do not
//! contain the type, so before each collective the ranks exchange descriptions of their calls ([`Rank::agree`]). If a
//! rank passes an incompatible array, the call fails with the same error on all ranks.

use lehr_ranks::{Communicator, Layout, Outcome, Plain, Status, Wanted};
use lehr_runtime::Dispatcher;
use lehr_sync::{Arc, process::Flag};
use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyList;
use xxhash_rust::xxh3::xxh3_64;

use crate::errors;
use crate::job::{self, ProcessGroup};
use crate::waiting::wait_for;

/// A numeric type of array elements.
trait Number: Element + Plain + Default + PartialOrd {
    /// The code of the type: its index in [`NAMES`].
    const CODE: u64;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Returns whether this value is NaN. The minimum and the maximum of NaN and a number are NaN.
    fn is_none(self) -> bool;
}

/// The names of the types in NumPy, by their codes.
const NAMES: [&str; 10] =
    ["float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"];

macro_rules! integers {
    ($($type:ident $code:literal)*) => {$(
        impl Number for $type {
            const CODE: u64 = $code;
            // Integers wrap around, as in NumPy.
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn is_none(self) -> bool { false }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident $code:literal)*) => {$(
        impl Number for $type {
            const CODE: u64 = $code;
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
            fn is_none(self) -> bool { self.is_nan() }
        }
    )*};
}

floats! { f64 0 f32 1 }
integers! { i64 2 i32 3 i16 4 i8 5 u64 6 u32 7 u16 8 u8 9 }

/// Calls a generic function with an array, cast to its type, and with a tuple of the remaining arguments.
macro_rules! by_array {
    ($array:expr => $function:ident $rest:tt) => { by_array!($array => $function $rest for f64 f32 i64 i32 i16 i8 u64 u32 u16 u8) };
    ($array:expr => $function:ident $rest:tt for $($type:ident)*) => {{
        $(if let Ok(array) = $array.cast::<PyArrayDyn<$type>>() {
            return $function(array, $rest);
        })*
        Err(no_array($array))
    }};
}

/// Calls a generic function for the type with this code, with a tuple of the remaining arguments.
macro_rules! by_code {
    ($code:expr => $function:ident $rest:tt) => { by_code!($code => $function $rest for f64 f32 i64 i32 i16 i8 u64 u32 u16 u8) };
    ($code:expr => $function:ident $rest:tt for $($type:ident)*) => {
        match $code {
            $(<$type as Number>::CODE => $function::<$type>($rest),)*
            code => Err(errors::runtime(format!("a message says that it is of type {code}, which there is not"))),
        }
    };
}

fn no_array(found: &Bound<'_, PyAny>) -> PyErr {
    let found = match found.cast::<PyUntypedArray>() {
        Ok(array) => format!("one of {}", array.dtype()),
        Err(_) => found.get_type().to_string(),
    };
    errors::type_error(format!(
        "expected a NumPy array of {} in the order of bytes of this machine, found {found}",
        NAMES.join(", ")
    ))
}

/// The operation that combines values.
#[derive(Clone, Copy)]
enum Operation {
    Sum,
    Product,
    Least,
    Largest,
}

impl Operation {
    const ALL: [(&'static str, Self); 4] =
        [("sum", Self::Sum), ("prod", Self::Product), ("min", Self::Least), ("max", Self::Largest)];

    fn of(name: &str) -> PyResult<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, operation)| *operation).ok_or_else(|| {
            errors::value(format!(
                "The 'op' parameter must be one of 'sum', 'prod', 'min', 'max'. Got '{name}' instead."
            ))
        })
    }

    /// Returns a function that combines two slices element by element, and writes the result into the left slice.
    fn combine<T: Number>(self) -> impl Fn(&mut [T], &[T]) + Send + Sync {
        let each = |left: &mut [T], right: &[T], combined: fn(T, T) -> T| {
            left.iter_mut().zip(right).for_each(|(left, right)| *left = combined(*left, *right));
        };
        move |left: &mut [T], right: &[T]| match self {
            Self::Sum => each(left, right, T::plus),
            Self::Product => each(left, right, T::times),
            Self::Least => each(left, right, |a, b| if a.is_none() || a < b { a } else { b }),
            Self::Largest => each(left, right, |a, b| if a.is_none() || a > b { a } else { b }),
        }
    }
}

/// Describes the type and shape of an array.
fn told<T: Number>(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("{} of shape ({}{comma})", NAMES[T::CODE as usize], lengths.join(", "))
}

/// Returns the message that precedes an array: the code of its type, then its lengths.
fn header(code: u64, shape: &[usize]) -> Vec<u64> {
    std::iter::once(code).chain(shape.iter().map(|length| *length as u64)).collect()
}

/// Returns the values of an array for reading, row by row.
fn read<'a, T: Number>(array: &'a PyReadonlyArrayDyn<'_, T>) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(in_order());
    }
    array.as_slice().map_err(|_| in_order())
}

/// Returns the values of an array for writing, row by row.
fn written<'a, T: Number>(array: &'a mut PyReadwriteArrayDyn<'_, T>) -> PyResult<&'a mut [T]> {
    if !array.is_c_contiguous() {
        return Err(in_order());
    }
    array.as_slice_mut().map_err(|_| in_order())
}

fn in_order() -> PyErr {
    errors::value(
        "expected a C-contiguous array, whose values can be used where they lie. Pass np.ascontiguousarray(array).",
    )
}

fn borrowed<'py, T: Number>(array: &Bound<'py, PyArrayDyn<T>>) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    array.try_readonly().map_err(|_| errors::value("the array is being written by another call"))
}

fn lent<'py, T: Number>(array: &Bound<'py, PyArrayDyn<T>>) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    array.try_readwrite().map_err(|error| match error {
        numpy::BorrowError::NotWriteable => {
            errors::value("the array is read-only, and the result is written into it. Pass a copy.")
        }
        _ => errors::value("the array is being used by another call"),
    })
}

/// Turns a vector into an array without a copy.
fn array<'py, T: Number>(py: Python<'py>, values: Vec<T>, shape: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
    values.into_pyarray(py).reshape(shape).map(Bound::into_any)
}

/// One rank of a program.
#[pyclass(module = "lehr._native", name = "Communicator")]
pub(crate) struct Rank {
    /// The communicator; `None` after the rank has ended.
    communicator: Option<Communicator>,
    stop: Arc<Flag>,
    #[pyo3(get)]
    rank: usize,
    #[pyo3(get)]
    size: usize,
}

impl Rank {
    /// Runs a call on this thread to its end, without the interpreter lock.
    fn wait<T: Send>(
        &mut self,
        py: Python<'_>,
        call: impl AsyncFnOnce(&mut Communicator) -> Result<T, lehr_ranks::Error> + Send,
    ) -> PyResult<T> {
        let Self { communicator, stop, .. } = self;
        let ended = || errors::rank("the program of this rank has returned: it cannot communicate any more");
        let communicator = communicator.as_mut().ok_or_else(ended)?;
        match py.detach(|| wait_for(call(communicator), stop)) {
            None => Err(errors::rank("the program was stopped")),
            Some(outcome) => outcome.map_err(|error| errors::of_ranks(&error)),
        }
    }

    /// Checks that all ranks make the same call. The ranks exchange hashes of the descriptions of their calls. They
    /// exchange the descriptions only if the hashes differ.
    fn agree(&mut self, py: Python<'_>, own: &str) -> PyResult<()> {
        let mut numbers = vec![0; self.size];
        let (number, all) = ([xxh3_64(own.as_bytes())], &mut numbers);
        self.wait(py, async move |comm| comm.all_gather(&number, all).await)?;
        let Some(other) = numbers.iter().position(|number| *number != numbers[0]) else { return Ok(()) };
        let sentences = self.wait(py, async move |comm| comm.all_gather_v(own.as_bytes()).await)?;
        let of = |rank: usize| String::from_utf8_lossy(&sentences[rank]);
        Err(errors::value(format!("the ranks disagree: rank 0 calls {}, rank {other} {}", of(0), of(other))))
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
}

/// The arguments of a generic function in addition to the array.
type Argument<'a, 'py, T> = (&'a mut Rank, Python<'py>, T);

fn all_reduce<T: Number>(array: &Bound<'_, PyArrayDyn<T>>, (rank, py, op): Argument<'_, '_, &str>) -> PyResult<()> {
    let operation = Operation::of(op)?;
    let mut array = lent(array)?;
    let own = format!("all_reduce by '{op}' of {}", told::<T>(array.shape()));
    let values = written(&mut array)?;
    rank.agree(py, &own)?;
    rank.wait(py, async move |comm| comm.all_reduce_elementwise(values, operation.combine()).await)
}

fn reduce<T: Number>(
    array: &Bound<'_, PyArrayDyn<T>>,
    (rank, py, (root, op)): Argument<'_, '_, (usize, &str)>,
) -> PyResult<()> {
    rank.check("root", root)?;
    let operation = Operation::of(op)?;
    let mut array = lent(array)?;
    let own = format!("reduce by '{op}' with root {root} of {}", told::<T>(array.shape()));
    let values = written(&mut array)?;
    rank.agree(py, &own)?;
    rank.wait(py, async move |comm| comm.reduce(root, values, operation.combine()).await)
}

fn broadcast<T: Number>(array: &Bound<'_, PyArrayDyn<T>>, (rank, py, root): Argument<'_, '_, usize>) -> PyResult<()> {
    rank.check("root", root)?;
    let mut array = lent(array)?;
    let own = format!("broadcast with root {root} of {}", told::<T>(array.shape()));
    let values = written(&mut array)?;
    rank.agree(py, &own)?;
    rank.wait(py, async move |comm| comm.broadcast(root, values).await)
}

fn scan<T: Number>(
    array: &Bound<'_, PyArrayDyn<T>>,
    (rank, py, (op, exclusive)): Argument<'_, '_, (&str, bool)>,
) -> PyResult<()> {
    let operation = Operation::of(op)?;
    let mut array = lent(array)?;
    let kind = if exclusive { "exclusive scan" } else { "scan" };
    let own = format!("{kind} by '{op}' of {}", told::<T>(array.shape()));
    let values = written(&mut array)?;
    rank.agree(py, &own)?;
    rank.wait(py, async move |comm| {
        if exclusive {
            comm.exclusive_scan(values, operation.combine()).await
        } else {
            comm.scan(values, operation.combine()).await
        }
    })
}

/// Gathers the arrays of all ranks at the root or, without a root, at all ranks. The arrays may differ in the length of
/// their first dimension.
fn gather<'py, T: Number>(
    array: &Bound<'py, PyArrayDyn<T>>,
    (rank, py, root): Argument<'_, 'py, Option<usize>>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    if let Some(root) = root {
        rank.check("root", root)?;
    }
    let borrowed = borrowed(array)?;
    let shape = borrowed.shape().to_vec();
    let row = shape.get(1..).unwrap_or_default();
    let rows = format!("rows of {}", told::<T>(row));
    let own = match root {
        Some(root) => format!("gather with root {root} of {rows}"),
        None => format!("all_gather of {rows}"),
    };
    let values = read(&borrowed)?;
    rank.agree(py, &own)?;
    let gathered = rank.wait(py, async move |comm| match root {
        Some(root) => comm.gather(root, values).await,
        None => comm.all_gather_v(values).await.map(Some),
    })?;
    let width: usize = row.iter().product();
    let Some(gathered) = gathered else { return Ok(None) };
    let parts = gathered.into_iter().map(|part| {
        let mut shape = shape.clone();
        if let Some(length) = shape.first_mut()
            && width > 0
        {
            *length = part.len() / width;
        }
        self::array(py, part, shape)
    });
    PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?).map(Some)
}

/// The root of a scatter, and the shape of its array.
struct Deal<'a> {
    root: usize,
    /// The lengths of the root's array.
    shape: &'a [u64],
}

fn scatter<'py, T: Number>(
    (rank, py, deal, array): (&mut Rank, Python<'py>, Deal<'_>, Option<&Bound<'py, PyAny>>),
) -> PyResult<Bound<'py, PyAny>> {
    let mut shape: Vec<usize> = deal.shape.iter().map(|length| *length as usize).collect();
    shape[0] /= rank.size;
    let mut part = vec![T::default(); shape.iter().product()];
    let borrowed = array.map(|array| array.cast::<PyArrayDyn<T>>()).transpose()?.map(borrowed).transpose()?;
    let values = borrowed.as_ref().map(read).transpose()?.unwrap_or_default();
    let (root, own) = (deal.root, &mut part);
    rank.wait(py, async move |comm| comm.scatter(root, values, own).await)?;
    self::array(py, part, shape)
}

/// Returns the header of the array that the root scatters.
fn dealt<T: Number>(array: &Bound<'_, PyArrayDyn<T>>, (): ()) -> PyResult<Vec<u64>> {
    Ok(header(T::CODE, array.shape()))
}

fn send<T: Number>(
    array: &Bound<'_, PyArrayDyn<T>>,
    (rank, py, (to, tag)): Argument<'_, '_, (usize, u32)>,
) -> PyResult<()> {
    rank.check("to", to)?;
    let borrowed = borrowed(array)?;
    let header = header(T::CODE, borrowed.shape());
    let values = read(&borrowed)?;
    rank.wait(py, async move |comm| {
        comm.send(to, tag, &header).await?;
        comm.send(to, tag, values).await
    })
}

fn receive<'py, T: Number>(
    (rank, py, status, shape): (&mut Rank, Python<'py>, Status, Vec<usize>),
) -> PyResult<Bound<'py, PyAny>> {
    let Status { source, tag, .. } = status;
    let values = rank.wait(py, async move |comm| comm.receive::<T>(source, tag).await)?;
    array(py, values, shape)
}

fn shift<'py, T: Number>(
    array: &Bound<'py, PyArrayDyn<T>>,
    (rank, py, displacement): Argument<'_, 'py, isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let borrowed = borrowed(array)?;
    let shape = borrowed.shape().to_vec();
    let own = format!("shift by {displacement} of {}", told::<T>(&shape));
    let values = read(&borrowed)?;
    rank.agree(py, &own)?;
    let mut received = vec![T::default(); values.len()];
    let room = &mut received;
    rank.wait(py, async move |comm| comm.shift(displacement, values, room).await)?;
    self::array(py, received, shape)
}

#[pymethods]
impl Rank {
    /// Ends this rank, and wakes all ranks that wait for it.
    fn close(&mut self) {
        self.communicator = None;
    }

    fn barrier(&mut self, py: Python<'_>) -> PyResult<()> {
        self.wait(py, async |comm| comm.barrier().await)
    }

    fn all_reduce(&mut self, py: Python<'_>, array: &Bound<'_, PyAny>, op: &str) -> PyResult<()> {
        by_array!(array => all_reduce (self, py, op))
    }

    fn reduce(&mut self, py: Python<'_>, array: &Bound<'_, PyAny>, root: usize, op: &str) -> PyResult<()> {
        by_array!(array => reduce (self, py, (root, op)))
    }

    fn broadcast(&mut self, py: Python<'_>, array: &Bound<'_, PyAny>, root: usize) -> PyResult<()> {
        by_array!(array => broadcast (self, py, root))
    }

    fn scan(&mut self, py: Python<'_>, array: &Bound<'_, PyAny>, op: &str, exclusive: bool) -> PyResult<()> {
        by_array!(array => scan (self, py, (op, exclusive)))
    }

    fn gather<'py>(
        &mut self,
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
        root: usize,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        by_array!(array => gather (self, py, Some(root)))
    }

    fn all_gather<'py>(&mut self, py: Python<'py>, array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyList>>> {
        by_array!(array => gather (self, py, None))
    }

    fn scatter<'py>(
        &mut self,
        py: Python<'py>,
        array: Option<&Bound<'py, PyAny>>,
        root: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check("root", root)?;
        let array = array.filter(|_| self.rank == root);
        let described = match array {
            _ if self.rank != root => Ok(Vec::new()),
            None => Err(errors::value("the root deals an array: got none")),
            Some(array) => described(array),
        };
        self.agree(py, &format!("scatter with root {root}"))?;
        // An empty description tells the other ranks that the array of the root is invalid.
        let mut length = [described.as_ref().map_or(0, Vec::len) as u64];
        let room = &mut length;
        self.wait(py, async move |comm| comm.broadcast(root, room).await)?;
        let mut shape = match described {
            Err(wrong) => return Err(wrong),
            Ok(_) if length[0] == 0 => {
                return Err(errors::value(format!("rank {root}, the root, has no array that it can deal")));
            }
            Ok(described) => described,
        };
        shape.resize(length[0] as usize, 0);
        let room = &mut shape;
        self.wait(py, async move |comm| comm.broadcast(root, room).await)?;
        let (code, shape) = (shape[0], &shape[1..]);
        match shape.first() {
            None => Err(errors::value("an array without dimensions cannot be dealt")),
            Some(rows) if *rows % self.size as u64 != 0 => Err(errors::value(format!(
                "an array of {rows} rows cannot be dealt in equal parts to {} ranks",
                self.size
            ))),
            Some(_) => by_code!(code => scatter (self, py, Deal { root, shape }, array)),
        }
    }

    fn send(&mut self, py: Python<'_>, array: &Bound<'_, PyAny>, to: usize, tag: u32) -> PyResult<()> {
        by_array!(array => send (self, py, (to, tag)))
    }

    /// Returns the received array, the rank that sent it, and its tag.
    fn receive<'py>(
        &mut self,
        py: Python<'py>,
        source: Option<usize>,
        tag: Option<u32>,
    ) -> PyResult<(Bound<'py, PyAny>, usize, u32)> {
        if let Some(source) = source {
            self.check("source", source)?;
        }
        let wanted = Wanted { source, tag };
        let (header, status) = self.wait(py, async move |comm| comm.receive_any::<u64>(wanted).await)?;
        let Some((code, lengths)) = header.split_first() else {
            return Err(errors::runtime("a message has come that no Python program sends"));
        };
        let shape = lengths.iter().map(|length| *length as usize).collect();
        let array = by_code!(*code => receive (self, py, status, shape))?;
        Ok((array, status.source, status.tag))
    }

    fn shift<'py>(
        &mut self,
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
        displacement: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        by_array!(array => shift (self, py, displacement))
    }
}

fn described(array: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    by_array!(array => dealt ())
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
    let (world, program) = match group.execution.job {
        None => (alone(ranks.unwrap_or(group.execution.ranks))?, None),
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
    let rank = |communicator: Communicator| Rank {
        rank: communicator.rank(),
        size: communicator.size(),
        stop: stop.clone(),
        communicator: Some(communicator),
    };
    Ok((world.into_iter().map(rank).collect(), Ranks { stop: stop.clone(), program }))
}

/// Creates communicators for ranks on threads of this process.
fn alone(ranks: usize) -> PyResult<Vec<Communicator>> {
    // With one worker for several ranks, no rank spins. Spinning would be harmful if there are more Python threads than
    // processors.
    let dispatcher = Dispatcher::new(1).map_err(|error| errors::runtime(error.to_string()))?;
    let world = lehr_ranks::run(&dispatcher, Layout::threads(ranks), async |communicator| communicator);
    world.map_err(|error| errors::of_ranks(&error))
}
