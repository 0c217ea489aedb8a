//! The E-step of a mixture for rows with missing values: computes the sums of a leaf's rows, and assigns components to
//! the rows. The code is independent of ranks.
//!
//! Missing cells contribute their expected values:
//!
//! - *Tied and full*: let `A` be the regression of all cells on the observed cells (the identity for the observed
//!   cells). A group of mass C with moments M and Q about the mean contributes the moments `A M` and
//!   `A (Q + C R) A' + C V`. V is the covariance of the missing cells given the observed cells, and R has the variances
//!   of the clouds that rows count as. The M-step uses these sums in the same way as for complete rows.
//! - *Spherical and diagonal*: columns are independent within a component. Therefore each column has its own mass and
//!   moments, over the rows that have a value in this column. From these sums, the M-step finds the exact maximum for
//!   the given memberships.

use std::cell::RefCell;

use lehr_numerics::cholesky::triangle;
use lehr_numerics::gaussian::{Components, GaussianScratch, gaussian_sums};

use super::e_step::{Assigned, TOTALS};
use super::gaussians::Gaussians;
use super::m_step::{for_pairs, update, update_by_column};
use super::parameters::Covariance;
use super::patterns::{Group, Patterns};
use super::seen::{Conditional, entry};
use crate::round::{LeafCells, Round};

#[derive(Debug, Default)]
struct Scratch {
    gaussian: GaussianScratch<f64>,
    sums: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A pass over all rows with fixed components. The M-step that follows may change the covariance type.
pub(crate) struct PatternRound<'a> {
    pub patterns: &'a Patterns,
    pub gaussians: &'a Gaussians,
    pub target: Covariance,
    pub temperature: f64,
    /// For each column, the variance of the cloud that a row counts as.
    pub clouds: &'a [f64],
}

/// Whether an M-step to this covariance type needs separate sums of each column, over the rows that have a value in the
/// column.
fn is_by_column(target: Covariance) -> bool {
    matches!(target, Covariance::Spherical | Covariance::Diagonal)
}

impl PatternRound<'_> {
    /// Updates `gaussians`, which have the covariance type `target`, from the sums of the round.
    pub fn update(&self, gaussians: &mut Gaussians, total: &[f64], total_weight: f64) {
        if is_by_column(self.target) {
            update_by_column(gaussians, total, total_weight, self.clouds);
        } else {
            // The sums include the clouds, because a row has no cloud along a missing column.
            update(gaussians, total, total_weight, &vec![0.0; gaussians.dimension], 0.0);
        }
    }

    fn per_component(&self) -> usize {
        let dimension = self.gaussians.dimension;
        if is_by_column(self.target) { 1 + 3 * dimension } else { self.target.scatter().per_component(dimension) }
    }

    /// Adds the sums of a group to `partial`. Returns `None` if a component's covariance is not positive definite among
    /// the group's columns.
    fn add(&self, group: &Group, scratch: &mut Scratch, partial: &mut [f64]) -> Option<()> {
        let Some(tiles) = &group.tiles else { return Some(()) };
        let (gaussians, width, count) = (self.gaussians, group.observed.len(), self.gaussians.len());
        let clouds: Vec<f64> = group.observed.iter().map(|&column| self.clouds[column]).collect();
        let components: Components<f64> =
            gaussians.of_columns(&group.observed).ready(self.temperature, &clouds).ok()?;
        let scatter = self.target.scatter();
        scratch.sums.clear();
        scratch.sums.resize(scatter.len(width, count), 0.0);
        let totals = gaussian_sums(tiles, &components, scatter, &mut scratch.gaussian, &mut scratch.sums);
        partial[0] += totals.log_likelihood;
        partial[1] += totals.softness;
        let (all, of_each) = (&mut partial[TOTALS..], scatter.per_component(width));
        let per_component = self.per_component();
        if is_by_column(self.target) {
            let added = all.chunks_exact_mut(per_component).zip(scratch.sums.chunks_exact(of_each));
            added.for_each(|(all, own)| add_by_column(&group.observed, own, all));
            return Some(());
        }
        let dimension = gaussians.dimension;
        let missing = group.missing(dimension);
        let (components, pooled) = all.split_at_mut(count * per_component);
        let mut told: Option<Conditional> = None;
        let mut mass = 0.0;
        let each = components.chunks_exact_mut(per_component).zip(scratch.sums.chunks_exact(of_each));
        for (k, (all, own)) in each.enumerate() {
            if gaussians.covariance != Covariance::Tied || told.is_none() {
                told = Some(gaussians.conditional(k, &group.observed, &missing)?);
            }
            let told = told.as_ref()?;
            all[0] += own[0];
            let (firsts, seconds) = all[1..].split_at_mut(dimension);
            let seconds = if self.target == Covariance::Tied { &mut *pooled } else { seconds };
            add_means(group, &missing, told, &own[1..=width], firsts);
            for_pairs(missing.len(), |n, i, j| {
                seconds[triangle(missing[i]) + missing[j]] += own[0] * told.covariance[n];
            });
            if self.target == Covariance::Full {
                add_moments(group, &missing, told, (own[0], &own[1 + width..]), &clouds, seconds);
            }
            mass += own[0];
        }
        if self.target == Covariance::Tied {
            // All components have the same regression, because they share one covariance or because their columns are
            // independent.
            debug_assert!(gaussians.covariance != Covariance::Full, "no way leads from full covariances to a tied one");
            let own = &scratch.sums[count * of_each..];
            add_moments(group, &missing, told.as_ref()?, (mass, own), &clouds, pooled);
        }
        Some(())
    }
}

