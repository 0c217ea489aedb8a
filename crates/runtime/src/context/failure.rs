//! The path of errors: each error goes once to the innermost sink. If the sink fails, the error goes to the next outer
//! sink, and from the outermost sink to the process's hook.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use lehr_sync::Arc;
use lehr_sync::process::Setting;

use super::cancel::Stop;
use super::{Context, TraceParent, current};
use crate::error::{TaskError, panic_message};

/// The maximum number of steps in the trail of a failure, counted from the innermost step.
const TRAIL_MAX: usize = 32;

/// A failure in a context, with its trail. Cheap to clone.
///
/// The format `{}` shows the error; `{:#}` also shows the trail, innermost step first.
///
/// # Example
/// ```
/// use lehr_runtime::{Cause, ContextError};
/// let failure = ContextError::new("no paper");
/// assert_eq!(failure.to_string(), "no paper");
/// assert!(matches!(failure.cause(), Cause::Error(_)));
/// ```
#[derive(Clone)]
pub struct ContextError {
    inner: Arc<ContextErrorInner>,
}

#[derive(Clone)]
struct ContextErrorInner {
    cause: Cause,
    context: Option<u64>,
    trail: Vec<Step>,
    traces: Vec<TraceParent>,
}

/// The cause of a failure.
///
/// # Example
/// See [`ContextError`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// Code panicked.
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// Code returned or reported an error.
    Error(Arc<dyn Error + Send + Sync>),
    /// The context's deadline passed before the work was done.
    DeadlineExceeded,
    /// The context was cancelled before the work was done.
    Cancelled,
}

/// One step of a failure's trail, which leads from the error outwards.
///
/// # Example
/// ```
/// use lehr_runtime::{Context, block_on};
/// let call = Context::named("parse").build().call(async { "x".parse::<u8>() });
/// let failure = block_on(call).unwrap_err();
/// assert_eq!(failure.trail()[0].context.as_deref(), Some("parse"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the context of this step.
    pub context: Option<String>,
    /// The source position: for an error, the position that reported it; for a context, the position that made it.
    pub location: &'static Location<'static>,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.context {
            Some(context) => write!(formatter, "{context:?} at {}", self.location),
            None => write!(formatter, "at {}", self.location),
        }
    }
}

