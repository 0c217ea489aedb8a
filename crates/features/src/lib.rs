//! Turns on the features of libraries that the command and the Python package both use. It has no code.
//!
//! Cargo compiles a library once for each set of features. One more feature in a small library, such as `num-traits`,
//! means that Cargo compiles every library that depends on it again: Arrow, the node, the methods. So `lehr` and
//! `lehr-python` both depend on this crate, and the second of the two builds compiles only its own code.
//! `tools/test_features.py` fails if a feature is missing here.

#![forbid(unsafe_code)]
