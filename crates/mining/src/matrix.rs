//! Dissimilarities in the form that methods read: whole rows, stored as compactly as in the input. The unit is such
//! that the largest dissimilarity is about 1.
//!
//! A full matrix is read in place. A condensed matrix is expanded once, because a pass reads whole rows. Without the
//! expansion, half of each row would belong to other ranks, and exchanging partial sums would cancel the benefit of
//! storing only half. Computations with 64-bit numbers are in 64 bits. Computations with 32- and 16-bit numbers are in
//! 32 bits, with sums in 64 bits.

use std::borrow::Cow;
use std::ops::Range;

use lehr_data::dissimilarities::{Dissimilarities, Form, MISSING_U16, Values, condensed_place};
use lehr_numerics::compact::{Block, Stored};
use lehr_numerics::lanes::Real;
use xxhash_rust::xxh3::Xxh3Default;

use crate::Error;
use crate::memory::Need;

/// Facts about all pairs, from one pass over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Survey {
    /// The number of pairs without a value.
    pub gaps: u64,
    /// The largest value, in the input's unit.
    pub largest: f64,
    /// The smallest value above 0; 0 if there is none.
    pub smallest: f64,
    pub mean: f64,
    pub fingerprint: u64,
}

enum Store<'a, T: Clone> {
    Numbers(Cow<'a, [T]>),
    Fixed(Cow<'a, [u16]>),
}

/// The whole rows of a matrix, for computations in the precision `T`.
pub(crate) struct Matrix<'a, T: Real> {
    pub items: usize,
    pub survey: Survey,
    /// The unit in which values are stored, a power of two in the input's unit.
    pub unit: f64,
    /// The warning that rounding was removed from the matrix, if it was.
    pub rounding: Option<String>,
    store: Store<'a, T>,
    factor: f64,
    limit: f64,
}

