//! Reads sequences from FASTA: a line `>id description`, then lines of letters, and so on.
//!
//! The alphabet is detected if none is given: see [`Alphabet::likely`]. Lower case, `\r\n`, blanks and blank lines
//! among the letters, and a `*` at the end of a protein are accepted. Any other character outside the alphabet is a
//! fault, with its line and record. Gaps are accepted only if [`Expected::is_aligned`] is true. A protein among
//! nucleotides, or nucleotides among proteins, is one fault for the whole record.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::object;
use crate::read::source::{Source, foreign_format, open};
use crate::sequences::{Alphabet, GAP, Sequences, is_gap};

/// The minimum length of a record of only `ACGTUN` that is a fault among proteins, if the alphabet was detected. Hardly
/// any protein consists only of these amino acids.
const NUCLEOTIDES_MIN: usize = 20;
/// The length at which a line means that the file is of another kind.
const LINE_BYTES_MAX: usize = 1 << 30;

/// Options for reading a FASTA file. By default, the alphabet is detected, and gaps are faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// The alphabet. `None`: detected.
    pub alphabet: Option<Alphabet>,
    /// Whether the sequences are aligned. If they are, gaps are accepted, and all lengths must be equal.
    pub is_aligned: bool,
}

/// Reads sequences from a FASTA file, plain or gzip.
///
/// The id is the first word after `>`; the rest of this line is ignored. Cost: one pass; memory for the letters.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Format`] if it does not start with `>` or is empty; [`Error::Encoding`] for ids that are not UTF-8.
/// - [`Error::Faults`] with every invalid letter, every sequence without letters or id, and, among aligned sequences,
///   every different length.
pub fn sequences(path: &Path, expected: Expected) -> Result<Sequences, Error> {
    sequences_from(open(path)?, &object::shown(path), expected)
}

/// Reads sequences from a reader of FASTA; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`sequences`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::fasta::{Expected, sequences_from};
/// let genes = sequences_from(">one first\nacgt\nAC\n>two\nACGN\n".as_bytes(), "genes.fasta", Expected::default())?;
/// assert_eq!(genes.ids(), ["one", "two"]);
/// assert_eq!(genes.description(0), "first");
/// assert_eq!(genes.sequence(0), b"ACGTAC");
/// let error = sequences_from(">one\nACGTACGTAC\nA?\n>two\n".as_bytes(), "genes.fasta", Expected::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "genes.fasta, line 3: expected a nucleotide (ACGTU or an IUPAC code), found '?' as letter 12 of \"one\"\n\
///      genes.fasta, line 4: expected a sequence, found no letters after \"two\"\n\
///      genes.fasta: 2 faults in all"
/// );
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn sequences_from(reader: impl Read, name: &str, expected: Expected) -> Result<Sequences, Error> {
    let mut text = Text::read(Source::new(reader, name)?, name)?;
    let alphabet = expected.alphabet.unwrap_or_else(|| text.alphabet());
    let mut faults = Faults::new(name);
    if expected.alphabet.is_none() && alphabet == Alphabet::Protein {
        text.find_nucleotides(&mut faults);
    }
    text.normalise(alphabet, expected.is_aligned, &mut faults);
    // Faults of letters and faults of whole sequences are reported together, each kind in the order of lines.
    let Text { letters, ends, ids, descriptions, heads, .. } = text;
    let place = |row: usize| Place::Line(heads[row]);
    for row in 0..ends.len() {
        let is_empty = ends[row] == if row == 0 { 0 } else { ends[row - 1] };
        if is_empty {
            let after = if ids[row].is_empty() { String::new() } else { format!(" after {}", quoted(&ids[row])) };
            let (expected, found) = ("a sequence".into(), format!("no letters{after}"));
            faults.add_with(|| Fault { place: place(row), column: None, expected, found });
        }
        if ids[row].is_empty() {
            let (expected, found) = ("an id after \">\"".into(), "none".into());
            faults.add_with(|| Fault { place: place(row), column: None, expected, found });
        }
    }
    faults.or(())?;
    Sequences::from_parts(letters, ends, ids, alphabet, name.into(), place)?.with_descriptions(descriptions)
}

/// The contents of a file before its letters are interpreted.
#[derive(Default)]
struct Text {
    letters: Vec<u8>,
    ends: Vec<usize>,
    ids: Vec<String>,
    /// The text after each id.
    descriptions: Vec<String>,
    /// The line of each id.
    heads: Vec<u64>,
    /// The start of each line of letters, and its line number.
    lines: Vec<(usize, u64)>,
}

