//! What a data set is: read, checked, written, synthesised.
//!
//! [`Points`] are the product of this room: rows of finite numbers with optional weights and ids, checked once and immutable. They come
//! from files ([`read`]); longitude and latitude become positions on the sphere ([`geography`]). What is
//! wrong with data is said in one form, all faults at once ([`error`]).
//!
//! This room computes nothing about the data that a method would: no distances, no clusters.
#![forbid(unsafe_code)]

pub mod datasets;
pub mod error;
pub mod geography;
pub mod points;
pub mod read;
pub mod write;

pub use error::{Error, Faults};
pub use points::Points;
