//! Sequences of nucleotides or amino acids, with an id each; checked once, then immutable.
//!
//! [`Sequences`] are checked, so that code that uses them need not check again. There is at least one sequence, none is
//! empty, and every letter is a capital of the alphabet. Gaps (`-`) occur only in aligned sequences, which all have the
//! same length. All letters are contiguous in memory.
//!
//! Sequences are only data; `lehr-distances` compares them. [`crate::read::fasta`] reads them from FASTA.

use xxhash_rust::xxh3::Xxh3;

use crate::duplicates::Duplicates;
use crate::error::{Error, Fault, Faults, Place};

/// The letter for a gap in aligned sequences.
pub const GAP: u8 = b'-';
/// The share of `ACGTUN` among the letters at or above which a text counts as nucleotides.
const NUCLEOTIDE_SHARE: f64 = 0.9;

/// The meaning of the letters of sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// Nucleotides: `ACGT` and the IUPAC codes for several of them, `RYSWKMBDHVN`. `U` is read as `T`.
    Dna,
    /// Amino acids: the standard twenty, and further codes. `B` and `Z` mean two amino acids each. `J`, `O` and `U` are
    /// read as `X`, which means any amino acid. `*` is a stop.
    Protein,
}

impl Alphabet {
    /// Returns the letters, unambiguous ones first.
    pub const fn letters(self) -> &'static [u8] {
        match self {
            Alphabet::Dna => b"ACGTRYSWKMBDHVN",
            Alphabet::Protein => b"ARNDCQEGHILKMFPSTWYVBZX*",
        }
    }

    /// Returns whether a letter means exactly one nucleotide or amino acid.
    ///
    /// # Example
    /// ```
    /// use lehr_data::sequences::Alphabet;
    /// assert!(Alphabet::Dna.is_certain(b'A') && !Alphabet::Dna.is_certain(b'N'));
    /// ```
    pub const fn is_certain(self, letter: u8) -> bool {
        match self {
            Alphabet::Dna => matches!(letter, b'A' | b'C' | b'G' | b'T'),
            Alphabet::Protein => {
                letter.is_ascii_uppercase() && !matches!(letter, b'B' | b'J' | b'O' | b'U' | b'X' | b'Z')
            }
        }
    }

    /// Returns the normal form of a letter: a capital, `T` for the `U` of RNA, `X` for rare amino acids. Returns `None`
    /// for a gap and for any letter outside the alphabet.
    ///
    /// # Example
    /// ```
    /// use lehr_data::sequences::Alphabet;
    /// assert_eq!(Alphabet::Dna.normal(b'u'), Some(b'T'));
    /// assert_eq!(Alphabet::Dna.normal(b'E'), None);
    /// ```
    pub const fn normal(self, letter: u8) -> Option<u8> {
        let capital = letter.to_ascii_uppercase();
        match (self, capital) {
            (Alphabet::Dna, b'U') => Some(b'T'),
            (
                Alphabet::Dna,
                b'A' | b'C' | b'G' | b'T' | b'R' | b'Y' | b'S' | b'W' | b'K' | b'M' | b'B' | b'D' | b'H' | b'V' | b'N',
            ) => Some(capital),
            (Alphabet::Protein, b'J' | b'O' | b'U') => Some(b'X'),
            (Alphabet::Protein, b'A'..=b'Z' | b'*') => Some(capital),
            _ => None,
        }
    }

    /// Guesses the alphabet of texts from their letters, ignoring case. The letters are nucleotides if at least nine in
    /// ten are `ACGTUN`. They also are if at least half are `ACGTUN`, and the other letters are IUPAC codes for several
    /// nucleotides.
    ///
    /// # Example
    /// ```
    /// use lehr_data::sequences::Alphabet;
    /// assert_eq!(Alphabet::likely([b"acgtN-AC"]), Alphabet::Dna);
    /// assert_eq!(Alphabet::likely([b"ACRYKMGT"]), Alphabet::Dna);
    /// assert_eq!(Alphabet::likely([b"MKVLAT"]), Alphabet::Protein);
    /// ```
    pub fn likely<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut counts = [0u64; 256];
        for text in texts {
            text.as_ref().iter().for_each(|letter| counts[usize::from(letter.to_ascii_uppercase())] += 1);
        }
        let counted = |letters: &[u8]| letters.iter().map(|letter| counts[usize::from(*letter)]).sum::<u64>();
        let (nucleotides, codes) = (counted(b"ACGTUN"), counted(b"ACGTUNRYSWKMBDHV"));
        let letters: u64 = (b'A'..=b'Z').map(|letter| counts[usize::from(letter)]).sum();
        let are_most = nucleotides as f64 >= NUCLEOTIDE_SHARE * letters as f64;
        if are_most || codes == letters && 2 * nucleotides >= letters { Alphabet::Dna } else { Alphabet::Protein }
    }

    /// Returns the expected letter for messages: "a nucleotide (ACGTU or an IUPAC code)" or "an amino acid".
    pub const fn letter_name(self) -> &'static str {
        match self {
            Alphabet::Dna => "a nucleotide (ACGTU or an IUPAC code)",
            Alphabet::Protein => "an amino acid",
        }
    }
}