impl Text {
    fn read(mut source: Source<'_>, name: &str) -> Result<Self, Error> {
        let head = source.fill(16, Some(0))?;
        if let Some(what) = foreign_format(head) {
            return Err(no_fasta(name, what.into()));
        }
        let mut text = Text::default();
        let mut number = 0;
        let too_long = || no_fasta(name, "a line longer than 1 GiB".into());
        while let Some(length) = source.line(number, LINE_BYTES_MAX, too_long)? {
            number += 1;
            text.line(&source, length, number, name)?;
            source.consume(length);
        }
        if text.ids.is_empty() {
            return Err(no_fasta(name, "an empty file".into()));
        }
        Ok(text)
    }

    /// Takes the first `length` bytes of the window, which are line `number`.
    fn line(&mut self, source: &Source<'_>, length: usize, number: u64, name: &str) -> Result<(), Error> {
        let whole = &source.window()[..length];
        let line = whole.trim_ascii();
        if let Some(head) = line.strip_prefix(b">") {
            let at = length - whole.trim_ascii_start().len() + 1;
            let head = source.text(head, at, number)?;
            let head = head.trim_start();
            let (id, description) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
            self.ids.push(id.to_owned());
            self.descriptions.push(description.trim().to_owned());
            self.heads.push(number);
            self.ends.push(self.letters.len());
        } else if !line.is_empty() {
            let Some(end) = self.ends.last_mut() else {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]);
                return Err(no_fasta(name, format!("{} in line {number}", quoted(&start))));
            };
            self.lines.push((self.letters.len(), number));
            self.letters.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
            *end = self.letters.len();
        }
        Ok(())
    }

    /// Returns the likely alphabet of the letters.
    fn alphabet(&self) -> Alphabet {
        Alphabet::likely([&self.letters])
    }

    /// Returns the letters of a record, as written.
    fn record(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.letters[start..self.ends[row]]
    }

    /// Returns the fault of a record whose alphabet differs from the alphabet of most letters.
    fn other_alphabet(&self, row: usize, found: &str) -> Fault {
        Fault {
            place: Place::Line(self.heads[row]),
            column: None,
            expected: "one alphabet in all records".into(),
            found: format!("record {}, which looks like {found}", quoted(&self.ids[row])),
        }
    }

    /// Reports records of nucleotides among proteins, if the alphabet was detected.
    fn find_nucleotides(&self, faults: &mut Faults) {
        for row in 0..self.ends.len() {
            let letters = || self.record(row).iter().filter(|letter| !is_gap(**letter));
            if letters().count() >= NUCLEOTIDES_MIN && letters().all(|letter| b"ACGTUNacgtun".contains(letter)) {
                let found = "DNA, among proteins; if all are proteins, name the alphabet";
                faults.add_with(|| self.other_alphabet(row, found));
            }
        }
    }

    /// Normalises each letter, and reports invalid ones.
    fn normalise(&mut self, alphabet: Alphabet, is_aligned: bool, faults: &mut Faults) {
        let mut line = 0;
        for row in 0..self.ends.len() {
            let start = if row == 0 { 0 } else { self.ends[row - 1] };
            let mut is_first = true;
            for place in start..self.ends[row] {
                let letter = self.letters[place];
                let normal = match alphabet.normal(letter) {
                    None if is_aligned && is_gap(letter) => Some(GAP),
                    normal => normal,
                };
                if let Some(normal) = normal {
                    self.letters[place] = normal;
                    continue;
                }
                if std::mem::take(&mut is_first) && self.is_protein(row, alphabet) {
                    faults.add_with(|| self.other_alphabet(row, "a protein, among nucleotides"));
                    break;
                }
                while self.lines.get(line + 1).is_some_and(|(start, _)| *start <= place) {
                    line += 1;
                }
                let number = self.lines[line].1;
                faults.add_with(|| {
                    let shown = if letter.is_ascii() {
                        format!("{:?}", char::from(letter))
                    } else {
                        format!("the byte {letter:02X}")
                    };
                    let advice = if is_gap(letter) { ": a gap, as aligned sequences have" } else { "" };
                    let of = quoted(&self.ids[row]);
                    Fault {
                        place: Place::Line(number),
                        column: None,
                        expected: alphabet.letter_name().into(),
                        found: format!("{shown} as letter {} of {of}{advice}", place - start + 1),
                    }
                });
            }
        }
    }

    /// Returns whether a record looks like a protein where nucleotides are expected. Letters before the first invalid
    /// one are already normalised, which does not change any amino acid.
    fn is_protein(&self, row: usize, alphabet: Alphabet) -> bool {
        let record = self.record(row);
        let is_amino_acid = |letter: &u8| is_gap(*letter) || Alphabet::Protein.normal(*letter).is_some();
        alphabet == Alphabet::Dna && Alphabet::likely([record]) == Alphabet::Protein && record.iter().all(is_amino_acid)
    }
}

