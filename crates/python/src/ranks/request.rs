//! Receives that a program has started and waits for later.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use lehr_ranks::PostedReceive;
use lehr_sync::{Arc, Mutex, Weak, process::Flag};
use pyo3::prelude::*;

use super::frame::{self, Received};
use crate::errors;
use crate::waiting::wait_for;

/// A receive; `None` after its message was taken, or after the rank has ended.
type Slot = Mutex<Option<PostedReceive>>;

/// The receives of a rank that may be pending. All communicators of the rank share the list.
///
/// A receive takes its message when it is polled, and a synchronous send waits until then. So each wait of the rank
/// polls these receives too. Otherwise two ranks that start receives and then send synchronously would wait for ever.
#[derive(Clone, Default)]
pub(super) struct Pending(Arc<Mutex<Vec<Weak<Slot>>>>);

impl Pending {
    fn add(&self, slot: &Arc<Slot>) {
        let mut slots = self.0.lock();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(slot));
    }

    /// Polls the pending receives, so that messages that have come are taken. Later messages wake the task of `context`.
    fn poll(&self, context: &mut Context<'_>) {
        let slots: Vec<Arc<Slot>> = self.0.lock().iter().filter_map(Weak::upgrade).collect();
        for slot in slots {
            if let Some(posted) = slot.lock().as_mut() {
                posted.has_come(context);
            }
        }
    }

    /// Waits for a call, and polls the pending receives meanwhile. Returns `None` if `stop` is raised first.
    pub(super) fn wait_for<T>(&self, call: impl Future<Output = T>, stop: &Flag) -> Option<T> {
        let mut call = pin!(call);
        let both = poll_fn(|context| {
            self.poll(context);
            call.as_mut().poll(context)
        });
        wait_for(both, stop)
    }
}

/// A receive that has been started.
#[pyclass(module = "lehr._native", name = "Request", frozen)]
pub(crate) struct Request {
    slot: Arc<Slot>,
    pending: Pending,
    stop: Arc<Flag>,
}

/// A received value, the rank that sent it, and its tag.
type Come<'py> = (Received<'py>, usize, u32);

impl Request {
    pub(super) fn new(posted: PostedReceive, pending: Pending, stop: Arc<Flag>) -> Self {
        let slot = Arc::new(Mutex::new(Some(posted)));
        pending.add(&slot);
        Self { slot, pending, stop }
    }

    /// Polls the receive. Returns its outcome if the message has come.
    fn poll<'py>(&self, py: Python<'py>, context: &mut Context<'_>) -> Poll<PyResult<Come<'py>>> {
        let outcome = {
            let mut slot = self.slot.lock();
            let Some(posted) = slot.as_mut() else { return Poll::Ready(Err(ended())) };
            let Poll::Ready(outcome) = Pin::new(posted).poll(context) else { return Poll::Pending };
            *slot = None;
            outcome
        };
        let opened = outcome
            .map_err(|error| errors::of_ranks(&error))
            .and_then(|(bytes, status)| Ok((frame::opened(py, bytes)?, status.source, status.tag)));
        Poll::Ready(opened)
    }

    /// Returns whether the message has come, or will never come.
    fn has_come(&self, context: &mut Context<'_>) -> bool {
        self.slot.lock().as_mut().is_none_or(|posted| posted.has_come(context))
    }
}

fn ended() -> PyErr {
    errors::rank("the program of this rank has returned: it cannot communicate any more")
}

fn stopped() -> PyErr {
    errors::rank("the program was stopped")
}

#[pymethods]
impl Request {
    /// Gives the receive up.
    fn close(&self) {
        let given_up = self.slot.lock().take();
        drop(given_up);
    }

    /// Waits for the message.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Come<'py>> {
        let come = poll_fn(|context| if self.has_come(context) { Poll::Ready(()) } else { Poll::Pending });
        py.detach(|| self.pending.wait_for(come, &self.stop)).ok_or_else(stopped)?;
        match self.poll(py, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(come) => come,
            Poll::Pending => Err(errors::runtime("another thread waits for this request")),
        }
    }

    /// Returns the message if it has come.
    fn test<'py>(&self, py: Python<'py>) -> PyResult<Option<Come<'py>>> {
        py.detach(|| self.pending.poll(&mut Context::from_waker(Waker::noop())));
        match self.poll(py, &mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Ok(None),
            Poll::Ready(come) => come.map(Some),
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
    let ready = poll_fn(|context| {
        let ready = requests.iter().position(|request| request.has_come(context));
        ready.map_or(Poll::Pending, Poll::Ready)
    });
    py.detach(|| first.pending.wait_for(ready, &first.stop)).ok_or_else(stopped)
}
