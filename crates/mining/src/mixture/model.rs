//! The result of a fit.

use lehr_ranks::timing::Spread;

use super::course::{Fitted, State};
use super::criteria::{Candidate, Criteria};
use super::density::Mixture;
use super::e_step::Assigned;
use super::gaussians::Gaussians;
use super::parameters::{Covariance, Parameters};
use super::patterns::Patterns;
use super::table::Table;
use crate::anneal::run::Spent;
use crate::rows::Rows;

/// A component less than so many times as wide as the clouds that rows count as is held up by them alone.
const COLLAPSED: f64 = 100.0;

/// A mixture, each row's component, and how it was found. Components are numbered by falling weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The mixture in the units of the points.
    pub mixture: Mixture,
    /// The component of each row: the one with the largest membership.
    pub labels: Vec<u32>,
    /// The membership of that component.
    pub probabilities: Vec<f64>,
    /// `ln p(x)` of each row, in the input's units.
    pub log_densities: Vec<f64>,
    /// The figures of the mixture.
    pub criteria: Criteria,
    /// Every number of components that was tried, in order.
    pub candidates: Vec<Candidate>,
    /// The log-likelihood per unit of weight before each sweep of the fit, rows counted as the clouds of [`Parameters::regularisation`]: it never falls.
    pub ascent: Vec<f64>,
    /// Whether the fit ended with nothing left to gain.
    pub is_converged: bool,
    /// Passes over the rows, those of the annealing and of all numbers that were tried included.
    pub sweeps: u64,
    /// Seconds by phase, of this process only.
    pub phases: Vec<(String, f64)>,
    /// Seconds over ranks, of each phase and of computing, communicating and waiting; empty for engines that have no ranks.
    pub timers: Vec<Spread>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// The most rows of a rank over the mean.
    pub imbalance: f64,
}

/// What the lead of a run brings home.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub state: State,
    pub spent: Spent,
}

/// Components in the units of the points.
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
        let Fitted { asked, gaussians, ascent, is_converged, criteria } =
            state.best.expect("a finished fit has a mixture");
        let (rows, unit, count) = (&table.rows, table.log_unit(), table.input.len());
        let (mut labels, mut probabilities, mut log_densities) = (vec![0; count], vec![0.0; count], vec![0.0; count]);
        for (leaf, assigned) in assigned.enumerate() {
            for (at, row) in table.rows_of(leaf).into_iter().enumerate() {
                let row = row as usize;
                labels[row] = assigned.labels[at];
                probabilities[row] = assigned.probabilities[at];
                log_densities[row] = assigned.log_densities[at] - table.log_unit_of(row);
            }
        }
        let mut warnings = Vec::new();
        if parameters.components.is_some() && gaussians.len() < asked {
            warnings.push(format!(
                "{asked} components were asked for, but only {} were found: the points of positive weight have no more distinct positions, \
                 or a component was left without rows",
                gaussians.len()
            ));
        }
        if !is_converged {
            warnings.push(format!(
                "the fit was ended after {} passes, the most allowed, with likelihood still to gain",
                ascent.len()
            ));
        }
        if parameters.regularisation > 0.0 {
            let narrow = gaussians.widths(clouds).iter().filter(|&&width| width < COLLAPSED).count();
            if narrow > 0 && gaussians.covariance == Covariance::Tied {
                warnings.push(
                    "the common covariance has a direction in which only the regularisation keeps it wide: columns may depend on each other"
                        .to_string(),
                );
            } else if narrow > 0 {
                warnings.push(format!(
                    "{narrow} of {} components have a direction in which only the regularisation keeps them wide: the likelihood says little; \
                     rows may be equal, or columns depend on each other",
                    gaussians.len()
                ));
            }
        }
        let effective = rows.total_weight * rows.units.weight;
        if criteria.free_parameters as f64 >= effective {
            warnings.push(format!(
                "the mixture has {} free numbers, and the weights of the rows add up to {effective}: it describes these rows rather than what they were drawn from",
                criteria.free_parameters
            ));
        }
        if table.empty_rows > 0 {
            warnings.push(format!(
                "{} of the rows have no value at all: they count for nothing, and are given the heaviest component",
                table.empty_rows
            ));
        }
        if matches!(gaussians.covariance, Covariance::Tied | Covariance::Full) {
            let apart = table.patterns.as_ref().map(Patterns::never_together).unwrap_or_default();
            if let [(i, j), more @ ..] = &apart[..] {
                let names = table.input.columns();
                let also = if more.is_empty() { String::new() } else { format!(" (and of {} more pairs)", more.len()) };
                warnings.push(format!(
                    "no row has both {} and {}{also}: nothing in the rows says how they vary together within a component",
                    names[*i], names[*j]
                ));
            }
        }
        let tried = state.candidates.len();
        if parameters.components.is_none()
            && tried > 1
            && state.candidates[tried - 1].criteria.bic == criteria.bic
            && state.candidates[tried - 1].components == state.candidates[tried - 1].asked
        {
            warnings.push(format!(
                "BIC is still falling at {} components, the most that were tried: there may be more",
                gaussians.len()
            ));
        }
        Model {
            mixture: Mixture::from_gaussians(in_input_units(rows, &gaussians)),
            labels,
            probabilities,
            log_densities,
            criteria,
            candidates: state.candidates,
            ascent: ascent.iter().map(|objective| objective - unit).collect(),
            is_converged,
            sweeps: state.sweeps,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}
