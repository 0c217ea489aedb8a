//! The result of a fit.

use lehr_ranks::timing::Spread;

use super::criteria::{Candidate, Criteria};
use super::density::Mixture;
use super::e_step::Assigned;
use super::fit::{Fitted, State};
use super::gaussians::Gaussians;
use super::parameters::{Covariance, Parameters};
use super::patterns::Patterns;
use super::table::Table;
use crate::anneal::run::Spent;
use crate::number::Number;
use crate::rows::Rows;

/// If the width of a component ([`Gaussians::widths`]) is below this, only the clouds keep the component from
/// collapsing.
const COLLAPSED: f64 = 100.0;

/// A fitted mixture, the component of each row, and facts about the fit. Components are numbered by decreasing weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The mixture in the units of the points.
    pub mixture: Mixture,
    /// The component of each row, which is the component with the largest membership.
    pub labels: Vec<u32>,
    /// The membership of each row in the component of its label.
    pub probabilities: Vec<f64>,
    /// The log-density `ln p(x)` of each row, in the input's units.
    pub log_densities: Vec<f64>,
    /// The criteria of the mixture.
    pub criteria: Criteria,
    /// Every number of components that was tried, in ascending order.
    pub candidates: Vec<Candidate>,
    /// The number of groups that are separated by valleys in the density. The number is computed only if neither a
    /// number of components nor a limit was given, and no value is missing. It is smaller than the number of components
    /// if several components describe one group.
    pub groups: Option<Number>,
    /// The log-likelihood per unit of weight before each sweep of the fit, where each row counts as the cloud of
    /// [`Parameters::regularisation`]. This log-likelihood never falls from sweep to sweep.
    pub ascent: Vec<f64>,
    /// Whether the fit converged.
    pub is_converged: bool,
    /// The number of passes over the rows, including the annealing and the fits for all numbers of components.
    pub sweeps: u64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds spent in each phase, and in computing, communicating and waiting. The list
    /// is empty for engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The largest number of rows on a rank, divided by the mean number of rows on a rank.
    pub imbalance: f64,
}

/// The result of a run, on the lead rank.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub state: State,
    pub spent: Spent,
}

/// Converts components to the units of the points.
pub(crate) fn in_input_units(rows: &Rows<f64>, gaussians: &Gaussians) -> Gaussians {
    Gaussians {
        means: gaussians.means.chunks_exact(rows.dimension).flat_map(|mean| rows.units.position(mean)).collect(),
        covariances: gaussians.covariances.iter().map(|&number| rows.units.squared(number)).collect(),
        ..gaussians.clone()
    }
}

impl Model {
    pub(crate) fn new(
        table: &Table<'_>,
        outcome: Outcome,
        assigned: impl Iterator<Item = Assigned>,
        parameters: &Parameters,
        clouds: &[f64],
    ) -> Self {
        let Outcome { state, spent } = outcome;
        let fitted = state.best.expect("a finished fit has a mixture");
        let warnings = warnings(table, &fitted, &state.candidates, parameters, clouds);
        let Assigned { labels, probabilities, log_densities } = in_input_order(table, assigned);
        let unit = table.log_unit();
        Model {
            mixture: Mixture::from_gaussians(in_input_units(&table.rows, &fitted.gaussians)),
            labels,
            probabilities,
            log_densities,
            criteria: fitted.criteria,
            candidates: state.candidates,
            groups: None,
            ascent: fitted.ascent.iter().map(|objective| objective - unit).collect(),
            is_converged: fitted.is_converged,
            sweeps: state.sweeps,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}

/// Collects the leaves' results for all rows, in the order and the units of the input.
fn in_input_order(table: &Table<'_>, assigned: impl Iterator<Item = Assigned>) -> Assigned {
    let count = table.input.len();
    let mut all = Assigned { labels: vec![0; count], probabilities: vec![0.0; count], log_densities: vec![0.0; count] };
    for (leaf, assigned) in assigned.enumerate() {
        for (at, row) in table.rows_of(leaf).into_iter().enumerate() {
            let row = row as usize;
            all.labels[row] = assigned.labels[at];
            all.probabilities[row] = assigned.probabilities[at];
            all.log_densities[row] = assigned.log_densities[at] - table.log_unit_of(row);
        }
    }
    all
}

fn warnings(
    table: &Table<'_>,
    fitted: &Fitted,
    candidates: &[Candidate],
    parameters: &Parameters,
    clouds: &[f64],
) -> Vec<String> {
    let found = fitted.gaussians.len();
    let mut warnings = Vec::new();
    if parameters.components.is_some() && found < fitted.asked {
        warnings.push(format!(
            "you requested {} components, but Lehr found only {found}: the points of positive weight have no more distinct positions, \
             or a component was left without rows",
            fitted.asked
        ));
    }
    if !fitted.is_converged {
        warnings.push(format!(
            "the fit ended after {} iterations, the limit, while the likelihood still rose",
            fitted.ascent.len()
        ));
    }
    if parameters.regularisation > 0.0 {
        warnings.extend(held_up(&fitted.gaussians, clouds));
    }
    let (free_parameters, effective) = (fitted.criteria.free_parameters, table.rows.effective());
    if free_parameters as f64 >= effective {
        warnings.push(format!(
            "the mixture has {free_parameters} free parameters for {}: it overfits these rows; request fewer components or a simpler covariance",
            effective_rows(effective, table.rows.count)
        ));
    }
    if table.empty_rows > 0 {
        warnings.push(format!(
            "{} of the rows have no value at all: they do not count, and get the heaviest component",
            table.empty_rows
        ));
    }
    warnings.extend(never_together(table, fitted.gaussians.covariance));
    if parameters.components.is_none()
        && let [_, .., last] = candidates
        && last.criteria.bic == fitted.criteria.bic
        && last.components == last.asked
    {
        warnings.push(format!(
            "BIC is still falling at {found} components, the maximum number that was tried: there may be more"
        ));
    }
    warnings
}

/// Formats the number of rows and the effective number of rows, for messages.
fn effective_rows(effective: f64, count: usize) -> String {
    if effective.round() == count as f64 {
        format!("{count} rows")
    } else {
        format!("{count} rows, which weigh as {effective:.1}")
    }
}

/// Returns a warning if only the regularisation keeps components from collapsing.
fn held_up(gaussians: &Gaussians, clouds: &[f64]) -> Option<String> {
    let narrow = gaussians.widths(clouds).iter().filter(|&&width| width < COLLAPSED).count();
    if narrow == 0 {
        return None;
    }
    Some(match gaussians.covariance {
        Covariance::Tied => {
            "the common covariance has a direction without variance, in which it keeps the least variance allowed: columns may depend on each other"
                .to_string()
        }
        _ => format!(
            "{narrow} of {} components have a direction without variance, in which they keep the least variance allowed: do not compare \
             the likelihood; rows may be equal, or columns may depend on each other",
            gaussians.len()
        ),
    })
}

/// Returns a warning if two columns have a covariance in the mixture although no row has values in both columns.
fn never_together(table: &Table<'_>, covariance: Covariance) -> Option<String> {
    if !matches!(covariance, Covariance::Tied | Covariance::Full) {
        return None;
    }
    let apart = table.patterns.as_ref().map(Patterns::never_together).unwrap_or_default();
    let [(i, j), more @ ..] = &apart[..] else { return None };
    let names = table.input.columns();
    let also = if more.is_empty() { String::new() } else { format!(" (and of {} more pairs)", more.len()) };
    Some(format!(
        "no row has both {} and {}{also}: the rows do not show how they vary together within a component",
        names[*i], names[*j]
    ))
}