/// A matrix, in the precision that its numbers need.
pub(crate) enum Opened<'a> {
    Double(Matrix<'a, f64>),
    Single(Matrix<'a, f32>),
}

impl<'a> Opened<'a> {
    /// Surveys a matrix, and expands its rows if it is condensed.
    ///
    /// # Errors
    /// Returns [`Error::TooManyPoints`], [`Error::Memory`], or [`Error::TooFar`] for values whose squares overflow.
    pub fn new(from: &'a Dissimilarities) -> Result<Self, Error> {
        if u32::try_from(from.items()).is_err() {
            return Err(Error::TooManyPoints { points: from.items() });
        }
        let survey = survey(from);
        if survey.largest >= FARTHEST {
            return Err(Error::TooFar { distance: survey.largest, most: FARTHEST });
        }
        let (items, form) = (from.items(), from.form());
        if form == Form::Condensed {
            let bytes = match from.values() {
                Values::F64(_) => size_of::<f64>(),
                Values::F32(_) => size_of::<f32>(),
                Values::U16(_) => size_of::<u16>(),
            };
            Need::of_pairs(items, bytes).check()?;
        }
        let unit = power_of_two_above(survey.largest);
        let factor = from.scale() / unit;
        let limit = |gap: f64| if survey.gaps > 0 { gap } else { f64::INFINITY };
        let rounding = from.warning();
        Ok(match from.values() {
            Values::F64(values) => {
                let store = Store::Numbers(rows(values, items, form));
                Opened::Double(Matrix { items, survey, unit, rounding, store, factor, limit: limit(f64::MAX) })
            }
            Values::F32(values) => {
                let store = Store::Numbers(rows(values, items, form));
                Opened::Single(Matrix {
                    items,
                    survey,
                    unit,
                    rounding,
                    store,
                    factor,
                    limit: limit(f64::from(f32::MAX)),
                })
            }
            Values::U16(values) => {
                let store = Store::Fixed(rows(values, items, form));
                let gap = f64::from(MISSING_U16) - 0.5;
                Opened::Single(Matrix { items, survey, unit, rounding, store, factor, limit: limit(gap) })
            }
        })
    }
}

/// The largest dissimilarity allowed. The squares of larger dissimilarities, times weights, may overflow.
const FARTHEST: f64 = 1e140;

impl<T: Real> Matrix<'_, T> {
    /// Returns the fingerprint of the values and the weights.
    pub fn fingerprint_with(&self, weights: Option<&[f64]>) -> u64 {
        let mut hash = Xxh3Default::new();
        hash.update(&self.survey.fingerprint.to_le_bytes());
        weights.into_iter().flatten().for_each(|weight| hash.update(&weight.to_le_bytes()));
        hash.digest()
    }

    /// Returns rows of the matrix for a kernel.
    pub fn block(&self, rows: Range<usize>) -> Block<'_, T> {
        let range = rows.start * self.items..rows.end * self.items;
        let stored = match &self.store {
            Store::Numbers(numbers) => Stored::Numbers(&numbers[range]),
            Store::Fixed(numbers) => Stored::Fixed(&numbers[range]),
        };
        Block { stored, columns: self.items, factor: self.factor, limit: self.limit }
    }

    /// Whether pairs are missing.
    pub fn has_gaps(&self) -> bool {
        self.survey.gaps > 0
    }

    /// The warning for a matrix in which more than a tenth of the pairs are missing.
    pub fn missing_warning(&self) -> Option<String> {
        let pairs = self.items as f64 * (self.items as f64 - 1.0) / 2.0;
        let share = self.survey.gaps as f64 / pairs;
        (share > 0.1).then(|| {
            format!(
                "{:.0} % of the pairs have no dissimilarity: items that were never compared may end up together; \
                 if they are sequences, a global alignment gives every pair a value",
                100.0 * share
            )
        })
    }

    /// The dissimilarity of two items, in the matrix's unit; `None` if it is missing.
    pub fn get(&self, i: usize, j: usize) -> Option<f64> {
        let place = i * self.items + j;
        let raw = match &self.store {
            Store::Numbers(numbers) => numbers[place].to_f64(),
            Store::Fixed(numbers) => f64::from(numbers[place]),
        };
        (raw < self.limit).then_some(raw * self.factor)
    }

    /// Returns the weights of pairs, in the precision of `of`. A weight is 0 if it is missing, or if the pair has no
    /// dissimilarity in `of`.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the weights are for a different number of items, or if all are 0.
    pub fn weights<'b>(from: &Dissimilarities, of: &Matrix<'_, T>) -> Result<Matrix<'b, T>, Error> {
        let wrong = |expected, found| Err(Error::Parameter { name: "pair_weights", expected, found });
        let items = from.items();
        Need::of_pairs(items, size_of::<T>()).check()?;
        if items != of.items {
            return wrong("of as many items", format!("{items} items for {}", of.items));
        }
        let survey = survey(from);
        if survey.largest == 0.0 {
            return wrong("one above 0", "0 for all pairs".into());
        }
        let unit = power_of_two_above(survey.largest);
        let weight = |i, j| of.get(i, j).and(from.get(i, j)).unwrap_or(0.0) / unit;
        let numbers = (0..items * items).map(|place| T::from_f64(weight(place / items, place % items))).collect();
        let store = Store::Numbers(Cow::Owned(numbers));
        Ok(Matrix { items, survey, unit, rounding: from.warning(), store, factor: 1.0, limit: f64::INFINITY })
    }
}

