//! Pairwise components as a system for the annealing loop.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::field::{Figures, Jump, Means, Problem, Push, Softly, jump, means, soft};
use super::relaxation::Relaxation;
use super::stability::{Centered, FIRST_STEPS, FIRST_TOLERANCE, STEPS, TOLERANCE, Unstable};
use crate::Error;
use crate::anneal::split::{CHILD_HOLD, MERGED_HOLD};
use crate::anneal::{Measured, Relaxed, Removed, System};
use crate::gather::Side;
use crate::round::Rounds;

/// The maximum number of sweeps of one relaxation. Reaching this limit is not an error: just below a transition,
/// thousands of sweeps would be needed, and the next temperature converges faster.
const MOST_SWEEPS: u64 = 500;
/// Components count as copies if their fields differ by less than this share of the temperature, as a root mean square
/// over their members.
const MERGE_RADIUS: f64 = 0.04;
/// The displacement of the halves of a divided component along the eigenvector, as a share of a deviation.
const DISPLACEMENT: f64 = 0.1;
/// A component with less than this share of the whole weight is dead: its memberships are the smallest values that
/// exponentials reach.
const DEAD: f64 = 1e-280;
/// Components with less than this share of the weight do not divide.
const LEAST_DIVIDED: f64 = 1e-9;

/// The state that is annealed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Components {
    /// The number of components.
    pub count: usize,
    /// The memberships, N x K. The memberships of each item add up to 1.
    pub memberships: Vec<f64>,
    /// The temperature above which a component is not tested for division.
    pub hold_until: Vec<f64>,
    /// For each component, the vector of N numbers that the last division test found.
    pub vectors: Vec<f64>,
    /// Whether sweeps move only half of the way, because full sweeps oscillated.
    pub is_damped: bool,
}

impl Components {
    /// One component that contains all items.
    pub fn one(items: usize) -> Self {
        Self {
            count: 1,
            memberships: vec![1.0; items],
            hold_until: vec![f64::MAX],
            vectors: Vec::new(),
            is_damped: false,
        }
    }

    /// The component in which each item has its largest membership; the first component if several are equal.
    pub fn labels(&self) -> Vec<u32> {
        let most = |row: &[f64]| (0..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best }) as u32;
        self.memberships.chunks_exact(self.count).map(most).collect()
    }

    /// Rewrites the memberships of each item.
    fn rewrite(&mut self, count: usize, row: impl Fn(&[f64], &mut Vec<f64>)) {
        let mut next = Vec::with_capacity(self.memberships.len() / self.count * count);
        self.memberships.chunks_exact(self.count).for_each(|old| row(old, &mut next));
        self.memberships = next;
        self.count = count;
    }
}

/// Pairwise components and their working memory.
pub(crate) struct PairwiseSystem<'a, 'm, T: Real> {
    pub problem: &'a Problem<'m, T>,
    pub components: Components,
    /// Whether masses count in the assignment.
    pub by_mass: bool,
    pub seed: u64,
    pub turn: &'a mut Side,
    /// Whether division tests are made.
    pub is_growing: bool,
    pushes: Vec<Push>,
    unstable: Vec<Unstable>,
}

impl<'a, 'm, T: Real> PairwiseSystem<'a, 'm, T> {
    pub fn new(
        problem: &'a Problem<'m, T>,
        components: Components,
        by_mass: bool,
        seed: u64,
        turn: &'a mut Side,
    ) -> Self {
        Self { problem, components, by_mass, seed, turn, is_growing: by_mass, pushes: Vec::new(), unstable: Vec::new() }
    }

    /// Makes one sweep after `known` earlier sweeps. Returns its figures, with the free energy before the sweep, and
    /// the logarithms of the components' shares.
    pub async fn sweep(
        &mut self,
        rounds: &mut dyn Rounds,
        temperature: f64,
        known: usize,
    ) -> Result<(Figures, Vec<f64>), Error> {
        let components = &mut self.components;
        let means = means(rounds, self.problem, &components.memberships, components.count, self.turn, None).await?;
        let log_priors = self.problem.log_priors(&means, self.by_mass);
        let softly = Softly {
            means: &means,
            log_priors: &log_priors,
            temperature,
            pushes: &self.pushes,
            known,
            is_damped: components.is_damped,
            is_kept: true,
        };
        let figures = soft(rounds, self.problem, softly, self.turn, &mut components.memberships).await?;
        self.pushes.clear();
        Ok((figures, log_priors))
    }

