//! Scores of alignments: a matrix of letters against letters, and the costs of gaps.
//!
//! As in parasail and the papers, the first letter in a gap costs `open`, and each further letter costs `extend`. So a
//! gap of n letters costs `open + (n - 1) extend`. Some programs charge `open + n extend`. For the same alignments,
//! give them an `open` that is smaller by `extend`. To use their costs here, add their `extend` to their `open`.

use std::fmt;

use lehr_data::sequences::Alphabet;

use crate::Error;

/// A symmetric matrix of scores of letters against letters.
///
/// # Example
/// ```
/// use lehr_distances::scoring::Matrix;
/// let dna = Matrix::ednafull();
/// assert_eq!((dna.score(b'A', b'A'), dna.score(b'A', b'C'), dna.score(b'A', b'N')), (5, -4, -2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    alphabet: Alphabet,
    /// The scores by index in [`Alphabet::letters`], row after row.
    scores: Vec<i32>,
    name: String,
}

impl Matrix {
    /// Returns EDNAFULL, also known as NUC.4.4: 5 for equal nucleotides, -4 for different ones, and -4 to 1 if a code
    /// is ambiguous.
    ///
    /// A score follows from the sets of nucleotides that two codes mean, and from the overlap of these sets.
    pub fn ednafull() -> Self {
        let letters = Alphabet::Dna.letters();
        let sets: Vec<u8> = letters.iter().map(|letter| nucleotides(*letter)).collect();
        let score = |a: u8, b: u8| {
            let (small, large) = if a.count_ones() <= b.count_ones() { (a, b) } else { (b, a) };
            let common = a & b;
            match (small.count_ones(), large.count_ones()) {
                (_, _) if common == 0 => -4,
                (1, 1) => 5,
                (1, 2) => 1,
                (1, 3) => -1,
                (1, 4) => -2,
                // Both codes mean several nucleotides: the sets are equal, one contains the other, they overlap, or one
                // has all nucleotides.
                (2, 2) | (3, 3) if small == large => -1,
                (2, 2) | (3, 3) => -2,
                (2, 3) if common == small => -1,
                (2, 3) => -3,
                _ => -1,
            }
        };
        let scores = sets.iter().flat_map(|a| sets.iter().map(move |b| score(*a, *b))).collect();
        Matrix { alphabet: Alphabet::Dna, scores, name: "EDNAFULL".into() }
    }

    /// Returns BLOSUM62 (Henikoff and Henikoff, 1992), in half-bit units.
    pub fn blosum62() -> Self {
        Matrix { alphabet: Alphabet::Protein, scores: BLOSUM62.map(i32::from).to_vec(), name: "BLOSUM62".into() }
    }

    /// Returns a matrix with one score for equal letters and another for different ones. Ambiguous letters equal no
    /// letter.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if `equal` is not above 0, if `different` is above `equal`, or if either is beyond
    /// +-10,000.
    pub fn simple(alphabet: Alphabet, equal: i32, different: i32) -> Result<Self, Error> {
        if equal <= 0 || different > equal || equal > SCORE_MAX || different < -SCORE_MAX {
            return Err(Error::Parameter {
                name: "matrix",
                expected: "EQUAL/DIFFERENT with EQUAL above 0, DIFFERENT not above EQUAL, both within 10,000".into(),
                found: format!("{equal}/{different}"),
            });
        }
        let letters = alphabet.letters();
        let score = |a: u8, b: u8| if a == b && alphabet.is_certain(a) { equal } else { different };
        let scores = letters.iter().flat_map(|a| letters.iter().map(move |b| score(*a, *b))).collect();
        Ok(Matrix { alphabet, scores, name: format!("{equal}/{different}") })
    }

    /// Returns the score of two letters of the alphabet.
    ///
    /// # Panics
    /// Panics if either is not a letter of the alphabet.
    pub fn score(&self, a: u8, b: u8) -> i32 {
        let letters = self.alphabet.letters();
        let place = |letter: u8| letters.iter().position(|known| *known == letter).expect("a letter of the alphabet");
        self.scores[place(a) * letters.len() + place(b)]
    }

    /// Returns the alphabet of the matrix.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the largest score.
    pub fn largest(&self) -> i32 {
        self.scores.iter().copied().max().unwrap_or(0)
    }

    /// Returns the smallest score.
    pub fn smallest(&self) -> i32 {
        self.scores.iter().copied().min().unwrap_or(0)
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.name)
    }
}

/// The maximum absolute score or cost.
const SCORE_MAX: i32 = 10_000;

/// A matrix and the costs of gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scoring {
    matrix: Matrix,
    open: i32,
    extend: i32,
}

