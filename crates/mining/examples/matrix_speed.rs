//! Compares one iteration of SMACOF and one sweep of pairwise annealing with reading the matrix once, on one core.
//!
//! `cargo run --release -p lehr-mining --example matrix_speed -- [ITEMS]` (4,000 items by default). All computations
//! run in turn, in each of 15 rounds. The example prints the smallest, the median and the largest ratio of their time
//! to that of reading. Reading sums the words of the matrix, so it measures the speed of the memory.
//!
//! `matrix_speed -- ITEMS blocks` compares an iteration of SMACOF in square blocks of 16 to 1,024 rows and columns with
//! blocks of 64 (paper 003, section 5.1). It also measures the blocks that Lehr uses: bands of 32 rows, in strips of
//! 1,024 or 2,048 columns.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use lehr_numerics::compact::{Block, Columns, Entry, Stored, add_products};
use lehr_numerics::guttman::{Configuration, Weighing, guttman, guttman_in_strips};
use lehr_numerics::random::Stream;
use lehr_ranks::timing::Stopwatch;

const ROUNDS: usize = 15;
/// The number of rows that a kernel processes at a time, as in a leaf.
const ROWS: usize = 32;
const CLUSTERS: usize = 8;

fn main() {
    let items: usize = std::env::args().nth(1).map_or(4000, |items| items.parse().expect("a number of items"));
    let stream = Stream::new(1, "matrix speed");
    let row: Vec<u16> = (0..items + 997).map(|at| (stream.bits(at as u64) >> 49) as u16).collect();
    // All rows are parts of one random sequence, with different beginnings. Random numbers for all pairs would take
    // longer than the measurement.
    let fixed: Vec<u16> = (0..items).flat_map(|i| &row[i * 31 % 997..][..items]).copied().collect();
    let single: Vec<f32> = fixed.iter().map(|&value| f32::from(value)).collect();
    for (name, stored) in [("16 bits", Stored::Fixed(&fixed[..])), ("32 bits", Stored::Numbers(&single[..]))] {
        if std::env::args().nth(2).as_deref() == Some("blocks") {
            measure_blocks(name, stored, items, &stream);
        } else {
            measure(name, stored, items, &stream);
        }
    }
}

/// Returns a band of rows of a matrix.
fn band<'a>(stored: Stored<'a, f32>, items: usize, from: usize, to: usize) -> Block<'a, f32> {
    let range = from * items..to * items;
    let stored = match stored {
        Stored::Fixed(numbers) => Stored::Fixed(&numbers[range]),
        Stored::Numbers(numbers) => Stored::Numbers(&numbers[range]),
    };
    Block { stored, columns: items, factor: 1.0 / 32768.0, limit: f64::INFINITY }
}

fn measure_blocks(name: &str, stored: Stored<'_, f32>, items: usize, stream: &Stream) {
    let (mut positions, weights) = (Columns::new(items, 3), Columns::new(items, 1));
    positions.fill(|item, k| stream.normal((item * 3 + k) as u64));
    // The numbers of rows and columns of a block. Without a number of columns, the blocks are those that Lehr uses.
    let sides = [16, 32, 64, 128, 256, 512, 1024].map(|size| (size, Some(size)));
    let sides: Vec<(usize, Option<usize>)> = sides.into_iter().chain([(ROWS, None)]).collect();
    let mut times = vec![Vec::new(); sides.len()];
    let mut out = vec![0.0; 4 * items];
    let mut kept = 0.0;
    for _ in 0..ROUNDS {
        for ((rows, columns), times) in sides.iter().zip(&mut times) {
            let clock = Stopwatch::start();
            for from in (0..items).step_by(*rows) {
                let to = items.min(from + rows);
                let at = Configuration { positions: &positions, weights: &weights, shift: 0.0, first: from };
                let (block, out) = (band(stored, items, from, to), &mut out[..(to - from) * 4]);
                match columns {
                    Some(columns) => guttman_in_strips(&block, &Weighing::Equal, &at, *columns, out),
                    None => guttman(&block, &Weighing::Equal, &at, out),
                }
                kept += out[0];
            }
            times.push(clock.seconds());
        }
    }
    assert!(kept.is_finite());
    println!("{items} items, {name}, an iteration in 3-D over that in blocks of 64 (min median max):");
    for ((rows, columns), of) in sides.iter().zip(&times) {
        let mut ratios: Vec<f64> = of.iter().zip(&times[2]).map(|(time, of_64)| time / of_64).collect();
        ratios.sort_by(f64::total_cmp);
        let side = columns.map_or_else(|| "as it is".to_owned(), |columns| format!("{rows} x {columns}"));
        println!("  {side:>11}  {:.2} {:.2} {:.2}", ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1]);
    }
}

fn measure(name: &str, stored: Stored<'_, f32>, items: usize, stream: &Stream) {
    let rows = |from: usize, to: usize| band(stored, items, from, to);
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
