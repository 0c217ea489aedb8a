//! The steps that end an interleave.
//!
//! 1. A teardown item arrives. Under the interleave's lock, the interleave closes, so that no more handlers start.
//! 2. Before the post returns, the item is fetched (accepted), and the ports of all branches except independent
//!    branches are closed. Later posters get an error.
//! 3. When the last running handler has ended, the branches leave their ports. Items whose handlers have not started
//!    are still in the ports, in their positions, and are offered to other waiters.
//! 4. The teardown handler runs alone, with the state.
//! 5. When the teardown handler has returned, the end is signalled.
//!
//! Independent branches are not affected until step 5.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Poll, Wake as WakeTask, Waker};

use lehr_sync::{Arc, SpinLock, process::next_identity};

use super::admission::{Group, Lane, Phase};
use super::branch::{Filter, accepts};
use super::core::{AtPort, Core};
use super::source::{Items, Source};
use crate::calls::Frame;
use crate::context::Context;
use crate::context::current::detached;
use crate::error::{TaskError, panic_message};
use crate::port::Port;
use crate::port::persistent_waiter::{Judgement, PersistentWaiter, Response};
use crate::port::waiters::Ticket;
use crate::port::wake::Wake;

/// The branch whose item ends its interleave, and whose handler gets the state.
pub(super) struct Teardown<S, T, H> {
    core: Arc<Core<S>>,
    lane: usize,
    identity: u64,
    port: Port<T>,
    filter: Option<Filter<T>>,
    stage: SpinLock<Stage<T>>,
    handler: SpinLock<Option<H>>,
}

/// The progress of a teardown; the waiter is woken once in each of the first two stages.
enum Stage<T> {
    /// The item for the teardown has arrived and is still in the port.
    Noted(Ticket, u64),
    /// The item has been fetched, with the context in which it was posted; the teardown waits for running handlers.
    Accepted(T, Option<Context>),
    /// No item has arrived, or the handler has begun.
    Idle,
}

impl<S, T, H, F> Teardown<S, T, H>
where
    S: Clone + Send + Sync + 'static,
    T: Send + 'static,
    H: FnOnce(S, T) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    pub(super) fn install(core: &Arc<Core<S>>, source: Source<Items<T>>, handler: H) {
        let identity = next_identity();
        let Source { waits: Items { port, filter }, options } = source;
        let name = options.name.unwrap_or_else(|| port.name());
        let branch = core.seat(identity, false, |lane| {
            let (stage, handler) = (SpinLock::new(Stage::Idle), SpinLock::new(Some(handler)));
            let branch = Arc::new(Self { core: core.clone(), lane, identity, port, filter, stage, handler });
            let waker = Waker::from(branch.clone());
            (branch, Lane::new(identity, Group::Teardown, 1, 0, waker, core.describe(&name)))
        });
        if let Some(branch) = branch {
            branch.port.reside(branch.clone(), |ticket| core.settle(branch.lane, identity, ticket));
        }
    }

    /// Fetches the item, closes the ports, and lets the handler begin when no other handler runs any more.
    fn accept(self: &Arc<Self>, ticket: Ticket, sequence: u64) {
        let address = std::ptr::from_ref(&**self).cast();
        match self.port.fetch(ticket, sequence, address, true) {
            // `loses` has opened the interleave again.
            None => {}
            Some((item, context)) => {
                *self.stage.lock() = Stage::Accepted(item, context);
                if !self.core.keeps_ports_open {
                    self.core.close_ports(false);
                }
                let waker = Waker::from(self.clone());
                self.core.change(|inner, wake| inner.admission.when_idle(waker, wake));
            }
        }
    }

    async fn run(self: Arc<Self>, item: T, context: Option<Context>, mut guard: Unfinished<S>) {
        self.core.leave_ports(false, !self.core.keeps_ports_open);
        let handler = self.handler.lock().take();
        let outcome = match (self.core.consume_state(), handler) {
            (Some(version), Some(handler)) => {
                let state = Arc::unwrap_or_clone(version.state);
                let handler = async { handler(state, item).await };
                match context {
                    None => self.core.clone().tear(handler).await,
                    // The handler runs in the context, but cancelling the context does not stop it, because a teardown
                    // must not end half-way.
                    Some(context) => self.core.clone().tear(context.scope(handler)).await,
                }
            }
            // The interleave has been aborted meanwhile.
            _ => Err(TaskError::Cancelled),
        };
        guard.is_finished = true;
        self.core.finish(outcome);
    }
}

