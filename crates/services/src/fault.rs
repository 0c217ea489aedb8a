//! Faults: the reasons why a request failed, with one text for the client and another for the log.
//!
//! A fault is an answer. The code of a fault tells the client what to do, and the reason is written for the sender of
//! the request. Text that only the operator may read (a panic's message, a path, an internal cause) belongs in the log
//! text, which never leaves the process.

use std::fmt;
use std::time::Duration;

use lehr_runtime::{Cause as ContextCause, Context, ContextError, PostError, Reason, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a fault: one for each way in which a client can react.
///
/// # Example
/// ```
/// use lehr_services::Code;
/// assert!(Code::QueuingLimitExceeded.may_pass() && !Code::UnknownEntry.may_pass());
/// assert_eq!(Code::UnknownEntry.as_str(), "unknown_entry");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The contract has no such operation, or the service does not offer it.
    ActionNotSupported,
    /// The body does not have the form that the operation expects.
    MessageNotSupported,
    /// The service has a different contract from the client.
    ContractMismatch,
    /// The element to add exists already.
    DuplicateEntry,
    /// No entry has this name.
    UnknownEntry,
    /// The body could be read, but its values are invalid.
    InvalidValue,
    /// The state has a different version from the one that the client expects.
    PreconditionFailed,
    /// The body is larger than the service accepts.
    TooLarge,
    /// Memory, disk or another resource is exhausted.
    InsufficientResources,
    /// The request was cancelled before it was done.
    OperationCancelled,
    /// The service failed: its handler panicked, or gave no answer.
    OperationFailed,
    /// The node doesn't know the client.
    Unauthenticated,
    /// The client is not allowed to do this.
    PermissionDenied,
    /// Too many requests are waiting already.
    QueuingLimitExceeded,
    /// No answer came within the time limit of the request.
    ResponseTimeout,
    /// The answer would have to wait for the request itself: a deadlock.
    WouldDeadlock,
    /// No service has this path.
    UnknownService,
    /// The service at this path is not the one that the reference was made for.
    StaleReference,
    /// The service is stopping, and the request had not begun.
    ServiceStopping,
    /// The service cannot be reached at present: it is restarting, or its node does not answer.
    Unavailable,
    /// The service could not be started.
    StartFailed,
}

