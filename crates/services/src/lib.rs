//! Services: one state document, a fixed set of verbs, handlers for the state, partners and subscribers.
//!
//! A service is your own type. A service has a *document*, the state that others may see, and *operations*, each with
//! one of eleven [verbs](Verb). Each operation has a handler. The handler's receiver determines which other handlers
//! may run at the same time: `&self` reads, `&mut self` changes, `self` ends the service. A [`Host`] runs the service
//! at a path, and a [`Reference`] sends it requests, in the same way in this process and over a network.
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
//! | you need | use |
//! | --- | --- |
//! | many requests at once, or without an answer | [`Reference::ask`], [`Reference::post`] |
//! | notifications of changes | [`Reference::subscribe`], [`Subscription`] |
//! | notifications that survive interruptions | [`Reference::follow`], [`Following`] |
//! | time limits, keys that make it safe to repeat a request, versions | [`Reference::within`], [`Reference::key`], [`Reference::if_version`] |
//! | other services that a service needs | [`Partners`], [`Starting`] |
//! | restarts after a crash, limits of queues | [`Placement`] |
//! | the list of services | [`Directory`], itself a service |
//! | handlers that run, wait or are stuck | [`Host::inspect`] |
//! | requests as bytes, for a network edge | [`Endpoint`], [`Link`] |
//! | services whose contract is not a Rust type | [`Outline`], [`Program`], [`Host::start_dynamic`] |
//!
//! This crate does not use HTTP; the crate `lehr-node` adds it. For the reasons, see `docs/design/services.md`. A
//! request goes through these files: `reference.rs` → `main_port.rs` → `handlers.rs` → the author's handler →
//! `publisher.rs`.
#![forbid(unsafe_code)]

// The derive macro for operations generates code that calls this crate `lehr_services`, inside the crate too.
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
pub use inspection::{Inspected, OperationPort, Running, ServiceView, SubscriberView};
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
pub use start::{Beginning, Reporter, Starting};
pub use store::{kept_state, marked_state};
pub use subscription::{End, Event, Slow, Subscribe, Subscription};
pub use verb::{UnknownVerb, Verb};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
