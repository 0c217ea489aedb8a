//! The minimum spanning tree of mutual reachability, by Prim's algorithm over the whole matrix.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::Problem;
use crate::links::Link;

/// A tree that grows from the first item. All of it is in checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Spanning {
    /// The edges in the order in which they were found. Distances are mutual reachability distances, in the unit of the
    /// matrix.
    pub edges: Vec<Link>,
    /// The items outside the tree.
    outside: Vec<u32>,
    /// For each of these, the smallest mutual reachability distance to an item of the tree, and this item.
    least: Vec<f64>,
    nearest: Vec<u32>,
    /// The item that joined last.
    last: u32,
}

impl Spanning {
    /// Starts with the first item.
    pub fn new(items: usize) -> Self {
        let outside: Vec<u32> = (1..items as u32).collect();
        let (least, nearest) = (vec![f64::INFINITY; outside.len()], vec![0; outside.len()]);
        Self { edges: Vec::with_capacity(outside.len()), outside, least, nearest, last: 0 }
    }

    /// Adds the item nearest to the tree. If several are equally near, it is the one that is first in `outside`.
    ///
    /// Cost: one row of the matrix.
    pub fn grow<T: Real>(&mut self, problem: &Problem<'_, T>, core: &[f64]) {
        let last = self.last as usize;
        let mut best = 0;
        for place in 0..self.outside.len() {
            let item = self.outside[place] as usize;
            // No pair is missing: this was checked before.
            let distance = problem.matrix.get(last, item).unwrap_or(0.0).max(core[last]).max(core[item]);
            if distance < self.least[place] {
                (self.least[place], self.nearest[place]) = (distance, self.last);
            }
            if self.least[place] < self.least[best] {
                best = place;
            }
        }
        self.last = self.outside.swap_remove(best);
        let (from, distance) = (self.nearest.swap_remove(best), self.least.swap_remove(best));
        self.edges.push(Link { from, to: self.last, distance });
    }
}
