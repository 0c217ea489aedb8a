//! Services: one state document, a fixed set of verbs, handlers around the state, partners and subscribers.
//!
//! A service is a type of yours. It has a *document*, the state that others may see, and *operations*, each with one of
//! eleven [verbs](Verb). Each operation has a handler, and the handler's receiver says which others may run beside it:
//! `&self` looks, `&mut self` changes, `self` ends. A [`Host`] runs it at a path, a [`Reference`] talks to it, the same
//! way in this process and over a wire.
//!
//! # A service
//!
//! ```
//! use lehr_services::{Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Operation, Service, Version};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! // What clients know: a document and operations.
//! #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
//! struct Counter {
//!     value: i64,
//! }
//!
//! impl Contract for Counter {
//!     const NAME: &'static str = "example.org/counter";
//!     const VERSION: Version = Version::new(1, 0);
//! }
//!
//! #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
//! #[operation(contract = Counter, verb = Update, name = "add", reply = i64)]
//! struct Add {
//!     amount: i64,
//! }
//!
//! #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
//! #[operation(contract = Counter, verb = Query, name = "is_above", reply = bool)]
//! struct IsAbove {
//!     limit: i64,
//! }
//!
//! // What runs.
//! impl Service for Counter {
//!     type Document = Self;
//!     fn document(&self) -> &Self { self }
//!     fn document_mut(&mut self) -> &mut Self { self }
//!     fn handlers(on: &mut Handlers<Self>) {
//!         on.exclusive::<Add>().concurrent::<IsAbove>();
//!     }
//! }
//!
//! impl Exclusive<Add> for Counter {
//!     async fn handle(&mut self, add: Add, _: &Call) -> Result<i64, Fault> {
//!         let sum = self.value.checked_add(add.amount);
//!         self.value = sum.ok_or_else(|| Fault::new(Code::InvalidValue, "the sum is too large"))?;
//!         Ok(self.value)
//!     }
//! }
//!
//! impl Concurrent<IsAbove> for Counter {
//!     async fn handle(&self, question: IsAbove, _: &Call) -> Result<bool, Fault> {
//!         Ok(self.value > question.limit)
//!     }
//! }
//!
//! # use lehr_services::Host;
//! let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
//! let host = Host::new(dispatcher.handle());
//! lehr_runtime::block_on(async {
//!     let counter = host.start("/counter", Counter::default).await?;
//!     assert_eq!(counter.call(Add { amount: 5 }).await?, 5);
//!     assert!(counter.call(IsAbove { limit: 4 }).await?);
//!     assert_eq!(counter.get().await?.value, 5);
//!     assert_eq!(counter.call(Add { amount: i64::MAX }).await.unwrap_err().code(), Code::InvalidValue);
//!     Ok::<(), Fault>(())
//! })
//! .unwrap();
//! ```
//!
//! # Where to look
//!
//! | wanted | found |
//! | --- | --- |
//! | many requests at once, or without an answer | [`Reference::ask`], [`Reference::post`] |
//! | hearing of changes | [`Reference::subscribe`], [`Subscription`] |
//! | hearing of them over breaks | [`Reference::follow`], [`Following`] |
//! | limits of time, keys for sending again, versions | [`Reference::within`], [`Reference::key`], [`Reference::if_version`] |
//! | other services that one needs | [`Partners`], [`Starting`] |
//! | restarting after a crash, bounds of queues | [`Placement`] |
//! | which services there are | [`Directory`], itself a service |
//! | handlers that run, wait or are stuck | [`Host::inspect`] |
//! | requests as bytes, for an edge | [`Endpoint`], [`Link`] |
//! | services whose contract no type has | [`Outline`], [`Program`], [`Host::start_dynamic`] |
//!
//! Deliberately not here: anything of HTTP (crate `lehr-node`). For the reasons, see `docs/design/services.md`. The way
//! of a request through the files: `reference.rs` → `main_port.rs` → `handlers.rs` → the author's handler →
//! `publisher.rs`.
#![forbid(unsafe_code)]

// The derive of operations names this crate as its users do.
extern crate self as lehr_services;

mod call;
mod contract;
mod directory;
mod dynamic;
mod endpoint;
mod fault;
mod following;
mod format;
mod handlers;
mod host;
mod info;
mod inspection;
mod lifecycle;
mod link;
mod main_port;
mod measures;
mod operation;
mod partner;
mod placement;
mod publisher;
mod reference;
mod running;
mod service;
mod shared;
mod start;
mod store;
mod subscription;
pub mod verb;
mod written;

pub use call::Call;
pub use contract::{Contract, Description, OperationDescription, Version, schema_difference};
pub use directory::{Announce, ByContract, DIRECTORY, Directory, Record, Withdraw};
pub use dynamic::{AnyDocument, Group, Handled, Outline, OutlinedOperation, Program};
pub use endpoint::Endpoint;
pub use fault::{Code, Fault, InnerFault};
pub use following::Following;
pub use format::{Format, in_words, raw_document};
pub use handlers::Handlers;
pub use host::{Host, HostReport, Kind};
pub use info::{Info, Waiting};
pub use inspection::{Inspected, Running, ServiceView, SubscriberView};
pub use lifecycle::{Phase, Restart, Stop};
pub use link::{Action, Answered, Events, Link, LinkEvent, Message, Options, Pending};
pub use measures::{Measure, MeasureLabel, Measures};
pub use operation::{Operation, Replace};
pub use partner::{Need, Partners};
pub use placement::{Placement, is_address};
pub use publisher::Change;
pub use reference::{Asked, Reference, State};
pub use service::{Concurrent, Exclusive, Independent, Service};
pub use shared::Counts;
pub use start::{Beginning, Starting};
pub use store::kept_state;
pub use subscription::{End, Event, Slow, Subscribe, Subscription};
pub use verb::{UnknownVerb, Verb};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