fn no_fasta(name: &str, found: String) -> Error {
    Error::Format {
        name: name.into(),
        expected: "sequences in FASTA, whose first line starts with \">\"".into(),
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], is_aligned: bool) -> Result<Sequences, Error> {
        sequences_from(text, "g.fa", Expected { alphabet: None, is_aligned })
    }

    fn message(text: &[u8]) -> String {
        read(text, false).unwrap_err().to_string()
    }

    #[test]
    fn what_other_programs_write_is_read() {
        let genes = read(b"\xef\xbb\xbf>a x y\r\nac gt\r\n\r\nAC\r\n>b\r\nACGU", false).unwrap();
        assert_eq!((genes.sequence(0), genes.sequence(1)), (&b"ACGTAC"[..], &b"ACGT"[..]));
        assert_eq!((genes.ids(), genes.alphabet()), (&["a".to_owned(), "b".to_owned()][..], Alphabet::Dna));
        let protein = read(b">p\nMKVLAAGIVG*\n", false).unwrap();
        assert_eq!(protein.alphabet(), Alphabet::Protein);
    }

    #[test]
    fn gaps_are_welcome_in_aligned_sequences_only() {
        assert!(read(b">a\nAC-T\n>b\nA.GT\n", true).unwrap().has_gaps());
        assert_eq!(
            message(b">a\nAC-T\n"),
            "g.fa, line 2: expected a nucleotide (ACGTU or an IUPAC code), found '-' as letter 3 of \"a\": a gap, as aligned sequences have"
        );
    }

    #[test]
    fn what_is_no_fasta_is_said_to_be_none() {
        assert!(message(b"x,y\n1,2\n").ends_with("whose first line starts with \">\", found \"x,y\" in line 1"));
        assert_eq!(
            message(b""),
            "g.fa: expected sequences in FASTA, whose first line starts with \">\", found an empty file"
        );
        assert!(message(b"PK\x03\x04").contains("ZIP"));
        assert!(message(b">\xff\nACGT\n").contains("line 1, byte 1 of the text: expected UTF-8, found the byte FF"));
    }

    #[test]
    fn a_letter_is_counted_within_its_record_and_an_empty_record_is_named() {
        assert_eq!(
            message(b">a\nACGT\n>b\nACGT\nAC1T\n>empty\n>c\nA\n"),
            "g.fa, line 5: expected a nucleotide (ACGTU or an IUPAC code), found '1' as letter 7 of \"b\"\n\
             g.fa, line 6: expected a sequence, found no letters after \"empty\"\n\
             g.fa: 2 faults in all"
        );
    }

    #[test]
    fn a_record_of_another_alphabet_is_one_fault() {
        let dna = "ACGTTGCAACGTTGCAACGTTGCA".repeat(9);
        assert_eq!(
            message(format!(">a\n{dna}\n>p\nMKVLAAGIVG\n>b\n{dna}\n").as_bytes()),
            "g.fa, line 3: expected one alphabet in all records, found record \"p\", which looks like a protein, among nucleotides"
        );
        let protein = "MKVLAAGIVGMKVLAAGIVGWWRSTMKVLAAGIVGMKVL";
        let text = format!(">p\n{protein}\n>d\nACGTTGCAACGTTGCAACGTTGCA\n");
        assert_eq!(
            message(text.as_bytes()),
            "g.fa, line 3: expected one alphabet in all records, found record \"d\", which looks like DNA, among proteins; \
             if all are proteins, name the alphabet"
        );
        // The alphabet is given, or the record is too short to decide.
        let expected = Expected { alphabet: Some(Alphabet::Protein), is_aligned: false };
        assert_eq!(sequences_from(text.as_bytes(), "g.fa", expected).unwrap().len(), 2);
        assert!(read(format!(">p\n{protein}\n>q\nACGTACGT\n").as_bytes(), false).is_ok());
    }

    #[test]
    fn eleven_faults_are_ten_and_a_count() {
        let mut text = b">a\n".to_vec();
        text.extend(b"ACGTACGTACGTACGTACGTACGTACGTACGT1\n".repeat(11));
        let message = message(&text);
        assert_eq!(message.lines().count(), 11);
        assert!(message.ends_with("11 faults in all; the first 10 are shown"), "{message}");
    }

    #[test]
    fn any_bytes_give_sequences_or_an_error() {
        let stream = lehr_numerics::random::Stream::new(1, "fasta");
        let alphabet = b">\n\r ACGT-*\xff\x1fXE\t;";
        for case in 0..300u64 {
            let length = stream.bits(1000 * case) % 60;
            let text: Vec<u8> =
                (0..length).map(|at| alphabet[stream.bits(1000 * case + at + 1) as usize % alphabet.len()]).collect();
            let _ = read(&text, case % 2 == 0);
        }
    }
}
