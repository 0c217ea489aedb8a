//! Compares k-means as rounds of an all-reduce with k-means as iterative map-reduce: both find the same centres, at
//! different costs.
//!
//! Paper 003 (end of section 3) names Twister's iterative map-reduce as the alternative to MPI, more flexible and
//! expected to be slower.
//!
//! `cargo run --release -p lehr-ranks --example k_means [points] [centres] [ranks]`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example makes points and prints its findings"
)]

use std::collections::BTreeMap;
use std::ops::Range;

use lehr_ranks::timing::Stopwatch;
use lehr_ranks::{Communicator, Error, Layout, MapReduce, Partition, Step, run};

const DIMENSIONS: usize = 2;
/// The length of the statistics of a centre: the sum of its points in each dimension, and their number.
const WIDTH: usize = DIMENSIONS + 1;
const ROUNDS: usize = 50;
const SAMPLES: usize = 7;

struct Points {
    values: Vec<[f64; DIMENSIONS]>,
    centres: usize,
}

type Centres = Vec<[f64; DIMENSIONS]>;

impl Points {
    fn new(count: usize, centres: usize) -> Self {
        let wave = |i: usize, f: f64| (i as f64 * f).sin() + 4.0 * ((i % centres) as f64 * f).cos();
        Self { values: (0..count).map(|i| [wave(i, 1.37), wave(i, 2.11)]).collect(), centres }
    }

    fn nearest(&self, point: &[f64; DIMENSIONS], centres: &Centres) -> usize {
        let distance =
            |centre: &[f64; DIMENSIONS]| (0..DIMENSIONS).map(|d| (point[d] - centre[d]).powi(2)).sum::<f64>();
        let mut best = (0, f64::INFINITY);
        for (k, centre) in centres.iter().enumerate() {
            let found = distance(centre);
            if found < best.1 {
                best = (k, found);
            }
        }
        best.0
    }

    /// Returns the first points as initial centres, for both forms.
    fn start(&self) -> Centres {
        self.values[..self.centres].to_vec()
    }
}

fn mean(sums: &[f64]) -> [f64; DIMENSIONS] {
    std::array::from_fn(|d| sums[d] / sums[DIMENSIONS])
}

/// Runs k-means as rounds of an all-reduce, whose partial has a place for each centre.
async fn by_all_reduce(comm: &mut Communicator, points: &Points) -> Result<Centres, Error> {
    let partition = Partition::new(points.values.len(), comm.size());
    let mut centres = points.start();
    let mut sums = vec![0.0; WIDTH * points.centres];
    for _ in 0..ROUNDS {
        let map = |leaf: usize, partial: &mut [f64]| {
            partial.fill(0.0);
            for point in &points.values[partition.leaf_rows(leaf)] {
                let sums = &mut partial[WIDTH * points.nearest(point, &centres)..][..WIDTH];
                (0..DIMENSIONS).for_each(|d| sums[d] += point[d]);
                sums[DIMENSIONS] += 1.0;
            }
        };
        let add = |left: &mut [f64], right: &[f64]| left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
        comm.all_reduce_leaves(partition.leaves_of(comm.rank()), &mut sums, map, add).await?;
        for (centre, sums) in
            centres.iter_mut().zip(sums.chunks_exact(WIDTH)).filter(|(_, sums)| sums[DIMENSIONS] > 0.0)
        {
            *centre = mean(sums);
        }
    }
    Ok(centres)
}

impl MapReduce for Points {
    type State = Centres;

    fn width(&self) -> usize {
        WIDTH
    }

    fn map(&self, rows: Range<usize>, centres: &Centres, emit: &mut dyn FnMut(u64, &[f64])) {
        for point in &self.values[rows] {
            let mut value = [1.0; WIDTH];
            value[..DIMENSIONS].copy_from_slice(point);
            emit(self.nearest(point, centres) as u64, &value);
        }
    }

    fn reduce(&self, _: u64, value: &mut [f64], _: &Centres) {
        let mean = mean(value);
        value[..DIMENSIONS].copy_from_slice(&mean);
    }

    fn next(&self, mut centres: Centres, means: &BTreeMap<u64, Vec<f64>>) -> Step<Centres> {
        for (key, mean) in means {
            centres[*key as usize].copy_from_slice(&mean[..DIMENSIONS]);
        }
        Step::Again(centres) // as many rounds as the other form
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>().expect("a number"));
    let mut next = |default| arguments.next().unwrap_or(default);
    let (count, centres, ranks) = (next(100_000), next(10), next(2));
    let points = Points::new(count, centres);
    let dispatcher = lehr_runtime::Dispatcher::new(2).expect("two threads");
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..SAMPLES {
        let ended = run(&dispatcher, Layout::threads(ranks), |mut comm| {
            let points = &points;
            async move {
                let stopwatch = Stopwatch::start();
                let summed = by_all_reduce(&mut comm, points).await?;
                let first = stopwatch.seconds();
                let stopwatch = Stopwatch::start();
                let reduced = comm.map_reduce(points.values.len(), points, points.start(), ROUNDS).await?.state;
                let bits = |centres: &Centres| centres.concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&summed), bits(&reduced), "both forms follow the same tree");
                Ok::<_, Error>([first, stopwatch.seconds()])
            }
        });
        let sample = ended.expect("the ranks end")[0].clone().expect("no rank fails");
        (0..2).for_each(|form| seconds[form].push(sample[form] / ROUNDS as f64 * 1e6));
    }
    seconds.iter_mut().for_each(|samples| samples.sort_by(f64::total_cmp));
    println!(
        "{count} points, {centres} centres, {ranks} ranks on 2 workers: us a round, min, median, max of {SAMPLES}"
    );
    for (name, samples) in ["all-reduce", "map-reduce"].into_iter().zip(&seconds) {
        println!("{name:12} {:9.1} {:9.1} {:9.1}", samples[0], samples[SAMPLES / 2], samples[SAMPLES - 1]);
    }
    println!("ratio of the medians: {:.2}", seconds[1][SAMPLES / 2] / seconds[0][SAMPLES / 2]);
}
