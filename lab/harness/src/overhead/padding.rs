//! What it costs when the sums of threads lie beside each other in memory: experiment E25 (c), after 000 section IV and
//! 004 section 4, whose authors saw factors of 10 and more until they kept their accumulators apart.
//!
//! Lehr's own sums are a leaf's, in memory that its thread asked for; so this is a model of the mistake and no switch
//! of the product. Every thread adds points to the masses and moments of K clusters, each addition going to memory; the
//! sums of the threads follow each other at a distance that is the case's.

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

/// Numbers of eight bytes from one thread's sums to the next where they are far apart: the widest separation of 000
/// table II.
const APART: usize = 1024;
/// Additions of a thread in a sample.
const ADDITIONS: usize = 4_000_000;

/// Threads that add at once, each to sums of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padded {
    /// Threads.
    pub threads: usize,
    /// Sums of a thread.
    pub sums: usize,
    /// From the first sum of a thread to that of the next, in numbers of eight bytes; not less than `sums`.
    pub separation: usize,
}

impl Padded {
    /// Its name in records.
    pub fn name(self) -> String {
        let Self { threads, sums, separation } = self;
        format!("padding, {threads} threads, {sums} sums every {} bytes", separation * size_of::<u64>())
    }
}

/// The cases for so many cores: as many threads, but two at least, and 8 at most as in the papers. One sum a thread at
/// the separations of 000 table II; the masses and moments of K clusters, packed.
pub fn cases(definition: &Definition, cores: usize) -> Vec<Padded> {
    let threads = cores.clamp(2, 8);
    let single = definition.separations.iter().map(|&separation| Padded { threads, sums: 1, separation });
    let packed = definition.packed_clusters.iter().map(|&clusters| {
        let sums = clusters * (1 + definition.dimension);
        Padded { threads, sums, separation: sums }
    });
    single.chain(packed).collect()
}

/// Measures a case: its time over that with the sums of threads far apart, one sample a round. None if `stop` asked for
/// the end.
pub fn measure(case: Padded, rounds: usize, stop: &mut dyn FnMut() -> bool) -> Option<Vec<Figure>> {
    let apart = Padded { separation: case.sums + APART, ..case };
    let mut factors = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        if stop() {
            return None;
        }
        // The order turns.
        let (first, second) = if round % 2 == 0 { (case, apart) } else { (apart, case) };
        let seconds = [first, second].map(|case| add(case, ADDITIONS));
        // The first round warms up.
        if round > 0 {
            factors.push(if first == case { seconds[0] / seconds[1] } else { seconds[1] / seconds[0] });
        }
    }
    Some(vec![Figure::new(PADDING, &case.name(), "over apart", "1", factors)])
}

/// Seconds in which every thread makes so many additions.
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
                    // Relaxed, and no exchange: each sum has one writer. It is atomic so that it goes to memory each
                    // time.
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
