//! Messages become handlers, on one machine.
//!
//! Four things and how they meet. A [`Port`] is a typed queue that anybody may post to. What waits at ports is a future:
//! [`Port::receive`] for one item, [`Port::take`] for several, [`join`] for items of several ports at once. A [`Task`] is a
//! future on a [`Dispatcher`], whose worker threads poll it when what it waits for has come. And [`ParallelLoop`] puts the
//! same workers behind one loop.
//!
//! Everything that waits holds nothing while it waits: dropping a pending receive, take or join loses no item and changes no
//! order.
//!
//! ```
//! use lehr_runtime::{Dispatcher, Port, block_on, join};
//!
//! let dispatcher = Dispatcher::new(2).unwrap();
//! let (orders, stock, parcels) = (Port::named("orders"), Port::named("stock"), Port::named("parcels"));
//!
//! // A handler as sequential code: it suspends at the join without holding a thread.
//! let (desk, shelf, door) = (orders.clone(), stock.clone(), parcels.clone());
//! let packer = dispatcher.spawn(async move {
//!     while let Ok((name, item)) = join((&desk, &shelf)).await {
//!         door.post(format!("{item} for {name}")).unwrap();
//!     }
//! });
//!
//! orders.post("Ada").unwrap(); // waits in its port until there is stock
//! stock.post("a loom").unwrap();
//! assert_eq!(block_on(parcels.receive()).unwrap(), "a loom for Ada");
//!
//! orders.close();
//! block_on(packer).unwrap();
//! ```
//!
//! What is deliberately not here: sockets and timers of the system, ranks (crate `lehr-ranks`), anything of HTTP. The way of
//! a message: [`port`](Port) → `port/waiters.rs` → `arbiter/` → `task.rs` → `dispatch/worker.rs`, never back.
#![deny(unsafe_code)]

mod arbiter;
mod context;
mod dispatch;
mod error;
mod interleave;
#[allow(unsafe_code, reason = "the one file with unsafe code; its page says why")]
mod parallel;
mod port;
pub mod port_set;
mod queue;
mod reply;
mod sync;
mod task;
mod timer;

pub use arbiter::Branch;
#[doc(hidden)]
pub use arbiter::choice::branch as __branch;
pub use arbiter::choice::{CancelSafe, Cancellable, Choice, Choices, Mapped, OneOf, TieBreaker, cancel_safe, choose};
pub use arbiter::exchange::{ByKey, BySource, Exchange, Rule, Sources, exchange, exchange_by};
pub use arbiter::gather::{Gather, Gathered, Results, gather};
pub use arbiter::join::{Branches, Join, join, join_all};
pub use arbiter::receive::Receive;
pub use arbiter::take::Take;
pub use context::{
    Call, Cause, Context, ContextBuilder, ContextError, Inheritance, Scope, Step, TraceParent, TraceParentError,
    WithContext, set_error_hook,
};
pub use dispatch::{
    Builder, Counters, Dispatcher, Handle, Idle, Named, QueueReport, Report, Shutdown, StartError, Stuck, blocking,
    is_on_worker, named,
};
pub use error::{PostError, Reason, ReceiveError, Refusal, TaskError};
pub use interleave::{
    Activity, Both, CombineError, Exclusive, Failure, Handlers, Interleave, InterleaveHandle, IntoSource, Item, Items,
    Order, Settings, Several, Shed, Snapshot, Source, Waits,
};
pub use parallel::{Loan, OnPanic, ParallelLoop};
pub use port::Port;
pub use port::builder::PortBuilder;
pub use port::gauges::{Drained, Gauges};
pub use port::once::Once;
pub use port::options::{Discard, DiscardedItem, Overflow};
pub use port::permit::{Permit, PostWait, Reserve};
pub use port::persistent::Receiver;
pub use port_set::PortSet;
pub use queue::{
    Admission, DepthOverflow, DiscardReason, Discarded, Priority, Queue, QueueBuilder, QueueCounters, QueueError,
    Rejected, Rejection, SpawnWait,
};
pub use reply::{Answer, Reply};
pub use task::{Task, YieldNow, all, block_on, yield_now};
pub use timer::{Clock, Elapsed, Every, MissedTick, Posting, Sleep, Tick, Timeout, every, post_after, sleep, timeout};

/// The parts that the model checkers look at one by one.
#[cfg(any(loom, shuttle))]
#[doc(hidden)]
pub mod model {
    pub use crate::dispatch::sleep::Sleep;
    pub use crate::parallel::Gate;
    #[cfg(loom)]
    pub use crate::sync::lock::Lock;
}

/// The guide's chapter on ports: its code is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/ports.md")]
struct Guide;
