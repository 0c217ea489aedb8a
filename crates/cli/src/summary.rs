//! `summary.json`: what was read, what was done with it and what came out, for other programs.
//!
//! Two parts say how the run was computed rather than what it found: `execution` and `seconds`. All the rest is the same,
//! byte for byte, for every engine and any number of ranks and threads. What only one method has is there for that method only.

pub mod minibatch;

use lehr_data::scale::Scale;
use lehr_methods::{Data, Fit, Named, Rows, Sections, Takes};
use lehr_mining::anneal::{Split, Step};
use lehr_mining::vector::Plateau;
use lehr_ranks::timing::Spread;
use lehr_ranks::{Execution, Layout};
use serde::Serialize;
use serde_json::json;

use crate::clustering::{Annealed, Clustering, Course, Parameters};
use crate::exit::{Failure, Kind};
use crate::plan::method::MethodPlan;
use crate::plan::{Plan, Source};

/// What marks a summary as ours.
pub const PROGRAM: &str = "lehr";

// What summaries say their method is, by which a folder knows which command wrote it. Those of the methods of `lehr-methods` stand in their declarations.

/// Annealed clusters of points.
pub const ANNEALING: &str = "vector deterministic annealing";
/// Clusters by k-means.
pub const KMEANS: &str = "k-means";
/// New items in a map.
pub const PLACING: &str = "interpolation in a map";
/// Dissimilarities, clusters and a map in one run.
pub const APPLICATION: &str =
    "dissimilarities of all pairs, pairwise deterministic annealing, multidimensional scaling by majorisation";
/// Regions in several views.
pub const DEMOGRAPHY: &str = "deterministic annealing of regions by attributes, by position and by both";

/// Everything in the file, in the order in which it stands there.
#[derive(Serialize)]
pub struct Summary<'a> {
    program: &'static str,
    version: &'static str,
    method: &'static str,
    input: Input<'a>,
    parameters: &'a Parameters,
    /// `full`: an assignment's weight is exp(-d²/T), so that a temperature T smooths over the length sqrt(T/2).
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_convention: Option<&'static str>,
    unit: Unit,
    result: Outcome<'a>,
    clusters: Vec<ClusterFacts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperatures: Option<Temperatures<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    splits: Option<&'a [Split]>,
    warnings: &'a [String],
    execution: ExecutionFacts,
    seconds: Seconds<'a>,
}

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
    /// Of the points as they were clustered: shape, values and weights.
    fingerprint: String,
}

#[derive(Serialize)]
struct Unit {
    length: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<String>,
    spread: &'static str,
}

#[derive(Serialize)]
struct Outcome<'a> {
    clusters: usize,
    objective: f64,
    root_mean_square_distance: f64,
    sum_of_squares: f64,
    #[serde(flatten)]
    energies: Option<Energies>,
    iterations: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    outliers: Option<OutlierFacts>,
    #[serde(flatten)]
    way: Way<'a>,
}

/// The rows in the sponge, where there is one: those that `labels.csv` has at -1.
#[derive(Serialize)]
struct OutlierFacts {
    rows: u64,
    weight: f64,
}

#[derive(Serialize)]
struct Energies {
    free_energy: f64,
    last_temperature: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_length: Option<f64>,
    critical_temperature: f64,
}

/// What led to the result.
#[derive(Serialize)]
#[serde(untagged)]
enum Way<'a> {
    Annealed {
        finish: &'a lehr_mining::vector::Finish,
        suggestion: Option<SuggestionFacts<'a>>,
    },
    /// The weighted sum of squares that each start came to.
    Started {
        starts: &'a [f64],
    },
}

/// Where the number of clusters was not given: which number stayed longest, and how long each did.
#[derive(Serialize)]
struct SuggestionFacts<'a> {
    clusters: usize,
    plateaus: &'a [Plateau],
}

#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    center: Named<'a>,
    rows: u64,
    weight: f64,
    spread: f64,
}

