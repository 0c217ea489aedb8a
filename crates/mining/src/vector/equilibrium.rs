//! The fixed point of soft assignment at one temperature, without cooling.

use super::components::{Components, Mode};
use super::system::VectorSystem;
use crate::Error;
use crate::anneal::System;
use crate::round::{Execution, Program, Rounds, drive};
use crate::rows::{Cost, FARTHEST, Input, Rows};

/// The state to start from.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The initial centres: K x D, row-major, in the unit of the points. The initial priors are equal.
    pub centers: &'a [f64],
    /// Whether masses are learnt.
    pub mode: Mode,
    /// The cost of a row in a centre. With [`Cost::Bernoulli`], rows are bits, centres are frequencies from 0 to 1, and
    /// all costs are in nats instead of squared units.
    pub cost: Cost,
    /// The temperature, in the squared unit of the points ("full" convention); above 0.
    pub temperature: f64,
    /// Passes end when no centre's squared move exceeds this share of the temperature, or after `most_sweeps` passes.
    /// Above 0.
    pub tolerance: f64,
    /// The maximum number of passes over the points.
    pub most_sweeps: u64,
}

/// A fixed point. The centres are in the order of the start, and are never divided or merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The centres: K x D, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// The share of the weight in each centre; the shares add up to 1.
    pub masses: Vec<f64>,
    /// The free energy per unit of weight, in the squared unit of the points.
    pub free_energy: f64,
    /// The free energy before each sweep. It never rises.
    pub free_energies: Vec<f64>,
    /// The weighted mean of squared distances under the memberships.
    pub mean_cost: f64,
    /// The temperature below which each centre divides.
    pub critical_temperatures: Vec<f64>,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

impl Equilibrium {
    /// Returns, in nats, the mutual information of rows and centres in mass mode, and minus the entropy of the
    /// memberships in plain mode.
    pub fn information(&self, temperature: f64) -> f64 {
        (self.free_energy - self.mean_cost) / temperature
    }
}

/// Iterates to the fixed point at one temperature, in double precision.
///
/// Source: paper 004 eq. (1)-(3). Cost: N x K exponentials for each pass.
///
/// # Errors
/// Returns [`Error::Parameter`] if a number is out of its range or if shapes disagree, and [`Error::TooFar`].
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, vector::{Cost, Mode, Start, equilibrium}};
/// // Two points, two centres: below T = 2 the centres are at plus and minus m with m = tanh(2 m / T).
/// let points = Points::new(vec![1.0, -1.0], 1)?;
/// let start = Start {
///     centers: &[0.5, -0.5],
///     mode: Mode::Mass,
///     cost: Cost::Squared,
///     temperature: 1.0,
///     tolerance: 1e-24,
///     most_sweeps: 1000,
/// };
/// let found = equilibrium(&points, &start, &Execution::default())?;
/// assert!((found.centers[0] - 0.957504024).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equilibrium<'a>(
    input: impl Into<Input<'a>>,
    start: &Start<'_>,
    execution: &Execution,
) -> Result<Equilibrium, Error> {
    let input = input.into();
    let dimension = input.dimension();
    let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
    if start.centers.is_empty() || !start.centers.len().is_multiple_of(dimension) {
        return wrong("centers", "rows as long as the points", format!("{} numbers", start.centers.len()));
    }
    if !start.centers.iter().all(|y| y.is_finite()) {
        return wrong("centers", "finite numbers", "one that is not".into());
    }
    for (name, value) in [("temperature", start.temperature), ("tolerance", start.tolerance)] {
        if !(value.is_finite() && value > 0.0) {
            return wrong(name, "a positive number", value.to_string());
        }
    }
    start.cost.check(input)?;
    if !start.cost.is_squared() && !start.centers.iter().all(|y| (0.0..=1.0).contains(y)) {
        return wrong("centers", "frequencies, 0 to 1", "one that is not".into());
    }
    let rows = Rows::<f64>::on_threads(input, start.cost, 1)?;
    if !(start.temperature / rows.units.squared(1.0)).is_normal() {
        return wrong(
            "temperature",
            "a temperature within the range of numbers of the points' squared distances",
            start.temperature.to_string(),
        );
    }
    let centers: Vec<f64> = start
        .centers
        .chunks_exact(dimension)
        .flat_map(|y| {
            y.iter().zip(&rows.units.origin).map(|(y, zero)| (y - zero) / rows.units.length).collect::<Vec<_>>()
        })
        .collect();
    if !centers.iter().all(|y| y.abs() < FARTHEST) {
        return wrong(
            "centers",
            "centres within the range of numbers of the points' distances",
            "one beyond it".into(),
        );
    }
    let components = Components::at(dimension, centers);
    let fixed = FixedPoint { rows: &rows, components, start: start.clone() };
    drive(execution, rows.dealt, &fixed)
}

struct FixedPoint<'a> {
    rows: &'a Rows<f64>,
    components: Components,
    start: Start<'a>,
}

impl Program for FixedPoint<'_> {
    type Output = Equilibrium;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Equilibrium, Error> {
        let rows = self.rows;
        let temperature = self.start.temperature / rows.units.squared(1.0);
        let mut system = VectorSystem::new(rows, self.components.clone(), self.start.mode, 0);
        let mut free_energies = Vec::new();
        let mut converged = false;
        for _ in 0..self.start.most_sweeps {
            let (free_energy, moved) = system.sweep(rounds, temperature).await?;
            free_energies.push(rows.units.squared(free_energy));
            if moved <= self.start.tolerance * temperature {
                converged = true;
                break;
            }
        }
        let measured = system.measure(rounds, temperature).await?;
        let components = &system.components;
        Ok(Equilibrium {
            centers: (0..components.len()).flat_map(|k| rows.units.position(components.center(k))).collect(),
            masses: components.priors.clone(),
            free_energy: rows.units.squared(measured.free_energy),
            free_energies,
            mean_cost: rows.units.squared(measured.mean_cost),
            critical_temperatures: measured.critical.iter().map(|&critical| rows.units.squared(critical)).collect(),
            converged,
        })
    }
}
