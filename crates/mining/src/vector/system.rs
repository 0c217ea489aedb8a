//! Vectors as a system for the annealing loop: EM relaxes the system, and the leading eigenvalue of a covariance
//! decides whether a component is stable.

use std::ops::RangeInclusive;

use lehr_numerics::factor::{leading_eigenpair, orient};
use lehr_numerics::random::Stream;
use lehr_numerics::soft::Sums;
use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::components::{Components, Mode, squared};
use super::e_step::{SideBySide, SoftRound, log_priors, totals};
use super::m_step::{Stability, stabilities, update};
use crate::Error;
use crate::anneal::climb::{Climb, unit};
use crate::anneal::split::{CHILD_HOLD, MERGED_HOLD};
use crate::anneal::{Measured, Relaxed, Removed, System};
use crate::lloyd::NoiseComponent;
use crate::round::{Rounds, total_of};
use crate::rows::bernoulli::{apart, displacement, form};
use crate::rows::{CovarianceRound, RowMajor, Rows, Scalar};

/// The maximum number of sweeps of one relaxation. Reaching this limit is not an error: just below a transition,
/// thousands of sweeps would be needed, and the next temperature converges faster.
const MOST_SWEEPS: u64 = 500;
/// Components count as copies if their squared distance is below this share of the temperature.
const MERGE_RADIUS: f64 = 1e-3;
/// The displacement of a divided component, in standard deviations along its direction.
const DISPLACEMENT: f64 = 0.1;
/// Components with less than this share of the weight do not divide.
const LEAST_DIVIDED: f64 = 1e-9;
/// In many dimensions, a division test ends when no eigenvalue has changed by more than this share.
const TOLERANCE: f64 = 1e-4;
/// The tolerance for a component that is stable down to half of the temperature, where only a rough value is needed.
const STABLE_TOLERANCE: f64 = 1e-3;
/// The minimum and the maximum number of passes of a division test. The minimum is enough to find a direction other
/// than the last direction.
const PASSES: RangeInclusive<u64> = 3..=40;
/// The search for the first critical temperature ends when the temperature changes by less than this share, or after
/// `FIRST_PASSES` passes. The share is at least the precision of the stored rows.
const FIRST_TOLERANCE: f64 = 1e-12;
const FIRST_PASSES: u64 = 400;
/// The length of the random vector that is added to each direction before it is used again. If the data are symmetric,
/// a direction may become an exact eigenvector. Without the random vector, it would stay one even if another eigenvalue
/// has become the largest, and a division would be missed.
const KICK: f64 = 0.02;

/// Up to this dimension, the covariance matrix of all rows is formed.
const LARGEST_FORMED: usize = 64;

/// Vectors, their components and working memory.
pub(crate) struct VectorSystem<'a, T: Scalar> {
    pub rows: &'a Rows<T>,
    pub components: Components,
    pub mode: Mode,
    pub seed: u64,
    /// Whether components may still divide. If not, their stability is not computed.
    pub is_growing: bool,
    /// The noise component, which takes the rows that are near no other component.
    pub sponge: Option<NoiseComponent>,
    pub total: Vec<f64>,
    log_priors: Vec<f64>,
    side_by_side: SideBySide<T>,
    stability: Vec<Stability>,
}

