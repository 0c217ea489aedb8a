//! Services of a node that contact other hosts: [`Fetch`] fetches files over HTTP, [`PubChem`] queries the chemical
//! database PubChem, and [`Webhook`] posts messages.
//! The services contact only hosts that the operator has allowed. [`Allowed`] lists these hosts; addresses of private
//! networks are refused unless [`Allowed::private`] admits such addresses. A file gets its final name only when its
//! length and its checksum, if the request gives one, are right.
//!
//! | wanted | found |
//! | --- | --- |
//! | the hosts that may be contacted | [`Allowed`]
//! | a file from an address | [`Fetch`], [`Get`] |
//! | compounds, as a data set with structures and fingerprints | [`PubChem`], [`Load`] |
//! | a message to a web address | [`Webhook`], [`PostJson`] |
//!
//! This crate does not interpret files: it passes on their names, and the crate `data` reads tables. For the reasons,
//! see `docs/design/sources.md`. Reading order: `allowed.rs` → `transfer.rs` → `fetch.rs`, `webhook.rs`,
//! `pubchem.rs` → `compounds.rs`.
#![forbid(unsafe_code)]

mod allowed;
mod compounds;
mod fetch;
mod fingerprint;
mod pubchem;
mod transfer;
mod webhook;

pub use allowed::Allowed;
pub use fetch::{
    Cancel, FETCH, Fetch, FetchSettings, Fetched, Get, Progress, Remove, Share, Started, State, Transfer, Wait, Waited,
};
pub use pubchem::{By, Find, Load, Loaded, PUBCHEM, PUBLIC, PubChem, PubChemState, Similar};
pub use transfer::{Bounds, Getter};
pub use webhook::{PostJson, WEBHOOK, Webhook, WebhookSettings, WebhookState};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
