//! The context that follows a message: the origin of the message, its deadline, and the receiver of its errors.
//!
//! A [`Context`] is an immutable value with a parent. Code runs *in* a context. [`Context::run`] and [`Context::scope`]
//! enter a context. Around each of its polls, a task enters the context in which it was spawned. A handler of
//! [`Port::on`](crate::Port::on) enters the context in which its item was posted. Only posts and spawns take their
//! context along.
//!
//! When you make a context, you choose the parts that a post or a spawn takes along. Causes, deadline, cancellation,
//! error sink and trace are always taken; baggage only if it is marked [`Inheritance::Crosses`].
//!
//! A program that never makes a context pays one predicted branch for each post and each poll. Read next:
//! `context/current.rs` (entering and capturing contexts), `context/failure.rs` (where errors go), `context/cancel.rs`
//! (the tree of cancellation).

mod builder;
pub(crate) mod cancel;
pub(crate) mod current;
mod failure;
mod scope;
mod trace;

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use lehr_sync::Arc;

pub use builder::{ContextBuilder, Inheritance};
pub use failure::{Cause, ContextError, Step, set_error_hook};
pub use scope::{Call, Scope, WithContext};
pub use trace::{TraceParent, TraceParentError};

pub(crate) use failure::{Unclaimed, closure_panicked, panicked};
pub(crate) use scope::{Listening, goes_on, in_context, turn};

use builder::Baggage;
use cancel::Node;
use failure::Sink;

