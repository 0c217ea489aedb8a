//! Undoes the rounding of columns.
//!
//! The values of rounded columns, such as counts, ages and answers from 1 to 5, pile up at the steps, with valleys
//! between them. The columns of a category, one for each level, have such valleys too. These valleys come from how
//! values were recorded, and say nothing about groups. So Lehr moves each value at random within its step. If a column
//! shows only steps and no groups, its density then has one mode. Groups that show in several columns at once still
//! have valleys between them.

use lehr_numerics::elementary::ln;
use lehr_numerics::random::Stream;

/// The number of different values from which a single column counts as rounded. With fewer values, they may be classes,
/// or the groups themselves.
const LEAST_STEPS: usize = 5;
/// Two values are the same if they differ by less than this share of the range.
const SAME: f64 = 1e-9;

/// Moves each value of a rounded column, and each level of a category, within its step.
pub(super) fn give_back(values: &mut [f64], dimension: usize, seed: u64) {
    let mut column = 0;
    while column < dimension {
        let levels = levels_from(values, dimension, column);
        match levels {
            2.. => spread_levels(values, dimension, column, levels, seed),
            _ => spread_steps(values, dimension, column, seed),
        }
        column += levels.max(1);
    }
}

/// Returns the values of a column.
fn of(values: &[f64], dimension: usize, column: usize) -> impl Iterator<Item = f64> + Clone {
    values.iter().skip(column).step_by(dimension).copied()
}

/// Moves each value of a column with equal steps within its step.
fn spread_steps(values: &mut [f64], dimension: usize, column: usize, seed: u64) {
    let draw = Stream::new(seed, "what rounding took");
    let mut sorted: Vec<f64> = of(values, dimension, column).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = if dimension > 1 { 2 } else { LEAST_STEPS };
    let Some(step) = step_of(&sorted, least) else { return };
    for place in (column..values.len()).step_by(dimension) {
        values[place] += (draw.uniform(place as u64) - 0.5) * step;
    }
}

/// Returns the step of a column whose values are multiples of one step apart. The column must have at least `least`
/// different values, and at most twice the square root of the number of rows.
fn step_of(sorted: &[f64], least: usize) -> Option<f64> {
    let range = sorted.last()? - sorted.first()?;
    let gaps = || sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > SAME * range);
    let steps = gaps().count();
    if steps + 1 < least || (steps + 1).pow(2) > 4 * sorted.len() {
        return None;
    }
    let smallest = gaps().fold(f64::INFINITY, f64::min);
    gaps().all(|gap| ((gap / smallest).round() - gap / smallest).abs() < 1e-3).then_some(smallest)
}

