//! What shuttle says of the protocols of this crate.
#![cfg(shuttle)]
