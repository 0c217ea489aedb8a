//! `summary.json` of `lehr gtm`: how the map was found and how well it fits. The map itself is in `model.json`.

use lehr_mining::gtm::{Candidate, Map, Model, Parameters, Projection, Start, Step};
use serde::Serialize;

use super::{ExecutionFacts, Input, PROGRAM, Seconds, scale};
use crate::plan::gtm::GtmPlan;
use crate::space::Space;

/// What the file says its method is.
pub const METHOD: &str = "generative topographic mapping";

/// Everything in the file, in the order in which it stands there.
#[derive(Serialize)]
pub struct GtmSummary<'a> {
    program: &'static str,
    version: &'static str,
    method: &'static str,
    input: Input<'a>,
    missing_cells: usize,
    parameters: &'a Parameters,
    /// Of noise, magnification and densities.
    unit: &'static str,
    result: Outcome,
    /// Every beginning that was followed to its end.
    candidates: &'a [Candidate],
    temperatures: &'a [Step],
    ascent: &'a [f64],
    warnings: &'a [String],
    execution: ExecutionFacts,
    seconds: Seconds<'a>,
}

#[derive(Serialize)]
struct Outcome {
    /// Where the map that was kept began.
    start: Start,
    dimensions: usize,
    nodes: usize,
    nodes_a_side: usize,
    functions: usize,
    log_likelihood: f64,
    log_likelihood_per_weight: f64,
    /// The variance around the map.
    noise: f64,
    /// Spearman's correlation of the distances of nodes on the map and in the data's space.
    order: f64,
    /// Over rows, in nats.
    mean_entropy: f64,
    critical_temperature: f64,
    is_converged: bool,
    sweeps: u64,
}

/// How many rows have each node as their likeliest.
pub fn rows_of_each(map: &Map, places: &Projection) -> Vec<usize> {
    let mut rows = vec![0; map.len()];
    places.modes.iter().for_each(|&node| rows[node as usize] += 1);
    rows
}

impl<'a> GtmSummary<'a> {
    /// Gathers the facts of a fit. `phases`: seconds by name, in order; `resumed`: whether the run went on from a checkpoint.
    pub fn new(
        plan: &'a GtmPlan,
        space: &'a Space,
        parameters: &'a Parameters,
        model: &'a Model,
        warnings: &'a [String],
        phases: &'a [(String, f64)],
        resumed: bool,
    ) -> Self {
        let (map, places) = (&model.map, &model.places);
        let (weights, id) = (plan.selection.weights.as_deref(), plan.selection.id.as_deref());
        GtmSummary {
            program: PROGRAM,
            version: env!("CARGO_PKG_VERSION"),
            method: METHOD,
            input: Input::new(space, plan.path.display().to_string(), weights, id, scale(plan.frame)),
            missing_cells: space.input().missing(),
            parameters,
            unit: space.unit_name(),
            result: Outcome {
                start: model.start,
                dimensions: map.latent(),
                nodes: map.len(),
                nodes_a_side: map.side(),
                functions: map.functions(),
                log_likelihood: model.log_likelihood,
                log_likelihood_per_weight: model.log_likelihood / space.table().total_weight(),
                noise: map.noise(),
                order: model.order,
                mean_entropy: places.entropies.iter().sum::<f64>() / places.entropies.len() as f64,
                critical_temperature: model.critical_temperature,
                is_converged: model.is_converged,
                sweeps: model.sweeps,
            },
            candidates: &model.candidates,
            temperatures: &model.history,
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
