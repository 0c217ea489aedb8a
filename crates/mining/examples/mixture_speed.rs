//! Compares one pass of a mixture with one pass of vector annealing, over the same rows and with as many centres, on
//! one core.
//!
//! `cargo run --release -p lehr-mining --example mixture_speed -- [ROWS]` (20,000 rows by default). Both passes run in
//! turn, in each of 15 rounds. The example prints the smallest, the median and the largest ratio of the mixture's time
//! to the time of annealing. It also prints the ratio of the numbers of multiply-adds. `make bench-kernels` compares
//! the kernel of annealing with C.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use lehr_numerics::cholesky::{cholesky, inverse_of_factor, triangle};
use lehr_numerics::gaussian::{Components, GaussianScratch, Scatter, Whitening, gaussian_sums};
use lehr_numerics::random::Stream;
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::timing::Stopwatch;

const ROUNDS: usize = 15;
/// The number of rows that a kernel processes at a time, as in a leaf.
const LEAF: usize = 64;

fn main() {
    let rows: usize = std::env::args().nth(1).map_or(20_000, |rows| rows.parse().expect("a number of rows"));
    for (dimension, count) in [(2, 10), (2, 50), (4, 10), (16, 10), (64, 10)] {
        for (name, scatter) in [("diagonal", Scatter::Diagonal), ("tied", Scatter::Pooled), ("full", Scatter::Full)] {
            measure(rows, dimension, count, name, scatter);
        }
    }
}

fn measure(rows: usize, dimension: usize, count: usize, name: &str, scatter: Scatter) {
    let stream = Stream::new(1, "mixture speed");
    let values: Vec<f64> = (0..rows * dimension).map(|at| stream.normal(at as u64)).collect();
    let origin = vec![0.0; dimension];
    let leaves: Vec<Tiles<f64>> = values
        .chunks(LEAF * dimension)
        .map(|leaf| {
            Tiles::new(leaf.len() / dimension, dimension, &origin, |i| &leaf[i * dimension..][..dimension], |_| 1.0)
        })
        .collect();
    let is_full = scatter != Scatter::Diagonal;
    let whitening = if is_full { Whitening::Triangular } else { Whitening::Diagonal };
    let covariance: Vec<f64> = (0..dimension).flat_map(|i| (0..=i).map(move |j| 0.5f64.powi((i - j) as i32))).collect();
    let matrix = if is_full {
        inverse_of_factor(dimension, &cholesky(dimension, &covariance).expect("a covariance"))
    } else {
        vec![1.0; dimension]
    };
    let (mut components, mut centers) = (Components::new(dimension, whitening, 1.0), SoftCenters::<f64>::default());
    centers.begin(dimension, 2.0);
    for mean in values.chunks_exact(dimension).step_by(rows / count).take(count) {
        components.push(mean, &matrix, 0.0);
        centers.push(mean, 0.0);
    }
    let (mut scratch, mut soft_scratch) = (GaussianScratch::default(), SoftScratch::default());
    let mut sums = vec![0.0; scatter.len(dimension, count)];
    let mut soft = vec![0.0; count * Sums::First.len(dimension)];
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let clock = Stopwatch::start();
        for tiles in &leaves {
            soft_sums(tiles, &centers, Sums::First, &mut soft_scratch, &mut soft);
        }
        let floor = clock.seconds();
        let clock = Stopwatch::start();
        for tiles in &leaves {
            gaussian_sums(tiles, &components, scatter, &mut scratch, &mut sums);
        }
        ratios.push(clock.seconds() / floor);
    }
    assert!(sums.iter().chain(&soft).all(|sum| sum.is_finite()));
    ratios.sort_by(f64::total_cmp);
    // Scores and first moments take 2 D multiply-adds. Squares of columns take another 2 D. Pairs of columns take D (D
    // + 1) / 2 for scores and as many for moments.
    let needed = if is_full { dimension + 2 * triangle(dimension) } else { 4 * dimension };
    println!(
        "{dimension}-D, K = {count}, {name}: {:.2} {:.2} {:.2} times a pass of annealing; {:.2} times its multiply-adds",
        ratios[0],
        ratios[ROUNDS / 2],
        ratios[ROUNDS - 1],
        needed as f64 / (2 * dimension) as f64
    );
}
