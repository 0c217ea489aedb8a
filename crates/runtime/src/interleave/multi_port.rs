//! A branch that takes several items together: a join of ports, or a number of items of one port.
//!
//! The items have no owner until they are taken, so the branch cannot report single items to admission. The turns of
//! such a branch first ask for a grant and then take the items. A turn waits until its ports hold enough items, and
//! reports this to admission as an arrival. After its grant, the turn takes all items under the locks of the ports. If
//! other receivers took the items first, the turn gives the grant back and waits again.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use lehr_sync::{Arc, SpinLock, process::next_identity};

use super::admission::{Group, Lane};
use super::branch::{Options, Pass, next, run};
use super::core::{Core, Member};
use super::guard::Kind;
use crate::arbiter::join::{Branches, Join, join};
use crate::context::Context as ItemContext;
use crate::context::current::{collect, detached};
use crate::dispatch::may_go_on;
use crate::port::waiters::Ticket;

/// A branch that takes several items together; see the documentation of this module.
pub(super) struct MultiPortBranch<S, B: Branches, K, H> {
    core: Arc<Core<S>>,
    lane: usize,
    identity: u64,
    /// The ports, without registered waiters. Every turn makes its own join from these ports.
    ports: Join<B>,
    is_once: bool,
    /// The source position that made the branch: the trace of the items' common context shows it.
    made_at: &'static Location<'static>,
    attendance: SpinLock<Attendance>,
    handler: H,
    _kind: std::marker::PhantomData<fn() -> K>,
}

/// The turns that wait at the ports; they are woken when the branch leaves.
#[derive(Default)]
struct Attendance {
    has_left: bool,
    waiting: BTreeMap<u64, Waker>,
}

impl<S, B, K, H, F> MultiPortBranch<S, B, K, H>
where
    S: Send + Sync + 'static,
    B: Branches<Owned = B> + Send + Sync + 'static,
    B::Tickets: Send + Sync,
    B::Order: Send + Sync,
    B::Output: Send + 'static,
    K: Kind<S>,
    H: Fn(K::Guard, B::Output) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    /// Adds the branch and starts its turns. Does nothing if the interleave is over.
    pub(super) fn install(
        core: &Arc<Core<S>>,
        branches: B,
        made_at: &'static Location<'static>,
        options: Options,
        handler: H,
    ) {
        let identity = next_identity();
        let ports = join(branches);
        let turns = if options.is_once || K::group() == Group::Exclusive { 1 } else { options.limit.unwrap_or(1) };
        let name = options.name.unwrap_or_else(|| ports.name());
        let branch = core.seat(identity, K::group() == Group::Independent, |lane| {
            let branch = Arc::new(Self {
                core: core.clone(),
                lane,
                identity,
                ports,
                is_once: options.is_once,
                made_at,
                attendance: SpinLock::new(Attendance::default()),
                handler,
                _kind: std::marker::PhantomData,
            });
            // The turns exist from the start, so no turn is ever made for a grant.
            let spawner = Waker::noop().clone();
            (branch, Lane::new(identity, K::group(), usize::MAX, turns, spawner, core.describe(&name)))
        });
        if let Some(branch) = branch {
            for _ in 0..turns {
                let turn = TurnGuard { branch: branch.clone(), number: next_identity(), is_over: false };
                detached(|| core.handle.spawn_boxed(Box::pin(Self::turn(turn)))).detach();
            }
        }
    }

    /// The main function of a turn's task.
    async fn turn(mut turn: TurnGuard<S, B, K, H>) {
        let TurnGuard { branch, number, .. } = &turn;
        let mut join = join(branch.ports.owned());
        let lane = (branch.lane, branch.identity);
        while std::future::poll_fn(|context| branch.poll_ready(&mut join, *number, context)).await {
            let is_seated = branch.core.change(|inner, wake| {
                let is_seated = inner.is_seated(branch.lane, branch.identity);
                if is_seated {
                    inner.admission.arrive(branch.lane, None, None, wake);
                }
                is_seated
            });
            if !is_seated {
                break;
            }
            let Some(grant) = next(&branch.core, lane, *number, true).await else { break };
            let pass = Pass { core: &branch.core, operation: grant.operation };
            let take = |polling: &mut Context<'_>| Poll::Ready(collect(|| join.poll_if(&mut || true, polling)));
            let (Poll::Ready(Ok(items)), contexts) = std::future::poll_fn(take).await else { continue };
            if branch.is_once {
                branch.core.inner.lock().admission.spend(lane);
            }
            let mut room = K::room(&branch.core);
            branch.core.change(|inner, _| K::begin(&mut room, inner, grant.operation));
            let guard = K::guard(room);
            let handler = pin!(async { pin!((branch.handler)(guard, items)).await });
            let left = run(&branch.core, &grant, ItemContext::merge(contexts, branch.made_at), handler).await;
            drop(left);
            drop(pass);
            if branch.is_once {
                break;
            }
        }
        turn.is_over = true;
    }
}

impl<S, B: Branches, K, H> MultiPortBranch<S, B, K, H> {
    /// Waits until the ports hold enough items; returns false if they never will again, or the branch has left.
    fn poll_ready(&self, join: &mut Join<B>, turn: u64, context: &mut Context<'_>) -> Poll<bool> {
        let _replaced = {
            let mut attendance = self.attendance.lock();
            if attendance.has_left {
                return Poll::Ready(false);
            }
            attendance.waiting.insert(turn, context.waker().clone())
        };
        if !may_go_on(context) {
            return Poll::Pending;
        }
        let mut is_ready = false;
        let mut note = || {
            is_ready = true;
            false
        };
        match join.poll_if(&mut note, context) {
            Poll::Ready(_) => Poll::Ready(false),
            Poll::Pending if is_ready => Poll::Ready(true),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Hands over the work of a turn if the dispatcher drops the turn.
struct TurnGuard<S: Send + Sync + 'static, B: Branches, K, H> {
    branch: Arc<MultiPortBranch<S, B, K, H>>,
    number: u64,
    is_over: bool,
}

impl<S: Send + Sync + 'static, B: Branches, K, H> Drop for TurnGuard<S, B, K, H> {
    fn drop(&mut self) {
        let branch = &self.branch;
        let _late = branch.attendance.lock().waiting.remove(&self.number);
        if !self.is_over {
            // This is done before anything is released, as in a branch of single items.
            branch.core.turn_dropped();
            let lane = (branch.lane, branch.identity);
            let orphan = branch.core.change(|inner, _| inner.admission.drop_turn(lane, self.number));
            if let Some(grant) = orphan {
                branch.core.release(grant.operation);
            }
        }
    }
}

impl<S, B, K, H> Member for MultiPortBranch<S, B, K, H>
where
    S: Send + Sync + 'static,
    B: Branches + Send + Sync + 'static,
    B::Tickets: Send + Sync,
    B::Order: Send + Sync,
    K: Kind<S>,
    H: Send + Sync + 'static,
{
    fn is_at(&self, port: u64) -> bool {
        self.ports.names(port)
    }

    fn close_ports(&self) {
        self.ports.close_ports();
    }

    fn leave(&self, _ticket: Option<Ticket>) {
        let waiting = {
            let mut attendance = self.attendance.lock();
            attendance.has_left = true;
            std::mem::take(&mut attendance.waiting)
        };
        waiting.into_values().for_each(Waker::wake);
    }

    fn refuse_left(&self) {
        self.ports.refuse_left();
    }

    fn identity(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }
}
