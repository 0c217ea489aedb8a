//! `summary.json` of `lehr minibatch`: what passed, the centres, and what the figures are of.

use lehr_mining::minibatch::{Model, Parameters};
use serde::Serialize;

use lehr_methods::Named;

use super::{PROGRAM, Seconds};
use crate::plan::minibatch::{MinibatchPlan, MinibatchStart};

/// What the file says its method is.
pub const METHOD: &str = "mini-batch k-means";

/// Everything in the file, in the order in which it stands there.
#[derive(Serialize)]
pub struct MinibatchSummary<'a> {
    program: &'static str,
    version: &'static str,
    method: &'static str,
    input: Input<'a>,
    parameters: &'a Parameters,
    /// Of spreads and of the root of the objective.
    unit: &'static str,
    result: Outcome,
    clusters: Vec<ClusterFacts<'a>>,
    warnings: &'a [String],
    execution: Computed,
    seconds: Seconds<'a>,
}

#[derive(Serialize)]
struct Input<'a> {
    source: String,
    batches: u64,
    /// Of weight above 0.
    rows: u64,
    total_weight: f64,
    columns: &'a [String],
    weights: Option<&'a str>,
    scale: String,
    /// Of the batches as they passed.
    fingerprint: String,
}

#[derive(Serialize)]
struct Outcome {
    is_approximation: bool,
    clusters: usize,
    /// What the figures behind are of.
    objective_of: &'static str,
    objective: f64,
    root_mean_square_distance: f64,
    objective_of_last_batch: f64,
}

#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    center: Named<'a>,
    rows: u64,
    weight: f64,
    /// What of the weight is not forgotten.
    counts: f64,
    spread: f64,
}

#[derive(Serialize)]
struct Computed {
    engine: String,
    ranks: usize,
    threads: usize,
    layout: String,
    resumed: bool,
}

impl<'a> MinibatchSummary<'a> {
    /// Gathers the facts of a run. `centers`: in the columns' own units; `phases`: seconds by name, in order.
    pub fn new(
        plan: &'a MinibatchPlan,
        columns: &'a [String],
        centers: &[Vec<f64>],
        model: &'a Model,
        warnings: &'a [String],
        phases: &'a [(String, f64)],
    ) -> Self {
        let is_scaled = plan.scale != lehr_data::scale::Scale::None;
        let clusters = centers.iter().zip(&model.clusters).enumerate().map(|(cluster, (center, facts))| ClusterFacts {
            cluster,
            center: Named { names: columns, values: center.clone(), leaves_zeros_out: false },
            rows: facts.rows,
            weight: facts.weight,
            counts: facts.counts,
            spread: facts.spread,
        });
        MinibatchSummary {
            program: PROGRAM,
            version: env!("CARGO_PKG_VERSION"),
            method: METHOD,
            input: Input {
                source: plan.source(),
                batches: model.batches,
                rows: model.rows,
                total_weight: model.weight,
                columns,
                weights: plan.selection.weights.as_deref(),
                scale: plan.scale.to_string(),
                fingerprint: format!("{:016x}", model.fingerprint),
            },
            parameters: plan.parameters(),
            unit: if is_scaled { "unit of the scaled columns" } else { "unit of the columns" },
            result: Outcome {
                is_approximation: true,
                clusters: model.clusters.len(),
                objective_of: "batches as they passed: each row from its centre as that stood before the row's batch",
                objective: model.objective,
                root_mean_square_distance: model.objective.sqrt(),
                objective_of_last_batch: model.last_objective,
            },
            clusters: clusters.collect(),
            warnings,
            execution: Computed {
                engine: plan.execution.engine.to_string(),
                ranks: plan.layout.ranks(),
                threads: plan.execution.threads,
                layout: plan.layout.to_string(),
                resumed: matches!(plan.start, MinibatchStart::Resumed(..)),
            },
            seconds: Seconds::new(phases, &[]),
        }
    }

    /// The file's text: indented JSON with a line end.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
