//! Reductions along one fixed tree over global leaf numbers, which gives the same bits on any layout.
//!
//! Node (level, index) covers up to `2^level` leaves, beginning with leaf `index * 2^level`; the last node of a level
//! may cover fewer. A node's value combines the values of its left and its right child; without a right child, it is
//! the left child's value. The combination need not be commutative, nor associative in floating point.
//!
//! Any run of neighbouring leaves has a unique shortest cover by complete nodes, at most two per level. A rank folds
//! its run into that cover ([`Fold`]). Folding all ranks' covers in order ([`Fold::root`]) gives the root, bit for bit
//! as if one rank had folded all leaves.

use std::borrow::Cow;

use crate::settings::Order;

/// A complete node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// 0 for a leaf; a node of level l covers 2^l leaves.
    pub level: u32,
    /// The node's number among the nodes of its level.
    pub index: usize,
}

impl Node {
    /// Returns the node of the leaf with this number.
    pub fn leaf(leaf: usize) -> Self {
        Self { level: 0, index: leaf }
    }

    /// Returns the first leaf that the node covers.
    pub fn start(&self) -> usize {
        self.index << self.level
    }

    /// Returns the leaf after the last leaf that the node covers.
    pub fn end(&self) -> usize {
        (self.index + 1) << self.level
    }

    fn is_left(&self) -> bool {
        self.index.is_multiple_of(2)
    }

    fn parent(&self) -> Self {
        Self { level: self.level + 1, index: self.index / 2 }
    }

    fn is_sibling_after(&self, left: &Self) -> bool {
        left.is_left() && self.level == left.level && self.index == left.index + 1
    }
}

