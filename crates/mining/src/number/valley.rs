//! Tests whether counts along a line have one mode or two. The statistic is the likelihood ratio of the two shapes; it
//! assumes nothing else about the density.
//!
//! Take the most likely density that rises to one mode and falls from it. Left of the mode, it is the isotonic
//! regression of the counts. The regression consists of blocks of equal means; each block pools neighbours that violate
//! the order. Right of the mode, it is the mirror image. The most likely density with a valley at a cut is the most
//! likely one-mode density on each side of the cut. Two modes always fit at least as well; [`NEEDED`](super::NEEDED) is
//! based on measurements of how much better two modes fit by chance.

use lehr_numerics::elementary::ln;

/// The number of bins for this many values: few enough that each holds some values, and enough to show a valley between
/// two groups.
pub(super) fn bins(values: f64) -> usize {
    ((3.0 * values.sqrt().sqrt()).round() as usize).clamp(6, 48)
}

/// Returns the gain in log-likelihood of two modes with a valley over one mode, at least 0. Only valleys at the lower
/// edge of a bin in `cuts` count.
///
/// Cost: the square of the number of bins.
pub(super) fn valley(counts: &[f64], cuts: std::ops::RangeInclusive<usize>) -> f64 {
    let bins = counts.len();
    let before = one_mode(counts.iter().copied());
    let after = one_mode(counts.iter().rev().copied());
    let two_modes =
        (1..bins).filter(|cut| cuts.contains(cut)).map(|cut| before[cut] + after[bins - cut]).fold(f64::MIN, f64::max);
    (two_modes - before[bins]).max(0.0)
}

/// Returns the log-likelihood of the most likely one-mode density for each prefix of the counts, from the empty prefix
/// to all counts. The term that depends only on the sum of the counts is left out.
fn one_mode(counts: impl DoubleEndedIterator<Item = f64> + Clone) -> Vec<f64> {
    let ascents = rising(counts.clone());
    let length = ascents.len() - 1;
    (0..=length)
        .map(|end| {
            let falling = rising(counts.clone().take(end).collect::<Vec<_>>().into_iter().rev());
            (0..=end).map(|mode| ascents[mode] + falling[end - mode]).fold(f64::MIN, f64::max)
        })
        .collect()
}

/// Returns the log-likelihood of the most likely rising density for each prefix of the counts.
fn rising(counts: impl Iterator<Item = f64>) -> Vec<f64> {
    // For each block of equal means: its sum, its width, and the log-likelihood up to its end.
    let mut blocks: Vec<(f64, f64, f64)> = Vec::new();
    let mut likelihoods = vec![0.0];
    for count in counts {
        let (mut sum, mut width) = (count, 1.0);
        while let Some(&(last, wide, _)) = blocks.last()
            && last * width >= sum * wide
        {
            sum += last;
            width += wide;
            blocks.pop();
        }
        let own = if sum > 0.0 { sum * ln(sum / width) } else { 0.0 };
        let likelihood = blocks.last().map_or(0.0, |block| block.2) + own;
        blocks.push((sum, width, likelihood));
        likelihoods.push(likelihood);
    }
    likelihoods
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_numerics::random::Stream;

    /// The likelihood of the best piecewise constant density with at most `modes` modes.
    fn brute_force(counts: &[f64], modes: usize) -> f64 {
        let mut best = f64::MIN;
        for borders in 0..1u32 << (counts.len() - 1) {
            let mut blocks: Vec<(f64, f64)> = vec![(counts[0], 1.0)];
            for (bin, &count) in counts.iter().enumerate().skip(1) {
                if borders >> (bin - 1) & 1 == 1 {
                    blocks.push((count, 1.0));
                } else if let Some((sum, width)) = blocks.last_mut() {
                    *sum += count;
                    *width += 1.0;
                }
            }
            let means: Vec<f64> = blocks.iter().map(|(sum, width)| sum / width).collect();
            let padded: Vec<f64> = [&[-1.0], &means[..], &[-1.0]].concat();
            let has_peak = |triple: &[f64]| triple[1] > triple[0] && triple[1] >= triple[2];
            let mut peaks = padded.windows(3).filter(|triple| has_peak(triple)).count();
            // If the means rise after a run of equal means, the run is not a mode.
            for pair in means.windows(2) {
                peaks += usize::from(pair[0] == pair[1]) * counts.len();
            }
            if peaks <= modes {
                let likelihood =
                    blocks.iter().map(|(sum, width)| if *sum > 0.0 { sum * (sum / width).ln() } else { 0.0 }).sum();
                best = best.max(likelihood);
            }
        }
        best
    }

    #[test]
    fn the_likeliest_shapes_are_those_of_all_shapes() {
        let stream = Stream::new(3, "counts");
        for set in 0..300u64 {
            let bins = 3 + set as usize % 7;
            let counts: Vec<f64> = (0..bins).map(|bin| (5.0 * stream.uniform(20 * set + bin as u64)).floor()).collect();
            let one = one_mode(counts.iter().copied())[bins];
            let two = one + valley(&counts, 1..=bins - 1);
            assert!((one - brute_force(&counts, 1)).abs() < 1e-9, "{counts:?}: {one}");
            assert!((two - brute_force(&counts, 2)).abs() < 1e-9, "{counts:?}: {two}");
        }
    }

    #[test]
    fn two_equal_heaps_are_likelier_by_what_the_bins_between_take() {
        // With one mode, the counts at the end are spread over all bins but the first.
        let counts = [8.0, 0.0, 0.0, 0.0, 0.0, 8.0];
        let expected = 16.0 * 8f64.ln() - (8.0 * 8f64.ln() + 8.0 * (8.0f64 / 5.0).ln());
        assert!((valley(&counts, 1..=5) - expected).abs() < 1e-12);
        assert_eq!(valley(&[1.0, 2.0, 4.0, 3.0, 1.0], 1..=4), 0.0);
        // A valley outside the requested bins does not count.
        assert_eq!(valley(&[5.0, 0.0, 5.0, 4.0, 3.0, 2.0], 4..=5), 0.0);
    }

    #[test]
    fn a_mirror_image_has_the_same_valley() {
        let stream = Stream::new(4, "counts");
        for set in 0..100u64 {
            let counts: Vec<f64> = (0..12).map(|bin| (9.0 * stream.uniform(20 * set + bin)).floor()).collect();
            let mirrored: Vec<f64> = counts.iter().rev().copied().collect();
            assert!((valley(&counts, 3..=7) - valley(&mirrored, 5..=9)).abs() < 1e-9);
        }
    }
}
