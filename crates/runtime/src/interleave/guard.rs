//! The guards that give a handler the state: [`Exclusive`] to change it, [`Snapshot`] to read it.
//!
//! `Exclusive` and `Snapshot` are owned values and not borrows. So any function that takes a guard and a message and
//! returns a future can be a handler. Because the future owns its guard, any worker can run it. The type of a handler's
//! first argument determines its group. The compiler enforces the rules: a snapshot cannot be changed, and there is
//! only one exclusive guard at a time.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};

use lehr_sync::Arc;

use super::admission::{Group, Operation};
use super::core::{Core, Inner};
use crate::calls::{self, CallSite, Left};
use crate::port::wake::Wake;

/// One version of the state: its value after a number of changes.
pub struct Version<S> {
    pub(super) number: u64,
    pub(super) state: Arc<S>,
}

impl<S> Clone for Version<S> {
    fn clone(&self) -> Self {
        Self { number: self.number, state: self.state.clone() }
    }
}

/// The state of an interleave as it was when the handler started. A snapshot never changes, however long you keep it.
///
/// A snapshot blocks no handler. You may clone a snapshot, send it to another thread and keep it after the handler has
/// ended. While a snapshot of an older version lives, the next exclusive handler that changes the state changes a copy.
///
/// Cost: incrementing a reference count.
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

    /// Returns the number of exclusive handlers that had changed the state when the snapshot was taken.
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
/// The handler's exclusivity ends when its future has ended *and* this guard has been dropped. A handler that ignores
/// its guard is exclusive too. If a handler moves its guard into another task, it stays exclusive until that task drops
/// the guard. Every later handler sees the changes, even if this handler panics after the change or is cancelled: there
/// is no rollback.
///
/// The first change copies the state if an older version is in use ([`Snapshot`]), or could be because there is an
/// independent branch. Otherwise the state is changed in place. Each mutable dereference checks whether to copy, which
/// takes a few nanoseconds; in a loop, take `let state = &mut *guard` once.
///
/// # Example
/// See [`Interleave`](crate::Interleave).
pub struct Exclusive<S: Send + Sync + 'static> {
    /// `None` only while the guard is being dropped.
    hold: Option<Box<Hold<S>>>,
}

/// The contents of a guard: its hold on the operation, and the state. Dropping this value gives both back.
///
/// The contents are boxed, so that a turn gets the box back when its handler has ended, and reuses it for the next
/// handler. See [`Exclusive::drop`].
pub struct Hold<S: Send + Sync + 'static> {
    core: Arc<Core<S>>,
    /// The operation; `None` while there is no owner.
    operation: Option<Operation>,
    /// The state; `None` while exclusivity is lent, and while there is no owner.
    version: Option<Version<S>>,
    is_changed: bool,
    /// Whether the state must be visible before the operation has ended.
    is_looked_at: bool,
    /// The version that was replaced. The replaced version holds a user value, and so must be dropped after the lock is
    /// released.
    replaced: Option<Version<S>>,
}

impl<S: Send + Sync + 'static> Hold<S> {
    fn new(core: &Arc<Core<S>>) -> Self {
        let core = core.clone();
        Self { core, operation: None, version: None, is_changed: false, is_looked_at: false, replaced: None }
    }

    /// Assigns the contents to the guard of an operation that starts.
    fn begin(&mut self, inner: &mut Inner<S>, operation: Operation) {
        inner.admission.hold(operation);
        self.operation = Some(operation);
        self.take_out(inner);
    }

    /// Takes the state out of the interleave.
    fn take_out(&mut self, inner: &mut Inner<S>) {
        self.is_changed = false;
        self.is_looked_at = inner.independents > 0 || inner.is_followed;
        self.version = inner.take_out();
    }

    /// Puts the state back for the next start.
    fn put_back(&mut self, inner: &mut Inner<S>, wake: &mut Wake) {
        let Some(mut version) = self.version.take() else { return };
        version.number += u64::from(std::mem::take(&mut self.is_changed));
        self.replaced = inner.put_back(version, wake);
    }

    /// Ends the guard's hold on its operation.
    fn end(&mut self, inner: &mut Inner<S>, wake: &mut Wake) {
        let Some(operation) = self.operation.take() else { return };
        self.put_back(inner, wake);
        inner.admission.release(operation, wake);
    }
}

