//! A node of services: the HTTP network edge in front of a [`Host`](lehr_services::Host), and the client that reaches
//! it.
//!
//! Between nodes there is only standard HTTP: JSON for people, MessagePack between programs, server-sent events for
//! changes, problem documents for faults. The table of `route.rs` lists the requests; [`status`] maps faults to HTTP
//! statuses.
//!
//! ```
//! use lehr_node::{Client, Node, Settings};
//! use lehr_services::{DIRECTORY, Directory, Fault, Host, Reference};
//!
//! let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
//! let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
//! let node = Node::start(Host::new(dispatcher.handle()), settings).unwrap();
//!
//! // In this program or another, here or elsewhere:
//! let client = Client::new(None).unwrap();
//! let link = client.link(&format!("http://{}{DIRECTORY}", node.address())).unwrap();
//! lehr_runtime::block_on(async {
//!     node.host().ready().await;
//!     let directory = Reference::<Directory>::over(link);
//!     assert!(directory.get().await?.services.contains_key(DIRECTORY));
//!     Ok::<(), Fault>(())
//! })
//! .unwrap();
//! ```
//!
//! This crate uses Tokio, and the crates below it do not; the host's dispatcher runs handlers. Read next:
//! `docs/design/node.md`, `edge.rs` → `connection.rs` → `exchange.rs`.
#![forbid(unsafe_code)]

mod access;
mod body;
mod certificate;
mod client;
mod coding;
mod conditions;
mod connection;
mod connections;
mod constructor;
mod edge;
mod encode;
mod error_recording;
mod events;
mod exchange;
mod form;
mod frames;
mod headers;
mod incoming;
mod inspector;
mod log;
pub mod manifest;
mod metrics;
mod node;
mod nodes;
mod openapi;
mod origin;
mod page;
mod policy;
mod proxy;
mod query;
mod range;
mod records;
mod refusal;
mod renewed;
mod response;
mod route;
mod schemas;
mod send;
mod settings;
mod shapes;
mod stream;
mod tables;
mod telemetry;
mod tls;
mod tokio_thread;
mod trust;
mod unsent;
mod viewer;
mod write_timeout;

pub use client::{Client, HttpLink, Listed};
pub use constructor::{CONSTRUCTOR, Constructor, Create};
pub use encode::status;
pub use inspector::{
    INSPECTOR, Inspector, Look, Seen, SeenDispatcher, SeenHandler, SeenPort, SeenQueue, SeenService, SeenSubscriber,
    SeenWorker,
};
pub use log::{Filter, LOG, Level, Line, Lines, Log, LogState, Logging, Tail};
pub use node::Node;
pub use nodes::{FindService, Heard, Join, Joined, Joining, Leave, NODES, Nodes, Reach, Refresh};
pub use origin::Origins;
pub use policy::Policy;
pub use proxy::Network;
pub use records::{Delete, Find, Insert, Records, Update, Upsert};
pub use settings::{Limits, Rate, Settings};
pub use telemetry::Telemetry;
pub use tls::Tls;
pub use tokio_thread::TokioThread;
pub use trust::Trust;
pub use viewer::{Viewer, ViewerFile};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