impl Scoring {
    /// Combines a matrix with gap costs: `open` for the first letter of a gap, and `extend` for each further letter.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] unless `0 <= extend <= open <= 10,000`.
    ///
    /// # Example
    /// ```
    /// use lehr_distances::scoring::{Matrix, Scoring};
    /// let scoring = Scoring::new(Matrix::ednafull(), 14, 4)?;
    /// assert_eq!(scoring.gap(3), 22);
    /// assert!(Scoring::new(Matrix::ednafull(), 1, 4).is_err());
    /// # Ok::<(), lehr_distances::Error>(())
    /// ```
    pub fn new(matrix: Matrix, open: i32, extend: i32) -> Result<Self, Error> {
        let wrong = |name, expected, found: i32| Err(Error::Parameter { name, expected, found: found.to_string() });
        if !(0..=SCORE_MAX).contains(&open) {
            return wrong("gap_open", "0 to 10,000".to_owned(), open);
        }
        if !(0..=open).contains(&extend) {
            return wrong("gap_extend", format!("0 to the cost of opening a gap ({open})"), extend);
        }
        Ok(Scoring { matrix, open, extend })
    }

    /// Returns the scoring of the papers (`docs/papers.md`): EDNAFULL with 14/4 for nucleotides, BLOSUM62 with 10/1 for
    /// proteins.
    pub fn usual(alphabet: Alphabet) -> Self {
        match alphabet {
            Alphabet::Dna => Scoring { matrix: Matrix::ednafull(), open: 14, extend: 4 },
            Alphabet::Protein => Scoring { matrix: Matrix::blosum62(), open: 10, extend: 1 },
        }
    }

    /// Returns the matrix of scores.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Returns the cost of the first letter in a gap.
    pub fn open(&self) -> i32 {
        self.open
    }

    /// Returns the cost of each further letter in a gap.
    pub fn extend(&self) -> i32 {
        self.extend
    }

    /// Returns the cost of a gap of `letters` letters; 0 for no letters.
    pub fn gap(&self, letters: usize) -> i64 {
        if letters == 0 { 0 } else { i64::from(self.open) + (letters as i64 - 1) * i64::from(self.extend) }
    }
}

/// Returns the nucleotides that a letter means, as bits: A 1, C 2, G 4, T 8.
fn nucleotides(letter: u8) -> u8 {
    match letter {
        b'A' => 1,
        b'C' => 2,
        b'G' => 4,
        b'T' => 8,
        b'R' => 1 | 4,
        b'Y' => 2 | 8,
        b'S' => 2 | 4,
        b'W' => 1 | 8,
        b'K' => 4 | 8,
        b'M' => 1 | 2,
        b'B' => 2 | 4 | 8,
        b'D' => 1 | 4 | 8,
        b'H' => 1 | 2 | 8,
        b'V' => 1 | 2 | 4,
        _ => 15,
    }
}

