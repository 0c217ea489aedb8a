//! The result of a fit.

use lehr_ranks::timing::Spread;
use serde::{Deserialize, Serialize};

use super::fit::{Climb, Problem, State, Step};
use super::map::{Map, Projection};
use super::parameters::Start;
use super::place::Placed;
use crate::anneal::run::Spent;
use crate::input::Input;

/// The fit replaces each row by a tiny cloud, whose variance is a floor for the noise. Noise below this multiple of the
/// floor comes from the clouds, not from the rows.
const HELD_UP: f64 = 10.0;
/// A map has not unfolded if the variance of its nodes is below this share of the rows' variance.
const COLLAPSED: f64 = 1e-4;
/// The difference in topological order from which a warning mentions the map that was not kept.
const ORDER: f64 = 0.05;

/// A fit that was followed to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The start of the fit.
    pub start: Start,
    /// The log-likelihood at the end: `sum w ln p(x)`, in the input's units.
    pub log_likelihood: f64,
    /// The order of the map ([`Map::order`]).
    pub order: f64,
    /// Whether the fit converged.
    pub is_converged: bool,
    /// The number of passes over the rows.
    pub sweeps: u64,
}

/// A fitted map, the position of each row on it, and facts about the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The map in the units of the rows.
    pub map: Map,
    /// The position of each row on the map.
    pub places: Projection,
    /// The log-likelihood `sum w ln p(x)`, in the input's units.
    pub log_likelihood: f64,
    /// Spearman's correlation between the distances of nodes on the map and in the space of the data ([`Map::order`]).
    /// The order shows folds, which the likelihood does not show.
    pub order: f64,
    /// The start of the fit that was kept.
    pub start: Start,
    /// All fits that were followed to their end, including the fit that was kept, in the order of their starts. If
    /// there are two fits, the fit with the higher likelihood was kept; the first fit if both are equal.
    pub candidates: Vec<Candidate>,
    /// The temperature below which the map begins to unfold.
    pub critical_temperature: f64,
    /// The state at each temperature, from the highest to the last, which is 1. A map that began as a plane has only
    /// the last temperature.
    pub history: Vec<Step>,
    /// The objective per unit of weight before each sweep at temperature 1. The objective is the log-likelihood minus
    /// the prior's cost, with a tiny cloud in place of each row. It never falls.
    pub ascent: Vec<f64>,
    /// Whether the fit converged.
    pub is_converged: bool,
    /// The number of passes over the rows, for all candidates together.
    pub sweeps: u64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds spent in each phase, and in computing, communicating and waiting; empty for
    /// engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of rows on the rank with the most, divided by the mean.
    pub imbalance: f64,
}

/// The result of a run, on the lead rank.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub state: State,
    /// The log-likelihood, in stored units.
    pub log_likelihood: f64,
    pub spent: Spent,
}

impl Model {
    pub(crate) fn new(
        input: &Input<'_>,
        problem: &Problem<'_>,
        outcome: Outcome,
        placed: impl Iterator<Item = Placed>,
    ) -> Self {
        let Outcome { state, log_likelihood, spent } = outcome;
        let State { climb, other, critical_temperature, sweeps, .. } = state;
        let map = map_of(problem, &climb);
        // The likelihood is summed over the placed rows, even if the fit has measured it before.
        let kept = candidate(problem, &climb, map.order(), log_likelihood);
        let other =
            other.map(|other| candidate(problem, &other, map_of(problem, &other).order(), other.log_likelihood));
        let warnings = warnings(input, problem, &climb, &map, &kept, other.as_ref());
        let mut candidates: Vec<Candidate> = [Some(kept.clone()), other].into_iter().flatten().collect();
        candidates.sort_by_key(|candidate| candidate.start == Start::Plane);
        let unit = problem.table.log_unit();
        Model {
            map,
            places: in_input_order(input, problem, placed),
            log_likelihood: kept.log_likelihood,
            order: kept.order,
            start: kept.start,
            candidates,
            critical_temperature,
            history: climb.history,
            ascent: climb.objectives.iter().map(|objective| objective - unit).collect(),
            is_converged: climb.is_converged,
            sweeps,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}

/// Returns the positions of the rows, in the order and the units of the input.
fn in_input_order(input: &Input<'_>, problem: &Problem<'_>, placed: impl Iterator<Item = Placed>) -> Projection {
    let rows = &problem.table.rows;
    let ln_unit = lehr_numerics::elementary::ln(rows.units.length);
    let mut places = Projection::with_room(problem.grid.latent, input.len());
    for (leaf, placed) in rows.leaves.iter().zip(placed) {
        for (at, &row) in leaf.rows.iter().chain(&leaf.bystander_rows).enumerate() {
            let row = row as usize;
            places.set(row, &placed, at);
            let cells = input.row(row).iter().filter(|x| !x.is_nan()).count();
            places.log_densities[row] -= cells as f64 * ln_unit;
        }
    }
    places
}

/// Returns the map at the end of a fit, in the units of the rows.
fn map_of(problem: &Problem<'_>, climb: &Climb) -> Map {
    let units = &problem.table.rows.units;
    let weights = climb.sheet.weights.iter().map(|weight| weight * units.length).collect();
    Map::new(problem.grid, units.origin.clone(), weights, units.squared(climb.sheet.noise))
}

/// Describes a fit that was followed to its end; `log_likelihood` is in stored units.
fn candidate(problem: &Problem<'_>, climb: &Climb, order: f64, log_likelihood: f64) -> Candidate {
    let (rows, unit) = (&problem.table.rows, problem.table.log_unit());
    Candidate {
        start: climb.start,
        log_likelihood: (log_likelihood - unit * rows.total_weight) * rows.units.weight,
        order,
        is_converged: climb.is_converged,
        sweeps: climb.sweeps,
    }
}

/// Returns the warnings for the user.
fn warnings(
    input: &Input<'_>,
    problem: &Problem<'_>,
    climb: &Climb,
    map: &Map,
    kept: &Candidate,
    other: Option<&Candidate>,
) -> Vec<String> {
    let table = problem.table;
    let mut warnings = Vec::new();
    if !climb.is_converged {
        warnings.push(format!(
            "the fit ended after {} iterations at temperature 1, the limit, while the likelihood still rose",
            climb.objectives.len()
        ));
    }
    if let Some(other) = other.filter(|other| other.order > kept.order + ORDER) {
        warnings.push(format!(
            "Lehr kept the map {} because its likelihood is higher. The map {} has a better order ({:.2} against {:.2}), so the kept one may be folded",
            kept.start, other.start, other.order, kept.order
        ));
    }
    if climb.sheet.noise < HELD_UP * problem.frame.cloud {
        warnings.push(
            "the rows are on the map almost exactly: its likelihood depends on the smallest noise allowed rather than on the fit".into(),
        );
    }
    let images = problem.frame.images(&climb.sheet);
    let spread = images.iter().map(|y| y * y).sum::<f64>() / images.len() as f64;
    if spread < COLLAPSED * table.variance {
        warnings.push("the map is a single point: the rows look like one round Gaussian".into());
    }
    if map.free_parameters() as f64 > table.cells / table.rows.row_weight {
        warnings.push(format!(
            "the map has {} free parameters for {} cells: it overfits; request fewer basis functions",
            map.free_parameters(),
            input.len() * input.dimension() - input.missing()
        ));
    }
    if table.empty_rows > 0 {
        warnings.push(format!(
            "{} of the rows have no value at all: their positions on the map are unknown",
            table.empty_rows
        ));
    }
    warnings
}