    /// Computes the fields of the present memberships for all ranks, and measures the memberships that follow from
    /// these fields at a temperature.
    pub async fn fields(
        &mut self,
        rounds: &mut dyn Rounds,
        temperature: f64,
        all: &mut Vec<f64>,
    ) -> Result<(Means, Measured), Error> {
        let components = &mut self.components;
        let means =
            means(rounds, self.problem, &components.memberships, components.count, self.turn, Some(all)).await?;
        let log_priors = self.problem.log_priors(&means, self.by_mass);
        let softly = Softly {
            means: &means,
            log_priors: &log_priors,
            temperature,
            pushes: &[],
            known: 0,
            is_damped: false,
            is_kept: false,
        };
        let figures = soft(rounds, self.problem, softly, self.turn, &mut components.memberships).await?;
        let measured = Measured {
            free_energy: figures.free_energy,
            mean_cost: figures.mean_cost,
            softness: figures.softness,
            sweeps: 1,
            ..Measured::default()
        };
        Ok((means, measured))
    }

    /// The temperature below which a single component is unstable.
    pub async fn first_critical_temperature(&mut self, rounds: &mut dyn Rounds) -> Result<(f64, u64), Error> {
        let mut all = Vec::new();
        let (means, _) = self.fields(rounds, 1.0, &mut all).await?;
        let (found, readings) = self.climb(rounds, &means, &all, FIRST_STEPS, FIRST_TOLERANCE).await?;
        Ok((found[0].critical, readings + 1))
    }

    async fn climb(
        &mut self,
        rounds: &mut dyn Rounds,
        means: &Means,
        fields: &[f64],
        steps: usize,
        tolerance: f64,
    ) -> Result<(Vec<Unstable>, u64), Error> {
        let Components { memberships, vectors, .. } = &mut self.components;
        let operator = Centered { problem: self.problem, memberships, means, fields };
        operator.climb(rounds, vectors, self.seed, steps, tolerance, self.turn).await
    }

    /// The critical temperatures of all present components.
    pub async fn critical(
        &mut self,
        rounds: &mut dyn Rounds,
        means: &Means,
        fields: &[f64],
    ) -> Result<(Vec<f64>, u64), Error> {
        let (unstable, readings) = self.climb(rounds, means, fields, STEPS, TOLERANCE).await?;
        self.unstable = unstable;
        let total = self.problem.total_weight;
        let critical = self.unstable.iter().zip(&means.masses);
        let critical = critical.map(|(one, mass)| if *mass > LEAST_DIVIDED * total { one.critical } else { 0.0 });
        Ok((critical.collect(), readings))
    }
}

impl<T: Real> System for PairwiseSystem<'_, '_, T> {
    fn components(&self) -> usize {
        self.components.count
    }

    async fn relax(&mut self, rounds: &mut dyn Rounds, temperature: f64, tolerance: f64) -> Result<Relaxed, Error> {
        let mut relaxation = Relaxation::new(temperature);
        let mut sweeps = 0;
        loop {
            let (figures, log_priors) = self.sweep(rounds, temperature, relaxation.known()).await?;
            sweeps += 1;
            let largest_move = figures.largest_change / temperature;
            let next = relaxation.after(&figures, log_priors, self.components.is_damped);
            self.components.is_damped |= relaxation.is_swinging();
            if !matches!(next, Some(Jump::Back)) && (largest_move <= tolerance || sweeps >= MOST_SWEEPS) {
                return Ok(Relaxed { sweeps, largest_move });
            }
            if let Some(next) = next {
                let at = (relaxation.jump(next), temperature);
                jump(rounds, self.problem, next, at, self.turn, &mut self.components.memberships).await?;
            }
        }
    }

    async fn measure(&mut self, rounds: &mut dyn Rounds, temperature: f64) -> Result<Measured, Error> {
        let mut all = Vec::new();
        let (means, mut measured) = self.fields(rounds, temperature, &mut all).await?;
        if self.is_growing {
            let (critical, readings) = self.critical(rounds, &means, &all).await?;
            measured.critical = critical;
            measured.sweeps += readings;
        } else {
            measured.critical = vec![0.0; self.components.count];
        }
        Ok(measured)
    }

