//! Services with Python handlers, for `lehr.services`. The library's host and HTTP server run them, and call Python for
//! each handler.
//!
//! The library holds the state as a JSON document. The library answers reads, and versions, publishes and saves the
//! document, without the interpreter. The Python object has its own copy of the state, which is reset to the document
//! if copy and document may differ. Copy and document may differ after a handler raised an exception, a coroutine was
//! cancelled, or a change could not be saved. So after an error the state is unchanged, whatever the handler did
//! before.
//!
//! A worker calls a plain function and marks the call as blocking, so that a spare worker replaces it. A coroutine runs
//! on the event loop of the node, while a task of the runtime waits for it. If the request is dropped, the coroutine is
//! cancelled. The next handler that uses the state waits until the coroutine has ended.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use lehr_node::{INSPECTOR, Inspector, Node, Settings};
use lehr_runtime::{Builder, Dispatcher, Idle, Port, Shutdown, block_on, blocking};
use lehr_services::{AnyDocument, Call, Code, Fault, Handled, Host, Outline, Pending, Placement, Program};
use lehr_sync::{Mutex, thread::spawn};
use pyo3::prelude::*;
use serde_json::Value;

use crate::{errors, json};

/// The interval between checks for signals while a node ends.
const TICK: Duration = Duration::from_millis(50);
/// The time limit for the workers to end, after the services have ended. Threads that still run at the services' limit
/// plus twice this time are abandoned.
const GRACE: Duration = Duration::from_secs(1);

type Item = Py<PyAny>;

/// Reports the end of a coroutine: its return value or its error, or neither if it never ran.
#[pyclass(module = "lehr._native", name = "Ending", frozen)]
pub(crate) struct Ending {
    port: Port<PyResult<Item>>,
}

#[pymethods]
impl Ending {
    fn returned(&self, answer: Item) {
        self.say(Ok(answer));
    }

    fn raised(&self, error: Bound<'_, PyAny>) {
        self.say(Err(PyErr::from_value(error)));
    }
}

impl Ending {
    fn say(&self, outcome: PyResult<Item>) {
        // The post fails if an outcome has already been reported.
        let _ = self.port.post(outcome);
        self.port.close();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.port.close();
    }
}

/// A Python service in the form that the host calls.
struct Served {
    /// The object of the class `_Program` in `lehr.services`.
    program: Item,
    /// The operations whose verbs change the state.
    changing: BTreeSet<String>,
    /// The document that the Python object has now; `None` if it is unknown.
    shown: Mutex<Option<AnyDocument>>,
    /// The outcomes of cancelled coroutines that have not ended yet.
    leaving: Mutex<Vec<Port<PyResult<Item>>>>,
}

/// The result of a call of a handler.
enum Begun {
    Ended(Handled),
    Waits { running: Item, ending: Port<PyResult<Item>> },
}

/// A running coroutine. Dropping this value before the coroutine ends cancels the coroutine.
struct Waiting<'a> {
    served: &'a Served,
    running: Item,
    ending: Port<PyResult<Item>>,
    sees_state: bool,
    has_ended: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        if self.sees_state {
            self.served.shown.with(Option::take);
            self.served.leaving.with(|leaving| leaving.push(self.ending.clone()));
        }
        // If the interpreter is ending, the event loop is ending too.
        let _ = Python::try_attach(|py| drop(self.running.call_method0(py, "cancel")));
    }
}

fn ending() -> Fault {
    Fault::new(Code::ServiceStopping, "the interpreter is ending")
}

impl Served {
    /// Waits until all cancelled coroutines that see the state have ended.
    async fn left_alone(&self) {
        while let Some(leaving) = self.leaving.with(|leaving| leaving.last().cloned()) {
            while leaving.receive().await.is_ok() {}
            self.leaving.with(|leaving| leaving.retain(|port| !port.is_closed()));
        }
    }

    /// Sets the state of the Python object.
    fn show(&self, py: Python<'_>, document: &AnyDocument) -> PyResult<()> {
        self.program.call_method1(py, "show", (json::object(py, document)?,))?;
        self.shown.with(|shown| *shown = Some(document.clone()));
        Ok(())
    }

    /// Calls the handler. A plain function has ended when this function returns; a coroutine has only started.
    fn begin(
        &self,
        py: Python<'_>,
        operation: &str,
        body: &Value,
        document: Option<&AnyDocument>,
    ) -> Result<Begun, Fault> {
        let called = || {
            if let Some(document) = document
                && !self.shown.with(|shown| shown.as_ref().is_some_and(|shown| shown.is(document)))
            {
                self.show(py, document)?;
            }
            let (answer, coroutine): (Item, Option<Item>) =
                self.program.call_method1(py, "handle", (operation, json::object(py, body)?))?.extract(py)?;
            let Some(coroutine) = coroutine else { return Ok((answer, None)) };
            let ending = Ending { port: Port::new() };
            let port = ending.port.clone();
            let running = self.program.call_method1(py, "start", (coroutine, ending))?;
            Ok((running, Some(port)))
        };
        match called() {
            Ok((running, Some(ending))) => Ok(Begun::Waits { running, ending }),
            Ok((answer, None)) => self.end(py, operation, Ok(answer), document).map(Begun::Ended),
            Err(raised) => self.end(py, operation, Err(raised), document).map(Begun::Ended),
        }
    }

