//! The options of a new context: what it adds to its parent, and which parts cross to other tasks.

use std::panic::Location;
use std::time::Duration;

use lehr_sync::{Arc, process::next_identity};

use super::cancel::Node;
use super::failure::{ContextError, Sink};
use super::{Context, Inner, TraceParent, current};
use crate::port::Port;
use crate::timer::Clock;

/// Whether an entry of the baggage crosses with a post or a spawn.
///
/// # Example
/// ```
/// use lehr_runtime::{Context, Inheritance, Port, block_on};
/// let context = Context::named("a")
///     .baggage("tenant", "acme", Inheritance::Crosses)
///     .baggage("password", "1234", Inheritance::Stays)
///     .build();
/// let port = Port::new();
/// context.run(|| port.post(1)).unwrap();
/// let (_, arrived) = block_on(port.receive().with_context()).unwrap();
/// let arrived = arrived.unwrap();
/// assert_eq!((arrived.baggage("tenant"), arrived.baggage("password")), (Some("acme"), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inheritance {
    /// The entry crosses with every post and spawn.
    Crosses,
    /// Only code in the context itself, and in scopes inside it, sees the entry.
    Stays,
}

#[derive(Clone)]
pub(super) struct Baggage {
    pub(super) key: Box<str>,
    pub(super) value: Box<str>,
    inheritance: Inheritance,
}

/// The builder of a context; see [`Context::named`].
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Clock, Context};
/// let clock = Clock::virtual_time();
/// let context = Context::named("order 12").cancellable().timeout(&clock, Duration::from_secs(2)).build();
/// assert!(!context.is_cancelled());
/// clock.advance(Duration::from_secs(2));
/// assert!(context.is_cancelled());
/// ```
#[must_use = "a context is made by `build`"]
pub struct ContextBuilder {
    name: String,
    parent: Option<Context>,
    made_at: &'static Location<'static>,
    is_cancellable: bool,
    timeout: Option<(Clock, Duration)>,
    sink: Option<Sink>,
    baggage: Vec<Baggage>,
    trace: Option<TraceParent>,
}

impl std::fmt::Debug for ContextBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ContextBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ContextBuilder {
    #[track_caller]
    pub(super) fn new(name: String, parent: Option<Context>) -> Self {
        Self {
            name,
            parent,
            made_at: Location::caller(),
            is_cancellable: false,
            timeout: None,
            sink: None,
            baggage: Vec::new(),
            trace: None,
        }
    }

    /// Makes the context without a parent. Use a context without a parent for work without a caller, such as a
    /// service's own maintenance.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Context;
    /// let outer = Context::named("outer").build();
    /// assert!(outer.run(|| Context::named("alone").detached().build()).parent().is_none());
    /// ```
    pub fn detached(mut self) -> Self {
        self.parent = None;
        self
    }

    /// Lets [`Context::cancel`] end the work in the context and below it.
    ///
    /// # Example
    /// ```
    /// let context = lehr_runtime::Context::named("a").cancellable().build();
    /// assert!(context.cancel());
    /// ```
    pub fn cancellable(mut self) -> Self {
        self.is_cancellable = true;
        self
    }

    /// Cancels the context once `time` has passed on `clock`, counted from [`build`](Self::build). An earlier outer
    /// deadline stays in force.
    ///
    /// Cost: one timer, which is removed when the last clone of the context is dropped.
    ///
    /// # Example
    /// See [`ContextBuilder`].
    pub fn timeout(mut self, clock: &Clock, time: Duration) -> Self {
        self.timeout = Some((clock.clone(), time));
        self
    }