    fn merge(&mut self, temperature: f64) -> Vec<Removed> {
        // With equal masses, two copies count twice as much as one, so merging them would change the fixed point.
        if !self.by_mass {
            return Vec::new();
        }
        self.components.merge(&self.problem.weights, MERGED_HOLD * temperature)
    }

    fn hold_until(&self, component: usize) -> f64 {
        self.components.hold_until[component]
    }

    fn divide(&mut self, component: usize, temperature: f64) {
        let along = self.unstable[component].along.iter().map(|x| DISPLACEMENT * x).collect();
        let components = &mut self.components;
        self.pushes.push(Push { raised: component, lowered: components.count, along });
        components.rewrite(components.count + 1, |old, next| {
            let first = next.len();
            next.extend_from_slice(old);
            next[first + component] *= 0.5;
            next.push(old[component] * 0.5);
        });
        components.hold_until[component] = CHILD_HOLD * temperature;
        components.hold_until.push(CHILD_HOLD * temperature);
        // Both halves search along the parent's vector; the random kick makes them differ.
        let items = self.problem.items();
        components.vectors.extend_from_within(component * items..(component + 1) * items);
    }
}

impl Components {
    /// Merges components that have become copies of each other, the later into the earlier; a merged component must
    /// wait before it divides. Returns the removed components. Two components are copies if their members have the same
    /// fields, as the quotients of memberships show.
    fn merge(&mut self, weights: &[f64], hold_until: f64) -> Vec<Removed> {
        let mut removed = Vec::new();
        let mut a = 0;
        while a < self.count {
            let mut b = a + 1;
            while b < self.count {
                if self.are_copies(a, b, weights) {
                    self.rewrite(self.count - 1, |old, next| {
                        let first = next.len();
                        next.extend(old.iter().enumerate().filter(|(k, _)| *k != b).map(|(_, m)| m));
                        next[first + a] += old[b];
                    });
                    self.hold_until.remove(b);
                    self.hold_until[a] = hold_until;
                    let items = weights.len();
                    if !self.vectors.is_empty() {
                        self.vectors.drain(b * items..(b + 1) * items);
                    }
                    removed.push(Removed { position: b, into: Some(a) });
                } else {
                    b += 1;
                }
            }
            a += 1;
        }
        removed
    }

    fn are_copies(&self, a: usize, b: usize, weights: &[f64]) -> bool {
        let pairs = || {
            let rows = self.memberships.chunks_exact(self.count).zip(weights);
            rows.map(|(row, weight)| (weight * row[a], weight * row[b]))
        };
        let (first, second) = pairs().fold((0.0, 0.0), |(first, second), (m, n)| (first + m, second + n));
        let least = DEAD * weights.iter().sum::<f64>();
        if first <= least || second <= least {
            return true;
        }
        // With equal fields, the quotient of memberships is the quotient of the masses. Each item is weighted by the
        // mean of its shares in both components.
        let mut square = 0.0;
        for (m, n) in pairs().map(|(m, n)| (m / first, n / second)).filter(|(m, n)| m + n > 0.0) {
            let apart = 2.0 * (m - n) / (m + n);
            square += 0.5 * (m + n) * apart * apart;
        }
        square < MERGE_RADIUS * MERGE_RADIUS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_died_is_merged_and_what_lives_is_not() {
        let components = |least: f64| Components {
            count: 3,
            // Two items and three components, of which the second has the smallest possible memberships.
            memberships: vec![1.0, least, 0.0, 0.0, 2.0 * least, 1.0],
            hold_until: vec![1.0, 2.0, 3.0],
            vectors: (0..6).map(f64::from).collect(),
            is_damped: false,
        };
        let mut dead = components(f64::powi(2.0, -1000));
        assert_eq!(dead.merge(&[1.0, 3.0], 0.5), [Removed { position: 1, into: Some(0) }]);
        assert_eq!((dead.count, dead.hold_until.as_slice()), (2, &[0.5, 3.0][..]));
        assert_eq!(dead.vectors, [0.0, 1.0, 4.0, 5.0]);
        assert_eq!((dead.memberships[1], dead.memberships[3]), (0.0, 1.0));
        let mut living = components(1e-9);
        assert_eq!((living.merge(&[1.0, 3.0], 0.5).len(), living.count), (0, 3));
        // If items have no weight, components cannot be told apart.
        assert_eq!(components(1e-9).merge(&[0.0, 0.0], 0.5).len(), 2);
    }
}
