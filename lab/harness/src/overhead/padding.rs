//! Measures the loss when sums of threads are beside each other in memory: experiment E25 (c), after 000 section IV and
//! 004 section 4. Their authors saw factors of 10 and more before they separated their accumulators.
//!
//! In Lehr, each leaf has its own sums, in memory that its thread allocated. So this is a model of the mistake, not a
//! switch of the product. Every thread adds points to the masses and moments of K clusters, and each addition goes to
//! memory. The distance between the sums of two threads depends on the case.

#![allow(
    clippy::disallowed_types,
    reason = "cells of memory that threads share, measured beside each other; no model checker looks at them"
)]

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use super::definition::Definition;
use super::figure::Figure;
use crate::measure::timed;

/// The experiment's name in records.
pub const PADDING: &str = "padding";

/// The distance from one thread's sums to the next thread's if they are far apart, in numbers of eight bytes: the
/// widest separation of 000 table II.
const APART: usize = 1024;
/// The number of additions of a thread in a sample.
const ADDITIONS: usize = 4_000_000;

/// Threads that add at the same time, each to its own sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padded {
    /// The number of threads.
    pub threads: usize,
    /// The number of sums of a thread.
    pub sums: usize,
    /// The distance from the first sum of a thread to that of the next, in numbers of eight bytes; at least `sums`.
    pub separation: usize,
}

impl Padded {
    /// Returns the name of the case in records.
    pub fn name(self) -> String {
        let Self { threads, sums, separation } = self;
        format!("padding, {threads} threads, {sums} sums every {} bytes", separation * size_of::<u64>())
    }
}

/// Returns the cases for this many cores, with as many threads, but at least two, and at most 8 as in the papers. One
/// kind has one sum for each thread, at the separations of 000 table II. The other has the masses and moments of K
/// clusters, without gaps.
pub fn cases(definition: &Definition, cores: usize) -> Vec<Padded> {
    let threads = cores.clamp(2, 8);
    let single = definition.separations.iter().map(|&separation| Padded { threads, sums: 1, separation });
    let packed = definition.packed_clusters.iter().map(|&clusters| {
        let sums = clusters * (1 + definition.dimension);
        Padded { threads, sums, separation: sums }
    });
    single.chain(packed).collect()
}

/// Measures a case: its time divided by that with sums far apart, one sample for each round. Returns `None` if `stop`
/// asked to end.
pub fn measure(case: Padded, rounds: usize, stop: &mut dyn FnMut() -> bool) -> Option<Vec<Figure>> {
    let apart = Padded { separation: case.sums + APART, ..case };
    let mut factors = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        if stop() {
            return None;
        }
        // The order alternates.
        let (first, second) = if round % 2 == 0 { (case, apart) } else { (apart, case) };
        let seconds = [first, second].map(|case| add(case, ADDITIONS));
        // The first round warms up.
        if round > 0 {
            factors.push(if first == case { seconds[0] / seconds[1] } else { seconds[1] / seconds[0] });
        }
    }
    Some(vec![Figure::new(PADDING, &case.name(), "over apart", "1", factors)])
}

/// Returns the seconds in which every thread makes this many additions.
fn add(case: Padded, additions: usize) -> f64 {
    let Padded { threads, sums: count, separation } = case;
    let sums: Vec<AtomicU64> = (0..threads * separation).map(|_| AtomicU64::new(0)).collect();
    let (start, end) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    let seconds = std::thread::scope(|scope| {
        for own in sums.chunks_exact(separation) {
            let (own, start, end) = (&own[..count], &start, &end);
            scope.spawn(move || {
                start.wait();
                for sum in own.iter().cycle().take(additions) {
                    // Relaxed, and no exchange: each sum has one writer. It is atomic so that each addition goes to
                    // memory.
                    let old = f64::from_bits(sum.load(Ordering::Relaxed));
                    sum.store((old + 1.0).to_bits(), Ordering::Relaxed);
                }
                end.wait();
            });
        }
        start.wait();
        timed(|| end.wait()).0
    });
    // Relaxed: the threads have ended.
    let added: f64 = sums.iter().map(|sum| f64::from_bits(sum.load(Ordering::Relaxed))).sum();
    assert_eq!(added, (threads * additions) as f64, "every addition counts");
    seconds
}

#[cfg(test)]
mod tests {
    use super::super::definition::file;
    use super::*;

    #[test]
    fn all_is_added_packed_or_apart() {
        for separation in [6, 32] {
            add(Padded { threads: 3, sums: 6, separation }, 1000);
        }
    }

    #[test]
    fn cases_have_threads_for_the_cores_and_names_of_their_own() {
        let threads = [1, 4, 64].map(|cores| cases(&file().full, cores)[0].threads);
        assert_eq!(threads, [2, 4, 8]);
        let cases = cases(&file().full, 2);
        assert!(cases.iter().all(|case| case.separation >= case.sums));
        assert_eq!(cases[0].name(), "padding, 2 threads, 1 sums every 8 bytes");
        assert!((1..cases.len()).all(|place| cases[..place].iter().all(|other| other.name() != cases[place].name())));
    }

    #[test]
    fn who_asks_to_stop_is_heard_between_two_rounds() {
        assert!(measure(Padded { threads: 2, sums: 1, separation: 1 }, 1, &mut || true).is_none());
    }
}