impl<'a, T: Scalar> VectorSystem<'a, T> {
    pub fn new(rows: &'a Rows<T>, components: Components, mode: Mode, seed: u64) -> Self {
        Self {
            rows,
            components,
            mode,
            seed,
            is_growing: true,
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
        self.sponge.map(|sponge| match self.mode {
            Mode::Mass => sponge.mass_score(temperature),
            Mode::Plain => sponge.plain_score(temperature),
        })
    }

    /// The sums of the components, in `total`.
    fn sums(&self) -> &[f64] {
        &self.total[totals(self.sponge.is_some())..]
    }

    /// Returns, after a pass, the weight of outliers and `sum w |x|^2` of the other rows.
    fn soaked(&self) -> (f64, f64) {
        if self.sponge.is_some() { (self.total[2], self.total[3]) } else { (0.0, self.rows.square) }
    }

    /// Makes a pass without moving components, and leaves the sums in `total`.
    async fn pass(&mut self, rounds: &mut dyn Rounds, temperature: f64, sums: Sums) -> Result<(), Error> {
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

    /// Makes one sweep of EM, and returns the free energy before it and the largest squared move.
    pub async fn sweep(&mut self, rounds: &mut dyn Rounds, temperature: f64) -> Result<(f64, f64), Error> {
        self.pass(rounds, temperature, Sums::First).await?;
        let whole = self.rows.total_weight - self.soaked().0;
        let sums = &self.total[totals(self.sponge.is_some())..];
        let penalty = self.rows.penalty(&self.components.centers);
        let moved = update(&mut self.components, sums, whole, self.rows.bernoulli);
        Ok(((self.total[0] + penalty) / self.rows.total_weight, moved))
    }

    /// The temperature below which a single component is unstable. For squared distances, it is twice the leading
    /// eigenvalue of the covariance of all rows; for Bernoulli costs, the leading eigenvalue of their correlations.
    pub async fn first_critical_temperature(&mut self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
        // A single component has membership 1 in every row, whatever the temperature.
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
        let masses = [self.rows.total_weight];
        let tolerance = FIRST_TOLERANCE.max(T::EPSILON);
        self.climb(rounds, 1.0, &masses, *PASSES.start()..=FIRST_PASSES, |_| tolerance).await?;
        Ok(self.stability[0].critical_temperature)
    }

    /// The temperature below which a component of this mass divides, from the leading eigenvalue of its covariance. For
    /// Bernoulli costs, the eigenvalue is in the units of the component's frame.
    fn critical_temperature(&self, eigenvalue: f64, mass: f64) -> f64 {
        let value = eigenvalue.max(0.0);
        self.rows.bernoulli.map_or(2.0 * value, |bernoulli| bernoulli.critical_temperature(value, mass))
    }

    /// Converts the second moments of all rows of bits to their covariance in the units of the frame; does nothing for
    /// other rows.
    fn whiten(&self, moments: &mut [f64]) {
        let Some(bernoulli) = self.rows.bernoulli else { return };
        let dimension = self.rows.dimension;
        let units = bernoulli.frame(self.components.center(0), self.rows.total_weight).1;
        // The square of a bit is the bit itself.
        let means: Vec<f64> = (0..dimension).map(|j| moments[j * dimension + j]).collect();
        for i in 0..dimension {
            for j in 0..=i {
                let moment = &mut moments[i * dimension + j];
                let unit = units[i] * units[j];
                *moment = if unit > 0.0 { (*moment - means[i] * means[j]) / unit } else { 0.0 };
            }
        }
    }

    /// For each component, its mean and the unit of each column (K x 2 x D); empty for squared distances.
    fn frames(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let Some(bernoulli) = self.rows.bernoulli else { return Vec::new() };
        let components = &self.components;
        let frame = |k: usize| bernoulli.frame(components.center(k), components.priors[k] * self.rows.total_weight);
        (0..components.len()).map(frame).collect()
    }

    /// Finds the stability of each component from products of its covariance with vectors, one for each pass, without
    /// forming a covariance. For a critical temperature, `tolerance` returns the relative change in the last step at
    /// which the climb may end. Returns the number of passes.
    async fn climb(
        &mut self,
        rounds: &mut dyn Rounds,
        temperature: f64,
        masses: &[f64],
        passes: RangeInclusive<u64>,
        tolerance: impl Fn(f64) -> f64,
    ) -> Result<u64, Error> {
        let (dimension, clusters) = (self.rows.dimension, self.components.len());
        if self.components.directions.len() != clusters * dimension {
            let stream = Stream::new(self.seed, "division directions");
            self.components.directions = (0..clusters * dimension).map(|index| stream.normal(index as u64)).collect();
            self.components.directions.chunks_exact_mut(dimension).for_each(unit);
        }
        let frames = self.frames();
        let mut climbs: Vec<Climb> = Vec::with_capacity(clusters);
        let mut made = 0;
        loop {
            self.pass(rounds, temperature, Sums::Along).await?;
            made += 1;
            for (k, &mass) in masses.iter().enumerate() {
                let image = self.image(k, mass, frames.get(k));
                let direction = self.components.direction(k).to_vec();
                match climbs.get_mut(k) {
                    None => climbs.push(Climb::begin(direction, image)),
                    Some(climb) => climb.take(direction, image),
                }
            }
            let is_done = climbs.iter().zip(masses).all(|(climb, &mass)| {
                climb.change <= tolerance(self.critical_temperature(climb.value, mass)) * climb.value.abs()
            });
            if made >= *passes.end() || (is_done && made >= *passes.start()) {
                break;
            }
            for (climb, direction) in climbs.iter().zip(self.components.directions.chunks_exact_mut(dimension)) {
                climb.residual(direction);
                unit(direction);
            }
        }
        let critical = climbs.iter().zip(masses).map(|(climb, &mass)| self.critical_temperature(climb.value, mass));
        let critical: Vec<f64> = critical.collect();
        let directions = self.components.directions.chunks_exact_mut(dimension);
        let found = critical.into_iter().zip(climbs.iter().zip(directions));
        let found = found.map(|(critical_temperature, (climb, direction))| {
            direction.copy_from_slice(climb.vector());
            orient(direction);
            Stability { critical_temperature, direction: direction.to_vec() }
        });
        self.stability = found.collect();
        Ok(made)
    }

    /// Returns, after a pass along the directions, a component's covariance times its direction, in the units of its
    /// frame if it has one.
    fn image(&self, k: usize, mass: f64, frame: Option<&(Vec<f64>, Vec<f64>)>) -> Vec<f64> {
        let sums = RowMajor::new(self.sums(), 1 + self.rows.dimension).row(k);
        let y = frame.map_or(self.components.center(k), |(means, _)| &means[..]);
        // The image is sum w m p (x - y) / mass; the first sum is sum w m p.
        let mass = mass.max(f64::MIN_POSITIVE);
        let mut image: Vec<f64> = sums[1..].iter().zip(y).map(|(sum, y)| (sum - sums[0] * y) / mass).collect();
        if let Some((_, units)) = frame {
            image.iter_mut().zip(units).for_each(|(x, unit)| *x = if *unit > 0.0 { *x / unit } else { 0.0 });
        }
        image
    }
}

impl<T: Scalar> VectorSystem<'_, T> {
    /// Adds to each direction a vector of length [`KICK`] whose coordinates differ only by random signs, so that the
    /// vector is orthogonal to no axis.
    fn kick(&mut self) {
        let dimension = self.rows.dimension;
        let size = KICK / (dimension as f64).sqrt();
        let stream = Stream::new(self.seed, "division directions kick");
        let words = dimension.div_ceil(64);
        for (k, direction) in self.components.directions.chunks_exact_mut(dimension).enumerate() {
            for (word, part) in direction.chunks_mut(64).enumerate() {
                let signs = stream.bits((k * words + word) as u64);
                for (bit, x) in part.iter_mut().enumerate() {
                    *x += if signs >> bit & 1 == 0 { size } else { -size };
                }
            }
            unit(direction);
        }
    }
}

impl<T: Scalar> System for VectorSystem<'_, T> {
    fn components(&self) -> usize {
        self.components.len()
    }

