//! The fixed point of the mean field at one temperature, without cooling.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_numerics::lanes::Real;

use super::field::{Problem, soften};
use super::system::{Components, PairwiseSystem};
use crate::Error;
use crate::gather::Side;
use crate::matrix::Opened;
use crate::round::{Execution, Program, Rounds, drive};
use crate::vector::Mode;

/// The state to start from.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// One item for each component, counted from 0. The first memberships follow from the dissimilarities to these
    /// items.
    pub items: &'a [usize],
    /// Whether masses are learnt.
    pub mode: Mode,
    /// The temperature, in the unit of the dissimilarities ("full" convention); above 0.
    pub temperature: f64,
    /// Sweeps end when no field changes by more than this share of the temperature, or after `most_sweeps`. Above 0.
    pub tolerance: f64,
    /// The maximum number of sweeps.
    pub most_sweeps: u64,
}

/// A fixed point. The components are in the order of the start, and are never divided or merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The memberships, N x K. The memberships of each item add up to 1.
    pub memberships: Vec<f64>,
    /// The fields eps, N x K: for squared Euclidean distances, the squared distances to the components' means.
    pub fields: Vec<f64>,
    /// The share of the weight in each component; the shares add up to 1.
    pub masses: Vec<f64>,
    /// The mean dissimilarity of two members, for each component.
    pub means_within: Vec<f64>,
    /// The free energy per unit of weight.
    pub free_energy: f64,
    /// The free energy before each sweep. For squared distances, it never rises.
    pub free_energies: Vec<f64>,
    /// The mean of the field under the memberships.
    pub mean_cost: f64,
    /// The temperature below which each component divides.
    pub critical_temperatures: Vec<f64>,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// Whether sweeps were damped because they oscillated.
    pub is_damped: bool,
}

/// Iterates to the fixed point at one temperature.
///
/// Source: Hofmann and Buhmann 1997. Cost: one pass over the matrix for each sweep.
///
/// # Errors
/// Returns [`Error::Parameter`] if a number is out of its range. For invalid weights, and if too few pairs are known,
/// returns the same errors as [`super::cluster`].
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::{Execution, pairwise::{Start, equilibrium}, vector::Mode};
/// // Two points at 1 and -1: the squared distance is 4, and below T = 2 fields are those of centres at +-m with m = tanh(2 m / T).
/// let matrix = Dissimilarities::new(2, Form::Condensed, Values::F64(vec![4.0]), 1.0)?;
/// let start = Start { items: &[0, 1], mode: Mode::Mass, temperature: 1.0, tolerance: 1e-13, most_sweeps: 1000 };
/// let found = equilibrium(&matrix, None, &start, &Execution::default())?;
/// let m: f64 = 0.957504024;
/// assert!((found.fields[0] - (1.0 - m).powi(2)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equilibrium(
    matrix: &Dissimilarities,
    weights: Option<&[f64]>,
    start: &Start<'_>,
    execution: &Execution,
) -> Result<Equilibrium, Error> {
    let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
    for (name, value) in [("temperature", start.temperature), ("tolerance", start.tolerance)] {
        if !(value.is_finite() && value > 0.0) {
            return wrong(name, "a positive number", value.to_string());
        }
    }
    if start.items.is_empty() || start.items.iter().any(|&item| item >= matrix.items()) {
        return wrong("items", "at least one item, counted from 0", format!("{:?} of {}", start.items, matrix.items()));
    }
    match Opened::new(matrix)? {
        Opened::Double(matrix) => run(Problem::new(matrix, weights)?, start, execution),
        Opened::Single(matrix) => run(Problem::new(matrix, weights)?, start, execution),
    }
}

fn run<T: Real>(problem: Problem<'_, T>, start: &Start<'_>, execution: &Execution) -> Result<Equilibrium, Error> {
    let count = start.items.len();
    let temperature = start.temperature / problem.matrix.unit;
    let mut memberships = vec![0.0; problem.items() * count];
    for (item, row) in memberships.chunks_exact_mut(count).enumerate() {
        let mean = problem.matrix.survey.mean / problem.matrix.unit;
        let eps: Vec<f64> = start.items.iter().map(|&other| problem.matrix.get(item, other).unwrap_or(mean)).collect();
        soften(&eps, &vec![0.0; count], temperature, row);
    }
    let fixed = FixedPoint { problem: &problem, memberships, temperature, start: start.clone() };
    drive(execution, problem.items(), &fixed)
}

struct FixedPoint<'a, 'm, T: Real> {
    problem: &'a Problem<'m, T>,
    memberships: Vec<f64>,
    temperature: f64,
    start: Start<'a>,
}

impl<T: Real> Program for FixedPoint<'_, '_, T> {
    type Output = Equilibrium;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Equilibrium, Error> {
        let (problem, count, unit) = (self.problem, self.start.items.len(), self.problem.matrix.unit);
        let components = Components {
            count,
            memberships: self.memberships.clone(),
            hold_until: vec![f64::MAX; count],
            vectors: Vec::new(),
            is_damped: false,
        };
        let by_mass = self.start.mode == Mode::Mass;
        let mut turn = Side::default();
        let mut system = PairwiseSystem::new(problem, components, by_mass, 0, &mut turn);
        let (mut free_energies, mut converged, mut rises) = (Vec::new(), false, 0);
        for sweep in 0..self.start.most_sweeps {
            let (figures, _) = system.sweep(rounds, self.temperature, usize::from(sweep > 0)).await?;
            let (free_energy, change) = (figures.free_energy, figures.largest_change);
            rises += usize::from(
                free_energies.last().is_some_and(|last: &f64| free_energy * unit > last + 1e-9 * last.abs()),
            );
            system.components.is_damped |= rises >= 2;
            free_energies.push(free_energy * unit);
            if change <= self.start.tolerance * self.temperature {
                converged = true;
                break;
            }
        }
        let mut fields = Vec::new();
        let (means, measured) = system.fields(rounds, self.temperature, &mut fields).await?;
        let (critical, _) = system.critical(rounds, &means, &fields).await?;
        for row in fields.chunks_exact_mut(count) {
            row.iter_mut().zip(&means.own).for_each(|(mean, own)| *mean = (*mean + own) * unit);
        }
        let components = system.components;
        Ok(Equilibrium {
            memberships: components.memberships,
            fields,
            masses: means.masses.iter().map(|mass| mass / problem.total_weight).collect(),
            means_within: means.own.iter().map(|own| -2.0 * own * unit).collect(),
            free_energy: measured.free_energy * unit,
            free_energies,
            mean_cost: measured.mean_cost * unit,
            critical_temperatures: critical.iter().map(|critical| critical * unit).collect(),
            converged,
            is_damped: components.is_damped,
        })
    }
}