impl Code {
    /// Returns the name of the code in documents, in snake case.
    ///
    /// # Example
    /// See [`Code`].
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ActionNotSupported => "action_not_supported",
            Self::MessageNotSupported => "message_not_supported",
            Self::ContractMismatch => "contract_mismatch",
            Self::DuplicateEntry => "duplicate_entry",
            Self::UnknownEntry => "unknown_entry",
            Self::InvalidValue => "invalid_value",
            Self::PreconditionFailed => "precondition_failed",
            Self::TooLarge => "too_large",
            Self::InsufficientResources => "insufficient_resources",
            Self::OperationCancelled => "operation_cancelled",
            Self::OperationFailed => "operation_failed",
            Self::Unauthenticated => "unauthenticated",
            Self::PermissionDenied => "permission_denied",
            Self::QueuingLimitExceeded => "queuing_limit_exceeded",
            Self::ResponseTimeout => "response_timeout",
            Self::WouldDeadlock => "would_deadlock",
            Self::UnknownService => "unknown_service",
            Self::StaleReference => "stale_reference",
            Self::ServiceStopping => "service_stopping",
            Self::Unavailable => "unavailable",
            Self::StartFailed => "start_failed",
        }
    }

    /// Returns whether the same request may succeed later without any change by the client.
    ///
    /// # Example
    /// See [`Code`].
    pub fn may_pass(self) -> bool {
        matches!(
            self,
            Self::QueuingLimitExceeded | Self::Unavailable | Self::ServiceStopping | Self::InsufficientResources
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The fault of an inner service that caused a fault.
///
/// # Example
/// See [`Fault::caused_by`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InnerFault {
    /// The kind of the inner fault.
    pub code: Code,
    /// The text of the inner fault for the client.
    pub reason: String,
}

/// The reason why a request was not carried out, or why this is unknown.
///
/// A fault is one pointer wide, to keep replies small: a reply passes through every layer of futures and rarely
/// contains a fault.
///
/// # Example
/// ```
/// use lehr_services::{Code, Fault};
/// let fault = Fault::new(Code::UnknownEntry, "no account \"ada\"").log("table accounts, shard 7");
/// assert_eq!(fault.code(), Code::UnknownEntry);
/// assert_eq!(fault.to_string(), "unknown_entry: no account \"ada\"");
/// assert!(!serde_json::to_string(&fault).unwrap().contains("shard 7")); // the log's text stays here
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Fault(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fault")]
struct Parts {
    code: Code,
    reason: String,
    #[serde(skip)]
    log: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<InnerFault>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    causality: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl Fault {
    /// Creates a fault with its text for the client.
    ///
    /// # Example
    /// See [`Fault`].
    #[cold]
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        let parts =
            Parts { code, reason: reason.into(), log: None, causes: Vec::new(), causality: None, retry_after_ms: None };
        Self(Box::new(parts))
    }

    /// Adds the text for the log.
    ///
    /// # Example
    /// See [`Fault`].
    pub fn log(mut self, text: impl Into<String>) -> Self {
        self.0.log = Some(text.into());
        self
    }

    /// Adds the fault of another service as the cause, together with the causes of that fault.
    ///
    /// # Example
    /// ```
    /// use lehr_services::{Code, Fault};
    /// let disk = Fault::new(Code::InsufficientResources, "the disk is full");
    /// let store = Fault::new(Code::OperationFailed, "the map could not be stored").caused_by(&disk);
    /// let job = Fault::new(Code::OperationFailed, "job 7 failed").caused_by(&store);
    /// let reasons: Vec<&str> = job.causes().iter().map(|cause| cause.reason.as_str()).collect();
    /// assert_eq!(reasons, ["the map could not be stored", "the disk is full"]);
    /// ```
    pub fn caused_by(mut self, inner: &Fault) -> Self {
        self.0.causes.push(InnerFault { code: inner.code(), reason: inner.reason().to_owned() });
        self.0.causes.extend(inner.causes().iter().cloned());
        self.0.causality = self.0.causality.or_else(|| inner.0.causality.clone());
        self
    }

    /// Sets the time after which the client should try again.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_services::{Code, Fault};
    /// let fault = Fault::new(Code::Unavailable, "restarting").retry_after(Duration::from_secs(2));
    /// assert_eq!(fault.retry_hint(), Some(Duration::from_secs(2)));
    /// ```
    pub fn retry_after(mut self, time: Duration) -> Self {
        self.0.retry_after_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Records the chain of requests in which the fault happened, unless it is recorded already. The chain's name is
    /// the trace of the current context, or else the context's number.
    pub(crate) fn here(mut self) -> Self {
        if self.0.causality.is_none() {
            self.0.causality = causality();
        }
        self
    }

    /// Returns the kind of the fault.
    ///
    /// # Example
    /// See [`Fault`].
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the text for the client.
    ///
    /// # Example
    /// ```
    /// use lehr_services::{Code, Fault};
    /// assert_eq!(Fault::new(Code::UnknownEntry, "no such job").reason(), "no such job");
    /// ```
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Returns the text for the log, if there is a separate one.
    ///
    /// # Example
    /// ```
    /// use lehr_services::{Code, Fault};
    /// assert_eq!(Fault::new(Code::OperationFailed, "failed").log("index 7 of 3").log_text(), Some("index 7 of 3"));
    /// ```
    pub fn log_text(&self) -> Option<&str> {
        self.0.log.as_deref()
    }

    /// Returns the faults that caused this one, nearest first.
    ///
    /// # Example
    /// See [`caused_by`](Self::caused_by).
    pub fn causes(&self) -> &[InnerFault] {
        &self.0.causes
    }

    /// Returns the chain of requests in which the fault happened: a W3C trace identifier, or a number of this process.
    /// The log contains the same identifier or number.
    ///
    /// # Example
    /// ```
    /// use lehr_services::{Code, Fault};
    /// assert_eq!(Fault::new(Code::OperationFailed, "by hand").causality(), None);
    /// ```
    pub fn causality(&self) -> Option<&str> {
        self.0.causality.as_deref()
    }

    /// Returns the time after which the client should try again, if the service knows it.
    ///
    /// # Example
    /// See [`retry_after`](Self::retry_after).
    pub fn retry_hint(&self) -> Option<Duration> {
        self.0.retry_after_ms.map(Duration::from_millis)
    }
}

/// Returns a name for the chain of requests that the current context belongs to; `None` outside a context.
pub(crate) fn causality() -> Option<String> {
    let context = Context::current()?;
    Some(
        context
            .traces()
            .first()
            .map_or_else(|| format!("context {}", context.id()), |trace| format!("{:032x}", trace.trace)),
    )
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code(), self.reason())?;
        self.causes().iter().try_for_each(|cause| write!(formatter, "; because {}: {}", cause.code, cause.reason))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for Fault {}

impl Serialize for Fault {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Parts::deserialize(deserializer).map(|parts| Self(Box::new(parts)))
    }
}

impl JsonSchema for Fault {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Parts::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Parts::json_schema(generator)
    }
}

impl From<Refusal> for Fault {
    #[cold]
    fn from(refusal: Refusal) -> Self {
        let text = refusal.to_string();
        let fault = match refusal {
            Refusal::NoReply => Self::new(Code::OperationFailed, "the operation ended without an answer"),
            Refusal::Overloaded => Self::new(Code::QueuingLimitExceeded, text),
            Refusal::Stopping => Self::new(Code::ServiceStopping, text),
            Refusal::DeadlineExceeded => Self::new(Code::ResponseTimeout, text),
            Refusal::WouldDeadlock { .. } => Self::new(Code::WouldDeadlock, text),
            _ => Self::new(Code::OperationFailed, text),
        };
        fault.here()
    }
}

/// Returns the fault of a request that was refused because the operation's port is full. The caller handles a closed
/// port.
pub(crate) fn overflow<T>(refused: &PostError<T>, path: &str, operation: &str) -> Option<Fault> {
    (refused.reason == Reason::Full).then(|| {
        let reason = format!("too many requests wait for {operation:?} of {path}");
        Fault::new(Code::QueuingLimitExceeded, reason).retry_after(Duration::from_secs(1)).here()
    })
}

/// Returns the fault of a call whose context ended before the answer came.
pub(crate) fn of_context(error: &ContextError) -> Fault {
    match error.cause() {
        ContextCause::DeadlineExceeded => Fault::new(Code::ResponseTimeout, "no answer within the time of the request"),
        _ => Fault::new(Code::OperationCancelled, "the request was cancelled"),
    }
    .here()
}
