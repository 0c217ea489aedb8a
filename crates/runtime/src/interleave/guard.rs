//! What a handler is given of the state: [`Exclusive`] to change it, [`Snapshot`] to look at it.
//!
//! Both are values and not borrows, so that a handler is any function of its guard and its message that gives a future, and the
//! future may be sent to any worker. The group of a handler is the type of its first argument, and the compiler keeps it to it:
//! a snapshot cannot be changed, and there is one exclusive guard at a time.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};

use super::admission::{Group, Operation};
use super::core::Core;
use crate::sync::Arc;

/// The state as it was after so many changes.
pub(super) struct Version<S> {
    pub(super) number: u64,
    pub(super) state: Arc<S>,
}

impl<S> Clone for Version<S> {
    fn clone(&self) -> Self {
        Self { number: self.number, state: self.state.clone() }
    }
}

/// The state of an interleave as it was when the handler started; it does not change, however long it is kept.
///
/// A snapshot holds nobody up: it may be cloned, sent elsewhere and outlive the handler. While one of an older version lives,
/// the next exclusive handler that changes the state changes a copy.
///
/// Cost: a reference count.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Handlers, Interleave, Port, Snapshot, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let (look, seen) = (Port::new(), Port::new());
/// let handlers = Handlers::new().concurrent(&look, {
///     let seen = seen.clone();
///     move |state: Snapshot<Vec<i32>>, ()| {
///         seen.post((state.len(), state.version())).unwrap();
///         async {}
///     }
/// });
/// let _interleave = Interleave::start(dispatcher.handle(), vec![1, 2, 3], handlers);
/// look.post(()).unwrap();
/// assert_eq!(block_on(seen.receive()), Ok((3, 0)));
/// ```
pub struct Snapshot<S> {
    version: Version<S>,
}

impl<S> Snapshot<S> {
    pub(super) fn of(version: Version<S>) -> Self {
        Self { version }
    }

    /// How many exclusive handlers had changed the state.
    ///
    /// # Example
    /// See [`Snapshot`].
    pub fn version(&self) -> u64 {
        self.version.number
    }
}

impl<S> Clone for Snapshot<S> {
    fn clone(&self) -> Self {
        Self { version: self.version.clone() }
    }
}

impl<S> Deref for Snapshot<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.version.state
    }
}

impl<S: fmt::Debug> fmt::Debug for Snapshot<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Snapshot").field("version", &self.version.number).field("state", &**self).finish()
    }
}

/// The state of an interleave, for the one handler that may change it.
///
/// The handler's exclusivity ends when its future has ended *and* this has been dropped: a handler that does not use its guard
/// is exclusive all the same, and one that moves it into another task is so until that task lets go of it. What was changed
/// is seen by every handler that starts later, also if this one panics after the change or is cancelled: there is no rollback.
///
/// The first change copies the state if an older version is still looked at ([`Snapshot`]) or may be (there is an independent
/// branch); else it is changed in place. Each mutable dereference checks that, for a few nanoseconds: in a loop, take
/// `let state = &mut *guard` once.
///
/// # Example
/// See [`Interleave`](crate::Interleave).
pub struct Exclusive<S: Send + Sync + 'static> {
    core: Arc<Core<S>>,
    operation: Operation,
    /// Nothing only while it is lent, when nobody has the guard.
    version: Option<Version<S>>,
    is_changed: bool,
}

impl<S: Send + Sync + 'static> Exclusive<S> {
    fn enter(core: &Arc<Core<S>>, operation: Operation) -> Self {
        let version = core.change(|inner, wake| {
            inner.admission.hold(operation);
            if inner.independents > 0 {
                inner.state.clone()
            } else {
                inner.admission.set_state_out(true, wake);
                inner.state.take()
            }
        });
        Self { core: core.clone(), operation, version, is_changed: false }
    }

    fn version_ref(&self) -> &Version<S> {
        self.version.as_ref().expect("who holds the guard has the state")
    }

    /// How many exclusive handlers had changed the state before this one.
    ///
    /// # Example
    /// See [`Snapshot::version`].
    pub fn version(&self) -> u64 {
        self.version_ref().number
    }

    /// Runs `calls` while requests that this handler makes may enter its own interleave, and gives the guard back with the
    /// output. Without it, such a request fails: nothing could answer it before this handler ends.
    ///
    /// Only the chain of this handler's own calls enters (requests made in `calls`, and those made to answer them), one at
    /// a time; everything else goes on waiting. The state may be another one afterwards, which is why the guard has to be given up
    /// and taken back: what was read before cannot be kept as a reference.
    ///
    /// Cancel-safe: dropped half-way it gives the guard up.
    ///
    /// # Example
    /// See [`Port::ask`](crate::Port::ask) for requests.
    pub async fn reenter<C, F>(self, calls: C) -> (Self, F::Output)
    where
        C: FnOnce() -> F,
        F: Future,
    {
        let mut loan = Loan::new(self);
        let output = calls().await;
        poll_fn(|context| loan.poll_end(context)).await;
        (loan.into_guard(), output)
    }

    /// Puts the state back for whoever starts next.
    fn give_back(&mut self) -> impl Drop + use<S> {
        struct Late<S>(#[allow(dead_code, reason = "held only to be dropped late")] Option<Version<S>>);
        impl<S> Drop for Late<S> {
            fn drop(&mut self) {}
        }

        let Some(mut version) = self.version.take() else { return Late(None) };
        if std::mem::take(&mut self.is_changed) {
            version.number += 1;
        }
        // The version it replaces is dropped by the caller, after the lock: it is the user's.
        Late(self.core.change(|inner, wake| {
            let before = inner.state.replace(version);
            inner.admission.set_state_out(false, wake);
            before
        }))
    }
}