impl<S: Send + Sync + 'static> Drop for Hold<S> {
    fn drop(&mut self) {
        if self.operation.is_some() {
            let core = self.core.clone();
            core.change(|inner, wake| self.end(inner, wake));
        }
    }
}

impl<S: Send + Sync + 'static> Exclusive<S> {
    fn hold(&self) -> &Hold<S> {
        self.hold.as_deref().expect("it is there until the guard is dropped")
    }

    fn hold_mut(&mut self) -> &mut Hold<S> {
        self.hold.as_deref_mut().expect("it is there until the guard is dropped")
    }

    fn version_ref(&self) -> &Version<S> {
        self.hold().version.as_ref().expect("who has the guard has the state")
    }

    /// Returns the number of exclusive handlers that had changed the state before this handler.
    ///
    /// # Example
    /// See [`Snapshot::version`].
    pub fn version(&self) -> u64 {
        self.version_ref().number
    }

    /// Runs `calls`, whose requests may enter this handler's own interleave, and returns the guard with the output.
    /// Outside this method, such a request fails, because nothing could answer it before this handler ends.
    ///
    /// Only this handler's own chain of calls may enter, one call at a time: requests made in `calls`, and requests
    /// made to answer them. All other items keep waiting. The calls may change the state, so this method takes the
    /// guard and returns it. No reference to the earlier state survives.
    ///
    /// Cancel-safe: if you drop the future half-way, the guard is given up.
    ///
    /// # Example
    /// For requests, see [`Port::ask`](crate::Port::ask).
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
}

impl<S: Send + Sync + 'static> Deref for Exclusive<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.version_ref().state
    }
}

impl<S: Clone + Send + Sync + 'static> DerefMut for Exclusive<S> {
    fn deref_mut(&mut self) -> &mut S {
        let hold = self.hold_mut();
        hold.is_changed = true;
        Arc::make_mut(&mut hold.version.as_mut().expect("who has the guard has the state").state)
    }
}

impl<S: fmt::Debug + Send + Sync + 'static> fmt::Debug for Exclusive<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exclusive").field("state", &**self).finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> Drop for Exclusive<S> {
    /// Gives the state back, at once or together with the right to run. The state is given back with the right to run
    /// if no code can see the difference.
    ///
    /// While the operation's own turn polls the handler, no handler that waits for the state can start. The turn may
    /// run until its handler has ended. So in this case the guard leaves its state to the turn. The turn gives back the
    /// state and the right to run under one lock, and under the same lock takes what the next handler needs. If the
    /// handler waits once more, the state is given back when the poll ends.
    fn drop(&mut self) {
        let Some(hold) = self.hold.take() else { return };
        if let (Some(operation), false) = (hold.operation, hold.is_looked_at) {
            let place = CallSite { interleave: hold.core.identity, operation };
            // If the turn does not take the hold, the hold is dropped.
            let _ = calls::leave(place, hold);
        }
    }
}

/// A guard whose exclusivity is lent to the calls of its own chain.
struct Loan<S: Send + Sync + 'static> {
    guard: Option<Exclusive<S>>,
    is_over: bool,
}

impl<S: Send + Sync + 'static> Loan<S> {
    fn new(mut guard: Exclusive<S>) -> Self {
        let hold = guard.hold_mut();
        let core = hold.core.clone();
        core.change(|inner, wake| {
            hold.put_back(inner, wake);
            hold.operation.into_iter().for_each(|operation| inner.admission.lend(operation));
        });
        hold.replaced = None;
        Self { guard: Some(guard), is_over: false }
    }

    /// Waits until the last call of the chain has ended.
    fn poll_end(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        let Some(guard) = &mut self.guard else { return std::task::Poll::Ready(()) };
        let hold = guard.hold_mut();
        let (core, operation) = (hold.core.clone(), hold.operation);
        self.is_over = core.change(|inner, wake| {
            let is_back = operation.is_some_and(|operation| inner.admission.reclaim(operation, context.waker(), wake));
            if is_back {
                hold.take_out(inner);
            }
            // The version is `None` if the interleave has ended meanwhile, which cancels the handler.
            hold.version.is_some()
        });
        if self.is_over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    }

    fn into_guard(mut self) -> Exclusive<S> {
        self.guard.take().expect("it is taken out once")
    }
}

