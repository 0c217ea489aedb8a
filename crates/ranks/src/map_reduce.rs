//! Iterative map-reduce over ranks: map, combine, reduce, until converged.
//!
//! Paper 003 mentions this form (Twister) as an alternative to message passing. The rows stay on their ranks from round
//! to round; only a small state, which every rank has, changes. In [`drive`](crate::drive), every leaf's partial has
//! the same fixed positions. In a map-reduce, a map *emits* any number of keys, and the rank that owns a key reduces
//! the key's values on its own. A map-reduce costs a shuffle and a gather, while an all-reduce needs only one crossing.
//!
//! **Same bits on any layout.** The values of a key are combined in the one tree over leaf numbers (`reduction.rs`). A
//! leaf that did not emit the key is skipped. A node with values below only one child takes the value of that child.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::partition::Partition;
use crate::reduction::Node;

/// A method as map, combine and reduce.
pub trait MapReduce: Sync {
    /// The state that all ranks know and that each round changes.
    type State: Send + Sync;

    /// Returns the length of a value in numbers.
    fn width(&self) -> usize;

    /// Emits values for keys, given the rows of a leaf. Values of one key are combined in the order in which they are
    /// emitted. The values must not depend on the calling rank or thread.
    fn map(&self, rows: Range<usize>, state: &Self::State, emit: &mut dyn FnMut(u64, &[f64]));

    /// Combines two values of a key, left before right; the result replaces the left value. By default, adds the
    /// values.
    fn combine(&self, left: &mut [f64], right: &[f64]) {
        for (left, right) in left.iter_mut().zip(right) {
            *left += right;
        }
    }

    /// Turns a key's combined value into its result, in place. By default, the combined value is the result.
    fn reduce(&self, key: u64, value: &mut [f64], state: &Self::State) {
        let _ = (key, value, state);
    }

    /// Returns whether to run another round, and the new state, given all results in order of their keys. Every rank
    /// calls it with the same results.
    fn next(&self, state: Self::State, results: &BTreeMap<u64, Vec<f64>>) -> Step<Self::State>;
}

/// A method's decision at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<S> {
    /// Run another round, which begins with this state.
    Again(S),
    /// Stop; this state is the result.
    Converged(S),
}

/// The outcome of a map-reduce after its last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iterated<S> {
    /// The state after the last round.
    pub state: S,
    /// The number of rounds that were run.
    pub rounds: usize,
    /// Whether the method reported convergence within the limit of rounds; the last allowed round counts too.
    pub has_converged: bool,
}

/// A key's value over the leaves of a node.
type Emitted = (Node, Vec<f64>);

