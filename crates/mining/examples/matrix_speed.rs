//! One iteration of SMACOF and one sweep of pairwise annealing beside reading the matrix once, on one core.
//!
//! `cargo run --release -p lehr-mining --example matrix_speed -- [ITEMS]` (4,000 if none are named). All sides take their turn in each of 15 rounds; given are the least, the median and the largest ratio
//! to reading. Reading adds up the words of the matrix: what the memory can do.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use lehr_numerics::compact::{Block, Columns, Entry, Stored, add_products};
use lehr_numerics::guttman::{Configuration, Weighing, guttman};
use lehr_numerics::random::Stream;
use lehr_ranks::timing::Stopwatch;

const ROUNDS: usize = 15;
/// Rows that a kernel is given at a time, as a leaf's.
const ROWS: usize = 32;
const CLUSTERS: usize = 8;

fn main() {
    let items: usize = std::env::args().nth(1).map_or(4000, |items| items.parse().expect("a number of items"));
    let stream = Stream::new(1, "matrix speed");
    let row: Vec<u16> = (0..items + 997).map(|at| (stream.bits(at as u64) >> 49) as u16).collect();
    // Rows differ by where they begin: random numbers for all pairs would take longer than the measurement.
    let fixed: Vec<u16> = (0..items).flat_map(|i| &row[i * 31 % 997..][..items]).copied().collect();
    let single: Vec<f32> = fixed.iter().map(|&value| f32::from(value)).collect();
    for (name, stored) in [("16 bits", Stored::Fixed(&fixed[..])), ("32 bits", Stored::Numbers(&single[..]))] {
        measure(name, stored, items, &stream);
    }
}

fn measure(name: &str, stored: Stored<'_, f32>, items: usize, stream: &Stream) {
    let rows = |from: usize, to: usize| {
        let range = from * items..to * items;
        let stored = match stored {
            Stored::Fixed(numbers) => Stored::Fixed(&numbers[range]),
            Stored::Numbers(numbers) => Stored::Numbers(&numbers[range]),
        };
        Block { stored, columns: items, factor: 1.0 / 32768.0, limit: f64::INFINITY }
    };
    let bands = || (0..items).step_by(ROWS).map(|from| (from, items.min(from + ROWS)));
    let (mut positions, weights) = (Columns::new(items, 3), Columns::new(items, 1));
    positions.fill(|item, k| stream.normal((item * 3 + k) as u64));
    let mut memberships = Columns::new(items, CLUSTERS);
    memberships.fill(|item, k| stream.uniform((item * CLUSTERS + k) as u64));
    let mut out = vec![0.0; ROWS * CLUSTERS];
    let mut times = [const { Vec::new() }; 3];
    let mut kept = 0.0;
    for _ in 0..ROUNDS {
        let clock = Stopwatch::start();
        kept += match stored {
            Stored::Fixed(numbers) => numbers.as_chunks::<64>().0.iter().fold([0u32; 64], |mut sums, chunk| {
                sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum = sum.wrapping_add(u32::from(*value)));
                sums
            })[0] as f64,
            Stored::Numbers(numbers) => f64::from(
                numbers.as_chunks::<64>().0.iter().fold([0f32; 64], |mut sums, chunk| {
                    sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
                    sums
                })[0],
            ),
        };
        times[0].push(clock.seconds());
        let clock = Stopwatch::start();
        for (from, to) in bands() {
            let at = Configuration { positions: &positions, weights: &weights, shift: 0.0, first: from };
            guttman(&rows(from, to), &Weighing::Equal, &at, &mut out[..(to - from) * 4]);
            kept += out[0];
        }
        times[1].push(clock.seconds());
        let clock = Stopwatch::start();
        for (from, to) in bands() {
            let out = &mut out[..(to - from) * CLUSTERS];
            out.fill(0.0);
            add_products(&rows(from, to), &memberships, &mut [(Entry::Value, out)]);
            kept += out[0];
        }
        times[2].push(clock.seconds());
    }
    assert!(kept.is_finite());
    let ratio = |of: &[f64]| {
        let mut ratios: Vec<f64> = of.iter().zip(&times[0]).map(|(time, floor)| time / floor).collect();
        ratios.sort_by(f64::total_cmp);
        format!("{:.2} {:.2} {:.2}", ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1])
    };
    println!(
        "{items} items, {name}, over reading (min median max): a SMACOF iteration in 3-D {}; a pairwise sweep of {CLUSTERS} clusters {}",
        ratio(&times[1]),
        ratio(&times[2])
    );
}
