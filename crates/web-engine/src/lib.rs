//! Lehr's methods in a browser: a table of text in, the files of a run out.
//!
//! [`run`] does what `lehr METHOD FILE` does, on the calling thread and without a file system. It reads the table,
//! prepares its columns if you ask for that, and runs the method. The report comes first; [`Ran::files`] has the other
//! files that the command would write. A
//! browser calls it in a worker, through the functions of `exports.rs`. The page is in `web/`; the design is in
//! `docs/design/web-engine.md`.
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "bytes cross to the page and back by address")]
mod exports;
mod matrix;
mod request;
mod run;

pub use request::Request;
pub use run::{File, Ran, Told, columns, predict, run};