    async fn relax(&mut self, rounds: &mut dyn Rounds, temperature: f64, tolerance: f64) -> Result<Relaxed, Error> {
        let mut sweeps = 0;
        let mut last = f64::INFINITY;
        loop {
            let (free_energy, moved) = self.sweep(rounds, temperature).await?;
            sweeps += 1;
            // EM cannot raise the free energy, except by rounding errors in the rows' precision. A Bernoulli cost is
            // the difference of terms of up to tens of nats for each column.
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

    async fn measure(&mut self, rounds: &mut dyn Rounds, temperature: f64) -> Result<Measured, Error> {
        let (dimension, weight) = (self.rows.dimension, self.rows.total_weight);
        let mut measured = Measured { sweeps: 1, ..Measured::default() };
        let (cost, soaked);
        if self.is_growing && dimension <= DIRECT_DIMENSION && self.rows.bernoulli.is_none() {
            self.pass(rounds, temperature, Sums::Second).await?;
            let of_rows;
            (self.stability, of_rows) = stabilities(dimension, self.sums());
            cost = of_rows + self.rows.hidden.unwrap_or(0.0);
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
            if self.is_growing {
                self.kick();
                let tolerance = |critical: f64| if 2.0 * critical < temperature { STABLE_TOLERANCE } else { TOLERANCE };
                measured.sweeps += self.climb(rounds, temperature, &masses, PASSES, tolerance).await?;
            } else {
                self.stability.clear();
            }
        }
        measured.free_energy += self.rows.hidden.unwrap_or(0.0) / weight;
        // Without second moments, the cost is a difference, which rounding may make negative.
        let of_sponge = self.sponge.map_or(0.0, |sponge| soaked * sponge.cost);
        measured.mean_cost = (cost.max(0.0) + of_sponge) / weight;
        measured.sponge = soaked / weight;
        let critical = |(k, &prior): (usize, &f64)| match self.stability.get(k) {
            Some(stability) if prior > LEAST_DIVIDED => stability.critical_temperature,
            _ => 0.0,
        };
        measured.critical = self.components.priors.iter().enumerate().map(critical).collect();
        Ok(measured)
    }

    fn merge(&mut self, temperature: f64) -> Vec<Removed> {
        // With equal priors, two copies count twice as much as one, so merging them would change the fixed point.
        if self.mode == Mode::Plain {
            return Vec::new();
        }
        let (radius, hold_until) = (MERGE_RADIUS * temperature, MERGED_HOLD * temperature);
        if self.rows.bernoulli.is_none() {
            return self.components.merge(radius, hold_until, squared);
        }
        let mut removed = self.components.merge(radius, hold_until, apart);
        removed.extend(self.components.drop_lighter(LEAST_DIVIDED, hold_until));
        removed
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
