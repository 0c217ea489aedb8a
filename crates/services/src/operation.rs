//! Operations: the messages of a contract, each with its verb and the type of its reply.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

pub use lehr_macros::Operation;
use lehr_runtime::Reply;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contract::Contract;
use crate::fault::Fault;
use crate::verb::{self, Kind};

/// A message that a service of some contract can be sent.
///
/// A value moves: between services of one process nothing is copied or encoded, and only the receiver sees its changes.
///
/// # Example
/// ```
/// # use lehr_services::{Contract, Operation, Version};
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Counter { value: i64 }
/// # impl Contract for Counter {
/// #     const NAME: &'static str = "example.org/counter";
/// #     const VERSION: Version = Version::new(1, 0);
/// # }
/// #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
/// #[operation(contract = Counter, verb = Update, name = "add", reply = i64)]
/// struct Add {
///     amount: i64,
/// }
/// ```
pub trait Operation: Clone + Send + Sync + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// The contract that it belongs to.
    type Contract: Contract;
    /// Its effect on the state.
    type Verb: Kind;
    /// The answer to its sender.
    type Reply: Clone + Send + Serialize + DeserializeOwned + JsonSchema + 'static;
    /// Its name in the contract: lower case, digits and underscores.
    const NAME: &'static str;

    /// The media types of bodies that are bytes and no document, such as `text/csv`. The body that a client sends with
    /// one of these is the field `data` of the operation, and its media type the field `media_type`. The other fields
    /// are in the query of the address. Default: none.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::{Contract, Operation, Version};
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// # struct Texts { texts: Vec<String> }
    /// # impl Contract for Texts {
    /// #     const NAME: &'static str = "example.org/texts";
    /// #     const VERSION: Version = Version::new(1, 0);
    /// # }
    /// // curl -H 'content-type: text/plain' --data-binary @poem.txt 'http://node:8420/texts:keep?name=poem'
    /// #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
    /// #[operation(contract = Texts, verb = Insert, name = "keep", raw("text/plain"))]
    /// struct Keep {
    ///     name: String,
    ///     data: Vec<u8>,
    /// }
    /// ```
    const RAW: &'static [&'static str] = &[];

    /// Returns the key of the entry that it is about, for subscribers that want changes of some entries only. Default:
    /// nothing in particular.
    fn key(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Sets the same operation, which came as bytes under this name: for operations of [dynamic
    /// services](crate::Outline), whose names no type has.
    #[doc(hidden)]
    fn under(self, _name: &'static str) -> Self {
        self
    }
}

/// Puts another document in the place of the state, at once.
///
/// A service takes it if its handlers say so: [`Handlers::replaceable`](crate::Handlers::replaceable), or a handler of its own.
///
/// # Example
/// See [`Handlers::replaceable`](crate::Handlers::replaceable).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Replace<D>(pub D);

impl<D: Contract> Operation for Replace<D> {
    type Contract = D;
    type Verb = verb::Replace;
    type Reply = ();
    const NAME: &'static str = "replace";
}

/// The options of a request, when it has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    /// The caller, as the edge has verified it.
    pub(crate) caller: Option<Box<str>>,
    /// A key that makes it safe to repeat the request.
    pub(crate) key: Option<Box<str>>,
    /// Do it only if the state is of this version.
    pub(crate) if_version: Option<u64>,
}

/// An operation on its way.
pub(crate) struct Request<O: Operation> {
    pub(crate) operation: O,
    /// None if it is not wanted.
    pub(crate) reply: Option<Reply<Result<O::Reply, Fault>>>,
    pub(crate) envelope: Option<Box<Envelope>>,
}

impl<O: Operation> fmt::Debug for Request<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Request").field("operation", &O::NAME).finish_non_exhaustive()
    }
}

/// A value of a type that only its owner knows.
pub(crate) type Anything = dyn Any + Send + Sync;
