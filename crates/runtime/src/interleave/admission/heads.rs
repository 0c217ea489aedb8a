//! Sorts lanes by the stamps of their oldest entries. The lane with the smallest stamp is stored outside the map of the
//! other lanes.
//!
//! A decision needs only the smallest stamp. Most often the lane with the smallest stamp moves on to its next entry and
//! still has the smallest stamp. So the lane with the smallest stamp is stored outside the map. An interleave with one
//! active lane in each group never touches the map.

use std::collections::BTreeMap;

/// The lanes of a group in order of their stamps; see the [module](self).
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// The smallest stamp and its lane; `None` only if there are no lanes.
    first: Option<(u64, usize)>,
    /// All other lanes, which have larger stamps, by stamp.
    rest: BTreeMap<u64, usize>,
}

impl Heads {
    /// Returns the smallest stamp, and its lane.
    #[inline]
    pub(super) fn first(&self) -> Option<(u64, usize)> {
        self.first
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Updates the order when a lane has a new stamp, enters the list, or leaves it.
    pub(super) fn relist(&mut self, lane: usize, before: Option<u64>, after: Option<u64>) {
        let was_first = before.is_some() && before == self.first.map(|(stamp, _)| stamp);
        match (was_first, after) {
            (true, Some(stamp)) if self.rest.first_key_value().is_none_or(|(next, _)| stamp < *next) => {
                self.first = Some((stamp, lane));
                return;
            }
            (true, _) => self.first = self.rest.pop_first(),
            (false, _) => {
                if let Some(before) = before {
                    self.rest.remove(&before);
                }
            }
        }
        let Some(stamp) = after else { return };
        match self.first {
            Some((least, other)) if stamp < least => {
                self.rest.insert(least, other);
                self.first = Some((stamp, lane));
            }
            Some(_) => {
                self.rest.insert(stamp, lane);
            }
            None => self.first = Some((stamp, lane)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence of moves that covers every case, from its own random generator, compared with a list that is
    /// searched.
    #[test]
    fn the_least_stamp_is_at_hand_whoever_moves() {
        let (mut heads, mut lanes, mut seed) = (Heads::default(), [None; 6], 7_u64);
        let mut met = [false; 3];
        for step in 1..4000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let lane = (seed >> 33) as usize % lanes.len();
            // Stamps are unique; a lane's next stamp may be smaller than another lane's.
            let after = ((seed >> 40) & 3 != 0).then_some(step * 8 + (seed >> 50) % 800 * 8 + lane as u64);
            let is_taken = after.is_some() && lanes.contains(&after);
            if is_taken {
                continue;
            }
            let before = std::mem::replace(&mut lanes[lane], after);
            heads.relist(lane, before, after);
            let least = lanes.iter().enumerate().filter_map(|(lane, stamp)| Some(((*stamp)?, lane))).min();
            assert_eq!((heads.first(), heads.is_empty()), (least, least.is_none()), "after {step} moves");
            met[lanes.iter().flatten().count().min(2)] = true;
        }
        assert_eq!(met, [true; 3], "none, one and several were listed");
    }
}