    /// Converts the outcome of a handler to the answer and, if the verb changes the state, the new document. After an
    /// error, the state is unchanged.
    fn end(
        &self,
        py: Python<'_>,
        operation: &str,
        outcome: PyResult<Item>,
        document: Option<&AnyDocument>,
    ) -> Result<Handled, Fault> {
        let changes = self.changing.contains(operation);
        let written = || {
            let reply = json::value(outcome?.bind(py))?;
            if !changes {
                return Ok(Handled::unchanged(reply));
            }
            let state = self.program.call_method0(py, "state")?;
            let state = AnyDocument::from(json::value(state.bind(py))?);
            self.shown.with(|shown| *shown = Some(state.clone()));
            Ok(Handled::changed(reply, state))
        };
        let raised: PyErr = match written() {
            Ok(handled) => return Ok(handled),
            Err(raised) => raised,
        };
        let fault = self.fault(py, operation, &raised);
        if let Some(document) = document
            && (!changes || self.show(py, document).is_err())
        {
            // The next handler that uses the state receives a fresh copy. A handler that should only read the state may
            // have changed its copy too, and other handlers may be reading this copy now.
            self.shown.with(Option::take);
        }
        Err(fault)
    }

    /// Converts an exception to the error for the client. A `lehr.Fault` stays unchanged. For any other exception, the
    /// client only learns that the operation failed; the log has the details, with the traceback.
    fn fault(&self, py: Python<'_>, operation: &str, raised: &PyErr) -> Fault {
        let told = self.program.call_method1(py, "told", (operation, raised.clone_ref(py).into_value(py)));
        let told = told.and_then(|told| told.extract::<Option<(String, String, Option<f64>)>>(py));
        match told {
            Ok(Some((code, reason, after))) => {
                // `told` has checked that the code exists.
                let code = serde_json::from_value(Value::String(code)).unwrap_or(Code::OperationFailed);
                let fault = Fault::new(code, reason);
                match after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
                    Some(time) => fault.retry_after(time),
                    None => fault,
                }
            }
            Ok(None) | Err(_) => {
                Fault::new(Code::OperationFailed, "the operation failed inside the service").log(raised.to_string())
            }
        }
    }
}

impl Program for Served {
    fn start<'a>(&'a self, document: &'a AnyDocument) -> Pending<'a, Result<(), Fault>> {
        // The object begins with the state that clients see, in which tuples and arrays have become lists.
        let shown = Python::try_attach(|py| self.show(py, document).map_err(|raised| self.fault(py, "start", &raised)));
        Box::pin(std::future::ready(shown.unwrap_or_else(|| Err(ending()))))
    }

    fn handle<'a>(
        &'a self,
        operation: &'static str,
        body: Value,
        document: Option<&'a AnyDocument>,
        _: &'a Call,
    ) -> Pending<'a, Result<Handled, Fault>> {
        Box::pin(async move {
            if document.is_some() {
                self.left_alone().await;
            }
            let begun =
                blocking("a handler in Python", || Python::try_attach(|py| self.begin(py, operation, &body, document)));
            let (running, port) = match begun.ok_or_else(ending)?? {
                Begun::Ended(handled) => return Ok(handled),
                Begun::Waits { running, ending } => (running, ending),
            };
            let sees_state = document.is_some();
            let mut waiting = Waiting { served: self, running, ending: port, sees_state, has_ended: false };
            let outcome = waiting.ending.receive().await;
            waiting.has_ended = outcome.is_ok();
            let outcome =
                outcome.map_err(|_| Fault::new(Code::ServiceStopping, "the event loop of the service has ended"))?;
            let ended =
                blocking("a handler in Python", || Python::try_attach(|py| self.end(py, operation, outcome, document)));
            ended.ok_or_else(ending)?
        })
    }
}

/// Converts an error of the host to a Python exception.
fn raised(py: Python<'_>, fault: &Fault) -> PyErr {
    let mut reason = fault.reason().to_owned();
    for cause in fault.causes() {
        reason += "; because ";
        reason += &cause.reason;
    }
    let made =
        py.import("lehr._asking").and_then(|module| module.getattr("Fault")?.call1((fault.code().as_str(), reason)));
    made.map_or_else(|error| error, PyErr::from_value)
}

struct Running {
    dispatcher: Dispatcher,
    host: Host,
    node: Option<Node>,
}

impl Running {
    /// Ends all services and the node. Returns the services that did not end in time and were cut off.
    fn end(self, limit: Duration) -> Vec<String> {
        let Self { dispatcher, host, node } = self;
        let report = match node {
            Some(node) => block_on(node.shutdown(limit)),
            None => block_on(host.shutdown(limit)),
        };
        drop(host);
        let _ = dispatcher.shutdown(Shutdown::Drain { limit: GRACE });
        report.cut_off
    }
}

