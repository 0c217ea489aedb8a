//! What is known of rows of bits from a pass of hard assignment before, and which distances it spares the next.
//!
//! A centre that has moved by `m` is nearer to a row by `m` at most (Elkan 2003). So of each row's distance to each centre, once known, a bound remains from which only what centres move is taken away; a centre whose bound is larger
//! than the distance to the row's own need not be looked at. It is exact to the bit: bounds are of true distances, and a centre is left out only where the *computed* squared distance, with all that rounding can do to it, must be larger
//! than the one computed of the row's own centre. What is looked at is computed as a whole pass computes it.

/// The nearest centre of each row of a block, and how near the others can be.
///
/// Memory: 4 bytes for each row and centre.
#[derive(Clone, Debug, Default)]
pub struct Known {
    clusters: usize,
    nearest: Vec<u32>,
    /// Rows x K: no centre is nearer than this.
    least: Vec<f32>,
}

/// Both a product and a difference in single precision are off by a 2^-24th at most.
const SHRINK: f32 = 1.0 - 1.0 / (1u32 << 22) as f32;
/// What rounds a number in double precision up to one in single, with some to spare.
const UP: f64 = 1.0 + 1e-6;

impl Known {
    /// How many rows are known.
    pub fn rows(&self) -> usize {
        self.nearest.len()
    }

    /// How many centres they are known of.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The nearest centre of a row.
    ///
    /// # Panics
    /// If `row` is not below [`Known::rows`].
    pub fn nearest(&self, row: usize) -> usize {
        self.nearest[row] as usize
    }

    /// Takes over what another knows, of at least as many centres as that: of those behind its own nothing.
    ///
    /// # Panics
    /// If there are to be fewer.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::bits::Known;
    /// let (base, mut known) = (Known::default(), Known::default());
    /// known.take_over(&base, 3);
    /// assert_eq!((known.rows(), known.clusters()), (0, 3));
    /// ```
    pub fn take_over(&mut self, other: &Self, clusters: usize) {
        assert!(clusters >= other.clusters, "no centre is forgotten");
        self.clusters = clusters;
        self.nearest.clone_from(&other.nearest);
        if clusters == other.clusters {
            self.least.clone_from(&other.least);
            return;
        }
        self.least.clear();
        self.least.resize(clusters * other.rows(), 0.0);
        let rows = self.least.chunks_exact_mut(clusters).zip(other.least.chunks_exact(other.clusters.max(1)));
        rows.for_each(|(to, from)| to[..other.clusters].copy_from_slice(from));
    }

    /// Knows of no row any more.
    pub fn forget(&mut self) {
        self.nearest.clear();
        self.least.clear();
    }

    /// Gets ready for so many rows and centres.
    pub(super) fn begin(&mut self, rows: usize, clusters: usize) {
        self.clusters = clusters;
        self.nearest.clear();
        self.nearest.resize(rows, 0);
        self.least.clear();
        self.least.resize(rows * clusters, 0.0);
    }

    /// Takes note of a computed squared distance, of which rounding may have changed so much.
    #[inline(always)]
    pub(super) fn learn(&mut self, row: usize, k: usize, squared: f64, slack: f32) {
        self.least[row * self.clusters + k] = bound_of(squared, slack);
    }

    /// Takes note of the nearest centre.
    #[inline(always)]
    pub(super) fn choose(&mut self, row: usize, k: usize) {
        self.nearest[row] = k as u32;
    }

    /// The next centre, from `first` on and but the row's own, that may be as near as `squared`.
    #[inline(always)]
    pub(super) fn next_near(&self, row: usize, first: usize, squared: f64, slack: &[f32]) -> Option<usize> {
        let (own, squared) = (self.nearest[row] as usize, rounded_up(squared));
        let least = &self.least[row * self.clusters..][..self.clusters];
        (first..self.clusters).find(|&k| k != own && may_be_near(least[k], slack[k], squared))
    }

    /// Whether another centre than the row's own may be as near as `squared`, rounding set aside.
    #[cfg(test)]
    pub(crate) fn has_others_near(&self, row: usize, squared: f64) -> bool {
        self.next_near(row, 0, squared, &vec![1e-9; self.clusters]).is_some()
    }

    /// How near each centre can be to a row.
    #[inline(always)]
    pub(super) fn bounds_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.least[row * self.clusters..][..self.clusters]
    }
}

/// How far each centre has moved since rows were known.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    moves: Vec<f32>,
}

