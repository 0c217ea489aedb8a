//! Fingerprints: rows of bits, packed 64 to a word, with optional weights; checked once, then immutable.
//!
//! A chemical fingerprint records which of some thousand properties a compound has. Bit b of a row is bit `b % 64` of
//! word `b / 64`; unused bits are 0. For example, 1,047 bits take 17 words, 136 bytes; as 64-bit numbers they would
//! take 8,376. [`crate::read::fps`] reads them from FPS files, and [`crate::read::packed`] from packed arrays.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::duplicates::Duplicates;
use crate::error::{Error, Fault, Faults, Place};
use crate::points::checked_weights;

/// The kind of fingerprints that Lehr makes of molecules.
///
/// # Example
/// ```
/// use lehr_data::FingerprintKind;
/// assert_eq!("maccs".parse(), Ok(FingerprintKind::Maccs));
/// assert_eq!((FingerprintKind::Maccs.bits(), FingerprintKind::default().bits()), (167, 2048));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FingerprintKind {
    /// Circular fingerprints (Morgan, ECFP) of radius 2, with 2,048 bits.
    #[default]
    Morgan,
    /// The 166 MACCS keys. Key i is bit i, and bit 0 is unused.
    Maccs,
}

impl FingerprintKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Morgan, Self::Maccs];

    /// Returns the name of the kind in options.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_data::FingerprintKind::Morgan.word(), "morgan");
    /// ```
    pub fn word(self) -> &'static str {
        match self {
            Self::Morgan => "morgan",
            Self::Maccs => "maccs",
        }
    }

    /// Returns the number of bits.
    ///
    /// # Example
    /// See [`FingerprintKind`].
    pub fn bits(self) -> usize {
        match self {
            Self::Morgan => 2048,
            Self::Maccs => 167,
        }
    }

    /// Returns the kind with a number of bits; the default if there is none.
    ///
    /// # Example
    /// ```
    /// use lehr_data::FingerprintKind;
    /// assert_eq!((FingerprintKind::of_bits(167), FingerprintKind::of_bits(881)), (FingerprintKind::Maccs, FingerprintKind::Morgan));
    /// ```
    pub fn of_bits(bits: usize) -> Self {
        Self::ALL.into_iter().find(|kind| kind.bits() == bits).unwrap_or_default()
    }
}

impl std::str::FromStr for FingerprintKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.word() == text).ok_or_else(|| "expected morgan or maccs".to_owned())
    }
}

/// Owned, checked rows of bits.
///
/// # Example
/// ```
/// use lehr_data::Fingerprints;
/// let rows = Fingerprints::new(vec![0b1011, 0b0001], 4)?;
/// assert_eq!((rows.len(), rows.bits(), rows.count(0)), (2, 4, 3));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Fingerprints {
    /// The words, row by row, `bits.div_ceil(64)` per row.
    words: Vec<u64>,
    bits: usize,
    ids: Vec<String>,
    /// A weight for each row: finite, >= 0, at least one > 0, and with a finite sum.
    weights: Option<Vec<f64>>,
    /// The structure of each row in SMILES, if the rows are molecules.
    smiles: Option<Vec<String>>,
    name: String,
}

#[allow(clippy::len_without_is_empty)] // there is always at least one row
impl Fingerprints {
    /// Creates rows of `bits` bits from packed words; their ids are `0`, `1`, ….
    ///
    /// # Errors
    /// - [`Error::Shape`] if there are no bits or rows, or if the words do not divide into rows.
    /// - [`Error::Faults`] with each row that has a bit beyond the last.
    pub fn new(words: Vec<u64>, bits: usize) -> Result<Self, Error> {
        let shape = |expected: String, found: String| Error::Shape { what: "fingerprints".into(), expected, found };
        if bits == 0 {
            return Err(shape("at least one bit".into(), "0".into()));
        }
        let width = bits.div_ceil(64);
        if words.is_empty() || !words.len().is_multiple_of(width) {
            return Err(shape(format!("rows of {width} words"), format!("{} words", words.len())));
        }
        let beyond = if bits.is_multiple_of(64) { 0 } else { !0 << (bits % 64) };
        let mut faults = Faults::new("fingerprints");
        for (row, words) in words.chunks_exact(width).enumerate() {
            if words[width - 1] & beyond != 0 {
                let (expected, found) = (format!("{bits} bits"), "a bit beyond".to_owned());
                faults.add_with(|| Fault { place: Place::Row(row as u64), column: None, expected, found });
            }
        }
        faults.or(())?;
        let ids = (0..words.len() / width).map(|row| row.to_string()).collect();
        Ok(Fingerprints { words, bits, ids, weights: None, smiles: None, name: "fingerprints".into() })
    }

