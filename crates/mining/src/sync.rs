//! The door to locks: the standard library's.
#![allow(clippy::disallowed_types, reason = "this is the door that the lint points to")]

pub(crate) use std::sync::Mutex;