impl Moves {
    /// From one set of centres to another, both row after row, in a `unit` of which the coordinates of the bits are; of centres behind the last of `before` nothing is said.
    ///
    /// # Panics
    /// If there are fewer than before.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::bits::Moves;
    /// let mut moves = Moves::default();
    /// moves.measure(&[0.0, 0.0], &[3.0, 4.0, 1.0, 1.0], 2, 1.0);
    /// assert_eq!(moves.len(), 2);
    /// ```
    pub fn measure(&mut self, before: &[f64], after: &[f64], dimension: usize, unit: f64) {
        assert!(before.len() <= after.len() && after.len().is_multiple_of(dimension), "centres of {dimension} columns");
        // Coordinates of bits are about 1, and each has been rounded on its way from those that are given.
        let rounded = (dimension as f64).sqrt() * 8.0 * f64::EPSILON;
        let moved = |(before, after): (&[f64], &[f64])| {
            let squared: f64 = before.iter().zip(after).map(|(a, b)| (a - b) * (a - b)).sum();
            // What is where it was has not moved at all.
            if squared > 0.0 { rounded_up(squared.sqrt() * unit + rounded) } else { 0.0 }
        };
        self.moves.clear();
        self.moves.extend(before.chunks_exact(dimension).zip(after.chunks_exact(dimension)).map(moved));
        self.moves.resize(after.len() / dimension, 0.0);
    }

    /// How many centres.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Lowers a row's bounds by what the centres have moved; says how many of them may be as near as `squared`, the row's own among them. `slack` is what rounding may do to a squared distance from each.
    #[inline(always)]
    pub(super) fn lower(&self, least: &mut [f32], slack: &[f32], squared: f64) -> usize {
        let squared = rounded_up(squared);
        let mut near = 0;
        for ((least, &moved), &slack) in least.iter_mut().zip(&self.moves).zip(slack) {
            let bound = *least * SHRINK - moved;
            *least = bound;
            near += u32::from(may_be_near(bound, slack, squared));
        }
        near as usize
    }
}

/// A number of single precision that is no smaller.
#[inline(always)]
pub(super) fn rounded_up(number: f64) -> f32 {
    (number * UP) as f32
}

/// Whether a computed squared distance may be `squared` or less, of a centre that is no nearer than `bound`.
#[inline(always)]
pub(super) fn may_be_near(bound: f32, slack: f32, squared: f32) -> bool {
    // Neither side is off by more than three 2^-24ths.
    !(bound > 0.0 && bound * bound * SHRINK > (squared + slack) * (2.0 - SHRINK))
}

/// The bound that a computed squared distance gives.
#[inline(always)]
pub(super) fn bound_of(squared: f64, slack: f32) -> f32 {
    let least = (squared - f64::from(slack)).max(0.0).sqrt() as f32;
    least * SHRINK
}

/// What rounding may do to a squared distance: to a sum of `terms` terms in a precision of `epsilon`, of which the first was summed of `columns` in double precision; `size` is what the sizes of all add up to. Twice the bound of a
/// sum's error, for terms that are rounded themselves.
pub(super) fn slack_of(terms: usize, columns: usize, size: f64, epsilon: f64) -> f32 {
    rounded_up(((terms + 16) as f64 * epsilon + columns as f64 * f64::EPSILON) * size) + f32::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_lowered_by_what_a_centre_moves_and_a_little_for_rounding() {
        let mut moves = Moves::default();
        moves.measure(&[0.0, 0.0, 1.0, 1.0], &[3.0, 4.0, 1.0, 1.0, 9.0, 9.0], 2, 2.0);
        let mut least = [25.0, 6.0, 0.0];
        // 25 - 10 and 6, whose squares are 225 and 36; of the third nothing is known.
        assert_eq!(moves.lower(&mut least, &[0.0; 3], 36.1), 2);
        assert!(least[0] <= 15.0 && least[0] > 14.9999 && least[1] < 6.0 && least[1] > 5.9999);
        assert_eq!(moves.lower(&mut least.clone(), &[0.0; 3], 26.0), 2, "the first is at 5 then, and its square 25");
        assert_eq!(moves.lower(&mut least, &[11.0; 3], 26.0), 3, "within what rounding may do");
    }

    #[test]
    fn what_is_as_near_as_a_bound_may_be_near() {
        for squared in [1e-20, 0.3, 1.0, 77.7, 1e20] {
            let bound = bound_of(squared, 0.0);
            assert!(may_be_near(bound, 0.0, rounded_up(squared)));
            assert!(
                !may_be_near(bound, 0.0, rounded_up(squared * 0.99999)),
                "and what is farther need not be looked at"
            );
        }
        assert!(may_be_near(-3.0, 0.0, 1.0), "a bound below 0 says nothing");
        assert!(may_be_near(bound_of(0.0, 0.0), 0.0, 0.0), "equals may be near");
        assert_eq!(bound_of(1.0, 2.0), 0.0);
    }

    #[test]
    fn what_another_knows_is_taken_over_and_nothing_of_centres_that_are_new() {
        let mut base = Known::default();
        base.begin(2, 2);
        base.least.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        base.nearest[1] = 1;
        let mut known = Known::default();
        known.take_over(&base, 3);
        assert_eq!((known.rows(), known.nearest(1), &known.least[..]), (2, 1, &[1.0, 2.0, 0.0, 3.0, 4.0, 0.0][..]));
        known.take_over(&base, 2);
        assert_eq!(known.least, base.least);
    }
}