impl<S: Send + Sync + 'static> Deref for Exclusive<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.version_ref().state
    }
}

impl<S: Clone + Send + Sync + 'static> DerefMut for Exclusive<S> {
    fn deref_mut(&mut self) -> &mut S {
        self.is_changed = true;
        Arc::make_mut(&mut self.version.as_mut().expect("who holds the guard has the state").state)
    }
}

impl<S: fmt::Debug + Send + Sync + 'static> fmt::Debug for Exclusive<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exclusive").field("state", &**self).finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> Drop for Exclusive<S> {
    fn drop(&mut self) {
        let _late = self.give_back();
        self.core.release(self.operation);
    }
}

/// A guard whose exclusivity is lent to the calls of its own chain.
struct Loan<S: Send + Sync + 'static> {
    guard: Option<Exclusive<S>>,
    is_over: bool,
}

impl<S: Send + Sync + 'static> Loan<S> {
    fn new(mut guard: Exclusive<S>) -> Self {
        let _late = guard.give_back();
        guard.core.change(|inner, _| inner.admission.lend(guard.operation));
        Self { guard: Some(guard), is_over: false }
    }

    /// Waits until the last of the calls has ended.
    fn poll_end(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        let Some(guard) = &mut self.guard else { return std::task::Poll::Ready(()) };
        let operation = guard.operation;
        let version = guard.core.change(|inner, wake| {
            if !inner.admission.reclaim(operation, context.waker(), wake) {
                return None;
            }
            if inner.independents > 0 {
                inner.state.clone()
            } else {
                inner.admission.set_state_out(true, wake);
                inner.state.take()
            }
        });
        if version.is_none() {
            return std::task::Poll::Pending;
        }
        guard.version = version;
        self.is_over = true;
        std::task::Poll::Ready(())
    }

    fn into_guard(mut self) -> Exclusive<S> {
        self.guard.take().expect("it is taken out once")
    }
}

impl<S: Send + Sync + 'static> Drop for Loan<S> {
    fn drop(&mut self) {
        if let Some(guard) = &self.guard
            && !self.is_over
        {
            guard.core.change(|inner, wake| inner.admission.end_loan(guard.operation, wake));
        }
    }
}

/// The kinds of handlers that take turns: what their guard is.
pub trait Kind<S>: 'static {
    /// What their handlers are given of the state.
    type Guard: Send + 'static;
    /// The guard of an operation that starts.
    fn enter(core: &Arc<Core<S>>, operation: Operation) -> Self::Guard;
    /// The group whose rules hold for them.
    fn group() -> Group;
}

/// Handlers that change the state.
#[derive(Debug)]
pub struct Exclusively;

/// Handlers that run together with others of their kind.
#[derive(Debug)]
pub struct Concurrently;

/// Handlers that run whenever they come.
#[derive(Debug)]
pub struct Independently;

impl<S: Send + Sync + 'static> Kind<S> for Exclusively {
    type Guard = Exclusive<S>;

    fn enter(core: &Arc<Core<S>>, operation: Operation) -> Exclusive<S> {
        Exclusive::enter(core, operation)
    }

    fn group() -> Group {
        Group::Exclusive
    }
}

fn look<S>(core: &Core<S>) -> Snapshot<S> {
    let version = core.inner.lock().state.clone();
    Snapshot::of(version.expect("nobody starts while the state is out"))
}

impl<S: Send + Sync + 'static> Kind<S> for Concurrently {
    type Guard = Snapshot<S>;

    fn enter(core: &Arc<Core<S>>, _operation: Operation) -> Snapshot<S> {
        look(core)
    }

    fn group() -> Group {
        Group::Concurrent
    }
}

impl<S: Send + Sync + 'static> Kind<S> for Independently {
    type Guard = Snapshot<S>;

    fn enter(core: &Arc<Core<S>>, _operation: Operation) -> Snapshot<S> {
        look(core)
    }

    fn group() -> Group {
        Group::Independent
    }
}
