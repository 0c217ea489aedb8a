//! The integration tests of this crate: one binary, with one module for each subject.
#![allow(missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests compare with the system's functions")]

mod mining {
    mod acceptance;
    mod bernoulli;
    mod bits;
    mod certainty;
    mod edges;
    mod fingerprints;
    mod gtm;
    mod gtm_brute_force;
    mod gtm_runs;
    mod hdbscan;
    mod hierarchy;
    mod interrupt;
    mod killed;
    mod kmeans;
    mod kmedoids;
    mod loops;
    mod minibatch;
    mod mixture;
    mod mixture_gaps;
    mod mixture_runs;
    mod number;
    mod pairwise;
    mod physics;
    mod quality;
    mod smacof;
    mod sparse;
    mod spill;
    mod sponge;
    mod stop;
    mod summary;
    mod swap;
    mod weights;
}
