//! A branch that takes single items: a persistent waiter at its port, and the turns that run its handler.
//!
//! A post shows its item to the persistent waiter, which reports the item to admission, under the port's lock. When
//! admission grants the start, at once or when a handler ends, the branch wakes an idle turn or spawns a new one. A
//! turn is a task that fetches the item, gets the state, runs the handler to its end, and asks for the next grant. So a
//! busy branch does not need a task for each item.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Poll, Wake as WakeTask, Waker};

use lehr_sync::{Arc, process::next_identity};

use super::admission::{Grant, Group, Lane, Next, Operation, Phase};
use super::core::{AtPort, Core};
use super::guard::Kind;
use crate::calls::{self, CallSite, Frame, Left};
use crate::context::current::{self, detached};
use crate::context::{Context, Listening, goes_on};
use crate::dispatch::may_go_on;
use crate::error::{TaskError, panic_message};
use crate::port::Port;
use crate::port::persistent_waiter::{Judgement, PersistentWaiter, Response};
use crate::port::predicate::caught;
use crate::port::waiters::Ticket;
use crate::port::wake::Wake;

/// The options of a branch, apart from its source.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) is_once: bool,
    pub(super) limit: Option<usize>,
    pub(super) name: Option<String>,
}

/// A function that returns whether a branch wants an item.
pub(super) type Filter<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// Returns whether the filter, if there is one, accepts the item. If the filter panics, the item is not taken.
pub(super) fn accepts<T>(filter: Option<&Filter<T>>, item: &T) -> bool {
    filter.is_none_or(|filter| caught(|| filter(item)).unwrap_or(false))
}

/// A branch that takes single items; see the documentation of this module.
pub(super) struct Single<S, T, K, H> {
    core: Arc<Core<S>>,
    lane: usize,
    identity: u64,
    port: Port<T>,
    filter: Option<Filter<T>>,
    is_once: bool,
    handler: H,
    _kind: std::marker::PhantomData<fn() -> K>,
}