impl<S: Send + Sync + 'static> Core<S> {
    /// Runs the last handler to its end, its panic or its cancellation.
    async fn tear(self: Arc<Self>, handler: impl Future<Output = ()>) -> Result<(), TaskError> {
        let mut handler = pin!(handler);
        std::future::poll_fn(|context| {
            {
                let mut inner = self.inner.lock();
                if inner.outcome.is_some() {
                    return Poll::Ready(Err(TaskError::Cancelled));
                }
                inner.teardown = Some(context.waker().clone());
            }
            // Unwind safety: the handler is not polled again after a panic, only dropped.
            match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(context))) {
                Ok(polled) => polled.map(Ok),
                Err(payload) => Poll::Ready(Err(TaskError::Panicked { message: panic_message(payload.as_ref()) })),
            }
        })
        .await
    }
}

/// Ends the interleave even if the dispatcher drops the teardown.
struct Unfinished<S: Send + Sync + 'static> {
    core: Arc<Core<S>>,
    is_finished: bool,
}

impl<S: Send + Sync + 'static> Drop for Unfinished<S> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.core.abort(true);
        }
        // The handler's future has been dropped before this, so none of it runs any more.
        self.core.change(|inner, _| inner.teardown = None);
    }
}

impl<S, T, H, F> WakeTask for Teardown<S, T, H>
where
    S: Clone + Send + Sync + 'static,
    T: Send + 'static,
    H: FnOnce(S, T) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        let stage = std::mem::replace(&mut *self.stage.lock(), Stage::Idle);
        match stage {
            Stage::Noted(ticket, sequence) => self.accept(ticket, sequence),
            Stage::Accepted(item, context) => {
                let handle = self.core.handle.clone();
                self.core.change(|inner, _| inner.teardown = Some(Waker::noop().clone()));
                let guard = Unfinished { core: self.core.clone(), is_finished: false };
                detached(|| handle.spawn_boxed(Box::pin(self.run(item, context, guard)))).detach();
            }
            Stage::Idle => {}
        }
    }
}

impl<S, T, H, F> PersistentWaiter<T> for Teardown<S, T, H>
where
    S: Clone + Send + Sync + 'static,
    T: Send + 'static,
    H: FnOnce(S, T) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn arrives(
        &self,
        item: &T,
        sequence: u64,
        ticket: Ticket,
        _call: Option<&Arc<Frame>>,
        wake: &mut Wake,
    ) -> Response {
        if !accepts(self.filter.as_ref(), item) {
            return Response::Pass;
        }
        let mut inner = self.core.inner.lock();
        if !inner.is_seated(self.lane, self.identity) || !inner.admission.close() {
            return Response::Pass;
        }
        *self.stage.lock() = Stage::Noted(ticket, sequence);
        wake.add(Some(inner.admission.lane(self.lane).spawner()));
        Response::TakeLast
    }

    fn judge(&self, item: &T, _call: &Frame) -> Judgement {
        // A handler that ends its own interleave must not wait for the end, but the answer may come before the end.
        if accepts(self.filter.as_ref(), item) { Judgement::Admissible } else { Judgement::OfOthers }
    }

    fn loses(&self, _sequence: u64, wake: &mut Wake) {
        let mut inner = self.core.inner.lock();
        if inner.admission.phase == Phase::Closing {
            *self.stage.lock() = Stage::Idle;
            inner.admission.reopen(wake);
        }
    }
}

impl<S, T, H> AtPort for Teardown<S, T, H>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    H: Send + 'static,
{
    type Item = T;

    fn port(&self) -> &Port<T> {
        &self.port
    }
}
