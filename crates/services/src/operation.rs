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

/// A message to services of a contract.
///
/// Between services of one process, the message is moved: it is neither copied nor encoded, and the sender no longer
/// has it.
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
    /// The contract that the operation belongs to.
    type Contract: Contract;
    /// The effect of the operation on the state.
    type Verb: Kind;
    /// The type of the reply.
    type Reply: Clone + Send + Serialize + DeserializeOwned + JsonSchema + 'static;
    /// The name in the contract: lower case letters, digits and underscores. The names `lookup`, `get`, `subscribe`,
    /// `drop`, `events` and `create` are reserved: with them, the start fails.
    const NAME: &'static str;

    /// The media types of bodies that clients may send as plain bytes instead of a document, such as `text/csv`. A body
    /// with one of these types becomes the field `data` of the operation, and its media type the field `media_type`.
    /// The other fields come from the query string of the URL. Default: none.
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

    /// Returns the key of the entry that the operation is about, for subscribers that want changes of some entries
    /// only. Default: no key.
    fn key(&self) -> Option<Cow<'_, str>> {
        None
    }

    /// Returns the same operation under the name in the request. This method is for operations of [dynamic
    /// services](crate::Outline), whose names are not known at compile time.
    #[doc(hidden)]
    fn under(self, _name: &'static str) -> Self {
        self
    }
}

/// Replaces the state by another document, in one step.
///
/// A service accepts this operation only if it has called [`Handlers::replaceable`](crate::Handlers::replaceable), or
/// has a handler for `Replace`.
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

/// The options of a request, if it has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    /// The caller, as the network edge has verified it.
    pub(crate) caller: Option<Box<str>>,
    /// A key that makes it safe to repeat the request.
    pub(crate) key: Option<Box<str>>,
    /// The version that the state must have; otherwise the request is refused.
    pub(crate) if_version: Option<u64>,
}

/// An operation that was sent, with its reply and options.
pub(crate) struct Request<O: Operation> {
    pub(crate) operation: O,
    /// The reply; `None` if the sender wants no reply.
    pub(crate) reply: Option<Reply<Result<O::Reply, Fault>>>,
    pub(crate) envelope: Option<Box<Envelope>>,
}

impl<O: Operation> fmt::Debug for Request<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Request").field("operation", &O::NAME).finish_non_exhaustive()
    }
}

/// A value whose type only its owner knows.
pub(crate) type Anything = dyn Any + Send + Sync;