impl<S: Send + Sync + 'static> Drop for Loan<S> {
    fn drop(&mut self) {
        if let Some(Hold { core, operation: Some(operation), .. }) = self.guard.as_ref().map(Exclusive::hold)
            && !self.is_over
        {
            core.change(|inner, wake| inner.admission.end_loan(*operation, wake));
        }
    }
}

/// A kind of handlers that run in turns, with the type of their guards.
pub trait Kind<S>: 'static {
    /// The guard that the handlers get.
    type Guard: Send + 'static;
    /// The memory from which the guards of one turn are made, one after the other.
    type Room: Send + 'static;
    /// Creates the room for a guard.
    fn room(core: &Arc<Core<S>>) -> Self::Room;
    /// Returns the room of a guard that was dropped; it may still hold the guard's content.
    fn recover(left: Left) -> Option<Self::Room>;
    /// Gives back the state that a guard left in its room. Called under the interleave's lock.
    fn clear(room: &mut Self::Room, inner: &mut Inner<S>, wake: &mut Wake);
    /// Takes the state for the guard of an operation that starts. Called under the interleave's lock.
    fn begin(room: &mut Self::Room, inner: &mut Inner<S>, operation: Operation);
    /// Returns the guard of the operation that has begun. Called after the lock is released.
    fn guard(room: Self::Room) -> Self::Guard;
    /// Returns the group whose rules apply to the handlers.
    fn group() -> Group;
}

/// The kind of exclusive handlers, which may change the state.
#[derive(Debug)]
pub struct Exclusively;

/// The kind of concurrent handlers, which run together.
#[derive(Debug)]
pub struct Concurrently;

/// The kind of independent handlers, which run at any time.
#[derive(Debug)]
pub struct Independently;

impl<S: Send + Sync + 'static> Kind<S> for Exclusively {
    type Guard = Exclusive<S>;
    type Room = Box<Hold<S>>;

    fn room(core: &Arc<Core<S>>) -> Box<Hold<S>> {
        Box::new(Hold::new(core))
    }

    fn recover(left: Left) -> Option<Box<Hold<S>>> {
        left.downcast().ok()
    }

    fn clear(room: &mut Box<Hold<S>>, inner: &mut Inner<S>, wake: &mut Wake) {
        room.end(inner, wake);
    }

    fn begin(room: &mut Box<Hold<S>>, inner: &mut Inner<S>, operation: Operation) {
        room.begin(inner, operation);
    }

    fn guard(mut room: Box<Hold<S>>) -> Exclusive<S> {
        room.replaced = None;
        Exclusive { hold: Some(room) }
    }

    fn group() -> Group {
        Group::Exclusive
    }
}

/// The kinds whose guards are snapshots, which leave nothing to give back.
macro_rules! looking {
    ($($kind:ident => $group:ident),*) => {$(
        impl<S: Send + Sync + 'static> Kind<S> for $kind {
            type Guard = Snapshot<S>;
            type Room = Option<Snapshot<S>>;

            fn room(_: &Arc<Core<S>>) -> Option<Snapshot<S>> {
                None
            }

            fn recover(_: Left) -> Option<Option<Snapshot<S>>> {
                None
            }

            fn clear(_: &mut Option<Snapshot<S>>, _: &mut Inner<S>, _: &mut Wake) {}

            fn begin(room: &mut Option<Snapshot<S>>, inner: &mut Inner<S>, _: Operation) {
                *room = inner.state.clone().map(Snapshot::of);
            }

            fn guard(room: Option<Snapshot<S>>) -> Snapshot<S> {
                room.expect("nobody starts while the state is out")
            }

            fn group() -> Group {
                Group::$group
            }
        }
    )*};
}

looking!(Concurrently => Concurrent, Independently => Independent);