    /// Sets the ids of the rows.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of ids differs from the number of rows.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self, Error> {
        if ids.len() != self.len() {
            let (expected, found) = (format!("{}, one a row", self.len()), ids.len().to_string());
            return Err(Error::Shape { what: "ids".into(), expected, found });
        }
        self.ids = ids;
        Ok(self)
    }

    /// Sets the weights of the rows. Programs that count rows, such as `lehr distances`, ignore them.
    ///
    /// # Errors
    /// - [`Error::Shape`] if the number of weights differs from the number of rows.
    /// - [`Error::Faults`] with each weight that is negative or not finite, or if all weights are 0, or if their sum is
    ///   not finite.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        self.weights = Some(checked_weights(weights, self.len(), &self.name)?);
        Ok(self)
    }

    /// Sets the structures of the rows in SMILES. Reports draw them.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of structures differs from the number of rows.
    pub fn with_smiles(mut self, smiles: Vec<String>) -> Result<Self, Error> {
        if smiles.len() != self.len() {
            let (expected, found) = (format!("{}, one a row", self.len()), smiles.len().to_string());
            return Err(Error::Shape { what: "structures".into(), expected, found });
        }
        self.smiles = Some(smiles);
        Ok(self)
    }

    /// Sets the name in messages.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Returns the distinct rows in the order of their first occurrence. Each has the id of its first occurrence and no
    /// weight. Also returns, for each row, which distinct row it equals.
    pub fn distinct(&self) -> (Self, Duplicates) {
        let duplicates = Duplicates::of((0..self.len()).map(|row| self.row(row)));
        let distinct = Fingerprints { weights: None, ..self.select(duplicates.first()) };
        (distinct, duplicates)
    }

    /// Returns some of the rows, in the given order, with their ids and weights.
    ///
    /// # Panics
    /// Panics if there is no such row, or if `rows` is empty.
    pub fn select(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "at least one row");
        Fingerprints {
            words: rows.iter().flat_map(|&row| self.row(row)).copied().collect(),
            bits: self.bits,
            ids: rows.iter().map(|&row| self.ids[row].clone()).collect(),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            smiles: self.smiles.as_ref().map(|smiles| rows.iter().map(|&row| smiles[row].clone()).collect()),
            name: self.name.clone(),
        }
    }

    /// Returns the number of rows, at least 1.
    pub fn len(&self) -> usize {
        self.words.len() / self.width()
    }

    /// Returns the number of bits of a row.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the number of words of a row.
    pub fn width(&self) -> usize {
        self.bits.div_ceil(64)
    }

    /// Returns the words of a row.
    ///
    /// # Panics
    /// Panics if there is no row `index`.
    pub fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.width()..][..self.width()]
    }

    /// Returns the number of set bits in a row.
    ///
    /// # Panics
    /// Panics if there is no row `index`.
    pub fn count(&self, index: usize) -> u32 {
        self.row(index).iter().map(|word| word.count_ones()).sum()
    }

    /// Returns the ids of the rows.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Returns the structures of the rows in SMILES, if the rows are molecules.
    pub fn smiles(&self) -> Option<&[String]> {
        self.smiles.as_deref()
    }

    /// Returns the weights, if there are any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the weight of a row; 1 if there are no weights.
    ///
    /// # Panics
    /// Panics if there are weights and no row `index`.
    pub fn weight(&self, index: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[index])
    }

    /// Returns the sum of the weights, which is finite and positive, or the number of rows if there are no weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.len() as f64, |weights| weights.iter().sum())
    }

    /// Returns the name in messages: the path of the file, or `fingerprints`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a checksum of the data: XXH3 (64 bits) over shape, bits and weights, without ids and the name.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(b"fingerprints");
        hash.update(&(self.bits as u64).to_le_bytes());
        self.words.iter().for_each(|word| hash.update(&word.to_le_bytes()));
        if let Some(weights) = &self.weights {
            hash.update(b"weights");
            weights.iter().for_each(|weight| hash.update(&weight.to_bits().to_le_bytes()));
        }
        hash.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_last_are_faults() {
        let message = Fingerprints::new(vec![1, 1 << 5, 1 << 4], 5).unwrap_err().to_string();
        assert_eq!(message, "fingerprints, row 2: expected 5 bits, found a bit beyond");
        assert!(Fingerprints::new(vec![0; 3], 65).is_err() && Fingerprints::new(vec![], 8).is_err());
        assert_eq!(Fingerprints::new(vec![!0; 4], 128).unwrap().count(1), 128);
    }

    #[test]
    fn weights_are_checked_and_tell_data_from_others() {
        let rows = || Fingerprints::new(vec![1, 2], 5).unwrap();
        let weighted = |weights: &[f64]| rows().with_weights(weights.to_vec());
        let message = weighted(&[1.0, -1.0]).unwrap_err().to_string();
        assert_eq!(message, "fingerprints, row 2: expected a weight of 0 or more, found a weight of -1");
        assert!(weighted(&[1.0]).is_err() && weighted(&[0.0, 0.0]).is_err());
        let heavy = weighted(&[1.0, 2.5]).unwrap();
        assert_eq!((heavy.weight(1), heavy.total_weight(), rows().total_weight()), (2.5, 3.5, 2.0));
        assert_ne!(heavy.fingerprint(), weighted(&[2.5, 1.0]).unwrap().fingerprint());
        assert_ne!(weighted(&[1.0, 1.0]).unwrap().fingerprint(), rows().fingerprint());
    }
}
