//! Ports and interleaves for `lehr.runtime`, on which coroutines of asyncio can wait.
//!
//! A wait is a future of the runtime. The coroutine that awaits it polls the future itself ([`Wait::poll`]), and a
//! waker schedules the next poll on the event loop. So an item leaves its port in the same step in which the coroutine
//! receives it. If the coroutine is cancelled first, it drops the future, and the item stays in the port.
//!
//! Handlers of an interleave are also coroutines of the event loop, because code that needs the interpreter would not
//! run faster on a worker. While a handler runs, a task of the runtime occupies the handler's slot in the interleave,
//! and waits until the coroutine has ended.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use lehr_runtime::{
    Dispatcher, Exclusive, Handlers, Interleave, IntoSource, Overflow, Port, PostError, ReceiveError, Settings,
    Snapshot, Source, TaskError, join_all,
};
use lehr_sync::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors;

/// An item of a port, which is any Python object.
type Item = Py<PyAny>;
/// The state of an interleave. All versions of the state are the same Python object.
type State = Arc<Py<PyAny>>;
type Waiting = Pin<Box<dyn Future<Output = PyResult<Item>> + Send>>;

fn refused(error: &PostError<Item>) -> PyErr {
    match error.reason {
        lehr_runtime::Reason::Full => errors::full(error.to_string()),
        _ => errors::closed(error.to_string()),
    }
}

fn unanswerable(error: &ReceiveError) -> PyErr {
    if error.is_closed() { errors::closed(error.to_string()) } else { errors::value(error.to_string()) }
}

fn list(items: Vec<Item>) -> PyResult<Item> {
    Python::attach(|py| PyList::new(py, items).map(|list| list.into_any().unbind()))
}

/// A queue of Python objects, to which any thread may post.
#[pyclass(module = "lehr._native", name = "Port", frozen)]
pub(crate) struct PyPort {
    port: Port<Item>,
}

#[pymethods]
impl PyPort {
    #[new]
    #[pyo3(signature = (name, capacity, overflow))]
    fn new(name: String, capacity: Option<usize>, overflow: &str) -> PyResult<Self> {
        let overflow = match overflow {
            "wait" => Overflow::Wait,
            "reject" => Overflow::Reject,
            "drop_oldest" => Overflow::DropOldest,
            _ => Overflow::DropNewest,
        };
        if capacity == Some(0) {
            return Err(errors::value("The 'capacity' parameter must be at least 1 or None. Got 0 instead."));
        }
        let mut port = Port::builder().name(name);
        if let Some(capacity) = capacity {
            port = port.capacity(capacity, overflow);
        }
        Ok(Self { port: port.build() })
    }

    #[getter]
    fn waiting(&self) -> usize {
        self.port.waiting()
    }

    #[getter]
    fn is_closed(&self) -> bool {
        self.port.is_closed()
    }

    fn __len__(&self) -> usize {
        self.port.len()
    }

    fn post(&self, item: Item) -> PyResult<()> {
        self.port.post(item).map_err(|error| refused(&error))
    }

    /// Returns the next item in a tuple, or `None` if the port is empty.
    fn try_receive(&self) -> Option<(Item,)> {
        self.port.try_receive().map(|item| (item,))
    }

    fn drain(&self) -> Vec<Item> {
        self.port.drain()
    }

    fn close(&self) {
        self.port.close();
    }

    fn receive(&self) -> Wait {
        let port = self.port.clone();
        Wait::new(async move { port.receive().await.map_err(|error| unanswerable(&error)) })
    }

    fn take(&self, count: usize) -> Wait {
        let port = self.port.clone();
        Wait::new(async move { port.take(count).await.map_err(|error| unanswerable(&error)).and_then(list) })
    }

    fn post_wait(&self, item: Item) -> Wait {
        let port = self.port.clone();
        Wait::new(async move {
            port.post_wait(item).await.map_err(|error| refused(&error))?;
            Ok(Python::attach(|py| py.None()))
        })
    }
}

/// Waits for one item of each port, and takes all of them at once.
#[pyfunction]
pub(crate) fn join_ports(ports: Vec<PyRef<'_, PyPort>>) -> Wait {
    let ports: Vec<Port<Item>> = ports.iter().map(|port| port.port.clone()).collect();
    Wait::new(async move { join_all(ports).await.map_err(|error| unanswerable(&error)).and_then(list) })
}

