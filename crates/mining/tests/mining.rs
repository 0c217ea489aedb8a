//! The mining room's tests: one binary, a module a subject.
#![allow(missing_docs)]

mod mining {
    mod acceptance;
    mod bits;
    mod edges;
    mod pairwise;
    mod physics;
    mod quality;
    mod smacof;
    mod stop;
}