impl<S, T, K, H, F> Single<S, T, K, H>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    K: Kind<S>,
    H: Fn(K::Guard, T) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    /// Adds the branch and registers it at its port. Does nothing if the interleave is over.
    pub(super) fn install(core: &Arc<Core<S>>, port: Port<T>, filter: Option<Filter<T>>, options: Options, handler: H) {
        let identity = next_identity();
        let group = K::group();
        let limit = options.limit.unwrap_or(usize::MAX);
        // One turn is enough for handlers that exclude each other. Only calls from a handler's own chain need more
        // turns.
        let turns_kept = if group == Group::Exclusive { 1 } else { core.handle.threads().min(limit) };
        let name = options.name.unwrap_or_else(|| port.name());
        let branch = core.seat(identity, group == Group::Independent, |lane| {
            let branch = Arc::new(Self {
                core: core.clone(),
                lane,
                identity,
                port,
                filter,
                is_once: options.is_once,
                handler,
                _kind: std::marker::PhantomData,
            });
            let spawner = Waker::from(branch.clone());
            (branch, Lane::new(identity, group, limit, turns_kept, spawner, core.describe(&name)))
        });
        if let Some(branch) = branch {
            branch.port.reside(branch.clone(), |ticket| core.settle(branch.lane, identity, ticket));
        }
    }

    fn address(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    fn wants(&self, item: &T) -> bool {
        accepts(self.filter.as_ref(), item)
    }

    fn fetch(&self, (ticket, sequence): (Ticket, u64)) -> Option<(T, Option<Context>)> {
        self.port.fetch(ticket, sequence, self.address(), self.is_once)
    }

    /// The main function of a turn's task.
    async fn turn(mut turn: TurnGuard<S, T, K, H, F>) {
        Self::serve(&turn).await;
        turn.is_over = true;
    }

    /// Runs the handler for each item granted to the branch, until this turn must end.
    async fn serve(TurnGuard { branch, number, .. }: &TurnGuard<S, T, K, H, F>) {
        let mut ended: Option<Pass<'_, S>> = None;
        let mut room = None;
        loop {
            let mut free = room.take().unwrap_or_else(|| K::room(&branch.core));
            let mut granted = None;
            branch.go_on(*number, ended.take(), &mut free, &mut granted).await;
            let Some(grant) = granted else { return };
            // From here to the handler there is no wait, so the grant cannot be lost with this turn.
            let pass = Pass { core: &branch.core, operation: grant.operation };
            let guard = K::guard(free);
            if let Some((item, context)) = grant.item.and_then(|item| branch.fetch(item)) {
                // Pinned where it is made, so that the handler's future, which may be large, is not copied.
                let handler = pin!(async { pin!((branch.handler)(guard, item)).await });
                room = run(&branch.core, &grant, context, handler).await.and_then(K::recover);
            }
            ended = Some(pass);
        }
    }

    /// Ends the operation that the turn has run, if it has run one, waits for the next grant and stores it in
    /// `granted`. Returns `None` if the turn must end. If the next grant is available, this method takes only one lock.
    ///
    /// Under the same lock, it puts back the state that a guard left in its room, and prepares the room for the next
    /// guard. This turn also takes the branch's next item, so that no other turn needs to be woken or made for that
    /// item.
    async fn go_on(&self, turn: u64, mut ended: Option<Pass<'_, S>>, room: &mut K::Room, granted: &mut Option<Grant>) {
        let lane = (self.lane, self.identity);
        std::future::poll_fn(move |polling| {
            // Even if other tasks must run first, the finished operation is ended now.
            let may_go_on = may_go_on(polling);
            if !may_go_on && ended.is_none() {
                return Poll::Pending;
            }
            let next = self.core.change(|inner, wake| {
                K::clear(room, inner, wake);
                let mut has_next = false;
                if let Some(operation) = ended.take().map(Pass::give_up) {
                    has_next = may_go_on && inner.admission.pass_on(lane, operation, granted);
                    if !has_next {
                        inner.admission.end(lane, operation, wake);
                    }
                }
                if !may_go_on {
                    return Next::Park;
                }
                if !has_next {
                    let next = inner.admission.next(lane, turn, false, polling.waker(), granted);
                    if next != Next::Run {
                        return next;
                    }
                }
                if let Some(grant) = granted {
                    K::begin(room, inner, grant.operation);
                }
                Next::Run
            });
            if next == Next::Park { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

/// Waits for a grant; returns `None` if the turn should end.
pub(super) async fn next<S: Send + Sync + 'static>(
    core: &Arc<Core<S>>,
    lane: (usize, u64),
    turn: u64,
    is_held: bool,
) -> Option<Grant> {
    std::future::poll_fn(|context| {
        if !may_go_on(context) {
            return Poll::Pending;
        }
        let mut granted = None;
        match core.inner.lock().admission.next(lane, turn, is_held, context.waker(), &mut granted) {
            Next::Park => Poll::Pending,
            Next::Run | Next::End => Poll::Ready(granted),
        }
    })
    .await
}

/// Runs a handler to its end, its panic or its cancellation, as part of its operation. The handler runs in the context
/// in which its items were posted. If that context is cancelled or passes its deadline, the handler is cancelled too,
/// even before it has begun.
///
/// Returns the state that the guard left, if the guard was dropped as the handler ended.
pub(super) async fn run<S: Send + Sync + 'static>(
    core: &Arc<Core<S>>,
    grant: &Grant,
    context: Option<Context>,
    mut handler: Pin<&mut impl Future<Output = ()>>,
) -> Option<Left> {
    let place = CallSite { interleave: core.identity, operation: grant.operation };
    let mut listening: Option<Listening> = None;
    let mut was_suspended = false;
    let outcome = std::future::poll_fn(|polling| {
        if was_suspended && core.inner.lock().admission.is_cancelled(grant.operation) {
            return Poll::Ready(Err(TaskError::Cancelled));
        }
        if context.as_ref().is_some_and(|context| !goes_on(context, &mut listening, polling)) {
            return Poll::Ready(Err(TaskError::Cancelled));
        }
        let poll = || {
            let _entered = context.as_ref().map(|context| current::enter(Some(context.clone())));
            calls::within(place, grant.call.as_ref(), || handler.as_mut().poll(polling))
        };
        // Unwind safety: the handler is not polled again after a panic, only dropped.
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok((Poll::Ready(()), left)) => Poll::Ready(Ok(left)),
            Ok((Poll::Pending, left)) => {
                // A guard that was dropped before the handler's end left this state. Dropping it gives the state back.
                drop(left);
                was_suspended = true;
                if core.inner.lock().admission.suspend(grant.operation, polling.waker()) {
                    Poll::Ready(Err(TaskError::Cancelled))
                } else {
                    Poll::Pending
                }
            }
            Err(payload) => Poll::Ready(Err(TaskError::Panicked { message: panic_message(payload.as_ref()) })),
        }
    })
    .await;
    outcome.unwrap_or_else(|error| {
        core.report(grant.operation, &error);
        None
    })
}

/// The right to run an operation; dropping this value gives the right back.
pub(super) struct Pass<'a, S: Send + Sync + 'static> {
    pub(super) core: &'a Arc<Core<S>>,
    pub(super) operation: Operation,
}

impl<S: Send + Sync + 'static> Pass<'_, S> {
    /// Returns the operation without giving the right back; the caller must do that.
    fn give_up(self) -> Operation {
        let operation = self.operation;
        std::mem::forget(self);
        operation
    }
}

impl<S: Send + Sync + 'static> Drop for Pass<'_, S> {
    fn drop(&mut self) {
        self.core.release(self.operation);
    }
}

/// Passes the work of a turn on if the dispatcher drops the turn.
struct TurnGuard<S, T, K, H, F>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    K: Kind<S>,
    H: Fn(K::Guard, T) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    branch: Arc<Single<S, T, K, H>>,
    number: u64,
    is_over: bool,
}

impl<S, T, K, H, F> Drop for TurnGuard<S, T, K, H, F>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    K: Kind<S>,
    H: Fn(K::Guard, T) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let branch = &self.branch;
        // Done before anything is released. Otherwise each release would start an item that the dispatcher refuses, and
        // the refusal would release the next item. These calls would be nested as deep as the number of waiting items.
        branch.core.turn_dropped();
        let lane = (branch.lane, branch.identity);
        // The turn's queue is closed, or accepts no more tasks from this thread.
        let left = branch.core.change(|inner, wake| {
            let left = inner.admission.abandon_turn(lane, self.number, wake);
            if branch.is_once && !left.items.is_empty() {
                inner.admission.lane_mut(branch.lane).is_spent = false;
            }
            left
        });
        if !left.items.is_empty() {
            branch.port.decline(&left.items, branch.address());
            branch.core.change(|inner, _| inner.admission.accept_again(lane));
        }
        left.operations.into_iter().for_each(|operation| branch.core.release(operation));
    }
}