impl Communicator {
    /// Runs rounds of a map-reduce over `rows` rows until the method has converged, or until there have been
    /// `rounds_max` rounds. All ranks get the same result, and the same bits on any number of ranks.
    ///
    /// Cost per round: the map; a shuffle, in which each rank sends at most 2 log₂(leaves) values per key; an
    /// all-gather of the results.
    ///
    /// # Errors
    /// Returns the errors of [`all_to_all_v`](Self::all_to_all_v) and [`all_gather_v`](Self::all_gather_v).
    ///
    /// # Panics
    /// Panics if an emitted value does not have the length `width`.
    ///
    /// # Example
    /// This example runs k-means on a line:
    /// ```
    /// use std::collections::BTreeMap;
    /// use std::ops::Range;
    /// use lehr_ranks::{Layout, MapReduce, Step, run};
    ///
    /// struct KMeans(Vec<f64>);
    ///
    /// impl MapReduce for KMeans {
    ///     type State = Vec<f64>; // the centres
    ///     fn width(&self) -> usize { 2 } // the sum of points, their number
    ///     fn map(&self, rows: Range<usize>, centres: &Vec<f64>, emit: &mut dyn FnMut(u64, &[f64])) {
    ///         for point in &self.0[rows] {
    ///             let distance = |centre: &usize| (point - centres[*centre]).abs();
    ///             let nearest = (0..centres.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
    ///             emit(nearest as u64, &[*point, 1.0]);
    ///         }
    ///     }
    ///     fn reduce(&self, _: u64, value: &mut [f64], _: &Vec<f64>) { value[0] /= value[1]; }
    ///     fn next(&self, centres: Vec<f64>, means: &BTreeMap<u64, Vec<f64>>) -> Step<Vec<f64>> {
    ///         let moved: Vec<f64> = (0..centres.len())
    ///             .map(|k| means.get(&(k as u64)).map_or(centres[k], |mean| mean[0]))
    ///             .collect();
    ///         if moved == centres { Step::Converged(moved) } else { Step::Again(moved) }
    ///     }
    /// }
    ///
    /// let points = KMeans(vec![1.0, 2.0, 3.0, 11.0, 12.0, 13.0]);
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let ends = run(&dispatcher, Layout::threads(3), |mut comm| {
    ///     let points = &points;
    ///     async move { comm.map_reduce(6, points, vec![0.0, 1.0], 100).await }
    /// });
    /// for end in ends.unwrap() {
    ///     let end = end.unwrap();
    ///     assert!(end.has_converged && end.state == [2.0, 12.0]);
    /// }
    /// ```
    pub async fn map_reduce<M: MapReduce>(
        &mut self,
        rows: usize,
        method: &M,
        mut state: M::State,
        rounds_max: usize,
    ) -> Result<Iterated<M::State>, Error> {
        let partition = Partition::new(rows, self.size());
        let leaves = partition.leaves_of(self.rank());
        let cover = cover(leaves.clone());
        for round in 0..rounds_max {
            let mut emitted = map(method, &partition, leaves.clone(), &state);
            let mut parts = vec![Vec::new(); self.size()];
            for (key, values) in &mut emitted {
                // Sends one value for each node of the cover, so that no more data travel than the tree needs.
                let mut values = std::mem::take(values).into_iter().peekable();
                for node in &cover {
                    let within: Vec<Emitted> =
                        std::iter::from_fn(|| values.next_if(|(leaf, _)| leaf.start() < node.end())).collect();
                    if let Some(value) = fold(method, *node, within) {
                        write(&mut parts[(*key % self.size() as u64) as usize], *key, *node, &value);
                    }
                }
            }
            let received = self.all_to_all_v(&parts).await?;
            let results = reduce(method, &received, partition.leaves(), &state);
            let mut own = Vec::new();
            for (key, value) in &results {
                write(&mut own, *key, Node::leaf(0), value);
            }
            let gathered = self.all_gather_v(&own).await?;
            let results: BTreeMap<u64, Vec<f64>> = gathered
                .iter()
                .flat_map(|words| read(words, method.width()))
                .map(|(key, (_, value))| (key, value))
                .collect();
            match method.next(state, &results) {
                Step::Converged(state) => return Ok(Iterated { state, rounds: round + 1, has_converged: true }),
                Step::Again(next) => state = next,
            }
        }
        Ok(Iterated { state, rounds: rounds_max, has_converged: false })
    }
}

/// Maps leaves; returns each key's values in order of the leaves, at most one per leaf.
fn map<M: MapReduce>(
    method: &M,
    partition: &Partition,
    leaves: Range<usize>,
    state: &M::State,
) -> BTreeMap<u64, Vec<Emitted>> {
    let width = method.width();
    let mut emitted = BTreeMap::<u64, Vec<Emitted>>::new();
    let mut places = Positions::default();
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for leaf in leaves {
        let node = Node::leaf(leaf);
        method.map(partition.leaf_rows(leaf), state, &mut |key, value| {
            assert_eq!(value.len(), width, "a value has the width of the method");
            let place = places.of(key, keys.len());
            if place == keys.len() {
                keys.push(key);
                values.extend_from_slice(value);
            } else {
                method.combine(&mut values[place * width..][..width], value);
            }
        });
        for (place, key) in keys.drain(..).enumerate() {
            emitted.entry(key).or_default().push((node, values[place * width..][..width].to_vec()));
            places.forget(key);
        }
        values.clear();
    }
    emitted
}

/// The position of each key's value among the values of a leaf. A map looks up the key's position for each emitted
/// value. So small keys, which are the usual keys, use an array.
#[derive(Default)]
struct Positions {
    /// For each small key, its position plus one; 0 if the key has no position.
    small: Vec<usize>,
    large: BTreeMap<u64, usize>,
}

impl Positions {
    /// The exclusive upper bound of small keys.
    const SMALL: u64 = 4096;

    /// Returns the position of a key; sets the position to `next` if the key had none.
    fn of(&mut self, key: u64, next: usize) -> usize {
        if key >= Self::SMALL {
            return *self.large.entry(key).or_insert(next);
        }
        let key = key as usize;
        if key >= self.small.len() {
            self.small.resize(key + 1, 0);
        }
        if self.small[key] == 0 {
            self.small[key] = next + 1;
        }
        self.small[key] - 1
    }

    fn forget(&mut self, key: u64) {
        if key < Self::SMALL {
            self.small[key as usize] = 0;
        } else {
            self.large.remove(&key);
        }
    }
}

/// Combines and reduces the values that all ranks sent for the keys of this rank.
fn reduce<M: MapReduce>(method: &M, received: &[Vec<u64>], leaves: usize, state: &M::State) -> BTreeMap<u64, Vec<f64>> {
    let mut values = BTreeMap::<u64, Vec<Emitted>>::new();
    // Ranks have ascending runs of leaves, so each key's nodes come in ascending order.
    for (key, emitted) in received.iter().flat_map(|words| read(words, method.width())) {
        values.entry(key).or_default().push(emitted);
    }
    let top = Node { level: leaves.max(1).next_power_of_two().ilog2(), index: 0 };
    let whole = |(key, values)| {
        let mut value = fold(method, top, values)?;
        method.reduce(key, &mut value, state);
        Some((key, value))
    };
    values.into_iter().filter_map(whole).collect()
}

/// Returns the value of a node: its children's values, combined. If only one child has a value, returns that value;
/// `None` if no leaf below the node emitted a value.
fn fold<M: MapReduce>(method: &M, node: Node, mut values: Vec<Emitted>) -> Option<Vec<f64>> {
    if values.len() < 2 {
        return values.pop().map(|(_, value)| value);
    }
    let child = |side| Node { level: node.level - 1, index: 2 * node.index + side };
    let middle = values.partition_point(|(value, _)| value.start() < child(1).start());
    let right = fold(method, child(1), values.split_off(middle));
    let left = fold(method, child(0), values);
    match (left, right) {
        (Some(mut left), Some(right)) => {
            method.combine(&mut left, &right);
            Some(left)
        }
        (left, right) => left.or(right),
    }
}

/// Returns the shortest list of complete nodes that covers a run of leaves.
fn cover(mut leaves: Range<usize>) -> Vec<Node> {
    let mut nodes = Vec::new();
    while !leaves.is_empty() {
        // The largest node that begins here and does not extend past the run.
        let aligned = if leaves.start == 0 { usize::BITS - 1 } else { leaves.start.trailing_zeros() };
        let level = aligned.min(leaves.len().ilog2());
        nodes.push(Node { level, index: leaves.start >> level });
        leaves.start += 1 << level;
    }
    nodes
}

/// Appends a value of the shuffle as a record: its key, its node's level and index, and its numbers.
fn write(words: &mut Vec<u64>, key: u64, node: Node, value: &[f64]) {
    words.extend([key, u64::from(node.level), node.index as u64]);
    words.extend(value.iter().map(|number| number.to_bits()));
}

fn read(words: &[u64], width: usize) -> impl Iterator<Item = (u64, Emitted)> {
    words.chunks_exact(3 + width).map(|record| {
        let node = Node { level: record[1] as u32, index: record[2] as usize };
        (record[0], (node, record[3..].iter().map(|word| f64::from_bits(*word)).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_is_the_one_that_a_fold_comes_to() {
        for start in 0..40 {
            for end in start..80 {
                let mut fold = crate::Fold::<f64>::new(0);
                (start..end).for_each(|leaf| fold.push(Node::leaf(leaf), &|_, _| (), |_| ()));
                assert_eq!(cover(start..end), fold.nodes().map(|(node, _)| node).collect::<Vec<_>>());
            }
        }
    }
}
