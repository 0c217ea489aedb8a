//! The tests of the distances room: one binary, a module a subject.
#![allow(missing_docs)]

mod distances {
    mod acceptance;
    mod brute_force;
    mod data;
    mod equal;
    mod gower;
    mod layout;
    mod parasail;
    mod properties;
}
