//! Vectors as a system that can be annealed: relaxation is EM, stability is the leading eigenvalue of a covariance.

use lehr_numerics::factor::{leading_eigenpair, orient};
use lehr_numerics::random::Stream;
use lehr_numerics::soft::Sums;
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::bernoulli::{apart, displacement, form};
use super::components::{Components, Mode, squared};
use super::e_step::{CovarianceRound, Kept, SideBySide, SoftRound, log_priors, totals};
use super::m_step::{Stability, stabilities, update};
use super::rows::Rows;
use super::sponge::Sponge;
use crate::Error;
use crate::anneal::split::{CHILD_HOLD, MERGED_HOLD};
use crate::anneal::{Measured, Relaxed, System};
use crate::round::{Rounds, total_of};

/// Sweeps of one relaxation. Reaching it is no error: just below a transition thousands would be needed, and the next temperature is better.
const MOST_SWEEPS: u64 = 500;
/// Components whose squared distance is below this share of the temperature are copies of one.
const MERGE_RADIUS: f64 = 1e-3;
/// Displacement of a divided component, in standard deviations along its direction.
const DISPLACEMENT: f64 = 0.1;
/// Components lighter than this share of the whole do not divide.
const LEAST_DIVIDED: f64 = 1e-9;
/// Power iteration in many dimensions: relative change of the eigenvalue, and the most steps at one temperature. It goes on from where the last temperature left it.
const POWER_TOLERANCE: f64 = 1e-4;
const POWER_STEPS: u64 = 40;
/// Length of what is added to each direction before power iteration goes on. A direction that has become one eigenvector to the last digit, as it does where
/// the data are symmetric, would otherwise stay there when another eigenvalue has become the largest, and the division would be missed.
const KICK: f64 = 0.02;

/// The covariance of all rows is formed up to this dimension.
const LARGEST_FORMED: usize = 64;
/// Runs of power iteration for the first critical temperature beyond it.
const POWER_RUNS: usize = 20;

/// Vectors, their components and the room to work on them.
pub(crate) struct VectorSystem<'a, T: Kept> {
    pub rows: &'a Rows<T>,
    pub components: Components,
    pub mode: Mode,
    pub seed: u64,
    /// Takes what no component is near to.
    pub sponge: Option<Sponge>,
    pub total: Vec<f64>,
    log_priors: Vec<f64>,
    side_by_side: SideBySide<T>,
    stability: Vec<Stability>,
}

impl<'a, T: Kept> VectorSystem<'a, T> {
    pub fn new(rows: &'a Rows<T>, components: Components, mode: Mode, seed: u64) -> Self {
        Self {
            rows,
            components,
            mode,
            seed,
            sponge: None,
            total: Vec::new(),
            log_priors: Vec::new(),
            side_by_side: SideBySide::default(),
            stability: Vec::new(),
        }
    }

