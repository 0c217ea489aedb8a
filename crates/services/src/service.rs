//! The service that an author writes: a type with a state document, and a handler for each operation. The receiver of a handler says who may run beside it.
//!
//! - [`Concurrent`]: `&self`. Looks at the state as it was when the handler started; runs beside others of its kind.
//! - [`Exclusive`]: `&mut self`. Changes the state; runs alone, also while it waits.
//! - [`Independent`]: no receiver. Runs at any time, also while the service stops, and sees no state.
//! - [`Service::stop`]: `self`. Runs once, alone, at the end.
//!
//! The compiler keeps a handler to its group: there is nothing to borrow wrongly.

use std::future::Future;

use serde_json::Value;

use crate::call::Call;
use crate::contract::Contract;
use crate::fault::Fault;
use crate::handlers::Handlers;
use crate::lifecycle::Stop;
use crate::operation::Operation;
use crate::partner::Partners;
use crate::start::Starting;

/// A kind of service: its state document and whatever else its handlers need.
///
/// It is `Clone` because a handler that changes the state while an older snapshot is in use changes a copy. Keep large
/// parts behind an `Arc`, and resources (handles, references to partners) beside the document: cloning those is cheap.
///
/// # Example
/// The whole of a service with two operations is in the crate's page.
pub trait Service: Clone + Send + Sync + 'static {
    /// The state that clients see, and with it the contract.
    type Document: Contract;

    /// Returns the state document.
    fn document(&self) -> &Self::Document;

    /// Sets the state document, to be changed.
    fn document_mut(&mut self) -> &mut Self::Document;

    /// Says which operations it has handlers for, and in which group.
    fn handlers(on: &mut Handlers<Self>);

    /// Says which other services it needs; see [`Partners`]. Default: none.
    fn partners(_needs: &mut Partners) {}

    /// Returns the JSON schema of its settings in a [`Placement`](crate::Placement::configuration); nothing if it takes
    /// nothing. A configuration that does not fit is found where the placement is planned; one that the service still
    /// does not understand fails the start.
    fn configuration() -> Option<Value> {
        None
    }

    /// Prepares it, before the first request is handled; requests that come meanwhile wait. Default: nothing to do.
    ///
    /// # Errors
    /// The service is not started, nothing of it remains, and the caller that started it gets the fault.
    fn start(&mut self, _starting: &Starting) -> impl Future<Output = Result<(), Fault>> + Send {
        async { Ok(()) }
    }

    /// Ends it. Running operations have ended, and waiting ones have been refused. Default: the value is dropped.
    fn stop(self, _why: Stop) -> impl Future<Output = ()> + Send {
        async { drop(self) }
    }
}

/// Handles `O` looking at the state, beside other handlers that look.
///
/// # Example
/// A handler that looks cannot change:
// Catalogue: 92
/// ```compile_fail
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Counter { value: i64 }
/// # impl Contract for Counter { const NAME: &'static str = "c"; const VERSION: Version = Version::new(1, 0); }
/// # impl Service for Counter {
/// #     type Document = Self;
/// #     fn document(&self) -> &Self { self }
/// #     fn document_mut(&mut self) -> &mut Self { self }
/// #     fn handlers(on: &mut Handlers<Self>) { on.concurrent::<Peek>(); }
/// # }
/// # #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
/// # #[operation(contract = Counter, verb = Query, name = "peek", reply = i64)]
/// # struct Peek;
/// impl Concurrent<Peek> for Counter {
///     async fn handle(&self, _: Peek, _: &Call) -> Result<i64, Fault> {
///         self.value += 1; // `self` is a snapshot
///         Ok(self.value)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no concurrent handler for `{O}`",
    note = "write `impl Concurrent<{O}> for {Self}`"
)]
pub trait Concurrent<O: Operation<Contract = Self::Document>>: Service {
    /// Carries out the operation.
    ///
    /// # Errors
    /// The fault is the answer.
    fn handle(&self, operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}

/// Handles `O` with the state to itself.
///
/// A fault says that nothing happened: check first, then change. A handler may leave the state half changed if it
/// panics, or if its request runs out of time during a wait. Subscribers then get the whole state again. A service with
/// [`Restart::OnPanic`](crate::Restart) restarts after a panic.
///
/// # Example
/// The page of the crate has one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no exclusive handler for `{O}`",
    note = "write `impl Exclusive<{O}> for {Self}`"
)]
pub trait Exclusive<O: Operation<Contract = Self::Document>>: Service {
    /// Returns the operation as it is handled and as subscribers get it. A service can fill in fields here that a
    /// client has left out. Default: unchanged.
    ///
    /// # Errors
    /// The fault is the answer; nothing is handled.
    fn complete(&self, operation: O) -> Result<O, Fault> {
        Ok(operation)
    }

    /// Carries out the operation.
    ///
    /// # Errors
    /// The fault is the answer; the state is as before.
    fn handle(&mut self, operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}

/// Handles `O` at any time, without a look at the state.
///
/// # Example
/// ```
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Counter { value: i64 }
/// # impl Contract for Counter { const NAME: &'static str = "c"; const VERSION: Version = Version::new(1, 0); }
/// # #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
/// # #[operation(contract = Counter, verb = Submit, name = "ping", reply = String)]
/// # struct Ping;
/// # impl Service for Counter {
/// #     type Document = Self;
/// #     fn document(&self) -> &Self { self }
/// #     fn document_mut(&mut self) -> &mut Self { self }
/// #     fn handlers(on: &mut Handlers<Self>) { on.independent::<Ping>(); }
/// # }
/// impl Independent<Ping> for Counter {
///     async fn handle(_: Ping, call: &Call) -> Result<String, Fault> {
///         Ok(format!("{} is here", call.path()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no independent handler for `{O}`",
    note = "write `impl Independent<{O}> for {Self}`"
)]
pub trait Independent<O: Operation<Contract = Self::Document>>: Service {
    /// Carries out the operation.
    ///
    /// # Errors
    /// The fault is the answer.
    fn handle(operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}
