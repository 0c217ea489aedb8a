//! Messages that a program has started and waits for later.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use lehr_ranks::{PostedReceive, PostedSend, Status};
use lehr_sync::{Arc, Mutex, Weak, process::Flag};
use pyo3::prelude::*;

use super::lock::Lock;
use super::{ended, frame, stopped};
use crate::errors;
use crate::waiting::wait_for;

/// A message that has been started.
pub(super) enum Started {
    Receive(PostedReceive),
    /// A synchronous send, which waits for its receiver.
    Send(PostedSend),
}

impl Started {
    fn has_come(&mut self, context: &mut Context<'_>) -> bool {
        match self {
            Self::Receive(posted) => posted.has_come(context),
            Self::Send(posted) => posted.has_come(context),
        }
    }

    fn look(&mut self, context: &mut Context<'_>) -> bool {
        match self {
            Self::Receive(posted) => posted.look(context),
            Self::Send(posted) => posted.look(context),
        }
    }
}

/// A message that has been started; `None` after it is complete, or after the rank has ended.
type Slot = Mutex<Option<Started>>;

/// The messages of a rank that may be pending. All communicators of the rank share the list.
///
/// A receive takes its message when it is polled, and a synchronous send waits until then. So each wait of the rank
/// polls these receives too. Otherwise two ranks that start receives and then send synchronously would wait for ever.
#[derive(Clone)]
pub(super) struct Pending {
    slots: Arc<Mutex<Vec<Weak<Slot>>>>,
    lock: Lock,
}

impl Pending {
    pub(super) fn new(lock: Lock) -> Self {
        Self { slots: Arc::default(), lock }
    }

    fn add(&self, slot: &Arc<Slot>) {
        let mut slots = self.slots.lock();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(slot));
    }

    /// Polls the pending messages, so that messages that have come are taken. Later messages wake the task of `context`.
    fn poll(&self, context: &mut Context<'_>) {
        let slots: Vec<Arc<Slot>> = self.slots.lock().iter().filter_map(Weak::upgrade).collect();
        for slot in slots {
            if let Some(started) = slot.lock().as_mut() {
                started.look(context);
            }
        }
    }

    /// Waits for a call without the interpreter lock, and polls the pending messages meanwhile. Returns `None` if `stop`
    /// is raised first.
    pub(super) fn wait_for<T: Send, F: Future<Output = T>>(
        &self,
        py: Python<'_>,
        call: impl FnOnce() -> F + Send,
        stop: &Flag,
    ) -> Option<T> {
        self.lock.released(py, || {
            let mut call = pin!(call());
            let both = poll_fn(|context| {
                self.poll(context);
                call.as_mut().poll(context)
            });
            wait_for(both, stop)
        })
    }
}

/// A message that has been started.
#[pyclass(module = "lehr._native", name = "Request", frozen)]
pub(crate) struct Request {
    slot: Arc<Slot>,
    pending: Pending,
    stop: Arc<Flag>,
}

/// A received value, the rank that sent it, and its tag.
type Come<'py> = (Bound<'py, PyAny>, usize, u32);

impl Request {
    pub(super) fn new(started: Started, pending: Pending, stop: Arc<Flag>) -> Self {
        let slot = Arc::new(Mutex::new(Some(started)));
        pending.add(&slot);
        Self { slot, pending, stop }
    }

    /// Polls the message. Returns its outcome if it is complete.
    fn poll<'py>(&self, py: Python<'py>, context: &mut Context<'_>) -> Poll<PyResult<Option<Come<'py>>>> {
        let mut slot = self.slot.lock();
        let outcome = match slot.as_mut() {
            None => return Poll::Ready(Err(ended())),
            Some(Started::Receive(posted)) => Pin::new(posted).poll(context).map_ok(Some),
            Some(Started::Send(posted)) => Pin::new(posted).poll(context).map_ok(|()| None),
        };
        let Poll::Ready(outcome) = outcome else { return Poll::Pending };
        let over = slot.take();
        drop(slot);
        drop(over);
        let come = |(bytes, status): (Vec<u8>, Status)| Ok((frame::opened(py, bytes)?, status.source, status.tag));
        Poll::Ready(outcome.map_err(|error| errors::of_ranks(&error)).and_then(|found| found.map(come).transpose()))
    }

    fn looks_done(&self, context: &mut Context<'_>) -> bool {
        self.slot.lock().as_mut().is_none_or(|started| started.look(context))
    }

    /// Returns whether the message has come, or will never come.
    fn has_come(&self, context: &mut Context<'_>) -> bool {
        self.slot.lock().as_mut().is_none_or(|started| started.has_come(context))
    }
}

#[pymethods]
impl Request {
    /// Gives the message up.
    fn close(&self) {
        let given_up = self.slot.lock().take();
        drop(given_up);
    }

    /// Waits until the message is complete. Returns the value of a receive, and `None` for a send.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Option<Come<'py>>> {
        let come = || poll_fn(|context| if self.has_come(context) { Poll::Ready(()) } else { Poll::Pending });
        self.pending.wait_for(py, come, &self.stop).ok_or_else(stopped)?;
        match self.poll(py, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(come) => come,
            Poll::Pending => Err(errors::runtime("another thread waits for this request")),
        }
    }

    /// Returns whether the message is complete, and the value of a receive.
    fn test<'py>(&self, py: Python<'py>) -> PyResult<(bool, Option<Come<'py>>)> {
        py.detach(|| self.pending.poll(&mut Context::from_waker(Waker::noop())));
        match self.poll(py, &mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Ok((false, None)),
            Poll::Ready(come) => Ok((true, come?)),
        }
    }
}

/// Waits until the message of one of the requests has come. Returns the index of the request.
#[pyfunction]
pub(crate) fn wait_any(py: Python<'_>, requests: Vec<Py<Request>>) -> PyResult<usize> {
    let requests: Vec<&Request> = requests.iter().map(Py::get).collect();
    let Some(first) = requests.first() else {
        return Err(errors::value("expected at least one request"));
    };
    let ready = || {
        poll_fn(|context| {
            // The first request moves the messages of all of them.
            let moved = requests[0].has_come(context).then_some(0);
            let ready = moved.or_else(|| requests.iter().position(|request| request.looks_done(context)));
            ready.map_or(Poll::Pending, Poll::Ready)
        })
    };
    first.pending.wait_for(py, ready, &first.stop).ok_or_else(stopped)
}
