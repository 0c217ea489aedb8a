//! The reduction tree of a round, which several workers climb together.
//!
//! Leaves are handed out in *groups*: complete nodes of one level. So a group's partial is a node of the tree, whatever
//! the group's size. A worker that finishes a group climbs the tree. At each parent, the first of the two workers to
//! arrive stops; the second combines both partials and climbs on. So there is no serial pass over all groups at the
//! end, and memory is one partial per group. The tree is the same as in `reduction.rs`, so all bits are the same.

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicUsize, Mutex, Ordering};

use super::Round;
use crate::reduction::{Fold, Node};

/// The minimum number of groups per worker, if there are enough leaves. The last worker to finish is late by at most
/// one group, so many groups balance the workers. With this number, the cost of the groups is still negligible.
const GROUPS_PER_WORKER: usize = 64;

/// The groups of a round; see the [module](self).
pub(super) struct Groups {
    leaves: usize,
    /// The level of the groups' nodes: a group has 2^level leaves.
    level: u32,
    /// A cell for the partial of each group. While workers climb, the cell of a node's first group holds the node's
    /// partial. Only the worker that runs the group uses the cell, or the worker that `turnstiles` let pass.
    cells: Box<[CachePadded<Mutex<Fold>>]>,
    /// For each inner node: 1 if only one of its two children has arrived, otherwise 0.
    turnstiles: Box<[AtomicUsize]>,
    /// For each level above the level of the groups, the position of its first turnstile.
    offsets: Box<[usize]>,
}

impl Groups {
    /// Divides `leaves` leaves into groups for `workers` workers.
    pub(super) fn new(leaves: usize, workers: usize) -> Self {
        let size = (leaves / (GROUPS_PER_WORKER * workers)).max(1);
        let level = size.ilog2();
        let groups = leaves.div_ceil(1 << level);
        let mut offsets = Vec::new();
        let (mut nodes, mut turnstiles) = (groups, 0);
        while nodes > 1 {
            nodes = nodes.div_ceil(2);
            offsets.push(turnstiles);
            turnstiles += nodes;
        }
        Self {
            leaves,
            level,
            cells: (0..groups).map(|_| CachePadded::new(Mutex::new(Fold::new(0)))).collect(),
            turnstiles: (0..turnstiles).map(|_| AtomicUsize::new(0)).collect(),
            offsets: offsets.into(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Runs the leaves of a group and climbs the tree.
    pub(super) fn run(&self, round: &dyn Round, group: usize) {
        let combine = |left: &mut [f64], right: &[f64]| round.combine(left, right);
        {
            let mut fold = self.cells[group].lock();
            fold.clear(round.len());
            let start = group << self.level;
            for leaf in start..self.leaves.min(start + (1 << self.level)) {
                // The leaf is numbered within the group, because the group's fold is a tree of its own.
                fold.push(Node::leaf(leaf - start), &combine, |partial| round.map(leaf, partial));
            }
            fold.root(&combine);
        }
        self.climb(group, &combine);
    }

    /// Overwrites `total` with the root of a round in which every group was run; without groups, it does not change.
    pub(super) fn root(&self, total: &mut [f64]) {
        if let Some(first) = self.cells.first() {
            let mut fold = first.lock();
            let root = fold.root(&|_, _| unreachable!("a finished group is one node")).expect("the group was run");
            total.copy_from_slice(root);
        }
    }

    /// Resets the turnstiles after a round that ended in a panic.
    pub(super) fn reset(&self) {
        for turnstile in &self.turnstiles {
            // Relaxed: no worker runs groups at the same time.
            turnstile.store(0, Ordering::Relaxed);
        }
    }

    fn climb(&self, group: usize, combine: &dyn Fn(&mut [f64], &[f64])) {
        let mut index = group;
        for (above, offset) in self.offsets.iter().enumerate() {
            let sibling = index ^ 1;
            index /= 2;
            // The sibling, on the right, covers no leaf, so the parent equals its left child.
            if sibling << above >= self.cells.len() {
                continue;
            }
            // Release: our child's partial, in its cell, is visible to the second worker to arrive. Acquire: the second
            // worker sees the first one's partial. (The cells' locks order this too; the turnstile decides who climbs
            // on.)
            if self.turnstiles[offset + index].fetch_xor(1, Ordering::AcqRel) == 0 {
                return;
            }
            let (left, right) = ((2 * index) << above, (2 * index + 1) << above);
            let mut left = self.cells[left].lock();
            let right = self.cells[right].lock();
            left.absorb(&right, combine);
        }
    }
}
