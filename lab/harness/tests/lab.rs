//! Runs the lab as a newcomer does: the built program in a separate folder, with its exit code, its output and its
//! records.
//!
//! `UPDATE_EXPECT=1 cargo test -p lehr-lab` rewrites the golden files in `tests/golden`; their diff is reviewed like
//! code.

mod lab {
    mod chemistry;
    mod growth;
    mod help;
    mod overhead;
    mod ports;
    mod product;
    mod ranks;
    mod sandbox;
    mod scale;
    mod services;
    mod session;
}
