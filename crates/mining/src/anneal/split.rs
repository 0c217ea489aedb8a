//! Chooses the components that divide.

/// After a division, the two new components do not divide until the temperature has fallen by this factor.
pub(crate) const CHILD_HOLD: f64 = 0.9;
/// Components that coincided again and were merged wait longer, because dividing them was unsuccessful.
pub(crate) const MERGED_HOLD: f64 = 0.85;

/// Returns the components to divide at a temperature, at most `room` of them, the most unstable first. If several are
/// equally unstable, those with lower indices come first.
///
/// `critical[k]` is the temperature below which component k is unstable. `hold_until(k)` is the temperature down to
/// which it waits before it may divide.
pub(crate) fn choose(critical: &[f64], hold_until: impl Fn(usize) -> f64, temperature: f64, room: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> =
        (0..critical.len()).filter(|&k| critical[k] > temperature && temperature <= hold_until(k)).collect();
    chosen.sort_by(|&a, &b| critical[b].total_cmp(&critical[a]).then(a.cmp(&b)));
    chosen.truncate(room);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_unstable_divide_first_and_those_on_hold_wait() {
        let critical = [3.0, 5.0, 1.0, 5.0];
        assert_eq!(choose(&critical, |_| f64::MAX, 2.0, 10), [1, 3, 0]);
        assert_eq!(choose(&critical, |_| f64::MAX, 2.0, 1), [1]);
        assert_eq!(choose(&critical, |k| if k == 1 { 1.9 } else { f64::MAX }, 2.0, 10), [3, 0]);
        assert!(choose(&critical, |_| f64::MAX, 6.0, 10).is_empty());
    }
}
