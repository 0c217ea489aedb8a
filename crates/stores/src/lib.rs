//! Reads tables where they are: objects in S3-compatible stores (`s3://bucket/key`) and files on web servers
//! (`https://…`), by ranges of bytes.
//!
//! [`install`] lets every reader of `lehr-data` take such a URL for a path. A text is read in pieces while the next ones
//! arrive. Of a Parquet file, only the footer and the chosen columns travel. Nothing is stored on the disk.
//!
//! | wanted | found |
//! | --- | --- |
//! | readers that take URLs | [`install`], [`Versions`] |
//! | one object | [`open`] |
//! | a URL with which others can read an object for an hour | [`signed`] |
//!
//! Settings for S3 come from the environment, under the names that other programs use: `AWS_ACCESS_KEY_ID`,
//! `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`. Without a key, Lehr asks without a
//! signature, as public buckets allow, and then with the role of the machine.
//!
//! For the reasons, see `docs/design/stores.md`. Reading order: `open.rs` → `pieces.rs` → `http.rs`.
#![forbid(unsafe_code)]

mod environment;
mod fault;
mod http;
mod open;
mod pieces;

pub use open::{Versions, install, open, signed};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
