//! Measures how evenly ranks run, by the papers' two measures of the times of synchronised stages (000 figures 6 to 8,
//! 004 figures 4 and 5).

/// The seconds of the computation of each stage, as a list for each rank.
pub type Stages = [Vec<f64>];

/// Returns the standard deviation divided by the mean, over all samples of all ranks (1000 P samples in the papers).
///
/// # Panics
/// Panics if there are none.
pub fn deviation_over_mean(stages: &Stages) -> f64 {
    let samples: Vec<f64> = stages.iter().flatten().copied().collect();
    assert!(!samples.is_empty(), "samples were taken");
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / samples.len() as f64;
    variance.sqrt() / mean
}

/// Returns the range over the ranks of a stage divided by their mean, averaged over stages; 0 for one rank.
///
/// # Panics
/// Panics if there are no samples, or if the ranks have different numbers of stages.
pub fn range_over_mean(stages: &Stages) -> f64 {
    let count = stages.first().map_or(0, Vec::len);
    assert!(count > 0 && stages.iter().all(|rank| rank.len() == count), "every rank has every stage");
    let of_stage = |stage: usize| {
        let times = stages.iter().map(|rank| rank[stage]);
        let (least, most) = times
            .clone()
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), time| (least.min(time), most.max(time)));
        (most - least) * stages.len() as f64 / times.sum::<f64>()
    };
    (0..count).map(of_stage).sum::<f64>() / count as f64
}

/// Returns the median of all samples, in seconds.
///
/// # Panics
/// Panics if there are none.
pub fn median(stages: &Stages) -> f64 {
    crate::measure::Spread::of(&stages.concat()).median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_can_be_checked_on_paper() {
        // The mean is 3, the deviations are -2, 0, 0, 2, so the variance is 2.
        let stages = [vec![1.0, 3.0], vec![3.0, 5.0]];
        assert!((deviation_over_mean(&stages) - 2f64.sqrt() / 3.0).abs() < 1e-15);
        // The ranges divided by the means are (3 - 1) / 2 and (5 - 3) / 4.
        assert!((range_over_mean(&stages) - 0.75).abs() < 1e-15);
        assert_eq!(median(&stages), 3.0);
    }

    #[test]
    fn one_rank_has_no_range_and_equal_times_do_not_deviate() {
        assert_eq!(range_over_mean(&[vec![1.0, 2.0, 4.0]]), 0.0);
        assert_eq!(deviation_over_mean(&[vec![2.0; 3], vec![2.0; 3]]), 0.0);
    }
}