/// BLOSUM62, in the order of `Alphabet::Protein.letters()`.
#[rustfmt::skip]
const BLOSUM62: [i8; 576] = [
     4,-1,-2,-2, 0,-1,-1, 0,-2,-1,-1,-1,-1,-2,-1, 1, 0,-3,-2, 0,-2,-1, 0,-4,
    -1, 5, 0,-2,-3, 1, 0,-2, 0,-3,-2, 2,-1,-3,-2,-1,-1,-3,-2,-3,-1, 0,-1,-4,
    -2, 0, 6, 1,-3, 0, 0, 0, 1,-3,-3, 0,-2,-3,-2, 1, 0,-4,-2,-3, 3, 0,-1,-4,
    -2,-2, 1, 6,-3, 0, 2,-1,-1,-3,-4,-1,-3,-3,-1, 0,-1,-4,-3,-3, 4, 1,-1,-4,
     0,-3,-3,-3, 9,-3,-4,-3,-3,-1,-1,-3,-1,-2,-3,-1,-1,-2,-2,-1,-3,-3,-2,-4,
    -1, 1, 0, 0,-3, 5, 2,-2, 0,-3,-2, 1, 0,-3,-1, 0,-1,-2,-1,-2, 0, 3,-1,-4,
    -1, 0, 0, 2,-4, 2, 5,-2, 0,-3,-3, 1,-2,-3,-1, 0,-1,-3,-2,-2, 1, 4,-1,-4,
     0,-2, 0,-1,-3,-2,-2, 6,-2,-4,-4,-2,-3,-3,-2, 0,-2,-2,-3,-3,-1,-2,-1,-4,
    -2, 0, 1,-1,-3, 0, 0,-2, 8,-3,-3,-1,-2,-1,-2,-1,-2,-2, 2,-3, 0, 0,-1,-4,
    -1,-3,-3,-3,-1,-3,-3,-4,-3, 4, 2,-3, 1, 0,-3,-2,-1,-3,-1, 3,-3,-3,-1,-4,
    -1,-2,-3,-4,-1,-2,-3,-4,-3, 2, 4,-2, 2, 0,-3,-2,-1,-2,-1, 1,-4,-3,-1,-4,
    -1, 2, 0,-1,-3, 1, 1,-2,-1,-3,-2, 5,-1,-3,-1, 0,-1,-3,-2,-2, 0, 1,-1,-4,
    -1,-1,-2,-3,-1, 0,-2,-3,-2, 1, 2,-1, 5, 0,-2,-1,-1,-1,-1, 1,-3,-1,-1,-4,
    -2,-3,-3,-3,-2,-3,-3,-3,-1, 0, 0,-3, 0, 6,-4,-2,-2, 1, 3,-1,-3,-3,-1,-4,
    -1,-2,-2,-1,-3,-1,-1,-2,-2,-3,-3,-1,-2,-4, 7,-1,-1,-4,-3,-2,-2,-1,-2,-4,
     1,-1, 1, 0,-1, 0, 0, 0,-1,-2,-2, 0,-1,-2,-1, 4, 1,-3,-2,-2, 0, 0, 0,-4,
     0,-1, 0,-1,-1,-1,-1,-2,-2,-1,-1,-1,-1,-2,-1, 1, 5,-2,-2, 0,-1,-1, 0,-4,
    -3,-3,-4,-4,-2,-2,-3,-2,-2,-3,-2,-3,-1, 1,-4,-3,-2,11, 2,-3,-4,-3,-2,-4,
    -2,-2,-2,-3,-2,-1,-2,-3, 2,-1,-1,-2,-1, 3,-3,-2,-2, 2, 7,-1,-3,-2,-1,-4,
     0,-3,-3,-3,-1,-2,-2,-3,-3, 3, 1,-2, 1,-1,-2,-2, 0,-3,-1, 4,-3,-2,-1,-4,
    -2,-1, 3, 4,-3, 0, 1,-1, 0,-3,-4, 0,-3,-3,-2, 0,-1,-4,-3,-3, 4, 1,-1,-4,
    -1, 0, 0, 1,-3, 3, 4,-2, 0,-3,-3, 1,-1,-3,-1, 0,-1,-3,-2,-2, 1, 4,-1,-4,
     0,-1,-1,-1,-2,-1,-1,-1,-1,-1,-1,-1,-1,-1,-2, 0, 0,-2,-1,-1,-1,-1,-1,-4,
    -4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4,-4, 1,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_symmetric_and_their_letters_best_with_themselves() {
        for matrix in [Matrix::ednafull(), Matrix::blosum62()] {
            let letters = matrix.alphabet().letters();
            for a in letters {
                for b in letters {
                    assert_eq!(matrix.score(*a, *b), matrix.score(*b, *a));
                    if matrix.alphabet().is_certain(*a) {
                        assert!(matrix.score(*a, *a) > matrix.score(*a, *b) || a == b);
                    }
                }
            }
        }
    }

    /// NUC.4.4 as published, in its own order of letters.
    #[rustfmt::skip]
    const NUC44: [[i32; 15]; 15] = [
        [ 5, -4, -4, -4, -4,  1,  1, -4, -4,  1, -4, -1, -1, -1, -2],
        [-4,  5, -4, -4, -4,  1, -4,  1,  1, -4, -1, -4, -1, -1, -2],
        [-4, -4,  5, -4,  1, -4,  1, -4,  1, -4, -1, -1, -4, -1, -2],
        [-4, -4, -4,  5,  1, -4, -4,  1, -4,  1, -1, -1, -1, -4, -2],
        [-4, -4,  1,  1, -1, -4, -2, -2, -2, -2, -1, -1, -3, -3, -1],
        [ 1,  1, -4, -4, -4, -1, -2, -2, -2, -2, -3, -3, -1, -1, -1],
        [ 1, -4,  1, -4, -2, -2, -1, -4, -2, -2, -3, -1, -3, -1, -1],
        [-4,  1, -4,  1, -2, -2, -4, -1, -2, -2, -1, -3, -1, -3, -1],
        [-4,  1,  1, -4, -2, -2, -2, -2, -1, -4, -1, -3, -3, -1, -1],
        [ 1, -4, -4,  1, -2, -2, -2, -2, -4, -1, -3, -1, -1, -3, -1],
        [-4, -1, -1, -1, -1, -3, -3, -1, -1, -3, -1, -2, -2, -2, -1],
        [-1, -4, -1, -1, -1, -3, -1, -3, -3, -1, -2, -1, -2, -2, -1],
        [-1, -1, -4, -1, -3, -1, -3, -1, -3, -1, -2, -2, -1, -2, -1],
        [-1, -1, -1, -4, -3, -1, -1, -3, -1, -3, -2, -2, -2, -1, -1],
        [-2, -2, -2, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
    ];

    #[test]
    fn ednafull_is_the_published_table() {
        let matrix = Matrix::ednafull();
        for (a, row) in b"ATGCSWRYKMBVHDN".iter().zip(NUC44) {
            for (b, score) in b"ATGCSWRYKMBVHDN".iter().zip(row) {
                assert_eq!(matrix.score(*a, *b), score, "{} and {}", char::from(*a), char::from(*b));
            }
        }
    }

    #[test]
    fn blosum62_has_its_published_corners() {
        let matrix = Matrix::blosum62();
        assert_eq!(
            [(b'W', b'W'), (b'C', b'C'), (b'I', b'V'), (b'W', b'C')].map(|(a, b)| matrix.score(a, b)),
            [11, 9, 3, -2]
        );
        // The sum over the twenty amino acids of the published table.
        let letters = &matrix.alphabet().letters()[..20];
        let sum: i32 = letters.iter().flat_map(|a| letters.iter().map(|b| matrix.score(*a, *b))).sum();
        assert_eq!(sum, -426);
    }
}