#[derive(Serialize)]
struct Temperatures<'a> {
    count: usize,
    history: &'a [Step],
}

#[derive(Serialize)]
struct ExecutionFacts {
    engine: String,
    ranks: usize,
    threads: usize,
    layout: String,
    imbalance: f64,
    resumed: bool,
}

#[derive(Serialize)]
struct Seconds<'a> {
    total: f64,
    phases: Vec<Phase<'a>>,
    /// Over ranks: each phase of the method, and computing, communicating and waiting in all of it. Empty for engines without ranks.
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
            rows_of_weight_zero: rows_of_weight_zero(space),
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
    fn new(execution: &Execution, layout: &Layout, imbalance: f64, resumed: bool) -> Self {
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

impl Energies {
    /// Of nats no length is made.
    fn new(annealed: &Annealed, is_squared: bool) -> Self {
        Energies {
            free_energy: annealed.free_energy,
            last_temperature: annealed.last_temperature,
            last_length: is_squared.then(|| (annealed.last_temperature / 2.0).sqrt()),
            critical_temperature: annealed.critical_temperature,
        }
    }
}

impl<'a> Way<'a> {
    fn new(course: &'a Course) -> Self {
        match course {
            Course::Annealed(annealed) => {
                let facts = |suggestion: &'a lehr_mining::vector::Suggestion| SuggestionFacts {
                    clusters: suggestion.clusters,
                    plateaus: &suggestion.plateaus,
                };
                Way::Annealed { finish: &annealed.finish, suggestion: annealed.suggestion.as_ref().map(facts) }
            }
            Course::Started(starts) => Way::Started { starts },
        }
    }
}