/// Owned, checked sequences.
///
/// # Example
/// ```
/// use lehr_data::sequences::{Alphabet, Sequences};
/// let genes = Sequences::new(&["acgu", "ACG"], Alphabet::Dna)?;
/// assert_eq!((genes.len(), genes.sequence(0)), (2, &b"ACGT"[..]));
/// assert!(!genes.is_aligned());
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequences {
    letters: Vec<u8>,
    /// The end of each sequence in `letters`; strictly ascending.
    ends: Vec<usize>,
    /// The id of each sequence.
    ids: Vec<String>,
    /// The description of each sequence; empty if no sequence has one.
    descriptions: Vec<String>,
    alphabet: Alphabet,
    has_gaps: bool,
    name: String,
}

#[allow(clippy::len_without_is_empty)] // there is always at least one sequence
impl Sequences {
    /// Creates sequences from texts; their ids are `0`, `1`, …. If there are gaps (`-` or `.`), the sequences are
    /// aligned, and all must have the same length.
    ///
    /// # Errors
    /// - [`Error::Shape`] if there are no sequences.
    /// - [`Error::Faults`] with each letter outside the alphabet and each empty sequence. Among aligned sequences, also
    ///   with each sequence whose length differs from the first, or that has only gaps.
    pub fn new<T: AsRef<[u8]>>(texts: &[T], alphabet: Alphabet) -> Result<Self, Error> {
        let mut letters = Vec::new();
        let mut ends = Vec::new();
        let mut faults = Faults::new("sequences");
        for (row, text) in texts.iter().enumerate() {
            for (place, letter) in text.as_ref().iter().enumerate() {
                let normal = if is_gap(*letter) { Some(GAP) } else { alphabet.normal(*letter) };
                letters.push(normal.unwrap_or(GAP));
                if normal.is_none() {
                    let found = format!("{:?} at letter {}", char::from(*letter), place + 1);
                    faults.add_with(|| at_row(row, alphabet.letter_name(), found));
                }
            }
            ends.push(letters.len());
        }
        let ids = (0..texts.len()).map(|row| row.to_string()).collect();
        let name = "sequences".to_owned();
        faults.or(())?;
        Self::from_parts(letters, ends, ids, alphabet, name, |row| Place::Row(row as u64))
    }

