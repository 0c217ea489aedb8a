//! Draws a few rows to represent all rows.
//!
//! Rows of tables often repeat a pattern, such as the 24 hours of a day. Rows at equal intervals could then all have
//! the same hour. So the table is divided into stretches of equal length, and one row of each is drawn at random. The
//! draw depends only on the number of the stretch, so it is the same on any layout.

/// Returns at most `most` of `count` rows, in ascending order: one from each of several equally long stretches.
///
/// # Example
/// ```
/// use lehr_mining::drawn::drawn;
/// assert_eq!(drawn(3, 10), [0, 1, 2]);
/// let rows = drawn(1_000_000, 1000);
/// assert!(rows.is_sorted() && rows.len() == 1000);
/// // Every hour of the day is there.
/// assert!((0..24).all(|hour| rows.iter().any(|row| row % 24 == hour)));
/// ```
pub fn drawn(count: usize, most: usize) -> Vec<usize> {
    let kept = count.min(most);
    let end = |stretch: usize| (stretch as u128 * count as u128 / kept as u128) as usize;
    let one = |stretch: usize| {
        let (from, to) = (end(stretch), end(stretch + 1));
        from + (scrambled(stretch as u64) % (to - from) as u64) as usize
    };
    (0..kept).map(one).collect()
}

/// Whether a row is drawn, if each drawn row represents about `every` rows.
pub(crate) fn is_one_in(row: u64, every: u64) -> bool {
    every <= 1 || scrambled(row).is_multiple_of(every)
}

/// Returns a number that shows no pattern of the given one: the last steps of SplitMix64 (Steele, Lea and Flood 2014).
fn scrambled(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_rows_is_drawn_whatever_repeats() {
        for every in [2u64, 10, 13, 20] {
            for group in 0..20 {
                let drawn = (0..200_000u64).filter(|row| row % 20 == group && is_one_in(*row, every)).count() as f64;
                let expected = 10_000.0 / every as f64;
                assert!((drawn - expected).abs() < 5.0 * expected.sqrt(), "{drawn} for {expected}: {every} {group}");
            }
        }
        assert!((0..100).all(|row| is_one_in(row, 1)));
    }
}
