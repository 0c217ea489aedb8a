//! The certainty of the nearest centre: the share of a row that soft assignment gives to the centre that hard
//! assignment chooses.

use crate::dispatch::kernel;
use crate::lanes::{Line, Real};
use crate::products::products;
use crate::soft::SoftCenters;
use crate::tiles::{DIRECT_DIMENSION, Tiles};

/// Buffers of [`nearest_membership`]; after a call it holds the membership of each row of the block.
#[derive(Clone, Debug, Default)]
pub struct MembershipScratch<T: Real> {
    scores: Vec<T::Line>,
    memberships: Vec<T::Line>,
}

impl<T: Real> MembershipScratch<T> {
    /// The membership of row `index` of the block of the last call in its best centre, in (0, 1].
    pub fn membership(&self, index: usize) -> f64 {
        self.memberships[index / T::Line::COUNT].lanes()[index % T::Line::COUNT].to_f64()
    }
}

/// Finds for each row of a block, for any weight, the largest of its memberships `g_k exp(-|x - y_k|^2 / T) / sum`.
///
/// Cost: rows x K x (2 D operations + one exponential). No allocation once `scratch` has grown.
///
/// # Panics
/// Panics if the shapes disagree or there is no centre.
///
/// # Example
/// ```
/// use lehr_numerics::{membership::{nearest_membership, MembershipScratch}, soft::SoftCenters, tiles::Tiles};
/// let tiles = Tiles::<f64>::new(1, 1, &[0.0], |_| &[0.0], |_| 0.0);
/// let mut centers = SoftCenters::default();
/// centers.begin(1, 1.0);
/// centers.push(&[1.0], 0.0);
/// centers.push(&[-1.0], 0.0);
/// let mut scratch = MembershipScratch::default();
/// nearest_membership(&tiles, &centers, &mut scratch);
/// assert_eq!(scratch.membership(0), 0.5);
/// ```
pub fn nearest_membership<T: Real>(tiles: &Tiles<T>, centers: &SoftCenters<T>, scratch: &mut MembershipScratch<T>) {
    assert!(!centers.is_empty(), "at least one centre");
    assert_eq!(tiles.dimension(), centers.dimension());
    scratch.scores.resize(centers.len(), T::Line::default());
    scratch.memberships.resize(tiles.weights().len(), T::Line::default());
    memberships(tiles, centers, scratch);
}

kernel! {
    fn memberships[T; V](tiles: &Tiles<T>, centers: &SoftCenters<T>, scratch: &mut MembershipScratch<T>) {
        let dimension = tiles.dimension();
        let one = V::splat(T::from_f64(1.0));
        let scale = V::splat(T::from_f64(centers.scale()));
        let (scores, _) = scratch.scores.as_chunks_mut::<1>();
        for (values, out) in tiles.values().chunks_exact(dimension).zip(&mut scratch.memberships) {
            if dimension > DIRECT_DIMENSION {
                products::<T, V, 1>(values, dimension, centers.scaled(), centers.offsets(), scores);
            } else {
                for ((score, y), &offset) in scores.iter_mut().zip(centers.scaled().chunks_exact(dimension)).zip(centers.offsets()) {
                    let mut value = V::splat(offset);
                    for (line, &y) in values.iter().zip(y) {
                        let difference = V::load(line).mul(scale).sub(V::splat(y));
                        value = difference.neg_mul_add(difference, value);
                    }
                    value.store(&mut score[0]);
                }
            }
            let mut most = V::splat(T::from_f64(f64::NEG_INFINITY));
            for score in scores.iter() {
                most = V::load(&score[0]).max(most);
            }
            let mut sum = V::splat(T::default());
            for score in scores.iter() {
                sum = sum.add(V::load(&score[0]).sub(most).exp2());
            }
            one.div(sum).store(out);
        }
    }
}
