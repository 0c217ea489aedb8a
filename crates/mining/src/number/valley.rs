//! Tests whether counts along a line have one mode or two: a likelihood ratio of the two shapes, without any other
//! assumption on the density.
//!
//! The most likely density that rises to one mode and falls from it is, left of the mode, the isotonic regression of
//! the counts. The result is blocks of equal means, pooled where neighbours violate the order. On the right it is the
//! mirror image. The most likely density with a valley at a cut is the most likely one-mode density on either side of
//! it. Twice as many shapes always fit better; [`NEEDED`](super::NEEDED) was measured to show how much better they fit
//! by chance.

use lehr_numerics::elementary::ln;

/// Bins for this many values: few enough that each holds some, enough to see a valley between two groups.
pub(super) fn bins(values: f64) -> usize {
    ((3.0 * values.sqrt().sqrt()).round() as usize).clamp(6, 48)
}

/// The gain in log-likelihood of a valley between two modes over one mode, at least 0. The valley is before one of the
/// bins `cuts`.
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

/// The log-likelihood of the most likely density of one mode on each first part of the counts, from none of them to
/// all. The part that depends on their sum alone is left out.
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

/// The same for densities that rise.
fn rising(counts: impl Iterator<Item = f64>) -> Vec<f64> {
    // Blocks of equal means: their sums, widths, and the likelihood up to their end.
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

    /// The likelihood of the best of all densities that are constant on some blocks and have at most `modes` modes.
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
            // A stretch of equal means that goes on upwards is no mode.
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
        // With one mode the heap at the end is spread over all bins but the first.
        let counts = [8.0, 0.0, 0.0, 0.0, 0.0, 8.0];
        let expected = 16.0 * 8f64.ln() - (8.0 * 8f64.ln() + 8.0 * (8.0f64 / 5.0).ln());
        assert!((valley(&counts, 1..=5) - expected).abs() < 1e-12);
        assert_eq!(valley(&[1.0, 2.0, 4.0, 3.0, 1.0], 1..=4), 0.0);
        // A valley elsewhere than asked for is none.
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