    fn round(&self, temperature: f64, sums: Sums) -> SoftRound<'_, T> {
        let (components, log_priors, side_by_side) = (&self.components, &self.log_priors[..], &self.side_by_side);
        let sponge = self.sponge_score(temperature);
        SoftRound { rows: self.rows, components, log_priors, side_by_side, temperature, sums, sponge }
    }

    fn sponge_score(&self, temperature: f64) -> Option<f64> {
        self.sponge.map(|sponge| sponge.score(self.mode, temperature))
    }

    /// The sums of the components in `total`.
    fn sums(&self) -> &[f64] {
        &self.total[totals(self.sponge.is_some())..]
    }

    /// After a pass: the weight in the sponge, and `sum w |x|^2` of the rest.
    fn soaked(&self) -> (f64, f64) {
        if self.sponge.is_some() { (self.total[2], self.total[3]) } else { (0.0, self.rows.square) }
    }

    /// One pass that moves nothing; the sums are left in `total`.
    async fn pass<R: Rounds>(&mut self, rounds: &mut R, temperature: f64, sums: Sums) -> Result<(), Error> {
        let whole = self.sponge.map_or(1.0, |sponge| sponge.rest());
        log_priors(&self.components, self.mode, whole, &mut self.log_priors);
        let sponge = self.sponge_score(temperature);
        self.side_by_side.prepare(self.rows, &self.components, &self.log_priors, temperature, sums, sponge);
        let mut total = std::mem::take(&mut self.total);
        let round = self.round(temperature, sums);
        total_of(rounds, &round, &mut total).await?;
        round.settle(&mut total);
        self.total = total;
        Ok(())
    }

    /// One sweep of EM: returns the free energy before it and the largest squared move.
    pub async fn sweep<R: Rounds>(&mut self, rounds: &mut R, temperature: f64) -> Result<(f64, f64), Error> {
        self.pass(rounds, temperature, Sums::First).await?;
        let whole = self.rows.total_weight - self.soaked().0;
        let sums = &self.total[totals(self.sponge.is_some())..];
        let penalty = self.rows.penalty(&self.components.centers);
        let moved = update(&mut self.components, sums, whole, self.rows.bernoulli);
        Ok(((self.total[0] + penalty) / self.rows.total_weight, moved))
    }

    /// The temperature below which one component is unstable: of squared distances twice the leading eigenvalue of the covariance of all rows, of Bernoulli costs that of their correlations.
    pub async fn first_critical_temperature<R: Rounds>(&mut self, rounds: &mut R) -> Result<f64, Error> {
        // One component takes all of every row whatever the temperature.
        let dimension = self.rows.dimension;
        if dimension <= LARGEST_FORMED {
            let mut total = std::mem::take(&mut self.total);
            total_of(rounds, &CovarianceRound { rows: self.rows }, &mut total).await?;
            let mut matrix: Vec<f64> = total.iter().map(|sum| sum / self.rows.total_weight).collect();
            self.total = total;
            self.whiten(&mut matrix);
            let value = leading_eigenpair(dimension, &matrix).map_or(0.0, |(value, _)| value.max(0.0));
            return Ok(self.critical_temperature(value, self.rows.total_weight));
        }
        let mass = self.rows.total_weight;
        let mut critical = 0.0;
        for _ in 0..POWER_RUNS {
            self.power(rounds, 1.0, &[mass]).await?;
            let next = self.stability[0].critical_temperature;
            let change = (next - critical).abs();
            critical = next;
            if change <= 1e-10 * critical {
                break;
            }
        }
        Ok(critical)
    }

    /// The temperature below which a component of this mass divides, from the leading eigenvalue of its covariance, which of Bernoulli costs is in the units of its frame.
    fn critical_temperature(&self, eigenvalue: f64, mass: f64) -> f64 {
        let value = eigenvalue.max(0.0);
        self.rows.bernoulli.map_or(2.0 * value, |bernoulli| bernoulli.critical_temperature(value, mass))
    }

    /// Makes of the second moments of all rows of bits their covariance in the units of the frame; of others they are what they should be.
    fn whiten(&self, moments: &mut [f64]) {
        let Some(bernoulli) = self.rows.bernoulli else { return };
        let dimension = self.rows.dimension;
        let units = bernoulli.frame(self.components.center(0), self.rows.total_weight).1;
        // The square of a bit is the bit.
        let means: Vec<f64> = (0..dimension).map(|j| moments[j * dimension + j]).collect();
        for i in 0..dimension {
            for j in 0..=i {
                let moment = &mut moments[i * dimension + j];
                let unit = units[i] * units[j];
                *moment = if unit > 0.0 { (*moment - means[i] * means[j]) / unit } else { 0.0 };
            }
        }
    }

    /// For each component where its stability is asked, and the unit of each column (K x 2 x D); nothing of squared distances.
    fn frames(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let Some(bernoulli) = self.rows.bernoulli else { return Vec::new() };
        let components = &self.components;
        let frame = |k: usize| bernoulli.frame(components.center(k), components.priors[k] * self.rows.total_weight);
        (0..components.len()).map(frame).collect()
    }

    /// Leading eigenvalues by power iteration over the rows, never forming a covariance.
    async fn power<R: Rounds>(&mut self, rounds: &mut R, temperature: f64, masses: &[f64]) -> Result<u64, Error> {
        let (dimension, clusters) = (self.rows.dimension, self.components.len());
        if self.components.directions.len() != clusters * dimension {
            let stream = Stream::new(self.seed, "power iteration");
            self.components.directions = (0..clusters * dimension).map(|index| stream.normal(index as u64)).collect();
            self.components.directions.chunks_exact_mut(dimension).for_each(normalise);
        }
        let mut values = vec![0.0f64; clusters];
        let frames = self.frames();
        let mut steps = 0;
        loop {
            self.pass(rounds, temperature, Sums::Along).await?;
            steps += 1;
            let mut change = 0.0f64;
            let sums = &self.total[totals(self.sponge.is_some())..];
            for (k, sums) in sums.chunks_exact(1 + dimension).enumerate() {
                let direction = &mut self.components.directions[k * dimension..][..dimension];
                let y = match frames.get(k) {
                    Some((means, _)) => &means[..],
                    None => &self.components.centers[k * dimension..][..dimension],
                };
                // sum w m p (x - y) / mass: the covariance times the direction.
                let mut product: Vec<f64> = sums[1..]
                    .iter()
                    .zip(y)
                    .map(|(sum, y)| (sum - sums[0] * y) / masses[k].max(f64::MIN_POSITIVE))
                    .collect();
                if let Some((_, units)) = frames.get(k) {
                    let columns = product.iter_mut().zip(units);
                    columns.for_each(|(x, unit)| *x = if *unit > 0.0 { *x / unit } else { 0.0 });
                }
                let value: f64 = product.iter().zip(direction.iter()).map(|(a, b)| a * b).sum();
                change = change.max((value - values[k]).abs() / value.abs().max(f64::MIN_POSITIVE));
                values[k] = value;
                if product.iter().map(|a| a * a).sum::<f64>() > 0.0 {
                    direction.copy_from_slice(&product);
                    normalise(direction);
                }
            }
            if steps >= POWER_STEPS || (steps > 1 && change < POWER_TOLERANCE) {
                break;
            }
        }
        let critical: Vec<f64> =
            values.iter().zip(masses).map(|(&value, &mass)| self.critical_temperature(value, mass)).collect();
        self.stability = critical
            .into_iter()
            .zip(self.components.directions.chunks_exact_mut(dimension))
            .map(|(critical_temperature, direction)| {
                orient(direction);
                Stability { critical_temperature, direction: direction.to_vec() }
            })
            .collect();
        Ok(steps)
    }
}

