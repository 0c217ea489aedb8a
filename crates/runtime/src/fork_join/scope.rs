//! A set of closures that borrow from outside the scope, and end before the scope ends.
//!
//! Spawned closures are in a list that belongs to the scope. A worker that comes to help registers in the scope and
//! runs closures of the list until it is empty. The owner does the same when its body has ended. Helpers are called
//! through the common queue, so that a worker comes only when it has nothing else on its stack. An empty stack is
//! necessary because a spawn may outlive the fork in which it was made. A worker that waits for that fork must not run
//! the spawn (see `docs/design/fork-join.md`).

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use lehr_sync::{Arc, AtomicUsize, Ordering, SpinLock, thread};

use super::{help, spread, wait_until};
use crate::context::{self, Context};
use crate::dispatch::sleep::WATCH;
use crate::dispatch::{Closure, Current, Job, Shared, with_current};

/// A spawned closure of a scope. The closure's real lifetime is shorter than `'static`: see `Scope::spawn`.
type Body = Box<dyn FnOnce(&Scope<'static>) + Send + 'static>;

struct Spawned {
    body: Body,
    context: Option<Context>,
}

#[derive(Default)]
struct State {
    /// Closures that were spawned and have not begun.
    list: Vec<Spawned>,
    /// The workers that run closures of the list, and have nothing else on their stack.
    helpers: Vec<usize>,
    /// The number of calls for help in the common queue.
    calls: usize,
    /// The first panic of a closure that was spawned in the scope.
    panic: Option<Box<dyn Any + Send>>,
    /// The handle of the owner's thread, if the owner sleeps or is about to sleep.
    owner: Option<thread::Thread>,
}

struct Core {
    state: SpinLock<State>,
    /// The number of closures that were spawned and have not ended. The number changes only under the lock.
    left: AtomicUsize,
    /// The dispatcher whose workers help; `None` if the scope was opened on a thread that is not a worker.
    shared: Option<Arc<Shared>>,
}

/// Spawns closures that borrow values that outlive `'scope`; see [`scope()`].
///
/// # Example
/// See [`scope()`].
pub struct Scope<'scope> {
    core: Arc<Core>,
    /// Makes the scope invariant in its lifetime. With a longer or a shorter lifetime, a closure could borrow too
    /// little or too much.
    life: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// Calls `body` with a scope to spawn into, and returns its result when all spawned closures have ended.
///
/// Idle workers begin with spawned closures at once, in no particular order. When `body` has ended, your thread runs
/// closures too, and waits for the closures that run on other threads as [`join`](super::join) does. On a thread that
/// is not a worker, and on a dispatcher with one worker, your thread runs all spawned closures after `body`. Spawned
/// closures must not wait for one another by other means.
///
/// Cost: one allocation for each spawn, and a lock that the helpers share. Use a scope for pieces of work of many
/// microseconds, and [`join`](super::join) for smaller pieces.
///
/// # Panics
/// Panics if `body` or a spawned closure panics, after all of them have ended. Passes on the panic of `body`, or else
/// the first panic of a closure.
///
/// # Example
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use lehr_runtime::{Dispatcher, fork_join::{Scope, scope}};
///
/// struct Tree { value: usize, children: Vec<Tree> }
///
/// fn add<'a>(scope: &Scope<'a>, tree: &'a Tree, sum: &'a AtomicUsize) {
///     sum.fetch_add(tree.value, Ordering::Relaxed);
///     for child in &tree.children {
///         scope.spawn(move |scope| add(scope, child, sum));
///     }
/// }
///
/// let leaf = |value| Tree { value, children: vec![] };
/// let tree = Tree { value: 1, children: vec![leaf(2), leaf(3)] };
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let sum = AtomicUsize::new(0);
/// dispatcher.handle().install(|| scope(|scope| add(scope, &tree, &sum)));
/// assert_eq!(sum.into_inner(), 6);
/// ```
pub fn scope<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    let shared = with_current(|current| current.map(|current| current.shared.clone()));
    let scope = Scope { core: Arc::new(Core::new(shared)), life: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    scope.core.finish();
    let panic = scope.core.state.lock().panic.take();
    match (result, panic) {
        (Ok(result), None) => result,
        (Err(payload), _) | (Ok(_), Some(payload)) => resume_unwind(payload),
    }
}

impl<'scope> Scope<'scope> {
    /// Spawns a closure that is called before the scope ends. The closure may spawn further closures.
    ///
    /// # Example
    /// See [`scope()`].
    pub fn spawn(&self, body: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
        let body: Box<dyn FnOnce(&Scope<'scope>) + Send + 'scope> = Box::new(body);
        // SAFETY: only lifetimes change. What the closure borrows lives for `'scope`, and `scope` does not return, by
        // result or by panic, before every closure of the list has been called and dropped (`Core::finish` waits for
        // `left`, which falls after that). The `Scope` that the closure gets has the same layout for every lifetime,
        // and lets it spawn only what it could have borrowed itself.
        let body = unsafe { std::mem::transmute::<Box<dyn FnOnce(&Scope<'scope>) + Send + 'scope>, Body>(body) };
        self.core.add(Spawned { body, context: context::current::current() });
    }
}

impl Core {
    fn new(shared: Option<Arc<Shared>>) -> Self {
        Self { state: SpinLock::default(), left: AtomicUsize::new(0), shared }
    }

    fn add(self: &Arc<Self>, spawned: Spawned) {
        let shared = self.shared.as_ref().filter(|shared| shared.accepts());
        let (is_calling, owner) = {
            let mut state = self.state.lock();
            state.list.push(spawned);
            // Relaxed: changed under the lock; the owner, which reads it without the lock, is notified under the lock
            // too.
            self.left.fetch_add(1, Ordering::Relaxed);
            // The owner also runs closures at the end, so the scope needs one helper fewer than there are workers.
            let wanted = shared.map_or(0, |shared| state.list.len().min(shared.threads - 1));
            let is_calling = state.calls + state.helpers.len() < wanted;
            state.calls += usize::from(is_calling);
            (is_calling, state.owner.take())
        };
        if let Some(owner) = owner {
            owner.unpark();
        }
        if let Some(shared) = shared.filter(|_| is_calling) {
            let core = self.clone();
            shared.share(Job::call(Closure::uncounted(move || core.answer())));
        }
    }

    /// Answers a call for help as a worker.
    fn answer(self: &Arc<Self>) {
        let index = with_current(|current| current.map(|current| current.index));
        {
            let mut state = self.state.lock();
            state.calls -= 1;
            state.helpers.extend(index);
        }
        self.work();
        let mut state = self.state.lock();
        if let Some(place) = state.helpers.iter().position(|&helper| Some(helper) == index) {
            state.helpers.swap_remove(place);
        }
    }

    /// Runs the closures in the list until it is empty. The latest closure runs first, so that a tree of spawns does
    /// not grow wide.
    fn work(self: &Arc<Self>) {
        loop {
            let next = self.state.lock().list.pop();
            let Some(Spawned { body, context }) = next else { return };
            let scope = Scope { core: self.clone(), life: PhantomData };
            let result = catch_unwind(AssertUnwindSafe(|| {
                let _entered = context::current::in_use().then(|| context::current::enter(context));
                body(&scope);
            }));
            self.ended(result.err());
        }
    }

    /// Records that one spawned closure has been called and dropped.
    fn ended(&self, panic: Option<Box<dyn Any + Send>>) {
        let (later, owner) = {
            let mut state = self.state.lock();
            let later = match panic {
                Some(_) if state.panic.is_none() => std::mem::replace(&mut state.panic, panic),
                later => later,
            };
            // Release: what the closure did is visible to the owner that sees 0; pairs with the Acquire in `is_over`.
            let is_last = self.left.fetch_sub(1, Ordering::Release) == 1;
            (later, if is_last { state.owner.take() } else { None })
        };
        // Not under the lock: the payload's destructor is user code.
        drop(later);
        if let Some(owner) = owner {
            owner.unpark();
        }
    }

    fn is_over(&self) -> bool {
        // Acquire: pairs with the Release in `ended`.
        self.left.load(Ordering::Acquire) == 0
    }

    /// Runs closures and waits, as the owner, until all spawned closures have ended; called when the body has ended.
    fn finish(self: &Arc<Self>) {
        while !self.is_over() {
            let parts = self.shared.as_ref().map_or(1, |shared| shared.threads).min(self.state.lock().list.len());
            spread(parts, &|| self.work());
            let has_reason = || self.is_over() || !self.state.lock().list.is_empty();
            with_current(|current| match current {
                Some(current) => {
                    wait_until(current, has_reason, || self.help_helpers(current), |limit| self.sleep(limit))
                }
                None => {
                    while !has_reason() {
                        self.sleep(WATCH);
                    }
                }
            });
        }
    }

    /// Runs a fork of some helper; returns whether there was a fork.
    fn help_helpers(&self, current: &Current) -> bool {
        for place in 0.. {
            let helper = self.state.lock().helpers.get(place).copied();
            if helper.is_none() {
                break;
            }
            // A helper comes with an empty stack and leaves when the list is empty. So while it is registered,
            // everything that it has forked belongs to this scope.
            if help(current, helper, || self.state.lock().helpers.iter().any(|&other| Some(other) == helper)) {
                return true;
            }
        }
        false
    }

    /// Sleeps until all closures have ended, something is spawned, `limit` has passed, or a spurious wake-up. A model
    /// has no clock, and no limit.
    fn sleep(&self, limit: std::time::Duration) {
        {
            let mut state = self.state.lock();
            // Checked under the lock, under which both change: a thread that ends or spawns the next closure finds our
            // handle.
            if self.is_over() || !state.list.is_empty() {
                return;
            }
            state.owner = Some(thread::current());
        }
        if cfg!(any(loom, shuttle)) { thread::park() } else { thread::park_timeout(limit) }
    }
}
