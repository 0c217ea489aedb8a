//! `summary.json` of a method: the command's facts about the run, and the method's own.
//!
//! Two parts say how the run was computed rather than its results: `execution` and `seconds`. Everything else is the
//! same, byte for byte, for every engine and any number of ranks and threads. A part that only one method has appears
//! only for that method.

use lehr_data::object;
use lehr_data::scale::Scale;
use lehr_methods::{Data, Fit, Rows, Sections, Takes};
use lehr_ranks::timing::Spread;
use lehr_ranks::{Execution, Layout};
use serde::Serialize;
use serde_json::json;

use super::scale_of;
use crate::plan::method::MethodPlan;
use crate::summary::PROGRAM;

#[derive(Serialize)]
struct Input<'a> {
    source: String,
    rows: usize,
    rows_of_weight_zero: usize,
    total_weight: f64,
    columns: &'a [String],
    weights: Option<&'a str>,
    id: Option<&'a str>,
    lonlat: bool,
    scale: String,
    /// Identifies the points as they were clustered: shape, values and weights.
    fingerprint: String,
}

/// The part of a stream that was read.
#[derive(Serialize)]
struct StreamInput<'a> {
    source: String,
    batches: u64,
    /// The number of rows of weight above 0.
    rows: u64,
    total_weight: f64,
    columns: &'a [String],
    weights: Option<&'a str>,
    scale: String,
    /// The fingerprint of the batches that were read.
    fingerprint: String,
}

#[derive(Serialize)]
struct ExecutionFacts {
    engine: String,
    ranks: usize,
    threads: usize,
    layout: String,
    /// `None` for a stream, which divides each batch among the ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    imbalance: Option<f64>,
    resumed: bool,
}

#[derive(Serialize)]
struct Seconds<'a> {
    total: f64,
    phases: Vec<Phase<'a>>,
    /// The time over ranks: each phase of the method, and computing, communicating and waiting in all of it. Empty for
    /// engines without ranks.
    ranks: Vec<Timer<'a>>,
}

#[derive(Serialize)]
struct Timer<'a> {
    timer: &'a str,
    ranks: usize,
    min: f64,
    mean: f64,
    max: f64,
    slowest: usize,
}

#[derive(Serialize)]
struct Phase<'a> {
    phase: &'a str,
    seconds: f64,
}

impl<'a> Input<'a> {
    fn new(space: &'a Rows, source: String, weights: Option<&'a str>, id: Option<&'a str>, scale: Scale) -> Self {
        Input {
            source,
            rows: space.len(),
            rows_of_weight_zero: space.of_weight_zero(),
            total_weight: space.total_weight(),
            columns: space.columns(),
            weights,
            id,
            lonlat: space.is_sphere(),
            scale: scale.to_string(),
            fingerprint: format!("{:016x}", space.vectors().fingerprint()),
        }
    }
}

impl ExecutionFacts {
    fn new(execution: &Execution, layout: &Layout, imbalance: Option<f64>, resumed: bool) -> Self {
        ExecutionFacts {
            engine: execution.engine.to_string(),
            ranks: layout.ranks(),
            threads: execution.threads * layout.processes * layout.nodes,
            layout: layout.to_string(),
            imbalance,
            resumed,
        }
    }
}

impl<'a> Seconds<'a> {
    fn new(phases: &'a [(String, f64)], timers: &'a [Spread]) -> Self {
        let timer = |spread: &'a Spread| Timer {
            timer: &spread.name,
            ranks: spread.ranks,
            min: spread.min_s,
            mean: spread.mean_s,
            max: spread.max_s,
            slowest: spread.slowest,
        };
        Seconds {
            total: phases.iter().map(|(_, seconds)| seconds).sum(),
            phases: phases.iter().map(|(phase, seconds)| Phase { phase, seconds: *seconds }).collect(),
            ranks: timers.iter().map(timer).collect(),
        }
    }
}

/// The command's facts about a run, which surround the method's own.
pub struct Described<'a> {
    /// The run.
    pub plan: &'a MethodPlan,
    /// The data.
    pub data: Data<'a>,
    /// Warnings for the owner of the data.
    pub warnings: &'a [String],
    /// Seconds by name, in order.
    pub phases: &'a [(String, f64)],
}

impl Described<'_> {
    /// Returns `summary.json`, section by section.
    pub fn sections(&self, fit: &dyn Fit) -> Sections {
        let Self { plan, data, warnings, phases } = *self;
        let (path, selection) = (object::shown(&plan.source.path), &plan.source.selection);
        let spent = fit.spent();
        let imbalance = fit.passed().is_none().then_some(spent.imbalance);
        let mut sections = Sections::default();
        sections
            .add("program", PROGRAM)
            .add("version", env!("CARGO_PKG_VERSION"))
            .add("method", fit.summary_name().unwrap_or(plan.method.about().summary_names[0]));
        match data {
            Data::Rows(rows) => {
                let (weights, id) = (selection.weights.as_deref(), selection.id.as_deref());
                sections.add("input", &Input::new(rows, path, weights, id, scale_of(self.data, plan.source.frame)))
            }
            Data::Matrix(matrix) => {
                let mut input = Sections::default();
                input.add("source", &path).append(fit.input(matrix));
                if matches!(plan.method.about().takes, Takes::Matrix(words) if words.has_classes) {
                    let labels = plan.source.classes.as_ref().map(|known| object::shown(&known.path));
                    input.add("labels", &labels);
                    if let Some(known) = &plan.source.classes {
                        input.add("by", &known.columns);
                    }
                }
                sections.nest("input", &input)
            }
            Data::Stream(stream) => {
                let passed = fit.passed().expect("a stream has passed");
                let input = StreamInput {
                    source: path,
                    batches: passed.batches,
                    rows: passed.rows,
                    total_weight: passed.weight,
                    columns: stream.columns(),
                    weights: selection.weights.as_deref(),
                    scale: plan.source.frame.scale().to_string(),
                    fingerprint: format!("{:016x}", passed.fingerprint),
                };
                sections.add("input", &input)
            }
        };
        sections
            .append(fit.sections(data))
            .add("warnings", warnings)
            .add("execution", &ExecutionFacts::new(&plan.execution, &plan.layout, imbalance, plan.resumed.is_some()));
        if sections.are_sorted() {
            // The lab reads the phases of these methods in this form.
            let total: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
            sections.add("seconds", &json!({ "total": total, "phases": spent.phases }))
        } else {
            sections.add("seconds", &Seconds::new(phases, spent.timers))
        };
        sections
    }
}
