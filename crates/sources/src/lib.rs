//! Data from elsewhere, as services of a node: [`Fetch`] brings files over HTTP, [`PubChem`] asks the chemical database
//! of that name.
//!
//! Only hosts that the operator has allowed are contacted. [`Allowed`] lists them, and addresses of private networks
//! are refused unless a host is listed with them. A file is whole or not there: a file has its final name only when its
//! length and checksum are right.
//!
//! | wanted | found |
//! | --- | --- |
//! | which hosts may be asked | [`Allowed`] |
//! | a file from an address | [`Fetch`], [`Get`] |
//! | properties and fingerprints of compounds | [`PubChem`] |
//!
//! Deliberately not here: the meaning of a file. Bytes are handed on by the file's name; reading tables is the room of
//! `data`. For the reasons, see `docs/design/sources.md`. Reading order: `allowed.rs` → `transfer.rs` → `fetch.rs`,
//! `pubchem.rs`.
#![forbid(unsafe_code)]

mod allowed;
mod fetch;
mod fingerprint;
mod pubchem;
mod transfer;

pub use allowed::Allowed;
pub use fetch::{Cancel, FETCH, Fetch, Fetched, Get, Progress, Remove, Stage, Transfer};
pub use fingerprint::{FINGERPRINT_BITS, fingerprint_bits};
pub use pubchem::{By, Csv, Find, Fingerprint, Fingerprints, PUBCHEM, PubChem, PubChemState, Similar};
pub use transfer::{Bounds, Getter};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
