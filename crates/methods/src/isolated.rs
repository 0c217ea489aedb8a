//! Isolated rows belong to no cluster: they are much farther from their nearest neighbours than these neighbours are
//! from their own.
//!
//! A few isolated rows dominate squared distances, and get clusters of their own before any group is split. Automatic
//! preparation gives them the weight 0: they influence no cluster, but still get labels.
//!
//! Source: the local outlier factor (Breunig et al. 2000) in its simplest form, the ratio of distances to the fifth
//! nearest row. Rows of a sparse cluster beside a dense cluster are not isolated, because their neighbours are equally
//! far from their own neighbours.

use lehr_mining::drawn::drawn;

/// The maximum number of reference rows to which distances are computed.
const REFERENCES: usize = 2_000;
/// The neighbour whose distance counts, by rank. With rank 5, a few rows in one place form a group and are not
/// isolated.
const NEIGHBOUR: usize = 5;
/// The number of rows below which no rows are set aside.
const ROWS_MIN: usize = 50;
/// The smallest ratio of distances at which a row is isolated.
const RATIO: f64 = 2.5;
/// The ratio must also be this many interquartile ranges above the upper quartile of all ratios (Tukey's far out).
const FAR_OUT: f64 = 3.0;
/// The maximum share of rows that may be isolated.
const SHARE_MAX: f64 = 0.05;

/// Returns the isolated rows, in ascending order. Returns none if there are too many isolated rows. `values` has finite
/// rows of `width` numbers.
///
/// Cost: distances from each row to at most 2,000 rows.
///
/// # Example
/// ```
/// use lehr_methods::isolated::isolated;
/// let mut values: Vec<f64> = (0..60).map(|row| f64::from(row) / 10.0).collect();
/// values.push(1e3);
/// assert_eq!(isolated(&values, 1), [60]);
/// ```
pub fn isolated(values: &[f64], width: usize) -> Vec<usize> {
    let rows = values.len() / width;
    if rows < ROWS_MIN {
        return Vec::new();
    }
    let row = |index: usize| &values[index * width..][..width];
    let references = drawn(rows, REFERENCES);
    let mut near = Nearest::default();
    let own: Vec<f64> = references.iter().map(|index| near.of(*index, &references, row).0).collect();
    let ratios: Vec<f64> = (0..rows)
        .map(|index| {
            let (distance, neighbours) = near.of(index, &references, row);
            let of_neighbours = neighbours.iter().map(|at| own[*at]).sum::<f64>() / neighbours.len() as f64;
            if distance == 0.0 { 1.0 } else { distance / of_neighbours }
        })
        .collect();
    let mut sorted = ratios.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let quartile = |share: usize| sorted[(rows - 1) * share / 4];
    let fence = (quartile(3) + FAR_OUT * (quartile(3) - quartile(1))).max(RATIO);
    let alone: Vec<usize> = (0..rows).filter(|index| ratios[*index] > fence).collect();
    if alone.len() as f64 > SHARE_MAX * rows as f64 { Vec::new() } else { alone }
}

/// The references nearest to a row.
#[derive(Default)]
struct Nearest {
    /// The squared distances of the nearest references and their indices, nearest first.
    kept: Vec<(f64, usize)>,
}

impl Nearest {
    /// Returns the distance to the last of the nearest references, and these references. The row itself is not a
    /// reference.
    fn of<'a>(&mut self, index: usize, references: &[usize], row: impl Fn(usize) -> &'a [f64]) -> (f64, Vec<usize>) {
        self.kept.clear();
        let own = row(index);
        for (at, reference) in references.iter().enumerate().filter(|(_, reference)| **reference != index) {
            let bound = if self.kept.len() < NEIGHBOUR { f64::INFINITY } else { self.kept[NEIGHBOUR - 1].0 };
            let squared: f64 = own.iter().zip(row(*reference)).map(|(a, b)| (a - b) * (a - b)).sum();
            if squared < bound {
                let place = self.kept.partition_point(|(kept, _)| *kept <= squared);
                self.kept.insert(place, (squared, at));
                self.kept.truncate(NEIGHBOUR);
            }
        }
        let far = self.kept.last().map_or(0.0, |(squared, _)| squared.sqrt());
        (far, self.kept.iter().map(|(_, at)| *at).collect())
    }
}

#[cfg(test)]
mod tests {
    use lehr_numerics::random::Stream;

    use super::*;

    fn normal(rows: usize, width: usize, seed: u64) -> Vec<f64> {
        let stream = Stream::new(seed, "normal");
        (0..rows * width).map(|index| stream.normal(index as u64)).collect()
    }

    #[test]
    fn rows_far_from_all_are_alone_and_thin_clusters_are_not() {
        let mut values = normal(900, 2, 1);
        // Add a distant cluster, ten times as wide.
        values.extend(normal(100, 2, 2).iter().map(|x| 60.0 + 10.0 * x));
        values.extend([-200.0, 30.0, 400.0, -400.0]);
        let found = isolated(&values, 2);
        assert!(found.ends_with(&[1000, 1001]), "{found:?}");
        let of_thin = found.iter().filter(|row| (900..1000).contains(*row)).count();
        assert!(of_thin <= 3 && found.len() <= of_thin + 4, "{found:?}");
    }

    #[test]
    fn in_one_normal_cloud_hardly_any_row_is_alone() {
        for seed in 0..5 {
            assert!(isolated(&normal(1000, 4, seed), 4).len() <= 2);
        }
    }

    #[test]
    fn a_pattern_that_repeats_hides_no_row() {
        // Every fifth row belongs to one group, and there are five times as many rows as references.
        let mut values = normal(10_000, 1, 4);
        values.iter_mut().enumerate().filter(|(row, _)| row % 5 > 0).for_each(|(_, x)| *x += 100.0);
        values[4_321] = 1e6;
        let found = isolated(&values, 1);
        assert!(found.contains(&4_321) && found.len() < 50, "{found:?}");
    }

    #[test]
    fn five_in_one_place_are_a_group() {
        let mut values = normal(300, 2, 3);
        values.extend([50.0; 12]);
        assert!(!isolated(&values, 2).iter().any(|row| *row >= 300));
        assert!(isolated(&normal(49, 2, 3), 2).is_empty());
    }
}