    /// Creates sequences whose letters are known to be in the alphabet or gaps. `place` returns the position of a
    /// sequence, for messages.
    pub(crate) fn from_parts(
        letters: Vec<u8>,
        ends: Vec<usize>,
        ids: Vec<String>,
        alphabet: Alphabet,
        name: String,
        place: impl Fn(usize) -> Place,
    ) -> Result<Self, Error> {
        if ends.is_empty() {
            return Err(Error::Shape { what: name, expected: "at least one sequence".into(), found: "none".into() });
        }
        let has_gaps = letters.contains(&GAP);
        let sequences = Sequences { letters, ends, ids, descriptions: Vec::new(), alphabet, has_gaps, name };
        let mut faults = Faults::new(&sequences.name);
        let length = sequences.sequence(0).len();
        for row in 0..sequences.len() {
            let sequence = sequences.sequence(row);
            let mut fault = |expected: String, found: String| {
                faults.add_with(|| Fault { place: place(row), column: None, expected, found });
            };
            if sequence.is_empty() {
                fault("a sequence".into(), "no letters".into());
            } else if has_gaps && sequence.len() != length {
                let expected = format!("{length} letters and gaps, as in the first of these aligned sequences");
                fault(expected, sequence.len().to_string());
            } else if has_gaps && sequence.iter().all(|letter| *letter == GAP) {
                fault("a sequence".into(), "only gaps".into());
            }
        }
        faults.or(sequences)
    }

    /// Sets the ids of the sequences.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of ids differs from the number of sequences.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self, Error> {
        if ids.len() != self.len() {
            let (expected, found) = (format!("{}, one a sequence", self.len()), ids.len().to_string());
            return Err(Error::Shape { what: "ids".into(), expected, found });
        }
        self.ids = ids;
        Ok(self)
    }

    /// Sets the descriptions of the sequences; `""` for a sequence without one.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of descriptions differs from the number of sequences.
    pub fn with_descriptions(mut self, descriptions: Vec<String>) -> Result<Self, Error> {
        if descriptions.len() != self.len() {
            let (expected, found) = (format!("{}, one a sequence", self.len()), descriptions.len().to_string());
            return Err(Error::Shape { what: "descriptions".into(), expected, found });
        }
        let has_any = descriptions.iter().any(|text| !text.is_empty());
        self.descriptions = if has_any { descriptions } else { Vec::new() };
        Ok(self)
    }

    /// Returns the distinct sequences in the order of their first occurrence, each with the id of its first occurrence.
    /// Also returns, for each sequence, which distinct sequence it equals.
    ///
    /// Sequences are equal if all their letters are, including ambiguous ones.
    ///
    /// # Example
    /// ```
    /// use lehr_data::sequences::{Alphabet, Sequences};
    /// let (distinct, duplicates) = Sequences::new(&["ACG", "TT", "ACG"], Alphabet::Dna)?.distinct();
    /// assert_eq!((distinct.len(), duplicates.weights()), (2, vec![2, 1]));
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn distinct(&self) -> (Self, Duplicates) {
        let duplicates = Duplicates::of((0..self.len()).map(|row| self.sequence(row)));
        (self.select(duplicates.first()), duplicates)
    }

    /// Returns some of the sequences, in the given order.
    ///
    /// # Panics
    /// Panics if there is no such sequence, or if `rows` is empty.
    pub fn select(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "at least one sequence");
        let (mut letters, mut ends, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for &row in rows {
            letters.extend_from_slice(self.sequence(row));
            ends.push(letters.len());
            ids.push(self.ids[row].clone());
        }
        let (alphabet, has_gaps, name) = (self.alphabet, letters.contains(&GAP), self.name.clone());
        let descriptions = if self.descriptions.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| self.descriptions[row].clone()).collect()
        };
        Sequences { letters, ends, ids, descriptions, alphabet, has_gaps, name }
    }

    /// Returns the number of sequences, at least 1.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the letters of a sequence, at least one.
    ///
    /// # Panics
    /// Panics if there is no sequence `index`.
    pub fn sequence(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.letters[start..self.ends[index]]
    }

    /// Returns the id of each sequence.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Returns the description of a sequence, such as the text after the id in FASTA; `""` if there is none.
    ///
    /// # Panics
    /// Panics if there is no sequence `index`.
    pub fn description(&self, index: usize) -> &str {
        assert!(index < self.len(), "one of {} sequences", self.len());
        self.descriptions.get(index).map_or("", String::as_str)
    }

    /// Returns the alphabet.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns whether all sequences have the same length, so that letters at the same position can be compared. This
    /// is always true if there are gaps.
    pub fn is_aligned(&self) -> bool {
        let length = self.sequence(0).len();
        (0..self.len()).all(|index| self.sequence(index).len() == length)
    }

    /// Returns whether any sequence has a gap.
    pub fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// Returns the length of the longest sequence.
    pub fn longest(&self) -> usize {
        (0..self.len()).map(|index| self.sequence(index).len()).max().unwrap_or(0)
    }

    /// Returns all letters of all sequences, one after another.
    pub fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// Returns the name in messages: the path of the file, or `sequences`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a checksum of the data: XXH3 (64 bits) over alphabet, lengths and letters, without ids and the name.
    ///
    /// Cost: one pass at memory speed.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(b"sequences");
        hash.update(&[u8::from(self.alphabet == Alphabet::Protein)]);
        hash.update(&(self.len() as u64).to_le_bytes());
        self.ends.iter().for_each(|end| hash.update(&(*end as u64).to_le_bytes()));
        hash.update(&self.letters);
        hash.digest()
    }
}