/// The origin of work: its sender, its deadline, and the sink for its errors. Immutable, and cheap to clone (one
/// reference count).
///
/// # Example
/// ```
/// use lehr_runtime::{Context, Inheritance};
/// let request = Context::named("request 7").baggage("tenant", "acme", Inheritance::Crosses).build();
/// request.run(|| {
///     let now = Context::current().unwrap();
///     assert_eq!((now.name(), now.baggage("tenant")), (Some("request 7"), Some("acme")));
/// });
/// assert!(Context::current().is_none());
/// ```
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    /// A number that is unique in the process, and the same on both sides of a crossing.
    id: u64,
    name: Option<Box<str>>,
    parent: Option<Context>,
    /// The context's parents apart from `parent`, if several items were taken together. Such a context has nothing else
    /// of its own.
    links: Box<[Context]>,
    made_at: &'static Location<'static>,
    /// The deadline, on the clock with which it was set. If the parent has a deadline too, this field holds the earlier
    /// deadline.
    deadline: Option<Duration>,
    /// The context's own node in the tree of cancellation, or its parent's node.
    node: Option<Arc<Node>>,
    sink: Option<Sink>,
    baggage: Box<[Baggage]>,
    trace: Option<TraceParent>,
    /// The context as it is on the other side of a post or a spawn; `None` if that is this context itself.
    across: Option<Context>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Parents are dropped one by one in a loop: a chain of a million contexts would otherwise be dropped by a
        // million nested calls.
        let mut next = self.parent.take();
        while let Some(parent) = next {
            next = Arc::into_inner(parent.inner).and_then(|mut inner| inner.parent.take());
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Context").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Context {
    /// Begins a context below the current context. Without a current context, the new context has no parent.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Context;
    /// let outer = Context::named("outer").build();
    /// let inner = outer.run(|| Context::named("inner").build());
    /// assert_eq!(inner.parent().unwrap().id(), outer.id());
    /// ```
    #[track_caller]
    pub fn named(name: impl Into<String>) -> ContextBuilder {
        ContextBuilder::new(name.into(), Self::current())
    }

    /// Begins a context whose parent is this context.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Context;
    /// let outer = Context::named("outer").build();
    /// assert_eq!(outer.child("inner").build().parent().unwrap().name(), Some("outer"));
    /// ```
    #[track_caller]
    pub fn child(&self, name: impl Into<String>) -> ContextBuilder {
        ContextBuilder::new(name.into(), Some(self.clone()))
    }

    /// Returns the context that the calling code runs in. Cost: one load as long as no context was ever made.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_runtime::Context::current().is_none());
    /// ```
    pub fn current() -> Option<Self> {
        current::current()
    }

    /// Runs `body` in this context, and then restores the outer context.
    ///
    /// # Panics
    /// Panics if `body` does.
    ///
    /// # Example
    /// See [`Context`].
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let _entered = current::enter(Some(self.clone()));
        body()
    }

    /// Returns a number that is unique in the process; a context keeps it when it crosses to another task.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Context;
    /// assert_ne!(Context::named("a").build().id(), Context::named("b").build().id());
    /// ```
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// Returns the name of the context, if it has one.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_runtime::Context::named("a").build().name(), Some("a"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// Returns the parent: the context in which this context was made or, for a context of several items, the context
    /// of the first item.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_runtime::Context::named("a").build().parent().is_none());
    /// ```
    pub fn parent(&self) -> Option<&Self> {
        self.inner.parent.as_ref()
    }

    /// Returns the other parents of a context that belongs to several items taken together.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_runtime::Context::named("a").build().links().is_empty());
    /// ```
    pub fn links(&self) -> &[Self] {
        &self.inner.links
    }

    /// Returns whether `id` is the number of this context or of one of its ancestors, including linked contexts.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Context;
    /// let outer = Context::named("outer").build();
    /// let inner = outer.child("inner").build();
    /// assert!(inner.descends_from(outer.id()) && !outer.descends_from(inner.id()));
    /// ```
    pub fn descends_from(&self, id: u64) -> bool {
        self.lineage().any(|context| context.id() == id || context.links().iter().any(|link| link.descends_from(id)))
    }

    /// Returns the time by which the work should be done, on the clock with which the deadline was set. The result is
    /// the earliest of the context's own deadline and the deadlines of outer contexts.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, Context};
    /// let (clock, second) = (Clock::virtual_time(), Duration::from_secs(1));
    /// let outer = Context::named("outer").timeout(&clock, second).build();
    /// let inner = outer.child("inner").timeout(&clock, second * 5).build();
    /// assert_eq!(inner.deadline(), Some(second));
    /// ```
    pub fn deadline(&self) -> Option<Duration> {
        self.lineage().find_map(|context| context.inner.deadline)
    }

    /// Returns the baggage value of a key, from the innermost context that has one.
    ///
    /// # Example
    /// See [`Context`].
    pub fn baggage(&self, key: &str) -> Option<&str> {
        self.lineage().find_map(|context| {
            context.inner.baggage.iter().find(|entry| &*entry.key == key).map(|entry| &*entry.value)
        })
    }

    /// Returns the innermost trace parent, and the trace parents of the linked contexts.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_runtime::Context::named("a").build().traces().is_empty());
    /// ```
    pub fn traces(&self) -> Vec<TraceParent> {
        let mut traces = Vec::new();
        self.collect_traces(&mut traces);
        traces
    }

    fn collect_traces(&self, traces: &mut Vec<TraceParent>) {
        for context in self.lineage() {
            if let Some(trace) = context.inner.trace {
                if !traces.contains(&trace) {
                    traces.push(trace);
                }
                return;
            }
            if !context.links().is_empty() {
                context.parent().into_iter().chain(context.links()).for_each(|link| link.collect_traces(traces));
                return;
            }
        }
    }

    /// Cancels the work in this context and below it: tasks spawned there end as
    /// [`TaskError::Cancelled`](crate::TaskError::Cancelled), their futures are dropped, a [`call`](Self::call) ends as
    /// [`Cause::Cancelled`]. Only the first call has an effect. If the context was made neither
    /// [`cancellable`](ContextBuilder::cancellable) nor with a timeout, nothing is cancelled. Not even the nearest
    /// cancellable context around it is cancelled. So code cannot cancel more than it made cancellable.
    ///
    /// Returns whether this call cancelled the context.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Context;
    /// let outer = Context::named("outer").cancellable().build();
    /// let inner = outer.child("inner").build();
    /// assert!(!inner.cancel() && outer.cancel() && inner.is_cancelled());
    /// ```
    pub fn cancel(&self) -> bool {
        let Some(node) = &self.inner.node else { return false };
        let is_own = self
            .parent()
            .is_none_or(|parent| !parent.inner.node.as_ref().is_some_and(|outer| Arc::ptr_eq(outer, node)));
        is_own && node.stop(cancel::Stop::Cancelled)
    }

    /// Returns whether this context, or an outer context, was cancelled or has passed its deadline.
    ///
    /// # Example
    /// See [`cancel`](Self::cancel).
    pub fn is_cancelled(&self) -> bool {
        self.stopped().is_some()
    }

    /// Returns this context and its ancestors by first parents, innermost first.
    fn lineage(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |context| context.parent())
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.inner.node.as_ref()
    }

    pub(crate) fn stopped(&self) -> Option<cancel::Stop> {
        self.inner.node.as_ref().and_then(|node| node.stopped())
    }

    /// Returns the context as it is on the other side of a post or a spawn.
    pub(crate) fn across(&self) -> Self {
        self.inner.across.as_ref().unwrap_or(self).clone()
    }

    /// Returns the context of several items taken together: the first item's context, with the other contexts linked.
    /// Returns `None` if no item had a context.
    pub(crate) fn merge(mut contexts: Vec<Self>, taken_at: &'static Location<'static>) -> Option<Self> {
        let mut seen = Vec::with_capacity(contexts.len());
        contexts.retain(|context| {
            let is_new = !seen.contains(&context.id());
            seen.push(context.id());
            is_new
        });
        if contexts.len() < 2 {
            return contexts.pop();
        }
        Some(builder::merged(contexts, taken_at))
    }
}
