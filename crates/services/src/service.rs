//! The service that an author writes: a type with a state document, and a handler for each operation. The receiver of a
//! handler determines which other handlers may run at the same time.
//!
//! - [`Concurrent`]: `&self`. Reads the state as it was when the handler started; runs at the same time as other
//!   concurrent handlers.
//! - [`Exclusive`]: `&mut self`. Changes the state; no other handler that sees the state runs meanwhile, not even while
//!   this one waits.
//! - [`Independent`]: no receiver. Runs at any time, even while the service stops, and does not see the state.
//! - [`Service::stop`]: `self`. Runs once, alone, at the end.
//!
//! The compiler enforces the group of a handler by its receiver.

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

/// A kind of service: its state document and everything else that its handlers need.
///
/// A service is `Clone`, because a handler makes its changes to a copy while an older snapshot of the state is in use.
/// Keep large parts of the document behind an `Arc`, and resources (handles, references to partners) outside the
/// document, so that cloning is cheap.
///
/// # Example
/// For a complete service with two operations, see the page of the crate.
pub trait Service: Clone + Send + Sync + 'static {
    /// The state that clients see; its type also gives the contract.
    type Document: Contract;

    /// Returns the state document.
    fn document(&self) -> &Self::Document;

    /// Returns the state document for changes.
    fn document_mut(&mut self) -> &mut Self::Document;

    /// Registers the operations that have handlers, each in its group.
    fn handlers(on: &mut Handlers<Self>);

    /// Declares the other services that this one needs; see [`Partners`]. Default: none.
    fn partners(_needs: &mut Partners) {}

    /// Returns the JSON schema of the service's configuration in a [`Placement`](crate::Placement::configuration);
    /// `None` if it takes none. A manifest whose configuration does not match the schema is refused when it is planned.
    /// If the service cannot read its configuration, the start fails.
    fn configuration() -> Option<Value> {
        None
    }

    /// Returns whether [`start`](Self::start) rebuilds the document if it was kept on disk and is gone with its copy. If
    /// not, the service does not start without its document. Default: `false`.
    fn rebuilds() -> bool {
        false
    }

    /// Prepares the service before the first request is handled; requests that arrive meanwhile wait. Default: nothing
    /// to do.
    ///
    /// # Errors
    /// If this fails, the service is not started, nothing of it remains, and the caller that started it gets the fault.
    fn start(&mut self, _starting: &Starting) -> impl Future<Output = Result<(), Fault>> + Send {
        async { Ok(()) }
    }

    /// Ends the service. Running operations have ended by then, and waiting operations have been refused. Independent
    /// operations may still run. Lehr does not call this method for a service that the host cuts off. Default: the
    /// value is dropped.
    fn stop(self, _why: Stop) -> impl Future<Output = ()> + Send {
        async { drop(self) }
    }
}

/// Handles `O` by reading the state, at the same time as other handlers that read.
///
/// # Example
/// A handler that reads cannot change the state:
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
    /// The client gets the fault as its answer.
    fn handle(&self, operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}

/// Handles `O` with exclusive access to the state.
///
/// A handler that returns a fault must leave the state unchanged: check first, then change. A handler may leave the
/// state half changed if it panics, or if its request runs out of time during a wait. Subscribers then get the whole
/// state again. A service with [`Restart::OnPanic`](crate::Restart) restarts after a panic.
///
/// # Example
/// See the page of the crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no exclusive handler for `{O}`",
    note = "write `impl Exclusive<{O}> for {Self}`"
)]
pub trait Exclusive<O: Operation<Contract = Self::Document>>: Service {
    /// Returns the operation in the form that the handler and the subscribers get. A service can fill in fields here
    /// that a client left out. Default: unchanged.
    ///
    /// # Errors
    /// The client gets the fault as its answer, and the operation is not handled.
    fn complete(&self, operation: O) -> Result<O, Fault> {
        Ok(operation)
    }

    /// Carries out the operation.
    ///
    /// # Errors
    /// The client gets the fault as its answer; the handler must leave the state unchanged.
    fn handle(&mut self, operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}

/// Handles `O` at any time, without reading the state.
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
    /// The client gets the fault as its answer.
    fn handle(operation: O, call: &Call) -> impl Future<Output = Result<O::Reply, Fault>> + Send;
}
