//! The description that a service gives of itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::Description;
use crate::fault::Fault;
use crate::format::Format;
use crate::lifecycle::Phase;
use crate::link::{Action, Link, Message, Options};
use crate::main_port::Local;
use crate::shared::Counts;
use crate::verb::Verb;

/// The description of a service, as [`Verb::Lookup`] returns it.
///
/// # Example
/// See [`Reference::lookup`](crate::Reference::lookup).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Info {
    /// The path of the service on its node.
    pub path: String,
    /// The incarnation of the service.
    pub incarnation: u64,
    /// The phase in this incarnation, for example starting or ready.
    pub phase: Phase,
    /// The contract, with all operations.
    pub contract: Description,
    /// Whether only the node may end the service, and no client.
    #[serde(default)]
    pub is_permanent: bool,
    /// The number of subscribers.
    pub subscribers: usize,
    /// The counts of requests.
    pub counts: Counts,
    /// The numbers of waiting requests, by operation.
    pub waiting: Vec<Waiting>,
    /// Problems at the start, such as a state that had to be restored from its copy. A service with such problems
    /// works, but needs attention.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
}

/// The number of requests that wait for one operation.
///
/// # Example
/// See [`Info`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// The name of the operation.
    pub operation: String,
    /// The verb of the operation.
    pub verb: Verb,
    /// The number of waiting requests.
    pub requests: usize,
}

impl Info {
    /// Requests the description of a service over a link.
    pub(crate) async fn over(link: &dyn Link, options: Options) -> Result<Self, Fault> {
        let (action, format) = (Action::Lookup, Format::MessagePack);
        let message = Message { action, verb: Verb::Lookup, body: Vec::new(), format, accept: format, options };
        format.decode(&link.send(message).await?.body)
    }

    pub(crate) fn of(at: &Local) -> Self {
        let shared = at.shared();
        let waiting =
            at.ports().map(|(name, verb, gauges)| Waiting { operation: name.to_owned(), verb, requests: gauges.len });
        Self {
            path: shared.path.clone(),
            incarnation: shared.incarnation,
            phase: shared.phase(),
            contract: (*shared.description).clone(),
            is_permanent: at.is_permanent(),
            subscribers: shared.publisher.count(),
            counts: shared.counts(),
            waiting: waiting.collect(),
            reports: shared.reports(),
        }
    }
}
