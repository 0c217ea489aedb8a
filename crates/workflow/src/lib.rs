//! Applications composed of services: a workflow is steps and links in a file, each step an operation of a service,
//! here or on another node.
//!
//! | wanted | found |
//! | --- | --- |
//! | a workflow from its file, with every fault by line and field | [`Workflow`] |
//! | runs as a service: begin, watch, cancel, resume, do again from a step | [`Workflows`] |
//! | the progress of a run, as a document | [`Run`] |
//! | the next step, apart from everything that waits | [`machine`] |
//!
//! The way of a run: `definition.rs` (read) → `plan.rs` (compared with the services) → `machine.rs` (next step) →
//! `runner.rs` (does it) → `attempt.rs` (one request) → `run.rs` (the document). Values between steps are references
//! (`template.rs`). For the reasons, see `docs/design/workflow.md`.
#![forbid(unsafe_code)]

mod attempt;
mod definition;
pub mod machine;
mod plan;
mod run;
mod runner;
mod service;
mod surroundings;
mod template;

pub use definition::Workflow;
pub use plan::{Plan, PlannedStep};
pub use run::{ItemRecord, JobProgress, Progress, Run, RunState, StepRecord, StepState};
pub use service::{
    Begin, Begun, Cancel, Remove, Resume, Review, Stop, Tell, WORKFLOWS, Wait, WorkflowState, Workflows,
};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
