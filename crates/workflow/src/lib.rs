//! Workflows: applications composed of services. A workflow is a file with steps and links. Each step calls an
//! operation of a service, on this node or on another node.
//!
//! | you need | use |
//! | --- | --- |
//! | a workflow from its file, with every fault reported by line and field | [`Workflow`] |
//! | runs as a service: begin, watch, cancel, resume, repeat from a step | [`Workflows`] |
//! | the progress of a run, as a document | [`Run`] |
//! | the decision about the next step, apart from all waiting | [`machine`] |
//!
//! The files in the order of a run: `definition.rs` (read) → `plan.rs` (check) → `machine.rs` (next step) → `runner.rs`
//! (do it) → `attempt.rs` (one request) → `run.rs` (document). Values between steps are references (`template.rs`). For
//! the reasons, see `docs/design/workflow.md`.
#![forbid(unsafe_code)]

mod attempt;
mod cache;
mod condition;
mod definition;
pub mod machine;
mod notice;
mod plan;
mod run;
mod runner;
mod schedule;
mod service;
mod surroundings;
mod template;
mod trigger;

pub use definition::Workflow;
pub use plan::{Plan, PlannedStep};
pub use run::{CachedAnswer, ItemRecord, JobProgress, Progress, Run, RunState, StepRecord, StepState};
pub use schedule::{Schedule, Scheduled, TriggerState, Unschedule};
pub use service::{
    Begin, Begun, Cancel, Remove, Resume, Review, Stop, Tell, WORKFLOWS, Wait, WorkflowState, Workflows,
};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
