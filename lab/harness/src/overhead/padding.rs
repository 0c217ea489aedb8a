//! Measures the loss when sums of threads are beside each other in memory: experiment E25 (c), after 000 section IV and
//! 004 section 4. Their authors saw factors of 10 and more before they separated their accumulators.
//!
//! In Lehr, each leaf has its own sums, in memory that its thread allocated. So this is a model of the mistake, not a
//! switch of the product. Every thread adds points to the masses and moments of K clusters, and each addition goes to
//! memory. The distance between the sums of two threads depends on the case. The first sum is at the start of a cache
//! line, so that the distance alone decides which sums share a line.
//!
//! As in 000 table II, the additions run on the runtime's workers, on threads that meet at a lock, and in a C program.
//! Each thread measures its own time, after all threads have begun to spin. A sample counts only if the threads added at
//! the same time. What they do one after the other shows nothing.

#![allow(
    clippy::disallowed_types,
    reason = "cells of memory that threads share, measured beside each other; no model checker looks at them"
)]

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use lehr_runtime::{Dispatcher, all, block_on};

use super::definition::Definition;
use super::figure::Figure;
use super::launch::printed;
use crate::measure::now;

/// The experiment's name in records.
pub const PADDING: &str = "padding";
/// The program of the side in C, which `make peers-overhead` compiles.
pub const PROGRAM: &str = "target/peers/overhead/padding";

/// The distance from one thread's sums to the next thread's if they are far apart, in numbers of eight bytes: the
/// widest separation of 000 table II.
const APART: usize = 1024;
/// The number of additions of a thread in a sample.
const ADDITIONS: usize = 4_000_000;
/// The number of sums in two cache lines, which some processors fetch together.
const LINES: usize = 16;
/// The minimum share of a sample during which all threads must add.
const TOGETHER_MIN: f64 = 0.8;
/// The maximum number of samples that are taken until the threads add at the same time.
const TRIES: usize = 50;
/// The range of factors that can be. Sums apart are never slower. And a line that goes to and fro for each addition
/// takes some hundred nanoseconds, while an addition takes one or two.
const POSSIBLE: RangeInclusive<f64> = 0.7..=300.0;

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

/// A way to run the threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Tasks on the workers of the runtime, which reply to the caller through ports.
    Tasks,
    /// Threads that meet at a lock with a condition.
    Locks,
    /// The same in C: the path of its program.
    C(PathBuf),
}

impl Side {
    /// Returns all sides; the side in C only if its program is there.
    pub fn all(program: &Path) -> Vec<Self> {
        let mut sides = vec![Self::Tasks, Self::Locks];
        if program.exists() {
            sides.push(Self::C(program.to_owned()));
        }
        sides
    }

    /// Returns the name of the side in records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tasks => "lehr tasks",
            Self::Locks => "threads and locks",
            Self::C(_) => "C, threads and locks",
        }
    }

    fn sample(&self, case: Padded, additions: usize) -> Result<Sample> {
        match self {
            Self::Tasks => {
                let (dispatcher, cells) = (Dispatcher::new(case.threads)?, Arc::new(Cells::new(case)));
                let tasks = (0..case.threads).map(|thread| {
                    let cells = cells.clone();
                    dispatcher.spawn(async move { cells.add(thread, additions) })
                });
                let spans = block_on(all(tasks.collect()));
                cells.sample(spans.into_iter().collect::<Result<_, _>>()?, additions)
            }
            Self::Locks => {
                let (cells, start) = (Cells::new(case), Barrier::new(case.threads));
                let spans = std::thread::scope(|scope| {
                    let (cells, start) = (&cells, &start);
                    let threads = (0..case.threads).map(|thread| {
                        scope.spawn(move || {
                            start.wait();
                            cells.add(thread, additions)
                        })
                    });
                    let threads: Vec<_> = threads.collect();
                    threads.into_iter().map(|thread| thread.join().expect("no addition panics")).collect()
                });
                cells.sample(spans, additions)
            }
            Self::C(program) => {
                let words = [case.threads, case.sums, case.separation, additions].map(|word| word.to_string());
                let text = printed(program, &words)?;
                let numbers = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
                let [seconds, together] = numbers[..] else { bail!("{} wrote {text:?}", program.display()) };
                Ok(Sample { seconds, together })
            }
        }
    }

    /// Returns the seconds of the slowest thread, in a sample in which the threads add at the same time.
    fn seconds(&self, case: Padded, additions: usize) -> Result<f64> {
        for _ in 0..TRIES {
            let sample = self.sample(case, additions)?;
            if sample.together >= TOGETHER_MIN {
                return Ok(sample.seconds);
            }
        }
        bail!("{}: the threads did not add at the same time in {TRIES} samples; is the machine busy?", case.name())
    }
}

/// The time of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    /// The seconds of the slowest thread.
    seconds: f64,
    /// The share of the time from the first start to the last end during which all threads added.
    together: f64,
}

impl Sample {
    fn of(spans: &[(Instant, Instant)]) -> Option<Self> {
        let seconds = spans.iter().map(|(start, end)| end.duration_since(*start).as_secs_f64()).fold(0.0, f64::max);
        let (first, all_started) = (spans.iter().map(|span| span.0).min()?, spans.iter().map(|span| span.0).max()?);
        let (some_ended, last) = (spans.iter().map(|span| span.1).min()?, spans.iter().map(|span| span.1).max()?);
        let together = some_ended.saturating_duration_since(all_started).as_secs_f64();
        Some(Self { seconds, together: together / last.duration_since(first).as_secs_f64() })
    }
}