impl ContextError {
    /// Creates a failure from an error, with the calling source position as the first step of its trail.
    ///
    /// # Example
    /// See [`ContextError`].
    #[track_caller]
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::from_error(error.into(), Location::caller(), None)
    }

    /// Returns the cause of the failure.
    ///
    /// # Example
    /// See [`ContextError`].
    pub fn cause(&self) -> &Cause {
        &self.inner.cause
    }

    /// Returns the cause as text.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_runtime::ContextError::new("no ink").message(), "no ink");
    /// ```
    pub fn message(&self) -> String {
        self.to_string()
    }

    /// Returns the identity of the context in which the failure happened.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_runtime::ContextError::new("nowhere").context(), None);
    /// ```
    pub fn context(&self) -> Option<u64> {
        self.inner.context
    }

    /// Returns the trail from the error outwards: the source position that reported it, then the calls and contexts
    /// around it, innermost first.
    ///
    /// # Example
    /// See [`Step`].
    pub fn trail(&self) -> &[Step] {
        &self.inner.trail
    }

    /// Returns the distributed traces that the failure belongs to; there are several if it happened while handling
    /// items of several requests.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_runtime::ContextError::new("nowhere").traces().is_empty());
    /// ```
    pub fn traces(&self) -> &[TraceParent] {
        &self.inner.traces
    }

    fn from_error(
        error: Box<dyn Error + Send + Sync>,
        at: &'static Location<'static>,
        context: Option<&Context>,
    ) -> Self {
        match error.downcast::<Self>() {
            Ok(failure) => *failure,
            Err(error) => Self::of(Cause::Error(error.into()), Some(at), context),
        }
    }

    fn of(cause: Cause, at: Option<&'static Location<'static>>, context: Option<&Context>) -> Self {
        let mut trail = Vec::new();
        if let Some(location) = at {
            trail.push(Step { context: context.and_then(|context| context.name().map(str::to_owned)), location });
        }
        for context in context.iter().flat_map(|context| context.lineage()).take(TRAIL_MAX) {
            trail.push(Step { context: context.name().map(str::to_owned), location: context.inner.made_at });
        }
        let traces = context.map(Context::traces).unwrap_or_default();
        Self { inner: Arc::new(ContextErrorInner { cause, context: context.map(Context::id), trail, traces }) }
    }

    /// Converts an error that leaves a call. A failure from deeper inside gets one more step in its trail; any other
    /// error becomes a failure.
    pub(super) fn leaving(
        error: Box<dyn Error + Send + Sync>,
        at: &'static Location<'static>,
        context: &Context,
    ) -> Self {
        match error.downcast::<Self>() {
            Ok(failure) => {
                let mut inner = Arc::unwrap_or_clone(failure.inner);
                if inner.trail.len() < TRAIL_MAX {
                    inner.trail.push(Step { context: context.name().map(str::to_owned), location: at });
                }
                inner.context = inner.context.or(Some(context.id()));
                Self { inner: Arc::new(inner) }
            }
            Err(error) => Self::of(Cause::Error(error.into()), Some(at), Some(context)),
        }
    }

    pub(super) fn stopped(how: Stop, at: &'static Location<'static>, context: &Context) -> Self {
        let cause = match how {
            Stop::Cancelled => Cause::Cancelled,
            Stop::DeadlineExceeded => Cause::DeadlineExceeded,
        };
        Self::of(cause, Some(at), Some(context))
    }

    /// Passes the failure once to each of the innermost sinks of `context`; without sinks, to the process's hook.
    pub(crate) fn deliver(self, context: Option<&Context>) {
        let mut sinks = Vec::new();
        if let Some(context) = context {
            innermost_sinks(context, &mut sinks);
        }
        if sinks.is_empty() {
            return report(&self);
        }
        for (sink, outer) in sinks {
            let failure = self.clone();
            let result = {
                let _entered = current::enter(outer.clone());
                // Unwind safety: only the sink's own code sees what its panic left behind, and that panic is reported
                // to the next outer sink.
                catch_unwind(AssertUnwindSafe(|| (sink.0)(failure)))
            };
            match result {
                Ok(Ok(())) => {}
                // The sink's port refused the failure, so the next outer sink gets the same failure.
                Ok(Err(refused)) => refused.deliver(outer.as_ref()),
                Err(payload) => panicked(payload.as_ref(), outer).deliver(),
            }
        }
    }
}

impl fmt::Debug for ContextError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ContextError({self:#})")
    }
}

impl fmt::Display for ContextError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.cause {
            Cause::Panicked { message } => formatter.write_str(message)?,
            Cause::Error(error) => write!(formatter, "{error}")?,
            Cause::DeadlineExceeded => formatter.write_str("the deadline passed")?,
            Cause::Cancelled => formatter.write_str("it was cancelled")?,
        }
        if formatter.alternate() {
            for step in &self.inner.trail {
                write!(formatter, "\n  in {step}")?;
            }
        }
        Ok(())
    }
}

impl Error for ContextError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.inner.cause {
            Cause::Error(error) => error.source(),
            _ => None,
        }
    }
}

impl Context {
    /// Reports an error that no caller receives: once to the innermost sink, or, without a sink, to the process's hook.
    ///
    /// # Example
    /// See [`ContextBuilder::on_error`](super::ContextBuilder::on_error).
    #[track_caller]
    pub fn fail(&self, error: impl Into<Box<dyn Error + Send + Sync>>) {
        ContextError::from_error(error.into(), Location::caller(), Some(self)).deliver(Some(self));
    }
}

type Handler = dyn Fn(ContextError) -> Result<(), ContextError> + Send + Sync;

/// The receiver of a context's errors. The sink gives back errors that it could not pass on.
#[derive(Clone)]
pub(super) struct Sink(Arc<Handler>);

impl Sink {
    pub(super) fn new(handler: impl Fn(ContextError) -> Result<(), ContextError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(handler))
    }
}