impl<T: Kept> VectorSystem<'_, T> {
    /// Adds to each direction a vector of length [`KICK`] whose coordinates differ by random signs only: no axis is orthogonal to it.
    fn kick(&mut self) {
        let dimension = self.rows.dimension;
        let size = KICK / (dimension as f64).sqrt();
        let stream = Stream::new(self.seed, "power iteration kick");
        let words = dimension.div_ceil(64);
        for (k, direction) in self.components.directions.chunks_exact_mut(dimension).enumerate() {
            for (word, part) in direction.chunks_mut(64).enumerate() {
                let signs = stream.bits((k * words + word) as u64);
                for (bit, x) in part.iter_mut().enumerate() {
                    *x += if signs >> bit & 1 == 0 { size } else { -size };
                }
            }
            normalise(direction);
        }
    }
}

fn normalise(vector: &mut [f64]) {
    let length = vector.iter().map(|a| a * a).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|a| *a /= length.max(f64::MIN_POSITIVE));
}

impl<T: Kept> System for VectorSystem<'_, T> {
    fn components(&self) -> usize {
        self.components.len()
    }

    async fn relax<R: Rounds>(&mut self, rounds: &mut R, temperature: f64, tolerance: f64) -> Result<Relaxed, Error> {
        let mut sweeps = 0;
        let mut last = f64::INFINITY;
        loop {
            let (free_energy, moved) = self.sweep(rounds, temperature).await?;
            sweeps += 1;
            // EM cannot raise the free energy; rounding can, by its own size (of the rows' precision). A Bernoulli cost is what is left of up to some tens of nats a column.
            let size = if self.rows.bernoulli.is_some() { self.rows.dimension as f64 } else { 1.0 };
            debug_assert!(
                free_energy <= last + 64.0 * T::EPSILON * last.abs().max(temperature).max(size),
                "the free energy rose from {last} to {free_energy} at temperature {temperature}"
            );
            last = free_energy;
            let largest_move = moved / temperature;
            if largest_move <= tolerance || sweeps >= MOST_SWEEPS {
                return Ok(Relaxed { sweeps, largest_move });
            }
        }
    }

    async fn measure<R: Rounds>(&mut self, rounds: &mut R, temperature: f64) -> Result<Measured, Error> {
        let (dimension, weight) = (self.rows.dimension, self.rows.total_weight);
        let mut measured = Measured { sweeps: 1, ..Measured::default() };
        let (cost, soaked);
        if dimension <= DIRECT_DIMENSION && self.rows.bernoulli.is_none() {
            self.pass(rounds, temperature, Sums::Second).await?;
            (self.stability, cost) = stabilities(dimension, self.sums());
            (measured.free_energy, measured.softness) = (self.total[0] / weight, self.total[1] / weight);
            soaked = self.soaked().0;
        } else {
            self.pass(rounds, temperature, Sums::First).await?;
            (measured.free_energy, measured.softness) = (self.total[0] / weight, self.total[1] / weight);
            let sums = || self.sums().chunks_exact(1 + dimension);
            let centers = self.components.centers.chunks_exact(dimension);
            if self.rows.bernoulli.is_some() {
                let cost_of = |(sums, y): (&[f64], &[f64])| {
                    let (constant, terms) = form(y);
                    constant * sums[0] + sums[1..].iter().zip(terms).map(|(s, term)| s * term).sum::<f64>()
                };
                let penalty = self.rows.penalty(&self.components.centers);
                measured.free_energy += penalty / weight;
                cost = penalty + sums().zip(centers).map(cost_of).sum::<f64>();
            } else {
                // sum w m |x - y|^2 = sum w |x|^2 - 2 sum y . S + sum C |y|^2
                cost = self.soaked().1
                    + sums()
                        .zip(centers)
                        .map(|(sums, y)| sums[1..].iter().zip(y).map(|(s, y)| (sums[0] * y - 2.0 * s) * y).sum::<f64>())
                        .sum::<f64>();
            }
            let masses: Vec<f64> = sums().map(|sums| sums[0]).collect();
            soaked = self.soaked().0;
            self.kick();
            measured.sweeps += self.power(rounds, temperature, &masses).await?;
        }
        // In many dimensions it is a difference, which rounding may take below 0.
        let of_sponge = self.sponge.map_or(0.0, |sponge| soaked * sponge.cost);
        measured.mean_cost = (cost.max(0.0) + of_sponge) / weight;
        measured.sponge = soaked / weight;
        measured.critical = self
            .stability
            .iter()
            .zip(&self.components.priors)
            .map(|(stability, &prior)| if prior > LEAST_DIVIDED { stability.critical_temperature } else { 0.0 })
            .collect();
        Ok(measured)
    }

    fn merge(&mut self, temperature: f64) -> usize {
        // In plain mode two copies pull twice as hard as one: merging them would change the fixed point.
        if self.mode == Mode::Plain {
            return 0;
        }
        let (radius, hold_until) = (MERGE_RADIUS * temperature, MERGED_HOLD * temperature);
        if self.rows.bernoulli.is_none() {
            return self.components.merge(radius, hold_until, squared);
        }
        self.components.merge(radius, hold_until, apart) + self.components.drop_lighter(LEAST_DIVIDED, hold_until)
    }

    fn hold_until(&self, component: usize) -> f64 {
        self.components.hold_until[component]
    }

    fn divide(&mut self, component: usize, temperature: f64) {
        let stability = &self.stability[component];
        let imbalance = 1e-6 * (0.5 + Stream::new(self.seed, "division").uniform(self.components.len() as u64));
        if self.rows.bernoulli.is_some() {
            let deviations = DISPLACEMENT * stability.critical_temperature.sqrt();
            let moved = displacement(self.components.center(component), &stability.direction, deviations);
            return self.components.divide(component, &moved, 1.0, imbalance, CHILD_HOLD * temperature);
        }
        let deviation = (stability.critical_temperature / 2.0).sqrt();
        self.components.divide(
            component,
            &stability.direction,
            DISPLACEMENT * deviation,
            imbalance,
            CHILD_HOLD * temperature,
        );
    }
}
