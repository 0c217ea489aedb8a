//! The fixed verbs: the effect of an operation on the state of a service, known without reading its code.
//!
//! Every service answers [`Verb::Lookup`], [`Verb::Get`], [`Verb::Subscribe`] and [`Verb::Drop`] without a handler that
//! its author has to write. Operations get the other verbs through a type
//! ([`Operation::Verb`](crate::Operation::Verb)). So the compiler refuses to register a handler that only reads for a
//! verb that changes the state.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of an operation on the state: one of eleven fixed verbs.
///
/// # Example
/// ```
/// use lehr_services::Verb;
/// assert!(Verb::Insert.changes_state() && !Verb::Query.changes_state());
/// assert!(Verb::Upsert.is_idempotent() && !Verb::Update.is_idempotent());
/// assert_eq!("query".parse(), Ok(Verb::Query));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Returns a description of the service: contract, path, operations, phase.
    Lookup,
    /// Returns the whole state.
    Get,
    /// Returns a part of the state, selected by the body.
    Query,
    /// Adds an element, which must not exist.
    Insert,
    /// Changes a part of the state, which must exist.
    Update,
    /// Changes an element or adds it.
    Upsert,
    /// Replaces the whole state in one step.
    Replace,
    /// Removes a part of the state, which must exist.
    Delete,
    /// Starts an action that has no direct effect on the state.
    Submit,
    /// Subscribes to changes.
    Subscribe,
    /// Ends the service.
    Drop,
}

impl Verb {
    /// All verbs.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_services::Verb::ALL.len(), 11);
    /// ```
    pub const ALL: [Verb; 11] = [
        Verb::Lookup,
        Verb::Get,
        Verb::Query,
        Verb::Insert,
        Verb::Update,
        Verb::Upsert,
        Verb::Replace,
        Verb::Delete,
        Verb::Submit,
        Verb::Subscribe,
        Verb::Drop,
    ];

    /// Returns whether the verb changes the state document; subscribers receive such operations.
    ///
    /// # Example
    /// See [`Verb`].
    pub fn changes_state(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Upsert | Self::Replace | Self::Delete)
    }

    /// Returns whether carrying out the operation twice has the same effect and reply as carrying it out once. Such an
    /// operation may be sent again when its outcome is unknown.
    ///
    /// # Example
    /// See [`Verb`].
    pub fn is_idempotent(self) -> bool {
        matches!(self, Self::Lookup | Self::Get | Self::Query | Self::Upsert | Self::Replace)
    }

    /// Returns the name of the verb, in lower case.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_services::Verb::Upsert.as_str(), "upsert");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lookup => "lookup",
            Self::Get => "get",
            Self::Query => "query",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Upsert => "upsert",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Submit => "submit",
            Self::Subscribe => "subscribe",
            Self::Drop => "drop",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The error for a word that is not a verb.
///
/// # Example
/// ```
/// let error = "fetch".parse::<lehr_services::Verb>().unwrap_err();
/// assert!(error.to_string().starts_with("no verb: \"fetch\"; expected lookup, get, query"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVerb {
    found: String,
}

impl fmt::Display for UnknownVerb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Verb::ALL.iter().map(|verb| verb.as_str()).collect();
        write!(formatter, "no verb: {:?}; expected {}", self.found, names.join(", "))
    }
}

impl std::error::Error for UnknownVerb {}

impl FromStr for Verb {
    type Err = UnknownVerb;

    fn from_str(text: &str) -> Result<Self, UnknownVerb> {
        let found = Self::ALL.into_iter().find(|verb| verb.as_str() == text);
        found.ok_or_else(|| UnknownVerb { found: text.to_owned() })
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A verb as a type, for [`Operation::Verb`](crate::Operation::Verb). Sealed.
pub trait Kind: sealed::Sealed + Send + Sync + 'static {
    /// The verb.
    const VERB: Verb;
}

/// A verb whose handlers may only read the state. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` changes the state, so its handler runs alone",
    note = "implement `Exclusive` and register it with `handlers.exclusive`"
)]
pub trait Looks: Kind {}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl sealed::Sealed for $name {}
        impl Kind for $name {
            const VERB: Verb = Verb::$name;
        }
    )*};
}

kinds! {
    /// See [`Verb::Query`].
    Query;
    /// See [`Verb::Insert`].
    Insert;
    /// See [`Verb::Update`].
    Update;
    /// See [`Verb::Upsert`].
    Upsert;
    /// See [`Verb::Replace`].
    Replace;
    /// See [`Verb::Delete`].
    Delete;
    /// See [`Verb::Submit`].
    Submit;
}

impl Looks for Query {}
impl Looks for Submit {}