/// Checks that a chain of pairs connects each item with all others, as every method of dissimilarities requires.
/// Without such a chain, the relative positions of the parts would be arbitrary. An item of weight 0 needs one pair
/// with an item of positive weight.
///
/// # Errors
/// Returns [`Error::Unrelated`] with the items that have no pair at all, or [`Error::Disconnected`].
pub(crate) fn check_tied(
    weights: &[f64],
    fixed: impl Iterator<Item = usize>,
    is_pair: impl Fn(usize, usize) -> bool,
) -> Result<(), Error> {
    fn find(root: &mut [usize], mut item: usize) -> usize {
        while root[item] != item {
            root[item] = root[root[item]];
            item = root[item];
        }
        item
    }
    let items = weights.len();
    let mut root: Vec<usize> = (0..items).collect();
    let mut join = |i: usize, j: usize| {
        let (a, b) = (find(&mut root, i), find(&mut root, j));
        root[a.max(b)] = a.min(b);
    };
    // Fixed items are connected with each other.
    let mut fixed = fixed;
    if let Some(first) = fixed.next() {
        fixed.for_each(|item| join(first, item));
    }
    for i in (0..items).filter(|&i| weights[i] > 0.0) {
        for j in (0..items).filter(|&j| j != i && (j > i || weights[j] == 0.0) && is_pair(i, j)) {
            join(i, j);
        }
    }
    let mut sizes = vec![0usize; items];
    (0..items).for_each(|item| sizes[find(&mut root, item)] += 1);
    let parts = sizes.iter().filter(|&&size| size > 0).count();
    if parts == 1 {
        return Ok(());
    }
    let alone: Vec<usize> = (0..items).filter(|&item| sizes[find(&mut root, item)] == 1).collect();
    if !alone.is_empty() && alone.len() < items {
        return Err(unrelated(alone));
    }
    // If several parts are equally large, the part with the first item counts as the largest.
    let largest = sizes.iter().copied().max().unwrap_or_default();
    let kept = sizes.iter().position(|size| *size == largest).unwrap_or_default();
    let mut others: Vec<usize> = (0..items).filter(|&item| find(&mut root, item) != kept).collect();
    let outside = others.len();
    others.truncate(10);
    sizes.retain(|&size| size > 0);
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let sizes = sizes.into_iter().take(10).collect();
    Err(Error::Disconnected { parts, sizes, outside, first: others, ids: Vec::new() })
}

/// Returns the error that names items without a dissimilarity.
pub(crate) fn unrelated(mut items: Vec<usize>) -> Error {
    let count = items.len();
    items.truncate(10);
    Error::Unrelated { count, first: items, ids: Vec::new() }
}

/// Returns the numbers row by row. A full matrix is borrowed; the numbers of a condensed matrix are copied to both
/// sides of the diagonal.
fn rows<T: Copy + Default>(values: &[T], items: usize, form: Form) -> Cow<'_, [T]> {
    if form == Form::Full {
        return Cow::Borrowed(values);
    }
    let mut full = vec![T::default(); items * items];
    // The numbers are copied in square blocks, so that the mirrored half is written a few cache lines at a time.
    const SIDE: usize = 64;
    for top in (0..items).step_by(SIDE) {
        for left in (top..items).step_by(SIDE) {
            for i in top..items.min(top + SIDE) {
                for j in left.max(i + 1)..items.min(left + SIDE) {
                    let value = values[condensed_place(i, j, items)];
                    full[i * items + j] = value;
                    full[j * items + i] = value;
                }
            }
        }
    }
    Cow::Owned(full)
}

/// Makes one pass over all pairs. The fingerprint depends on the values, not on the form in which they are stored.
fn survey(from: &Dissimilarities) -> Survey {
    let items = from.items();
    let mut survey = Survey::default();
    let mut smallest = f64::INFINITY;
    let mut hash = Xxh3Default::new();
    hash.update(&(items as u64).to_le_bytes());
    let mut bytes = Vec::with_capacity(items * size_of::<f64>());
    let mut sum = 0.0;
    for i in 0..items {
        bytes.clear();
        let mut row_sum = 0.0;
        for j in i + 1..items {
            let Some(value) = from.get(i, j) else {
                survey.gaps += 1;
                bytes.extend_from_slice(&f64::NAN.to_le_bytes());
                continue;
            };
            bytes.extend_from_slice(&(value + 0.0).to_le_bytes());
            survey.largest = survey.largest.max(value);
            if value > 0.0 {
                smallest = smallest.min(value);
            }
            row_sum += value;
        }
        sum += row_sum;
        hash.update(&bytes);
    }
    let pairs = (items * (items - 1) / 2) as u64 - survey.gaps;
    survey.mean = if pairs > 0 { sum / pairs as f64 } else { 0.0 };
    survey.smallest = if smallest.is_finite() { smallest } else { 0.0 };
    survey.fingerprint = hash.digest();
    survey
}