/// Waits for the first of several waits. Returns the position and outcome of this wait, and drops the remaining waits.
/// If several are ready, the first in the list wins.
#[pyfunction]
pub(crate) fn choose(waits: Vec<PyRef<'_, Wait>>) -> PyResult<Wait> {
    let taken = waits.iter().map(|wait| wait.future.with(Option::take));
    let mut futures: Vec<Waiting> = taken
        .collect::<Option<_>>()
        .ok_or_else(|| errors::runtime("one of these waits has been awaited or chosen already"))?;
    Ok(Wait::new(async move {
        let (first, outcome) = poll_fn(|context| {
            for (number, future) in futures.iter_mut().enumerate() {
                if let Poll::Ready(outcome) = future.as_mut().poll(context) {
                    return Poll::Ready((number, outcome));
                }
            }
            Poll::Pending
        })
        .await;
        drop(futures);
        let outcome = outcome?;
        Python::attach(|py| Ok((first, outcome).into_pyobject(py)?.into_any().unbind()))
    }))
}

/// Calls a Python function when a wait should be polled again.
struct Notice(Item);

impl Wake for Notice {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // If the event loop is closed, the call fails, and nothing needs to be polled.
        Python::attach(|py| drop(self.0.call0(py)));
    }
}

/// A future that Python code can await at most once.
#[pyclass(module = "lehr._native", name = "Wait", frozen)]
pub(crate) struct Wait {
    future: Mutex<Option<Waiting>>,
}

impl Wait {
    fn new(future: impl Future<Output = PyResult<Item>> + Send + 'static) -> Self {
        Self { future: Mutex::new(Some(Box::pin(future))) }
    }
}

#[pymethods]
impl Wait {
    /// Returns the outcome in a tuple if it is ready. Otherwise returns `None`, and calls `wake`, on any thread, when
    /// the wait should be polled again.
    fn poll(&self, wake: Item) -> PyResult<Option<(Item,)>> {
        let waker = Waker::from(Arc::new(Notice(wake)));
        let polled = self.future.with(|future| {
            let polled = future.as_mut().map(|waiting| waiting.as_mut().poll(&mut Context::from_waker(&waker)));
            if polled.as_ref().is_some_and(Poll::is_ready) {
                *future = None;
            }
            polled
        });
        match polled {
            None => Err(errors::runtime("what has been awaited, chosen or given up cannot be awaited again")),
            Some(Poll::Pending) => Ok(None),
            Some(Poll::Ready(outcome)) => outcome.map(|item| Some((item,))),
        }
    }

    /// Cancels the wait. Items that the wait has not taken stay in their ports.
    fn cancel(&self) {
        // Drop the future outside the lock, because dropping it may wake other waits.
        drop(self.future.with(Option::take));
    }
}

/// The dispatcher whose workers schedule handlers.
#[pyclass(module = "lehr._native", name = "Dispatcher", frozen)]
pub(crate) struct PyDispatcher {
    dispatcher: Mutex<Option<Dispatcher>>,
    /// The id of the process that started the workers. A fork of this process has no workers.
    process: u32,
}

impl PyDispatcher {
    fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Ends the workers. Releases the interpreter lock, because workers may wait for it.
    fn end(&self, py: Python<'_>) {
        let Some(dispatcher) = self.dispatcher.with(Option::take) else { return };
        if self.is_of_this_process() {
            py.detach(|| drop(dispatcher));
        } else {
            // The forked process has no workers to end.
            std::mem::forget(dispatcher);
        }
    }
}

#[pymethods]
impl PyDispatcher {
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        let dispatcher = Dispatcher::new(threads).map_err(|error| errors::runtime(error.to_string()))?;
        Ok(Self { dispatcher: Mutex::new(Some(dispatcher)), process: std::process::id() })
    }

    fn close(&self, py: Python<'_>) {
        self.end(py);
    }
}

impl Drop for PyDispatcher {
    fn drop(&mut self) {
        Python::attach(|py| self.end(py));
    }
}

/// Signals that the coroutine of a handler has ended. Dropping this value also sends the signal.
#[pyclass(module = "lehr._native", name = "Ended", frozen)]
pub(crate) struct Ended {
    port: Port<()>,
}

#[pymethods]
impl Ended {
    fn tell(&self) {
        self.port.close();
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.port.close();
    }
}

/// A handler: a function that creates the coroutine, and a function that starts the coroutine on the event loop.
struct Handler {
    start: Item,
    function: Item,
}

impl Handler {
    /// Starts the handler's coroutine on the event loop, and waits for its end. The coroutine receives an item or, for
    /// a join, a list of items.
    fn run(&self, state: &State, given: PyResult<Item>) -> impl Future<Output = ()> + Send + use<> {
        let ended = Port::new();
        Python::attach(|py| {
            let says = Ended { port: ended.clone() };
            // If the event loop is closed, the coroutine does not start. Dropping `says` then signals the end.
            let started = given.and_then(|given| self.start.call1(py, (&self.function, state.as_ref(), given, says)));
            drop(started);
        });
        async move {
            // Nothing is posted to this port. The wait ends when the port is closed.
            let _: Result<(), ReceiveError> = ended.receive().await;
        }
    }
}

