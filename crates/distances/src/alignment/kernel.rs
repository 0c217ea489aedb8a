//! Aligns one sequence with a line of others by dynamic programming: Smith and Waterman's or Needleman and Wunsch's,
//! with Gotoh's affine gaps.
//!
//! The query runs down, and the other sequences run across, one in each lane. A cell takes eleven operations on a line,
//! and no branch:
//!
//! ```text
//! h(i, j) = max(h(i-1, j-1) + s(a_i, b_j), e(i, j), f(i, j), 0 if local)
//! e(i, j+1) = max(h(i, j) - open, e(i, j) - extend)        f likewise downwards
//! ```
//!
//! The values are *packed* ([`super::packing`]): a score with its counts is one whole number, which adds up along an
//! alignment as scores do. So the kernels need no code for counts. They need no "minus infinity" either: a gap that
//! would begin before the first letter gets the value of the border minus one opening. No alignment can gain from such
//! a gap, and every value has a bound that [`super::packing`] can compute.

use crate::lanes::{Lanes, Number};

/// The packed values that a cell may subtract.
#[derive(Clone, Debug)]
pub(crate) struct Weights<N> {
    /// The cost of the first letter in a gap.
    pub(crate) open: N,
    /// The cost of each further letter in a gap.
    pub(crate) extend: N,
    /// The cost of the first position of a border: equal to `open`, or 0 if end gaps are free.
    pub(crate) border_open: N,
    /// The cost of each further position of a border.
    pub(crate) border_extend: N,
    /// Whether gaps at the ends are free, if the alignment is not local.
    pub(crate) ends_are_free: bool,
}

/// As many sequences as a line has lanes, or fewer, in the kernel's layout.
#[derive(Debug)]
pub(crate) struct Group<N: Number> {
    /// The scores of the query's symbols against each lane's letter at a position: the line
    /// `position * symbols + symbol` has the scores of one symbol.
    pub(crate) profile: Vec<N::Line>,
    pub(crate) symbols: usize,
    /// The length of each lane's sequence; 0 for a lane without a sequence.
    pub(crate) lengths: Vec<usize>,
}

impl<N: Number> Group<N> {
    /// The length of the longest sequence.
    pub(crate) fn columns(&self) -> usize {
        self.profile.len() / self.symbols
    }
}

/// The memory of the kernel, which is reused from one pair to the next.
#[derive(Debug)]
pub(crate) struct State<N: Number> {
    /// For each position of the query: the best alignment that ends at this position, in the last column.
    h: Vec<N::Line>,
    /// For each position of the query: the best alignment that ends at this position with a gap in the query, for the
    /// next column.
    e: Vec<N::Line>,
}

impl<N: Number> State<N> {
    /// Allocates for queries of at most `longest` letters.
    pub(crate) fn new(longest: usize) -> Self {
        let lines = vec![N::line(N::default()); longest];
        Self { h: lines.clone(), e: lines }
    }
}

/// The result of a sweep.
#[derive(Debug)]
pub(crate) struct Sweep<N: Number> {
    /// The packed value of the best alignment, in each lane.
    pub(crate) best: N::Line,
}

impl<N: Number> Sweep<N> {
    pub(crate) fn new() -> Self {
        Self { best: N::line(N::default()) }
    }
}

/// Aligns the query with each lane's sequence. With `LOCAL`, it finds the best parts of the two sequences. Without
/// `LOCAL`, it aligns both sequences completely, with borders at the cost in `weights`.
///
/// If end gaps are free, the best alignment ends anywhere in the last row or the last column. An alignment without any
/// overlap is allowed too, and has the value 0.
///
/// Cost: query x longest cells of 11 operations on a line. It allocates nothing.
#[inline(always)]
pub(crate) fn sweep<V: Lanes, const LOCAL: bool>(
    query: &[u8],
    group: &Group<V::Number>,
    weights: &Weights<V::Number>,
    state: &mut State<V::Number>,
    found: &mut Sweep<V::Number>,
) {
    let rows = query.len();
    let (h, e) = (&mut state.h[..rows], &mut state.e[..rows]);
    let zero = V::splat(V::Number::narrow(0));
    let (open, extend) = (V::splat(weights.open), V::splat(weights.extend));
    let (border_open, border_extend) = (V::splat(weights.border_open), V::splat(weights.border_extend));
    let mut border = zero;
    for row in 0..rows {
        border = border.sub(if row == 0 { border_open } else { border_extend });
        border.store(&mut h[row]);
        border.sub(open).store(&mut e[row]);
    }
    // In local alignments, `best` is the best of all cells. Otherwise, it is the best of the last row so far.
    let mut best = zero;
    let mut above = zero;
    let columns = group.columns();
    for column in 0..columns {
        let profile = &group.profile[column * group.symbols..][..group.symbols];
        let mut diagonal = above;
        above = above.sub(if column == 0 { border_open } else { border_extend });
        let mut f = above.sub(open);
        let mut last = above;
        for row in 0..rows {
            let mut value = diagonal.add(V::load(&profile[query[row] as usize]));
            let gap = V::load(&e[row]);
            value = value.max(gap);
            if LOCAL {
                value = value.max(zero);
            }
            value = value.max(f);
            diagonal = V::load(&h[row]);
            value.store(&mut h[row]);
            if LOCAL {
                best = best.max(value);
            }
            let opened = value.sub(open);
            opened.max(gap.sub(extend)).store(&mut e[row]);
            f = opened.max(f.sub(extend));
            last = value;
        }
        if !LOCAL {
            best = if weights.ends_are_free { best.max(last) } else { last };
            // Lanes whose sequence ends here are finished; the other lanes continue.
            if group.lengths.contains(&(column + 1)) {
                let mut line = <V::Number as Number>::line(V::Number::default());
                best.store(&mut line);
                for (lane, length) in group.lengths.iter().enumerate() {
                    if *length == column + 1 {
                        let mut value = V::Number::lanes(&line)[lane];
                        if weights.ends_are_free {
                            value = h
                                .iter()
                                .map(|line| V::Number::lanes(line)[lane])
                                .fold(value, |a, b| if b.wide() > a.wide() { b } else { a });
                        }
                        V::Number::lanes_mut(&mut found.best)[lane] = value;
                    }
                }
            }
        }
    }
    if LOCAL {
        best.store(&mut found.best);
    }
}
