//! Adds up the lanes of each line of sums over rows, to one number for each line.
//!
//! In a block of some hundred rows, only a few tens of lines are added to each line of sums. Adding up its lanes one by
//! one would take as long as all these additions. If a register holds a line, eight lines are added up together. The
//! first step adds halves of two lines to each other, and so on, until one register holds the eight sums
//! ([`Lanes::sums`]). The order of additions is the same as in [`Line::sum`](crate::lanes::Line::sum).

use crate::dispatch::kernel;
use crate::lanes::{Lanes, Real};

/// The number of lines that are added up together.
const AT_ONCE: usize = 8;

/// Adds the sum of each line to the total with the same index. Kernels call it.
#[inline(always)]
pub(crate) fn add_each<T: Real, V: Lanes<Number = T>>(lines: &[T::Line], totals: &mut [f64]) {
    let (groups, rest) = lines.as_chunks::<AT_ONCE>();
    let (group_totals, rest_totals) = totals.as_chunks_mut::<AT_ONCE>();
    for (lines, totals) in groups.iter().zip(group_totals) {
        let sums = V::sums(lines);
        for n in 0..AT_ONCE {
            totals[n] += sums[n];
        }
    }
    for (line, total) in rest.iter().zip(rest_totals) {
        *total += V::load(line).sum();
    }
}

kernel! {
    /// Adds the sum of each line to the total with the same index; there are as many totals as lines.
    pub(crate) fn add_line_sums[T; V](lines: &[T::Line], totals: &mut [f64]) {
        add_each::<T, V>(lines, totals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{F32Line, F64Line, Line};
    use crate::oracle::on_all_sets;
    use crate::random::Stream;

    /// Sums numbers of very different sizes, so that another order of additions would give other bits.
    fn check<T: Real>(count: usize) {
        let stream = Stream::new(count as u64, "lines");
        let mut lines = vec![T::Line::default(); count];
        for (n, line) in lines.iter_mut().enumerate() {
            for (l, lane) in line.lanes_mut().iter_mut().enumerate() {
                let place = (n * 16 + l) as u64;
                *lane = T::from_f64(stream.normal(2 * place) * 10f64.powf(12.0 * stream.uniform(2 * place + 1)));
            }
        }
        let sums = on_all_sets("line sums", || {
            let mut totals = vec![0.0; count];
            add_line_sums::<T>(&lines, &mut totals);
            totals
        });
        let expected: Vec<f64> = lines.iter().map(|line| line.sum()).collect();
        assert_eq!(sums, expected, "{count} lines");
    }

    #[test]
    fn eight_at_once_are_added_in_the_order_of_one() {
        for count in [1, 7, 8, 9, 16, 29] {
            check::<f64>(count);
            check::<f32>(count);
        }
        assert_eq!((F64Line::COUNT, F32Line::COUNT), (8, 16));
    }
}
