//! Message passing within one process: typed queues, and the tasks and handlers that take from them.
//!
//! A [`Port`] is a typed queue that any thread may post to. Waits at ports are futures. [`Port::receive`] waits for one
//! item, [`Port::take`] for several, [`join()`] for items of several ports at once, and [`choice!`] for the wait that
//! ends first. A [`Task`] is a future on a [`Dispatcher`], whose worker threads poll it when its item has arrived. An
//! [`Interleave`] runs handlers for one state and decides which may run at the same time. A [`Context`] follows all
//! posts and spawns.
//!
//! **Waiting holds nothing**: dropping a pending receive, take, join or choice loses no item and changes no order.
//!
//! # A port and a task
//!
//! Posting never waits and runs no handler. A handler is sequential code: it suspends without holding a thread.
//!
//! ```
//! use lehr_runtime::{Dispatcher, Port, block_on};
//!
//! let dispatcher = Dispatcher::new(2).unwrap();
//! let (orders, parcels) = (Port::named("orders"), Port::named("parcels"));
//! let (desk, door) = (orders.clone(), parcels.clone()); // clones are the same port
//! let packer = dispatcher.spawn(async move {
//!     while let Ok(name) = desk.receive().await {
//!         door.post(format!("a loom for {name}")).unwrap();
//!     }
//! });
//! orders.post("Ada").unwrap();
//! assert_eq!(block_on(parcels.receive()).unwrap(), "a loom for Ada");
//! orders.close(); // the packer takes what is left, and ends
//! block_on(packer).unwrap();
//! ```
//!
//! A port closes when [`close`](Port::close) is called, never by itself, because the same handles post and receive.
//! Dropping a [`Task`] cancels it: await the task, or [`detach`](Task::detach) it. [`Port::on`] is the short form of
//! the loop above. [`Port::bounded`] gives a port a capacity, and [`post_wait`](Port::post_wait) waits until a place is
//! free.
//!
//! # Several ports at once
//!
//! A join takes from all its ports together or from none. A choice takes the first item that comes, and leaves all
//! other items in their ports.
//!
//! ```
//! use lehr_runtime::{Port, block_on, choice, join};
//!
//! let (orders, stock, bell) = (Port::new(), Port::new(), Port::<()>::new());
//! orders.post("Ada").unwrap();
//! let what = block_on(async {
//!     stock.post("a loom").unwrap();
//!     choice! {
//!         _ = bell.receive() => "closing time".to_owned(),
//!         both = join((&orders, &stock)) => {
//!             let (name, item) = both.unwrap();
//!             format!("{item} for {name}")
//!         },
//!     }
//! });
//! assert_eq!(what, "a loom for Ada");
//! assert_eq!(bell.waiting(), 0); // a branch that lost has left its port
//! ```
//!
//! Related waits are [`gather`] (successes and failures up to a total), [`exchange()`] (one item of each source) and
//! [`Join::on`] (a handler for a join).
//!
//! # Questions
//!
//! A request carries its [`Reply`]. Dropping the reply also ends the wait. But a request that stays in a port which
//! nobody reads keeps its sender waiting.
//!
//! ```
//! use lehr_runtime::{Port, Refusal, Reply, block_on};
//!
//! let questions = Port::<(u32, Reply<u32>)>::named("square");
//! let (of_four, of_five) = (questions.ask(|reply| (4, reply)).unwrap(), questions.ask(|reply| (5, reply)).unwrap());
//! let (number, reply) = block_on(questions.receive()).unwrap();
//! reply.answer(number * number).unwrap();
//! drop(questions.drain()); // the second question, reply and all
//! assert_eq!((block_on(of_four), block_on(of_five)), (Ok(16), Err(Refusal::NoReply)));
//! ```
//!
//! # State
//!
//! Readers run together and a writer runs alone, in order of arrival across all ports. The type of a handler's first
//! argument determines whether it reads or writes. A handler that may not start yet has not been called: its message is
//! still in its port.
//!
//! ```
//! use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Reply, Snapshot, block_on};
//!
//! let dispatcher = Dispatcher::new(2).unwrap();
//! let (add, read, stop) = (Port::new(), Port::<Reply<u64>>::new(), Port::<Reply<u64>>::new());
//! let handlers = Handlers::new()
//!     .exclusive(&add, |mut total: Exclusive<u64>, n: u64| async move { *total += n })
//!     .concurrent(&read, |total: Snapshot<u64>, reply| async move { drop(reply.answer(*total)) })
//!     .teardown(&stop, |total: u64, reply| async move { drop(reply.answer(total)) });
//! let sum = Interleave::start(dispatcher.handle(), 0, handlers);
//!
//! add.post(1).unwrap();
//! add.post(2).unwrap();
//! assert_eq!(block_on(read.ask(|reply| reply).unwrap()), Ok(3)); // sees what was posted before it
//! assert_eq!(block_on(stop.ask(|reply| reply).unwrap()), Ok(3));
//! block_on(sum.ended()).unwrap();
//! assert!(add.post(4).is_err()); // the ports are closed
//! ```
//!
//! # Queues, and the end
//!
//! A named [`Queue`] limits how many tasks may wait to begin, and decides whose work goes first. The dispatcher's
//! shutdown reports the outcomes of each queue's tasks.
//!
//! ```
//! use std::time::Duration;
//! use lehr_runtime::{Admission, DepthOverflow, Dispatcher, Priority, Shutdown};
//!
//! let dispatcher = Dispatcher::new(2).unwrap();
//! let requests = dispatcher
//!     .queue("requests")
//!     .admission(Admission::Depth { max: 1, overflow: DepthOverflow::Reject })
//!     .priority(Priority::Share { weight: 3 })
//!     .suspended()
//!     .build()
//!     .unwrap();
//! requests.spawn(async {}).unwrap().detach();
//! assert!(requests.spawn(async {}).is_err()); // full: the future is given back
//! requests.resume();
//! let report = dispatcher.shutdown(Shutdown::Drain { limit: Duration::from_secs(600) });
//! assert_eq!((report.aborted, report.leaked, report.queues[0].name.as_str()), (0, 0, "requests"));
//! ```
//!
//! # Time and errors
//!
//! A [`Context`] follows posts and spawns: it has a sender, a deadline and a sink for errors. If a task panics, the
//! task that awaits it gets the panic. If no task awaits it, the sink of the innermost context gets the panic. Time
//! comes from a [`Clock`], which a test can move by hand.
//!
//! ```
//! use std::time::Duration;
//! use lehr_runtime::{Cause, Clock, Context, Dispatcher, Elapsed, Port, TaskError, block_on};
//!
//! let dispatcher = Dispatcher::new(2).unwrap();
//! let (errors, clock) = (Port::new(), Clock::virtual_time());
//! let request = Context::named("request 7").errors_to(&errors).timeout(&clock, Duration::from_secs(9)).build();
//! request.run(|| dispatcher.spawn(async { panic!("nobody awaits this") }).detach());
//! assert!(matches!(block_on(errors.receive()).unwrap().cause(), Cause::Panicked { .. }));
//!
//! let silent = Port::<u8>::new();
//! let asked = silent.clone();
//! let late = request.run(|| dispatcher.spawn(async move { asked.receive().await }));
//! let timeout = clock.timeout(Duration::from_secs(3), silent.receive());
//! clock.advance(Duration::from_secs(9));
//! assert_eq!(block_on(timeout), Err(Elapsed));
//! assert_eq!(block_on(late), Err(TaskError::Cancelled)); // its context's time has passed
//! ```
//!
//! # Where to look
//!
//! | you need | use |
//! | --- | --- |
//! | capacity, permits, what happens to items beyond the capacity | [`Port::builder`], [`Overflow`], [`Port::reserve`] |
//! | several kinds of messages as one enum | [`port_set`] |
//! | at most n handlers at once | [`Port::on`]; with a state, [`Settings::max_concurrent`] |
//! | code that blocks a thread | [`blocking`] |
//! | waits for a time, repeated waits, time limits | [`sleep`], [`every`], [`timeout`], [`post_after`] |
//! | two closures, or a set of them, in parallel, that borrow | [`fork_join::join`], [`fork_join::scope`], [`Handle::install`] |
//! | a loop over an array, futures that borrow | [`ParallelLoop`], [`Handle::parallel_for`], [`Dispatcher::run_all`] |
//! | stuck workers, full ports | [`Builder::watchdog`], [`Port::gauges`], [`Handle::counters`] |
//!
//! This crate deliberately has no sockets, files, ranks (see the crate `lehr-ranks`), HTTP or global pool. The guide,
//! `docs/guide/ports.md`, explains the crate step by step; `docs/design/runtime.md` gives the reasons for its design. A
//! message passes through these files in this order: [`port`](Port) → `port/waiters.rs` → `arbiter/` → `task.rs` →
//! `dispatch/worker.rs`.
#![deny(unsafe_code)]

