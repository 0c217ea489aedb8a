//! The command as its users meet it: the built binary in a folder of its own, its exit code, its words, its files.
//!
//! `UPDATE_EXPECT=1 cargo test -p lehr` rewrites the golden files in `tests/golden`; their diff is reviewed like code.

#![allow(clippy::disallowed_methods, reason = "tests make rows with the system's functions")]

mod cli {
    mod application;
    mod bad_input;
    mod bits;
    mod demography;
    mod demonstrations;
    mod distances;
    mod evaluate;
    mod figure;
    mod full_disk;
    mod gtm;
    mod guide;
    mod hdbscan;
    mod help;
    mod hierarchy;
    mod jobs;
    mod keep;
    mod killed_runs;
    mod kmeans;
    mod kmedoids;
    mod lab;
    mod manual;
    mod many_nodes;
    mod matrix;
    mod minibatch;
    mod mixture;
    mod nodes;
    mod openapi;
    mod ordinary_tables;
    mod parquet;
    mod place;
    mod predict;
    mod prepared;
    mod results;
    mod running;
    mod sandbox;
    mod services;
    mod slurm;
    mod small_data;
    mod sparse;
    mod spill;
    mod sponge;
    mod stop_and_resume;
    mod trace;
    mod trace_file;
    mod unattended;
    mod urls;
    mod workflow_files;
    mod workflows;
}
