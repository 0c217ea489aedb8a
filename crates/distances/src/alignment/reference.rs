//! Aligns one pair, one cell at a time, with a name for each part of a value. The tests compare the kernel with it.
//!
//! This code is slow and plain on purpose. It follows the recurrences of textbooks: minus infinity, three tables, a
//! comparison part by part. It shares no code with the kernel, so an error in either makes the two disagree.

use crate::alignment::{Alignment, Counted, Mode, is_transition};
use crate::scoring::Scoring;

/// The score, the matches, and the negatives of columns and transitions. [`super::packing`] compares these in order as
/// one number.
type Parts = (i64, i64, i64, i64);

const IMPOSSIBLE: Parts = (i64::MIN / 4, 0, 0, 0);

/// Returns the best alignment of two sequences, as [`super::Aligner`] defines it.
///
/// Cost: length x length cells, about 20 ns each. For tests and experiments.
///
/// # Example
/// ```
/// use lehr_distances::alignment::{Counted, Mode, reference::align};
/// use lehr_distances::scoring::{Matrix, Scoring};
/// use lehr_data::sequences::Alphabet;
/// let scoring = Scoring::new(Matrix::simple(Alphabet::Dna, 2, -1)?, 1, 1)?;
/// let found = align(b"ACACACTA", b"AGCACACA", &scoring, Mode::Local, Counted::Columns);
/// assert_eq!((found.score, found.matches, found.columns), (12, 7, 9));
/// # Ok::<(), lehr_distances::Error>(())
/// ```
pub fn align(a: &[u8], b: &[u8], scoring: &Scoring, mode: Mode, counted: Counted) -> Alignment {
    let letters = |x: u8, y: u8| letter_parts(x, y, scoring, counted);
    let gap = |cost: i32| (-i64::from(cost), 0, -i64::from(counted == Counted::Columns), 0);
    let (open, extend) = (gap(scoring.open()), gap(scoring.extend()));
    let border = |length: usize| match (mode, length) {
        (Mode::Local | Mode::SemiGlobal, _) | (_, 0) => (0, 0, 0, 0),
        (Mode::Global, _) => (1..length).fold(open, |sum, _| add(sum, extend)),
    };
    let (rows, columns) = (a.len(), b.len());
    let at = |i: usize, j: usize| i * (columns + 1) + j;
    let cells = (rows + 1) * (columns + 1);
    let (mut h, mut e, mut f) = (vec![IMPOSSIBLE; cells], vec![IMPOSSIBLE; cells], vec![IMPOSSIBLE; cells]);
    for i in 0..=rows {
        h[at(i, 0)] = border(i);
    }
    for j in 0..=columns {
        h[at(0, j)] = border(j);
    }
    for i in 1..=rows {
        for j in 1..=columns {
            e[at(i, j)] = add(h[at(i, j - 1)], open).max(add(e[at(i, j - 1)], extend));
            f[at(i, j)] = add(h[at(i - 1, j)], open).max(add(f[at(i - 1, j)], extend));
            let mut best = add(h[at(i - 1, j - 1)], letters(a[i - 1], b[j - 1])).max(e[at(i, j)]).max(f[at(i, j)]);
            if mode == Mode::Local {
                best = best.max((0, 0, 0, 0));
            }
            h[at(i, j)] = best;
        }
    }
    let best = match mode {
        Mode::Global => h[at(rows, columns)],
        Mode::Local => h.iter().copied().max().unwrap_or_default(),
        Mode::SemiGlobal => {
            let last_row = (0..=columns).map(|j| h[at(rows, j)]);
            let last_column = (0..=rows).map(|i| h[at(i, columns)]);
            last_row.chain(last_column).max().unwrap_or_default()
        }
    };
    Alignment { score: best.0, matches: best.1 as usize, columns: -best.2 as usize, transitions: -best.3 as usize }
}

fn add(a: Parts, b: Parts) -> Parts {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3)
}

/// Returns the parts that two aligned letters add.
pub(crate) fn letter_parts(x: u8, y: u8, scoring: &Scoring, counted: Counted) -> Parts {
    let score = i64::from(scoring.matrix().score(x, y));
    if counted == Counted::Score {
        return (score, 0, 0, 0);
    }
    let is_match = x == y;
    let transition = counted == Counted::Transitions && is_transition(x, y);
    (score, i64::from(is_match), -1, -i64::from(transition))
}
