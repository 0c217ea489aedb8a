//! Turns on the features of libraries that the command and the Python package both use. This crate has no code.
//!
//! Cargo compiles a library once for each set of features. If one more feature of a small library such as `num-traits`
//! is on, Cargo also compiles its dependants again: Arrow, the node, the methods. So `lehr` and `lehr-python` both
//! depend on this crate, and the second of the two builds compiles only its own code. `tools/test_features.py` fails if
//! a feature is missing here.

#![forbid(unsafe_code)]