mod arbiter;
mod calls;
mod context;
mod dispatch;
mod error;
pub mod fork_join;
mod inspect;
mod interleave;
#[allow(unsafe_code, reason = "it lends the caller's stack to other threads; its page says why that is right")]
mod parallel;
mod port;
pub mod port_set;
mod queue;
mod reply;
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
    in_place, is_on_worker, named,
};
pub use error::{PostError, Reason, ReceiveError, ReceiveErrorKind, Refusal, TaskError};
pub use inspect::{DispatcherView, Inspection, Inspector, PortView, TaskView, WaitView};
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
    RateOverflow, Rejected, Rejection, SpawnWait,
};
pub use reply::{Answer, Reply};
pub use task::{Task, YieldNow, all, block_on, consume_budget, wake_elsewhere, yield_now};
pub use timer::{Clock, Elapsed, Every, MissedTick, Posting, Sleep, Tick, Timeout, every, post_after, sleep, timeout};

/// The parts that the model checkers examine one by one.
#[cfg(any(loom, shuttle))]
#[doc(hidden)]
pub mod model {
    pub use crate::dispatch::sleep::Sleep;
    pub use crate::fork_join::latch::{End, Latch};
    pub use crate::parallel::Gate;
}

/// The guide's chapter on ports, included so that its code is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/ports.md")]
struct Guide;

/// The crate's README, included so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
