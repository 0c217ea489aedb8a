//! Merges equal items into one, with their number as its weight.
//!
//! Genome samples, screens of compounds and surveys contain equal items many times. A method that takes weights gives
//! the same result for one item of weight 3 as for three equal items. With a third as many items, the matrix takes a
//! ninth of the memory. Equality depends on the data: [`Sequences::distinct`](crate::Sequences::distinct) compares
//! letters, [`Fingerprints::distinct`](crate::Fingerprints::distinct) bits, and
//! [`Incomplete::distinct`](crate::Incomplete::distinct) numbers and missing values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use crate::error::quoted;

/// The groups of equal items.
///
/// # Example
/// ```
/// use lehr_data::duplicates::Duplicates;
/// let words = Duplicates::of(["b", "a", "b", "b"]);
/// assert_eq!(words.first(), [0, 1]);
/// assert_eq!(words.item_of(), [0, 1, 0, 0]);
/// assert_eq!(words.weights(), [3, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicates {
    /// For each distinct item, its first occurrence; ascending.
    first: Vec<usize>,
    /// For each given item, its distinct item.
    item_of: Vec<usize>,
}

impl Duplicates {
    /// Numbers the distinct keys in the order of their first occurrence.
    ///
    /// Cost: one hash table lookup per key.
    pub fn of<K: Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Self {
        let (mut first, mut item_of, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for (given, key) in keys.into_iter().enumerate() {
            let item = match known.entry(key) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    first.push(given);
                    *entry.insert(first.len() - 1)
                }
            };
            item_of.push(item);
        }
        Duplicates { first, item_of }
    }

    /// Returns the first occurrence of each distinct item.
    pub fn first(&self) -> &[usize] {
        &self.first
    }

    /// Returns the distinct item of each given item.
    pub fn item_of(&self) -> &[usize] {
        &self.item_of
    }

    /// Returns the number of given items that each distinct item represents.
    pub fn weights(&self) -> Vec<u64> {
        let mut weights = vec![0; self.first.len()];
        self.item_of.iter().for_each(|item| weights[*item] += 1);
        weights
    }
}

/// Returns a warning if several items have the same id, so that results could not tell them apart. Returns `None` if
/// all ids differ.
///
/// # Example
/// ```
/// use lehr_data::duplicates::shared_ids;
/// let ids = ["a", "b", "a", "a"].map(String::from);
/// let warning = shared_ids(&ids).unwrap();
/// assert_eq!(warning, "1 id occurs for several items, which results tell apart by their order alone, counted from 0: \"a\" (items 0, 2 and 1 more)");
/// assert_eq!(shared_ids(&ids[..2]), None);
/// ```
pub fn shared_ids(ids: &[String]) -> Option<String> {
    const LISTED: usize = 3;
    let duplicates = Duplicates::of(ids);
    if duplicates.first.len() == ids.len() {
        return None;
    }
    let weights = duplicates.weights();
    let shared: Vec<usize> = (0..weights.len()).filter(|item| weights[*item] > 1).collect();
    let told = |item: &usize| {
        let first = duplicates.first[*item];
        let second = (first + 1..ids.len()).find(|given| duplicates.item_of[*given] == *item).unwrap_or(first);
        let more = weights[*item] - 2;
        if more == 0 {
            format!("{} (items {first} and {second})", quoted(&ids[first]))
        } else {
            format!("{} (items {first}, {second} and {more} more)", quoted(&ids[first]))
        }
    };
    let list = shared.iter().take(LISTED).map(told).collect::<Vec<_>>().join(", ");
    let (count, verb) = (shared.len(), if shared.len() == 1 { "id occurs" } else { "ids occur" });
    let more = if count > LISTED { ", …" } else { "" };
    Some(format!(
        "{count} {verb} for several items, which results tell apart by their order alone, counted from 0: {list}{more}"
    ))
}

#[cfg(test)]
mod tests {
    use crate::sequences::{Alphabet, Sequences};
    use crate::{Fingerprints, Incomplete};

    #[test]
    fn the_first_of_equal_sequences_stays_with_its_id() {
        let ids = ["a", "b", "c", "d"].map(String::from).to_vec();
        let reads = Sequences::new(&["ACGT", "AC", "acgu", "ACGTA"], Alphabet::Dna).unwrap().with_ids(ids).unwrap();
        let (distinct, duplicates) = reads.distinct();
        assert_eq!(distinct.ids(), ["a", "b", "d"]);
        assert_eq!((distinct.sequence(1), distinct.sequence(2)), (&b"AC"[..], &b"ACGTA"[..]));
        assert_eq!((duplicates.weights(), duplicates.item_of()), (vec![2, 1, 1], &[0, 1, 0, 2][..]));
    }

    #[test]
    fn aligned_sequences_stay_aligned() {
        let reads = Sequences::new(&["AC-T", "ACGT", "AC.T"], Alphabet::Dna).unwrap();
        let (distinct, _) = reads.distinct();
        assert_eq!((distinct.len(), distinct.is_aligned(), distinct.has_gaps()), (2, true, true));
        let without = Sequences::new(&["ACGT", "ACGT"], Alphabet::Dna).unwrap().distinct().0;
        assert_eq!((without.len(), without.has_gaps()), (1, false));
    }

    #[test]
    fn bits_and_numbers_are_compared_whole_and_gaps_are_equal_to_gaps() {
        let (prints, of_prints) = Fingerprints::new(vec![1, 2, 1, 2, 1, 3], 70).unwrap().distinct();
        assert_eq!((prints.len(), prints.row(1), of_prints.weights()), (2, &[1, 3][..], vec![2, 1]));
        let nan = f64::NAN;
        let (rows, of_rows) = Incomplete::new(vec![0.0, nan, -0.0, nan, 0.0, 0.0], 2).unwrap().distinct();
        assert_eq!((rows.len(), rows.missing(), of_rows.weights()), (2, 1, vec![2, 1]));
        assert_eq!(rows.ids().unwrap(), ["0", "2"], "rows without ids keep their numbers");
    }
}