impl<S, T, K, H, F> WakeTask for Single<S, T, K, H>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    K: Kind<S>,
    H: Fn(K::Guard, T) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    /// Makes a new turn of the branch.
    fn wake(self: Arc<Self>) {
        let handle = self.core.handle.clone();
        let turn = TurnGuard { branch: self, number: next_identity(), is_over: false };
        // Spawned in no context, because the turn outlives the item whose post spawns the turn.
        detached(|| handle.spawn_boxed(Box::pin(Self::turn(turn)))).detach();
    }
}

impl<S, T, K, H, F> PersistentWaiter<T> for Single<S, T, K, H>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    K: Kind<S>,
    H: Fn(K::Guard, T) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn arrives(&self, item: &T, sequence: u64, ticket: Ticket, call: Option<&Arc<Frame>>, wake: &mut Wake) -> Response {
        if !self.wants(item) {
            return Response::Pass;
        }
        let mut inner = self.core.inner.lock();
        if !inner.is_seated(self.lane, self.identity)
            || inner.admission.phase == Phase::Ended
            || inner.admission.lane(self.lane).is_declining()
        {
            return Response::Pass;
        }
        inner.admission.arrive(self.lane, Some((ticket, sequence)), call, wake);
        if self.is_once {
            inner.admission.lane_mut(self.lane).is_spent = true;
            return Response::TakeLast;
        }
        Response::Take
    }

    fn judge(&self, item: &T, call: &Frame) -> Judgement {
        if !self.wants(item) {
            return Judgement::OfOthers;
        }
        let inner = self.core.inner.lock();
        if !inner.is_seated(self.lane, self.identity) {
            return Judgement::OfOthers;
        }
        inner.admission.judge(self.lane, call).map_or(Judgement::Admissible, Judgement::Deadlock)
    }

    fn loses(&self, sequence: u64, wake: &mut Wake) {
        let mut inner = self.core.inner.lock();
        if inner.is_seated(self.lane, self.identity) {
            inner.admission.lose(self.lane, sequence, wake);
            if self.is_once {
                inner.admission.lane_mut(self.lane).is_spent = false;
            }
        }
    }
}

impl<S, T, K, H> AtPort for Single<S, T, K, H>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
    K: Kind<S>,
    H: Send + Sync + 'static,
{
    type Item = T;

    fn port(&self) -> &Port<T> {
        &self.port
    }
}