/// Collects the nearest sink on each line of ancestors, each sink once, with the context outside the sink's context.
fn innermost_sinks(context: &Context, sinks: &mut Vec<(Sink, Option<Context>)>) {
    for context in context.lineage() {
        if let Some(sink) = &context.inner.sink {
            if !sinks.iter().any(|(known, _)| Arc::ptr_eq(&known.0, &sink.0)) {
                sinks.push((sink.clone(), context.parent().cloned()));
            }
            return;
        }
        if !context.links().is_empty() {
            context.parent().into_iter().chain(context.links()).for_each(|link| innermost_sinks(link, sinks));
            return;
        }
    }
}

type Hook = dyn Fn(&ContextError) + Send + Sync;

static HOOK: Setting<Hook> = Setting::new();

/// Sets the hook for errors without a sink, such as panics of detached tasks. Replaces the earlier hook.
///
/// Without a hook, Lehr writes these errors to standard error. Each error takes one line, and one more line per step of
/// its trail. The hook runs on the thread where the error ended and must not panic. If the hook panics, the panic is
/// the last thing written about the error.
///
/// # Example
/// ```
/// use lehr_runtime::{Context, Port, set_error_hook};
/// let seen = Port::new();
/// let out = seen.clone();
/// set_error_hook(move |failure| out.post(failure.message()).unwrap());
/// Context::named("a").build().fail("nobody listens");
/// assert_eq!(seen.try_receive(), Some("nobody listens".to_owned()));
/// ```
pub fn set_error_hook(hook: impl Fn(&ContextError) + Send + Sync + 'static) {
    drop(HOOK.replace(Some(Arc::new(hook))));
}

fn report(failure: &ContextError) {
    let hooked = HOOK.read().map(|hook| catch_unwind(AssertUnwindSafe(|| hook(failure))));
    if !matches!(hooked, Some(Ok(()))) {
        // If even this write fails, there is no other way to report it.
        let _ = writeln!(std::io::stderr(), "error without an address: {failure:#}");
    }
}

/// The reason why a task has no output, until the task's owner asks for it. If the reason is dropped unread, a panic
/// goes to the sinks. The reason is dropped unread if the task is detached, or if its handle is dropped unread.
pub(crate) struct Unclaimed(Why);

enum Why {
    Panicked(Box<(ContextError, Option<Context>)>),
    /// The task was cancelled. Only the owner learns of this reason, and of the next reason.
    Cancelled,
    Discarded,
}

/// Returns the failure for a panic that was caught around code running in `own`, or in a context inside it.
pub(crate) fn panicked(payload: &(dyn Any + Send), own: Option<Context>) -> Unclaimed {
    let context = current::failed_in(own.as_ref());
    let failure = ContextError::of(Cause::Panicked { message: panic_message(payload) }, None, context.as_ref());
    Unclaimed(Why::Panicked(Box::new((failure, context))))
}

/// Passes the panic of a closure without an owner to the sinks of the context that the panic went through.
pub(crate) fn closure_panicked(message: String) {
    let context = current::failed_in(None);
    ContextError::of(Cause::Panicked { message }, None, context.as_ref()).deliver(context.as_ref());
}

impl Unclaimed {
    pub(crate) fn cancelled() -> Self {
        Self(Why::Cancelled)
    }

    pub(crate) fn discarded() -> Self {
        Self(Why::Discarded)
    }

    /// Converts the reason to the `TaskError` that the owner receives.
    pub(crate) fn claim(mut self) -> TaskError {
        match std::mem::replace(&mut self.0, Why::Cancelled) {
            Why::Panicked(panicked) => TaskError::Panicked { message: panicked.0.message() },
            Why::Cancelled => TaskError::Cancelled,
            Why::Discarded => TaskError::Discarded,
        }
    }

    /// Returns whether some context has a sink for the failure.
    pub(crate) fn has_sink(&self) -> bool {
        let mut sinks = Vec::new();
        if let Why::Panicked(panicked) = &self.0
            && let Some(context) = &panicked.1
        {
            innermost_sinks(context, &mut sinks);
        }
        !sinks.is_empty()
    }

    /// Passes the failure to the sinks, by dropping this value.
    pub(crate) fn deliver(self) {
        drop(self);
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Why::Panicked(panicked) = std::mem::replace(&mut self.0, Why::Cancelled) {
            let (failure, context) = *panicked;
            failure.deliver(context.as_ref());
        }
    }
}
