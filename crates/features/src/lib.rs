//! No code: the features that the command and the Python package turn on in libraries that both use.
//!
//! Cargo compiles a library once for each set of features. One feature more in a small library, such as `num-traits`,
//! makes all that depend on it other libraries too: Arrow, the node, the methods. So `lehr` and `lehr-python` both
//! depend on this crate, and the second of the two builds compiles its own half alone. `tools/test_features.py` fails
//! where a feature is missing here.

#![forbid(unsafe_code)]
