//! Futures that run in a context, which is entered for each poll and left between polls.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::task::{Context as Polling, Poll};

use lehr_sync::Arc;
use pin_project_lite::pin_project;

use super::cancel::{Key, Node};
use super::{Context, ContextError, current, panicked};
use crate::error::panic_message;

impl Context {
    /// Runs a future in this context.
    ///
    /// Cancelling the context does not stop the future; to stop it, use [`call`](Self::call). Cancel-safe if the future
    /// is.
    ///
    /// # Panics
    /// Panics if the future does.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, block_on};
    /// let context = Context::named("request").build();
    /// let name = block_on(context.scope(async { Context::current().unwrap().name().unwrap().to_owned() }));
    /// assert_eq!(name, "request");
    /// ```
    pub fn scope<F: Future>(&self, future: F) -> Scope<F> {
        Scope { context: self.clone(), future }
    }

    /// Runs a future in this context until the future or the context ends.
    ///
    /// When the context is cancelled or its deadline passes, the future is dropped at its next poll, which follows at
    /// once.
    ///
    /// # Errors
    /// Returns the future's own error as a [`ContextError`] with the position of this call in its trail. A failure from
    /// a deeper call gets one more step. If the context ended, returns [`Cause::DeadlineExceeded`](super::Cause) or
    /// [`Cause::Cancelled`](super::Cause), once.
    ///
    /// # Panics
    /// Panics if the future does.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Cause, Clock, Context, Port, block_on};
    /// let clock = Clock::virtual_time();
    /// let context = Context::named("patient").timeout(&clock, Duration::from_secs(3)).build();
    /// clock.advance(Duration::from_secs(3));
    /// let silent = Port::<u8>::new();
    /// let failure = block_on(context.call(silent.receive())).unwrap_err();
    /// assert!(matches!(failure.cause(), Cause::DeadlineExceeded));
    /// ```
    #[track_caller]
    pub fn call<F, T, E>(&self, future: F) -> Call<F>
    where
        F: Future<Output = Result<T, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Call { listening: None, context: self.clone(), made_at: Location::caller(), future: Some(future) }
    }
}

pin_project! {
    /// The future of [`Context::scope`].
    ///
    /// # Example
    /// See [`Context::scope`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Scope<F> {
        #[pin]
        future: F,
        context: Context,
    }
}

impl<F> fmt::Debug for Scope<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Scope").field("context", &self.context).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let _entered = current::enter(Some(this.context.clone()));
        this.future.poll(polling)
    }
}

/// Listens to a node of the tree of cancellation until this value is dropped.
pub(crate) struct Listening {
    node: Arc<Node>,
    key: Key,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.node.forget(self.key);
    }
}

/// Returns whether the context continues. If the context continues, its end will wake the polling task.
pub(crate) fn goes_on(context: &Context, listening: &mut Option<Listening>, polling: &Polling<'_>) -> bool {
    let Some(node) = context.node() else { return true };
    if node.stopped().is_some() {
        return false;
    }
    let key = listening.get_or_insert_with(|| Listening { node: node.clone(), key: Key::unique() }).key;
    node.listen(key, polling.waker())
}

pin_project! {
    /// The future of [`Context::call`].
    ///
    /// # Example
    /// See [`Context::call`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Call<F> {
        #[pin]
        future: Option<F>,
        listening: Option<Listening>,
        context: Context,
        made_at: &'static Location<'static>,
    }
}

impl<F> fmt::Debug for Call<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Call").field("context", &self.context).finish_non_exhaustive()
    }
}

impl<F, T, E> Future for Call<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    type Output = Result<T, ContextError>;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let goes_on = goes_on(this.context, this.listening, polling);
        let _entered = current::enter(Some(this.context.clone()));
        if !goes_on {
            this.future.set(None);
            this.listening.take();
            let how = this.context.stopped().expect("the context does not go on");
            return Poll::Ready(Err(ContextError::stopped(how, this.made_at, this.context)));
        }
        let future = this.future.as_mut().as_pin_mut().expect("a call is not polled again after it ended");
        let Poll::Ready(result) = future.poll(polling) else { return Poll::Pending };
        this.future.set(None);
        this.listening.take();
        Poll::Ready(result.map_err(|error| ContextError::leaving(error.into(), this.made_at, this.context)))
    }
}

pin_project! {
    /// One turn of a persistent handler, in the context of its item.
    ///
    /// The turn ends when the item's context ends; the rest of the turn is dropped. A panic goes to the sinks of the
    /// item's context, and the receiver continues with the next item. Without sinks, the panic is the output of the
    /// turn.
    #[must_use = "futures do nothing unless awaited"]
    struct Turn<F> {
        #[pin]
        future: F,
        listening: Option<Listening>,
        context: Option<Context>,
    }
}

/// Calls a closure in a context, or in no context.
pub(crate) fn in_context<R>(context: Option<Context>, call: impl FnOnce() -> R) -> R {
    let _entered = current::in_use().then(|| current::enter(context));
    call()
}

/// Runs the turn whose future `begin` makes; `begin` runs in the context too.
///
/// # Errors
/// Returns the text of a panic for which no context has a sink.
pub(crate) async fn turn<F: Future<Output = ()>>(
    context: Option<Context>,
    begin: impl FnOnce() -> F,
) -> Result<(), String> {
    Turn { future: async { begin().await }, listening: None, context }.await
}

impl<F: Future<Output = ()>> Future for Turn<F> {
    type Output = Result<(), String>;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let context = this.context.as_ref();
        if context.is_some_and(|context| !goes_on(context, this.listening, polling)) {
            return Poll::Ready(Ok(()));
        }
        // Unwind safety: after a panic the future is not polled again, only dropped.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let _entered = context.map(|context| current::enter(Some(context.clone())));
            this.future.poll(polling)
        }));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(payload) => {
                let unclaimed = panicked(payload.as_ref(), context.cloned());
                if !unclaimed.has_sink() {
                    unclaimed.claim();
                    return Poll::Ready(Err(panic_message(payload.as_ref())));
                }
                unclaimed.deliver();
                Poll::Ready(Ok(()))
            }
        }
    }
}

pin_project! {
    /// A receive, take or join that also returns the context of its items; see
    /// [`Receive::with_context`](crate::Receive::with_context).
    ///
    /// # Example
    /// See [`Inheritance`](super::Inheritance).
    #[must_use = "futures do nothing unless awaited"]
    pub struct WithContext<F> {
        #[pin]
        future: F,
        taken_at: &'static Location<'static>,
    }
}

impl<F> WithContext<F> {
    #[track_caller]
    pub(crate) fn new(future: F) -> Self {
        Self { future, taken_at: Location::caller() }
    }
}

impl<F> fmt::Debug for WithContext<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WithContext").finish_non_exhaustive()
    }
}

impl<F, T, E> Future for WithContext<F>
where
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<(T, Option<Context>), E>;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (polled, contexts) = current::collect(|| this.future.poll(polling));
        polled.map(|result| result.map(|output| (output, Context::merge(contexts, this.taken_at))))
    }
}
