//! What a data set is: read, checked, written, synthesised.
//!
//! [`Points`] are the product of this room: rows of finite numbers with optional weights and ids, checked once and immutable. They come
//! from files ([`read`]), from the sets that come with the program ([`datasets`]) or from a generator with known truth ([`synthetic`]).
//! Longitude and latitude become positions on the sphere ([`geography`]); columns of different units can be brought to one [`scale`];
//! results are written whole or not at all ([`write`](mod@write)). What is wrong with data is said in one form, all faults at once ([`error`]).
//!
//! This room computes nothing about the data that a method would: no distances, no clusters.
#![forbid(unsafe_code)]

pub mod datasets;
pub mod error;
pub mod geography;
pub mod points;
pub mod read;
pub mod scale;
pub mod synthetic;
pub mod write;

pub use error::{Error, Faults};
pub use points::Points;
