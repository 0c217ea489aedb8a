//! The E-step of a mixture: computes the memberships of a leaf's rows, and the sums that the M-step needs. The code is
//! independent of ranks.

use std::cell::RefCell;

use lehr_numerics::elementary::ln;
use lehr_numerics::gaussian::{Components, GaussianScratch, Scatter, gaussian_sums, posterior};
use lehr_numerics::tiles::Tiles;

use crate::round::{LeafCells, Round};
use crate::rows::Rows;

/// The number of sums over all components, which come before the sums of each component: `T sum w ln sum exp` and
/// `sum w (1 - max m)`.
pub(crate) const TOTALS: usize = 2;

/// The memory that a thread reuses for all its leaves, so that rounds do not allocate memory.
#[derive(Debug, Default)]
struct Scratch {
    gaussian: GaussianScratch<f64>,
    memberships: Vec<f64>,
    log_densities: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A pass over all rows with fixed components.
pub(crate) struct MixtureRound<'a> {
    pub rows: &'a Rows<f64>,
    pub components: &'a Components<f64>,
    pub scatter: Scatter,
}

impl Round for MixtureRound<'_> {
    fn len(&self) -> usize {
        TOTALS + self.scatter.len(self.rows.dimension, self.components.len())
    }

    fn key_len(&self) -> usize {
        self.scatter.per_component(self.rows.dimension)
    }

    fn name(&self) -> &'static str {
        "mixture"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let tiles = self.rows.leaves[leaf].store.numbers();
        SCRATCH.with_borrow_mut(|scratch| {
            let sums = &mut partial[TOTALS..];
            let totals = gaussian_sums(tiles, self.components, self.scatter, &mut scratch.gaussian, sums);
            partial[0] = totals.log_likelihood;
            partial[1] = totals.softness;
        });
    }
}

/// The results of a leaf's rows of positive weight, followed by the results of its rows of weight 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assigned {
    pub labels: Vec<u32>,
    /// The membership of each row in the component of its label.
    pub probabilities: Vec<f64>,
    /// The log-density of each row, in stored units.
    pub log_densities: Vec<f64>,
}

impl Assigned {
    /// Appends the results as bytes: the number of rows, then their labels, probabilities and densities.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.labels.len() as u64).to_le_bytes());
        self.labels.iter().for_each(|label| bytes.extend_from_slice(&label.to_le_bytes()));
        for number in self.probabilities.iter().chain(&self.log_densities) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Reads the results from the bytes that [`write`](Self::write) appended.
    pub fn read(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.split_first_chunk::<8>().expect("a number of rows");
        let rows = u64::from_le_bytes(*rows) as usize;
        let (labels, numbers) = rest.split_at(rows * size_of::<u32>());
        self.labels = labels.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        self.probabilities = numbers.by_ref().take(rows).collect();
        self.log_densities = numbers.collect();
    }

    /// Assigns components to the rows of a block, and returns `sum w ln p` and `- sum w sum m ln m`.
    pub fn add(&mut self, tiles: &Tiles<f64>, components: &Components<f64>) -> [f64; 2] {
        let (rows, count) = (tiles.rows(), components.len());
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.memberships.resize(rows * count, 0.0);
            scratch.log_densities.resize(rows, 0.0);
            posterior(tiles, components, &mut scratch.gaussian, &mut scratch.memberships, &mut scratch.log_densities);
            let mut sums = [0.0; 2];
            for (row, memberships) in scratch.memberships.chunks_exact(count).enumerate() {
                let (label, probability) = likeliest(memberships);
                self.labels.push(label as u32);
                self.probabilities.push(probability);
                let log_density = scratch.log_densities[row];
                self.log_densities.push(if log_density.is_nan() { f64::NEG_INFINITY } else { log_density });
                let weight = tiles.weight(row);
                if weight > 0.0 {
                    sums[0] += weight * log_density;
                    sums[1] -= weight * memberships.iter().filter(|m| **m > 0.0).map(|m| m * ln(*m)).sum::<f64>();
                }
            }
            sums
        })
    }

    /// Assigns the component of the largest weight to a row without observed cells.
    pub fn add_unknown(&mut self, weights: &[f64]) {
        let (label, probability) = likeliest(weights);
        self.labels.push(label as u32);
        self.probabilities.push(probability);
        self.log_densities.push(0.0);
    }
}

/// Returns the component with the largest membership, and this membership. If several components tie, returns the
/// first.
///
/// A row of weight 0 may be so far away that its squared distances overflow. Its memberships are then NaN, and the row
/// is assigned to the first component with certainty.
pub(crate) fn likeliest(memberships: &[f64]) -> (usize, f64) {
    let mut best = (0, memberships[0]);
    for (k, &membership) in memberships.iter().enumerate().skip(1) {
        if membership > best.1 {
            best = (k, membership);
        }
    }
    if best.1.is_nan() { (0, 1.0) } else { best }
}

/// The last pass, which computes the component, probability and density of each row, including rows of weight 0.
pub(crate) struct AssignRound<'a> {
    pub rows: &'a Rows<f64>,
    pub components: &'a Components<f64>,
    pub cells: &'a LeafCells<Assigned>,
}

impl Round for AssignRound<'_> {
    /// The number of sums: the log-likelihood and the entropy of the memberships.
    fn len(&self) -> usize {
        2
    }

    fn name(&self) -> &'static str {
        "labels"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.rows.leaves[index];
        self.cells.with(index, |assigned| {
            *assigned = Assigned::default();
            partial.copy_from_slice(&assigned.add(leaf.store.numbers(), self.components));
            if let Some(bystanders) = &leaf.bystanders {
                assigned.add(bystanders.numbers(), self.components);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_leaf_was_given_is_read_back_as_it_was_written() {
        let assigned = Assigned {
            labels: vec![3, 0, u32::MAX],
            probabilities: vec![1.0, 0.5, 0.25],
            log_densities: vec![-1.5, f64::NEG_INFINITY, 7.0],
        };
        let mut bytes = Vec::new();
        assigned.write(&mut bytes);
        let mut read = Assigned::default();
        read.read(&bytes);
        assert_eq!((read.labels, read.probabilities), (assigned.labels, assigned.probabilities));
        assert_eq!(read.log_densities, assigned.log_densities);
    }

    #[test]
    fn of_equal_memberships_the_first_is_taken_and_of_none_the_first_too() {
        assert_eq!(likeliest(&[0.25, 0.5, 0.25]), (1, 0.5));
        assert_eq!(likeliest(&[0.5, 0.5]), (0, 0.5));
        assert_eq!(likeliest(&[f64::NAN, f64::NAN]), (0, 1.0));
    }
}
