//! Vectors as a system that can be annealed: relaxation is EM, stability is the leading eigenvalue of a covariance.

use lehr_numerics::factor::{leading_eigenpair, orient};
use lehr_numerics::random::Stream;
use lehr_numerics::soft::Sums;
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::components::{Components, Mode};
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
        let moved = update(&mut self.components, sums, whole);
        Ok((self.total[0] / self.rows.total_weight, moved))
    }

    /// Twice the leading eigenvalue of the covariance of all rows: below it one component is unstable.
    pub async fn first_critical_temperature<R: Rounds>(&mut self, rounds: &mut R) -> Result<f64, Error> {
        // One component takes all of every row whatever the temperature.
        let dimension = self.rows.dimension;
        if dimension <= LARGEST_FORMED {
            let mut total = std::mem::take(&mut self.total);
            total_of(rounds, &CovarianceRound { rows: self.rows }, &mut total).await?;
            let matrix: Vec<f64> = total.iter().map(|sum| sum / self.rows.total_weight).collect();
            self.total = total;
            return Ok(leading_eigenpair(dimension, &matrix).map_or(0.0, |(value, _)| 2.0 * value.max(0.0)));
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

    /// Leading eigenvalues by power iteration over the rows, never forming a covariance.
    async fn power<R: Rounds>(&mut self, rounds: &mut R, temperature: f64, masses: &[f64]) -> Result<u64, Error> {
        let (dimension, clusters) = (self.rows.dimension, self.components.len());
        if self.components.directions.len() != clusters * dimension {
            let stream = Stream::new(self.seed, "power iteration");
            self.components.directions = (0..clusters * dimension).map(|index| stream.normal(index as u64)).collect();
            self.components.directions.chunks_exact_mut(dimension).for_each(normalise);
        }
        let mut values = vec![0.0f64; clusters];
        let mut steps = 0;
        loop {
            self.pass(rounds, temperature, Sums::Along).await?;
            steps += 1;
            let mut change = 0.0f64;
            let sums = &self.total[totals(self.sponge.is_some())..];
            for (k, sums) in sums.chunks_exact(1 + dimension).enumerate() {
                let direction = &mut self.components.directions[k * dimension..][..dimension];
                let y = &self.components.centers[k * dimension..][..dimension];
                // sum w m p (x - y) / mass: the covariance times the direction.
                let product: Vec<f64> = sums[1..]
                    .iter()
                    .zip(y)
                    .map(|(sum, y)| (sum - sums[0] * y) / masses[k].max(f64::MIN_POSITIVE))
                    .collect();
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
        self.stability = values
            .iter()
            .zip(self.components.directions.chunks_exact_mut(dimension))
            .map(|(value, direction)| {
                orient(direction);
                Stability { critical_temperature: 2.0 * value.max(0.0), direction: direction.to_vec() }
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
            // EM cannot raise the free energy; rounding can, by its own size (of the rows' precision).
            debug_assert!(
                free_energy <= last + 64.0 * T::EPSILON * last.abs().max(temperature).max(1.0),
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
        if dimension <= DIRECT_DIMENSION {
            self.pass(rounds, temperature, Sums::Second).await?;
            (self.stability, cost) = stabilities(dimension, self.sums());
            (measured.free_energy, measured.softness) = (self.total[0] / weight, self.total[1] / weight);
            soaked = self.soaked().0;
        } else {
            self.pass(rounds, temperature, Sums::First).await?;
            (measured.free_energy, measured.softness) = (self.total[0] / weight, self.total[1] / weight);
            let sums = || self.sums().chunks_exact(1 + dimension);
            // sum w m |x - y|^2 = sum w |x|^2 - 2 sum y . S + sum C |y|^2
            cost = self.soaked().1
                + sums()
                    .zip(self.components.centers.chunks_exact(dimension))
                    .map(|(sums, y)| sums[1..].iter().zip(y).map(|(s, y)| (sums[0] * y - 2.0 * s) * y).sum::<f64>())
                    .sum::<f64>();
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
        self.components.merge(MERGE_RADIUS * temperature, MERGED_HOLD * temperature)
    }

    fn hold_until(&self, component: usize) -> f64 {
        self.components.hold_until[component]
    }

    fn divide(&mut self, component: usize, temperature: f64) {
        let stability = &self.stability[component];
        let deviation = (stability.critical_temperature / 2.0).sqrt();
        let imbalance = 1e-6 * (0.5 + Stream::new(self.seed, "division").uniform(self.components.len() as u64));
        self.components.divide(
            component,
            &stability.direction,
            DISPLACEMENT * deviation,
            imbalance,
            CHILD_HOLD * temperature,
        );
    }
}
