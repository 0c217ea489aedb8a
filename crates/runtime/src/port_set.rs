//! Sets of ports: several kinds of messages that belong together, as one enum.
//!
//! `#[derive(PortSet)]` has two modes. Most programs need the first mode; the second mode is for joins over several
//! kinds and for a separate capacity for each kind.
//!
//! **One queue** (the default): `enum Ops` gives `OpsPort`, a [`Port<Ops>`](crate::Port) that keeps the order of
//! arrival across all kinds. `OpsPort` dereferences to its port, so that one receiver can take all kinds. For each
//! variant `Add` it has `post_add`, `receive_add` (a [`Cancellable`](crate::Cancellable) future, so it can be a branch
//! of a choice) and `on_add`. The methods of a variant with one field take and give this field. The methods of other
//! variants take and give a tuple of the fields in order of declaration.
//!
//! ```
//! use lehr_runtime::{Dispatcher, PortSet, Reply, block_on};
//!
//! #[derive(PortSet)]
//! enum Account {
//!     Deposit(u64),
//!     Balance { reply: Reply<u64> },
//! }
//!
//! let account = AccountPort::named("account");
//! account.post_deposit(5).unwrap();
//! account.post_deposit(7).unwrap();
//! let balance = account.ask(|reply| Account::Balance { reply }).unwrap();
//!
//! // One receiver of all kinds sees them in the order in which they came.
//! let dispatcher = Dispatcher::new(1).unwrap();
//! let clerk = account.clone();
//! dispatcher.spawn(async move {
//!     let mut sum = 0;
//!     while let Ok(message) = clerk.receive().await {
//!         match message {
//!             Account::Deposit(amount) => sum += amount,
//!             Account::Balance { reply } => reply.answer(sum).unwrap(),
//!         }
//!     }
//! }).detach();
//! assert_eq!(block_on(balance), Ok(12));
//! ```
//!
//! **Split** (`#[port_set(split)]`): `enum Ops` gives `OpsPorts`, a struct with a port for each variant in a public
//! field. The order of posts is kept only within each variant. `post` takes the enum and posts its fields to the port
//! of the variant. To use a port with a capacity or a sink, set its field by struct update.
//!
//! ```
//! use lehr_runtime::{Overflow, Port, PortSet, block_on, join};
//!
//! #[derive(PortSet)]
//! #[port_set(split)]
//! enum Parts {
//!     Frame(&'static str),
//!     Wheel(u32),
//! }
//!
//! let parts = PartsPorts { wheel: Port::bounded(4, Overflow::Reject), ..PartsPorts::named("parts") };
//! for part in [Parts::Wheel(1), Parts::Frame("red"), Parts::Wheel(2)] {
//!     parts.post(part).unwrap_or_else(|_| panic!("there is a place"));
//! }
//! assert_eq!(block_on(join((&parts.frame, (&parts.wheel, 2)))), Ok(("red", vec![1, 2])));
//! ```
//!
//! If a type cannot be a set, the macro reports an error at its declaration:
//!
//! ```compile_fail
//! #[derive(lehr_runtime::PortSet)]
//! struct NotAnEnum { a: u8 }
//! ```
//!
//! ```compile_fail
//! #[derive(lehr_runtime::PortSet)]
//! enum Twice { AB(u8), Ab(u8) }
//! ```

pub use lehr_macros::PortSet;