    /// Passes errors that happen in the context, or in contexts inside it without their own sink, to `handler`.
    ///
    /// The handler is called on the thread where the error ended, in the context outside this one. So an error in the
    /// handler goes to the next outer sink, never back to the handler. Keep the handler short, or use
    /// [`errors_to`](Self::errors_to).
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, Port};
    /// let seen = Port::new();
    /// let out = seen.clone();
    /// let context = Context::named("a").on_error(move |failure| out.post(failure.message()).unwrap()).build();
    /// context.fail("no paper");
    /// assert_eq!(seen.try_receive(), Some("no paper".to_owned()));
    /// ```
    pub fn on_error(mut self, handler: impl Fn(ContextError) + Send + Sync + 'static) -> Self {
        self.sink = Some(Sink::new(move |failure| {
            handler(failure);
            Ok(())
        }));
        self
    }

    /// Posts errors that happen in the context to `port`, as [`on_error`](Self::on_error) passes them to a handler. If
    /// the port refuses an error, the error goes to the next outer sink.
    ///
    /// The post carries the context outside this one, so an error of the port's handler goes to that context.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, Port};
    /// let errors = Port::new();
    /// Context::named("a").errors_to(&errors).build().fail("no ink");
    /// assert_eq!(errors.try_receive().unwrap().message(), "no ink");
    /// ```
    pub fn errors_to(mut self, port: &Port<ContextError>) -> Self {
        let port = port.clone();
        self.sink = Some(Sink::new(move |failure| port.post(failure).map_err(|refused| refused.item)));
        self
    }

    /// Adds a value to the baggage under a key; `inheritance` says whether posts and spawns take it along.
    ///
    /// # Example
    /// See [`Inheritance`].
    pub fn baggage(mut self, key: impl Into<String>, value: impl Into<String>, inheritance: Inheritance) -> Self {
        let (key, value) = (key.into().into_boxed_str(), value.into().into_boxed_str());
        self.baggage.push(Baggage { key, value, inheritance });
        self
    }

    /// Sets the span of a distributed trace that the context belongs to.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, TraceParent};
    /// let trace: TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    /// assert_eq!(Context::named("a").trace(trace).build().traces(), [trace]);
    /// ```
    pub fn trace(mut self, trace: TraceParent) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Makes the context with the options of this builder. Cost: an allocation each for the context, its name and its
    /// baggage, and twice that if baggage stays. Cancellation and a deadline need further allocations.
    ///
    /// # Example
    /// See [`ContextBuilder`].
    pub fn build(self) -> Context {
        current::CONTEXTS_IN_USE.raise();
        let outer_node = self.parent.as_ref().and_then(|parent| parent.inner.node.clone());
        let outer_deadline = self.parent.as_ref().and_then(Context::deadline);
        let deadline = self.timeout.as_ref().map(|(clock, time)| clock.now().saturating_add(*time));
        let node = if self.is_cancellable || self.timeout.is_some() {
            let node = Node::below(outer_node.as_ref());
            if let Some((clock, time)) = &self.timeout {
                node.stop_after(clock, *time);
            }
            Some(node)
        } else {
            outer_node
        };
        let inner = |parent: Option<Context>, baggage: Vec<Baggage>, id, across| Inner {
            id,
            name: Some(self.name.clone().into_boxed_str()),
            parent,
            links: Box::default(),
            made_at: self.made_at,
            deadline: match (deadline, outer_deadline) {
                (Some(own), Some(outer)) => Some(own.min(outer)),
                (own, outer) => own.or(outer),
            },
            node: node.clone(),
            sink: self.sink.clone(),
            baggage: baggage.into(),
            trace: self.trace,
            across,
        };
        let id = next_identity();
        let parent_stays = self.parent.as_ref().is_some_and(|parent| parent.inner.across.is_some());
        let stays = parent_stays || self.baggage.iter().any(|entry| entry.inheritance == Inheritance::Stays);
        let across = stays.then(|| {
            let crossing =
                self.baggage.iter().filter(|entry| entry.inheritance == Inheritance::Crosses).cloned().collect();
            Context { inner: Arc::new(inner(self.parent.as_ref().map(Context::across), crossing, id, None)) }
        });
        Context { inner: Arc::new(inner(self.parent.clone(), self.baggage.clone(), id, across)) }
    }
}

/// Returns the context of items that were taken together; `contexts` are at least two different contexts.
pub(super) fn merged(mut contexts: Vec<Context>, taken_at: &'static Location<'static>) -> Context {
    let links = contexts.split_off(1).into_boxed_slice();
    let parent = contexts.pop();
    Context {
        inner: Arc::new(Inner {
            id: next_identity(),
            name: None,
            links,
            made_at: taken_at,
            deadline: None,
            node: parent.as_ref().and_then(|parent| parent.inner.node.clone()),
            parent,
            sink: None,
            baggage: Box::default(),
            trace: None,
            across: None,
        }),
    }
}
