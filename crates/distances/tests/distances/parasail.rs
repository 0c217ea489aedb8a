//! Tests against parasail, an independent program. Scores are equal, and none of its best alignments has more matches,
//! or as many matches in fewer columns.

use std::path::PathBuf;

use lehr_data::read::{fasta, unpacked};
use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::alignment::{Aligner, Alignment, Counted, Mode};
use lehr_distances::scoring::{Matrix, Scoring};
use std::io::Read;

fn text(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut text = String::new();
    unpacked(std::fs::File::open(path).unwrap()).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The result of parasail for a pair: score, matches, columns.
type Found = (i64, usize, usize);

/// Returns whether a global alignment of two sequences with `letters` letters together can have these results.
/// Mismatches and gap letters follow from matches and columns. The remaining score must come from openings of gaps,
/// which cost 12 more than an extension each. For some alignments that begin with a gap, parasail's statistics miss a
/// column or two, but its traceback has them.
fn is_possible(letters: usize, (score, matches, columns): Found) -> bool {
    let (pairs, in_gaps) = (letters as i64 - columns as i64, 2 * columns as i64 - letters as i64);
    let openings = 5 * matches as i64 - 4 * (pairs - matches as i64) - score - 4 * in_gaps;
    openings >= 0 && openings % 12 == 0 && (openings > 0) == (in_gaps > 0)
}

fn compare(ours: Alignment, theirs: Found, what: &str) {
    let (score, matches, columns) = theirs;
    assert_eq!(ours.score, score, "{what}");
    assert!(
        ours.matches > matches || ours.matches == matches && ours.columns <= columns,
        "{what}: {ours:?} for {theirs:?}"
    );
}

#[test]
fn e24_scores_of_all_pairs_of_200_alus() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../datasets/alu/alu_human.fasta.gz");
    let all = fasta::sequences(&path, fasta::Expected::default()).unwrap();
    assert_eq!((all.len(), all.alphabet()), (9892, Alphabet::Dna));
    let table = text("../../datasets/alu/alu200_pairwise_reference.csv.gz");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 19_900);
    let mut ids: Vec<&str> = Vec::new();
    for row in &rows {
        for id in [row[0], row[1]] {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    let place = |id: &str| all.ids().iter().position(|known| known == id).unwrap();
    let texts: Vec<&[u8]> = ids.iter().map(|id| all.sequence(place(id))).collect();
    let genes = Sequences::new(&texts, Alphabet::Dna).unwrap();
    let scoring = Scoring::new(Matrix::ednafull(), 16, 4).unwrap();
    let mut miscounted = 0;
    for (mode, column) in [(Mode::Local, 2), (Mode::Global, 5)] {
        let aligner = Aligner::new(&genes, &scoring, mode, Counted::Columns).unwrap();
        let mut found = vec![Alignment::default(); 200 * 200];
        aligner.tile(0..200, 0..200, |i, j, alignment| found[i * 200 + j] = alignment);
        for row in &rows {
            let [i, j] = [row[0], row[1]].map(|id| ids.iter().position(|known| *known == id).unwrap());
            let number = |at: usize| row[at].parse::<usize>().unwrap();
            let mut theirs = (row[column].parse().unwrap(), number(column + 1), number(column + 2));
            let letters = genes.sequence(i).len() + genes.sequence(j).len();
            if mode == Mode::Global && !is_possible(letters, theirs) {
                let possible = (1..=2).find(|more| is_possible(letters, (theirs.0, theirs.1, theirs.2 + more)));
                theirs.2 += possible.unwrap_or_else(|| panic!("no such alignment of {} and {}", row[0], row[1]));
                miscounted += 1;
            }
            compare(
                found[i.min(j) * 200 + i.max(j)],
                theirs,
                &format!("{mode} alignment of {} and {}", row[0], row[1]),
            );
        }
    }
    assert_eq!(miscounted, 15, "of 19,900 pairs");
}

/// `fixtures/parasail_scores.py` made the file, and describes how.
#[test]
fn scores_of_every_mode_with_uncertain_letters_and_amino_acids() {
    let table = text("tests/fixtures/parasail_scores.csv");
    let mut seen = 0;
    for line in table.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let (alphabet, matrix) = match field[0] {
            "dna" => (Alphabet::Dna, Matrix::ednafull()),
            _ => (Alphabet::Protein, Matrix::blosum62()),
        };
        let mode = match field[1] {
            "sw" => Mode::Local,
            "nw" => Mode::Global,
            _ => Mode::SemiGlobal,
        };
        let cost = |at: usize| field[at].parse().unwrap();
        let scoring = Scoring::new(matrix, cost(2), cost(3)).unwrap();
        let pair = Sequences::new(&field[4..6], alphabet).unwrap();
        let ours = Aligner::new(&pair, &scoring, mode, Counted::Score).unwrap().pair(0, 1);
        let theirs: i64 = field[6].parse().unwrap();
        // Lehr allows alignments without any overlap, whose score is 0; parasail requires an overlap.
        let expected = if mode == Mode::SemiGlobal { theirs.max(0) } else { theirs };
        assert_eq!(ours.score, expected, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 360);
}