/// Combines a left partial with the right partial that follows it; the result replaces the left partial.
pub type Combine<'a, T = f64> = &'a (dyn Fn(&mut [T], &[T]) + 'a);

/// Folds neighbouring leaves or nodes, given in ascending order, into the shortest cover by complete nodes.
///
/// A partial is a slice of `length` numbers. The memory of partials is reused after [`clear`](Self::clear), so a
/// repeated fold does not allocate.
///
/// # Example
/// ```
/// use lehr_ranks::{Fold, Node};
/// let add = |left: &mut [f64], right: &[f64]| left[0] += right[0];
/// let mut fold = Fold::new(1);
/// for leaf in 1..6 {
///     fold.push(Node::leaf(leaf), &add, |partial| partial[0] = leaf as f64);
/// }
/// // Leaves 1 to 5 are covered by leaf 1, the node of 2 and 3, and the node of 4 and 5.
/// let cover: Vec<_> = fold.nodes().map(|(node, partial)| (node.start(), node.end(), partial[0])).collect();
/// assert_eq!(cover, [(1, 2, 1.0), (2, 4, 5.0), (4, 6, 9.0)]);
/// ```
#[derive(Clone, Debug)]
pub struct Fold<T = f64> {
    length: usize,
    nodes: Vec<Node>,
    /// The partials of `nodes`, in order, followed by memory that can be reused for further partials.
    partials: Vec<Vec<T>>,
}

impl<T: Copy + Default> Fold<T> {
    /// Creates an empty fold of partials of `length` numbers.
    pub fn new(length: usize) -> Self {
        Self { length, nodes: Vec::new(), partials: Vec::new() }
    }

    /// Empties the fold, for partials of `length` numbers.
    pub fn clear(&mut self, length: usize) {
        self.length = length;
        self.nodes.clear();
    }

    /// Returns the number of numbers in a partial.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Adds a node that begins where the last node ended; `write` overwrites its partial. Combines pairs of siblings
    /// into their parents.
    ///
    /// # Panics
    /// Panics if the node does not begin where the last node ended.
    pub fn push(&mut self, node: Node, combine: Combine<'_, T>, write: impl FnOnce(&mut [T])) {
        if let Some(last) = self.nodes.last() {
            assert_eq!(last.end(), node.start(), "nodes are folded in ascending order, without gaps");
        }
        let place = self.nodes.len();
        if place == self.partials.len() {
            self.partials.push(Vec::new());
        }
        self.partials[place].resize(self.length, T::default());
        write(&mut self.partials[place]);
        self.nodes.push(node);
        while let [.., left, right] = self.nodes[..]
            && right.is_sibling_after(&left)
        {
            self.combine_last(combine);
            let place = self.nodes.len() - 1;
            self.nodes[place] = left.parent();
        }
    }

    /// Combines a further partial with the fold's partial, if it has one, in the order of the calls instead of the
    /// tree's order. The fold must have at most one partial.
    pub(crate) fn append(&mut self, combine: Combine<'_, T>, write: impl FnOnce(&mut [T])) {
        debug_assert!(self.nodes.len() < 2, "what was pushed has been collapsed");
        let place = self.nodes.len();
        if place == self.partials.len() {
            self.partials.push(Vec::new());
        }
        self.partials[place].resize(self.length, T::default());
        write(&mut self.partials[place]);
        self.nodes.push(Node::leaf(0));
        if place > 0 {
            self.combine_last(combine);
        }
    }

    /// Adds a node in the given order: the order of the tree, or the order of the calls.
    pub(crate) fn add(&mut self, node: Node, order: Order, combine: Combine<'_, T>, write: impl FnOnce(&mut [T])) {
        match order {
            Order::Fixed => self.push(node, combine, write),
            Order::Any => self.append(combine, write),
        }
    }

    /// Moves the nodes of a later fold, which begins where this fold ends, to this fold, and combines nodes where
    /// possible.
    pub(crate) fn follow(&mut self, later: &mut Self, order: Order, combine: Combine<'_, T>) {
        for (place, node) in std::mem::take(&mut later.nodes).into_iter().enumerate() {
            let partial = &mut later.partials[place];
            match order {
                Order::Fixed => self.push_owned(node, combine, partial),
                Order::Any => self.append(combine, |own| own.copy_from_slice(partial)),
            }
        }
    }

    /// Like [`push`](Self::push), but swaps the partial for memory of the same length instead of copying it.
    fn push_owned(&mut self, node: Node, combine: Combine<'_, T>, partial: &mut Vec<T>) {
        let place = self.nodes.len();
        if place == self.partials.len() {
            self.partials.push(Vec::new());
        }
        std::mem::swap(&mut self.partials[place], partial);
        self.push(node, combine, |_| {});
    }

    /// Combines all partials of this fold into one partial, which no longer belongs to a node of the tree.
    pub(crate) fn collapse(&mut self, combine: Combine<'_, T>) {
        while self.nodes.len() > 1 {
            self.combine_last(combine);
        }
        if let Some(node) = self.nodes.first_mut() {
            *node = Node::leaf(0);
        }
    }

    /// Returns the nodes of the cover so far and their partials, in ascending order: at most two nodes per level.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (Node, &[T])> {
        self.nodes.iter().copied().zip(self.partials.iter().map(Vec::as_slice))
    }

    /// Ends a fold over all leaves from 0 on: combines the remaining nodes from right to left, and returns the root.
    /// `None` if nothing was pushed.
    ///
    /// # Panics
    /// Panics if the first node pushed did not begin at leaf 0.
    pub fn root(&mut self, combine: Combine<'_, T>) -> Option<&[T]> {
        let first = self.nodes.first()?;
        assert_eq!(first.start(), 0, "the root covers all leaves, from the first on");
        while self.nodes.len() > 1 {
            self.combine_last(combine);
        }
        self.partials.first().map(Vec::as_slice)
    }

    /// Combines the only node of this fold with the only node of the fold to its right.
    pub(crate) fn absorb(&mut self, right: &Self, combine: Combine<'_, T>) {
        assert!(self.nodes.len() == 1 && right.nodes.len() == 1, "both folds have come down to one node");
        combine(&mut self.partials[0], &right.partials[0]);
    }

    /// Combines the last node into the node before it; the caller sets the identity of the combined node.
    fn combine_last(&mut self, combine: Combine<'_, T>) {
        let place = self.nodes.len() - 1;
        let (before, after) = self.partials.split_at_mut(place);
        combine(&mut before[place - 1], &after[0]);
        self.nodes.pop();
    }
}

/// Folds the partials of `ranks` ranks in the tree over rank numbers, and writes the root to `root`. `partial` returns
/// a rank's partial, which is as long as `root`; `memory` holds intermediate results, and can be reused.
pub(crate) fn fold_ranks<'a, T: bytemuck::Pod>(
    ranks: usize,
    root: &mut [T],
    memory: &mut Vec<T>,
    partial: impl Fn(usize) -> Cow<'a, [T]>,
    combine: Combine<'_, T>,
) {
    let level = ranks.next_power_of_two().ilog2();
    // For two ranks, there are no inner nodes below the root.
    memory.resize((level.saturating_sub(1) as usize) * root.len(), T::zeroed());
    fold_node(Node { level, index: 0 }, ranks, root, memory, &partial, combine);
}

