//! Passes of hard assignment over rows of bits that skip rows and centres by bounds.
//!
//! Each leaf keeps bounds on the distances between its rows and the centres ([`Known`]). A pass has two rounds. The
//! first round finds the rows that go from one centre to another. The second round computes the sums of the centres
//! that such a row left or joined; all other centres keep their sums. If sums are exact, the second round adds and
//! subtracts these rows only. When few centres move, as in a trial of the swap search, hardly any row is read. The
//! result is bit-identical to a pass that compares every row with every centre.

use lehr_numerics::bits::{Known, Moves, assign_known_bits, changes_of_known_bits, sums_of_known_bits};
use lehr_numerics::nearest::Kind;

use super::centers::Centers;
use super::hard::{Remembered, settle_bits};
use super::side_by_side::HardSideBySide;
use crate::Error;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::{Rows, Scalar};

/// The bounds of a leaf: after the last pass, and after the pass that is the base of trials.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    last: Known,
    base: Known,
}

/// The pass whose bounds and sums a pass updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// None: all distances are computed.
    Nothing,
    Last,
    /// The base of trials.
    Base,
}

/// The set of bounds that a pass leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Last,
    /// The pass becomes the base of trials.
    Base,
}

impl Bounds {
    /// Returns the bounds that a pass updates, after copying them from their source.
    fn prepare(&mut self, from: Source, to: Target, clusters: usize) -> &mut Known {
        match (from, to) {
            (Source::Nothing, Target::Last) => self.last.forget(),
            (Source::Nothing, Target::Base) => self.base.forget(),
            (Source::Last, Target::Base) => self.base.take_over(&self.last, clusters),
            (Source::Base, Target::Last) => self.last.take_over(&self.base, clusters),
            (Source::Last, Target::Last) | (Source::Base, Target::Base) => {}
        }
        self.get(to)
    }

    fn get(&mut self, of: Target) -> &mut Known {
        match of {
            Target::Last => &mut self.last,
            Target::Base => &mut self.base,
        }
    }
}

/// A pass over rows of bits by bounds.
pub(crate) struct KnownPass<'a, T: Scalar> {
    pub rows: &'a Rows<T>,
    pub centers: &'a Centers,
    pub side_by_side: &'a HardSideBySide<T>,
    pub memory: &'a LeafCells<Remembered>,
    pub from: Source,
    pub to: Target,
    pub moves: &'a Moves,
}

impl<T: Scalar> KnownPass<'_, T> {
    /// Makes the pass. Writes the sums in stored units, with the costs, to `total`.
    ///
    /// `counts` has the mass and the moments of each centre in the pass that this pass updates, in the unit of bits. This
    /// pass replaces them by its own.
    ///
    /// # Errors
    /// Returns the errors of rounds. The bounds of the target are then invalid.
    pub async fn run(&self, rounds: &mut dyn Rounds, counts: &mut Vec<f64>, total: &mut Vec<f64>) -> Result<(), Error> {
        let (length, clusters) = (1 + self.rows.dimension, self.centers.len());
        let mut touched = Vec::new();
        total_of(rounds, &AssignRound(self), &mut touched).await?;
        let is_whole = self.from == Source::Nothing;
        let which: Vec<usize> = (0..clusters).filter(|&k| is_whole || touched[k] > 0.0).collect();
        counts.resize(clusters * length, 0.0);
        if !which.is_empty() {
            let mut places = vec![None; clusters];
            which.iter().enumerate().for_each(|(place, &k)| places[k] = Some(place));
            let are_changes = self.rows.has_exact_sums && !is_whole;
            let mut found = Vec::new();
            let round = SumsRound { pass: self, places: &places, count: which.len(), are_changes };
            total_of(rounds, &round, &mut found).await?;
            for (found, &k) in found.chunks_exact(length).zip(&which) {
                let counts = &mut counts[k * length..][..length];
                if are_changes {
                    counts.iter_mut().zip(found).for_each(|(count, change)| *count += change);
                } else {
                    counts.copy_from_slice(found);
                }
            }
        }
        let per_center = Kind::Centers.len(self.rows.dimension);
        total.resize(clusters * per_center, 0.0);
        let of_centers = total.chunks_exact_mut(per_center).zip(counts.chunks_exact(length)).zip(self.centers.rows());
        for ((total, counts), center) in of_centers {
            total[..length].copy_from_slice(counts);
            settle_bits(self.rows, center, total);
        }
        Ok(())
    }
}

/// Finds the nearest centre of each row. For each centre, the total has the number of rows that left or joined it.
struct AssignRound<'a, T: Scalar>(&'a KnownPass<'a, T>);

impl<T: Scalar> Round for AssignRound<'_, T> {
    fn len(&self) -> usize {
        self.0.centers.len()
    }

    fn name(&self) -> &'static str {
        "nearest centres"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let KnownPass { rows, side_by_side, memory, from, to, moves, .. } = *self.0;
        partial.fill(0.0);
        let bits = rows.leaves[leaf].store.bits();
        memory.with(leaf, |memory| {
            let known = memory.bounds.prepare(from, to, partial.len());
            T::with_scratch(|scratch| {
                assign_known_bits(bits, &side_by_side.bits, moves, known, &mut scratch.bits, partial);
            });
        });
    }
}

/// Adds up the masses and moments of some centres, or their changes, in the unit of bits.
struct SumsRound<'a, T: Scalar> {
    pass: &'a KnownPass<'a, T>,
    /// Where the sums of each centre are.
    places: &'a [Option<usize>],
    /// The number of centres with a place.
    count: usize,
    /// Whether only rows that went from one centre to another are added and subtracted.
    are_changes: bool,
}

impl<T: Scalar> Round for SumsRound<'_, T> {
    fn len(&self) -> usize {
        self.count * self.key_len()
    }

    fn key_len(&self) -> usize {
        1 + self.pass.rows.dimension
    }

    fn name(&self) -> &'static str {
        "sums of centres"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let KnownPass { rows, memory, to, .. } = *self.pass;
        partial.fill(0.0);
        let bits = rows.leaves[leaf].store.bits();
        memory.with(leaf, |memory| {
            let known = memory.bounds.get(to);
            T::with_scratch(|scratch| match self.are_changes {
                true => changes_of_known_bits(bits, known, self.places, &mut scratch.bits, partial),
                false => sums_of_known_bits(bits, known, self.places, &mut scratch.bits, partial),
            });
        });
    }
}
