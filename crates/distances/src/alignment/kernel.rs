//! One sequence against a line of others: the dynamic programme of Smith and Waterman, and Needleman and Wunsch, with
//! Gotoh's affine gaps.
//!
//! The query runs down, the others run across, one for each lane. A cell is eleven operations on a line and no branch:
//!
//! ```text
//! h(i, j) = max(h(i-1, j-1) + s(a_i, b_j), e(i, j), f(i, j), 0 if local)
//! e(i, j+1) = max(h(i, j) - open, e(i, j) - extend)        f likewise downwards
//! ```
//!
//! The values are *packed*: see [`super::packing`]. The kernels don't know about counts. Packing turns a score with its
//! counts into one whole number that adds up along an alignment as scores do. There is no "minus infinity" either: a
//! gap that would begin before the first letter counts an opening less than the border. No alignment can gain from it,
//! and every value has a bound that [`super::packing`] can compute.

use crate::lanes::{Lanes, Number};

/// The packed values that a cell may add.
#[derive(Clone, Debug)]
pub(crate) struct Weights<N> {
    /// The first letter in a gap costs this.
    pub(crate) open: N,
    /// Each further one costs this.
    pub(crate) extend: N,
    /// The cost of the first place of a border: as `open`, or 0 where end gaps are free.
    pub(crate) border_open: N,
    /// Each further place of a border costs this.
    pub(crate) border_extend: N,
    /// Whether gaps at the ends are free, if the alignment is not local.
    pub(crate) ends_are_free: bool,
}

/// Up to a line of sequences, arranged for the kernel.
#[derive(Debug)]
pub(crate) struct Group<N: Number> {
    /// Line `place * symbols + symbol`: the score of that symbol in the query against the letter of each lane at that
    /// place.
    pub(crate) profile: Vec<N::Line>,
    pub(crate) symbols: usize,
    /// The length of each lane's sequence, 0 for a lane without one.
    pub(crate) lengths: Vec<usize>,
}

impl<N: Number> Group<N> {
    /// The length of the longest.
    pub(crate) fn columns(&self) -> usize {
        self.profile.len() / self.symbols
    }
}

/// Memory of the kernel, used again from one pair to the next.
#[derive(Debug)]
pub(crate) struct State<N: Number> {
    /// By place of the query: the best alignment that ends there, in the last column.
    h: Vec<N::Line>,
    /// By place of the query: the best that ends there in a gap of the query, for the next column.
    e: Vec<N::Line>,
}

impl<N: Number> State<N> {
    /// For queries of at most `longest` letters.
    pub(crate) fn new(longest: usize) -> Self {
        let lines = vec![N::line(N::default()); longest];
        Self { h: lines.clone(), e: lines }
    }
}

/// The result of a sweep.
#[derive(Debug)]
pub(crate) struct Sweep<N: Number> {
    /// Lane by lane, the packed value of the best alignment.
    pub(crate) best: N::Line,
}

impl<N: Number> Sweep<N> {
    pub(crate) fn new() -> Self {
        Self { best: N::line(N::default()) }
    }
}

/// Aligns the query with each lane's sequence. `LOCAL`: the best part of either; otherwise all of both, with borders at
/// the cost in `weights`.
///
/// If end gaps are free, the best is taken over the last row and the last column. No overlap at all is allowed too, and
/// is worth 0.
///
/// Cost: query x longest cells of 11 operations on a line; no allocation.
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
    // `best`: of all cells if local, otherwise of the last row as far as it went.
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
            // Lanes whose sequence ends here are finished; the others go on.
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
