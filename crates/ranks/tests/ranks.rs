//! Behaviour of ranks, their collectives and the four engines. Conformance runs oversubscribed on purpose: there are
//! more ranks than workers, and more workers than cores.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests count and post from threads of their own"
)]

#[path = "ranks/conformance.rs"]
mod conformance;
#[path = "ranks/engines.rs"]
mod engines;
#[path = "ranks/fabrics.rs"]
mod fabrics;
#[path = "ranks/faults.rs"]
mod faults;
#[path = "ranks/guide.rs"]
mod guide;
#[path = "ranks/map_reduce.rs"]
mod map_reduce;
#[path = "ranks/traces.rs"]
mod traces;
