//! `summary.json` of `lehr mixture`: the mixture with every digit, and the evidence for it.

use lehr_mining::mixture::{Candidate, Criteria, Mixture, Model, Parameters};
use serde::Serialize;

use super::{Center, ExecutionFacts, Input, PROGRAM, Seconds, scale};
use crate::plan::mixture::MixturePlan;
use crate::space::Space;

/// What the file says its method is.
pub const METHOD: &str = "gaussian mixture";

/// Everything in the file, in the order in which it stands there.
#[derive(Serialize)]
pub struct MixtureSummary<'a> {
    program: &'static str,
    version: &'static str,
    method: &'static str,
    input: Input<'a>,
    missing_cells: usize,
    parameters: &'a Parameters,
    /// Of covariances and densities.
    unit: &'static str,
    result: Outcome,
    components: Vec<ComponentFacts<'a>>,
    /// As it was fitted: in scaled columns, where they were scaled. Covariances: spherical a variance each, diagonal a variance each and column, tied one and full a
    /// lower triangle each, row by row.
    mixture: &'a Mixture,
    candidates: &'a [Candidate],
    ascent: &'a [f64],
    warnings: &'a [String],
    execution: ExecutionFacts,
    seconds: Seconds<'a>,
}

#[derive(Serialize)]
struct Outcome {
    components: usize,
    #[serde(flatten)]
    criteria: Criteria,
    log_likelihood_per_weight: f64,
    is_converged: bool,
    sweeps: u64,
}

#[derive(Serialize)]
struct ComponentFacts<'a> {
    component: usize,
    /// Its share of the mixture.
    weight: f64,
    /// Rows that are likelier its than another's.
    rows: usize,
    mean: Center<'a>,
    /// Along each column.
    deviations: Center<'a>,
}

/// Standard deviations of component `k` along each column, in the columns' own units.
pub fn deviations(space: &Space, mixture: &Mixture, k: usize) -> Vec<f64> {
    let (dimension, covariance) = (mixture.dimension(), mixture.covariance(k));
    let deviation: Vec<f64> = (0..dimension).map(|j| covariance[j * dimension + j].sqrt()).collect();
    let ends: Vec<f64> = mixture.mean(k).iter().zip(&deviation).map(|(mean, deviation)| mean + deviation).collect();
    if space.is_scaled() {
        space.center(&ends).iter().zip(space.center(mixture.mean(k))).map(|(end, mean)| (end - mean).abs()).collect()
    } else {
        deviation
    }
}

/// How many rows are in each component.
pub fn rows_of_each(model: &Model) -> Vec<usize> {
    let mut rows = vec![0; model.mixture.len()];
    model.labels.iter().for_each(|&label| rows[label as usize] += 1);
    rows
}

impl<'a> MixtureSummary<'a> {
    /// Gathers the facts of a fit. `phases`: seconds by name, in order; `resumed`: whether the run went on from a checkpoint.
    pub fn new(
        plan: &'a MixturePlan,
        space: &'a Space,
        parameters: &'a Parameters,
        model: &'a Model,
        warnings: &'a [String],
        phases: &'a [(String, f64)],
        resumed: bool,
    ) -> Self {
        let columns = space.table().columns();
        let rows = rows_of_each(model);
        let mixture = &model.mixture;
        let component = |k: usize| ComponentFacts {
            component: k,
            weight: mixture.weights()[k],
            rows: rows[k],
            mean: Center { columns, is_sparse: false, values: space.center(mixture.mean(k)) },
            deviations: Center { columns, is_sparse: false, values: deviations(space, mixture, k) },
        };
        let (weights, id) = (plan.selection.weights.as_deref(), plan.selection.id.as_deref());
        MixtureSummary {
            program: PROGRAM,
            version: env!("CARGO_PKG_VERSION"),
            method: METHOD,
            input: Input::new(space, plan.path.display().to_string(), weights, id, scale(plan.frame)),
            missing_cells: space.input().missing(),
            parameters,
            unit: space.unit_name(),
            result: Outcome {
                components: mixture.len(),
                criteria: model.criteria,
                log_likelihood_per_weight: model.criteria.log_likelihood / space.table().total_weight(),
                is_converged: model.is_converged,
                sweeps: model.sweeps,
            },
            components: (0..mixture.len()).map(component).collect(),
            mixture,
            candidates: &model.candidates,
            ascent: &model.ascent,
            warnings,
            execution: ExecutionFacts::new(&plan.execution, &plan.layout, model.imbalance, resumed),
            seconds: Seconds::new(phases, &model.timers),
        }
    }

    /// The file's text: indented JSON with a line end.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
