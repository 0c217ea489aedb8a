//! What loom says of the protocols of this crate.
#![cfg(loom)]