/// Returns the number of columns, from `first` on, that are the levels of one category; 0 if they are not.
///
/// Such columns have the same range, and the same sum in each row. Most values are at the ends of the range; filled
/// missing values may lie between.
fn levels_from(values: &[f64], dimension: usize, first: usize) -> usize {
    let range_of = |column: usize| {
        let own = of(values, dimension, column);
        own.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = range_of(first);
    let step = high - low;
    let is_level = |column: usize| {
        let (low, high) = range_of(column);
        let at_ends =
            of(values, dimension, column).filter(|value| value - low < SAME * step || high - value < SAME * step);
        (high - low - step).abs() < SAME * step && 2 * at_ends.count() > values.len() / dimension
    };
    if step.is_nan() || step <= 0.0 || !is_level(first) {
        return 0;
    }
    let mut sums: Vec<f64> = of(values, dimension, first).map(|value| value - low).collect();
    for column in first + 1..dimension {
        if !is_level(column) {
            return 0;
        }
        let (low, _) = range_of(column);
        sums.iter_mut().zip(of(values, dimension, column)).for_each(|(sum, value)| *sum += value - low);
        if sums.iter().any(|sum| *sum > (1.0 + 1e-6) * step) {
            return 0;
        }
        if sums.iter().all(|sum| (sum - step).abs() < 1e-6 * step) {
            return column - first + 1;
        }
    }
    0
}

/// For each row at a level of a category, draws a new position within the simplex whose corners are the levels.
///
/// The row moves to any point that is nearer to its own level than to the others. So, if levels are equally frequent,
/// rows fill the simplex evenly. The simplex is enlarged about its middle until each level is the mean of its rows
/// again.
fn spread_levels(values: &mut [f64], dimension: usize, first: usize, levels: usize, seed: u64) {
    let draw = Stream::new(seed, "what a category took");
    let lows: Vec<f64> =
        (first..first + levels).map(|column| of(values, dimension, column).fold(f64::INFINITY, f64::min)).collect();
    let high = of(values, dimension, first).fold(f64::NEG_INFINITY, f64::max);
    let step = high - lows[0];
    let even = 1.0 / levels as f64;
    // The mean of the largest of `levels` random shares that add up to 1: a harmonic number times `even`.
    let largest: f64 = (1..=levels).map(|rank| even / rank as f64).sum();
    let growth = (1.0 - even) / (largest - even);
    let mut shares = vec![0.0; levels];
    for (row, own) in values.chunks_exact_mut(dimension).enumerate() {
        let own = &mut own[first..first + levels];
        let Some(level) = own.iter().zip(&lows).position(|(value, low)| value - low > (1.0 - 1e-6) * step) else {
            continue;
        };
        for (k, share) in shares.iter_mut().enumerate() {
            let index = (row * dimension + first + k) as u64;
            *share = -ln((1.0 - draw.uniform(index)).max(f64::MIN_POSITIVE));
        }
        let total: f64 = shares.iter().sum();
        let most = (0..levels).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(level);
        shares.swap(level, most);
        for ((value, low), share) in own.iter_mut().zip(&lows).zip(&shares) {
            *value = low + step * (even + growth * (share / total - even));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn counts_have_a_step_and_measurements_and_classes_have_none() {
        let every = |modulus: i32| sorted((0..100).map(|row| f64::from(row % modulus)).collect());
        assert_eq!(step_of(&every(9), LEAST_STEPS), Some(1.0));
        assert_eq!(step_of(&sorted((0..100).map(|row| f64::from(row * row)).collect()), LEAST_STEPS), None);
        assert_eq!(step_of(&every(3), LEAST_STEPS), None);
        assert_eq!(step_of(&every(3), 2), Some(1.0));
        assert_eq!(step_of(&every(1), 2), None);
        assert_eq!(step_of(&[], 2), None);
    }

    /// Rows of a measure, a category of three levels on its own scale with one missing value filled, and another
    /// measure.
    fn mixed(rows: usize) -> Vec<f64> {
        let row = |row: usize| {
            let level = |k: usize| if row == 5 { 1.0 / 3.0 } else { f64::from(u8::from(row % 3 == k)) };
            let scaled = |k: usize| 1.7 * (level(k) - 0.3);
            [(row as f64).sqrt(), scaled(0), scaled(1), scaled(2), (row as f64 + 3.0).sqrt()]
        };
        (0..rows).flat_map(row).collect()
    }

    #[test]
    fn columns_that_sum_to_one_value_and_have_one_range_are_levels() {
        let values = mixed(60);
        let found: Vec<usize> = (0..5).map(|column| levels_from(&values, 5, column)).collect();
        assert_eq!(found, [0, 3, 0, 0, 0]);
        // Columns that may be set at the same time, such as the words of a text, are not levels of a category.
        let words: Vec<f64> = (0..60).flat_map(|row| [row % 2, row / 2 % 2].map(f64::from)).collect();
        assert_eq!(levels_from(&words, 2, 0), 0);
    }

    #[test]
    fn levels_keep_their_means_and_rows_stay_nearest_to_their_level() {
        let before = mixed(6_000);
        let mut after = before.clone();
        give_back(&mut after, 5, 7);
        for (row, (old, new)) in before.chunks(5).zip(after.chunks(5)).enumerate() {
            assert_eq!((old[0], old[4]), (new[0], new[4]));
            if row == 5 {
                assert_eq!(old, new);
                continue;
            }
            let largest = (1..4).max_by(|a, b| new[*a].total_cmp(&new[*b])).unwrap();
            assert_eq!(largest - 1, row % 3);
            assert!((new[1..4].iter().sum::<f64>() - old[1..4].iter().sum::<f64>()).abs() < 1e-9);
        }
        for level in 0..3 {
            for column in 1..4 {
                let mean = |values: &[f64]| {
                    values.chunks(5).skip(level).step_by(3).map(|row| row[column]).sum::<f64>() / 2_000.0
                };
                assert!((mean(&before) - mean(&after)).abs() < 0.05, "{level} {column}");
            }
        }
    }
}
