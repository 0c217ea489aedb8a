//! Core distances: how far the nearest items of each item reach.

use lehr_numerics::lanes::Real;

use super::Problem;
use crate::round::{LeafCells, Partition, Round};

/// Computes the core distance of each item, in the matrix's unit. Within this distance there are items of at least
/// `samples` in weight, including the item itself. It is infinite if all items together weigh less.
pub(super) struct CoreRound<'a, T: Real> {
    pub problem: &'a Problem<'a, T>,
    pub partition: Partition,
    pub samples: f64,
    pub core: &'a LeafCells<Vec<f64>>,
}

impl<T: Real> Round for CoreRound<'_, T> {
    /// A number that is always 0, so that every rank waits for all leaves.
    fn len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "core distances"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial[0] = 0.0;
        let mut near = Vec::new();
        let of = self.partition.leaf_rows(leaf).map(|item| core_distance(self.problem, item, self.samples, &mut near));
        let found = of.collect();
        self.core.with(leaf, |core| *core = found);
    }
}

/// Returns the core distance of an item. `near` is memory to work in.
fn core_distance<T: Real>(problem: &Problem<'_, T>, item: usize, samples: f64, near: &mut Vec<(f64, f64)>) -> f64 {
    near.clear();
    // No pair is missing: this was checked before.
    let distance = |other: usize| if other == item { 0.0 } else { problem.matrix.get(item, other).unwrap_or(0.0) };
    near.extend(problem.weights.iter().enumerate().map(|(other, &weight)| (distance(other), weight)));
    // Halves the items that may be the last one needed until one is left.
    let (mut from, mut to, mut missing) = (0, near.len(), samples);
    while to - from > 1 {
        let middle = from + (to - from) / 2;
        near[from..to].select_nth_unstable_by(middle - from, |a, b| a.0.total_cmp(&b.0));
        let below: f64 = near[from..middle].iter().map(|(_, weight)| weight).sum();
        if below >= missing {
            to = middle;
        } else {
            missing -= below;
            from = middle;
        }
    }
    if near[from].1 >= missing { near[from].0 } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use lehr_data::dissimilarities::{Dissimilarities, Form, Values};

    use super::*;
    use crate::matrix::Opened;

    #[test]
    fn a_core_distance_reaches_the_items_that_are_asked_for() {
        let at = [0.0, 1.0, 3.0, 4.0, 8.0f64];
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| at[j] - at[i])).collect();
        let matrix = Dissimilarities::new(5, Form::Condensed, Values::F64(pairs), 1.0).unwrap();
        let Opened::Double(matrix) = Opened::new(&matrix).unwrap() else { unreachable!() };
        let unit = matrix.unit;
        let problem = Problem { matrix, weights: vec![1.0, 1.0, 1.0, 1.0, 2.0] };
        let of = |item, samples| core_distance(&problem, item, samples, &mut Vec::new()) * unit;
        assert_eq!([1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|samples| of(0, samples)), [0.0, 1.0, 3.0, 4.0, 8.0, 8.0]);
        assert_eq!([1.0, 2.0, 3.0].map(|samples| of(4, samples)), [0.0, 0.0, 4.0], "its own weight counts");
        assert_eq!(of(0, 6.5), f64::INFINITY);
    }
}