/// The sums of all threads.
struct Cells {
    case: Padded,
    memory: Vec<AtomicU64>,
    /// The place of the first sum, at the start of a cache line.
    first: usize,
    /// The number of threads that have begun.
    begun: AtomicUsize,
}

impl Cells {
    fn new(case: Padded) -> Self {
        let count = case.threads * case.separation + LINES;
        let memory: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let first = memory.as_ptr().align_offset(LINES * size_of::<u64>()).min(LINES);
        Self { case, memory, first, begun: AtomicUsize::new(0) }
    }

    /// Adds ones to the sums of a thread, once all threads are here; returns when it began and ended.
    fn add(&self, thread: usize, additions: usize) -> (Instant, Instant) {
        let start = self.first + thread * self.case.separation;
        let own = &self.memory[start..start + self.case.sums];
        // Relaxed: it publishes nothing.
        self.begun.fetch_add(1, Ordering::Relaxed);
        let mut looks = 0_u32;
        // Relaxed: as above.
        while self.begun.load(Ordering::Relaxed) < self.case.threads {
            looks = looks.wrapping_add(1);
            // More threads than cores would otherwise wait for each other.
            if looks.is_multiple_of(1 << 16) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        let start = now();
        for sum in own.iter().cycle().take(additions) {
            // Relaxed, and no exchange: each sum has one writer. It is atomic so that each addition goes to memory.
            let old = f64::from_bits(sum.load(Ordering::Relaxed));
            sum.store((old + 1.0).to_bits(), Ordering::Relaxed);
        }
        (start, now())
    }

    fn sample(&self, spans: Vec<(Instant, Instant)>, additions: usize) -> Result<Sample> {
        // Relaxed: the threads have ended.
        let added: f64 = self.memory.iter().map(|sum| f64::from_bits(sum.load(Ordering::Relaxed))).sum();
        ensure!(added == (self.case.threads * additions) as f64, "additions were lost");
        Sample::of(&spans).context("no thread")
    }
}

/// Measures a case on each side: its time divided by that with sums far apart, one sample for each round. Returns `None`
/// if `stop` asked to end.
///
/// # Errors
/// Returns an error if the threads never add at the same time, if a factor cannot be, or if a side fails.
pub fn measure(
    case: Padded,
    rounds: usize,
    sides: &[Side],
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<Figure>>> {
    let apart = Padded { separation: case.sums.next_multiple_of(LINES) + APART, ..case };
    let mut factors = vec![Vec::with_capacity(rounds); sides.len()];
    for round in 0..=rounds {
        for turn in 0..sides.len() {
            if stop() {
                return Ok(None);
            }
            let place = (round + turn) % sides.len();
            // The order alternates.
            let pair = if round % 2 == 0 { [case, apart] } else { [apart, case] };
            let seconds = [sides[place].seconds(pair[0], ADDITIONS)?, sides[place].seconds(pair[1], ADDITIONS)?];
            // The first round warms up.
            if round > 0 {
                let [beside, apart] = if round % 2 == 0 { seconds } else { [seconds[1], seconds[0]] };
                factors[place].push(beside / apart);
            }
        }
    }
    let figures = sides.iter().zip(factors).map(|(side, factors)| {
        let figure = Figure::new(PADDING, &case.name(), side.name(), "1", factors);
        ensure!(
            POSSIBLE.contains(&figure.median),
            "{}, {}: a factor of {:.3} cannot be; from {} to {} can",
            case.name(),
            side.name(),
            figure.median,
            POSSIBLE.start(),
            POSSIBLE.end()
        );
        Ok(figure)
    });
    figures.collect::<Result<_>>().map(Some)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::definition::file;
    use super::*;

    #[test]
    fn all_is_added_packed_or_apart_on_every_side() {
        for side in [Side::Tasks, Side::Locks] {
            for separation in [6, 32] {
                let sample = side.sample(Padded { threads: 3, sums: 6, separation }, 1000).unwrap();
                assert!(sample.seconds > 0.0 && (0.0..=1.0).contains(&sample.together), "{sample:?}");
            }
        }
    }

    #[test]
    fn the_first_sum_is_at_the_start_of_a_line() {
        for separation in 1..20 {
            let cells = Cells::new(Padded { threads: 2, sums: 1, separation });
            let address = (&raw const cells.memory[cells.first]).addr();
            assert!(address.is_multiple_of(LINES * size_of::<u64>()));
            assert!(cells.first + 2 * separation <= cells.memory.len());
        }
    }

    #[test]
    fn the_time_is_that_of_the_slowest_and_what_ran_alone_shows() {
        let origin = now();
        let at = |ms| origin + Duration::from_millis(ms);
        let sample = Sample::of(&[(at(0), at(10)), (at(2), at(8))]).unwrap();
        assert!((sample.seconds - 0.010).abs() < 1e-9 && (sample.together - 0.6).abs() < 1e-9, "{sample:?}");
        let alone = Sample::of(&[(at(0), at(4)), (at(5), at(9))]).unwrap();
        assert_eq!(alone.together, 0.0);
        assert_eq!(Sample::of(&[]), None);
    }

    #[test]
    fn the_side_in_c_is_there_if_its_program_is() {
        let sides = Side::all(Path::new("/no/such/program"));
        assert_eq!(sides, [Side::Tasks, Side::Locks]);
        assert!(Side::C("/no/such/program".into()).sample(Padded { threads: 1, sums: 1, separation: 1 }, 1).is_err());
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
    fn who_asks_to_stop_is_heard_between_two_samples() {
        let case = Padded { threads: 2, sums: 1, separation: 1 };
        assert!(measure(case, 1, &[Side::Locks], &mut || true).unwrap().is_none());
    }
}
