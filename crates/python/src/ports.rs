//! Ports and interleaves for `lehr.runtime`, awaited in asyncio.
//!
//! A wait is a future of the runtime. The coroutine that awaits it polls it in its own step ([`Wait::poll`]), and a
//! wake calls back into the event loop. So an item leaves its port in exactly the step in which the coroutine gets it.
//! A coroutine that is cancelled in between drops the future, which leaves the item in the port. There is no moment at
//! which an item is in transit.
//!
//! Handlers of an interleave are coroutines of the event loop too, because code that needs the interpreter gains nothing on a worker. A worker holds the handler's
//! place meanwhile, and waits until the loop says that the coroutine has ended.

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

/// The items of ports.
type Item = Py<PyAny>;
/// The state of an interleave: all versions of it are one object.
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

/// A queue of Python objects that any thread may post to.
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

    /// The item in a tuple, or nothing.
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

/// One item of each port, or none of any.
#[pyfunction]
pub(crate) fn join_ports(ports: Vec<PyRef<'_, PyPort>>) -> Wait {
    let ports: Vec<Port<Item>> = ports.iter().map(|port| port.port.clone()).collect();
    Wait::new(async move { join_all(ports).await.map_err(|error| unanswerable(&error)).and_then(list) })
}

/// The number and the outcome of the first of some waits that is over; the others are given up. They are polled in order, so that of several that are over it is the first.
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

/// Calls back when a wait is worth another poll.
struct Notice(Item);

impl Wake for Notice {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // An event loop that is closed wants to hear nothing.
        Python::attach(|py| drop(self.0.call0(py)));
    }
}

/// Something that is waited for, at most once.
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
    /// The outcome in a tuple if it is there; otherwise nothing, and `wake` is called, on any thread, when another poll is worth it.
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

    /// Gives the wait up: items that it has not taken do not move.
    fn cancel(&self) {
        // Dropped after the lock: it may wake others.
        drop(self.future.with(Option::take));
    }
}

/// Workers that hold the places of handlers.
#[pyclass(module = "lehr._native", name = "Dispatcher", frozen)]
pub(crate) struct PyDispatcher {
    dispatcher: Mutex<Option<Dispatcher>>,
    /// The process whose threads its workers are: a fork of it has none.
    process: u32,
}

impl PyDispatcher {
    fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Ends its workers. Without the interpreter, which they may wait for.
    fn end(&self, py: Python<'_>) {
        let Some(dispatcher) = self.dispatcher.with(Option::take) else { return };
        if self.is_of_this_process() {
            py.detach(|| drop(dispatcher));
        } else {
            // Nobody is there who could end.
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

/// The signal that a coroutine of a handler has ended. Forgetting it is a signal too.
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

/// A handler: the starter of its coroutine on the event loop, and the function that makes it.
struct Handler {
    start: Item,
    function: Item,
}

impl Handler {
    /// Has the event loop run the handler's coroutine, and waits for its end. The handler gets an item, or of a join a
    /// list of items.
    fn run(&self, state: &State, given: PyResult<Item>) -> impl Future<Output = ()> + Send + use<> {
        let ended = Port::new();
        Python::attach(|py| {
            let says = Ended { port: ended.clone() };
            // A loop that is closed starts nothing; then the end was said when what would say it was dropped.
            let started = given.and_then(|given| self.start.call1(py, (&self.function, state.as_ref(), given, says)));
            drop(started);
        });
        async move {
            // Nothing is ever posted: it is closed.
            let _: Result<(), ReceiveError> = ended.receive().await;
        }
    }
}

/// Adds a branch of any group but teardowns. `given` makes the argument of a handler from the item of its source.
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

/// A state, and handlers around it that run together or alone.
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
    /// `branches` are groups, ports and functions, with whether the ports are joined. `start` makes the event loop run
    /// a function's coroutine with the state and the item, and signal its end.
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

    /// Waits for the end by teardown.
    fn ended(&self) -> Wait {
        let handle = self.handle.clone();
        Wait::new(async move {
            handle.ended().await.map_err(|error| ended_early(&error))?;
            Ok(Python::attach(|py| py.None()))
        })
    }

    /// Ends it, and gives the state.
    fn stop(&self) -> PyResult<Wait> {
        let interleave = self.interleave.with(Option::take);
        let interleave = interleave.ok_or_else(|| errors::closed("the interleave has been stopped"))?;
        Ok(Wait::new(async move {
            let state = interleave.stop().await.map_err(|error| ended_early(&error))?;
            Ok(Python::attach(|py| state.clone_ref(py)))
        }))
    }
}