/// Finds the first component whose covariance is not positive definite among the columns of some rows. Such a component
/// makes the total of a round NaN.
pub(crate) fn collapsed(patterns: &Patterns, gaussians: &Gaussians) -> Option<usize> {
    let seen = patterns.groups().filter(|group| group.tiles.is_some());
    seen.filter_map(|group| gaussians.of_columns(&group.observed).ready(1.0, &[]).err()).min()
}

/// Adds the mass and moments of a group, `own`, to the sums of a component, `all`. These sums are the component's mass,
/// then the masses, first moments and second moments of all columns.
fn add_by_column(observed: &[usize], own: &[f64], all: &mut [f64]) {
    let (width, dimension) = (observed.len(), (all.len() - 1) / 3);
    all[0] += own[0];
    for (at, &column) in observed.iter().enumerate() {
        all[1 + column] += own[0];
        all[1 + dimension + column] += own[1 + at];
        all[1 + 2 * dimension + column] += own[1 + width + at];
    }
}

/// Adds the first moments `A M` of a group to `all`. `own` is M.
fn add_means(group: &Group, missing: &[usize], told: &Conditional, own: &[f64], all: &mut [f64]) {
    group.observed.iter().zip(own).for_each(|(&column, sum)| all[column] += sum);
    for (row, sum) in told.regression.chunks_exact(missing.len().max(1)).zip(own) {
        missing.iter().zip(row).for_each(|(&column, share)| all[column] += share * sum);
    }
}

/// Adds the second moments `A (Q + C R) A'` of a group to `all`. `mass` is C, and `own` is the packed lower triangle of
/// Q.
fn add_moments(
    group: &Group,
    missing: &[usize],
    told: &Conditional,
    (mass, own): (f64, &[f64]),
    clouds: &[f64],
    all: &mut [f64],
) {
    let width = group.observed.len();
    let moment = |i: usize, j: usize| entry(own, i, j) + if i == j { mass * clouds[i] } else { 0.0 };
    let place = |i: usize, j: usize| triangle(i.max(j)) + i.min(j);
    for_pairs(width, |_, i, j| all[place(group.observed[i], group.observed[j])] += moment(i, j));
    if told.regression.is_empty() {
        return;
    }
    let lacking = missing.len();
    let share = |o: usize, m: usize| told.regression[o * lacking + m];
    // The moments of each missing column with each present column.
    let mut across = vec![0.0; lacking * width];
    for (m, across) in across.chunks_exact_mut(width).enumerate() {
        for (o, sum) in across.iter_mut().enumerate() {
            *sum = (0..width).map(|other| share(other, m) * moment(other, o)).sum();
            all[place(missing[m], group.observed[o])] += *sum;
        }
    }
    for_pairs(lacking, |_, i, j| {
        let sum: f64 = (0..width).map(|o| across[i * width + o] * share(o, j)).sum();
        all[place(missing[i], missing[j])] += sum;
    });
}

impl Round for PatternRound<'_> {
    fn len(&self) -> usize {
        let pooled = if self.target == Covariance::Tied { triangle(self.gaussians.dimension) } else { 0 };
        TOTALS + self.gaussians.len() * self.per_component() + pooled
    }

    fn key_len(&self) -> usize {
        self.per_component()
    }

    fn name(&self) -> &'static str {
        "mixture"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        SCRATCH.with_borrow_mut(|scratch| {
            for group in &self.patterns.leaves[leaf].groups {
                if self.add(group, scratch, partial).is_none() {
                    partial[0] = f64::NAN;
                }
            }
        });
    }
}

/// The last pass, which computes the component and probability of each row and the density of its present cells,
/// including rows of weight 0.
pub(crate) struct PatternAssignRound<'a> {
    pub patterns: &'a Patterns,
    pub gaussians: &'a Gaussians,
    pub cells: &'a LeafCells<Assigned>,
}

impl Round for PatternAssignRound<'_> {
    /// The number of sums: the log-likelihood and the entropy of the memberships.
    fn len(&self) -> usize {
        2
    }

    fn name(&self) -> &'static str {
        "labels"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.patterns.leaves[index];
        partial.fill(0.0);
        self.cells.with(index, |assigned| {
            *assigned = Assigned::default();
            for (group, counts) in
                leaf.groups.iter().map(|group| (group, true)).chain(leaf.bystanders.iter().map(|group| (group, false)))
            {
                let Some(tiles) = &group.tiles else {
                    group.rows.iter().for_each(|_| assigned.add_unknown(&self.gaussians.weights));
                    continue;
                };
                let sums = match self.gaussians.of_columns(&group.observed).ready(1.0, &[]) {
                    Ok(components) => assigned.add(tiles, &components),
                    Err(_) => [f64::NAN; 2],
                };
                if counts {
                    partial.iter_mut().zip(sums).for_each(|(partial, sum)| *partial += sum);
                }
            }
        });
    }
}