/// The smallest power of two that is at least `value`; 1 for 0.
fn power_of_two_above(value: f64) -> f64 {
    if value > 0.0 { 2f64.powi(libm::log2(value).ceil().clamp(-1000.0, 1000.0) as i32) } else { 1.0 }
}

/// Checks the weights of items, and divides them by a power of two so that they are about 1. Returns the weights and
/// the power.
///
/// # Errors
/// Returns [`Error::Parameter`] if there are not as many weights as items, if one is negative or NaN, or if all are 0.
pub(crate) fn item_weights(weights: Option<&[f64]>, items: usize) -> Result<(Vec<f64>, f64), Error> {
    let Some(weights) = weights else { return Ok((vec![1.0; items], 1.0)) };
    let wrong = |expected, found: String| Err(Error::Parameter { name: "weights", expected, found });
    if weights.len() != items {
        return wrong("as many as items", format!("{} for {items} items", weights.len()));
    }
    if let Some(place) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        return wrong("finite numbers of 0 or more", format!("{} for item {place} (counted from 0)", weights[place]));
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return wrong("one above 0", "0 for all items".into());
    }
    let unit = power_of_two_above(largest);
    Ok((weights.iter().map(|weight| weight / unit).collect(), unit))
}

/// Does the same as [`item_weights`] for a method that needs each item to have a weight.
///
/// # Errors
/// Returns the errors of [`item_weights`], and [`Error::Parameter`] if a weight is 0.
pub(crate) fn positive_weights(weights: Option<&[f64]>, items: usize) -> Result<(Vec<f64>, f64), Error> {
    let found = item_weights(weights, items)?;
    // A scaled weight may be 0 because it is too small beside the largest.
    if let Some(item) = found.0.iter().position(|weight| *weight == 0.0) {
        let found = format!("{} for item {item} (counted from 0)", weights.map_or(0.0, |weights| weights[item]));
        return Err(Error::Parameter { name: "weights", expected: "numbers above 0", found });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condensed_matrix_is_read_as_a_full_one() {
        let items = 70;
        let at = |i: usize, j: usize| if (i * j) % 7 == 3 { f32::NAN } else { ((i * 31 + j * 17) % 97) as f32 };
        let pairs = (0..items).flat_map(|i| (i + 1..items).map(move |j| at(i, j))).collect();
        let full = (0..items * items)
            .map(|place| (place / items, place % items))
            .map(|(i, j)| if i == j { 0.0 } else { at(i.min(j), i.max(j)) })
            .collect();
        let condensed = Dissimilarities::new(items, Form::Condensed, Values::F32(pairs), 1.0).unwrap();
        let full = Dissimilarities::new(items, Form::Full, Values::F32(full), 1.0).unwrap();
        let (Opened::Single(a), Opened::Single(b)) = (Opened::new(&condensed).unwrap(), Opened::new(&full).unwrap())
        else {
            panic!("numbers of 32 bits are computed with in 32 bits")
        };
        assert!(a.has_gaps() && a.survey == b.survey);
        assert_eq!((a.unit, a.survey.largest), (128.0, 96.0));
        for i in 0..items {
            for j in 0..items {
                assert_eq!(a.get(i, j), b.get(i, j));
                assert_eq!(a.get(i, j).map(|value| value * a.unit), condensed.get(i, j));
            }
        }
    }

    #[test]
    fn weights_are_checked() {
        assert_eq!(item_weights(Some(&[3.0, 0.0]), 2).unwrap(), (vec![0.75, 0.0], 4.0));
        assert_eq!(item_weights(None, 2).unwrap(), (vec![1.0, 1.0], 1.0));
        for wrong in [&[1.0][..], &[1.0, -1.0], &[0.0, 0.0], &[f64::NAN, 1.0]] {
            assert!(item_weights(Some(wrong), 2).is_err());
        }
    }
}