impl<'a> Summary<'a> {
    /// Gathers the facts of a run. `phases`: seconds by name, in order; `resumed`: whether the run went on from a checkpoint.
    pub fn new(
        plan: &'a Plan,
        space: &'a Rows,
        parameters: &'a Parameters,
        model: &'a Clustering,
        warnings: &'a [String],
        phases: &'a [(String, f64)],
        resumed: bool,
    ) -> Self {
        let (source, weights, id) = described(&plan.source);
        let unit = space.unit_name();
        let annealed = model.annealed();
        let is_squared = parameters.cost().is_squared();
        Summary {
            program: PROGRAM,
            version: env!("CARGO_PKG_VERSION"),
            method: parameters.method(),
            input: Input::new(space, source, weights, id, plan.frame.scale()),
            parameters,
            temperature_convention: annealed.map(|_| if is_squared { "full" } else { "nats" }),
            unit: Unit {
                length: unit,
                temperature: annealed.map(|_| if is_squared { format!("({unit})²") } else { "nats".to_owned() }),
                spread: if space.is_sphere() { "km along the surface" } else { unit },
            },
            result: Outcome {
                clusters: model.clusters.len(),
                objective: model.objective,
                root_mean_square_distance: model.root_mean_square(),
                sum_of_squares: model.sum_of_squares,
                energies: annealed.map(|annealed| Energies::new(annealed, is_squared)),
                iterations: model.iterations,
                outliers: model
                    .outliers
                    .as_ref()
                    .map(|outliers| OutlierFacts { rows: outliers.rows, weight: outliers.weight }),
                way: Way::new(&model.course),
            },
            clusters: model
                .centers
                .chunks_exact(model.dimension)
                .zip(&model.clusters)
                .enumerate()
                .map(|(cluster, (center, facts))| ClusterFacts {
                    cluster,
                    center: Named {
                        names: space.columns(),
                        values: space.center(center),
                        leaves_zeros_out: space.sparse().is_some(),
                    },
                    rows: facts.rows,
                    weight: facts.weight,
                    spread: space.distance(facts.spread),
                })
                .collect(),
            temperatures: annealed
                .map(|annealed| Temperatures { count: annealed.history.len(), history: &annealed.history }),
            splits: annealed.map(|annealed| &annealed.splits[..]),
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

/// The text of a summary that a command put together itself.
///
/// # Errors
/// [`Kind::NoResult`]: a number that JSON does not have, which would be our mistake.
pub fn text(summary: &serde_json::Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(summary)
        .map(|text| text + "\n")
        .map_err(|cause| Failure::new(Kind::NoResult, format!("the summary cannot be written as JSON: {cause}")))
}

/// The method of a summary, if `lehr` wrote it.
pub fn method_of(bytes: &[u8]) -> Option<String> {
    let summary: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let is_ours = summary["program"] == PROGRAM && summary["version"].is_string();
    summary["method"].as_str().filter(|_| is_ours).map(str::to_owned)
}

/// How many rows influence nothing.
pub fn rows_of_weight_zero(space: &Rows) -> usize {
    space.weights().map_or(0, |weights| weights.iter().filter(|&&weight| weight == 0.0).count())
}

/// The input by name, its weights column and its id column.
pub fn described(source: &Source) -> (String, Option<&str>, Option<&str>) {
    match source {
        Source::Table { path, selection, .. } => {
            (path.display().to_string(), selection.weights.as_deref(), selection.id.as_deref())
        }
        Source::BuiltIn(_) => ("demo census".to_owned(), Some("pop"), Some("geoid")),
    }
}

/// What the command knows of a run of a method, around what the method says itself.
pub struct Described<'a> {
    /// The run.
    pub plan: &'a MethodPlan,
    /// The data.
    pub data: Data<'a>,
    /// What the owner of the data should know.
    pub warnings: &'a [String],
    /// Seconds by name, in order.
    pub phases: &'a [(String, f64)],
}

impl Described<'_> {
    /// `summary.json`, section by section.
    pub fn sections(&self, fit: &dyn Fit) -> Sections {
        let Self { plan, data, warnings, phases } = *self;
        let (path, selection) = (plan.source.path.display().to_string(), &plan.source.selection);
        let spent = fit.spent();
        let mut sections = Sections::default();
        sections
            .add("program", PROGRAM)
            .add("version", env!("CARGO_PKG_VERSION"))
            .add("method", plan.method.about().summary_name);
        match data {
            Data::Rows(rows) => {
                let (weights, id) = (selection.weights.as_deref(), selection.id.as_deref());
                sections.add("input", &Input::new(rows, path, weights, id, plan.source.frame.scale()))
            }
            Data::Matrix(matrix) => {
                let mut input = Sections::default();
                input.add("source", &path).append(fit.input(matrix));
                if matches!(plan.method.about().takes, Takes::Matrix(words) if words.has_classes) {
                    let labels = plan.source.classes.as_ref().map(|known| known.path.display().to_string());
                    input.add("labels", &labels);
                }
                sections.nest("input", &input)
            }
        };
        sections.append(fit.sections(data)).add("warnings", warnings).add(
            "execution",
            &ExecutionFacts::new(&plan.execution, &plan.layout, spent.imbalance, plan.resumed.is_some()),
        );
        if sections.are_sorted() {
            // The lab reads the phases of these methods so.
            let total: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
            sections.add("seconds", &json!({ "total": total, "phases": spent.phases }))
        } else {
            sections.add("seconds", &Seconds::new(phases, spent.timers))
        };
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_summaries_have_a_method() {
        let ours = br#"{"program": "lehr", "version": "0.1.0", "method": "k-means", "anything": 1}"#;
        assert_eq!(method_of(ours).as_deref(), Some(KMEANS));
        for other in [
            &b"{}"[..],
            b"",
            b"[1]",
            br#"{"program": "other", "version": "1", "method": "k-means"}"#,
            br#"{"program": "lehr", "version": "1"}"#,
            b"{\"program\": \"lehr\"",
            b"\xff",
        ] {
            assert_eq!(method_of(other), None);
        }
    }
}