/// Returns whether a letter of a text is a gap: `-`, or `.` as some programs write it.
pub(crate) fn is_gap(letter: u8) -> bool {
    matches!(letter, b'-' | b'.')
}

fn at_row(row: usize, expected: &str, found: String) -> Fault {
    Fault { place: Place::Row(row as u64), column: None, expected: expected.into(), found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_made_capitals_of_the_alphabet() {
        let rna = Sequences::new(&["acguN"], Alphabet::Dna).unwrap();
        assert_eq!(rna.sequence(0), b"ACGTN");
        let protein = Sequences::new(&["mUkO*"], Alphabet::Protein).unwrap();
        assert_eq!(protein.sequence(0), b"MXKX*");
    }

    #[test]
    fn every_wrong_letter_is_a_fault_of_its_row() {
        let message = Sequences::new(&["ACGT", "AC1E", ""], Alphabet::Dna).unwrap_err().to_string();
        assert_eq!(
            message,
            "sequences, row 2: expected a nucleotide (ACGTU or an IUPAC code), found '1' at letter 3\n\
             sequences, row 2: expected a nucleotide (ACGTU or an IUPAC code), found 'E' at letter 4\n\
             sequences: 2 faults in all"
        );
    }

    #[test]
    fn gaps_need_equal_lengths_and_something_beside_them() {
        let message = Sequences::new(&["AC-T", "ACG", "----"], Alphabet::Dna).unwrap_err().to_string();
        assert_eq!(
            message,
            "sequences, row 2: expected 4 letters and gaps, as in the first of these aligned sequences, found 3\n\
             sequences, row 3: expected a sequence, found only gaps\n\
             sequences: 2 faults in all"
        );
        assert!(Sequences::new(&["AC.T", "ACGT"], Alphabet::Dna).unwrap().is_aligned());
        assert!(matches!(Sequences::new::<&str>(&[], Alphabet::Dna), Err(Error::Shape { .. })));
    }

    #[test]
    fn the_fingerprint_sees_lengths_and_letters_but_no_ids() {
        let print = |texts: &[&str]| Sequences::new(texts, Alphabet::Dna).unwrap().fingerprint();
        assert_ne!(print(&["ACG", "T"]), print(&["AC", "GT"]));
        assert_ne!(print(&["ACG"]), print(&["ACT"]));
        let named = Sequences::new(&["ACG"], Alphabet::Dna).unwrap().with_ids(vec!["gene".into()]).unwrap();
        assert_eq!(named.fingerprint(), print(&["ACG"]));
    }
}