/// Writes a node's value to `value`, with `memory` for the nodes below it.
fn fold_node<'a, T: Copy>(
    node: Node,
    ranks: usize,
    value: &mut [T],
    memory: &mut [T],
    partial: &dyn Fn(usize) -> Cow<'a, [T]>,
    combine: Combine<'_, T>,
) {
    if node.level == 0 {
        return value.copy_from_slice(&partial(node.index));
    }
    let right = Node { level: node.level - 1, index: 2 * node.index + 1 };
    fold_node(Node { level: node.level - 1, index: 2 * node.index }, ranks, value, memory, partial, combine);
    if right.start() + 1 == ranks.min(right.end()) {
        combine(value, &partial(right.start()));
    } else if right.start() < ranks {
        let (other, memory) = memory.split_at_mut(value.len());
        fold_node(right, ranks, other, memory, partial, combine);
        combine(value, other);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "sines are numbers whose sums depend on the order")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Combines so that any change of the tree changes the result: the operation is neither commutative nor
    /// associative.
    fn tell_tale(left: &mut [f64], right: &[f64]) {
        for (l, r) in left.iter_mut().zip(right) {
            *l = *l * 1.000_001 - r / 3.0 + 0.125;
        }
    }

    fn sequential(leaves: usize) -> Option<f64> {
        let mut fold = Fold::new(1);
        for leaf in 0..leaves {
            fold.push(Node::leaf(leaf), &tell_tale, |partial| partial[0] = (leaf as f64).sin());
        }
        fold.root(&tell_tale).map(|root| root[0])
    }

    /// Returns a node's value by its recursive definition.
    fn defined(node: Node, leaves: usize) -> f64 {
        if node.level == 0 {
            return (node.index as f64).sin();
        }
        let child = |side| Node { level: node.level - 1, index: 2 * node.index + side };
        let mut left = [defined(child(0), leaves)];
        if child(1).start() < leaves {
            tell_tale(&mut left, &[defined(child(1), leaves)]);
        }
        left[0]
    }

    #[test]
    fn five_leaves_are_a_node_of_four_and_the_fifth() {
        let add = |left: &mut [f64], right: &[f64]| left[0] = (left[0] + right[0]) * 10.0;
        let mut fold = Fold::new(1);
        for leaf in 0..5 {
            fold.push(Node::leaf(leaf), &add, |partial| partial[0] = 1.0);
        }
        // ((1+1)*10 + (1+1)*10)*10 = 400; (400 + 1)*10.
        assert_eq!(fold.root(&add), Some(&[4010.0][..]));
    }

    #[test]
    fn the_fold_is_the_tree() {
        assert_eq!(sequential(0), None);
        for leaves in 1..200_usize {
            let top = Node { level: leaves.next_power_of_two().ilog2(), index: 0 };
            assert_eq!(sequential(leaves).unwrap().to_bits(), defined(top, leaves).to_bits(), "{leaves} leaves");
        }
    }

    #[test]
    fn ranks_are_folded_as_leaves_are() {
        for ranks in 1..70 {
            let (mut root, mut memory) = ([0.0; 2], Vec::new());
            fold_ranks(ranks, &mut root, &mut memory, |rank| Cow::Owned(vec![(rank as f64).sin(); 2]), &tell_tale);
            let expected = sequential(ranks).unwrap();
            assert_eq!(root.map(f64::to_bits), [expected.to_bits(); 2]);
        }
    }

    proptest! {
        #[test]
        fn any_partition_gives_the_bits_of_one_rank(leaves in 1_usize..400, cuts in prop::collection::vec(0_usize..400, 0..9)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(leaves)).chain([0, leaves]).collect();
            cuts.sort_unstable();
            let mut whole = Fold::<f64>::new(1);
            for run in cuts.windows(2) {
                let mut part = Fold::<f64>::new(1);
                for leaf in run[0]..run[1] {
                    part.push(Node::leaf(leaf), &tell_tale, |partial| partial[0] = (leaf as f64).sin());
                }
                let count = run[1] - run[0];
                prop_assert!(part.nodes().len() <= 2 * (count.max(1).ilog2() as usize + 1));
                for (node, value) in part.nodes() {
                    whole.push(node, &tell_tale, |partial| partial.copy_from_slice(value));
                }
            }
            let root = whole.root(&tell_tale).unwrap()[0];
            prop_assert_eq!(root.to_bits(), sequential(leaves).unwrap().to_bits());
        }
    }
}
