//! The tests of `lehr-distances`: one program, with a module for each subject.
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
