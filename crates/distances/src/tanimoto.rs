//! The Tanimoto dissimilarity of fingerprints: 1 minus the Jaccard index, which is the bits in both divided by the bits
//! in either.

use std::ops::Range;

use lehr_data::Fingerprints;
use serde_json::{Map, Value, json};

use crate::bits::{Across, Counts, LANES, ROWS, in_turn};
use crate::dispatch;
use crate::metric::Metric;

/// Fingerprints as a [`Metric`]: `1 - c / (a + b - c)`, where `a` and `b` count the set bits of the two rows, and `c`
/// their common ones. Two rows without set bits are at distance 0.
///
/// Cost: one AND and one count for each word of a pair, eight pairs at a time if the processor supports it.
///
/// # Example
/// ```
/// use lehr_data::Fingerprints;
/// use lehr_distances::{Metric, tanimoto::Tanimoto};
/// let compounds = Fingerprints::new(vec![0b0111, 0b0011, 0b1000], 4)?;
/// let mut values = [0.0; 9];
/// Tanimoto::new(&compounds).tile(0..3, 0..3, &mut values);
/// assert_eq!((values[1], values[2]), (1.0 - 2.0 / 3.0, 1.0));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Tanimoto<'a> {
    fingerprints: &'a Fingerprints,
    across: Across,
    counts: Vec<u32>,
}

impl<'a> Tanimoto<'a> {
    /// Counts the set bits of each row, and stores a second copy of the rows, across.
    pub fn new(fingerprints: &'a Fingerprints) -> Self {
        let counts = (0..fingerprints.len()).map(|row| fingerprints.count(row)).collect();
        let across = Across::new((0..fingerprints.len()).map(|row| fingerprints.row(row)), fingerprints.width());
        Self { fingerprints, across, counts }
    }
}

impl Metric for Tanimoto<'_> {
    fn items(&self) -> usize {
        self.fingerprints.len()
    }

    fn name(&self) -> &'static str {
        "tanimoto"
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("bits".into(), json!(self.fingerprints.bits()));
        parameters
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprints.fingerprint()
    }

    fn tile(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
        assert_eq!(values.len(), rows.len() * columns.len(), "a value for each pair of the tile");
        if columns.is_empty() {
            return;
        }
        let others = self.across.rows(columns.clone(), |column| self.fingerprints.row(column));
        let theirs = &self.counts[columns.clone()];
        let mut counts = vec![Counts::default(); columns.len().div_ceil(LANES)];
        for (rows, values) in in_turn(rows).zip(values.chunks_mut(ROWS * columns.len())) {
            dispatch::common(rows.map(|row| self.fingerprints.row(row)), &others, &mut counts);
            for (place, values) in values.chunks_exact_mut(columns.len()).enumerate() {
                dispatch::jaccard(self.counts[rows[place]], theirs, &counts, place, values);
            }
        }
    }
}
