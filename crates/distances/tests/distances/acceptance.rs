//! Tests textbook alignments and their scores (E24).

use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::alignment::{Aligner, Alignment, Counted, Mode};
use lehr_distances::scoring::{Matrix, Scoring};

fn score(a: &str, b: &str, scoring: &Scoring, mode: Mode) -> i64 {
    let pair = Sequences::new(&[a, b], Alphabet::Dna).unwrap();
    let of = |counted| Aligner::new(&pair, scoring, mode, counted).unwrap().pair(0, 1);
    let found: [Alignment; 2] = [of(Counted::Score), of(Counted::Columns)];
    assert_eq!(found[0].score, found[1].score, "counts do not change the score");
    found[0].score
}

fn simple(equal: i32, different: i32, gap: i32) -> Scoring {
    Scoring::new(Matrix::simple(Alphabet::Dna, equal, different).unwrap(), gap, gap).unwrap()
}

#[test]
fn e24_textbook_scores() {
    assert_eq!(score("ACACACTA", "AGCACACA", &simple(2, -1, 1), Mode::Local), 12);
    assert_eq!(score("GCATGCG", "GATTACA", &simple(1, -1, 1), Mode::Global), 0);
    assert_eq!(score("TGTTACGG", "GGTTGACTA", &simple(3, -3, 2), Mode::Local), 13);
}

#[test]
fn e24_a_gap_of_two_costs_an_opening_and_an_extension() {
    let scoring = Scoring::usual(Alphabet::Dna);
    let twenty = "ACGTTGCAACGTTGCAACGT";
    let with_insertion = "ACGTTGCAACAAGTTGCAACGT";
    for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
        assert_eq!(score(twenty, twenty, &scoring, mode), 100);
        assert_eq!(score(twenty, with_insertion, &scoring, mode), 82);
    }
}

#[test]
fn gaps_at_the_ends_are_free_where_asked() {
    let scoring = Scoring::usual(Alphabet::Dna);
    let (whole, part) = ("TTTTTACGTACGTACCCCCC", "ACGTACGTA");
    assert_eq!(score(whole, part, &scoring, Mode::SemiGlobal), 45);
    assert_eq!(score(whole, part, &scoring, Mode::Global), 45 - (14 + 4 * 4) - (14 + 4 * 5));
    assert_eq!(score("AAAA", "CCCC", &scoring, Mode::SemiGlobal), 0, "no overlap at all is worth nothing");
}
