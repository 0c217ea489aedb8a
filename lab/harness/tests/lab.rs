//! The lab as a stranger meets it: the built program in a folder of its own, its exit code, its words, its records.
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