/// A host of Python services, with the node that serves them.
#[pyclass(module = "lehr._native", name = "ServiceNode", frozen)]
pub(crate) struct ServiceNode {
    running: Mutex<Option<Running>>,
    /// The id of the process that started the threads. A fork of this process has no threads.
    process: u32,
}

impl ServiceNode {
    fn host(&self) -> PyResult<Host> {
        if self.process != std::process::id() {
            return Err(errors::runtime(
                "this process was forked from the one that serves. Start the node in the process that is to have it.",
            ));
        }
        let host = self.running.with(|running| running.as_ref().map(|running| running.host.clone()));
        host.ok_or_else(|| errors::runtime("the node is closed"))
    }
}

#[pymethods]
impl ServiceNode {
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        // A spinning worker would occupy a core that the interpreter needs.
        let idle = Idle { spin: Duration::ZERO, ..Idle::default() };
        let dispatcher = Builder::new().name("lehr-services").threads(threads).idle(idle).start();
        let dispatcher = dispatcher.map_err(|error| errors::runtime(error.to_string()))?;
        let host = Host::new(dispatcher.handle());
        let running = Running { dispatcher, host, node: None };
        Ok(Self { running: Mutex::new(Some(running)), process: std::process::id() })
    }

    /// Starts a service. `placement` has the path, the limit of waiting requests, and the file for the document.
    /// `outline` is the contract as JSON, `state` the initial state, and `program` the object that calls the handlers.
    fn start(
        &self,
        py: Python<'_>,
        placement: (String, usize, Option<PathBuf>),
        outline: &str,
        state: &Bound<'_, PyAny>,
        program: Item,
    ) -> PyResult<()> {
        let (path, queue, keep) = placement;
        let outline: Outline =
            serde_json::from_str(outline).map_err(|cause| errors::value(format!("the contract of {path}: {cause}")))?;
        let state = json::value(state)?;
        let changing = outline.operations.iter().filter(|(_, operation)| operation.verb.changes_state());
        let changing = changing.map(|(name, _)| name.clone()).collect();
        let served = Served { program, changing, shown: Mutex::new(None), leaving: Mutex::new(Vec::new()) };
        let mut placement = Placement::at(path).queue(queue);
        if let Some(file) = keep {
            placement = placement.keep(file);
        }
        let host = self.host()?;
        let started = py.detach(|| block_on(host.start_dynamic(placement, outline, state, served)).map(drop));
        started.map_err(|fault| raised(py, &fault))
    }

    /// Listens for clients, and starts an inspector service. Returns the address.
    fn listen(&self, py: Python<'_>, address: &str, is_insecure: bool) -> PyResult<String> {
        let address: SocketAddr = address
            .parse()
            .map_err(|_| errors::value(format!("expected an address such as 127.0.0.1:8420, found {address:?}")))?;
        let host = self.host()?;
        let settings = Settings { address, is_insecure, ..Settings::new() };
        let started = py.detach(|| {
            block_on(host.start(INSPECTOR, Inspector::default))?;
            Node::start(host, settings)
        });
        let node = started.map_err(|fault| match fault.code() {
            Code::Unavailable => pyo3::exceptions::PyOSError::new_err(fault.reason().to_owned()),
            _ => raised(py, &fault),
        })?;
        let listening = node.address().to_string();
        let unused = self.running.with(|running| match running {
            Some(running) => running.node.replace(node),
            None => Some(node),
        });
        // The node was closed in the meantime, so its threads end here.
        py.detach(|| drop(unused));
        Ok(listening)
    }

    /// Returns the paths of all services.
    fn paths(&self) -> PyResult<Vec<String>> {
        Ok(self.host()?.paths())
    }

    /// Ends all services within the given number of seconds, and then the node. Returns the paths of services that were
    /// cut off, or `None` if threads had to be abandoned.
    fn close(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<Vec<String>>> {
        let Some(running) = self.running.with(Option::take) else { return Ok(Some(Vec::new())) };
        if self.process != std::process::id() {
            // The forked process has no threads to end.
            std::mem::forget(running);
            return Ok(Some(Vec::new()));
        }
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        let (tell, mut told) = sync_channel(1);
        let ended = spawn("lehr-services-end", move || {
            // The send fails if the waiting thread has left.
            let _ = tell.send(running.end(limit));
        });
        ended.map_err(|cause| errors::runtime(format!("no thread to end the node on: {cause}")))?;
        let mut left = limit + 2 * GRACE;
        loop {
            let heard;
            (told, heard) = py.detach(move || {
                let heard = told.recv_timeout(TICK);
                (told, heard)
            });
            match heard {
                Ok(cut_off) => return Ok(Some(cut_off)),
                Err(RecvTimeoutError::Disconnected) => return Err(errors::runtime("the node could not end")),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    left = left.saturating_sub(TICK);
                    py.check_signals()?;
                }
            }
        }
    }
}

impl Drop for ServiceNode {
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| drop(self.close(py, 0.0)));
    }
}