/// Adds a branch of any group except teardowns. `given` converts the item of the source to the argument of the handler.
fn with_branch<I: IntoSource>(
    handlers: Handlers<State>,
    group: &str,
    source: I,
    handler: Handler,
    given: fn(lehr_runtime::Item<I>) -> PyResult<Item>,
) -> PyResult<Handlers<State>>
where
    lehr_runtime::Item<I>: 'static,
{
    Ok(match group {
        "exclusive" => handlers.exclusive(source, move |state: Exclusive<State>, item| {
            let run = handler.run(&state, given(item));
            async move {
                run.await;
                drop(state);
            }
        }),
        "concurrent" => handlers.concurrent(source, move |state: Snapshot<State>, item| {
            let run = handler.run(&state, given(item));
            async move {
                run.await;
                drop(state);
            }
        }),
        "independent" => {
            handlers.independent(source, move |state: Snapshot<State>, item| handler.run(&state, given(item)))
        }
        _ => return Err(errors::value(format!("no group of such branches is called {group:?}"))),
    })
}

/// A state with handlers that run concurrently or exclusively.
#[pyclass(module = "lehr._native", name = "Interleave", frozen)]
pub(crate) struct PyInterleave {
    interleave: Mutex<Option<Interleave<State>>>,
    handle: lehr_runtime::InterleaveHandle<State>,
}

fn ended_early(error: &TaskError) -> PyErr {
    errors::closed(format!("the interleave has ended: {error}"))
}

#[pymethods]
impl PyInterleave {
    /// Creates an interleave. `branches` are tuples of group, ports, whether the ports are joined, and handler
    /// function. `start` runs a function's coroutine with the state and the item on the event loop, and signals its
    /// end.
    #[new]
    fn new(
        dispatcher: &PyDispatcher,
        name: Option<String>,
        state: Item,
        branches: Vec<(String, Vec<PyRef<'_, PyPort>>, bool, Item)>,
        start: Item,
    ) -> PyResult<Self> {
        if !dispatcher.is_of_this_process() {
            return Err(errors::runtime(
                "this process was forked from the one whose threads the dispatcher's workers are. \
                 Make a dispatcher in each process, or start processes with the \"spawn\" method.",
            ));
        }
        let mut handlers: Handlers<State> = Handlers::new();
        for (group, ports, is_join, function) in branches {
            let handler = Handler { start: Python::attach(|py| start.clone_ref(py)), function };
            let ports: Vec<Port<Item>> = ports.iter().map(|port| port.port.clone()).collect();
            handlers = match (is_join, ports.as_slice()) {
                (true, _) => {
                    let source = Source::join(ports).map_err(|error| unanswerable(&error))?;
                    with_branch(handlers, &group, source, handler, list)?
                }
                (false, [port]) if group == "teardown" => {
                    handlers.teardown(port, move |state: State, item| handler.run(&state, Ok(item)))
                }
                (false, [port]) => with_branch(handlers, &group, port, handler, Ok)?,
                (false, _) => return Err(errors::value("a branch that joins nothing has one port")),
            };
        }
        let settings = match name {
            Some(name) => Settings::new().named(name),
            None => Settings::new(),
        };
        let started = dispatcher.dispatcher.with(|dispatcher| {
            dispatcher.as_ref().map(|dispatcher| settings.start(dispatcher.handle(), Arc::new(state), handlers))
        });
        let interleave = started.ok_or_else(|| errors::runtime("the dispatcher is closed"))?;
        let handle = interleave.handle().clone();
        Ok(Self { interleave: Mutex::new(Some(interleave)), handle })
    }

    /// Waits until a teardown has ended the interleave.
    fn ended(&self) -> Wait {
        let handle = self.handle.clone();
        Wait::new(async move {
            handle.ended().await.map_err(|error| ended_early(&error))?;
            Ok(Python::attach(|py| py.None()))
        })
    }

    /// Stops the interleave, and returns the state.
    fn stop(&self) -> PyResult<Wait> {
        let interleave = self.interleave.with(Option::take);
        let interleave = interleave.ok_or_else(|| errors::closed("the interleave has been stopped"))?;
        Ok(Wait::new(async move {
            let state = interleave.stop().await.map_err(|error| ended_early(&error))?;
            Ok(Python::attach(|py| state.clone_ref(py)))
        }))
    }
}
