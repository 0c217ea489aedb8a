//! Tests alignments against the definition: every alignment of two short sequences is listed and compared.

use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::alignment::{Aligner, Alignment, Counted, Mode, reference};
use lehr_distances::scoring::Scoring;
use lehr_numerics::random::Stream;

/// A column of an alignment: two letters, a letter of the first sequence, or a letter of the second.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Both,
    First,
    Second,
}

/// Calls `each` with every alignment of `a` letters with `b` letters.
fn every(a: usize, b: usize, columns: &mut Vec<Column>, each: &mut dyn FnMut(&[Column])) {
    if a == 0 && b == 0 {
        return each(columns);
    }
    for (column, first, second) in [(Column::Both, 1, 1), (Column::First, 1, 0), (Column::Second, 0, 1)] {
        if first <= a && second <= b {
            columns.push(column);
            every(a - first, b - second, columns, each);
            columns.pop();
        }
    }
}

fn worth(a: &[u8], b: &[u8], columns: &[Column], scoring: &Scoring, counted: Counted) -> (i64, i64, i64, i64) {
    let alphabet = scoring.matrix().alphabet();
    let (mut i, mut j, mut before) = (0, 0, Column::Both);
    let mut sum = (0, 0, 0, 0);
    for column in columns {
        if *column == Column::Both {
            let (x, y) = (a[i], b[j]);
            (i, j) = (i + 1, j + 1);
            sum.0 += i64::from(scoring.matrix().score(x, y));
            if counted != Counted::Score {
                sum.1 += i64::from(x == y);
                sum.2 -= 1;
            }
            let kinds = [x, y].map(|letter| b"AG".contains(&letter));
            let differ = x != y && alphabet.is_certain(x) && alphabet.is_certain(y);
            sum.3 -= i64::from(counted == Counted::Transitions && differ && kinds[0] == kinds[1]);
        } else {
            let cost = if *column == before { scoring.extend() } else { scoring.open() };
            sum.0 -= i64::from(cost);
            sum.2 -= i64::from(counted == Counted::Columns);
            if *column == Column::First { i += 1 } else { j += 1 }
        }
        before = *column;
    }
    sum
}

fn best(a: &[u8], b: &[u8], scoring: &Scoring, mode: Mode, counted: Counted) -> Alignment {
    let mut best = if mode == Mode::Global { None } else { Some((0, 0, 0, 0)) };
    let mut consider = |a: &[u8], b: &[u8]| {
        every(a.len(), b.len(), &mut Vec::new(), &mut |columns| {
            best = best.max(Some(worth(a, b, columns, scoring, counted)));
        });
    };
    match mode {
        Mode::Global => consider(a, b),
        Mode::Local => {
            for i in 0..a.len() {
                for j in 0..b.len() {
                    for i_end in i + 1..=a.len() {
                        for j_end in j + 1..=b.len() {
                            consider(&a[i..i_end], &b[j..j_end]);
                        }
                    }
                }
            }
        }
        // Gaps are free at one end of either sequence, both at the beginning and at the end.
        Mode::SemiGlobal => {
            let beginnings = (0..a.len()).map(|i| (i, 0)).chain((0..b.len()).map(|j| (0, j)));
            for (i, j) in beginnings {
                let ends =
                    (i + 1..=a.len()).map(|end| (end, b.len())).chain((j + 1..=b.len()).map(|end| (a.len(), end)));
                for (i_end, j_end) in ends {
                    consider(&a[i..i_end], &b[j..j_end]);
                }
            }
        }
    }
    let (score, matches, columns, transitions) = best.unwrap();
    Alignment { score, matches: matches as usize, columns: -columns as usize, transitions: -transitions as usize }
}

#[test]
fn of_all_alignments_the_best_is_found() {
    let stream = Stream::new(9, "short");
    let mut drawn = 0;
    let mut draw = |below: u64| {
        drawn += 1;
        (stream.bits(drawn) % below) as usize
    };
    let scorings = [
        Scoring::usual(Alphabet::Dna),
        Scoring::new(lehr_distances::scoring::Matrix::simple(Alphabet::Dna, 2, -1).unwrap(), 1, 1).unwrap(),
        Scoring::new(lehr_distances::scoring::Matrix::simple(Alphabet::Dna, 1, 0).unwrap(), 0, 0).unwrap(),
    ];
    for case in 0..120 {
        let texts: Vec<Vec<u8>> = (0..2).map(|_| (0..1 + draw(5)).map(|_| b"ACGTAGN"[draw(7)]).collect()).collect();
        let pair = Sequences::new(&texts, Alphabet::Dna).unwrap();
        let scoring = &scorings[case % scorings.len()];
        for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
            for counted in [Counted::Score, Counted::Columns, Counted::Letters, Counted::Transitions] {
                let (a, b) = (pair.sequence(0), pair.sequence(1));
                let expected = best(a, b, scoring, mode, counted);
                assert_eq!(reference::align(a, b, scoring, mode, counted), expected, "{texts:?} {mode} {counted:?}");
                assert_eq!(Aligner::new(&pair, scoring, mode, counted).unwrap().pair(0, 1), expected);
            }
        }
    }
}
